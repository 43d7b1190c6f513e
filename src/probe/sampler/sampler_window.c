/* sampler_window.c - queries about a window of time: growth of counters, trapezoids of gauges, the
 * update period and the marks of sampler.h. Values at the ends of a window are interpolated
 * linearly between two readings; if one of the two is missing, there is no value. */
#include "probe/sampler/sampler_state.h"

#include "base/search.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PERIODS_NEEDED 10
#define STILL_READINGS 3 /* that repeat the one before */
/* shorter gaps are not a loss: whatever writes the file may have to wait for a CPU */
#define STILL_LEAST_S 0.25

struct column {
    const uint64_t *times_ns;
    const double *values;
    size_t count;
};

size_t assay__sampler_count(const struct assay__sampler *sampler)
{
    return sampler->track_count;
}

void assay__sampler_series(struct assay__sampler *sampler, size_t index,
                           struct assay__series *series)
{
    pthread_mutex_lock(&sampler->lock);
    const struct assay__track *track = &sampler->tracks[index];
    const struct assay__sampled_probe *probe = &sampler->probes[track->probe];
    *series = (struct assay__series){.ops = probe->ops,
                                     .channel = track->channel,
                                     .count = track->values ? probe->count : 0,
                                     .times_ns = probe->times_ns,
                                     .values = track->values,
                                     .readings = track->readings,
                                     .failures = track->failures,
                                     .available = track->available,
                                     .reason = track->reason,
                                     .first_value = track->first,
                                     .changes = track->changes};
    series->interval_s = (double)probe->interval_ns * 1e-9;
    series->read_s = probe->costs ? probe->cpu_ns * 1e-9 : (double)NAN;
    series->period_s = assay__track_period(track, series->interval_s, &series->period_is_bound);
    pthread_mutex_unlock(&sampler->lock);
}

void assay__sampler_latest(struct assay__sampler *sampler, size_t index,
                           struct assay__latest *latest)
{
    pthread_mutex_lock(&sampler->lock);
    const struct assay__track *track = &sampler->tracks[index];
    *latest = (struct assay__latest){.value = track->latest,
                                     .time_ns = track->latest_ns,
                                     .lost = !track->channel->available ||
                                             sampler->probes[track->probe].blocked};
    if (latest->lost) latest->value = NAN;
    if (!isfinite(latest->value)) {
        latest->value = NAN;
        memcpy(latest->reason, track->reason, sizeof latest->reason);
    }
    pthread_mutex_unlock(&sampler->lock);
}

static void refuse(struct assay__window *window, const char *format, ...) ASSAY_PRINTF(2, 3);

static void refuse(struct assay__window *window, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(window->reason, sizeof window->reason, format, args);
    va_end(args);
    window->available = false;
    window->average = window->least = window->greatest = window->growth = NAN;
}

/* --- the line through the readings ------------------------------------------------------------ */

/* Index of the first reading at or after time_ns; `count` if there is none. */
static size_t first_at(const struct column *column, uint64_t time_ns)
{
    return assay__count_before(column->times_ns, column->count, time_ns);
}

static double seconds_between(uint64_t begin_ns, uint64_t end_ns)
{
    return (double)(end_ns - begin_ns) * 1e-9;
}

/* The value at a time between two readings; NaN: one of them is missing. */
static double value_at(const struct column *column, uint64_t time_ns)
{
    size_t after = first_at(column, time_ns);
    if (after == column->count) return NAN;
    if (column->times_ns[after] == time_ns) return column->values[after];
    if (after == 0) return NAN;
    double span_s = seconds_between(column->times_ns[after - 1], column->times_ns[after]);
    double part = seconds_between(column->times_ns[after - 1], time_ns) / span_s;
    return column->values[after - 1] + part * (column->values[after] - column->values[after - 1]);
}

/* Whether the readings cover the window; the reason if not. */
static bool covered(const struct column *column, uint64_t begin_ns, uint64_t end_ns,
                    const struct assay__track *track, struct assay__window *window)
{
    if (column->count == 0) {
        refuse(window, "%s", *track->reason ? track->reason : "nothing was read");
    } else if (begin_ns < column->times_ns[0]) {
        refuse(window, "the window starts %.3g s before the first reading",
               seconds_between(begin_ns, column->times_ns[0]));
    } else if (end_ns > column->times_ns[column->count - 1]) {
        bool ended = !track->available && *track->reason; /* then that is the reason */
        refuse(window, "%s%sthe window ends %.3g s after the last reading",
               ended ? track->reason : "", ended ? "; " : "",
               seconds_between(column->times_ns[column->count - 1], end_ns));
    } else {
        return true;
    }
    return false;
}

