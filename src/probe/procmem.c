/* procmem.c - memory of one process: resident memory from /proc/PID/statm (its second number, in
 * pages), page faults and threads from /proc/PID/stat (fields 10, 12 and 20; the name in field 2
 * may contain blanks and brackets, so fields are counted from the last ')'). The proportional set
 * size, in which a page shared by n processes counts 1/n, comes from /proc/PID/smaps_rollup; the
 * kernel walks all page tables of the process for it, which takes about a millisecond per 100 MB
 * and locks its memory map meanwhile. It is a separate probe, so that it can be read less often.
 * Page faults: minor ones need no disk.
 *
 * Below $ASSAY_FSROOT there are no processes of this machine: without a target there, both are
 * unavailable. Sources: proc(5), the kernel's Documentation/filesystems/proc.rst. */
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
    *reason = "it has no memory: the process has ended";
    if (size == 0) return false;
    *reason = "";
    long bytes = assay__live_refused() ? PAGE_OF_FIXTURES : sysconf(_SC_PAGESIZE);
    *value *= bytes > 0 ? (double)bytes : PAGE_OF_FIXTURES;
    return true;
}

/* The field of /proc/PID/stat whose number is the key: "20". */
static bool stat_field(const struct assay__files_channel *channel, double *value,
                       const char **reason)
{
    const char *end = strrchr(channel->files[0]->text, ')');
    *reason = "not a process status line";
    if (!end || end[1] != ' ') return false;
    int field = (channel->key[0] - '0') * 10 + (channel->key[1] - '0');
    return number_at(end + 2, field - 2, value, reason); /* field 3 is the first one after it */
}

static bool proportional(const struct assay__files_channel *channel, double *value,
                         const char **reason)
{
    const char *at = assay__fs_field(channel->files[0]->text, "Pss");
    *reason = "this kernel does not report it";
    if (!at || !assay__sysfs_leading(at, value, reason)) return false;
    *value *= 1024;
    return true;
}

#define BYTES "memory", "B", ASSAY__CHANNEL_GAUGE, 1
#define COUNT "count", "1", ASSAY__CHANNEL_GAUGE, 1
#define FAULTS "count", "1", ASSAY__CHANNEL_COUNTER, 1

static const struct row {
    const char *name, *file;
    struct assay__files_kind as;
    assay__files_compute *compute;
    const char *key;
    size_t size;
} rows[] = {
    {"memory.rss", "statm", {BYTES}, resident, NULL, 128},
    {"faults.minor", "stat", {FAULTS}, stat_field, "10", 1024},
    {"faults.major", "stat", {FAULTS}, stat_field, "12", 1024},
    {"threads", "stat", {COUNT}, stat_field, "20", 1024},
    {"memory.pss", "smaps_rollup", {BYTES}, proportional, NULL, 2048},
};
#define PSS 4 /* the row that is a probe of its own */

static int open_rows(struct assay__arena *arena, struct assay__probe **probe, size_t first,
                     size_t end, struct assay_error *error)
{
    pid_t process = atomic_load(&target_process);
    const char *folder = process > 0 ? assay__arena_text(arena, "%ld", (long)process) : "self";
    *probe = assay__files_new(arena);
    for (const struct row *row = &rows[first]; row < &rows[end]; row++) {
        const struct assay__files_spec spec = {
            .name = row->name,
            .as = row->as,
            .compute = row->compute,
            .key = row->key,
            .size = row->size,
            .path = assay__arena_text(arena, "/proc/%s/%s", folder, row->file),
            .source = assay__arena_text(arena, "/proc/PID/%s", row->file),
            .reason = process > 0 ? NULL : assay__live_refused()};
        assay__files_add(*probe, &spec);
    }
    return assay__files_end(probe, NULL, error);
}

static int process_open(struct assay__arena *arena, struct assay__probe **probe,
                        struct assay_error *error)
{
    return open_rows(arena, probe, 0, PSS, error);
}

static int pss_open(struct assay__arena *arena, struct assay__probe **probe,
                    struct assay_error *error)
{
    return open_rows(arena, probe, PSS, PSS + 1, error);
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
