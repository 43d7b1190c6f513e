/* trial_values.h - the measured values of a trial by name: of the trial as a whole, or of each
 * launch. */
#ifndef ASSAY_PROFILE_TRIAL_VALUES_H
#define ASSAY_PROFILE_TRIAL_VALUES_H

#include "profile/profile.h"

/** Whether its device is a CPU, by the engine's table of devices: it computes in main memory. */
bool assay__trial_on_cpu(const struct assay__trial *trial);
/** The metric if it has a value, else NULL. */
const struct assay_metric *assay__trial_metric(const struct assay__trial *trial, const char *name);
/** Its value; NaN unknown. */
double assay__trial_value(const struct assay__trial *trial, const char *name);
/** The 95 % interval of the trial's median that reports give beside it: the widest that is known,
 * between runs, else between the launches of this one, else within its only launch. */
struct assay__median_interval {
    double low_s, high_s; /* NaN: none */
    const char *scope;    /* "between runs", "between launches", "within a launch"; "": none */
    bool within_launch;
};
struct assay__median_interval assay__trial_interval(const struct assay__trial *trial);
/** The metric's values of the successful launches that have one, in order. "latency.p50" is in
 * every launch that has samples. free() them; NULL: out of memory. */
double *assay__trial_values(const struct assay__trial *trial, const char *name, size_t *count);
/** The same without values of 0 or less, for ratios of times, rates and energies. */
double *assay__trial_costs(const struct assay__trial *trial, const char *name, size_t *count);
/** Why a successful launch has no value of the metric: the note of the first such launch; "" */
const char *assay__trial_values_reason(const struct assay__trial *trial, const char *name);
/** It has a time of its own. */
bool assay__layer_is_timed(const struct assay__layer *layer);
/** The 100 % of the layers' shares in reports, in ns: the latency, or the sum of layers and engine
 * cost if that is more, so that shares add up to 1 (with the unattributed time, if that is above
 * 0). NaN unknown. */
double assay__layers_whole(const struct assay__trial *trial);
/** What the stored shares are of: the same, but in profiles of 0.1.0 always the latency. */
double assay__layers_stored_whole(const struct assay__trial *trial);
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
