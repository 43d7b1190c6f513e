/* sensors_series.c - what the sensors read, as series of the profile: every channel as it was read
 * (or why it was not), and three that are derived: power from the growth of an energy counter over
 * at least ten of its update periods and 50 ms (unless the counter is read rarely and the rail's
 * power is sampled), inferences per second, inferences per joule. A probe that could not be opened
 * in time is a series without values, with the reason, because its channels are unknown.
 *
 * Inferences over time. With one stream, the samples of a window are placed one after the other and
 * stretched to the window's wall time, and each is spread evenly over its own duration; with
 * several streams only the number in a window is known, and it is spread evenly. A bucket in which
 * less than a quarter was measured has no value. */
#include "run/watch/sensors.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define BUCKET_S 0.5
#define BUCKETS_LEAST 50 /* in a short run */
#define BUCKET_LEAST_S 0.02
#define BUCKETS_MOST 4096
#define PERIODS_PER_BUCKET 10 /* of the energy's source */
#define INTERVALS_PER_BUCKET 2
#define COVERED_LEAST 0.25
#define POWER_PERIODS 10 /* with fewer, readings alias with the updates */
#define POWER_LEAST_NS 5e7

static const char *copy(const struct assay__sensors *sensors, const char *text)
{
    return assay__arena_text(sensors->profile->arena, "%s", text ? text : "");
}

static double *column(const struct assay__sensors *sensors, size_t count)
{
    return assay__arena_array(sensors->profile->arena, count, sizeof(double));
}

static double since_origin(const struct assay__sensors *sensors, uint64_t time_ns)
{
    return (double)(int64_t)(time_ns - sensors->origin_ns);
}

static bool has_name(const struct assay__trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->series_count; i++)
        if (trial->series[i].launch == 0 && strcmp(trial->series[i].name, name) == 0) return true;
    return false;
}

/* A name that no other series of the trial has. */
static const char *unique(const struct assay__sensors *sensors, const char *name, const char *probe)
{
    struct assay__arena *arena = sensors->profile->arena;
    const char *made = copy(sensors, name);
    if (has_name(sensors->trial, made)) made = assay__arena_text(arena, "%s.%s", name, probe);
    for (int i = 2; *made && has_name(sensors->trial, made); i++)
        made = assay__arena_text(arena, "%s.%s#%d", name, probe, i);
    return made;
}

static int add(const struct assay__sensors *sensors, const struct assay__series_info *info)
{
    if (assay__arena_failed(sensors->profile->arena)) return ASSAY_ENOMEM;
    return assay__trial_add_series(sensors->profile, sensors->trial, info);
}

/* --- channels --------------------------------------------------------------------------------- */

/* Channels of one probe share their times. */
struct shared_times {
    const struct assay__probe_ops *ops;
    const uint64_t *from;
    double *times_ns;
};

static int add_channel(const struct assay__sensors *sensors, const struct assay__series *series,
                       struct shared_times *shared)
{
    const struct assay__channel *channel = series->channel;
    bool any = false;
    for (size_t i = 0; i < series->count && !any; i++)
        any = isfinite(series->values[i]);
    const char *reason = series->reason && *series->reason ? series->reason : "";
    if (!any && !*reason) reason = "nothing was read";
    if (any && assay__series_seldom(sensors, series)) /* it costs too much */
        reason = assay__arena_text(sensors->profile->arena,
                                   "%s%sread every %s, and at the edges of what was measured: a "
                                   "reading of %s takes %s of CPU time",
                                   reason, *reason ? "; " : "",
                                   assay__scaled(series->interval_s, "s").text, series->ops->name,
                                   assay__scaled(series->read_s, "s").text);
    struct assay__series_info info = {
        .name = unique(sensors, channel->name, series->ops->name),
        .quantity = copy(sensors, channel->quantity),
        .rail = copy(sensors, channel->rail),
        .unit = copy(sensors, channel->unit),
        .probe = copy(sensors, series->ops->name),
        .source = copy(sensors, channel->source),
        .state = any ? ASSAY_MEASURED : ASSAY_UNAVAILABLE,
        .note = copy(sensors, reason),
        .counter = channel->kind == ASSAY__CHANNEL_COUNTER,
        .period_s = series->period_s,
        .period_is_bound = series->period_is_bound,
    };
    if (any) {
        if (shared->ops != series->ops || shared->from != series->times_ns) {
            *shared = (struct shared_times){series->ops, series->times_ns,
                                            column(sensors, series->count)};
            for (size_t i = 0; shared->times_ns && i < series->count; i++)
                shared->times_ns[i] = since_origin(sensors, series->times_ns[i]);
        }
        info.count = series->count;
        info.times_ns = shared->times_ns;
        info.values = column(sensors, series->count);
        if (!info.times_ns || !info.values) return ASSAY_ENOMEM;
        memcpy(info.values, series->values, series->count * sizeof(double));
    }
    return add(sensors, &info);
}

