/* rules_graph.c - rules about unnecessary nodes: conversions and moves, pairs of them that undo
 * each other, weights that no node reads. If the layers were timed, a node that the engine itself
 * removed is not a finding, and the potential is the time of those that ran. */
#include "advise/rules.h"

#include "cost/cost_table.h"

#include <math.h>
#include <string.h>

/* Shares of the latency above which moving or converting data is worth changing the graph. */
#define TRANSPOSE_SHARE 0.05
#define CAST_SHARE 0.03
#define MOVE_SHARE 0.10
#define REORDER_SHARE 0.05
#define UNUSED_BYTES 1024.0    /* smaller leftovers cost nothing */
#define CONSTANT_BYTES 65536.0 /* a smaller output is copied in no time */
#define MOVES "Concat|Split|Slice|Pad|Tile|Expand|DepthToSpace|SpaceToDepth"
#define VIEWS "Reshape|Flatten|Squeeze|Unsqueeze"

/* Layers of some operators: all of their time could be saved. */
struct share {
    const char *ops, *what;
    double least;
};

static const struct share transpose_share = {"Transpose", "Transpose", TRANSPOSE_SHARE},
                          cast_share = {"Cast", "Cast", CAST_SHARE},
                          move_share = {MOVES, "Concat, Split, Slice, Pad, Tile or Expand",
                                        MOVE_SHARE},
                          reorder_share = {"ReorderInput|ReorderOutput",
                                           "ReorderInput or ReorderOutput", REORDER_SHARE};

static enum assay__rule_outcome by_share(struct assay__advice *a)
{
    const struct share *of = a->result->rule->with;
    size_t count = 0;
    double share = assay__advice_share(a, of->ops, &count);
    if (!count || share < of->least) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%zu %s layers take %s %% of the latency (%s)", count, of->what,
                         assay__percent(share).text,
                         assay__scaled(share * a->p50_ns / 1e9, "s").text);
    return assay__rule_found(a, assay__amdahl(share, (double)INFINITY));
}

/* --- unnecessary nodes ------------------------------------------------------------------------ */

/* Operators whose nodes can do nothing; or (`before`) whose output may be read only by another such
 * node, so that the two can be merged. */
struct removable {
    const char *ops;
    bool before;
    const char *what;
};

static const struct removable cast_chain = {"Cast", true, "Cast nodes whose result is cast again"},
                              view_chain = {VIEWS, true,
                                            "reshaping nodes whose result is reshaped again"},
                              transpose_pair = {"Transpose", true,
                                                "Transpose nodes whose result is transposed again"},
                              identities = {"Identity|Dropout", false, "Identity or Dropout nodes"};

static bool is_op(const struct assay__advice *a, size_t i, const char *ops)
{
    const struct assay__node *node = i < a->model->graph.node_count ? &a->model->graph.nodes[i]
                                                                    : NULL;
    return node && (!node->domain || !*node->domain) && assay__op_among(node->op, ops);
}

static enum assay__rule_outcome removable(struct assay__advice *a)
{
    const struct removable *of = a->result->rule->with;
    const struct assay__graph *graph = &a->model->graph;
    const struct assay__layers *layers = &a->trial->layers;
    size_t count = 0, ran = 0, first = SIZE_MAX;
    double time = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        if (!is_op(a, i, of->ops) ||
            (of->before && !is_op(a, assay__advice_only_reader(a, i), of->ops)))
            continue;
        if (count++ == 0) first = i;
        size_t layer = a->layer_of[i];
        if (layer == ASSAY__MAP_NONE || strcmp(layers->items[layer].op, graph->nodes[i].op) != 0)
            continue;
        ran++;
        assay__rule_about(a, layer);
        time += assay__advice_time(&layers->items[layer]);
    }
    if (!count || (layers->count && !ran)) return ASSAY__RULE_NOTHING; /* the engine removed them */
    assay__rule_evidence(a, "%zu %s in the graph, such as '%s'", count, of->what,
                         assay__advice_node_name(&graph->nodes[first]));
    if (!(time > 0) || !(a->p50_ns > 0)) return assay__rule_found(a, NAN);
    double share = fmin(time / a->p50_ns, 1);
    assay__rule_evidence(a, "%zu of them ran, taking %s %% of the latency", ran,
                         assay__percent(share).text);
    return assay__rule_found(a, assay__amdahl(share, (double)INFINITY));
}

/* --- weights ---------------------------------------------------------------------------------- */

static int note_graph(struct assay__map *read, const struct assay__graph *graph)
{
    int code = 0;
    for (size_t i = 0; i < graph->output_count && code == 0; i++)
        code = assay__map_set(read, graph->outputs[i].name, 1);
    for (size_t i = 0; i < graph->node_count && code == 0; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->input_count && code == 0; k++)
            code = assay__map_set(read, node->inputs[k], 1);
        for (size_t k = 0; k < node->attr_count && code == 0; k++) {
            if (node->attrs[k].g) code = note_graph(read, node->attrs[k].g);
            for (size_t g = 0; node->attrs[k].graphs && g < node->attrs[k].count && code == 0; g++)
                code = note_graph(read, node->attrs[k].graphs[g]);
        }
    }
    return code;
}

