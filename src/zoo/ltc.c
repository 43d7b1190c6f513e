/* ltc.c - the liquid time-constant network (Hasani et al., AAAI 2021), as in the package ncps:
 * `unfolds` steps of the fused solver per time step,
 *   v_j ← (c_j v_j + g_j V_j + Σ_i w_ij σ_ij E_ij + N_j) / (c_j + g_j + Σ_i w_ij σ_ij + D_j + ε),
 *   σ_ij = σ(s_ij (v_i − μ_ij)), c_j = C_j unfolds / dt,
 * N and D the same sums over the inputs, once per time step. Inputs and outputs go through affine
 * maps; the output is the first `outputs` units. The state is in the order of the wiring: motor,
 * command, inter.
 *
 * The graph computes all pairs of neurons, [batch, from, to], as ncps does; w includes the wiring's
 * mask. What does not change within a time step (g V + N, c + g + D + ε) is computed once per step.
 * implicit=1 is ncps' implicit_param_constraints: w, C and g pass through a softplus, which is
 * folded into the weights here. */
#include "zoo/ncp_net.h"

#include <stdlib.h>

/* Synapses from one side: [from, to]. */
struct synapses {
    const char *w, *mu, *sigma, *erev;
};

struct ltc {
    const char *gleak, *vleak, *cm, *leak; /* leak: gleak · vleak */
    struct synapses neurons, sensory;
    const char *input_w, *input_b, *output_w, *output_b;
};

static const char *vector(struct assay__ncp_net *ncp, const char *name, int64_t count, double low,
                          double high, bool positive)
{
    struct assay__ncp_weight weight = {.name = assay__net_text(&ncp->net, "rnn_cell.%s", name),
                                       .rank = 1,
                                       .dims = {count, 0},
                                       .low = low,
                                       .high = high,
                                       .positive = positive && ncp->implicit};
    return assay__ncp_weight(ncp, &weight);
}

static const char *matrix(struct assay__ncp_net *ncp, const char *prefix, const char *name,
                          struct assay__ncp_weight weight)
{
    weight.name = assay__net_text(&ncp->net, "rnn_cell.%s%s", prefix, name);
    weight.rank = 2;
    return assay__ncp_weight(ncp, &weight);
}

/* prefix: "" or "sensory_"; matrix: [rows][units], signed. */
static struct synapses prepare_synapses(struct assay__ncp_net *ncp, const char *prefix,
                                        const int8_t *signs, int64_t rows)
{
    int64_t columns = ncp->units;
    size_t count = (size_t)rows * (size_t)columns;
    struct synapses made = {"", "", "", ""};
    float *mask = malloc(2 * count * sizeof *mask), *erev = mask ? mask + count : NULL;
    if (!mask) {
        assay__net_no_memory(&ncp->net);
        return made;
    }
    for (size_t i = 0; i < count; i++) {
        mask[i] = signs[i] ? 1 : 0;
        erev[i] = signs[i];
    }
    made.sigma = matrix(ncp, prefix, "sigma",
                        (struct assay__ncp_weight){.dims = {rows, columns}, .low = 3, .high = 8});
    made.mu = matrix(ncp, prefix, "mu",
                     (struct assay__ncp_weight){.dims = {rows, columns}, .low = 0.3, .high = 0.8});
    made.w = matrix(ncp, prefix, "w",
                    (struct assay__ncp_weight){.dims = {rows, columns},
                                               .low = 0.001,
                                               .high = 1,
                                               .mask = mask,
                                               .positive = ncp->implicit});
    made.erev = matrix(ncp, prefix, "erev",
                       (struct assay__ncp_weight){.dims = {rows, columns}, .values = erev});
    assay__ncp_check_mask(ncp, assay__net_text(&ncp->net, "rnn_cell.%ssparsity_mask", prefix), rows,
                          columns, mask);
    free(mask);
    return made;
}

static void prepare(struct assay__ncp_net *ncp)
{
    struct assay__net *net = &ncp->net;
    struct ltc *ltc = assay__arena_alloc(net->model->arena, sizeof *ltc);
    ncp->weights = ltc;
    if (!ltc) {
        assay__net_no_memory(net);
        return;
    }
    ltc->gleak = vector(ncp, "gleak", ncp->units, 0.001, 1, true);
    ltc->vleak = vector(ncp, "vleak", ncp->units, -0.2, 0.2, false);
    ltc->cm = vector(ncp, "cm", ncp->units, 0.4, 0.6, true);
    ltc->neurons = prepare_synapses(ncp, "", ncp->wiring.adjacency, ncp->units);
    ltc->sensory = prepare_synapses(ncp, "sensory_", ncp->wiring.sensory, ncp->inputs);
    ltc->input_w = vector(ncp, "input_w", ncp->inputs, 1, 1, false);
    ltc->input_b = vector(ncp, "input_b", ncp->inputs, 0, 0, false);
    ltc->output_w = vector(ncp, "output_w", ncp->outputs, 1, 1, false);
    ltc->output_b = vector(ncp, "output_b", ncp->outputs, 0, 0, false);
    assay__net_push(net, "leak"); /* depends only on constants: computed when the model is loaded */
    ltc->leak = assay__net_2(net, "Mul", ltc->gleak, ltc->vleak);
    assay__net_pop(net);
}

