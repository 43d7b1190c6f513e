/* predict_fit.c - efficiencies from measurements. The loss is the sum over samples of sqrt(r² +
 * 0.1²), r = log(predicted / measured): close to the absolute relative error, smooth near 0, robust
 * to single outliers; plus a penalty that pulls every parameter towards its prior, 0.002 n (log(p /
 * prior))², so that a class without samples keeps a sensible value. The minimum is sought by
 * coordinate descent on the logarithms with a step per parameter that grows on success and halves
 * on failure: no derivative, no randomness, the same result everywhere.
 *
 * Validation leaves out whole groups (a chip, a model, a family, or a chip and a model both) and
 * predicts them from a fit to the rest. */
#include "predict/predict.h"

#include "base/stats.h"

#include <math.h>
#include <string.h>

#define ROUNDS 60
#define STEP_FIRST 0.5
#define STEP_LAST 3e-3
#define SMOOTH 0.1
#define PULL 0.002

/* The prior of a parameter, and its built-in value. */
struct prior {
    double value, low, high; /* low == high: not fitted */
    double built_in;         /* fitted to measurements; 0: the prior */
};

#define FIXED(v)   \
    {              \
        v, v, v, 0 \
    }

/* CPU: an engine on CPU cores (ONNX Runtime), half a microsecond per node, products near the peak,
 * functions by series; inputs are already where they are needed. Built-in values: the fit of
 * doc/results/predict.md, 46 models on 2 cores of a Zen 4 virtual machine, ONNX Runtime 1.31.1.
 *
 * GPU: Metal through a framework. Products: 2.9 of 4.0 TFLOP/s on M4 (arXiv 2502.05317), 8 of 10.6
 * on M1 Max (tlkh/tf-metal-experiments), 7.3 on M1 Max in a Linear layer
 * (TristanBilot/mlx-benchmark). Bandwidth: 0.73 to 0.74 while Llama-3 8B F16 generates (M1 Max, M2
 * Ultra). No published row determines the others. Memory is unified.
 *
 * ANE: the Neural Engine through Core ML, one fused program, so an additional operator costs
 * nothing by itself (32 layers as fast as one: ane-guide, chapter 9), a floor near 0.2 ms, and
 * inputs and outputs copied at about 10 GB/s (a relu alone, chapter 9). Elementwise work, functions
 * and normalisations cost their bytes. Built-in values: the fit of assay__validate_published. */
static const struct {
    const char *name;
    struct prior units[ASSAY__UNITS]; /* CPU, GPU, ANE */
} parameters[ASSAY__FIT_PARAMETERS] = {
    [ASSAY__FIT_FLOOR_S] =
        {"floor_s", {{4e-6, 1e-7, 1e-4, 2.6867e-06}, FIXED(1e-4), {2e-4, 1e-5, 2e-3, 1.5789e-4}}},
    [ASSAY__FIT_DISPATCH_S] = {"dispatch_s",
                               {{5e-7, 1e-8, 1e-4, 3.2183e-07}, FIXED(3e-6), FIXED(0)}},
    [ASSAY__FIT_CONV] = {"conv", {{0.7, 0.02, 1, 0.927}, FIXED(0.5), {0.5, 0.02, 1, 0.61688}}},
    [ASSAY__FIT_DEPTHWISE] = {"depthwise",
                              {{0.3, 0.005, 1, 0.22123}, FIXED(0.1), {0.1, 0.005, 1, 0.19172}}},
    [ASSAY__FIT_GEMM] = {"gemm", {{0.8, 0.02, 1, 0.84361}, FIXED(0.7), {0.5, 0.02, 1, 0.47342}}},
    [ASSAY__FIT_ATTENTION] = {"attention", {{0.8, 0.02, 1, 0.99061}, FIXED(0.5), FIXED(0.5)}},
    [ASSAY__FIT_RECURRENT] = {"recurrent", {{0.4, 0.01, 1, 0.39036}, FIXED(0.05), FIXED(0.1)}},
    [ASSAY__FIT_ELEMENTWISE] = {"elementwise", {{0.3, 0.005, 3, 0.28781}, FIXED(0.3), FIXED(1)}},
    [ASSAY__FIT_FUNCTION] = {"function", {{0.01, 5e-4, 3, 0.012238}, FIXED(0.1), FIXED(1)}},
    [ASSAY__FIT_NORMALISATION] = {"normalisation",
                                  {{0.1, 0.002, 3, 0.14988}, FIXED(0.1), FIXED(1)}},
    [ASSAY__FIT_WEIGHTS] = {"weights",
                            {{0.8, 0.05, 1, 0.79842}, FIXED(0.73), {0.9, 0.1, 1, 0.93946}}},
    [ASSAY__FIT_ACTIVATIONS] = {"activations", {{0.3, 0.01, 1, 0.48441}, FIXED(0.73), FIXED(1)}},
    [ASSAY__FIT_MOVEMENT] = {"movement", {{0.15, 0.005, 1, 0.13186}, FIXED(0.5), FIXED(1)}},
    [ASSAY__FIT_CONV_HALF] = {"conv_half",
                              {{16, 0.1, 1000, 15.357}, FIXED(64), {32, 1, 1000, 13.290}}},
    [ASSAY__FIT_GEMM_HALF] = {"gemm_half", {{1, 0.01, 30, 1.5344}, FIXED(1), FIXED(0)}},
    [ASSAY__FIT_IO] = {"io_bytes_per_s",
                       {FIXED(INFINITY), FIXED(INFINITY), {1e10, 1e8, 1e12, 6.4924e9}}},
};

