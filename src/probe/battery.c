/* battery.c - power from the battery, the last resort for a whole machine:
 * /sys/class/power_supply/NAME with `type` "Battery", `status`, and power_now (µW) or current_now
 * (µA) and voltage_now (µV). Only while it discharges, on all of the machine's batteries together,
 * is that the power of the system; plugged in, it is unavailable. Drivers disagree
 * about the sign of a discharge: `status` decides, the size counts. Batteries of mice and headsets
 * (scope "Device") are not ours. Values change every few seconds: the sampler's measured period
 * says so. */
#include "probe/file_channels.h"

#include <math.h>
#include <string.h>

#define FOLDER "/sys/class/power_supply"
#define BATTERIES_MAX 4

/* Watts of one battery from its files: status, then power_now; or current_now and voltage_now
 * (product). */
static bool one_power(const struct assay__sysfs_file *const *files, bool product, double *value,
                      const char **reason)
{
    double volts;
    if (!assay__sysfs_integer(files[1]->text, value, reason)) return false;
    *value = fabs(*value) * 1e-6;
    if (!product) return true;
    if (!assay__sysfs_integer(files[2]->text, &volts, reason)) return false;
    *value *= fabs(volts) * 1e-6;
    return true;
}

/* key: one letter per battery, 'p' power_now, 'i' current_now and voltage_now. Idle batteries
 * ("Full", "Not charging") of several add nothing, as long as one discharges and none charges. */
static bool all_power(const struct assay__files_channel *channel, double *value,
                      const char **reason)
{
    const struct assay__sysfs_file *const *files = channel->files;
    size_t discharging = 0;
    *value = 0;
    for (const char *kind = channel->key; *kind; kind++) {
        bool product = *kind == 'i';
        double power;
        *reason = "a battery is charging: the machine runs on its charger (unplug it)";
        if (strcmp(files[0]->text, "Charging") == 0) return false;
        if (strcmp(files[0]->text, "Discharging") == 0) {
            if (!one_power(files, product, &power, reason)) return false;
            *value += power;
            discharging++;
        }
        files += product ? 3 : 2;
    }
    *reason = discharging ? ""
                          : "no battery is discharging, so they do not show what the machine "
                            "draws (unplug the charger)";
    return discharging > 0;
}

static bool is_ours(struct assay__arena *arena, const char *name)
{
    const char *type = assay__sysfs_text(arena, FOLDER "/%s/type", name);
    const char *scope = assay__sysfs_text(arena, FOLDER "/%s/scope", name);
    double present = 1;
    if (!type || strcmp(type, "Battery") != 0) return false;
    if (scope && strcmp(scope, "Device") == 0) return false;
    return !assay__sysfs_value(&present, FOLDER "/%s/present", name) || present != 0;
}

struct battery_files {
    const char *paths[BATTERIES_MAX * 3 + 1];
    size_t path_count;
    char kinds[BATTERIES_MAX + 1];
    size_t count;
};

/* 'p', 'i', or 0 when the battery has no such files. */
static char kind_of(const char *name)
{
    if (assay__sysfs_exists(FOLDER "/%s/power_now", name)) return 'p';
    if (assay__sysfs_exists(FOLDER "/%s/current_now", name) &&
        assay__sysfs_exists(FOLDER "/%s/voltage_now", name))
        return 'i';
    return 0;
}

/* The battery's files; false: no memory. */
static bool take_battery(struct assay__arena *arena, struct battery_files *all, const char *name,
                         char kind)
{
    static const char *const power[] = {"status", "power_now", NULL};
    static const char *const product[] = {"status", "current_now", "voltage_now", NULL};
    for (const char *const *file = kind == 'i' ? product : power; *file; file++) {
        const char *path = assay__arena_printf(arena, FOLDER "/%s/%s", name, *file);
        if (!path) return false;
        all->paths[all->path_count++] = path;
    }
    all->kinds[all->count++] = kind;
    return true;
}

static int battery_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    struct battery_files all = {.path_count = 0};
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    const char **supplies = assay__sysfs_list(arena, FOLDER, "");
    bool mute = false, memory = true;
    for (const char **name = supplies; name && *name && all.count < BATTERIES_MAX; name++) {
        if (!is_ours(arena, *name)) continue;
        char kind = kind_of(*name);
        mute = mute || !kind;
        if (kind) memory = memory && take_battery(arena, &all, *name, kind);
    }
    const char *key = assay__arena_strdup(arena, all.kinds);
    if (!memory || !key) {
        assay__files_close(*probe);
        *probe = NULL;
        return assay_error_set(error, ASSAY_ENOMEM, "no memory for the battery probe");
    }
    if (all.count == 0)
        return assay__files_end(
            probe,
            mute ? "the battery has neither power_now nor current_now and voltage_now"
                 : "no battery in " FOLDER " (this is the last resort; a machine on mains needs "
                   "RAPL, a sensor chip or a meter)",
            error);
    const struct assay__files_spec spec = {
        .name = "power.battery",
        .rail = "system",
        .as = {"power", "W", ASSAY__CHANNEL_GAUGE, 1, all_power, key, 0},
        .paths = all.paths,
        .source = all.paths[1],
        .reason = mute ? "one of the batteries does not report its power" : NULL};
    assay__files_add(*probe, &spec);
    return assay__files_end(probe, NULL, error);
}

static const struct assay__capture_files files[] = {
    {FOLDER "/*", "type scope present online status power_now current_now voltage_now",
     ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_battery = {
    .name = "battery",
    .summary = "what the battery gives while it discharges",
    .open = battery_open,
    ASSAY__FILES_OPS,
    .power_of = "cgn",
    .files = files,
};
