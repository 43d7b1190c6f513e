/* onnx_read.c - reads an ONNX file (ModelProto of onnx.proto) into the structures of graph.h;
 * tensors and values are read in onnx_tensor.c.
 *
 * The file is mapped; every message is read twice, once to count its repeated fields and once to
 * fill arrays of exactly that size (those of graphs rounded up). Names are copied, tensor data is
 * not accessed: memory is proportional to the number of nodes and names. Only graphs nest (through
 * attributes), so recursion is bounded by ASSAY__ONNX_DEPTH. A file is ONNX if its top level is a
 * ModelProto with an ir_version, a graph and an operator set; anything else is refused with one
 * line that says where it went wrong. Fields that are not interpreted are kept verbatim. */
#include "model/onnx/onnx.h"

#include "base/log.h"
#include "model/model_format.h"
#include "model/tensor_data.h"

#include <string.h>

/* --- fields kept verbatim --------------------------------------------------------------------- */

/* Fields that are carried verbatim. */
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

/* All fields selected by `wanted`: points into the file if they are contiguous, else a copy. */
static void carried_bytes(struct assay__reader *reader, const struct carried *carried,
                          const struct assay__wire_field *message, bool (*wanted)(uint32_t number),
                          const uint8_t **out, size_t *out_size)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *out_size = carried->size;
    *out = carried->data;
    if (!carried->scattered) return;
    uint8_t *copy = assay__reader_array(reader, carried->size, 1);
    *out = copy;
    while (copy && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (!wanted(field.number)) continue;
        memcpy(copy, field.start, field.total);
        copy += field.total;
    }
}

#define FIELDS 24 /* larger than all field numbers that are counted */

/* How many fields with each number the message has. */
static void count_fields(struct assay__reader *reader, const struct assay__wire_field *message,
                         const char *what, size_t counts[FIELDS])
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__reader_next(reader, &wire, &field, what))
        if (field.number < FIELDS) counts[field.number]++;
}

/* --- attributes ------------------------------------------------------------------------------- */

static void read_graph(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__graph *graph);

static struct assay__graph *read_subgraph(struct assay__reader *reader,
                                          const struct assay__wire_field *field)
{
    struct assay__graph *graph = assay__reader_array(reader, 1, sizeof *graph);
    if (graph && assay__reader_message(reader, field)) read_graph(reader, field, graph);
    return graph;
}

static const char *read_bytes(struct assay__reader *reader, const struct assay__wire_field *field,
                              size_t *size)
{
    /* String attributes may also contain compiled programs (EPContext): those stay in the file. */
    *size = field->size <= ASSAY__ONNX_TEXT ? field->size : 0;
    if (!assay__reader_message(reader, field)) return "";
    const char *text = assay__arena_strndup(reader->arena, (const char *)field->data, *size);
    if (!text) assay__reader_no_memory(reader);
    return text ? text : "";
}

static void decode_floats(const struct assay__wire_field *field, float *out, size_t *count)
{
    uint32_t bits = (uint32_t)field->value;
    if (field->type == ASSAY__WIRE_FIXED32) {
        memcpy(&out[(*count)++], &bits, sizeof bits);
        return;
    }
    for (size_t at = 0; at + 4 <= field->size; at += 4) {
        bits = assay__wire_u32(field->data + at);
        memcpy(&out[(*count)++], &bits, sizeof bits);
    }
}

