/* test_cost.c - shapes and costs. The light models' shapes must be those of onnx.shape_inference
 * (a digest of its listing, written by tests/oracle/light_shapes.py) and their multiply-adds the
 * published counts; single operators are checked against numbers worked out by hand; what cannot
 * be known must be NaN, not zero. */
#include "cost_fixture.h"

#include "model/sha256.h"
#include "zoo/zoo.h"

/* One node on input x (and whatever else the model has): the shape of y. */
static void expect_shape(struct assay__model *model, const char *expected)
{
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "y"), expected);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

static void test_window_shapes(void)
{
    static const int64_t two[] = {2, 2}, three[] = {3, 3}, ones[] = {1, 1, 1, 1};
    struct assay__model *model = fixture_x("2,6,15,16");
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,3,3,5");
    struct assay__node *node = fixture_node(model, "Conv x,w -> y");
    assay__node_set_int(model, node, "group", 2);
    assay__node_set_ints(model, node, "strides", two, 2);
    assay__node_set_ints(model, node, "dilations", two, 2);
    assay__node_set_ints(model, node, "pads", ones, 4);
    expect_shape(model, "float32 2,8,7,5"); /* (17-5)/2+1, (18-9)/2+1 */
    model = fixture_x("1,3,7,7");
    node = fixture_node(model, "MaxPool x -> y");
    assay__node_set_ints(model, node, "kernel_shape", two, 2);
    assay__node_set_ints(model, node, "strides", two, 2);
    assay__node_set_int(model, node, "ceil_mode", 1);
    expect_shape(model, "float32 1,3,4,4");
    model = fixture_x("1,3,7,8");
    node = fixture_node(model, "AveragePool x -> y");
    assay__node_set_ints(model, node, "kernel_shape", three, 2);
    assay__node_set_ints(model, node, "strides", two, 2);
    assay__node_set_string(model, node, "auto_pad", "SAME_UPPER");
    expect_shape(model, "float32 1,3,4,4");
    model = fixture_x("1,4,5,5");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,6,3,3");
    node = fixture_node(model, "ConvTranspose x,w -> y");
    assay__node_set_ints(model, node, "strides", two, 2);
    assay__node_set_ints(model, node, "pads", ones, 4);
    expect_shape(model, "float32 1,6,9,9");
    model = fixture_x("n,3,h,224"); /* unknown stays unknown */
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,3,3,3");
    fixture_node(model, "Conv x,w -> y");
    expect_shape(model, "float32 n,8,h - 2,222");
    model = fixture_x("1,3,2,2"); /* the window does not fit */
    fixture_weights(model, "w", ASSAY__FLOAT32, "8,3,3,3");
    fixture_node(model, "Conv x,w -> y");
    expect_shape(model, "float32 1,8,?,?");
}

static void test_product_shapes(void)
{
    struct assay__model *model = fixture_x("7,1,3,4");
    fixture_input(model, "b", ASSAY__FLOAT32, "5,4,6");
    fixture_node(model, "MatMul x,b -> y");
    expect_shape(model, "float32 7,5,3,6");
    model = fixture_x("4");
    fixture_input(model, "b", ASSAY__FLOAT32, "4");
    fixture_node(model, "MatMul x,b -> y");
    expect_shape(model, "float32");
    model = fixture_x("4,3");
    fixture_input(model, "b", ASSAY__FLOAT32, "5,4");
    struct assay__node *node = fixture_node(model, "Gemm x,b -> y");
    assay__node_set_int(model, node, "transA", 1);
    assay__node_set_int(model, node, "transB", 1);
    expect_shape(model, "float32 3,5");
    model = fixture_x("2,3,4");
    fixture_input(model, "b", ASSAY__FLOAT32, "2,4,5");
    node = fixture_node(model, "Einsum x,b -> y");
    assay__node_set_string(model, node, "equation", "bij,bjk->bik");
    expect_shape(model, "float32 2,3,5");
    model = fixture_x("2,1,3");
    fixture_input(model, "b", ASSAY__FLOAT32, "5,1");
    fixture_node(model, "Less x,b -> y");
    expect_shape(model, "bool 2,5,3");
    model = fixture_x("2,3");
    fixture_input(model, "b", ASSAY__FLOAT32, "4,5"); /* cannot match: unknown, not wrong */
    fixture_node(model, "Add x,b -> y");
    expect_shape(model, "float32 ?");
}

