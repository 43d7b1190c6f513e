/* fields.h - a struct's members as a table. One row per member gives its column, its type, its
 * offset and its key in JSON; writing to SQLite (writer.h), reading from it (rows.h), a report's
 * JSON and the worker's messages all follow these rows. A new stored field is a member of its
 * struct, a column in schema.sql and a row in its table (tables.c). */
#ifndef ASSAY_PROFILE_FIELDS_H
#define ASSAY_PROFILE_FIELDS_H

#include "base/arena.h"
#include "base/json.h"
#include "base/enum_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum assay__field_type {
    ASSAY__FIELD_TEXT,  /* const char * */
    ASSAY__FIELD_INT,   /* int or enum */
    ASSAY__FIELD_INT64, /* int64_t */
    ASSAY__FIELD_SIZE,  /* size_t */
    ASSAY__FIELD_BOOL,  /* bool */
    ASSAY__FIELD_REAL,  /* double; NaN is unknown */
    /* const char ** and a count: only in JSON and messages; in SQLite they are separate rows */
    ASSAY__FIELD_TEXTS,
};

/** What "" and NULL mean in a text. */
enum assay__field_empty {
    ASSAY__EMPTY_UNKNOWN, /* unknown everywhere */
    ASSAY__EMPTY_SHOWN,   /* unknown, but "" in JSON */
    ASSAY__EMPTY_KEPT,    /* "" is a value; NULL is unknown */
    ASSAY__EMPTY_NULL,    /* "" is a value; unknown is NULL in memory too */
};

/** Which numbers read from a file count as known, besides having to be finite. */
enum assay__field_range {
    ASSAY__ANY_NUMBER,
    ASSAY__NOT_NEGATIVE,
    ASSAY__POSITIVE,
    ASSAY__UNLIMITED, /* any; unknown is INFINITY in memory */
};

struct assay__field {
    const char *column; /* in SQLite, and the key in the worker's messages; NULL: in neither */
    const char *json;   /* key in a report's JSON; NULL: not there, or written by hand */
    enum assay__field_type type;
    size_t offset;
    size_t count_offset; /* for ASSAY__FIELD_TEXTS: offset of their number */
    enum assay__field_empty empty;
    enum assay__field_range range;
    /* Whole numbers: one outside least … most is unknown, which is this number in memory. most 0:
     * the limit of the type. */
    int64_t least, most, unknown;
    /* names of an enum, which is stored by name; NULL: a number */
    const struct assay__enum_names *names;
    double divisor; /* JSON shows value / divisor; 0: the value */
};

/* clang-format off */
#define ASSAY__FIELD_TYPE(expression)            \
    _Generic((expression),                       \
        const char *: ASSAY__FIELD_TEXT,         \
        const char **: ASSAY__FIELD_TEXTS,       \
        const char *const *: ASSAY__FIELD_TEXTS, \
        int: ASSAY__FIELD_INT,                   \
        unsigned: ASSAY__FIELD_INT,              \
        int64_t: ASSAY__FIELD_INT64,             \
        size_t: ASSAY__FIELD_SIZE,               \
        bool: ASSAY__FIELD_BOOL,                 \
        double: ASSAY__FIELD_REAL)
/* clang-format on */

/** A row: struct tag, member, column, then whatever else it needs (`.json = …, .unknown = -1`). The
 * type is the member's. */
#define ASSAY__FIELD(tag, member, ...)                                \
    {                                                                 \
        .type = ASSAY__FIELD_TYPE(((struct tag *)0)->member),         \
        .offset = offsetof(struct tag, member), .column = __VA_ARGS__ \
    }

#define ASSAY__COLUMNS_MOST 64 /* of a table: keys, position and fields */
#define ASSAY__KEYS_MOST 4

/** The rows of one struct, and where they are kept. Its columns in SQLite are the keys of its
 *  parent, then `position`, then the fields. */
struct assay__field_table {
    const char *name; /* in schema.sql; NULL: not stored separately */
    const char *keys[ASSAY__KEYS_MOST];
    const char *position; /* the column that orders the rows of one parent; NULL: it has one row */
    const struct assay__field *fields;
    size_t count;
    const struct assay__field_table *part; /* a member struct that has a table; NULL: none */
    size_t part_offset;
    size_t size; /* bytes of an element */
    bool whole;  /* if a column is missing there are no rows; otherwise the field is unknown */
    /* the schema since which every file has it, so that a file without it is damaged; 0: 2 */
    int since;
    size_t limit;     /* rows that a parent may have when read; 0: no limit */
    const char *what; /* what they are called in the note that there are more; NULL: no note */
};

/** A member's value, or that it is unknown. */
struct assay__field_value {
    enum { ASSAY__VALUE_UNKNOWN, ASSAY__VALUE_INTEGER, ASSAY__VALUE_REAL, ASSAY__VALUE_TEXT } kind;
    int64_t integer;
    double real;
    const char *text;
};

/** The fields of a table, its own first, then those of its part. */
size_t assay__fields_count(const struct assay__field_table *table);
/** A field, and its offset in an element of the table. */
const struct assay__field *assay__fields_at(const struct assay__field_table *table, size_t index,
                                            size_t *offset);
size_t assay__keys_count(const struct assay__field_table *table);

/** Not for ASSAY__FIELD_TEXTS. */
struct assay__field_value assay__field_get(const struct assay__field *field, const void *member);
/** A value that the member cannot hold makes it unknown. Texts are borrowed; an enum is set by
 * name. */
void assay__field_set(const struct assay__field *field, void *member,
                      struct assay__field_value value);
/** Every field unknown. Members without a field are not changed. */
void assay__fields_unknown(const struct assay__field_table *table, void *element);

/** The members of an object of a report's JSON, in the order of the table, from the column `first`
 *  to `last` (NULL: from the first, to the last). */
void assay__fields_json(struct assay__json_writer *writer, const struct assay__field_table *table,
                        const void *element, const char *first, const char *last);
/** An object of all of them: a member itself, or (key NULL) an element of the open array. */
void assay__fields_json_record(struct assay__json_writer *writer, const char *key,
                               const struct assay__field_table *table, const void *element);
/** "key": [{…}, …] */
void assay__fields_json_list(struct assay__json_writer *writer, const char *key,
                             const struct assay__field_table *table, const void *elements,
                             size_t count);

/** The members of a message's object, by column; unknown ones are left out. */
void assay__fields_send(struct assay__json_writer *writer, const struct assay__field_table *table,
                        const void *element);
/** Reads them from a process that is not trusted: what is missing or impossible is unknown. Texts
 * are copied into the arena. 0 or ASSAY_ENOMEM. */
int assay__fields_receive(const struct assay__json *object, const struct assay__field_table *table,
                          struct assay__arena *arena, void *element);

#endif