/* --- power from a counter --------------------------------------------------------------------- */

static int add_power(const struct assay__sensors *sensors, const struct assay__series *series)
{
    double period_ns = isnan(series->period_s) ? 0 : POWER_PERIODS * series->period_s * 1e9;
    period_ns = fmax(period_ns, POWER_LEAST_NS) * (1 - 1e-9);
    double *times_ns = column(sensors, series->count), *values = column(sensors, series->count);
    size_t count = 0, last = SIZE_MAX;
    if (!times_ns || !values) return ASSAY_ENOMEM;
    for (size_t i = 0; i < series->count; i++) {
        bool known = isfinite(series->values[i]);
        double span_ns = last == SIZE_MAX ? 0
                                          : (double)(series->times_ns[i] - series->times_ns[last]);
        if (known && last != SIZE_MAX && (span_ns < period_ns || span_ns <= 0)) continue;
        if (last != SIZE_MAX) {
            times_ns[count] = since_origin(sensors, series->times_ns[i]) - span_ns / 2;
            values[count++] = known ? (series->values[i] - series->values[last]) / (span_ns * 1e-9)
                                    : (double)NAN;
        }
        last = known ? i : SIZE_MAX;
    }
    if (count == 0) return 0;
    const char *name = assay__arena_text(sensors->profile->arena, "power.%s",
                                         series->channel->rail);
    struct assay__series_info info = {
        .name = unique(sensors, name, "counter"),
        .quantity = "power",
        .rail = copy(sensors, series->channel->rail),
        .unit = "W",
        .probe = copy(sensors, series->ops->name),
        .source = copy(sensors, series->channel->source),
        .state = ASSAY_DERIVED,
        .note = "increase of the energy counter / time, over at least 10 of its update periods and "
                "50 ms",
        .period_s = series->period_s,
        .period_is_bound = series->period_is_bound,
        .count = count,
        .times_ns = times_ns,
        .values = values,
    };
    return add(sensors, &info);
}

/* --- inferences over time --------------------------------------------------------------------- */

struct buckets {
    uint64_t begin_ns;
    double width_ns;
    size_t count;
    double *done, *covered_ns;
};

/* Spreads `amount` over [from, to], in ns since the start of the first bucket. */
static void spread(const struct buckets *buckets, double *into, double from, double to,
                   double amount)
{
    if (!(to > from)) {
        size_t at = (size_t)(from / buckets->width_ns);
        into[at < buckets->count ? at : buckets->count - 1] += amount;
        return;
    }
    for (size_t b = (size_t)(from / buckets->width_ns); b < buckets->count; b++) {
        double low = fmax(from, (double)b * buckets->width_ns);
        double high = fmin(to, (double)(b + 1) * buckets->width_ns);
        if (high <= low) break;
        into[b] += amount * (high - low) / (to - from);
    }
}

