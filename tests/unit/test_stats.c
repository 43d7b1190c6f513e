/* test_stats.c - the statistics against exact values: closed forms, published tables, brute force.
 * Everything random has a fixed seed, so nothing here can flake. */
#include "harness.h"

#include "base/stats.h"

#include <assay/error.h>

static void fill(double *values, size_t count, double (*at)(size_t))
{
    for (size_t i = 0; i < count; i++)
        values[i] = at(i);
}

static double one_up(size_t i)
{
    return (double)(i + 1);
}

static void test_percentile(void)
{
    double x[1000];
    fill(x, 1000, one_up);
    CHECK_NEAR(assay__stats_percentile(x, 100, 0.90), 90, 0);
    CHECK_NEAR(assay__stats_percentile(x, 100, 0.99), 99, 0);
    CHECK_NEAR(assay__stats_percentile(x, 100, 0.991), 100, 0);
    CHECK_NEAR(assay__stats_percentile(x, 100, 0.07), 7, 0); /* 0.07 * 100 > 7 in binary */
    CHECK_NEAR(assay__stats_percentile(x, 1000, 0.999), 999, 0);
    CHECK_NEAR(assay__stats_percentile(x, 10, 0.5), 5, 0);
    CHECK_NEAR(assay__stats_percentile(x, 11, 0.5), 6, 0);
    CHECK_NEAR(assay__stats_percentile(x, 10, 0), 1, 0);
    CHECK_NEAR(assay__stats_percentile(x, 10, 1), 10, 0);
    CHECK(isnan(assay__stats_percentile(x, 0, 0.5)));
    /* every q = k / n is exactly rank k */
    for (size_t n = 1; n <= 200; n++)
        for (size_t k = 1; k <= n; k++)
            CHECK_NEAR(assay__stats_percentile(x, n, (double)k / (double)n), (double)k, 0);
    CHECK_NEAR(assay__stats_median(x, 10), 5.5, 0);
    CHECK_NEAR(assay__stats_median(x, 11), 6, 0);
    CHECK(isnan(assay__stats_median(x, 0)));
}

static void test_percentile_needs(void)
{
    CHECK_INT(assay__stats_percentile_needs(0.90), 64);
    CHECK_INT(assay__stats_percentile_needs(0.95), 130);
    CHECK_INT(assay__stats_percentile_needs(0.97), 219);
    CHECK_INT(assay__stats_percentile_needs(0.99), 662);
    CHECK_INT(assay__stats_percentile_needs(0.999), 6636);
    CHECK_INT(assay__stats_percentile_needs(0.5), 11); /* 12 / 2^11 <= 1 % < 11 / 2^10 */
    CHECK_INT(assay__stats_percentile_needs(1), SIZE_MAX);
    CHECK_INT(assay__stats_percentile_needs(0), 1);
}

static void test_moments(void)
{
    double x[] = {2, 4, 4, 4, 5, 5, 7, 9}, scratch[8];
    CHECK_NEAR(assay__stats_mean(x, 8), 5, 0);
    CHECK_NEAR(assay__stats_stddev(x, 8), sqrt(32.0 / 7), 1e-15);
    CHECK(isnan(assay__stats_stddev(x, 1)));
    CHECK(isnan(assay__stats_mean(x, 0)));
    double shifted[] = {1e9 + 4, 1e9 + 7, 1e9 + 13,
                        1e9 + 16}; /* cancellation ruins the naive formula */
    CHECK_NEAR(assay__stats_stddev(shifted, 4), sqrt(30), 1e-9);
    double mad[] = {1, 1, 2, 2, 4, 6, 9};
    CHECK_NEAR(assay__stats_mad(mad, 7, 2, scratch), 1, 0);
    double spread[] = {1, 2, 3, 4, 100, 200};
    CHECK_NEAR(assay__stats_iqm(spread, 6), (0.5 * 2 + 3 + 4 + 0.5 * 100) / 3, 1e-12);
    double eight[8];
    fill(eight, 8, one_up);
    CHECK_NEAR(assay__stats_iqm(eight, 8), 4.5, 0);
    CHECK_NEAR(assay__stats_iqm(eight, 5), 3, 1e-15);
    CHECK_NEAR(assay__stats_iqm(eight, 1), 1, 1e-15);
}

