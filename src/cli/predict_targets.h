/* predict_targets.h - what --chip of `assay predict` means: a chip of the table, this machine, a
 * profile with ceilings. */
#ifndef ASSAY_CLI_PREDICT_TARGETS_H
#define ASSAY_CLI_PREDICT_TARGETS_H

#include "predict/predict.h"
#include "cli/cli.h"

#define ASSAY__PREDICT_TARGETS 8

struct assay__predict_targets {
    struct assay__predict_target items[ASSAY__PREDICT_TARGETS];
    struct assay__fit fits[ASSAY__PREDICT_TARGETS];
    size_t count;
    const char *key; /* of this machine; NULL: another */
};

/** unit NULL: every unit. 0, or an exit status after one line on stderr. */
int assay__predict_targets(struct assay__arena *arena, const char *chip, const char *unit,
                           struct assay__predict_targets *out);
/** This machine's CPU; measure: its ceilings are measured when none are kept. */
int assay__predict_this(struct assay__arena *arena, bool measure, struct assay__bar *bar,
                        struct assay__predict_target *target, const char **key,
                        struct assay_error *error);

#endif
