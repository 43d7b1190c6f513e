/* test_inputs_guess.c - sizes of dimensions that nothing fixes: by what they are, by what the graph
 * behind them takes, and a refusal where nothing is known. */
#include "inputs_fixture.h"

#include "base/file.h"

static const struct assay__workload_options none = {.batch = 0};

static void expect_guess(struct assay__model *model, const char *shape)
{
    struct assay__workload *workload = plan_ok(model, &none);
    expect_dims(workload, 0, shape);
    assay__workload_free(workload);
    assay__model_free(model);
}

static struct assay__model *one_input(const char *name, enum assay__dtype dtype, const char *shape,
                                      const char *node)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, name, dtype, shape);
    fixture_node(model, node);
    fixture_output(model, "y");
    return model;
}

/* As a reader has it. */
static struct assay__model *read_back(struct assay__model *model)
{
    char folder[1024], path[1100];
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    CHECK_INT(assay__model_write(model, path, NULL), 0);
    assay__model_free(model);
    model = fixture_read(path);
    assay__folder_remove(folder);
    return model;
}

static void set_strides(struct assay__model *model, struct assay__node *node, int64_t rows,
                        int64_t columns)
{
    const int64_t strides[] = {rows, columns};
    CHECK_INT(assay__node_set_ints(model, node, "strides", strides, 2), 0);
}

static void test_images(void)
{
    expect_guess(image_model("n,3,h,w"), "1x3x224x224");
    expect_guess(image_model("1,s0,s1,3"), "1x224x224x3");
    expect_guess(image_model("batch,1,64,s1"), "1x1x64x320"); /* a line of text */
    expect_guess(image_model("batch,3,416,s1"), "1x3x416x416");
    expect_guess(image_model("3,s0,s1"), "3x224x224");
}

static bool is_image(const char *name, const char *shape, const char *given)
{
    struct assay__model *model = one_input(name, ASSAY__FLOAT32, shape, "Relu x -> y");
    struct assay__workload_options options = {.shapes = &given, .shape_count = given ? 1 : 0};
    struct assay__workload *workload = plan_ok(model, &options);
    bool image = workload->has_images;
    assay__workload_free(workload);
    assay__model_free(model);
    return image;
}

/* A spectrogram has the form of an image; it is counted as inferences. */
static void test_image_or_sound(void)
{
    CHECK(is_image("x", "n,3,224,224", NULL));
    CHECK(is_image("x", "n,48,320,3", NULL));
    CHECK(is_image("x", "n,1,28,28", NULL));
    CHECK(is_image("x", "n,1,64,image_width", NULL));
    CHECK(is_image("gray_image", "n,32,100,1", NULL));
    CHECK(!is_image("input_1", "n,76,32,1", NULL));             /* openWakeWord */
    CHECK(!is_image("degraded_audio", "n,1,frames,257", NULL)); /* PLCMOS */
    CHECK(!is_image("input", "n,3,frames,160", NULL));          /* AECMOS */
    CHECK(!is_image("input", "n,3,frames,160", "input=1x3x160x160"));
    CHECK(!is_image("mel", "n,1,128,128", NULL));
    CHECK(!is_image("past", "n,4,16,64", NULL));
}

static void test_tokens(void)
{
    struct assay__model *model = one_input("input_ids", ASSAY__INT64, "s0,s1",
                                           "Relu input_ids -> y");
    fixture_input(model, "attention_mask", ASSAY__FLOAT32, "s0,s1");
    struct assay__workload *workload = plan_ok(model, &none);
    expect_dims(workload, 0, "1x128");
    expect_dims(workload, 1, "1x128");
    CHECK_STR(workload->inputs[1].assumed, "tokens");
    const char *assumed = assay__workload_assumed(workload, workload->arena);
    CHECK_HAS(assumed, "input_ids 1x128");
    assay__workload_free(workload);
    struct assay__workload_options given = {.batch = 2, .sequence = 7};
    workload = plan_ok(model, &given);
    CHECK(!workload->inputs[0].assumed);
    CHECK_STR(assay__workload_assumed(workload, workload->arena), "");
    CHECK_INT(workload->tries, 0);
    assay__workload_free(workload);
    assay__model_free(model);
}

/* Ids that are fed as float32 and cast before they look up a row. */
static void test_float_tokens(void)
{
    for (int table = 0; table < 2; table++) {
        struct assay__model *model = one_input("input_1", ASSAY__FLOAT32, "n,s1",
                                               "Cast input_1 -> ids");
        CHECK_INT(assay__node_set_int(model, &model->graph.nodes[0], "to", 6), 0); /* int32 */
        fixture_node(model, table ? "Gather w,ids -> y" : "Neg ids -> y");
        fixture_weights(model, "w", ASSAY__FLOAT32, "43,8");
        if (table)
            expect_guess(model, "1x128");
        else
            plan_fails(model, &none, ASSAY_EINVAL, "s1=16");
        if (!table) assay__model_free(model);
    }
}

