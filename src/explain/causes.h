/* causes.h - the words of the analysis: why a device was idle, what the host did meanwhile, what
 * the time is lost to, and the diagnoses. Names are what JSON, CSV and the page call them. */
#ifndef ASSAY_EXPLAIN_CAUSES_H
#define ASSAY_EXPLAIN_CAUSES_H

/* X(ID, "name", "what it means") */

/** Why a device had nothing to do. */
#define ASSAY__DEVICE_CAUSE_ROWS(X)                                                             \
    X(LAUNCH_GAP, "launch-gap", "the next work was queued: the device's own pause between two") \
    X(STARVED, "starved", "the host had not launched the next work yet")                        \
    X(SYNCHRONISATION, "synchronisation", "the host had waited until the device was empty")     \
    X(COPY, "copy", "the host waited for, or prepared, a copy between host and device")         \
    X(DEPENDENCY, "dependency", "the next work was queued, but waited for something else")      \
    X(UNKNOWN, "unknown", "the trace does not say when the next work was launched")

/** What the host did meanwhile. */
#define ASSAY__HOST_CAUSE_ROWS(X)                                                          \
    X(QUEUED, "queued", "the host was ahead: what it did does not matter")                 \
    X(LAUNCH, "launch-overhead", "in launching calls, or on the way from one to the next") \
    X(SYNC, "synchronising", "in a call that waits for the device")                        \
    X(COPYING, "copying", "in a call that copies between host and device")                 \
    X(RUNTIME, "runtime", "in another call of the device's runtime or driver")             \
    X(CPU, "cpu-work", "in an operator or function that launches nothing")                 \
    X(PYTHON, "python", "in Python functions")                                             \
    X(UNTRACED, "untraced", "nothing was recorded: asleep, or in code that is not traced") \
    X(PROFILER, "profiler", "the profiler itself")                                         \
    X(UNSEEN, "unknown", "the trace has no host side")

/** What device time was lost to: the two axes brought together. */
#define ASSAY__LOSS_ROWS(X)                                                      \
    X(LAUNCHING, "launch-overhead", "launch overhead")                           \
    X(TRANSFERS, "transfers", "transfers between host and device")               \
    X(SYNCHRONISING, "synchronisation", "synchronisation")                       \
    X(STARVATION, "starved", "waiting for the host")                             \
    X(COMMUNICATING, "communication", "communication not hidden by computation") \
    X(WAITING, "dependency", "dependencies between streams")                     \
    X(PROFILING, "profiler", "the profiler itself")                              \
    X(UNEXPLAINED, "unknown", "not explained by the trace")

#define ASSAY__DIAGNOSIS_ROWS(X)                                         \
    X(LAUNCH_OVERHEAD, "launch-overhead", "launch overhead")             \
    X(TRANSFERS, "transfers", "transfers between host and device")       \
    X(INEFFICIENT_KERNELS, "inefficient-kernels", "inefficient kernels") \
    X(STARVED, "starved", "starved by the host")                         \
    X(SYNCHRONISATION, "synchronisation", "drained by synchronisation")  \
    X(NONE, "none", "nothing wrong")                                     \
    X(UNDECIDED, "undecided", "undecided")

enum assay__device_cause {
#define ASSAY__CAUSE_ID(id, name, meaning) ASSAY__DEVICE_##id,
    ASSAY__DEVICE_CAUSE_ROWS(ASSAY__CAUSE_ID)
#undef ASSAY__CAUSE_ID
        ASSAY__DEVICE_CAUSES
};
enum assay__host_cause {
#define ASSAY__CAUSE_ID(id, name, meaning) ASSAY__HOST_##id,
    ASSAY__HOST_CAUSE_ROWS(ASSAY__CAUSE_ID)
#undef ASSAY__CAUSE_ID
        ASSAY__HOST_CAUSES
};
enum assay__loss {
#define ASSAY__CAUSE_ID(id, name, meaning) ASSAY__LOSS_##id,
    ASSAY__LOSS_ROWS(ASSAY__CAUSE_ID)
#undef ASSAY__CAUSE_ID
        ASSAY__LOSSES
};
enum assay__diagnosis_id {
#define ASSAY__CAUSE_ID(id, name, meaning) ASSAY__DIAGNOSIS_##id,
    ASSAY__DIAGNOSIS_ROWS(ASSAY__CAUSE_ID)
#undef ASSAY__CAUSE_ID
        ASSAY__DIAGNOSES
};

struct assay__cause_word {
    const char *name, *meaning;
};
extern const struct assay__cause_word assay__device_causes[ASSAY__DEVICE_CAUSES];
extern const struct assay__cause_word assay__host_causes[ASSAY__HOST_CAUSES];
extern const struct assay__cause_word assay__losses[ASSAY__LOSSES];
extern const struct assay__cause_word assay__diagnoses[ASSAY__DIAGNOSES];

/** By enum assay__copy_direction and enum assay__memory_kind of the event store. */
extern const char *const assay__copy_directions[6], *const assay__memory_kinds[5];

/** What idle time of these two causes is lost to. */
enum assay__loss assay__loss_of(enum assay__device_cause device, enum assay__host_cause host);

#endif
