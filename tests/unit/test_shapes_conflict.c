/* test_shapes_conflict.c - contradictions: each is there once, names both sides in words, and what
 * only looks like one is none. */
#include "model_fixture.h"

#include "cost/cost.h"

/* One contradiction at `op`, the other side in words, and a message that has `words`. */
static void expect_conflict(struct assay__model *model, const char *op, const char *other,
                            const char *words)
{
    struct assay__shapes *shapes = fixture_infer(model);
    const struct assay__shape_conflict *conflicts;
    size_t count = assay__shapes_conflicts(shapes, &conflicts);
    if (count != 1) printf("  %s %s: %zu\n", op, words, count);
    CHECK_INT(count, 1);
    CHECK_STR(conflicts[0].op, op);
    CHECK_STR(conflicts[0].other, other);
    CHECK_HAS(conflicts[0].message, words);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static void expect_none(struct assay__model *model)
{
    struct assay__shapes *shapes = fixture_infer(model);
    const struct assay__shape_conflict *conflicts;
    if (assay__shapes_conflicts(shapes, &conflicts))
        harness_fail(__FILE__, __LINE__, conflicts[0].message);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static void test_other_side(void)
{
    struct assay__model *model = fixture_x("2,3");
    fixture_input(model, "z", ASSAY__FLOAT32, "2,4");
    assay__node_set_int(model, fixture_node(model, "Concat x,z -> y"), "axis", 0);
    expect_conflict(model, "Concat", "input 'z' (2×4)", "[2, 3] and [2, 4]");
    model = fixture_x("batch,3");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,10");
    fixture_node(model, "MatMul x,w -> y");
    expect_conflict(model, "MatMul", "initializer 'w' (4×10)", "[batch, 3]");
    model = fixture_x("2,3");
    fixture_node(model, "Relu x -> y");
    struct assay__dim dims[2] = {{2, ""}, {4, ""}};
    CHECK_INT(assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, "y",
                                     ASSAY__FLOAT32, 2, dims),
              0);
    expect_conflict(model, "Relu", "the file's declaration of 'y'", "4, but inference gives 3");
    model = fixture_x("2,3");
    fixture_input(model, "b", ASSAY__FLOAT32, "4,5");
    fixture_node(model, "Relu x -> m");
    fixture_node(model, "Add b,m -> y");
    expect_conflict(model, "Add", "'Relu' (Relu)", "broadcast");
}

/* One node over an input of the shape. */
static struct assay__model *one(const char *shape, const char *node, const char *attr,
                                int64_t value)
{
    struct assay__model *model = fixture_x(shape);
    struct assay__node *made = fixture_node(model, node);
    if (attr) assay__node_set_int(model, made, attr, value);
    return model;
}

static void test_axes(void)
{
    expect_conflict(one("2,3", "Softmax x -> y", "axis", 5), "Softmax", "input 'x' (2×3)",
                    "axis 5 of a tensor of rank 2");
    expect_none(one("2,3", "Softmax x -> y", "axis", -2));
    expect_none(one("3", "Softmax x -> y", NULL, 0));
    expect_conflict(one("4,3", "Split x -> y", "num_outputs", 0), "Split", "input 'x' (4×3)",
                    "0 parts");
}

static struct assay__model *window(const char *op, const char *shape, const char *attr,
                                   size_t count, const int64_t *values)
{
    static const int64_t kernel[] = {5, 5};
    struct assay__model *model = fixture_x(shape);
    fixture_weights(model, "w", ASSAY__FLOAT32, "6,3,5,5");
    fixture_weights(model, "b", ASSAY__FLOAT32, "6");
    bool conv = strcmp(op, "Conv") == 0;
    struct assay__node *node = fixture_node(model, conv ? "Conv x,w,b -> y" : "MaxPool x -> y");
    if (!conv) assay__node_set_ints(model, node, "kernel_shape", kernel, 2);
    if (attr) assay__node_set_ints(model, node, attr, values, count);
    return model;
}

static void test_windows(void)
{
    static const int64_t zero[] = {0, 1}, less[] = {1, -1}, three[] = {1, 1, 1};
    static const int64_t absurd[] = {0, 0, INT64_MAX / 2, 0}, pads[] = {2, 2, 2, 2};
    static const char *const ops[] = {"Conv", "MaxPool"};
    for (int i = 0; i < 2; i++) {
        const char *op = ops[i], *x = "input 'x' (1×3×8×8)";
        expect_conflict(window(op, "1,3,2,2", NULL, 0, NULL), op, "input 'x' (1×3×2×2)",
                        "a window of 5 over 2");
        expect_conflict(window(op, "1,3,8,8", "strides", 2, zero), op, x, "a stride of 0");
        expect_conflict(window(op, "1,3,8,8", "strides", 2, less), op, x, "a stride of -1");
        expect_conflict(window(op, "1,3,8,8", "strides", 3, three), op, x, "3 strides");
        expect_conflict(window(op, "1,3,8,8", "dilations", 2, zero), op, x, "a dilation of 0");
        expect_conflict(window(op, "1,3,8,8", "pads", 4, absurd), op, x, "a padding of 46116860");
        expect_none(window(op, "1,3,2,2", "pads", 4, pads));
        expect_none(window(op, "1,3,h,w", NULL, 0, NULL));
        expect_none(window(op, "1,3,4611686018427387904,8", NULL, 0, NULL));
    }
    struct assay__model *model = fixture_x("1,3,8,8");
    fixture_weights(model, "w", ASSAY__FLOAT32, "6,3,3,3");
    fixture_weights(model, "b", ASSAY__FLOAT32, "4");
    fixture_node(model, "Conv x,w,b -> y");
    expect_conflict(model, "Conv", "initializer 'b' (4)", "a bias of 4 ('b') for 6 filters");
    /* ceil_mode: PyTorch's pooling of 2 over one pixel gives one */
    static const int64_t two[] = {2, 2};
    model = fixture_x("1,3,1,5");
    struct assay__node *node = fixture_node(model, "MaxPool x -> y");
    assay__node_set_ints(model, node, "kernel_shape", two, 2);
    assay__node_set_ints(model, node, "strides", two, 2);
    assay__node_set_int(model, node, "ceil_mode", 1);
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "y"), "float32 1,3,1,3");
    assay__shapes_free(shapes);
    expect_none(model);
}

