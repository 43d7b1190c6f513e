/* liveness.c - computes which tensors are alive at each node and how many bytes they take, by the
 * rules of liveness.h.
 *
 * One pass over the execution order gives every activation its first and last position (a view
 * counts as the tensor it refers to); a second adds up the sizes as differences at those positions
 * (sums of integers below 2^53: exact). A body is a separate graph, treated in the same way: its
 * inputs are activations, because from the second iteration on they are the state produced by the
 * previous one. Bodies nested deeper than DEPTH are unknown. Time and memory are linear in the
 * nodes' inputs and outputs. */
#include "cost/liveness.h"

#include "cost/cost_table.h"
#include "cost/cost_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 32
#define OUTSIDE ((size_t)-2) /* a view of a tensor of an outer graph: has no bytes here */

struct level {
    struct assay__arena *arena;
    const struct assay__cost_index *index;
    struct assay__cost_names names;
    const struct assay__shapes *shapes; /* NULL: the body was not entered */
    const size_t *order;
    struct assay__map *slots; /* name -> tensor, or OUTSIDE */
    size_t *counted; /* per tensor: position + 1 of the last node that added it to node_bytes */
    struct assay__map *weights; /* the same by name, for constants */
    double *body_bytes;         /* per position */
    struct assay__liveness *live;
    int depth;
};

static const struct assay__shape_entry *entry_of(const struct level *level, const char *name)
{
    return level->shapes ? assay__shapes_get(level->shapes, name) : NULL;
}

static int add_tensor(struct level *level, const char *name, size_t position, size_t producer)
{
    struct assay__live_tensor *tensor = &level->live->tensors[level->live->tensor_count];
    *tensor = (struct assay__live_tensor){name, assay__cost_bytes(entry_of(level, name)), position,
                                          position, producer};
    return assay__map_set(level->slots, name, level->live->tensor_count++);
}

static void touch(struct level *level, const char *name, size_t position)
{
    size_t slot = *name ? assay__map_get(level->slots, name) : ASSAY__MAP_NONE;
    if (slot < level->live->tensor_count) level->live->tensors[slot].last = position;
}

/* Names of this graph that a body reads. In a valid file a body's own names are different. */
static void touch_captured(struct level *level, const struct assay__graph *body, size_t position,
                           int depth)
{
    for (size_t i = 0; i < body->output_count; i++)
        touch(level, body->outputs[i].name, position);
    for (size_t i = 0; i < body->node_count; i++) {
        const struct assay__node *node = &body->nodes[i];
        for (size_t k = 0; k < node->input_count; k++)
            touch(level, node->inputs[k], position);
        for (size_t k = 0; k < node->attr_count && depth < DEPTH; k++) {
            const struct assay__attr *attr = &node->attrs[k];
            if (attr->g) touch_captured(level, attr->g, position, depth + 1);
            for (size_t g = 0; attr->graphs && g < attr->count; g++)
                touch_captured(level, attr->graphs[g], position, depth + 1);
        }
    }
}

/* --- bodies ----------------------------------------------------------------------------------- */

static int measure(struct level *level, struct assay_error *error);

/* What the bodies of a node need while they run, one at a time. 0: it has none. */
static int measure_bodies(struct level *level, const struct assay__node *node, double *bytes,
                          struct assay_error *error)
{
    bool plain = !*node->domain || strcmp(node->domain, "ai.onnx") == 0;
    int taken = plain && strcmp(node->op, "If") == 0 && level->shapes
                    ? assay__shapes_branch(level->shapes, node)
                    : -1;
    *bytes = 0;
    for (size_t k = 0; k < node->attr_count; k++) {
        const struct assay__attr *attr = &node->attrs[k];
        size_t count = attr->g ? 1 : attr->graphs ? attr->count : 0;
        if (taken >= 0 && strcmp(attr->name, taken ? "then_branch" : "else_branch") != 0) count = 0;
        for (size_t g = 0; g < count; g++) {
            const struct assay__graph *body = attr->g ? attr->g : attr->graphs[g];
            struct assay__liveness live = {.peak_bytes = NAN};
            struct level inner = {.arena = level->arena,
                                  .index = level->index,
                                  .names = {&level->names, body, NULL},
                                  .shapes = level->shapes ? assay__shapes_body(level->shapes, body)
                                                          : NULL,
                                  .live = &live,
                                  .depth = level->depth + 1};
            int code = 0;
            if (inner.depth <= DEPTH) {
                code = assay__cost_order(body, inner.shapes, inner.arena, &inner.order, error);
                if (!code) code = measure(&inner, error);
            }
            if (code) return code;
            level->live->unknown_count += live.unknown_count;
            if (!(live.peak_bytes <= *bytes) && !isnan(*bytes)) *bytes = live.peak_bytes;
        }
    }
    return 0;
}

