/* metric_table.h - the table of metric names; doc/metrics.md describes it, and a test keeps the two
 * in sync. */
#ifndef ASSAY_BASE_METRIC_TABLE_H
#define ASSAY_BASE_METRIC_TABLE_H

#include <assay/metric.h>

extern const struct assay_metric_info assay__metric_table[];
extern const size_t assay__metric_table_count;

#endif
