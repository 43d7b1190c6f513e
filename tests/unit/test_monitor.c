/* test_monitor.c - the parts of the monitor that need no machine: what a sensor makes of readings
 * that wrap, jump, freeze and vanish; the history's three resolutions; counted durations; names. */
#include "harness.h"

#include "base/stats.h"
#include "monitor/durations.h"
#include "monitor/history.h"
#include "monitor/shown_rows.h"
#include "monitor/sensor.h"

#define SECOND 1000000000ull

static struct assay__channel channel_of(const char *quantity, const char *unit,
                                        enum assay__channel_kind kind, double range)
{
    return (struct assay__channel){.name = quantity,
                                   .quantity = quantity,
                                   .rail = "package",
                                   .unit = unit,
                                   .kind = kind,
                                   .range = range,
                                   .source = "script",
                                   .available = true,
                                   .reason = ""};
}

static struct assay__channel energy(double range)
{
    return channel_of("energy", "J", ASSAY__CHANNEL_COUNTER, range);
}

static struct assay__channel gauge(const char *quantity, const char *unit)
{
    return channel_of(quantity, unit, ASSAY__CHANNEL_GAUGE, NAN);
}

/* --- power ------------------------------------------------------------------------------------ */

/* 50 W by a counter that the source updates every 30 ms, at every interval a user can ask for:
 * never off by more than an update of the source, never 0, never doubled. */
static void power_at_every_interval(void)
{
    static const double intervals_s[] = {0.1, 0.13, 0.5, 1, 1.7, 2, 3, 5, 10};
    struct assay__channel channel = energy(NAN);
    for (size_t i = 0; i < sizeof intervals_s / sizeof intervals_s[0]; i++) {
        struct assay__sensor sensor;
        size_t known = 0;
        assay__sensor_init(&sensor, &channel, NAN);
        for (int tick = 1; tick <= 200; tick++) {
            double now_s = tick * intervals_s[i];
            assay__sensor_take(&sensor, floor(now_s / 0.03) * 1.5, "", (uint64_t)(now_s * 1e9));
            if (tick < 3) continue;
            CHECK(sensor.state == ASSAY_DERIVED);
            CHECK_NEAR(sensor.value, 50, 50 * 0.03 / intervals_s[i] * 1.01);
            known++;
        }
        CHECK_INT(known, 198);
        CHECK_NEAR(sensor.grown / sensor.grown_s, 50, 50 * 0.03 / intervals_s[i]);
    }
}

/* A source slower than the reads: 100 J every 2 s, read every second. */
static void power_of_a_slow_source(void)
{
    struct assay__channel channel = energy(NAN);
    struct assay__sensor sensor;
    assay__sensor_init(&sensor, &channel, NAN);
    for (uint64_t second = 1; second <= 60; second++) {
        assay__sensor_take(&sensor, (double)(second / 2) * 100, "", second * SECOND);
        if (second < 4)
            CHECK(isnan(sensor.value)); /* one change was seen at most */
        else
            CHECK_NEAR(sensor.value, 50, 1e-9);
    }
}

static void counter_wraps_and_goes_back(void)
{
    struct assay__channel channel = energy(1000);
    struct assay__sensor sensor;
    assay__sensor_init(&sensor, &channel, NAN);
    for (uint64_t second = 1; second <= 30; second++) {
        assay__sensor_take(&sensor, fmod(900 + 70.0 * (double)second, 1000), "", second * SECOND);
        if (second > 2) CHECK_NEAR(sensor.value, 70, 1e-9);
    }
    double grown = sensor.grown;
    CHECK_NEAR(grown, 70 * 28, 1e-6);
    /* Above its range, and backwards by less than half of it: no value, and a fresh start. */
    assay__sensor_take(&sensor, 1001, "", 31 * SECOND);
    CHECK(isnan(sensor.value) && sensor.state == ASSAY_UNAVAILABLE);
    CHECK_HAS(sensor.reason, "range");
    assay__sensor_take(&sensor, 500, "", 32 * SECOND);
    assay__sensor_take(&sensor, 400, "", 33 * SECOND);
    CHECK(isnan(sensor.value));
    CHECK_HAS(sensor.reason, "backwards");
    assay__sensor_take(&sensor, 440, "", 34 * SECOND);
    CHECK(isnan(sensor.value));
    assay__sensor_take(&sensor, 480, "", 35 * SECOND);
    CHECK_NEAR(sensor.value, 40, 1e-9);
    CHECK_NEAR(sensor.grown, grown + 40, 1e-6);
}

