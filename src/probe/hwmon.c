/* hwmon.c - sensors of mainboards, processors, disks and regulators: /sys/class/hwmon/hwmonN has a
 * `name` and files power1_input or power1_average (µW), energy1_input (µJ), temp1_input (m°C),
 * fan1_input (rev/min), each with an optional _label. Averages are used if there is no
 * instantaneous value. Fans are in revolutions per second. Chips that another probe reads are left
 * to it: amdgpu, i915 and xe (gpu_sysfs.c), batteries (battery.c). energyN_input of the amd_energy
 * driver has 64 bits and does not wrap. Source: the kernel's hwmon sysfs interface. */
#include "probe/hwmon.h"
#include "base/text.h"
#include "probe/file_channels.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "/sys/class/hwmon"

#define GAUGE ASSAY__CHANNEL_GAUGE
static const struct sensor {
    const char *prefix; /* "temp" of temp1_input */
    const char *other;  /* used if there is no _input: "_average"; NULL */
    struct assay__files_kind as;
} sensors[] = {
    {"energy", NULL, {"energy", "J", ASSAY__CHANNEL_COUNTER, 1e-6}},
    {"power", "_average", {"power", "W", GAUGE, 1e-6}},
    {"temp", NULL, {"temperature", "°C", GAUGE, 1e-3}},
    {"fan", NULL, {"fan", "1/s", GAUGE, 1.0 / 60}},
    {"freq", NULL, {"clock", "Hz", GAUGE, 1}},
};

/* "temp12_input" with prefix "temp" -> 12; 0: not such a file. */
static unsigned long sensor_number(const char *file, const char *prefix, const char *suffix)
{
    size_t length = strlen(prefix);
    if (strncmp(file, prefix, length) != 0 || file[length] < '1' || file[length] > '9') return 0;
    char *end;
    unsigned long number = strtoul(file + length, &end, 10);
    return strcmp(end, suffix) == 0 && number < 100000 ? number : 0;
}

static void add_sensor(struct assay__probe *probe, struct assay__arena *arena,
                       const struct assay__hwmon_chip *chip, const struct sensor *sensor,
                       unsigned long number, const char *suffix)
{
    /* "/sys/class/hwmon/hwmon3/temp1" */
    const char *stem = assay__arena_text(arena, "%s/%s%lu", chip->folder, sensor->prefix, number);
    const char *label = assay__sysfs_text(arena, "%s_label", stem), *reason = NULL;
    if (!label || !*label) label = assay__arena_text(arena, "%s%lu", sensor->prefix, number);
    const char *slug = assay__sysfs_slug(arena, label);
    double fault = 0;
    /* The chip itself reports that nothing is connected. */
    if (assay__sysfs_value(&fault, "%s_fault", stem) && fault != 0)
        reason = assay__arena_text(arena, "%s_fault is set: the chip reports a fault", stem);
    const struct assay__files_spec spec = {
        .name = assay__arena_text(arena, "%s.%s.%s", sensor->as.quantity, chip->name, slug),
        .rail = chip->rail && number == 1 ? chip->rail
                                          : assay__arena_text(arena, "%s.%s", chip->name, slug),
        .as = sensor->as,
        .path = assay__arena_text(arena, "%s%s", stem, suffix),
        .reason = reason};
    assay__files_add(probe, &spec);
}

void assay__hwmon_add_chip(struct assay__probe *probe, struct assay__arena *arena,
                           const struct assay__hwmon_chip *chip)
{
    const char **files = assay__sysfs_list(arena, chip->folder, "");
    for (size_t s = 0; files && s < sizeof sensors / sizeof sensors[0]; s++) {
        const struct sensor *sensor = &sensors[s];
        for (const char **file = files; *file; file++) {
            unsigned long number = sensor_number(*file, sensor->prefix, "_input");
            const char *suffix = "_input";
            if (!number && sensor->other) {
                number = sensor_number(*file, sensor->prefix, sensor->other);
                suffix = sensor->other;
                if (assay__fs_exists("%s/%s%lu_input", chip->folder, sensor->prefix, number))
                    continue;
            }
            if (number) add_sensor(probe, arena, chip, sensor, number, suffix);
        }
    }
}

static int hwmon_open(struct assay__arena *arena, struct assay__probe **probe,
                      struct assay_error *error)
{
    *probe = assay__files_new(arena);
    const char **chips = assay__sysfs_list(arena, FOLDER, "hwmon");
    for (const char **chip = chips; chip && *chip; chip++) {
        const char *name = assay__sysfs_text(arena, FOLDER "/%s/name", *chip);
        if (name && (assay__text_is_one_of(name, "amdgpu i915* xe") ||
                     assay__fs_exists("/sys/class/power_supply/%s", name)))
            continue;
        const struct assay__hwmon_chip own = {
            .folder = assay__arena_text(arena, FOLDER "/%s", *chip),
            .name = assay__sysfs_slug(arena, name ? name : *chip)};
        assay__hwmon_add_chip(*probe, arena, &own);
    }
    return assay__files_end(
        probe,
        assay__files_none(*probe, chips && *chips
                                      ? "no chip of " FOLDER
                                        " has a power, energy, temperature or fan file"
                                      : "no sensor chip in " FOLDER
                                        ": virtual machines have none; on real hardware: sudo "
                                        "sensors-detect (package lm-sensors)"),
        error);
}

static const struct assay__capture_files files[] = {
    {FOLDER "/hwmon*", ASSAY__HWMON_FILES, ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_hwmon = {
    .name = "hwmon",
    .summary = "power, energy, temperature and fans of sensor chips",
    .open = hwmon_open,
    ASSAY__FILES_OPS,
    .power_of = "c",
    .files = files,
};
