/* battery.c - power from the battery, the last resort for a whole machine:
 * /sys/class/power_supply/NAME with `type` "Battery", `status`, and power_now (µW) or current_now
 * (µA) and voltage_now (µV). This is the power of the system only while discharging, as the sum
 * over all of the machine's batteries; when plugged in, it is unavailable. Drivers disagree about
 * the sign of a discharge: `status` gives the direction, the magnitude counts. Batteries of mice
 * and headsets (scope "Device") are ignored. Values change every few seconds, which the sampler's
 * measured period shows. */
#include "probe/file_channels.h"

#include <math.h>
#include <string.h>

#define FOLDER "/sys/class/power_supply"
#define BATTERIES_MAX 4

/* key: one letter per battery, 'p' power_now, 'i' current_now and voltage_now. If there are
 * several, idle ones ("Full", "Not charging") add nothing, as long as one discharges and none
 * charges. */
static bool all_power(const struct assay__files_channel *channel, double *value,
                      const char **reason)
{
    struct assay__sysfs_file *const *files = channel->files; /* status, then the numbers */
    size_t discharging = 0;
    *value = 0;
    for (const char *kind = channel->key; *kind; kind++) {
        size_t numbers = *kind == 'i' ? 2 : 1;
        bool discharges = strcmp(files[0]->text, "Discharging") == 0;
        double power = 1, number;
        *reason = "a battery is charging: the machine runs on its charger (unplug it)";
        if (strcmp(files[0]->text, "Charging") == 0) return false;
        for (size_t i = 1; discharges && i <= numbers; i++) {
            if (!assay__sysfs_integer(files[i]->text, &number, reason)) return false;
            power *= fabs(number) * 1e-6;
        }
        if (discharges) *value += power;
        discharging += discharges;
        files += 1 + numbers;
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

static int battery_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    static const char *const files[] = {"power_now", "current_now", "voltage_now"};
    const char *paths[BATTERIES_MAX * 3 + 1] = {NULL};
    char kinds[BATTERIES_MAX + 1] = "";
    size_t path_count = 0, count = 0;
    bool mute = false;
    *probe = assay__files_new(arena);
    const char **supplies = assay__sysfs_list(arena, FOLDER, "");
    for (const char **name = supplies; name && *name && count < BATTERIES_MAX; name++) {
        if (!is_ours(arena, *name)) continue;
        bool power = assay__fs_exists(FOLDER "/%s/power_now", *name);
        bool product = !power && assay__fs_exists(FOLDER "/%s/current_now", *name) &&
                       assay__fs_exists(FOLDER "/%s/voltage_now", *name);
        mute = mute || (!power && !product);
        if (!power && !product) continue;
        paths[path_count++] = assay__arena_text(arena, FOLDER "/%s/status", *name);
        for (size_t i = power ? 0 : 1; i < (power ? 1u : 3u); i++)
            paths[path_count++] = assay__arena_text(arena, FOLDER "/%s/%s", *name, files[i]);
        kinds[count++] = power ? 'p' : 'i';
    }
    if (count == 0)
        return assay__files_end(
            probe,
            mute ? "the battery has neither power_now nor current_now and voltage_now"
                 : "no battery in " FOLDER " (this is the last resort; a machine on mains power "
                   "needs RAPL, a sensor chip or a meter)",
            error);
    const struct assay__files_spec spec = {
        .name = "power.battery",
        .rail = "system",
        .as = {"power", "W", ASSAY__CHANNEL_GAUGE, 1},
        .compute = all_power,
        .key = assay__arena_text(arena, "%s", kinds),
        .paths = paths,
        .source = paths[1],
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
    .summary = "what the battery delivers while it discharges",
    .open = battery_open,
    ASSAY__FILES_OPS,
    .power_of = "cgn",
    .files = files,
};
