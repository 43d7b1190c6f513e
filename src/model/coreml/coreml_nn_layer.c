/* coreml_nn_layer.c - what the mappings of layers stand on: parameters by field number, nodes,
 * small constants. */
#include "model/coreml/coreml_nn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- parameters: damaged ones were found when the layer was read -------------------------------
 */

bool assay__nn_field(const struct assay__wire_field *message, uint32_t number,
                     struct assay__wire_field *out)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    bool found = false;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != number) continue;
        *out = field;
        found = true;
    }
    return found;
}

bool assay__nn_message(const struct assay__wire_field *message, uint32_t number,
                       struct assay__wire_field *field)
{
    return assay__nn_field(message, number, field) && field->type == ASSAY__WIRE_BYTES;
}

int64_t assay__nn_int(const struct assay__wire_field *message, uint32_t number, int64_t otherwise)
{
    struct assay__wire_field field;
    bool found = assay__nn_field(message, number, &field) && field.type == ASSAY__WIRE_VARINT;
    return found ? (int64_t)field.value : otherwise;
}

float assay__nn_float(const struct assay__wire_field *message, uint32_t number, float otherwise)
{
    struct assay__wire_field field;
    if (!assay__nn_field(message, number, &field) || field.type != ASSAY__WIRE_FIXED32)
        return otherwise;
    uint32_t bits = (uint32_t)field.value;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

size_t assay__nn_ints(const struct assay__wire_field *message, uint32_t number, int64_t *out,
                      size_t limit)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    uint64_t items[64] = {0};
    size_t count = 0;
    if (limit > sizeof items / sizeof items[0]) limit = sizeof items / sizeof items[0];
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        size_t more = 0;
        if (field.number != number) continue;
        if (!assay__wire_count(&field, ASSAY__WIRE_VARINT, &more) || more > limit - count ||
            !assay__wire_items(&field, ASSAY__WIRE_VARINT, items, &count))
            return SIZE_MAX;
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (int64_t)items[i];
    return count;
}

/* --- nodes ------------------------------------------------------------------------------------ */

int assay__nn_fail(struct assay__nn_layer *layer, const char *format, ...)
{
    char detail[200];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return assay__onnx_fail(&layer->nn->coreml->reader, layer->at, "layer '%.60s': %s", layer->name,
                            detail);
}

int assay__nn_cannot(struct assay__nn_layer *layer, const char *format, ...)
{
    char detail[200];
    struct assay__onnx_reader *reader = &layer->nn->coreml->reader;
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return assay_error_set(reader->error, ASSAY_EUNSUPPORTED, "%.160s: layer '%.60s': %s",
                           reader->label, layer->name, detail);
}

int assay__nn_done(struct assay__nn_layer *layer, int code)
{
    return code ? assay__onnx_no_memory(&layer->nn->coreml->reader) : 0;
}

struct assay__model *assay__nn_model(struct assay__nn_layer *layer)
{
    return layer->nn->coreml->model;
}

const char *assay__nn_input(const struct assay__nn_layer *layer, size_t i)
{
    return i < layer->input_count ? layer->inputs[i] : "";
}

const char *assay__nn_text(struct assay__nn_layer *layer, const char *suffix)
{
    return assay__arena_printf(layer->nn->coreml->reader.arena, "%s.%s", layer->name, suffix);
}

struct assay__node *assay__nn_emit(struct assay__nn_layer *layer, const char *op,
                                   const char *domain, const char *suffix,
                                   const char *const *inputs, size_t input_count,
                                   const char *const *outputs, size_t output_count, int *code)
{
    struct assay__nn *nn = layer->nn;
    struct assay__arena *arena = nn->coreml->reader.arena;
    const char *name = *suffix ? assay__nn_text(layer, suffix) : layer->name;
    const char **names = assay__arena_array(arena, layer->output_count + 1, sizeof *names);
    int rank = layer->out_rank;
    *code = ASSAY_ENOMEM;
    if (!name || !names) goto out;
    if (rank == -2) rank = layer->input_count ? layer->ranks[0] : -1;
    if (!outputs) {
        for (size_t i = 0; i < layer->output_count; i++)
            if (assay__nn_define(nn, layer->outputs[i], rank, &names[i])) goto out;
        outputs = names;
        output_count = layer->output_count;
    }
    while (input_count && !*inputs[input_count - 1])
        input_count--;
    struct assay__node *node = assay__graph_add_node(nn->coreml->model, nn->graph, op, name, inputs,
                                                     input_count, outputs, output_count);
    if (!node) goto out;
    node->domain = domain;
    node->source_op = layer->row ? layer->row->name : op;
    *code = 0;
    return node;
out:
    assay__onnx_no_memory(&nn->coreml->reader);
    return NULL;
}

int assay__nn_int64s(struct assay__nn_layer *layer, const char *suffix, const int64_t *values,
                     size_t count, const char **name)
{
    struct assay__model *model = layer->nn->coreml->model;
    int64_t dims = (int64_t)count, *copy = assay__arena_array(model->arena, count, sizeof *copy);
    *name = assay__nn_text(layer, suffix);
    if (!copy || !*name) return assay__nn_done(layer, ASSAY_ENOMEM);
    if (count) memcpy(copy, values, count * sizeof *copy);
    return assay__nn_done(layer, !assay__graph_add_initializer(model, layer->nn->graph, *name,
                                                               ASSAY__INT64, 1, &dims, copy,
                                                               count * sizeof *copy));
}

int assay__nn_number(struct assay__nn_layer *layer, const char *suffix, float value,
                     const char **name)
{
    int code = 0;
    *name = assay__nn_text(layer, suffix);
    if (!*name) return assay__nn_done(layer, ASSAY_ENOMEM);
    struct assay__node *node = assay__nn_emit(layer, "Constant", "", suffix, NULL, 0, name, 1,
                                              &code);
    if (!node) return code;
    return assay__nn_done(
        layer, assay__node_set_float(layer->nn->coreml->model, node, "value_float", value));
}
