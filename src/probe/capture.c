/* capture.c - copies what the platform and the probes read into a folder. What is copied stands in
 * one table: a folder, in which a '*' may stand for any name, and the names in it. A reader of a
 * new file adds its row here; the test compares each fixture with its own capture, probe by probe,
 * so a forgotten row shows.
 *
 * No secrets: no environment or command line of any process is in the table, nor serial numbers;
 * the host's name is replaced; of the mounts only the control groups' line is kept; where only the
 * existence of a file counts, it is written empty; names and texts that hold a hardware address (a
 * mouse's, in the name of its battery) are left out. Names of control groups stay as they are.
 *
 * Limits: 1 MiB a file, 32 MiB and 50,000 files in all. Files are opened without blocking. Links
 * are followed: a capture holds plain files and folders only. */
#include "probe/capture.h"

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

enum treatment {
    COPY,
    EMPTY,  /* that it exists is all that counts */
    HOST,   /* the host's name */
    MOUNTS, /* lines of control groups only */
    MODEL,  /* the line of the model only: others name this very card */
    GROUP,  /* the folder is a control group: this one, and those above it */
    ASKED,  /* no file of the system: what was asked in another way, as a file of ours */
};

struct source {
    const char *folder, *names; /* names separated by blanks */
    enum treatment treatment;
};

#define CPU "/sys/devices/system/cpu"
#define CARD "/sys/class/drm/card*"
#define SENSORS "name *_input *_average *_label *_fault"
#define GROUP_FILES                                                                    \
    "cgroup.controllers cpu.stat cpu.max memory.current memory.peak memory.max memory" \
    ".events"

