/* cpus.c - the list of CPUs that are online ("0-3,8"), and which of them are read: see cpus.h. */
#include "probe/cpus.h"

#include "base/cpu_list.h"
#include "probe/sysfs.h"

/* CPU number i of n is read if i·24/n is a new whole number: 24 of them, evenly spread. */
bool assay__cpus_find(struct assay__arena *arena, struct assay__cpus *cpus)
{
    const char *list = assay__sysfs_text(arena, ASSAY__CPUS_FOLDER "/online");
    struct assay__cpu_walk walk = {.at = list};
    size_t online = list ? (size_t)assay__cpu_list_count(list) : 0, most = ASSAY__CPUS_ASKED;
    *cpus = (struct assay__cpus){.online = online};
    for (size_t i = 0; i < online && assay__cpu_next(&walk); i++)
        if (online <= most || (i + 1) * most / online > i * most / online)
            cpus->all[cpus->asked++] = walk.cpu;
    return cpus->asked > 0;
}

const char *const *assay__cpus_paths(struct assay__arena *arena, const struct assay__cpus *cpus,
                                     const char *file)
{
    const char **paths = assay__arena_array(arena, cpus->asked + 1, sizeof *paths);
    size_t count = 0;
    for (size_t i = 0; paths && i < cpus->asked; i++) {
        if (!assay__fs_exists(ASSAY__CPUS_FOLDER "/cpu%u/%s", cpus->all[i], file)) continue;
        paths[count++] = assay__arena_text(arena, ASSAY__CPUS_FOLDER "/cpu%u/%s", cpus->all[i],
                                           file);
    }
    return count ? (const char *const *)paths : NULL;
}

const char *assay__cpus_source(struct assay__arena *arena, const struct assay__cpus *cpus,
                               const char *file)
{
    return assay__arena_text(arena, ASSAY__CPUS_FOLDER "/cpu*/%s%s", file,
                             cpus->online > cpus->asked ? " (24 CPUs, evenly spread)" : "");
}
