/* store.c - writing a profile: creating the file, appending samples, finishing it.
 *
 * The file is made under a temporary name beside its place, given the schema and its marks, and
 * renamed: an older profile is replaced by a sound new one or not at all, and comes back when the
 * capture ends without a sample (previous.h). Then it is opened in write-ahead mode at its place.
 * Every put is one transaction, so after kill -9 the file and its -wal hold everything put before,
 * and `complete` is 0. Finishing sets `complete`, moves the log
 * into the file and leaves one plain file. Limits: one writer; SQLite's own limit of about 500
 * bytes on the absolute path. */
#include "profile/store.h"

#include "base/buf.h"
#include "base/log.h"
#include "profile/chunk.h"
#include "profile/previous.h"
#include "profile/put.h"
#include "profile/sql.h"
#include "schema_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A stream's last chunk is extended while it is smaller than this, so that short windows do not
 * make many tiny chunks and an append never rewrites more than a few kilobytes. */
#define CHUNK_SMALL 4096

#define BUSY_TIMEOUT_MS 2000

struct assay__store {
    sqlite3 *db;
    char *path;        /* as given, for messages */
    char *sqlite_path; /* as SQLite takes it */
    bool has_previous; /* the profile that stood here waits beside (previous.h) */
    bool has_samples;  /* some are committed: this one is worth more than the previous one */
};

/* Closes, and decides between the new profile and the one before it. A failure to put the old one
 * back is logged: it is then still there under its other name. */
static void free_store(struct assay__store *store)
{
    if (!store) return;
    struct assay_error error = {0};
    sqlite3_close(store->db);
    if (store->has_previous && store->has_samples)
        assay__previous_drop(store->path);
    else if (store->has_previous && assay__previous_restore(store->path, &error))
        assay__log(ASSAY_LOG_ERROR, "profile", "%s", error.message);
    else if (store->has_previous)
        assay__log(ASSAY_LOG_WARNING, "profile",
                   "%s: nothing was measured; the profile that was there stays", store->path);
    free(store->path);
    free(store->sqlite_path);
    free(store);
}

/* --- creating --------------------------------------------------------------------------------- */

static int open_database(struct assay__store *store, const char *path, struct assay_error *error)
{
    int code = sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE, NULL);
    if (code != SQLITE_OK)
        return assay__sql_error(store->db, store->path, "cannot create the profile", error);
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    return 0;
}

/* The schema, the marks and an incomplete profile row, in an empty file that has no reader yet. */
static int write_schema(struct assay__store *store, struct assay_error *error)
{
    char marks[192];
    snprintf(marks, sizeof marks,
             "PRAGMA application_id=%d; PRAGMA user_version=%d;"
             "INSERT INTO profiles(id,schema,assay_version,complete,interrupted)"
             " VALUES(1,%d,'%s',0,0); COMMIT",
             ASSAY__PROFILE_APPLICATION_ID, ASSAY_SCHEMA_VERSION, ASSAY_SCHEMA_VERSION,
             ASSAY_VERSION_STRING);
    int code = assay__sql_exec(store->db,
                               "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY; BEGIN");
    if (code == SQLITE_OK) code = assay__sql_exec(store->db, assay__schema_sql);
    if (code == SQLITE_OK) code = assay__sql_exec(store->db, marks);
    if (code != SQLITE_OK)
        return assay__sql_error(store->db, store->path, "cannot create the profile", error);
    sqlite3_close(store->db);
    store->db = NULL;
    return 0;
}

/* A fresh empty file with the schema at `temporary`; removed again when that fails. Only once it
 * stands is the profile that was there moved. */
static int make_fresh(struct assay__store *store, const char *temporary, struct assay_error *error)
{
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return assay__profile_system_error(error, store->path, "cannot create the profile", errno);
    close(fd);
    int code = open_database(store, temporary, error);
    if (!code) code = write_schema(store, error);
    if (!code) code = assay__previous_keep(store->path, &store->has_previous, error);
    if (!code && rename(temporary, store->sqlite_path))
        code = assay__profile_system_error(error, store->path, "cannot create the profile", errno);
    if (code) unlink(temporary);
    return code;
}

static int start_capture(struct assay__store *store, struct assay_error *error)
{
    int code = open_database(store, store->sqlite_path, error);
    if (code) return code;
    if (assay__sql_exec(
            store->db,
            "PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            "PRAGMA cache_size=-1024;"
            "PRAGMA wal_autocheckpoint=512; PRAGMA temp_store=MEMORY;"
            /* The first write makes the log and takes the lock that tells others we are at it. */
            "UPDATE profiles SET complete=0") != SQLITE_OK)
        return assay__sql_error(store->db, store->path, "cannot write the profile", error);
    return 0;
}

