/* onnx_tensor.c - reads TensorProto and ValueInfoProto.
 *
 * Data of a tensor is one of: raw_data (a pointer into the file is kept), external_data (a
 * reference is kept), or a typed field. float_data and double_data that stand in one packed
 * field are little-endian as they lie, so a pointer is kept; other typed fields are decoded into
 * the arena when they have at most ASSAY__ONNX_DECODE elements. Large ones stay undecoded (data
 * NULL): they are written back verbatim, and whoever needs their values asks assay__onnx_decode.
 * What a shape says and what the data holds must agree; a tensor that lies is refused. */
#include "base/checked.h"
#include "base/text.h"
#include "model/onnx/onnx.h"

#include <stdlib.h>
#include <string.h>

/* Which field holds the elements of a type, how its items are coded, and how many items n
 * elements take. */
static uint32_t typed_field(enum assay__dtype dtype, int *item_type)
{
    switch (dtype) {
    case ASSAY__FLOAT32:
    case ASSAY__COMPLEX64: *item_type = ASSAY__WIRE_FIXED32; return TENSOR_FLOATS;
    case ASSAY__FLOAT64:
    case ASSAY__COMPLEX128: *item_type = ASSAY__WIRE_FIXED64; return TENSOR_DOUBLES;
    case ASSAY__INT64: *item_type = ASSAY__WIRE_VARINT; return TENSOR_INT64S;
    case ASSAY__UINT32:
    case ASSAY__UINT64: *item_type = ASSAY__WIRE_VARINT; return TENSOR_UINT64S;
    case ASSAY__STRING: *item_type = ASSAY__WIRE_BYTES; return TENSOR_STRINGS;
    default: *item_type = ASSAY__WIRE_VARINT; return TENSOR_INT32S;
    }
}

/* Bytes one item of the typed field becomes in `data`. */
static size_t item_bytes(enum assay__dtype dtype)
{
    if (dtype == ASSAY__COMPLEX64) return 4;
    if (dtype == ASSAY__COMPLEX128) return 8;
    int bits = assay__dtype_bits(dtype);
    return bits < 8 ? 1
                    : (size_t)bits / 8; /* sub-byte types: one int32 item holds one packed byte */
}

static void store_item(uint8_t *out, size_t width, uint64_t value)
{
    for (size_t i = 0; i < width; i++)
        out[i] = (uint8_t)(value >> (8 * i));
}

/* Decodes one field's items to *out, narrowing each to `width` bytes. */
static bool decode_items(const struct assay__wire_field *field, int item_type, size_t width,
                         uint8_t **out)
{
    if (field->type == item_type) {
        store_item(*out, width, field->value);
        *out += width;
        return true;
    }
    struct assay__wire wire = assay__wire_over(field->data, field->size);
    while (wire.at < wire.end) {
        uint64_t value = 0;
        if (item_type == ASSAY__WIRE_VARINT) {
            if (!assay__wire_varint(&wire, &value)) return false;
        } else if (item_type == ASSAY__WIRE_FIXED32) {
            value = assay__wire_u32(wire.at);
            wire.at += 4;
        } else {
            value = assay__wire_u64(wire.at);
            wire.at += 8;
        }
        store_item(*out, width, value);
        *out += width;
    }
    return true;
}

struct typed {
    uint32_t number;
    int item_type;
    size_t items;
    size_t fields;
    struct assay__wire_field only; /* when fields == 1 */
};

static int typed_count(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                       struct typed *typed)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a tensor")) > 0) {
        if (field.number != typed->number) continue;
        size_t count = 0;
        if (typed->item_type == ASSAY__WIRE_BYTES) {
            if (field.type != ASSAY__WIRE_BYTES)
                return assay__onnx_fail(reader, field.start, "a tensor's strings are not strings");
            count = 1;
        } else if (!assay__wire_count(&field, typed->item_type, &count)) {
            return assay__onnx_fail(reader, field.start, "a tensor's values are not of its type");
        }
        typed->items += count;
        typed->fields++;
        typed->only = field;
    }
    return status;
}

