/* rules_graph.c - rules about nodes that need not be there: conversions and moves, pairs of them
 * that undo each other, weights nobody reads. Where the layers were timed, a node that the engine
 * removed by itself is no finding, and the potential is the time of those that ran. */
#include "advise/rules.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* Shares of the latency from which on moving or converting data is worth a change of the graph. */
#define TRANSPOSE_SHARE 0.05
#define CAST_SHARE 0.03
#define MOVE_SHARE 0.10
#define UNUSED_BYTES 1024.0    /* smaller left-overs cost nothing */
#define CONSTANT_BYTES 65536.0 /* an output below that is copied in no time */
#define MOVES "Concat|Split|Slice|Pad|Tile|Expand|DepthToSpace|SpaceToDepth"
#define VIEWS "Reshape|Flatten|Squeeze|Unsqueeze"

/* A share of the time in layers of some operators: the whole of it could go. */
static enum assay__rule_outcome by_share(struct assay__advice *a, struct assay__rule_result *r,
                                         const char *ops, const char *what, double least)
{
    size_t count = 0;
    double share = assay__advice_share(a, ops, &count);
    if (!count || share < least) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, r, "%zu %s layers take %s %% of the latency (%s)", count, what,
                         assay__digits(share * 100, 3).text,
                         assay__advice_scaled(a, share * a->p50_ns / 1e9, "s"));
    return assay__rule_found(r, assay__amdahl(share, (double)INFINITY));
}

static enum assay__rule_outcome transposes(struct assay__advice *a, struct assay__rule_result *r)
{
    assay__rule_advice(a, r,
                       "export the model in the layout that the engine computes in (NCHW for "
                       "ONNX Runtime's CPU and CUDA), so that nothing is transposed");
    return by_share(a, r, "Transpose", "Transpose", TRANSPOSE_SHARE);
}

static enum assay__rule_outcome casts(struct assay__advice *a, struct assay__rule_result *r)
{
    assay__rule_advice(a, r,
                       "keep one type from input to output: feed the type the model computes in, "
                       "and convert the weights instead of the activations");
    return by_share(a, r, "Cast", "Cast", CAST_SHARE);
}

static enum assay__rule_outcome moves(struct assay__advice *a, struct assay__rule_result *r)
{
    assay__rule_advice(
        a, r,
        "join tensors where they are made (one wider product instead of several and a "
        "Concat), and slice weights instead of activations");
    return by_share(a, r, MOVES, "Concat, Split, Slice, Pad, Tile or Expand", MOVE_SHARE);
}

/* --- nodes that could go ---------------------------------------------------------------------- */

/* Counts the nodes that `could_go`, and of those that ran as layers of their own the time. */
typedef bool could_go_fn(const struct assay__advice *a, size_t node);

static enum assay__rule_outcome removable(struct assay__advice *a, struct assay__rule_result *r,
                                          could_go_fn *could_go, const char *what)
{
    const struct assay__graph *graph = &a->model->graph;
    const struct assay__layers *layers = &a->trial->layers;
    size_t count = 0, ran = 0, first = SIZE_MAX;
    double time = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        if (!could_go(a, i)) continue;
        if (count++ == 0) first = i;
        size_t layer = a->layer_of[i];
        if (layer == ASSAY__MAP_NONE || strcmp(layers->items[layer].op, graph->nodes[i].op) != 0)
            continue;
        ran++;
        time += assay__advice_time(&layers->items[layer]);
    }
    if (!count || (layers->count && !ran)) return ASSAY__RULE_NOTHING; /* the engine removed them */
    assay__rule_evidence(a, r, "%zu %s in the graph, such as '%s'", count, what,
                         assay__advice_node_name(&graph->nodes[first]));
    if (!(time > 0) || !(a->p50_ns > 0)) return assay__rule_found(r, NAN);
    double share = fmin(time / a->p50_ns, 1);
    assay__rule_evidence(a, r, "%zu of them ran, in %s %% of the latency", ran,
                         assay__digits(share * 100, 3).text);
    return assay__rule_found(r, assay__amdahl(share, (double)INFINITY));
}

static const struct assay__node *node_at(const struct assay__advice *a, size_t i)
{
    return i < a->model->graph.node_count ? &a->model->graph.nodes[i] : NULL;
}

static bool is_op(const struct assay__node *node, const char *ops)
{
    return node && (!node->domain || !*node->domain) && assay__op_among(node->op, ops);
}

/* Its result is converted once more and read by nobody else: the two are one. */
static bool cast_before_cast(const struct assay__advice *a, size_t i)
{
    return is_op(node_at(a, i), "Cast") &&
           is_op(node_at(a, assay__advice_only_reader(a, i)), "Cast");
}

static bool view_before_view(const struct assay__advice *a, size_t i)
{
    return is_op(node_at(a, i), VIEWS) && is_op(node_at(a, assay__advice_only_reader(a, i)), VIEWS);
}

/* Two transposes in a row: one with the product of both, or none. */
static bool transpose_before_transpose(const struct assay__advice *a, size_t i)
{
    return is_op(node_at(a, i), "Transpose") &&
           is_op(node_at(a, assay__advice_only_reader(a, i)), "Transpose");
}

static bool does_nothing(const struct assay__advice *a, size_t i)
{
    return is_op(node_at(a, i), "Identity|Dropout");
}

