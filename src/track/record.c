/* record.c - the bookkeeping of the allocation tracker: totals, size classes and peak of each
 * phase, live bytes, and a table of every live block (address, requested size, site). The table is
 * split into shards with a lock each; within a shard it is open addressing with linear probing, and
 * the gap of a removed block is closed (Knuth, The Art of Computer Programming 3, 6.4, algorithm
 * R).
 *
 * Limits: 1.5 million live blocks; a block that does not fit is counted as allocated and left out
 * of the live bytes, and the number of such blocks is reported. 65,536 inferences are marked. Sizes
 * are the requested ones, without what the allocator adds. */
#include "track/tracker.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define SHARDS 64u
#define SLOTS 32768u /* of a shard */
#define SLOTS_USED (SLOTS / 4 * 3)
#define MARKS 65536u

struct slot {
    uintptr_t address; /* 0: free */
    size_t size;
    uint32_t site;
};

struct shard {
    volatile int lock;
    uint32_t used;
    struct slot slots[SLOTS];
};

struct account {
    _Atomic uint64_t count, bytes, freed_count, freed_bytes, inferences;
    _Atomic int64_t peak;
    int64_t live_at_end;
    _Atomic uint64_t class_count[ASSAY__TRACK_CLASSES], class_bytes[ASSAY__TRACK_CLASSES];
};

static struct shard *shards;
static int64_t *marks;
static _Atomic size_t mark_count;
static struct account accounts[ASSAY__TRACK_PHASES + 1]; /* the last: of no phase */
static _Atomic int current = ASSAY__TRACK_NONE;
static _Atomic int inside; /* threads between enter and leave */
static _Atomic int64_t live;
static _Atomic uint64_t lost;
static struct assay__track_heap heap_at_end;
/* initial-exec: reading it must not allocate, which the general model may. */
static _Thread_local bool busy __attribute__((tls_model("initial-exec")));

void track_busy_set(bool value)
{
    busy = value;
}

void track_lock(volatile int *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(lock, __ATOMIC_RELAXED))
            continue;
}

