/* onnx_graph.c - reads a GraphProto and its nodes. Each message is walked twice, once to count its
 * repeated fields and once to fill arrays of that size. Graphs nest through attributes, at most
 * ASSAY__ONNX_DEPTH deep. */
#include "model/onnx/onnx.h"

#include <string.h>

/* --- nodes ------------------------------------------------------------------------------------ */

static bool node_extra(uint32_t number)
{
    return number > NODE_DOMAIN;
}

static int alloc_node(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                      struct assay__node *node)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__onnx_carried carried = {.size = 0};
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a node")) > 0) {
        node->input_count += field.number == NODE_INPUT;
        node->output_count += field.number == NODE_OUTPUT;
        node->attr_count += field.number == NODE_ATTRIBUTE;
        if (node_extra(field.number)) assay__onnx_carry(&carried, &field);
    }
    if (status) return status;
    struct assay__arena *arena = reader->arena;
    node->inputs = assay__arena_array(arena, node->input_count, sizeof *node->inputs);
    node->outputs = assay__arena_array(arena, node->output_count, sizeof *node->outputs);
    if (node->attr_count)
        node->attrs = assay__arena_array(arena, node->attr_count, sizeof *node->attrs);
    if (!node->inputs || !node->outputs || (node->attr_count && !node->attrs))
        return assay__onnx_no_memory(reader);
    return assay__onnx_carried(reader, &carried, message->data, message->size, node_extra,
                               &node->extra, &node->extra_size);
}

int assay__onnx_node(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                     struct assay__node *node)
{
    struct assay__wire_field field;
    size_t inputs = 0, outputs = 0, attrs = 0;
    int code = assay__onnx_message(reader, message);
    if (!code && ++reader->nodes > ASSAY__ONNX_NODES)
        code = assay_error_set(reader->error, ASSAY_ELIMIT, "%.160s: more than %u nodes",
                               reader->label, ASSAY__ONNX_NODES);
    *node = (struct assay__node){.name = "", .op = "", .domain = "", .doc = ""};
    if (!code) code = alloc_node(reader, message, node);
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        switch (field.number) {
        case NODE_INPUT: code = assay__onnx_text(reader, &field, &node->inputs[inputs++]); break;
        case NODE_OUTPUT: code = assay__onnx_text(reader, &field, &node->outputs[outputs++]); break;
        case NODE_NAME: code = assay__onnx_text(reader, &field, &node->name); break;
        case NODE_OP: code = assay__onnx_text(reader, &field, &node->op); break;
        case NODE_DOMAIN: code = assay__onnx_text(reader, &field, &node->domain); break;
        case NODE_DOC: code = assay__onnx_text(reader, &field, &node->doc); break;
        case NODE_ATTRIBUTE: code = assay__onnx_attr(reader, &field, &node->attrs[attrs++]); break;
        default: break;
        }
    }
    if (!code && !*node->op)
        code = assay__onnx_fail(reader, message->start, "a node has no operator");
    if (!code && strcmp(node->domain, "ai.onnx") == 0)
        node->domain = ""; /* two names of one domain */
    return code;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static bool graph_extra(uint32_t number)
{
    return number != GRAPH_NODE && number != GRAPH_NAME && number != GRAPH_INITIALIZER &&
           number != GRAPH_INPUT && number != GRAPH_OUTPUT && number != GRAPH_VALUE &&
           number != GRAPH_SPARSE;
}

static bool graph_sparse(uint32_t number)
{
    return number == GRAPH_SPARSE;
}

/* Arrays that may grow later have a power-of-two size: assay__graph_add_value relies on it. */
static size_t round_up(size_t count)
{
    size_t capacity = 4;
    while (capacity < count && capacity < SIZE_MAX / 2)
        capacity *= 2;
    return capacity;
}

