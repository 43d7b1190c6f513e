/* sql.c - errors, paths and row binding over SQLite. */
#include "profile/sql.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int code_of(int sqlite_code)
{
    switch (sqlite_code & 0xff) {
    case SQLITE_NOMEM: return ASSAY_ENOMEM;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return ASSAY_EFORMAT;
    case SQLITE_TOOBIG: return ASSAY_ELIMIT;
    case SQLITE_INTERRUPT: return ASSAY_EINTERRUPTED;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return ASSAY_EDENIED;
    default: return ASSAY_EIO;
    }
}

int assay__sql_error(sqlite3 *db, const char *path, const char *doing, struct assay_error *error)
{
    int last = errno;
    int extended = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    int system = db ? sqlite3_system_errno(db) : 0;
    /* A failed commit does not record the system's number: take errno when it can be the cause. */
    if (!system && (last == ENOSPC || last == EDQUOT || last == EFBIG || last == EIO))
        system = last;
    int code = code_of(extended);
    const char *why = db ? sqlite3_errmsg(db) : "out of memory";
    switch (extended & 0xff) {
    case SQLITE_FULL: why = "no space left on the disk"; break;
    case SQLITE_NOTADB: why = "not an assay profile"; break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: why = "in use by another process"; break;
    case SQLITE_READONLY: why = "not writable"; break;
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

static int bind_text(sqlite3_stmt *statement, int index, const char *text, bool keep_empty)
{
    if (!text || (!text[0] && !keep_empty)) return sqlite3_bind_null(statement, index);
    return sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

static int bind_double(sqlite3_stmt *statement, int index, double value)
{
    if (isnan(value)) return sqlite3_bind_null(statement, index);
    return sqlite3_bind_double(statement, index, value);
}

static int bind_count(sqlite3_stmt *statement, int index, int64_t value)
{
    if (value < 0) return sqlite3_bind_null(statement, index);
    return sqlite3_bind_int64(statement, index, value);
}

static int bind_one(sqlite3_stmt *statement, int index, char type, va_list *args)
{
    switch (type) {
    case 'i': return sqlite3_bind_int64(statement, index, va_arg(*args, int64_t));
    case 'n': return bind_count(statement, index, va_arg(*args, int64_t));
    case 'z': {
        int value = va_arg(*args, int);
        return value ? sqlite3_bind_int(statement, index, value)
                     : sqlite3_bind_null(statement, index);
    }
    case 'd': return bind_double(statement, index, va_arg(*args, double));
    case 't': return bind_text(statement, index, va_arg(*args, const char *), false);
    case 's': return bind_text(statement, index, va_arg(*args, const char *), true);
    default: return SQLITE_MISUSE;
    }
}

static int put_list(sqlite3_stmt *statement, const char *types, va_list *args)
{
    int code = SQLITE_OK;
    for (int i = 0; types[i] && code == SQLITE_OK; i++)
        code = bind_one(statement, i + 1, types[i], args);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_DONE || code == SQLITE_ROW) code = SQLITE_OK;
    }
    int reset = sqlite3_reset(statement);
    return code == SQLITE_OK ? reset : code;
}

int assay__sql_put(sqlite3_stmt *statement, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    int code = put_list(statement, types, &args);
    va_end(args);
    return code;
}

int assay__sql_put_once(sqlite3 *db, const char *sql, const char *types, ...)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    va_list args;
    va_start(args, types);
    code = put_list(statement, types, &args);
    va_end(args);
    sqlite3_finalize(statement);
    return code;
}
