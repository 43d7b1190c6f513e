/* export_folded.c - folded stacks, one line each: "process;thread;outer;inner NANOSECONDS", what
 * flame graph programs read. The number is the time in the innermost event itself, summed over all
 * events with that stack; a sample's stack is its own, below the thread. A name's semicolons become
 * colons, its line breaks blanks. Memory is taken for the distinct stacks. */
#include "base/arena.h"
#include "base/map.h"
#include "trace/exporters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An event that is open: the length of the stack's text up to it, its own time so far. */
struct level {
    size_t length;
    uint64_t own_ns;
};

struct folded {
    struct assay__export *to;
    struct assay__open_events open;
    struct assay__arena *arena; /* the texts of stacks */
    struct assay__map *map;     /* text -> place in totals */
    struct assay__buf *stacks;  /* of each lane: its open stack … */
    size_t *roots;              /* … and the length of its process and thread */
    struct level *levels;       /* as open.stack */
    const char **texts;
    uint64_t *totals_ns;
    size_t count;
    struct assay__buf name;
};

static void put_frame(struct assay__buf *stack, const char *name)
{
    if (stack->length) assay__buf_putc(stack, ';');
    if (!*name) name = "(no name)"; /* between two semicolons there must be something */
    for (; *name; name++)
        assay__buf_putc(stack, *name == ';' ? ':' : *name == '\n' || *name == '\r' ? ' ' : *name);
}

/* --- totals ----------------------------------------------------------------------------------- */

static size_t place_of(struct folded *f, const char *text)
{
    size_t at = assay__map_get(f->map, text);
    if (at != ASSAY__MAP_NONE) return at;
    const char *kept = assay__arena_strdup(f->arena, text);
    const char **texts = assay__arena_grow(f->arena, f->texts, f->count, sizeof *texts);
    uint64_t *totals = assay__arena_grow(f->arena, f->totals_ns, f->count, sizeof *totals);
    if (!kept || !texts || !totals || assay__map_set(f->map, kept, f->count)) {
        assay__export_no_memory(f->to);
        return SIZE_MAX;
    }
    f->texts = texts;
    f->totals_ns = totals;
    texts[f->count] = kept;
    totals[f->count] = 0;
    return f->count++;
}

static void add(struct folded *f, const struct assay__buf *stack, uint64_t own_ns)
{
    if (!own_ns || stack->failed) return;
    size_t at = place_of(f, assay__buf_text(stack));
    if (at != SIZE_MAX) f->totals_ns[at] += own_ns;
}

/* --- events ----------------------------------------------------------------------------------- */

static void cut(struct assay__buf *stack, size_t length)
{
    if (stack->failed || !stack->data) return;
    stack->length = length;
    stack->data[length] = 0;
}

static void close_event(void *context, size_t event)
{
    struct folded *f = context;
    uint32_t lane = f->to->nesting.lane[event];
    struct level *level = &f->levels[f->open.first[lane] + f->open.count[lane]];
    struct assay__buf *stack = &f->stacks[lane];
    cut(stack, level->length);
    add(f, stack, level->own_ns);
}

/* The stack of a lane begins with its process and thread. */
static void begin_stack(struct folded *f, uint32_t lane)
{
    uint32_t track = f->to->nesting.lanes[lane].track;
    if (f->stacks[lane].length) return;
    assay__export_group_name(f->to, track, &f->name);
    if (f->name.length) put_frame(&f->stacks[lane], assay__buf_text(&f->name));
    assay__export_track_name(f->to, track, &f->name);
    put_frame(&f->stacks[lane], assay__buf_text(&f->name));
    f->roots[lane] = f->stacks[lane].length;
}

static void put_frames(struct assay__buf *stack, const char *frames)
{
    assay__buf_putc(stack, ';');
    for (; *frames; frames++) /* "main;run;work": semicolons separate them */
        assay__buf_putc(stack, *frames == '\n' || *frames == '\r' ? ' ' : *frames);
}

static void open_event(struct folded *f, size_t event)
{
    const struct assay__events *events = f->to->events;
    uint32_t lane = f->to->nesting.lane[event];
    uint16_t depth = f->to->nesting.depth[event];
    struct level *levels = &f->levels[f->open.first[lane]];
    struct assay__buf *stack = &f->stacks[lane];
    uint64_t own_ns = (uint64_t)events->duration_ns[event];
    const char *frames = assay__event_args(events, event)->stack;
    assay__open_events_end(&f->open, lane, depth, close_event, f);
    begin_stack(f, lane);
    cut(stack, depth ? levels[depth - 1].length : f->roots[lane]);
    if (depth) levels[depth - 1].own_ns -= own_ns;
    if (frames && events->kind[event] == ASSAY__EVENT_SAMPLE)
        put_frames(stack, frames);
    else
        put_frame(stack, assay__event_name(events, event));
    levels[depth] = (struct level){.length = stack->length, .own_ns = own_ns};
    if (stack->failed) assay__export_no_memory(f->to);
    assay__open_events_begin(&f->open, &f->to->nesting, event);
}

static void run_with(struct folded *f)
{
    for (size_t i = 0; i < f->to->events->count && !assay__export_failed(f->to); i++)
        open_event(f, i);
    for (size_t i = 0; i < f->to->nesting.lane_count; i++)
        assay__open_events_end(&f->open, i, 0, close_event, f);
    for (size_t i = 0; i < f->count && !assay__export_failed(f->to); i++) {
        assay__buf_printf(&f->to->out, "%s %" PRIu64 "\n", f->texts[i], f->totals_ns[i]);
        assay__export_flush(f->to);
    }
}

static void run(struct assay__export *to)
{
    struct folded f = {.to = to, .arena = assay__arena_new(), .map = assay__map_new()};
    size_t lanes = to->nesting.lane_count;
    f.stacks = calloc(lanes + 1, sizeof *f.stacks);
    f.roots = calloc(lanes + 1, sizeof *f.roots);
    int code = assay__open_events_make(&f.open, &to->nesting, &to->error);
    f.levels = code ? NULL : calloc(f.open.first[lanes] + 1, sizeof *f.levels);
    if (f.arena && f.map && f.stacks && f.roots && f.levels)
        run_with(&f);
    else
        assay__export_no_memory(to);
    for (size_t i = 0; f.stacks && i < lanes; i++)
        assay__buf_free(&f.stacks[i]);
    assay__buf_drop(&f.name, &to->out);
    assay__open_events_free(&f.open);
    assay__map_free(f.map);
    assay__arena_free(f.arena);
    free(f.stacks);
    free(f.roots);
    free(f.levels);
}

const struct assay__exporter assay__exporter_folded = {
    .name = "folded",
    .title = "folded stacks, for flame graphs",
    .extension = "folded",
    .run = run,
};
