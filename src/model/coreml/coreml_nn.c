/* coreml_nn.c - a neural network (neuralNetwork, …Classifier, …Regressor of Model.proto): its
 * layers in order, each mapped by its row of coreml_nn_table.c. A kind of layer without a row is
 * kept under the name "layer_FIELD" in the domain "coreml". Shapes are rarely stated: they are
 * inferred from the nodes. */
#include "model/coreml/coreml_nn.h"

#include <string.h>

enum {
    NETWORK_LAYER = 1,
    NETWORK_ARRAY_MAPPING = 5,
    LAYER_NAME = 1,
    LAYER_INPUT = 2,
    LAYER_OUTPUT = 3,
    LAYER_INPUT_TENSOR = 4,
    LAYER_OUTPUT_TENSOR = 5,
    LAYER_KINDS = 100, /* the first of the kinds */
    KIND_BRANCH = 605,
    KIND_LOOP = 615,
    KIND_BREAK = 620,
    KIND_CONTINUE = 625,
};

/* --- generic mapping: attributes by field number -----------------------------------------------
 */

/* "1>axis:i=0": returns the rest of the words. */
static const char *next_attribute(const char *at, uint32_t *field, char name[32], char *type,
                                  int64_t *otherwise, bool *given)
{
    at += strspn(at, " ");
    if (!*at) return NULL;
    *field = 0;
    while (*at >= '0' && *at <= '9')
        *field = *field * 10 + (uint32_t)(*at++ - '0');
    size_t length = strcspn(++at, ":");
    memcpy(name, at, length < 31 ? length : 31);
    name[length < 31 ? length : 31] = 0;
    at += length + 1;
    *type = *at++;
    *given = *at == '=';
    *otherwise = 0;
    if (*given) {
        bool negative = *++at == '-';
        at += negative;
        while (*at >= '0' && *at <= '9')
            *otherwise = *otherwise * 10 + (*at++ - '0');
        if (negative) *otherwise = -*otherwise;
    }
    return at;
}

static int set_attributes(struct assay__nn_layer *layer, struct assay__node *node)
{
    struct assay__model *model = layer->nn->coreml->model;
    const char *at = layer->row->attributes;
    char name[32], type;
    int64_t otherwise, ints[64];
    uint32_t field;
    bool given;
    int code = 0;
    while (!code && (at = next_attribute(at, &field, name, &type, &otherwise, &given))) {
        struct assay__wire_field found;
        /* proto3 leaves zeros out, so an absent number is 0 unless the row says otherwise */
        bool there = assay__nn_field(&layer->params, field, &found);
        if (type == 'f') {
            code = assay__node_set_float(model, node, name,
                                         assay__nn_float(&layer->params, field, (float)otherwise));
        } else if (type == 'l') {
            size_t count = assay__nn_ints(&layer->params, field, ints, 64);
            if (count == SIZE_MAX) return assay__nn_fail(layer, "a list cannot be read");
            if (there && count) code = assay__node_set_ints(model, node, name, ints, count);
        } else {
            code = assay__node_set_int(model, node, name,
                                       assay__nn_int(&layer->params, field, otherwise));
        }
    }
    return assay__nn_done(layer, code);
}

static int map_layer(struct assay__nn_layer *layer)
{
    int code = 0;
    if (layer->row && layer->row->map) return layer->row->map(layer);
    const char *op = layer->row ? layer->row->op : NULL;
    if (!op) op = assay__arena_printf(layer->nn->coreml->reader.arena, "layer_%u", layer->kind);
    if (!op) return assay__nn_done(layer, ASSAY_ENOMEM);
    if (!layer->row || layer->row->kept) layer->out_rank = -1;
    struct assay__node *node = assay__nn_emit(
        layer, op, !layer->row || layer->row->kept ? ASSAY__COREML_DOMAIN : "", "", layer->inputs,
        layer->input_count, NULL, 0, &code);
    if (!node) return code;
    return layer->row ? set_attributes(layer, node) : 0;
}

/* --- one layer -------------------------------------------------------------------------------- */

