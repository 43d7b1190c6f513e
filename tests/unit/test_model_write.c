/* test_model_write.c - the ONNX writer: what is read is written back the same, external data keeps
 * its meaning wherever the file goes, generated weights, files beyond 2 GB, failures that leave
 * nothing behind. */
#include "model_cases.h"

#include "model/tensor_data.h"
#include "zoo/zoo.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void test_write_and_read(void)
{
    char path[64];
    struct assay__model *built = everything();
    write_temporary(built, path);
    struct assay__model *read = fixture_read(path);
    unlink(path);
    check_same_print(built, read);
    CHECK_INT(read->ir_version, 8);
    CHECK_INT(assay__model_opset(read, ""), 17);
    CHECK_INT(read->graph.node_count, 5);
    CHECK_INT(read->graph.input_count, 2);
    CHECK_STR(read->graph.inputs[0].dims[0].symbol, "batch");
    CHECK_INT(read->graph.inputs[0].dims[0].value, -1);
    CHECK_INT(read->graph.inputs[0].dims[3].value, 8);
    CHECK_INT(read->graph.inputs[1].rank, 0);
    CHECK_INT(read->graph.outputs[0].rank, -1);
    const struct assay__node *conv = &read->graph.nodes[0];
    CHECK_STR(conv->op, "Conv");
    CHECK_INT(assay__node_attr(conv, "pads")->count, 4);
    CHECK_INT(assay__node_attr(conv, "pads")->ints[3], 1);
    CHECK_STR(assay__node_attr(conv, "auto_pad")->s, "NOTSET");
    CHECK(assay__node_float(&read->graph.nodes[1], "alpha", 0) == 0.25f);
    const struct assay__attr *branch = assay__node_attr(&read->graph.nodes[3], "then_branch");
    CHECK_STR(branch->g->nodes[0].op, "Neg");
    CHECK_STR(branch->g->nodes[0].inputs[0], "f");
    CHECK_STR(read->graph.nodes[4].domain, "org.example");
    CHECK_INT(read->graph.nodes[4].input_count, 2);
    CHECK_STR(read->graph.nodes[4].inputs[1], "");
    CHECK(assay__node_attr(&read->graph.nodes[4], "scales")->floats[1] == -2.0f);
    const struct assay__tensor *shape = assay__graph_initializer(&read->graph, "shape");
    CHECK_INT(shape->elements, 2);
    CHECK(shape->data > read->mapping.data &&
          shape->data < read->mapping.data + read->mapping.size);
    int64_t second = 0;
    memcpy(&second, shape->data + 8, 8);
    CHECK_INT(second, -1);
    CHECK_INT(assay__model_check(read, NULL), 0);
    assay__model_free(read);
    assay__model_free(built);
}

/* A subgraph that was edited after reading is written from the structures; the rest of its
 * attribute is kept. */
static void test_edited_subgraph(void)
{
    char path[64];
    struct assay__model *built = everything();
    write_temporary(built, path);
    struct assay__model *read = fixture_read(path);
    struct assay__graph *inner = read->graph.nodes[3].attrs[0].g;
    inner->nodes[0].op = "Abs";
    const char *inputs[] = {"then_branch"}, *outputs[] = {"more"};
    CHECK(assay__graph_add_node(read, inner, "Sin", "added", inputs, 1, outputs, 1));
    read->graph.inputs[0].dims[0] = (struct assay__dim){7, ""}; /* an edited value, too */
    CHECK_INT(assay__node_set_float(read, &read->graph.nodes[1], "alpha", 0.5f), 0);
    write_temporary(read, path);
    struct assay__model *again = fixture_read(path);
    unlink(path);
    const struct assay__graph *edited = again->graph.nodes[3].attrs[0].g;
    CHECK_INT(edited->node_count, 2);
    CHECK_STR(edited->nodes[0].op, "Abs");
    CHECK_STR(edited->nodes[1].op, "Sin");
    CHECK_STR(again->graph.nodes[3].attrs[1].g->nodes[0].op, "Neg");
    CHECK_INT(again->graph.inputs[0].dims[0].value, 7);
    CHECK(assay__node_float(&again->graph.nodes[1], "alpha", 0) == 0.5f);
    assay__model_free(again);
    assay__model_free(read);
    assay__model_free(built);
}

