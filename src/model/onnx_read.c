/* onnx_read.c - reads an ONNX file (ModelProto of onnx.proto) into the structures of graph.h.
 *
 * The file is mapped; every message is walked twice, once to count its repeated fields and once
 * to fill arrays of exactly that size (rounded up, see assay__onnx_capacity). Names are copied,
 * tensor data is not touched: memory is proportional to the number of nodes and names. Only
 * graphs nest (through attributes), so recursion is bounded by ASSAY__ONNX_DEPTH. A file is ONNX
 * when its top level is a ModelProto with an ir_version, a graph and an operator set; anything
 * else is refused with one line that says where it went wrong. Fields that are not interpreted
 * are carried verbatim. */
#include "model/onnx.h"

#include "base/checked.h"
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int assay__onnx_fail(struct assay__onnx_reader *reader, const uint8_t *at, const char *format, ...)
{
    char detail[320];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return assay_error_set(reader->error, ASSAY_EFORMAT, "%.160s: damaged model: %s (byte %zu)",
                           reader->label, detail, (size_t)(at - reader->base));
}

int assay__onnx_no_memory(struct assay__onnx_reader *reader)
{
    return assay_error_set(reader->error, ASSAY_ENOMEM, "%.160s: out of memory", reader->label);
}

int assay__onnx_next(struct assay__onnx_reader *reader, struct assay__wire *wire,
                     struct assay__wire_field *field, const char *what)
{
    switch (assay__wire_next(wire, field)) {
    case ASSAY__WIRE_FIELD: return 1;
    case ASSAY__WIRE_END: return 0;
    case ASSAY__WIRE_CUT:
        return assay__onnx_fail(reader, field->start, "a field of %s is longer than %s", what,
                                what);
    default:
        return assay__onnx_fail(reader, field->start, "%s holds bytes that are no field", what);
    }
}

int assay__onnx_message(struct assay__onnx_reader *reader, const struct assay__wire_field *field)
{
    if (field->type == ASSAY__WIRE_BYTES) return 0;
    return assay__onnx_fail(reader, field->start, "field %u has wire type %d where 2 belongs",
                            field->number, field->type);
}

int assay__onnx_text(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                     const char **text)
{
    int code = assay__onnx_message(reader, field);
    if (code) return code;
    if (field->size && memchr(field->data, 0, field->size))
        return assay__onnx_fail(reader, field->start, "a name holds a zero byte");
    *text = field->size
                ? assay__arena_strndup(reader->arena, (const char *)field->data, field->size)
                : "";
    return *text ? 0 : assay__onnx_no_memory(reader);
}

int assay__onnx_int(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                    int64_t *value)
{
    if (field->type != ASSAY__WIRE_VARINT)
        return assay__onnx_fail(reader, field->start, "field %u has wire type %d where 0 belongs",
                                field->number, field->type);
    *value = (int64_t)field->value;
    return 0;
}

/* --- fields carried verbatim ------------------------------------------------------------------ */

struct carried {
    const uint8_t *data; /* valid while contiguous */
    size_t size;
    bool scattered;
};

static void carry(struct carried *carried, const struct assay__wire_field *field)
{
    if (carried->size && carried->data + carried->size != field->start) carried->scattered = true;
    if (!carried->size) carried->data = field->start;
    carried->size += field->total;
}

/* Points into the file when the fields stand together, else copies them: `wanted` tells them
 * from the others. */
static int carried_finish(struct assay__onnx_reader *reader, const struct carried *carried,
                          const uint8_t *data, size_t size, bool (*wanted)(uint32_t number),
                          const uint8_t **out, size_t *out_size)
{
    *out_size = carried->size;
    *out = carried->data;
    if (!carried->scattered) return 0;
    uint8_t *copy = assay__arena_alloc(reader->arena, carried->size);
    if (!copy) return assay__onnx_no_memory(reader);
    *out = copy;
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (!wanted(field.number)) continue;
        memcpy(copy, field.start, field.total);
        copy += field.total;
    }
    return 0;
}

/* --- attributes ------------------------------------------------------------------------------- */

