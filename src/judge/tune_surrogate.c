/* tune_surrogate.c - fits a Gaussian process to measured costs and predicts the rest.
 *
 * y = log cost. The prior covariance of two points is
 *
 *     k(x, x') = 1 + sum_a s_a^2 c_a(x, x') + p sum_{a<b} s_a s_b c_a(x, x') c_b(x, x')
 *
 * with c_a = 1 for the same value of axis a; for another one 0 (names), or exp(-|u - u'| / u_scale)
 * with u = log2 of the value (ordered axes). So every axis has a main effect and every pair of axes
 * a joint one. Observations add independent noise^2 and round^2 shared with those of the same
 * round: a slow moment of the machine is not mistaken for a slow configuration. Widths are
 * optimised by coordinate ascent on the log marginal likelihood (Rasmussen and Williams, Gaussian
 * Processes for Machine Learning, 2006, equation 5.8) with weak log-normal priors. Limits: no
 * interaction of three axes; O(n^3) in the observations, of which a search has about a hundred. */
#include "judge/tune_surrogate.h"

#include <assay/error.h>
#include <math.h>
#include <stdlib.h>

#define CONSTANT 1.0 /* prior variance of the level left after the mean */
#define JITTER 1e-8
#define AXIS_WIDTH 0.2
#define PAIR_WEIGHT 1.0
#define NOISE_WIDTH 0.03
#define ROUND_WIDTH 0.02

size_t assay__tune_grid_points(const struct assay__tune_grid *grid)
{
    size_t points = 1;
    for (size_t a = 0; a < grid->axis_count; a++)
        points *= grid->axes[a].count;
    return points;
}

static size_t stride_of(const struct assay__tune_grid *grid, size_t axis)
{
    size_t stride = 1;
    for (size_t a = axis + 1; a < grid->axis_count; a++)
        stride *= grid->axes[a].count;
    return stride;
}

size_t assay__tune_grid_choice(const struct assay__tune_grid *grid, size_t point, size_t axis)
{
    return point / stride_of(grid, axis) % grid->axes[axis].count;
}

size_t assay__tune_grid_with(const struct assay__tune_grid *grid, size_t point, size_t axis,
                             size_t value)
{
    size_t stride = stride_of(grid, axis);
    return point - assay__tune_grid_choice(grid, point, axis) * stride + value * stride;
}

struct assay__surrogate assay__surrogate_start(const struct assay__tune_grid *grid)
{
    struct assay__surrogate made = {
        .grid = grid, .pairs = PAIR_WEIGHT, .noise = NOISE_WIDTH, .round = ROUND_WIDTH};
    for (size_t a = 0; a < ASSAY__TUNE_AXES; a++)
        made.deviation[a] = AXIS_WIDTH;
    return made;
}

void assay__surrogate_free(struct assay__surrogate *surrogate)
{
    free(surrogate->factor);
    free(surrogate->weights);
    surrogate->factor = surrogate->weights = NULL;
    surrogate->capacity = 0;
}

/* --- covariance ------------------------------------------------------------------------------- */

static double likeness(const struct assay__tune_axis *axis, size_t i, size_t k)
{
    if (i == k) return 1;
    if (!axis->ordered) return 0;
    double range = fabs(axis->positions[axis->count - 1] - axis->positions[0]);
    return range > 0 ? exp(-2 * fabs(axis->positions[i] - axis->positions[k]) / range) : 1;
}

/* sum_{a<b} t_a t_b = ((sum t)^2 - sum t^2) / 2 with t_a = s_a c_a: linear in the axes. */
static double covariance(const struct assay__surrogate *s, size_t point, size_t other)
{
    double main = 0, sum = 0, squares = 0;
    size_t left = point, right = other;
    for (size_t a = s->grid->axis_count; a-- > 0;) {
        const struct assay__tune_axis *axis = &s->grid->axes[a];
        size_t i = left % axis->count, k = right % axis->count;
        left /= axis->count;
        right /= axis->count;
        if (axis->count < 2) continue;
        double c = likeness(axis, i, k), t = s->deviation[a] * c;
        main += s->deviation[a] * t;
        sum += t;
        squares += t * t;
    }
    return CONSTANT + main + s->pairs * (sum * sum - squares) / 2;
}

