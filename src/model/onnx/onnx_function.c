/* onnx_function.c - reads a FunctionProto: a named list of nodes with formal inputs, outputs and
 * attributes. Its nodes become a graph of their own. The model's `extra` keeps the message as it
 * was, so a function that is read and not inlined is written back unchanged. */
#include "model/onnx/onnx.h"

#include <string.h>

struct counts {
    size_t inputs, outputs, attributes, defaults, nodes, opsets;
};

static int count_fields(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                        struct counts *counts)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a function")) > 0) {
        counts->inputs += field.number == FUNCTION_INPUT;
        counts->outputs += field.number == FUNCTION_OUTPUT;
        counts->attributes += field.number == FUNCTION_ATTRIBUTE;
        counts->defaults += field.number == FUNCTION_DEFAULT;
        counts->nodes += field.number == FUNCTION_NODE;
        counts->opsets += field.number == FUNCTION_OPSET;
    }
    return status;
}

static int alloc_function(struct assay__onnx_reader *reader, const struct counts *counts,
                          struct assay__function *function)
{
    struct assay__arena *arena = reader->arena;
    function->body = assay__arena_alloc(arena, sizeof *function->body);
    function->inputs = assay__arena_array(arena, counts->inputs, sizeof *function->inputs);
    function->outputs = assay__arena_array(arena, counts->outputs, sizeof *function->outputs);
    function->attributes = assay__arena_array(arena, counts->attributes,
                                              sizeof *function->attributes);
    function->defaults = assay__arena_array(arena, counts->defaults, sizeof *function->defaults);
    function->opsets = assay__arena_array(arena, counts->opsets, sizeof *function->opsets);
    if (!function->body || !function->inputs || !function->outputs || !function->attributes ||
        !function->defaults || !function->opsets)
        return assay__onnx_no_memory(reader);
    function->body->name = "";
    function->body->nodes = assay__arena_array(arena, counts->nodes, sizeof *function->body->nodes);
    function->body->node_capacity = counts->nodes;
    return function->body->nodes ? 0 : assay__onnx_no_memory(reader);
}

static int read_field(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                      struct assay__function *f)
{
    switch (field->number) {
    case FUNCTION_NAME: return assay__onnx_text(reader, field, &f->name);
    case FUNCTION_DOMAIN: return assay__onnx_text(reader, field, &f->domain);
    case FUNCTION_OVERLOAD: return assay__onnx_text(reader, field, &f->overload);
    case FUNCTION_INPUT: return assay__onnx_text(reader, field, &f->inputs[f->input_count++]);
    case FUNCTION_OUTPUT: return assay__onnx_text(reader, field, &f->outputs[f->output_count++]);
    case FUNCTION_ATTRIBUTE:
        return assay__onnx_text(reader, field, &f->attributes[f->attribute_count++]);
    case FUNCTION_DEFAULT: return assay__onnx_attr(reader, field, &f->defaults[f->default_count++]);
    case FUNCTION_NODE:
        return assay__onnx_node(reader, field, &f->body->nodes[f->body->node_count++]);
    case FUNCTION_OPSET: {
        int code = assay__onnx_message(reader, field);
        return code ? code : assay__onnx_opset(reader, field, &f->opsets[f->opset_count++]);
    }
    default: return 0;
    }
}

int assay__onnx_function(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                         struct assay__function *function)
{
    struct counts counts = {.inputs = 0};
    struct assay__wire_field field;
    *function = (struct assay__function){.name = "", .domain = "", .overload = ""};
    int code = assay__onnx_message(reader, message);
    if (!code) code = count_fields(reader, message, &counts);
    if (!code) code = alloc_function(reader, &counts, function);
    if (code) return code;
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    reader->depth++;
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        code = read_field(reader, &field, function);
    reader->depth--;
    if (!code && strcmp(function->domain, "ai.onnx") == 0) function->domain = "";
    if (!code && !*function->name)
        code = assay__onnx_fail(reader, message->start, "a function has no name");
    return code;
}
