/* test_guard.c - work with a limit of time: done in time, left behind, and cleaned up when it comes
 * back; and opening a probe that hangs, alone and by the sampler. Also run under ThreadSanitizer.
 */
#include "base/clock.h"
#include "harness.h"
#include "platform/guard.h"
#include "probe/sampler/sampler.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define MS 1000000u
#define PATIENT_MS 20000 /* for what does come back, on a busy machine too */

static atomic_int worked, dropped, closed;
static atomic_bool gate;

/* Until the test opens the gate; the harness ends a test that hangs. */
static void wait_gate(void)
{
    while (!atomic_load(&gate))
        assay__sleep_ns(MS);
}

static void wait_for(atomic_int *counter, int value)
{
    while (atomic_load(counter) != value)
        assay__sleep_ns(MS);
}

static void quick(void *context)
{
    ++*(int *)context;
    atomic_fetch_add(&worked, 1);
}

static void slow(void *context)
{
    wait_gate();
    quick(context);
}

static void drop(void *context)
{
    free(context);
    atomic_fetch_add(&dropped, 1);
}

static void test_in_time(void)
{
    int number = 41;
    CHECK_INT(assay__guard_run(quick, drop, &number, (uint64_t)20000 * MS), 0);
    CHECK_INT(number, 42);
    CHECK_INT(atomic_load(&dropped), 0); /* the caller's own */
}

static void test_left_behind(void)
{
    int *number = calloc(1, sizeof *number);
    CHECK(number != NULL);
    CHECK_INT(assay__guard_run(slow, drop, number, 20 * MS), ASSAY_ETIMEOUT);
    CHECK_INT(atomic_load(&worked), 0);
    CHECK_INT(atomic_load(&dropped), 0);
    atomic_store(&gate, true);
    wait_for(&dropped, 1);
    CHECK_INT(atomic_load(&worked), 1);
}

static sigset_t mask_seen;

static void look_at_mask(void *context)
{
    (void)context;
    pthread_sigmask(SIG_SETMASK, NULL, &mask_seen);
}

/* Ctrl-C must find the thread that handles it. */
static void test_signals_stay(void)
{
    CHECK_INT(assay__guard_run(look_at_mask, drop, NULL, (uint64_t)20000 * MS), 0);
    CHECK(sigismember(&mask_seen, SIGINT) == 1);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_seen);
    CHECK(sigismember(&mask_seen, SIGINT) == 0);
}

/* --- probes ----------------------------------------------------------------------------------- */

struct assay__probe {
    int number;
};
static const struct assay__channel channel = {.name = "power.x",
                                              .quantity = "power",
                                              .rail = "x",
                                              .unit = "W",
                                              .range = NAN,
                                              .source = "test",
                                              .available = true,
                                              .reason = ""};
static pthread_t opener;

static int open_now(struct assay__arena *arena, struct assay__probe **probe,
                    struct assay_error *error)
{
    (void)error;
    *probe = assay__arena_alloc(arena, sizeof **probe);
    opener = pthread_self();
    return *probe ? 0 : ASSAY_ENOMEM;
}

static int open_hangs(struct assay__arena *arena, struct assay__probe **probe,
                      struct assay_error *error)
{
    wait_gate();
    return open_now(arena, probe, error);
}

static int open_fails(struct assay__arena *arena, struct assay__probe **probe,
                      struct assay_error *error)
{
    (void)arena, (void)probe;
    return assay_error_set(error, ASSAY_EIO, "no wire");
}

static size_t channels_of(const struct assay__probe *probe, const struct assay__channel **channels)
{
    (void)probe;
    *channels = &channel;
    return 1;
}

static const char *reason_of(const struct assay__probe *probe)
{
    return probe->number ? "?" : "";
}

static void read_it(struct assay__probe *probe, struct assay__probe_reading *readings)
{
    readings[0] = (struct assay__probe_reading){.value = 5 + probe->number, .reason = ""};
}

