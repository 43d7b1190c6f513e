/* test_probe_sampler.c - the sampler on a fake probe and a scripted clock, so that every number is
 * exact: growth, wraps, faults, gaps, update periods, energy, thinning, costs. Its threads are in
 * test_probe_sampler_threads.c. Also run under ThreadSanitizer. */
#include "sampler_fixture.h"

/* --- counters --------------------------------------------------------------------------------- */

/* 50 W, from 900 J, range 1000 J: wraps 2 s after the start. */
static double energy_50w(uint64_t now_ns)
{
    return fmod(900 + 50 * seconds(now_ns), 1000);
}

static void test_counter_wraps(void)
{
    struct assay__series series;
    struct assay__window window;
    script[ENERGY] = energy_50w;
    begin(100 * MS, 0);
    ticks(101, 100 * MS); /* ten seconds: 500 J, one wrap */
    assay__sampler_series(sampler, ENERGY, &series);
    CHECK_INT(series.count, 101);
    CHECK(series.available);
    CHECK_NEAR(series.first_value, 900, 0);
    CHECK_NEAR(series.values[0], 0, 0);
    CHECK_NEAR(series.values[100], 500, 1e-9);
    CHECK_INT(series.times_ns[100], 11 * (uint64_t)SECOND);
    CHECK_INT(series.changes, 100);
    /* As fast as it was read: a bound. */
    CHECK_NEAR(series.period_s, 0.1, 1e-12);
    CHECK(series.period_is_bound);

    /* Across the wrap, with ends between two readings. */
    assay__sampler_window(sampler, ENERGY, 2 * (uint64_t)SECOND + 30 * MS,
                          5 * (uint64_t)SECOND + 70 * MS, true, &window);
    CHECK(window.available);
    CHECK_INT(window.method, ASSAY__WINDOW_COUNTER);
    CHECK_NEAR(window.growth, 50 * 3.04, 1e-9);
    CHECK_NEAR(window.average, 50, 1e-9);
    CHECK_NEAR(window.least, 50, 1e-9);
    CHECK_NEAR(window.greatest, 50, 1e-9);
    CHECK_INT(window.samples, 30);
    CHECK(!window.is_short);
    /* Under ten periods: marked, and no rates. */
    assay__sampler_window(sampler, ENERGY, 2 * (uint64_t)SECOND, 2 * (uint64_t)SECOND + 500 * MS,
                          true, &window);
    CHECK(window.available && window.is_short);
    CHECK_HAS(window.note, "shorter than 10 update periods");
    CHECK_HAS(window.note, "at most 0.1 s");
    CHECK_NEAR(window.growth, 25, 1e-9);
    CHECK(isnan(window.greatest));
    end();
}

/* A counter that the source updates every 25 ms, read every 10 ms. */
static double energy_stairs(uint64_t now_ns)
{
    return (double)((now_ns - SECOND) / (25 * MS));
}

static void test_update_period(void)
{
    struct assay__series series;
    script[ENERGY] = energy_stairs;
    begin(10 * MS, 0);
    ticks(101, 10 * MS);
    assay__sampler_series(sampler, ENERGY, &series);
    CHECK_INT(series.changes, 40);
    /* Changes are seen at 30, 50, 80, 100, … ms: 39 gaps between the first and the last, 970 ms. */
    CHECK_NEAR(series.period_s, 0.97 / 39, 1e-12);
    CHECK(!series.period_is_bound);
    end();
}

/* Changes every 20 ms, but every fifth time to the same value. */
static double power_sticky(uint64_t now_ns)
{
    uint64_t step = (now_ns - SECOND) / (20 * MS);
    return step % 5 == 4 ? (double)(10 + (step - 1) % 2) : (double)(10 + step % 2);
}

static void test_update_period_of_a_sticky_gauge(void)
{
    struct assay__series series;
    script[POWER] = power_sticky;
    begin(5 * MS, 0);
    ticks(401, 5 * MS);
    assay__sampler_series(sampler, POWER, &series);
    /* Gaps of 20 ms and, over the repeats, 40 ms: the long ones are left out (limit 1.5 · 20 +
     * 5). */
    CHECK_NEAR(series.period_s, 0.02, 1e-12);
    CHECK(!series.period_is_bound);
    end();
}

static double energy_fast(uint64_t now_ns)
{
    return floor(seconds(now_ns) * 1000) * 0.05; /* 50 W in steps of 1 ms */
}