static bool factorise(double *matrix, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = matrix[i * n + k];
            for (size_t j = 0; j < k; j++)
                sum -= matrix[i * n + j] * matrix[k * n + j];
            if (i == k) {
                if (!(sum > 0)) return false;
                matrix[i * n + i] = sqrt(sum);
            } else {
                matrix[i * n + k] = sum / matrix[k * n + k];
            }
        }
    return true;
}

static void solve_lower(const double *factor, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= factor[i * n + k] * x[k];
        x[i] /= factor[i * n + i];
    }
}

static void solve_upper(const double *factor, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= factor[k * n + i] * x[k];
        x[i] /= factor[i * n + i];
    }
}

/* Factor and weights for the current widths; returns the log marginal likelihood, -INFINITY if the
 * matrix is not positive definite. */
static double refit(struct assay__surrogate *s)
{
    size_t n = s->seen_count;
    double fit = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k <= i; k++) {
            double value = covariance(s, s->seen[i].point, s->seen[k].point);
            if (s->seen[i].round == s->seen[k].round) value += s->round * s->round;
            if (i == k) value += s->noise * s->noise + JITTER;
            s->factor[i * n + k] = value;
        }
        s->weights[i] = s->seen[i].log_cost - s->mean;
    }
    if (!factorise(s->factor, n)) return -INFINITY;
    solve_lower(s->factor, n, s->weights);
    for (size_t i = 0; i < n; i++)
        fit -= s->weights[i] * s->weights[i] / 2 + log(s->factor[i * n + i]);
    solve_upper(s->factor, n, s->weights);
    return fit;
}

/* --- widths ----------------------------------------------------------------------------------- */

static double prior(double value, double centre, double width)
{
    double z = log(value / centre) / width;
    return -z * z / 2;
}

static double priors(const struct assay__surrogate *s)
{
    double sum = prior(s->pairs, PAIR_WEIGHT, 1) + prior(s->noise, NOISE_WIDTH, 0.7) +
                 prior(s->round, ROUND_WIDTH, 0.7);
    for (size_t a = 0; a < s->grid->axis_count; a++)
        if (s->grid->axes[a].count > 1) sum += prior(s->deviation[a], AXIS_WIDTH, 1.2);
    return sum;
}

/* One pass over the widths: each is halved or doubled if that is more likely. */
static void climb(struct assay__surrogate *s)
{
    double best = refit(s) + priors(s), *const rest[] = {&s->pairs, &s->noise, &s->round};
    size_t axes = s->grid->axis_count;
    for (size_t i = 0; i < axes + 3; i++) {
        double *width = i < axes ? &s->deviation[i] : rest[i - axes], kept = *width;
        if (i < axes && s->grid->axes[i].count < 2) continue;
        for (int side = 0; side < 2; side++) {
            *width = kept * (side ? 0.5 : 2);
            double now = refit(s) + priors(s);
            if (now > best) {
                best = now;
                break;
            }
            *width = kept;
        }
    }
}

int assay__surrogate_fit(struct assay__surrogate *s, const struct assay__tune_observation *seen,
                         size_t count, bool adapt)
{
    if (count > s->capacity) {
        size_t room = count + 32;
        double *factor = room < 4096 ? malloc(room * room * sizeof *factor) : NULL,
               *weights = factor ? malloc(room * sizeof *weights) : NULL;
        if (!weights) {
            free(factor);
            return ASSAY_ENOMEM;
        }
        assay__surrogate_free(s);
        s->factor = factor;
        s->weights = weights;
        s->capacity = room;
    }
    s->seen = seen;
    s->seen_count = count;
    s->mean = 0;
    for (size_t i = 0; i < count; i++)
        s->mean += seen[i].log_cost / (double)count;
    if (adapt && count > 3) climb(s);
    while (refit(s) == -INFINITY && s->noise < 1)
        s->noise *= 2; /* nearly the same row twice */
    return 0;
}

double assay__surrogate_predict(const struct assay__surrogate *s, size_t point, double *scratch,
                                double *deviation)
{
    double mean = s->mean, variance = covariance(s, point, point);
    for (size_t i = 0; i < s->seen_count; i++) {
        scratch[i] = covariance(s, point, s->seen[i].point);
        mean += scratch[i] * s->weights[i];
    }
    if (!deviation) return mean;
    solve_lower(s->factor, s->seen_count, scratch);
    for (size_t i = 0; i < s->seen_count; i++)
        variance -= scratch[i] * scratch[i];
    *deviation = sqrt(fmax(variance, 0));
    return mean;
}
