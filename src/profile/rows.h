/* rows.h - reading rows of an untrusted file, by field table or by column name. A missing table is
 * an empty one, a missing, NULL or wrongly typed column is unknown, texts are copied into the
 * document's arena, and the first failure sticks: the loader's code is checked once at the end. */
#ifndef ASSAY_PROFILE_ROWS_H
#define ASSAY_PROFILE_ROWS_H

#include "profile/profile.h"
#include "profile/sql.h"
#include "profile/tables.h"
#include "profile/writer.h"

#define ASSAY__TEXT_BYTES 65536 /* longer texts are cut when loaded */

struct assay__loader {
    struct assay__db *db;
    struct assay_profile *profile;
    const char *path;
    /* rows and texts so far: never more than the file's size, unless it is crafted */
    uint64_t used_bytes;
    struct assay_error *error;
    int code;
};

struct assay__rows {
    struct assay__loader *loader;
    sqlite3_stmt *statement;
    const struct assay__field_table *table; /* NULL: a statement of the caller's */
    struct assay__trial *trial;       /* the trial whose notes say what was left out; NULL: none */
    short index[ASSAY__COLUMNS_MOST]; /* column of each field in the statement; -1 missing */
    size_t taken;                     /* rows so far */
};

/** Starts a caller's statement with two keys. */
struct assay__rows assay__rows_start(struct assay__loader *loader, const char *sql, int64_t first,
                                     int64_t second);
/** Starts the rows whose first `count` keys are these, in the order of the other keys and of their
 *  positions. */
struct assay__rows assay__rows_of(struct assay__loader *loader,
                                  const struct assay__field_table *table,
                                  const struct assay__key *keys, size_t count,
                                  struct assay__trial *trial);
/** The next row; false at the end, at the table's limit or on failure, and the statement is then
 * finalised. */
bool assay__rows_next(struct assay__rows *rows);
/** Ends early. */
void assay__rows_stop(struct assay__rows *rows);

/** The fields of the current row; members without a field are not changed. */
void assay__rows_fill(struct assay__rows *rows, void *element);
/** The next row as a separate element, zero except for its fields. */
bool assay__rows_read(struct assay__rows *rows, void *element);
/** The next row after the `*count` elements of the array that `items` points to; NULL at the end
 *  or on failure. */
void *assay__rows_append(struct assay__rows *rows, void *items, size_t *count);
/** All rows of a parent as an array. */
void assay__load_list(struct assay__loader *loader, const struct assay__field_table *table,
                      const struct assay__key *keys, struct assay__trial *trial, void *items,
                      size_t *count);
/** The one row of a parent; false when it has none. */
bool assay__load_one(struct assay__loader *loader, const struct assay__field_table *table,
                     const struct assay__key *keys, void *element);

/** `unknown` when it is not a whole number within low … high. */
int64_t assay__rows_int(struct assay__rows *rows, const char *column, int64_t low, int64_t high,
                        int64_t unknown);
/** The number of the current row among those of its parent; -1 unknown. */
int64_t assay__rows_position(struct assay__rows *rows);
/** The index of a column or -1. */
int assay__rows_column(struct assay__rows *rows, const char *column);

/** An array in the document's arena; NULL after a failure, which is recorded. */
void *assay__load_array(struct assay__loader *loader, size_t count, size_t size);
/** Room for one more after `count` elements in the document's arena; NULL (and the failure
 * recorded) when out of memory. */
void *assay__rows_grow(struct assay__loader *loader, void *items, size_t count, size_t size);
/** Counts bytes that were read against the size of the file; false, and the failure recorded, if
 * the file cannot contain them. */
bool assay__rows_charge(struct assay__loader *loader, uint64_t bytes);
/** Records a failure unless there already is one; returns false. */
bool assay__load_failed(struct assay__loader *loader, int code, const char *why);
bool assay__load_no_memory(struct assay__loader *loader);

/** The samples of a launch (load_chunks.c). They end at the first damaged chunk; *damage then says
 * so (arena), otherwise it is NULL. */
void assay__load_samples(struct assay__loader *loader, int trial, struct assay__launch *launch,
                         const char **damage);

/** A trial's series and their values, the times of its layers by launch. The trial's notes name
 *  damaged ones. */
void assay__load_series(struct assay__loader *loader, struct assay__trial *trial);
void assay__load_layer_times(struct assay__loader *loader, struct assay__trial *trial);

/** Adds a note to a trial; NULL: out of memory. */
void assay__load_note(struct assay__loader *loader, struct assay__trial *trial, const char *note);

#endif
