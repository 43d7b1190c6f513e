/* nesting.c - see nesting.h. A track keeps at most LANES lanes open: what fits in none of them gets
 * a lane of its own, so that a trace in which everything overlaps costs no more time than others.
 */
#include "trace/nesting.h"

#include "base/no_memory.h"
#include "base/vec.h"

#include <stdlib.h>

enum { LANES = 32 };

/* A lane that takes events. */
struct open_lane {
    uint32_t lane;
    uint16_t depth;
    size_t capacity;
    int64_t *ends_ns; /* of the events that are open, outermost first */
};

struct open_track {
    struct open_lane *lanes;
    size_t count, capacity;
    uint32_t all; /* lanes, those of one event included */
    bool aside;
};

struct maker {
    struct assay__nesting *nesting;
    size_t lane_capacity;
    struct open_track *tracks; /* two for each: its events, and what is aside */
    bool apart;
};

static int add_lane(struct maker *m, struct open_track *of, uint32_t track, uint32_t *lane)
{
    struct assay__nesting *n = m->nesting;
    *lane = (uint32_t)n->lane_count;
    if (assay__vec_grow((void **)&n->lanes, &m->lane_capacity, n->lane_count + 1, sizeof *n->lanes))
        return ASSAY_ENOMEM;
    n->lanes[n->lane_count++] = (struct assay__lane){
        .track = track, .depths = 1, .index = of->all++, .aside = of->aside};
    return 0;
}

/* Whether the lane can take it, after what ended before it was closed. */
static bool fits(struct open_lane *lane, int64_t start_ns, int64_t end_ns)
{
    while (lane->depth && lane->ends_ns[lane->depth - 1] <= start_ns)
        lane->depth--;
    return !lane->depth ||
           (lane->depth < ASSAY__NESTING_DEPTH && end_ns <= lane->ends_ns[lane->depth - 1]);
}

/* The first lane that can take it, else a new one; *lane NULL: it gets one of its own. */
static int find_lane(struct maker *m, struct open_track *track, const struct assay__events *events,
                     size_t event, struct open_lane **lane)
{
    int64_t start_ns = events->start_ns[event], end_ns = assay__event_end_ns(events, event);
    *lane = NULL;
    for (size_t i = 0; i < track->count; i++) {
        *lane = &track->lanes[i];
        if (fits(*lane, start_ns, end_ns)) return 0;
    }
    *lane = NULL;
    if (track->count == LANES) return 0;
    if (assay__vec_grow((void **)&track->lanes, &track->capacity, track->count + 1,
                        sizeof *track->lanes))
        return ASSAY_ENOMEM;
    *lane = &track->lanes[track->count++];
    return add_lane(m, track, events->track[event], &(*lane)->lane);
}

/* Events without a track share one. */
static struct open_track *track_of(struct maker *m, const struct assay__events *events,
                                   size_t event)
{
    uint32_t number = events->track[event];
    if (number >= events->track_count) return &m->tracks[2 * events->track_count];
    struct open_track *track = &m->tracks[2 * (size_t)number];
    if (!m->apart || events->tracks[number].kind != ASSAY__TRACK_STREAM ||
        assay__event_is_work(events, event))
        return track;
    track[1].aside = true;
    return &track[1];
}

static int place(struct maker *m, const struct assay__events *events, size_t event)
{
    struct assay__nesting *n = m->nesting;
    struct open_lane *lane;
    uint32_t number = events->track[event];
    struct open_track *track = track_of(m, events, event);
    int code = find_lane(m, track, events, event, &lane);
    if (code) return code;
    if (!lane) return add_lane(m, track, number, &n->lane[event]);
    if (assay__vec_grow((void **)&lane->ends_ns, &lane->capacity, (size_t)lane->depth + 1,
                        sizeof *lane->ends_ns))
        return ASSAY_ENOMEM;
    n->lane[event] = lane->lane;
    n->depth[event] = lane->depth;
    lane->ends_ns[lane->depth++] = assay__event_end_ns(events, event);
    if (lane->depth > n->lanes[lane->lane].depths) n->lanes[lane->lane].depths = lane->depth;
    return 0;
}

static void free_tracks(struct open_track *tracks, size_t count)
{
    for (size_t t = 0; tracks && t < count; t++) {
        for (size_t i = 0; i < tracks[t].count; i++)
            free(tracks[t].lanes[i].ends_ns);
        free(tracks[t].lanes);
    }
    free(tracks);
}

int assay__nesting_make(struct assay__nesting *nesting, const struct assay__events *events,
                        bool apart, struct assay_error *error)
{
    struct maker m = {.nesting = nesting, .apart = apart};
    *nesting = (struct assay__nesting){0};
    nesting->lane = calloc(events->count + 1, sizeof *nesting->lane);
    nesting->depth = calloc(events->count + 1, sizeof *nesting->depth);
    m.tracks = calloc(2 * events->track_count + 1, sizeof *m.tracks);
    int code = nesting->lane && nesting->depth && m.tracks ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < events->count && !code; i++)
        code = place(&m, events, i);
    free_tracks(m.tracks, 2 * events->track_count + 1);
    return code ? assay__no_memory(error) : 0;
}

void assay__nesting_free(struct assay__nesting *nesting)
{
    free(nesting->lane);
    free(nesting->depth);
    free(nesting->lanes);
    *nesting = (struct assay__nesting){0};
}

/* --- what is open ----------------------------------------------------------------------------- */

int assay__open_events_make(struct assay__open_events *open, const struct assay__nesting *nesting,
                            struct assay_error *error)
{
    size_t total = 0;
    for (size_t i = 0; i < nesting->lane_count; i++)
        total += nesting->lanes[i].depths;
    open->stack = calloc(total + 1, sizeof *open->stack);
    open->first = calloc(nesting->lane_count + 1, sizeof *open->first);
    open->count = calloc(nesting->lane_count + 1, sizeof *open->count);
    if (!open->stack || !open->first || !open->count) return assay__no_memory(error);
    for (size_t i = 0; i < nesting->lane_count; i++)
        open->first[i + 1] = open->first[i] + nesting->lanes[i].depths;
    return 0;
}

void assay__open_events_free(struct assay__open_events *open)
{
    free(open->stack);
    free(open->first);
    free(open->count);
    *open = (struct assay__open_events){0};
}

void assay__open_events_end(struct assay__open_events *open, size_t lane, uint16_t depth,
                            assay__closed_fn *closed, void *context)
{
    const size_t *stack = open->stack + open->first[lane];
    while (open->count[lane] > depth)
        closed(context, stack[--open->count[lane]]);
}

void assay__open_events_begin(struct assay__open_events *open, const struct assay__nesting *nesting,
                              size_t event)
{
    uint32_t lane = nesting->lane[event];
    open->stack[open->first[lane] + open->count[lane]++] = event;
}
