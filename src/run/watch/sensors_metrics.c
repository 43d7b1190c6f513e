/* sensors_metrics.c - power.*, energy.*, efficiency.*, sensor.period.*, hardware.temperature and
 * .frequency, overhead.sensors and score.efficiency of a trial whose sensors were read. What is
 * unknown is unavailable with the sampler's reason.
 *
 *   gross   J / inference = energy in the measured windows / inferences in them
 *   net     J / inference = (energy - idle power x time) / inferences
 *   TOPS/W                = compute.flops x inferences / energy / 1e12: the rate over power.average
 *                         in the same windows
 *   score                 = cost/score.h */
#include "run/watch/sensors.h"

#include "base/metric_value.h"
#include "base/text.h"
#include "cost/score.h"
#include "profile/trial_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLED_DIFFERS_PERCENT 5.0 /* from the counter: worth a warning */

struct metric_writer {
    const struct assay__sensors *sensors;
    const struct assay__rails *rails;
    struct assay_metrics *metrics;
    int code; /* of what is not a metric */
};

static void put_none(struct metric_writer *to, const char *name, const char *reason)
{
    assay_metrics_unavailable(to->metrics, name, reason && *reason ? reason : "not known");
}

/* A warning for the reader; "" none. */
static void warn(struct metric_writer *to, const char *about, const char *text)
{
    if (to->code == 0 && *text)
        to->code = assay__trial_warn_power(to->sensors->profile, to->sensors->trial, about, text);
}

static const char *or_text(const char *text, const char *otherwise)
{
    return text && *text ? text : otherwise;
}

/* --- every rail ------------------------------------------------------------------------------- */

static void put_rail(struct metric_writer *to, const char *rail, const char *family,
                     enum assay_state state, double value, const char *source, const char *note)
{
    char name[160];
    snprintf(name, sizeof name, "%s.%s", family, rail);
    assay__metrics_put_known(to->metrics, name, state, value, source, note, note);
}

/* The period of the source that answered; of one that did not, of the rail's first channel. */
static void put_period(struct metric_writer *to, const char *rail,
                       const struct assay__sensed *sensed)
{
    if (!sensed->available) {
        put_rail(to, rail, "sensor.period", ASSAY_MEASURED, NAN, "", sensed->reason);
        return;
    }
    const struct assay__series *series = &to->sensors->series[sensed->index];
    char note[200];
    snprintf(note, sizeof note, "%s of %s%s", series->channel->name, series->ops->name,
             series->period_is_bound ? "; an upper bound: it changed as often as it was read" : "");
    put_rail(to, rail, "sensor.period", ASSAY_MEASURED, series->period_s, series->ops->name,
             isfinite(series->period_s) ? note : "too few changes of the source were seen");
}

/* Where a rail has a counter and a power sensor, the latter checks the former: "; sampled power
 * says 30.1 W (-0.4 %)". */
static void add_check(struct metric_writer *to, const char *rail, const struct assay__sensed *by,
                      char *note, size_t size)
{
    for (size_t i = 0; i < to->sensors->series_count; i++) {
        const struct assay__series *series = &to->sensors->series[i];
        struct assay__sensed sampled;
        if (strcmp(series->channel->quantity, "power") != 0 || series->count == 0 ||
            strcmp(series->channel->rail, rail) != 0)
            continue;
        assay__sensed_channel(to->sensors, i, &sampled);
        if (!sampled.available || !(by->average > 0)) return;
        size_t used = strlen(note);
        double percent = (sampled.average / by->average - 1) * 100;
        char check[80];
        snprintf(check, sizeof check, "sampled power says %.4g W (%+.1f %%)", sampled.average,
                 percent);
        snprintf(note + used, size - used, "; %s", check);
        if (!(fabs(percent) <= SAMPLED_DIFFERS_PERCENT)) warn(to, rail, check);
        return;
    }
}