static int read_graph(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                      struct assay__graph *graph);

static int read_subgraph(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                         struct assay__graph **graph)
{
    int code = assay__onnx_message(reader, field);
    if (code) return code;
    *graph = assay__arena_alloc(reader->arena, sizeof **graph);
    if (!*graph) return assay__onnx_no_memory(reader);
    return read_graph(reader, field, *graph);
}

static int read_bytes(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                      const char **text, size_t *size)
{
    int code = assay__onnx_message(reader, field);
    if (code) return code;
    /* Compiled programs are kept in string attributes too (EPContext): those stay in the file. */
    bool copy = field->size <= ASSAY__ONNX_TEXT;
    *text = assay__arena_strndup(reader->arena, (const char *)field->data, copy ? field->size : 0);
    if (size) *size = copy ? field->size : 0;
    return *text ? 0 : assay__onnx_no_memory(reader);
}

struct attr_counts {
    size_t ints, floats, strings, graphs;
    bool f, i, s, t, g;
};

static int count_attr(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                      struct attr_counts *counts)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "an attribute")) > 0) {
        size_t count = 0;
        if (field.number == ATTR_INTS || field.number == ATTR_FLOATS) {
            int type = field.number == ATTR_INTS ? ASSAY__WIRE_VARINT : ASSAY__WIRE_FIXED32;
            if (!assay__wire_count(&field, type, &count))
                return assay__onnx_fail(reader, field.start,
                                        "an attribute's list is not of its type");
            *(field.number == ATTR_INTS ? &counts->ints : &counts->floats) += count;
        }
        counts->strings += field.number == ATTR_STRINGS;
        counts->graphs += field.number == ATTR_GRAPHS;
        counts->f |= field.number == ATTR_F;
        counts->i |= field.number == ATTR_I;
        counts->s |= field.number == ATTR_S;
        counts->t |= field.number == ATTR_T;
        counts->g |= field.number == ATTR_G;
    }
    return status;
}

/* IR 1 files may leave the type out; then the field that is there says it. */
static enum assay__attr_type implied_type(const struct attr_counts *counts)
{
    return counts->ints      ? ASSAY__ATTR_INTS
           : counts->floats  ? ASSAY__ATTR_FLOATS
           : counts->strings ? ASSAY__ATTR_STRINGS
           : counts->graphs  ? ASSAY__ATTR_GRAPHS
           : counts->g       ? ASSAY__ATTR_GRAPH
           : counts->t       ? ASSAY__ATTR_TENSOR
           : counts->s       ? ASSAY__ATTR_STRING
           : counts->f       ? ASSAY__ATTR_FLOAT
           : counts->i       ? ASSAY__ATTR_INT
                             : ASSAY__ATTR_NONE;
}

static int alloc_attr(struct assay__onnx_reader *reader, const struct attr_counts *counts,
                      struct assay__attr *attr)
{
    struct assay__arena *arena = reader->arena;
    if (counts->ints && !(attr->ints = assay__arena_array(arena, counts->ints, sizeof *attr->ints)))
        return assay__onnx_no_memory(reader);
    if (counts->floats &&
        !(attr->floats = assay__arena_array(arena, counts->floats, sizeof *attr->floats)))
        return assay__onnx_no_memory(reader);
    if (counts->strings &&
        !(attr->strings = assay__arena_array(arena, counts->strings, sizeof *attr->strings)))
        return assay__onnx_no_memory(reader);
    if (counts->graphs &&
        !(attr->graphs = assay__arena_array(arena, counts->graphs, sizeof *attr->graphs)))
        return assay__onnx_no_memory(reader);
    return 0;
}

static bool decode_floats(const struct assay__wire_field *field, float *out, size_t *count)
{
    if (field->type == ASSAY__WIRE_FIXED32) {
        uint32_t bits = (uint32_t)field->value;
        memcpy(&out[(*count)++], &bits, sizeof bits);
        return true;
    }
    for (size_t at = 0; at + 4 <= field->size; at += 4) {
        uint32_t bits = assay__wire_u32(field->data + at);
        memcpy(&out[(*count)++], &bits, sizeof bits);
    }
    return true;
}

