/* test_model.c - the ONNX reader and writer, the check, the order, fingerprints, SHA-256.
 * Untrusted bytes above all: every truncation, flipped bytes, lying lengths, depth; and that
 * what is read is written back the same. */
#include "model_fixture.h"

#include "model/onnx.h"
#include "model/sha256.h"
#include "model/wire.h"
#include "zoo/zoo.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* --- wire ------------------------------------------------------------------------------------- */

static void test_wire_varints(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool good;
        uint64_t value;
    } rows[] = {
        {"\x00", 1, true, 0},
        {"\x7f", 1, true, 127},
        {"\xac\x02", 2, true, 300},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true, UINT64_MAX},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81", 10, false, 0},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11, false, 0},
        {"\x80", 1, false, 0},
        {"", 0, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__wire wire = assay__wire_over((const uint8_t *)rows[i].bytes, rows[i].size);
        uint64_t value = 0;
        CHECK_INT(assay__wire_varint(&wire, &value), rows[i].good);
        if (rows[i].good) CHECK(value == rows[i].value);
    }
}

static void test_wire_fields(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        enum assay__wire_status status;
    } rows[] = {
        {"\x08\x05", 2, ASSAY__WIRE_FIELD},
        {"\x12\x02hi", 4, ASSAY__WIRE_FIELD},
        {"\x12\x03hi", 4, ASSAY__WIRE_CUT},
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, ASSAY__WIRE_CUT}, /* length 2^64 - 1 */
        {"\x0d\x01\x02\x03", 4, ASSAY__WIRE_CUT},
        {"\x09\x01\x02\x03\x04\x05\x06\x07", 8, ASSAY__WIRE_CUT},
        {"\x00\x01", 2, ASSAY__WIRE_BAD}, /* field number 0 */
        {"\x0b", 1, ASSAY__WIRE_BAD},     /* a group */
        {"\x0e", 1, ASSAY__WIRE_BAD},     /* type 6 */
        {"", 0, ASSAY__WIRE_END},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__wire wire = assay__wire_over((const uint8_t *)rows[i].bytes, rows[i].size);
        struct assay__wire_field field;
        CHECK_INT(assay__wire_next(&wire, &field), rows[i].status);
    }
}

/* --- a model with a bit of everything --------------------------------------------------------- */

static void add_attr_graph(struct assay__model *model, struct assay__node *node, const char *name,
                           const char *from)
{
    CHECK_INT(assay__node_set_int(model, node, name, 0), 0); /* then turned into a graph */
    struct assay__attr *attr = &node->attrs[node->attr_count - 1];
    const char *inputs[] = {from}, *outputs[] = {name};
    attr->type = ASSAY__ATTR_GRAPH;
    attr->g = assay__arena_alloc(model->arena, sizeof *attr->g);
    attr->g->name = name;
    CHECK(assay__graph_add_node(model, attr->g, "Neg", "inner", inputs, 1, outputs, 1));
    CHECK_INT(assay__graph_add_value(model, &attr->g->outputs, &attr->g->output_count, name,
                                     ASSAY__FLOAT32, -1, NULL),
              0);
}

static struct assay__model *everything(void)
{
    static const int64_t pads[] = {1, 1, 1, 1}, shape[] = {0, -1};
    static const float scales[] = {0.5f, -2.0f};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "batch,3,8,8");
    fixture_input(model, "flag", ASSAY__BOOL, "");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,3,3,3");
    fixture_ints(model, "shape", 2, shape);
    struct assay__node *node = fixture_node(model, "Conv x,w -> c");
    CHECK_INT(assay__node_set_ints(model, node, "pads", pads, 4), 0);
    CHECK_INT(assay__node_set_string(model, node, "auto_pad", "NOTSET"), 0);
    node = fixture_node(model, "LeakyRelu c -> r");
    CHECK_INT(assay__node_set_float(model, node, "alpha", 0.25f), 0);
    fixture_node(model, "Reshape r,shape -> f");
    node = fixture_node(model, "If flag -> y");
    add_attr_graph(model, node, "then_branch", "f");
    add_attr_graph(model, node, "else_branch", "f");
    node = fixture_node(model, "Custom y, -> z");
    node->domain = "org.example";
    CHECK_INT(assay__node_set_floats(model, node, "scales", scales, 2), 0);
    fixture_output(model, "y");
    fixture_output(model, "z");
    return model;
}

