/* working_set.c - working sets: how many bytes of memory a thread must traverse to measure one
 * cache level, and the memory itself.
 *
 * A set is half of the level's share for the thread, so that it stays there along with whatever
 * else is cached; for L3, which is shared by all, at most four times L2. For main memory all
 * threads together traverse twelve times the last-level caches. A loop over a set twice as large as
 * the previous level finds nothing in that level (least recently used is evicted first). */
#include "ceiling/ceiling_survey.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DRAM_LEAST ((size_t)384 << 20) /* there may be caches that the system does not report */
#define HUGE_PAGE ((size_t)2 << 20)
#define PAGE ((size_t)4096)

const char *assay__level_name(size_t level)
{
    static const char *const names[ASSAY__LEVELS] = {"l1", "l2", "l3", "dram"};
    return level < ASSAY__LEVELS ? names[level] : "";
}

/* Each thread's share of a cache: all of a private one, its part of a shared one. */
static size_t share(const struct assay__machine *machine, size_t level, size_t threads,
                    size_t l3_count)
{
    if (level == 0) return machine->l1d_bytes;
    if (level == 1) /* without an L3, L2 is the shared one (Apple's clusters) */
        return machine->l3_bytes ? machine->l2_bytes : machine->l2_bytes / threads;
    return machine->l3_bytes * (l3_count ? l3_count : 1) / threads;
}

size_t assay__level_bytes(struct assay__arena *arena, const struct assay__machine *machine,
                          size_t level, size_t threads, size_t l3_count, const char **reason)
{
    *reason = "";
    if (level + 1 == ASSAY__LEVELS) {
        /* Three arrays, each four times the last-level caches that the threads use: stores that
         * bypass the caches leave them to the arrays that are read, so each array alone must exceed
         * them. */
        size_t last = machine->l3_bytes ? machine->l3_bytes : machine->l2_bytes;
        size_t total = 3 * 4 * last * (l3_count && threads > 1 ? l3_count : 1);
        bool roomy = !machine->memory_bytes || DRAM_LEAST <= machine->memory_bytes / 4;
        if (total < DRAM_LEAST && (roomy || !total)) total = DRAM_LEAST;
        size_t bytes = total / threads & ~(PAGE - 1);
        if (!machine->memory_bytes || bytes <= machine->memory_bytes / 4 / threads) return bytes;
        *reason = assay__arena_text(arena, "needs %zu MiB, more than a quarter of the memory",
                                    bytes * threads >> 20);
        return 0;
    }
    size_t bytes = share(machine, level, threads, l3_count);
    if (!bytes) {
        *reason = assay__arena_text(arena, "the system does not report the size of %s",
                                    assay__level_name(level));
        return 0;
    }
    size_t before = level ? share(machine, level - 1, threads, l3_count) : 0;
    if (bytes / 2 < 2 * before) {
        *reason = assay__arena_text(arena,
                                    "a core's share of %s (%zu KiB) is not four times the level "
                                    "before (%zu KiB): the two cannot be separated",
                                    assay__level_name(level), bytes >> 10, before >> 10);
        return 0;
    }
    bytes /= 2;
    if (level == 2 && bytes > 4 * before) bytes = 4 * before;
    return bytes > PAGE ? bytes & ~(PAGE - 1) : bytes;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Written by its own thread: the system then puts it near that thread's core. */
static void touch(void *context, size_t thread, uint64_t steps)
{
    const struct assay__survey_team *team = context;
    (void)steps;
    memset(team->memory[thread], 0, team->memory_bytes);
}

int assay__survey_memory(struct assay__survey *survey, struct assay__survey_team *team,
                         size_t bytes)
{
    size_t count = assay__thread_team_size(team->team);
    uint64_t *steps = calloc(count, 2 * sizeof *steps);
    bytes = (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    team->memory = calloc(count, sizeof *team->memory);
    team->memory_bytes = bytes;
    bool complete = steps && team->memory;
    for (size_t i = 0; complete && i < count; i++) {
        void *memory = NULL;
        complete = posix_memalign(&memory, HUGE_PAGE, bytes) == 0;
        if (complete) team->memory[i] = memory;
#if defined(MADV_HUGEPAGE)
        if (complete) madvise(memory, bytes, MADV_HUGEPAGE); /* only a wish */
#endif
    }
    if (complete) assay__thread_team_run(team->team, touch, team, steps, steps + count);
    free(steps);
    if (complete) return 0;
    assay__survey_memory_free(team);
    return assay_error_set(survey->error, ASSAY_ENOMEM,
                           "not enough memory: %zu MiB for each of %zu threads", bytes >> 20,
                           count);
}

void assay__survey_memory_free(struct assay__survey_team *team)
{
    size_t count = team->team ? assay__thread_team_size(team->team) : 0;
    for (size_t i = 0; team->memory && i < count; i++)
        free(team->memory[i]);
    free(team->memory);
    team->memory = NULL;
    team->memory_bytes = 0;
}