static void test_outliers(void)
{
    double x[] = {10, 11, 12, 13, 14, 26.83, 26.82, -2.83};
    CHECK_INT(assay__stats_outliers(x, 8, 12, 1), 2); /* 14.826 times the MAD is the limit */
    CHECK_INT(assay__stats_outliers(x, 8, 12, 0), 0);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check_sort(double *x, size_t count)
{
    double *expected = malloc((count + 1) * sizeof *expected);
    memcpy(expected, x, count * sizeof *x);
    qsort(expected, count, sizeof *expected, ascending);
    assay__stats_sort(x, count);
    for (size_t i = 0; i < count; i++)
        CHECK(x[i] == expected[i]);
    free(expected);
}

static void test_sort(void)
{
    enum { COUNT = 20000 };
    static double x[COUNT];
    struct assay__random random;
    assay__random_seed(&random, 3);
    static const size_t sizes[] = {0, 1, 2, 3, 23, 24, 25, 26, 100, 257, 1000, COUNT};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t n = sizes[s];
        for (int kind = 0; kind < 6; kind++) {
            for (size_t i = 0; i < n; i++)
                x[i] = kind == 0   ? assay__random_normal(&random)
                       : kind == 1 ? (double)assay__random_below(&random, 3) /* many equal */
                       : kind == 2 ? (double)i
                       : kind == 3 ? -(double)i
                       : kind == 4 ? (double)(i < n / 2 ? i : n - i) /* organ pipe */
                                   : 7;
            check_sort(x, n);
        }
    }
    uint64_t u[] = {5, UINT64_MAX, 0, 5, 1};
    assay__stats_sort_u64(u, 5);
    CHECK(u[0] == 0 && u[1] == 1 && u[2] == 5 && u[3] == 5 && u[4] == UINT64_MAX);
    double odd[] = {3, NAN, -INFINITY, 1, INFINITY, -2};
    assay__stats_sort(odd, 6);
    CHECK(odd[0] == -INFINITY && odd[1] == -2 && odd[2] == 1 && odd[3] == 3 && odd[4] == INFINITY &&
          isnan(odd[5]));
}

static void test_binomial(void)
{
    CHECK_NEAR(assay__binomial_half_cdf(5, 0), 1.0 / 32, 1e-16);
    CHECK_NEAR(assay__binomial_half_cdf(10, 1), 11.0 / 1024, 1e-16);
    CHECK_NEAR(assay__binomial_half_cdf(10, 7), 968.0 / 1024, 1e-15);
    CHECK_NEAR(assay__binomial_half_cdf(10, 10), 1, 0);
    /* against Pascal's triangle for every n and k up to 60 */
    double row[62] = {1};
    for (size_t n = 1; n <= 60; n++) {
        for (size_t k = n; k >= 1; k--)
            row[k] += row[k - 1];
        double sum = 0;
        for (size_t k = 0; k <= n; k++) {
            sum += row[k];
            CHECK_NEAR(assay__binomial_half_cdf(n, k), ldexp(sum, -(int)n), 1e-13);
        }
    }
    /* for a large n the normal law with continuity correction is right to about 1 / n */
    CHECK_NEAR(assay__binomial_half_cdf(1000000, 499019), 0.5 * erfc(980.5 / 500 / sqrt(2)), 1e-6);
    CHECK_NEAR(assay__binomial_half_cdf(100000001, 50000000), 0.5, 1e-6);
    CHECK_INT(assay__binomial_half_rank(5, 0.05), 0);
    CHECK_INT(assay__binomial_half_rank(6, 0.05), 1);
    CHECK_INT(assay__binomial_half_rank(10, 0.05), 2);
    CHECK_INT(assay__binomial_half_rank(100, 0.05), 40);
    CHECK_INT(assay__binomial_half_rank(1000, 0.05), 469);
}

