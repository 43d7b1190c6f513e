/* model_fixture.h - small models for the tests of model, cost and inputs: built in memory, or as
 * bytes of protobuf. */
#ifndef ASSAY_TESTS_MODEL_FIXTURE_H
#define ASSAY_TESTS_MODEL_FIXTURE_H

#include "harness.h"

#include "base/buf.h"
#include "model/graph.h"
#include "model/shapes/shapes.h"

#include <glob.h>

#ifndef ASSAY_TEST_ROOT
#define ASSAY_TEST_ROOT "."
#endif

/* --- built ------------------------------------------------------------------------------------ */

static inline struct assay__model *fixture_model(int64_t opset)
{
    struct assay__model *model = assay__model_new();
    CHECK(model);
    model->ir_version = 8;
    model->opsets = assay__arena_alloc(model->arena, sizeof *model->opsets);
    model->opsets[0] = (struct assay__opset){"", opset};
    model->opset_count = 1;
    return model;
}

/* "batch,3,?,224": numbers, symbols, "?" for an unnamed dimension; "" is a scalar. */
static inline int fixture_dims(const char *shape, struct assay__dim dims[8], char names[8][32])
{
    int rank = 0;
    for (const char *at = shape; *at; rank++) {
        size_t length = strcspn(at, ",");
        snprintf(names[rank], 32, "%.*s", (int)length, at);
        char *end = NULL;
        long value = strtol(names[rank], &end, 10);
        dims[rank] = *end ? (struct assay__dim){-1, strcmp(names[rank], "?") ? names[rank] : ""}
                          : (struct assay__dim){value, ""};
        at += length + (at[length] == ',');
    }
    return rank;
}

static inline void fixture_input(struct assay__model *model, const char *name,
                                 enum assay__dtype dtype, const char *shape)
{
    struct assay__dim dims[8];
    char names[8][32];
    int rank = fixture_dims(shape, dims, names);
    CHECK_INT(assay__graph_add_value(model, &model->graph.inputs, &model->graph.input_count, name,
                                     dtype, rank, dims),
              0);
}

static inline void fixture_output(struct assay__model *model, const char *name)
{
    CHECK_INT(assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, name,
                                     ASSAY__FLOAT32, -1, NULL),
              0);
}

/* Opset 17 with one input, x. */
static inline struct assay__model *fixture_x(const char *shape)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, shape);
    return model;
}

/* Zeroed weights of a shape such as "64,3,7,7". */
static inline void fixture_weights(struct assay__model *model, const char *name,
                                   enum assay__dtype dtype, const char *shape)
{
    struct assay__dim dims[8];
    char names[8][32];
    int64_t sizes[8], elements = 1;
    int rank = fixture_dims(shape, dims, names);
    for (int i = 0; i < rank; i++)
        elements *= sizes[i] = dims[i].value;
    size_t bytes = assay__dtype_bytes(dtype, elements);
    CHECK(assay__graph_add_initializer(model, &model->graph, name, dtype, rank, sizes,
                                       assay__arena_alloc(model->arena, bytes), bytes));
}

static inline void fixture_ints(struct assay__model *model, const char *name, size_t count,
                                const int64_t *values)
{
    int64_t dim = (int64_t)count;
    int64_t *copy = assay__arena_array(model->arena, count, sizeof *copy);
    memcpy(copy, values, count * sizeof *copy);
    CHECK(assay__graph_add_initializer(model, &model->graph, name, ASSAY__INT64, 1, &dim, copy,
                                       count * sizeof *copy));
}

static inline void fixture_scalar(struct assay__model *model, const char *name,
                                  enum assay__dtype dtype, const void *value)
{
    size_t size = assay__dtype_bytes(dtype, 1);
    void *copy = assay__arena_alloc(model->arena, size);
    memcpy(copy, value, size);
    CHECK(assay__graph_add_initializer(model, &model->graph, name, dtype, 0, NULL, copy, size));
}

/* "Conv x,w -> y": names after the operator; an empty name is an absent input. */
static inline struct assay__node *fixture_node(struct assay__model *model, const char *text)
{
    char copy[256], *lists[2], *op = copy;
    const char *names[2][16];
    size_t counts[2] = {0, 0};
    snprintf(copy, sizeof copy, "%s", text);
    char *arrow = strstr(copy, " -> "), *space = strchr(copy, ' ');
    CHECK(arrow && space);
    *arrow = 0;
    lists[0] = space < arrow ? space + 1 : arrow;
    lists[1] = arrow + 4;
    if (space < arrow) *space = 0;
    for (int i = 0; i < 2; i++)
        for (char *at = lists[i]; at && *lists[i];) {
            char *comma = strchr(at, ',');
            if (comma) *comma = 0;
            names[i][counts[i]++] = at;
            at = comma ? comma + 1 : NULL;
        }
    struct assay__node *node = assay__graph_add_node(model, &model->graph, op, op, names[0],
                                                     counts[0], names[1], counts[1]);
    CHECK(node);
    return node;
}

