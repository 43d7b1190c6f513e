/* figure_scale.c - see figure_scale.h. Ticks are 1-2-5 numbers: the step is the smallest of 1, 2, 5
 * × 10^k that yields at most the requested count; the unit's prefix is chosen before the step, so
 * that labels are round in the unit shown (250 µs, not 0.25 ms on a scale in s). */
#include "report/figure/figure_scale.h"

#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double mantissas[] = {1, 2, 5};

static void widen(double *low, double *high, bool log)
{
    if (log && !(*low > 0)) *low = *high > 0 ? *high / 10 : 1;
    if (!isfinite(*low)) *low = log ? 1 : 0;
    if (!isfinite(*high)) *high = log ? *low * 10 : *low + 1;
    if (*high > *low) return;
    if (log) {
        *low /= 2, *high = *low * 4;
    } else {
        double room = *low == 0 ? 1 : fabs(*low) * 0.05;
        *high = *low + room, *low -= room;
    }
}

static double step_of(double range, size_t count)
{
    double size = pow(10, floor(log10(range / (double)count)));
    for (size_t i = 0; i < sizeof mantissas / sizeof mantissas[0]; i++)
        if (range / (size * mantissas[i]) <= (double)count * (1 + 1e-9)) return size * mantissas[i];
    return size * 10;
}

static void make_linear(struct assay__scale *s, size_t count)
{
    double low = s->low * s->factor, high = s->high * s->factor;
    double step = step_of(high - low, count);
    if (strcmp(s->base_unit, "count") == 0 && step < 1) step = 1;
    double first = floor(low / step + 1e-9), last = ceil(high / step - 1e-9);
    if (!(last > first)) last = first + 1;
    s->low = first * step / s->factor, s->high = last * step / s->factor;
    for (double k = first; k <= last && s->tick_count < ASSAY__TICKS; k++)
        s->ticks[s->tick_count++] = k * step / s->factor;
}

/* Decades; with fewer than three of them also 2 and 5. The ends do not move: a margin of a decade
 * would be too much. */
static void make_log(struct assay__scale *s)
{
    double decades = log10(s->high / s->low);
    int first = (int)floor(log10(s->low)), last = (int)ceil(log10(s->high)), every = 1;
    while (decades / every > 9)
        every++;
    for (int k = first; k <= last; k++)
        for (size_t m = 0; m < (decades < 2.5 ? 3 : 1) && s->tick_count < ASSAY__TICKS; m++) {
            double tick = mantissas[m] * pow(10, k);
            if ((k - first) % every || tick < s->low * (1 - 1e-9) || tick > s->high * (1 + 1e-9))
                continue;
            s->ticks[s->tick_count++] = tick;
        }
}

void assay__scale_make(struct assay__scale *scale, double low, double high, bool log,
                       const char *unit, size_t count)
{
    memset(scale, 0, sizeof *scale);
    scale->log = log;
    scale->base_unit = unit ? unit : "";
    if (log && !(high > 0)) high = NAN;
    widen(&low, &high, log);
    scale->low = low, scale->high = high, scale->factor = 1;
    if (log) {
        make_log(scale);
        return;
    }
    scale->factor = assay__text_axis_unit(scale->unit, sizeof scale->unit,
                                          fmax(fabs(low), fabs(high)), scale->base_unit);
    make_linear(scale, count ? count : 1);
}

void assay__scale_ticks(struct assay__scale *scale, const double *at, size_t count)
{
    scale->tick_count = 0;
    for (size_t i = 0; i < count && scale->tick_count < ASSAY__TICKS; i++)
        if (at[i] >= scale->low && at[i] <= scale->high) scale->ticks[scale->tick_count++] = at[i];
}

double assay__scale_at(const struct assay__scale *scale, double value)
{
    if (!isfinite(value) || (scale->log && value <= 0)) return NAN;
    if (scale->log) return log(value / scale->low) / log(scale->high / scale->low);
    return (value - scale->low) / (scale->high - scale->low);
}

/* "1.0" is "1"; a decimal comma from the caller's locale becomes a point. */
static void plain(char *out, size_t size, double value)
{
    char digits[40];
    if (fabs(value) < 1e-12) value = 0;
    if (fabs(value) < 1e15 && value == floor(value) && fabs(value) >= 1000) {
        assay__text_scaled(out, size, value, "count");
        return;
    }
    snprintf(digits, sizeof digits, "%.6g", value);
    for (char *c = digits; *c; c++)
        if (*c == ',') *c = '.';
    snprintf(out, size, "%s", digits);
}

void assay__scale_label(const struct assay__scale *scale, double tick, char *out, size_t size)
{
    char number[48], unit[32];
    double factor = scale->factor;
    snprintf(unit, sizeof unit, "%s", "");
    if (scale->log) factor = assay__text_axis_unit(unit, sizeof unit, tick, scale->base_unit);
    plain(number, sizeof number, tick * factor);
    snprintf(out, size, "%s%s%s", number, *unit ? " " : "", unit);
}

static void take(double value, double *low, double *high)
{
    if (!isfinite(value)) return;
    if (!(*low <= value)) *low = value;
    if (!(*high >= value)) *high = value;
}

bool assay__figure_range(const struct assay__figure *figure, bool of_x, double *low, double *high)
{
    bool log = of_x ? figure->x_log : figure->y_log;
    *low = *high = NAN;
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct assay__figure_series *series = &figure->series[s];
        bool blocks = figure->kind == ASSAY__FIGURE_HISTOGRAM ||
                      figure->kind == ASSAY__FIGURE_BLOCKS || figure->kind == ASSAY__FIGURE_SPREAD;
        size_t edges = of_x && blocks && series->count ? 1 : 0;
        const double *values = of_x ? series->x : series->y;
        for (size_t i = 0; values && i < series->count + edges; i++) {
            if (log && values[i] <= 0) continue;
            if (!of_x || i >= series->count || !series->y || isfinite(series->y[i]))
                take(values[i], low, high);
        }
        for (size_t i = 0; !of_x && i < series->count; i++) {
            if (series->low && (!log || series->low[i] > 0)) take(series->low[i], low, high);
            if (series->high && (!log || series->high[i] > 0)) take(series->high[i], low, high);
        }
    }
    for (size_t i = 0; i < figure->mark_count && isfinite(*low); i++)
        if (figure->marks[i].vertical == of_x && (!log || figure->marks[i].at > 0))
            take(figure->marks[i].at, low, high);
    if (!of_x && figure->y_zero && !log) take(0, low, high);
    return isfinite(*low) && isfinite(*high);
}

double assay__figure_median(struct assay__buf *out, const struct assay__figure_series *series)
{
    double *sorted = malloc((series->count + 1) * sizeof *sorted), median = NAN;
    if (!sorted) out->failed = true;
    if (sorted && series->count) {
        memcpy(sorted, series->x, series->count * sizeof *sorted);
        assay__stats_sort(sorted, series->count);
        median = assay__stats_median(sorted, series->count);
    }
    free(sorted);
    return median;
}
