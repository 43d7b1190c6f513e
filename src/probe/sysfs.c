/* sysfs.c - files of /proc and /sys below $ASSAY_FSROOT: open once, read at offset 0, reasons
 * instead of numbers when something is wrong. Numbers are decimal integers, as the kernel prints
 * them; they are kept as doubles, exact up to 2^53 (9 GJ in µJ). */
#include "probe/sysfs.h"

#include "platform/posix_fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRIES_MAX 4096
#define TEXT_MAX 65536

static int real_open(const char *path)
{
    /* O_NONBLOCK: a pipe or a device in a file's place must not hang the open. */
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static void real_close(int fd)
{
    close(fd);
}

static const struct assay__sysfs_calls real_calls = {real_open, pread, real_close};
static const struct assay__sysfs_calls *calls = &real_calls;

void assay__sysfs_calls_set(const struct assay__sysfs_calls *replacement)
{
    calls = replacement ? replacement : &real_calls;
}

/* --- reasons ---------------------------------------------------------------------------------- */

static const char *reason_of(int number)
{
    switch (number) {
    case EACCES:
    case EPERM: return "permission denied";
    case ENOENT:
    case ENXIO:
    case ENODEV: return "the file is gone: the device or its driver went away";
    case EISDIR: return "it is a folder, not a file";
    case EIO: return "the driver answered with an input/output error (EIO)";
    case EAGAIN: return "the driver has no value now (EAGAIN)";
    case EBUSY: return "the device is busy (EBUSY)";
    case ENODATA: return "the driver has no data (ENODATA)";
    case EOPNOTSUPP: return "the kernel has this disabled (EOPNOTSUPP)";
    case EINVAL: return "the driver refused the read (EINVAL)";
    case ETIMEDOUT: return "the device did not answer in time (ETIMEDOUT)";
    case EMFILE:
    case ENFILE: return "too many open files";
    default: return "the read failed";
    }
}

static bool is_denied(int number)
{
    return number == EACCES || number == EPERM;
}

/* --- files ------------------------------------------------------------------------------------ */

bool assay__sysfs_open(struct assay__arena *arena, struct assay__sysfs_file *file, const char *path,
                       size_t size)
{
    char full[PATH_MAX];
    *file = (struct assay__sysfs_file){.fd = -1,
                                       .path = path,
                                       .open_reason = "",
                                       .reason = "",
                                       .text = assay__arena_alloc(arena, size),
                                       .size = size};
    if (!file->text || !assay__fs_path(full, path)) {
        file->open_reason = file->text ? "the path is too long" : "out of memory";
        return false;
    }
    errno = 0;
    file->fd = calls->open(full);
    if (file->fd >= 0) return true;
    int number = errno;
    file->denied = is_denied(number);
    if (file->denied)
        file->open_reason = assay__arena_text(
            arena, "permission denied; to allow it until the next boot: sudo chmod a+r %s", path);
    else if (number == ENOENT)
        file->open_reason = assay__arena_text(arena, "%s does not exist", path);
    else
        file->open_reason = assay__arena_text(arena, "%s: %s", path, reason_of(number));
    return false;
}

void assay__sysfs_close(struct assay__sysfs_file *file)
{
    if (file->fd >= 0) calls->close(file->fd);
    file->fd = -1;
}

bool assay__sysfs_refresh(struct assay__sysfs_file *file)
{
    size_t length = 0;
    file->reason = file->open_reason;
    if (file->fd < 0) return false;
    file->text[0] = '\0';
    while (length + 1 < file->size) {
        ssize_t got = calls->pread(file->fd, file->text + length, file->size - 1 - length,
                                   (off_t)length);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            file->text[0] = '\0';
            file->denied = is_denied(errno);
            file->reason = reason_of(errno);
            return false;
        }
        if (got == 0) break;
        length += (size_t)got;
        /* A short text arrives completely and ends in a newline: no second read is needed to find
         * the end. */
        if (file->text[length - 1] == '\n') break;
    }
    while (length > 0 && strchr(" \t\r\n", file->text[length - 1]))
        length--;
    file->text[length] = '\0';
    return true;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* A decimal integer, followed by the end of the text (whole) or by white space. */
static bool number_at(const char *text, bool whole, double *value, const char **reason)
{
    const char *digits = *text == '-' || *text == '+' ? text + 1 : text;
    char *end = NULL;
    errno = 0;
    if (*digits >= '0' && *digits <= '9')
        *value = *text == '-' ? (double)strtoll(text, &end, 10)
                              : (double)strtoull(digits, &end, 10);
    bool fits = errno == 0;
    if (end && whole) end += strspn(end, " \t\r\n");
    bool good = end && (*end == '\0' || (!whole && strchr(" \t\r\n", *end)));
    *reason = *text == '\0'  ? "the file is empty"
              : end && !fits ? "the number does not fit 64 bits"
              : !good        ? "text instead of a number"
                             : "";
    return !**reason;
}

bool assay__sysfs_leading(const char *text, double *value, const char **reason)
{
    return number_at(text, false, value, reason);
}

bool assay__sysfs_integer(const char *text, double *value, const char **reason)
{
    return number_at(text, true, value, reason);
}

const char *assay__sysfs_text(struct assay__arena *arena, const char *format, ...)
{
    const char *kept = NULL;
    char *text = malloc(TEXT_MAX);
    va_list args;
    va_start(args, format);
    if (text && assay__fs_vread(text, TEXT_MAX, format, args) >= 0)
        kept = assay__arena_strdup(arena, text);
    va_end(args);
    free(text);
    return kept;
}

const char *assay__sysfs_line(struct assay__arena *arena, const char *text, const char *key)
{
    const char *at = text ? assay__fs_field(text, key) : NULL;
    return at ? assay__arena_text(arena, "%.*s", (int)strcspn(at, "\n"), at) : "";
}

bool assay__sysfs_value(double *value, const char *format, ...)
{
    char text[64];
    const char *reason;
    va_list args;
    va_start(args, format);
    bool read = assay__fs_vread(text, sizeof text, format, args) >= 0;
    va_end(args);
    return read && assay__sysfs_integer(text, value, &reason);
}

/* --- folders ---------------------------------------------------------------------------------- */

/* Digits compare as numbers, the rest as bytes. */
static int entry_order(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    const char *const whole_a = a, *const whole_b = b;
    static const char digits[] = "0123456789";
    while (*a && *b) {
        if (strspn(a, digits) && strspn(b, digits)) {
            a += strspn(a, "0"), b += strspn(b, "0");
            size_t length = strspn(a, digits), other = strspn(b, digits);
            int order = length != other ? (length < other ? -1 : 1) : memcmp(a, b, length);
            if (order) return order;
            a += length, b += length;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++, b++;
        }
    }
    return *a ? 1 : *b ? -1 : strcmp(whole_a, whole_b);
}

const char **assay__sysfs_list(struct assay__arena *arena, const char *folder, const char *prefix)
{
    char full[PATH_MAX];
    size_t count = 0;
    DIR *dir = assay__fs_path(full, folder) ? opendir(full) : NULL;
    if (!dir) return NULL;
    const char **names = assay__arena_grow(arena, NULL, 0, sizeof *names);
    struct dirent *entry;
    while (names && count < ENTRIES_MAX && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        names[count++] = assay__arena_text(arena, "%s", entry->d_name);
        names = assay__arena_grow(arena, names, count, sizeof *names);
    }
    closedir(dir);
    if (names) qsort(names, count, sizeof *names, entry_order);
    if (names) names[count] = NULL;
    return names;
}

const char *assay__sysfs_slug(struct assay__arena *arena, const char *text)
{
    char *slug = assay__arena_strdup(arena, text);
    for (char *c = slug; c && *c; c++) {
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
        bool kept = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || strchr("._#", *c);
        if (!kept) *c = '-';
    }
    return slug ? slug : "";
}

bool assay__sysfs_is_card(const char *name)
{
    return strncmp(name, "card", 4) == 0 && name[4] && !name[4 + strspn(name + 4, "0123456789")];
}
