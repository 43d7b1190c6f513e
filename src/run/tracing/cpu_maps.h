/* cpu_maps.h - which file each process has mapped where, as far as code goes: from the kernel's
 * records of mappings, forks, executions and ends. */
#ifndef ASSAY_RUN_TRACING_CPU_MAPS_H
#define ASSAY_RUN_TRACING_CPU_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__cpu_map {
    uint64_t start, end, file_offset;
    uint32_t module;         /* a number of the caller's */
    bool is_code_of_process; /* no file: an address is its own place */
};

struct assay__cpu_process {
    uint32_t pid;        /* 0: a free slot; a process that has ended keeps its slot, without maps */
    uint32_t generation; /* another one after each change, and of no other process */
    struct assay__cpu_map *maps; /* in order, not overlapping */
    size_t count, capacity;
};

struct assay__cpu_maps {
    struct assay__cpu_process *processes; /* a table by pid, of a power of two */
    size_t count, slots;
    uint32_t generations;
    bool failed; /* out of memory: what came then is not known */
};

void assay__cpu_maps_free(struct assay__cpu_maps *maps);
/** A mapping over whatever was there. */
void assay__cpu_maps_add(struct assay__cpu_maps *maps, uint32_t pid,
                         const struct assay__cpu_map *map);
void assay__cpu_maps_fork(struct assay__cpu_maps *maps, uint32_t parent, uint32_t pid);
/** It has ended, or executes another program: nothing is mapped. */
void assay__cpu_maps_clear(struct assay__cpu_maps *maps, uint32_t pid);
/** NULL: nothing is known of it. */
const struct assay__cpu_process *assay__cpu_maps_process(const struct assay__cpu_maps *maps,
                                                         uint32_t pid);
/** The mapping that holds the address; NULL: there is none. */
const struct assay__cpu_map *assay__cpu_maps_find(const struct assay__cpu_process *process,
                                                  uint64_t address);

#endif
