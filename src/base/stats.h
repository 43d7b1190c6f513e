/* stats.h - the statistics of doc/design.md section 6, on plain arrays; definitions in
 * doc/metrics.md. Nothing here allocates unless it says so; sorted inputs are the caller's. */
#ifndef ASSAY_BASE_STATS_H
#define ASSAY_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Nearest rank on sorted values: x[ceil(q n) - 1]. The median of an even count is the mean of the
 *  middle two. NaN when n = 0. */
double assay__stats_percentile(const double *sorted, size_t count, double q);
double assay__stats_median(const double *sorted, size_t count);
double assay__stats_mean(const double *values, size_t count);
double assay__stats_stddev(const double *values, size_t count); /* sample, n - 1; NaN for n < 2 */
/** Mean of the middle half (fractional weights at the quartile edges), sorted input. */
double assay__stats_iqm(const double *sorted, size_t count);
double assay__stats_mad(const double *values, size_t count, double median, double *scratch);
void assay__stats_sort(double *values, size_t count);
void assay__stats_sort_u64(uint64_t *values, size_t count);
/** Sample count required by MLPerf LoadGen's early stopping with one over-latency query at 99 %
 *  confidence (0.90: 64, 0.95: 130, 0.97: 219, 0.99: 662, 0.999: 6,636), computed from the binomial
 *  tail. */
size_t assay__stats_percentile_needs(double q);

/** Integrated autocorrelation 1 + 2 Σ ρ_k in time order, the sum ending at the first non-positive
 *  ρ_k (at least 1). O(n·k); long inputs are handled without quadratic cost (a bounded lag). */
double assay__stats_autocorrelation_time(const double *values, size_t count);
double assay__stats_autocorrelation(const double *values, size_t count, size_t lag);

struct assay__interval {
    double low, high;
    bool known; /* false: too few samples for 95 % */
};
/** Binomial order-statistic interval of the median with n_eff = n / tau (ranks mapped back to
 *  n). */
struct assay__interval assay__stats_median_interval(const double *sorted, size_t count, double tau);

/** End of warm-up: the truncation point (MSER-5, at most half the samples) in time order. */
size_t assay__stats_warmup_end(const double *values, size_t count);

/** Hyperfine's outliers: |x - median| / MAD > 14.826. */
size_t assay__stats_outliers(const double *values, size_t count, double median, double mad);
/** Relative change of the level over the launch (Theil-Sen slope over block medians times the span,
 *  over the median), and its p-value (Mann-Kendall on block medians). Both NaN below 40 samples. */
double assay__stats_drift(const double *values, size_t count, double *p_value);
/** Bimodality: splits sorted values at the best threshold; true when two modes, each >= 10 % of
 *  samples, are separated (as the source describes), by at least eight steps of the clock (step; 0
 *  or NaN: unknown, then the grid of the values themselves counts). *low_mode and *high_mode are
 *  set to their medians, *high_share to the share of the upper one. */
bool assay__stats_bimodal(const double *sorted, size_t count, double step, double *low_mode,
                          double *high_mode, double *high_share);

/* --- the fair coin, for intervals of a median by order statistics ----------------------------- */

/** P(X <= k) for X ~ Binomial(n, 1/2). */
double assay__binomial_half_cdf(size_t n, size_t k);
/** The largest rank r (1-based) with 2 P(X < r) <= alpha, so that [x_(r), x_(n+1-r)] covers the
 *  median with at least 1 - alpha. 0 if even the extremes do not. */
size_t assay__binomial_half_rank(size_t n, double alpha);

/* --- between launches: the process is the unit of replication --------------------------------- */

/** What a ratio refers to: launch medians, or the time of undisturbed inferences
 * (stats_compare.c). */
enum assay__ratio_by {
    ASSAY__BY_TYPICAL,
    ASSAY__BY_UNDISTURBED,
    ASSAY__BY_NEITHER /* one has the lower medians, the other the lower 5th percentiles: nothing is
                       * claimed */
};

struct assay__ratio {
    /* median(b) / median(a) of per-launch medians; of the 5th percentiles, by inverting the test */
    double ratio;
    /* at least 95 %: the permutation test on ranks, inverted; excludes 1 exactly when p < 0.05 */
    struct assay__interval ci;
    double p_value; /* exact permutation test on ranks, two-sided */
    /* relative difference that this run would have detected with a probability of 80 to 95 % */
    double smallest;
    enum assay__ratio_by by;
};
#define ASSAY__RATIO_UNKNOWN                                \
    {                                                       \
        NAN, {NAN, NAN, false}, NAN, NAN, ASSAY__BY_TYPICAL \
    }

/** The launches of an arm: their medians, and their 5th percentiles in the same order (NULL:
 *  unknown). */
struct assay__launch_times {
    const double *typical, *undisturbed;
    size_t count;
};
/** a and b are per-launch medians in any order. 0 or ASSAY_ENOMEM/ASSAY_EINVAL (< 5 launches per
 *  arm). */
int assay__stats_compare(const double *a, size_t a_count, const double *b, size_t b_count,
                         struct assay__ratio *out);
/** For the 5th percentiles: a and b sorted, ratios all b_j / a_i sorted. The interval covers 1 -
 *  level; it stays unknown if there are too few launches to claim anything. */
void assay__ratio_of_fastest(const double *a, size_t a_count, const double *b, size_t b_count,
                             const double *ratios, double level, struct assay__ratio *out);
/** Tests the same question twice, on the medians and on the 5th percentiles, at 2.5 % each:
 *  together they claim a difference that does not exist in at most 5 % of cases (Bonferroni), and
 *  both intervals hold together at 95 %. The result of the medians is given if they show a
 *  difference, else that of the 5th percentiles if those do, else the one with the narrower
 *  interval. Opposite results: none. Without 5th percentiles this is assay__stats_compare(). */
int assay__stats_compare_launches(const struct assay__launch_times *a,
                                  const struct assay__launch_times *b, struct assay__ratio *out);
/** Interval of the median of launch medians; known only with >= 5 launches. Ranks 1 and n cover
 *  93.75 % at n = 5; from 6 on it is interpolated between ranks to 95 %. *coverage: which it is. */
struct assay__interval assay__stats_launch_interval(const double *sorted, size_t count,
                                                    double *coverage);

/* --- a small deterministic generator for synthetic data and bootstraps ------------------------ */
struct assay__random {
    uint64_t state[4];
};
void assay__random_seed(struct assay__random *random,
                        uint64_t seed); /* splitmix64 into xoshiro256** */
uint64_t assay__random_u64(struct assay__random *random);
double assay__random_unit(struct assay__random *random); /* [0, 1) */
double assay__random_normal(struct assay__random *random);
uint64_t assay__random_below(struct assay__random *random,
                             uint64_t bound); /* unbiased; bound > 0 */

#endif
