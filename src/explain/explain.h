/* explain.h - what a timeline says: how busy its devices were, why they were idle, what the copies
 * and synchronisations cost, which intervals repeat, and what is wrong. Pure functions of a sealed
 * event store; doc/explain.md has the rules and their reasons.
 *
 *   struct assay__explain *explain;
 *   code = assay__explain_new(events, NULL, &explain, error);
 *   explain->diagnosis.id …
 *   assay__explain_free(explain);
 *
 * Times are integer nanoseconds, so that for each device busy + all idle classes = span exactly. */
#ifndef ASSAY_EXPLAIN_EXPLAIN_H
#define ASSAY_EXPLAIN_EXPLAIN_H

#include "base/arena.h"
#include "explain/causes.h"
#include "explain/flame.h"
#include "explain/kernel_class.h"
#include "trace/events.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__program_allocations; /* profile/profile.h */
struct assay__timeline;

/** Numbers of a set of durations. */
struct assay__durations {
    size_t count;
    int64_t total_ns, median_ns, p90_ns, max_ns; /* of none: 0 */
};

/** An interval in which a device had no work. */
struct assay__idle_gap {
    int64_t start_ns, end_ns;
    uint32_t before, after; /* the work that ended last, and that which ends the gap */
    uint32_t call;          /* place of the call that launched the latter, or ASSAY__NO_EVENT */
    uint32_t wait;          /* place of the call that had emptied the device, or ASSAY__NO_EVENT */
    uint8_t cause;          /* enum assay__device_cause */
    uint8_t host;           /* enum assay__host_cause: what most of it went to */
};

#define ASSAY__GAP_BINS 7
extern const int64_t assay__gap_bin_ns[ASSAY__GAP_BINS]; /* upper ends; the last is INT64_MAX */

/** HTA's classes of the gaps of a stream (doc/explain.md). */
enum assay__hta_idle {
    ASSAY__HTA_HOST_WAIT,
    ASSAY__HTA_KERNEL_WAIT,
    ASSAY__HTA_OTHER,
    ASSAY__HTA_IDLES
};
extern const char *const assay__hta_idle_names[ASSAY__HTA_IDLES];

struct assay__explain_stream {
    uint32_t track;
    size_t kernels, copies, memsets;
    int64_t busy_ns, span_ns;
    int64_t hta_idle_ns[ASSAY__HTA_IDLES];
    size_t hta_gaps[ASSAY__HTA_IDLES];
    int64_t hta_kernel_wait_30ns_ns; /* the kernel wait with the manual's threshold */
    size_t queue_max;                /* launched and not yet begun */
    double queue_mean;      /* over its changes, as HTA defines it; NaN: no launches known */
    int64_t queue_empty_ns; /* from the first launch to the last start: nothing was queued */
};

struct assay__explain_device {
    int32_t rank, device;
    const char *name;          /* "NVIDIA H200", "device 0" */
    int64_t first_ns, last_ns; /* of its work */
    int64_t span_ns, busy_ns, idle_ns;
    int64_t compute_ns;   /* union of kernels and memsets */
    int64_t copy_only_ns; /* copies between host and device while nothing else runs */
    int64_t kernel_sum_ns;
    bool host;                   /* its rank has host events: */
    int64_t before_ns, after_ns; /* theirs before its first work, after its last */
    size_t copies, memsets;
    struct assay__durations kernel, gap;
    size_t gap_bin_count[ASSAY__GAP_BINS];
    int64_t gap_bin_ns[ASSAY__GAP_BINS];
    struct assay__idle_gap *gaps;
    int64_t idle[ASSAY__DEVICE_CAUSES][ASSAY__HOST_CAUSES];
    size_t idle_gaps[ASSAY__DEVICE_CAUSES];
    struct assay__explain_stream *streams;
    size_t stream_count;
    size_t correlated; /* of its work: the launching call is known */
};

/** Host time while devices waited, by what the host was in. */
struct assay__host_time {
    enum assay__host_cause cause;
    uint32_t name; /* of the event; ASSAY__EVENT_UNKNOWN: nothing was recorded */
    int64_t ns;
};

