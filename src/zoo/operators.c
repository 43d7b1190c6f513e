/* operators.c - models with one operator (or the few that make up a common one), to measure it in
 * isolation: softmax, layernorm, rmsnorm, gelu on a matrix of rows × width, matmul, attention.
 * Sizes are fixed numbers, so that a result belongs to one size. */

#include "zoo/net_blocks.h"

#include <math.h>
#include <string.h>

enum { MAX_ROWS = 1 << 26, MAX_MATRIX = 1 << 20 };

/* Makes y the output, with the given dims. */
static int end_with_output(struct assay__net *net, const char *y, const char *dims)
{
    assay__zoo_output(net, y, "output", dims);
    return assay__net_end(net);
}

/* One operator over rows; the model's name says which. */
static int build_rows(struct assay__zoo_params *params)
{
    const char *name = params->entry->name;
    int64_t rows = assay__zoo_int(params, "rows"), width = assay__zoo_int(params, "width");
    struct assay__net net;
    assay__zoo_begin(&net, params, 7);
    const char *dims = ASSAY__NET_DIMS(&net, "", rows, width);
    const char *x = assay__net_input(&net, "input", ASSAY__FLOAT32, dims);
    if (strcmp(name, "softmax") == 0) {
        x = assay__net_1(&net, "Softmax", x);
        assay__net_attr_int(&net, "axis", -1);
    } else if (strcmp(name, "layernorm") == 0) {
        x = assay__net_layer_norm(&net, x, "norm", width, 1e-5, true);
    } else if (strcmp(name, "rmsnorm") == 0) {
        x = assay__net_rms_norm(&net, x, "norm", width, 1e-5);
    } else {
        x = assay__zoo_choice(params, "form") ? assay__net_gelu_tanh(&net, x)
                                              : assay__net_gelu(&net, x);
    }
    return end_with_output(&net, x, dims);
}

static const struct assay__zoo_param softmax_params[] = {
    ASSAY__ZOO_INT("rows", "1024", 1, MAX_ROWS, "rows of the matrix"),
    ASSAY__ZOO_INT("width", "1024", 1, MAX_MATRIX, "columns of the matrix"),
    {0},
};

const struct assay__zoo_entry assay__zoo_softmax = {
    "softmax", "Softmax over rows", {softmax_params}, build_rows};

static const struct assay__zoo_param norm_params[] = {
    ASSAY__ZOO_INT("rows", "1024", 1, MAX_ROWS, "rows of the matrix"),
    ASSAY__ZOO_INT("width", "768", 1, MAX_MATRIX, "columns of the matrix"),
    {0},
};

const struct assay__zoo_entry assay__zoo_layernorm = {
    "layernorm", "LayerNormalization over rows", {norm_params}, build_rows};

const struct assay__zoo_entry assay__zoo_rmsnorm = {
    "rmsnorm", "RMS norm over rows, in plain operators", {norm_params}, build_rows};

static const struct assay__zoo_param gelu_params[] = {
    ASSAY__ZOO_ONE_OF("form", "exact", "exact|tanh", "by the error function, or its approximation"),
    ASSAY__ZOO_INT("rows", "1024", 1, MAX_ROWS, "rows of the matrix"),
    ASSAY__ZOO_INT("width", "3072", 1, MAX_MATRIX, "columns of the matrix"),
    {0},
};

const struct assay__zoo_entry assay__zoo_gelu = {
    "gelu", "GELU, in plain operators", {gelu_params}, build_rows};

/* a [batch, m, k] times b: a weight [k, n], or with b=input a second input [batch, k, n].
 * batch=1: matrices. */
static int build_matmul(struct assay__zoo_params *params)
{
    int64_t m = assay__zoo_int(params, "m"), n = assay__zoo_int(params, "n"),
            k = assay__zoo_int(params, "k"), batch = assay__zoo_int(params, "batch");
    int input = assay__zoo_choice(params, "b");
    struct assay__net net;
    assay__zoo_begin(&net, params, 8);
    const int64_t dims[] = {k, n};
    const char *start = batch > 1 ? assay__net_dim(&net, batch, "") : "";
    const char *a = assay__net_input(&net, "a", ASSAY__FLOAT32, ASSAY__NET_DIMS(&net, start, m, k));
    const char *b = input ? assay__net_input(&net, "b", ASSAY__FLOAT32,
                                             ASSAY__NET_DIMS(&net, start, k, n))
                          : assay__net_weight(&net, "b", 2, dims, 0, 1 / sqrt((double)k));
    return end_with_output(&net, assay__net_2(&net, "MatMul", a, b),
                           ASSAY__NET_DIMS(&net, start, m, n));
}

static const struct assay__zoo_param matmul_params[] = {
    ASSAY__ZOO_INT("m", "1024", 1, MAX_MATRIX, "rows of the result"),
    ASSAY__ZOO_INT("n", "1024", 1, MAX_MATRIX, "columns of the result"),
    ASSAY__ZOO_INT("k", "1024", 1, MAX_MATRIX, "terms in each sum"),
    ASSAY__ZOO_INT("batch", "1", 1, ASSAY__ZOO_BATCH, "number of products"),
    ASSAY__ZOO_ONE_OF("b", "weight", "weight|input", "what the second matrix is"),
    {0},
};

const struct assay__zoo_entry assay__zoo_matmul = {
    "matmul", "Matrix product, m x k by k x n", {matmul_params}, build_matmul};

/* softmax(query key^T / sqrt(dim)) value, per head; causal=1 hides the keys after each query.
 * keys=N: a different number of keys than queries; the last query is then at the last key. */
static int build_attention(struct assay__zoo_params *params)
{
    static const int64_t across[] = {0, 1, 3, 2};
    int64_t batch = assay__zoo_int(params, "batch"), heads = assay__zoo_int(params, "heads"),
            seq = assay__zoo_int(params, "seq"), keys = assay__zoo_int_or(params, "keys", seq),
            dim = assay__zoo_int(params, "dim"), causal = assay__zoo_int(params, "causal");
    struct assay__net net;
    if (causal && keys < seq)
        return assay__zoo_refuse(
            params, "attention: causal=1 needs as many keys as queries (seq=%lld)", (long long)seq);
    assay__zoo_begin(&net, params, 9);
    const char *mask = "", *short_dims = ASSAY__NET_DIMS(&net, "", batch, heads, seq, dim),
               *long_dims = ASSAY__NET_DIMS(&net, "", batch, heads, keys, dim);
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
    return end_with_output(&net, assay__zoo_attend(&net, q, k, v, mask, dim), short_dims);
}

static const struct assay__zoo_param attention_params[] = {
    ASSAY__ZOO_INT("batch", "1", 1, ASSAY__ZOO_BATCH, "batch size"),
    ASSAY__ZOO_INT("heads", "12", 1, ASSAY__ZOO_HEADS, "attention heads"),
    ASSAY__ZOO_INT("seq", "128", 1, ASSAY__ZOO_SEQUENCE, "queries"),
    ASSAY__ZOO_INT("keys", "(seq)", 1, ASSAY__ZOO_SEQUENCE, "keys and values"),
    ASSAY__ZOO_INT("dim", "64", 1, ASSAY__ZOO_WIDTH, "width of a head"),
    ASSAY__ZOO_INT("causal", "0", 0, 1, "1: hides the keys after each query"),
    {0},
};

const struct assay__zoo_entry assay__zoo_attention = ASSAY__ZOO_ENTRY(
    "attention", "Scaled dot-product attention, in plain operators", build_attention,
    attention_params);
