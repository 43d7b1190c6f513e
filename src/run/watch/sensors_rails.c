/* sensors_rails.c - one channel or rail over all measured windows, and the choice of the rails that
 * supply a device.
 *
 * A CPU's energy is that of its packages and, if it is counted separately, of the memory (dram).
 * Parts of a package (core, uncore) are included in it. A CUDA device is NVML's GPU of the same
 * number. The whole machine (psys, a power meter, the battery) is the last resort, and marked: it
 * includes more than the processor. */
#include "run/watch/sensors.h"

#include "base/search.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SELDOM 1.1        /* multiple of the interval: smaller differences are not mentioned */
#define REASON_EACH 170   /* characters of each probe's reason */
#define REASON_OTHERS 300 /* and of the list of rails that were read */
#define IDLE_CHANGE 0.1   /* from the first to the last third of the idle window: not idle yet */
#define THIRD_PERIODS_TOLD 3
#define THIRD_PERIODS_USED 9.5 /* 10, minus a tolerance for errors in the measured period */

/* --- over the windows ------------------------------------------------------------------------- */

/* Index of the first reading at or after a time; `count` if there is none. */
static size_t first_at(const struct assay__series *series, uint64_t time_ns)
{
    return assay__count_before(series->times_ns, series->count, time_ns);
}

/* The value on the straight line between two readings; NaN: one of them is missing. */
static double value_at(const struct assay__series *series, uint64_t time_ns)
{
    size_t after = first_at(series, time_ns);
    if (after == series->count) return NAN;
    if (series->times_ns[after] == time_ns) return series->values[after];
    if (after == 0) return NAN;
    double step = (double)(series->times_ns[after] - series->times_ns[after - 1]);
    double part = (double)(time_ns - series->times_ns[after - 1]) / step;
    return series->values[after - 1] + part * (series->values[after] - series->values[after - 1]);
}

/* The growth of a counter in its unit, or the integral of a gauge over seconds. */
static double growth_of(const struct assay__series *series, uint64_t begin_ns, uint64_t end_ns)
{
    double value = value_at(series, begin_ns), integral = 0;
    if (series->channel->kind == ASSAY__CHANNEL_COUNTER) return value_at(series, end_ns) - value;
    uint64_t time_ns = begin_ns;
    for (size_t i = first_at(series, begin_ns); i < series->count && series->times_ns[i] < end_ns;
         i++) {
        integral += (value + series->values[i]) / 2 * (double)(series->times_ns[i] - time_ns) *
                    1e-9;
        value = series->values[i];
        time_ns = series->times_ns[i];
    }
    return integral + (value + value_at(series, end_ns)) / 2 * (double)(end_ns - time_ns) * 1e-9;
}

/* The windows first … end - 1 of one launch; `stretch` is the sampler's result for all of them
 * together. */
static void add_launch(const struct assay__sensors *sensors, size_t first, size_t end,
                       const struct assay__window *stretch, struct assay__sensed *sensed)
{
    for (size_t i = first; i < end; i++) {
        const struct assay__sensor_window *window = &sensors->windows[i];
        double seconds = (double)(window->end_ns - window->begin_ns) * 1e-9;
        sensed->seconds += seconds;
        sensed->completions += window->completions;
        if (!stretch->available) continue;
        double growth = growth_of(&sensors->series[stretch->index], window->begin_ns,
                                  window->end_ns);
        /* A counter may lack a reading at an inner edge although the whole period has one. */
        sensed->growth += isnan(growth) ? stretch->average * seconds : growth;
    }
    struct assay__arena *arena = sensors->profile->arena;
    if (!stretch->available) {
        if (sensed->available) sensed->reason = assay__arena_text(arena, "%s", stretch->reason);
        sensed->available = false;
        return;
    }
    sensed->peak = fmax(sensed->peak, stretch->greatest); /* fmax ignores NaN */
    sensed->least = fmin(sensed->least, stretch->least);
    if (!*sensed->note) sensed->note = assay__arena_text(arena, "%s", stretch->note);
    if (stretch->method == ASSAY__WINDOW_SAMPLED || sensed->method == ASSAY__WINDOW_NONE) {
        sensed->method = stretch->method;
        sensed->index = stretch->index;
    }
}

