/* coreml_nn_weights.c - WeightParams of a layer: float32 numbers, float16 bytes, or raw bytes of n
 * bits with a scale and a bias per channel (linear) or a table of 2^n numbers. Plain numbers stay
 * where they are in the file. Compressed ones become what ML programs have: the raw bytes, the
 * table or scales, a constexpr_ node that makes the dense tensor, and an entry of the model's
 * stored weights. */
#include "model/coreml/coreml_nn.h"

#include "base/checked.h"

#include <stdio.h>
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

/* Repeated floats: in place when they stand in one packed field, else copied. */
static int find_floats(struct assay__nn_layer *layer, const struct assay__wire_field *message,
                       uint32_t number, const uint8_t **data, size_t *count)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t fields = 0, at = 0;
    *count = 0;
    *data = NULL;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        size_t more = 0;
        if (field.number != number) continue;
        if (!assay__wire_count(&field, ASSAY__WIRE_FIXED32, &more))
            return assay__nn_fail(layer, "its weights cannot be read");
        if (field.type == ASSAY__WIRE_BYTES && more) *data = field.data;
        fields += more > 0;
        *count += more;
    }
    if (fields == 1 && *data) return 0;
    uint8_t *copy = assay__arena_array(layer->nn->coreml->reader.arena, *count, 4);
    if (!copy) return assay__nn_done(layer, ASSAY_ENOMEM);
    wire = assay__wire_over(message->data, message->size);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != number) continue;
        if (field.type == ASSAY__WIRE_BYTES) {
            memcpy(copy + at, field.data, field.size);
            at += field.size;
        } else {
            for (int b = 0; b < 4; b++)
                copy[at++] = (uint8_t)(field.value >> (8 * b));
        }
    }
    *data = copy;
    return 0;
}

static int add(struct assay__nn_layer *layer, const char *name, enum assay__dtype dtype, int rank,
               const int64_t *dims, const uint8_t *data, size_t size)
{
    int64_t elements = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0 || assay__mul_i64_overflows(elements, dims[i], &elements))
            return assay__nn_fail(layer, "the shape of its weights is not a size");
    if (assay__dtype_bytes(dtype, elements) != size)
        return assay__nn_fail(layer, "its weights have %zu bytes where %lld numbers belong", size,
                              (long long)elements);
    return assay__nn_done(layer,
                          !assay__graph_add_initializer(layer->nn->coreml->model, layer->nn->graph,
                                                        name, dtype, rank, dims, data, size));
}

/* A part of a compressed weight: floats in a table, scales or biases; *name "" when there are none.
 */
static int add_part(struct assay__nn_layer *layer, const struct assay__wire_field *message,
                    uint32_t number, const char *suffix, const char *part, size_t *count,
                    const char **name)
{
    const uint8_t *data = NULL;
    int code = find_floats(layer, message, number, &data, count);
    *name = "";
    if (code || !*count) return code;
    int64_t dims = (int64_t)*count;
    *name = assay__arena_printf(layer->nn->coreml->reader.arena, "%s.%s.%s", layer->name, suffix,
                                part);
    if (!*name) return assay__nn_done(layer, ASSAY_ENOMEM);
    return add(layer, *name, ASSAY__FLOAT32, 1, &dims, data, *count * 4);
}

