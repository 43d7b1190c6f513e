/* lora.c - a linear layer with a low-rank adapter (Hu et al., arXiv 2106.09685): y = x W +
 * (alpha/rank) (x A) B, W d × d, A d × rank, B rank × d. d² + 2 d rank parameters. merged=1 is the
 * layer after merging, one matrix of the size of W (drawn, not computed: the cost is the same, the
 * numbers differ). */

#include "zoo/net_blocks.h"

#include <math.h>

static const struct assay__zoo_param declared[] = {
    ASSAY__ZOO_ONE_OF("size", "small", "small|medium|large",
                      "d and rank: 768 and 8, 2048 and 16, 4096 and 64"),
    ASSAY__ZOO_INT("d", "768", 1, ASSAY__ZOO_WIDTH, "width of the layer"),
    ASSAY__ZOO_INT("rank", "8", 1, ASSAY__ZOO_WIDTH, "rank of the adapter; at most d"),
    ASSAY__ZOO_REAL("alpha", "16", 1e-6, 1e6, "scale of the adapter; twice the rank by default"),
    ASSAY__ZOO_INT("batch", "1", 1, ASSAY__ZOO_BATCH, "batch size"),
    ASSAY__ZOO_INT("seq", "128", 1, ASSAY__ZOO_SEQUENCE, "length of the sequence"),
    ASSAY__ZOO_INT("merged", "0", 0, 1, "1: one matrix, as after merging the adapter"),
    {0},
};

static int build(struct assay__zoo_params *params)
{
    static const int64_t sizes[][2] = {{768, 8}, {2048, 16}, {4096, 64}};
    const int64_t *size = sizes[assay__zoo_choice(params, "size")];
    int64_t d = assay__zoo_int_or(params, "d", size[0]),
            rank = assay__zoo_int_or(params, "rank", size[1]),
            batch = assay__zoo_int(params, "batch"), seq = assay__zoo_int(params, "seq");
    /* by custom, alpha is twice the rank */
    double scale = assay__zoo_number_or(params, "alpha", 2 * (double)rank) / (double)rank;
    const int64_t down[] = {d, rank}, up[] = {rank, d};
    struct assay__net net;
    if (rank > d)
        return assay__zoo_refuse(params, "lora: rank=%lld is larger than d=%lld", (long long)rank,
                                 (long long)d);
    assay__zoo_begin(&net, params, 6);
    const char *dims = ASSAY__NET_DIMS(&net, "", batch, seq, d);
    const char *x = assay__net_input(&net, "input", ASSAY__FLOAT32, dims);
    assay__net_push(&net, "base");
    const char *y = assay__net_linear(&net, x, "base", d, d, false, 1);
    assay__net_pop(&net);
    if (!assay__zoo_int(params, "merged")) {
        const char *a = assay__net_weight(&net, "lora_A.weight", 2, down, 0, 1 / sqrt((double)d));
        const char *b = assay__net_weight(&net, "lora_B.weight", 2, up, 0,
                                          0.3 / (scale * sqrt((double)rank)));
        assay__net_push(&net, "lora");
        const char *z = assay__net_2(&net, "MatMul", x, a);
        z = assay__net_2(&net, "MatMul", z, b);
        z = assay__net_2(&net, "Mul", z, assay__net_scalar(&net, (float)scale));
        y = assay__net_2(&net, "Add", y, z);
        assay__net_pop(&net);
    }
    assay__zoo_output(&net, y, "output", dims);
    return assay__net_end(&net);
}

const struct assay__zoo_entry assay__zoo_lora = {
    "lora", "Linear layer with a low-rank adapter", {declared}, build};
