/* rules_machine.c - rules about the machine and what else it did: clocks, heat, neighbours, faults;
 * and how far the numbers can be trusted. */
#include "advise/rules.h"

#include <math.h>
#include <string.h>

#define CLOCK_FALL 0.05   /* over the run: the same limit as for a disturbance in the report */
#define CLOCK_BELOW 0.9   /* share of the maximum clock */
#define STEAL_SHARE 0.01  /* the same */
#define OTHER_SHARE 0.05  /* the same */
#define TAIL_RATIO 2.0    /* p99 over p50: users notice the tail */
#define FAULT_S 0.5e-6    /* a minor page fault with a page to clear: 0.25 to 1 µs are common */
#define MAJOR_LEAST 10.0  /* a few occur while loading */
#define SWITCHES_EACH 1.0 /* per inference */
#define STABLE_CV 0.025   /* trtexec warns above this */

static enum assay__rule_outcome heat(struct assay__advice *a)
{
    const struct assay__environment *e = &a->profile->environment;
    double change = assay__trial_value(a->trial, "disturbance.frequency_change");
    for (size_t i = 0; e->disturbance_kinds && i < e->disturbance_count; i++)
        if (e->disturbance_kinds[i] == ASSAY__DISTURBANCE_THROTTLED ||
            e->disturbance_kinds[i] == ASSAY__DISTURBANCE_SLOWED)
            assay__rule_evidence(a, "%s", e->disturbances[i]);
    bool fell = change <= -CLOCK_FALL && change > -1;
    if (fell)
        assay__rule_evidence(a, "the clock fell by %s %% during the run",
                             assay__percent(-change).text);
    if (!a->result->finding.evidence_count)
        return isfinite(change) ? ASSAY__RULE_NOTHING
                                : assay__rule_without(a, "disturbance.frequency_change");
    return assay__rule_found(a, fell ? 1 / (1 + change) : NAN);
}

static enum assay__rule_outcome clock_below(struct assay__advice *a)
{
    double hz = assay__trial_value(a->trial, "disturbance.frequency"),
           most = a->profile->environment.cpu_max_hz;
    const char *governor = a->profile->environment.governor;
    if (!assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (!isfinite(hz)) return assay__rule_without(a, "disturbance.frequency");
    if (!(most > 0)) return assay__rule_missing(a, "machine: its maximum clock is unknown");
    if (hz >= CLOCK_BELOW * most) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the CPUs ran at %s of %s; governor '%s'", assay__scaled(hz, "Hz").text,
                         assay__scaled(most, "Hz").text,
                         governor && *governor ? governor : "unknown");
    return assay__rule_found(a, most / hz);
}