/* Sizes that the caller chose for symbols are no fault of the file; those of the file are. */
static void test_chosen_sizes(void)
{
    static const struct {
        const char *shape;
        size_t conflicts;
    } cases[] = {{"n,3,h,w", 0}, {"n,3,2,2", 1}};
    for (size_t i = 0; i < 2; i++) {
        struct assay__model *model = window("MaxPool", cases[i].shape, NULL, 0, NULL);
        struct assay__dim dims[4] = {{1, ""}, {3, ""}, {2, ""}, {2, ""}};
        struct assay__value value = {.name = "x",
                                     .kind = ASSAY__KIND_TENSOR,
                                     .dtype = ASSAY__FLOAT32,
                                     .rank = 4,
                                     .dims = dims};
        struct assay_error error = {.code = 0};
        struct assay__shapes *shapes = NULL;
        const struct assay__shape_conflict *conflicts;
        CHECK_INT(assay__shapes_infer(model, &value, 1, &shapes, &error), 0);
        CHECK_INT(assay__shapes_conflicts(shapes, &conflicts), cases[i].conflicts);
        assay__shapes_free(shapes);
        assay__model_free(model);
    }
}

static struct assay__model *shaped(const char *node, size_t count, const int64_t *values)
{
    struct assay__model *model = fixture_x("2,3");
    fixture_ints(model, "s", (int64_t)count, values);
    fixture_node(model, node);
    return model;
}

static void test_targets(void)
{
    static const int64_t both[] = {-1, -1}, less[] = {-3, 4}, open[] = {-1, 2};
    expect_conflict(shaped("Reshape x,s -> y", 2, both), "Reshape", "input 'x' (2×3)",
                    "2 dimensions of the new shape are -1");
    expect_conflict(shaped("Reshape x,s -> y", 2, less), "Reshape", "input 'x' (2×3)",
                    "a dimension of -3");
    expect_conflict(shaped("ConstantOfShape s -> y", 2, less), "ConstantOfShape",
                    "initializer 's' (2)", "a dimension of -3");
    expect_none(shaped("Reshape x,s -> y", 2, open));
}

