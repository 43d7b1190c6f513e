/* bench.c - reads the key performance indicators of benchmarks from their trials. */
#include "judge/bench.h"

#include "cost/roofline.h"
#include "judge/trust.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define ADD_UP 0.25 /* layers that miss the latency by more say nothing about it */

/* Launches that succeeded are enough: the arms alternate, so those of an interrupted trial count
 * like any others. */
static bool is_usable(const struct assay__trial *trial, const struct assay__judged *judged)
{
    bool ran = trial->state == ASSAY__TRIAL_OK || trial->state == ASSAY__TRIAL_INTERRUPTED ||
               (trial->state == ASSAY__TRIAL_FAILED && assay__trial_went_on(trial, 1));
    return ran && isfinite(judged->latency.value);
}

/* --- kernels ---------------------------------------------------------------------------------- */

static void read_layers(const struct assay__trial *trial, struct assay__arena *arena,
                        struct assay__bench_row *row)
{
    const struct assay__layers *layers = &trial->layers;
    double sum_ns = 0, count = 0, whole_ns = assay__layers_whole(trial);
    for (size_t i = 0; i < layers->count; i++) {
        if (!assay__layer_is_timed(&layers->items[i])) continue;
        sum_ns += layers->items[i].time_ns;
        count++;
    }
    if (!count || !(whole_ns > 0)) {
        row->kernels_reason = layers->reason && *layers->reason ? layers->reason
                                                                : "its layers were not timed";
        return;
    }
    double adds_up = assay__layers_add_up(trial);
    if (fabs(adds_up - 1) > ADD_UP) {
        row->kernels_reason = assay__arena_text(
            arena, "its layers add up to %s × the latency: the machine was in another state",
            assay__digits(adds_up, 3).text);
        return;
    }
    row->kernels = count;
    row->efficiency = sum_ns / whole_ns;
    row->kernel_mean_s = sum_ns / count / 1e9;
    row->gap_mean_s = (whole_ns - sum_ns) / count / 1e9;
}

/* Layers that were timed by the GPU's records of their kernels. The time of these does not depend
 * on how fast the host is, which is the latency's in both differences. */
static void read_gpu_parts(const struct assay__trial *trial, struct assay__bench_row *row)
{
    const struct assay__layers *layers = &trial->layers;
    double whole_ns = row->judged.latency.value * 1e9;
    row->kernels = layers->kernel_count;
    row->efficiency = layers->kernels_ns / whole_ns;
    row->kernel_mean_s = layers->kernels_ns / layers->kernel_count / 1e9;
    row->gap_mean_s = (whole_ns - layers->kernels_ns) / layers->kernel_count / 1e9;
    row->busy = (layers->kernels_ns + layers->copies_ns) / layers->traced_ns;
}

static void read_timeline(const struct assay__trial *trial, struct assay__bench_row *row)
{
    if (trial->layers.traced_ns > 0 && trial->layers.kernel_count > 0) {
        read_gpu_parts(trial, row);
        return;
    }
    row->kernels = assay__trial_value(trial, "gpu.kernels");
    row->efficiency = assay__trial_value(trial, "gpu.launch_efficiency");
    row->kernel_mean_s = assay__trial_value(trial, "gpu.kernel_mean");
    row->gap_mean_s = assay__trial_value(trial, "gpu.gap_mean");
    row->busy = assay__trial_value(trial, "gpu.utilization");
    if (isnan(row->efficiency))
        row->kernels_reason = "the kernels of this device were not recorded";
}

/* --- bandwidth -------------------------------------------------------------------------------- */

