/* what_if.c - how long the timeline would be without a class of cost: a replay of the rank's calls
 * and of the work they launched. The host goes from call to call with the pauses it had; work
 * starts when it was launched (with the latency it had) and what it waited for has ended; calls
 * that waited for the device wait for the same work. A class is removed by making its part of
 * these times zero. The replay of the unchanged trace shows how far the model can be trusted.
 *
 * All threads of a rank are one sequence of calls: right for a framework whose threads take turns,
 * too slow for threads that launch at the same time. */
#include "explain/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MOST 64      /* streams of a device whose work may wait for each other */
#define RANKS_MOST 256       /* each of them walks all calls */
#define CORRELATED_LEAST 0.9 /* of the work: fewer, and there is nothing to replay */
#define CLOCKS_NS 2000       /* as in idle.c */

/* A piece of work: numbers of all devices of a rank in one array, ordered by call, then start. */
struct item {
    uint32_t event, call, stream; /* stream: place among the rank's streams */
    uint32_t after;               /* the item of another stream that it started behind, or none */
    int64_t end_ns;               /* replayed; INT64_MIN: not yet */
};

struct replay {
    struct assay__explain *x;
    struct item *items;
    size_t count;
    uint32_t *call_begin; /* call_count + 1: items of each call */
    uint32_t *last;       /* of each stream: the item before; ASSAY__NO_EVENT: none */
    size_t streams;
    int64_t latency_ns, pause_ns; /* usual: from launch to start, between two queued ones */
    unsigned without;             /* 1 << enum assay__loss: what is removed */
};

static bool is_without(const struct replay *r, enum assay__loss loss)
{
    return r->without >> loss & 1;
}

static bool is_transfer(const struct replay *r, uint32_t event)
{
    return assay__is_host_copy(r->x->events, event) && !assay__is_scalar_read(r->x->events, event);
}

static int64_t end_of(const struct replay *r, uint32_t item)
{
    return assay__event_end_ns(r->x->events, r->items[item].event);
}

/* --- the device ------------------------------------------------------------------------------- */

/* What the item followed: the later of its stream's last one and that of another stream. */
struct behind {
    int64_t was_ns, now_ns; /* its end, in the trace and in the replay; INT64_MIN: nothing */
};

static void follow(struct behind *b, const struct replay *r, uint32_t item)
{
    if (item == ASSAY__NO_EVENT || r->items[item].end_ns == INT64_MIN) return;
    int64_t was_ns = end_of(r, item);
    if (was_ns > b->was_ns) b->was_ns = was_ns;
    if (r->items[item].end_ns > b->now_ns) b->now_ns = r->items[item].end_ns;
}

static void run_item(struct replay *r, uint32_t place, int64_t launched_ns)
{
    const struct assay__events *events = r->x->events;
    struct item *item = &r->items[place];
    int64_t start_ns = events->start_ns[item->event];
    int64_t call_ns = events->start_ns[r->x->timeline->calls[item->call].event];
    struct behind behind = {INT64_MIN, INT64_MIN};
    follow(&behind, r, r->last[item->stream]);
    follow(&behind, r, item->after);
    bool gone = is_without(r, ASSAY__LOSS_TRANSFERS) && is_transfer(r, item->event);
    bool free_launch = gone || is_without(r, ASSAY__LOSS_LAUNCHING);
    bool late = behind.was_ns == INT64_MIN || call_ns >= behind.was_ns;
    int64_t latency_ns = start_ns > call_ns ? start_ns - call_ns : 0;
    int64_t pause_ns = r->pause_ns;
    if (!late) {
        if (latency_ns > r->latency_ns) latency_ns = r->latency_ns;
        pause_ns = start_ns > behind.was_ns ? start_ns - behind.was_ns : 0;
    }
    if (free_launch) {
        latency_ns = 0;
        if (pause_ns <= 4 * r->pause_ns) pause_ns = 0;
    }
    int64_t now_ns = launched_ns + latency_ns;
    if (behind.now_ns != INT64_MIN && behind.now_ns + pause_ns > now_ns)
        now_ns = behind.now_ns + pause_ns;
    item->end_ns = now_ns + (gone ? 0 : events->duration_ns[item->event]);
    r->last[item->stream] = place;
}

/* --- the host --------------------------------------------------------------------------------- */

