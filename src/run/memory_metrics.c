/* memory_metrics.c - see memory_metrics.h. */
#include "run/memory_metrics.h"

#include "probe/live.h"
#include "run/builds.h"
#include "run/memory_track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- series ------------------------------------------------------------------------------------- */

static bool is_whole(const struct assay__series *series)
{
    const char *tail = strrchr(series->channel->name, '.');
    return tail && strcmp(tail, ".used") == 0;
}

/* "memory.rss" -> "memory.rss.worker", "memory.gpu0.process" -> "memory.device.gpu0", "….used" -> "memory.device.gpu0.all" */
static const char *series_name(struct assay__arena *arena, const struct assay__series *series)
{
    const struct assay__channel *channel = series->channel;
    if (strcmp(series->ops->name, "nvml") == 0)
        return assay__arena_printf(arena, "memory.device.%s%s", channel->rail,
                                   is_whole(series) ? ".all" : "");
    return assay__arena_printf(arena, "%s.worker", channel->name);
}

static const char *cost_note(struct assay__arena *arena, struct assay__sampler *sampler)
{
    struct assay__sampler_cost cost;
    struct assay__probe_cost probe;
    assay__sampler_cost(sampler, &cost);
    assay__sampler_probe_cost(sampler, 0, &probe);
    if (!(probe.mean_ns >= 0)) return "";
    if (strcmp(probe.ops->name, "process-pss") == 0)
        return assay__arena_printf(arena, "%llu readings between windows, %.3g ms each",
                                   (unsigned long long)probe.reads, probe.mean_ns / 1e6);
    return assay__arena_printf(arena, "%llu readings, %.3g µs each; %.2g %% of a core",
                               (unsigned long long)probe.reads, probe.mean_ns / 1e3,
                               100 * (double)cost.cpu_ns / (double)cost.wall_ns);
}

/* Behind the last window come the sessions of the layer pass, which are not the model's memory, and the end of the process, which leaves
 * readings without a value: neither is part of the series. One reading after the window stays. */
static size_t without_tail(const struct assay__series *series, uint64_t window_end_ns)
{
    size_t count = series->count;
    while (window_end_ns && count > 1 && series->times_ns[count - 2] >= window_end_ns)
        count--;
    while (count > 0 && !isfinite(series->values[count - 1]))
        count--;
    return count;
}

static int keep_one(const struct assay__watch_plan *plan, struct assay__sampler *sampler,
                    const struct assay__series *series, size_t count, int launch)
{
    struct assay__arena *arena = plan->profile->arena;
    const struct assay__channel *channel = series->channel;
    bool known = count > 0;
    const char *reason = known                ? cost_note(arena, sampler)
                         : series->reason[0]  ? series->reason
                         : channel->reason[0] ? channel->reason
                                              : "no reading succeeded";
    struct assay__series_info info = {
        .launch = launch,
        .name = series_name(arena, series),
        .quantity = channel->quantity,
        .rail = strcmp(series->ops->name, "nvml") == 0 ? channel->rail : "worker",
        .unit = channel->unit,
        .probe = series->ops->name,
        .source = channel->source,
        .state = known ? ASSAY_MEASURED : ASSAY_UNAVAILABLE,
        .note = reason,
        .counter = channel->kind == ASSAY__CHANNEL_COUNTER,
        .period_s = series->period_s,
        .period_is_bound = series->period_is_bound,
        .count = count,
    };
    info.quantity = assay__arena_strdup(arena, info.quantity);
    info.rail = assay__arena_strdup(arena, info.rail);
    info.unit = assay__arena_strdup(arena, info.unit);
    info.source = assay__arena_strdup(arena, info.source);
    info.note = info.note ? assay__arena_strdup(arena, info.note) : NULL;
    info.times_ns = assay__arena_array(arena, info.count, sizeof *info.times_ns);
    info.values = assay__arena_array(arena, info.count, sizeof *info.values);
    if (!info.name || !info.quantity || !info.rail || !info.unit || !info.source || !info.note ||
        !info.times_ns || !info.values)
        return ASSAY_ENOMEM;
    for (size_t i = 0; i < info.count; i++) {
        info.times_ns[i] = (double)series->times_ns[i] - (double)plan->origin_ns;
        info.values[i] = series->values[i];
    }
    return assay__trial_add_series(plan->profile, plan->trial, &info);
}