/* What is not interpreted comes back byte for byte: functions, metadata, annotations, overloads,
 * denotations, sparse. */
static void test_verbatim(void)
{
    struct assay__buf model = {.data = NULL}, graph = {.data = NULL}, node = {.data = NULL},
                      inner = {.data = NULL}, value = {.data = NULL}, type = {.data = NULL};
    struct assay__model *parsed = NULL, *again = NULL;
    struct assay_error error = {.code = 0};
    char path[64];
    pb_text(&node, 1, "x");
    pb_text(&node, 2, "y");
    pb_text(&node, 4, "Relu");
    pb_text(&node, 8, "overload-1");
    pb_text(&node, 9, "\x0a\x01k");
    pb_message(&graph, 1, &node);
    pb_text(&graph, 10, "described");
    pb_int(&inner, 1, 0); /* no values: all zero */
    pb_int(&inner, 2, ASSAY__FLOAT32);
    pb_text(&inner, 8, "sparse_w");
    pb_message(&value, 1, &inner);
    pb_int(&value, 3, 5);
    pb_message(&graph, 15, &value);
    pb_text(&graph, 14, "\x0a\x01y");
    pb_text(&type, 6, "IMAGE");
    pb_text(&value, 1, "x");
    pb_message(&value, 2, &type);
    pb_text(&value, 3, "an input");
    pb_message(&graph, 11, &value);
    pb_text(&graph, 16, "\x0a\x04meta");
    pb_model(&model, &graph);
    pb_text(&model, 14, "\x0a\x05owner");
    pb_text(&model, 25,
            "\x0a\x04"
            "Func\x52\x03org");
    pb_text(&model, 99, "unknown field");
    if (pb_parse(&model, &parsed, &error)) harness_fail(__FILE__, __LINE__, error.message);
    CHECK_INT(parsed->function_count, 1);
    CHECK_STR(parsed->function_names[0], "org:Func");
    CHECK_INT(parsed->graph.sparse_count, 1);
    write_temporary(parsed, path);
    again = fixture_read(path);
    unlink(path);
    static const char *const kept[] = {"overload-1", "described", "sparse_w",
                                       "IMAGE",      "an input",  "meta",
                                       "owner",      "Func",      "unknown field"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        CHECK(memmem(again->mapping.data, again->mapping.size, kept[i], strlen(kept[i])));
    assay__model_free(again);
    assay__model_free(parsed);
    assay__buf_free(&model);
}

/* Writing what was read, reading that and writing it again gives the same bytes. */
static void test_light_models(void)
{
    char path[1024], temporary[64];
    for (size_t i = 0; i < LIGHT_COUNT; i++) {
        light_path(light_names[i], path, sizeof path);
        struct assay__model *first = fixture_read(path);
        CHECK_INT(assay__model_check(first, NULL), 0);
        write_temporary(first, temporary);
        struct assay__model *second = fixture_read(temporary);
        check_same_print(first, second);
        CHECK_INT(first->graph.node_count, second->graph.node_count);
        size_t inputs = 0;
        for (size_t k = 0; k < first->graph.input_count; k++)
            inputs += !assay__graph_is_initializer(&first->graph, first->graph.inputs[k].name);
        CHECK_INT(inputs, 1); /* IR 3 lists every initializer as an input */
        write_temporary(second, temporary);
        struct assay__model *third = fixture_read(temporary);
        unlink(temporary);
        CHECK_INT(second->mapping.size, third->mapping.size);
        CHECK_INT(memcmp(second->mapping.data, third->mapping.data, third->mapping.size), 0);
        assay__model_free(first);
        assay__model_free(second);
        assay__model_free(third);
    }
}

/* --- external data ---------------------------------------------------------------------------- */

static void expect_check(const char *path, int code, const char *says)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_read(path);
    CHECK_INT(assay__model_check(model, &error), code);
    if (code) CHECK_HAS(error.message, says);
    assay__model_free(model);
}