static void test_move_shapes(void)
{
    static const int64_t shape[] = {0, -1, 2}, start[] = {-1}, end[] = {INT64_MIN}, axis[] = {1},
                         step[] = {-2}, perm[] = {2, 0, 1}, axes[] = {0, -1};
    struct assay__model *model = fixture_x("3,4,6");
    fixture_ints(model, "shape", 3, shape);
    fixture_node(model, "Reshape x,shape -> y");
    expect_shape(model, "float32 3,12,2");
    model = fixture_x("3,5,6");
    fixture_ints(model, "s", 1, start);
    fixture_ints(model, "e", 1, end);
    fixture_ints(model, "a", 1, axis);
    fixture_ints(model, "t", 1, step);
    fixture_node(model, "Slice x,s,e,a,t -> y");
    expect_shape(model, "float32 3,3,6"); /* 4, 2, 0 */
    model = fixture_x("3,5,6");
    struct assay__node *node = fixture_node(model, "Transpose x -> y");
    assay__node_set_ints(model, node, "perm", perm, 3);
    expect_shape(model, "float32 6,3,5");
    model = fixture_x("3,5");
    fixture_ints(model, "a", 2, axes);
    fixture_node(model, "Unsqueeze x,a -> y");
    expect_shape(model, "float32 1,3,5,1");
    model = fixture_x("1,n,5"); /* which axes go depends on n */
    fixture_node(model, "Squeeze x -> y");
    expect_shape(model, "float32 ?");
    model = fixture_x("7,2");
    node = fixture_node(model, "Split x -> a,b,y");
    expect_shape(model, "float32 1,2"); /* 3, 3, 1 */
    model = fixture_x("2,3,4");
    node = fixture_node(model, "Flatten x -> y");
    assay__node_set_int(model, node, "axis", 2);
    expect_shape(model, "float32 6,4");
}

/* What exporters write for x.view(x.shape[0], -1): the shape is computed in the graph. */
static void test_computed_shape(void)
{
    static const int64_t zero[] = {0}, minus[] = {-1}, two[] = {2};
    struct assay__model *model = fixture_x("6,4,5");
    fixture_ints(model, "zero", 1, zero);
    fixture_ints(model, "minus", 1, minus);
    fixture_ints(model, "two", 1, two);
    fixture_node(model, "Shape x -> s");
    fixture_node(model, "Gather s,zero -> first");
    fixture_node(model, "Div first,two -> half");
    fixture_node(model, "Concat half,minus -> target");
    assay__node_set_int(model, &model->graph.nodes[3], "axis", 0);
    fixture_node(model, "Reshape x,target -> y");
    expect_shape(model, "float32 3,40");
}

static void test_recurrent_shapes(void)
{
    struct assay__model *model = fixture_x("9,2,5");
    fixture_weights(model, "w", ASSAY__FLOAT32, "2,28,5");
    fixture_weights(model, "r", ASSAY__FLOAT32, "2,28,7");
    struct assay__node *node = fixture_node(model, "LSTM x,w,r -> y,h,c");
    assay__node_set_int(model, node, "hidden_size", 7);
    assay__node_set_string(model, node, "direction", "bidirectional");
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, "h"), "float32 2,2,7");
    assay__shapes_free(shapes);
    expect_shape(model, "float32 9,2,2,7");
}

/* "name dtype dim dim …\n" of every node's first output, in file order. */
static void test_light_shapes(void)
{
    static const char *const digests[LIGHT_COUNT] = {
#include "light_shapes.inc"
    };
    char path[1024], line[512];
    for (size_t m = 0; m < LIGHT_COUNT; m++) {
        light_path(light_names[m], path, sizeof path);
        struct assay__model *model = fixture_read(path);
        struct assay__shapes *shapes = fixture_infer(model);
        struct assay__sha256 sha;
        uint8_t digest[32];
        char hex[17];
        assay__sha256_start(&sha);
        for (size_t i = 0; i < model->graph.node_count; i++) {
            const char *name = model->graph.nodes[i].outputs[0];
            const struct assay__shape_entry *entry = assay__shapes_get(shapes, name);
            int length = snprintf(line, sizeof line, "%s %d", name, (int)entry->dtype);
            for (int d = 0; d < entry->rank; d++)
                length += snprintf(line + length, sizeof line - (size_t)length, " %lld",
                                   (long long)entry->dims[d]);
            assay__sha256_add(&sha, line, (size_t)length);
            assay__sha256_add(&sha, "\n", 1);
        }
        assay__sha256_end(&sha, digest);
        for (int i = 0; i < 8; i++)
            snprintf(hex + 2 * i, 3, "%02x", digest[i]);
        CHECK_STR(hex, digests[m]);
        assay__shapes_free(shapes);
        assay__model_free(model);
    }
}

