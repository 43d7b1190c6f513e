/* cpus.h - which CPUs the file probes read: those online, or evenly spread ones on large
 * machines. */
#ifndef ASSAY_PROBE_CPUS_H
#define ASSAY_PROBE_CPUS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__CPUS_ASKED 24 /* maximum, so that reading one file of each stays near 50 µs */
#define ASSAY__CPUS_FOLDER "/sys/devices/system/cpu"

struct assay__cpus {
    unsigned all[ASSAY__CPUS_ASKED];
    size_t asked, online;
};

/** False: there is no list of CPUs, or it is malformed. */
bool assay__cpus_find(struct assay__arena *arena, struct assay__cpus *cpus);
/** Paths of one file ("cpufreq/scaling_cur_freq") of every CPU that is read and has it;
 * NULL-terminated; NULL: none has it. */
const char *const *assay__cpus_paths(struct assay__arena *arena, const struct assay__cpus *cpus,
                                     const char *file);
/** What a report names as their source, with " (24 CPUs, evenly spread)" if not all are read. */
const char *assay__cpus_source(struct assay__arena *arena, const struct assay__cpus *cpus,
                               const char *file);

#endif
