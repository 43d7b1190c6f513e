/* ring.c - the shared mapping that a window of samples is written to. The worker is not trusted:
 * the parent checks counts against the capacity when it reads. */
#include "run/worker/ring.h"

#include "platform/platform.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0x59415341u /* "ASAY" */
#define VERSION 2u
#define LINE 256u /* no processor has longer cache lines (Fujitsu A64FX; Apple 128, most 64) */

struct header {
    uint32_t magic, version, streams, reserved;
    uint64_t capacity;
};

struct counter {
    _Atomic uint64_t count;
    char padding[LINE - sizeof(uint64_t)];
};

static size_t stamps_size(uint64_t capacity)
{
    size_t bytes = ((size_t)capacity + 1) * sizeof(uint64_t);
    return (bytes + LINE - 1) / LINE * LINE;
}

size_t assay__ring_size(uint32_t streams, uint64_t capacity)
{
    return LINE + (size_t)streams * (sizeof(struct counter) + stamps_size(capacity));
}

/* Sets the sizes; false: too many streams. */
static bool ring_plan(struct assay__ring *ring, uint32_t streams)
{
    *ring = (struct assay__ring){.fd = -1, .streams = streams, .capacity = ASSAY__RING_CAPACITY};
    ring->size = assay__ring_size(streams, ring->capacity);
    return streams > 0 && streams <= ASSAY__RING_STREAMS;
}

int assay__ring_create(struct assay__ring *ring, uint32_t streams, struct assay_error *error)
{
    if (!ring_plan(ring, streams))
        return assay_error_set(error, ASSAY_EINVAL, "streams must be 1 to %u", ASSAY__RING_STREAMS);
    void *address = NULL;
    int code = assay__shared_create(ring->size, &ring->fd, &address, error);
    if (code) return code;
    ring->address = address;
    *(struct header *)address = (struct header){MAGIC, VERSION, streams, 0, ring->capacity};
    return 0;
}

int assay__ring_open(struct assay__ring *ring, int fd, uint32_t streams, struct assay_error *error)
{
    if (!ring_plan(ring, streams))
        return assay_error_set(error, ASSAY_EFORMAT, "the job asks for %u streams", streams);
    void *address = NULL;
    int code = assay__shared_open(fd, ring->size, &address, error);
    if (code) return code;
    ring->address = address;
    const struct header *header = address;
    if (header->magic != MAGIC || header->version != VERSION || header->streams != streams ||
        header->capacity != ring->capacity) {
        assay__ring_close(ring);
        return assay_error_set(error, ASSAY_EFORMAT, "the shared samples have another version");
    }
    for (uint32_t s = 0; s < streams; s++)
        memset(assay__ring_stamps(ring, s), 0, stamps_size(ring->capacity));
    return 0;
}

void assay__ring_close(struct assay__ring *ring)
{
    if (ring->address) assay__shared_close(ring->address, ring->size);
    if (ring->fd >= 0) close(ring->fd);
    ring->address = NULL;
    ring->fd = -1;
}

_Atomic uint64_t *assay__ring_count(const struct assay__ring *ring, uint32_t stream)
{
    struct counter *counters = (struct counter *)(void *)((char *)ring->address + LINE);
    return &counters[stream].count;
}

uint64_t *assay__ring_stamps(const struct assay__ring *ring, uint32_t stream)
{
    char *start = (char *)ring->address + LINE + (size_t)ring->streams * sizeof(struct counter);
    return (uint64_t *)(void *)(start + (size_t)stream * stamps_size(ring->capacity));
}

uint64_t assay__ring_progress(const struct assay__ring *ring)
{
    uint64_t sum = 0;
    for (uint32_t s = 0; s < ring->streams; s++)
        sum += atomic_load_explicit(assay__ring_count(ring, s), memory_order_acquire);
    return sum;
}
