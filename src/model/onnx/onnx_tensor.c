/* onnx_tensor.c - reads TensorProto, SparseTensorProto and ValueInfoProto.
 *
 * Data of a tensor is one of: raw_data (a pointer into the file is kept), external_data (a
 * reference is kept), or a typed field. float_data and double_data in one packed field are already
 * little-endian, so a pointer is kept; other typed fields are decoded into the arena if they have
 * at most ASSAY__ONNX_DECODE elements. Large ones stay undecoded (data NULL): they are written back
 * verbatim, and assay__onnx_decode decodes them on demand. The shape and the amount of data must
 * agree; a tensor in which they do not is refused. */
#include "base/checked.h"
#include "base/text.h"
#include "model/onnx/onnx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Bytes per item of the typed field once it is in `data`. */
static size_t item_bytes(enum assay__dtype dtype)
{
    if (dtype == ASSAY__COMPLEX64) return 4;
    if (dtype == ASSAY__COMPLEX128) return 8;
    int bits = assay__dtype_bits(dtype);
    return bits < 8 ? 1
                    /* sub-byte types: one int32 item contains one packed byte */
                    : (size_t)bits / 8;
}

struct typed {
    uint32_t number;
    int item_type;
    size_t items;
    size_t fields;
    struct assay__wire_field only; /* when fields == 1 */
};

static struct typed count_typed(struct assay__reader *reader,
                                const struct assay__wire_field *message, enum assay__dtype dtype)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct typed typed = {.item_type = ASSAY__WIRE_VARINT};
    switch (dtype) { /* which field has the elements of a type, and how its items are encoded */
    case ASSAY__FLOAT32:
    case ASSAY__COMPLEX64:
        typed.item_type = ASSAY__WIRE_FIXED32, typed.number = TENSOR_FLOATS;
        break;
    case ASSAY__FLOAT64:
    case ASSAY__COMPLEX128:
        typed.item_type = ASSAY__WIRE_FIXED64, typed.number = TENSOR_DOUBLES;
        break;
    case ASSAY__INT64: typed.number = TENSOR_INT64S; break;
    case ASSAY__UINT32:
    case ASSAY__UINT64: typed.number = TENSOR_UINT64S; break;
    case ASSAY__STRING: typed.item_type = ASSAY__WIRE_BYTES, typed.number = TENSOR_STRINGS; break;
    default: typed.number = TENSOR_INT32S; break;
    }
    while (assay__reader_next(reader, &wire, &field, "a tensor")) {
        size_t count = 1;
        if (field.number != typed.number) continue;
        bool strings = typed.item_type == ASSAY__WIRE_BYTES;
        if (strings ? field.type != ASSAY__WIRE_BYTES
                    : !assay__wire_count(&field, typed.item_type, &count))
            assay__reader_fail(reader, field.start, "a tensor's %s",
                               strings ? "strings are of the wrong kind"
                                       : "values are not of its type");
        typed.items += count;
        typed.fields++;
        typed.only = field;
    }
    return typed;
}

static void typed_strings(struct assay__reader *reader, const struct assay__wire_field *message,
                          const struct typed *typed, struct assay__tensor *tensor)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t i = 0;
    tensor->strings = assay__reader_array(reader, typed->items, sizeof *tensor->strings);
    while (assay__reader_next(reader, &wire, &field, "a tensor") && i < typed->items) {
        if (field.number != typed->number) continue;
        tensor->strings[i] = assay__arena_strndup(reader->arena, (const char *)field.data,
                                                  field.size);
        if (!tensor->strings[i]) assay__reader_no_memory(reader);
        i++;
    }
    tensor->string_count = i;
}

