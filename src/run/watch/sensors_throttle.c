/* sensors_throttle.c - what slowed the processors down while measuring, as sentences with numbers
 * and times: counts of thermal throttling, time lost to a CPU quota, NVML's reasons for slow
 * clocks, the system's thermal pressure, limits below what the hardware can do, and a clock that
 * falls while the temperature rises. A sentence replaces the coarser one on the same subject from
 * the readings around the launches. Times are since the start of the run. */
#include "run/watch/sensors.h"

#include <math.h>
#include <string.h>

#define CLOCK_FALL 0.05
#define LIMIT_BELOW 0.99 /* of the hardware's highest clock */
#define WARMER_C 1.0     /* a rise that is more than a sensor's step */
#define PART 0.1         /* the first and the last tenth are compared */

struct saying {
    const struct assay__sensors *sensors;
    struct assay__sentences said;
};

/* Drops the sentences of that kind: a better one follows. */
static void drop(struct saying *to, enum assay__disturbance_kind kind)
{
    size_t kept = 0;
    for (size_t i = 0; i < to->said.count; i++) {
        if (to->said.kinds[i] == kind) continue;
        to->said.items[kept] = to->said.items[i];
        to->said.kinds[kept++] = to->said.kinds[i];
    }
    to->said.count = kept;
}

static bool of_cpu(const struct assay__rails *rails)
{
    return rails->device_class != ASSAY__CLASS_GPU && rails->device_class != ASSAY__CLASS_NPU;
}

static bool measured_at(const struct assay__sensors *sensors, uint64_t time_ns)
{
    /* the first window that ends at or after that time */
    size_t low = 0, high = sensors->window_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sensors->windows[middle].end_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sensors->window_count && sensors->windows[low].begin_ns <= time_ns;
}

static double seconds_in(const struct assay__sensors *sensors, uint64_t time_ns)
{
    return (double)(int64_t)(time_ns - sensors->origin_ns) * 1e-9;
}

static void say_counts(struct saying *to, const struct assay__series *series)
{
    const struct assay__sensors *sensors = to->sensors;
    const struct assay__channel *channel = series->channel;
    bool heat = strcmp(channel->name, "count.throttled.core") == 0 ||
                strcmp(channel->name, "count.throttled.package") == 0;
    if (!heat && strcmp(channel->name, "time.throttled") != 0) return;
    uint64_t begin_ns = sensors->windows[0].begin_ns,
             end_ns = sensors->windows[sensors->window_count - 1].end_ns;
    double start = NAN, last = NAN, first_s = NAN; /* when it was first seen to grow */
    for (size_t i = 0; i < series->count; i++) {
        if (!isfinite(series->values[i]) || series->times_ns[i] > end_ns) continue;
        if (series->times_ns[i] <= begin_ns || isnan(start)) start = series->values[i];
        if (series->times_ns[i] > begin_ns && series->values[i] > start && isnan(first_s))
            first_s = seconds_in(sensors, series->times_ns[i]);
        last = series->values[i];
    }
    if (!(last > start)) return;
    enum assay__disturbance_kind kind = heat ? ASSAY__DISTURBANCE_THROTTLED
                                             : ASSAY__DISTURBANCE_QUOTA;
    drop(to, kind);
    if (heat)
        assay__sentences_add(&to->said,
                             "the %s throttled %.0f times because of heat, first at %.3g s",
                             strcmp(channel->rail, "core") == 0 ? "CPU cores" : "CPU package",
                             last - start, first_s);
    else
        assay__sentences_add(
            &to->said,
            "the control group's CPU quota held up the run for %.3g s of CPU time, first at %.3g s",
            last - start, first_s);
    assay__sentences_kind(&to->said, kind);
}

/* "gpu0: power-cap" as a share of the samples in the windows. */
static void say_state(struct saying *to, const struct assay__series *series)
{
    const struct assay__channel *channel = series->channel;
    const char *slow = strstr(channel->name, ".slow.");
    bool pressure = strcmp(channel->name, "state.thermal-pressure") == 0;
    size_t seen = 0, on = 0, worst = 0, first = 0, known = 0;
    if ((!slow && !pressure) || (slow && strcmp(slow, ".slow.idle") == 0)) return;
    while (channel->states && channel->states[known])
        known++;
    for (size_t i = 0; i < series->count; i++) {
        double value = series->values[i];
        if (!isfinite(value) || !measured_at(to->sensors, series->times_ns[i])) continue;
        seen++;
        if (!(value > 0)) continue;
        if (on++ == 0) first = i;
        if ((size_t)value > worst && (size_t)value < known) worst = (size_t)value;
    }
    if (!on) return;
    double share = 100 * (double)on / (double)seen,
           at_s = seconds_in(to->sensors, series->times_ns[first]);
    if (slow)
        assay__sentences_add(&to->said,
                             "%s reduced its clocks (%s) in %.0f %% of the measured readings, "
                             "first at %.3g s",
                             channel->rail, slow + 6, share, at_s);
    else
        assay__sentences_add(&to->said,
                             "thermal pressure was up to '%s' in %.0f %% of the measured readings, "
                             "first at %.3g s",
                             worst ? channel->states[worst] : "above nominal", share, at_s);
    assay__sentences_kind(&to->said, ASSAY__DISTURBANCE_SLOWED);
}

