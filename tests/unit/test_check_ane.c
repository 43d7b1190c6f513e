/* test_check_ane.c - every rule of the Neural Engine has a model that breaks it and one that does
 * not, and every rule of the table is among those tested here. A rule that rests on a single source
 * is no error. */
#include "check_fixture.h"

#include "base/file.h"
#include "model/model_format.h"

#include <math.h>

#define RULES_MOST 80

static const char *tested[RULES_MOST];
static size_t tested_count;

static void mark(const char *rule)
{
    for (size_t i = 0; i < tested_count; i++)
        if (strcmp(tested[i], rule) == 0) return;
    CHECK(tested_count < RULES_MOST);
    tested[tested_count++] = rule;
}

/* --- one node --------------------------------------------------------------------------------- */

struct line {
    const char *rule, *domain;
    const char *bad_chip, *bad, *bad_attributes;
    const char *good_chip, *good, *good_attributes;
};

#define SAME NULL /* the good model is the bad one on another chip */

static const struct line lines[] = {
    {"recurrent", "", NULL, "LSTM x[4,1,8] w[1,32,8] r[1,32,8] -> y", "hidden_size=8", NULL,
     "Relu x[4,1,8] -> y", ""},
    {"recurrent", "coreml", NULL, "gru x[4,1,8] w[24,8] -> y[4,1,8]", "", NULL,
     "rsqrt x[4,1,8] -> y", ""},
    {"no-path", "", NULL, "ReduceProd x[1,3,32] -> y", "", NULL, "ReduceSum x[1,3,32] -> y", ""},
    {"no-path", "coreml", NULL, "list_gather x[1,3,32] -> y[1,3,32]", "", NULL,
     "stack x[1,3,32] -> y[1,1,3,32]", ""},
    {"custom-layer", "coreml", NULL, "custom x[1,3,32] -> y[1,3,32]", "", NULL,
     "exp2 x[1,3,32] -> y", ""},
    {"control-flow", "coreml", NULL, "while_loop x[1,3,32] -> y[1,3,32]", "", NULL,
     "exp2 x[1,3,32] -> y", ""},
    {"sampler", "", "M1", "GridSample x[1,3,8,32] g[1,8,32,2] -> y", "", "M2", SAME, ""},
    {"sampler", "", "M1", "Resize x[1,3,8,8] - - s{1,3,12,12} -> y", "mode=linear", "M1",
     "Resize x[1,3,8,8] - - s{1,3,16,16} -> y", "mode=linear"},
    {"gather", "", "M1 Max", "Gather x[10,32] i:i64[4] -> y", "", "M2", SAME, ""},
    {"sort", "", "A14", "TopK x[1,3,64] k{5} -> v i", "", "A15", SAME, ""},
    {"sine", "", "M2", "Sin x[1,3,32] -> y", "", "M3", SAME, ""},
    {"dynamic-slice", "", "M1", "Slice x[1,3,64] s:i64[1] e:i64[1] -> y[1,3,64]", "", "M1",
     "Slice x[1,3,64] s{0} e{2} a{1} -> y", ""},
    {"data-type", "", NULL, "Cast x[1,3,32] -> y", "to=11", NULL, "Cast x[1,3,32] -> y", "to=10"},
    {"rank", "", NULL, "Relu x[1,1,1,1,2,32] -> y", "", NULL, "Relu x[1,1,1,2,32] -> y", ""},
    {"dynamic-reshape", "", NULL, "Reshape x[1,3,32] s:i64[2] -> y", "", NULL,
     "Reshape x[1,3,32] s{3,32} -> y", ""},
    {"data-shape", "", NULL, "NonZero x[1,3,32] -> y", "", NULL, "Relu x[1,3,32] -> y", ""},
    {"dynamic-input", "", NULL, "Relu x[batch,3,32] -> y", "", NULL, "Relu x[1,3,32] -> y", ""},
    {"extent", "", "M3", "Relu x[1,1,1,16385] -> y", "", "M4", SAME, ""},
    {"extent", "", "M1", "Relu x[1,1,16385,32] -> y", "", "M1", "Relu x[1,1,16384,32] -> y", ""},
    {"extent", "", "M5", "Relu x[1,65537,1,32] -> y", "", "M5", "Relu x[1,65536,1,32] -> y", ""},
    {"extent", "", "M5", "Relu x[65537,1] -> y", "", "M5", "Relu x[65536,1] -> y", ""},
    {"conv-kernel", "", "M1", "Conv x[1,3,32,32] w[4,3,1,14] -> y", "", "M2", SAME, ""},
    {"conv-kernel", "", "M5", "Conv x[1,3,32,32] w[4,3,1,17] -> y", "", "M1",
     "Conv x[1,3,32,32] w[4,3,29,13] -> y", ""},
    {"conv-kernel", "", "M1", "Conv x[1,3,64,32] w[4,3,30,1] -> y", "", "M2", SAME, ""},
    {"conv-groups", "", NULL, "Conv x[1,4,8,32] w[3,1,3,3] -> y", "group=3", NULL,
     "Conv x[1,6,8,32] w[3,2,3,3] -> y", "group=3"},
    {"conv-3d", "", NULL, "Conv x[1,3,4,8,32] w[4,3,1,3,3] -> y", "", NULL,
     "Conv x[1,3,8,32] w[4,3,3,3] -> y", ""},
    {"pool", "", NULL, "MaxPool x[1,3,64,64] -> y", "kernel_shape=14,14", NULL,
     "MaxPool x[1,3,64,64] -> y", "kernel_shape=13,13 strides=2,2"},
    {"pool", "", NULL, "AveragePool x[1,3,64,64] -> y", "kernel_shape=3,3 strides=3,3", NULL,
     "GlobalAveragePool x[1,3,64,64] -> y", ""},
    {"upsample", "", NULL, "Resize x[1,3,8,8] - - s{1,3,24,24} -> y", "mode=nearest", NULL,
     "Resize x[1,3,8,8] - - s{1,3,16,16} -> y", "mode=nearest"},
    {"arg-axis", "", NULL, "ArgMax x[1,3,2049] -> y", "axis=2", NULL, "ArgMax x[1,3,2048] -> y",
     "axis=2"},
    {"matmul-depth", "", NULL, "MatMul x[1,1,2,8,32] w[1,1,2,32,32] -> y", "", NULL,
     "MatMul x[1,2,1,8,32] w[1,2,1,32,32] -> y", ""},
    {"width-slice", "", "M1", "Slice x[1,3,8192] s{4095} e{4127} a{2} -> y", "", "M3", SAME, ""},
    {"width-slice", "", "M2", "Slice x[1,3,8192] s{-32} e{8192} a{2} -> y", "", "M2",
     "Slice x[1,3,8192] s{4094} e{4126} a{2} -> y", ""},
    {"last-axis", "", NULL, "Relu x[1,1024,64,1] -> y", "", NULL, "Relu x[1,1024,1,64] -> y", ""},
    {"alignment", "", NULL, "Relu x[1,4096,64,7] -> y", "", NULL, "Relu x[1,4096,7,64] -> y", ""},
    {"working-set", "", "M1", "Relu x[1,64,128,256] -> y", "", "M5", SAME, ""},
    {"live-set", "", "M1", "Relu x[1,64,96,128] -> y", "", "M5", SAME, ""}, /* 2 x 1.57 MB */
    {"live-set", "", "M1", "Relu x[1,64,96,128] -> y", "", "M1", "Relu x[1,64,48,128] -> y", ""},
    {"working-set-unknown", "", "M2", "Relu x[1,3,32] -> y", "", NULL, SAME, ""},
    {"per-block", "", NULL, "DequantizeLinear x:i8[64,64] s[2,64] -> y", "block_size=32 axis=0",
     NULL, "DequantizeLinear x:i8[64,64] s[64] -> y", "axis=0"},
    {"int8-activations", "", "M3", "QuantizeLinear x[1,3,32] s[] z:u8[] -> y", "", "A17 Pro", SAME,
     ""},
    {"copies", "", NULL, "Transpose x[1,3,32] -> y", "perm=0,2,1", NULL, "Relu x[1,3,32] -> y", ""},
    {"conv-dilated", "", NULL, "Conv x[1,3,32,32] w[4,3,3,3] -> y", "dilations=2,2", NULL,
     "Conv x[1,3,32,32] w[4,3,3,3] -> y", "dilations=1,1"},
    {"kernel-memory", "", NULL, "Conv x[1,4096,8,32] w[4,4096,3,3] -> y", "", NULL,
     "Conv x[1,2048,8,32] w[4,2048,3,3] -> y", ""},
    {"integer-math", "", NULL, "Add x:i64[1,3,32] y:i64[1,3,32] -> z", "", NULL,
     "Add x[1,3,32] y[1,3,32] -> z", ""},
    {"unknown-operator", "", NULL, "Det x[1,32,32] -> y", "", NULL, "Relu x[1,32,32] -> y", ""},
    {"unknown-operator", "ms", NULL, "Relu x[1,32,32] -> y[1,32,32]", "", NULL,
     "FusedMatMul x[1,32,32] w[1,32,32] -> y", ""},
    {"small-surface", "", NULL, "Relu x[1,3,32] -> y", "", NULL, "Relu x[1,64,64,64] -> y", ""},
    {"shape-conflict", "", NULL, "Add x[2,3] y[4,5] -> z", "", NULL, "Add x[2,3] y[2,3] -> z", ""},
};

