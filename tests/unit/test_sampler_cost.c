/* test_sampler_cost.c - probes whose reading is expensive: how often they are read, in which order,
 * the readings at the edges of what is measured, calibration, and a read that hangs in it. On a
 * scripted clock every number is exact; where threads are needed no time is asserted. Also run
 * under ThreadSanitizer. */
#include "harness.h"

#include "base/clock.h"
#include "sampler_clock.h"

#include <pthread.h>

/* --- the script ------------------------------------------------------------------------------- */

struct assay__probe {
    struct assay__channel channel;
    double (*value)(double t);
    uint64_t cpu_ns, wall_ns; /* that a read takes */
    uint64_t first_ns;        /* more, for the first */
    uint64_t reads;
    size_t last_place; /* in the order of all reads */
    bool seen[1], selected;
};

static struct assay__probe cheap, dear;
static size_t places;

static double seconds_of(uint64_t now_ns)
{
    return (double)now_ns * 1e-9;
}

static int open_cheap(struct assay__arena *arena, struct assay__probe **probe,
                      struct assay_error *error)
{
    (void)arena, (void)error;
    *probe = &cheap;
    return 0;
}

static int open_dear(struct assay__arena *arena, struct assay__probe **probe,
                     struct assay_error *error)
{
    (void)arena, (void)error;
    *probe = &dear;
    return 0;
}

static size_t list(const struct assay__probe *probe, const struct assay__channel **channels)
{
    *channels = &probe->channel;
    return 1;
}

static const char *no_reason(const struct assay__probe *probe)
{
    (void)probe;
    return "";
}

static void read_one(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    uint64_t more_ns = probe->reads++ == 0 ? probe->first_ns : 0;
    clock_ns += probe->wall_ns / 2;
    readings[0] = (struct assay__probe_reading){probe->value(seconds_of(clock_ns)), ""};
    clock_ns += probe->wall_ns - probe->wall_ns / 2;
    cpu_clock_ns += probe->cpu_ns + more_ns;
    probe->last_place = ++places;
}

static void close_one(struct assay__probe *probe)
{
    (void)probe;
}

static void select_one(struct assay__probe *probe, const bool *wanted)
{
    probe->selected = true;
    probe->seen[0] = wanted[0];
}

static const struct assay__probe_ops dear_ops = {.name = "dear",
                                                 .summary = "takes long",
                                                 .open = open_dear,
                                                 .channels = list,
                                                 .reason = no_reason,
                                                 .read = read_one,
                                                 .close = close_one,
                                                 .select = select_one},
                                     cheap_ops = {.name = "cheap",
                                                  .summary = "does not",
                                                  .open = open_cheap,
                                                  .channels = list,
                                                  .reason = no_reason,
                                                  .read = read_one,
                                                  .close = close_one};
enum { DEAR, CHEAP }; /* the dear one is added first */

static struct assay__sampler *sampler;

static double steady(double t)
{
    return 500 * t;
}

static double warm(double t)
{
    return 300 + t;
}

static void begin(uint64_t interval_ns, double most_share)
{
    clock_ns = 0;
    dear.channel = (struct assay__channel){.name = "energy.gpu0",
                                           .quantity = "energy",
                                           .rail = "gpu0",
                                           .unit = "J",
                                           .kind = ASSAY__CHANNEL_COUNTER,
                                           .range = NAN,
                                           .source = "script",
                                           .available = true,
                                           .reason = ""};
    cheap.channel = dear.channel;
    cheap.channel.name = "power.gpu0";
    cheap.channel.quantity = "power";
    cheap.channel.unit = "W";
    cheap.channel.kind = ASSAY__CHANNEL_GAUGE;
    if (!dear.value) dear.value = steady;
    cheap.value = warm;
    struct assay__sampler_options options = {.size = sizeof options,
                                             .interval_ns = interval_ns,
                                             .clock = &fake_clock,
                                             .most_share = most_share};
    CHECK_INT(assay__sampler_new(&options, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &dear_ops, NULL, NULL, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &cheap_ops, NULL, NULL, NULL), 0);
}