/* Decodes all items, narrowing each to `width` bytes; false: one has too many bytes. */
static bool decode_all(const struct assay__wire_field *message, const struct typed *typed,
                       size_t width, uint8_t *out)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != typed->number) continue;
        struct assay__wire items = assay__wire_in(&field);
        uint64_t value = field.value;
        bool packed = field.type != typed->item_type,
             four = typed->item_type == ASSAY__WIRE_FIXED32;
        while (!packed || items.at < items.end) {
            if (packed && typed->item_type == ASSAY__WIRE_VARINT) {
                if (!assay__wire_varint(&items, &value)) return false;
            } else if (packed) {
                value = four ? assay__wire_u32(items.at) : assay__wire_u64(items.at);
                items.at += four ? 4 : 8;
            }
            for (size_t i = 0; i < width; i++)
                *out++ = (uint8_t)(value >> (8 * i));
            if (!packed) break;
        }
    }
    return true;
}

/* Typed fields of a tensor that has neither raw_data nor external data. */
static void read_typed(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__tensor *tensor)
{
    if (tensor->dtype == ASSAY__UNDEFINED) return;
    struct typed typed = count_typed(reader, message, tensor->dtype);
    /* no data: assay__model_check reports it if there should be some */
    if (reader->code || typed.items == 0) return;
    bool strings = tensor->dtype == ASSAY__STRING;
    size_t needed = strings ? (size_t)tensor->elements
                            : assay__dtype_bytes(tensor->dtype, tensor->elements) /
                                  item_bytes(tensor->dtype);
    /* Sub-byte types may also have one element per item. */
    bool loose = !strings && assay__dtype_bits(tensor->dtype) < 8 &&
                 typed.items == (size_t)tensor->elements;
    if (typed.items != needed && !loose)
        assay__reader_fail(reader, message->start,
                           "tensor '%.80s' has %zu values where its shape needs %zu", tensor->name,
                           typed.items, needed);
    else if (strings && typed.items <= ASSAY__ONNX_DECODE)
        typed_strings(reader, message, &typed, tensor);
    if (strings || typed.items != needed || reader->code) return;
    size_t width = item_bytes(tensor->dtype), total = 0;
    bool in_place = typed.item_type != ASSAY__WIRE_VARINT && typed.fields == 1 &&
                    typed.only.type == ASSAY__WIRE_BYTES; /* packed floats are little-endian */
    if (assay__mul_overflows(typed.items, width, &total)) {
        assay__reader_fail(reader, message->start, "a tensor is too large");
        return;
    }
    if (!in_place && typed.items > ASSAY__ONNX_DECODE) return;
    uint8_t *out = in_place ? NULL : assay__reader_array(reader, total, 1);
    if (out && !decode_all(message, &typed, width, out))
        assay__reader_fail(reader, message->start, "a value of tensor '%.80s' has too many bytes",
                           tensor->name);
    tensor->data = in_place ? typed.only.data : out;
    tensor->data_size = total;
}

/* Packs one element per item in place, the first of a byte in its low bits. */
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
    struct assay__reader reader = {.base = tensor->raw, .label = tensor->name, .error = error};
    const struct assay__wire_field message = {
        .start = tensor->raw, .data = tensor->raw, .size = tensor->raw_size};
    size_t width = item_bytes(tensor->dtype), total = 0;
    *bytes = NULL;
    *size = 0;
    if (assay__dtype_bits(tensor->dtype) == 0 || tensor->raw_size == 0) return 0;
    struct typed typed = count_typed(&reader, &message, tensor->dtype);
    if (reader.code || typed.items == 0) return reader.code;
    if (assay__mul_overflows(typed.items, width, &total))
        return assay__reader_fail(&reader, tensor->raw, "a tensor is too large");
    uint8_t *out = malloc(total);
    if (!out) return assay__reader_no_memory(&reader);
    if (!decode_all(&message, &typed, width, out))
        assay__reader_fail(&reader, tensor->raw, "a value has too many bytes");
    int bits = assay__dtype_bits(tensor->dtype);
    size_t needed = assay__dtype_bytes(tensor->dtype, tensor->elements);
    if (bits < 8 && total != needed && typed.items == (size_t)tensor->elements)
        total = pack(out, typed.items, bits);
    if (total != needed)
        assay__reader_fail(&reader, tensor->raw, "has %zu bytes where its shape needs %zu", total,
                           needed);
    if (reader.code) {
        free(out);
        return reader.code;
    }
    *bytes = out;
    *size = total;
    return 0;
}

