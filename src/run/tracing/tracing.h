/* tracing.h - a program that is run unchanged while recorders write what it does, and what they
 * wrote as one timeline. The records lie in a folder of the session's own beside the profile, so
 * that they are on the same disk and are left behind if we are killed; every file in it is of a
 * format that import/ reads.
 *
 * A recorder (recorders.h) takes part at three moments: before the program starts it may add to its
 * environment; while the program waits before its first instruction it may attach to it; after the
 * program has ended it closes its files. */
#ifndef ASSAY_RUN_TRACING_TRACING_H
#define ASSAY_RUN_TRACING_TRACING_H

#include "base/arena.h"
#include "platform/platform.h"
#include "profile/profile.h"
#include "trace/events.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__run_options; /* run/run_options.h */

enum assay__traced_calls {
    ASSAY__TRACED_CALLS_LAUNCHES, /* and those that copy, wait, allocate or load */
    ASSAY__TRACED_CALLS_NONE,
    ASSAY__TRACED_CALLS_ALL
};

struct assay__tracing_options {
    const char *const *argv;  /* the program */
    char *const *environment; /* what it would have without us */
    bool ignores_sigpipe;
    const char *beside;         /* path of the profile: its folder gets that of the records */
    double delay_s, duration_s; /* duration 0: until the end */
    const char *range;          /* an NVTX range; NULL: always */
    int signal;                 /* starts and stops; 0: none */
    enum assay__traced_calls calls;
    int64_t buffers, buffer_kib; /* 0: default */
    unsigned cpu_rate_hz;        /* samples per second of processor time; 0: none */
    bool allocations;            /* are counted, by who asked for them */
    double patience_s;           /* after Ctrl-C, before SIGTERM; 0: for ever */
    bool wait_for_all;           /* also for processes that the program leaves behind */
    void (*say)(void *context, const char *text); /* while it runs; may be NULL */
    void *context;
};

/** A session. */
struct assay__tracing {
    const struct assay__tracing_options *options; /* NULL: of a model */
    struct assay__arena *arena;
    char *folder;            /* of the records */
    const char *const *argv; /* what is started: the program, or what runs it */
    const char **added;      /* to the program's environment: "A=B" */
    size_t added_count, added_capacity;
    void **states; /* of the recorders, in the order of their rows */
    struct assay__program_allocations *allocations; /* the program with the most first */
    size_t allocation_count;
    struct assay__exit exit; /* how the program ended */
    bool stopped;            /* it was asked to, by a signal that we got */
};

/** Each function may be NULL. *state is the recorder's own, NULL at first. */
struct assay__recorder {
    const char *name;
    /** An error: this recorder records nothing, and says why and what to do. */
    int (*prepare)(struct assay__tracing *tracing, void **state, struct assay_error *error);
    /** The same for the error. */
    int (*attach)(struct assay__tracing *tracing, pid_t pid, void **state,
                  struct assay_error *error);
    void (*detach)(struct assay__tracing *tracing, void *state);
};

/** Tells the user, while the program runs or has just ended. */
void assay__tracing_say(const struct assay__tracing *tracing, const char *format, ...)
    ASSAY_PRINTF(2, 3);

/** Adds "NAME=value" in place of what the program would have had. For recorders. */
int assay__tracing_variable(struct assay__tracing *tracing, const char *entry,
                            struct assay_error *error);

/** Runs the program to its end. An error: it did not start (ASSAY_ENOTFOUND: there is none of that
 *  name). The session is to be ended in any case. */
int assay__tracing_run(const struct assay__tracing_options *options,
                       struct assay__tracing **tracing, struct assay_error *error);
/** Records a timeline of a model in a worker: some inferences after warm ones, with the layers on
 *  the worker's thread and what the device did. The session is to be ended in any case. */
int assay__tracing_model(const struct assay__run_options *run, const char *beside,
                         struct assay__tracing **tracing, struct assay_error *error);
/** A session with its folder, which lies beside that path. */
int assay__tracing_new(const char *beside, struct assay__tracing **tracing,
                       struct assay_error *error);
/** How many files of records there are. */
size_t assay__tracing_files(const struct assay__tracing *tracing);
/** Removes the records (unless `keep`) and frees the session. NULL is allowed. A process that is
 *  still recording notices and stops. */
void assay__tracing_end(struct assay__tracing *tracing, bool keep);

#endif