static int find_input(struct assay__nn_layer *layer, const char *name, size_t at)
{
    const struct assay__nn_value *value = assay__nn_find(layer->nn, name);
    if (!value && assay__map_get(layer->nn->shared->written, name) != ASSAY__MAP_NONE)
        return assay__nn_cannot(layer,
                                "it reads '%.60s', which only a branch or a loop makes: not "
                                "supported",
                                name);
    if (!value)
        return assay__nn_fail(layer, "it reads '%.60s', which nothing before it makes", name);
    layer->inputs[at] = value->name;
    layer->ranks[at] = value->rank;
    return 0;
}

/* What branches and loops write, their networks say; breaking off a loop writes nothing. */
static bool writes_nothing(uint32_t kind)
{
    return kind == KIND_BRANCH || kind == KIND_LOOP || kind == KIND_BREAK || kind == KIND_CONTINUE;
}

static int read_ports(struct assay__nn_layer *layer, const struct assay__wire_field *message)
{
    struct assay__onnx_reader *reader = &layer->nn->coreml->reader;
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t inputs = 0, outputs = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        inputs += field.number == LAYER_INPUT;
        outputs += field.number == LAYER_OUTPUT;
    }
    if (inputs > ASSAY__NN_PORTS || outputs > ASSAY__NN_PORTS ||
        (!outputs && !writes_nothing(layer->kind)))
        return assay__nn_fail(layer, "it has %zu inputs and %zu outputs", inputs, outputs);
    layer->inputs = assay__arena_array(reader->arena, inputs, sizeof *layer->inputs);
    layer->ranks = assay__arena_array(reader->arena, inputs, sizeof *layer->ranks);
    layer->outputs = assay__arena_array(reader->arena, outputs, sizeof *layer->outputs);
    if (!layer->inputs || !layer->ranks || !layer->outputs) return assay__onnx_no_memory(reader);
    wire = assay__wire_over(message->data, message->size);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        const char *name = "";
        int code = 0;
        if (field.number != LAYER_INPUT && field.number != LAYER_OUTPUT) continue;
        code = assay__onnx_text(reader, &field, &name);
        if (!code && !*name) code = assay__nn_fail(layer, "a value without a name");
        if (!code && field.number == LAYER_INPUT)
            code = find_input(layer, name, layer->input_count++);
        if (code) return code;
        if (field.number == LAYER_OUTPUT) layer->outputs[layer->output_count++] = name;
    }
    return 0;
}

/* Tensor: 1 rank, 2 dimValue. Only networks of the exact mapping state shapes that we keep. */
static int state_shapes(struct assay__nn_layer *layer, const struct assay__wire_field *message)
{
    struct assay__nn *nn = layer->nn;
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t at = 0;
    while (nn->exact && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        int64_t dims[64];
        struct assay__dim shape[64];
        if (field.number != LAYER_OUTPUT_TENSOR || field.type != ASSAY__WIRE_BYTES) continue;
        size_t count = assay__nn_ints(&field, 2, dims, 64);
        int64_t rank = assay__nn_int(&field, 1, 0);
        if (at >= layer->output_count) break;
        size_t index = assay__map_get(nn->names, layer->outputs[at++]);
        if (index == ASSAY__MAP_NONE || rank < 1 || rank > 64) continue;
        nn->values[index].rank = (int)rank;
        if (count != (size_t)rank) continue;
        for (size_t i = 0; i < count; i++)
            shape[i] = (struct assay__dim){dims[i] > 0 ? dims[i] : -1, ""};
        if (assay__graph_add_value(nn->coreml->model, &nn->graph->values, &nn->graph->value_count,
                                   nn->values[index].name, ASSAY__FLOAT32, (int)rank, shape))
            return assay__nn_done(layer, ASSAY_ENOMEM);
    }
    return 0;
}

static int name_layer(struct assay__nn_layer *layer)
{
    struct assay__nn *nn = layer->nn;
    struct assay__onnx_reader *reader = &nn->coreml->reader;
    if (!*layer->name)
        layer->name = layer->output_count
                          ? layer->outputs[0]
                          : assay__arena_printf(reader->arena, "layer%zu", reader->nodes);
    if (!layer->name) return assay__onnx_no_memory(reader);
    if (assay__map_get(nn->layers, layer->name) != ASSAY__MAP_NONE)
        return assay__nn_fail(layer, "a second layer of that name");
    if (assay__map_set(nn->layers, layer->name, 0)) return assay__onnx_no_memory(reader);
    if (*nn->layer_prefix)
        layer->name = assay__arena_printf(reader->arena, "%s%s", nn->layer_prefix, layer->name);
    return layer->name ? 0 : assay__onnx_no_memory(reader);
}

