/* profile_open.c - opening a profile that may come from anyone.
 *
 * How it is opened depends on the files next to it. None: one plain file, immutable, without locks,
 * also in a read-only folder. -wal and -shm: a capture is running or was killed; it is read in
 * place, including the log. -wal or -journal: its folder was copied or cannot be written; a private
 * copy is opened, so that the log is read.
 *
 * The connection is read-only and defensive: the schema is not trusted; no views, triggers, virtual
 * table modules, attached files or extensions, and limits on lengths and on work. A file is a
 * profile if its application id says so; a schema newer than ours is refused. */
#include "base/buf.h"
#include "base/file.h"
#include "profile/sql.h"

#include <assay/api.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A chunk is at most 655,360 bytes; texts are cut at 64 KiB when loaded. */
#define VALUE_BYTES_LIMIT (8 << 20)
#define STEP_UNIT 1000
#define BUSY_TIMEOUT_MS 2000

/* Size of a file next to the profile, or -1. */
static int64_t beside_bytes(const char *path, const char *suffix)
{
    struct stat status;
    char *beside = assay__sql_path(path, suffix);
    int64_t bytes = beside && stat(beside, &status) == 0 ? (int64_t)status.st_size : -1;
    free(beside);
    return bytes;
}

static int check_file(const char *path, uint64_t *bytes, struct assay_error *error)
{
    struct stat status;
    if (stat(path, &status)) {
        int code = errno == ENOENT || errno == ENOTDIR ? ASSAY_ENOTFOUND
                   : errno == EACCES                   ? ASSAY_EDENIED
                                                       : ASSAY_EIO;
        return assay_error_set(error, code, "%s: %s", path, strerror(errno));
    }
    if (S_ISDIR(status.st_mode))
        return assay_error_set(error, ASSAY_EIO, "%s: is a folder, not a profile", path);
    if (!S_ISREG(status.st_mode))
        return assay_error_set(error, ASSAY_EIO, "%s: is not a regular file", path);
    if (status.st_size == 0)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: is empty, not an assay profile", path);
    if (access(path, R_OK))
        return assay_error_set(error, ASSAY_EDENIED, "%s: %s", path, strerror(errno));
    *bytes = (uint64_t)status.st_size;
    return 0;
}

