/* figures_flame.c - the flame graph of a timeline's stack samples: of a profile, whose timeline is
 * read for it, and of one that is being explained. */
#include "explain/flame.h"
#include "report/figure/figures.h"
#include "trace/events_profile.h"

#include "base/text.h"

#include <stdio.h>

/* "288 ms" or "288 samples" */
static const char *amount(struct assay__arena *arena, const struct assay__flame *flame,
                          int64_t value)
{
    if (flame->is_time)
        return assay__arena_text(arena, "%s", assay__scaled((double)value / 1e9, "s").text);
    return assay__arena_text(arena, "%lld samples", (long long)value);
}

static void find_largest(const struct assay__flame *flame, uint32_t *place)
{
    for (uint32_t i = 1; i < flame->count; i++)
        if (flame->nodes[i].self > flame->nodes[*place].self) *place = i;
}

const struct assay__figure *assay__flame_figure(const struct assay__flame *flame,
                                                struct assay__arena *arena)
{
    struct assay__figure *f = assay__arena_alloc(arena, sizeof *f);
    uint32_t largest = 0;
    if (!f || !flame) return NULL;
    *f = (struct assay__figure){.kind = ASSAY__FIGURE_FLAME,
                                .name = "flame",
                                .title = "Flame graph",
                                .flame = flame,
                                .wide = true};
    find_largest(flame, &largest);
    f->x_title = f->x_unit = f->y_title = f->y_unit = f->note = "";
    f->caption = "Width: share of the samples. A function lies on the one that called it; beside "
                 "each other, the larger is on the left.";
    f->description = assay__arena_text(
        arena, "%s in %zu samples; the stack with the largest share ends in %s: %s.",
        amount(arena, flame, flame->nodes->total), flame->samples, flame->nodes[largest].name,
        amount(arena, flame, flame->nodes[largest].self));
    if (flame->stackless)
        f->note = assay__arena_text(arena, "%zu samples without a stack are not drawn.",
                                    flame->stackless);
    return assay__arena_failed(arena) ? NULL : f;
}

int assay__figure_flame(struct assay__sketch *k, size_t part)
{
    struct assay__events *events = NULL;
    struct assay_error reason = {0};
    if (part) return assay__sketch_none(k, "there is one");
    int code = assay__events_load(k->study->profile->path, &events, &reason);
    if (code) return assay_error_set(k->error, code, "%s", reason.message);
    const struct assay__flame *flame = assay__flame_new(events, k->arena);
    const struct assay__figure *figure = flame ? assay__flame_figure(flame, k->arena) : NULL;
    assay__events_free(events); /* the tree has texts of its own */
    if (!figure && !assay__arena_failed(k->arena))
        return assay__sketch_none(k, "the timeline contains no samples with stacks");
    k->failed |= !figure;
    if (figure) *k->figure = *figure;
    return assay__sketch_end(k);
}
