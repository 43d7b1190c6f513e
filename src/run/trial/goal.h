/* goal.h - when to continue measuring and when to stop: the rule of `assay run` as a pure function
 * of what was measured so far.
 *
 * `brief`, of several launches that are judged together: 0.1 s and 100 warm iterations in at least
 * 5 windows; at most 0.4 s of measured time, or, if others disturb it, until the interval of the
 * median is within 3 %, at most 1 s. Default: at least 1 s and 1,000 warm iterations in at least 10
 * windows, then until the half-width of the autocorrelation-corrected 95 % interval of the median
 * is within 1 %; at most 10 s of measured time, which also holds below 1,000 iterations (but at
 * least one sample). `iterations`: exactly that many. `time_s`: that long. Both: whichever comes
 * first. All times are the loop's clock, so a scripted clock gives the same decisions
 * everywhere. */
#ifndef ASSAY_RUN_TRIAL_GOAL_H
#define ASSAY_RUN_TRIAL_GOAL_H

#include "run/trial/summary.h"

#include <stdint.h>

#define ASSAY__GOAL_ITERATIONS 1000u
#define ASSAY__GOAL_WINDOWS 10u
#define ASSAY__GOAL_SECONDS 1.0
#define ASSAY__GOAL_CAP_S 10.0
#define ASSAY__GOAL_PRECISION 0.01
#define ASSAY__GOAL_BRIEF_ITERATIONS 100u
#define ASSAY__GOAL_BRIEF_WINDOWS 5u
#define ASSAY__GOAL_BRIEF_SECONDS 0.1
#define ASSAY__GOAL_BRIEF_CAP_S 0.4
#define ASSAY__GOAL_BUSY_PRECISION 0.03 /* of a brief launch while others disturb it … */
#define ASSAY__GOAL_BUSY_CAP_S 1.0      /* … or so long */
#define ASSAY__GOAL_AMORTISE 1.25       /* ratio of measuring to loading and warming up … */
#define ASSAY__GOAL_AMORTISE_CAP_S 3.0

struct assay__goal {
    int64_t iterations; /* 0: by time and precision */
    double time_s;      /* 0: default */
    double precision;   /* relative half-width */
    int streams;
    size_t capacity; /* maximum iterations of a window, per stream */
    size_t least;    /* samples to take even beyond the default rule's time limit; 0: 1 */
    bool brief;      /* one of several launches: what matters is how they differ */
    /* time_s is the minimum; if ASSAY__GOAL_AMORTISE times the preparation is more, that counts */
    bool amortise;
    double endless_s; /* windows of this length without end; 0: there is one */
};

struct assay__taken {
    size_t windows, samples;              /* samples over all streams */
    double wall_ns;                       /* of the windows together */
    double pace_ns;                       /* of one iteration of one stream; a guess at first */
    const struct assay__summary *summary; /* of exactly these samples; NULL: not computed */
    bool disturbed; /* other processes kept the worker from running in some window */
};

struct assay__window_plan {
    size_t iterations; /* at most, over all streams */
    double seconds;    /* the window ends at the first stamp at or past this */
};

enum assay__decision { ASSAY__GOAL_WINDOW, ASSAY__GOAL_JUDGE, ASSAY__GOAL_STOP };

/** The goal of a launch that took this long to get ready, counted from the start of its process. */
struct assay__goal assay__goal_amortised(const struct assay__goal *goal, double ready_s);
/** WINDOW: run *plan. JUDGE: compute the summary and call this again. STOP: enough. */
enum assay__decision assay__goal_next(const struct assay__goal *goal,
                                      const struct assay__taken *taken,
                                      struct assay__window_plan *plan);
/** How many more iterations would narrow the interval to the precision (its width falls with the
 * square root of the count); 0: it is met, -1: unknown. */
int64_t assay__goal_missing(const struct assay__summary *summary, double precision);
/** Share of the work done, 0…1, for progress bars. */
double assay__goal_done(const struct assay__goal *goal, const struct assay__taken *taken);

#endif
