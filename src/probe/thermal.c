/* thermal.c - /sys/class/thermal: thermal_zoneN (`type`, `temp` in m°C) and cooling,
 * cooling_deviceN (`type`, `cur_state` from 0, off, to `max_state`). A zone that is switched off
 * reports -274000, below absolute zero, or an error: it is then unavailable. How often the hardware
 * itself slowed down is counted by Intel per CPU in /sys/devices/system/cpu/cpuN/thermal_throttle:
 * core_throttle_count (summed over the CPUs that are read) and package_throttle_count (the max).
 * Source: the kernel's thermal sysfs interface and its x86 ABI. */
#include "probe/cpus.h"
#include "probe/file_channels.h"

#include <math.h>
#include <string.h>

#define FOLDER "/sys/class/thermal"

static const struct zone_kind {
    const char *prefix, *name, *file;
    struct assay__files_kind as;
} zones[] = {
    {"thermal_zone", "temperature", "temp", {"temperature", "°C", ASSAY__CHANNEL_GAUGE, 1e-3}},
    {"cooling_device", "cooling", "cur_state", {"state", "1", ASSAY__CHANNEL_GAUGE, 1}},
};

/* The sum (key "sum") or the max of the counts of all files. */
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
        const struct assay__files_spec spec = {
            .name = rows[i].name,
            .rail = rows[i].rail,
            .as = {"count", "1", ASSAY__CHANNEL_COUNTER, 1},
            .compute = throttle_count,
            .key = rows[i].key,
            .paths = assay__cpus_paths(arena, &cpus, rows[i].file),
            .slow = true,
            .source = assay__cpus_source(arena, &cpus, rows[i].file)};
        /* only Intel has them: not missed elsewhere */
        if (spec.paths) assay__files_add(probe, &spec);
    }
}

static int thermal_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    *probe = assay__files_new(arena);
    const char **entries = assay__sysfs_list(arena, FOLDER, "");
    for (const char **entry = entries; entry && *entry; entry++)
        for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
            if (strncmp(*entry, zones[i].prefix, strlen(zones[i].prefix)) != 0) continue;
            const char *type = assay__sysfs_text(arena, FOLDER "/%s/type", *entry);
            const char *slug = assay__sysfs_slug(arena, type && *type ? type : *entry);
            const struct assay__files_spec spec = {
                .name = assay__arena_text(arena, "%s.%s", zones[i].name, slug),
                .rail = slug,
                .as = zones[i].as,
                .path = assay__arena_text(arena, FOLDER "/%s/%s", *entry, zones[i].file)};
            assay__files_add(*probe, &spec);
        }
    add_throttling(*probe, arena);
    return assay__files_end(
        probe,
        assay__files_none(*probe, "no thermal zone in " FOLDER ": virtual machines have none"),
        error);
}

static const struct assay__capture_files files[] = {
    {FOLDER "/*", "type temp cur_state max_state", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_thermal = {
    .name = "thermal",
    .summary = "thermal zones and cooling devices",
    .open = thermal_open,
    ASSAY__FILES_OPS,
    .files = files,
};
