/* hta.c - each stream as Holistic Trace Analysis sees it, so that the two can be compared number by
 * number. Work is taken in order of start; a gap is its start minus the end of the one before, and
 * may be negative. It is a host wait if the launching call began after that end, else a kernel wait
 * below a threshold, else other. HTA's manual gives 30 ns for the threshold; its code compares
 * microseconds with 30: both are reported. The length of the queue grows when a call launches and
 * shrinks when the work starts; its mean is over these changes, not over time. */
#include "explain/parts.h"

#include <math.h>
#include <stdlib.h>

const char *const assay__hta_idle_names[] = {"host_wait", "kernel_wait", "other"};

#define CODE_NS 30000 /* the threshold in HTA's code */
#define MANUAL_NS 30

static void add_gap(struct assay__explain_stream *s, int64_t gap_ns, bool late)
{
    size_t code = late               ? ASSAY__HTA_HOST_WAIT
                  : gap_ns < CODE_NS ? ASSAY__HTA_KERNEL_WAIT
                                     : ASSAY__HTA_OTHER;
    s->hta_idle_ns[code] += gap_ns;
    s->hta_gaps[code]++;
    if (!late && gap_ns < MANUAL_NS) s->hta_kernel_wait_30ns_ns += gap_ns;
}

/* The stream that a work's track is, and its work so far. */
struct following {
    struct assay__explain_stream *stream;
    int64_t end_ns; /* of the last one */
    bool any;
    int64_t *launched_ns, *started_ns;
    size_t count;
};

static void add_work(struct following *f, const struct assay__timeline *t, uint32_t event,
                     uint32_t call)
{
    const struct assay__events *events = t->events;
    int64_t start_ns = events->start_ns[event], call_ns = INT64_MIN;
    if (call != ASSAY__NO_EVENT) call_ns = events->start_ns[t->calls[call].event];
    if (f->any) add_gap(f->stream, start_ns - f->end_ns, call_ns > f->end_ns);
    f->any = true;
    f->end_ns = assay__event_end_ns(events, event);
    if (call == ASSAY__NO_EVENT) return;
    f->launched_ns[f->count] = call_ns;
    f->started_ns[f->count++] = start_ns;
}

static int compare_ns(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Merges launches and starts; of equal times the launch is first. */
static void measure_queue(struct following *f)
{
    struct assay__explain_stream *s = f->stream;
    size_t launched = 0, started = 0;
    double sum = 0;
    int64_t last_ns = 0;
    s->queue_mean = NAN;
    if (!f->count) return;
    if (f->count) qsort(f->launched_ns, f->count, sizeof *f->launched_ns, compare_ns);
    last_ns = f->launched_ns[0];
    while (started < f->count) {
        bool launch = launched < f->count && f->launched_ns[launched] <= f->started_ns[started];
        int64_t now_ns = launch ? f->launched_ns[launched] : f->started_ns[started];
        if (launched <= started) s->queue_empty_ns += now_ns - last_ns;
        last_ns = now_ns;
        launched += launch;
        started += !launch;
        double length = (double)launched - (double)started;
        if (length > (double)s->queue_max) s->queue_max = (size_t)length;
        sum += length;
    }
    s->queue_mean = sum / (double)(2 * f->count);
}

/* One pass over the device's work; each stream has its part of the scratch memory. */
static void follow_device(struct assay__explain *x, size_t place, struct following *streams,
                          uint32_t *stream_of, int64_t *scratch)
{
    struct assay__explain_device *d = &x->devices[place];
    const struct assay__timeline_device *of = &x->timeline->devices[place];
    for (size_t k = 0; k < d->stream_count; k++) {
        struct assay__explain_stream *s = &d->streams[k];
        size_t work = s->kernels + s->copies + s->memsets;
        streams[k] = (struct following){
            .stream = s, .launched_ns = scratch, .started_ns = scratch + work};
        scratch += 2 * work;
        stream_of[s->track] = (uint32_t)k;
    }
    for (size_t i = 0; i < of->count; i++)
        add_work(&streams[stream_of[x->events->track[of->work[i]]]], x->timeline, of->work[i],
                 of->launch[i]);
    for (size_t k = 0; k < d->stream_count; k++)
        measure_queue(&streams[k]);
}

void assay__explain_hta(struct assay__explain *x)
{
    uint32_t *stream_of = calloc(x->events->track_count + 1, sizeof *stream_of);
    if (!stream_of) assay__arena_fail(x->arena);
    for (size_t i = 0; stream_of && i < x->device_count; i++) {
        int64_t *scratch = calloc(2 * x->timeline->devices[i].count + 1, sizeof *scratch);
        struct following *streams = calloc(x->devices[i].stream_count + 1, sizeof *streams);
        if (scratch && streams)
            follow_device(x, i, streams, stream_of, scratch);
        else
            assay__arena_fail(x->arena);
        free(scratch);
        free(streams);
    }
    free(stream_of);
}
