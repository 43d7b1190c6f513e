/* test_analysis.c - everything said of a model at once: totals are the sums of their parts, what is
 * not known is listed with its reason and left out, parameters are counted by type and storage. */
#include "flow_fixture.h"

#include "cost/analysis.h"
#include "model/rewrite/rewrite.h"
#include "model/rewrite/rewrite_graph.h"
#include "zoo/zoo.h"

static struct assay__analysis *analyse(struct assay__model *model)
{
    struct assay_error error = {.code = 0};
    struct assay__analysis *analysis = NULL;
    if (assay__analyse(model, NULL, &analysis, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return analysis;
}

static void drop(struct assay__analysis *analysis, struct assay__model *model)
{
    assay__analysis_free(analysis);
    assay__model_free(model);
}

static const struct assay__op_total *op(const struct assay__analysis *a, const char *name)
{
    for (size_t i = 0; i < a->op_count; i++)
        if (strcmp(a->ops[i].op, name) == 0) return &a->ops[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

/* Sums of the parts are the totals; the order is by FLOPs. */
static void check_sums(const struct assay__analysis *a)
{
    double flops = 0, macs = 0, bytes = 0;
    size_t unknown = 0, listed = 0, no_flops = 0, no_bytes = 0;
    int64_t parameter_bytes = 0;
    for (size_t i = 0; i < a->op_count; i++) {
        flops += isnan(a->ops[i].flops) ? 0 : a->ops[i].flops;
        macs += isnan(a->ops[i].macs) ? 0 : a->ops[i].macs;
        bytes += isnan(a->ops[i].bytes) ? 0 : a->ops[i].bytes;
        unknown += a->ops[i].unknown;
        CHECK(i == 0 || isnan(a->ops[i].flops) || a->ops[i].flops <= a->ops[i - 1].flops);
    }
    for (size_t i = 0; i < a->unknown_count; i++) {
        const struct assay__unknown_op *u = &a->unknown[i];
        CHECK(u->without_flops <= u->count && u->without_bytes <= u->count);
        CHECK(u->without_flops + u->without_bytes >= u->count);
        listed += u->count;
        no_flops += u->without_flops;
        no_bytes += u->without_bytes;
    }
    CHECK_INT(no_flops, a->unknown_flops);
    CHECK_INT(no_bytes, a->unknown_bytes);
    for (size_t i = 0; i < a->parameter_type_count; i++)
        parameter_bytes += a->parameters_by_type[i].bytes;
    CHECK_NEAR(flops, a->flops, 0);
    CHECK_NEAR(macs, a->macs, 0);
    CHECK_NEAR(bytes, a->bytes_read + a->bytes_written, 0);
    CHECK_INT(unknown, listed);
    CHECK_INT(parameter_bytes, a->parameter_bytes);
    CHECK(a->bytes_weights <= a->bytes_read);
}

static void test_light_models(void)
{
    char path[1024];
    for (size_t i = 0; i < LIGHT_COUNT; i++) {
        size_t nodes = 0;
        light_path(light_names[i], path, sizeof path);
        struct assay__model *model = fixture_read(path);
        struct assay__analysis *a = analyse(model);
        check_sums(a);
        for (size_t k = 0; k < a->op_count; k++)
            nodes += a->ops[k].count;
        CHECK_INT(nodes, model->graph.node_count);
        CHECK_INT(a->unknown_count, 0);
        CHECK_INT(a->unknown_flops, 0);
        CHECK_INT(a->conflict_count, 0);
        CHECK(a->live.peak_bytes > 0);
        CHECK_STR(a->ops[0].op, "Conv");
        drop(a, model);
    }
}

static void test_unknown(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "10");
    fixture_node(model, "Relu x -> a");
    fixture_node(model, "NoSuchOperator a -> b");
    fixture_node(model, "NoSuchOperator b -> c");
    fixture_node(model, "Relu c -> d");
    fixture_output(model, "d");
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_NEAR(a->flops, 10, 0); /* the known part */
    CHECK_INT(a->unknown_flops, 3);
    CHECK_INT(op(a, "Relu")->count, 2);
    CHECK_INT(op(a, "Relu")->unknown, 1);
    CHECK_NEAR(op(a, "Relu")->flops, 10, 0);
    CHECK(isnan(op(a, "NoSuchOperator")->flops));
    CHECK_INT(a->unknown_count, 2);
    CHECK_STR(a->unknown[0].op, "NoSuchOperator");
    CHECK_STR(a->unknown[0].why, "no cost formula");
    CHECK_INT(a->unknown[0].count, 2);
    CHECK_STR(a->unknown[1].why, "shape unknown");
    CHECK(isnan(a->live.peak_bytes));
    drop(a, model);
}

/* A node may lack one of the two: what is listed says which. */
static void test_partly_unknown(void)
{
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "NoSuchOperator x[10] -> b[10]", "");
    cost_node(model, "", "NonZero x -> i", "");
    cost_node(model, "", "Relu x -> d", "");
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_INT(a->unknown_flops, 1);
    CHECK_INT(a->unknown_bytes, 1);
    CHECK_INT(a->unknown_count, 2);
    CHECK_STR(a->unknown[0].op, "NoSuchOperator");
    CHECK_INT(a->unknown[0].without_flops, 1);
    CHECK_INT(a->unknown[0].without_bytes, 0);
    CHECK_STR(a->unknown[1].op, "NonZero");
    CHECK_STR(a->unknown[1].why, "depends on the data");
    CHECK_INT(a->unknown[1].without_flops, 0);
    CHECK_INT(a->unknown[1].without_bytes, 1);
    drop(a, model);
}

/* Operators of bodies are counted once and charged for every trip. */
static void test_bodies(void)
{
    struct assay__model *model = flow_loop(5);
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_NEAR(a->flops, 5 * 64, 0);
    CHECK_NEAR(a->costs[0].flops, 5 * 64, 0);
    CHECK_INT(op(a, "MatMul")->count, 1);
    CHECK_NEAR(op(a, "MatMul")->flops, 5 * 64, 0);
    CHECK_NEAR(op(a, "Loop")->flops, 0, 0);
    CHECK_INT(a->unknown_count, 0);
    drop(a, model);
    model = flow_loop(-1);
    a = analyse(model);
    check_sums(a);
    CHECK_NEAR(a->flops, 0, 0);
    CHECK(isnan(op(a, "MatMul")->flops));
    CHECK_NEAR(op(a, "Identity")->bytes, 0, 0); /* nothing, however often */
    CHECK_INT(a->unknown_flops, 2);             /* the product and its loop */
    for (size_t i = 0; i < a->unknown_count; i++)
        CHECK_STR(a->unknown[i].why, "trip count unknown");
    drop(a, model);
    model = flow_if("Relu", "Sigmoid", 0); /* the branch that is not taken costs nothing */
    a = analyse(model);
    check_sums(a);
    CHECK_NEAR(a->flops, 40, 0);
    CHECK_INT(op(a, "Relu")->count, 1);
    CHECK_NEAR(op(a, "Relu")->flops, 0, 0);
    drop(a, model);
}

/* With the inputs that a workload would feed: a condition is true, a number of trips 1, and what is
 * compared with a constant is that constant. */
static struct assay__analysis *analyse_fed(struct assay__model *model,
                                           struct assay__workload **workload)
{
    const struct assay__workload_options options = {.shapes_only = true};
    struct assay_error error = {.code = 0};
    struct assay__analysis *analysis = NULL;
    CHECK_INT(assay__workload_plan(model, &options, workload, &error), 0);
    CHECK_INT(assay__analyse(model, *workload, &analysis, &error), 0);
    return analysis;
}

static void test_chosen_values(void)
{
    struct assay__workload *workload = NULL;
    struct assay__model *model = flow_if("Relu", "Sigmoid", -1);
    struct assay__analysis *a = analyse_fed(model, &workload);
    check_sums(a);
    CHECK_NEAR(a->flops, 10, 0);
    CHECK_INT(op(a, "Sigmoid")->skipped, 1);
    CHECK_INT(op(a, "Relu")->skipped, 0);
    CHECK_INT(a->node_count, 2); /* the If and what it runs */
    CHECK_STR(a->nodes[1].node->op, "Relu");
    CHECK_INT(a->nodes[1].depth, 1);
    drop(a, model);
    assay__workload_free(workload);

    model = flow_loop(-1);
    a = analyse_fed(model, &workload);
    CHECK_NEAR(op(a, "MatMul")->flops, 64, 0);
    CHECK_INT(a->unknown_count, 0);
    drop(a, model);
    assay__workload_free(workload);

    const int64_t rate = 16000;
    model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "10");
    fixture_input(model, "sr", ASSAY__INT64, "");
    fixture_scalar(model, "rate", ASSAY__INT64, &rate);
    fixture_node(model, "Equal sr,rate -> c");
    fixture_node(model, "Not c -> other");
    struct assay__node *node = fixture_node(model, "If other -> y");
    flow_attach(model, node, "then_branch", flow_branch(model, "Relu", "t"));
    flow_attach(model, node, "else_branch", flow_branch(model, "Sigmoid", "e"));
    fixture_output(model, "y");
    a = analyse_fed(model, &workload);
    CHECK_NEAR(a->flops, 40, 0);
    CHECK_INT(op(a, "Relu")->skipped, 1);
    drop(a, model);
    assay__workload_free(workload);
}

/* One Relu does not run, of another it is not known: together they are not nothing. */
static void test_no_false_zero(void)
{
    const uint8_t no = 0;
    struct assay__model *model = flow_if("Relu", "Sigmoid", -1);
    fixture_scalar(model, "d", ASSAY__BOOL, &no);
    struct assay__node *node = fixture_node(model, "If d -> z");
    flow_attach(model, node, "then_branch", flow_branch(model, "Relu", "t2"));
    flow_attach(model, node, "else_branch", flow_branch(model, "Tanh", "e2"));
    fixture_output(model, "z");
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_INT(op(a, "Relu")->count, 2);
    CHECK_INT(op(a, "Relu")->skipped, 1);
    CHECK_INT(op(a, "Relu")->unknown, 1);
    CHECK(isnan(op(a, "Relu")->flops));
    CHECK(isnan(op(a, "Relu")->bytes));
    CHECK(isnan(op(a, "If")->flops));
    CHECK(op(a, "Tanh")->flops > 0);
    drop(a, model);
}

/* Two trees of one split each: two thresholds and four leaves, not the leaves' places among the
 * thresholds; what they take is all of it. */
static void test_trees(void)
{
    static const char *const modes[] = {"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"};
    const float values[6] = {0.5f, 0, 0, 0.25f, 0, 0}, leaves[4] = {1, 2, 3, 4};
    const int64_t features[6] = {0, 0, 0, 1, 0, 0};
    struct assay__model *model = fixture_model(17);
    struct assay__node *node = cost_node(model, "ai.onnx.ml", "TreeEnsembleRegressor x[5,2] -> y",
                                         "");
    CHECK_INT(assay__node_set_floats(model, node, "nodes_values", values, 6), 0);
    CHECK_INT(assay__node_set_floats(model, node, "target_weights", leaves, 4), 0);
    CHECK_INT(assay__node_set_ints(model, node, "nodes_featureids", features, 6), 0);
    struct assay__attr *attrs = assay__arena_array(model->arena, node->attr_count + 1,
                                                   sizeof *attrs);
    memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
    attrs[node->attr_count++] = (struct assay__attr){.name = "nodes_modes",
                                                     .type = ASSAY__ATTR_STRINGS,
                                                     .strings = (const char **)modes,
                                                     .count = 6,
                                                     .reference = "",
                                                     .s = ""};
    node->attrs = attrs;
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_INT(a->parameters, 2 + 4);
    CHECK_INT(a->parameter_bytes, 10 * 4 + 6 * 8);
    CHECK_INT(a->parameter_type_count, 2);
    CHECK_STR(a->parameters_by_type[0].storage, "attribute");
    CHECK(isnan(op(a, "TreeEnsembleRegressor")->flops));
    drop(a, model);
}

static void test_parameters(void)
{
    struct assay__model *model = fixture_model(21);
    fixture_input(model, "x", ASSAY__FLOAT32, "3,10");
    fixture_weights(model, "w", ASSAY__FLOAT32, "10,10");
    fixture_weights(model, "h", ASSAY__FLOAT16, "10,10");
    fixture_weights(model, "q", ASSAY__INT4, "11");
    fixture_weights(model, "scale", ASSAY__FLOAT32, "");
    fixture_weights(model, "sparse", ASSAY__FLOAT32, "10,10");
    fixture_weights(model, "far", ASSAY__FLOAT32, "10,10");
    model->graph.initializers[4].nonzeros = 5;
    model->graph.initializers[4].sparse_bytes = 60;
    model->graph.initializers[5].external = true;
    fixture_node(model, "MatMul x,w -> a");
    fixture_node(model, "DequantizeLinear q,scale -> b");
    struct assay__analysis *a = analyse(model);
    static const struct {
        enum assay__dtype dtype;
        const char *storage;
        int64_t tensors, elements, bytes;
    } expected[] = {{ASSAY__FLOAT32, "dense", 2, 101, 404},
                    {ASSAY__FLOAT32, "dense, external", 1, 100, 400},
                    {ASSAY__FLOAT16, "dense", 1, 100, 200},
                    {ASSAY__FLOAT32, "sparse", 1, 100, 60},
                    {ASSAY__INT4, "quantised", 1, 11, 6}};
    CHECK_INT(a->parameter_type_count, 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(a->parameters_by_type[i].dtype, expected[i].dtype);
        CHECK_STR(a->parameters_by_type[i].storage, expected[i].storage);
        CHECK_INT(a->parameters_by_type[i].tensors, expected[i].tensors);
        CHECK_INT(a->parameters_by_type[i].elements, expected[i].elements);
        CHECK_INT(a->parameters_by_type[i].bytes, expected[i].bytes);
    }
    drop(a, model);
}

/* A workload fixes what the file leaves open. */
/* Four numbers of 4 x 4, each with an index of 8 bytes. */
static void test_sparse(void)
{
    int64_t dims[] = {4, 4};
    struct assay__tensor sparse = {.name = "w",
                                   .dtype = ASSAY__FLOAT32,
                                   .rank = 2,
                                   .dims = dims,
                                   .elements = 16,
                                   .nonzeros = 4,
                                   .sparse_bytes = 48};
    struct assay__model *model = fixture_model(17);
    cost_node(model, "", "MatMul x[2,4] w -> y", "");
    fixture_weights(model, "b", ASSAY__FLOAT32, "4");
    cost_node(model, "", "Add y b -> z", "");
    model->graph.sparse_tensors = &sparse;
    model->graph.sparse_count = 1;
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_INT(a->parameters, 20);
    CHECK_INT(a->parameter_bytes, 64);
    CHECK_INT(a->parameter_type_count, 2);
    CHECK_STR(a->parameters_by_type[0].storage, "sparse");
    CHECK_INT(a->parameters_by_type[0].elements, 16);
    CHECK_INT(a->parameters_by_type[0].bytes, 48);
    CHECK_NEAR(a->bytes_weights, 64, 0);
    CHECK_NEAR(a->bytes_read, 32 + 48 + 32 + 16, 0);
    CHECK_NEAR(a->live.node_bytes[0], 32 + 48 + 32, 0);
    CHECK_NEAR(a->live.peak_bytes, 64, 0); /* the sparse tensor is no activation */
    drop(a, model);
}

/* Of an unpacked weight only the stored form is read as a weight; the dense one is written and read
 * like any activation. */
static void test_unpacked(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_weights(model, "q", ASSAY__INT8, "6,5");
    fixture_weights(model, "scale", ASSAY__FLOAT32, "");
    cost_node(model, "", "DequantizeLinear q scale -> w", "");
    cost_node(model, "", "MatMul x[4,6] w -> y", "");
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_NEAR(a->bytes_weights, 30 + 4, 0);
    CHECK_NEAR(a->bytes_read, 30 + 4 + 96 + 120, 0);
    CHECK_NEAR(a->bytes_written, 120 + 80, 0);
    CHECK_NEAR(a->live.peak_bytes, 96 + 120 + 80, 0);
    CHECK_INT(a->constant_nodes, 0);
    CHECK_INT(a->parameters, 30);
    drop(a, model);
}

/* name = ConstantOfShape(shape) of float32 `number`. */
static void fill_with(struct assay__model *model, const char *line, float number)
{
    const int64_t one = 1;
    struct assay__node *node = cost_node(model, "", line, "");
    CHECK_INT(assay__rewrite_set_tensor(model, node, "value", ASSAY__FLOAT32, 1, &one, &number,
                                        sizeof number),
              0);
}

/* What ConstantOfShape makes counts where a weight would stand, and not as a mask, a state or a
 * statistic. */
static void test_filled(void)
{
    struct assay__model *model = fixture_model(17);
    fill_with(model, "ConstantOfShape s1{6,5} -> w", 0.02f);
    fill_with(model, "ConstantOfShape s2{6,6} -> zeros", 0);
    fill_with(model, "ConstantOfShape s3{5} -> bias", 0.5f);
    fill_with(model, "ConstantOfShape s4{4,5} -> ones", 1);
    fill_with(model, "ConstantOfShape s5{5} -> mean", 0.5f);
    fill_with(model, "ConstantOfShape s6{1} -> single", 0.5f);
    fill_with(model, "ConstantOfShape s7{7} -> unread", 0.5f);
    cost_node(model, "", "MatMul x[4,6] zeros -> a", ""); /* zeros, but as a weight */
    cost_node(model, "", "MatMul a w -> b", "");
    cost_node(model, "", "Add b bias -> c", "");
    cost_node(model, "", "Mul c single -> d", "");
    cost_node(model, "", "Where m:b[4,5] d ones -> e", ""); /* a filler */
    cost_node(model, "", "BatchNormalization e bias bias mean mean -> f", "");
    struct assay__analysis *a = analyse(model);
    check_sums(a);
    CHECK_INT(a->parameters, 30 + 36 + 5);
    CHECK_INT(a->parameter_bytes, 8 * (2 + 2 + 1 + 2 + 1 + 1 + 1)); /* the shapes */
    CHECK_INT(a->parameter_type_count, 2);
    CHECK_STR(a->parameters_by_type[1].storage, "constant");
    CHECK_INT(a->parameters_by_type[1].tensors, 4);
    CHECK_INT(a->parameters_by_type[1].elements, 30 + 36 + 5 + 5);
    CHECK_INT(a->parameters_by_type[1].bytes, 0);
    CHECK_NEAR(a->bytes_weights, 4 * (36 + 30 + 5 + 1 + 20 + 2 * 5), 0);
    drop(a, model);
    /* an absurd shape leaves the count unknown, and the rest stands */
    model = fixture_model(17);
    fill_with(model, "ConstantOfShape s{4611686018427387904,4} -> w", 0.02f);
    cost_node(model, "", "MatMul x[4,6] w -> a", "");
    a = analyse(model);
    CHECK_INT(a->parameters, -1);
    CHECK_INT(a->op_count, 2);
    drop(a, model);
}

/* The light ResNet-50 has the real one's parameters (25,557,032, and a dummy of one), its running
 * means and variances beside. */
static void test_light_parameters(void)
{
    char path[1024];
    light_path("resnet50", path, sizeof path);
    struct assay__model *model = fixture_read(path);
    struct assay__analysis *a = analyse(model);
    CHECK_INT(a->parameters, 25557032 + 1);
    CHECK_STR(a->parameters_by_type[2].storage, "constant");
    CHECK_INT(a->parameters_by_type[2].elements, 25556136 + 52224);
    CHECK(a->parameter_bytes < 11000);
    CHECK(a->bytes_weights > 4 * 25556136.0);
    drop(a, model);
}

/* A stripped network has the parameters that it was made of. */
static void test_stripped(void)
{
    static const char *const names[] = {"resnet18", "vit", "mobilenetv3-small", "gru", "ltc"};
    struct assay__model *model = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t before = 0, after = 0, bytes = 0;
        struct assay_error error = {0};
        CHECK_INT(assay__zoo_build(names[i], &model, &error), 0);
        CHECK(assay__model_parameters(model, &before, &bytes));
        CHECK_INT(assay__rewrite_strip(model, 16, NULL, &error), 0);
        CHECK(assay__model_parameters(model, &after, &bytes));
        CHECK(before > 10000 && bytes < 10000);
        CHECK_INT(after, before);
        assay__model_free(model);
    }
}

