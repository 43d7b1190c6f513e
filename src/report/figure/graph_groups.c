/* graph_groups.c - finds the groups (runs with one name), splits those that would make a cycle,
 * leaves out uninformative ones, and bundles them if there are too many. */
#include "report/figure/graph_groups.h"

#include "base/map.h"

#include <assay/error.h>
#include <stdlib.h>
#include <string.h>

#define LOOSE 4    /* ungrouped layers without a place */
#define BESIDE 120 /* boxes side by side that are not bundled yet … */
#define BUNDLES 40 /* … and into how many bundles they go */

/* --- groups ----------------------------------------------------------------------------------- */

struct group {
    const struct assay__layer_block *block; /* the first of its name */
    size_t runs, layers;
    int parent; /* group of the stage that contains a block; -1: none */
    bool drawn; /* it has more than one layer, and is not all of its stage */
    int number; /* among those that are drawn */
};

struct growing {
    const struct assay__blocks *blocks;
    const struct assay__layers *layers;
    struct group *groups;
    size_t count;
    int *of[ASSAY__BLOCK_LEVELS];          /* by layer: its group on that level; -1: none */
    struct assay__map *by_name, *separate; /* names of groups; those whose runs stay separate */
};

static bool is_place(const struct assay__layer_block *block)
{
    return block->name[0] && (block->level == ASSAY__LEVEL_STAGE || block->label[0]);
}

/* The group of a run; -1: its layers are ungrouped. -2: out of memory. */
static int group_of(struct growing *g, const struct assay__layer_block *block, int parent)
{
    bool place = is_place(block);
    if (!place && (block->level != ASSAY__LEVEL_STAGE || block->count <= LOOSE)) return -1;
    bool joins = place && !assay__map_has(g->separate, block->name);
    size_t at = joins ? assay__map_get(g->by_name, block->name) : ASSAY__MAP_NONE;
    if (at == ASSAY__MAP_NONE || g->groups[at].parent != parent) {
        at = g->count++;
        g->groups[at] = (struct group){.block = block, .parent = parent};
        if (joins && assay__map_set(g->by_name, block->name, at)) return -2;
    }
    g->groups[at].runs++;
    g->groups[at].layers += block->count;
    return (int)at;
}

static int find_level(struct growing *g, int level)
{
    for (size_t i = g->blocks->level_first[level]; i < g->blocks->level_first[level + 1]; i++) {
        const struct assay__layer_block *block = &g->blocks->items[i];
        int group = group_of(g, block, level ? g->of[0][block->first] : -1);
        if (group < -1) return ASSAY_ENOMEM;
        for (size_t k = block->first; k < block->first + block->count; k++)
            g->of[level][k] = group;
    }
    return 0;
}

/* Names must not join blocks with stages: a level at a time. */
static int find_groups(struct growing *g)
{
    int code = 0;
    g->count = 0;
    for (int level = 0; level < g->blocks->level_count && !code; level++) {
        g->by_name = assay__map_new();
        code = g->by_name ? find_level(g, level) : ASSAY_ENOMEM;
        assay__map_free(g->by_name);
    }
    return code;
}

/* --- no cycles -------------------------------------------------------------------------------- */

struct peeling {
    const struct growing *g;
    const int *group; /* by layer: the group that counts here; -1: it counts itself */
    size_t *left;     /* by unit: edges to it from units that are not removed yet */
    size_t *first;    /* by unit: its edges */
    int *to, *stack;
    bool *peeled;
};

/* Groups, then layers. */
static size_t unit_of(const struct peeling *p, int layer)
{
    return p->group[layer] >= 0 ? (size_t)p->group[layer] : p->g->count + (size_t)layer;
}

static void list_edges(struct peeling *p, size_t units, bool forward)
{
    const struct assay__layers *layers = p->g->layers;
    memset(p->left, 0, units * sizeof *p->left);
    memset(p->first, 0, (units + 2) * sizeof *p->first);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t e = 0; e < layers->edge_count; e++) {
            const struct assay__edge *edge = &layers->edges[e];
            if (edge->producer < 0 || edge->consumer < 0) continue;
            size_t from = unit_of(p, forward ? edge->producer : edge->consumer);
            size_t to = unit_of(p, forward ? edge->consumer : edge->producer);
            if (from == to) continue;
            if (pass == 0)
                p->first[from + 2]++, p->left[to]++;
            else
                p->to[p->first[from + 1]++] = (int)to;
        }
        for (size_t u = 2; pass == 0 && u < units + 2; u++)
            p->first[u] += p->first[u - 1];
    }
}

/* Repeatedly removes units without incoming edges: a cycle and what comes after it remain. */
static void peel(struct peeling *p, size_t units)
{
    size_t depth = 0;
    for (size_t u = 0; u < units; u++)
        if (p->left[u] == 0) p->stack[depth++] = (int)u;
    while (depth) {
        int unit = p->stack[--depth];
        p->peeled[unit] = true;
        for (size_t e = p->first[unit]; e < p->first[unit + 1]; e++)
            if (--p->left[p->to[e]] == 0) p->stack[depth++] = p->to[e];
    }
}