/* A tick at every multiple of the interval from `from` to `to`, both included. */
static void ticks(uint64_t from_ns, uint64_t to_ns, uint64_t interval_ns)
{
    for (uint64_t at = from_ns; at <= to_ns; at += interval_ns) {
        if (clock_ns < at) clock_ns = at;
        assay__sampler_tick(sampler);
    }
}

static struct assay__series series_of(size_t index)
{
    struct assay__series series;
    assay__sampler_series(sampler, index, &series);
    return series;
}

/* --- how often -------------------------------------------------------------------------------- */

/* 4.6 ms a read: every 2.3 s, once its cost is known. The first five readings (the cold one, which
 * is not believed, and four that are) stand at the interval. */
static void test_dear_is_read_seldom(void)
{
    struct assay__probe_cost cost;
    dear.cpu_ns = 4600000;
    dear.first_ns = 900 * (uint64_t)MS;
    cheap.cpu_ns = 20000;
    begin(100 * MS, 0.002);
    ticks(0, 60 * (uint64_t)SECOND, 100 * MS);
    struct assay__series series = series_of(DEAR);
    CHECK_NEAR(series.interval_s, 2.3, 1e-9);
    CHECK_NEAR(series.read_s, 4.6e-3, 1e-12);
    CHECK_INT(series.times_ns[4], 400 * MS);
    CHECK_INT(series.times_ns[5], 2700 * (uint64_t)MS);
    CHECK_INT(series.times_ns[6], 5000 * (uint64_t)MS);
    CHECK_INT(series.count, 5 + 25); /* 2.7 s, 5 s, … 57.9 s */
    CHECK_INT(series.times_ns[29], 57900 * (uint64_t)MS);
    series = series_of(CHEAP);
    CHECK_NEAR(series.interval_s, 0.1, 1e-12);
    CHECK_INT(series.count, 601);
    assay__sampler_probe_cost(sampler, DEAR, &cost);
    CHECK_NEAR(cost.cpu_ns, 4600000, 1e-3);
    CHECK_NEAR(cost.interval_s, 2.3, 1e-9);
    assay__sampler_free(sampler);
}

/* An interval that is no multiple of the ticks keeps its mean: 0.52 ms a read is 260 ms, at ticks 2
 * and 3 apart. */
static void test_rhythm(void)
{
    dear.cpu_ns = dear.wall_ns = 520000;
    begin(100 * MS, 0.002);
    ticks(0, 26400 * (uint64_t)MS, 100 * MS);
    CHECK_NEAR(series_of(DEAR).interval_s, 0.26, 1e-9);
    CHECK_INT(series_of(DEAR).count, 5 + 100);
    assay__sampler_free(sampler);
}

static void test_without_a_limit(void)
{
    dear.cpu_ns = 4600000;
    begin(100 * MS, 0);
    ticks(0, 2 * (uint64_t)SECOND, 100 * MS);
    CHECK_INT(series_of(DEAR).count, 21);
    CHECK_NEAR(series_of(DEAR).interval_s, 0.1, 1e-12);
    assay__sampler_free(sampler);
}

/* A short interval is given where a read is cheap (50 µs), and only there. */
static void test_short_interval(void)
{
    cheap.cpu_ns = cheap.wall_ns = 50000;
    dear.cpu_ns = dear.wall_ns = 60000;
    begin(MS, 0.002);
    ticks(0, SECOND, MS);
    CHECK_NEAR(series_of(CHEAP).interval_s, 0.001, 1e-12);
    CHECK_INT(series_of(CHEAP).count, 1001);
    CHECK_NEAR(series_of(DEAR).interval_s, 0.03, 1e-12);
    CHECK(series_of(DEAR).count < 45);
    assay__sampler_free(sampler);
}

