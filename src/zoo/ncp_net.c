/* ncp_net.c - the network around a cell (ncp_net.h).
 *
 * Inputs: "input" [batch, inputs] (one step) or [batch, seq, inputs], "h0" [batch, units], with
 * mixed memory "c0", with dt=input "dt" [batch, 1] or [batch, seq]: the time since the step before.
 * Outputs: "output" [batch, outputs] or [batch, seq, outputs], "hn", "cn".
 *
 * Unrolled, every step is there, with the same weights. As a Scan, the body is one step; weights
 * stay in the main graph, where a body sees them. Mixed memory puts an LSTM before the cell: its
 * output is the state that the cell goes on from (gates in the order i, ig, fg, og; fg + 1). */
#include "zoo/ncp_net.h"

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

static void prepare_memory(struct assay__ncp_net *ncp)
{
    ncp->memory_input = assay__ncp_linear(ncp, "lstm.input_map", ncp->inputs, 4 * ncp->units, true,
                                          NULL);
    ncp->memory_state = assay__ncp_linear(ncp, "lstm.recurrent_map", ncp->units, 4 * ncp->units,
                                          false, NULL);
}

/* c' = c σ(fg + 1) + tanh(i) σ(ig), h = tanh(c') σ(og). Returns h; *c becomes c'. */
static const char *memory_step(struct assay__ncp_net *ncp, const char *x, const char *h,
                               const char **c)
{
    struct assay__net *net = &ncp->net;
    const char *parts[4] = {"", "", "", ""};
    assay__net_push(net, "memory");
    const char *z = assay__net_2(net, "Add",
                                 assay__ncp_gemm(ncp, "input_map", x, &ncp->memory_input),
                                 assay__ncp_gemm(ncp, "recurrent_map", h, &ncp->memory_state));
    assay__net_node_multi(net, "Split", ASSAY__NET_IN(z), parts, 4);
    assay__net_attr_int(net, "axis", 1);
    const char *input = assay__net_1(net, "Tanh", parts[0]);
    const char *input_gate = assay__net_1(net, "Sigmoid", parts[1]);
    const char *forget = assay__net_2(net, "Add", parts[2], assay__net_scalar(net, 1));
    const char *forget_gate = assay__net_1(net, "Sigmoid", forget);
    const char *output_gate = assay__net_1(net, "Sigmoid", parts[3]);
    *c = assay__net_2(net, "Add", assay__net_2(net, "Mul", *c, forget_gate),
                      assay__net_2(net, "Mul", input, input_gate));
    const char *out = assay__net_2(net, "Mul", assay__net_1(net, "Tanh", *c), output_gate);
    assay__net_pop(net);
    return out;
}

/* h and c become those after the step. Returns y. */
static const char *time_step(struct assay__ncp_net *ncp, const char *x, const char *dt,
                             const char **h, const char **c)
{
    struct assay__ncp_step_io io = {.x = x, .h = *h, .dt = dt, .y = "", .next = ""};
    if (ncp->mixed_memory) io.h = memory_step(ncp, x, *h, c);
    ncp->cell->step(ncp, &io);
    *h = io.next;
    return io.y;
}

/* --- outputs ---------------------------------------------------------------------------------- */

static bool is_output(const struct assay__graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->output_count; i++)
        if (strcmp(graph->outputs[i].name, name) == 0) return true;
    return false;
}

