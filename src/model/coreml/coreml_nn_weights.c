/* coreml_nn_weights.c - WeightParams of a layer: float32 numbers, float16 bytes, or raw bytes of n
 * bits with a scale and a bias per channel (linear) or a table of 2^n numbers. Plain numbers stay
 * where they are in the file. Compressed ones become the same as in ML programs: the raw bytes, the
 * table or scales, a constexpr_ node that produces the dense tensor, and an entry of the model's
 * stored weights. */
#include "model/coreml/coreml_nn.h"

#include "base/checked.h"

#include <string.h>

enum {
    WEIGHTS_FLOAT = 1,
    WEIGHTS_FLOAT16 = 2,
    WEIGHTS_RAW = 30,
    WEIGHTS_INT8 = 31,
    WEIGHTS_QUANTIZATION = 40,
    QUANTIZATION_BITS = 1,
    QUANTIZATION_LINEAR = 101,
    QUANTIZATION_LUT = 102,
};

/* Repeated floats: in place if they are in one packed field, else copied. */
static const uint8_t *find_floats(struct assay__nn_layer *layer,
                                  const struct assay__wire_field *message, uint32_t number,
                                  size_t *count)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    const uint8_t *data = NULL;
    size_t fields = 0, at = 0;
    *count = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        size_t more = 0;
        if (field.number != number) continue;
        if (!assay__wire_count(&field, ASSAY__WIRE_FIXED32, &more))
            assay__nn_fail(layer, "its weights cannot be read");
        if (field.type == ASSAY__WIRE_BYTES && more) data = field.data;
        fields += more > 0;
        *count += more;
    }
    if (fields == 1 && data) return data;
    uint8_t *copy = assay__reader_array(layer->reader, *count, 4);
    wire = assay__wire_in(message);
    while (copy && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != number) continue;
        if (field.type == ASSAY__WIRE_BYTES) {
            memcpy(copy + at, field.data, field.size);
            at += field.size;
        } else {
            for (int b = 0; b < 4; b++)
                copy[at++] = (uint8_t)(field.value >> (8 * b));
        }
    }
    return copy;
}

/* -1, with an error, if it is not a size. */
static int64_t count_elements(struct assay__nn_layer *layer, int rank, const int64_t *dims)
{
    int64_t elements = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0 || assay__mul_i64_overflows(elements, dims[i], &elements)) {
            assay__nn_fail(layer, "the shape of its weights is invalid");
            return -1;
        }
    return elements;
}

static void add(struct assay__nn_layer *layer, const char *name, enum assay__dtype dtype, int rank,
                const int64_t *dims, const uint8_t *data, size_t size)
{
    int64_t elements = count_elements(layer, rank, dims);
    if (assay__dtype_bytes(dtype, elements) != size)
        assay__nn_fail(layer, "its weights have %zu bytes instead of %lld numbers", size,
                       (long long)elements);
    if (!layer->reader->code)
        assay__graph_add_initializer(layer->model, layer->nn->graph, name, dtype, rank, dims, data,
                                     size);
}

/* A part of a compressed weight: floats in a table, scales or biases; "" if there are none. */
static const char *add_part(struct assay__nn_layer *layer, const struct assay__wire_field *message,
                            uint32_t number, const char *suffix, const char *part, size_t *count)
{
    const uint8_t *data = find_floats(layer, message, number, count);
    int64_t dims = (int64_t)*count;
    if (!data || !*count) return "";
    const char *name = assay__reader_printf(layer->reader, "%s.%s.%s", layer->name, suffix, part);
    add(layer, name, ASSAY__FLOAT32, 1, &dims, data, *count * 4);
    return name;
}

/* QuantizationParams: the bits, and either a scale and bias per channel or a table. */
static void add_compressed(struct assay__nn_layer *layer, const struct assay__wire_field *weights,
                           const struct assay__wire_field *raw, const char *suffix, int rank,
                           const int64_t *dims, const char *name)
{
    struct assay__coreml *coreml = layer->nn->coreml;
    struct assay__wire_field quantization = {.data = NULL}, form = {.data = NULL};
    size_t counts[2] = {0, 0};
    int64_t bytes = (int64_t)raw->size, bits = 8, elements = count_elements(layer, rank, dims);
    if (assay__nn_message(weights, WEIGHTS_QUANTIZATION, &quantization))
        bits = assay__nn_int(&quantization, QUANTIZATION_BITS, 8);
    if (rank > 8 || bits < 1 || bits > 8 || elements > INT64_MAX / 8 - 8 ||
        (elements * bits + 7) / 8 != bytes)
        assay__nn_fail(layer, "its weights have %lld bytes for %lld numbers of %lld bits",
                       (long long)bytes, (long long)elements, (long long)bits);
    if (coreml->reader.code) return;
    bool table = assay__nn_message(&quantization, QUANTIZATION_LUT, &form);
    if (!table && !assay__nn_message(&quantization, QUANTIZATION_LINEAR, &form))
        form = (struct assay__wire_field){.data = NULL};
    const char *inputs[3] = {
        assay__reader_printf(&coreml->reader, "%s.%s.raw", layer->name, suffix),
        add_part(layer, &form, 1, suffix, table ? "lut" : "scale", &counts[0]),
        table ? "" : add_part(layer, &form, 2, suffix, "bias", &counts[1])};
    add(layer, inputs[0], ASSAY__UINT8, 1, &bytes, raw->data, raw->size);
    assay__nn_step(layer, table ? "constexpr_lut_to_dense" : "constexpr_affine_dequantize", suffix,
                   inputs, 3);
    struct assay__dim shape[8];
    for (int i = 0; i < rank; i++)
        shape[i] = (struct assay__dim){dims[i], ""};
    assay__graph_add_value(coreml->model, &layer->nn->graph->values, &layer->nn->graph->value_count,
                           name, ASSAY__FLOAT32, rank, shape);
    const char *detail = counts[0] > 1 ? "per channel" : "per tensor";
    if (table) detail = assay__reader_printf(&coreml->reader, "%zu entries, 1 table", counts[0]);
    int64_t others = (int64_t)(counts[0] + counts[1]);
    assay__coreml_add_stored(coreml, &(struct assay__stored_weight){
                                         .name = name,
                                         .dtype = ASSAY__FLOAT32,
                                         .scheme = table ? "palettised" : "quantised",
                                         .detail = detail,
                                         .bits = (double)bits,
                                         .logical_elements = elements,
                                         .stored_bytes = bytes + 4 * others,
                                         .stored_elements = bytes + others,
                                     });
}

const char *assay__nn_weights(struct assay__nn_layer *layer,
                              const struct assay__wire_field *message, uint32_t number,
                              const char *suffix, int rank, const int64_t *dims)
{
    struct assay__wire_field weights, bytes;
    size_t count = 0;
    if (!assay__nn_message(message, number, &weights)) return "";
    const char *name = assay__nn_text(layer, suffix);
    if (assay__nn_message(&weights, WEIGHTS_FLOAT16, &bytes) && bytes.size) {
        add(layer, name, ASSAY__FLOAT16, rank, dims, bytes.data, bytes.size);
    } else if ((assay__nn_message(&weights, WEIGHTS_RAW, &bytes) && bytes.size) ||
               (assay__nn_message(&weights, WEIGHTS_INT8, &bytes) && bytes.size)) {
        add_compressed(layer, &weights, &bytes, suffix, rank, dims, name);
    } else {
        const uint8_t *data = find_floats(layer, &weights, WEIGHTS_FLOAT, &count);
        add(layer, name, ASSAY__FLOAT32, rank, dims, data, count * 4);
    }
    return name;
}
