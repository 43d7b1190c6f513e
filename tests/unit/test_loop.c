/* test_loop.c - the measured loop, the goal's decisions and assay_measure() on a scripted clock:
 * every value is known. */
#include "harness.h"

#include "base/clock.h"
#include "run/worker/channel.h"
#include "run/trial/goal.h"
#include "run/worker/loop.h"
#include "run/worker/ring.h"
#include "run/trial/summary.h"

#include <assay/assay.h>
#include <sys/socket.h>

/* A step takes durations[i % count] ns of the clock below. */
struct assay__session {
    uint64_t now_ns;
    const uint64_t *durations;
    size_t count, steps, fail_at;
};

static int step(struct assay__session *session, int stream)
{
    (void)stream;
    session->steps++;
    if (session->steps == session->fail_at) return ASSAY_EENGINE;
    session->now_ns += session->durations[(session->steps - 1) % session->count];
    return 0;
}

static uint64_t now(struct assay__session *session)
{
    return session->now_ns;
}

static uint64_t stamps[65537];
static _Atomic uint64_t count;

static struct assay__loop loop_of(struct assay__session *session)
{
    return (struct assay__loop){step, now, session, 0, stamps, 65536, &count};
}

static void test_stamps(void)
{
    const uint64_t durations[] = {5, 7, 11};
    struct assay__session session = {.now_ns = 100, .durations = durations, .count = 3};
    struct assay__loop loop = loop_of(&session);
    size_t done = 0;
    CHECK_INT(assay__loop_run(&loop, 4, ASSAY__LOOP_NO_DEADLINE, &done), 0);
    CHECK_INT(done, 4);
    const uint64_t expected[] = {100, 105, 112, 123, 128};
    for (size_t i = 0; i < 5; i++)
        CHECK_INT(stamps[i], expected[i]);
    CHECK_INT(count, 4);
    /* Going on in the same window takes no new first stamp. */
    CHECK_INT(assay__loop_run(&loop, 6, ASSAY__LOOP_NO_DEADLINE, &done), 0);
    CHECK_INT(done, 6);
    CHECK_INT(stamps[5], 135);
    CHECK_INT(stamps[6], 146);
}

static void test_deadline(void)
{
    const uint64_t durations[] = {10};
    struct assay__session session = {.durations = durations, .count = 1};
    struct assay__loop loop = loop_of(&session);
    size_t done = 0;
    /* Ends at the first stamp at or past the deadline. */
    CHECK_INT(assay__loop_run(&loop, 1000, 45, &done), 0);
    CHECK_INT(done, 5);
    done = 0;
    CHECK_INT(assay__loop_run(&loop, 1000, session.now_ns + 40, &done), 0);
    CHECK_INT(done, 4);
    /* A deadline in the past still gives one sample; the ring's end ends a window. */
    done = 0;
    CHECK_INT(assay__loop_run(&loop, 1000, 0, &done), 0);
    CHECK_INT(done, 1);
    loop.capacity = 3;
    done = 0;
    CHECK_INT(assay__loop_run(&loop, 1000, ASSAY__LOOP_NO_DEADLINE, &done), 0);
    CHECK_INT(done, 3);
}

static void test_failing_step(void)
{
    const uint64_t durations[] = {10};
    struct assay__session session = {.durations = durations, .count = 1, .fail_at = 4};
    struct assay__loop loop = loop_of(&session);
    size_t done = 0;
    CHECK_INT(assay__loop_run(&loop, 10, ASSAY__LOOP_NO_DEADLINE, &done), ASSAY_EENGINE);
    CHECK_INT(done, 3);
    CHECK_INT(count, 3);
}

static size_t prerun(uint64_t duration_ns, int64_t forced)
{
    struct assay__session session = {.durations = &duration_ns, .count = 1};
    struct assay__loop loop = loop_of(&session);
    size_t done = 0;
    CHECK_INT(assay__loop_prerun(&loop, forced, &done), 0);
    CHECK_INT(session.steps, done);
    return done;
}

static void test_prerun(void)
{
    CHECK_INT(prerun(20000, -1), 10000); /* 0.2 s */
    CHECK_INT(prerun(40000000, -1), 5);  /* 0.2 s */
    CHECK_INT(prerun(500000000, -1), 3);
    CHECK_INT(prerun(UINT64_C(5000000000), -1), 1);
    CHECK_INT(prerun(100, -1), 65536); /* never beyond the window */
    CHECK_INT(prerun(20000, 0), 0);
    CHECK_INT(prerun(20000, 7), 7);
    CHECK_INT(prerun(20000, 100000), 100000); /* longer than the window */
}

