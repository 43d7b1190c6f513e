/* ort_origin.c - which nodes of the original model a node of the optimised one came from.
 *
 * Fusions keep the name of the last value they compute. So the original graph is walked backward
 * from the values a node produces, up to values that the optimised graph still has: those belong to
 * other nodes. The nodes passed on the way became part of the node.
 *
 * If names were not kept:
 *  - the blocked layout (NCHWc): the node is called "<original value>_nchwc" (also _bn_nchwc,
 *    _mul_nchwc, with _token_<n> after when the name was taken). A Conv there may have
 *    absorbed an addition (4th input) and an activation (attribute): the value it represents is
 *    then found forward from the named one;
 *  - nodes moved into another layout keep their own name: a node with the name and operator of
 *    an original one represents it;
 *  - equal computations are merged: a value counts as the first value that is computed in the
 *    same way from the same inputs;
 *  - one node became several (MatMul + Add: Reshape, Gemm, Reshape) and the last of them kept
 *    the name: what is not a view change goes to the preceding node that does the work; and a
 *    node called "<original node>/<fusion>" gets that node.
 *
 * Nodes that compute only from constants, nodes whose result became a constant, and shape
 * computations that no longer exist do not run and belong to no layer. Nodes that the engine added
 * (ReorderInput, inserted Transposes) have no origin. What is left over (removed at the end of a
 * chain) goes to the last layer that feeds it. */
#include "engine/ort/ort_instrument.h"
#include "engine/ort/ort_layers.h"

#include "base/map.h"
#include "base/text.h"

#include <string.h>

#define NO_NODE SIZE_MAX
#define KEPT_SOURCE (SIZE_MAX - 1) /* in `kept`: an input or a constant, no node's work */
#define KEY_LIMIT (64u << 10)      /* larger attributes are not compared: they are weights */

struct tracing {
    const struct assay__graph *original, *optimized;
    const size_t *body; /* by original node: equal computations are merged within a scope */
    struct assay__arena *scratch;
    struct assay__map *producer; /* original value -> original node */
    struct assay__map *consumer; /* original value -> the first original node that reads it */
    struct assay__map *named;    /* original node name -> original node */
    struct assay__map *sources;  /* original initializers (1) and other inputs (0) */
    /* original value -> index into names: the first value computed like it */
    struct assay__map *equal;
    const char **names;
    size_t name_count, name_capacity;
    /* original value -> optimised node that represents it, or KEPT_SOURCE */
    struct assay__map *kept;
    bool *idle;    /* by original node: does not run (constant, or became one) */
    size_t *owner; /* by original node: the optimised node it became part of, or NO_NODE */
    size_t *seen;  /* by original node: the last walk that passed it */
    size_t *stack;
};

static const char *canonical(const struct tracing *t, const char *name)
{
    size_t at = assay__map_get(t->equal, name);
    return at == ASSAY__MAP_NONE ? name : t->names[at];
}

static size_t producer_of(const struct tracing *t, const char *name)
{
    size_t at = name[0] ? assay__map_get(t->producer, name) : ASSAY__MAP_NONE;
    return at == ASSAY__MAP_NONE ? NO_NODE : at;
}

/* --- reading the original graph --------------------------------------------------------------- */

static bool has_body(const struct assay__node *node)
{
    return assay__node_body(node, 0) != NULL;
}

/** Computes only from constants. Nodes are in topological order, so their producers are known. */
static bool is_constant(const struct tracing *t, const struct assay__node *node)
{
    if (assay__op_is_random(node) || has_body(node)) return false;
    for (size_t k = 0; k < node->input_count; k++) {
        if (!node->inputs[k][0] || assay__map_get(t->sources, node->inputs[k]) == 1) continue;
        size_t from = producer_of(t, node->inputs[k]);
        if (from == NO_NODE || !t->idle[from]) return false;
    }
    return true;
}

/** Operator, inputs and attributes as one text; NULL if it is not to be compared (or memory ran
 *  out: then nothing is merged). */
