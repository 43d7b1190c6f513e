/* ncp_net.c - the network around a cell (ncp_net.h).
 *
 * Inputs: "input" [batch, inputs] (one step) or [batch, seq, inputs], "h0" [batch, units], with
 * mixed memory "c0", with dt=input "dt" [batch, 1] or [batch, seq]: the time since the step before.
 * Outputs: "output" [batch, outputs] or [batch, seq, outputs], "hn", "cn".
 *
 * Unrolled, the graph contains every step, with the same weights. As a Scan, the body is one step;
 * weights stay in the main graph, where a body sees them. Mixed memory puts an LSTM before the
 * cell: its output is the state that the cell continues from (gates in the order i, ig, fg, og; fg
 * + 1). */
#include "zoo/ncp_net.h"

#include "base/json.h"

#include <string.h>

const char *assay__ncp_gemm(struct assay__ncp_net *ncp, const char *scope, const char *x,
                            const struct assay__ncp_linear *linear)
{
    struct assay__net *net = &ncp->net;
    assay__net_push(net, "%s", scope);
    const char *y = assay__net_node(net, "Gemm", ASSAY__NET_IN(x, linear->weight, linear->bias));
    assay__net_attr_int(net, "transB", 1);
    assay__net_pop(net);
    return y;
}

const char *assay__ncp_slice(struct assay__ncp_net *ncp, const char *x, int64_t first, int64_t past)
{
    struct assay__net *net = &ncp->net;
    const char *from = assay__net_shape(net, &first, 1), *to = assay__net_shape(net, &past, 1);
    const int64_t axis = 1;
    return assay__net_node(net, "Slice",
                           ASSAY__NET_IN(x, from, to, assay__net_shape(net, &axis, 1)));
}

/* --- one step --------------------------------------------------------------------------------- */

/* h and c become those after the step. Returns y. Mixed memory, before the cell:
 * c' = c σ(fg + 1) + tanh(i) σ(ig), h = tanh(c') σ(og). */