static void test_loop_cost(void)
{
    /* Slower machines exist; ten times the budget still says no to a lock or a system call in the
     * loop. */
    double cost = assay__loop_cost_ns();
    CHECK(cost > 0);
    CHECK(cost < 1000);
}

/* --- the goal --------------------------------------------------------------------------------- */

static const struct assay__goal plain = {.precision = 0.01, .streams = 1, .capacity = 65536};

static struct assay__summary precise(size_t samples, double mean_ns, double half_width)
{
    return (struct assay__summary){.samples = samples,
                                   .mean = mean_ns,
                                   .sum_ns = mean_ns * (double)samples,
                                   .half_width = half_width};
}

static void test_goal_default(void)
{
    struct assay__window_plan plan;
    struct assay__taken taken = {.pace_ns = 20000};
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 0.1, 1e-12);
    taken = (struct assay__taken){9, 45000, 0.9e9, 20000, NULL, false};
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_WINDOW);
    taken = (struct assay__taken){10, 50000, 1e9, 20000, NULL, false};
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_JUDGE);
    struct assay__summary summary = precise(50000, 20000, 0.009);
    taken.summary = &summary;
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_STOP);
    /* Warm-up took a tenth: that much is made up for. */
    summary = precise(45000, 20000, 0.009);
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 0.1, 1e-12);
    /* Too wide by a factor of 1.5: 1.25 times as much again, in steps of at most four windows. */
    summary = precise(50000, 20000, 0.015);
    CHECK_INT(assay__goal_missing(&summary, 0.01), 62500);
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 0.4, 1e-12);
    /* Ten seconds are the end whatever the interval. */
    taken.wall_ns = 1e10;
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_STOP);
}

static void test_goal_slow(void)
{
    struct assay__window_plan plan;
    struct assay__taken taken = {.pace_ns = 40e6};
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 1, 1e-12); /* a tenth of the cap */
    CHECK_INT(plan.iterations, 250);
    /* The cap holds below 1,000 iterations, and no step is begun that would end beyond it. */
    taken = (struct assay__taken){9, 247, 9.97e9, 40e6, NULL, false};
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_STOP);
    /* A step longer than the cap: one sample. */
    taken = (struct assay__taken){.pace_ns = 15e9};
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_INT(plan.iterations, 1);
    taken = (struct assay__taken){1, 1, 15e9, 15e9, NULL, false};
    CHECK_INT(assay__goal_next(&plain, &taken, &plan), ASSAY__GOAL_STOP);
}

/* One of several short launches: five windows, of 0.2 s or 200 iterations together, at most 0.6 s.
 */
static void test_goal_brief(void)
{
    struct assay__goal brief = plain;
    struct assay__window_plan plan;
    struct assay__taken taken = {.pace_ns = 20000};
    brief.brief = true;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 0.02, 1e-12);
    taken.pace_ns = 2e6;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 0.04, 1e-12);
    taken = (struct assay__taken){4, 16, 0.5e9, 40e6, NULL, false};
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 0.08, 1e-12);
    taken.windows = 5;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_STOP);
    /* beside others' work: until the median is known well enough, or for 1 s */
    struct assay__summary summary = {.samples = 20, .half_width = 0.04};
    taken.disturbed = true;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_JUDGE);
    taken.summary = &summary;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 0.08, 1e-12);
    summary.half_width = 0.03;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_STOP);
    summary.half_width = NAN;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_WINDOW);
    taken.wall_ns = 2.01e9;
    CHECK_INT(assay__goal_next(&brief, &taken, &plan), ASSAY__GOAL_STOP);
}