static int alloc_graph(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                       struct assay__graph *graph)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__onnx_carried extra = {.size = 0}, sparse = {.size = 0};
    size_t nodes = 0, tensors = 0, inputs = 0, outputs = 0, values = 0, sparse_count = 0;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a graph")) > 0) {
        nodes += field.number == GRAPH_NODE;
        tensors += field.number == GRAPH_INITIALIZER;
        inputs += field.number == GRAPH_INPUT;
        outputs += field.number == GRAPH_OUTPUT;
        values += field.number == GRAPH_VALUE;
        sparse_count += field.number == GRAPH_SPARSE;
        if (field.number == GRAPH_SPARSE) assay__onnx_carry(&sparse, &field);
        if (graph_extra(field.number)) assay__onnx_carry(&extra, &field);
    }
    if (status) return status;
    struct assay__arena *arena = reader->arena;
    graph->node_capacity = round_up(nodes);
    graph->initializer_capacity = round_up(tensors);
    graph->value_capacity = round_up(values);
    graph->nodes = assay__arena_array(arena, graph->node_capacity, sizeof *graph->nodes);
    graph->initializers = assay__arena_array(arena, graph->initializer_capacity,
                                             sizeof *graph->initializers);
    graph->values = assay__arena_array(arena, graph->value_capacity, sizeof *graph->values);
    graph->inputs = assay__arena_array(arena, round_up(inputs), sizeof *graph->inputs);
    graph->outputs = assay__arena_array(arena, round_up(outputs), sizeof *graph->outputs);
    graph->sparse_tensors = assay__arena_array(arena, sparse_count, sizeof *graph->sparse_tensors);
    if (!graph->nodes || !graph->initializers || !graph->values || !graph->inputs ||
        !graph->outputs || !graph->sparse_tensors)
        return assay__onnx_no_memory(reader);
    int code = assay__onnx_carried(reader, &sparse, message->data, message->size, graph_sparse,
                                   &graph->sparse, &graph->sparse_size);
    if (code) return code;
    return assay__onnx_carried(reader, &extra, message->data, message->size, graph_extra,
                               &graph->extra, &graph->extra_size);
}

static int read_graph_value(struct assay__onnx_reader *reader,
                            const struct assay__wire_field *field, struct assay__value *list,
                            size_t *count)
{
    int code = assay__onnx_message(reader, field);
    return code ? code : assay__onnx_value(reader, field->data, field->size, &list[(*count)++]);
}

static int read_graph_field(struct assay__onnx_reader *reader,
                            const struct assay__wire_field *field, struct assay__graph *graph)
{
    int code = 0;
    switch (field->number) {
    case GRAPH_NODE: return assay__onnx_node(reader, field, &graph->nodes[graph->node_count++]);
    case GRAPH_NAME: return assay__onnx_text(reader, field, &graph->name);
    case GRAPH_INPUT: return read_graph_value(reader, field, graph->inputs, &graph->input_count);
    case GRAPH_OUTPUT: return read_graph_value(reader, field, graph->outputs, &graph->output_count);
    case GRAPH_VALUE: return read_graph_value(reader, field, graph->values, &graph->value_count);
    case GRAPH_SPARSE:
        return assay__onnx_sparse(reader, field, &graph->sparse_tensors[graph->sparse_count++]);
    case GRAPH_INITIALIZER:
        if ((code = assay__onnx_message(reader, field))) return code;
        return assay__onnx_tensor(reader, field->data, field->size,
                                  &graph->initializers[graph->initializer_count++]);
    default: return 0;
    }
}

int assay__onnx_graph(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                      struct assay__graph *graph)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    if (reader->depth >= ASSAY__ONNX_DEPTH)
        return assay__onnx_fail(reader, message->start, "graphs nest deeper than %d",
                                ASSAY__ONNX_DEPTH);
    reader->depth++;
    *graph = (struct assay__graph){.name = ""};
    int code = alloc_graph(reader, message, graph);
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        code = read_graph_field(reader, &field, graph);
    reader->depth--;
    return code;
}
