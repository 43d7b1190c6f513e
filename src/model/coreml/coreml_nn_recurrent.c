/* coreml_nn_recurrent.c - recurrent layers. Core ML keeps a matrix per gate; ML programs have them
 * in one, gate after gate, and so has the node here: lstm, gru, rnn (x, W [gates H, I], R [gates H,
 * H], b [gates H], states …) in the domain "coreml". The gates are copied together. Old networks
 * give x as [N, C] with the sequence in N: it goes through a Reshape to [sequence, 1, I], and
 * results come back as [N, H]. */
#include "model/coreml/coreml_nn.h"

#include "base/checked.h"

#include <string.h>

#define GATES 4

struct gates {
    size_t count;                                              /* gates of a cell */
    uint32_t weights[GATES], recursions[GATES], biases[GATES]; /* fields */
    bool has_bias;
    int64_t in, out;
};

/* Bytes of a WeightParams that holds plain numbers. */
static bool plain(const struct assay__wire_field *message, uint32_t number,
                  struct assay__wire_field *bytes, enum assay__dtype *dtype)
{
    struct assay__wire_field weights;
    if (!assay__nn_message(message, number, &weights)) return false;
    *dtype = ASSAY__FLOAT16;
    if (assay__nn_message(&weights, 2, bytes) && bytes->size) return true;
    *dtype = ASSAY__FLOAT32;
    return assay__nn_message(&weights, 1, bytes) && bytes->size;
}

/* The same matrix of every gate in one. */
static int join(struct assay__nn_layer *layer, const struct assay__wire_field *message,
                const struct gates *gates, const uint32_t *fields, const char *suffix,
                int64_t columns, const char **name)
{
    struct assay__arena *arena = layer->nn->coreml->reader.arena;
    struct assay__wire_field bytes;
    enum assay__dtype dtype = ASSAY__UNDEFINED, other;
    int64_t dims[2] = {0, columns};
    size_t total = 0, at = 0;
    *name = assay__nn_text(layer, suffix);
    for (size_t i = 0; i < gates->count; i++) {
        if (!plain(message, fields[i], &bytes, &other) || (i && other != dtype))
            return assay__nn_fail(layer, "the matrices of its gates cannot be joined");
        dtype = other;
        total += bytes.size;
    }
    int rank = columns ? 2 : 1;
    int64_t elements = 0;
    uint8_t *data = assay__arena_alloc(arena, total);
    if (!data || !*name) return assay__nn_done(layer, ASSAY_ENOMEM);
    if (assay__mul_i64_overflows(gates->out, (int64_t)gates->count, &dims[0]) || dims[0] < 0 ||
        columns < 0 || assay__mul_i64_overflows(dims[0], columns ? columns : 1, &elements) ||
        assay__dtype_bytes(dtype, elements) != total)
        return assay__nn_fail(layer, "its weights have %zu bytes, not what its sizes say", total);
    for (size_t i = 0; i < gates->count; i++) {
        plain(message, fields[i], &bytes, &other);
        memcpy(data + at, bytes.data, bytes.size);
        at += bytes.size;
    }
    return assay__nn_done(layer,
                          !assay__graph_add_initializer(layer->nn->coreml->model, layer->nn->graph,
                                                        *name, dtype, rank, dims, data, total));
}

static int reshape(struct assay__nn_layer *layer, const char *suffix, const char *from,
                   const int64_t *shape, size_t rank, const char *to)
{
    const char *inputs[2] = {from, ""};
    const char *text = assay__arena_printf(layer->nn->coreml->reader.arena, "%s.shape", suffix);
    int code = text ? assay__nn_int64s(layer, text, shape, rank, &inputs[1])
                    : assay__nn_done(layer, ASSAY_ENOMEM);
    if (code) return code;
    const char *const *outputs = to ? &to : NULL;
    assay__nn_emit(layer, "Reshape", "", suffix, inputs, 2, outputs, to ? 1 : 0, &code);
    return code;
}