static void test_external_data(void)
{
    char folder[512], path[600], data[600];
    struct assay__model *model = fixture_model(17);
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    snprintf(data, sizeof data, "%s/weights.bin", folder);
    fixture_weights(model, "w", ASSAY__FLOAT32, "4");
    struct assay__tensor *tensor = &model->graph.initializers[0];
    tensor->external = true;
    tensor->data = NULL;
    tensor->location = "weights.bin";
    tensor->offset = 8;
    tensor->length = 16;
    fixture_node(model, "Relu w -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__model_write(model, path, NULL), 0);
    expect_check(path, ASSAY_ENOTFOUND, "weights.bin");
    CHECK_INT(assay__file_write(data, "0123456789abcdefghijklm", 23, NULL), 0);
    expect_check(path, ASSAY_EFORMAT, "needs bytes 8 to 24");
    CHECK_INT(assay__file_write(data, "0123456789abcdefghijklmn", 24, NULL), 0);
    expect_check(path, 0, "");
    struct assay__model *read = fixture_read(path);
    CHECK(read->graph.initializers[0].external && !read->graph.initializers[0].data);
    CHECK_INT(read->graph.initializers[0].offset, 8);
    CHECK_STR(read->graph.initializers[0].location, "weights.bin");
    assay__model_free(read);
    tensor->length = 4;
    CHECK_INT(assay__model_write(model, path, NULL), 0);
    expect_check(path, ASSAY_EFORMAT, "4 bytes of external data where its shape needs 16");
    assay__folder_remove(folder);
    assay__model_free(model);
}

/* Reading keeps the weights where they are; writing streams them; the numbers are torchvision's. */
static void test_resnet50(void)
{
    char path[64];
    int64_t elements = 0, bytes = 0;
    struct assay__model *built = NULL;
    CHECK_INT(assay__zoo_build("resnet50", &built, NULL), 0);
    CHECK(assay__model_parameters(built, &elements, &bytes));
    CHECK_INT(elements, 25557032);
    CHECK_INT(bytes, 4 * (25557032 + 53120));
    CHECK_INT(assay__model_check(built, NULL), 0);
    write_temporary(built, path);
    struct assay__model *read = fixture_read(path);
    unlink(path);
    check_same_print(built, read);
    CHECK(assay__arena_used(read->arena) < 1 << 20);
    const struct assay__tensor *a = assay__graph_initializer(&built->graph,
                                                             "layer4.2.conv3.weight");
    const struct assay__tensor *b = assay__graph_initializer(&read->graph, "layer4.2.conv3.weight");
    struct assay__tensor_view left, right;
    CHECK_INT(assay__tensor_open(built, a, &left, NULL), 0);
    CHECK_INT(assay__tensor_open(read, b, &right, NULL), 0);
    CHECK_INT(left.size, 2048 * 512 * 4);
    CHECK_INT(right.size, left.size);
    CHECK_INT(memcmp(left.data, right.data, left.size), 0);
    CHECK(right.data > read->mapping.data && !right.owned);
    assay__tensor_close(&left);
    assay__tensor_close(&right);
    assay__model_free(read);
    assay__model_free(built);
}

/* --- files ------------------------------------------------------------------------------------ */

static void test_bad_files(void)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    CHECK(assay__model_read("/no/such/model.onnx", &model, &error) < 0 && !model);
    CHECK_HAS(error.message, "/no/such/model.onnx");
    CHECK(assay__model_read("/", &model, &error) < 0 && !model);
    CHECK(assay__model_read(ASSAY_TEST_ROOT "/tests/harness.h", &model, &error) < 0);
    CHECK_HAS(error.message, "harness.h: not an ONNX model");
    model = everything();
    CHECK_INT(assay__model_write(model, "/no/such/folder/m.onnx", &error), ASSAY_EIO);
    CHECK_HAS(error.message, "/no/such/folder/m.onnx: cannot write");
    assay__model_free(model);
}

