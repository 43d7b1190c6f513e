/* nsys_state.h - what the files of the importer of Nsight Systems share. */
#ifndef ASSAY_IMPORT_NSYS_STATE_H
#define ASSAY_IMPORT_NSYS_STATE_H

#include "import/import.h"
#include "import/nsys_rows.h"

struct assay__nsys_label { /* of a thread, a process or a device; sorted by key */
    int64_t key;           /* global id, or number of the device */
    uint32_t name;
    int64_t priority;
};

struct assay__nsys_labels {
    struct assay__nsys_label *items;
    size_t count, capacity;
};

struct assay__nsys {
    struct assay__events *events;
    struct assay__trace_source *source;
    const struct assay__db *db;
    sqlite3_stmt *string; /* the text of an id */
    uint32_t *strings;    /* by id: 1 + number of the text; 0: not asked for yet */
    size_t string_capacity;
    uint64_t string_limit; /* ids from here on are asked for each time */
    struct assay__nsys_labels threads, processes, devices;
    int64_t *pids; /* in the order of their first event: makes correlation ids distinct */
    size_t pid_count, pid_capacity;
    uint64_t tables; /* that were there */
    bool failed;     /* out of memory */
};

/** The number of the text that StringIds has for an id; ASSAY__EVENT_UNKNOWN: none. */
uint32_t assay__nsys_string(struct assay__nsys *nsys, int64_t id);
/** The name for a key; NULL: none. */
const char *assay__nsys_label_find(const struct assay__nsys *nsys,
                                   const struct assay__nsys_labels *labels, int64_t key);
/** Records the first reason. */
void assay__nsys_complain(struct assay__nsys *nsys, const char *format, ...) ASSAY_PRINTF(2, 3);
/** Reads every table that has events. */
void assay__nsys_read_tables(struct assay__nsys *nsys);

/** Process and thread of a global id, as the documentation defines them. */
static inline int64_t assay__nsys_pid(int64_t global)
{
    return (int64_t)((uint64_t)global >> 24 & 0xffffff);
}
static inline int64_t assay__nsys_tid(int64_t global)
{
    return (int64_t)((uint64_t)global & 0xffffff);
}

#endif
