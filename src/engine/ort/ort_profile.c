/* ort_profile.c - layer times from ONNX Runtime's own profiler.
 *
 * A session with the profiler on runs a few times and writes a JSON array of events. Those of
 * category "Node" whose name ends in "_kernel_time" give the time of a node: {"name":
 * "<node>_kernel_time", "dur": whole µs, "args": {"op_name", "provider"}}.
 *
 * On the CPU the saved optimised model is profiled with every node of the main graph renamed, so
 * that events can be matched to nodes unambiguously (nodes may have no name, and bodies of If and
 * Loop repeat names). Elsewhere the original model is profiled and the rows are the names in the
 * profile.
 *
 * A layer's time is its mean over the runs in the middle of the order by total time, as with
 * markers: in a mean over all runs one disturbed run counts as much as ten others, and a median of
 * whole µs would be 0 for small nodes. What does not run exactly once per run has only the mean
 * over all.
 *
 * Limits: the profiler slows down small models by a factor of 7 to 20 and rounds to whole µs; the
 * slow-down is reported. On providers other than the CPU the events contain the time that the host
 * took to enqueue the work, not the time of the work. */
#include "engine/ort/ort_layers.h"

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARM_RUNS 3
#define EVENTS_MOST 200000 /* the profiler stops at a million */

struct row {
    const char *name, *op, *provider;
    double *us; /* of every event, including those of the warm-up */
    size_t count;
};

struct profile {
    struct assay__layer_work *work;
    struct assay__map *index; /* name -> row */
    struct row *rows;
    size_t row_count;
    size_t runs;                       /* without the warm-up */
    struct assay__ranked_run *central; /* those in the middle; NULL: unknown */
    size_t central_count;
};

struct event {
    const char *name, *category, *op, *provider;
    double duration_us;
};

/* --- reading ---------------------------------------------------------------------------------- */

static int add_event(struct profile *profile, const struct event *event, struct assay_error *error)
{
    static const char ending[] = "_kernel_time";
    size_t length = strlen(event->name), cut = sizeof ending - 1;
    if (strcmp(event->category, "Node") != 0 || length <= cut ||
        strcmp(event->name + length - cut, ending) != 0)
        return 0;
    if (!(event->duration_us >= 0)) return 0;
    struct assay__arena *arena = profile->work->arena;
    char *name = assay__arena_strndup(arena, event->name, length - cut);
    if (!name) return assay__no_memory(error);
    size_t at = assay__map_get(profile->index, name);
    if (at == ASSAY__MAP_NONE) {
        struct row *rows = assay__arena_grow(arena, profile->rows, profile->row_count,
                                             sizeof *rows);
        if (!rows) return assay__no_memory(error);
        profile->rows = rows;
        at = profile->row_count++;
        profile->rows[at] = (struct row){.name = name,
                                         .op = assay__arena_strdup(arena, event->op),
                                         .provider = assay__arena_strdup(arena, event->provider)};
        if (!profile->rows[at].op || !profile->rows[at].provider ||
            assay__map_set(profile->index, name, at))
            return assay__no_memory(error);
    }
    struct row *row = &profile->rows[at];
    double *us = assay__arena_grow(arena, row->us, row->count, sizeof *us);
    if (!us) return assay__no_memory(error);
    row->us = us;
    us[row->count++] = event->duration_us;
    return 0;
}

/** The members of an object whose opening brace was read. "args" is read by one recursive call. */
static int read_members(struct assay__json_reader *reader, struct assay__arena *arena,
                        struct event *event, bool args, struct assay_error *error)
{
    for (;;) {
        struct assay__json_token key, value;
        int code = assay__json_next(reader, &key, error);
        if (code || key.kind == ASSAY__JSON_OBJECT_END) return code;
        const char *name = assay__json_unescape(arena, &key);
        if (!name) return assay__no_memory(error);
        if ((code = assay__json_next(reader, &value, error))) return code;
        const char **place = !args && strcmp(name, "name") == 0      ? &event->name
                             : !args && strcmp(name, "cat") == 0     ? &event->category
                             : args && strcmp(name, "op_name") == 0  ? &event->op
                             : args && strcmp(name, "provider") == 0 ? &event->provider
                                                                     : NULL;
        if (place && value.kind == ASSAY__JSON_STRING)
            code = (*place = assay__json_unescape(arena, &value)) ? 0 : assay__no_memory(error);
        else if (!args && strcmp(name, "dur") == 0 && value.kind == ASSAY__JSON_NUMBER)
            event->duration_us = value.number;
        else if (!args && strcmp(name, "args") == 0 && value.kind == ASSAY__JSON_OBJECT)
            code = read_members(reader, arena, event, true, error);
        else if (value.kind == ASSAY__JSON_OBJECT || value.kind == ASSAY__JSON_ARRAY)
            code = assay__json_skip(reader, &value, error);
        if (code) return code;
    }
}

