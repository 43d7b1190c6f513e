/* measure_memory.c - bandwidth and latency of each cache level and of main memory.
 *
 * Bandwidth: every pattern with the two widest instruction sets, for main memory with non-temporal
 * stores as well; the best is kept and named. In main memory a thread cycles through its memory in
 * slices of 4 MiB, one step each, so that a window is short and every byte is still accessed only
 * once per round. Latency: one thread follows a chain (pointer_chase.h). */
#include "ceiling/kernels/kernels.h"
#include "ceiling/pointer_chase.h"
#include "ceiling/ceiling_survey.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE ((size_t)4 << 20)
#define WIDEST 2 /* instruction sets to try */
#define PAGE ((size_t)4096)
#define SKEW (21 * 64) /* see measure_pattern */

struct walk {
    const struct assay__stream_kernel *kernel;
    struct assay__survey_team *team;
    size_t array_bytes; /* of each array of each thread */
    size_t array_step;  /* from one array to the next */
    size_t slice_bytes; /* equals array_bytes if a step covers all of it */
    size_t *offsets;    /* of each thread: where its next slice starts */
    uint64_t *sums;     /* of each thread: what it read, so that reading is not dead code */
};

static void walk_slices(void *context, size_t thread, uint64_t steps)
{
    struct walk *walk = context;
    unsigned char *memory = walk->team->memory[thread];
    unsigned last = assay__stream_arrays(walk->kernel->pattern) - 1; /* written, if there is one */
    struct assay__stream stream = {memory, memory + (last ? walk->array_step : 0),
                                   memory + last * walk->array_step, walk->array_bytes, 1.5};
    if (walk->slice_bytes == walk->array_bytes) {
        walk->sums[thread] += walk->kernel->run(&stream, steps);
        return;
    }
    size_t offset = walk->offsets[thread];
    for (; steps; steps--) {
        struct assay__stream slice = {stream.a + offset, stream.b + offset, stream.to + offset,
                                      walk->slice_bytes, stream.scale};
        walk->sums[thread] += walk->kernel->run(&slice, 1);
        offset += walk->slice_bytes;
        if (offset + walk->slice_bytes > walk->array_bytes) offset = 0;
    }
    walk->offsets[thread] = offset;
}

/* Kernels for one pattern at one level, at most WIDEST instruction sets in total. */
struct choice {
    enum assay__stream_pattern pattern;
    size_t level, index, seen;
    const char *simd;
};

static const struct assay__stream_kernel *next_kernel(const struct assay__survey *survey,
                                                      struct choice *c)
{
    const struct assay__stream_kernel *kernel;
    while ((kernel = assay__stream_at(c->index++))) {
        bool plain = kernel->features == 0 && survey->features != 0;
        if (kernel->pattern != c->pattern || plain ||
            (kernel->non_temporal && c->level + 1 != ASSAY__LEVELS) ||
            (kernel->features & survey->features) != kernel->features)
            continue;
        if (!c->simd || strcmp(c->simd, kernel->simd) != 0) {
            if (++c->seen > WIDEST) return NULL;
            c->simd = kernel->simd;
        }
        return kernel;
    }
    return NULL;
}

size_t assay__survey_memory_slots(const struct assay__survey *survey)
{
    size_t slots = 0;
    for (size_t level = 0; level < ASSAY__LEVELS; level++)
        for (enum assay__stream_pattern p = 0; p < ASSAY__STREAM_PATTERNS; p++) {
            struct choice choice = {.pattern = p, .level = level};
            while (next_kernel(survey, &choice))
                slots++;
        }
    return slots * ASSAY__SURVEY_TEAMS + ASSAY__LEVELS;
}

/* Arrays start a third of a page apart, the written one last: a load whose address equals that of
 * an earlier store in its low 12 bits waits for it on some processors. */
static int measure_pattern(struct assay__survey *survey, struct walk *walk,
                           struct assay__ceiling *row, enum assay__stream_pattern pattern,
                           size_t level, size_t bytes)
{
    struct choice choice = {.pattern = pattern, .level = level};
    size_t threads = assay__thread_team_size(walk->team->team);
    unsigned arrays = assay__stream_arrays(pattern);
    size_t each = bytes / arrays & ~(size_t)(ASSAY__STREAM_BLOCK - 1);
    walk->array_bytes = each;
    walk->array_step = ((each + PAGE - 1) & ~(PAGE - 1)) + SKEW;
    walk->slice_bytes = level + 1 == ASSAY__LEVELS && each > SLICE ? SLICE : each;
    memset(walk->offsets, 0, threads * sizeof *walk->offsets);
    if (each == 0) {
        row->note = "the level is smaller than one round of the loop";
        return 0;
    }
    row->working_set_bytes = (int64_t)(each * arrays * threads);
    double step_bytes = (double)walk->slice_bytes * arrays;
    while (!assay__survey_late(survey, row) && (walk->kernel = next_kernel(survey, &choice))) {
        struct assay__rate rate;
        int code = assay__thread_team_measure(walk->team->team, walk_slices, walk, survey->slot_ns,
                                              &rate);
        if (code) return code;
        if (row->state == ASSAY_MEASURED && rate.high * step_bytes <= row->high) continue;
        assay__survey_measured(row, &rate, step_bytes);
        row->simd = walk->kernel->simd;
        row->variant = walk->kernel->non_temporal ? "non-temporal stores" : "";
    }
    return 0;
}

