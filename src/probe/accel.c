/* accel.c - NPUs and other accelerators of /sys/class/accel. Facts by driver (device/uevent has
 * DRIVER=):
 *   intel_vpu    device/npu_busy_time_us (time with jobs; the driver advises to read it about once
 *                a second), npu_{current,max}_frequency_mhz, npu_memory_utilization (bytes)
 *   habanalabs   device/clk_cur_freq_mhz; power and temperature come through hwmon
 *   amdxdna      nothing in sysfs: clocks, power and utilisation need an ioctl
 *   qaic         nothing in sysfs: only the vendor's tool can query the card
 * A clock of 0 MHz means that the NPU sleeps: plausible when idle, a fault under load
 * (sampler.h). */
#include "probe/file_channels.h"

#include <string.h>

#define FOLDER "/sys/class/accel"

#define GAUGE ASSAY__CHANNEL_GAUGE
static const struct accel_row {
    const char *driver, *file, *name;
    struct assay__files_kind as;
} rows[] = {
    {"intel_vpu", "npu_busy_time_us", "time.busy", {"time", "s", ASSAY__CHANNEL_COUNTER, 1e-6}},
    {"intel_vpu", "npu_current_frequency_mhz", "clock", {"clock", "Hz", GAUGE, 1e6}},
    {"intel_vpu", "npu_max_frequency_mhz", "clock.limit", {"clock", "Hz", GAUGE, 1e6}},
    {"intel_vpu", "npu_memory_utilization", "memory.used", {"memory", "B", GAUGE, 1}},
    {"habanalabs", "clk_cur_freq_mhz", "clock", {"clock", "Hz", GAUGE, 1e6}},
};

static void add_accel(struct assay__probe *probe, struct assay__arena *arena, const char *accel,
                      const char *rail)
{
    const char *uevent = assay__sysfs_text(arena, FOLDER "/%s/device/uevent", accel);
    const char *driver = assay__sysfs_line(arena, uevent, "DRIVER");
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].driver, driver) != 0) continue;
        const char *path = assay__arena_text(arena, FOLDER "/%s/device/%s", accel, rows[i].file);
        const struct assay__files_spec spec = {
            .name = assay__arena_text(arena, "%s.%s", rows[i].name, accel),
            .rail = rail,
            .as = rows[i].as,
            .path = path,
            .reason = assay__fs_exists("%s", path)
                          ? NULL
                          : assay__arena_text(arena, "%s does not exist: it needs a newer kernel",
                                              path)};
        assay__files_add(probe, &spec);
        known = true;
    }
    if (known) return;
    const struct assay__files_spec spec = {
        .name = assay__arena_text(arena, "time.busy.%s", accel),
        .rail = rail,
        .as = rows[0].as,
        .source = assay__arena_text(arena, FOLDER "/%s", accel),
        .reason = strcmp(driver, "amdxdna") == 0
                      ? "the amdxdna driver has no such file: clocks, power and load come through "
                        "an ioctl on /dev/accel (xrt-smi examine)"
                  : strcmp(driver, "qaic") == 0
                      ? "the qaic driver has no such file: use the vendor's qaic-util"
                      : "this driver has no known file for busy time or clock"};
    assay__files_add(probe, &spec);
}

static int accel_open(struct assay__arena *arena, struct assay__probe **probe,
                      struct assay_error *error)
{
    *probe = assay__files_new(arena);
    const char **all = assay__sysfs_list(arena, FOLDER, "accel");
    bool several = all && all[0] && all[1];
    for (size_t i = 0; all && all[i]; i++)
        add_accel(*probe, arena, all[i], several ? assay__arena_text(arena, "npu%zu", i) : "npu");
    return assay__files_end(probe, assay__files_none(*probe, "no accelerator in " FOLDER), error);
}

static const struct assay__capture_files files[] = {
    {FOLDER "/*/device",
     "vendor device uevent npu_busy_time_us npu_current_frequency_mhz npu_max_frequency_mhz "
     "npu_memory_utilization clk_cur_freq_mhz",
     ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_accel = {
    .name = "accel",
    .summary = "busy time, clock and memory of NPUs",
    .open = accel_open,
    ASSAY__FILES_OPS,
    .power_of = "n",
    .files = files,
};
