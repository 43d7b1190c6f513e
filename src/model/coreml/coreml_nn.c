/* coreml_nn.c - a neural network (neuralNetwork, …Classifier, …Regressor of Model.proto): its
 * layers in order, each mapped by its row of coreml_nn_table.c. A kind of layer without a row is
 * kept under the name "layer_FIELD" in the domain "coreml". Shapes are rarely stated: they are
 * inferred from the nodes. */
#include "model/coreml/coreml_nn.h"

#include <stdio.h>

/* --- one layer -------------------------------------------------------------------------------- */

/* By its row's function, or as an operator with attributes by field number: "1>axis:i 2>shape:l".
 * proto3 leaves zeros out, so an absent number is 0. */
static void map_layer(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    const struct assay__nn_row *row = layer->row;
    char name[32], type;
    int64_t ints[64];
    unsigned field;
    size_t count;
    int used = 0;
    if (row && row->map) {
        row->map(layer);
        return;
    }
    const char *op = row ? row->op : assay__reader_printf(layer->reader, "layer_%u", layer->kind);
    if (op[0] >= 'a' && op[0] <= 'z') layer->out_rank = -1;
    struct assay__node *node = assay__nn_emit_plain(layer, op);
    for (const char *at = row ? row->attributes : "";
         sscanf(at, "%u>%31[^:]:%c%n", &field, name, &type, &used) == 3; at += used) {
        if (type == 'f')
            assay__node_set_float(layer->model, node, name, assay__nn_float(params, field, 0));
        else if (type == 'i')
            assay__node_set_int(layer->model, node, name, assay__nn_int(params, field, 0));
        else if (assay__nn_list(layer, field, ints, 64, &count) && count)
            assay__node_set_ints(layer->model, node, name, ints, count);
    }
}

static void read_ports(struct assay__nn_layer *layer, const struct assay__wire_field *message)
{
    struct assay__reader *reader = layer->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t inputs = assay__reader_count(reader, message, LAYER_INPUT, "a layer");
    size_t outputs = assay__reader_count(reader, message, LAYER_OUTPUT, "a layer");
    /* what branches and loops write, their networks say; breaking off a loop writes nothing */
    bool writes_none = layer->kind == KIND_BRANCH || layer->kind == KIND_LOOP ||
                       layer->kind == KIND_BREAK || layer->kind == KIND_CONTINUE;
    if (inputs > ASSAY__NN_PORTS || outputs > ASSAY__NN_PORTS || (!outputs && !writes_none))
        assay__nn_fail(layer, "it has %zu inputs and %zu outputs", inputs, outputs);
    layer->inputs = assay__reader_array(reader, inputs, sizeof *layer->inputs);
    layer->ranks = assay__reader_array(reader, inputs, sizeof *layer->ranks);
    layer->outputs = assay__reader_array(reader, outputs, sizeof *layer->outputs);
    while (assay__reader_next(reader, &wire, &field, "a layer")) {
        if (field.number != LAYER_INPUT && field.number != LAYER_OUTPUT) continue;
        const char *name = assay__reader_text(reader, &field);
        if (!*name) assay__nn_fail(layer, "a value without a name");
        if (field.number == LAYER_OUTPUT) {
            layer->outputs[layer->output_count++] = name;
            continue;
        }
        const struct assay__nn_value *value = assay__nn_find(layer->nn, name);
        if (value) {
            layer->ranks[layer->input_count] = value->rank;
            layer->inputs[layer->input_count++] = value->name;
        } else if (assay__map_get(layer->nn->shared->written, name) != ASSAY__MAP_NONE) {
            assay__nn_cannot(layer,
                             "it reads '%.60s', which only a branch or a loop makes: not supported",
                             name);
        } else {
            assay__nn_fail(layer, "it reads '%.60s', which nothing before it makes", name);
        }
    }
}

