/* test_inputs.c - workloads: how options fix the shapes, and values that are valid for the graph
 * that consumes them. What they are filled with is in test_inputs_fill.c. */
#include "inputs_fixture.h"

#include "run/trial/describe.h"

#include <float.h>

/* --- shapes ----------------------------------------------------------------------------------- */

static void test_symbols(void)
{
    struct assay__model *model = image_model("batch,3,height,width");
    struct assay__workload_options none = {.batch = 0};
    struct assay__workload *workload = plan_ok(model, &none);
    expect_dims(workload, 0, "1x3x224x224");
    CHECK_INT(workload->note_count, 3);
    CHECK_STR(workload->note_subjects[0].symbol, "batch");
    CHECK_STR(workload->note_subjects[0].guess, "");
    CHECK_INT(workload->note_subjects[1].size, 224);
    CHECK_INT(workload->batch, 1);
    CHECK_INT(workload->sequence, -1);
    assay__workload_free(workload);
    struct assay__workload_options some = {
        .batch = 8, .dims = LIST("height=32", "width=64"), .dim_count = 2};
    workload = plan_ok(model, &some);
    expect_dims(workload, 0, "8x3x32x64");
    CHECK_INT(workload->note_count, 0);
    CHECK_INT(workload->batch, 8);
    CHECK(workload->has_images && !workload->has_tokens);
    CHECK_INT(workload->dim_count, 3);
    CHECK_STR(workload->dims[1].symbol, "height");
    CHECK_INT(workload->dims[1].value, 32);
    CHECK_INT(workload->inputs[0].bytes, 8 * 3 * 32 * 64 * 4);
    assay__workload_free(workload);
    struct assay__workload_options shape = {.shapes = LIST("x=2x3x16x16"), .shape_count = 1};
    workload = plan_ok(model, &shape);
    expect_dims(workload, 0, "2x3x16x16");
    CHECK_INT(workload->batch, 2);
    assay__workload_free(workload);
    assay__model_free(model);
}

static void test_symbol_errors(void)
{
    struct assay__model *model = image_model("batch,3,height,width");
    struct assay__workload_options options = {
        .batch = 8, .shapes = LIST("x=4x3x8x8"), .shape_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL,
               "dimension 'batch' is 4 by the given shape and 8 by the given batch");
    options = (struct assay__workload_options){.shapes = LIST("x=4x1x8x8"), .shape_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "fixed at 3");
    options = (struct assay__workload_options){.shapes = LIST("x=4x3x8"), .shape_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "3 dimensions, but it has 4 (batchx3xheightxwidth)");
    options = (struct assay__workload_options){.shapes = LIST("x=4x3x8xq"), .shape_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "'4x3x8xq' is not a shape");
    options = (struct assay__workload_options){.shapes = LIST("image=1x3x8x8"), .shape_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "no input 'image' (its first input is 'x')");
    options = (struct assay__workload_options){.dims = LIST("heigth=4"), .dim_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "'heigth' (did you mean 'height'?)");
    options = (struct assay__workload_options){.dims = LIST("height=-4"), .dim_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "'-4' is not a size");
    options = (struct assay__workload_options){.dims = LIST("height"), .dim_count = 1};
    plan_fails(model, &options, ASSAY_EINVAL, "name=value");
    options = (struct assay__workload_options){
        .dims = LIST("height=4000000000", "width=4000000000"), .dim_count = 2};
    plan_fails(model, &options, ASSAY_ELIMIT, "more than 1 TB");
    options = (struct assay__workload_options){.sequence = 4};
    plan_fails(model, &options, ASSAY_EINVAL, "no sequence axis");
    /* twice is one too many, the same value or another */
    options = (struct assay__workload_options){.dims = LIST("height=4", "height=4"),
                                               .dim_count = 2};
    plan_fails(model, &options, ASSAY_EINVAL, "'height' is given twice");
    options = (struct assay__workload_options){.shapes = LIST("x=1x3x8x8", "x=1x3x8x8"),
                                               .shape_count = 2};
    plan_fails(model, &options, ASSAY_EINVAL, "'x' is given twice");
    assay__model_free(model);
}

