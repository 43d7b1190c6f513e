/* worker_counters.c - counts slices of the loop with the counters on and off.
 *
 * A slice lasts 125 ms, at least one inference; eight of them below 60 ms per inference, four below
 * 1 s, and beyond that one counted inference, which is compared with the launch's latency. Events
 * are switched on right before a slice's first stamp and off right after its last, so that they
 * count only what lies in between, apart from the switching itself (some microseconds of 125 ms).
 *
 * Layers are counted with fewer events (layer_events): those that fit into the counters of common
 * processors together, because a multiplexed counter says nothing about a few microseconds. The
 * clock is read with them, as one more event: CPU time is compared with the time of the counted
 * runs, which are longer than unprofiled ones. */
#include "run/worker/worker_counters.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/no_memory.h"
#include "base/stats.h"
#include "probe/perf_event.h"
#include "probe/probe.h"
#include "run/watch/counters_fake.h"
#include "run/watch/counters.h"
#include "run/worker/messages.h"
#include "run/worker/streams.h"

#include <math.h>
#include <stdlib.h>

#define SLICE_S 0.125
#define FAST_NS 6e7
#define SLOW_NS 1e9
#define REWARM_BELOW_NS 1e7
#define REWARM_STEPS 2

#define ALL_EVENTS ((1u << ASSAY__PERF_EVENTS) - 1)

static const enum assay__perf_event layer_events[] = {
    ASSAY__PERF_CYCLES,          ASSAY__PERF_INSTRUCTIONS, ASSAY__PERF_CACHE_REFERENCES,
    ASSAY__PERF_CACHE_MISSES,    ASSAY__PERF_TASK_CLOCK,   ASSAY__PERF_PAGE_FAULTS,
    ASSAY__PERF_CONTEXT_SWITCHES};
#define LAYER_EVENTS (sizeof layer_events / sizeof layer_events[0])
#define ELAPSED ASSAY__PERF_EVENTS /* its index, after the events */

struct tally {
    double first; /* its total when counting began */
    double grown; /* in all slices up to its last good reading; NaN unknown */
    double share; /* of the time it was really counted */
    size_t completions;
    double wall_ns; /* of the slices that `grown` covers */
    const char *reason;
};

struct assay__worker_counters {
    const struct assay__probe_ops *ops;
    struct assay__probe *probe;
    const struct assay__channel *channels;
    int stream_count;
    struct tally tallies[ASSAY__PERF_EVENTS];
    size_t completions, slices;
    double wall_ns;
    double on_ns, off_ns; /* medians of counted slices and of the others; NaN unknown */
    uint64_t spent_ns;
    int chosen[LAYER_EVENTS + 1]; /* the last may be ELAPSED */
    unsigned chosen_bits;
    struct assay__layer_counters layers;
};

/* --- layers ----------------------------------------------------------------------------------- */

static void layers_begin(void *context)
{
    struct assay__worker_counters *c = context;
    assay__perf_event_switch(c->probe, c->chosen_bits, true);
}

static void layers_end(void *context)
{
    struct assay__worker_counters *c = context;
    assay__perf_event_switch(c->probe, c->chosen_bits, false);
}

static double elapsed_s(void)
{
    double seconds;
    return assay__counters_fake_elapsed(&seconds) ? seconds : (double)assay__now_ns() * 1e-9;
}

static void layers_read(void *context, double *values)
{
    struct assay__worker_counters *c = context;
    double share;
    for (size_t i = 0; i < c->layers.count; i++)
        if (c->chosen[i] == ELAPSED)
            values[i] = elapsed_s();
        else
            assay__perf_event_total(c->probe, (enum assay__perf_event)c->chosen[i], &values[i],
                                    &share);
}

const struct assay__layer_counters *assay__worker_counters_layers(
    struct assay__worker_counters *counters)
{
    return counters && counters->layers.count ? &counters->layers : NULL;
}

/* --- opening ---------------------------------------------------------------------------------- */

