/* coreml_nn_recurrent.c - recurrent layers. Core ML has a matrix per gate; ML programs have all of
 * them in one, gate after gate, and so does the node here: lstm, gru, rnn (x, W [gates H, I], R
 * [gates H, H], b [gates H], states …) in the domain "coreml". The gates are copied into one
 * tensor. Old networks have x as [N, C] with the sequence in N: it is reshaped to [sequence, 1, I],
 * and results back to [N, H]. */
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

/* Bytes of a WeightParams with plain numbers. */
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

/* The same matrix of every gate, concatenated; columns 0: a vector. */
static const char *join(struct assay__nn_layer *layer, const struct assay__wire_field *message,
                        const struct gates *gates, const uint32_t *fields, const char *suffix,
                        int64_t columns)
{
    struct assay__wire_field bytes;
    enum assay__dtype dtype = ASSAY__UNDEFINED, other;
    int64_t dims[2] = {0, columns}, elements = 0;
    size_t total = 0, at = 0;
    for (size_t i = 0; i < gates->count; i++) {
        if (!plain(message, fields[i], &bytes, &other) || (i && other != dtype)) {
            assay__nn_fail(layer, "the matrices of its gates cannot be joined");
            return "";
        }
        dtype = other;
        total += bytes.size;
    }
    if (assay__mul_i64_overflows(gates->out, (int64_t)gates->count, &dims[0]) || dims[0] < 0 ||
        columns < 0 || assay__mul_i64_overflows(dims[0], columns ? columns : 1, &elements) ||
        assay__dtype_bytes(dtype, elements) != total)
        assay__nn_fail(layer, "its weights have %zu bytes, which is not what its sizes need",
                       total);
    uint8_t *data = assay__reader_array(layer->reader, total, 1);
    if (!data) return "";
    for (size_t i = 0; i < gates->count; i++) {
        plain(message, fields[i], &bytes, &other);
        memcpy(data + at, bytes.data, bytes.size);
        at += bytes.size;
    }
    const char *name = assay__nn_text(layer, suffix);
    assay__graph_add_initializer(layer->model, layer->nn->graph, name, dtype, columns ? 2 : 1, dims,
                                 data, total);
    return name;
}

/* W, R and b of one direction. */
static void join_all(struct assay__nn_layer *layer, const struct assay__wire_field *message,
                     const struct gates *gates, const char *back, const char **inputs)
{
    struct assay__reader *reader = layer->reader;
    inputs[0] = join(layer, message, gates, gates->weights,
                     assay__reader_printf(reader, "weight_ih%s", back), gates->in);
    inputs[1] = join(layer, message, gates, gates->recursions,
                     assay__reader_printf(reader, "weight_hh%s", back), gates->out);
    if (gates->has_bias)
        inputs[2] = join(layer, message, gates, gates->biases,
                         assay__reader_printf(reader, "bias%s", back), 0);
}

/* Inputs of a Reshape to a constant shape. */
static void shape_inputs(struct assay__nn_layer *layer, const char *suffix, const char *from,
                         const int64_t *shape, size_t rank, const char *inputs[2])
{
    const char *text = assay__reader_printf(layer->reader, "%s.shape", suffix);
    inputs[0] = from;
    inputs[1] = assay__nn_int64s(layer, text, shape, rank);
}

/* x and the states (reshaped in old networks), in their places after W, R, b. */
static void prepare(struct assay__nn_layer *layer, const struct gates *gates, const char **inputs)
{
    static const char *const names[3] = {"x", "h", "c"};
    const int64_t sequence[3] = {-1, 1, gates->in}, state[2] = {1, gates->out};
    for (size_t i = 0; i < layer->input_count && i < 3; i++) {
        const char *reshape[2], *from = layer->inputs[i];
        if (!layer->nn->exact) {
            shape_inputs(layer, names[i], from, i ? state : sequence, i ? 2 : 3, reshape);
            from = assay__nn_result(assay__nn_step(layer, "Reshape", names[i], reshape, 2));
        }
        inputs[i ? 3 + i : 0] = from;
    }
}