/* --- gauges ----------------------------------------------------------------------------------- */

static void window_gauge(const struct column *column, uint64_t begin_ns, uint64_t end_ns,
                         const struct assay__track *track, struct assay__window *window)
{
    double value = value_at(column, begin_ns), integral = 0;
    uint64_t time_ns = begin_ns;
    size_t first = first_at(column, begin_ns), failed = 0;
    window->method = ASSAY__WINDOW_SAMPLED;
    for (size_t i = first; i < column->count && column->times_ns[i] <= end_ns; i++) {
        double next = column->values[i];
        failed += isnan(next);
        integral += (value + next) / 2 * seconds_between(time_ns, column->times_ns[i]);
        window->least = fmin(window->least, next); /* fmin ignores the initial NaN */
        window->greatest = fmax(window->greatest, next);
        value = next;
        time_ns = column->times_ns[i];
        window->samples++;
    }
    integral += (value + value_at(column, end_ns)) / 2 * seconds_between(time_ns, end_ns);
    if (isnan(integral)) {
        if (failed)
            refuse(window, "%zu of %zu readings failed: %s", failed, window->samples,
                   track->reason);
        else
            refuse(window, "a reading at the edge of the window failed: %s", track->reason);
        return;
    }
    window->growth = integral;
    window->average = integral / window->seconds;
    window->available = true;
}

/* --- counters --------------------------------------------------------------------------------- */

static void window_counter(const struct column *column, uint64_t begin_ns, uint64_t end_ns,
                           const struct assay__track *track, double period_s,
                           struct assay__window *window)
{
    size_t first = first_at(column, begin_ns), end = first;
    window->method = ASSAY__WINDOW_COUNTER;
    while (end < column->count && column->times_ns[end] <= end_ns)
        end++;
    window->samples = end - first;
    double growth = value_at(column, end_ns) - value_at(column, begin_ns);
    if (isnan(growth)) {
        refuse(window, "a reading at the edge of the window failed: %s",
               *track->reason ? track->reason : "no value");
        return;
    }
    window->growth = growth;
    window->average = growth / window->seconds;
    window->available = true;
    /* Rates over spans of at least 10 periods between readings inside the window. */
    double span_s = PERIODS_NEEDED * period_s * (1 - 1e-9);
    for (size_t i = first, j = first; !isnan(period_s) && i < end; i++) {
        while (j < end &&
               (j <= i || seconds_between(column->times_ns[i], column->times_ns[j]) < span_s))
            j++;
        if (j == end) return;
        double rate = (column->values[j] - column->values[i]) /
                      seconds_between(column->times_ns[i], column->times_ns[j]);
        window->least = fmin(window->least, rate);
        window->greatest = fmax(window->greatest, rate);
    }
}

/* --- marks ------------------------------------------------------------------------------------ */

static bool quantity_is(const struct assay__track *track, const char *list)
{
    return assay__text_is_one_of(track->channel->quantity, list);
}

/* Constant zero, as described in sampler.h. */
static void doubt_zero(const struct assay__track *track, bool load, struct assay__window *window)
{
    if (!window->available || window->growth != 0) return;
    if (window->method == ASSAY__WINDOW_SAMPLED) {
        if (load && quantity_is(track, "power temperature clock") && !(window->greatest > 0) &&
            !(window->least < 0))
            refuse(window, "it read only 0 in %.3g s of load: not credible", window->seconds);
    } else if (quantity_is(track, "energy")) {
        refuse(window, "the counter did not move in %.3g s%s", window->seconds,
               load ? " of load: not credible" : ": too short, or the counter is not connected");
    }
}

/* Standing still, as described in sampler.h. The period may have begun before the window and may
 * continue after it. */
static void doubt_still(const struct column *column, uint64_t begin_ns, uint64_t end_ns,
                        const struct assay__track *track, double period_s, bool is_bound,
                        struct assay__window *window)
{
    double least_s = fmax(PERIODS_NEEDED * period_s, STILL_LEAST_S);
    size_t first = first_at(column, begin_ns), last;
    if (!window->available || window->method != ASSAY__WINDOW_COUNTER ||
        !quantity_is(track, "energy") || isnan(period_s))
        return;
    if (first > 0) first--; /* the reading before the window */
    while (first > 0 && column->values[first - 1] == column->values[first])
        first--;
    for (; first < column->count && column->times_ns[first] < end_ns; first = last + 1) {
        last = first;
        while (last + 1 < column->count && column->values[last + 1] == column->values[first])
            last++;
        double still_s = seconds_between(column->times_ns[first], column->times_ns[last]);
        if (last - first < STILL_READINGS || still_s < least_s ||
            column->times_ns[last] <= begin_ns)
            continue;
        refuse(
            window,
            "the counter did not change for %.3g s, although it updates every %s%s: not credible",
            still_s, is_bound ? "≤ " : "", assay__scaled(period_s, "s").text);
        return;
    }
}