static int read_layer(struct assay__nn *nn, const struct assay__wire_field *message)
{
    struct assay__onnx_reader *reader = &nn->coreml->reader;
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__nn_layer layer = {
        .nn = nn, .name = "layer", .at = message->start, .out_rank = -2};
    int code = assay__onnx_message(reader, message);
    while (!code && (code = assay__onnx_next(reader, &wire, &field, "a layer")) == 1) {
        code = 0;
        if (field.number == LAYER_NAME) code = assay__onnx_text(reader, &field, &layer.name);
        if (field.number >= LAYER_KINDS && field.type == ASSAY__WIRE_BYTES) {
            layer.kind = field.number;
            layer.params = field;
        }
    }
    if (!code && ++reader->nodes > ASSAY__ONNX_NODES)
        code = assay__onnx_fail(reader, message->start, "too many layers");
    if (!code && !layer.kind) code = assay__nn_fail(&layer, "it is of no kind");
    if (!code) code = read_ports(&layer, message);
    if (code) return code;
    /* parameters are read by number later: see once that they are fields at all */
    wire = assay__wire_over(layer.params.data, layer.params.size);
    while ((code = assay__onnx_next(reader, &wire, &field, "a layer's parameters")) == 1)
        continue;
    if (code) return code;
    code = name_layer(&layer);
    if (code) return code;
    layer.row = assay__nn_row(layer.kind);
    code = map_layer(&layer);
    return code ? code : state_shapes(&layer, message);
}

/* --- the network ------------------------------------------------------------------------------ */

/* Layers compute with float32 whatever an array is outside (float64 as a rule: Core ML converts
 * it). */
static enum assay__dtype seen_as(enum assay__dtype dtype)
{
    return dtype == ASSAY__FLOAT64 || dtype == ASSAY__UNDEFINED ? ASSAY__FLOAT32 : dtype;
}

/* An old network's [C] is 1 x C, its [C, H, W] 1 x C x H x W. */
static int add_input(struct assay__nn *nn, const struct assay__coreml_feature *feature)
{
    struct assay__coreml *coreml = nn->coreml;
    struct assay__arena *arena = coreml->reader.arena;
    int added = !nn->exact && feature->kind == FEATURE_ARRAY &&
                (feature->rank == 1 || feature->rank == 3);
    int rank = feature->rank < 0 ? -1 : feature->rank + added;
    if (rank > ASSAY__ONNX_RANK) rank = -1;
    int64_t *dims = assay__arena_array(arena, rank > 0 ? (size_t)rank : 0, sizeof *dims);
    bool *flexible = assay__arena_array(arena, rank > 0 ? (size_t)rank : 0, sizeof *flexible);
    if (!dims || !flexible) return assay__onnx_no_memory(&coreml->reader);
    if (added) dims[0] = 1;
    for (int i = 0; i < rank - added; i++) {
        dims[i + added] = feature->dims[i];
        flexible[i + added] = feature->flexible && feature->flexible[i];
    }
    struct assay__dim *shape = assay__coreml_dims(coreml, feature->name, rank, dims, flexible);
    if ((rank > 0 && !shape) ||
        assay__graph_add_value(coreml->model, &nn->graph->inputs, &nn->graph->input_count,
                               feature->name, seen_as(feature->dtype), rank, shape))
        return assay__onnx_no_memory(&coreml->reader);
    if (assay__map_get(nn->names, feature->name) != ASSAY__MAP_NONE)
        return assay_error_set(coreml->reader.error, ASSAY_EFORMAT,
                               "%.160s: two inputs are called '%.100s'", coreml->reader.label,
                               feature->name);
    const char *name = "";
    if (assay__nn_define(nn, feature->name, rank, &name))
        return assay__onnx_no_memory(&coreml->reader);
    nn->values[nn->count - 1].input = true;
    if (!*feature->words) return 0;
    const char *key = assay__arena_printf(arena, "coreml.input.%s", feature->name);
    return key ? assay__coreml_metadata(coreml, key, feature->words)
               : assay__onnx_no_memory(&coreml->reader);
}

