/* load_layers.c - the times of a trial's layers by launch, from an untrusted file. A launch counts
 * when its chunks hold one time for every layer, no more and no less; one that does not is left
 * out, and a note says so. The bytes of the chunks are counted against the file before anything is
 * allocated, and a value takes at least one of them. Tables that are not there are nothing kept, as
 * in profiles from before they existed. */
#include "profile/chunk.h"
#include "profile/rows.h"

#include <math.h>
#include <limits.h>
#include <stdlib.h>

/* Whether the launch's chunks can hold `layers` times; *any: there are some. */
static bool measure(struct assay__loader *loader, int64_t trial, int launch, size_t layers,
                    bool *any)
{
    size_t total = 0;
    bool sound = true;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT count, length(data) AS size FROM layer_time_chunks WHERE trial=?1 AND launch=?2",
        trial, launch);
    *any = false;
    while (assay__rows_next(&rows)) {
        int64_t count = assay__rows_int(&rows, "count", 1, (int64_t)ASSAY__CHUNK_VALUES, -1);
        int64_t size = assay__rows_int(&rows, "size", 0, INT_MAX, 0);
        *any = true;
        if (!assay__rows_charge(loader, (uint64_t)size)) continue;
        if (count < 0 || size < count || (size_t)count > layers - total)
            sound = false;
        else
            total += (size_t)count;
    }
    return sound && *any && total == layers;
}

/* Decodes the chunks into `column`; false when they are not one time for every layer. */
static bool decode(struct assay__loader *loader, int64_t trial, int launch, size_t layers,
                   double *column)
{
    size_t have = 0;
    bool sound = true;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT first, count, encoding, data FROM layer_time_chunks WHERE trial=?1 AND launch=?2"
        " ORDER BY chunk",
        trial, launch);
    while (sound && assay__rows_next(&rows)) {
        int64_t first = assay__rows_int(&rows, "first", 0, INT64_MAX, -1);
        int64_t count = assay__rows_int(&rows, "count", 1, (int64_t)ASSAY__CHUNK_VALUES, -1);
        sound = first == (int64_t)have && count > 0 && (size_t)count <= layers - have &&
                assay__sql_chunk(rows.statement, 2, (size_t)count, column + have) == 0;
        have += sound ? (size_t)count : 0;
    }
    assay__rows_stop(&rows);
    return sound && have == layers;
}

static void note_lost(struct assay__loader *loader, struct assay__trial *trial, int launch)
{
    assay__load_note(loader, trial,
                     assay__arena_printf(loader->profile->arena,
                                         "damaged profile: the layer times of launch %d are lost",
                                         launch));
}

/* The ids of the launches that can hold a time for every layer; malloc. */
static int *find_launches(struct assay__loader *loader, struct assay__trial *trial, size_t *count)
{
    int *ids = malloc((trial->launch_count + 1) * sizeof *ids);
    *count = 0;
    for (size_t i = 0; ids && i < trial->launch_count && !loader->code; i++) {
        bool any = false;
        if (measure(loader, trial->id, trial->launches[i].id, trial->layers.count, &any))
            ids[(*count)++] = trial->launches[i].id;
        else if (any)
            note_lost(loader, trial, trial->launches[i].id);
    }
    if (!ids) assay__load_no_memory(loader);
    return ids;
}

void assay__load_layer_times(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__layers *layers = &trial->layers;
    size_t found = 0, kept = 0;
    if (layers->count == 0 || trial->launch_count == 0) return;
    int *ids = find_launches(loader, trial, &found);
    if (!ids || found == 0 || loader->code) {
        free(ids);
        return;
    }
    double *column = malloc(layers->count * sizeof *column);
    int *kept_ids = assay__load_array(loader, found, sizeof *kept_ids);
    size_t cells = layers->count * found; /* each a byte of the file at least: no overflow */
    double *times_ns = assay__load_array(loader, cells, sizeof *times_ns);
    if (!column) assay__load_no_memory(loader);
    for (size_t l = 0; l < found && !loader->code; l++) {
        if (!decode(loader, trial->id, ids[l], layers->count, column)) {
            if (!loader->code) note_lost(loader, trial, ids[l]);
            continue;
        }
        for (size_t i = 0; i < layers->count; i++) {
            bool sane = isfinite(column[i]) && column[i] >= 0; /* a time that cannot be is none */
            times_ns[i * found + kept] = sane ? column[i] : (double)NAN;
        }
        kept_ids[kept++] = ids[l];
    }
    layers->launch_count = kept;
    layers->launch_ids = kept_ids;
    for (size_t i = 0; kept && i < layers->count; i++)
        layers->items[i].launch_times_ns = times_ns + i * found;
    free(column);
    free(ids);
}
