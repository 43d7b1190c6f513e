/* wire_reader.c - protobuf messages with a sticky error. */
#include "model/wire_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int assay__reader_fail(struct assay__reader *reader, const uint8_t *at, const char *format, ...)
{
    char detail[320];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return assay__reader_refuse(reader, ASSAY_EFORMAT, "damaged model: %s (byte %zu)", detail,
                                (size_t)(at - reader->base));
}

int assay__reader_refuse(struct assay__reader *reader, int code, const char *format, ...)
{
    char detail[480];
    va_list args;
    if (reader->code) return reader->code;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return reader->code = assay_error_set(reader->error, code, "%.160s: %s", reader->label, detail);
}

int assay__reader_no_memory(struct assay__reader *reader)
{
    return assay__reader_refuse(reader, ASSAY_ENOMEM, "out of memory");
}

bool assay__reader_next(struct assay__reader *reader, struct assay__wire *wire,
                        struct assay__wire_field *field, const char *what)
{
    if (reader->code) return false;
    switch (assay__wire_next(wire, field)) {
    case ASSAY__WIRE_FIELD: return true;
    case ASSAY__WIRE_END: return false;
    case ASSAY__WIRE_CUT:
        assay__reader_fail(reader, field->start, "a field of %s is longer than %s", what, what);
        return false;
    default:
        assay__reader_fail(reader, field->start, "%s contains bytes that are not a field", what);
        return false;
    }
}

bool assay__reader_message(struct assay__reader *reader, const struct assay__wire_field *field)
{
    if (field->type == ASSAY__WIRE_BYTES) return true;
    assay__reader_fail(reader, field->start, "field %u has wire type %d instead of 2",
                       field->number, field->type);
    return false;
}

const char *assay__reader_text(struct assay__reader *reader, const struct assay__wire_field *field)
{
    if (!assay__reader_message(reader, field) || !field->size) return "";
    const char *text = NULL;
    if (memchr(field->data, 0, field->size))
        assay__reader_fail(reader, field->start, "a name contains a zero byte");
    else if (!(text = assay__arena_strndup(reader->arena, (const char *)field->data, field->size)))
        assay__reader_no_memory(reader);
    return text ? text : "";
}

int64_t assay__reader_int(struct assay__reader *reader, const struct assay__wire_field *field)
{
    if (field->type == ASSAY__WIRE_VARINT) return (int64_t)field->value;
    assay__reader_fail(reader, field->start, "field %u has wire type %d instead of 0",
                       field->number, field->type);
    return 0;
}

void *assay__reader_array(struct assay__reader *reader, size_t count, size_t size)
{
    void *array = reader->code ? NULL : assay__arena_array(reader->arena, count, size);
    if (!array) assay__reader_no_memory(reader);
    return array;
}

const char *assay__reader_printf(struct assay__reader *reader, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : assay__reader_array(reader, (size_t)length + 1, 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text ? text : "";
}

size_t assay__reader_count(struct assay__reader *reader, const struct assay__wire_field *message,
                           uint32_t number, const char *what)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t count = 0;
    while (assay__reader_next(reader, &wire, &field, what))
        count += field.number == number;
    return count;
}
