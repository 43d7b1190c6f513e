/* topology.h - how the processors of this machine are laid out: packages, dies, cores, hardware
 * threads, kinds of cores, caches, memory nodes. Through hwloc, which supports Linux, macOS and
 * more (posix_topology.c). Below $ASSAY_FSROOT it is the machine of that tree: the real one is not
 * queried then. What is not known is 0 or "". */
#ifndef ASSAY_PLATFORM_TOPOLOGY_H
#define ASSAY_PLATFORM_TOPOLOGY_H

#include "base/arena.h"

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

/* Caches that are alike: one row. */
struct assay__cache {
    int level;           /* 1 … 5 */
    const char *kind;    /* "data", "instruction", "unified" */
    uint64_t size_bytes; /* of one; 0 unknown */
    unsigned line_bytes; /* 0 unknown */
    int ways;            /* associativity; 0 unknown, -1 full */
    int threads;         /* hardware threads that share one */
    int count;           /* how many there are */
};

/* Cores of one kind. Slowest kind first, as hwloc ranks them. */
struct assay__core_kind {
    /* "performance", "efficiency"; if there are not two kinds, what the processor calls it; "" */
    const char *name;
    int cores; /* 0 unknown */
    int threads;
    const char *cpus; /* "0-7" */
    double max_hz;    /* 0 unknown */
};

struct assay__memory_node {
    int number;            /* the system's */
    uint64_t memory_bytes; /* 0 unknown */
    /* "0-31": the CPUs near it; for a node without processors (expansion memory), those of the part
     * of the machine it belongs to */
    const char *cpus;
};

struct assay__topology {
    const char *reason;                 /* why nothing is known; "" if it is */
    int packages, dies, cores, threads; /* 0 unknown */
    /* min and max; they differ between kinds of cores; 0 unknown */
    int least_threads_per_core, threads_per_core;
    const char *allowed;                  /* CPUs that this process may use: "0-3,8"; "" unknown */
    int allowed_count;                    /* 0 unknown */
    const struct assay__core_kind *kinds; /* count 0: no kinds are known, or all are alike */
    size_t kind_count;
    const struct assay__cache *caches; /* by level, data before instruction */
    size_t cache_count;
    const struct assay__memory_node *nodes;
    size_t node_count; /* 0 unknown */
};

/** Reads it, into the arena. A machine that cannot be described is not an error: `reason` says why.
 * ASSAY_ENOMEM. hwloc takes the root of a captured machine from the environment, which is not
 * changed: a setting that describes another machine becomes the reason. */
int assay__topology_read(struct assay__arena *arena, struct assay__topology *topology,
                         struct assay_error *error);

#endif
