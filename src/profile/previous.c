/* previous.c - a capture that fails before its first sample must not destroy the profile it was
 * going to replace.
 *
 * The old profile at PATH waits as PATH.previous, with its log, and is restored or removed when the
 * capture ends. A capture that was killed leaves both. The next capture to PATH then finds two
 * profiles. If PATH has samples, it is the newer one and replaces PATH.previous; if it has none,
 * nothing is lost with it and PATH.previous is kept. With nothing at PATH, a file PATH.previous is
 * left alone: it may belong to someone else. Limit: if the process is killed between the two
 * renames of a profile that has a log, the log keeps its old name. */
#include "profile/previous.h"

#include "base/options_read.h"
#include "profile/sql.h"

#include <assay/api.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".previous"
/* the bytes SQLite locks: pending, reserved and 510 shared */
#define SQLITE_LOCK_FIRST 0x40000000
#define SQLITE_LOCK_BYTES 512

int assay__profile_system_error(struct assay_error *error, const char *path, const char *doing,
                                int number)
{
    int denied = number == EACCES || number == EPERM || number == EROFS;
    const char *why = number == ENOSPC || number == EDQUOT ? "no space left on the disk"
                                                           : strerror(number);
    return assay_error_set(error, denied ? ASSAY_EDENIED : ASSAY_EIO, "%s: %s: %s", path, doing,
                           why);
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int check_header(const char *path, const unsigned char *header, ssize_t size,
                        struct assay_error *error)
{
    if (size < 72 || memcmp(header, "SQLite format 3", 16) != 0 ||
        big_endian(header + 68) != ASSAY__PROFILE_APPLICATION_ID)
        return assay_error_set(error, ASSAY_EDENIED,
                               "%s: exists and is not an assay profile, so it is not replaced",
                               path);
    if (big_endian(header + 60) > ASSAY_SCHEMA_VERSION)
        return assay_error_set(error, ASSAY_ENEWER,
                               "%s: made by a newer assay (schema %lu, this one writes %d), so it "
                               "is not replaced",
                               path, (unsigned long)big_endian(header + 60), ASSAY_SCHEMA_VERSION);
    return 0;
}

int assay__previous_check(const char *path, struct assay_error *error)
{
    struct stat status;
    if (stat(path, &status)) {
        if (errno == ENOENT) return 0;
        return assay__profile_system_error(error, path, "cannot create the profile", errno);
    }
    if (S_ISDIR(status.st_mode))
        return assay__refuse_option(error, "output", "%s: is a folder; give the name of a file",
                                    path);
    if (!S_ISREG(status.st_mode))
        return assay__refuse_option(error, "output", "%s: is not a regular file", path);
    if (status.st_size == 0) return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return assay__profile_system_error(
            error, path, "exists and cannot be read, so it is not replaced", errno);
    unsigned char header[100];
    ssize_t size = read(fd, header, sizeof header);
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = SQLITE_LOCK_FIRST,
                         .l_len = SQLITE_LOCK_BYTES};
    bool locked = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    int code = check_header(path, header, size, error);
    if (code) return code;
    if (locked)
        return assay_error_set(error, ASSAY_EDENIED,
                               "%s: is in use by process %ld, so it is not replaced", path,
                               (long)lock.l_pid);
    return 0;
}

static bool has_bytes(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

static void remove_beside(const char *path, const char *suffix)
{
    char *beside = assay__sql_path(path, suffix);
    if (beside) unlink(beside);
    free(beside);
}

/* A reader rebuilds the index of a log (-shm). */
static void remove_logs(const char *path)
{
    remove_beside(path, "-wal");
    remove_beside(path, "-shm");
    remove_beside(path, "-journal");
}

static void move_beside(const char *from, const char *to, const char *suffix)
{
    char *old = assay__sql_path(from, suffix), *new = assay__sql_path(to, suffix);
    if (old && new) rename(old, new); /* usually there is none */
    free(old);
    free(new);
}

/* The file first: a log must never be next to a file it does not belong to. */
static int move_profile(const char *from, const char *to)
{
    remove_logs(to);
    if (rename(from, to)) return -1;
    move_beside(from, to, "-wal");
    move_beside(from, to, "-journal");
    remove_beside(from, "-shm");
    return 0;
}

/* 1 or 0; -1 when it cannot be read. */
static int holds_samples(const char *path)
{
    struct assay__db *db = NULL;
    sqlite3_stmt *statement = NULL;
    if (assay__db_open(path, &db, NULL)) return -1;
    int step = SQLITE_ERROR;
    if (sqlite3_prepare_v2(db->sqlite, "SELECT 1 FROM sample_chunks LIMIT 1", -1, &statement,
                           NULL) == SQLITE_OK)
        step = sqlite3_step(statement);
    sqlite3_finalize(statement);
    assay__db_close(db);
    return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -1;
}

int assay__previous_keep(const char *path, bool *kept, struct assay_error *error)
{
    *kept = false;
    if (!has_bytes(path)) {
        remove_logs(path); /* a log without its file must not be applied to the new one */
        return 0;
    }
    char *place = assay__sql_path(path, ""), *aside = assay__sql_path(path, SUFFIX);
    int code = 0;
    if (!place || !aside) {
        code = assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
        goto out;
    }
    bool waiting = has_bytes(aside);
    int samples = holds_samples(path);
    /* An unreadable profile is kept too, but never instead of a readable one. */
    if (samples > 0 || (samples < 0 && !waiting)) {
        code = assay__previous_check(aside, error);
        if (!code && move_profile(place, aside))
            code = assay__profile_system_error(error, path, "cannot set the old profile aside",
                                               errno);
        *kept = !code;
    } else {
        *kept = waiting && assay__previous_check(aside, NULL) == 0;
        remove_logs(path); /* the file itself is renamed over */
    }
out:
    free(place);
    free(aside);
    return code;
}

int assay__previous_restore(const char *path, struct assay_error *error)
{
    char *place = assay__sql_path(path, ""), *aside = assay__sql_path(path, SUFFIX);
    int code = 0;
    if (!place || !aside)
        code = assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
    else if (move_profile(aside, place))
        code = assay__profile_system_error(error, path, "cannot restore the old profile", errno);
    free(place);
    free(aside);
    return code;
}

void assay__previous_drop(const char *path)
{
    char *aside = assay__sql_path(path, SUFFIX);
    if (aside) {
        remove_logs(aside);
        unlink(aside);
    }
    free(aside);
}
