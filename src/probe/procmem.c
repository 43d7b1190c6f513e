/* procmem.c - memory of one process: resident memory from /proc/PID/statm (its second number, in
 * pages), page faults and threads from /proc/PID/stat (fields 10, 12 and 20; the name in field 2
 * may hold blanks and brackets, so fields count from the last ')'). The proportional set size, in
 * which a page shared by n processes counts 1/n, comes from /proc/PID/smaps_rollup; the kernel
 * walks all page tables of the process for it, which takes about a millisecond per 100 MB and holds
 * its memory map meanwhile. It is a separate probe, so that it can be read less often. Page
 * faults: minor ones need no disk.
 *
 * Below $ASSAY_FSROOT a process of this machine is not to be looked for: without a target there,
 * both are unavailable. Sources: proc(5), the kernel's Documentation/filesystems/proc.rst. */
#include "probe/procmem.h"

#include "probe/file_channels.h"
#include "probe/live.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define PAGE_OF_FIXTURES 4096

static _Atomic(pid_t) target_process;

void assay__procmem_target(pid_t process)
{
    atomic_store(&target_process, process);
}

/* The n-th number of a line of numbers, from 1. */
static bool number_at(const char *text, int n, double *value, const char **reason)
{
    for (int i = 1; i < n; i++) {
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return assay__sysfs_leading(text, value, reason);
}

static bool resident(const struct assay__files_channel *channel, double *value, const char **reason)
{
    double size;
    if (!number_at(channel->files[0]->text, 1, &size, reason) ||
        !number_at(channel->files[0]->text, 2, value, reason))
        return false;
    *reason = "no memory at all: the process has ended";
    if (size == 0) return false;
    *reason = "";
    *value *= channel->scale;
    return true;
}

/* The field of /proc/PID/stat whose number the key holds: "20". */
static bool stat_field(const struct assay__files_channel *channel, double *value,
                       const char **reason)
{
    const char *end = strrchr(channel->files[0]->text, ')');
    *reason = "not the line of a process";
    if (!end || end[1] != ' ') return false;
    int field = (channel->key[0] - '0') * 10 + (channel->key[1] - '0');
    return number_at(end + 2, field - 2, value, reason); /* field 3 is the first one behind it */
}

static bool proportional(const struct assay__files_channel *channel, double *value,
                         const char **reason)
{
    const char *at = assay__sysfs_field(channel->files[0]->text, "Pss");
    *reason = "this kernel does not report it";
    if (!at) return false;
    if (!assay__sysfs_leading(at, value, reason)) return false;
    *value *= 1024;
    return true;
}

/* The folder of the process, or why it cannot be read. */
static const char *folder_of(struct assay__arena *arena, const char **refused)
{
    pid_t process = atomic_load(&target_process);
    *refused = process > 0 ? NULL : assay__live_refused();
    return process > 0 ? assay__arena_printf(arena, "/proc/%ld", (long)process)
                       : assay__arena_strdup(arena, "/proc/self");
}

static double page_bytes(void)
{
    long bytes = assay__live_refused() ? PAGE_OF_FIXTURES : sysconf(_SC_PAGESIZE);
    return bytes > 0 ? (double)bytes : PAGE_OF_FIXTURES;
}

struct row {
    const char *name, *file, *source;
    struct assay__files_kind as;
};

static int open_rows(struct assay__arena *arena, struct assay__probe **probe,
                     const struct row *rows, size_t count, struct assay_error *error)
{
    const char *refused, *folder = folder_of(arena, &refused);
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    for (size_t i = 0; i < count; i++) {
        const char *path = assay__arena_printf(arena, "%s/%s", folder ? folder : "", rows[i].file);
        const struct assay__files_spec spec = {.name = rows[i].name,
                                               .as = rows[i].as,
                                               .path = path,
                                               .source = rows[i].source,
                                               .reason = folder && path ? refused
                                                                        : "out of memory"};
        assay__files_add(*probe, &spec);
    }
    return assay__files_end(probe, NULL, error);
}

static int process_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    const struct row rows[] = {
        {"memory.rss",
         "statm",
         "/proc/PID/statm",
         {"memory", "B", ASSAY__CHANNEL_GAUGE, page_bytes(), resident, NULL, 128}},
        {"faults.minor",
         "stat",
         "/proc/PID/stat",
         {"count", "1", ASSAY__CHANNEL_COUNTER, 1, stat_field, "10", 1024}},
        {"faults.major",
         "stat",
         "/proc/PID/stat",
         {"count", "1", ASSAY__CHANNEL_COUNTER, 1, stat_field, "12", 1024}},
        {"threads",
         "stat",
         "/proc/PID/stat",
         {"count", "1", ASSAY__CHANNEL_GAUGE, 1, stat_field, "20", 1024}},
    };
    return open_rows(arena, probe, rows, sizeof rows / sizeof rows[0], error);
}

static int pss_open(struct assay__arena *arena, struct assay__probe **probe,
                    struct assay_error *error)
{
    static const struct row row = {
        "memory.pss",
        "smaps_rollup",
        "/proc/PID/smaps_rollup",
        {"memory", "B", ASSAY__CHANNEL_GAUGE, 1, proportional, NULL, 2048}};
    return open_rows(arena, probe, &row, 1, error);
}

const struct assay__probe_ops assay__probe_process = {
    .name = "process",
    .summary = "resident memory, page faults and threads of a process",
    .open = process_open,
    ASSAY__FILES_OPS,
};

const struct assay__probe_ops assay__probe_process_pss = {
    .name = "process-pss",
    .summary = "proportional set size of a process",
    .open = pss_open,
    ASSAY__FILES_OPS,
};
