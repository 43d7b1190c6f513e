/* test_coreml.c - Core ML packages and models: what the reader makes of them against coremltools'
 * own reading (lists written by tests/oracle/coreml.py), compressed weights, parameters, flexible
 * shapes, and the costs of the samples. */
#include "coreml_fixture.h"

#include "cost/cost.h"

static void check_fixture(const char *name, const char *ending)
{
    char path[1024], list[1024];
    const char *folder = getenv(
        "ASSAY_COREML_FOLDER"); /* models that the oracle has just written */
    if (!folder) folder = COREML_FOLDER;
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, ending);
    snprintf(list, sizeof list, "%s/%s.txt", folder, name);
    coreml_check_list(path, list);
}

static void test_programs(void)
{
    static const char *const names[] = {"operators",   "flow",        "state",       "image",
                                        "flexible",    "functions",   "quantised16", "quantised18",
                                        "sparse16",    "sparse18",    "joint",       "palettised16",
                                        "palettised6", "palettised18"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_fixture(names[i], "mlpackage");
}

static void test_networks(void)
{
    static const char *const names[] = {"network", "network8", "recurrent", "exact", "control"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_fixture(names[i], "mlmodel");
}

/* --- mapping ---------------------------------------------------------------------------------- */

static const struct assay__node *node_from(const struct assay__model *model, const char *source)
{
    for (size_t i = 0; i < model->graph.node_count; i++)
        if (strcmp(model->graph.nodes[i].source_op, source) == 0) return &model->graph.nodes[i];
    printf("  no %s\n", source);
    return NULL;
}

static void check_ints(const struct assay__node *node, const char *name, const char *expected)
{
    struct assay__buf text = {0};
    const struct assay__attr *attr = assay__node_attr(node, name);
    CHECK(attr && attr->type == ASSAY__ATTR_INTS);
    for (size_t i = 0; i < attr->count; i++)
        assay__buf_printf(&text, "%s%lld", i ? "," : "", (long long)attr->ints[i]);
    CHECK_STR(text.data, expected);
    assay__buf_free(&text);
}

static void check_numbers(const struct assay__model *model, const struct assay__node *node,
                          size_t input, const int64_t *expected, size_t count)
{
    CHECK(input < node->input_count);
    const struct assay__tensor *tensor = assay__graph_initializer(&model->graph,
                                                                  node->inputs[input]);
    CHECK(tensor && tensor->dtype == ASSAY__INT64);
    CHECK_INT(tensor->elements, count);
    CHECK(memcmp(tensor->data, expected, count * sizeof *expected) == 0);
}

static void test_mapping(void)
{
    struct assay__model *model = coreml_load(COREML_FOLDER "operators.mlpackage");
    static const struct {
        const char *source, *op, *domain;
    } pairs[] = {
        {"conv", "Conv", ""},
        {"relu6", "Clip", ""},
        {"max_pool", "MaxPool", ""},
        {"avg_pool", "AveragePool", ""},
        {"conv_transpose", "ConvTranspose", ""},
        {"upsample_bilinear", "Resize", ""},
        {"gelu", "Gelu", ""},
        {"instance_norm", "InstanceNormalization", ""},
        {"silu", "Swish", ""},
        {"pad", "Pad", ""},
        {"slice_by_index", "Slice", ""},
        {"square", "Mul", ""},
        {"topk", "TopK", ""},
        {"matmul", "FusedMatMul", "com.microsoft"},
        {"einsum", "Einsum", ""},
        {"rsqrt", "rsqrt", "coreml"},
        {"lstm", "lstm", "coreml"},
        {"one_hot", "OneHot", ""},
        {"select", "Where", ""},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct assay__node *node = node_from(model, pairs[i].source);
        CHECK(node != NULL);
        CHECK_STR(node->op, pairs[i].op);
        CHECK_STR(node->domain, pairs[i].domain);
    }
    const struct assay__node *conv = node_from(model, "conv");
    check_ints(conv, "pads", "1,0,2,1"); /* MIL: 1,2 for height, 0,1 for width */
    check_ints(conv, "strides", "2,1");
    check_ints(conv, "kernel_shape", "3,3");
    CHECK_INT(assay__node_int(conv, "group", 0), 2);
    CHECK_INT(assay__node_int(node_from(model, "avg_pool"), "count_include_pad", -1), 0);
    CHECK_INT(assay__node_int(node_from(model, "matmul"), "transB", 0), 1);
    CHECK_INT(assay__node_int(node_from(model, "lstm"), "output_sequence", 0), 1);
    check_ints(node_from(model, "transpose"), "perm", "0,2,3,1");
    CHECK_STR(assay__node_attr(node_from(model, "einsum"), "equation")->s, "nchw,nwhu->nchu");
    const int64_t pads[] = {0, 0, 1, 2, 0, 0, 1, 0}, starts[] = {0, 1, 0, 0},
                  ends[] = {1, 4, INT64_MAX, 5};
    check_numbers(model, node_from(model, "pad"), 1, pads, 8);
    check_numbers(model, node_from(model, "slice_by_index"), 1, starts, 4);
    check_numbers(model, node_from(model, "slice_by_index"), 2, ends, 4);
    const struct assay__node *lstm = node_from(model, "lstm");
    CHECK_STR(lstm->inputs[1], "cell_weight_ih_0_to_fp16");
    CHECK_STR(lstm->inputs[5], "cell_initial_c_0_to_fp16");
    assay__model_free(model);
}

static void test_flow(void)
{
    struct assay__model *model = coreml_load(COREML_FOLDER "flow.mlpackage");
    const struct assay__node *branch = node_from(model, "cond"),
                             *loop = node_from(model, "while_loop");
    CHECK_STR(branch->op, "If");
    CHECK_STR(loop->op, "Loop");
    const struct assay__attr *body = assay__node_attr(loop, "body");
    CHECK(body && body->g && assay__node_attr(branch, "else_branch")->g);
    /* turn, condition and two values in; condition and two values out */
    CHECK_INT(body->g->input_count, 4);
    CHECK_INT(body->g->output_count, 3);
    CHECK_INT(body->g->outputs[0].dtype, ASSAY__BOOL);
    CHECK_STR(loop->inputs[0], "");
    CHECK_STR(loop->inputs[1], "turns_0.first/below_cast_fp16");
    assay__model_free(model);
}

static const struct assay__node *node_called(const struct assay__graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].name, name) == 0) return &graph->nodes[i];
    printf("  no %s\n", name);
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