static int measure_level(struct assay__survey *survey, struct walk *walk, size_t level,
                         size_t bytes, const char *reason)
{
    for (enum assay__stream_pattern p = 0; p < ASSAY__STREAM_PATTERNS; p++) {
        const char *word = assay__stream_pattern_name(p);
        const char *name = assay__arena_printf(survey->arena, "bandwidth.%s.%s.%s",
                                               assay__level_name(level), word, walk->team->name);
        int code = 0;
        const struct assay__ceiling what = {
            .name = name,
            .kind = ASSAY__CEILING_BANDWIDTH,
            .level = assay__level_name(level),
            .pattern = word,
            .threads = (int)assay__thread_team_size(walk->team->team)};
        struct assay__ceiling *row = assay__ceiling_row(&survey->rows, survey->options, &what,
                                                        &code);
        if (row && !bytes) row->note = reason;
        if (row && bytes) code = measure_pattern(survey, walk, row, p, level, bytes);
        if (code) return code;
    }
    return 0;
}

/* Memory for the team's largest requested level, which is also used for the others: gigabytes to
 * touch if the last-level cache is large. If there is none, a reason. */
static const char *provide(struct assay__survey *survey, struct assay__survey_team *team,
                           size_t *bytes)
{
    size_t threads = assay__thread_team_size(team->team), most = 0;
    const char *reason, *only = survey->options ? survey->options->only : NULL;
    for (size_t level = 0; level < ASSAY__LEVELS; level++) {
        bytes[level] = assay__level_bytes(survey->arena, survey->machine, level, threads,
                                          survey->l3_count, &reason);
        bool wanted = !only; /* a row of the level may be among those requested */
        for (size_t i = 0; i < 2 && only; i++) {
            char name[32];
            snprintf(name, sizeof name, i ? "latency.%s." : "bandwidth.%s.",
                     assay__level_name(level));
            size_t shorter = strlen(only) < strlen(name) ? strlen(only) : strlen(name);
            wanted |= strncmp(name, only, shorter) == 0;
        }
        if (!wanted) bytes[level] = 0;
        if (bytes[level] > most) most = bytes[level];
    }
    if (!most) return "no level's size is known";
    if (assay__survey_memory(survey, team, most + 3 * (PAGE + SKEW)) == 0) return NULL;
    for (size_t level = 0; level < ASSAY__LEVELS; level++)
        bytes[level] = 0;
    return "not enough memory for it";
}

/* Why a level has no working set; `none`: why there is no memory at all, NULL when there is. */
static const char *why_not(struct assay__survey *survey, size_t level, size_t threads,
                           const char *none)
{
    const char *reason = "";
    assay__level_bytes(survey->arena, survey->machine, level, threads, survey->l3_count, &reason);
    return reason[0] ? reason : none ? none : "";
}

/* --- latency ---------------------------------------------------------------------------------- */

static void chase(void *context, size_t thread, uint64_t steps)
{
    void **at = context;
    (void)thread;
    *at = assay__chase_follow(*at, steps);
}

static int chase_level(struct assay__survey *survey, struct assay__ceiling *row, size_t bytes)
{
    struct assay__survey_team *team = &survey->teams[0];
    struct assay__rate rate;
    if (assay__survey_late(survey, row)) return 0;
    int code = assay__chase_build(team->memory[0], bytes, assay__cache_line_bytes(), bytes);
    if (code) {
        row->note = "not enough memory for the chain";
        return 0;
    }
    void *at = team->memory[0];
    row->working_set_bytes = (int64_t)bytes;
    code = assay__thread_team_measure(team->team, chase, &at, survey->slot_ns, &rate);
    if (code) return code;
    /* converts a rate of steps to seconds per load: the fastest repeat is the lowest latency */
    assay__survey_measured(row, &rate, ASSAY__CHASE_HOPS);
    row->value = 1 / row->high;
    row->high = 1 / row->low;
    row->low = row->value;
    row->median = 1 / row->median;
    row->variant = "pointer chase";
    return 0;
}

static int measure_latency(struct assay__survey *survey, const size_t *bytes, const char *none)
{
    int code = 0;
    for (size_t level = 0; level < ASSAY__LEVELS && !code; level++) {
        const char *name = assay__arena_printf(survey->arena, "latency.%s",
                                               assay__level_name(level));
        const struct assay__ceiling what = {.name = name,
                                            .kind = ASSAY__CEILING_LATENCY,
                                            .level = assay__level_name(level),
                                            .threads = 1};
        struct assay__ceiling *row = assay__ceiling_row(&survey->rows, survey->options, &what,
                                                        &code);
        if (!row) continue; /* an error ends the loop */
        if (bytes[level])   /* a chain uses one array of three */
            code = chase_level(survey, row,
                               level + 1 == ASSAY__LEVELS ? bytes[level] / 3 : bytes[level]);
        else
            row->note = why_not(survey, level, 1, none);
    }
    return code;
}

/* --- both ------------------------------------------------------------------------------------- */

int assay__survey_levels(struct assay__survey *survey)
{
    int code = 0;
    for (size_t i = ASSAY__SURVEY_TEAMS; i-- > 0 && !code;) { /* all cores first */
        struct assay__survey_team *team = &survey->teams[i];
        size_t threads = assay__thread_team_size(team->team), bytes[ASSAY__LEVELS];
        const char *none = provide(survey, team, bytes);
        struct walk walk = {.team = team,
                            .offsets = calloc(threads, sizeof *walk.offsets),
                            .sums = calloc(threads, sizeof *walk.sums)};
        code = walk.offsets && walk.sums ? 0 : ASSAY_ENOMEM;
        for (size_t level = ASSAY__LEVELS; level-- > 0 && !code;) /* memory matters most */
            code = measure_level(survey, &walk, level, bytes[level],
                                 bytes[level] ? "" : why_not(survey, level, threads, none));
        if (!code && i == 0) code = measure_latency(survey, bytes, none);
        free(walk.offsets);
        free(walk.sums);
        assay__survey_memory_free(team);
    }
    return code;
}
