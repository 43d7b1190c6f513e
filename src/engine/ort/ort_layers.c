/* ort_layers.c - layer times of the ort engine: the choice of the method, the model that ONNX
 * Runtime actually runs, and the result.
 *
 * The model under test is opened once more with the same options and saved after optimisation; the
 * methods work on that file with optimisation off, so that what they time is what the unprofiled
 * session runs. Files go to a private folder. When the model keeps weights in separate files, the
 * saved model refers to them, and ONNX Runtime expects them in the model's folder: they are linked
 * into ours, or, if links cannot be created, our files are written next to the model and removed
 * afterwards. */
#include "engine/ort/ort_markers.h"

#include "base/clock.h"
#include "base/file.h"
#include "engine/engine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OPTIMIZED_FILE "optimized.onnx"
#define WEIGHTS_FILE "optimized.weights"
#define WEIGHTS_APART 16000000 /* bytes: below this, copies of the weights cost nothing */

/* --- helpers for the methods ------------------------------------------------------------------ */

void assay__layers_say(struct assay__layer_work *work, const char *format, ...)
{
    va_list args;
    if (work->reason.length) assay__buf_putc(&work->reason, ' ');
    va_start(args, format);
    assay__buf_vprintf(&work->reason, format, args);
    va_end(args);
    /* an engine's message may have ended the sentence already */
    const char *end = work->reason.data ? work->reason.data + work->reason.length : "";
    if (work->reason.length > 2 && end[-1] == '.' && end[-2] == '.' && end[-3] != '.')
        work->reason.data[--work->reason.length] = '\0';
}

double assay__layers_elapsed_s(const struct assay__layer_work *work)
{
    return (double)(assay__now_ns() - work->start_ns) * 1e-9;
}

int assay__layers_path(struct assay__layer_work *work, const char *name, char *out, size_t out_size,
                       struct assay_error *error)
{
    char own[256];
    snprintf(own, sizeof own, ".assay-%ld-%s", (long)getpid(), name);
    int code = work->beside[0] ? assay__path_join(work->beside, own, out, out_size)
                               : assay__path_join(work->folder, name, out, out_size);
    return code ? assay_error_set(error, code, "the path of a file is too long") : 0;
}

void assay__layers_unlink(const char *path)
{
    if (path[0]) unlink(path);
}

#define OWN_NAME "assay.node."

int assay__layers_write_named(struct assay__layer_work *work, char *path, struct assay_error *error)
{
    struct assay__model *model = NULL;
    int code = assay__layers_path(work, "named.onnx", path, ASSAY__LAYERS_PATH, error);
    if (!code) code = assay__model_read(work->optimized_path, &model, error);
    for (size_t i = 0; !code && i < model->graph.node_count; i++)
        model->graph.nodes[i].name = assay__arena_printf(model->arena, OWN_NAME "%zu", i);
    if (!code && assay__arena_failed(model->arena)) code = assay__no_memory(error);
    if (!code) code = assay__model_write(model, path, error);
    assay__model_free(model);
    return code;
}

size_t assay__layers_named(const struct assay__layer_work *work, const char *name)
{
    if (strncmp(name, OWN_NAME, sizeof OWN_NAME - 1) != 0) return SIZE_MAX;
    size_t at = (size_t)strtoull(name + sizeof OWN_NAME - 1, NULL, 10);
    return at < work->layer_count ? at : SIZE_MAX;
}

const char *assay__layers_node_name(const struct assay__node *node)
{
    if (node->name[0]) return node->name;
    return node->output_count ? node->outputs[0] : "";
}

/* --- the model that actually runs ------------------------------------------------------------- */

/** Links the files that contain weights into our folder, or has our files written next to the
 *  model. */
