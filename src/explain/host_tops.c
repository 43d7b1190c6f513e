/* host_tops.c - where the host's own time went: of each name the time in which it was the innermost
 * event of its thread, and the time within it. Stack samples count for their innermost function.
 * For traces without device work this is all there is to say. */
#include "base/map.h"
#include "explain/nest.h"
#include "explain/parts.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_KEPT 200

struct counting {
    struct assay__explain *x;
    struct assay__host_function *by_name;
    size_t texts;
};

static struct assay__host_function *function_of(struct counting *c, uint32_t event)
{
    uint32_t name = c->x->events->name[event];
    return name < c->texts ? &c->by_name[name] : &c->by_name[c->texts];
}

static void add_stretch(void *context, int64_t start_ns, int64_t end_ns,
                        const struct assay__open_event *top)
{
    struct counting *c = context;
    if (!top) return;
    function_of(c, top->event)->self_ns += end_ns - start_ns;
    c->x->host_ns += end_ns - start_ns;
}

static void count_events(struct counting *c)
{
    const struct assay__events *events = c->x->events;
    for (size_t i = 0; i < events->count; i++) {
        uint8_t kind = events->kind[i];
        bool sample = kind == ASSAY__EVENT_SAMPLE;
        if ((kind < ASSAY__EVENT_LAUNCH || kind > ASSAY__EVENT_CPU) && !sample) continue;
        struct assay__host_function *f = function_of(c, (uint32_t)i);
        f->name = events->name[i];
        f->kind = kind;
        f->count++;
        if (sample)
            f->self_ns += events->duration_ns[i];
        else
            f->total_ns += events->duration_ns[i];
        if (sample) c->x->sampled_ns += events->duration_ns[i];
        if (!f->type) f->type = assay__event_args(events, i)->operator_type;
        c->x->samples += sample;
    }
}

/* A function counts once in a stack that it is in several times. */
static void count_within(struct counting *c, struct assay__map *places)
{
    const struct assay__flame *flame = c->x->flame;
    uint32_t *inside = calloc(c->texts + 1, sizeof *inside);
    size_t depth = 0;
    uint32_t *path = calloc((size_t)flame->depth + 1, sizeof *path);
    for (uint32_t i = 0; inside && path && flame->is_time;) {
        const struct assay__flame_node *node = &flame->nodes[i];
        size_t place = node->depth > 1 ? assay__map_get(places, node->name) : ASSAY__MAP_NONE;
        path[depth++] = place == ASSAY__MAP_NONE ? UINT32_MAX : (uint32_t)place;
        if (place != ASSAY__MAP_NONE && !inside[place]++) c->by_name[place].total_ns += node->total;
        if (node->first) {
            i = node->first;
            continue;
        }
        for (; depth && !flame->nodes[i].next; i = flame->nodes[i].parent)
            if (path[--depth] != UINT32_MAX) inside[path[depth]]--;
        if (!depth) break;
        if (path[--depth] != UINT32_MAX) inside[path[depth]]--;
        i = flame->nodes[i].next;
    }
    if (!inside || !path) assay__arena_fail(c->x->arena);
    free(inside);
    free(path);
}

/* Functions that samples were in, by name. */
static void count_stacks(struct counting *c)
{
    struct assay__map *places = assay__map_new();
    c->x->flame = c->x->samples ? assay__flame_new(c->x->events, c->x->arena) : NULL;
    for (size_t i = 0; i < c->texts && places && c->x->flame; i++) {
        bool is_sampled = c->by_name[i].count && c->by_name[i].kind == ASSAY__EVENT_SAMPLE;
        if (is_sampled && assay__map_set(places, assay__events_text(c->x->events, (uint32_t)i), i))
            assay__arena_fail(c->x->arena);
    }
    if (!places) assay__arena_fail(c->x->arena);
    if (places && c->x->flame) count_within(c, places);
    assay__map_free(places);
    for (size_t i = 0; i <= c->texts; i++) /* samples without stacks */
        if (c->by_name[i].kind == ASSAY__EVENT_SAMPLE &&
            c->by_name[i].total_ns < c->by_name[i].self_ns)
            c->by_name[i].total_ns = c->by_name[i].self_ns;
}

static int compare_functions(const void *a, const void *b)
{
    const struct assay__host_function *x = a, *y = b;
    if (x->self_ns != y->self_ns) return x->self_ns < y->self_ns ? 1 : -1;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

static void keep(struct counting *c)
{
    struct assay__explain *x = c->x;
    size_t count = 0;
    for (size_t i = 0; i <= c->texts; i++)
        if (c->by_name[i].count) c->by_name[count++] = c->by_name[i];
    if (count) qsort(c->by_name, count, sizeof *c->by_name, compare_functions);
    if (count > FUNCTIONS_KEPT) count = FUNCTIONS_KEPT;
    x->functions = assay__arena_array(x->arena, count, sizeof *x->functions);
    if (!x->functions || !count) return;
    memcpy(x->functions, c->by_name, count * sizeof *x->functions);
    x->function_count = count;
}

void assay__explain_host(struct assay__explain *x)
{
    struct counting c = {.x = x, .texts = assay__events_text_count(x->events)};
    c.by_name = calloc(c.texts + 1, sizeof *c.by_name);
    if (!c.by_name) {
        assay__arena_fail(x->arena);
        return;
    }
    count_events(&c);
    count_stacks(&c);
    for (uint32_t i = 0; i < x->events->track_count; i++)
        if (x->events->tracks[i].kind == ASSAY__TRACK_THREAD &&
            !assay__nest_walk(x->timeline, i, x->timeline->first_ns, x->timeline->last_ns,
                              add_stretch, &c))
            assay__arena_fail(x->arena);
    keep(&c);
    free(c.by_name);
}
