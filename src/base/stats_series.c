/* stats_series.c - statistics of samples in time order: autocorrelation, end of warm-up, drift; and
 * bimodality. Everything is linear in the sample count up to small factors and allocates nothing
 * (scratch is on the stack). */
#include "base/stats.h"

#include "base/search.h"

#include <math.h>
#include <string.h>

/* --- autocorrelation -------------------------------------------------------------------------- */

#define BLOCKS_MOST 8192 /* block means kept on the stack: 64 KiB */
#define LAG_MOST 1000
#define DIRECT_BUDGET 3e7 /* multiplications spent on the raw samples: about 20 ms */

/* Sum of (x_i - m)(x_(i+lag) - m); four sums let the processor overlap the additions. */
static double lagged_product(const double *x, size_t count, size_t lag, double mean)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t n = count - lag, i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += (x[i] - mean) * (x[i + lag] - mean);
        s1 += (x[i + 1] - mean) * (x[i + 1 + lag] - mean);
        s2 += (x[i + 2] - mean) * (x[i + 2 + lag] - mean);
        s3 += (x[i + 3] - mean) * (x[i + 3 + lag] - mean);
    }
    for (; i < n; i++)
        s0 += (x[i] - mean) * (x[i + lag] - mean);
    return (s0 + s1) + (s2 + s3);
}

double assay__stats_autocorrelation(const double *values, size_t count, size_t lag)
{
    if (count < 2 || lag >= count) return 0;
    double mean = assay__stats_mean(values, count);
    double variance = lagged_product(values, count, 0, mean);
    return variance > 0 ? lagged_product(values, count, lag, mean) / variance : 0;
}

/* 1 + 2 sum of rho_k up to `most` lags; *ended: a non-positive rho_k was met. */
static double integrated(const double *x, size_t count, size_t most, double *variance, bool *ended)
{
    double mean = assay__stats_mean(x, count), tau = 1;
    *variance = lagged_product(x, count, 0, mean);
    *ended = !(*variance > 0);
    for (size_t lag = 1; lag <= most && !*ended; lag++) {
        double rho = lagged_product(x, count, lag, mean) / *variance;
        if (rho <= 0)
            *ended = true;
        else
            tau += 2 * rho;
    }
    *variance /= (double)count;
    return tau;
}

/* Long memory in a long series: the variance of the mean is s^2 tau / n, and from means of B
 * samples it is s_B^2 tau_B / (n / B); so tau = B (s_B^2 / s^2) tau_B, with lags counted in
 * blocks. */
double assay__stats_autocorrelation_time(const double *values, size_t count)
{
    if (count < 8) return 1;
    size_t most = count / 4;
    if (most > LAG_MOST) most = LAG_MOST;
    size_t affordable = (size_t)(DIRECT_BUDGET / (double)count) + 16;
    double variance, block_variance;
    bool ended;
    double tau = integrated(values, count, most < affordable ? most : affordable, &variance,
                            &ended);
    if (ended || count <= BLOCKS_MOST) return tau;

    double blocks[BLOCKS_MOST];
    size_t size = (count + BLOCKS_MOST - 1) / BLOCKS_MOST, block_count = count / size;
    for (size_t i = 0; i < block_count; i++)
        blocks[i] = assay__stats_mean(values + i * size, size);
    size_t lags = block_count / 4 < LAG_MOST ? block_count / 4 : LAG_MOST;
    double block_tau = integrated(blocks, block_count, lags, &block_variance, &ended);
    double long_tau = (double)size * block_variance / variance * block_tau;
    return long_tau > tau ? long_tau : tau;
}

/* --- warm-up ---------------------------------------------------------------------------------- */

#define BLOCK_SAMPLES 1024

/* Median of a block; for a long block, of evenly spaced samples. */
static double block_median(const double *values, size_t count)
{
    double copy[BLOCK_SAMPLES];
    size_t stride = (count + BLOCK_SAMPLES - 1) / BLOCK_SAMPLES, kept = 0;
    for (size_t i = 0; i < count && kept < BLOCK_SAMPLES; i += stride)
        copy[kept++] = values[i];
    assay__stats_sort(copy, kept);
    return assay__stats_median(copy, kept);
}

/* Warm-up is a different level, not more noise: the median of what is cut must differ by more than
 * 1 % from that of the rest. */
#define WARMUP_LEVEL 0.01
#define WARMUP_RANGES 16

