/* test_model_check.c - the check, the order, fingerprints, parameters, SHA-256. */
#include "model_cases.h"

#include "model/sha256.h"
#include "zoo/zoo.h"

/* --- check and order -------------------------------------------------------------------------- */

static void test_check(void)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1");
    fixture_node(model, "Relu nowhere -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "'nowhere', which nothing produces");
    model->graph.nodes[0].inputs[0] = "x";
    CHECK_INT(assay__model_check(model, &error), 0);
    fixture_node(model, "Neg x -> y");
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "'y' is produced more than once");
    model->graph.nodes[1].outputs[0] = "z";
    fixture_output(model, "missing");
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "nothing produces the output 'missing'");
    assay__model_free(model);
    model = everything();
    model->graph.nodes[3].attrs[0].g->nodes[0].inputs[0] = "gone";
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "'gone'");
    assay__model_free(model);
}

static void test_order(void)
{
    size_t order[5];
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1");
    fixture_node(model, "Add b,c -> d"); /* 0: last */
    fixture_node(model, "Neg a -> c");   /* 1 */
    fixture_node(model, "Relu x -> a");  /* 2: first */
    fixture_node(model, "Abs a -> b");   /* 3 */
    CHECK_INT(assay__graph_order(&model->graph, order, &error), 0);
    static const size_t expected[] = {2, 1, 3, 0};
    CHECK_INT(memcmp(order, expected, sizeof expected), 0);
    model->graph.nodes[2].inputs[0] = "d";
    CHECK_INT(assay__graph_order(&model->graph, order, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "cycle through node");
    assay__model_free(model);
    /* A subgraph's captured value is a dependency: move the If in front of what it captures. */
    model = everything();
    struct assay__node branch = model->graph.nodes[3];
    memmove(&model->graph.nodes[1], &model->graph.nodes[0], 3 * sizeof branch);
    model->graph.nodes[0] = branch;
    CHECK_INT(assay__graph_order(&model->graph, order, &error), 0);
    static const size_t after[] = {1, 2, 3, 0, 4};
    CHECK_INT(memcmp(order, after, sizeof after), 0);
    assay__model_free(model);
}

static void test_long_chain(void)
{
    enum { LENGTH = 20000 };
    struct assay__model *model = fixture_model(17);
    size_t *order = calloc(LENGTH, sizeof *order);
    fixture_input(model, "0", ASSAY__FLOAT32, "1");
    for (int i = LENGTH; i > 0; i--) { /* written backwards */
        char from[16], to[16];
        const char *in[] = {from}, *out[] = {to};
        snprintf(from, sizeof from, "%d", i - 1);
        snprintf(to, sizeof to, "%d", i);
        CHECK(assay__graph_add_node(model, &model->graph, "Relu", "", in, 1, out, 1));
    }
    CHECK_INT(assay__graph_order(&model->graph, order, NULL), 0);
    for (size_t i = 0; i < LENGTH; i++)
        CHECK_INT(order[i], LENGTH - 1 - i);
    free(order);
    assay__model_free(model);
}

/* --- fingerprint and parameters --------------------------------------------------------------- */

static void test_fingerprint(void)
{
    char first[17], other[17];
    struct assay__model *model = everything();
    CHECK_INT(assay__model_fingerprint(model, first), 0);
    CHECK_INT(strspn(first, "0123456789abcdef"), 16);
    model->graph.nodes[0].outputs[0] = model->graph.nodes[1].inputs[0] = "renamed";
    model->graph.nodes[0].name = "also renamed";
    CHECK_INT(assay__model_fingerprint(model, other), 0);
    CHECK_STR(other, first);
    CHECK_INT(assay__node_set_float(model, &model->graph.nodes[1], "alpha", 0.26f), 0);
    CHECK_INT(assay__model_fingerprint(model, other), 0);
    CHECK(strcmp(other, first) != 0);
    CHECK_INT(assay__node_set_float(model, &model->graph.nodes[1], "alpha", 0.25f), 0);
    model->graph.inputs[0].dims[2].value = 9;
    CHECK_INT(assay__model_fingerprint(model, other), 0);
    CHECK(strcmp(other, first) != 0);
    assay__model_free(model);
}

/* Weights in Constant nodes of the branches count; the lone factors there are bytes, not
 * parameters. */
static void test_constant_weights(void)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    int64_t elements = 0, bytes = 0;
    CHECK_INT(assay__model_read(ASSAY_TEST_ROOT "/tests/fixtures/models/layers/constants.onnx",
                                &model, &error),
              0);
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 2 * 4 * 8);
    CHECK_INT(bytes, (2 * 4 * 8 + 2) * 4);
    assay__model_free(model);
}

