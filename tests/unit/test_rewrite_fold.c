/* test_rewrite_fold.c - HardSwish and affine operators that are written out: what is found, the
 * exact numbers it becomes, and what must stay. What the rewritten models calculate is checked with
 * an engine in tests/cli/make_rewrite.sh. */
#include "model_fixture.h"

#include "model/rewrite/rewrites.h"
#include "model/tensor_data.h"

static struct assay_error error;

/* The rewrite at that place of the list; the model is sound after it. */
static void rewrite(struct assay__model *model, size_t which)
{
    const struct assay__rewrite_request none = {0};
    if (assay__rewriter_at(which)->apply(model, &none, NULL, &error) ||
        assay__model_check(model, &error))
        harness_fail(__FILE__, __LINE__, error.message);
}
#define FUSE ASSAY__REWRITE_AT_hardswish
#define FOLD ASSAY__REWRITE_AT_affine

static void number(struct assay__model *model, const char *name, float value)
{
    fixture_scalar(model, name, ASSAY__FLOAT32, &value);
}

static void floats(struct assay__model *model, const char *name, const char *shape,
                   const float *values)
{
    fixture_weights(model, name, ASSAY__FLOAT32, shape);
    struct assay__tensor *t = &model->graph.initializers[model->graph.initializer_count - 1];
    memcpy((void *)t->data, values, t->data_size);
}

/* "Conv HardSigmoid Mul" */
static const char *ops(const struct assay__model *model)
{
    static char text[256];
    text[0] = 0;
    for (size_t i = 0; i < model->graph.node_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 model->graph.nodes[i].op);
    return text;
}

static void check_input(const struct assay__model *model, size_t node, size_t input, size_t count,
                        const float *expected)
{
    float got[16];
    const char *name = model->graph.nodes[node].inputs[input];
    const struct assay__tensor *t = assay__graph_initializer(&model->graph, name);
    CHECK(t);
    CHECK_INT(t->elements, count);
    CHECK_INT(assay__tensor_floats(model, t, got, &error), 0);
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(got[i], expected[i], 0);
}

/* --- HardSwish -------------------------------------------------------------------------------- */

/* x with what a HardSwish needs: 0, 3, 6, 1/6 */
static struct assay__model *with_numbers(int64_t opset)
{
    struct assay__model *model = fixture_model(opset);
    fixture_input(model, "x", ASSAY__FLOAT32, "1,4");
    number(model, "zero", 0);
    number(model, "three", 3);
    number(model, "six", 6);
    number(model, "sixth", 1.0f / 6);
    fixture_output(model, "y");
    return model;
}

static void hardswish_forms(void)
{
    static const char *const forms[][4] = {
        {"Add x,three -> a", "Clip a,zero,six -> b", "Mul x,b -> c", "Div c,six -> y"},
        {"Add three,x -> a", "Clip a,zero,six -> b", "Mul b,x -> c", "Mul sixth,c -> y"},
        {"Add x,three -> a", "Clip a,zero,six -> b", "Div b,six -> c", "Mul x,c -> y"},
    };
    for (int opset = 12; opset <= 14; opset += 2)
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
            struct assay__model *model = with_numbers(opset);
            for (int i = 0; i < 4; i++)
                fixture_node(model, forms[f][i]);
            rewrite(model, FUSE);
            CHECK_STR(ops(model), opset < 14 ? "HardSigmoid Mul" : "HardSwish");
            const struct assay__node *first = &model->graph.nodes[0];
            CHECK_STR(first->inputs[0], "x");
            if (opset < 14) CHECK_NEAR(assay__node_float(first, "alpha", 0), 1.0f / 6, 0);
            if (opset < 14) CHECK_NEAR(assay__node_float(first, "beta", 0), 0.5, 0);
            CHECK_INT(assay__graph_initializer(&model->graph, "six") == NULL, 1);
            assay__model_free(model);
        }
}

