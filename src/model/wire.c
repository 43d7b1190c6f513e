/* wire.c - reads the protobuf wire format from mapped memory. */
#include "model/wire.h"

uint32_t assay__wire_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

uint64_t assay__wire_u64(const uint8_t *bytes)
{
    return assay__wire_u32(bytes) | (uint64_t)assay__wire_u32(bytes + 4) << 32;
}

/* FIELD: read; CUT: truncated; BAD: more than ten bytes. */
static enum assay__wire_status read_long_varint(struct assay__wire *wire, uint64_t *value)
{
    uint64_t result = 0;
    for (int i = 0; i < 10; i++) {
        if (wire->at == wire->end) return ASSAY__WIRE_CUT;
        uint8_t byte = *wire->at++;
        result |= (uint64_t)(byte & 0x7f)
                  << (7 * i); /* the upper bits of the tenth byte are dropped, as in protobuf */
        if (!(byte & 0x80)) {
            *value = result;
            return ASSAY__WIRE_FIELD;
        }
    }
    return ASSAY__WIRE_BAD;
}

/* Nearly all tags and lengths have one byte. */
static inline enum assay__wire_status read_varint(struct assay__wire *wire, uint64_t *value)
{
    if (wire->at == wire->end || *wire->at & 0x80) return read_long_varint(wire, value);
    *value = *wire->at++;
    return ASSAY__WIRE_FIELD;
}

bool assay__wire_varint(struct assay__wire *wire, uint64_t *value)
{
    return read_varint(wire, value) == ASSAY__WIRE_FIELD;
}

static enum assay__wire_status read_fixed(struct assay__wire *wire, struct assay__wire_field *field,
                                          size_t size)
{
    if ((size_t)(wire->end - wire->at) < size) {
        field->size = size;
        return ASSAY__WIRE_CUT;
    }
    field->value = size == 4 ? assay__wire_u32(wire->at) : assay__wire_u64(wire->at);
    wire->at += size;
    return ASSAY__WIRE_FIELD;
}

static enum assay__wire_status read_bytes(struct assay__wire *wire, struct assay__wire_field *field)
{
    uint64_t size = 0;
    enum assay__wire_status status = read_varint(wire, &size);
    if (status != ASSAY__WIRE_FIELD) return status;
    field->data = wire->at;
    field->size = size > SIZE_MAX ? SIZE_MAX : (size_t)size;
    if (size > (uint64_t)(wire->end - wire->at)) return ASSAY__WIRE_CUT;
    wire->at += size;
    return ASSAY__WIRE_FIELD;
}

enum assay__wire_status assay__wire_next(struct assay__wire *wire, struct assay__wire_field *field)
{
    uint64_t tag = 0;
    *field = (struct assay__wire_field){.start = wire->at};
    if (wire->at == wire->end) return ASSAY__WIRE_END;
    enum assay__wire_status status = read_varint(wire, &tag);
    if (status != ASSAY__WIRE_FIELD) return status;
    /* Field numbers are 1 … 2^29 - 1. */
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return ASSAY__WIRE_BAD;
    field->number = (uint32_t)(tag >> 3);
    field->type = (int)(tag & 7);
    switch (field->type) {
    case ASSAY__WIRE_VARINT: status = read_varint(wire, &field->value); break;
    case ASSAY__WIRE_FIXED64: status = read_fixed(wire, field, 8); break;
    case ASSAY__WIRE_FIXED32: status = read_fixed(wire, field, 4); break;
    case ASSAY__WIRE_BYTES: status = read_bytes(wire, field); break;
    default: status = ASSAY__WIRE_BAD; break;
    }
    field->total = (size_t)(wire->at - field->start);
    return status;
}

static size_t item_size(int item_type)
{
    return item_type == ASSAY__WIRE_FIXED32 ? 4 : 8;
}

bool assay__wire_count(const struct assay__wire_field *field, int item_type, size_t *count)
{
    if (field->type == item_type) {
        *count = 1;
        return true;
    }
    if (field->type != ASSAY__WIRE_BYTES) return false;
    if (item_type != ASSAY__WIRE_VARINT) {
        *count = field->size / item_size(item_type);
        return field->size % item_size(item_type) == 0;
    }
    size_t ends = 0;
    for (size_t i = 0; i < field->size; i++)
        ends += !(field->data[i] & 0x80);
    *count = ends;
    return field->size == 0 || !(field->data[field->size - 1] & 0x80);
}

bool assay__wire_items(const struct assay__wire_field *field, int item_type, uint64_t *out,
                       size_t *count)
{
    if (field->type == item_type) {
        out[(*count)++] = field->value;
        return true;
    }
    struct assay__wire wire = assay__wire_over(field->data, field->size);
    while (wire.at < wire.end) {
        if (item_type == ASSAY__WIRE_VARINT) {
            if (!assay__wire_varint(&wire, &out[*count])) return false;
        } else {
            size_t size = item_size(item_type);
            if ((size_t)(wire.end - wire.at) < size) return false;
            out[*count] = size == 4 ? assay__wire_u32(wire.at) : assay__wire_u64(wire.at);
            wire.at += size;
        }
        ++*count;
    }
    return true;
}
