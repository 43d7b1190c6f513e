/* arms.h - several arms in one profile, measured by the rules of a comparison: launches alternate
 * (1 2 3, 3 2 1, …) so that drift of the machine affects all arms equally, and the process is the
 * unit of replication. An arm whose launches fail twice in a row is left out of later rounds; the
 * others continue. */
#ifndef ASSAY_RUN_ARM_ARMS_H
#define ASSAY_RUN_ARM_ARMS_H

#include "run/arm/arm.h"

struct assay__arms {
    struct assay__recording recording;
    /* what belongs to all: command, output, interrupt, progress, power */
    struct assay__run_options whole;
    struct assay__watch *sensors; /* shared, because they run on one machine; NULL: none */
    struct assay__arm **items;    /* NULL if the arm could not be opened: its trial says why */
    size_t *trials;               /* index of each arm's trial */
    size_t count, capacity, trial_capacity;
};

/** Begins the profile. `whole` is copied; what it points to is borrowed. plan NULL: none. */
int assay__arms_begin(struct assay__arms *arms, const struct assay__run_options *whole,
                      const struct assay__plan *plan, struct assay_error *error);
/** Adds an arm. A problem of this arm alone (ASSAY_EUNSUPPORTED, a model that cannot be read, …)
 * becomes the reason of its trial, not an error: *index is then a failed trial. */
int assay__arms_add(struct assay__arms *arms, const struct assay__run_options *options,
                    const struct assay__arm_identity *identity, size_t *index,
                    struct assay_error *error);
/** An arm that is known not to run: a failed trial with that reason. */
int assay__arms_add_refused(struct assay__arms *arms, const struct assay__run_options *options,
                            const struct assay__arm_identity *identity, const char *reason,
                            size_t *index, struct assay_error *error);
/** Creates the file and measures the idle machine. Called after the initial arms were added. */
int assay__arms_start(struct assay__arms *arms, struct assay_error *error);
/** Runs `launches` more of each of the arms first … first + count - 1, alternating; ends early if
 * interrupted. */
int assay__arms_launch(struct assay__arms *arms, size_t first, size_t count, int launches,
                       struct assay_error *error);
/** One round of the given arms, in that order, or in reverse if `back`. */
int assay__arms_round(struct assay__arms *arms, const size_t *indexes, size_t count, bool back,
                      struct assay_error *error);
/** Concludes one arm: its metrics are known afterwards. A second call does nothing. */
int assay__arms_conclude(struct assay__arms *arms, size_t index, struct assay_error *error);
/** Numerical drift of every arm's first outputs from those of `reference`, as metrics drift.*.
 *  After conclude. */
int assay__arms_drift(struct assay__arms *arms, size_t reference, struct assay_error *error);
/** The same for one arm: for grids in which the outputs of some arms have other shapes. */
int assay__arms_drift_one(struct assay__arms *arms, size_t reference, size_t index,
                          struct assay_error *error);
/** How many numbers of an arm's own first outputs are NaN or infinite, as the metric
 *  outputs.nonfinite: needs no reference. After conclude. */
int assay__arms_nonfinite(struct assay__arms *arms, size_t index, struct assay_error *error);
/** Concludes the remaining arms and finishes the file. *profile then belongs to the caller. 0,
 * ASSAY_EINTERRUPTED, or why it could not be stored; failed arms are reported in their trials. */
int assay__arms_finish(struct assay__arms *arms, struct assay_profile **profile,
                       struct assay_error *error);
/** Always call it at the end. */
void assay__arms_end(struct assay__arms *arms);

bool assay__arms_interrupted(const struct assay__arms *arms);
struct assay__trial *assay__arms_trial(const struct assay__arms *arms, size_t index);

#endif