static void test_fixed_batch(void)
{
    struct assay__model *model = image_model("1,3,224,224");
    struct assay__workload_options options = {.batch = 8};
    plan_fails(model, &options, ASSAY_EINVAL,
               "batch is fixed at 1 in this model (input 'x' is 1x3x224x224)");
    options.batch = 1; /* what it is anyway */
    struct assay__workload *workload = plan_ok(model, &options);
    CHECK_INT(workload->batch, 1);
    CHECK(workload->has_images);
    assay__workload_free(workload);
    assay__model_free(model);
    model = image_model("?,3,8,8"); /* unnamed: still the batch */
    options.batch = 5;
    workload = plan_ok(model, &options);
    expect_dims(workload, 0, "5x3x8x8");
    assay__workload_free(workload);
    assay__model_free(model);
    model = image_model("unk__7,16"); /* any first symbol */
    workload = plan_ok(model, &options);
    expect_dims(workload, 0, "5x16");
    CHECK_INT(workload->batch, 5);
    assay__workload_free(workload);
    assay__model_free(model);
}

/* Past and total lengths, as exporters of decoders write them. */
static void test_sums(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "ids", ASSAY__INT64, "batch,sequence_length");
    fixture_input(model, "attention_mask", ASSAY__INT64, "batch,past_length + sequence_length");
    fixture_input(model, "past", ASSAY__FLOAT32, "batch,4,past_length,16");
    fixture_input(model, "total", ASSAY__FLOAT32, "total_length");
    fixture_weights(model, "wte", ASSAY__FLOAT32, "100,8");
    fixture_node(model, "Gather wte,ids -> y");
    fixture_output(model, "y");
    struct assay__workload_options options = {
        .batch = 2, .sequence = 6, .dims = LIST("past_length=10"), .dim_count = 1};
    struct assay__workload *workload = plan_ok(model, &options);
    expect_dims(workload, 0, "2x6");
    expect_dims(workload, 1, "2x16");
    expect_dims(workload, 2, "2x4x10x16");
    expect_dims(workload, 3, "16");
    CHECK_INT(workload->sequence, 6);
    CHECK(workload->has_tokens && !workload->has_images);
    CHECK_INT(workload->note_count, 2);
    assay__workload_free(workload);
    assay__model_free(model);
}

static void test_sequence(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "ids", ASSAY__INT64, "a,b"); /* names that say nothing */
    fixture_weights(model, "wte", ASSAY__FLOAT32, "100,8");
    fixture_node(model, "Gather wte,ids -> y");
    fixture_output(model, "y");
    struct assay__workload_options options = {.batch = 3, .sequence = 7};
    struct assay__workload *workload = plan_ok(model, &options);
    expect_dims(workload, 0, "3x7");
    CHECK_INT(workload->sequence, 7);
    assay__workload_free(workload);
    model->graph.inputs[0].dims[1] = (struct assay__dim){128, ""};
    plan_fails(model, &options, ASSAY_EINVAL, "fixed at 128");
    options.sequence = 0;
    workload = plan_ok(model, &options);
    CHECK_INT(workload->sequence, 128); /* the ids have it */
    assay__workload_free(workload);
    assay__model_free(model);
    model = fixture_model(17); /* a recurrent cell: time first */
    fixture_input(model, "x", ASSAY__FLOAT32, "9,2,5");
    fixture_weights(model, "w", ASSAY__FLOAT32, "1,28,5");
    fixture_weights(model, "r", ASSAY__FLOAT32, "1,28,7");
    fixture_node(model, "Tanh x -> t");
    fixture_node(model, "LSTM t,w,r -> y");
    struct assay__workload_options none = {.batch = 0};
    workload = plan_ok(model, &none);
    CHECK_INT(workload->batch, 2);
    CHECK_INT(workload->sequence, 9);
    assay__workload_free(workload);
    assay__model_free(model);
}