static void spread_window(const struct buckets *buckets, const struct assay__sensor_window *window)
{
    double from = (double)(window->begin_ns - buckets->begin_ns);
    double to = (double)(window->end_ns - buckets->begin_ns), sum = 0;
    spread(buckets, buckets->covered_ns, from, to, to - from);
    for (size_t i = 0; i < window->sample_count; i++)
        sum += window->samples_ns[i];
    if (!window->samples_ns || !(sum > 0) || !isfinite(sum)) {
        spread(buckets, buckets->done, from, to, (double)window->completions);
        return;
    }
    double at = from, scale = (to - from) / sum;
    for (size_t i = 0; i < window->sample_count; i++) {
        double next = fmin(at + window->samples_ns[i] * scale, to);
        spread(buckets, buckets->done, at, next, 1);
        at = next;
    }
}

/* Energy of the rails in the measured part of bucket b; NaN: unknown. */
static double energy_in(const struct assay__sensors *sensors, const struct assay__rails *rails,
                        const struct buckets *buckets, size_t b)
{
    uint64_t low = buckets->begin_ns + (uint64_t)((double)b * buckets->width_ns);
    uint64_t high = buckets->begin_ns + (uint64_t)((double)(b + 1) * buckets->width_ns);
    double sum = 0;
    for (size_t w = 0; w < sensors->window_count; w++) {
        const struct assay__sensor_window *window = &sensors->windows[w];
        uint64_t from = window->begin_ns > low ? window->begin_ns : low;
        uint64_t to = window->end_ns < high ? window->end_ns : high;
        for (size_t r = 0; r < rails->count && from < to; r++) {
            struct assay__window energy;
            assay__sampler_energy(sensors->sampler, rails->names[r], from, to, false, &energy);
            if (energy.available)
                sum += energy.growth;
            else if ((double)(to - from) > 0.1 * buckets->width_ns)
                return NAN; /* a short piece in which the counter did not move does not matter */
        }
    }
    return sum;
}

/* The longest update period of the rails' sources, and the longest interval between readings. */
static double period_of(const struct assay__sensors *sensors, const struct assay__rails *rails,
                        double *interval_s)
{
    double longest = 0;
    for (size_t r = 0; r < rails->count; r++) {
        struct assay__sensed sensed;
        assay__sensed_rail(sensors, rails->names[r], &sensed);
        if (!sensed.available) return NAN;
        const struct assay__series *series = &sensors->series[sensed.index];
        double period_s = series->period_s;
        *interval_s = fmax(*interval_s, series->interval_s);
        /* If the bound is our own interval, it says nothing about the source. */
        if (series->period_is_bound && assay__series_seldom(sensors, series)) continue;
        if (isfinite(period_s)) longest = fmax(longest, period_s);
    }
    return rails->count ? longest : NAN;
}

static int add_buckets(const struct assay__sensors *sensors, const struct assay__rails *rails,
                       double width_s, bool energy)
{
    uint64_t begin_ns = sensors->windows[0].begin_ns;
    double length_ns = (double)(sensors->windows[sensors->window_count - 1].end_ns - begin_ns);
    double width_ns = fmax(width_s * 1e9, length_ns / BUCKETS_MOST);
    size_t count = (size_t)ceil(length_ns / width_ns);
    if (count == 0) return 0;
    double *times_ns = column(sensors, count), *values = column(sensors, count);
    struct buckets buckets = {begin_ns, width_ns, count, column(sensors, count),
                              column(sensors, count)};
    if (!times_ns || !values || !buckets.done || !buckets.covered_ns) return ASSAY_ENOMEM;
    for (size_t w = 0; w < sensors->window_count; w++)
        spread_window(&buckets, &sensors->windows[w]);
    for (size_t b = 0; b < count; b++) {
        double over = energy ? energy_in(sensors, rails, &buckets, b)
                             : buckets.covered_ns[b] * 1e-9;
        bool enough = buckets.covered_ns[b] >= COVERED_LEAST * fmin(width_ns, length_ns);
        times_ns[b] = since_origin(sensors, begin_ns) + ((double)b + 0.5) * width_ns;
        values[b] = enough && over > 0 ? buckets.done[b] / over : (double)NAN;
    }
    struct assay__series_info info = {
        .name = energy ? "efficiency.inferences_per_joule" : "throughput.inferences",
        .quantity = energy ? "efficiency" : "throughput",
        .rail = energy ? copy(sensors, rails->names[0]) : "",
        .unit = energy ? "1/J" : "1/s",
        .probe = "",
        .source = energy ? "sensors" : "clock",
        .state = ASSAY_DERIVED,
        .note = energy ? "inferences / energy of the rails of power.average, in equal spans"
                       : "inferences / measured time, in equal spans",
        .period_s = width_ns * 1e-9,
        .count = count,
        .times_ns = times_ns,
        .values = values,
    };
    return add(sensors, &info);
}

