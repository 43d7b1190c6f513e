/* onnx_function.c - reads a FunctionProto: a named list of nodes with formal inputs, outputs and
 * attributes. Its nodes become a graph of their own. The model's `extra` keeps the message as it
 * was, so a function that is read and not inlined is written back unchanged. */
#include "model/onnx/onnx.h"

#include <string.h>

static size_t count(struct assay__reader *reader, const struct assay__wire_field *message,
                    uint32_t number)
{
    return assay__reader_count(reader, message, number, "a function");
}

static bool alloc_function(struct assay__reader *reader, const struct assay__wire_field *message,
                           struct assay__function *function)
{
    struct assay__graph *body = assay__reader_array(reader, 1, sizeof *body);
    function->inputs = assay__reader_array(reader, count(reader, message, FUNCTION_INPUT),
                                           sizeof *function->inputs);
    function->outputs = assay__reader_array(reader, count(reader, message, FUNCTION_OUTPUT),
                                            sizeof *function->outputs);
    function->attributes = assay__reader_array(reader, count(reader, message, FUNCTION_ATTRIBUTE),
                                               sizeof *function->attributes);
    function->defaults = assay__reader_array(reader, count(reader, message, FUNCTION_DEFAULT),
                                             sizeof *function->defaults);
    function->opsets = assay__reader_array(reader, count(reader, message, FUNCTION_OPSET),
                                           sizeof *function->opsets);
    function->body = body;
    if (!body) return false;
    body->name = "";
    body->node_capacity = count(reader, message, FUNCTION_NODE);
    body->nodes = assay__reader_array(reader, body->node_capacity, sizeof *body->nodes);
    return reader->code == 0;
}

static void read_field(struct assay__reader *reader, const struct assay__wire_field *field,
                       struct assay__function *f)
{
    switch (field->number) {
    case FUNCTION_NAME: f->name = assay__reader_text(reader, field); break;
    case FUNCTION_DOMAIN: f->domain = assay__reader_text(reader, field); break;
    case FUNCTION_OVERLOAD: f->overload = assay__reader_text(reader, field); break;
    case FUNCTION_INPUT: f->inputs[f->input_count++] = assay__reader_text(reader, field); break;
    case FUNCTION_OUTPUT: f->outputs[f->output_count++] = assay__reader_text(reader, field); break;
    case FUNCTION_ATTRIBUTE:
        f->attributes[f->attribute_count++] = assay__reader_text(reader, field);
        break;
    case FUNCTION_DEFAULT: assay__onnx_attr(reader, field, &f->defaults[f->default_count++]); break;
    case FUNCTION_NODE:
        assay__onnx_node(reader, field, &f->body->nodes[f->body->node_count++]);
        break;
    case FUNCTION_OPSET: assay__onnx_opset(reader, field, &f->opsets[f->opset_count++]); break;
    default: break;
    }
}

void assay__onnx_function(struct assay__reader *reader, const struct assay__wire_field *message,
                          struct assay__function *function)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *function = (struct assay__function){.name = "", .domain = "", .overload = ""};
    if (!assay__reader_message(reader, message) || !alloc_function(reader, message, function))
        return;
    reader->depth++;
    while (assay__reader_next(reader, &wire, &field, "a function"))
        read_field(reader, &field, function);
    reader->depth--;
    if (strcmp(function->domain, "ai.onnx") == 0) function->domain = "";
    if (!*function->name) assay__reader_fail(reader, message->start, "a function has no name");
}
