/* posix_fs.c - small readers for /proc, /sys and /etc below $ASSAY_FSROOT. */
#include "platform/posix_fs.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *assay__fs_root(void)
{
    const char *folder = getenv("ASSAY_FSROOT");
    return folder ? folder : "";
}

bool assay__fs_replaced(void)
{
    return assay__fs_root()[0] != '\0';
}

static bool full_path(char out[PATH_MAX], const char *format, va_list args)
{
    int root = snprintf(out, PATH_MAX, "%s", assay__fs_root());
    if (root < 0 || root >= PATH_MAX) return false;
    int length = vsnprintf(out + root, (size_t)(PATH_MAX - root), format, args);
    return length >= 0 && length < PATH_MAX - root;
}

bool assay__fs_path(char out[PATH_MAX], const char *path)
{
    int length = snprintf(out, PATH_MAX, "%s%s", assay__fs_root(), path);
    return length >= 0 && length < PATH_MAX;
}

ssize_t assay__fs_vread(char *out, size_t out_size, const char *format, va_list args)
{
    char path[PATH_MAX];
    size_t length = 0;
    ssize_t got = -1;
    out[0] = '\0';
    /* O_NONBLOCK: a pipe or a device in a file's place must not hang the open. */
    int fd = full_path(path, format, args)
                 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                 : -1;
    if (fd < 0) return -1;
    while (length + 1 < out_size && (got = read(fd, out + length, out_size - 1 - length)) != 0) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) length += (size_t)got;
    }
    close(fd);
    if (got < 0) length = 0;
    /* strchr also finds the NUL that ends a device-tree string: trimmed too */
    while (length > 0 && strchr(" \t\r\n", out[length - 1]))
        length--;
    out[length] = '\0';
    return got < 0 ? -1 : (ssize_t)length;
}

ssize_t assay__fs_read(char *out, size_t out_size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ssize_t length = assay__fs_vread(out, out_size, format, args);
    va_end(args);
    return length;
}

char *assay__fs_slurp(const char *path)
{
    char full[PATH_MAX], *text;
    if (!assay__fs_path(full, path)) return NULL;
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

bool assay__fs_u64(uint64_t *value, const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    ssize_t length = assay__fs_vread(text, sizeof text, format, args);
    va_end(args);
    return length > 0 && parse_u64(text, value);
}

bool assay__fs_exists(const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = full_path(path, format, args);
    va_end(args);
    return fits && access(path, F_OK) == 0;
}

const char *assay__fs_field(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, key, length) != 0) continue;
        size_t separators = strspn(line + length, " \t:=");
        if (separators) return line + length + separators;
    }
    return NULL;
}

bool assay__fs_field_text(const char *text, const char *key, char *out, size_t out_size)
{
    const char *at = assay__fs_field(text, key);
    snprintf(out, out_size, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
    return out[0] != '\0';
}

bool assay__fs_field_u64(const char *text, const char *key, uint64_t *value)
{
    const char *at = assay__fs_field(text, key);
    return at && parse_u64(at, value);
}