static int read_bandwidth(const struct assay_profile *profile, const struct assay__trial *trial,
                          struct assay__arena *arena, struct assay__bench_row *row)
{
    const struct assay__judged *j = &row->judged;
    struct assay__roofline roofline;
    size_t level = 0;
    double bytes = j->bandwidth.value * j->latency.value;
    int code = assay__roofline(profile, trial, arena, &roofline);
    if (code) return code;
    while (level < roofline.level_count && !(roofline.levels[level].holds_bytes >= bytes))
        level++;
    if (level < roofline.level_count) {
        row->bandwidth_share = j->bandwidth.value / roofline.levels[level].value;
        row->level = roofline.levels[level].kind;
    } else {
        row->bandwidth_reason = *roofline.reason ? roofline.reason
                                                 : "no memory ceiling of this device is known";
    }
    return 0;
}

/* --- the baseline ----------------------------------------------------------------------------- */

static void read_ratio(const struct assay__trial *trial, struct assay__bench_row *row)
{
    const struct assay_metric *ratio = assay_metrics_get(trial->metrics, "bench.ratio"),
                              *low = assay_metrics_get(trial->metrics, "bench.ratio_low");
    if (!ratio) return;
    row->baseline_per_s = assay__trial_value(trial, "bench.baseline");
    row->ratio.ratio = assay__trial_value(trial, "bench.ratio");
    row->ratio.ci.low = assay__trial_value(trial, "bench.ratio_low");
    row->ratio.ci.high = assay__trial_value(trial, "bench.ratio_high");
    row->ratio.ci.known = isfinite(row->ratio.ci.low) && isfinite(row->ratio.ci.high);
    row->ratio.p_value = assay__trial_value(trial, "bench.p_value");
    row->ratio.smallest = assay__trial_value(trial, "bench.smallest_difference");
    if (!row->ratio.ci.known) {
        const struct assay_metric *missing = isfinite(row->ratio.ratio) && low ? low : ratio;
        row->ratio_reason = missing->note ? missing->note : "";
        return;
    }
    row->verdict = row->ratio.ci.low > 1    ? ASSAY__VERDICT_FASTER
                   : row->ratio.ci.high < 1 ? ASSAY__VERDICT_SLOWER
                                            : ASSAY__VERDICT_SAME;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int read_row(const struct assay_profile *profile, size_t index, struct assay__arena *arena,
                    struct assay__bench_row *row)
{
    static const struct assay__ratio unknown = ASSAY__RATIO_UNKNOWN;
    const struct assay__trial *trial = &profile->trials[index];
    *row = (struct assay__bench_row){.judged = assay__judged_read(profile, index, arena),
                                     .benchmark = assay__trial_axis(trial, ASSAY__AXIS_BENCHMARK),
                                     .device = trial->target.device,
                                     .kernels = NAN,
                                     .efficiency = NAN,
                                     .kernel_mean_s = NAN,
                                     .gap_mean_s = NAN,
                                     .busy = NAN,
                                     .kernels_reason = "",
                                     .bandwidth_share = NAN,
                                     .level = "",
                                     .bandwidth_reason = "",
                                     .baseline_per_s = NAN,
                                     .ratio = unknown,
                                     .ratio_reason = "",
                                     .measured_s = NAN};
    struct assay__judged *j = &row->judged;
    row->row = assay__benchmark_find(row->benchmark);
    row->rate = (struct assay__number){assay__trial_value(trial, "throughput.inferences"),
                                       assay_metrics_get(trial->metrics, "throughput.inferences")};
    if (!*j->label) j->label = row->device;
    j->usable = is_usable(trial, j);
    if (!j->usable && !*j->reason) j->reason = "it has no latency";
    read_ratio(trial, row);
    if (!j->usable) return 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        if (trial->launches[i].wall_ns > 0)
            row->measured_s = fmax(row->measured_s, 0) + trial->launches[i].wall_ns / 1e9;
    if (assay__trial_on_cpu(trial))
        read_layers(trial, arena, row);
    else
        read_timeline(trial, row);
    return read_bandwidth(profile, trial, arena, row);
}

static void add_scaling(const struct assay_profile *profile, struct assay__arena *arena,
                        const char *device, struct assay__bench *out)
{
    struct assay__bench_scaling found = {device, SIZE_MAX, SIZE_MAX, ASSAY__RATIO_UNKNOWN, ""};
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__bench_row *row = &out->rows[i];
        if (!row->judged.usable || !row->row || strcmp(row->row->family, "rank") != 0 ||
            strcmp(row->device, device) != 0)
            continue;
        if (found.first == SIZE_MAX) found.first = i;
        found.last = i;
    }
    if (found.first == found.last) return;
    found.ratio = assay__comparison_launches(&profile->trials[found.first],
                                             &profile->trials[found.last], "latency.p50", arena,
                                             &found.reason);
    out->scalings[out->scaling_count++] = found;
}