static struct assay__check *check_line(const char *chip, const char *domain, const char *line,
                                       const char *attributes)
{
    struct assay__model *model = fixture_model(21);
    cost_node(model, domain, line, attributes);
    return check_model(model, "ane", chip);
}

static void test_lines(void)
{
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct line *l = &lines[i];
        struct assay__check *bad = check_line(l->bad_chip, l->domain, l->bad, l->bad_attributes);
        struct assay__check *good = check_line(l->good_chip, l->domain, l->good ? l->good : l->bad,
                                               l->good ? l->good_attributes : l->bad_attributes);
        if (check_items(bad, l->rule) != 1 || check_items(good, l->rule) != 0)
            printf("  %s: %s\n", l->rule, l->bad);
        CHECK_INT(check_items(bad, l->rule), 1);
        CHECK_INT(check_items(good, l->rule), 0);
        assay__check_free(bad);
        assay__check_free(good);
    }
}

/* --- models that a line cannot say ------------------------------------------------------------ */

static struct assay__model *weighted(const char *line, const char *weights, enum assay__dtype dtype,
                                     const char *shape)
{
    struct assay__model *model = fixture_model(21);
    fixture_weights(model, weights, dtype, shape);
    cost_node(model, "", line, "");
    return model;
}

/* Weights that are a formula: as large as one likes. */
static struct assay__model *large(const char *line, int64_t rows, int64_t columns)
{
    static const struct assay__generator generator = {.seed = 1, .deviation = 1};
    struct assay__model *model = fixture_model(21);
    int64_t dims[] = {rows, columns};
    struct assay__tensor *tensor = assay__graph_add_initializer(model, &model->graph, "w",
                                                                ASSAY__FLOAT32, 2, dims, NULL, 0);
    CHECK(tensor);
    tensor->generator = &generator;
    cost_node(model, "", line, "");
    return model;
}

