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
    struct assay__arena *arena; /* the profile's */
    int code;                   /* of what is not a metric */
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
    return *text ? text : otherwise;
}

/* "text; more", or one of them if the other is "". */
static const char *both(struct assay__arena *arena, const char *text, const char *more)
{
    return !*more ? text : !*text ? more : assay__arena_text(arena, "%s; %s", text, more);
}

/* --- every rail ------------------------------------------------------------------------------- */

static void put_rail(struct metric_writer *to, const char *rail, const char *family,
                     enum assay_state state, double value, const char *source, const char *note)
{
    char name[160];
    snprintf(name, sizeof name, "%s.%s", family, rail);
    assay__metrics_put_known(to->metrics, name, state, value, source, note, note);
}

/* The period of the source that was read, or if none was, of the rail's first channel. */
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

/* If a rail has a counter and a power sensor, the latter checks the former: "sampled power says
 * 30.1 W (-0.4 %)". */
static const char *check_by_samples(struct metric_writer *to, const char *rail,
                                    const struct assay__sensed *counted)
{
    struct assay__sensed sampled;
    size_t index = assay__sensors_sampled(to->sensors, rail);
    if (index == SIZE_MAX) return "";
    assay__sensed_channel(to->sensors, index, &sampled);
    if (!sampled.available || !(counted->average > 0)) return "";
    double percent = (sampled.average / counted->average - 1) * 100;
    const char *check = assay__arena_text(to->arena, "sampled power is %.4g W (%+.1f %%)",
                                          sampled.average, percent);
    if (!(fabs(percent) <= SAMPLED_DIFFERS_PERCENT)) warn(to, rail, check);
    return check;
}

static void put_one_rail(struct metric_writer *to, const char *rail)
{
    struct assay__sensed sensed;
    assay__sensed_rail(to->sensors, rail, &sensed);
    bool known = sensed.available, counted = sensed.method == ASSAY__WINDOW_COUNTER;
    bool by_samples = known && sensed.peak_index != sensed.index;
    const char *source = known ? to->sensors->series[sensed.index].channel->source : "none";
    enum assay_state state = ASSAY_MEASURED, worked = ASSAY_DERIVED;
    if (known) warn(to, rail, sensed.note);
    const char *check = known && counted ? check_by_samples(to, rail, &sensed) : "";
    const char *average = counted ? "increase of the counter in the measured windows / their time"
                                  : "mean of sampled power in the measured windows";
    put_rail(to, rail, "power.average", counted ? worked : state, sensed.average, source,
             known ? both(to->arena, both(to->arena, average, sensed.note), check) : sensed.reason);
    if (!assay__sensors_rail_read(to->sensors, rail)) return; /* one reason is enough */
    const char *energy = counted ? "increase of the counter in the measured windows"
                                 : "sampled power in the measured windows, trapezoidal rule";
    put_rail(to, rail, "energy.total", counted ? state : worked, sensed.growth, source,
             known ? both(to->arena, energy, sensed.note) : sensed.reason);
    const char *peak = !known ? sensed.reason
                       : isnan(sensed.peak)
                           ? "the windows are too short: fewer than 10 update periods of the source"
                       : by_samples ? "max sample of its power, because its counter is read rarely"
                       : counted    ? "max rate over 10 update periods of the counter"
                                    : "max sample";
    put_rail(to, rail, "power.peak", counted && !by_samples ? worked : state, sensed.peak, source,
             peak);
    bool idle = isfinite(sensed.idle_w);
    put_rail(to, rail, "power.idle", state, sensed.idle_w, known ? source : "sensors",
             idle ? both(to->arena, "before the first launch", sensed.idle_note)
                  : or_text(sensed.idle_reason, "not known"));
    if (idle) warn(to, assay__arena_text(to->arena, "%s, idle", rail), sensed.idle_note);
    put_period(to, rail, &sensed);
}

/* --- the workload's rail ---------------------------------------------------------------------- */

struct total {
    bool available;
    const char *reason, *names, *note, *idle_reason, *idle_note;
    double energy_j, seconds, idle_w; /* idle NaN: unknown */
    size_t completions;
};

