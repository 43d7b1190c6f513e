/* rules_bound.c - rules about what bounds the layers: calls, memory, kernels far below their roof,
 * and the operators known for this. */
#include "advise/rules.h"

#include <math.h>
#include <string.h>

/* share of the latency spent in calls: above it, computing takes less time */
#define DISPATCH_SHARE 0.3
#define DISPATCH_LAYERS 8  /* with fewer there are no neighbours to merge */
#define DISPATCH_LOCAL 2.0 /* merging neighbours in pairs halves the calls */
#define MEMORY_SHARE 0.5
#define MEMORY_NEAR 0.5     /* share of the roof: above it only moving fewer bytes helps */
#define MEMORY_LOCAL 2.0    /* 16 instead of 32 bits */
#define LOW_UTILIZATION 0.3 /* the monitoring guide's limit for a bad utilisation … */
#define LOW_GOAL 0.6        /* … and what a good kernel of a common shape reaches */
#define LOW_LEAST_NS ASSAY__ROOFLINE_OVERHEAD_NS /* shorter layers are calls, not kernels */
#define OTHERS_SHARE 0.2 /* share of CPU time used by others: then layers wait for them too */
#define DEPTHWISE_SHARE 0.1
#define GATHER_SHARE 0.2
#define GATHER_LOCAL 2.0 /* a table of 16 bits */
#define NORM_SHARE 0.2
#define LANES_USED 0.75       /* share of vector lanes: a quarter of the work is padding */
#define BODIES "Scan|Loop|If" /* contain layers, and the calls of those layers */
#define GATHERS "Gather|GatherElements|GatherND|EmbedLayerNormalization"
#define NORMS                                                                                    \
    "Softmax|LogSoftmax|LayerNormalization|SkipLayerNormalization|SimplifiedLayerNormalization|" \
    "RMSNormalization|InstanceNormalization|GroupNormalization|BatchNormalization|ReduceMean|"   \
    "LpNormalization"

/* The whole that shares refer to. Layers are timed in a separate run, which may be slower than the
 * unprofiled median, and some engines run them in parallel: if their times add up to more than the
 * latency, a share of the latency could exceed 1 and the potential 1 / (1 - share) would be
 * meaningless; then their sum is the whole. Nodes with bodies are left out: the layers inside them
 * are counted. */
static double whole_ns(const struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    double sum = 0;
    for (size_t i = 0; i < layers->count; i++)
        if (!assay__op_among(layers->items[i].op, BODIES))
            sum += assay__advice_time(&layers->items[i]);
    return fmax(sum, a->p50_ns);
}

static const char *whole_name(const struct assay__advice *a)
{
    return whole_ns(a) > a->p50_ns ? "the layers' summed time" : "the latency";
}

/* Notes that the layers add up to more than the latency, if that exceeds rounding. */
static void say_whole(struct assay__advice *a)
{
    double part = whole_ns(a) / a->p50_ns;
    if (part < 1.005) return;
    assay__rule_evidence(a,
                         "the layer times add up to %s %% of the latency (timing slows them, or "
                         "they ran in parallel): shares and potential refer to that sum",
                         assay__percent(part).text);
}

static enum assay__rule_outcome dispatch(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    double engine = layers->engine_ns > 0 ? layers->engine_ns : 0,
           calls = a->roofline.time_ns[ASSAY__BOUND_OVERHEAD],
           share = (engine + calls) / fmax(whole_ns(a), engine + calls);
    size_t small = 0;
    for (size_t i = 0; i < layers->count; i++)
        small += a->roofline.layers[i].bound == ASSAY__BOUND_OVERHEAD;
    if (share < DISPATCH_SHARE || small < DISPATCH_LAYERS) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%zu of %zu layers are mostly call overhead: %s, %s %% of %s", small,
                         layers->count, assay__scaled(calls / 1e9, "s").text,
                         assay__percent(calls / whole_ns(a)).text, whole_name(a));
    say_whole(a);
    assay__rule_evidence(a, "the engine's fixed cost per run: %s",
                         layers->engine_ns > 0 ? assay__scaled(engine / 1e9, "s").text : "unknown");
    /* the engine's fixed cost is one per run, however many calls there are */
    return assay__rule_found(
        a, assay__amdahl(calls / fmax(whole_ns(a), engine + calls), DISPATCH_LOCAL));
}

