/* ort.c - ONNX Runtime as an engine: opens a model, runs it, reports facts about the session.
 *
 * What a step is: one Run() with inputs in host memory that were turned into values once, outputs
 * allocated by the library in host memory, and the release of the previous step's outputs: what a
 * plain C loop around Run() does. Nothing of ours allocates in it. Execution is sequential (one
 * operator at a time, each on the intra-op threads). Outputs that are fed back are the next step's
 * inputs (ort_feedback.c).
 *
 * Load and compile times: the library separates them only in its own profile, as the spans
 * "model_loading_…" (read and parse) and "session_initialization" (optimise, assign to providers,
 * pack weights). On the CPU the profile is enabled before the session is created and ended right
 * after, before the first run: this does not slow down later runs (4.757 µs per run with and
 * without, medians of 20 alternating sessions), and it costs 0.1 ms. On other providers it would
 * attach to the device's own tracer, so there the two times are unavailable. */
#include "engine/engine.h"
#include "engine/ort/ort_session.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE_LIMIT (1u << 20) /* a profile of session creation has two events */
#define CACHE_LINE 64

/* --- environment and options ------------------------------------------------------------------ */

static void log_line(void *context, int severity, const char *category, const char *log_id,
                     const char *location, const char *message)
{
    (void)context, (void)log_id, (void)location;
    /* A creation that fails cannot end the profile that was requested; its own error is what
     * matters. */
    if (message && strstr(message, "Could not write a profile")) return;
    enum assay_log_level level = severity >= ASSAY__ORT_LOG_ERROR     ? ASSAY_LOG_ERROR
                                 : severity == ASSAY__ORT_LOG_WARNING ? ASSAY_LOG_WARNING
                                 : severity == ASSAY__ORT_LOG_INFO    ? ASSAY_LOG_INFO
                                                                      : ASSAY_LOG_DEBUG;
    char text[1024];
    assay__ort_message_trim(message ? message : "", text, sizeof text);
    bool named = category && category[0] && strcmp(category, "onnxruntime") != 0;
    assay__log(level, "ort", "%s%s%s", named ? category : "", named ? ": " : "", text);
}

int assay__ort_env(const struct assay__ort *ort, OrtEnv **env, struct assay_error *error)
{
    /* One per process inside the library: a second call returns the first one, so the logger must
     * not hold our state. */
    int code = assay__ort_check(
        ort,
        ort->create_env_with_custom_logger(log_line, NULL, ASSAY__ORT_LOG_WARNING, "assay", env),
        error, "ONNX Runtime");
    if (code == 0) assay__ort_ignore(ort, ort->disable_telemetry_events(*env));
    return code;
}

int assay__ort_optimization(const char *name, int *level, struct assay_error *error)
{
    static const int levels[] = {[ASSAY__OPTIMIZATION_NONE] = ASSAY__ORT_OPT_NONE,
                                 [ASSAY__OPTIMIZATION_BASIC] = ASSAY__ORT_OPT_BASIC,
                                 [ASSAY__OPTIMIZATION_EXTENDED] = ASSAY__ORT_OPT_EXTENDED,
                                 [ASSAY__OPTIMIZATION_ALL] = ASSAY__ORT_OPT_ALL};
    enum assay__optimization parsed = assay__optimization_parse(name ? name : "all");
    if (parsed == ASSAY__OPTIMIZATION_UNKNOWN)
        return assay_error_set(error, ASSAY_EINVAL,
                               "unknown optimisation level \"%s\": none, basic, extended or all",
                               name);
    *level = levels[parsed];
    return 0;
}

int assay__ort_session_options(struct assay__session *session, int optimization,
                               OrtSessionOptions **options, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    OrtSessionOptions *made = NULL;
    *options = NULL;
    OrtStatus *status = ort->create_session_options(&made);
    /* Some models make the library warn in every inference, thousands of times in a Loop: writing
     * that would be measured (a third of the time of one). Errors are still reported. */
    if (!status) status = ort->set_session_log_severity_level(made, ASSAY__ORT_LOG_ERROR);
    if (!status) status = ort->set_session_execution_mode(made, ASSAY__ORT_SEQUENTIAL);
    if (!status) status = ort->set_inter_op_num_threads(made, 1);
    if (!status) status = ort->set_session_graph_optimization_level(made, optimization);
    if (!status && session->threads > 0)
        status = ort->set_intra_op_num_threads(made, session->threads);
    if (!status && session->spinning >= 0)
        status = ort->add_session_config_entry(made, "session.intra_op.allow_spinning",
                                               session->spinning ? "1" : "0");
    int code = assay__ort_check(ort, status, error, "session options");
    if (code == 0)
        code = assay__ort_append_device(ort, made, session->device, session->provider_options,
                                        session->strict, error);
    if (code) {
        if (made) ort->release_session_options(made);
        return code;
    }
    *options = made;
    return 0;
}

