/* test_sensors.c - from readings to power metrics, series and sentences (sensors_fixture.h tells
 * the script). */
#include "sensors_fixture.h"

#define LIBRARY(name) ASSAY_TEST_BUILD "/tests/lib/" name ".so"

static void test_counter(void)
{
    channel("energy.package-0", "energy", "package", "J", energy_step);
    channel("energy.package-0.core", "energy", "core", "J", energy_dram);
    measure("cpu", NULL);
    assay_metrics_derived(sensors.trial->metrics, "compute.flops", 2e9, "graph", "");
    assay_metrics_measured(sensors.trial->metrics, "throughput.inferences", 250, "clock", "");
    assay_metrics_derived(sensors.trial->metrics, "memory.model", 30e6, "graph", "");
    assay_metrics_measured(sensors.trial->metrics, "memory.peak.worker", 40e6, "process", "");
    compute();
    CHECK_NEAR(value("power.average.package"), 50, 1e-9);
    CHECK_NEAR(value("power.peak.package"), 50, 1e-9);
    CHECK_NEAR(value("power.idle.package"), 10, 1e-9);
    CHECK_NEAR(value("energy.total.package"), 50 * LENGTH, 1e-9);
    CHECK_INT(get("energy.total.package")->state, ASSAY_MEASURED);
    CHECK_NEAR(value("sensor.period.package"), 0.1, 1e-9);
    CHECK_HAS(get("sensor.period.package")->note, "upper bound");
    CHECK_NEAR(value("power.average.core"), 5, 1e-9);
    /* 800 inferences; the core lies within the package and is not added */
    CHECK_NEAR(value("power.average"), 50, 1e-9);
    CHECK_HAS(get("power.average")->note, "package;");
    CHECK_NEAR(value("energy.inference.gross"), 50 * LENGTH / 800, 1e-12);
    CHECK_NEAR(value("energy.inference.net"), 40 * LENGTH / 800, 1e-12);
    CHECK_NEAR(value("efficiency.inferences_per_joule"), 800 / (50 * LENGTH), 1e-9);
    CHECK_NEAR(value("efficiency.tops_per_watt"), 2e9 * 800 / LENGTH / 1e12 / 50, 1e-12);
    double tops = 2e9 * 800 / LENGTH / 1e12 / 50;
    /* the formula that it states, from the numbers that are printed */
    CHECK_HAS(get("efficiency.tops_per_watt")->note,
              "compute.flops / energy.inference.gross / 1e12");
    CHECK_NEAR(value("efficiency.tops_per_watt"),
               value("compute.flops") / value("energy.inference.gross") / 1e12, 1e-15);
    CHECK_NEAR(value("score.efficiency"), 40 * 0.25 + 40 * tops / 10 + 20 * 0.75, 1e-9);
    CHECK_INT(get("score.efficiency")->state, ASSAY_DERIVED);
    CHECK_INT(get("overhead.sensors")->state, ASSAY_MEASURED);
    CHECK_HAS(get("overhead.sensors")->note, "91 readings of 2 channels every 100 ms");
    done();
}

static void test_series(void)
{
    channel("energy.package-0", "energy", "package", "J", energy_step);
    channel("power.broken", "power", "broken", "W", NULL);
    measure("cpu", NULL);
    compute();
    const struct assay__series_info *energy = series("energy.package-0"),
                                    *power = series("power.package"),
                                    *rate = series("throughput.inferences"),
                                    *broken = series("power.broken"),
                                    *per_joule = series("efficiency.inferences_per_joule");
    CHECK_INT(energy->count, 91);
    CHECK(energy->counter);
    CHECK_NEAR(energy->times_ns[90], 9e9, 0.5);
    CHECK_NEAR(energy->values[10], 10, 1e-9);
    CHECK_INT(power->state, ASSAY_DERIVED);
    CHECK_INT(power->count, 9); /* ten periods of 0.1 s each */
    CHECK_NEAR(power->times_ns[0], 0.5e9, 0.5);
    CHECK_NEAR(power->values[0], 10, 1e-9);
    CHECK_NEAR(power->values[2], 30, 1e-9);
    CHECK_NEAR(power->values[8], 50, 1e-6);
    CHECK_INT(broken->state, ASSAY_UNAVAILABLE);
    CHECK_INT(broken->count, 0);
    CHECK_HAS(broken->note, "needs root");
    /* 4.99 s from the first window to the last, 50 equal spans; 100 inferences in 0.49 s, none in
     * the pause */
    CHECK_INT(rate->count, 50);
    CHECK_NEAR(rate->times_ns[0], 3.0499e9, 1);
    CHECK_NEAR(rate->values[0], 100 / 0.49, 1e-6);
    CHECK_NEAR(rate->values[4], 100 / 0.49, 1e-6); /* its pause does not count */
    CHECK(isnan(rate->values[25]));                /* 5.5 s: between the launches */
    CHECK_NEAR(per_joule->values[0], 100 / 0.49 / 50, 1e-6);
    /* the idle span */
    CHECK_INT(sensors.trial->span_count, 1);
    CHECK_STR(sensors.trial->spans[0].kind, "idle");
    CHECK_NEAR(sensors.trial->spans[0].end_ns, 2e9, 0.5);
    done();
}

