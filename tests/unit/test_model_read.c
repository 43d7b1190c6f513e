/* test_model_read.c - the ONNX reader. Untrusted bytes above all: every truncation, flipped bytes,
 * lying lengths, depth, impossible shapes, sparse tensors, functions, versions. */
#include "model_cases.h"

#include "model/wire.h"

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
        expect_refused(&tensor, "outside the model's folder");
    }
    tensor_head(&tensor, 2, ASSAY__FLOAT32);
    external_entry(&tensor, "offset", "-1");
    pb_int(&tensor, 14, 1);
    expect_refused(&tensor, "offset is '-1'");
}

/* --- sparse tensors --------------------------------------------------------------------------- */

/* A 3 x 4 tensor named "s" with two values at linear places; the places' shape and the values'
 * count can lie. */
static void sparse_message(struct assay__buf *out, int64_t rows, uint64_t values, uint64_t places)
{
    static const float numbers[] = {1.5f, -2.0f, 3.0f, 4.0f};
    static const int64_t at[] = {1, 11, 0, 0};
    struct assay__buf inner = {.data = NULL};
    pb_int(&inner, 1, values);
    pb_int(&inner, 2, ASSAY__FLOAT32);
    pb_text(&inner, 8, "s");
    pb_bytes(&inner, 9, numbers, values * sizeof *numbers);
    pb_message(out, 1, &inner);
    pb_int(&inner, 1, places);
    pb_int(&inner, 2, ASSAY__INT64);
    pb_bytes(&inner, 9, at, places * sizeof *at);
    pb_message(out, 2, &inner);
    pb_int(out, 3, (uint64_t)rows);
    pb_int(out, 3, 4);
}

static int parse_sparse(struct assay__buf *sparse, struct assay__buf *bytes,
                        struct assay__model **model, struct assay_error *error)
{
    struct assay__buf graph = {.data = NULL};
    pb_message(&graph, 15, sparse);
    assay__buf_clear(bytes);
    pb_model(bytes, &graph);
    return pb_parse(bytes, model, error);
}

static void test_sparse(void)
{
    struct assay__buf sparse = {.data = NULL}, bytes = {.data = NULL};
    struct assay__model *model = NULL;
    struct assay_error error = {.code = 0};
    int64_t elements = 0, size = 0;
    sparse_message(&sparse, 3, 2, 2);
    CHECK_INT(parse_sparse(&sparse, &bytes, &model, &error), 0);
    CHECK_INT(model->graph.sparse_count, 1);
    const struct assay__tensor *tensor = assay__graph_initializer(&model->graph, "s");
    CHECK(tensor && assay__graph_is_initializer(&model->graph, "s"));
    CHECK_INT(tensor->rank, 2);
    CHECK_INT(tensor->dims[1], 4);
    CHECK_INT(tensor->elements, 12);
    CHECK_INT(tensor->nonzeros, 2);
    CHECK_INT(tensor->sparse_bytes, 2 * 4 + 2 * 8);
    CHECK(assay__model_parameters(model, &elements, &size));
    CHECK_INT(elements, 12);
    CHECK_INT(size, 24);
    assay__model_free(model);
    static const struct {
        int64_t rows;
        uint64_t values, places;
        const char *says;
    } rows[] = {
        {3, 2, 1, "do not match"},
        {-3, 2, 2, "tensor 's' has an impossible shape"},
        {INT64_C(1) << 62, 2, 2, "impossible shape"},
        {0, 2, 2, "do not match"}, /* more values than the shape has room for */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sparse_message(&sparse, rows[i].rows, rows[i].values, rows[i].places);
        CHECK_INT(parse_sparse(&sparse, &bytes, &model, &error), ASSAY_EFORMAT);
        CHECK_HAS(error.message, rows[i].says);
    }
    pb_int(&sparse, 3, 2);
    CHECK_INT(parse_sparse(&sparse, &bytes, &model, &error), ASSAY_EFORMAT);
    CHECK_HAS(error.message, "has no values");
    assay__buf_free(&bytes);
}