static int typed_strings(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                         const struct typed *typed, struct assay__tensor *tensor)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    size_t i = 0;
    tensor->strings = assay__arena_array(reader->arena, typed->items, sizeof *tensor->strings);
    if (!tensor->strings) return assay__onnx_no_memory(reader);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD && i < typed->items) {
        if (field.number != typed->number) continue;
        tensor->strings[i] = assay__arena_strndup(reader->arena, (const char *)field.data,
                                                  field.size);
        if (!tensor->strings[i++]) return assay__onnx_no_memory(reader);
    }
    tensor->string_count = i;
    return 0;
}

static bool decode_all(const uint8_t *data, size_t size, const struct typed *typed, size_t width,
                       uint8_t *out)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == typed->number && !decode_items(&field, typed->item_type, width, &out))
            return false;
    return true;
}

static int typed_decode(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                        const struct typed *typed, struct assay__tensor *tensor)
{
    size_t width = item_bytes(tensor->dtype), total = 0;
    if (assay__mul_overflows(typed->items, width, &total))
        return assay__onnx_fail(reader, data, "a tensor is too large");
    bool fixed = typed->item_type != ASSAY__WIRE_VARINT;
    if (fixed && typed->fields == 1 && typed->only.type == ASSAY__WIRE_BYTES) {
        tensor->data = typed->only.data; /* packed floats are little-endian as they lie */
        tensor->data_size = total;
        return 0;
    }
    if (typed->items > ASSAY__ONNX_DECODE) return 0;
    uint8_t *out = assay__arena_alloc(reader->arena, total);
    if (!out) return assay__onnx_no_memory(reader);
    tensor->data = out;
    tensor->data_size = total;
    if (!decode_all(data, size, typed, width, out))
        return assay__onnx_fail(reader, data, "a value of tensor '%.80s' has too many bytes",
                                tensor->name);
    return 0;
}

/* Typed fields of a tensor that has neither raw_data nor external data. */
static int read_typed(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                      struct assay__tensor *tensor)
{
    struct typed typed = {.item_type = 0};
    if (tensor->dtype == ASSAY__UNDEFINED) return 0;
    typed.number = typed_field(tensor->dtype, &typed.item_type);
    int code = typed_count(reader, data, size, &typed);
    if (code) return code;
    if (typed.items == 0)
        return 0; /* no data: assay__model_check says so when there should be some */
    size_t needed = tensor->dtype == ASSAY__STRING
                        ? (size_t)tensor->elements
                        : assay__dtype_bytes(tensor->dtype, tensor->elements) /
                              item_bytes(tensor->dtype);
    /* Sub-byte types may also come one element per item. */
    bool loose = tensor->dtype != ASSAY__STRING && assay__dtype_bits(tensor->dtype) < 8 &&
                 typed.items == (size_t)tensor->elements;
    if (typed.items != needed && !loose)
        return assay__onnx_fail(reader, data,
                                "tensor '%.80s' has %zu values where its shape needs %zu",
                                tensor->name, typed.items, needed);
    if (tensor->dtype == ASSAY__STRING) {
        if (typed.items > ASSAY__ONNX_DECODE) return 0;
        return typed_strings(reader, data, size, &typed, tensor);
    }
    return loose && typed.items != needed ? 0 : typed_decode(reader, data, size, &typed, tensor);
}

/* One element per item becomes packed elements: the first of a byte in its low bits. In place. */
static size_t pack(uint8_t *items, size_t count, int bits)
{
    size_t per_byte = (size_t)(8 / bits), bytes = (count + per_byte - 1) / per_byte;
    for (size_t i = 0; i < bytes; i++) {
        unsigned byte = 0;
        for (size_t k = 0; k < per_byte && i * per_byte + k < count; k++)
            byte |= (items[i * per_byte + k] & ((1u << bits) - 1)) << (k * (size_t)bits);
        items[i] = (uint8_t)byte;
    }
    return bytes;
}

