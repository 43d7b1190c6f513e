/* coreml_nn_flow.c - the layers `branch` and `loop` of neural networks, which hold networks of
 * their own, as ONNX's If and Loop. The layers name no results: the inner networks write names of
 * the network around them.
 *
 * branch: what both networks write, or one of them writes and was there before, are results of the
 * If (a network that does not write it hands the earlier value on). Its condition is a number: not
 * 0 is true.
 *
 * loop: what the networks write and was there before is carried. Turns: the layer's input, else
 * maxLoopIterations. A condition network is evaluated before each turn, ONNX's Loop tests after it:
 * its layers are written before the Loop and at the end of its body. With loopBreak or loopContinue
 * in the body no number of turns is stated, because nothing says how many are run in full. */
#include "model/coreml/coreml_nn.h"

#include <string.h>

enum {
    BRANCH_IF = 1,
    BRANCH_ELSE = 2,
    LOOP_TURNS = 1,
    LOOP_VARIABLE = 2,
    LOOP_CONDITION = 3,
    LOOP_BODY = 4,
    NETWORK_LAYER = 1,
    LAYER_OUTPUT = 3,
    LAYER_KINDS = 100,
    KIND_BRANCH = 605,
    KIND_LOOP = 615,
    KIND_BREAK = 620,
    KIND_CONTINUE = 625,
};

/* --- what both need --------------------------------------------------------------------------- */

static int open_network(struct assay__nn_layer *layer, const char *what, struct assay__nn *inner)
{
    struct assay__nn *nn = layer->nn;
    struct assay__arena *arena = nn->coreml->reader.arena;
    struct assay__graph *graph = assay__arena_alloc(arena, sizeof *graph);
    *inner = (struct assay__nn){.coreml = nn->coreml,
                                .shared = nn->shared,
                                .outer = nn,
                                .graph = graph,
                                .prefix = assay__arena_printf(arena, "%s.%s/", layer->name, what),
                                .layer_prefix = "",
                                .names = assay__map_new(),
                                .exact = nn->exact};
    if (!graph || !inner->prefix || !inner->names) return assay__nn_done(layer, ASSAY_ENOMEM);
    graph->name = what;
    return 0;
}

static int add_graph(struct assay__nn_layer *layer, struct assay__node *node, const char *name,
                     struct assay__graph *graph)
{
    struct assay__attr *fresh = assay__arena_array(layer->nn->coreml->reader.arena,
                                                   node->attr_count + 1, sizeof *fresh);
    if (!fresh) return assay__nn_done(layer, ASSAY_ENOMEM);
    if (node->attr_count) memcpy(fresh, node->attrs, node->attr_count * sizeof *fresh);
    fresh[node->attr_count] = (struct assay__attr){
        .name = name, .type = ASSAY__ATTR_GRAPH, .s = "", .reference = "", .g = graph};
    node->attrs = fresh;
    node->attr_count++;
    return 0;
}

/* A node of the layer in the graph of nn, its result named after the layer: *out. */
static int convert(struct assay__nn_layer *layer, struct assay__nn *nn, const char *suffix,
                   const char *from, enum assay__dtype to, const char **out)
{
    struct assay__nn_layer here = *layer;
    int code = 0;
    here.nn = nn;
    const char *stem = assay__nn_text(layer, suffix);
    *out = stem ? assay__nn_fresh(nn, stem) : NULL;
    if (!*out) return assay__nn_done(layer, ASSAY_ENOMEM);
    struct assay__node *node = assay__nn_emit(&here, to ? "Cast" : "Identity", "", suffix, &from, 1,
                                              out, 1, &code);
    if (node) node->source_op = NULL; /* none of the network's layers */
    if (!node || !to) return code;
    return assay__nn_done(layer, assay__node_set_int(assay__nn_model(layer), node, "to", to));
}

static int add_value(struct assay__nn_layer *layer, struct assay__value **list, size_t *count,
                     const char *name, enum assay__dtype dtype, int rank)
{
    return assay__nn_done(layer, assay__graph_add_value(assay__nn_model(layer), list, count, name,
                                                        dtype, rank, NULL));
}

