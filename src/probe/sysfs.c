/* sysfs.c - files of /proc and /sys below $ASSAY_FSROOT: open once, read at offset 0, reasons
 * instead of numbers when something is wrong. Numbers are decimal integers, as the kernel prints
 * them; they are kept as doubles, exact up to 2^53 (9 GJ in µJ). */
#include "probe/sysfs.h"

#include "base/vec.h"

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

/* The path below the root; false when it is too long. */
static bool full_path(char *out, size_t out_size, const char *path)
{
    const char *root = getenv("ASSAY_FSROOT");
    int length = snprintf(out, out_size, "%s%s", root ? root : "", path);
    return length > 0 && (size_t)length < out_size;
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
    case EOPNOTSUPP: return "the kernel has this switched off (EOPNOTSUPP)";
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

static const char *open_reason_of(struct assay__arena *arena, const char *path, int number)
{
    const char *text;
    if (is_denied(number))
        text = assay__arena_printf(
            arena, "permission denied; to allow it until the next boot: sudo chmod a+r %s", path);
    else if (number == ENOENT)
        text = assay__arena_printf(arena, "%s does not exist", path);
    else
        text = assay__arena_printf(arena, "%s: %s", path, reason_of(number));
    return text ? text : "out of memory";
}

/* --- files ------------------------------------------------------------------------------------ */

bool assay__sysfs_open(struct assay__arena *arena, struct assay__sysfs_file *file, const char *path,
                       size_t size)
{
    char full[PATH_MAX];
    *file = (struct assay__sysfs_file){
        .fd = -1, .path = path, .open_reason = "", .reason = "", .size = size};
    file->text = assay__arena_alloc(arena, size);
    if (!file->text) {
        file->open_reason = "out of memory";
        return false;
    }
    if (!full_path(full, sizeof full, path)) {
        file->open_reason = "the path is too long";
        return false;
    }
    errno = 0;
    file->fd = calls->open(full);
    if (file->fd < 0) {
        file->denied = is_denied(errno);
        file->open_reason = open_reason_of(arena, path, errno);
    }
    return file->fd >= 0;
}

void assay__sysfs_close(struct assay__sysfs_file *file)
{
    if (file->fd >= 0) calls->close(file->fd);
    file->fd = -1;
}

bool assay__sysfs_refresh(struct assay__sysfs_file *file)
{
    size_t length = 0;
    file->text[0] = '\0';
    file->reason = "";
    if (file->fd < 0) {
        file->reason = file->open_reason;
        return false;
    }
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
        /* A short text comes whole and ends in a newline: no second read just to see the end. */
        if (file->text[length - 1] == '\n' && !file->long_text) break;
    }
    while (length > 0 && strchr(" \t\r\n", file->text[length - 1]))
        length--;
    file->text[length] = '\0';
    return true;
}

/* --- texts ------------------------------------------------------------------------------------ */

static bool number_at(const char *text, double *value, const char **end, const char **reason)
{
    const char *digits = *text == '-' || *text == '+' ? text + 1 : text;
    *reason = "";
    if (*text == '\0') {
        *reason = "the file is empty";
        return false;
    }
    if (*digits < '0' || *digits > '9') {
        *reason = "text instead of a number";
        return false;
    }
    errno = 0;
    char *after;
    *value = *text == '-' ? (double)strtoll(text, &after, 10)
                          : (double)strtoull(digits, &after, 10);
    *end = after;
    if (errno) {
        *reason = "the number does not fit 64 bits";
        return false;
    }
    return true;
}

bool assay__sysfs_leading(const char *text, double *value, const char **reason)
{
    const char *end;
    if (!number_at(text, value, &end, reason)) return false;
    if (*end == '\0' || strchr(" \t\r\n", *end)) return true;
    *reason = "text instead of a number";
    return false;
}

