/* trial_disturbance.c - what else happened on the machine while the launches ran: counters read
 * before and after each launch, clocks read after warm-up and at the end of the windows (an idle
 * clock before the run is meaningless), the worker's own resource usage. Beyond a threshold a
 * metric also becomes a sentence; what cannot be observed is named. */
#include "run/sentences.h"
#include "run/trial/trial.h"

#include "base/metric_value.h"

#include <math.h>
#include <stdlib.h>

#define STEAL_SHARE 0.01
#define OTHER_SHARE 0.05
#define FREQUENCY_CHANGE 0.05
#define SWITCHES_PER_S 100.0
#define SWITCHES_LEAST 50.0 /* a rate out of fewer is an accident */

struct totals {
    double busy_s, idle_s, steal_s, ours_s, life_s, throttled_s;
    bool cpu, steal, throttle, cgroup, frequency, temperature, usage;
    double throttles, frequency_hz, temperature_c;
    double frequency_change; /* the largest of a launch, signed */
    double switches, major, minor;
    double left_out_s;
    size_t left_out;
    size_t launches, adopted, frequencies; /* adopted: from an earlier capture, without readings */
};

static void add_frequency(const struct assay__outcome *outcome, struct totals *sum)
{
    const struct assay__disturbance *warm = &outcome->warm, *end = &outcome->end;
    if (!outcome->warm_known || !warm->frequency_known || !end->frequency_known ||
        !(warm->frequency_hz > 0))
        return;
    double change = end->frequency_hz / warm->frequency_hz - 1;
    sum->frequency_hz += (warm->frequency_hz + end->frequency_hz) / 2;
    sum->frequencies++;
    if (fabs(change) > fabs(sum->frequency_change)) sum->frequency_change = change;
    sum->frequency = true;
}

static void add(const struct assay__outcome *outcome, struct totals *sum)
{
    const struct assay__disturbance *a = &outcome->before, *b = &outcome->after;
    if (outcome->adopted) {
        sum->adopted++;
        return;
    }
    sum->launches++;
    sum->life_s += outcome->life_s;
    sum->ours_s += outcome->parent_cpu_s;
    sum->left_out += outcome->left_out;
    sum->left_out_s += outcome->left_out_ns / 1e9;
    if (a->cpu_known && b->cpu_known) {
        sum->cpu = true;
        sum->busy_s += b->cpu_busy_s - a->cpu_busy_s;
        sum->idle_s += b->cpu_idle_s - a->cpu_idle_s;
    }
    if (a->steal_known && b->steal_known) {
        sum->steal = true;
        sum->steal_s += b->cpu_steal_s - a->cpu_steal_s;
    }
    if (a->throttle_known && b->throttle_known) {
        sum->throttle = true;
        sum->throttles += (double)b->throttle_count - (double)a->throttle_count;
    }
    if (a->cgroup_known && b->cgroup_known) {
        sum->cgroup = true;
        sum->throttled_s += ((double)b->cgroup_throttled_ns - (double)a->cgroup_throttled_ns) / 1e9;
    }
    if (b->temperature_known) {
        sum->temperature_c = sum->temperature ? fmax(sum->temperature_c, b->temperature_c)
                                              : b->temperature_c;
        sum->temperature = true;
    }
    add_frequency(outcome, sum);
    if (!outcome->exit_known) return;
    sum->usage = true;
    sum->ours_s += (double)(outcome->exit.user_ns + outcome->exit.system_ns) / 1e9;
    sum->switches += (double)outcome->exit.involuntary_switches;
    sum->major += (double)outcome->exit.major_faults;
    sum->minor += (double)outcome->exit.minor_faults;
}