static void test_median_interval(void)
{
    static double x[1000];
    fill(x, 1000, one_up);
    CHECK(!assay__stats_median_interval(x, 5, 1).known);
    struct assay__interval ci = assay__stats_median_interval(x, 6, 1);
    CHECK(ci.known && ci.low == 1 && ci.high == 6);
    ci = assay__stats_median_interval(x, 10, 1);
    CHECK(ci.known && ci.low == 2 && ci.high == 9);
    ci = assay__stats_median_interval(x, 100, 1);
    CHECK(ci.low == 40 && ci.high == 61);
    ci = assay__stats_median_interval(x, 1000, 1);
    CHECK(ci.low == 469 && ci.high == 532);
    /* correlated: 100 effective samples, ranks 40 and 61 of 100 stretched tenfold about the
     * middle */
    ci = assay__stats_median_interval(x, 1000, 10);
    CHECK(ci.low == 395 && ci.high == 606);
    CHECK(!assay__stats_median_interval(x, 1000, 200).known); /* 5 effective samples */
    CHECK(!assay__stats_median_interval(x, 1000, NAN).known);
}

static void autoregressive(double *x, size_t count, double phi, uint64_t seed)
{
    struct assay__random random;
    assay__random_seed(&random, seed);
    double s = 0;
    for (size_t i = 0; i < 1000; i++)
        s = phi * s + assay__random_normal(&random);
    for (size_t i = 0; i < count; i++)
        x[i] = s = phi * s + assay__random_normal(&random);
}

/* The definition, word for word. */
static double brute_force_tau(const double *x, size_t n)
{
    double mean = 0, variance = 0, tau = 1;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean);
    for (size_t lag = 1; lag < n; lag++) {
        double rho = 0;
        for (size_t i = 0; i + lag < n; i++)
            rho += (x[i] - mean) * (x[i + lag] - mean) / variance;
        if (rho <= 0) break;
        tau += 2 * rho;
    }
    return tau;
}

static void test_autocorrelation(void)
{
    enum { LONG = 1000000 };
    double *x = malloc(LONG * sizeof *x);
    double flip[] = {1, -1, 1, -1, 1, -1, 1, -1, 1, -1};
    CHECK_NEAR(assay__stats_autocorrelation(flip, 10, 1), -0.9, 1e-15);
    CHECK_NEAR(assay__stats_autocorrelation(flip, 10, 2), 0.8, 1e-15);
    CHECK_NEAR(assay__stats_autocorrelation(flip, 10, 0), 1, 1e-15);
    CHECK_NEAR(assay__stats_autocorrelation_time(flip, 10), 1, 0);
    double flat[] = {3, 3, 3, 3, 3, 3, 3, 3, 3};
    CHECK_NEAR(assay__stats_autocorrelation_time(flat, 9), 1, 0);
    CHECK_NEAR(assay__stats_autocorrelation(flat, 9, 1), 0, 0);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        autoregressive(x, 2000, 0.8, seed);
        double expected = brute_force_tau(x, 2000);
        CHECK_NEAR(assay__stats_autocorrelation_time(x, 2000), expected, 1e-9 * expected);
    }
    /* (1 + phi) / (1 - phi) in the limit */
    autoregressive(x, LONG, 0.5, 7);
    CHECK_NEAR(assay__stats_autocorrelation_time(x, LONG), 3, 0.1);
    autoregressive(x, LONG, 0.99, 7); /* too long a memory for the direct sum: by block means */
    CHECK_NEAR(assay__stats_autocorrelation_time(x, LONG), 199, 20);
    free(x);
}

/* A noisy stretch in the middle of the first half is not warm-up; a slow beginning before it is
 * still found. */
static void test_warmup_noise(void)
{
    enum { COUNT = 4000 };
    static double x[COUNT];
    struct assay__random random;
    assay__random_seed(&random, 3);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = 100 + (i >= 800 && i < 1600 ? 10 * assay__random_normal(&random)
                                           : 0.1 * assay__random_unit(&random));
    CHECK_INT(assay__stats_warmup_end(x, COUNT), 0);
    for (size_t i = 0; i < 50; i++)
        x[i] = 200;
    CHECK_INT(assay__stats_warmup_end(x, COUNT), 50);
}

