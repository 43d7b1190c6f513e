/* mil_flow.c - MIL's blocks as ONNX subgraphs.
 *
 * cond(pred) {true block, false block} is If. while_loop(loop_vars) {condition, body} tests before
 * each iteration, ONNX's Loop after each: the condition block is written twice, once before the
 * Loop on the first values and once at the end of the body on the new ones. A condition that
 * contains blocks would double with every level: such a loop is kept as "while_loop" without its
 * body. */
#include "model/coreml/mil.h"

#include <string.h>

/* A result of a block as an output of its graph: through an Identity if it was not created
 * there. */
static void add_result(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                       struct assay__mil_def *def, size_t index, const char *stem)
{
    struct assay__graph *graph = scope->graph;
    const char *name = assay__mil_use(coreml, def), *out = name;
    bool own = def->scope == scope && !def->value && *name;
    for (size_t i = 0; i < graph->output_count; i++)
        if (strcmp(graph->outputs[i].name, name) == 0) own = false; /* named twice */
    for (size_t i = 0; i < graph->input_count; i++)
        if (strcmp(graph->inputs[i].name, name) == 0) own = false;
    if (!own) {
        out = assay__reader_printf(&coreml->reader, "%s%s.result%zu", scope->prefix, stem, index);
        struct assay__node *node = assay__graph_add_node(coreml->model, graph, "Identity", out,
                                                         &name, 1, &out, 1);
        if (node) node->source_op = "identity";
    }
    assay__mil_add_value(coreml, &graph->outputs, &graph->output_count, out, &def->type, false,
                         NULL);
}

static struct assay__graph *new_graph(struct assay__mil_call *call, const char *name)
{
    struct assay__graph *graph = assay__reader_array(&call->coreml->reader, 1, sizeof *graph);
    if (graph) graph->name = name;
    return graph;
}

/* An error if a block of the operation returns a different number of values. */
static void check_count(struct assay__mil_call *call, const char *what, size_t count, size_t wanted)
{
    if (count != wanted)
        assay__reader_fail(&call->coreml->reader, call->op->at,
                           "%s of '%.60s' has %zu values instead of %zu", what, call->op->name,
                           count, wanted);
}

static struct assay__graph *branch(struct assay__mil_call *call,
                                   const struct assay__wire_field *block, const char *name)
{
    struct assay__coreml *coreml = call->coreml;
    struct assay__mil_scope scope;
    size_t count = 0;
    struct assay__graph *graph = new_graph(call, name);
    assay__mil_scope_open(coreml, &scope, call->scope, graph, call->scope->prefix);
    struct assay__mil_def **results = assay__mil_block(coreml, &scope, block, NULL, 0, &count);
    check_count(call, "a branch", count, call->op->output_count);
    for (size_t i = 0; i < count && !coreml->reader.code; i++)
        add_result(coreml, &scope, results[i], i, call->op->outputs[0].name);
    assay__mil_scope_close(&scope);
    return graph;
}

static int map_cond(struct assay__mil_call *call)
{
    if (call->op->block_count != 2) return ASSAY__MIL_KEEP;
    struct assay__graph *then_branch = branch(call, &call->op->blocks[0], "then");
    struct assay__graph *else_branch = branch(call, &call->op->blocks[1], "else");
    struct assay__node *node = assay__mil_emit(call, "If", "pred", NULL);
    assay__node_set_graph(call->model, node, "then_branch", then_branch);
    return assay__node_set_graph(call->model, node, "else_branch", else_branch);
}

