/* test_stats_fastest.c - comparing launches by their medians and by their fast ends: the exact
 * distribution against brute force, what busy neighbours hide and what they do not, and that two
 * questions together claim no more than one may. Seeds are fixed. */
#include "harness.h"

#include "base/stats.h"
#include "base/stats.h"

#include <assay/error.h>

#define ARM 10

static void sort_ratios(const double *a, size_t n, const double *b, size_t m, double *ratios)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            ratios[i * m + j] = b[j] / a[i];
    assay__stats_sort(ratios, n * m);
}

/* Score k - rank for the k fastest of both arms, as the file defines it. `set`: bit r is set when
 * the launch of rank r is a's. */
static unsigned scores_of_set(unsigned set, unsigned scored)
{
    unsigned sum = 0;
    for (unsigned rank = 0; rank < scored; rank++)
        if (set >> rank & 1) sum += scored - rank;
    return sum;
}

/* Two-sided p of `set` by going through every arrangement. */
static double p_by_force(unsigned set, unsigned n, unsigned launches)
{
    unsigned scored = (2 * launches + 4) / 5, seen = scores_of_set(set, scored);
    double all = 0, below = 0, above = 0;
    for (unsigned other = 0; other < 1u << launches; other++) {
        if ((unsigned)__builtin_popcount(other) != n) continue;
        unsigned sum = scores_of_set(other, scored);
        all++;
        below += sum <= seen;
        above += sum >= seen;
    }
    return fmin(1, 2 * fmin(below, above) / all);
}

static void test_exact_distribution(void)
{
    static const struct {
        unsigned n, m;
    } sizes[] = {{5, 5}, {5, 8}, {7, 6}, {6, 9}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        unsigned n = sizes[s].n, launches = n + sizes[s].m, tried = 0;
        for (unsigned set = 0; set < 1u << launches; set++) {
            if ((unsigned)__builtin_popcount(set) != n || set % 3) continue; /* a third of them */
            double a[16], b[16], ratios[256];
            size_t i = 0, j = 0;
            for (unsigned rank = 0; rank < launches; rank++)
                *(set >> rank & 1 ? &a[i++] : &b[j++]) = 1 + 0.01 * rank;
            sort_ratios(a, i, b, j, ratios);
            struct assay__ratio found = ASSAY__RATIO_UNKNOWN;
            assay__ratio_of_fastest(a, i, b, j, ratios, 0.05, &found);
            CHECK_NEAR(found.p_value, p_by_force(set, n, launches), 1e-12);
            bool excludes = found.ci.known && (found.ci.low > 1 || found.ci.high < 1);
            CHECK(excludes == (found.p_value < 0.05));
            if (++tried == 50) break;
        }
        CHECK_INT(tried, 50);
    }
}

/* Seven launches of each are 1 ± 0.2 % and 1.05 times that, three of each 12 to 19 % slower in an
 * order that says nothing. */
static void fill_busy(double *a, double *b, size_t slow_of_a, size_t slow_of_b)
{
    static const double slow[] = {1.19, 1.12, 1.16, 1.14, 1.18};
    for (size_t i = 0; i < ARM; i++) {
        a[i] = 1 + 0.0004 * (double)i;
        b[i] = 1.05 * (1 + 0.0004 * (double)i);
        if (i < slow_of_a) a[i] = slow[i];
        if (i < slow_of_b) b[i] = slow[4 - i];
    }
}

