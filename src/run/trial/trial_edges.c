/* trial_edges.c - which layer produces what another reads. It comes from the engine's graph if the
 * engine provides it (`reads` and `makes` of a layer), otherwise from the model's graph, by the
 * nodes a layer came from: a value between two nodes of one layer is internal and not an edge. A
 * value that no layer produces and that is not an input of the model is a weight or was computed
 * when the model was loaded: it is not an edge either.
 *
 * Bytes are those of the tensor in the model, by the shapes at the fixed inputs. A value that only
 * the engine has (a blocked layout) counts as the one value that leaves the nodes of its layer. */
#include "run/trial/trial.h"

#include "base/map.h"
#include "base/vec.h"
#include "cost/cost_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY SIZE_MAX
#define NODES_MOST 64 /* nodes of a layer that are searched for its value */

struct wiring {
    const struct assay__model_costs *costs;
    const struct assay__layers *layers;
    struct assay__arena *arena; /* the profile's */
    struct assay__map *ids;     /* value -> number, below value_count … */
    size_t value_count, capacity;
    size_t *maker;  /* … by number: the layer that produces it, or NOBODY */
    size_t *reader; /* … the layer that read it last, plus 1 */
    struct assay__edge *edges;
    size_t edge_count;
};

/* --- the values of a layer -------------------------------------------------------------------- */

typedef int value_fn(struct wiring *w, size_t layer, const char *value);

static int each_of_nodes(struct wiring *w, size_t layer, bool made, value_fn *visit)
{
    const struct assay__layer *l = &w->layers->items[layer];
    int code = 0;
    for (size_t f = 0; f < l->from_count && !code; f++) {
        size_t at = w->costs ? assay__costs_find(w->costs, l->from[f]) : ASSAY__MAP_NONE;
        if (at == ASSAY__MAP_NONE) continue;
        const struct assay__node *node = &w->costs->graph->nodes[at];
        size_t count = made ? node->output_count : node->input_count;
        for (size_t i = 0; i < count && !code; i++)
            code = visit(w, layer, made ? node->outputs[i] : node->inputs[i]);
    }
    return code;
}

static int each_value(struct wiring *w, bool made, value_fn *visit)
{
    int code = 0;
    for (size_t i = 0; i < w->layers->count && !code; i++) {
        const struct assay__layer *l = &w->layers->items[i];
        bool said = l->make_count || l->read_count;
        size_t count = made ? l->make_count : l->read_count;
        for (size_t v = 0; said && v < count && !code; v++)
            code = visit(w, i, made ? l->makes[v] : l->reads[v]);
        if (!said && !code) code = each_of_nodes(w, i, made, visit);
    }
    return code;
}

/* --- what a value is -------------------------------------------------------------------------- */

static size_t origin_of(const struct wiring *w, size_t layer, size_t f)
{
    return w->costs ? assay__costs_find(w->costs, w->layers->items[layer].from[f])
                    : ASSAY__MAP_NONE;
}

static size_t reads_inside(const struct wiring *w, const size_t *nodes, size_t count,
                           const char *value)
{
    size_t reads = 0;
    for (size_t n = 0; n < count; n++) {
        const struct assay__node *node = &w->costs->graph->nodes[nodes[n]];
        for (size_t i = 0; i < node->input_count; i++)
            reads += strcmp(node->inputs[i], value) == 0;
    }
    return reads;
}

/* The only value of the model that a layer's nodes produce and others read; NULL: none, or
 * several. */
static const char *value_leaving(const struct wiring *w, size_t layer)
{
    size_t count = w->layers->items[layer].from_count, nodes[NODES_MOST];
    const char *found = NULL;
    if (count > NODES_MOST) return NULL;
    for (size_t f = 0; f < count; f++) {
        nodes[f] = origin_of(w, layer, f);
        if (nodes[f] == ASSAY__MAP_NONE) return NULL;
    }
    for (size_t f = 0; f < count; f++) {
        const struct assay__node *node = &w->costs->graph->nodes[nodes[f]];
        if (node->output_count != 1) return NULL;
        size_t inside = reads_inside(w, nodes, count, node->outputs[0]);
        size_t readers = assay__map_get(w->costs->consumers, node->outputs[0]);
        if (readers == ASSAY__MAP_NONE || readers <= inside) continue;
        if (found) return NULL;
        found = node->outputs[0];
    }
    return found;
}