struct attr_filled {
    size_t ints, floats, strings, graphs;
};

static int read_attr_scalar(struct assay__onnx_reader *reader,
                            const struct assay__wire_field *field, struct assay__attr *attr)
{
    int64_t number = 0;
    int code = 0;
    switch (field->number) {
    case ATTR_NAME: return assay__onnx_text(reader, field, &attr->name);
    case ATTR_REFERENCE: return assay__onnx_text(reader, field, &attr->reference);
    case ATTR_I: return assay__onnx_int(reader, field, &attr->i);
    case ATTR_S: return read_bytes(reader, field, &attr->s, &attr->s_size);
    case ATTR_TYPE:
        code = assay__onnx_int(reader, field, &number);
        if (!code && (number < 0 || number > ASSAY__ATTR_TYPE_PROTOS))
            code = assay__onnx_fail(reader, field->start, "an attribute has the unknown type %lld",
                                    (long long)number);
        attr->type = (enum assay__attr_type)number;
        return code;
    case ATTR_F: {
        uint32_t bits = (uint32_t)field->value;
        if (field->type != ASSAY__WIRE_FIXED32)
            return assay__onnx_fail(reader, field->start, "a float attribute is no float");
        memcpy(&attr->f, &bits, sizeof bits);
        return 0;
    }
    default: return 0;
    }
}

static int read_attr_field(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                           struct attr_filled *filled, struct assay__attr *attr)
{
    int code = 0;
    switch (field->number) {
    case ATTR_T:
        if ((code = assay__onnx_message(reader, field))) return code;
        attr->t = assay__arena_alloc(reader->arena, sizeof *attr->t);
        if (!attr->t) return assay__onnx_no_memory(reader);
        return assay__onnx_tensor(reader, field->data, field->size, attr->t);
    case ATTR_SPARSE:
        attr->t = assay__arena_alloc(reader->arena, sizeof *attr->t);
        if (!attr->t) return assay__onnx_no_memory(reader);
        return assay__onnx_sparse(reader, field, attr->t);
    case ATTR_G:
        if (attr->g) return assay__onnx_fail(reader, field->start, "an attribute has two graphs");
        return read_subgraph(reader, field, &attr->g);
    case ATTR_GRAPHS: return read_subgraph(reader, field, &attr->graphs[filled->graphs++]);
    case ATTR_STRINGS: return read_bytes(reader, field, &attr->strings[filled->strings++], NULL);
    case ATTR_FLOATS: decode_floats(field, attr->floats, &filled->floats); return 0;
    case ATTR_INTS:
        if (!assay__wire_items(field, ASSAY__WIRE_VARINT, (uint64_t *)attr->ints, &filled->ints))
            return assay__onnx_fail(reader, field->start,
                                    "an attribute's number has too many bytes");
        return 0;
    default: return read_attr_scalar(reader, field, attr);
    }
}

