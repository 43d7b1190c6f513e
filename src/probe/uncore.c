/* uncore.c - bytes that the memory controllers read and wrote, from the counters of Intel's
 * controllers (the kernel's drivers uncore_imc*). They count for the whole machine, not for a
 * process, so the kernel only allows root to read them, unless kernel.perf_event_paranoid is 0 or
 * less.
 *
 * What to count is described below /sys/bus/event_source/devices/uncore_imc*:
 *   type, cpumask                     the type for perf_event_open; one CPU of each package
 *   events/cas_count_read             "event=0x04,umask=0x03"; client processors: data_read(s)
 *   events/cas_count_read.scale .unit "6.103515625e-5" and "MiB": count x scale x unit
 *   format/event, format/umask        "config:0-7", "config:8-15": where a term's bits go
 * A channel is the sum over all controllers and packages; if one of them cannot be counted, the sum
 * would be wrong, so it is unavailable. Events that need more than the word `config`, and units
 * other than B, KiB, MiB and GiB, are not supported.
 *
 * AMD's and Arm's drivers describe no such events there: the reason says so. */
#include "base/cpu_list.h"
#include "base/no_memory.h"
#include "probe/live.h"
#include "probe/perf_event.h"
#include "probe/probes.h"
#include "probe/sysfs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"
#define CHANNELS 2
#define COUNTERS_MOST 256
#define CPUS_MOST 64

struct counter {
    int fd;
    double bytes; /* that a count stands for */
};

struct assay__probe {
    struct assay__probe_head head;
    struct assay__perf_calls calls;
    struct assay__arena *arena;
    struct assay__channel channels[CHANNELS];
    struct counter counters[CHANNELS][COUNTERS_MOST];
    size_t counter_count[CHANNELS];
};

static const char *const names[CHANNELS] = {"memory.read", "memory.write"};
/* The first that any device has is used. */
static const char *const events[CHANNELS][4] = {
    {"cas_count_read", "data_read", "data_reads", NULL},
    {"cas_count_write", "data_write", "data_writes", NULL},
};

/* --- what the files say ----------------------------------------------------------------------- */

/* "config:0-7,32-35": puts the low bits of value there. False: another word, or bits that do not
 * fit. */
static bool place_bits(const char *format, uint64_t value, uint64_t *config)
{
    static const char word[] = "config:";
    if (!format || strncmp(format, word, sizeof word - 1) != 0) return false;
    for (const char *at = format + sizeof word - 1; *at;) {
        char *end;
        unsigned long low = strtoul(at, &end, 10), high = low;
        if (end == at) return false;
        if (*end == '-') {
            at = end + 1;
            high = strtoul(at, &end, 10);
            if (end == at) return false;
        }
        if (high > 63 || low > high) return false;
        for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
            *config |= (value & 1) << bit;
        if (*end && *end != ',') return false;
        at = *end ? end + 1 : end;
    }
    return value == 0;
}

/* Parses "event=0x04,umask=0x03" of a device. */
static bool read_config(struct assay__arena *arena, const char *device, const char *text,
                        uint64_t *config)
{
    char copy[256], *save = NULL;
    *config = 0;
    if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy) return false;
    for (char *term = strtok_r(copy, ",", &save); term; term = strtok_r(NULL, ",", &save)) {
        char *number = strchr(term, '='), *end = NULL;
        if (number) *number++ = '\0';
        uint64_t value = number ? strtoull(number, &end, 0) : 1;
        if (number && (end == number || *end)) return false;
        if (strchr(term, '/') || strchr(term, '.')) return false;
        if (!place_bits(assay__sysfs_text(arena, DEVICES "/%s/format/%s", device, term), value,
                        config))
            return false;
    }
    return true;
}

/* Bytes per count; NaN: unknown, or not supported. */
static double bytes_per_count(struct assay__arena *arena, const char *device, const char *event)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}};
    const char *scale = assay__sysfs_text(arena, DEVICES "/%s/events/%s.scale", device, event);
    const char *unit = assay__sysfs_text(arena, DEVICES "/%s/events/%s.unit", device, event);
    char *end = NULL;
    double value = scale ? strtod(scale, &end) : NAN;
    if (!scale || end == scale || *end || !(value > 0) || !isfinite(value) || !unit) return NAN;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, unit) == 0) return value * units[i].bytes;
    return NAN;
}

/* --- open ------------------------------------------------------------------------------------- */

static const char *open_reason(struct assay__arena *arena, int number)
{
    double level;
    if (number != EACCES && number != EPERM)
        return assay__arena_text(arena, "perf_event_open of a memory controller: %s",
                                 strerror(number));
    if (!assay__sysfs_value(&level, "/proc/sys/kernel/perf_event_paranoid"))
        return "permission denied: counters of the whole machine need root (containers: --cap-add "
               "PERFMON)";
    return assay__arena_text(arena,
                             "permission denied: counters of the whole machine need root, or "
                             "kernel.perf_event_paranoid 0 or less (it is %.0f): sudo sysctl "
                             "kernel.perf_event_paranoid=0",
                             level);
}

