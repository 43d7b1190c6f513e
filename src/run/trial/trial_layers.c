/* trial_layers.c - the layers of a trial from those of its launches: per layer the median over the
 * launches, and
 *   layers + engine + unattributed = latency.p50, exactly,
 * by definition of unattributed (signed). Nothing is scaled here. A layer's FLOPs are the sum of
 * the original nodes it came from, its bytes that sum minus what stays inside the layer, if all of
 * them are known. */
#include "run/trial/trial.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/metric_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FITS 0.04 /* how close layers and latency of a launch are to the median launch */
/* maximum original nodes of one layer; beyond this FLOPs and bytes stay unknown */
#define FUSED_MOST 256u

/* --- the same layer in two launches ----------------------------------------------------------- */

/* Which layers correspond. Names do not show it: an engine numbers the nodes that it adds, and
 * orders independent nodes, differently from process to process. The layer's origin does: the key
 * is the operator and the original nodes; a layer that the engine added (a change of layout, for
 * example) is identified by what ran just before it. Layers with equal keys are paired in order of
 * execution. */
static char *key_of(struct assay__arena *arena, const struct assay__layers *layers, size_t index)
{
    struct assay__buf key = {0};
    size_t from = index;
    assay__buf_puts(&key, layers->items[index].op);
    while (from > 0 && layers->items[from].from_count == 0)
        from--;
    assay__buf_putc(&key, from == index ? '<' : '@');
    for (size_t i = 0; i < layers->items[from].from_count; i++) {
        assay__buf_puts(&key, layers->items[from].from[i]);
        assay__buf_putc(&key, '\n');
    }
    return assay__buf_keep(&key, arena);
}

int assay__layers_match(const struct assay__layers *lead, const struct assay__layers *other,
                        size_t *where)
{
    if (lead->count != other->count || strcmp(lead->method, other->method) != 0)
        return ASSAY_ENOTFOUND;
    struct assay__arena *arena = assay__arena_new();
    struct assay__map *heads = assay__map_new(); /* key -> first layer of `other` that has it … */
    size_t *next = calloc(other->count + 1, sizeof *next); /* … the one after it, or MAP_NONE */
    int code = arena && heads && next ? 0 : ASSAY_ENOMEM;
    for (size_t i = other->count; i-- > 0 && code == 0;) {
        char *key = key_of(arena, other, i);
        if (key) next[i] = assay__map_get(heads, key);
        code = key ? assay__map_set(heads, key, i) : ASSAY_ENOMEM;
    }
    for (size_t i = 0; i < lead->count && code == 0; i++) {
        char *key = key_of(arena, lead, i);
        where[i] = key ? assay__map_get(heads, key) : ASSAY__MAP_NONE;
        code = !key                          ? ASSAY_ENOMEM
               : where[i] == ASSAY__MAP_NONE ? ASSAY_ENOTFOUND
                                             : assay__map_set(heads, key, next[where[i]]);
    }
    free(next);
    assay__map_free(heads);
    assay__arena_free(arena);
    return code;
}

/* --- merging ---------------------------------------------------------------------------------- */

/* One launch's layers, and the index of each of lead's layers among them. */
struct joined {
    const struct assay__layers *layers;
    size_t *where;
    int launch; /* its id */
};

double assay__outcomes_p50(const struct assay__outcome *outcomes, size_t count)
{
    double p50_ns, half_width;
    assay__outcomes_so_far(outcomes, count, &p50_ns, &half_width);
    return p50_ns;
}

static double layers_total_ns(const struct assay__layers *layers)
{
    double sum_ns = layers->engine_ns;
    for (size_t i = 0; i < layers->count; i++)
        if (isfinite(layers->items[i].time_ns)) sum_ns += layers->items[i].time_ns;
    return sum_ns;
}

/* Whether a launch ran as fast as the median launch, and its layers add up to that. */
static bool fits(const struct assay__outcome *outcome, double p50_ns)
{
    return outcome->code == 0 && fabs(outcome->summary.p50 / p50_ns - 1) <= FITS &&
           fabs(layers_total_ns(&outcome->layers) / p50_ns - 1) <= FITS;
}

bool assay__outcomes_layers_fit(const struct assay__outcome *outcomes, size_t count)
{
    double p50_ns = assay__outcomes_p50(outcomes, count), sum_ns = 0;
    size_t timed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct assay__layers *layers = &outcomes[i].layers;
        if (outcomes[i].code || !layers->count || strcmp(layers->method, "markers") != 0) continue;
        if (fits(&outcomes[i], p50_ns)) return true;
        sum_ns += layers_total_ns(layers);
        timed++;
    }
    return !timed || fabs(sum_ns / (double)timed / p50_ns - 1) <= FITS;
}

