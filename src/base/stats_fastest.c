/* stats_fastest.c - is b slower than a, by the launches that were disturbed least?
 *
 * Whatever else runs on a machine only adds time, and on a shared one it adds it to whole launches:
 * a busy neighbour on the same core makes some of them 15 to 20 % slower, which hides a true
 * difference of 5 % from a test on all launches. This test looks at the fast end only. Its inputs
 * are low percentiles of the launches, and its scores are k, k - 1, …, 1 for the k = 40 % fastest
 * launches of both arms together and 0 for the others (a percentile modified rank test: Gastwirth
 * 1965, J. Am. Stat. Assoc. 60). The sum of an arm's scores has an exact distribution over all
 * arrangements of the launches, whatever the noise looks like, so that it claims no more than a
 * test on all ranks. The interval is the test's inversion: a factor t belongs to it when b / t and
 * a are not told apart. Ties count against a difference. */
#include "base/stats_ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void prepare(struct arms *arms)
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

static double at_most(const struct arms *arms, size_t t)
{
    return arms->exact ? arms->below[t] : approximate(arms, (double)t - mean_of(arms));
}

static double at_least(const struct arms *arms, size_t t)
{
    return arms->exact ? arms->above[t] : approximate(arms, mean_of(arms) - (double)t);
}

/* The scores of a beside b / factor. The ratio is the same expression as the candidates for the
 * interval's ends: ties are exact. */
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

/* One-sided, doubled: b is slower than factor × a; b is faster than that. */
static double p_slower(const struct arms *arms, double factor)
{
    return fmin(1, 2 * at_least(arms, scores_of(arms, factor, false)));
}

static double p_faster(const struct arms *arms, double factor)
{
    return fmin(1, 2 * at_most(arms, scores_of(arms, factor, true)));
}

typedef bool (*holds_fn)(const struct arms *arms, double factor, double limit);

static bool is_slower(const struct arms *arms, double factor, double level)
{
    return p_slower(arms, factor) < level;
}

static bool is_not_faster(const struct arms *arms, double factor, double level)
{
    return p_faster(arms, factor) >= level;
}

static bool scores_above(const struct arms *arms, double factor, double limit)
{
    return (double)scores_of(arms, factor, false) > limit;
}

static bool scores_at_least(const struct arms *arms, double factor, double limit)
{
    return (double)scores_of(arms, factor, true) >= limit;
}

/* How many of the sorted ratios it holds of; it holds of the first ones. */
static size_t count_held(const struct arms *arms, const double *ratios, size_t count,
                         holds_fn holds, double limit)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (holds(arms, ratios[middle], limit))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void estimate(const struct arms *arms, const double *ratios, size_t pairs,
                     struct assay__ratio *out)
{
    size_t over = count_held(arms, ratios, pairs, scores_above, mean_of(arms)),
           least = count_held(arms, ratios, pairs, scores_at_least, mean_of(arms));
    double low = ratios[over < pairs ? over : pairs - 1], high = ratios[least > 0 ? least - 1 : 0];
    out->ratio = sqrt(low) * sqrt(high);
}

void assay__ratio_of_fastest(const double *a, size_t a_count, const double *b, size_t b_count,
                             const double *ratios, double level, struct assay__ratio *out)
{
    struct arms arms = {.a = a, .b = b, .n = a_count, .m = b_count};
    size_t pairs = a_count * b_count;
    prepare(&arms);
    estimate(&arms, ratios, pairs, out);
    out->by = ASSAY__BY_UNDISTURBED;
    out->p_value = fmin(p_slower(&arms, 1), p_faster(&arms, 1));
    if (!is_slower(&arms, ratios[0] / 2, level)) return; /* too few launches for any claim */
    size_t low = count_held(&arms, ratios, pairs, is_slower, level),
           high = count_held(&arms, ratios, pairs, is_not_faster, level);
    if (low == pairs || high == 0) return;
    out->ci = (struct assay__interval){ratios[low], ratios[high - 1], true};
}
