/* test_layers_spin.c - a node whose time is known, inside a real model of a few µs: a custom
 * operator that spins, put into the CfC fixture. Markers must find it with an error of at most
 * 0.3 µs. The machine may be busy: the best of several measurements counts, all are printed.
 * plain-only: it compares times; test_layers and test_layers_counted run the same code under
 * sanitizers. */
#include "base/clock.h"
#include "base/file.h"
#include "base/stats.h"
#include "engine/ort/ort_layers.h"
#include "layers_fixture.h"

/* Spin: copies its float tensor, then waits until `ns` have passed since it began; notes how
 * long it really took. */
struct spin_op {
    struct OrtCustomOp base;
    const struct assay__ort *ort;
    struct OrtCustomOpDomain *domain;
    double *seen; /* ns, ring */
    size_t count, capacity;
};
static struct spin_op spin;

struct spin_kernel {
    int64_t ns;
};

static struct OrtStatus *spin_create(const struct OrtCustomOp *op, const struct OrtApi *api,
                                     const struct OrtKernelInfo *info, void **kernel)
{
    (void)op, (void)api;
    struct spin_kernel *made = calloc(1, sizeof *made);
    *kernel = made;
    return spin.ort->kernel_info_get_attribute_int64(info, "ns", &made->ns);
}

static struct OrtStatus *spin_compute(void *kernel, struct OrtKernelContext *context)
{
    uint64_t start_ns = assay__now_ns();
    const struct assay__ort *ort = spin.ort;
    const struct OrtValue *input = NULL;
    struct OrtValue *output = NULL;
    struct OrtTensorTypeAndShapeInfo *info = NULL;
    int64_t dims[8];
    size_t rank = 0, count = 0;
    void *from = NULL, *to = NULL;
    struct OrtStatus *status = ort->kernel_context_get_input(context, 0, &input);
    if (!status) status = ort->get_tensor_type_and_shape(input, &info);
    if (!status) status = ort->get_dimensions_count(info, &rank);
    if (!status) status = ort->get_dimensions(info, dims, rank);
    if (!status) status = ort->get_tensor_shape_element_count(info, &count);
    if (!status) status = ort->kernel_context_get_output(context, 0, dims, rank, &output);
    if (!status) status = ort->get_tensor_mutable_data((struct OrtValue *)input, &from);
    if (!status) status = ort->get_tensor_mutable_data(output, &to);
    if (!status) memcpy(to, from, count * sizeof(float));
    if (info) ort->release_tensor_type_and_shape_info(info);
    uint64_t end_ns = start_ns + (uint64_t)((struct spin_kernel *)kernel)->ns, now_ns;
    while ((now_ns = assay__now_ns()) < end_ns) {
    }
    spin.seen[spin.count++ % spin.capacity] = (double)(now_ns - start_ns);
    return status;
}

static void spin_destroy(void *kernel)
{
    free(kernel);
}
static const char *spin_name(const struct OrtCustomOp *op)
{
    (void)op;
    return "Spin";
}
static const char *spin_provider(const struct OrtCustomOp *op)
{
    (void)op;
    return NULL;
}
static int spin_type(const struct OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return ASSAY__ORT_ELEMENT_FLOAT;
}
static size_t spin_one(const struct OrtCustomOp *op)
{
    (void)op;
    return 1;
}
static int spin_zero(const struct OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return 0;
}
static struct OrtStatus *spin_infer(const struct OrtCustomOp *op,
                                    struct OrtShapeInferContext *context)
{
    struct OrtTensorTypeAndShapeInfo *info = NULL;
    (void)op;
    assay__ort_ignore(spin.ort,
                      spin.ort->shape_infer_context_get_input_type_shape(context, 0, &info));
    if (info)
        assay__ort_ignore(spin.ort,
                          spin.ort->shape_infer_context_set_output_type_shape(context, 0, info));
    return NULL;
}

