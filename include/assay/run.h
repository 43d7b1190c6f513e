/* run.h - `assay run` as a call: profile one model on one target. */
#ifndef ASSAY_RUN_H
#define ASSAY_RUN_H

#include <assay/engine.h>
#include <assay/error.h>
#include <assay/profile.h>
#include <stdbool.h>
#include <stdint.h>

struct assay_progress {
    const char *phase; /* "building", "loading", "warming up", "measuring", "layers" */
    int launch, launches;
    double done; /* 0…1; < 0 unknown */
};
typedef void assay_progress_fn(void *context, const struct assay_progress *progress);

/** What a device can do at most, as it was measured (assay devices --ceilings). */
struct assay_ceiling {
    const char *device; /* "cpu", "cuda:0" */
    const char *name;   /* "compute.float32.all-cores", "bandwidth.dram.triad.all-cores" */
    double value;       /* NaN: unavailable, the note says why */
    const char *unit;   /* "FLOP/s", "OP/s", "B/s", "s" */
    double low, high;   /* over the repeats; NaN unknown */
    const char *source, *note;
    const char *measured_at; /* UTC, ISO 8601; "" unknown */
};

/** Called on the caller's own thread when the metrics of a trial stand and before the profile is
 *  kept: what it adds is kept. 0 or ASSAY_ENOMEM. */
typedef int assay_conclude_fn(void *context, struct assay_profile *profile, size_t trial);

/** Zero or NULL means default everywhere (set size = sizeof). */
struct assay_run_options {
    size_t size;
    const char *model;   /* path or zoo name */
    const char *engine;  /* "ort" */
    const char *device;  /* "cpu" */
    const char *library; /* engine library; else $ASSAY_ORT_LIBRARY, else the one set up here */
    const char *optimization; /* none|basic|extended|all */
    int threads, streams, launches;
    const char *cpus; /* pin the worker */
    int spinning_off; /* 1: switch the engine pool's spinning off */
    int64_t batch, sequence;
    const char *const *dims, *const *shapes, *const *inputs; /* "name=value" lists */
    size_t dim_count, shape_count, input_count;
    uint64_t seed;
    int64_t warmup_plus_1; /* N + 1 to force N warm-up iterations; 0: found in the data */
    int64_t iterations;
    double time_s;
    double timeout_s;               /* a launch that is silent for longer is killed; 0: 300 */
    enum assay_layer_method layers; /* 0 = OFF */
    bool hash;                      /* SHA-256 of the model file */
    const char *output;             /* *.assay to write; NULL: none */
    const char *command_line;       /* recorded */
    const char *script;             /* fake engine */
    assay_progress_fn *progress;
    void *progress_context;
    /* set to non-zero to stop; the partial profile is kept and ASSAY_EINTERRUPTED returned with
     * *profile set */
    const volatile int *interrupt;
    int64_t generate;    /* > 0: an inference generates so many tokens with the model's cache */
    int64_t prompt;      /* tokens of its prompt; 0: `sequence`, else 32 */
    const char *command; /* what the profile is called a profile of; NULL: "run" */
    bool power;          /* sample power, energy, temperature and clocks while it runs */
    bool memory;       /* follow the worker's memory; count allocations in a launch of their own */
    bool counters;     /* read the processor's and the kernel's counters */
    double interval_s; /* between two readings of the sensors; 0: 0.1 */
    double idle_plus_1_s; /* 1 + how long the idle machine is watched before it; 0: 3 s */
    const struct assay_ceiling *ceilings; /* of the device, kept in the profile; borrowed */
    size_t ceiling_count;
    assay_conclude_fn *conclude; /* NULL: none */
    void *conclude_context;
    /* a launch that takes longer as a whole is killed; what it has measured stays; 0: none */
    double launch_limit_s;
};

/** Returns 0 with *profile (assay_profile_close it). When launches failed the profile is there too
 *  (trial state failed) and the code says why. */
ASSAY_API int assay_run(const struct assay_run_options *options, struct assay_profile **profile,
                        struct assay_error *error);

#endif
