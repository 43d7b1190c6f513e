/* run_options.h - the options of a run inside the library: the public topics (assay/run.h) and
 * those that no outside caller has. */
#ifndef ASSAY_RUN_RUN_OPTIONS_H
#define ASSAY_RUN_RUN_OPTIONS_H

#include "profile/profile.h"

#include <assay/run.h>

/** Called on the caller's thread once the metrics of a trial are complete and before the profile is
 * stored; what it adds is stored. 0 or ASSAY_ENOMEM. */
typedef int assay__conclude_fn(void *context, struct assay_profile *profile, size_t trial);

/** Called once, after the last trial and before the profile is stored; what it adds is stored. */
typedef int assay__judge_fn(void *context, struct assay_profile *profile,
                            struct assay_error *error);

/** A window of a run that goes on until it is interrupted. The durations are of all its inferences,
 * in ns, stream by stream; borrowed. Called on the run's thread, while no inference runs. */
struct assay__window_seen {
    const double *const *durations_ns; /* of each stream */
    const size_t *counts;
    int streams;
    double wall_ns;
};
typedef void assay__window_fn(void *context, const struct assay__window_seen *window);

#define ASSAY__THREADS_MOST 4096 /* that can be asked of an engine */

struct assay__run_options {
    struct assay_workload_options workload;
    struct assay_target_options target;
    struct assay_measuring_options measuring;
    struct assay_watching_options watching;
    struct assay_keeping_options keeping;
    struct assay_callbacks callbacks;
    struct assay_feedback_options feedback;
    const char *command;          /* the command whose profile it is; NULL: "run" */
    const char *command_line;     /* recorded; NULL: none */
    const char *script;           /* of the fake engine */
    const char *provider_options; /* "key=value;key=value"; NULL: none */
    /* an existing folder: the worker records a timeline there after measuring; NULL: none */
    const char *timeline;
    bool brief; /* several short launches, judged together; layers only in the last ones */
#define ASSAY__BRIEF_LAUNCHES 7 /* planned; run.c says when there are fewer or more */
    /* time_s is the minimum: a model that took long to load is measured for longer */
    bool amortise;
    /* of the devices, stored in the profile; borrowed */
    const struct assay__ceiling_info *ceilings;
    size_t ceiling_count;
    /* windows of window_s until it is interrupted; each is handed to `window` and forgotten. NULL:
     * an ordinary run */
    assay__window_fn *window;
    void *window_context;
    double window_s;
    assay__conclude_fn *conclude; /* NULL: none */
    void *conclude_context;
    assay__judge_fn *judge; /* of a single run; NULL: none */
    void *judge_context;
};

/** Copies the caller's options: ASSAY_EINVAL if they have members that this version does not know.
 * NULL: all defaults. */
int assay__run_options_read(const struct assay_run_options *given, struct assay__run_options *own,
                            struct assay_error *error);
/** Fills in defaults and refuses impossible values. */
int assay__run_options_check(struct assay__run_options *options, struct assay_error *error);
/** One arm in its own profile: assay_run() without the ceilings. */
int assay__run(const struct assay__run_options *options, struct assay_profile **profile,
               struct assay_error *error);

/** Passes a message to the caller, if it has a callback. */
void assay__remark(const struct assay_callbacks *callbacks, const char *format, ...)
    ASSAY_PRINTF(2, 3);
/** The same for progress; done < 0: unknown. True if the caller wants to stop. */
bool assay__progress(const struct assay_callbacks *callbacks, const char *phase, double done);

#endif
