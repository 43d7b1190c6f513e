/* watch_counters.c - the processor's and the kernel's counters, per inference. The worker counts
 * (worker_counters.c); here the launches' counts become metrics: counter = Σ growth / Σ inferences,
 * over the counted slices of all launches that know it. A multiplexed counter was scaled by enabled
 * / running time: it is derived, and its note says how long it really ran. A counter that must
 * change while a processor works (cycles, instructions, branches, CPU time) and does not is faulty,
 * not 0. */
#include "run/watch/watchers.h"

#include "base/json.h"
#include "base/map.h"
#include "base/metric_value.h"
#include "platform/posix_cpu.h"
#include "probe/probe.h"
#include "run/worker/messages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTROLLER_CHANNELS 2
#define WHOLE_SHARE 0.9995 /* counted almost all of the time: no note needed */

/* --- the worker's message --------------------------------------------------------------------- */

/* A worker is not trusted: anything that is not a possible value of a counter is unknown. */

static int bad(struct assay_error *error)
{
    return assay_error_set(error, ASSAY_EFORMAT, "worker sent impossible values for counters");
}

int assay__counted_hear(const struct assay__json *json, struct assay__arena *arena,
                        struct assay__counted *counted, struct assay_error *error)
{
    const struct assay__json *events = assay__json_get(json, "events");
    if (counted->known || !events || events->count > ASSAY__COUNTERS_MOST) return bad(error);
    *counted = (struct assay__counted){
        .known = true,
        .events = assay__arena_array(arena, events->count, sizeof *counted->events),
        .slices = assay__json_get_integer(json, "slices", 0),
        .on_ns = assay__json_get_number(json, "on_ns", NAN),
        .off_ns = assay__json_get_number(json, "off_ns", NAN),
        .layer_note = "",
    };
    if (!counted->events) return assay__no_memory(error);
    for (const struct assay__json *item = events->first; item; item = item->next) {
        struct assay__counted_event *event = &counted->events[counted->event_count++];
        if (assay__fields_receive(item, &assay__message_event, arena, event))
            return assay__no_memory(error);
        if (event->grown < 0 || event->completions < 0 || event->share < 0) return bad(error);
        if (event->completions == 0) event->grown = NAN;
    }
    const struct assay__json *layers = assay__json_get(json, "layer_events");
    for (const struct assay__json *item = layers ? layers->first : NULL; item; item = item->next) {
        if (item->kind != ASSAY__JSON_NUMBER ||
            !(item->number >= 0 && item->number < (double)counted->event_count) ||
            counted->layer_event_count == ASSAY__COUNTERS_MOST)
            return bad(error);
        counted->layer_events[counted->layer_event_count++] = (size_t)item->number;
    }
    return 0;
}

int assay__counted_hear_layer(const struct assay__json *list, struct assay__arena *arena,
                              const struct assay__counted *counted, double **values,
                              struct assay_error *error)
{
    size_t at = 0;
    *values = NULL;
    if (!list || list->count == 0) return 0;
    if (!counted->known || list->count != counted->layer_event_count) return bad(error);
    *values = assay__arena_array(arena, list->count, sizeof **values);
    if (!*values) return assay__no_memory(error);
    for (const struct assay__json *item = list->first; item; item = item->next)
        (*values)[at++] = item->kind == ASSAY__JSON_NUMBER ? item->number : NAN;
    return 0;
}

/* --- the watcher ------------------------------------------------------------------------------ */

struct assay__watcher {
    const struct assay__trial_input *input;
    const struct assay__outcome *used[1000]; /* launches with counters */
    size_t used_count;
    double share;    /* min over the counters; NaN */
    double seconds;  /* of an inference, in the counted slices; NaN */
    bool user_space; /* what the kernel did on the worker's behalf is not in the counts */

    /* The memory controllers' counters are the whole machine's: read here, at the edges of the
     * latency's windows. */
    struct assay__arena *arena;
    const struct assay__probe_ops *uncore;
    struct assay__probe *controllers;
    struct assay__probe_reading before[CONTROLLER_CHANNELS];
    uint64_t before_ns;
    double moved, moved_s;
    const char *moved_reason; /* why nothing is known; "" */
};