static void test_zoo_parameters(void)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    CHECK_INT(assay__zoo_build("resnet50:batch=4,classes=10,image=64", &model, &error), 0);
    CHECK_INT(model->graph.inputs[0].dims[0].value, 4);
    CHECK_INT(model->graph.inputs[0].dims[2].value, 64);
    CHECK_INT(model->graph.outputs[0].dims[1].value, 10);
    assay__model_free(model);
    static const struct {
        const char *name, *says;
        int code;
    } rows[] = {
        {"resnet5", "nearest is 'resnet50'", ASSAY_ENOTFOUND},
        {"resnet50:clases=3", "nearest is 'classes'", ASSAY_EINVAL},
        {"resnet50:batch=0", "a whole number from 1 to", ASSAY_EINVAL},
        {"resnet50:batch=two", "not two", ASSAY_EINVAL},
        {"resnet50:batch", "not key=value", ASSAY_EINVAL},
        {"resnet50:image=64,image=65", "given twice", ASSAY_EINVAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_INT(assay__zoo_build(rows[i].name, &model, &error), rows[i].code);
        CHECK(!model);
        CHECK_HAS(error.message, rows[i].says);
    }
    CHECK(assay__zoo_knows("resnet50:batch=8") && !assay__zoo_knows("resnet50.onnx"));
    CHECK(assay__zoo_at(0) && !assay__zoo_at(1000));
}

static void hex_of(const char *text, size_t size, size_t times, char out[65])
{
    struct assay__sha256 sha;
    uint8_t digest[32];
    assay__sha256_start(&sha);
    for (size_t i = 0; i < times; i++)
        assay__sha256_add(&sha, text, size);
    assay__sha256_end(&sha, digest);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* FIPS 180-4 examples and NIST's long message. */
static void test_sha256(void)
{
    char hex[65];
    hex_of("", 0, 1, hex);
    CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hex_of("abc", 3, 1, hex);
    CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 1, hex);
    CHECK_STR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char million[65];
    struct assay__buf buf = {.data = NULL};
    assay__buf_repeat(&buf, "a", 1000000);
    hex_of(buf.data, buf.length, 1, million);
    CHECK_STR(million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    hex_of("aaaaa", 5, 200000, hex); /* in pieces that straddle blocks */
    CHECK_STR(hex, million);
    char path[64];
    snprintf(path, sizeof path, "/tmp/assay-test-sha-%ld", (long)getpid());
    CHECK_INT(assay__file_write(path, buf.data, buf.length, NULL), 0);
    CHECK_INT(assay__sha256_file(path, hex, NULL), 0);
    CHECK_STR(hex, million);
    unlink(path);
    CHECK_INT(assay__sha256_file(path, hex, NULL), ASSAY_ENOTFOUND);
    assay__buf_free(&buf);
}

/* --- names that are there twice --------------------------------------------------------------- */

static void expect_check_error(const struct assay__model *model, const char *says)
{
    struct assay_error error = {.code = 0};
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, says);
}

