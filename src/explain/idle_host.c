/* idle_host.c - the host's side of each gap: the thread that ended it by launching is walked once,
 * and the stretches of its time are laid over the gaps. Where that thread shows nothing, the thread
 * that launched before it is asked (a framework's backward pass runs on a thread of its own). */
#include "base/vec.h"
#include "explain/nest.h"
#include "explain/parts.h"

#include <stdlib.h>
#include <string.h>

/* A runtime call many times as long as a launch (cudaMalloc) is not part of launching. */
#define RUNTIME_CALLS 4

/* A part of a gap, to be laid under a thread's stretches. */
struct part {
    int64_t start_ns, end_ns;
    uint32_t gap, track, other; /* other: the thread to ask next; ASSAY__NO_EVENT: none */
    bool patient;               /* the host was launching at its usual pace */
};

struct interval {
    int64_t start_ns, end_ns;
    uint32_t rank;
};

struct asking {
    struct assay__explain *x;
    struct assay__explain_device *device;
    struct part *parts; /* of one track, in order */
    size_t count, at;
    int64_t sum_ns[ASSAY__HOST_CAUSES]; /* of the part at hand */
    int64_t *best_ns;                   /* of each gap: of the cause it has so far */
    struct part *unanswered;
    size_t unanswered_count, unanswered_capacity;
    const struct interval *profiler;
    size_t profiler_count;
    uint32_t rank;
    int64_t *name_ns; /* by name; the last one is of no name */
    uint8_t *name_cause;
};

/* --- what a stretch is ------------------------------------------------------------------------ */

static enum assay__host_cause cause_of_call(const struct assay__timeline *t, uint32_t event)
{
    uint32_t place = assay__timeline_call(t, event);
    const struct assay__call *call = place == ASSAY__NO_EVENT ? NULL : &t->calls[place];
    if (call && call->flags & ASSAY__CALL_COPIES && !assay__is_scalar_read(t->events, call->work))
        return ASSAY__HOST_COPYING;
    return call && call->flags & ASSAY__CALL_SYNC ? ASSAY__HOST_SYNC : ASSAY__HOST_LAUNCH;
}

static enum assay__host_cause cause_of_range(const struct assay__events *events, uint32_t event)
{
    return strstr(assay__event_name(events, event), "DataLoader") ? ASSAY__HOST_CPU
                                                                  : ASSAY__HOST_UNTRACED;
}

static enum assay__host_cause cause_of_stretch(const struct assay__timeline *t,
                                               const struct assay__open_event *top,
                                               int64_t length_ns, bool patient)
{
    enum assay__event_kind kind = top ? t->events->kind[top->event] : ASSAY__EVENT_OTHER;
    bool dispatch = top && top->outer_op != ASSAY__NO_EVENT && length_ns <= t->patience_ns &&
                    assay__timeline_launches(t, top->outer_op);
    switch (kind) {
    case ASSAY__EVENT_LAUNCH:
    case ASSAY__EVENT_SYNC: return cause_of_call(t, top->event);
    case ASSAY__EVENT_RUNTIME:
        if (cause_of_call(t, top->event) == ASSAY__HOST_COPYING) return ASSAY__HOST_COPYING;
        return (patient || dispatch) && length_ns / RUNTIME_CALLS <= t->call_ns
                   ? ASSAY__HOST_LAUNCH
                   : ASSAY__HOST_RUNTIME;
    default: break;
    }
    if (patient || dispatch) return ASSAY__HOST_LAUNCH;
    switch (kind) {
    case ASSAY__EVENT_OPERATOR:
    case ASSAY__EVENT_CPU: return ASSAY__HOST_CPU;
    case ASSAY__EVENT_PYTHON: return ASSAY__HOST_PYTHON;
    case ASSAY__EVENT_RANGE: return cause_of_range(t->events, top->event);
    default: return ASSAY__HOST_UNTRACED;
    }
}

/* --- laying stretches over parts -------------------------------------------------------------- */

