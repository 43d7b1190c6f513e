/* store.c - writing a profile: creating the file, appending samples, finishing it.
 *
 * The file is created under a temporary name next to its final path, with the schema and its ids,
 * and renamed: an older profile is replaced by an intact new one or not at all, and is restored if
 * the capture ends without a sample (previous.h). Then it is opened in write-ahead mode at its
 * final path. Every put is one transaction, so after kill -9 the file and its -wal have everything
 * put before, and `complete` is 0. Finishing sets `complete`, moves the log into the file and
 * leaves one plain file. Limits: one writer; SQLite's own limit of about 500 bytes on the absolute
 * path. */
#include "profile/store.h"

#include "base/log.h"
#include "profile/chunk.h"
#include "profile/previous.h"
#include "profile/put.h"
#include "profile/sql.h"
#include "profile/tables.h"
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
    struct assay__writer writer;
    char *path;        /* as given, for messages */
    char *sqlite_path; /* as SQLite takes it */
    bool has_previous; /* the earlier profile is kept next to it (previous.h) */
    bool has_samples;  /* some are committed: this one is worth more than the previous one */
};

/* Closes, and decides between the new profile and the one before it. A failure to restore the old
 * one is logged: it still exists under its other name. */
static void free_store(struct assay__store *store)
{
    if (!store) return;
    struct assay_error error = {0};
    assay__writer_close(&store->writer);
    sqlite3_close(store->db);
    if (store->has_previous && store->has_samples)
        assay__previous_drop(store->path);
    else if (store->has_previous && assay__previous_restore(store->path, &error))
        assay__log(ASSAY_LOG_ERROR, "profile", "%s", error.message);
    else if (store->has_previous)
        assay__log(ASSAY_LOG_WARNING, "profile",
                   "%s: nothing was measured; the earlier profile is unchanged", store->path);
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

/* The schema, the ids and an incomplete profile row, in an empty file that has no reader yet. The
 * field tables must match it: a mismatch is found here, before anything is measured. */
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
    struct assay__writer writer = {.db = store->db};
    code = assay__writer_check(&writer, assay__tables, assay__table_count, error);
    assay__writer_close(&writer);
    sqlite3_close(store->db);
    store->db = NULL;
    return code;
}

/* A new empty file with the schema at `temporary`; removed again if that fails. The earlier profile
 * is moved only once it exists. */
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

int assay__store_create(const char *path, struct assay__store **out, struct assay_error *error)
{
    static const char start_capture[] =
        "PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
        "PRAGMA cache_size=-1024; PRAGMA wal_autocheckpoint=512; PRAGMA temp_store=MEMORY;"
        /* The first write creates the log and takes the lock that marks the profile as in use. */
        "UPDATE profiles SET complete=0";
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
    unlink(temporary); /* left by a killed process that had our process id */
    code = make_fresh(store, temporary, error);
    if (!code) code = open_database(store, store->sqlite_path, error);
    if (!code && assay__sql_exec(store->db, start_capture) != SQLITE_OK)
        code = assay__sql_error(store->db, store->path, "cannot write the profile", error);
out:
    free(temporary);
    if (code)
        free_store(store);
    else
        *out = store;
    return code;
}

/* --- transactions ----------------------------------------------------------------------------- */

/* A failure is recorded in the writer, like later ones: `end` reports it. */
static void begin(struct assay__store *store)
{
    errno = 0; /* so that a failure does not cite an older one */
    store->writer.db = store->db;
    store->writer.code = assay__sql_exec(store->db, "BEGIN IMMEDIATE");
}

/* Commits if everything was written, otherwise rolls back the transaction (what was committed
 * before stays). */
static int end(struct assay__store *store, struct assay_error *error)
{
    int code = store->writer.code;
    if (code == SQLITE_OK) code = assay__sql_exec(store->db, "COMMIT");
    if (code == SQLITE_OK) return 0;
    /* SQLite does not know about our own failed allocations. */
    sqlite3 *db = code == SQLITE_NOMEM ? NULL : store->db;
    int result = assay__sql_error(db, store->path, "cannot write the profile", error);
    if (!sqlite3_get_autocommit(store->db)) assay__sql_exec(store->db, "ROLLBACK");
    return result;
}

int assay__store_put_profile(struct assay__store *store, const struct assay_profile *profile,
                             struct assay_error *error)
{
    begin(store);
    assay__put_profile(&store->writer, profile);
    return end(store, error);
}

int assay__store_put_trial(struct assay__store *store, const struct assay__trial *trial,
                           struct assay_error *error)
{
    begin(store);
    assay__put_trial(&store->writer, trial);
    return end(store, error);
}

int assay__store_put_launch(struct assay__store *store, int trial,
                            const struct assay__launch *launch, struct assay_error *error)
{
    begin(store);
    assay__put_launch(&store->writer, trial, launch);
    return end(store, error);
}

