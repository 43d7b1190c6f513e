/* mil_value.c - types and values of MIL: ValueType, TensorType, Value.
 *
 * A value of a tensor type is immediate (floats, ints, bools, strings, longs, doubles or bytes,
 * each in its own message) or is in the weights file. Floats, doubles and bytes stay where they are
 * in the file; varints are decoded into the arena as numbers of the tensor's type. The number of
 * elements must match the shape.
 *
 * The weights file ("blob v2", read from Core ML tools' public source) is little-endian and 64-byte
 * aligned. A header of 64 bytes: u32 number of blobs, u32 version (2). A BlobFileValue names the
 * file and the offset of 64 bytes of metadata: u32 0xDEADBEEF, u32 type, u64 bytes, u64 offset of
 * the data (from the start of the file), u64 padding in bits. Several constants may share a blob.
 * The data is never accessed here: sizes, types and bounds are checked, and the tensor points into
 * the mapping. */
#include "model/coreml/mil.h"

#include "base/checked.h"

#include <string.h>

enum {
    TYPE_MIL_TENSOR = 1,
    TYPE_MIL_LIST = 2,
    TYPE_MIL_STATE = 5,
    TENSORTYPE_DTYPE = 1,
    TENSORTYPE_RANK = 2,
    TENSORTYPE_DIM = 3,
    VALUE_MIL_TYPE = 2,
    VALUE_IMMEDIATE = 3,
    VALUE_BLOB = 5,
    TENSOR_MIL_FLOATS = 1,
    TENSOR_MIL_INTS = 2,
    TENSOR_MIL_BOOLS = 3,
    TENSOR_MIL_STRINGS = 4,
    TENSOR_MIL_LONGS = 5,
    TENSOR_MIL_DOUBLES = 6,
    TENSOR_MIL_BYTES = 7,
};

static const struct {
    enum assay__dtype dtype;
    int bits;
} mil_types[] = {
    [1] = {ASSAY__BOOL, 8},        [2] = {ASSAY__STRING, 0},     [10] = {ASSAY__FLOAT16, 16},
    [11] = {ASSAY__FLOAT32, 32},   [12] = {ASSAY__FLOAT64, 64},  [13] = {ASSAY__BFLOAT16, 16},
    [21] = {ASSAY__INT8, 8},       [22] = {ASSAY__INT16, 16},    [23] = {ASSAY__INT32, 32},
    [24] = {ASSAY__INT64, 64},     [25] = {ASSAY__INT4, 4},      [31] = {ASSAY__UINT8, 8},
    [32] = {ASSAY__UINT16, 16},    [33] = {ASSAY__UINT32, 32},   [34] = {ASSAY__UINT64, 64},
    [35] = {ASSAY__UINT4, 4},      [36] = {ASSAY__UINT2, 2},     [37] = {ASSAY__UNDEFINED, 1},
    [38] = {ASSAY__UNDEFINED, 6},  [39] = {ASSAY__UNDEFINED, 3}, [40] = {ASSAY__FLOAT8E4M3FN, 8},
    [41] = {ASSAY__FLOAT8E5M2, 8},
};

/* --- types ------------------------------------------------------------------------------------ */

/* Dimension: 1 constant {1 size}, 2 unknown {1 variadic}; -1 for an unknown one. */
static int64_t read_dim(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        bool *variadic)
{
    struct assay__wire_field inner;
    int64_t dim = -1;
    if (assay__coreml_find(coreml, message, 1, "a dimension", &inner))
        dim = (int64_t)assay__coreml_number(coreml, &inner, 1, "a dimension");
    if (assay__coreml_find(coreml, message, 2, "a dimension", &inner))
        *variadic |= assay__coreml_number(coreml, &inner, 1, "a dimension") != 0;
    if (dim < -1) assay__reader_fail(&coreml->reader, message->start, "a negative dimension");
    return dim;
}

static void read_tensor_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                             struct assay__mil_type *type)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    uint64_t dtype = assay__coreml_number(coreml, message, TENSORTYPE_DTYPE, "a type");
    int64_t rank = (int64_t)assay__coreml_number(coreml, message, TENSORTYPE_RANK, "a type");
    int64_t dims[ASSAY__ONNX_RANK], count = 0;
    bool variadic = false;
    while (assay__reader_next(reader, &wire, &field, "a type"))
        if (field.number == TENSORTYPE_DIM && field.type == ASSAY__WIRE_BYTES &&
            count++ < ASSAY__ONNX_RANK && rank >= 0)
            dims[count - 1] = read_dim(coreml, &field, &variadic);
    if (count > ASSAY__ONNX_RANK || (rank >= 0 && rank != count))
        assay__reader_fail(reader, message->start, "a tensor of rank %lld has %lld dimensions",
                           (long long)rank, (long long)count);
    type->kind = ASSAY__MIL_TENSOR;
    if (dtype < sizeof mil_types / sizeof mil_types[0]) {
        type->dtype = mil_types[dtype].dtype;
        type->bits = mil_types[dtype].bits;
    }
    type->rank = rank < 0 || variadic || reader->code ? -1 : (int)count;
    if (type->rank < 0) return;
    type->dims = assay__reader_array(reader, (size_t)count, sizeof *type->dims);
    if (!type->dims)
        type->rank = -1;
    else if (count)
        memcpy(type->dims, dims, (size_t)count * sizeof *dims);
}