/* The work that ended last before the call did, of what each stream was given last. */
static uint32_t waited_for(const struct replay *r, int64_t end_ns)
{
    uint32_t found = ASSAY__NO_EVENT;
    size_t streams = r->streams < STREAMS_MOST ? r->streams : STREAMS_MOST;
    for (size_t i = 0; i < streams; i++) {
        uint32_t item = r->last[i];
        if (item == ASSAY__NO_EVENT || end_of(r, item) > end_ns + CLOCKS_NS) continue;
        if (found == ASSAY__NO_EVENT || end_of(r, item) > end_of(r, found)) found = item;
    }
    return found;
}

struct host {
    int64_t now_ns, was_ns; /* where the replay and the trace are; INT64_MIN: at the beginning */
};

/* Time in which the host reached this call. */
static int64_t pause_before(const struct replay *r, const struct assay__call *call,
                            int64_t pause_ns, bool gone)
{
    const struct assay__timeline *t = r->x->timeline;
    bool usual = pause_ns <= t->patience_ns;
    if (!usual && is_without(r, ASSAY__LOSS_STARVATION)) return t->op_ns ? t->op_ns : t->call_ns;
    if (usual && (gone || (is_without(r, ASSAY__LOSS_LAUNCHING) &&
                           !(call->flags & (ASSAY__CALL_SYNC | ASSAY__CALL_COPIES)))))
        return 0;
    return pause_ns;
}

/* The call, begun at now_ns, waits for an item as long as it did. */
static int64_t wait_for(const struct replay *r, uint32_t item, int64_t now_ns, int64_t start_ns,
                        int64_t end_ns)
{
    int64_t was_ns = end_of(r, item), from_ns = was_ns > start_ns ? was_ns : start_ns;
    if (r->items[item].end_ns > now_ns) now_ns = r->items[item].end_ns;
    return now_ns + (end_ns > from_ns ? end_ns - from_ns : 0);
}

static void run_call(struct replay *r, size_t place, struct host *host)
{
    const struct assay__timeline *t = r->x->timeline;
    const struct assay__call *call = &t->calls[place];
    int64_t start_ns = r->x->events->start_ns[call->event];
    int64_t end_ns = assay__event_end_ns(r->x->events, call->event);
    if (host->was_ns == INT64_MIN) *host = (struct host){start_ns, start_ns};
    int64_t pause_ns = start_ns > host->was_ns ? start_ns - host->was_ns : 0;
    int64_t length_ns = end_ns - (start_ns > host->was_ns ? start_ns : host->was_ns);
    bool copies = call->flags & ASSAY__CALL_COPIES && is_transfer(r, call->work);
    uint32_t awaited = call->flags & ASSAY__CALL_SYNC ? waited_for(r, end_ns) : ASSAY__NO_EVENT;
    bool of_copy = awaited != ASSAY__NO_EVENT && is_transfer(r, r->items[awaited].event);
    bool gone = is_without(r, ASSAY__LOSS_TRANSFERS) && (copies || of_copy);
    host->now_ns += pause_before(r, call, pause_ns, gone);
    for (size_t i = r->call_begin[place]; i < r->call_begin[place + 1]; i++)
        run_item(r, (uint32_t)i, host->now_ns);
    if (end_ns > host->was_ns) host->was_ns = end_ns;
    if (gone || length_ns <= 0) return;
    if (call->flags & ASSAY__CALL_SYNC) {
        if (is_without(r, ASSAY__LOSS_SYNCHRONISING)) return;
    } else if (is_without(r, ASSAY__LOSS_LAUNCHING) && !copies) {
        return;
    }
    size_t last = r->call_begin[place + 1];
    bool waits = copies || call->flags & ASSAY__CALL_SYNC;
    if (waits && last > r->call_begin[place] && end_of(r, (uint32_t)last - 1) <= end_ns)
        awaited = (uint32_t)last - 1; /* a copy that blocks */
    host->now_ns = awaited == ASSAY__NO_EVENT
                       ? host->now_ns + length_ns
                       : wait_for(r, awaited, host->now_ns, start_ns, end_ns);
}

