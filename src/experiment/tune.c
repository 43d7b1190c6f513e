/* tune.c - chooses the configurations that a tuning tries next.
 *
 * A proposal is the untried point with the largest expected improvement over the best tried one
 * (Jones, Schonlau, Welch, Efficient Global Optimization, 1998), according to the noise-free
 * prediction, times the share of successful launches with its settings. Several points of one round
 * are chosen one after the other, each assumed to cost what the surrogate predicts (kriging
 * believer). The search ends when the largest expected improvement is negligible, or when the
 * configurations are used up. */
#include "experiment/tune.h"

#include "base/stats.h"
#include "base/vec.h"

#include <assay/error.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define CONFIGURATIONS_LEAST 16
#define NEW_PER_ROUND 3
#define IMPROVEMENT_LEAST 1e-5
#define HALVING_FIRST 8
#define LAUNCHES_LEAST 45 /* always allowed */

enum { UNTRIED, PROPOSED, GOOD, FAILED, BANNED };

struct assay__tune {
    struct assay__tune_grid grid;
    size_t points, most, start, tried, told; /* told: launches */
    struct assay__random random;
    unsigned char *state; /* by point */
    int *launches;        /* by point: successful ones */
    size_t *design;       /* in the order in which they are tried */
    size_t design_count, design_next;
    struct assay__tune_observation *seen;
    size_t seen_count, seen_capacity;
    struct assay__surrogate surrogate;
    double *mean, *deviation, *scratch; /* by point; scratch by observation */
    size_t scratch_capacity;
    size_t good[ASSAY__TUNE_AXES][ASSAY__TUNE_VALUES], all[ASSAY__TUNE_AXES][ASSAY__TUNE_VALUES];
    enum assay__tune_stage stage;
    int round, halvings;
};

/* --- the design ------------------------------------------------------------------------------- */

static void plan_point(struct assay__tune *tune, size_t point)
{
    for (size_t i = 0; i < tune->design_count; i++)
        if (tune->design[i] == point) return;
    tune->design[tune->design_count++] = point;
}

static double distance(const struct assay__tune_grid *grid, size_t a, size_t b)
{
    double sum = 0;
    for (size_t x = 0; x < grid->axis_count; x++) {
        const struct assay__tune_axis *axis = &grid->axes[x];
        size_t i = assay__tune_grid_choice(grid, a, x), k = assay__tune_grid_choice(grid, b, x);
        if (i == k) continue;
        double range = fabs(axis->positions[axis->count - 1] - axis->positions[0]);
        sum += axis->ordered && range > 0 ? fabs(axis->positions[i] - axis->positions[k]) / range
                                          : 1;
    }
    return sum;
}

/* The start; every named setting alone, the ends and the middle of ordered ones alone; then missing
 * corners, each the point farthest from the whole design, ties broken at random, up to two fifths
 * of the configurations. */
static void plan_design(struct assay__tune *tune)
{
    plan_point(tune, tune->start);
    for (size_t a = 0; a < tune->grid.axis_count; a++) {
        const struct assay__tune_axis *axis = &tune->grid.axes[a];
        for (size_t v = 0; v < axis->count; v++)
            if (!axis->ordered || v == 0 || v + 1 == axis->count || v == axis->count / 2)
                plan_point(tune, assay__tune_grid_with(&tune->grid, tune->start, a, v));
    }
    for (size_t corner = 0; tune->design_count < tune->most * 2 / 5 && corner != SIZE_MAX;) {
        double most = 0.02;
        corner = SIZE_MAX;
        for (size_t p = 0; p < tune->points; p++) {
            double least = INFINITY;
            if (tune->state[p] != UNTRIED) continue;
            for (size_t i = 0; i < tune->design_count; i++)
                least = fmin(least, distance(&tune->grid, p, tune->design[i]));
            least += 0.01 * assay__random_unit(&tune->random);
            if (least > most) most = least, corner = p;
        }
        if (corner != SIZE_MAX) plan_point(tune, corner);
    }
}

struct assay__tune *assay__tune_new(const struct assay__tune_grid *grid,
                                    const struct assay__tune_options *options)
{
    struct assay__tune *tune = calloc(1, sizeof *tune);
    if (!tune) return NULL;
    tune->grid = *grid;
    tune->points = assay__tune_grid_points(grid);
    tune->start = options->start < tune->points ? options->start : 0;
    tune->most = options->configurations ? options->configurations : tune->points / 4;
    if (!options->configurations && tune->most < CONFIGURATIONS_LEAST)
        tune->most = CONFIGURATIONS_LEAST;
    if (tune->most > tune->points) tune->most = tune->points;
    assay__random_seed(&tune->random, options->seed);
    tune->surrogate = assay__surrogate_start(&tune->grid);
    tune->state = calloc(tune->points, 1);
    tune->launches = calloc(tune->points, sizeof *tune->launches);
    tune->design = calloc(tune->points, sizeof *tune->design);
    tune->mean = calloc(tune->points, sizeof *tune->mean);
    tune->deviation = calloc(tune->points, sizeof *tune->deviation);
    if (!tune->state || !tune->launches || !tune->design || !tune->mean || !tune->deviation) {
        assay__tune_free(tune);
        return NULL;
    }
    plan_design(tune);
    return tune;
}