static void test_heads(void)
{
    for (int kv = 2; kv <= 3; kv++) {
        struct assay__model *model = fixture_model(23);
        fixture_input(model, "q", ASSAY__FLOAT32, "1,4,5,8");
        fixture_input(model, "k", ASSAY__FLOAT32, kv == 2 ? "1,2,5,8" : "1,3,5,8");
        fixture_input(model, "v", ASSAY__FLOAT32, kv == 2 ? "1,2,5,8" : "1,3,5,8");
        fixture_node(model, "Attention q,k,v -> y");
        if (kv == 2)
            expect_none(model);
        else
            expect_conflict(model, "Attention", "input 'k' (1×3×5×8)",
                            "4 query heads are not a multiple of 3 key heads");
    }
}

static struct assay__model *typed(const char *node, const char *x, const char *i)
{
    struct assay__model *model = fixture_x(x);
    fixture_input(model, "i", ASSAY__INT64, i);
    fixture_input(model, "c", ASSAY__BOOL, "1");
    fixture_node(model, node);
    return model;
}

static void test_types(void)
{
    const char *both = "'x' (float32) and 'i' (int64)";
    expect_conflict(typed("Add x,i -> y", "2,2", "2,2"), "Add", "input 'i' (2×2)", both);
    expect_conflict(typed("MatMul x,i -> y", "2,2", "2,2"), "MatMul", "input 'i' (2×2)", both);
    expect_conflict(typed("Gemm x,i -> y", "2,2", "2,2"), "Gemm", "input 'i' (2×2)", both);
    expect_conflict(typed("Conv x,i -> y", "1,3,8,8", "6,3,3,3"), "Conv", "input 'i' (6×3×3×3)",
                    both);
    expect_conflict(typed("Where c,x,i -> y", "2,2", "2,2"), "Where", "input 'i' (2×2)", both);
    expect_conflict(typed("Less x,i -> y", "2,2", "2,2"), "Less", "input 'i' (2×2)", both);
    struct assay__model *model = typed("Concat x,i -> y", "2,2", "2,2");
    assay__node_set_int(model, &model->graph.nodes[0], "axis", 0);
    expect_conflict(model, "Concat", "input 'i' (2×2)", both);
    expect_none(typed("Pow x,i -> y", "2,2", "2,2")); /* may differ */
    expect_none(typed("Gather x,i -> y", "2,2", "1"));
}

/* A norm gives the type of its scale. */
static void test_norm_types(void)
{
    struct assay__model *model = fixture_model(23);
    fixture_input(model, "h", ASSAY__FLOAT16, "2,8");
    fixture_input(model, "x", ASSAY__FLOAT32, "2,8");
    fixture_weights(model, "s", ASSAY__FLOAT32, "8");
    fixture_node(model, "RMSNormalization h,s -> n");
    fixture_node(model, "Add n,x -> y");
    expect_none(model);
}

/* Known shapes whose size cannot be counted. */
static void test_overflow(void)
{
    struct assay__model *model = fixture_x("4611686018427387904,4611686018427387904");
    fixture_node(model, "Relu x -> y");
    fixture_input(model, "e", ASSAY__FLOAT32, "4611686018427387904,0,4611686018427387904");
    fixture_input(model, "s", ASSAY__FLOAT32, "n,4611686018427387904,4611686018427387904");
    fixture_node(model, "Relu e -> f");
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK(assay__shapes_overflows(assay__shapes_get(shapes, "y")));
    CHECK(!assay__shapes_overflows(assay__shapes_get(shapes, "e")));
    CHECK(!assay__shapes_overflows(assay__shapes_get(shapes, "s")));
    CHECK(!assay__shapes_overflows(NULL));
    CHECK(assay__shapes_node_overflows(shapes, &model->graph.nodes[0]));
    CHECK(!assay__shapes_node_overflows(shapes, &model->graph.nodes[1]));
    struct assay__cost costs[2];
    struct assay_error error = {.code = 0};
    CHECK_INT(assay__cost_graph(model, shapes, costs, &error), 0);
    CHECK_STR(costs[0].why, "its size overflows");
    CHECK(!costs[1].why);
    assay__shapes_free(shapes);
    expect_none(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"other_side", test_other_side}, {"axes", test_axes},
        {"windows", test_windows},       {"chosen_sizes", test_chosen_sizes},
        {"targets", test_targets},       {"heads", test_heads},
        {"types", test_types},           {"norm_types", test_norm_types},
        {"overflow", test_overflow},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
