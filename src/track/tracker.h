/* tracker.h - inside the allocation tracker: wrap.c intercepts the calls, record.c does the
 * bookkeeping, site.c says who called. Nothing here allocates with malloc: tables are mapped once,
 * of fixed size. */
#ifndef ASSAY_TRACK_TRACKER_H
#define ASSAY_TRACK_TRACKER_H

#include "base/track.h"

#define TRACK_FRAMES 4 /* of a call chain that are kept */
#define TRACK_SITES 131072u

struct track_site {
    _Atomic uint64_t hash; /* 0: free */
    int depth;
    void *frames[TRACK_FRAMES];
    _Atomic uint64_t count[ASSAY__TRACK_PHASES], bytes[ASSAY__TRACK_PHASES];
    _Atomic int64_t live_bytes;
    int64_t live_at[ASSAY__TRACK_PHASES];
};

/** The table; site 0 stands for all that did not fit. NULL: no memory for the table. */
struct track_site *track_sites(void);
/** The index of the calling chain's site. */
uint32_t track_site_here(void);
/** The sites of a phase that requested the most bytes, largest first; returns how many were
 * written. */
size_t track_read_sites(enum assay__track_phase phase, struct assay__track_site *out, size_t room);

/** Something was allocated, is about to be released, … `address` NULL is ignored. */
void track_allocated(void *address, size_t size);
void track_releasing(void *address);
/** realloc: the old block is removed from the table before the call, and put back if that
 * failed. */
struct track_block {
    size_t size;
    uint32_t site;
    bool known;
};
struct track_block track_take(void *address);
void track_reallocated(void *old_address, struct track_block old, void *address, size_t size);

/** Whether this thread is inside the tracker: what is allocated meanwhile is the tracker's (or the
 *  unwinder's) own. */
void track_busy_set(bool busy);

void track_lock(volatile int *lock);
void track_unlock(volatile int *lock);
/** Zeroed memory that is never freed; NULL: none. */
void *track_map(size_t size);

#endif
