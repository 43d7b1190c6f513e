/* operators.c - models of one operator (or of the few that a common one is made of), for finding
 * what a machine makes of it alone: softmax, layernorm, rmsnorm, gelu on a matrix of rows ×
 * width, matmul, attention. Sizes are fixed numbers, so that a result belongs to a size. */

#include "zoo/blocks.h"

#include <math.h>
#include <string.h>

enum { MAX_ROWS = 1 << 26, MAX_MATRIX = 1 << 20 };

struct rows {
    int64_t rows, width;
};

/* Begins a model with "input" [rows, width]. */
static const char *begin_rows(struct assay__net *net, struct assay__zoo_params *params,
                              struct assay__model *model, const char *name, struct rows *size,
                              struct assay_error *error)
{
    *size = (struct rows){assay__zoo_int(params, "rows"), assay__zoo_int(params, "width")};
    assay__net_begin(net, model, name, 7, error);
    return assay__net_input(
        net, "input", ASSAY__FLOAT32,
        assay__net_text(net, "%lld,%lld", (long long)size->rows, (long long)size->width));
}

/* Makes y the output, of the given dims. */
static int end_with_output(struct assay__net *net, const char *y, const char *dims)
{
    y = assay__zoo_rename(net, y, "output");
    assay__net_output(net, y, "output", ASSAY__FLOAT32, dims);
    return assay__net_end(net);
}

/* One operator over rows: which one, the model's name says. */
static int build_rows(struct assay__zoo_params *params, struct assay__model *model,
                      struct assay_error *error)
{
    const char *name = assay__zoo_name(params);
    struct rows size;
    struct assay__net net;
    const char *x = begin_rows(&net, params, model, name, &size, error);
    if (strcmp(name, "softmax") == 0) {
        x = assay__net_1(&net, "Softmax", x);
        assay__net_attr_int(&net, "axis", -1);
    } else if (strcmp(name, "layernorm") == 0) {
        x = assay__net_layer_norm(&net, x, "norm", size.width, 1e-5, true);
    } else if (strcmp(name, "rmsnorm") == 0) {
        x = assay__net_rms_norm(&net, x, "norm", size.width, 1e-5);
    } else {
        x = assay__zoo_choice(params, "form") ? assay__net_gelu_tanh(&net, x)
                                              : assay__net_gelu(&net, x);
    }
    return end_with_output(
        &net, x, assay__net_text(&net, "%lld,%lld", (long long)size.rows, (long long)size.width));
}

static const struct assay__zoo_param softmax_params[] = {
    {"rows", ASSAY__ZOO_INTEGER, "1024", NULL, 1, MAX_ROWS, "rows of the matrix"},
    {"width", ASSAY__ZOO_INTEGER, "1024", NULL, 1, MAX_MATRIX, "columns of the matrix"},
    {0},
};

const struct assay__zoo_entry assay__zoo_softmax = {
    "softmax", "Softmax over rows", {softmax_params}, build_rows};

static const struct assay__zoo_param norm_params[] = {
    {"rows", ASSAY__ZOO_INTEGER, "1024", NULL, 1, MAX_ROWS, "rows of the matrix"},
    {"width", ASSAY__ZOO_INTEGER, "768", NULL, 1, MAX_MATRIX, "columns of the matrix"},
    {0},
};

const struct assay__zoo_entry assay__zoo_layernorm = {
    "layernorm", "LayerNormalization over rows", {norm_params}, build_rows};

const struct assay__zoo_entry assay__zoo_rmsnorm = {
    "rmsnorm", "RMS norm over rows, in plain operators", {norm_params}, build_rows};

static const struct assay__zoo_param gelu_params[] = {
    {"form", ASSAY__ZOO_CHOICE, "exact", "exact|tanh", 0, 0,
     "by the error function, or its approximation"},
    {"rows", ASSAY__ZOO_INTEGER, "1024", NULL, 1, MAX_ROWS, "rows of the matrix"},
    {"width", ASSAY__ZOO_INTEGER, "3072", NULL, 1, MAX_MATRIX, "columns of the matrix"},
    {0},
};