/* A prompt goes with an empty cache, one token with a filled one. */
static void test_past(void)
{
    struct assay__model *model = one_input("ids", ASSAY__INT64, "batch,seq", "Relu ids -> y");
    fixture_input(model, "past_key_values.0.key", ASSAY__FLOAT32, "batch,12,past,64");
    struct assay__workload *workload = plan_ok(model, &none);
    expect_dims(workload, 0, "1x128");
    expect_dims(workload, 1, "1x12x0x64");
    assay__workload_free(workload);
    struct assay__workload_options step = {.sequence = 1};
    workload = plan_ok(model, &step);
    expect_dims(workload, 1, "1x12x128x64");
    assay__workload_free(workload);
    assay__model_free(model);
}

/* Two axes without names are two dimensions, and each attempt is another guess. */
static void test_attempts(void)
{
    struct assay__model *model = read_back(image_model("?0,3,?0,?0"));
    struct assay__workload_options options = {.shapes = LIST("x=1x3x48x192"), .shape_count = 1};
    struct assay__workload *workload = plan_ok(model, &options);
    expect_dims(workload, 0, "1x3x48x192");
    assay__workload_free(workload);
    options = (struct assay__workload_options){.attempt = 1};
    workload = plan_ok(model, &options);
    expect_dims(workload, 0, "1x3x48x320");
    CHECK_INT(workload->attempt, 1);
    CHECK(workload->tries > 2);
    assay__workload_free(workload);
    assay__model_free(model);
}

/* What the layers behind it need: 307,200 elements, which is 3 × 320 × 320. */
static void test_later_layers(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,3,height,width");
    fixture_node(model, "Flatten x -> flat");
    fixture_node(model, "MatMul flat,w -> y");
    fixture_weights(model, "w", ASSAY__FLOAT32, "307200,2");
    fixture_output(model, "y");
    expect_guess(model, "1x3x320x320");
    model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "s0,s1");
    fixture_node(model, "MatMul x,w -> y");
    fixture_weights(model, "w", ASSAY__FLOAT32, "20,2");
    fixture_output(model, "y");
    expect_guess(model, "1x20");
}

/* 11 × 11 positions of 8 features, 4 apart, each from a window of 3: sides of 43 to 46 fit, none of
 * them usual; 44 is the roundest. Where no side fits, the first usual one stands. */
static void test_searched(void)
{
    for (int fits = 0; fits < 2; fits++) {
        struct assay__model *model = fixture_model(17);
        fixture_input(model, "x", ASSAY__FLOAT32, "batch,3,height,width");
        set_strides(model, fixture_node(model, "Conv x,k -> a"), 4, 4);
        fixture_node(model, "Flatten a -> flat");
        fixture_node(model, "MatMul flat,w -> y");
        fixture_weights(model, "k", ASSAY__FLOAT32, "8,3,3,3");
        fixture_weights(model, "w", ASSAY__FLOAT32, fits ? "968,2" : "77,2"); /* 8 × 11 × 11 */
        fixture_output(model, "y");
        expect_guess(model, fits ? "1x3x44x44" : "1x3x224x224");
    }
}

/* A window of 100 does not fit the usual side of a latent image (64): the next that fits. */
static void test_windows_fit(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "latent", ASSAY__FLOAT32, "1,4,height,width");
    fixture_node(model, "Conv latent,k -> y");
    fixture_weights(model, "k", ASSAY__FLOAT32, "8,4,100,100");
    fixture_output(model, "y");
    expect_guess(model, "1x4x128x128");
}

/* Strides of 2 × 1, twice, with a shortcut beside the second. */
static struct assay__model *line_reader(int rank)
{
    static const struct assay__dim open[3] = {{-1, ""}, {-1, ""}, {-1, ""}};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,3,s0,s1");
    set_strides(model, fixture_node(model, "Conv x,k -> a"), 2, 1);
    set_strides(model, fixture_node(model, "Conv a,l -> b"), 2, 1);
    set_strides(model, fixture_node(model, "MaxPool a -> c"), 2, 1);
    const int64_t window[] = {1, 1};
    struct assay__node *pool = &model->graph.nodes[2];
    CHECK_INT(assay__node_set_ints(model, pool, "kernel_shape", window, 2), 0);
    fixture_node(model, "Add b,c -> y");
    fixture_weights(model, "k", ASSAY__FLOAT32, "8,3,1,1");
    fixture_weights(model, "l", ASSAY__FLOAT32, "8,8,1,1");
    CHECK_INT(assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, "y",
                                     ASSAY__FLOAT32, rank, open),
              0);
    return model;
}

/* A reader of lines gives up the height and keeps the width; one answer for the line (batch and
 * classes) goes with a shorter one. A single odd stride is no line. */
static void test_lines(void)
{
    expect_guess(line_reader(3), "1x3x48x320");
    expect_guess(line_reader(2), "1x3x48x192");
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,3,s0,s1");
    set_strides(model, fixture_node(model, "Conv x,k -> y"), 2, 1);
    fixture_weights(model, "k", ASSAY__FLOAT32, "8,3,1,1");
    fixture_output(model, "y");
    expect_guess(model, "1x3x224x224");
}