size_t assay__sensors_launch_end(const struct assay__sensors *sensors, size_t first)
{
    size_t end = first + 1;
    while (end < sensors->window_count &&
           sensors->windows[end].launch == sensors->windows[first].launch)
        end++;
    return end;
}

static void over_windows(const struct assay__sensors *sensors, size_t index, const char *rail,
                         struct assay__sensed *sensed)
{
    bool any = sensors->window_count > 0;
    *sensed = (struct assay__sensed){.available = any,
                                     .reason = any ? "" : "nothing was measured",
                                     .note = "",
                                     .index = index,
                                     .peak = NAN,
                                     .least = NAN,
                                     .idle_w = NAN,
                                     .idle_reason = "",
                                     .idle_note = ""};
    for (size_t first = 0, end; first < sensors->window_count; first = end) {
        struct assay__window stretch;
        end = assay__sensors_launch_end(sensors, first);
        uint64_t begin_ns = sensors->windows[first].begin_ns,
                 end_ns = sensors->windows[end - 1].end_ns;
        if (rail)
            assay__sampler_energy(sensors->sampler, rail, begin_ns, end_ns, true, &stretch);
        else
            assay__sampler_window(sensors->sampler, index, begin_ns, end_ns, true, &stretch);
        add_launch(sensors, first, end, &stretch, sensed);
    }
    sensed->average = sensed->growth / sensed->seconds;
    sensed->peak_index = sensed->index;
    if (!sensed->available) /* no partial sum remains */
        sensed->growth = sensed->average = sensed->peak = sensed->least = NAN;
}

void assay__sensed_channel(const struct assay__sensors *sensors, size_t index,
                           struct assay__sensed *sensed)
{
    over_windows(sensors, index, NULL, sensed);
}

bool assay__series_seldom(const struct assay__sensors *sensors, const struct assay__series *series)
{
    return series->count > 0 && series->interval_s > SELDOM * sensors->interval_s;
}

size_t assay__sensors_sampled(const struct assay__sensors *sensors, const char *rail)
{
    for (size_t i = 0; i < sensors->series_count; i++) {
        const struct assay__channel *channel = sensors->series[i].channel;
        if (strcmp(channel->quantity, "power") == 0 && strcmp(channel->rail, rail) == 0 &&
            channel->kind == ASSAY__CHANNEL_GAUGE && sensors->series[i].count > 0)
            return i;
    }
    return SIZE_MAX;
}

/* A counter that is read rarely hides peaks between two readings; samples of the rail's power show
 * them. */
static void peak_of_samples(const struct assay__sensors *sensors, const char *rail,
                            struct assay__sensed *sensed)
{
    struct assay__sensed sampled;
    size_t index = assay__sensors_sampled(sensors, rail);
    if (!sensed->available || sensed->method != ASSAY__WINDOW_COUNTER || index == SIZE_MAX ||
        !assay__series_seldom(sensors, &sensors->series[sensed->index]))
        return;
    assay__sensed_channel(sensors, index, &sampled);
    if (!sampled.available || isnan(sampled.peak)) return;
    sensed->peak = sampled.peak;
    sensed->least = sampled.least;
    sensed->peak_index = index;
}

/* Power may still change during the idle window, for instance because clocks stay high for seconds
 * after earlier work. Then a note says so and the last third is the baseline. */
