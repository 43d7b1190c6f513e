/* gpu_fixture.h - a model that "uses a GPU": an operator of ours on the CPU whose kernels are those
 * of the stand-in for CUPTI (fixtures/lib_fake_cupti.c), whose clock only they move. The session
 * says that it runs on CUDA, so that layers are timed as there; the markers run on the CPU. */
#ifndef ASSAY_TESTS_GPU_FIXTURE_H
#define ASSAY_TESTS_GPU_FIXTURE_H

#include "base/file.h"
#include "engine/ort/ort_layers.h"
#include "layers_fixture.h"

#include <dlfcn.h>

#define LAUNCH_NS 7000 /* from a call to its kernel, as the stand-in has it */

/* Launch: adds 1 to every element of its tensor; attributes: `kernels` of `ns`, ns + 1000, …,
 * called after `number`; then a memset of `memset_ns`. */
struct launch_op {
    struct OrtCustomOp base;
    const struct assay__ort *ort;
    struct OrtCustomOpDomain *domain;
    void (*launch)(const char *name, uint64_t kernel_ns);
    void (*set)(uint64_t bytes, uint64_t set_ns);
    bool (*recording)(void);
    void (*in_graph)(uint32_t graph);
    uint32_t graph; /* the first session's kernels are nodes of that CUDA graph; 0: they are not */
    int64_t last;   /* the last node that launches */
    bool hidden;    /* the first session's kernels are not seen */
    /* Node 0 launches a kernel of another name: in runs odd_after … odd_after + odd_runs - 1 of the
     * first session while the stand-in records, and in every run of that session, if odd_session.
     */
    int runs, odd_after, odd_runs, odd_session;
    int sessions;
};
static struct launch_op gpu;

struct launch_kernel {
    int64_t kernels, ns, number, memset_ns;
    int session; /* 0: the model's own */
};

static struct OrtStatus *launch_create(const struct OrtCustomOp *op, const struct OrtApi *api,
                                       const struct OrtKernelInfo *info, void **kernel)
{
    (void)op, (void)api;
    struct launch_kernel *made = calloc(1, sizeof *made);
    const struct assay__ort *ort = gpu.ort;
    *kernel = made;
    made->session = gpu.sessions;
    struct OrtStatus *status = ort->kernel_info_get_attribute_int64(info, "kernels",
                                                                    &made->kernels);
    if (!status) status = ort->kernel_info_get_attribute_int64(info, "ns", &made->ns);
    if (!status) status = ort->kernel_info_get_attribute_int64(info, "number", &made->number);
    if (!status) status = ort->kernel_info_get_attribute_int64(info, "memset_ns", &made->memset_ns);
    return status;
}

static void launch_kernels(const struct launch_kernel *kernel)
{
    static char names[8][4][2][32]; /* CUPTI's names stay where they are */
    bool odd = false;
    if (kernel->number == 0) {
        odd = kernel->session == 0 && gpu.recording() && gpu.runs >= gpu.odd_after &&
              gpu.runs < gpu.odd_after + gpu.odd_runs;
        odd |= gpu.odd_session && kernel->session == 0;
        gpu.runs += kernel->session == 0 && gpu.recording();
    }
    bool of_graph = gpu.graph && kernel->session == 0;
    if (gpu.hidden && kernel->session == 0) return;
    if (of_graph && kernel->number == 0) gpu.in_graph(gpu.graph);
    for (int64_t i = 0; i < kernel->kernels; i++) {
        char *name = names[kernel->number][i][odd];
        snprintf(name, 32, "%skernel_%d_%d", odd ? "odd_" : "", (int)kernel->number, (int)i);
        gpu.launch(name, (uint64_t)(kernel->ns + i * 1000));
    }
    if (kernel->memset_ns) gpu.set(64, (uint64_t)kernel->memset_ns);
    if (of_graph && kernel->number == gpu.last) gpu.in_graph(0);
}

static struct OrtStatus *launch_compute(void *kernel, struct OrtKernelContext *context)
{
    const struct assay__ort *ort = gpu.ort;
    const struct OrtValue *input = NULL;
    struct OrtValue *output = NULL;
    struct assay__ort_shape shape;
    void *from = NULL, *to = NULL;
    struct OrtStatus *status = ort->kernel_context_get_input(context, 0, &input);
    if (!status) status = assay__ort_shape_read(ort, input, &shape);
    if (!status)
        status = ort->kernel_context_get_output(context, 0, shape.dims, shape.rank, &output);
    if (!status) status = ort->get_tensor_mutable_data((struct OrtValue *)input, &from);
    if (!status) status = ort->get_tensor_mutable_data(output, &to);
    for (size_t i = 0; !status && i < shape.count; i++)
        ((float *)to)[i] = ((const float *)from)[i] + 1;
    launch_kernels(kernel);
    return status;
}

