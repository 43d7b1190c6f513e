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
    const char *model; /* a path, or the name of a zoo model: "resnet50" */
    int64_t batch, sequence;
    const char *const *dims, *const *shapes, *const *inputs; /* "name=value" lists */
    size_t dim_count, shape_count, input_count;
    uint64_t seed;    /* of synthetic inputs */
    int64_t generate; /* > 0: an inference generates this many tokens with the model's cache */
    int64_t prompt;   /* tokens in its prompt; 0: `sequence`, else 32 */
};

/** What one inference passes on to the next, and how much real time its input covers. */
struct assay_feedback_options {
    /* "output=input": the output becomes the input of the next inference, starting from the input's
     * own values. NULL: found where names, types and shapes leave no doubt; {"none"}: nothing is
     * fed back. */
    const char *const *states;
    size_t state_count;
    double seconds_per_inference; /* of audio or video; enables realtime.*; 0: unknown */
};

/** What it runs on, and how. */
struct assay_target_options {
    const char *engine; /* "ort" */
    const char *device; /* "cpu"; in assay_run "gpu" or "npu" means the first usable one */
    const char
        *library; /* engine library; NULL: $ASSAY_ORT_LIBRARY, else the one fetched by the set-up */
    const char *optimization; /* "none" | "basic" | "extended" | "all" */
    const char *cpus;         /* pin the worker to these: "0-3,8" */
    int threads, streams;
    bool spinning_off; /* spinning of the engine's threads while they wait */
};

/** How long and how often. */
struct assay_measuring_options {
    /* worker processes; 0: five short ones, or one if iterations, time, a generation or anything to
     * watch is requested */
    int launches;
    bool warmup_given; /* drop exactly `warmup` iterations; false: detected from the data */
    int64_t warmup;
    int64_t iterations; /* 0: decided by time and precision */
    double time_s; /* 0: at least 1 s, until the median is known to 1 %; 0.2 to 0.6 s each for five
                      launches */
    double timeout_s; /* a launch that does not respond for this long is killed; 0: 300 */
    double
        launch_limit_s; /* a launch that takes longer than this in total is killed; 0: no limit */
    enum assay_layer_method layers; /* 0: off */
};

/** What is measured besides the latency. */
struct assay_watching_options {
    bool power;        /* sample power, energy, temperature and clocks */
    bool memory;       /* track the worker's memory; count allocations in a separate launch */
    bool counters;     /* read hardware and kernel counters */
    double interval_s; /* between two readings of the sensors; 0: 0.1 */
    bool idle_given;   /* measure the idle machine for exactly `idle_s` beforehand; false: 3 s */
    double idle_s;
};

/** What is kept. */
struct assay_keeping_options {
    const char *output; /* *.assay to write; NULL: the profile is in memory only */
    bool hash;          /* the SHA-256 of the model file */
    bool ceilings;      /* measure the ceilings of the device, unless they are saved already */
};

struct assay_progress {
    const char *phase; /* "building", "loading", "warming up", "measuring", "layers" */
    int launch, launches;
    double done; /* 0…1; < 0 unknown */
    /* for a sweep or tuning as a whole: the current point, from 1, and the number of points (0:
     * unknown); the best so far, "batch=8: 1.23 k/s" (NULL: none); the time left (0: unknown) */
    int point, points;
    const char *best;
    double left_s;
    /* for a run with several launches: the median of those that have ended (0: none), and the
     * relative half-width of its 95 % interval (0: not known) */
    double latency_s, half_width;
};
typedef void assay_progress_fn(void *context, const struct assay_progress *progress);
/** A message for the caller although nothing failed: a device listed twice, launches reused from an
 *  earlier capture. Valid during the call. */
typedef void assay_remark_fn(void *context, const char *remark);

/** All are called on the thread that made the call. */
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
    struct assay_feedback_options feedback;
};

/** Returns 0 with *profile (assay_profile_close it). If launches failed, there is an error code and
 *  a profile, whose trial says why; *profile is NULL if nothing could be started. A refused option
 *  is ASSAY_EINVAL, and error->option names the member. */
ASSAY_API int assay_run(const struct assay_run_options *options, struct assay_profile **profile,
                        struct assay_error *error);

#endif
