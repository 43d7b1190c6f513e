/* measure_callback.c - times a caller's own work with the measured loop: any runtime can be
 * measured this way.
 *   cc measure_callback.c $(pkg-config --cflags --libs assay) && ./a.out */
#include <assay/assay.h>
#include <stdio.h>

/* The work: stands for a call into any runtime. */
static int sum_up(void *context)
{
    volatile double *sum = context;
    for (int i = 1; i <= 10000; i++)
        *sum += 1.0 / i;
    return 0;
}

int main(void)
{
    volatile double sum = 0;
    struct assay_metrics *metrics = NULL;
    struct assay_error error = {0};
    if (assay_measure(sum_up, (void *)&sum, NULL, &metrics, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (size_t i = 0; i < assay_metrics_count(metrics); i++) {
        const struct assay_metric *metric = assay_metrics_at(metrics, i);
        if (metric->state == ASSAY_UNAVAILABLE)
            printf("%-24s -  (%s)\n", metric->name, metric->note);
        else
            printf("%-24s %.6g %s  (%s)\n", metric->name, metric->value, metric->unit,
                   assay_state_name(metric->state));
    }
    assay_metrics_free(metrics);
    return 0;
}
