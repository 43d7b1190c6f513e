/* trial.h - one workload on one target, as stored in a profile.
 *
 * Reading is the same for every noun: a child with children of its own is an opaque pointer,
 * obtained by its index (NULL past the end); everything else is copied into a struct provided by
 * the caller, whose first member is its size, and the function says whether there was something to
 * copy:
 *
 *     struct assay_layer layer = {.size = sizeof layer};
 *     for (size_t i = 0; assay_trial_layer(trial, i, &layer); i++) …
 *
 * Pointers, including strings and arrays inside the structs, are borrowed: they are valid until the
 * profile is closed. Strings are never NULL. A struct may be older or newer than the library:
 * members that the library does not know are set to zero. */
#ifndef ASSAY_TRIAL_H
#define ASSAY_TRIAL_H

#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay_profile;
struct assay_trial;

enum assay_trial_state {
    ASSAY_TRIAL_RUNNING, /* the capture was killed */
    ASSAY_TRIAL_OK,
    ASSAY_TRIAL_FAILED,
    ASSAY_TRIAL_SKIPPED,
    ASSAY_TRIAL_INTERRUPTED
};

struct assay_trial_info {
    size_t size; /* sizeof, set by the caller */
    int id;
    enum assay_trial_state state;
    const char *reason; /* why it failed; "" */
    const char *label;  /* distinguishes it within a comparison or sweep; "": the device does */
    const char *role;   /* "reference", "control", …; "" none */
    int64_t batch;      /* -1 unknown */
    const char *const *notes;
    size_t note_count;
    const char *stability; /* "stable" | "unstable" | "too-few" | "" */
    const char *const *stability_reasons;
    size_t stability_reason_count;
    int64_t more_iterations; /* iterations missing to the goal; 0 it is met, -1 unknown */
};

/** What it ran on. */
struct assay_target {
    size_t size; /* sizeof, set by the caller */
    const char *engine, *engine_version, *engine_library;
    const char *device;       /* as the caller named it: "cpu", "ovn/openvino:cpu" */
    const char *build;        /* of the engine; "" the default one */
    const char *device_class; /* "cpu" | "gpu" | "npu"; "" unknown */
    bool software;            /* emulated on the CPU */
    int threads;              /* 0 unknown */
    bool threads_default;     /* the engine's own choice */
    const char *optimization; /* "none" | "basic" | "extended" | "all"; "" unknown */
    int streams;              /* requests in flight; 0 unknown */
    const char *precision;    /* of a rewritten copy: "float16"; "" the original model */
    bool spinning_off;
    const char *cpus; /* pinned to; "" any */
    const char *chip; /* of a prediction; "" measured */
};

/** An input of the workload, all dimensions fixed. */
struct assay_input {
    size_t size; /* sizeof, set by the caller */
    const char *name, *dtype;
    int rank; /* -1 unknown */
    const int64_t *dims;
    const char *fill;  /* how its values were made */
    const char *state; /* the output that becomes its value in the next inference; "" none */
};

/** NULL past the end, or when profile is NULL. */
ASSAY_API const struct assay_trial *assay_profile_trial(const struct assay_profile *profile,
                                                        size_t index);
/** Fill *info, *target, *input; false when trial is NULL, past the end, or size is not set. */
ASSAY_API bool assay_trial_read(const struct assay_trial *trial, struct assay_trial_info *info);
ASSAY_API bool assay_trial_target(const struct assay_trial *trial, struct assay_target *target);
ASSAY_API bool assay_trial_input(const struct assay_trial *trial, size_t index,
                                 struct assay_input *input);
/** NULL when trial is NULL. */
ASSAY_API const struct assay_metrics *assay_trial_metrics(const struct assay_trial *trial);

#endif
