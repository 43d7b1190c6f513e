/* monitor_loop.c - watches the machine and a loop of your own: a mark around each inference, the
 * metrics of the last second while it runs, those of the whole time at the end.
 *   cc monitor_loop.c $(pkg-config --cflags --libs assay) && ./a.out */
#include <assay/assay.h>
#include <stdio.h>

/* Stands for a call into any runtime. */
static void infer(volatile double *sum)
{
    for (int i = 1; i <= 200000; i++)
        *sum += 1.0 / i;
}

static void show(const struct assay_metrics *metrics, const char *name)
{
    const struct assay_metric *metric = assay_metrics_get(metrics, name);
    if (!metric) return;
    if (metric->state == ASSAY_UNAVAILABLE)
        printf("%-24s -  (%s)\n", name, metric->note);
    else
        printf("%-24s %.6g %s  (%s)\n", name, metric->value, metric->unit,
               assay_state_name(metric->state));
}

static void show_all(const struct assay_metrics *metrics, const char *title)
{
    static const char *const names[] = {
        "throughput.inferences", "latency.p50",   "latency.p99",     "utilization.active.cpu",
        "memory.system.used",    "power.package", "overhead.sensors"};
    printf("%s\n", title);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        show(metrics, names[i]);
}

int main(void)
{
    const struct assay_monitor_options options = {.size = sizeof options, .interval = 0.5};
    struct assay_monitor *monitor = NULL;
    struct assay_metrics *metrics = NULL;
    struct assay_error error = {0};
    volatile double sum = 0;
    if (assay_monitor_start(&options, &monitor, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (int i = 0; i < 4000; i++) {
        uint64_t mark = assay_mark_begin(monitor);
        infer(&sum);
        assay_mark_end(monitor, mark);
        if (i == 3000 && assay_monitor_current(monitor, &metrics, &error) == 0) {
            show_all(metrics, "now");
            assay_metrics_free(metrics);
        }
    }
    if (assay_monitor_stop(monitor, &metrics, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    show_all(metrics, "\nthe whole time");
    assay_metrics_free(metrics);
    return 0;
}
