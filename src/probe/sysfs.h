/* sysfs.h - the one reader of /proc and /sys for probes, below $ASSAY_FSROOT when it is set. A file
 * is opened once and read again at offset 0 (the kernel regenerates the text for each such read).
 * What goes wrong becomes a sentence: static text for readings, which allocate nothing; arena text
 * at open, where the command that would help is known. Plain POSIX: on a system without these files
 * nothing opens, and the reason says so. A read that blocks is not handled here: the sampler
 * abandons the probe (sampler.h). */
#ifndef ASSAY_PROBE_SYSFS_H
#define ASSAY_PROBE_SYSFS_H

#include "base/arena.h"
#include "platform/posix_fs.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** The system calls, so that a test can refuse permission or fail a read. The
 * paths are full (below the root). */
struct assay__sysfs_calls {
    int (*open)(const char *path);
    ssize_t (*pread)(int fd, void *out, size_t size, off_t offset);
    void (*close)(int fd);
};
/** Replaces the calls; NULL restores the system's. For tests, before any probe is opened. */
void assay__sysfs_calls_set(const struct assay__sysfs_calls *calls);

struct assay__sysfs_file {
    int fd;                  /* -1: not open */
    const char *path;        /* as on the machine, without $ASSAY_FSROOT */
    const char *open_reason; /* why it is not open, with the path; "" */
    bool denied;             /* permission was refused, to open it or to read it */
    char *text;              /* of the last refresh, NUL-terminated, trailing white space removed */
    size_t size;             /* of the buffer */
    const char *reason;      /* why the last refresh failed (static or open_reason); "" */
    bool used, slow;         /* for the owner: read at all; seldom */
};

/** Opens `path` (in the arena or static: it is not copied) with a buffer of `size` bytes. False if
 * it cannot be opened: open_reason then says why, with the command that would help for a refused
 * permission. */
bool assay__sysfs_open(struct assay__arena *arena, struct assay__sysfs_file *file, const char *path,
                       size_t size);
void assay__sysfs_close(struct assay__sysfs_file *file);
/** Reads the file again. False: `reason` says why. Text beyond the buffer is cut. */
bool assay__sysfs_refresh(struct assay__sysfs_file *file);

/** Parses a text that is one decimal integer. False: *reason, static ("text instead of a number",
 * "empty", …). */
bool assay__sysfs_integer(const char *text, double *value, const char **reason);
/** A number at the start of `text`, then white space or the end. */
bool assay__sysfs_leading(const char *text, double *value, const char **reason);

/** Reads a file once, at most 64 KiB: its text without trailing white space, in the arena; NULL if
 * it cannot be read. */
const char *assay__sysfs_text(struct assay__arena *arena, const char *format, ...)
    ASSAY_PRINTF(2, 3);
/** A file that is one integer, once. */
bool assay__sysfs_value(double *value, const char *format, ...) ASSAY_PRINTF(2, 3);
/** What follows the key in its line (assay__fs_field), in the arena; "" without such a line, or if
 * text is NULL. */
const char *assay__sysfs_line(struct assay__arena *arena, const char *text, const char *key);

/** Entries of a folder whose names begin with `prefix`, in natural order (hwmon2 before hwmon10).
 *  NULL-terminated array; NULL: the folder cannot be read. At most 4,096. */
const char **assay__sysfs_list(struct assay__arena *arena, const char *folder, const char *prefix);

/** Whether an entry of /sys/class/drm is a card ("card0"), not one of its connectors
 * ("card0-DP-1"). */
bool assay__sysfs_is_card(const char *name);
/** "Package id 0" -> "package-id-0": lower case, everything but letters, digits, '.', '_' and '#'
 * becomes '-'. In the arena. */
const char *assay__sysfs_slug(struct assay__arena *arena, const char *text);

#endif
