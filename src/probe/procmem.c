/* procmem.c - memory of one process: resident memory from /proc/PID/statm (its second number, in
 * pages), page faults and threads from /proc/PID/stat (fields 10, 12 and 20; the name in field 2
 * may hold blanks and brackets, so fields count from the last ')'). The proportional set size, in
 * which a page shared by n processes counts 1/n, comes from /proc/PID/smaps_rollup; the kernel
 * walks all page tables of the process for it, which takes about a millisecond per 100 MB and holds
 * its memory map meanwhile. It is a probe of its own, so that it can be read less often. Page
 * faults: minor ones need no disk.
 *
 * Below $ASSAY_FSROOT a process of this machine is not to be looked for: without a target there,
 * both are unavailable. Sources: proc(5), the kernel's Documentation/filesystems/proc.rst. */
#include "probe/procmem.h"

#include "probe/file_channels.h"
#include "probe/live.h"
#include "probe/probes.h"

#include <stdatomic.h>
#include <stdlib.h>
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
    *reason = "this kernel does not tell it";
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

static int process_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    const char *refused, *folder = folder_of(arena, &refused);
    const char *statm = folder ? assay__arena_printf(arena, "%s/statm", folder) : NULL,
               *stat = folder ? assay__arena_printf(arena, "%s/stat", folder) : NULL;
    if (!statm || !stat) return assay_error_set(error, ASSAY_ENOMEM, "no memory for a probe");
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    const struct assay__files_spec specs[] = {
        {.name = "memory.rss",
         .quantity = "memory",
         .unit = "B",
         .kind = ASSAY__CHANNEL_GAUGE,
         .path = statm,
         .source = "/proc/PID/statm",
         .compute = resident,
         .scale = page_bytes(),
         .size = 128,
         .reason = refused},
        {.name = "faults.minor",
         .quantity = "count",
         .unit = "1",
         .kind = ASSAY__CHANNEL_COUNTER,
         .path = stat,
         .source = "/proc/PID/stat",
         .compute = stat_field,
         .key = "10",
         .size = 1024,
         .reason = refused},
        {.name = "faults.major",
         .quantity = "count",
         .unit = "1",
         .kind = ASSAY__CHANNEL_COUNTER,
         .path = stat,
         .source = "/proc/PID/stat",
         .compute = stat_field,
         .key = "12",
         .size = 1024,
         .reason = refused},
        {.name = "threads",
         .quantity = "count",
         .unit = "1",
         .kind = ASSAY__CHANNEL_GAUGE,
         .path = stat,
         .source = "/proc/PID/stat",
         .compute = stat_field,
         .key = "20",
         .size = 1024,
         .reason = refused},
    };
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        assay__files_add(*probe, &specs[i]);
    return assay__files_end(probe, NULL, error);
}

static int pss_open(struct assay__arena *arena, struct assay__probe **probe,
                    struct assay_error *error)
{
    const char *refused, *folder = folder_of(arena, &refused);
    const char *path = folder ? assay__arena_printf(arena, "%s/smaps_rollup", folder) : NULL;
    if (!path) return assay_error_set(error, ASSAY_ENOMEM, "no memory for a probe");
    int code = assay__files_new(arena, probe, error);
    if (code) return code;
    assay__files_add(*probe, &(struct assay__files_spec){.name = "memory.pss",
                                                         .quantity = "memory",
                                                         .unit = "B",
                                                         .kind = ASSAY__CHANNEL_GAUGE,
                                                         .path = path,
                                                         .source = "/proc/PID/smaps_rollup",
                                                         .compute = proportional,
                                                         .size = 2048,
                                                         .reason = refused});
    return assay__files_end(probe, NULL, error);
}

const struct assay__probe_ops assay__probe_process = {
    .name = "process",
    .summary = "resident memory, page faults and threads of a process",
    .open = process_open,
    .channels = assay__files_channels,
    .reason = assay__files_reason,
    .read = assay__files_read,
    .close = assay__files_close,
};

const struct assay__probe_ops assay__probe_process_pss = {
    .name = "process-pss",
    .summary = "proportional set size of a process",
    .open = pss_open,
    .channels = assay__files_channels,
    .reason = assay__files_reason,
    .read = assay__files_read,
    .close = assay__files_close,
};