/* The last value of that name as an output of the inner graph: through an Identity when it was not
 * made there. *rank becomes -1 when it has another. */
static int add_result(struct assay__nn_layer *layer, struct assay__nn *inner, const char *source,
                      int *rank)
{
    size_t own = assay__map_get(inner->names, source);
    const struct assay__nn_value *value = assay__nn_find(inner, source);
    if (!value) return assay__nn_fail(layer, "it does not make '%.60s'", source);
    const char *name = value->name;
    if (*rank == -2) *rank = value->rank;
    if (*rank != value->rank) *rank = -1;
    if (own == ASSAY__MAP_NONE || value->input) {
        const char *text = assay__arena_printf(inner->coreml->reader.arena, "%s.result", source);
        int code = text ? convert(layer, inner, text, name, ASSAY__UNDEFINED, &name)
                        : assay__nn_done(layer, ASSAY_ENOMEM);
        if (code) return code;
    }
    return add_value(layer, &inner->graph->outputs, &inner->graph->output_count, name,
                     ASSAY__UNDEFINED, -1);
}

/* Ranks of what the layer's node has just made. */
static void set_ranks(struct assay__nn_layer *layer, const int *ranks)
{
    for (size_t i = 0; i < layer->output_count; i++) {
        size_t at = assay__map_get(layer->nn->names, layer->outputs[i]);
        if (at != ASSAY__MAP_NONE) layer->nn->values[at].rank = ranks[i];
    }
}

/* --- branch ----------------------------------------------------------------------------------- */

/* What `inner` has written, as far as it is a result; of the second branch only what the first,
 * `other`, has not written. */
static void find_results(struct assay__nn_layer *layer, const struct assay__nn *inner,
                         const struct assay__nn *other, bool second)
{
    for (size_t i = 0; i < inner->count; i++) {
        const char *source = inner->values[i].source;
        if (assay__map_get(inner->names, source) != i) continue; /* written again later */
        bool both = assay__map_get(other->names, source) != ASSAY__MAP_NONE;
        bool before = assay__nn_find(layer->nn, source) != NULL;
        if (second ? before && !both : before || both)
            layer->outputs[layer->output_count++] = source;
    }
}

static int emit_branch(struct assay__nn_layer *layer, struct assay__nn *branches)
{
    struct assay__arena *arena = layer->nn->coreml->reader.arena;
    size_t most = branches[0].count + branches[1].count;
    const char *test = "";
    int code = 0;
    int *ranks = assay__arena_array(arena, most, sizeof *ranks);
    layer->outputs = assay__arena_array(arena, most, sizeof *layer->outputs);
    if (!ranks || !layer->outputs) return assay__nn_done(layer, ASSAY_ENOMEM);
    layer->output_count = 0;
    find_results(layer, &branches[0], &branches[1], false);
    find_results(layer, &branches[1], &branches[0], true);
    for (size_t i = 0; i < layer->output_count && !code; i++) {
        ranks[i] = -2;
        code = add_result(layer, &branches[0], layer->outputs[i], &ranks[i]);
        if (!code) code = add_result(layer, &branches[1], layer->outputs[i], &ranks[i]);
    }
    if (!code) code = convert(layer, layer->nn, "test", layer->inputs[0], ASSAY__BOOL, &test);
    if (code) return code;
    struct assay__node *node = assay__nn_emit(layer, "If", "", "", &test, 1, NULL, 0, &code);
    if (!node) return code;
    set_ranks(layer, ranks);
    code = add_graph(layer, node, "then_branch", branches[0].graph);
    return code ? code : add_graph(layer, node, "else_branch", branches[1].graph);
}

static int map_branch(struct assay__nn_layer *layer)
{
    static const char *const words[2] = {"then", "else"};
    struct assay__nn branches[2] = {{.names = NULL}, {.names = NULL}};
    int code = 0;
    if (layer->input_count != 1)
        return assay__nn_fail(layer, "a branch with %zu inputs", layer->input_count);
    for (int i = 0; i < 2 && !code; i++) {
        struct assay__wire_field network;
        code = open_network(layer, words[i], &branches[i]);
        if (!code && assay__nn_message(&layer->params, i ? BRANCH_ELSE : BRANCH_IF, &network))
            code = assay__nn_layers(&branches[i], &network, branches[i].prefix);
    }
    if (!code) code = emit_branch(layer, branches);
    assay__map_free(branches[0].names);
    assay__map_free(branches[1].names);
    return code;
}