static void test_goal_asked(void)
{
    struct assay__window_plan plan;
    struct assay__goal goal = plain;
    goal.iterations = 1003;
    struct assay__taken taken = {.pace_ns = 20000};
    size_t windows = 0;
    while (assay__goal_next(&goal, &taken, &plan) == ASSAY__GOAL_WINDOW) {
        CHECK_NEAR(plan.seconds, 1, 0); /* the longest window: what is not stored yet can be lost */
        taken.samples += plan.iterations;
        taken.windows = ++windows;
    }
    CHECK_INT(taken.samples, 1003);
    CHECK_INT(windows, 10);
    goal = plain;
    goal.time_s = 2;
    taken = (struct assay__taken){.pace_ns = 20000};
    double seconds = 0;
    for (windows = 0; assay__goal_next(&goal, &taken, &plan) == ASSAY__GOAL_WINDOW;
         taken.windows = ++windows) {
        seconds += plan.seconds;
        taken.wall_ns = seconds * 1e9;
        CHECK(windows < 20);
    }
    CHECK_NEAR(seconds, 2, 1e-9);
    CHECK_INT(windows, 10);
    goal.time_s = 3600;
    taken = (struct assay__taken){.pace_ns = 20000};
    CHECK_INT(assay__goal_next(&goal, &taken, &plan), ASSAY__GOAL_WINDOW);
    CHECK_NEAR(plan.seconds, 1, 0);
}

/* --- the public call -------------------------------------------------------------------------- */

static int own_step(void *context)
{
    return step(context, 0);
}

static uint64_t own_clock(void *context)
{
    return now(context);
}

static double value(const struct assay_metrics *metrics, const char *name)
{
    const struct assay_metric *metric = assay_metrics_get(metrics, name);
    CHECK(metric != NULL);
    return metric->value;
}

static void test_measure_exact(void)
{
    /* 100, 200, … 1000 ns over and over: nearest rank makes every percentile a known element. */
    const uint64_t durations[] = {100, 200, 300, 400, 500, 600, 700, 800, 900, 1000};
    struct assay__session session = {.durations = durations, .count = 10};
    struct assay_measure_options options = {.size = sizeof options,
                                            .warmup_given = true,
                                            .warmup = 9,
                                            .iterations = 1000,
                                            .clock = own_clock,
                                            .clock_context = &session};
    struct assay_metrics *metrics = NULL;
    CHECK_INT(assay_measure(own_step, &session, &options, &metrics, NULL), 0);
    CHECK_INT(session.steps, 1 + 9 + 1000);
    CHECK_NEAR(value(metrics, "timing.first"), 100e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.p50"), 550e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.p90"), 900e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.p95"), 1000e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.p99"), 1000e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.min"), 100e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.max"), 1000e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.mean"), 550e-9, 1e-18);
    CHECK_NEAR(value(metrics, "latency.samples"), 1000, 0);
    CHECK_NEAR(value(metrics, "latency.warmup"), 9, 0);
    CHECK_NEAR(value(metrics, "throughput.inferences"), 1e9 / 550, 1e-6);
    const struct assay_metric *p999 = assay_metrics_get(metrics, "latency.p999");
    CHECK_INT(p999->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(p999->note, "6636");
    assay_metrics_free(metrics);
}

/* The interval of the median is not tighter than the clock's step; without a step nothing
 * changes. */
static void test_interval_step(void)
{
    double equal[100], spread[100];
    for (size_t i = 0; i < 100; i++) {
        equal[i] = 1990;
        spread[i] = 1900 + (double)(i * 37 % 100);
    }
    struct assay__samples samples = {equal, 100, 100};
    struct assay__summary summary;
    const struct {
        double step, low, high;
    } cases[] = {{0, 1990, 1990}, {NAN, 1990, 1990}, {20, 1980, 2000}, {5000, 0, 4490}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_INT(assay__summary_compute(&samples, 1, false, true, cases[i].step, &summary), 0);
        CHECK_NEAR(summary.interval.low, cases[i].low, 0);
        CHECK_NEAR(summary.interval.high, cases[i].high, 0);
        CHECK_NEAR(summary.half_width, 0, 0); /* no sample more would make it smaller */
        struct assay_metrics *metrics = assay_metrics_new();
        assay__summary_metrics(&summary, "", metrics);
        CHECK_INT(assay_metrics_failed(metrics), 0);
        bool said = strstr(assay_metrics_get(metrics, "latency.ci_low")->note, "not tighter than");
        CHECK(said == (cases[i].step > 0));
        assay_metrics_free(metrics);
    }
    /* wider than the step already: left alone */
    samples.values = spread;
    CHECK_INT(assay__summary_compute(&samples, 1, false, true, 0, &summary), 0);
    struct assay__interval alone = summary.interval;
    CHECK(alone.low < 1949 && alone.high > 1950);
    CHECK_INT(assay__summary_compute(&samples, 1, false, true, 2, &summary), 0);
    CHECK_NEAR(summary.interval.low, alone.low, 0);
    CHECK_NEAR(summary.interval.high, alone.high, 0);
    CHECK_NEAR(summary.step_ns, 0, 0);
}