static void test_unusable_inputs(void)
{
    struct assay__workload_options options = {.batch = 0};
    struct assay__model *model = image_model("2");
    model->graph.inputs[0].kind = ASSAY__KIND_SEQUENCE;
    plan_fails(model, &options, ASSAY_EUNSUPPORTED, "input 'x' is a sequence");
    model->graph.inputs[0].kind = ASSAY__KIND_TENSOR;
    model->graph.inputs[0].dtype = ASSAY__COMPLEX64;
    plan_fails(model, &options, ASSAY_EUNSUPPORTED, "complex64");
    model->graph.inputs[0].dtype = ASSAY__FLOAT32;
    model->graph.inputs[0].rank = -1;
    plan_fails(model, &options, ASSAY_EINVAL, "does not state the shape of input 'x'");
    options = (struct assay__workload_options){.shapes = LIST("x=2x3"), .shape_count = 1};
    struct assay__workload *workload = plan_ok(model, &options);
    expect_dims(workload, 0, "2x3");
    assay__workload_free(workload);
    assay__model_free(model);
    model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "6");
    fixture_input(model, "to", ASSAY__INT64, "2");
    fixture_node(model, "Identity to -> copy");
    fixture_node(model, "Reshape x,copy -> y");
    options = (struct assay__workload_options){.batch = 0};
    plan_fails(model, &options, ASSAY_EINVAL, "input 'to' determines a shape (Reshape");
    assay__model_free(model);
}

/* --- values ----------------------------------------------------------------------------------- */

/* Plans a model whose input "x" has this type and shape; the nodes are there already. */
static struct assay__input_plan value_of(struct assay__model *model)
{
    static struct assay__input_plan plan;
    static char why[256];
    struct assay__workload_options options = {.seed = 42};
    struct assay__workload *workload = plan_ok(model, &options);
    plan = workload->inputs[0];
    snprintf(why, sizeof why, "%s", plan.why);
    plan.why = why;
    assay__workload_free(workload);
    assay__model_free(model);
    return plan;
}

static struct assay__model *typed(enum assay__dtype dtype, const char *name, const char *shape)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, name, dtype, shape);
    return model;
}

static void test_token_ids(void)
{
    struct assay__model *model = typed(ASSAY__INT32, "x", "1,6");
    fixture_weights(model, "wte", ASSAY__FLOAT32, "30522,8");
    assay__node_set_int(model, fixture_node(model, "Cast x -> wide"), "to", ASSAY__INT64);
    fixture_node(model, "Unsqueeze wide,axes -> more");
    fixture_ints(model, "axes", 1, (const int64_t[]){0});
    fixture_node(model, "Gather wte,more -> y");
    struct assay__input_plan plan = value_of(model);
    CHECK_INT(plan.fill, ASSAY__FILL_INTEGERS);
    CHECK(plan.low == 0 && plan.high == 30521);
    CHECK_STR(plan.why, "rows of 'wte' (Gather)");
    /* two tables: the smaller one decides; a constant added on the way counts */
    model = typed(ASSAY__INT64, "x", "1,6");
    fixture_weights(model, "big", ASSAY__FLOAT32, "1000,8");
    fixture_weights(model, "small", ASSAY__FLOAT32, "8,50");
    fixture_scalar(model, "two", ASSAY__INT64, &(int64_t){2});
    fixture_node(model, "Gather big,x -> a");
    fixture_node(model, "Add x,two -> x2");
    assay__node_set_int(model, fixture_node(model, "Gather small,x2 -> y"), "axis", 1);
    plan = value_of(model);
    CHECK(plan.high == 47);
    /* positions count up, within their table */
    model = typed(ASSAY__INT64, "position_ids", "2,6");
    fixture_weights(model, "wpe", ASSAY__FLOAT32, "4,8");
    fixture_node(model, "Gather wpe,position_ids -> y");
    plan = value_of(model);
    CHECK_INT(plan.fill, ASSAY__FILL_RANGE);
    CHECK(plan.high == 3);
    model = typed(ASSAY__INT64, "x", "3");
    fixture_scalar(model, "depth", ASSAY__INT64, &(int64_t){10});
    fixture_weights(model, "values", ASSAY__FLOAT32, "2");
    fixture_node(model, "OneHot x,depth,values -> y");
    CHECK(value_of(model).high == 9);
}

