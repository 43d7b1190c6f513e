/* coreml_nn_flow.c - the layers `branch` and `loop` of neural networks, which contain networks, as
 * ONNX's If and Loop. The layers name no results: the inner networks write names of the enclosing
 * network.
 *
 * branch: names that both networks write, or that one of them writes and that existed before, are
 * results of the If (a network that does not write it passes the earlier value on). Its condition
 * is a number: not 0 is true.
 *
 * loop: names that the networks write and that existed before are carried. Iterations: the layer's
 * input, else maxLoopIterations. A condition network is evaluated before each iteration, ONNX's
 * Loop tests after it: its layers are written before the Loop and at the end of its body. With
 * loopBreak or loopContinue in the body no trip count is stated, because it is unknown how many
 * iterations run completely. */
#include "model/coreml/coreml_nn.h"

#include <string.h>

enum {
    BRANCH_IF = 1,
    BRANCH_ELSE = 2,
    LOOP_TURNS = 1,
    LOOP_VARIABLE = 2,
    LOOP_CONDITION = 3,
    LOOP_BODY = 4,
};

/* --- what both need --------------------------------------------------------------------------- */

static void open_network(struct assay__nn_layer *layer, const char *what, struct assay__nn *inner)
{
    struct assay__nn *nn = layer->nn;
    struct assay__graph *graph = assay__reader_array(layer->reader, 1, sizeof *graph);
    const char *prefix = assay__reader_printf(layer->reader, "%s.%s/", layer->name, what);
    *inner = (struct assay__nn){.coreml = nn->coreml,
                                .shared = nn->shared,
                                .outer = nn,
                                .graph = graph,
                                .prefix = prefix,
                                .layer_prefix = "",
                                .names = assay__map_new(),
                                .exact = nn->exact};
    if (!inner->names) assay__reader_no_memory(layer->reader);
    if (graph) graph->name = what;
}

/* A node of the layer in the graph of nn that converts `from`, or only renames it (to UNDEFINED);
 * returns its result, named after the layer. */
static const char *convert(struct assay__nn_layer *layer, struct assay__nn *nn, const char *suffix,
                           const char *from, enum assay__dtype to)
{
    struct assay__nn_layer here = *layer;
    here.nn = nn;
    const char *out = assay__nn_fresh(nn, assay__nn_text(layer, suffix));
    struct assay__node *node = assay__nn_node(&here, to ? "Cast" : "Identity", suffix, &from, 1,
                                              &out, 1);
    if (node) node->source_op = NULL; /* none of the network's layers */
    if (to) assay__node_set_int(layer->model, node, "to", to);
    return out;
}

static void add_value(struct assay__nn_layer *layer, struct assay__value **list, size_t *count,
                      const char *name, enum assay__dtype dtype, int rank)
{
    assay__graph_add_value(layer->model, list, count, name, dtype, rank, NULL);
}

/* The last value of that name as an output of the inner graph: through an Identity if it was not
 * created there. *rank becomes -1 if its rank differs. */
static void add_result(struct assay__nn_layer *layer, struct assay__nn *inner, const char *source,
                       int *rank)
{
    const struct assay__nn_value *value = assay__nn_find(inner, source);
    if (!value) {
        assay__nn_fail(layer, "it does not produce '%.60s'", source);
        return;
    }
    const char *name = value->name;
    if (*rank == -2) *rank = value->rank;
    if (*rank != value->rank) *rank = -1;
    if (!assay__map_has(inner->names, source) || value->input)
        name = convert(layer, inner, assay__reader_printf(layer->reader, "%s.result", source), name,
                       ASSAY__UNDEFINED);
    add_value(layer, &inner->graph->outputs, &inner->graph->output_count, name, ASSAY__UNDEFINED,
              -1);
}

/* Ranks of what the layer's node has just produced. */
static void set_ranks(struct assay__nn_layer *layer, const int *ranks)
{
    for (size_t i = 0; i < layer->output_count; i++) {
        size_t at = assay__map_get(layer->nn->names, layer->outputs[i]);
        if (at != ASSAY__MAP_NONE) layer->nn->values[at].rank = ranks[i];
    }
}