/* Launches with layers. Those timed while the machine was in another state than at the median
 * launch are left out if others match it. */
static bool counts(const struct assay__trial_input *input, size_t index, double p50_ns)
{
    const struct assay__outcome *outcome = &input->outcomes[index];
    if (outcome->layers.count == 0 || outcome->code) return false;
    if (!input->brief || fits(outcome, p50_ns)) return true;
    for (size_t i = 0; i < input->outcome_count; i++)
        if (input->outcomes[i].layers.count && fits(&input->outcomes[i], p50_ns)) return false;
    return true;
}

/* The first launch with layers leads; those with the same layers are added. */
static int gather(const struct assay__trial_input *input, double p50_ns, struct joined *out,
                  size_t *count)
{
    for (size_t i = 0; i < input->outcome_count; i++) {
        const struct assay__layers *layers = &input->outcomes[i].layers;
        if (!counts(input, i, p50_ns)) continue;
        size_t *where = calloc(layers->count, sizeof *where);
        const struct assay__layers *lead = *count ? out[0].layers : layers;
        int code = where ? assay__layers_match(lead, layers, where) : ASSAY_ENOMEM;
        if (code == 0) {
            int launch = i < input->trial->launch_count ? input->trial->launches[i].id : (int)i + 1;
            out[(*count)++] = (struct joined){layers, where, launch};
            continue;
        }
        free(where);
        if (code != ASSAY_ENOTFOUND) return code;
    }
    return 0;
}

/* The note on the layers: that of the first launch that has one. Without layers it is the reason,
 * which becomes part of other sentences. */
static const char *remark(const struct assay__trial_input *input, double p50_ns, size_t joined)
{
    size_t with = 0;
    const char *first = "";
    struct assay__arena *arena = input->profile->arena;
    for (size_t i = 0; i < input->outcome_count; i++) {
        const struct assay__layers *layers = &input->outcomes[i].layers;
        with += counts(input, i, p50_ns);
        if (!layers->reason[0] || first[0]) continue;
        first = input->outcome_count == 1 ? layers->reason
                : layers->count
                    ? assay__arena_text(arena, "Launch %zu: %s", i + 1, layers->reason)
                    : assay__arena_text(arena, "%s (launch %zu)", layers->reason, i + 1);
    }
    if (with > 0 && input->streams > 1) /* layers are timed in isolation, the latency is not */
        first = assay__arena_text(
            arena,
            "%s%sLayers were timed with one request in flight; the latency is that of %d: the "
            "difference is in unattributed.",
            first, first[0] ? " " : "", input->streams);
    if (with == joined) return first;
    return assay__arena_text(arena,
                             "%s%s%zu of %zu launches ran different layers and are left out.",
                             first, first[0] ? " " : "", with - joined, with);
}

/* Of brief launches the mean: the layers then add up to the mean of the launches' sums, whatever
 * the speed of each was; medians of single layers would not. Nor would those of kernels, which are
 * added up with the rest of a run. */
static double merged(const struct assay__trial_input *input, bool kernels, double *values,
                     size_t count)
{
    size_t known = 0;
    if (!input->brief && !kernels) return assay__median_finite(values, count);
    for (size_t m = 0; m < count; m++)
        if (isfinite(values[m])) values[known++] = values[m];
    return known ? assay__stats_mean(values, known) : NAN;
}

static bool by_kernels(const struct assay__layers *layers)
{
    return strcmp(layers->method, "kernels") == 0;
}

#define MERGE(out, field)                                                   \
    do {                                                                    \
        for (size_t m = 0; m < count; m++)                                  \
            scratch[m] = lists[m].layers->field;                            \
        (out) = merged(input, by_kernels(lists[0].layers), scratch, count); \
    } while (0)

/* Bytes that a layer of several nodes does not move: a value that one of them writes and only they
 * read stays inside (written once, read once by each). NaN if a node with several outputs makes
 * that unclear. */
static double inside_bytes(const struct assay__model_costs *costs, const bool *opened,
                           const size_t *nodes, size_t count)
{
    double bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct assay__node *node = &costs->graph->nodes[nodes[i]];
        size_t inside = 0;
        if (opened[nodes[i]]) continue; /* moves nothing itself */
        for (size_t o = 0; o < node->output_count; o++)
            for (size_t j = 0; j < count; j++)
                for (size_t v = 0; v < costs->graph->nodes[nodes[j]].input_count; v++)
                    inside += strcmp(costs->graph->nodes[nodes[j]].inputs[v], node->outputs[o]) ==
                              0;
        if (inside == 0) continue;
        if (node->output_count != 1) return NAN;
        size_t readers = assay__map_get(costs->consumers, node->outputs[0]);
        bytes += (double)(inside + (readers == inside)) * costs->nodes[nodes[i]].bytes_written;
    }
    return bytes;
}

