/* recurrent.c - stacked LSTM (Hochreiter and Schmidhuber 1997, with forget gates) and GRU (Cho
 * et al., arXiv 1406.1078), one ONNX operator per layer. Weights lie as ONNX has them: W
 * [directions, gates × hidden, inputs], R [directions, gates × hidden, hidden], B [directions, 2
 * × gates × hidden] (the input's biases, then the state's), gates in the order i o f c (LSTM)
 * and z r h (GRU, the reset applied after the state's matrix, as PyTorch and cuDNN do). The
 * number of parameters is PyTorch's. Time is the first axis. state=1: initial states are inputs. */

#include "zoo/blocks.h"

#include <math.h>

struct recurrent {
    const char *model, *op;
    int64_t gates, states; /* LSTM: 4, 2 (hidden and cell); GRU: 3, 1 */
    int64_t layers, hidden, inputs, seq, batch, state;
    int64_t directions;
    const char *first[2][ASSAY__ZOO_LAYERS]; /* initial states of each layer, "" zero */
    const char *last[2][ASSAY__ZOO_LAYERS];  /* final ones */
};

static const char *const state_in[] = {"h0", "c0"}, *const state_out[] = {"hn", "cn"};

static const struct assay__zoo_param declared[] = {
    {"layers", ASSAY__ZOO_INTEGER, "1", NULL, 1, ASSAY__ZOO_LAYERS, "number of layers"},
    {"hidden", ASSAY__ZOO_INTEGER, "256", NULL, 1, 1 << 15, "width of the state"},
    {"inputs", ASSAY__ZOO_INTEGER, "128", NULL, 1, ASSAY__ZOO_WIDTH, "inputs per step"},
    {"seq", ASSAY__ZOO_INTEGER, "(symbolic)", NULL, 1, ASSAY__ZOO_SEQUENCE,
     "length of the sequence"},
    {"batch", ASSAY__ZOO_INTEGER, "(symbolic)", NULL, 1, ASSAY__ZOO_BATCH, "batch size"},
    {"bidirectional", ASSAY__ZOO_INTEGER, "0", NULL, 0, 1, "1: in both directions"},
    {"state", ASSAY__ZOO_INTEGER, "0", NULL, 0, 1, "1: initial states are inputs"},
    {0},
};

static void read_params(struct assay__zoo_params *params, struct recurrent *net)
{
    net->layers = assay__zoo_int(params, "layers");
    net->hidden = assay__zoo_int(params, "hidden");
    net->inputs = assay__zoo_int(params, "inputs");
    net->seq = assay__zoo_int(params, "seq");
    net->batch = assay__zoo_int(params, "batch");
    net->state = assay__zoo_int(params, "state");
    net->directions = 1 + assay__zoo_int(params, "bidirectional");
}

/* "layers × directions, batch, hidden" */
static const char *state_dims(struct assay__net *net, const struct recurrent *r)
{
    return assay__net_text(net, "%lld,%s,%lld", (long long)(r->layers * r->directions),
                           assay__net_dim(net, r->batch, "batch"), (long long)r->hidden);
}

/* Initial states as inputs, cut into one piece per layer. */
static void read_states(struct assay__net *net, struct recurrent *r)
{
    int64_t pieces[ASSAY__ZOO_LAYERS];
    for (int64_t i = 0; i < r->layers; i++)
        pieces[i] = r->directions;
    for (int64_t s = 0; s < r->states; s++) {
        for (int64_t i = 0; i < r->layers; i++)
            r->first[s][i] = "";
        if (!r->state) continue;
        const char *all = assay__net_input(net, state_in[s], ASSAY__FLOAT32, state_dims(net, r));
        r->first[s][0] = all;
        if (r->layers == 1) continue;
        const char *sizes = assay__net_int64s(net, assay__net_text(net, "pieces.%s", state_in[s]),
                                              1, &r->layers, pieces);
        assay__net_node_multi(net, "Split", ASSAY__NET_IN(all, sizes), r->first[s],
                              (size_t)r->layers);
        assay__net_attr_int(net, "axis", 0);
    }
}

/* [seq, directions, batch, hidden] to [seq, batch, directions × hidden] */
static const char *join_directions(struct assay__net *net, const struct recurrent *r, const char *y)
{
    static const int64_t order[] = {0, 2, 1, 3}, axis = 1;
    const int64_t joined[] = {0, 0, r->directions * r->hidden};
    if (r->directions == 1) return assay__net_2(net, "Squeeze", y, assay__net_shape(net, &axis, 1));
    return assay__net_reshape(net, assay__net_transpose(net, y, order, 4), joined, 3);
}

