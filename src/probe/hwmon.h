/* hwmon.h - the sensors of one hwmon folder as channels, for hwmon.c and for the GPU probe, whose
 * cards have such folders. */
#ifndef ASSAY_PROBE_HWMON_H
#define ASSAY_PROBE_HWMON_H

#include "probe/probe.h"

/* What such a folder may contain. */
#define ASSAY__HWMON_FILES "name *_input *_average *_label *_fault"

struct assay__hwmon_chip {
    const char *folder; /* "/sys/class/hwmon/hwmon3" */
    const char *name;   /* for channel names: "coretemp", "gpu0" */
    /* rail of the first sensor of each kind; NULL, and for others: "NAME.LABEL" */
    const char *rail;
};

/** Adds every sensor of the folder to a probe based on files. */
void assay__hwmon_add_chip(struct assay__probe *probe, struct assay__arena *arena,
                           const struct assay__hwmon_chip *chip);

#endif