static void test_masks(void)
{
    float hidden = -1e4f;
    struct assay__model *model = typed(ASSAY__INT64, "attention_mask", "1,6");
    struct assay__input_plan plan = value_of(model);
    CHECK(plan.fill == ASSAY__FILL_CONSTANT && plan.low == 1);
    model = typed(ASSAY__BOOL, "x", "1,6"); /* Where(mask, -10000, scores): true hides */
    fixture_scalar(model, "hidden", ASSAY__FLOAT32, &hidden);
    fixture_input(model, "scores", ASSAY__FLOAT32, "1,6");
    fixture_node(model, "Where x,hidden,scores -> y");
    plan = value_of(model);
    CHECK(plan.fill == ASSAY__FILL_CONSTANT && plan.low == 0);
    model = typed(ASSAY__BOOL, "x", "1,6"); /* and the other way round behind a Not */
    fixture_scalar(model, "hidden", ASSAY__FLOAT32, &hidden);
    fixture_input(model, "scores", ASSAY__FLOAT32, "1,6");
    fixture_node(model, "Not x -> n");
    fixture_node(model, "Where n,hidden,scores -> y");
    plan = value_of(model);
    CHECK(plan.fill == ASSAY__FILL_CONSTANT && plan.low == 1);
}

static void test_lengths_and_control(void)
{
    struct assay__model *model = typed(ASSAY__INT32, "lengths", "2");
    fixture_input(model, "x", ASSAY__FLOAT32, "9,2,5");
    fixture_weights(model, "w", ASSAY__FLOAT32, "1,28,5");
    fixture_weights(model, "r", ASSAY__FLOAT32, "1,28,7");
    fixture_node(model, "LSTM x,w,r,,lengths -> y");
    struct assay__input_plan plan = value_of(model);
    CHECK(plan.fill == ASSAY__FILL_CONSTANT && plan.low == 9);
    model = typed(ASSAY__INT64, "turns", "");
    fixture_node(model, "Loop turns,,x -> y");
    plan = value_of(model);
    CHECK(plan.fill == ASSAY__FILL_CONSTANT && plan.low == 1);
    model = typed(ASSAY__INT64, "rate", ""); /* compared with a constant */
    fixture_scalar(model, "sixteen", ASSAY__INT64, &(int64_t){16000});
    fixture_node(model, "Equal rate,sixteen -> y");
    plan = value_of(model);
    CHECK(plan.fill == ASSAY__FILL_CONSTANT && plan.low == 16000);
    model = typed(ASSAY__FLOAT32, "x", "4");
    fixture_node(model, "Log x -> y");
    CHECK(value_of(model).low > 0);
    model = typed(ASSAY__UINT8, "x", "1,8,8,3");
    plan = value_of(model);
    CHECK(plan.low == 0 && plan.high == 255);
}

/* The value of an input of one element that `node` takes, as a constant. */
static double constant_of(enum assay__dtype dtype, const char *node)
{
    struct assay__model *model = typed(dtype, "x", "1");
    fixture_input(model, "data", ASSAY__FLOAT32, "2,3,4");
    fixture_node(model, node);
    struct assay__input_plan plan = value_of(model);
    CHECK_INT(plan.fill, ASSAY__FILL_CONSTANT);
    CHECK(*plan.why);
    return plan.low;
}

/* What only a name says: the length of the input that it names, a sampling rate. */
static void test_named_lengths(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "first", ASSAY__FLOAT32, "batch,7,width");
    fixture_input(model, "waves", ASSAY__FLOAT32, "batch,N");
    fixture_input(model, "waves_lens", ASSAY__INT64, "batch");
    fixture_input(model, "lengths", ASSAY__INT64, "batch");
    fixture_input(model, "sr", ASSAY__INT64, "");
    fixture_node(model, "Relu waves -> y");
    fixture_output(model, "y");
    struct assay__workload_options options = {.dims = LIST("N=320", "width=9"), .dim_count = 2};
    struct assay__workload *workload = plan_ok(model, &options);
    static const double expected[] = {320, 9, 16000};
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(workload->inputs[2 + i].fill, ASSAY__FILL_CONSTANT);
        CHECK_NEAR(workload->inputs[2 + i].low, expected[i], 0);
    }
    assay__workload_free(workload);
    assay__model_free(model);
}

