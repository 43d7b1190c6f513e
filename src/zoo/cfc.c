/* cfc.c - the closed-form continuous-time network (Hasani et al., arXiv 2106.13898), as in the
 * package ncps. With x = [input, h], after the backbone if there is one:
 *   default  f1 = tanh(ff1 x), f2 = tanh(ff2 x), s = σ(time_a x · dt + time_b x),
 *            h' = f1 (1 − s) + s f2
 *   no_gate  h' = f1 + s f2
 *   pure     h' = A − A exp(−dt (|w_tau| + |ff1 x|)) ff1 x
 * Wired by an NCP: three such cells in series, inter, command, motor, without a backbone; the
 * wiring masks the input columns of ff1 and ff2; recurrent columns and time_a, time_b are dense.
 * The state is [inter, command, motor]. Wired by Random or FullyConnected: one cell, masked by the
 * sensory synapses; its output is the first `outputs` units (ncps returns all of them). Dense: one
 * cell of `units` after a backbone of linear layers and 1.7159 tanh(0.666 x). */
#include "zoo/ncp_net.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 3

struct cell {
    const char *scope; /* its group */
    int64_t in, hidden;
    struct assay__ncp_linear ff1, ff2, time_a, time_b;
    const char *w_tau, *a;
};

struct cfc {
    struct cell cells[CELLS];
    size_t count;
    struct assay__ncp_linear backbone[ASSAY__NCP_LAYERS];
};

/* --- weights ---------------------------------------------------------------------------------- */

/* Neurons of a cell, as numbered by the wiring. */
struct range {
    int64_t first, count;
};

/* [hidden, in + hidden]: 1 for a synapse, and 1 in all recurrent columns. On the heap. */
static float *make_mask(const struct assay__ncp_net *ncp, struct range to, const struct range *from)
{
    const struct assay__wiring *wiring = &ncp->wiring;
    int64_t in = from ? from->count : ncp->inputs, width = in + to.count;
    float *mask = malloc((size_t)to.count * (size_t)width * sizeof *mask);
    for (int64_t r = 0; mask && r < to.count; r++)
        for (int64_t c = 0; c < width; c++) {
            int64_t target = to.first + r;
            int8_t synapse = 1;
            if (c < in && from)
                synapse = wiring->adjacency[(from->first + c) * wiring->units + target];
            else if (c < in)
                synapse = wiring->sensory[c * wiring->units + target];
            mask[r * width + c] = synapse ? 1 : 0;
        }
    return mask;
}

static const char *row_weight(struct assay__ncp_net *ncp, const char *prefix, const char *name,
                              int64_t width, bool absolute)
{
    double glorot = sqrt(6.0 / (double)(1 + width));
    struct assay__ncp_weight weight = {.name = assay__net_text(&ncp->net, "%s.%s", prefix, name),
                                       .rank = 2,
                                       .dims = {1, width},
                                       .low = -glorot,
                                       .high = glorot,
                                       .absolute = absolute};
    return assay__ncp_weight(ncp, &weight);
}

/* A linear map of the cell, "PREFIX.NAME". */
static struct assay__ncp_linear map(struct assay__ncp_net *ncp, const struct cell *cell,
                                    const char *prefix, const char *name, int64_t width,
                                    const float *mask)
{
    return assay__ncp_linear(ncp, assay__net_text(&ncp->net, "%s.%s", prefix, name), width,
                             cell->hidden, true, mask);
}

static void cell_weights(struct assay__ncp_net *ncp, struct cell *cell, const char *prefix,
                         int64_t width, const float *mask)
{
    cell->ff1 = map(ncp, cell, prefix, "ff1", width, mask);
    if (ncp->mode == ASSAY__NCP_PURE) {
        cell->w_tau = row_weight(ncp, prefix, "w_tau", cell->hidden, true);
        cell->a = row_weight(ncp, prefix, "A", cell->hidden, false);
        return;
    }
    cell->ff2 = map(ncp, cell, prefix, "ff2", width, mask);
    cell->time_a = map(ncp, cell, prefix, "time_a", width, NULL);
    cell->time_b = map(ncp, cell, prefix, "time_b", width, NULL);
}

static void prepare_wired(struct assay__ncp_net *ncp, struct cfc *cfc)
{
    const struct assay__wiring *w = &ncp->wiring;
    const struct range layers[] = {
        {w->motor + w->command, w->inter}, {w->motor, w->command}, {0, w->motor}};
    const struct range all = {0, w->units};
    static const char *const scopes[] = {"inter", "command", "motor"};
    bool layered = assay__wiring_layered(w);
    int64_t in = ncp->inputs;
    cfc->count = layered ? CELLS : 1;
    for (size_t i = 0; i < cfc->count && !ncp->net.code; i++) {
        struct range to = layered ? layers[i] : all;
        const char *prefix = assay__net_text(&ncp->net, "rnn_cell.layer_%zu", i);
        float *mask = make_mask(ncp, to, i ? &layers[i - 1] : NULL);
        if (!mask) assay__net_no_memory(&ncp->net);
        cfc->cells[i] = (struct cell){
            .scope = layered ? scopes[i] : "neurons", .in = in, .hidden = to.count};
        if (mask) cell_weights(ncp, &cfc->cells[i], prefix, in + to.count, mask);
        if (mask)
            assay__ncp_check_mask(ncp, assay__net_text(&ncp->net, "%s.sparsity_mask", prefix),
                                  to.count, in + to.count, mask);
        free(mask);
        in = to.count;
    }
}

