/* fuzz_coreml.c - the Core ML reader and what works on a model that was read. The input is a
 * .mlmodel's bytes, then the weights file's, then four bytes: the length of the first,
 * little-endian (cut to what is there). Beyond "no crash": an error comes with one line of text,
 * and shapes can be asked of every model that was read. */
#include "fuzz_model.h"

#include "model/model_format.h"
#include "model/shapes/shapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every byte of every weight can be read, and sums of sizes hold. */
static void touch(const struct assay__graph *graph)
{
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const struct assay__tensor *tensor = &graph->initializers[i];
        if (!tensor->data) continue;
        if (tensor->data_size != assay__dtype_bytes(tensor->dtype, tensor->elements)) abort();
        for (size_t k = 0; k < tensor->data_size; k += 61)
            sum = (uint8_t)(sum + tensor->data[k]);
        if (tensor->data_size) sum = (uint8_t)(sum + tensor->data[tensor->data_size - 1]);
    }
}

static void use(const struct assay__model *model)
{
    struct assay_error error = {.code = 0};
    struct assay__shapes *shapes = NULL;
    char fingerprint[17];
    int64_t elements, bytes;
    touch(&model->graph);
    expect_line(assay__model_check(model, &error), &error);
    assay__model_parameters(model, &elements, &bytes);
    assay__model_fingerprint(model, fingerprint);
    for (size_t i = 0; i < model->stored_count; i++)
        if (!model->stored[i].scheme || model->stored[i].stored_bytes < 0) abort();
    int code = assay__shapes_infer(model, NULL, 0, &shapes, &error);
    expect_line(code, &error);
    assay__shapes_free(shapes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    size_t length = size, whole = size;
    if (size >= 4) {
        const uint8_t *tail = data + size - 4;
        whole = size - 4;
        length = (size_t)(tail[0] | tail[1] << 8 | tail[2] << 16 | (uint32_t)tail[3] << 24);
        if (length > whole) length = whole;
    }
    int code = assay__coreml_parse(data, length, data + length, whole - length, &model, &error);
    expect_line(code, &error);
    if (code) return 0;
    use(model);
    assay__model_free(model);
    return 0;
}