/* A one-hot code by comparison: every number of the range may come; other lists say nothing. */
static void test_compared(void)
{
    for (int range = 0; range < 2; range++) {
        const int64_t list[] = {2, 3, 4, range ? 5 : 9};
        struct assay__model *model = fixture_model(17);
        fixture_input(model, "bytes", ASSAY__INT64, "batch,6,1");
        fixture_ints(model, "list", 4, list);
        fixture_node(model, "Equal bytes,list -> y");
        fixture_output(model, "y");
        struct assay__workload *workload = plan_ok(model, &(struct assay__workload_options){0});
        CHECK_INT(workload->inputs[0].fill, ASSAY__FILL_INTEGERS);
        CHECK_NEAR(workload->inputs[0].low, range ? 2 : 0, 0);
        CHECK_NEAR(workload->inputs[0].high, range ? 5 : 1, 0);
        assay__workload_free(workload);
        assay__model_free(model);
    }
}

/* [sequence, features] with a state [1, 1, 4]: the steps are no batch. */
static void test_steps_are_no_batch(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "input", ASSAY__FLOAT32, "sequence_length,5");
    fixture_input(model, "h", ASSAY__FLOAT32, "1,1,4");
    fixture_node(model, "Relu input -> y");
    fixture_output(model, "y");
    struct assay__workload *workload = plan_ok(model, &(struct assay__workload_options){0});
    expect_dims(workload, 0, "128x5");
    CHECK_INT(workload->batch, 1);
    assay__workload_free(workload);
    assay__model_free(model);
}

static void test_operands(void)
{
    CHECK(constant_of(ASSAY__INT32, "CumSum data,x -> y") == 0);
    CHECK(constant_of(ASSAY__INT64, "CumProd data,x -> y") == 0);
    CHECK(constant_of(ASSAY__FLOAT32, "Dropout data,x -> y") == 0.5);
    CHECK(constant_of(ASSAY__BOOL, "Dropout data,,x -> y") == 0);
    CHECK(constant_of(ASSAY__INT64, "NonMaxSuppression data,data,x -> y") == 10);
    CHECK(constant_of(ASSAY__FLOAT32, "NonMaxSuppression data,data,,x -> y") == 0.5);
    CHECK(constant_of(ASSAY__FLOAT32, "NonMaxSuppression data,data,,,x -> y") == 0);
    CHECK(constant_of(ASSAY__INT64, "TopK data,x -> y,i") == 1);
    CHECK(constant_of(ASSAY__INT64, "Tile data,x -> y") == 1);
    CHECK(constant_of(ASSAY__INT64, "Pad data,x -> y") == 0);
    struct assay__model *model = typed(ASSAY__BOOL, "x", "");
    fixture_input(model, "data", ASSAY__FLOAT32, "2,3");
    fixture_node(model, "Not x -> n");
    fixture_node(model, "Dropout data,,n -> y");
    CHECK(value_of(model).low == 1);
    static const char *const shapes[] = {"Col2Im data,x,b -> y", "AffineGrid data,x -> y",
                                         "MaxUnpool data,i,x -> y", "ReduceSum data,x -> y"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct assay__workload_options none = {.batch = 0};
        model = typed(ASSAY__INT64, "x", "2");
        fixture_input(model, "data", ASSAY__FLOAT32, "2,3");
        fixture_node(model, shapes[i]);
        plan_fails(model, &none, ASSAY_EINVAL, "input 'x' determines a shape");
        assay__model_free(model);
    }
}

