/* metric_value.c - reading a metric: its value where it has one. */
#include "base/metric_value.h"

#include <math.h>

bool assay__metric_is_known(const struct assay_metric *metric)
{
    return metric && metric->state != ASSAY_UNAVAILABLE && isfinite(metric->value);
}

const struct assay_metric *assay__metrics_known(const struct assay_metrics *set, const char *name)
{
    const struct assay_metric *metric = set && name ? assay_metrics_get(set, name) : NULL;
    return assay__metric_is_known(metric) ? metric : NULL;
}

double assay__metrics_value(const struct assay_metrics *set, const char *name)
{
    const struct assay_metric *metric = assay__metrics_known(set, name);
    return metric ? metric->value : (double)NAN;
}