static double peak_of(const struct assay__series *series, size_t count)
{
    double peak = NAN;
    for (size_t i = 0; i < count; i++)
        if (isfinite(series->values[i]) && !(series->values[i] <= peak)) peak = series->values[i];
    return peak;
}

/* What a channel of NVML says: the worker's own peak is added up, the growth of a whole GPU is compared. */
static int see_device(const struct assay__watch_plan *plan, const struct assay__series *series,
                      size_t count, double *device, struct assay__memory_seen *seen)
{
    double peak = peak_of(series, count);
    if (is_whole(series)) {
        double growth = count > 1 ? peak - series->values[0] : NAN;
        if (!isfinite(growth) || growth <= seen->device_growth) return 0;
        seen->device_growth = growth;
        seen->device_rail = assay__arena_strdup(plan->profile->arena, series->channel->rail);
        return seen->device_rail ? 0 : ASSAY_ENOMEM;
    }
    if (isfinite(peak)) *device = isfinite(*device) ? *device + peak : peak;
    if (isfinite(peak) || seen->device_reason[0] || !series->reason[0]) return 0;
    seen->device_reason = assay__arena_strdup(plan->profile->arena, series->reason);
    return seen->device_reason ? 0 : ASSAY_ENOMEM;
}

int assay__memory_keep_series(const struct assay__watch_plan *plan, struct assay__sampler *sampler,
                              int launch, struct assay__memory_seen *seen)
{
    double device = NAN;
    int code = 0;
    for (size_t i = 0; i < assay__sampler_count(sampler) && code == 0; i++) {
        struct assay__series series;
        assay__sampler_series(sampler, i, &series);
        size_t count = without_tail(&series, seen->window_end_ns);
        code = keep_one(plan, sampler, &series, count, launch);
        if (code == 0 && strcmp(series.ops->name, "nvml") == 0)
            code = see_device(plan, &series, count, &device, seen);
    }
    if (isfinite(device) && !(device <= seen->device_peak)) seen->device_peak = device;
    if (code || assay__sampler_probe_count(sampler) == 0) return code;
    struct assay__probe_cost cost;
    assay__sampler_probe_cost(sampler, 0, &cost);
    if (strcmp(cost.ops->name, "nvml") != 0 || seen->device_reason[0] || !cost.reason[0]) return 0;
    seen->device_reason = assay__arena_strdup(plan->profile->arena, cost.reason);
    return seen->device_reason ? 0 : ASSAY_ENOMEM;
}

/* --- metrics ------------------------------------------------------------------------------------ */

/* The worker reads its own memory; with another machine's files in place of /proc it cannot, and this is why. */
static int put_refused(struct assay_metrics *metrics)
{
    static const char *const names[] = {"memory.peak.worker", "memory.baseline.worker",
                                        "memory.pss.worker"};
    const char *refused = assay__live_refused();
    int code = 0;
    for (size_t i = 0; refused && i < sizeof names / sizeof names[0] && code == 0; i++) {
        const struct assay_metric *metric = assay_metrics_get(metrics, names[i]);
        if (metric && metric->state == ASSAY_UNAVAILABLE)
            code = assay_metrics_unavailable(metrics, names[i], refused);
    }
    return code;
}

