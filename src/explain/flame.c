/* flame.c - samples of the same thread's name and stack are added up first, so that each stack's
 * text is taken apart once. */
#include "explain/flame.h"

#include "base/map.h"
#include "base/pairs.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MOST ((size_t)1 << 22)

struct growing {
    struct assay__arena *arena;
    struct assay__map *names; /* text -> place in texts */
    const char **texts;
    size_t text_count;
    struct assay__pairs stacks; /* arguments, number of the thread's name */
    struct sum {
        int64_t value;
        size_t event; /* one of them */
    } * sums;         /* of the stacks */
    size_t sum_capacity;
    struct assay__pairs nodes; /* parent's place, name */
    struct assay__flame_node *items;
    size_t item_capacity;
    bool failed;
};

/* A number for the text; 0: out of memory. */
static uint32_t name_of(struct growing *g, const char *text, size_t length)
{
    char small[512];
    const char *kept = small;
    if (length < sizeof small) {
        memcpy(small, text, length);
        small[length] = '\0';
    } else {
        kept = assay__arena_strndup(g->arena, text, length);
    }
    size_t known = assay__map_get(g->names, kept);
    if (known != ASSAY__MAP_NONE) return (uint32_t)known;
    if (kept == small) kept = assay__arena_strdup(g->arena, small);
    const char **texts = assay__arena_grow(g->arena, g->texts, g->text_count, sizeof *texts);
    if (!kept || !texts || assay__map_set(g->names, kept, g->text_count + 1)) {
        g->failed = true;
        return 0;
    }
    g->texts = texts;
    texts[g->text_count++] = kept;
    return (uint32_t)g->text_count;
}

/* The place of the child of that name. */
static uint32_t child_of(struct growing *g, uint32_t parent, uint32_t name)
{
    bool is_new;
    uint32_t number = name ? assay__pairs_number(&g->nodes, parent, name, &is_new) : 0;
    if (!number || assay__vec_grow((void **)&g->items, &g->item_capacity, (size_t)number + 1,
                                   sizeof *g->items)) {
        g->failed |= g->nodes.failed || !name || number;
        return parent; /* there is no room: it counts where it is */
    }
    if (!is_new) return number;
    struct assay__flame_node *above = &g->items[parent];
    g->items[number] = (struct assay__flame_node){.name = g->texts[name - 1],
                                                  .parent = parent,
                                                  .next = above->first,
                                                  .depth = above->depth + 1};
    above->first = number;
    return number;
}

static void add_stack(struct growing *g, const char *thread, const char *stack, int64_t value)
{
    uint32_t at = child_of(g, 0, name_of(g, thread, strlen(thread)));
    g->items[0].total += value;
    g->items[at].total += value;
    for (const char *frame = stack; *frame;) {
        size_t length = strcspn(frame, ";");
        uint32_t below = length ? child_of(g, at, name_of(g, frame, length)) : at;
        if (below != at) g->items[below].total += value;
        at = below;
        frame += length + (frame[length] == ';');
    }
    g->items[at].self += value;
}

/* Adds up samples by thread's name and stack. */
static void count_samples(struct growing *g, const struct assay__events *events,
                          struct assay__flame *flame)
{
    for (size_t i = 0; i < events->count && !g->failed; i++) {
        if (events->kind[i] != ASSAY__EVENT_SAMPLE) continue;
        const char *stack = assay__event_args(events, i)->stack;
        uint32_t track = events->track[i];
        const char *thread = track < events->track_count ? events->tracks[track].name : NULL;
        flame->samples++;
        if (!stack) {
            flame->stackless++;
            continue;
        }
        if (!thread) thread = "threads without a name";
        bool is_new;
        uint32_t name = name_of(g, thread, strlen(thread));
        uint32_t number = name ? assay__pairs_number(&g->stacks, events->args[i], name, &is_new)
                               : 0;
        if (!number ||
            assay__vec_grow((void **)&g->sums, &g->sum_capacity, number, sizeof *g->sums)) {
            g->failed = true;
            return;
        }
        g->sums[number - 1].event = i;
        g->sums[number - 1].value += flame->is_time ? events->duration_ns[i] : 1;
    }
}

static int by_total(const void *a, const void *b)
{
    const struct assay__flame_node *x = *(const struct assay__flame_node *const *)a;
    const struct assay__flame_node *y = *(const struct assay__flame_node *const *)b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* The children of a node, the largest first. */
static void order_children(struct assay__flame_node *nodes, uint32_t place,
                           struct assay__flame_node **room)
{
    size_t count = 0;
    for (uint32_t i = nodes[place].first; i; i = nodes[i].next)
        room[count++] = &nodes[i];
    if (count > 1) qsort(room, count, sizeof *room, by_total);
    uint32_t *link = &nodes[place].first;
    for (size_t i = 0; i < count; i++) {
        *link = (uint32_t)(room[i] - nodes);
        link = &room[i]->next;
    }
    *link = 0;
}

static void finish(struct growing *g, struct assay__flame *flame)
{
    struct assay__flame_node **room = malloc((g->nodes.count + 1) * sizeof *room);
    flame->count = g->nodes.count + 1;
    flame->nodes = assay__arena_array(g->arena, flame->count, sizeof *flame->nodes);
    if (room && flame->nodes) {
        memcpy(flame->nodes, g->items, flame->count * sizeof *flame->nodes);
        for (uint32_t i = 0; i < flame->count; i++) {
            order_children(flame->nodes, i, room);
            if (flame->nodes[i].depth > flame->depth) flame->depth = flame->nodes[i].depth;
        }
    } else {
        g->failed = true;
    }
    free(room);
}

static bool has_durations(const struct assay__events *events)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->kind[i] == ASSAY__EVENT_SAMPLE && events->duration_ns[i] > 0) return true;
    return false;
}

struct assay__flame *assay__flame_new(const struct assay__events *events,
                                      struct assay__arena *arena)
{
    struct growing g = {.arena = arena, .names = assay__map_new(), .nodes = {.most = NODES_MOST}};
    struct assay__flame *flame = assay__arena_alloc(arena, sizeof *flame);
    g.failed = !g.names || !flame ||
               assay__vec_grow((void **)&g.items, &g.item_capacity, 1, sizeof *g.items);
    if (!g.failed) {
        g.items[0].name = "all";
        flame->is_time = has_durations(events);
        count_samples(&g, events, flame);
    }
    for (size_t i = 0; i < g.stacks.count && !g.failed; i++)
        add_stack(&g, g.texts[g.stacks.items[i].b - 1],
                  assay__event_args(events, g.sums[i].event)->stack, g.sums[i].value);
    if (!g.failed) finish(&g, flame);
    if (g.failed) assay__arena_fail(arena);
    assay__map_free(g.names);
    assay__pairs_free(&g.stacks);
    assay__pairs_free(&g.nodes);
    free(g.sums);
    free(g.items);
    return g.failed || !flame->nodes[0].total ? NULL : flame;
}