/* Branches and loops of a neural network: what they write are their results, once each. */
static void test_control(void)
{
    struct assay__model *model = coreml_load(COREML_FOLDER "control.mlmodel");
    const struct assay__graph *graph = &model->graph;
    const struct assay__node *pick = node_called(graph, "pick"), *five = node_called(graph, "five"),
                             *loop = node_called(graph, "while"), *sum = node_called(graph, "sum");
    int64_t elements = 0, bytes = 0;
    CHECK_STR(pick->op, "If");
    CHECK_INT(pick->output_count, 1); /* y, which both write; w is one branch's own */
    CHECK_STR(pick->outputs[0], "y");
    CHECK_STR(assay__node_attr(pick, "then_branch")->g->outputs[0].name, "pick.then/y");
    CHECK_STR(assay__node_attr(pick, "else_branch")->g->outputs[0].name, "pick.else/y");
    CHECK_STR(five->op, "Loop");
    CHECK_INT(five->input_count, 3); /* turns, no condition, memory */
    const struct assay__tensor *turns = assay__graph_initializer(graph, five->inputs[0]);
    CHECK(turns && turns->dtype == ASSAY__INT64 && turns->data[0] == 5);
    CHECK_STR(five->inputs[1], "");
    CHECK_STR(five->inputs[2], node_called(graph, "start")->outputs[0]);
    CHECK_INT(five->output_count, 1);
    CHECK_INT(loop->output_count, 3); /* below, i, memory */
    CHECK_STR(loop->inputs[0], "");
    CHECK_STR(loop->inputs[1], "while.go.first");
    CHECK_STR(loop->inputs[4], five->outputs[0]);
    CHECK_STR(loop->outputs[2], "memory"); /* the last one has the output's name */
    CHECK_STR(sum->inputs[0], "memory");
    CHECK_STR(sum->inputs[1], "y");
    const struct assay__node *inside = node_called(assay__node_attr(loop, "body")->g,
                                                   "while.body/inside");
    CHECK_INT(inside->output_count, 1);
    CHECK_STR(assay__node_attr(inside, "else_branch")->g->nodes[0].inputs[0], "while.body/memory");
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 3 * (8 * 8 + 8) + 1); /* three dense layers, one constant */
    assay__model_free(model);
}

/* Five turns are five times the body: 8 x 8 products and a bias each. The other loop's are unknown,
 * and which branch is taken. */
