/* predict_builtin.c - the efficiencies that are built in, with the error that they were found to
 * have out of sample. A test fits the published rows and the measurements of that machine again and
 * compares. */
#include "predict/predict.h"

#include <math.h>

/* The fit of assay__validate_published: the error is the worse of leaving out a chip and leaving
 * out a model. */
static const double ane[][2] = {
    {ASSAY__FIT_FLOOR_S, 1.5789e-4}, {ASSAY__FIT_CONV, 0.61688},    {ASSAY__FIT_DEPTHWISE, 0.19172},
    {ASSAY__FIT_GEMM, 0.47342},      {ASSAY__FIT_WEIGHTS, 0.93946}, {ASSAY__FIT_CONV_HALF, 13.290},
    {ASSAY__FIT_IO, 6.4924e9},
};
/* The fit of doc/results/predict.md: 46 models on 2 cores of a Zen 4 virtual machine, ONNX Runtime
 * 1.31.1. */
static const double cpu[][2] = {
    {ASSAY__FIT_FLOOR_S, 2.6867e-06}, {ASSAY__FIT_DISPATCH_S, 3.2183e-07},
    {ASSAY__FIT_CONV, 0.927},         {ASSAY__FIT_DEPTHWISE, 0.22123},
    {ASSAY__FIT_GEMM, 0.84361},       {ASSAY__FIT_ATTENTION, 0.99061},
    {ASSAY__FIT_RECURRENT, 0.39036},  {ASSAY__FIT_ELEMENTWISE, 0.28781},
    {ASSAY__FIT_FUNCTION, 0.012238},  {ASSAY__FIT_NORMALISATION, 0.14988},
    {ASSAY__FIT_WEIGHTS, 0.79842},    {ASSAY__FIT_ACTIVATIONS, 0.48441},
    {ASSAY__FIT_MOVEMENT, 0.13186},   {ASSAY__FIT_CONV_HALF, 15.357},
    {ASSAY__FIT_GEMM_HALF, 1.5344},
};

#define ANE_MEDIAN 0.143
#define ANE_P90 0.456
#define ANE_COUNT 26

static void set(struct assay__fit *fit, const double (*rows)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        fit->value[(size_t)rows[i][0]] = rows[i][1];
}

static void ane_fit(struct assay__fit *fit)
{
    set(fit, ane, sizeof ane / sizeof ane[0]);
    fit->out = (struct assay__fit_errors){ANE_MEDIAN, ANE_P90, ANE_COUNT};
    fit->in = (struct assay__fit_errors){0.071, 0.267, ANE_COUNT};
    fit->origin = "built in, fitted on 26 published measurements of 9 chips";
    fit->validation = "leaving out one chip, or one model, of the published measurements";
}

static void cpu_fit(struct assay__fit *fit)
{
    set(fit, cpu, sizeof cpu / sizeof cpu[0]);
    fit->origin = "built in, fitted on another machine (2 cores of Zen 4, ONNX Runtime 1.31.1)";
    fit->validation = "not validated on this machine: assay predict --calibrate does it";
}

static void gpu_fit(struct assay__fit *fit)
{
    fit->origin = "built in, from published rates of products and of generation on Metal";
    fit->validation = "never validated: the published GPU measurements are too few, and they set "
                      "the efficiencies";
}

void assay__fit_builtin(enum assay__unit unit, struct assay__fit *fit)
{
    assay__fit_prior(unit, fit);
    if (unit == ASSAY__UNIT_ANE) ane_fit(fit);
    if (unit == ASSAY__UNIT_CPU) cpu_fit(fit);
    if (unit == ASSAY__UNIT_GPU) gpu_fit(fit);
}
