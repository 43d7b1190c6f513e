/* test_sensors.c - from readings to power metrics, on a scripted clock and scripted sensors: every number is known exactly. The
 * clock starts at 1 s; the idle machine is watched from 0 s to 2 s of the script, two launches are measured from 3 s to 5 s
 * and from 6 s to 8 s (a window of half a second after the other, 10 ms apart), with 100 inferences a window. */
#include "harness.h"

#include "probe/probes.h"
#include "run/sensors.h"

#define MS 1000000u
#define SECOND 1000000000u
#define CHANNELS_MOST 16
#define LIBRARY(name) ASSAY_TEST_BUILD "/tests/lib/" name ".so"

/* --- the script ------------------------------------------------------------------------------- */

static uint64_t clock_ns = SECOND, cpu_clock_ns;

static uint64_t fake_now(void *context)
{
    (void)context;
    return clock_ns;
}

static uint64_t fake_cpu(void *context)
{
    (void)context;
    return cpu_clock_ns;
}

static void fake_sleep(void *context, uint64_t duration_ns)
{
    (void)context;
    clock_ns += duration_ns;
}

static const struct assay__sampler_clock fake_clock = {fake_now, fake_cpu, fake_sleep, NULL};

static struct assay__channel channels[CHANNELS_MOST];
static double (*script[CHANNELS_MOST])(double t);
static size_t channel_count;

struct assay__probe {
    int unused;
};
static struct assay__probe fake;

static int fake_open(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    (void)arena, (void)error;
    *probe = &fake;
    return 0;
}

static size_t fake_list(const struct assay__probe *probe, const struct assay__channel **list)
{
    (void)probe;
    *list = channels;
    return channel_count;
}

static const char *fake_reason(const struct assay__probe *probe)
{
    (void)probe;
    return channel_count ? "" : "there is no such hardware";
}

static void fake_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    for (size_t i = 0; i < channel_count; i++) {
        double value = channels[i].available ? script[i]((double)(clock_ns - SECOND) * 1e-9)
                                             : (double)NAN;
        readings[i] = (struct assay__probe_reading){value,
                                                    isnan(value) ? "text instead of a number" : ""};
    }
}

static void fake_close(struct assay__probe *probe)
{
    (void)probe;
}

static struct assay__probe_ops ops = {.name = "rapl",
                                      .summary = "a script",
                                      .open = fake_open,
                                      .channels = fake_list,
                                      .reason = fake_reason,
                                      .read = fake_read,
                                      .close = fake_close};

/* A second probe: the energy counter of gpu0, 90 W idle and 400 W from 3 s on; a read takes 2 ms of processor time. */
static struct assay__channel dear_channel = {.name = "energy.gpu0",
                                             .quantity = "energy",
                                             .rail = "gpu0",
                                             .unit = "J",
                                             .kind = ASSAY__CHANNEL_COUNTER,
                                             .range = NAN,
                                             .source = "script",
                                             .available = true,
                                             .reason = ""};

static size_t dear_list(const struct assay__probe *probe, const struct assay__channel **list)
{
    (void)probe;
    *list = &dear_channel;
    return 1;
}

static const char *dear_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static void dear_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    double t = (double)(clock_ns - SECOND) * 1e-9;
    (void)probe;
    readings[0] = (struct assay__probe_reading){90 * t + (t > 3 ? 310 * (t - 3) : 0), ""};
    cpu_clock_ns += 2000000;
}

static const struct assay__probe_ops dear_ops = {.name = "nvml-energy",
                                                 .summary = "a script",
                                                 .open = fake_open,
                                                 .channels = dear_list,
                                                 .reason = dear_reason,
                                                 .read = dear_read,
                                                 .close = fake_close};

