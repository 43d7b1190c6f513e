/* capture.c - copies what the platform and the probes read into a folder. A probe lists its files
 * in its operations; the table here lists those of the machine: a folder, in which a '*' matches
 * any name, and the names in it. The test compares each fixture with its own capture, probe by
 * probe, so a forgotten row is noticed.
 *
 * No secrets: no environment or command line of any process is in the table, nor serial numbers;
 * the host's name is replaced; of the mounts only the line of the control groups is kept; a file of
 * which only the existence matters is written empty; names and texts that contain a hardware
 * address (that of a mouse, in the name of its battery) are left out. Names of control groups are
 * not changed.
 *
 * Limits: 1 MiB per file, 32 MiB and 50,000 files in total. Files are opened without blocking.
 * Links are followed: a capture contains only plain files and folders. */
#include "probe/capture.h"

#include "base/no_memory.h"
#include "platform/platform.h"
#include "probe/probes.h"
#include "probe/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST ((size_t)1 << 20)
#define BYTES_MOST ((uint64_t)32 << 20)
#define FILES_MOST 50000
#define FAULTS_MOST 200
#define HOST_NAME "captured\n"

#define CPU "/sys/devices/system/cpu"

/* What the platform and the list of hardware read. A probe lists its files in its operations. */
static const struct assay__capture_files machine_files[] = {
    {"/etc", "os-release", ASSAY__CAPTURE_COPY},
    {"/usr/lib", "os-release", ASSAY__CAPTURE_COPY},
    {"/proc", "cpuinfo meminfo stat loadavg vmstat swaps", ASSAY__CAPTURE_COPY},
    {"/proc/sys/kernel", "osrelease arch perf_event_paranoid", ASSAY__CAPTURE_COPY},
    {"/proc/sys/kernel", "hostname", ASSAY__CAPTURE_HOST},
    {"/proc/device-tree/hypervisor", "compatible", ASSAY__CAPTURE_COPY},
    {"/proc/device-tree", "compatible", ASSAY__CAPTURE_COPY},
    {"/proc/self", "cgroup status smaps_rollup", ASSAY__CAPTURE_COPY},
    {"/proc/self", "mountinfo", ASSAY__CAPTURE_MOUNTS},
    {"/proc/1", "cgroup", ASSAY__CAPTURE_COPY},
    {"", ".dockerenv", ASSAY__CAPTURE_EMPTY},
    {"/run", ".containerenv", ASSAY__CAPTURE_EMPTY},
    {"/sys/hypervisor", "type", ASSAY__CAPTURE_COPY},
    {"/assay", "virtualized", ASSAY__CAPTURE_ASKED}, /* the processor names its hypervisor */
    {"/sys/class/dmi/id", "product_name sys_vendor", ASSAY__CAPTURE_COPY},
    {CPU, "online possible present", ASSAY__CAPTURE_COPY},
    {CPU "/cpu*/topology",
     "physical_package_id core_id die_id cluster_id thread_siblings_list core_cpus thread_siblings "
     "package_cpus core_siblings die_cpus cluster_cpus",
     ASSAY__CAPTURE_COPY},
    {CPU "/cpu*/cache/index*",
     "level type size id shared_cpu_list shared_cpu_map coherency_line_size number_of_sets "
     "physical_line_partition",
     ASSAY__CAPTURE_COPY},
    {CPU "/cpu*", "cpu_capacity", ASSAY__CAPTURE_COPY},
    {"/sys/devices/system/node", "online possible", ASSAY__CAPTURE_COPY},
    {"/sys/devices/system/node/node*", "cpumap meminfo distance", ASSAY__CAPTURE_COPY},
    {"/sys/devices/cpu_core", "cpus", ASSAY__CAPTURE_COPY},
    {"/sys/devices/cpu_atom", "cpus", ASSAY__CAPTURE_COPY},
    {CPU "/smt", "active control", ASSAY__CAPTURE_COPY},
    {CPU "/cpu*/thermal_throttle", "core_throttle_count package_throttle_count",
     ASSAY__CAPTURE_COPY},
    {"/proc/driver/nvidia/gpus/*", "information", ASSAY__CAPTURE_MODEL},
    {"/sys/bus/pci/devices/*", "class vendor device uevent", ASSAY__CAPTURE_COPY},
    {NULL, NULL, ASSAY__CAPTURE_COPY},
};