/* --- the pass over the nodes ------------------------------------------------------------------ */

static int read_inputs(struct level *level, const struct assay__node *node, size_t position,
                       double *bytes)
{
    for (size_t i = 0; i < node->input_count; i++) {
        const char *name = node->inputs[i];
        if (!*name) continue;
        size_t slot = assay__map_get(level->slots, name);
        touch(level, name, position);
        if (slot < level->live->tensor_count) {
            if (level->counted[slot] != position + 1) *bytes += level->live->tensors[slot].bytes;
            level->counted[slot] = position + 1;
        } else if (assay__map_get(level->weights, name) != position) {
            double stored = assay__cost_sparse_bytes(assay__cost_stored(&level->names, name));
            *bytes += isnan(stored) ? assay__cost_bytes(entry_of(level, name)) : stored;
            if (assay__map_set(level->weights, name, position)) return ASSAY_ENOMEM;
        }
    }
    return 0;
}

static int make_outputs(struct level *level, const struct assay__node *node, size_t position,
                        double *bytes)
{
    const struct assay__cost_row *row = assay__cost_find(level->index, node->op, node->domain);
    size_t shown = ASSAY__MAP_NONE; /* the tensor for which output 0 is only another name */
    int code = 0;
    if (row && row->moves == ASSAY__MOVES_NAME && node->input_count && *node->inputs[0]) {
        shown = assay__map_get(level->slots, node->inputs[0]);
        if (shown == ASSAY__MAP_NONE && level->names.outer) shown = OUTSIDE;
    }
    for (size_t i = 0; i < node->output_count && !code; i++) {
        const char *name = node->outputs[i];
        if (!*name) continue;
        if (assay__cost_is_constant(&level->names, name)) {
            *bytes += assay__cost_bytes(entry_of(level, name));
        } else if (shown != ASSAY__MAP_NONE && i == 0) {
            code = assay__map_set(level->slots, name, shown);
        } else {
            code = add_tensor(level, name, position, level->order[position]);
            *bytes += level->live->tensors[level->live->tensor_count - 1].bytes;
        }
    }
    return code;
}

static int pass(struct level *level, struct assay_error *error)
{
    const struct assay__graph *graph = level->names.graph;
    int code = 0;
    for (size_t i = 0; i < graph->input_count && !code; i++)
        if (!assay__cost_is_constant(&level->names, graph->inputs[i].name))
            code = add_tensor(level, graph->inputs[i].name, 0, SIZE_MAX);
    for (size_t at = 0; at < graph->node_count && !code; at++) {
        const struct assay__node *node = &graph->nodes[level->order[at]];
        double *bytes = &level->live->node_bytes[level->order[at]];
        code = read_inputs(level, node, at, bytes);
        for (size_t k = 0; k < node->attr_count; k++) {
            if (node->attrs[k].g) touch_captured(level, node->attrs[k].g, at, 0);
            for (size_t g = 0; node->attrs[k].graphs && g < node->attrs[k].count; g++)
                touch_captured(level, node->attrs[k].graphs[g], at, 0);
        }
        if (!code) code = measure_bodies(level, node, &level->body_bytes[at], error);
        if (!code) code = make_outputs(level, node, at, bytes);
        *bytes += level->body_bytes[at];
    }
    for (size_t i = 0; i < graph->output_count && graph->node_count; i++)
        touch(level, graph->outputs[i].name, graph->node_count - 1);
    return code;
}

/* --- adding up -------------------------------------------------------------------------------- */

struct ranked {
    double bytes; /* INFINITY: unknown */
    size_t tensor;
};

static int by_size(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
    return a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
}