static int add_compressed(struct assay__nn_layer *layer, const struct assay__wire_field *weights,
                          const struct assay__wire_field *raw, const char *suffix, int rank,
                          const int64_t *dims, const char *name)
{
    struct assay__coreml *coreml = layer->nn->coreml;
    struct assay__wire_field quantization = {.data = NULL}, form = {.data = NULL};
    struct assay__stored_weight weight = {
        .name = name, .dtype = ASSAY__FLOAT32, .logical_elements = 1};
    const char *inputs[3] = {"", "", ""};
    char detail[64];
    size_t counts[2] = {0, 0};
    int64_t bytes = (int64_t)raw->size, bits = 8;
    if (assay__nn_message(weights, WEIGHTS_QUANTIZATION, &quantization))
        bits = assay__nn_int(&quantization, QUANTIZATION_BITS, 8);
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0 ||
            assay__mul_i64_overflows(weight.logical_elements, dims[i], &weight.logical_elements))
            return assay__nn_fail(layer, "the shape of its weights is not a size");
    if (rank > 8 || bits < 1 || bits > 8 || weight.logical_elements > INT64_MAX / 8 - 8 ||
        (weight.logical_elements * bits + 7) / 8 != bytes)
        return assay__nn_fail(layer, "its weights have %lld bytes for %lld numbers of %lld bits",
                              (long long)bytes, (long long)weight.logical_elements,
                              (long long)bits);
    bool table = assay__nn_message(&quantization, QUANTIZATION_LUT, &form);
    if (!table && !assay__nn_message(&quantization, QUANTIZATION_LINEAR, &form))
        form = (struct assay__wire_field){.data = NULL};
    inputs[0] = assay__arena_printf(coreml->reader.arena, "%s.%s.raw", layer->name, suffix);
    int code = inputs[0] ? add(layer, inputs[0], ASSAY__UINT8, 1, &bytes, raw->data, raw->size)
                         : assay__nn_done(layer, ASSAY_ENOMEM);
    if (!code)
        code = add_part(layer, &form, 1, suffix, table ? "lut" : "scale", &counts[0], &inputs[1]);
    if (!code && !table) code = add_part(layer, &form, 2, suffix, "bias", &counts[1], &inputs[2]);
    if (code) return code;
    if (!assay__nn_emit(layer, table ? "constexpr_lut_to_dense" : "constexpr_affine_dequantize",
                        ASSAY__COREML_DOMAIN, suffix, inputs, 3, &name, 1, &code))
        return code;
    struct assay__dim shape[8];
    for (int i = 0; i < rank && i < 8; i++)
        shape[i] = (struct assay__dim){dims[i], ""};
    weight.scheme = table ? "palettised" : "quantised";
    if (table)
        snprintf(detail, sizeof detail, "%zu entries, 1 table", counts[0]);
    else
        snprintf(detail, sizeof detail, "%s", counts[0] > 1 ? "per channel" : "per tensor");
    weight.detail = assay__arena_strdup(coreml->reader.arena, detail);
    weight.bits = (double)bits;
    weight.stored_bytes = bytes + 4 * (int64_t)(counts[0] + counts[1]);
    weight.stored_elements = bytes + (int64_t)(counts[0] + counts[1]);
    if (!weight.detail || assay__model_add_stored(coreml->model, &weight) == SIZE_MAX)
        return assay__nn_done(layer, ASSAY_ENOMEM);
    return assay__nn_done(layer, assay__graph_add_value(coreml->model, &layer->nn->graph->values,
                                                        &layer->nn->graph->value_count, name,
                                                        ASSAY__FLOAT32, rank, shape));
}

int assay__nn_weights(struct assay__nn_layer *layer, const struct assay__wire_field *message,
                      uint32_t number, const char *suffix, int rank, const int64_t *dims,
                      const char **name)
{
    struct assay__wire_field weights, bytes;
    const uint8_t *data = NULL;
    size_t count = 0;
    *name = "";
    if (!assay__nn_message(message, number, &weights)) return 0;
    *name = assay__nn_text(layer, suffix);
    if (!*name) return assay__nn_done(layer, ASSAY_ENOMEM);
    if (assay__nn_message(&weights, WEIGHTS_FLOAT16, &bytes) && bytes.size)
        return add(layer, *name, ASSAY__FLOAT16, rank, dims, bytes.data, bytes.size);
    if ((assay__nn_message(&weights, WEIGHTS_RAW, &bytes) && bytes.size) ||
        (assay__nn_message(&weights, WEIGHTS_INT8, &bytes) && bytes.size))
        return add_compressed(layer, &weights, &bytes, suffix, rank, dims, *name);
    int code = find_floats(layer, &weights, WEIGHTS_FLOAT, &data, &count);
    return code ? code : add(layer, *name, ASSAY__FLOAT32, rank, dims, data, count * 4);
}
