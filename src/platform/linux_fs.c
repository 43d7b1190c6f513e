/* linux_fs.c - small readers for /proc, /sys and /etc below $ASSAY_FSROOT, so that a machine that
 * is not here can be tested from a folder of its files. */
#include "platform/linux_fs.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *root(void)
{
    const char *folder = getenv("ASSAY_FSROOT");
    return folder ? folder : "";
}

bool assay__fs_replaced(void)
{
    return root()[0] != '\0';
}

static bool full_path(char out[PATH_MAX], const char *path)
{
    int length = snprintf(out, PATH_MAX, "%s%s", root(), path);
    return length >= 0 && length < PATH_MAX;
}

ssize_t assay__fs_read(const char *path, char *out, size_t out_size)
{
    char full[PATH_MAX];
    size_t length = 0;
    out[0] = '\0';
    int fd = full_path(full, path) ? open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0) return -1;
    while (length + 1 < out_size) {
        ssize_t got = read(fd, out + length, out_size - 1 - length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            close(fd);
            out[0] = '\0';
            return -1;
        }
        if (got == 0) break;
        length += (size_t)got;
    }
    close(fd);
    while (length > 0 &&
           strchr(" \t\r\n", out[length - 1])) /* a NUL ends a device-tree string: trimmed too */
        length--;
    out[length] = '\0';
    return (ssize_t)length;
}

ssize_t assay__fs_readf(char *out, size_t out_size, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    out[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof path) return -1;
    return assay__fs_read(path, out, out_size);
}

char *assay__fs_slurp(const char *path)
{
    char full[PATH_MAX], *text;
    if (!full_path(full, path)) return NULL;
    return assay__file_read(full, (size_t)16 << 20, &text, NULL, NULL) ? NULL : text;
}

static bool parse_u64(const char *text, uint64_t *value)
{
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    unsigned long long parsed = strtoull(text, NULL, 10);
    if (errno) return false;
    *value = parsed;
    return true;
}

bool assay__fs_u64f(uint64_t *value, const char *format, ...)
{
    char path[PATH_MAX], text[64];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof path) return false;
    return assay__fs_read(path, text, sizeof text) > 0 && parse_u64(text, value);
}

bool assay__fs_exists(const char *path)
{
    char full[PATH_MAX];
    return full_path(full, path) && access(full, F_OK) == 0;
}

bool assay__fs_field(const char *text, const char *key, uint64_t *value)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, key, length) != 0) continue;
        const char *at = line + length;
        if (*at != ' ' && *at != ':' && *at != '\t') continue;
        return parse_u64(at + strspn(at, ": \t"), value);
    }
    return false;
}
