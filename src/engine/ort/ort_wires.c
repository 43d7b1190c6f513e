/* ort_wires.c - the values that each layer reads and writes, from the optimised graph. Weights are
 * left out. If the nodes of a body are separate layers, an input of the body is the value that its
 * Loop or Scan passes to it (both lists of inputs have the same order), and that node reads what
 * the body returns; if a body is part of its node's layer, the layer reads what the body reads. */
#include "engine/ort/ort_layers.h"

#include "base/map.h"

#define DEPTH 32 /* of bodies, and of names for the same value */

struct wires {
    struct assay__arena *arena;
    const struct assay__graph *graph;
    struct assay__map *weights; /* names of initializers */
    struct assay__map *handed;  /* input of a body -> its index in `given` */
    const char **given;         /* the value that it is outside */
    size_t given_count;
    bool bodies; /* their nodes are layers */
};

static void add(struct wires *w, struct assay__layer *layer, const char *value)
{
    for (size_t at, depth = 0;
         depth < DEPTH && (at = assay__map_get(w->handed, value)) != ASSAY__MAP_NONE; depth++)
        value = w->given[at];
    if (!value[0] || assay__map_has(w->weights, value)) return;
    const char **bigger = assay__arena_grow(w->arena, layer->reads, layer->read_count,
                                            sizeof *bigger);
    if (!bigger) return;
    layer->reads = bigger;
    bigger[layer->read_count++] = assay__arena_strdup(w->arena, value);
}

static void read_body(struct wires *w, struct assay__layer *layer, const struct assay__graph *body,
                      int depth)
{
    const struct assay__graph *inner;
    for (size_t i = 0; w->bodies && i < body->output_count; i++)
        add(w, layer, body->outputs[i].name);
    for (size_t i = 0; !w->bodies && i < body->node_count; i++) {
        const struct assay__node *node = &body->nodes[i];
        for (size_t k = 0; k < node->input_count; k++)
            add(w, layer, node->inputs[k]);
        for (size_t k = 0; depth < DEPTH && (inner = assay__node_body(node, k)); k++)
            read_body(w, layer, inner, depth + 1);
    }
}

static void wire_node(struct wires *w, const struct assay__node *node, struct assay__layer *layer)
{
    const struct assay__graph *body;
    for (size_t k = 0; k < node->input_count; k++)
        add(w, layer, node->inputs[k]);
    for (size_t k = 0; (body = assay__node_body(node, k)); k++)
        read_body(w, layer, body, 0);
    layer->makes = assay__arena_array(w->arena, node->output_count, sizeof *layer->makes);
    for (size_t k = 0; layer->makes && k < node->output_count; k++)
        if (node->outputs[k][0])
            layer->makes[layer->make_count++] = assay__arena_strdup(w->arena, node->outputs[k]);
}

static int note_handed(struct wires *w, const struct assay__node *node)
{
    const struct assay__graph *body;
    int code = 0;
    for (size_t k = 0; (body = assay__node_body(node, k)); k++)
        for (size_t i = 0; i < body->input_count && i < node->input_count && !code; i++) {
            const char **bigger = assay__arena_grow(w->arena, w->given, w->given_count,
                                                    sizeof *bigger);
            if (!bigger) return ASSAY_ENOMEM;
            w->given = bigger;
            w->given[w->given_count] = node->inputs[i];
            code = assay__map_set(w->handed, body->inputs[i].name, w->given_count++);
        }
    return code;
}

int assay__layers_wires(const struct assay__flat *flat, bool bodies, struct assay__arena *arena,
                        struct assay__layer *layers)
{
    struct wires w = {.arena = arena,
                      .graph = &flat->graph,
                      .weights = assay__map_new(),
                      .handed = assay__map_new(),
                      .bodies = bodies};
    int code = w.weights && w.handed ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < w.graph->initializer_count && !code; i++)
        code = assay__map_set(w.weights, w.graph->initializers[i].name, i);
    for (size_t i = 0; i < w.graph->node_count && bodies && !code; i++)
        code = note_handed(&w, &w.graph->nodes[i]);
    for (size_t i = 0; i < w.graph->node_count && !code; i++)
        wire_node(&w, &w.graph->nodes[i], &layers[i]);
    assay__map_free(w.weights);
    assay__map_free(w.handed);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : code;
}