static const char *sum_over_sources(struct assay__net *net, const char *value)
{
    const int64_t axis = 1;
    const char *sum = assay__net_2(net, "ReduceSum", value, assay__net_shape(net, &axis, 1));
    assay__net_attr_int(net, "keepdims", 0);
    return sum;
}

/* Σ_i w σ E and Σ_i w σ of values v [batch, from]. */
static void activate(struct assay__net *net, const struct synapses *synapses, const char *v,
                     const char **numerator, const char **denominator)
{
    const int64_t last = 2;
    assay__net_push(net, "synapses"); /* the nodes that compute every pair */
    v = assay__net_2(net, "Unsqueeze", v, assay__net_shape(net, &last, 1));
    const char *away = assay__net_2(net, "Sub", v, synapses->mu);
    const char *gate = assay__net_1(net, "Sigmoid",
                                    assay__net_2(net, "Mul", away, synapses->sigma));
    const char *weighted = assay__net_2(net, "Mul", gate, synapses->w);
    const char *reversed = assay__net_2(net, "Mul", weighted, synapses->erev);
    *numerator = sum_over_sources(net, reversed);
    *denominator = sum_over_sources(net, weighted);
    assay__net_pop(net);
}

static const char *output(struct assay__ncp_net *ncp, const char *h)
{
    struct assay__net *net = &ncp->net;
    const struct ltc *ltc = ncp->weights;
    if (net->code) return "";
    assay__net_push(net, "motor");
    if (ncp->outputs < ncp->units) h = assay__ncp_slice(ncp, h, 0, ncp->outputs);
    h = assay__net_2(net, "Mul", h, ltc->output_w);
    h = assay__net_2(net, "Add", h, ltc->output_b);
    assay__net_pop(net);
    return h;
}

static void step(struct assay__ncp_net *ncp, struct assay__ncp_step_io *io)
{
    struct assay__net *net = &ncp->net;
    const struct ltc *ltc = ncp->weights;
    const char *numerator = "", *denominator = "", *v = io->h;
    if (net->code) return;
    assay__net_push(net, "sensory");
    const char *x = assay__net_2(net, "Mul", io->x, ltc->input_w);
    x = assay__net_2(net, "Add", x, ltc->input_b);
    activate(net, &ltc->sensory, x, &numerator, &denominator);
    assay__net_pop(net);
    assay__net_push(net, "neurons");
    /* c = C / (dt / unfolds) */
    const char *part = *io->dt ? assay__net_2(net, "Div", io->dt,
                                              assay__net_scalar(net, (float)ncp->unfolds))
                               : assay__net_scalar(net, (float)(ncp->dt / (double)ncp->unfolds));
    const char *c = assay__net_2(net, "Div", ltc->cm, part);
    const char *fixed = assay__net_2(net, "Add", numerator, ltc->leak);
    const char *below = assay__net_2(net, "Add", denominator,
                                     assay__net_2(net, "Add", c, ltc->gleak));
    below = assay__net_2(net, "Add", below, assay__net_scalar(net, (float)ncp->epsilon));
    for (int64_t i = 0; i < ncp->unfolds; i++) {
        assay__net_push(net, "unfold%lld", (long long)i);
        activate(net, &ltc->neurons, v, &numerator, &denominator);
        const char *above = assay__net_2(net, "Add", assay__net_2(net, "Mul", c, v), fixed);
        above = assay__net_2(net, "Add", above, numerator);
        v = assay__net_2(net, "Div", above, assay__net_2(net, "Add", below, denominator));
        assay__net_pop(net);
    }
    assay__net_pop(net);
    io->next = v;
    io->y = output(ncp, v);
}

static int build(struct assay__zoo_params *params)
{
    static const struct assay__ncp_cell cell = {"LTC", prepare, step, output};
    struct assay__ncp_net ncp = {.cell = &cell};
    ncp.unfolds = assay__zoo_int(params, "unfolds");
    ncp.epsilon = assay__zoo_number(params, "epsilon");
    ncp.implicit = assay__zoo_choice(params, "implicit") == 1;
    int code = assay__ncp_read_params(&ncp, params, false);
    return code ? code : assay__ncp_build(&ncp, params);
}

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_INT("unfolds", "6", 1, 64, "solver steps per time step"),
    ASSAY__ZOO_REAL("epsilon", "1e-8", 1e-30, 1, "added to the denominator"),
    ASSAY__ZOO_ONE_OF("implicit", "0", "0|1", "1: weights kept positive by a softplus"),
    {0},
};

const struct assay__zoo_entry assay__zoo_ltc = ASSAY__ZOO_ENTRY(
    "ltc", "Liquid time-constant network, wired as a Neural Circuit Policy", build,
    assay__ncp_wiring_params, declared, assay__ncp_time_params);