static void test_cheap_first(void)
{
    dear.cpu_ns = dear.wall_ns = 4600000;
    begin(100 * MS, 0.002);
    ticks(0, 300 * MS, 100 * MS);
    CHECK(dear.last_place < cheap.last_place); /* nothing is known yet: as they were added */
    ticks(400 * MS, 500 * MS, 100 * MS);
    clock_ns = 10 * (uint64_t)SECOND;
    assay__sampler_tick(sampler);
    CHECK(dear.last_place > cheap.last_place);
    struct assay__series series = series_of(CHEAP);
    CHECK_INT(series.times_ns[series.count - 1], 10 * (uint64_t)SECOND); /* it did not wait */
    assay__sampler_free(sampler);
}

/* It becomes cheap again: it is read at the interval again. */
static void test_cheap_again(void)
{
    dear.cpu_ns = dear.wall_ns = 400000;
    begin(100 * MS, 0.002);
    ticks(0, 2 * (uint64_t)SECOND, 100 * MS);
    CHECK_NEAR(series_of(DEAR).interval_s, 0.2, 1e-9);
    dear.cpu_ns = dear.wall_ns = 10000;
    ticks(2100 * (uint64_t)MS, 30 * (uint64_t)SECOND, 100 * MS);
    CHECK_NEAR(series_of(DEAR).interval_s, 0.1, 1e-12);
    size_t before = series_of(DEAR).count;
    ticks(30100 * (uint64_t)MS, 31 * (uint64_t)SECOND, 100 * MS);
    CHECK_INT(series_of(DEAR).count, before + 10);
    assay__sampler_free(sampler);
}

static void test_bad_share(void)
{
    struct assay__sampler_options options = {.size = sizeof options, .most_share = 1.5};
    struct assay_error error;
    CHECK_INT(assay__sampler_new(&options, &sampler, &error), ASSAY_EINVAL);
    options.most_share = NAN;
    CHECK_INT(assay__sampler_new(&options, &sampler, &error), ASSAY_EINVAL);
}

/* --- edges ------------------------------------------------------------------------------------ */

/* 100 W; from 10 s to 20 s 500 W and 20 W more every second; then 100 W again. */
static double launch_energy(double t)
{
    double in = t < 10 ? 0 : t > 20 ? 10 : t - 10;
    return 100 * (t - in) + 500 * in + 10 * in * in;
}

static struct assay__window energy_between(double begin_s, double end_s)
{
    struct assay__window window;
    assay__sampler_energy(sampler, "gpu0", (uint64_t)(begin_s * 1e9), (uint64_t)(end_s * 1e9), true,
                          &window);
    CHECK(window.available);
    CHECK_INT(window.method, ASSAY__WINDOW_COUNTER);
    return window;
}

static void run_launch(bool nudge)
{
    dear.cpu_ns = 4600000;
    dear.value = launch_energy;
    begin(100 * MS, 0.002);
    ticks(0, 9900 * (uint64_t)MS, 100 * MS);
    if (nudge) assay__sampler_nudge(sampler);
    ticks(10 * (uint64_t)SECOND, 19900 * (uint64_t)MS, 100 * MS);
    if (nudge) assay__sampler_nudge(sampler);
    ticks(20 * (uint64_t)SECOND, 30 * (uint64_t)SECOND, 100 * MS);
}

static void test_edges(void)
{
    run_launch(true);
    CHECK_NEAR(energy_between(10, 20).growth, 6000, 1e-9);
    CHECK_NEAR(energy_between(7, 10).growth, 300, 1e-9);
    CHECK_NEAR(energy_between(20, 25).growth, 500, 1e-9);
    /* Inside, a straight line over h is off by no more than h^2 / 8 x 20 W/s, at each end.
     * Readings: 10 s, 14.2 s (11.9 s was left out for the one at 10 s), 16.5 s, 18.8 s, 20 s. */
    double most_j = 2 * 4.2 * 4.2 / 8 * 20;
    for (double from = 10; from <= 18; from += 0.5) {
        double exact = launch_energy(from + 2) - launch_energy(from);
        CHECK(fabs(energy_between(from, from + 2).growth - exact) <= most_j);
    }
    CHECK_NEAR(energy_between(14.2, 16.5).growth, launch_energy(16.5) - launch_energy(14.2), 1e-6);
    double least_j = launch_energy(16) - launch_energy(14.2); /* a part of a chord is no arc */
    CHECK(fabs(energy_between(14.2, 16).growth - least_j) > 1);
    CHECK(fabs(energy_between(14.2, 16).growth - least_j) <= 2.3 * 2.3 / 8 * 20);
    assay__sampler_free(sampler);
}

