/* sampler_track.c - one channel's readings: growth of counters, wraps, faults, and the time between
 * changes. The rules are those of sampler.h. */
#include "probe/sampler/sampler_state.h"

#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GAPS_NEEDED 3

/* --- changes ---------------------------------------------------------------------------------- */

/* The period from the gaps alone, without an earlier calibration. */
static double period_seen(const struct assay__track *track, double interval_s, bool *is_bound)
{
    double sorted[SAMPLER_GAPS], sum = 0;
    size_t count = track->gap_count < SAMPLER_GAPS ? track->gap_count : SAMPLER_GAPS, kept = 0;
    *is_bound = false;
    if (count < GAPS_NEEDED) return NAN;
    memcpy(sorted, track->gaps_s, count * sizeof *sorted);
    assay__stats_sort(sorted, count);
    double limit = 1.5 * sorted[(count - 1) / 2] + interval_s;
    while (kept < count && sorted[kept] <= limit)
        sum += sorted[kept++];
    double period_s = sum / (double)kept;
    *is_bound = period_s < 2 * interval_s;
    return period_s;
}

double assay__track_period(const struct assay__track *track, double interval_s, bool *is_bound)
{
    double period_s = period_seen(track, interval_s, is_bound);
    if (isnan(track->calibrated_s)) return period_s;
    if (!isnan(period_s) && !*is_bound && period_s > track->calibrated_s) return period_s;
    *is_bound = track->calibrated_bound;
    return track->calibrated_s;
}

void assay__track_calibrated(struct assay__track *track, double interval_s)
{
    track->calibrated_s = period_seen(track, interval_s, &track->calibrated_bound);
    track->have_seen = track->have_change = false;
    track->gap_count = 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static double fault(struct assay__track *track, const char *what, double value)
{
    snprintf(track->reason, sizeof track->reason, "%s: from %.12g to %.12g %s; no longer read",
             what, track->last, value, track->channel->unit);
    track->available = false;
    return NAN;
}

/* The growth since the first reading. */
static double count_on(struct assay__track *track, double value)
{
    double range = track->channel->range;
    if (!isnan(range) && value > range * (1 + 1e-9))
        return fault(track, "the counter is above its own range", value);
    if (!track->have_last) {
        track->first = value;
    } else {
        double step = value - track->last;
        if (step < 0 && !isnan(range) && -step > range / 2) step += range; /* it wrapped */
        if (step < 0) return fault(track, "the counter went backwards", value);
        track->growth += step;
    }
    track->last = value;
    track->have_last = true;
    return track->growth;
}

double assay__track_take(struct assay__track *track, double value, const char *reason,
                         uint64_t time_ns)
{
    if (!track->available) return NAN;
    track->readings++;
    if (!isfinite(value)) {
        track->failures++;
        snprintf(track->reason, sizeof track->reason, "%s",
                 reason && *reason ? reason : "the probe gave no value");
        track->have_seen = track->have_change = false; /* no gap spans a failure */
        return NAN;
    }
    if (track->have_seen && value != track->seen) {
        if (track->have_change && time_ns > track->change_ns) {
            double gap_s = (double)(time_ns - track->change_ns) * 1e-9;
            track->gaps_s[track->gap_count++ % SAMPLER_GAPS] = gap_s;
        }
        track->have_change = true;
        track->change_ns = time_ns;
        track->changes++;
    }
    track->seen = value;
    track->have_seen = true;
    return track->channel->kind == ASSAY__CHANNEL_COUNTER ? count_on(track, value) : value;
}