int assay__onnx_attr(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                     struct assay__attr *attr)
{
    struct attr_counts counts = {.ints = 0};
    struct attr_filled filled = {.ints = 0};
    int code = assay__onnx_message(reader, message);
    if (!code) code = count_attr(reader, message->data, message->size, &counts);
    *attr = (struct assay__attr){
        .name = "", .s = "", .reference = "", .raw = message->data, .raw_size = message->size};
    if (!code) code = alloc_attr(reader, &counts, attr);
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        code = read_attr_field(reader, &field, &filled, attr);
    if (code) return code;
    if (attr->type == ASSAY__ATTR_NONE) attr->type = implied_type(&counts);
    attr->count = attr->type == ASSAY__ATTR_INTS      ? filled.ints
                  : attr->type == ASSAY__ATTR_FLOATS  ? filled.floats
                  : attr->type == ASSAY__ATTR_STRINGS ? filled.strings
                  : attr->type == ASSAY__ATTR_GRAPHS  ? filled.graphs
                                                      : 0;
    if ((counts.graphs && attr->type != ASSAY__ATTR_GRAPHS) ||
        (counts.g && attr->type != ASSAY__ATTR_GRAPH))
        return assay__onnx_fail(reader, message->start,
                                "attribute '%.80s' holds a graph but is not of "
                                "that type",
                                attr->name);
    return 0;
}

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
    struct carried carried = {.size = 0};
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a node")) > 0) {
        node->input_count += field.number == NODE_INPUT;
        node->output_count += field.number == NODE_OUTPUT;
        node->attr_count += field.number == NODE_ATTRIBUTE;
        if (node_extra(field.number)) carry(&carried, &field);
    }
    if (status) return status;
    struct assay__arena *arena = reader->arena;
    node->inputs = assay__arena_array(arena, node->input_count, sizeof *node->inputs);
    node->outputs = assay__arena_array(arena, node->output_count, sizeof *node->outputs);
    if (node->attr_count)
        node->attrs = assay__arena_array(arena, node->attr_count, sizeof *node->attrs);
    if (!node->inputs || !node->outputs || (node->attr_count && !node->attrs))
        return assay__onnx_no_memory(reader);
    return carried_finish(reader, &carried, message->data, message->size, node_extra, &node->extra,
                          &node->extra_size);
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
    struct carried extra = {.size = 0}, sparse = {.size = 0};
    size_t nodes = 0, tensors = 0, inputs = 0, outputs = 0, values = 0, sparse_count = 0;
    int status;
    while ((status = assay__onnx_next(reader, &wire, &field, "a graph")) > 0) {
        nodes += field.number == GRAPH_NODE;
        tensors += field.number == GRAPH_INITIALIZER;
        inputs += field.number == GRAPH_INPUT;
        outputs += field.number == GRAPH_OUTPUT;
        values += field.number == GRAPH_VALUE;
        sparse_count += field.number == GRAPH_SPARSE;
        if (field.number == GRAPH_SPARSE) carry(&sparse, &field);
        if (graph_extra(field.number)) carry(&extra, &field);
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
    int code = carried_finish(reader, &sparse, message->data, message->size, graph_sparse,
                              &graph->sparse, &graph->sparse_size);
    if (code) return code;
    return carried_finish(reader, &extra, message->data, message->size, graph_extra, &graph->extra,
                          &graph->extra_size);
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

static int read_graph(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
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

/* --- the model -------------------------------------------------------------------------------- */

static const struct {
    uint32_t number;
    int type;
    const char *name;
} model_fields[] = {
    {MODEL_IR_VERSION, 0, "the IR version"},
    {MODEL_PRODUCER, 2, "the producer's name"},
    {MODEL_PRODUCER_VERSION, 2, "the producer's version"},
    {MODEL_DOMAIN, 2, "the domain"},
    {MODEL_VERSION, 0, "the model version"},
    {MODEL_DOC, 2, "the description"},
    {MODEL_GRAPH, 2, "the graph"},
    {MODEL_OPSET, 2, "an operator set"},
    {MODEL_METADATA, 2, "the metadata"},
    {MODEL_TRAINING, 2, "the training information"},
    {MODEL_FUNCTION, 2, "a function"},
    {MODEL_CONFIGURATION, 2, "a device configuration"},
};

static const char *model_field_name(uint32_t number, int type, bool *wrong_type)
{
    *wrong_type = false;
    for (size_t i = 0; i < sizeof model_fields / sizeof model_fields[0]; i++) {
        if (model_fields[i].number != number) continue;
        *wrong_type = model_fields[i].type != type;
        return model_fields[i].name;
    }
    return NULL;
}

static bool model_extra(uint32_t number)
{
    return number > MODEL_OPSET;
}

static int not_onnx(struct assay__onnx_reader *reader, const char *why, size_t byte)
{
    return assay_error_set(reader->error, ASSAY_EFORMAT,
                           "%.300s: not an ONNX model (%s at byte %zu)", reader->label, why, byte);
}

/* A field that runs past the end of the file: cut off, if what came before was a model; garbage
 * otherwise. */
static int cut_off(struct assay__onnx_reader *reader, const struct assay__wire *wire,
                   const struct assay__wire_field *field, bool first)
{
    bool wrong = false;
    const char *name = field->number ? model_field_name(field->number, field->type, &wrong) : NULL;
    size_t end = (size_t)(wire->end - reader->base);
    if (field->number && (!name || wrong || (first && field->number != MODEL_IR_VERSION)))
        return not_onnx(reader, "a length that goes past the end",
                        (size_t)(field->start - reader->base));
    if (field->type == ASSAY__WIRE_BYTES && field->data)
        return assay_error_set(
            reader->error, ASSAY_EFORMAT,
            "%.160s: ends in the middle of %s at byte %zu (it should have %zu bytes, "
            "%zu are there: the file is cut off)",
            reader->label, name ? name : "a field", end, field->size,
            (size_t)(wire->end - field->data));
    return assay_error_set(reader->error, ASSAY_EFORMAT,
                           "%.160s: ends in the middle of %s at byte %zu (the file is cut off)",
                           reader->label, name ? name : "a field", end);
}

struct model_counts {
    size_t opsets, functions, graphs;
    int64_t ir_version;
    struct carried extra;
};

static int count_model_field(struct assay__onnx_reader *reader,
                             const struct assay__wire_field *field, struct model_counts *counts)
{
    bool wrong = false;
    size_t byte = (size_t)(field->start - reader->base);
    model_field_name(field->number, field->type, &wrong);
    if (wrong) return not_onnx(reader, "a field of the wrong kind", byte);
    counts->opsets += field->number == MODEL_OPSET;
    counts->functions += field->number == MODEL_FUNCTION;
    counts->graphs += field->number == MODEL_GRAPH;
    if (field->number == MODEL_IR_VERSION) counts->ir_version = (int64_t)field->value;
    if (model_extra(field->number)) carry(&counts->extra, field);
    return 0;
}

/* First walk over the top level: is this a ModelProto at all? */
static int count_model(struct assay__onnx_reader *reader, const uint8_t *data, size_t size,
                       struct model_counts *counts)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    enum assay__wire_status status;
    bool first = true;
    if (size == 0)
        return assay_error_set(reader->error, ASSAY_EFORMAT, "%.300s: not an ONNX model (empty)",
                               reader->label);
    while ((status = assay__wire_next(&wire, &field)) == ASSAY__WIRE_FIELD) {
        int code = count_model_field(reader, &field, counts);
        if (code) return code;
        first = false;
    }
    if (status == ASSAY__WIRE_CUT) return cut_off(reader, &wire, &field, first);
    if (status == ASSAY__WIRE_BAD)
        return not_onnx(reader, "bytes that are no protobuf field", (size_t)(field.start - data));
    if (counts->ir_version < 1 || counts->ir_version > 1000)
        return not_onnx(reader, counts->ir_version ? "an impossible IR version" : "no IR version",
                        size);
    if (counts->graphs == 0) return not_onnx(reader, "the file ends without a graph", size);
    if (counts->graphs > 1) return not_onnx(reader, "more than one graph", size);
    if (counts->opsets == 0 && counts->ir_version >= 3)
        return assay_error_set(
            reader->error, ASSAY_EFORMAT,
            "%.160s: names no operator set: it ends at byte %zu before one (cut off?)",
            reader->label, size);
    return 0;
}

int assay__onnx_opset(struct assay__onnx_reader *reader, const struct assay__wire_field *message,
                      struct assay__opset *opset)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    int status;
    *opset = (struct assay__opset){"", 0};
    while ((status = assay__onnx_next(reader, &wire, &field, "an operator set")) > 0) {
        int code = 0;
        if (field.number == OPSET_DOMAIN) code = assay__onnx_text(reader, &field, &opset->domain);
        if (field.number == OPSET_VERSION) code = assay__onnx_int(reader, &field, &opset->version);
        if (code) return code;
    }
    if (strcmp(opset->domain, "ai.onnx") == 0) opset->domain = "";
    return status;
}