/* What the readings at the edges are for. */
static void test_without_edges(void)
{
    run_launch(false);
    CHECK(fabs(energy_between(10, 20).growth - 6000) > 20);
    assay__sampler_free(sampler);
}

/* A reading out of turn is paid for with the next one, as long as no more than two intervals are
 * without any. */
static void test_nudge(void)
{
    dear.cpu_ns = 4600000;
    begin(100 * MS, 0.002);
    ticks(0, SECOND, 100 * MS);
    CHECK_INT(series_of(DEAR).count, 5);
    assay__sampler_nudge(sampler);
    assay__sampler_nudge(sampler);
    ticks(1100 * MS, 4900 * (uint64_t)MS, 100 * MS);
    struct assay__series series = series_of(DEAR);
    CHECK_INT(series.count, 6); /* two that were not yet heard are one */
    CHECK_INT(series.times_ns[5], 1100 * MS);
    ticks(5000 * (uint64_t)MS, 5000 * (uint64_t)MS, 100 * MS);
    CHECK_INT(series_of(DEAR).count, 7);
    for (int i = 0; i < 5; i++) { /* 5.1 s … 5.5 s: the next is due 4.6 s behind the last */
        assay__sampler_nudge(sampler);
        ticks(5100 * (uint64_t)MS + (uint64_t)i * 100 * MS,
              5100 * (uint64_t)MS + (uint64_t)i * 100 * MS, 100 * MS);
    }
    ticks(5600 * (uint64_t)MS, 10 * (uint64_t)SECOND, 100 * MS);
    CHECK_INT(series_of(DEAR).count, 12);
    ticks(10100 * (uint64_t)MS, 10100 * (uint64_t)MS, 100 * MS);
    CHECK_INT(series_of(DEAR).count, 13);
    assay__sampler_free(sampler);
}

/* The thread sleeps for an hour; it is woken. */
static void test_nudge_wakes(void)
{
    struct assay__sampler_options options = {.size = sizeof options,
                                             .interval_ns = 3600 * (uint64_t)SECOND};
    begin(100 * MS, 0);
    assay__sampler_free(sampler);
    CHECK_INT(assay__sampler_new(&options, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &cheap_ops, NULL, NULL, NULL), 0);
    assay__sampler_nudge(sampler); /* nobody is there yet: harmless */
    CHECK_INT(assay__sampler_start(sampler, NULL), 0);
    uint64_t before = 0;
    do {
        assay__sleep_ns(MS);
        before = series_of(0).readings;
    } while (before < 2); /* what was asked before, and the first tick */
    assay__sampler_nudge(sampler);
    while (series_of(0).readings < before + 1)
        assay__sleep_ns(MS);
    assay__sampler_stop(sampler);
    CHECK_INT(series_of(0).readings, before + 2); /* and the last one */
    assay__sampler_free(sampler);
}

/* --- what is wanted --------------------------------------------------------------------------- */

static bool none(void *context, const struct assay__probe_ops *ops,
                 const struct assay__channel *channel)
{
    (void)context, (void)ops, (void)channel;
    return false;
}

static void test_select(void)
{
    begin(100 * MS, 0);
    CHECK(dear.selected && dear.seen[0]);
    assay__sampler_free(sampler);
    CHECK_INT(assay__sampler_new(NULL, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &dear_ops, none, NULL, NULL), 0);
    CHECK(!dear.seen[0]);
    assay__sampler_free(sampler);
}

