/* site.c - who requested memory: the innermost four callers outside the C and C++ libraries, from
 * the unwinder (frame pointers are not reliable). A site is such a chain of four return addresses;
 * chains are identified by 64 bits of hash alone. The loader is queried once per page of code for
 * the module of an address.
 *
 * The text names, innermost first, "module+0xoffset", with the name of the function if the module's
 * symbol table has it. A stripped library has none. Beyond 98,304 chains, and beyond 32 frames from
 * the call, callers are counted together.
 *
 * The unwinder and the loader may themselves allocate: the thread is marked busy meanwhile, so that
 * this is not counted. */
#include "track/tracker.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

#define WALK_MOST 32 /* frames looked at */
#define PAGES 32768u /* pages of code whose module is remembered */
#define PAGE_SHIFT 12
#define SITES_TOLD 64
#define SITES_USED (TRACK_SITES / 4 * 3)

static struct track_site *table;
static volatile int table_lock;
static _Atomic uint32_t site_count;
/* page number * 2 + 1 if it belongs to a language's library; 0: not known yet */
static _Atomic uint64_t pages[PAGES];

struct track_site *track_sites(void)
{
    if (!table) table = track_map(TRACK_SITES * sizeof *table);
    return table;
}

struct walk {
    void *frames[TRACK_FRAMES]; /* that count */
    int depth;
    void
        *passed[TRACK_FRAMES]; /* of the language's libraries: used when there is no other caller */
    int passed_depth, seen;
    bool outside; /* of the tracker */
};

/* The linker's names for the ends of this image. Calling dladdr at every allocation would cost a
 * symbol search. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Libraries that allocations only pass through. */
static bool is_library_of_language(const char *module)
{
    static const char *const names[] = {"libc.so",  "libc-2",    "libc.musl",
                                        "ld-linux", "ld-musl",   "libstdc++.",
                                        "libc++.",  "libgcc_s.", "libpthread"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(module, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

static bool is_passed(const char *address)
{
    uint64_t page = (uint64_t)(uintptr_t)address >> PAGE_SHIFT;
    _Atomic uint64_t *slot = &pages[(page ^ (page >> 15)) % PAGES];
    uint64_t known = atomic_load_explicit(slot, memory_order_relaxed);
    if (known >> 1 == page) return known & 1;
    Dl_info info;
    bool passed = dladdr(address, &info) && is_library_of_language(base_name(info.dli_fname));
    atomic_store_explicit(slot, page << 1 | passed, memory_order_relaxed);
    return passed;
}

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    char *address = (char *)_Unwind_GetIP(context);
    if (!address || ++walk->seen > WALK_MOST) return _URC_END_OF_STACK;
    if (!walk->outside && address >= __ehdr_start && address < _end) return _URC_NO_REASON;
    walk->outside = true;
    if (!is_passed(address - 1)) /* within the call, not after it */
        walk->frames[walk->depth++] = address;
    else if (walk->passed_depth < TRACK_FRAMES)
        walk->passed[walk->passed_depth++] = address;
    return walk->depth == TRACK_FRAMES ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static uint32_t add_site(const struct walk *walk, uint64_t hash)
{
    uint32_t found = 0;
    if (atomic_load_explicit(&site_count, memory_order_relaxed) >= SITES_USED) return 0;
    track_lock(&table_lock);
    for (uint32_t i = 0; i < TRACK_SITES; i++) {
        uint32_t at = (uint32_t)((hash + i) % (TRACK_SITES - 1)) + 1;
        uint64_t there = atomic_load_explicit(&table[at].hash, memory_order_relaxed);
        if (there == hash) {
            found = at;
            break;
        }
        if (there) continue;
        memcpy(table[at].frames, walk->frames, sizeof table[at].frames);
        table[at].depth = walk->depth;
        atomic_fetch_add_explicit(&site_count, 1, memory_order_relaxed);
        atomic_store_explicit(&table[at].hash, hash, memory_order_release);
        found = at;
        break;
    }
    track_unlock(&table_lock);
    return found;
}

uint32_t track_site_here(void)
{
    struct walk walk = {.depth = 0};
    _Unwind_Backtrace(step, &walk);
    if (walk.depth == 0) { /* nothing but the language's libraries */
        memcpy(walk.frames, walk.passed, sizeof walk.frames);
        walk.depth = walk.passed_depth;
    }
    uint64_t hash = 14695981039346656037u; /* FNV-1a, over words */
    for (int i = 0; i < walk.depth; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)walk.frames[i]) * 1099511628211u;
    hash ^= hash >> 32;
    if (!hash) hash = 1;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t at = (uint32_t)((hash + i) % (TRACK_SITES - 1)) + 1;
        uint64_t there = atomic_load_explicit(&table[at].hash, memory_order_acquire);
        if (there == hash) return at;
        if (!there) break;
    }
    return add_site(&walk, hash);
}

static void describe(const struct track_site *site, char *text, size_t size)
{
    Dl_info info;
    const void *module = NULL;
    text[0] = '\0';
    for (int i = 0; i < site->depth; i++) {
        if (!dladdr((const char *)site->frames[i] - 1, &info) || !info.dli_fbase) continue;
        /* "libx.so+0x12 (name) < +0x34 < liby.so+0x56": a module is named when it differs from the
         * one before. */
        size_t used = strlen(text);
        size_t offset = (size_t)((const char *)site->frames[i] - (const char *)info.dli_fbase);
        snprintf(text + used, size - used, "%s%s+0x%zx%s%.60s%s", used ? " < " : "",
                 (info.dli_fbase == module) ? "" : base_name(info.dli_fname), offset,
                 info.dli_sname ? " (" : "", info.dli_sname ? info.dli_sname : "",
                 info.dli_sname ? ")" : "");
        module = info.dli_fbase;
    }
    if (!text[0]) snprintf(text, size, "%s", site->depth ? "unknown code" : "unknown caller");
}

/* --- the largest ones ------------------------------------------------------------------------- */

/* Inserts it into the list of indexes ordered by bytes, largest first, if there is room or it is
 * larger than the last. */
static size_t insert_by_bytes(uint32_t *list, size_t count, size_t room, uint32_t index, int phase)
{
    uint64_t bytes = atomic_load(&table[index].bytes[phase]);
    if (count == room && bytes <= atomic_load(&table[list[count - 1]].bytes[phase])) return count;
    size_t at = count < room ? count : count - 1;
    for (; at > 0 && atomic_load(&table[list[at - 1]].bytes[phase]) < bytes; at--)
        list[at] = list[at - 1];
    list[at] = index;
    return count < room ? count + 1 : count;
}

size_t track_read_sites(enum assay__track_phase phase, struct assay__track_site *out, size_t room)
{
    uint32_t list[SITES_TOLD];
    size_t count = 0;
    if (room > SITES_TOLD) room = SITES_TOLD;
    if (room == 0 || !table) return 0;
    track_busy_set(true);
    for (uint32_t i = 0; i < TRACK_SITES; i++)
        if (atomic_load(&table[i].count[phase]) > 0)
            count = insert_by_bytes(list, count, room, i, (int)phase);
    for (size_t i = 0; i < count; i++) {
        const struct track_site *site = &table[list[i]];
        out[i] = (struct assay__track_site){.count = atomic_load(&site->count[phase]),
                                            .bytes = atomic_load(&site->bytes[phase]),
                                            .live_bytes = site->live_at[phase]};
        if (list[i] == 0)
            snprintf(out[i].text, sizeof out[i].text, "further callers");
        else
            describe(site, out[i].text, sizeof out[i].text);
    }
    track_busy_set(false);
    return count;
}