/* ONNX: a path relative to the model's folder, which must not leave it. */
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

static void read_external_entry(struct assay__reader *reader, const struct assay__wire_field *entry,
                                struct assay__tensor *tensor)
{
    struct assay__wire wire = assay__wire_in(entry);
    struct assay__wire_field field;
    const char *key = "", *value = "";
    int64_t number = 0;
    if (!assay__reader_message(reader, entry)) return;
    while (assay__reader_next(reader, &wire, &field, "an external-data entry")) {
        if (field.number == ENTRY_KEY) key = assay__reader_text(reader, &field);
        if (field.number == ENTRY_VALUE) value = assay__reader_text(reader, &field);
    }
    if (strcmp(key, "location") == 0) tensor->location = value;
    bool offset = strcmp(key, "offset") == 0;
    if (!offset && strcmp(key, "length") != 0) return;
    if (assay__text_int64(value, &number) || number < 0)
        assay__reader_fail(reader, entry->start, "an external tensor's %s is '%.40s'", key, value);
    else if (offset)
        tensor->offset = (uint64_t)number;
    else
        tensor->length = (uint64_t)number;
}

void assay__onnx_dims(struct assay__reader *reader, const struct assay__wire_field *field,
                      const char *what, int64_t dims[ASSAY__ONNX_RANK], int *rank)
{
    size_t count = 0, have = (size_t)*rank;
    if (!assay__wire_count(field, ASSAY__WIRE_VARINT, &count))
        assay__reader_fail(reader, field->start, "%s has dimensions that are not numbers", what);
    else if (count > ASSAY__ONNX_RANK - have)
        assay__reader_fail(reader, field->start, "%s has more than %d dimensions", what,
                           ASSAY__ONNX_RANK);
    else if (!assay__wire_items(field, ASSAY__WIRE_VARINT, (uint64_t *)dims, &have))
        assay__reader_fail(reader, field->start, "%s has a dimension of too many bytes", what);
    else
        *rank = (int)have;
}

/* Copies dims into the tensor and counts its elements. */
static void set_shape(struct assay__reader *reader, const struct assay__wire_field *message,
                      const int64_t *dims, struct assay__tensor *tensor)
{
    bool possible = true;
    tensor->dims = assay__reader_array(reader, (size_t)tensor->rank, sizeof *dims);
    if (!tensor->dims) return;
    tensor->elements = 1;
    for (int i = 0; i < tensor->rank && possible; i++) {
        tensor->dims[i] = dims[i];
        possible = dims[i] >= 0 &&
                   !assay__mul_i64_overflows(tensor->elements, dims[i], &tensor->elements);
    }
    if (!possible || assay__dtype_bytes(tensor->dtype, tensor->elements) == SIZE_MAX)
        assay__reader_fail(reader, message->start, "tensor '%.80s' has an impossible shape",
                           tensor->name);
}

/* Does the data fit the shape? */
static void finish_tensor(struct assay__reader *reader, const struct assay__wire_field *message,
                          struct assay__tensor *tensor)
{
    size_t needed = assay__dtype_bytes(tensor->dtype, tensor->elements);
    if (tensor->external) {
        tensor->data = NULL;
        tensor->data_size = 0;
        if (!location_is_inside(tensor->location))
            assay__reader_fail(
                reader, message->start,
                "tensor '%.80s' stores its data in '%.120s', outside the model's folder",
                tensor->name, tensor->location);
    } else if (tensor->data) {
        bool fits = tensor->dtype != ASSAY__STRING && tensor->data_size == needed;
        if (!fits && tensor->dtype != ASSAY__UNDEFINED)
            assay__reader_fail(reader, message->start,
                               "tensor '%.80s' has %zu bytes of data where its shape needs %zu",
                               tensor->name, tensor->data_size, needed);
    } else if (reader->decode) {
        read_typed(reader, message, tensor);
    }
}

