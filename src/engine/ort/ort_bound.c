/* ort_bound.c - a session that records a CUDA graph and replays it (the provider's option
 * enable_cuda_graph).
 *
 * A graph reads and writes the same memory of the device in every run, so inputs and outputs are
 * bound to tensors there, once. A step copies the inputs into them, runs, and copies the outputs
 * to new tensors in host memory: from host to host, like any other step. ONNX Runtime records the
 * graph in the first step. The copies are those of CUDA's driver: the library has none into a
 * tensor that exists. Its own streams do not wait for the driver's, so we do.
 *
 * Limits: tensors of numbers with shapes that do not change; one request at a time, on one thread
 * (the library keeps a graph for each); no states that are fed back, no generation. */
#include "engine/ort/ort_session.h"

#include "platform/platform.h"

#include <stdio.h>
#include <string.h>

struct place {
    void *device;
    const void *host; /* of an input */
    size_t bytes;
    struct assay__ort_shape shape;
};

struct assay__ort_bound {
    struct assay__device_copy copy;
    OrtIoBinding *binding;
    OrtRunOptions *options; /* name the graph; NULL: the first one */
    int graphs;
    OrtAllocator *allocator; /* of the device */
    OrtMemoryInfo *memory;
    OrtValue **inputs, **outputs; /* on the device; outputs: since the first run */
    size_t output_count;          /* of outputs */
    struct place *from, *to;
};

/* --- options ---------------------------------------------------------------------------------- */

bool assay__ort_wants_graph(const struct assay__session *session)
{
    static const char key[] = "enable_cuda_graph=";
    const char *at = session->provider_options ? strstr(session->provider_options, key) : NULL;
    if (!at || !session->provider || strcmp(session->provider, "CUDAExecutionProvider") != 0)
        return false;
    at += sizeof key - 1;
    return *at == '1' || *at == 't' || *at == 'T'; /* as the provider reads it: 1, true, True */
}

/* --- copies by the driver --------------------------------------------------------------------- */

static struct {
    int (*get_context)(void **);
    int (*set_context)(void *);
    int (*to_device)(unsigned long long, const void *, size_t);
    int (*to_host)(void *, unsigned long long, size_t);
    int (*wait)(void *stream);
} driver;

static int driver_enter(void *context)
{
    return driver.set_context(context);
}

static int driver_to_device(void *device, const void *host, size_t bytes)
{
    return driver.to_device((uintptr_t)device, host, bytes);
}

static int driver_to_host(void *host, const void *device, size_t bytes)
{
    return driver.to_host(host, (uintptr_t)device, bytes);
}

/* From pageable memory a copy may still be under way when its call returns. */
static int driver_wait(void)
{
    return driver.wait(NULL);
}

int assay__ort_driver_copy(struct assay__device_copy *copy, struct assay_error *error)
{
    static const struct {
        const char *name;
        void *function;
    } rows[] = {{"cuCtxGetCurrent", &driver.get_context},
                {"cuCtxSetCurrent", &driver.set_context},
                {"cuMemcpyHtoD_v2", &driver.to_device},
                {"cuMemcpyDtoH_v2", &driver.to_host},
                {"cuStreamSynchronize", &driver.wait}};
    void *library = assay__library_open("libcuda.so.1", error);
    if (!library) return error ? error->code : ASSAY_EUNSUPPORTED;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *symbol = assay__library_symbol(library, rows[i].name);
        if (!symbol)
            return assay_error_set(error, ASSAY_EUNSUPPORTED, "CUDA's driver has no %s",
                                   rows[i].name);
        memcpy(rows[i].function, &symbol, sizeof symbol);
    }
    *copy = (struct assay__device_copy){NULL, driver_enter, driver_to_device, driver_to_host,
                                        driver_wait};
    if (driver.get_context(&copy->context) || !copy->context)
        return assay_error_set(error, ASSAY_EENGINE, "this thread uses no CUDA device");
    return 0;
}

static int failed(int result, const char *what, struct assay_error *error)
{
    return result
               ? assay_error_set(error, ASSAY_EENGINE, "CUDA's driver failed %s (%d)", what, result)
               : 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int describe(const struct assay__session *session, OrtValue *value, struct place *place,
                    const char *name, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    int is_tensor = 0;
    OrtStatus *status = ort->is_tensor(value, &is_tensor);
    if (!status && is_tensor) status = assay__ort_shape_read(ort, value, &place->shape);
    int code = assay__ort_check(ort, status, error, name);
    if (code) return code;
    if (!is_tensor || place->shape.element == ASSAY__ORT_ELEMENT_STRING)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "'%s' is no tensor of numbers, which a CUDA graph needs", name);
    place->bytes = assay__ort_shape_bytes(&place->shape);
    if (!place->bytes && place->shape.count)
        return assay_error_set(
            error, ASSAY_EUNSUPPORTED,
            "'%s' has elements of unknown size, which a CUDA graph's copies need", name);
    return assay__ort_check(ort, ort->get_tensor_mutable_data(value, &place->device), error, name);
}

static int bind_input(struct assay__session *session, size_t at, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    struct assay__ort_bound *b = session->bound;
    const char *name = session->input_names[at];
    struct place *place = &b->from[at];
    int code = describe(session, session->input_values[at], place, name, error);
    if (code) return code;
    place->host = place->device;
    OrtStatus *status = ort->create_tensor(b->allocator, place->shape.dims, place->shape.rank,
                                           place->shape.element, &b->inputs[at]);
    if (!status) status = ort->get_tensor_mutable_data(b->inputs[at], &place->device);
    code = assay__ort_check(ort, status, error, name);
    if (!code && place->bytes)
        code = failed(b->copy.to_device(place->device, place->host, place->bytes),
                      "to copy an input", error);
    if (!code) code = failed(b->copy.wait(), "to wait for a copy", error);
    if (code) return code;
    return assay__ort_check(ort, ort->bind_input(b->binding, name, b->inputs[at]), error, name);
}