/* x, W, R, b, states: states and x reshaped in old networks. */
static int prepare(struct assay__nn_layer *layer, const struct gates *gates, const char *inputs[6])
{
    static const char *const names[3] = {"x", "h", "c"};
    int code = 0;
    for (size_t i = 0; i < layer->input_count && i < 3 && !code; i++) {
        size_t at = i ? 3 + i : 0;
        inputs[at] = layer->inputs[i];
        if (layer->nn->exact) continue;
        const int64_t sequence[3] = {-1, 1, gates->in}, state[2] = {1, gates->out};
        const char *fresh = assay__nn_text(layer, names[i]);
        if (!fresh) return assay__nn_done(layer, ASSAY_ENOMEM);
        code = reshape(layer, names[i], inputs[at], i ? state : sequence, i ? 2 : 3, fresh);
        inputs[at] = fresh;
    }
    return code;
}

/* Results of an old network as [N, H]. */
static int flatten_results(struct assay__nn_layer *layer, const char *const *made, int64_t width)
{
    const int64_t shape[2] = {-1, width};
    const char **all = layer->outputs;
    size_t count = layer->output_count;
    int code = 0;
    layer->out_rank = 2;
    layer->output_count = 1;
    for (size_t i = 0; i < count && !code; i++) {
        const char *suffix = assay__arena_printf(layer->nn->coreml->reader.arena, "result%zu", i);
        layer->outputs = &all[i];
        code = suffix ? reshape(layer, suffix, made[i], shape, 2, NULL)
                      : assay__nn_done(layer, ASSAY_ENOMEM);
    }
    layer->outputs = all;
    layer->output_count = count;
    return code;
}

static int emit_cell(struct assay__nn_layer *layer, const struct gates *gates, const char **inputs,
                     size_t input_count, bool sequence, int directions)
{
    struct assay__nn *nn = layer->nn;
    struct assay__model *model = nn->coreml->model;
    const char *made[ASSAY__NN_PORTS];
    int code = 0;
    for (size_t i = 0; i < layer->output_count && !nn->exact; i++) {
        made[i] = assay__arena_printf(nn->coreml->reader.arena, "%s.made%zu", layer->name, i);
        if (!made[i]) return assay__nn_done(layer, ASSAY_ENOMEM);
    }
    struct assay__node *node = assay__nn_emit(layer, layer->row->op, ASSAY__COREML_DOMAIN, "",
                                              inputs, input_count, nn->exact ? NULL : made,
                                              nn->exact ? 0 : layer->output_count, &code);
    if (!node) return code;
    const char *direction = directions == 2                         ? "bidirectional"
                            : assay__nn_int(&layer->params, 100, 0) ? "reverse"
                                                                    : "forward";
    code = assay__node_set_string(model, node, "direction", direction);
    if (!code) code = assay__node_set_int(model, node, "output_sequence", sequence);
    if (code) return assay__nn_done(layer, code);
    if (nn->exact) return 0;
    /* one turn per element of N; how many is not known here unless only the last is given */
    struct assay__dim shape[3] = {{sequence ? -1 : 1, ""}, {1, ""}, {gates->out * directions, ""}};
    for (size_t i = 0; i < layer->output_count && !code; i++)
        code = assay__graph_add_value(model, &nn->graph->values, &nn->graph->value_count, made[i],
                                      ASSAY__FLOAT32, i ? 2 : 3, i ? shape + 1 : shape);
    return code ? assay__nn_done(layer, code)
                : flatten_results(layer, made, gates->out * directions);
}

static bool sizes_fit(const struct gates *gates)
{
    return gates->in > 0 && gates->out > 0 && gates->out < INT32_MAX && gates->in < INT32_MAX;
}

