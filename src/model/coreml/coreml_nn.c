/* coreml_nn.c - a neural network (neuralNetwork, …Classifier, …Regressor of Model.proto): its
 * layers in order, each mapped by its row of coreml_nn_table.c. A kind of layer without a row is
 * kept under the name "layer_FIELD" in the domain "coreml". Shapes are rarely stated: they are
 * inferred from the nodes.
 *
 * A network may write a name again (`copy` does: it is an assignment), and the networks in branches
 * and loops write names of the enclosing networks. A graph has one value per name, so every
 * assignment is a separate value: "NAME", "NAME.again7"; in inner networks "LAYER.then/NAME".
 * Outputs of the model keep their names. */
#include "model/coreml/coreml_nn.h"

#include <stdio.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

struct assay__nn_value *assay__nn_find(const struct assay__nn *nn, const char *source)
{
    for (; nn; nn = nn->outer) {
        size_t i = assay__map_get(nn->names, source);
        if (i != ASSAY__MAP_NONE) return &nn->values[i];
    }
    return NULL;
}

const char *assay__nn_fresh(struct assay__nn *nn, const char *stem)
{
    struct assay__reader *reader = &nn->coreml->reader;
    const char *name = stem;
    while (!reader->code && assay__map_has(nn->shared->taken, name))
        name = assay__reader_printf(reader, "%s.again%zu", stem, ++nn->shared->serial);
    if (assay__map_set(nn->shared->taken, name, 0)) assay__reader_no_memory(reader);
    return name;
}

const char *assay__nn_define(struct assay__nn *nn, const char *source, int rank)
{
    struct assay__reader *reader = &nn->coreml->reader;
    const char *stem = *nn->prefix ? assay__reader_printf(reader, "%s%s", nn->prefix, source)
                                   : source;
    const char *name = assay__nn_fresh(nn, stem);
    void *values = assay__arena_grow(reader->arena, nn->values, nn->count, sizeof *nn->values);
    if (!values || assay__map_set(nn->names, source, nn->count) ||
        (nn->outer && assay__map_set(nn->shared->written, source, 0))) {
        assay__reader_no_memory(reader);
        return "";
    }
    nn->values = values;
    nn->values[nn->count++] = (struct assay__nn_value){source, name, rank, false};
    return name;
}

struct renames {
    struct assay__map *map; /* a name in the graphs -> index in to */
    const char **to;
    size_t count;
};

static void rename_names(const struct renames *renames, const char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = assay__map_get(renames->map, names[i]);
        if (at != ASSAY__MAP_NONE) names[i] = renames->to[at];
    }
}

static void rename_values(const struct renames *renames, struct assay__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rename_names(renames, &values[i].name, 1);
}

/* Names of values are unique in all graphs of the model, so they are replaced wherever they
 * occur. */
static void rename_graph(const struct renames *renames, struct assay__graph *graph)
{
    rename_values(renames, graph->inputs, graph->input_count);
    rename_values(renames, graph->outputs, graph->output_count);
    rename_values(renames, graph->values, graph->value_count);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        rename_names(renames, node->inputs, node->input_count);
        rename_names(renames, node->outputs, node->output_count);
        for (size_t k = 0; k < node->attr_count; k++)
            if (node->attrs[k].g) rename_graph(renames, node->attrs[k].g);
    }
}

