/* mil_flow.c - MIL's blocks as ONNX subgraphs.
 *
 * cond(pred) {true block, false block} is If. while_loop(loop_vars) {condition, body} tests before
 * each turn, ONNX's Loop after each: the condition block is written twice, once before the Loop on
 * the first values and once at the end of the body on the new ones. A condition that has blocks of
 * its own would double with every level: such a loop is kept as "while_loop" without its body. */
#include "model/coreml/mil.h"

#include <string.h>

static int add_attr_graph(struct assay__mil_call *call, struct assay__node *node, const char *name,
                          struct assay__graph *graph)
{
    struct assay__arena *arena = call->coreml->reader.arena;
    struct assay__attr *fresh = assay__arena_array(arena, node->attr_count + 1, sizeof *fresh);
    if (!fresh) return assay__onnx_no_memory(&call->coreml->reader);
    if (node->attr_count) memcpy(fresh, node->attrs, node->attr_count * sizeof *fresh);
    fresh[node->attr_count] = (struct assay__attr){
        .name = name, .type = ASSAY__ATTR_GRAPH, .s = "", .reference = "", .g = graph};
    node->attrs = fresh;
    node->attr_count++;
    return 0;
}

/* A result of a block as an output of its graph: through an Identity when it was not made there. */
static int add_result(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                      struct assay__mil_def *def, size_t index, const char *stem)
{
    struct assay__graph *graph = scope->graph;
    const char *name = "";
    int code = assay__mil_use(coreml, scope, def, &name);
    if (code) return code;
    const char *out = assay__arena_printf(coreml->reader.arena, "%s%s.result%zu", scope->prefix,
                                          stem, index);
    if (!out) return assay__onnx_no_memory(&coreml->reader);
    bool own = def->scope == scope && !def->value && *name;
    for (size_t i = 0; i < graph->output_count; i++)
        if (strcmp(graph->outputs[i].name, name) == 0) own = false; /* named twice */
    for (size_t i = 0; i < graph->input_count; i++)
        if (strcmp(graph->inputs[i].name, name) == 0) own = false;
    if (own) out = name;
    if (!own) {
        struct assay__node *node = assay__graph_add_node(coreml->model, graph, "Identity", out,
                                                         &name, 1, &out, 1);
        if (!node) return assay__onnx_no_memory(&coreml->reader);
        node->source_op = "identity";
    }
    return assay__mil_add_value(coreml, &graph->outputs, &graph->output_count, out, &def->type,
                                false, NULL);
}

static struct assay__graph *new_graph(struct assay__mil_call *call, const char *name)
{
    struct assay__graph *graph = assay__arena_alloc(call->coreml->reader.arena, sizeof *graph);
    if (graph) graph->name = name;
    return graph;
}

/* --- cond ------------------------------------------------------------------------------------- */

static int branch(struct assay__mil_call *call, const struct assay__wire_field *block,
                  const char *name, struct assay__graph **out)
{
    struct assay__mil_scope scope;
    struct assay__mil_def **results = NULL;
    size_t count = 0;
    struct assay__graph *graph = new_graph(call, name);
    if (!graph) return assay__onnx_no_memory(&call->coreml->reader);
    int code = assay__mil_scope_open(call->coreml, &scope, call->scope, graph, call->scope->prefix);
    if (!code) code = assay__mil_block(call->coreml, &scope, block, NULL, 0, &results, &count);
    for (size_t i = 0; i < count && !code; i++)
        code = add_result(call->coreml, &scope, results[i], i, call->op->outputs[0].name);
    if (!code && count != call->op->output_count)
        code = assay__onnx_fail(&call->coreml->reader, call->op->at,
                                "a branch of '%.60s' makes %zu values, not %zu", call->op->name,
                                count, call->op->output_count);
    assay__mil_scope_close(&scope);
    *out = graph;
    return code;
}

static int map_cond(struct assay__mil_call *call)
{
    struct assay__graph *then_branch = NULL, *else_branch = NULL;
    int code;
    if (call->op->block_count != 2) return ASSAY__MIL_KEEP;
    code = branch(call, &call->op->blocks[0], "then", &then_branch);
    if (!code) code = branch(call, &call->op->blocks[1], "else", &else_branch);
    if (code) return code;
    struct assay__node *node = assay__mil_emit(call, "If", "", "pred", NULL, &code);
    if (!node) return code;
    code = add_attr_graph(call, node, "then_branch", then_branch);
    return code ? code : add_attr_graph(call, node, "else_branch", else_branch);
}

/* --- while_loop ------------------------------------------------------------------------------- */

/* The condition on `values`, in the graph of `scope`; *result is its name. */
static int condition(struct assay__mil_call *call, struct assay__mil_scope *around,
                     struct assay__graph *graph, const char *prefix, struct assay__mil_def **values,
                     size_t count, struct assay__mil_def **result)
{
    struct assay__mil_scope scope;
    struct assay__mil_def **results = NULL;
    size_t results_count = 0;
    int code = assay__mil_scope_open(call->coreml, &scope, around, graph, prefix);
    if (!code)
        code = assay__mil_block(call->coreml, &scope, &call->op->blocks[0], values, count, &results,
                                &results_count);
    if (!code && results_count != 1)
        code = assay__onnx_fail(&call->coreml->reader, call->op->at,
                                "the condition of '%.60s' makes %zu values", call->op->name,
                                results_count);
    if (!code) {
        *result = results[0];
        const char *name = "";
        code = assay__mil_use(call->coreml, &scope, results[0], &name);
    }
    assay__mil_scope_close(&scope);
    return code;
}