static const struct row {
    const char *event, *metric;
    bool must_move;
} rows[] = {
    {"cycles", "hardware.cycles", true},
    {"instructions", "hardware.instructions", true},
    {"cache-references", "hardware.cache_references", false},
    {"cache-misses", "hardware.cache_misses", false},
    {"llc-loads", "hardware.llc_loads", false},
    {"llc-load-misses", "hardware.llc_load_misses", false},
    {"branches", "hardware.branches", true},
    {"branch-misses", "hardware.branch_misses", false},
    {"stalled-frontend", "hardware.stalled_frontend", false},
    {"stalled-backend", "hardware.stalled_backend", false},
    {"task-clock", "hardware.task_clock", true},
    {"page-faults", "hardware.page_faults", false},
    {"context-switches", "hardware.context_switches", false},
    {"migrations", "hardware.migrations", false},
};
#define ROWS (sizeof rows / sizeof rows[0])

static bool wanted(const struct assay__run_options *options)
{
    return options->watching.counters;
}

static int open_controllers(const struct assay__watch_plan *plan, struct assay__watcher **watcher,
                            struct assay_error *error)
{
    (void)plan;
    struct assay__watcher *w = *watcher = calloc(1, sizeof *w);
    if (!w) return assay__no_memory(error);
    w->arena = assay__arena_new();
    w->uncore = assay__probe_find("uncore");
    int code = w->arena ? w->uncore->open(w->arena, &w->controllers, error)
                        : assay__no_memory(error);
    w->moved_reason = code ? "" : w->uncore->reason(w->controllers);
    return code;
}

/* --- memory controllers ----------------------------------------------------------------------- */

static bool controllers_there(const struct assay__watcher *w)
{
    const struct assay__channel *channels;
    return w->uncore->channels(w->controllers, &channels) == CONTROLLER_CHANNELS &&
           !w->moved_reason[0];
}

static void window_begins(struct assay__watcher *w, int launch, uint64_t now_ns)
{
    (void)launch;
    if (!controllers_there(w)) return;
    w->uncore->read(w->controllers, w->before);
    w->before_ns = now_ns;
}

static void window_ends(struct assay__watcher *w, int launch, uint64_t now_ns, size_t completions)
{
    struct assay__probe_reading now[CONTROLLER_CHANNELS];
    (void)launch, (void)completions;
    if (!controllers_there(w)) return;
    w->uncore->read(w->controllers, now);
    for (size_t i = 0; i < CONTROLLER_CHANNELS; i++) {
        double grown = now[i].value - w->before[i].value;
        if (!isfinite(grown) || grown < 0) /* half of it would look like the whole */
            w->moved_reason = now[i].reason[0]         ? now[i].reason
                              : w->before[i].reason[0] ? w->before[i].reason
                                                       : "a counter that went backwards";
        else
            w->moved += grown;
    }
    w->moved_s += (double)(now_ns - w->before_ns) * 1e-9;
}

static void put_controllers(struct assay__watcher *w)
{
    struct assay_metrics *metrics = w->input->trial->metrics;
    /* The highest measured DRAM bandwidth of this machine; NaN: unknown. */
    double best = NAN;
    for (size_t i = 0; i < w->input->profile->ceiling_count; i++) {
        const struct assay__ceiling_info *ceiling = &w->input->profile->ceilings[i];
        if (strncmp(ceiling->name, "bandwidth.dram.", 15) == 0 && isfinite(ceiling->value))
            best = fmax(isnan(best) ? 0 : best, ceiling->value);
    }
    double rate = w->moved / w->moved_s;
    const char *reason = w->moved_reason[0] ? w->moved_reason
                         : w->moved > 0     ? ""
                                            : "the memory controllers' counters did not move";
    if (reason[0]) {
        assay_metrics_unavailable(metrics, "memory.bandwidth.controller", reason);
        assay_metrics_unavailable(metrics, "hardware.memory_controller", reason);
        return;
    }
    assay_metrics_measured(metrics, "memory.bandwidth.controller", rate, "perf_event (uncore_imc)",
                           "read and written by the whole machine while it was measured, "
                           "not by the worker alone");
    assay__metrics_put_known(metrics, "hardware.memory_controller", ASSAY_DERIVED, rate / best,
                             "perf_event (uncore_imc)",
                             "memory.bandwidth.controller / the highest measured bandwidth of DRAM",
                             "no bandwidth ceiling of this machine's memory was measured");
}

/* --- one counter ------------------------------------------------------------------------------ */

struct total {
    double grown, completions, wall_ns, share;
    const char *source, *reason;
    bool user_only;
};