static void launch_destroy(void *kernel)
{
    free(kernel);
}
static const char *launch_name(const struct OrtCustomOp *op)
{
    (void)op;
    return "Launch";
}
static const char *launch_provider(const struct OrtCustomOp *op)
{
    (void)op;
    return NULL;
}
static int launch_type(const struct OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return ASSAY__ORT_ELEMENT_FLOAT;
}
static size_t launch_one(const struct OrtCustomOp *op)
{
    (void)op;
    return 1;
}
static int launch_zero(const struct OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return 0;
}

static int launch_hook(void *context, struct OrtSessionOptions *options)
{
    return gpu.ort->add_custom_op_domain(options, context) != NULL;
}

static inline void find_symbol(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL);
    memcpy(function, &symbol, sizeof symbol);
}

/* The stand-in and the recorder, and the operator's domain. */
static inline void gpu_begin(const struct assay__ort *ort)
{
    const char *cupti = ASSAY_TEST_BUILD "/tests/lib/lib_fake_cupti.so",
               *recorder = ASSAY_TEST_BUILD "/libassay-cuda-trace.so";
    if (access(cupti, R_OK) || access(recorder, R_OK))
        SKIP("the recorder or the stand-in for CUPTI was not built");
    setenv("ASSAY_CUPTI", cupti, 1);
    setenv("ASSAY_CUDA_RECORDER", recorder, 1);
    void *library = dlopen(cupti, RTLD_NOW | RTLD_LOCAL);
    if (!library) harness_fail(__FILE__, __LINE__, dlerror());
    find_symbol(library, "fake_launch", &gpu.launch);
    find_symbol(library, "fake_recording", &gpu.recording);
    find_symbol(library, "fake_memset", &gpu.set);
    find_symbol(library, "fake_graph", &gpu.in_graph);
    gpu.ort = ort;
    gpu.base = (struct OrtCustomOp){.version = (uint32_t)ort->api_version,
                                    .GetName = launch_name,
                                    .GetExecutionProviderType = launch_provider,
                                    .GetInputType = launch_type,
                                    .GetInputTypeCount = launch_one,
                                    .GetOutputType = launch_type,
                                    .GetOutputTypeCount = launch_one,
                                    .KernelDestroy = launch_destroy,
                                    .GetInputCharacteristic = launch_zero,
                                    .GetOutputCharacteristic = launch_zero,
                                    .GetInputMemoryType = launch_zero,
                                    .CreateKernelV2 = launch_create,
                                    .KernelComputeV2 = launch_compute};
    CHECK(!ort->create_custom_op_domain("assay.test", &gpu.domain));
    CHECK(!ort->custom_op_domain_add(gpu.domain, &gpu.base));
    assay__timed_hook(launch_hook, gpu.domain);
}

/* --- the model: a chain of nodes ----------------------------------------------------------------
 */

struct gpu_node {
    const char *op; /* "Launch", or one of ONNX with one input */
    int64_t kernels, ns, memset_ns;
};

static inline void gpu_model(const char *path, const struct gpu_node *nodes, size_t count)
{
    struct assay__model *model = assay__model_new();
    CHECK(model != NULL);
    const struct assay__dim four = {.value = 4, .symbol = ""};
    struct assay__graph *graph = &model->graph;
    struct assay__opset *opsets = assay__arena_array(model->arena, 2, sizeof *opsets);
    model->ir_version = 8;
    CHECK(opsets != NULL);
    CHECK_INT(assay__graph_add_value(model, &graph->inputs, &graph->input_count, "x",
                                     ASSAY__FLOAT32, 1, &four),
              0);
    CHECK_INT(assay__graph_add_value(model, &graph->outputs, &graph->output_count, "y",
                                     ASSAY__FLOAT32, 1, &four),
              0);
    const char *from = "x";
    for (size_t i = 0; i < count; i++) {
        const char *to = i + 1 == count ? "y" : assay__arena_printf(model->arena, "v%zu", i);
        struct assay__node *node = assay__graph_add_node(
            model, graph, nodes[i].op, assay__arena_printf(model->arena, "node%zu", i), &from, 1,
            &to, 1);
        CHECK(node != NULL);
        from = to;
        if (strcmp(nodes[i].op, "Launch") != 0) continue;
        node->domain = "assay.test";
        CHECK_INT(assay__node_set_int(model, node, "kernels", nodes[i].kernels), 0);
        CHECK_INT(assay__node_set_int(model, node, "ns", nodes[i].ns), 0);
        CHECK_INT(assay__node_set_int(model, node, "number", (int64_t)i), 0);
        CHECK_INT(assay__node_set_int(model, node, "memset_ns", nodes[i].memset_ns), 0);
    }
    opsets[0] = (struct assay__opset){.domain = "", .version = 13};
    opsets[1] = (struct assay__opset){.domain = "assay.test", .version = 1};
    model->opsets = opsets;
    model->opset_count = 2;
    graph->name = "launches";
    CHECK_INT(assay__model_write(model, path, NULL), 0);
    assay__model_free(model);
}

