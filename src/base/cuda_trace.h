/* cuda_trace.h - the interface of the CUDA recorder (src/cuda, a separate library): the file it
 * writes, which import/import_cupti.c reads, and the calls of a program that loads it itself.
 *
 * The file is append-only: a head, then blocks, each with its length and a CRC-32 (IEEE 802.3), so
 * that what was written before a crash can be read and a torn end is noticed.
 *
 *   file   = struct assay__cuda_file_head, block …
 *   block  = struct assay__cuda_block_head, record … (`bytes` bytes of records)
 *   record = one of the structs below: the head's `bytes` is its length, a multiple of 8
 *
 * Little-endian. A later version may append members to a record and add types: a reader takes what
 * it knows of a record and skips types that it does not know. Times are nanoseconds of CUPTI's
 * clock (Unix time on Linux). Strings are numbered from 1 in the order of their records; 0: none.
 */
#ifndef ASSAY_BASE_CUDA_TRACE_H
#define ASSAY_BASE_CUDA_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__CUDA_FILE_MAGIC "ASSAYCU\n"
#define ASSAY__CUDA_FILE_VERSION 1u
#define ASSAY__CUDA_BLOCK_MARK 0x4b4c4241u        /* "ABLK" */
#define ASSAY__CUDA_BLOCK_BYTES ((size_t)4 << 20) /* the longest block */
#define ASSAY__CUDA_TEXT_BYTES 65535u             /* the longest string */

struct assay__cuda_file_head {
    char magic[8];
    uint32_t version, head_bytes;
};
struct assay__cuda_block_head {
    uint32_t mark, bytes, crc, records;
};
struct assay__cuda_record {
    uint16_t type, flags; /* enum assay__cuda_record_type */
    uint32_t bytes;       /* with this head */
};

enum assay__cuda_record_type {
    ASSAY__CUDA_STRING = 1,
    ASSAY__CUDA_PROCESS,
    ASSAY__CUDA_DEVICE,
    ASSAY__CUDA_KERNEL,
    ASSAY__CUDA_COPY,
    ASSAY__CUDA_MEMSET,
    ASSAY__CUDA_WAIT,
    ASSAY__CUDA_CALL,
    ASSAY__CUDA_MARK,
    ASSAY__CUDA_EXTERNAL,
    ASSAY__CUDA_STATE,
    ASSAY__CUDA_DROPPED,
    ASSAY__CUDA_FAILURE,
    ASSAY__CUDA_SPAN
};

struct assay__cuda_string {
    struct assay__cuda_record head;
    uint32_t number, length; /* `length` bytes follow, padded with zeros */
};
struct assay__cuda_process { /* first in every file */
    struct assay__cuda_record head;
    int64_t unix_ns, monotonic_ns, cupti_ns; /* read one after the other; cupti_ns 0: no CUPTI */
    uint32_t pid, parent, cupti_version, driver_version;
    uint32_t command, reserved; /* string */
};
struct assay__cuda_device {
    struct assay__cuda_record head;
    uint64_t memory_bytes;
    uint32_t number, name, multiprocessors, clock_khz; /* name: string */
    uint32_t capability_major, capability_minor;
};
struct assay__cuda_kernel {
    struct assay__cuda_record head;
    uint64_t start_ns, end_ns;
    uint32_t name, correlation, device, context, stream, graph; /* name: string; graph 0: none */
    uint32_t grid[3], block[3];
    uint32_t registers, shared_bytes;
    uint64_t graph_node;
};
struct assay__cuda_copy {
    struct assay__cuda_record head;
    uint64_t start_ns, end_ns, bytes;
    uint32_t correlation, device, context, stream, graph;
    uint8_t kind, from, to, flags; /* CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind */
};
struct assay__cuda_memset {
    struct assay__cuda_record head;
    uint64_t start_ns, end_ns, bytes;
    uint32_t correlation, device, context, stream, graph, memory;
};
struct assay__cuda_wait { /* a synchronisation, as CUPTI records it */
    struct assay__cuda_record head;
    uint64_t start_ns, end_ns;
    uint32_t type, correlation, context, stream; /* CUpti_ActivitySynchronizationType */
};
struct assay__cuda_call {
    struct assay__cuda_record head;
    uint64_t start_ns, end_ns;
    uint32_t name, correlation, thread, result; /* name: string */
    uint32_t is_driver, reserved;               /* a call of the driver, else of the runtime */
};
enum assay__cuda_mark_kind {
    ASSAY__CUDA_MARK_INSTANT,
    ASSAY__CUDA_MARK_PUSH,
    ASSAY__CUDA_MARK_POP,
    ASSAY__CUDA_MARK_START, /* `id` joins it with its end, which may be on another thread */
    ASSAY__CUDA_MARK_END
};
struct assay__cuda_mark { /* NVTX */
    struct assay__cuda_record head;
    uint64_t time_ns, id, domain;          /* domain: a number of our own; 0: the default one */
    uint32_t name, thread, kind, reserved; /* string; enum assay__cuda_mark_kind */
};
struct assay__cuda_external { /* what was pushed on the thread when the call was made */
    struct assay__cuda_record head;
    uint64_t id;
    uint32_t correlation, kind;
};
struct assay__cuda_state { /* recording began or ended; END: the process left in order */
    struct assay__cuda_record head;
    uint64_t time_ns;
    uint32_t state, reserved;
};
enum assay__cuda_state_kind {
    ASSAY__CUDA_STATE_START,
    ASSAY__CUDA_STATE_STOP,
    ASSAY__CUDA_STATE_END
};
struct assay__cuda_dropped { /* since the record before */
    struct assay__cuda_record head;
    uint64_t by_cupti, by_writer, marks;
};
struct assay__cuda_failure { /* nothing, or nothing more, is recorded */
    struct assay__cuda_record head;
    uint32_t code, text; /* CUptiResult or errno; string: the reason and what to do */
};
enum assay__cuda_span_kind {
    ASSAY__CUDA_SPAN_STEP, /* an inference */
    ASSAY__CUDA_SPAN_LAYER
};
struct assay__cuda_span { /* of a host thread; from a worker that traces its own model */
    struct assay__cuda_record head;
    uint64_t start_ns, end_ns;
    uint32_t name, op, provider, thread; /* strings */
    uint32_t kind, reserved;
};