static const char *computation_key(const struct tracing *t, const struct assay__node *node,
                                   size_t body)
{
    struct assay__buf key = {0};
    const char *result = NULL;
    if (assay__op_is_random(node) || has_body(node) || !node->output_count) return NULL;
    assay__buf_printf(&key, "%zu|%s|%s|%zu", body, node->domain, node->op, node->output_count);
    for (size_t k = 0; k < node->input_count; k++)
        assay__buf_printf(&key, "|%s", canonical(t, node->inputs[k]));
    for (size_t a = 0; a < node->attr_count; a++) {
        const struct assay__attr *attr = &node->attrs[a];
        if (!attr->raw || attr->raw_size > KEY_LIMIT) goto out;
        assay__buf_puts(&key, "|");
        for (size_t i = 0; i < attr->raw_size; i++)
            assay__buf_printf(&key, "%02x", attr->raw[i]);
    }
    if (!key.failed) result = assay__arena_strndup(t->scratch, key.data, key.length);
out:
    assay__buf_free(&key);
    return result;
}

static int merge_equal(struct tracing *t, struct assay__map *computations, size_t index)
{
    const struct assay__node *node = &t->original->nodes[index];
    const char *key = computation_key(t, node, t->body[index]);
    if (!key) return 0;
    size_t first = assay__map_get(computations, key);
    if (first == ASSAY__MAP_NONE) return assay__map_set(computations, key, index);
    for (size_t k = 0; k < node->output_count; k++) {
        if (!node->outputs[k][0] || t->name_count >= t->name_capacity) continue;
        t->names[t->name_count] = canonical(t, t->original->nodes[first].outputs[k]);
        int code = assay__map_set(t->equal, node->outputs[k], t->name_count++);
        if (code) return code;
    }
    return 0;
}

static int read_original(struct tracing *t)
{
    const struct assay__graph *graph = t->original;
    struct assay__map *computations = assay__map_new();
    int code = computations ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < graph->input_count; i++)
        code = assay__map_set(t->sources, graph->inputs[i].name, 0);
    for (size_t i = 0; !code && i < graph->initializer_count; i++)
        code = assay__map_set(t->sources, graph->initializers[i].name, 1);
    for (size_t i = 0; !code && i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        t->owner[i] = t->seen[i] = NO_NODE;
        t->idle[i] = is_constant(t, node);
        for (size_t k = 0; !code && k < node->output_count; k++)
            if (node->outputs[k][0]) code = assay__map_set(t->producer, node->outputs[k], i);
        for (size_t k = 0; !code && k < node->input_count; k++)
            if (node->inputs[k][0] &&
                assay__map_get(t->consumer, node->inputs[k]) == ASSAY__MAP_NONE)
                code = assay__map_set(t->consumer, node->inputs[k], i);
        if (!code && node->name[0]) code = assay__map_set(t->named, node->name, i);
        if (!code) code = merge_equal(t, computations, i);
    }
    assay__map_free(computations);
    return code;
}

/* --- which original value an optimised one represents ----------------------------------------- */

/** The original value that a node of the blocked layout is named after, or NULL. */
static const char *named_value(const struct tracing *t, const char *node_name)
{
    static const char *const endings[] = {"_bn_nchwc", "_mul_nchwc", "_nchwc"};
    size_t length = strlen(node_name);
    const char *token = strstr(node_name, "_nchwc_token_");
    if (token) length = (size_t)(token - node_name) + strlen("_nchwc");
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (length <= ending || strncmp(node_name + length - ending, endings[i], ending) != 0)
            continue;
        const char *value = assay__arena_strndup(t->scratch, node_name, length - ending);
        size_t from = value ? producer_of(t, value) : NO_NODE;
        /* The original strings outlive the scratch memory. */
        for (size_t k = 0; from != NO_NODE && k < t->original->nodes[from].output_count; k++)
            if (strcmp(t->original->nodes[from].outputs[k], value) == 0)
                return t->original->nodes[from].outputs[k];
    }
    return NULL;
}

/** From `value` forward to the result of its consumer, if that is one of the given operators and
 *  `value` is not already the result of one. */
