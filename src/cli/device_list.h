/* device_list.h - how `assay devices` finds what its report shows (report/report_machine.h). */
#ifndef ASSAY_CLI_DEVICE_LIST_H
#define ASSAY_CLI_DEVICE_LIST_H

#include "cli/cli.h"
#include "report/report_machine.h"
#include "run/builds.h"

struct assay__devices_flags {
    bool ceilings, remeasure, quiet;
    const char *engine, *library, *only, *device;
    double timeout_s;
    struct assay__render_options render;
    struct assay__option_list ort, add, remove;
};

/** Machine, builds and devices, then ceilings when they were asked for. 0, or an exit status after
 *  it was said. */
int assay__devices_find(const struct assay__devices_flags *flags, struct assay__found *found);
void assay__devices_free(struct assay__found *found);

/** --add-ort and --remove-ort: edits the user's list. The exit status. */
int assay__devices_edit(const struct assay__devices_flags *flags);

#endif