static int read_profile(struct profile *profile, const char *path, struct assay_error *error)
{
    struct assay__mapping mapping = {0};
    struct assay__json_token token;
    int code = assay__file_map(path, &mapping, error);
    if (code) return code;
    struct assay__json_reader *reader = assay__json_reader_new((const char *)mapping.data,
                                                               mapping.size);
    code = reader ? assay__json_next(reader, &token, error) : assay__no_memory(error);
    if (!code && token.kind != ASSAY__JSON_ARRAY)
        code = assay_error_set(error, ASSAY_EFORMAT, "the engine's profile is not a list");
    while (!code) {
        code = assay__json_next(reader, &token, error);
        if (code || token.kind == ASSAY__JSON_ARRAY_END) break;
        struct event event = {
            .name = "", .category = "", .op = "", .provider = "", .duration_us = NAN};
        struct assay__arena *arena = assay__arena_new();
        if (!arena)
            code = assay__no_memory(error);
        else if (token.kind != ASSAY__JSON_OBJECT)
            code = assay_error_set(error, ASSAY_EFORMAT, "an event that is not an object");
        if (!code) code = read_members(reader, arena, &event, false, error);
        if (!code) code = add_event(profile, &event, error);
        assay__arena_free(arena);
    }
    assay__json_reader_free(reader);
    assay__file_unmap(&mapping);
    return code;
}

/* --- running ---------------------------------------------------------------------------------- */

static size_t run_count(const struct assay__layer_work *work, double plain_ns)
{
    double by_time = 0.25 * work->budget_s * 1e9 / plain_ns;
    double by_events = work->layer_count ? (double)EVENTS_MOST / (double)work->layer_count : 100;
    double runs = fmin(fmin(by_time, by_events), 100);
    return runs < 5 ? 5 : (size_t)runs;
}

static int run_profiled(struct profile *profile, const char *model_path, int optimization,
                        struct assay_error *error)
{
    struct assay__layer_work *work = profile->work;
    char prefix[ASSAY__LAYERS_PATH], path[ASSAY__LAYERS_PATH];
    struct assay__timed plain = {0}, timed = {0};
    double plain_ns = NAN, profiled_ns = NAN;
    size_t runs = 5;
    int code = assay__timed_borrow(work->session, &plain, error);
    if (!code) code = assay__timed_median(&plain, 2, 5, &plain_ns, error);
    if (!code) {
        runs = run_count(work, plain_ns);
        code = assay__timed_median(&plain, 2, runs, &plain_ns, error);
    }
    if (!code && assay__path_join(work->folder, "profile", prefix, sizeof prefix))
        code = assay_error_set(error, ASSAY_ELIMIT, "the path of the engine's profile is too long");
    struct assay__timed_options options = {
        .path = model_path, .optimization = optimization, .profile_prefix = prefix};
    if (!code) code = assay__timed_open(work->session, &options, &timed, error);
    if (!code) code = assay__timed_median(&timed, WARM_RUNS, runs, &profiled_ns, error);
    if (!code)
        code = assay__ort_end_profile(work->session, timed.session, path, sizeof path, error);
    assay__timed_close(&timed);
    assay__timed_close(&plain);
    if (!code) code = read_profile(profile, path, error);
    work->result->slowdown = profiled_ns / plain_ns;
    work->result->sessions = 1;
    profile->runs = runs;
    return code;
}

/* --- the result ------------------------------------------------------------------------------- */

static bool once_per_run(const struct profile *profile, const struct row *row)
{
    return row->count == WARM_RUNS + profile->runs;
}

/* The runs in the middle, by the total of what ran once in each. */
static int find_central(struct profile *profile, struct assay_error *error)
{
    size_t first, found = 0;
    double *totals = assay__arena_array(profile->work->arena, profile->runs + 1, sizeof *totals);
    if (!totals) return assay__no_memory(error);
    for (size_t r = 0; r < profile->row_count; r++) {
        if (!once_per_run(profile, &profile->rows[r])) continue;
        for (size_t i = 0; i < profile->runs; i++)
            totals[i] += profile->rows[r].us[WARM_RUNS + i];
        found++;
    }
    if (!found) return 0;
    struct assay__ranked_run *order = assay__layers_rank(totals, profile->runs, &first,
                                                         &profile->central_count);
    if (!order) return assay__no_memory(error);
    memmove(order, order + first, profile->central_count * sizeof *order);
    profile->central = order;
    return 0;
}

static double time_of(const struct profile *profile, const struct row *row)
{
    double sum = 0;
    if (profile->central && once_per_run(profile, row))
        return 1000 *
               assay__layers_mean(profile->central, profile->central_count, row->us + WARM_RUNS, 1);
    for (size_t i = WARM_RUNS; i < row->count; i++)
        sum += row->us[i];
    return row->count > WARM_RUNS ? 1000 * sum / (double)(row->count - WARM_RUNS) : (double)NAN;
}