static void counter_jumps(void)
{
    struct assay__channel channel = energy(NAN);
    struct assay__sensor sensor;
    assay__sensor_init(&sensor, &channel, 100); /* limit: 100 W, so 200 W is the most */
    for (uint64_t second = 1; second <= 5; second++)
        assay__sensor_take(&sensor, 150.0 * (double)second, "", second * SECOND);
    CHECK_NEAR(sensor.value, 150, 1e-9);
    double grown = sensor.grown;
    assay__sensor_take(&sensor, 750 + 201, "", 6 * SECOND);
    CHECK(isnan(sensor.value));
    CHECK_HAS(sensor.reason, "limit");
    CHECK_NEAR(sensor.grown, grown, 0); /* what is not plausible is in no sum */
    assay__sensor_take(&sensor, 751 + 200 + 50, "", 7 * SECOND);
    CHECK_NEAR(sensor.value, 50, 1e-9);
    assay__sensor_init(&sensor, &channel, NAN);
    for (uint64_t second = 1; second <= 4; second++)
        assay__sensor_take(&sensor, second < 4 ? (double)second : 4e9, "", second * SECOND);
    CHECK(isnan(sensor.value));
}

/* It stops for longer than ten of its periods, then continues. */
static void counter_freezes(void)
{
    struct assay__channel channel = energy(NAN);
    struct assay__sensor sensor;
    assay__sensor_init(&sensor, &channel, NAN);
    uint64_t now_ns = 0;
    double joules = 0;
    for (int i = 0; i < 50; i++)
        assay__sensor_take(&sensor, joules += 10, "", now_ns += SECOND / 10);
    CHECK_NEAR(sensor.value, 100, 1e-6);
    for (int i = 0; i < 2; i++)
        assay__sensor_take(&sensor, joules, "", now_ns += SECOND / 10);
    CHECK_NEAR(sensor.value, 100, 1e-6); /* a source may be late */
    assay__sensor_take(&sensor, joules, "", now_ns += SECOND);
    CHECK(isnan(sensor.value));
    for (int i = 0; i < 9; i++)
        assay__sensor_take(&sensor, joules, "", now_ns += SECOND / 10);
    CHECK(isnan(sensor.value));
    CHECK_HAS(sensor.reason, "stands still");
    /* A counter that never moves is not connected: never 0 W. */
    struct assay__sensor dead;
    assay__sensor_init(&dead, &channel, NAN);
    for (uint64_t second = 1; second <= 10; second++) {
        assay__sensor_take(&dead, 0, "", second * SECOND);
        CHECK(isnan(dead.value));
    }
    CHECK_HAS(dead.reason, "stands still");
}

static void counter_vanishes(void)
{
    struct assay__channel channel = energy(NAN);
    struct assay__sensor sensor;
    assay__sensor_init(&sensor, &channel, NAN);
    for (uint64_t second = 1; second <= 4; second++)
        assay__sensor_take(&sensor, 10.0 * (double)second, "", second * SECOND);
    CHECK_NEAR(sensor.value, 10, 1e-9);
    assay__sensor_take(&sensor, NAN, "the device is gone", 5 * SECOND);
    CHECK(isnan(sensor.value) && sensor.state == ASSAY_UNAVAILABLE);
    CHECK_STR(sensor.reason, "the device is gone");
    /* It is back, with another count: nothing is computed across the gap. */
    static const double back[] = {5000, 5020, 5040};
    for (uint64_t i = 0; i < 3; i++)
        assay__sensor_take(&sensor, back[i], "", (6 + i) * SECOND);
    CHECK_NEAR(sensor.value, 20, 1e-9);
}

