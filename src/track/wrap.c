/* wrap.c - malloc and its relatives, in front of the C library's: each call is passed on to the
 * next definition (RTLD_NEXT) and is recorded by record.c. dlsym itself may allocate before the
 * next definitions are known: such calls get pieces of a small static area that is never freed.
 *
 * Limits: memory from mmap, brk or the program's own allocator is not seen; freeing a block whose
 * allocation was not seen is passed on and not counted. */
#include "track/tracker.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))
#define EARLY_BYTES 65536u
#define EARLY_ALIGN 64u

/* Not every C library declares all of these. */
void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);
void *reallocarray(void *old, size_t count, size_t size);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *address);
int posix_memalign(void **out, size_t alignment, size_t size);
void *aligned_alloc(size_t alignment, size_t size);

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
} next;

static _Alignas(64) char early[EARLY_BYTES];
static _Atomic size_t early_used;
static _Atomic int state; /* 0: not looked up, 1: being looked up, 2: known */

static void *early_take(size_t size)
{
    if (size > EARLY_BYTES) return NULL;
    size_t rounded = (size + EARLY_ALIGN - 1) / EARLY_ALIGN * EARLY_ALIGN;
    if (rounded == 0) rounded = EARLY_ALIGN;
    size_t at = atomic_fetch_add(&early_used, rounded);
    return at + rounded <= EARLY_BYTES ? early + at : NULL; /* zeroed: never given twice */
}

static bool is_early(const void *address)
{
    const char *at = address;
    return at >= early && at < early + EARLY_BYTES;
}

/* A function pointer from an object pointer, which POSIX allows and ISO C does not define. */
static void find(const char *name, void *out)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(out, &found, sizeof found);
}

/* False while the next definitions are being looked up. */
static bool ready(void)
{
    if (atomic_load_explicit(&state, memory_order_acquire) == 2) return true;
    int expected = 0;
    if (!atomic_compare_exchange_strong(&state, &expected, 1))
        return atomic_load_explicit(&state, memory_order_acquire) == 2;
    find("malloc", &next.malloc);
    find("calloc", &next.calloc);
    find("realloc", &next.realloc);
    find("free", &next.free);
    find("posix_memalign", &next.posix_memalign);
    find("aligned_alloc", &next.aligned_alloc);
    find("memalign", &next.memalign);
    find("valloc", &next.valloc);
    atomic_store_explicit(&state, 2, memory_order_release);
    return true;
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

PUBLIC void *malloc(size_t size)
{
    if (!ready()) return early_take(size);
    void *address = next.malloc(size);
    track_allocated(address, size);
    return address;
}

PUBLIC void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return refuse();
    if (!ready()) return early_take(bytes);
    void *address = next.calloc(count, size);
    track_allocated(address, bytes);
    return address;
}

PUBLIC void free(void *address)
{
    if (!address || is_early(address) || !ready()) return;
    int kept = errno; /* free leaves errno alone */
    track_releasing(address);
    errno = kept;
    next.free(address);
}

PUBLIC void *realloc(void *old, size_t size)
{
    if (!old) return malloc(size);
    if (is_early(old)) {
        void *address = malloc(size);
        size_t room = (size_t)(early + EARLY_BYTES - (char *)old);
        if (address) memcpy(address, old, size < room ? size : room);
        return address;
    }
    if (!ready()) return refuse();
    struct track_block before = track_take(old);
    void *address = next.realloc(old, size);
    track_reallocated(old, before, address, size);
    return address;
}

PUBLIC void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return refuse();
    return realloc(old, bytes);
}

PUBLIC int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (!ready() || !next.posix_memalign) return ENOMEM;
    int code = next.posix_memalign(out, alignment, size);
    if (code == 0) track_allocated(*out, size);
    return code;
}

static void *aligned(void *(*call)(size_t, size_t), size_t alignment, size_t size)
{
    void *address = call ? call(alignment, size) : refuse();
    track_allocated(address, size);
    return address;
}

PUBLIC void *aligned_alloc(size_t alignment, size_t size)
{
    return ready() ? aligned(next.aligned_alloc, alignment, size) : refuse();
}

PUBLIC void *memalign(size_t alignment, size_t size)
{
    return ready() ? aligned(next.memalign, alignment, size) : refuse();
}

PUBLIC void *valloc(size_t size)
{
    void *address = ready() && next.valloc ? next.valloc(size) : refuse();
    track_allocated(address, size);
    return address;
}