static void test_calibration(void)
{
    struct assay__series series;
    struct assay__window window;
    script[ENERGY] = energy_fast;
    begin(100 * MS, 0);
    assay__sampler_calibrate(sampler, 50 * MS, MS / 4);
    uint64_t start_ns = clock_ns;
    ticks(21, 100 * MS);
    assay__sampler_series(sampler, ENERGY, &series);
    CHECK_INT(series.count, 21); /* calibration stores nothing */
    CHECK_NEAR(series.period_s, 0.001, 1e-9);
    CHECK(!series.period_is_bound);
    /* 20 ms are now 20 periods: not short. */
    assay__sampler_window(sampler, ENERGY, start_ns, start_ns + 20 * MS, true, &window);
    CHECK(window.available && !window.is_short);
    CHECK_NEAR(window.average, 50, 1e-6);
    end();
}

static double backwards_at_2s(uint64_t now_ns)
{
    double t = seconds(now_ns);
    return t < 2 ? 100 + t : 100 + t - 1;
}

static void test_counter_goes_backwards(void)
{
    struct assay__series series;
    struct assay__window window;
    script[ENERGY] = backwards_at_2s;
    script[COUNT] = backwards_at_2s;
    begin(100 * MS, 0);
    ticks(41, 100 * MS);
    for (int i = 0; i < 2; i++) { /* with a range, and without */
        assay__sampler_series(sampler, i ? COUNT : ENERGY, &series);
        CHECK(!series.available);
        CHECK_HAS(series.reason, "the counter went backwards: from 101.9 to 101");
        CHECK_NEAR(series.values[19], 1.9, 1e-9);
        CHECK(isnan(series.values[20]) && isnan(series.values[40]));
        CHECK_INT(series.readings, 21);
    }
    /* What ended before is still known; what reaches into the fault is not. */
    assay__sampler_window(sampler, ENERGY, SECOND, 2 * (uint64_t)SECOND, true, &window);
    CHECK(window.available);
    CHECK_NEAR(window.growth, 1, 1e-9);
    assay__sampler_window(sampler, ENERGY, SECOND, 4 * (uint64_t)SECOND, true, &window);
    CHECK(!window.available);
    CHECK_HAS(window.reason, "went backwards");
    CHECK(isnan(window.growth) && isnan(window.average));
    end();
}

static double above_range(uint64_t now_ns)
{
    return 999 + 10 * seconds(now_ns);
}

static void test_counter_above_its_range(void)
{
    struct assay__series series;
    script[ENERGY] = above_range;
    begin(100 * MS, 0);
    ticks(5, 100 * MS);
    assay__sampler_series(sampler, ENERGY, &series);
    CHECK(!series.available);
    CHECK_HAS(series.reason, "above its own range");
    end();
}

/* --- gauges ----------------------------------------------------------------------------------- */

static double power_ramp(uint64_t now_ns)
{
    return 10 + 2 * seconds(now_ns); /* W */
}

static void test_power_is_integrated(void)
{
    struct assay__window window;
    script[POWER] = power_ramp;
    begin(100 * MS, 0);
    ticks(101, 100 * MS);
    /* From 1.05 s to 4.45 s after the start: 3.4 s around 2.75 s, so 15.5 W. */
    assay__sampler_window(sampler, POWER, 2 * (uint64_t)SECOND + 50 * MS,
                          5 * (uint64_t)SECOND + 450 * MS, true, &window);
    CHECK(window.available);
    CHECK_INT(window.method, ASSAY__WINDOW_SAMPLED);
    CHECK_NEAR(window.growth, 15.5 * 3.4, 1e-9);
    CHECK_NEAR(window.average, 15.5, 1e-9);
    CHECK_NEAR(window.least, 10 + 2 * 1.1, 1e-9);
    CHECK_NEAR(window.greatest, 10 + 2 * 4.4, 1e-9);
    CHECK_INT(window.samples, 34);
    /* Outside of what was read there is no answer. */
    assay__sampler_window(sampler, POWER, SECOND - 1, 2 * (uint64_t)SECOND, true, &window);
    CHECK(!window.available);
    CHECK_HAS(window.reason, "before the first reading");
    assay__sampler_window(sampler, POWER, SECOND, 12 * (uint64_t)SECOND, true, &window);
    CHECK(!window.available);
    CHECK_HAS(window.reason, "after the last reading");
    assay__sampler_window(sampler, POWER, 2 * (uint64_t)SECOND, 2 * (uint64_t)SECOND, true,
                          &window);
    CHECK(!window.available);
    end();
}

static double power_fails(uint64_t now_ns)
{
    double t = seconds(now_ns);
    return t > 1.95 && t < 2.25 ? NAN : 20 + t;
}

