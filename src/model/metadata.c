/* metadata.c - a model's metadata_props: pairs of text (StringStringEntryProto) among
 * the fields of the model's `extra`, which is kept as it was read. Looking up decodes on the way;
 * setting builds `extra` anew in the arena. A handful of entries: nothing is indexed. */
#include "base/checked.h"
#include "model/onnx/onnx.h"

#include <string.h>

/* The key and value of one entry; false when it is damaged. A missing field is an empty text. */
static bool read_entry(const struct assay__wire_field *entry, struct assay__wire_field *key,
                       struct assay__wire_field *value)
{
    struct assay__wire wire = assay__wire_over(entry->data, entry->size);
    struct assay__wire_field field;
    enum assay__wire_status status;
    *key = *value = (struct assay__wire_field){.size = 0};
    if (entry->number != MODEL_METADATA || entry->type != ASSAY__WIRE_BYTES) return false;
    while ((status = assay__wire_next(&wire, &field)) == ASSAY__WIRE_FIELD) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == ENTRY_KEY) *key = field;
        if (field.number == ENTRY_VALUE) *value = field;
    }
    return status == ASSAY__WIRE_END;
}

static bool is_text(const struct assay__wire_field *field, const char *text)
{
    size_t length = strlen(text);
    return field->size == length && (length == 0 || memcmp(field->data, text, length) == 0);
}

const char *assay__model_metadata(const struct assay__model *model, const char *key)
{
    struct assay__wire wire = assay__wire_over(model->extra, model->extra_size);
    struct assay__wire_field field, name, value;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (read_entry(&field, &name, &value) && is_text(&name, key))
            return value.size
                       ? assay__arena_strndup(model->arena, (const char *)value.data, value.size)
                       : "";
    return NULL;
}

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

static uint8_t *put_text(uint8_t *at, uint32_t number, const char *text, size_t length)
{
    at = put_varint(at, (uint64_t)number << 3 | ASSAY__WIRE_BYTES);
    at = put_varint(at, length);
    if (length) memcpy(at, text, length);
    return at + length;
}

int assay__model_set_metadata(struct assay__model *model, const char *key, const char *value)
{
    size_t key_length = strlen(key), value_length = strlen(value), total = 0;
    size_t entry = 2 + varint_size(key_length) + key_length + varint_size(value_length) +
                   value_length;
    if (assay__add_overflows(model->extra_size, 1 + varint_size(entry) + entry, &total))
        return ASSAY_ENOMEM;
    uint8_t *fresh = assay__arena_alloc(model->arena, total), *at = fresh;
    if (!fresh) return ASSAY_ENOMEM;
    struct assay__wire wire = assay__wire_over(model->extra, model->extra_size);
    struct assay__wire_field field, name, old;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (read_entry(&field, &name, &old) && is_text(&name, key)) continue;
        memcpy(at, field.start, field.total);
        at += field.total;
    }
    at = put_varint(at, MODEL_METADATA << 3 | ASSAY__WIRE_BYTES);
    at = put_varint(at, entry);
    at = put_text(at, ENTRY_KEY, key, key_length);
    at = put_text(at, ENTRY_VALUE, value, value_length);
    model->extra = fresh;
    model->extra_size = (size_t)(at - fresh);
    return 0;
}
