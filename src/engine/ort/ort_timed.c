/* ort_timed.c - sessions that the layer timing opens and times. They have the options of the
 * session under test (threads, spinning, device), and a run does what a step of the measured loop
 * does, so that their times can be compared with it. */
#include "engine/ort/ort_layers.h"

#include "base/clock.h"
#include "base/stats.h"
#include "model/tensor_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static assay__timed_hook_fn *hook_function;
static void *hook_context;

void assay__timed_hook(assay__timed_hook_fn *hook, void *context)
{
    hook_function = hook;
    hook_context = context;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The weights go into a file of their own, so that graphs derived from this one can share it: with
 * 400 MB of weights, writing and parsing them once for each graph took longer than measuring. */
static int save_to(const struct assay__ort *ort, OrtSessionOptions *made,
                   const struct assay__timed_options *options, struct assay_error *error)
{
    const char *const entries[][2] = {
        {"session.optimized_model_external_initializers_file_name", options->weights_name},
        {"session.optimized_model_external_initializers_min_size_in_bytes", "1024"},
    };
    int code = assay__ort_check(ort, ort->set_optimized_model_file_path(made, options->save_path),
                                error, "cannot save the optimised model");
    for (size_t i = 0; options->weights_name && !code && i < sizeof entries / sizeof *entries; i++)
        code = assay__ort_check(ort,
                                ort->add_session_config_entry(made, entries[i][0], entries[i][1]),
                                error, "cannot save the weights of the optimised model");
    return code;
}

/* The owner's options. A session that replays a CUDA graph would not run its markers, and its runs
 * are bound (ort_bound.c), which those of other sessions are not: these have none. */
static int owners_options(struct assay__session *owner, const struct assay__timed_options *options,
                          OrtSessionOptions **made, struct assay_error *error)
{
    const char *given = owner->provider_options;
    char *without = given ? strdup(given) : NULL;
    if (without) assay__ort_drop_option(without, "enable_cuda_graph");
    owner->provider_options = without ? without : given;
    int code = assay__ort_session_options(owner, options->optimization, made, error);
    owner->provider_options = given;
    free(without);
    return code;
}

static int prepare_options(struct assay__session *owner, const struct assay__timed_options *options,
                           struct assay__timed *timed, OrtSessionOptions **made,
                           struct assay_error *error)
{
    const struct assay__ort *ort = &owner->ort;
    int code = owners_options(owner, options, made, error);
    if (!code && hook_function && hook_function(hook_context, *made))
        code = assay_error_set(error, ASSAY_EENGINE, "the session hook refused");
    if (!code && options->save_path) code = save_to(ort, *made, options, error);
    if (!code && options->profile_prefix)
        code = assay__ort_check(ort, ort->enable_profiling(*made, options->profile_prefix), error,
                                "cannot enable the engine's profiler");
    if (!code && options->records_assignment)
        code = assay__ort_check(
            ort, ort->add_session_config_entry(*made, ASSAY__ORT_RECORDS_ASSIGNMENT, "1"), error,
            "cannot ask which nodes run where");
    /* A waiting session must not spin while another one runs: by default its threads would continue
     * for 40 ms. 10 ms is longer than any pause between two of its own runs. */
    if (!code && options->mark_count > 0 && owner->spinning != 0)
        code = assay__ort_check(
            ort, ort->add_session_config_entry(*made, "session.intra_op.spin_duration_us", "10000"),
            error, "cannot limit the spinning of a session");
    if (!code && options->mark_count > 0) {
        timed->log.capacity = options->mark_count;
        timed->log.on_device = options->mark_provider != NULL;
        timed->log.events = calloc(options->mark_count, sizeof *timed->log.events);
        timed->log.scalars = calloc(options->mark_count, sizeof *timed->log.scalars);
        code = timed->log.events && timed->log.scalars
                   ? assay__marker_ops_new(ort, &timed->log, options->mark_provider, &timed->ops,
                                           error)
                   : assay__no_memory(error);
        if (!code && options->counters) {
            timed->log.counts = calloc(2 * options->mark_count * options->counters->count,
                                       sizeof *timed->log.counts);
            timed->log.counters = options->counters;
            if (!timed->log.counts) code = assay__no_memory(error);
        }
        if (!code) code = assay__marker_ops_add(timed->ops, *made, error);
    }
    return code;
}

int assay__timed_borrow(struct assay__session *owner, struct assay__timed *timed,
                        struct assay_error *error)
{
    *timed = (struct assay__timed){
        .owner = owner,
        .session = owner->session,
        .input_names = owner->input_names,
        .inputs = (const OrtValue *const *)owner->input_values,
        .input_count = owner->input_count,
        .output_names = owner->output_names,
        .output_count = owner->output_count,
        .outputs = calloc(owner->output_count + 1, sizeof(OrtValue *)),
    };
    if (!timed->outputs) return assay__no_memory(error);
    if (!owner->feed_count) return 0;
    int code = assay__ort_feed_open(owner, &timed->feed, error);
    timed->inputs = timed->feed.inputs;
    return code;
}

int assay__timed_open(struct assay__session *owner, const struct assay__timed_options *options,
                      struct assay__timed *timed, struct assay_error *error)
{
    const struct assay__ort *ort = &owner->ort;
    OrtSessionOptions *made = NULL;
    int code = assay__timed_borrow(owner, timed, error);
    timed->session = NULL;
    if (options->input_names || options->output_names) /* a part of the model, or more of it */
        assay__ort_feed_close(owner, &timed->feed);
    if (!timed->feed.held) timed->inputs = (const OrtValue *const *)owner->input_values;
    if (options->input_names) {
        timed->input_names = options->input_names;
        timed->inputs = options->inputs;
        timed->input_count = options->input_count;
    }
    if (!code && options->output_names) {
        timed->output_names = options->output_names;
        timed->output_count = options->output_count;
        free(timed->outputs);
        timed->outputs = calloc(timed->output_count + 1, sizeof(OrtValue *));
        if (!timed->outputs) code = assay__no_memory(error);
    }
    if (!code) code = prepare_options(owner, options, timed, &made, error);
    if (!code)
        code = assay__ort_check(
            ort, ort->create_session(owner->env, options->path, made, &timed->session), error,
            "cannot open a session for layer timing");
    if (made) ort->release_session_options(made);
    if (code) assay__timed_close(timed);
    return code;
}

void assay__timed_suspend(struct assay__session *owner)
{
    if (owner->session) owner->ort.release_session(owner->session);
    owner->session = NULL;
}

int assay__timed_resume(struct assay__session *owner, struct assay_error *error)
{
    struct assay__timed timed = {0};
    struct assay__timed_options options = {.path = owner->model_path,
                                           .optimization = owner->optimization};
    if (owner->session) return 0;
    int code = assay__timed_open(owner, &options, &timed, error);
    owner->session = timed.session; /* owned by the caller from here on: close() leaves it open */
    assay__timed_close(&timed);
    return code;
}

void assay__timed_close(struct assay__timed *timed)
{
    if (!timed->owner) return;
    const struct assay__ort *ort = &timed->owner->ort;
    if (timed->outputs) assay__ort_release_values(ort, timed->outputs, timed->output_count);
    free(timed->outputs);
    assay__ort_feed_close(timed->owner, &timed->feed);
    if (timed->session && timed->session != timed->owner->session)
        ort->release_session(timed->session);
    assay__marker_ops_free(timed->ops); /* after the session: its kernels refer to it */
    free(timed->log.events);
    free(timed->log.scalars);
    free(timed->log.counts);
    memset(timed, 0, sizeof *timed);
}

/* --- running ---------------------------------------------------------------------------------- */

int assay__timed_run(struct assay__timed *timed, double *run_ns, struct assay_error *error)
{
    const struct assay__ort *ort = &timed->owner->ort;
    timed->log.count = 0;
    uint64_t start_ns = assay__now_ns();
    int code = timed->feed.held
                   ? assay__ort_feed_take(timed->owner, &timed->feed, timed->outputs, error)
                   : 0;
    if (code) return code;
    assay__ort_release_values(ort, timed->outputs, timed->output_count);
    OrtStatus *status = NULL;
    if (timed->owner->bound && timed->session == timed->owner->session)
        code = assay__ort_bound_run(timed->owner, timed->outputs, error);
    else
        status = ort->run(timed->session, NULL, timed->input_names, timed->inputs,
                          timed->input_count, timed->output_names, timed->output_count,
                          timed->outputs);
    uint64_t end_ns = assay__now_ns();
    if (run_ns) *run_ns = (double)(end_ns - start_ns);
    return status ? assay__ort_check(ort, status, error, "a run for layer timing failed") : code;
}

void assay__timed_restart(struct assay__timed *timed)
{
    if (!timed->feed.held) return;
    assay__ort_feed_restart(timed->owner, &timed->feed);
    assay__ort_release_values(&timed->owner->ort, timed->outputs, timed->output_count);
}

int assay__timed_median(struct assay__timed *timed, size_t warm, size_t count, double *median_ns,
                        struct assay_error *error)
{
    double *times = calloc(count + 1, sizeof *times);
    int code = times ? 0 : assay__no_memory(error);
    for (size_t i = 0; !code && i < warm; i++)
        code = assay__timed_run(timed, NULL, error);
    for (size_t i = 0; !code && i < count; i++)
        code = assay__timed_run(timed, &times[i], error);
    if (!code) {
        assay__stats_sort(times, count);
        *median_ns = assay__stats_median(times, count);
    }
    free(times);
    return code;
}

/* --- comparing -------------------------------------------------------------------------------- */

/** Element i as a number, for the floating-point types that are compared approximately. */
static bool element(int type, const void *data, size_t i, double *value)
{
    uint32_t wide;
    float single;
    switch (type) {
    case ASSAY__FLOAT32: *value = ((const float *)data)[i]; return true;
    case ASSAY__FLOAT64: *value = ((const double *)data)[i]; return true;
    case ASSAY__FLOAT16: *value = assay__half_to_float(((const uint16_t *)data)[i]); return true;
    case ASSAY__BFLOAT16:
        wide = (uint32_t)((const uint16_t *)data)[i] << 16;
        memcpy(&single, &wide, sizeof single);
        *value = single;
        return true;
    default: return false;
    }
}

static double numbers_difference(int type, const void *a, const void *b, size_t count)
{
    double largest = 0, magnitude = 0;
    for (size_t i = 0; i < count; i++) {
        double x = 0, y = 0;
        if (!element(type, a, i, &x) || !element(type, b, i, &y)) return INFINITY;
        if ((isnan(x) && isnan(y)) || x == y) {
            if (isfinite(x)) magnitude = fmax(magnitude, fabs(x));
            continue;
        }
        if (!isfinite(x) || !isfinite(y)) return INFINITY;
        largest = fmax(largest, fabs(x - y));
        magnitude = fmax(magnitude, fmax(fabs(x), fabs(y)));
    }
    return largest == 0 ? 0 : largest / magnitude;
}

static bool same_strings(const struct assay__ort *ort, const OrtValue *a, const OrtValue *b,
                         size_t count)
{
    size_t length[2] = {0, 0};
    OrtStatus *status = ort->get_string_tensor_data_length(a, &length[0]);
    if (!status) status = ort->get_string_tensor_data_length(b, &length[1]);
    bool same = !status && length[0] == length[1];
    assay__ort_ignore(ort, status);
    if (!same) return false;
    char *text = calloc(2, length[0] + 1);
    size_t *offsets = calloc(2 * (count + 1), sizeof *offsets);
    if (text && offsets) {
        status = ort->get_string_tensor_content(a, text, length[0], offsets, count);
        if (!status)
            status = ort->get_string_tensor_content(b, text + length[0] + 1, length[0],
                                                    offsets + count + 1, count);
        same = !status && memcmp(text, text + length[0] + 1, length[0]) == 0 &&
               memcmp(offsets, offsets + count + 1, count * sizeof *offsets) == 0;
        assay__ort_ignore(ort, status);
    }
    free(text);
    free(offsets);
    return same;
}

static double tensors_difference(const struct assay__ort *ort, const OrtValue *a, const OrtValue *b)
{
    struct assay__ort_shape shapes[2];
    void *data[2] = {NULL, NULL};
    OrtStatus *status = assay__ort_shape_read(ort, a, &shapes[0]);
    if (!status) status = assay__ort_shape_read(ort, b, &shapes[1]);
    bool same = !status && memcmp(&shapes[0], &shapes[1], sizeof shapes[0]) == 0;
    assay__ort_ignore(ort, status);
    if (!same) return INFINITY;
    if (shapes[0].count == 0) return 0;
    if (shapes[0].element == ASSAY__ORT_ELEMENT_STRING)
        return same_strings(ort, a, b, shapes[0].count) ? 0 : INFINITY;
    status = ort->get_tensor_mutable_data((OrtValue *)a, &data[0]);
    if (!status) status = ort->get_tensor_mutable_data((OrtValue *)b, &data[1]);
    bool readable = !status && data[0] && data[1];
    assay__ort_ignore(ort, status);
    if (!readable) return INFINITY;
    if (memcmp(data[0], data[1], assay__ort_shape_bytes(&shapes[0])) == 0) return 0;
    return numbers_difference(shapes[0].element, data[0], data[1], shapes[0].count);
}

double assay__values_difference(const struct assay__ort *ort, OrtAllocator *allocator,
                                const OrtValue *a, const OrtValue *b)
{
    int types[2] = {0, 0};
    size_t counts[2] = {0, 0};
    if (!a || !b) return a == b ? 0 : INFINITY; /* an empty optional */
    OrtStatus *status = ort->get_value_type(a, &types[0]);
    if (!status) status = ort->get_value_type(b, &types[1]);
    if (!status && types[0] == types[1] && types[0] == ASSAY__ORT_TYPE_TENSOR)
        return tensors_difference(ort, a, b);
    if (!status) status = ort->get_value_count(a, &counts[0]);
    if (!status) status = ort->get_value_count(b, &counts[1]);
    bool comparable = !status && types[0] == types[1] && counts[0] == counts[1];
    assay__ort_ignore(ort, status);
    if (!comparable) return INFINITY;
    double largest = 0;
    for (size_t i = 0; i < counts[0] && isfinite(largest); i++) {
        OrtValue *parts[2] = {NULL, NULL};
        status = ort->get_value(a, (int)i, allocator, &parts[0]);
        if (!status) status = ort->get_value(b, (int)i, allocator, &parts[1]);
        largest = status
                      ? INFINITY
                      : fmax(largest, assay__values_difference(ort, allocator, parts[0], parts[1]));
        assay__ort_ignore(ort, status);
        assay__ort_release_values(ort, parts, 2);
    }
    return largest;
}
