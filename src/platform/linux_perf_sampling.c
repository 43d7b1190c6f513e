/* linux_perf_sampling.c - on each processor two events that the program's processes inherit: one
 * that takes samples, and one that counts nothing and reports what code is mapped, which threads
 * begin and what they are called. Both write into the processor's ring. Inherited events cannot
 * have one ring for all processors (the kernel refuses to map it).
 *
 * Rings are read at most up to where their heads were when reading began: what comes meanwhile
 * waits for the next time, so that a busy program cannot keep the reader for ever. */
#include "platform/perf_sampling.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_MOST ((size_t)512 << 10) /* with its first page what an ordinary user may lock */
#define RING_LEAST ((size_t)32 << 10)
#define CPUS_MOST 4096

struct ring {
    int samples, side; /* descriptors */
    struct perf_event_mmap_page *page;
    const char *data;
    size_t bytes;                  /* of data: a power of two */
    uint64_t tail, head;           /* what is being read … */
    struct perf_event_header next; /* … its next record, if there is one … */
    uint64_t next_ns;              /* … and that record's time; UINT64_MAX: there is none */
};

struct assay__perf_sampling {
    struct ring *rings;
    struct pollfd *polled;
    size_t count;
    _Alignas(8) char whole[65536]; /* a record in one piece */
};

/* --- opening ---------------------------------------------------------------------------------- */

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
    attr->size = sizeof *attr;
    attr->disabled = 1;
    attr->inherit = 1;
    attr->sample_id_all = 1;
    attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                        PERF_SAMPLE_CALLCHAIN;
    attr->exclude_callchain_kernel = 1;
    attr->exclude_hv = 1;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC;
    attr->watermark = 1;
    attr->wakeup_watermark = RING_MOST / 2;
    attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_samples(const struct assay__perf_sampling_options *o, int cpu,
                        const struct assay__perf_sampling_about *about)
{
    struct perf_event_attr attr = {0};
    attr.type = about->is_cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
    attr.config = about->is_cycles ? (uint64_t)PERF_COUNT_HW_CPU_CYCLES
                                   : (uint64_t)PERF_COUNT_SW_CPU_CLOCK;
    attr.freq = about->is_cycles; /* a clock's period is a time as it is */
    if (about->is_cycles)
        attr.sample_freq = o->rate_hz;
    else
        attr.sample_period = 1000000000u / o->rate_hz;
    attr.exclude_kernel = !about->has_kernel;
    attr.enable_on_exec = !o->is_paused;
    return open_event(&attr, o->pid, cpu);
}

static int open_side(const struct assay__perf_sampling_options *o, int cpu)
{
    struct perf_event_attr attr = {0};
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.exclude_kernel = 1;
    attr.enable_on_exec = 1;
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
    return open_event(&attr, o->pid, cpu);
}

/* Cycles where there is a counter of them, the kernel's clock else; with what happens in the kernel
 * where that is permitted. Returns the descriptor of processor `cpu`, or -1 with errno. */
static int choose_event(const struct assay__perf_sampling_options *o, int cpu,
                        struct assay__perf_sampling_about *about)
{
    int fd = -1;
    for (int i = 0; i < 4 && fd < 0; i++) {
        about->is_cycles = i < 2;
        about->has_kernel = i % 2 == 0;
        fd = open_samples(o, cpu, about);
    }
    return fd;
}

static bool map_ring(struct ring *ring)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (ring->bytes = RING_MOST; ring->bytes >= RING_LEAST; ring->bytes /= 2) {
        void *memory = mmap(NULL, page + ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                            ring->samples, 0);
        if (memory == MAP_FAILED) continue;
        ring->page = memory;
        ring->data = (const char *)memory + page;
        return true;
    }
    return false;
}

/* *first: an event that is open already; -1: none. False with errno. */
static bool open_ring(struct assay__perf_sampling *s, const struct assay__perf_sampling_options *o,
                      int cpu, const struct assay__perf_sampling_about *about, int *first)
{
    struct ring *ring = &s->rings[s->count];
    *ring = (struct ring){.samples = *first >= 0 ? *first : open_samples(o, cpu, about)};
    *first = -1;
    if (ring->samples < 0) return errno == ENODEV; /* a processor that is off has no ring */
    s->polled[s->count] = (struct pollfd){.fd = ring->samples, .events = POLLIN};
    s->count++;
    ring->side = open_side(o, cpu);
    return ring->side >= 0 && map_ring(ring) &&
           ioctl(ring->side, PERF_EVENT_IOC_SET_OUTPUT, ring->samples) == 0;
}

static int refuse(struct assay_error *error, int reason)
{
    if (reason == EACCES || reason == EPERM)
        return assay_error_set(error, ASSAY_EDENIED, "permission denied");
    return assay_error_set(error, ASSAY_EUNSUPPORTED, "perf_event_open: %s", strerror(reason));
}