static int add_rates(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    if (sensors->window_count == 0) return 0;
    double length_s = (double)(sensors->windows[sensors->window_count - 1].end_ns -
                               sensors->windows[0].begin_ns) *
                      1e-9;
    double width_s = fmax(fmin(BUCKET_S, length_s / BUCKETS_LEAST), BUCKET_LEAST_S);
    double interval_s = sensors->interval_s, period_s = period_of(sensors, rails, &interval_s);
    int code = add_buckets(sensors, rails, width_s, false);
    if (code || isnan(period_s)) return code;
    width_s = fmax(width_s, fmax(INTERVALS_PER_BUCKET * interval_s, PERIODS_PER_BUCKET * period_s));
    return add_buckets(sensors, rails, width_s, true);
}

/* Probes that were abandoned while being opened. */
static int add_given_up(const struct assay__sensors *sensors)
{
    int code = 0;
    for (size_t i = 0; i < assay__sampler_probe_count(sensors->sampler) && code == 0; i++) {
        struct assay__probe_cost probe;
        bool has_channels = false;
        assay__sampler_probe_cost(sensors->sampler, i, &probe);
        for (size_t k = 0; k < sensors->series_count && !has_channels; k++)
            has_channels = sensors->series[k].ops == probe.ops;
        if (!probe.blocked || has_channels) continue;
        struct assay__series_info info = {.name = unique(sensors, probe.ops->name, "probe"),
                                          .quantity = "state",
                                          .rail = "",
                                          .unit = "1",
                                          .probe = copy(sensors, probe.ops->name),
                                          .source = copy(sensors, probe.ops->name),
                                          .state = ASSAY_UNAVAILABLE,
                                          .note = copy(sensors, probe.reason),
                                          .period_s = NAN};
        code = add(sensors, &info);
    }
    return code;
}

int assay__sensors_series(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    struct shared_times shared = {NULL, NULL, NULL};
    int code = 0;
    for (size_t i = 0; i < sensors->series_count && code == 0; i++)
        code = add_channel(sensors, &sensors->series[i], &shared);
    for (size_t i = 0; i < sensors->series_count && code == 0; i++) {
        const struct assay__series *series = &sensors->series[i];
        if (strcmp(series->channel->quantity, "energy") == 0 && series->count > 1 &&
            series->channel->kind == ASSAY__CHANNEL_COUNTER && *series->channel->rail &&
            !(assay__series_seldom(sensors, series) &&
              assay__sensors_sampled(sensors, series->channel->rail) != SIZE_MAX))
            code = add_power(sensors, series);
    }
    if (code == 0) code = add_rates(sensors, rails);
    if (code == 0) code = add_given_up(sensors);
    if (code == 0 && sensors->idle_end_ns > sensors->idle_begin_ns) {
        struct assay__span idle = {0, "idle", since_origin(sensors, sensors->idle_begin_ns),
                                   since_origin(sensors, sensors->idle_end_ns), 0};
        code = assay__trial_add_span(sensors->profile, sensors->trial, &idle);
    }
    return code;
}