int assay__worker_counters_open(struct assay__arena *arena, const struct assay__job *job,
                                struct assay__worker_counters **counters, struct assay_error *error)
{
    struct assay__worker_counters *c = assay__arena_alloc(arena, sizeof *c);
    *counters = NULL;
    if (!c) return assay__no_memory(error);
    int code = assay__counters_fake(job, error);
    if (code) return code;
    c->ops = assay__probe_find("perf");
    c->stream_count = job->streams;
    c->on_ns = c->off_ns = NAN;
    assay__perf_event_target(0);
    code = c->ops->open(arena, &c->probe, error);
    if (code) return code;
    c->ops->channels(c->probe, &c->channels); /* the first ones are the events, in their order */
    assay__perf_event_switch(c->probe, ALL_EVENTS, false);
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++) {
        struct tally *tally = &c->tallies[e];
        *tally = (struct tally){.first = NAN, .grown = NAN, .share = NAN, .reason = ""};
        if (!c->channels[e].available) tally->reason = c->channels[e].reason;
    }
    c->layers = (struct assay__layer_counters){
        .begin = layers_begin, .end = layers_end, .read = layers_read, .context = c};
    for (size_t i = 0; i < LAYER_EVENTS; i++) {
        if (!c->channels[layer_events[i]].available) continue;
        c->chosen[c->layers.count++] = (int)layer_events[i];
        c->chosen_bits |= 1u << layer_events[i];
    }
    if (c->layers.count && isfinite(elapsed_s())) c->chosen[c->layers.count++] = ELAPSED;
    *counters = c;
    return 0;
}

void assay__worker_counters_close(struct assay__worker_counters *counters)
{
    if (counters && counters->probe) counters->ops->close(counters->probe);
    if (counters) counters->probe = NULL;
}

uint64_t assay__worker_counters_spent_ns(const struct assay__worker_counters *counters)
{
    return counters ? counters->spent_ns : 0;
}

/* --- slices ----------------------------------------------------------------------------------- */

static void edge(void *context, bool begins)
{
    struct assay__worker_counters *c = context;
    assay__perf_event_switch(c->probe, ALL_EVENTS, begins);
}

/* The median of the first stream's durations in a slice; adds what all streams did to *completions
 * and *wall_ns. */
static double take_slice(const struct assay__ring *ring, double *scratch, size_t *completions,
                         double *wall_ns)
{
    uint64_t begin = UINT64_MAX, end = 0;
    size_t first = 0;
    for (uint32_t s = 0; s < ring->streams; s++) {
        const uint64_t *stamps = assay__ring_stamps(ring, s);
        size_t n = (size_t)atomic_load(assay__ring_count(ring, s));
        if (n == 0) continue;
        *completions += n;
        if (stamps[0] < begin) begin = stamps[0];
        if (stamps[n] > end) end = stamps[n];
        for (size_t i = 0; s == 0 && i < n; i++)
            scratch[first++] = (double)(stamps[i + 1] - stamps[i]);
    }
    if (end > begin) *wall_ns += (double)(end - begin);
    assay__stats_sort(scratch, first);
    return first ? assay__stats_median(scratch, first) : NAN;
}

struct slices {
    struct assay__ring ring;
    struct assay__streams *streams;
    double *scratch;
    double latency_ns;
    int (*alive)(void *context);
    void *context;
};

/* *median_ns is the time of an inference. 0 or a step's code. */
static int run_slice(struct assay__worker_counters *c, struct slices *s, bool counted,
                     double *median_ns)
{
    bool one = s->latency_ns >= SLOW_NS;
    size_t ignored = 0;
    double unused = 0;
    assay__streams_edges(s->streams, counted ? edge : NULL, c);
    int code = assay__streams_window(
        s->streams, one ? s->ring.streams : (size_t)s->ring.capacity * s->ring.streams, SLICE_S,
        s->latency_ns < REWARM_BELOW_NS ? REWARM_STEPS : 0);
    if (code) return code;
    *median_ns = take_slice(&s->ring, s->scratch, counted ? &c->completions : &ignored,
                            counted ? &c->wall_ns : &unused);
    if (counted) {
        c->slices++;
        /* A counter that did not run in this slice has no value now; a later reading covers it. */
        for (int e = 0; e < ASSAY__PERF_EVENTS; e++) {
            struct tally *tally = &c->tallies[e];
            double total, share;
            if (!c->channels[e].available || isnan(tally->first)) continue;
            const char *reason = assay__perf_event_total(c->probe, (enum assay__perf_event)e,
                                                         &total, &share);
            if (isnan(total)) {
                tally->reason = reason;
                continue;
            }
            tally->grown = total - tally->first;
            tally->share = share;
            tally->completions = c->completions;
            tally->wall_ns = c->wall_ns;
            tally->reason = "";
        }
    }
    return 0;
}

