/* run.h - profile one model on one target, and the options that compare.h, sweep.h and tune.h
 * share with it. May be called from several threads at once: calls share nothing but the log. */
#ifndef ASSAY_RUN_H
#define ASSAY_RUN_H

#include <assay/error.h>
#include <assay/layer.h>
#include <assay/profile.h>
#include <stdbool.h>
#include <stdint.h>

/** What is run. */
struct assay_workload_options {
    const char *model; /* a path, or a name of the zoo: "resnet50" */
    int64_t batch, sequence;
    const char *const *dims, *const *shapes, *const *inputs; /* "name=value" lists */
    size_t dim_count, shape_count, input_count;
    uint64_t seed;    /* of synthetic inputs */
    int64_t generate; /* > 0: an inference generates so many tokens with the model's cache */
    int64_t prompt;   /* tokens of its prompt; 0: `sequence`, else 32 */
};

/** What it runs on, and how. */
struct assay_target_options {
    const char *engine;  /* "ort" */
    const char *device;  /* "cpu"; assay_run: "gpu" or "npu" is the first usable one */
    const char *library; /* engine library; else $ASSAY_ORT_LIBRARY, else the one set up here */
    const char *optimization; /* "none" | "basic" | "extended" | "all" */
    const char *cpus;         /* pin the worker to these: "0-3,8" */
    int threads, streams;
    bool spinning_off; /* of the engine's threads while they wait */
};

/** How long and how often. */
struct assay_measuring_options {
    /* worker processes; 0: five short ones, or one where iterations, time, a generation or
     * something to watch is asked for */
    int launches;
    bool warmup_given; /* drop exactly `warmup` iterations; false: found in the data */
    int64_t warmup;
    int64_t iterations; /* 0: decided by time and precision */
    double time_s;    /* 0: at least 1 s, until the median is known to 1 %; 0.2 to 0.6 s of five */
    double timeout_s; /* a launch that is silent for longer is killed; 0: 300 */
    double launch_limit_s;          /* one that takes longer as a whole is; 0: none */
    enum assay_layer_method layers; /* 0: off */
};

/** What is read beside the latency. */
struct assay_watching_options {
    bool power;        /* sample power, energy, temperature and clocks */
    bool memory;       /* follow the worker's memory; count allocations in a launch of their own */
    bool counters;     /* read the processor's and the kernel's counters */
    double interval_s; /* between two readings of the sensors; 0: 0.1 */
    bool idle_given;   /* watch the idle machine for exactly `idle_s` before; false: 3 s */
    double idle_s;
};

/** What is kept. */
struct assay_keeping_options {
    const char *output; /* *.assay to write; NULL: the profile is in memory only */
    bool hash;          /* the SHA-256 of the model file */
    bool ceilings;      /* measure what the device can do at most, unless that is kept already */
};

struct assay_progress {
    const char *phase; /* "building", "loading", "warming up", "measuring", "layers" */
    int launch, launches;
    double done; /* 0…1; < 0 unknown */
    /* of a sweep or a tuning as a whole: the point it is at, from 1, and how many there are (0: not
     * known); the best so far, "batch=8: 1.23 k/s" (NULL: none); the time left (0: not known) */
    int point, points;
    const char *best;
    double left_s;
};
typedef void assay_progress_fn(void *context, const struct assay_progress *progress);
/** A sentence that the caller should hear of although nothing failed: a device named twice, what
 *  was taken over from an earlier capture. Valid during the call. */
typedef void assay_remark_fn(void *context, const char *remark);

/** All are called on the thread that called us. */
struct assay_callbacks {
    assay_progress_fn *progress; /* NULL: none */
    assay_remark_fn *remark;     /* NULL: none */
    void *context;               /* of both */
    /* Set to non-zero, by a signal handler or another thread, to stop. What was measured is kept,
     * and ASSAY_EINTERRUPTED returned with *profile set. */
    const volatile int *interrupt;
};

/** Zero or NULL means default everywhere; set size = sizeof. What they point to is borrowed during
 *  the call. */
struct assay_run_options {
    size_t size;
    struct assay_workload_options workload;
    struct assay_target_options target;
    struct assay_measuring_options measuring;
    struct assay_watching_options watching;
    struct assay_keeping_options keeping;
    struct assay_callbacks callbacks;
};

/** Returns 0 with *profile (assay_profile_close it). When launches failed the profile is there too
 *  (its trial says why) and the code says why; *profile is NULL when nothing could be started. An
 *  option that is refused is ASSAY_EINVAL, and error->option names the member. */
ASSAY_API int assay_run(const struct assay_run_options *options, struct assay_profile **profile,
                        struct assay_error *error);

#endif
