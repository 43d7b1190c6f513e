/* test_sensors_stopped.c - sources that stop, hang, stand still or tell nothing, and the idle
 * baseline: numbers that would be wrong are refused or marked, with the reason, and the page says
 * so (sensors_fixture.h tells the script). */
#include "sensors_fixture.h"

/* --- sources that stopped, or were never there ------------------------------------------------ */

static double still_from_4s(double t)
{
    return energy_step(t < 4 ? t : 4);
}
static double still_for_a_moment(double t)
{
    return energy_step(t > 3.9 && t < 4.3 ? 3.9 : t);
}
static double steps_of_117ms(double t)
{
    return 20 * 0.117 * floor(t / 0.117 + 1e-9);
}
static double steps_of_half_a_second(double t)
{
    return 20 * 0.5 * floor(t / 0.5 + 1e-9);
}

/* Ten periods of at most 0.1 s: it has stopped. The growth before is no answer for the whole. */
static void test_stands_still(void)
{
    check_gone(still_from_4s,
               "the counter did not change for 5 s, although it updates every ≤ 100 ms");
}

static void test_still_for_a_moment(void)
{
    channel("energy.package-0", "energy", "package", "J", still_for_a_moment);
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("power.average.package"), 50, 0.5); /* the pauses between windows */
    done();
}

/* Whatever the reason, the last resort is the same: the whole machine, with the reason. */
static void check_last_resort(double (*script_of)(double t), const char *reason)
{
    channel_count = 0;
    clock_ns = SECOND;
    sensors.sampler = NULL;
    channel("energy.package-0", "energy", "package", "J", script_of);
    channel("power.battery", "power", "system", "W", power_50w);
    measure("cpu", NULL);
    compute();
    why_not("power.average.package");
    CHECK_NEAR(value("power.average"), 50, 1e-9);
    CHECK_NEAR(value("energy.inference.net"), 40 * LENGTH / 800, 1e-9);
    CHECK_HAS(get("power.average")->note, "system; of the whole machine");
    CHECK_HAS(get("power.average")->note, reason);
    check_page("nothing measures the processor alone (package: ", NULL);
    done();
}

static void test_last_resort(void)
{
    check_last_resort(NULL, "(package: needs root: sudo true)");
    check_last_resort(zero, "(package: the counter did not move in");
    check_last_resort(gone_at_4s, "text instead of a number)");
    check_last_resort(backwards_at_4s, "from 1095 to 3 J, no longer read)");
    check_last_resort(still_from_4s, "(package: the counter did not change for 5 s");
}

static void test_hangs_at_open(void)
{
    ops.name = "battery";
    channel("power.battery", "power", "system", "W", power_50w);
    measure("cpu", &hanging_ops);
    compute();
    CHECK_NEAR(value("power.average"), 50, 1e-9);
    CHECK_HAS(get("power.average")->note, "(rapl: opening it did not return within 0.01 s");
    CHECK_INT(series("rapl")->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(series("rapl")->note, "did not return within 0.01 s: gave up");
    check_page("rapl, all channels: opening it did not return within 0.01 s: gave up", NULL);
    done();
    channel_count = 0; /* and without a battery */
    clock_ns = SECOND;
    sensors.sampler = NULL;
    measure("cpu", &hanging_ops);
    compute();
    CHECK_HAS(why_not("power.average"), "rapl: opening it did not return within 0.01 s");
    done();
}

/* The same value, idle and at work: it says nothing of the difference. */
static void test_no_difference(void)
{
    channel("power.battery", "power", "system", "W", power_60w);
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("power.average"), 60, 1e-9);
    CHECK_HAS(why_not("energy.inference.net"), "system read 60 W throughout, idle and under load:");
    check_page("net energy   — system read 60 W throughout", "beyond the idle machine");
    done();
}

/* Readings that beat against the updates of the counter make neither 0 W nor twice the power. */
static void test_beat(void)
{
    channel("energy.package-0", "energy", "package", "J", steps_of_117ms);
    measure("cpu", NULL);
    compute();
    const struct assay__series_info *power = series("power.package");
    CHECK(power->count >= 5);
    for (size_t i = 0; i < power->count; i++)
        CHECK_NEAR(power->values[i], 20, 2.2);
    done();
}

