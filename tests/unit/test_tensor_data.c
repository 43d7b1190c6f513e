/* test_tensor_data.c - the numbers of tensors wherever they lie, float16 exactly, and the generator
 * of weights. */
#include "model_cases.h"

#include "model/tensor_data.h"

/* All 65536 halves there and back; NaNs stay NaNs. */
static void test_half_round_trip(void)
{
    for (uint32_t half = 0; half < 65536; half++) {
        float value = assay__half_to_float((uint16_t)half);
        uint16_t back = assay__float_to_half(value);
        if (value != value)
            CHECK((half & 0x7c00) == 0x7c00 && (half & 0x3ff) && (back & 0x7e00) == 0x7e00);
        else
            CHECK_INT(back, half);
    }
}

/* Every float between two halves goes to the nearer one, the middle to the even one. */
static void test_half_rounding(void)
{
    for (uint32_t half = 0; half < 0x7bff; half++) {
        float low = assay__half_to_float((uint16_t)half);
        float high = assay__half_to_float((uint16_t)(half + 1)), middle = (low + high) / 2;
        CHECK_INT(assay__float_to_half(middle), half & 1 ? half + 1 : half);
        CHECK_INT(assay__float_to_half(nextafterf(middle, 0)), half);
        CHECK_INT(assay__float_to_half(nextafterf(middle, 1e9f)), half + 1);
        CHECK_INT(assay__float_to_half(-nextafterf(middle, 1e9f)), 0x8000 | (half + 1));
    }
    CHECK_INT(assay__float_to_half(65519.996f), 0x7bff);
    CHECK_INT(assay__float_to_half(65520.0f), 0x7c00); /* overflow is infinity */
    CHECK_INT(assay__float_to_half(-1e30f), 0xfc00);
    CHECK_INT(assay__float_to_half(1e-30f), 0);
    CHECK(assay__half_to_float(0x3c00) == 1.0f && assay__half_to_float(0xc000) == -2.0f);
    CHECK(assay__half_to_float(0x0001) == 0x1p-24f && assay__half_to_float(0x7bff) == 65504.0f);
}

static void test_every_type(void)
{
    static const struct {
        enum assay__dtype dtype;
        const char *bytes;
        int64_t elements;
        float expected[3];
    } rows[] = {
        {ASSAY__FLOAT32, "\x00\x00\x80\x3f\x00\x00\x00\xc0", 2, {1, -2}},
        {ASSAY__FLOAT64, "\x00\x00\x00\x00\x00\x00\xf8\xbf", 1, {-1.5f}},
        {ASSAY__FLOAT16, "\x00\x3c\x00\xc0", 2, {1, -2}},
        {ASSAY__BFLOAT16, "\x80\x3f\x00\xc0", 2, {1, -2}},
        {ASSAY__INT64, "\xfe\xff\xff\xff\xff\xff\xff\xff", 1, {-2}},
        {ASSAY__UINT64, "\x00\x00\x00\x00\x00\x00\x00\x80", 1, {0x1p63f}},
        {ASSAY__INT32, "\xfd\xff\xff\xff", 1, {-3}},
        {ASSAY__UINT32, "\x00\x00\x00\x80", 1, {0x1p31f}},
        {ASSAY__INT16, "\x00\x80", 1, {-32768}},
        {ASSAY__UINT16, "\x00\x80", 1, {32768}},
        {ASSAY__INT8, "\x80\x7f", 2, {-128, 127}},
        {ASSAY__UINT8, "\x80\x7f", 2, {128, 127}},
        {ASSAY__BOOL, "\x01\x00", 2, {1, 0}},
        {ASSAY__UINT4, "\xf1\x08", 3, {1, 15, 8}},
        {ASSAY__INT4, "\xf1\x08", 3, {1, -1, -8}},
        {ASSAY__UINT2, "\x39", 3, {1, 2, 3}},
        {ASSAY__INT2, "\x39", 3, {1, -2, -1}},
    };
    struct assay__model *model = fixture_model(17);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float got[3] = {0};
        struct assay__tensor *tensor = assay__graph_add_initializer(
            model, &model->graph, "t", rows[i].dtype, 1, &rows[i].elements, rows[i].bytes,
            assay__dtype_bytes(rows[i].dtype, rows[i].elements));
        CHECK(tensor);
        CHECK_INT(tensor->nonzeros, -1);
        CHECK_INT(tensor->sparse_bytes, -1);
        CHECK_INT(assay__tensor_floats(model, tensor, got, NULL), 0);
        for (int64_t k = 0; k < rows[i].elements; k++)
            CHECK(got[k] == rows[i].expected[k]);
    }
    assay__model_free(model);
}

