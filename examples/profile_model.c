/* profile_model.c - profiles a model and prints its three slowest layers.
 *   cc profile_model.c $(pkg-config --cflags --libs assay) && ./a.out model.onnx */
#include <assay/assay.h>
#include <stdio.h>

#define SLOWEST 3

static void print_slowest(const struct assay_trial *trial)
{
    struct assay_layer slowest[SLOWEST] = {{0}}, layer = {.size = sizeof layer};
    for (size_t i = 0; assay_trial_layer(trial, i, &layer); i++) {
        size_t at = SLOWEST;
        while (at > 0 && layer.time_ns > slowest[at - 1].time_ns) /* false of an unknown time */
            at--;
        for (size_t k = SLOWEST - 1; k > at; k--)
            slowest[k] = slowest[k - 1];
        if (at < SLOWEST) slowest[at] = layer;
    }
    for (size_t k = 0; k < SLOWEST && slowest[k].name; k++)
        printf("%-24s %-12s %10.3f us  %5.1f %%\n", slowest[k].name, slowest[k].op,
               slowest[k].time_ns / 1e3, slowest[k].share * 100);
}

int main(int argc, char **argv)
{
    struct assay_run_options options = {.size = sizeof options,
                                        .workload = {.model = argc > 1 ? argv[1] : "resnet50"},
                                        .measuring = {.layers = ASSAY_LAYERS_AUTO}};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    int code = assay_run(&options, &profile, &error);
    if (code) fprintf(stderr, "%s\n", error.message);
    const struct assay_metric *p50 = assay_metrics_get(assay_profile_metrics(profile, 0),
                                                       "latency.p50");
    if (p50 && p50->state != ASSAY_UNAVAILABLE)
        printf("one inference takes %.3f us\n", p50->value * 1e6);
    print_slowest(assay_profile_trial(profile, 0));
    assay_profile_close(profile); /* what was borrowed from it is gone now */
    return code ? 1 : 0;
}