/* The condition on `values`, in the graph; NULL after an error. */
static struct assay__mil_def *condition(struct assay__mil_call *call,
                                        struct assay__mil_scope *around, struct assay__graph *graph,
                                        const char *word, struct assay__mil_def **values,
                                        size_t count)
{
    struct assay__coreml *coreml = call->coreml;
    const char *prefix = assay__reader_printf(&coreml->reader, "%s%s.%s/", call->scope->prefix,
                                              call->op->outputs[0].name, word);
    struct assay__mil_scope scope;
    size_t results_count = 0;
    assay__mil_scope_open(coreml, &scope, around, graph, prefix);
    struct assay__mil_def **results = assay__mil_block(coreml, &scope, &call->op->blocks[0], values,
                                                       count, &results_count);
    check_count(call, "the condition", results_count, 1);
    if (!coreml->reader.code) assay__mil_use(coreml, results[0]);
    assay__mil_scope_close(&scope);
    return coreml->reader.code ? NULL : results[0];
}

static void loop_body(struct assay__mil_call *call, struct assay__graph *graph, size_t count)
{
    static const struct assay__mil_type types[] = {
        {.kind = ASSAY__MIL_TENSOR, .dtype = ASSAY__INT64, .bits = 64},
        {.kind = ASSAY__MIL_TENSOR, .dtype = ASSAY__BOOL, .bits = 8}};
    struct assay__coreml *coreml = call->coreml;
    const struct assay__wire_field *block = &call->op->blocks[1];
    const char *stem = call->op->outputs[0].name;
    struct assay__mil_scope scope;
    size_t input_count = 0, result_count = 0;
    assay__mil_scope_open(coreml, &scope, call->scope, graph, call->scope->prefix);
    struct assay__mil_output *inputs = assay__mil_block_inputs(coreml, block, &input_count);
    check_count(call, "the input of the body", input_count, count);
    /* the iteration, the condition and the loop's variables */
    for (size_t i = 0; i < 2 && !coreml->reader.code; i++)
        assay__mil_add_value(
            coreml, &graph->inputs, &graph->input_count,
            assay__reader_printf(&coreml->reader, "%s%s.%s", scope.prefix, stem, i ? "go" : "turn"),
            &types[i], false, NULL);
    for (size_t i = 0; i < input_count && !coreml->reader.code; i++) {
        struct assay__mil_def *def = assay__mil_define(coreml, &scope, inputs[i].name,
                                                       &inputs[i].type);
        assay__mil_add_value(coreml, &graph->inputs, &graph->input_count,
                             def ? def->graph_name : "", &inputs[i].type, false, NULL);
    }
    /* the inputs already have names, so none are passed to the block */
    struct assay__mil_def **results = assay__mil_block(coreml, &scope, block, NULL, 0,
                                                       &result_count);
    check_count(call, "the body", result_count, count);
    struct assay__mil_def *go = coreml->reader.code
                                    ? NULL
                                    : condition(call, &scope, graph, "again", results, count);
    if (go) { /* created in an inner scope that has ended: it is in the body's graph */
        struct assay__mil_def local = *go;
        local.scope = go->value || go->scope == &scope ? go->scope : &scope;
        add_result(coreml, &scope, &local, count, stem);
    }
    for (size_t i = 0; i < count && !coreml->reader.code; i++)
        add_result(coreml, &scope, results[i], i, stem);
    assay__mil_scope_close(&scope);
}

static int map_while(struct assay__mil_call *call)
{
    struct assay__coreml *coreml = call->coreml;
    const struct assay__mil_arg *vars = assay__mil_arg(call, "loop_vars");
    if (!vars || call->op->block_count != 2 || vars->count != call->op->output_count ||
        assay__mil_block_nests(&call->op->blocks[0]))
        return ASSAY__MIL_KEEP;
    struct assay__graph *body = new_graph(call, "body");
    struct assay__mil_def *go = condition(call, call->scope, call->scope->graph, "first",
                                          vars->defs, vars->count);
    if (!go) return 0;
    loop_body(call, body, vars->count);
    const char *extra[1] = {go->graph_name};
    struct assay__node *node = assay__mil_emit(call, "Loop", "none =go loop_vars*", extra);
    return assay__node_set_graph(coreml->model, node, "body", body);
}

const struct assay__mil_row assay__mil_rows_flow[] = {
    {"cond>If", "pred", "", map_cond},
    {"while_loop>Loop", "loop_vars*", "", map_while},
    {0},
};
