/* test_rewrite.c - the rewrites on small models: exact numbers, exact graphs, and what is refused.
 * What the rewritten models calculate is checked with an engine in tests/cli/make_rewrite.sh. */
#include "model_fixture.h"

#include "model/rewrite/rewrite_graph.h"
#include "model/tensor_data.h"

#include <limits.h>

/* --- helpers ---------------------------------------------------------------------------------- */

static struct assay_error error;

static void floats(struct assay__model *model, const char *name, int rank, const int64_t *dims,
                   const float *values)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= dims[i];
    float *copy = assay__arena_array(model->arena, (size_t)count, sizeof *copy);
    memcpy(copy, values, (size_t)count * sizeof *copy);
    CHECK(assay__graph_add_initializer(model, &model->graph, name, ASSAY__FLOAT32, rank, dims, copy,
                                       (size_t)count * sizeof *copy));
}

static struct assay__rewrite_notes notes_for(struct assay__model *model)
{
    return (struct assay__rewrite_notes){.arena = model->arena};
}

static bool noted(const struct assay__rewrite_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strstr(notes->lines[i], text)) return true;
    return false;
}

/* "Cast MatMul Cast" */
static const char *ops(const struct assay__graph *graph)
{
    static char text[1024];
    size_t at = 0;
    text[0] = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? " " : "",
                               graph->nodes[i].op);
    return text;
}

static const struct assay__node *nth(const struct assay__graph *graph, const char *op, size_t n)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (strcmp(graph->nodes[i].op, op) == 0 && n-- == 0) return &graph->nodes[i];
    harness_fail(__FILE__, __LINE__, op);
    return NULL;
}

/* Every rewritten model passes the check and is the same after writing and reading. */
static void settle(struct assay__model *model)
{
    char path[64], before[17], after[17];
    struct assay__model *again = NULL;
    if (assay__model_check(model, &error)) harness_fail(__FILE__, __LINE__, error.message);
    snprintf(path, sizeof path, "/tmp/assay-test-rewrite-%ld.onnx", (long)getpid());
    if (assay__model_write(model, path, &error)) harness_fail(__FILE__, __LINE__, error.message);
    int code = assay__model_read(path, &again, &error);
    unlink(path);
    if (code) harness_fail(__FILE__, __LINE__, error.message);
    CHECK_INT(assay__model_fingerprint(model, before), 0);
    CHECK_INT(assay__model_fingerprint(again, after), 0);
    CHECK_STR(after, before);
    assay__model_free(again);
    assay__model_free(model);
}

static const int64_t two_by_three[] = {2, 3};
static const float matrix[] = {1, -1, 0, 0.25f, 4, 0};

/* y = x W, x [batch, 2] */
static struct assay__model *product(int64_t opset)
{
    struct assay__model *model = fixture_model(opset);
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,2");
    floats(model, "w", 2, two_by_three, matrix);
    fixture_node(model, "MatMul x,w -> y");
    fixture_output(model, "y");
    return model;
}

/* --- int8 ------------------------------------------------------------------------------------- */

static void test_quantize(void)
{
    int8_t q[6];
    float scales[3];
    static const int8_t by_column[] = {127, -32, 0, 32, 127, 0};
    CHECK(assay__quantize(matrix, 2, two_by_three, 1, q, scales));
    CHECK_NEAR(scales[0], 1.0f / 127, 0);
    CHECK_NEAR(scales[1], 4.0f / 127, 0);
    CHECK_NEAR(scales[2], 1, 0); /* an all-zero column */
    CHECK_INT(memcmp(q, by_column, sizeof q), 0);
    static const int8_t by_row[] = {127, -127, 0, 8, 127, 0};
    CHECK(assay__quantize(matrix, 2, two_by_three, 0, q, scales));
    CHECK_NEAR(scales[1], 4.0f / 127, 0);
    CHECK_INT(memcmp(q, by_row, sizeof q), 0);
    static const int8_t whole[] = {32, -32, 0, 8, 127, 0};
    CHECK(assay__quantize(matrix, 2, two_by_three, -1, q, scales));
    CHECK_NEAR(scales[0], 4.0f / 127, 0);
    CHECK_INT(memcmp(q, whole, sizeof q), 0);
    float bad[6] = {1, 2, INFINITY, 0, 0, 0};
    CHECK(!assay__quantize(bad, 2, two_by_three, 1, q, scales));
    bad[2] = NAN;
    CHECK(!assay__quantize(bad, 2, two_by_three, 1, q, scales));
}

