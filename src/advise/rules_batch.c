/* rules_batch.c - rules about the size of the work: batch, symbolic dimensions, sizes between
 * powers of two. */
#include "advise/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A larger batch is worth a try when that much of the time does not grow with it. */
#define BATCH_FIXED_SHARE 0.2
#define FIXED_ALL 0.95 /* from there on the share is about all: timing layers adds as much */
#define BATCH_MOST 64  /* beyond it a batch is not small */
#define ROOF_NEAR 0.3  /* below that of its roof it is not reading weights that takes the time */
#define STEP_LOSS 0.9  /* samples per second that a size must keep of its smaller neighbour's */
#define NAMES_MOST 4   /* in a sentence */

/* What an inference costs however many samples it holds: the engine's part, the calls of layers,
 * and the weights that memory-bound layers read (NaN: no memory-bound layer says how much of its
 * bytes are weights). */
static double fixed_ns(const struct assay__advice *a, double *engine_ns, double *weights_ns)
{
    const struct assay__layers *layers = &a->trial->layers;
    *engine_ns = (layers->engine_ns > 0 ? layers->engine_ns : 0) +
                 a->roofline.time_ns[ASSAY__BOUND_OVERHEAD];
    *weights_ns = NAN;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        if (a->roofline.layers[i].bound != ASSAY__BOUND_MEMORY ||
            !(a->roofline.layers[i].utilization >= ROOF_NEAR) || !(layer->bytes > 0) ||
            !(layer->weight_bytes > 0))
            continue;
        *weights_ns = (isnan(*weights_ns) ? 0 : *weights_ns) +
                      assay__advice_time(layer) * fmin(layer->weight_bytes / layer->bytes, 1);
    }
    return *engine_ns + (isnan(*weights_ns) ? 0 : *weights_ns);
}

/* "about all of an inference (15.2 µs)", "62 % of …": layers are timed in a separate run, whose
 * times may add up to more than the latency. */
static void say_fixed(struct assay__advice *a, double share, double engine_ns, double weights_ns)
{
    char part[64] = "about all";
    if (share < FIXED_ALL) snprintf(part, sizeof part, "%s %%", assay__percent(share).text);
    assay__rule_evidence(a,
                         "%s of an inference (%s) does not grow with the batch: calls of layers "
                         "and the engine %s%s%s",
                         part, assay__scaled(a->p50_ns / 1e9, "s").text,
                         assay__scaled(engine_ns / 1e9, "s").text,
                         isnan(weights_ns) ? "" : ", reading weights ",
                         isnan(weights_ns) ? "" : assay__scaled(weights_ns / 1e9, "s").text);
}

static enum assay__rule_outcome batch_small(struct assay__advice *a)
{
    double engine_ns, weights_ns, share = fixed_ns(a, &engine_ns, &weights_ns) / a->p50_ns;
    if (a->trial->batch < 1)
        return assay__rule_missing(a, "workload: the model has no known batch axis");
    if (a->trial->batch > BATCH_MOST || share < BATCH_FIXED_SHARE) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "batch %lld", (long long)a->trial->batch);
    say_fixed(a, share, engine_ns, weights_ns);
    bool all = share >= FIXED_ALL; /* how much of it does grow is within the error of timing */
    assay__rule_advice(a,
                       all ? "run %lld samples per inference, where latency allows it; the gain is "
                             "unknown until it is tried"
                           : "run %lld samples per inference, where latency allows it; the "
                             "potential is in samples per second, one inference takes longer",
                       (long long)a->trial->batch * ASSAY__BATCH_TIMES);
    return assay__rule_found(a, all ? (double)NAN : assay__amdahl(share, ASSAY__BATCH_TIMES));
}

/* --- symbolic dimensions ---------------------------------------------------------------------- */

static const struct assay__tensor_info *trial_input(const struct assay__advice *a, const char *name)
{
    for (size_t i = 0; i < a->trial->input_count; i++)
        if (strcmp(a->trial->inputs[i].name, name) == 0) return &a->trial->inputs[i];
    return NULL;
}

/* "batch=1" of the n-th named symbolic dimension of the model's inputs, each symbol once; NULL past
 * the last one. */
static const char *fixed_dim(const struct assay__advice *a, size_t n, size_t *symbolic)
{
    const struct assay__model_info *m = a->trial->model;
    const char *seen[64];
    size_t count = 0;
    for (size_t i = 0; i < m->input_count; i++) {
        const struct assay__tensor_info *input = &m->inputs[i],
                                        *fixed = trial_input(a, input->name);
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
    assay__rule_evidence(a, "symbolic dimensions of the model's inputs: %zu", symbolic);
    if (text.length) assay__rule_evidence(a, "this run had%s", text.data);
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

/* The trial on the same device with the largest power of two below this batch, at most a factor of
 * two away. */
static const struct assay__trial *power_below(const struct assay_profile *p,
                                              const struct assay__trial *trial)
{
    const struct assay__trial *best = NULL;
    for (size_t i = 0; i < p->trial_count; i++) {
        const struct assay__trial *t = &p->trials[i];
        if (!is_usable(t) || !is_power(t->batch) || t->batch > trial->batch ||
            2 * t->batch < trial->batch || strcmp(t->target.device, trial->target.device) != 0)
            continue;
        if (!best || t->batch > best->batch) best = t;
    }
    return best;
}

static enum assay__rule_outcome size_steps(struct assay__advice *a)
{
    const struct assay_profile *p = a->profile;
    double worst = 1;
    bool compared = false;
    for (size_t i = 0; i < p->trial_count; i++) {
        const struct assay__trial *odd = &p->trials[i], *even = NULL;
        if (!is_usable(odd) || is_power(odd->batch)) continue;
        even = power_below(p, odd);
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
    if (worst >= 1) return ASSAY__RULE_NOTHING;
    return assay__rule_found(a, 1 / worst);
}

/* The power of two below the trial's own batch, when that is none. */
static void power_of_two(const struct assay__advice *a, struct assay__change *change)
{
    int64_t power = 1;
    if (a->trial->batch < 1 || is_power(a->trial->batch)) return;
    while (2 * power <= a->trial->batch)
        power *= 2;
    *change = (struct assay__change){ASSAY__CHANGE_BATCH, power, NULL, 0};
}

const struct assay__rule assay__rules_batch[] = {
    {"batch-small", "batch", "medium", "The batch is small for what an inference costs anyway",
     "batch of at most 64, and 20 % or more of the latency that does not grow with it: calls, "
     "engine, weights of memory-bound layers near their roof; potential at 8 times the batch",
     ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS | ASSAY__NEED_COSTS | ASSAY__NEED_CEILINGS |
         ASSAY__POTENTIAL_SAMPLES,
     "small", NULL, batch_small, assay__try_batch, NULL},
    {"dynamic-shapes", "batch", "note", "The model's shapes are symbolic",
     "an input with a symbolic dimension", 0, "medium", NULL, dynamic_shapes, fix_dims, NULL},
    {"size-steps", "batch", "low", "Sizes between powers of two cost more here",
     "a batch with less than 90 % of the samples per second of the power of two below it, as "
     "measured",
     ASSAY__NEED_TRIALS | ASSAY__POTENTIAL_SAMPLES, "small",
     "use batches that are powers of two on this machine, and pad to them", size_steps,
     power_of_two, NULL},
    {0},
};