/* Bounds as attributes, and 0.2 x + 0.5 between 0 and 1. */
static void hard_sigmoid(void)
{
    struct assay__model *model = with_numbers(10);
    number(model, "fifth", 0.2f);
    number(model, "half", 0.5f);
    fixture_node(model, "Mul x,fifth -> a");
    fixture_node(model, "Add a,half -> b");
    struct assay__node *clip = fixture_node(model, "Clip b -> y");
    assay__node_set_float(model, clip, "min", 0);
    assay__node_set_float(model, clip, "max", 1);
    rewrite(model, FUSE);
    CHECK_STR(ops(model), "HardSigmoid");
    CHECK_NEAR(assay__node_float(&model->graph.nodes[0], "alpha", 0), 0.2f, 0);
    CHECK_NEAR(assay__node_float(&model->graph.nodes[0], "beta", 0), 0.5f, 0);
    assay__model_free(model);
}

/* Another divisor, a lower bound that is not 0, a part that is read elsewhere, another x. */
static void no_hardswish(void)
{
    static const char *const forms[][4] = {
        {"Add x,three -> a", "Clip a,zero,six -> b", "Mul x,b -> c", "Div c,three -> y"},
        {"Add x,three -> a", "Clip a,three,six -> b", "Mul x,b -> c", "Div c,six -> y"},
        {"Add x,three -> a", "Clip a,zero,six -> z", "Mul x,z -> c", "Div c,six -> y"},
        {"Add x,three -> a", "Clip a,zero,six -> b", "Mul a,b -> c", "Div c,six -> y"},
        {"Add x,three -> a", "Clip a,zero,six -> b", "Mul x,b -> c", "Div six,c -> y"},
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        struct assay__model *model = with_numbers(14);
        for (int i = 0; i < 4; i++)
            fixture_node(model, forms[f][i]);
        if (f == 2) fixture_output(model, "z");
        rewrite(model, FUSE);
        CHECK_STR(ops(model), "Add Clip Mul Div");
        assay__model_free(model);
    }
}

/* --- affine ----------------------------------------------------------------------------------- */

static const float two_filters[] = {1, 2, 3, 4}; /* 2 filters of 2 channels, 1 x 1 */

static struct assay__model *convolution(const char *input)
{
    struct assay__model *model = fixture_model(17);
    static const float bias[] = {10, 20}, scale[] = {2, -4};
    fixture_input(model, "x", ASSAY__FLOAT32, input);
    floats(model, "w", "2,2,1,1", two_filters);
    floats(model, "b", "2", bias);
    floats(model, "per", "1,2,1,1", scale);
    number(model, "three", 3);
    fixture_output(model, "y");
    return model;
}

/* y = ((conv - 3) * per) / 0.5 + 3 */
static void affine_after(void)
{
    struct assay__model *model = convolution("1,2,5,5");
    number(model, "half", 0.5f);
    fixture_node(model, "Conv x,w,b -> a");
    fixture_node(model, "Sub a,three -> c");
    fixture_node(model, "Mul per,c -> d");
    fixture_node(model, "Div d,half -> e");
    fixture_node(model, "Add e,three -> y");
    rewrite(model, FOLD);
    CHECK_STR(ops(model), "Conv");
    CHECK_STR(model->graph.nodes[0].outputs[0], "y");
    check_input(model, 0, 1, 4, (float[]){4, 8, -24, -32});
    check_input(model, 0, 2, 2, (float[]){(10 - 3) * 4 + 3, (20 - 3) * -8 + 3});
    CHECK(!assay__graph_initializer(&model->graph, "w"));
    CHECK(!assay__graph_initializer(&model->graph, "three"));
    assay__model_free(model);
}

