/* hwmon.c - sensors of mainboards, processors, disks and regulators: /sys/class/hwmon/hwmonN has a
 * `name` and files power1_input or power1_average (µW), energy1_input (µJ), temp1_input (m°C),
 * fan1_input (rev/min), each with an optional _label. Averages are taken where there is no
 * instantaneous value. Fans are given in revolutions per second. Chips that another probe reads are
 * left to it: amdgpu, i915 and xe (gpu_sysfs.c), batteries (battery.c). energyN_input of the
 * amd_energy driver has 64 bits and does not wrap. Source: the kernel's hwmon sysfs interface. */
#include "probe/hwmon.h"
#include "probe/file_channels.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "/sys/class/hwmon"

#define GAUGE ASSAY__CHANNEL_GAUGE
static const struct sensor {
    const char *prefix; /* "temp" of temp1_input */
    const char *other;  /* taken where there is no _input: "_average"; NULL */
    struct assay__files_kind as;
} sensors[] = {
    {"energy", NULL, {"energy", "J", ASSAY__CHANNEL_COUNTER, 1e-6, NULL, NULL, 0}},
    {"power", "_average", {"power", "W", GAUGE, 1e-6, NULL, NULL, 0}},
    {"temp", NULL, {"temperature", "°C", GAUGE, 1e-3, NULL, NULL, 0}},
    {"fan", NULL, {"fan", "1/s", GAUGE, 1.0 / 60, NULL, NULL, 0}},
    {"freq", NULL, {"clock", "Hz", GAUGE, 1, NULL, NULL, 0}},
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

static bool has_input(const char *const *files, const char *prefix, unsigned long number)
{
    for (; *files; files++)
        if (sensor_number(*files, prefix, "_input") == number) return true;
    return false;
}

static void add_sensor(struct assay__probe *probe, struct assay__arena *arena,
                       const struct assay__hwmon_chip *chip, const struct sensor *sensor,
                       unsigned long number, const char *suffix)
{
    const char *label = assay__sysfs_text(arena, "%s/%s%lu_label", chip->folder, sensor->prefix,
                                          number);
    if (!label || !*label) label = assay__arena_printf(arena, "%s%lu", sensor->prefix, number);
    const char *path = assay__arena_printf(arena, "%s/%s%lu%s", chip->folder, sensor->prefix,
                                           number, suffix);
    const char *slug = label ? assay__sysfs_slug(arena, label) : "";
    const char *name = assay__arena_printf(arena, "%s.%s.%s", sensor->as.quantity, chip->name,
                                           slug);
    const char *rail = chip->rail && number == 1
                           ? chip->rail
                           : assay__arena_printf(arena, "%s.%s", chip->name, slug);
    double fault = 0;
    const char *reason = NULL;
    if (!path || !name || !rail) return;
    /* The chip itself says that nothing is connected. */
    if (assay__sysfs_value(&fault, "%s/%s%lu_fault", chip->folder, sensor->prefix, number) &&
        fault != 0)
        reason = assay__arena_printf(arena, "%s/%s%lu_fault is set: the chip reports a fault",
                                     chip->folder, sensor->prefix, number);
    const struct assay__files_spec spec = {
        .name = name, .rail = rail, .as = sensor->as, .path = path, .reason = reason};
    assay__files_add(probe, &spec);
}

void assay__hwmon_add_chip(struct assay__probe *probe, struct assay__arena *arena,
                           const struct assay__hwmon_chip *chip)
{
    const char **files = assay__sysfs_list(arena, chip->folder, "");
    if (!files) return;
    for (size_t s = 0; s < sizeof sensors / sizeof sensors[0]; s++) {
        const struct sensor *sensor = &sensors[s];
        for (const char **file = files; *file; file++) {
            unsigned long number = sensor_number(*file, sensor->prefix, "_input");
            const char *suffix = "_input";
            if (!number && sensor->other) {
                number = sensor_number(*file, sensor->prefix, sensor->other);
                suffix = sensor->other;
                if (number && has_input((const char *const *)files, sensor->prefix, number))
                    continue;
            }
            if (number) add_sensor(probe, arena, chip, sensor, number, suffix);
        }
    }
}

static bool elsewhere(const char *chip)
{
    return strcmp(chip, "amdgpu") == 0 || strncmp(chip, "i915", 4) == 0 ||
           strcmp(chip, "xe") == 0 || assay__sysfs_exists("/sys/class/power_supply/%s", chip);
}

static int hwmon_open(struct assay__arena *arena, struct assay__probe **probe,
                      struct assay_error *error)
{
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    const char **chips = assay__sysfs_list(arena, FOLDER, "hwmon");
    for (const char **chip = chips; chip && *chip; chip++) {
        const char *name = assay__sysfs_text(arena, FOLDER "/%s/name", *chip);
        const char *folder = assay__arena_printf(arena, FOLDER "/%s", *chip);
        if (!folder || (name && elsewhere(name))) continue;
        assay__hwmon_add_chip(
            probe[0], arena,
            &(struct assay__hwmon_chip){.folder = folder,
                                        .name = assay__sysfs_slug(arena, name ? name : *chip)});
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
