/* explain.c - the parts of the analysis, in the order in which they build on each other. */
#include "explain/explain.h"

#include "base/no_memory.h"
#include "explain/parts.h"

#include <math.h>

double assay__explain_share(const struct assay__explain *x, int64_t ns)
{
    return x->span_ns > 0 ? (double)ns / (double)x->span_ns : NAN;
}

/* Collectives keep a device busy, but nothing is computed: the part of them that computation does
 * not hide is lost, too. */
static void sum_communication(struct assay__explain *x)
{
    for (size_t i = 0; i < x->ranks.count; i++) {
        int64_t ns = x->ranks.items[i].communication_ns - x->ranks.items[i].overlap_ns;
        x->loss_ns[ASSAY__LOSS_COMMUNICATING] += ns;
        x->compute_ns -= ns;
    }
}

static void sum_losses(struct assay__explain *x)
{
    for (size_t i = 0; i < x->device_count; i++) {
        const struct assay__explain_device *d = &x->devices[i];
        for (int c = 0; c < ASSAY__DEVICE_CAUSES; c++)
            for (int h = 0; h < ASSAY__HOST_CAUSES; h++)
                x->loss_ns[assay__loss_of((enum assay__device_cause)c,
                                          (enum assay__host_cause)h)] += d->idle[c][h];
        x->loss_ns[ASSAY__LOSS_TRANSFERS] += d->copy_only_ns;
    }
    sum_communication(x);
}

/* Times of several centuries, or so many long ones that their sum is: nothing real, and sums of
 * them would not fit. */
#define TIME_MOST_NS 4000000000000000000 /* since the clock's beginning */
#define SPAN_MOST_NS 1000000000000000000

static bool can_be_summed(const struct assay__events *events)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    double sum_ns = 0;
    for (size_t i = 0; i < events->count; i++) {
        int64_t end_ns = assay__event_end_ns(events, i);
        if (events->start_ns[i] < first_ns) first_ns = events->start_ns[i];
        if (end_ns > last_ns) last_ns = end_ns;
        sum_ns += (double)events->duration_ns[i];
    }
    return !events->count || (first_ns >= -TIME_MOST_NS && last_ns <= TIME_MOST_NS &&
                              last_ns - first_ns <= SPAN_MOST_NS && sum_ns <= SPAN_MOST_NS);
}

int assay__explain_new(const struct assay__events *events, struct assay__explain **explain,
                       struct assay_error *error)
{
    static void (*const parts[])(struct assay__explain *) = {
        assay__explain_devices,    assay__explain_idle,  assay__explain_hta,
        assay__explain_tops,       assay__explain_ranks, sum_losses,
        assay__explain_transfers,  assay__explain_syncs, assay__explain_what_if,
        assay__explain_steps,      assay__explain_path,  assay__explain_counters,
        assay__explain_long_calls, assay__explain_find,  assay__explain_host,
        assay__explain_diagnose,
    };
    struct assay__arena *arena = assay__arena_new();
    struct assay__explain *x = arena ? assay__arena_alloc(arena, sizeof *x) : NULL;
    *explain = NULL;
    if (!can_be_summed(events)) {
        assay__arena_free(arena);
        return assay_error_set(error, ASSAY_EFORMAT,
                               "the times of this trace span decades, so they must be wrong");
    }
    if (x) {
        x->arena = arena;
        x->events = events;
        x->timeline = assay__timeline_new(events, arena);
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !assay__arena_failed(arena); i++)
        parts[i](x);
    if (assay__arena_failed(arena)) {
        assay__arena_free(arena);
        return assay__no_memory(error);
    }
    *explain = x;
    return 0;
}

const char *assay__explain_file(const struct assay__explain *x)
{
    if (x->file) return x->file;
    return x->events->source_count ? x->events->sources[0].path : "";
}

void assay__explain_free(struct assay__explain *x)
{
    if (x) assay__arena_free(x->arena);
}
