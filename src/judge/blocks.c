/* blocks.c - the layers' paths make a tree; a level is a cut through it. Below the cut a part of
 * the model is one group, whatever it contains; neighbours of one group are a block. The cut begins
 * below the root and moves down where one part contains nearly everything. A layer whose name shows
 * no place (an operator of the root, or one that the engine added) belongs to the group on both
 * sides of it, else to none. */
#include "judge/blocks.h"

#include "judge/block_path.h"
#include "judge/require_advice.h"
#include "profile/trial_values.h"

#include "base/buf.h"

#include <math.h>
#include <string.h>

#define DOMINANT                                                                          \
    0.75       /* a part with more than this share of the layers is replaced by its parts \
                */
#define ROOT 0 /* the node of layers without a place */
#define USEFUL \
    (2.0 / 3.0) /* maximum blocks per layer: beyond it a level adds nothing to the layers */

struct node { /* parents come before their children */
    size_t parent, depth;
    struct assay__block_part part;
    size_t layers, own;     /* in it and below it; in it alone */
    size_t children, child; /* how many; the last one */
};

struct tree {
    struct assay__arena *arena;
    struct assay__map *index; /* "parent part" → node */
    struct node *nodes;
    size_t count;
    size_t *of_layer; /* node by layer */
    size_t layer_count, placed;
};

/* --- the tree --------------------------------------------------------------------------------- */

static size_t child_of(struct tree *t, size_t parent, const struct assay__block_part *part)
{
    const char *key = assay__arena_text(t->arena, "%zu %.*s", parent, (int)part->length,
                                        part->text);
    size_t at = assay__map_get(t->index, key);
    if (at != ASSAY__MAP_NONE) return at;
    struct node *nodes = assay__arena_grow(t->arena, t->nodes, t->count, sizeof *nodes);
    if (!nodes || assay__map_set(t->index, key, t->count)) {
        assay__arena_fail(t->arena);
        return parent;
    }
    t->nodes = nodes;
    nodes[t->count] = (struct node){
        .parent = parent, .depth = nodes[parent].depth + 1, .part = *part};
    nodes[parent].children++;
    nodes[parent].child = t->count;
    return t->count++;
}

static void place(struct tree *t, size_t layer, const struct assay__block_path *path)
{
    size_t at = ROOT;
    for (size_t i = 0; i < path->count; i++)
        at = child_of(t, at, &path->parts[i]);
    t->of_layer[layer] = at;
    t->nodes[at].own++;
    t->placed += at != ROOT;
    for (size_t up = at; up != ROOT; up = t->nodes[up].parent)
        t->nodes[up].layers++;
}

/* Names of operators: the model's, and the engine's fused ones. */
static struct assay__map *find_operators(const struct assay__trial *trial)
{
    struct assay__map *found = assay__map_new();
    const struct assay__model_info *model = trial->model;
    int code = found ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && model && i < model->operator_count; i++)
        if (model->operators[i].op) code = assay__map_set(found, model->operators[i].op, 1);
    for (size_t i = 0; !code && i < trial->layers.count; i++)
        if (trial->layers.items[i].op) code = assay__map_set(found, trial->layers.items[i].op, 1);
    if (!code) return found;
    assay__map_free(found);
    return NULL;
}

static int grow_tree(struct tree *t, const struct assay__trial *trial)
{
    struct assay__map *operators = find_operators(trial);
    t->index = assay__map_new();
    t->layer_count = trial->layers.count;
    t->of_layer = assay__arena_array(t->arena, t->layer_count + 1, sizeof *t->of_layer);
    t->nodes = assay__arena_grow(t->arena, NULL, 0, sizeof *t->nodes);
    t->count = 1;
    bool made = operators && t->index && t->of_layer && t->nodes;
    for (size_t i = 0; made && i < t->layer_count; i++) {
        struct assay__block_path path;
        assay__block_path(assay__layer_title(&trial->layers.items[i]), operators, &path);
        place(t, i, &path);
    }
    assay__map_free(operators);
    assay__map_free(t->index);
    return made && !assay__arena_failed(t->arena) ? 0 : ASSAY_ENOMEM;
}

