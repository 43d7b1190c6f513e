/* perf_sampling.h - samples of where a program is, by Linux's perf_event_open: events on each
 * processor that the program and everything it starts inherit, and a ring buffer per processor.
 * Implementations: linux_perf_sampling.c; darwin_perf.c (there is no such call).
 *
 * The records are the kernel's; the part of its ABI that we read is declared here, so that recorded
 * buffers can be read on every system. */
#ifndef ASSAY_PLATFORM_PERF_SAMPLING_H
#define ASSAY_PLATFORM_PERF_SAMPLING_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct assay__perf_head { /* perf_event_header */
    uint32_t type;
    uint16_t misc, bytes; /* with this head */
};
enum assay__perf_type { /* PERF_RECORD_… */
                        ASSAY__PERF_LOST = 2,
                        ASSAY__PERF_COMM = 3,
                        ASSAY__PERF_EXIT = 4,
                        ASSAY__PERF_FORK = 7,
                        ASSAY__PERF_SAMPLE = 9,
                        ASSAY__PERF_MMAP2 = 10
};
#define ASSAY__PERF_MODE_MASK 7u                   /* of misc: where the processor was … */
#define ASSAY__PERF_MODE_KERNEL 1u                 /* … in the kernel */
#define ASSAY__PERF_COMM_EXEC 8192u                /* of misc, in COMM: a program was executed */
#define ASSAY__PERF_CONTEXT_MOST ((uint64_t)-4095) /* from here on: a mark within a call chain */

/* Behind the head of a sample: pid, tid, time, period, count of addresses, addresses (innermost
 * first). Of the others: what belongs to the type, then pid, tid, time. */
struct assay__perf_sample {
    struct assay__perf_head head;
    uint32_t pid, tid;
    uint64_t time_ns, period, address_count; /* CLOCK_MONOTONIC */
};
struct assay__perf_lost {
    struct assay__perf_head head;
    uint64_t id, lost;
};
struct assay__perf_comm {
    struct assay__perf_head head;
    uint32_t pid, tid; /* a text follows */
};
struct assay__perf_task { /* FORK, EXIT */
    struct assay__perf_head head;
    uint32_t pid, parent, tid, parent_tid;
    uint64_t time_ns;
};
struct assay__perf_mmap2 {
    struct assay__perf_head head;
    uint32_t pid, tid;
    uint64_t start, length, file_offset;
    uint8_t identity[24];
    uint32_t protection, flags; /* a path follows */
};
struct assay__perf_tail {
    uint32_t pid, tid;
    uint64_t time_ns;
};

struct assay__perf_sampling;

struct assay__perf_sampling_options {
    pid_t pid; /* waits to execute a program: sampling begins there */
    unsigned rate_hz;
    bool is_paused; /* until assay__perf_sampling_enable */
};

struct assay__perf_sampling_about {
    bool is_cycles;  /* periods are cycles, else ns */
    bool has_kernel; /* time in the kernel is sampled too */
};

/** ASSAY_EDENIED: not permitted. ASSAY_EUNSUPPORTED: there is no such call, or no memory for rings.
 * * */
int assay__perf_sampling_open(const struct assay__perf_sampling_options *options,
                              struct assay__perf_sampling **sampling,
                              struct assay__perf_sampling_about *about, struct assay_error *error);
/** Begins or ends taking samples; what maps code is recorded all the same. */
void assay__perf_sampling_enable(struct assay__perf_sampling *sampling, bool on);
/** Waits until a ring is half full, or that long. */
void assay__perf_sampling_wait(struct assay__perf_sampling *sampling, int timeout_ms);
/** Hands out every record that there is, in the order of their times. A record is valid during the
 *  call, and whole. */
typedef void assay__perf_take(void *context, const struct assay__perf_head *record);
void assay__perf_sampling_drain(struct assay__perf_sampling *sampling, assay__perf_take *take,
                                void *context);
/** Processor time of the program while samples were taken, in ns; 0: unknown. */
int64_t assay__perf_sampling_running_ns(const struct assay__perf_sampling *sampling);
void assay__perf_sampling_close(struct assay__perf_sampling *sampling); /* NULL is allowed */

#endif