static void test_divisors(void)
{
    static const struct {
        enum assay__dtype dtype;
        const char *first, *then;
        double low, high;
    } rows[] = {
        {ASSAY__INT64, "Identity x -> same", "Div data,same -> y", 1, 8},
        {ASSAY__INT8, "Identity data -> same", "Mod same,x -> y", 1, 127},
        {ASSAY__INT64, "Sub x,two -> less", "Div data,less -> y", 3, 10},
        {ASSAY__INT64, "Gather table,x -> rows", "Div data,x -> y", 1, 5}, /* and an id */
        {ASSAY__FLOAT32, "Cast x -> whole", "Div data,whole -> y", 1, 8},
        {ASSAY__FLOAT32, "Identity x -> same", "Div data,same -> y", -1, 1},
        {ASSAY__INT64, "Identity x -> same", "Div same,data -> y", 0, 1}, /* it is divided */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__model *model = typed(rows[i].dtype, "x", "4");
        fixture_input(model, "data", ASSAY__INT64, "4");
        fixture_scalar(model, "two", ASSAY__INT64, &(int64_t){2});
        fixture_weights(model, "table", ASSAY__FLOAT32, "6,2");
        assay__node_set_int(model, fixture_node(model, rows[i].first), "to", ASSAY__INT64);
        fixture_node(model, rows[i].then);
        struct assay__input_plan plan = value_of(model);
        CHECK(plan.low == rows[i].low && plan.high == rows[i].high);
    }
}

static void test_powers(void)
{
    static const float exponents[] = {2, -3, 0.5f, 1.5f}; /* the last two: of no negative number */
    for (size_t i = 0; i < 4; i++) {
        struct assay__model *model = typed(ASSAY__FLOAT32, "x", "4");
        fixture_scalar(model, "exponent", ASSAY__FLOAT32, &exponents[i]);
        fixture_node(model, "Pow x,exponent -> y");
        CHECK_INT(value_of(model).low > 0, i >= 2);
    }
}

/* What people read: the values once, the seed they gave, and the reason if there is one. */
static void add_floats(struct assay__model *model, const char *name, int64_t count,
                       const float *values)
{
    size_t size = (size_t)count * sizeof *values;
    float *copy = assay__arena_alloc(model->arena, size);
    memcpy(copy, values, size);
    CHECK(assay__graph_add_initializer(model, &model->graph, name, ASSAY__FLOAT32, 1, &count, copy,
                                       size));
}

/* One input of a graph "table" op x, or x op "table", or any other node. */
static const struct assay__input_plan *setting(const char *name, const char *shape,
                                               const char *node)
{
    static struct assay__model *model;
    static struct assay__workload *workload;
    static const float bins[] = {46.875F, 60, 2093.75F};
    struct assay__workload_options none = {.batch = 0};
    assay__workload_free(workload);
    assay__model_free(model);
    workload = NULL, model = NULL;
    if (!name) return NULL;
    model = fixture_model(17);
    fixture_input(model, name, ASSAY__FLOAT32, shape);
    add_floats(model, "bins", 3, bins);
    add_floats(model, "two", 1, (const float[]){2});
    add_floats(model, "six", 1, (const float[]){6});
    add_floats(model, "greatest", 1, (const float[]){FLT_MAX});
    add_floats(model, "far", 2, (const float[]){1e37F, 1e38F});
    fixture_node(model, node);
    fixture_output(model, "y");
    workload = plan_ok(model, &none);
    return &workload->inputs[0];
}

/* A number that sets something: what the graph compares it with, or clips it to, comes before its
 * name. Settings that exclude everything gave NaN. */
