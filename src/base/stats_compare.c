/* stats_compare.c - is b slower than a? The process is the unit of replication: the inputs are
 * per-launch medians.
 *
 * The test is the exact permutation test on ranks (Wilcoxon 1945, Mann and Whitney 1947) and the
 * interval of the ratio is its inversion: the pairwise ratios b_j / a_i in order, from the k-th
 * smallest to the k-th largest (Moses; Hodges and Lehmann 1963). So the interval excludes 1 exactly
 * when p < 0.05, no resampling noise enters, and with 10 launches per arm two identical programs
 * are called different in 4.3 % of comparisons. A bootstrap of medians was not used: with 10
 * launches it is too narrow. Ties count against a difference. Assumes that both arms have the same
 * distribution up to a factor (alternating launches on one machine). Changes in the machine that
 * last longer than a launch affect both arms equally when they alternate: this widens the interval
 * and lets the test claim less, never more. A test on pairs (the signed ranks of each round) would
 * detect more despite such drift, but it was tried and claims too much if neighbouring launches are
 * correlated: with a fixed order (a b, b a, …) the pairs are not independent.
 * doc/results/comparisons.md has the numbers. */
#include "base/checked.h"
#include "base/stats.h"

#include <assay/error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES_LEAST 5
#define EXACT_PAIRS 625 /* 25 launches per arm; beyond, the normal approximation is as good */

/* A true difference as large as the distance from the ratio to the farther end of its interval is
 * detected in only 65 % of runs. One and a half times that distance, in logarithms, is detected in
 * 80 to 95 %: simulated with 5 to 20 launches and noise of several shapes. (Normal noise: (1.96 +
 * 1.28) / 1.96 = 1.65 half-widths are detected in 90 %, and the farther end is slightly more than
 * half a width away.) */
#define SHOWN_WIDTHS 1.5

struct rank_sum {
    size_t n, m;
    bool exact;
    double below[EXACT_PAIRS + 1]; /* P(U <= u) */
};

/* The number of arrangements of n and m launches with U = u, for every u <= n m, is the coefficient
 * of the Gaussian binomial prod_(i=1..m) (1 - x^(n+i)) / (1 - x^i), built factor by factor. */
static void prepare(struct rank_sum *test, size_t n, size_t m)
{
    size_t most = n * m;
    double *ways = test->below, total = 0, sum = 0;
    test->n = n;
    test->m = m;
    test->exact = n <= 25 && m <= 25; /* C(50, 25) < 2^53: every count is an exact integer */
    if (!test->exact) return;
    memset(ways, 0, (most + 1) * sizeof *ways);
    ways[0] = 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t u = most; u >= n + i; u--)
            ways[u] -= ways[u - n - i];
        for (size_t u = i; u <= most; u++)
            ways[u] += ways[u - i];
    }
    for (size_t u = 0; u <= most; u++)
        total += ways[u];
    for (size_t u = 0; u <= most; u++) {
        sum += ways[u];
        ways[u] = sum / total;
    }
}

/* min(1, 2 P(U <= u)) */
static double two_sided(const struct rank_sum *test, size_t u)
{
    double n = (double)test->n, m = (double)test->m;
    double z = ((double)u + 0.5 - n * m / 2) / sqrt(n * m * (n + m + 1) / 12);
    size_t most = test->n * test->m;
    double p = test->exact ? test->below[u <= most ? u : most]
                           : 0.5 * erfc(-z / 1.41421356237309504880);
    return fmin(1, 2 * p);
}

/* ratios: sorted. */
static void set_interval(struct assay__ratio *out, const double *ratios, size_t a_count,
                         size_t b_count, double level)
{
    struct rank_sum test;
    size_t pairs = a_count * b_count, above = 0, below = 0, k = 0;
    prepare(&test, a_count, b_count);
    while (k < pairs && two_sided(&test, k) < level)
        k++;
    /* k is now the rank of the interval's ends: U <= k - 1 is significant. */
    for (size_t i = 0; i < pairs; i++) {
        above += ratios[i] >= 1;
        below += ratios[i] <= 1;
    }
    out->p_value = two_sided(&test, above < below ? above : below);
    if (k == 0) return; /* cannot happen with 5 launches per arm: 2 / C(10, 5) = 0.8 % */
    out->ci.low = ratios[k - 1];
    out->ci.high = ratios[pairs - k];
    /* With skewed arms the ratio of medians may lie outside: widen the interval, so that it never
     * claims more than both do. */
    if (out->ratio < out->ci.low) out->ci.low = out->ratio;
    if (out->ratio > out->ci.high) out->ci.high = out->ratio;
    out->ci.known = true;
    if (out->ci.low <= 1 && out->ci.high >= 1 && out->p_value < level) out->p_value = level;
}