static void sense_settling(const struct assay__sensors *sensors, const char *rail,
                           struct assay__sensed *sensed)
{
    struct assay__window first, last;
    uint64_t third_ns = (sensors->idle_end_ns - sensors->idle_begin_ns) / 3;
    assay__sampler_energy(sensors->sampler, rail, sensors->idle_begin_ns,
                          sensors->idle_begin_ns + third_ns, false, &first);
    assay__sampler_energy(sensors->sampler, rail, sensors->idle_end_ns - third_ns,
                          sensors->idle_end_ns, false, &last);
    if (!first.available || !last.available || first.index != last.index) return;
    double periods = last.seconds / sensors->series[last.index].period_s;
    double most = fmax(first.average, last.average);
    /* One counter update more or less at either end is not a change in power. */
    double noise = last.method == ASSAY__WINDOW_COUNTER ? 2 / periods : 0;
    if (!(fabs(last.average - first.average) > (IDLE_CHANGE + noise) * most) ||
        !(periods >= THIRD_PERIODS_TOLD))
        return;
    bool used = periods >= THIRD_PERIODS_USED;
    sensed->idle_note = assay__arena_text(
        sensors->profile->arena,
        "idle power %s from %.3g W in the first third of the time to %.3g W in the last, which is "
        "%s%s%.150s",
        last.average < first.average ? "fell" : "rose", first.average, last.average,
        used ? "the baseline" : "too short for a baseline", *sensed->idle_note ? "; " : "",
        sensed->idle_note);
    if (used) sensed->idle_w = last.average;
}

void assay__sensed_rail(const struct assay__sensors *sensors, const char *rail,
                        struct assay__sensed *sensed)
{
    struct assay__window idle;
    over_windows(sensors, SIZE_MAX, rail, sensed);
    peak_of_samples(sensors, rail, sensed);
    sensed->idle_reason = sensors->idle_reason;
    if (sensors->idle_end_ns <= sensors->idle_begin_ns) return;
    assay__sampler_energy(sensors->sampler, rail, sensors->idle_begin_ns, sensors->idle_end_ns,
                          false, &idle);
    sensed->idle_reason = assay__arena_text(sensors->profile->arena, "%s", idle.reason);
    if (!idle.available) return;
    sensed->idle_w = idle.average;
    sensed->idle_note = assay__arena_text(sensors->profile->arena, "%s", idle.note);
    sensed->idle_same = sensed->available && sensed->method == ASSAY__WINDOW_SAMPLED &&
                        idle.method == ASSAY__WINDOW_SAMPLED && idle.least == idle.greatest &&
                        sensed->least == idle.least && sensed->peak == idle.greatest;
    sense_settling(sensors, rail, sensed);
}

/* --- rails ------------------------------------------------------------------------------------ */

static bool is_power_channel(const struct assay__channel *channel)
{
    return strcmp(channel->quantity, "energy") == 0 || strcmp(channel->quantity, "power") == 0;
}

const char *assay__sensors_rail_at(const struct assay__sensors *sensors, size_t index)
{
    for (size_t i = 0; i < sensors->series_count; i++) {
        const struct assay__channel *channel = sensors->series[i].channel;
        bool seen = false;
        if (!is_power_channel(channel) || !*channel->rail) continue;
        for (size_t k = 0; k < i && !seen; k++)
            seen = is_power_channel(sensors->series[k].channel) &&
                   strcmp(sensors->series[k].channel->rail, channel->rail) == 0;
        if (!seen && index-- == 0) return channel->rail;
    }
    return NULL;
}

bool assay__sensors_rail_read(const struct assay__sensors *sensors, const char *rail)
{
    for (size_t i = 0; i < sensors->series_count; i++) {
        const struct assay__series *series = &sensors->series[i];
        if (is_power_channel(series->channel) && strcmp(series->channel->rail, rail) == 0 &&
            series->count > 0)
            return true;
    }
    return false;
}

enum rail_kind { OTHER, PACKAGE, DRAM, CPU, SOCKET, GPU, NPU, PSYS, MACHINE };

static enum rail_kind kind_of(const char *rail)
{
    static const struct {
        const char *name;
        enum rail_kind kind;
    } names[] = {{"package", PACKAGE}, {"dram", DRAM}, {"cpu", CPU},
                 {"ane", NPU},         {"psys", PSYS}, {"system", MACHINE}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(rail, names[i].name) == 0) return names[i].kind;
    if (strncmp(rail, "package-", 8) == 0) return PACKAGE;
    if (strncmp(rail, "dram-", 5) == 0) return DRAM;
    if (strncmp(rail, "npu", 3) == 0) return NPU;
    if (strncmp(rail, "gpu", 3) == 0 && rail[3 + strspn(rail + 3, "0123456789")] == '\0')
        return GPU;
    if (strstr(rail, ".esocket")) return SOCKET; /* the amd_energy driver's */
    return strstr(rail, "power_meter") ? MACHINE : OTHER;
}

