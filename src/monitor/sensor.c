/* sensor.c - bounds, wraps, resets, standing still: the rules of sensor.h. */
#include "monitor/sensor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHARE_SLACK 1.02
#define POWER_MOST_W 10000.0
#define STILL_PERIODS 10
#define STILL_LEAST_S 2.0
#define HELD_PERIODS 2.5 /* that a source may be late */
#define REPEATS_PERIODS 100
#define REPEATS_LEAST_S 10.0
#define CHANGES_NEEDED 3

static const struct bound {
    const char *quantity;
    double low, high;
} bounds[] = {
    {"utilization", 0, 1},
    {"temperature", -55, 150},
    {"clock", 1, 2e10}, /* 0: the source has no value, or the device sleeps */
    {"memory", 0, 1125899906842624.0 /* 1 PiB: a sentinel otherwise */},
    {"fan", 0, 2000},
    {"bandwidth", 0, 1e14},
    {"power", 0, POWER_MOST_W},
    {"count", 0, 1e18},
};

static bool is(const struct assay__sensor *sensor, const char *quantity)
{
    return strcmp(sensor->channel->quantity, quantity) == 0;
}

static bool is_counter(const struct assay__sensor *sensor)
{
    return sensor->channel->kind == ASSAY__CHANNEL_COUNTER;
}

void assay__sensor_init(struct assay__sensor *sensor, const struct assay__channel *channel,
                        double limit_w)
{
    *sensor = (struct assay__sensor){.channel = channel,
                                     .limit_w = limit_w,
                                     .value = NAN,
                                     .last = NAN,
                                     .change = NAN,
                                     .period_s = NAN,
                                     .shown = NAN};
    snprintf(sensor->reason, sizeof sensor->reason, "%s",
             channel->available ? "not read yet" : channel->reason);
}

const char *assay__sensor_unit(const struct assay__channel *channel)
{
    if (channel->kind != ASSAY__CHANNEL_COUNTER) return channel->unit;
    if (strcmp(channel->quantity, "energy") == 0) return "W";
    return strcmp(channel->quantity, "time") == 0 ? "ratio" : "1/s";
}

/* --- verdicts --------------------------------------------------------------------------------- */

static void refuse(struct assay__sensor *sensor, const char *format, ...) ASSAY_PRINTF(2, 3);

static void refuse(struct assay__sensor *sensor, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(sensor->reason, sizeof sensor->reason, format, args);
    va_end(args);
    sensor->value = NAN;
    sensor->state = ASSAY_UNAVAILABLE;
}

static void accept(struct assay__sensor *sensor, double value)
{
    sensor->value = value;
    sensor->state = is_counter(sensor) ? ASSAY_DERIVED : ASSAY_MEASURED;
    sensor->reason[0] = '\0';
}

/* Power of a gauge or a counter. */
static void judge_power(struct assay__sensor *sensor, double watts)
{
    double most_w = isnan(sensor->limit_w) ? POWER_MOST_W : 2 * sensor->limit_w;
    if (watts >= 0 && watts <= most_w) {
        accept(sensor, watts);
        return;
    }
    if (watts < 0)
        refuse(sensor, "it reads %.4g W: power cannot be negative", watts);
    else if (isnan(sensor->limit_w))
        refuse(sensor, "it reads %.4g W: not plausible", watts);
    else
        refuse(sensor, "it reads %.4g W, more than twice the limit of %.4g W: not plausible", watts,
               sensor->limit_w);
}

static void judge_share(struct assay__sensor *sensor, double share)
{
    if (share >= 0 && share <= SHARE_SLACK)
        accept(sensor, fmin(share, 1));
    else
        refuse(sensor, "it grew by %.4g s per second: not plausible", share);
}

static void judge_gauge(struct assay__sensor *sensor, double value)
{
    const struct assay__channel *channel = sensor->channel;
    if (is(sensor, "power")) {
        judge_power(sensor, value);
        return;
    }
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        const struct bound *bound = &bounds[i];
        if (!is(sensor, bound->quantity) || (value >= bound->low && value <= bound->high)) continue;
        refuse(sensor, "it reads %.6g %s: %s", value, channel->unit,
               value == 0 ? "the device sleeps, or its source has no value" : "not plausible");
        return;
    }
    accept(sensor, value);
}

/* --- changes ---------------------------------------------------------------------------------- */

/* Notes that the reading differs from the one before; the mean of the gaps, of the last ones. */
static void note_change(struct assay__sensor *sensor, double reading, uint64_t time_ns)
{
    if (sensor->change_ns) {
        double gap_s = (double)(time_ns - sensor->change_ns) * 1e-9;
        uint64_t weight = ++sensor->changes < 16 ? sensor->changes : 16;
        if (isnan(sensor->period_s)) sensor->period_s = gap_s;
        sensor->period_s += (gap_s - sensor->period_s) / (double)weight;
    }
    sensor->change = reading;
    sensor->change_ns = time_ns;
}

