/* test_inputs.c - workloads: how options fix the shapes, values that are valid for the graph
 * that consumes them, fills of every data type against known bit patterns, .npy in and out,
 * plans as JSON. */
#include "inputs_fixture.h"

#include "base/json.h"
#include "model/npy.h"
#include "run/describe.h"

#include <limits.h>

static void plan_fails(const struct assay__model *model,
                       const struct assay__workload_options *options, int code, const char *says)
{
    struct assay_error error = {.code = 0};
    struct assay__workload *workload = NULL;
    CHECK_INT(assay__workload_plan(model, options, &workload, &error), code);
    CHECK(!workload);
    CHECK_HAS(error.message, says);
}

static void expect_dims(const struct assay__workload *workload, size_t input, const char *expected)
{
    char text[128] = "";
    const struct assay__input_plan *plan = &workload->inputs[input];
    for (int i = 0; i < plan->rank; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%lld", i ? "x" : "",
                 (long long)plan->dims[i]);
    }
    CHECK_STR(text, expected);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static struct assay__model *image_model(const char *shape)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, shape);
    fixture_node(model, "Relu x -> y");
    fixture_output(model, "y");
    return model;
}

static void test_symbols(void)
{
    struct assay__model *model = image_model("batch,3,height,width");
    struct assay__workload_options none = {.batch = 0};
    struct assay__workload *workload = plan_ok(model, &none);
    expect_dims(workload, 0, "1x3x1x1");
    CHECK_INT(workload->note_count, 3);
    CHECK_STR(workload->notes[0], "symbolic dimension 'batch' set to 1 (--dim batch=N changes it)");
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
    plan_fails(model, &options, ASSAY_EINVAL, "dimension 'batch' is 4 by --shape and 8 by --batch");
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
    plan_fails(model, &options, ASSAY_EINVAL, "--dim height is given twice");
    options = (struct assay__workload_options){.shapes = LIST("x=1x3x8x8", "x=1x3x8x8"),
                                               .shape_count = 2};
    plan_fails(model, &options, ASSAY_EINVAL, "--shape x is given twice");
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
    plan_fails(model, &options, ASSAY_EINVAL, "input 'to' decides a shape (Reshape");
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
        plan_fails(model, &none, ASSAY_EINVAL, "input 'x' decides a shape");
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
        {ASSAY__BOOL, "x", "Identity x -> y", "true and false at random, seed 7"},
        {ASSAY__STRING, "x", "Identity x -> y", "short words at random, seed 7"}};
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

/* --- fills ------------------------------------------------------------------------------------ */

static void fill(struct assay__input_plan *plan, enum assay__dtype dtype, int64_t count, void *out)
{
    static int64_t dims[1];
    struct assay_error error = {.code = 0};
    dims[0] = count;
    plan->name = "x";
    plan->dtype = dtype;
    plan->rank = 1;
    plan->dims = dims;
    plan->bytes = assay__dtype_bytes(dtype, count);
    if (assay__input_fill(plan, out, &error)) harness_fail(__FILE__, __LINE__, error.message);
}

static void expect_bits(enum assay__dtype dtype, double value, uint64_t bits)
{
    uint8_t out[16] = {0};
    uint64_t got = 0;
    struct assay__input_plan plan = {.fill = ASSAY__FILL_CONSTANT, .low = value, .high = value};
    fill(&plan, dtype, 1, out);
    memcpy(&got, out, 8);
    if (got != bits)
        printf("  %s of %g is %llx\n", assay__dtype_name(dtype), value, (unsigned long long)got);
    CHECK(got == bits);
}