static enum assay__rule_outcome memory_bound(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    double time = a->roofline.time_ns[ASSAY__BOUND_MEMORY], least = 0, bytes = 0;
    double share = time / fmax(whole_ns(a), time);
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++) {
        if (a->roofline.layers[i].bound != ASSAY__BOUND_MEMORY) continue;
        count++;
        least += a->roofline.layers[i].least_ns;
        bytes += layers->items[i].bytes;
    }
    if (share < MEMORY_SHARE || least < MEMORY_NEAR * time) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%zu memory-bound layers move %s in %s %% of %s", count,
                         assay__scaled(bytes, "B").text, assay__percent(share).text, whole_name(a));
    say_whole(a);
    assay__rule_evidence(a, "they reach %s %% of the memory roof: only moving fewer bytes helps",
                         assay__percent(least / time).text);
    return assay__rule_found(a, assay__amdahl(share, MEMORY_LOCAL));
}

/* --- kernels ---------------------------------------------------------------------------------- */

struct far_layers { /* layers far below their roof */
    double time, saved;
    size_t count, worst;
    double worst_saved;
};

static void add_far_layer(const struct assay__advice *a, size_t i, struct far_layers *far)
{
    const struct assay__roofline_layer *placed = &a->roofline.layers[i];
    double time = assay__advice_time(&a->trial->layers.items[i]);
    if (!(placed->utilization < LOW_UTILIZATION) || time < LOW_LEAST_NS ||
        assay__op_among(a->trial->layers.items[i].op, BODIES))
        return;
    assay__rule_about(a, i);
    double saved = time * (1 - placed->utilization / LOW_GOAL);
    far->time += time;
    far->saved += saved;
    far->count++;
    if (!(saved > far->worst_saved)) return;
    far->worst_saved = saved;
    far->worst = i;
}

static void say_far_layers(struct assay__advice *a, const struct far_layers *far, const char *what)
{
    const struct assay__layer *worst = &a->trial->layers.items[far->worst];
    assay__rule_evidence(a, "%zu %s below %.0f %% of their roof take %s %% of %s", far->count, what,
                         LOW_UTILIZATION * 100, assay__percent(far->time / whole_ns(a)).text,
                         whole_name(a));
    say_whole(a);
    assay__rule_evidence(a, "the worst: '%s' (%s), %s at %s %% of its %s roof",
                         worst->from_count ? worst->from[0] : worst->name, worst->op,
                         assay__scaled(worst->time_ns / 1e9, "s").text,
                         assay__percent(a->roofline.layers[far->worst].utilization).text,
                         a->roofline.layers[far->worst].under_memory ? "memory" : "compute");
    double others = assay__trial_value(a->trial, "disturbance.cpu_other");
    if (assay__trial_on_cpu(a->trial) && others >= OTHERS_SHARE)
        assay__rule_evidence(a,
                             "but other processes used %s %% of the machine at the same time: "
                             "measure on a quiet machine first",
                             assay__percent(others).text);
}

static double saved_gain(const struct assay__advice *a, double saved_ns)
{
    double share = saved_ns / whole_ns(a);
    return share < 1 ? 1 / (1 - share) : NAN; /* a roof of zero time says nothing */
}

static enum assay__rule_outcome utilization(struct assay__advice *a)
{
    struct far_layers far = {0};
    for (size_t i = 0; i < a->roofline.layer_count; i++)
        add_far_layer(a, i, &far);
    if (!far.count) return ASSAY__RULE_NOTHING;
    say_far_layers(a, &far, "layers");
    assay__rule_advice(
        a,
        "try other kernels: another build or provider of the engine, shapes that are multiples of "
        "the vector width, another layout; the potential assumes %.0f %% of the roof",
        LOW_GOAL * 100);
    return assay__rule_found(a, saved_gain(a, far.saved));
}

