/* file.h - files mapped for reading, small files read completely, and files written so that a
 * failure leaves no partial file. */
#ifndef ASSAY_BASE_FILE_H
#define ASSAY_BASE_FILE_H

#include "base/buf.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__mapping {
    const uint8_t *data; /* NULL for an empty file */
    size_t size;
};

/** Maps a regular file read-only. Clear errors for: missing, a folder or not a regular file (EIO),
 *  empty, no permission. */
int assay__file_map(const char *path, struct assay__mapping *mapping, struct assay_error *error);
void assay__file_unmap(struct assay__mapping *mapping);
/** Reads at most `limit` bytes of a (small, possibly /proc) file into a new NUL-terminated string;
 *  free() it. */
int assay__file_read(const char *path, size_t limit, char **text, size_t *length,
                     struct assay_error *error);
/** Writes a temporary file next to `path`, fsyncs it and renames it. ENOSPC and the like become one
 *  clear message. */
int assay__file_write(const char *path, const void *data, size_t size, struct assay_error *error);
/** Whether assay__file_write could write there: creates a temporary file next to `path` and removes
 *  it; 0, or the error it would fail with. */
int assay__file_writable(const char *path, struct assay_error *error);
bool assay__file_exists(const char *path);
bool assay__is_folder(const char *path);
/** The folder part of a path ("." when it has none), into `out`. 0 or ASSAY_ELIMIT. */
int assay__path_folder(const char *path, char *out, size_t out_size);
/** folder + "/" + name. 0 or ASSAY_ELIMIT. */
int assay__path_join(const char *folder, const char *name, char *out, size_t out_size);
/** Writes a text to a cache file and creates its folder and the parent ("~/.cache" may not exist
 * yet); a buffer that failed is reported as out of memory. */
int assay__file_keep(const char *path, const struct assay__buf *text, struct assay_error *error);
/** A new private folder under $TMPDIR (else /tmp); the caller removes it with assay__folder_remove.
 *  Its name contains our process id: folders left behind by killed processes are removed at the
 *  same time. */
int assay__folder_temporary(char *out, size_t out_size, struct assay_error *error);
/** Removes the files in a folder we made, and the folder. Not recursive below one level of
 *  folders. */
void assay__folder_remove(const char *path);

#endif