static void expect(struct assay__model *model, const char *chip, const char *rule, size_t count)
{
    struct assay__check *check = check_model(model, "ane", chip);
    if (check_items(check, rule) != count) printf("  %s\n", rule);
    CHECK_INT(check_items(check, rule), count);
    assay__check_free(check);
}

static void test_model_size(void)
{
    /* float16: 2 bytes each; 1 GiB is 2^29 numbers */
    expect(large("MatMul x[1,32,32768] w -> y", 32768, 16384), NULL, "model-size", 0);
    expect(large("MatMul x[1,32,32768] w -> y", 32768, 16416), NULL, "model-size", 1);
    struct assay__check *check = check_model(large("MatMul x[1,32,32768] w -> y", 32768, 40000),
                                             "ane", NULL);
    CHECK_NEAR(check_item(check, "model-size")->bytes, 32768.0 * 40000 * 2, 0);
    CHECK_HAS(check_item(check, "model-size")->reason, "2 GiB");
    assay__check_free(check);
}

static void test_weight_notch(void)
{
    /* 16 cores x 1 MiB of float16 are 2^23 numbers */
    expect(large("MatMul x[1,32,2048] w -> y", 2048, 4096), "M3", "weight-notch", 1);
    expect(large("MatMul x[1,32,2048] w -> y", 2048, 4096), "M4", "weight-notch", 0);
    expect(large("MatMul x[1,32,2048] w -> y", 2048, 4128), "M3", "weight-notch", 0);
}