/* A Constant's sparse_value is a tensor too. */
static void test_sparse_constant(void)
{
    struct assay__buf sparse = {.data = NULL}, attr = {.data = NULL}, node = {.data = NULL},
                      graph = {.data = NULL}, bytes = {.data = NULL};
    struct assay__model *model = NULL;
    sparse_message(&sparse, 3, 2, 2);
    pb_text(&attr, 1, "sparse_value");
    pb_message(&attr, 22, &sparse);
    pb_int(&attr, 20, ASSAY__ATTR_SPARSE_TENSOR);
    pb_text(&node, 2, "y");
    pb_text(&node, 4, "Constant");
    pb_message(&node, 5, &attr);
    pb_message(&graph, 1, &node);
    pb_model(&bytes, &graph);
    CHECK_INT(pb_parse(&bytes, &model, NULL), 0);
    const struct assay__attr *read = assay__node_attr(&model->graph.nodes[0], "sparse_value");
    CHECK_INT(read->type, ASSAY__ATTR_SPARSE_TENSOR);
    CHECK_INT(read->t->elements, 12);
    CHECK_INT(read->t->nonzeros, 2);
    assay__model_free(model);
    assay__buf_free(&bytes);
}

/* --- functions and versions ------------------------------------------------------------------- */

static void test_function(void)
{
    struct assay__buf function = {.data = NULL}, node = {.data = NULL}, attr = {.data = NULL},
                      opset = {.data = NULL}, graph = {.data = NULL}, bytes = {.data = NULL};
    struct assay__model *model = NULL;
    pb_text(&attr, 1, "alpha");
    pb_int(&attr, 20, ASSAY__ATTR_FLOAT);
    pb_text(&attr, 21, "slope");
    pb_text(&node, 1, "a");
    pb_text(&node, 2, "r");
    pb_text(&node, 4, "Elu");
    pb_message(&node, 5, &attr);
    pb_text(&function, 1, "Bend");
    pb_text(&function, 4, "a");
    pb_text(&function, 5, "r");
    pb_text(&function, 6, "slope");
    pb_message(&function, 7, &node);
    pb_int(&opset, 2, 17);
    pb_message(&function, 9, &opset);
    pb_text(&function, 10, "local");
    pb_text(&attr, 1, "depth");
    pb_int(&attr, 3, 7);
    pb_int(&attr, 20, ASSAY__ATTR_INT);
    pb_message(&function, 11, &attr);
    pb_text(&function, 13, "second");
    pb_model(&bytes, &graph);
    pb_message(&bytes, 25, &function);
    CHECK_INT(pb_parse(&bytes, &model, NULL), 0);
    CHECK_INT(model->function_count, 1);
    CHECK_STR(model->function_names[0], "local:Bend");
    const struct assay__function *read = &model->functions[0];
    CHECK_STR(read->overload, "second");
    CHECK_INT(read->input_count, 1);
    CHECK_STR(read->outputs[0], "r");
    CHECK_STR(read->attributes[0], "slope");
    CHECK_STR(read->defaults[0].name, "depth");
    CHECK_INT(read->defaults[0].i, 7);
    CHECK_INT(read->opsets[0].version, 17);
    CHECK_INT(read->body->node_count, 1);
    CHECK_STR(read->body->nodes[0].attrs[0].reference, "slope");
    assay__model_free(model);
    assay__buf_free(&bytes);
}

/* Every IR version is read, newer ones than we know too; what is no version is refused. */
static void test_versions(void)
{
    static const struct {
        uint64_t ir, opset;
        int code;
    } rows[] = {{3, 7, 0},   {8, 17, 0},  {13, 24, 0},
                {14, 40, 0}, {0, 17, -4}, {UINT64_C(1) << 40, 17, -4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__buf bytes = {.data = NULL}, opset = {.data = NULL};
        struct assay__model *model = NULL;
        struct assay_error error = {.code = 0};
        pb_int(&bytes, 1, rows[i].ir);
        pb_text(&bytes, 7, "");
        pb_int(&opset, 2, rows[i].opset);
        pb_message(&bytes, 8, &opset);
        CHECK_INT(pb_parse(&bytes, &model, &error), rows[i].code);
        if (rows[i].code) CHECK_HAS(error.message, "IR version");
        if (model) CHECK_INT(assay__model_opset(model, ""), rows[i].opset);
        if (model) CHECK_STR(model->format, "ONNX");
        assay__model_free(model);
        assay__buf_free(&bytes);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"wire_varints", test_wire_varints},
        {"wire_fields", test_wire_fields},
        {"cut_at_every_byte", test_cut_at_every_byte},
        {"flipped_bytes", test_flipped_bytes},
        {"garbage", test_garbage},
        {"depth", test_depth},
        {"typed_fields", test_typed_fields},
        {"string_tensor", test_string_tensor},
        {"lying_tensors", test_lying_tensors},
        {"sparse", test_sparse},
        {"sparse_constant", test_sparse_constant},
        {"function", test_function},
        {"versions", test_versions},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
