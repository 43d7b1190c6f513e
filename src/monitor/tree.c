/* tree.c - reading /proc/PID: stat (fields 2 comm, 4 ppid, 14 utime, 15 stime, 22 starttime, 24
 * rss; counted from the last ')', because a name may contain anything) and the children of every
 * thread. See tree.h. */
#include "monitor/tree.h"

#include "base/no_memory.h"
#include "base/vec.h"
#include "platform/posix_fs.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMBERS_MOST 4096
#define TEXT_BYTES 4096

struct assay__tree_reader {
    struct assay__tree tree;
    size_t capacity;
    struct assay__process *sorted; /* what the tree shows; items are in order of discovery */
    size_t sorted_capacity;
    struct assay__process *members;
    size_t member_count, member_capacity;
    double page_bytes;
    uint64_t active, all; /* ticks of the machine at the read before */
    bool known;
};

/* --- one process ------------------------------------------------------------------------------ */

/* Fills what stat says; false: the process is gone. */
static bool read_stat(pid_t pid, double page_bytes, struct assay__process *process)
{
    char text[1024];
    if (assay__fs_read(text, sizeof text, "/proc/%ld/stat", (long)pid) <= 0) return false;
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || close[1] != ' ') return false;
    unsigned long long fields[24] = {0};
    const char *at = close + 2;
    char state = *at;
    for (int field = 3; field <= 24 && *at; field++) {
        fields[field - 1] = strtoull(at, NULL, 10);
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    if (state == 'Z' || state == 'X') return false; /* it has ended; only its status is left */
    snprintf(process->name, sizeof process->name, "%.*s", (int)(close - open - 1), open + 1);
    process->pid = pid;
    process->parent = (pid_t)fields[3];
    process->start = fields[21];
    process->ticks = fields[13] + fields[14];
    process->memory_bytes = (double)fields[23] * page_bytes;
    return true;
}

static bool machine_ticks(uint64_t *active, uint64_t *all)
{
    char text[512];
    if (assay__fs_read(text, sizeof text, "/proc/stat") <= 0) return false;
    const char *at = assay__fs_field(text, "cpu");
    uint64_t fields[8] = {0}, sum = 0;
    for (size_t i = 0; at && i < 8 && *at >= '0' && *at <= '9'; i++) {
        char *end;
        sum += fields[i] = strtoull(at, &end, 10);
        at = end + strspn(end, " ");
    }
    *active = fields[0] + fields[1] + fields[2] + fields[5] + fields[6];
    *all = sum;
    return sum > 0;
}

/* --- members ---------------------------------------------------------------------------------- */

static struct assay__process *find(struct assay__tree_reader *reader, pid_t pid)
{
    for (size_t i = 0; i < reader->member_count; i++)
        if (reader->members[i].pid == pid) return &reader->members[i];
    return NULL;
}

static void add_member(struct assay__tree_reader *reader, pid_t pid)
{
    struct assay__process found = {.share = NAN, .fresh = true};
    if (reader->member_count == MEMBERS_MOST || find(reader, pid) ||
        !read_stat(pid, reader->page_bytes, &found) ||
        assay__vec_grow((void **)&reader->members, &reader->member_capacity,
                        reader->member_count + 1, sizeof *reader->members))
        return;
    reader->members[reader->member_count++] = found;
}

static void add_children_of(struct assay__tree_reader *reader, pid_t pid, const char *task)
{
    char text[TEXT_BYTES];
    if (assay__fs_read(text, sizeof text, "/proc/%ld/task/%s/children", (long)pid, task) <= 0)
        return;
    for (char *at = text, *end; *at; at = end + strspn(end, " ")) {
        long child = strtol(at, &end, 10);
        if (end == at) return;
        if (child > 0 && child <= INT_MAX) add_member(reader, (pid_t)child);
    }
}

static void add_children(struct assay__tree_reader *reader, pid_t pid)
{
    char path[PATH_MAX], folder[64];
    snprintf(folder, sizeof folder, "/proc/%ld/task", (long)pid);
    DIR *tasks = assay__fs_path(path, folder) ? opendir(path) : NULL;
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.') add_children_of(reader, pid, entry->d_name);
    if (tasks) closedir(tasks);
}

