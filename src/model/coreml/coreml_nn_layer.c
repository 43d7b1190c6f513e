/* coreml_nn_layer.c - helpers for the mappings of layers: parameters by field number, nodes,
 * small constants. */
#include "model/coreml/coreml_nn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool assay__nn_field(const struct assay__wire_field *message, uint32_t number,
                     struct assay__wire_field *out)
{
    struct assay__wire wire = assay__wire_in(message);
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
    struct assay__wire wire = assay__wire_in(message);
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

bool assay__nn_list(struct assay__nn_layer *layer, uint32_t number, int64_t *out, size_t limit,
                    size_t *count)
{
    *count = assay__nn_ints(&layer->params, number, out, limit);
    if (*count == SIZE_MAX) assay__nn_fail(layer, "a list cannot be read");
    return *count != SIZE_MAX;
}

size_t assay__nn_borders(const struct assay__wire_field *message, int64_t *begin, int64_t *end)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t count = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD && count < 2) {
        if (field.number != 10 || field.type != ASSAY__WIRE_BYTES) continue;
        begin[count] = assay__nn_int(&field, 1, 0);
        end[count++] = assay__nn_int(&field, 2, 0);
    }
    return count;
}

void assay__nn_fail(struct assay__nn_layer *layer, const char *format, ...)
{
    char detail[200];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    assay__reader_fail(layer->reader, layer->at, "layer '%.60s': %s", layer->name, detail);
}

void assay__nn_cannot(struct assay__nn_layer *layer, const char *format, ...)
{
    char detail[200];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    assay__reader_refuse(layer->reader, ASSAY_EUNSUPPORTED, "layer '%.60s': %s", layer->name,
                         detail);
}

const char *assay__nn_input(const struct assay__nn_layer *layer, size_t i)
{
    return i < layer->input_count ? layer->inputs[i] : "";
}

int assay__nn_rank(const struct assay__nn_layer *layer)
{
    return layer->input_count ? layer->ranks[0] : -1;
}

const char *assay__nn_text(struct assay__nn_layer *layer, const char *suffix)
{
    return assay__reader_printf(layer->reader, "%s.%s", layer->name, suffix);
}

const char *assay__nn_result(const struct assay__node *node)
{
    return node ? node->outputs[0] : "";
}

struct assay__node *assay__nn_node(struct assay__nn_layer *layer, const char *op,
                                   const char *suffix, const char *const *inputs,
                                   size_t input_count, const char *const *outputs,
                                   size_t output_count)
{
    struct assay__nn *nn = layer->nn;
    const char *name = *suffix ? assay__nn_text(layer, suffix) : layer->name;
    const char **names = assay__reader_array(&nn->coreml->reader, layer->output_count,
                                             sizeof *names);
    int rank = layer->out_rank == -2 ? assay__nn_rank(layer) : layer->out_rank;
    if (!names) return NULL;
    if (!outputs) {
        for (size_t i = 0; i < layer->output_count; i++)
            names[i] = assay__nn_define(nn, layer->outputs[i], rank);
        outputs = names;
        output_count = layer->output_count;
    }
    while (input_count && !*inputs[input_count - 1])
        input_count--;
    struct assay__node *node = assay__graph_add_node(nn->coreml->model, nn->graph, op, name, inputs,
                                                     input_count, outputs, output_count);
    if (!node) return NULL;
    node->domain = op[0] >= 'a' && op[0] <= 'z' ? ASSAY__COREML_DOMAIN : "";
    node->source_op = layer->row ? layer->row->name : op;
    return node;
}

struct assay__node *assay__nn_emit(struct assay__nn_layer *layer, const char *op,
                                   const char *const *inputs, size_t input_count)
{
    return assay__nn_node(layer, op, "", inputs, input_count, NULL, 0);
}

struct assay__node *assay__nn_emit_plain(struct assay__nn_layer *layer, const char *op)
{
    return assay__nn_emit(layer, op, layer->inputs, layer->input_count);
}

struct assay__node *assay__nn_step(struct assay__nn_layer *layer, const char *op,
                                   const char *suffix, const char *const *inputs,
                                   size_t input_count)
{
    const char *name = assay__nn_text(layer, suffix);
    return assay__nn_node(layer, op, suffix, inputs, input_count, &name, 1);
}

void assay__nn_add_bias(struct assay__nn_layer *layer, const struct assay__node *step,
                        const char *bias)
{
    const char *inputs[2] = {assay__nn_result(step), bias};
    if (*bias) assay__nn_emit(layer, "Add", inputs, 2);
}

const char *assay__nn_int64s(struct assay__nn_layer *layer, const char *suffix,
                             const int64_t *values, size_t count)
{
    int64_t dims = (int64_t)count;
    int64_t *copy = assay__reader_array(layer->reader, count, sizeof *copy);
    const char *name = assay__nn_text(layer, suffix);
    if (!copy) return "";
    if (count) memcpy(copy, values, count * sizeof *copy);
    assay__graph_add_initializer(layer->model, layer->nn->graph, name, ASSAY__INT64, 1, &dims, copy,
                                 count * sizeof *copy);
    return name;
}

const char *assay__nn_number(struct assay__nn_layer *layer, const char *suffix, float value)
{
    struct assay__node *node = assay__nn_step(layer, "Constant", suffix, NULL, 0);
    assay__node_set_float(layer->model, node, "value_float", value);
    return assay__nn_result(node);
}