int assay__ort_bound_open(struct assay__session *session, const struct assay__device_copy *copy,
                          struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    struct assay__arena *arena = session->arena;
    if (session->feed_count || session->generation || session->stream_count > 1)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "enable_cuda_graph: a graph uses the same memory in every run, so "
                               "it works for one request at a time, without states and without a "
                               "generation");
    struct assay__ort_bound *b = assay__arena_alloc(arena, sizeof *b);
    if (!b) return assay__no_memory(error);
    b->copy = *copy;
    b->inputs = assay__arena_array(arena, session->input_count + 1, sizeof *b->inputs);
    b->from = assay__arena_array(arena, session->input_count + 1, sizeof *b->from);
    b->to = assay__arena_array(arena, session->output_count + 1, sizeof *b->to);
    if (!b->inputs || !b->from || !b->to) return assay__no_memory(error);
    session->bound = b;
    int code = assay__ort_device_memory(ort, session->device, &b->memory);
    if (code) return assay_error_set(error, code, "the device's memory is unknown");
    OrtStatus *status = ort->create_allocator(session->session, b->memory, &b->allocator);
    if (!status) status = ort->create_io_binding(session->session, &b->binding);
    code = assay__ort_check(ort, status, error, "memory of the device");
    for (size_t i = 0; i < session->input_count && !code; i++)
        code = bind_input(session, i, error);
    for (size_t i = 0; i < session->output_count && !code; i++)
        code = assay__ort_check(
            ort, ort->bind_output_to_device(b->binding, session->output_names[i], b->memory), error,
            session->output_names[i]);
    return code;
}

void assay__ort_bound_close(struct assay__session *session)
{
    struct assay__ort_bound *b = session->bound;
    const struct assay__ort *ort = &session->ort;
    if (!b) return;
    if (b->options) ort->release_run_options(b->options);
    if (b->binding) ort->release_io_binding(b->binding);
    assay__ort_release_values(ort, b->inputs, session->input_count);
    if (b->outputs) {
        assay__ort_release_values(ort, b->outputs, b->output_count);
        assay__ort_ignore(ort, ort->allocator_free(session->allocator, b->outputs));
    }
    if (b->allocator) ort->release_allocator(b->allocator);
    if (b->memory) ort->release_memory_info(b->memory);
    session->bound = NULL;
}

int assay__ort_bound_again(struct assay__session *session, struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    struct assay__ort_bound *b = session->bound;
    char number[16];
    if (b->options) ort->release_run_options(b->options);
    b->options = NULL;
    snprintf(number, sizeof number, "%d", ++b->graphs);
    OrtStatus *status = ort->create_run_options(&b->options);
    if (!status) status = ort->add_run_config_entry(b->options, "gpu_graph_id", number);
    return assay__ort_check(ort, status, error, "a CUDA graph");
}

/* --- running ---------------------------------------------------------------------------------- */

/* The library has allocated the outputs in the first run, and goes on to use them. */
static int find_outputs(struct assay__session *session, struct assay_error *error)
{
    struct assay__ort_bound *b = session->bound;
    size_t count = 0;
    int code = assay__ort_check(
        &session->ort,
        session->ort.get_bound_output_values(b->binding, session->allocator, &b->outputs, &count),
        error, "the outputs of a CUDA graph");
    if (!code) b->output_count = count;
    if (!code && count != session->output_count)
        code = assay_error_set(error, ASSAY_EENGINE, "%zu of %zu outputs are bound", count,
                               session->output_count);
    for (size_t i = 0; i < session->output_count && !code; i++)
        code = describe(session, b->outputs[i], &b->to[i], session->output_names[i], error);
    return code;
}

static int take_output(struct assay__session *session, const struct place *place, OrtValue **output,
                       struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    void *host = NULL;
    OrtStatus *status = ort->create_tensor(session->allocator, place->shape.dims, place->shape.rank,
                                           place->shape.element, output);
    if (!status) status = ort->get_tensor_mutable_data(*output, &host);
    int code = assay__ort_check(ort, status, error, "an output");
    if (code || !place->bytes) return code;
    return failed(session->bound->copy.to_host(host, place->device, place->bytes),
                  "to copy an output", error);
}

int assay__ort_bound_run(struct assay__session *session, OrtValue **outputs,
                         struct assay_error *error)
{
    const struct assay__ort *ort = &session->ort;
    struct assay__ort_bound *b = session->bound;
    int result = b->copy.enter(b->copy.context);
    for (size_t i = 0; i < session->input_count && !result; i++)
        if (b->from[i].bytes)
            result = b->copy.to_device(b->from[i].device, b->from[i].host, b->from[i].bytes);
    if (!result) result = b->copy.wait();
    if (result) return failed(result, "to copy an input", error);
    int code = assay__ort_check(ort,
                                ort->run_with_binding(session->session, b->options, b->binding),
                                error, "the model failed");
    if (!code && !b->outputs) code = find_outputs(session, error);
    for (size_t i = 0; i < session->output_count && !code; i++)
        code = take_output(session, &b->to[i], &outputs[i], error);
    return code;
}