/* conv(x per + 3), and 3 - x; with padding the shift must stay, the product before it too. */
static void affine_before(void)
{
    for (int padded = 0; padded < 2; padded++) {
        struct assay__model *model = convolution("1,2,5,5");
        fixture_node(model, "Mul x,per -> c");
        fixture_node(model, "Sub three,c -> d");
        struct assay__node *conv = fixture_node(model, "Conv d,w -> y");
        assay__node_set_ints(model, conv, "pads", (int64_t[]){padded, 0, 0, 0}, 4);
        rewrite(model, FOLD);
        CHECK_STR(ops(model), padded ? "Mul Sub Conv" : "Conv");
        if (!padded) {
            CHECK_STR(model->graph.nodes[0].inputs[0], "x");
            check_input(model, 0, 1, 4, (float[]){-2, 8, -6, 16});
            check_input(model, 0, 2, 2, (float[]){9, 21});
        }
        assay__model_free(model);
    }
}

/* A product goes into a padded convolution too; grouped weights have their own channels. */
static void affine_groups(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1,2,5,5");
    static const float four[] = {1, 2, 3, 4};
    floats(model, "per", "2,1,1", (float[]){5, 7});
    floats(model, "w", "2,1,1,2", four);
    floats(model, "v", "2,2,1,1", four); /* transposed: 2 groups of 1 channel to 2 */
    floats(model, "four", "1,4,1,1", four);
    fixture_node(model, "Mul x,per -> a");
    struct assay__node *conv = fixture_node(model, "Conv a,w -> b");
    assay__node_set_int(model, conv, "group", 2);
    assay__node_set_ints(model, conv, "pads", (int64_t[]){0, 1, 0, 1}, 4);
    fixture_node(model, "Relu b -> c");
    struct assay__node *up = fixture_node(model, "ConvTranspose c,v -> d");
    assay__node_set_int(model, up, "group", 2);
    fixture_node(model, "Mul d,four -> y");
    fixture_output(model, "y");
    rewrite(model, FOLD);
    CHECK_STR(ops(model), "Conv Relu ConvTranspose");
    check_input(model, 0, 1, 4, (float[]){5, 10, 21, 28});
    check_input(model, 2, 1, 4, (float[]){1, 4, 9, 16});
    check_input(model, 2, 2, 4, (float[]){0, 0, 0, 0});
    assay__model_free(model);
}

/* Between two convolutions it goes into one of them; a weight that both read is not changed for the
 * other. */
static void affine_between(void)
{
    struct assay__model *model = convolution("1,2,5,5");
    fixture_node(model, "Conv x,w -> a");
    fixture_node(model, "Mul a,three -> c");
    fixture_node(model, "Conv c,w -> y");
    rewrite(model, FOLD);
    CHECK_STR(ops(model), "Conv Conv");
    check_input(model, 0, 1, 4, (float[]){3, 6, 9, 12});
    check_input(model, 1, 1, 4, two_filters);
    CHECK_STR(model->graph.nodes[1].inputs[0], "c");
    assay__model_free(model);
}

/* A vector along the last axis, a value that is read twice, a division by 0, weights that an input
 * may replace. */
static void no_affine(void)
{
    static const char *const seconds[] = {"Mul a,last -> y", "Mul a,three -> y", "Div a,zero -> y",
                                          "Mul a,three -> y"};
    for (int i = 0; i < 4; i++) {
        struct assay__model *model = convolution("1,2,5,5");
        floats(model, "last", "2", (float[]){1, 2});
        number(model, "zero", 0);
        fixture_node(model, "Conv x,w,b -> a");
        fixture_node(model, seconds[i]);
        if (i == 1) fixture_output(model, "a");
        if (i == 3) fixture_input(model, "w", ASSAY__FLOAT32, "2,2,1,1");
        rewrite(model, FOLD);
        CHECK_STR(ops(model), i == 2 ? "Conv Div" : "Conv Mul");
        check_input(model, 0, 1, 4, two_filters);
        assay__model_free(model);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"hardswish_forms", hardswish_forms}, {"hard_sigmoid", hard_sigmoid},
        {"no_hardswish", no_hardswish},       {"affine_after", affine_after},
        {"affine_before", affine_before},     {"affine_groups", affine_groups},
        {"affine_between", affine_between},   {"no_affine", no_affine},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