static void test_busy_neighbours_hide_less(void)
{
    double a[ARM], b[ARM];
    struct assay__ratio whole, found, back;
    fill_busy(a, b, 4, 2); /* chance gave the faster program more of the bad launches */
    const struct assay__launch_times x = {a, a, ARM}, y = {b, b, ARM};
    CHECK_INT(assay__stats_compare(a, ARM, b, ARM, &whole), 0);
    CHECK(whole.ci.low < 1 && whole.p_value > 0.05);
    CHECK_INT(assay__stats_compare_launches(&x, &y, &found), 0);
    CHECK_INT(found.by, ASSAY__BY_UNDISTURBED);
    CHECK(found.ci.low > 1.04 && found.ci.high < 1.2 && found.p_value < 0.05);
    CHECK_NEAR(found.ratio, 1.05, 0.005);
    CHECK(found.smallest < whole.smallest);
    CHECK_INT(assay__stats_compare_launches(&y, &x, &back), 0);
    CHECK_NEAR(back.ratio, 1 / found.ratio, 1e-9);
    CHECK_NEAR(back.ci.low, 1 / found.ci.high, 1e-9);
    CHECK_NEAR(back.p_value, found.p_value, 1e-12);
}

static void test_medians_come_first(void)
{
    double a[ARM], b[ARM], fast_a[ARM], fast_b[ARM];
    struct assay__ratio found;
    for (size_t i = 0; i < ARM; i++) {
        a[i] = 2 + 0.001 * (double)i;
        b[i] = 2.2 + 0.001 * (double)i;
        fast_a[i] = 1 + 0.001 * (double)i;
        fast_b[i] = 1.0005 + 0.001 * (double)i;
    }
    const struct assay__launch_times x = {a, fast_a, ARM}, y = {b, fast_b, ARM};
    CHECK_INT(assay__stats_compare_launches(&x, &y, &found), 0);
    CHECK_INT(found.by, ASSAY__BY_TYPICAL);
    CHECK_NEAR(found.ratio, 2.2045 / 2.0045, 1e-9);
    CHECK(found.ci.low > 1 && found.p_value < 0.001);
}

static void test_opposite_answers_are_none(void)
{
    double a[ARM], b[ARM], fast_a[ARM], fast_b[ARM];
    struct assay__ratio found;
    for (size_t i = 0; i < ARM; i++) {
        a[i] = 2 + 0.001 * (double)i;
        b[i] = 2.2 + 0.001 * (double)i; /* usually slower, */
        fast_a[i] = 1 + 0.001 * (double)i;
        fast_b[i] = 0.9 + 0.001 * (double)i; /* at its best faster */
    }
    const struct assay__launch_times x = {a, fast_a, ARM}, y = {b, fast_b, ARM};
    CHECK_INT(assay__stats_compare_launches(&x, &y, &found), 0);
    CHECK(found.ci.low < 0.92 && found.ci.high > 1.09);
    CHECK_INT(found.by, ASSAY__BY_NEITHER);
    CHECK(isnan(found.smallest)); /* it was shown, twice */
    CHECK_NEAR(found.p_value, 1, 0);
}

static void test_without_fast_ends_it_is_the_rank_test(void)
{
    double a[ARM], b[ARM];
    struct assay__ratio whole, found;
    fill_busy(a, b, 3, 3);
    const struct assay__launch_times x = {a, NULL, ARM}, y = {b, b, ARM};
    CHECK_INT(assay__stats_compare(a, ARM, b, ARM, &whole), 0);
    CHECK_INT(assay__stats_compare_launches(&x, &y, &found), 0);
    CHECK(memcmp(&whole, &found, sizeof found) == 0 || found.p_value == whole.p_value);
    CHECK_NEAR(found.ci.low, whole.ci.low, 0);
    /* five launches: the four fastest of ten cannot be unlikely enough */
    const struct assay__launch_times few_x = {a, a, 5}, few_y = {b, b, 5};
    CHECK_INT(assay__stats_compare(a, 5, b, 5, &whole), 0);
    CHECK_INT(assay__stats_compare_launches(&few_x, &few_y, &found), 0);
    CHECK_NEAR(found.p_value, whole.p_value, 0);
    const struct assay__launch_times none = {a, a, 4};
    CHECK_INT(assay__stats_compare_launches(&none, &few_y, &found), ASSAY_EINVAL);
    b[3] = 0;
    const struct assay__launch_times bad = {b, b, ARM}, good = {a, a, ARM};
    CHECK_INT(assay__stats_compare_launches(&good, &bad, &found), ASSAY_EINVAL);
    CHECK(isnan(found.ratio));
}