static void put_one_rail(struct metric_writer *to, const char *rail)
{
    struct assay__sensed sensed;
    assay__sensed_rail(to->sensors, rail, &sensed);
    bool counted = sensed.method == ASSAY__WINDOW_COUNTER;
    bool by_samples = sensed.available && sensed.peak_index != sensed.index;
    const char *source = sensed.available ? to->sensors->series[sensed.index].channel->source
                                          : "none";
    char note[640];
    enum assay_state state = ASSAY_MEASURED, worked = ASSAY_DERIVED;
    const char *mark = *sensed.note ? "; " : "";
    snprintf(note, sizeof note, "%s%s%s",
             counted ? "growth of the counter in the measured windows / their time"
                     : "mean of sampled power in the measured windows",
             mark, sensed.note);
    if (sensed.available) warn(to, rail, sensed.note);
    if (sensed.available && counted) add_check(to, rail, &sensed, note, sizeof note);
    const char *why = sensed.available ? note : sensed.reason;
    put_rail(to, rail, "power.average", counted ? worked : state, sensed.average, source, why);
    if (!assay__sensors_rail_read(to->sensors, rail)) return; /* one reason is enough */
    snprintf(note, sizeof note, "%s%s%s",
             counted ? "growth of the counter in the measured windows"
                     : "sampled power in the measured windows, trapezoids",
             mark, sensed.note);
    put_rail(to, rail, "energy.total", counted ? state : worked, sensed.growth, source, why);
    snprintf(note, sizeof note, "%s",
             !sensed.available ? sensed.reason
             : isnan(sensed.peak)
                 ? "the windows are too short: fewer than 10 update periods of the "
                   "source"
             : by_samples ? "max sample of its power, because its counter is read rarely"
             : counted    ? "max rate over 10 update periods of the counter"
                          : "max sample");
    put_rail(to, rail, "power.peak", counted && !by_samples ? worked : state, sensed.peak, source,
             note);
    bool idle = isfinite(sensed.idle_w);
    snprintf(note, sizeof note, "%s%s%s",
             idle ? "before the first launch" : or_text(sensed.idle_reason, "not known"),
             idle && *sensed.idle_note ? "; " : "", idle ? sensed.idle_note : "");
    put_rail(to, rail, "power.idle", ASSAY_MEASURED, sensed.idle_w,
             sensed.available ? source : "sensors", note);
    char about[160];
    snprintf(about, sizeof about, "%s, idle", rail);
    if (idle) warn(to, about, sensed.idle_note);
    put_period(to, rail, &sensed);
}

/* --- the workload's rail ---------------------------------------------------------------------- */

struct total {
    bool available;
    char reason[1300], names[600], note[1800], idle_reason[400], idle_note[400];
    double energy_j, seconds, idle_w; /* idle NaN: unknown */
    size_t completions;
};

static void add_up(const struct metric_writer *to, struct total *total)
{
    const struct assay__rails *rails = to->rails;
    *total = (struct total){.available = rails->count > 0};
    snprintf(total->reason, sizeof total->reason, "%.1199s", rails->reason);
    char said[400] = "";
    for (size_t i = 0; i < rails->count; i++) {
        struct assay__sensed sensed;
        size_t used = strlen(total->names);
        assay__sensed_rail(to->sensors, rails->names[i], &sensed);
        snprintf(total->names + used, sizeof total->names - used, "%s%s", i ? " + " : "",
                 rails->names[i]);
        if (!sensed.available && total->available) {
            total->available = false;
            snprintf(total->reason, sizeof total->reason, "%s: %s", rails->names[i], sensed.reason);
        }
        if (*sensed.idle_note && !*total->idle_note)
            snprintf(total->idle_note, sizeof total->idle_note, "%s, idle: %s", rails->names[i],
                     sensed.idle_note);
        if (sensed.idle_same && !*total->idle_reason)
            snprintf(total->idle_reason, sizeof total->idle_reason,
                     "%s read %.4g W throughout, idle and at work: the sensor did not update, so "
                     "the difference is unknown",
                     rails->names[i], sensed.idle_w);
        if (sensed.idle_same) sensed.idle_w = NAN;
        if (isnan(sensed.idle_w) && !*total->idle_reason)
            snprintf(total->idle_reason, sizeof total->idle_reason, "%s",
                     or_text(sensed.idle_reason, "idle power is not known"));
        total->energy_j += sensed.growth;
        total->idle_w += sensed.idle_w;
        total->seconds = sensed.seconds;
        total->completions = sensed.completions;
        if (!*said) snprintf(said, sizeof said, "%s", sensed.note);
    }
    snprintf(total->note, sizeof total->note, "%s%s%s%s%s", total->names,
             *rails->remark ? "; " : "", rails->remark, *said ? "; " : "", said);
}

