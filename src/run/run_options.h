/* run_options.h - what a run is asked for, as the library's own code passes it on: the public
 * topics (assay/run.h) and what belongs to no caller outside. */
#ifndef ASSAY_RUN_RUN_OPTIONS_H
#define ASSAY_RUN_RUN_OPTIONS_H

#include "profile/profile.h"

#include <assay/run.h>

/** Called on the caller's own thread when the metrics of a trial stand and before the profile is
 *  kept: what it adds is kept. 0 or ASSAY_ENOMEM. */
typedef int assay__conclude_fn(void *context, struct assay_profile *profile, size_t trial);

/** Called once, after the last trial and before the profile is stored; what it adds is stored. */
typedef int assay__judge_fn(void *context, struct assay_profile *profile,
                            struct assay_error *error);

#define ASSAY__THREADS_MOST 4096 /* that can be asked of an engine */

struct assay__run_options {
    struct assay_workload_options workload;
    struct assay_target_options target;
    struct assay_measuring_options measuring;
    struct assay_watching_options watching;
    struct assay_keeping_options keeping;
    struct assay_callbacks callbacks;
    struct assay_feedback_options feedback;
    const char *command;      /* what it is a profile of; NULL: "run" */
    const char *command_line; /* recorded; NULL: none */
    const char *script;       /* of the fake engine */
    bool brief;               /* several short launches, judged together; the layers in the last */
#define ASSAY__BRIEF_LAUNCHES 7 /* planned; run.c says when there are fewer or more */
    bool amortise; /* time_s is the least: what took long to load is measured for longer */
    const struct assay__ceiling_info *ceilings; /* of the devices, kept in the profile; borrowed */
    size_t ceiling_count;
    assay__conclude_fn *conclude; /* NULL: none */
    void *conclude_context;
    assay__judge_fn *judge; /* of a single run; NULL: none */
    void *judge_context;
};

/** The caller's options as ours: ASSAY_EINVAL when they have members that this version does not
 *  know. NULL: all defaults. */
int assay__run_options_read(const struct assay_run_options *given, struct assay__run_options *own,
                            struct assay_error *error);
/** Fills in defaults and refuses what cannot be. */
int assay__run_options_check(struct assay__run_options *options, struct assay_error *error);
/** One arm in a profile of its own: assay_run() without the ceilings. */
int assay__run(const struct assay__run_options *options, struct assay_profile **profile,
               struct assay_error *error);

/** Tells the caller, when it listens. */
void assay__remark(const struct assay_callbacks *callbacks, const char *format, ...)
    ASSAY_PRINTF(2, 3);
/** Likewise of progress; done < 0: unknown. True when the caller wants to stop. */
bool assay__progress(const struct assay_callbacks *callbacks, const char *phase, double done);

#endif