static int copy_bytes(int from, int to)
{
    char buffer[65536];
    for (;;) {
        ssize_t size = read(from, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return size == 0 ? 0 : -1;
        for (ssize_t done = 0; done < size;) {
            ssize_t part = write(to, buffer + done, (size_t)(size - done));
            if (part < 0 && errno == EINTR) continue;
            if (part < 0) return -1;
            done += part;
        }
    }
}

/* Copies path + suffix, when it exists, to folder/p + suffix. 0 or -1 with errno. */
static int copy_one(const char *path, const char *folder, const char *suffix)
{
    char target[300];
    char *source = assay__sql_path(path, suffix);
    int from = source ? open(source, O_RDONLY | O_CLOEXEC) : -1;
    int result = from >= 0 ? 0 : errno == ENOENT ? 0 : -1;
    int to = -1;
    if (from >= 0) {
        char name[16] = "p";
        memcpy(name + 1, suffix, strlen(suffix) + 1);
        to = assay__path_join(folder, name, target, sizeof target)
                 ? -1
                 : open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        result = to < 0 ? -1 : copy_bytes(from, to);
    }
    int saved = errno;
    if (from >= 0) close(from);
    if (to >= 0) close(to);
    free(source);
    errno = saved;
    return result;
}

static int open_copy(struct assay__db *db, const char *path, struct assay_error *error)
{
    char copy[300];
    int code = assay__folder_temporary(db->folder, sizeof db->folder, error);
    if (code) return code;
    if (copy_one(path, db->folder, "") || copy_one(path, db->folder, "-wal") ||
        copy_one(path, db->folder, "-journal"))
        return assay_error_set(error, ASSAY_EIO, "%s: cannot be copied to read its log: %s", path,
                               strerror(errno));
    if (assay__path_join(db->folder, "p", copy, sizeof copy) ||
        sqlite3_open_v2(copy, &db->sqlite, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        return assay__sql_error(db->sqlite, path, "cannot be read", error);
    return 0;
}

/* As a URI, with the path percent-encoded, because only a URI can declare the file immutable. */
static int open_place(struct assay__db *db, const char *path, bool immutable,
                      struct assay_error *error)
{
    char *plain = assay__sql_path(path, "");
    struct assay__buf uri = {0};
    assay__buf_puts(&uri, "file:");
    for (const char *p = plain ? plain : ""; *p; p++) {
        bool literal = *p > ' ' && *p < 0x7f && !strchr("%?#", *p);
        assay__buf_printf(&uri, literal ? "%c" : "%%%02X", (unsigned char)*p);
    }
    assay__buf_puts(&uri, immutable ? "?immutable=1" : "");
    int code = SQLITE_NOMEM;
    if (plain && !uri.failed)
        code = sqlite3_open_v2(uri.data, &db->sqlite, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    assay__buf_free(&uri);
    free(plain);
    return code == SQLITE_OK ? 0 : assay__sql_error(db->sqlite, path, "cannot be read", error);
}

/* A crafted file can make a short statement run forever; a normal file needs work in proportion to
 * its size. */
static int count_steps(void *context)
{
    struct assay__db *db = context;
    return ++db->steps > db->step_limit;
}

static void defend(struct assay__db *db)
{
    static const struct {
        int option, value;
    } configuration[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},   {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},          {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    };
    for (size_t i = 0; i < sizeof configuration / sizeof configuration[0]; i++)
        sqlite3_db_config(db->sqlite, configuration[i].option, configuration[i].value, (int *)NULL);
    sqlite3_limit(db->sqlite, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db->sqlite, SQLITE_LIMIT_LENGTH, VALUE_BYTES_LIMIT);
    sqlite3_drop_modules(db->sqlite, NULL);
    sqlite3_busy_timeout(db->sqlite, BUSY_TIMEOUT_MS);
    sqlite3_progress_handler(db->sqlite, STEP_UNIT, count_steps, db);
}

/* One integer of the header. SQLite's code. */
static int read_pragma(sqlite3 *sqlite, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        *value = code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
        code = sqlite3_finalize(statement);
    }
    return code;
}

static int check_marks(struct assay__db *db, const char *path, struct assay_error *error)
{
    int64_t application = 0, version = 0;
    int code = assay__sql_exec(db->sqlite,
                               "PRAGMA query_only=1; PRAGMA cache_size=-1024; PRAGMA mmap_size=0");
    if (db->is_foreign)
        return code == SQLITE_OK
                   ? 0
                   : assay_error_set(error, ASSAY_EFORMAT, "%s: not a sound SQLite file", path);
    if (code == SQLITE_OK) code = read_pragma(db->sqlite, "PRAGMA application_id", &application);
    if (code == SQLITE_OK) code = read_pragma(db->sqlite, "PRAGMA user_version", &version);
    if (code != SQLITE_OK) return assay__sql_error(db->sqlite, path, "cannot be read", error);
    if (application != ASSAY__PROFILE_APPLICATION_ID)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: not an assay profile", path);
    if (version > ASSAY_SCHEMA_VERSION)
        return assay_error_set(error, ASSAY_ENEWER,
                               "%s: made by a newer assay (schema %lld, this one reads up to %d)",
                               path, (long long)version, ASSAY_SCHEMA_VERSION);
    if (version < 1)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: damaged profile: no schema version",
                               path);
    db->schema = (int)version;
    return 0;
}

/* Things that an intact profile never has: a file shorter than its header says (SQLite reads the
 * missing end of a page as zeros), and computed columns (a row then yields more than its bytes). */
static int check_shape(struct assay__db *db, const char *path, bool whole,
                       struct assay_error *error)
{
    int64_t pages = 0, page_bytes = 0, computed = 0;
    int code = read_pragma(db->sqlite, "PRAGMA page_count", &pages);
    if (code == SQLITE_OK) code = read_pragma(db->sqlite, "PRAGMA page_size", &page_bytes);
    if (code == SQLITE_OK)
        code = read_pragma(
            db->sqlite,
            "SELECT count(*) FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x"
            " WHERE s.type='table' AND x.hidden<>0",
            &computed);
    const char *damaged = db->is_foreign ? "damaged file" : "damaged profile";
    if (code != SQLITE_OK) return assay__sql_error(db->sqlite, path, damaged, error);
    db->is_truncated = whole && db->bytes / (uint64_t)page_bytes < (uint64_t)pages;
    if (db->is_truncated && !db->is_foreign)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: %s: truncated to %llu of %lld bytes",
                               path, damaged, (unsigned long long)db->bytes,
                               (long long)(pages * page_bytes));
    if (computed)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: %s: computed columns", path, damaged);
    return 0;
}

static int open_and_check(struct assay__db *db, const char *path, bool copy, bool immutable,
                          struct assay_error *error)
{
    int code = copy ? open_copy(db, path, error) : open_place(db, path, immutable, error);
    if (code) return code;
    defend(db);
    code = check_marks(db, path, error);
    return code ? code : check_shape(db, path, immutable, error);
}

static int open_db(const char *path, bool is_foreign, struct assay__db **out,
                   struct assay_error *error)
{
    *out = NULL;
    if (!path || !path[0]) /* "" as a file that is not there: every reader ends in the same way */
        return assay_error_set(error, path ? ASSAY_ENOTFOUND : ASSAY_EINVAL,
                               "the profile's file name is empty");
    struct assay__db *db = calloc(1, sizeof *db);
    if (!db) return assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
    db->is_foreign = is_foreign;
    int code = check_file(path, &db->bytes, error);
    if (code) goto out;
    int64_t wal = beside_bytes(path, "-wal"), shm = beside_bytes(path, "-shm");
    bool hot = beside_bytes(path, "-journal") > 0;
    db->bytes += wal > 0 ? (uint64_t)wal : 0;
    db->step_limit = 100000 + db->bytes / 16;
    bool place = !hot && (wal < 0 || shm >= 0 || wal == 0);
    bool immutable = !hot && (wal < 0 || (wal == 0 && shm < 0));
    code = open_and_check(db, path, !place, immutable, error);
    if (code && code != ASSAY_ENEWER && place && !immutable && code != ASSAY_EFORMAT) {
        sqlite3_close(db->sqlite); /* the log's index cannot be used here: read a copy */
        db->sqlite = NULL;
        code = open_and_check(db, path, true, false, error);
    }
out:
    if (code)
        assay__db_close(db);
    else
        *out = db;
    return code;
}

int assay__db_open(const char *path, struct assay__db **db, struct assay_error *error)
{
    return open_db(path, false, db, error);
}

int assay__db_open_foreign(const char *path, struct assay__db **db, struct assay_error *error)
{
    return open_db(path, true, db, error);
}

void assay__db_close(struct assay__db *db)
{
    if (!db) return;
    sqlite3_close(db->sqlite);
    if (db->folder[0]) assay__folder_remove(db->folder);
    free(db);
}