/* Sub-byte numbers that come one to an item are packed. */
static void test_loose_items(void)
{
    struct assay__buf tensor = {.data = NULL}, graph = {.data = NULL}, bytes = {.data = NULL};
    struct assay__model *model = NULL;
    struct assay__tensor_view view;
    pb_int(&tensor, 1, 3);
    pb_int(&tensor, 2, ASSAY__UINT4);
    pb_bytes(&tensor, 5, "\x01\x0f\x08", 3);
    pb_text(&tensor, 8, "t");
    pb_message(&graph, 5, &tensor);
    pb_model(&bytes, &graph);
    CHECK_INT(pb_parse(&bytes, &model, NULL), 0);
    CHECK_INT(assay__tensor_open(model, &model->graph.initializers[0], &view, NULL), 0);
    CHECK_INT(view.size, 2);
    CHECK_INT(memcmp(view.data, "\xf1\x08", 2), 0);
    assay__tensor_close(&view);
    CHECK(!view.data && !view.owned);
    assay__tensor_close(&view); /* closing twice is legal */
    assay__model_free(model);
    assay__buf_free(&bytes);
}

static void test_external(void)
{
    char folder[512], path[600];
    struct assay_error error = {.code = 0};
    struct assay__tensor_view view;
    struct assay__model *model = fixture_model(17);
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    snprintf(path, sizeof path, "%s/w.bin", folder);
    model->folder = folder;
    fixture_weights(model, "w", ASSAY__UINT8, "4");
    struct assay__tensor *tensor = &model->graph.initializers[0];
    tensor->data = NULL;
    tensor->external = true;
    tensor->location = "w.bin";
    tensor->offset = 3;
    CHECK_INT(assay__tensor_open(model, tensor, &view, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "w.bin");
    CHECK_HAS(error.message, "tensor 'w'");
    CHECK_INT(assay__file_write(path, "abcdef", 6, NULL), 0);
    CHECK_INT(assay__tensor_open(model, tensor, &view, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "needs 4 from byte 3 on");
    CHECK_INT(assay__file_write(path, "abcdefg", 7, NULL), 0);
    CHECK_INT(assay__tensor_open(model, tensor, &view, &error), 0);
    CHECK_INT(memcmp(view.data, "defg", 4), 0);
    assay__tensor_close(&view);
    tensor->length = 3;
    CHECK_INT(assay__tensor_open(model, tensor, &view, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "3 bytes of external data where its shape needs 4");
    assay__folder_remove(folder);
    assay__model_free(model);
}

static void test_nothing_there(void)
{
    struct assay_error error = {.code = 0};
    struct assay__tensor_view view;
    float numbers[4];
    struct assay__model *model = fixture_model(17);
    fixture_weights(model, "w", ASSAY__FLOAT32, "4");
    struct assay__tensor *tensor = &model->graph.initializers[0];
    tensor->data = NULL;
    CHECK_INT(assay__tensor_open(model, tensor, &view, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "tensor 'w' has no data");
    tensor->dtype = ASSAY__STRING;
    CHECK_INT(assay__tensor_floats(model, tensor, numbers, &error), ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "is string, not an array of numbers");
    tensor->dtype = ASSAY__FLOAT32;
    tensor->nonzeros = 2;
    CHECK_INT(assay__tensor_open(model, tensor, &view, &error), ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "is sparse");
    assay__model_free(model);
}

/* A pure function of (seed, index): any block equals that part of the whole. The moments are those
 * asked for. */
static void test_generator(void)
{
    enum { COUNT = 100000 };
    const struct assay__generator generator = {7, 0.5f, 0.1f}, other = {8, 0.5f, 0.1f},
                                  constant = {7, 0.25f, 0}, centred = {3, 0, 1};
    float *whole = malloc(COUNT * sizeof *whole), part[100];
    double sum = 0, squares = 0;
    assay__weights_fill(&generator, 0, whole, COUNT);
    for (size_t at = 0; at + 100 <= COUNT; at += 9973) {
        assay__weights_fill(&generator, at, part, 100);
        CHECK_INT(memcmp(part, whole + at, sizeof part), 0);
    }
    for (size_t i = 0; i < COUNT; i++) {
        double away = ((double)whole[i] - 0.5) / 0.1;
        sum += away;
        squares += away * away;
        CHECK(fabs(away) <= 3.5);
    }
    CHECK(fabs(sum / COUNT) < 4 / sqrt(COUNT));
    CHECK(fabs(squares / COUNT - 1) < 0.02);
    assay__weights_fill(&other, 0, part, 100);
    CHECK(memcmp(part, whole, sizeof part) != 0);
    assay__weights_fill(&constant, 12345, part, 100);
    for (size_t i = 0; i < 100; i++)
        CHECK(part[i] == 0.25f);
    assay__weights_fill(&centred, 0, whole, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(whole[i] != 0 && fabsf(whole[i]) > 1e-6f); /* no zero, nothing near denormal */
    free(whole);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"half_round_trip", test_half_round_trip},
        {"half_rounding", test_half_rounding},
        {"every_type", test_every_type},
        {"loose_items", test_loose_items},
        {"external", test_external},
        {"nothing_there", test_nothing_there},
        {"generator", test_generator},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
