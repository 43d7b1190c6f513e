/* test_describe_layers.c - what is said of a layer's shapes, weights and attributes, and of the
 * tensors at the peak: exact words on small graphs, fused layers, unknown shapes, and the limits on
 * lengths and lists. */
#include "cost_fixture.h"

#include "run/trial/describe.h"

static struct assay_profile *profile;
static struct assay__workload *workload;
static struct assay__model_costs costs;

static void describe(struct assay__model *model)
{
    struct assay_error error = {0};
    const struct assay__workload_options wish = {0};
    profile = assay__profile_new();
    if (assay__workload_plan(model, &wish, &workload, &error)) printf("  %s\n", error.message);
    CHECK(workload != NULL);
    if (assay__describe_model(profile, profile->models[0], model, workload, "m", "m.onnx", &costs,
                              &error))
        printf("  %s\n", error.message);
    CHECK(costs.nodes != NULL && costs.shapes != NULL);
}

static void leave(struct assay__model *model)
{
    assay__costs_free(&costs);
    CHECK(costs.shapes == NULL && costs.constants == NULL);
    assay__workload_free(workload);
    workload = NULL;
    assay_profile_close(profile);
    assay__model_free(model);
}

static struct assay__layer layer_of(const size_t *nodes, size_t count)
{
    struct assay__layer layer = {0};
    CHECK_INT(assay__describe_layer(profile->arena, &costs, nodes, count, &layer), 0);
    return layer;
}