static void test_measure_default(void)
{
    const uint64_t durations[] = {20000};
    struct assay__session session = {.durations = durations, .count = 1};
    struct assay_measure_options options = {
        .size = sizeof options, .clock = own_clock, .clock_context = &session};
    struct assay_metrics *metrics = NULL;
    CHECK_INT(assay_measure(own_step, &session, &options, &metrics, NULL), 0);
    CHECK_NEAR(value(metrics, "latency.p50"), 20e-6, 1e-18);
    CHECK(value(metrics, "latency.samples") >= 50000); /* 1 s of 20 µs */
    CHECK(session.steps < 70000);
    assay_metrics_free(metrics);
}

static int failing(void *context)
{
    int *left = context;
    return --*left < 0 ? 42 : 0;
}

static void test_measure_refusals(void)
{
    struct assay_metrics *metrics = NULL;
    struct assay_error error = {0};
    int left = 25;
    struct assay_measure_options options = {.size = sizeof options, .iterations = 100};
    CHECK_INT(assay_measure(failing, &left, &options, &metrics, &error), 42);
    CHECK(metrics == NULL);
    CHECK_HAS(error.message, "42");
    CHECK_INT(assay_measure(NULL, NULL, NULL, &metrics, &error), ASSAY_EINVAL);
    options.iterations = -1;
    CHECK_INT(assay_measure(failing, &left, &options, &metrics, &error), ASSAY_EINVAL);
    struct {
        struct assay_measure_options known;
        char later[16];
    } newer = {.known = {.size = sizeof newer}, .later = "x"};
    CHECK_INT(assay_measure(failing, &left, &newer.known, &metrics, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "does not support");
}

/* --- ring and channel ------------------------------------------------------------------------- */

static void test_ring(void)
{
    struct assay__ring parent, worker;
    CHECK_INT(assay__ring_create(&parent, 3, NULL), 0);
    CHECK_INT(assay__ring_open(&worker, parent.fd, 3, NULL), 0);
    for (uint32_t s = 0; s < 3; s++) {
        assay__ring_stamps(&worker, s)[0] = 10 + s;
        assay__ring_stamps(&worker, s)[65536] = 20 + s;
        atomic_store(assay__ring_count(&worker, s), s + 1);
    }
    for (uint32_t s = 0; s < 3; s++) {
        CHECK_INT(assay__ring_stamps(&parent, s)[0], 10 + s);
        CHECK_INT(assay__ring_stamps(&parent, s)[65536], 20 + s);
    }
    CHECK_INT(assay__ring_progress(&parent), 6);
    assay__ring_close(&worker);
    CHECK_INT(assay__ring_progress(&parent), 6);
    struct assay__ring wrong;
    CHECK_INT(assay__ring_open(&wrong, parent.fd, 2, NULL), ASSAY_EFORMAT);
    CHECK_INT(assay__ring_create(&wrong, 0, NULL), ASSAY_EINVAL);
    assay__ring_close(&parent);
}

static void send_text(int fd, const char *text)
{
    CHECK_INT(write(fd, text, strlen(text)), (long long)strlen(text));
}

static void test_channel(void)
{
    int pair[2];
    const char *line;
    size_t length;
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    struct assay__channel channel;
    assay__channel_open(&channel, pair[0]);
    send_text(pair[1], "one\ntw");
    CHECK_INT(assay__channel_read(&channel, 1000, &line, &length), 0);
    CHECK_STR(line, "one");
    CHECK_INT(assay__channel_read(&channel, 0, &line, &length), ASSAY_ETIMEOUT);
    send_text(pair[1], "o\n\nthree\n");
    CHECK_INT(assay__channel_read(&channel, 1000, &line, &length), 0);
    CHECK_STR(line, "two");
    CHECK_INT(assay__channel_read(&channel, 1000, &line, &length), 0);
    CHECK_INT(length, 0);
    CHECK_INT(assay__channel_read(&channel, 1000, &line, &length), 0);
    CHECK_STR(line, "three");
    close(pair[1]);
    CHECK_INT(assay__channel_read(&channel, 1000, &line, &length), ASSAY_ENOTFOUND);
    /* Writing to a dead peer is an error, not a signal. */
    struct assay__buf text = {0};
    assay__buf_puts(&text, "hello");
    CHECK_INT(assay__channel_send(&channel, &text, 1000), ASSAY_EIO);
    CHECK_INT(assay__channel_send(&channel, &text, 1000), ASSAY_EIO);
    assay__buf_free(&text);
    assay__channel_close(&channel);
}

/* What took long to load is measured for longer, up to a limit; never for less than was asked. */
static void test_goal_amortised(void)
{
    struct assay__goal goal = {.time_s = 0.5, .streams = 1, .capacity = 100, .amortise = true};
    CHECK_NEAR(assay__goal_amortised(&goal, 0.1).time_s, 0.5, 0);
    CHECK_NEAR(assay__goal_amortised(&goal, 1).time_s, ASSAY__GOAL_AMORTISE, 1e-12);
    CHECK_NEAR(assay__goal_amortised(&goal, 60).time_s, ASSAY__GOAL_AMORTISE_CAP_S, 0);
    goal.amortise = false;
    CHECK_NEAR(assay__goal_amortised(&goal, 60).time_s, 0.5, 0);
}

/* The statistics of samples that were taken elsewhere are those of the loop. */
static void test_measure_samples(void)
{
    double samples[100];
    for (size_t i = 0; i < 100; i++)
        samples[i] = 1000 + (double)i; /* 1000 … 1099 ns */
    struct assay_samples_options options = {.size = sizeof options, .warmup_given = true};
    struct assay_metrics *metrics = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay_measure_samples(samples, 100, &options, &metrics, &error), 0);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.min")->value, 1000e-9, 1e-18);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.max")->value, 1099e-9, 1e-18);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.mean")->value, 1049.5e-9, 1e-18);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.samples")->value, 100, 0);
    CHECK_NEAR(assay_metrics_get(metrics, "throughput.inferences")->value, 1e9 / 1049.5, 1e-6);
    assay_metrics_free(metrics);

    options.warmup = 90; /* the last ten are left: 1090 … 1099 */
    CHECK_INT(assay_measure_samples(samples, 100, &options, &metrics, &error), 0);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.min")->value, 1090e-9, 1e-18);
    CHECK_NEAR(assay_metrics_get(metrics, "latency.warmup")->value, 90, 0);
    assay_metrics_free(metrics);

    /* Means of several calls have a mean and a median, and nothing that is of single calls. */
    options.warmup = 0;
    options.calls = 64;
    CHECK_INT(assay_measure_samples(samples, 100, &options, &metrics, &error), 0);
    CHECK_INT(assay_metrics_get(metrics, "latency.p50")->state, ASSAY_MEASURED);
    CHECK_INT(assay_metrics_get(metrics, "latency.max")->state, ASSAY_UNAVAILABLE);
    CHECK_INT(assay_metrics_get(metrics, "latency.p90")->state, ASSAY_UNAVAILABLE);
    assay_metrics_free(metrics);

    /* Nothing is left: unavailable, not zero. */
    options = (struct assay_samples_options){
        .size = sizeof options, .warmup_given = true, .warmup = 200};
    CHECK_INT(assay_measure_samples(samples, 100, &options, &metrics, &error), 0);
    CHECK_INT(assay_metrics_get(metrics, "latency.p50")->state, ASSAY_UNAVAILABLE);
    CHECK_INT(assay_metrics_get(metrics, "throughput.inferences")->state, ASSAY_UNAVAILABLE);
    assay_metrics_free(metrics);

    samples[3] = -1;
    metrics = (void *)samples;
    CHECK_INT(assay_measure_samples(samples, 100, NULL, &metrics, &error), ASSAY_EINVAL);
    CHECK(metrics == NULL);
    samples[3] = (double)NAN;
    CHECK_INT(assay_measure_samples(samples, 100, NULL, &metrics, &error), ASSAY_EINVAL);
    CHECK_INT(assay_measure_samples(NULL, 1, NULL, &metrics, &error), ASSAY_EINVAL);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"goal_amortised", test_goal_amortised},
        {"stamps", test_stamps},
        {"deadline", test_deadline},
        {"failing_step", test_failing_step},
        {"prerun", test_prerun},
        {"loop_cost", test_loop_cost},
        {"goal_default", test_goal_default},
        {"goal_slow", test_goal_slow},
        {"goal_brief", test_goal_brief},
        {"goal_asked", test_goal_asked},
        {"measure_exact", test_measure_exact},
        {"interval_step", test_interval_step},
        {"measure_default", test_measure_default},
        {"measure_refusals", test_measure_refusals},
        {"measure_samples", test_measure_samples},
        {"ring", test_ring},
        {"channel", test_channel},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