static void test_warmup(void)
{
    enum { COUNT = 2000 };
    static double x[COUNT];
    struct assay__random random;
    assay__random_seed(&random, 11);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = (i < 100 ? 2.0 : 1.0) + 0.001 * assay__random_normal(&random);
    CHECK_INT(assay__stats_warmup_end(x, COUNT), 100);
    for (size_t i = 0; i < COUNT;
         i++) /* a slow decay: gone to the noise at 0.05 exp(-k / 50) = 0.001, k = 196 */
        x[i] = 1.0 + 0.05 * exp(-(double)i / 50) + 0.001 * assay__random_normal(&random);
    size_t end = assay__stats_warmup_end(x, COUNT);
    CHECK(end >= 100 && end <= 400);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = 1.0;
    CHECK_INT(assay__stats_warmup_end(x, COUNT), 0);
    x[800] = 50; /* one late page fault is not warm-up */
    CHECK_INT(assay__stats_warmup_end(x, COUNT), 0);
    for (size_t i = 0; i < COUNT; i++)
        x[i] = i < 1500 ? 2 : 1;
    CHECK(assay__stats_warmup_end(x, COUNT) <= COUNT / 2);
    CHECK_INT(assay__stats_warmup_end(x, 10), 0);
    CHECK_INT(assay__stats_warmup_end(x, 0), 0);
}

static void test_drift(void)
{
    static double x[1000];
    double p;
    for (size_t i = 0; i < 1000; i++)
        x[i] = 1 + 0.1 * (double)i /
                       1000; /* block medians rise by 0.0025 a block, 39 steps, about 1.04995 */
    CHECK_NEAR(assay__stats_drift(x, 1000, &p), 0.0025 * 39 / 1.04995, 1e-9);
    CHECK(p < 1e-12);
    for (size_t i = 0; i < 1000; i++)
        x[i] = 1;
    CHECK_NEAR(assay__stats_drift(x, 1000, &p), 0, 0);
    CHECK_NEAR(p, 1, 0);
    CHECK(isnan(assay__stats_drift(x, 39, &p)));
    CHECK(isnan(p));
    /* S = 28 of 8 rising blocks: z = 27 / sqrt(8 * 7 * 21 / 18) */
    for (size_t i = 0; i < 40; i++)
        x[i] = (double)(1 + i / 5);
    assay__stats_drift(x, 40, &p);
    CHECK_NEAR(p, erfc(27 / sqrt(8.0 * 7 * 21 / 18) / sqrt(2)), 1e-12);
    /* no trend: p < 0.05 in about 5 % of series */
    struct assay__random random;
    assay__random_seed(&random, 5);
    int called = 0;
    for (int t = 0; t < 1000; t++) {
        for (size_t i = 0; i < 200; i++)
            x[i] = 100 + assay__random_normal(&random);
        assay__stats_drift(x, 200, &p);
        called += p < 0.05;
    }
    CHECK(called >= 25 && called <= 75);
}

static void test_bimodal(void)
{
    static double x[2000];
    double low, high, share;
    struct assay__random random;
    assay__random_seed(&random, 17);
    for (size_t i = 0; i < 2000; i++)
        x[i] = (i % 4 ? 100 : 110) + assay__random_normal(&random);
    assay__stats_sort(x, 2000);
    CHECK(assay__stats_bimodal(x, 2000, 0, &low, &high, &share));
    CHECK_NEAR(low, 100, 0.2);
    CHECK_NEAR(high, 110, 0.2);
    CHECK_NEAR(share, 0.25, 1e-3);
    /* one mode, in five shapes, many times: never */
    for (int t = 0; t < 200; t++) {
        for (size_t i = 0; i < 500; i++) {
            double z = assay__random_normal(&random);
            x[i] = t % 5 == 0   ? 100 + 5 * z
                   : t % 5 == 1 ? 100 * exp(0.3 * z)                     /* long tail */
                   : t % 5 == 2 ? 100 + 20 * assay__random_unit(&random) /* flat */
                   : t % 5 == 3 ? 100 + fabs(z) + (i % 20 == 0 ? 50 : 0) /* 5 % far outliers */
                                : 100 + 0.04 * round(z * 10); /* steps of a coarse clock */
        }
        assay__stats_sort(x, 500);
        CHECK(!assay__stats_bimodal(x, 500, 0, &low, &high, &share));
    }
    for (size_t i = 0; i < 2000; i++)
        x[i] = 5;
    CHECK(!assay__stats_bimodal(x, 2000, 0, &low, &high, &share));
    CHECK(!assay__stats_bimodal(x, 10, 0, &low, &high, &share));
}

