/* sources.h - what a monitor reads beside the probes: probes of its own, because no run needs them.
 * To add one, write source_NAME.c that defines assay__source_NAME and add a row here; shown_rows.c
 * says what is shown of it. */
#ifndef ASSAY_MONITOR_SOURCES_H
#define ASSAY_MONITOR_SOURCES_H

#include "probe/probe.h"

/* X(NAME) */
#define ASSAY__SOURCES(X) \
    X(cores)              \
    X(core_clocks)        \
    X(meminfo)

#define ASSAY__SOURCE_DECLARE(NAME) extern const struct assay__probe_ops assay__source_##NAME;
ASSAY__SOURCES(ASSAY__SOURCE_DECLARE)

#endif
