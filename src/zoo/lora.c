/* lora.c - a linear layer with a low-rank adapter (Hu et al., arXiv 2106.09685): y = x W +
 * (alpha/rank) (x A) B, W d × d, A d × rank, B rank × d. d² + 2 d rank parameters. merged=1 is
 * the layer after merging, one matrix of the size of W (drawn, not computed: the same cost,
 * other numbers). */

#include "zoo/blocks.h"

#include <math.h>

struct lora {
    int64_t d, rank, batch, seq, merged;
    double alpha;
};

static const struct assay__zoo_param declared[] = {
    {"size", ASSAY__ZOO_CHOICE, "small", "small|medium|large", 0, 0,
     "d and rank: 768 and 8, 2048 and 16, 4096 and 64"},
    {"d", ASSAY__ZOO_INTEGER, "768", NULL, 1, ASSAY__ZOO_WIDTH, "width of the layer"},
    {"rank", ASSAY__ZOO_INTEGER, "8", NULL, 1, ASSAY__ZOO_WIDTH, "rank of the adapter; at most d"},
    {"alpha", ASSAY__ZOO_NUMBER, "16", NULL, 1e-6, 1e6,
     "scale of the adapter, twice the rank unless given"},
    {"batch", ASSAY__ZOO_INTEGER, "1", NULL, 1, ASSAY__ZOO_BATCH, "batch size"},
    {"seq", ASSAY__ZOO_INTEGER, "128", NULL, 1, ASSAY__ZOO_SEQUENCE, "length of the sequence"},
    {"merged", ASSAY__ZOO_INTEGER, "0", NULL, 0, 1, "1: one matrix, as after merging"},
    {0},
};

static int read_params(struct assay__zoo_params *params, struct lora *lora,
                       struct assay_error *error)
{
    static const int64_t sizes[][2] = {{768, 8}, {2048, 16}, {4096, 64}};
    const int64_t *size = sizes[assay__zoo_choice(params, "size")];
    lora->d = assay__zoo_int_or(params, "d", size[0]);
    lora->rank = assay__zoo_int_or(params, "rank", size[1]);
    lora->batch = assay__zoo_int(params, "batch");
    lora->seq = assay__zoo_int(params, "seq");
    lora->merged = assay__zoo_int(params, "merged");
    /* the custom: alpha is twice the rank */
    lora->alpha = assay__zoo_number_or(params, "alpha", 2 * (double)lora->rank);
    if (lora->rank <= lora->d) return 0;
    return assay_error_set(error, ASSAY_EINVAL, "lora: rank=%lld is larger than d=%lld",
                           (long long)lora->rank, (long long)lora->d);
}

static int build(struct assay__zoo_params *params, struct assay__model *model,
                 struct assay_error *error)
{
    struct lora lora = {0};
    struct assay__net net;
    int code = read_params(params, &lora, error);
    if (code) return code;
    const int64_t down[] = {lora.d, lora.rank}, up[] = {lora.rank, lora.d};
    const double scale = lora.alpha / (double)lora.rank;
    assay__net_begin(&net, model, "lora", 6, error);
    const char *dims = assay__net_text(&net, "%lld,%lld,%lld", (long long)lora.batch,
                                       (long long)lora.seq, (long long)lora.d);
    const char *x = assay__net_input(&net, "input", ASSAY__FLOAT32, dims);
    assay__net_push(&net, "base");
    const char *y = assay__net_linear(&net, x, "base", lora.d, lora.d, false, 1);
    assay__net_pop(&net);
    if (!lora.merged) {
        const char *a = assay__net_weight(&net, "lora_A.weight", 2, down, 0,
                                          1 / sqrt((double)lora.d));
        const char *b = assay__net_weight(&net, "lora_B.weight", 2, up, 0,
                                          0.3 / (scale * sqrt((double)lora.rank)));
        assay__net_push(&net, "lora");
        const char *z = assay__net_2(&net, "MatMul", x, a);
        z = assay__net_2(&net, "MatMul", z, b);
        z = assay__net_2(&net, "Mul", z, assay__net_scalar(&net, (float)scale));
        y = assay__net_2(&net, "Add", y, z);
        assay__net_pop(&net);
    }
    assay__net_output(&net, assay__zoo_rename(&net, y, "output"), "output", ASSAY__FLOAT32, dims);
    return assay__net_end(&net);
}

const struct assay__zoo_entry assay__zoo_lora = {
    "lora", "Linear layer with a low-rank adapter", {declared}, build};