/* The main graph's outputs get the names that they have in the model. */
static void name_outputs(struct assay__nn *nn)
{
    const struct assay__coreml_features *outputs = &nn->coreml->description.outputs;
    struct assay__reader *reader = &nn->coreml->reader;
    struct renames renames = {
        assay__map_new(), assay__reader_array(reader, 2 * outputs->count, sizeof *renames.to), 0};
    if (!renames.map) assay__reader_no_memory(reader);
    for (size_t i = 0; i < outputs->count && !reader->code; i++) {
        const char *name = outputs->items[i].name;
        size_t index = assay__map_get(nn->names, name);
        if (index == ASSAY__MAP_NONE || strcmp(nn->values[index].name, name) == 0) continue;
        /* an input keeps its name; an output is named once */
        if (assay__coreml_feature(&nn->coreml->description.inputs, name) ||
            assay__map_has(renames.map, nn->values[index].name))
            continue;
        renames.to[renames.count] = assay__nn_fresh(nn, name);
        renames.to[renames.count + 1] = name;
        if (assay__map_set(renames.map, name, renames.count) ||
            assay__map_set(renames.map, nn->values[index].name, renames.count + 1))
            assay__reader_no_memory(reader);
        renames.count += 2;
    }
    if (!reader->code && renames.count) rename_graph(&renames, nn->graph);
    assay__map_free(renames.map);
}

/* --- one layer -------------------------------------------------------------------------------- */

/* By its row's function, or as an operator with attributes by field number: "1>axis:i 2>shape:l".
 * proto3 omits zeros, so a missing number is 0. */
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
    /* what branches and loops write is in their networks; loopBreak writes nothing */
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
        } else if (assay__map_has(layer->nn->shared->written, name)) {
            assay__nn_cannot(
                layer,
                "it reads '%.60s', which is produced only inside a branch or loop: not supported",
                name);
        } else {
            assay__nn_fail(layer, "it reads '%.60s', which no earlier layer produces", name);
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
    if (!layer.kind) assay__nn_fail(&layer, "it has no type");
    read_ports(&layer, message);
    /* parameters are read by number later: check once that they are fields at all */
    wire = assay__wire_in(&layer.params);
    while (assay__reader_next(reader, &wire, &field, "a layer's parameters"))
        continue;
    if (reader->code) return;
    if (!*layer.name)
        layer.name = layer.output_count ? layer.outputs[0]
                                        : assay__reader_printf(reader, "layer%zu", reader->nodes);
    if (assay__map_has(nn->layers, layer.name))
        assay__nn_fail(&layer, "a second layer with that name");
    if (assay__map_set(nn->layers, layer.name, 0)) assay__reader_no_memory(reader);
    if (*nn->layer_prefix)
        layer.name = assay__reader_printf(reader, "%s%s", nn->layer_prefix, layer.name);
    layer.row = assay__nn_row(layer.kind);
    if (!reader->code) map_layer(&layer);
    if (!reader->code) state_shapes(&layer, message);
}

/* --- the network ------------------------------------------------------------------------------ */

/* Layers compute in float32 whatever the type of an array outside (usually float64: Core ML
 * converts it). */
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
    if (assay__map_has(nn->names, feature->name))
        assay__reader_refuse(&coreml->reader, ASSAY_EFORMAT, "two inputs are called '%.100s'",
                             feature->name);
    assay__nn_define(nn, feature->name, rank);
    if (!coreml->reader.code) nn->values[nn->count - 1].input = true;
    assay__coreml_note_feature(coreml, "input", feature);
}

/* Results that no layer produces (class labels, dictionaries of probabilities) are produced by Core
 * ML itself. */
static void add_output(struct assay__nn *nn, const struct assay__coreml_feature *feature)
{
    struct assay__coreml *coreml = nn->coreml;
    size_t index = assay__map_get(nn->names, feature->name);
    bool stated = feature->kind == FEATURE_ARRAY && nn->exact && feature->rank > 0;
    if (index == ASSAY__MAP_NONE && assay__map_has(nn->shared->written, feature->name))
        assay__reader_refuse(
            &coreml->reader, ASSAY_EUNSUPPORTED,
            "the output '%.100s' is produced only inside a branch or loop: not supported",
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
        assay__reader_fail(reader, message->start, "more than %d nested networks",
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
    name_outputs(&nn);
    assay__coreml_note(coreml, "shapes", nn.exact ? "as stated" : "as N x C x H x W");
out:
    assay__map_free(nn.names);
    assay__map_free(shared.taken);
    assay__map_free(shared.written);
}
