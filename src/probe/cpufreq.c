/* cpufreq.c - clocks of the CPUs: scaling_cur_freq (kHz) of every CPU that is online, as mean, min
 * and max; the limits in force (scaling_min_freq, scaling_max_freq) and the hardware's
 * (cpuinfo_max_freq); governor and boost as states. With more than 24 CPUs, 24 evenly spread ones
 * are read (so that a read stays near 50 µs): the source then says so. Limits, governor and boost
 * hardly change and are read in turn, a few files at each read. scaling_cur_freq is what the driver
 * last knew, which for some drivers is the requested clock, not the actual one. Source: the
 * kernel's cpufreq documentation. */
#include "probe/cpus.h"
#include "probe/file_channels.h"

#include <string.h>

#define FOLDER ASSAY__CPUS_FOLDER

static void add_clocks(struct assay__probe *probe, struct assay__arena *arena,
                       const struct assay__cpus *cpus)
{
    static const struct {
        const char *name, *file, *summary;
    } rows[] = {
        {"clock.mean", "cpufreq/scaling_cur_freq", "mean"},
        {"clock.least", "cpufreq/scaling_cur_freq", "min"},
        {"clock.greatest", "cpufreq/scaling_cur_freq", "max"},
        {"limit.least", "cpufreq/scaling_min_freq", "min"},
        {"limit.greatest", "cpufreq/scaling_max_freq", "max"},
        {"hardware.greatest", "cpufreq/cpuinfo_max_freq", "max"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const *paths = assay__cpus_paths(arena, cpus, rows[i].file);
        const struct assay__files_spec spec = {
            .name = rows[i].name,
            .rail = "cpu",
            .as = {"clock", "Hz", ASSAY__CHANNEL_GAUGE, 1000},
            .compute = assay__files_summary,
            .key = rows[i].summary,
            .paths = paths,
            .slow = i >= 3,
            .source = assay__cpus_source(arena, cpus, rows[i].file),
            .reason = paths ? NULL
                            : assay__arena_text(arena, "no CPU has a file %s", rows[i].file)};
        assay__files_add(probe, &spec);
    }
}

/* --- states ----------------------------------------------------------------------------------- */

/* The index of the state if all CPUs have the same; the last name of the list is "mixed". */
static bool common_state(const struct assay__files_channel *channel, double *value,
                         const char **reason)
{
    size_t found = SIZE_MAX, mixed = 0;
    while (channel->shown.states[mixed + 1])
        mixed++;
    for (size_t f = 0; f < channel->file_count; f++) {
        size_t state = 0;
        while (state < mixed && strcmp(channel->shown.states[state], channel->files[f]->text) != 0)
            state++;
        if (state == mixed) {
            *reason = "a governor that scaling_available_governors does not name";
            return false;
        }
        if (found != SIZE_MAX && found != state) {
            *value = (double)mixed;
            return true;
        }
        found = state;
    }
    *value = (double)found;
    return true;
}

static void add_governor(struct assay__probe *probe, struct assay__arena *arena,
                         const struct assay__cpus *cpus)
{
    const char *list = assay__sysfs_text(arena, FOLDER "/cpu%u/cpufreq/scaling_available_governors",
                                         cpus->all[0]);
    const char *const *paths = assay__cpus_paths(arena, cpus, "cpufreq/scaling_governor");
    /* "performance powersave" -> {"performance", "powersave", "mixed", NULL} */
    size_t count = 0, most = list ? strlen(list) / 2 + 3 : 0;
    const char **states = assay__arena_array(arena, most, sizeof *states);
    for (const char *at = list; states && at && *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (*at) states[count++] = assay__arena_text(arena, "%.*s", (int)strcspn(at, " "), at);
    }
    if (states && list) states[count] = "mixed";
    const struct assay__files_spec spec = {
        .name = "governor",
        .rail = "cpu",
        .as = {"state", "1", ASSAY__CHANNEL_GAUGE, 1},
        .compute = common_state,
        .paths = paths,
        .slow = true,
        .states = list ? (const char *const *)states : NULL,
        .source = FOLDER "/cpu*/cpufreq/scaling_governor",
        .reason = !paths  ? "no CPU has a file cpufreq/scaling_governor"
                  : !list ? "cpu0 has no file cpufreq/scaling_available_governors"
                          : NULL};
    assay__files_add(probe, &spec);
}

/* key "no": the file says that boost is off. */
static bool boost_state(const struct assay__files_channel *channel, double *value,
                        const char **reason)
{
    double number;
    if (!assay__sysfs_integer(channel->files[0]->text, &number, reason)) return false;
    *reason = "neither 0 nor 1";
    if (number != 0 && number != 1) return false;
    *reason = "";
    *value = channel->key ? 1 - number : number;
    return true;
}

/* intel_pstate has no_turbo (1: off); other drivers have boost (1: on). */
static void add_boost(struct assay__probe *probe)
{
    static const char *const states[] = {"off", "on", NULL};
    bool intel = assay__fs_exists(FOLDER "/intel_pstate/no_turbo");
    bool other = assay__fs_exists(FOLDER "/cpufreq/boost");
    const struct assay__files_spec spec = {
        .name = "boost",
        .rail = "cpu",
        .as = {"state", "1", ASSAY__CHANNEL_GAUGE, 1},
        .compute = boost_state,
        .key = intel ? "no" : NULL,
        .path = intel ? FOLDER "/intel_pstate/no_turbo" : FOLDER "/cpufreq/boost",
        .slow = true,
        .states = states,
        .reason = intel || other ? NULL
                                 : "neither intel_pstate/no_turbo nor cpufreq/boost in " FOLDER};
    assay__files_add(probe, &spec);
}

static int cpufreq_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    struct assay__cpus cpus;
    *probe = assay__files_new(arena);
    if (!assay__cpus_find(arena, &cpus))
        return assay__files_end(probe, "no list of CPUs in " FOLDER "/online", error);
    if (!assay__cpus_paths(arena, &cpus, "cpufreq/scaling_cur_freq") &&
        !assay__cpus_paths(arena, &cpus, "cpufreq/cpuinfo_max_freq"))
        return assay__files_end(probe,
                                "no " FOLDER "/cpu*/cpufreq: the kernel does not control the clock "
                                "here (in a virtual machine the host does)",
                                error);
    add_clocks(*probe, arena, &cpus);
    add_governor(*probe, arena, &cpus);
    add_boost(*probe);
    return assay__files_end(probe, NULL, error);
}

static const struct assay__capture_files files[] = {
    {ASSAY__CPUS_FOLDER "/cpu*/cpufreq",
     "base_frequency cpuinfo_max_freq cpuinfo_min_freq scaling_cur_freq scaling_min_freq "
     "scaling_max_freq scaling_governor scaling_available_governors scaling_driver",
     ASSAY__CAPTURE_COPY},
    {ASSAY__CPUS_FOLDER "/intel_pstate", "no_turbo status", ASSAY__CAPTURE_COPY},
    {ASSAY__CPUS_FOLDER "/cpufreq", "boost", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_cpufreq = {
    .name = "cpufreq",
    .summary = "clocks, limits, governor and boost of the CPUs",
    .open = cpufreq_open,
    ASSAY__FILES_OPS,
    .files = files,
};