static int run_slices(struct assay__worker_counters *c, struct slices *s)
{
    static const char pattern[] = "0110"; /* counted or not */
    int rounds = s->latency_ns >= SLOW_NS ? 0 : s->latency_ns >= FAST_NS ? 1 : 2, code = 0;
    double on = 0, off = 0, median = NAN;
    /* Totals before anything is counted. Other threads may have been counted until counting was
     * switched off. */
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++) {
        struct tally *tally = &c->tallies[e];
        double share;
        if (!c->channels[e].available) continue;
        tally->reason = assay__perf_event_total(c->probe, (enum assay__perf_event)e, &tally->first,
                                                &share);
    }
    if (rounds == 0) {
        code = run_slice(c, s, true, &c->on_ns);
        c->off_ns = s->latency_ns;
        return code;
    }
    for (int i = 0; i < 4 * rounds && code == 0; i++) {
        bool counted = pattern[i % 4] == '1';
        if (i > 0 && s->latency_ns >= FAST_NS) code = s->alive(s->context);
        if (code == 0) code = run_slice(c, s, counted, &median);
        if (counted)
            on += median;
        else
            off += median;
    }
    c->on_ns = on / (2 * rounds);
    c->off_ns = off / (2 * rounds);
    return code;
}

int assay__worker_counters_run(struct assay__worker_counters *counters,
                               const struct assay__engine_ops *engine,
                               struct assay__session *session, double latency_ns,
                               int (*alive)(void *context), void *context,
                               struct assay_error *error)
{
    struct slices s = {.ring = {.fd = -1},
                       .latency_ns = isfinite(latency_ns) ? latency_ns : 0,
                       .alive = alive,
                       .context = context};
    int code = assay__ring_create(&s.ring, (uint32_t)counters->stream_count, error);
    if (code) return code;
    s.scratch = calloc((size_t)s.ring.capacity + 1, sizeof *s.scratch);
    if (!s.scratch) code = assay__no_memory(error);
    if (code == 0) code = assay__streams_start(engine, session, &s.ring, &s.streams, error);
    if (code == 0) code = run_slices(counters, &s);
    counters->spent_ns = assay__streams_spent_ns(s.streams);
    assay__streams_stop(s.streams);
    free(s.scratch);
    assay__ring_close(&s.ring);
    return code;
}

/* --- messages --------------------------------------------------------------------------------- */

void assay__worker_counters_write(const struct assay__worker_counters *counters,
                                  struct assay__json_writer *out)
{
    assay__json_object(out);
    assay__json_put_integer(out, "slices", (int64_t)counters->slices);
    assay__json_put_number(out, "on_ns", counters->on_ns);
    assay__json_put_number(out, "off_ns", counters->off_ns);
    assay__json_put_array(out, "layer_events");
    for (size_t i = 0; i < counters->layers.count; i++)
        assay__json_integer(out, counters->chosen[i]);
    assay__json_array_end(out);
    assay__json_put_array(out, "events");
    for (int e = 0; e < ASSAY__PERF_EVENTS; e++) {
        const struct tally *tally = &counters->tallies[e];
        assay__message_put(out, &assay__message_event,
                           &(struct assay__counted_event){
                               .name = assay__perf_event_name((enum assay__perf_event)e),
                               .source = counters->channels[e].source,
                               .reason = tally->reason,
                               .user_only = counters->channels[e].user_only,
                               .grown = tally->grown,
                               .share = tally->share,
                               .wall_ns = tally->wall_ns,
                               .completions = (int64_t)tally->completions});
    }
    /* The clock follows the events as one more of them. */
    assay__message_put(
        out, &assay__message_event,
        &(struct assay__counted_event){.name = "elapsed",
                                       .source = "clock",
                                       .grown = counters->wall_ns * 1e-9,
                                       .share = 1,
                                       .wall_ns = counters->wall_ns,
                                       .completions = (int64_t)counters->completions});
    assay__json_array_end(out);
    assay__json_object_end(out);
}