static const struct source sources[] = {
    /* platform: the machine */
    {"/etc", "os-release", COPY},
    {"/usr/lib", "os-release", COPY},
    {"/proc", "cpuinfo meminfo stat loadavg vmstat swaps", COPY},
    {"/proc/sys/kernel", "osrelease arch perf_event_paranoid", COPY},
    {"/proc/sys/kernel", "hostname", HOST},
    {"/proc/device-tree/hypervisor", "compatible", COPY},
    {"/proc/self", "cgroup status smaps_rollup", COPY},
    {"/proc/self", "mountinfo", MOUNTS},
    {"/proc/1", "cgroup", COPY},
    {"", ".dockerenv", EMPTY},
    {"/run", ".containerenv", EMPTY},
    {"/sys/hypervisor", "type", COPY},
    {"/assay", "virtualized", ASKED}, /* the processor names its hypervisor */
    {"/sys/class/dmi/id", "product_name sys_vendor", COPY},
    {CPU, "online possible present", COPY},
    {CPU "/cpu*/topology",
     "physical_package_id core_id die_id cluster_id thread_siblings_list core_cpus thread_siblings "
     "package_cpus core_siblings die_cpus cluster_cpus",
     COPY},
    {CPU "/cpu*/cache/index*",
     "level type size id shared_cpu_list shared_cpu_map coherency_line_size number_of_sets "
     "physical_line_partition",
     COPY},
    {CPU "/cpu*", "cpu_capacity", COPY},
    {"/sys/devices/system/node", "online possible", COPY},
    {"/sys/devices/system/node/node*", "cpumap meminfo distance", COPY},
    {"/sys/devices/cpu_core", "cpus", COPY},
    {"/sys/devices/cpu_atom", "cpus", COPY},
    {CPU "/smt", "active control", COPY},
    {"/sys/bus/event_source/devices/*", "type", COPY},
    {"/sys/bus/event_source/devices/uncore_imc*", "cpumask", COPY},
    {"/sys/bus/event_source/devices/uncore_imc*/events", "*", COPY},
    {"/sys/bus/event_source/devices/uncore_imc*/format", "*", COPY},
    /* probes */
    {CPU "/cpu*/cpufreq",
     "base_frequency cpuinfo_max_freq cpuinfo_min_freq scaling_cur_freq scaling_min_freq "
     "scaling_max_freq scaling_governor scaling_available_governors scaling_driver",
     COPY},
    {CPU "/intel_pstate", "no_turbo status", COPY},
    {CPU "/cpufreq", "boost", COPY},
    {CPU "/cpu*/thermal_throttle", "core_throttle_count package_throttle_count", COPY},
    {"/proc/pressure", "*", COPY},
    {"", GROUP_FILES, GROUP}, /* the folder is asked from the probe */
    {"/sys/fs/cgroup", GROUP_FILES, COPY},
    {"/sys/fs/cgroup/cpu", "cpu.stat cpu.cfs_quota_us cpu.cfs_period_us", COPY},
    {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", COPY},
    {"/sys/class/powercap/intel-rapl*", "name enabled energy_uj max_energy_range_uj", COPY},
    {"/sys/class/hwmon/hwmon*", SENSORS, COPY},
    {"/sys/class/thermal/*", "type temp cur_state max_state", COPY},
    {"/sys/class/power_supply/*",
     "type scope present online status power_now current_now voltage_now", COPY},
    {"/proc/driver/nvidia/gpus/*", "information", MODEL},
    {CARD "/device",
     "vendor device uevent product_name gpu_busy_percent mem_busy_percent mem_info_vram_used "
     "mem_info_vram_total mem_info_gtt_used pp_dpm_sclk pp_dpm_mclk",
     COPY},
    {CARD "/device/hwmon/hwmon*", SENSORS, COPY},
    {CARD, "gt_act_freq_mhz", COPY},
    {CARD "/power", "rc6_residency_ms", COPY},
    {CARD "/gt/gt*", "rps_act_freq_mhz rc6_residency_ms", COPY},
    {CARD "/device/tile*/gt*/freq0", "act_freq", COPY},
    {CARD "/device/tile*/gt*/gtidle", "idle_residency_ms", COPY},
    {"/sys/bus/pci/devices/*", "class vendor device uevent", COPY},
    {"/sys/class/accel/*/device",
     "vendor device uevent npu_busy_time_us npu_current_frequency_mhz npu_max_frequency_mhz "
     "npu_memory_utilization clk_cur_freq_mhz",
     COPY},
};
#define SOURCES (sizeof sources / sizeof sources[0])

struct writer {
    struct assay__arena *arena; /* of the result */
    struct assay__arena *names; /* of folder listings */
    struct assay__capture *capture;
    const char *folder, *root;
    const struct source *source;
    char *text; /* FILE_MOST + 1 bytes */
    struct assay_error *error;
    int code; /* the first failure to write ends it */
};

/* --- what is left out ------------------------------------------------------------------------- */

static void fault(struct writer *w, const char *path, const char *reason)
{
    struct assay__capture *capture = w->capture;
    if (capture->fault_count >= FAULTS_MOST) {
        capture->faults_left_out++;
        return;
    }
    const char *kept = assay__arena_strdup(w->arena, path);
    const char *why = assay__arena_strdup(w->arena, reason);
    if (!kept || !why) {
        w->code = assay_error_set(w->error, ASSAY_ENOMEM, "out of memory");
        return;
    }
    capture->faults[capture->fault_count++] = (struct assay__capture_fault){kept, why};
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

/* mountinfo: the file system is cgroup2. */
static bool is_group(const char *line)
{
    return strstr(line, " - cgroup2 ") != NULL;
}

static bool is_model(const char *line)
{
    return strncmp(line, "Model:", 6) == 0;
}

/* Keeps the lines that are wanted. */
static size_t keep_lines(char *text, bool (*wanted)(const char *line))
{
    char *to = text;
    for (char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        length += line[length] == '\n';
        char saved = line[length];
        line[length] = '\0';
        bool kept = wanted(line);
        line[length] = saved;
        if (kept) memmove(to, line, length);
        if (kept) to += length;
        line += length;
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* --- reading and writing ---------------------------------------------------------------------- */

/* The file's bytes into w->text; -1 when it is not there, not a plain file or cannot be read (then
 * a fault). */
static ssize_t read_source(struct writer *w, const char *path, bool *is_folder)
{
    char full[PATH_MAX];
    struct stat about;
    size_t length = 0;
    int size = snprintf(full, sizeof full, "%s%s", w->root, path);
    if (size < 0 || (size_t)size >= sizeof full) return -1;
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
    if (length == FILE_MOST) fault(w, path, "cut at 1 MiB");
    w->text[length] = '\0';
    return (ssize_t)length;
}

static int fail(struct writer *w, const char *path)
{
    int number = errno;
    w->code = assay_error_set(w->error, number == EACCES ? ASSAY_EDENIED : ASSAY_EIO,
                              "cannot write '%s': %s", path, strerror(number));
    return w->code;
}

/* Makes every folder on the way to `full` (a file's path below w->folder). */
static int make_folders(struct writer *w, char *full)
{
    for (char *slash = full + strlen(w->folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        int made = mkdir(full, 0755);
        if (made && errno != EEXIST) return fail(w, full);
        *slash = '/';
    }
    return 0;
}

static void write_target(struct writer *w, const char *path, const char *data, size_t size)
{
    char full[PATH_MAX];
    int length = snprintf(full, sizeof full, "%s%s", w->folder, path);
    if (length < 0 || (size_t)length >= sizeof full) {
        fault(w, path, "the path is too long");
        return;
    }
    if (make_folders(w, full)) return;
    int fd = open(full, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST) return; /* two rows may meet */
    if (fd < 0) {
        fail(w, full);
        return;
    }
    for (size_t done = 0; done < size;) {
        ssize_t written = write(fd, data + done, size - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            fail(w, full);
            close(fd);
            return;
        }
        done += (size_t)written;
    }
    if (close(fd)) {
        fail(w, full);
        return;
    }
    w->capture->files++;
    w->capture->bytes += size;
}

/* A folder where a file should be is kept as one: it is what a reader will meet. */
static void write_folder(struct writer *w, const char *path)
{
    char full[PATH_MAX];
    int length = snprintf(full, sizeof full, "%s%s/", w->folder, path);
    if (length > 0 && (size_t)length < sizeof full) make_folders(w, full);
}

static void copy_file(struct writer *w, const char *path)
{
    bool is_folder = false;
    if (w->code) return;
    if (w->capture->files >= FILES_MOST || w->capture->bytes >= BYTES_MOST) {
        fault(w, path, "left out: the capture is full");
        return;
    }
    ssize_t length = read_source(w, path, &is_folder);
    if (is_folder) write_folder(w, path);
    if (length < 0) return;
    if (w->source->treatment == EMPTY) {
        length = 0;
    } else if (w->source->treatment == HOST) {
        write_target(w, path, HOST_NAME, sizeof HOST_NAME - 1);
        return;
    } else if (w->source->treatment == MOUNTS) {
        length = (ssize_t)keep_lines(w->text, is_group);
    } else if (w->source->treatment == MODEL) {
        length = (ssize_t)keep_lines(w->text, is_model);
    } else if (length < 256 && holds_address(w->text)) {
        fault(w, path, "left out: it holds a hardware address");
        return;
    }
    write_target(w, path, w->text, (size_t)length);
}

/* --- patterns --------------------------------------------------------------------------------- */

/* The names of a row below one real folder. */
static void copy_names(struct writer *w, const char *folder)
{
    char path[PATH_MAX], name[256];
    for (const char *at = w->source->names; *at && !w->code;) {
        size_t length = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + strspn(at + length, " ");
        if (!strchr(name, '*')) {
            int size = snprintf(path, sizeof path, "%s/%s", folder, name);
            if (size > 0 && (size_t)size < sizeof path) copy_file(w, path);
            continue;
        }
        const char **entries = assay__sysfs_list(w->names, folder, "");
        for (; entries && *entries; entries++) {
            if (fnmatch(name, *entries, 0) != 0) continue;
            int size = snprintf(path, sizeof path, "%s/%s", folder, *entries);
            if (size > 0 && (size_t)size < sizeof path) copy_file(w, path);
        }
    }
}

/* Walks the folders that match: `done` is real, `rest` is what is left of the pattern ("" or "/…").
 * The depth is that of the table's patterns. */
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
        int size = snprintf(path, sizeof path, "%s/%s", done, part);
        if (size > 0 && (size_t)size < sizeof path) walk(w, path, rest);
        return;
    }
    const char **entries = assay__sysfs_list(w->names, *done ? done : "/", "");
    for (; entries && *entries; entries++) {
        if (fnmatch(part, *entries, 0) != 0) continue;
        int size = snprintf(path, sizeof path, "%s/%s", done, *entries);
        if (size < 0 || (size_t)size >= sizeof path) continue;
        if (holds_address(*entries))
            fault(w, done, "an entry was left out: its name holds a hardware address");
        else
            walk(w, path, rest);
    }
}

/* The probe knows where the group is: its channels name their files. The groups above may hold the
 * limits. */
static void walk_groups(struct writer *w)
{
    struct assay__probe *probe = NULL;
    const struct assay__channel *channels;
    char folder[PATH_MAX];
    if (assay__probe_cgroup.open(w->names, &probe, NULL)) return;
    size_t count = assay__probe_cgroup.channels(probe, &channels);
    /* each channel's own group or one above it: the longest is the process's own */
    folder[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *source = channels[i].source;
        const char *end = source ? strrchr(source, '/') : NULL;
        if (end && (size_t)(end - source) > strlen(folder) && end - source < PATH_MAX)
            snprintf(folder, sizeof folder, "%.*s", (int)(end - source), source);
    }
    assay__probe_cgroup.close(probe);
    while (folder[0] == '/' && !w->code) {
        copy_names(w, folder);
        *strrchr(folder, '/') = '\0';
    }
}

/* The machine's own word of what it runs on, which is in no file; a capture of a capture copies
 * it. */
static void write_asked(struct writer *w)
{
    struct assay__machine machine;
    if (w->root[0]) {
        walk(w, "", w->source->folder);
        return;
    }
    if (!w->capture->files || assay__machine_read(w->names, &machine)) return;
    const char *text = assay__arena_printf(w->names, "%s\n", machine.virtualized);
    if (text && machine.virtualized[0]) write_target(w, "/assay/virtualized", text, strlen(text));
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
                               "cannot make the folder '%s': %s", folder,
                               number == EEXIST ? "something else has that name"
                                                : strerror(number));
    while (empty && (entry = readdir(dir)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(dir);
    if (empty) return 0;
    return assay_error_set(error, ASSAY_EINVAL, "'%s' is not empty: a capture needs a new folder",
                           folder);
}

/* Neighbouring rows of one folder count together. */
static void add_group(struct assay__capture *capture, const struct source *source, size_t files)
{
    const char *what = source->treatment == GROUP ? "the control group of this process"
                       : *source->folder          ? source->folder
                                                  : "/";
    struct assay__capture_group *last = capture->groups + capture->group_count;
    if (capture->group_count && strcmp(last[-1].what, what) == 0)
        last[-1].files += files;
    else
        capture->groups[capture->group_count++] = (struct assay__capture_group){what, files};
}

static void copy_sources(struct writer *w)
{
    for (size_t i = 0; i < SOURCES && !w->code; i++) {
        size_t before = w->capture->files;
        w->source = &sources[i];
        w->names = assay__arena_new();
        if (!w->names) {
            w->code = assay_error_set(w->error, ASSAY_ENOMEM, "out of memory");
            return;
        }
        if (w->source->treatment == GROUP)
            walk_groups(w);
        else if (w->source->treatment == ASKED)
            write_asked(w);
        else
            walk(w, "", w->source->folder);
        assay__arena_free(w->names);
        if (w->capture->files == before) continue;
        add_group(w->capture, w->source, w->capture->files - before);
    }
}

int assay__capture_write(struct assay__arena *arena, const char *folder,
                         struct assay__capture *capture, struct assay_error *error)
{
    const char *root = getenv("ASSAY_FSROOT");
    struct writer w = {.arena = arena,
                       .capture = capture,
                       .folder = folder,
                       .root = root ? root : "",
                       .error = error};
    *capture = (struct assay__capture){0};
    int code = prepare_folder(folder, error);
    if (code) return code;
    capture->groups = assay__arena_array(arena, SOURCES, sizeof *capture->groups);
    capture->faults = assay__arena_array(arena, FAULTS_MOST, sizeof *capture->faults);
    w.text = malloc(FILE_MOST + 1);
    if (!capture->groups || !capture->faults || !w.text)
        w.code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    else
        copy_sources(&w);
    free(w.text);
    if (!w.code && !capture->files)
        w.code = assay_error_set(error, ASSAY_EUNSUPPORTED,
                                 "nothing to capture: this system has no /proc and /sys");
    return w.code;
}
