/* check_partition.c - where the graph is split: groups of nodes that stay on the target, and what
 * crosses between them and the rest.
 *
 * Every node has a side. Segments are the layers of the coarsest schedule that keeps the order: a
 * node's layer is that of its inputs, plus one where the side changes; sides alternate, starting
 * elsewhere (layer 0), so that a graph that only begins elsewhere is split once. An engine may
 * split it further, but never less: this is the minimum. A tensor crosses once, however many nodes
 * read it on the other side. Inputs and outputs of the model do not count. */
#include "check/check.h"

#include <math.h>
#include <string.h>

#define NOWHERE SIZE_MAX

struct cutting {
    struct assay__check *check;
    bool *away;    /* per node: runs elsewhere */
    size_t *layer; /* per node; NOWHERE: does not run */
    size_t layers;
};

/* The node that runs and produces a value; NOWHERE: an input, a weight, or computed when the model
 * is loaded. */
static size_t maker(const struct cutting *cut, const char *value)
{
    size_t node = assay__check_producer(cut->check, value);
    if (node == ASSAY__MAP_NONE || cut->check->places[node] == ASSAY__PLACE_FOLDED) return NOWHERE;
    return node;
}

static void number_layers(struct cutting *cut)
{
    const struct assay__graph *graph = &cut->check->model->graph;
    cut->layers = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t n = cut->check->analysis->order[i];
        const struct assay__node *node = &graph->nodes[n];
        cut->layer[n] = NOWHERE;
        if (cut->check->places[n] == ASSAY__PLACE_FOLDED) continue;
        size_t layer = cut->away[n] ? 0 : 1;
        for (size_t k = 0; k < node->input_count; k++) {
            size_t from = maker(cut, node->inputs[k]);
            if (from == NOWHERE || cut->layer[from] == NOWHERE) continue;
            size_t least = cut->layer[from] + (cut->away[from] != cut->away[n]);
            if (least > layer) layer = least;
        }
        cut->layer[n] = layer;
        if (layer + 1 > cut->layers) cut->layers = layer + 1;
    }
}

static void set_sides(struct cutting *cut, bool unknown_leaves)
{
    const struct assay__check *check = cut->check;
    for (size_t n = 0; n < check->model->graph.node_count; n++)
        cut->away[n] = check->places[n] == ASSAY__PLACE_OFF ||
                       (unknown_leaves && check->places[n] == ASSAY__PLACE_UNKNOWN);
}

static void count_nodes(struct assay__check *check)
{
    struct assay__check_partitions *p = &check->partitions;
    size_t *nodes[] = {[ASSAY__PLACE_ON] = &p->on,
                       [ASSAY__PLACE_OFF] = &p->off,
                       [ASSAY__PLACE_UNKNOWN] = &p->unknown,
                       [ASSAY__PLACE_FOLDED] = &p->folded};
    double *sums[] = {[ASSAY__PLACE_ON] = &p->on_flops,
                      [ASSAY__PLACE_OFF] = &p->off_flops,
                      [ASSAY__PLACE_UNKNOWN] = &p->unknown_flops};
    for (size_t n = 0; n < check->model->graph.node_count; n++) {
        double flops = check->analysis->costs[n].flops;
        enum assay__place place = check->places[n];
        ++*nodes[place];
        if (place == ASSAY__PLACE_FOLDED) continue;
        if (isfinite(flops))
            *sums[place] += flops;
        else
            p->uncosted++;
    }
}