static int place_files(struct assay__layer_work *work, struct assay_error *error)
{
    const struct assay__graph *graph = &work->original->graph;
    char from[ASSAY__LAYERS_PATH], to[ASSAY__LAYERS_PATH];
    bool linked = true;
    for (size_t i = 0; i < graph->initializer_count && linked; i++) {
        const struct assay__tensor *tensor = &graph->initializers[i];
        if (!tensor->external) continue;
        linked = !strchr(tensor->location, '/') &&
                 !assay__path_join(work->original->folder, tensor->location, from, sizeof from) &&
                 !assay__path_join(work->folder, tensor->location, to, sizeof to) &&
                 (assay__file_exists(to) || link(from, to) == 0);
    }
    if (linked) return 0;
    int code = assay__path_folder(work->session->model_path, work->beside, sizeof work->beside);
    if (code) return assay_error_set(error, code, "the model's path is too long");
    if (access(work->beside, W_OK) == 0) return 0;
    work->beside[0] = '\0';
    return assay_error_set(error, ASSAY_EDENIED,
                           "the model's weights are in separate files that cannot be linked, and "
                           "its folder is not writable");
}

/** The layers of the optimised graph, with those of its bodies or without them. */
static int list_layers(struct assay__layer_work *work, bool bodies, struct assay_error *error)
{
    struct assay__flat original;
    /* random numbers in a body determine how often it runs: one layer */
    bodies = bodies && !work->random;
    int code = assay__flat_make(&work->optimized->graph, bodies, work->arena, &work->flat);
    if (!code) code = assay__flat_make(&work->original->graph, bodies, work->arena, &original);
    if (code) return assay__no_memory(error);
    const struct assay__graph *graph = &work->flat.graph;
    work->layer_count = graph->node_count;
    work->layers = assay__arena_array(work->arena, graph->node_count + 1, sizeof *work->layers);
    if (!work->layers) return assay__no_memory(error);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__layer *layer = &work->layers[i];
        *layer = assay__layer_unknown();
        layer->name = assay__arena_strdup(work->arena, assay__layers_node_name(&graph->nodes[i]));
        layer->op = assay__arena_strdup(work->arena, graph->nodes[i].op);
        layer->provider = ASSAY__ORT_CPU;
    }
    work->order = NULL;
    work->ran = NULL;
    code = assay__layers_origin(&original, &work->flat, work->arena, work->layers);
    if (!code) code = assay__layers_wires(&work->flat, bodies, work->arena, work->layers);
    return code || assay__arena_failed(work->arena) ? assay__no_memory(error) : 0;
}

/** The optimised model as an earlier launch kept it; else ONNX Runtime saves it, and it is kept.
 *  Weights are linked first: where the model is, they are too. */
static int get_optimized(struct assay__layer_work *work, struct assay_error *error)
{
    struct assay__timed timed = {0};
    struct assay__timed_options options = {.path = work->session->model_path,
                                           .optimization = work->session->optimization,
                                           .save_path = work->optimized_path,
                                           .weights_name = work->weights_path[0] ? WEIGHTS_FILE
                                                                                 : NULL};
    char kept[ASSAY__LAYERS_PATH], kept_weights[ASSAY__LAYERS_PATH];
    bool keeps = work->keep && !work->beside[0] &&
                 !assay__path_join(work->keep, OPTIMIZED_FILE, kept, sizeof kept) &&
                 !assay__path_join(work->keep, WEIGHTS_FILE, kept_weights, sizeof kept_weights);
    bool apart = options.weights_name != NULL;
    if (keeps && (!apart || link(kept_weights, work->weights_path) == 0) &&
        link(kept, work->optimized_path) == 0)
        return 0;
    assay__layers_unlink(work->weights_path);
    int code = assay__timed_open(work->session, &options, &timed, error);
    assay__timed_close(&timed);
    if (!code && keeps && (!apart || link(work->weights_path, kept_weights) == 0))
        (void)!link(work->optimized_path, kept); /* else the next launch saves it again */
    return code;
}