static void put_metrics(const struct totals *sum, double steal, double other,
                        struct assay_metrics *metrics)
{
    static const char *const no_clock =
        "no cpufreq on this host: the clock of the CPUs cannot be read";
    static const char *const no_usage = "no worker ended, so its resource usage is unknown";
    static const char *const too_short =
        "the launches were too short for the system's CPU times, which advance in ticks";
    const char *none = sum->adopted ? "the launches are from an earlier capture" : NULL;
    bool counted = isfinite(steal); /* some CPU time passed */
    double hz = sum->frequencies ? sum->frequency_hz / (double)sum->frequencies : NAN;
    const struct {
        const char *name;
        bool known;
        double value;
        const char *source, *note, *reason;
    } rows[] = {
        {"disturbance.steal", sum->steal && sum->cpu, steal, "system",
         "of all CPU time while the launches ran",
         sum->steal && sum->cpu && !counted ? too_short : "this system does not report steal time"},
        {"disturbance.cpu_other", sum->cpu && sum->usage, other, "system",
         "busy CPU time of other processes / all CPU time",
         !sum->cpu     ? "this system does not report CPU time"
         : !sum->usage ? no_usage
                       : too_short},
        {"disturbance.frequency", sum->frequency, hz, "cpufreq", "mean of warm and end readings",
         no_clock},
        {"disturbance.frequency_change", sum->frequency, sum->frequency_change, "cpufreq",
         "clock at the end of the windows / after the pre-run - 1", no_clock},
        {"disturbance.throttled", sum->cgroup, sum->throttled_s, "cgroup",
         "CPU quota of the control group", "no CPU controller of a control group can be read"},
        {"disturbance.context_switches", sum->usage, sum->switches, "rusage",
         "involuntary, whole life of the workers", no_usage},
        {"disturbance.page_faults_major", sum->usage, sum->major, "rusage",
         "whole life of the workers, loading included", no_usage},
        {"disturbance.page_faults_minor", sum->usage, sum->minor, "rusage",
         "whole life of the workers, loading included", no_usage},
        {"hardware.frequency", sum->frequency, hz, "cpufreq", "mean of warm and end readings",
         no_clock},
        {"hardware.temperature", sum->temperature, sum->temperature_c, "thermal",
         "hottest reading after a launch", "no temperature sensor can be read"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assay__metrics_put_known(metrics, rows[i].name, ASSAY_MEASURED,
                                 rows[i].known ? rows[i].value : (double)NAN, rows[i].source,
                                 rows[i].note,
                                 sum->launches ? rows[i].reason
                                 : none        ? none
                                               : "nothing was launched");
    if (sum->left_out)
        assay_metrics_measured(metrics, "disturbance.left_out", sum->left_out_s, "clock",
                               "windows in which the worker waited for a CPU used by others; they "
                               "were measured again");
}

static void say_all(const struct totals *sum, double steal, double other,
                    struct assay__sentences *said)
{
    if (sum->steal && steal > STEAL_SHARE)
        assay__sentences_add(said, "the hypervisor took %.1f %% of the CPU time (steal)",
                             steal * 100);
    if (sum->cpu && sum->usage && other > OTHER_SHARE)
        assay__sentences_add(said, "other processes used %.1f %% of the CPU time", other * 100);
    if (sum->left_out)
        assay__sentences_add(
            said,
            "%zu window%s (%.2g s) were left out and measured again, because other "
            "processes kept the worker from running",
            sum->left_out, sum->left_out == 1 ? "" : "s", sum->left_out_s);
    if (sum->frequency && fabs(sum->frequency_change) > FREQUENCY_CHANGE) {
        assay__sentences_add(said, "the CPU clock changed by %+.1f %% while measuring",
                             sum->frequency_change * 100);
        assay__sentences_kind(said, ASSAY__DISTURBANCE_CLOCK);
    }
    if (sum->throttle && sum->throttles > 0) {
        assay__sentences_add(said, "the CPUs were throttled %.0f times because of heat",
                             sum->throttles);
        assay__sentences_kind(said, ASSAY__DISTURBANCE_THROTTLED);
    }
    if (sum->cgroup && sum->throttled_s > 0) {
        assay__sentences_add(said, "the control group's CPU quota held up the run for %.3g s",
                             sum->throttled_s);
        assay__sentences_kind(said, ASSAY__DISTURBANCE_QUOTA);
    }
    double per_s = sum->life_s > 0 ? sum->switches / sum->life_s : 0;
    if (sum->usage && per_s > SWITCHES_PER_S && sum->switches >= SWITCHES_LEAST)
        assay__sentences_add(said, "the worker was preempted %.0f times per second", per_s);
    if (sum->usage && sum->major > 0)
        assay__sentences_add(
            said, "%.0f page fault%s of the worker waited for the disk (loading included)",
            sum->major, sum->major == 1 ? "" : "s");
}

/* Before the first launch nothing was read, so what the host reports is unknown. */
static void say_unknown(const struct totals *sum, struct assay__sentences *said)
{
    if (!sum->launches) return;
    if (!sum->frequency) assay__sentences_add(said, "CPU clock: no cpufreq on this host");
    if (!sum->throttle)
        assay__sentences_add(said, "thermal throttling: no throttle counters on this host");
    if (!sum->temperature) assay__sentences_add(said, "temperature: no sensor can be read");
    if (!sum->steal) assay__sentences_add(said, "steal time: not reported by this system");
    if (!sum->cpu)
        assay__sentences_add(said, "competing load: CPU time is not reported by this system");
    if (!sum->cgroup)
        assay__sentences_add(said, "CPU quota: no control group with a CPU controller can be read");
}

static double all_cpu_s(const struct totals *sum)
{
    return sum->busy_s + sum->idle_s + sum->steal_s;
}

/* Share of all CPU time used by other processes; NaN if no time passed. */
static double other_share(const struct totals *sum)
{
    double all = all_cpu_s(sum);
    return all > 0 ? fmax(sum->busy_s - sum->ours_s, 0) / all : NAN;
}

double assay__outcome_load(const struct assay__outcome *outcome)
{
    struct totals sum = {0};
    add(outcome, &sum);
    return sum.cpu && sum.usage ? other_share(&sum) : (double)NAN;
}

void assay__launch_disturbance(const struct assay__outcome *outcome, struct assay_metrics *metrics)
{
    double other = assay__outcome_load(outcome);
    if (isfinite(other))
        assay_metrics_measured(metrics, "disturbance.cpu_other", other, "system",
                               "busy CPU time of other processes / all CPU time");
    double loop_ns = NAN;
    for (size_t i = 0; i < ASSAY__SPEED_CPUS; i++)
        loop_ns = fmax(loop_ns, outcome->speed.loop_ns[i]);
    if (isfinite(loop_ns))
        assay_metrics_measured(metrics, "disturbance.loop", loop_ns / 1e9, "clock",
                               "on the slowest of the CPUs that were tried");
}

struct assay__speed assay__outcomes_speed(const struct assay__outcome *outcomes, size_t count)
{
    struct assay__speed best = assay__speed_unknown();
    for (size_t i = 0; i < count; i++)
        best = assay__speed_best(&best, &outcomes[i].speed);
    return best;
}

/* The median over launches of how much slower the machine was than at the fastest of them. */
static void put_slowdown(const struct assay__trial_input *input)
{
    struct assay__speed best = assay__outcomes_speed(input->outcomes, input->outcome_count);
    double *values = malloc((input->outcome_count + 1) * sizeof *values), slowdown = NAN;
    for (size_t i = 0; values && i < input->outcome_count; i++)
        values[i] = assay__speed_slowdown(&input->outcomes[i].speed, &best);
    if (values) slowdown = assay__median_finite(values, input->outcome_count);
    free(values);
    if (isfinite(slowdown))
        assay_metrics_derived(input->trial->metrics, "disturbance.slowdown", slowdown, "clock",
                              "disturbance.loop / that of the fastest launch - 1, of the slowest "
                              "CPU; median over launches");
}

/* Launches that ended well and are in no statistics, because others worked beside them. */
static void say_loaded(const struct assay__trial_input *input, struct assay__sentences *said)
{
    const struct assay__outcome **used = calloc(input->outcome_count + 1, sizeof *used);
    size_t ended = 0, kept = used ? assay__trial_used(input, used) : 0;
    free(used);
    for (size_t i = 0; i < input->outcome_count; i++)
        ended += input->outcomes[i].code == 0 && input->outcomes[i].total > 0;
    if (!kept || ended <= kept) return;
    assay__sentences_add(said,
                         "%zu of %zu launches are left out of the statistics: other processes used "
                         "much more CPU time, or the machine was slower, than beside the rest",
                         ended - kept, ended);
}

int assay__trial_disturbances(const struct assay__trial_input *input)
{
    struct totals sum = {0};
    for (size_t i = 0; i < input->outcome_count; i++)
        add(&input->outcomes[i], &sum);
    double all = all_cpu_s(&sum), steal = all > 0 ? sum.steal_s / all : NAN;
    double other = other_share(&sum);
    struct assay__environment *environment = &input->profile->environment;
    struct assay__sentences disturbances = {.arena = input->profile->arena},
                            unknown = {.arena = input->profile->arena};
    say_all(&sum, steal, other, &disturbances);
    say_loaded(input, &disturbances);
    say_unknown(&sum, &unknown);
    if (sum.launches) { /* a trial that was not reached does not change what the others saw */
        environment->disturbances = disturbances.items;
        environment->disturbance_kinds = disturbances.kinds;
        environment->disturbance_count = disturbances.count;
        environment->unknown = unknown.items;
        environment->unknown_count = unknown.count;
    }
    put_metrics(&sum, steal, other, input->trial->metrics);
    put_slowdown(input);
    return disturbances.failed || unknown.failed ? ASSAY_ENOMEM : 0;
}
