/* watch.h - what is measured besides the latency while a workload runs: sensors, the worker's
 * memory, counters. A watcher is one file watch_<name>.c and one row in watchers.h. Its functions
 * are called on the run's own thread and never while a window is being measured; what must be read
 * during a window has its own thread (probe/sampler/sampler.h), whose cost is reported.
 *
 * A watcher never fails a run: what it cannot read becomes unavailable with the reason. Only
 * running out of memory is an error. */
#ifndef ASSAY_RUN_WATCH_WATCH_H
#define ASSAY_RUN_WATCH_WATCH_H

#include "run/trial/trial.h"

#include "run/run_options.h"
#include <sys/types.h>

struct assay__watch_plan {
    const struct assay__run_options *options; /* checked, with defaults filled in */
    struct assay_profile *profile;
    struct assay__trial *trial;
    uint64_t origin_ns; /* times in the profile count from here */
};

struct assay__watcher; /* each file defines its own */

/** All members except name, wanted, begin and free may be NULL. */
struct assay__watcher_ops {
    const char *name;
    bool (*wanted)(const struct assay__run_options *options);
    /** Before the first launch: opens what it reads; measures the idle machine if an idle baseline
     * is needed. */
    int (*begin)(const struct assay__watch_plan *plan, struct assay__watcher **watcher,
                 struct assay_error *error);
    /** The worker of a launch exists; it has loaded nothing yet. */
    void (*started)(struct assay__watcher *watcher, int launch, pid_t worker);
    void (*window_begins)(struct assay__watcher *watcher, int launch, uint64_t now_ns);
    void (*window_ends)(struct assay__watcher *watcher, int launch, uint64_t now_ns,
                        size_t completions);
    /** The launch has sent its last message; its process may still exist. */
    void (*ended)(struct assay__watcher *watcher, int launch);
    /** After the measured launches: its own launches, with a similar request; they are not
     * stored. */
    int (*extra)(struct assay__watcher *watcher, const struct assay__request *request,
                 struct assay_error *error);
    /** After the trial's metrics: adds its own metrics and series. */
    int (*finish)(struct assay__watcher *watcher, const struct assay__trial_input *input,
                  struct assay_error *error);
    void (*free)(struct assay__watcher *watcher); /* NULL legal */
};

struct assay__watch;

/** *watch is NULL if there is nothing to watch; every function below accepts that. */
int assay__watch_begin(const struct assay__watch_plan *plan, struct assay__watch **watch,
                       struct assay_error *error);
void assay__watch_started(struct assay__watch *watch, int launch, pid_t worker);
void assay__watch_window_begins(struct assay__watch *watch, int launch);
void assay__watch_window_ends(struct assay__watch *watch, int launch, size_t completions);
void assay__watch_ended(struct assay__watch *watch, int launch);
int assay__watch_extra(struct assay__watch *watch, const struct assay__request *request,
                       struct assay_error *error);
int assay__watch_finish(struct assay__watch *watch, const struct assay__trial_input *input,
                        struct assay_error *error);
void assay__watch_free(struct assay__watch *watch);

#endif