/** A name on the host's threads. */
struct assay__host_function {
    uint32_t name;
    uint8_t kind;     /* enum assay__event_kind */
    const char *type; /* "Conv" where the name is an instance's; NULL: unknown */
    size_t count;     /* of samples: how many */
    /* as the innermost event, and with what is within; of samples as far as their stacks say */
    int64_t self_ns, total_ns;
};

/** Samples without a weight only count. */
static inline bool assay__explain_has_time(const struct assay__host_function *function)
{
    return function->kind != ASSAY__EVENT_SAMPLE || function->self_ns > 0;
}

/** Copies of one direction and kind of host memory. */
struct assay__transfer_class {
    uint8_t direction, memory;  /* enum assay__copy_direction; of the host's side:
                                   enum assay__memory_kind */
    size_t count, small, sized; /* small: of those whose size is known, below 64 KiB */
    size_t blocking;            /* the host waited for it: in the call, or right after it */
    int64_t bytes, ns;
    int64_t hidden_ns; /* of ns: while a kernel ran */
    int64_t call_ns;   /* host time in the calls */
};

/** Calls of the runtime that took far longer than others of their name (long_calls.c). */
struct assay__long_calls {
    size_t count;
    int64_t ns;       /* devices were idle in them */
    uint32_t longest; /* event; ASSAY__NO_EVENT: none */
};

/** One way of waiting for the device. */
struct assay__sync_class {
    uint32_t name; /* of the call */
    uint32_t op;   /* of the operator around it; ASSAY__EVENT_UNKNOWN: none */
    size_t count;
    int64_t wait_ns; /* host time in these calls */
    int64_t idle_ns; /* of devices that they drained */
    size_t drained;  /* of them: a device was idle afterwards, until the host had launched again */
};

struct assay__kernel_time {
    uint32_t name;
    uint32_t op; /* the operator that launches most of it; ASSAY__EVENT_UNKNOWN: none */
    size_t count;
    int64_t ns, min_ns, max_ns;
    enum assay__kernel_kind kind;
    unsigned traits; /* enum assay__kernel_trait */
    double flops;    /* NaN: not known */
};
struct assay__operator_time {
    uint32_t name;
    size_t kernels, calls;
    int64_t device_ns;
};

/** Intervals that repeat. */
struct assay__step {
    int64_t start_ns,
        end_ns;             /* on the host; found by launches: from its first work to the next's */
    int64_t from_ns, to_ns; /* what was launched then belongs to it */
    const char *name;       /* "ProfilerStep#3", "step 3" */
    size_t kernels;
    int64_t busy_ns, idle_ns; /* of the devices of its rank, between its first and last work */
    int64_t compute_ns;       /* of busy_ns: without copies between host and device alone */
    int64_t idle[ASSAY__LOSSES];
};
struct assay__steps {
    struct assay__step *items;
    size_t count;
    const char *by; /* "annotations", "launches"; "" none found */
    struct assay__durations time;
    size_t slowest;
    const char *why; /* the slowest is slow; "" it is not */
};

/** A rank of a distributed program. */
struct assay__rank_time {
    int32_t rank;
    int64_t span_ns, compute_ns, communication_ns; /* unions, of its devices */
    int64_t overlap_ns;                            /* both at once */
    size_t collectives;
    int64_t arrival_ns; /* how much later than the first of all ranks it entered collectives */
};
struct assay__ranks {
    struct assay__rank_time *items;
    size_t count;
    size_t straggler; /* place; SIZE_MAX: none stands out */
    const char *why;
};

/** What if a class of cost were gone. */
struct assay__what_if {
    enum assay__loss loss;
    int64_t span_ns; /* simulated */
    double gain;     /* 1 - this ÷ the simulation in which nothing is removed */
};
struct assay__what_ifs {
    int64_t span_ns; /* simulated, nothing removed; 0: there is no simulation */
    double error;    /* relative to the trace's */
    struct assay__what_if items[ASSAY__LOSSES];
    size_t count;
};