static int read_function(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                         struct assay__model *model)
{
    struct assay__function *function = &model->functions[model->function_count];
    int code = assay__onnx_function(reader, field, function);
    if (code) return code;
    const char *name = assay__arena_printf(model->arena, "%s:%s", function->domain, function->name);
    model->function_names[model->function_count++] = name;
    return name ? 0 : assay__onnx_no_memory(reader);
}

static int read_model_field(struct assay__onnx_reader *reader,
                            const struct assay__wire_field *field, struct assay__model *model)
{
    switch (field->number) {
    case MODEL_IR_VERSION: return assay__onnx_int(reader, field, &model->ir_version);
    case MODEL_VERSION: return assay__onnx_int(reader, field, &model->model_version);
    case MODEL_PRODUCER: return assay__onnx_text(reader, field, &model->producer);
    case MODEL_PRODUCER_VERSION: return assay__onnx_text(reader, field, &model->producer_version);
    case MODEL_DOMAIN: return assay__onnx_text(reader, field, &model->domain);
    case MODEL_DOC: return assay__onnx_text(reader, field, &model->doc);
    case MODEL_GRAPH: return read_graph(reader, field, &model->graph);
    case MODEL_OPSET: return assay__onnx_opset(reader, field, &model->opsets[model->opset_count++]);
    case MODEL_FUNCTION: return read_function(reader, field, model);
    default: return 0;
    }
}