static struct OrtCustomOpDomain *spin_domain(const struct assay__ort *ort)
{
    struct OrtCustomOpDomain *domain = NULL;
    spin.ort = ort;
    spin.capacity = 4096;
    spin.seen = calloc(spin.capacity, sizeof *spin.seen);
    CHECK(spin.seen != NULL);
    spin.base = (struct OrtCustomOp){.version = (uint32_t)ort->api_version,
                                     .GetName = spin_name,
                                     .GetExecutionProviderType = spin_provider,
                                     .GetInputType = spin_type,
                                     .GetInputTypeCount = spin_one,
                                     .GetOutputType = spin_type,
                                     .GetOutputTypeCount = spin_one,
                                     .KernelDestroy = spin_destroy,
                                     .GetInputCharacteristic = spin_zero,
                                     .GetOutputCharacteristic = spin_zero,
                                     .GetInputMemoryType = spin_zero,
                                     .CreateKernelV2 = spin_create,
                                     .KernelComputeV2 = spin_compute,
                                     .InferOutputShapeFn = spin_infer};
    CHECK(!ort->create_custom_op_domain("assay.test", &domain));
    CHECK(!ort->custom_op_domain_add(domain, &spin.base));
    return domain;
}

static int spin_hook(void *context, struct OrtSessionOptions *options)
{
    return spin.ort->add_custom_op_domain(options, context) != NULL;
}

/* Puts a Spin behind a node in the middle of a model: its consumers read the Spin's output. */
static void write_spinning(const char *from, const char *to, int64_t ns)
{
    struct assay__model *model = read_model(from);
    struct assay__graph *graph = &model->graph;
    size_t middle = graph->node_count / 2;
    while (strcmp(graph->nodes[middle].op, "Gemm") != 0 &&
           strcmp(graph->nodes[middle].op, "Mul") != 0)
        middle++;
    const char *value = graph->nodes[middle].outputs[0], *spun = "spun";
    for (size_t i = middle + 1; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].input_count; k++)
            if (strcmp(graph->nodes[i].inputs[k], value) == 0) graph->nodes[i].inputs[k] = spun;
    struct assay__node *node = assay__graph_add_node(model, graph, "Spin", "the_spin", &value, 1,
                                                     &spun, 1);
    CHECK(node != NULL);
    node->domain = "assay.test";
    CHECK_INT(assay__node_set_int(model, node, "ns", ns), 0);
    struct assay__opset *opsets = assay__arena_array(model->arena, model->opset_count + 1,
                                                     sizeof *opsets);
    CHECK(opsets != NULL);
    memcpy(opsets, model->opsets, model->opset_count * sizeof *opsets);
    opsets[model->opset_count] = (struct assay__opset){.domain = "assay.test", .version = 1};
    model->opsets = opsets;
    model->opset_count++;
    CHECK_INT(assay__model_write(model, to, NULL), 0);
    assay__model_free(model);
}

/* A session made by hand, because the engine's own open() knows no operators of ours. */
static void open_spinning(struct opened *opened, char *path)
{
    struct assay_error error = {0};
    struct assay__session *session = calloc(1, sizeof *session);
    const struct assay__ort *ort = &session->ort;
    struct OrtSessionOptions *options = NULL;
    static const char *input_names[INPUTS_MOST], *output_names[INPUTS_MOST];
    static struct OrtValue *values[INPUTS_MOST];
    CHECK(session != NULL);
    opened->session = session;
    CHECK_INT(assay__ort_load(NULL, &session->ort, &error), 0);
    CHECK_INT(assay__ort_env(ort, &session->env, &error), 0);
    CHECK(!ort->get_allocator_with_default_options(&session->allocator));
    CHECK(!ort->create_cpu_memory_info(ASSAY__ORT_ALLOCATOR_ARENA, ASSAY__ORT_MEM_DEFAULT,
                                       &session->cpu_memory));
    session->model_path = path;
    session->device = "cpu";
    session->provider = "CPUExecutionProvider";
    session->optimization = ASSAY__ORT_OPT_ALL;
    session->threads = 1;
    session->spinning = -1;
    session->create_ns = 5e6;
    spin.domain = spin_domain(ort);
    assay__timed_hook(spin_hook, spin.domain);
    CHECK_INT(assay__ort_session_options(session, ASSAY__ORT_OPT_ALL, &options, &error), 0);
    CHECK_INT(spin_hook(spin.domain, options), 0);
    if (assay__ort_check(ort, ort->create_session(session->env, path, options, &session->session),
                         &error, "spin"))
        harness_fail(__FILE__, __LINE__, error.message);
    ort->release_session_options(options);
    for (size_t i = 0; i < opened->input_count; i++) {
        const struct assay__host_tensor *tensor = &opened->inputs[i];
        input_names[i] = tensor->name;
        CHECK(!ort->create_tensor_with_data(session->cpu_memory, tensor->data, tensor->data_size,
                                            tensor->dims, (size_t)tensor->rank, tensor->dtype,
                                            &values[i]));
    }
    CHECK(opened->model->graph.output_count <= INPUTS_MOST);
    for (size_t i = 0; i < opened->model->graph.output_count; i++)
        output_names[i] = opened->model->graph.outputs[i].name;
    session->input_names = input_names;
    session->input_values = values;
    session->input_count = opened->input_count;
    session->output_names = output_names;
    session->output_count = opened->model->graph.output_count;
}