int assay__layers_prepare(struct assay__layer_work *work, bool bodies, struct assay_error *error)
{
    int64_t elements = 0, bytes = 0;
    int code = assay__model_read(work->session->model_path, &work->original, error);
    if (!code) code = assay__folder_temporary(work->folder, sizeof work->folder, error);
    if (!code) code = place_files(work, error);
    if (!code)
        code = assay__layers_path(work, OPTIMIZED_FILE, work->optimized_path,
                                  sizeof work->optimized_path, error);
    if (!code && assay__model_parameters(work->original, &elements, &bytes) &&
        bytes > WEIGHTS_APART && !work->beside[0])
        code = assay__layers_path(work, WEIGHTS_FILE, work->weights_path, sizeof work->weights_path,
                                  error);
    if (!code) code = get_optimized(work, error);
    if (!code) code = assay__model_read(work->optimized_path, &work->optimized, error);
    if (code) return code;
    work->random = assay__graph_is_random(&work->optimized->graph);
    return list_layers(work, bodies, error);
}

static struct assay__layers no_layers(void)
{
    struct assay__layers none = assay__layers_unknown();
    none.method = "off";
    return none;
}

/* --- the result ------------------------------------------------------------------------------- */

bool assay__layers_runs_on(const struct assay__session *session, const char *provider)
{
    return strcmp(session->provider ? session->provider : ASSAY__ORT_CPU, provider) == 0;
}

/** The engine's own profile after markers failed, for the reason in the error. */
static int fall_back(struct assay__layer_work *work, const char *what, struct assay_error *error)
{
    struct assay_error why = error ? *error : (struct assay_error){0};
    /* Undoes what a method that failed half-way has written to the layers. */
    if (work->optimized && list_layers(work, false, error)) return ASSAY_ENOMEM;
    *work->result = no_layers();
    assay__layers_say(work, "%s: %s.", what, why.message);
    return assay__layers_profile(work, error);
}

static int run_method(struct assay__layer_work *work, enum assay_layer_method method,
                      struct assay_error *error)
{
    bool cpu = assay__layers_runs_on(work->session, ASSAY__ORT_CPU),
         cuda = assay__layers_runs_on(work->session, ASSAY__ORT_CUDA);
    if (cuda && (method == ASSAY_LAYERS_MARKERS || method == ASSAY_LAYERS_AUTO)) {
        int code = assay__layers_prepare(work, false, error);
        if (!code) code = assay__layers_kernels(work, error);
        if (!code || method == ASSAY_LAYERS_MARKERS) return code;
        return fall_back(work, "The GPU's own times are unknown", error);
    }
    if (method == ASSAY_LAYERS_MARKERS && !cpu)
        return assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "markers time layers of the CPU and CUDA providers only; this session runs on %s",
            work->session->provider);
    if (method == ASSAY_LAYERS_ENGINE || (method == ASSAY_LAYERS_AUTO && !cpu)) {
        /* The profile works without the optimised model; only the origins are lost. */
        struct assay_error ignored = {0};
        if (assay__layers_prepare(work, false, &ignored))
            assay__layers_say(work, "The origin of fused layers is unknown: %s.", ignored.message);
        return assay__layers_profile(work, error);
    }
    int code = assay__layers_prepare(work, method != ASSAY_LAYERS_ISOLATED, error);
    if (method == ASSAY_LAYERS_ISOLATED) return code ? code : assay__layers_isolated(work, error);
    if (!code) code = assay__layers_markers(work, error);
    if (!code || method == ASSAY_LAYERS_MARKERS) return code;
    return fall_back(work, "Markers could not be used", error);
}

static void work_free(struct assay__layer_work *work)
{
    if (!work) return;
    assay__marking_free(work->marking);
    assay__model_free(work->optimized);
    assay__model_free(work->original);
    assay__layers_unlink(work->optimized_path);
    assay__layers_unlink(work->weights_path);
    if (work->folder[0]) assay__folder_remove(work->folder);
    assay__buf_free(&work->reason);
    free(work);
}