/* A full disk: the limit on file size stands in for it. Nothing is left behind. */
static void test_full_disk(void)
{
    char folder[512], path[600];
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_model(17);
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    fixture_weights(model, "w", ASSAY__FLOAT32, "100000");
    fixture_node(model, "Relu w -> y");
    fixture_output(model, "y");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {4096, 4096};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    CHECK_INT(assay__model_write(model, path, &error), ASSAY_EIO);
    CHECK_HAS(error.message, "cannot write");
    CHECK_INT(rmdir(folder), 0); /* empty */
    assay__model_free(model);
}

/* 2.2 GB in a Constant node cannot go anywhere else. Nothing is touched, nothing is written. */
static void test_two_gigabytes(void)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_model(17);
    int64_t dims[] = {2200, 1000, 1000};
    const size_t size = (size_t)2200 * 1000 * 1000;
    void *data = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) SKIP("no address space for 2.2 GB");
    struct assay__tensor tensor = {.name = "",
                                   .dtype = ASSAY__UINT8,
                                   .rank = 3,
                                   .dims = dims,
                                   .elements = (int64_t)size,
                                   .data = data,
                                   .data_size = size,
                                   .location = "",
                                   .nonzeros = -1};
    struct assay__node *node = fixture_node(model, "Constant  -> y");
    CHECK_INT(assay__node_set_int(model, node, "value", 0), 0);
    node->attrs[0].type = ASSAY__ATTR_TENSOR;
    node->attrs[0].t = &tensor;
    CHECK_INT(assay__model_write(model, "/tmp/assay-test-never-written.onnx", &error),
              ASSAY_ELIMIT);
    CHECK_HAS(error.message, "2.20 GB");
    CHECK_INT(access("/tmp/assay-test-never-written.onnx", F_OK), -1);
    munmap(data, size);
    assay__model_free(model);
}

/* --- a second file ---------------------------------------------------------------------------- */

static const struct assay__generator generator = {42, 0.0f, 0.02f};

/* Generated, in-memory and small tensors, and a subgraph's. */
static struct assay__model *weighty(void)
{
    struct assay__model *model = fixture_model(17);
    const int64_t dims[] = {300, 100};
    fixture_input(model, "x", ASSAY__FLOAT32, "4,300");
    struct assay__tensor *made = assay__graph_add_initializer(model, &model->graph, "made",
                                                              ASSAY__FLOAT32, 2, dims, NULL, 0);
    made->generator = &generator;
    fixture_weights(model, "held", ASSAY__FLOAT32, "1000");
    float *numbers = (float *)(uintptr_t)model->graph.initializers[1].data;
    for (int i = 0; i < 1000; i++)
        numbers[i] = (float)i;
    fixture_weights(model, "small", ASSAY__FLOAT32, "3");
    fixture_node(model, "MatMul x,made -> h");
    fixture_node(model, "Concat held,small -> c");
    fixture_output(model, "h");
    return model;
}

