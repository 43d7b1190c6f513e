/* test_monitor_marks.c - marks from many threads at once, rings that are handed on, rings that are
 * full, and the public functions around a caller's loop. Also run under ThreadSanitizer. */
#include "harness.h"

#include "base/clock.h"
#include "monitor/mark_rings.h"

#include <assay/assay.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 8, EACH = 20000 };

static struct assay__marks *marks;
static struct assay__durations first, second;
static struct assay__marks_seen seen;
static _Atomic bool over;

static void *report(void *argument)
{
    uint64_t duration_ns = *(const uint64_t *)argument;
    for (int i = 0; i < EACH; i++)
        if (!assay__marks_put(marks, duration_ns)) return argument;
    return NULL;
}

/* The one reader, while they report. */
static void *collect_all(void *argument)
{
    struct assay__marks_seen *sum = argument, part;
    while (!atomic_load(&over)) {
        assay__marks_collect(marks, &first, &second, &part);
        sum->count += part.count;
        sum->sum_ns += part.sum_ns;
        sum->kept += part.kept;
        assay__sleep_ns(200000);
    }
    return NULL;
}

/* Every mark is counted and summed; those that were kept have durations that were reported. */
static void many_threads(void)
{
    pthread_t threads[THREADS], reader;
    uint64_t durations_ns[THREADS];
    double sum_ns = 0;
    CHECK_INT(assay__marks_new(&marks, NULL), 0);
    struct assay__marks_seen sum = {.count = 0};
    CHECK_INT(pthread_create(&reader, NULL, collect_all, &sum), 0);
    for (size_t i = 0; i < THREADS; i++) {
        durations_ns[i] = 10 + i; /* a class of their own each */
        sum_ns += (double)durations_ns[i] * EACH;
        CHECK_INT(pthread_create(&threads[i], NULL, report, &durations_ns[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *failed;
        CHECK_INT(pthread_join(threads[i], &failed), 0);
        CHECK(!failed);
    }
    atomic_store(&over, true);
    CHECK_INT(pthread_join(reader, NULL), 0);
    assay__marks_collect(marks, &first, &second, &seen);
    sum.count += seen.count;
    sum.sum_ns += seen.sum_ns;
    sum.kept += seen.kept;
    CHECK_INT(sum.count, THREADS * EACH);
    CHECK_NEAR(sum.sum_ns, sum_ns, 0);
    CHECK(sum.kept <= sum.count && sum.kept >= ASSAY__MARKS_KEPT - 1); /* rings may be handed on */
    CHECK_INT(first.count, sum.kept);
    CHECK_INT(second.count, sum.kept);
    uint64_t classes = 0;
    for (size_t i = 0; i < THREADS; i++)
        classes += first.classes[10 + i];
    CHECK_INT(classes, first.count);
    CHECK_INT(seen.lost, 0);
    assay__marks_free(marks);
}

/* Threads that come and go use the rings of those before them; what those reported stays. */
static void rings_are_handed_on(void)
{
    uint64_t duration_ns = 5;
    CHECK_INT(assay__marks_new(&marks, NULL), 0);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, report, &duration_ns), 0);
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
    assay__marks_collect(marks, &first, &second, &seen);
    CHECK_INT(seen.threads, 1);
    CHECK_INT(seen.count, 50 * EACH);
    CHECK_NEAR(seen.sum_ns, 5.0 * 50 * EACH, 0);
    assay__marks_free(marks);
}

/* A full ring keeps the latest. */
static void full_ring(void)
{
    CHECK_INT(assay__marks_new(&marks, NULL), 0);
    for (uint64_t i = 0; i < 3 * ASSAY__MARKS_KEPT; i++)
        CHECK(assay__marks_put(marks, i < 2 * ASSAY__MARKS_KEPT ? 7 : 9));
    assay__marks_collect(marks, &first, &second, &seen);
    CHECK_INT(seen.count, 3 * ASSAY__MARKS_KEPT);
    CHECK(seen.kept >= ASSAY__MARKS_KEPT - 1 && seen.kept <= ASSAY__MARKS_KEPT);
    CHECK_INT(first.classes[9], seen.kept);
    CHECK_INT(first.classes[7], 0);
    assay__marks_collect(marks, &first, &second, &seen); /* nothing new */
    CHECK_INT(seen.count, 0);
    CHECK_INT(seen.kept, 0);
    assay__marks_free(marks);
}

/* --- the public functions --------------------------------------------------------------------- */

static struct assay_monitor *monitor;

static void *loop(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++) {
        uint64_t mark = assay_mark_begin(monitor);
        assay_mark_end(monitor, mark);
    }
    return NULL;
}

static const struct assay_metric *get(const struct assay_metrics *metrics, const char *name)
{
    const struct assay_metric *metric = assay_metrics_get(metrics, name);
    if (!metric) printf("  no metric %s\n", name);
    CHECK(metric);
    CHECK_INT(metric->state == ASSAY_UNAVAILABLE, isnan(metric->value));
    if (metric->state == ASSAY_UNAVAILABLE) CHECK(metric->note[0]);
    return metric;
}

static void around_a_loop(void)
{
    const struct assay_monitor_options options = {.size = sizeof options, .interval = 0.1};
    struct assay_metrics *metrics = NULL;
    struct assay_error error = {0};
    pthread_t threads[THREADS];
    CHECK_INT(assay_monitor_start(&options, &monitor, &error), 0);
    CHECK_INT(assay_monitor_current(monitor, &metrics, &error), 0);
    for (size_t i = 0; i < assay_metrics_count(metrics); i++)
        get(metrics, assay_metrics_at(metrics, i)->name);
    assay_metrics_free(metrics);
    for (size_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, loop, NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 20; i++) { /* while it ticks */
        CHECK_INT(assay_monitor_current(monitor, &metrics, &error), 0);
        get(metrics, "throughput.inferences");
        get(metrics, "utilization.active.cpu");
        get(metrics, "power.package");
        assay_metrics_free(metrics);
        assay__sleep_ns(20000000);
    }
    CHECK_INT(assay_monitor_stop(monitor, &metrics, &error), 0);
    CHECK_INT((int64_t)get(metrics, "latency.samples")->value, THREADS * 1000);
    CHECK(get(metrics, "latency.p99")->value > 0);
    CHECK(get(metrics, "throughput.inferences")->value > 0);
    CHECK(get(metrics, "latency.p50")->value <= get(metrics, "latency.p99")->value);
    get(metrics, "memory.system.used");
    get(metrics, "overhead.sensors");
    assay_metrics_free(metrics);
}

static void wrong_calls(void)
{
    struct assay_monitor_options options = {.size = sizeof options, .interval = 60};
    struct assay_metrics *metrics = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay_monitor_start(&options, &monitor, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "interval");
    CHECK(!monitor);
    CHECK_INT(assay_monitor_start(NULL, NULL, &error), ASSAY_EINVAL);
    CHECK_INT(assay_monitor_current(NULL, &metrics, &error), ASSAY_EINVAL);
    CHECK_INT(assay_monitor_stop(NULL, &metrics, &error), 0);
    CHECK(!metrics);
    CHECK_INT(assay_mark_begin(NULL), 0);
    assay_mark_end(NULL, 1);
    options.size = 4;
    CHECK_INT(assay_monitor_start(&options, &monitor, &error), ASSAY_EINVAL);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"many_threads", many_threads}, {"rings_are_handed_on", rings_are_handed_on},
        {"full_ring", full_ring},       {"around_a_loop", around_a_loop},
        {"wrong_calls", wrong_calls},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