/* Tensor: 1 rank, 2 dimValue. Only networks of the exact mapping state shapes that we keep. */
static void state_shapes(struct assay__nn_layer *layer, const struct assay__wire_field *message)
{
    struct assay__nn *nn = layer->nn;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    size_t at = 0;
    while (nn->exact && at < layer->output_count &&
           assay__reader_next(&nn->coreml->reader, &wire, &field, "a layer")) {
        int64_t dims[64];
        struct assay__dim shape[64];
        if (field.number != LAYER_OUTPUT_TENSOR || field.type != ASSAY__WIRE_BYTES) continue;
        size_t count = assay__nn_ints(&field, 2, dims, 64);
        int64_t rank = assay__nn_int(&field, 1, 0);
        size_t index = assay__map_get(nn->names, layer->outputs[at++]);
        if (index == ASSAY__MAP_NONE || rank < 1 || rank > 64) continue;
        nn->values[index].rank = (int)rank;
        if (count != (size_t)rank) continue;
        for (size_t i = 0; i < count; i++)
            shape[i] = (struct assay__dim){dims[i] > 0 ? dims[i] : -1, ""};
        assay__graph_add_value(nn->coreml->model, &nn->graph->values, &nn->graph->value_count,
                               nn->values[index].name, ASSAY__FLOAT32, (int)rank, shape);
    }
}

static void read_layer(struct assay__nn *nn, const struct assay__wire_field *message)
{
    struct assay__reader *reader = &nn->coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct assay__nn_layer layer = {.nn = nn,
                                    .reader = reader,
                                    .model = nn->coreml->model,
                                    .name = "layer",
                                    .at = message->start,
                                    .out_rank = -2};
    if (!assay__reader_message(reader, message)) return;
    while (assay__reader_next(reader, &wire, &field, "a layer")) {
        if (field.number == LAYER_NAME) layer.name = assay__reader_text(reader, &field);
        if (field.number >= LAYER_KINDS && field.type == ASSAY__WIRE_BYTES) {
            layer.kind = field.number;
            layer.params = field;
        }
    }
    if (++reader->nodes > ASSAY__ONNX_NODES)
        assay__reader_fail(reader, message->start, "too many layers");
    if (!layer.kind) assay__nn_fail(&layer, "it has no kind");
    read_ports(&layer, message);
    /* parameters are read by number later: check once that they are fields at all */
    wire = assay__wire_in(&layer.params);
    while (assay__reader_next(reader, &wire, &field, "a layer's parameters"))
        continue;
    if (reader->code) return;
    if (!*layer.name)
        layer.name = layer.output_count ? layer.outputs[0]
                                        : assay__reader_printf(reader, "layer%zu", reader->nodes);
    if (assay__map_get(nn->layers, layer.name) != ASSAY__MAP_NONE)
        assay__nn_fail(&layer, "a second layer of that name");
    if (assay__map_set(nn->layers, layer.name, 0)) assay__reader_no_memory(reader);
    if (*nn->layer_prefix)
        layer.name = assay__reader_printf(reader, "%s%s", nn->layer_prefix, layer.name);
    layer.row = assay__nn_row(layer.kind);
    if (!reader->code) map_layer(&layer);
    if (!reader->code) state_shapes(&layer, message);
}

/* --- the network ------------------------------------------------------------------------------ */

/* Layers compute with float32 whatever an array is outside (float64 as a rule: Core ML converts
 * it). */
static enum assay__dtype seen_as(enum assay__dtype dtype)
{
    return dtype == ASSAY__FLOAT64 || dtype == ASSAY__UNDEFINED ? ASSAY__FLOAT32 : dtype;
}

/* An old network's [C] is 1 x C, its [C, H, W] 1 x C x H x W. */
static void add_input(struct assay__nn *nn, const struct assay__coreml_feature *feature)
{
    struct assay__coreml *coreml = nn->coreml;
    int added = !nn->exact && feature->kind == FEATURE_ARRAY &&
                (feature->rank == 1 || feature->rank == 3);
    int rank = feature->rank < 0 ? -1 : feature->rank + added;
    int64_t dims[ASSAY__ONNX_RANK] = {1};
    bool flexible[ASSAY__ONNX_RANK] = {false};
    if (rank > ASSAY__ONNX_RANK) rank = -1;
    for (int i = 0; i < rank - added; i++) {
        dims[i + added] = feature->dims[i];
        flexible[i + added] = feature->flexible && feature->flexible[i];
    }
    struct assay__dim *shape = assay__coreml_dims(coreml, feature->name, rank, dims, flexible);
    if (coreml->reader.code) return;
    assay__graph_add_value(coreml->model, &nn->graph->inputs, &nn->graph->input_count,
                           feature->name, seen_as(feature->dtype), rank, shape);
    if (assay__map_get(nn->names, feature->name) != ASSAY__MAP_NONE)
        assay__reader_refuse(&coreml->reader, ASSAY_EFORMAT, "two inputs are called '%.100s'",
                             feature->name);
    assay__nn_define(nn, feature->name, rank);
    if (!coreml->reader.code) nn->values[nn->count - 1].input = true;
    assay__coreml_note_feature(coreml, "input", feature);
}