static void test_settings(void)
{
    static const struct {
        const char *name, *shape, *node;
        double value; /* NaN: drawn, as any other input */
    } rows[] = {
        {"fmin", "", "GreaterOrEqual bins,fmin -> y", 46.875},
        {"fmax", "", "LessOrEqual bins,fmax -> y", 2093.75},
        {"x", "1", "Less x,bins -> y", 46.875},
        {"x", "1", "Greater x,bins -> y", 2093.75},
        {"x", "", "Clip x,two,six -> y", 4},
        {"x", "", "Greater x,two -> y", NAN},
        {"x", "", "Clip x,two,greatest -> y", NAN},
        {"x", "", "Less x,far -> y", NAN},
        {"fmin", "", "Relu fmin -> y", 50},
        {"max_freq", "1", "Relu max_freq -> y", 2000},
        {"iou_threshold", "", "Relu iou_threshold -> y", 0.5},
        {"scales", "3", "Relu scales -> y", 1},
        {"scales", "1,3", "Relu scales -> y", NAN},
        {"scales", "8", "Relu scales -> y", NAN},
        {"previous", "", "Relu previous -> y", NAN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay__input_plan *plan = setting(rows[i].name, rows[i].shape, rows[i].node);
        bool drawn = isnan(rows[i].value);
        CHECK_INT(plan->fill, drawn ? ASSAY__FILL_UNIFORM : ASSAY__FILL_CONSTANT);
        if (drawn) continue;
        CHECK_NEAR(plan->low, rows[i].value, 0);
        CHECK(*plan->why); /* and it says so */
    }
    setting(NULL, NULL, NULL);
}

static void test_described(void)
{
    static const struct {
        enum assay__dtype dtype;
        const char *name, *node, *fill;
    } rows[] = {
        {ASSAY__FLOAT32, "x", "Relu x -> y", "uniform [-1, 1), seed 7"},
        {ASSAY__INT64, "x", "Gather w,x -> y", "integers 0 to 7, seed 7: rows of 'w' (Gather)"},
        {ASSAY__INT64, "position", "Gather w,position -> y",
         "0, 1, 2, … to 7 along the last axis: rows of 'w' (Gather)"},
        {ASSAY__BOOL, "x", "Dropout w,,x -> y", "false everywhere: a Dropout, not in training"},
        {ASSAY__BOOL, "x", "Identity x -> y", "random true and false, seed 7"},
        {ASSAY__STRING, "x", "Identity x -> y", "random short words, seed 7"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay_profile profile = {.arena = assay__arena_new()};
        struct assay__trial trial = {.batch = 0};
        struct assay__model *model = typed(rows[i].dtype, rows[i].name, "1,6");
        fixture_weights(model, "w", ASSAY__FLOAT32, "8,2");
        fixture_node(model, rows[i].node);
        struct assay__workload *workload = plan_ok(model,
                                                   &(struct assay__workload_options){.seed = 7});
        CHECK_INT(assay__describe_workload(&profile, &trial, workload, NULL), 0);
        CHECK_STR(trial.inputs[0].fill, rows[i].fill);
        assay__workload_free(workload);
        assay__model_free(model);
        assay__arena_free(profile.arena);
    }
}

/* Ids that are looked up inside a subgraph. */
static void test_ids_in_subgraph(void)
{
    struct assay__model *model = typed(ASSAY__INT64, "x", "1,6");
    struct assay__node *node = fixture_node(model, "If flag -> y");
    fixture_input(model, "flag", ASSAY__BOOL, "");
    assay__node_set_int(model, node, "then_branch", 0);
    struct assay__attr *attr = &node->attrs[0];
    const char *in[] = {"table", "x"}, *out[] = {"inner"};
    attr->type = ASSAY__ATTR_GRAPH;
    attr->g = assay__arena_alloc(model->arena, sizeof *attr->g);
    attr->g->name = "then";
    CHECK(assay__graph_add_initializer(model, attr->g, "table", ASSAY__FLOAT32, 2,
                                       (const int64_t[]){77, 2},
                                       assay__arena_alloc(model->arena, 77 * 8), 77 * 8));
    CHECK(assay__graph_add_node(model, attr->g, "Gather", "g", in, 2, out, 1));
    CHECK(value_of(model).high == 76);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"symbols", test_symbols},
        {"symbol_errors", test_symbol_errors},
        {"fixed_batch", test_fixed_batch},
        {"sums", test_sums},
        {"sequence", test_sequence},
        {"unusable_inputs", test_unusable_inputs},
        {"token_ids", test_token_ids},
        {"masks", test_masks},
        {"lengths_and_control", test_lengths_and_control},
        {"named_lengths", test_named_lengths},
        {"compared", test_compared},
        {"steps_are_no_batch", test_steps_are_no_batch},
        {"operands", test_operands},
        {"divisors", test_divisors},
        {"powers", test_powers},
        {"settings", test_settings},
        {"described", test_described},
        {"ids_in_subgraph", test_ids_in_subgraph},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