static const char *swallow(const struct tracing *t, const char *value, const char *op,
                           const char *other)
{
    size_t from = producer_of(t, value);
    if (from != NO_NODE && (strcmp(t->original->nodes[from].op, op) == 0 ||
                            strcmp(t->original->nodes[from].op, other) == 0))
        return value;
    size_t to = assay__map_get(t->consumer, value);
    if (to == ASSAY__MAP_NONE) return value;
    const struct assay__node *node = &t->original->nodes[to];
    bool matches = strcmp(node->op, op) == 0 || strcmp(node->op, other) == 0;
    return matches && node->output_count ? node->outputs[0] : value;
}

/** NULL: represents no original value. */
static const char *stands_for(const struct tracing *t, const struct assay__node *node, size_t k)
{
    if (!node->outputs[k][0]) return NULL;
    if (assay__map_get(t->producer, node->outputs[k]) != ASSAY__MAP_NONE ||
        assay__map_get(t->sources, node->outputs[k]) != ASSAY__MAP_NONE)
        return node->outputs[k];
    size_t same = node->name[0] ? assay__map_get(t->named, node->name) : ASSAY__MAP_NONE;
    if (same != ASSAY__MAP_NONE && strcmp(t->original->nodes[same].op, node->op) == 0 &&
        k < t->original->nodes[same].output_count)
        return t->original->nodes[same].outputs[k];
    const char *value = k == 0 ? named_value(t, node->name) : NULL;
    if (!value || strcmp(node->op, "Conv") != 0) return value;
    if (node->input_count > 3 && node->inputs[3][0]) value = swallow(t, value, "Add", "Sum");
    const struct assay__attr *activation = assay__node_attr(node, "activation");
    if (activation && activation->s && activation->s[0]) {
        /* A Clip that only clips below zero appears as Relu. */
        bool relu = strcmp(activation->s, "Relu") == 0;
        value = swallow(t, value, activation->s, relu ? "Clip" : activation->s);
    }
    return value;
}

static int read_optimized(struct tracing *t)
{
    const struct assay__graph *graph = t->optimized;
    int code = 0;
    for (size_t i = 0; !code && i < graph->input_count; i++)
        code = assay__map_set(t->kept, graph->inputs[i].name, KEPT_SOURCE);
    for (size_t i = 0; !code && i < graph->initializer_count; i++)
        code = assay__map_set(t->kept, canonical(t, graph->initializers[i].name), KEPT_SOURCE);
    for (size_t i = 0; !code && i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; !code && k < node->output_count; k++) {
            const char *value = stands_for(t, node, k);
            if (!value) continue;
            value = canonical(t, value);
            bool taken = assay__map_get(t->kept, value) != ASSAY__MAP_NONE;
            /* A node that only converts the layout back does not do the work. */
            bool layout = assay__text_is_one_of(node->op, "ReorderOutput ReorderInput");
            if (!taken || !layout) code = assay__map_set(t->kept, value, i);
        }
    }
    return code;
}

/** Input k only determines how the result is shaped or sliced. */
static bool is_shape_input(const struct assay__node *node, size_t k)
{
    return assay__text_is_one_of(
        node->op, k == 0 ? "ConstantOfShape"
                         : "Reshape Expand Tile Slice Resize Upsample Squeeze Unsqueeze Pad");
}

/** Nodes that feed only constants, or shapes that are no longer computed, do not run either:
 * backward from what runs. */
static void note_idle(struct tracing *t)
{
    bool *used = assay__arena_array(t->scratch, t->original->node_count + 1, sizeof *used);
    if (!used) return;
    for (size_t i = 0; i < t->original->output_count; i++) {
        size_t from = producer_of(t, t->original->outputs[i].name);
        if (from != NO_NODE) used[from] = true;
    }
    for (size_t i = t->original->node_count; i-- > 0;) {
        const struct assay__node *node = &t->original->nodes[i];
        bool became_constant = node->output_count > 0 && !has_body(node);
        for (size_t k = 0; k < node->output_count; k++)
            if (node->outputs[k][0] &&
                assay__map_get(t->kept, canonical(t, node->outputs[k])) != KEPT_SOURCE)
                became_constant = false;
        /* A body may read any value: nothing is known about its producers. */
        for (size_t b = 0; has_body(node) && b < i; b++)
            used[b] = true;
        if (became_constant || !used[i]) t->idle[i] = true;
        for (size_t k = 0; !t->idle[i] && k < node->input_count; k++) {
            const char *input = canonical(t, node->inputs[k]);
            size_t from = producer_of(t, input);
            bool gone = is_shape_input(node, k) &&
                        assay__map_get(t->kept, input) == ASSAY__MAP_NONE;
            if (from != NO_NODE && !gone) used[from] = true;
        }
    }
}

