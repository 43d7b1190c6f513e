/* rules_target.c - rules about how the engine was set up: threads, spinning, optimisation, streams.
 * The right number of threads is the number of cores it may run on; how much a wrong one costs
 * depends on the model, so most of these have no potential until they are tried. */
#include "advise/rules.h"
#include "base/cpu_list.h"

#include <math.h>
#include <string.h>

/* With less than this share of the time in compute-bound layers, more threads have little to do. */
#define UNDER_COMPUTE_SHARE 0.3
/* Busy CPUs per thread, above which waiting must be spinning … */
#define SPINNING_BUSY 0.9
/* … if the layers reach less than this share of their roofs. */
#define SPINNING_UTILIZATION 0.1

/* Cores and hardware threads that the worker may use; 0 unknown. */
static void room(const struct assay__advice *a, int *cores, int *threads)
{
    const struct assay__environment *e = &a->profile->environment;
    int pinned = assay__cpu_list_count(a->trial->target.cpus);
    *cores = e->cores;
    *threads = e->threads > 0 ? e->threads : e->cores;
    if (pinned > 0 && (!*threads || pinned < *threads)) *threads = pinned;
    if (pinned > 0 && (!*cores || pinned < *cores)) *cores = pinned;
}

static const char no_cores[] = "machine: the number of cores is unknown";

static enum assay__rule_outcome threads_over(struct assay__advice *a)
{
    int cores, threads, own = a->trial->target.threads;
    room(a, &cores, &threads);
    if (!assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (threads <= 0) return assay__rule_missing(a, no_cores);
    if (own <= threads) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%d threads of the engine on %d hardware threads (%d cores)", own,
                         threads, cores);
    assay__rule_advice(a, "use as many threads as cores: %d", cores);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome threads_smt(struct assay__advice *a)
{
    int cores, threads, own = a->trial->target.threads;
    room(a, &cores, &threads);
    if (!assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (cores <= 0) return assay__rule_missing(a, no_cores);
    if (own <= cores || own > threads) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%d threads on %d cores: %d of them share a core with another", own,
                         cores, own - cores);
    assay__rule_advice(
        a, "two threads of one core share its arithmetic units: try one thread per core (%d)",
        cores);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome threads_under(struct assay__advice *a)
{
    int cores, threads, own = a->trial->target.threads;
    double share = a->roofline.time_ns[ASSAY__BOUND_COMPUTE] / a->p50_ns;
    room(a, &cores, &threads);
    if (!assay__trial_on_cpu(a->trial) || own <= 0) return ASSAY__RULE_NOTHING;
    if (cores <= 0) return assay__rule_missing(a, no_cores);
    if (own >= cores || share < UNDER_COMPUTE_SHARE) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%d of %d cores are used", own, cores);
    assay__rule_evidence(a, "compute-bound layers take %s %% of the latency",
                         assay__percent(share).text);
    assay__rule_advice(a, "use all %d cores", cores);
    return assay__rule_found(a, assay__amdahl(share < 1 ? share : 1, (double)cores / (double)own));
}

static void use_cores(const struct assay__advice *a, struct assay__change *change)
{
    int cores, threads;
    room(a, &cores, &threads);
    if (cores > 0) *change = (struct assay__change){ASSAY__CHANGE_THREADS, cores, NULL, 0};
}

static enum assay__rule_outcome spinning(struct assay__advice *a)
{
    int own = a->trial->target.threads;
    double busy = assay__trial_value(a->trial, "hardware.cpus_busy"),
           used = a->roofline.least_ns / a->roofline.least_of_ns;
    if (!assay__trial_on_cpu(a->trial) || a->trial->target.spinning_off) return ASSAY__RULE_NOTHING;
    if (!isfinite(busy)) return assay__rule_without(a, "hardware.cpus_busy");
    if (own <= 0) own = a->profile->environment.cores;
    if (own < 2 || busy < SPINNING_BUSY * (double)own || !(used < SPINNING_UTILIZATION))
        return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%d threads keep %s CPUs busy", own, assay__digits(busy, 3).text);
    assay__rule_evidence(a, "the layers reach %s %% of their roofs", assay__percent(used).text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome optimization(struct assay__advice *a)
{
    enum assay__optimization level = a->trial->target.optimization;
    if (!level || level == ASSAY__OPTIMIZATION_ALL) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "graph optimisation is '%s', not 'all'",
                         assay__optimization_name(level));
    if (a->trial->layers.count)
        assay__rule_evidence(a, "%lld nodes of the model ran as %zu layers",
                             (long long)a->trial->model->node_count, a->trial->layers.count);
    else if (a->trial->model->node_count >= 0)
        assay__rule_evidence(a, "the model has %lld nodes", (long long)a->trial->model->node_count);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome streams_over(struct assay__advice *a)
{
    int cores, threads, own = a->trial->target.threads, streams = a->trial->target.streams;
    room(a, &cores, &threads);
    if (!assay__trial_on_cpu(a->trial) || streams < 2) return ASSAY__RULE_NOTHING;
    if (cores <= 0) return assay__rule_missing(a, no_cores);
    if (own <= 0) own = cores; /* the engine's default */
    if (streams <= threads || own < 2) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(
        a, "%d requests in flight and %d threads of the engine on %d hardware threads", streams,
        own, threads);
    assay__rule_advice(a, "use at most %d requests in flight, or one thread each without spinning",
                       cores);
    return assay__rule_found(a, NAN);
}

static void one_thread(const struct assay__advice *a, struct assay__change *change)
{
    (void)a;
    *change = (struct assay__change){ASSAY__CHANGE_THREADS, 1, NULL, 0};
}

#define CEILED (ASSAY__NEED_LATENCY | ASSAY__NEED_LAYERS | ASSAY__NEED_COSTS | ASSAY__NEED_CEILINGS)

const struct assay__rule assay__rules_target[] = {
    {"threads-over", "target", "medium", "small", 0, threads_over, use_cores, NULL,
     "More threads than hardware threads",
     "more engine threads than hardware threads available to it", NULL},
    {"threads-smt", "target", "low", "small", 0, threads_smt, use_cores, NULL,
     "Two threads share a core", "more threads than cores, but not more than hardware threads",
     NULL},
    {"threads-under", "target", "medium", "small", CEILED, threads_under, use_cores, NULL,
     "Cores stay unused",
     "fewer threads than cores, and 30 % or more of the latency in compute-bound layers", NULL},
    {"spinning", "target", "low", "small", CEILED | ASSAY__NEED_COUNTERS, spinning,
     assay__try_spinning_off, NULL, "Idle threads spin",
     "90 % or more of the CPU time of the threads in use while layers reach less than 10 % of "
     "their roofs",
     "let waiting threads sleep (session.intra_op.allow_spinning = 0): this saves energy and frees "
     "CPU time for others, but may increase latency"},
    {"optimization-off", "target", "high", "small", 0, optimization, assay__try_optimization, NULL,
     "Graph optimisation is not fully enabled", "an optimisation level other than all",
     "enable full graph optimisation"},
    {"streams-over", "target", "medium", "small", 0, streams_over, one_thread, NULL,
     "Requests compete for the cores",
     "more requests in flight than hardware threads, each with several threads", NULL},
    {0},
};