const char *assay__fit_parameter_name(enum assay__fit_parameter parameter)
{
    return parameter < ASSAY__FIT_PARAMETERS ? parameters[parameter].name : "";
}

void assay__fit_prior(enum assay__unit unit, struct assay__fit *fit)
{
    *fit = (struct assay__fit){.origin = "not fitted: priors", .validation = "never validated"};
    fit->out = fit->fixed = fit->floor = fit->in = (struct assay__fit_errors){(double)NAN,
                                                                              (double)NAN, 0};
    for (size_t i = 0; i < ASSAY__WORK_CLASSES; i++)
        fit->seen[i] = NAN;
    for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        fit->value[i] = parameters[i].units[unit].value;
}

/* The errors of the Neural Engine's fit are those of fits that had seen neither the chip nor the
 * model (struct assay__validation: blind, fixed, floor). A test fits the published rows and the
 * measurements of that machine again and compares. */
void assay__fit_builtin(enum assay__unit unit, struct assay__fit *fit)
{
    static const char *const words[ASSAY__UNITS][2] = {
        [ASSAY__UNIT_CPU] =
            {"built in, fitted on another machine (2 cores of Zen 4, ONNX Runtime 1.31.1)",
             "not validated on this machine"},
        [ASSAY__UNIT_GPU] =
            {"built in, from published rates of products and of generation on Metal",
             "never validated: there are too few published GPU measurements, and they were used to "
             "set the efficiencies"},
        [ASSAY__UNIT_ANE] = {"built in, fitted on 26 published measurements of 9 chips",
                             "published measurements of chips and models not used in the fit"},
    };
    assay__fit_prior(unit, fit);
    for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        if (parameters[i].units[unit].built_in > 0)
            fit->value[i] = parameters[i].units[unit].built_in;
    fit->origin = words[unit][0];
    fit->validation = words[unit][1];
    if (unit != ASSAY__UNIT_ANE) return;
    fit->out = (struct assay__fit_errors){0.232, 0.684, 35};
    fit->fixed = (struct assay__fit_errors){0.300, 1.1348, 23};
    fit->floor = (struct assay__fit_errors){0.328, 1.569, 17};
    fit->in = (struct assay__fit_errors){0.071, 0.284, 26};
    static const double seen[ASSAY__WORK_CLASSES] = {
        [ASSAY__WORK_CONV] = 0.904,        [ASSAY__WORK_DEPTHWISE] = 0.168,
        [ASSAY__WORK_GEMM] = 0.975,        [ASSAY__WORK_ATTENTION] = 0.041,
        [ASSAY__WORK_ELEMENTWISE] = 0.001, [ASSAY__WORK_NORMALISATION] = 0.001,
        [ASSAY__WORK_MOVEMENT] = 0.004};
    memcpy(fit->seen, seen, sizeof seen);
}

/* --- fitting ---------------------------------------------------------------------------------- */

struct fitting {
    const struct assay__fit_sample *samples;
    size_t count;
    enum assay__unit unit;
    const struct assay__fit_sample *without;
    enum assay__leave leave;
};

static bool is_fitted(const struct fitting *f, size_t i)
{
    return parameters[i].units[f->unit].low < parameters[i].units[f->unit].high;
}