static struct assay__model *small(void)
{
    struct assay__model *model = fixture_x("1,3,8,8");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,3,3,3");
    fixture_weights(model, "b", ASSAY__FLOAT32, "4");
    cost_node(model, "", "Conv x w b -> c", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1 group=1");
    cost_node(model, "", "Relu c -> r", "");
    cost_node(model, "", "LeakyRelu r -> l", "alpha=~0.25 mode=soft");
    cost_node(model, "", "Add l r -> y", "");
    fixture_output(model, "y");
    return model;
}

static void test_single(void)
{
    struct assay__model *model = small();
    describe(model);
    struct assay__layer conv = layer_of((size_t[]){0}, 1), add = layer_of((size_t[]){3}, 1);
    CHECK_STR(conv.inputs, "1x3x8x8 float32");
    CHECK_STR(conv.weights, "4x3x3x3 float32, 4 float32");
    CHECK_STR(conv.outputs, "1x4x4x4 float32");
    CHECK_STR(conv.attributes, "kernel_shape 3x3, strides 2x2, pads [1, 1, 1, 1], group 1");
    CHECK_STR(add.inputs, "1x4x4x4 float32, 1x4x4x4 float32");
    CHECK_STR(add.weights, "");
    CHECK_STR(add.outputs, "1x4x4x4 float32");
    CHECK_STR(add.attributes, "");
    leave(model);
}

/* What one node writes and only the others read stays inside; what another reads too comes out. */
static void test_fused(void)
{
    struct assay__model *model = small();
    describe(model);
    struct assay__layer two = layer_of((size_t[]){0, 1}, 2), three = layer_of((size_t[]){1, 2}, 2),
                        all = layer_of((size_t[]){0, 1, 2, 3}, 4);
    CHECK_STR(two.inputs, "1x3x8x8 float32");
    CHECK_STR(two.outputs, "1x4x4x4 float32");
    CHECK_STR(two.attributes, "Conv: kernel_shape 3x3, strides 2x2, pads [1, 1, 1, 1], group 1");
    CHECK_STR(three.inputs, "1x4x4x4 float32");
    CHECK_STR(three.outputs, "1x4x4x4 float32, 1x4x4x4 float32"); /* r is read behind it too */
    CHECK_STR(three.attributes, "LeakyRelu: alpha 0.25, mode soft");
    CHECK_STR(all.inputs, "1x3x8x8 float32");
    CHECK_STR(all.outputs, "1x4x4x4 float32");
    leave(model);
}

/* An operator that shape inference does not know: its output is not guessed, its input is told. */
static void test_unknown(void)
{
    struct assay__model *model = fixture_x("2,5");
    cost_node(model, "ms", "NobodyKnows x -> u", "");
    cost_node(model, "ms", "NobodyKnows u -> y", "");
    fixture_output(model, "y");
    describe(model);
    struct assay__layer first = layer_of((size_t[]){0}, 1), second = layer_of((size_t[]){1}, 1);
    CHECK_STR(first.inputs, "2x5 float32");
    CHECK_STR(first.outputs, "");
    CHECK_STR(second.inputs, "");
    CHECK(isnan(costs.peak.bytes) && isnan(costs.live_peak_bytes));
    CHECK_STR(costs.peak.reason, "");
    bool unknown = false;
    for (size_t i = 0; i < costs.peak.count; i++)
        unknown |= isnan(costs.peak.tensors[i].bytes) && !*costs.peak.tensors[i].type;
    CHECK(unknown);
    leave(model);
}

/* A list of 200 inputs, an attribute of 100 numbers and one of 1,000 letters of two bytes: cut
 * between letters, never longer. */
static void test_limits(void)
{
    enum { INPUTS = 200 };
    struct assay__model *model = fixture_x("1,3");
    const char *names[INPUTS], *out[] = {"y"};
    int64_t many[100] = {0};
    char letters[2001];
    for (size_t i = 0; i < 1000; i++)
        memcpy(letters + 2 * i, "\xc3\xa4", 3);
    for (size_t i = 0; i < INPUTS; i++) {
        char line[64];
        snprintf(line, sizeof line, "Relu x -> v%zu", i);
        cost_node(model, "", line, "");
        names[i] = assay__arena_printf(model->arena, "v%zu", i);
    }
    struct assay__node *node = assay__graph_add_node(model, &model->graph, "Concat", "join", names,
                                                     INPUTS, out, 1);
    CHECK_INT(assay__node_set_int(model, node, "axis", 1), 0);
    CHECK_INT(assay__node_set_ints(model, node, "axes", many, 100), 0);
    for (size_t i = 0; i < 12; i++)
        CHECK_INT(assay__node_set_string(model, node,
                                         assay__arena_printf(model->arena, "text%zu", i), letters),
                  0);
    fixture_output(model, "y");
    describe(model);
    struct assay__layer layer = layer_of((size_t[]){INPUTS}, 1);
    CHECK_STR(layer.outputs, "1x600 float32");
    CHECK(strlen(layer.inputs) <= ASSAY__LAYER_TEXT && strlen(layer.inputs) > 390);
    CHECK_STR(layer.inputs + strlen(layer.inputs) - 3, "…");
    CHECK(strncmp(layer.attributes, "axis 1, axes [0, 0, 0, 0, 0, 0, 0, 0, … 100 in total], text0 ",
                  strlen("axis 1, axes [0, 0, 0, 0, 0, 0, 0, 0, … 100 in total], text0 ")) == 0);
    CHECK(strlen(layer.attributes) <= ASSAY__LAYER_TEXT);
    CHECK_STR(layer.attributes + strlen(layer.attributes) - 3, "…");
    for (const char *at = layer.attributes; *at; at++) /* every first byte has its second */
        if (*at == '\xc3') CHECK(at[1] == '\xa4');
    /* the peak is at the join: 200 tensors of 12 bytes read, 2,400 written, one of the small ones
     * left out */
    CHECK_STR(costs.peak.node, "join");
    CHECK(costs.peak.bytes == 4800 && costs.live_peak_bytes == 4800);
    CHECK_INT(costs.peak.alive, INPUTS + 1);
    CHECK_INT(costs.peak.count, ASSAY__PEAK_TENSORS);
    CHECK(costs.peak.tensors[0].bytes == 2400 && costs.peak.rest_bytes == 12);
    CHECK_STR(costs.peak.tensors[0].name, "y");
    leave(model);
}

/* Sizes of the tensors at the peak add up to it; each is named with who makes it and who reads it
 * last. */
static void test_peak(void)
{
    struct assay__model *model = small();
    describe(model);
    const struct assay__peak *peak = &costs.peak;
    double sum = peak->rest_bytes + peak->body_bytes;
    for (size_t i = 0; i < peak->count; i++)
        sum += peak->tensors[i].bytes;
    CHECK(sum == peak->bytes && peak->bytes == costs.live_peak_bytes);
    /* x is 768 bytes, c 256: the Conv is the peak */
    CHECK_STR(peak->node, "Conv");
    CHECK_STR(peak->op, "Conv");
    CHECK(peak->bytes == 1024 && peak->alive == 2 && peak->count == 2);
    CHECK_STR(peak->tensors[0].name, "x");
    CHECK_STR(peak->tensors[0].type, "1x3x8x8 float32");
    CHECK_STR(peak->tensors[0].producer, "");
    CHECK_STR(peak->tensors[0].last, "Conv");
    CHECK_STR(peak->tensors[1].name, "c");
    CHECK_STR(peak->tensors[1].producer, "Conv");
    CHECK_STR(peak->tensors[1].last, "Relu");
    leave(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"single", test_single}, {"fused", test_fused}, {"unknown", test_unknown},
        {"limits", test_limits}, {"peak", test_peak},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
