/* predict_fit.c - efficiencies from measurements. The loss is the sum over samples of sqrt(r² +
 * 0.1²), r = log(predicted / measured): close to the absolute relative error, smooth near 0, little
 * moved by one strange sample; plus a pull of every parameter towards its prior, 0.002 n (log(p /
 * prior))², so that a class that no sample tells about keeps a sensible value. The minimum is
 * sought by coordinate descent on the logarithms with a step per parameter that grows on success
 * and halves on failure: no derivative, no randomness, the same result everywhere.
 *
 * Validation leaves out whole groups (a chip, a model, a family) and predicts them by a fit of the
 * rest. */
#include "predict/predict.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 60
#define STEP_FIRST 0.5
#define STEP_LAST 3e-3
#define SMOOTH 0.1
#define PULL 0.002

const char *assay__fit_parameter_name(enum assay__fit_parameter parameter)
{
    static const char *const names[ASSAY__FIT_PARAMETERS] = {
        "floor_s",   "dispatch_s",  "conv",      "depthwise",     "gemm",    "attention",
        "recurrent", "elementwise", "function",  "normalisation", "weights", "activations",
        "movement",  "conv_half",   "gemm_half", "io_bytes_per_s"};
    return parameter < ASSAY__FIT_PARAMETERS ? names[parameter] : "";
}

/* --- priors ----------------------------------------------------------------------------------- */

struct prior {
    double value, low, high; /* low == high: not fitted */
};

#define FIXED(v) \
    {            \
        v, v, v  \
    }

static const struct prior priors[ASSAY__UNITS][ASSAY__FIT_PARAMETERS] =
    {
        /* An engine on CPU cores (ONNX Runtime): half a microsecond per node, products near the
         * peak, functions by series. */
        [ASSAY__UNIT_CPU] =
            {
                [ASSAY__FIT_FLOOR_S] = {4e-6, 1e-7, 1e-4},
                [ASSAY__FIT_DISPATCH_S] = {5e-7, 1e-8, 1e-4},
                [ASSAY__FIT_CONV] = {0.7, 0.02, 1},
                [ASSAY__FIT_DEPTHWISE] = {0.3, 0.005, 1},
                [ASSAY__FIT_GEMM] = {0.8, 0.02, 1},
                [ASSAY__FIT_ATTENTION] = {0.8, 0.02, 1},
                [ASSAY__FIT_RECURRENT] = {0.4, 0.01, 1},
                [ASSAY__FIT_ELEMENTWISE] = {0.3, 0.005, 3},
                [ASSAY__FIT_FUNCTION] = {0.01, 5e-4, 3},
                [ASSAY__FIT_NORMALISATION] = {0.1, 0.002, 3},
                [ASSAY__FIT_WEIGHTS] = {0.8, 0.05, 1},
                [ASSAY__FIT_ACTIVATIONS] = {0.3, 0.01, 1},
                [ASSAY__FIT_MOVEMENT] = {0.15, 0.005, 1},
                [ASSAY__FIT_CONV_HALF] = {16, 0.1, 1000},
                [ASSAY__FIT_GEMM_HALF] = {1, 0.01, 30},
                [ASSAY__FIT_IO] = FIXED(INFINITY), /* inputs are already where they are needed */
            },
        /* Metal through a framework. Products: 2.9 of 4.0 TFLOP/s on M4 (arXiv 2502.05317), 8
         * of 10.6 on M1 Max (tlkh/tf-metal-experiments), 7.3 on M1 Max in a Linear layer
         * (TristanBilot/mlx-benchmark). Bandwidth: 0.73 to 0.74 while Llama-3 8B F16 generates (M1
         * Max, M2 Ultra). The others are not told by any published row. */
        [ASSAY__UNIT_GPU] =
            {
                [ASSAY__FIT_FLOOR_S] = FIXED(1e-4),
                [ASSAY__FIT_DISPATCH_S] = FIXED(3e-6),
                [ASSAY__FIT_CONV] = FIXED(0.5),
                [ASSAY__FIT_DEPTHWISE] = FIXED(0.1),
                [ASSAY__FIT_GEMM] = FIXED(0.7),
                [ASSAY__FIT_ATTENTION] = FIXED(0.5),
                [ASSAY__FIT_RECURRENT] = FIXED(0.05),
                [ASSAY__FIT_ELEMENTWISE] = FIXED(0.3),
                [ASSAY__FIT_FUNCTION] = FIXED(0.1),
                [ASSAY__FIT_NORMALISATION] = FIXED(0.1),
                [ASSAY__FIT_WEIGHTS] = FIXED(0.73),
                [ASSAY__FIT_ACTIVATIONS] = FIXED(0.73),
                [ASSAY__FIT_MOVEMENT] = FIXED(0.5),
                [ASSAY__FIT_CONV_HALF] = FIXED(64),
                [ASSAY__FIT_GEMM_HALF] = FIXED(1),
                [ASSAY__FIT_IO] = FIXED(INFINITY), /* unified memory */
            },
        /* The Neural Engine through Core ML: one fused program, so an operator more costs nothing
         * by itself (32 layers as fast as one: ane-guide, chapter 9), a floor near 0.2 ms, and
         * inputs and outputs copied at about 10 GB/s (a relu alone, chapter 9). Elementwise work,
         * functions and normalisations cost their bytes. */
        [ASSAY__UNIT_ANE] =
            {
                [ASSAY__FIT_FLOOR_S] = {2e-4, 1e-5, 2e-3},
                [ASSAY__FIT_DISPATCH_S] = FIXED(0),
                [ASSAY__FIT_CONV] = {0.5, 0.02, 1},
                [ASSAY__FIT_DEPTHWISE] = {0.1, 0.005, 1},
                [ASSAY__FIT_GEMM] = {0.5, 0.02, 1},
                [ASSAY__FIT_ATTENTION] = FIXED(0.5),
                [ASSAY__FIT_RECURRENT] = FIXED(0.1),
                [ASSAY__FIT_ELEMENTWISE] = FIXED(1),
                [ASSAY__FIT_FUNCTION] = FIXED(1),
                [ASSAY__FIT_NORMALISATION] = FIXED(1),
                [ASSAY__FIT_WEIGHTS] = {0.9, 0.1, 1},
                [ASSAY__FIT_ACTIVATIONS] = FIXED(1),
                [ASSAY__FIT_MOVEMENT] = FIXED(1),
                [ASSAY__FIT_CONV_HALF] = {32, 1, 1000},
                [ASSAY__FIT_GEMM_HALF] = FIXED(0),
                [ASSAY__FIT_IO] = {1e10, 1e8, 1e12},
            },
};

