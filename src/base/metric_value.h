/* metric_value.h - the value of a metric where it has one. A metric is known when it is there and
 * not unavailable; what is not known is NULL or NaN, never 0. */
#ifndef ASSAY_BASE_METRIC_VALUE_H
#define ASSAY_BASE_METRIC_VALUE_H

#include "base/enum_names.h"

#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>

extern const struct assay__enum_names assay__state_names; /* enum assay_state */

/** It has a finite value. NULL legal. */
bool assay__metric_is_known(const struct assay_metric *metric);
/** The metric of that name when it is known, else NULL. NULL legal for both. */
const struct assay_metric *assay__metrics_known(const struct assay_metrics *set, const char *name);
/** Its value; NaN when it is not known. */
double assay__metrics_value(const struct assay_metrics *set, const char *name);
/** Puts the value, measured or derived as `state` says; unavailable with the reason where it is not
 *  finite. */
void assay__metrics_put_known(struct assay_metrics *set, const char *name, enum assay_state state,
                              double value, const char *source, const char *note,
                              const char *reason);

#endif