static const char *time_step(struct assay__ncp_net *ncp, const char *x, const char *dt,
                             const char **h, const char **c)
{
    struct assay__net *net = &ncp->net;
    struct assay__ncp_step_io io = {.x = x, .h = *h, .dt = dt, .y = "", .next = ""};
    if (ncp->mixed_memory) {
        const char *parts[4] = {"", "", "", ""};
        assay__net_push(net, "memory");
        const char *z = assay__net_2(net, "Add",
                                     assay__ncp_gemm(ncp, "input_map", x, &ncp->memory_input),
                                     assay__ncp_gemm(ncp, "recurrent_map", *h, &ncp->memory_state));
        assay__net_node_multi(net, "Split", ASSAY__NET_IN(z), parts, 4);
        assay__net_attr_int(net, "axis", 1);
        const char *input = assay__net_1(net, "Tanh", parts[0]);
        const char *input_gate = assay__net_1(net, "Sigmoid", parts[1]);
        const char *forget = assay__net_2(net, "Add", parts[2], assay__net_scalar(net, 1));
        const char *forget_gate = assay__net_1(net, "Sigmoid", forget);
        const char *output_gate = assay__net_1(net, "Sigmoid", parts[3]);
        *c = assay__net_2(net, "Add", assay__net_2(net, "Mul", *c, forget_gate),
                          assay__net_2(net, "Mul", input, input_gate));
        io.h = assay__net_2(net, "Mul", assay__net_1(net, "Tanh", *c), output_gate);
        assay__net_pop(net);
    }
    ncp->cell->step(ncp, &io);
    *h = io.next;
    return io.y;
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* Makes `value` the output `name`: the value itself is renamed, unless it is already an output. */
static void put_output(struct assay__ncp_net *ncp, const char *value, const char *name,
                       const char *dims)
{
    struct assay__net *net = &ncp->net;
    const char *copy = assay__net_text(net, "%s", name);
    if (net->code) return;
    for (size_t i = 0; i < net->graph->output_count; i++)
        if (strcmp(net->graph->outputs[i].name, value) == 0) {
            assay__net_output(net, value, copy, ASSAY__FLOAT32, dims);
            return;
        }
    for (size_t n = 0; n < net->graph->node_count; n++) {
        struct assay__node *node = &net->graph->nodes[n];
        for (size_t i = 0; i < node->input_count; i++)
            if (strcmp(node->inputs[i], value) == 0) node->inputs[i] = copy;
        for (size_t i = 0; i < node->output_count; i++)
            if (strcmp(node->outputs[i], value) == 0) node->outputs[i] = copy;
    }
    assay__net_output(net, copy, copy, ASSAY__FLOAT32, dims);
}

static void put_outputs(struct assay__ncp_net *ncp, const char *y, const char *h, const char *c)
{
    struct assay__net *net = &ncp->net;
    const char *batch = assay__net_dim(net, ncp->batch, "batch");
    const char *state = ASSAY__NET_DIMS(net, batch, ncp->units);
    bool sequence = ncp->form != ASSAY__NCP_STEP && ncp->return_sequences;
    put_output(ncp, y, "output",
               sequence ? ASSAY__NET_DIMS(net, batch, ncp->seq, ncp->outputs)
                        : ASSAY__NET_DIMS(net, batch, ncp->outputs));
    put_output(ncp, strcmp(y, h) == 0 ? "output" : h, "hn", state);
    if (ncp->mixed_memory) put_output(ncp, c, "cn", state);
}

/* --- the three forms -------------------------------------------------------------------------- */

struct inputs {
    const char *x, *h, *c, *dt;
};

static struct inputs add_inputs(struct assay__ncp_net *ncp)
{
    struct assay__net *net = &ncp->net;
    struct inputs in = {"", "", "", ""};
    const char *batch = assay__net_dim(net, ncp->batch, "batch");
    const char *state = ASSAY__NET_DIMS(net, batch, ncp->units);
    bool one = ncp->form == ASSAY__NCP_STEP;
    in.x = assay__net_input(net, "input", ASSAY__FLOAT32,
                            one ? ASSAY__NET_DIMS(net, batch, ncp->inputs)
                                : ASSAY__NET_DIMS(net, batch, ncp->seq, ncp->inputs));
    in.h = assay__net_input(net, "h0", ASSAY__FLOAT32, state);
    if (ncp->mixed_memory) in.c = assay__net_input(net, "c0", ASSAY__FLOAT32, state);
    if (ncp->dt_input)
        in.dt = assay__net_input(net, "dt", ASSAY__FLOAT32,
                                 ASSAY__NET_DIMS(net, batch, one ? 1 : ncp->seq));
    return in;
}

/* x[:, t], and dt[:, t : t + 1]. */
static const char *take_step(struct assay__ncp_net *ncp, const char *x, const char *index)
{
    const char *taken = assay__net_2(&ncp->net, "Gather", x, index);
    assay__net_attr_int(&ncp->net, "axis", 1);
    return taken;
}

static void build_unrolled(struct assay__ncp_net *ncp, struct inputs in)
{
    struct assay__net *net = &ncp->net;
    const char **ys = assay__arena_array(net->model->arena, (size_t)ncp->seq + 1, sizeof *ys);
    const char *y = "", *dt = "";
    if (!ys) {
        assay__net_no_memory(net);
        return;
    }
    for (int64_t t = 0; t < ncp->seq && !net->code; t++) {
        assay__net_push(net, "step%lld", (long long)t);
        assay__net_push(net, "input");
        const char *x = take_step(ncp, in.x, assay__net_index(net, t));
        if (ncp->dt_input) dt = take_step(ncp, in.dt, assay__net_shape(net, &t, 1));
        assay__net_pop(net);
        ys[t] = y = time_step(ncp, x, dt, &in.h, &in.c);
        assay__net_pop(net);
    }
    if (net->code) return;
    if (ncp->return_sequences) { /* [batch, outputs] of every step, concatenated, then separated */
        const int64_t dims[] = {-1, ncp->seq, ncp->outputs};
        assay__net_push(net, "stack");
        y = assay__net_node(net, "Concat", ys);
        assay__net_attr_int(net, "axis", 1);
        y = assay__net_reshape(net, y, dims, 3);
        assay__net_pop(net);
    }
    put_outputs(ncp, y, in.h, in.c);
}

/* The body of the Scan: (h, c, x, dt) -> (h, c, y). */
static struct assay__graph *scan_body(struct assay__ncp_net *ncp)
{
    struct assay__net *net = &ncp->net;
    struct assay__graph *body = assay__arena_alloc(net->model->arena, sizeof *body),
                        *outer = net->graph;
    if (!body) {
        assay__net_no_memory(net);
        return NULL;
    }
    body->name = "step";
    net->graph = body;
    const char *batch = assay__net_dim(net, ncp->batch, "batch"), *c = "", *dt = "";
    const char *state = ASSAY__NET_DIMS(net, batch, ncp->units);
    const char *h = assay__net_input(net, "step_h", ASSAY__FLOAT32, state);
    if (ncp->mixed_memory) c = assay__net_input(net, "step_c", ASSAY__FLOAT32, state);
    const char *x = assay__net_input(net, "step_x", ASSAY__FLOAT32,
                                     ASSAY__NET_DIMS(net, batch, ncp->inputs));
    assay__net_push(net, "step");
    if (ncp->dt_input) {
        const int64_t axis = 1;
        dt = assay__net_input(net, "step_dt", ASSAY__FLOAT32, batch);
        assay__net_push(net, "input");
        dt = assay__net_2(net, "Unsqueeze", dt, assay__net_shape(net, &axis, 1));
        assay__net_pop(net);
    }
    const char *y = time_step(ncp, x, dt, &h, &c);
    assay__net_pop(net);
    put_output(ncp, h, "step_hn", state);
    if (ncp->mixed_memory) put_output(ncp, c, "step_cn", state);
    if (ncp->return_sequences)
        put_output(ncp, strcmp(y, h) == 0 ? "step_hn" : y, "step_y",
                   ASSAY__NET_DIMS(net, batch, ncp->outputs));
    net->graph = outer;
    return body;
}

static void build_scan(struct assay__ncp_net *ncp, struct inputs in)
{
    struct assay__net *net = &ncp->net;
    struct assay__graph *body = scan_body(ncp);
    const int64_t axes[] = {1, 1};
    const char *inputs[5], *outputs[3] = {"", "", ""};
    size_t count = 0, states = ncp->mixed_memory ? 2 : 1;
    inputs[count++] = in.h;
    if (ncp->mixed_memory) inputs[count++] = in.c;
    inputs[count++] = in.x;
    if (ncp->dt_input) inputs[count++] = in.dt;
    inputs[count] = NULL;
    if (net->code) return;
    assay__net_push(net, "scan");
    assay__net_node_multi(net, "Scan", inputs, outputs, states + (ncp->return_sequences ? 1 : 0));
    assay__net_attr_int(net, "num_scan_inputs", ncp->dt_input ? 2 : 1);
    assay__net_attr_ints(net, "scan_input_axes", axes, ncp->dt_input ? 2 : 1);
    if (ncp->return_sequences) assay__net_attr_ints(net, "scan_output_axes", axes, 1);
    assay__net_attr_graph(net, "body", body);
    const char *y = ncp->return_sequences ? outputs[states] : ncp->cell->output(ncp, outputs[0]);
    assay__net_pop(net);
    put_outputs(ncp, y, outputs[0], outputs[1]);
}

/* --- metadata ---------------------------------------------------------------------------------
 *
 * What the graph does not show goes into the entry "assay.ncp", a JSON object with the cell, its
 * sizes and form, the groups of neurons and, when it is wired, the two matrices as text: one
 * character per pair, '+', '-' or '.', source by source. doc/ncp.md lists the members;
 * src/cost/ncp.c reads them. */

static void put_matrix(struct assay__json_writer *json, struct assay__net *net, const char *key,
                       const int8_t *matrix, int64_t rows, int64_t columns)
{
    size_t count = (size_t)(rows * columns);
    char *text = assay__arena_alloc(net->model->arena, count + 1);
    if (!text) {
        assay__net_no_memory(net);
        return;
    }
    for (size_t i = 0; i < count; i++)
        text[i] = matrix[i] > 0 ? '+' : matrix[i] < 0 ? '-' : '.';
    assay__json_put_string(json, key, text);
}

static void put_group(struct assay__json_writer *json, const char *name, int64_t first,
                      int64_t count)
{
    if (count == 0) return;
    assay__json_object(json);
    assay__json_put_string(json, "name", name);
    assay__json_put_integer(json, "first", first);
    assay__json_put_integer(json, "count", count);
    assay__json_object_end(json);
}

static void put_wiring(struct assay__json_writer *json, struct assay__ncp_net *ncp)
{
    const struct assay__wiring *wiring = &ncp->wiring;
    assay__json_put_number(json, "sparsity", wiring->sparsity);
    assay__json_key(json, "seed");
    assay__json_unsigned(json, wiring->seed);
    assay__json_key(json, "groups");
    assay__json_array(json);
    put_group(json, "inter", wiring->motor + wiring->command, wiring->inter);
    put_group(json, "command", wiring->motor, wiring->command);
    put_group(json, "motor", 0, wiring->motor);
    assay__json_array_end(json);
    put_matrix(json, &ncp->net, "adjacency", wiring->adjacency, wiring->units, wiring->units);
    put_matrix(json, &ncp->net, "sensory", wiring->sensory, wiring->inputs, wiring->units);
}

static void describe(struct assay__ncp_net *ncp)
{
    static const char *const forms[] = {"step", "unrolled", "scan"};
    static const char *const modes[] = {"default", "no_gate", "pure"};
    struct assay__json_writer json;
    struct assay__buf buf = {.data = NULL};
    assay__json_start(&json, &buf, false);
    assay__json_object(&json);
    assay__json_put_integer(&json, "version", 1);
    assay__json_put_string(&json, "cell", ncp->cell->name);
    assay__json_put_string(&json, "wiring",
                           ncp->wired ? assay__wiring_name(ncp->wiring.kind) : "none");
    assay__json_put_string(&json, "form", forms[ncp->form]);
    if (ncp->unfolds == 0) assay__json_put_string(&json, "mode", modes[ncp->mode]);
    assay__json_put_integer(&json, "units", ncp->units);
    assay__json_put_integer(&json, "inputs", ncp->inputs);
    assay__json_put_integer(&json, "outputs", ncp->outputs);
    assay__json_put_integer(&json, "steps", ncp->seq);
    if (ncp->unfolds) assay__json_put_integer(&json, "unfolds", ncp->unfolds);
    assay__json_put_bool(&json, "mixed_memory", ncp->mixed_memory);
    if (ncp->wired) {
        put_wiring(&json, ncp);
    } else {
        assay__json_key(&json, "backbone");
        assay__json_array(&json);
        for (size_t i = 0; i < ncp->backbone_layers; i++)
            assay__json_integer(&json, ncp->backbone[i]);
        assay__json_array_end(&json);
    }
    assay__json_object_end(&json);
    if (buf.failed || assay__model_set_metadata(ncp->net.model, "assay.ncp", buf.data))
        assay__net_no_memory(&ncp->net);
    assay__buf_free(&buf);
}

/* --- all of it -------------------------------------------------------------------------------- */

int assay__ncp_build(struct assay__ncp_net *ncp, struct assay__zoo_params *params)
{
    struct assay__net *net = &ncp->net;
    struct assay__arena *arena = params->model->arena;
    int code = ncp->wired ? assay__wiring_build(&ncp->wiring, arena, params->error) : 0;
    if (code == 0 && ncp->weights_path)
        code = assay__safetensors_open(ncp->weights_path, arena, &ncp->file, params->error);
    if (code) return code;
    ncp->units = ncp->wired ? ncp->wiring.units : ncp->units;
    ncp->outputs = ncp->wired ? ncp->wiring.outputs : ncp->outputs;
    assay__zoo_begin(net, params, ncp->wiring.seed);
    ncp->cell->prepare(ncp);
    if (ncp->mixed_memory) {
        ncp->memory_input = assay__ncp_linear(ncp, "lstm.input_map", ncp->inputs, 4 * ncp->units,
                                              true, NULL);
        ncp->memory_state = assay__ncp_linear(ncp, "lstm.recurrent_map", ncp->units, 4 * ncp->units,
                                              false, NULL);
    }
    for (size_t i = 0; i < ncp->file.count; i++)
        if (!ncp->file.tensors[i].used)
            assay__net_fail(
                net, ASSAY_EINVAL,
                "%s: '%.80s' is not a weight of this network (different mode, wiring or backbone?)",
                ncp->file.path, ncp->file.tensors[i].name);
    if (!net->code) {
        struct inputs in = add_inputs(ncp);
        if (ncp->form == ASSAY__NCP_STEP) {
            assay__net_push(net, "step0");
            const char *y = time_step(ncp, in.x, in.dt, &in.h, &in.c);
            assay__net_pop(net);
            put_outputs(ncp, y, in.h, in.c);
        } else if (ncp->form == ASSAY__NCP_UNROLLED) {
            build_unrolled(ncp, in);
        } else {
            build_scan(ncp, in);
        }
    }
    if (!net->code) describe(ncp);
    assay__safetensors_close(&ncp->file);
    return assay__net_end(net);
}