static void put_with(struct metric_writer *to, const char *name, double value, const char *formula,
                     const struct total *total)
{
    char note[2600];
    snprintf(note, sizeof note, "%s; %s", formula, total->note);
    assay_metrics_derived(to->metrics, name, value, "sensors", note);
}

static void put_net(struct metric_writer *to, const struct total *total)
{
    double net_j = total->energy_j - total->idle_w * total->seconds;
    if (fabs(net_j) < 1e-9 * total->energy_j) net_j = 0; /* rounding is no energy */
    if (isnan(net_j)) {
        put_none(to, "energy.inference.net",
                 or_text(total->idle_reason, "idle power is not known"));
        return;
    }
    char formula[640];
    static const char below[] =
        "below zero: the idle machine drew more than this run, so the difference is noise";
    snprintf(formula, sizeof formula, "(energy - idle power x time) / inferences%s%s%s%s",
             net_j < 0 ? "; " : "", net_j < 0 ? below : "", *total->idle_note ? "; " : "",
             total->idle_note);
    if (net_j < 0) warn(to, "net energy", below);
    put_with(to, "energy.inference.net", net_j / (double)total->completions, formula, total);
}

static void put_tops(struct metric_writer *to, const struct total *total)
{
    const struct assay_metric *flops = assay_metrics_get(to->metrics, "compute.flops");
    if (flops && flops->state != ASSAY_UNAVAILABLE) {
        put_with(to, "efficiency.tops_per_watt",
                 flops->value / (total->energy_j / (double)total->completions) / 1e12,
                 "compute.flops / energy.inference.gross / 1e12", total);
        return;
    }
    put_none(to, "efficiency.tops_per_watt", flops ? flops->note : "the FLOPs are not known");
}

/* Which rails the numbers cover, or why they are unknown. */
static void keep_power(struct metric_writer *to, bool known)
{
    struct assay__arena *arena = to->sensors->profile->arena;
    struct assay__power_info *power = &to->sensors->trial->power;
    power->gap = known               ? ASSAY__POWER_KNOWN
                 : to->rails->listed ? ASSAY__POWER_NO_SENSOR
                                     : ASSAY__POWER_LOST;
    power->whole_machine = to->rails->whole_machine;
    power->rails = assay__arena_array(arena, to->rails->count, sizeof *power->rails);
    power->rail_count = known && power->rails ? to->rails->count : 0;
    for (size_t i = 0; i < power->rail_count; i++)
        if (!(power->rails[i] = assay__arena_strdup(arena, to->rails->names[i])))
            power->rail_count = 0;
    if (known && !power->rail_count && !to->code) to->code = ASSAY_ENOMEM;
}

static void put_workload(struct metric_writer *to)
{
    static const char *const names[] = {"power.average", "energy.inference.gross",
                                        "energy.inference.net", "efficiency.tops_per_watt",
                                        "efficiency.inferences_per_joule"};
    struct total total;
    add_up(to, &total);
    if (total.available && !(total.energy_j > 0)) {
        total.available = false;
        snprintf(total.reason, sizeof total.reason, "%s: no energy was counted", total.names);
    }
    if (total.available && total.completions == 0) {
        total.available = false;
        snprintf(total.reason, sizeof total.reason, "no inference was completed");
    }
    keep_power(to, total.available);
    if (!total.available) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            put_none(to, names[i], total.reason);
        return;
    }
    char note[1900];
    warn(to, "power", to->rails->remark);
    snprintf(note, sizeof note, "%s; energy / time of the measured windows", total.note);
    assay_metrics_derived(to->metrics, "power.average", total.energy_j / total.seconds, "sensors",
                          note);
    put_with(to, "energy.inference.gross", total.energy_j / (double)total.completions,
             "energy in the measured windows / inferences", &total);
    put_net(to, &total);
    put_tops(to, &total);
    put_with(to, "efficiency.inferences_per_joule", (double)total.completions / total.energy_j,
             "inferences / energy in the measured windows", &total);
}

/* --- temperature and clock -------------------------------------------------------------------- */

/* On GPUs and NPUs the earlier value is the CPU's, which did not do the work. */
static void put_none_of_device(struct metric_writer *to, const char *name, const char *what)
{
    char reason[120];
    if (to->rails->device_class != ASSAY__CLASS_GPU && to->rails->device_class != ASSAY__CLASS_NPU)
        return; /* what was read around the launches stays */
    snprintf(reason, sizeof reason, "nothing here measures the %s of the device that ran it", what);
    put_none(to, name, reason);
}

