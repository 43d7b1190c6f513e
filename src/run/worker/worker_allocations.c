/* worker_allocations.c - marks for the allocation tracker what the engine allocates. A worker is
 * one process with one session, so its state is static. */
#include "run/worker/worker_allocations.h"

#include "base/no_memory.h"
#include "base/track.h"
#include "platform/platform.h"
#include "run/watch/memory_growth.h"
#include "run/watch/memory_track.h"
#include "run/worker/messages.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SITES 12 /* sent per phase */

static const char *const phase_names[ASSAY__TRACK_PHASES] = {"load", "first", "prerun", "warm"};

static struct {
    const struct assay__track_api *track;
    const struct assay__engine_ops *engine; /* the real one */
    struct assay__engine_ops wrapped;
    atomic_bool first_done;
    struct assay__arena_use warm_begin;
} tracked;

static int open_tracked(const struct assay__session_options *options,
                        struct assay__session **session, struct assay_error *error)
{
    tracked.track->phase(ASSAY__TRACK_LOAD);
    tracked.track->enter();
    int code = tracked.engine->open(options, session, error);
    tracked.track->leave(false);
    tracked.track->phase(ASSAY__TRACK_FIRST);
    return code;
}

static int step_tracked(struct assay__session *session, int stream)
{
    tracked.track->enter();
    int code = tracked.engine->step(session, stream);
    tracked.track->leave(true);
    if (!atomic_load_explicit(&tracked.first_done, memory_order_relaxed)) {
        atomic_store(&tracked.first_done, true);
        tracked.track->phase(ASSAY__TRACK_PRERUN);
    }
    return code;
}

const struct assay__engine_ops *assay__allocations_engine(const struct assay__engine_ops *engine,
                                                          struct assay_error *error)
{
    assay__track_fn *ask = NULL;
    void *found = assay__symbol_anywhere(ASSAY__TRACK_SYMBOL);
    if (found) memcpy(&ask, &found, sizeof ask);
    tracked.track = ask ? ask() : NULL;
    if (!tracked.track || tracked.track->abi != ASSAY__TRACK_ABI ||
        tracked.track->size != sizeof *tracked.track) {
        assay_error_set(error, ASSAY_EUNSUPPORTED,
                        tracked.track ? "the allocation tracker belongs to another version of assay"
                                      : "the allocation tracker was not loaded into the worker");
        return NULL;
    }
    tracked.engine = engine;
    tracked.wrapped = *engine;
    tracked.wrapped.open = open_tracked;
    tracked.wrapped.step = step_tracked;
    return &tracked.wrapped;
}

static struct assay__arena_use arena_use(struct assay__session *session)
{
    struct assay__arena_use use = {NAN, NAN, NAN};
    if (tracked.engine->arena_use) tracked.engine->arena_use(session, &use);
    return use;
}

void assay__allocations_warm(struct assay__session *session)
{
    tracked.warm_begin = arena_use(session);
    tracked.track->phase(ASSAY__TRACK_WARM);
}

/* Class i has sizes from 2^i (the first: from 0) up to 2^(i+1) (the last: without limit). */
static void write_classes(enum assay__track_phase phase, struct assay__json_writer *out)
{
    struct assay__track_class classes[ASSAY__TRACK_CLASSES];
    tracked.track->classes(phase, classes);
    for (int i = 0; i < ASSAY__TRACK_CLASSES; i++) {
        if (classes[i].count == 0) continue;
        bool last = i == ASSAY__TRACK_CLASSES - 1;
        assay__message_put(out, &assay__stored_class,
                           &(struct assay__allocation_class){
                               .phase = phase_names[phase],
                               .low_bytes = i ? ldexp(1, i) : 0,
                               .high_bytes = last ? (double)INFINITY : ldexp(1, i + 1),
                               .count = (double)classes[i].count,
                               .bytes = (double)classes[i].bytes,
                           });
    }
}

static void write_lists(struct assay__track_site *sites, struct assay__json_writer *out)
{
    assay__json_put_array(out, "phases");
    for (int p = 0; p < ASSAY__TRACK_PHASES; p++) {
        enum assay__track_phase phase = (enum assay__track_phase)p;
        struct assay__track_totals totals;
        tracked.track->totals(phase, &totals);
        assay__message_put(out, &assay__stored_phase,
                           &(struct assay__allocation_phase){
                               .name = phase_names[phase],
                               .inferences = (int64_t)totals.inferences,
                               .count = (double)totals.count,
                               .bytes = (double)totals.bytes,
                               .freed_count = (double)totals.freed_count,
                               .freed_bytes = (double)totals.freed_bytes,
                               .live_bytes = (double)totals.live_bytes,
                               .peak_live_bytes = (double)totals.peak_live_bytes,
                           });
    }
    assay__json_array_end(out);
    assay__json_put_array(out, "classes");
    for (int p = 0; p < ASSAY__TRACK_PHASES; p++)
        write_classes((enum assay__track_phase)p, out);
    assay__json_array_end(out);
    assay__json_put_array(out, "sites");
    for (int p = 0; p < ASSAY__TRACK_PHASES; p++) {
        enum assay__track_phase phase = (enum assay__track_phase)p;
        size_t count = tracked.track->sites(phase, sites, SITES);
        for (size_t i = 0; i < count; i++)
            assay__message_put(out, &assay__stored_site,
                               &(struct assay__allocation_site){
                                   .phase = phase_names[phase],
                                   .site = sites[i].text,
                                   .count = (double)sites[i].count,
                                   .bytes = (double)sites[i].bytes,
                                   .live_bytes = (double)sites[i].live_bytes,
                               });
    }
    assay__json_array_end(out);
}

int assay__allocations_write(struct assay__session *session, struct assay__json_writer *out,
                             struct assay_error *error)
{
    const int64_t *marks = NULL;
    struct assay__growth growth;
    struct assay__track_heap heap;
    tracked.track->phase(ASSAY__TRACK_NONE);
    size_t count = tracked.track->marks(&marks);
    struct assay__track_site *sites = malloc(SITES * sizeof *sites);
    if (!sites || assay__memory_growth(marks, count, &growth)) {
        free(sites);
        return assay__no_memory(error);
    }
    struct assay__arena_use use = arena_use(session);
    tracked.track->heap(&heap);
    const struct assay__tracked told = {
        .seen = {.growth_bytes = growth.bytes,
                 .growth_low = growth.low,
                 .growth_high = growth.high,
                 .heap_bytes = heap.known ? heap.held_bytes : NAN,
                 .heap_used_bytes = heap.known ? heap.used_bytes : NAN,
                 .slowdown = NAN},
        .growth_smallest = growth.smallest,
        .growth_every = growth.every,
        .growth_total = growth.total,
        .growth_flat = growth.flat,
        .growth_settled = growth.settled,
        .marks = (int64_t)count,
        .dropped = (double)tracked.track->dropped(),
        .arena_allocations = use.allocations - tracked.warm_begin.allocations,
        .arena_extensions = use.extensions - tracked.warm_begin.extensions,
        .arena_held = use.held_bytes,
    };
    assay__json_object(out);
    assay__fields_send(out, &assay__message_tracked, &told);
    write_lists(sites, out);
    assay__json_object_end(out);
    free(sites);
    return 0;
}