/* Makes `value` the output `name`: the value itself is renamed, unless it is an output already. */
static void put_output(struct assay__ncp_net *ncp, const char *value, const char *name,
                       const char *dims)
{
    struct assay__net *net = &ncp->net;
    const char *copy = assay__net_text(net, "%s", name);
    if (net->code) return;
    if (is_output(net->graph, value)) {
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
    const char *state = assay__net_text(net, "%s,%lld", batch, (long long)ncp->units);
    bool sequence = ncp->form != ASSAY__NCP_STEP && ncp->return_sequences;
    const char *dims = sequence ? assay__net_text(net, "%s,%lld,%lld", batch, (long long)ncp->seq,
                                                  (long long)ncp->outputs)
                                : assay__net_text(net, "%s,%lld", batch, (long long)ncp->outputs);
    put_output(ncp, y, "output", dims);
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
    const char *state = assay__net_text(net, "%s,%lld", batch, (long long)ncp->units);
    const char *time = ncp->form == ASSAY__NCP_STEP
                           ? ""
                           : assay__net_text(net, ",%lld", (long long)ncp->seq);
    in.x = assay__net_input(net, "input", ASSAY__FLOAT32,
                            assay__net_text(net, "%s%s,%lld", batch, time, (long long)ncp->inputs));
    in.h = assay__net_input(net, "h0", ASSAY__FLOAT32, state);
    if (ncp->mixed_memory) in.c = assay__net_input(net, "c0", ASSAY__FLOAT32, state);
    if (ncp->dt_input)
        in.dt = assay__net_input(net, "dt", ASSAY__FLOAT32,
                                 assay__net_text(net, "%s%s", batch, *time ? time : ",1"));
    return in;
}

static void build_step(struct assay__ncp_net *ncp, struct inputs in)
{
    assay__net_push(&ncp->net, "step0");
    const char *y = time_step(ncp, in.x, in.dt, &in.h, &in.c);
    assay__net_pop(&ncp->net);
    put_outputs(ncp, y, in.h, in.c);
}

/* x[:, t], and dt[:, t : t + 1]. */
static const char *take_step(struct assay__ncp_net *ncp, const char *x, const char *index)
{
    const char *taken = assay__net_2(&ncp->net, "Gather", x, index);
    assay__net_attr_int(&ncp->net, "axis", 1);
    return taken;
}

/* [batch, outputs] of every step, side by side, then apart. */
static const char *stack(struct assay__ncp_net *ncp, const char **steps)
{
    struct assay__net *net = &ncp->net;
    const int64_t dims[] = {-1, ncp->seq, ncp->outputs};
    assay__net_push(net, "stack");
    const char *joined = assay__net_node(net, "Concat", steps);
    assay__net_attr_int(net, "axis", 1);
    const char *apart = assay__net_reshape(net, joined, dims, 3);
    assay__net_pop(net);
    return apart;
}

static void build_unrolled(struct assay__ncp_net *ncp, struct inputs in)
{
    struct assay__net *net = &ncp->net;
    const char **ys = assay__arena_array(net->model->arena, (size_t)ncp->seq + 1, sizeof *ys);
    const char *y = "", *dt = "";
    if (!ys) {
        assay__net_fail(net, ASSAY_ENOMEM, "out of memory");
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
    put_outputs(ncp, ncp->return_sequences ? stack(ncp, ys) : y, in.h, in.c);
}

/* The body of the Scan: (h, c, x, dt) -> (h, c, y). */
static struct assay__graph *scan_body(struct assay__ncp_net *ncp)
{
    struct assay__net *net = &ncp->net;
    struct assay__graph *body = assay__arena_alloc(net->model->arena, sizeof *body),
                        *outer = net->graph;
    if (!body) {
        assay__net_fail(net, ASSAY_ENOMEM, "out of memory");
        return NULL;
    }
    body->name = "step";
    net->graph = body;
    const char *batch = assay__net_dim(net, ncp->batch, "batch"), *c = "", *dt = "";
    const char *state = assay__net_text(net, "%s,%lld", batch, (long long)ncp->units);
    const char *h = assay__net_input(net, "step_h", ASSAY__FLOAT32, state);
    if (ncp->mixed_memory) c = assay__net_input(net, "step_c", ASSAY__FLOAT32, state);
    const char *x = assay__net_input(
        net, "step_x", ASSAY__FLOAT32,
        assay__net_text(net, "%s,%lld", batch, (long long)ncp->inputs));
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
                   assay__net_text(net, "%s,%lld", batch, (long long)ncp->outputs));
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

/* --- all of it -------------------------------------------------------------------------------- */

static void check_all_used(struct assay__ncp_net *ncp)
{
    for (size_t i = 0; i < ncp->file.count; i++)
        if (!ncp->file.tensors[i].used)
            assay__net_fail(&ncp->net, ASSAY_EINVAL,
                            "%s: '%.80s' is no weight of this network (another mode, wiring or "
                            "backbone?)",
                            ncp->file.path, ncp->file.tensors[i].name);
}

int assay__ncp_build(struct assay__ncp_net *ncp, struct assay__model *model, const char *name,
                     struct assay_error *error)
{
    int code = ncp->wired ? assay__wiring_build(&ncp->wiring, model->arena, error) : 0;
    if (code == 0 && ncp->weights_path)
        code = assay__safetensors_open(ncp->weights_path, model->arena, &ncp->file, error);
    if (code) return code;
    ncp->units = ncp->wired ? ncp->wiring.units : ncp->units;
    ncp->outputs = ncp->wired ? ncp->wiring.outputs : ncp->outputs;
    assay__net_begin(&ncp->net, model, name, ncp->wiring.seed, error);
    ncp->cell->prepare(ncp);
    if (ncp->mixed_memory) prepare_memory(ncp);
    check_all_used(ncp);
    if (!ncp->net.code) {
        struct inputs in = add_inputs(ncp);
        if (ncp->form == ASSAY__NCP_STEP)
            build_step(ncp, in);
        else if (ncp->form == ASSAY__NCP_UNROLLED)
            build_unrolled(ncp, in);
        else
            build_scan(ncp, in);
    }
    if (!ncp->net.code) assay__ncp_describe(ncp);
    assay__safetensors_close(&ncp->file);
    return assay__net_end(&ncp->net);
}
