/* cpu_maps.c - a sorted array of mappings per process. The slots of processes that have ended are
 * used again when the table is full of them, so that a program that starts millions of processes
 * takes the memory of those that live. */
#include "run/tracing/cpu_maps.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define MAPS_MOST 65536u /* of a process: the kernel's own limit is about that */

void assay__cpu_maps_free(struct assay__cpu_maps *maps)
{
    for (size_t i = 0; i < maps->slots; i++)
        free(maps->processes[i].maps);
    free(maps->processes);
    *maps = (struct assay__cpu_maps){0};
}

static size_t slot_of(const struct assay__cpu_process *processes, size_t slots, uint32_t pid)
{
    size_t slot = (pid * 2654435761u >> 4) & (slots - 1);
    while (processes[slot].pid && processes[slot].pid != pid)
        slot = (slot + 1) & (slots - 1);
    return slot;
}

const struct assay__cpu_process *assay__cpu_maps_process(const struct assay__cpu_maps *maps,
                                                         uint32_t pid)
{
    if (!maps->slots || !pid) return NULL;
    const struct assay__cpu_process *found =
        &maps->processes[slot_of(maps->processes, maps->slots, pid)];
    return found->pid ? found : NULL;
}

/* A larger table, or one of the same size without those that have ended. */
static bool grow(struct assay__cpu_maps *maps)
{
    size_t living = 0, slots = 64;
    for (size_t i = 0; i < maps->slots; i++)
        living += maps->processes[i].count > 0;
    while (slots < living * 4)
        slots *= 2;
    struct assay__cpu_process *processes = calloc(slots, sizeof *processes);
    if (!processes) return false;
    for (size_t i = 0; i < maps->slots; i++) {
        struct assay__cpu_process *process = &maps->processes[i];
        if (process->count)
            processes[slot_of(processes, slots, process->pid)] = *process;
        else
            free(process->maps);
    }
    free(maps->processes);
    maps->processes = processes;
    maps->slots = slots;
    maps->count = living;
    return true;
}

static struct assay__cpu_process *process_of(struct assay__cpu_maps *maps, uint32_t pid)
{
    if (!pid) return NULL;
    if (maps->count * 2 >= maps->slots && !grow(maps)) {
        maps->failed = true;
        return NULL;
    }
    struct assay__cpu_process *process =
        &maps->processes[slot_of(maps->processes, maps->slots, pid)];
    if (!process->pid) {
        process->pid = pid;
        maps->count++;
    }
    process->generation = ++maps->generations;
    return process;
}

/* The place of the first mapping that ends behind the address. */
static size_t place_of(const struct assay__cpu_process *process, uint64_t address)
{
    size_t low = 0, high = process->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (process->maps[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct assay__cpu_map *assay__cpu_maps_find(const struct assay__cpu_process *process,
                                                  uint64_t address)
{
    size_t place = process ? place_of(process, address) : 0;
    if (!process || place == process->count || process->maps[place].start > address) return NULL;
    return &process->maps[place];
}

/* Takes what the new mapping covers from the old ones, of which one may be left in two parts. */
static size_t make_room(struct assay__cpu_process *process, const struct assay__cpu_map *map)
{
    size_t place = place_of(process, map->start), last = place;
    struct assay__cpu_map *maps = process->maps;
    if (place < process->count && maps[place].start < map->start) {
        struct assay__cpu_map rest = maps[place];
        maps[place++].end = map->start;
        last = place;
        if (rest.end > map->end) { /* it lies within */
            memmove(&maps[place + 1], &maps[place], (process->count - place) * sizeof *maps);
            process->count++;
            maps[place] = rest;
        }
    }
    while (last < process->count && maps[last].end <= map->end)
        last++;
    if (last < process->count && maps[last].start < map->end) {
        maps[last].file_offset += map->end - maps[last].start;
        maps[last].start = map->end;
    }
    memmove(&maps[place], &maps[last], (process->count - last) * sizeof *maps);
    process->count -= last - place;
    return place;
}

void assay__cpu_maps_add(struct assay__cpu_maps *maps, uint32_t pid,
                         const struct assay__cpu_map *map)
{
    struct assay__cpu_process *process = process_of(maps, pid);
    if (!process || map->end <= map->start || process->count >= MAPS_MOST) return;
    if (assay__vec_grow((void **)&process->maps, &process->capacity, process->count + 2,
                        sizeof *process->maps)) {
        maps->failed = true;
        return;
    }
    size_t place = make_room(process, map);
    memmove(&process->maps[place + 1], &process->maps[place],
            (process->count - place) * sizeof *process->maps);
    process->maps[place] = *map;
    process->count++;
}

void assay__cpu_maps_clear(struct assay__cpu_maps *maps, uint32_t pid)
{
    if (!assay__cpu_maps_process(maps, pid)) return;
    struct assay__cpu_process *process = process_of(maps, pid);
    if (process) process->count = 0;
}

void assay__cpu_maps_fork(struct assay__cpu_maps *maps, uint32_t parent, uint32_t pid)
{
    if (parent == pid || !assay__cpu_maps_process(maps, parent)) return;
    struct assay__cpu_process *process = process_of(maps, pid); /* may move the parent */
    const struct assay__cpu_process *from = assay__cpu_maps_process(maps, parent);
    if (!process || !from || !from->count) return;
    if (assay__vec_grow((void **)&process->maps, &process->capacity, from->count,
                        sizeof *process->maps)) {
        maps->failed = true;
        return;
    }
    memcpy(process->maps, from->maps, from->count * sizeof *process->maps);
    process->count = from->count;
}
