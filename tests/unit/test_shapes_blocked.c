/* test_shapes_blocked.c - ONNX Runtime's blocked layout (com.microsoft.nchwc): into it channels are
 * padded to a block of 8 or 16, which only the readers of the result tell. */
#include "cost_fixture.h"

#define BLOCKED_DOMAIN "com.microsoft.nchwc"

static struct assay__node *blocked(struct assay__model *model, const char *line,
                                   const char *attributes)
{
    struct assay__node *node = cost_node(model, "", line, attributes);
    node->domain = BLOCKED_DOMAIN;
    return node;
}

static void check_shape(const struct assay__model *model, const char *name, const char *expected)
{
    struct assay__shapes *shapes = fixture_infer(model);
    CHECK_STR(fixture_shape(shapes, name), expected);
    assay__shapes_free(shapes);
}

/* The weights' channels, times the groups, are those that the convolution takes. */
static void test_convolution(void)
{
    static const struct {
        const char *input, *weights, *group, *expected;
    } cases[] = {
        {"120,14,14", "40,128,1,1", "group=1", "float32 1,128,14,14"},
        {"120,14,14", "40,120,1,1", "group=1", "float32 1,120,14,14"},  /* a block of 8 */
        {"120,14,14", "128,1,5,5", "group=128", "float32 1,128,14,14"}, /* one by one */
        {"96,7,7", "40,999,1,1", "group=1", "float32 1,96,7,7"},        /* nothing to pad */
        {"120,14,14", "40,144,1,1", "group=1", "float32 1,?,14,14"},    /* no block is so large */
        {"120,14,14", "40,64,1,1", "group=1", "float32 1,?,14,14"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[128];
        struct assay__model *model = fixture_model(17);
        snprintf(line, sizeof line, "ReorderInput x[1,%s] -> r", cases[i].input);
        blocked(model, line, "");
        fixture_weights(model, "w", ASSAY__FLOAT32, cases[i].weights);
        blocked(model, "Conv r w -> y", cases[i].group);
        check_shape(model, "r", cases[i].expected);
        assay__model_free(model);
    }
}

static void test_others(void)
{
    struct assay__model *model = fixture_model(17);
    blocked(model, "ReorderInput x[1,14,14,120] -> r", "channels_last=1");
    fixture_weights(model, "w", ASSAY__FLOAT32, "40,128,1,1");
    blocked(model, "Conv r w -> y", "");
    check_shape(model, "r", "float32 1,128,14,14");
    assay__model_free(model);
    model = fixture_model(17); /* pooling is only moved where nothing is padded */
    blocked(model, "ReorderInput x[1,120,14,14] -> r", "");
    blocked(model, "MaxPool r -> y", "kernel_shape=2,2 strides=2,2");
    check_shape(model, "r", "float32 1,120,14,14");
    assay__model_free(model);
    model = fixture_model(17); /* nobody says */
    blocked(model, "ReorderInput x[1,120,14,14] -> r", "");
    check_shape(model, "r", "float32 1,?,14,14");
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"convolution", test_convolution},
        {"others", test_others},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