static int body_inputs(struct assay__mil_call *call, struct assay__mil_scope *scope,
                       const struct assay__mil_output *inputs, size_t count,
                       struct assay__mil_def **defs)
{
    struct assay__coreml *coreml = call->coreml;
    struct assay__graph *graph = scope->graph;
    const char *stem = call->op->outputs[0].name;
    const struct assay__mil_type turn = {
        .kind = ASSAY__MIL_TENSOR, .dtype = ASSAY__INT64, .bits = 64};
    const struct assay__mil_type flag = {
        .kind = ASSAY__MIL_TENSOR, .dtype = ASSAY__BOOL, .bits = 8};
    const char *names[2] = {
        assay__arena_printf(coreml->reader.arena, "%s%s.turn", scope->prefix, stem),
        assay__arena_printf(coreml->reader.arena, "%s%s.go", scope->prefix, stem)};
    if (!names[0] || !names[1]) return assay__onnx_no_memory(&coreml->reader);
    int code = assay__mil_add_value(coreml, &graph->inputs, &graph->input_count, names[0], &turn,
                                    false, NULL);
    if (!code)
        code = assay__mil_add_value(coreml, &graph->inputs, &graph->input_count, names[1], &flag,
                                    false, NULL);
    for (size_t i = 0; i < count && !code; i++) {
        code = assay__mil_define(coreml, scope, inputs[i].name, NULL, &inputs[i].type, &defs[i]);
        if (!code)
            code = assay__mil_add_value(coreml, &graph->inputs, &graph->input_count,
                                        defs[i]->graph_name, &inputs[i].type, false, NULL);
    }
    return code;
}

static int loop_body(struct assay__mil_call *call, struct assay__graph *graph, size_t count)
{
    struct assay__coreml *coreml = call->coreml;
    struct assay__mil_scope scope;
    struct assay__mil_output *inputs = NULL;
    struct assay__mil_def **results = NULL, *go = NULL, **defs;
    size_t input_count = 0, result_count = 0;
    const char *stem = call->op->outputs[0].name;
    const char *prefix = assay__arena_printf(coreml->reader.arena, "%s%s.again/",
                                             call->scope->prefix, stem);
    int code = assay__mil_scope_open(coreml, &scope, call->scope, graph, call->scope->prefix);
    if (!code) code = assay__mil_block_inputs(coreml, &call->op->blocks[1], &inputs, &input_count);
    defs = assay__arena_array(coreml->reader.arena, input_count, sizeof *defs);
    if (!code && (!prefix || !defs)) code = assay__onnx_no_memory(&coreml->reader);
    if (!code && input_count != count)
        code = assay__onnx_fail(&coreml->reader, call->op->at,
                                "the body of '%.60s' takes %zu values", call->op->name,
                                input_count);
    if (!code) code = body_inputs(call, &scope, inputs, count, defs);
    /* the inputs have their names already, so the block is given none */
    if (!code)
        code = assay__mil_block(coreml, &scope, &call->op->blocks[1], NULL, 0, &results,
                                &result_count);
    if (!code && result_count != count)
        code = assay__onnx_fail(&coreml->reader, call->op->at,
                                "the body of '%.60s' makes %zu values", call->op->name,
                                result_count);
    if (!code) code = condition(call, &scope, graph, prefix, results, count, &go);
    if (!code) { /* made in a scope of its own that has ended: it lies in the body's graph */
        struct assay__mil_def local = *go;
        local.scope = go->value || go->scope == &scope ? go->scope : &scope;
        code = add_result(coreml, &scope, &local, count, stem);
    }
    for (size_t i = 0; i < count && !code; i++)
        code = add_result(coreml, &scope, results[i], i, stem);
    assay__mil_scope_close(&scope);
    return code;
}

static int map_while(struct assay__mil_call *call)
{
    struct assay__coreml *coreml = call->coreml;
    const struct assay__mil_arg *vars = assay__mil_arg(call, "loop_vars");
    struct assay__mil_def *go = NULL;
    int code;
    if (!vars || call->op->block_count != 2 || vars->count != call->op->output_count ||
        assay__mil_block_nests(&call->op->blocks[0]))
        return ASSAY__MIL_KEEP;
    const char *prefix = assay__arena_printf(coreml->reader.arena, "%s%s.first/",
                                             call->scope->prefix, call->op->outputs[0].name);
    struct assay__graph *body = new_graph(call, "body");
    if (!prefix || !body) return assay__onnx_no_memory(&coreml->reader);
    code = condition(call, call->scope, call->scope->graph, prefix, vars->defs, vars->count, &go);
    if (!code) code = loop_body(call, body, vars->count);
    if (code) return code;
    const char *extra[1] = {go->graph_name};
    struct assay__node *node = assay__mil_emit(call, "Loop", "", "none =go loop_vars*", extra,
                                               &code);
    return node ? add_attr_graph(call, node, "body", body) : code;
}

const struct assay__mil_row assay__mil_rows_flow[] = {
    {"cond", "If", "pred", "", map_cond},
    {"while_loop", "Loop", "loop_vars*", "", map_while},
    {0},
};