/* MSER-5 (White 1997): with batches of five, drop the first d that minimise s^2(d) / (k - d), the
 * squared standard error of what remains; d at most half. The batches are medians, not means: one
 * page fault late in the first half would otherwise be mistaken for the end of warm-up. The sums
 * run backwards (Welford), so one pass suffices. MSER also cuts after a burst of noise in the
 * middle of a run; a cut whose two sides have the same level is rejected. The search then continues
 * within the first half of that range, and so on, so that a short slow start before a burst is
 * still found. */
size_t assay__stats_warmup_end(const double *values, size_t count)
{
    size_t batches = count / 5, best[WARMUP_RANGES] = {0};
    double mean = 0, squares = 0, least[WARMUP_RANGES];
    if (batches < 4) return 0;
    for (size_t r = 0; r < WARMUP_RANGES; r++)
        least[r] = INFINITY;
    for (size_t d = batches; d-- > 0;) {
        double x = block_median(values + 5 * d, 5), kept = (double)(batches - d);
        double delta = x - mean;
        mean += delta / kept;
        squares += delta * (x - mean);
        double score = squares / (kept * kept);
        for (size_t r = 0; r < WARMUP_RANGES && d <= (batches / 2) >> r; r++) {
            if (score > least[r]) continue; /* ties go to the smaller d: drop no more than needed */
            least[r] = score;
            best[r] = d;
        }
    }
    for (size_t r = 0; r < WARMUP_RANGES; r++) {
        size_t end = 5 * best[r];
        if (end == 0) continue;
        double before = block_median(values, end), after = block_median(values + end, count - end);
        if (fabs(before - after) > WARMUP_LEVEL * fabs(after)) return end;
    }
    return 0;
}

/* --- drift ------------------------------------------------------------------------------------ */

#define DRIFT_BLOCKS 40
#define DRIFT_LEAST 8

/* Mann-Kendall: S = sum of sign(x_j - x_i), i < j; variance with correction for ties;
 * continuity-corrected normal. */
static double mann_kendall(const double *x, size_t count)
{
    double s = 0, n = (double)count, sorted[DRIFT_BLOCKS];
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++)
            s += (x[j] > x[i]) - (x[j] < x[i]);
    double variance = n * (n - 1) * (2 * n + 5);
    memcpy(sorted, x, count * sizeof *sorted);
    assay__stats_sort(sorted, count);
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i + 1; j < count && sorted[j] == sorted[i]; j++) {
        }
        double ties = (double)(j - i);
        variance -= ties * (ties - 1) * (2 * ties + 5);
    }
    variance /= 18;
    if (!(variance > 0) || s == 0) return 1;
    return erfc((fabs(s) - 1) / sqrt(variance) / 1.41421356237309504880);
}

double assay__stats_drift(const double *values, size_t count, double *p_value)
{
    double medians[DRIFT_BLOCKS], sorted[DRIFT_BLOCKS];
    size_t blocks = count / 5 < DRIFT_BLOCKS ? count / 5 : DRIFT_BLOCKS;
    if (p_value) *p_value = NAN;
    if (blocks < DRIFT_LEAST) return NAN; /* too few */
    for (size_t i = 0; i < blocks; i++) {
        size_t begin = i * count / blocks, end = (i + 1) * count / blocks;
        medians[i] = sorted[i] = block_median(values + begin, end - begin);
    }
    if (p_value) *p_value = mann_kendall(medians, blocks);
    assay__stats_sort(sorted, blocks);
    double level = assay__stats_median(sorted, blocks);
    double slopes[DRIFT_BLOCKS * (DRIFT_BLOCKS - 1) / 2]; /* Theil-Sen */
    size_t used = 0;
    for (size_t i = 0; i < blocks; i++)
        for (size_t j = i + 1; j < blocks; j++)
            slopes[used++] = (medians[j] - medians[i]) / (double)(j - i);
    assay__stats_sort(slopes, used);
    double change = assay__stats_median(slopes, used) * (double)(blocks - 1);
    return level != 0 ? change / fabs(level) : NAN;
}

/* --- bimodality ------------------------------------------------------------------------------- */

#define MODE_SAMPLES 64 /* with fewer samples valleys occur by chance */
#define MODE_SHARE 0.10
#define MODE_DISTANCE 0.02 /* of the median: closer modes count as one level */
#define MODE_APART 0.05    /* of the median, or MODE_RANGES interquartile ranges of a part */
#define MODE_RANGES 5
#define MODE_STEPS 8
#define CLOCK_STEPS 8 /* closer modes are clock steps */
#define GRID_VALUES 4 /* with fewer distinct values they are levels, not a grid */

