/* worker_allocations.c - marks for the allocation tracker what the engine allocates. One worker is
 * one process with one session, so its state stands here. */
#include "run/worker/worker_allocations.h"

#include "base/track.h"
#include "platform/platform.h"
#include "run/watch/memory_growth.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SITES 12 /* told of each phase */

static const char *const phase_names[ASSAY__TRACK_PHASES] = {"load", "first", "prerun", "warm"};

static struct {
    const struct assay__track_api *track;
    const struct assay_engine_ops *engine; /* the real one */
    struct assay_engine_ops wrapped;
    atomic_bool first_done;
    struct assay_arena_use warm_begin;
} tracked;

static int open_tracked(const struct assay_session_options *options, struct assay_session **session,
                        struct assay_error *error)
{
    tracked.track->phase(ASSAY__TRACK_LOAD);
    tracked.track->enter();
    int code = tracked.engine->open(options, session, error);
    tracked.track->leave(false);
    tracked.track->phase(ASSAY__TRACK_FIRST);
    return code;
}

static int step_tracked(struct assay_session *session, int stream)
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

const struct assay_engine_ops *assay__allocations_engine(const struct assay_engine_ops *engine,
                                                         struct assay_error *error)
{
    assay__track_fn *ask = NULL;
    void *found = assay__symbol_anywhere(ASSAY__TRACK_SYMBOL);
    if (found) memcpy(&ask, &found, sizeof ask);
    tracked.track = ask ? ask() : NULL;
    if (!tracked.track || tracked.track->abi != ASSAY__TRACK_ABI ||
        tracked.track->size != sizeof *tracked.track) {
        assay_error_set(error, ASSAY_EUNSUPPORTED,
                        tracked.track ? "the allocation tracker is of another version of assay"
                                      : "the allocation tracker was not loaded into the worker");
        return NULL;
    }
    tracked.engine = engine;
    tracked.wrapped = *engine;
    tracked.wrapped.open = open_tracked;
    tracked.wrapped.step = step_tracked;
    return &tracked.wrapped;
}

static struct assay_arena_use arena_use(struct assay_session *session)
{
    struct assay_arena_use use = {NAN, NAN, NAN};
    if (tracked.engine->arena_use) tracked.engine->arena_use(session, &use);
    return use;
}

void assay__allocations_warm(struct assay_session *session)
{
    tracked.warm_begin = arena_use(session);
    tracked.track->phase(ASSAY__TRACK_WARM);
}

static void write_phase(enum assay__track_phase phase, struct assay__json_writer *out)
{
    struct assay__track_totals totals;
    tracked.track->totals(phase, &totals);
    assay__json_object(out);
    assay__json_put_string(out, "name", phase_names[phase]);
    assay__json_put_integer(out, "inferences", (int64_t)totals.inferences);
    assay__json_put_number(out, "count", (double)totals.count);
    assay__json_put_number(out, "bytes", (double)totals.bytes);
    assay__json_put_number(out, "freed_count", (double)totals.freed_count);
    assay__json_put_number(out, "freed_bytes", (double)totals.freed_bytes);
    assay__json_put_number(out, "live", (double)totals.live_bytes);
    assay__json_put_number(out, "peak", (double)totals.peak_live_bytes);
    assay__json_object_end(out);
}

static void write_classes(enum assay__track_phase phase, struct assay__json_writer *out)
{
    struct assay__track_class classes[ASSAY__TRACK_CLASSES];
    tracked.track->classes(phase, classes);
    for (int i = 0; i < ASSAY__TRACK_CLASSES; i++) {
        if (classes[i].count == 0) continue;
        assay__json_object(out);
        assay__json_put_string(out, "phase", phase_names[phase]);
        assay__json_put_integer(out, "class", i);
        assay__json_put_number(out, "count", (double)classes[i].count);
        assay__json_put_number(out, "bytes", (double)classes[i].bytes);
        assay__json_object_end(out);
    }
}

static void write_sites(enum assay__track_phase phase, struct assay__track_site *sites,
                        struct assay__json_writer *out)
{
    size_t count = tracked.track->sites(phase, sites, SITES);
    for (size_t i = 0; i < count; i++) {
        assay__json_object(out);
        assay__json_put_string(out, "phase", phase_names[phase]);
        assay__json_put_string(out, "site", sites[i].text);
        assay__json_put_number(out, "count", (double)sites[i].count);
        assay__json_put_number(out, "bytes", (double)sites[i].bytes);
        assay__json_put_number(out, "live", (double)sites[i].live_bytes);
        assay__json_object_end(out);
    }
}

static void write_lists(struct assay__track_site *sites, struct assay__json_writer *out)
{
    assay__json_key(out, "phases");
    assay__json_array(out);
    for (int p = 0; p < ASSAY__TRACK_PHASES; p++)
        write_phase((enum assay__track_phase)p, out);
    assay__json_array_end(out);
    assay__json_key(out, "classes");
    assay__json_array(out);
    for (int p = 0; p < ASSAY__TRACK_PHASES; p++)
        write_classes((enum assay__track_phase)p, out);
    assay__json_array_end(out);
    assay__json_key(out, "sites");
    assay__json_array(out);
    for (int p = 0; p < ASSAY__TRACK_PHASES; p++)
        write_sites((enum assay__track_phase)p, sites, out);
    assay__json_array_end(out);
}

int assay__allocations_write(struct assay_session *session, struct assay__json_writer *out,
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
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the allocations");
    }
    struct assay_arena_use use = arena_use(session);
    tracked.track->heap(&heap);
    assay__json_object(out);
    assay__json_put_number(out, "growth", growth.bytes);
    assay__json_put_number(out, "growth_low", growth.low);
    assay__json_put_number(out, "growth_high", growth.high);
    assay__json_put_number(out, "growth_smallest", growth.smallest);
    assay__json_put_number(out, "growth_every", growth.every);
    assay__json_put_number(out, "growth_total", growth.total);
    assay__json_put_bool(out, "growth_flat", growth.flat);
    assay__json_put_bool(out, "growth_settled", growth.settled);
    assay__json_put_integer(out, "marks", (int64_t)count);
    assay__json_put_number(out, "heap", heap.known ? heap.held_bytes : NAN);
    assay__json_put_number(out, "heap_used", heap.known ? heap.used_bytes : NAN);
    assay__json_put_number(out, "dropped", (double)tracked.track->dropped());
    assay__json_put_number(out, "arena_allocations",
                           use.allocations - tracked.warm_begin.allocations);
    assay__json_put_number(out, "arena_extensions", use.extensions - tracked.warm_begin.extensions);
    assay__json_put_number(out, "arena_held", use.held_bytes);
    write_lists(sites, out);
    assay__json_object_end(out);
    free(sites);
    return 0;
}