static int list_peak(struct level *level)
{
    struct assay__liveness *live = level->live;
    size_t at = live->peak_position == SIZE_MAX ? 0 : live->peak_position, count = 0;
    struct ranked *alive = assay__arena_array(level->arena, live->tensor_count, sizeof *alive);
    size_t *sorted = assay__arena_array(level->arena, live->tensor_count, sizeof *sorted);
    if (!alive || !sorted) return ASSAY_ENOMEM;
    for (size_t i = 0; i < live->tensor_count; i++) {
        const struct assay__live_tensor *tensor = &live->tensors[i];
        if (tensor->first > at || tensor->last < at) continue;
        alive[count++] = (struct ranked){isnan(tensor->bytes) ? INFINITY : tensor->bytes, i};
    }
    qsort(alive, count, sizeof *alive, by_size);
    for (size_t i = 0; i < count; i++)
        sorted[i] = alive[i].tensor;
    live->peak_tensors = sorted;
    live->peak_tensor_count = count;
    return 0;
}

/* change and unknown: per position, what starts there minus what ended before it. */
static int add_up(struct level *level)
{
    struct assay__liveness *live = level->live;
    size_t nodes = level->names.graph->node_count, positions = nodes ? nodes : 1;
    double *change = assay__arena_array(level->arena, positions + 1, sizeof *change);
    int64_t *unknown = assay__arena_array(level->arena, positions + 1, sizeof *unknown);
    double sum = 0, worst = -1;
    int64_t missing = 0, any = 0;
    if (!change || !unknown) return ASSAY_ENOMEM;
    for (size_t i = 0; i < live->tensor_count; i++) {
        const struct assay__live_tensor *tensor = &live->tensors[i];
        bool known = !isnan(tensor->bytes);
        change[tensor->first] += known ? tensor->bytes : 0;
        change[tensor->last + 1] -= known ? tensor->bytes : 0;
        unknown[tensor->first] += !known;
        unknown[tensor->last + 1] -= !known;
        live->unknown_count += !known;
    }
    live->peak_position = live->peak_node = SIZE_MAX;
    for (size_t at = 0; at < positions; at++) {
        double body = nodes ? level->body_bytes[at] : 0;
        sum += change[at];
        missing += unknown[at];
        any += missing + isnan(body);
        double known = sum + (isnan(body) ? 0 : body);
        if (nodes) live->live_bytes[at] = missing || isnan(body) ? NAN : known;
        if (!(known > worst)) continue;
        worst = known;
        live->peak_body_bytes = body;
        if (nodes) live->peak_node = level->order[live->peak_position = at];
    }
    live->known_bytes = worst;
    live->peak_bytes = any ? NAN : worst;
    return list_peak(level);
}

static int measure(struct level *level, struct assay_error *error)
{
    const struct assay__graph *graph = level->names.graph;
    struct assay__liveness *live = level->live;
    size_t most = graph->input_count;
    for (size_t i = 0; i < graph->node_count; i++)
        most += graph->nodes[i].output_count;
    level->names.map = assay__map_over(graph->names);
    level->slots = assay__map_over(graph->names);
    level->weights = assay__map_over(graph->names);
    level->counted = assay__arena_array(level->arena, most, sizeof *level->counted);
    level->body_bytes = assay__arena_array(level->arena, graph->node_count,
                                           sizeof *level->body_bytes);
    live->tensors = assay__arena_array(level->arena, most, sizeof *live->tensors);
    live->live_bytes = assay__arena_array(level->arena, graph->node_count,
                                          sizeof *live->live_bytes);
    live->node_bytes = assay__arena_array(level->arena, graph->node_count,
                                          sizeof *live->node_bytes);
    int code = ASSAY_ENOMEM;
    if (level->names.map && level->slots && level->weights && level->counted && level->body_bytes &&
        live->tensors && live->live_bytes && live->node_bytes)
        code = assay__cost_names_fill(&level->names, level->index, level->order);
    if (!code) code = pass(level, error);
    if (!code) code = add_up(level);
    assay__map_free(level->names.map);
    assay__map_free(level->slots);
    assay__map_free(level->weights);
    return code;
}

int assay__liveness(const struct assay__model *model, const struct assay__shapes *shapes,
                    const size_t *order, struct assay__arena *arena,
                    struct assay__liveness *liveness, struct assay_error *error)
{
    struct assay__cost_index *index = assay__cost_index_over(model->names);
    struct level level = {.arena = arena,
                          .index = index,
                          .names = {NULL, &model->graph, NULL},
                          .shapes = shapes,
                          .order = order,
                          .live = liveness};
    *liveness = (struct assay__liveness){.live_bytes = NULL};
    int code = index ? measure(&level, error) : ASSAY_ENOMEM;
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    assay__cost_index_free(index);
    return code;
}
