/* onnx_read.c - reads an ONNX file (ModelProto of onnx.proto) into the structures of graph.h: the
 * top level here, graphs and nodes in onnx_graph.c, attributes in onnx_attr.c, tensors and values
 * in onnx_tensor.c.
 *
 * The file is mapped; every message is walked twice, once to count its repeated fields and once to
 * fill arrays of exactly that size (those of graphs rounded up). Names are copied, tensor data is
 * not touched: memory is proportional to the number of nodes and names. Only graphs nest (through
 * attributes), so recursion is bounded by ASSAY__ONNX_DEPTH. A file is ONNX when its top level is a
 * ModelProto with an ir_version, a graph and an operator set; anything else is refused with one
 * line that says where it went wrong. Fields that are not interpreted are carried verbatim. */
#include "model/onnx/onnx.h"

#include "base/log.h"
#include "model/model_format.h"

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

void assay__onnx_carry(struct assay__onnx_carried *carried, const struct assay__wire_field *field)
{
    if (carried->size && carried->data + carried->size != field->start) carried->scattered = true;
    if (!carried->size) carried->data = field->start;
    carried->size += field->total;
}

int assay__onnx_carried(struct assay__onnx_reader *reader,
                        const struct assay__onnx_carried *carried, const uint8_t *data, size_t size,
                        bool (*wanted)(uint32_t number), const uint8_t **out, size_t *out_size)
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
    struct assay__onnx_carried extra;
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
    if (model_extra(field->number)) assay__onnx_carry(&counts->extra, field);
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
    case MODEL_GRAPH: return assay__onnx_graph(reader, field, &model->graph);
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
    code = assay__onnx_carried(&reader, &counts.extra, data, size, model_extra, &model->extra,
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

const struct assay__model_format assay__model_format_onnx = {.endings = ".onnx .pb",
                                                             .read = assay__model_read};