static const char *layer(struct assay__net *net, struct recurrent *r, const char *x, int64_t index)
{
    const int64_t in = index ? r->directions * r->hidden : r->inputs, rows = r->gates * r->hidden;
    const int64_t w_dims[] = {r->directions, rows, in}, r_dims[] = {r->directions, rows, r->hidden},
                  b_dims[] = {r->directions, 2 * rows};
    const char *outputs[3];
    const char *prefix = assay__net_text(net, "layers.%lld", (long long)index);
    assay__net_push(net, "%s", prefix);
    const char *w = assay__net_weight(net, assay__net_text(net, "%s.W", prefix), 3, w_dims, 0,
                                      1 / sqrt((double)in));
    const char *recurrence = assay__net_weight(net, assay__net_text(net, "%s.R", prefix), 3, r_dims,
                                               0, 0.5 / sqrt((double)r->hidden));
    const char *b = assay__net_weight(net, assay__net_text(net, "%s.B", prefix), 2, b_dims, 0, 0.1);
    const char *inputs[8] = {x, w, recurrence, b};
    if (r->state) {
        inputs[4] = ""; /* sequence_lens: all the same */
        for (int64_t s = 0; s < r->states; s++)
            inputs[5 + s] = r->first[s][index];
    }
    assay__net_node_multi(net, r->op, inputs, outputs, 1 + (size_t)r->states);
    assay__net_attr_text(net, "direction", r->directions > 1 ? "bidirectional" : "forward");
    assay__net_attr_int(net, "hidden_size", r->hidden);
    if (r->gates == 3) assay__net_attr_int(net, "linear_before_reset", 1);
    for (int64_t s = 0; s < r->states; s++)
        r->last[s][index] = r->layers > 1 ? outputs[1 + s]
                                          : assay__zoo_rename(net, outputs[1 + s], state_out[s]);
    x = join_directions(net, r, outputs[0]);
    assay__net_pop(net);
    return x;
}

/* Final states of all layers, one below the other. */
static void write_states(struct assay__net *net, const struct recurrent *r)
{
    for (int64_t s = 0; s < r->states; s++) {
        const char *inputs[ASSAY__ZOO_LAYERS + 1] = {NULL};
        for (int64_t i = 0; i < r->layers; i++)
            inputs[i] = r->last[s][i];
        if (r->layers > 1) {
            assay__net_node_named(net, "Concat", inputs, state_out[s]);
            assay__net_attr_int(net, "axis", 0);
        }
        assay__net_output(net, r->layers > 1 ? state_out[s] : inputs[0], state_out[s],
                          ASSAY__FLOAT32, state_dims(net, r));
    }
}

static int build(struct assay__zoo_params *params, struct assay__model *model,
                 struct assay_error *error)
{
    static const struct recurrent lstm = {.model = "lstm", .op = "LSTM", .gates = 4, .states = 2};
    static const struct recurrent gru = {.model = "gru", .op = "GRU", .gates = 3, .states = 1};
    struct recurrent own = *assay__zoo_name(params) == 'l' ? lstm : gru, *r = &own;
    struct assay__net net;
    read_params(params, r);
    assay__net_begin(&net, model, r->model, 11, error);
    const char *start = assay__net_text(&net, "%s,%s", assay__net_dim(&net, r->seq, "seq"),
                                        assay__net_dim(&net, r->batch, "batch"));
    const char *x = assay__net_input(&net, "input", ASSAY__FLOAT32,
                                     assay__net_text(&net, "%s,%lld", start, (long long)r->inputs));
    read_states(&net, r);
    for (int64_t i = 0; i < r->layers; i++)
        x = layer(&net, r, x, i);
    x = assay__zoo_rename(&net, x, "output");
    assay__net_output(
        &net, x, "output", ASSAY__FLOAT32,
        assay__net_text(&net, "%s,%lld", start, (long long)(r->directions * r->hidden)));
    write_states(&net, r);
    return assay__net_end(&net);
}

const struct assay__zoo_entry assay__zoo_lstm = {"lstm", "LSTM layers", {declared}, build};

const struct assay__zoo_entry assay__zoo_gru = {"gru", "GRU layers", {declared}, build};