static bool alike(const struct assay__fit_sample *a, const struct assay__fit_sample *b,
                  enum assay__leave by)
{
    return ((by & ASSAY__LEAVE_GROUP) && strcmp(a->group, b->group) == 0) ||
           ((by & ASSAY__LEAVE_OTHER) && strcmp(a->other, b->other) == 0);
}

static double loss(const struct fitting *f, const struct assay__fit *fit)
{
    double sum = 0, pull = 0;
    size_t seen = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct assay__fit_sample *s = &f->samples[i];
        if (f->without && alike(s, f->without, f->leave)) continue;
        double predicted = assay__predict_time_s(s->work, s->target, s->precision, fit);
        if (!(predicted > 0)) continue;
        double r = log(predicted / s->measured_s);
        sum += sqrt(r * r + SMOOTH * SMOOTH);
        seen++;
    }
    for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++) {
        if (!is_fitted(f, i)) continue;
        double away = log(fit->value[i] / parameters[i].units[f->unit].value);
        pull += away * away;
    }
    return sum + PULL * (double)seen * pull;
}

/* Moves one parameter up, else down. True if that improved the fit. */
static bool try_both(const struct fitting *f, struct assay__fit *fit, size_t i, double step,
                     double *best)
{
    const struct prior *p = &parameters[i].units[f->unit];
    double was = fit->value[i];
    for (int sign = 1; sign >= -1; sign -= 2) {
        double wanted = was * exp(sign * step);
        fit->value[i] = wanted < p->low ? p->low : wanted > p->high ? p->high : wanted;
        double now = loss(f, fit);
        if (now < *best - 1e-9) {
            *best = now;
            return true;
        }
    }
    fit->value[i] = was;
    return false;
}

void assay__fit_samples(const struct assay__fit_sample *samples, size_t count,
                        enum assay__unit unit, const struct assay__fit_sample *without,
                        enum assay__leave leave, struct assay__fit *fit)
{
    const struct fitting f = {samples, count, unit, without, leave};
    assay__fit_prior(unit, fit);
    double step[ASSAY__FIT_PARAMETERS], best = loss(&f, fit), widest = STEP_FIRST;
    for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        step[i] = is_fitted(&f, i) ? STEP_FIRST : 0;
    for (int round = 0; round < ROUNDS && widest > STEP_LAST; round++) {
        widest = 0;
        for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++) {
            if (step[i] > STEP_LAST / 2)
                step[i] *= try_both(&f, fit, i, step[i], &best) ? 1.3 : 0.5;
            if (step[i] > widest) widest = step[i];
        }
    }
    fit->origin = "fitted";
}

/* --- validation ------------------------------------------------------------------------------- */

void assay__fit_predict(const struct assay__fit_sample *samples, size_t count,
                        const struct assay__fit *fit, double *predicted_s)
{
    for (size_t i = 0; i < count; i++)
        predicted_s[i] = assay__predict_time_s(samples[i].work, samples[i].target,
                                               samples[i].precision, fit);
}

/* Samples that are left out together are predicted by one fit. */
void assay__fit_leave_out(const struct assay__fit_sample *samples, size_t count,
                          enum assay__unit unit, enum assay__leave leave, double *predicted_s)
{
    for (size_t i = 0; i < count; i++)
        predicted_s[i] = NAN;
    for (size_t i = 0; i < count; i++) {
        struct assay__fit fit;
        if (!isnan(predicted_s[i])) continue;
        assay__fit_samples(samples, count, unit, &samples[i], leave, &fit);
        for (size_t k = i; k < count; k++)
            if (leave == ASSAY__LEAVE_EITHER ? k == i : alike(&samples[k], &samples[i], leave))
                assay__fit_predict(&samples[k], 1, &fit, &predicted_s[k]);
    }
}

struct assay__fit_errors assay__fit_errors_of(const struct assay__fit_sample *samples,
                                              const double *predicted_s, size_t count,
                                              double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(predicted_s[i]))
            scratch[n++] = fabs(predicted_s[i] / samples[i].measured_s - 1);
    if (!n) return (struct assay__fit_errors){(double)NAN, (double)NAN, 0};
    assay__stats_sort(scratch, n);
    size_t rank = (9 * (n + 1) + 9) / 10; /* rounded up */
    return (struct assay__fit_errors){assay__stats_median(scratch, n),
                                      scratch[(rank < n ? rank : n) - 1], n};
}