/* --- the library ------------------------------------------------------------------------------ */

#define ASSAY__CUDA_TRACE_ABI 1
#define ASSAY__CUDA_TRACE_SYMBOL "assay_cuda_trace"
#define ASSAY__CUDA_TRACE_LIBRARY "libassay-cuda-trace.so"
/* Options of an injected library: "key=value,…", `file` last (its value may have commas). */
#define ASSAY__CUDA_TRACE_VARIABLE "ASSAY_CUDA_TRACE"

/** What is recorded: bits. */
enum assay__cuda_kinds {
    ASSAY__CUDA_KERNELS = 1,
    ASSAY__CUDA_COPIES = 2, /* and memsets */
    ASSAY__CUDA_SYNCS = 4,
    ASSAY__CUDA_CALLS = 8,        /* runtime calls that explain something */
    ASSAY__CUDA_CALLS_ALL = 32,   /* every call of the runtime and the driver */
    ASSAY__CUDA_EXTERNAL_IDS = 64 /* push and pop; they come only with CALLS_ALL */
};

struct assay__cuda_trace_options {
    size_t size;
    const char *file; /* the file is FILE.PID.cutrace; NULL: records go only to the sink */
    /** Gets the records of a block (as in the file) on the writer's thread; may be NULL. */
    void (*sink)(void *data, const void *records, size_t bytes);
    void *sink_data;
    unsigned kinds;               /* 0: kernels, copies, syncs and calls */
    size_t buffer_bytes, buffers; /* of CUPTI, at most; 0: 4 MiB, 32 */
    uint32_t flush_ms;            /* completed records are written that often; 0: 100 */
    uint32_t delay_ms, duration_ms;
    const char *nvtx; /* record only inside ranges of that name; NULL: always */
    int signal;       /* number of the signal that starts and stops; 0: none */
    bool paused;      /* record only after start() */
};

struct assay__cuda_trace_counts {
    uint64_t records, kernels, dropped_by_cupti, dropped_by_writer, dropped_marks, bytes;
};

/** One recording in a process. Calls return 0, or -1 with the reason (and what to do) in `why`. */
struct assay__cuda_trace_api {
    uint32_t abi;
    size_t size;
    int (*open)(const struct assay__cuda_trace_options *options, char *why, size_t room);
    int (*start)(char *why, size_t room);
    int (*stop)(char *why, size_t room);
    /** What the device has completed is at the sink and in the file when it returns. The caller has
     *  synchronised with the device, or takes what there is. */
    int (*flush)(char *why, size_t room);
    /** What this thread launches from now on belongs to that id, until pop or the next push. */
    int (*push)(uint64_t id);
    int (*pop)(void);
    void (*counts)(struct assay__cuda_trace_counts *counts);
    /** Flushes and ends; it can be opened again. */
    void (*close)(void);
    /** CUPTI's clock, which the records' times are of. Since size grew beyond `close`. */
    uint64_t (*now_ns)(void);
};

typedef const struct assay__cuda_trace_api *assay__cuda_trace_fn(void);

#endif