/* --- branch ----------------------------------------------------------------------------------- */

/* What `inner` has written, as far as it is a result; for the second branch only what the first,
 * `other`, has not written. */
static void find_results(struct assay__nn_layer *layer, const struct assay__nn *inner,
                         const struct assay__nn *other, bool second)
{
    for (size_t i = 0; i < inner->count; i++) {
        const char *source = inner->values[i].source;
        if (assay__map_get(inner->names, source) != i) continue; /* written again later */
        bool both = assay__map_has(other->names, source);
        bool before = assay__nn_find(layer->nn, source) != NULL;
        if (second ? before && !both : before || both)
            layer->outputs[layer->output_count++] = source;
    }
}

static void map_branch(struct assay__nn_layer *layer)
{
    struct assay__nn branches[2] = {{.names = NULL}, {.names = NULL}};
    struct assay__wire_field network;
    if (layer->input_count != 1) {
        assay__nn_fail(layer, "a branch with %zu inputs", layer->input_count);
        return;
    }
    for (int i = 0; i < 2; i++) {
        open_network(layer, i ? "else" : "then", &branches[i]);
        if (assay__nn_message(&layer->params, i ? BRANCH_ELSE : BRANCH_IF, &network))
            assay__nn_layers(&branches[i], &network, branches[i].prefix);
    }
    size_t most = branches[0].count + branches[1].count;
    int *ranks = assay__reader_array(layer->reader, most, sizeof *ranks);
    layer->outputs = assay__reader_array(layer->reader, most, sizeof *layer->outputs);
    layer->output_count = 0;
    if (!ranks || !layer->outputs) goto out;
    find_results(layer, &branches[0], &branches[1], false);
    find_results(layer, &branches[1], &branches[0], true);
    for (size_t i = 0; i < layer->output_count; i++) {
        ranks[i] = -2;
        add_result(layer, &branches[0], layer->outputs[i], &ranks[i]);
        add_result(layer, &branches[1], layer->outputs[i], &ranks[i]);
    }
    const char *test = convert(layer, layer->nn, "test", layer->inputs[0], ASSAY__BOOL);
    struct assay__node *node = assay__nn_emit(layer, "If", &test, 1);
    set_ranks(layer, ranks);
    assay__node_set_graph(layer->model, node, "then_branch", branches[0].graph);
    assay__node_set_graph(layer->model, node, "else_branch", branches[1].graph);
out:
    assay__map_free(branches[0].names);
    assay__map_free(branches[1].names);
}

/* --- loop ------------------------------------------------------------------------------------- */

/* What the networks of a loop write, and what is in them, before they are read. */
struct writes {
    struct assay__nn_layer *layer;
    struct assay__map *seen;
    const char **names; /* those that exist before the loop */
    size_t count;
    bool stops;  /* loopBreak or loopContinue of this loop */
    size_t nets; /* branches and loops */
};

static void add_write(struct writes *writes, const struct assay__wire_field *field)
{
    struct assay__reader *reader = writes->layer->reader;
    const char *name = assay__reader_text(reader, field);
    if (assay__map_has(writes->seen, name)) return;
    if (assay__map_set(writes->seen, name, 0)) assay__reader_no_memory(reader);
    if (!assay__nn_find(writes->layer->nn, name)) return;
    void *names = assay__arena_grow(reader->arena, writes->names, writes->count,
                                    sizeof *writes->names);
    if (!names) {
        assay__reader_no_memory(reader);
        return;
    }
    writes->names = names;
    writes->names[writes->count++] = name;
}

/* For a network and those within it. Nesting too deep or unreadable fields are reported when the
 * network itself is read. */