void assay__mil_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                     struct assay__mil_type *type, int depth)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field, inner;
    *type = (struct assay__mil_type){.kind = ASSAY__MIL_OTHER, .rank = -1};
    if (depth > ASSAY__MIL_DEPTH)
        assay__reader_fail(reader, message->start, "types are nested too deeply");
    while (assay__reader_next(reader, &wire, &field, "a type")) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == TYPE_MIL_TENSOR) read_tensor_type(coreml, &field, type);
        if (field.number == TYPE_MIL_LIST) type->kind = ASSAY__MIL_LIST;
        if (field.number != TYPE_MIL_STATE) continue;
        if (assay__coreml_find(coreml, &field, 1, "a type", &inner)) /* StateType.wrappedType */
            assay__mil_type(coreml, &inner, type, depth + 1);
        type->state = true;
    }
}

int64_t assay__mil_elements(const struct assay__mil_type *type)
{
    int64_t elements = type->rank < 0 ? -1 : 1;
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i] < 0 || assay__mul_i64_overflows(elements, type->dims[i], &elements))
            return -1;
    return elements;
}

/* --- immediate values ------------------------------------------------------------------------- */

/* How many items there are; *only is the field that has all of them, if there is one. */
static size_t count_items(struct assay__coreml *coreml, const struct assay__wire_field *message,
                          int item_type, struct assay__wire_field *only)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t fields = 0, count = 0;
    while (assay__reader_next(reader, &wire, &field, "a constant")) {
        size_t more = 1;
        if (field.number != 1) continue;
        if ((item_type != ASSAY__WIRE_BYTES && !assay__wire_count(&field, item_type, &more)) ||
            assay__add_overflows(count, more, &count))
            assay__reader_fail(reader, field.start, "a constant cannot be read");
        if (field.type == ASSAY__WIRE_BYTES) *only = field;
        fields++;
    }
    if (fields != 1) only->data = NULL;
    return count;
}

/* Converts numbers from the wire format to `bytes` bytes each. */
static void decode(struct assay__coreml *coreml, const struct assay__wire_field *message,
                   int item_type, size_t count, size_t bytes, struct assay__mil_value *value)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t at = 0, used = 0;
    uint64_t *items = assay__reader_array(reader, count, sizeof *items);
    uint8_t *out = (uint8_t *)items; /* packed in place: out never overtakes the item being read */
    while (assay__reader_next(reader, &wire, &field, "a constant"))
        if (field.number == 1 && !assay__wire_items(&field, item_type, items, &at))
            assay__reader_fail(reader, field.start, "a constant cannot be read");
    if (reader->code) return;
    for (size_t i = 0; i < count; i++) {
        uint64_t item = items[i];
        for (size_t b = 0; b < bytes; b++)
            out[used++] = (uint8_t)(item >> (8 * b));
    }
    value->data = out;
    value->size = used;
}

static void read_numbers(struct assay__coreml *coreml, const struct assay__wire_field *message,
                         struct assay__mil_value *value)
{
    static const int items[] = {
        [TENSOR_MIL_FLOATS] = ASSAY__WIRE_FIXED32,
        [TENSOR_MIL_DOUBLES] = ASSAY__WIRE_FIXED64,
        [TENSOR_MIL_STRINGS] = ASSAY__WIRE_BYTES,
        [TENSOR_MIL_BYTES] = ASSAY__WIRE_BYTES,
    };
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire_field only = {.data = NULL};
    size_t bytes = (size_t)value->type.bits / 8, bits = 0, there = 0;
    uint32_t form = message->number;
    int item = items[form]; /* the others are varints, of size 0 */
    size_t count = count_items(coreml, message, item, &only);
    if (only.data) there = only.size;
    bool strings = form == TENSOR_MIL_STRINGS, packed = form == TENSOR_MIL_BYTES;
    bool fits = form == TENSOR_MIL_FLOATS    ? value->type.dtype == ASSAY__FLOAT32
                : form == TENSOR_MIL_DOUBLES ? value->type.dtype == ASSAY__FLOAT64
                : strings                    ? value->type.dtype == ASSAY__STRING
                                             : bytes > 0;
    if (packed && /* numbers of the type, as they lie */
        (assay__mul_overflows((size_t)value->elements, (size_t)value->type.bits, &bits) ||
         assay__add_overflows(bits, 7, &bits) || bits / 8 != there))
        assay__reader_fail(reader, message->start, "a constant of %lld numbers has %zu bytes",
                           (long long)value->elements, there);
    if (!packed && (!fits || (int64_t)count != value->elements))
        assay__reader_fail(reader, message->start,
                           "a constant of %lld numbers has %zu, or another type",
                           (long long)value->elements, count);
    if (reader->code) return;
    if (strings) {
        struct assay__wire wire = assay__wire_in(message);
        struct assay__wire_field field;
        size_t at = 0;
        value->strings = assay__reader_array(reader, count, sizeof *value->strings);
        while (assay__reader_next(reader, &wire, &field, "a constant"))
            if (field.number == 1) value->strings[at++] = assay__reader_text(reader, &field);
    } else if (packed || (only.data && item != ASSAY__WIRE_VARINT)) {
        value->data = only.data;
        value->size = there;
    } else {
        decode(coreml, message, item, count, bytes, value);
    }
}

