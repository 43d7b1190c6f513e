/* fields.c - see fields.h: values of members, and JSON. Members are accessed by memcpy: a table
 * knows their offsets and types, not the struct. */
#include "profile/fields.h"

#include <limits.h>
#include <math.h>
#include <string.h>

size_t assay__fields_count(const struct assay__field_table *table)
{
    return table->count + (table->part ? table->part->count : 0);
}

const struct assay__field *assay__fields_at(const struct assay__field_table *table, size_t index,
                                            size_t *offset)
{
    bool own = index < table->count;
    const struct assay__field *field = own ? &table->fields[index]
                                           : &table->part->fields[index - table->count];
    *offset = field->offset + (own ? 0 : table->part_offset);
    return field;
}

size_t assay__keys_count(const struct assay__field_table *table)
{
    size_t count = 0;
    while (count < ASSAY__KEYS_MOST && table->keys[count])
        count++;
    return count;
}

/* --- values ----------------------------------------------------------------------------------- */

static int64_t get_integer(const struct assay__field *field, const void *member)
{
    int small;
    int64_t large;
    size_t size;
    bool truth;
    switch (field->type) {
    case ASSAY__FIELD_INT: memcpy(&small, member, sizeof small); return small;
    case ASSAY__FIELD_SIZE:
        memcpy(&size, member, sizeof size);
        return size > INT64_MAX ? -1 : (int64_t)size;
    case ASSAY__FIELD_BOOL: memcpy(&truth, member, sizeof truth); return truth;
    default: memcpy(&large, member, sizeof large); return large;
    }
}

static void set_integer(const struct assay__field *field, void *member, int64_t value)
{
    int small = (int)value;
    size_t size = (size_t)value;
    bool truth = value == 1;
    switch (field->type) {
    case ASSAY__FIELD_INT: memcpy(member, &small, sizeof small); break;
    case ASSAY__FIELD_SIZE: memcpy(member, &size, sizeof size); break;
    case ASSAY__FIELD_BOOL: memcpy(member, &truth, sizeof truth); break;
    default: memcpy(member, &value, sizeof value);
    }
}

static bool in_range(const struct assay__field *field, int64_t value)
{
    int64_t most = field->type == ASSAY__FIELD_BOOL  ? 1
                   : field->most                     ? field->most
                   : field->type == ASSAY__FIELD_INT ? INT_MAX
                                                     : INT64_MAX;
    return value >= field->least && value <= most;
}

struct assay__field_value assay__field_get(const struct assay__field *field, const void *member)
{
    struct assay__field_value value = {.kind = ASSAY__VALUE_UNKNOWN};
    if (field->type == ASSAY__FIELD_TEXT) {
        memcpy(&value.text, member, sizeof value.text);
        bool kept = field->empty == ASSAY__EMPTY_KEPT || field->empty == ASSAY__EMPTY_NULL;
        bool known = value.text && (value.text[0] || kept);
        if (known) value.kind = ASSAY__VALUE_TEXT;
    } else if (field->type == ASSAY__FIELD_REAL) {
        memcpy(&value.real, member, sizeof value.real);
        if (isfinite(value.real)) value.kind = ASSAY__VALUE_REAL;
    } else {
        value.integer = get_integer(field, member);
        if (field->names) {
            value.text = assay__enum_name(field->names, (size_t)value.integer);
            if (*value.text) value.kind = ASSAY__VALUE_TEXT;
        } else if (in_range(field, value.integer)) {
            value.kind = ASSAY__VALUE_INTEGER;
        }
    }
    return value;
}

void assay__field_set(const struct assay__field *field, void *member,
                      struct assay__field_value value)
{
    if (field->type == ASSAY__FIELD_TEXT) {
        const char *unknown = field->empty == ASSAY__EMPTY_NULL ? NULL : "";
        const char *text = value.kind == ASSAY__VALUE_TEXT ? value.text : unknown;
        memcpy(member, &text, sizeof text);
    } else if (field->type == ASSAY__FIELD_REAL) {
        double real = value.kind == ASSAY__VALUE_REAL      ? value.real
                      : value.kind == ASSAY__VALUE_INTEGER ? (double)value.integer
                                                           : (double)NAN;
        bool known = isfinite(real) && (field->range != ASSAY__NOT_NEGATIVE || real >= 0) &&
                     (field->range != ASSAY__POSITIVE || real > 0);
        if (!known) real = field->range == ASSAY__UNLIMITED ? INFINITY : NAN;
        memcpy(member, &real, sizeof real);
    } else if (field->names) {
        int found = value.kind == ASSAY__VALUE_TEXT ? assay__enum_value(field->names, value.text)
                                                    : -1;
        set_integer(field, member, found < 0 ? field->unknown : found);
    } else {
        bool known = value.kind == ASSAY__VALUE_INTEGER && in_range(field, value.integer);
        set_integer(field, member, known ? value.integer : field->unknown);
    }
}