static void test_linear_layout(void)
{
    expect(weighted("MatMul x[1,16,32] w -> y", "w", ASSAY__FLOAT32, "32,32"), NULL,
           "linear-layout", 1);
    expect(fixture_x("1,3"), NULL, "linear-layout", 0);
    struct assay__model *both = fixture_model(21);
    cost_node(both, "", "MatMul x[1,16,32] y[1,32,32] -> z", "");
    expect(both, NULL, "linear-layout", 0);
}

static void test_precision(void)
{
    expect(weighted("MatMul x[1,16,32] w -> y", "w", ASSAY__FLOAT32, "32,32"), NULL,
           "half-precision", 1);
    expect(weighted("MatMul x:f16[1,16,32] w -> y", "w", ASSAY__FLOAT16, "32,32"), NULL,
           "half-precision", 0);
    const float values[] = {-1e9f, 65504.0f, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        struct assay__model *model = fixture_model(21);
        fixture_scalar(model, "c", ASSAY__FLOAT32, &values[i]);
        cost_node(model, "", "Add x[1,3,32] c -> y", "");
        expect(model, NULL, "half-range", i == 0);
    }
    /* the variance of a normalisation is no mask: behind a convolution it goes into that one */
    for (int behind = 0; behind < 2; behind++) {
        struct assay__model *model = fixture_model(21);
        static const float large[] = {1e7f, 1, 1, 1};
        static const int64_t four = 4;
        CHECK(assay__graph_add_initializer(model, &model->graph, "large", ASSAY__FLOAT32, 1, &four,
                                           large, sizeof large));
        if (behind) cost_node(model, "", "Conv x[1,4,8,8] w[4,4,1,1] -> c", "");
        cost_node(model, "",
                  behind ? "BatchNormalization c s[4] b[4] m[4] large -> y"
                         : "BatchNormalization x[1,4,8,8] s[4] b[4] m[4] large -> y",
                  "");
        expect(model, NULL, "half-range", !behind);
    }
}

static void test_compressed(void)
{
    expect(weighted("DequantizeLinear w s[] -> y", "w", ASSAY__INT4, "32,32"), NULL, "palettise",
           1);
    expect(weighted("DequantizeLinear w s[] -> y", "w", ASSAY__INT8, "32,32"), NULL, "palettise",
           0);
}

static void test_batch_reuse(void)
{
    expect(weighted("MatMul x[batch,512] w -> y", "w", ASSAY__FLOAT32, "512,512"), NULL,
           "batch-reuse", 1);
    expect(weighted("MatMul x[4096,32] w -> y", "w", ASSAY__FLOAT32, "32,32"), NULL, "batch-reuse",
           0);
}