void assay__tune_free(struct assay__tune *tune)
{
    if (!tune) return;
    assay__surrogate_free(&tune->surrogate);
    free(tune->state);
    free(tune->launches);
    free(tune->design);
    free(tune->mean);
    free(tune->deviation);
    free(tune->scratch);
    free(tune->seen);
    free(tune);
}

void assay__tune_ban(struct assay__tune *tune, size_t axis, size_t value)
{
    for (size_t p = 0; p < tune->points; p++)
        if (assay__tune_grid_choice(&tune->grid, p, axis) == value) tune->state[p] = BANNED;
}

void assay__tune_skip(struct assay__tune *tune, size_t point)
{
    tune->state[point] = BANNED;
}

/* --- predictions ------------------------------------------------------------------------------ */

static int fit_surrogate(struct assay__tune *tune, size_t count, bool adapt)
{
    int code = assay__vec_grow((void **)&tune->scratch, &tune->scratch_capacity, count + 1,
                               sizeof *tune->scratch);
    if (!code) code = assay__surrogate_fit(&tune->surrogate, tune->seen, count, adapt);
    for (size_t p = 0; p < tune->points && !code; p++)
        tune->mean[p] = assay__surrogate_predict(&tune->surrogate, p, tune->scratch,
                                                 &tune->deviation[p]);
    return code;
}

size_t assay__tune_incumbent(const struct assay__tune *tune)
{
    size_t best = SIZE_MAX;
    for (size_t p = 0; p < tune->points; p++)
        if (tune->state[p] == GOOD && (best == SIZE_MAX || tune->mean[p] < tune->mean[best]))
            best = p;
    return best;
}

double assay__tune_belief(const struct assay__tune *tune, size_t point)
{
    return tune->mean[point];
}

/* Share of successful launches among those with a setting of the point: the smallest one. Zero if
 * all of three failed. */
static double hope(const struct assay__tune *tune, size_t point)
{
    double least = 1;
    for (size_t a = 0; a < tune->grid.axis_count; a++) {
        size_t v = assay__tune_grid_choice(&tune->grid, point, a), all = tune->all[a][v];
        if (all >= 3 && !tune->good[a][v]) return 0;
        least = fmin(least, (double)(tune->good[a][v] + 1) / (double)(all + 1));
    }
    return least;
}

/* --- rounds ----------------------------------------------------------------------------------- */

static void take(struct assay__tune *tune, size_t point, size_t *points, size_t *count)
{
    points[(*count)++] = point;
    if (tune->state[point] != UNTRIED) return;
    tune->state[point] = PROPOSED;
    tune->tried++;
}

/* The untried point with the largest expected improvement; SIZE_MAX: none is worth a launch. */
static size_t propose(const struct assay__tune *tune, double best)
{
    size_t chosen = SIZE_MAX;
    double most = 0;
    for (size_t p = 0; p < tune->points; p++) {
        if (tune->state[p] != UNTRIED) continue;
        double gap = best - tune->mean[p], s = tune->deviation[p], z = gap / s;
        double gain = s < 1e-9 ? fmax(gap, 0)
                               : gap * 0.5 * erfc(-z / sqrt(2)) +
                                     s * exp(-z * z / 2) / sqrt(2 * acos(-1));
        gain *= hope(tune, p);
        if (gain > most) most = gain, chosen = p;
    }
    return most < IMPROVEMENT_LEAST ? SIZE_MAX : chosen;
}

/* Points with assumed costs are at the end of `seen` until the round is over: they are not
 * observations. */
static int search_round(struct assay__tune *tune, size_t *points, size_t *count)
{
    size_t real = tune->seen_count, believed = real, incumbent = assay__tune_incumbent(tune);
    int code = assay__vec_grow((void **)&tune->seen, &tune->seen_capacity, real + NEW_PER_ROUND + 1,
                               sizeof *tune->seen);
    for (int i = 0; i < NEW_PER_ROUND && !code && tune->tried < tune->most && incumbent != SIZE_MAX;
         i++) {
        size_t point = propose(tune, tune->mean[incumbent]);
        if (point == SIZE_MAX) break;
        take(tune, point, points, count);
        tune->seen[believed++] = (struct assay__tune_observation){point, tune->round,
                                                                  tune->mean[point]};
        code = fit_surrogate(tune, believed, false);
    }
    if (!code && believed > real) code = fit_surrogate(tune, real, false);
    return code;
}

/* Tried points by predicted cost, best first; with `plausible`, only those that may still be the
 * best. */
