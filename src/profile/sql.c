/* sql.c - errors, paths and row binding over SQLite. */
#include "profile/sql.h"

#include "profile/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int assay__sql_error(sqlite3 *db, const char *path, const char *doing, struct assay_error *error)
{
    int last = errno;
    int extended = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    int system = db ? sqlite3_system_errno(db) : 0;
    /* A failed commit does not record the system's error: use errno if it can be the cause. */
    if (!system && (last == ENOSPC || last == EDQUOT || last == EFBIG || last == EIO))
        system = last;
    int code = ASSAY_EIO;
    const char *why = db ? sqlite3_errmsg(db) : "out of memory";
    switch (extended & 0xff) {
    case SQLITE_NOMEM: code = ASSAY_ENOMEM; break;
    case SQLITE_NOTADB: why = "not an assay profile"; /* fall through */
    case SQLITE_CORRUPT: code = ASSAY_EFORMAT; break;
    case SQLITE_TOOBIG: code = ASSAY_ELIMIT; break;
    case SQLITE_INTERRUPT: code = ASSAY_EINTERRUPTED; break;
    case SQLITE_READONLY: why = "not writable"; /* fall through */
    case SQLITE_PERM:
    case SQLITE_AUTH: code = ASSAY_EDENIED; break;
    case SQLITE_FULL: why = "no space left on the disk"; break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: why = "in use by another process"; break;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        if (system) why = strerror(system);
        if (system == EACCES || system == EPERM || system == EROFS) code = ASSAY_EDENIED;
        if (system == ENOSPC || system == EDQUOT) why = "no space left on the disk";
        break;
    default: break;
    }
    return assay_error_set(error, code, "%s: %s: %s", path, doing, why);
}

int assay__sql_chunk(sqlite3_stmt *row, int encoding, size_t count, double *out)
{
    if (sqlite3_column_type(row, encoding) != SQLITE_TEXT ||
        sqlite3_column_type(row, encoding + 1) != SQLITE_BLOB)
        return ASSAY_EFORMAT;
    const void *data = sqlite3_column_blob(row, encoding + 1);
    size_t size = (size_t)sqlite3_column_bytes(row, encoding + 1);
    return assay__chunk_decode((const char *)sqlite3_column_text(row, encoding), data, size, count,
                               out);
}

char *assay__sql_path(const char *path, const char *suffix)
{
    size_t head = path[0] == '/' ? 0 : 2;
    size_t length = strlen(path), tail = strlen(suffix) + 1;
    char *out = malloc(head + length + tail);
    if (!out) return NULL;
    memcpy(out, "./", head);
    memcpy(out + head, path, length);
    memcpy(out + head + length, suffix, tail);
    return out;
}

int assay__sql_exec(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}