static void test_equal_launches_are_equal(void)
{
    double a[ARM];
    struct assay__ratio found;
    for (size_t i = 0; i < ARM; i++)
        a[i] = 1;
    const struct assay__launch_times x = {a, a, ARM};
    CHECK_INT(assay__stats_compare_launches(&x, &x, &found), 0);
    CHECK_NEAR(found.ratio, 1, 0);
    CHECK_NEAR(found.ci.low, 1, 0);
    CHECK_NEAR(found.ci.high, 1, 0);
    CHECK_NEAR(found.p_value, 1, 0);
}

/* One launch: 40 % of them are 18 % slower, the others differ by 0.5 %. */
static void draw(struct assay__random *random, size_t count, double factor, double *typical,
                 double *fast)
{
    for (size_t i = 0; i < count; i++) {
        double level = factor * (1 + 0.005 * assay__random_normal(random));
        bool busy = assay__random_unit(random) < 0.4;
        typical[i] = level * (busy ? 1.18 + 0.03 * assay__random_unit(random) : 1.01);
        fast[i] = level * (busy && assay__random_unit(random) < 0.7 ? 1.17 : 1);
    }
}

struct share {
    size_t claimed, right,
        by_medians; /* right: "slower"; what the rank test on the medians alone says */
};

static struct share share_of(size_t count, double factor, size_t rounds, uint64_t seed)
{
    struct assay__random random;
    struct share share = {0};
    static double a[64], b[64], fast_a[64], fast_b[64];
    assay__random_seed(&random, seed);
    for (size_t i = 0; i < rounds; i++) {
        struct assay__ratio found, medians;
        draw(&random, count, 1, a, fast_a);
        draw(&random, count, factor, b, fast_b);
        const struct assay__launch_times x = {a, fast_a, count}, y = {b, fast_b, count};
        if (assay__stats_compare_launches(&x, &y, &found)) continue;
        share.claimed += found.ci.low > 1 || found.ci.high < 1;
        share.right += found.ci.low > 1;
        if (assay__stats_compare(a, count, b, count, &medians)) continue;
        share.by_medians += medians.ci.low > 1;
        if ((found.p_value < 0.05) != (found.ci.low > 1 || found.ci.high < 1))
            share.claimed += rounds;
    }
    return share;
}

static void test_claims_and_finds(void)
{
    const size_t rounds = 4000;
    struct share same = share_of(ARM, 1, rounds, 11), slower = share_of(ARM, 1.05, rounds, 12);
    CHECK(same.claimed <= rounds * 50 / 1000 && same.claimed >= rounds / 100);
    CHECK(slower.right >= rounds * 88 / 100);
    CHECK(slower.by_medians <= rounds * 60 / 100); /* what it is for */
}

/* Beyond 50 launches the distribution is approximated. */
static void test_many_launches(void)
{
    const size_t rounds = 2000;
    struct share same = share_of(40, 1, rounds, 21), slower = share_of(40, 1.02, rounds, 22);
    CHECK(same.claimed <= rounds * 55 / 1000 && same.claimed >= rounds / 100);
    CHECK(slower.right >= rounds * 99 / 100);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"exact_distribution", test_exact_distribution},
        {"busy_neighbours_hide_less", test_busy_neighbours_hide_less},
        {"medians_come_first", test_medians_come_first},
        {"opposite_answers_are_none", test_opposite_answers_are_none},
        {"without_fast_ends_it_is_the_rank_test", test_without_fast_ends_it_is_the_rank_test},
        {"equal_launches_are_equal", test_equal_launches_are_equal},
        {"claims_and_finds", test_claims_and_finds},
        {"many_launches", test_many_launches},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