/* Samples on the grid of a clock: ticks are not modes, but modes on a grid are still found. */
static void test_bimodal_grid(void)
{
    static double x[4000];
    double low, high, share;
    struct assay__random random;
    assay__random_seed(&random, 23);
    for (int t = 0; t < 200; t++) { /* one mode at 2 us, read with 10 ns; step known or not */
        double spread = 4 + t % 50;
        for (size_t i = 0; i < 4000; i++)
            x[i] = 10 * round((1975 + spread * assay__random_normal(&random) + t % 10) / 10);
        assay__stats_sort(x, 4000);
        CHECK(!assay__stats_bimodal(x, 4000, t % 2 ? 10 : 0, &low, &high, &share));
    }
    /* two neighbouring ticks of a fast step: 20 % apart, and still the clock's */
    for (size_t i = 0; i < 4000; i++)
        x[i] = i < 2000 ? 100 : 120;
    CHECK(!assay__stats_bimodal(x, 4000, 20, &low, &high, &share));
    /* the same numbers from a clock without steps are two levels */
    CHECK(assay__stats_bimodal(x, 4000, 0, &low, &high, &share));
    CHECK_NEAR(low, 100, 0);
    CHECK_NEAR(high, 120, 0);
    CHECK_NEAR(share, 0.5, 0);
    /* an even spread over ten ticks has no valley */
    for (size_t i = 0; i < 4000; i++)
        x[i] = 100 * (double)(1 + i / 400);
    CHECK(!assay__stats_bimodal(x, 4000, 0, &low, &high, &share));
    /* nor has one over ticks of 10 ns that are off by a ns, with a step of 20 ns told */
    for (int t = 0; t < 100; t++) {
        for (size_t i = 0; i < 4000; i++)
            x[i] = 10 * floor((1900 + (200 + 4 * t) * assay__random_unit(&random)) / 10) +
                   (double)assay__random_below(&random, 2);
        assay__stats_sort(x, 4000);
        CHECK(!assay__stats_bimodal(x, 4000, 20, &low, &high, &share));
    }
    /* two levels, 10 % apart, on the grid */
    for (size_t i = 0; i < 4000; i++)
        x[i] = 10 * round(((i % 4 ? 2000 : 2200) + 15 * assay__random_normal(&random)) / 10);
    assay__stats_sort(x, 4000);
    for (int step = 0; step <= 20; step += 10) {
        CHECK(assay__stats_bimodal(x, 4000, step, &low, &high, &share));
        CHECK_NEAR(low, 2000, 10);
        CHECK_NEAR(high, 2200, 10);
        CHECK_NEAR(share, 0.25, 1e-3);
    }
    /* 3 % apart: two levels when they are narrow, one broad one when they are not */
    for (int wide = 0; wide <= 1; wide++) {
        for (size_t i = 0; i < 4000; i++)
            x[i] = (i % 2 ? 20000 : 20600) + (wide ? 150 : 20) * assay__random_normal(&random);
        assay__stats_sort(x, 4000);
        CHECK(assay__stats_bimodal(x, 4000, 10, &low, &high, &share) == !wide);
    }
}

