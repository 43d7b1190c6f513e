/* critical_path.c - the chain that decides how long the trace is, from the last work of the busiest
 * rank's device backwards. Work that was queued followed the work before it; work that the device
 * waited for followed its launching call; a call followed the one before it, and a call that waited
 * followed the work it waited for. Every nanosecond between the device's first work and its last is
 * given to one of these. */
#include "explain/parts.h"

#include <stdlib.h>

#define CLOCKS_NS 2000 /* as in idle.c */
/* Pieces of work before an instant that may have ended last: for each stream, and at most. */
#define LOOK_BACK 8
#define LOOK_BACK_MOST 64

struct walk {
    struct assay__explain *x;
    const struct assay__timeline_device *of;
    const struct assay__explain_device *device;
    int64_t *name_ns, *name_count;
    int64_t now_ns;    /* everything after it has been attributed */
    size_t steps_left; /* along the host: a trace whose calls run backwards ends, too */
};

/* Attributes the time back to that instant; false: the beginning is reached. */
static bool give(struct walk *w, int64_t back_to_ns, int64_t *to)
{
    if (back_to_ns < w->device->first_ns) back_to_ns = w->device->first_ns;
    if (back_to_ns < w->now_ns) {
        *to += w->now_ns - back_to_ns;
        w->now_ns = back_to_ns;
    }
    return w->now_ns > w->device->first_ns;
}

/* Place of the work that ended last at or before an instant, among those that started before
 * `place`; SIZE_MAX: none. */
static size_t ended_before(const struct walk *w, size_t place, int64_t at_ns)
{
    const struct assay__events *events = w->x->events;
    size_t best = SIZE_MAX;
    int64_t best_ns = INT64_MIN;
    size_t most = LOOK_BACK * w->of->track_count;
    if (most > LOOK_BACK_MOST) most = LOOK_BACK_MOST;
    for (size_t seen = 0; place-- > 0 && seen < most; seen++) {
        int64_t end_ns = assay__event_end_ns(events, w->of->work[place]);
        if (end_ns > at_ns || end_ns <= best_ns) continue;
        best_ns = end_ns;
        best = place;
        if (w->of->track_count == 1) break; /* in one stream those before it ended earlier */
    }
    return best;
}

