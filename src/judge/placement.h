/* placement.h - which provider ran each node of a trial: the engine's own record (check_ort.c),
 * joined with the model's nodes and stored as rows of the trial and metrics placement.*; and its
 * summary for reports. */
#ifndef ASSAY_JUDGE_PLACEMENT_H
#define ASSAY_JUDGE_PLACEMENT_H

#include "base/arena.h"
#include "profile/trial_values.h"

#include "run/run_options.h"

/** Asks the engine about a trial that ran, with the options it ran with, and stores its placement
 * and placement.*: known, or unavailable with the reason. The engine's own CPU is skipped, because
 * nothing falls back from it. 0, ASSAY_ENOMEM or ASSAY_EINTERRUPTED. */
int assay__placement_put(const struct assay__run_options *options, const char *model_path,
                         struct assay_profile *profile, struct assay__trial *trial,
                         struct assay_error *error);

struct assay__placement_summary {
    bool asked;         /* there are placement.* metrics */
    const char *reason; /* why nothing is known; "" */
    double nodes, elsewhere, partitions, crossings, crossing_bytes, crossing_time_s,
        flops_share;         /* NaN unknown */
    const char *time_reason; /* why crossing_time_s is unknown; "" */
    double inferred;         /* nodes that the record assigns to no provider; NaN unknown */
    const char *record;      /* its source: "ONNX Runtime 1.31.1, …"; "" */
    const char *provider;    /* provider of the nodes elsewhere: "CPUExecutionProvider"; "" none */
    const char **names;      /* "name (Op)" of each node elsewhere, the large ones first */
    size_t name_count;
};

/** Everything is in the arena, which also records running out of memory, or in the profile. */
struct assay__placement_summary assay__placement_summarise(const struct assay__trial *trial,
                                                           struct assay__arena *arena);
/** Whether every node with a known place runs elsewhere, so that the device did nothing. */
bool assay__placement_is_elsewhere(const struct assay__placement_summary *placement);

#endif
