/* rules_batch.c - rules about the size of the work: batch, symbolic dimensions, sizes between
 * powers of two. */
#include "advise/rules.h"

#include <math.h>
#include <string.h>

/* A larger batch is worth trying if at least this much of the time is independent of it. */
#define BATCH_FIXED_SHARE 0.2
/* from here on the share is practically all of it: timing layers adds as much */
#define FIXED_ALL 0.95
#define BATCH_MOST 64 /* above this a batch is not small */
/* below this share of its roof, reading weights is not what takes the time */
#define ROOF_NEAR 0.3
/* share of the samples per second of its smaller neighbour that a size must keep */
#define STEP_LOSS 0.9
#define NAMES_MOST 4 /* in a sentence */

/* Cost of an inference regardless of the number of samples: the engine's part, layer calls, and the
 * weights that memory-bound layers read. Layers are timed in a separate run, whose times may add up
 * to more than the latency. */
static enum assay__rule_outcome batch_small(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    double engine_ns = (layers->engine_ns > 0 ? layers->engine_ns : 0) +
                       a->roofline.time_ns[ASSAY__BOUND_OVERHEAD];
    double weights_ns = 0;
    bool weighs =
        false; /* for a memory-bound layer it is known how many of its bytes are weights */
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        const struct assay__roofline_layer *placed = &a->roofline.layers[i];
        if (placed->bound != ASSAY__BOUND_MEMORY || !(placed->utilization >= ROOF_NEAR) ||
            !(layer->bytes > 0) || !(layer->weight_bytes > 0))
            continue;
        weighs = true;
        assay__rule_about(a, i);
        weights_ns += assay__advice_time(layer) * fmin(layer->weight_bytes / layer->bytes, 1);
    }
    double share = (engine_ns + weights_ns) / a->p50_ns;
    if (a->trial->batch < 1)
        return assay__rule_missing(a, "workload: the model has no known batch axis");
    if (a->trial->batch > BATCH_MOST || share < BATCH_FIXED_SHARE) return ASSAY__RULE_NOTHING;
    bool all = share >= FIXED_ALL; /* the part that grows is within the timing error */
    assay__rule_evidence(a, "batch %lld", (long long)a->trial->batch);
    assay__rule_evidence(a,
                         "%s%s of an inference (%s) does not grow with the batch: calling layers "
                         "and the engine %s%s%s",
                         all ? "nearly all" : assay__percent(share).text, all ? "" : " %",
                         assay__scaled(a->p50_ns / 1e9, "s").text,
                         assay__scaled(engine_ns / 1e9, "s").text,
                         weighs ? ", reading weights " : "",
                         weighs ? assay__scaled(weights_ns / 1e9, "s").text : "");
    assay__rule_advice(a, "run %lld samples per inference, where latency allows it; %s",
                       (long long)a->trial->batch * ASSAY__BATCH_TIMES,
                       all ? "the gain is unknown until it is tried"
                           : "the potential is in samples per second; one inference takes longer");
    return assay__rule_found(a, all ? (double)NAN : assay__amdahl(share, ASSAY__BATCH_TIMES));
}

/* --- symbolic dimensions ---------------------------------------------------------------------- */

/* "batch=1" for the n-th named symbolic dimension of the model's inputs, each symbol once; NULL
 * past the last one. */
static const char *fixed_dim(const struct assay__advice *a, size_t n, size_t *symbolic)
{
    const struct assay__model_info *m = a->trial->model;
    const char *seen[64];
    size_t count = 0;
    for (size_t i = 0; i < m->input_count; i++) {
        const struct assay__tensor_info *input = &m->inputs[i], *fixed = NULL;
        for (size_t k = 0; k < a->trial->input_count && !fixed; k++)
            if (strcmp(a->trial->inputs[k].name, input->name) == 0) fixed = &a->trial->inputs[k];
        for (int k = 0; k < input->rank; k++) {
            const char *symbol = input->symbols ? input->symbols[k] : NULL;
            if (input->dims[k] >= 0) continue;
            if (symbolic) ++*symbolic;
            if (!symbol || !*symbol || !fixed || k >= fixed->rank || count == 64) continue;
            size_t known = 0;
            while (known < count && strcmp(seen[known], symbol) != 0)
                known++;
            if (known < count) continue;
            seen[count] = symbol;
            if (count++ == n)
                return assay__arena_printf(a->profile->arena, "%s=%lld", symbol,
                                           (long long)fixed->dims[k]);
        }
    }
    return NULL;
}