static int fill_segments(struct cutting *cut, struct assay__arena *arena)
{
    struct assay__check *check = cut->check;
    struct assay__check_partitions *p = &check->partitions;
    size_t *place = assay__arena_array(arena, cut->layers + 1, sizeof *place);
    p->segments = assay__arena_array(check->arena, cut->layers + 1, sizeof *p->segments);
    if (!place || !p->segments) return ASSAY_ENOMEM;
    for (size_t i = 0; i < check->model->graph.node_count; i++) {
        size_t n = check->analysis->order[i];
        if (cut->layer[n] != NOWHERE) place[cut->layer[n]] = 1;
    }
    for (size_t i = 0; i < cut->layers; i++) {
        if (!place[i]) continue;
        place[i] = p->segment_count++;
        p->segments[place[i]].on = i % 2 == 1;
        p->on_segments += i % 2 == 1;
        p->off_segments += i % 2 == 0;
    }
    for (size_t i = 0; i < check->model->graph.node_count; i++) {
        size_t n = check->analysis->order[i];
        if (cut->layer[n] == NOWHERE) continue;
        struct assay__check_segment *segment = &p->segments[place[cut->layer[n]]];
        if (segment->nodes++ == 0) segment->first = n;
        segment->last = n;
        segment->flops += check->analysis->costs[n].flops;
        cut->layer[n] = place[cut->layer[n]];
    }
    return 0;
}

/* Layers are segment indices at this point. */
static void count_crossings(struct cutting *cut, bool half, struct assay__map *seen)
{
    struct assay__check *check = cut->check;
    struct assay__check_partitions *p = &check->partitions;
    const struct assay__graph *graph = &check->model->graph;
    for (size_t n = 0; n < graph->node_count; n++) {
        if (cut->layer[n] == NOWHERE) continue;
        for (size_t k = 0; k < graph->nodes[n].input_count; k++) {
            const char *value = graph->nodes[n].inputs[k];
            size_t from = maker(cut, value);
            if (from == NOWHERE || cut->away[from] == cut->away[n]) continue;
            if (assay__map_get(seen, value) != ASSAY__MAP_NONE) continue;
            if (assay__map_set(seen, value, 1)) check->failed = true;
            double bytes = assay__check_bytes(check, value, half);
            p->crossings++;
            p->segments[cut->layer[n]].in_bytes += bytes;
            if (isfinite(bytes))
                p->crossing_bytes += bytes;
            else
                p->crossing_unsized++;
        }
    }
}

int assay__check_partition(struct assay__check *check, const char *method, bool half,
                           struct assay_error *error)
{
    size_t count = check->model->graph.node_count;
    struct cutting cut = {.check = check};
    struct assay__arena *arena = assay__arena_new();
    struct assay__map *seen = assay__map_new();
    struct assay__check_partitions before = check->partitions; /* keep what the engine reported */
    int code = arena && seen ? 0 : ASSAY_ENOMEM;
    if (code) goto out;
    check->partitions = (struct assay__check_partitions){.method = method,
                                                         .merged = before.merged,
                                                         .inferred = before.inferred,
                                                         .engine_pieces = before.engine_pieces};
    cut.away = assay__arena_array(arena, count + 1, sizeof *cut.away);
    cut.layer = assay__arena_array(arena, count + 1, sizeof *cut.layer);
    bool *used = assay__arena_array(arena, count + 3, sizeof *used);
    if (!cut.away || !cut.layer || !used) {
        code = ASSAY_ENOMEM;
        goto out;
    }
    count_nodes(check);
    set_sides(&cut, true);
    number_layers(&cut);
    for (size_t n = 0; n < count; n++)
        if (cut.layer[n] != NOWHERE) used[cut.layer[n]] = true;
    for (size_t i = 1; i < cut.layers; i += 2) /* even layers are elsewhere */
        check->partitions.on_segments_most += used[i];
    set_sides(&cut, false);
    number_layers(&cut);
    code = fill_segments(&cut, arena);
    if (!code) count_crossings(&cut, half, seen);
    check->has_partitions = true;
out:
    assay__map_free(seen);
    assay__arena_free(arena);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}

double assay__check_share(const struct assay__check_partitions *p)
{
    double total = p->on_flops + p->off_flops + p->unknown_flops;
    return p->uncosted || !(total > 0) ? (double)NAN : p->on_flops / total;
}