static void write_temporary(const struct assay__model *model, char path[64])
{
    struct assay_error error = {.code = 0};
    snprintf(path, 64, "/tmp/assay-test-model-%ld.onnx", (long)getpid());
    if (assay__model_write(model, path, &error)) harness_fail(__FILE__, __LINE__, error.message);
}

static void check_same_print(const struct assay__model *a, const struct assay__model *b)
{
    char first[17], second[17];
    CHECK_INT(assay__model_fingerprint(a, first), 0);
    CHECK_INT(assay__model_fingerprint(b, second), 0);
    CHECK_STR(first, second);
}

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
    pb_text(&inner, 8, "sparse_w");
    pb_message(&value, 1, &inner);
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

/* --- bad bytes -------------------------------------------------------------------------------- */

static char *file_bytes(const struct assay__model *model, size_t *size)
{
    char path[64], *bytes = NULL;
    write_temporary(model, path);
    CHECK_INT(assay__file_read(path, 1 << 20, &bytes, size, NULL), 0);
    unlink(path);
    return bytes;
}

/* The prefix is copied, so that a sanitizer sees a read past its end. */
static int parse_copy(const char *bytes, size_t size, struct assay_error *error)
{
    struct assay__model *model = NULL;
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    int code = assay__model_parse(copy, size, &model, error);
    CHECK((code == 0) == (model != NULL));
    assay__model_free(model);
    free(copy);
    return code;
}

static void test_cut_at_every_byte(void)
{
    struct assay__model *model = everything();
    size_t size = 0, middle = 0;
    char *bytes = file_bytes(model, &size);
    for (size_t cut = 0; cut < size; cut++) {
        struct assay_error error = {.code = 0};
        CHECK_INT(parse_copy(bytes, cut, &error), ASSAY_EFORMAT);
        CHECK(strlen(error.message) > 10 && !strchr(error.message, '\n'));
        middle += strstr(error.message, "ends in the middle of the graph") != NULL;
    }
    CHECK(middle > size / 2);
    CHECK_INT(parse_copy(bytes, size, NULL), 0);
    free(bytes);
    assay__model_free(model);
}

/* Any one byte replaced: an error of one line or a model, never a crash (the sanitizers judge). */
static void test_flipped_bytes(void)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct assay__model *model = everything();
    size_t size = 0, refused = 0;
    char *bytes = file_bytes(model, &size);
    for (size_t at = 0; at < size; at++) {
        char kept = bytes[at];
        for (size_t v = 0; v < sizeof values; v++) {
            struct assay_error error = {.code = 0};
            bytes[at] = (char)values[v];
            if (parse_copy(bytes, size, &error) == 0) continue;
            CHECK(*error.message && !strchr(error.message, '\n'));
            refused++;
        }
        bytes[at] = kept;
    }
    CHECK(refused > size);
    free(bytes);
    assay__model_free(model);
}

static void test_garbage(void)
{
    static const struct {
        const char *bytes;
        size_t size;
    } rows[] = {
        {"", 0},
        {"hello, world\n", 13},
        {"PK\x03\x04\x14\x00\x00\x00", 8},
        {"\x7f"
         "ELF\x02\x01\x01",
         7},
        {"{\"nodes\": []}", 13},
        {"\x93NUMPY\x01\x00", 8},
        {"\0\0\0\0\0\0\0\0", 8},
        {"\x08\x08", 2},                                  /* only an IR version */
        {"\x3a\x00", 2},                                  /* only an empty graph */
        {"\x08\x00\x3a\x00", 4},                          /* IR version 0 */
        {"\x08\x08\x3a\x00", 4},                          /* no operator set */
        {"\x08\x08\x3a\x00\x3a\x00\x42\x02\x10\x11", 10}, /* two graphs */
        {"\x0a\x01x\x3a\x00\x42\x02\x10\x11", 9},         /* the IR version is a string */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay_error error = {.code = 0};
        CHECK_INT(parse_copy(rows[i].bytes, rows[i].size, &error), ASSAY_EFORMAT);
        bool says = strstr(error.message, "not an ONNX model") ||
                    strstr(error.message, "operator set");
        CHECK(says);
    }
    uint64_t state = 1;
    for (int round = 0; round < 20000; round++) {
        char bytes[64];
        for (size_t i = 0; i < sizeof bytes; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (char)(state >> 56);
        }
        CHECK_INT(parse_copy(bytes, sizeof bytes, NULL), ASSAY_EFORMAT);
    }
}

