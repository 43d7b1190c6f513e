/* subjects.h - the subjects of a profile's report, in its order. To add one, write a file with its
 * `struct assay__subject assay__subject_NAME` and add a row here: its name, and its tables in
 * CSV. */
#ifndef ASSAY_REPORT_SUBJECT_SUBJECTS_H
#define ASSAY_REPORT_SUBJECT_SUBJECTS_H

#include "report/subject/subject.h"

/* X(name, tables: "layers|layer-times" or "") */
#define ASSAY__SUBJECTS(X)                        \
    X(summary, "")                                \
    X(comparison, "|comparison")                  \
    X(changes, "|operator-changes|layer-changes") \
    X(sweep, "|sweep")                            \
    X(tune, "|tune")                              \
    X(bench, "|benchmarks")                       \
    X(findings, "|findings")                      \
    X(requirements, "|requirements")              \
    X(latency, "|launches|samples")               \
    X(generation, "|bench")                       \
    X(state, "|state")                            \
    X(operators, "|operators")                    \
    X(metrics, "|metrics")                        \
    X(layers, "|layers|layer-times")              \
    X(graph, "")                                  \
    X(ncp_groups, "|groups|steps")                \
    X(roofline, "")                               \
    X(placement, "")                              \
    X(power, "")                                  \
    X(memory, "|peak")                            \
    X(allocations, "|allocations")                \
    X(counters, "|counters")                      \
    X(series, "|series|spans")                    \
    X(stability, "")                              \
    X(unavailable, "")                            \
    X(ceilings, "|ceilings")                      \
    X(environment, "")

#define ASSAY__SUBJECT_DECLARE(name, tables) \
    extern const struct assay__subject assay__subject_##name;
ASSAY__SUBJECTS(ASSAY__SUBJECT_DECLARE)

#define ASSAY__SUBJECT_TABLES_OF(name, tables) tables
/* "comparison|launches|…": a constant expression, for tables of options */
#define ASSAY__TABLE_NAMES (&(ASSAY__SUBJECTS(ASSAY__SUBJECT_TABLES_OF))[1])
/* The same, and those of several profiles side by side (diff_document.c). */
#define ASSAY__ALL_TABLE_NAMES ("runs|differences" ASSAY__SUBJECTS(ASSAY__SUBJECT_TABLES_OF))

#endif