/* How much of it the profiler itself took. Its intervals are in order of rank and start. */
static int64_t profiled_ns(const struct asking *a, int64_t start_ns, int64_t end_ns)
{
    size_t low = 0, high = a->profiler_count;
    while (low < high) { /* the first of the rank that ends after the beginning */
        size_t middle = low + (high - low) / 2;
        const struct interval *p = &a->profiler[middle];
        if (p->rank < a->rank || (p->rank == a->rank && p->end_ns <= start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    int64_t sum_ns = 0;
    for (; low < a->profiler_count && a->profiler[low].rank == a->rank &&
           a->profiler[low].start_ns < end_ns;
         low++) {
        const struct interval *p = &a->profiler[low];
        int64_t from_ns = p->start_ns > start_ns ? p->start_ns : start_ns;
        int64_t to_ns = p->end_ns < end_ns ? p->end_ns : end_ns;
        if (to_ns > from_ns) sum_ns += to_ns - from_ns;
    }
    return sum_ns;
}

static void add_time(struct asking *a, const struct part *part, enum assay__host_cause cause,
                     int64_t ns)
{
    a->device->idle[a->device->gaps[part->gap].cause][cause] += ns;
    a->sum_ns[cause] += ns;
}

static void add_name(struct asking *a, const struct assay__open_event *top,
                     enum assay__host_cause cause, int64_t ns)
{
    size_t texts = assay__events_text_count(a->x->events);
    size_t name = top ? a->x->events->name[top->event] : texts;
    if (name > texts) name = texts;
    if (cause == ASSAY__HOST_LAUNCH) return;
    a->name_ns[name] += ns;
    a->name_cause[name] = (uint8_t)cause;
}

static void leave_to_other(struct asking *a, const struct part *part, int64_t start_ns,
                           int64_t end_ns)
{
    if (assay__vec_grow((void **)&a->unanswered, &a->unanswered_capacity, a->unanswered_count + 1,
                        sizeof *a->unanswered)) {
        assay__arena_fail(a->x->arena);
        return;
    }
    a->unanswered[a->unanswered_count++] = (struct part){
        start_ns, end_ns, part->gap, part->other, ASSAY__NO_EVENT, part->patient};
}

static void add_piece(struct asking *a, const struct part *part, int64_t start_ns, int64_t end_ns,
                      const struct assay__open_event *top, int64_t length_ns)
{
    if (!top && part->other != ASSAY__NO_EVENT) {
        leave_to_other(a, part, start_ns, end_ns);
        return;
    }
    enum assay__host_cause cause = cause_of_stretch(a->x->timeline, top, length_ns, part->patient);
    int64_t profiler_ns = profiled_ns(a, start_ns, end_ns), ns = end_ns - start_ns - profiler_ns;
    if (profiler_ns) add_time(a, part, ASSAY__HOST_PROFILER, profiler_ns);
    add_time(a, part, cause, ns);
    add_name(a, top, cause, ns);
}

/* The part is over: most of it is what its gap is shown as, and what the pause before the launch
 * that ended it was. */
static void end_part(struct asking *a)
{
    uint32_t gap = a->parts[a->at].gap, call = a->device->gaps[gap].call;
    for (int i = 0; i < ASSAY__HOST_CAUSES; i++)
        if (a->sum_ns[i] > a->best_ns[gap]) {
            a->best_ns[gap] = a->sum_ns[i];
            a->device->gaps[gap].host = (uint8_t)i;
            if (call != ASSAY__NO_EVENT) a->x->timeline->calls[call].pause_cause = (uint16_t)i;
        }
    memset(a->sum_ns, 0, sizeof a->sum_ns);
    a->at++;
}

static void stretch(void *context, int64_t start_ns, int64_t end_ns,
                    const struct assay__open_event *top)
{
    struct asking *a = context;
    while (a->at < a->count && a->parts[a->at].start_ns < end_ns) {
        const struct part *part = &a->parts[a->at];
        int64_t from_ns = part->start_ns > start_ns ? part->start_ns : start_ns;
        int64_t to_ns = part->end_ns < end_ns ? part->end_ns : end_ns;
        if (to_ns > from_ns) add_piece(a, part, from_ns, to_ns, top, end_ns - start_ns);
        if (part->end_ns > end_ns) return;
        end_part(a);
    }
}

/* No thread to ask: the trace has no host side, or none for this work. */
static void leave_unseen(struct asking *a)
{
    for (; a->at < a->count; end_part(a))
        add_time(a, &a->parts[a->at], ASSAY__HOST_UNSEEN,
                 a->parts[a->at].end_ns - a->parts[a->at].start_ns);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool is_of_one_track(const struct part *parts, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (parts[i - 1].track != parts[i].track) return false;
    return true;
}

/* Parts of one track after the other. */
static void ask(struct asking *a, struct part *parts, size_t count)
{
    if (!is_of_one_track(parts, count)) qsort(parts, count, sizeof *parts, compare_parts);
    for (size_t first = 0, end; first < count; first = end) {
        uint32_t track = parts[first].track;
        for (end = first; end < count && parts[end].track == track;)
            end++;
        a->parts = parts + first;
        a->count = end - first;
        a->at = 0;
        memset(a->sum_ns, 0, sizeof a->sum_ns);
        if (track == ASSAY__NO_EVENT) {
            leave_unseen(a);
            continue;
        }
        a->rank = a->x->timeline->track_rank[track];
        if (!assay__nest_walk(a->x->timeline, track, parts[first].start_ns, parts[end - 1].end_ns,
                              stretch, a))
            assay__arena_fail(a->x->arena);
    }
}

/* --- the parts -------------------------------------------------------------------------------- */

/* The thread with the most operators and calls of the rank: asked where nothing else is known. */
static uint32_t main_thread(const struct assay__explain *x, int32_t rank)
{
    const struct assay__timeline *t = x->timeline;
    uint32_t best = ASSAY__NO_EVENT;
    size_t most = 0;
    for (uint32_t i = 0; i < x->events->track_count; i++) {
        const struct assay__track *track = &x->events->tracks[i];
        size_t count = t->track_begin[i + 1] - t->track_begin[i];
        if (track->kind != ASSAY__TRACK_THREAD || track->rank != rank || count <= most) continue;
        most = count;
        best = i;
    }
    return best;
}

static struct part part_of(const struct assay__explain *x, const struct assay__explain_device *d,
                           size_t gap, uint32_t otherwise)
{
    const struct assay__timeline *t = x->timeline;
    const struct assay__idle_gap *of = &d->gaps[gap];
    struct part part = {of->start_ns, of->end_ns, (uint32_t)gap, otherwise, ASSAY__NO_EVENT, false};
    if (of->call == ASSAY__NO_EVENT) return part;
    const struct assay__call *call = &t->calls[of->call];
    part.track = x->events->track[call->event];
    part.patient = call->idle_before_ns <= t->patience_ns;
    if (call->previous != ASSAY__NO_EVENT) {
        uint32_t before = x->events->track[t->calls[call->previous].event];
        if (before != part.track) part.other = before;
    }
    return part;
}

/* From the launching call on the device waits for the launch itself, whatever the host does next.
 * Attributes that time, and returns when it begins. */
static int64_t give_launch(struct asking *a, struct assay__idle_gap *gap, size_t place)
{
    const struct assay__events *events = a->x->events;
    const struct assay__timeline *t = a->x->timeline;
    if (gap->call == ASSAY__NO_EVENT) return gap->end_ns;
    uint32_t event = t->calls[gap->call].event;
    int64_t from_ns = events->start_ns[event];
    if (from_ns < gap->start_ns) from_ns = gap->start_ns;
    if (from_ns >= gap->end_ns) return gap->end_ns;
    gap->host = (uint8_t)cause_of_call(t, event);
    a->best_ns[place] = gap->end_ns - from_ns;
    a->device->idle[gap->cause][gap->host] += gap->end_ns - from_ns;
    if (gap->host == ASSAY__HOST_COPYING)
        add_name(a, &(struct assay__open_event){.event = event}, ASSAY__HOST_COPYING,
                 gap->end_ns - from_ns);
    return from_ns;
}

static size_t make_parts(struct asking *a, struct part *parts)
{
    struct assay__explain_device *d = a->device;
    uint32_t otherwise = main_thread(a->x, d->rank);
    size_t count = 0;
    for (size_t i = 0; i < d->gap.count; i++) {
        struct assay__idle_gap *gap = &d->gaps[i];
        if (gap->cause == ASSAY__DEVICE_LAUNCH_GAP || gap->cause == ASSAY__DEVICE_DEPENDENCY) {
            gap->host = ASSAY__HOST_QUEUED;
            d->idle[gap->cause][ASSAY__HOST_QUEUED] += gap->end_ns - gap->start_ns;
            continue;
        }
        parts[count] = part_of(a->x, d, i, otherwise);
        parts[count].end_ns = give_launch(a, gap, i);
        count += parts[count].end_ns > parts[count].start_ns;
    }
    return count;
}

/* --- the profiler's own time ------------------------------------------------------------------ */

static bool is_profiler(const char *name)
{
    static const char *const names[] = {"Activity Buffer Request", "Buffer Flush",
                                        "Instrumentation", "Resource"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

#define PROFILER_MOST 4096 /* intervals kept: beyond them a trace is about its profiler */

static int compare_intervals(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Those of a rank that touch become one: afterwards they are apart from each other. */
static size_t unite(struct interval *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct interval *last = kept ? &items[kept - 1] : NULL;
        if (!last || last->rank != items[i].rank || items[i].start_ns > last->end_ns)
            items[kept++] = items[i];
        else if (items[i].end_ns > last->end_ns)
            last->end_ns = items[i].end_ns;
    }
    return kept;
}

static struct interval *profiler_times(struct assay__explain *x, size_t *count)
{
    const struct assay__events *events = x->events;
    size_t texts = assay__events_text_count(events);
    struct interval *found = assay__arena_array(x->arena, PROFILER_MOST, sizeof *found);
    uint8_t *is = assay__arena_alloc(x->arena, texts);
    *count = 0;
    if (!found || !is) return NULL;
    bool any = false;
    for (size_t i = 0; i < texts; i++)
        any |= is[i] = is_profiler(assay__events_text(events, (uint32_t)i));
    for (size_t i = 0; any && i < events->count && *count < PROFILER_MOST; i++) {
        bool host = events->kind[i] == ASSAY__EVENT_CPU || events->kind[i] == ASSAY__EVENT_OTHER;
        if (!host || events->track[i] >= events->track_count || events->name[i] >= texts ||
            !is[events->name[i]])
            continue;
        found[(*count)++] = (struct interval){events->start_ns[i], assay__event_end_ns(events, i),
                                              x->timeline->track_rank[events->track[i]]};
    }
    if (*count) qsort(found, *count, sizeof *found, compare_intervals);
    *count = unite(found, *count);
    return found;
}

/* --- names ------------------------------------------------------------------------------------ */

#define NAMES_KEPT 64

static int compare_times(const void *a, const void *b)
{
    const struct assay__host_time *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static void keep_names(struct asking *a)
{
    struct assay__explain *x = a->x;
    size_t texts = assay__events_text_count(x->events), count = x->host_time_count;
    size_t before = count; /* of other devices: only these can have a name already */
    for (size_t i = 0; i <= texts; i++)
        count += a->name_ns[i] > 0;
    struct assay__host_time *times = assay__arena_array(x->arena, count, sizeof *times);
    if (!times) return;
    for (size_t i = 0; i < x->host_time_count; i++)
        times[i] = x->host_times[i];
    for (size_t i = 0; i <= texts; i++) {
        if (a->name_ns[i] <= 0) continue;
        uint32_t name = i < texts ? (uint32_t)i : ASSAY__EVENT_UNKNOWN;
        struct assay__host_time *at = times;
        while (at < times + before &&
               (at->name != name || at->cause != (enum assay__host_cause)a->name_cause[i]))
            at++;
        if (at == times + before) {
            at = &times[x->host_time_count++];
            *at = (struct assay__host_time){(enum assay__host_cause)a->name_cause[i], name, 0};
        }
        at->ns += a->name_ns[i];
    }
    if (x->host_time_count) qsort(times, x->host_time_count, sizeof *times, compare_times);
    x->host_times = times;
    if (x->host_time_count > NAMES_KEPT) x->host_time_count = NAMES_KEPT;
}

void assay__explain_idle_host(struct assay__explain *x, size_t place)
{
    struct assay__explain_device *d = &x->devices[place];
    size_t texts = assay__events_text_count(x->events);
    struct part *parts = calloc(d->gap.count + 1, sizeof *parts);
    struct asking a = {.x = x, .device = d};
    a.best_ns = calloc(d->gap.count + 1, sizeof *a.best_ns);
    a.name_ns = calloc(texts + 1, sizeof *a.name_ns);
    a.name_cause = calloc(texts + 1, 1);
    a.profiler = profiler_times(x, &a.profiler_count);
    if (!parts || !a.best_ns || !a.name_ns || !a.name_cause) {
        assay__arena_fail(x->arena);
    } else {
        ask(&a, parts, make_parts(&a, parts));
        struct part *rest = a.unanswered;
        ask(&a, rest, a.unanswered_count); /* these have no other thread to ask */
        keep_names(&a);
    }
    free(parts);
    free(a.unanswered);
    free(a.best_ns);
    free(a.name_ns);
    free(a.name_cause);
}
