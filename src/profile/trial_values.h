/* trial_values.h - what a trial has measured, asked for by name: of the trial as a whole, or of its
 * launches one by one. */
#ifndef ASSAY_PROFILE_TRIAL_VALUES_H
#define ASSAY_PROFILE_TRIAL_VALUES_H

#include "profile/profile.h"

/** Its device is a CPU, by the engine's table of devices: it computes in main memory. */
bool assay__trial_on_cpu(const struct assay__trial *trial);
/** The metric when it has a value, else NULL. */
const struct assay_metric *assay__trial_metric(const struct assay__trial *trial, const char *name);
/** Its value; NaN unknown. */
double assay__trial_value(const struct assay__trial *trial, const char *name);
/** The metric's values in the launches that ended well and have one, in their order. "latency.p50"
 *  is in every launch that has samples. free() them; NULL: out of memory. */
double *assay__trial_values(const struct assay__trial *trial, const char *name, size_t *count);
/** The same without what is not above 0: times, rates and energies, which ratios are made of. */
double *assay__trial_costs(const struct assay__trial *trial, const char *name, size_t *count);
/** Why a launch that ended well has no value of the metric: the first such launch's note; "" */
const char *assay__trial_values_reason(const struct assay__trial *trial, const char *name);
/** It has a time of its own. */
bool assay__layer_is_timed(const struct assay__layer *layer);
/** What people see the layers' times as shares of, in ns: the latency, or where layers and the
 *  engine's cost sum to more than that their sum, so that shares add up to 1 (with what is
 *  unattributed, where that is above 0). NaN unknown. The stored share is always of the latency. */
double assay__layers_whole(const struct assay__trial *trial);
/** How many launches ended well. */
size_t assay__trial_good_launches(const struct assay__trial *trial);
/** The first trial of model 1, 2, …. NULL: no such model, or it is a copy that a sweep or a tuning
 * made of the first. */
const struct assay__trial *assay__trial_of_model(const struct assay_profile *profile, size_t model);
/** Its value on an axis of its sweep or tuning; "" when it has none. */
const char *assay__trial_axis(const struct assay__trial *trial, enum assay__axis axis);
/** An option as it is shown to people, "" when the trial has none of that name. */
const char *assay__trial_option(const struct assay__trial *trial, const char *key);

#endif