struct writer {
    struct assay__arena *arena; /* of the result */
    struct assay__arena *names; /* of folder listings */
    struct assay__capture *capture;
    const char *folder, *root;
    const struct assay__capture_files *files; /* the row */
    const struct assay__probe_ops *ops;       /* the probe whose row it is; NULL: the machine's */
    char *text;                               /* FILE_MOST + 1 bytes */
    struct assay_error *error;
    int code; /* the first failure to write ends it */
};

static bool join(char out[PATH_MAX], const char *first, const char *between, const char *second)
{
    int length = snprintf(out, PATH_MAX, "%s%s%s", first, between, second);
    return length >= 0 && length < PATH_MAX;
}

/* --- what is left out ------------------------------------------------------------------------- */

static void fault(struct writer *w, const char *path, const char *reason)
{
    struct assay__capture *capture = w->capture;
    if (capture->fault_count >= FAULTS_MOST) {
        capture->faults_left_out++;
        return;
    }
    capture->faults[capture->fault_count++] = (struct assay__capture_fault){
        assay__arena_text(w->arena, "%s", path), assay__arena_text(w->arena, "%s", reason)};
}

/* Six pairs of hexadecimal digits with one separator between them: a network or Bluetooth
 * address. */
static bool holds_address(const char *text)
{
    for (; *text; text++) {
        int pairs = 0;
        const char *at = text;
        while (isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1])) {
            at += 2;
            if (++pairs == 6 && !isxdigit((unsigned char)*at)) return true;
            if (*at != ':' && *at != '-' && *at != '_') break;
            at++;
        }
    }
    return false;
}

/* Keeps only the lines that are needed: for mounts those of control groups (version 2), else that
 * of the model. */
static size_t keep_lines(char *text, bool mounts)
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        bool kept = mounts ? memmem(line, length, " - cgroup2 ", 11) != NULL
                           : strncmp(line, "Model:", 6) == 0;
        if (kept) memmove(to, line, length);
        if (kept) to += length;
        line += length;
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* --- reading and writing ---------------------------------------------------------------------- */

/* The file's bytes into w->text; -1 if it does not exist, is not a plain file or cannot be read
 * (then a fault). */
static ssize_t read_source(struct writer *w, const char *path, bool *is_folder)
{
    char full[PATH_MAX];
    struct stat about;
    size_t length = 0;
    if (!join(full, w->root, "", path)) return -1;
    int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        if (errno != ENOENT && errno != ENOTDIR && errno != ENXIO && errno != ENODEV)
            fault(w, path, strerror(errno));
        return -1;
    }
    bool known = fstat(fd, &about) == 0;
    *is_folder = known && S_ISDIR(about.st_mode);
    ssize_t got = known && S_ISREG(about.st_mode) ? 0 : -2;
    while (got >= 0 && length < FILE_MOST) {
        got = read(fd, w->text + length, FILE_MOST - length);
        if (got < 0 && errno == EINTR)
            got = 0;
        else if (got <= 0)
            break;
        length += (size_t)got;
    }
    int number = errno;
    close(fd);
    if (got == -1) fault(w, path, strerror(number));
    if (got < 0) return -1;
    if (length == FILE_MOST) fault(w, path, "truncated at 1 MiB");
    w->text[length] = '\0';
    return (ssize_t)length;
}

static void fail(struct writer *w, const char *path)
{
    int number = errno;
    w->code = assay_error_set(w->error, number == EACCES ? ASSAY_EDENIED : ASSAY_EIO,
                              "cannot write '%s': %s", path, strerror(number));
}

/* Creates every folder on the path to `full` (a file's path below w->folder). */
static bool make_folders(struct writer *w, char *full)
{
    for (char *slash = full + strlen(w->folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(full, 0755) && errno != EEXIST) {
            fail(w, full);
            return false;
        }
        *slash = '/';
    }
    return true;
}

