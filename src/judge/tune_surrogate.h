/* tune_surrogate.h - what a search predicts for configurations it has not tried: a Gaussian process
 * on the logarithm of the cost, additive over the axes with pairwise terms. Pure arithmetic;
 * nothing is measured here. */
#ifndef ASSAY_JUDGE_TUNE_SURROGATE_H
#define ASSAY_JUDGE_TUNE_SURROGATE_H

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__TUNE_AXES 8
#define ASSAY__TUNE_VALUES 64

struct assay__tune_axis {
    size_t count;                         /* of its values, at least 1 */
    bool ordered;                         /* neighbours are similar: threads, batch, sequence */
    double positions[ASSAY__TUNE_VALUES]; /* for an ordered axis: log2 of the values */
};

/** Points are numbered with the last axis varying fastest, as in config_space.h. */
struct assay__tune_grid {
    struct assay__tune_axis axes[ASSAY__TUNE_AXES];
    size_t axis_count;
};

size_t assay__tune_grid_points(const struct assay__tune_grid *grid);
size_t assay__tune_grid_choice(const struct assay__tune_grid *grid, size_t point, size_t axis);
/** The point that differs from `point` in one axis. */
size_t assay__tune_grid_with(const struct assay__tune_grid *grid, size_t point, size_t axis,
                             size_t value);

struct assay__tune_observation {
    size_t point;
    int round;       /* launches of one round share its disturbances */
    double log_cost; /* smaller is better */
};

struct assay__surrogate {
    const struct assay__tune_grid *grid; /* borrowed */
    const struct assay__tune_observation *seen;
    size_t seen_count;                  /* > 0 */
    double deviation[ASSAY__TUNE_AXES]; /* standard deviation of each axis's effect */
    double pairs;                       /* weight of the pairwise terms */
    double noise, round;                /* standard deviations: of a launch, of a round */
    double mean;
    double *factor, *weights; /* Cholesky factor (lower, row-major), K^-1 (y - mean) */
    size_t capacity;
};

/** Initial widths before anything is known; everything else is zeroed. */
struct assay__surrogate assay__surrogate_start(const struct assay__tune_grid *grid);
/** Takes the observations (borrowed until the next call) and, with `adapt`, moves the widths one
 * step towards higher likelihood. 0 or ASSAY_ENOMEM. */
int assay__surrogate_fit(struct assay__surrogate *surrogate,
                         const struct assay__tune_observation *seen, size_t count, bool adapt);
/** Prediction for a point without the noise: mean, and standard deviation if `deviation` is not
 * NULL. `scratch` has room for seen_count. */
double assay__surrogate_predict(const struct assay__surrogate *surrogate, size_t point,
                                double *scratch, double *deviation);
void assay__surrogate_free(struct assay__surrogate *surrogate); /* zeroed legal */

#endif
