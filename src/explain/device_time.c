/* device_time.c - the union of a device's intervals of work, in one pass over its work in order of
 * start, and what remains: the gaps. Streams are united the same way, each by itself. */
#include "explain/parts.h"

#include <stdlib.h>

const int64_t assay__gap_bin_ns[ASSAY__GAP_BINS] = {1000,    5000,     20000,    100000,
                                                    1000000, 10000000, INT64_MAX};

struct assay__durations assay__durations_of(int64_t *values, size_t count)
{
    struct assay__durations found = {.count = count};
    for (size_t i = 0; i < count; i++) {
        found.total_ns += values[i];
        if (values[i] > found.max_ns) found.max_ns = values[i];
    }
    found.median_ns = assay__median_ns(values, count);
    found.p90_ns = assay__nth_ns(values, count, (size_t)((double)count * 0.9));
    return found;
}

int64_t assay__unite(struct assay__united *u, int64_t start_ns, int64_t end_ns)
{
    int64_t from_ns = u->any && u->end_ns > start_ns ? u->end_ns : start_ns;
    int64_t more_ns = end_ns > from_ns ? end_ns - from_ns : 0;
    if (!u->any || end_ns > u->end_ns) u->end_ns = end_ns;
    u->any = true;
    u->total_ns += more_ns;
    return more_ns;
}

static void add_bin(struct assay__explain_device *d, int64_t gap_ns)
{
    size_t bin = 0;
    while (gap_ns >= assay__gap_bin_ns[bin] && bin < ASSAY__GAP_BINS - 1)
        bin++;
    d->gap_bin_count[bin]++;
    d->gap_bin_ns[bin] += gap_ns;
}

/* Walks the work: counts it, unites it, and keeps each gap. */
static void walk_work(struct assay__explain *x, struct assay__explain_device *d,
                      const struct assay__timeline_device *of, int64_t *kernels)
{
    const struct assay__events *events = x->events;
    struct assay__united busy = {0}, compute = {0};
    uint32_t last = ASSAY__NO_EVENT;
    d->first_ns = events->start_ns[of->work[0]];
    for (size_t i = 0; i < of->count; i++) {
        uint32_t event = of->work[i];
        int64_t start_ns = events->start_ns[event], end_ns = assay__event_end_ns(events, event);
        if (busy.any && start_ns > busy.end_ns) {
            d->gaps[d->gap.count++] = (struct assay__idle_gap){.start_ns = busy.end_ns,
                                                               .end_ns = start_ns,
                                                               .before = last,
                                                               .after = event,
                                                               .call = of->launch[i],
                                                               .wait = ASSAY__NO_EVENT};
            add_bin(d, start_ns - busy.end_ns);
        }
        if (!busy.any || end_ns > busy.end_ns) last = event;
        assay__unite(&busy, start_ns, end_ns);
        d->correlated += of->launch[i] != ASSAY__NO_EVENT;
        if (events->kind[event] == ASSAY__EVENT_KERNEL) {
            kernels[d->kernel.count++] = end_ns - start_ns;
            d->kernel_sum_ns += end_ns - start_ns;
        }
        d->copies += events->kind[event] == ASSAY__EVENT_COPY;
        d->memsets += events->kind[event] == ASSAY__EVENT_MEMSET;
        if (!assay__is_host_copy(events, event)) assay__unite(&compute, start_ns, end_ns);
    }
    d->last_ns = busy.end_ns;
    d->busy_ns = busy.total_ns;
    d->compute_ns = compute.total_ns;
    d->copy_only_ns = busy.total_ns - compute.total_ns;
    d->span_ns = d->last_ns - d->first_ns;
    d->idle_ns = d->span_ns - d->busy_ns;
}

static void sum_up(struct assay__explain_device *d, int64_t *scratch)
{
    size_t gaps = d->gap.count;
    d->kernel = assay__durations_of(scratch, d->kernel.count);
    for (size_t i = 0; i < gaps; i++)
        scratch[i] = d->gaps[i].end_ns - d->gaps[i].start_ns;
    d->gap = assay__durations_of(scratch, gaps);
}

