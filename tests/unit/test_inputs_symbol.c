/* test_inputs_symbol.c - symbolic dimensions of workloads: names that are expressions follow from
 * their names and the other way round, names that only look like it do not; which axis is the
 * batch. */
#include "inputs_fixture.h"

#include "model/rewrite/rewrite.h"
#include "model/symbol/symbol.h"

static int64_t dim(const struct assay__workload *workload, size_t input, int axis)
{
    return workload->inputs[input].dims[axis];
}

static struct assay__model *two_inputs(const char *x, const char *z)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, x);
    fixture_input(model, "z", ASSAY__FLOAT32, z);
    fixture_node(model, "Relu x -> y");
    fixture_node(model, "Relu z -> u");
    fixture_output(model, "y");
    return model;
}

/* The first dimension of z, given that of x. */
static void expect_follows(const char *x, const char *z, const char *option, int64_t expected)
{
    struct assay__model *model = two_inputs(x, z);
    struct assay__workload_options options = {.dims = LIST(option), .dim_count = 1};
    struct assay__workload *workload = plan_ok(model, &options);
    if (dim(workload, 1, 0) != expected) printf("  %s\n", z);
    CHECK_INT(dim(workload, 1, 0), expected);
    assay__workload_free(workload);
    assay__model_free(model);
}

static void test_products(void)
{
    expect_follows("batch,3", "2*batch,3", "batch=4", 8);
    expect_follows("batch,3", "batch//2,3", "batch=9", 4);
    expect_follows("batch,3", "(batch - 1)//2 + 1,3", "batch=9", 5);
    expect_follows("batch,length", "batch*length,3", "batch=9", 9 * 128); /* steps in time */
    expect_follows("batch,3", "batch+1,3", "batch=9", 10);
    expect_follows("7,3", "3*n + 1,3", "n=5", 16); /* no dimension is called n alone */
}

/* Names that are no expressions as a whole are names. */
static void test_names(void)
{
    static const char *const names[] = {"x=1+1", "a\"b<c>=1+1", "1+1", "a++b", "2**a"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct assay__model *model = two_inputs("batch,3", names[i]);
        struct assay__workload_options none = {.batch = 0};
        struct assay__workload *workload = plan_ok(model, &none);
        CHECK_INT(dim(workload, 1, 0), 1);
        CHECK_INT(workload->note_count, 2);
        CHECK_HAS(workload->notes[1], "set to 1");
        assay__workload_free(workload);
        char option[64];
        snprintf(option, sizeof option, "%s=5", names[i]);
        struct assay__workload_options some = {.dims = LIST(option), .dim_count = 1};
        workload = plan_ok(model, &some);
        CHECK_INT(dim(workload, 1, 0), 5);
        assay__workload_free(workload);
        assay__model_free(model);
    }
}

/* What is fixed gives what it is made of. */
static void test_solved(void)
{
    struct assay__model *model = two_inputs("batch,3", "2*batch,3");
    struct assay__workload_options shape = {.shapes = LIST("z=8x3"), .shape_count = 1};
    struct assay__workload *workload = plan_ok(model, &shape);
    CHECK_INT(dim(workload, 0, 0), 4);
    CHECK_INT(dim(workload, 1, 0), 8);
    CHECK_INT(workload->note_count, 0);
    CHECK_INT(workload->batch, 4);
    assay__workload_free(workload);
    shape.shapes = LIST("z=7x3");
    plan_fails(model, &shape, ASSAY_EINVAL, "'2*batch' is 7 by the given shape, but 2 follows");
    shape.batch = 3;
    plan_fails(model, &shape, ASSAY_EINVAL, "'2*batch' is 7 by the given shape, but 6 follows");
    struct assay__workload_options batch = {.batch = 5};
    workload = plan_ok(model, &batch);
    CHECK_INT(dim(workload, 0, 0), 5);
    CHECK_INT(dim(workload, 1, 0), 10);
    assay__workload_free(workload);
    assay__model_free(model);
    model = two_inputs("s0,3", "s0 + s1,3"); /* a + b = 7 with neither known: the first is 1 */
    shape = (struct assay__workload_options){.shapes = LIST("z=7x3"), .shape_count = 1};
    workload = plan_ok(model, &shape);
    CHECK_INT(dim(workload, 0, 0), 1);
    CHECK_INT(dim(workload, 1, 0), 7);
    assay__workload_free(workload);
    assay__model_free(model);
    model = two_inputs("s0,3", "s0 - 4,3");
    struct assay__workload_options few = {.dims = LIST("s0=2"), .dim_count = 1};
    plan_fails(model, &few, ASSAY_EINVAL, "'s0 - 4' is not a valid size");
    assay__model_free(model);
}

