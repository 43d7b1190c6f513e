/* rules_precision.c - rules about number formats. Compute-bound layers gain the ratio of the
 * device's ceilings for the two formats, memory-bound ones the reduction of their bytes; layers
 * bound by neither gain nothing. */
#include "advise/rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A layer below this share of its roof is limited by something else, which another format does not
 * change. */
#define ROOF_NEAR 0.3
/* A format whose ceiling is not higher by this factor is not worth its rounding. */
#define FORMAT_RATIO 1.2
#define WEIGHTED "MatMul|Gemm|FusedMatMul|FusedGemm|Conv|FusedConv|Gather|LSTM|GRU"
#define MATRIX "MatMul|Gemm|FusedMatMul|FusedGemm"
#define PRODUCTS MATRIX "|Conv|FusedConv"

/* Ceiling of a format on the trial's device: "compute.float16.all-cores", or ".matmul" through an
 * engine; NaN unknown. */
static double ceiling_of(const struct assay__advice *a, const char *type)
{
    static const char *const suffixes[] = {"all-cores", "matmul"};
    const char *device = assay__device_bare(a->trial->target.device);
    char name[64];
    for (size_t s = 0; s < 2; s++) {
        snprintf(name, sizeof name, "compute.%s.%s", type, suffixes[s]);
        for (size_t i = 0; i < a->profile->ceiling_count; i++) {
            const struct assay__ceiling_info *c = &a->profile->ceilings[i];
            if (strcmp(assay__device_bare(c->device), device) == 0 && strcmp(c->name, name) == 0 &&
                c->value > 0)
                return c->value;
        }
    }
    return NAN;
}

/* Whether layer i is limited by that roof: bound by it, and close enough to it. */
static bool is_limited(const struct assay__advice *a, size_t i, enum assay__bound bound)
{
    const struct assay__roofline_layer *placed = &a->roofline.layers[i];
    return placed->bound == bound && placed->utilization >= ROOF_NEAR;
}

static double limited_share(const struct assay__advice *a, enum assay__bound bound)
{
    double sum = 0;
    for (size_t i = 0; i < a->roofline.layer_count; i++) {
        if (!is_limited(a, i, bound)) continue;
        assay__rule_about(a, i);
        sum += assay__advice_time(&a->trial->layers.items[i]);
    }
    return sum / a->p50_ns;
}

static enum assay__rule_outcome half(struct assay__advice *a, const char *type)
{
    double full = ceiling_of(a, "float32"), narrow = ceiling_of(a, type), ratio = narrow / full;
    double compute = limited_share(a, ASSAY__BOUND_COMPUTE),
           memory = limited_share(a, ASSAY__BOUND_MEMORY);
    if (strcmp(a->roofline.type, "float32") != 0) return ASSAY__RULE_NOTHING;
    /* on x86 the engine's CPU provider computes 16-bit floats as float32, with conversions */
    if (assay__trial_on_cpu(a->trial) &&
        !assay__op_among(a->profile->environment.architecture, "aarch64|arm64"))
        return ASSAY__RULE_NOTHING;
    if (!isfinite(narrow))
        return assay__rule_missing(
            a, assay__arena_text(a->profile->arena, "ceilings: compute.%s of %s was not measured",
                                 type, a->trial->target.device));
    if (!(ratio >= FORMAT_RATIO)) return ASSAY__RULE_NOTHING;
    double saved = compute * (1 - 1 / ratio) + memory / 2; /* half the bytes */
    assay__rule_evidence(a, "the model computes in float32; the ceiling of %s is %s times as high",
                         type, assay__digits(ratio, 3).text);
    assay__rule_evidence(a,
                         "compute-bound layers take %s %%, memory-bound ones %s %% of the latency",
                         assay__percent(compute).text, assay__percent(memory).text);
    return assay__rule_found(a, saved < 1 ? 1 / (1 - saved) : NAN);
}

static enum assay__rule_outcome float16(struct assay__advice *a)
{
    return half(a, "float16");
}

static void to_float16(const struct assay__advice *a, struct assay__change *change)
{
    (void)a;
    change->kind = ASSAY__CHANGE_FLOAT16;
}

static enum assay__rule_outcome bfloat16(struct assay__advice *a)
{
    assay__rule_advice(a,
                       assay__trial_on_cpu(a->trial)
                           ? "let float32 products use bfloat16: session option "
                             "mlas.enable_gemm_fastmath_arm64_bfloat16 = 1"
                           : "export the model in bfloat16: the range of float32, half the bytes");
    return half(a, "bfloat16");
}

/* --- int8 ------------------------------------------------------------------------------------- */