/* Opens the event of one device on each of its CPUs. "" or why not. */
static const char *open_device(struct assay__probe *probe, size_t channel, const char *device,
                               const char *event, const char *text)
{
    double type;
    uint64_t config;
    double bytes = bytes_per_count(probe->arena, device, event);
    const char *mask = assay__sysfs_text(probe->arena, DEVICES "/%s/cpumask", device); /* "0,28" */
    int cpus = mask ? assay__cpu_list_count(mask) : 0;
    if (!assay__sysfs_value(&type, DEVICES "/%s/type", device) || type < 0 || type > UINT32_MAX ||
        !read_config(probe->arena, device, text, &config) || isnan(bytes) || cpus == 0 ||
        cpus > CPUS_MOST)
        return "the files that describe the memory controller's events could not be parsed";
    if (!probe->calls.open_system) return "perf_event_open is not available";
    struct assay__cpu_walk walk = {.at = mask};
    while (assay__cpu_next(&walk)) {
        if (probe->counter_count[channel] == COUNTERS_MOST) return "too many memory controllers";
        int fd = probe->calls.open_system((uint32_t)type, config, (int)walk.cpu);
        if (fd < 0) return open_reason(probe->arena, errno);
        probe->counters[channel][probe->counter_count[channel]++] = (struct counter){fd, bytes};
    }
    return "";
}

static void close_channel(struct assay__probe *probe, size_t channel)
{
    for (size_t i = 0; i < probe->counter_count[channel]; i++)
        probe->calls.close(probe->counters[channel][i].fd);
    probe->counter_count[channel] = 0;
}

static const char *open_channel(struct assay__probe *probe, size_t channel, const char **devices,
                                const char *refused)
{
    const char *why = "the memory-controller drivers of this machine describe no counters of bytes "
                      "read and written";
    for (size_t e = 0; events[channel][e]; e++) {
        bool found = false;
        for (size_t d = 0; devices[d]; d++) {
            const char *event = events[channel][e];
            const char *text = assay__sysfs_text(probe->arena, DEVICES "/%s/events/%s", devices[d],
                                                 event);
            if (!text) continue;
            found = true;
            why = refused ? refused : open_device(probe, channel, devices[d], event, text);
            if (*why) {
                close_channel(probe, channel);
                return why;
            }
        }
        if (found) return "";
    }
    return why;
}

static void uncore_close(struct assay__probe *probe)
{
    for (size_t i = 0; probe && i < CHANNELS; i++)
        close_channel(probe, i);
}

static int uncore_open(struct assay__arena *arena, struct assay__probe **probe,
                       struct assay_error *error)
{
    struct assay__probe *made = *probe = assay__arena_alloc(arena, sizeof *made);
    if (!made) return assay__no_memory(error);
    const struct assay__perf_calls *replaced = assay__perf_event_calls();
    made->arena = arena;
    made->calls = replaced ? *replaced : assay__perf_system;
    const char **devices = assay__sysfs_list(arena, DEVICES, "uncore_imc");
    bool any = false;
    made->head.reason =
        "this machine exposes no memory-controller counters (no uncore_imc under " DEVICES
        "): virtual machines do not get them, and AMD's and Arm's drivers describe none there";
    for (size_t i = 0; devices && devices[0] && i < CHANNELS; i++) {
        const char *why = open_channel(made, i, devices, replaced ? NULL : assay__live_refused());
        made->channels[i] = (struct assay__channel){
            .name = names[i],
            .quantity = "memory",
            .rail = "dram",
            .unit = "B",
            .kind = ASSAY__CHANNEL_COUNTER,
            .range = NAN,
            .source = "perf_event (uncore_imc, whole machine)",
            .available = !*why,
            .reason = why,
        };
        any |= !*why;
        made->head = (struct assay__probe_head){made->channels, CHANNELS, any ? "" : why};
    }
    if (!assay__arena_failed(arena)) return 0;
    uncore_close(made);
    *probe = NULL;
    return assay__no_memory(error);
}

/* --- read ------------------------------------------------------------------------------------- */

static void uncore_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    for (size_t c = 0; c < probe->head.count; c++) {
        const char *reason = probe->channels[c].reason;
        double bytes = 0;
        for (size_t i = 0; !*reason && i < probe->counter_count[c]; i++) {
            const struct counter *counter = &probe->counters[c][i];
            struct assay__perf_count count;
            if (!probe->calls.read(counter->fd, &count)) {
                reason = "the counter can no longer be read";
            } else if (count.enabled_ns > 0 && count.running_ns == 0) {
                reason = "another program is using the counters";
            } else {
                double scale = count.enabled_ns > 0
                                   ? (double)count.enabled_ns / (double)count.running_ns
                                   : 1;
                bytes += (double)count.value * fmax(scale, 1) * counter->bytes;
            }
        }
        readings[c] = (struct assay__probe_reading){*reason ? NAN : bytes, reason};
    }
}

static const struct assay__capture_files files[] = {
    {DEVICES "/*", "type", ASSAY__CAPTURE_COPY},
    {DEVICES "/uncore_imc*", "cpumask", ASSAY__CAPTURE_COPY},
    {DEVICES "/uncore_imc*/events", "*", ASSAY__CAPTURE_COPY},
    {DEVICES "/uncore_imc*/format", "*", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_uncore = {
    .name = "uncore",
    .summary = "bytes that the memory controllers read and wrote (perf_event, whole machine)",
    .open = uncore_open,
    ASSAY__HEAD_OPS,
    .read = uncore_read,
    .close = uncore_close,
    .files = files,
};
