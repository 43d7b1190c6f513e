/* test_rewrite_limits.c - what rewrites must not overstep: float16's range where it was seen, the
 * size of a stripped model's activations, its shapes, the batch axis where time stands first, and
 * the files a model is made of. */
#include "model_fixture.h"

#include "model/onnx/onnx.h"
#include "model/rewrite/rewrite_graph.h"
#include "zoo/model_open.h"

#include <unistd.h>

static struct assay_error error;

static const struct assay__node *maker(const struct assay__model *model, const char *name)
{
    for (size_t i = 0; i < model->graph.node_count; i++)
        for (size_t k = 0; k < model->graph.nodes[i].output_count; k++)
            if (strcmp(model->graph.nodes[i].outputs[k], name) == 0) return &model->graph.nodes[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

/* The one number a stripped tensor is made of. */
static double filled(const struct assay__model *model, const char *name)
{
    const struct assay__node *node = maker(model, name);
    CHECK_STR(node->op, "ConstantOfShape");
    const struct assay__tensor *value = assay__node_attr(node, "value")->t;
    float number = 0;
    if (value->dtype == ASSAY__FLOAT32)
        memcpy(&number, value->data, sizeof number);
    else
        number = (float)(int8_t)value->data[0];
    return (double)number;
}

/* --- float16 ---------------------------------------------------------------------------------- */

/* x -> Mul a -> Mul b -> Div d -> Relu y; b was seen to be too large. */
static void test_seen_large(void)
{
    struct assay__model *model = fixture_model(17);
    struct assay__rewrite_notes notes = {.arena = model->arena};
    struct assay__map *large = assay__map_new();
    bool told = false;
    fixture_input(model, "x", ASSAY__FLOAT32, "2,3");
    fixture_weights(model, "c", ASSAY__FLOAT32, "3");
    fixture_node(model, "Mul x,c -> a");
    fixture_node(model, "Mul a,c -> b");
    fixture_node(model, "Div b,c -> d");
    fixture_node(model, "Relu d -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__map_set(large, "b", 0), 0);
    CHECK_INT(assay__rewrite_float16_within(model, large, 3.6e9, &notes, &error), 0);
    for (size_t i = 0; i < notes.count; i++)
        told |= strstr(notes.lines[i], "kept 2 operators in float32: their values reach 3.6e+09") !=
                NULL;
    CHECK(told);
    CHECK_STR(maker(model, "b")->op, "Mul"); /* under its own name: no float16 form of it exists */
    CHECK_STR(maker(model, "b")->inputs[1], "c");
    CHECK_INT(assay__graph_initializer(&model->graph, "c")->dtype, ASSAY__FLOAT32);
    size_t casts = 0, half = 0;
    for (size_t i = 0; i < model->graph.node_count; i++)
        casts += strcmp(model->graph.nodes[i].op, "Cast") == 0;
    for (size_t i = 0; i < model->graph.initializer_count; i++)
        half += model->graph.initializers[i].dtype == ASSAY__FLOAT16;
    CHECK_INT(casts, 4); /* x, a, d, y */
    CHECK_INT(half, 1);  /* c for the first Mul */
    CHECK_INT(assay__model_check(model, &error), 0);
    assay__map_free(large);
    assay__model_free(model);
}

/* --- strip ------------------------------------------------------------------------------------ */

/* A quantised weight is 1 times its scale: the scale is 1 / fan-in. */
static void test_strip_dequantised(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1,8,5,5");
    fixture_weights(model, "q", ASSAY__INT8, "20,8,3,3");
    fixture_weights(model, "s", ASSAY__FLOAT32, "20");
    fixture_weights(model, "z", ASSAY__INT8, "20");
    struct assay__node *node = fixture_node(model, "DequantizeLinear q,s,z -> w");
    assay__node_set_int(model, node, "axis", 0);
    fixture_node(model, "Conv x,w -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__rewrite_strip(model, 16, NULL, &error), 0);
    CHECK_NEAR(filled(model, "s"), 1.0 / 72, 1e-9);
    CHECK_NEAR(filled(model, "q"), 1, 0);
    CHECK_NEAR(filled(model, "z"), 0, 0);
    assay__model_free(model);
}

/* The same for the factor that an integer product is multiplied by, as --int8 dynamic writes it. */
static void test_strip_dynamic(void)
{
    struct assay__model *model = fixture_model(17);
    static const int64_t dims[] = {40, 20};
    float weights[800];
    for (size_t i = 0; i < 800; i++)
        weights[i] = (float)i / 800;
    fixture_input(model, "x", ASSAY__FLOAT32, "2,40");
    CHECK(assay__graph_add_initializer(model, &model->graph, "w", ASSAY__FLOAT32, 2, dims, weights,
                                       sizeof weights));
    fixture_node(model, "MatMul x,w -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__rewrite_dynamic_int8(model, NULL, &error), 0);
    CHECK_INT(assay__rewrite_strip(model, 16, NULL, &error), 0);
    size_t seen = 0;
    for (size_t i = 0; i < model->graph.node_count; i++) {
        const struct assay__node *node = &model->graph.nodes[i];
        if (strcmp(node->op, "ConstantOfShape") != 0) continue;
        const struct assay__tensor *value = assay__node_attr(node, "value")->t;
        double number = filled(model, node->outputs[0]);
        if (value->dtype == ASSAY__FLOAT32) CHECK_NEAR(number, 1.0 / 40, 1e-9);
        if (value->dtype == ASSAY__INT8) CHECK_NEAR(number, 1, 0);
        seen++;
    }
    CHECK_INT(seen, 2);
    assay__model_free(model);
}

/* What defines a shape stays, also when it is calculated with. */
static void test_strip_shapes(void)
{
    struct assay__model *model = fixture_model(17);
    static const int64_t two[] = {2};
    static const float ones[] = {1, 1}, twos[] = {2, 2};
    fixture_input(model, "x", ASSAY__FLOAT32, "1,1,2,2");
    fixture_weights(model, "w", ASSAY__FLOAT32, "2,2");
    CHECK(assay__graph_add_initializer(model, &model->graph, "keep", ASSAY__FLOAT32, 1, two, ones,
                                       sizeof ones));
    CHECK(assay__graph_add_initializer(model, &model->graph, "grow", ASSAY__FLOAT32, 1, two, twos,
                                       sizeof twos));
    struct assay__node *node = fixture_node(model, "Concat keep,grow -> scales");
    assay__node_set_int(model, node, "axis", 0);
    fixture_node(model, "Resize x,,scales -> r");
    fixture_node(model, "Mul x,w -> z");
    fixture_output(model, "r");
    fixture_output(model, "z");
    CHECK_INT(assay__rewrite_strip(model, 0, NULL, &error), 0);
    CHECK(assay__graph_initializer(&model->graph, "keep") != NULL);
    CHECK(assay__graph_initializer(&model->graph, "grow") != NULL);
    CHECK(assay__graph_initializer(&model->graph, "w") == NULL);
    CHECK_NEAR(filled(model, "w"), 0.5, 0);
    assay__model_free(model);
}

/* --- batch ------------------------------------------------------------------------------------ */

/* [time, batch, features]: the batch is 2, not 4. */
static void test_batch_after_time(void)
{
    struct assay__model *model = fixture_model(17);
    struct assay__rewrite_notes notes = {.arena = model->arena};
    fixture_input(model, "x", ASSAY__FLOAT32, "4,2,3");
    fixture_weights(model, "w", ASSAY__FLOAT32, "1,20,3");
    fixture_weights(model, "r", ASSAY__FLOAT32, "1,20,5");
    struct assay__node *node = fixture_node(model, "LSTM x,w,r -> y,h");
    assay__node_set_int(model, node, "hidden_size", 5);
    fixture_output(model, "y");
    CHECK_INT(assay__rewrite_fix_dims(model, NULL, 0, 8, &notes, &error), 0);
    CHECK_INT(notes.count > 0, 1);
    CHECK_HAS(notes.lines[notes.count - 1], "batch changed from 2 to 8");
    CHECK_INT(model->graph.inputs[0].dims[0].value, 4);
    CHECK_INT(model->graph.inputs[0].dims[1].value, 8);
    assay__model_free(model);
}

/* A node without a name is called by what it makes. */
static void test_batch_refused(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "2,3");
    struct assay__node *node = fixture_node(model, "Softmax x -> odds");
    assay__node_set_int(model, node, "axis", 0);
    node->name = "";
    fixture_output(model, "odds");
    CHECK_INT(assay__rewrite_fix_dims(model, NULL, 0, 8, NULL, &error), ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "'odds' (Softmax) works across the batch");
    assay__model_free(model);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_owned(void)
{
    char folder[512], model_path[600], data[600], other[600], inside[700];
    struct assay__model *model = fixture_x("2,600"), *read = NULL;
    fixture_weights(model, "w", ASSAY__FLOAT32, "600,3");
    fixture_node(model, "MatMul x,w -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    snprintf(model_path, sizeof model_path, "%s/m.onnx", folder);
    snprintf(data, sizeof data, "%s/m.onnx.data", folder);
    snprintf(other, sizeof other, "%s/../%s/other", folder, strrchr(folder, '/') + 1);
    CHECK_INT(assay__onnx_write(model, model_path, 1000, NULL, &error), 0);
    read = fixture_read(model_path);
    CHECK_HAS(assay__model_owns(read, model_path, false, data), "weights");
    CHECK_HAS(assay__model_owns(read, model_path, false, model_path), "itself");
    CHECK(assay__model_owns(read, model_path, false, other) == NULL);
    CHECK_INT(link(data, other), 0); /* the same file by another name */
    CHECK_HAS(assay__model_owns(read, model_path, false, other), "weights");
    CHECK_INT(unlink(other), 0);
    /* a folder is a package: whatever lies in it, there or not */
    snprintf(inside, sizeof inside, "%s/new", folder);
    CHECK_HAS(assay__model_owns(NULL, folder, false, inside), "package");
    CHECK(assay__model_owns(NULL, folder, false, "/assay-no-such-file") == NULL);
    snprintf(inside, sizeof inside, "cfc:units=8,weights=%s,outputs=2", data);
    CHECK_HAS(assay__model_owns(NULL, inside, true, data), "weights");
    CHECK(assay__model_owns(NULL, inside, true, model_path) == NULL);
    assay__model_free(read);
    assay__model_free(model);
    assay__folder_remove(folder);
}

/* An interrupt ends the writing and leaves nothing, neither of the model nor of its data. */
static void test_interrupted(void)
{
    char folder[512], path[600];
    volatile int interrupt = 1;
    struct assay__model *model = fixture_x("2,600");
    fixture_weights(model, "w", ASSAY__FLOAT32, "600,3");
    fixture_node(model, "MatMul x,w -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, &error), 0);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    CHECK_INT(assay__model_write_until(model, path, &interrupt, &error), ASSAY_EINTERRUPTED);
    CHECK_INT(assay__onnx_write(model, path, 1000, &interrupt, &error), ASSAY_EINTERRUPTED);
    CHECK_HAS(error.message, "nothing was written");
    interrupt = 0;
    CHECK(!assay__file_exists(path));
    CHECK_INT(assay__model_write_until(model, path, &interrupt, &error), 0);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(folder), 0); /* it was empty */
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"seen_large", test_seen_large},
        {"strip_dequantised", test_strip_dequantised},
        {"strip_dynamic", test_strip_dynamic},
        {"strip_shapes", test_strip_shapes},
        {"batch_after_time", test_batch_after_time},
        {"batch_refused", test_batch_refused},
        {"owned", test_owned},
        {"interrupted", test_interrupted},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
