/* durations.c - a histogram with logarithmic classes. Durations below 64 ns have a class of their
 * own each (1 ns); above, an octave has 64 classes: with e the position of the highest bit, the
 * class is 64 (e - 6) + the seven highest bits. */
#include "monitor/durations.h"

#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PART_BITS 6

static size_t class_of(uint64_t duration_ns)
{
    if (duration_ns < ASSAY__DURATION_PARTS) return (size_t)duration_ns;
    int shift = 63 - __builtin_clzll(duration_ns) - PART_BITS;
    size_t index = (size_t)shift * ASSAY__DURATION_PARTS + (size_t)(duration_ns >> shift);
    return index < ASSAY__DURATION_CLASSES ? index : ASSAY__DURATION_CLASSES - 1;
}

/* The middle of a class. */
static double middle_ns(size_t index)
{
    if (index < 2 * ASSAY__DURATION_PARTS) return (double)index;
    size_t shift = index / ASSAY__DURATION_PARTS - 1;
    double low = (double)((uint64_t)(index - shift * ASSAY__DURATION_PARTS) << shift);
    return low + (double)((1ull << shift) - 1) / 2;
}

void assay__durations_clear(struct assay__durations *durations)
{
    if (durations->count) memset(durations->classes, 0, sizeof durations->classes);
    durations->count = durations->least_ns = durations->greatest_ns = 0;
    durations->sum_ns = 0;
}

void assay__durations_add(struct assay__durations *durations, uint64_t duration_ns)
{
    durations->classes[class_of(duration_ns)]++;
    if (!durations->count || duration_ns < durations->least_ns) durations->least_ns = duration_ns;
    if (duration_ns > durations->greatest_ns) durations->greatest_ns = duration_ns;
    durations->count++;
    durations->sum_ns += (double)duration_ns;
}

double assay__durations_percentile(const struct assay__durations *durations, double q)
{
    if (!durations->count) return NAN;
    uint64_t rank = (uint64_t)ceil(q * (double)durations->count), seen = 0;
    if (rank < 1) rank = 1;
    for (size_t i = 0; i < ASSAY__DURATION_CLASSES; i++) {
        seen += durations->classes[i];
        if (seen < rank) continue;
        double value = middle_ns(i);
        return fmin(fmax(value, (double)durations->least_ns), (double)durations->greatest_ns);
    }
    return (double)durations->greatest_ns;
}

void assay__durations_metrics(const struct assay__durations *durations, const char *remark,
                              struct assay_metrics *metrics)
{
    static const struct {
        const char *name;
        double q;
    } rows[] = {{"latency.p50", 0.5},
                {"latency.p90", 0.9},
                {"latency.p95", 0.95},
                {"latency.p99", 0.99},
                {"latency.p999", 0.999}};
    char note[192];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t needs = rows[i].q > 0.5 ? assay__stats_percentile_needs(rows[i].q) : 1;
        if (durations->count < needs) {
            snprintf(note, sizeof note, "%llu marks, and it needs %zu",
                     (unsigned long long)durations->count, needs);
            assay_metrics_unavailable(metrics, rows[i].name, note);
            continue;
        }
        snprintf(note, sizeof note, "within 0.8 %%: counted in classes%s%s", *remark ? "; " : "",
                 remark);
        assay_metrics_measured(metrics, rows[i].name,
                               assay__durations_percentile(durations, rows[i].q) * 1e-9, "marks",
                               note);
    }
    if (!durations->count) return;
    assay_metrics_measured(metrics, "latency.mean",
                           durations->sum_ns / (double)durations->count * 1e-9, "marks", remark);
    assay_metrics_measured(metrics, "latency.min", (double)durations->least_ns * 1e-9, "marks",
                           remark);
    assay_metrics_measured(metrics, "latency.max", (double)durations->greatest_ns * 1e-9, "marks",
                           remark);
    assay_metrics_measured(metrics, "latency.samples", (double)durations->count, "marks", remark);
}