/* For how long the reading has repeated, if that is longer than so many of its periods. */
static bool stands_still(const struct assay__sensor *sensor, uint64_t time_ns, double periods,
                         double least_s, double *still_s)
{
    uint64_t since_ns = sensor->change_ns ? sensor->change_ns : sensor->begin_ns;
    *still_s = (double)(time_ns - since_ns) * 1e-9;
    if (!sensor->change_ns) return *still_s > least_s;
    double limit_s = sensor->changes < CHANGES_NEEDED ? least_s
                                                      : fmax(periods * sensor->period_s, least_s);
    return *still_s > limit_s;
}

/* --- readings --------------------------------------------------------------------------------- */

static void take_gauge(struct assay__sensor *sensor, double reading, uint64_t time_ns)
{
    double still_s;
    if (!isnan(sensor->last) && reading != sensor->last) note_change(sensor, reading, time_ns);
    sensor->last = reading;
    sensor->moved |= reading != 0;
    judge_gauge(sensor, reading);
    if (isnan(sensor->value)) return;
    if (!sensor->moved && (is(sensor, "power") || is(sensor, "temperature")))
        refuse(sensor, "it has only ever read 0 %s: no sensor is connected", sensor->channel->unit);
    else if (is(sensor, "power") && sensor->changes >= CHANGES_NEEDED &&
             stands_still(sensor, time_ns, REPEATS_PERIODS, REPEATS_LEAST_S, &still_s))
        refuse(sensor, "it has repeated %.6g W for %.3g s: it stands still", reading, still_s);
}

/* The growth since the last reading; NaN: there is none, and the value says why. */
static double growth(struct assay__sensor *sensor, double reading)
{
    double range = sensor->channel->range, last = sensor->last;
    if (!isnan(range) && reading > range * (1 + 1e-9)) {
        refuse(sensor, "the counter is at %.6g %s, above its own range: not plausible", reading,
               sensor->channel->unit);
        return NAN;
    }
    if (isnan(last)) {
        refuse(sensor, "waiting for a second reading");
        return NAN;
    }
    double step = reading - last;
    if (step < 0 && !isnan(range) && -step > range / 2) step += range; /* it wrapped */
    if (step >= 0) return step;
    refuse(sensor, "the counter went backwards, from %.6g to %.6g %s: a reset, or a fault", last,
           reading, sensor->channel->unit);
    return NAN;
}

/* Power between two changes of the counter; `step` was added since the last reading. */
static void take_energy(struct assay__sensor *sensor, double reading, double step, uint64_t time_ns)
{
    double still_s;
    if (step > 0) {
        uint64_t since_ns = sensor->change_ns;
        note_change(sensor, reading, time_ns);
        if (since_ns) { /* all growth since then came in this step */
            double seconds = (double)(time_ns - since_ns) * 1e-9;
            judge_power(sensor, step / seconds);
            sensor->shown = sensor->value;
            if (isnan(sensor->value)) return;
            sensor->grown_s += seconds;
            sensor->grown += step;
            return;
        }
        refuse(sensor, "waiting for the counter's next change");
        sensor->shown = NAN;
    } else if (stands_still(sensor, time_ns, STILL_PERIODS, STILL_LEAST_S, &still_s)) {
        sensor->shown = NAN;
        refuse(sensor,
               "the counter has not changed for %.3g s: it stands still, or nothing is "
               "connected",
               still_s);
    } else if (!isnan(sensor->shown) &&
               (sensor->changes < CHANGES_NEEDED || still_s <= HELD_PERIODS * sensor->period_s)) {
        accept(sensor, sensor->shown);
    } else {
        sensor->shown = NAN;
        refuse(sensor, "waiting for the counter's next change");
    }
}

static void begin_anew(struct assay__sensor *sensor, double reading, uint64_t time_ns)
{
    sensor->last = sensor->change = reading;
    sensor->change_ns = 0;
    sensor->begin_ns = time_ns;
    sensor->shown = NAN;
}

static void take_counter(struct assay__sensor *sensor, double reading, uint64_t time_ns)
{
    double step = growth(sensor, reading);
    if (isnan(step)) {
        bool above = !isnan(sensor->channel->range) && reading > sensor->channel->range;
        begin_anew(sensor, above ? NAN : reading, time_ns);
        return;
    }
    double seconds = (double)(time_ns - sensor->time_ns) * 1e-9;
    sensor->last = reading;
    if (is(sensor, "energy")) {
        take_energy(sensor, reading, step, time_ns);
        return;
    }
    sensor->grown += step;
    sensor->grown_s += seconds;
    if (is(sensor, "time"))
        judge_share(sensor, step / seconds);
    else
        accept(sensor, step / seconds);
}

void assay__sensor_take(struct assay__sensor *sensor, double reading, const char *reason,
                        uint64_t time_ns)
{
    if (!isfinite(reading)) {
        begin_anew(sensor, NAN, time_ns);
        refuse(sensor, "%s", reason && *reason ? reason : "the probe gave no value");
    } else if (time_ns <= sensor->time_ns) {
        return; /* the clock did not move: nothing can be divided by that */
    } else if (is_counter(sensor)) {
        take_counter(sensor, reading, time_ns);
    } else {
        take_gauge(sensor, reading, time_ns);
    }
    sensor->time_ns = time_ns;
}