static void prepare(struct assay__ncp_net *ncp)
{
    struct cfc *cfc = assay__arena_alloc(ncp->net.model->arena, sizeof *cfc);
    int64_t width = ncp->inputs + ncp->units;
    ncp->weights = cfc;
    if (!cfc) {
        assay__net_no_memory(&ncp->net);
        return;
    }
    if (ncp->wired) {
        prepare_wired(ncp, cfc);
        return;
    }
    cfc->count = 1;
    cfc->cells[0] = (struct cell){.scope = "heads", .in = ncp->inputs, .hidden = ncp->units};
    for (size_t i = 0; i < ncp->backbone_layers; i++) {
        const char *name = assay__net_text(&ncp->net, "rnn_cell.backbone.%zu", 2 * i);
        cfc->backbone[i] = assay__ncp_linear(ncp, name, width, ncp->backbone[i], true, NULL);
        width = ncp->backbone[i];
    }
    cell_weights(ncp, &cfc->cells[0], "rnn_cell", width, NULL);
}

/* --- a step ----------------------------------------------------------------------------------- */

static const char *joined(struct assay__net *net, const char *scope, const char *const *parts)
{
    assay__net_push(net, "%s", scope);
    const char *all = assay__net_node(net, "Concat", parts);
    assay__net_attr_int(net, "axis", 1);
    assay__net_pop(net);
    return all;
}

/* value · dt; nothing to do if dt is the constant 1. */
static const char *times_dt(struct assay__ncp_net *ncp, const char *value, const char *dt)
{
    if (*dt) return assay__net_2(&ncp->net, "Mul", value, dt);
    if (ncp->dt == 1) return value;
    return assay__net_2(&ncp->net, "Mul", value, assay__net_scalar(&ncp->net, (float)ncp->dt));
}

/* h' of one cell; the formulas are at the top of this file. */
static const char *cell_step(struct assay__ncp_net *ncp, const struct cell *cell, const char *x,
                             const char *dt)
{
    struct assay__net *net = &ncp->net;
    const char *h;
    assay__net_push(net, "%s", cell->scope);
    const char *ff1 = assay__ncp_gemm(ncp, "ff1", x, &cell->ff1);
    if (ncp->mode == ASSAY__NCP_PURE) {
        assay__net_push(net, "solve");
        const char *rate = assay__net_2(net, "Add", assay__net_1(net, "Abs", ff1), cell->w_tau);
        const char *decay = assay__net_1(net, "Neg", times_dt(ncp, rate, dt));
        decay = assay__net_2(net, "Mul", assay__net_1(net, "Exp", decay), cell->a);
        h = assay__net_2(net, "Sub", cell->a, assay__net_2(net, "Mul", decay, ff1));
    } else {
        const char *ff2 = assay__ncp_gemm(ncp, "ff2", x, &cell->ff2);
        const char *time_a = assay__ncp_gemm(ncp, "time_a", x, &cell->time_a);
        const char *time_b = assay__ncp_gemm(ncp, "time_b", x, &cell->time_b);
        assay__net_push(net, "gate");
        ff1 = assay__net_1(net, "Tanh", ff1);
        ff2 = assay__net_1(net, "Tanh", ff2);
        const char *time = assay__net_2(net, "Add", times_dt(ncp, time_a, dt), time_b);
        const char *s = assay__net_1(net, "Sigmoid", time);
        const char *one = ncp->mode == ASSAY__NCP_DEFAULT ? assay__net_scalar(net, 1) : "";
        if (*one) ff1 = assay__net_2(net, "Mul", ff1, assay__net_2(net, "Sub", one, s));
        h = assay__net_2(net, "Add", ff1, assay__net_2(net, "Mul", s, ff2));
    }
    assay__net_pop(net);
    assay__net_pop(net);
    return h;
}

static const char *backbone(struct assay__ncp_net *ncp, const struct cfc *cfc, const char *x)
{
    struct assay__net *net = &ncp->net;
    assay__net_push(net, "backbone");
    for (size_t i = 0; i < ncp->backbone_layers; i++) {
        x = assay__ncp_gemm(ncp, assay__net_text(net, "%zu", i), x, &cfc->backbone[i]);
        assay__net_push(net, "%zu", i);
        x = assay__net_2(net, "Mul", x, assay__net_scalar(net, 0.666f));
        x = assay__net_1(net, "Tanh", x);
        x = assay__net_2(net, "Mul", x, assay__net_scalar(net, 1.7159f));
        assay__net_pop(net);
    }
    assay__net_pop(net);
    return x;
}