/* --- costs ------------------------------------------------------------------------------------ */

static void test_conv_cost(void)
{
    struct assay__model *model = fixture_x("2,6,8,8");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,3,3,3");
    fixture_weights(model, "b", ASSAY__FLOAT32, "4");
    struct assay__node *node = fixture_node(model, "Conv x,w,b -> y");
    assay__node_set_int(model, node, "group", 2);
    struct assay__cost cost = cost_last(model);
    const double outputs = 2 * 4 * 6 * 6;
    CHECK_NEAR(cost.macs, outputs * 27 + outputs, 0);
    CHECK_NEAR(cost.flops, 2 * outputs * 27 + outputs, 0);
    CHECK_NEAR(cost.bytes_weights, 4 * (108 + 4), 0);
    CHECK_NEAR(cost.bytes_read, 4 * (768 + 108 + 4), 0);
    CHECK_NEAR(cost.bytes_written, 4 * outputs, 0);
    model = fixture_x("1,4,5,5");
    fixture_weights(model, "w", ASSAY__FLOAT16, "4,6,3,3");
    fixture_node(model, "ConvTranspose x,w -> y");
    cost = cost_last(model);
    CHECK_NEAR(cost.macs, 100 * 54, 0);
    CHECK_NEAR(cost.bytes_weights, 2 * 216, 0);
    model = fixture_x("1,3,8,8");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,3,3,3");
    node = fixture_node(model, "FusedConv x,w -> y");
    node->domain = "com.microsoft";
    assay__node_set_string(model, node, "activation", "Relu");
    cost = cost_last(model);
    CHECK_NEAR(cost.macs, 144 * 27, 0);
    CHECK_NEAR(cost.flops, 2 * 144 * 27 + 144, 0);
}

static void test_product_cost(void)
{
    struct assay__model *model = fixture_x("4,3"); /* transposed: 3 × 4 */
    fixture_weights(model, "b", ASSAY__FLOAT32, "4,5");
    fixture_weights(model, "c", ASSAY__FLOAT32, "5");
    struct assay__node *node = fixture_node(model, "Gemm x,b,c -> y");
    assay__node_set_int(model, node, "transA", 1);
    struct assay__cost cost = cost_last(model);
    CHECK_NEAR(cost.macs, 3 * 5 * 4 + 15, 0);
    CHECK_NEAR(cost.flops, 2 * 3 * 5 * 4 + 15, 0);
    model = fixture_x("7,2,3,4");
    fixture_input(model, "b", ASSAY__FLOAT32, "4,6");
    fixture_node(model, "MatMul x,b -> y");
    cost = cost_last(model);
    CHECK_NEAR(cost.macs, 7 * 2 * 3 * 6 * 4, 0);
    CHECK_NEAR(cost.flops, 2 * cost.macs, 0);
    CHECK_NEAR(cost.bytes_weights, 0, 0);
    model = fixture_x("9,2,5"); /* LSTM, hidden 7: 4 gates */
    fixture_weights(model, "w", ASSAY__FLOAT32, "1,28,5");
    fixture_weights(model, "r", ASSAY__FLOAT32, "1,28,7");
    fixture_node(model, "LSTM x,w,r -> y");
    cost = cost_last(model);
    CHECK_NEAR(cost.macs, 18 * 28 * 12, 0);
}

static void test_small_costs(void)
{
    static const int64_t three[] = {3, 3};
    struct assay__model *model = fixture_x("10,20");
    fixture_node(model, "Softmax x -> y");
    CHECK_NEAR(cost_last(model).flops, 1000, 0);
    model = fixture_x("1,2,8,8");
    struct assay__node *node = fixture_node(model, "MaxPool x -> y");
    assay__node_set_ints(model, node, "kernel_shape", three, 2);
    CHECK_NEAR(cost_last(model).flops, 2 * 36 * 9, 0);
    model = fixture_x("10,20");
    fixture_node(model, "Sum x,x,x -> y");
    struct assay__cost cost = cost_last(model);
    CHECK_NEAR(cost.flops, 400, 0);
    CHECK_NEAR(cost.bytes_read, 800, 0); /* the same tensor is read once */
    model = fixture_x("10,20");
    fixture_node(model, "Identity x -> y");
    cost = cost_last(model);
    CHECK(cost.flops == 0 && cost.macs == 0 && cost.bytes_read == 0); /* known to be nothing */
    model = fixture_model(17); /* integers are no floating-point work */
    fixture_input(model, "x", ASSAY__INT64, "10");
    fixture_node(model, "Add x,x -> y");
    CHECK_NEAR(cost_last(model).flops, 0, 0);
    model = fixture_x("10"); /* comparing floats is, though it gives booleans */
    fixture_node(model, "Less x,x -> y");
    CHECK_NEAR(cost_last(model).flops, 10, 0);
    model = fixture_model(17); /* a look-up reads its rows, not the table */
    fixture_input(model, "x", ASSAY__INT64, "2,5");
    fixture_weights(model, "table", ASSAY__FLOAT32, "1000,8");
    fixture_node(model, "Gather table,x -> y");
    cost = cost_last(model);
    CHECK_NEAR(cost.bytes_read, 2 * 5 * 8 * 4 + 10 * 8, 0);
    CHECK_NEAR(cost.bytes_weights, 2 * 5 * 8 * 4, 0);
    CHECK_NEAR(cost.flops, 0, 0);
}

