/* onnx_read.c - reads an ONNX file (ModelProto of onnx.proto) into the structures of graph.h: the
 * top level here, graphs, nodes and functions in onnx_graph.c, tensors and values in onnx_tensor.c.
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
#include "model/tensor_data.h"

#include <string.h>

/* --- fields carried verbatim ------------------------------------------------------------------ */

void assay__onnx_carry(struct assay__onnx_carried *carried, const struct assay__wire_field *field)
{
    if (carried->size && carried->data + carried->size != field->start) carried->scattered = true;
    if (!carried->size) carried->data = field->start;
    carried->size += field->total;
}

void assay__onnx_carried(struct assay__reader *reader, const struct assay__onnx_carried *carried,
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

/* A field that runs past the end of the file: cut off, if what came before was a model; garbage
 * otherwise. */
static void cut_off(struct assay__reader *reader, const struct assay__wire *wire,
                    const struct assay__wire_field *field, bool first)
{
    bool wrong = false;
    const char *name = field->number ? model_field_name(field->number, field->type, &wrong) : NULL;
    size_t end = (size_t)(wire->end - reader->base);
    if (field->number && (!name || wrong || (first && field->number != MODEL_IR_VERSION)))
        not_onnx(reader, "a length that goes past the end", (size_t)(field->start - reader->base));
    if (field->type == ASSAY__WIRE_BYTES && field->data)
        assay__reader_refuse(reader, ASSAY_EFORMAT,
                             "ends in the middle of %s at byte %zu (it should have %zu bytes, "
                             "%zu are there: the file is cut off)",
                             name ? name : "a field", end, field->size,
                             (size_t)(wire->end - field->data));
    assay__reader_refuse(reader, ASSAY_EFORMAT,
                         "ends in the middle of %s at byte %zu (the file is cut off)",
                         name ? name : "a field", end);
}

struct model_counts {
    size_t opsets, functions, graphs;
    int64_t ir_version;
    struct assay__onnx_carried extra;
};

/* First walk over the top level: is this a ModelProto at all? */
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
        if (model_extra(field.number)) assay__onnx_carry(&counts->extra, &field);
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
                             "names no operator set: it ends at byte %zu before one (cut off?)",
                             end);
}

void assay__onnx_opset(struct assay__reader *reader, const struct assay__wire_field *message,
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
    assay__onnx_carried(&reader, &counts.extra, &message, model_extra, &model->extra,
                        &model->extra_size);
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
        case MODEL_GRAPH: assay__onnx_graph(&reader, &field, &model->graph); break;
        case MODEL_OPSET:
            assay__onnx_opset(&reader, &field, &model->opsets[model->opset_count++]);
            break;
        case MODEL_FUNCTION:
            function = &model->functions[model->function_count];
            assay__onnx_function(&reader, &field, function);
            model->function_names[model->function_count++] = assay__reader_printf(
                &reader, "%s:%s", function->domain, function->name);
            break;
        default: break;
        }
    }
    if (!reader.code) note_newer(model, label);
    return reader.code;
}

/* Gives the model to the caller, or frees it. */
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
    /* most models keep all weights in one file: a location that repeats is looked at once */
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
