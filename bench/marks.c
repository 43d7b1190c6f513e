/* marks.c - what a mark costs: 8 threads put marks around nothing, as fast as they can, while the
 * monitor collects. Each call is timed alone; the cost of the clock around it (the median of
 * reading it twice with nothing between) is subtracted. One JSON line: medians and 99.9th
 * percentiles of begin and end, in ns. Status 1 when a median is over 50 ns or a percentile over
 * 200 ns. */
#include "base/clock.h"
#include "base/stats.h"

#include <assay/assay.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define MARKS 200000
#define WARM 1000 /* the first mark takes a ring */
#define MEDIAN_MOST_NS 50.0
#define TAIL_MOST_NS 200.0

static struct assay_monitor *monitor;
static double begins[THREADS * MARKS], ends[THREADS * MARKS], empty[THREADS * MARKS];

static void *put_marks(void *argument)
{
    size_t first = (size_t)(uintptr_t)argument * MARKS;
    for (size_t i = 0; i < WARM; i++)
        assay_mark_end(monitor, assay_mark_begin(monitor));
    for (size_t i = first; i < first + MARKS; i++) {
        uint64_t a = assay__now_ns();
        uint64_t b = assay__now_ns();
        uint64_t mark = assay_mark_begin(monitor);
        uint64_t c = assay__now_ns();
        assay_mark_end(monitor, mark);
        uint64_t d = assay__now_ns();
        empty[i] = (double)(b - a);
        begins[i] = (double)(c - b);
        ends[i] = (double)(d - c);
    }
    return NULL;
}

int main(void)
{
    const struct assay_monitor_options options = {.size = sizeof options, .interval = 0.1};
    struct assay_metrics *metrics = NULL;
    struct assay_error error = {0};
    pthread_t threads[THREADS];
    if (assay_monitor_start(&options, &monitor, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 2;
    }
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, put_marks, (void *)(uintptr_t)i)) return 2;
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (assay_monitor_stop(monitor, &metrics, &error)) return 2;
    size_t count = (size_t)THREADS * MARKS;
    assay__stats_sort(begins, count);
    assay__stats_sort(ends, count);
    assay__stats_sort(empty, count);
    double clock_ns = assay__stats_median(empty, count);
    double begin_ns = assay__stats_median(begins, count) - clock_ns;
    double end_ns = assay__stats_median(ends, count) - clock_ns;
    double begin_tail_ns = assay__stats_percentile(begins, count, 0.999) - clock_ns;
    double end_tail_ns = assay__stats_percentile(ends, count, 0.999) - clock_ns;
    double empty_tail_ns = assay__stats_percentile(empty, count, 0.999) - clock_ns;
    double seen = assay_metrics_get(metrics, "throughput.inferences")->value;
    printf("{\"threads\": %d, \"marks\": %zu, \"clock_ns\": %.1f, \"clock_p999_ns\": %.1f, "
           "\"begin_ns\": %.1f, \"begin_p999_ns\": %.1f, \"end_ns\": %.1f, \"end_p999_ns\": %.1f, "
           "\"marks_per_s\": %.3g}\n",
           THREADS, count, clock_ns, empty_tail_ns, begin_ns, begin_tail_ns, end_ns, end_tail_ns,
           seen);
    assay_metrics_free(metrics);
    return begin_ns > MEDIAN_MOST_NS || end_ns > MEDIAN_MOST_NS || begin_tail_ns > TAIL_MOST_NS ||
           end_tail_ns > TAIL_MOST_NS;
}