static void read_attr_field(struct assay__reader *reader, const struct assay__wire_field *field,
                            size_t filled[FIELDS], struct assay__attr *attr)
{
    uint32_t bits = (uint32_t)field->value;
    int64_t type = 0;
    size_t size, *at = &filled[field->number < FIELDS ? field->number : 0];
    switch (field->number) {
    case ATTR_NAME: attr->name = assay__reader_text(reader, field); break;
    case ATTR_REFERENCE: attr->reference = assay__reader_text(reader, field); break;
    case ATTR_I: attr->i = assay__reader_int(reader, field); break;
    case ATTR_S: attr->s = read_bytes(reader, field, &attr->s_size); break;
    case ATTR_TYPE:
        type = assay__reader_int(reader, field);
        if (type < 0 || type > ASSAY__ATTR_TYPE_PROTOS)
            assay__reader_fail(reader, field->start, "an attribute has the unknown type %lld",
                               (long long)type);
        attr->type = (enum assay__attr_type)type;
        break;
    case ATTR_F:
        if (field->type != ASSAY__WIRE_FIXED32)
            assay__reader_fail(reader, field->start, "a float attribute has the wrong size");
        memcpy(&attr->f, &bits, sizeof bits);
        break;
    case ATTR_T:
    case ATTR_SPARSE:
        if (!(attr->t = assay__reader_array(reader, 1, sizeof *attr->t))) return;
        (field->number == ATTR_T ? assay__onnx_tensor : assay__onnx_sparse)(reader, field, attr->t);
        break;
    case ATTR_G:
        if (attr->g) assay__reader_fail(reader, field->start, "an attribute has two graphs");
        attr->g = read_subgraph(reader, field);
        break;
    case ATTR_GRAPHS: attr->graphs[(*at)++] = read_subgraph(reader, field); break;
    case ATTR_STRINGS: attr->strings[(*at)++] = read_bytes(reader, field, &size); break;
    case ATTR_FLOATS: decode_floats(field, attr->floats, at); break;
    case ATTR_INTS:
        if (!assay__wire_items(field, ASSAY__WIRE_VARINT, (uint64_t *)attr->ints, at))
            assay__reader_fail(reader, field->start, "an attribute's number has too many bytes");
        break;
    default: break;
    }
}

/* NULL for an empty list. */
static void *list(struct assay__reader *reader, size_t count, size_t size)
{
    return count ? assay__reader_array(reader, count, size) : NULL;
}

static void read_attr(struct assay__reader *reader, const struct assay__wire_field *message,
                      struct assay__attr *attr)
{
    /* IR 1 files may leave the type out; then it follows from the first of these that is present */
    static const struct {
        uint32_t field;
        enum assay__attr_type type;
    } implied[] = {{ATTR_INTS, ASSAY__ATTR_INTS},
                   {ATTR_FLOATS, ASSAY__ATTR_FLOATS},
                   {ATTR_STRINGS, ASSAY__ATTR_STRINGS},
                   {ATTR_GRAPHS, ASSAY__ATTR_GRAPHS},
                   {ATTR_G, ASSAY__ATTR_GRAPH},
                   {ATTR_T, ASSAY__ATTR_TENSOR},
                   {ATTR_S, ASSAY__ATTR_STRING},
                   {ATTR_F, ASSAY__ATTR_FLOAT},
                   {ATTR_I, ASSAY__ATTR_INT}};
    size_t counts[FIELDS] = {0}, filled[FIELDS] = {0}; /* of lists: their items */
    struct assay__wire wire = assay__wire_in(message), again = wire;
    struct assay__wire_field field;
    *attr = (struct assay__attr){
        .name = "", .s = "", .reference = "", .raw = message->data, .raw_size = message->size};
    if (!assay__reader_message(reader, message)) return;
    while (assay__reader_next(reader, &wire, &field, "an attribute")) {
        bool ints = field.number == ATTR_INTS, floats = field.number == ATTR_FLOATS;
        size_t count = 1;
        if ((ints || floats) &&
            !assay__wire_count(&field, ints ? ASSAY__WIRE_VARINT : ASSAY__WIRE_FIXED32, &count))
            assay__reader_fail(reader, field.start,
                               "the list of an attribute does not match its type");
        if (field.number < FIELDS) counts[field.number] += count;
    }
    attr->ints = list(reader, counts[ATTR_INTS], sizeof *attr->ints);
    attr->floats = list(reader, counts[ATTR_FLOATS], sizeof *attr->floats);
    attr->strings = list(reader, counts[ATTR_STRINGS], sizeof *attr->strings);
    attr->graphs = list(reader, counts[ATTR_GRAPHS], sizeof *attr->graphs);
    while (assay__reader_next(reader, &again, &field, "an attribute"))
        read_attr_field(reader, &field, filled, attr);
    for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++) {
        if (attr->type == ASSAY__ATTR_NONE && counts[implied[i].field])
            attr->type = implied[i].type;
        if (attr->type == implied[i].type) attr->count = filled[implied[i].field];
    }
    if ((counts[ATTR_GRAPHS] && attr->type != ASSAY__ATTR_GRAPHS) ||
        (counts[ATTR_G] && attr->type != ASSAY__ATTR_GRAPH))
        assay__reader_fail(reader, message->start,
                           "attribute '%.80s' contains a graph but has another type", attr->name);
}

