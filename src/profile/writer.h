/* writer.h - rows into SQLite, by field table. Errors stick: after the first one `code` is SQLite's
 * number, later calls do nothing, and the caller checks once at the end of its transaction. */
#ifndef ASSAY_PROFILE_WRITER_H
#define ASSAY_PROFILE_WRITER_H

#include "profile/fields.h"

#include <assay/error.h>
#include <sqlite3.h>

/** A column of a key: the text, or the number if that is NULL. */
struct assay__key {
    int64_t number;
    const char *text;
};

/** Binds the first parameters of a statement; the texts must outlive its run. SQLite's code. */
int assay__keys_bind(sqlite3_stmt *statement, const struct assay__key *keys, size_t count);

#define ASSAY__STATEMENTS_MOST 48

/** Statements of one table, each prepared when first used. */
struct assay__statements {
    const struct assay__field_table *table;
    sqlite3_stmt *insert, *clear;
    size_t clear_keys; /* that `clear` takes */
};

struct assay__writer {
    sqlite3 *db;
    int code;
    struct assay__statements kept[ASSAY__STATEMENTS_MOST];
    size_t kept_count;
};

/** Whether the tables and the schema of the database agree: every column has a field, every field
 * has a column, and the statement has as many parameters as values are bound. */
int assay__writer_check(struct assay__writer *writer,
                        const struct assay__field_table *const *tables, size_t count,
                        struct assay_error *error);
/** Forgets the statements. */
void assay__writer_close(struct assay__writer *writer);

/** One statement, its parameters bound to the keys. */
void assay__writer_run(struct assay__writer *writer, const char *sql, const struct assay__key *keys,
                       size_t count);
/** Inserts or replaces one row of the parent that the keys name. `position` is used only if the
 * table has one. */
void assay__writer_row(struct assay__writer *writer, const struct assay__field_table *table,
                       const struct assay__key *keys, int64_t position, const void *element);
/** Deletes the rows whose first `count` keys are these. */
void assay__writer_clear(struct assay__writer *writer, const struct assay__field_table *table,
                         const struct assay__key *keys, size_t count);
/** Replaces all rows of the parent by these, numbered from 0. */
void assay__writer_rows(struct assay__writer *writer, const struct assay__field_table *table,
                        const struct assay__key *keys, const void *elements, size_t count);

/** Runs a prepared statement whose parameters are `key_count` numbers, then the encoding and data
 * of each of the `column_count` columns of `count` values (chunk.h). */
void assay__writer_chunk(struct assay__writer *writer, sqlite3_stmt *statement, const int64_t *keys,
                         int key_count, const double *const *columns, int column_count,
                         size_t count);
/** Prepares a caller's statement; NULL after a failure. sqlite3_finalize() it. */
sqlite3_stmt *assay__writer_prepare(struct assay__writer *writer, const char *sql);

#endif