/* The sum over all rails, over the windows of `sensors`. */
static struct total add_up(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    struct assay__arena *arena = sensors->profile->arena;
    struct total total = {.available = rails->count > 0,
                          .reason = rails->reason,
                          .names = "",
                          .idle_reason = "",
                          .idle_note = ""};
    const char *said = "";
    for (size_t i = 0; i < rails->count; i++) {
        const char *rail = rails->names[i];
        struct assay__sensed sensed;
        assay__sensed_rail(sensors, rail, &sensed);
        total.names = i ? assay__arena_text(arena, "%s + %s", total.names, rail) : rail;
        if (!sensed.available && total.available) {
            total.available = false;
            total.reason = assay__arena_text(arena, "%s: %s", rail, sensed.reason);
        }
        if (*sensed.idle_note && !*total.idle_note)
            total.idle_note = assay__arena_text(arena, "%s, idle: %s", rail, sensed.idle_note);
        if (sensed.idle_same && !*total.idle_reason)
            total.idle_reason = assay__arena_text(
                arena,
                "%s read %.4g W throughout, idle and under load: the sensor did not update, so the "
                "difference is unknown",
                rail, sensed.idle_w);
        if (sensed.idle_same) sensed.idle_w = NAN;
        if (isnan(sensed.idle_w) && !*total.idle_reason)
            total.idle_reason = or_text(sensed.idle_reason, "idle power is unknown");
        total.energy_j += sensed.growth;
        total.idle_w += sensed.idle_w;
        total.seconds = sensed.seconds;
        total.completions = sensed.completions;
        if (!*said) said = sensed.note;
    }
    total.note = both(arena, both(arena, total.names, rails->remark), said);
    return total;
}

static void put_with(struct metric_writer *to, const char *name, double value, const char *formula,
                     const struct total *total)
{
    assay_metrics_derived(to->metrics, name, value, "sensors",
                          both(to->arena, formula, total->note));
}

static void put_net(struct metric_writer *to, const struct total *total)
{
    static const char below[] =
        "below zero: the idle machine drew more than this run, so the difference is noise";
    double net_j = total->energy_j - total->idle_w * total->seconds;
    if (fabs(net_j) < 1e-9 * total->energy_j) net_j = 0; /* rounding is no energy */
    if (isnan(net_j)) {
        put_none(to, "energy.inference.net", or_text(total->idle_reason, "idle power is unknown"));
        return;
    }
    if (net_j < 0) warn(to, "net energy", below);
    const char *formula = both(to->arena, "(energy - idle power x time) / inferences",
                               net_j < 0 ? below : "");
    put_with(to, "energy.inference.net", net_j / (double)total->completions,
             both(to->arena, formula, total->idle_note), total);
}

/* Which rails the numbers cover, or why they are unknown. */
static void keep_power(struct metric_writer *to, bool known)
{
    struct assay__power_info *power = &to->sensors->trial->power;
    power->gap = known               ? ASSAY__POWER_KNOWN
                 : to->rails->listed ? ASSAY__POWER_NO_SENSOR
                                     : ASSAY__POWER_LOST;
    power->whole_machine = to->rails->whole_machine;
    power->rails = assay__arena_array(to->arena, to->rails->count, sizeof *power->rails);
    power->rail_count = known && power->rails ? to->rails->count : 0;
    for (size_t i = 0; i < power->rail_count; i++)
        power->rails[i] = assay__arena_text(to->arena, "%s", to->rails->names[i]);
}