/* Newer files are read: what they add is carried, not understood. */
static void note_newer(const struct assay__model *model, const char *label)
{
    if (model->ir_version > ASSAY__ONNX_IR)
        assay__log(ASSAY_LOG_WARNING, "model",
                   "%s: IR version %lld is newer than %d, the last one known", label,
                   (long long)model->ir_version, ASSAY__ONNX_IR);
    if (assay__model_opset(model, "") > ASSAY__ONNX_OPSET)
        assay__log(ASSAY_LOG_WARNING, "model",
                   "%s: operator set %lld is newer than %d, the last one known", label,
                   (long long)assay__model_opset(model, ""), ASSAY__ONNX_OPSET);
}

static int parse(struct assay__model *model, const char *label, const uint8_t *data, size_t size,
                 struct assay_error *error)
{
    struct assay__onnx_reader reader = {
        .arena = model->arena, .base = data, .label = label, .error = error, .decode = true};
    struct model_counts counts = {.opsets = 0};
    int code = count_model(&reader, data, size, &counts);
    if (code) return code;
    model->opsets = assay__arena_array(model->arena, counts.opsets, sizeof *model->opsets);
    model->function_names = assay__arena_array(model->arena, counts.functions,
                                               sizeof *model->function_names);
    model->functions = assay__arena_array(model->arena, counts.functions, sizeof *model->functions);
    if (!model->opsets || !model->function_names || !model->functions)
        return assay__onnx_no_memory(&reader);
    code = carried_finish(&reader, &counts.extra, data, size, model_extra, &model->extra,
                          &model->extra_size);
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    while (!code && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        code = read_model_field(&reader, &field, model);
    if (!code) note_newer(model, label);
    return code;
}

int assay__model_parse(const uint8_t *data, size_t size, struct assay__model **out,
                       struct assay_error *error)
{
    *out = NULL;
    struct assay__model *model = assay__model_new();
    if (!model) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    int code = parse(model, "model", data, size, error);
    if (code)
        assay__model_free(model);
    else
        *out = model;
    return code;
}

int assay__model_read(const char *path, struct assay__model **out, struct assay_error *error)
{
    char folder[4096];
    *out = NULL;
    struct assay__model *model = assay__model_new();
    if (!model) return assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
    int code = assay__file_map(path, &model->mapping, error);
    if (!code && assay__path_folder(path, folder, sizeof folder))
        code = assay_error_set(error, ASSAY_ELIMIT, "%.200s…: the path is too long", path);
    if (!code) {
        model->path = assay__arena_strdup(model->arena, path);
        model->folder = assay__arena_strdup(model->arena, folder);
        if (!model->path || !model->folder)
            code = assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
    }
    if (!code) code = parse(model, path, model->mapping.data, model->mapping.size, error);
    if (code)
        assay__model_free(model);
    else
        *out = model;
    return code;
}
