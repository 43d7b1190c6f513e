/* file.c - files mapped for reading, small files read completely, files written completely or not
 * at all, temporary folders. Limit: a file that is truncated while it is mapped raises SIGBUS on
 * access, as with every mapping. */
#include "base/file.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/no_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct assay_error *error, const char *verb, const char *path)
{
    int number = errno;
    int code = number == ENOENT || number == ENOTDIR ? ASSAY_ENOTFOUND
               : number == EACCES || number == EPERM ? ASSAY_EDENIED
               : number == ENOMEM                    ? ASSAY_ENOMEM
               : number == ENAMETOOLONG              ? ASSAY_ELIMIT
                                                     : ASSAY_EIO;
    return assay_error_set(error, code, "cannot %s '%s': %s", verb, path, strerror(number));
}

int assay__file_map(const char *path, struct assay__mapping *mapping, struct assay_error *error)
{
    struct stat status;
    int code = 0;
    *mapping = (struct assay__mapping){NULL, 0};
    /* O_NONBLOCK: opening a named pipe must not wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail(error, "open", path);
    if (fstat(fd, &status) != 0) {
        code = fail(error, "read", path);
    } else if (S_ISDIR(status.st_mode)) {
        code = assay_error_set(error, ASSAY_EIO, "'%s' is a folder, not a file", path);
    } else if (!S_ISREG(status.st_mode)) {
        code = assay_error_set(error, ASSAY_EIO, "'%s' is not a regular file", path);
    } else if (status.st_size == 0) {
        code = assay_error_set(error, ASSAY_EFORMAT, "'%s' is empty", path);
    } else if ((uint64_t)status.st_size > SIZE_MAX) {
        code = assay_error_set(error, ASSAY_ELIMIT, "'%s' is too large to map", path);
    } else {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            code = fail(error, "map", path);
        else
            *mapping = (struct assay__mapping){data, (size_t)status.st_size};
    }
    close(fd);
    return code;
}

void assay__file_unmap(struct assay__mapping *mapping)
{
    if (mapping->data) munmap((void *)(uintptr_t)mapping->data, mapping->size);
    *mapping = (struct assay__mapping){NULL, 0};
}

int assay__file_read(const char *path, size_t limit, char **text, size_t *length,
                     struct assay_error *error)
{
    *text = NULL;
    if (length) *length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail(error, "open", path);
    struct assay__buf buf = {0};
    char block[4096];
    int code = 0;
    while (buf.length < limit && !buf.failed) {
        size_t room = limit - buf.length;
        ssize_t got = read(fd, block, room < sizeof block ? room : sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            code = fail(error, "read", path);
            break;
        }
        if (got == 0) break;
        assay__buf_add(&buf, block, (size_t)got);
    }
    close(fd);
    if (!code && !buf.data) assay__buf_add(&buf, "", 0);
    if (!code && buf.failed) code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (code) {
        assay__buf_free(&buf);
        return code;
    }
    *text = buf.data;
    if (length) *length = buf.length;
    return 0;
}

static int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t written = write(fd, at, size < ((size_t)1 << 30) ? size : (size_t)1 << 30);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return -1;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Creates a file next to `path` with the permissions of any new file; -1 with errno. mkstemp would
 * make it 0600, and reading the umask would change it for every thread. */
static int create_beside(const char *path, char temporary[PATH_MAX])
{
    unsigned number = (unsigned)assay__now_ns() ^ (unsigned)getpid() << 8;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        int length = snprintf(temporary, PATH_MAX, "%s.%06x", path, (number + attempt) & 0xffffff);
        if (length < 0 || length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

int assay__file_write(const char *path, const void *data, size_t size, struct assay_error *error)
{
    struct stat old, link;
    char temporary[PATH_MAX];
    bool there = stat(path, &old) == 0;
    if (there && S_ISDIR(old.st_mode))
        return assay_error_set(error, ASSAY_EINVAL, "cannot write '%s': it is a folder", path);
    /* /dev/stdout, a pipe, a terminal: there is nothing to rename over. */
    bool direct = there && !S_ISREG(old.st_mode);
    /* Through a symbolic link: write what it points to, keep the link. */
    char *linked = !direct && lstat(path, &link) == 0 && S_ISLNK(link.st_mode)
                       ? realpath(path, NULL)
                       : NULL;
    const char *target = linked ? linked : path;
    int code = 0;
    int fd = direct ? open(path, O_WRONLY | O_CLOEXEC) : create_beside(target, temporary);
    if (fd < 0 || (!direct && there && fchmod(fd, old.st_mode & 07777) != 0) ||
        write_all(fd, data, size) != 0 || (!direct && fsync(fd) != 0))
        code = fail(error, "write", target);
    if (fd >= 0 && close(fd) != 0 && !code) code = fail(error, "write", target);
    if (!code && !direct && rename(temporary, target) != 0) code = fail(error, "write", target);
    if (code && fd >= 0 && !direct) unlink(temporary);
    free(linked);
    return code;
}

int assay__file_writable(const char *path, struct assay_error *error)
{
    struct stat status;
    char temporary[PATH_MAX];
    bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return assay_error_set(error, ASSAY_EINVAL, "cannot write '%s': it is a folder", path);
    if (there && !S_ISREG(status.st_mode))
        return access(path, W_OK) == 0 ? 0 : fail(error, "write", path);
    char *target = there ? realpath(path, NULL) : NULL; /* through a link, as the writing does */
    int fd = create_beside(target ? target : path, temporary);
    free(target);
    if (fd < 0) return fail(error, "write", path);
    close(fd);
    unlink(temporary);
    return 0;
}

bool assay__file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool assay__is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int assay__path_folder(const char *path, char *out, size_t out_size)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash && slash > path ? (size_t)(slash - path) : 1; /* "/name": the root */
    if (length + 1 > out_size) return ASSAY_ELIMIT;
    memcpy(out, slash ? path : ".", length);
    out[length] = '\0';
    return 0;
}

int assay__path_join(const char *folder, const char *name, char *out, size_t out_size)
{
    size_t length = strlen(folder);
    const char *between = length > 0 && folder[length - 1] == '/' ? "" : "/";
    int written = snprintf(out, out_size, "%s%s%s", folder, between, name);
    return written < 0 || (size_t)written >= out_size ? ASSAY_ELIMIT : 0;
}

/* Never follows a link out of the folder: O_NOFOLLOW and unlinkat only. */
static void remove_entries(int folder, int levels)
{
    int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    if (!entries) {
        if (copy >= 0) close(copy);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(entries))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (unlinkat(folder, entry->d_name, 0) == 0 || levels == 0) continue;
        int below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below < 0) continue;
        remove_entries(below, levels - 1);
        close(below);
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
    closedir(entries);
}

void assay__folder_remove(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    remove_entries(folder, 1);
    close(folder);
    rmdir(path);
}

/* Folders are named assay-PID-HOST-XXXXXX. HOST, a hash of the machine's name, is needed because a
 * temporary folder can be shared between machines or containers, where the same number is a
 * different process. */
static void name_of_process(char *out, size_t out_size, long pid)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1); /* machines without a name share one hash */
    uint32_t hash = 2166136261u;        /* FNV-1a */
    for (const char *at = host; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    snprintf(out, out_size, "assay-%ld-%08lx-", pid, (unsigned long)hash);
}