static void fill_time(const struct profile *profile, struct assay__layer *layer,
                      const struct row *row)
{
    double time_ns = time_of(profile, row);
    layer->provider = row->provider;
    if (strcmp(row->provider, ASSAY__ORT_CPU) == 0) {
        layer->time_ns = time_ns;
        layer->state = isnan(time_ns) ? ASSAY_UNAVAILABLE : ASSAY_MEASURED;
        layer->note = once_per_run(profile, row)
                          ? "ONNX Runtime's profiler: whole µs, its own cost included"
                          : "ONNX Runtime's profiler: whole µs, its own cost included; mean of all "
                            "runs";
    } else {
        layer->host_enqueue_ns = time_ns;
        layer->note = "only the time that the host took to enqueue the work is known; device times "
                      "need a device timeline";
    }
}

/** Rows have our names: row -> node. Others are inside bodies, and part of their If, Loop or
 *  Scan. */
static int fill_by_number(struct profile *profile, struct assay_error *error)
{
    struct assay__layer_work *work = profile->work;
    bool *placed = assay__arena_array(work->arena, work->layer_count + 1, sizeof *placed);
    work->order = assay__arena_array(work->arena, work->layer_count + 1, sizeof *work->order);
    if (!placed || !work->order) return assay__no_memory(error);
    size_t next = 0;
    for (size_t r = 0; r < profile->row_count; r++) {
        size_t node = assay__layers_named(work, profile->rows[r].name);
        if (node == SIZE_MAX || placed[node]) continue;
        fill_time(profile, &work->layers[node], &profile->rows[r]);
        placed[node] = true;
        work->order[next++] = node;
    }
    for (size_t i = 0; i < work->layer_count; i++) {
        if (placed[i]) continue;
        work->layers[i].note = "not in ONNX Runtime's profile";
        work->order[next++] = i;
    }
    return 0;
}

static int fill_by_name(struct profile *profile, struct assay_error *error)
{
    struct assay__layer_work *work = profile->work;
    struct assay__layer *layers = assay__arena_array(work->arena, profile->row_count + 1,
                                                     sizeof *layers);
    struct assay__map *known = assay__map_new();
    int code = layers && known ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < work->layer_count; i++)
        code = assay__map_set(known, work->layers[i].name, i);
    for (size_t r = 0; !code && r < profile->row_count; r++) {
        struct assay__layer *layer = &layers[r];
        size_t at = assay__map_get(known, profile->rows[r].name);
        *layer = assay__layer_unknown();
        layer->name = profile->rows[r].name;
        layer->op = profile->rows[r].op;
        if (at != ASSAY__MAP_NONE) {
            const struct assay__layer *node = &work->layers[at];
            layer->from = node->from;
            layer->from_count = node->from_count;
            layer->reads = node->reads;
            layer->read_count = node->read_count;
            layer->makes = node->makes;
            layer->make_count = node->make_count;
        }
        fill_time(profile, layer, &profile->rows[r]);
    }
    assay__map_free(known);
    if (code) return assay_error_set(error, code, "out of memory for layers");
    work->layers = layers;
    work->layer_count = profile->row_count;
    work->order = NULL;
    return 0;
}

int assay__layers_profile(struct assay__layer_work *work, struct assay_error *error)
{
    struct profile profile = {.work = work, .index = assay__map_new()};
    char path[ASSAY__LAYERS_PATH] = "";
    bool cpu = !work->session->provider || strcmp(work->session->provider, ASSAY__ORT_CPU) == 0;
    bool named = cpu && work->optimized;
    int code = profile.index ? 0 : assay__no_memory(error);
    if (!code && !work->folder[0])
        code = assay__folder_temporary(work->folder, sizeof work->folder, error);
    if (!code && named) code = assay__layers_write_named(work, path, error);
    if (!code)
        code = run_profiled(&profile, named ? path : work->session->model_path,
                            named ? ASSAY__ORT_OPT_NONE : work->session->optimization, error);
    if (!code && profile.row_count == 0)
        code = assay_error_set(error, ASSAY_EENGINE, "the engine's profile has no nodes");
    if (!code) code = find_central(&profile, error);
    if (!code) code = named ? fill_by_number(&profile, error) : fill_by_name(&profile, error);
    if (!code) {
        work->result->method = "engine";
        assay__layers_say(work,
                          "ONNX Runtime's profiler made the run %.2f times as long; the fixed cost "
                          "of a run cannot be separated.",
                          work->result->slowdown);
    }
    assay__layers_unlink(path);
    free(profile.central);
    assay__map_free(profile.index);
    return code;
}
