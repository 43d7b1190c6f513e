/* profile_model.c - profiles a model in twenty lines.
 *   cc profile_model.c $(pkg-config --cflags --libs assay) && ./a.out model.onnx */
#include <assay/assay.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct assay_run_options options = {.size = sizeof options, .layers = ASSAY_LAYERS_AUTO};
    options.model = argc > 1 ? argv[1] : "resnet50";
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    if (assay_run(&options, &profile, &error)) fprintf(stderr, "%s\n", error.message);
    char *text = NULL;
    if (profile && assay_report(profile, NULL, &text, NULL, &error) == 0) fputs(text, stdout);
    assay_free(text);
    assay_profile_close(profile);
    return text ? 0 : 1;
}
