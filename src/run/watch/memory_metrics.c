/* memory_metrics.c - turns readings of the worker's memory into series and metrics. */
#include "run/watch/memory_metrics.h"

#include "base/metric_value.h"
#include "base/text.h"
#include "run/watch/memory_track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- series ----------------------------------------------------------------------------------- */

static bool is_whole(const struct assay__series *series)
{
    const char *tail = strrchr(series->channel->name, '.');
    return tail && strcmp(tail, ".used") == 0;
}

/* count: readings that are kept. The cost is that of all of them. */
static const char *cost_note(struct assay__arena *arena, struct assay__sampler *sampler,
                             size_t count)
{
    const char *many = count == 1 ? "" : "s";
    char share[64];
    struct assay__sampler_cost cost;
    struct assay__probe_cost probe;
    assay__sampler_cost(sampler, &cost);
    assay__sampler_probe_cost(sampler, 0, &probe);
    if (!(probe.mean_ns >= 0)) return "";
    struct assay__digits each = assay__scaled(probe.mean_ns / 1e9, "s");
    if (strcmp(probe.ops->name, "process-pss") == 0)
        return assay__arena_text(arena, "%zu reading%s between windows, %s%s", count, many,
                                 each.text, count == 1 ? "" : " each");
    double percent = cost.wall_ns ? 100 * (double)cost.cpu_ns / (double)cost.wall_ns : NAN;
    if (percent >= 0.005)
        snprintf(share, sizeof share, "; %.2f %% of a core", percent);
    else
        snprintf(share, sizeof share, "%s", percent >= 0 ? "; < 0.01 % of a core" : "");
    return assay__arena_text(arena, "%zu reading%s, %s%s%s", count, many, each.text,
                             count == 1 ? "" : " each", share);
}

/* After the last window come the sessions of the layer pass, which are not the model's memory, and
 * the end of the process, which leaves readings without a value: neither is part of the series. The
 * proportional set size is read between windows: the reading right after the last one is its last.
 * A device is read so rarely that a short run may have no reading other than the one after it. */
static size_t without_tail(const struct assay__series *series, uint64_t window_end_ns)
{
    size_t count = series->count, after = strcmp(series->ops->name, "process-pss") == 0 ? 1 : 0;
    size_t least = strcmp(series->ops->name, "nvml") == 0 ? 2 : 1;
    while (window_end_ns && count > least && count > after &&
           series->times_ns[count - 1 - after] > window_end_ns)
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
    bool device = strcmp(series->ops->name, "nvml") == 0;
    const char *reason = count                ? cost_note(arena, sampler, count)
                         : series->reason[0]  ? series->reason
                         : channel->reason[0] ? channel->reason
                                              : "no reading succeeded";
    /* "memory.rss" -> "memory.rss.worker", "memory.gpu0.process" -> "memory.device.gpu0", "….used"
     * -> "memory.device.gpu0.all" */
    struct assay__series_info info = {
        .launch = launch,
        .name = device ? assay__arena_text(arena, "memory.device.%s%s", channel->rail,
                                           is_whole(series) ? ".all" : "")
                       : assay__arena_text(arena, "%s.worker", channel->name),
        .quantity = assay__arena_strdup(arena, channel->quantity),
        .rail = assay__arena_strdup(arena, device ? channel->rail : "worker"),
        .unit = assay__arena_strdup(arena, channel->unit),
        .probe = series->ops->name,
        .source = assay__arena_strdup(arena, channel->source),
        .state = count ? ASSAY_MEASURED : ASSAY_UNAVAILABLE,
        .note = assay__arena_text(arena, "%s", reason),
        .counter = channel->kind == ASSAY__CHANNEL_COUNTER,
        .period_s = series->period_s,
        .period_is_bound = series->period_is_bound,
        .count = count,
        .times_ns = assay__arena_array(arena, count, sizeof(double)),
        .values = assay__arena_array(arena, count, sizeof(double)),
    };
    if (assay__arena_failed(arena)) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        info.times_ns[i] = (double)series->times_ns[i] - (double)plan->origin_ns;
        info.values[i] = series->values[i];
    }
    return assay__trial_add_series(plan->profile, plan->trial, &info);
}

/* What a channel of NVML reports: the worker's own peaks are added up, the growth of a whole GPU is
 * compared. */
