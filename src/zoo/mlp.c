/* mlp.c - a multi-layer perceptron: `layers` hidden layers of `width`, each a Gemm and an
 * activation, and a last Gemm. */

#include "zoo/net_blocks.h"

static int build(struct assay__zoo_params *params)
{
    /* The gain that keeps the variance through an activation: 1 / E[f(x)²] for x ~ N(0, 1) for the
     * bounded ones. relu halves every variance. gelu and silu halve a large one and more than halve
     * a small one: with a gain above 2 a variance above 1 would grow without limit, with 2 it falls
     * to the level set by the biases. */
    static const double gains[] = {2, 2.5, 3.4, 2, 2};
    static const char *const ops[] = {"Relu", "Tanh", "Sigmoid", NULL, "Sigmoid"}; /* NULL: gelu */
    int64_t layers = assay__zoo_int(params, "layers"), width = assay__zoo_int(params, "width"),
            inputs = assay__zoo_int(params, "inputs"), outputs = assay__zoo_int(params, "outputs"),
            batch = assay__zoo_int(params, "batch");
    int kind = assay__zoo_choice(params, "activation");
    struct assay__net net;
    assay__zoo_begin(&net, params, 10);
    const char *rows = assay__net_dim(&net, batch, "batch");
    const char *x = assay__net_input(&net, "input", ASSAY__FLOAT32,
                                     ASSAY__NET_DIMS(&net, rows, inputs));
    for (int64_t i = 0; i < layers; i++) {
        assay__net_push(&net, "layers.%lld", (long long)i);
        x = assay__zoo_gemm(&net, x, assay__net_text(&net, "layers.%lld", (long long)i),
                            i ? width : inputs, width, i ? gains[kind] : 1);
        const char *y = ops[kind] ? assay__net_1(&net, ops[kind], x) : assay__net_gelu(&net, x);
        x = kind == 4 ? assay__net_2(&net, "Mul", x, y) : y; /* silu: x sigmoid(x) */
        assay__net_pop(&net);
    }
    assay__net_push(&net, "head");
    x = assay__zoo_gemm(&net, x, "head", layers ? width : inputs, outputs, 1);
    assay__zoo_output(&net, x, "output", ASSAY__NET_DIMS(&net, rows, outputs));
    return assay__net_end(&net);
}

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_INT("layers", "3", 0, ASSAY__ZOO_LAYERS, "hidden layers"),
    ASSAY__ZOO_INT("width", "256", 1, ASSAY__ZOO_WIDTH, "width of the hidden layers"),
    ASSAY__ZOO_INT("inputs", "64", 1, ASSAY__ZOO_WIDTH, "inputs"),
    ASSAY__ZOO_INT("outputs", "10", 1, ASSAY__ZOO_WIDTH, "outputs"),
    ASSAY__ZOO_ONE_OF("activation", "relu", "relu|tanh|sigmoid|gelu|silu",
                      "after each hidden layer"),
    ASSAY__ZOO_PARAM_BATCH,
    {0},
};

const struct assay__zoo_entry assay__zoo_mlp = {"mlp", "Multi-layer perceptron", {declared}, build};