static bool node_extra(uint32_t number)
{
    return number > NODE_DOMAIN;
}

static void read_node(struct assay__reader *reader, const struct assay__wire_field *message,
                      struct assay__node *node)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct carried extra = {.size = 0};
    size_t counts[FIELDS] = {0};
    *node = (struct assay__node){.name = "", .op = "", .domain = "", .doc = ""};
    if (!assay__reader_message(reader, message)) return;
    if (++reader->nodes > ASSAY__ONNX_NODES)
        assay__reader_refuse(reader, ASSAY_ELIMIT, "more than %u nodes", ASSAY__ONNX_NODES);
    count_fields(reader, message, "a node", counts);
    node->inputs = assay__reader_array(reader, counts[NODE_INPUT], sizeof *node->inputs);
    node->outputs = assay__reader_array(reader, counts[NODE_OUTPUT], sizeof *node->outputs);
    node->attrs = list(reader, counts[NODE_ATTRIBUTE], sizeof *node->attrs);
    while (assay__reader_next(reader, &wire, &field, "a node")) {
        switch (field.number) {
        case NODE_INPUT:
            node->inputs[node->input_count++] = assay__reader_text(reader, &field);
            break;
        case NODE_OUTPUT:
            node->outputs[node->output_count++] = assay__reader_text(reader, &field);
            break;
        case NODE_NAME: node->name = assay__reader_text(reader, &field); break;
        case NODE_OP: node->op = assay__reader_text(reader, &field); break;
        case NODE_DOMAIN: node->domain = assay__reader_text(reader, &field); break;
        case NODE_DOC: node->doc = assay__reader_text(reader, &field); break;
        case NODE_ATTRIBUTE: read_attr(reader, &field, &node->attrs[node->attr_count++]); break;
        default: carry(&extra, &field);
        }
    }
    carried_bytes(reader, &extra, message, node_extra, &node->extra, &node->extra_size);
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

static void alloc_graph(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct assay__graph *graph)
{
    size_t counts[FIELDS] = {0};
    count_fields(reader, message, "a graph", counts);
    graph->node_capacity = round_up(counts[GRAPH_NODE]);
    graph->initializer_capacity = round_up(counts[GRAPH_INITIALIZER]);
    graph->value_capacity = round_up(counts[GRAPH_VALUE]);
    graph->nodes = assay__reader_array(reader, graph->node_capacity, sizeof *graph->nodes);
    graph->initializers = assay__reader_array(reader, graph->initializer_capacity,
                                              sizeof *graph->initializers);
    graph->values = assay__reader_array(reader, graph->value_capacity, sizeof *graph->values);
    graph->inputs = assay__reader_array(reader, round_up(counts[GRAPH_INPUT]),
                                        sizeof *graph->inputs);
    graph->outputs = assay__reader_array(reader, round_up(counts[GRAPH_OUTPUT]),
                                         sizeof *graph->outputs);
    graph->sparse_tensors = assay__reader_array(reader, counts[GRAPH_SPARSE],
                                                sizeof *graph->sparse_tensors);
}

