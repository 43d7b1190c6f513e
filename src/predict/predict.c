/* predict.c - the time of a list of work on a target, by the formula of predict.h. A pure function
 * of its arguments. */
#include "predict/predict.h"

#include <math.h>
#include <string.h>

static const struct assay__precision precisions[] = {
    {"float32", 32, 32, false}, {"float16", 16, 16, false}, {"w8", 8, 16, false},
    {"w8a8", 8, 8, true},       {"w6", 6, 16, false},       {"w4", 4, 16, false},
};

const struct assay__precision *assay__precision_find(const char *name)
{
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++)
        if (strcmp(precisions[i].name, name) == 0) return &precisions[i];
    return NULL;
}

/* --- one operator ----------------------------------------------------------------------------- */

/* Common to all operators of a prediction. */
struct setting {
    const struct assay__predict_target *target;
    const double *p; /* parameters */
    double peak;
    double weight_scale, activation_scale; /* from the model's own bytes to the precision's */
    double weights_bandwidth;
};

/* Weights are read once per inference, from the nearest level that can hold them all. A level that
 * costs nothing is the engine's own memory: weights do not stay there. */
static double weights_bandwidth(const struct assay__predict_target *t, double bytes)
{
    for (size_t i = 0; i < t->level_count; i++)
        if (isfinite(t->weights_bandwidth[i]) && bytes <= t->levels[i].holds_bytes)
            return t->weights_bandwidth[i];
    return t->level_count ? t->weights_bandwidth[t->level_count - 1] : (double)NAN;
}

static bool read_setting(const struct assay__work *work, const struct assay__predict_target *target,
                         const struct assay__precision *precision, const struct assay__fit *fit,
                         struct setting *s)
{
    *s = (struct setting){.target = target, .p = fit->value};
    s->peak = precision->integer                 ? target->int8_flops
              : precision->activation_bits <= 16 ? target->float16_flops
                                                 : target->float32_flops;
    s->weight_scale = precision->weight_bits / work->weight_bits;
    s->activation_scale = precision->activation_bits / work->activation_bits;
    s->weights_bandwidth = weights_bandwidth(target, work->weight_bytes * s->weight_scale);
    return target->reason[0] == 0 && s->peak > 0 && s->weights_bandwidth > 0;
}

/* 1 for what does not saturate. */
static double saturation(double n, double half)
{
    return n > 0 ? n / (n + half) : 1;
}

static double efficiency(const struct setting *s, const struct assay__work_item *item)
{
    const double *p = s->p;
    bool passes = s->target->unit == ASSAY__UNIT_ANE;
    switch (item->class) {
    case ASSAY__WORK_CONV:
        return p[ASSAY__FIT_CONV] *
               saturation(passes ? item->channels : item->depth, p[ASSAY__FIT_CONV_HALF]);
    case ASSAY__WORK_DEPTHWISE: return p[ASSAY__FIT_DEPTHWISE];
    case ASSAY__WORK_GEMM:
        return p[ASSAY__FIT_GEMM] * saturation(item->depth, p[ASSAY__FIT_GEMM_HALF]);
    case ASSAY__WORK_ATTENTION: return p[ASSAY__FIT_ATTENTION];
    case ASSAY__WORK_RECURRENT: return p[ASSAY__FIT_RECURRENT];
    case ASSAY__WORK_FUNCTION: return p[ASSAY__FIT_FUNCTION];
    case ASSAY__WORK_NORMALISATION: return p[ASSAY__FIT_NORMALISATION];
    case ASSAY__WORK_ELEMENTWISE:
    default: return p[ASSAY__FIT_ELEMENTWISE];
    }
}

/* The nearest level that can hold the larger of what the operator reads and writes (an engine's own
 * memory), or both (caches). */
static double activation_s(const struct setting *s, const struct assay__work_item *item)
{
    const struct assay__predict_target *t = s->target;
    double read = item->read_bytes * s->activation_scale;
    double written = item->written_bytes * s->activation_scale;
    double share = item->class == ASSAY__WORK_MOVEMENT ? s->p[ASSAY__FIT_MOVEMENT]
                                                       : s->p[ASSAY__FIT_ACTIVATIONS];
    for (size_t i = 0; i < t->level_count; i++) {
        bool own = isinf(t->levels[i].bandwidth);
        double needs = own ? fmax(read, written) : read + written;
        if (needs > t->levels[i].holds_bytes) continue;
        return own ? 0 : (read + written) / (t->levels[i].bandwidth * share);
    }
    return 0;
}