static void test_packages_and_memory(void)
{
    channel("energy.package-0", "energy", "package-0", "J", energy_step);
    channel("energy.package-1", "energy", "package-1", "J", energy_step);
    channel("energy.package-0.core", "energy", "core-0", "J", energy_dram);
    channel("energy.package-0.dram", "energy", "dram-0", "J", energy_dram);
    channel("energy.psys", "energy", "psys", "J", energy_dram);
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("power.average"), 105, 1e-9);
    CHECK_HAS(get("power.average")->note, "package-0 + package-1 + dram-0;");
    CHECK_NEAR(value("energy.inference.net"), 80 * LENGTH / 800, 1e-9);
    CHECK_STR(why_not("efficiency.tops_per_watt"), "the FLOPs are unknown");
    done();
}

/* One package of two cannot be read: a half sum is no sum. */
static void test_half_a_machine(void)
{
    channel("energy.package-0", "energy", "package-0", "J", energy_step);
    channel("energy.package-1", "energy", "package-1", "J", NULL);
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("power.average.package-0"), 50, 1e-9);
    CHECK_HAS(why_not("power.average"), "package-1: needs root: sudo true");
    CHECK_HAS(why_not("power.average.package-1"), "needs root");
    done();
}

static void test_sampled_power(void)
{
    channel("power.battery", "power", "system", "W", power_50w);
    channel("energy.package-0", "energy", "package", "J", NULL);
    measure("cpu", NULL);
    compute();
    CHECK_NEAR(value("power.average.system"), 50, 1e-9);
    CHECK_INT(get("power.average.system")->state, ASSAY_MEASURED);
    CHECK_INT(get("energy.total.system")->state, ASSAY_DERIVED);
    /* the last resort, and marked */
    CHECK_NEAR(value("power.average"), 50, 1e-9);
    CHECK_HAS(get("power.average")->note, "of the whole machine");
    CHECK_NEAR(value("energy.inference.net"), 40 * LENGTH / 800, 1e-9);
    done();
}

static void test_counter_and_power(void)
{
    channel("power.gpu0", "power", "gpu0", "W", power_60w);
    channel("energy.gpu0", "energy", "gpu0", "J", energy_step);
    measure("build/cuda:0", NULL);
    compute();
    CHECK_NEAR(value("power.average"), 50, 1e-9);
    CHECK_HAS(get("power.average.gpu0")->note, "sampled power is 60 W (+20.0 %)");
    check_page("sampled power is 60 W (+20.0 %)", NULL);
    /* both are there over time */
    CHECK_INT(series("power.gpu0")->state, ASSAY_MEASURED);
    CHECK_INT(series("power.gpu0.counter")->state, ASSAY_DERIVED);
    done();
}

static void two_gpus(void)
{
    channel("power.gpu0", "power", "gpu0", "W", power_60w);
    channel("power.gpu1", "power", "gpu1", "W", power_50w);
    channel("temperature.gpu1", "temperature", "gpu1", "°C", power_60w);
    channel("clock.gpu1.memory", "clock", "gpu1", "Hz", power_50w);
    channel("clock.gpu1.sm", "clock", "gpu1", "Hz", power_60w);
}

static void test_which_gpu(void)
{
    two_gpus();
    measure("cuda:1", NULL);
    compute();
    CHECK_NEAR(value("power.average"), 50, 1e-9);
    CHECK_HAS(get("power.average")->note, "gpu1; CUDA and NVML number the GPUs");
    check_page("only with CUDA_DEVICE_ORDER=PCI_BUS_ID", NULL);
    CHECK_NEAR(value("hardware.temperature"), 60, 1e-9);
    CHECK_NEAR(value("hardware.temperature_peak"), 60, 1e-9);
    CHECK_NEAR(value("hardware.frequency"), 60, 1e-9);
    CHECK_HAS(get("hardware.frequency")->note, "clock.gpu1.sm:");
    done();
}