/* By node: whether what its bodies do has layers of its own. NULL: out of memory. */
static bool *find_opened(const struct assay__model_costs *costs, const struct assay__layers *layers)
{
    bool *opened = calloc(costs->graph ? costs->graph->node_count + 1 : 1, sizeof *opened);
    for (size_t i = 0; opened && costs->parents && i < layers->count; i++)
        for (size_t f = 0; f < layers->items[i].from_count; f++) {
            size_t at = assay__costs_find(costs, layers->items[i].from[f]);
            if (at == ASSAY__MAP_NONE) continue;
            for (at = costs->parents[at]; at != SIZE_MAX && !opened[at]; at = costs->parents[at])
                opened[at] = true;
        }
    return opened;
}

static int layer_cost(struct assay__arena *arena, const struct assay__model_costs *costs,
                      const bool *opened, struct assay__layer *layer)
{
    static const struct assay__cost nothing = {0};
    double flops = 0, bytes = 0, weights = 0;
    double live = 0; /* maximum of what is alive while one of the nodes runs; NaN: one is unknown */
    size_t nodes[FUSED_MOST];
    if (!costs || !costs->nodes || layer->from_count == 0 || layer->from_count > FUSED_MOST)
        return 0;
    for (size_t i = 0; i < layer->from_count; i++) {
        nodes[i] = assay__costs_find(costs, layer->from[i]);
        if (nodes[i] == ASSAY__MAP_NONE) return 0;
        const struct assay__cost *cost = opened[nodes[i]] ? &nothing : &costs->nodes[nodes[i]];
        flops += cost->flops;
        bytes += cost->bytes_read + cost->bytes_written;
        weights += cost->bytes_weights;
        double now = costs->live_bytes ? costs->live_bytes[nodes[i]] : NAN;
        if (!(now <= live) && !isnan(live)) live = now;
    }
    layer->weight_bytes = weights;
    layer->live_bytes = live;
    if (layer->from_count > 1) bytes -= inside_bytes(costs, opened, nodes, layer->from_count);
    if (!isfinite(layer->flops)) layer->flops = flops;
    if (!isfinite(layer->bytes)) layer->bytes = bytes;
    return assay__describe_layer(arena, costs, nodes, layer->from_count, layer);
}

/* u such that (s + u) == p in doubles: the sum is exact to the last bit. */
static double remainder_exact(double p, double s)
{
    double u = p - s;
    for (int i = 0; i < 4 && s + u != p; i++)
        u = nextafter(u, s + u < p ? INFINITY : -INFINITY);
    return u;
}

static int merge_items(const struct assay__trial_input *input, const struct joined *lists,
                       size_t count, double *scratch)
{
    struct assay__layers *out = &input->trial->layers;
    const struct assay__layers *lead = lists[0].layers;
    struct assay__arena *arena = input->profile->arena;
    struct assay__layer *items = assay__arena_array(arena, lead->count, sizeof *items);
    double *times_ns = assay__arena_array(arena, lead->count * count, sizeof *times_ns);
    int *ids = assay__arena_array(arena, count, sizeof *ids), code = 0;
    static const struct assay__model_costs none = {0};
    bool *opened = find_opened(input->costs ? input->costs : &none, lead);
    if (!items || !times_ns || !ids || !opened) code = ASSAY_ENOMEM;
    for (size_t m = 0; m < count && code == 0; m++)
        ids[m] = lists[m].launch;
    for (size_t i = 0; i < lead->count && code == 0; i++) {
        items[i] = lead->items[i];
        items[i].launch_times_ns = times_ns + i * count;
        for (size_t m = 0; m < count; m++)
            times_ns[i * count + m] = lists[m].layers->items[lists[m].where[i]].time_ns;
        MERGE(items[i].time_ns, items[lists[m].where[i]].time_ns);
        MERGE(items[i].host_enqueue_ns, items[lists[m].where[i]].host_enqueue_ns);
        MERGE(items[i].gap_ns, items[lists[m].where[i]].gap_ns);
        code = layer_cost(arena, input->costs, opened, &items[i]);
    }
    out->items = items;
    out->count = lead->count;
    out->launch_ids = ids;
    out->launch_count = count;
    free(opened);
    return code;
}

/* What a layer's time was computed from: one text for all. */
static void note_scaled(struct assay__layers *layers, size_t launches, struct assay__arena *arena)
{
    const char *note = assay__arena_text(
        arena,
        "time between markers × %.4f, so that the layers add up to the time of the whole run%s",
        layers->scale_factor, launches > 1 ? " (the typical factor: each launch has its own)" : "");
    for (size_t i = 0; i < layers->count; i++) {
        struct assay__layer *layer = &layers->items[i];
        if (layer->state == ASSAY_DERIVED)
            layer->note = layer->note[0] ? assay__arena_text(arena, "%s; %s", layer->note, note)
                                         : note;
    }
}