void assay__fit_prior(enum assay__unit unit, struct assay__fit *fit)
{
    *fit = (struct assay__fit){.origin = "not fitted: priors", .validation = "never validated"};
    fit->out = fit->in = (struct assay__fit_errors){(double)NAN, (double)NAN, 0};
    for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        fit->value[i] = priors[unit][i].value;
}

/* --- fitting ---------------------------------------------------------------------------------- */

struct fitting {
    const struct assay__fit_sample *samples;
    size_t count;
    const struct prior *priors;
    const char *without;
    bool by_other;
};

static bool unseen(const struct fitting *f, const struct assay__fit_sample *sample)
{
    return f->without && strcmp(f->by_other ? sample->other : sample->group, f->without) == 0;
}

static double loss(const struct fitting *f, const struct assay__fit *fit)
{
    double sum = 0, pull = 0;
    size_t seen = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct assay__fit_sample *s = &f->samples[i];
        if (unseen(f, s)) continue;
        double predicted = assay__predict_time_s(s->work, s->target, s->precision, fit);
        if (!(predicted > 0)) continue;
        double r = log(predicted / s->measured_s);
        sum += sqrt(r * r + SMOOTH * SMOOTH);
        seen++;
    }
    for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++) {
        const struct prior *p = &f->priors[i];
        if (p->low >= p->high) continue;
        double away = log(fit->value[i] / p->value);
        pull += away * away;
    }
    return sum + PULL * (double)seen * pull;
}

/* One parameter up, else down. True when that made it better. */
static bool try_both(const struct fitting *f, struct assay__fit *fit, size_t i, double step,
                     double *best)
{
    const struct prior *p = &f->priors[i];
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

static void descend(const struct fitting *f, struct assay__fit *fit)
{
    double step[ASSAY__FIT_PARAMETERS], best = loss(f, fit), widest = STEP_FIRST;
    for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        step[i] = f->priors[i].low < f->priors[i].high ? STEP_FIRST : 0;
    for (int round = 0; round < ROUNDS && widest > STEP_LAST; round++) {
        widest = 0;
        for (size_t i = 0; i < ASSAY__FIT_PARAMETERS; i++) {
            if (step[i] == 0) continue;
            if (step[i] > STEP_LAST / 2) step[i] *= try_both(f, fit, i, step[i], &best) ? 1.3 : 0.5;
            if (step[i] > widest) widest = step[i];
        }
    }
}

void assay__fit_samples(const struct assay__fit_sample *samples, size_t count,
                        enum assay__unit unit, const char *without, bool by_other,
                        struct assay__fit *fit)
{
    struct fitting fitting = {samples, count, priors[unit], without, by_other};
    assay__fit_prior(unit, fit);
    descend(&fitting, fit);
    fit->origin = "fitted";
}

/* --- validation ------------------------------------------------------------------------------- */

static const char *group_of(const struct assay__fit_sample *sample, bool by_other)
{
    return by_other ? sample->other : sample->group;
}

int assay__fit_leave_out(const struct assay__fit_sample *samples, size_t count,
                         enum assay__unit unit, bool by_other, double *predicted_s)
{
    for (size_t i = 0; i < count; i++) {
        const char *group = group_of(&samples[i], by_other);
        bool done = false;
        for (size_t k = 0; k < i && !done; k++)
            done = strcmp(group_of(&samples[k], by_other), group) == 0;
        if (done) continue;
        struct assay__fit fit;
        assay__fit_samples(samples, count, unit, group, by_other, &fit);
        for (size_t k = i; k < count; k++)
            if (strcmp(group_of(&samples[k], by_other), group) == 0)
                predicted_s[k] = assay__predict_time_s(samples[k].work, samples[k].target,
                                                       samples[k].precision, &fit);
    }
    return 0;
}

struct assay__fit_errors assay__fit_errors_of(const struct assay__fit_sample *samples,
                                              const double *predicted_s, size_t count,
                                              double *scratch)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(predicted_s[i]))
            scratch[n++] = fabs(predicted_s[i] / samples[i].measured_s - 1);
    assay__stats_sort(scratch, n);
    return (struct assay__fit_errors){assay__stats_median(scratch, n),
                                      assay__stats_percentile(scratch, n, 0.9), n};
}