const struct assay__zoo_entry assay__zoo_gelu = {
    "gelu", "GELU, in plain operators", {gelu_params}, build_rows};

/* a [batch, m, k] times b: a weight [k, n], or with b=input a second input [batch, k, n].
 * batch=1: matrices. */
static int build_matmul(struct assay__zoo_params *params, struct assay__model *model,
                        struct assay_error *error)
{
    int64_t m = assay__zoo_int(params, "m"), n = assay__zoo_int(params, "n"),
            k = assay__zoo_int(params, "k"), batch = assay__zoo_int(params, "batch");
    int input = assay__zoo_choice(params, "b");
    struct assay__net net;
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
    return end_with_output(&net, assay__net_2(&net, "MatMul", a, b),
                           assay__net_text(&net, "%s%lld,%lld", start, (long long)m, (long long)n));
}

static const struct assay__zoo_param matmul_params[] = {
    {"m", ASSAY__ZOO_INTEGER, "1024", NULL, 1, MAX_MATRIX, "rows of the result"},
    {"n", ASSAY__ZOO_INTEGER, "1024", NULL, 1, MAX_MATRIX, "columns of the result"},
    {"k", ASSAY__ZOO_INTEGER, "1024", NULL, 1, MAX_MATRIX, "terms of each sum"},
    {"batch", ASSAY__ZOO_INTEGER, "1", NULL, 1, ASSAY__ZOO_BATCH, "products at once"},
    {"b", ASSAY__ZOO_CHOICE, "weight", "weight|input", 0, 0, "what the second matrix is"},
    {0},
};

const struct assay__zoo_entry assay__zoo_matmul = {
    "matmul", "Matrix product, m x k by k x n", {matmul_params}, build_matmul};

/* softmax(query key^T / sqrt(dim)) value, per head; causal=1 hides the keys after each query.
 * keys=N: of another length than the queries, whose last query is then at the last key. */
static int build_attention(struct assay__zoo_params *params, struct assay__model *model,
                           struct assay_error *error)
{
    static const int64_t across[] = {0, 1, 3, 2};
    int64_t batch = assay__zoo_int(params, "batch"), heads = assay__zoo_int(params, "heads"),
            seq = assay__zoo_int(params, "seq"), keys = assay__zoo_int_or(params, "keys", seq),
            dim = assay__zoo_int(params, "dim"), causal = assay__zoo_int(params, "causal");
    struct assay__net net;
    if (causal && keys < seq)
        return assay_error_set(error, ASSAY_EINVAL,
                               "attention: causal=1 needs as many keys as queries (seq=%lld)",
                               (long long)seq);
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
    return end_with_output(&net, assay__zoo_attend(&net, q, k, v, mask, dim), short_dims);
}

static const struct assay__zoo_param attention_params[] = {
    {"batch", ASSAY__ZOO_INTEGER, "1", NULL, 1, ASSAY__ZOO_BATCH, "batch size"},
    {"heads", ASSAY__ZOO_INTEGER, "12", NULL, 1, ASSAY__ZOO_HEADS, "attention heads"},
    {"seq", ASSAY__ZOO_INTEGER, "128", NULL, 1, ASSAY__ZOO_SEQUENCE, "queries"},
    {"keys", ASSAY__ZOO_INTEGER, "(seq)", NULL, 1, ASSAY__ZOO_SEQUENCE, "keys and values"},
    {"dim", ASSAY__ZOO_INTEGER, "64", NULL, 1, ASSAY__ZOO_WIDTH, "numbers per head"},
    {"causal", ASSAY__ZOO_INTEGER, "0", NULL, 0, 1, "1: hides the keys after each query"},
    {0},
};

const struct assay__zoo_entry assay__zoo_attention = {
    "attention",
    "Scaled dot-product attention, in plain operators",
    {attention_params},
    build_attention};
