/* gpu_work.h - what the GPU did during runs of a model, from the records of the CUDA recorder
 * (base/cuda_trace.h), and which node each kernel belongs to. Pure functions of records.
 *
 *   gpu_work.c   the records of kernels, copies and memsets, in the order in which they were
 * launched gpu_parts.c  the time of a run divided into kernels, copies, gaps and host; kernels by
 * node */
#ifndef ASSAY_ENGINE_GPU_WORK_H
#define ASSAY_ENGINE_GPU_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum assay__gpu_kind { ASSAY__GPU_KERNEL, ASSAY__GPU_COPY, ASSAY__GPU_MEMSET };

struct assay__gpu_item {
    uint64_t start_ns, end_ns;
    uint64_t external; /* the id that was pushed when it was launched; 0: none, or not recorded */
    const char *name;  /* of a kernel, as long as the work; "" else */
    uint32_t correlation, device, stream, graph;
    enum assay__gpu_kind kind;
};

struct assay__gpu_external;

/** Records of one recording. Zero is empty. */
struct assay__gpu_work {
    struct assay__gpu_item *items;
    size_t count, capacity;
    struct assay__gpu_external *externals;
    size_t external_count, external_capacity;
    char **names; /* by number */
    size_t name_capacity;
    uint64_t dropped; /* records that were lost */
    bool no_memory;
};

/** Takes records, as the recorder's sink gets them; `work` is a struct assay__gpu_work. */
void assay__gpu_work_take(void *work, const void *records, size_t bytes);
/** Sorts the items by launch (work of one launch, a CUDA graph's, by start), with their external
 *  ids. */
void assay__gpu_work_order(struct assay__gpu_work *work);
void assay__gpu_work_free(struct assay__gpu_work *work);

/* --- a run ------------------------------------------------------------------------------------ */

struct assay__gpu_run {
    uint64_t begin_ns, end_ns; /* of the host's call, on the clock of the records */
    size_t first, count;       /* its items */
};
/** Finds the items of runs, which are in order of time, in ordered work: those that start in it. */
void assay__gpu_find_runs(const struct assay__gpu_work *work, struct assay__gpu_run *runs,
                          size_t count);

/** The kernels of a run in the order in which they were launched, and the nodes they belong to. */
struct assay__gpu_lesson {
    const char **names; /* the work's */
    size_t *nodes;      /* SIZE_MAX: none */
    size_t count;
};
/** From a run in which id p + 1 was pushed before what nodes[p] launches. 0 or ASSAY_ENOMEM. */
int assay__gpu_learn(const struct assay__gpu_work *work, const struct assay__gpu_run *run,
                     const size_t *nodes, size_t node_count, struct assay__gpu_lesson *lesson);
void assay__gpu_lesson_free(struct assay__gpu_lesson *lesson);
/** Whether a run has the same kernels in the same order. *at: the first that differs. */
bool assay__gpu_agrees(const struct assay__gpu_lesson *lesson, const struct assay__gpu_work *work,
                       const struct assay__gpu_run *run, size_t *at);
/** Puts the lesson into the order of a run that launched the same kernels of the same nodes, whose
 *  order differs: nodes that do not depend on each other may run in any. *equal: nodes that were
 *  moved though another one launches kernels of the same names, so that the two may be exchanged.
 *  0, ASSAY_ENOTFOUND: the run has other kernels (the lesson stays as it is), or ASSAY_ENOMEM. */
int assay__gpu_rearrange(struct assay__gpu_lesson *lesson, const struct assay__gpu_work *work,
                         const struct assay__gpu_run *run, size_t *equal);
/** The name of the run's kernel number `at`; NULL: it has fewer. */
const char *assay__gpu_kernel_name(const struct assay__gpu_work *work,
                                   const struct assay__gpu_run *run, size_t at);

/** Where the time of a run went: whole - host - gaps - copies = kernels, exactly. */
struct assay__gpu_parts {
    uint64_t whole_ns;
    uint64_t kernels_ns;                     /* at least one kernel ran */
    uint64_t copies_ns;                      /* a copy or memset, and no kernel */
    uint64_t gaps_ns;                        /* nothing, between the first and the last work */
    uint64_t host_ns;                        /* before the first and after the last work */
    size_t kernels, copies, streams, graphs; /* graphs: items of CUDA graphs */
};
/** node_ns and gap_ns, by node, are added to: the time of its kernels (of kernels at the same time
 *  it is the first one's), and the idle time just before each of them. lesson NULL: neither. 0 or
 *  ASSAY_ENOMEM. */
int assay__gpu_divide(const struct assay__gpu_work *work, const struct assay__gpu_run *run,
                      const struct assay__gpu_lesson *lesson, struct assay__gpu_parts *parts,
                      uint64_t *node_ns, uint64_t *gap_ns);

#endif
