/* source_core_clocks.c - the clock of each CPU: scaling_cur_freq (kHz). With more than 24 CPUs, 24
 * evenly spread ones, as the probe cpufreq reads them. */
#include "monitor/sources.h"
#include "probe/cpus.h"
#include "probe/file_channels.h"

static int core_clocks_open(struct assay__arena *arena, struct assay__probe **probe,
                            struct assay_error *error)
{
    struct assay__cpus cpus;
    *probe = assay__files_new(arena);
    if (!assay__cpus_find(arena, &cpus))
        return assay__files_end(probe, "no list of CPUs in " ASSAY__CPUS_FOLDER "/online", error);
    for (size_t i = 0; i < cpus.asked; i++) {
        const char *path = assay__arena_text(
            arena, ASSAY__CPUS_FOLDER "/cpu%u/cpufreq/scaling_cur_freq", cpus.all[i]);
        const struct assay__files_spec spec = {
            .name = assay__arena_text(arena, "clock.cpu%u", cpus.all[i]),
            .rail = assay__arena_text(arena, "cpu%u", cpus.all[i]),
            .as = {"clock", "Hz", ASSAY__CHANNEL_GAUGE, 1000},
            .path = path};
        if (assay__fs_exists("%s", path)) assay__files_add(*probe, &spec);
    }
    return assay__files_end(
        probe,
        assay__files_none(*probe,
                          "no CPU has a file cpufreq/scaling_cur_freq: in a virtual machine the "
                          "host controls the clock"),
        error);
}

const struct assay__probe_ops assay__source_core_clocks = {
    .name = "core-clocks",
    .summary = "clock of each CPU",
    .open = core_clocks_open,
    ASSAY__FILES_OPS,
};
