/* capture.h - this machine's files as a folder for $ASSAY_FSROOT: everything in /proc, /sys and
 * /etc that the platform and the probes read, so that a bug report is a test fixture. */
#ifndef ASSAY_PROBE_CAPTURE_H
#define ASSAY_PROBE_CAPTURE_H

#include "base/arena.h"

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

struct assay__capture_group {
    const char *what; /* the table's pattern: "/sys/class/hwmon/hwmon*" */
    size_t files;
};

struct assay__capture_fault {
    const char *path, *reason;
};

struct assay__capture {
    size_t files;
    uint64_t bytes;
    struct assay__capture_group *groups; /* of the table, those with files */
    size_t group_count;
    struct assay__capture_fault *faults; /* there, but not copied or not whole */
    size_t fault_count;
    size_t faults_left_out; /* beyond the first 200 */
};

/** Writes the tree below `folder`, which must be empty or new (ASSAY_EINVAL otherwise). It is not
 * an error if this machine lacks some of the files. ASSAY_EUNSUPPORTED: there is nothing to
 * capture. The result is in the arena. */
int assay__capture_write(struct assay__arena *arena, const char *folder,
                         struct assay__capture *capture, struct assay_error *error);

#endif
