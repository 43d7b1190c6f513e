/* operators.c - models of one operator (or of the few that a common one is made of), for finding
 * what a machine makes of it alone: softmax, layernorm, rmsnorm, gelu on a matrix of rows ×
 * width, matmul, attention. Sizes are fixed numbers, so that a result belongs to a size. */
#include "zoo/builders.h"

#include "zoo/blocks.h"

#include <math.h>

enum { MAX_ROWS = 1 << 26, MAX_MATRIX = 1 << 20 };

struct rows {
    int64_t rows, width;
};

/* The parameters that operators on a matrix share. */
static int read_rows(struct assay__zoo_params *params, int64_t width, struct rows *size,
                     struct assay_error *error)
{
    const struct assay__zoo_number numbers[] = {{"rows", 1024, 1, MAX_ROWS, &size->rows},
                                                {"width", width, 1, MAX_MATRIX, &size->width}};
    int code = assay__zoo_numbers(params, numbers, 2, error);
    return code ? code : assay__zoo_params_done(params, error);
}

/* Begins a model with "input" [rows, width]. */
static const char *begin_rows(struct assay__net *net, struct assay__model *model, const char *name,
                              const struct rows *size, struct assay_error *error)
{
    assay__net_begin(net, model, name, 7, error);
    return assay__net_input(
        net, "input", ASSAY__FLOAT32,
        assay__net_text(net, "%lld,%lld", (long long)size->rows, (long long)size->width));
}

/* Makes y the output, of the given dims. */
static int end(struct assay__net *net, const char *y, const char *dims)
{
    y = assay__zoo_rename(net, y, "output");
    assay__net_output(net, y, "output", ASSAY__FLOAT32, dims);
    return assay__net_end(net);
}

static int end_rows(struct assay__net *net, const struct rows *size, const char *y)
{
    return end(net, y,
               assay__net_text(net, "%lld,%lld", (long long)size->rows, (long long)size->width));
}

int assay__zoo_softmax(struct assay__zoo_params *params, struct assay__model *model,
                       struct assay_error *error)
{
    struct rows size;
    struct assay__net net;
    int code = read_rows(params, 1024, &size, error);
    if (code) return code;
    const char *x = begin_rows(&net, model, "softmax", &size, error);
    x = assay__net_1(&net, "Softmax", x);
    assay__net_attr_int(&net, "axis", -1);
    return end_rows(&net, &size, x);
}

int assay__zoo_layernorm(struct assay__zoo_params *params, struct assay__model *model,
                         struct assay_error *error)
{
    struct rows size;
    struct assay__net net;
    int code = read_rows(params, 768, &size, error);
    if (code) return code;
    const char *x = begin_rows(&net, model, "layernorm", &size, error);
    x = assay__net_layer_norm(&net, x, "norm", size.width, 1e-5, true);
    return end_rows(&net, &size, x);
}

int assay__zoo_rmsnorm(struct assay__zoo_params *params, struct assay__model *model,
                       struct assay_error *error)
{
    struct rows size;
    struct assay__net net;
    int code = read_rows(params, 768, &size, error);
    if (code) return code;
    const char *x = begin_rows(&net, model, "rmsnorm", &size, error);
    x = assay__net_rms_norm(&net, x, "norm", size.width, 1e-5);
    return end_rows(&net, &size, x);
}

int assay__zoo_gelu(struct assay__zoo_params *params, struct assay__model *model,
                    struct assay_error *error)
{
    struct rows size;
    struct assay__net net;
    int form = 0;
    int code = assay__zoo_param_choice(params, "form", "exact|tanh", 0, &form, error);
    if (!code) code = read_rows(params, 3072, &size, error);
    if (code) return code;
    const char *x = begin_rows(&net, model, "gelu", &size, error);
    x = form ? assay__net_gelu_tanh(&net, x) : assay__net_gelu(&net, x);
    return end_rows(&net, &size, x);
}

/* a [batch, m, k] times b: a weight [k, n], or with b=input a second input [batch, k, n].
 * batch=1: matrices. */