static void test_failed_readings(void)
{
    struct assay__series series;
    struct assay__window window;
    script[POWER] = power_fails;
    script[ENERGY] = power_fails; /* a counter is not hurt by a gap in the middle */
    script_reason = "the driver answered with an input/output error (EIO)";
    begin(100 * MS, 0);
    ticks(41, 100 * MS);
    assay__sampler_series(sampler, POWER, &series);
    CHECK_INT(series.readings, 41);
    CHECK_INT(series.failures, 3);
    CHECK(series.available); /* it came back */
    assay__sampler_window(sampler, POWER, 2 * (uint64_t)SECOND, 4 * (uint64_t)SECOND, true,
                          &window);
    CHECK(!window.available);
    CHECK_STR(window.reason, "3 of 21 readings failed: the driver answered with an input/output "
                             "error (EIO)");
    assay__sampler_window(sampler, POWER, SECOND, 2 * (uint64_t)SECOND + 900 * MS, true, &window);
    CHECK(window.available);
    assay__sampler_window(sampler, POWER, SECOND, 2 * (uint64_t)SECOND + 950 * MS, true, &window);
    CHECK(!window.available);
    CHECK_HAS(window.reason, "at the edge of the window");
    assay__sampler_window(sampler, ENERGY, 2 * (uint64_t)SECOND, 4 * (uint64_t)SECOND, true,
                          &window);
    CHECK(window.available);
    CHECK_NEAR(window.growth, 2, 1e-9);
    end();
}

static void test_constant_zero(void)
{
    struct assay__window window;
    begin(100 * MS, 0); /* every channel reads 0 */
    ticks(31, 100 * MS);
    uint64_t from_ns = SECOND, to_ns = 3 * (uint64_t)SECOND;
    assay__sampler_window(sampler, POWER, from_ns, to_ns, true, &window);
    CHECK(!window.available);
    CHECK_HAS(window.reason, "read only 0 in 2 s of load:");
    CHECK(isnan(window.average));
    assay__sampler_window(sampler, POWER, from_ns, to_ns, false, &window); /* idle: may be so */
    CHECK(window.available);
    CHECK_NEAR(window.average, 0, 0);
    assay__sampler_window(sampler, ENERGY, from_ns, to_ns, true, &window);
    CHECK(!window.available);
    CHECK_HAS(window.reason, "did not move in 2 s of load");
    assay__sampler_window(sampler, ENERGY, from_ns, to_ns, false, &window);
    CHECK(!window.available);
    assay__sampler_window(sampler, COUNT, from_ns, to_ns, true, &window); /* no event: believed */
    CHECK(window.available);
    CHECK_NEAR(window.growth, 0, 0);
    end();
}

/* --- energy ----------------------------------------------------------------------------------- */

static void test_energy_prefers_the_counter(void)
{
    struct assay__window window;
    script[ENERGY] = energy_50w;
    script[POWER] = power_ramp;
    begin(100 * MS, 0);
    ticks(61, 100 * MS);
    assay__sampler_energy(sampler, "package", SECOND, 6 * (uint64_t)SECOND, true, &window);
    CHECK(window.available);
    CHECK_INT(window.method, ASSAY__WINDOW_COUNTER);
    CHECK_NEAR(window.growth, 250, 1e-9);
    CHECK_INT(window.index, ENERGY);
    CHECK_STR(window.note, "");

    assay__sampler_energy(sampler, "broken", SECOND, 6 * (uint64_t)SECOND, true, &window);
    CHECK(!window.available);
    CHECK_STR(window.reason, "needs root: sudo true");
    assay__sampler_energy(sampler, "npu", SECOND, 6 * (uint64_t)SECOND, true, &window);
    CHECK(!window.available);
    CHECK_HAS(window.reason, "nothing here measures the energy or power of npu");
    end();
}

static void test_energy_falls_back(void)
{
    struct assay__window window, idle;
    const char *reason;
    script[POWER] = power_ramp; /* the counter stays at 0 */
    begin(100 * MS, 0);
    ticks(61, 100 * MS);
    assay__sampler_energy(sampler, "package", 3 * (uint64_t)SECOND, 5 * (uint64_t)SECOND, true,
                          &window);
    CHECK(window.available);
    CHECK_INT(window.method, ASSAY__WINDOW_SAMPLED);
    CHECK_NEAR(window.growth, 2 * 16, 1e-9);
    CHECK_HAS(window.note, "from sampled power");
    CHECK_HAS(window.note, "did not move");
    /* Net of an idle baseline of 11 W, taken before. */
    assay__sampler_energy(sampler, "package", SECOND, 2 * (uint64_t)SECOND, false, &idle);
    CHECK_NEAR(idle.average, 11, 1e-9);
    CHECK_NEAR(assay__window_net(&window, &idle, &reason), 32 - 22, 1e-9);
    CHECK_STR(reason, "");
    idle.available = false;
    snprintf(idle.reason, sizeof idle.reason, "no baseline");
    CHECK(isnan(assay__window_net(&window, &idle, &reason)));
    CHECK_STR(reason, "no baseline");
    end();
}

/* --- columns and costs ------------------------------------------------------------------------ */

