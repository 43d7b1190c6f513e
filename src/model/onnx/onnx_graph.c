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

static bool alloc_node(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__node *node)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct assay__onnx_carried carried = {.size = 0};
    while (assay__reader_next(reader, &wire, &field, "a node")) {
        node->input_count += field.number == NODE_INPUT;
        node->output_count += field.number == NODE_OUTPUT;
        node->attr_count += field.number == NODE_ATTRIBUTE;
        if (node_extra(field.number)) assay__onnx_carry(&carried, &field);
    }
    node->inputs = assay__reader_array(reader, node->input_count, sizeof *node->inputs);
    node->outputs = assay__reader_array(reader, node->output_count, sizeof *node->outputs);
    if (node->attr_count)
        node->attrs = assay__reader_array(reader, node->attr_count, sizeof *node->attrs);
    assay__onnx_carried(reader, &carried, message, node_extra, &node->extra, &node->extra_size);
    return reader->code == 0;
}

void assay__onnx_node(struct assay__reader *reader, const struct assay__wire_field *message,
                      struct assay__node *node)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t inputs = 0, outputs = 0, attrs = 0;
    *node = (struct assay__node){.name = "", .op = "", .domain = "", .doc = ""};
    if (!assay__reader_message(reader, message)) return;
    if (++reader->nodes > ASSAY__ONNX_NODES)
        assay__reader_refuse(reader, ASSAY_ELIMIT, "more than %u nodes", ASSAY__ONNX_NODES);
    if (!alloc_node(reader, message, node)) return;
    while (assay__reader_next(reader, &wire, &field, "a node")) {
        switch (field.number) {
        case NODE_INPUT: node->inputs[inputs++] = assay__reader_text(reader, &field); break;
        case NODE_OUTPUT: node->outputs[outputs++] = assay__reader_text(reader, &field); break;
        case NODE_NAME: node->name = assay__reader_text(reader, &field); break;
        case NODE_OP: node->op = assay__reader_text(reader, &field); break;
        case NODE_DOMAIN: node->domain = assay__reader_text(reader, &field); break;
        case NODE_DOC: node->doc = assay__reader_text(reader, &field); break;
        case NODE_ATTRIBUTE: assay__onnx_attr(reader, &field, &node->attrs[attrs++]); break;
        default: break;
        }
    }
    if (!*node->op) assay__reader_fail(reader, message->start, "a node has no operator");
    if (strcmp(node->domain, "ai.onnx") == 0) node->domain = ""; /* two names of one domain */
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

static bool alloc_graph(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct assay__graph *graph)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct assay__onnx_carried extra = {.size = 0}, sparse = {.size = 0};
    size_t nodes = 0, tensors = 0, inputs = 0, outputs = 0, values = 0, sparse_count = 0;
    while (assay__reader_next(reader, &wire, &field, "a graph")) {
        nodes += field.number == GRAPH_NODE;
        tensors += field.number == GRAPH_INITIALIZER;
        inputs += field.number == GRAPH_INPUT;
        outputs += field.number == GRAPH_OUTPUT;
        values += field.number == GRAPH_VALUE;
        sparse_count += field.number == GRAPH_SPARSE;
        if (field.number == GRAPH_SPARSE) assay__onnx_carry(&sparse, &field);
        if (graph_extra(field.number)) assay__onnx_carry(&extra, &field);
    }
    graph->node_capacity = round_up(nodes);
    graph->initializer_capacity = round_up(tensors);
    graph->value_capacity = round_up(values);
    graph->nodes = assay__reader_array(reader, graph->node_capacity, sizeof *graph->nodes);
    graph->initializers = assay__reader_array(reader, graph->initializer_capacity,
                                              sizeof *graph->initializers);
    graph->values = assay__reader_array(reader, graph->value_capacity, sizeof *graph->values);
    graph->inputs = assay__reader_array(reader, round_up(inputs), sizeof *graph->inputs);
    graph->outputs = assay__reader_array(reader, round_up(outputs), sizeof *graph->outputs);
    graph->sparse_tensors = assay__reader_array(reader, sparse_count,
                                                sizeof *graph->sparse_tensors);
    assay__onnx_carried(reader, &sparse, message, graph_sparse, &graph->sparse,
                        &graph->sparse_size);
    assay__onnx_carried(reader, &extra, message, graph_extra, &graph->extra, &graph->extra_size);
    return reader->code == 0;
}

static void read_graph_field(struct assay__reader *reader, const struct assay__wire_field *field,
                             struct assay__graph *graph)
{
    switch (field->number) {
    case GRAPH_NODE: assay__onnx_node(reader, field, &graph->nodes[graph->node_count++]); break;
    case GRAPH_NAME: graph->name = assay__reader_text(reader, field); break;
    case GRAPH_INPUT: assay__onnx_value(reader, field, &graph->inputs[graph->input_count++]); break;
    case GRAPH_OUTPUT:
        assay__onnx_value(reader, field, &graph->outputs[graph->output_count++]);
        break;
    case GRAPH_VALUE: assay__onnx_value(reader, field, &graph->values[graph->value_count++]); break;
    case GRAPH_SPARSE:
        assay__onnx_sparse(reader, field, &graph->sparse_tensors[graph->sparse_count++]);
        break;
    case GRAPH_INITIALIZER:
        assay__onnx_tensor(reader, field, &graph->initializers[graph->initializer_count++]);
        break;
    default: break;
    }
}

void assay__onnx_graph(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__graph *graph)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *graph = (struct assay__graph){.name = ""};
    if (reader->depth >= ASSAY__ONNX_DEPTH)
        assay__reader_fail(reader, message->start, "graphs nest deeper than %d", ASSAY__ONNX_DEPTH);
    if (!alloc_graph(reader, message, graph)) return;
    reader->depth++;
    while (assay__reader_next(reader, &wire, &field, "a graph"))
        read_graph_field(reader, &field, graph);
    reader->depth--;
}