/* Fixing a symbol fixes what it is in. */
static void test_fixed(void)
{
    for (int by_batch = 0; by_batch < 2; by_batch++) {
        struct assay__model *model = two_inputs("batch,3", "2*batch,batch*s1");
        struct assay__rewrite_notes notes = {.arena = model->arena};
        struct assay_error error = {.code = 0};
        CHECK_INT(assay__rewrite_fix_dims(model, LIST("batch=4"), by_batch ? 0 : 1,
                                          by_batch ? 4 : 0, &notes, &error),
                  0);
        const struct assay__value *z = &model->graph.inputs[1];
        CHECK_INT(model->graph.inputs[0].dims[0].value, 4);
        CHECK_INT(z->dims[0].value, 8);
        CHECK_STR(z->dims[1].symbol, "4*s1");
        assay__model_free(model);
    }
    struct assay__arena *arena = assay__arena_new();
    CHECK_STR(assay__symbol_fix(arena, "a*ab + a.b - (a//2)", "a", 7), "7*ab + a.b - (7//2)");
    CHECK_STR(assay__symbol_fix(arena, "a=1+1", "a", 7), "a=1+1");
    CHECK_STR(assay__symbol_fix(arena, "b + c", "a", 7), "b + c");
    assay__arena_free(arena);
}

static void test_unknown_dim(void)
{
    struct assay__model *model = two_inputs("s0,3", "s1,height");
    struct assay__workload_options options = {.dims = LIST("nosuchname=4"), .dim_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "(it has 's0', 's1', 'height')");
    options.dims = LIST("heigth=4");
    plan_fails(model, &options, ASSAY_EINVAL, "did you mean 'height'");
    assay__model_free(model);
    model = two_inputs("1,3", "2,3");
    plan_fails(model, &options, ASSAY_EINVAL, "all its dimensions are fixed");
    assay__model_free(model);
}

static struct assay__model *cell(const char *x, int64_t layout)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, x);
    fixture_input(model, "h", ASSAY__FLOAT32, layout ? "3,1,7" : "1,3,7");
    fixture_weights(model, "w", ASSAY__FLOAT32, "1,7,5");
    fixture_weights(model, "r", ASSAY__FLOAT32, "1,7,7");
    fixture_node(model, "Tanh x -> t");
    struct assay__node *node = fixture_node(model, "RNN t,w,r,,,h -> y");
    assay__node_set_int(model, node, "layout", layout);
    assay__node_set_int(model, node, "hidden_size", 7);
    return model;
}

/* Time first: the batch is the second axis, and of states too. */
static void test_batch_axis(void)
{
    struct assay__model *model = cell("4,3,5", 0);
    CHECK_INT(assay__inputs_batch_axis(model, "x"), 1);
    CHECK_INT(assay__inputs_batch_axis(model, "h"), 1);
    CHECK_INT(assay__inputs_batch_axis(model, "nothing"), 0);
    struct assay__workload_options options = {.batch = 8, .shapes_only = true};
    plan_fails(model, &options, ASSAY_EINVAL,
               "batch is fixed at 3 in this model (input 'x' is 4x3x5)");
    options.batch = 4;
    plan_fails(model, &options, ASSAY_EINVAL, "batch is fixed at 3");
    options.batch = 3;
    assay__workload_free(plan_ok(model, &options));
    assay__model_free(model);
    model = cell("?,3,5", 0); /* an open axis of time is not the batch */
    options.batch = 8;
    plan_fails(model, &options, ASSAY_EINVAL, "batch is fixed at 3");
    assay__model_free(model);
    model = cell("3,4,5", 1);
    CHECK_INT(assay__inputs_batch_axis(model, "x"), 0);
    CHECK_INT(assay__inputs_batch_axis(model, "h"), 0);
    plan_fails(model, &options, ASSAY_EINVAL, "batch is fixed at 3");
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"products", test_products},       {"names", test_names},
        {"solved", test_solved},           {"fixed", test_fixed},
        {"unknown_dim", test_unknown_dim}, {"batch_axis", test_batch_axis},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