static void read_graph(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__graph *graph)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct carried extra = {.size = 0}, sparse = {.size = 0};
    *graph = (struct assay__graph){.name = ""};
    if (reader->depth >= ASSAY__ONNX_DEPTH)
        assay__reader_fail(reader, message->start, "graphs are nested deeper than %d",
                           ASSAY__ONNX_DEPTH);
    alloc_graph(reader, message, graph);
    reader->depth++;
    while (assay__reader_next(reader, &wire, &field, "a graph")) {
        switch (field.number) {
        case GRAPH_NODE: read_node(reader, &field, &graph->nodes[graph->node_count++]); break;
        case GRAPH_NAME: graph->name = assay__reader_text(reader, &field); break;
        case GRAPH_INPUT:
            assay__onnx_value(reader, &field, &graph->inputs[graph->input_count++]);
            break;
        case GRAPH_OUTPUT:
            assay__onnx_value(reader, &field, &graph->outputs[graph->output_count++]);
            break;
        case GRAPH_VALUE:
            assay__onnx_value(reader, &field, &graph->values[graph->value_count++]);
            break;
        case GRAPH_SPARSE:
            carry(&sparse, &field);
            assay__onnx_sparse(reader, &field, &graph->sparse_tensors[graph->sparse_count++]);
            break;
        case GRAPH_INITIALIZER:
            assay__onnx_tensor(reader, &field, &graph->initializers[graph->initializer_count++]);
            break;
        default: carry(&extra, &field);
        }
    }
    reader->depth--;
    carried_bytes(reader, &sparse, message, graph_sparse, &graph->sparse, &graph->sparse_size);
    carried_bytes(reader, &extra, message, graph_extra, &graph->extra, &graph->extra_size);
}

static void read_opset(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct assay__opset *opset)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *opset = (struct assay__opset){"", 0};
    if (!assay__reader_message(reader, message)) return;
    while (assay__reader_next(reader, &wire, &field, "an operator set")) {
        if (field.number == OPSET_DOMAIN) opset->domain = assay__reader_text(reader, &field);
        if (field.number == OPSET_VERSION) opset->version = assay__reader_int(reader, &field);
    }
    if (strcmp(opset->domain, "ai.onnx") == 0) opset->domain = "";
}

/* The model's `extra` keeps functions verbatim, so a model that is not inlined is written back
 * unchanged. */
static void read_function(struct assay__reader *reader, const struct assay__wire_field *message,
                          struct assay__function *f)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t counts[FIELDS] = {0};
    *f = (struct assay__function){.name = "", .domain = "", .overload = ""};
    if (!assay__reader_message(reader, message)) return;
    count_fields(reader, message, "a function", counts);
    f->inputs = assay__reader_array(reader, counts[FUNCTION_INPUT], sizeof *f->inputs);
    f->outputs = assay__reader_array(reader, counts[FUNCTION_OUTPUT], sizeof *f->outputs);
    f->attributes = assay__reader_array(reader, counts[FUNCTION_ATTRIBUTE], sizeof *f->attributes);
    f->defaults = assay__reader_array(reader, counts[FUNCTION_DEFAULT], sizeof *f->defaults);
    f->opsets = assay__reader_array(reader, counts[FUNCTION_OPSET], sizeof *f->opsets);
    if (!(f->body = assay__reader_array(reader, 1, sizeof *f->body))) return;
    f->body->name = "";
    f->body->node_capacity = counts[FUNCTION_NODE];
    f->body->nodes = assay__reader_array(reader, counts[FUNCTION_NODE], sizeof *f->body->nodes);
    reader->depth++;
    while (assay__reader_next(reader, &wire, &field, "a function")) {
        const char **text = field.number == FUNCTION_NAME       ? &f->name
                            : field.number == FUNCTION_DOMAIN   ? &f->domain
                            : field.number == FUNCTION_OVERLOAD ? &f->overload
                            : field.number == FUNCTION_INPUT    ? &f->inputs[f->input_count++]
                            : field.number == FUNCTION_OUTPUT   ? &f->outputs[f->output_count++]
                            : field.number == FUNCTION_ATTRIBUTE
                                ? &f->attributes[f->attribute_count++]
                                : NULL;
        if (text) *text = assay__reader_text(reader, &field);
        if (field.number == FUNCTION_DEFAULT)
            read_attr(reader, &field, &f->defaults[f->default_count++]);
        if (field.number == FUNCTION_NODE)
            read_node(reader, &field, &f->body->nodes[f->body->node_count++]);
        if (field.number == FUNCTION_OPSET)
            read_opset(reader, &field, &f->opsets[f->opset_count++]);
    }
    reader->depth--;
    if (strcmp(f->domain, "ai.onnx") == 0) f->domain = "";
    if (!*f->name) assay__reader_fail(reader, message->start, "a function has no name");
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