static double within(const double *sorted, size_t count, double centre, double reach)
{
    return (double)(assay__count_below(sorted, count, centre + reach) -
                    assay__count_below(sorted, count, centre - reach));
}

/* Otsu (1979): the split that maximises the variance between the two parts, among those where each
 * part has its minimum share. Both 2.5 % tails are left out: a few outliers would pull the split to
 * themselves. */
static size_t best_split(const double *sorted, size_t count)
{
    size_t skip = count / 40, first = (size_t)ceil(MODE_SHARE * (double)count), best = first;
    double total = 0, left = 0, most = -1, base = sorted[count / 2];
    for (size_t i = skip; i < count - skip; i++)
        total += sorted[i] - base;
    for (size_t i = skip; i < count - first; i++) {
        double n1 = (double)(i - skip), n2 = (double)(count - skip - i);
        if (i >= first) {
            double gap = left / n1 - (total - left) / n2;
            if (n1 * n2 * gap * gap > most) {
                most = n1 * n2 * gap * gap;
                best = i;
            }
        }
        left += sorted[i] - base;
    }
    return best;
}

/* The smallest distance between distinct values: the grid of the samples. 0: unknown. */
static double grid_of(const double *sorted, size_t count)
{
    double least = INFINITY;
    size_t distinct = 1;
    for (size_t i = 1; i < count; i++) {
        double gap = sorted[i] - sorted[i - 1];
        if (!(gap > 1e-12 * fabs(sorted[i]))) continue; /* rounding of the same value */
        if (gap < least) least = gap;
        distinct++;
    }
    return distinct < GRID_VALUES ? 0 : least;
}

/* There are two modes when they are far enough from each other (beyond the clock's steps, and by 5
 * % of the median or by five times the spread of either part) and, between the medians of Otsu's
 * two parts, there is a valley: a window (an eighth of the distance wide) with less than half as
 * many samples as the same window at the smaller mode, beyond chance (three standard deviations of
 * a Poisson count). A normal or a uniform distribution has no such valley. On a grid the window is
 * a whole number of steps wide, so that it contains the same number of grid points everywhere:
 * otherwise the gap between two ticks would be the valley; and one step wider than that, because
 * ticks that are off by a ns may fall inside or outside its edges. */
bool assay__stats_bimodal(const double *sorted, size_t count, double step, double *low_mode,
                          double *high_mode, double *high_share)
{
    if (count < MODE_SAMPLES) return false;
    size_t split = best_split(sorted, count);
    double low = assay__stats_median(sorted, split);
    double high = assay__stats_median(sorted + split, count - split);
    double distance = high - low, reach = distance / MODE_STEPS;
    step = fmax(step, grid_of(sorted, count)); /* fmax ignores a NaN */
    double median = fabs(assay__stats_median(sorted, count));
    double range = fmax(assay__stats_percentile(sorted, split, 0.75) -
                            assay__stats_percentile(sorted, split, 0.25),
                        assay__stats_percentile(sorted + split, count - split, 0.75) -
                            assay__stats_percentile(sorted + split, count - split, 0.25));
    if (!(distance > MODE_DISTANCE * median) || distance < CLOCK_STEPS * step ||
        (distance < MODE_APART * median && !(distance >= MODE_RANGES * range)))
        return false;
    const double half = (step > 0 ? (ceil(reach / step) + 1) * step : reach) / 2;
    double valley = INFINITY, threshold = low;
    for (int i = 2; i <= MODE_STEPS - 2; i++) {
        double at = low + i * reach, here = within(sorted, count, at, half);
        if (here < valley) {
            valley = here;
            threshold = at;
        }
    }
    double low_peak = within(sorted, count, low, half);
    double high_peak = within(sorted, count, high, half);
    double peak = low_peak < high_peak ? low_peak : high_peak;
    if (!(valley < peak / 2) || peak - valley < 3 * sqrt(peak + valley)) return false;
    size_t below = assay__count_below(sorted, count, threshold);
    double share = (double)(count - below) / (double)count;
    if (share < MODE_SHARE || share > 1 - MODE_SHARE) return false;
    if (low_mode) *low_mode = assay__stats_median(sorted, below);
    if (high_mode) *high_mode = assay__stats_median(sorted + below, count - below);
    if (high_share) *high_share = share;
    return true;
}