/* *read: the name of the channel that was read; unchanged where none was. */
static void put_channel(struct metric_writer *to, size_t index, const char *name,
                        const char *peak_name, const char *what, const char **read)
{
    struct assay__sensed sensed;
    char note[500];
    if (index == SIZE_MAX) {
        put_none_of_device(to, name, what);
        if (peak_name) {
            const struct assay_metric *mean = assay_metrics_get(to->metrics, name);
            put_none(to, peak_name,
                     mean && mean->state == ASSAY_UNAVAILABLE ? mean->note
                                                              : "no sensor of it was sampled");
        }
        return;
    }
    assay__sensed_channel(to->sensors, index, &sensed);
    const struct assay__series *series = &to->sensors->series[index];
    snprintf(note, sizeof note, "%s: mean over the measured windows%s%s", series->channel->name,
             *sensed.note ? "; " : "", sensed.note);
    if (sensed.available) {
        *read = assay__arena_strdup(to->sensors->profile->arena, series->channel->name);
        if (!*read) *read = "";
        assay_metrics_measured(to->metrics, name, sensed.average, series->ops->name, note);
    } else {
        put_none(to, name, sensed.reason);
    }
    if (!peak_name) return;
    snprintf(note, sizeof note, "%s: max sample in the measured windows", series->channel->name);
    if (sensed.available && isfinite(sensed.peak))
        assay_metrics_measured(to->metrics, peak_name, sensed.peak, series->ops->name, note);
    else
        put_none(to, peak_name, or_text(sensed.reason, "no sample lies in the measured windows"));
}

/* --- what it cost ----------------------------------------------------------------------------- */

/* "; energy of gpu0 every 3.07 s: a reading takes 4.60 ms", once for each probe that is read less
 * often than asked. */
static void add_seldom(const struct metric_writer *to, char *note, size_t size)
{
    const struct assay__series *last = NULL;
    for (size_t i = 0; i < to->sensors->series_count; i++) {
        const struct assay__series *series = &to->sensors->series[i];
        if (!assay__series_seldom(to->sensors, series) || (last && last->ops == series->ops))
            continue;
        last = series;
        char every[64], takes[64];
        size_t used = strlen(note);
        bool alone = strcmp(series->channel->quantity, "energy") == 0 && *series->channel->rail;
        assay__text_scaled(every, sizeof every, series->interval_s, "s");
        assay__text_scaled(takes, sizeof takes, series->read_s, "s");
        snprintf(note + used, size - used, "; %s%s every %s: a reading takes %s",
                 alone ? "energy of " : "", alone ? series->channel->rail : series->ops->name,
                 every, takes);
    }
}

static void put_cost(struct metric_writer *to)
{
    struct assay__sampler_cost cost;
    assay__sampler_cost(to->sensors->sampler, &cost);
    size_t channels = 0;
    for (size_t i = 0; i < to->sensors->series_count; i++)
        channels += to->sensors->series[i].count > 0;
    if (cost.ticks == 0 || cost.wall_ns == 0) {
        put_none(to, "overhead.sensors", "no sensor was sampled");
        return;
    }
    char note[960];
    int used = snprintf(note, sizeof note,
                        "share of one core; %llu readings of %zu channels every %.3g ms, %.2f MB",
                        (unsigned long long)cost.ticks, channels, to->sensors->interval_s * 1e3,
                        (double)cost.memory_bytes / 1e6);
    if (cost.late && used > 0 && (size_t)used < sizeof note)
        used += snprintf(note + used, sizeof note - (size_t)used,
                         "; %llu %s skipped, as reading took longer than the interval",
                         (unsigned long long)cost.late, cost.late == 1 ? "was" : "were");
    if (cost.thinned && used > 0 && (size_t)used < sizeof note)
        snprintf(note + used, sizeof note - (size_t)used, "; columns were thinned %u times",
                 cost.thinned);
    add_seldom(to, note, sizeof note);
    assay_metrics_measured(to->metrics, "overhead.sensors",
                           (double)cost.cpu_ns / (double)cost.wall_ns, "clock", note);
}

/* --- each launch ------------------------------------------------------------------------------ */

