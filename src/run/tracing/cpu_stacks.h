/* cpu_stacks.h - folds the kernel's samples into the file of the CPU recorder: each thread, place
 * and stack is written once, and a sample is 24 bytes.
 *
 * Memory does not grow with time. Tables of places, stacks and threads have a limit each, beyond
 * which a stack is cut where it is not known yet. What is written grows with the logarithm of time:
 * after samples_most / 2 samples every second one is written, with twice the weight, after
 * samples_most / 16 of those every fourth, and so on; which of them is left to chance. */
#ifndef ASSAY_RUN_TRACING_CPU_STACKS_H
#define ASSAY_RUN_TRACING_CPU_STACKS_H

#include "base/pairs.h"
#include "platform/perf_sampling.h"
#include "run/tracing/cpu_file.h"
#include "run/tracing/cpu_maps.h"

/* 24 bytes each on disk, 64 while they are explained. Half of them are an hour of one busy
 * processor at 1 kHz, and more; with all of them, twenty hours. */
#define ASSAY__CPU_SAMPLES_MOST ((uint64_t)8 << 20)

struct assay__cpu_counts {
    uint64_t samples, weight, kept, lost, shallow, cut;
};

struct assay__cpu_stacks {
    struct assay__cpu_file *file;
    struct assay__cpu_maps maps;
    struct assay__pairs threads; /* a: pid and tid */
    uint32_t *thread_names;      /* strings, by number - 1 */
    size_t thread_name_capacity;
    struct assay__pairs frames; /* a: offset, b: module */
    struct assay__pairs nodes;  /* a: parent, b: frame */
    struct assay__cpu_recent {  /* of the last stacks: hash -> node */
        uint64_t hash;
        uint32_t node;
    } recent[4096];
    uint64_t samples_most; /* 0: the above */
    unsigned thinned;      /* one of 2^thinned samples is kept */
    uint64_t chance;
    struct assay__cpu_counts counts;
};

/** The file is open; *stacks is zeroed but for samples_most. */
void assay__cpu_stacks_begin(struct assay__cpu_stacks *stacks, struct assay__cpu_file *file);
/** assay__perf_take; context: the stacks. */
void assay__cpu_stacks_take(void *context, const struct assay__perf_head *record);
/** Whether memory ran out: some of it is missing then. */
bool assay__cpu_stacks_failed(const struct assay__cpu_stacks *stacks);
void assay__cpu_stacks_free(struct assay__cpu_stacks *stacks);

/** Names of all frames into the file: from symbol tables of files and from the maps of code that a
 *  process made at run time (perf-PID.map in `maps_folder`, not older than that Unix time). */
void assay__cpu_names_write(struct assay__cpu_stacks *stacks, const char *maps_folder,
                            int64_t since_s);

/* Modules that are no files; behind the second is the number of the process. */
#define ASSAY__CPU_KERNEL "[kernel]"
#define ASSAY__CPU_GENERATED "[generated code of process "
#define ASSAY__CPU_UNKNOWN "[unknown]"

#endif
