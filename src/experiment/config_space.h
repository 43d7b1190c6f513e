/* config_space.h - the configurations of one model, all of which a sweep visits and some of which a
 * tuning does: axes with their values, points, what a point means for a run. Rewritten copies of
 * the model (precision) are created once per value, in a separate folder. */
#ifndef ASSAY_EXPERIMENT_CONFIG_SPACE_H
#define ASSAY_EXPERIMENT_CONFIG_SPACE_H

#include "base/arena.h"
#include "run/arm/arm.h"

#include <assay/error.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define ASSAY__CONFIG_VALUES 64 /* of an axis, at most */

struct assay__config_values {
    const char *values[ASSAY__CONFIG_VALUES];
    size_t count; /* 0: the axis does not vary and is not part of the labels */
};

struct assay__config_space {
    struct assay__arena *arena; /* the caller's */
    struct assay__config_values axes[ASSAY__AXIS_COUNT];
    size_t points; /* product of the counts; at least 1 once counted */
    /* by precision: the file; NULL: the rewrite failed … */
    const char *models[ASSAY__CONFIG_VALUES];
    /* … for that reason: such points are failed trials */
    const char *refusals[ASSAY__CONFIG_VALUES];
    char folder[PATH_MAX]; /* "" until a copy was made */
};

/** Adds the values of a comma-separated list, duplicates once. ASSAY_EINVAL with a human-readable
 *  message: not a value of the axis, an empty list, too many. Device names are not checked. */
int assay__config_read(struct assay__config_space *space, enum assay__axis axis, const char *list,
                       struct assay_error *error);
/** ASSAY_EINVAL with the limit: more threads than this machine can start in reasonable time (4 per
 *  CPU, but at least 64). 0: chosen by the engine, always allowed. */
int assay__config_check_thread_count(long threads, struct assay_error *error);
/** Counts the points. ASSAY_EINVAL if there are more than `most`. */
int assay__config_count(struct assay__config_space *space, size_t most, struct assay_error *error);
/** Creates the rewritten copies of `model` that the precision axis needs. A rewrite that fails is
 *  recorded as a refusal, not an error. */
int assay__config_rewrite(struct assay__config_space *space, const char *model,
                          struct assay_error *error);
/** The value of the axis at a point (index into its values; 0 if it does not vary). */
size_t assay__config_choice(const struct assay__config_space *space, size_t point,
                            enum assay__axis axis);
/** The point with these choices, by axis. */
size_t assay__config_point(const struct assay__config_space *space, const size_t *choices);
/** What the point means for a run: device, model, options; and in the identity its values and the
 *  label "device=cpu batch=8", in the arena. ASSAY_EUNSUPPORTED with the reason if its rewrite was
 *  refused (the identity is still set). */
int assay__config_apply(const struct assay__config_space *space, size_t point,
                        struct assay__run_options *options, struct assay__arm_identity *identity,
                        struct assay_error *error);
/** Removes the copies. */
void assay__config_end(struct assay__config_space *space);

#endif