static void emit_cell(struct assay__nn_layer *layer, const struct gates *gates, const char **inputs,
                      size_t input_count, bool sequence, int directions)
{
    struct assay__nn *nn = layer->nn;
    struct assay__model *model = nn->coreml->model;
    const char *made[ASSAY__NN_PORTS];
    for (size_t i = 0; i < layer->output_count; i++)
        made[i] = assay__reader_printf(&nn->coreml->reader, "%s.made%zu", layer->name, i);
    struct assay__node *node = assay__nn_node(layer, layer->row->op, "", inputs, input_count,
                                              nn->exact ? NULL : made, layer->output_count);
    const char *direction = directions == 2                         ? "bidirectional"
                            : assay__nn_int(&layer->params, 100, 0) ? "reverse"
                                                                    : "forward";
    assay__node_set_string(model, node, "direction", direction);
    assay__node_set_int(model, node, "output_sequence", sequence);
    if (nn->exact) return;
    /* one iteration per element of N; their number is unknown here unless only the last output is
     * returned */
    struct assay__dim shape[3] = {{sequence ? -1 : 1, ""}, {1, ""}, {gates->out * directions, ""}};
    for (size_t i = 0; i < layer->output_count; i++)
        assay__graph_add_value(model, &nn->graph->values, &nn->graph->value_count, made[i],
                               ASSAY__FLOAT32, i ? 2 : 3, i ? shape + 1 : shape);
    /* the results come back as [N, H] */
    const int64_t flat[2] = {-1, gates->out * directions};
    const char **all = layer->outputs, *reshape[2];
    size_t count = layer->output_count;
    layer->out_rank = 2;
    layer->output_count = 1;
    for (size_t i = 0; i < count; i++) {
        const char *suffix = assay__reader_printf(layer->reader, "result%zu", i);
        layer->outputs = &all[i];
        shape_inputs(layer, suffix, made[i], flat, 2, reshape);
        assay__nn_node(layer, "Reshape", suffix, reshape, 2, NULL, 0);
    }
    layer->outputs = all;
    layer->output_count = count;
}

/* simpleRecurrent and gru: 1 in, 2 out, 15 sequenceOutput, 20 hasBiasVectors, and their matrices.
 * LSTMs: 1 in, 2 out, 15 LSTMParams {10 sequenceOutput, 20 hasBiasVectors}, and for each direction
 * 20 LSTMWeightParams {1-4 W, 20-23 R, 40-43 b of input, forget, block input and output gate}. */
static void map_cell(struct assay__nn_layer *layer)
{
    static const struct gates rnn = {1, {30}, {31}, {32}, false, 0, 0};
    static const struct gates gru = {3, {30, 31, 32}, {50, 51, 52}, {70, 71, 72}, false, 0, 0};
    static const struct gates lstm = {4, {1, 2, 3, 4}, {20, 21, 22, 23}, {40, 41, 42, 43}, false, 0,
                                      0};
    const struct assay__wire_field *params = &layer->params;
    struct assay__wire wire = assay__wire_in(params);
    struct assay__wire_field options = {.data = NULL}, field;
    const char *inputs[11] = {"", "", "", "", "", "", "", "", "", "", ""};
    bool long_short = layer->kind >= 420;
    int found = 0, directions = layer->kind == 430 ? 2 : 1;
    struct gates gates = long_short ? lstm : layer->kind == 400 ? rnn : gru;
    if (!long_short)
        options = *params;
    else if (!assay__nn_message(params, 15, &options))
        options = (struct assay__wire_field){.data = NULL};
    bool sequence = assay__nn_int(&options, long_short ? 10 : 15, 0) != 0;
    gates.has_bias = assay__nn_int(&options, 20, 0) != 0;
    gates.in = assay__nn_int(params, 1, 0);
    gates.out = assay__nn_int(params, 2, 0);
    if (gates.in <= 0 || gates.out <= 0 || gates.out >= INT32_MAX || gates.in >= INT32_MAX) {
        assay__nn_fail(layer, "a cell without a size");
        return;
    }
    if (!long_short) join_all(layer, params, &gates, "", inputs + 1);
    while (long_short && found < directions &&
           assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != 20 || field.type != ASSAY__WIRE_BYTES) continue;
        /* order of lstm's row: the backward ones follow the peephole */
        join_all(layer, &field, &gates, found ? "_back" : "", inputs + (found ? 7 : 1));
        found++;
    }
    if (long_short && found != directions) assay__nn_fail(layer, "a cell without its weights");
    prepare(layer, &gates, inputs);
    emit_cell(layer, &gates, inputs, 11, sequence, directions);
}

const struct assay__nn_row assay__nn_rows_recurrent[] = {
    {400, "simpleRecurrent", "rnn", "", map_cell},
    {410, "gru", "gru", "", map_cell},
    {420, "uniDirectionalLSTM", "lstm", "", map_cell},
    {430, "biDirectionalLSTM", "lstm", "", map_cell},
    {0},
};
