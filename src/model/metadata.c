/* metadata.c - a model's metadata_props: pairs of text (StringStringEntryProto) among
 * the fields of the model's `extra`, which is kept as it was read. Looking up decodes on the way;
 * setting builds `extra` anew in the arena. A handful of entries: nothing is indexed. */
#include "base/buf.h"
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

static void put_varint(struct assay__buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        assay__buf_putc(out, (char)(value | 0x80));
    assay__buf_putc(out, (char)value);
}

static void put_bytes(struct assay__buf *out, uint32_t number, const char *bytes, size_t size)
{
    put_varint(out, (uint64_t)number << 3 | ASSAY__WIRE_BYTES);
    put_varint(out, size);
    assay__buf_add(out, bytes, size);
}

int assay__model_set_metadata(struct assay__model *model, const char *key, const char *value)
{
    struct assay__buf entry = {0}, all = {0};
    struct assay__wire wire = assay__wire_over(model->extra, model->extra_size);
    struct assay__wire_field field, name, old;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (!read_entry(&field, &name, &old) || !is_text(&name, key))
            assay__buf_add(&all, field.start, field.total);
    put_bytes(&entry, ENTRY_KEY, key, strlen(key));
    put_bytes(&entry, ENTRY_VALUE, value, strlen(value));
    put_bytes(&all, MODEL_METADATA, entry.data, entry.length);
    bool failed = entry.failed || all.failed;
    uint8_t *fresh = failed ? NULL : assay__arena_alloc(model->arena, all.length);
    if (fresh) {
        memcpy(fresh, all.data, all.length);
        model->extra = fresh;
        model->extra_size = all.length;
    }
    assay__buf_free(&entry);
    assay__buf_free(&all);
    return fresh ? 0 : ASSAY_ENOMEM;
}
