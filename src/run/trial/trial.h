/* trial.h - from the launches' outcomes to the trial: latency over launches, layers that add up,
 * metrics, stability, disturbances. Pure functions of the outcomes, apart from allocating. */
#ifndef ASSAY_RUN_TRIAL_TRIAL_H
#define ASSAY_RUN_TRIAL_TRIAL_H

#include "run/trial/describe.h"
#include "run/arm/launch.h"

struct assay__trial_input {
    struct assay_profile *profile;
    struct assay__trial *trial;
    const struct assay__outcome *outcomes;
    size_t outcome_count;
    const struct assay__model_costs *costs;
    const struct assay__workload *workload; /* NULL without a model */
    double precision;
    bool warmup_forced;
    bool brief;        /* short launches, not all of which timed the layers */
    bool outputs_kept; /* to be compared: whoever compares them counts those that are not finite */
    int streams;
    double overhead_run_s; /* NaN unknown */
    int64_t generate;      /* tokens of a generation; 0: an inference is one run */
};

/** Which outcomes the statistics are based on: successful launches, or if there are none, those
 * that left samples. Of brief launches, not those during which other processes used much more CPU
 * time than during most, nor those during which the machine was slower, as long as five remain.
 * `used` has outcome_count entries. */
size_t assay__trial_used(const struct assay__trial_input *input,
                         const struct assay__outcome **used);
/** The median over the used outcomes of a double at `offset` in struct assay__outcome, NaNs left
 * out. */
double assay__trial_median(const struct assay__outcome *const *used, size_t count, size_t offset);

double assay__trial_median_of(const struct assay__outcome *const *used, size_t count,
                              double (*value)(const struct assay__outcome *outcome));
/** Median of the finite ones of `count` values, which are reordered; NaN when there are none. */
double assay__median_finite(double *values, size_t count);

/** Median of the launches' medians, in ns; NaN. */
double assay__trial_p50(const struct assay__outcome *const *used, size_t count);
/** The same over all outcomes that the statistics are based on; NaN also when out of memory. */
double assay__outcomes_p50(const struct assay__outcome *outcomes, size_t count);
/** Half-width of the interval of the launch medians, relative to their median; NaN with fewer than
 * five launches. */
double assay__trial_half_width(const struct assay__outcome *const *used, size_t count);
/** Both over all outcomes that the statistics are based on. */
void assay__outcomes_so_far(const struct assay__outcome *outcomes, size_t count, double *p50_ns,
                            double *half_width);
/* A default run aims at an interval between launches of at most ± this … */
#define ASSAY__LAUNCHES_AIM 0.03
/* … and is called stable up to this; its layers may also differ this much from the latency. */
#define ASSAY__LAUNCHES_HALF_WIDTH 0.05
/** Whether the layers of a launch, or those of all launches on average, add up to the median over
 * the launches, or cannot: markers timed none. */
bool assay__outcomes_layers_fit(const struct assay__outcome *outcomes, size_t count);
int assay__trial_layers(const struct assay__trial_input *input, double p50_ns);
/** layers.edges of the trial, once it has its layers. */
int assay__trial_edges(const struct assay__trial_input *input);
/** where[i] = index in `other` of lead's layer i. 0; ASSAY_ENOTFOUND if the two do not have the
 * same layers; ASSAY_ENOMEM. */
int assay__layers_match(const struct assay__layers *lead, const struct assay__layers *other,
                        size_t *where);
/** layers.* of one launch; puts nothing when it has no layer times. */
void assay__launch_layers(const struct assay__outcome *outcome, struct assay_metrics *metrics);
int assay__trial_latency(const struct assay__trial_input *input,
                         const struct assay__outcome *const *used, size_t count);
int assay__trial_metrics(const struct assay__trial_input *input);
int assay__launch_metrics(const struct assay__outcome *outcome, bool warmup_forced,
                          struct assay_metrics *metrics);
int assay__trial_stability(const struct assay__trial_input *input);
/** Share of the CPU time that others used during a launch; NaN: unknown. */
double assay__outcome_load(const struct assay__outcome *outcome);
/** The machine at its fastest during these launches. */
struct assay__speed assay__outcomes_speed(const struct assay__outcome *outcomes, size_t count);
/** disturbance.cpu_other and disturbance.loop of one launch, where known. */
void assay__launch_disturbance(const struct assay__outcome *outcome, struct assay_metrics *metrics);
/** disturbance.* metrics, and sentences in the environment. */
int assay__trial_disturbances(const struct assay__trial_input *input);

#endif
