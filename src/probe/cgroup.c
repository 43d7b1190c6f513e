/* cgroup.c - what the control group (version 2) of this process counts and allows.
 * /proc/self/cgroup has a line "0::/path"; /proc/self/mountinfo says where that hierarchy is
 * mounted (by default /sys/fs/cgroup).
 *   cpu.stat       usage_usec, nr_throttled, throttled_usec
 *   cpu.max        "200000 100000" (µs per period in µs) or "max 100000"
 *   memory.current, memory.peak (bytes); memory.max: bytes or "max"
 *   memory.events  high, max, oom, oom_kill (counts)
 * Usage and memory are those of the process's own group. A limit may be set on any group above: the
 * tightest counts, and throttling is read where that CPU limit is set, because the kernel counts it
 * there; the source names the group. Version 1 and hybrid systems keep their controllers elsewhere:
 * then the files are missing and the reason says so. Source: the kernel's cgroup-v2
 * documentation. */
#include "platform/platform.h"
#include "probe/file_channels.h"

#include <math.h>
#include <string.h>

struct group {
    struct assay__arena *arena;
    char mount[ASSAY__CGROUP_PATH]; /* "/sys/fs/cgroup" */
    /* below the mount: "/user.slice/session-2.scope"; "" for the top */
    char own[ASSAY__CGROUP_PATH];
};

/* --- limits ----------------------------------------------------------------------------------- */

static bool no_limit(double *value, const char **reason)
{
    *value = INFINITY;
    *reason = "no limit is set";
    return false;
}

/* "200000 100000" -> 2 CPUs; "max 100000" means no limit. */
static bool cpu_limit(const struct assay__files_channel *channel, double *value,
                      const char **reason)
{
    double quota, period;
    const char *text = channel->files[0]->text;
    if (strncmp(text, "max", 3) == 0) return no_limit(value, reason);
    if (!assay__sysfs_leading(text, &quota, reason)) return false;
    text += strcspn(text, " ");
    text += strspn(text, " ");
    if (!assay__sysfs_leading(text, &period, reason)) return false;
    *reason = "a period of zero";
    if (period <= 0) return false;
    *reason = "";
    *value = quota / period;
    return true;
}

static bool memory_limit(const struct assay__files_channel *channel, double *value,
                         const char **reason)
{
    if (strcmp(channel->files[0]->text, "max") == 0) return no_limit(value, reason);
    return assay__sysfs_integer(channel->files[0]->text, value, reason);
}

/* The value of a limit file now; INFINITY: no limit. */
static double limit_value(const struct group *group, const char *below, const char *file,
                          assay__files_compute *compute)
{
    const char *text = assay__sysfs_text(group->arena, "%s%s/%s", group->mount, below, file);
    struct assay__sysfs_file stand = {.text = (char *)(uintptr_t)text, .path = ""};
    struct assay__sysfs_file *files[] = {&stand};
    struct assay__files_channel channel = {.files = files, .file_count = 1, .scale = 1};
    double value = INFINITY;
    const char *reason;
    if (!text || !compute(&channel, &value, &reason)) return INFINITY;
    return value;
}

/* The group with the tightest limit, from the process's own upwards; its own if none is set. */
static const char *tightest(const struct group *group, const char *file,
                            assay__files_compute *compute)
{
    const char *below = assay__arena_text(group->arena, "%s", group->own), *best = below;
    double least = limit_value(group, below, file, compute);
    while (*below) { /* begins with '/': there is one */
        below = assay__arena_text(group->arena, "%.*s", (int)(strrchr(below, '/') - below), below);
        double value = limit_value(group, below, file, compute);
        if (value < least) best = below;
        least = fmin(least, value);
    }
    return best;
}

/* --- channels --------------------------------------------------------------------------------- */

enum where { OWN, CPU_LIMIT, MEMORY_LIMIT };

#define SECONDS "time", "s", ASSAY__CHANNEL_COUNTER, 1e-6
#define COUNT "count", "1", ASSAY__CHANNEL_COUNTER, 1
#define BYTES "memory", "B", ASSAY__CHANNEL_GAUGE, 1
#define CPUS "count", "1", ASSAY__CHANNEL_GAUGE, 1