/* --- the fastest launches --------------------------------------------------------------------- */

/* Whether b is slower than a, judging by the least disturbed launches.
 *
 * Other work on a machine only adds time, and on a shared machine it adds it to whole launches: a
 * busy neighbour on the same core makes some of them 15 to 20 % slower, which hides a true
 * difference of 5 % from a test on all launches. This test uses only the fastest launches. Its
 * inputs are low percentiles of the launches, and its scores are k, k - 1, …, 1 for the k = 40 %
 * fastest launches of both arms together and 0 for the others (a percentile modified rank test:
 * Gastwirth 1965, J. Am. Stat. Assoc. 60). The sum of an arm's scores has an exact distribution
 * over all arrangements of the launches, whatever the noise looks like, so that it claims no more
 * than a test on all ranks. The interval is the test's inversion: a factor t belongs to it when b /
 * t and a are not distinguishable. Ties count against a difference. */
#define EXACT_LAUNCHES 50 /* of both arms: C(50, 25) < 2^53, every count is an exact integer */
#define SCORED_MOST 20    /* 40 % of them */
#define SUM_MOST (SCORED_MOST * (SCORED_MOST + 1) / 2)

struct arms {
    const double *a, *b; /* sorted */
    size_t n, m, scored;
    bool exact;
    double below[SUM_MOST + 1], above[SUM_MOST + 1]; /* P(T <= t), P(T >= t) */
};

static double choose(size_t n, size_t k)
{
    double ways = 1;
    for (size_t i = 1; i <= k; i++)
        ways = ways * (double)(n - k + i) / (double)i; /* a whole number after every step */
    return k <= n ? ways : 0;
}

/* Subsets of {1 … scored} by size and sum; the rest of the arm is any choice of the launches
 * without a score. */
static void count_arrangements(const struct arms *arms, double *ways)
{
    static const size_t width = SUM_MOST + 1;
    double subsets[(SCORED_MOST + 1) * (SUM_MOST + 1)] = {1};
    for (size_t score = 1; score <= arms->scored; score++)
        for (size_t size = score; size >= 1; size--)
            for (size_t sum = SUM_MOST; sum >= score; sum--)
                subsets[size * width + sum] += subsets[(size - 1) * width + sum - score];
    size_t rest = arms->n + arms->m - arms->scored;
    memset(ways, 0, width * sizeof *ways);
    for (size_t size = 0; size <= arms->scored && size <= arms->n; size++) {
        if (arms->n - size > rest) continue;
        double others = choose(rest, arms->n - size);
        for (size_t sum = 0; sum <= SUM_MOST; sum++)
            ways[sum] += subsets[size * width + sum] * others;
    }
}

static void prepare_arms(struct arms *arms)
{
    size_t launches = arms->n + arms->m;
    arms->scored = (2 * launches + 4) / 5;
    arms->exact = launches <= EXACT_LAUNCHES;
    if (!arms->exact) return;
    double ways[SUM_MOST + 1], total = 0, sum = 0;
    count_arrangements(arms, ways);
    for (size_t t = 0; t <= SUM_MOST; t++)
        total += ways[t];
    for (size_t t = 0; t <= SUM_MOST; t++) {
        arms->above[t] = (total - sum) / total;
        sum += ways[t];
        arms->below[t] = sum / total;
    }
}

static double mean_of(const struct arms *arms)
{
    double k = (double)arms->scored;
    return k * (k + 1) / 2 * (double)arms->n / (double)(arms->n + arms->m);
}

/* The normal approximation, for more launches than can be counted: P(T >= t) is that of -T. */
static double approximate(const struct arms *arms, double distance)
{
    double n = (double)arms->n, m = (double)arms->m, k = (double)arms->scored,
           sum = k * (k + 1) / 2;
    double squares = k * (k + 1) * (2 * k + 1) / 6 - sum * sum / (n + m);
    double deviation = sqrt(n * m / ((n + m) * (n + m - 1)) * squares);
    return 0.5 * erfc(-(distance + 0.5) / deviation / 1.41421356237309504880);
}

/* The scores of a and b / factor. The ratio is the same expression as the candidates for the
 * interval's ends, so ties are exact. */
static size_t scores_of(const struct arms *arms, double factor, bool a_first)
{
    size_t i = 0, j = 0, sum = 0;
    for (size_t score = arms->scored; score > 0; score--) {
        bool is_a = j == arms->m;
        if (!is_a && i < arms->n) {
            double ratio = arms->b[j] / arms->a[i];
            is_a = ratio > factor || (a_first && ratio == factor);
        }
        if (is_a) {
            sum += score;
            i++;
        } else {
            j++;
        }
    }
    return sum;
}

