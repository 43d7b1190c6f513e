/* posix_fs.h - reading /proc, /sys and /etc below $ASSAY_FSROOT, so that another machine can be
 * tested from a folder with its files. Paths start with '/'. Plain POSIX: on a system without these
 * files nothing can be read. */
#ifndef ASSAY_PLATFORM_POSIX_FS_H
#define ASSAY_PLATFORM_POSIX_FS_H

#include <assay/api.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** $ASSAY_FSROOT, or "". */
const char *assay__fs_root(void);
/** True when $ASSAY_FSROOT replaces the machine: the real one must not be queried then. */
bool assay__fs_replaced(void);
/** The path below the root; false when it is too long. */
bool assay__fs_path(char out[PATH_MAX], const char *path);
/** A file into `out`, NUL-terminated, trailing white space removed. Length, or -1 when it cannot be
 *  read. A file longer than the buffer is cut. */
ssize_t assay__fs_read(char *out, size_t out_size, const char *format, ...) ASSAY_PRINTF(3, 4);
ssize_t assay__fs_vread(char *out, size_t out_size, const char *format, va_list args);
/** The whole of a file that may be long; free() it; NULL when it cannot be read. At most 16 MiB. */
char *assay__fs_slurp(const char *path);
/** A file that is one decimal number. */
bool assay__fs_u64(uint64_t *value, const char *format, ...) ASSAY_PRINTF(2, 3);
bool assay__fs_exists(const char *format, ...) ASSAY_PRINTF(1, 2);

/** Lines "key value", "key: value" and "key=value": the text after the key and the separators, up
 * to the end of the text; NULL when no line starts with that key. */
const char *assay__fs_field(const char *text, const char *key);
/** The rest of that line into `out`; false when there is none, or an empty one. */
bool assay__fs_field_text(const char *text, const char *key, char *out, size_t out_size);
/** The number after the key. */
bool assay__fs_field_u64(const char *text, const char *key, uint64_t *value);

#endif
