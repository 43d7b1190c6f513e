/* ort_flat.c - a graph and the bodies of its If, Loop and Scan nodes as one list of nodes.
 *
 * The nodes of a body come just before the node it belongs to, so that the list is in topological
 * order if its graphs are. Inputs and initializers of bodies join those of the graph. Names are not
 * changed: two branches that use the same names differ only in their position. Bodies nested deeper
 * than DEPTH are left out. */
#include "engine/ort/ort_instrument.h"

#include <string.h>

#define DEPTH 32

size_t assay__flat_bodies(const struct assay__node *node, int depth)
{
    const struct assay__graph *body;
    size_t count = 0;
    for (size_t k = 0; depth < DEPTH && (body = assay__node_body(node, k)); k++)
        for (size_t i = 0; i < body->node_count; i++)
            count += 1 + assay__flat_bodies(&body->nodes[i], depth + 1);
    return count;
}

static void count_lists(const struct assay__graph *graph, struct assay__graph *sum, int depth)
{
    const struct assay__graph *body;
    sum->node_count += graph->node_count;
    sum->input_count += graph->input_count;
    sum->initializer_count += graph->initializer_count;
    for (size_t i = 0; i < graph->node_count && depth < DEPTH; i++)
        for (size_t k = 0; (body = assay__node_body(&graph->nodes[i], k)); k++)
            count_lists(body, sum, depth + 1);
}

static void fill(struct assay__flat *flat, const struct assay__graph *graph, size_t parent,
                 size_t body, int depth)
{
    struct assay__graph *out = &flat->graph;
    for (size_t i = 0; i < graph->input_count; i++)
        out->inputs[out->input_count++] = graph->inputs[i];
    for (size_t i = 0; i < graph->initializer_count; i++)
        out->initializers[out->initializer_count++] = graph->initializers[i];
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__graph *inner;
        size_t own = out->node_count + assay__flat_bodies(node, depth);
        for (size_t k = 0; depth < DEPTH && (inner = assay__node_body(node, k)); k++)
            fill(flat, inner, own, ++flat->body_count, depth + 1);
        flat->parent[out->node_count] = parent;
        flat->body[out->node_count] = body;
        out->nodes[out->node_count++] = *node;
    }
}

int assay__flat_make(const struct assay__graph *graph, bool bodies, struct assay__arena *arena,
                     struct assay__flat *flat)
{
    struct assay__graph sum = {0};
    int depth = bodies ? 0 : DEPTH;
    *flat = (struct assay__flat){.graph = *graph};
    count_lists(graph, &sum, depth);
    struct assay__graph *out = &flat->graph;
    out->nodes = assay__arena_array(arena, sum.node_count + 1, sizeof *out->nodes);
    out->inputs = assay__arena_array(arena, sum.input_count + 1, sizeof *out->inputs);
    out->initializers = assay__arena_array(arena, sum.initializer_count + 1,
                                           sizeof *out->initializers);
    flat->parent = assay__arena_array(arena, sum.node_count + 1, sizeof *flat->parent);
    flat->body = assay__arena_array(arena, sum.node_count + 1, sizeof *flat->body);
    if (!out->nodes || !out->inputs || !out->initializers || !flat->parent || !flat->body)
        return ASSAY_ENOMEM;
    out->node_count = out->input_count = out->initializer_count = 0;
    fill(flat, graph, SIZE_MAX, 0, depth);
    return 0;
}