/* --- gauges and shares ------------------------------------------------------------------------ */

static void gauges_have_bounds(void)
{
    static const struct {
        const char *quantity, *unit;
        double value;
        double limit_w;
        bool plausible;
    } cases[] = {
        {"utilization", "ratio", 0, NAN, true},
        {"utilization", "ratio", 1, NAN, true},
        {"utilization", "ratio", 1.01, NAN, false},
        {"utilization", "ratio", -0.01, NAN, false},
        {"utilization", "ratio", 4294967.295, NAN, false},
        {"temperature", "°C", 45.5, NAN, true},
        {"temperature", "°C", -20, NAN, true},
        {"temperature", "°C", 255, NAN, false},
        {"temperature", "°C", -128, NAN, false},
        {"clock", "Hz", 3.2e9, NAN, true},
        {"clock", "Hz", 0, NAN, false},
        {"clock", "Hz", -1e9, NAN, false},
        {"memory", "B", 0, NAN, true},
        {"memory", "B", 80e9, NAN, true},
        {"memory", "B", 9223372036854775794.0, NAN, false},
        {"power", "W", 300, NAN, true},
        {"power", "W", -1, NAN, false},
        {"power", "W", 3868, 225, false},
        {"power", "W", 449, 225, true},
        {"power", "W", 65535, NAN, false},
        {"power", "W", 0, NAN, false},
        {"fan", "1/s", 0, NAN, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct assay__channel channel = gauge(cases[i].quantity, cases[i].unit);
        struct assay__sensor sensor;
        assay__sensor_init(&sensor, &channel, cases[i].limit_w);
        assay__sensor_take(&sensor, cases[i].value, "", SECOND);
        if (cases[i].plausible != !isnan(sensor.value))
            printf("  %s %g\n", cases[i].quantity, cases[i].value);
        CHECK_INT(!isnan(sensor.value), cases[i].plausible);
        CHECK_INT(sensor.state, cases[i].plausible ? ASSAY_MEASURED : ASSAY_UNAVAILABLE);
        CHECK_INT(sensor.reason[0] != '\0', !cases[i].plausible);
    }
}

static void gauge_freezes(void)
{
    struct assay__channel channel = gauge("power", "W");
    struct assay__sensor sensor;
    uint64_t now_ns = 0;
    assay__sensor_init(&sensor, &channel, NAN);
    for (int i = 0; i < 100; i++)
        assay__sensor_take(&sensor, 50 + i % 7, "", now_ns += SECOND / 10);
    for (int i = 0; i < 90; i++)
        assay__sensor_take(&sensor, 60, "", now_ns += SECOND / 10);
    CHECK_NEAR(sensor.value, 60, 0);
    for (int i = 0; i < 30; i++)
        assay__sensor_take(&sensor, 60, "", now_ns += SECOND / 10);
    CHECK(isnan(sensor.value));
    CHECK_HAS(sensor.reason, "stands still");
    assay__sensor_take(&sensor, 61, "", now_ns += SECOND / 10);
    CHECK_NEAR(sensor.value, 61, 0);
    /* 0 W is a value once the sensor has shown that it measures */
    assay__sensor_take(&sensor, 0, "", now_ns += SECOND / 10);
    CHECK_NEAR(sensor.value, 0, 0);
}

static void shares_of_time(void)
{
    struct assay__channel channel = channel_of("time", "s", ASSAY__CHANNEL_COUNTER, NAN);
    struct assay__sensor sensor;
    assay__sensor_init(&sensor, &channel, NAN);
    CHECK_STR(assay__sensor_unit(&channel), "ratio");
    assay__sensor_take(&sensor, 100, "", SECOND);
    CHECK(isnan(sensor.value));
    assay__sensor_take(&sensor, 100.5, "", 2 * SECOND);
    CHECK_NEAR(sensor.value, 0.5, 1e-9);
    assay__sensor_take(&sensor, 100.5, "", 3 * SECOND);
    CHECK_NEAR(sensor.value, 0, 0); /* nothing was busy: that is a value */
    assay__sensor_take(&sensor, 101.51, "", 4 * SECOND);
    CHECK_NEAR(sensor.value, 1, 0);
    assay__sensor_take(&sensor, 103, "", 5 * SECOND);
    CHECK(isnan(sensor.value));
    /* The same time twice divides nothing. */
    assay__sensor_take(&sensor, 104, "", 5 * SECOND);
    CHECK(isnan(sensor.value));
    assay__sensor_take(&sensor, 103.25, "", 6 * SECOND);
    CHECK_NEAR(sensor.value, 0.25, 1e-9);
}

/* --- history ---------------------------------------------------------------------------------- */

static void history_down_samples(void)
{
    struct assay__history *history;
    struct assay__bucket buckets[700];
    uint64_t first_ns;
    CHECK_INT(assay__history_new(2, 1 << 20, 5 * SECOND, &history, NULL), 0);
    CHECK_INT(assay__history_capacity(history, 0), 600);
    CHECK_INT(assay__history_read(history, 0, 0, buckets, 700, &first_ns), 0);
    /* Ten values a second for 25 s: 0, 1, 2, …; the other row only sometimes has one. */
    for (int i = 0; i < 250; i++) {
        double values[] = {i, i % 20 ? (double)NAN : 7};
        assay__history_put(history, 5 * SECOND + (uint64_t)i * SECOND / 10, values);
    }
    CHECK_INT(assay__history_read(history, 0, 0, buckets, 700, &first_ns), 25);
    CHECK_INT(first_ns, 5 * SECOND);
    for (int i = 0; i < 25; i++) {
        CHECK_NEAR(buckets[i].least, 10 * i, 0);
        CHECK_NEAR(buckets[i].mean, 10 * i + 4.5, 1e-4);
        CHECK_NEAR(buckets[i].greatest, 10 * i + 9, 0);
    }
    CHECK_INT(assay__history_read(history, 0, 1, buckets, 700, &first_ns), 25);
    CHECK_NEAR(buckets[0].mean, 7, 0);
    CHECK(isnan(buckets[1].mean) && isnan(buckets[1].least));
    CHECK_INT(assay__history_read(history, 1, 0, buckets, 700, &first_ns), 3);
    CHECK_NEAR(buckets[1].least, 100, 0);
    CHECK_NEAR(buckets[1].mean, 149.5, 1e-3);
    CHECK_NEAR(buckets[2].greatest, 249, 0); /* not finished yet */
    CHECK_INT(assay__history_read(history, 2, 0, buckets, 700, &first_ns), 1);
    CHECK_NEAR(buckets[0].mean, 124.5, 1e-3);
    /* The newest only. */
    CHECK_INT(assay__history_read(history, 0, 0, buckets, 4, &first_ns), 4);
    CHECK_INT(first_ns, 26 * SECOND);
    CHECK_NEAR(buckets[3].least, 240, 0);
    assay__history_free(history);
}

/* A pause leaves a gap; a week leaves as much memory as a minute. */
static void history_is_bounded(void)
{
    struct assay__history *history;
    struct assay__bucket *buckets = calloc(2000, sizeof *buckets);
    uint64_t first_ns, week_s = 7 * 86400;
    CHECK(buckets);
    CHECK_INT(assay__history_new(1, 1 << 20, 0, &history, NULL), 0);
    size_t bytes = assay__history_bytes(history);
    for (uint64_t second = 0; second < week_s; second++) {
        double value = (double)second;
        if (second >= week_s - 100 && second < week_s - 50) continue;
        assay__history_put(history, second * SECOND, &value);
    }
    CHECK_INT(assay__history_bytes(history), bytes);
    CHECK_INT(assay__history_read(history, 0, 0, buckets, 2000, &first_ns), 600);
    CHECK_INT(first_ns, (week_s - 600) * SECOND);
    for (uint64_t i = 0; i < 600; i++)
        CHECK_INT(isnan(buckets[i].mean), i >= 500 && i < 550);
    CHECK_INT(assay__history_read(history, 2, 0, buckets, 2000, &first_ns), 1440);
    CHECK_NEAR(buckets[0].least, (double)(week_s - 86400), 1);
    double back = 1;
    assay__history_put(history, SECOND, &back); /* the past does not change */
    CHECK_INT(assay__history_read(history, 0, 0, buckets, 1, &first_ns), 1);
    CHECK_INT(first_ns, (week_s - 1) * SECOND);
    assay__history_free(history);
    /* Many rows share the budget. */
    CHECK_INT(assay__history_new(1000, 4 << 20, 0, &history, NULL), 0);
    CHECK(assay__history_bytes(history) <= (4u << 20));
    CHECK(assay__history_capacity(history, 0) >= 60);
    assay__history_free(history);
    free(buckets);
}

/* --- durations -------------------------------------------------------------------------------- */

static void durations_are_counted(void)
{
    enum { COUNT = 20000 };
    static struct assay__durations durations;
    static double sorted[COUNT];
    struct assay__random random;
    double sum = 0;
    assay__random_seed(&random, 1);
    CHECK(isnan(assay__durations_percentile(&durations, 0.5)));
    for (size_t i = 0; i < COUNT; i++) { /* from 10 ns to 10 s */
        sorted[i] = floor(exp(log(10) + assay__random_unit(&random) * log(1e9)));
        sum += sorted[i];
        assay__durations_add(&durations, (uint64_t)sorted[i]);
    }
    assay__stats_sort(sorted, COUNT);
    CHECK_INT(durations.count, COUNT);
    CHECK_NEAR(durations.sum_ns, sum, 1);
    CHECK_INT(durations.least_ns, sorted[0]);
    CHECK_INT(durations.greatest_ns, sorted[COUNT - 1]);
    static const double qs[] = {0.0001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
    for (size_t i = 0; i < sizeof qs / sizeof qs[0]; i++) {
        double exact = sorted[(size_t)ceil(qs[i] * COUNT) - 1];
        CHECK_NEAR(assay__durations_percentile(&durations, qs[i]), exact, exact * 0.008);
    }
    assay__durations_clear(&durations);
    CHECK_INT(durations.count, 0);
    assay__durations_add(&durations, 0);
    assay__durations_add(&durations, UINT64_MAX);
    CHECK_NEAR(assay__durations_percentile(&durations, 0.5), 0, 0);
    CHECK_INT(durations.greatest_ns == UINT64_MAX, 1);
}

/* A percentile that so few marks do not support is unavailable. */
static void durations_as_metrics(void)
{
    static struct assay__durations durations;
    struct assay_metrics *metrics = assay_metrics_new();
    for (uint64_t i = 1; i <= 100; i++)
        assay__durations_add(&durations, i * 1000000);
    assay__durations_metrics(&durations, "", metrics);
    CHECK_INT(assay_metrics_failed(metrics), 0);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.p50")->value, 0.05, 0.0004);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.mean")->value, 0.0505, 1e-9);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.max")->value, 0.1, 1e-12);
    CHECK_INT(assay_metrics_get(metrics, "latency.p90")->state, ASSAY_MEASURED);
    CHECK_INT(assay_metrics_get(metrics, "latency.p99")->state, ASSAY_UNAVAILABLE);
    CHECK_INT(assay_metrics_get(metrics, "latency.p999")->state, ASSAY_UNAVAILABLE);
    assay_metrics_free(metrics);
}

