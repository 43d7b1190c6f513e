/* goal.c - decides how long the next window is and when a launch has measured enough. Windows are
 * bounded by time so that several streams end together and a model that slows down does not
 * lengthen them; their length is a tenth of the measurement and at most 1 s: samples are persisted
 * between windows, so a killed run loses no more than that. */
#include "run/trial/goal.h"

#include <math.h>

#define WINDOW_LONGEST_S (ASSAY__GOAL_CAP_S / ASSAY__GOAL_WINDOWS)

static double window_seconds(const struct assay__taken *taken)
{
    double by_count = (double)(ASSAY__GOAL_ITERATIONS / ASSAY__GOAL_WINDOWS) * taken->pace_ns / 1e9;
    return fmin(fmax(by_count, ASSAY__GOAL_SECONDS / ASSAY__GOAL_WINDOWS), WINDOW_LONGEST_S);
}

/* A window of about `seconds` within the time left; a remainder shorter than half a window is added
 * to this one. */
static void plan_time(const struct assay__goal *goal, double seconds, double left,
                      struct assay__window_plan *plan)
{
    plan->seconds = left < 1.5 * seconds ? left : seconds;
    plan->iterations = goal->capacity * (size_t)goal->streams;
}

static enum assay__decision next_count(const struct assay__goal *goal,
                                       const struct assay__taken *taken,
                                       struct assay__window_plan *plan)
{
    size_t wanted = (size_t)goal->iterations;
    double left = goal->time_s > 0 ? goal->time_s - taken->wall_ns / 1e9 : INFINITY;
    if (taken->samples >= wanted || (taken->windows && left <= 0)) return ASSAY__GOAL_STOP;
    size_t size = (wanted + ASSAY__GOAL_WINDOWS - 1) / ASSAY__GOAL_WINDOWS;
    if (size < 10) size = 10;
    if (size > goal->capacity * (size_t)goal->streams)
        size = goal->capacity * (size_t)goal->streams;
    if (size > wanted - taken->samples) size = wanted - taken->samples;
    *plan = (struct assay__window_plan){size, fmin(left, WINDOW_LONGEST_S)};
    return ASSAY__GOAL_WINDOW;
}

/* Seconds still needed according to the summary: to replace samples lost to warm-up, then for
 * precision. 0: enough. */
static double seconds_missing(const struct assay__goal *goal, const struct assay__taken *taken)
{
    const struct assay__summary *summary = taken->summary;
    double streams = goal->streams, pace = summary->mean / 1e9;
    double by_time = ASSAY__GOAL_SECONDS - summary->sum_ns / 1e9 / streams;
    double by_count = ((double)ASSAY__GOAL_ITERATIONS - (double)summary->samples) * pace / streams;
    int64_t more = assay__goal_missing(summary, goal->precision);
    double by_precision = more < 0 ? window_seconds(taken) : (double)more * pace / streams;
    return fmax(fmax(by_time, by_count), fmax(by_precision, 0));
}

/* Whether more measuring would improve the median of a brief launch that others disturb. */
static bool is_too_vague(const struct assay__taken *taken)
{
    return taken->disturbed && taken->wall_ns < ASSAY__GOAL_BUSY_CAP_S * 1e9 &&
           !(taken->summary && taken->summary->half_width <= ASSAY__GOAL_BUSY_PRECISION);
}

/* The windows of a brief launch have a fixed length, known from the start. */
static enum assay__decision next_brief(const struct assay__goal *goal,
                                       const struct assay__taken *taken,
                                       struct assay__window_plan *plan)
{
    double wanted_s = fmax(ASSAY__GOAL_BRIEF_SECONDS,
                           ASSAY__GOAL_BRIEF_ITERATIONS * taken->pace_ns / 1e9);
    double window_s = fmin(wanted_s, ASSAY__GOAL_BRIEF_CAP_S) / ASSAY__GOAL_BRIEF_WINDOWS;
    if (taken->windows >= ASSAY__GOAL_BRIEF_WINDOWS && taken->samples >= goal->least) {
        if (taken->disturbed && !taken->summary) return ASSAY__GOAL_JUDGE;
        if (!is_too_vague(taken)) return ASSAY__GOAL_STOP;
    }
    *plan = (struct assay__window_plan){goal->capacity * (size_t)goal->streams, window_s};
    return ASSAY__GOAL_WINDOW;
}

