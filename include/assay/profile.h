/* profile.h - a profile: the result of one capture, stored as one SQLite file (*.assay). What is
 * read from it is borrowed until it is closed; trial.h says how reading works. A profile may be
 * read by several threads at once, and closed by one of them when the others have finished. */
#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#include <assay/error.h>
#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay_profile;
struct assay_trial;

struct assay_profile_info {
    size_t size;         /* sizeof, set by the caller */
    const char *path;    /* "" in memory */
    const char *kind;    /* "run", "compare", "sweep", … */
    const char *created; /* UTC, ISO 8601 */
    const char *assay;   /* version that made it */
    bool complete;       /* false: the capture was killed or interrupted */
    bool interrupted;
};

/** The machine, as it was when the profile was made. Numbers are 0 or NaN where unknown. */
struct assay_environment {
    size_t size; /* sizeof, set by the caller */
    const char *host, *os, *kernel, *architecture, *cpu_model, *governor, *simd;
    int packages, cores, threads;
    double memory_bytes, cpu_max_hz;
    const char *const *disturbances; /* what disturbed the run, as sentences */
    size_t disturbance_count;
};

/** A model that was run. */
struct assay_model {
    size_t size; /* sizeof, set by the caller */
    const char *name, *path, *format;
    const char *fingerprint; /* of graph and shapes, not of weights */
    const char *sha256;      /* "" unless requested */
    int64_t parameters;      /* -1 unknown, as are the next two */
    int64_t weight_bytes, node_count;
    const char *opset, *producer;
};

/** A conclusion of a rule. Gains are ratios, NaN unknown. */
struct assay_finding {
    size_t size; /* sizeof, set by the caller */
    const char *id, *severity, *title, *advice;
    const char *const *evidence;
    size_t evidence_count;
    double expected_gain;
    double verified_gain, verified_low, verified_high; /* measured, with its 95 % interval */
    const char *state;                                 /* "open" | "verified" | "withdrawn" */
    const char *reason;
};

/** A measured peak of a device. */
struct assay_ceiling {
    size_t size;        /* sizeof, set by the caller */
    const char *device; /* "cpu", "cuda:0" */
    const char *name;   /* "compute.float32.all-cores", "bandwidth.dram.triad.all-cores" */
    double value;       /* NaN: unavailable, the note says why */
    const char *unit;   /* "FLOP/s", "OP/s", "B/s", "s" */
    double low, high;   /* over the repeats; NaN unknown */
    const char *source, *note;
    const char *measured_at; /* UTC, ISO 8601; "" unknown */
};

/** Reads a profile, which is untrusted input: opened read-only and defensively. ASSAY_ENEWER for a
 *  newer schema. *profile is owned by the caller (assay_profile_close it). */
ASSAY_API int assay_profile_open(const char *path, struct assay_profile **profile,
                                 struct assay_error *error);
/** Computes, in memory, the statistics of a capture that was killed, from the samples that it had
 *  saved: what `assay report` does first. A complete profile is not changed. The profile must not
 *  be read during the call. */
ASSAY_API int assay_profile_recover(struct assay_profile *profile, struct assay_error *error);
/** Frees it, and what was borrowed from it. NULL is allowed. */
ASSAY_API void assay_profile_close(struct assay_profile *profile);

/** Fill the struct; false past the end, when profile is NULL or size is not set. */
ASSAY_API bool assay_profile_read(const struct assay_profile *profile,
                                  struct assay_profile_info *info);
ASSAY_API bool assay_profile_environment(const struct assay_profile *profile,
                                         struct assay_environment *environment);
ASSAY_API bool assay_profile_model(const struct assay_profile *profile, size_t index,
                                   struct assay_model *model);
ASSAY_API bool assay_profile_finding(const struct assay_profile *profile, size_t index,
                                     struct assay_finding *finding);
ASSAY_API bool assay_profile_ceiling(const struct assay_profile *profile, size_t index,
                                     struct assay_ceiling *ceiling);
/** The model that the trial ran; false when trial is NULL or size is not set. */
ASSAY_API bool assay_trial_model(const struct assay_trial *trial, struct assay_model *model);

/** Number of trials; trial.h reads them. */
ASSAY_API size_t assay_profile_trials(const struct assay_profile *profile);
/** The metrics of the trial with that index; NULL if there is no such trial. */
ASSAY_API const struct assay_metrics *assay_profile_metrics(const struct assay_profile *profile,
                                                            size_t trial);

#endif