static enum assay__rule_outcome depthwise(struct assay__advice *a)
{
    const struct assay__graph *graph = &a->model->graph;
    struct far_layers far = {0};
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__shape_entry *x = NULL;
        int64_t groups = assay__node_int(node, "group", 1);
        if (node->input_count) x = assay__shapes_get(a->analysis->shapes, node->inputs[0]);
        if (a->layer_of[i] != ASSAY__MAP_NONE && strcmp(node->op, "Conv") == 0 && groups > 1 && x &&
            x->rank >= 3 && x->dims[1] == groups)
            add_far_layer(a, a->layer_of[i], &far);
    }
    if (!far.count || far.time < DEPTHWISE_SHARE * whole_ns(a)) return ASSAY__RULE_NOTHING;
    say_far_layers(a, &far, "depthwise convolutions");
    assay__rule_advice(
        a,
        "depthwise convolutions use few of the arithmetic units: use full convolutions with fewer "
        "channels, or a device with kernels for them; the potential assumes %.0f %% of the roof",
        LOW_GOAL * 100);
    return assay__rule_found(a, saved_gain(a, far.saved));
}

/* Share of the whole, unlike assay__advice_share (of the latency, at most 1). */
static double share_of(const struct assay__advice *a, const char *ops, size_t *count)
{
    const struct assay__layers *layers = &a->trial->layers;
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < layers->count; i++) {
        double time = assay__advice_time(&layers->items[i]);
        if (!assay__op_among(layers->items[i].op, ops)) continue;
        assay__rule_about(a, i);
        *count += time > 0;
        sum += time;
    }
    return sum / whole_ns(a);
}

static enum assay__rule_outcome gathers(struct assay__advice *a)
{
    size_t count = 0;
    double share = share_of(a, GATHERS, &count);
    if (!count || share < GATHER_SHARE) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%zu gathering layers take %s %% of %s", count,
                         assay__percent(share).text, whole_name(a));
    say_whole(a);
    return assay__rule_found(a, assay__amdahl(share, GATHER_LOCAL));
}

static enum assay__rule_outcome norms(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    size_t count = 0;
    double share = share_of(a, NORMS, &count), saved = 0;
    if (!count || share < NORM_SHARE) return ASSAY__RULE_NOTHING;
    for (size_t i = 0; i < layers->count; i++) {
        double least = a->roofline.layers[i].least_ns, time = assay__advice_time(&layers->items[i]);
        if (assay__op_among(layers->items[i].op, NORMS) && isfinite(least) && time > least)
            saved += time - least;
    }
    assay__rule_evidence(a, "%zu Softmax and normalisation layers take %s %% of %s", count,
                         assay__percent(share).text, whole_name(a));
    say_whole(a);
    assay__rule_evidence(a, "at their roofs they would take %s less",
                         assay__scaled(saved / 1e9, "s").text);
    return assay__rule_found(a, saved_gain(a, saved));
}

/* --- vector lanes ----------------------------------------------------------------------------- */