int assay__store_create(const char *path, struct assay__store **out, struct assay_error *error)
{
    char suffix[32];
    char *temporary = NULL;
    *out = NULL;
    if (!path || !path[0])
        return assay_error_set(error, ASSAY_EINVAL, "the profile's file name is empty");
    int code = assay__previous_check(path, error);
    if (code) return code;
    struct assay__store *store = calloc(1, sizeof *store);
    if (!store) return assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
    snprintf(suffix, sizeof suffix, ".new-%ld", (long)getpid());
    store->path = strdup(path);
    store->sqlite_path = assay__sql_path(path, "");
    temporary = assay__sql_path(path, suffix);
    if (!store->path || !store->sqlite_path || !temporary) {
        code = assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
        goto out;
    }
    unlink(temporary); /* of a killed process that had our number */
    code = make_fresh(store, temporary, error);
    if (!code) code = start_capture(store, error);
out:
    free(temporary);
    if (code)
        free_store(store);
    else
        *out = store;
    return code;
}

/* --- transactions ----------------------------------------------------------------------------- */

static int begin(struct assay__store *store, struct assay_error *error)
{
    errno = 0; /* so that a failure does not cite an older one */
    if (assay__sql_exec(store->db, "BEGIN IMMEDIATE") == SQLITE_OK) return 0;
    return assay__sql_error(store->db, store->path, "cannot write the profile", error);
}

/* Commits when code is SQLITE_OK, else takes back the transaction (what was committed before
 * stays). */
static int end(struct assay__store *store, int code, struct assay_error *error)
{
    if (code == SQLITE_OK) code = assay__sql_exec(store->db, "COMMIT");
    if (code == SQLITE_OK) return 0;
    int result = assay__sql_error(store->db, store->path, "cannot write the profile", error);
    if (!sqlite3_get_autocommit(store->db)) assay__sql_exec(store->db, "ROLLBACK");
    return result;
}

int assay__store_put_profile(struct assay__store *store, const struct assay_profile *profile,
                             struct assay_error *error)
{
    int code = begin(store, error);
    return code ? code : end(store, assay__put_profile(store->db, profile), error);
}

int assay__store_put_trial(struct assay__store *store, const struct assay__trial *trial,
                           struct assay_error *error)
{
    int code = begin(store, error);
    return code ? code : end(store, assay__put_trial(store->db, trial), error);
}

int assay__store_put_launch(struct assay__store *store, int trial,
                            const struct assay__launch *launch, struct assay_error *error)
{
    int code = begin(store, error);
    return code ? code : end(store, assay__put_launch(store->db, trial, launch), error);
}

