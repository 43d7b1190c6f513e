/* mil_value.c - types and values of MIL: ValueType, TensorType, Value.
 *
 * A value of a tensor type is immediate (floats, ints, bools, strings, longs, doubles or bytes,
 * each in its own message) or lies in the weights file. Floats, doubles and bytes stay where they
 * are in the file; varints are decoded into the arena as numbers of the tensor's type. The number
 * of elements must be what the shape says. */
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

/* Dimension: 1 constant {1 size}, 2 unknown {1 variadic}. */
static int read_dim(struct assay__coreml *coreml, const struct assay__wire_field *message,
                    int64_t *dim, bool *variadic)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field, inner;
    int code;
    *dim = -1;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a dimension")) == 1) {
        if (field.type != ASSAY__WIRE_BYTES || field.number > 2) continue;
        struct assay__wire sizes = assay__wire_over(field.data, field.size);
        if (field.number == 1) *dim = 0; /* proto3 leaves a zero out */
        while ((code = assay__onnx_next(&coreml->reader, &sizes, &inner, "a dimension")) == 1) {
            if (inner.number != 1 || inner.type != ASSAY__WIRE_VARINT) continue;
            if (field.number == 1) *dim = (int64_t)inner.value;
            if (field.number == 2 && inner.value) *variadic = true;
        }
        if (code) return code;
    }
    if (!code && *dim < -1)
        return assay__onnx_fail(&coreml->reader, message->start, "a negative dimension");
    return code;
}

static int read_dims(struct assay__coreml *coreml, const struct assay__wire_field *message,
                     struct assay__mil_type *type)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    bool variadic = false;
    int code, at = 0;
    type->dims = assay__arena_array(coreml->reader.arena, (size_t)type->rank, sizeof *type->dims);
    if (!type->dims) return assay__onnx_no_memory(&coreml->reader);
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a type")) == 1)
        if (field.number == TENSORTYPE_DIM && field.type == ASSAY__WIRE_BYTES &&
            (code = read_dim(coreml, &field, &type->dims[at++], &variadic)))
            return code;
    if (variadic) type->rank = -1;
    return code;
}

static int read_tensor_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                            struct assay__mil_type *type)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int64_t rank = 0, dims = 0;
    uint64_t dtype = 0;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a type")) == 1) {
        if (field.number == TENSORTYPE_DTYPE && field.type == ASSAY__WIRE_VARINT)
            dtype = field.value;
        if (field.number == TENSORTYPE_RANK && field.type == ASSAY__WIRE_VARINT)
            rank = (int64_t)field.value;
        dims += field.number == TENSORTYPE_DIM && field.type == ASSAY__WIRE_BYTES;
    }
    if (code) return code;
    if (dims > ASSAY__ONNX_RANK || (rank >= 0 && rank != dims))
        return assay__onnx_fail(&coreml->reader, message->start,
                                "a tensor of rank %lld has %lld dimensions", (long long)rank,
                                (long long)dims);
    type->kind = ASSAY__MIL_TENSOR;
    if (dtype < sizeof mil_types / sizeof mil_types[0]) {
        type->dtype = mil_types[dtype].dtype;
        type->bits = mil_types[dtype].bits;
    }
    type->rank = rank < 0 ? -1 : (int)dims;
    return type->rank < 0 ? 0 : read_dims(coreml, message, type);
}

int assay__mil_type(struct assay__coreml *coreml, const struct assay__wire_field *message,
                    struct assay__mil_type *type, int depth)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field, inner;
    int code;
    *type = (struct assay__mil_type){.kind = ASSAY__MIL_OTHER, .rank = -1};
    if (depth > ASSAY__MIL_DEPTH)
        return assay__onnx_fail(&coreml->reader, message->start, "types nest too deep");
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a type")) == 1) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == TYPE_MIL_TENSOR) code = read_tensor_type(coreml, &field, type);
        if (field.number == TYPE_MIL_LIST) type->kind = ASSAY__MIL_LIST;
        if (field.number == TYPE_MIL_STATE) { /* StateType: 1 wrappedType */
            struct assay__wire state = assay__wire_over(field.data, field.size);
            while ((code = assay__onnx_next(&coreml->reader, &state, &inner, "a type")) == 1)
                if (inner.number == 1 && inner.type == ASSAY__WIRE_BYTES &&
                    (code = assay__mil_type(coreml, &inner, type, depth + 1)))
                    return code;
            type->state = true;
        }
        if (code < 0) return code;
    }
    return code;
}

/* --- immediate values ------------------------------------------------------------------------- */

static int count_items(struct assay__coreml *coreml, const struct assay__wire_field *message,
                       int item_type, size_t *count, struct assay__wire_field *only)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t fields = 0;
    int code;
    *count = 0;
    only->data = NULL;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a constant")) == 1) {
        size_t more = 0;
        if (field.number != 1) continue;
        if (item_type == ASSAY__WIRE_BYTES)
            more = 1;
        else if (!assay__wire_count(&field, item_type, &more))
            return assay__onnx_fail(&coreml->reader, field.start, "a constant cannot be read");
        if (assay__add_overflows(*count, more, count))
            return assay__onnx_fail(&coreml->reader, field.start, "a constant cannot be read");
        if (field.type == ASSAY__WIRE_BYTES) *only = field;
        fields++;
    }
    if (fields != 1) only->data = NULL;
    return code;
}

