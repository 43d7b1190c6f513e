/* test_probe_sampler.c - the sampler on a fake probe and a scripted clock, so that every number is exact: growth, wraps,
 * faults, gaps, update periods, energy, thinning, costs. Threads and a probe that blocks are tested at the end, with the real
 * clock and no time asserted. */
#include "harness.h"

#include "base/clock.h"
#include "probe/probe.h"
#include "probe/sampler.h"

#include <pthread.h>
#include <stdatomic.h>

#define MS 1000000u
#define SECOND 1000000000u

/* --- the script ------------------------------------------------------------------------------- */

static _Atomic uint64_t clock_ns; /* calibration has a thread of its own */
static uint64_t cpu_clock_ns, read_cost_ns;

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

/* --- the fake probe: four channels whose values are functions of the time ---------------------- */

enum { ENERGY, POWER, BROKEN, COUNT, CHANNELS };

static struct assay__channel fake_channels[CHANNELS];
static double (*script[CHANNELS])(uint64_t now_ns);
static const char *script_reason = "";
static int opened, closed;

struct assay__probe {
    int unused;
};
static struct assay__probe fake;

static double nothing(uint64_t now_ns)
{
    (void)now_ns;
    return 0;
}

static int fake_open(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    (void)arena, (void)error;
    opened++;
    *probe = &fake;
    return 0;
}

static size_t fake_list(const struct assay__probe *probe, const struct assay__channel **channels)
{
    (void)probe;
    *channels = fake_channels;
    return CHANNELS;
}

static const char *fake_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static void fake_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    for (size_t i = 0; i < CHANNELS; i++) {
        double value = fake_channels[i].available ? script[i](clock_ns) : NAN;
        readings[i] = (struct assay__probe_reading){value, isnan(value) ? script_reason : ""};
    }
    clock_ns += read_cost_ns;
    cpu_clock_ns += read_cost_ns / 2;
}

static void fake_close(struct assay__probe *probe)
{
    (void)probe;
    closed++;
}

static const struct assay__probe_ops fake_ops = {.name = "fake",
                                                 .summary = "a script",
                                                 .open = fake_open,
                                                 .channels = fake_list,
                                                 .reason = fake_reason,
                                                 .read = fake_read,
                                                 .close = fake_close};

static struct assay__sampler *sampler;

static void begin(uint64_t interval_ns, size_t capacity)
{
    static const struct assay__channel models[CHANNELS] = {
        {"energy.package", "energy", "package", "J", ASSAY__CHANNEL_COUNTER, 1000, "script", true,
         "", NULL},
        {"power.package", "power", "package", "W", ASSAY__CHANNEL_GAUGE, NAN, "script", true, "",
         NULL},
        {"power.broken", "power", "broken", "W", ASSAY__CHANNEL_GAUGE, NAN, "script", false,
         "needs root: sudo true", NULL},
        {"count.events", "count", "cpu", "1", ASSAY__CHANNEL_COUNTER, NAN, "script", true, "",
         NULL},
    };
    memcpy(fake_channels, models, sizeof models);
    for (size_t i = 0; i < CHANNELS; i++)
        if (!script[i]) script[i] = nothing;
    clock_ns = SECOND;
    struct assay__sampler_options options = {.size = sizeof options,
                                             .interval_ns = interval_ns,
                                             .capacity = capacity,
                                             .clock = &fake_clock};
    CHECK_INT(assay__sampler_new(&options, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &fake_ops, NULL, NULL, NULL), 0);
    CHECK_INT(assay__sampler_count(sampler), CHANNELS);
}

/* Ticks at clock_ns, clock_ns + interval, …; the clock stands at the last one after. */
static void ticks(size_t count, uint64_t interval_ns)
{
    for (size_t i = 0; i < count; i++) {
        if (i) clock_ns += interval_ns;
        assay__sampler_tick(sampler);
    }
}

static void end(void)
{
    assay__sampler_free(sampler);
    CHECK_INT(opened, 1);
    CHECK_INT(closed, 1);
}