void assay__onnx_tensor(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct assay__tensor *tensor)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    int64_t dims[ASSAY__ONNX_RANK], type;
    *tensor = (struct assay__tensor){
        .name = "", .location = "", .nonzeros = -1, .sparse_bytes = -1};
    if (!assay__reader_message(reader, message)) return;
    tensor->raw = message->data;
    tensor->raw_size = message->size;
    while (assay__reader_next(reader, &wire, &field, "a tensor")) {
        switch (field.number) {
        case TENSOR_DIMS: assay__onnx_dims(reader, &field, "a tensor", dims, &tensor->rank); break;
        case TENSOR_NAME: tensor->name = assay__reader_text(reader, &field); break;
        case TENSOR_TYPE:
            type = assay__reader_int(reader, &field);
            if (type < 0 || type > ASSAY__INT2)
                assay__reader_fail(reader, field.start, "a tensor has the unknown data type %lld",
                                   (long long)type);
            tensor->dtype = (enum assay__dtype)type;
            break;
        case TENSOR_RAW:
            if (!assay__reader_message(reader, &field)) break;
            tensor->data = field.data;
            tensor->data_size = field.size;
            break;
        case TENSOR_LOCATION: tensor->external = assay__reader_int(reader, &field) == 1; break;
        case TENSOR_EXTERNAL: read_external_entry(reader, &field, tensor); break;
        default: break;
        }
    }
    set_shape(reader, message, dims, tensor);
    if (!reader->code) finish_tensor(reader, message, tensor);
    tensor->raw_data = tensor->data;
}

/* A dense shape, a list of values (whose name is that of the tensor), and their positions: [n]
 * linear or [n, rank] coordinates. The numbers are not expanded; the writer of the graph writes the
 * message back verbatim. */
void assay__onnx_sparse(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct assay__tensor *tensor)
{
    struct assay__tensor values = {.name = ""}, places = {.name = ""};
    int64_t dims[ASSAY__ONNX_RANK];
    bool has_values = false, has_places = false;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *tensor = (struct assay__tensor){.name = "", .location = ""};
    if (!assay__reader_message(reader, message)) return;
    while (assay__reader_next(reader, &wire, &field, "a sparse tensor")) {
        has_values = has_values || field.number == SPARSE_VALUES;
        has_places = has_places || field.number == SPARSE_INDICES;
        if (field.number == SPARSE_VALUES) assay__onnx_tensor(reader, &field, &values);
        if (field.number == SPARSE_INDICES) assay__onnx_tensor(reader, &field, &places);
        if (field.number == SPARSE_DIMS)
            assay__onnx_dims(reader, &field, "a sparse tensor", dims, &tensor->rank);
    }
    if (!has_values) assay__reader_fail(reader, message->start, "a sparse tensor has no values");
    tensor->raw = message->data;
    tensor->raw_size = message->size;
    tensor->name = values.name;
    tensor->dtype = values.dtype;
    if (!reader->code) set_shape(reader, message, dims, tensor);
    if (reader->code) return;
    bool linear = places.rank == 1, pairs = places.rank == 2 && places.dims[1] == tensor->rank;
    bool fits = has_places ? places.dtype == ASSAY__INT64 && (linear || pairs) &&
                                 places.dims[0] == values.elements
                           : values.elements == 0;
    size_t total = 0;
    if (values.rank != 1 || values.elements > tensor->elements || !fits)
        assay__reader_fail(reader, message->start,
                           "sparse tensor '%.80s': values, indices and shape do not match",
                           tensor->name);
    else if (assay__add_overflows(
                 assay__dtype_bytes(tensor->dtype, values.elements),
                 has_places ? assay__dtype_bytes(ASSAY__INT64, places.elements) : 0, &total) ||
             total > INT64_MAX)
        assay__reader_fail(reader, message->start, "sparse tensor '%.80s' is too large",
                           tensor->name);
    tensor->nonzeros = values.elements;
    tensor->sparse_bytes = (int64_t)total;
}