static void test_control_cost(void)
{
    struct assay__model *model = coreml_load(COREML_FOLDER "control.mlmodel");
    struct assay__shapes *shapes = NULL;
    struct assay_error error = {0};
    struct assay__cost costs[32];
    CHECK(model->graph.node_count <= 32);
    CHECK_INT(assay__shapes_infer(model, NULL, 0, &shapes, &error), 0);
    CHECK_INT(assay__cost_graph(model, shapes, costs, &error), 0);
    for (size_t i = 0; i < model->graph.node_count; i++) {
        const struct assay__node *node = &model->graph.nodes[i];
        if (strcmp(node->name, "five") == 0) CHECK_NEAR(costs[i].macs, 5 * (64 + 8), 0);
        if (strcmp(node->name, "while") == 0) CHECK(isnan(costs[i].flops));
        if (strcmp(node->name, "pick") == 0) CHECK(isnan(costs[i].flops));
    }
    CHECK_INT(assay__shapes_trips(shapes, node_called(&model->graph, "five")), 5);
    CHECK_INT(assay__shapes_trips(shapes, node_called(&model->graph, "while")), -1);
    const struct assay__shape_entry *entry = assay__shapes_get(shapes, "memory");
    CHECK(entry && entry->rank == 2 && entry->dims[0] == 1 && entry->dims[1] == 8);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

/* --- weights ---------------------------------------------------------------------------------- */

static void test_compressed(void)
{
    static const struct {
        const char *name, *scheme, *detail;
        double bits;
        long long logical, bytes;
    } weights[] = {
        /* 64 x 64 numbers; float16 tables and scales of 2 bytes */
        {"palettised16.mlpackage", "palettised", "16 entries, 1 table", 4, 4096, 2048 + 32},
        {"palettised18.mlpackage", "palettised", "4 entries, 4 tables", 2, 4096, 1024 + 4 * 4 * 2},
        {"palettised6.mlpackage", "palettised", "64 entries, 1 table", 6, 4096, 3072 + 128},
        {"quantised16.mlpackage", "quantised", "per channel", 8, 4096, 4096 + 64 * 2 + 64},
        {"quantised18.mlpackage", "quantised", "per block of 16", 4, 4096, 2048 + 64 * 4 * 2},
        {"network8.mlmodel", "palettised", "16 entries, 1 table", 4, 216, 108 + 64},
    };
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, COREML_FOLDER "%s", weights[i].name);
        struct assay__model *model = coreml_load(path);
        CHECK(model->stored_count >= 1);
        CHECK_STR(model->stored[0].scheme, weights[i].scheme);
        CHECK_STR(model->stored[0].detail, weights[i].detail);
        CHECK_NEAR(model->stored[0].bits, weights[i].bits, 0);
        CHECK_INT(model->stored[0].logical_elements, weights[i].logical);
        CHECK_INT(model->stored[0].stored_bytes, weights[i].bytes);
        assay__model_free(model);
    }
}

/* A bit per element and the numbers that are not zero: the bytes say how many there are. */
static void test_sparse(void)
{
    static const char *const names[] = {"sparse16", "sparse18", "joint"};
    for (size_t i = 0; i < 3; i++) {
        char path[512];
        long long nonzeros = 0;
        snprintf(path, sizeof path, COREML_FOLDER "%s.mlpackage", names[i]);
        struct assay__model *model = coreml_load(path);
        CHECK_INT(model->stored_count, 1);
        const struct assay__stored_weight *weight = &model->stored[0];
        CHECK_STR(weight->scheme, i == 2 ? "sparse + palettised" : "sparse");
        CHECK_INT(sscanf(weight->detail, "%lld non-zeros", &nonzeros), 1);
        CHECK(nonzeros > 1000 && nonzeros < 4096);
        CHECK_INT(weight->logical_elements, 4096);
        CHECK_INT(weight->stored_bytes, 512 + (i == 2 ? (nonzeros + 1) / 2 + 32 : 2 * nonzeros));
        CHECK_INT(weight->dtype, ASSAY__FLOAT16);
        assay__model_free(model);
    }
}

static void test_parameters(void)
{
    int64_t elements = 0, bytes = 0;
    struct assay__model *model = coreml_load(COREML_FOLDER "functions.mlpackage");
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 64 * 64 + 64);
    CHECK_INT(bytes, 2 * elements);
    CHECK_STR(assay__model_metadata(model, "coreml.functions"), "first, second");
    CHECK_STR(assay__model_metadata(model, "coreml.function"), "second");
    CHECK_STR(model->graph.name, "second");
    assay__model_free(model);
}