static void close_spinning(struct opened *opened)
{
    struct assay__session *session = opened->session;
    const struct assay__ort *ort = &session->ort;
    assay__timed_hook(NULL, NULL);
    assay__arena_free(session->layer_arena);
    assay__ort_release_values(ort, session->input_values, session->input_count);
    ort->release_session(session->session);
    ort->release_custom_op_domain(spin.domain);
    ort->release_memory_info(session->cpu_memory);
    ort->release_env(session->env);
    free(session);
    free(spin.seen);
    for (size_t i = 0; i < opened->input_count; i++)
        free(opened->inputs[i].data);
    assay__model_free(opened->model);
}

static double spin_truth_ns(void)
{
    size_t count = spin.count < spin.capacity ? spin.count : spin.capacity;
    double *values = calloc(count + 1, sizeof *values);
    CHECK(values && count > 0);
    memcpy(values, spin.seen, count * sizeof *values);
    assay__stats_sort(values, count);
    double median = assay__stats_median(values, count);
    free(values);
    return median;
}

static void find_spin(int64_t ns)
{
    char original[1024], folder[512], path[1024];
    struct opened opened = {0};
    double best = INFINITY;
    int attempts = harness_emulator() ? 1 : 24;
    fixture_path(original, sizeof original, "cfc/model.onnx");
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    CHECK_INT(assay__path_join(folder, "spin.onnx", path, sizeof path), 0);
    write_spinning(original, path, ns);
    opened.model = read_model(path);
    fill_inputs(&opened);
    open_spinning(&opened, path);
    for (int attempt = 0; attempt < attempts && best > 300; attempt++) {
        struct assay__layers result;
        struct assay_error error = {0};
        struct assay__layer_options options = {
            .size = sizeof options, .method = ASSAY_LAYERS_MARKERS, .budget_s = 0.8};
        spin.count = 0;
        if (assay__ort_layers(opened.session, &options, &result, &error))
            harness_fail(__FILE__, __LINE__, error.message);
        const struct assay__layer *layer = layer_named(&result, "the_spin");
        CHECK(layer != NULL);
        double truth = spin_truth_ns(), found = layer->time_ns - truth;
        printf("  spin of %.0f ns: found %.0f ns, off by %+.0f ns (%zu layers, factor %.3f)\n",
               truth, layer->time_ns, found, result.count, result.scale_factor);
        best = fmin(best, fabs(found));
        CHECK_INT(layer->from_count, 1);
        CHECK_STR(layer->from[0], "the_spin");
    }
    close_spinning(&opened);
    assay__folder_remove(folder);
    SKIP_EMULATED("its time is not the node's");
    CHECK(best <= 300);
}

static void test_spin_1_us(void)
{
    find_library();
    find_spin(1000);
}

static void test_spin_5_us(void)
{
    find_library();
    find_spin(5000);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"spin_1_us", test_spin_1_us},
                                                {"spin_5_us", test_spin_5_us}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