/** Through host and device, from the last work backwards. */
struct assay__critical_path {
    int64_t total_ns, device_ns, copy_ns, gap_ns, host_ns[ASSAY__HOST_CAUSES];
    struct assay__kernel_time *kernels; /* of the path, the longest first */
    size_t kernel_count;
};

enum assay__verdict3 { ASSAY__VERDICT_NO, ASSAY__VERDICT_YES, ASSAY__VERDICT_OPEN };
struct assay__scenario {
    const char *id, *title;
    enum assay__verdict3 verdict;
    const char *evidence;
};
#define ASSAY__SCENARIOS 3

struct assay__explain_diagnosis {
    enum assay__diagnosis_id id;
    const char *verdict;  /* one sentence of at most 20 words */
    const char *evidence; /* clauses with "; " between them; "" none */
    const char *advice;   /* "" none */
    double cost;          /* share of the devices' time, that the verdict names; NaN: none */
};

struct assay__explain_finding {
    const char *id, *severity, *title, *evidence, *advice, *effort;
    double gain; /* of the span; NaN: not known */
};

/** A number over time, its samples taken together. */
struct assay__counter_range {
    const struct assay__trace_counter *counter;
    size_t samples; /* that are numbers */
    double mean, least, most;
};

struct assay__explain {
    struct assay__arena *arena;
    const struct assay__events *events;
    struct assay__timeline *timeline;
    struct assay__explain_device *devices;
    size_t device_count;
    /* of all devices together */
    int64_t span_ns, busy_ns;
    int64_t compute_ns; /* … without exposed communication */
    int64_t loss_ns[ASSAY__LOSSES];
    int64_t refill_ns;                   /* of launching: soon after a copy had emptied the queue */
    struct assay__host_time *host_times; /* the longest first */
    size_t host_time_count;
    struct assay__host_function *functions; /* the longest first */
    size_t function_count;
    int64_t host_ns; /* of all threads: something was recorded */
    size_t samples;
    int64_t sampled_ns;         /* that they stand for; 0: not known */
    struct assay__flame *flame; /* their stacks; NULL: there are none */
    struct assay__transfer_class *transfers;
    size_t transfer_count;
    struct assay__sync_class *syncs;
    size_t sync_count;
    struct assay__kernel_time *kernels; /* the longest first */
    size_t kernel_count;
    struct assay__operator_time *operators;
    size_t operator_count;
    int64_t kernel_kind_ns[ASSAY__KERNEL_KINDS];
    int64_t trait_ns[ASSAY__KERNEL_TRAITS]; /* kernels with that trait */
    int64_t slow_ns;                        /* kernels that names show to be inefficient */
    int64_t known_ns;                       /* kernels that names show to be efficient */
    struct assay__long_calls long_calls;
    struct assay__steps steps;
    struct assay__ranks ranks;
    struct assay__what_ifs what_if;
    struct assay__critical_path path;
    struct assay__counter_range *counters;
    size_t counter_count;
    struct assay__scenario scenarios[ASSAY__SCENARIOS];
    struct assay__explain_diagnosis diagnosis;
    struct assay__explain_finding *findings;
    size_t finding_count;
    /* set by who has them; they must outlive it */
    const struct assay__program_allocations *allocations;
    size_t allocation_count;
    const char *file; /* as the user named it; NULL: that of the first source */
};

/** As the user named it, else the first source's; "": there is none. */
const char *assay__explain_file(const struct assay__explain *explain);

/** The store must be sealed and outlive it. 0, ASSAY_ENOMEM, or ASSAY_EFORMAT where its times are
 * too large to be added up. */
int assay__explain_new(const struct assay__events *events, struct assay__explain **explain,
                       struct assay_error *error);
void assay__explain_free(struct assay__explain *explain); /* NULL legal */

/** Share of all devices' spans; NaN where there is none. */
double assay__explain_share(const struct assay__explain *explain, int64_t ns);

#endif