/* Bit patterns of IEEE 754 binary16, bfloat16 and the OCP / FNUZ 8-bit formats. */
static void test_fill_bits(void)
{
    expect_bits(ASSAY__FLOAT32, -1.5, 0xbfc00000);
    expect_bits(ASSAY__FLOAT64, 1, 0x3ff0000000000000);
    expect_bits(ASSAY__FLOAT16, 1, 0x3c00);
    expect_bits(ASSAY__FLOAT16, -2, 0xc000);
    expect_bits(ASSAY__FLOAT16, 65504, 0x7bff);
    expect_bits(ASSAY__FLOAT16, 1e9, 0x7bff);                   /* cut: inputs are finite */
    expect_bits(ASSAY__FLOAT16, 5.9604644775390625e-8, 0x0001); /* smallest subnormal */
    expect_bits(ASSAY__FLOAT16, 6.103515625e-5, 0x0400);        /* smallest normal */
    expect_bits(ASSAY__FLOAT16, 1.00048828125, 0x3c00);         /* tie to even, down */
    expect_bits(ASSAY__FLOAT16, 1.00146484375, 0x3c02);         /* tie to even, up */
    expect_bits(ASSAY__FLOAT16, 0.9999, 0x3c00);                /* carries into the exponent */
    expect_bits(ASSAY__BFLOAT16, 1, 0x3f80);
    expect_bits(ASSAY__BFLOAT16, 3.140625, 0x4049);
    expect_bits(ASSAY__FLOAT8E4M3FN, 1, 0x38);
    expect_bits(ASSAY__FLOAT8E4M3FN, 448, 0x7e);
    expect_bits(ASSAY__FLOAT8E4M3FNUZ, 1, 0x40);
    expect_bits(ASSAY__FLOAT8E5M2, 1, 0x3c);
    expect_bits(ASSAY__FLOAT8E5M2FNUZ, 1, 0x40);
    expect_bits(ASSAY__FLOAT8E4M3FNUZ, -0.0, 0x00); /* 0x80 would be NaN */
    expect_bits(ASSAY__FLOAT8E8M0, 1, 127);
    expect_bits(ASSAY__FLOAT4E2M1, 6, 0x07);
    expect_bits(ASSAY__FLOAT4E2M1, -0.5, 0x09);
    expect_bits(ASSAY__INT64, -1, UINT64_MAX);
    expect_bits(ASSAY__INT8, -128, 0x80);
    expect_bits(ASSAY__UINT16, 65535, 0xffff);
    expect_bits(ASSAY__BOOL, 1, 1);
    expect_bits(ASSAY__INT4, -3, 0x0d);
}

static void test_fill_values(void)
{
    float floats[1000], again[1000];
    struct assay__input_plan plan = {.fill = ASSAY__FILL_UNIFORM, .low = -1, .high = 1, .seed = 9};
    double sum = 0;
    fill(&plan, ASSAY__FLOAT32, 1000, floats);
    fill(&plan, ASSAY__FLOAT32, 1000, again);
    CHECK_INT(memcmp(floats, again, sizeof floats), 0);
    for (int i = 0; i < 1000; i++) {
        CHECK(floats[i] >= -1 && floats[i] < 1);
        sum += (double)floats[i];
    }
    CHECK(fabs(sum / 1000) < 0.1);
    plan.seed = 10;
    fill(&plan, ASSAY__FLOAT32, 1000, again);
    CHECK(memcmp(floats, again, sizeof floats) != 0);
    int64_t integers[1000];
    int seen[5] = {0};
    plan = (struct assay__input_plan){.fill = ASSAY__FILL_INTEGERS, .low = -2, .high = 2};
    fill(&plan, ASSAY__INT64, 1000, integers);
    for (int i = 0; i < 1000; i++) {
        CHECK(integers[i] >= -2 && integers[i] <= 2);
        seen[integers[i] + 2]++;
    }
    for (int i = 0; i < 5; i++)
        CHECK(seen[i] > 100);
    plan = (struct assay__input_plan){.fill = ASSAY__FILL_RANGE, .high = 3};
    fill(&plan, ASSAY__INT64, 6, integers);
    static const int64_t expected[] = {0, 1, 2, 3, 0, 1};
    CHECK_INT(memcmp(integers, expected, sizeof expected), 0);
    uint8_t packed[2] = {0};
    plan = (struct assay__input_plan){.fill = ASSAY__FILL_RANGE};
    fill(&plan, ASSAY__UINT4, 3, packed); /* 0, 1, 2: low half first */
    CHECK(packed[0] == 0x10 && (packed[1] & 15) == 2);
}

static void test_strings(void)
{
    int64_t dims[] = {2, 3};
    struct assay__input_plan plan = {.name = "x",
                                     .dtype = ASSAY__STRING,
                                     .rank = 2,
                                     .dims = dims,
                                     .fill = ASSAY__FILL_STRINGS,
                                     .seed = 3};
    struct assay__arena *arena = assay__arena_new();
    const char **first = NULL, **second = NULL;
    size_t count = 0;
    CHECK_INT(assay__input_strings(&plan, arena, &first, &count), 0);
    CHECK_INT(count, 6);
    CHECK_INT(assay__input_strings(&plan, arena, &second, &count), 0);
    for (size_t i = 0; i < count; i++) {
        CHECK_STR(first[i], second[i]);
        CHECK(strlen(first[i]) >= 4);
    }
    assay__arena_free(arena);
}