/* --- the session ------------------------------------------------------------------------------
 */

struct gpu_session {
    struct assay__session *session;
    const char *input_name, *output_name;
    struct OrtValue *value;
    float input[4];
    char folder[512], path[1024];
};

static inline void gpu_open(struct gpu_session *opened, const struct gpu_node *nodes, size_t count)
{
    struct assay_error error = {0};
    struct assay__session *session = calloc(1, sizeof *session);
    const struct assay__ort *ort = &session->ort;
    struct OrtSessionOptions *options = NULL;
    const int64_t four = 4;
    find_library();
    CHECK(session != NULL);
    *opened = (struct gpu_session){.session = session, .input_name = "x", .output_name = "y"};
    CHECK_INT(assay__folder_temporary(opened->folder, sizeof opened->folder, NULL), 0);
    CHECK_INT(assay__path_join(opened->folder, "m.onnx", opened->path, sizeof opened->path), 0);
    gpu_model(opened->path, nodes, count);
    gpu.last = (int64_t)count - 1;
    CHECK_INT(assay__ort_load(NULL, &session->ort, &error), 0);
    CHECK_INT(assay__ort_env(ort, &session->env, &error), 0);
    gpu_begin(ort);
    CHECK(!ort->get_allocator_with_default_options(&session->allocator));
    CHECK(!ort->create_cpu_memory_info(ASSAY__ORT_ALLOCATOR_ARENA, ASSAY__ORT_MEM_DEFAULT,
                                       &session->cpu_memory));
    session->model_path = opened->path;
    session->device = "cpu";
    session->provider = "CUDAExecutionProvider";
    session->optimization = ASSAY__ORT_OPT_ALL;
    session->threads = 1;
    session->spinning = -1;
    session->stream_count = 1;
    CHECK_INT(assay__ort_session_options(session, ASSAY__ORT_OPT_ALL, &options, &error), 0);
    CHECK_INT(launch_hook(gpu.domain, options), 0);
    if (assay__ort_check(
            ort, ort->create_session(session->env, opened->path, options, &session->session),
            &error, "launches"))
        harness_fail(__FILE__, __LINE__, error.message);
    gpu.sessions = 1;
    ort->release_session_options(options);
    CHECK(!ort->create_tensor_with_data(session->cpu_memory, opened->input, sizeof opened->input,
                                        &four, 1, ASSAY__ORT_ELEMENT_FLOAT, &opened->value));
    session->input_names = &opened->input_name;
    session->input_values = &opened->value;
    session->input_count = 1;
    session->output_names = &opened->output_name;
    session->output_count = 1;
}

static int gpu_enter(void *context)
{
    return context != NULL;
}

static int gpu_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return 0;
}

static int gpu_wait(void)
{
    return 0;
}

/* As for a CUDA graph, with "the device" in host memory. */
static inline void gpu_bind(struct gpu_session *opened)
{
    static const struct assay__device_copy copy = {NULL, gpu_enter, gpu_copy, gpu_copy, gpu_wait};
    struct assay_error error = {0};
    opened->session->arena = assay__arena_new();
    CHECK(opened->session->arena != NULL);
    if (assay__ort_bound_open(opened->session, &copy, &error))
        harness_fail(__FILE__, __LINE__, error.message);
}

static inline void gpu_close(struct gpu_session *opened)
{
    struct assay__session *session = opened->session;
    const struct assay__ort *ort = &session->ort;
    assay__timed_hook(NULL, NULL);
    assay__ort_layers_free(session);
    assay__ort_bound_close(session);
    assay__arena_free(session->arena);
    assay__ort_release_values(ort, &opened->value, 1);
    ort->release_session(session->session);
    ort->release_custom_op_domain(gpu.domain);
    ort->release_memory_info(session->cpu_memory);
    ort->release_env(session->env);
    free(session);
    assay__folder_remove(opened->folder);
}

#endif