static void put_workload(struct metric_writer *to)
{
    static const char *const names[] = {"power.average", "energy.inference.gross",
                                        "energy.inference.net", "efficiency.tops_per_watt",
                                        "efficiency.inferences_per_joule"};
    struct total total = add_up(to->sensors, to->rails);
    double completions = (double)total.completions;
    if (total.available && !(total.energy_j > 0)) {
        total.available = false;
        total.reason = assay__arena_text(to->arena, "%s: no energy was counted", total.names);
    }
    if (total.available && total.completions == 0) {
        total.available = false;
        total.reason = "no inference was completed";
    }
    keep_power(to, total.available);
    if (!total.available) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            put_none(to, names[i], total.reason);
        return;
    }
    warn(to, "power", to->rails->remark);
    assay_metrics_derived(to->metrics, "power.average", total.energy_j / total.seconds, "sensors",
                          both(to->arena, total.note, "energy / time of the measured windows"));
    put_with(to, "energy.inference.gross", total.energy_j / completions,
             "energy in the measured windows / inferences", &total);
    put_net(to, &total);
    const struct assay_metric *flops = assay_metrics_get(to->metrics, "compute.flops");
    if (flops && flops->state != ASSAY_UNAVAILABLE)
        put_with(to, "efficiency.tops_per_watt",
                 flops->value / (total.energy_j / completions) / 1e12,
                 "compute.flops / energy.inference.gross / 1e12", &total);
    else
        put_none(to, "efficiency.tops_per_watt", flops ? flops->note : "the FLOPs are unknown");
    put_with(to, "efficiency.inferences_per_joule", completions / total.energy_j,
             "inferences / energy in the measured windows", &total);
}

/* --- temperature and clock -------------------------------------------------------------------- */

/* *read: the name of the channel that was read; unchanged if none was. */
static void put_channel(struct metric_writer *to, size_t index, const char *name,
                        const char *peak_name, const char *what, const char **read)
{
    enum assay__device_class device_class = to->rails->device_class;
    if (index == SIZE_MAX) {
        /* On GPUs and NPUs the earlier value is that of the CPU, which did not do the work.
         * Otherwise the value read around the launches stays. */
        if (device_class == ASSAY__CLASS_GPU || device_class == ASSAY__CLASS_NPU)
            put_none(to, name,
                     assay__arena_text(
                         to->arena,
                         "nothing on this machine measures the %s of the device that ran it",
                         what));
        const struct assay_metric *mean = assay_metrics_get(to->metrics, name);
        if (peak_name)
            put_none(to, peak_name,
                     mean && mean->state == ASSAY_UNAVAILABLE ? mean->note
                                                              : "no sensor of it was sampled");
        return;
    }
    struct assay__sensed sensed;
    assay__sensed_channel(to->sensors, index, &sensed);
    const struct assay__series *series = &to->sensors->series[index];
    const char *channel = assay__arena_text(to->arena, "%s", series->channel->name);
    if (sensed.available) {
        *read = channel;
        assay_metrics_measured(to->metrics, name, sensed.average, series->ops->name,
                               assay__arena_text(to->arena,
                                                 "%s: mean over the measured windows%s%s", channel,
                                                 *sensed.note ? "; " : "", sensed.note));
    } else {
        put_none(to, name, sensed.reason);
    }
    if (!peak_name) return;
    if (sensed.available && isfinite(sensed.peak))
        assay_metrics_measured(
            to->metrics, peak_name, sensed.peak, series->ops->name,
            assay__arena_text(to->arena, "%s: max sample in the measured windows", channel));
    else
        put_none(to, peak_name,
                 or_text(sensed.reason, "no sample falls within the measured windows"));
}

/* --- what it cost ----------------------------------------------------------------------------- */

