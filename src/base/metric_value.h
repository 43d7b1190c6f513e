/* metric_value.h - the value of a metric if it has one. A metric is known if it exists and is not
 * unavailable; what is unknown is NULL or NaN, never 0. */
#ifndef ASSAY_BASE_METRIC_VALUE_H
#define ASSAY_BASE_METRIC_VALUE_H

#include "base/enum_names.h"

#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>

extern const struct assay__enum_names assay__state_names; /* enum assay_state */

/** It has a finite value. NULL is allowed. */
bool assay__metric_is_known(const struct assay_metric *metric);
/** The metric with that name if it is known, else NULL. Both may be NULL. */
const struct assay_metric *assay__metrics_known(const struct assay_metrics *set, const char *name);
/** Its value; NaN when it is not known. */
double assay__metrics_value(const struct assay_metrics *set, const char *name);
/** Puts the value, measured or derived according to `state`; unavailable with the reason if it is
 *  not finite. */
void assay__metrics_put_known(struct assay_metrics *set, const char *name, enum assay_state state,
                              double value, const char *source, const char *note,
                              const char *reason);

#endif