static struct assay__channel *channel(const char *name, const char *quantity, const char *rail,
                                      const char *unit, double (*value)(double t))
{
    bool counter = strcmp(quantity, "energy") == 0 || strcmp(quantity, "count") == 0;
    channels[channel_count] = (struct assay__channel){
        .name = name,
        .quantity = quantity,
        .rail = rail,
        .unit = unit,
        .kind = counter ? ASSAY__CHANNEL_COUNTER : ASSAY__CHANNEL_GAUGE,
        .range = NAN,
        .source = "script",
        .available = value != NULL,
        .reason = value ? "" : "needs root: sudo true"};
    script[channel_count] = value;
    return &channels[channel_count++];
}

/* --- the run ---------------------------------------------------------------------------------- */

static struct assay_profile *profile;
static struct assay__sensor_window windows[8];
static double samples[100];
static struct assay__sensors sensors;

static uint64_t at(double t)
{
    return SECOND + (uint64_t)llround(t * 1e9);
}

/* Reads every 100 ms for 9 s, out of turn at 3 s and 8 s, then computes. probe: another than the script; of the expensive ones
 * the script is read too, and of NVML its energy. */
static void measure(const char *device, const struct assay__probe_ops *probe)
{
    struct assay__sampler_options options = {
        .size = sizeof options, .clock = &fake_clock, .most_share = 0.002};
    size_t count = 0;
    CHECK_INT(assay__sampler_new(&options, &sensors.sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sensors.sampler, probe ? probe : &ops, NULL, NULL, NULL), 0);
    if (probe == &dear_ops)
        CHECK_INT(assay__sampler_add(sensors.sampler, &ops, NULL, NULL, NULL), 0);
    if (probe == &assay__probe_nvml)
        CHECK_INT(assay__sampler_add(sensors.sampler, &assay__probe_nvml_energy, NULL, NULL, NULL),
                  0);
    for (int tick = 0; tick <= 90; tick++) {
        clock_ns = at(tick * 0.1);
        if (tick == 30 || tick == 80) assay__sampler_nudge(sensors.sampler);
        assay__sampler_tick(sensors.sampler);
    }
    for (size_t i = 0; i < 100; i++)
        samples[i] = 4e6;
    for (int launch = 1; launch <= 2; launch++)
        for (int w = 0; w < 4; w++)
            windows[count++] = (struct assay__sensor_window){
                launch, at(3 * launch + w * 0.5), at(3 * launch + w * 0.5 + 0.49), 100, samples,
                100};
    profile = assay__profile_new();
    sensors.profile = profile;
    sensors.trial = assay__profile_trial(profile);
    sensors.trial->device = device;
    sensors.origin_ns = SECOND;
    sensors.idle_begin_ns = at(0);
    sensors.idle_end_ns = at(2);
    sensors.idle_reason = "no idle baseline was taken (--idle 0)";
    sensors.interval_s = 0.1;
    sensors.windows = windows;
    sensors.window_count = count;
}

static void compute(void)
{
    CHECK_INT(assay__sensors_compute(&sensors), 0);
}

static void done(void)
{
    assay__sampler_free(sensors.sampler);
    assay_profile_close(profile);
}

static const struct assay_metric *get(const char *name)
{
    const struct assay_metric *metric = assay_metrics_get(sensors.trial->metrics, name);
    if (!metric) harness_fail(__FILE__, __LINE__, name);
    return metric;
}

static double value(const char *name)
{
    const struct assay_metric *metric = get(name);
    if (metric->state == ASSAY_UNAVAILABLE) printf("  %s: %s\n", name, metric->note);
    return metric->value;
}

static const char *why_not(const char *name)
{
    const struct assay_metric *metric = get(name);
    if (metric->state != ASSAY_UNAVAILABLE) printf("  %s is %g\n", name, metric->value);
    CHECK_INT(metric->state, ASSAY_UNAVAILABLE);
    CHECK(isnan(metric->value));
    return metric->note;
}

