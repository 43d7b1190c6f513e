/* gpu_sysfs.c - AMD and Intel GPUs by their sysfs files, below /sys/class/drm/cardN:
 *   amdgpu  device/gpu_busy_percent, mem_busy_percent, mem_info_vram_used, mem_info_vram_total,
 *           mem_info_gtt_used; the
 *           hwmon folder below device (power1_average or _input, temperatures, fan, freq1 = sclk,
 *             freq2 = mclk); where
 *           hwmon has no clock, the level that pp_dpm_sclk / pp_dpm_mclk mark
 *   i915    gt/gtN/rps_act_freq_mhz and rc6_residency_ms (older kernels: gt_act_freq_mhz,
 *           power/rc6_residency_ms);
 *           hwmon energy1_input: the card
 *   xe      device/tileT/gtN/freq0/act_freq and gtidle/idle_residency_ms; hwmon energy1_input: the
 *           card, energy2_input:
 *           its package
 * rc6 is the time that the GPU slept, so 1 - Δrc6/Δt bounds how busy it was. NVIDIA is NVML's: its
 * GPUs are numbered first, so the numbers here begin after them. Source: the kernel's amdgpu, i915
 * and xe documentation. */
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

#define SHARE                                                             \
    {                                                                     \
        "utilization", "ratio", ASSAY__CHANNEL_GAUGE, 0.01, NULL, NULL, 0 \
    }
#define BYTES                                                 \
    {                                                         \
        "memory", "B", ASSAY__CHANNEL_GAUGE, 1, NULL, NULL, 0 \
    }
#define MEGAHERTZ                                               \
    {                                                           \
        "clock", "Hz", ASSAY__CHANNEL_GAUGE, 1e6, NULL, NULL, 0 \
    }
#define MILLISECONDS                                             \
    {                                                            \
        "time", "s", ASSAY__CHANNEL_COUNTER, 1e-3, NULL, NULL, 0 \
    }
#define LEVEL                                                                    \
    {                                                                            \
        "clock", "Hz", ASSAY__CHANNEL_GAUGE, 1, assay__files_by_star, NULL, 2048 \
    }

static const char *join(const struct gpu *gpu, const char *head, const char *tail)
{
    return assay__arena_printf(gpu->arena, "%s.%s%s%s", head, gpu->rail, *tail ? "." : "", tail);
}

/* A channel of the file, when the card has it. Names: "utilization.gpu0", "memory.gpu0.used". */
static bool add_file(const struct gpu *gpu, const char *folder, const struct gpu_file *row,
                     const char *tail)
{
    const char *path = assay__arena_printf(gpu->arena, FOLDER "/%s/%s%s", gpu->card, folder,
                                           row->file);
    const char *name = join(gpu, row->as.quantity, tail);
    if (!path || !name || !assay__sysfs_exists("%s", path)) return false;
    const struct assay__files_spec spec = {
        .name = name, .rail = gpu->rail, .as = row->as, .path = path};
    assay__files_add(gpu->probe, &spec);
    return true;
}

static void add_hwmon(const struct gpu *gpu)
{
    const char *folder = assay__arena_printf(gpu->arena, FOLDER "/%s/device/hwmon", gpu->card);
    const char **chips = folder ? assay__sysfs_list(gpu->arena, folder, "hwmon") : NULL;
    for (; chips && *chips; chips++) {
        const char *chip = assay__arena_printf(gpu->arena, "%s/%s", folder, *chips);
        const char *kind = assay__sysfs_text(gpu->arena, "%s/%s/name", folder, *chips);
        if (!chip || (kind && strncmp(kind, "i915_gt", 7) == 0)) continue; /* a part of the card */
        assay__hwmon_add_chip(
            gpu->probe, gpu->arena,
            &(struct assay__hwmon_chip){.folder = chip, .name = gpu->rail, .rail = gpu->rail});
    }
}