int assay__onnx_decode(const struct assay__tensor *tensor, uint8_t **bytes, size_t *size,
                       struct assay_error *error)
{
    struct assay__onnx_reader reader = {.base = tensor->raw, .label = tensor->name, .error = error};
    struct typed typed = {.item_type = 0};
    size_t width = item_bytes(tensor->dtype), total = 0;
    *bytes = NULL;
    *size = 0;
    if (assay__dtype_bits(tensor->dtype) == 0 || tensor->raw_size == 0) return 0;
    typed.number = typed_field(tensor->dtype, &typed.item_type);
    int code = typed_count(&reader, tensor->raw, tensor->raw_size, &typed);
    if (code || typed.items == 0) return code;
    if (assay__mul_overflows(typed.items, width, &total))
        return assay__onnx_fail(&reader, tensor->raw, "a tensor is too large");
    uint8_t *out = malloc(total);
    if (!out) return assay__onnx_no_memory(&reader);
    if (!decode_all(tensor->raw, tensor->raw_size, &typed, width, out))
        code = assay__onnx_fail(&reader, tensor->raw, "a value has too many bytes");
    int bits = assay__dtype_bits(tensor->dtype);
    size_t needed = assay__dtype_bytes(tensor->dtype, tensor->elements);
    if (!code && bits < 8 && total != needed && typed.items == (size_t)tensor->elements)
        total = pack(out, typed.items, bits);
    if (!code && total != needed)
        code = assay__onnx_fail(&reader, tensor->raw, "has %zu bytes where its shape needs %zu",
                                total, needed);
    if (code) {
        free(out);
        return code;
    }
    *bytes = out;
    *size = total;
    return 0;
}

/* ONNX: a path relative to the model's folder, that must not leave it. */
static bool location_is_inside(const char *location)
{
    if (!*location || *location == '/' || *location == '\\' || location[1] == ':') return false;
    for (const char *at = location; *at;) {
        size_t length = strcspn(at, "/\\");
        if (length == 2 && at[0] == '.' && at[1] == '.') return false;
        at += length;
        at += *at != 0;
    }
    return true;
}

static int read_external_entry(struct assay__onnx_reader *reader,
                               const struct assay__wire_field *entry, struct assay__tensor *tensor)
{
    struct assay__wire wire = assay__wire_over(entry->data, entry->size);
    struct assay__wire_field field;
    const char *key = "", *value = "";
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "an external-data entry")) > 0) {
        int code = 0;
        if (field.number == ENTRY_KEY) code = assay__onnx_text(reader, &field, &key);
        if (field.number == ENTRY_VALUE) code = assay__onnx_text(reader, &field, &value);
        if (code) return code;
    }
    if (status) return status;
    if (strcmp(key, "location") == 0) tensor->location = value;
    bool offset = strcmp(key, "offset") == 0;
    if (!offset && strcmp(key, "length") != 0) return 0;
    int64_t number = 0;
    if (assay__text_int64(value, &number) || number < 0)
        return assay__onnx_fail(reader, entry->start, "an external tensor's %s is '%.40s'", key,
                                value);
    *(offset ? &tensor->offset : &tensor->length) = (uint64_t)number;
    return 0;
}

static int read_dims(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                     int64_t dims[ASSAY__ONNX_RANK], struct assay__tensor *tensor)
{
    size_t count = 0, have = (size_t)tensor->rank;
    if (!assay__wire_count(field, ASSAY__WIRE_VARINT, &count))
        return assay__onnx_fail(reader, field->start, "a tensor's dimensions are not numbers");
    if (have + count > ASSAY__ONNX_RANK)
        return assay__onnx_fail(reader, field->start, "a tensor has more than %d dimensions",
                                ASSAY__ONNX_RANK);
    if (!assay__wire_items(field, ASSAY__WIRE_VARINT, (uint64_t *)dims, &have))
        return assay__onnx_fail(reader, field->start, "a tensor's dimension has too many bytes");
    tensor->rank = (int)have;
    return 0;
}

