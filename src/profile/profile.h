/* profile.h - the document: everything one profile holds, as plain structures in one arena. Capture fills it, the
 * store writes it to SQLite as it grows and loads it again, analysis and renderers only read it.
 * Unknown numbers are NaN (double) or negative (counts); unknown strings are "". Times are in ns unless named. */
#ifndef ASSAY_PROFILE_DOCUMENT_H
#define ASSAY_PROFILE_DOCUMENT_H

#include "base/arena.h"

#include <assay/error.h>
#include <assay/metric.h>
#include <assay/profile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__pair {
    const char *key;
    const char *value;
};

struct assay__tensor_info {
    const char *name;
    const char *dtype;          /* "float32", "int64", … */
    int rank;                   /* -1 unknown */
    const int64_t *dims;        /* -1 where symbolic */
    const char *const *symbols; /* per dimension, NULL or "" where fixed; may be NULL as a whole */
    const char
        *fill; /* workload inputs: how the values were made ("uniform [-1, 1), seed 1"); else "" */
};

struct assay__operator_info {
    const char *op;
    int64_t count;
    double flops, macs, bytes; /* NaN unknown */
};

/** A group of neurons of a recurrent cell, or a part of the cell ("backbone", …; 0 neurons). */
struct assay__cell_group {
    const char *name;
    int64_t neurons;            /* -1 unknown */
    double flops, flops_needed; /* of all steps; NaN unknown */
    enum assay_state state;     /* of the FLOPs: estimated where nodes compute several groups */
};

#define ASSAY__CELL_GROUPS 64 /* at most */

/** What a model says of itself when it is a recurrent cell over time steps (doc/ncp.md). */
struct assay__cell_info {
    const char *kind;  /* "CfC", "LTC"; "": no such model */
    const char *form;  /* "step" | "unrolled" | "scan" */
    int64_t steps;     /* of one inference; -1 unknown */
    const char *fault; /* what is wrong with what it says; "" nothing */
    struct assay__cell_group *groups;
    size_t group_count;
};

struct assay__model_info {
    const char *name, *path, *format; /* "onnx" */
    const char *fingerprint;          /* graph and shapes, not weights */
    const char *sha256;               /* "" unless --hash */
    int64_t parameters;               /* -1 unknown */
    int64_t weight_bytes;             /* -1 unknown */
    int64_t node_count;
    int ir_version;
    const char *opset; /* "17" or "ai.onnx 17, com.microsoft 1" */
    const char *producer;
    struct assay__operator_info *operators;
    size_t operator_count;
    struct assay__tensor_info *inputs, *outputs;
    size_t input_count, output_count;
    struct assay__cell_info cell;
};

/** A CPU, OS and its state; `disturbances` are sentences with numbers, empty when none was seen. */
struct assay__environment {
    const char *host, *os, *kernel, *architecture, *cpu_model, *virtualized, *governor, *simd,
        *container;
    int packages, cores, threads;                                   /* 0 unknown */
    double memory_bytes, cpu_max_hz, l1d_bytes, l2_bytes, l3_bytes; /* NaN unknown */
    const char **disturbances;
    size_t disturbance_count;
    const char **unknown; /* what could not be observed, with the reason */
    size_t unknown_count;
};

enum assay__trial_state {
    ASSAY__TRIAL_RUNNING,
    ASSAY__TRIAL_OK,
    ASSAY__TRIAL_FAILED,
    ASSAY__TRIAL_SKIPPED,
    ASSAY__TRIAL_INTERRUPTED
};
const char *assay__trial_state_name(
    enum assay__trial_state state); /* "running", "ok", "failed", "skipped", "interrupted" */
int assay__trial_state_parse(const char *name);

