/* tune.h - the search of `assay tune`, without the measuring: it proposes the points of the next
 * round, receives their costs, and ends with the finalists. Deterministic for a given seed, so that
 * it can be tested on known landscapes (tests/unit/test_tune.c).
 *
 * Stages: DESIGN (the start, each setting changed alone, then points far from those), SEARCH (the
 * surrogate's proposals), HALVING (the most promising ones again, half as many each time), FINAL
 * (the finalists, for new launches), DONE. The best so far takes part in every round. */
#ifndef ASSAY_EXPERIMENT_TUNE_H
#define ASSAY_EXPERIMENT_TUNE_H

#include "judge/tune_surrogate.h"

#include <stdint.h>

#define ASSAY__TUNE_ROUND 16 /* maximum number of points in a round */
#define ASSAY__TUNE_FINALISTS 4
#define ASSAY__TUNE_FINAL_LAUNCHES 5

enum assay__tune_stage {
    ASSAY__TUNE_DESIGN,
    ASSAY__TUNE_SEARCH,
    ASSAY__TUNE_HALVING,
    ASSAY__TUNE_FINAL,
    ASSAY__TUNE_DONE
};

struct assay__tune_options {
    size_t start;          /* the point that is tried first */
    size_t configurations; /* maximum to try; 0: a quarter of the grid, at least 16 */
    uint64_t seed;
};

struct assay__tune; /* one search */

/** The grid is copied. NULL when out of memory. */
struct assay__tune *assay__tune_new(const struct assay__tune_grid *grid,
                                    const struct assay__tune_options *options);
void assay__tune_free(struct assay__tune *tune); /* NULL legal */

/** Excludes every point with that value of the axis from the proposals. */
void assay__tune_ban(struct assay__tune *tune, size_t axis, size_t value);
/** Excludes one point from the proposals. */
void assay__tune_skip(struct assay__tune *tune, size_t point);
/** The points of the next round, each for one launch, including the best so far; rounds are
 *  numbered from 0. In FINAL: the finalists, best first, to be launched again. *count 0 only when
 *  DONE. 0 or ASSAY_ENOMEM. */
int assay__tune_round(struct assay__tune *tune, enum assay__tune_stage *stage, size_t *points,
                      size_t *count);
/** Result of one launch of the last round. `cost` is positive; not finite if the launch failed. */
int assay__tune_tell(struct assay__tune *tune, size_t point, double cost);
/** No further proposals: the next round is one of halving or of the finalists. */
void assay__tune_hurry(struct assay__tune *tune, enum assay__tune_stage next);

size_t assay__tune_configurations(const struct assay__tune *tune); /* tried */
size_t assay__tune_configurations_most(const struct assay__tune *tune);
/** The best so far according to the surrogate; SIZE_MAX: none. */
size_t assay__tune_incumbent(const struct assay__tune *tune);
/** The logarithm of its cost according to the surrogate of the last round, tried or not. */
double assay__tune_belief(const struct assay__tune *tune, size_t point);

#endif