static const struct assay__series_info *series(const char *name)
{
    for (size_t i = 0; i < sensors.trial->series_count; i++)
        if (strcmp(sensors.trial->series[i].name, name) == 0) return &sensors.trial->series[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

static bool said(const char *text)
{
    for (size_t i = 0; i < profile->environment.disturbance_count; i++)
        if (strstr(profile->environment.disturbances[i], text)) return true;
    return false;
}

/* --- what the sensors say --------------------------------------------------------------------- */

/* 10 W until 2.5 s, then 50 W. */
static double energy_step(double t)
{
    return 1000 + (t < 2.5 ? 10 * t : 25 + 50 * (t - 2.5));
}
static double energy_dram(double t)
{
    return 5 * t;
}
static double power_50w(double t)
{
    return t < 2.5 ? 10 : 50;
}
static double power_60w(double t)
{
    (void)t;
    return 60;
}
static double zero(double t)
{
    (void)t;
    return 0;
}
static double gone_at_4s(double t)
{
    return t < 4 ? energy_step(t) : (double)NAN;
}
static double backwards_at_4s(double t)
{
    return t < 4 ? energy_step(t) : 3;
}

#define LENGTH (8 * 0.49) /* of all windows, s */

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
    CHECK_INT(power->count, 90);
    CHECK_NEAR(power->times_ns[0], 0.05e9, 0.5);
    CHECK_NEAR(power->values[0], 10, 1e-9);
    CHECK_NEAR(power->values[89], 50, 1e-6);
    CHECK_INT(broken->state, ASSAY_UNAVAILABLE);
    CHECK_INT(broken->count, 0);
    CHECK_HAS(broken->note, "needs root");
    /* 4.99 s from the first window to the last, 50 equal spans; 100 inferences in 0.49 s, none in the pause */
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
    CHECK_HAS(why_not("efficiency.tops_per_watt"), "compute.flops is unavailable");
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
    CHECK_HAS(get("power.average")->note, "the whole machine's");
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
    CHECK_HAS(get("power.average.gpu0")->note, "sampled power says 60 W (+20.0 %)");
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
    CHECK_HAS(get("power.average")->note, "gpu1; CUDA and NVML count the GPUs alike only with");
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
    CHECK_HAS(why_not("power.average"), "which of the cards ran it is not known");
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

static void check_gone(double (*script_of)(double t), const char *reason)
{
    channel("energy.package-0", "energy", "package", "J", script_of);
    measure("cpu", NULL);
    compute();
    CHECK_HAS(why_not("power.average.package"), reason);
    CHECK_HAS(why_not("power.average"), reason);
    CHECK_HAS(why_not("energy.inference.gross"), reason);
    why_not("energy.inference.net");
    why_not("efficiency.inferences_per_joule");
    CHECK_HAS(why_not("score.efficiency"), "not known: speed, TOPS/W, memory");
    done();
}

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
    CHECK_HAS(why_not("energy.inference.net"), "--idle 0");
    CHECK_HAS(why_not("power.idle.package"), "--idle 0");
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
    static const char *coarse[] = {"the CPUs throttled 5 times for heat",
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
    compute();
    CHECK(said("the CPU cores throttled 5 times for heat, first at 4 s"));
    CHECK(!said("the CPUs throttled"));
    CHECK(!said("the CPU clock changed by"));
    CHECK(said("rain"));
    /* the first tenth is 3 s to 3.499 s, the last 7.491 s to 7.99 s: means at their middles */
    CHECK(said("the clock of the CPU fell by 27 % (3.35 to 2.45 GHz)"));
    CHECK(said("from 56 to 79 °C"));
    CHECK(said(
        "gpu0 held its clocks down (power-cap) in 50 % of the measured readings, first at 6 s"));
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

/* 2 ms a reading: every second, and that is said. Energy is right at the edges; the peak is the samples'. */
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
    CHECK_HAS(get("power.peak.gpu0")->note, "as its counter is read seldom");
    CHECK_HAS(
        get("overhead.sensors")->note,
        "91 readings of 2 channels every 100 ms, 0.13 MB; energy of gpu0 every 1.00 s: a reading takes 2.00 ms");
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