static int make_ready(struct assay__perf_sampling *s, const struct assay__perf_sampling_options *o,
                      struct assay__perf_sampling_about *about)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    int first = -1, cpu = 0;
    if (cpus < 1 || cpus > CPUS_MOST) return EINVAL;
    s->rings = calloc((size_t)cpus, sizeof *s->rings);
    s->polled = calloc((size_t)cpus, sizeof *s->polled);
    if (!s->rings || !s->polled) return ENOMEM;
    for (; cpu < cpus && first < 0; cpu++) {
        first = choose_event(o, cpu, about);
        if (first < 0 && errno != ENODEV) return errno;
    }
    for (cpu--; cpu < cpus; cpu++)
        if (!open_ring(s, o, cpu, about, &first)) return errno;
    return s->count ? 0 : ENODEV;
}

int assay__perf_sampling_open(const struct assay__perf_sampling_options *options,
                              struct assay__perf_sampling **sampling,
                              struct assay__perf_sampling_about *about, struct assay_error *error)
{
    struct assay__perf_sampling *s = calloc(1, sizeof *s);
    int reason = s ? make_ready(s, options, about) : ENOMEM;
    *sampling = reason ? NULL : s;
    if (!reason) return 0;
    assay__perf_sampling_close(s);
    return refuse(error, reason);
}

void assay__perf_sampling_close(struct assay__perf_sampling *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->count; i++) {
        struct ring *ring = &s->rings[i];
        if (ring->page) munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->bytes);
        if (ring->side >= 0) close(ring->side);
        close(ring->samples);
    }
    free(s->rings);
    free(s->polled);
    free(s);
}

/* --- running ---------------------------------------------------------------------------------- */

void assay__perf_sampling_enable(struct assay__perf_sampling *s, bool on)
{
    for (size_t i = 0; i < s->count; i++)
        ioctl(s->rings[i].samples, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* A ring whose processes have all ended is always ready: waiting for it would not wait. */
void assay__perf_sampling_wait(struct assay__perf_sampling *s, int timeout_ms)
{
    if (poll(s->polled, (nfds_t)s->count, timeout_ms) <= 0) return;
    for (size_t i = 0; i < s->count; i++)
        if (s->polled[i].revents & (POLLHUP | POLLERR | POLLNVAL)) s->polled[i].fd = -1;
}

int64_t assay__perf_sampling_running_ns(const struct assay__perf_sampling *s)
{
    uint64_t sum_ns = 0, words[3]; /* count, time enabled, time running */
    for (size_t i = 0; i < s->count; i++)
        if (read(s->rings[i].samples, words, sizeof words) == (ssize_t)sizeof words)
            sum_ns += words[2];
    return sum_ns < INT64_MAX ? (int64_t)sum_ns : 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void copy_out(const struct ring *ring, uint64_t at, void *to, size_t bytes)
{
    size_t place = (size_t)(at & (ring->bytes - 1)), part = ring->bytes - place;
    if (part > bytes) part = bytes;
    memcpy(to, ring->data + place, part);
    memcpy((char *)to + part, ring->data, bytes - part);
}

/* Looks at the next record. Samples have their time behind pid and tid, all others at their end. A
 * ring that is not what it should be has no more of them. */
static void look(struct ring *ring)
{
    uint64_t left = ring->head - ring->tail;
    ring->next_ns = UINT64_MAX;
    if (left < sizeof ring->next) return;
    copy_out(ring, ring->tail, &ring->next, sizeof ring->next);
    size_t bytes = ring->next.size;
    if (bytes < sizeof ring->next || bytes > left) return;
    ring->next_ns = 0;
    if (bytes < 24) return;
    uint64_t at = ring->tail + (ring->next.type == PERF_RECORD_SAMPLE ? 16 : bytes - 8);
    copy_out(ring, at, &ring->next_ns, sizeof ring->next_ns);
}

static struct ring *earliest(struct assay__perf_sampling *s)
{
    struct ring *found = NULL;
    for (size_t i = 0; i < s->count; i++)
        if (s->rings[i].next_ns < (found ? found->next_ns : UINT64_MAX)) found = &s->rings[i];
    return found;
}

void assay__perf_sampling_drain(struct assay__perf_sampling *s, assay__perf_take *take,
                                void *context)
{
    for (size_t i = 0; i < s->count; i++) {
        struct ring *ring = &s->rings[i];
        ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        look(ring);
    }
    for (struct ring *ring; (ring = earliest(s));) {
        copy_out(ring, ring->tail, s->whole, ring->next.size);
        take(context, (const void *)s->whole);
        ring->tail += ring->next.size;
        __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
        look(ring);
    }
}