/* Reads the members again and drops those that have ended; returns the ticks that they used. */
static uint64_t refresh_members(struct assay__tree_reader *reader, double all)
{
    size_t kept = 0;
    uint64_t used = 0;
    for (size_t i = 0; i < reader->member_count; i++) {
        struct assay__process *member = &reader->members[i], now = *member;
        if (!read_stat(member->pid, reader->page_bytes, &now) || now.start != member->start)
            continue;
        /* One that came since the last read has used all its ticks since then. */
        uint64_t ticks = now.ticks - (member->fresh ? 0 : member->ticks);
        if (now.ticks < member->ticks) ticks = 0;
        now.share = all > 0 ? (double)ticks / all : (double)NAN;
        now.fresh = false;
        used += ticks;
        reader->members[kept++] = now;
    }
    reader->member_count = kept;
    return used;
}

/* --- the tree --------------------------------------------------------------------------------- */

static void sort_below(struct assay__tree_reader *reader, pid_t parent, unsigned depth)
{
    for (size_t i = 0; i < reader->member_count; i++) {
        struct assay__process *member = &reader->members[i];
        if (member->parent != parent || member->placed) continue;
        member->placed = true;
        member->depth = depth;
        reader->sorted[reader->tree.count++] = *member;
        sort_below(reader, member->pid, depth + 1);
    }
}

/* The root and those whose parent is no member come first, each followed by its children. */
static void sort_members(struct assay__tree_reader *reader)
{
    reader->tree.count = 0;
    if (assay__vec_grow((void **)&reader->sorted, &reader->sorted_capacity,
                        reader->member_count + 1, sizeof *reader->sorted))
        return;
    for (size_t i = 0; i < reader->member_count; i++)
        reader->members[i].placed = false;
    for (size_t i = 0; i < reader->member_count; i++) {
        struct assay__process *member = &reader->members[i];
        if (member->placed || find(reader, member->parent)) continue;
        member->placed = true;
        member->depth = 0;
        reader->sorted[reader->tree.count++] = *member;
        sort_below(reader, member->pid, 1);
    }
    reader->tree.items = reader->sorted;
}

const struct assay__tree *assay__tree_read(struct assay__tree_reader *reader)
{
    struct assay__tree *tree = &reader->tree;
    uint64_t active = 0, all = 0;
    for (size_t i = 0; i < reader->member_count; i++) /* grows meanwhile: children of children */
        add_children(reader, reader->members[i].pid);
    bool known = machine_ticks(&active, &all);
    double span = known && reader->known && all > reader->all ? (double)(all - reader->all)
                                                              : (double)NAN;
    uint64_t used = refresh_members(reader, span);
    tree->share = tree->other = tree->total = NAN;
    tree->reason = !reader->member_count ? "the process and its children have ended"
                   : !known              ? "this system does not count CPU time"
                                         : "";
    if (span > 0 && active >= reader->active) {
        double whole = (double)(active - reader->active) / span;
        tree->share = (double)used / span;
        tree->other = fmax(whole - tree->share, 0);
        tree->total = tree->share + tree->other;
    }
    reader->active = active;
    reader->all = all;
    reader->known = known;
    sort_members(reader);
    return tree;
}

int assay__tree_open(pid_t root, struct assay__tree_reader **reader, struct assay_error *error)
{
    struct assay__tree_reader *made = *reader = NULL;
    if (!assay__fs_exists("/proc/stat"))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "processes are watched through /proc, which this system lacks");
    made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    long page = sysconf(_SC_PAGESIZE);
    made->page_bytes = page > 0 ? (double)page : 4096;
    made->tree.reason = "";
    add_member(made, root);
    if (!made->member_count) {
        assay__tree_close(made);
        return assay_error_set(error, ASSAY_ENOTFOUND, "there is no process %ld", (long)root);
    }
    made->members[0].fresh = false; /* what it used before is not of this watch */
    add_children(made, root);
    for (size_t i = 1; i < made->member_count; i++) {
        made->members[i].fresh = false;
        add_children(made, made->members[i].pid);
    }
    for (size_t i = 1; i < made->member_count; i++)
        made->members[i].fresh = false;
    *reader = made;
    return 0;
}

void assay__tree_close(struct assay__tree_reader *reader)
{
    if (!reader) return;
    free(reader->members);
    free(reader->sorted);
    free(reader);
}