static enum assay__rule_outcome unused_weights(struct assay__advice *a)
{
    const struct assay__graph *graph = &a->model->graph;
    struct assay__map *read = assay__map_new();
    double bytes = 0;
    size_t count = 0;
    const char *first = "";
    bool noted = read && note_graph(read, graph) == 0;
    if (!noted) assay__arena_fail(a->arena);
    for (size_t i = 0; noted && i < graph->initializer_count; i++) {
        const struct assay__tensor *t = &graph->initializers[i];
        if (assay__map_get(read, t->name) != ASSAY__MAP_NONE) continue;
        size_t size = assay__dtype_bytes(t->dtype, t->elements);
        if (count++ == 0) first = t->name;
        bytes += size == SIZE_MAX ? 0 : (double)size;
    }
    assay__map_free(read);
    if (bytes < UNUSED_BYTES) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%zu initializers with %s are read by no node, such as '%s'", count,
                         assay__scaled(bytes, "B").text, first);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome constant_outputs(struct assay__advice *a)
{
    const struct assay__graph *graph = &a->model->graph;
    double bytes = 0;
    size_t count = 0;
    const char *first = "";
    for (size_t i = 0; i < graph->output_count; i++) {
        const char *name = graph->outputs[i].name;
        size_t made = assay__advice_producer(a, name);
        bool constant = made == ASSAY__MAP_NONE ? assay__graph_is_initializer(graph, name)
                                                : a->analysis->costs[made].constant;
        double own = assay__cost_bytes(assay__shapes_get(a->analysis->shapes, name));
        if (!constant || !(own >= CONSTANT_BYTES)) continue;
        if (count++ == 0) first = name;
        bytes += own;
    }
    if (!count) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%zu outputs are always the same %s, such as '%s'", count,
                         assay__scaled(bytes, "B").text, first);
    return assay__rule_found(a, NAN);
}

#define TIMED (ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS)

const struct assay__rule assay__rules_graph[] = {
    {"transposes", "graph", "medium", "large", TIMED, by_share, NULL, &transpose_share,
     "Time is spent transposing", "Transpose layers that take 5 % or more of the latency",
     "export the model in the engine's layout (NCHW for ONNX Runtime's CPU and CUDA), so that "
     "nothing is transposed"},
    {"casts", "graph", "medium", "large", TIMED, by_share, NULL, &cast_share,
     "Time is spent converting types", "Cast layers that take 3 % or more of the latency",
     "keep one type from input to output: feed the type the model computes in, and convert the "
     "weights instead of the activations"},
    {"moves", "graph", "medium", "large", TIMED, by_share, NULL, &move_share,
     "Time is spent copying tensors",
     "layers that only copy (Concat, Split, Slice, Pad, Tile, Expand) and take 10 % or more of the "
     "latency",
     "produce joined tensors directly (one wider product instead of several and a Concat), and "
     "slice weights instead of activations"},
    {"layout-reorders", "graph", "medium", "medium", TIMED, by_share, assay__try_layout_off,
     &reorder_share, "Time is spent changing the layout of tensors",
     "layers that the engine added to change a tensor's layout (ReorderInput, ReorderOutput) and "
     "that take 5 % or more of the latency",
     "use fewer operators between convolutions that support only the plain layout (fuse "
     "activations, fold scales and shifts into weights), or optimisation level extended, which "
     "keeps the blocked layout"},
    {"cast-chain", "graph", "low", "medium", ASSAY__NEED_MODEL, removable, assay__try_optimization,
     &cast_chain, "Casts of casts", "a Cast that only another Cast reads, and that the engine runs",
     "one Cast to the last type instead of several, or none"},
    {"view-chain", "graph", "low", "medium", ASSAY__NEED_MODEL, removable, assay__try_optimization,
     &view_chain, "Reshapes of reshapes",
     "a Reshape, Flatten, Squeeze or Unsqueeze that only another one reads, and that the engine "
     "runs",
     "one Reshape to the last shape instead of several"},
    {"transpose-pair", "graph", "low", "medium", ASSAY__NEED_MODEL, removable,
     assay__try_optimization, &transpose_pair, "Transposes of transposes",
     "a Transpose that only another Transpose reads, and that the engine runs",
     "merge the two permutations; where they undo each other, remove both"},
    {"identities", "graph", "low", "small", ASSAY__NEED_MODEL, removable, assay__try_optimization,
     &identities, "Nodes that do nothing", "Identity and Dropout nodes that the engine runs",
     "export the model for inference (no Dropout), or use optimisation level basic, which removes "
     "them"},
    {"unused-weights", "graph", "note", "medium", ASSAY__NEED_MODEL, unused_weights, NULL, NULL,
     "Weights that no node reads", "initializers, 1 KiB or more in total, that no node reads",
     "leave them out of the file: it loads faster and takes less space"},
    {"constant-outputs", "graph", "low", "medium", ASSAY__NEED_MODEL | ASSAY__NEED_SHAPES,
     constant_outputs, NULL, NULL, "Outputs that never change",
     "outputs of 64 KiB or more that depend only on constants",
     "remove constants from the outputs: they are copied in every inference"},
    {0},
};