static size_t started_before(const struct walk *w, int64_t at_ns)
{
    size_t low = 0, high = w->of->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->x->events->start_ns[w->of->work[middle]] < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum assay__host_cause pause_cause(const struct walk *w, const struct assay__call *call)
{
    return call->idle_before_ns <= w->x->timeline->patience_ns
               ? ASSAY__HOST_LAUNCH
               : (enum assay__host_cause)call->pause_cause;
}

static enum assay__host_cause call_cause(const struct walk *w, const struct assay__call *call)
{
    if (call->flags & ASSAY__CALL_COPIES && !assay__is_scalar_read(w->x->events, call->work))
        return ASSAY__HOST_COPYING;
    return call->flags & ASSAY__CALL_SYNC ? ASSAY__HOST_SYNC : ASSAY__HOST_LAUNCH;
}

/* Along the host's calls from one backwards, to the work before `limit` that one of them waited
 * for; SIZE_MAX: to the beginning. */
static size_t follow_host(struct walk *w, uint32_t place, size_t limit)
{
    const struct assay__timeline *t = w->x->timeline;
    const struct assay__events *events = w->x->events;
    int64_t *host_ns = w->x->path.host_ns;
    while (w->steps_left-- > 0) {
        const struct assay__call *call = &t->calls[place];
        if (call->previous == ASSAY__NO_EVENT) break;
        const struct assay__call *before = &t->calls[call->previous];
        int64_t start_ns = events->start_ns[before->event];
        int64_t end_ns = assay__event_end_ns(events, before->event);
        if (!give(w, end_ns, &host_ns[pause_cause(w, call)])) return SIZE_MAX;
        size_t started = started_before(w, end_ns);
        size_t last = ended_before(w, started < limit ? started : limit, end_ns + CLOCKS_NS);
        int64_t ended_ns = last == SIZE_MAX ? INT64_MIN
                                            : assay__event_end_ns(events, w->of->work[last]);
        bool waits = before->flags & ASSAY__CALL_SYNC ||
                     (before->flags & ASSAY__CALL_COPIES && last != SIZE_MAX &&
                      w->of->work[last] == before->work);
        int64_t *to = &host_ns[call_cause(w, before)];
        if (waits && ended_ns > start_ns) {
            if (!give(w, ended_ns, to)) return SIZE_MAX;
            return last;
        }
        if (!give(w, start_ns, to)) return SIZE_MAX;
        place = call->previous;
    }
    give(w, INT64_MIN, &host_ns[ASSAY__HOST_UNTRACED]);
    return SIZE_MAX;
}

/* One piece of work, and what it followed; SIZE_MAX: the beginning. */
static size_t follow_work(struct walk *w, size_t place)
{
    const struct assay__events *events = w->x->events;
    struct assay__critical_path *path = &w->x->path;
    uint32_t event = w->of->work[place], call = w->of->launch[place];
    int64_t start_ns = events->start_ns[event];
    int64_t *to = assay__is_host_copy(events, event) ? &path->copy_ns : &path->device_ns;
    if (events->name[event] != ASSAY__EVENT_UNKNOWN && w->now_ns > start_ns) {
        w->name_ns[events->name[event]] += w->now_ns - start_ns;
        w->name_count[events->name[event]]++;
    }
    if (!give(w, start_ns, to)) return SIZE_MAX;
    size_t before = ended_before(w, place, start_ns);
    int64_t ended_ns = before == SIZE_MAX ? INT64_MIN
                                          : assay__event_end_ns(events, w->of->work[before]);
    if (call != ASSAY__NO_EVENT) {
        uint32_t from = w->x->timeline->calls[call].event;
        int64_t launched_ns = events->start_ns[from];
        if (launched_ns >= ended_ns) {
            int64_t *latency = &path->host_ns[call_cause(w, &w->x->timeline->calls[call])];
            return give(w, launched_ns, latency) ? follow_host(w, call, place) : SIZE_MAX;
        }
    }
    give(w, before == SIZE_MAX ? INT64_MIN : ended_ns, &path->gap_ns);
    return before;
}

/* --- the kernels on it ------------------------------------------------------------------------ */

#define KERNELS_KEPT 16

static int compare_kernels(const void *a, const void *b)
{
    const struct assay__kernel_time *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static void keep_kernels(struct walk *w)
{
    struct assay__explain *x = w->x;
    struct assay__critical_path *path = &x->path;
    path->kernels = assay__arena_array(x->arena, x->kernel_count, sizeof *path->kernels);
    for (size_t i = 0; path->kernels && i < x->kernel_count; i++) {
        uint32_t name = x->kernels[i].name;
        if (name == ASSAY__EVENT_UNKNOWN || w->name_ns[name] <= 0) continue;
        path->kernels[path->kernel_count] = x->kernels[i];
        path->kernels[path->kernel_count].ns = w->name_ns[name];
        path->kernels[path->kernel_count++].count = (size_t)w->name_count[name];
    }
    if (path->kernels)
        if (path->kernel_count)
            qsort(path->kernels, path->kernel_count, sizeof *path->kernels, compare_kernels);
    if (path->kernel_count > KERNELS_KEPT) path->kernel_count = KERNELS_KEPT;
}

static size_t longest_device(const struct assay__explain *x)
{
    size_t best = 0;
    for (size_t i = 1; i < x->device_count; i++)
        if (x->devices[i].span_ns > x->devices[best].span_ns) best = i;
    return best;
}

void assay__explain_path(struct assay__explain *x)
{
    size_t texts = assay__events_text_count(x->events), device = longest_device(x);
    struct walk w = {.x = x};
    if (!x->device_count) return;
    w.of = &x->timeline->devices[device];
    w.device = &x->devices[device];
    w.now_ns = w.device->last_ns;
    w.steps_left = 4 * x->timeline->call_count + 1;
    w.name_ns = calloc(texts + 1, sizeof *w.name_ns);
    w.name_count = calloc(texts + 1, sizeof *w.name_count);
    x->path.total_ns = w.device->span_ns;
    if (w.name_ns && w.name_count) {
        size_t place = ended_before(&w, w.of->count, w.now_ns);
        while (place != SIZE_MAX) /* it only gets smaller */
            place = follow_work(&w, place);
        keep_kernels(&w);
        /* what no rule explained: work that overlaps in ways that they do not know */
        give(&w, INT64_MIN, &x->path.gap_ns);
    } else {
        assay__arena_fail(x->arena);
    }
    free(w.name_ns);
    free(w.name_count);
}
