/* recorder_allocations.c - who asks for memory: the allocation tracker (src/track) is loaded in
 * front of the C library of the program and of all that it starts, and writes what it counted when
 * a process ends. Counting takes the more time the more a program allocates. */
#include "run/tracing/recorders.h"

#include "base/file.h"
#include "base/json.h"
#include "base/no_memory.h"
#include "base/track.h"
#include "run/child.h"
#include "run/watch/memory_track.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX ".allocations" /* hidden: it is no trace */
#define FILE_MOST ((size_t)1 << 20)
#define SHOWN 8u

static int prepare(struct assay__tracing *tracing, void **state, struct assay_error *error)
{
    char worker[PATH_MAX];
    const char *preload;
    struct assay_error reason = {0};
    (void)state;
    if (!tracing->options->allocations) return 0;
    int code = assay__worker_locate(worker, sizeof worker, &reason);
    if (!code) code = assay__track_preload(worker, tracing->arena, &preload, &reason);
    if (!code) code = assay__tracing_variable(tracing, preload, &reason);
    if (!code)
        code = assay__tracing_variable(tracing,
                                       assay__arena_printf(tracing->arena,
                                                           ASSAY__TRACK_VARIABLE "=%s/" PREFIX,
                                                           tracing->folder),
                                       &reason);
    if (code)
        return assay_error_set(error, code, "allocations are not counted: %s", reason.message);
    return 0;
}

static double bytes_of(const struct assay__program_allocations *one)
{
    return one->seen->phase_count ? one->seen->phases[0].bytes : 0;
}

static int by_bytes(const void *a, const void *b)
{
    double x = bytes_of(a), y = bytes_of(b);
    return (x < y) - (x > y);
}

/* One file; false: the process did not finish it. */
static bool read_one(struct assay__tracing *tracing, const char *path,
                     struct assay__program_allocations *out)
{
    char *text = NULL;
    size_t length = 0;
    struct assay__json *root = NULL;
    struct assay__tracked *tracked = NULL;
    struct assay__arena *arena = tracing->arena;
    int code = assay__file_read(path, FILE_MOST, &text, &length, NULL);
    if (!code && !length) code = ASSAY_EFORMAT;
    const char *kept = code ? NULL : assay__arena_strndup(arena, text, length);
    free(text);
    if (!kept || assay__json_parse(arena, kept, length, &root, NULL) ||
        assay__tracked_read(root, arena, &tracked, NULL))
        return false;
    tracked->seen.reason = "";
    for (size_t i = 0; i < tracked->seen.phase_count; i++)
        tracked->seen.phases[i].inferences = -1; /* there are none */
    tracked->seen.slowdown = tracked->seen.heap_bytes = tracked->seen.heap_used_bytes = (double)NAN;
    tracked->seen.growth_bytes = tracked->seen.growth_low = tracked->seen.growth_high = (double)NAN;
    out->program = assay__arena_text(arena, "%s (%.0f)",
                                     assay__json_get_string(root, "program", ""),
                                     assay__json_get_number(root, "pid", 0));
    out->seen = &tracked->seen;
    return tracked->seen.phase_count > 0;
}

static void read_all(struct assay__tracing *tracing, size_t *unfinished)
{
    DIR *folder = opendir(tracing->folder);
    char path[PATH_MAX];
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct assay__program_allocations one, *grown;
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) ||
            assay__path_join(tracing->folder, entry->d_name, path, sizeof path))
            continue;
        if (!read_one(tracing, path, &one)) {
            ++*unfinished;
            continue;
        }
        grown = assay__arena_grow(tracing->arena, tracing->allocations, tracing->allocation_count,
                                  sizeof *grown);
        if (!grown) break;
        tracing->allocations = grown;
        grown[tracing->allocation_count++] = one;
    }
    if (folder) closedir(folder);
}

static void detach(struct assay__tracing *tracing, void *state)
{
    size_t unfinished = 0;
    (void)state;
    if (!tracing->options->allocations) return;
    read_all(tracing, &unfinished);
    if (unfinished)
        assay__tracing_say(tracing,
                           "%zu process%s did not leave in order: allocations there are "
                           "not known",
                           unfinished, unfinished == 1 ? "" : "es");
    if (tracing->allocation_count)
        qsort(tracing->allocations, tracing->allocation_count, sizeof *tracing->allocations,
              by_bytes);
    if (tracing->allocation_count > SHOWN) {
        assay__tracing_say(tracing, "of %zu processes the %u that allocated the most are kept",
                           tracing->allocation_count, SHOWN);
        tracing->allocation_count = SHOWN;
    }
}

const struct assay__recorder assay__recorder_allocations = {
    .name = "allocations", .prepare = prepare, .detach = detach};