static int put_device(const struct assay__watch_plan *plan, const struct assay__memory_seen *seen,
                      struct assay_metrics *metrics)
{
    bool cpu = strcmp(assay__build_device(plan->trial->device), "cpu") == 0;
    int code;
    if (cpu)
        code = assay_metrics_unavailable(
            metrics, "memory.peak.device",
            "the run used the CPU: no device with memory of its own took part");
    else if (isfinite(seen->device_peak))
        code = assay_metrics_measured(metrics, "memory.peak.device", seen->device_peak, "NVML",
                                      "of the worker alone, greatest reading");
    else if (seen->device_growth > 0) {
        char note[256];
        snprintf(note, sizeof note,
                 "greatest reading of all that is in use on %.40s less the one when the worker "
                 "started: NVML does not list the worker, and others would be in it",
                 seen->device_rail);
        code = assay_metrics_derived(metrics, "memory.peak.device", seen->device_growth, "NVML",
                                     note);
    } else
        code = assay_metrics_unavailable(metrics, "memory.peak.device",
                                         seen->device_reason[0]
                                             ? seen->device_reason
                                             : "nothing here tells the device memory of a process");
    const struct assay_metric *host = assay_metrics_get(metrics, "memory.peak.worker"),
                              *device = assay_metrics_get(metrics, "memory.peak.device");
    if (code || !host || !device) return code;
    if (host->state == ASSAY_UNAVAILABLE)
        return assay_metrics_unavailable(metrics, "memory.total", host->note);
    if (device->state != ASSAY_UNAVAILABLE)
        return assay_metrics_derived(metrics, "memory.total", host->value + device->value,
                                     "process, NVML", "memory.peak.worker + memory.peak.device");
    if (cpu)
        return assay_metrics_derived(metrics, "memory.total", host->value, "process",
                                     "memory.peak.worker; no device took part");
    return assay_metrics_unavailable(metrics, "memory.total", device->note);
}

static const char *const tracked_names[] = {
    "memory.allocations",   "memory.allocated",         "memory.growth",     "memory.heap.peak",
    "memory.fragmentation", "memory.arena.allocations", "memory.arena.held", "overhead.allocations",
};

static int put_untracked(const char *reason, struct assay_metrics *metrics)
{
    int code = 0;
    for (size_t i = 0; i < sizeof tracked_names / sizeof tracked_names[0] && code == 0; i++)
        code = assay_metrics_unavailable(metrics, tracked_names[i], reason);
    return code;
}

static int put_growth(const struct assay__tracked *tracked, struct assay_metrics *metrics)
{
    const struct assay__allocations *seen = &tracked->seen;
    char note[256];
    if (!isfinite(seen->growth_bytes))
        return assay_metrics_unavailable(metrics, "memory.growth",
                                         "too few inferences were tracked: 10 are needed");
    bool shown = seen->growth_low > 0 || seen->growth_high < 0;
    snprintf(
        note, sizeof note,
        "Theil-Sen slope of live bytes over %lld inferences, 95 %% interval %.4g to %.4g B: %s; "
        "%.3g B or more would have shown",
        (long long)tracked->marks, seen->growth_low, seen->growth_high,
        shown ? seen->growth_low > 0 ? "it grows" : "it shrinks" : "no growth shown",
        tracked->growth_smallest);
    return assay_metrics_derived(metrics, "memory.growth", seen->growth_bytes, "tracker", note);
}

static int put_heap(const struct assay__tracked *tracked, struct assay_metrics *metrics)
{
    const struct assay__allocations *seen = &tracked->seen;
    double peak = NAN;
    for (size_t i = 0; i < seen->phase_count; i++)
        if (!(seen->phases[i].peak_live_bytes <= peak)) peak = seen->phases[i].peak_live_bytes;
    char note[160];
    snprintf(note, sizeof note, "sizes as asked for, from the session's creation on%s",
             tracked->dropped > 0 ? "; some found no room in the tracker's table" : "");
    int code = isfinite(peak)
                   ? assay_metrics_measured(metrics, "memory.heap.peak", peak, "tracker", note)
                   : assay_metrics_unavailable(metrics, "memory.heap.peak", "nothing was tracked");
    if (code) return code;
    if (!(seen->heap_bytes > 0))
        return assay_metrics_unavailable(metrics, "memory.fragmentation",
                                         "the C library does not tell what its allocator holds "
                                         "(mallinfo2 of glibc 2.33 or later)");
    return assay_metrics_derived(metrics, "memory.fragmentation",
                                 1 - seen->heap_used_bytes / seen->heap_bytes, "mallinfo2",
                                 "1 - in use / held by the C library's allocator, at the end");
}

