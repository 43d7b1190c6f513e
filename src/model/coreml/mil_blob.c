/* mil_blob.c - constants in the weights file ("blob v2"), read from Core ML tools' public source.
 *
 * Little-endian, 64-byte aligned. A header of 64 bytes: u32 number of blobs, u32 version (2). A
 * BlobFileValue names the file and the offset of 64 bytes of metadata: u32 0xDEADBEEF, u32 type,
 * u64 bytes, u64 offset of the data (from the start of the file), u64 padding in bits. Several
 * constants may share a blob. The data is never touched here: sizes, types and bounds are checked,
 * and the tensor points into the mapping. */
#include "model/coreml/mil.h"

#include "base/checked.h"

#include <string.h>

#define HEADER 64u
#define METADATA 64u
#define MAGIC 0xDEADBEEFu
#define MODEL_PATH "@model_path/"

static const struct {
    enum assay__dtype dtype;
    int bits;
} blob_types[] = {
    [1] = {ASSAY__FLOAT16, 16},      [2] = {ASSAY__FLOAT32, 32},    [3] = {ASSAY__UINT8, 8},
    [4] = {ASSAY__INT8, 8},          [5] = {ASSAY__BFLOAT16, 16},   [6] = {ASSAY__INT16, 16},
    [7] = {ASSAY__UINT16, 16},       [8] = {ASSAY__INT4, 4},        [9] = {ASSAY__UNDEFINED, 1},
    [10] = {ASSAY__UINT2, 2},        [11] = {ASSAY__UINT4, 4},      [12] = {ASSAY__UNDEFINED, 3},
    [13] = {ASSAY__UNDEFINED, 6},    [14] = {ASSAY__INT32, 32},     [15] = {ASSAY__UINT32, 32},
    [16] = {ASSAY__FLOAT8E4M3FN, 8}, [17] = {ASSAY__FLOAT8E5M2, 8},
};

static int open_weights(struct assay__coreml *coreml, const uint8_t *at, const char *name)
{
    char path[4096];
    size_t prefix = strlen(MODEL_PATH);
    if (coreml->weights_name) {
        if (strcmp(coreml->weights_name, name) == 0) return 0;
        return assay_error_set(coreml->reader.error, ASSAY_EUNSUPPORTED,
                               "%.160s: weights in more than one file ('%.80s' and '%.80s')",
                               coreml->reader.label, coreml->weights_name, name);
    }
    if (strncmp(name, MODEL_PATH, prefix) != 0)
        return assay__onnx_fail(&coreml->reader, at, "weights in '%.80s', not below the model",
                                name);
    if (coreml->folder) {
        int code = assay__coreml_inside(coreml, coreml->folder, name + prefix, path, sizeof path);
        if (!code) code = assay__file_map(path, &coreml->model->weights, coreml->reader.error);
        if (code) return code;
        coreml->weights = coreml->model->weights.data;
        coreml->weights_size = coreml->model->weights.size;
    }
    coreml->weights_name = name;
    if (coreml->weights_size >= HEADER && assay__wire_u32(coreml->weights + 4) == 2) return 0;
    return assay_error_set(coreml->reader.error, ASSAY_EFORMAT,
                           "%.160s: the weights file is not of version 2", coreml->reader.label);
}

static int check_blob(struct assay__coreml *coreml, const uint8_t *at, uint64_t offset,
                      struct assay__mil_value *value)
{
    struct assay__onnx_reader *reader = &coreml->reader;
    unsigned long long where = offset;
    if (offset < HEADER || offset % 64 || offset > coreml->weights_size ||
        coreml->weights_size - offset < METADATA)
        return assay__onnx_fail(reader, at, "a constant at %llu of %zu bytes of weights", where,
                                coreml->weights_size);
    const uint8_t *entry = coreml->weights + offset;
    uint32_t type = assay__wire_u32(entry + 4);
    uint64_t size = assay__wire_u64(entry + 8), data = assay__wire_u64(entry + 16);
    if (assay__wire_u32(entry) != MAGIC)
        return assay__onnx_fail(reader, at, "no constant stands at %llu of the weights", where);
    if (data > coreml->weights_size || coreml->weights_size - data < size || data < HEADER)
        return assay__onnx_fail(reader, at, "the constant at %llu goes past the end of the weights",
                                where);
    bool known = type < sizeof blob_types / sizeof blob_types[0] && blob_types[type].bits;
    if (!known || blob_types[type].bits != value->type.bits ||
        (blob_types[type].dtype != value->type.dtype && value->type.dtype != ASSAY__BOOL))
        return assay__onnx_fail(reader, at, "the constant at %llu is of another type (%u)", where,
                                type);
    size_t bits = 0;
    if (assay__mul_overflows((size_t)value->elements, (size_t)value->type.bits, &bits) ||
        assay__add_overflows(bits, 7, &bits) || bits / 8 != size)
        return assay__onnx_fail(reader, at, "the constant at %llu has %llu bytes for %lld numbers",
                                where, (unsigned long long)size, (long long)value->elements);
    value->data = coreml->weights + data;
    value->size = (size_t)size;
    return 0;
}

int assay__mil_blob(struct assay__coreml *coreml, const struct assay__wire_field *message,
                    struct assay__mil_value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    const char *name = "";
    uint64_t offset = 0;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a constant")) == 1) {
        if (field.number == 1) code = assay__onnx_text(&coreml->reader, &field, &name);
        if (field.number == 2 && field.type == ASSAY__WIRE_VARINT) offset = field.value;
        if (code < 0) return code;
    }
    if (!code) code = open_weights(coreml, message->start, name);
    if (!code) code = check_blob(coreml, message->start, offset, value);
    return code;
}