/* --- loop ------------------------------------------------------------------------------------- */

/* What the networks of a loop write, and what is in them, before they are read. */
struct writes {
    struct assay__nn_layer *layer;
    struct assay__map *seen;
    const char **names; /* those that are there before the loop */
    size_t count, capacity;
    bool stops;  /* loopBreak or loopContinue of this loop */
    size_t nets; /* branches and loops */
};

static int add_write(struct writes *writes, const struct assay__wire_field *field)
{
    struct assay__arena *arena = writes->layer->nn->coreml->reader.arena;
    const char *name = "";
    int code = assay__onnx_text(&writes->layer->nn->coreml->reader, field, &name);
    if (code || assay__map_get(writes->seen, name) != ASSAY__MAP_NONE) return code;
    if (assay__map_set(writes->seen, name, 0)) return assay__nn_done(writes->layer, ASSAY_ENOMEM);
    if (!assay__nn_find(writes->layer->nn, name)) return 0;
    if (writes->count == writes->capacity) {
        size_t capacity = writes->capacity ? 2 * writes->capacity : 16;
        const char **fresh = assay__arena_array(arena, capacity, sizeof *fresh);
        if (!fresh) return assay__nn_done(writes->layer, ASSAY_ENOMEM);
        if (writes->count) memcpy(fresh, writes->names, writes->count * sizeof *fresh);
        writes->names = fresh;
        writes->capacity = capacity;
    }
    writes->names[writes->count++] = name;
    return 0;
}

static int find_writes(struct writes *writes, const struct assay__wire_field *network, int depth,
                       int loops);

static int layer_writes(struct writes *writes, const struct assay__wire_field *message, int depth,
                        int loops)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field, params = {.number = 0}, inner;
    int code = 0;
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == LAYER_OUTPUT) code = add_write(writes, &field);
        if (field.number >= LAYER_KINDS) params = field;
    }
    bool loop = params.number == KIND_LOOP, branch = params.number == KIND_BRANCH;
    writes->stops |= !loops && (params.number == KIND_BREAK || params.number == KIND_CONTINUE);
    writes->nets += loop || branch;
    uint32_t first = loop ? LOOP_CONDITION : BRANCH_IF;
    for (uint32_t i = first; (loop || branch) && i < first + 2 && !code; i++)
        if (assay__nn_message(&params, i, &inner))
            code = find_writes(writes, &inner, depth + 1, loops + loop);
    return code;
}

/* Too deep, or fields that cannot be read: said when the network itself is read. */
static int find_writes(struct writes *writes, const struct assay__wire_field *network, int depth,
                       int loops)
{
    struct assay__wire wire = assay__wire_over(network->data, network->size);
    struct assay__wire_field field;
    int code = 0;
    while (!code && depth <= ASSAY__ONNX_DEPTH &&
           assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == NETWORK_LAYER && field.type == ASSAY__WIRE_BYTES)
            code = layer_writes(writes, &field, depth, loops);
    return code;
}

struct loop {
    struct assay__wire_field condition, body;
    bool has_condition, has_body;
    const char *variable;
    struct assay__nn inner;
};

/* An empty network is none: coremltools always writes the field. */
static int read_loop(struct assay__nn_layer *layer, struct loop *loop)
{
    struct assay__wire_field field;
    loop->has_body = assay__nn_message(&layer->params, LOOP_BODY, &loop->body);
    loop->has_condition = assay__nn_message(&layer->params, LOOP_CONDITION, &loop->condition) &&
                          assay__nn_field(&loop->condition, NETWORK_LAYER, &field);
    loop->variable = "";
    if (layer->input_count > 1)
        return assay__nn_fail(layer, "a loop with %zu inputs", layer->input_count);
    if (assay__nn_message(&layer->params, LOOP_VARIABLE, &field))
        return assay__onnx_text(&layer->nn->coreml->reader, &field, &loop->variable);
    return 0;
}