/* Adds the rails of a kind. working: only those that were read. */
static void take(const struct assay__sensors *sensors, enum rail_kind kind, bool working,
                 size_t most, struct assay__rails *rails)
{
    const char *rail;
    for (size_t i = 0; (rail = assay__sensors_rail_at(sensors, i)) != NULL; i++)
        if (kind_of(rail) == kind && rails->count < most && rails->count < ASSAY__RAIL_PARTS &&
            (!working || assay__sensors_rail_read(sensors, rail)))
            rails->names[rails->count++] = rail;
}

static bool any_works(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    for (size_t i = 0; i < rails->count; i++)
        if (assay__sensors_rail_read(sensors, rails->names[i])) return true;
    return false;
}

/* --- the device ------------------------------------------------------------------------------- */

/* NVML's index of CUDA device n; -1: unknown. */
static long nvml_number(const char *visible, long n)
{
    if (!visible) return n;
    for (; n > 0 && visible; n--) {
        visible = strchr(visible, ',');
        if (visible) visible++;
    }
    if (!visible || !isdigit((unsigned char)*visible)) return -1;
    return strtol(visible, NULL, 10);
}

static void choose_cuda(const struct assay__sensors *sensors, const char *device,
                        struct assay__rails *rails)
{
    struct assay__rails gpus = {.count = 0};
    const char *colon = strrchr(device, ':');
    bool numbered = colon && isdigit((unsigned char)colon[1]);
    take(sensors, GPU, false, ASSAY__RAIL_PARTS, &gpus);
    long n = nvml_number(sensors->cuda_visible, numbered ? strtol(colon + 1, NULL, 10) : 0);
    if (n < 0) {
        rails->reason =
            "it is unknown which GPU ran it: CUDA_VISIBLE_DEVICES does not name it by number";
        return;
    }
    rails->gpu = assay__arena_text(sensors->profile->arena, "gpu%ld", n);
    for (size_t i = 0; i < gpus.count; i++)
        if (strcmp(gpus.names[i], rails->gpu) == 0) rails->names[rails->count++] = gpus.names[i];
    bool by_bus = sensors->cuda_order && strcmp(sensors->cuda_order, "PCI_BUS_ID") == 0;
    if (gpus.count > 1 && rails->count && !by_bus)
        rails->remark =
            "CUDA and NVML number the GPUs the same way only with CUDA_DEVICE_ORDER=PCI_BUS_ID";
}

static void choose_cpu(const struct assay__sensors *sensors, struct assay__rails *rails)
{
    static const enum rail_kind order[] = {PACKAGE, SOCKET, CPU};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        rails->count = 0;
        take(sensors, order[i], false, ASSAY__RAIL_PARTS, rails);
        if (!any_works(sensors, rails)) continue;
        if (order[i] == PACKAGE) take(sensors, DRAM, true, ASSAY__RAIL_PARTS, rails);
        return;
    }
    rails->count = 0;
    take(sensors, PACKAGE, false, ASSAY__RAIL_PARTS, rails); /* for its reason */
}

/* --- why power is unknown --------------------------------------------------------------------- */

static const char *probe_reason(const struct assay__sensors *sensors,
                                const struct assay__probe_cost *probe)
{
    const char *reason = NULL;
    for (size_t i = 0; i < sensors->series_count; i++) {
        const struct assay__series *series = &sensors->series[i];
        if (series->ops != probe->ops || !is_power_channel(series->channel)) continue;
        if (series->count > 0) return "it measures something else";
        if (!reason) reason = series->channel->reason;
    }
    return reason && *reason ? reason : *probe->reason ? probe->reason : "it reads no power here";
}

static bool measures_power_of(const struct assay__probe_ops *ops,
                              enum assay__device_class device_class)
{
    char letter = device_class ? assay__device_class_name(device_class)[0] : 'c';
    return ops->power_of && strchr(ops->power_of, letter);
}

/* Whether the probe measures the power of the device or, if nothing here measures power at all, of
 * another trial's device: all trials then have the same reason, which a report gives once. */