/* Results that no layer makes (class labels, dictionaries of probabilities) are made by Core ML
 * itself. */
static int add_outputs(struct assay__nn *nn)
{
    struct assay__coreml *coreml = nn->coreml;
    const struct assay__coreml_features *outputs = &coreml->description.outputs;
    for (size_t i = 0; i < outputs->count; i++) {
        const struct assay__coreml_feature *feature = &outputs->items[i];
        size_t index = assay__map_get(nn->names, feature->name);
        if (index == ASSAY__MAP_NONE &&
            assay__map_get(nn->shared->written, feature->name) != ASSAY__MAP_NONE)
            return assay_error_set(coreml->reader.error, ASSAY_EUNSUPPORTED,
                                   "%.160s: only a branch or a loop makes the output '%.100s': "
                                   "not supported",
                                   coreml->reader.label, feature->name);
        if (index == ASSAY__MAP_NONE) continue;
        bool stated = feature->kind == FEATURE_ARRAY && nn->exact && feature->rank > 0;
        struct assay__dim *shape = stated ? assay__coreml_dims(coreml, feature->name, feature->rank,
                                                               feature->dims, feature->flexible)
                                          : NULL;
        if ((stated && !shape) ||
            assay__graph_add_value(coreml->model, &nn->graph->outputs, &nn->graph->output_count,
                                   nn->values[index].name, seen_as(feature->dtype),
                                   stated ? feature->rank : -1, shape))
            return assay__onnx_no_memory(&coreml->reader);
    }
    return 0;
}

int assay__nn_layers(struct assay__nn *nn, const struct assay__wire_field *message,
                     const char *layer_prefix)
{
    struct assay__onnx_reader *reader = &nn->coreml->reader;
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    struct assay__map *before = nn->layers;
    const char *prefix_before = nn->layer_prefix;
    int code = 0;
    if (reader->depth >= ASSAY__ONNX_DEPTH)
        return assay__onnx_fail(reader, message->start, "more than %d networks within networks",
                                ASSAY__ONNX_DEPTH);
    nn->layers = assay__map_new();
    nn->layer_prefix = layer_prefix;
    if (!nn->layers) code = assay__onnx_no_memory(reader);
    reader->depth++;
    while (!code && (code = assay__onnx_next(reader, &wire, &field, "the network")) == 1)
        code = field.number == NETWORK_LAYER ? read_layer(nn, &field) : 0;
    reader->depth--;
    assay__map_free(nn->layers);
    nn->layers = before;
    nn->layer_prefix = prefix_before;
    return code;
}

int assay__coreml_nn_read(struct assay__coreml *coreml, const struct assay__wire_field *message)
{
    const struct assay__coreml_features *inputs = &coreml->description.inputs;
    struct assay__nn_model shared = {.taken = assay__map_new(), .written = assay__map_new()};
    struct assay__nn nn = {.coreml = coreml,
                           .shared = &shared,
                           .graph = &coreml->model->graph,
                           .prefix = "",
                           .names = assay__map_new()};
    int code = nn.names && shared.taken && shared.written ? 0
                                                          : assay__onnx_no_memory(&coreml->reader);
    coreml->model->format = "Core ML neural network";
    nn.exact = assay__nn_int(message, NETWORK_ARRAY_MAPPING, 0) == 1;
    for (size_t i = 0; i < inputs->count && !code; i++)
        code = add_input(&nn, &inputs->items[i]);
    if (!code) code = assay__nn_layers(&nn, message, "");
    if (!code) code = add_outputs(&nn);
    if (!code && assay__nn_name_outputs(&nn)) code = assay__onnx_no_memory(&coreml->reader);
    if (!code)
        code = assay__coreml_metadata(coreml, "coreml.shapes",
                                      nn.exact ? "as stated" : "as N x C x H x W");
    assay__map_free(nn.names);
    assay__map_free(shared.taken);
    assay__map_free(shared.written);
    return code;
}