static void test_weights_int8(void)
{
    struct assay__model *model = product(13);
    struct assay__rewrite_notes notes = notes_for(model);
    static const int8_t expected[] = {127, -32, 0, 32, 127, 0};
    CHECK_INT(assay__rewrite_weights_int8(model, &notes, &error), 0);
    CHECK_STR(ops(&model->graph), "DequantizeLinear MatMul");
    const struct assay__node *node = nth(&model->graph, "DequantizeLinear", 0);
    CHECK_INT(assay__node_int(node, "axis", -9), 1);
    CHECK_STR(node->outputs[0], "w");
    const struct assay__tensor *q = assay__graph_initializer(&model->graph, node->inputs[0]);
    const struct assay__tensor *s = assay__graph_initializer(&model->graph, node->inputs[1]);
    CHECK(q && s && !assay__graph_initializer(&model->graph, "w"));
    CHECK_INT(q->dtype, ASSAY__INT8);
    CHECK_INT(memcmp(q->data, expected, 6), 0);
    CHECK_INT(s->elements, 3);
    CHECK(noted(&notes, "1 weights to int8, 24 bytes to 18"));
    settle(model);
}

static void test_weights_int8_per_tensor(void)
{
    /* Resize of set 10 with unknown scales cannot be raised: one scale per tensor. */
    struct assay__model *model = product(10);
    struct assay__rewrite_notes notes = notes_for(model);
    fixture_input(model, "s", ASSAY__FLOAT32, "2");
    fixture_node(model, "Resize y,s -> z");
    CHECK_INT(assay__rewrite_weights_int8(model, &notes, &error), 0);
    const struct assay__node *node = nth(&model->graph, "DequantizeLinear", 0);
    CHECK(!assay__node_attr(node, "axis"));
    CHECK_INT(assay__graph_initializer(&model->graph, node->inputs[1])->rank, 0);
    CHECK_INT(assay__model_opset(model, ""), 10);
    CHECK(noted(&notes, "one scale per tensor"));
    settle(model);
    /* Below set 10 there is no DequantizeLinear: refused. */
    model = product(9);
    fixture_input(model, "s", ASSAY__FLOAT32, "2");
    fixture_node(model, "Upsample y,s -> z");
    CHECK_INT(assay__rewrite_weights_int8(model, NULL, &error), ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "Upsample");
    assay__model_free(model);
}