/* The condition network in the graph of nn; *go is the name of its result, as a flag. */
static int test(struct assay__nn_layer *layer, struct loop *loop, struct assay__nn *nn,
                const char *word, const char **go)
{
    const char *prefix = assay__arena_printf(nn->coreml->reader.arena, "%s.%s/", layer->name, word);
    if (!prefix) return assay__nn_done(layer, ASSAY_ENOMEM);
    int code = assay__nn_layers(nn, &loop->condition, prefix);
    if (code) return code;
    const struct assay__nn_value *value = assay__nn_find(nn, loop->variable);
    if (!value) return assay__nn_fail(layer, "nothing makes its condition '%.60s'", loop->variable);
    return convert(layer, nn, nn == layer->nn ? "go.first" : "go.next", value->name, ASSAY__BOOL,
                   go);
}

/* The condition's layers are there twice, its weights once: the second reading takes those that the
 * first has put around the loop. `nodes`, `tensors`, `stored`: how many there were before it. */
static int share_weights(struct assay__nn_layer *layer, struct assay__graph *graph, size_t nodes,
                         size_t tensors, size_t stored)
{
    struct assay__arena *arena = layer->nn->coreml->reader.arena;
    struct assay__map *again = assay__map_new();
    size_t skipped = strlen(layer->name) + strlen(".again/");
    int code = again ? 0 : ASSAY_ENOMEM;
    for (size_t i = tensors; i < graph->initializer_count && !code; i++)
        code = assay__map_set(again, graph->initializers[i].name, i);
    for (; nodes < graph->node_count && !code; nodes++) {
        struct assay__node *node = &graph->nodes[nodes];
        for (size_t k = 0; k < node->input_count && !code; k++) {
            if (assay__map_get(again, node->inputs[k]) == ASSAY__MAP_NONE) continue;
            node->inputs[k] = assay__arena_printf(arena, "%s.first/%s", layer->name,
                                                  node->inputs[k] + skipped);
            if (!node->inputs[k]) code = ASSAY_ENOMEM;
        }
    }
    graph->initializer_count = tensors;
    assay__nn_model(layer)->stored_count = stored;
    assay__map_free(again);
    return assay__nn_done(layer, code);
}

static int test_again(struct assay__nn_layer *layer, struct loop *loop, const char **go)
{
    struct assay__graph *graph = loop->inner.graph;
    size_t nodes = graph->node_count, tensors = graph->initializer_count;
    size_t stored = assay__nn_model(layer)->stored_count;
    int code = test(layer, loop, &loop->inner, "again", go);
    return code ? code : share_weights(layer, graph, nodes, tensors, stored);
}

static int body_inputs(struct assay__nn_layer *layer, struct assay__nn *inner,
                       const struct writes *writes, const char **go)
{
    struct assay__graph *graph = inner->graph;
    static const char *const words[2] = {"turn", "go"};
    int code = 0;
    for (int i = 0; i < 2 && !code; i++) {
        const char *stem = assay__nn_text(layer, words[i]);
        *go = stem ? assay__nn_fresh(inner, stem) : NULL;
        if (!*go) return assay__nn_done(layer, ASSAY_ENOMEM);
        code = add_value(layer, &graph->inputs, &graph->input_count, *go,
                         i ? ASSAY__BOOL : ASSAY__INT64, i ? -1 : 0);
    }
    for (size_t i = 0; i < writes->count && !code; i++) {
        const char *name = "";
        int rank = assay__nn_find(layer->nn, writes->names[i])->rank;
        code = assay__nn_done(layer, assay__nn_define(inner, writes->names[i], rank, &name));
        if (code) break;
        inner->values[inner->count - 1].input = true;
        code = add_value(layer, &graph->inputs, &graph->input_count, name, ASSAY__UNDEFINED, -1);
    }
    return code;
}