/* --- a cut through it ------------------------------------------------------------------------- */

/* The layers' groups: the first of a layer's places that is closed, else its own. */
static int cut(const struct tree *t, const bool *open, size_t *groups)
{
    size_t *of_node = assay__arena_array(t->arena, t->count, sizeof *of_node);
    if (!of_node) return ASSAY_ENOMEM;
    for (size_t i = 1; i < t->count; i++)
        of_node[i] = open[t->nodes[i].parent] ? i : of_node[t->nodes[i].parent];
    for (size_t i = 0; i < t->layer_count; i++)
        groups[i] = of_node[t->of_layer[i]];
    return 0;
}

/* Layers without a place, from `first` on: into the group around them, else into `rest`. */
static void absorb(size_t *groups, size_t first, size_t end, size_t rest)
{
    for (size_t i = first; i < end;) {
        size_t next = i;
        while (next < end && groups[next] == ROOT)
            next++;
        bool inside = i > first && next < end && groups[i - 1] == groups[next];
        for (; i < next; i++)
            groups[i] = inside ? groups[next] : rest;
        i = next + 1;
    }
}

static size_t count_runs(const size_t *groups, const size_t *around, size_t count)
{
    size_t runs = 0;
    for (size_t i = 0; i < count; i++)
        runs += !i || groups[i] != groups[i - 1] || (around && around[i] != around[i - 1]);
    return runs;
}

static bool is_useful(size_t runs, size_t more_than, size_t layers)
{
    return runs > more_than && (double)runs <= USEFUL * (double)layers;
}

/* A closed part below an open one with nearly all layers; ROOT: none. */
static size_t find_dominant(const struct tree *t, const bool *open)
{
    for (size_t i = 1; i < t->count; i++)
        if (!open[i] && open[t->nodes[i].parent] && t->nodes[i].children &&
            (double)t->nodes[i].layers > DOMINANT * (double)t->placed)
            return i;
    return ROOT;
}

/* Groups of the deepest useful cut, and which parts above it are open; *runs 0: there is none. */
static int cut_stages(const struct tree *t, bool *open, size_t *groups, size_t *runs)
{
    size_t *tried = assay__arena_array(t->arena, t->layer_count + 1, sizeof *tried);
    bool *way = assay__arena_array(t->arena, t->count, sizeof *way);
    if (!tried || !way) return ASSAY_ENOMEM;
    *runs = 0;
    for (size_t next = ROOT;;) {
        way[next] = true;
        if (cut(t, way, tried)) return ASSAY_ENOMEM;
        absorb(tried, 0, t->layer_count, ROOT);
        size_t found = count_runs(tried, NULL, t->layer_count);
        if (is_useful(found, 1, t->layer_count)) {
            *runs = found;
            memcpy(groups, tried, t->layer_count * sizeof *groups);
            memcpy(open, way, t->count * sizeof *open);
        }
        next = find_dominant(t, way);
        if (next == ROOT) return 0;
    }
}

/* Groups within the stages; `open` becomes that of this cut. If a stage consists of a single part,
 * that part is skipped. */
static int cut_blocks(const struct tree *t, bool *open, const size_t *stages, size_t *groups,
                      size_t *runs)
{
    for (size_t i = 0; i < t->layer_count; i++) {
        size_t at = stages[i];
        while (!open[at]) {
            open[at] = true;
            if (t->nodes[at].children == 1 && !t->nodes[at].own) at = t->nodes[at].child;
        }
    }
    if (cut(t, open, groups)) return ASSAY_ENOMEM;
    for (size_t i = 0, end; i < t->layer_count; i = end) {
        for (end = i + 1; end < t->layer_count && stages[end] == stages[i];)
            end++;
        absorb(groups, i, end, stages[i]);
    }
    *runs = count_runs(groups, stages, t->layer_count);
    return 0;
}

/* --- blocks of it ----------------------------------------------------------------------------- */