static struct total add_up(const struct assay__watcher *w, const char *name)
{
    struct total total = {.share = 1, .source = "", .reason = ""};
    for (size_t i = 0; i < w->used_count; i++) {
        const struct assay__counted *counted = &w->used[i]->counted;
        const struct assay__counted_event *event = NULL;
        for (size_t k = 0; k < counted->event_count && !event; k++)
            if (strcmp(counted->events[k].name, name) == 0) event = &counted->events[k];
        if (!event) continue;
        if (!isfinite(event->grown)) {
            if (!total.reason[0]) total.reason = event->reason;
            continue;
        }
        total.grown += event->grown;
        total.completions += (double)event->completions;
        total.wall_ns += event->wall_ns;
        if (event->share < total.share) total.share = event->share;
        total.source = event->source;
        total.user_only = event->user_only;
    }
    return total;
}

static void put_counter(struct assay__watcher *w, const struct row *row)
{
    struct assay_metrics *metrics = w->input->trial->metrics;
    struct total total = add_up(w, row->event);
    const char *reason = NULL;
    if (w->used_count == 0)
        reason = "no launch ran long enough for its counters to be read";
    else if (!(total.completions > 0))
        reason = total.reason[0] ? total.reason : "it was not counted";
    else if (row->must_move && total.grown == 0)
        reason = "it stayed at 0 while inferences ran: the counter exists but does not count, as "
                 "in some virtual machines";
    if (reason) {
        assay_metrics_unavailable(metrics, row->metric, reason);
        return;
    }
    w->user_space |= total.user_only;
    w->share = fmin(w->share, total.share);
    w->seconds = total.wall_ns * 1e-9 / total.completions;
    double value = total.grown / total.completions;
    if (total.share >= WHOLE_SHARE) {
        assay_metrics_measured(metrics, row->metric, value, total.source, "");
        return;
    }
    char note[160];
    snprintf(note, sizeof note,
             "count x enabled / running time: the counter was multiplexed and ran for %.0f %% of "
             "the time",
             100 * total.share);
    assay_metrics_derived(metrics, row->metric, value, total.source, note);
}

/* --- what follows from them ------------------------------------------------------------------- */

static const struct assay_metric *get(const struct assay__watcher *w, const char *name)
{
    return assay_metrics_get(w->input->trial->metrics, name);
}

static void put_hit_rate(struct assay__watcher *w)
{
    struct assay_metrics *metrics = w->input->trial->metrics;
    const struct assay_metric *misses = get(w, "hardware.cache_misses"),
                              *references = get(w, "hardware.cache_references");
    if (!assay__metric_is_known(misses) || !assay__metric_is_known(references))
        assay_metrics_unavailable(metrics, "cache.hit_rate",
                                  assay__metric_is_known(misses) ? references->note : misses->note);
    else if (!(references->value > 0) || misses->value > references->value)
        assay_metrics_unavailable(metrics, "cache.hit_rate",
                                  "the counts of cache references and misses contradict each "
                                  "other: more misses than references, or none at all");
    else
        assay_metrics_derived(metrics, "cache.hit_rate", 1 - misses->value / references->value,
                              references->source,
                              "1 - hardware.cache_misses / hardware.cache_references (of the last "
                              "level; on Arm of the first-level data cache)");
}

static void put_bandwidth(struct assay__watcher *w)
{
    struct assay_metrics *metrics = w->input->trial->metrics;
    const struct assay_metric *misses = get(w, "hardware.llc_load_misses");
    double line = (double)assay__cache_line_bytes();
    char note[200];
    if (!assay__metric_is_known(misses)) {
        assay_metrics_unavailable(metrics, "memory.bandwidth.llc", misses->note);
        return;
    }
    snprintf(
        note, sizeof note,
        "hardware.llc_load_misses x %.0f B / time of an inference while counted: a lower bound, "
        "since prefetches and writes may not be counted",
        line);
    assay_metrics_derived(metrics, "memory.bandwidth.llc", misses->value * line / w->seconds,
                          misses->source, note);
}