static void add_amd(const struct gpu *gpu)
{
    static const struct gpu_file rows[] = {
        {"gpu_busy_percent", "", SHARE},          {"mem_busy_percent", "memory", SHARE},
        {"mem_info_vram_used", "used", BYTES},    {"mem_info_vram_total", "total", BYTES},
        {"mem_info_gtt_used", "gtt-used", BYTES},
    };
    static const struct gpu_file levels[] = {
        {"pp_dpm_sclk", "sclk", LEVEL},
        {"pp_dpm_mclk", "mclk", LEVEL},
    };
    add_hwmon(gpu);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_file(gpu, "device/", &rows[i], rows[i].name);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        const char *name = join(gpu, "clock", levels[i].name);
        if (name && !assay__files_has(gpu->probe, name))
            add_file(gpu, "device/", &levels[i], levels[i].name);
    }
}

/* The rows of every folder `prefix`N below `parent`. */
static size_t add_gts(const struct gpu *gpu, const char *parent, const struct gpu_file *rows,
                      size_t row_count)
{
    size_t added = 0;
    const char *folder = assay__arena_printf(gpu->arena, FOLDER "/%s/%s", gpu->card, parent);
    const char **gts = folder ? assay__sysfs_list(gpu->arena, folder, "gt") : NULL;
    for (; gts && *gts; gts++) {
        const char *below = assay__arena_printf(gpu->arena, "%s/%s/", parent, *gts);
        for (size_t i = 0; below && i < row_count; i++) {
            const char *tail = assay__arena_printf(gpu->arena, "%s%s", *gts, rows[i].name);
            if (tail) added += add_file(gpu, below, &rows[i], tail);
        }
    }
    return added;
}

static void add_intel(const struct gpu *gpu)
{
    static const struct gpu_file i915[] = {
        {"rps_act_freq_mhz", "", MEGAHERTZ},
        {"rc6_residency_ms", ".rc6", MILLISECONDS},
    };
    static const struct gpu_file xe[] = {
        {"freq0/act_freq", "", MEGAHERTZ},
        {"gtidle/idle_residency_ms", ".rc6", MILLISECONDS},
    };
    static const struct gpu_file old[] = {
        {"gt_act_freq_mhz", "", MEGAHERTZ},
        {"power/rc6_residency_ms", "rc6", MILLISECONDS},
    };
    add_hwmon(gpu);
    size_t added = add_gts(gpu, "gt", i915, 2);
    const char *device = assay__arena_printf(gpu->arena, FOLDER "/%s/device", gpu->card);
    const char **tiles = device ? assay__sysfs_list(gpu->arena, device, "tile") : NULL;
    for (; tiles && *tiles; tiles++) {
        const char *tile = assay__arena_printf(gpu->arena, "device/%s", *tiles);
        if (tile) added += add_gts(gpu, tile, xe, 2);
    }
    for (size_t i = 0; !added && i < 2; i++)
        add_file(gpu, "", &old[i], old[i].name);
}

/* "card0", not "card0-DP-1": a connector. */
static bool is_card(const char *name)
{
    return name[4 + strspn(name + 4, "0123456789")] == '\0' && name[4] != '\0';
}

static size_t nvidia_count(struct assay__arena *arena)
{
    size_t count = 0;
    const char **gpus = assay__sysfs_list(arena, "/proc/driver/nvidia/gpus", "");
    while (gpus && gpus[count])
        count++;
    return count;
}

static int gpu_open(struct assay__arena *arena, struct assay__probe **probe,
                    struct assay_error *error)
{
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    const char **cards = assay__sysfs_list(arena, FOLDER, "card");
    size_t number = nvidia_count(arena);
    for (; cards && *cards; cards++) {
        const char *vendor = is_card(*cards)
                                 ? assay__sysfs_text(arena, FOLDER "/%s/device/vendor", *cards)
                                 : NULL;
        bool amd = vendor && strcmp(vendor, "0x1002") == 0;
        bool intel = vendor && strcmp(vendor, "0x8086") == 0;
        if (!amd && !intel) continue;
        struct gpu gpu = {.arena = arena,
                          .probe = *probe,
                          .card = *cards,
                          .rail = assay__arena_printf(arena, "gpu%zu", number++)};
        if (!gpu.rail) continue;
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
