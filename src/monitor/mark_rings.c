/* mark_rings.c - one ring per thread. `head` counts the marks written; the writer stores the
 * duration, then publishes the head (release). The reader copies what is still in the ring, then
 * reads the head again: an entry that may have been overwritten meanwhile is left out. Entries are
 * atomics of 64 bits, so that the reader may race with the writer; on every processor of today
 * these are plain loads and stores. */
#include "monitor/mark_rings.h"

#include "base/no_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct ring {
    struct ring *next;  /* of all rings of these marks; never changes */
    _Atomic bool owned; /* by a thread */
    _Atomic uint64_t head;
    _Atomic uint64_t sum_ns;
    uint64_t collected, collected_sum_ns; /* the reader's */
    _Atomic uint64_t durations_ns[ASSAY__MARKS_KEPT];
};

struct assay__marks {
    pthread_key_t key; /* the calling thread's ring */
    _Atomic(struct ring *) rings;
    _Atomic uint64_t lost;
    uint64_t collected_lost; /* the reader's */
};

/* A thread has ended: another may take its ring, and continues where it stopped. */
static void leave(void *ring)
{
    atomic_store_explicit(&((struct ring *)ring)->owned, false, memory_order_release);
}

int assay__marks_new(struct assay__marks **marks, struct assay_error *error)
{
    struct assay__marks *made = *marks = NULL;
    made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    if (pthread_key_create(&made->key, leave)) {
        free(made);
        return assay_error_set(error, ASSAY_ELIMIT,
                               "this process has no more thread-specific keys for marks");
    }
    *marks = made;
    return 0;
}

void assay__marks_free(struct assay__marks *marks)
{
    if (!marks) return;
    pthread_key_delete(marks->key);
    for (struct ring *ring = atomic_load(&marks->rings), *next; ring; ring = next) {
        next = ring->next;
        free(ring);
    }
    free(marks);
}

/* A ring that another thread left, or a new one. */
static struct ring *take_ring(struct assay__marks *marks)
{
    struct ring *ring = atomic_load_explicit(&marks->rings, memory_order_acquire);
    for (; ring; ring = ring->next) {
        bool free_ring = false;
        if (atomic_compare_exchange_strong_explicit(&ring->owned, &free_ring, true,
                                                    memory_order_acquire, memory_order_relaxed))
            break;
    }
    bool is_new = !ring;
    if (is_new) ring = calloc(1, sizeof *ring);
    if (!ring) return NULL;
    atomic_store_explicit(&ring->owned, true, memory_order_relaxed);
    if (is_new) {
        ring->next = atomic_load_explicit(&marks->rings, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&marks->rings, &ring->next, ring,
                                                      memory_order_release, memory_order_relaxed)) {
        }
    }
    if (pthread_setspecific(marks->key, ring) == 0) return ring;
    leave(ring);
    return NULL;
}

bool assay__marks_put(struct assay__marks *marks, uint64_t duration_ns)
{
    struct ring *ring = pthread_getspecific(marks->key);
    if (!ring && !(ring = take_ring(marks))) {
        atomic_fetch_add_explicit(&marks->lost, 1, memory_order_relaxed);
        return false;
    }
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t sum_ns = atomic_load_explicit(&ring->sum_ns, memory_order_relaxed);
    /* release: whoever reads it sees the head that was published before it */
    atomic_store_explicit(&ring->durations_ns[head % ASSAY__MARKS_KEPT], duration_ns,
                          memory_order_release);
    atomic_store_explicit(&ring->sum_ns, sum_ns + duration_ns, memory_order_relaxed);
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return true;
}

static void collect_ring(struct ring *ring, struct assay__durations *first,
                         struct assay__durations *second, struct assay__marks_seen *seen)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t sum_ns = atomic_load_explicit(&ring->sum_ns, memory_order_relaxed);
    uint64_t from = ring->collected;
    seen->count += head - from;
    seen->sum_ns += (double)(sum_ns - ring->collected_sum_ns);
    ring->collected = head;
    ring->collected_sum_ns = sum_ns;
    /* Backwards, so that what is about to be overwritten is looked at last. The slot of entry `at`
     * is written again by entry `at + KEPT`, which may be under way while head is that number. */
    for (uint64_t at = head; at > from;) {
        at--;
        uint64_t duration_ns = atomic_load_explicit(&ring->durations_ns[at % ASSAY__MARKS_KEPT],
                                                    memory_order_acquire);
        if (atomic_load_explicit(&ring->head, memory_order_acquire) >= at + ASSAY__MARKS_KEPT)
            return;
        assay__durations_add(first, duration_ns);
        assay__durations_add(second, duration_ns);
        seen->kept++;
    }
}

void assay__marks_collect(struct assay__marks *marks, struct assay__durations *first,
                          struct assay__durations *second, struct assay__marks_seen *seen)
{
    *seen = (struct assay__marks_seen){.count = 0};
    struct ring *ring = atomic_load_explicit(&marks->rings, memory_order_acquire);
    for (; ring; ring = ring->next) {
        collect_ring(ring, first, second, seen);
        seen->threads++;
    }
    uint64_t lost = atomic_load_explicit(&marks->lost, memory_order_relaxed);
    seen->lost = lost - marks->collected_lost;
    marks->collected_lost = lost;
}
