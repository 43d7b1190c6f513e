/* gpu_sysfs.c - AMD and Intel GPUs by their sysfs files, below /sys/class/drm/cardN:
 *   amdgpu  device/{gpu_busy_percent, mem_busy_percent, mem_info_vram_used, mem_info_vram_total,
 *           mem_info_gtt_used}; device/hwmon (power1_average or _input, temperatures, fan, freq1 =
 *           sclk, freq2 = mclk); without a clock there, the level that pp_dpm_sclk, _mclk mark
 *   i915    gt/gtN/rps_act_freq_mhz and rc6_residency_ms (older kernels: gt_act_freq_mhz,
 *           power/rc6_residency_ms); hwmon energy1_input: the card
 *   xe      device/tileT/gtN/freq0/act_freq and gtidle/idle_residency_ms; hwmon energy1_input: the
 *           card, energy2_input: its package
 * rc6 is the time that the GPU slept, so 1 - Δrc6/Δt is an upper bound on how busy it was. NVIDIA's
 * GPUs are read by NVML and numbered first, so the numbers here begin after them. Source: the
 * kernel's amdgpu, i915 and xe documentation. */
#include "probe/file_channels.h"
#include "probe/hwmon.h"

#include <string.h>

#define FOLDER "/sys/class/drm"
#define CARD FOLDER "/card*"

struct gpu {
    struct assay__arena *arena;
    struct assay__probe *probe;
    const char *card; /* "card0" */
    const char *rail; /* "gpu0" */
};

struct gpu_file {
    const char *file, *name;
    struct assay__files_kind as;
};

#define SHARE "utilization", "ratio", ASSAY__CHANNEL_GAUGE, 0.01
#define BYTES "memory", "B", ASSAY__CHANNEL_GAUGE, 1
#define MEGAHERTZ "clock", "Hz", ASSAY__CHANNEL_GAUGE, 1e6
#define MILLISECONDS "time", "s", ASSAY__CHANNEL_COUNTER, 1e-3

/* A channel for the file, if the card has it. Names: "utilization.gpu0", "memory.gpu0.used". */
static bool add_file(const struct gpu *gpu, const char *folder, const struct gpu_file *row,
                     const char *tail, assay__files_compute *compute)
{
    const struct assay__files_spec spec = {
        .name = assay__arena_text(gpu->arena, "%s.%s%s%s", row->as.quantity, gpu->rail,
                                  *tail ? "." : "", tail),
        .rail = gpu->rail,
        .as = row->as,
        .compute = compute,
        .size = compute ? 2048 : 0,
        .path = assay__arena_text(gpu->arena, FOLDER "/%s/%s%s", gpu->card, folder, row->file)};
    bool there = assay__fs_exists("%s", spec.path) &&
                 !(compute && assay__files_has(gpu->probe, spec.name));
    if (there) assay__files_add(gpu->probe, &spec);
    return there;
}

static void add_hwmon(const struct gpu *gpu)
{
    const char *folder = assay__arena_text(gpu->arena, FOLDER "/%s/device/hwmon", gpu->card);
    const char **chips = assay__sysfs_list(gpu->arena, folder, "hwmon");
    for (; chips && *chips; chips++) {
        const char *kind = assay__sysfs_text(gpu->arena, "%s/%s/name", folder, *chips);
        if (kind && strncmp(kind, "i915_gt", 7) == 0) continue; /* a part of the card */
        const struct assay__hwmon_chip chip = {
            .folder = assay__arena_text(gpu->arena, "%s/%s", folder, *chips),
            .name = gpu->rail,
            .rail = gpu->rail};
        assay__hwmon_add_chip(gpu->probe, gpu->arena, &chip);
    }
}

