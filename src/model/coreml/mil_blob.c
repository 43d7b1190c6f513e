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

static void open_weights(struct assay__coreml *coreml, const uint8_t *at, const char *name)
{
    struct assay__reader *reader = &coreml->reader;
    char path[4096];
    size_t prefix = strlen(MODEL_PATH);
    if (reader->code || (coreml->weights_name && strcmp(coreml->weights_name, name) == 0)) return;
    if (coreml->weights_name)
        assay__reader_refuse(reader, ASSAY_EUNSUPPORTED,
                             "weights in more than one file ('%.80s' and '%.80s')",
                             coreml->weights_name, name);
    else if (strncmp(name, MODEL_PATH, prefix) != 0)
        assay__reader_fail(reader, at, "weights in '%.80s', not below the model", name);
    else if (coreml->folder &&
             !assay__coreml_inside(coreml, coreml->folder, name + prefix, path, sizeof path)) {
        reader->code = assay__file_map(path, &coreml->model->weights, reader->error);
        coreml->weights = coreml->model->weights.data;
        coreml->weights_size = coreml->model->weights.size;
    }
    if (reader->code) return;
    coreml->weights_name = name;
    if (coreml->weights_size < HEADER || assay__wire_u32(coreml->weights + 4) != 2)
        assay__reader_refuse(reader, ASSAY_EFORMAT, "the weights file is not of version 2");
}

static void check_blob(struct assay__coreml *coreml, const uint8_t *at, uint64_t offset,
                       struct assay__mil_value *value)
{
    struct assay__reader *reader = &coreml->reader;
    unsigned long long where = offset;
    size_t all = coreml->weights_size, bits = 0;
    if (offset < HEADER || offset % 64 || offset > all || all - offset < METADATA) {
        assay__reader_fail(reader, at, "a constant at %llu of %zu bytes of weights", where, all);
        return;
    }
    const uint8_t *entry = coreml->weights + offset;
    uint32_t type = assay__wire_u32(entry + 4);
    uint64_t size = assay__wire_u64(entry + 8), data = assay__wire_u64(entry + 16);
    bool known = type < sizeof blob_types / sizeof blob_types[0] && blob_types[type].bits;
    if (assay__wire_u32(entry) != MAGIC)
        assay__reader_fail(reader, at, "there is no constant at %llu of the weights", where);
    else if (data > all || all - data < size || data < HEADER)
        assay__reader_fail(reader, at, "the constant at %llu goes past the end of the weights",
                           where);
    else if (!known || blob_types[type].bits != value->type.bits ||
             (blob_types[type].dtype != value->type.dtype && value->type.dtype != ASSAY__BOOL))
        assay__reader_fail(reader, at, "the constant at %llu is of another type (%u)", where, type);
    else if (assay__mul_overflows((size_t)value->elements, (size_t)value->type.bits, &bits) ||
             assay__add_overflows(bits, 7, &bits) || bits / 8 != size)
        assay__reader_fail(reader, at, "the constant at %llu has %llu bytes for %lld numbers",
                           where, (unsigned long long)size, (long long)value->elements);
    if (reader->code) return;
    value->data = coreml->weights + data;
    value->size = (size_t)size;
}

void assay__mil_blob(struct assay__coreml *coreml, const struct assay__wire_field *message,
                     struct assay__mil_value *value)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    const char *name = "";
    uint64_t offset = 0;
    while (assay__reader_next(&coreml->reader, &wire, &field, "a constant")) {
        if (field.number == 1) name = assay__reader_text(&coreml->reader, &field);
        if (field.number == 2 && field.type == ASSAY__WIRE_VARINT) offset = field.value;
    }
    open_weights(coreml, message->start, name);
    if (!coreml->reader.code) check_blob(coreml, message->start, offset, value);
}