static int see_device(const struct assay__watch_plan *plan, const struct assay__series *series,
                      size_t count, double *device, struct assay__memory_seen *seen)
{
    double peak = NAN;
    for (size_t i = 0; i < count; i++)
        if (isfinite(series->values[i]) && !(series->values[i] <= peak)) peak = series->values[i];
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

/* --- metrics ---------------------------------------------------------------------------------- */

/* How a device's memory can be read, by the engine's device name. */
enum device_memory {
    OF_HOST,   /* it is the CPU */
    OF_NVIDIA, /* an NVIDIA GPU, or a device of unknown kind */
    OF_ANY,    /* a GPU of any maker */
    OF_OTHER   /* never an NVIDIA GPU */
};

static enum device_memory device_memory_of(const struct assay__target *target)
{
    static const struct {
        const char *begins;
        enum device_memory memory;
    } kinds[] = {
        {"webgpu", OF_ANY},     {"directml", OF_ANY}, {"openvino", OF_OTHER}, {"coreml", OF_OTHER},
        {"migraphx", OF_OTHER}, {"rocm", OF_OTHER},   {"qnn", OF_OTHER},      {"vitisai", OF_OTHER},
    };
    const char *name = assay__device_bare(target->device);
    if (target->device_class == ASSAY__CLASS_CPU) return OF_HOST;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(name, kinds[i].begins, strlen(kinds[i].begins)) == 0) return kinds[i].memory;
    return OF_NVIDIA;
}

bool assay__memory_asks_nvml(const struct assay__target *target)
{
    enum device_memory memory = device_memory_of(target);
    return memory == OF_NVIDIA || memory == OF_ANY;
}

/* On the CPU the trial's own metrics are kept: no device, and the total is the worker's. */
static void put_device(const struct assay__watch_plan *plan, const struct assay__memory_seen *seen,
                       struct assay_metrics *metrics)
{
    enum device_memory memory = device_memory_of(&plan->trial->target);
    char text[256];
    if (memory == OF_HOST) return;
    if (isfinite(seen->device_peak)) {
        assay_metrics_measured(metrics, "memory.peak.device", seen->device_peak, "NVML",
                               "of the worker alone, max reading");
    } else if (seen->device_growth > 0 && memory == OF_NVIDIA) {
        snprintf(text, sizeof text,
                 "max reading of all memory in use on %.40s minus the reading when the worker "
                 "started: NVML does not list the worker, so other processes are included",
                 seen->device_rail);
        assay_metrics_derived(metrics, "memory.peak.device", seen->device_growth, "NVML", text);
    } else if (memory == OF_NVIDIA) {
        assay_metrics_unavailable(metrics, "memory.peak.device",
                                  seen->device_reason[0]
                                      ? seen->device_reason
                                      : "nothing here reports the device memory of a process");
    } else {
        snprintf(text, sizeof text,
                 "nothing here reports how much memory of %.64s a process uses; for NVIDIA GPUs "
                 "NVML would",
                 assay__device_bare(plan->trial->target.device));
        assay_metrics_unavailable(metrics, "memory.peak.device", text);
    }
    const struct assay_metric *host = assay_metrics_get(metrics, "memory.peak.worker"),
                              *device = assay_metrics_get(metrics, "memory.peak.device");
    if (!host || !device) return;
    assay__metrics_put_known(metrics, "memory.total", ASSAY_DERIVED, host->value + device->value,
                             "process, NVML", "memory.peak.worker + memory.peak.device",
                             host->state == ASSAY_UNAVAILABLE ? host->note : device->note);
}

/* How the slope was computed, what it shows and what it would have missed. */
static void growth_note(const struct assay__tracked *tracked, char *note, size_t size)
{
    const struct assay__allocations *seen = &tracked->seen;
    char often[64], slope[128];
    long long marks = (long long)tracked->marks;
    struct assay__digits total = assay__scaled(fabs(tracked->growth_total), "B");
    snprintf(slope, sizeof slope,
             "slope of live bytes over %lld inferences (Theil-Sen), 95 %% interval %.3g to %.3g B",
             marks, seen->growth_low, seen->growth_high);
    if (tracked->growth_every > 1)
        snprintf(often, sizeof often, "once in %.0f inferences", tracked->growth_every);
    else
        snprintf(often, sizeof often, "with every inference");
    if (tracked->growth_flat)
        snprintf(note, size,
                 "live bytes were the same after each of %lld inferences: no growth detected; "
                 "losing a block %s would have been detected",
                 marks, often);
    else if (tracked->growth_settled)
        snprintf(note, size,
                 "slope in the last third of %lld inferences: live bytes %s by %s in total, but at "
                 "a falling rate: no steady growth",
                 marks, tracked->growth_total < 0 ? "fell" : "rose", total.text);
    else if (seen->growth_low > 0 || seen->growth_high < 0)
        snprintf(note, size, "%s: it %s, by %s in total, and just as fast in the last third", slope,
                 seen->growth_low > 0 ? "grows" : "shrinks", total.text);
    else if (tracked->growth_smallest > 0)
        snprintf(note, size,
                 "%s: no growth detected; %s per inference or more would have been detected if it "
                 "came %s",
                 slope, assay__scaled(tracked->growth_smallest, "B").text, often);
    else
        snprintf(note, size, "%s: no growth detected; losing a block %s would have been detected",
                 slope, often);
}