static void test_visible_gpu(void)
{
    two_gpus();
    measure("cuda:0", NULL);
    sensors.cuda_visible = "1,0";
    sensors.cuda_order = "PCI_BUS_ID";
    compute();
    CHECK_NEAR(value("power.average"), 50, 1e-9);
    CHECK(!strstr(get("power.average")->note, "alike"));
    done();
}

static void test_unknown_gpu(void)
{
    two_gpus();
    measure("webgpu:0", NULL);
    compute();
    CHECK_HAS(why_not("power.average"), "which of the cards ran it");
    CHECK_NEAR(value("power.average.gpu0"), 60, 1e-9);
    CHECK_HAS(why_not("hardware.temperature"), "the device that ran it");
    done();
    sensors.cuda_visible = "GPU-1234";
    sensors.sampler = NULL;
    clock_ns = SECOND;
    measure("cuda:0", NULL);
    compute();
    CHECK_HAS(why_not("power.average"), "CUDA_VISIBLE_DEVICES does not name it by number");
    done();
}

/* --- sensors that fail ------------------------------------------------------------------------ */

static void test_constant_zero(void)
{
    check_gone(zero, "the counter did not move in");
}

static void test_vanishes(void)
{
    check_gone(gone_at_4s, "text instead of a number");
}

static void test_backwards(void)
{
    check_gone(backwards_at_4s, "the counter went backwards: from 1095 to 3 J");
}

static void test_none(void)
{
    measure("cpu", NULL);
    sensors.idle_end_ns = sensors.idle_begin_ns;
    compute();
    const char *why = why_not("power.average");
    CHECK_HAS(why, "no energy counter or power sensor: rapl: there is no such hardware");
    CHECK_STR(why_not("energy.inference.net"), why);
    CHECK_INT(sensors.trial->span_count, 0);
    CHECK_INT(series("throughput.inferences")->count, 50);
    done();
}

static void test_no_idle(void)
{
    channel("energy.package-0", "energy", "package", "J", energy_step);
    measure("cpu", NULL);
    sensors.idle_end_ns = sensors.idle_begin_ns;
    compute();
    CHECK_NEAR(value("energy.inference.gross"), 50 * LENGTH / 800, 1e-12);
    CHECK_HAS(why_not("energy.inference.net"), "no idle baseline");
    CHECK_HAS(why_not("power.idle.package"), "no idle baseline");
    done();
}

static void test_nothing_measured(void)
{
    channel("energy.package-0", "energy", "package", "J", energy_step);
    measure("cpu", NULL);
    sensors.window_count = 0;
    compute();
    CHECK_HAS(why_not("power.average"), "nothing was measured");
    CHECK_NEAR(value("power.idle.package"), 10, 1e-9);
    done();
}

/* --- throttling ------------------------------------------------------------------------------- */

static double throttled(double t)
{
    return t < 3.95 ? 7 : t < 7 ? 8 : 12;
}
static double falling(double t)
{
    return 4e9 - t * 2e8;
}
static double rising(double t)
{
    return 40 + 5 * t;
}
static double late_yes(double t)
{
    return t >= 6 ? 1 : 0;
}
static double half(double t)
{
    (void)t;
    return 2e9;
}

static void test_throttling(void)
{
    static const char *const no_yes[] = {"no", "yes", NULL};
    static const char *coarse[] = {"the CPUs were throttled 5 times because of heat,",
                                   "the CPU clock changed by -20.0 % while measuring", "rain"};
    ops.name = "cpufreq";
    channel("count.throttled.core", "count", "core", "1", throttled);
    channel("clock.mean", "clock", "cpu", "Hz", falling);
    channel("limit.greatest", "clock", "cpu", "Hz", half);
    channel("hardware.greatest", "clock", "cpu", "Hz", falling);
    channel("temperature.coretemp.package-id-0", "temperature", "p", "°C", rising);
    channel("state.gpu0.slow.power-cap", "state", "gpu0", "1", late_yes)->states = no_yes;
    channel("state.gpu0.slow.idle", "state", "gpu0", "1", late_yes)->states = no_yes;
    measure("cpu", NULL);
    profile->environment.disturbances = coarse;
    profile->environment.disturbance_count = 3;
    derive_facts(profile);
    compute();
    CHECK(said("the CPU cores throttled 5 times because of heat, first at 4 s"));
    CHECK(!said("the CPUs throttled"));
    CHECK(!said("the CPU clock changed by"));
    CHECK(said("rain"));
    /* the first tenth is 3 s to 3.499 s, the last 7.491 s to 7.99 s: means at their middles */
    CHECK(said("the clock of the CPU fell by 27 % (3.35 to 2.45 GHz)"));
    CHECK(said("from 56 to 79 °C"));
    CHECK(said("gpu0 reduced its clocks (power-cap) in 50 % of the measured readings"));
    CHECK(said("readings, first at 6 s"));
    CHECK(!said("(idle)"));
    CHECK(said("limited to 2.00 GHz of 2.20 GHz"));
    CHECK_NEAR(value("hardware.temperature_peak"), 40 + 5 * 7.9, 1e-9);
    done();
}