/* A name for sound is enough for samples; an axis called frames is no side of an image. */
static void test_sound(void)
{
    expect_guess(one_input("waveforms", ASSAY__FLOAT32, "batch,N", "Relu waveforms -> y"),
                 "1x16000");
    expect_guess(one_input("samples:0", ASSAY__FLOAT32, "unk__1,unk__2", "Relu samples:0 -> y"),
                 "1x16000");
    expect_guess(one_input("input", ASSAY__FLOAT32, "batch,time", "Relu input -> y"), "1x128");
    struct assay__model *model = one_input("input", ASSAY__FLOAT32, "batch,3,frames,160",
                                           "Relu input -> y");
    struct assay__workload *workload = plan_ok(model, &none);
    expect_dims(workload, 0, "1x3x128x160");
    CHECK_STR(workload->inputs[0].assumed, "frames");
    assay__workload_free(workload);
    assay__model_free(model);
}

/* What a detector's metadata say: rows, then columns. What is no such list is not believed. */
static void test_stated(void)
{
    static const char *const stated[][2] = {{"[320, 640]", "1x3x320x640"},
                                            {"[0, 640]", "1x3x224x224"},
                                            {"[320", "1x3x224x224"},
                                            {"320", "1x3x224x224"},
                                            {"", "1x3x224x224"}};
    for (size_t i = 0; i < sizeof stated / sizeof stated[0]; i++) {
        struct assay__model *model = image_model("batch,3,height,width");
        CHECK_INT(assay__model_set_metadata(model, "imgsz", stated[i][0]), 0);
        expect_guess(model, stated[i][1]);
    }
}

static void test_unknown(void)
{
    struct assay__model *model = image_model("n,s1");
    plan_fails(model, &none, ASSAY_EINVAL, "s1=16");
    struct assay__workload_options any = {.any_size = true};
    struct assay__workload *workload = plan_ok(model, &any);
    expect_dims(workload, 0, "1x1");
    assay__workload_free(workload);
    assay__model_free(model);
    model = read_back(image_model("?0,?0"));
    struct assay_error error = {.code = 0};
    CHECK_INT(assay__workload_plan(model, &none, &workload, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "shapes");
    CHECK_HAS(error.message, "x=");
    assay__model_free(model);
}

/* The only input goes without its name; "?" leaves an axis to the batch. */
static void test_shape_forms(void)
{
    struct assay__model *model = image_model("batch,3,height,width");
    struct assay__workload_options options = {
        .batch = 4, .shapes = LIST("?x3x48x320"), .shape_count = 1};
    struct assay__workload *workload = plan_ok(model, &options);
    expect_dims(workload, 0, "4x3x48x320");
    CHECK_INT(workload->tries, 0);
    assay__workload_free(workload);
    fixture_input(model, "z", ASSAY__FLOAT32, "batch,3");
    plan_fails(model, &options, ASSAY_EINVAL, "input=1x3x224x224");
    assay__model_free(model);
}

/* "?" is no name: two axes that a file calls so are two dimensions; two of one name are one. */
static void test_unnamed_axes(void)
{
    static const char *const names[] = {"?", "side"};
    struct assay__workload_options options = {.shapes = LIST("x=1x3x48x192"), .shape_count = 1};
    for (size_t i = 0; i < 2; i++) {
        char shape[32];
        snprintf(shape, sizeof shape, "n,3,%s,%s", names[i], names[i]);
        struct assay__model *model = read_back(image_model(shape));
        if (i == 1) {
            plan_fails(model, &options, ASSAY_EINVAL, "side");
        } else {
            struct assay__workload *workload = plan_ok(model, &options);
            expect_dims(workload, 0, "1x3x48x192");
            assay__workload_free(workload);
        }
        assay__model_free(model);
    }
}

static void test_inline_values(void)
{
    struct assay__model *model = image_model("1,3,8,8");
    fixture_input(model, "sr", ASSAY__INT64, "");
    struct assay__workload_options options = {.files = LIST("sr=16000"), .file_count = 1};
    struct assay__workload *workload = plan_ok(model, &options);
    CHECK_INT(workload->inputs[1].fill, ASSAY__FILL_CONSTANT);
    CHECK(workload->inputs[1].low == 16000 && workload->inputs[1].given);
    assay__workload_free(workload);
    options.files = LIST("sr=0.5");
    plan_fails(model, &options, ASSAY_EINVAL, "int64");
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"images", test_images},
        {"image_or_sound", test_image_or_sound},
        {"tokens", test_tokens},
        {"float_tokens", test_float_tokens},
        {"past", test_past},
        {"attempts", test_attempts},
        {"later_layers", test_later_layers},
        {"searched", test_searched},
        {"windows_fit", test_windows_fit},
        {"lines", test_lines},
        {"sound", test_sound},
        {"stated", test_stated},
        {"unknown", test_unknown},
        {"shape_forms", test_shape_forms},
        {"unnamed_axes", test_unnamed_axes},
        {"inline_values", test_inline_values},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
