/* sql.h - the small part of SQLite that the profile uses, with errors as one line that names the
 * file. */
#ifndef ASSAY_PROFILE_SQL_H
#define ASSAY_PROFILE_SQL_H

#include <assay/error.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__PROFILE_APPLICATION_ID 0x41535359 /* "ASSY" */

/** Turns the connection's last error into a code and a line "PATH: DOING: why"; returns the code.
 */
int assay__sql_error(sqlite3 *db, const char *path, const char *doing, struct assay_error *error);

/** A path SQLite takes literally: "./" before a relative one, so that no name is special
 * (":memory:", "file:…"). free() it; NULL when out of memory. */
char *assay__sql_path(const char *path, const char *suffix);

/** Runs statements without results. SQLite's code. */
int assay__sql_exec(sqlite3 *db, const char *sql);

/* --- reading an untrusted file ---------------------------------------------------------------- */

/** A read-only, defensive connection. */
struct assay__db {
    sqlite3 *sqlite;
    int schema;     /* version that the file is marked with */
    uint64_t bytes; /* size of the file and its log: nothing read from an intact file can be more */
    uint64_t steps; /* thousands of virtual machine steps so far … */
    uint64_t step_limit; /* … and the most that an intact file of this size needs */
    char folder[256];    /* private copy to remove; "" none */
    bool is_foreign;     /* not a profile: no marks */
    bool is_truncated;   /* shorter than its head says; a profile is then refused */
};

/** Opens it and checks application id and schema version. The reader then owns *db. */
int assay__db_open(const char *path, struct assay__db **db, struct assay_error *error);
/** Any other program's SQLite file, opened in the same way; it has no marks to check. */
int assay__db_open_foreign(const char *path, struct assay__db **db, struct assay_error *error);
void assay__db_close(struct assay__db *db);

/** Decodes a column chunk: its encoding in column `encoding` of the row, its data in the next.
 *  ASSAY_EFORMAT when they are not `count` values. */
int assay__sql_chunk(sqlite3_stmt *row, int encoding, size_t count, double *out);
/** Registers a virtual table with the connection. SQLite's code. */
int assay__sql_table(sqlite3 *db, const char *name, const sqlite3_module *module, void *kind);
/** Registers the tables `samples`, `layer_times` and `series` with the connection. SQLite's
 * code. */
int assay__chunk_tables(sqlite3 *db);
/** The same of `events`. */
int assay__event_table(sqlite3 *db);

#endif