/* The last known value of a channel of that probe; NaN. */
static double last_of(const struct assay__sensors *sensors, const char *probe, const char *name)
{
    double last = NAN;
    for (size_t i = 0; i < sensors->series_count; i++) {
        const struct assay__series *series = &sensors->series[i];
        if (strcmp(series->ops->name, probe) != 0 || strcmp(series->channel->name, name) != 0)
            continue;
        for (size_t k = 0; k < series->count; k++)
            if (isfinite(series->values[k])) last = series->values[k];
    }
    return last;
}

/* Mean of the first and of the last tenth of the time from the first window to the last. */
static bool ends_of(const struct assay__sensors *sensors, size_t index, double *begin, double *end)
{
    uint64_t begin_ns = sensors->windows[0].begin_ns,
             end_ns = sensors->windows[sensors->window_count - 1].end_ns;
    uint64_t part_ns = (uint64_t)((double)(end_ns - begin_ns) * PART);
    struct assay__window first, last;
    if (index == SIZE_MAX) return false;
    assay__sampler_window(sensors->sampler, index, begin_ns, begin_ns + part_ns, true, &first);
    assay__sampler_window(sensors->sampler, index, end_ns - part_ns, end_ns, true, &last);
    *begin = first.average;
    *end = last.average;
    return first.available && last.available;
}

static void say_falling(struct saying *to, const struct assay__rails *rails)
{
    double hz, hz_end, warm, hot;
    if (!ends_of(to->sensors, assay__sensors_clock(to->sensors, rails), &hz, &hz_end) ||
        !ends_of(to->sensors, assay__sensors_temperature(to->sensors, rails), &warm, &hot))
        return;
    if (!(hz_end < hz * (1 - CLOCK_FALL)) || !(hot > warm + WARMER_C)) return;
    bool cpu = of_cpu(rails);
    if (cpu) drop(to, ASSAY__DISTURBANCE_CLOCK);
    assay__sentences_add(
        &to->said,
        "the clock of %s fell by %.0f %% (%.2f to %.2f GHz) over the run while its "
        "temperature rose from %.0f to %.0f °C, as when it is throttled",
        cpu ? "the CPU" : rails->gpu, (1 - hz_end / hz) * 100, hz / 1e9, hz_end / 1e9, warm, hot);
}

int assay__sensors_throttling(const struct assay__sensors *sensors,
                              const struct assay__rails *rails)
{
    struct assay__environment *environment = &sensors->profile->environment;
    struct saying to = {sensors, {.arena = sensors->profile->arena}};
    if (sensors->window_count == 0) return 0;
    for (size_t i = 0; i < environment->disturbance_count; i++) {
        assay__sentences_add(&to.said, "%s", environment->disturbances[i]);
        if (environment->disturbance_kinds)
            assay__sentences_kind(&to.said, environment->disturbance_kinds[i]);
    }
    for (size_t i = 0; i < sensors->series_count; i++) {
        say_counts(&to, &sensors->series[i]);
        say_state(&to, &sensors->series[i]);
    }
    if (of_cpu(rails)) {
        double limit = last_of(to.sensors, "cpufreq", "limit.greatest");
        double most = last_of(to.sensors, "cpufreq", "hardware.greatest");
        if (limit > 0 && most > 0 && limit < LIMIT_BELOW * most)
            assay__sentences_add(&to.said,
                                 "the CPU clock is limited to %.2f GHz of %.2f GHz "
                                 "(cpufreq/scaling_max_freq)",
                                 limit / 1e9, most / 1e9);
    }
    say_falling(&to, rails);
    environment->disturbances = to.said.items;
    environment->disturbance_kinds = to.said.kinds;
    environment->disturbance_count = to.said.count;
    return to.said.failed ? ASSAY_ENOMEM : 0;
}