static double seconds(uint64_t now_ns)
{
    return (double)(now_ns - SECOND) * 1e-9;
}

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
    /* Gaps of 20 ms and, over the repeats, 40 ms: the long ones are left out (limit 1.5 · 20 + 5). */
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
    CHECK_HAS(window.reason, "nothing but 0 in 2 s of load");
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

/* --- threads ---------------------------------------------------------------------------------- */

/* Time for threads: it passes only where the reading thread sleeps, and by a second when the test says so. A machine
 * that is busy can then not make a good probe look stuck. */
static atomic_ullong thread_clock_ns;
static _Thread_local bool is_reader;

static uint64_t thread_now(void *context)
{
    (void)context;
    return thread_clock_ns;
}

static void thread_sleep(void *context, uint64_t duration_ns)
{
    (void)context;
    if (is_reader) thread_clock_ns += duration_ns;
    assay__sleep_ns(duration_ns < MS / 5 ? duration_ns : MS / 5);
}

static const struct assay__sampler_clock thread_clock = {thread_now, fake_cpu, thread_sleep, NULL};

static double growing(uint64_t now_ns)
{
    (void)now_ns;
    static double value;
    is_reader = true;
    return value += 1;
}

static void start_threads(const struct assay__probe_ops *second,
                          const struct assay__sampler_clock *clock, uint64_t timeout_ns)
{
    script[COUNT] = growing;
    begin(100 * MS, 0);
    assay__sampler_free(sampler);
    opened = closed = 0;
    struct assay__sampler_options options = {.size = sizeof options,
                                             .interval_ns = MS,
                                             .timeout_ns = timeout_ns,
                                             .capacity = 100000,
                                             .clock = clock};
    CHECK_INT(assay__sampler_new(&options, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &fake_ops, NULL, NULL, NULL), 0);
    if (second) CHECK_INT(assay__sampler_add(sampler, second, NULL, NULL, NULL), 0);
    CHECK_INT(assay__sampler_start(sampler, NULL), 0);
}

static uint64_t readings_of(size_t index)
{
    struct assay__series series;
    assay__sampler_series(sampler, index, &series);
    return series.readings;
}

static void test_thread(void)
{
    struct assay__series series;
    struct assay__sampler_cost cost;
    start_threads(NULL, NULL, 60 * (uint64_t)SECOND);
    CHECK_INT(assay__sampler_start(sampler, NULL), ASSAY_EINVAL);
    while (readings_of(COUNT) < 20)
        assay__sleep_ns(MS);
    assay__sampler_stop(sampler);
    assay__sampler_series(sampler, COUNT, &series);
    CHECK_INT(series.count, series.readings);
    for (size_t i = 0; i < series.count; i++) {
        CHECK_NEAR(series.values[i], (double)i, 0);
        if (i) CHECK(series.times_ns[i] > series.times_ns[i - 1]);
    }
    assay__sampler_cost(sampler, &cost);
    CHECK_INT(cost.ticks, series.readings);
    CHECK(cost.cpu_ns > 0);
    CHECK(cost.wall_ns > 0);
    assay__sampler_stop(sampler); /* harmless */
    end();
}