static struct assay__predicted_item predict_item(const struct setting *s,
                                                 const struct assay__work_item *item)
{
    struct assay__predicted_item out = {.bound = ASSAY__BOUND_OVERHEAD};
    if (item->fused) return out;
    double n = (double)item->repeats;
    if (item->class == ASSAY__WORK_VIEW) { /* no bytes, but the engine still visits it */
        out.time_s = n * s->p[ASSAY__FIT_DISPATCH_S] / 2;
        return out;
    }
    if (item->class != ASSAY__WORK_MOVEMENT)
        out.compute_s = n * (item->class == ASSAY__WORK_FUNCTION ? item->depth : item->flops) /
                        (s->peak * efficiency(s, item));
    out.memory_s = n * (item->weight_bytes * s->weight_scale /
                            (s->weights_bandwidth * s->p[ASSAY__FIT_WEIGHTS]) +
                        activation_s(s, item));
    double work = fmax(out.compute_s, out.memory_s), dispatch = n * s->p[ASSAY__FIT_DISPATCH_S];
    out.time_s = work + dispatch;
    if (work > dispatch)
        out.bound = out.compute_s >= out.memory_s ? ASSAY__BOUND_COMPUTE : ASSAY__BOUND_MEMORY;
    return out;
}

/* --- the whole -------------------------------------------------------------------------------- */

double assay__predict_time_s(const struct assay__work *work,
                             const struct assay__predict_target *target,
                             const struct assay__precision *precision, const struct assay__fit *fit)
{
    struct setting s;
    if (!read_setting(work, target, precision, fit, &s)) return (double)NAN;
    double time = s.p[ASSAY__FIT_FLOOR_S] +
                  work->io_bytes * s.activation_scale / s.p[ASSAY__FIT_IO];
    for (size_t i = 0; i < work->count; i++)
        time += predict_item(&s, &work->items[i]).time_s;
    return time;
}

void assay__predict(const struct assay__work *work, const struct assay__predict_target *target,
                    const struct assay__precision *precision, const struct assay__fit *fit,
                    struct assay__predicted_item *items, struct assay__prediction *out)
{
    struct setting s;
    *out = (struct assay__prediction){.latency_s = (double)NAN, .reason = ""};
    if (!read_setting(work, target, precision, fit, &s)) {
        out->reason = target->reason[0] ? target->reason
                                        : "the chip's rate at this precision is unknown";
        return;
    }
    out->peak_flops = s.peak;
    out->weight_bytes = work->weight_bytes * s.weight_scale;
    out->activation_bytes = work->activation_bytes * s.activation_scale;
    out->floor_s = s.p[ASSAY__FIT_FLOOR_S];
    out->io_s = work->io_bytes * s.activation_scale / s.p[ASSAY__FIT_IO];
    out->latency_s = out->bound_s[ASSAY__BOUND_OVERHEAD] = out->floor_s + out->io_s;
    for (size_t i = 0; i < work->count; i++) {
        const struct assay__work_item *item = &work->items[i];
        struct assay__predicted_item p = predict_item(&s, item);
        double n = (double)item->repeats, busy = fmax(p.compute_s, p.memory_s);
        if (items) items[i] = p;
        out->flops += n * item->flops;
        if (item->class != ASSAY__WORK_VIEW && !item->fused)
            out->bytes += n * (item->weight_bytes * s.weight_scale +
                               (item->read_bytes + item->written_bytes) * s.activation_scale);
        out->class_s[item->class] += p.time_s;
        out->dispatch_s += p.time_s - busy;
        out->bound_s[ASSAY__BOUND_OVERHEAD] += p.time_s - busy;
        out->bound_s[p.bound] += busy;
        out->latency_s += p.time_s;
    }
    if (work->unknown && out->flops == 0) { /* the fixed cost alone is no estimate */
        out->reason = "no operator that computes has a known cost";
        out->latency_s = (double)NAN;
    }
}

double assay__predict_watts(const struct assay__predict_target *target,
                            const struct assay__prediction *prediction, const char **reason)
{
    const double *c = prediction->class_s;
    double conv = c[ASSAY__WORK_CONV] + c[ASSAY__WORK_DEPTHWISE];
    double gemm = c[ASSAY__WORK_GEMM] + c[ASSAY__WORK_ATTENTION] + c[ASSAY__WORK_RECURRENT];
    double busy = conv + gemm, rest = prediction->latency_s - busy;
    *reason = target->power_source;
    if (!(busy > 0)) {
        *reason = "neither convolutions nor products: no published basis";
        return (double)NAN;
    }
    double joules = conv * target->conv_watts + gemm * target->gemm_watts;
    if (isfinite(target->floor_watts))
        return (joules + rest * target->floor_watts) / prediction->latency_s;
    if (rest > busy) { /* mostly phases without a published power */
        *reason =
            "most of the time is spent starting and copying, and no source gives the power of that";
        return (double)NAN;
    }
    return joules / busy;
}

double assay__fixed_share(const struct assay__prediction *prediction)
{
    return (prediction->floor_s + prediction->io_s) / prediction->latency_s;
}