static void test_duplicates(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1");
    fixture_input(model, "w", ASSAY__FLOAT32, "4"); /* IR 3: an initializer that is listed */
    fixture_weights(model, "w", ASSAY__FLOAT32, "4");
    fixture_node(model, "Add x,w -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__model_check(model, NULL), 0);
    fixture_weights(model, "w", ASSAY__FLOAT32, "4");
    expect_check_error(model, "'w' is an initializer more than once");
    model->graph.initializer_count--;
    fixture_input(model, "x", ASSAY__FLOAT32, "1");
    expect_check_error(model, "'x' is an input more than once");
    model->graph.input_count--;
    model->opsets[0].version = 0;
    expect_check_error(model, "'ai.onnx' has the invalid version 0");
    assay__model_free(model);
    model = everything();
    CHECK_INT(assay__model_check(model, NULL), 0);
    struct assay__graph *inner = model->graph.nodes[3].attrs[0].g;
    const char *inputs[] = {"f"}, *outputs[] = {"r"};
    CHECK(assay__graph_add_node(model, inner, "Abs", "", inputs, 1, outputs, 1));
    expect_check_error(model, "'r' is produced in a subgraph and outside it");
    inner->nodes[1].outputs[0] = "then_branch";
    expect_check_error(model, "'then_branch' is produced more than once");
    inner->nodes[1].outputs[0] = "z"; /* only produced later: another name */
    CHECK_INT(assay__model_check(model, NULL), 0);
    assay__model_free(model);
}

/* --- bodies of functions ---------------------------------------------------------------------- */

/* A function (a, b) -> (sum): t = Neg(a), sum = Add(t, b). */
static struct assay__model *model_with_function(struct assay__function *function)
{
    static const char *names[] = {"a", "b"}, *results[] = {"sum"};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1");
    fixture_node(model, "Relu x -> y");
    fixture_output(model, "y");
    struct assay__graph *body = assay__arena_alloc(model->arena, sizeof *body);
    const char *neg[] = {"a"}, *made[] = {"t"}, *add[] = {"t", "b"};
    CHECK(assay__graph_add_node(model, body, "Neg", "first", neg, 1, made, 1));
    CHECK(assay__graph_add_node(model, body, "Add", "second", add, 2, results, 1));
    *function = (struct assay__function){.name = "minus",
                                         .domain = "local",
                                         .overload = "",
                                         .inputs = names,
                                         .outputs = results,
                                         .input_count = 2,
                                         .output_count = 1,
                                         .body = body};
    model->functions = function;
    model->function_count = 1;
    return model;
}

static void test_functions(void)
{
    struct assay__function function;
    struct assay__model *model = model_with_function(&function);
    struct assay__node *nodes = function.body->nodes;
    CHECK_INT(assay__model_check(model, NULL), 0);
    nodes[0].inputs[0] = "x"; /* of the main graph: a function does not see it */
    expect_check_error(model, "function 'minus': node 'first' (Neg) reads 'x', which nothing");
    nodes[0].inputs[0] = "sum";
    expect_check_error(model, "function 'minus': the graph has a cycle through node");
    nodes[0].inputs[0] = "a";
    nodes[1].outputs[0] = "other";
    expect_check_error(model, "function 'minus': nothing produces the output 'sum'");
    nodes[1].outputs[0] = "t";
    expect_check_error(model, "function 'minus': 't' is produced more than once");
    nodes[1].outputs[0] = "a";
    expect_check_error(model, "function 'minus': 'a' is produced more than once");
    nodes[1].outputs[0] = "sum";
    struct assay__node swapped = nodes[0]; /* another order than that of the file is fine */
    nodes[0] = nodes[1];
    nodes[1] = swapped;
    CHECK_INT(assay__model_check(model, NULL), 0);
    function.input_count = 1;
    expect_check_error(model, "reads 'b', which nothing produces");
    model->function_count = 0;
    assay__model_free(model);
}

/* --- what counts as a parameter --------------------------------------------------------------- */

/* QDQ and QOperator weights count; their scales and zero points are bytes only. */
static void test_quantised_parameters(void)
{
    int64_t elements = 0, bytes = 0;
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "2,8");
    fixture_weights(model, "w", ASSAY__INT8, "8,4");
    fixture_weights(model, "w_scale", ASSAY__FLOAT32, "4");
    fixture_weights(model, "w_zero", ASSAY__INT8, "4");
    fixture_weights(model, "bias", ASSAY__FLOAT32, "4");
    fixture_ints(model, "shape", 1, (const int64_t[]){8});
    fixture_node(model, "DequantizeLinear w,w_scale,w_zero -> d");
    fixture_node(model, "Gemm x,d,bias -> y");
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 8 * 4 + 4);
    CHECK_INT(bytes, 32 + 16 + 4 + 16 + 8);
    fixture_weights(model, "b", ASSAY__UINT8, "4,1,16"); /* 4 x 32 numbers of four bits */
    fixture_weights(model, "b_scale", ASSAY__FLOAT32, "4");
    struct assay__node *node = fixture_node(model, "MatMulNBits y,b,b_scale -> z");
    node->domain = "com.microsoft";
    CHECK_INT(assay__node_set_int(model, node, "bits", 4), 0);
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 36 + 128);
    fixture_weights(model, "q", ASSAY__INT8, "4,4");
    fixture_node(model, "QLinearMatMul a,as,az,q,w_scale,w_zero,as,az -> o");
    fixture_weights(model, "as", ASSAY__FLOAT32, "");
    fixture_weights(model, "az", ASSAY__UINT8, "");
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 36 + 128 + 16);
    fixture_weights(model, "i", ASSAY__INT8, "8,2");
    fixture_weights(model, "i_scale", ASSAY__FLOAT32, "2");
    fixture_node(model, "DynamicQuantizeLinear x -> xq,xs,xz");
    fixture_node(model, "MatMulInteger xq,i,xz -> xi");
    fixture_node(model, "Mul xs,i_scale -> scale");
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 36 + 128 + 16 + 16);
    fixture_node(model, "Mul y,w_scale -> used"); /* used as a weight as well */
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 36 + 128 + 16 + 16 + 4);
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"check", test_check},
        {"order", test_order},
        {"long_chain", test_long_chain},
        {"fingerprint", test_fingerprint},
        {"constant_weights", test_constant_weights},
        {"zoo_parameters", test_zoo_parameters},
        {"sha256", test_sha256},
        {"duplicates", test_duplicates},
        {"functions", test_functions},
        {"quantised_parameters", test_quantised_parameters},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