static enum assay__rule_outcome dynamic_shapes(struct assay__advice *a)
{
    struct assay__buf text = {0};
    size_t symbolic = 0;
    const char *one;
    fixed_dim(a, SIZE_MAX, &symbolic);
    /* the sizes of a generation grow from token to token */
    if (!symbolic || a->trial->generation.tokens > 0) return ASSAY__RULE_NOTHING;
    for (size_t i = 0; i < NAMES_MOST && (one = fixed_dim(a, i, NULL)); i++)
        assay__buf_printf(&text, " %s", one);
    assay__rule_evidence(a, "symbolic input dimensions: %zu", symbolic);
    if (text.length) assay__rule_evidence(a, "sizes in this run:%s", text.data);
    assay__rule_advice(a,
                       "where sizes never change, fix them in the model%s%s; compilers for "
                       "accelerators need fixed shapes, and memory can be planned once",
                       text.length ? ":" : "", assay__buf_text(&text));
    if (text.failed) assay__arena_fail(a->arena);
    assay__buf_free(&text);
    return assay__rule_found(a, NAN);
}

static void fix_dims(const struct assay__advice *a, struct assay__change *change)
{
    size_t count = 0;
    while (count < 64 && fixed_dim(a, count, NULL))
        count++;
    const char **names = assay__arena_array(a->profile->arena, count + 1, sizeof *names);
    if (!count || !names) return;
    for (size_t i = 0; i < count; i++)
        names[i] = fixed_dim(a, i, NULL);
    *change = (struct assay__change){ASSAY__CHANGE_FIX_DIMS, 0, names, count};
}

/* --- powers of two, where this machine shows a difference ------------------------------------- */

static double samples_of(const struct assay__trial *trial)
{
    double samples = assay__trial_value(trial, "throughput.samples");
    return samples > 0 ? samples : NAN;
}

static bool is_power(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static bool is_usable(const struct assay__trial *trial)
{
    return trial->state == ASSAY__TRIAL_OK && trial->batch > 0 && isfinite(samples_of(trial));
}

/* Compares each batch that is not a power of two with the largest power of two below it on the same
 * device, at most a factor of two away. */
static enum assay__rule_outcome size_steps(struct assay__advice *a)
{
    const struct assay_profile *p = a->profile;
    double worst = 1;
    bool compared = false;
    for (size_t i = 0; i < p->trial_count; i++) {
        const struct assay__trial *odd = &p->trials[i], *even = NULL;
        if (!is_usable(odd) || is_power(odd->batch)) continue;
        for (size_t k = 0; k < p->trial_count; k++) {
            const struct assay__trial *t = &p->trials[k];
            if (is_usable(t) && is_power(t->batch) && t->batch <= odd->batch &&
                2 * t->batch >= odd->batch && (!even || t->batch > even->batch) &&
                strcmp(t->target.device, odd->target.device) == 0)
                even = t;
        }
        if (!even) continue;
        compared = true;
        double kept = samples_of(odd) / samples_of(even);
        if (kept >= STEP_LOSS) continue;
        if (kept < worst) worst = kept;
        assay__rule_evidence(a, "batch %lld: %s samples/s, batch %lld: %s samples/s",
                             (long long)odd->batch, assay__digits(samples_of(odd), 4).text,
                             (long long)even->batch, assay__digits(samples_of(even), 4).text);
    }
    if (!compared)
        return assay__rule_missing(
            a, "an experiment: sweep batch sizes around a power of two, such as 7,8,9");
    return worst < 1 ? assay__rule_found(a, 1 / worst) : ASSAY__RULE_NOTHING;
}

/* The power of two below the trial's own batch, if that is not a power of two. */
static void power_of_two(const struct assay__advice *a, struct assay__change *change)
{
    int64_t power = 1;
    if (a->trial->batch < 1 || is_power(a->trial->batch)) return;
    while (2 * power <= a->trial->batch)
        power *= 2;
    *change = (struct assay__change){ASSAY__CHANGE_BATCH, power, NULL, 0};
}

const struct assay__rule assay__rules_batch[] = {
    {"batch-small", "batch", "medium", "small",
     ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS | ASSAY__NEED_COSTS | ASSAY__NEED_CEILINGS |
         ASSAY__POTENTIAL_SAMPLES,
     batch_small, assay__try_batch, NULL, "The batch is small for the fixed cost of an inference",
     "batch of at most 64, with 20 % or more of the latency independent of it: calls, engine, "
     "weights of memory-bound layers near their roof; potential at 8 times the batch",
     NULL},
    {"dynamic-shapes", "batch", "note", "medium", 0, dynamic_shapes, fix_dims, NULL,
     "The model's shapes are symbolic", "an input with a symbolic dimension", NULL},
    {"size-steps", "batch", "low", "small", ASSAY__NEED_TRIALS | ASSAY__POTENTIAL_SAMPLES,
     size_steps, power_of_two, NULL, "Batch sizes between powers of two are slower here",
     "a batch with less than 90 % of the samples per second of the power of two below it, as "
     "measured",
     "use batches that are powers of two on this machine, and pad to them"},
    {0},
};