void track_unlock(volatile int *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

void *track_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON | MAP_NORESERVE,
                        -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* --- the table of live blocks ----------------------------------------------------------------- */

static uint64_t hash_of(uintptr_t address)
{
    uint64_t mixed = (uint64_t)address >> 4;
    mixed *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return mixed ^ (mixed >> 29);
}

static struct shard *shard_of(uint64_t hash)
{
    return &shards[hash >> 58]; /* 64 of them */
}

static bool insert(void *address, size_t size, uint32_t site)
{
    uint64_t hash = hash_of((uintptr_t)address);
    struct shard *shard = shard_of(hash);
    bool room = false;
    track_lock(&shard->lock);
    if (shard->used < SLOTS_USED) {
        size_t at = hash % SLOTS;
        while (shard->slots[at].address)
            at = (at + 1) % SLOTS;
        shard->slots[at] = (struct slot){(uintptr_t)address, size, site};
        shard->used++;
        room = true;
    }
    track_unlock(&shard->lock);
    return room;
}

/* Moves later blocks of the run back into the gap, so that each is still found from its own
 * place. */
static void close_gap(struct shard *shard, size_t gap)
{
    for (size_t at = (gap + 1) % SLOTS; shard->slots[at].address; at = (at + 1) % SLOTS) {
        size_t home = hash_of(shard->slots[at].address) % SLOTS;
        if ((at + SLOTS - home) % SLOTS < (at + SLOTS - gap) % SLOTS) continue;
        shard->slots[gap] = shard->slots[at];
        gap = at;
    }
    shard->slots[gap] = (struct slot){0};
    shard->used--;
}

/* --- bookkeeping ------------------------------------------------------------------------------ */

static bool recording(void)
{
    return shards && !busy && atomic_load_explicit(&inside, memory_order_relaxed) > 0;
}

static struct account *account(void)
{
    return &accounts[atomic_load_explicit(&current, memory_order_relaxed)];
}

static void release(const struct track_block *block)
{
    struct account *a = account();
    atomic_fetch_sub(&live, (int64_t)block->size);
    atomic_fetch_sub_explicit(&track_sites()[block->site].live_bytes, (int64_t)block->size,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&a->freed_count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&a->freed_bytes, block->size, memory_order_relaxed);
}

static size_t class_of(size_t size)
{
    size_t class = size < 2 ? 0 : 63u - (size_t)__builtin_clzll((unsigned long long)size);
    return class < ASSAY__TRACK_CLASSES ? class : ASSAY__TRACK_CLASSES - 1;
}

static void record_block(void *address, size_t size, uint32_t index)
{
    if (!insert(address, size, index)) {
        atomic_fetch_add(&lost, 1);
        return;
    }
    int64_t now = atomic_fetch_add(&live, (int64_t)size) + (int64_t)size;
    struct account *a = account();
    int64_t peak = atomic_load_explicit(&a->peak, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak(&a->peak, &peak, now))
        continue;
    atomic_fetch_add_explicit(&track_sites()[index].live_bytes, (int64_t)size,
                              memory_order_relaxed);
}

void track_allocated(void *address, size_t size)
{
    if (!address || !recording()) return;
    busy = true;
    uint32_t index = track_site_here();
    struct track_site *site = &track_sites()[index];
    int phase = atomic_load_explicit(&current, memory_order_relaxed);
    struct account *a = &accounts[phase];
    atomic_fetch_add_explicit(&a->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&a->bytes, size, memory_order_relaxed);
    atomic_fetch_add_explicit(&a->class_count[class_of(size)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&a->class_bytes[class_of(size)], size, memory_order_relaxed);
    if (phase < ASSAY__TRACK_PHASES) {
        atomic_fetch_add_explicit(&site->count[phase], 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&site->bytes[phase], size, memory_order_relaxed);
    }
    record_block(address, size, index);
    busy = false;
}

struct track_block track_take(void *address)
{
    if (!shards || busy) return (struct track_block){0};
    uint64_t hash = hash_of((uintptr_t)address);
    struct shard *shard = shard_of(hash);
    struct track_block block = {0};
    track_lock(&shard->lock);
    for (size_t at = hash % SLOTS; shard->slots[at].address; at = (at + 1) % SLOTS)
        if (shard->slots[at].address == (uintptr_t)address) {
            block = (struct track_block){shard->slots[at].size, shard->slots[at].site, true};
            close_gap(shard, at);
            break;
        }
    track_unlock(&shard->lock);
    return block;
}

void track_releasing(void *address)
{
    struct track_block block = track_take(address);
    if (block.known) release(&block); /* also between inferences, for what they left behind */
}

/* A reallocation is the release of the old block and the allocation of the new one. size 0 frees
 * the block if the C library returns NULL for it. */
void track_reallocated(void *old_address, struct track_block old, void *address, size_t size)
{
    if (!address && size > 0) { /* failed: the old block stays */
        if (old.known && !insert(old_address, old.size, old.site)) atomic_fetch_add(&lost, 1);
        return;
    }
    if (old.known) release(&old);
    if (!address) return;
    if (recording())
        track_allocated(address, size);
    else if (old.known) /* not ours to count, but it lives on */
        record_block(address, size, old.site);
}

/* --- what the worker requests ----------------------------------------------------------------- */

/* mallinfo2, where the C library has it: ten sizes, of which arena is what brk and mmap'ed arenas
 * got from the system, hblkhd what is mapped block by block, uordblks what is in use of arena. */
static void read_heap(void)
{
    struct info {
        size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks,
            keepcost;
    };
    struct info (*ask)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "mallinfo2");
    if (!found) return;
    memcpy(&ask, &found, sizeof ask);
    struct info info = ask();
    heap_at_end = (struct assay__track_heap){true, (double)info.arena + (double)info.hblkhd,
                                             (double)info.uordblks + (double)info.hblkhd};
}

static void set_phase(enum assay__track_phase phase)
{
    busy = true;
    struct track_site *sites = track_sites();
    int ended = atomic_load(&current);
    if (ended < ASSAY__TRACK_PHASES) {
        accounts[ended].live_at_end = atomic_load(&live);
        for (uint32_t i = 0; sites && i < TRACK_SITES; i++)
            sites[i].live_at[ended] = atomic_load(&sites[i].live_bytes);
    }
    if (ended == ASSAY__TRACK_WARM) read_heap();
    if (!marks) marks = track_map(MARKS * sizeof *marks);
    if (!shards && sites && marks) shards = track_map(SHARDS * sizeof *shards);
    atomic_store(&accounts[phase].peak, atomic_load(&live));
    atomic_store(&current, (int)phase);
    busy = false;
}

static void enter(void)
{
    atomic_fetch_add(&inside, 1);
}

static void leave(bool mark)
{
    atomic_fetch_sub(&inside, 1);
    if (!mark) return;
    struct account *a = account();
    atomic_fetch_add(&a->inferences, 1);
    if (a != &accounts[ASSAY__TRACK_WARM] || !marks) return;
    size_t at = atomic_fetch_add(&mark_count, 1);
    if (at < MARKS) marks[at] = atomic_load(&live);
}

static void totals(enum assay__track_phase phase, struct assay__track_totals *out)
{
    const struct account *a = &accounts[phase];
    *out = (struct assay__track_totals){
        .count = atomic_load(&a->count),
        .bytes = atomic_load(&a->bytes),
        .freed_count = atomic_load(&a->freed_count),
        .freed_bytes = atomic_load(&a->freed_bytes),
        .live_bytes = a->live_at_end,
        .peak_live_bytes = atomic_load(&a->peak),
        .inferences = atomic_load(&a->inferences),
    };
}

static void classes(enum assay__track_phase phase,
                    struct assay__track_class out[ASSAY__TRACK_CLASSES])
{
    for (size_t i = 0; i < ASSAY__TRACK_CLASSES; i++)
        out[i] = (struct assay__track_class){atomic_load(&accounts[phase].class_count[i]),
                                             atomic_load(&accounts[phase].class_bytes[i])};
}

static size_t read_marks(const int64_t **out)
{
    size_t count = atomic_load(&mark_count);
    *out = marks;
    return count < MARKS ? count : MARKS;
}

static void heap(struct assay__track_heap *out)
{
    *out = heap_at_end;
}

static uint64_t dropped(void)
{
    return atomic_load(&lost);
}

const struct assay__track_api *assay_track(void);

__attribute__((visibility("default"))) const struct assay__track_api *assay_track(void)
{
    static const struct assay__track_api api = {
        .abi = ASSAY__TRACK_ABI,
        .size = sizeof(struct assay__track_api),
        .phase = set_phase,
        .enter = enter,
        .leave = leave,
        .totals = totals,
        .classes = classes,
        .sites = track_read_sites,
        .marks = read_marks,
        .heap = heap,
        .dropped = dropped,
    };
    return &api;
}