static void close_it(struct assay__probe *probe)
{
    if (probe) atomic_fetch_add(&closed, 1);
}

#define OPS(how, limit_ms)                                                                        \
    {                                                                                             \
        .name = "test", .summary = "", .open = how, .channels = channels_of, .reason = reason_of, \
        .read = read_it, .close = close_it, .open_limit_ns = (uint64_t)(limit_ms)*MS,             \
    }
static const struct assay__probe_ops hangs = OPS(open_hangs, 30),
                                     fails = OPS(open_fails, PATIENT_MS);

static void test_open(void)
{
    struct assay__probe_ops ops = OPS(open_now, PATIENT_MS);
    struct assay__arena *arena;
    struct assay__probe *probe;
    struct assay_error error = {0};
    CHECK_INT(assay__probe_open(&ops, &arena, &probe, &error), 0);
    CHECK(!pthread_equal(opener, pthread_self()));
    ops.close(probe);
    assay__arena_free(arena);
    ops.own_thread = true;
    CHECK_INT(assay__probe_open(&ops, &arena, &probe, &error), 0);
    CHECK(pthread_equal(opener, pthread_self()));
    ops.close(probe);
    assay__arena_free(arena);
    CHECK_INT(atomic_load(&closed), 2);
    CHECK_INT(assay__probe_open(&fails, &arena, &probe, &error), ASSAY_EIO);
    CHECK_STR(error.message, "no wire");
    CHECK(!arena && !probe);
    ops.open_limit_ns = 0;
    CHECK_INT(assay__probe_open_limit_ns(&ops), 1000 * (uint64_t)MS);
}

static void test_open_hangs(void)
{
    struct assay__arena *arena;
    struct assay__probe *probe;
    struct assay_error error = {0};
    CHECK_INT(assay__probe_open(&hangs, &arena, &probe, &error), ASSAY_ETIMEOUT);
    CHECK_STR(error.message, "opening it did not return within 0.03 s: gave up");
    CHECK(!arena && !probe);
    atomic_store(&gate, true);
    wait_for(&closed, 1); /* by the thread that was left behind */
}

/* The others are sampled; the one that hangs says why it is not. */
static void test_sampler_goes_on(void)
{
    struct assay__probe_ops good = OPS(open_now, PATIENT_MS);
    struct assay__sampler *sampler;
    struct assay__probe_cost cost;
    struct assay__series series;
    struct assay_error error = {0};
    CHECK_INT(assay__sampler_new(NULL, &sampler, &error), 0);
    CHECK_INT(assay__sampler_add(sampler, &hangs, NULL, NULL, &error), 0);
    CHECK_INT(assay__sampler_add(sampler, &good, NULL, NULL, &error), 0);
    CHECK_INT(assay__sampler_add(sampler, &fails, NULL, NULL, &error), ASSAY_EIO);
    CHECK_STR(error.message, "no wire");
    assay__sampler_tick(sampler);
    CHECK_INT(assay__sampler_probe_count(sampler), 2);
    assay__sampler_probe_cost(sampler, 0, &cost);
    CHECK(cost.blocked);
    CHECK_HAS(cost.reason, "did not return within 0.03 s:");
    CHECK_INT(cost.reads, 0);
    CHECK_INT(assay__sampler_count(sampler), 1);
    assay__sampler_series(sampler, 0, &series);
    CHECK_INT(series.count, 1);
    CHECK_NEAR(series.values[0], 5, 0);
    assay__sampler_free(sampler);
    CHECK_INT(atomic_load(&closed), 1);
    atomic_store(&gate, true);
    wait_for(&closed, 2);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"in_time", test_in_time},           {"left_behind", test_left_behind},
        {"signals_stay", test_signals_stay}, {"open", test_open},
        {"open_hangs", test_open_hangs},     {"sampler_goes_on", test_sampler_goes_on},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
