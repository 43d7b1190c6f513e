/* nsys_rows.h - rows of one table of a foreign SQLite file, whose columns are looked up by name: a
 * column that this version of the program did not write is unknown, like a NULL. Private to the
 * importer of Nsight Systems. */
#ifndef ASSAY_IMPORT_NSYS_ROWS_H
#define ASSAY_IMPORT_NSYS_ROWS_H

#include "profile/sql.h"

#define ASSAY__NSYS_COLUMNS 16

struct assay__nsys_rows {
    sqlite3 *sqlite;
    sqlite3_stmt *statement;          /* NULL: there is no such table */
    int columns[ASSAY__NSYS_COLUMNS]; /* where the wanted ones are; -1: nowhere */
    uint64_t most;                    /* rows that are still possible in a file of its size */
    int code;                         /* SQLite's, of the last step; SQLITE_FULL: too many rows */
};

/** Begins with all rows of a table; `wanted`: names of columns, NULL at the end. In a crafted file
 *  one page can stand for many rows: no more are read than fit into the file's bytes. */
void assay__nsys_rows_begin(struct assay__nsys_rows *rows, const struct assay__db *db,
                            const char *table, const char *const *wanted);
/** False at the end, or where the file is damaged: then `code` is not SQLITE_DONE. */
bool assay__nsys_rows_next(struct assay__nsys_rows *rows);
void assay__nsys_rows_end(struct assay__nsys_rows *rows);

/** A column of the row, by its place among the wanted ones. False: not an integer. */
bool assay__nsys_integer(const struct assay__nsys_rows *rows, int column, int64_t *value);
int64_t assay__nsys_integer_or(const struct assay__nsys_rows *rows, int column, int64_t otherwise);
/** NULL: not a text. Borrowed until the next row. */
const char *assay__nsys_text(const struct assay__nsys_rows *rows, int column);

#endif
