/* tree.h - a process and its children: what share of the machine's CPUs each used, and its memory.
 * Children are found through /proc/PID/task/TID/children and stay members when their parent ends. A
 * process is its number and its start time, so that a number that is used again is not mistaken for
 * it; after an exec it is the same process with another name.
 *
 * Shares are of all CPUs, in the clock ticks in which the kernel counts (10 ms), between two reads.
 * The rest of the machine is "other": the machine's active time minus that of the members, and what
 * members that ended meanwhile used. Ticks of the machine and of processes are read one after the
 * other: if the members add up to more than the machine, other is 0 and the total is their sum.
 * Resident memory counts a page once in each process that shares it. Source: proc(5). */
#ifndef ASSAY_MONITOR_TREE_H
#define ASSAY_MONITOR_TREE_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct assay__process {
    pid_t pid, parent;
    char name[32];       /* at most 15 characters of the command, as the kernel keeps it */
    double share;        /* of all CPUs; NaN: not known yet */
    double memory_bytes; /* resident; NaN unknown */
    unsigned depth;      /* below the root */
    /* private */
    uint64_t start, ticks;
    bool placed, fresh;
};

struct assay__tree {
    struct assay__process *items; /* the root first, each before its children */
    size_t count;
    double share;        /* of all members together; NaN: not known yet */
    double other, total; /* total = share + other */
    const char *reason;  /* why nothing is known; "" */
};

struct assay__tree_reader;

/** ASSAY_ENOTFOUND if there is no such process, ASSAY_EUNSUPPORTED where /proc cannot be read. */
int assay__tree_open(pid_t root, struct assay__tree_reader **reader, struct assay_error *error);
void assay__tree_close(struct assay__tree_reader *reader); /* NULL legal */
/** Reads everything again. The result is borrowed until the next read. When no member lives any
 * more it has no items and says so. */
const struct assay__tree *assay__tree_read(struct assay__tree_reader *reader);

#endif
