/* json.h - JSON out (a writer into a buffer), JSON in as a stream of tokens (traces of gigabytes:
 * nothing is built), and JSON in as a small tree (job descriptions, our own messages). Input is
 * untrusted: depth is limited (64), numbers are range-checked, strings are validated as UTF-8 and
 * lone surrogates become U+FFFD. */
#ifndef ASSAY_BASE_JSON_H
#define ASSAY_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stdint.h>

/* --- writer ----------------------------------------------------------------------------------- */

/* Errors are sticky: whatever goes wrong (memory, nesting too deep, one end too many) sets
 * out->failed, and the caller checks once at the end. */

#define ASSAY__JSON_DEPTH 64

struct assay__json_writer {
    struct assay__buf *out;
    int depth;
    bool first[ASSAY__JSON_DEPTH];
    bool after_key;
    bool pretty; /* two-space indent */
};

void assay__json_start(struct assay__json_writer *writer, struct assay__buf *out, bool pretty);
void assay__json_object(struct assay__json_writer *writer);
void assay__json_object_end(struct assay__json_writer *writer);
void assay__json_array(struct assay__json_writer *writer);
void assay__json_array_end(struct assay__json_writer *writer);
void assay__json_key(struct assay__json_writer *writer, const char *key);
void assay__json_string(struct assay__json_writer *writer, const char *text); /* NULL writes null */
void assay__json_number(struct assay__json_writer *writer,
                        double value); /* non-finite writes null; shortest round-trip form */
void assay__json_integer(struct assay__json_writer *writer, int64_t value);
void assay__json_unsigned(struct assay__json_writer *writer, uint64_t value);
void assay__json_bool(struct assay__json_writer *writer, bool value);
void assay__json_null(struct assay__json_writer *writer);
/* key + value in one call */
void assay__json_put_object(struct assay__json_writer *writer, const char *key); /* opens it */
void assay__json_put_array(struct assay__json_writer *writer, const char *key);  /* opens it */
void assay__json_put_string(struct assay__json_writer *writer, const char *key, const char *text);
/** Text that may be absent: NULL and "" write null. */
void assay__json_put_text(struct assay__json_writer *writer, const char *key, const char *text);
/** An array of strings. */
void assay__json_put_strings(struct assay__json_writer *writer, const char *key,
                             const char *const *items, size_t count);
void assay__json_put_number(struct assay__json_writer *writer, const char *key, double value);
void assay__json_put_integer(struct assay__json_writer *writer, const char *key, int64_t value);
/** A value below `least` means unknown and is written as null. */
void assay__json_put_count(struct assay__json_writer *writer, const char *key, int64_t value,
                           int64_t least);
void assay__json_put_bool(struct assay__json_writer *writer, const char *key, bool value);
void assay__json_put_null(struct assay__json_writer *writer, const char *key);

/* --- token stream ----------------------------------------------------------------------------- */

enum assay__json_kind {
    ASSAY__JSON_END, /* end of input */
    ASSAY__JSON_OBJECT,
    ASSAY__JSON_OBJECT_END,
    ASSAY__JSON_ARRAY,
    ASSAY__JSON_ARRAY_END,
    ASSAY__JSON_KEY,
    ASSAY__JSON_STRING,
    ASSAY__JSON_NUMBER,
    ASSAY__JSON_TRUE,
    ASSAY__JSON_FALSE,
    ASSAY__JSON_NULL,
};

struct assay__json_token {
    enum assay__json_kind kind;
    const char *text; /* raw bytes between the quotes, or of the number; points into the input */
    size_t length;
    bool escaped; /* text contains backslashes: use assay__json_unescape */
    double number;
};

struct assay__json_reader;

/** Over memory that must outlive the reader. */
struct assay__json_reader *assay__json_reader_new(const char *text, size_t length);
void assay__json_reader_free(struct assay__json_reader *reader);
/** The next token; ASSAY_EFORMAT with byte offset and what was wrong on bad input. */
int assay__json_next(struct assay__json_reader *reader, struct assay__json_token *token,
                     struct assay_error *error);
/** What was wrong and where, for the last failed call; "" after a success. */
const char *assay__json_reader_fault(const struct assay__json_reader *reader, size_t *at);
/** Skips the value that comes next (or the rest of the value whose opening token was just read). */
int assay__json_skip(struct assay__json_reader *reader, const struct assay__json_token *opened,
                     struct assay_error *error);
/** Decodes escapes into the arena. NULL when out of memory. */
char *assay__json_unescape(struct assay__arena *arena, const struct assay__json_token *token);

/* --- small tree ------------------------------------------------------------------------------- */

struct assay__json {
    enum assay__json_kind kind; /* OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE, NULL */
    const char *key;            /* when a member of an object */
    const char *string;
    double number;
    int64_t integer; /* exact when the text was an integer that fits; else 0 */
    bool is_integer;
    struct assay__json *first; /* children */
    struct assay__json *next;  /* sibling */
    size_t count;
};

int assay__json_parse(struct assay__arena *arena, const char *text, size_t length,
                      struct assay__json **root, struct assay_error *error);
/** Member of an object or NULL; NULL-safe, so look-ups chain. */
const struct assay__json *assay__json_get(const struct assay__json *object, const char *key);
const char *assay__json_get_string(const struct assay__json *object, const char *key,
                                   const char *otherwise);
double assay__json_get_number(const struct assay__json *object, const char *key, double otherwise);
int64_t assay__json_get_integer(const struct assay__json *object, const char *key,
                                int64_t otherwise);
bool assay__json_get_bool(const struct assay__json *object, const char *key, bool otherwise);

#endif
