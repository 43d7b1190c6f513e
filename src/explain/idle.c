/* idle.c - the device's side of each gap: why had it nothing to do? Decided from when the work that
 * ends the gap was launched, and from what the host had waited for before that. */
#include "explain/parts.h"

/* Between two pieces of work of one stream that are both queued a device pauses for its own reasons
 * (about 1 µs on NVIDIA's, several on others); between streams a longer pause is a dependency.
 * TraceLens's floor of noise is 5 µs too. */
#define PAUSE_NS 5000
#define PAUSE_SAME_STREAM_NS 20000
/* Host and device clocks are aligned to about this. */
#define CLOCKS_NS 2000
/* Work after a copy that the host waited for: the queue is still empty because of it. */
#define REFILL_WORK 8
/* How many calls back a wait is looked for. */
#define LOOK_BACK 16

struct launch {
    const struct assay__events *events;
    const struct assay__timeline *timeline;
    struct assay__idle_gap *gap;
    int64_t start_ns, end_ns; /* of the call */
};

/* The host waited while the device finished, and went on only then. */
static bool emptied(const struct launch *l, const struct assay__call *call)
{
    int64_t start_ns = l->events->start_ns[call->event];
    int64_t end_ns = assay__event_end_ns(l->events, call->event);
    return start_ns <= l->gap->start_ns + CLOCKS_NS && end_ns + CLOCKS_NS >= l->gap->start_ns &&
           end_ns <= l->start_ns;
}

/* What the last wait before the launch was for; STARVED: there was none. */
static enum assay__device_cause waited_for(const struct launch *l)
{
    const struct assay__call *calls = l->timeline->calls;
    uint32_t before = l->gap->before, place = calls[l->gap->call].previous;
    bool copied = assay__is_host_copy(l->events, before) &&
                  !assay__is_scalar_read(l->events, before);
    for (int seen = 0; place != ASSAY__NO_EVENT && seen < LOOK_BACK; seen++) {
        const struct assay__call *call = &calls[place];
        place = call->previous;
        bool copies = call->flags & ASSAY__CALL_COPIES && call->work == before && copied;
        if (!emptied(l, call) || !(copies || call->flags & ASSAY__CALL_SYNC)) continue;
        l->gap->wait = (uint32_t)(call - calls);
        return copied ? ASSAY__DEVICE_COPY : ASSAY__DEVICE_SYNCHRONISATION;
    }
    return ASSAY__DEVICE_STARVED;
}

static enum assay__device_cause cause_of_late(const struct launch *l)
{
    enum assay__device_cause cause = waited_for(l);
    bool copies = assay__is_host_copy(l->events, l->gap->after) &&
                  !assay__is_scalar_read(l->events, l->gap->after);
    int64_t gap_ns = l->gap->end_ns - l->gap->start_ns;
    if (cause == ASSAY__DEVICE_STARVED && copies && l->gap->end_ns - l->start_ns > gap_ns / 2)
        return ASSAY__DEVICE_COPY; /* the host prepares it: pageable memory is staged */
    return cause;
}

static enum assay__device_cause cause_of_queued(const struct launch *l, uint32_t call_before)
{
    const struct assay__idle_gap *gap = l->gap;
    bool same = l->events->track[gap->before] == l->events->track[gap->after];
    int64_t gap_ns = gap->end_ns - gap->start_ns;
    if (l->end_ns > gap->start_ns && call_before != gap->call)
        return ASSAY__DEVICE_STARVED; /* the host was just launching it */
    if (gap_ns < (same ? PAUSE_SAME_STREAM_NS : PAUSE_NS)) return ASSAY__DEVICE_LAUNCH_GAP;
    if (!same && assay__is_host_copy(l->events, gap->before)) return ASSAY__DEVICE_COPY;
    return ASSAY__DEVICE_DEPENDENCY;
}

static enum assay__device_cause cause_of(const struct assay__explain *x,
                                         struct assay__idle_gap *gap, uint32_t call_before)
{
    struct launch l = {x->events, x->timeline, gap, 0, 0};
    if (gap->call == ASSAY__NO_EVENT)
        return gap->end_ns - gap->start_ns < PAUSE_NS ? ASSAY__DEVICE_LAUNCH_GAP
                                                      : ASSAY__DEVICE_UNKNOWN;
    uint32_t event = x->timeline->calls[gap->call].event;
    l.start_ns = x->events->start_ns[event];
    l.end_ns = assay__event_end_ns(x->events, event);
    return l.start_ns >= gap->start_ns ? cause_of_late(&l) : cause_of_queued(&l, call_before);
}

/* The gaps of a device with the place of the work that ends each: both are in order. */
struct places {
    const struct assay__timeline_device *of;
    size_t at;
};

static size_t place_of(struct places *p, uint32_t event)
{
    while (p->of->work[p->at] != event)
        p->at++;
    return p->at;
}

/* Launches one by one into a queue that a copy had emptied. */
static void sum_refills(struct assay__explain *x, size_t device)
{
    const struct assay__explain_device *d = &x->devices[device];
    struct places places = {&x->timeline->devices[device], 0};
    size_t emptied_at = SIZE_MAX;
    for (size_t g = 0; g < d->gap.count; g++) {
        const struct assay__idle_gap *gap = &d->gaps[g];
        size_t at = place_of(&places, gap->after);
        if (gap->cause == ASSAY__DEVICE_COPY)
            emptied_at = at;
        else if (gap->cause == ASSAY__DEVICE_STARVED && gap->host == ASSAY__HOST_LAUNCH &&
                 emptied_at != SIZE_MAX && at - emptied_at <= REFILL_WORK &&
                 gap->end_ns - gap->start_ns <= x->timeline->patience_ns)
            x->refill_ns += gap->end_ns - gap->start_ns;
    }
}

void assay__explain_idle(struct assay__explain *x)
{
    for (size_t i = 0; i < x->device_count; i++) {
        struct assay__explain_device *d = &x->devices[i];
        struct places places = {&x->timeline->devices[i], 0};
        for (size_t g = 0; g < d->gap.count; g++) {
            struct assay__idle_gap *gap = &d->gaps[g];
            size_t at = place_of(&places, gap->after);
            gap->cause = (uint8_t)cause_of(x, gap,
                                           at ? places.of->launch[at - 1] : ASSAY__NO_EVENT);
            d->idle_gaps[gap->cause]++;
        }
        assay__explain_idle_host(x, i);
        sum_refills(x, i);
    }
}