static void test_thinning(void)
{
    struct assay__series series;
    struct assay__window window;
    struct assay__sampler_cost cost;
    script[ENERGY] = energy_50w;
    script[POWER] = power_ramp;
    begin(100 * MS, 16);
    ticks(101, 100 * MS);
    assay__sampler_series(sampler, POWER, &series);
    /* 16 are full at tick 16, 32 and 64: every 8th tick is kept, 0 to 96. */
    CHECK_INT(series.count, 13);
    CHECK_INT(series.readings, 101);
    for (size_t i = 0; i < series.count; i++) {
        CHECK_INT(series.times_ns[i], SECOND + i * 800 * (uint64_t)MS);
        CHECK_NEAR(series.values[i], 10 + 1.6 * (double)i, 1e-9);
    }
    assay__sampler_cost(sampler, &cost);
    CHECK_INT(cost.thinned, 3);
    CHECK_INT(cost.ticks, 101);
    CHECK_INT(cost.memory_bytes, 5 * 16 * 8);
    /* Wraps were seen although their neighbours are gone. */
    assay__sampler_window(sampler, ENERGY, SECOND, 10 * (uint64_t)SECOND + 600 * MS, true, &window);
    CHECK_NEAR(window.growth, 480, 1e-9);
    end();
}

static bool only_power(void *context, const struct assay__probe_ops *ops,
                       const struct assay__channel *channel)
{
    CHECK(context == &fake);
    CHECK_STR(ops->name, "fake");
    return strcmp(channel->quantity, "power") == 0;
}

static void test_choice_and_costs(void)
{
    struct assay__sampler_options options = {
        .size = sizeof options, .interval_ns = 100 * MS, .clock = &fake_clock};
    struct assay__probe_cost probe_cost;
    struct assay__sampler_cost cost;
    struct assay__series series;
    begin(100 * MS, 0);
    assay__sampler_free(sampler);
    opened = closed = 0;
    script[POWER] = power_ramp;
    read_cost_ns = 40000;
    CHECK_INT(assay__sampler_new(&options, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &fake_ops, only_power, &fake, NULL), 0);
    CHECK_INT(assay__sampler_count(sampler), 2);
    clock_ns = SECOND;
    ticks(10, 100 * MS);
    assay__sampler_series(sampler, 0, &series);
    CHECK_STR(series.channel->name, "power.package");
    CHECK_INT(series.times_ns[0], SECOND + 20000); /* the middle of the read */
    assay__sampler_series(sampler, 1, &series);
    CHECK(!series.available);
    CHECK_STR(series.reason, "needs root: sudo true");
    CHECK_INT(series.readings, 0);
    CHECK_INT(assay__sampler_probe_count(sampler), 1);
    assay__sampler_probe_cost(sampler, 0, &probe_cost);
    CHECK_INT(probe_cost.reads, 10);
    CHECK_NEAR(probe_cost.mean_ns, 40000, 1e-9);
    CHECK_NEAR(probe_cost.longest_ns, 40000, 0);
    CHECK(!probe_cost.blocked);
    assay__sampler_cost(sampler, &cost);
    CHECK_INT(cost.cpu_ns, 10 * 20000);
    CHECK_INT(cost.wall_ns, 9 * 100 * (uint64_t)MS + 10 * 40000);
    CHECK_INT(assay__sampler_add(sampler, &fake_ops, NULL, NULL, NULL), ASSAY_EINVAL);
    end();
}

static void test_bad_options(void)
{
    struct assay__sampler_options options = {.size = 1};
    struct assay_error error;
    CHECK_INT(assay__sampler_new(&options, &sampler, &error), ASSAY_EINVAL);
    options = (struct assay__sampler_options){.size = sizeof options, .interval_ns = 99999};
    CHECK_INT(assay__sampler_new(&options, &sampler, &error), ASSAY_EINVAL);
    options = (struct assay__sampler_options){.size = sizeof options, .capacity = 15};
    CHECK_INT(assay__sampler_new(&options, &sampler, &error), ASSAY_EINVAL);
    CHECK(sampler == NULL);
    assay__sampler_free(NULL);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"counter_wraps", test_counter_wraps},
        {"update_period", test_update_period},
        {"update_period_of_a_sticky_gauge", test_update_period_of_a_sticky_gauge},
        {"calibration", test_calibration},
        {"counter_goes_backwards", test_counter_goes_backwards},
        {"counter_above_its_range", test_counter_above_its_range},
        {"power_is_integrated", test_power_is_integrated},
        {"failed_readings", test_failed_readings},
        {"constant_zero", test_constant_zero},
        {"energy_prefers_the_counter", test_energy_prefers_the_counter},
        {"energy_falls_back", test_energy_falls_back},
        {"thinning", test_thinning},
        {"choice_and_costs", test_choice_and_costs},
        {"bad_options", test_bad_options},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