static void test_workload(void)
{
    struct assay__model *model = fixture_model(17);
    struct assay__workload_options options = {.batch = 6};
    struct assay__workload *workload = NULL;
    struct assay__analysis *a = NULL;
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,10");
    fixture_node(model, "Relu x -> y");
    fixture_output(model, "y");
    a = analyse(model);
    CHECK_INT(a->unknown_flops, 1);
    CHECK_STR(a->unknown[0].why, "shape unknown");
    assay__analysis_free(a);
    CHECK_INT(assay__workload_plan(model, &options, &workload, NULL), 0);
    CHECK_INT(assay__analyse(model, workload, &a, NULL), 0);
    CHECK_NEAR(a->flops, 60, 0);
    CHECK_NEAR(a->live.peak_bytes, 480, 0);
    drop(a, model);
    assay__workload_free(workload);
}

/* The same network unrolled over 16 steps and as a Scan does the same work. */
static void test_forms(void)
{
    static const char *const names[][2] = {
        {"cfc:seq=16,form=unrolled,batch=1", "cfc:seq=16,form=scan,batch=1"},
        {"ltc:seq=8,form=unrolled,batch=2", "ltc:seq=8,form=scan,batch=2"}};
    for (size_t i = 0; i < 2; i++) {
        struct assay__model *models[2] = {NULL};
        struct assay__analysis *forms[2] = {NULL};
        for (size_t k = 0; k < 2; k++) {
            CHECK_INT(assay__zoo_build(names[i][k], &models[k], NULL), 0);
            forms[k] = analyse(models[k]);
            check_sums(forms[k]);
            CHECK_INT(forms[k]->unknown_count, 0);
        }
        CHECK(forms[0]->flops > 0);
        CHECK_NEAR(forms[0]->flops, forms[1]->flops, 0);
        CHECK_NEAR(forms[0]->macs, forms[1]->macs, 0);
        CHECK_INT(forms[0]->parameters, forms[1]->parameters);
        for (size_t k = 0; k < 2; k++)
            drop(forms[k], models[k]);
    }
}

/* A cycle is an error, not a hang. */
static void test_cycle(void)
{
    struct assay__model *model = fixture_model(17);
    struct assay_error error = {.code = 0};
    struct assay__analysis *a = NULL;
    fixture_node(model, "Relu b -> a");
    fixture_node(model, "Relu a -> b");
    CHECK_INT(assay__analyse(model, NULL, &a, &error), ASSAY_EFORMAT);
    CHECK(!a && error.message[0]);
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"light_models", test_light_models},
        {"unknown", test_unknown},
        {"partly_unknown", test_partly_unknown},
        {"sparse", test_sparse},
        {"unpacked", test_unpacked},
        {"filled", test_filled},
        {"light_parameters", test_light_parameters},
        {"stripped", test_stripped},
        {"bodies", test_bodies},
        {"chosen_values", test_chosen_values},
        {"no_false_zero", test_no_false_zero},
        {"trees", test_trees},
        {"parameters", test_parameters},
        {"workload", test_workload},
        {"cycle", test_cycle},
        {"forms", test_forms},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
