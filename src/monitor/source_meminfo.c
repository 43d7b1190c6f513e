/* source_meminfo.c - memory of the machine from /proc/meminfo ("MemTotal: 8123456 kB"). Used is
 * MemTotal - MemAvailable: what programs could not get without swapping. Source: proc(5). */
#include "monitor/sources.h"
#include "probe/file_channels.h"

#define PATH "/proc/meminfo"

/* The first key's number minus the second's, in bytes. */
static bool difference(const struct assay__files_channel *channel, double *value,
                       const char **reason)
{
    bool swap = channel->key[0] == 's';
    const char *text = channel->files[0]->text;
    const char *whole = assay__fs_field(text, swap ? "SwapTotal" : "MemTotal");
    const char *rest = assay__fs_field(text, swap ? "SwapFree" : "MemAvailable");
    double total, left;
    *reason = "the file has no such lines";
    if (!whole || !rest || !assay__sysfs_leading(whole, &total, reason) ||
        !assay__sysfs_leading(rest, &left, reason))
        return false;
    *reason = "more is available than there is";
    if (left > total) return false;
    *reason = "";
    *value = (total - left) * channel->scale;
    return true;
}

static int meminfo_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    static const struct {
        const char *name, *key;
        assay__files_compute *compute;
    } rows[] = {{"memory.system.used", "memory", difference},
                {"memory.system.total", "MemTotal", NULL},
                {"memory.system.swap", "swap", difference}};
    *probe = assay__files_new(arena);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay__files_spec spec = {.name = rows[i].name,
                                               .rail = "system",
                                               .as = {"memory", "B", ASSAY__CHANNEL_GAUGE, 1024},
                                               .compute = rows[i].compute,
                                               .key = rows[i].key,
                                               .size = 4096,
                                               .path = PATH};
        assay__files_add(*probe, &spec);
    }
    return assay__files_end(probe, NULL, error);
}

const struct assay__probe_ops assay__source_meminfo = {
    .name = "meminfo",
    .summary = "memory and swap of the machine",
    .open = meminfo_open,
    ASSAY__FILES_OPS,
};