/* --- walking ---------------------------------------------------------------------------------- */

/** Claims for optimised node `owner` the nodes that compute `value`, back to values that the
 *  optimised graph has. */
static void walk(struct tracing *t, size_t owner, const char *value)
{
    size_t depth = 0;
    size_t start = producer_of(t, canonical(t, value));
    if (start == NO_NODE || t->seen[start] == owner) return;
    t->seen[start] = owner;
    t->stack[depth++] = start;
    while (depth > 0) {
        size_t at = t->stack[--depth];
        const struct assay__node *node = &t->original->nodes[at];
        if (t->owner[at] == NO_NODE && strcmp(node->op, "Constant") != 0) t->owner[at] = owner;
        for (size_t k = 0; k < node->input_count; k++) {
            const char *input = canonical(t, node->inputs[k]);
            size_t from = producer_of(t, input);
            if (from == NO_NODE || t->idle[from] || t->seen[from] == owner) continue;
            if (assay__map_get(t->kept, input) != ASSAY__MAP_NONE) continue;
            t->seen[from] = owner;
            t->stack[depth++] =
                from; /* each node at most once: the stack has room for node_count */
        }
    }
}

static void claim(struct tracing *t)
{
    for (size_t i = 0; i < t->optimized->node_count; i++) {
        const struct assay__node *node = &t->optimized->nodes[i];
        for (size_t k = 0; k < node->output_count; k++) {
            const char *value = stands_for(t, node, k);
            if (value && assay__map_get(t->kept, canonical(t, value)) == i) walk(t, i, value);
        }
    }
    /* Left over: assigned to the last layer that feeds it. */
    for (size_t i = 0; i < t->original->node_count; i++) {
        const struct assay__node *node = &t->original->nodes[i];
        if (t->owner[i] != NO_NODE || t->idle[i]) continue;
        for (size_t k = 0; k < node->input_count; k++) {
            size_t from = producer_of(t, canonical(t, node->inputs[k]));
            size_t owner = from == NO_NODE ? NO_NODE : t->owner[from];
            if (owner != NO_NODE && (t->owner[i] == NO_NODE || owner > t->owner[i]))
                t->owner[i] = owner;
        }
    }
}

/* --- one node that became several ------------------------------------------------------------- */

static bool is_view(const struct assay__node *node)
{
    return assay__text_is_one_of(node->op, "Reshape Squeeze Unsqueeze Flatten Identity Dropout "
                                           "Transpose ReorderOutput ReorderInput");
}

static int hand_forward(struct tracing *t)
{
    /* optimised values that represent no original one -> node */
    struct assay__map *makers = assay__map_new();
    int code = makers ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < t->optimized->node_count; i++) {
        const struct assay__node *node = &t->optimized->nodes[i];
        for (size_t k = 0; !code && k < node->output_count; k++)
            if (node->outputs[k][0] && !stands_for(t, node, k))
                code = assay__map_set(makers, node->outputs[k], i);
    }
    for (size_t i = 0; !code && i < t->original->node_count; i++) {
        size_t owner = t->owner[i];
        if (owner == NO_NODE || is_view(&t->original->nodes[i])) continue;
        for (;;) { /* each step goes to an earlier node of a graph in topological order */
            const struct assay__node *node = &t->optimized->nodes[owner];
            size_t maker = is_view(node) && node->input_count
                               ? assay__map_get(makers, node->inputs[0])
                               : ASSAY__MAP_NONE;
            if (maker == ASSAY__MAP_NONE || maker >= owner) break;
            owner = maker;
        }
        if (!is_view(&t->optimized->nodes[owner])) t->owner[i] = owner;
    }
    assay__map_free(makers);
    return code;
}