static void add_amd(const struct gpu *gpu)
{
    static const struct gpu_file rows[] = {
        {"gpu_busy_percent", "", {SHARE}},          {"mem_busy_percent", "memory", {SHARE}},
        {"mem_info_vram_used", "used", {BYTES}},    {"mem_info_vram_total", "total", {BYTES}},
        {"mem_info_gtt_used", "gtt-used", {BYTES}},
    };
    static const struct gpu_file levels[] = {
        {"pp_dpm_sclk", "sclk", {"clock", "Hz", ASSAY__CHANNEL_GAUGE, 1}},
        {"pp_dpm_mclk", "mclk", {"clock", "Hz", ASSAY__CHANNEL_GAUGE, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_file(gpu, "device/", &rows[i], rows[i].name, NULL);
    for (size_t i = 0; i < 2; i++) /* where hwmon has no clock */
        add_file(gpu, "device/", &levels[i], levels[i].name, assay__files_by_star);
}

/* The two rows of every folder gtN below `parent`. */
static size_t add_gts(const struct gpu *gpu, const char *parent, const struct gpu_file rows[2])
{
    size_t added = 0;
    const char *folder = assay__arena_text(gpu->arena, FOLDER "/%s/%s", gpu->card, parent);
    const char **gts = assay__sysfs_list(gpu->arena, folder, "gt");
    for (; gts && *gts; gts++) {
        const char *below = assay__arena_text(gpu->arena, "%s/%s/", parent, *gts);
        for (size_t i = 0; i < 2; i++)
            added += add_file(gpu, below, &rows[i],
                              assay__arena_text(gpu->arena, "%s%s", *gts, rows[i].name), NULL);
    }
    return added;
}

static void add_intel(const struct gpu *gpu)
{
    static const struct gpu_file i915[] = {
        {"rps_act_freq_mhz", "", {MEGAHERTZ}},
        {"rc6_residency_ms", ".rc6", {MILLISECONDS}},
    };
    static const struct gpu_file xe[] = {
        {"freq0/act_freq", "", {MEGAHERTZ}},
        {"gtidle/idle_residency_ms", ".rc6", {MILLISECONDS}},
    };
    static const struct gpu_file old[] = {
        {"gt_act_freq_mhz", "", {MEGAHERTZ}},
        {"power/rc6_residency_ms", "rc6", {MILLISECONDS}},
    };
    size_t added = add_gts(gpu, "gt", i915);
    const char *device = assay__arena_text(gpu->arena, FOLDER "/%s/device", gpu->card);
    const char **tiles = assay__sysfs_list(gpu->arena, device, "tile");
    for (; tiles && *tiles; tiles++)
        added += add_gts(gpu, assay__arena_text(gpu->arena, "device/%s", *tiles), xe);
    for (size_t i = 0; !added && i < 2; i++)
        add_file(gpu, "", &old[i], old[i].name, NULL);
}

static int gpu_open(struct assay__arena *arena, struct assay__probe **probe,
                    struct assay_error *error)
{
    *probe = assay__files_new(arena);
    const char **cards = assay__sysfs_list(arena, FOLDER, "card");
    const char **nvidia = assay__sysfs_list(arena, "/proc/driver/nvidia/gpus", "");
    size_t number = 0;
    while (nvidia && nvidia[number])
        number++;
    for (; cards && *cards; cards++) {
        if (!assay__sysfs_is_card(*cards)) continue;
        const char *vendor = assay__sysfs_text(arena, FOLDER "/%s/device/vendor", *cards);
        bool amd = vendor && strcmp(vendor, "0x1002") == 0;
        if (!amd && !(vendor && strcmp(vendor, "0x8086") == 0)) continue;
        const struct gpu gpu = {.arena = arena,
                                .probe = *probe,
                                .card = *cards,
                                .rail = assay__arena_text(arena, "gpu%zu", number++)};
        add_hwmon(&gpu);
        if (amd)
            add_amd(&gpu);
        else
            add_intel(&gpu);
    }
    return assay__files_end(
        probe, assay__files_none(*probe, "no AMD or Intel GPU with sensor files in " FOLDER),
        error);
}

static const struct assay__capture_files files[] = {
    {CARD "/device",
     "vendor device uevent product_name gpu_busy_percent mem_busy_percent mem_info_vram_used "
     "mem_info_vram_total mem_info_gtt_used pp_dpm_sclk pp_dpm_mclk",
     ASSAY__CAPTURE_COPY},
    {CARD "/device/hwmon/hwmon*", ASSAY__HWMON_FILES, ASSAY__CAPTURE_COPY},
    {CARD, "gt_act_freq_mhz", ASSAY__CAPTURE_COPY},
    {CARD "/power", "rc6_residency_ms", ASSAY__CAPTURE_COPY},
    {CARD "/gt/gt*", "rps_act_freq_mhz rc6_residency_ms", ASSAY__CAPTURE_COPY},
    {CARD "/device/tile*/gt*/freq0", "act_freq", ASSAY__CAPTURE_COPY},
    {CARD "/device/tile*/gt*/gtidle", "idle_residency_ms", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_gpu_sysfs = {
    .name = "gpu",
    .summary = "power, energy, load, memory and clocks of AMD and Intel GPUs",
    .open = gpu_open,
    ASSAY__FILES_OPS,
    .power_of = "g",
    .files = files,
};