/* --- calibration ------------------------------------------------------------------------------ */

static double steps_of_100ms(double t)
{
    return 50 * floor(t * 10 + 1e-6);
}

/* 5 ms a read: every 10 ms, not one after the other. The cost is known afterwards, so that the
 * first tick is the only one at the interval. */
static void test_calibrate_dear(void)
{
    dear.cpu_ns = dear.wall_ns = 5000000;
    dear.value = steps_of_100ms;
    begin(100 * MS, 0.002);
    assay__sampler_calibrate(sampler, 600 * MS, MS / 2);
    CHECK(dear.reads >= 40 && dear.reads <= 62);
    CHECK(cheap.reads > 5 * dear.reads);
    CHECK_NEAR(series_of(DEAR).period_s, 0.1, 0.011);
    CHECK(!series_of(DEAR).period_is_bound);
    CHECK_NEAR(series_of(DEAR).interval_s, 2.5, 1e-9);
    uint64_t start_ns = clock_ns;
    ticks(start_ns, start_ns + 4 * (uint64_t)SECOND, 100 * MS);
    CHECK_INT(series_of(DEAR).count, 2);
    CHECK_INT(series_of(CHEAP).count, 41);
    assay__sampler_free(sampler);
}

/* A read that never comes back, from the third on. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opens = PTHREAD_COND_INITIALIZER;
static bool gate_open;
static atomic_bool closed;
static atomic_int hanging_reads;

static void read_hanging(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    (void)probe;
    pthread_mutex_lock(&gate);
    while (++hanging_reads > 2 && !gate_open)
        pthread_cond_wait(&gate_opens, &gate);
    pthread_mutex_unlock(&gate);
    readings[0] = (struct assay__probe_reading){7, ""};
}

static void close_hanging(struct assay__probe *probe)
{
    (void)probe;
    closed = true;
}

static void test_calibrate_hangs(void)
{
    struct assay__sampler_options options = {.size = sizeof options, .timeout_ns = 400 * MS};
    struct assay__probe_ops hanging = dear_ops;
    begin(100 * MS, 0);
    assay__sampler_free(sampler);
    hanging.read = read_hanging;
    hanging.close = close_hanging;
    CHECK_INT(assay__sampler_new(&options, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &hanging, NULL, NULL, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, &cheap_ops, NULL, NULL, NULL), 0);
    /* It comes back. Long enough for three reads on a busy machine. */
    assay__sampler_calibrate(sampler, 600 * MS, MS);
    CHECK(!series_of(0).available);
    CHECK_HAS(series_of(0).reason, "a read did not return within 0.4 s: gave up");
    CHECK(series_of(1).available);
    CHECK(series_of(1).readings > 2); /* it had its time all the same */
    CHECK_INT(assay__sampler_start(sampler, NULL), 0);
    while (series_of(1).count == 0)
        assay__sleep_ns(MS);
    assay__sampler_stop(sampler);
    CHECK_INT(hanging_reads, 3);
    CHECK_INT(series_of(0).count, 0);
    assay__sampler_free(sampler);
    CHECK(!closed); /* nothing is closed under the lost thread */
    pthread_mutex_lock(&gate);
    gate_open = true;
    pthread_cond_broadcast(&gate_opens);
    pthread_mutex_unlock(&gate);
    while (!closed)
        assay__sleep_ns(MS);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"dear_is_read_seldom", test_dear_is_read_seldom},
        {"rhythm", test_rhythm},
        {"without_a_limit", test_without_a_limit},
        {"short_interval", test_short_interval},
        {"cheap_first", test_cheap_first},
        {"cheap_again", test_cheap_again},
        {"bad_share", test_bad_share},
        {"edges", test_edges},
        {"without_edges", test_without_edges},
        {"nudge", test_nudge},
        {"nudge_wakes", test_nudge_wakes},
        {"select", test_select},
        {"calibrate_dear", test_calibrate_dear},
        {"calibrate_hangs", test_calibrate_hangs},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