static void test_json_round_trip(void)
{
    int64_t dims[] = {2, 3};
    struct assay__input_plan plan = {.name = "a \"name\"",
                                     .dtype = ASSAY__INT64,
                                     .rank = 2,
                                     .dims = dims,
                                     .bytes = 48,
                                     .fill = ASSAY__FILL_INTEGERS,
                                     .low = 0,
                                     .high = 30521,
                                     .seed = UINT64_MAX - 1,
                                     .file = "",
                                     .why = "ids"},
                             read;
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf buf = {.data = NULL};
    struct assay__json_writer writer;
    struct assay__json *root = NULL;
    assay__json_start(&writer, &buf, false);
    assay__input_to_json(&plan, &writer);
    CHECK_INT(assay__json_parse(arena, buf.data, buf.length, &root, NULL), 0);
    CHECK_INT(assay__input_from_json(root, arena, &read, NULL), 0);
    CHECK_STR(read.name, plan.name);
    CHECK_STR(read.why, "ids");
    CHECK(read.dtype == plan.dtype && read.rank == 2 && read.dims[1] == 3 && read.bytes == 48);
    CHECK(read.seed == plan.seed && read.fill == plan.fill && read.high == 30521);
    static const char *const bad[] = {
        "{}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[-1],\"fill\":\"uniform\",\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":99,\"dims\":[1],\"fill\":\"uniform\",\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[1],\"fill\":\"magic\",\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[1],\"fill\":\"uniform\",\"seed\":\"q\"}",
        "{\"name\":\"x\",\"dtype\":1,\"dims\":[4611686018427387904,8],\"fill\":\"uniform\",\"seed\":\"1\"}",
        "{\"name\":\"x\",\"dtype\":7,\"dims\":[1],\"fill\":\"integers\",\"seed\":\"1\",\"high\":1e300}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(assay__json_parse(arena, bad[i], strlen(bad[i]), &root, NULL), 0);
        CHECK_INT(assay__input_from_json(root, arena, &read, NULL), ASSAY_EFORMAT);
    }
    assay__buf_free(&buf);
    assay__arena_free(arena);
}

/* --- npy -------------------------------------------------------------------------------------- */

/* A version-1 file with this header text and data. */
static struct assay__buf npy_file(int major, const char *header, const void *data, size_t size)
{
    struct assay__buf buf = {.data = NULL};
    size_t length = strlen(header);
    assay__buf_add(&buf, "\x93NUMPY", 6);
    assay__buf_putc(&buf, (char)major);
    assay__buf_putc(&buf, 0);
    assay__buf_putc(&buf, (char)(length & 255));
    assay__buf_putc(&buf, (char)(length >> 8));
    if (major > 1) assay__buf_add(&buf, "\0\0", 2);
    assay__buf_add(&buf, header, length);
    assay__buf_add(&buf, data, size);
    return buf;
}

static void test_npy_parse(void)
{
    static const struct {
        const char *header;
        size_t size;
        int code;
        const char *says;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n", 8, 0, ""},
        {"{\"shape\":(2,),\"descr\":\"<f4\",\"fortran_order\":True}", 8, 0,
         ""}, /* order makes no difference */
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (), }", 1, 0, ""},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5)}", 0, 0, ""},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16, ASSAY_EFORMAT,
         "Fortran"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8, ASSAY_EFORMAT,
         "big-endian"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 8, ASSAY_EUNSUPPORTED, "'|O'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8, ASSAY_EFORMAT,
         "record"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, ASSAY_EFORMAT, "cut off"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9, ASSAY_EFORMAT, "needs 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, ASSAY_EFORMAT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 8,
         ASSAY_EFORMAT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8,
         ASSAY_EFORMAT, "large"},
        {"{'descr': '<f4', 'fortran_order': False}", 8, ASSAY_EFORMAT, "lacks"},
        {"{'descr': '<f4', 'extra': 1}", 8, ASSAY_EFORMAT, "unknown key"},
        {"hello", 8, ASSAY_EFORMAT, "malformed"},
        {"{'descr': '<f4", 8, ASSAY_EFORMAT, "malformed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int major = 1; major <= 3; major++) {
            struct assay_error error = {.code = 0};
            struct assay__npy npy;
            struct assay__buf file = npy_file(major, rows[i].header, "0123456789abcdef",
                                              rows[i].size);
            CHECK_INT(assay__npy_parse((uint8_t *)file.data, file.length, &npy, &error),
                      rows[i].code);
            if (rows[i].code) CHECK_HAS(error.message, rows[i].says);
            for (size_t cut = 0; cut < file.length && !rows[i].code;
                 cut++) { /* no prefix is a file */
                uint8_t *copy = malloc(cut ? cut : 1);
                memcpy(copy, file.data, cut);
                int code = assay__npy_parse(copy, cut, &npy, NULL);
                CHECK(code < 0);
                free(copy);
            }
            assay__buf_free(&file);
        }
    struct assay__npy npy;
    CHECK(assay__npy_parse((const uint8_t *)"\x93NUMPY\x04\x00\x00\x00", 10, &npy, NULL) < 0);
}

