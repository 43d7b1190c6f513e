/* memory_growth.c - see memory_growth.h. The slope is Theil's and Sen's: the median of the slopes of all pairs of marks, which a cache
 * that fills once does not move. Its interval is Sen's (1968): with N = n (n - 1) / 2 pairs and sigma² = n (n - 1) (2 n + 5) / 18, the
 * slopes of rank (N ∓ 1.96 sigma) / 2. That takes the marks as independent, which they need not be; so the interval reaches at least twice
 * the quartile range of the marks about the line, over the whole length, to either side. At most 300 evenly spaced marks are used.
 *
 * Smallest growth that would have shown: what the interval leaves open, and where none shows at least the marks' own range over the whole
 * length; marks that are all equal leave one byte over the whole length. */
#include "run/memory_growth.h"

#include "base/stats.h"

#include <assay/error.h>
#include <math.h>
#include <stdlib.h>

#define POINTS 300u

static double smallest_of(const int64_t *live_bytes, size_t count,
                          const struct assay__growth *growth)
{
    int64_t least = live_bytes[0], most = live_bytes[0];
    for (size_t i = 1; i < count; i++) {
        if (live_bytes[i] < least) least = live_bytes[i];
        if (live_bytes[i] > most) most = live_bytes[i];
    }
    double range = most > least ? (double)(most - least) : 1;
    double open = fmax(growth->high - growth->bytes, growth->bytes - growth->low);
    if (growth->low > 0 || growth->high < 0) return fmax(open, 1 / (double)(count - 1));
    return fmax(open, range / (double)(count - 1));
}

/* scratch: at least `points`. */
static void widen(const int64_t *live_bytes, size_t count, size_t points, double *scratch,
                  struct assay__growth *growth)
{
    for (size_t i = 0; i < points; i++) {
        size_t at = i * (count - 1) / (points - 1);
        scratch[i] = (double)(live_bytes[at] - live_bytes[0]) - growth->bytes * (double)at;
    }
    assay__stats_sort(scratch, points);
    double quartiles = assay__stats_percentile(scratch, points, 0.75) -
                       assay__stats_percentile(scratch, points, 0.25);
    double reach = 2 * quartiles / (double)(count - 1);
    growth->low = fmin(growth->low, growth->bytes - reach);
    growth->high = fmax(growth->high, growth->bytes + reach);
}

int assay__memory_growth(const int64_t *live_bytes, size_t count, struct assay__growth *growth)
{
    *growth = (struct assay__growth){NAN, NAN, NAN, NAN};
    if (count < ASSAY__GROWTH_LEAST) return 0;
    size_t points = count < POINTS ? count : POINTS, pairs = points * (points - 1) / 2, at = 0;
    double *slopes = malloc(pairs * sizeof *slopes);
    if (!slopes) return ASSAY_ENOMEM;
    for (size_t i = 0; i < points; i++)
        for (size_t j = i + 1; j < points; j++) {
            size_t from = i * (count - 1) / (points - 1), to = j * (count - 1) / (points - 1);
            slopes[at++] = (double)(live_bytes[to] - live_bytes[from]) / (double)(to - from);
        }
    assay__stats_sort(slopes, pairs);
    double n = (double)points, reach = 1.96 * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    double low = floor(((double)pairs - reach) / 2), high = ceil(((double)pairs + reach) / 2);
    growth->bytes = assay__stats_median(slopes, pairs);
    growth->low = slopes[low > 0 ? (size_t)low : 0];
    growth->high = slopes[high < (double)pairs ? (size_t)high : pairs - 1];
    widen(live_bytes, count, points, slopes, growth);
    growth->smallest = smallest_of(live_bytes, count, growth);
    free(slopes);
    return 0;
}