/* --- the baseline ----------------------------------------------------------------------------- */

static double settling(double t)
{
    return t < 1 ? 100 * t : t < 3 ? 100 + 50 * (t - 1) : 200 + 300 * (t - 3);
}
static double less_at_work(double t)
{
    return t < 2.5 ? 50 * t : 125 + 10 * (t - 2.5);
}

static void test_short_idle(void)
{
    channel("energy.package-0", "energy", "package", "J", steps_of_half_a_second);
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("power.idle.package"), 20, 1e-9);
    CHECK_HAS(get("power.idle.package")->note, "shorter than 10 update periods of the source (0.5");
    CHECK_HAS(get("energy.inference.net")->note, "package, idle: shorter than 10 update periods");
    check_page(
        "idle: before the first launch; shorter than 10 update periods of the source (0.5 s)",
        NULL);
    done();
}

static void test_settling(void)
{
    channel("energy.package-0", "energy", "package", "J", settling);
    measure("cpu", NULL);
    sensors.idle_end_ns = at(3);
    compute();
    CHECK_NEAR(value("power.idle.package"), 50, 1e-9);
    CHECK_HAS(get("power.idle.package")->note,
              "idle power fell from 100 W in the first third of the time to 50 W in the last, "
              "which is the baseline");
    CHECK_NEAR(value("energy.inference.net"), 250 * LENGTH / 800, 1e-9);
    check_page("idle power fell from 100 W", NULL);
    done();
    sensors.sampler = NULL; /* thirds of 0.67 s are under ten periods: said, but not used */
    clock_ns = SECOND;
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("power.idle.package"), 75, 1e-9);
    CHECK_HAS(get("power.idle.package")->note, "too short for a baseline");
    done();
}

static void test_below_idle(void)
{
    channel("energy.package-0", "energy", "package", "J", less_at_work);
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("energy.inference.net"), -40 * LENGTH / 800, 1e-9);
    check_page("below zero: the idle machine drew more than this run",
               "of it beyond the idle machine");
    done();
}

static double clock_gone_at_4s(double t)
{
    return t < 4 ? 3e9 : (double)NAN;
}
static double stands(double t)
{
    (void)t;
    return 5;
}
static double busy(double t)
{
    return 1.5 * t;
}

/* What was not read to the end has not seen that there was none. */
static void test_clock_went_away(void)
{
    ops.name = "cpufreq";
    channel("clock.mean", "clock", "cpu", "Hz", clock_gone_at_4s);
    channel("count.throttled.core", "count", "core", "1", stands);
    measure("cpu", NULL);
    compute();
    check_page("none seen in counts of the CPU cores\n", "none seen in the CPU clock");
    done();
    channel_count = 0;
    clock_ns = SECOND;
    sensors.sampler = NULL;
    channel("clock.mean", "clock", "cpu", "Hz", clock_gone_at_4s);
    measure("cpu", NULL);
    compute();
    check_page("not monitored throughout: the CPU clock (text instead of a number)", "none seen");
    done();
}

static void test_cpu_time(void)
{
    ops.name = "procstat";
    channel("time.busy", "time", "", "s", stands);
    channel("time.idle", "time", "", "s", stands);
    measure("cpu", NULL);
    compute();
    check_page("— /proc/stat did not change", "CPUs busy");
    done();
    channel_count = 0;
    clock_ns = SECOND;
    sensors.sampler = NULL;
    channel("time.busy", "time", "", "s", busy);
    measure("cpu", NULL);
    compute();
    check_page("=1.50 CPUs busy", "did not change");
    done();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"stands_still", test_stands_still},   {"still_for_a_moment", test_still_for_a_moment},
        {"last_resort", test_last_resort},     {"hangs_at_open", test_hangs_at_open},
        {"no_difference", test_no_difference}, {"beat", test_beat},
        {"short_idle", test_short_idle},       {"settling", test_settling},
        {"below_idle", test_below_idle},       {"clock_went_away", test_clock_went_away},
        {"cpu_time", test_cpu_time},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