static int cell(struct assay__nn_layer *layer, const struct gates *gates, bool sequence)
{
    const char *inputs[6] = {"", "", "", "", "", ""};
    if (!sizes_fit(gates)) return assay__nn_fail(layer, "a cell without a size");
    int code = join(layer, &layer->params, gates, gates->weights, "weight_ih", gates->in,
                    &inputs[1]);
    if (!code)
        code = join(layer, &layer->params, gates, gates->recursions, "weight_hh", gates->out,
                    &inputs[2]);
    if (!code && gates->has_bias)
        code = join(layer, &layer->params, gates, gates->biases, "bias", 0, &inputs[3]);
    if (!code) code = prepare(layer, gates, inputs);
    return code ? code : emit_cell(layer, gates, inputs, 6, sequence, 1);
}

static int map_rnn(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    const struct gates gates = {1,
                                {30},
                                {31},
                                {32},
                                assay__nn_int(params, 20, 0) != 0,
                                assay__nn_int(params, 1, 0),
                                assay__nn_int(params, 2, 0)};
    return cell(layer, &gates, assay__nn_int(params, 15, 0) != 0);
}

static int map_gru(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    const struct gates gates = {3,
                                {30, 31, 32},
                                {50, 51, 52},
                                {70, 71, 72},
                                assay__nn_int(params, 20, 0) != 0,
                                assay__nn_int(params, 1, 0),
                                assay__nn_int(params, 2, 0)};
    return cell(layer, &gates, assay__nn_int(params, 15, 0) != 0);
}

/* LSTMWeightParams: 1-4 W, 20-23 R, 40-43 b of input, forget, block input and output gate; 15
 * LSTMParams {10 sequenceOutput, 20 hasBiasVectors}. */
static int lstm(struct assay__nn_layer *layer, int directions)
{
    const struct assay__wire_field *params = &layer->params;
    struct assay__wire wire = assay__wire_over(params->data, params->size);
    struct assay__wire_field options = {.data = NULL}, field;
    const char *inputs[11] = {"", "", "", "", "", "", "", "", "", "", ""};
    int found = 0, code = 0;
    assay__nn_message(params, 15, &options);
    const struct gates gates = {4,
                                {1, 2, 3, 4},
                                {20, 21, 22, 23},
                                {40, 41, 42, 43},
                                assay__nn_int(&options, 20, 0) != 0,
                                assay__nn_int(params, 1, 0),
                                assay__nn_int(params, 2, 0)};
    if (!sizes_fit(&gates)) return assay__nn_fail(layer, "a cell without a size");
    while (!code && found < directions && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != 20 || field.type != ASSAY__WIRE_BYTES) continue;
        size_t at = found ? 7 : 1; /* lstm's row: the backward ones follow the peephole */
        const char *const names[2][3] = {{"weight_ih", "weight_hh", "bias"},
                                         {"weight_ih_back", "weight_hh_back", "bias_back"}};
        code = join(layer, &field, &gates, gates.weights, names[found][0], gates.in, &inputs[at]);
        if (!code)
            code = join(layer, &field, &gates, gates.recursions, names[found][1], gates.out,
                        &inputs[at + 1]);
        if (!code && gates.has_bias)
            code = join(layer, &field, &gates, gates.biases, names[found][2], 0, &inputs[at + 2]);
        found++;
    }
    if (!code && found != directions) code = assay__nn_fail(layer, "a cell without its weights");
    if (!code) code = prepare(layer, &gates, inputs);
    return code ? code
                : emit_cell(layer, &gates, inputs, 11, assay__nn_int(&options, 10, 0) != 0,
                            directions);
}

static int map_lstm(struct assay__nn_layer *layer)
{
    return lstm(layer, 1);
}

static int map_bi_lstm(struct assay__nn_layer *layer)
{
    return lstm(layer, 2);
}

const struct assay__nn_row assay__nn_rows_recurrent[] = {
    {400, "simpleRecurrent", "rnn", true, "", map_rnn},
    {410, "gru", "gru", true, "", map_gru},
    {420, "uniDirectionalLSTM", "lstm", true, "", map_lstm},
    {430, "biDirectionalLSTM", "lstm", true, "", map_bi_lstm},
    {0},
};
