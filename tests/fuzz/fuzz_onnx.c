/* fuzz_onnx.c - the ONNX reader and all that works on what it read. Beyond "no crash": an error
 * comes with one line of text, and a model that was read, written and read again is the same
 * model. */
#include "cost/cost.h"
#include "model/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_line(int code, const struct assay_error *error)
{
    if (code && (!*error->message || strchr(error->message, '\n'))) abort();
}

static void use(const struct assay__model *model)
{
    struct assay_error error = {.code = 0};
    struct assay__workload_options options = {.seed = 1};
    struct assay__workload *workload = NULL;
    struct assay__shapes *shapes = NULL;
    int64_t elements, bytes;
    int code = assay__model_check(model, &error);
    expect_line(code, &error);
    assay__model_parameters(model, &elements, &bytes);
    code = assay__shapes_infer(model, NULL, 0, &shapes, &error);
    expect_line(code, &error);
    if (!code) {
        struct assay__cost *costs = calloc(model->graph.node_count + 1, sizeof *costs);
        if (costs) expect_line(assay__cost_graph(model, shapes, costs, &error), &error);
        free(costs);
    }
    assay__shapes_free(shapes);
    code = assay__workload_plan(model, &options, &workload, &error);
    expect_line(code, &error);
    for (size_t i = 0; workload && i < workload->input_count; i++) {
        if (!workload->inputs[i].bytes || workload->inputs[i].bytes > 1 << 16) continue;
        void *memory = malloc(workload->inputs[i].bytes);
        if (memory) expect_line(assay__input_fill(&workload->inputs[i], memory, &error), &error);
        free(memory);
    }
    assay__workload_free(workload);
}

static void round_trip(const struct assay__model *model)
{
    char path[64], first[17], second[17];
    struct assay__model *again = NULL;
    struct assay_error error = {.code = 0};
    snprintf(path, sizeof path, "/tmp/assay-fuzz-%ld.onnx", (long)getpid());
    if (assay__model_write(model, path, &error)) {
        expect_line(error.code, &error);
        return;
    }
    if (assay__model_read(path, &again, &error)) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    if (assay__model_fingerprint(model, first) || assay__model_fingerprint(again, second)) abort();
    if (strcmp(first, second) != 0) abort();
    assay__model_free(again);
    unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    int code = assay__model_parse(data, size, &model, &error);
    expect_line(code, &error);
    if (code) return 0;
    use(model);
    round_trip(model);
    assay__model_free(model);
    return 0;
}