/* The parts of a run on a GPU: the last one is what the others leave, and the engine's what the
 * layers leave, so that they add up to the last bit. */
static void merge_parts(const struct assay__trial_input *input, const struct joined *lists,
                        size_t count, double *scratch, double layers_ns)
{
    struct assay__layers *out = &input->trial->layers;
    MERGE(out->traced_ns, traced_ns);
    MERGE(out->kernels_ns, kernels_ns);
    MERGE(out->copies_ns, copies_ns);
    MERGE(out->gaps_ns, gaps_ns);
    MERGE(out->kernel_count, kernel_count);
    MERGE(out->plain_ns, plain_ns);
    MERGE(out->lasting, lasting);
    out->host_ns = remainder_exact(out->traced_ns, out->kernels_ns + out->copies_ns + out->gaps_ns);
    out->engine_ns = remainder_exact(out->traced_ns, layers_ns);
}

static int merge(const struct assay__trial_input *input, const struct joined *lists, size_t count,
                 double *scratch, double p50_ns)
{
    struct assay__layers *out = &input->trial->layers;
    double sum = 0;
    size_t timed = 0;
    int code = merge_items(input, lists, count, scratch);
    if (code) return code;
    out->method = lists[0].layers->method;
    for (size_t i = 0; i < out->count; i++) {
        if (!isfinite(out->items[i].time_ns)) continue;
        sum += out->items[i].time_ns;
        timed++;
    }
    MERGE(out->engine_ns, engine_ns);
    if (by_kernels(out)) merge_parts(input, lists, count, scratch, sum);
    MERGE(out->scale_factor, scale_factor);
    if (isfinite(out->scale_factor)) note_scaled(out, count, input->profile->arena);
    MERGE(out->slowdown, slowdown);
    MERGE(out->spread, spread);
    MERGE(out->contention, contention);
    for (size_t m = 0; m < count; m++) {
        out->sessions += lists[m].layers->sessions;
        out->discarded += lists[m].layers->discarded;
    }
    if (isfinite(out->engine_ns)) sum += out->engine_ns;
    if ((timed > 0 || isfinite(out->engine_ns)) && isfinite(p50_ns))
        out->unattributed_ns = remainder_exact(p50_ns, sum);
    double whole_ns = sum > p50_ns ? sum : p50_ns; /* as assay__layers_whole */
    for (size_t i = 0; i < out->count; i++)
        out->items[i].share = out->items[i].time_ns / whole_ns;
    return 0;
}

int assay__trial_layers(const struct assay__trial_input *input, double p50_ns)
{
    struct joined *lists = calloc(input->outcome_count + 1, sizeof *lists);
    double *scratch = calloc(input->outcome_count + 1, sizeof *scratch);
    size_t count = 0;
    if (input->costs) input->trial->peak = input->costs->peak;
    int code = lists && scratch ? gather(input, p50_ns, lists, &count) : ASSAY_ENOMEM;
    if (code == 0 && count > 0) code = merge(input, lists, count, scratch, p50_ns);
    if (code == 0 && count > 0) code = assay__trial_edges(input);
    const char *said = remark(input, p50_ns, count);
    if (assay__arena_failed(input->profile->arena)) code = ASSAY_ENOMEM;
    if (code == 0 && !*said && !count && input->generate > 0)
        said = "layers of a generation are not timed: profile a single step, such as "
               "gpt2:phase=decode,past=32";
    if (code == 0) input->trial->layers.reason = said;
    for (size_t i = 0; i < count; i++)
        free(lists[i].where);
    free(scratch);
    free(lists);
    return code;
}

void assay__launch_layers(const struct assay__outcome *outcome, struct assay_metrics *metrics)
{
    const struct assay__layers *layers = &outcome->layers;
    double sum = 0;
    size_t timed = 0;
    for (size_t i = 0; i < layers->count; i++) {
        if (!isfinite(layers->items[i].time_ns)) continue;
        sum += layers->items[i].time_ns;
        timed++;
    }
    if (!isfinite(layers->engine_ns) || !isfinite(outcome->summary.p50)) return;
    double rest = outcome->summary.p50 - sum - layers->engine_ns;
    assay__metrics_put_known(metrics, "layers.sum", ASSAY_DERIVED, timed ? sum / 1e9 : (double)NAN,
                             layers->method, "sum over the layers of this launch",
                             "no layer was timed");
    assay_metrics_measured(metrics, "layers.engine", layers->engine_ns / 1e9, layers->method, "");
    assay_metrics_derived(metrics, "layers.unattributed", rest / 1e9, layers->method,
                          "latency.p50 - layers.sum - layers.engine");
}