static int not_onnx(struct assay__reader *reader, const char *why, size_t byte)
{
    return assay__reader_refuse(reader, ASSAY_EFORMAT, "not an ONNX model (%s at byte %zu)", why,
                                byte);
}

/* A field that extends past the end of the file: truncated if the part before was a model,
 * otherwise garbage. */
static void cut_off(struct assay__reader *reader, const struct assay__wire *wire,
                    const struct assay__wire_field *field, bool first)
{
    bool wrong = false;
    const char *name = field->number ? model_field_name(field->number, field->type, &wrong) : NULL;
    size_t end = (size_t)(wire->end - reader->base);
    if (field->number && (!name || wrong || (first && field->number != MODEL_IR_VERSION)))
        not_onnx(reader, "a length that extends past the end",
                 (size_t)(field->start - reader->base));
    if (field->type == ASSAY__WIRE_BYTES && field->data)
        assay__reader_refuse(reader, ASSAY_EFORMAT,
                             "ends in the middle of %s at byte %zu (expected %zu bytes, found %zu: "
                             "the file is truncated)",
                             name ? name : "a field", end, field->size,
                             (size_t)(wire->end - field->data));
    assay__reader_refuse(reader, ASSAY_EFORMAT,
                         "ends in the middle of %s at byte %zu (the file is truncated)",
                         name ? name : "a field", end);
}

struct model_counts {
    size_t opsets, functions, graphs;
    int64_t ir_version;
    struct carried extra;
};

/* First pass over the top level: checks that this is a ModelProto at all. */
static void count_model(struct assay__reader *reader, const struct assay__wire_field *message,
                        struct model_counts *counts)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    enum assay__wire_status status;
    bool first = true, wrong = false;
    if (message->size == 0)
        assay__reader_refuse(reader, ASSAY_EFORMAT, "not an ONNX model (empty)");
    while (!wrong && (status = assay__wire_next(&wire, &field)) == ASSAY__WIRE_FIELD) {
        model_field_name(field.number, field.type, &wrong);
        counts->opsets += field.number == MODEL_OPSET;
        counts->functions += field.number == MODEL_FUNCTION;
        counts->graphs += field.number == MODEL_GRAPH;
        if (field.number == MODEL_IR_VERSION) counts->ir_version = (int64_t)field.value;
        if (model_extra(field.number)) carry(&counts->extra, &field);
        first = false;
    }
    size_t byte = (size_t)(field.start - reader->base), end = message->size;
    if (wrong) not_onnx(reader, "a field of the wrong kind", byte);
    if (status == ASSAY__WIRE_CUT) cut_off(reader, &wire, &field, first);
    if (status == ASSAY__WIRE_BAD) not_onnx(reader, "bytes that are not a protobuf field", byte);
    if (!counts->ir_version) not_onnx(reader, "no IR version", end);
    if (counts->ir_version < 1 || counts->ir_version > 1000)
        not_onnx(reader, "an impossible IR version", end);
    if (counts->graphs == 0) not_onnx(reader, "the file ends without a graph", end);
    if (counts->graphs > 1) not_onnx(reader, "more than one graph", end);
    if (counts->opsets == 0 && counts->ir_version >= 3)
        assay__reader_refuse(reader, ASSAY_EFORMAT,
                             "has no operator set: it ends at byte %zu (truncated?)", end);
}