void assay__fields_unknown(const struct assay__field_table *table, void *element)
{
    size_t offset, none = 0;
    for (size_t i = 0; i < assay__fields_count(table); i++) {
        const struct assay__field *field = assay__fields_at(table, i, &offset);
        if (field->type != ASSAY__FIELD_TEXTS) {
            assay__field_set(field, (char *)element + offset, (struct assay__field_value){0});
            continue;
        }
        const char **texts = NULL;
        memcpy((char *)element + offset, &texts, sizeof texts);
        memcpy((char *)element + offset - field->offset + field->count_offset, &none, sizeof none);
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* In a message, members are named by their columns and written unchanged; unknown ones are left
 * out. */
static void put_field(struct assay__json_writer *writer, const struct assay__field *field,
                      const char *member, bool message)
{
    const char *key = message ? field->column : field->json;
    if (!key) return;
    if (field->type == ASSAY__FIELD_TEXTS) {
        const char *base = member - field->offset;
        const char *const *texts;
        size_t count;
        memcpy(&texts, base + field->offset, sizeof texts);
        memcpy(&count, base + field->count_offset, sizeof count);
        assay__json_put_strings(writer, key, texts, count);
        return;
    }
    struct assay__field_value value = assay__field_get(field, member);
    if (message && value.kind == ASSAY__VALUE_UNKNOWN) return;
    assay__json_key(writer, key);
    switch (value.kind) {
    case ASSAY__VALUE_TEXT: assay__json_string(writer, value.text); break;
    case ASSAY__VALUE_REAL:
        assay__json_number(writer,
                           value.real / (message || field->divisor == 0 ? 1 : field->divisor));
        break;
    case ASSAY__VALUE_INTEGER:
        if (field->type == ASSAY__FIELD_BOOL)
            assay__json_bool(writer, value.integer);
        else
            assay__json_integer(writer, value.integer);
        break;
    default: assay__json_string(writer, field->empty == ASSAY__EMPTY_SHOWN ? "" : NULL);
    }
}

static bool is_column(const struct assay__field *field, const char *column)
{
    return column && field->column && strcmp(field->column, column) == 0;
}

void assay__fields_json(struct assay__json_writer *writer, const struct assay__field_table *table,
                        const void *element, const char *first, const char *last)
{
    size_t offset;
    bool inside = !first;
    for (size_t i = 0; i < assay__fields_count(table); i++) {
        const struct assay__field *field = assay__fields_at(table, i, &offset);
        inside = inside || is_column(field, first);
        if (inside) put_field(writer, field, (const char *)element + offset, false);
        if (is_column(field, last)) return;
    }
}

void assay__fields_json_record(struct assay__json_writer *writer, const char *key,
                               const struct assay__field_table *table, const void *element)
{
    if (key) assay__json_key(writer, key);
    assay__json_object(writer);
    assay__fields_json(writer, table, element, NULL, NULL);
    assay__json_object_end(writer);
}

void assay__fields_json_list(struct assay__json_writer *writer, const char *key,
                             const struct assay__field_table *table, const void *elements,
                             size_t count)
{
    assay__json_put_array(writer, key);
    for (size_t i = 0; i < count; i++)
        assay__fields_json_record(writer, NULL, table, (const char *)elements + i * table->size);
    assay__json_array_end(writer);
}

/* --- messages --------------------------------------------------------------------------------- */

void assay__fields_send(struct assay__json_writer *writer, const struct assay__field_table *table,
                        const void *element)
{
    size_t offset;
    for (size_t i = 0; i < assay__fields_count(table); i++) {
        const struct assay__field *field = assay__fields_at(table, i, &offset);
        put_field(writer, field, (const char *)element + offset, true);
    }
}

static int receive_texts(const struct assay__json *list, struct assay__arena *arena,
                         const struct assay__field *field, char *base)
{
    size_t count = 0;
    if (!list || list->kind != ASSAY__JSON_ARRAY) return 0;
    const char **texts = assay__arena_array(arena, list->count, sizeof *texts);
    if (!texts) return ASSAY_ENOMEM;
    for (const struct assay__json *item = list->first; item; item = item->next)
        if (!(texts[count++] = assay__arena_strdup(arena, item->string ? item->string : "")))
            return ASSAY_ENOMEM;
    memcpy(base + field->offset, &texts, sizeof texts);
    memcpy(base + field->count_offset, &count, sizeof count);
    return 0;
}

static struct assay__field_value value_of(const struct assay__json *json)
{
    struct assay__field_value value = {.kind = ASSAY__VALUE_UNKNOWN};
    if (json->kind == ASSAY__JSON_STRING)
        value = (struct assay__field_value){.kind = ASSAY__VALUE_TEXT, .text = json->string};
    else if (json->kind == ASSAY__JSON_NUMBER && json->is_integer)
        value = (struct assay__field_value){.kind = ASSAY__VALUE_INTEGER, .integer = json->integer};
    else if (json->kind == ASSAY__JSON_NUMBER)
        value = (struct assay__field_value){.kind = ASSAY__VALUE_REAL, .real = json->number};
    else if (json->kind == ASSAY__JSON_TRUE || json->kind == ASSAY__JSON_FALSE)
        value = (struct assay__field_value){.kind = ASSAY__VALUE_INTEGER,
                                            .integer = json->kind == ASSAY__JSON_TRUE};
    return value;
}

int assay__fields_receive(const struct assay__json *object, const struct assay__field_table *table,
                          struct assay__arena *arena, void *element)
{
    size_t offset;
    assay__fields_unknown(table, element);
    for (size_t i = 0; i < assay__fields_count(table); i++) {
        const struct assay__field *field = assay__fields_at(table, i, &offset);
        const struct assay__json *json = field->column ? assay__json_get(object, field->column)
                                                       : NULL;
        char *member = (char *)element + offset;
        if (!json) continue;
        if (field->type == ASSAY__FIELD_TEXTS) {
            if (receive_texts(json, arena, field, member - field->offset)) return ASSAY_ENOMEM;
            continue;
        }
        struct assay__field_value value = value_of(json);
        if (value.kind == ASSAY__VALUE_TEXT && field->type == ASSAY__FIELD_TEXT &&
            !(value.text = assay__arena_strdup(arena, value.text)))
            return ASSAY_ENOMEM;
        assay__field_set(field, member, value);
    }
    return 0;
}