static void write_target(struct writer *w, const char *path, const char *data, size_t size)
{
    char full[PATH_MAX];
    size_t done = 0;
    if (!join(full, w->folder, "", path)) {
        fault(w, path, "the path is too long");
        return;
    }
    if (!make_folders(w, full)) return;
    int fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST) return; /* two rows may meet */
    while (fd >= 0 && done < size) {
        ssize_t written = write(fd, data + done, size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        done += (size_t)written;
    }
    if (fd < 0 || done < size) fail(w, full);
    if (fd >= 0 && close(fd) && !w->code) fail(w, full);
    if (w->code) return;
    w->capture->files++;
    w->capture->bytes += size;
}

static void copy_file(struct writer *w, const char *path)
{
    bool is_folder = false;
    char full[PATH_MAX];
    if (w->code) return;
    if (w->capture->files >= FILES_MOST || w->capture->bytes >= BYTES_MOST) {
        fault(w, path, "left out: the capture is full");
        return;
    }
    ssize_t length = read_source(w, path, &is_folder);
    /* A folder in the place of a file is kept as a folder: a reader will find the same. */
    if (is_folder && join(full, w->folder, path, "/")) make_folders(w, full);
    if (length < 0) return;
    switch (w->files->as) {
    case ASSAY__CAPTURE_EMPTY: length = 0; break;
    case ASSAY__CAPTURE_HOST:
        length = sizeof HOST_NAME - 1;
        memcpy(w->text, HOST_NAME, sizeof HOST_NAME);
        break;
    case ASSAY__CAPTURE_MOUNTS: length = (ssize_t)keep_lines(w->text, true); break;
    case ASSAY__CAPTURE_MODEL: length = (ssize_t)keep_lines(w->text, false); break;
    default:
        if (length >= 256 || !holds_address(w->text)) break;
        fault(w, path, "left out: it contains a hardware address");
        return;
    }
    write_target(w, path, w->text, (size_t)length);
}

/* --- patterns --------------------------------------------------------------------------------- */

/* The names of a row below one real folder. */
static void copy_names(struct writer *w, const char *folder)
{
    char path[PATH_MAX], name[256];
    for (const char *at = w->files->names; *at && !w->code;) {
        size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + strspn(at + length, " ");
        if (!strchr(name, '*')) {
            if (join(path, folder, "/", name)) copy_file(w, path);
            continue;
        }
        const char **entries = assay__sysfs_list(w->names, folder, "");
        for (; entries && *entries; entries++)
            if (fnmatch(name, *entries, 0) == 0 && join(path, folder, "/", *entries))
                copy_file(w, path);
    }
}

/* Walks the folders that match: `done` exists, `rest` is the remainder of the pattern ("" or "/…").
 * The depth is that of the patterns. */
static void walk(struct writer *w, const char *done, const char *rest)
{
    char path[PATH_MAX], part[256];
    if (w->code) return;
    if (!*rest) {
        copy_names(w, done);
        return;
    }
    size_t length = strcspn(rest + 1, "/");
    snprintf(part, sizeof part, "%.*s", (int)length, rest + 1);
    rest += 1 + length;
    if (!strchr(part, '*')) {
        if (join(path, done, "/", part)) walk(w, path, rest);
        return;
    }
    const char **entries = assay__sysfs_list(w->names, *done ? done : "/", "");
    for (; entries && *entries; entries++) {
        if (fnmatch(part, *entries, 0) != 0 || !join(path, done, "/", *entries)) continue;
        if (holds_address(*entries))
            fault(w, done, "an entry was left out: its name contains a hardware address");
        else
            walk(w, path, rest);
    }
}

/* The channels of the probe name its files: the longest folder of a channel and those above it (for
 * a control group, whose limits may be set further up). */
static void walk_channels(struct writer *w)
{
    struct assay__probe *probe = NULL;
    const struct assay__channel *channels;
    char folder[PATH_MAX] = "";
    if (w->ops->open(w->names, &probe, NULL)) return;
    size_t count = w->ops->channels(probe, &channels);
    for (size_t i = 0; i < count; i++) {
        const char *source = channels[i].source;
        const char *end = source ? strrchr(source, '/') : NULL;
        if (end && (size_t)(end - source) > strlen(folder) && end - source < PATH_MAX)
            snprintf(folder, sizeof folder, "%.*s", (int)(end - source), source);
    }
    w->ops->close(probe);
    while (folder[0] == '/' && !w->code) {
        copy_names(w, folder);
        *strrchr(folder, '/') = '\0';
    }
}

