/* linux_fs.h - reading /proc, /sys and /etc below $ASSAY_FSROOT. Inside platform/ only. */
#ifndef ASSAY_PLATFORM_LINUX_FS_H
#define ASSAY_PLATFORM_LINUX_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** True when $ASSAY_FSROOT replaces the machine: nothing may then be asked from the real one. */
bool assay__fs_replaced(void);
/** A file (path starts with '/') into `out`, NUL-terminated, trailing white space removed. Length,
 *  or -1 when it cannot be read. A file longer than the buffer is cut. */
ssize_t assay__fs_read(const char *path, char *out, size_t out_size);
/** The same, path by printf. */
ssize_t assay__fs_readf(char *out, size_t out_size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** The whole of a file that may be long; free() it; NULL when it cannot be read. At most 16 MiB. */
char *assay__fs_slurp(const char *path);
/** A file that is one decimal number. */
bool assay__fs_u64f(uint64_t *value, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool assay__fs_exists(const char *path);
/** "key value" or "key: value" lines: the number behind the key at the start of a line. */
bool assay__fs_field(const char *text, const char *key, uint64_t *value);

#endif