static void test_compare(void)
{
    struct assay__ratio out;
    double a[30], b[30];
    for (size_t i = 0; i < 10; i++) {
        a[i] = 100 + (double)i;
        b[i] = 2 * a[i];
    }
    CHECK_INT(assay__stats_compare(a, 4, b, 5, &out), ASSAY_EINVAL);
    CHECK(!out.ci.known && isnan(out.ratio));
    /* five against five, all apart: 2 / C(10, 5) */
    CHECK_INT(assay__stats_compare(a, 5, b, 5, &out), 0);
    CHECK_NEAR(out.p_value, 2.0 / 252, 1e-15);
    CHECK_NEAR(out.ratio, 2, 0);
    CHECK(out.ci.known && out.ci.low > 1 && out.ci.low <= 2 && out.ci.high >= 2);
    CHECK_NEAR(out.smallest, pow(fmax(out.ci.high / 2, 2 / out.ci.low), 1.5) - 1, 1e-14);
    CHECK_INT(assay__stats_compare(a, 10, b, 10, &out), 0);
    CHECK_NEAR(out.p_value, 2.0 / 184756, 1e-15);
    /* the same arm twice: nothing shown */
    CHECK_INT(assay__stats_compare(a, 10, a, 10, &out), 0);
    CHECK_NEAR(out.ratio, 1, 0);
    CHECK_NEAR(out.p_value, 1, 0);
    CHECK(out.ci.low < 1 && out.ci.high > 1);
    /* arms exchanged: the ratio and its interval turn over */
    struct assay__ratio back;
    for (size_t i = 0; i < 10; i++)
        b[i] = 100 + 1.1 * (double)(i * i % 11);
    CHECK_INT(assay__stats_compare(a, 10, b, 10, &out), 0);
    CHECK_INT(assay__stats_compare(b, 10, a, 10, &back), 0);
    CHECK_NEAR(out.ratio * back.ratio, 1, 1e-15);
    CHECK_NEAR(out.ci.low * back.ci.high, 1, 1e-12);
    CHECK_NEAR(out.ci.high * back.ci.low, 1, 1e-12);
    CHECK_NEAR(out.p_value, back.p_value, 1e-15);
    a[3] = 0;
    CHECK_INT(assay__stats_compare(a, 10, b, 10, &out), ASSAY_EINVAL);
    a[3] = NAN;
    CHECK_INT(assay__stats_compare(a, 10, b, 10, &out), ASSAY_EINVAL);
}

/* The table of critical values (two-sided 5 %): U = 23 for 10 and 10 is significant, U = 24 is not;
 * 2 for 5 and 5. */
static void check_critical(size_t n, size_t critical)
{
    double a[16], b[16];
    struct assay__ratio out;
    for (size_t u = critical; u <= critical + 1; u++) {
        /* a stands at 1 … n; u pairs of b lie below a: put b behind a, then move one b past u of
         * the a */
        for (size_t i = 0; i < n; i++) {
            a[i] = 100 + (double)i;
            b[i] = 200 + (double)i;
        }
        size_t left = u;
        for (size_t j = 0; j < n && left > 0; j++) {
            size_t past = left < n ? left : n;
            b[j] = 100 + (double)(n - past) - 0.5 + 0.01 * (double)j;
            left -= past;
        }
        CHECK_INT(assay__stats_compare(a, n, b, n, &out), 0);
        CHECK((out.p_value < 0.05) == (u == critical));
    }
}

static void test_critical_values(void)
{
    check_critical(5, 2);
    check_critical(6, 5);
    check_critical(8, 13);
    check_critical(10, 23);
    check_critical(15, 64);
}

/* Two identical programs: called different in 5 % of comparisons at most, and the interval always
 * agrees with p. */
static void test_false_positives(void)
{
    enum { TRIALS = 4000 };
    static const size_t counts[] = {5, 10, 30};
    struct assay__random random;
    assay__random_seed(&random, 2024);
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        int called = 0, covered = 0;
        for (int t = 0; t < TRIALS; t++) {
            double a[30], b[30];
            struct assay__ratio out;
            for (size_t i = 0; i < counts[c]; i++) {
                a[i] = exp(0.01 * assay__random_normal(&random));
                b[i] = exp(0.01 * assay__random_normal(&random));
            }
            CHECK_INT(assay__stats_compare(a, counts[c], b, counts[c], &out), 0);
            bool excludes = out.ci.low > 1 || out.ci.high < 1;
            CHECK(excludes == (out.p_value < 0.05));
            called += excludes;
            for (size_t i = 0; i < counts[c]; i++)
                b[i] *= 1.03;
            CHECK_INT(assay__stats_compare(a, counts[c], b, counts[c], &out), 0);
            covered += out.ci.low <= 1.03 && out.ci.high >= 1.03;
        }
        CHECK(called <= TRIALS * 55 / 1000);
        CHECK(called >= TRIALS * 20 / 1000); /* and not because it never calls */
        CHECK(covered >= TRIALS * 945 / 1000);
    }
}