static void put_derived(struct assay__watcher *w)
{
    struct assay_metrics *metrics = w->input->trial->metrics;
    assay_metrics_ratio(metrics, "hardware.ipc", get(w, "hardware.instructions"),
                        get(w, "hardware.cycles"), "hardware.instructions / hardware.cycles");
    assay_metrics_ratio(metrics, "hardware.branch_miss_rate", get(w, "hardware.branch_misses"),
                        get(w, "hardware.branches"), "hardware.branch_misses / hardware.branches");
    if (isfinite(w->seconds))
        assay_metrics_measured(metrics, "hardware.elapsed", w->seconds, "clock",
                               "wall time of the counted slices / inferences in them: the basis of "
                               "counts per second and CPUs; the latency comes from other windows");
    const struct assay_metric *clock = get(w, "hardware.task_clock");
    if (assay__metric_is_known(clock))
        assay_metrics_derived(
            metrics, "hardware.cpus_busy", clock->value / w->seconds, clock->source,
            "hardware.task_clock / hardware.elapsed, both from the counted slices");
    else
        assay_metrics_unavailable(metrics, "hardware.cpus_busy", clock->note);
    put_hit_rate(w);
    /* Only if cycles and CPU time cover the same: the kernel's part is in both, or in neither. */
    const struct assay_metric *cycles = get(w, "hardware.cycles");
    clock = get(w, "hardware.task_clock");
    if (assay__metric_is_known(cycles) && assay__metric_is_known(clock) && !w->user_space)
        assay_metrics_derived(metrics, "hardware.frequency", cycles->value / clock->value,
                              cycles->source,
                              "hardware.cycles / hardware.task_clock: while the worker ran");
    put_bandwidth(w);
    put_controllers(w);
    double on = 0, off = 0;
    for (size_t i = 0; i < w->used_count; i++) {
        on += w->used[i]->counted.on_ns;
        off += w->used[i]->counted.off_ns;
    }
    assay__metrics_put_known(metrics, "overhead.counters", ASSAY_MEASURED,
                             on > 0 && off > 0 ? on / off : (double)NAN, "clock",
                             "median of slices with the counters on / off, alternating; the "
                             "latency was measured with them off",
                             "slices with and without counters were not both timed");
}

/* --- classes of layers ------------------------------------------------------------------------ */

/* All layers of one operator are a class. Its value is the sum over its layers in one launch, and
 * the mean of that over the launches that know it; its time is that of the trial's layers. Classes
 * are ordered by time, longest first. A layer without a value (its time is in another layer) adds
 * nothing. */
struct classes {
    struct assay__class_counters *items;
    size_t count, counters;
    struct assay__map *index; /* operator -> item */
    double *sums;             /* of one launch: count x counters */
    double *launches;         /* that know it: count x counters */
};

static int gather_classes(struct classes *c, const struct assay__layers *layers,
                          struct assay__arena *arena)
{
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        size_t at = assay__map_get(c->index, layer->op);
        if (at == ASSAY__MAP_NONE) {
            at = c->count;
            if (assay__map_set(c->index, layer->op, at)) return ASSAY_ENOMEM;
            struct assay__class_counters *item = &c->items[c->count++];
            *item = (struct assay__class_counters){.op = layer->op, .time_ns = NAN};
            item->values = assay__arena_array(arena, c->counters, sizeof *item->values);
            if (!item->values) return ASSAY_ENOMEM;
        }
        struct assay__class_counters *item = &c->items[at];
        item->layers++;
        if (isfinite(layer->time_ns))
            item->time_ns = isnan(item->time_ns) ? layer->time_ns : item->time_ns + layer->time_ns;
    }
    return 0;
}

/* NaN in sums: this launch has no value for it. */
static void add_launch(struct classes *c, const struct assay__layers *layers)
{
    for (size_t i = 0; i < c->count * c->counters; i++)
        c->sums[i] = NAN;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        size_t at = assay__map_get(c->index, layer->op);
        if (at == ASSAY__MAP_NONE || !layer->counters) continue;
        for (size_t k = 0; k < c->counters; k++) {
            double *sum = &c->sums[at * c->counters + k];
            if (isfinite(layer->counters[k]))
                *sum = isnan(*sum) ? layer->counters[k] : *sum + layer->counters[k];
        }
    }
    for (size_t i = 0; i < c->count * c->counters; i++) {
        if (!isfinite(c->sums[i])) continue;
        c->items[i / c->counters].values[i % c->counters] += c->sums[i];
        c->launches[i]++;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct assay__class_counters *x = a, *y = b;
    double s = isnan(x->time_ns) ? -1 : x->time_ns, t = isnan(y->time_ns) ? -1 : y->time_ns;
    return s < t ? 1 : s > t ? -1 : 0;
}

