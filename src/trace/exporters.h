/* exporters.h - the formats that a timeline can be exported to. Adding one is a file with its
 * `const struct assay__exporter assay__exporter_NAME` and a row here. */
#ifndef ASSAY_TRACE_EXPORTERS_H
#define ASSAY_TRACE_EXPORTERS_H

#include "trace/export.h"

/* X(name) */
#define ASSAY__EXPORTERS(X) \
    X(perfetto)             \
    X(chrome)               \
    X(speedscope)           \
    X(folded)

#define ASSAY__EXPORTER_DECLARE(name) extern const struct assay__exporter assay__exporter_##name;
ASSAY__EXPORTERS(ASSAY__EXPORTER_DECLARE)

#define ASSAY__EXPORTER_BAR(name) "|" #name
/* "perfetto|chrome|…": a constant expression, for tables of options */
#define ASSAY__EXPORTER_NAMES (&(ASSAY__EXPORTERS(ASSAY__EXPORTER_BAR))[1])

#endif