/* The process that created one of our folders, if it ran on this machine and has ended. */
static bool left_by_dead(const char *name)
{
    char ours[64], *end;
    if (strncmp(name, "assay-", 6) != 0) return false;
    errno = 0;
    long pid = strtol(name + 6, &end, 10);
    if (errno || pid < 1 || pid > INT_MAX || *end != '-') return false;
    name_of_process(ours, sizeof ours, pid);
    size_t length = strlen(ours);
    if (strncmp(name, ours, length) != 0 || strlen(name + length) != 6) return false;
    return kill((pid_t)pid, 0) == -1 && errno == ESRCH;
}

/* Removes what a killed process could not. One pass over the folder; what fails is left for the
 * next run. */
static void remove_left_behind(const char *base)
{
    DIR *entries = opendir(base);
    struct dirent *entry;
    while (entries && (entry = readdir(entries))) {
        char path[PATH_MAX];
        struct stat status;
        if (left_by_dead(entry->d_name) &&
            assay__path_join(base, entry->d_name, path, sizeof path) == 0 &&
            lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid())
            assay__folder_remove(path);
    }
    if (entries) closedir(entries);
}

int assay__folder_temporary(char *out, size_t out_size, struct assay_error *error)
{
    const char *base = getenv("TMPDIR");
    if (!base || base[0] == '\0') base = "/tmp";
    char name[80];
    name_of_process(name, sizeof name - sizeof "XXXXXX", (long)getpid());
    memcpy(name + strlen(name), "XXXXXX", sizeof "XXXXXX");
    if (assay__path_join(base, name, out, out_size))
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the temporary folder is too long");
    remove_left_behind(base);
    if (!mkdtemp(out)) return fail(error, "create a temporary folder like", out);
    return 0;
}

int assay__file_keep(const char *path, const struct assay__buf *text, struct assay_error *error)
{
    char folder[4096], above[4096];
    if (text->failed) return assay__no_memory(error);
    if (assay__path_folder(path, folder, sizeof folder) ||
        assay__path_folder(folder, above, sizeof above))
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the cache folder is too long");
    if ((mkdir(above, 0700) != 0 && errno != EEXIST) ||
        (mkdir(folder, 0700) != 0 && errno != EEXIST))
        return assay_error_set(error, errno == EACCES ? ASSAY_EDENIED : ASSAY_EIO,
                               "cannot create the folder '%s': %s", folder, strerror(errno));
    return assay__file_write(path, assay__buf_text(text), text->length, error);
}