/* --- values in the weights file ----------------------------------------------------------------
 */

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
        assay__reader_fail(reader, at, "weights in '%.80s', outside the model's folder", name);
    else if (coreml->folder &&
             !assay__coreml_inside(coreml, coreml->folder, name + prefix, path, sizeof path)) {
        reader->code = assay__file_map(path, &coreml->model->weights, reader->error);
        coreml->weights = coreml->model->weights.data;
        coreml->weights_size = coreml->model->weights.size;
    }
    if (reader->code) return;
    coreml->weights_name = name;
    if (coreml->weights_size < HEADER || assay__wire_u32(coreml->weights + 4) != 2)
        assay__reader_refuse(reader, ASSAY_EFORMAT, "the version of the weights file is not 2");
}

static void read_blob(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__mil_value *value)
{
    struct assay__reader *reader = &coreml->reader;
    const uint8_t *at = message->start;
    const char *name = assay__coreml_text(coreml, message, 1, "a constant");
    uint64_t offset = assay__coreml_number(coreml, message, 2, "a constant");
    unsigned long long where = offset;
    size_t bits = 0;
    open_weights(coreml, at, name);
    if (reader->code) return;
    size_t all = coreml->weights_size;
    if (offset < HEADER || offset % 64 || offset > all || all - offset < METADATA) {
        assay__reader_fail(reader, at, "a constant at offset %llu of %zu bytes of weights", where,
                           all);
        return;
    }
    const uint8_t *entry = coreml->weights + offset;
    uint32_t type = assay__wire_u32(entry + 4);
    uint64_t size = assay__wire_u64(entry + 8), data = assay__wire_u64(entry + 16);
    bool known = type < sizeof blob_types / sizeof blob_types[0] && blob_types[type].bits;
    if (assay__wire_u32(entry) != MAGIC)
        assay__reader_fail(reader, at, "there is no constant at offset %llu of the weights", where);
    else if (data > all || all - data < size || data < HEADER)
        assay__reader_fail(
            reader, at, "the constant at offset %llu extends past the end of the weights", where);
    else if (!known || blob_types[type].bits != value->type.bits ||
             (blob_types[type].dtype != value->type.dtype && value->type.dtype != ASSAY__BOOL))
        assay__reader_fail(reader, at, "the constant at offset %llu has another type (%u)", where,
                           type);
    else if (assay__mul_overflows((size_t)value->elements, (size_t)value->type.bits, &bits) ||
             assay__add_overflows(bits, 7, &bits) || bits / 8 != size)
        assay__reader_fail(reader, at,
                           "the constant at offset %llu has %llu bytes for %lld numbers", where,
                           (unsigned long long)size, (long long)value->elements);
    if (reader->code) return;
    value->data = coreml->weights + data;
    value->size = (size_t)size;
}

void assay__mil_value(struct assay__coreml *coreml, const struct assay__wire_field *message,
                      struct assay__mil_value *value)
{
    struct assay__reader *reader = &coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field, tensor, numbers;
    *value = (struct assay__mil_value){.type = {.kind = ASSAY__MIL_OTHER, .rank = -1}};
    while (assay__reader_next(reader, &wire, &field, "a value"))
        if (field.number == VALUE_MIL_TYPE && field.type == ASSAY__WIRE_BYTES)
            assay__mil_type(coreml, &field, &value->type, 0);
    if (value->type.kind != ASSAY__MIL_TENSOR || value->type.rank < 0) return;
    value->elements = assay__mil_elements(&value->type);
    if (value->elements < 0) /* a constant has no unknown dimension */
        assay__reader_fail(reader, message->start, "the shape of a constant is invalid");
    wire = assay__wire_in(message);
    while (assay__reader_next(reader, &wire, &field, "a value")) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == VALUE_BLOB) read_blob(coreml, &field, value);
        if (field.number != VALUE_IMMEDIATE ||
            !assay__coreml_find(coreml, &field, 1, "a constant", &tensor)) /* not lists, tuples … */
            continue;
        struct assay__wire inner = assay__wire_in(&tensor);
        while (assay__reader_next(reader, &inner, &numbers, "a constant"))
            if (numbers.type == ASSAY__WIRE_BYTES && numbers.number <= TENSOR_MIL_BYTES)
                read_numbers(coreml, &numbers, value);
    }
    if (value->elements > 0 && !value->data && !value->strings)
        assay__reader_fail(reader, message->start, "a constant without data");
}
