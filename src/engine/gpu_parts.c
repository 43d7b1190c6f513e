/* gpu_parts.c - the time of a run on the GPU, divided. At every instant of it either kernels run,
 * or only copies do, or nothing does: before the first work and after the last one that is the
 * host's time, in between a gap. Of kernels that run at the same time the first one counts, so that
 * nodes add up to the time in which kernels ran. */
#include "engine/gpu_work.h"

#include <assay/error.h>
#include <stdlib.h>
#include <string.h>

void assay__gpu_find_runs(const struct assay__gpu_work *work, struct assay__gpu_run *runs,
                          size_t count)
{
    size_t at = 0;
    for (size_t r = 0; r < count; r++) {
        while (at < work->count && work->items[at].start_ns < runs[r].begin_ns)
            at++;
        runs[r].first = at;
        while (at < work->count && work->items[at].start_ns < runs[r].end_ns)
            at++;
        runs[r].count = at - runs[r].first;
    }
}

/* --- kernels and nodes ------------------------------------------------------------------------ */

int assay__gpu_learn(const struct assay__gpu_work *work, const struct assay__gpu_run *run,
                     const size_t *nodes, size_t node_count, struct assay__gpu_lesson *lesson)
{
    *lesson = (struct assay__gpu_lesson){.names = calloc(run->count + 1, sizeof *lesson->names),
                                         .nodes = calloc(run->count + 1, sizeof *lesson->nodes)};
    if (!lesson->names || !lesson->nodes) return ASSAY_ENOMEM;
    for (size_t i = run->first; i < run->first + run->count; i++) {
        const struct assay__gpu_item *item = &work->items[i];
        if (item->kind != ASSAY__GPU_KERNEL) continue;
        bool known = item->external > 0 && item->external <= node_count;
        lesson->nodes[lesson->count] = known ? nodes[item->external - 1] : SIZE_MAX;
        lesson->names[lesson->count++] = item->name;
    }
    return 0;
}

void assay__gpu_lesson_free(struct assay__gpu_lesson *lesson)
{
    free(lesson->names);
    free(lesson->nodes);
    *lesson = (struct assay__gpu_lesson){0};
}

bool assay__gpu_agrees(const struct assay__gpu_lesson *lesson, const struct assay__gpu_work *work,
                       const struct assay__gpu_run *run, size_t *at)
{
    *at = 0;
    for (size_t i = run->first; i < run->first + run->count; i++) {
        if (work->items[i].kind != ASSAY__GPU_KERNEL) continue;
        if (*at >= lesson->count || strcmp(lesson->names[*at], work->items[i].name) != 0)
            return false;
        ++*at;
    }
    return *at == lesson->count;
}

/* --- nodes in another order ------------------------------------------------------------------- */

/* The kernels of a node, which are launched one after the other. */
struct block {
    size_t first, count;
    bool used;
};

static size_t find_blocks(const struct assay__gpu_lesson *lesson, struct block *blocks)
{
    size_t count = 0;
    for (size_t i = 0; i < lesson->count; i++) {
        if (!i || lesson->nodes[i] != lesson->nodes[i - 1])
            blocks[count++] = (struct block){.first = i};
        blocks[count - 1].count++;
    }
    return count;
}

static bool same_names(const char *const *left, const char *const *right, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(left[i], right[i]) != 0) return false;
    return true;
}

/* The first unused block whose kernels come next: nodes keep their order where they can. */
static size_t next_block(const struct assay__gpu_lesson *lesson, const struct block *blocks,
                         size_t count, const char *const *names, size_t left)
{
    for (size_t i = 0; i < count; i++)
        if (!blocks[i].used && blocks[i].count <= left &&
            same_names(lesson->names + blocks[i].first, names, blocks[i].count))
            return i;
    return SIZE_MAX;
}

/* Whether the block was moved, and another one that is unused could be in its place. */
static bool is_exchangeable(const struct assay__gpu_lesson *lesson, const struct block *blocks,
                            size_t count, size_t at)
{
    bool moved = false, equal = false;
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].used || i == at) continue;
        moved |= i < at;
        equal |= i > at && blocks[i].count == blocks[at].count &&
                 same_names(lesson->names + blocks[i].first, lesson->names + blocks[at].first,
                            blocks[i].count);
    }
    return moved && equal;
}

static int place_blocks(struct assay__gpu_lesson *lesson, struct block *blocks, size_t count,
                        const char **names, size_t *nodes, size_t *equal)
{
    for (size_t done = 0; done < lesson->count;) {
        size_t at = next_block(lesson, blocks, count, names + done, lesson->count - done);
        if (at == SIZE_MAX) return ASSAY_ENOTFOUND;
        *equal += is_exchangeable(lesson, blocks, count, at);
        blocks[at].used = true;
        for (size_t i = 0; i < blocks[at].count; i++) {
            names[done] = lesson->names[blocks[at].first + i];
            nodes[done++] = lesson->nodes[blocks[at].first + i];
        }
    }
    return 0;
}

