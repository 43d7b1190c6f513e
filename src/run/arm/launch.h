/* launch.h - the parent's side of one launch: start a worker, answer its windows, store its
 * samples, and report how it ended. The worker is not trusted: whatever it does (crash, hang, send
 * false data) becomes this launch's reason. */
#ifndef ASSAY_RUN_ARM_LAUNCH_H
#define ASSAY_RUN_ARM_LAUNCH_H

#include "platform/platform.h"
#include "model/inputs/inputs.h"
#include "run/machine_speed.h"
#include "profile/store.h"
#include "run/watch/counters.h"
#include "run/trial/token_stats.h"
#include "run/trial/goal.h"
#include "run/worker/job.h"
#include "run/worker/messages.h"
#include "run/run_options.h"
#include "run/trial/summary.h"

#include <assay/run.h>

struct assay__watch;

struct assay__request {
    struct assay__job job;
    struct assay__goal goal;
    double timeout_s;
    double limit_s;           /* of the whole launch; 0: none */
    assay__window_fn *window; /* its windows are handed to this and forgotten; NULL: kept */
    void *window_context;
    const volatile int *interrupt;
    assay_progress_fn *progress;
    void *progress_context;
    int launch, launches, trial; /* ids */
    double p50_ns, half_width;   /* of the earlier launches, for progress; NaN unknown */
    struct assay__speed best;    /* of the machine during them */
    double patience_s;           /* how long the launch may wait for such a machine */
    const char *worker;          /* path */
    const char *temporary;       /* "TMPDIR=…" for the worker; NULL: ours */
    const char *preload;         /* "LD_PRELOAD=…" for the worker; NULL: none */
    struct assay__watch *watch;  /* notified of the worker and its windows; NULL: none */
    struct assay__store *store;  /* NULL: not kept */
    struct assay__arena *arena;  /* for what the outcome keeps */
};

struct assay__sample_window {
    size_t first, count; /* samples of the first stream */
    size_t completions;  /* of all streams */
    double wall_ns;
    uint64_t begin_ns, end_ns; /* our clock: requested, reported; 0 unknown */
};

struct assay__tracked; /* run/watch/memory_track.h */

struct assay__outcome {
    int code;           /* 0, or why the launch failed */
    const char *reason; /* "" when ok */
    const char *remark; /* a note on a successful launch; "" */
    const char *log_tail;
    struct assay__samples *streams;
    int stream_count;
    bool borrowed; /* the streams' values are in the document now */
    bool adopted;  /* from an earlier capture: nothing is known about the machine during it */
    struct assay__sample_window *windows;
    size_t window_count, window_capacity;
    size_t prerun, total;      /* iterations before measuring; samples kept */
    double wall_ns;            /* of the windows */
    struct assay__speed speed; /* of the machine, while windows were measured */
    double waited_s;           /* for the machine to be as fast as during earlier launches */
    size_t left_out;           /* windows that others disturbed */
    double left_out_ns;
    struct assay__summary summary; /* of the samples kept */
    size_t summarised;             /* how many samples the summary covers */
    struct assay__worker_facts facts;
    struct assay__worker_memory memory;
    struct assay__worker_state state;
    struct assay__tokens tokens; /* of a generation */
    struct assay__counted counted;
    struct assay__layers layers; /* method "" when none came */
    bool has_layers;
    size_t layer_capacity;
    /* what the allocation tracker recorded; NULL: it was not loaded */
    struct assay__tracked *tracked;
    struct assay__worker_spent spent;
    struct assay__exit exit;
    bool exit_known;
    struct assay__disturbance before, warm, end, after;
    bool warm_known;
    uint64_t begin_ns; /* our clock: when the worker was started; 0 unknown */
    uint64_t ready_ns; /* when it was loaded and warm, so that measuring could begin; 0: never */
    double parent_cpu_s, life_s;
    struct assay_error store_error; /* code 0: everything was persisted */
};

/** One launch that runs the workload once, all optimisations on, with nothing kept; the caller adds
 * engine, model, device and what it wants from it. */
struct assay__request assay__request_once(const struct assay__workload *workload,
                                          const char *worker, struct assay__arena *arena);
/** Runs the launch; the outcome is always filled. Returns outcome->code. */
int assay__launch_run(const struct assay__request *request, struct assay__outcome *outcome);
/** Nothing known yet. */
void assay__outcome_init(struct assay__outcome *outcome);
/** The outcome of a launch stored in a profile: its samples (borrowed) and the values of its
 * metrics; the rest stays unknown. 0 or ASSAY_ENOMEM. */
int assay__outcome_restore(const struct assay__launch *launch, bool find_warmup,
                           struct assay__outcome *outcome);
void assay__outcome_free(struct assay__outcome *outcome);

#endif