static enum assay__rule_outcome governor(struct assay__advice *a)
{
    const char *own = a->profile->environment.governor;
    if (!assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (!own || !*own)
        return assay__rule_missing(a, "machine: the governor cannot be read (no cpufreq)");
    if (strcmp(own, "performance") == 0) return ASSAY__RULE_NOTHING;
    double first = assay__trial_value(a->trial, "timing.first");
    assay__rule_evidence(a, "the governor is '%s' on %d cores", own, a->profile->environment.cores);
    if (isfinite(first))
        assay__rule_evidence(a, "the first inference took %s", assay__scaled(first, "s").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome steal(struct assay__advice *a)
{
    double share = assay__trial_value(a->trial, "disturbance.steal");
    if (!isfinite(share)) return assay__rule_without(a, "disturbance.steal");
    if (share < STEAL_SHARE || share >= 1) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the hypervisor gave %s %% of the CPU time to others",
                         assay__percent(share).text);
    return assay__rule_found(a, 1 / (1 - share));
}

static enum assay__rule_outcome neighbours(struct assay__advice *a)
{
    double share = assay__trial_value(a->trial, "disturbance.cpu_other");
    if (!isfinite(share)) return assay__rule_without(a, "disturbance.cpu_other");
    if (share < OTHER_SHARE) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "other processes used %s %% of the machine's CPU time",
                         assay__percent(share).text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome quota(struct assay__advice *a)
{
    double held = assay__trial_value(a->trial, "disturbance.throttled");
    if (!isfinite(held)) return assay__rule_without(a, "disturbance.throttled");
    if (!(held > 0)) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the control group's CPU quota stopped the run for %s",
                         assay__scaled(held, "s").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome switches(struct assay__advice *a)
{
    double each = assay__trial_value(a->trial, "hardware.context_switches");
    if (!isfinite(each)) return assay__rule_without(a, "hardware.context_switches");
    if (each < SWITCHES_EACH) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%s context switches in an inference of %s",
                         assay__digits(each, 3).text, assay__scaled(a->p50_ns / 1e9, "s").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome faults(struct assay__advice *a)
{
    double each = assay__trial_value(a->trial, "hardware.page_faults");
    if (!isfinite(each)) return assay__rule_without(a, "hardware.page_faults");
    double share = each * FAULT_S * 1e9 / a->p50_ns;
    if (each < 1) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "%s page faults in a warm inference", assay__digits(each, 3).text);
    assay__rule_evidence(a, "estimated at %.3g µs each: %s %% of the latency", FAULT_S * 1e6,
                         assay__percent(share).text);
    a->result->finding.gain_estimated = true;
    return assay__rule_found(a, assay__amdahl(fmin(share, 0.9), (double)INFINITY));
}

static enum assay__rule_outcome major_faults(struct assay__advice *a)
{
    double count = assay__trial_value(a->trial, "disturbance.page_faults_major");
    if (!isfinite(count)) return assay__rule_without(a, "disturbance.page_faults_major");
    if (count < MAJOR_LEAST) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "page faults that waited for the disk: %.0f", count);
    if (isfinite(a->profile->environment.memory_bytes))
        assay__rule_evidence(a, "the machine has %s of memory",
                             assay__scaled(a->profile->environment.memory_bytes, "B").text);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome few_samples(struct assay__advice *a)
{
    const struct assay__stability *s = &a->trial->stability;
    double samples = assay__trial_value(a->trial, "latency.samples");
    if (!s->verdict || !*s->verdict)
        return assay__rule_missing(a, "stability: the run was not assessed");
    if (strcmp(s->verdict, "too-few") != 0) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the statistics are based on %.0f samples",
                         isfinite(samples) ? samples : 0.0);
    if (s->more_iterations > 0)
        assay__rule_evidence(a, "%lld more would bring the median within 1 %%",
                             (long long)s->more_iterations);
    return assay__rule_found(a, NAN);
}

static enum assay__rule_outcome unstable(struct assay__advice *a)
{
    const struct assay__stability *s = &a->trial->stability;
    double cv = assay__trial_value(a->trial, "latency.cv");
    if (!s->verdict || !*s->verdict)
        return assay__rule_missing(a, "stability: the run was not assessed");
    if (strcmp(s->verdict, "unstable") != 0) return ASSAY__RULE_NOTHING;
    for (size_t i = 0; i < s->reason_count && i < 3; i++)
        assay__rule_evidence(a, "%s", s->reasons[i]);
    if (isfinite(cv) && cv > STABLE_CV)
        assay__rule_evidence(a, "the CV of the latency is %s %%", assay__percent(cv).text);
    if (!a->result->finding.evidence_count) return ASSAY__RULE_NOTHING;
    return assay__rule_found(a, NAN);
}

static void more_samples(const struct assay__advice *a, struct assay__change *change)
{
    double samples = assay__trial_value(a->trial, "latency.samples");
    int64_t more = a->trial->stability.more_iterations;
    if (more > 0 && isfinite(samples) && samples < 1e9)
        *change = (struct assay__change){ASSAY__CHANGE_ITERATIONS, (int64_t)samples + more, NULL,
                                         0};
}

static enum assay__rule_outcome tail(struct assay__advice *a)
{
    double p99 = assay__trial_value(a->trial, "latency.p99"), p50 = a->p50_ns / 1e9;
    if (!isfinite(p99)) return assay__rule_without(a, "latency.p99");
    if (p99 < TAIL_RATIO * p50) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "p99 is %s, %s times the median of %s", assay__scaled(p99, "s").text,
                         assay__digits(p99 / p50, 3).text, assay__scaled(p50, "s").text);
    return assay__rule_found(a, NAN);
}

const struct assay__rule assay__rules_machine[] = {
    {"thermal-throttling", "machine", "high", "medium", ASSAY__RULE_DISTURBANCE, heat, NULL, NULL,
     "The processor was throttled for heat or power",
     "a recorded disturbance, or a clock that fell by 5 % or more during the run",
     "improve cooling, set a power limit that the machine can hold, or pause between runs; measure "
     "short and long runs separately"},
    {"clock-below", "machine", "low", "small", 0, clock_below, NULL, NULL,
     "The clock stays below its maximum", "a mean clock below 90 % of the maximum",
     "let the clock rise: cpupower frequency-set -g performance, turbo on; the maximum is for one "
     "core, and all cores together may not reach it"},
    {"governor", "machine", "note", "small", 0, governor, NULL, NULL, "The governor saves power",
     "a governor other than performance",
     "for steady latencies: cpupower frequency-set -g performance; other governors are slow to "
     "raise the clock after a pause"},
    {"steal", "machine", "medium", "medium", ASSAY__RULE_DISTURBANCE, steal, NULL, NULL,
     "The hypervisor takes CPU time away", "1 % or more of the CPU time stolen",
     "use a dedicated machine, instance or cores"},
    {"neighbours", "machine", "medium", "small", ASSAY__RULE_DISTURBANCE, neighbours, NULL, NULL,
     "Other processes use the machine", "5 % or more of its CPU time",
     "stop them and measure again, or pin the worker to reserved CPUs"},
    {"cpu-quota", "machine", "high", "small", ASSAY__RULE_DISTURBANCE, quota, NULL, NULL,
     "A CPU quota slows down the run", "any time throttled by the control group",
     "raise the quota (cpu.max), or use as many threads as the quota has CPUs"},
    {"context-switches", "machine", "low", "small", ASSAY__NEED_LATENCY | ASSAY__NEED_COUNTERS,
     switches, assay__try_spinning_off, NULL, "Threads are switched off their CPUs",
     "one or more context switches per inference",
     "use fewer threads than cores, or pin the worker to reserved CPUs; threads that sleep between "
     "layers switch too: compare with and without spinning"},
    {"page-faults", "machine", "low", "small", ASSAY__NEED_LATENCY | ASSAY__NEED_COUNTERS, faults,
     NULL, NULL, "Warm inferences touch new memory",
     "one or more page faults per warm inference; the potential assumes 0.5 µs each",
     "keep memory between inferences: the engine's arena on, outputs bound to the caller's memory, "
     "MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ high"},
    {"major-faults", "machine", "medium", "small", ASSAY__RULE_DISTURBANCE, major_faults, NULL,
     NULL, "Pages were read from disk", "10 or more page faults that needed disk I/O",
     "read the model file once before measuring; if the faults continue, memory is too small for "
     "the workload"},
    {"few-samples", "machine", "medium", "small", ASSAY__RULE_DISTURBANCE, few_samples,
     more_samples, NULL, "Too few samples for a conclusion", "the stability verdict too-few",
     "measure for 10 s or more before deciding anything"},
    {"unstable", "machine", "medium", "small", ASSAY__RULE_DISTURBANCE, unstable, NULL, NULL,
     "The measurement was not stable", "the stability verdict unstable",
     "do not compare this run: quiet the machine, pin the worker to CPUs, use 10 launches"},
    {"latency-tail", "machine", "medium", "small", ASSAY__NEED_LATENCY, tail, NULL, NULL,
     "The slowest inferences are far from the median", "a p99 of at least twice the median",
     "use one thread fewer than there are cores, reserved CPUs or the governor 'performance'; see "
     "the disturbances in the report"},
    {0},
};