/* --- creating the session, timed -------------------------------------------------------------- */

/* Reads the spans of session creation from the library's profile: a JSON array of {"name", "dur" in
 * µs}. */
static void profile_read(struct assay__session *session, const char *path)
{
    char *text = NULL;
    size_t length = 0;
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    if (arena && assay__file_read(path, PROFILE_LIMIT, &text, &length, NULL) == 0 &&
        assay__json_parse(arena, text, length, &root, NULL) == 0 &&
        root->kind == ASSAY__JSON_ARRAY) {
        for (const struct assay__json *event = root->first; event; event = event->next) {
            const char *name = assay__json_get_string(event, "name", "");
            double duration_ns = assay__json_get_number(event, "dur", NAN) * 1000;
            if (strncmp(name, "model_loading_", 14) == 0) session->load_ns = duration_ns;
            if (strcmp(name, "session_initialization") == 0) session->compile_ns = duration_ns;
        }
    }
    free(text);
    assay__arena_free(arena);
    if (isnan(session->load_ns) || isnan(session->compile_ns))
        session->load_reason = "ONNX Runtime's profile of the session's creation has no such span";
}

int assay__ort_end_profile(struct assay__session *session, OrtSession *profiled, char *path,
                           size_t path_size, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    char *written = NULL;
    int code = assay__ort_check(ort,
                                ort->session_end_profiling(profiled, session->allocator, &written),
                                error, "cannot end the engine's profile");
    if (code) return code;
    if ((size_t)snprintf(path, path_size, "%s", written) >= path_size)
        code = assay_error_set(error, ASSAY_ELIMIT, "the path of the engine's profile is too long");
    assay__ort_ignore(ort, ort->allocator_free(session->allocator, written));
    return code;
}

/* A folder for the profile if load and compile can be separated; else the reason, and folder "". */
static void profile_start(struct assay__session *session, OrtSessionOptions *options, char *folder,
                          size_t folder_size)
{
    const struct assay__ort *ort = &session->ort;
    char prefix[1100];
    session->load_reason = "";
    if (strcmp(session->device, "cpu") != 0) {
        session->load_reason = "ONNX Runtime separates loading from compiling only in its profile, "
                               "which would also trace the device";
    } else if (assay__folder_temporary(folder, folder_size, NULL) != 0) {
        session->load_reason =
            "no temporary folder for ONNX Runtime's profile of the session's creation";
    } else if (assay__path_join(folder, "create", prefix, sizeof prefix) != 0 ||
               assay__ort_check(ort, ort->enable_profiling(options, prefix), NULL, "profile") !=
                   0) {
        assay__folder_remove(folder);
        session->load_reason = "ONNX Runtime refused to profile the session's creation";
    }
    if (session->load_reason[0]) folder[0] = '\0';
}

