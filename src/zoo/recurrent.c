/* recurrent.c - stacked LSTM (Hochreiter and Schmidhuber 1997, with forget gates) and GRU (Cho et
 * al., arXiv 1406.1078), one ONNX operator per layer. Weights are laid out as in ONNX: W
 * [directions, gates × hidden, inputs], R [directions, gates × hidden, hidden], B [directions, 2 ×
 * gates × hidden] (the input's biases, then the state's), gates in the order i o f c (LSTM) and z r
 * h (GRU, the reset applied after the state's matrix, as PyTorch and cuDNN do). The number of
 * parameters is the same as in PyTorch. Time is the first axis. state=1: initial states are
 * inputs. */

#include "zoo/net_blocks.h"

#include <math.h>
#include <string.h>

struct recurrent {
    const char *op;
    int64_t gates, states; /* LSTM: 4, 2 (hidden and cell); GRU: 3, 1 */
    int64_t layers, hidden, inputs, batch, state, directions;
    const char *first[2][ASSAY__ZOO_LAYERS]; /* initial states of each layer, "" zero */
    const char *last[2][ASSAY__ZOO_LAYERS];  /* final ones */
};

static const char *const state_in[] = {"h0", "c0"}, *const state_out[] = {"hn", "cn"};

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_INT("layers", "1", 1, ASSAY__ZOO_LAYERS, "number of layers"),
    ASSAY__ZOO_INT("hidden", "256", 1, 1 << 15, "width of the state"),
    ASSAY__ZOO_INT("inputs", "128", 1, ASSAY__ZOO_WIDTH, "inputs per step"),
    ASSAY__ZOO_INT("seq", "(symbolic)", 1, ASSAY__ZOO_SEQUENCE, "length of the sequence"),
    ASSAY__ZOO_PARAM_BATCH,
    ASSAY__ZOO_INT("bidirectional", "0", 0, 1, "1: in both directions"),
    ASSAY__ZOO_INT("state", "0", 0, 1, "1: initial states are inputs"),
    {0},
};

/* "layers × directions, batch, hidden" */
static const char *state_dims(struct assay__net *net, const struct recurrent *r)
{
    return assay__net_text(net, "%lld,%s,%lld", (long long)(r->layers * r->directions),
                           assay__net_dim(net, r->batch, "batch"), (long long)r->hidden);
}

/* Initial states as inputs, split into one piece per layer. */
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

static const char *layer(struct assay__net *net, struct recurrent *r, const char *x, int64_t index)
{
    const int64_t in = index ? r->directions * r->hidden : r->inputs, rows = r->gates * r->hidden;
    static const int64_t order[] = {0, 2, 1, 3}, axis = 1;
    const int64_t joined[] = {0, 0, r->directions * r->hidden};
    const int64_t w_dims[] = {r->directions, rows, in}, r_dims[] = {r->directions, rows, r->hidden},
                  b_dims[] = {r->directions, 2 * rows};
    const char *outputs[3];
    const char *name = assay__net_text(net, "layers.%lld", (long long)index);
    assay__net_push(net, "%s", name);
    const char *w = assay__net_part(net, name, "W", 3, w_dims, 0, 1 / sqrt((double)in));
    const char *recurrence = assay__net_part(net, name, "R", 3, r_dims, 0,
                                             0.5 / sqrt((double)r->hidden));
    const char *b = assay__net_part(net, name, "B", 2, b_dims, 0, 0.1);
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
    /* [seq, directions, batch, hidden] to [seq, batch, directions × hidden] */
    if (r->directions == 1)
        x = assay__net_2(net, "Squeeze", outputs[0], assay__net_shape(net, &axis, 1));
    else
        x = assay__net_reshape(net, assay__net_transpose(net, outputs[0], order, 4), joined, 3);
    assay__net_pop(net);
    return x;
}

static int build(struct assay__zoo_params *params)
{
    bool lstm = strcmp(params->entry->name, "lstm") == 0;
    struct recurrent r = {.op = lstm ? "LSTM" : "GRU",
                          .gates = lstm ? 4 : 3,
                          .states = lstm ? 2 : 1,
                          .layers = assay__zoo_int(params, "layers"),
                          .hidden = assay__zoo_int(params, "hidden"),
                          .inputs = assay__zoo_int(params, "inputs"),
                          .batch = assay__zoo_int(params, "batch"),
                          .state = assay__zoo_int(params, "state"),
                          .directions = 1 + assay__zoo_int(params, "bidirectional")};
    struct assay__net net;
    assay__zoo_begin(&net, params, 11);
    const char *seq = assay__net_dim(&net, assay__zoo_int(params, "seq"), "seq");
    const char *start = assay__net_text(&net, "%s,%s", seq, assay__net_dim(&net, r.batch, "batch"));
    const char *x = assay__net_input(&net, "input", ASSAY__FLOAT32,
                                     ASSAY__NET_DIMS(&net, start, r.inputs));
    read_states(&net, &r);
    for (int64_t i = 0; i < r.layers; i++)
        x = layer(&net, &r, x, i);
    assay__zoo_output(&net, x, "output", ASSAY__NET_DIMS(&net, start, r.directions * r.hidden));
    for (int64_t s = 0; s < r.states; s++) { /* final states of all layers, concatenated */
        const char *inputs[ASSAY__ZOO_LAYERS + 1] = {NULL};
        memcpy(inputs, r.last[s], (size_t)r.layers * sizeof *inputs);
        if (r.layers > 1) {
            assay__net_node_named(&net, "Concat", inputs, state_out[s]);
            assay__net_attr_int(&net, "axis", 0);
        }
        assay__net_output(&net, r.layers > 1 ? state_out[s] : inputs[0], state_out[s],
                          ASSAY__FLOAT32, state_dims(&net, &r));
    }
    return assay__net_end(&net);
}

const struct assay__zoo_entry assay__zoo_lstm = {"lstm", "LSTM layers", {declared}, build};

const struct assay__zoo_entry assay__zoo_gru = {"gru", "GRU layers", {declared}, build};