static void test_launch_interval(void)
{
    double x[20], coverage;
    fill(x, 20, one_up);
    CHECK(!assay__stats_launch_interval(x, 4, &coverage).known);
    CHECK(isnan(coverage));
    struct assay__interval ci = assay__stats_launch_interval(x, 5, &coverage);
    CHECK(ci.known && ci.low == 1 && ci.high == 5);
    CHECK_NEAR(coverage, 0.9375, 1e-15);
    ci = assay__stats_launch_interval(x, 6, &coverage);
    /* by hand: coverage 0.96875 and 0.78125 at ranks 1 and 2, so I = 0.1 and lambda = 0.5 / 1.4 */
    CHECK_NEAR(ci.low, 1 + 0.5 / 1.4, 1e-12);
    CHECK_NEAR(ci.high, 6 - 0.5 / 1.4, 1e-12);
    CHECK_NEAR(coverage, 0.95, 1e-15);
    ci = assay__stats_launch_interval(x, 10, &coverage);
    CHECK_NEAR(ci.low, 2.657658, 1e-6);
    CHECK_NEAR(ci.high, 8.342342, 1e-6);
}

/* Launches with a heavy upper tail, as on a busy machine: the interval holds the true median. */
static void test_launch_interval_covers(void)
{
    enum { TRIALS = 4000 };
    struct assay__random random = {{5, 6, 7, 8}};
    for (size_t count = 6; count <= 15; count++) {
        size_t covered = 0;
        for (int t = 0; t < TRIALS; t++) {
            double x[15];
            for (size_t i = 0; i < count; i++) /* median ln 2 */
                x[i] = -log(1 - (double)(assay__random_u64(&random) >> 11) / 9007199254740992.0);
            assay__stats_sort(x, count);
            struct assay__interval ci = assay__stats_launch_interval(x, count, NULL);
            covered += ci.low <= 0.69314718 && 0.69314718 <= ci.high;
        }
        CHECK(covered >= TRIALS * 935 / 1000);
        CHECK(covered <= TRIALS * 965 / 1000);
    }
}

static void test_random(void)
{
    struct assay__random random = {{1, 2, 3, 4}};
    /* the reference output of xoshiro256** for the state 1, 2, 3, 4 */
    CHECK(assay__random_u64(&random) == 11520u);
    CHECK(assay__random_u64(&random) == 0u);
    CHECK(assay__random_u64(&random) == 1509978240u);
    CHECK(assay__random_u64(&random) == 1215971899390074240u);
    assay__random_seed(&random, 1234567); /* splitmix64's reference output */
    CHECK(random.state[0] == 6457827717110365317u);
    CHECK(random.state[1] == 3203168211198807973u);
    CHECK(random.state[2] == 9817491932198370423u);
    CHECK(random.state[3] == 4593380528125082431u);
    size_t hits[7] = {0};
    double sum = 0, squares = 0, unit = 0;
    for (int i = 0; i < 70000; i++) {
        hits[assay__random_below(&random, 7)]++;
        double z = assay__random_normal(&random);
        sum += z;
        squares += z * z;
        double u = assay__random_unit(&random);
        CHECK(u >= 0 && u < 1);
        unit += u;
    }
    for (int i = 0; i < 7; i++)
        CHECK(hits[i] > 9600 && hits[i] < 10400);
    CHECK_NEAR(sum / 70000, 0, 0.02);
    CHECK_NEAR(squares / 70000, 1, 0.03);
    CHECK_NEAR(unit / 70000, 0.5, 0.01);
    CHECK_INT(assay__random_below(&random, 1), 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"percentile", test_percentile},
        {"percentile_needs", test_percentile_needs},
        {"moments", test_moments},
        {"outliers", test_outliers},
        {"sort", test_sort},
        {"binomial", test_binomial},
        {"median_interval", test_median_interval},
        {"autocorrelation", test_autocorrelation},
        {"warmup", test_warmup},
        {"warmup_noise", test_warmup_noise},
        {"drift", test_drift},
        {"bimodal", test_bimodal},
        {"bimodal_grid", test_bimodal_grid},
        {"compare", test_compare},
        {"critical_values", test_critical_values},
        {"false_positives", test_false_positives},
        {"launch_interval", test_launch_interval},
        {"launch_interval_covers", test_launch_interval_covers},
        {"random", test_random},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