/* Adds the names of groups with several runs that are on a cycle or between two to `separate`. */
static int find_cycles(struct growing *g, const int *group, bool *found)
{
    size_t units = g->count + g->layers->count;
    struct peeling p = {.g = g,
                        .group = group,
                        .left = calloc(units + 1, sizeof *p.left),
                        .first = calloc(units + 2, sizeof *p.first),
                        .to = calloc(g->layers->edge_count + 1, sizeof *p.to),
                        .stack = calloc(units + 1, sizeof *p.stack),
                        .peeled = calloc(units + 1, sizeof *p.peeled)};
    int code = p.left && p.first && p.to && p.stack && p.peeled ? 0 : ASSAY_ENOMEM;
    for (int side = 0; side < 2 && !code; side++) {
        list_edges(&p, units, side == 0);
        peel(&p, units);
    }
    for (size_t i = 0; i < g->count && !code; i++) {
        if (p.peeled[i] || g->groups[i].runs < 2) continue;
        *found = true;
        code = assay__map_set(g->separate, g->groups[i].block->name, 1);
    }
    free(p.left);
    free(p.first);
    free(p.to);
    free(p.stack);
    free(p.peeled);
    return code;
}

static int separate_cycles(struct growing *g)
{
    bool found = false;
    int code = find_groups(g);
    for (int level = 0; level < g->blocks->level_count && !code; level++)
        code = find_cycles(g, g->of[level], &found);
    return found && !code ? find_groups(g) : code;
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static void choose_drawn(struct growing *g)
{
    for (size_t i = 0; i < g->count; i++) {
        const struct group *group = &g->groups[i];
        bool all = group->parent >= 0 && g->groups[group->parent].layers == group->layers;
        g->groups[i].drawn = group->layers > 1 && !all;
    }
}

/* The innermost group of a layer that is drawn; -1: none. */
static int drawn_of_layer(const struct growing *g, size_t layer)
{
    for (int level = g->blocks->level_count; level-- > 0;) {
        int group = g->of[level][layer];
        if (group >= 0 && g->groups[group].drawn) return g->groups[group].number;
    }
    return -1;
}

/* Stages come before blocks, so that the enclosing group always has the lower number. */
static void list_drawn(struct growing *g, struct assay__arena *arena,
                       struct assay__graph_groups *out)
{
    for (size_t i = 0; i < g->count; i++) {
        struct group *group = &g->groups[i];
        const struct assay__layer_block *block = group->block;
        if (!group->drawn) continue;
        group->number = (int)out->count;
        bool around = group->parent >= 0 && g->groups[group->parent].drawn;
        out->items[out->count++] = (struct assay__graph_group){
            .name = block->name,
            .label = block->label[0] ? block->label
                                     : assay__arena_text(arena, "%zu layers", group->layers),
            .block = block->id,
            .parent = around ? g->groups[group->parent].number : -1,
            .layers = group->layers};
    }
    for (size_t i = 0; i < g->layers->count; i++)
        out->of_layer[i] = drawn_of_layer(g, i);
}

/* --- bundles ---------------------------------------------------------------------------------- */

struct bundling {       /* by parent, 0: the whole */
    size_t *kids, *met; /* all of them; those in a bundle */
    int *first;         /* its first bundle */
    int *into;          /* by group: its new parent; -2: not seen yet */
};

static size_t per_bundle(const struct bundling *b, size_t p)
{
    return (b->kids[p] + BUNDLES - 1) / BUNDLES;
}

static size_t count_bundles(const struct assay__graph_groups *g, size_t layers, struct bundling *b)
{
    size_t bundles = 0;
    for (size_t i = 0; i < g->count; i++)
        b->kids[g->items[i].parent + 1]++, b->into[i] = -2;
    for (size_t i = 0; i < layers; i++)
        b->kids[g->of_layer[i] + 1]++;
    for (size_t p = 0; p < g->count + 1; p++) {
        b->first[p] = (int)(g->count + bundles);
        if (b->kids[p] > BESIDE) bundles += (b->kids[p] - 1) / per_bundle(b, p) + 1;
    }
    return bundles;
}

/* The parent of the next child: a bundle, or the parent itself. */
static int place_kid(struct bundling *b, int parent)
{
    size_t p = (size_t)(parent + 1);
    if (b->kids[p] <= BESIDE) return parent;
    return b->first[p] + (int)(b->met[p]++ / per_bundle(b, p));
}

static void place_kids(struct assay__graph_groups *g, size_t layers, struct bundling *b)
{
    for (size_t i = 0; i < layers; i++) {
        int around = g->of_layer[i];
        g->of_layer[i] = place_kid(b, around);
        for (; around >= 0 && b->into[around] == -2; around = g->items[around].parent)
            b->into[around] = place_kid(b, g->items[around].parent);
    }
    for (size_t p = 0; p < g->count + 1; p++)
        for (int k = b->first[p];
             b->kids[p] > BESIDE && k <= b->first[p] + (int)((b->kids[p] - 1) / per_bundle(b, p));
             k++)
            g->items[k] = (struct assay__graph_group){.block = -1, .parent = (int)p - 1};
    for (size_t i = 0; i < g->count; i++)
        g->items[i].parent = b->into[i];
}

static void name_bundles(struct assay__graph_groups *g, size_t old, size_t layers,
                         struct assay__arena *arena)
{
    size_t *first = calloc(g->count + 1, sizeof *first), *last = calloc(g->count + 1, sizeof *last);
    if (!first || !last) assay__arena_fail(arena);
    for (size_t i = 0; i < layers && first && last; i++)
        for (int at = g->of_layer[i]; at >= 0; at = g->items[at].parent) {
            if (at < (int)old) continue;
            if (!g->items[at].layers++) first[at] = i;
            last[at] = i;
        }
    for (size_t i = old; i < g->count && first && last; i++)
        g->items[i].name = g->items[i].label = assay__arena_text(arena, "layers %zu to %zu",
                                                                 first[i], last[i]);
    free(first);
    free(last);
}

/* What is around a group before it. */
static bool sort_by_depth(struct assay__graph_groups *g, size_t layers, struct assay__arena *arena)
{
    struct assay__graph_group *sorted = assay__arena_array(arena, g->count + 1, sizeof *sorted);
    int *number = calloc(g->count + 1, sizeof *number);
    size_t next = 0;
    for (int depth = 0; sorted && number && next < g->count; depth++)
        for (size_t i = 0; i < g->count; i++) {
            int own = 0;
            for (int at = g->items[i].parent; at >= 0; at = g->items[at].parent)
                own++;
            if (own != depth) continue;
            number[i] = (int)next;
            sorted[next++] = g->items[i];
        }
    for (size_t i = 0; sorted && number && i < g->count; i++)
        if (sorted[i].parent >= 0) sorted[i].parent = number[sorted[i].parent];
    for (size_t i = 0; number && i < layers; i++)
        if (g->of_layer[i] >= 0) g->of_layer[i] = number[g->of_layer[i]];
    g->items = sorted;
    free(number);
    return sorted && next == g->count;
}

static int bundle(struct assay__graph_groups *g, size_t layers, struct assay__arena *arena)
{
    size_t old = g->count, room = old + 2;
    struct bundling b = {.kids = calloc(room, sizeof *b.kids),
                         .met = calloc(room, sizeof *b.met),
                         .first = calloc(room, sizeof *b.first),
                         .into = calloc(room, sizeof *b.into)};
    int code = b.kids && b.met && b.first && b.into ? 0 : ASSAY_ENOMEM;
    size_t bundles = code ? 0 : count_bundles(g, layers, &b);
    struct assay__graph_group *items = assay__arena_array(arena, old + bundles + 1, sizeof *items);
    if (!items) code = ASSAY_ENOMEM;
    if (bundles && !code) {
        if (old) memcpy(items, g->items, old * sizeof *items);
        g->items = items;
        place_kids(g, layers, &b);
        g->count = old + bundles;
        name_bundles(g, old, layers, arena);
        if (!sort_by_depth(g, layers, arena)) code = ASSAY_ENOMEM;
    }
    free(b.kids);
    free(b.met);
    free(b.first);
    free(b.into);
    return code;
}

/* --- the whole -------------------------------------------------------------------------------- */

int assay__graph_groups(const struct assay__blocks *blocks, const struct assay__layers *layers,
                        struct assay__arena *arena, struct assay__graph_groups *out)
{
    struct growing g = {.blocks = blocks,
                        .layers = layers,
                        .groups = calloc(blocks->count + 1, sizeof *g.groups),
                        .separate = assay__map_new()};
    bool made = g.groups && g.separate;
    for (int level = 0; level < ASSAY__BLOCK_LEVELS; level++) {
        g.of[level] = malloc((layers->count + 1) * sizeof *g.of[level]);
        made = made && g.of[level];
        for (size_t i = 0; made && i < layers->count; i++)
            g.of[level][i] = -1;
    }
    int code = made ? separate_cycles(&g) : ASSAY_ENOMEM;
    *out = (struct assay__graph_groups){
        .items = assay__arena_array(arena, blocks->count + 1, sizeof *out->items),
        .of_layer = assay__arena_array(arena, layers->count + 1, sizeof *out->of_layer)};
    if (!out->items || !out->of_layer) code = ASSAY_ENOMEM;
    if (!code) {
        choose_drawn(&g);
        list_drawn(&g, arena, out);
        code = bundle(out, layers->count, arena);
    }
    for (int level = 0; level < ASSAY__BLOCK_LEVELS; level++)
        free(g.of[level]);
    free(g.groups);
    assay__map_free(g.separate);
    return code || assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
