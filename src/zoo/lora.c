/* lora.c - a linear layer with a low-rank adapter (Hu et al., arXiv 2106.09685): y = x W +
 * (alpha/rank) (x A) B, W d × d, A d × rank, B rank × d. d² + 2 d rank parameters. merged=1 is
 * the layer after merging, one matrix of the size of W (drawn, not computed: the same cost,
 * other numbers). */
#include "zoo/builders.h"

#include "zoo/blocks.h"

#include <math.h>

struct lora {
    int64_t d, rank, batch, seq, merged;
    double alpha;
};

static int read_params(struct assay__zoo_params *params, struct lora *lora,
                       struct assay_error *error)
{
    static const int64_t sizes[][2] = {{768, 8}, {2048, 16}, {4096, 64}};
    int size = 0;
    int code = assay__zoo_param_choice(params, "size", "small|medium|large", 0, &size, error);
    if (code) return code;
    const struct assay__zoo_number numbers[] = {
        {"d", sizes[size][0], 1, ASSAY__ZOO_WIDTH, &lora->d},
        {"rank", sizes[size][1], 1, ASSAY__ZOO_WIDTH, &lora->rank},
        {"batch", 1, 1, ASSAY__ZOO_BATCH, &lora->batch},
        {"seq", 128, 1, ASSAY__ZOO_SEQUENCE, &lora->seq},
        {"merged", 0, 0, 1, &lora->merged}};
    code = assay__zoo_numbers(params, numbers, sizeof numbers / sizeof numbers[0], error);
    /* the custom: alpha is twice the rank */
    if (!code)
        code = assay__zoo_param_number(params, "alpha", 2 * (double)lora->rank, 1e-6, 1e6,
                                       &lora->alpha, error);
    if (!code) code = assay__zoo_params_done(params, error);
    if (!code && lora->rank > lora->d)
        code = assay_error_set(error, ASSAY_EINVAL, "lora: rank=%lld is larger than d=%lld",
                               (long long)lora->rank, (long long)lora->d);
    return code;
}

int assay__zoo_lora(struct assay__zoo_params *params, struct assay__model *model,
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