static bool is_asked(const struct assay__sensors *sensors, const struct assay__probe_ops *ops,
                     enum assay__device_class device_class, bool anything)
{
    if (measures_power_of(ops, device_class)) return true;
    for (size_t i = 0; !anything && i < sensors->profile->trial_count; i++)
        if (measures_power_of(ops, sensors->profile->trials[i].target.device_class)) return true;
    return false;
}

static void explain(const struct assay__sensors *sensors, struct assay__rails *rails)
{
    struct assay__arena *arena = sensors->profile->arena;
    /* The device's own rail exists but cannot be read: that is the reason. */
    for (size_t i = 0; rails->count && i < sensors->series_count; i++) {
        const struct assay__channel *channel = sensors->series[i].channel;
        if (!is_power_channel(channel) || !*channel->reason ||
            strcmp(channel->rail, rails->names[0]) != 0)
            continue;
        rails->reason = assay__arena_text(arena, "%s: %s", rails->names[0], channel->reason);
        return;
    }
    struct assay__buf text = {0};
    size_t listed = 0;
    assay__buf_puts(&text, "no energy counter or power sensor");
    /* The rails that were read. */
    const char *rail;
    size_t others = 0;
    for (size_t i = 0;
         (rail = assay__sensors_rail_at(sensors, i)) != NULL && text.length < REASON_OTHERS; i++)
        if (assay__sensors_rail_read(sensors, rail))
            assay__buf_printf(&text, "%s%.60s", others++ ? ", " : " of the processor (", rail);
    if (others)
        assay__buf_printf(&text, " %s read, but may not belong to it)",
                          others == 1 ? "was" : "were");
    rails->listed = true;
    for (size_t i = 0; i < assay__sampler_probe_count(sensors->sampler); i++) {
        struct assay__probe_cost probe;
        assay__sampler_probe_cost(sensors->sampler, i, &probe);
        if (!is_asked(sensors, probe.ops, rails->device_class, others > 0)) continue;
        if (probe.ops->is_foreign && probe.ops->is_foreign()) continue; /* no way to it */
        const char *reason = probe_reason(sensors, &probe);
        assay__buf_printf(&text, "%s%s: %.*s%s", listed++ ? "; " : ": ", probe.ops->name,
                          REASON_EACH, reason, strlen(reason) > REASON_EACH ? "…" : "");
    }
    const char *kept = assay__buf_keep(&text, arena);
    rails->reason = kept ? kept : "";
}

/* Whether every rail has a value; if not, why ("" unknown). */
static bool all_answer(const struct assay__sensors *sensors, const struct assay__rails *rails,
                       const char **why)
{
    struct assay__arena *arena = sensors->profile->arena;
    *why = "";
    for (size_t i = 0; i < rails->count; i++) {
        struct assay__sensed sensed;
        assay__sensed_rail(sensors, rails->names[i], &sensed);
        if (sensed.available) continue;
        *why = assay__arena_text(arena, "%s: %s", rails->names[i], sensed.reason);
        return false;
    }
    if (rails->count) return true;
    for (size_t i = 0; i < assay__sampler_probe_count(sensors->sampler) && !**why; i++) {
        struct assay__probe_cost probe;
        assay__sampler_probe_cost(sensors->sampler, i, &probe);
        if (probe.blocked && measures_power_of(probe.ops, rails->device_class))
            *why = assay__arena_text(arena, "%s: %s", probe.ops->name, probe.reason);
    }
    return false;
}

/* The power of the whole machine, if it is known and that of the rails is not. why: the reason. */
static bool choose_last_resort(const struct assay__sensors *sensors, const char *why,
                               struct assay__rails *rails)
{
    static const enum rail_kind last_resorts[] = {PSYS, MACHINE};
    for (size_t i = 0; i < sizeof last_resorts / sizeof last_resorts[0]; i++) {
        struct assay__rails last = *rails;
        last.count = 0;
        last.whole_machine = true;
        struct assay__sensed sensed = {.available = false};
        take(sensors, last_resorts[i], true, 1, &last);
        if (last.count) assay__sensed_rail(sensors, last.names[0], &sensed);
        if (!sensed.available) continue;
        char *remark = assay__arena_printf(
            sensors->profile->arena,
            "of the whole machine, because nothing measures the processor alone%s%.380s%s",
            *why ? " (" : "", why, *why ? ")" : "");
        for (char *part = remark; part && (part = strchr(part, ';')) != NULL;)
            *part = ','; /* it separates the parts of a note */
        last.remark = remark ? remark : "";
        *rails = last;
        return true;
    }
    return false;
}