/* A probe whose read blocks until the test lets it go. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opens = PTHREAD_COND_INITIALIZER;
static bool gate_open, let_go, stuck_closed, jump;
static atomic_bool inside;
static int stuck_reads;

static size_t stuck_list(const struct assay__probe *probe, const struct assay__channel **channels)
{
    static const struct assay__channel one = {
        "power.stuck", "power", "stuck", "W", ASSAY__CHANNEL_GAUGE, NAN, "script", true, "", NULL};
    (void)probe;
    *channels = &one;
    return 1;
}

static void stuck_read(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    pthread_mutex_lock(&gate);
    stuck_reads++;
    if (stuck_reads > 3) {
        inside = true;
        if (jump) thread_clock_ns += SECOND;
    }
    while (stuck_reads > 3 && !gate_open)
        pthread_cond_wait(&gate_opens, &gate);
    let_go = gate_open;
    pthread_mutex_unlock(&gate);
    readings[0] = (struct assay__probe_reading){7, ""};
}

static void stuck_close(struct assay__probe *probe)
{
    (void)probe;
    pthread_mutex_lock(&gate);
    stuck_closed = true;
    pthread_mutex_unlock(&gate);
}

static const struct assay__probe_ops stuck_ops = {.name = "stuck",
                                                  .summary = "blocks",
                                                  .open = fake_open,
                                                  .channels = stuck_list,
                                                  .reason = fake_reason,
                                                  .read = stuck_read,
                                                  .close = stuck_close};

static void open_gate(void)
{
    pthread_mutex_lock(&gate);
    gate_open = true;
    pthread_cond_broadcast(&gate_opens);
    pthread_mutex_unlock(&gate);
}

static void test_blocked_probe(void)
{
    struct assay__series series;
    struct assay__probe_cost cost;
    jump = true;
    start_threads(&stuck_ops, &thread_clock, 20 * MS);
    do {
        assay__sleep_ns(MS);
        assay__sampler_series(sampler, CHANNELS, &series);
    } while (series.available);
    CHECK_HAS(series.reason, "did not come back within 0.02 s");
    uint64_t before = readings_of(COUNT);
    while (readings_of(COUNT) < before + 10) /* the others go on */
        assay__sleep_ns(MS);
    assay__sampler_stop(sampler);
    assay__sampler_series(sampler, CHANNELS, &series);
    CHECK_INT(series.readings, 3);
    CHECK_INT(series.count, 3);
    CHECK_NEAR(series.values[2], 7, 0);
    /* A window that it does not reach has the true reason. */
    struct assay__window window;
    assay__sampler_window(sampler, CHANNELS, series.times_ns[0], series.times_ns[2] + SECOND, true,
                          &window);
    CHECK(!window.available);
    CHECK_STR(window.reason,
              "a read did not come back within 0.02 s: given up; the window ends 1 s "
              "after the last reading");
    assay__sampler_probe_cost(sampler, 1, &cost);
    CHECK(cost.blocked);
    assay__sampler_probe_cost(sampler, 0, &cost);
    CHECK(!cost.blocked);
    /* Freed while the lost thread is still inside: nothing is closed under it; it closes when it comes back. */
    assay__sampler_free(sampler);
    CHECK(!stuck_closed);
    open_gate();
    for (bool done = false; !done;) {
        assay__sleep_ns(MS);
        pthread_mutex_lock(&gate);
        done = stuck_closed;
        pthread_mutex_unlock(&gate);
    }
    CHECK(let_go);
}

/* Here the second passes only when stop() is already waiting. */
static _Thread_local bool is_stopping;

static void stop_sleep(void *context, uint64_t duration_ns)
{
    if (is_stopping && inside) thread_clock_ns += SECOND;
    thread_sleep(context, duration_ns);
}

static const struct assay__sampler_clock stop_clock = {thread_now, fake_cpu, stop_sleep, NULL};

/* It blocks when the sampler is told to stop: stop comes back all the same. */
static void test_stop_while_blocked(void)
{
    struct assay__series series;
    start_threads(&stuck_ops, &stop_clock, 20 * MS);
    while (!inside)
        assay__sleep_ns(MS);
    assay__sampler_series(sampler, CHANNELS, &series);
    CHECK(series.available);
    is_stopping = true;
    assay__sampler_stop(sampler);
    assay__sampler_series(sampler, CHANNELS, &series);
    CHECK(!series.available);
    CHECK_HAS(series.reason, "did not come back");
    assay__sampler_series(sampler, COUNT, &series);
    CHECK(series.available);
    open_gate();
    assay__sampler_free(sampler);
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
        {"thread", test_thread},
        {"blocked_probe", test_blocked_probe},
        {"stop_while_blocked", test_stop_while_blocked},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