/* What the machine runs on, which is in no file; a capture of a capture copies it. */
static void write_asked(struct writer *w)
{
    struct assay__machine machine;
    if (w->root[0]) {
        walk(w, "", w->files->folder);
        return;
    }
    if (!w->capture->files || assay__machine_read(w->names, &machine)) return;
    const char *text = assay__arena_text(w->names, "%s\n", machine.virtualized);
    if (machine.virtualized[0]) write_target(w, "/assay/virtualized", text, strlen(text));
}

/* --- the whole -------------------------------------------------------------------------------- */

static int prepare_folder(const char *folder, struct assay_error *error)
{
    struct dirent *entry;
    bool empty = true;
    if (!*folder) return assay_error_set(error, ASSAY_EINVAL, "the folder has no name");
    if (mkdir(folder, 0755) == 0) return 0;
    int number = errno;
    DIR *dir = number == EEXIST ? opendir(folder) : NULL;
    if (!dir)
        return assay_error_set(error, number == EACCES ? ASSAY_EDENIED : ASSAY_EINVAL,
                               "cannot create the folder '%s': %s", folder,
                               number == EEXIST ? "something else already has that name"
                                                : strerror(number));
    while (empty && (entry = readdir(dir)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(dir);
    if (empty) return 0;
    return assay_error_set(error, ASSAY_EINVAL, "'%s' is not empty: a capture needs a new folder",
                           folder);
}

/* The rows of one reader; NULL: it has none. */
static void copy_rows(struct writer *w, const struct assay__probe_ops *ops,
                      const struct assay__capture_files *rows)
{
    w->ops = ops;
    for (w->files = rows; w->files && w->files->names && !w->code; w->files++) {
        size_t before = w->capture->files;
        w->names = assay__arena_new();
        if (!w->names) {
            w->code = assay__no_memory(w->error);
            return;
        }
        if (w->files->as == ASSAY__CAPTURE_CHANNELS)
            walk_channels(w);
        else if (w->files->as == ASSAY__CAPTURE_ASKED)
            write_asked(w);
        else
            walk(w, "", w->files->folder);
        assay__arena_free(w->names);
        if (w->capture->files == before) continue;
        const char *what = *w->files->folder ? w->files->folder : "/";
        struct assay__capture_group *end = w->capture->groups + w->capture->group_count;
        bool same = w->capture->group_count && strcmp(end[-1].what, what) == 0;
        if (same) /* adjacent rows of one folder are counted together */
            end[-1].files += w->capture->files - before;
        else
            end[0] = (struct assay__capture_group){what, w->capture->files - before};
        w->capture->group_count += !same;
    }
}

static size_t row_count(const struct assay__capture_files *rows)
{
    size_t count = 0;
    while (rows && rows[count].names)
        count++;
    return count;
}

int assay__capture_write(struct assay__arena *arena, const char *folder,
                         struct assay__capture *capture, struct assay_error *error)
{
    struct writer w = {.arena = arena,
                       .capture = capture,
                       .folder = folder,
                       .root = assay__fs_root(),
                       .error = error};
    *capture = (struct assay__capture){0};
    int code = prepare_folder(folder, error);
    if (code) return code;
    size_t rows = row_count(machine_files);
    for (size_t i = 0; assay__probe_at(i); i++)
        rows += row_count(assay__probe_at(i)->files);
    capture->groups = assay__arena_array(arena, rows, sizeof *capture->groups);
    capture->faults = assay__arena_array(arena, FAULTS_MOST, sizeof *capture->faults);
    w.text = malloc(FILE_MOST + 1);
    if (!capture->groups || !capture->faults || !w.text)
        w.code = assay__no_memory(error);
    else
        copy_rows(&w, NULL, machine_files);
    for (size_t i = 0; assay__probe_at(i) && !w.code; i++)
        copy_rows(&w, assay__probe_at(i), assay__probe_at(i)->files);
    free(w.text);
    if (!w.code && assay__arena_failed(arena)) w.code = assay__no_memory(error);
    if (!w.code && !capture->files)
        w.code = assay_error_set(error, ASSAY_EUNSUPPORTED,
                                 "nothing to capture: this system has no /proc and /sys");
    return w.code;
}