/* --- names ------------------------------------------------------------------------------------ */

/* What each channel is called, and no share is without a kind. */
static void rows_are_named(void)
{
    static const struct {
        const char *probe, *channel, *quantity, *rail;
        enum assay__channel_kind kind;
        const char *name, *device, *share; /* name NULL: not shown */
    } cases[] = {
        {"rapl", "energy.package-0", "energy", "package", 1, "power.package", "cpu", ""},
        {"nvml", "power.gpu0", "power", "gpu0", 0, "power.gpu0", "gpu0", ""},
        {"nvml-energy", "energy.gpu0", "energy", "gpu0", 1, "power.gpu0", "gpu0", ""},
        {"nvml", "utilization.gpu0", "utilization", "gpu0", 0, "utilization.active.gpu0", "gpu0",
         "active"},
        {"nvml", "utilization.gpu0.memory", "utilization", "gpu0", 0, "utilization.memory.gpu0",
         "gpu0", "memory active"},
        {"gpu", "utilization.gpu1", "utilization", "gpu1", 0, "utilization.active.gpu1", "gpu1",
         "active"},
        {"nvml", "memory.gpu0.used", "memory", "gpu0", 0, "memory.gpu0.used", "gpu0", ""},
        {"nvml", "state.gpu0.slow.power-cap", "state", "gpu0", 0, "throttled.gpu0.slow.power-cap",
         "gpu0", ""},
        {"nvml", "state.gpu0.pcie-width", "state", "gpu0", 0, NULL, "", ""},
        {"accel", "time.busy.accel0", "time", "npu", 1, "utilization.active.npu", "npu", "active"},
        {"pressure", "time.cpu.some", "time", "cpu", 1, "pressure.cpu.some", "cpu",
         "some task waited"},
        {"pressure", "time.io.full", "time", "io", 1, "pressure.io.full", "", "all tasks waited"},
        {"cores", "utilization.active.cpu3", "utilization", "cpu3", 0, "utilization.active.cpu3",
         "cpu", "active"},
        {"powermetrics", "utilization.gpu", "utilization", "gpu", 0, "utilization.active.gpu",
         "gpu", "active"},
        {"powermetrics", "power.ane", "power", "ane", 0, "power.ane", "ane", ""},
        {"perf", "cycles", "count", "", 1, NULL, "", ""},
    };
    struct assay__arena *arena = assay__arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct assay__channel channel = {.name = cases[i].channel,
                                               .quantity = cases[i].quantity,
                                               .rail = cases[i].rail,
                                               .kind = cases[i].kind,
                                               .unit = "",
                                               .source = ""};
        struct assay__row row;
        bool shown = assay__row_of(arena, cases[i].probe, &channel, &row);
        CHECK_INT(shown, cases[i].name != NULL);
        if (!shown) continue;
        CHECK_STR(row.name, cases[i].name);
        CHECK_STR(row.device, cases[i].device);
        CHECK_STR(row.kind, cases[i].share);
    }
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"power_at_every_interval", power_at_every_interval},
        {"power_of_a_slow_source", power_of_a_slow_source},
        {"counter_wraps_and_goes_back", counter_wraps_and_goes_back},
        {"counter_jumps", counter_jumps},
        {"counter_freezes", counter_freezes},
        {"counter_vanishes", counter_vanishes},
        {"gauges_have_bounds", gauges_have_bounds},
        {"gauge_freezes", gauge_freezes},
        {"shares_of_time", shares_of_time},
        {"history_down_samples", history_down_samples},
        {"history_is_bounded", history_is_bounded},
        {"durations_are_counted", durations_are_counted},
        {"durations_as_metrics", durations_as_metrics},
        {"rows_are_named", rows_are_named},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