static void find_writes(struct writes *writes, const struct assay__wire_field *network, int depth,
                        int loops)
{
    struct assay__wire wire = assay__wire_in(network);
    struct assay__wire_field layer, field, inner;
    while (!writes->layer->reader->code && depth <= ASSAY__ONNX_DEPTH &&
           assay__wire_next(&wire, &layer) == ASSAY__WIRE_FIELD) {
        if (layer.number != NETWORK_LAYER || layer.type != ASSAY__WIRE_BYTES) continue;
        struct assay__wire fields = assay__wire_in(&layer);
        struct assay__wire_field params = {.number = 0};
        while (assay__wire_next(&fields, &field) == ASSAY__WIRE_FIELD) {
            if (field.type != ASSAY__WIRE_BYTES) continue;
            if (field.number == LAYER_OUTPUT) add_write(writes, &field);
            if (field.number >= LAYER_KINDS) params = field;
        }
        bool loop = params.number == KIND_LOOP, branch = params.number == KIND_BRANCH;
        writes->stops |= !loops && (params.number == KIND_BREAK || params.number == KIND_CONTINUE);
        writes->nets += loop || branch;
        uint32_t first = loop ? LOOP_CONDITION : BRANCH_IF;
        for (uint32_t i = first; (loop || branch) && i < first + 2; i++)
            if (assay__nn_message(&params, i, &inner))
                find_writes(writes, &inner, depth + 1, loops + loop);
    }
}

struct loop {
    struct assay__wire_field condition, body;
    bool has_condition, has_body;
    const char *variable;
    struct assay__nn inner;
};

/* The condition network in the graph of nn; returns the name of its result, as a boolean. */
static const char *test(struct assay__nn_layer *layer, struct loop *loop, struct assay__nn *nn,
                        const char *word)
{
    assay__nn_layers(nn, &loop->condition,
                     assay__reader_printf(layer->reader, "%s.%s/", layer->name, word));
    const struct assay__nn_value *value = assay__nn_find(nn, loop->variable);
    if (!value) {
        assay__nn_fail(layer, "nothing produces its condition '%.60s'", loop->variable);
        return "";
    }
    return convert(layer, nn, nn == layer->nn ? "go.first" : "go.next", value->name, ASSAY__BOOL);
}

/* The condition's layers exist twice, its weights once: the second reading uses those that the
 * first has put outside the loop. `nodes`, `tensors`, `stored`: how many there were before it. */
static void share_weights(struct assay__nn_layer *layer, struct assay__graph *graph, size_t nodes,
                          size_t tensors, size_t stored)
{
    struct assay__reader *reader = layer->reader;
    struct assay__map *again = assay__map_new();
    size_t skipped = strlen(layer->name) + strlen(".again/");
    bool full = again != NULL;
    for (size_t i = tensors; i < graph->initializer_count && full; i++)
        full = assay__map_set(again, graph->initializers[i].name, i) == 0;
    for (; nodes < graph->node_count && full; nodes++) {
        struct assay__node *node = &graph->nodes[nodes];
        for (size_t k = 0; k < node->input_count; k++)
            if (assay__map_has(again, node->inputs[k]))
                node->inputs[k] = assay__reader_printf(reader, "%s.first/%s", layer->name,
                                                       node->inputs[k] + skipped);
    }
    if (!full) assay__reader_no_memory(reader);
    graph->initializer_count = tensors;
    layer->model->stored_count = stored;
    assay__map_free(again);
}

static void loop_body(struct assay__nn_layer *layer, struct loop *loop, const struct writes *writes,
                      int *ranks)
{
    struct assay__reader *reader = layer->reader;
    struct assay__nn *inner = &loop->inner;
    open_network(layer, "body", inner);
    if (reader->code) return;
    struct assay__graph *graph = inner->graph;
    const char *turn = assay__nn_fresh(inner, assay__nn_text(layer, "turn"));
    const char *go = assay__nn_fresh(inner, assay__nn_text(layer, "go"));
    add_value(layer, &graph->inputs, &graph->input_count, turn, ASSAY__INT64, 0);
    add_value(layer, &graph->inputs, &graph->input_count, go, ASSAY__BOOL, -1);
    for (size_t i = 0; i < writes->count && !reader->code; i++) {
        ranks[i] = assay__nn_find(layer->nn, writes->names[i])->rank;
        const char *name = assay__nn_define(inner, writes->names[i], ranks[i]);
        if (reader->code) break;
        inner->values[inner->count - 1].input = true;
        add_value(layer, &graph->inputs, &graph->input_count, name, ASSAY__UNDEFINED, -1);
    }
    if (loop->has_body) assay__nn_layers(inner, &loop->body, inner->prefix);
    if (loop->has_condition) {
        size_t nodes = graph->node_count, tensors = graph->initializer_count;
        size_t stored = layer->model->stored_count;
        go = test(layer, loop, inner, "again");
        if (!reader->code) share_weights(layer, graph, nodes, tensors, stored);
    } else {
        go = convert(layer, inner, "go.next", go, ASSAY__UNDEFINED);
    }
    add_value(layer, &graph->outputs, &graph->output_count, go, ASSAY__BOOL, -1);
    for (size_t i = 0; i < writes->count; i++)
        add_result(layer, inner, writes->names[i], &ranks[i]);
}