static enum assay__rule_outcome cast_chain(struct assay__advice *a, struct assay__rule_result *r)
{
    assay__rule_advice(a, r, "one Cast to the last type instead of several, or none");
    return removable(a, r, cast_before_cast, "Cast nodes whose result is cast again");
}

static enum assay__rule_outcome view_chain(struct assay__advice *a, struct assay__rule_result *r)
{
    assay__rule_advice(a, r, "one Reshape to the last shape instead of several");
    return removable(a, r, view_before_view, "reshaping nodes whose result is reshaped again");
}

static enum assay__rule_outcome transpose_pair(struct assay__advice *a,
                                               struct assay__rule_result *r)
{
    assay__rule_advice(
        a, r, "join the two permutations into one; where they undo each other, leave out both");
    return removable(a, r, transpose_before_transpose,
                     "Transpose nodes whose result is transposed again");
}

static enum assay__rule_outcome identities(struct assay__advice *a, struct assay__rule_result *r)
{
    assay__rule_advice(
        a, r,
        "export the model for inference (no Dropout), or run it with --opt basic or more, "
        "which removes them");
    return removable(a, r, does_nothing, "Identity or Dropout nodes");
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

static enum assay__rule_outcome unused_weights(struct assay__advice *a,
                                               struct assay__rule_result *r)
{
    const struct assay__graph *graph = &a->model->graph;
    struct assay__map *read = assay__map_new();
    double bytes = 0;
    size_t count = 0;
    const char *first = "";
    if (!read || note_graph(read, graph)) a->failed = true;
    for (size_t i = 0; !a->failed && i < graph->initializer_count; i++) {
        const struct assay__tensor *t = &graph->initializers[i];
        if (assay__map_get(read, t->name) != ASSAY__MAP_NONE) continue;
        size_t size = assay__dtype_bytes(t->dtype, t->elements);
        if (count++ == 0) first = t->name;
        bytes += size == SIZE_MAX ? 0 : (double)size;
    }
    assay__map_free(read);
    if (bytes < UNUSED_BYTES) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, r, "%zu initializers with %s are read by no node, such as '%s'", count,
                         assay__advice_scaled(a, bytes, "B"), first);
    assay__rule_advice(a, r, "leave them out of the file: it loads faster and takes less room");
    return assay__rule_found(r, NAN);
}

static double value_bytes(const struct assay__advice *a, const char *name)
{
    const struct assay__shape_entry *entry = assay__shapes_get(a->analysis->shapes, name);
    double elements = 1;
    if (!entry || entry->rank < 0) return 0;
    for (int k = 0; k < entry->rank; k++)
        elements *= entry->dims[k] >= 0 ? (double)entry->dims[k] : 0;
    return elements * assay__dtype_bits(entry->dtype) / 8;
}

static enum assay__rule_outcome constant_outputs(struct assay__advice *a,
                                                 struct assay__rule_result *r)
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
        double own = constant ? value_bytes(a, name) : 0;
        if (own < CONSTANT_BYTES) continue;
        if (count++ == 0) first = name;
        bytes += own;
    }
    if (!count) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, r, "%zu outputs are always the same %s, such as '%s'", count,
                         assay__advice_scaled(a, bytes, "B"), first);
    assay__rule_advice(a, r,
                       "take constants out of the outputs: they are copied with every inference");
    return assay__rule_found(r, NAN);
}

#define TIMED (ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS)

const struct assay__rule assay__rules_graph[] = {
    {"transposes", "graph", "medium", "Time goes into transposing",
     "Transpose layers with 5 % of the latency or more", TIMED, "large", transposes, NULL},
    {"casts", "graph", "medium", "Time goes into converting types",
     "Cast layers with 3 % of the latency or more", TIMED, "large", casts, NULL},
    {"moves", "graph", "medium", "Time goes into copying tensors",
     "layers that only copy (Concat, Split, Slice, Pad, Tile, Expand) with 10 % of the latency or "
     "more",
     TIMED, "large", moves, NULL},
    {"cast-chain", "graph", "low", "Casts of casts",
     "a Cast that only another Cast reads, and that the engine runs", ASSAY__NEED_MODEL, "medium",
     cast_chain, assay__try_optimization},
    {"view-chain", "graph", "low", "Reshapes of reshapes",
     "a Reshape, Flatten, Squeeze or Unsqueeze that only another one reads, and that the engine "
     "runs",
     ASSAY__NEED_MODEL, "medium", view_chain, assay__try_optimization},
    {"transpose-pair", "graph", "low", "Transposes of transposes",
     "a Transpose that only another Transpose reads, and that the engine runs", ASSAY__NEED_MODEL,
     "medium", transpose_pair, assay__try_optimization},
    {"identities", "graph", "low", "Nodes that do nothing",
     "Identity and Dropout nodes that the engine runs", ASSAY__NEED_MODEL, "small", identities,
     assay__try_optimization},
    {"unused-weights", "graph", "note", "Weights that nobody reads",
     "initializers of 1 KiB together or more that no node reads", ASSAY__NEED_MODEL, "medium",
     unused_weights, NULL},
    {"constant-outputs", "graph", "low", "Outputs that never change",
     "outputs of 64 KiB or more that are made of constants alone",
     ASSAY__NEED_MODEL | ASSAY__NEED_SHAPES, "medium", constant_outputs, NULL},
    {0},
};