/* Times, counts, states and memory change when something happens, not at a fixed pace: they
 * are never short. */
static void mark_short(const struct assay__track *track, double period_s, bool is_bound,
                       struct assay__window *window)
{
    if (isnan(period_s) && quantity_is(track, "energy power")) {
        window->is_short = true;
        snprintf(window->note, sizeof window->note,
                 "the update period of the source is unknown: too few changes seen");
    } else if (!quantity_is(track, "time count state memory") &&
               window->seconds < PERIODS_NEEDED * period_s) {
        window->is_short = true;
        snprintf(window->note, sizeof window->note,
                 "shorter than %d update periods of the source (%s%.3g s)", PERIODS_NEEDED,
                 is_bound ? "at most " : "", period_s);
    }
}

void assay__sampler_window(struct assay__sampler *sampler, size_t index, uint64_t begin_ns,
                           uint64_t end_ns, bool load, struct assay__window *window)
{
    *window = (struct assay__window){.index = index, .seconds = NAN};
    window->average = window->least = window->greatest = window->growth = NAN;
    if (index >= sampler->track_count || end_ns <= begin_ns) {
        refuse(window, "no such window");
        return;
    }
    pthread_mutex_lock(&sampler->lock);
    const struct assay__track *track = &sampler->tracks[index];
    const struct assay__sampled_probe *probe = &sampler->probes[track->probe];
    struct column column = {probe->times_ns, track->values, track->values ? probe->count : 0};
    bool is_bound;
    double period_s = assay__track_period(track, (double)probe->interval_ns * 1e-9, &is_bound);
    window->seconds = seconds_between(begin_ns, end_ns);
    if (covered(&column, begin_ns, end_ns, track, window)) {
        if (track->channel->kind == ASSAY__CHANNEL_COUNTER)
            window_counter(&column, begin_ns, end_ns, track, period_s, window);
        else
            window_gauge(&column, begin_ns, end_ns, track, window);
        doubt_zero(track, load, window);
        doubt_still(&column, begin_ns, end_ns, track, period_s, is_bound, window);
        if (window->available) mark_short(track, period_s, is_bound, window);
    }
    pthread_mutex_unlock(&sampler->lock);
}

/* --- energy ----------------------------------------------------------------------------------- */

/* The first channel of the rail and quantity that has a value; otherwise the last refusal stays in
 * `window`. */
static bool energy_of(struct assay__sampler *sampler, const char *rail, const char *quantity,
                      uint64_t begin_ns, uint64_t end_ns, bool load, struct assay__window *window)
{
    bool counter = strcmp(quantity, "energy") == 0;
    for (size_t i = 0; i < sampler->track_count; i++) {
        const struct assay__track *track = &sampler->tracks[i];
        if (strcmp(track->channel->rail, rail) != 0 || !quantity_is(track, quantity)) continue;
        if ((track->channel->kind == ASSAY__CHANNEL_COUNTER) != counter) continue;
        assay__sampler_window(sampler, i, begin_ns, end_ns, load, window);
        if (window->available) return true;
    }
    return false;
}

void assay__sampler_energy(struct assay__sampler *sampler, const char *rail, uint64_t begin_ns,
                           uint64_t end_ns, bool load, struct assay__window *window)
{
    struct assay__window counter = {.reason = ""}, sampled = {.reason = ""};
    if (energy_of(sampler, rail, "energy", begin_ns, end_ns, load, &counter)) {
        *window = counter;
        return;
    }
    if (energy_of(sampler, rail, "power", begin_ns, end_ns, load, &sampled)) {
        *window = sampled;
        if (!*counter.reason) return;
        char note[sizeof window->note];
        snprintf(note, sizeof note,
                 "from sampled power, because the counter has no value (%.120s)%s%.160s",
                 counter.reason, *sampled.note ? "; " : "", sampled.note);
        memcpy(window->note, note, sizeof note);
        return;
    }
    *window = *counter.reason ? counter : sampled;
    if (!*window->reason) {
        *window = (struct assay__window){.index = SIZE_MAX, .seconds = NAN};
        refuse(window, "nothing here measures the energy or power of %s", rail);
    }
}

double assay__window_net(const struct assay__window *gross, const struct assay__window *idle,
                         const char **reason)
{
    *reason = !gross->available ? gross->reason : !idle->available ? idle->reason : "";
    if (!gross->available || !idle->available) return NAN;
    return gross->growth - idle->average * gross->seconds;
}