static enum assay__rule_outcome weights_int8(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    double saved = 0, time = 0, bytes = 0;
    size_t count = 0;
    if (strcmp(a->roofline.type, "float32") != 0) return ASSAY__RULE_NOTHING;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        if (!is_limited(a, i, ASSAY__BOUND_MEMORY) || !assay__op_among(l->op, WEIGHTED) ||
            !(l->weight_bytes > 0) || !(l->bytes > 0))
            continue;
        double part = 0.75 * fmin(l->weight_bytes / l->bytes, 1); /* 4 bytes become 1 */
        assay__rule_about(a, i);
        saved += assay__advice_time(l) * part;
        time += assay__advice_time(l);
        bytes += l->weight_bytes;
        count++;
    }
    if (!count) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "%zu memory-bound layers that read %s of float32 weights take %s %% of the latency",
        count, assay__scaled(bytes, "B").text, assay__percent(time / a->p50_ns).text);
    double share = saved / a->p50_ns;
    return assay__rule_found(a, share < 1 ? 1 / (1 - share) : NAN);
}

static enum assay__rule_outcome products_int8(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    double ratio = ceiling_of(a, "int8") / ceiling_of(a, "float32"), time = 0;
    size_t count = 0;
    /* In tests with three convolutional models, integer convolutions on the CPU were five times
     * slower (doc/results/verified.md). */
    const char *ops = assay__trial_on_cpu(a->trial) ? MATRIX : PRODUCTS;
    if (strcmp(a->roofline.type, "float32") != 0) return ASSAY__RULE_NOTHING;
    if (!isfinite(ratio))
        return assay__rule_missing(a, "ceilings: compute.int8 of the device was not measured");
    for (size_t i = 0; i < layers->count; i++) {
        if (!is_limited(a, i, ASSAY__BOUND_COMPUTE) || !assay__op_among(layers->items[i].op, ops))
            continue;
        assay__rule_about(a, i);
        time += assay__advice_time(&layers->items[i]);
        count++;
    }
    double share = fmin(time / a->p50_ns, 1);
    if (!count || ratio < FORMAT_RATIO) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%zu compute-bound products take %s %% of the latency", count,
                         assay__percent(share).text);
    assay__rule_evidence(a, "the int8 ceiling is %s times the float32 one",
                         assay__digits(ratio, 3).text);
    return assay__rule_found(a, assay__amdahl(share, ratio));
}

static void to_dynamic_int8(const struct assay__advice *a, struct assay__change *change)
{
    (void)a;
    change->kind = ASSAY__CHANGE_DYNAMIC_INT8;
}

static enum assay__rule_outcome float64(struct assay__advice *a)
{
    int64_t bytes = 0, all = 0, tensors = 0;
    for (size_t i = 0; i < a->analysis->parameter_type_count; i++) {
        const struct assay__parameter_total *t = &a->analysis->parameters_by_type[i];
        if (t->elements <= t->tensors) continue; /* scalars weigh nothing */
        all += t->bytes;
        if (t->dtype != ASSAY__FLOAT64) continue;
        bytes += t->bytes;
        tensors += t->tensors;
    }
    if (!bytes) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%lld tensors hold %s of float64 out of %s in total",
                         (long long)tensors, assay__scaled((double)bytes, "B").text,
                         assay__scaled((double)all, "B").text);
    return assay__rule_found(a, NAN);
}

#define CEILED (ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS | ASSAY__NEED_COSTS | ASSAY__NEED_CEILINGS)

const struct assay__rule assay__rules_precision[] = {
    {"float16", "precision", "medium", "medium", CEILED, float16, to_float16, NULL,
     "float16 would be faster on this device",
     "a float32 model on a device whose float16 ceiling is 1.2 times as high or more; layers at 30 "
     "% of their roof or more count; the CPU only on Arm",
     "rewrite the model to float16 and compare the outputs"},
    {"bfloat16", "precision", "medium", "medium", CEILED, bfloat16, NULL, NULL,
     "bfloat16 would be faster on this device", "the same with bfloat16", NULL},
    {"weights-int8", "precision", "medium", "medium", CEILED, weights_int8, assay__try_weights_int8,
     NULL, "Memory-bound layers read float32 weights",
     "memory-bound products and gathers with float32 weights, at 30 % of their roof or more; int8 "
     "removes three quarters of those bytes",
     "rewrite the weights to int8 and compare the outputs"},
    {"products-int8", "precision", "medium", "medium", CEILED, products_int8, to_dynamic_int8, NULL,
     "Compute-bound products could use integer arithmetic",
     "compute-bound products at 30 % of their roof or more, and an int8 ceiling 1.2 times the "
     "float32 one or more; convolutions count except on the CPU",
     "rewrite the model to dynamic int8 (activations quantised at run time) and compare the "
     "outputs"},
    {"float64", "precision", "medium", "medium", ASSAY__NEED_MODEL | ASSAY__NEED_SHAPES, float64,
     NULL, NULL, "Weights are float64", "a weight tensor of float64",
     "export the model in float32: half the bytes, twice as many numbers per vector register"},
    {0},
};