/* --- values ----------------------------------------------------------------------------------- */

/* A name without a letter ("?", "-1") means as little as none: two axes with that name are two
 * dimensions. */
static const char *read_symbol(struct assay__reader *reader, const struct assay__wire_field *field)
{
    const char *symbol = assay__reader_text(reader, field);
    for (const char *at = symbol; *at; at++)
        if (isalpha((unsigned char)*at) || (unsigned char)*at >= 0x80) return symbol;
    return "";
}

static void read_shape(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__value *value)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field, part;
    if (!assay__reader_message(reader, message)) return;
    size_t count = assay__reader_count(reader, message, SHAPE_DIM, "a shape");
    if (count > ASSAY__ONNX_RANK)
        assay__reader_fail(reader, message->start, "a shape has more than %d dimensions",
                           ASSAY__ONNX_RANK);
    value->dims = assay__reader_array(reader, count, sizeof *value->dims);
    value->rank = 0;
    while (assay__reader_next(reader, &wire, &field, "a shape")) {
        if (field.number != SHAPE_DIM || !assay__reader_message(reader, &field)) continue;
        struct assay__dim *dim = &value->dims[value->rank++];
        struct assay__wire parts = assay__wire_in(&field);
        *dim = (struct assay__dim){-1, ""};
        while (assay__reader_next(reader, &parts, &part, "a dimension")) {
            if (part.number == DIM_VALUE) dim->value = assay__reader_int(reader, &part);
            if (dim->value < 0) dim->value = -1; /* some exporters write -1 for "any" */
            if (part.number == DIM_PARAM) dim->symbol = read_symbol(reader, &part);
        }
    }
}

static void read_type(struct assay__reader *reader, const struct assay__wire_field *message,
                      struct assay__value *value)
{
    struct assay__wire wire = assay__wire_in(message), tensor;
    struct assay__wire_field field, part;
    if (!assay__reader_message(reader, message)) return;
    while (assay__reader_next(reader, &wire, &field, "a type")) {
        switch (field.number) {
        case TYPE_TENSOR:
            value->kind = ASSAY__KIND_TENSOR;
            if (!assay__reader_message(reader, &field)) break;
            tensor = assay__wire_in(&field);
            while (assay__reader_next(reader, &tensor, &part, "a tensor type")) {
                int64_t type = part.number == TENSORTYPE_ELEMENT ? assay__reader_int(reader, &part)
                                                                 : (int64_t)value->dtype;
                bool known = type >= 0 && type <= ASSAY__INT2;
                value->dtype = known ? (enum assay__dtype)type : ASSAY__UNDEFINED;
                if (part.number == TENSORTYPE_SHAPE) read_shape(reader, &part, value);
            }
            break;
        case TYPE_SEQUENCE: value->kind = ASSAY__KIND_SEQUENCE; break;
        case TYPE_MAP: value->kind = ASSAY__KIND_MAP; break;
        case TYPE_SPARSE: value->kind = ASSAY__KIND_SPARSE; break;
        case TYPE_OPTIONAL: value->kind = ASSAY__KIND_OPTIONAL; break;
        default: break;
        }
    }
    if (value->kind != ASSAY__KIND_TENSOR) {
        value->type_proto = message->data;
        value->type_proto_size = message->size;
    }
}

void assay__onnx_value(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__value *value)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *value = (struct assay__value){.name = "", .kind = ASSAY__KIND_UNKNOWN, .rank = -1};
    if (!assay__reader_message(reader, message)) return;
    value->raw = message->data;
    value->raw_size = message->size;
    while (assay__reader_next(reader, &wire, &field, "a value")) {
        if (field.number == VALUE_NAME) value->name = assay__reader_text(reader, &field);
        if (field.number == VALUE_TYPE) read_type(reader, &field, value);
    }
}