static double bytes_of(const struct wiring *w, size_t layer, const char *value)
{
    const struct assay__shapes *shapes = w->costs ? w->costs->shapes : NULL;
    if (shapes && layer != NOBODY && w->layers->items[layer].from_count && w->costs->inner) {
        size_t at = origin_of(w, layer, 0);
        if (at != ASSAY__MAP_NONE && w->costs->inner[at]) shapes = w->costs->inner[at];
    }
    return shapes ? assay__cost_bytes(assay__shapes_get(shapes, value)) : (double)NAN;
}

/* --- the edges -------------------------------------------------------------------------------- */

static int note_value(struct wiring *w, const char *value, size_t maker)
{
    if (!value[0] || assay__map_has(w->ids, value)) return 0;
    size_t count = w->value_count, capacity = w->capacity;
    if (assay__vec_grow((void **)&w->maker, &w->capacity, count + 1, sizeof *w->maker) ||
        assay__vec_grow((void **)&w->reader, &capacity, count + 1, sizeof *w->reader))
        return ASSAY_ENOMEM;
    w->maker[count] = maker;
    w->reader[count] = 0;
    return assay__map_set(w->ids, value, w->value_count++);
}

static int note_made(struct wiring *w, size_t layer, const char *value)
{
    return note_value(w, value, layer);
}

static int add_edge(struct wiring *w, size_t producer, int consumer, const char *value)
{
    double bytes = bytes_of(w, producer, value);
    const struct assay__layer *maker = producer == NOBODY ? NULL : &w->layers->items[producer];
    bool own = maker && maker->make_count == 1 && isnan(bytes) && w->costs && w->costs->consumers;
    const char *original = own ? value_leaving(w, producer) : NULL;
    struct assay__edge *bigger = assay__arena_grow(w->arena, w->edges, w->edge_count,
                                                   sizeof *bigger);
    if (!bigger) return ASSAY_ENOMEM;
    w->edges = bigger;
    bigger[w->edge_count++] = (struct assay__edge){
        .producer = maker ? (int)producer : -1,
        .consumer = consumer,
        .tensor = assay__arena_text(w->arena, "%s", original ? original : value),
        .bytes = original ? bytes_of(w, producer, original) : bytes};
    return 0;
}

static int note_read(struct wiring *w, size_t layer, const char *value)
{
    size_t id = value[0] ? assay__map_get(w->ids, value) : ASSAY__MAP_NONE;
    if (id == ASSAY__MAP_NONE || w->maker[id] == layer || w->reader[id] == layer + 1) return 0;
    w->reader[id] = layer + 1; /* once, however often it reads it */
    return add_edge(w, w->maker[id], (int)layer, value);
}

static int find_edges(struct wiring *w)
{
    const struct assay__graph *graph = w->costs ? w->costs->graph : NULL;
    int code = each_value(w, true, note_made);
    for (size_t i = 0; graph && i < graph->input_count && !code; i++)
        if (!w->costs->constants || !assay__map_has(w->costs->constants, graph->inputs[i].name))
            code = note_value(w, graph->inputs[i].name, NOBODY);
    if (!code) code = each_value(w, false, note_read);
    for (size_t i = 0; graph && i < graph->output_count && !code; i++) {
        size_t id = assay__map_get(w->ids, graph->outputs[i].name);
        if (id != ASSAY__MAP_NONE && w->maker[id] != NOBODY)
            code = add_edge(w, w->maker[id], -1, graph->outputs[i].name);
    }
    return code;
}

int assay__trial_edges(const struct assay__trial_input *input)
{
    struct assay__layers *layers = &input->trial->layers;
    struct wiring w = {.costs = input->costs && input->costs->graph ? input->costs : NULL,
                       .layers = layers,
                       .arena = input->profile->arena,
                       .ids = assay__map_new()};
    int code = w.ids ? find_edges(&w) : ASSAY_ENOMEM;
    if (code == 0) {
        layers->edges = w.edges;
        layers->edge_count = w.edge_count;
    }
    assay__map_free(w.ids);
    free(w.maker);
    free(w.reader);
    return code;
}