int assay__store_put_findings(struct assay__store *store, const struct assay_profile *profile,
                              struct assay_error *error)
{
    begin(store);
    assay__put_findings(&store->writer, profile);
    return end(store, error);
}

int assay__store_write(struct assay__store *store,
                       void (*write)(struct assay__writer *writer, const void *data),
                       const void *data, struct assay_error *error)
{
    begin(store);
    write(&store->writer, data);
    int code = end(store, error);
    if (!code) store->has_samples = true;
    return code;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* The end of a stream's samples. */
struct tail {
    int64_t trial, launch, stream;
    int64_t chunk; /* number of the next chunk to write */
    int64_t first; /* its first value's position */
    size_t kept;   /* values of a small last chunk that is written again, in the scratch array */
};

/* Finds the end of the stream; a small last chunk is decoded into scratch (room for
 * CHUNK_SMALL). */
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
        if (count < CHUNK_SMALL && count >= 0 &&
            assay__sql_chunk(statement, 3, (size_t)count, scratch) == 0) {
            tail->kept = (size_t)count;
        } else {
            tail->chunk++;
            tail->first += count;
        }
    }
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Writes the next chunk of the stream. */
static void put_chunk(struct assay__writer *writer, sqlite3_stmt *statement, struct tail *tail,
                      const double *values, size_t count)
{
    const int64_t keys[] = {tail->trial,   tail->launch, tail->stream,
                            tail->chunk++, tail->first,  (int64_t)count};
    assay__writer_chunk(writer, statement, keys, 6, &values, 1, count);
    tail->first += (int64_t)count;
}

static void put_samples(struct assay__writer *writer, struct tail *tail, const double *samples,
                        size_t count)
{
    double scratch[CHUNK_SMALL * 2];
    if (writer->code == SQLITE_OK) writer->code = find_tail(writer->db, tail, scratch);
    sqlite3_stmt *statement = assay__writer_prepare(
        writer, "INSERT OR REPLACE INTO sample_chunks(trial,launch,stream,chunk,first,count,"
                "encoding,data) VALUES(?,?,?,?,?,?,?,?)");
    if (writer->code == SQLITE_OK && tail->kept > 0) {
        /* The small chunk gets enough values to be small no longer. */
        size_t taken = count < CHUNK_SMALL ? count : CHUNK_SMALL;
        memcpy(scratch + tail->kept, samples, taken * sizeof *samples);
        put_chunk(writer, statement, tail, scratch, tail->kept + taken);
        samples += taken;
        count -= taken;
    }
    while (writer->code == SQLITE_OK && count > 0) {
        size_t part = count < ASSAY__CHUNK_VALUES ? count : ASSAY__CHUNK_VALUES;
        put_chunk(writer, statement, tail, samples, part);
        samples += part;
        count -= part;
    }
    sqlite3_finalize(statement);
}

int assay__store_add_samples(struct assay__store *store, int trial, int launch, int stream,
                             const double *samples_ns, size_t count, struct assay_error *error)
{
    if (count == 0) return 0;
    struct tail tail = {.trial = trial, .launch = launch, .stream = stream};
    begin(store);
    /* A reader would not find samples without the row of their launch. */
    const struct assay__key keys[] = {{.number = trial}, {.number = launch}};
    assay__writer_run(&store->writer,
                      "INSERT OR IGNORE INTO trials(id,profile,state) VALUES(?,1,'running')", keys,
                      1);
    assay__writer_run(&store->writer,
                      "INSERT OR IGNORE INTO launches(trial,id,state,streams,warmup)"
                      " VALUES(?,?,'running',1,0)",
                      keys, 2);
    put_samples(&store->writer, &tail, samples_ns, count);
    int code = end(store, error);
    if (!code) store->has_samples = true;
    return code;
}

/* --- finishing -------------------------------------------------------------------------------- */

int assay__store_finish(struct assay__store *store, bool complete, bool interrupted,
                        struct assay_error *error)
{
    if (!store) return 0;
    const struct assay__key marks[] = {{.number = complete}, {.number = interrupted}};
    begin(store);
    assay__writer_run(&store->writer, "UPDATE profiles SET complete=?1, interrupted=?2 WHERE id=1",
                      marks, 2);
    int code = end(store, error);
    assay__writer_close(&store->writer);
    if (!code) {
        int moved = assay__sql_exec(store->db,
                                    "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous=OFF;"
                                    "PRAGMA journal_mode=DELETE"); /* only a mark in the head */
        if ((moved & 0xff) == SQLITE_BUSY || (moved & 0xff) == SQLITE_LOCKED)
            assay__log(ASSAY_LOG_WARNING, "profile",
                       "%s: in use by a reader; its log file remains next to it", store->path);
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