static void put_heap(const struct assay__tracked *tracked, struct assay_metrics *metrics)
{
    const struct assay__allocations *seen = &tracked->seen;
    double peak = NAN;
    for (size_t i = 0; i < seen->phase_count; i++)
        if (!(seen->phases[i].peak_live_bytes <= peak)) peak = seen->phases[i].peak_live_bytes;
    char note[160];
    snprintf(note, sizeof note, "requested sizes, from session creation on%s",
             tracked->dropped > 0 ? "; some did not fit in the tracker's table" : "");
    assay__metrics_put_known(metrics, "memory.heap.peak", ASSAY_MEASURED, peak, "tracker", note,
                             "nothing was tracked");
    assay__metrics_put_known(
        metrics, "memory.fragmentation", ASSAY_DERIVED,
        seen->heap_bytes > 0 ? 1 - seen->heap_used_bytes / seen->heap_bytes : (double)NAN,
        "mallinfo2", "1 - in use / held by the C library's allocator, at the end",
        "the C library does not report what its allocator holds (mallinfo2 of glibc 2.33 or "
        "later)");
}

static void put_tracked(const struct assay__tracked *tracked, double slowdown,
                        struct assay_metrics *metrics)
{
    const struct assay__allocation_phase *warm = NULL;
    for (size_t i = 0; i < tracked->seen.phase_count; i++)
        if (strcmp(tracked->seen.phases[i].name, "warm") == 0) warm = &tracked->seen.phases[i];
    double inferences = warm && warm->inferences > 0 ? (double)warm->inferences : NAN;
    char note[384];
    static const char *const none = "no warm inference was tracked";
    static const char *const silent = "the engine does not report how its arena is used";
    static const char *const how =
        "malloc and related functions, all threads; without allocations inside the engine's arena";
    assay__metrics_put_known(metrics, "memory.allocations", ASSAY_DERIVED,
                             warm ? warm->count / inferences : (double)NAN, "tracker", how, none);
    assay__metrics_put_known(metrics, "memory.allocated", ASSAY_DERIVED,
                             warm ? warm->bytes / inferences : (double)NAN, "tracker", how, none);
    growth_note(tracked, note, sizeof note);
    assay__metrics_put_known(metrics, "memory.growth", ASSAY_DERIVED, tracked->seen.growth_bytes,
                             "tracker", note, "too few inferences were tracked: 10 are needed");
    put_heap(tracked, metrics);
    snprintf(note, sizeof note, "over the warm inferences; the arena grew %.0f time%s",
             tracked->arena_extensions, tracked->arena_extensions == 1 ? "" : "s");
    assay__metrics_put_known(metrics, "memory.arena.allocations", ASSAY_DERIVED,
                             tracked->arena_allocations / inferences, "engine", note, silent);
    assay__metrics_put_known(metrics, "memory.arena.held", ASSAY_MEASURED, tracked->arena_held,
                             "engine", "at the end of the tracked launch", silent);
    assay__metrics_put_known(metrics, "overhead.allocations", ASSAY_DERIVED, slowdown, "clock",
                             "median latency with the tracker / latency.p50",
                             "allocations are counted with one request in flight, which is not "
                             "comparable with the latency of several");
}

int assay__memory_metrics(const struct assay__watch_plan *plan,
                          const struct assay__trial_input *input,
                          const struct assay__memory_seen *seen)
{
    static const char *const tracked_names[] = {"memory.allocations",   "memory.allocated",
                                                "memory.growth",        "memory.heap.peak",
                                                "memory.fragmentation", "memory.arena.allocations",
                                                "memory.arena.held",    "overhead.allocations"};
    struct assay__trial *trial = input->trial;
    struct assay_metrics *metrics = trial->metrics;
    const struct assay_metric *p50 = assay_metrics_get(metrics, "latency.p50");
    double slowdown = p50 && p50->value > 0 && input->streams <= 1
                          ? seen->tracked_ns / 1e9 / p50->value
                          : NAN;
    put_device(plan, seen, metrics);
    if (seen->tracked) {
        trial->allocations = seen->tracked->seen;
        trial->allocations.slowdown = slowdown;
        put_tracked(seen->tracked, slowdown, metrics);
        return assay_metrics_failed(metrics);
    }
    const char *reason = seen->tracked_reason[0] ? seen->tracked_reason
                                                 : "the run ended before allocations were counted";
    trial->allocations = assay__allocations_unknown();
    trial->allocations.reason = reason;
    for (size_t i = 0; i < sizeof tracked_names / sizeof tracked_names[0]; i++)
        assay_metrics_unavailable(metrics, tracked_names[i], reason);
    return assay_metrics_failed(metrics);
}