static void expect_weighty(const struct assay__model *model)
{
    float *expected = malloc(30000 * sizeof *expected), *got = malloc(30000 * sizeof *got);
    struct assay_error error = {.code = 0};
    assay__weights_fill(&generator, 0, expected, 30000);
    const struct assay__tensor *made = assay__graph_initializer(&model->graph, "made");
    if (assay__tensor_floats(model, made, got, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    CHECK_INT(memcmp(expected, got, 30000 * sizeof *got), 0);
    const struct assay__tensor *held = assay__graph_initializer(&model->graph, "held");
    CHECK_INT(assay__tensor_floats(model, held, got, &error), 0);
    for (int i = 0; i < 1000; i++)
        CHECK(got[i] == (float)i);
    CHECK_INT(assay__model_check(model, &error), 0);
    free(expected);
    free(got);
}

static void two_folders(char first[512], char second[512])
{
    CHECK_INT(assay__folder_temporary(first, 512, NULL), 0);
    CHECK_INT(assay__folder_temporary(second, 512, NULL), 0);
}

static void test_generated(void)
{
    char path[64];
    struct assay__model *built = weighty();
    CHECK_INT(assay__model_check(built, NULL), 0);
    write_temporary(built, path);
    struct assay__model *read = fixture_read(path);
    unlink(path);
    CHECK(!assay__graph_initializer(&read->graph, "made")->external);
    expect_weighty(read);
    assay__model_free(read);
    assay__model_free(built);
}

static void test_spilled(void)
{
    char first[512], second[512], a[600], b[600], c[600];
    struct assay__model *built = weighty();
    struct stat info;
    two_folders(first, second);
    snprintf(a, sizeof a, "%s/m.onnx", first);
    snprintf(b, sizeof b, "%s/n.onnx", second);
    snprintf(c, sizeof c, "%s/n.onnx", first);
    CHECK_INT(assay__onnx_write(built, a, 10000, NULL, NULL), 0);
    struct assay__model *read = fixture_read(a);
    const struct assay__tensor *made = assay__graph_initializer(&read->graph, "made");
    const struct assay__tensor *held = assay__graph_initializer(&read->graph, "held");
    CHECK(made->external && held->external);
    CHECK_STR(made->location, "m.onnx.data");
    CHECK_INT(made->length, 120000);
    CHECK_INT(held->offset % 4096, 0);
    CHECK(held->offset >= 120000);
    CHECK(!assay__graph_initializer(&read->graph, "small")->external);
    expect_weighty(read);
    /* Beside the original the reference is kept; elsewhere the data comes along. */
    CHECK_INT(assay__model_write(read, c, NULL), 0);
    struct assay__model *beside = fixture_read(c);
    CHECK_STR(assay__graph_initializer(&beside->graph, "made")->location, "m.onnx.data");
    expect_weighty(beside);
    assay__model_free(beside);
    CHECK_INT(assay__model_write(read, b, NULL), 0);
    assay__model_free(read);
    read = fixture_read(b);
    CHECK_STR(assay__graph_initializer(&read->graph, "made")->location, "n.onnx.data");
    assay__folder_remove(first);
    expect_weighty(read);
    /* Over itself, with all of its data to be written: the file it refers to is replaced. */
    struct assay__tensor *small = &read->graph.initializers[2];
    CHECK_STR(small->name, "small");
    float more[512] = {1.0f};
    small->dims = &(int64_t){512};
    small->elements = 512;
    small->data = (const uint8_t *)more;
    small->data_size = sizeof more;
    CHECK_INT(assay__onnx_write(read, b, 1000, NULL, NULL), 0);
    assay__model_free(read);
    read = fixture_read(b);
    CHECK(assay__graph_initializer(&read->graph, "small")->external);
    expect_weighty(read);
    assay__model_free(read);
    CHECK_INT(stat(b, &info), 0);
    assay__folder_remove(second);
    assay__model_free(built);
}

/* The original's data is gone: one line, and nothing is left behind. */
static void test_spilled_missing(void)
{
    char first[512], second[512], a[600], b[600], data[600];
    struct assay_error error = {.code = 0};
    struct assay__model *built = weighty();
    two_folders(first, second);
    snprintf(a, sizeof a, "%s/m.onnx", first);
    snprintf(data, sizeof data, "%s/m.onnx.data", first);
    snprintf(b, sizeof b, "%s/n.onnx", second);
    CHECK_INT(assay__onnx_write(built, a, 10000, NULL, NULL), 0);
    struct assay__model *read = fixture_read(a);
    CHECK_INT(unlink(data), 0);
    CHECK_INT(assay__model_write(read, b, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "m.onnx.data");
    CHECK_INT(rmdir(second), 0); /* empty */
    CHECK_INT(assay__model_check(read, &error), ASSAY_ENOTFOUND);
    assay__model_free(read);
    assay__model_free(built);
    assay__folder_remove(first);
}

/* A model is written over the file it was read from: its mapping stays good. */
static void test_overwrite(void)
{
    char path[64];
    struct assay__model *built = weighty();
    write_temporary(built, path);
    struct assay__model *read = fixture_read(path);
    CHECK_INT(assay__model_set_metadata(read, "note", "again"), 0);
    CHECK_INT(assay__model_write(read, path, NULL), 0);
    expect_weighty(read);
    struct assay__model *again = fixture_read(path);
    unlink(path);
    expect_weighty(again);
    CHECK_STR(assay__model_metadata(again, "note"), "again");
    assay__model_free(again);
    assay__model_free(read);
    assay__model_free(built);
}

/* --- what is edited --------------------------------------------------------------------------- */

static void test_metadata(void)
{
    char path[64];
    struct assay__model *model = everything();
    CHECK(!assay__model_metadata(model, "wiring"));
    CHECK_INT(assay__model_set_metadata(model, "wiring", "first"), 0);
    CHECK_INT(assay__model_set_metadata(model, "empty", ""), 0);
    struct assay__buf large = {.data = NULL};
    assay__buf_repeat(&large, "0123456789", 2000); /* a length of three bytes */
    CHECK_INT(assay__model_set_metadata(model, "large", large.data), 0);
    CHECK_INT(assay__model_set_metadata(model, "wiring", "second"), 0);
    write_temporary(model, path);
    struct assay__model *read = fixture_read(path);
    unlink(path);
    CHECK_STR(assay__model_metadata(read, "wiring"), "second");
    CHECK_STR(assay__model_metadata(read, "empty"), "");
    CHECK_STR(assay__model_metadata(read, "large"), large.data);
    CHECK(!assay__model_metadata(read, "wirin"));
    CHECK(!memmem(read->extra, read->extra_size, "first", 5));
    assay__buf_free(&large);
    assay__model_free(read);
    assay__model_free(model);
}

/* A large typed field stays undecoded; renamed, its numbers still come back. */
static void test_renamed_undecoded(void)
{
    enum { COUNT = ASSAY__ONNX_DECODE + 10 };
    struct assay__buf tensor = {.data = NULL}, graph = {.data = NULL}, bytes = {.data = NULL};
    struct assay__model *model = NULL;
    char path[64];
    pb_int(&tensor, 1, COUNT);
    pb_int(&tensor, 2, ASSAY__INT32);
    for (int i = 0; i < COUNT; i++)
        pb_int(&tensor, 5, (uint64_t)(int64_t)(i - 5));
    pb_text(&tensor, 8, "t");
    pb_text(&tensor, 12, "described");
    pb_message(&graph, 5, &tensor);
    pb_model(&bytes, &graph);
    CHECK_INT(pb_parse(&bytes, &model, NULL), 0);
    CHECK(!model->graph.initializers[0].data);
    model->graph.initializers[0].name = "renamed";
    write_temporary(model, path);
    struct assay__model *read = fixture_read(path);
    unlink(path);
    CHECK(memmem(read->mapping.data, read->mapping.size, "described", 9));
    float *numbers = malloc(COUNT * sizeof *numbers);
    const struct assay__tensor *renamed = assay__graph_initializer(&read->graph, "renamed");
    CHECK_INT(assay__tensor_floats(read, renamed, numbers, NULL), 0);
    for (int i = 0; i < COUNT; i++)
        CHECK(numbers[i] == (float)(i - 5));
    free(numbers);
    assay__model_free(read);
    assay__model_free(model);
    assay__buf_free(&bytes);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"write_and_read", test_write_and_read},
        {"edited_subgraph", test_edited_subgraph},
        {"verbatim", test_verbatim},
        {"light_models", test_light_models},
        {"external_data", test_external_data},
        {"resnet50", test_resnet50},
        {"bad_files", test_bad_files},
        {"full_disk", test_full_disk},
        {"two_gigabytes", test_two_gigabytes},
        {"generated", test_generated},
        {"spilled", test_spilled},
        {"spilled_missing", test_spilled_missing},
        {"overwrite", test_overwrite},
        {"metadata", test_metadata},
        {"renamed_undecoded", test_renamed_undecoded},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
