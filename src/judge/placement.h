/* placement.h - who really ran the nodes of a trial: the engine's own record (check_ort.c), joined
 * with the model's nodes, as rows of the trial and metrics placement.*, so that a kept profile
 * tells it again. And what a report says of them. */
#ifndef ASSAY_JUDGE_PLACEMENT_H
#define ASSAY_JUDGE_PLACEMENT_H

#include "base/arena.h"
#include "profile/trial_values.h"

#include <assay/run.h>

/** Asks the engine of a trial that ran, with the options it ran with, and puts its placement and
 *  placement.*: known, or unavailable with the reason. The engine's own CPU is not asked: nothing
 *  falls back from it. 0, ASSAY_ENOMEM or ASSAY_EINTERRUPTED. */
int assay__placement_put(const struct assay_run_options *options, const char *model_path,
                         struct assay_profile *profile, struct assay__trial *trial,
                         struct assay_error *error);

struct assay__placement_summary {
    bool asked;         /* there are placement.* metrics */
    const char *reason; /* why nothing is known; "" */
    double nodes, elsewhere, partitions, crossings, crossing_bytes, crossing_time_s,
        flops_share;         /* NaN unknown */
    const char *time_reason; /* why crossing_time_s is not known; "" */
    double inferred;         /* of nodes, those that its record names for nobody; NaN unknown */
    const char *record;      /* who was asked: "ONNX Runtime 1.31.1, …"; "" */
    const char *provider;    /* that runs the others: "CPUExecutionProvider"; "" none */
    const char **names;      /* "name (Op)" of each node elsewhere, the large ones first */
    size_t name_count;
};

/** Everything lives in the arena, or in the profile. 0 or ASSAY_ENOMEM. */
int assay__placement_summarise(const struct assay__trial *trial, struct assay__arena *arena,
                               struct assay__placement_summary *out);
/** Every node that is known of runs elsewhere: the device did nothing. */
bool assay__placement_is_elsewhere(const struct assay__placement_summary *placement);

#endif