static const struct {
    const char *name, *file, *rail;
    struct assay__files_kind as;
    assay__files_compute *compute;
    const char *key;
    enum where where; /* the process's own group, or that of a limit */
} rows[] = {
    {"time.used", "cpu.stat", "cpu", {SECONDS}, NULL, "usage_usec", OWN},
    {"time.throttled", "cpu.stat", "cpu", {SECONDS}, NULL, "throttled_usec", CPU_LIMIT},
    {"count.throttled", "cpu.stat", "cpu", {COUNT}, NULL, "nr_throttled", CPU_LIMIT},
    {"limit.cpus", "cpu.max", "cpu", {CPUS}, cpu_limit, NULL, CPU_LIMIT},
    {"memory.current", "memory.current", "memory", {BYTES}, NULL, NULL, OWN},
    {"memory.peak", "memory.peak", "memory", {BYTES}, NULL, NULL, OWN},
    {"memory.limit", "memory.max", "memory", {BYTES}, memory_limit, NULL, MEMORY_LIMIT},
    {"count.high", "memory.events", "memory", {COUNT}, NULL, "high", OWN},
    {"count.max", "memory.events", "memory", {COUNT}, NULL, "max", OWN},
    {"count.oom", "memory.events", "memory", {COUNT}, NULL, "oom", OWN},
    {"count.oom-kill", "memory.events", "memory", {COUNT}, NULL, "oom_kill", OWN},
};

static int cgroup_open(struct assay__arena *arena, struct assay__probe **probe,
                       struct assay_error *error)
{
    struct group group = {.arena = arena};
    *probe = assay__files_new(arena);
    const char *text = assay__sysfs_text(arena, "/proc/self/cgroup");
    const char *mounts = assay__sysfs_text(arena, "/proc/self/mountinfo");
    const char *reason = text ? assay__cgroup_locate(text, mounts, group.mount, group.own)
                              : "no /proc/self/cgroup: this kernel has no control groups";
    if (reason) return assay__files_end(probe, reason, error);
    const char *where[] = {group.own, tightest(&group, "cpu.max", cpu_limit),
                           tightest(&group, "memory.max", memory_limit)};
    bool has_current = assay__fs_exists("%s%s/memory.current", group.mount, group.own);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *path = assay__arena_text(arena, "%s%s/%s", group.mount, where[rows[i].where],
                                             rows[i].file);
        const char *why =
            strcmp(rows[i].file, "memory.peak") == 0 && has_current ? "needs Linux 5.19 or newer"
            : *group.own ? "its controller is not enabled for this group (version 1 may have it)"
                         : "the top group has none, or version 1 has the controller";
        const struct assay__files_spec spec = {
            .name = rows[i].name,
            .rail = rows[i].rail,
            .as = rows[i].as,
            .compute = rows[i].compute,
            .key = rows[i].key,
            .size = 1024,
            .path = path,
            .reason = assay__fs_exists("%s", path)
                          ? NULL
                          : assay__arena_text(arena, "%s does not exist: %s", path, why)};
        assay__files_add(*probe, &spec);
    }
    return assay__files_end(probe, NULL, error);
}

#define GROUP_FILES                                                                    \
    "cgroup.controllers cpu.stat cpu.max memory.current memory.peak memory.max memory" \
    ".events"

static const struct assay__capture_files files[] = {
    {"the control group of this process", GROUP_FILES, ASSAY__CAPTURE_CHANNELS},
    {"/sys/fs/cgroup", GROUP_FILES, ASSAY__CAPTURE_COPY},
    {"/sys/fs/cgroup/cpu", "cpu.stat cpu.cfs_quota_us cpu.cfs_period_us", ASSAY__CAPTURE_COPY},
    {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

const struct assay__probe_ops assay__probe_cgroup = {
    .name = "cgroup",
    .summary = "CPU throttling and memory of this process's control group",
    .open = cgroup_open,
    ASSAY__FILES_OPS,
    .files = files,
};