static int put_arena(const struct assay__tracked *tracked, double inferences,
                     struct assay_metrics *metrics)
{
    static const char *const silent = "the engine does not tell how its arena is used";
    char note[128];
    snprintf(note, sizeof note, "over the warm inferences; the arena grew %.0f time%s meanwhile",
             tracked->arena_extensions, tracked->arena_extensions == 1 ? "" : "s");
    int code = isfinite(tracked->arena_allocations) && inferences > 0
                   ? assay_metrics_derived(metrics, "memory.arena.allocations",
                                           tracked->arena_allocations / inferences, "engine", note)
                   : assay_metrics_unavailable(metrics, "memory.arena.allocations", silent);
    if (code) return code;
    return isfinite(tracked->arena_held)
               ? assay_metrics_measured(metrics, "memory.arena.held", tracked->arena_held, "engine",
                                        "at the end of the tracked launch")
               : assay_metrics_unavailable(metrics, "memory.arena.held", silent);
}

static int put_tracked(const struct assay__tracked *tracked, double slowdown,
                       struct assay_metrics *metrics)
{
    const struct assay__allocation_phase *warm = NULL;
    for (size_t i = 0; i < tracked->seen.phase_count; i++)
        if (strcmp(tracked->seen.phases[i].name, "warm") == 0) warm = &tracked->seen.phases[i];
    double inferences = warm && warm->inferences > 0 ? (double)warm->inferences : NAN;
    double count = warm ? warm->count / inferences : NAN,
           bytes = warm ? warm->bytes / inferences : NAN;
    static const char *const none = "no warm inference was tracked";
    static const char *const how =
        "malloc and its relatives, all threads; without what the engine's arena hands out";
    int code = isfinite(count)
                   ? assay_metrics_derived(metrics, "memory.allocations", count, "tracker", how)
                   : assay_metrics_unavailable(metrics, "memory.allocations", none);
    if (code == 0)
        code = isfinite(bytes)
                   ? assay_metrics_derived(metrics, "memory.allocated", bytes, "tracker", how)
                   : assay_metrics_unavailable(metrics, "memory.allocated", none);
    if (code == 0) code = put_growth(tracked, metrics);
    if (code == 0) code = put_heap(tracked, metrics);
    if (code == 0) code = put_arena(tracked, inferences, metrics);
    if (code) return code;
    return isfinite(slowdown)
               ? assay_metrics_derived(metrics, "overhead.allocations", slowdown, "clock",
                                       "median latency with the tracker / latency.p50")
               : assay_metrics_unavailable(
                     metrics, "overhead.allocations",
                     "allocations are counted with one request in flight: not to be compared with the latency of several");
}

int assay__memory_metrics(const struct assay__watch_plan *plan,
                          const struct assay__trial_input *input,
                          const struct assay__memory_seen *seen)
{
    struct assay__trial *trial = input->trial;
    struct assay_metrics *metrics = trial->metrics;
    const struct assay_metric *p50 = assay_metrics_get(metrics, "latency.p50");
    double slowdown = p50 && p50->value > 0 && input->streams <= 1
                          ? seen->tracked_ns / 1e9 / p50->value
                          : NAN;
    int code = put_refused(metrics);
    if (code == 0) code = put_device(plan, seen, metrics);
    if (code) return code;
    if (seen->tracked) {
        trial->allocations = seen->tracked->seen;
        trial->allocations.slowdown = slowdown;
        return put_tracked(seen->tracked, slowdown, metrics);
    }
    const char *reason = seen->tracked_reason[0] ? seen->tracked_reason
                                                 : "the run ended before allocations were counted";
    trial->allocations = assay__allocations_unknown();
    trial->allocations.reason = reason;
    return put_untracked(reason, metrics);
}