/* The span from the first work to the last; 0 where there is none. */
static int64_t run(struct replay *r, uint32_t rank)
{
    const struct assay__timeline *t = r->x->timeline;
    struct host host = {INT64_MIN, INT64_MIN};
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < r->streams; i++)
        r->last[i] = ASSAY__NO_EVENT;
    for (size_t i = 0; i < r->count; i++)
        r->items[i].end_ns = INT64_MIN;
    for (size_t i = 0; i < t->call_count; i++)
        if (t->track_rank[r->x->events->track[t->calls[i].event]] == rank) run_call(r, i, &host);
    for (size_t i = 0; i < r->count; i++) {
        if (r->items[i].end_ns == INT64_MIN) continue;
        int64_t start_ns = r->items[i].end_ns - r->x->events->duration_ns[r->items[i].event];
        if (start_ns < first_ns) first_ns = start_ns;
        if (r->items[i].end_ns > last_ns) last_ns = r->items[i].end_ns;
    }
    return last_ns > first_ns ? last_ns - first_ns : 0;
}

/* --- preparing -------------------------------------------------------------------------------- */

/* For each item of a device, in order of start: what another stream ended last before it. */
struct stream_end {
    uint32_t item;
    int64_t end_ns;
};

static void link_device(struct replay *r, const struct assay__timeline_device *of,
                        const uint32_t *place_of, uint32_t first_stream)
{
    const struct assay__events *events = r->x->events;
    struct stream_end ends[STREAMS_MOST];
    size_t streams = of->track_count < STREAMS_MOST ? of->track_count : STREAMS_MOST;
    for (size_t i = 0; i < streams; i++)
        ends[i] = (struct stream_end){ASSAY__NO_EVENT, INT64_MIN};
    for (size_t i = 0; i < of->count; i++) {
        if (of->launch[i] == ASSAY__NO_EVENT) continue;
        struct item *item = &r->items[place_of[i]];
        size_t own = item->stream - first_stream;
        int64_t start_ns = events->start_ns[item->event], best_ns = INT64_MIN;
        for (size_t k = 0; k < streams && streams > 1; k++)
            if (k != own && ends[k].end_ns <= start_ns && ends[k].end_ns > best_ns) {
                best_ns = ends[k].end_ns;
                item->after = ends[k].item;
            }
        if (own < streams)
            ends[own] = (struct stream_end){place_of[i], assay__event_end_ns(events, item->event)};
    }
}