void assay__ort_layers_free(struct assay__session *session)
{
    work_free(session->layer_work);
    session->layer_work = NULL;
    assay__arena_free(session->layer_arena);
    session->layer_arena = NULL;
}

int assay__layers_work(struct assay__session *session, const struct assay__layer_options *options,
                       struct assay__layer_work **made, struct assay_error *error)
{
    assay__ort_layers_free(session);
    session->layer_arena = assay__arena_new();
    struct assay__layer_work *work = session->layer_arena ? calloc(1, sizeof *work) : NULL;
    *made = work;
    if (!work) return assay__no_memory(error);
    double latency_ns = options->latency_ns > 0 ? options->latency_ns : NAN;
    double budget_s = options->budget_s > 0 ? options->budget_s : latency_ns < 1e6 ? 2 : 10;
    work->session = session;
    work->arena = session->layer_arena;
    work->latency_ns = latency_ns;
    work->counters = assay__layer_counters(options);
    work->keep = assay__layer_keep(options);
    work->budget_s = budget_s * 0.9; /* the block in progress when time is up is finished */
    work->start_ns = assay__now_ns();
    session->layer_work = work;
    return 0;
}

int assay__ort_layers_begin(struct assay__session *session,
                            const struct assay__layer_options *options, struct assay_error *error)
{
    bool markers = options->method == ASSAY_LAYERS_MARKERS || options->method == ASSAY_LAYERS_AUTO;
    if (!markers || !assay__layers_runs_on(session, ASSAY__ORT_CPU) || session->stream_count > 1 ||
        session->generation)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "no markers alternate with this session");
    struct assay__layer_work *work;
    int code = assay__layers_work(session, options, &work, error);
    if (!code) code = assay__layers_prepare(work, true, error);
    if (!code) code = assay__marking_open(work, true, &work->marking, error);
    if (code) assay__ort_layers_free(session);
    return code;
}

int assay__ort_layers_block(struct assay__session *session, double seconds, double *total_ns,
                            struct assay_error *error)
{
    int code = assay__marking_block(session->layer_work->marking, seconds, error);
    *total_ns = assay__marking_total_ns(session->layer_work->marking);
    return code;
}

void assay__ort_layers_drop(struct assay__session *session)
{
    assay__marking_drop(session->layer_work->marking);
}

int assay__ort_layers(struct assay__session *session, const struct assay__layer_options *options,
                      struct assay__layers *result, struct assay_error *error)
{
    struct assay_error own = {0};
    *result = no_layers();
    if (options->method == ASSAY_LAYERS_OFF) return 0;
    bool begun = session->layer_work != NULL; /* its blocks have been run */
    struct assay__layer_work *work = session->layer_work;
    int code = begun ? 0 : assay__layers_work(session, options, &work, error);
    if (code) return code;
    work->result = result;
    work->counters = assay__layer_counters(options);
    if (options->latency_ns > 0) work->latency_ns = options->latency_ns;
    code = begun ? assay__marking_conclude(work->marking, &own)
                 : run_method(work, options->method, &own);
    if (!code && work->counters && !result->counter_note)
        result->counter_note =
            "layer counters are read only by markers, but these layers were timed in another way";
    struct assay__layer *ordered = assay__arena_array(work->arena, work->layer_count + 1,
                                                      sizeof *ordered);
    result->count = 0;
    for (size_t i = 0; !code && ordered && i < work->layer_count; i++) {
        size_t at = work->order ? work->order[i] : i;
        if (!work->ran || work->ran[at]) ordered[result->count++] = work->layers[at];
    }
    result->items = ordered;
    result->reason = assay__arena_text(work->arena, "%s", assay__buf_text(&work->reason));
    if (!code && (assay__arena_failed(work->arena) || work->reason.failed))
        code = assay__no_memory(&own);
    if (code) {
        *result = no_layers();
        if (error) *error = own;
    }
    work_free(work);
    session->layer_work = NULL;
    return code;
}
