/* ncp_net.h - shared by the cells of Neural Circuit Policies: their parameters, the source of
 * weights, and the network around a cell: one step, the steps unrolled, or a Scan over them.
 *
 * A cell is three functions: one creates its weights once, one builds a time step from (x, h, dt),
 * and one computes the output of a state. The names of weights are those of the package ncps'
 * state_dict; nodes are named "/step<k>/<group>/…" ("/step/<group>/…" in the body of a Scan). */
#ifndef ASSAY_ZOO_NCP_NET_H
#define ASSAY_ZOO_NCP_NET_H

#include "zoo/net.h"
#include "zoo/safetensors.h"
#include "zoo/wiring.h"

#define ASSAY__NCP_LAYERS 16 /* of a backbone */

enum assay__ncp_form { ASSAY__NCP_STEP, ASSAY__NCP_UNROLLED, ASSAY__NCP_SCAN };
enum assay__ncp_mode { ASSAY__NCP_DEFAULT, ASSAY__NCP_NO_GATE, ASSAY__NCP_PURE };

struct assay__ncp_linear {
    const char *weight, *bias; /* bias NULL: none */
};

struct assay__ncp_net {
    struct assay__net net;
    const struct assay__ncp_cell *cell;
    struct assay__safetensors file;                      /* when weights= is given */
    void *weights;                                       /* the cell's own: names */
    struct assay__ncp_linear memory_input, memory_state; /* mixed memory */
    /* parameters */
    bool wired;
    struct assay__wiring wiring;
    int64_t units, outputs, inputs, batch, seq; /* batch -1: symbolic */
    int mode, form;
    bool mixed_memory, return_sequences;
    bool dt_input;
    double dt; /* otherwise */
    const char *weights_path;
    int64_t backbone[ASSAY__NCP_LAYERS]; /* cfc, not wired */
    size_t backbone_layers;
    int64_t unfolds; /* ltc */
    double epsilon;
    bool implicit;
};

struct assay__ncp_step_io {
    const char *x, *h, *dt; /* dt: "" when it is a constant */
    const char *y, *next;   /* what the step makes */
};

struct assay__ncp_cell {
    const char *name; /* "CfC" */
    void (*prepare)(struct assay__ncp_net *ncp);
    void (*step)(struct assay__ncp_net *ncp, struct assay__ncp_step_io *io);
    /** y of a state, outside of a step (a Scan of which only the last output is needed). */
    const char *(*output)(struct assay__ncp_net *ncp, const char *h);
};

/** The parameters that both cells have, listed before and after the cell's own, and the function
 * that reads them. */
extern const struct assay__zoo_param assay__ncp_wiring_params[], assay__ncp_time_params[];
int assay__ncp_read_params(struct assay__ncp_net *ncp, struct assay__zoo_params *params,
                           bool dense);
/** Builds all of it. */
int assay__ncp_build(struct assay__ncp_net *ncp, struct assay__zoo_params *params);

/* Weights, from the file or uniform in [low, high). */
struct assay__ncp_weight {
    const char *name;
    int rank;
    int64_t dims[2];
    double low, high;
    const float *mask;   /* multiplied in; NULL: none */
    const float *values; /* instead of the range, when no file is given; NULL: none */
    bool positive;       /* softplus (`implicit`) */
    bool absolute;
};
const char *assay__ncp_weight(struct assay__ncp_net *ncp, const struct assay__ncp_weight *weight);
/** name.weight [out, in] and name.bias [out], by Glorot's range. bias false: none. */
struct assay__ncp_linear assay__ncp_linear(struct assay__ncp_net *ncp, const char *name, int64_t in,
                                           int64_t out, bool bias, const float *mask);
const char *assay__ncp_gemm(struct assay__ncp_net *ncp, const char *scope, const char *x,
                            const struct assay__ncp_linear *linear);
/** The mask with this name in the file must match the wiring. */
void assay__ncp_check_mask(struct assay__ncp_net *ncp, const char *name, int64_t rows,
                           int64_t columns, const float *mask);
/** x[:, first : past]. */
const char *assay__ncp_slice(struct assay__ncp_net *ncp, const char *x, int64_t first,
                             int64_t past);

#endif
