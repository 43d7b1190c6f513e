/* cpu_trace.h - the file of the CPU recorder (run/tracing), which import/import_cpu.c reads:
 * samples of where threads are, with their stacks.
 *
 *   file   = struct assay__cpu_file_head, record …
 *   record = one of the structs below: the head's `bytes` is its length, a multiple of 8
 *
 * Stacks share their beginnings: a node is a frame below another node, so that a stack is the
 * number of its innermost node. A frame is a place in a file (or, where there is none, in the
 * memory of a process); its function's name comes at the end, when symbols are read. Numbers count
 * from 1 in the order of the records; 0: none. Times are nanoseconds of CLOCK_MONOTONIC.
 * Little-endian. A later version may append members to a record and add types: a reader takes what
 * it knows of a record and skips types that it does not know. */
#ifndef ASSAY_BASE_CPU_TRACE_H
#define ASSAY_BASE_CPU_TRACE_H

#include <stdint.h>

#define ASSAY__CPU_FILE_MAGIC "ASSAYCP\n"
#define ASSAY__CPU_FILE_VERSION 1u
#define ASSAY__CPU_RECORD_BYTES 65536u /* the longest record */
#define ASSAY__CPU_DEPTH_MOST 1024u    /* nodes of a stack */

struct assay__cpu_file_head {
    char magic[8];
    uint32_t version, head_bytes;
};
struct assay__cpu_record {
    uint16_t type, flags; /* enum assay__cpu_record_type */
    uint32_t bytes;       /* with this head */
};

enum assay__cpu_record_type {
    ASSAY__CPU_STRING = 1,
    ASSAY__CPU_BEGIN,
    ASSAY__CPU_THREAD,
    ASSAY__CPU_FRAME,
    ASSAY__CPU_NODE,
    ASSAY__CPU_SAMPLES,
    ASSAY__CPU_NAME,
    ASSAY__CPU_END
};

struct assay__cpu_string {
    struct assay__cpu_record head;
    uint32_t number, length; /* `length` bytes follow, padded with zeros */
};
enum assay__cpu_event {
    ASSAY__CPU_CLOCK, /* a sample's weight is ns of processor time */
    ASSAY__CPU_CYCLES /* … cycles */
};
struct assay__cpu_begin { /* first in every file */
    struct assay__cpu_record head;
    int64_t unix_ns, monotonic_ns; /* read one after the other */
    uint32_t rate_hz, event;       /* enum assay__cpu_event */
    uint32_t has_kernel, pid;      /* time in the kernel is sampled too; of the program */
};
struct assay__cpu_thread { /* again with the same number: it has another name now */
    struct assay__cpu_record head;
    uint32_t number, name; /* string */
    uint32_t pid, tid;
};
struct assay__cpu_frame {
    struct assay__cpu_record head;
    uint64_t offset;         /* in the file, or an address */
    uint32_t number, module; /* string: "/usr/lib/libx.so", "[kernel]" */
};
struct assay__cpu_node {
    struct assay__cpu_record head;
    uint32_t number, parent, frame, reserved; /* parent 0: outermost */
};
struct assay__cpu_sample {
    int64_t time_ns;
    uint64_t weight;
    uint32_t thread, node; /* node 0: its stack is not known */
};
struct assay__cpu_samples {
    struct assay__cpu_record head; /* struct assay__cpu_sample … */
};
struct assay__cpu_name {
    struct assay__cpu_record head;
    uint32_t frame, name; /* string */
};
struct assay__cpu_end { /* the recorder left in order */
    struct assay__cpu_record head;
    int64_t running_ns; /* processor time while samples were taken; 0: unknown */
    uint64_t weight;    /* of all samples together: what that time is divided by */
    uint64_t samples;   /* that were taken */
    uint64_t kept;      /* … and written: of the others, those that are kept have the weight */
    uint64_t lost;      /* that the kernel could not hand over */
    uint64_t shallow;   /* whose stack is one function at most */
    uint64_t cut;       /* whose stack found no room in the table of stacks */
    int64_t cost_ns;    /* processor time of the recorder's thread */
    int64_t elapsed_ns; /* between begin and end */
    uint32_t reason, reserved; /* string: why recording ended early; 0: it did not */
};

#endif