static void test_old_layer(void)
{
    const char *const names[] = {"addBroadcastable", "softmaxND", "add"};
    for (size_t i = 0; i < 3; i++) {
        struct assay__model *model = fixture_model(21);
        model->format = "Core ML neural network";
        cost_node(model, "", "Add x[1,3,32] y[1,3,32] -> z", "")->source_op = names[i];
        expect(model, NULL, "old-layer", i < 2);
    }
    struct assay__model *program = fixture_model(21);
    program->format = "Core ML program";
    cost_node(program, "", "Add x[1,3,32] y[1,3,32] -> z", "")->source_op = "addBroadcastable";
    expect(program, NULL, "old-layer", 0);
}

static struct assay__model *chain(bool ends)
{
    struct assay__model *model = fixture_model(21);
    cost_node(model, "", "Relu x[1,4,32] -> a", "");
    cost_node(model, "", "Tan a -> b", "");
    if (!ends) cost_node(model, "", "Exp b -> y", "");
    return model;
}

static void test_ping_pong(void)
{
    expect(chain(false), NULL, "ping-pong", 1);
    expect(chain(true), NULL, "ping-pong", 0);
}

/* --- exact numbers ---------------------------------------------------------------------------- */

static void test_padding_bytes(void)
{
    /* 65536 rows of one float16: 64 bytes each instead of 2 */
    struct assay__check *check = check_line(NULL, "", "Relu x[1,1024,64,1] -> y", "");
    const struct assay__check_item *item = check_item(check, "last-axis");
    CHECK_NEAR(item->bytes, 65536.0 * 62, 0);
    CHECK_INT(item->severity, ASSAY__CHECK_WARNING);
    CHECK_HAS(item->reason, "32 times");
    assay__check_free(check);
    check = check_line(NULL, "", "Relu x:i8[1,16,64,1] -> y", "");
    CHECK_HAS(check_item(check, "last-axis")->reason, "64 times");
    CHECK_INT(check_item(check, "last-axis")->severity, ASSAY__CHECK_NOTE);
    assay__check_free(check);
    check = check_line(NULL, "", "Relu x[1,4096,64,7] -> y", "");
    CHECK_NEAR(check_item(check, "alignment")->bytes, 4096.0 * 64 * 50, 0);
    assay__check_free(check);
    check = check_line("M1", "", "Relu x[1,64,96,128] -> y", "");
    CHECK_NEAR(check_item(check, "live-set")->bytes, 2.0 * 64 * 96 * 128 * 2, 0);
    CHECK_INT(check_items(check, "working-set"), 0);
    assay__check_free(check);
}

static void test_chips(void)
{
    struct assay__check *check = check_line(NULL, "", "Sin x[1,3,32] -> y", "");
    CHECK_STR(check_item(check, "sine")->chips, "A14, A15, M1, M2");
    CHECK_INT(check->verdict, ASSAY__CHECK_WARN);
    CHECK_INT(check->chip_count, 10);
    for (size_t i = 0; i < check->chip_count; i++) {
        const struct assay__check_chip *one = &check->by_chip[i];
        CHECK_INT(one->off, !one->chip->sine);
        CHECK_INT(one->on_segments, one->chip->sine);
        CHECK_INT(one->verdict, one->chip->sine ? ASSAY__CHECK_PASS : ASSAY__CHECK_WARN);
        CHECK_NEAR(one->share, one->chip->sine ? 1 : 0, 0);
    }
    assay__check_free(check);
    check = check_line("apple m1 ultra", "", "Sin x[1,3,32] -> y", "");
    CHECK_STR(check_item(check, "sine")->chips, ""); /* on all that were asked of */
    assay__check_free(check);
    const char *const unknown[] = {"M6", "M10", "Z80", "M1 Mini", "A11"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        static const struct assay__workload_options none = {.shapes_only = true};
        struct assay_error error = {0};
        const struct assay__check_options options = {
            .target = "ane", .chip = unknown[i], .name = "x", .workload = &none};
        CHECK_INT(assay__check_new(fixture_x("1,3"), &options, &check, &error), ASSAY_EINVAL);
        CHECK_HAS(error.message, unknown[i]);
    }
}