int assay__zoo_matmul(struct assay__zoo_params *params, struct assay__model *model,
                      struct assay_error *error)
{
    int64_t m = 0, n = 0, k = 0, batch = 0;
    int input = 0;
    const struct assay__zoo_number numbers[] = {{"m", 1024, 1, MAX_MATRIX, &m},
                                                {"n", 1024, 1, MAX_MATRIX, &n},
                                                {"k", 1024, 1, MAX_MATRIX, &k},
                                                {"batch", 1, 1, ASSAY__ZOO_BATCH, &batch}};
    struct assay__net net;
    int code = assay__zoo_numbers(params, numbers, 4, error);
    if (!code) code = assay__zoo_param_choice(params, "b", "weight|input", 0, &input, error);
    if (!code) code = assay__zoo_params_done(params, error);
    if (code) return code;
    assay__net_begin(&net, model, "matmul", 8, error);
    const int64_t dims[] = {k, n};
    const char *start = batch > 1 ? assay__net_text(&net, "%lld,", (long long)batch) : "";
    const char *a = assay__net_input(
        &net, "a", ASSAY__FLOAT32,
        assay__net_text(&net, "%s%lld,%lld", start, (long long)m, (long long)k));
    const char *b = input ? assay__net_input(&net, "b", ASSAY__FLOAT32,
                                             assay__net_text(&net, "%s%lld,%lld", start,
                                                             (long long)k, (long long)n))
                          : assay__net_weight(&net, "b", 2, dims, 0, 1 / sqrt((double)k));
    return end(&net, assay__net_2(&net, "MatMul", a, b),
               assay__net_text(&net, "%s%lld,%lld", start, (long long)m, (long long)n));
}

/* softmax(query key^T / sqrt(dim)) value, per head; causal=1 hides the keys after each query.
 * keys=N: of another length than the queries, whose last query is then at the last key. */
int assay__zoo_attention(struct assay__zoo_params *params, struct assay__model *model,
                         struct assay_error *error)
{
    static const int64_t across[] = {0, 1, 3, 2};
    int64_t batch = 0, heads = 0, seq = 0, keys = 0, dim = 0, causal = 0;
    const struct assay__zoo_number numbers[] = {
        {"batch", 1, 1, ASSAY__ZOO_BATCH, &batch},  {"heads", 12, 1, ASSAY__ZOO_HEADS, &heads},
        {"seq", 128, 1, ASSAY__ZOO_SEQUENCE, &seq}, {"keys", -1, 1, ASSAY__ZOO_SEQUENCE, &keys},
        {"dim", 64, 1, ASSAY__ZOO_WIDTH, &dim},     {"causal", 0, 0, 1, &causal}};
    struct assay__net net;
    int code = assay__zoo_numbers(params, numbers, 6, error);
    if (!code) code = assay__zoo_params_done(params, error);
    if (keys < 0) keys = seq;
    if (!code && causal && keys < seq)
        code = assay_error_set(error, ASSAY_EINVAL,
                               "attention: causal=1 needs as many keys as queries (seq=%lld)",
                               (long long)seq);
    if (code) return code;
    assay__net_begin(&net, model, "attention", 9, error);
    const char *mask = "",
               *start = assay__net_text(&net, "%lld,%lld", (long long)batch, (long long)heads);
    const char *short_dims = assay__net_text(&net, "%s,%lld,%lld", start, (long long)seq,
                                             (long long)dim);
    const char *long_dims = assay__net_text(&net, "%s,%lld,%lld", start, (long long)keys,
                                            (long long)dim);
    const char *q = assay__net_input(&net, "query", ASSAY__FLOAT32, short_dims);
    const char *k = assay__net_input(&net, "key", ASSAY__FLOAT32, long_dims);
    const char *v = assay__net_input(&net, "value", ASSAY__FLOAT32, long_dims);
    if (causal) {
        const char *places = assay__zoo_range(&net, assay__net_index(&net, keys));
        const char *rows = assay__zoo_range(&net, assay__net_index(&net, seq));
        rows = assay__net_2(&net, "Add", rows, assay__net_index(&net, keys - seq));
        mask = assay__zoo_causal_mask(&net, rows, places);
    }
    k = assay__net_transpose(&net, k, across, 4);
    return end(&net, assay__zoo_attend(&net, q, k, v, mask, dim), short_dims);
}
