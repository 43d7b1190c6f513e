/* thermal.c - /sys/class/thermal: thermal_zoneN (`type`, `temp` in m°C) and what is being done
 * against the heat, cooling_deviceN (`type`, `cur_state` from 0, off, to `max_state`). A zone that
 * is switched off answers -274000, below absolute zero, or an error: it is then unavailable. How
 * often the hardware itself slowed down, Intel counts per CPU in
 * /sys/devices/system/cpu/cpuN/thermal_throttle: core_throttle_count (summed over the CPUs asked)
 * and package_throttle_count (the greatest). Source: the kernel's thermal sysfs interface and its
 * x86 ABI. */
#include "probe/cpus.h"
#include "probe/file_channels.h"
#include "probe/probes.h"

#include <math.h>
#include <string.h>

#define FOLDER "/sys/class/thermal"

static void add_zone(struct assay__probe *probe, struct assay__arena *arena, const char *zone)
{
    const char *type = assay__sysfs_text(arena, FOLDER "/%s/type", zone);
    const char *slug = assay__sysfs_slug(arena, type && *type ? type : zone);
    const char *name = assay__arena_printf(arena, "temperature.%s", slug);
    const char *path = assay__arena_printf(arena, FOLDER "/%s/temp", zone);
    if (!name || !path) return;
    assay__files_add(probe, &(struct assay__files_spec){.name = name,
                                                        .quantity = "temperature",
                                                        .rail = slug,
                                                        .unit = "°C",
                                                        .scale = 1e-3,
                                                        .path = path});
}

static void add_cooling(struct assay__probe *probe, struct assay__arena *arena, const char *device)
{
    const char *type = assay__sysfs_text(arena, FOLDER "/%s/type", device);
    const char *slug = assay__sysfs_slug(arena, type && *type ? type : device);
    const char *name = assay__arena_printf(arena, "cooling.%s", slug);
    const char *path = assay__arena_printf(arena, FOLDER "/%s/cur_state", device);
    if (!name || !path) return;
    assay__files_add(
        probe, &(struct assay__files_spec){
                   .name = name, .quantity = "state", .rail = slug, .unit = "1", .path = path});
}

/* The sum (key "sum") or the greatest of the counts of all files. */
static bool throttle_count(const struct assay__files_channel *channel, double *value,
                           const char **reason)
{
    *value = 0;
    for (size_t i = 0; i < channel->file_count; i++) {
        double count;
        if (!assay__sysfs_integer(channel->files[i]->text, &count, reason)) return false;
        *value = strcmp(channel->key, "sum") == 0 ? *value + count : fmax(*value, count);
    }
    return true;
}

static void add_throttling(struct assay__probe *probe, struct assay__arena *arena)
{
    static const struct {
        const char *name, *file, *rail, *key;
    } rows[] = {
        {"count.throttled.core", "thermal_throttle/core_throttle_count", "core", "sum"},
        {"count.throttled.package", "thermal_throttle/package_throttle_count", "package", "most"},
    };
    struct assay__cpus cpus;
    if (!assay__cpus_find(arena, &cpus)) return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const *paths = assay__cpus_paths(arena, &cpus, rows[i].file);
        const char *source = assay__arena_printf(arena, ASSAY__CPUS_FOLDER "/cpu*/%s%s",
                                                 rows[i].file, assay__cpus_note(&cpus));
        if (!paths || !source) continue; /* only Intel has them: no loss elsewhere */
        assay__files_add(probe, &(struct assay__files_spec){.name = rows[i].name,
                                                            .quantity = "count",
                                                            .rail = rows[i].rail,
                                                            .unit = "1",
                                                            .kind = ASSAY__CHANNEL_COUNTER,
                                                            .paths = paths,
                                                            .compute = throttle_count,
                                                            .key = rows[i].key,
                                                            .slow = true,
                                                            .source = source});
    }
}

static int thermal_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    const char **entries = assay__sysfs_list(arena, FOLDER, "");
    for (const char **entry = entries; entry && *entry; entry++) {
        if (strncmp(*entry, "thermal_zone", 12) == 0) add_zone(*probe, arena, *entry);
        if (strncmp(*entry, "cooling_device", 14) == 0) add_cooling(*probe, arena, *entry);
    }
    add_throttling(*probe, arena);
    const struct assay__channel *channels;
    const char *reason = NULL;
    if (assay__files_channels(*probe, &channels) == 0)
        reason = "no thermal zone in " FOLDER ": virtual machines have none";
    return assay__files_end(probe, reason, error);
}

static const struct assay__capture_files files[] = {
    {FOLDER "/*", "type temp cur_state max_state", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_thermal = {
    .name = "thermal",
    .summary = "thermal zones and cooling devices",
    .open = thermal_open,
    .channels = assay__files_channels,
    .reason = assay__files_reason,
    .read = assay__files_read,
    .close = assay__files_close,
    .files = files,
};
