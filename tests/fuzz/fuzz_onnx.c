/* fuzz_onnx.c - the ONNX reader and all that works on what it read. Beyond "no crash": an error
 * comes with one line of text, a model that was read, written and read again is the same model
 * (in one file or two), and a write that fails leaves nothing behind. */
#include "fuzz_model.h"

#include "cost/cost.h"
#include "model/inputs/inputs.h"
#include "model/tensor_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

/* Numbers of tensors of a sane size, and the metadata. */
static void look(struct assay__model *model)
{
    struct assay_error error = {.code = 0};
    for (size_t i = 0; i < model->graph.initializer_count; i++) {
        const struct assay__tensor *tensor = &model->graph.initializers[i];
        if (tensor->external || tensor->elements > 1 << 20) continue;
        float *numbers = malloc((size_t)tensor->elements * sizeof *numbers + 1);
        if (numbers) expect_line(assay__tensor_floats(model, tensor, numbers, &error), &error);
        free(numbers);
    }
    if (assay__model_set_metadata(model, "fuzz", "value")) return;
    const char *value = assay__model_metadata(model, "fuzz");
    if (!value || strcmp(value, "value") != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    int code = assay__model_parse(data, size, &model, &error);
    expect_line(code, &error);
    if (code) return 0;
    use(model);
    round_trip(model, 0);
    round_trip(model, 1);
    look(model);
    if (model->function_count) {
        code = assay__model_inline(model, &error);
        expect_line(code, &error);
        if (!code) use(model);
        if (!code) round_trip(model, 0);
    }
    assay__model_free(model);
    return 0;
}