/* Newer files are read: what they add is kept, but not interpreted. */
static void note_newer(const struct assay__model *model, const char *label)
{
    if (model->ir_version > ASSAY__ONNX_IR)
        assay__log(ASSAY_LOG_WARNING, "model",
                   "%s: IR version %lld is newer than %d, the newest known", label,
                   (long long)model->ir_version, ASSAY__ONNX_IR);
    if (assay__model_opset(model, "") > ASSAY__ONNX_OPSET)
        assay__log(ASSAY_LOG_WARNING, "model",
                   "%s: operator set %lld is newer than %d, the newest known", label,
                   (long long)assay__model_opset(model, ""), ASSAY__ONNX_OPSET);
}

static int parse(struct assay__model *model, const char *label, const uint8_t *data, size_t size,
                 struct assay_error *error)
{
    struct assay__reader reader = {
        .arena = model->arena, .base = data, .label = label, .error = error, .decode = true};
    const struct assay__wire_field message = {.start = data, .data = data, .size = size};
    struct assay__wire wire = assay__wire_in(&message);
    struct assay__wire_field field;
    struct model_counts counts = {.opsets = 0};
    struct assay__function *function;
    count_model(&reader, &message, &counts);
    model->opsets = assay__reader_array(&reader, counts.opsets, sizeof *model->opsets);
    model->function_names = assay__reader_array(&reader, counts.functions,
                                                sizeof *model->function_names);
    model->functions = assay__reader_array(&reader, counts.functions, sizeof *model->functions);
    carried_bytes(&reader, &counts.extra, &message, model_extra, &model->extra, &model->extra_size);
    while (assay__reader_next(&reader, &wire, &field, "the model")) {
        switch (field.number) {
        case MODEL_IR_VERSION: model->ir_version = assay__reader_int(&reader, &field); break;
        case MODEL_VERSION: model->model_version = assay__reader_int(&reader, &field); break;
        case MODEL_PRODUCER: model->producer = assay__reader_text(&reader, &field); break;
        case MODEL_PRODUCER_VERSION:
            model->producer_version = assay__reader_text(&reader, &field);
            break;
        case MODEL_DOMAIN: model->domain = assay__reader_text(&reader, &field); break;
        case MODEL_DOC: model->doc = assay__reader_text(&reader, &field); break;
        case MODEL_GRAPH: read_graph(&reader, &field, &model->graph); break;
        case MODEL_OPSET: read_opset(&reader, &field, &model->opsets[model->opset_count++]); break;
        case MODEL_FUNCTION:
            function = &model->functions[model->function_count];
            read_function(&reader, &field, function);
            model->function_names[model->function_count++] = assay__reader_printf(
                &reader, "%s:%s", function->domain, function->name);
            break;
        default: break;
        }
    }
    if (!reader.code) note_newer(model, label);
    return reader.code;
}

/* Passes the model to the caller, or frees it. */
static int hand_over(struct assay__model *model, int code, struct assay__model **out)
{
    *out = code ? NULL : model;
    if (code) assay__model_free(model);
    return code;
}

int assay__model_parse(const uint8_t *data, size_t size, struct assay__model **out,
                       struct assay_error *error)
{
    struct assay__model *model = assay__model_new();
    int code = model ? parse(model, "model", data, size, error)
                     : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    return hand_over(model, code, out);
}

int assay__model_read(const char *path, struct assay__model **out, struct assay_error *error)
{
    char file[4096], folder[4096];
    const char *seen = "";
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
    /* most models keep all weights in one file: a repeated location is checked once */
    for (size_t i = 0; !code && i < model->graph.initializer_count; i++) {
        const struct assay__tensor *tensor = &model->graph.initializers[i];
        if (!tensor->external || strcmp(tensor->location, seen) == 0) continue;
        code = assay__tensor_file(model, tensor, file, sizeof file, error);
        seen = tensor->location;
    }
    return hand_over(model, code, out);
}

const struct assay__model_format assay__model_format_onnx = {.endings = ".onnx .pb",
                                                             .read = assay__model_read};