static int loop_body(struct assay__nn_layer *layer, struct loop *loop, const struct writes *writes,
                     int *ranks)
{
    struct assay__nn *inner = &loop->inner;
    const char *go = "", *next = "";
    int code = open_network(layer, "body", inner);
    if (!code) code = body_inputs(layer, inner, writes, &go);
    if (!code && loop->has_body) code = assay__nn_layers(inner, &loop->body, inner->prefix);
    if (!code && loop->has_condition) code = test_again(layer, loop, &next);
    if (!code && !loop->has_condition)
        code = convert(layer, inner, "go.next", go, ASSAY__UNDEFINED, &next);
    if (!code)
        code = add_value(layer, &inner->graph->outputs, &inner->graph->output_count, next,
                         ASSAY__BOOL, -1);
    for (size_t i = 0; i < writes->count && !code; i++) {
        ranks[i] = assay__nn_find(layer->nn, writes->names[i])->rank;
        code = add_result(layer, inner, writes->names[i], &ranks[i]);
    }
    return code;
}

/* "" when not stated. More turns than an int64 counts are no bound. */
static int turns(struct assay__nn_layer *layer, const struct writes *writes, const char **name)
{
    int64_t most = assay__nn_int(&layer->params, LOOP_TURNS, 0);
    *name = "";
    if (layer->input_count && !writes->stops)
        return convert(layer, layer->nn, "turns", layer->inputs[0], ASSAY__INT64, name);
    if (writes->stops || most <= 0) return 0;
    return assay__nn_int64s(layer, "turns", &most, 1, name);
}

static int emit_loop(struct assay__nn_layer *layer, struct loop *loop, struct writes *writes,
                     const char *go)
{
    struct assay__arena *arena = layer->nn->coreml->reader.arena;
    int *ranks = assay__arena_array(arena, writes->count, sizeof *ranks);
    const char **inputs = assay__arena_array(arena, writes->count + 2, sizeof *inputs);
    if (!ranks || !inputs) return assay__nn_done(layer, ASSAY_ENOMEM);
    int code = loop_body(layer, loop, writes, ranks);
    if (!code) code = turns(layer, writes, &inputs[0]);
    inputs[1] = go;
    for (size_t i = 0; i < writes->count; i++)
        inputs[i + 2] = assay__nn_find(layer->nn, writes->names[i])->name;
    layer->outputs = writes->names;
    layer->output_count = writes->count;
    if (code) return code;
    struct assay__node *node = assay__nn_emit(layer, "Loop", "", "", inputs, writes->count + 2,
                                              NULL, 0, &code);
    if (!node) return code;
    set_ranks(layer, ranks);
    return add_graph(layer, node, "body", loop->inner.graph);
}

static int map_loop(struct assay__nn_layer *layer)
{
    struct loop loop = {.variable = ""};
    struct writes writes = {.layer = layer, .seen = assay__map_new()};
    int depth = layer->nn->coreml->reader.depth;
    const char *go = "";
    int code = writes.seen ? read_loop(layer, &loop) : assay__nn_done(layer, ASSAY_ENOMEM);
    /* looked at twice: with what the first evaluation of the condition makes, all is there */
    if (!code && loop.has_condition) {
        code = find_writes(&writes, &loop.condition, depth, 0);
        if (!code && writes.nets)
            code = assay__nn_cannot(layer, "its condition holds a branch or a loop: not supported");
        if (!code) code = test(layer, &loop, layer->nn, "first", &go);
        assay__map_free(writes.seen);
        writes = (struct writes){.layer = layer, .seen = assay__map_new()};
        if (!code && !writes.seen) code = assay__nn_done(layer, ASSAY_ENOMEM);
        if (!code) code = find_writes(&writes, &loop.condition, depth, 0);
    }
    if (!code && loop.has_body) code = find_writes(&writes, &loop.body, depth, 0);
    if (!code) code = emit_loop(layer, &loop, &writes, go);
    assay__map_free(writes.seen);
    assay__map_free(loop.inner.names);
    return code;
}

const struct assay__nn_row assay__nn_rows_flow[] = {
    {605, "branch", "If", false, "", map_branch},
    {615, "loop", "Loop", false, "", map_loop},
    {0},
};