static void test_npy_round_trip(void)
{
    char path[64];
    static const struct {
        int rank;
        int64_t dims[3];
    } shapes[] = {{0, {0}}, {1, {6}}, {3, {1, 2, 3}}};
    static const float data[] = {1, 2, 3, 4, 5, 6};
    snprintf(path, sizeof path, "/tmp/assay-test-%ld.npy", (long)getpid());
    for (size_t i = 0; i < 3; i++) {
        struct assay__mapping mapping;
        struct assay__npy npy;
        size_t size = i ? sizeof data : 4;
        CHECK_INT(assay__npy_write(path, ASSAY__FLOAT32, shapes[i].rank, shapes[i].dims, data, size,
                                   NULL),
                  0);
        CHECK_INT(assay__file_map(path, &mapping, NULL), 0);
        CHECK_INT(assay__npy_parse(mapping.data, mapping.size, &npy, NULL), 0);
        CHECK_INT((npy.data - mapping.data) % 64, 0);
        CHECK(npy.dtype == ASSAY__FLOAT32 && npy.rank == shapes[i].rank && npy.data_size == size);
        CHECK_INT(memcmp(npy.dims, shapes[i].dims, (size_t)npy.rank * 8), 0);
        CHECK_INT(memcmp(npy.data, data, size), 0);
        assay__file_unmap(&mapping);
    }
    unlink(path);
    CHECK_INT(assay__npy_write(path, ASSAY__STRING, 0, NULL, "", 0, NULL), ASSAY_EUNSUPPORTED);
}

static void test_input_files(void)
{
    char path[64], option[96];
    const char *options_list[] = {option};
    float data[6] = {1, 2, 3, 4, 5, 6}, got[6];
    const int64_t dims[] = {2, 3};
    struct assay__model *model = image_model("batch,3");
    struct assay__workload_options options = {.files = options_list, .file_count = 1};
    snprintf(path, sizeof path, "/tmp/assay-test-in-%ld.npy", (long)getpid());
    snprintf(option, sizeof option, "x=%s", path);
    plan_fails(model, &options, ASSAY_ENOTFOUND, path);
    CHECK_INT(assay__npy_write(path, ASSAY__FLOAT32, 2, dims, data, sizeof data, NULL), 0);
    struct assay__workload *workload = plan_ok(model, &options);
    expect_dims(workload, 0, "2x3"); /* the file says what the batch is */
    CHECK_INT(workload->batch, 2);
    CHECK_INT(workload->inputs[0].fill, ASSAY__FILL_FILE);
    CHECK_INT(assay__input_fill(&workload->inputs[0], got, NULL), 0);
    CHECK_INT(memcmp(got, data, sizeof data), 0);
    struct assay__workload_options twice = {.files = LIST(option, option), .file_count = 2};
    plan_fails(model, &twice, ASSAY_EINVAL, "--input x is given twice");
    struct assay__workload_options both = {
        .files = LIST(option), .file_count = 1, .shapes = LIST("x=2x3"), .shape_count = 1};
    assay__workload_free(plan_ok(model, &both)); /* a shape and a file that agree are fine */
    const int64_t other[] = {3, 2};
    CHECK_INT(assay__npy_write(path, ASSAY__FLOAT32, 2, other, data, sizeof data, NULL), 0);
    struct assay_error error = {.code = 0};
    CHECK_INT(assay__input_fill(&workload->inputs[0], got, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "no longer fits");
    assay__workload_free(workload);
    plan_fails(model, &options, ASSAY_EINVAL, "fixed at 3");
    CHECK_INT(assay__npy_write(path, ASSAY__FLOAT64, 1, dims, data, 16, NULL), 0);
    plan_fails(model, &options, ASSAY_EINVAL, "holds float64, but input 'x' is float32");
    CHECK_INT(assay__file_write(path, "not numpy at all", 16, NULL), 0);
    plan_fails(model, &options, ASSAY_EFORMAT, "does not begin with the .npy mark");
    unlink(path);
    assay__model_free(model);
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
        {"operands", test_operands},
        {"divisors", test_divisors},
        {"powers", test_powers},
        {"described", test_described},
        {"ids_in_subgraph", test_ids_in_subgraph},
        {"fill_bits", test_fill_bits},
        {"fill_values", test_fill_values},
        {"strings", test_strings},
        {"json_round_trip", test_json_round_trip},
        {"npy_parse", test_npy_parse},
        {"npy_round_trip", test_npy_round_trip},
        {"input_files", test_input_files},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