/* The energy of each launch by itself, so that energies can be compared as latencies are: the
 * process is the unit of replication. The windows of one launch are taken for all there are; what
 * is then refused (a source that updates too seldom for so short a time) is that launch's reason.
 * A single launch has the trial's own number and nothing here. */

/* Energy of all rails over the windows of `sensors`, in J. False: see the reason. */
static bool add_rails(const struct assay__sensors *sensors, const struct assay__rails *rails,
                      double *energy_j, size_t *completions, char *reason, size_t size)
{
    *energy_j = 0;
    *completions = 0;
    for (size_t i = 0; i < rails->count; i++) {
        struct assay__sensed sensed;
        assay__sensed_rail(sensors, rails->names[i], &sensed);
        if (!sensed.available) {
            snprintf(reason, size, "%s: %s", rails->names[i], sensed.reason);
            return false;
        }
        *energy_j += sensed.growth;
        *completions = sensed.completions;
    }
    if (*energy_j > 0 && *completions > 0) return true;
    snprintf(reason, size, "%s",
             *completions ? "no energy was counted" : "no inference was completed");
    return false;
}

static void put_launch(const struct assay__sensors *all, const struct assay__rails *rails,
                       struct assay__launch *launch, size_t first, size_t count)
{
    static const char name[] = "energy.inference.gross";
    struct assay__sensors one = *all;
    char reason[1200];
    double energy_j;
    size_t completions;
    one.windows = all->windows + first;
    one.window_count = count;
    one.idle_end_ns = one.idle_begin_ns; /* gross: the idle machine is not asked again */
    snprintf(reason, sizeof reason, "%s", rails->reason);
    if (!rails->count || !add_rails(&one, rails, &energy_j, &completions, reason, sizeof reason))
        assay_metrics_unavailable(launch->metrics, name,
                                  *reason ? reason : "no rail reports energy");
    else
        assay_metrics_derived(launch->metrics, name, energy_j / (double)completions, "sensors",
                              "energy in this launch's windows / its inferences");
}

static struct assay__launch *find_launch(const struct assay__trial *trial, int id)
{
    for (size_t i = 0; i < trial->launch_count; i++)
        if (trial->launches[i].id == id) return &trial->launches[i];
    return NULL;
}

static int put_launches(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    int code = 0;
    if (sensors->trial->launch_count < 2) return 0;
    for (size_t first = 0, end; first < sensors->window_count && code == 0; first = end) {
        end = assay__sensors_launch_end(sensors, first);
        struct assay__launch *launch = find_launch(sensors->trial, sensors->windows[first].launch);
        if (!launch || !launch->metrics) continue;
        put_launch(sensors, rails, launch, first, end - first);
        code = assay_metrics_failed(launch->metrics);
    }
    return code;
}

static int put_all(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    struct metric_writer to = {sensors, rails, sensors->trial->metrics, 0};
    struct assay__power_info *power = &sensors->trial->power;
    const char *rail;
    put_workload(&to);
    for (size_t i = 0; (rail = assay__sensors_rail_at(sensors, i)) != NULL; i++)
        put_one_rail(&to, rail);
    put_channel(&to, assay__sensors_temperature(sensors, rails), "hardware.temperature",
                "hardware.temperature_peak", "temperature", &power->temperature);
    put_channel(&to, assay__sensors_clock(sensors, rails), "hardware.frequency", NULL, "clock",
                &power->frequency);
    put_cost(&to);
    assay__score_put(to.metrics, assay__trial_on_cpu(sensors->trial));
    return to.code ? to.code : assay_metrics_failed(to.metrics);
}

int assay__sensors_compute(const struct assay__sensors *given)
{
    struct assay__sensors sensors = *given;
    struct assay__rails rails;
    size_t count = assay__sampler_count(sensors.sampler);
    struct assay__series *all = calloc(count + 1, sizeof *all);
    if (!all) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        assay__sampler_series(sensors.sampler, i, &all[i]);
    sensors.series = all;
    sensors.series_count = count;
    assay__sensors_rails(&sensors, &rails);
    int code = put_all(&sensors, &rails);
    if (code == 0) code = put_launches(&sensors, &rails);
    if (code == 0) code = assay__sensors_series(&sensors, &rails);
    if (code == 0) code = assay__sensors_throttling(&sensors, &rails);
    free(all);
    return code;
}