int assay__gpu_rearrange(struct assay__gpu_lesson *lesson, const struct assay__gpu_work *work,
                         const struct assay__gpu_run *run, size_t *equal)
{
    struct assay__gpu_lesson made = {.names = calloc(run->count + 1, sizeof *made.names),
                                     .nodes = calloc(run->count + 1, sizeof *made.nodes)};
    struct block *blocks = calloc(lesson->count + 1, sizeof *blocks);
    int code = made.names && made.nodes && blocks ? 0 : ASSAY_ENOMEM;
    *equal = 0;
    for (size_t i = run->first; !code && i < run->first + run->count; i++)
        if (work->items[i].kind == ASSAY__GPU_KERNEL)
            made.names[made.count++] = work->items[i].name;
    if (!code && made.count != lesson->count) code = ASSAY_ENOTFOUND;
    if (!code)
        code = place_blocks(lesson, blocks, find_blocks(lesson, blocks), made.names, made.nodes,
                            equal);
    free(blocks);
    if (code) {
        assay__gpu_lesson_free(&made);
        return code;
    }
    assay__gpu_lesson_free(lesson);
    *lesson = made;
    return 0;
}

const char *assay__gpu_kernel_name(const struct assay__gpu_work *work,
                                   const struct assay__gpu_run *run, size_t at)
{
    for (size_t i = run->first; i < run->first + run->count; i++)
        if (work->items[i].kind == ASSAY__GPU_KERNEL && at-- == 0) return work->items[i].name;
    return NULL;
}

/* --- time ------------------------------------------------------------------------------------- */

struct placed {
    const struct assay__gpu_item *item;
    size_t node;
};

static int by_start(const void *left, const void *right)
{
    const struct assay__gpu_item *a = ((const struct placed *)left)->item,
                                 *b = ((const struct placed *)right)->item;
    if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void count_items(const struct placed *placed, size_t count, struct assay__gpu_parts *parts)
{
    for (size_t i = 0; i < count; i++) {
        const struct assay__gpu_item *item = placed[i].item;
        bool kernel = item->kind == ASSAY__GPU_KERNEL, seen = false;
        *(kernel ? &parts->kernels : &parts->copies) += 1;
        parts->graphs += item->graph != 0;
        for (size_t k = 0; kernel && k < i && !seen; k++)
            seen = placed[k].item->kind == ASSAY__GPU_KERNEL &&
                   placed[k].item->stream == item->stream && placed[k].item->device == item->device;
        parts->streams += kernel && !seen;
    }
}

/* In order of start. */
static void divide(const struct placed *placed, size_t count, const struct assay__gpu_run *run,
                   struct assay__gpu_parts *parts, uint64_t *node_ns, uint64_t *gap_ns)
{
    uint64_t kernels_until = 0, until = 0, first_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const struct assay__gpu_item *item = placed[i].item;
        uint64_t start_ns = item->start_ns;
        uint64_t end_ns = item->end_ns < run->end_ns ? item->end_ns : run->end_ns;
        bool kernel = item->kind == ASSAY__GPU_KERNEL;
        size_t node = placed[i].node;
        if (!i) first_ns = until = start_ns;
        if (start_ns > until) {
            parts->gaps_ns += start_ns - until;
            if (node != SIZE_MAX) gap_ns[node] += start_ns - until;
        }
        if (end_ns > until) until = end_ns;
        if (start_ns > until) until = start_ns;
        if (!kernel) continue;
        if (start_ns < kernels_until) start_ns = kernels_until;
        if (end_ns <= start_ns) continue;
        parts->kernels_ns += end_ns - start_ns;
        if (node != SIZE_MAX) node_ns[node] += end_ns - start_ns;
        kernels_until = end_ns;
    }
    parts->copies_ns = until - first_ns - parts->gaps_ns - parts->kernels_ns;
    parts->host_ns = parts->whole_ns - (until - first_ns);
}

int assay__gpu_divide(const struct assay__gpu_work *work, const struct assay__gpu_run *run,
                      const struct assay__gpu_lesson *lesson, struct assay__gpu_parts *parts,
                      uint64_t *node_ns, uint64_t *gap_ns)
{
    struct placed *placed = calloc(run->count + 1, sizeof *placed);
    size_t kernel = 0;
    *parts = (struct assay__gpu_parts){.whole_ns = run->end_ns - run->begin_ns};
    if (!placed) return ASSAY_ENOMEM;
    for (size_t i = 0; i < run->count; i++) {
        placed[i] = (struct placed){&work->items[run->first + i], SIZE_MAX};
        if (placed[i].item->kind != ASSAY__GPU_KERNEL) continue;
        if (lesson && kernel < lesson->count) placed[i].node = lesson->nodes[kernel];
        kernel++;
    }
    count_items(placed, run->count, parts);
    if (run->count) qsort(placed, run->count, sizeof *placed, by_start);
    divide(placed, run->count, run, parts, node_ns, gap_ns);
    free(placed);
    return 0;
}