/* A Loop in a Loop in a Loop …: `depth` graphs inside the model's. */
static int parse_nested(int depth, struct assay_error *error)
{
    struct assay__buf graph = {.data = NULL}, model = {.data = NULL};
    struct assay__model *parsed = NULL;
    for (int i = 0; i < depth; i++) {
        struct assay__buf attr = {.data = NULL}, node = {.data = NULL};
        pb_text(&attr, 1, "body");
        pb_message(&attr, 6, &graph);
        pb_int(&attr, 20, ASSAY__ATTR_GRAPH);
        pb_text(&node, 4, "Loop");
        pb_message(&node, 5, &attr);
        pb_message(&graph, 1, &node);
    }
    pb_model(&model, &graph);
    int code = pb_parse(&model, &parsed, error);
    assay__model_free(parsed);
    assay__buf_free(&model);
    return code;
}

static void test_depth(void)
{
    struct assay_error error = {.code = 0};
    CHECK_INT(parse_nested(ASSAY__ONNX_DEPTH - 1, &error), 0);
    CHECK_INT(parse_nested(ASSAY__ONNX_DEPTH, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "deeper than 32");
    CHECK_INT(parse_nested(5000, &error), ASSAY_EFORMAT);
}

/* --- tensors ---------------------------------------------------------------------------------- */

/* A model with one initializer whose TensorProto is `tensor` (emptied). */
static int parse_tensor(struct assay__buf *tensor, struct assay__model **parsed,
                        struct assay__buf *bytes, struct assay_error *error)
{
    struct assay__buf graph = {.data = NULL};
    pb_text(tensor, 8, "t");
    pb_message(&graph, 5, tensor);
    assay__buf_clear(bytes);
    pb_model(bytes, &graph);
    return pb_parse(bytes, parsed, error);
}

static void tensor_head(struct assay__buf *tensor, uint64_t dim, int dtype)
{
    pb_int(tensor, 1, dim);
    pb_int(tensor, 2, (uint64_t)dtype);
}

static void expect_data(struct assay__buf *tensor, const void *expected, size_t size)
{
    struct assay__buf bytes = {.data = NULL};
    struct assay__model *model = NULL;
    struct assay_error error = {.code = 0};
    if (parse_tensor(tensor, &model, &bytes, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    const struct assay__tensor *read = &model->graph.initializers[0];
    CHECK_INT(read->data_size, size);
    CHECK_INT(memcmp(read->data, expected, size), 0);
    assay__model_free(model);
    assay__buf_free(&bytes);
}

static void test_typed_fields(void)
{
    struct assay__buf tensor = {.data = NULL};
    static const float floats[] = {1.5f, -2.0f};
    tensor_head(&tensor, 2, ASSAY__FLOAT32); /* packed: stays where it is */
    pb_bytes(&tensor, 4, floats, sizeof floats);
    expect_data(&tensor, floats, sizeof floats);
    tensor_head(&tensor, 2, ASSAY__FLOAT32); /* one field each */
    for (int i = 0; i < 2; i++) {
        pb_varint(&tensor, 4 << 3 | 5);
        assay__buf_add(&tensor, &floats[i], 4);
    }
    expect_data(&tensor, floats, sizeof floats);
    static const int64_t longs[] = {-1, 300, INT64_MIN};
    tensor_head(&tensor, 3, ASSAY__INT64);
    for (int i = 0; i < 3; i++)
        pb_int(&tensor, 7, (uint64_t)longs[i]);
    expect_data(&tensor, longs, sizeof longs);
    tensor_head(&tensor, 3, ASSAY__INT8); /* int32_data narrows; negative numbers take ten bytes */
    pb_int(&tensor, 5, (uint64_t)-2);
    pb_bytes(&tensor, 5, "\x7f\x00", 2);
    expect_data(&tensor, "\xfe\x7f\x00", 3);
    tensor_head(&tensor, 2, ASSAY__FLOAT16);
    pb_bytes(&tensor, 5, "\x80\x78\x80\xf8\x02", 5); /* 0x3c00, 0xbc00 */
    expect_data(&tensor, "\x00\x3c\x00\xbc", 4);
    tensor_head(&tensor, 1, ASSAY__UINT32);
    pb_int(&tensor, 11, 0xdeadbeef);
    expect_data(&tensor, "\xef\xbe\xad\xde", 4);
    tensor_head(&tensor, 3, ASSAY__UINT4); /* two to a byte */
    pb_bytes(&tensor, 5, "\x21\x03", 2);
    expect_data(&tensor, "\x21\x03", 2);
}

static void test_string_tensor(void)
{
    struct assay__buf tensor = {.data = NULL}, bytes = {.data = NULL};
    struct assay__model *model = NULL;
    tensor_head(&tensor, 2, ASSAY__STRING);
    pb_text(&tensor, 6, "one");
    pb_text(&tensor, 6, "");
    CHECK_INT(parse_tensor(&tensor, &model, &bytes, NULL), 0);
    CHECK_INT(model->graph.initializers[0].string_count, 2);
    CHECK_STR(model->graph.initializers[0].strings[0], "one");
    CHECK_STR(model->graph.initializers[0].strings[1], "");
    assay__model_free(model);
    assay__buf_free(&bytes);
}

static void expect_refused(struct assay__buf *tensor, const char *says)
{
    struct assay__buf bytes = {.data = NULL};
    struct assay__model *model = NULL;
    struct assay_error error = {.code = 0};
    CHECK_INT(parse_tensor(tensor, &model, &bytes, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, says);
    CHECK_HAS(error.message, "byte ");
    assay__buf_free(&bytes);
}

static void external_entry(struct assay__buf *tensor, const char *key, const char *value)
{
    struct assay__buf entry = {.data = NULL};
    pb_text(&entry, 1, key);
    pb_text(&entry, 2, value);
    pb_message(tensor, 13, &entry);
}

static void test_lying_tensors(void)
{
    struct assay__buf tensor = {.data = NULL};
    tensor_head(&tensor, 3, ASSAY__FLOAT32);
    pb_bytes(&tensor, 9, "12345678", 8);
    expect_refused(&tensor, "has 8 bytes of data where its shape needs 12");
    tensor_head(&tensor, 2, ASSAY__INT64);
    pb_int(&tensor, 7, 1);
    expect_refused(&tensor, "has 1 values where its shape needs 2");
    for (int i = 0; i < 3; i++)
        pb_int(&tensor, 1, UINT64_C(1) << 40);
    pb_int(&tensor, 2, ASSAY__FLOAT32);
    expect_refused(&tensor, "impossible shape");
    tensor_head(&tensor, (uint64_t)-5, ASSAY__FLOAT32);
    expect_refused(&tensor, "impossible shape");
    tensor_head(&tensor, 2, 77);
    expect_refused(&tensor, "unknown data type 77");
    for (int i = 0; i < 65; i++)
        pb_int(&tensor, 1, 1);
    expect_refused(&tensor, "more than 64 dimensions");
    static const char *const outside[] = {"/etc/passwd", "../weights", "a/../../b", "",
                                          "C:\\w",       "..\\w"};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        tensor_head(&tensor, 2, ASSAY__FLOAT32);
        external_entry(&tensor, "location", outside[i]);
        pb_int(&tensor, 14, 1);
        expect_refused(&tensor, "not inside the model's folder");
    }
    tensor_head(&tensor, 2, ASSAY__FLOAT32);
    external_entry(&tensor, "offset", "-1");
    pb_int(&tensor, 14, 1);
    expect_refused(&tensor, "offset is '-1'");
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

/* --- check and order -------------------------------------------------------------------------- */

static void test_check(void)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1");
    fixture_node(model, "Relu nowhere -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "'nowhere', which nothing produces");
    model->graph.nodes[0].inputs[0] = "x";
    CHECK_INT(assay__model_check(model, &error), 0);
    fixture_node(model, "Neg x -> y");
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "'y' is produced twice");
    model->graph.nodes[1].outputs[0] = "z";
    fixture_output(model, "missing");
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "nothing produces the output 'missing'");
    assay__model_free(model);
    model = everything();
    model->graph.nodes[3].attrs[0].g->nodes[0].inputs[0] = "gone";
    CHECK_INT(assay__model_check(model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "'gone'");
    assay__model_free(model);
}

static void test_order(void)
{
    size_t order[5];
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1");
    fixture_node(model, "Add b,c -> d"); /* 0: last */
    fixture_node(model, "Neg a -> c");   /* 1 */
    fixture_node(model, "Relu x -> a");  /* 2: first */
    fixture_node(model, "Abs a -> b");   /* 3 */
    CHECK_INT(assay__graph_order(&model->graph, order, &error), 0);
    static const size_t expected[] = {2, 1, 3, 0};
    CHECK_INT(memcmp(order, expected, sizeof expected), 0);
    model->graph.nodes[2].inputs[0] = "d";
    CHECK_INT(assay__graph_order(&model->graph, order, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "cycle through node");
    assay__model_free(model);
    /* A subgraph's captured value is a dependency: move the If in front of what it captures. */
    model = everything();
    struct assay__node branch = model->graph.nodes[3];
    memmove(&model->graph.nodes[1], &model->graph.nodes[0], 3 * sizeof branch);
    model->graph.nodes[0] = branch;
    CHECK_INT(assay__graph_order(&model->graph, order, &error), 0);
    static const size_t after[] = {1, 2, 3, 0, 4};
    CHECK_INT(memcmp(order, after, sizeof after), 0);
    assay__model_free(model);
}

static void test_long_chain(void)
{
    enum { LENGTH = 20000 };
    struct assay__model *model = fixture_model(17);
    size_t *order = calloc(LENGTH, sizeof *order);
    fixture_input(model, "0", ASSAY__FLOAT32, "1");
    for (int i = LENGTH; i > 0; i--) { /* written backwards */
        char from[16], to[16];
        const char *in[] = {from}, *out[] = {to};
        snprintf(from, sizeof from, "%d", i - 1);
        snprintf(to, sizeof to, "%d", i);
        CHECK(assay__graph_add_node(model, &model->graph, "Relu", "", in, 1, out, 1));
    }
    CHECK_INT(assay__graph_order(&model->graph, order, NULL), 0);
    for (size_t i = 0; i < LENGTH; i++)
        CHECK_INT(order[i], LENGTH - 1 - i);
    free(order);
    assay__model_free(model);
}

/* --- fingerprint and parameters --------------------------------------------------------------- */

static void test_fingerprint(void)
{
    char first[17], other[17];
    struct assay__model *model = everything();
    CHECK_INT(assay__model_fingerprint(model, first), 0);
    CHECK_INT(strspn(first, "0123456789abcdef"), 16);
    model->graph.nodes[0].outputs[0] = model->graph.nodes[1].inputs[0] = "renamed";
    model->graph.nodes[0].name = "also renamed";
    CHECK_INT(assay__model_fingerprint(model, other), 0);
    CHECK_STR(other, first);
    CHECK_INT(assay__node_set_float(model, &model->graph.nodes[1], "alpha", 0.26f), 0);
    CHECK_INT(assay__model_fingerprint(model, other), 0);
    CHECK(strcmp(other, first) != 0);
    CHECK_INT(assay__node_set_float(model, &model->graph.nodes[1], "alpha", 0.25f), 0);
    model->graph.inputs[0].dims[2].value = 9;
    CHECK_INT(assay__model_fingerprint(model, other), 0);
    CHECK(strcmp(other, first) != 0);
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
    CHECK_INT(a->data_size, 2048 * 512 * 4);
    CHECK_INT(memcmp(a->data, b->data, a->data_size), 0);
    assay__model_free(read);
    assay__model_free(built);
}

/* Weights in Constant nodes of the branches count; the lone factors there are bytes, not parameters. */
static void test_constant_weights(void)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    int64_t elements = 0, bytes = 0;
    CHECK_INT(assay__model_read(ASSAY_TEST_ROOT "/tests/fixtures/models/layers/constants.onnx",
                                &model, &error),
              0);
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, 2 * 4 * 8);
    CHECK_INT(bytes, (2 * 4 * 8 + 2) * 4);
    assay__model_free(model);
}

static void test_zoo_parameters(void)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    CHECK_INT(assay__zoo_build("resnet50:batch=4,classes=10,image=64", &model, &error), 0);
    CHECK_INT(model->graph.inputs[0].dims[0].value, 4);
    CHECK_INT(model->graph.inputs[0].dims[2].value, 64);
    CHECK_INT(model->graph.outputs[0].dims[1].value, 10);
    assay__model_free(model);
    static const struct {
        const char *name, *says;
        int code;
    } rows[] = {
        {"resnet", "nearest is 'resnet50'", ASSAY_ENOTFOUND},
        {"resnet50:clases=3", "nearest is 'classes'", ASSAY_EINVAL},
        {"resnet50:batch=0", "a whole number from 1 to", ASSAY_EINVAL},
        {"resnet50:batch=two", "batch=two", ASSAY_EINVAL},
        {"resnet50:batch", "not key=value", ASSAY_EINVAL},
        {"resnet50:image=64,image=65", "given twice", ASSAY_EINVAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_INT(assay__zoo_build(rows[i].name, &model, &error), rows[i].code);
        CHECK(!model);
        CHECK_HAS(error.message, rows[i].says);
    }
    CHECK(assay__zoo_knows("resnet50:batch=8") && !assay__zoo_knows("resnet50.onnx"));
    CHECK(assay__zoo_at(0) && !assay__zoo_at(1000));
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

static void test_two_gigabytes(void)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = fixture_model(17);
    const int64_t dims[] = {2200, 1000, 1000};
    const size_t size = (size_t)2200 * 1000 * 1000;
    void *data = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0); /* never touched */
    if (data == MAP_FAILED) SKIP("no address space for 2.2 GB");
    CHECK(
        assay__graph_add_initializer(model, &model->graph, "w", ASSAY__UINT8, 3, dims, data, size));
    CHECK_INT(assay__model_write(model, "/tmp/assay-test-never-written.onnx", &error),
              ASSAY_ELIMIT);
    CHECK_HAS(error.message, "2.20 GB");
    CHECK_INT(access("/tmp/assay-test-never-written.onnx", F_OK), -1);
    munmap(data, size);
    assay__model_free(model);
}

static void hex_of(const char *text, size_t size, size_t times, char out[65])
{
    struct assay__sha256 sha;
    uint8_t digest[32];
    assay__sha256_start(&sha);
    for (size_t i = 0; i < times; i++)
        assay__sha256_add(&sha, text, size);
    assay__sha256_end(&sha, digest);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* FIPS 180-4 examples and NIST's long message. */
static void test_sha256(void)
{
    char hex[65];
    hex_of("", 0, 1, hex);
    CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hex_of("abc", 3, 1, hex);
    CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 1, hex);
    CHECK_STR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char million[65];
    struct assay__buf buf = {.data = NULL};
    assay__buf_repeat(&buf, "a", 1000000);
    hex_of(buf.data, buf.length, 1, million);
    CHECK_STR(million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    hex_of("aaaaa", 5, 200000, hex); /* in pieces that straddle blocks */
    CHECK_STR(hex, million);
    char path[64];
    snprintf(path, sizeof path, "/tmp/assay-test-sha-%ld", (long)getpid());
    CHECK_INT(assay__file_write(path, buf.data, buf.length, NULL), 0);
    CHECK_INT(assay__sha256_file(path, hex, NULL), 0);
    CHECK_STR(hex, million);
    unlink(path);
    CHECK_INT(assay__sha256_file(path, hex, NULL), ASSAY_ENOTFOUND);
    assay__buf_free(&buf);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"wire_varints", test_wire_varints},
        {"wire_fields", test_wire_fields},
        {"write_and_read", test_write_and_read},
        {"edited_subgraph", test_edited_subgraph},
        {"verbatim", test_verbatim},
        {"light_models", test_light_models},
        {"cut_at_every_byte", test_cut_at_every_byte},
        {"flipped_bytes", test_flipped_bytes},
        {"garbage", test_garbage},
        {"depth", test_depth},
        {"typed_fields", test_typed_fields},
        {"string_tensor", test_string_tensor},
        {"lying_tensors", test_lying_tensors},
        {"external_data", test_external_data},
        {"check", test_check},
        {"order", test_order},
        {"long_chain", test_long_chain},
        {"fingerprint", test_fingerprint},
        {"resnet50", test_resnet50},
        {"zoo_parameters", test_zoo_parameters},
        {"constant_weights", test_constant_weights},
        {"bad_files", test_bad_files},
        {"full_disk", test_full_disk},
        {"two_gigabytes", test_two_gigabytes},
        {"sha256", test_sha256},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
