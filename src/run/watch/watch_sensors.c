/* watch_sensors.c - power, energy, temperature, clocks and throttling while a workload runs: the
 * sampler's life cycle. It is opened before the first launch, measures how often its sources
 * update, measures the idle machine, keeps running through all launches and stops before other
 * watchers start their launches. sensors_*.c interprets the readings.
 *
 * A source whose reading costs more than 0.15 % of a core at the interval is read less often, and
 * at the edges: at the start and end of the idle measurement, when the first window of a launch
 * begins, when a launch has ended.
 *
 * Not read here: the PCIe link, its traffic (20 ms of waiting for each reading) and the counters of
 * processes, which have their own watcher. */
#include "run/watch/sensors.h"
#include "run/watch/watchers.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INTERVAL_S 0.1
#define INTERVAL_LEAST_S 1e-4
#define IDLE_S 3.0
#define THIRDS_LEAST_NS 1000000000u
#define SLICE_NS 20000000u        /* how long Ctrl-C waits at most */
#define CALIBRATE_NS 600000000u   /* a source that updates ten times a second shows three gaps */
#define CALIBRATE_EACH_NS 500000u /* twice as fast as RAPL's millisecond */
#define MOST_SHARE 0.0015    /* of a core, for one probe; with the readings at the edges 0.2 % */
#define CAPACITY_LEAST 4096u /* samples per channel */
#define CAPACITY_MOST (1u << 16) /* the sampler thins beyond that */
#define FIRST_SLICE_NS 1000000
#define FIRST_MOST_NS 2000000000 /* a probe that blocks is abandoned before this */
#define EXPECTED_S 12.0          /* for a launch whose time is not given */

struct assay__watcher {
    struct assay__watch_plan plan;
    struct assay__sampler *sampler;
    double interval_s;
    int begun; /* the last launch whose first window has begun */
    uint64_t idle_begin_ns, idle_end_ns;
    const char *idle_reason;
};

static bool wanted(const struct assay__run_options *options)
{
    return options->watching.power;
}

/* Memory has its own watcher; of the counts, only those of throttling. Reading the state of the
 * PCIe link costs five times as much as the rest of NVML (160 of 190 µs on an H200) and is not
 * about power. */
static bool channel_wanted(void *context, const struct assay__probe_ops *ops,
                           const struct assay__channel *channel)
{
    (void)context, (void)ops;
    if (strstr(channel->name, ".pcie-")) return false;
    return assay__text_is_one_of(channel->quantity, "energy power temperature clock utilization "
                                                    "fan state time") ||
           strncmp(channel->name, "count.throttled", 15) == 0;
}

static void watch_idle(struct assay__watcher *watcher, double seconds)
{
    const struct assay__run_options *options = watcher->plan.options;
    struct assay__sampler_cost cost = {.ticks = 0};
    /* A window that started before everything was read once would have no first reading. */
    for (uint64_t waited_ns = 0; waited_ns < FIRST_MOST_NS; waited_ns += FIRST_SLICE_NS) {
        const struct timespec slice = {0, FIRST_SLICE_NS};
        assay__sampler_cost(watcher->sampler, &cost);
        if (cost.ticks) break;
        nanosleep(&slice, NULL);
    }
    uint64_t begin_ns = assay__now_ns(), length_ns = (uint64_t)(seconds * 1e9), now_ns = begin_ns;
    bool stopped = false;
    /* everything is read at their ends, so that power that has not settled is visible */
    uint64_t thirds = 0;
    while (now_ns - begin_ns < length_ns && !stopped) {
        if (length_ns >= THIRDS_LEAST_NS && (now_ns - begin_ns) / (length_ns / 3) > thirds) {
            thirds++;
            assay__sampler_nudge(watcher->sampler);
        }
        uint64_t rest_ns = length_ns - (now_ns - begin_ns);
        struct timespec slice = {0, (long)(rest_ns < SLICE_NS ? rest_ns : SLICE_NS)};
        assay__progress(&options->callbacks, "measuring the idle machine",
                        (double)(now_ns - begin_ns) / (double)length_ns);
        nanosleep(&slice, NULL);
        now_ns = assay__now_ns();
        stopped = options->callbacks.interrupt && *options->callbacks.interrupt;
    }
    watcher->idle_begin_ns = begin_ns;
    watcher->idle_end_ns = now_ns;
    assay__sampler_nudge(watcher->sampler);
}

static int open_sampler(struct assay__watcher *watcher, double idle_s, struct assay_error *error)
{
    double time_s = watcher->plan.options->measuring.time_s;
    double launch_s = time_s > 0 ? time_s + 2 : EXPECTED_S;
    double samples = (idle_s + launch_s * watcher->plan.options->measuring.launches) /
                     watcher->interval_s;
    struct assay__sampler_options options = {
        .size = sizeof options,
        .interval_ns = (uint64_t)(watcher->interval_s * 1e9),
        .most_share = MOST_SHARE,
        .capacity = (size_t)fmin(fmax(samples, CAPACITY_LEAST), CAPACITY_MOST)};
    int code = assay__sampler_new(&options, &watcher->sampler, error);
    for (size_t i = 0; code == 0 && assay__probe_at(i); i++)
        if (!assay__text_is_one_of(assay__probe_at(i)->name, "perf nvml-pcie"))
            code = assay__sampler_add(watcher->sampler, assay__probe_at(i), channel_wanted, NULL,
                                      error);
    return code;
}

