/* wire.h - the protobuf wire format, read by hand over mapped memory: nothing is copied,
 * everything is bounds-checked.
 *
 * A message is a run of fields. A field is a varint tag (number << 3 | type) and a value: type 0
 * varint, 1 eight bytes, 2 varint length + bytes, 5 four bytes. Types 3 and 4 (groups) are not used
 * by ONNX and are refused. A varint has at most ten bytes. Repeated scalars are either one field
 * each or packed into one field of type 2; readers accept both. */
#ifndef ASSAY_MODEL_WIRE_H
#define ASSAY_MODEL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASSAY__WIRE_VARINT = 0,
    ASSAY__WIRE_FIXED64 = 1,
    ASSAY__WIRE_BYTES = 2,
    ASSAY__WIRE_FIXED32 = 5
};

enum assay__wire_status {
    ASSAY__WIRE_END = 0, /* the message is over */
    ASSAY__WIRE_FIELD = 1,
    ASSAY__WIRE_CUT = -1, /* the field extends past the end of its message */
    ASSAY__WIRE_BAD =
        -2, /* not protobuf: a varint of more than ten bytes, field number 0, or a group */
};

struct assay__wire {
    const uint8_t *at, *end;
};

struct assay__wire_field {
    uint32_t number;
    int type;
    uint64_t value;       /* types 0, 1, 5 */
    const uint8_t *data;  /* type 2 */
    size_t size;          /* type 2; with ASSAY__WIRE_CUT: how many bytes it claims */
    const uint8_t *start; /* the whole field, tag included */
    size_t total;
};

static inline struct assay__wire assay__wire_over(const uint8_t *data, size_t size)
{
    return (struct assay__wire){data, size ? data + size : data};
}

/** Over the bytes of a field of type 2. */
static inline struct assay__wire assay__wire_in(const struct assay__wire_field *message)
{
    return assay__wire_over(message->data, message->size);
}

/** The next field. After CUT, `number` and `type` are set if the tag could be read (number 0
 * otherwise). */
enum assay__wire_status assay__wire_next(struct assay__wire *wire, struct assay__wire_field *field);
/** One varint; false if it is truncated or too long. */
bool assay__wire_varint(struct assay__wire *wire, uint64_t *value);
/** How many varints / 4-byte / 8-byte items a field contains, packed or not. False: its type or
 * size does not match. */
bool assay__wire_count(const struct assay__wire_field *field, int item_type, size_t *count);
/** Decodes the items of one field, packed or not, into out[*count …]; the caller has counted them.
 * Little-endian. */
bool assay__wire_items(const struct assay__wire_field *field, int item_type, uint64_t *out,
                       size_t *count);

uint32_t assay__wire_u32(const uint8_t *bytes);
uint64_t assay__wire_u64(const uint8_t *bytes);

#endif
