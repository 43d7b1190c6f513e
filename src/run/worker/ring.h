/* ring.h - the samples' shared mapping. The parent owns it, so samples survive the worker's death;
 * it holds one window per stream, which the parent copies out between windows. Layout: a header, a
 * cache line per stream with its count (no false sharing between streams), then per stream capacity
 * + 1 stamps. */
#ifndef ASSAY_RUN_WORKER_RING_H
#define ASSAY_RUN_WORKER_RING_H

#include <assay/error.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__RING_CAPACITY 65536u /* iterations of a window: 512 KiB of stamps */
#define ASSAY__RING_STREAMS 1024u

struct assay__ring {
    void *address;
    size_t size;
    int fd; /* the parent's; -1 in the worker */
    uint32_t streams;
    uint64_t capacity;
};

/** The size of the mapping for that many streams. */
size_t assay__ring_size(uint32_t streams, uint64_t capacity);
int assay__ring_create(struct assay__ring *ring, uint32_t streams, struct assay_error *error);
/** In the worker: maps `fd` and checks the header; touches every page so that no page fault occurs
 * in a window. */
int assay__ring_open(struct assay__ring *ring, int fd, uint32_t streams, struct assay_error *error);
void assay__ring_close(struct assay__ring *ring);

_Atomic uint64_t *assay__ring_count(const struct assay__ring *ring, uint32_t stream);
uint64_t *assay__ring_stamps(const struct assay__ring *ring, uint32_t stream);
/** Sum of all counts, which grows while a window runs (the heartbeat of a long one). */
uint64_t assay__ring_progress(const struct assay__ring *ring);

#endif