int assay__store_put_findings(struct assay__store *store, const struct assay_profile *profile,
                              struct assay_error *error)
{
    int code = begin(store, error);
    return code ? code : end(store, assay__put_findings(store->db, profile), error);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* Where a stream's samples go on. */
struct tail {
    int64_t trial, launch, stream;
    int64_t chunk; /* number of the next chunk to write */
    int64_t first; /* its first value's position */
    size_t kept;   /* values of a small last chunk that is written again, in the scratch array */
};

/* Finds the end of the stream; a small last chunk is decoded into scratch (room for CHUNK_SMALL).
 */
static int find_tail(sqlite3 *db, struct tail *tail, double *scratch)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        db,
        "SELECT chunk,first,count,encoding,data FROM sample_chunks"
        " WHERE trial=?1 AND launch=?2 AND stream=?3 ORDER BY chunk DESC LIMIT 1",
        -1, &statement, NULL);
    if (code != SQLITE_OK) return code;
    sqlite3_bind_int64(statement, 1, tail->trial);
    sqlite3_bind_int64(statement, 2, tail->launch);
    sqlite3_bind_int64(statement, 3, tail->stream);
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        int64_t count = sqlite3_column_int64(statement, 2);
        tail->chunk = sqlite3_column_int64(statement, 0);
        tail->first = sqlite3_column_int64(statement, 1);
        const void *data = sqlite3_column_blob(statement, 4);
        size_t size = (size_t)sqlite3_column_bytes(statement, 4);
        if (count < CHUNK_SMALL && count >= 0 &&
            assay__chunk_decode((const char *)sqlite3_column_text(statement, 3), data, size,
                                (size_t)count, scratch) == 0) {
            tail->kept = (size_t)count;
        } else {
            tail->chunk++;
            tail->first += count;
        }
    }
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int put_chunk(sqlite3_stmt *statement, const struct tail *tail, const double *values,
                     size_t count)
{
    struct assay__buf bytes = {0};
    const char *encoding = assay__chunk_encode(values, count, &bytes);
    int code = bytes.failed ? SQLITE_NOMEM : SQLITE_OK;
    if (code == SQLITE_OK) {
        const int64_t keys[] = {tail->trial, tail->launch, tail->stream,
                                tail->chunk, tail->first,  (int64_t)count};
        for (int i = 0; i < 6; i++)
            sqlite3_bind_int64(statement, i + 1, keys[i]);
        sqlite3_bind_text(statement, 7, encoding, -1, SQLITE_STATIC);
        code = sqlite3_bind_blob64(statement, 8, bytes.data, bytes.length, SQLITE_STATIC);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    sqlite3_reset(statement);
    assay__buf_free(&bytes);
    return code;
}

static int put_samples(sqlite3 *db, struct tail *tail, const double *samples, size_t count)
{
    double scratch[CHUNK_SMALL * 2];
    sqlite3_stmt *statement = NULL;
    int code = find_tail(db, tail, scratch);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(
            db,
            "INSERT OR REPLACE INTO sample_chunks(trial,launch,stream,chunk,first,count,"
            "encoding,data) VALUES(?,?,?,?,?,?,?,?)",
            -1, &statement, NULL);
    if (code == SQLITE_OK && tail->kept > 0) {
        /* The small chunk takes in enough to leave the small size behind. */
        size_t taken = count < CHUNK_SMALL ? count : CHUNK_SMALL;
        memcpy(scratch + tail->kept, samples, taken * sizeof *samples);
        code = put_chunk(statement, tail, scratch, tail->kept + taken);
        tail->first += (int64_t)(tail->kept + taken);
        tail->chunk++;
        samples += taken;
        count -= taken;
    }
    while (code == SQLITE_OK && count > 0) {
        size_t part = count < ASSAY__CHUNK_VALUES ? count : ASSAY__CHUNK_VALUES;
        code = put_chunk(statement, tail, samples, part);
        tail->first += (int64_t)part;
        tail->chunk++;
        samples += part;
        count -= part;
    }
    sqlite3_finalize(statement);
    return code;
}

/* Samples without their launch's row would be lost to a reader. */
static int ensure_launch(sqlite3 *db, int64_t trial, int64_t launch)
{
    int code = assay__sql_put_once(
        db, "INSERT OR IGNORE INTO trials(id,profile,state) VALUES(?,1,'running')", "i", trial);
    if (code == SQLITE_OK)
        code = assay__sql_put_once(db,
                                   "INSERT OR IGNORE INTO launches(trial,id,state,streams,warmup)"
                                   " VALUES(?,?,'running',1,0)",
                                   "ii", trial, launch);
    return code;
}

int assay__store_add_samples(struct assay__store *store, int trial, int launch, int stream,
                             const double *samples_ns, size_t count, struct assay_error *error)
{
    if (count == 0) return 0;
    int code = begin(store, error);
    if (code) return code;
    struct tail tail = {.trial = trial, .launch = launch, .stream = stream};
    code = ensure_launch(store->db, trial, launch);
    if (code == SQLITE_OK) code = put_samples(store->db, &tail, samples_ns, count);
    code = end(store, code, error);
    if (!code) store->has_samples = true;
    return code;
}

/* --- finishing -------------------------------------------------------------------------------- */

int assay__store_finish(struct assay__store *store, bool complete, bool interrupted,
                        struct assay_error *error)
{
    if (!store) return 0;
    int code = begin(store, error);
    if (!code)
        code = end(store,
                   assay__sql_put_once(store->db,
                                       "UPDATE profiles SET complete=?1, interrupted=?2 WHERE id=1",
                                       "ii", (int64_t)complete, (int64_t)interrupted),
                   error);
    if (!code) {
        int moved = assay__sql_exec(store->db,
                                    "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous=OFF;"
                                    "PRAGMA journal_mode=DELETE"); /* only a mark in the head */
        if ((moved & 0xff) == SQLITE_BUSY || (moved & 0xff) == SQLITE_LOCKED)
            assay__log(ASSAY_LOG_WARNING, "profile",
                       "%s: in use by a reader; its log stays beside it", store->path);
        else if (moved != SQLITE_OK)
            code = assay__sql_error(store->db, store->path, "cannot finish the profile", error);
    }
    free_store(store);
    return code;
}

void assay__store_abandon(struct assay__store *store)
{
    free_store(store);
}