/* Results that no layer makes (class labels, dictionaries of probabilities) are made by Core ML
 * itself. */
static void add_output(struct assay__nn *nn, const struct assay__coreml_feature *feature)
{
    struct assay__coreml *coreml = nn->coreml;
    size_t index = assay__map_get(nn->names, feature->name);
    bool stated = feature->kind == FEATURE_ARRAY && nn->exact && feature->rank > 0;
    if (index == ASSAY__MAP_NONE &&
        assay__map_get(nn->shared->written, feature->name) != ASSAY__MAP_NONE)
        assay__reader_refuse(&coreml->reader, ASSAY_EUNSUPPORTED,
                             "only a branch or a loop makes the output '%.100s': not supported",
                             feature->name);
    if (index == ASSAY__MAP_NONE) return;
    struct assay__dim *shape = stated ? assay__coreml_dims(coreml, feature->name, feature->rank,
                                                           feature->dims, feature->flexible)
                                      : NULL;
    if (coreml->reader.code) return;
    assay__graph_add_value(coreml->model, &nn->graph->outputs, &nn->graph->output_count,
                           nn->values[index].name, seen_as(feature->dtype),
                           stated ? feature->rank : -1, shape);
}

void assay__nn_layers(struct assay__nn *nn, const struct assay__wire_field *message,
                      const char *layer_prefix)
{
    struct assay__reader *reader = &nn->coreml->reader;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct assay__map *before = nn->layers;
    const char *prefix_before = nn->layer_prefix;
    if (reader->depth >= ASSAY__ONNX_DEPTH)
        assay__reader_fail(reader, message->start, "more than %d networks within networks",
                           ASSAY__ONNX_DEPTH);
    nn->layers = assay__map_new();
    nn->layer_prefix = layer_prefix;
    if (!nn->layers) assay__reader_no_memory(reader);
    reader->depth++;
    while (assay__reader_next(reader, &wire, &field, "the network"))
        if (field.number == NETWORK_LAYER) read_layer(nn, &field);
    reader->depth--;
    assay__map_free(nn->layers);
    nn->layers = before;
    nn->layer_prefix = prefix_before;
}

void assay__coreml_nn_read(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    const struct assay__coreml_features *inputs = &coreml->description.inputs;
    const struct assay__coreml_features *outputs = &coreml->description.outputs;
    struct assay__nn_model shared = {.taken = assay__map_new(), .written = assay__map_new()};
    struct assay__nn nn = {.coreml = coreml,
                           .shared = &shared,
                           .graph = &coreml->model->graph,
                           .prefix = "",
                           .names = assay__map_new()};
    coreml->model->format = "Core ML neural network";
    nn.exact = assay__nn_int(message, NETWORK_ARRAY_MAPPING, 0) == 1;
    if (!nn.names || !shared.taken || !shared.written) {
        assay__reader_no_memory(&coreml->reader);
        goto out;
    }
    for (size_t i = 0; i < inputs->count; i++)
        add_input(&nn, &inputs->items[i]);
    assay__nn_layers(&nn, message, "");
    for (size_t i = 0; i < outputs->count; i++)
        add_output(&nn, &outputs->items[i]);
    assay__nn_name_outputs(&nn);
    assay__coreml_note(coreml, "shapes", nn.exact ? "as stated" : "as N x C x H x W");
out:
    assay__map_free(nn.names);
    assay__map_free(shared.taken);
    assay__map_free(shared.written);
}