static void put_cost(struct metric_writer *to)
{
    struct assay__sampler_cost cost;
    struct assay__buf note = {0};
    const struct assay__series *last = NULL;
    size_t channels = 0;
    assay__sampler_cost(to->sensors->sampler, &cost);
    if (cost.ticks == 0 || cost.wall_ns == 0) {
        put_none(to, "overhead.sensors", "no sensor was sampled");
        return;
    }
    for (size_t i = 0; i < to->sensors->series_count; i++)
        channels += to->sensors->series[i].count > 0;
    assay__buf_printf(&note,
                      "share of one core; %llu readings of %zu channels every %.3g ms, %.2f MB",
                      (unsigned long long)cost.ticks, channels, to->sensors->interval_s * 1e3,
                      (double)cost.memory_bytes / 1e6);
    if (cost.late)
        assay__buf_printf(&note, "; %llu %s skipped because reading took longer than the interval",
                          (unsigned long long)cost.late, cost.late == 1 ? "was" : "were");
    if (cost.thinned) assay__buf_printf(&note, "; columns were thinned %u times", cost.thinned);
    /* "; energy of gpu0 every 3.07 s: a reading takes 4.60 ms", once for each probe that is read
     * less often than requested. */
    for (size_t i = 0; i < to->sensors->series_count; i++) {
        const struct assay__series *series = &to->sensors->series[i];
        if (!assay__series_seldom(to->sensors, series) || (last && last->ops == series->ops))
            continue;
        last = series;
        bool alone = strcmp(series->channel->quantity, "energy") == 0 && *series->channel->rail;
        assay__buf_printf(&note, "; %s%s every %s: a reading takes %s", alone ? "energy of " : "",
                          alone ? series->channel->rail : series->ops->name,
                          assay__scaled(series->interval_s, "s").text,
                          assay__scaled(series->read_s, "s").text);
    }
    assay_metrics_measured(to->metrics, "overhead.sensors",
                           (double)cost.cpu_ns / (double)cost.wall_ns, "clock",
                           assay__buf_text(&note));
    if (note.failed && !to->code) to->code = ASSAY_ENOMEM;
    assay__buf_free(&note);
}

/* --- each launch ------------------------------------------------------------------------------ */

/* The energy of each launch separately, so that energies can be compared as latencies are: the
 * process is the unit of replication. The windows of one launch are treated as if they were all; if
 * that is refused (a source that updates too rarely for so short a time), it is that launch's
 * reason. A single launch has the trial's number, and nothing is added here. */

static int put_launches(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    static const char name[] = "energy.inference.gross";
    const struct assay__trial *trial = sensors->trial;
    int code = 0;
    if (trial->launch_count < 2) return 0;
    for (size_t first = 0, end; first < sensors->window_count && code == 0; first = end) {
        struct assay__launch *launch = NULL;
        end = assay__sensors_launch_end(sensors, first);
        for (size_t i = 0; i < trial->launch_count && !launch; i++)
            if (trial->launches[i].id == sensors->windows[first].launch)
                launch = &trial->launches[i];
        if (!launch || !launch->metrics) continue;
        struct assay__sensors one = *sensors;
        one.windows = sensors->windows + first;
        one.window_count = end - first;
        one.idle_end_ns = one.idle_begin_ns; /* gross: the idle machine is not measured again */
        struct total total = add_up(&one, rails);
        if (!total.available)
            assay_metrics_unavailable(launch->metrics, name,
                                      or_text(total.reason, "no rail reports energy"));
        else if (!(total.energy_j > 0) || total.completions == 0)
            assay_metrics_unavailable(launch->metrics, name,
                                      total.completions ? "no energy was counted"
                                                        : "no inference was completed");
        else
            assay_metrics_derived(launch->metrics, name, total.energy_j / (double)total.completions,
                                  "sensors", "energy in this launch's windows / its inferences");
        code = assay_metrics_failed(launch->metrics);
    }
    return code;
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
    struct metric_writer to = {&sensors, &rails, sensors.trial->metrics, sensors.profile->arena, 0};
    struct assay__power_info *power = &sensors.trial->power;
    const char *rail;
    put_workload(&to);
    for (size_t i = 0; (rail = assay__sensors_rail_at(&sensors, i)) != NULL; i++)
        put_one_rail(&to, rail);
    put_channel(&to, assay__sensors_temperature(&sensors, &rails), "hardware.temperature",
                "hardware.temperature_peak", "temperature", &power->temperature);
    put_channel(&to, assay__sensors_clock(&sensors, &rails), "hardware.frequency", NULL, "clock",
                &power->frequency);
    put_cost(&to);
    assay__score_put(to.metrics, assay__trial_on_cpu(sensors.trial));
    if (to.code == 0 && assay__arena_failed(to.arena)) to.code = ASSAY_ENOMEM;
    int code = to.code ? to.code : assay_metrics_failed(to.metrics);
    if (code == 0) code = put_launches(&sensors, &rails);
    if (code == 0) code = assay__sensors_series(&sensors, &rails);
    if (code == 0) code = assay__sensors_throttling(&sensors, &rails);
    free(all);
    return code;
}