/* The streams of a device are in order of their tracks. */
static size_t stream_of(const struct assay__timeline_device *of, uint32_t track)
{
    size_t low = 0, high = of->track_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (of->tracks[middle] <= track)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Puts the device's work into the items of its calls, and links it. */
static bool add_device(struct replay *r, const struct assay__timeline_device *of, uint32_t *next,
                       uint32_t first_stream)
{
    const struct assay__events *events = r->x->events;
    uint32_t *place_of = malloc((of->count + 1) * sizeof *place_of);
    if (!place_of) return false;
    for (size_t i = 0; i < of->count; i++) {
        if (of->launch[i] == ASSAY__NO_EVENT) continue;
        place_of[i] = next[of->launch[i]]++;
        r->items[place_of[i]] = (struct item){
            of->work[i], of->launch[i],
            first_stream + (uint32_t)stream_of(of, events->track[of->work[i]]), ASSAY__NO_EVENT,
            INT64_MIN};
    }
    link_device(r, of, place_of, first_stream);
    free(place_of);
    return true;
}

static bool belongs(const struct assay__explain *x, size_t device, uint32_t rank)
{
    return x->timeline->track_rank[x->timeline->devices[device].tracks[0]] == rank;
}

static void count_items(struct replay *r, uint32_t rank)
{
    const struct assay__timeline *t = r->x->timeline;
    for (size_t d = 0; d < t->device_count; d++) {
        if (!belongs(r->x, d, rank)) continue;
        r->streams += t->devices[d].track_count;
        for (size_t i = 0; i < t->devices[d].count; i++)
            if (t->devices[d].launch[i] != ASSAY__NO_EVENT) {
                r->call_begin[t->devices[d].launch[i] + 1]++;
                r->count++;
            }
    }
    for (size_t i = 0; i < t->call_count; i++)
        r->call_begin[i + 1] += r->call_begin[i];
}

static bool fill_items(struct replay *r, uint32_t rank)
{
    const struct assay__timeline *t = r->x->timeline;
    uint32_t *next = malloc((t->call_count + 1) * sizeof *next), first_stream = 0;
    r->items = calloc(r->count + 1, sizeof *r->items);
    r->last = calloc(r->streams + 1, sizeof *r->last);
    bool done = next && r->items && r->last;
    if (done) memcpy(next, r->call_begin, (t->call_count + 1) * sizeof *next);
    for (size_t d = 0; done && d < t->device_count; d++) {
        if (!belongs(r->x, d, rank)) continue;
        done = add_device(r, &t->devices[d], next, first_stream);
        first_stream += (uint32_t)t->devices[d].track_count;
    }
    free(next);
    return done;
}

/* Usual latency of launches that a device waited for, usual pause between queued work. */
static bool find_usual(struct replay *r)
{
    const struct assay__explain *x = r->x;
    size_t most = 0, late = 0, queued = 0;
    for (size_t d = 0; d < x->device_count; d++)
        most += x->devices[d].gap.count;
    int64_t *latency = malloc((most + 1) * sizeof *latency), *pause = malloc((most + 1) * 8);
    for (size_t d = 0; latency && pause && d < x->device_count; d++)
        for (size_t i = 0; i < x->devices[d].gap.count; i++) {
            const struct assay__idle_gap *gap = &x->devices[d].gaps[i];
            if (gap->cause == ASSAY__DEVICE_LAUNCH_GAP) {
                pause[queued++] = gap->end_ns - gap->start_ns;
            } else if (gap->call != ASSAY__NO_EVENT) {
                int64_t call_ns = x->events->start_ns[x->timeline->calls[gap->call].event];
                if (gap->end_ns > call_ns) latency[late++] = gap->end_ns - call_ns;
            }
        }
    bool done = latency && pause;
    if (done) {
        r->latency_ns = late ? assay__median_ns(latency, late) : x->timeline->call_ns;
        r->pause_ns = assay__median_ns(pause, queued);
    }
    free(latency);
    free(pause);
    return done;
}

static const enum assay__loss removable[] = {ASSAY__LOSS_LAUNCHING, ASSAY__LOSS_TRANSFERS,
                                             ASSAY__LOSS_SYNCHRONISING, ASSAY__LOSS_STARVATION};
#define REMOVABLE (sizeof removable / sizeof removable[0])

/* Adds the rank's spans: unchanged, and without each class. */
static bool replay_rank(struct assay__explain *x, uint32_t rank, int64_t span_ns[REMOVABLE + 1])
{
    struct replay r = {.x = x};
    r.call_begin = calloc(x->timeline->call_count + 2, sizeof *r.call_begin);
    bool done = r.call_begin != NULL;
    if (done) count_items(&r, rank);
    done = done && fill_items(&r, rank) && find_usual(&r);
    for (size_t i = 0; done && i <= REMOVABLE; i++) {
        r.without = i ? 1u << removable[i - 1] : 0;
        span_ns[i] += run(&r, rank);
    }
    free(r.call_begin);
    free(r.items);
    free(r.last);
    return done;
}

static bool can_replay(const struct assay__explain *x, int64_t *span_ns)
{
    size_t work = 0, correlated = 0;
    for (size_t i = 0; i < x->device_count; i++) {
        work += x->timeline->devices[i].count;
        correlated += x->devices[i].correlated;
    }
    *span_ns = 0;
    for (size_t rank = 0; rank < x->timeline->rank_count; rank++) {
        int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
        for (size_t i = 0; i < x->device_count; i++) {
            if (!belongs(x, i, (uint32_t)rank)) continue;
            if (x->devices[i].first_ns < first_ns) first_ns = x->devices[i].first_ns;
            if (x->devices[i].last_ns > last_ns) last_ns = x->devices[i].last_ns;
        }
        if (last_ns > first_ns) *span_ns += last_ns - first_ns;
    }
    return work && (double)correlated >= CORRELATED_LEAST * (double)work && *span_ns > 0 &&
           x->timeline->rank_count <= RANKS_MOST;
}

void assay__explain_what_if(struct assay__explain *x)
{
    int64_t span_ns[REMOVABLE + 1] = {0}, was_ns;
    if (!can_replay(x, &was_ns)) return;
    for (size_t rank = 0; rank < x->timeline->rank_count; rank++)
        if (!replay_rank(x, (uint32_t)rank, span_ns)) {
            assay__arena_fail(x->arena);
            return;
        }
    if (span_ns[0] <= 0) return;
    x->what_if.span_ns = span_ns[0];
    x->what_if.error = (double)span_ns[0] / (double)was_ns - 1;
    for (size_t i = 0; i < REMOVABLE; i++)
        x->what_if.items[x->what_if.count++] = (struct assay__what_if){
            removable[i], span_ns[i + 1], 1 - (double)span_ns[i + 1] / (double)span_ns[0]};
}