static size_t rank(const struct assay__tune *tune, size_t *points, size_t most, bool plausible)
{
    size_t count = 0, best = assay__tune_incumbent(tune);
    for (size_t p = 0; p < tune->points; p++) {
        if (tune->state[p] != GOOD) continue;
        double apart = tune->mean[p] - tune->mean[best];
        double own = tune->deviation[p], other = tune->deviation[best];
        if (plausible && apart > 2 * sqrt(own * own + other * other) + 0.01) continue;
        size_t at = count < most ? count++ : most;
        if (at == most && tune->mean[p] >= tune->mean[points[most - 1]]) continue;
        if (at == most) at--;
        for (; at > 0 && tune->mean[points[at - 1]] > tune->mean[p]; at--)
            points[at] = points[at - 1];
        points[at] = p;
    }
    return count;
}

/* Launches that may still be made: in total a quarter of what the whole grid would take with three
 * each. */
static size_t allowance(const struct assay__tune *tune)
{
    size_t all = 3 * tune->points / 4;
    if (all < LAUNCHES_LEAST) all = LAUNCHES_LEAST;
    return all > tune->told ? all - tune->told : 0;
}

int assay__tune_round(struct assay__tune *tune, enum assay__tune_stage *stage, size_t *points,
                      size_t *count)
{
    int code = tune->seen_count ? fit_surrogate(tune, tune->seen_count, true) : 0;
    *count = 0;
    while (!code && *count == 0 && tune->stage != ASSAY__TUNE_DONE) {
        size_t left = allowance(tune), most;
        *stage = tune->stage;
        switch (tune->stage) {
        case ASSAY__TUNE_DESIGN:
            while (tune->design_next < tune->design_count && *count <= NEW_PER_ROUND &&
                   tune->tried < tune->most) {
                size_t point = tune->design[tune->design_next++];
                if (tune->state[point] == UNTRIED && hope(tune, point) > 0)
                    take(tune, point, points, count);
            }
            break;
        case ASSAY__TUNE_SEARCH: code = search_round(tune, points, count); break;
        case ASSAY__TUNE_HALVING: {
            size_t kept = ASSAY__TUNE_FINALISTS * ASSAY__TUNE_FINAL_LAUNCHES,
                   room = left > kept ? left - kept : 0; /* the finalists come first */
            most = (size_t)HALVING_FIRST >> tune->halvings++;
            if (most > room) most = room;
            if (most >= 3) *count = rank(tune, points, most, true);
            if (*count < 2) *count = 0; /* nothing to distinguish */
            break;
        }
        case ASSAY__TUNE_FINAL: /* as many as there is room for besides the start, at least two */
            most = left / ASSAY__TUNE_FINAL_LAUNCHES;
            most = most < 3 ? 2 : most > ASSAY__TUNE_FINALISTS ? ASSAY__TUNE_FINALISTS : most - 1;
            if (assay__tune_incumbent(tune) != SIZE_MAX) *count = rank(tune, points, most, true);
            tune->stage = ASSAY__TUNE_DONE;
            if (*count == 0) *stage = ASSAY__TUNE_DONE;
            return 0;
        case ASSAY__TUNE_DONE: break;
        }
        if (*count == 0) tune->stage++;
    }
    if (tune->stage == ASSAY__TUNE_DONE) *stage = ASSAY__TUNE_DONE;
    size_t incumbent = assay__tune_incumbent(tune); /* takes part in every round */
    bool there = incumbent == SIZE_MAX;
    for (size_t i = 0; i < *count; i++)
        there |= points[i] == incumbent;
    if (!code && *count && !there) points[(*count)++] = incumbent;
    tune->round++;
    return code;
}

int assay__tune_tell(struct assay__tune *tune, size_t point, double cost)
{
    bool good = isfinite(cost) && cost > 0;
    tune->told++;
    if (assay__vec_grow((void **)&tune->seen, &tune->seen_capacity, tune->seen_count + 1,
                        sizeof *tune->seen))
        return ASSAY_ENOMEM;
    for (size_t a = 0; a < tune->grid.axis_count; a++) {
        size_t v = assay__tune_grid_choice(&tune->grid, point, a);
        tune->all[a][v]++;
        tune->good[a][v] += good;
    }
    if (good) {
        tune->seen[tune->seen_count++] = (struct assay__tune_observation){point, tune->round,
                                                                          log(cost)};
        tune->launches[point]++;
        if (tune->state[point] != BANNED) tune->state[point] = GOOD;
    } else if (!tune->launches[point] && tune->state[point] != BANNED) {
        tune->state[point] = FAILED;
    }
    return 0;
}

void assay__tune_hurry(struct assay__tune *tune, enum assay__tune_stage next)
{
    if (tune->stage < next) tune->stage = next;
}

size_t assay__tune_configurations(const struct assay__tune *tune)
{
    return tune->tried;
}

size_t assay__tune_configurations_most(const struct assay__tune *tune)
{
    return tune->most;
}
