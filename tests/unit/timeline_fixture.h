/* timeline_fixture.h - small timelines made by hand: a device with streams, threads of a host, and
 * the events on them. Times are nanoseconds. */
#ifndef ASSAY_TESTS_TIMELINE_FIXTURE_H
#define ASSAY_TESTS_TIMELINE_FIXTURE_H

#include "harness.h"

#include "explain/explain.h"
#include "base/stats.h"
#include "explain/timeline.h"

struct made {
    struct assay__events *events;
    struct assay__explain *x;
    int32_t rank;
};

static inline struct made make(void)
{
    struct made m = {assay__events_new(), NULL, 0};
    CHECK(m.events != NULL);
    return m;
}

static inline uint32_t stream_of(struct made *m, int32_t device, int64_t stream)
{
    return assay__events_track(m->events, &(struct assay__track){.kind = ASSAY__TRACK_STREAM,
                                                                 .rank = m->rank,
                                                                 .pid = -1,
                                                                 .tid = -1,
                                                                 .device = device,
                                                                 .stream = stream,
                                                                 .group = "GPU"});
}

static inline uint32_t thread_of(struct made *m, int64_t tid)
{
    return assay__events_track(m->events, &(struct assay__track){.kind = ASSAY__TRACK_THREAD,
                                                                 .rank = m->rank,
                                                                 .pid = 1,
                                                                 .tid = tid,
                                                                 .device = -1,
                                                                 .stream = -1});
}

static inline void put(struct made *m, enum assay__event_kind kind, uint32_t track,
                       const char *name, int64_t start_ns, int64_t end_ns, uint64_t correlation)
{
    assay__events_add(m->events, &(struct assay__event){.start_ns = start_ns,
                                                        .duration_ns = end_ns - start_ns,
                                                        .name = name,
                                                        .name_length = SIZE_MAX,
                                                        .kind = kind,
                                                        .track = track,
                                                        .correlation = correlation,
                                                        .args = ASSAY__EVENT_UNKNOWN});
}

/* Work of device 0, stream 7, and its launching call on thread 1. */
static inline void kernel(struct made *m, const char *name, int64_t start_ns, int64_t end_ns,
                          uint64_t correlation)
{
    put(m, ASSAY__EVENT_KERNEL, stream_of(m, 0, 7), name, start_ns, end_ns, correlation);
}

static inline void launch(struct made *m, int64_t start_ns, int64_t end_ns, uint64_t correlation)
{
    put(m, ASSAY__EVENT_LAUNCH, thread_of(m, 1), "cudaLaunchKernel", start_ns, end_ns, correlation);
}

static inline void copy(struct made *m, enum assay__copy_direction direction, int64_t bytes,
                        int64_t start_ns, int64_t end_ns, uint64_t correlation)
{
    bool up = direction == ASSAY__COPY_TO_DEVICE;
    struct assay__event_args args = {.direction = (uint8_t)direction,
                                     .from = up ? ASSAY__MEMORY_PAGEABLE : ASSAY__MEMORY_DEVICE,
                                     .to = up ? ASSAY__MEMORY_DEVICE : ASSAY__MEMORY_PAGEABLE};
    assay__events_add(m->events,
                      &(struct assay__event){.start_ns = start_ns,
                                             .duration_ns = end_ns - start_ns,
                                             .name = "Memcpy",
                                             .name_length = SIZE_MAX,
                                             .kind = ASSAY__EVENT_COPY,
                                             .track = stream_of(m, 0, 7),
                                             .correlation = correlation,
                                             .bytes = bytes,
                                             .args = assay__events_args(m->events, &args)});
}

static inline const struct assay__explain *explain(struct made *m)
{
    struct assay_error error = {0};
    CHECK_INT(assay__events_seal(m->events, &error), 0);
    CHECK_INT(assay__explain_new(m->events, &m->x, &error), 0);
    return m->x;
}

static inline void drop(struct made *m)
{
    assay__explain_free(m->x);
    assay__events_free(m->events);
}

/* What always holds: busy + idle = span, and the idle time on both axes is all of it. */
static inline void check_sums(const struct assay__explain *x)
{
    for (size_t i = 0; i < x->device_count; i++) {
        const struct assay__explain_device *d = &x->devices[i];
        int64_t sum_ns = 0, gaps_ns = 0;
        for (int c = 0; c < ASSAY__DEVICE_CAUSES; c++)
            for (int h = 0; h < ASSAY__HOST_CAUSES; h++)
                sum_ns += d->idle[c][h];
        for (size_t g = 0; g < d->gap.count; g++)
            gaps_ns += d->gaps[g].end_ns - d->gaps[g].start_ns;
        CHECK_INT(d->busy_ns + d->idle_ns, d->span_ns);
        CHECK_INT(sum_ns, d->idle_ns);
        CHECK_INT(gaps_ns, d->idle_ns);
    }
    int64_t parts_ns = x->compute_ns;
    for (int i = 0; i < ASSAY__LOSSES; i++)
        parts_ns += x->loss_ns[i];
    CHECK_INT(parts_ns, x->span_ns);
    int64_t path_ns = x->path.device_ns + x->path.copy_ns + x->path.gap_ns;
    for (int i = 0; i < ASSAY__HOST_CAUSES; i++)
        path_ns += x->path.host_ns[i];
    CHECK_INT(path_ns, x->path.total_ns);
}

#endif