static enum assay__rule_outcome lanes(struct assay__advice *a)
{
    const struct assay__graph *graph = &a->model->graph;
    const char *simd = a->profile->environment.simd;
    double lost = 0, worst = 1;
    size_t count = 0, worst_node = 0;
    int64_t columns = 0;
    if (!assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (!simd || !*simd)
        return assay__rule_missing(a, "machine: its vector instruction set is unknown");
    /* float32 numbers in a register of the widest instruction set; the last: SSE, NEON */
    int width = strstr(simd, "avx512") ? 16 : strstr(simd, "avx") ? 8 : 4;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        if (!assay__op_among(node->op, "MatMul|Gemm") || a->layer_of[i] == ASSAY__MAP_NONE)
            continue;
        const struct assay__shape_entry *y = assay__shapes_get(a->analysis->shapes,
                                                               node->outputs[0]);
        double time = assay__advice_time(&a->trial->layers.items[a->layer_of[i]]);
        if (!y || y->rank < 1 || y->dims[y->rank - 1] < 1 || time < LOW_LEAST_NS) continue;
        int64_t last = y->dims[y->rank - 1], padded = (last + width - 1) / width * width;
        double used = (double)last / (double)padded;
        if (used >= LANES_USED) continue;
        assay__rule_about(a, a->layer_of[i]);
        count++;
        lost += time * (1 - used);
        if (used >= worst) continue;
        worst = used;
        worst_node = i;
        columns = last;
    }
    if (!count) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "%zu products have a last dimension that leaves lanes of a %d-wide vector register idle",
        count, width);
    assay__rule_evidence(a, "'%s' has %lld columns: %s %% of the lanes work",
                         assay__advice_node_name(&graph->nodes[worst_node]), (long long)columns,
                         assay__percent(worst).text);
    assay__rule_advice(
        a, "use hidden sizes that are multiples of %d, or merge several small products into one",
        width);
    say_whole(a);
    return assay__rule_found(a, saved_gain(a, lost));
}

#define TIMED (ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS)
#define CEILED (TIMED | ASSAY__NEED_COSTS | ASSAY__NEED_CEILINGS)

const struct assay__rule assay__rules_bound[] = {
    {"dispatch-bound", "bound", "medium", "large", CEILED, dispatch, assay__try_batch, NULL,
     "Calling layers takes longer than computing them",
     "8 or more overhead-bound layers that, with the engine's cost per run, take 30 % or more of "
     "the latency; the potential assumes half the calls",
     "do more work per call: a larger batch, fewer and wider operators; the potential assumes half "
     "as many calls"},
    {"memory-bound", "bound", "medium", "medium", CEILED, memory_bound, assay__try_weights_int8,
     NULL, "Memory bandwidth is the limit",
     "memory-bound layers that take 50 % or more of the latency and reach 50 % or more of their "
     "roof; the potential assumes half the bytes",
     "move fewer bytes: 16-bit or int8 numbers, fused operators, a larger batch per read of the "
     "weights; the potential assumes half the bytes"},
    {"low-utilization", "bound", "medium", "large", CEILED, utilization, NULL, NULL,
     "Layers run far below what the device can do",
     "layers of 20 µs or more below 30 % of their roof, except Scan, Loop and If; the potential "
     "assumes 60 %",
     NULL},
    {"depthwise", "bound", "medium", "large", CEILED | ASSAY__NEED_MODEL | ASSAY__NEED_SHAPES,
     depthwise, NULL, NULL, "Depthwise convolutions leave the device idle",
     "depthwise convolutions below 30 % of their roof that take 10 % or more of the latency; the "
     "potential assumes 60 %",
     NULL},
    {"gathers", "bound", "medium", "medium", TIMED, gathers, assay__try_weights_int8, NULL,
     "Time is spent looking up rows",
     "gathering layers that take 20 % or more of the latency; the potential assumes half the bytes",
     "use a smaller table (16-bit or int8 rows, fewer of them), or look up several rows at once; "
     "the potential assumes half the bytes"},
    {"norms", "bound", "medium", "medium", CEILED, norms, NULL, NULL,
     "Time is spent in Softmax and normalisation",
     "such layers that take 20 % or more of the latency; the potential assumes that they reach "
     "their roof",
     "use fused operators (SkipLayerNormalization, attention with its Softmax), which pass over "
     "the data once; the potential assumes that they reach their roof"},
    {"vector-lanes", "bound", "low", "large", TIMED | ASSAY__NEED_MODEL | ASSAY__NEED_SHAPES, lanes,
     NULL, NULL, "Small sizes leave vector lanes idle",
     "MatMul or Gemm of 20 µs or more whose last dimension uses less than 75 % of the vector lanes",
     NULL},
    {0},
};