static int fill_classes(struct classes *c, const struct assay__trial_input *input,
                        const struct assay__outcome *const *used, size_t used_count)
{
    const struct assay__layers *layers = &input->trial->layers;
    struct assay__arena *arena = input->profile->arena;
    c->items = assay__arena_array(arena, layers->count, sizeof *c->items);
    c->index = assay__map_new();
    if (!c->items || !c->index || gather_classes(c, layers, arena)) return ASSAY_ENOMEM;
    c->sums = calloc(c->count * c->counters + 1, sizeof *c->sums);
    c->launches = calloc(c->count * c->counters + 1, sizeof *c->launches);
    if (!c->sums || !c->launches) return ASSAY_ENOMEM;
    bool any = false;
    for (size_t i = 0; i < used_count; i++)
        if (used[i]->counted.layer_event_count == c->counters) add_launch(c, &used[i]->layers);
    for (size_t i = 0; i < c->count * c->counters; i++) {
        double *value = &c->items[i / c->counters].values[i % c->counters];
        /* Below 0: the value is smaller than the cost of the readings themselves, or its
         * variation. */
        *value = c->launches[i] > 0 && *value >= 0 ? *value / c->launches[i] : NAN;
        any |= c->launches[i] > 0;
    }
    qsort(c->items, c->count, sizeof *c->items, by_time);
    input->trial->class_counters = any ? c->items : NULL;
    input->trial->class_counter_count = any ? c->count : 0;
    return 0;
}

static const char *explain_classes(const struct assay__trial *trial,
                                   const struct assay__outcome *const *used, size_t used_count)
{
    for (size_t i = 0; i < used_count; i++)
        if (used[i]->counted.layer_note && used[i]->counted.layer_note[0])
            return used[i]->counted.layer_note;
    if (trial->class_counter_count) return "";
    if (used_count == 0) return "no launch ran long enough for its counters to be read";
    if (trial->layers.count == 0)
        return trial->layers.reason && trial->layers.reason[0] ? trial->layers.reason
                                                               : "layers were not timed";
    return trial->counter_count ? "this engine does not read counters per layer"
                                : "no counter can be read on this machine";
}

static int put_classes(const struct assay__trial_input *input,
                       const struct assay__outcome *const *used, size_t used_count)
{
    struct assay__trial *trial = input->trial;
    const struct assay__counted *lead = used_count ? &used[0]->counted : NULL;
    struct classes c = {.counters = lead ? lead->layer_event_count : 0};
    trial->counter_count = c.counters;
    trial->counter_names = assay__arena_array(input->profile->arena, c.counters + 1,
                                              sizeof *trial->counter_names);
    if (!trial->counter_names) return ASSAY_ENOMEM;
    for (size_t i = 0; i < c.counters; i++)
        trial->counter_names[i] = lead->events[lead->layer_events[i]].name;
    int code = c.counters && trial->layers.count ? fill_classes(&c, input, used, used_count) : 0;
    if (code == 0) trial->class_counter_note = explain_classes(trial, used, used_count);
    assay__map_free(c.index);
    free(c.sums);
    free(c.launches);
    return code;
}

static int put_counters(struct assay__watcher *w, const struct assay__trial_input *input,
                        struct assay_error *error)
{
    const size_t most = sizeof w->used / sizeof w->used[0];
    w->input = input;
    w->share = w->seconds = NAN;
    for (size_t i = 0; i < input->outcome_count && w->used_count < most; i++)
        if (input->outcomes[i].counted.known) w->used[w->used_count++] = &input->outcomes[i];
    for (size_t i = 0; i < ROWS; i++)
        put_counter(w, &rows[i]);
    int code = assay_metrics_failed(input->trial->metrics);
    if (code == 0) put_derived(w); /* it reads what was put before */
    if (code == 0) code = assay_metrics_failed(input->trial->metrics);
    if (code == 0) code = put_classes(input, w->used, w->used_count);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}

static void free_watcher(struct assay__watcher *watcher)
{
    if (watcher && watcher->controllers) watcher->uncore->close(watcher->controllers);
    if (watcher) assay__arena_free(watcher->arena);
    free(watcher);
}

const struct assay__watcher_ops assay__watch_counters = {
    .name = "counters",
    .wanted = wanted,
    .begin = open_controllers,
    .window_begins = window_begins,
    .window_ends = window_ends,
    .finish = put_counters,
    .free = free_watcher,
};
