/* tiny_onnx.h - writes small ONNX models for tests, independent of the project's own writer.
 * Format: protocol buffers' wire format; field numbers of ONNX's ModelProto (ir_version 1, graph 7,
 * opset_import 8), GraphProto (node 1, name 2, initializer 5, input 11, output 12), NodeProto
 * (input 1, output 2, op_type 4, attribute 5), ValueInfoProto (name 1, type 2). Limits: 64 kB, no
 * checks beyond that; shapes of up to 8 dimensions. */
#ifndef ASSAY_TESTS_TINY_ONNX_H
#define ASSAY_TESTS_TINY_ONNX_H

#include "harness.h"

struct tiny_message {
    unsigned char bytes[65536];
    size_t length;
};

struct tiny_value {
    const char *name;
    int dtype;
    int rank;
    int64_t dims[8]; /* -1: a symbolic dimension "n" */
};

static inline void tiny_byte(struct tiny_message *message, unsigned value)
{
    CHECK(message->length < sizeof message->bytes);
    message->bytes[message->length++] = (unsigned char)value;
}

static inline void tiny_varint(struct tiny_message *message, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        tiny_byte(message, (unsigned)(value & 0x7f) | 0x80);
    tiny_byte(message, (unsigned)value);
}

static inline void tiny_number(struct tiny_message *message, unsigned field, uint64_t value)
{
    tiny_varint(message, field << 3);
    tiny_varint(message, value);
}

static inline void tiny_bytes(struct tiny_message *message, unsigned field, const void *data,
                              size_t length)
{
    tiny_varint(message, field << 3 | 2);
    tiny_varint(message, length);
    for (size_t i = 0; i < length; i++)
        tiny_byte(message, ((const unsigned char *)data)[i]);
}

static inline void tiny_text(struct tiny_message *message, unsigned field, const char *text)
{
    tiny_bytes(message, field, text, strlen(text));
}

static inline void tiny_add(struct tiny_message *message, unsigned field, struct tiny_message *part)
{
    tiny_bytes(message, field, part->bytes, part->length);
    free(part);
}

static inline struct tiny_message *tiny_new(void)
{
    struct tiny_message *message = calloc(1, sizeof *message);
    CHECK(message != NULL);
    return message;
}

static inline void tiny_graph_value(struct tiny_message *graph, unsigned field,
                                    const struct tiny_value *value)
{
    struct tiny_message *info = tiny_new(), *type = tiny_new(), *tensor = tiny_new(),
                        *shape = tiny_new();
    for (int i = 0; i < value->rank; i++) {
        struct tiny_message *dim = tiny_new();
        if (value->dims[i] < 0)
            tiny_text(dim, 2, "n");
        else
            tiny_number(dim, 1, (uint64_t)value->dims[i]);
        tiny_add(shape, 1, dim);
    }
    tiny_number(tensor, 1, (uint64_t)value->dtype);
    tiny_add(tensor, 2, shape);
    tiny_add(type, 1, tensor);
    tiny_text(info, 1, value->name);
    tiny_add(info, 2, type);
    tiny_add(graph, field, info);
}

static inline void tiny_graph_node(struct tiny_message *graph, const char *op, const char *input,
                                   const char *second, const char *output)
{
    struct tiny_message *node = tiny_new();
    tiny_text(node, 1, input);
    if (second) tiny_text(node, 1, second);
    tiny_text(node, 2, output);
    tiny_text(node, 4, op);
    tiny_add(graph, 1, node);
}

static inline void tiny_graph_floats(struct tiny_message *graph, const char *name, int64_t rows,
                                     int64_t columns, const float *values)
{
    struct tiny_message *tensor = tiny_new();
    tiny_number(tensor, 1, (uint64_t)rows);
    tiny_number(tensor, 1, (uint64_t)columns);
    tiny_number(tensor, 2, 1);
    tiny_text(tensor, 8, name);
    tiny_bytes(tensor, 9, values, (size_t)(rows * columns) * sizeof *values);
    tiny_add(graph, 5, tensor);
}

/* Wraps the graph (freed) into a model and writes it. */
static inline void tiny_write(struct tiny_message *graph, const char *path)
{
    struct tiny_message *model = tiny_new(), *opset = tiny_new();
    tiny_text(graph, 2, "tiny");
    tiny_number(model, 1, 8);
    tiny_add(model, 7, graph);
    tiny_text(opset, 1, "");
    tiny_number(opset, 2, 17);
    tiny_add(model, 8, opset);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK_INT(fwrite(model->bytes, 1, model->length, file), model->length);
    CHECK_INT(fclose(file), 0);
    free(model);
}

/* y = op(x), of one type and shape */
static inline void tiny_unary(const char *path, const char *op, int dtype, int rank,
                              const int64_t *dims)
{
    struct tiny_message *graph = tiny_new();
    struct tiny_value x = {.name = "x", .dtype = dtype, .rank = rank},
                      y = {.name = "y", .dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        x.dims[i] = y.dims[i] = dims[i];
    tiny_graph_node(graph, op, "x", NULL, "y");
    tiny_graph_value(graph, 11, &x);
    tiny_graph_value(graph, 12, &y);
    tiny_write(graph, path);
}

/* y = x · {{1,2},{3,4}}, z = Relu(y); x is [n,2] with n symbolic */
static inline void tiny_matmul(const char *path)
{
    static const float weights[] = {1, 2, 3, 4};
    struct tiny_message *graph = tiny_new();
    struct tiny_value x = {"x", 1, 2, {-1, 2}}, y = {"y", 1, 2, {-1, 2}}, z = {"z", 1, 2, {-1, 2}};
    tiny_graph_node(graph, "MatMul", "x", "w", "y");
    tiny_graph_node(graph, "Relu", "y", NULL, "z");
    tiny_graph_floats(graph, "w", 2, 2, weights);
    tiny_graph_value(graph, 11, &x);
    tiny_graph_value(graph, 12, &y);
    tiny_graph_value(graph, 12, &z);
    tiny_write(graph, path);
}

#endif