/* One-sided p-values, doubled: that b is slower than factor × a, and that it is faster. */
static double p_slower(const struct arms *arms, double factor)
{
    size_t t = scores_of(arms, factor, false);
    return fmin(1,
                2 * (arms->exact ? arms->above[t] : approximate(arms, mean_of(arms) - (double)t)));
}

static double p_faster(const struct arms *arms, double factor)
{
    size_t t = scores_of(arms, factor, true);
    return fmin(1,
                2 * (arms->exact ? arms->below[t] : approximate(arms, (double)t - mean_of(arms))));
}

/* A claim holds for all factors below some limit and for none above it. */
enum claim { IS_SLOWER, IS_NOT_FASTER, SCORES_ABOVE_MEAN, SCORES_AT_LEAST_MEAN };

static bool holds(const struct arms *arms, enum claim claim, double factor, double level)
{
    switch (claim) {
    case IS_SLOWER: return p_slower(arms, factor) < level;
    case IS_NOT_FASTER: return p_faster(arms, factor) >= level;
    case SCORES_ABOVE_MEAN: return (double)scores_of(arms, factor, false) > mean_of(arms);
    default: return (double)scores_of(arms, factor, true) >= mean_of(arms);
    }
}

/* For how many of the sorted ratios it holds; these come first. */
static size_t count_held(const struct arms *arms, const double *ratios, enum claim claim,
                         double level)
{
    size_t low = 0, high = arms->n * arms->m;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holds(arms, claim, ratios[middle], level))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void assay__ratio_of_fastest(const double *a, size_t a_count, const double *b, size_t b_count,
                             const double *ratios, double level, struct assay__ratio *out)
{
    struct arms arms = {.a = a, .b = b, .n = a_count, .m = b_count};
    size_t pairs = a_count * b_count;
    prepare_arms(&arms);
    size_t over = count_held(&arms, ratios, SCORES_ABOVE_MEAN, level),
           least = count_held(&arms, ratios, SCORES_AT_LEAST_MEAN, level);
    out->ratio = sqrt(ratios[over < pairs ? over : pairs - 1]) *
                 sqrt(ratios[least > 0 ? least - 1 : 0]);
    out->by = ASSAY__BY_UNDISTURBED;
    out->p_value = fmin(p_slower(&arms, 1), p_faster(&arms, 1));
    if (!holds(&arms, IS_SLOWER, ratios[0] / 2, level)) return; /* too few launches for any claim */
    size_t low = count_held(&arms, ratios, IS_SLOWER, level),
           high = count_held(&arms, ratios, IS_NOT_FASTER, level);
    if (low == pairs || high == 0) return;
    out->ci = (struct assay__interval){ratios[low], ratios[high - 1], true};
}

/* --- both ------------------------------------------------------------------------------------- */

static int check_arms(const double *a, size_t a_count, const double *b, size_t b_count,
                      size_t *bytes)
{
    size_t pairs;
    if (a_count < LAUNCHES_LEAST || b_count < LAUNCHES_LEAST) return ASSAY_EINVAL;
    for (size_t i = 0; i < a_count + b_count; i++) {
        double value = i < a_count ? a[i] : b[i - a_count];
        if (!isfinite(value) || value <= 0) return ASSAY_EINVAL;
    }
    if (assay__mul_overflows(a_count, b_count, &pairs) ||
        assay__mul_overflows(pairs, sizeof(double), bytes))
        return ASSAY_ENOMEM;
    return 0;
}

static int compare(const double *a, size_t a_count, const double *b, size_t b_count, double level,
                   enum assay__ratio_by by, struct assay__ratio *out)
{
    size_t bytes;
    *out = (struct assay__ratio)ASSAY__RATIO_UNKNOWN;
    int code = check_arms(a, a_count, b, b_count, &bytes);
    if (code) return code;
    double *x = malloc(a_count * sizeof *x), *y = malloc(b_count * sizeof *y);
    double *ratios = malloc(bytes);
    if (x && y && ratios) {
        memcpy(x, a, a_count * sizeof *x);
        memcpy(y, b, b_count * sizeof *y);
        assay__stats_sort(x, a_count);
        assay__stats_sort(y, b_count);
        for (size_t i = 0; i < a_count; i++)
            for (size_t j = 0; j < b_count; j++)
                ratios[i * b_count + j] = y[j] / x[i];
        assay__stats_sort(ratios, a_count * b_count);
        out->ratio = assay__stats_median(y, b_count) / assay__stats_median(x, a_count);
        if (by == ASSAY__BY_UNDISTURBED)
            assay__ratio_of_fastest(x, a_count, y, b_count, ratios, level, out);
        else
            set_interval(out, ratios, a_count, b_count, level);
        double up = out->ci.high / out->ratio, down = out->ratio / out->ci.low;
        if (out->ci.known) out->smallest = expm1(SHOWN_WIDTHS * log(fmax(up, down)));
    } else {
        code = ASSAY_ENOMEM;
    }
    free(x);
    free(y);
    free(ratios);
    return code;
}