/* Numbers as the wire has them, to numbers of `bytes` bytes each. */
static int decode(struct assay__coreml *coreml, const struct assay__wire_field *message,
                  int item_type, size_t count, size_t bytes, struct assay__mil_value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t at = 0, used = 0;
    uint64_t *items = assay__arena_array(coreml->reader.arena, count, sizeof *items);
    uint8_t *out = (uint8_t *)items; /* packed in place: out never passes the item it reads */
    if (!items) return assay__onnx_no_memory(&coreml->reader);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == 1 && !assay__wire_items(&field, item_type, items, &at))
            return assay__onnx_fail(&coreml->reader, field.start, "a constant cannot be read");
    for (size_t i = 0; i < count; i++) {
        uint64_t item = items[i];
        for (size_t b = 0; b < bytes; b++)
            out[used++] = (uint8_t)(item >> (8 * b));
    }
    value->data = out;
    value->size = used;
    return 0;
}

static int read_strings(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        size_t count, struct assay__mil_value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t at = 0;
    int code;
    value->strings = assay__arena_array(coreml->reader.arena, count, sizeof *value->strings);
    if (!value->strings) return assay__onnx_no_memory(&coreml->reader);
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a constant")) == 1)
        if (field.number == 1 &&
            (code = assay__onnx_text(&coreml->reader, &field, &value->strings[at++])))
            return code;
    return code;
}

static int read_numbers(struct assay__coreml *coreml, const struct assay__wire_field *message,
                        struct assay__mil_value *value)
{
    struct assay__wire_field only = {.data = NULL};
    size_t count = 0, bytes = (size_t)value->type.bits / 8;
    uint32_t form = message->number;
    int item = form == TENSOR_MIL_FLOATS                                ? ASSAY__WIRE_FIXED32
               : form == TENSOR_MIL_DOUBLES                             ? ASSAY__WIRE_FIXED64
               : form == TENSOR_MIL_STRINGS || form == TENSOR_MIL_BYTES ? ASSAY__WIRE_BYTES
                                                                        : ASSAY__WIRE_VARINT;
    int code = count_items(coreml, message, item, &count, &only);
    if (code) return code;
    if (form == TENSOR_MIL_BYTES) { /* packed numbers of the type */
        size_t bits = 0;
        if (assay__mul_overflows((size_t)value->elements, (size_t)value->type.bits, &bits) ||
            assay__add_overflows(bits, 7, &bits) || bits / 8 != (only.data ? only.size : 0))
            return assay__onnx_fail(&coreml->reader, message->start,
                                    "a constant of %lld numbers has %zu bytes",
                                    (long long)value->elements, only.data ? only.size : 0);
        value->data = only.data;
        value->size = only.size;
        return 0;
    }
    bool strings = form == TENSOR_MIL_STRINGS;
    bool fits = form == TENSOR_MIL_FLOATS    ? value->type.dtype == ASSAY__FLOAT32
                : form == TENSOR_MIL_DOUBLES ? value->type.dtype == ASSAY__FLOAT64
                : strings                    ? value->type.dtype == ASSAY__STRING
                                             : bytes > 0;
    if (!fits || (int64_t)count != value->elements)
        return assay__onnx_fail(&coreml->reader, message->start,
                                "a constant of %lld numbers has %zu, or of another type",
                                (long long)value->elements, count);
    if (strings) return read_strings(coreml, message, count, value);
    if (only.data && item != ASSAY__WIRE_VARINT) {
        value->data = only.data;
        value->size = only.size;
        return 0;
    }
    return decode(coreml, message, item, count, bytes, value);
}

static int read_immediate(struct assay__coreml *coreml, const struct assay__wire_field *message,
                          struct assay__mil_value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field, inner;
    int code;
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a constant")) == 1) {
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue; /* lists, tuples … */
        struct assay__wire numbers = assay__wire_over(field.data, field.size);
        while ((code = assay__onnx_next(&coreml->reader, &numbers, &inner, "a constant")) == 1)
            if (inner.type == ASSAY__WIRE_BYTES && inner.number <= TENSOR_MIL_BYTES &&
                (code = read_numbers(coreml, &inner, value)))
                return code;
        if (code) return code;
    }
    return code;
}

/* The product of the dimensions; a constant has no unknown one. */
static int count_elements(struct assay__coreml *coreml, const struct assay__wire_field *message,
                          struct assay__mil_value *value)
{
    value->elements = 1;
    for (int i = 0; i < value->type.rank; i++)
        if (value->type.dims[i] < 0 ||
            assay__mul_i64_overflows(value->elements, value->type.dims[i], &value->elements))
            return assay__onnx_fail(&coreml->reader, message->start,
                                    "a constant's shape is not a size");
    return 0;
}

int assay__mil_value(struct assay__coreml *coreml, const struct assay__wire_field *message,
                     struct assay__mil_value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int code;
    *value = (struct assay__mil_value){.type = {.kind = ASSAY__MIL_OTHER, .rank = -1}};
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a value")) == 1)
        if (field.number == VALUE_MIL_TYPE && field.type == ASSAY__WIRE_BYTES &&
            (code = assay__mil_type(coreml, &field, &value->type, 0)))
            return code;
    if (code || value->type.kind != ASSAY__MIL_TENSOR || value->type.rank < 0) return code;
    if ((code = count_elements(coreml, message, value))) return code;
    wire = assay__wire_over(message->data, message->size);
    while ((code = assay__onnx_next(&coreml->reader, &wire, &field, "a value")) == 1) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == VALUE_IMMEDIATE) code = read_immediate(coreml, &field, value);
        if (field.number == VALUE_BLOB) code = assay__mil_blob(coreml, &field, value);
        if (code < 0) return code;
    }
    if (!code && value->elements > 0 && !value->data && !value->strings)
        return assay__onnx_fail(&coreml->reader, message->start, "a constant without its numbers");
    return code;
}