/* --- inputs ----------------------------------------------------------------------------------- */

static void test_inputs(void)
{
    struct assay__model *model = coreml_load(COREML_FOLDER "flexible.mlpackage");
    CHECK_INT(model->graph.inputs[0].dims[0].value, -1);
    CHECK_STR(model->graph.inputs[0].dims[0].symbol, "x_0");
    CHECK_INT(model->graph.inputs[0].dims[1].value, 16);
    CHECK_STR(assay__model_metadata(model, "coreml.input.x"), "axis 0: 1 to 64; default 4x16");
    assay__model_free(model);
    model = coreml_load(COREML_FOLDER "image.mlpackage");
    CHECK_STR(assay__model_metadata(model, "coreml.input.x"), "image RGB");
    CHECK_INT(model->graph.inputs[0].rank, 4);
    assay__model_free(model);
    model = coreml_load(COREML_FOLDER "state.mlpackage");
    CHECK_STR(assay__model_metadata(model, "coreml.state.memory"), "state");
    CHECK_INT(model->graph.input_count, 2);
    assay__model_free(model);
}

/* Shapes of an old network follow from its layers: 3 x 16 x 16, halved twice, doubled once,
 * flat, 10. */
static void test_network_shapes(void)
{
    static const struct {
        const char *name;
        int rank;
        int64_t dims[4];
    } expected[] = {{"c", 4, {1, 8, 8, 8}}, {"p", 4, {1, 8, 4, 4}},       {"d", 4, {1, 8, 4, 4}},
                    {"t", 4, {1, 8, 4, 4}}, {"u", 4, {1, 8, 8, 8}},       {"f", 2, {1, 512}},
                    {"h", 2, {1, 10}},      {"probabilities", 2, {1, 10}}};
    struct assay__model *model = coreml_load(COREML_FOLDER "network.mlmodel");
    struct assay__shapes *shapes = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay__shapes_infer(model, NULL, 0, &shapes, &error), 0);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct assay__shape_entry *entry = assay__shapes_get(shapes, expected[i].name);
        CHECK(entry != NULL);
        CHECK_INT(entry->rank, expected[i].rank);
        for (int k = 0; k < entry->rank; k++)
            CHECK_INT(entry->dims[k], expected[i].dims[k]);
    }
    assay__shapes_free(shapes);
    assay__model_free(model);
}

/* --- the samples ------------------------------------------------------------------------------ */

static void check_sample(const char *name, double macs)
{
    char path[512], list[512];
    struct assay_error error = {0};
    struct assay__shapes *shapes = NULL;
    struct assay__cost costs[32];
    double total = 0;
    snprintf(path, sizeof path, ASSAY_TEST_ROOT "/../shared/data/coreml/%s.mlpackage", name);
    snprintf(list, sizeof list, COREML_FOLDER "sample_%s.txt", name);
    if (!assay__file_exists(path)) SKIP("the Core ML samples are not beside the checkout");
    coreml_check_list(path, list);
    struct assay__model *model = coreml_load(path);
    CHECK(model->graph.node_count <= 32);
    CHECK_INT(assay__shapes_infer(model, NULL, 0, &shapes, &error), 0);
    CHECK_INT(assay__cost_graph(model, shapes, costs, &error), 0);
    for (size_t i = 0; i < model->graph.node_count; i++) {
        if (isnan(costs[i].flops) || isnan(costs[i].bytes_read))
            printf("  %s has no cost\n", model->graph.nodes[i].source_op);
        CHECK(!isnan(costs[i].flops) && !isnan(costs[i].bytes_read));
        total += costs[i].macs;
    }
    CHECK_NEAR(total, macs, 0);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static void test_samples(void)
{
    /* linear 16 x 64 x 64 with its bias, two products 16 x 16 x 64 */
    check_sample("attention", 16 * 64 * 64 + 16 * 64 + 2 * 16 * 16 * 64);
    /* 32 x 16 x 16 x 27, 64 x 16 x 16 x 32, 10 x 64 with its bias */
    check_sample("cnn", 32 * 256 * 27 + 64 * 256 * 32 + 640 + 10);
    check_sample("unsupported", 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"programs", test_programs},     {"networks", test_networks},
        {"mapping", test_mapping},       {"flow", test_flow},
        {"compressed", test_compressed}, {"sparse", test_sparse},
        {"parameters", test_parameters}, {"inputs", test_inputs},
        {"samples", test_samples},       {"network_shapes", test_network_shapes},
        {"control", test_control},       {"control_cost", test_control_cost},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