int assay__stats_compare(const double *a, size_t a_count, const double *b, size_t b_count,
                         struct assay__ratio *out)
{
    return compare(a, a_count, b, b_count, 0.05, ASSAY__BY_TYPICAL, out);
}

/* -1: below 1, 1: above, 0: not distinguishable from 1 */
static int side_of(const struct assay__ratio *of)
{
    return of->ci.known ? (of->ci.low > 1) - (of->ci.high < 1) : 0;
}

static struct assay__ratio decide(const struct assay__ratio *typical,
                                  const struct assay__ratio *fastest)
{
    int side = side_of(typical), fast_side = side_of(fastest);
    bool narrower = fastest->ci.known &&
                    (!typical->ci.known || log(fastest->ci.high / fastest->ci.low) <
                                               log(typical->ci.high / typical->ci.low));
    struct assay__ratio made = side != 0 || (fast_side == 0 && !narrower) ? *typical : *fastest;
    made.p_value = fmin(1, 2 * fmin(typical->p_value, fastest->p_value));
    made.smallest = fmin(typical->smallest, fastest->smallest); /* fmin ignores NaN */
    if (side * fast_side < 0) { /* one has the lower medians, the other the lower 5th percentiles:
                                 * neither is claimed */
        made.ci.low = fmin(typical->ci.low, fastest->ci.low);
        made.ci.high = fmax(typical->ci.high, fastest->ci.high);
        made.p_value = 1;
        made.smallest = NAN; /* both showed one */
        made.by = ASSAY__BY_NEITHER;
    }
    return made;
}

int assay__stats_compare_launches(const struct assay__launch_times *a,
                                  const struct assay__launch_times *b, struct assay__ratio *out)
{
    struct assay__ratio typical, fastest;
    if (!a->undisturbed || !b->undisturbed)
        return assay__stats_compare(a->typical, a->count, b->typical, b->count, out);
    *out = (struct assay__ratio)ASSAY__RATIO_UNKNOWN;
    int code = compare(a->undisturbed, a->count, b->undisturbed, b->count, 0.025,
                       ASSAY__BY_UNDISTURBED, &fastest);
    if (code) return code;
    /* With five launches the 5th percentiles cannot show anything: only the medians are tested. */
    if (!fastest.ci.known)
        return assay__stats_compare(a->typical, a->count, b->typical, b->count, out);
    code = compare(a->typical, a->count, b->typical, b->count, 0.025, ASSAY__BY_TYPICAL, &typical);
    if (!code) *out = decide(&typical, &fastest);
    return code;
}

/* Between the ranks whose coverage lies around 95 %: Hettmansperger and Sheather, "Confidence
 * intervals based on interpolated order statistics", Statistics & Probability Letters 4 (1986). */
struct assay__interval assay__stats_launch_interval(const double *sorted, size_t count,
                                                    double *coverage)
{
    struct assay__interval interval = {NAN, NAN, false};
    if (coverage) *coverage = NAN;
    if (count < LAUNCHES_LEAST) return interval;
    size_t rank = assay__binomial_half_rank(count, 0.05);
    if (rank == 0) { /* five launches: the extremes, 93.75 % */
        if (coverage) *coverage = 1 - 2 * assay__binomial_half_cdf(count, 0);
        return (struct assay__interval){sorted[0], sorted[count - 1], true};
    }
    if (coverage) *coverage = 0.95;
    double outer = 1 - 2 * assay__binomial_half_cdf(count, rank - 1);
    double inner = 1 - 2 * assay__binomial_half_cdf(count, rank);
    double part = (outer - 0.95) / (outer - inner), n = (double)count, d = (double)rank;
    double inward = (n - d) * part / (d + (n - 2 * d) * part);
    return (struct assay__interval){
        sorted[rank - 1] + inward * (sorted[rank] - sorted[rank - 1]),
        sorted[count - rank] + inward * (sorted[count - rank - 1] - sorted[count - rank]), true};
}