static enum assay__decision next_default(const struct assay__goal *goal,
                                         const struct assay__taken *taken,
                                         struct assay__window_plan *plan)
{
    double left = ASSAY__GOAL_CAP_S - taken->wall_ns / 1e9, window = window_seconds(taken);
    /* A hard limit: no iteration is started that would end beyond it, except for the first
     * sample. */
    if (taken->windows && left * 1e9 < taken->pace_ns) {
        if (taken->samples >= goal->least) return ASSAY__GOAL_STOP;
        *plan = (struct assay__window_plan){1, ASSAY__GOAL_CAP_S};
        return ASSAY__GOAL_WINDOW;
    }
    bool least = taken->windows >= ASSAY__GOAL_WINDOWS &&
                 taken->samples >= ASSAY__GOAL_ITERATIONS &&
                 taken->wall_ns >= ASSAY__GOAL_SECONDS * 1e9;
    if (least) {
        if (!taken->summary) return ASSAY__GOAL_JUDGE;
        double more = seconds_missing(goal, taken);
        if (more <= 0) return ASSAY__GOAL_STOP;
        window = fmin(fmax(more, window / 4), 4 * window);
    }
    plan_time(goal, window, left, plan);
    double fits = taken->pace_ns > 0 ? floor(left * 1e9 / taken->pace_ns) : 0;
    size_t most = fits < 1 ? 1 : fits < (double)goal->capacity ? (size_t)fits : goal->capacity;
    plan->iterations = most * (size_t)goal->streams;
    return ASSAY__GOAL_WINDOW;
}

struct assay__goal assay__goal_amortised(const struct assay__goal *goal, double ready_s)
{
    struct assay__goal own = *goal;
    double worth_s = fmin(ASSAY__GOAL_AMORTISE * ready_s, ASSAY__GOAL_AMORTISE_CAP_S);
    if (own.amortise && worth_s > own.time_s) own.time_s = worth_s;
    return own;
}

enum assay__decision assay__goal_next(const struct assay__goal *goal,
                                      const struct assay__taken *taken,
                                      struct assay__window_plan *plan)
{
    if (goal->endless_s > 0) {
        *plan = (struct assay__window_plan){goal->capacity * (size_t)goal->streams,
                                            goal->endless_s};
        return ASSAY__GOAL_WINDOW;
    }
    if (goal->iterations > 0) return next_count(goal, taken, plan);
    if (!(goal->time_s > 0))
        return goal->brief ? next_brief(goal, taken, plan) : next_default(goal, taken, plan);
    double left = goal->time_s - taken->wall_ns / 1e9;
    if (taken->windows && left <= 0) return ASSAY__GOAL_STOP;
    plan_time(goal, fmin(goal->time_s / ASSAY__GOAL_WINDOWS, WINDOW_LONGEST_S), left, plan);
    return ASSAY__GOAL_WINDOW;
}

int64_t assay__goal_missing(const struct assay__summary *summary, double precision)
{
    if (summary->samples == 0 || !isfinite(summary->half_width)) return -1;
    if (summary->half_width <= precision) return 0;
    double ratio = summary->half_width / precision;
    double more = ceil((double)summary->samples * (ratio * ratio - 1));
    return more < 9e15 ? (int64_t)more : INT64_MAX;
}

double assay__goal_done(const struct assay__goal *goal, const struct assay__taken *taken)
{
    double done;
    if (goal->iterations > 0)
        done = (double)taken->samples / (double)goal->iterations;
    else if (goal->time_s > 0)
        done = taken->wall_ns / 1e9 / goal->time_s;
    else if (goal->brief)
        done = (double)taken->windows / ASSAY__GOAL_BRIEF_WINDOWS;
    else
        done = fmin(taken->wall_ns / 1e9 / fmax(window_seconds(taken) * ASSAY__GOAL_WINDOWS, 1e-9),
                    0.99);
    return fmin(done, 1.0);
}