static void test_dynamic_int8(void)
{
    struct assay__model *model = fixture_model(13);
    struct assay__rewrite_notes notes = notes_for(model);
    static const float bias[] = {10, 20};
    static const int64_t two = 2;
    static const int8_t transposed[] = {127, 8, -127, 127, 0, 0};
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,3");
    floats(model, "w", 2, two_by_three, matrix); /* transB: [out 2, in 3] */
    floats(model, "c", 1, &two, bias);
    struct assay__node *gemm = fixture_node(model, "Gemm x,w,c -> y");
    assay__node_set_int(model, gemm, "transB", 1);
    assay__node_set_float(model, gemm, "alpha", 0.5f);
    assay__node_set_float(model, gemm, "beta", 2);
    fixture_node(model, "MatMul x,v -> z"); /* both vary */
    fixture_input(model, "v", ASSAY__FLOAT32, "3,3");
    fixture_output(model, "y");
    fixture_output(model, "z");
    CHECK_INT(assay__rewrite_dynamic_int8(model, &notes, &error), 0);
    CHECK_STR(ops(&model->graph), "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Add MatMul");
    const struct assay__node *integer = nth(&model->graph, "MatMulInteger", 0);
    const struct assay__tensor *q = assay__graph_initializer(&model->graph, integer->inputs[1]);
    CHECK(q && q->dims[0] == 3 && q->dims[1] == 2);
    CHECK_INT(memcmp(q->data, transposed, 6), 0);
    const struct assay__node *scale = nth(&model->graph, "Mul", 0);
    float numbers[2];
    CHECK_INT(assay__tensor_floats(model, assay__graph_initializer(&model->graph, scale->inputs[1]),
                                   numbers, &error),
              0);
    CHECK_NEAR(numbers[0], 0.5f * (1.0f / 127), 0);
    CHECK_NEAR(numbers[1], 0.5f * (4.0f / 127), 0);
    const struct assay__node *add = nth(&model->graph, "Add", 0);
    CHECK_INT(assay__tensor_floats(model, assay__graph_initializer(&model->graph, add->inputs[1]),
                                   numbers, &error),
              0);
    CHECK_NEAR(numbers[1], 40, 0);
    CHECK_STR(add->outputs[0], "y");
    CHECK(!assay__graph_initializer(&model->graph, "w"));
    CHECK(noted(&notes, "1 MatMul, Gemm and Conv left unchanged:"));
    settle(model);
}

static void test_dynamic_int8_conv(void)
{
    struct assay__model *model = fixture_model(13);
    static const int64_t filters[] = {2, 1, 1, 3}, two = 2, ones[] = {1, 1};
    static const float bias[] = {1, 2};
    fixture_input(model, "x", ASSAY__FLOAT32, "1,1,4,4");
    floats(model, "w", 4, filters, matrix);
    floats(model, "b", 1, &two, bias);
    struct assay__node *conv = fixture_node(model, "Conv x,w,b -> y");
    assay__node_set_ints(model, conv, "strides", ones, 2);
    fixture_output(model, "y");
    CHECK_INT(assay__rewrite_dynamic_int8(model, NULL, &error), 0);
    CHECK_STR(ops(&model->graph), "DynamicQuantizeLinear ConvInteger Cast Mul Mul Add");
    CHECK(assay__node_attr(nth(&model->graph, "ConvInteger", 0), "strides"));
    const struct assay__tensor *s = assay__graph_initializer(
        &model->graph, nth(&model->graph, "Mul", 0)->inputs[1]);
    CHECK(s->rank == 3 && s->dims[0] == 2 && s->dims[1] == 1 && s->dims[2] == 1);
    settle(model);
}

/* --- float16 ---------------------------------------------------------------------------------- */