static void test_unknown_is_nan(void)
{
    struct assay__model *model = fixture_x("10,20");
    fixture_node(model, "NoSuchOperator x -> y");
    struct assay__cost cost = cost_last(model);
    CHECK(isnan(cost.flops) && isnan(cost.macs) && isnan(cost.bytes_written));
    CHECK_NEAR(cost.bytes_read, 800, 0);
    model = fixture_x("n,20");
    fixture_node(model, "Relu x -> y");
    cost = cost_last(model);
    CHECK(isnan(cost.flops) && isnan(cost.bytes_read));
    model = fixture_x("2,20");
    struct assay__node *node = fixture_node(model, "Relu x -> y");
    node->domain = "org.example"; /* another domain's Relu may be anything */
    CHECK(isnan(cost_last(model).flops));
}

static double total_macs(const struct assay__model *model, const struct assay__shapes *shapes)
{
    struct assay__cost *costs = calloc(model->graph.node_count, sizeof *costs);
    double total = 0;
    CHECK_INT(assay__cost_graph(model, shapes, costs, NULL), 0);
    for (size_t i = 0; i < model->graph.node_count; i++) {
        CHECK(!isnan(costs[i].flops) && !isnan(costs[i].bytes_read));
        total += costs[i].macs;
    }
    free(costs);
    return total;
}

static void test_light_macs(void)
{
    static const double expected[LIGHT_COUNT] = {0,         2834162664, 0,           0, 4089185256,
                                                 124966584, 351741288,  19646923752, 0};
    char path[1024];
    for (size_t i = 0; i < LIGHT_COUNT; i++) {
        light_path(light_names[i], path, sizeof path);
        struct assay__model *model = fixture_read(path);
        struct assay__shapes *shapes = fixture_infer(model);
        double macs = total_macs(model, shapes);
        if (expected[i] > 0) CHECK_NEAR(macs, expected[i], 0);
        assay__shapes_free(shapes);
        assay__model_free(model);
    }
}

/* The zoo's ResNet-50 does the work of the real one, per image. */
static void test_resnet50_macs(void)
{
    struct assay__model *model = NULL;
    struct assay__dim dims[] = {{2, ""}, {3, ""}, {224, ""}, {224, ""}};
    struct assay__value input = {.name = "input",
                                 .kind = ASSAY__KIND_TENSOR,
                                 .dtype = ASSAY__FLOAT32,
                                 .rank = 4,
                                 .dims = dims};
    struct assay__shapes *shapes = NULL;
    CHECK_INT(assay__zoo_build("resnet50", &model, NULL), 0);
    CHECK_INT(assay__shapes_infer(model, &input, 1, &shapes, NULL), 0);
    CHECK_STR(fixture_shape(shapes, "output"), "float32 2,1000");
    CHECK_NEAR(total_macs(model, shapes), 2 * 4089185256.0, 0);
    assay__shapes_free(shapes);
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"window_shapes", test_window_shapes},
        {"product_shapes", test_product_shapes},
        {"move_shapes", test_move_shapes},
        {"computed_shape", test_computed_shape},
        {"recurrent_shapes", test_recurrent_shapes},
        {"light_shapes", test_light_shapes},
        {"conv_cost", test_conv_cost},
        {"product_cost", test_product_cost},
        {"small_costs", test_small_costs},
        {"unknown_is_nan", test_unknown_is_nan},
        {"light_macs", test_light_macs},
        {"resnet50_macs", test_resnet50_macs},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