static void test_places(void)
{
    struct assay__check *check = check_model(chain(false), "ane", NULL);
    const struct assay__check_partitions *p = &check->partitions;
    CHECK_INT(p->on, 2);
    CHECK_INT(p->off, 1);
    CHECK_INT(p->on_segments, 2);
    CHECK_INT(p->off_segments, 1);
    CHECK_INT(p->crossings, 2);
    CHECK_NEAR(p->crossing_bytes, 2.0 * 4 * 32 * 2, 0); /* two tensors of 128 float16 */
    CHECK_INT(check->verdict, ASSAY__CHECK_WARN);
    assay__check_free(check);
    check = check_line(NULL, "", "LSTM x[4,1,8] w[1,32,8] r[1,32,8] -> y", "hidden_size=8");
    CHECK_INT(check->verdict, ASSAY__CHECK_FAIL);
    CHECK_NEAR(assay__check_share(&check->partitions), 0, 0);
    assay__check_free(check);
    check = check_line(NULL, "", "Det x[1,32,32] -> y", "");
    CHECK_INT(check->partitions.unknown, 1);
    CHECK_INT(check->partitions.on_segments_most, 0);
    assay__check_free(check);
}

/* --- the table -------------------------------------------------------------------------------- */

/* What rests on one source is at most a warning; everything has a source, a fix and its own
 * name. */
static void test_table(void)
{
    static const char *const others[] = {"model-size",     "weight-notch", "linear-layout",
                                         "half-precision", "half-range",   "palettise",
                                         "batch-reuse",    "old-layer"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        mark(lines[i].rule);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        mark(others[i]);
    size_t count = 0;
    for (const struct assay__check_rule *rule = assay__ane_rules; rule->id; rule++, count++) {
        bool known = false;
        for (size_t i = 0; i < tested_count; i++)
            known |= strcmp(tested[i], rule->id) == 0;
        if (!known) printf("  %s is not tested\n", rule->id);
        CHECK(known);
        CHECK(rule->title[0] && rule->source[0] && rule->fix[0] && rule->look);
        CHECK(rule->basis != ASSAY__BASIS_SINGLE || rule->severity != ASSAY__CHECK_ERROR);
        for (const struct assay__check_rule *other = assay__ane_rules; other < rule; other++)
            CHECK(strcmp(other->id, rule->id) != 0);
    }
    CHECK_INT(count, tested_count);
}

/* --- Core ML ---------------------------------------------------------------------------------- */

static struct assay__check *sample(const char *name)
{
    char path[512];
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    snprintf(path, sizeof path, ASSAY_TEST_ROOT "/../shared/data/coreml/%s.mlpackage", name);
    if (!assay__file_exists(path)) SKIP("the Core ML samples are not beside the checkout");
    CHECK_INT(assay__model_load(path, &model, &error), 0);
    return check_model(model, "ane", "M1 Max");
}

static void test_samples(void)
{
    struct assay__check *check = sample("unsupported");
    CHECK_INT(check_items(check, "no-path"), 2); /* reverse_sequence, reduce_prod */
    CHECK_INT(check->partitions.off, 2);
    CHECK_INT(check->verdict, ASSAY__CHECK_WARN);
    assay__check_free(check);
    check = sample("cnn");
    CHECK_INT(check->verdict, ASSAY__CHECK_PASS);
    CHECK_INT(check->partitions.off + check->partitions.unknown, 0);
    assay__check_free(check);
    check = sample("attention");
    CHECK_INT(check->verdict, ASSAY__CHECK_PASS);
    CHECK_INT(check_items(check, "linear-layout"), 1);
    assay__check_free(check);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"lines", test_lines},
        {"model_size", test_model_size},
        {"weight_notch", test_weight_notch},
        {"linear_layout", test_linear_layout},
        {"precision", test_precision},
        {"compressed", test_compressed},
        {"batch_reuse", test_batch_reuse},
        {"old_layer", test_old_layer},
        {"ping_pong", test_ping_pong},
        {"padding_bytes", test_padding_bytes},
        {"chips", test_chips},
        {"places", test_places},
        {"table", test_table},
        {"samples", test_samples},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
