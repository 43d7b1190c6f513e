/* binomial.c - Binomial(n, 1/2): tail sums from the largest term down, which is exact to rounding
 * for every n. The largest term comes from log-factorials: a running sum below 256, Stirling's
 * series above (three terms: error below 1e-17 there). lgamma() is not used because it writes a
 * global variable. */
#include "base/binomial.h"

#include <math.h>

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
