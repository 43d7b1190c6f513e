/* predict_targets.h - what a chip's name refers to: a chip of the table, this machine, a profile
 * with ceilings. */
#ifndef ASSAY_PREDICT_PREDICT_TARGETS_H
#define ASSAY_PREDICT_PREDICT_TARGETS_H

#include "predict/predict.h"
#include "run/run_options.h"

#include <assay/predict.h>

#define ASSAY__PREDICT_TARGETS 8

struct assay__predict_targets {
    struct assay__predict_target items[ASSAY__PREDICT_TARGETS];
    struct assay__fit fits[ASSAY__PREDICT_TARGETS];
    size_t count;
    const char *key; /* of this machine; NULL: another */
};

/** Predicts a model on all of them. */
struct assay_prediction {
    struct assay__arena *arena;
    struct assay__model *model;
    bool zoo;
    struct assay__workload *workload;
    struct assay__analysis *analysis;
    struct assay_profile *profile;
    struct assay__predict_targets targets;
};

/** unit NULL: every unit. */
int assay__predict_targets(struct assay__arena *arena, const char *chip, const char *unit,
                           struct assay__predict_targets *out, struct assay_error *error);
/** This machine's CPU. calls: its ceilings are measured if none are saved; NULL: not measured. */
int assay__predict_this(struct assay__arena *arena, const struct assay_callbacks *calls,
                        struct assay__predict_target *target, const char **key,
                        struct assay_error *error);
/** assay_predict() with options that have been read. */
int assay__predict_model(const struct assay_predict_options *options,
                         struct assay_prediction **prediction, struct assay_error *error);

#endif
