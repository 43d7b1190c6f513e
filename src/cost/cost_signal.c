/* cost_signal.c - costs of signal processing. A Fourier transform of N complex numbers counts as 5
 * N log₂ N operations, of N real ones as half of that (the convention of FFT benchmarks, exact for
 * radix 2): no library computes the direct N² sum, so the fast algorithm is the textbook one. */
#include "cost/cost_table.h"

#include <limits.h>
#include <math.h>

#define EACH ASSAY__COST_EACH
#define WORK ASSAY__COST_WORK

static double fft(double n, bool real)
{
    return isnan(n) ? NAN : n > 1 ? (real ? 2.5 : 5) * n * log2(n) : 0;
}

/* Which axis: the attribute, else input 2, else the second last; an axis that no shape has if it is
 * unknown. */
static int axis_input(const struct assay__cost_call *call, bool attribute)
{
    size_t count = 0;
    if (attribute || !assay__cost_has(call, 2)) return assay__cost_axis(call, -2);
    const int64_t *values = assay__shapes_values(call->shapes, call->node->inputs[2], &count);
    bool known = values && count == 1 && values[0] > -1000 && values[0] < 1000;
    return known ? (int)values[0] : INT_MAX;
}

/* DFT input […, n, …, 1 or 2], dft_length, axis: one transform of N = dft_length (else n) per other
 * index. axis is an input from opset 20 (-2 by default), an attribute before (1). */
static void count_dft(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    bool attribute = assay__node_attr(call->node, "axis") != NULL;
    double n = assay__cost_dim(in, axis_input(call, attribute)), parts = assay__cost_dim(in, -1);
    double transforms = n > 0 ? assay__cost_elements(in) / (n * parts) : NAN;
    if (assay__cost_has(call, 1)) n = assay__cost_value(call, 1);
    work->other = transforms * fft(n, parts == 1);
    if (isnan(n) && (assay__cost_has(call, 1) || assay__cost_has(call, 2)))
        work->why = ASSAY__COST_BY_DATA;
}

/* STFT signal [B, L, 1 or 2], frame_step, window, frame_length: frames × (the transform, and the
 * window's product). */
static void count_stft(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0), *out = assay__cost_out(call, 0);
    bool window = assay__cost_has(call, 2);
    double n = window ? assay__cost_in_dim(call, 2, 0) : assay__cost_value(call, 3);
    double parts = in && in->rank == 3 ? assay__cost_dim(in, -1) : in && in->rank == 2 ? 1 : NAN;
    double frames = assay__cost_dim(out, 0) * assay__cost_dim(out, 1);
    work->other = frames * (fft(n, parts == 1) + (window ? n * parts : 0));
    if (isnan(n) && !window) work->why = ASSAY__COST_BY_DATA;
}

/* com.microsoft Rfft, Irfft over the last signal_ndim axes of real numbers. Irfft's input is
 * complex with a last axis of 2: its output is real. */
static void count_rfft(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    bool inverse = call->node->op[0] == 'I';
    const struct assay__shape_entry *real = inverse ? assay__cost_out(call, 0)
                                                    : assay__cost_in(call, 0);
    double axes = assay__cost_attr(call, "signal_ndim");
    double n = axes >= 1 && axes <= 3 ? assay__cost_inner(real, -(int)axes) : NAN;
    work->other = n > 0 ? assay__cost_elements(real) / n * fft(n, true) : NAN;
}

const struct assay__cost_row assay__cost_rows_signal[] = {
    /* a0 - a1 cos(2πi/N) + a2 cos(4πi/N): two cosines of a product */
    EACH("BlackmanWindow", "", 8),
    /* 4 × and 2 + per complex number, which is two elements */
    EACH("ComplexMul ComplexMulConj", "ms", 3),
    WORK("DFT", "", count_dft),
    EACH("HammingWindow HannWindow", "", 4), /* a0 - a1 cos(c i): ×, cos, ×, - */
    WORK("Irfft Rfft", "ms", count_rfft),
    EACH("MelWeightMatrix", "", 4), /* a triangle: -, /, minimum, maximum */
    WORK("STFT", "", count_stft),
    {.ops = NULL},
};