static int create(struct assay__session *session, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    OrtSessionOptions *options = NULL;
    char folder[1024];
    int code = assay__ort_session_options(session, session->optimization, &options, error);
    if (code) return code;
    profile_start(session, options, folder, sizeof folder);
    uint64_t start_ns = assay__now_ns();
    OrtStatus *status = ort->create_session(session->env, session->model_path, options,
                                            &session->session);
    session->create_ns = (double)(assay__now_ns() - start_ns);
    code = assay__ort_check(ort, status, error, session->model_name);
    if (code == 0 && folder[0]) {
        char path[4096];
        if (assay__ort_end_profile(session, session->session, path, sizeof path, NULL))
            session->load_reason =
                "ONNX Runtime could not write its profile of the session's creation";
        else
            profile_read(session, path);
    }
    if (folder[0]) assay__folder_remove(folder);
    ort->release_session_options(options);
    return code;
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

/* A name of the model, copied from the library's memory. */
static int copy_name(struct assay__session *session, bool input, size_t index, const char **copy,
                     struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    char *name = NULL;
    int code = assay__ort_check(
        ort,
        input ? ort->session_get_input_name(session->session, index, session->allocator, &name)
              : ort->session_get_output_name(session->session, index, session->allocator, &name),
        error, "names of the model");
    if (code) return code;
    *copy = assay__arena_strdup(session->arena, name);
    assay__ort_ignore(ort, ort->allocator_free(session->allocator, name));
    return *copy ? 0 : assay__no_memory(error);
}

static int inputs_make(struct assay__session *session, const struct assay__session_options *options,
                       struct assay_error *error)
{
    session->inputs = options->inputs;
    session->input_names = assay__arena_array(session->arena, options->input_count + 1,
                                              sizeof *session->input_names);
    session->input_values = assay__arena_array(session->arena, options->input_count + 1,
                                               sizeof *session->input_values);
    if (!session->input_names || !session->input_values) return assay__no_memory(error);
    for (size_t i = 0; i < options->input_count; i++) {
        int code = assay__ort_value_make(session, &options->inputs[i], &session->input_values[i],
                                         error);
        session->input_count = i + 1; /* also after a failure: close() releases what exists */
        if (code) return code;
        session->input_names[i] = options->inputs[i].name;
    }
    /* Every input the model needs must be given. One that is given but not needed may override an
     * initializer: the library decides. */
    const struct assay__ort *ort = &session->ort;
    size_t needed = 0;
    int code = assay__ort_check(ort, ort->session_get_input_count(session->session, &needed), error,
                                "inputs");
    for (size_t i = 0; code == 0 && i < needed; i++) {
        const char *name = NULL;
        code = copy_name(session, true, i, &name, error);
        if (code) return code;
        bool given = false;
        for (size_t k = 0; k < session->input_count; k++)
            given |= strcmp(session->input_names[k], name) == 0;
        if (!given)
            code = assay_error_set(error, ASSAY_EINVAL, "the model's input \"%s\" was not given",
                                   name);
    }
    return code;
}

static int outputs_prepare(struct assay__session *session, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    size_t count = 0;
    int code = assay__ort_check(ort, ort->session_get_output_count(session->session, &count), error,
                                "outputs");
    if (code) return code;
    session->output_names = assay__arena_array(session->arena, count + 1,
                                               sizeof *session->output_names);
    session->streams = assay__arena_array(session->arena, (size_t)session->stream_count,
                                          sizeof *session->streams);
    if (!session->output_names || !session->streams) return assay__no_memory(error);
    for (size_t i = 0; i < count; i++) {
        code = copy_name(session, false, i, &session->output_names[i], error);
        if (code) return code;
    }
    session->output_count = count;
    for (int s = 0; s < session->stream_count; s++) {
        /* A cache line of padding after each stream's memory avoids false sharing. */
        struct assay__ort_stream *stream = assay__arena_alloc(session->arena,
                                                              sizeof *stream + CACHE_LINE);
        session->streams[s] = stream;
        if (stream)
            stream->outputs = assay__arena_alloc(
                session->arena, (count + 1) * sizeof *stream->outputs + CACHE_LINE);
        if (!stream || !stream->outputs) return assay__no_memory(error);
    }
    return 0;
}

/* --- the engine's functions ------------------------------------------------------------------- */

static void ort_close(struct assay__session *session)
{
    if (!session) return;
    const struct assay__ort *ort = &session->ort;
    assay__ort_generation_close(session);
    for (int s = 0; session->streams && s < session->stream_count; s++) {
        if (!session->streams[s]) continue;
        assay__ort_release_values(ort, session->streams[s]->outputs, session->output_count);
        assay__ort_feed_close(session, &session->streams[s]->feed);
    }
    assay__ort_bound_close(session);
    assay__ort_release_values(ort, session->input_values, session->input_count);
    if (session->session) ort->release_session(session->session);
    if (session->cpu_memory) ort->release_memory_info(session->cpu_memory);
    if (session->env) ort->release_env(session->env);
    assay__ort_layers_free(session);
    assay__arena_free(session->output_arena);
    assay__arena_free(session->arena);
    free(session);
}

/* Copies the options that the session keeps. */
static int options_keep(struct assay__session *session,
                        const struct assay__session_options *options, struct assay_error *error)
{
    if (!options->model_path) return assay_error_set(error, ASSAY_EINVAL, "no model was given");
    struct assay__arena *arena = session->arena = assay__arena_new();
    session->output_arena = assay__arena_new();
    if (!arena || !session->output_arena) return assay__no_memory(error);
    session->model_path = assay__arena_strdup(arena, options->model_path);
    session->model_name = assay__arena_strdup(arena, options->model_name ? options->model_name
                                                                         : options->model_path);
    session->device = assay__arena_strdup(arena, options->device ? options->device : "cpu");
    if (options->provider_options)
        session->provider_options = assay__arena_strdup(arena, options->provider_options);
    if (assay__arena_failed(arena)) return assay__no_memory(error);
    session->provider = assay__ort_provider(session->device);
    session->threads = options->threads;
    session->spinning = options->spinning;
    session->strict = options->strict;
    session->stream_count = options->streams > 0 ? options->streams : 1;
    atomic_init(&session->failed_stream, -1);
    session->load_ns = session->compile_ns = session->create_ns = NAN;
    return assay__ort_optimization(options->optimization, &session->optimization, error);
}

static int bind(struct assay__session *session, struct assay_error *error)
{
    struct assay__device_copy copy;
    int code = assay__ort_driver_copy(&copy, error);
    return code ? code : assay__ort_bound_open(session, &copy, error);
}

static int open_parts(struct assay__session *session, const struct assay__session_options *options,
                      struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    int code = options_keep(session, options, error);
    if (code == 0) code = assay__ort_load(options->library, &session->ort, error);
    if (code) return code;
    struct assay__mapping file; /* only for a clear error if it is not a file */
    code = assay__file_map(session->model_path, &file, error);
    if (code) return code;
    assay__file_unmap(&file);
    code = assay__ort_env(ort, &session->env, error);
    if (code) return code;
    OrtStatus *status = ort->get_allocator_with_default_options(&session->allocator);
    if (!status)
        status = ort->create_cpu_memory_info(ASSAY__ORT_ALLOCATOR_ARENA, ASSAY__ORT_MEM_DEFAULT,
                                             &session->cpu_memory);
    code = assay__ort_check(ort, status, error, "memory");
    if (code == 0) code = create(session, error);
    if (code == 0) code = outputs_prepare(session, error);
    if (code == 0) code = inputs_make(session, options, error);
    if (code == 0)
        code = assay__ort_feedback_open(session, options->feedback, options->feedback_count, error);
    for (int s = 0; code == 0 && s < session->stream_count; s++)
        code = assay__ort_feed_open(session, &session->streams[s]->feed, error);
    if (code == 0 && options->generation)
        code = assay__ort_generation_open(session, options->generation, error);
    if (code == 0 && assay__ort_wants_graph(session)) code = bind(session, error);
    return code;
}

static int ort_open(const struct assay__session_options *given, struct assay__session **session,
                    struct assay_error *error)
{
    struct assay__session_options options;
    if (!session) return assay_error_set(error, ASSAY_EINVAL, "nowhere to put the session");
    *session = NULL;
    int code = assay__session_options_read(given, &options, error);
    if (code) return code;
    struct assay__session *made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    code = open_parts(made, &options, error);
    if (code) {
        ort_close(made);
        return code;
    }
    *session = made;
    return 0;
}

static int run_once(struct assay__session *session, struct assay__ort_stream *stream,
                    struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    int code = assay__ort_feed_take(session, &stream->feed, stream->outputs, error);
    if (code) return code;
    assay__ort_release_values(ort, stream->outputs, session->output_count);
    if (session->bound) return assay__ort_bound_run(session, stream->outputs, error);
    OrtStatus *status = ort->run(session->session, NULL, session->input_names, stream->feed.inputs,
                                 session->input_count, session->output_names, session->output_count,
                                 stream->outputs);
    return status ? assay__ort_check(ort, status, error, "the model failed") : 0;
}

static int ort_step(struct assay__session *session, int stream_index)
{
    if (stream_index < 0 || stream_index >= session->stream_count) return ASSAY_EINVAL;
    struct assay__ort_stream *stream = session->streams[stream_index];
    struct assay_error error;
    int code = 0;
    if (session->generation) {
        code = assay__ort_generation_step(session, &error);
    } else {
        code = run_once(session, stream, &error);
    }
    if (code == 0) return 0;
    snprintf(stream->error, sizeof stream->error, "%s", error.message);
    atomic_store(&session->failed_stream, stream_index);
    return code;
}

static const char *ort_step_error(struct assay__session *session)
{
    int failed = atomic_load(&session->failed_stream);
    return failed < 0 ? "" : session->streams[failed]->error;
}

static void ort_facts(struct assay__session *session, struct assay__session_facts *facts)
{
    assay__ort_adapter(session->device, &session->adapter);
    *facts = (struct assay__session_facts){
        .load_ns = session->load_ns,
        .compile_ns = session->compile_ns,
        .create_ns = session->create_ns,
        .load_reason = session->load_reason,
        .version = session->ort.version,
        .library = session->ort.path,
        .provider = session->provider,
        .hardware = session->adapter.name,
        .threads = session->threads,
    };
}

static int ort_outputs(struct assay__session *session, const struct assay__host_tensor **outputs,
                       size_t *count, struct assay_error *error)
{
    OrtValue *const *values = session->generation ? assay__ort_generation_outputs(session)
                                                  : session->streams[0]->outputs;
    *outputs = NULL;
    *count = 0;
    if (session->output_count > 0 && !values[0])
        return assay_error_set(error, ASSAY_EINVAL,
                               "no outputs: no step of stream 0 has succeeded yet");
    struct assay__arena *arena = assay__arena_new();
    if (!arena) return assay__no_memory(error);
    assay__arena_free(session->output_arena);
    session->output_arena = arena;
    struct assay__host_tensor *tensors = assay__arena_array(arena, session->output_count + 1,
                                                            sizeof *tensors);
    if (!tensors) return assay__no_memory(error);
    for (size_t i = 0; i < session->output_count; i++) {
        int code = assay__ort_value_view(session, values[i], session->output_names[i], arena,
                                         &tensors[i], error);
        if (code) return code;
    }
    *outputs = tensors;
    *count = session->output_count;
    return 0;
}

/* The arena of the session's device: bytes allocated now and at the peak. They include the weights,
 * which the library keeps there, but not what it reads from (mapped files, our inputs). */
static void arena_stats(struct assay__session *session, const char *const *keys, double *values,
                        size_t count)
{
    const struct assay__ort *ort = &session->ort;
    OrtMemoryInfo *info = NULL;
    OrtAllocator *allocator = NULL;
    OrtKeyValuePairs *pairs = NULL;
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
    if (!ort->allocator_get_stats || !ort->get_key_value || !ort->release_key_value_pairs) return;
    if (assay__ort_device_memory(ort, session->device, &info)) return;
    OrtStatus *status = ort->create_allocator(session->session, info, &allocator);
    if (!status) status = ort->allocator_get_stats(allocator, &pairs);
    for (size_t i = 0; !status && i < count; i++) {
        const char *text = ort->get_key_value(pairs, keys[i]);
        char *end = NULL;
        double value = text ? strtod(text, &end) : NAN;
        values[i] = text && end != text && *end == '\0' ? value : NAN;
    }
    assay__ort_ignore(ort, status);
    if (pairs) ort->release_key_value_pairs(pairs);
    if (allocator) ort->release_allocator(allocator);
    ort->release_memory_info(info);
}

static void ort_memory(struct assay__session *session, double *arena_bytes,
                       double *arena_peak_bytes)
{
    static const char *const keys[] = {"InUse", "MaxInUse"};
    double values[2];
    arena_stats(session, keys, values, 2);
    *arena_bytes = values[0];
    *arena_peak_bytes = values[1];
}

static void ort_arena_use(struct assay__session *session, struct assay__arena_use *use)
{
    static const char *const keys[] = {"NumAllocs", "NumArenaExtensions", "TotalAllocated"};
    double values[3];
    arena_stats(session, keys, values, 3);
    *use = (struct assay__arena_use){values[0], values[1], values[2]};
}

const struct assay__engine_ops assay__engine_ort = {
    .abi = ASSAY__ENGINE_ABI,
    .size = sizeof(struct assay__engine_ops),
    .name = "ort",
    .summary = "ONNX Runtime",
    .devices = assay__ort_devices,
    .open = ort_open,
    .step = ort_step,
    .step_error = ort_step_error,
    .facts = ort_facts,
    .outputs = ort_outputs,
    .layers = assay__ort_layers,
    .layers_begin = assay__ort_layers_begin,
    .layers_block = assay__ort_layers_block,
    .layers_drop = assay__ort_layers_drop,
    .memory = ort_memory,
    .close = ort_close,
    .tokens = assay__ort_generation_tokens,
    .arena_use = ort_arena_use,
    .assignment = assay__ort_assignment,
    .device_kind = assay__ort_device_kind,
    .timeline = assay__ort_timeline,
};