/** One worker process. Samples are durations in time order; the first `warmup` of them are warm-up (found in the data). */
struct assay__launch {
    int id; /* 1, 2, … within its trial */
    enum assay__trial_state state;
    const char *reason; /* why it failed; "" when ok */
    int streams;
    double *samples_ns; /* all streams, by stream then time (stream_offsets) */
    size_t sample_count;
    size_t *stream_offsets; /* streams + 1 entries */
    size_t warmup;  /* dropped from the statistics: of the first stream's order (single stream) */
    double wall_ns; /* measured wall time of the windows together */
    double p50_ns;  /* NaN when no sample */
    const char *log_tail;          /* last log lines, for failures */
    struct assay_metrics *metrics; /* of this launch */
};

struct assay__layer {
    int index; /* execution order */
    const char *name, *op, *provider;
    double time_ns;         /* NaN: unavailable (note says why) */
    double host_enqueue_ns; /* NaN unless the engine's profile holds enqueue times only */
    double share;           /* of latency.p50; NaN */
    double flops, bytes;    /* NaN unknown */
    const char *bound;      /* "compute" | "memory" | "overhead" | "unknown" */
    enum assay_state state;
    const char *method; /* "markers" | "isolated" | "engine" | "fake" */
    const char *note;   /* "alone, hot cache", …; "" */
    const char **from;  /* original nodes */
    size_t from_count;
};

struct assay__layers {
    const char *method; /* what was used, "" when off */
    const char *reason; /* why there are none, or what must be said of them */
    struct assay__layer *items;
    size_t count;
    double engine_ns;        /* fixed cost per run; NaN */
    double unattributed_ns;  /* signed; NaN */
    double scale_factor;     /* node times were multiplied by this to meet the bracket; NaN */
    double slowdown;         /* instrumented run / plain run; NaN */
    double spread;           /* (max - min) / median of the sums over sessions; NaN */
    double contention;       /* sum of means / sum of medians - 1; NaN */
    int sessions, discarded; /* passes used and thrown away */
};

struct assay__stability {
    const char *verdict; /* "stable" | "unstable" | "too-few" | "" */
    const char **reasons;
    size_t reason_count;
    int64_t more_iterations; /* how many more would have met the goal; -1 unknown, 0 met */
};

struct assay__trial {
    int id;
    enum assay__trial_state state;
    const char *reason;
    const char *engine, *engine_version, *engine_library, *device;
    struct assay__pair *options; /* threads, opt, cpus, streams, spinning, … */
    size_t option_count;
    int64_t batch;                     /* -1 unknown */
    struct assay__tensor_info *inputs; /* the workload's, fixed */
    size_t input_count;
    const char **notes; /* "symbolic dimension 'seq' set to 1 (give --dim seq=N)", … */
    size_t note_count;
    struct assay__launch *launches;
    size_t launch_count;
    struct assay_metrics *metrics;
    struct assay__layers layers;
    struct assay__stability stability;
};

struct assay__finding {
    const char *id, *severity, *title, *advice;
    const char **evidence;
    size_t evidence_count;
    double expected_gain, verified_gain; /* ratio; NaN */
};

struct assay_profile {
    struct assay__arena *arena;
    const char *path; /* "" in memory */
    const char *assay_version;
    int schema;
    const char *command;      /* "run" */
    const char *command_line; /* exact, shell-quoted */
    const char *created;      /* ISO 8601 UTC */
    bool complete;            /* false: the capture was killed or interrupted */
    bool interrupted;
    struct assay__environment environment;
    struct assay__model_info model;
    struct assay__trial *trials;
    size_t trial_count;
    struct assay__finding *findings;
    size_t finding_count;
};

/** No layers yet: every number unknown. */
struct assay__layers assay__layers_unknown(void);

/** An empty document with its arena (unknown numbers set to unknown). NULL when out of memory. */
struct assay_profile *assay__profile_new(void);
/** Append a trial / a launch to a trial, initialised to unknown; NULL when out of memory. Pointers to earlier ones may move. */
struct assay__trial *assay__profile_trial(struct assay_profile *profile);
struct assay__launch *assay__trial_launch(struct assay_profile *profile,
                                          struct assay__trial *trial);

#endif