/* The medians of each device: one over processors and GPUs together describes neither. */
static void add_devices(struct assay__bench *out, double *known)
{
    for (size_t i = 0; i < out->count; i++) {
        const char *device = out->rows[i].device;
        size_t count = 0, before = 0;
        while (before < i && strcmp(out->rows[before].device, device) != 0)
            before++;
        if (before < i) continue;
        for (size_t k = i; k < out->count; k++)
            if (out->rows[k].judged.usable && isfinite(out->rows[k].efficiency) &&
                strcmp(out->rows[k].device, device) == 0)
                known[count++] = out->rows[k].efficiency;
        if (!count) continue;
        assay__stats_sort(known, count);
        out->efficiencies[out->device_count++] = (struct assay__bench_efficiency){
            device, assay__stats_median(known, count)};
    }
    if (out->device_count == 1) out->efficiency = out->efficiencies[0].median;
}

static void sum_up(const struct assay_profile *profile, struct assay__arena *arena,
                   struct assay__bench *out)
{
    double *known = assay__arena_array(arena, out->count + 1, sizeof *known);
    for (size_t i = 0; known && i < out->count; i++) {
        const struct assay__bench_row *row = &out->rows[i];
        const struct assay_metric *from = assay_metrics_get(profile->trials[i].metrics,
                                                            "bench.baseline");
        size_t *const tallies[] = {&out->unjudged, &out->same, &out->faster, &out->slower};
        if (isfinite(row->ratio.ratio)) ++*tallies[row->verdict];
        if (!*out->baseline && from && isfinite(row->baseline_per_s) && from->note)
            out->baseline = from->note;
        if (!row->judged.usable) continue;
        out->usable++;
        if (isfinite(row->measured_s)) out->measured_s = fmax(out->measured_s, 0) + row->measured_s;
        if (!isfinite(row->efficiency)) continue;
        out->efficient_count++;
        if (out->least_efficient == SIZE_MAX ||
            row->efficiency < out->rows[out->least_efficient].efficiency)
            out->least_efficient = i;
    }
    if (known) add_devices(out, known);
}

int assay__bench_judge(const struct assay_profile *profile, struct assay__arena *arena,
                       struct assay__bench *out)
{
    *out = (struct assay__bench){
        .baseline = "", .measured_s = NAN, .efficiency = NAN, .least_efficient = SIZE_MAX};
    out->rows = assay__arena_array(arena, profile->trial_count + 1, sizeof *out->rows);
    out->scalings = assay__arena_array(arena, profile->trial_count + 1, sizeof *out->scalings);
    out->efficiencies = assay__arena_array(arena, profile->trial_count + 1,
                                           sizeof *out->efficiencies);
    if (!out->rows || !out->scalings || !out->efficiencies) return ASSAY_ENOMEM;
    for (; out->count < profile->trial_count; out->count++)
        if (read_row(profile, out->count, arena, &out->rows[out->count])) return ASSAY_ENOMEM;
    for (size_t i = 0; i < out->count; i++) {
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before |= strcmp(out->rows[k].device, out->rows[i].device) == 0;
        if (!before) add_scaling(profile, arena, out->rows[i].device, out);
    }
    sum_up(profile, arena, out);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