static void test_float16(void)
{
    struct assay__model *model = fixture_model(17);
    struct assay__rewrite_notes notes = notes_for(model);
    static const float values[] = {1, 0.1f, 65504, 1e-9f, -3e-6f, 0};
    static const uint16_t halves[] = {0x3c00, 0x2e66, 0x7bff, 0x0000, 0x8032, 0x0000};
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,2");
    floats(model, "w", 2, two_by_three, values);
    fixture_node(model, "MatMul x,w -> h");
    fixture_node(model, "Relu h -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__rewrite_float16(model, &notes, &error), 0);
    CHECK_STR(ops(&model->graph), "Cast MatMul Relu Cast");
    CHECK_INT(model->graph.inputs[0].dtype, ASSAY__FLOAT32);
    const struct assay__tensor *w = assay__graph_initializer(&model->graph, "w");
    CHECK(w && w->dtype == ASSAY__FLOAT16);
    CHECK_INT(memcmp(w->data, halves, sizeof halves), 0);
    CHECK_STR(nth(&model->graph, "MatMul", 0)->outputs[0], "h"); /* its own name */
    CHECK_STR(nth(&model->graph, "Cast", 1)->outputs[0], "y");
    CHECK_INT(assay__node_int(nth(&model->graph, "Cast", 1), "to", 0), ASSAY__FLOAT32);
    CHECK(noted(&notes, "2 of 2 operators in float16, 1 weights (12 bytes), 2 Casts"));
    CHECK(noted(&notes, "2 weight values are below"));
    CHECK(noted(&notes, "1 of them become 0"));
    /* once more: nothing is left */
    notes = notes_for(model);
    CHECK_INT(assay__rewrite_float16(model, &notes, &error), 0);
    CHECK_STR(ops(&model->graph), "Cast MatMul Relu Cast");
    CHECK(noted(&notes, "nothing to convert"));
    settle(model);
}

static void test_float16_overflow(void)
{
    struct assay__model *model = product(17);
    struct assay__rewrite_notes notes = notes_for(model);
    float mask = -3.4e38f, bound = 3.4e38f, epsilon = 1e-12f;
    fixture_scalar(model, "mask", ASSAY__FLOAT32, &mask);
    fixture_scalar(model, "bound", ASSAY__FLOAT32, &bound);
    fixture_scalar(model, "epsilon", ASSAY__FLOAT32, &epsilon);
    fixture_node(model, "Add y,mask -> a");
    fixture_node(model, "Softmax a -> s");
    fixture_node(model, "Relu s -> r");
    fixture_node(model, "Clip r,,bound -> c"); /* a bound beyond the range is none */
    fixture_node(model, "Add c,epsilon -> z");
    model->graph.output_count = 0;
    fixture_output(model, "z");
    CHECK_INT(assay__rewrite_float16(model, &notes, &error), 0);
    CHECK_STR(ops(&model->graph), "Cast MatMul Cast Add Softmax Cast Relu Clip Add Cast");
    CHECK_INT(assay__graph_initializer(&model->graph, "mask")->dtype, ASSAY__FLOAT32);
    uint16_t half;
    memcpy(&half, assay__graph_initializer(&model->graph, "bound")->data, 2);
    CHECK_INT(half, 0x7c00);
    memcpy(&half, assay__graph_initializer(&model->graph, "epsilon")->data, 2);
    CHECK_INT(half, 1); /* not 0 */
    CHECK(noted(&notes, "stay float32"));
    settle(model);
}

static void test_float16_keeps(void)
{
    struct assay__model *model = fixture_model(17);
    struct assay__rewrite_notes notes = notes_for(model);
    /* positions * frequencies -> Cos stay float32, what follows does not */
    fixture_input(model, "p", ASSAY__INT64, "8");
    fixture_input(model, "f", ASSAY__FLOAT32, "8");
    struct assay__node *cast = fixture_node(model, "Cast p -> pf");
    assay__node_set_int(model, cast, "to", ASSAY__FLOAT32);
    fixture_node(model, "Mul pf,f -> angle");
    fixture_node(model, "Cos angle -> c");
    fixture_node(model, "Mul c,f -> y");
    /* an operator nobody knows, and what it makes */
    struct assay__node *odd = fixture_node(model, "Oddity f -> o");
    odd->domain = "example";
    fixture_node(model, "Relu o -> z");
    fixture_output(model, "y");
    fixture_output(model, "z");
    model->graph.outputs[1].dtype = ASSAY__FLOAT32;
    CHECK_INT(assay__rewrite_float16(model, &notes, &error), 0);
    const struct assay__node *angle = nth(&model->graph, "Mul", 0);
    CHECK_STR(angle->inputs[0], "pf");
    CHECK_STR(angle->inputs[1], "f");
    CHECK_STR(nth(&model->graph, "Mul", 1)->inputs[1], "f_f16");
    CHECK_STR(nth(&model->graph, "Relu", 0)->inputs[0], "o"); /* its type is not known */
    CHECK(noted(&notes, "1 operators that compute angles"));
    settle(model);
}

static struct assay__graph *body_of(struct assay__model *model, const char *text,
                                    const char *output)
{
    /* built in a model of its own arena, then taken over */
    struct assay__graph *body = assay__arena_alloc(model->arena, sizeof *body);
    struct assay__graph main = model->graph;
    model->graph = (struct assay__graph){.name = "body"};
    fixture_node(model, text);
    fixture_output(model, output);
    *body = model->graph;
    model->graph = main;
    return body;
}

static void test_float16_bodies(void)
{
    struct assay__model *model = product(17);
    fixture_input(model, "flag", ASSAY__BOOL, "");
    struct assay__graph *yes = body_of(model, "MatMul x,w -> a", "a"),
                        *no = body_of(model, "Relu y -> b", "b");
    struct assay__node *node = fixture_node(model, "If flag -> z");
    static const char *const names[] = {"then_branch", "else_branch"};
    for (int i = 0; i < 2; i++) {
        assay__node_set_int(model, node, names[i], 0);
        node->attrs[i].type = ASSAY__ATTR_GRAPH;
        node->attrs[i].g = i ? no : yes;
    }
    model->graph.output_count = 0;
    fixture_output(model, "z");
    CHECK_INT(assay__rewrite_float16(model, NULL, &error), 0);
    const struct assay__node *branch = nth(&model->graph, "If", 0);
    /* the captured input is cast once, outside; the border stays float32 */
    CHECK_STR(ops(branch->attrs[0].g), "MatMul Cast");
    CHECK_STR(branch->attrs[0].g->nodes[0].inputs[0], "x_f16");
    CHECK_STR(branch->attrs[0].g->nodes[1].outputs[0], "a");
    CHECK_STR(ops(branch->attrs[1].g), "Relu Cast");
    CHECK_STR(ops(&model->graph), "Cast MatMul If");
    settle(model);
}

/* --- dimensions ------------------------------------------------------------------------------- */

static void test_fix_dims(void)
{
    struct assay__model *model = product(17);
    static const char *const dims[] = {"batch=8"}, *const wrong[] = {"bach=8"},
                             *const bad[] = {"batch=x"};
    CHECK_INT(assay__rewrite_fix_dims(model, wrong, 1, 0, NULL, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "'batch'");
    CHECK_INT(assay__rewrite_fix_dims(model, bad, 1, 0, NULL, &error), ASSAY_EINVAL);
    CHECK_INT(assay__rewrite_fix_dims(model, dims, 1, 0, NULL, &error), 0);
    CHECK_INT(model->graph.inputs[0].dims[0].value, 8);
    settle(model);
    model = product(17);
    CHECK_INT(assay__rewrite_fix_dims(model, NULL, 0, 5, NULL, &error), 0);
    CHECK_INT(model->graph.inputs[0].dims[0].value, 5);
    settle(model);
}

static void test_fixed_batch(void)
{
    struct assay__model *model = fixture_model(17);
    static const int64_t target[] = {1, -1};
    fixture_input(model, "x", ASSAY__FLOAT32, "1,2,3");
    fixture_ints(model, "shape", 2, target);
    fixture_node(model, "Reshape x,shape -> h");
    fixture_node(model, "Relu h -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__rewrite_fix_dims(model, NULL, 0, 4, NULL, &error), 0);
    CHECK_INT(model->graph.inputs[0].dims[0].value, 4);
    const struct assay__tensor *changed = assay__graph_initializer(
        &model->graph, nth(&model->graph, "Reshape", 0)->inputs[1]);
    int64_t first;
    memcpy(&first, changed->data, sizeof first);
    CHECK_INT(first, 4);
    settle(model);
    /* a mean over the batch does not grow with it; a softmax along it mixes it */
    static const char *const mixing[] = {"ReduceMean x -> y", "Softmax x -> y"};
    for (int i = 0; i < 2; i++) {
        model = fixture_model(17);
        static const int64_t zero = 0;
        fixture_input(model, "x", ASSAY__FLOAT32, "1,6");
        struct assay__node *node = fixture_node(model, mixing[i]);
        if (i == 0)
            assay__node_set_ints(model, node, "axes", &zero, 1);
        else
            assay__node_set_int(model, node, "axis", 0);
        fixture_output(model, "y");
        CHECK_INT(assay__rewrite_fix_dims(model, NULL, 0, 4, NULL, &error), ASSAY_EUNSUPPORTED);
        CHECK_HAS(error.message, i ? "works across the batch" : "does not grow");
        assay__model_free(model);
    }
}

/* --- extract, repeat, strip ------------------------------------------------------------------- */

/* x -> Relu a -> Add(a, x2) b -> Exp y; x2 a second input */
static struct assay__model *chain(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "2,3");
    fixture_input(model, "x2", ASSAY__FLOAT32, "2,3");
    fixture_node(model, "Relu x -> a");
    fixture_node(model, "Add a,x2 -> b");
    fixture_node(model, "Exp b -> y");
    fixture_output(model, "y");
    return model;
}

static void test_extract(void)
{
    static const char *const a[] = {"a"}, *const b[] = {"b"}, *const both[] = {"a", "x2"},
                             *const none[] = {"bb"};
    struct assay__model *model = chain();
    CHECK_INT(assay__rewrite_extract(model, NULL, 0, NULL, 0, NULL, &error), 0);
    CHECK_STR(ops(&model->graph), "Relu Add Exp");
    CHECK_INT(model->graph.input_count, 2);
    settle(model);
    model = chain();
    CHECK_INT(assay__rewrite_extract(model, both, 2, b, 1, NULL, &error), 0);
    CHECK_STR(ops(&model->graph), "Add");
    CHECK_STR(model->graph.inputs[0].name, "a");
    CHECK_INT(model->graph.inputs[0].dims[1].value, 3);
    CHECK_INT(model->graph.inputs[0].dtype, ASSAY__FLOAT32);
    CHECK_STR(model->graph.outputs[0].name, "b");
    settle(model);
    model = chain();
    CHECK_INT(assay__rewrite_extract(model, NULL, 0, a, 1, NULL, &error), 0);
    CHECK_STR(ops(&model->graph), "Relu");
    CHECK_INT(model->graph.input_count, 1); /* x2 is not needed */
    settle(model);
    model = chain();
    CHECK_INT(assay__rewrite_extract(model, a, 1, b, 1, NULL, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "'x2' is also needed:");
    CHECK_INT(assay__rewrite_extract(model, none, 1, b, 1, NULL, &error), ASSAY_ENOTFOUND);
    CHECK_INT(assay__rewrite_extract(model, NULL, 0, none, 1, NULL, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "nearest is 'b'");
    CHECK_INT(assay__rewrite_extract(model, b, 1, a, 1, NULL, &error), ASSAY_EINVAL);
    assay__model_free(model);
}

static void test_repeat(void)
{
    struct assay__model *model = chain();
    CHECK_INT(assay__rewrite_repeat(model, "Relu", 1, NULL, &error), 0);
    CHECK_STR(ops(&model->graph), "Relu Add Exp");
    CHECK_INT(assay__rewrite_repeat(model, "Relu", 3, NULL, &error), 0);
    CHECK_STR(ops(&model->graph), "Relu Reshape Gather Cast Min Max Relu Reshape Gather Cast Min "
                                  "Max Relu Add Exp");
    CHECK_STR(nth(&model->graph, "Relu", 2)->outputs[0], "a"); /* the last gives the result */
    CHECK_STR(nth(&model->graph, "Max", 1)->inputs[0], "x");   /* of the same values */
    CHECK_STR(nth(&model->graph, "Relu", 2)->inputs[0], nth(&model->graph, "Max", 1)->outputs[0]);
    CHECK_INT(assay__rewrite_repeat(model, "Rel", 2, NULL, &error), ASSAY_ENOTFOUND);
    CHECK_INT(assay__rewrite_repeat(model, "Exp", 0, NULL, &error), ASSAY_EINVAL);
    settle(model);
    /* a bias is guarded rather than the activations: it is smaller */
    model = fixture_model(17);
    static const float bias[] = {1, 2, 3};
    static const int64_t three = 3;
    fixture_input(model, "x", ASSAY__FLOAT32, "8,2");
    floats(model, "w", 2, two_by_three, matrix);
    floats(model, "b", 1, &three, bias);
    fixture_node(model, "Gemm x,w,b -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__rewrite_repeat(model, "y", 2, NULL, &error), 0);
    CHECK_STR(nth(&model->graph, "Max", 0)->inputs[0], "b");
    CHECK_STR(nth(&model->graph, "Gemm", 1)->inputs[0], "x");
    settle(model);
}

static void test_strip(void)
{
    struct assay__model *model = product(17);
    struct assay__rewrite_notes notes = notes_for(model);
    CHECK_INT(assay__rewrite_strip(model, 6, &notes, &error), 0);
    CHECK_STR(ops(&model->graph), "MatMul"); /* six elements may stay */
    CHECK_INT(assay__rewrite_strip(model, 5, &notes, &error), 0);
    CHECK_STR(ops(&model->graph), "ConstantOfShape MatMul");
    CHECK(!assay__graph_initializer(&model->graph, "w"));
    const struct assay__node *node = nth(&model->graph, "ConstantOfShape", 0);
    float value;
    memcpy(&value, assay__node_attr(node, "value")->t->data, sizeof value);
    CHECK_NEAR(value, 0.5, 0); /* 1 / fan-in */
    int64_t shape[2];
    memcpy(shape, assay__graph_initializer(&model->graph, node->inputs[0])->data, sizeof shape);
    CHECK_INT(shape[0], 2);
    CHECK_INT(shape[1], 3);
    settle(model);
    /* what would leak is an error */
    model = product(21);
    fixture_weights(model, "q", ASSAY__INT4, "8,8");
    CHECK_INT(assay__rewrite_strip(model, 0, NULL, &error), ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "int4");
    assay__model_free(model);
}

/* --- older models ----------------------------------------------------------------------------- */

static void test_opset(void)
{
    struct assay__model *model = fixture_model(9);
    static const int64_t axes[] = {0}, pads[] = {0, 1, 0, 1};
    fixture_input(model, "x", ASSAY__FLOAT32, "2,3");
    struct assay__node *node = fixture_node(model, "Unsqueeze x -> u");
    assay__node_set_ints(model, node, "axes", axes, 1);
    fixture_node(model, "Softmax u -> s");
    node = fixture_node(model, "Clip s -> c");
    assay__node_set_float(model, node, "max", 6);
    node = fixture_node(model, "Dropout c -> d,mask");
    assay__node_set_float(model, node, "ratio", 0.3f);
    node = fixture_node(model, "Pad x -> p");
    assay__node_set_ints(model, node, "pads", pads, 4);
    fixture_output(model, "d");
    fixture_output(model, "p");
    CHECK_INT(assay__rewrite_opset(model, 13, NULL, &error), 0);
    CHECK_STR(ops(&model->graph), "Unsqueeze Flatten Shape Softmax Reshape Clip Dropout Pad");
    CHECK_INT(nth(&model->graph, "Unsqueeze", 0)->input_count, 2);
    CHECK_INT(assay__node_int(nth(&model->graph, "Softmax", 0), "axis", 9), -1);
    CHECK_INT(assay__node_int(nth(&model->graph, "Flatten", 0), "axis", 9), 1);
    CHECK_STR(nth(&model->graph, "Clip", 0)->inputs[1], "");
    CHECK(assay__graph_initializer(&model->graph, nth(&model->graph, "Clip", 0)->inputs[2]));
    CHECK_INT(nth(&model->graph, "Dropout", 0)->output_count, 1);
    CHECK_INT(assay__model_opset(model, ""), 13);
    settle(model);
    /* refused, and untouched */
    model = fixture_model(8);
    fixture_input(model, "x", ASSAY__FLOAT32, "2,3");
    node = fixture_node(model, "Unsqueeze x -> u");
    assay__node_set_ints(model, node, "axes", axes, 1);
    fixture_node(model, "Scan u -> y");
    CHECK_INT(assay__rewrite_opset(model, 13, NULL, &error), ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "Scan");
    CHECK(assay__node_attr(nth(&model->graph, "Unsqueeze", 0), "axes"));
    CHECK_INT(assay__model_opset(model, ""), 8);
    assay__model_free(model);
}

/* Every operator set that is read, with every rewrite that changes operators. */
static void test_opsets(void)
{
    for (int64_t opset = 7; opset <= 24; opset++) {
        struct assay__model *model = product(opset);
        fixture_node(model, "Softmax y -> s");
        model->graph.output_count = 0;
        fixture_output(model, "s");
        CHECK_INT(assay__rewrite_repeat(model, "Softmax", 2, NULL, &error), 0);
        CHECK_STR(nth(&model->graph, "Softmax", 1)->outputs[0], "s");
        CHECK_INT(assay__rewrite_weights_int8(model, NULL, &error), 0);
        CHECK_INT(assay__node_int(nth(&model->graph, "DequantizeLinear", 0), "axis", -9), 1);
        CHECK_INT(assay__model_opset(model, ""), opset < 13 ? 13 : opset);
        CHECK_INT(assay__rewrite_float16(model, NULL, &error), 0);
        /* DequantizeLinear gives float32, which is cast for the product */
        CHECK_STR(nth(&model->graph, "MatMul", 0)->inputs[1], "w_f16");
        CHECK_INT(assay__rewrite_strip(model, 0, NULL, &error), 0);
        settle(model);
    }
}

static void test_ir3(void)
{
    struct assay__model *model = product(9);
    model->ir_version = 3;
    fixture_input(model, "w", ASSAY__FLOAT32, "2,3"); /* IR 3 lists initializers as inputs */
    CHECK_INT(assay__rewrite_float16(model, NULL, &error), 0);
    CHECK_INT(model->ir_version, 4);
    CHECK_INT(model->graph.input_count, 1);
    settle(model);
}

/* The light models: what is rewritten is valid, and its operators are all there. */
static void test_light(void)
{
    for (int i = 0; i < LIGHT_COUNT; i++) {
        char path[1024];
        light_path(light_names[i], path, sizeof path);
        struct assay__model *model = fixture_read(path);
        size_t count = model->graph.node_count;
        CHECK_INT(assay__rewrite_extract(model, NULL, 0, NULL, 0, NULL, &error), 0);
        CHECK_INT(model->graph.node_count, count);
        CHECK_INT(assay__rewrite_weights_int8(model, NULL, &error), 0);
        CHECK_INT(assay__rewrite_float16(model, NULL, &error), 0);
        settle(model);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"quantize", test_quantize},
        {"weights_int8", test_weights_int8},
        {"weights_int8_per_tensor", test_weights_int8_per_tensor},
        {"dynamic_int8", test_dynamic_int8},
        {"dynamic_int8_conv", test_dynamic_int8_conv},
        {"float16", test_float16},
        {"float16_overflow", test_float16_overflow},
        {"float16_keeps", test_float16_keeps},
        {"float16_bodies", test_float16_bodies},
        {"fix_dims", test_fix_dims},
        {"fixed_batch", test_fixed_batch},
        {"extract", test_extract},
        {"repeat", test_repeat},
        {"strip", test_strip},
        {"opset", test_opset},
        {"opsets", test_opsets},
        {"ir3", test_ir3},
        {"light", test_light},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
