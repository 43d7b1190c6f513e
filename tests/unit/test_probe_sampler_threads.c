/* test_probe_sampler_threads.c - the sampler's threads, and a probe that blocks: given up, the
 * others go on, nothing is closed under it. The clock is the test's, so that a busy machine changes
 * nothing; no time is asserted. Also run under ThreadSanitizer. */
#include "sampler_fixture.h"

#include <pthread.h>

/* Time for threads: it passes only where the reading thread sleeps, and by a second when the test
 * says so. A machine that is busy can then not make a good probe look stuck. */
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
        "power.stuck", "power", "stuck", "W", ASSAY__CHANNEL_GAUGE, NAN, "script", true, "",
        NULL,          false,   false};
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
    CHECK_HAS(series.reason, "did not return within 0.02 s:");
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
    CHECK_STR(window.reason, "a read did not return within 0.02 s: gave up; the window ends 1 s "
                             "after the last reading");
    assay__sampler_probe_cost(sampler, 1, &cost);
    CHECK(cost.blocked);
    assay__sampler_probe_cost(sampler, 0, &cost);
    CHECK(!cost.blocked);
    /* Freed while the lost thread is still inside: nothing is closed under it; it closes when it
     * comes back. */
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
    CHECK_HAS(series.reason, "did not return");
    assay__sampler_series(sampler, COUNT, &series);
    CHECK(series.available);
    open_gate();
    assay__sampler_free(sampler);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"thread", test_thread},
        {"blocked_probe", test_blocked_probe},
        {"stop_while_blocked", test_stop_while_blocked},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