/** The original node after which a fusion named its result: "<node>/<fusion>",
 * "<node>_new_reshape". */
static size_t named_after(const struct tracing *t, const char *name)
{
    const char *reshape = strstr(name, "_new_reshape");
    char *text = assay__arena_strndup(t->scratch, name,
                                      reshape ? (size_t)(reshape - name) : strlen(name));
    while (text) {
        size_t at = strcmp(text, name) == 0 ? ASSAY__MAP_NONE : assay__map_get(t->named, text);
        if (at != ASSAY__MAP_NONE) return at;
        char *slash = strrchr(text, '/');
        if (!slash) break;
        *slash = '\0';
    }
    return NO_NODE;
}

static void claim_by_name(struct tracing *t)
{
    bool *owns = assay__arena_array(t->scratch, t->optimized->node_count + 1, sizeof *owns);
    if (!owns) return;
    for (size_t i = 0; i < t->original->node_count; i++)
        if (t->owner[i] != NO_NODE) owns[t->owner[i]] = true;
    for (size_t i = 0; i < t->optimized->node_count; i++) {
        const struct assay__node *node = &t->optimized->nodes[i];
        if (owns[i] || !node->name[0]) continue;
        size_t from = named_after(t, node->name);
        if (from != NO_NODE && !t->idle[from] &&
            is_view(node) == is_view(&t->original->nodes[from]))
            t->owner[from] = i;
    }
}

/* --- the result ------------------------------------------------------------------------------- */

static int fill(const struct tracing *t, struct assay__arena *arena, struct assay__layer *layers)
{
    for (size_t i = 0; i < t->original->node_count; i++)
        if (t->owner[i] != NO_NODE) layers[t->owner[i]].from_count++;
    const char ***lists = assay__arena_array(t->scratch, t->optimized->node_count + 1,
                                             sizeof *lists);
    if (!lists) return ASSAY_ENOMEM;
    for (size_t i = 0; i < t->optimized->node_count; i++) {
        lists[i] = assay__arena_array(arena, layers[i].from_count + 1, sizeof **lists);
        if (!lists[i]) return ASSAY_ENOMEM;
        layers[i].from = lists[i];
        layers[i].from_count = 0;
    }
    for (size_t i = 0; i < t->original->node_count; i++) {
        size_t owner = t->owner[i];
        if (owner == NO_NODE) continue;
        const char *name = assay__arena_strdup(arena,
                                               assay__layers_node_name(&t->original->nodes[i]));
        if (!name) return ASSAY_ENOMEM;
        lists[owner][layers[owner].from_count++] = name;
    }
    return 0;
}

int assay__layers_origin(const struct assay__flat *original, const struct assay__flat *optimized,
                         struct assay__arena *arena, struct assay__layer *layers)
{
    struct tracing t = {
        .original = &original->graph, .optimized = &optimized->graph, .body = original->body};
    size_t count = original->graph.node_count;
    struct assay__map **maps[] = {&t.producer, &t.consumer, &t.named,
                                  &t.sources,  &t.equal,    &t.kept};
    int code = (t.scratch = assay__arena_new()) ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        if (!(*maps[i] = assay__map_new())) code = ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        t.name_capacity += original->graph.nodes[i].output_count;
    if (!code) {
        t.names = assay__arena_array(t.scratch, t.name_capacity + 1, sizeof *t.names);
        t.idle = assay__arena_array(t.scratch, count + 1, sizeof *t.idle);
        t.owner = assay__arena_array(t.scratch, count + 1, sizeof *t.owner);
        t.seen = assay__arena_array(t.scratch, count + 1, sizeof *t.seen);
        t.stack = assay__arena_array(t.scratch, count + 1, sizeof *t.stack);
        if (assay__arena_failed(t.scratch)) code = ASSAY_ENOMEM;
    }
    if (!code) code = read_original(&t);
    if (!code) code = read_optimized(&t);
    if (!code) {
        note_idle(&t);
        claim(&t);
        code = hand_forward(&t);
    }
    if (!code) {
        claim_by_name(&t);
        code = fill(&t, arena, layers);
    }
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        assay__map_free(*maps[i]);
    assay__arena_free(t.scratch);
    return code;
}