static void free_watcher(struct assay__watcher *watcher)
{
    if (!watcher) return;
    assay__sampler_free(watcher->sampler);
    free(watcher);
}

static int open_sensors(const struct assay__watch_plan *plan, struct assay__watcher **watcher,
                        struct assay_error *error)
{
    const struct assay__run_options *options = plan->options;
    double interval_s = options->watching.interval_s == 0 ? INTERVAL_S
                                                          : options->watching.interval_s;
    double idle_s = options->watching.idle_given ? options->watching.idle_s : IDLE_S;
    *watcher = NULL;
    if (!(interval_s >= INTERVAL_LEAST_S) || !isfinite(interval_s) || !(idle_s >= -1e-9) ||
        !isfinite(idle_s))
        return assay_error_set(
            error, ASSAY_EINVAL,
            "the sensor interval must be at least 0.1 ms, and the idle time at least 0 s");
    struct assay__watcher *made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    made->plan = *plan;
    made->interval_s = interval_s;
    made->idle_reason = "no idle baseline was taken";
    int code = open_sampler(made, idle_s, error);
    bool power = false; /* can be read: then an idle baseline and the sources' periods are useful */
    for (size_t i = 0; code == 0 && i < assay__sampler_count(made->sampler); i++) {
        struct assay__series series;
        assay__sampler_series(made->sampler, i, &series);
        power |= series.available &&
                 assay__text_is_one_of(series.channel->quantity, "energy power");
    }
    if (power) assay__sampler_calibrate(made->sampler, CALIBRATE_NS, CALIBRATE_EACH_NS);
    if (code == 0) code = assay__sampler_start(made->sampler, error);
    if (code == 0 && !power)
        made->idle_reason =
            "no idle baseline was taken: nothing on this machine measures power or energy";
    else if (code == 0 && idle_s > 1e-9)
        watch_idle(made, idle_s);
    if (code)
        free_watcher(made);
    else
        *watcher = made;
    return code;
}

/* What is read rarely is read at the edges of a launch: between readings a counter is interpolated
 * linearly. */
static void window_begins(struct assay__watcher *watcher, int launch, uint64_t now_ns)
{
    (void)now_ns;
    if (watcher->begun == launch) return;
    watcher->begun = launch;
    assay__sampler_nudge(watcher->sampler);
}

static void ended(struct assay__watcher *watcher, int launch)
{
    (void)launch;
    watcher->begun = 0; /* the next launch may be another arm's, with the same number */
    assay__sampler_nudge(watcher->sampler);
}

/* Stops before other watchers start their own launches. */
static int extra(struct assay__watcher *watcher, const struct assay__request *request,
                 struct assay_error *error)
{
    (void)request, (void)error;
    assay__sampler_stop(watcher->sampler);
    return 0;
}

/* --- the windows ------------------------------------------------------------------------------ */

/* All windows of the launches that the statistics are based on; the caller frees them. NULL: out of
 * memory. */
static struct assay__sensor_window *collect(const struct assay__trial_input *input, size_t *count)
{
    const struct assay__outcome **used = calloc(input->outcome_count + 1, sizeof *used);
    size_t used_count = used ? assay__trial_used(input, used) : 0, total = 0;
    for (size_t i = 0; i < used_count; i++)
        total += used[i]->window_count;
    struct assay__sensor_window *windows = used ? calloc(total + 1, sizeof *windows) : NULL;
    *count = 0;
    for (size_t i = 0; windows && i < used_count; i++) {
        const struct assay__samples *samples = used[i]->stream_count == 1 ? used[i]->streams : NULL;
        for (size_t w = 0; w < used[i]->window_count; w++) {
            const struct assay__sample_window *window = &used[i]->windows[w];
            if (!window->begin_ns || window->end_ns <= window->begin_ns) continue;
            bool each = samples && samples->values &&
                        window->first + window->count <= samples->count;
            windows[(*count)++] = (struct assay__sensor_window){
                .launch = (int)(used[i] - input->outcomes) + 1,
                .begin_ns = window->begin_ns,
                .end_ns = window->end_ns,
                .completions = window->completions,
                .samples_ns = each ? samples->values + window->first : NULL,
                .sample_count = each ? window->count : 0};
        }
    }
    free(used);
    return windows;
}

static int put_sensors(struct assay__watcher *watcher, const struct assay__trial_input *input,
                       struct assay_error *error)
{
    size_t count = 0;
    assay__sampler_stop(watcher->sampler);
    struct assay__sensor_window *windows = collect(input, &count);
    if (!windows) return assay__no_memory(error);
    struct assay__sensors sensors = {
        .sampler = watcher->sampler,
        .profile = input->profile,
        .trial = input->trial,
        .origin_ns = watcher->plan.origin_ns,
        .idle_begin_ns = watcher->idle_begin_ns,
        .idle_end_ns = watcher->idle_end_ns,
        .idle_reason = watcher->idle_reason,
        .interval_s = watcher->interval_s,
        .windows = windows,
        .window_count = count,
        .cuda_order = getenv("CUDA_DEVICE_ORDER"),
        .cuda_visible = getenv("CUDA_VISIBLE_DEVICES"),
    };
    int code = assay__sensors_compute(&sensors);
    free(windows);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}

const struct assay__watcher_ops assay__watch_sensors = {
    .name = "sensors",
    .wanted = wanted,
    .begin = open_sensors,
    .window_begins = window_begins,
    .ended = ended,
    .extra = extra,
    .finish = put_sensors,
    .free = free_watcher,
};
