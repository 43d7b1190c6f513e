/* test_monitor_ticks.c - the monitor on fake probes and a scripted clock: rows in their order,
 * readings that come and go, an energy counter before sampled power, its walkers. */
#include "harness.h"

#include "base/json.h"
#include "monitor/monitor.h"
#include "sampler_clock.h"

/* --- two fake probes, whose numbers the test sets --------------------------------------------- */

enum { LOAD, GPU_POWER, GPU_MEMORY, HOT, DENIED, GPU_COUNT };

static double numbers[GPU_COUNT], joules;

struct assay__probe {
    bool energy;
};
static struct assay__probe gpu_probe = {false}, energy_probe = {true};

#define GAUGE(name, quantity, rail, unit, available, reason)                                      \
    {                                                                                             \
        name, quantity, rail, unit, ASSAY__CHANNEL_GAUGE, NAN, "script", available, reason, NULL, \
            false, false                                                                          \
    }

static const struct assay__channel gpu_channels[] = {
    GAUGE("utilization.gpu0", "utilization", "gpu0", "ratio", true, ""),
    GAUGE("power.gpu0", "power", "gpu0", "W", true, ""),
    GAUGE("memory.gpu0.used", "memory", "gpu0", "B", true, ""),
    GAUGE("temperature.gpu0", "temperature", "gpu0", "°C", true, ""),
    GAUGE("clock.gpu0.sm", "clock", "gpu0", "Hz", false, "needs root: sudo true"),
};
static const struct assay__channel energy_channels[] = {
    {"energy.gpu0", "energy", "gpu0", "J", ASSAY__CHANNEL_COUNTER, NAN, "script", true, "", NULL,
     false, false},
};

static int open_gpu(struct assay__arena *arena, struct assay__probe **probe,
                    struct assay_error *error)
{
    (void)arena, (void)error;
    *probe = &gpu_probe;
    return 0;
}

static int open_energy(struct assay__arena *arena, struct assay__probe **probe,
                       struct assay_error *error)
{
    (void)arena, (void)error;
    *probe = &energy_probe;
    return 0;
}

static size_t channels_of(const struct assay__probe *probe, const struct assay__channel **channels)
{
    *channels = probe->energy ? energy_channels : gpu_channels;
    return probe->energy ? 1 : GPU_COUNT;
}

static const char *no_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static void read_numbers(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    for (size_t i = 0; !probe->energy && i < GPU_COUNT; i++)
        readings[i] = (struct assay__probe_reading){numbers[i], "the GPU is lost"};
    if (probe->energy) readings[0] = (struct assay__probe_reading){joules, "the GPU is lost"};
}

static void close_probe(struct assay__probe *probe)
{
    (void)probe;
}

#define OPS(called, opens)                                                                 \
    {                                                                                      \
        .name = (called), .summary = "a script", .open = (opens), .channels = channels_of, \
        .reason = no_reason, .read = read_numbers, .close = close_probe                    \
    }
static const struct assay__probe_ops gpu_ops = OPS("nvml", open_gpu);
static const struct assay__probe_ops energy_ops = OPS("nvml-energy", open_energy);
static const struct assay__probe_ops *const probes[] = {&gpu_ops, &energy_ops, NULL};

static struct assay__monitor *monitor;
static struct assay__view view;

static void begin(double interval_s)
{
    const struct assay__monitor_options options = {
        .interval_s = interval_s, .clock = &fake_clock, .probes = probes, .marks = true};
    static const double first[] = {0.25, 100, 4e9, 50, NAN};
    memcpy(numbers, first, sizeof numbers);
    joules = 1000;
    CHECK_INT(assay__monitor_new(&options, &monitor, NULL), 0);
}

static void tick(double seconds)
{
    clock_ns += (uint64_t)(seconds * 1e9 + 0.5);
    assay__monitor_tick(monitor);
    CHECK_INT(assay__monitor_look(monitor, &view), 0);
}

static void end(void)
{
    assay__view_free(&view);
    assay__monitor_free(monitor);
}

