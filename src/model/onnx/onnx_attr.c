/* onnx_attr.c - reads an AttributeProto: walked twice, once to count its lists and once to fill
 * them. Long strings stay in the file (ASSAY__ONNX_TEXT); graphs within are read by onnx_graph.c,
 * which bounds their depth. */
#include "model/onnx/onnx.h"

#include <string.h>

static struct assay__graph *read_subgraph(struct assay__reader *reader,
                                          const struct assay__wire_field *field)
{
    struct assay__graph *graph = assay__reader_array(reader, 1, sizeof *graph);
    if (graph && assay__reader_message(reader, field)) assay__onnx_graph(reader, field, graph);
    return graph;
}

static const char *read_bytes(struct assay__reader *reader, const struct assay__wire_field *field,
                              size_t *size)
{
    /* Compiled programs are kept in string attributes too (EPContext): those stay in the file. */
    *size = field->size <= ASSAY__ONNX_TEXT ? field->size : 0;
    if (!assay__reader_message(reader, field)) return "";
    const char *text = assay__arena_strndup(reader->arena, (const char *)field->data, *size);
    if (!text) assay__reader_no_memory(reader);
    return text ? text : "";
}

struct attr_counts {
    size_t ints, floats, strings, graphs;
    bool f, i, s, t, g;
};

static void count_attr(struct assay__reader *reader, const struct assay__wire_field *message,
                       struct attr_counts *counts)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__reader_next(reader, &wire, &field, "an attribute")) {
        size_t count = 0;
        if (field.number == ATTR_INTS || field.number == ATTR_FLOATS) {
            bool ints = field.number == ATTR_INTS;
            if (!assay__wire_count(&field, ints ? ASSAY__WIRE_VARINT : ASSAY__WIRE_FIXED32, &count))
                assay__reader_fail(reader, field.start, "an attribute's list is not of its type");
            *(ints ? &counts->ints : &counts->floats) += count;
        }
        counts->strings += field.number == ATTR_STRINGS;
        counts->graphs += field.number == ATTR_GRAPHS;
        counts->f |= field.number == ATTR_F;
        counts->i |= field.number == ATTR_I;
        counts->s |= field.number == ATTR_S;
        counts->t |= field.number == ATTR_T;
        counts->g |= field.number == ATTR_G;
    }
}

/* IR 1 files may leave the type out; then it follows from the field that is there. */
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

/* NULL for an empty list. */
static void *list(struct assay__reader *reader, size_t count, size_t size)
{
    return count ? assay__reader_array(reader, count, size) : NULL;
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

static void read_scalar(struct assay__reader *reader, const struct assay__wire_field *field,
                        struct assay__attr *attr)
{
    uint32_t bits = (uint32_t)field->value;
    int64_t type = 0;
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
            assay__reader_fail(reader, field->start, "a float attribute is not a float");
        memcpy(&attr->f, &bits, sizeof bits);
        break;
    default: break;
    }
}

static void read_field(struct assay__reader *reader, const struct assay__wire_field *field,
                       struct attr_counts *filled, struct assay__attr *attr)
{
    size_t size;
    switch (field->number) {
    case ATTR_T:
    case ATTR_SPARSE:
        if (!(attr->t = assay__reader_array(reader, 1, sizeof *attr->t))) return;
        if (field->number == ATTR_T)
            assay__onnx_tensor(reader, field, attr->t);
        else
            assay__onnx_sparse(reader, field, attr->t);
        break;
    case ATTR_G:
        if (attr->g) assay__reader_fail(reader, field->start, "an attribute has two graphs");
        attr->g = read_subgraph(reader, field);
        break;
    case ATTR_GRAPHS: attr->graphs[filled->graphs++] = read_subgraph(reader, field); break;
    case ATTR_STRINGS: attr->strings[filled->strings++] = read_bytes(reader, field, &size); break;
    case ATTR_FLOATS: decode_floats(field, attr->floats, &filled->floats); break;
    case ATTR_INTS:
        if (!assay__wire_items(field, ASSAY__WIRE_VARINT, (uint64_t *)attr->ints, &filled->ints))
            assay__reader_fail(reader, field->start, "an attribute's number has too many bytes");
        break;
    default: read_scalar(reader, field, attr);
    }
}

void assay__onnx_attr(struct assay__reader *reader, const struct assay__wire_field *message,
                      struct assay__attr *attr)
{
    struct attr_counts counts = {.ints = 0}, filled = {.ints = 0};
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *attr = (struct assay__attr){
        .name = "", .s = "", .reference = "", .raw = message->data, .raw_size = message->size};
    if (!assay__reader_message(reader, message)) return;
    count_attr(reader, message, &counts);
    attr->ints = list(reader, counts.ints, sizeof *attr->ints);
    attr->floats = list(reader, counts.floats, sizeof *attr->floats);
    attr->strings = list(reader, counts.strings, sizeof *attr->strings);
    attr->graphs = list(reader, counts.graphs, sizeof *attr->graphs);
    while (assay__reader_next(reader, &wire, &field, "an attribute"))
        read_field(reader, &field, &filled, attr);
    if (attr->type == ASSAY__ATTR_NONE) attr->type = implied_type(&counts);
    attr->count = attr->type == ASSAY__ATTR_INTS      ? filled.ints
                  : attr->type == ASSAY__ATTR_FLOATS  ? filled.floats
                  : attr->type == ASSAY__ATTR_STRINGS ? filled.strings
                  : attr->type == ASSAY__ATTR_GRAPHS  ? filled.graphs
                                                      : 0;
    if ((counts.graphs && attr->type != ASSAY__ATTR_GRAPHS) ||
        (counts.g && attr->type != ASSAY__ATTR_GRAPH))
        assay__reader_fail(reader, message->start,
                           "attribute '%.80s' holds a graph but is not of that type", attr->name);
}