/* y: the first `outputs` units, or the motor neurons at the end. */
static const char *output(struct assay__ncp_net *ncp, const char *h)
{
    bool layered = ncp->wired && assay__wiring_layered(&ncp->wiring);
    int64_t first = layered ? ncp->units - ncp->outputs : 0;
    if (ncp->outputs == ncp->units) return h;
    assay__net_push(&ncp->net, "output");
    const char *y = assay__ncp_slice(ncp, h, first, first + ncp->outputs);
    assay__net_pop(&ncp->net);
    return y;
}

static void step(struct assay__ncp_net *ncp, struct assay__ncp_step_io *io)
{
    struct assay__net *net = &ncp->net;
    const struct cfc *cfc = ncp->weights;
    const char *parts[CELLS] = {"", "", ""}, *x = io->x;
    if (net->code) return;
    if (cfc->count != CELLS) {
        const char *scope = ncp->backbone_layers ? "backbone" : cfc->cells[0].scope;
        x = joined(net, scope, ASSAY__NET_IN(x, io->h));
        if (ncp->backbone_layers) x = backbone(ncp, cfc, x);
        io->next = cell_step(ncp, &cfc->cells[0], x, io->dt);
        io->y = output(ncp, io->next);
        return;
    }
    const int64_t sizes[] = {cfc->cells[0].hidden, cfc->cells[1].hidden, cfc->cells[2].hidden};
    assay__net_push(net, "state");
    assay__net_node_multi(net, "Split", ASSAY__NET_IN(io->h, assay__net_shape(net, sizes, CELLS)),
                          parts, CELLS);
    assay__net_attr_int(net, "axis", 1);
    assay__net_pop(net);
    for (size_t i = 0; i < CELLS; i++) {
        const struct cell *cell = &cfc->cells[i];
        x = joined(net, cell->scope, ASSAY__NET_IN(x, parts[i]));
        x = parts[i] = cell_step(ncp, cell, x, io->dt);
    }
    io->next = joined(net, "state", ASSAY__NET_IN(parts[0], parts[1], parts[2]));
    io->y = x;
}

/* --- parameters ------------------------------------------------------------------------------- */

/* "64x32": widths, or one width for all layers. */
static int read_backbone(struct assay__ncp_net *ncp, struct assay__zoo_params *params,
                         const char *units, int64_t layers)
{
    char text[256];
    size_t count = 0, length = units ? strlen(units) : 0;
    if (length >= sizeof text) return assay__zoo_refuse(params, "cfc: backbone_units");
    memcpy(text, units ? units : "128", length ? length + 1 : 4);
    for (char *at = text, *end; at; at = end) {
        end = strchr(at, 'x');
        if (end) *end++ = '\0';
        int64_t width = 0;
        if (count == ASSAY__NCP_LAYERS || assay__text_int64(at, &width) || width < 1 ||
            width > ASSAY__WIRING_MOST)
            return assay__zoo_refuse(
                params,
                "cfc: backbone_units=%.60s: up to %d widths from 1 to %d, as in "
                "64x32",
                units, ASSAY__NCP_LAYERS, ASSAY__WIRING_MOST);
        ncp->backbone[count++] = width;
    }
    if (layers < 0) layers = (int64_t)count;
    if (count > 1 && layers != (int64_t)count)
        return assay__zoo_refuse(
            params, "cfc: %lld backbone_layers, but %zu widths in backbone_units=%.60s",
            (long long)layers, count, units);
    for (size_t i = count; i < (size_t)layers; i++)
        ncp->backbone[i] = ncp->backbone[0];
    ncp->backbone_layers = (size_t)layers;
    return 0;
}

static int build(struct assay__zoo_params *params)
{
    static const struct assay__ncp_cell cell = {"CfC", prepare, step, output};
    struct assay__ncp_net ncp = {.cell = &cell};
    const char *backbone_units = assay__zoo_text(params, "backbone_units");
    int64_t layers = assay__zoo_int_or(params, "backbone_layers", -1);
    bool dense = backbone_units || layers >= 0;
    ncp.mode = assay__zoo_choice(params, "mode");
    int code = dense ? read_backbone(&ncp, params, backbone_units, layers) : 0;
    if (!code) code = assay__ncp_read_params(&ncp, params, dense);
    return code ? code : assay__ncp_build(&ncp, params);
}

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_ONE_OF("mode", "default", "default|no_gate|pure",
                      "how the two branches are combined"),
    ASSAY__ZOO_WORDS("backbone_units", "64x32", "widths of the backbone; dense, without a wiring"),
    ASSAY__ZOO_INT("backbone_layers", "", 0, ASSAY__NCP_LAYERS,
                   "layers of the backbone; dense, without a wiring"),
    {0},
};

const struct assay__zoo_entry assay__zoo_cfc = ASSAY__ZOO_ENTRY(
    "cfc", "Closed-form continuous-time network, wired as a Neural Circuit Policy or dense", build,
    assay__ncp_wiring_params, declared, assay__ncp_time_params);
