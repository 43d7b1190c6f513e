/* importers.h - the formats that can be imported. Adding one is a file with its
 * `struct assay__importer assay__importer_NAME` and a row here. */
#ifndef ASSAY_IMPORT_IMPORTERS_H
#define ASSAY_IMPORT_IMPORTERS_H

#include "import/import.h"

/* X(name) */
#define ASSAY__IMPORTERS(X) \
    X(kineto)               \
    X(xctrace)              \
    X(nsys)                 \
    X(perf)                 \
    X(powermetrics)         \
    X(perfetto)             \
    X(cupti)                \
    X(cpu)                  \
    X(ort)

#define ASSAY__IMPORTER_DECLARE(name) extern const struct assay__importer assay__importer_##name;
ASSAY__IMPORTERS(ASSAY__IMPORTER_DECLARE)

#endif
