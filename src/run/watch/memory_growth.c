/* memory_growth.c - estimates how much memory grows per inference. The slope is Theil's and Sen's:
 * the median of the slopes of all pairs of marks, which is not affected by a cache that fills once.
 * Its interval is Sen's (1968): with N = n (n - 1) / 2 pairs and sigma² = n (n - 1) (2 n + 5) / 18,
 * the slopes of rank (N ∓ 1.96 sigma) / 2. That assumes independent marks, which they need not be;
 * so the interval extends to at least twice the IQR of the marks about the line, over the whole
 * length, on either side. At most 300 evenly spaced marks are used.
 *
 * A leak continues; a cache or a pool that fills grows too, but less and less. So the marks are cut
 * into thirds, and growth counts as steady only if the last third has at least 2/3 of the slope of
 * each third before it. Otherwise the answer is the last third's slope and the interval is extended
 * to include 0.
 *
 * Smallest growth that would have been detected: adding b to every slope moves the interval and the
 * thirds' slopes by b, so steady growth of b on top of these marks is detected if low + b > 0 and
 * last + b >= 2/3 (other + b), that is b >= 2 other - 3 last. Growth that comes in blocks is a
 * staircase: it takes about two steps in each third to distinguish it from a single step. */
#include "run/watch/memory_growth.h"

#include "base/stats.h"

#include <assay/error.h>
#include <math.h>
#include <stdlib.h>

#define POINTS 300u
#define STEADY (2.0 / 3.0) /* of an earlier third's slope, at least */
#define STEPS 8.0          /* of a staircase, at least */

static size_t points_of(size_t count)
{
    return count < POINTS ? count : POINTS;
}

/* The slopes of all pairs of at most 300 marks, sorted. `slopes` has room for them all. */
static size_t fill_slopes(const int64_t *live_bytes, size_t count, double *slopes)
{
    size_t points = points_of(count), at = 0;
    for (size_t i = 0; i < points; i++)
        for (size_t j = i + 1; j < points; j++) {
            size_t from = i * (count - 1) / (points - 1), to = j * (count - 1) / (points - 1);
            slopes[at++] = (double)(live_bytes[to] - live_bytes[from]) / (double)(to - from);
        }
    assay__stats_sort(slopes, at);
    return at;
}

/* scratch: at least `points`. */
static void widen(const int64_t *live_bytes, size_t count, double *scratch,
                  struct assay__growth *growth)
{
    size_t points = points_of(count);
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

/* Does the growth continue, and how large a growth would have been detected? `thirds`: their
 * slopes, in order. */
static void decide_settled(const double thirds[3], struct assay__growth *growth)
{
    double sign = growth->bytes < 0 ? -1 : 1;
    double last = sign * thirds[2], before = fmax(sign * thirds[0], sign * thirds[1]);
    bool shown = growth->low > 0 || growth->high < 0;
    growth->settled = shown && last < STEADY * before;
    if (shown && !growth->settled) {
        growth->smallest = fmax(growth->high - growth->bytes, growth->bytes - growth->low);
        return;
    }
    growth->smallest = fmax(0, fmax(-growth->low, 2 * fmax(thirds[0], thirds[1]) - 3 * thirds[2]));
    if (!growth->settled) return;
    growth->bytes = thirds[2];
    growth->low = fmin(fmin(growth->low, thirds[2]), 0);
    growth->high = fmax(fmax(growth->high, thirds[2]), 0);
}

int assay__memory_growth(const int64_t *live_bytes, size_t count, struct assay__growth *growth)
{
    *growth = (struct assay__growth){NAN, NAN, NAN, NAN, NAN, false, false, NAN};
    if (count < ASSAY__GROWTH_LEAST) return 0;
    size_t points = points_of(count);
    double *slopes = malloc(points * (points - 1) / 2 * sizeof *slopes), thirds[3];
    if (!slopes) return ASSAY_ENOMEM;
    for (size_t i = 0; i < 3; i++) {
        size_t from = i * count / 3, to = (i + 1) * count / 3;
        thirds[i] = assay__stats_median(slopes, fill_slopes(live_bytes + from, to - from, slopes));
    }
    size_t pairs = fill_slopes(live_bytes, count, slopes);
    double n = (double)points, reach = 1.96 * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    double low = floor(((double)pairs - reach) / 2), high = ceil(((double)pairs + reach) / 2);
    growth->bytes = assay__stats_median(slopes, pairs);
    growth->low = slopes[low > 0 ? (size_t)low : 0];
    growth->high = slopes[high < (double)pairs ? (size_t)high : pairs - 1];
    widen(live_bytes, count, slopes, growth);
    growth->flat = true;
    for (size_t i = 1; i < count; i++)
        growth->flat &= live_bytes[i] == live_bytes[0];
    growth->total = (double)(live_bytes[count - 1] - live_bytes[0]);
    growth->every = floor((double)count / STEPS);
    decide_settled(thirds, growth);
    free(slopes);
    return 0;
}
