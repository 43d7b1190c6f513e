/* metric_table.h - the one table of metric names; doc/metrics.md is its prose and a test keeps the
 * two equal. */
#ifndef ASSAY_BASE_METRIC_TABLE_H
#define ASSAY_BASE_METRIC_TABLE_H

#include <assay/metric.h>

extern const struct assay_metric_info assay__metric_table[];
extern const size_t assay__metric_table_count;

#endif