static void emit_loop(struct assay__nn_layer *layer, struct loop *loop, struct writes *writes,
                      const char *go)
{
    int64_t most = assay__nn_int(&layer->params, LOOP_TURNS, 0);
    int *ranks = assay__reader_array(layer->reader, writes->count, sizeof *ranks);
    const char **inputs = assay__reader_array(layer->reader, writes->count + 2, sizeof *inputs);
    if (!ranks || !inputs) return;
    loop_body(layer, loop, writes, ranks);
    if (layer->reader->code) return;
    inputs[0] = ""; /* not stated; more iterations than an int64 can count are no bound */
    if (!writes->stops && layer->input_count)
        inputs[0] = convert(layer, layer->nn, "turns", layer->inputs[0], ASSAY__INT64);
    else if (!writes->stops && most > 0)
        inputs[0] = assay__nn_int64s(layer, "turns", &most, 1);
    inputs[1] = go;
    for (size_t i = 0; i < writes->count; i++)
        inputs[i + 2] = assay__nn_find(layer->nn, writes->names[i])->name;
    layer->outputs = writes->names;
    layer->output_count = writes->count;
    struct assay__node *node = assay__nn_emit(layer, "Loop", inputs, writes->count + 2);
    set_ranks(layer, ranks);
    assay__node_set_graph(layer->model, node, "body", loop->inner.graph);
}

static void start_writes(struct writes *writes, struct assay__nn_layer *layer,
                         const struct loop *loop)
{
    *writes = (struct writes){.layer = layer, .seen = assay__map_new()};
    if (!writes->seen)
        assay__reader_no_memory(layer->reader);
    else if (loop->has_condition)
        find_writes(writes, &loop->condition, layer->reader->depth, 0);
}

static void map_loop(struct assay__nn_layer *layer)
{
    struct loop loop = {.variable = ""};
    struct assay__wire_field field;
    struct writes writes;
    const char *go = "";
    loop.has_body = assay__nn_message(&layer->params, LOOP_BODY, &loop.body);
    /* an empty network is ignored: coremltools always writes the field */
    loop.has_condition = assay__nn_message(&layer->params, LOOP_CONDITION, &loop.condition) &&
                         assay__nn_field(&loop.condition, NETWORK_LAYER, &field);
    if (layer->input_count > 1) assay__nn_fail(layer, "a loop with %zu inputs", layer->input_count);
    if (assay__nn_message(&layer->params, LOOP_VARIABLE, &field))
        loop.variable = assay__reader_text(layer->reader, &field);
    start_writes(&writes, layer, &loop);
    if (loop.has_condition) {
        if (writes.nets)
            assay__nn_cannot(layer, "its condition contains a branch or loop: not supported");
        if (!layer->reader->code) go = test(layer, &loop, layer->nn, "first");
        /* repeated: what the first evaluation of the condition produces exists now */
        assay__map_free(writes.seen);
        start_writes(&writes, layer, &loop);
    }
    if (loop.has_body && writes.seen) find_writes(&writes, &loop.body, layer->reader->depth, 0);
    if (!layer->reader->code) emit_loop(layer, &loop, &writes, go);
    assay__map_free(writes.seen);
    assay__map_free(loop.inner.names);
}

const struct assay__nn_row assay__nn_rows_flow[] = {
    {605, "branch", "If", "", map_branch},
    {615, "loop", "Loop", "", map_loop},
    {0},
};