/* --- an expensive source ---------------------------------------------------------------------- */

static double power_rising(double t)
{
    return t < 3 ? 90 : 380 + 10 * (t - 3);
}

/* 2 ms a reading: every second, and that is said. Energy is right at the edges; the peak is the
 * samples'. */
static void test_dear_counter(void)
{
    ops.name = "nvml";
    channel("power.gpu0", "power", "gpu0", "W", power_rising);
    measure("cuda:0", &dear_ops);
    sensors.cuda_order = "PCI_BUS_ID";
    compute();
    CHECK_NEAR(value("power.average.gpu0"), 400, 1e-6);
    CHECK_NEAR(value("energy.total.gpu0"), 400 * LENGTH, 1e-6);
    CHECK_NEAR(value("power.idle.gpu0"), 90, 1e-9);
    CHECK_NEAR(value("energy.inference.net"), 310 * LENGTH / 800, 1e-9);
    CHECK_NEAR(value("power.peak.gpu0"), 380 + 10 * 4.9, 1e-9);
    CHECK_INT(get("power.peak.gpu0")->state, ASSAY_MEASURED);
    CHECK_HAS(get("power.peak.gpu0")->note, "counter is read rarely");
    CHECK_HAS(get("overhead.sensors")->note,
              "91 readings of 2 channels every 100 ms, 0.13 MB; energy of gpu0 every 1.00 s: a "
              "reading takes 2.00 ms");
    CHECK_HAS(series("energy.gpu0")->note, "read every 1.00 s, and at the edges");
    CHECK_INT(series("energy.gpu0")->count, 5 + 8); /* 1.4, 2.4; 3; 4.4 … 7.4; 8 s */
    CHECK_STR(series("power.gpu0")->note, "");
    CHECK_INT(series("power.gpu0")->state, ASSAY_MEASURED); /* not the counter's five points */
    CHECK_INT(series("power.gpu0")->count, 91);
    CHECK_NEAR(series("efficiency.inferences_per_joule")->period_s, 2, 1e-9);
    done();
}

/* --- a real probe on a fake driver ------------------------------------------------------------ */

/* The fake library's counter grows by 1.25 J whenever it is read: every 100 ms, 12.5 W. */
static void test_nvml(void)
{
    unsetenv("ASSAY_FSROOT");
    unsetenv("FAKE_NVML");
    setenv("ASSAY_NVML_LIBRARY", LIBRARY("lib_fake_nvml"), 1);
    measure("cuda:0", &assay__probe_nvml);
    sensors.cuda_order = "PCI_BUS_ID";
    compute();
    CHECK_NEAR(value("power.average"), 12.5, 1e-6);
    CHECK_NEAR(value("energy.inference.gross"), 12.5 * LENGTH / 800, 1e-9);
    CHECK_NEAR(value("power.average.gpu1"), 42, 1e-9);
    CHECK_STR(get("energy.total.gpu0")->source, "NVML");
    CHECK_INT(get("hardware.temperature")->state, ASSAY_MEASURED);
    done();
}

static void test_lost_gpu(void)
{
    unsetenv("ASSAY_FSROOT");
    setenv("FAKE_NVML", "lost", 1);
    setenv("ASSAY_NVML_LIBRARY", LIBRARY("lib_fake_nvml"), 1);
    measure("cuda:0", &assay__probe_nvml);
    compute();
    CHECK_HAS(why_not("power.average"), "gpu0: the GPU is lost");
    CHECK_NEAR(value("power.average.gpu1"), 42, 1e-9);
    done();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"counter", test_counter},
        {"series", test_series},
        {"packages_and_memory", test_packages_and_memory},
        {"half_a_machine", test_half_a_machine},
        {"sampled_power", test_sampled_power},
        {"counter_and_power", test_counter_and_power},
        {"which_gpu", test_which_gpu},
        {"visible_gpu", test_visible_gpu},
        {"unknown_gpu", test_unknown_gpu},
        {"constant_zero", test_constant_zero},
        {"vanishes", test_vanishes},
        {"backwards", test_backwards},
        {"none", test_none},
        {"no_idle", test_no_idle},
        {"nothing_measured", test_nothing_measured},
        {"throttling", test_throttling},
        {"dear_counter", test_dear_counter},
        {"nvml", test_nvml},
        {"lost_gpu", test_lost_gpu},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