bool assay__sysfs_integer(const char *text, double *value, const char **reason)
{
    const char *end;
    if (!number_at(text, value, &end, reason)) return false;
    end += strspn(end, " \t\r\n");
    if (*end == '\0') return true;
    *reason = "text instead of a number";
    return false;
}

const char *assay__sysfs_field(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, key, length) != 0) continue;
        const char *at = line + length;
        if (*at != ' ' && *at != '\t' && *at != ':' && *at != '=') continue;
        return at + strspn(at, " \t:=");
    }
    return NULL;
}

static bool format_path(char out[PATH_MAX], const char *format, va_list args)
{
    int length = vsnprintf(out, PATH_MAX, format, args);
    return length >= 0 && length < PATH_MAX;
}

static bool read_once(const char *path, char *out, size_t out_size)
{
    char full[PATH_MAX];
    if (!full_path(full, sizeof full, path)) return false;
    struct assay__sysfs_file file = {
        .fd = calls->open(full), .path = path, .text = out, .size = out_size, .long_text = true};
    if (file.fd < 0) return false;
    bool good = assay__sysfs_refresh(&file);
    assay__sysfs_close(&file);
    return good;
}

const char *assay__sysfs_text(struct assay__arena *arena, const char *format, ...)
{
    char path[PATH_MAX];
    const char *kept = NULL;
    va_list args;
    va_start(args, format);
    bool fits = format_path(path, format, args);
    va_end(args);
    if (!fits) return NULL;
    char *text = malloc(TEXT_MAX);
    if (text && read_once(path, text, TEXT_MAX)) kept = assay__arena_strdup(arena, text);
    free(text);
    return kept;
}

bool assay__sysfs_value(double *value, const char *format, ...)
{
    char path[PATH_MAX], text[64];
    const char *reason;
    va_list args;
    va_start(args, format);
    bool fits = format_path(path, format, args);
    va_end(args);
    return fits && read_once(path, text, sizeof text) && assay__sysfs_integer(text, value, &reason);
}

bool assay__sysfs_exists(const char *format, ...)
{
    char path[PATH_MAX], full[PATH_MAX];
    va_list args;
    va_start(args, format);
    bool fits = format_path(path, format, args);
    va_end(args);
    return fits && full_path(full, sizeof full, path) && access(full, F_OK) == 0;
}

/* --- folders ---------------------------------------------------------------------------------- */

/* Digits compare as numbers, the rest as bytes. */
static int natural_order(const char *a, const char *b)
{
    while (*a && *b) {
        if (*a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
            size_t zeros_a = strspn(a, "0"), zeros_b = strspn(b, "0");
            a += zeros_a, b += zeros_b;
            size_t length_a = strspn(a, "0123456789"), length_b = strspn(b, "0123456789");
            if (length_a != length_b) return length_a < length_b ? -1 : 1;
            int order = memcmp(a, b, length_a);
            if (order) return order;
            a += length_a, b += length_b;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++, b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int entry_order(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    int order = natural_order(*left, *right);
    return order ? order : strcmp(*left, *right);
}

const char **assay__sysfs_list(struct assay__arena *arena, const char *folder, const char *prefix)
{
    char full[PATH_MAX];
    const char **names = NULL, **kept = NULL;
    size_t count = 0, capacity = 0;
    if (!full_path(full, sizeof full, folder)) return NULL;
    DIR *dir = opendir(full);
    if (!dir) return NULL;
    struct dirent *entry;
    while (count < ENTRIES_MAX && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        const char *name = assay__arena_strdup(arena, entry->d_name);
        if (!name || assay__vec_grow((void **)&names, &capacity, count + 1, sizeof *names))
            goto out;
        names[count++] = name;
    }
    if (count) qsort(names, count, sizeof *names, entry_order);
    kept = assay__arena_array(arena, count + 1, sizeof *kept);
    if (kept && count) memcpy(kept, names, count * sizeof *kept);
out:
    free(names);
    closedir(dir);
    return kept;
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