static inline struct assay__model *fixture_read(const char *path)
{
    struct assay_error error = {.code = 0};
    struct assay__model *model = NULL;
    if (assay__model_read(path, &model, &error)) harness_fail(__FILE__, __LINE__, error.message);
    return model;
}

/* --- shapes ----------------------------------------------------------------------------------- */

static inline struct assay__shapes *fixture_infer(const struct assay__model *model)
{
    struct assay_error error = {.code = 0};
    struct assay__shapes *shapes = NULL;
    if (assay__shapes_infer(model, NULL, 0, &shapes, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return shapes;
}

/* "float32 batch,past + seq,64"; "?" unknown. Good until the next call. */
static inline const char *fixture_shape(const struct assay__shapes *shapes, const char *name)
{
    static char text[512];
    const struct assay__shape_entry *entry = assay__shapes_get(shapes, name);
    if (!entry) return "none";
    size_t length = (size_t)snprintf(text, sizeof text, "%s", assay__dtype_name(entry->dtype));
    if (entry->rank < 0) snprintf(text + length, sizeof text - length, " ?");
    for (int i = 0; i < entry->rank; i++) {
        char number[32];
        snprintf(number, sizeof number, "%lld", (long long)entry->dims[i]);
        const char *word = entry->dims[i] >= 0    ? number
                           : entry->dims[i] == -1 ? "?"
                                                  : assay__shapes_symbol(shapes, entry->dims[i]);
        length += (size_t)snprintf(text + length, sizeof text - length, "%c%s", i ? ',' : ' ',
                                   word);
    }
    return text;
}

/* --- the light models of the onnx package ----------------------------------------------------- */

static inline void light_path(const char *name, char *out, size_t size)
{
    char pattern[1024];
    glob_t found;
    snprintf(pattern, sizeof pattern,
             "%s/.cache/onnx/current/onnx/backend/test/data/light/light_%s.onnx", ASSAY_TEST_ROOT,
             name);
    if (glob(pattern, 0, NULL, &found) != 0) SKIP("the onnx package's light models are not set up");
    snprintf(out, size, "%s", found.gl_pathv[0]);
    globfree(&found);
}

static const char *const light_names[] = {"bvlc_alexnet", "densenet121", "inception_v1",
                                          "inception_v2", "resnet50",    "shufflenet",
                                          "squeezenet",   "vgg19",       "zfnet512"};
enum { LIGHT_COUNT = sizeof light_names / sizeof light_names[0] };

/* --- protobuf by hand ------------------------------------------------------------------------- */

static inline void pb_varint(struct assay__buf *buf, uint64_t value)
{
    while (value >= 0x80) {
        assay__buf_putc(buf, (char)(value | 0x80));
        value >>= 7;
    }
    assay__buf_putc(buf, (char)value);
}

static inline void pb_int(struct assay__buf *buf, unsigned field, uint64_t value)
{
    pb_varint(buf, field << 3);
    pb_varint(buf, value);
}

static inline void pb_bytes(struct assay__buf *buf, unsigned field, const void *data, size_t size)
{
    pb_varint(buf, field << 3 | 2);
    pb_varint(buf, size);
    assay__buf_add(buf, data, size);
}

static inline void pb_text(struct assay__buf *buf, unsigned field, const char *text)
{
    pb_bytes(buf, field, text, strlen(text));
}

/* Adds `inner` as a message field and empties it. */
static inline void pb_message(struct assay__buf *buf, unsigned field, struct assay__buf *inner)
{
    pb_bytes(buf, field, inner->data ? inner->data : "", inner->length);
    assay__buf_free(inner);
}

/* A model whose graph is `graph` (emptied): ir_version 8, opset 17. */
static inline void pb_model(struct assay__buf *out, struct assay__buf *graph)
{
    struct assay__buf opset = {.data = NULL};
    pb_int(out, 1, 8);
    pb_message(out, 7, graph);
    pb_int(&opset, 2, 17);
    pb_message(out, 8, &opset);
}

static inline int pb_parse(const struct assay__buf *buf, struct assay__model **model,
                           struct assay_error *error)
{
    return assay__model_parse((const uint8_t *)buf->data, buf->length, model, error);
}

#endif