static void add_stream(struct assay__explain *x, struct assay__explain_stream *stream,
                       uint32_t track)
{
    const struct assay__events *events = x->events;
    const struct assay__timeline *t = x->timeline;
    struct assay__united busy = {0};
    int64_t first_ns = 0;
    stream->track = track;
    for (size_t i = t->track_begin[track]; i < t->track_begin[track + 1]; i++) {
        uint32_t event = t->by_track[i];
        if (!assay__event_is_work(events, event)) continue;
        if (!busy.any) first_ns = events->start_ns[event];
        assay__unite(&busy, events->start_ns[event], assay__event_end_ns(events, event));
        stream->kernels += events->kind[event] == ASSAY__EVENT_KERNEL;
        stream->copies += events->kind[event] == ASSAY__EVENT_COPY;
        stream->memsets += events->kind[event] == ASSAY__EVENT_MEMSET;
    }
    stream->busy_ns = busy.total_ns;
    stream->span_ns = busy.end_ns - first_ns;
}

static void add_device(struct assay__explain *x, size_t place)
{
    const struct assay__timeline_device *of = &x->timeline->devices[place];
    struct assay__explain_device *d = &x->devices[place];
    int64_t *scratch = calloc(of->count, sizeof *scratch);
    d->rank = of->rank;
    d->device = of->device;
    d->name = *of->name ? of->name : assay__arena_text(x->arena, "device %d", (int)of->device);
    d->gaps = assay__arena_array(x->arena, of->count, sizeof *d->gaps);
    d->streams = assay__arena_array(x->arena, of->track_count, sizeof *d->streams);
    if (!scratch) assay__arena_fail(x->arena);
    if (!assay__arena_failed(x->arena)) {
        walk_work(x, d, of, scratch);
        sum_up(d, scratch);
        for (size_t i = 0; i < of->track_count; i++)
            add_stream(x, &d->streams[d->stream_count++], of->tracks[i]);
    }
    free(scratch);
}

/* Host events of the device's rank before its first work and after its last. */
static void add_outside(struct assay__explain *x)
{
    const struct assay__events *events = x->events;
    const struct assay__timeline *t = x->timeline;
    int64_t *first_ns = assay__arena_array(x->arena, t->rank_count, sizeof *first_ns);
    int64_t *last_ns = assay__arena_array(x->arena, t->rank_count, sizeof *last_ns);
    if (!first_ns || !last_ns) return;
    for (size_t i = 0; i < t->rank_count; i++) {
        first_ns[i] = INT64_MAX;
        last_ns[i] = INT64_MIN;
    }
    for (size_t i = 0; i < events->count; i++) {
        uint8_t kind = assay__placed_kind(events, i);
        if (kind < ASSAY__EVENT_LAUNCH || kind > ASSAY__EVENT_CPU) continue;
        uint32_t rank = t->track_rank[events->track[i]];
        int64_t end_ns = assay__event_end_ns(events, i);
        if (events->start_ns[i] < first_ns[rank]) first_ns[rank] = events->start_ns[i];
        if (end_ns > last_ns[rank]) last_ns[rank] = end_ns;
    }
    for (size_t i = 0; i < x->device_count; i++) {
        struct assay__explain_device *d = &x->devices[i];
        uint32_t rank = t->track_rank[t->devices[i].tracks[0]];
        d->host = first_ns[rank] < INT64_MAX;
        if (first_ns[rank] < d->first_ns) d->before_ns = d->first_ns - first_ns[rank];
        if (last_ns[rank] > d->last_ns) d->after_ns = last_ns[rank] - d->last_ns;
    }
}

void assay__explain_devices(struct assay__explain *x)
{
    x->device_count = x->timeline->device_count;
    x->devices = assay__arena_array(x->arena, x->device_count, sizeof *x->devices);
    for (size_t i = 0; x->devices && i < x->device_count; i++) {
        add_device(x, i);
        x->span_ns += x->devices[i].span_ns;
        x->busy_ns += x->devices[i].busy_ns;
        x->compute_ns += x->devices[i].compute_ns;
    }
    if (!assay__arena_failed(x->arena)) add_outside(x);
}
