/* cpus.c - the list of CPUs that are online ("0-3,8"), and which of them are asked: see cpus.h. */
#include "probe/cpus.h"

#include "base/cpu_list.h"
#include "probe/sysfs.h"

static void count_cpu(void *context, unsigned cpu)
{
    (void)cpu;
    ++*(size_t *)context;
}

struct spread {
    struct assay__cpus *cpus;
    size_t seen;
};

/* CPU number i of n is asked when i·24/n is a new whole number: 24 of them, evenly spread. */
static void ask_cpu(void *context, unsigned cpu)
{
    struct spread *spread = context;
    struct assay__cpus *cpus = spread->cpus;
    size_t i = spread->seen++;
    bool wanted = cpus->online <= ASSAY__CPUS_ASKED ||
                  (i + 1) * ASSAY__CPUS_ASKED / cpus->online > i * ASSAY__CPUS_ASKED / cpus->online;
    if (wanted && cpus->asked < ASSAY__CPUS_ASKED) cpus->all[cpus->asked++] = cpu;
}

bool assay__cpus_find(struct assay__arena *arena, struct assay__cpus *cpus)
{
    const char *online = assay__sysfs_text(arena, ASSAY__CPUS_FOLDER "/online");
    struct spread spread = {.cpus = cpus};
    *cpus = (struct assay__cpus){.asked = 0};
    if (!online || !assay__cpu_list_each(online, count_cpu, &cpus->online)) return false;
    assay__cpu_list_each(online, ask_cpu, &spread);
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
