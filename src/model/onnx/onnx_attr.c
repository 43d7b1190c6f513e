/* onnx_attr.c - reads an AttributeProto: walked twice, once to count its lists and once to fill
 * them. Long strings stay in the file (ASSAY__ONNX_TEXT); graphs within are read by onnx_graph.c,
 * which bounds their depth. */
#include "model/onnx/onnx.h"

#include <string.h>

static int read_subgraph(struct assay__onnx_reader *reader, const struct assay__wire_field *field,
                         struct assay__graph **graph)
{
    int code = assay__onnx_message(reader, field);
    if (code) return code;
    *graph = assay__arena_alloc(reader->arena, sizeof **graph);
    if (!*graph) return assay__onnx_no_memory(reader);
    return assay__onnx_graph(reader, field, *graph);
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