void assay__sensors_rails(const struct assay__sensors *sensors, struct assay__rails *rails)
{
    const struct assay__target *target = &sensors->trial->target;
    const char *device = assay__device_bare(target->device);
    bool by_number = assay__text_is_one_of(device, "cuda* tensorrt* rocm* migraphx*");
    *rails = (struct assay__rails){
        .device_class = target->device_class, .reason = "", .remark = "", .gpu = ""};
    if (target->device_class == ASSAY__CLASS_GPU && by_number) {
        choose_cuda(sensors, device, rails);
    } else if (target->device_class == ASSAY__CLASS_GPU) {
        take(sensors, GPU, false, ASSAY__RAIL_PARTS, rails);
        if (rails->count > 1) {
            rails->count = 0;
            rails->reason = "it is unknown which of the cards ran it";
        }
        if (rails->count == 1) rails->gpu = rails->names[0];
    } else if (target->device_class == ASSAY__CLASS_NPU) {
        take(sensors, NPU, false, 1, rails);
    } else {
        choose_cpu(sensors, rails);
    }
    const char *why;
    if (*rails->reason || all_answer(sensors, rails, &why) ||
        choose_last_resort(sensors, why, rails) || any_works(sensors, rails))
        return; /* rails that were read have their own reasons */
    explain(sensors, rails);
    rails->count = 0;
}

/* --- temperature and clock -------------------------------------------------------------------- */

/* The first channel of the quantity whose name contains the earliest of the words. */
static size_t find_by_name(const struct assay__sensors *sensors, const char *quantity,
                           const char *const *words, const char *rail)
{
    for (; *words; words++)
        for (size_t i = 0; i < sensors->series_count; i++) {
            const struct assay__series *series = &sensors->series[i];
            if (strcmp(series->channel->quantity, quantity) == 0 && series->count > 0 &&
                strstr(series->channel->name, *words) &&
                (!rail || strcmp(series->channel->rail, rail) == 0))
                return i;
        }
    return SIZE_MAX;
}

size_t assay__sensors_temperature(const struct assay__sensors *sensors,
                                  const struct assay__rails *rails)
{
    static const char *const any[] = {"", NULL};
    static const char *const of_cpu[] = {"coretemp.package",
                                         "k10temp.tdie",
                                         "k10temp.tctl",
                                         "zenpower.tdie",
                                         "x86_pkg_temp",
                                         "cpu-thermal",
                                         "cpu_thermal",
                                         "soc-thermal",
                                         "soc_thermal",
                                         "acpitz",
                                         NULL};
    if (rails->device_class == ASSAY__CLASS_GPU)
        return *rails->gpu ? find_by_name(sensors, "temperature", any, rails->gpu) : SIZE_MAX;
    if (rails->device_class == ASSAY__CLASS_NPU) return SIZE_MAX;
    return find_by_name(sensors, "temperature", of_cpu, NULL);
}

size_t assay__sensors_clock(const struct assay__sensors *sensors, const struct assay__rails *rails)
{
    static const char *const of_cpu[] = {"clock.mean", "clock.p", NULL};
    static const char *const of_gpu[] = {".sm", ".graphics", ".sclk", "", NULL};
    static const char *const of_npu[] = {"clock.accel", NULL};
    if (rails->device_class == ASSAY__CLASS_GPU)
        return *rails->gpu ? find_by_name(sensors, "clock", of_gpu, rails->gpu) : SIZE_MAX;
    return find_by_name(sensors, "clock", rails->device_class == ASSAY__CLASS_NPU ? of_npu : of_cpu,
                        NULL);
}
