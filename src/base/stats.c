/* stats.c - statistics of a set of numbers: percentiles, centre, spread, the interval of the
 * median. doc/metrics.md has the definitions; no normality is assumed anywhere. */
#include "base/stats.h"

#include <math.h>

double assay__stats_percentile(const double *sorted, size_t count, double q)
{
    if (count == 0) return NAN;
    /* q n that is an integer up to rounding (0.07 * 100 = 7.000000000000001) is that integer. */
    double exact = q * (double)count, whole = round(exact);
    double rank = fabs(exact - whole) <= 1e-12 * (1 + exact) ? whole : ceil(exact);
    if (!(rank >= 1)) return sorted[0];
    return sorted[rank > (double)count ? count - 1 : (size_t)rank - 1];
}

double assay__stats_median(const double *sorted, size_t count)
{
    if (count == 0) return NAN;
    if (count % 2) return sorted[count / 2];
    /* a + (b - a) / 2 keeps equal neighbours exact and cannot overflow */
    return sorted[count / 2 - 1] + (sorted[count / 2] - sorted[count / 2 - 1]) / 2;
}

/* Neumaier's compensated sum: a million samples lose no digits. */
double assay__stats_mean(const double *values, size_t count)
{
    if (count == 0) return NAN;
    double sum = 0, lost = 0;
    for (size_t i = 0; i < count; i++) {
        double next = sum + values[i];
        lost += fabs(sum) >= fabs(values[i]) ? (sum - next) + values[i] : (values[i] - next) + sum;
        sum = next;
    }
    return (sum + lost) / (double)count;
}

double assay__stats_stddev(const double *values, size_t count)
{
    if (count < 2) return NAN;
    double mean = assay__stats_mean(values, count), squares = 0, rest = 0;
    for (size_t i = 0; i < count; i++) {
        double d = values[i] - mean;
        squares += d * d;
        rest += d;
    }
    /* Corrected two-pass algorithm: `rest` would be 0 without rounding. */
    double variance = (squares - rest * rest / (double)count) / (double)(count - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

/* Integral of the step function of order statistics over [n/4, 3n/4], divided by n/2. */
double assay__stats_iqm(const double *sorted, size_t count)
{
    if (count == 0) return NAN;
    double begin = (double)count / 4, end = 3 * begin, sum = 0;
    for (size_t i = (size_t)begin; i < count && (double)i < end; i++) {
        double from = (double)i > begin ? (double)i : begin;
        double to = (double)(i + 1) < end ? (double)(i + 1) : end;
        sum += sorted[i] * (to - from);
    }
    return sum / (end - begin);
}

double assay__stats_mad(const double *values, size_t count, double median, double *scratch)
{
    for (size_t i = 0; i < count; i++)
        scratch[i] = fabs(values[i] - median);
    assay__stats_sort(scratch, count);
    return assay__stats_median(scratch, count);
}

/* With at most one of n queries over the latency bound, the claim "a share q is within" holds with
 * 99 % confidence when P(X <= 1) <= 0.01 for X ~ Binomial(n, 1 - q): q^n + n (1 - q) q^(n - 1) <=
 * 0.01. */
static bool enough(double q, double count)
{
    double log_tail = (count - 1) * log(q) + log(q + count * (1 - q));
    return log_tail <= log(0.01);
}

size_t assay__stats_percentile_needs(double q)
{
    if (!(q > 0)) return 1;
    if (q >= 1) return SIZE_MAX;
    size_t low = 1, high = 2;
    while (!enough(q, (double)high)) {
        if (high > SIZE_MAX / 4) return SIZE_MAX;
        low = high;
        high *= 2;
    }
    while (high - low > 1) { /* low is not enough, high is */
        size_t middle = low + (high - low) / 2;
        if (enough(q, (double)middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Ranks r and m + 1 - r of m = floor(n / tau) independent samples lie (m + 1)/2 - r from the
 * middle; stretched by n / m they are the ranks among the n correlated ones, rounded outwards. */
struct assay__interval assay__stats_median_interval(const double *sorted, size_t count, double tau)
{
    struct assay__interval interval = {NAN, NAN, false};
    if (count == 0 || isnan(tau)) return interval;
    if (tau < 1) tau = 1;
    size_t effective = (size_t)((double)count / tau);
    size_t rank = assay__binomial_half_rank(effective, 0.05);
    if (rank == 0) return interval;
    double reach = ((double)(effective + 1) / 2 - (double)rank) * (double)count / (double)effective;
    double centre = (double)(count + 1) / 2;
    double low = floor(centre - reach + 1e-9), high = ceil(centre + reach - 1e-9);
    size_t low_rank = low < 1 ? 1 : (size_t)low;
    size_t high_rank = high > (double)count ? count : (size_t)high;
    return (struct assay__interval){sorted[low_rank - 1], sorted[high_rank - 1], true};
}

/* A MAD of zero (a coarse clock: more than half the samples equal) gives no scale: nothing is
 * called an outlier. */
size_t assay__stats_outliers(const double *values, size_t count, double median, double mad)
{
    size_t outliers = 0;
    if (!(mad > 0)) return 0;
    for (size_t i = 0; i < count; i++)
        outliers += fabs(values[i] - median) / mad > 14.826;
    return outliers;
}

/* --- Binomial(n, 1/2) ------------------------------------------------------------------------- */

/* Tail sums from the largest term down, which is exact to rounding for every n. The largest term
 * comes from log-factorials: a running sum below 256, Stirling's series above (three terms: error
 * below 1e-17 there). lgamma() is not used because it writes a global variable. */
static double log_factorial(size_t n)
{
    if (n < 256) {
        double sum = 0;
        for (size_t i = 2; i <= n; i++)
            sum += log((double)i);
        return sum;
    }
    double x = (double)n;
    return (x + 0.5) * log(x) - x + 0.91893853320467274178 + /* ln(2 pi) / 2 */
           1 / (12 * x) - 1 / (360 * x * x * x) + 1 / (1260 * x * x * x * x * x);
}

double assay__binomial_half_cdf(size_t n, size_t k)
{
    if (k >= n) return 1;
    if (2 * k >= n)
        return 1 - assay__binomial_half_cdf(n, n - k - 1); /* symmetry: sum the shorter tail */
    double term = exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) -
                      (double)n * 0.69314718055994530942);
    double sum = term;
    /* C(n, i - 1) = C(n, i) i / (n - i + 1); the terms fall faster than a geometric series below
     * the middle */
    for (size_t i = k; i > 0 && term > sum * 1e-18; i--) {
        term *= (double)i / (double)(n - i + 1);
        sum += term;
    }
    return sum < 1 ? sum : 1;
}

size_t assay__binomial_half_rank(size_t n, double alpha)
{
    if (n == 0 || 2 * assay__binomial_half_cdf(n, 0) > alpha) return 0;
    /* Largest r in [1, (n + 1) / 2] with 2 P(X <= r - 1) <= alpha; the tail grows with r. */
    size_t low = 1, high = (n + 1) / 2;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        if (2 * assay__binomial_half_cdf(n, middle - 1) <= alpha)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}