static double value_of(const char *name)
{
    const struct assay__shown *shown = assay__view_find(&view, name);
    CHECK(shown);
    return shown->value;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void rows_in_order(void)
{
    static const char *const names[] = {"utilization.active.gpu0", "memory.gpu0.used",
                                        "clock.gpu0.sm", "power.gpu0", "temperature.gpu0"};
    begin(1);
    tick(0);
    CHECK_INT(view.row_count, 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_STR(view.rows[i].row->name, names[i]);
    CHECK_NEAR(value_of("utilization.active.gpu0"), 0.25, 0);
    CHECK_STR(assay__view_find(&view, "utilization.active.gpu0")->row->kind, "active");
    const struct assay__shown *clock = assay__view_find(&view, "clock.gpu0.sm");
    CHECK(isnan(clock->value));
    CHECK_INT(clock->state, ASSAY_UNAVAILABLE);
    CHECK_STR(clock->note, "needs root: sudo true");
    CHECK(isnan(view.interval_s));
    end();
}

/* Power comes from the counter as soon as it can, and from the samples while it cannot. */
static void counter_before_samples(void)
{
    begin(1);
    tick(0);
    CHECK_NEAR(value_of("power.gpu0"), 100, 0);
    CHECK_INT(assay__view_find(&view, "power.gpu0")->state, ASSAY_MEASURED);
    for (int i = 0; i < 5; i++) {
        joules += 330 * 1.1; /* the tick was late: 1.1 s of 330 W */
        tick(1.1);
    }
    CHECK_NEAR(view.interval_s, 1.1, 1e-9);
    CHECK_NEAR(value_of("power.gpu0"), 330, 1e-6);
    const struct assay__shown *power = assay__view_find(&view, "power.gpu0");
    CHECK_INT(power->state, ASSAY_DERIVED);
    CHECK_NEAR(power->energy_j, 4 * 363, 1e-6);
    CHECK_NEAR(power->energy_s, 4 * 1.1, 1e-6);
    joules = NAN;
    tick(1);
    CHECK_NEAR(value_of("power.gpu0"), 100, 0);
    numbers[LOAD] = 42949672.95;
    tick(1);
    CHECK(isnan(value_of("utilization.active.gpu0")));
    CHECK_HAS(assay__view_find(&view, "utilization.active.gpu0")->note, "not plausible");
    end();
}

static void everything_vanishes(void)
{
    begin(1);
    for (int i = 0; i < 3; i++)
        tick(i > 0);
    for (size_t i = 0; i < GPU_COUNT; i++)
        numbers[i] = NAN;
    joules = NAN;
    tick(1);
    for (size_t i = 0; i < view.row_count; i++) {
        CHECK(isnan(view.rows[i].value));
        CHECK_INT(view.rows[i].state, ASSAY_UNAVAILABLE);
        CHECK(view.rows[i].note[0]);
    }
    CHECK_STR(assay__view_find(&view, "temperature.gpu0")->note, "the GPU is lost");
    const struct assay__shown *hot = assay__view_find(&view, "temperature.gpu0");
    CHECK_INT(hot->count, 3);
    CHECK_NEAR(hot->mean, 50, 0);
    /* It is back. */
    numbers[HOT] = 60;
    tick(1);
    CHECK_NEAR(value_of("temperature.gpu0"), 60, 0);
    CHECK_NEAR(assay__view_find(&view, "temperature.gpu0")->greatest, 60, 0);
    end();
}

/* A sweep soon after a tick feeds the sensors, but is no tick of its own. */
static void early_sweeps(void)
{
    begin(1);
    tick(0);
    CHECK_INT(view.ticks, 1);
    tick(0.4);
    CHECK_INT(view.ticks, 1);
    tick(0.6);
    CHECK_INT(view.ticks, 2);
    CHECK_NEAR(view.interval_s, 1, 1e-9);
    CHECK_INT(assay__view_find(&view, "temperature.gpu0")->count, 2);
    struct assay__bucket buckets[8];
    uint64_t first_ns;
    size_t row = (size_t)(assay__view_find(&view, "temperature.gpu0") - view.rows);
    CHECK_INT(assay__monitor_history(monitor, 0, row, buckets, 8, &first_ns), 2);
    CHECK_NEAR(buckets[1].mean, 50, 0);
    end();
}

static uint64_t suspended;

static uint64_t suspended_so_far(void)
{
    return suspended;
}

/* The counter grew while the machine was suspended: no interval contains that. */
static void machine_was_suspended(void)
{
    const struct assay__monitor_options options = {
        .interval_s = 1, .clock = &fake_clock, .probes = probes, .suspended_ns = suspended_so_far};
    joules = 0;
    numbers[GPU_POWER] = NAN;
    CHECK_INT(assay__monitor_new(&options, &monitor, NULL), 0);
    for (int i = 0; i < 4; i++) {
        tick(i > 0);
        joules += 100;
    }
    CHECK_NEAR(value_of("power.gpu0"), 100, 1e-9);
    suspended = 3600ull * SECOND;
    joules += 3600 * 2;
    tick(1);
    CHECK(isnan(value_of("power.gpu0")));
    for (int i = 0; i < 3; i++) {
        joules += 50;
        tick(1);
    }
    CHECK_NEAR(value_of("power.gpu0"), 50, 1e-9);
    end();
}

/* --- rows that are given ---------------------------------------------------------------------- */

static double power_seen, to_give;

static void give_values(void *context, const struct assay__monitor *of, double *values,
                        const char **notes)
{
    const char *note;
    (void)context;
    power_seen = assay__monitor_value(of, "power.gpu0", &note);
    values[0] = to_give;
    notes[0] = isnan(to_give) ? "nothing was given" : "as given";
}

/* Rows of the caller come first and are rows like all others: kept, summed up, unavailable. */
static void given_rows(void)
{
    static const struct assay__row rows[] = {{.name = "latency.p50",
                                              .unit = "s",
                                              .section = ASSAY__SECTION_MODEL,
                                              .device = "",
                                              .kind = "",
                                              .source = "worker",
                                              .formula = "",
                                              .reason = "",
                                              .given = true}};
    const struct assay__monitor_options options = {.interval_s = 1,
                                                   .clock = &fake_clock,
                                                   .probes = probes,
                                                   .given = {rows, 1, give_values, NULL}};
    numbers[GPU_POWER] = 70;
    CHECK_INT(assay__monitor_new(&options, &monitor, NULL), 0);
    to_give = 0.002;
    tick(0);
    CHECK_STR(view.rows[0].row->name, "latency.p50");
    CHECK_INT(view.row_count, 6);
    CHECK_NEAR(view.rows[0].value, 0.002, 0);
    CHECK_INT(view.rows[0].state, ASSAY_MEASURED);
    CHECK_STR(view.rows[0].note, "as given");
    CHECK_NEAR(power_seen, 70, 0);
    to_give = NAN;
    tick(1);
    CHECK(isnan(view.rows[0].value));
    CHECK_STR(view.rows[0].note, "nothing was given");
    CHECK_INT(view.rows[0].count, 1);
    CHECK_NEAR(view.rows[0].greatest, 0.002, 0);
    end();
}

static void refuses_intervals(void)
{
    static const double bad[] = {0.05, 11, -1, NAN};
    struct assay_error error;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct assay__monitor_options options = {.interval_s = bad[i], .probes = probes};
        CHECK_INT(assay__monitor_new(&options, &monitor, &error), ASSAY_EINVAL);
        CHECK_STR(error.option, "interval");
        CHECK(monitor == NULL);
    }
}

/* --- the walkers ------------------------------------------------------------------------------ */

static void as_json(void)
{
    struct assay__buf out = {0};
    struct assay__json *root;
    struct assay__arena *arena = assay__arena_new();
    begin(1);
    tick(0);
    numbers[HOT] = 300;
    tick(1);
    assay__view_json(&view, &out);
    CHECK(!out.failed && out.data[out.length - 1] == '\n');
    CHECK(strchr(out.data, '\n') == out.data + out.length - 1); /* one line */
    CHECK_INT(assay__json_parse(arena, out.data, out.length, &root, NULL), 0);
    CHECK_NEAR(assay__json_get_number(root, "interval_s", 0), 1, 1e-9);
    const struct assay__json *metrics = assay__json_get(root, "metrics");
    const struct assay__json *load = assay__json_get(metrics, "utilization.active.gpu0");
    CHECK_NEAR(assay__json_get_number(load, "value", 0), 0.25, 0);
    CHECK_STR(assay__json_get_string(load, "unit", ""), "ratio");
    CHECK_STR(assay__json_get_string(load, "state", ""), "measured");
    CHECK_STR(assay__json_get_string(load, "kind", ""), "active");
    const struct assay__json *hot = assay__json_get(metrics, "temperature.gpu0");
    CHECK_INT(assay__json_get(hot, "value")->kind, ASSAY__JSON_NULL);
    CHECK_STR(assay__json_get_string(hot, "state", ""), "unavailable");
    const struct assay__json *devices = assay__json_get(root, "devices");
    CHECK_INT(devices->count, 1);
    CHECK_STR(assay__json_get_string(devices->first, "class", ""), "gpu");
    CHECK_INT(assay__json_get(devices->first, "metrics")->count, 5);
    CHECK_INT(assay__json_get(root, "processes")->count, 0);
    CHECK_INT(assay__json_get(root, "alerts")->kind, ASSAY__JSON_ARRAY);
    assay__buf_clear(&out);
    assay__view_json_summary(&view, &out);
    CHECK_INT(assay__json_parse(arena, out.data, out.length, &root, NULL), 0);
    const struct assay__json *summary = assay__json_get(root, "summary");
    CHECK_INT(assay__json_get_integer(summary, "readings", 0), 2);
    hot = assay__json_get(assay__json_get(summary, "metrics"), "temperature.gpu0");
    CHECK_INT(assay__json_get_integer(hot, "readings", 0), 1);
    CHECK_NEAR(assay__json_get_number(hot, "max", 0), 50, 0);
    assay__buf_free(&out);
    assay__arena_free(arena);
    end();
}

static void as_text(void)
{
    struct assay__buf out = {0};
    begin(1);
    for (int i = 0; i < 4; i++) {
        tick(i > 0);
        joules += 200;
    }
    assay__view_plain(&view, &out);
    CHECK(!out.failed);
    CHECK_HAS(out.data, "  utilization.active.gpu0 25.0 %");
    CHECK_HAS(out.data, "  power.gpu0 =200 W");
    CHECK_HAS(out.data, "  memory.gpu0.used 4.00 GB");
    CHECK(strchr(out.data, '\n') == out.data + out.length - 1);
    assay__buf_clear(&out);
    assay__view_plain_summary(&view, &out);
    CHECK_HAS(out.data, "  clock.gpu0.sm: needs root: sudo true\n");
    assay__buf_free(&out);
    end();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"rows_in_order", rows_in_order},
        {"counter_before_samples", counter_before_samples},
        {"everything_vanishes", everything_vanishes},
        {"early_sweeps", early_sweeps},
        {"machine_was_suspended", machine_was_suspended},
        {"given_rows", given_rows},
        {"refuses_intervals", refuses_intervals},
        {"as_json", as_json},
        {"as_text", as_text},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