static int read_tensor_field(struct assay__onnx_reader *reader,
                             const struct assay__wire_field *field, int64_t dims[ASSAY__ONNX_RANK],
                             struct assay__tensor *tensor)
{
    int64_t number = 0;
    int code = 0;
    switch (field->number) {
    case TENSOR_DIMS: return read_dims(reader, field, dims, tensor);
    case TENSOR_NAME: return assay__onnx_text(reader, field, &tensor->name);
    case TENSOR_TYPE:
        code = assay__onnx_int(reader, field, &number);
        if (!code && (number < 0 || number > ASSAY__INT2))
            code = assay__onnx_fail(reader, field->start, "a tensor has the unknown data type %lld",
                                    (long long)number);
        tensor->dtype = (enum assay__dtype)number;
        return code;
    case TENSOR_RAW:
        if ((code = assay__onnx_message(reader, field))) return code;
        tensor->data = field->data;
        tensor->data_size = field->size;
        return 0;
    case TENSOR_LOCATION:
        code = assay__onnx_int(reader, field, &number);
        tensor->external = number == 1;
        return code;
    case TENSOR_EXTERNAL:
        code = assay__onnx_message(reader, field);
        return code ? code : read_external_entry(reader, field, tensor);
    default: return 0;
    }
}

static int finish_tensor(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                         const int64_t *dims, struct assay__tensor *tensor)
{
    tensor->dims = assay__arena_array(reader->arena, (size_t)tensor->rank, sizeof *dims);
    if (!tensor->dims) return assay__onnx_no_memory(reader);
    tensor->elements = 1;
    for (int i = 0; i < tensor->rank; i++) {
        tensor->dims[i] = dims[i];
        if (dims[i] < 0 || assay__mul_i64_overflows(tensor->elements, dims[i], &tensor->elements))
            return assay__onnx_fail(reader, data, "tensor '%.80s' has an impossible shape",
                                    tensor->name);
    }
    size_t needed = assay__dtype_bytes(tensor->dtype, tensor->elements);
    if (needed == SIZE_MAX)
        return assay__onnx_fail(reader, data, "tensor '%.80s' has an impossible shape",
                                tensor->name);
    if (tensor->external) {
        tensor->data = NULL;
        tensor->data_size = 0;
        if (!location_is_inside(tensor->location))
            return assay__onnx_fail(
                reader, data,
                "tensor '%.80s' keeps its data in '%.120s', which is not inside "
                "the model's folder",
                tensor->name, tensor->location);
        return 0;
    }
    if (tensor->data) {
        bool fits = tensor->dtype != ASSAY__STRING && tensor->data_size == needed;
        if (!fits && tensor->dtype != ASSAY__UNDEFINED)
            return assay__onnx_fail(
                reader, data, "tensor '%.80s' has %zu bytes of data where its shape needs %zu",
                tensor->name, tensor->data_size, needed);
        return 0;
    }
    return reader->decode ? read_typed(reader, data, size, tensor) : 0;
}

int assay__onnx_tensor(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                       struct assay__tensor *tensor)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    int64_t dims[ASSAY__ONNX_RANK];
    int status;
    *tensor = (struct assay__tensor){.name = "",
                                     .location = "",
                                     .nonzeros = -1,
                                     .sparse_bytes = -1,
                                     .raw = data,
                                     .raw_size = size};
    while ((status = assay__onnx_next(reader, &wire, &field, "a tensor")) > 0) {
        int code = read_tensor_field(reader, &field, dims, tensor);
        if (code) return code;
    }
    if (!status) status = finish_tensor(reader, data, size, dims, tensor);
    tensor->raw_data = tensor->data;
    return status;
}

