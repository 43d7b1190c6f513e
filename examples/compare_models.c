/* compare_models.c - compares two models on the CPU, launches alternating, and prints the verdict.
 *   cc compare_models.c $(pkg-config --cflags --libs assay) && ./a.out old.onnx new.onnx */
#include <assay/assay.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL MODEL\n", argv[0]);
        return 2;
    }
    struct assay_run_options run = {.size = sizeof run};
    struct assay_compare_options options = {
        .size = sizeof options, .models = (const char *const *)argv + 1, .model_count = 2};
    struct assay_report_options view = {.size = sizeof view, .detail = "basic"};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    char *text = NULL;
    int code = assay_compare(&run, &options, &profile, &error);
    for (size_t i = 0; i < assay_profile_trials(profile); i++) {
        struct assay_trial_info trial = {.size = sizeof trial};
        assay_trial_read(assay_profile_trial(profile, i), &trial);
        const struct assay_metric *p50 = assay_metrics_get(assay_profile_metrics(profile, i),
                                                           "latency.p50");
        if (p50) printf("%s: %.3f us\n", trial.label, p50->value * 1e6);
    }
    if (!code) code = assay_report(profile, &view, &text, NULL, &error);
    if (code)
        fprintf(stderr, "%s\n", error.message);
    else
        fputs(text, stdout);
    assay_free(text);
    assay_profile_close(profile);
    return code ? 1 : 0;
}