/* "encoder/layer.3" from the place after `above` on. */
static const char *name_of(const struct tree *t, size_t node, size_t above)
{
    size_t way[ASSAY__BLOCK_DEPTH], depth = 0;
    struct assay__buf text = {0};
    for (; node != above && node != ROOT; node = t->nodes[node].parent)
        way[depth++] = node;
    while (depth--) {
        /* cppcheck-suppress uninitvar ; the first loop filled way[0] to way[depth] */
        const struct assay__block_part *part = &t->nodes[way[depth]].part;
        bool index = assay__block_part_is_index(part->text, part->length);
        if (text.length) assay__buf_putc(&text, index ? '.' : '/');
        assay__buf_add(&text, part->text, part->length);
    }
    const char *kept = assay__buf_keep(&text, t->arena);
    if (!kept) assay__arena_fail(t->arena);
    return kept ? kept : "";
}

/* The last word and the indices after it: "layer.3". */
static const char *label_of(const struct tree *t, size_t node)
{
    size_t above = node;
    while (above != ROOT &&
           assay__block_part_is_index(t->nodes[above].part.text, t->nodes[above].part.length))
        above = t->nodes[above].parent;
    return name_of(t, node, above == ROOT ? ROOT : t->nodes[above].parent);
}

static void add_time(struct assay__layer_block *block, const struct assay__layer *layer)
{
    block->count++;
    if (!assay__layer_is_timed(layer)) return;
    block->time_ns = block->timed++ ? block->time_ns + layer->time_ns : layer->time_ns;
}

/* One level: the runs of `groups`, within the runs of the level above. */
static void add_level(const struct tree *t, const struct assay__layers *layers,
                      const size_t *groups, const size_t *stages, struct assay__blocks *out)
{
    int level = out->level_count++,
        *of_layer = assay__arena_array(t->arena, layers->count + 1, sizeof *of_layer);
    const int *parents = level ? out->of_layer[level - 1] : NULL;
    for (size_t i = 0; of_layer && i < layers->count; i++) {
        bool first = !i || groups[i] != groups[i - 1] || (parents && parents[i] != parents[i - 1]);
        if (first) {
            bool rest = parents && groups[i] == stages[i];
            out->items[out->count] = (struct assay__layer_block){
                .id = (int)out->count,
                .level = level,
                .parent = parents ? parents[i] : -1,
                .name = name_of(t, groups[i], ROOT),
                .label = rest ? "" : label_of(t, groups[i]),
                .first = i,
                .time_ns = NAN,
            };
            out->count++;
        }
        of_layer[i] = out->items[out->count - 1].id;
        add_time(&out->items[out->count - 1], &layers->items[i]);
    }
    out->of_layer[level] = of_layer;
    out->level_first[level + 1] = out->count;
}

int assay__blocks(const struct assay__trial *trial, struct assay__arena *arena,
                  struct assay__blocks *out)
{
    struct tree t = {.arena = arena};
    size_t stage_runs, block_runs, count = trial->layers.count;
    memset(out, 0, sizeof *out);
    if (!count) return 0;
    if (grow_tree(&t, trial)) return ASSAY_ENOMEM;
    bool *open = assay__arena_array(arena, t.count, sizeof *open);
    size_t *stages = assay__arena_array(arena, count, sizeof *stages),
           *blocks = assay__arena_array(arena, count, sizeof *blocks);
    if (!open || !stages || !blocks || cut_stages(&t, open, stages, &stage_runs))
        return ASSAY_ENOMEM;
    if (!stage_runs) return 0;
    if (cut_blocks(&t, open, stages, blocks, &block_runs)) return ASSAY_ENOMEM;
    bool both = is_useful(block_runs, stage_runs, count);
    out->items = assay__arena_array(arena, stage_runs + (both ? block_runs : 0),
                                    sizeof *out->items);
    if (!out->items) return ASSAY_ENOMEM;
    add_level(&t, &trial->layers, stages, stages, out);
    if (both) add_level(&t, &trial->layers, blocks, stages, out);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