/* --- values ----------------------------------------------------------------------------------- */

static int read_dim(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                    struct assay__dim *dim)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int status;
    *dim = (struct assay__dim){-1, ""};
    while ((status = assay__onnx_next(reader, &wire, &field, "a dimension")) > 0) {
        int code = 0;
        if (field.number == DIM_VALUE) {
            code = assay__onnx_int(reader, &field, &dim->value);
            if (dim->value < 0) dim->value = -1; /* some exporters write -1 for "any" */
        }
        if (field.number == DIM_PARAM) code = assay__onnx_text(reader, &field, &dim->symbol);
        if (code) return code;
    }
    return status;
}

static int read_shape(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                      struct assay__value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t count = 0;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a shape")) > 0)
        count += field.number == SHAPE_DIM;
    if (status) return status;
    if (count > ASSAY__ONNX_RANK)
        return assay__onnx_fail(reader, message->start, "a shape has more than %d dimensions",
                                ASSAY__ONNX_RANK);
    value->dims = assay__arena_array(reader->arena, count, sizeof *value->dims);
    if (!value->dims) return assay__onnx_no_memory(reader);
    value->rank = 0;
    wire = assay__wire_over(message->data, message->size);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != SHAPE_DIM) continue;
        int code = assay__onnx_message(reader, &field);
        if (!code) code = read_dim(reader, &field, &value->dims[value->rank++]);
        if (code) return code;
    }
    return 0;
}

static int read_tensor_type(struct assay__onnx_reader *reader,
                            const struct assay__wire_field *message, struct assay__value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int64_t number = 0;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a tensor type")) > 0) {
        int code = 0;
        if (field.number == TENSORTYPE_ELEMENT) {
            code = assay__onnx_int(reader, &field, &number);
            bool known = number >= 0 && number <= ASSAY__INT2;
            value->dtype = known ? (enum assay__dtype)number : ASSAY__UNDEFINED;
        } else if (field.number == TENSORTYPE_SHAPE) {
            code = assay__onnx_message(reader, &field);
            if (!code) code = read_shape(reader, &field, value);
        }
        if (code) return code;
    }
    return status;
}

static int read_type(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                     struct assay__value *value)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a type")) > 0) {
        int code = 0;
        switch (field.number) {
        case TYPE_TENSOR:
            value->kind = ASSAY__KIND_TENSOR;
            code = assay__onnx_message(reader, &field);
            if (!code) code = read_tensor_type(reader, &field, value);
            break;
        case TYPE_SEQUENCE: value->kind = ASSAY__KIND_SEQUENCE; break;
        case TYPE_MAP: value->kind = ASSAY__KIND_MAP; break;
        case TYPE_SPARSE: value->kind = ASSAY__KIND_SPARSE; break;
        case TYPE_OPTIONAL: value->kind = ASSAY__KIND_OPTIONAL; break;
        default: break;
        }
        if (code) return code;
    }
    if (status) return status;
    if (value->kind != ASSAY__KIND_TENSOR) {
        value->type_proto = message->data;
        value->type_proto_size = message->size;
    }
    return 0;
}

int assay__onnx_value(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                      struct assay__value *value)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    int status;
    *value = (struct assay__value){
        .name = "", .kind = ASSAY__KIND_UNKNOWN, .rank = -1, .raw = data, .raw_size = size};
    while ((status = assay__onnx_next(reader, &wire, &field, "a value")) > 0) {
        int code = 0;
        if (field.number == VALUE_NAME) {
            code = assay__onnx_text(reader, &field, &value->name);
        } else if (field.number == VALUE_TYPE) {
            code = assay__onnx_message(reader, &field);
            if (!code) code = read_type(reader, &field, value);
        }
        if (code) return code;
    }
    return status;
}
