/* shapes_nn.c - shape rows of matrix products, Einsum, norms and recurrent cells. */
#include "model/shapes/shape_call.h"

#include <string.h>

/* --- products --------------------------------------------------------------------------------- */

/* Inputs a and b at their positions (QGemm has scales between them). */
static void gemm(struct assay__shape_call *call, size_t a, size_t b, enum assay__dtype dtype)
{
    bool trans_a = assay__node_int(call->node, "transA", 0) != 0;
    bool trans_b = assay__node_int(call->node, "transB", 0) != 0;
    int64_t out[2] = {assay__shape_dim(call, a, trans_a ? 1 : 0),
                      assay__shape_dim(call, b, trans_b ? 0 : 1)};
    int64_t inner_a = assay__shape_dim(call, a, trans_a ? 0 : 1);
    int64_t inner_b = assay__shape_dim(call, b, trans_b ? 1 : 0);
    int ra = assay__shape_rank(call, a), rb = assay__shape_rank(call, b);
    bool old = call->opset > 0 && call->opset < 7;
    if (ra >= 0 && rb >= 0 && !old &&
        (ra != 2 || rb != 2 || (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b)))
        assay__shape_conflict(call, a, "%s of %s and %s%s%s", call->node->op,
                              assay__shape_text(call, a), assay__shape_text(call, b),
                              trans_a ? ", the first transposed" : "",
                              trans_b ? ", the second transposed" : "");
    assay__shape_set(call, 0, dtype, 2, out);
}

static void infer_gemm(struct assay__shape_call *call)
{
    if (!assay__shape_types_differ(call, 0, 1)) assay__shape_types_differ(call, 0, 2);
    gemm(call, 0, 1, assay__shape_dtype(call, 0));
    /* C must broadcast into the result */
    const struct assay__fact *out = call->out_count ? call->out[0] : NULL;
    const int64_t *dims = assay__shape_dims(call, 2);
    int rank = assay__shape_rank(call, 2);
    bool old = call->opset > 0 && call->opset < 7;
    for (int i = 0; i < rank && out && out->entry.rank == 2 && !old; i++) {
        int64_t mine = dims[rank - 1 - i], room = i < 2 ? out->dims[1 - i] : 1;
        if (mine < 0 || room < 0 || mine == 1 || mine == room) continue;
        assay__shape_conflict(call, 2, "a bias %s on a product with %lld columns",
                              assay__shape_text(call, 2), (long long)out->dims[1]);
        return;
    }
}

/* A, B, C, …: the type is an attribute */
static void infer_gemm_float8(struct assay__shape_call *call)
{
    gemm(call, 0, 1, assay__shape_dtype_attr(call, "dtype", ASSAY__FLOAT32));
}

/* A, a_scale, a_zero, B, b_scale, b_zero, C, y_scale, y_zero: float without a y_zero */
static void infer_qgemm(struct assay__shape_call *call)
{
    gemm(call, 0, 3, assay__shape_has(call, 8) ? assay__shape_dtype(call, 8) : ASSAY__FLOAT32);
}

static void infer_matmul(struct assay__shape_call *call)
{
    assay__shape_types_differ(call, 0, 1);
    assay__shape_matmul(call, 0, 1, false, false, assay__shape_dtype(call, 0));
}

/* Of integers, with scales and zero points among the inputs. */
static void infer_matmul_integer(struct assay__shape_call *call)
{
    static const struct {
        const char *op;
        size_t b, typed_by; /* inputs */
    } rows[] = {{"MatMulIntegerToFloat", 1, 2}, {"QLinearMatMul", 3, 7}, {"QOrderedMatMul", 2, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (assay__shape_op_is(call, rows[i].op)) {
            assay__shape_matmul(call, 0, rows[i].b, false, false,
                                assay__shape_dtype(call, rows[i].typed_by));
            return;
        }
    assay__shape_matmul(call, 0, 1, false, false, ASSAY__INT32);
}

static void infer_fused_matmul(struct assay__shape_call *call)
{
    if (assay__node_int(call->node, "transBatchA", 0) ||
        assay__node_int(call->node, "transBatchB", 0)) {
        assay__shape_same_type(call);
        return;
    }
    assay__shape_matmul(call, 0, 1, assay__node_int(call->node, "transA", 0) != 0,
                        assay__node_int(call->node, "transB", 0) != 0, assay__shape_dtype(call, 0));
}

/* A[…, K] with weights packed as K, N attributes (block-quantised). */
static void infer_matmul_nbits(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK], k = assay__node_int(call->node, "K", -1);
    int rank = assay__shape_copy(call, 0, out);
    assay__shape_same_type(call);
    if (rank < 1) return;
    if (k >= 0)
        assay__shape_differ(call, 0, "columns of the input and K of the weights", out[rank - 1], k);
    out[rank - 1] = assay__node_int(call->node, "N", -1);
    assay__shape_set_same(call, rank, out);
}

/* --- Einsum ----------------------------------------------------------------------------------- */

struct einsum {
    int64_t size[128]; /* of each letter */
    int uses[128];
    int64_t dots[ASSAY__SHAPE_RANK]; /* what "…" stands for, broadcast */
    int dots_rank;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Matches one operand's letters to its dimensions. false: the equation does not fit. */
static bool einsum_operand(struct assay__shape_call *call, struct einsum *einsum, const char **at,
                           size_t operand)
{
    const int64_t *dims = assay__shape_dims(call, operand);
    int rank = assay__shape_rank(call, operand), letters = 0, i = 0;
    for (const char *c = *at; *c && *c != ',' && *c != '-'; c++)
        letters += is_letter(*c);
    for (; **at && **at != ',' && **at != '-'; ++*at) {
        char letter = **at;
        if (letter == ' ') continue;
        if (strncmp(*at, "...", 3) == 0) {
            if (rank < letters ||
                !assay__shape_broadcast(einsum->dots, &einsum->dots_rank, dims + i, rank - letters))
                return false;
            i += rank - letters;
            *at += 2;
            continue;
        }
        if (!is_letter(letter) || i >= rank) return false;
        int64_t *size = &einsum->size[(int)letter];
        if (einsum->uses[(int)letter] && *size > 1 && dims[i] > 1 && *size != dims[i])
            assay__shape_conflict(call, operand, "\"%c\" is %lld and %lld", letter,
                                  (long long)*size, (long long)dims[i]);
        bool better = !einsum->uses[(int)letter] || *size == 1 || (*size < 0 && dims[i] > 1) ||
                      *size == ASSAY__NUM_ANY;
        if (better) *size = dims[i];
        einsum->uses[(int)letter]++;
        i++;
    }
    return i == rank;
}

static void infer_einsum(struct assay__shape_call *call)
{
    const struct assay__attr *equation = assay__node_attr(call->node, "equation");
    struct einsum einsum = {.dots_rank = 0};
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = 0;
    assay__shape_same_type(call);
    if (!equation || equation->type != ASSAY__ATTR_STRING) return;
    const char *at = equation->s;
    for (size_t i = 0; i < call->in_count; i++) {
        if (assay__shape_rank(call, i) < 0 || !einsum_operand(call, &einsum, &at, i)) return;
        if (i + 1 < call->in_count && *at++ != ',') return;
    }
    if (strncmp(at, "->", 2) != 0) { /* the dots, then the letters that occur once, in order */
        rank = einsum.dots_rank;
        memcpy(out, einsum.dots, (size_t)rank * sizeof *out);
        for (int letter = 'A'; letter <= 'z' && rank < ASSAY__SHAPE_RANK; letter++)
            if (einsum.uses[letter] == 1) out[rank++] = einsum.size[letter];
    }
    for (at += *at ? 2 : 0; *at; at++) {
        if (*at == ' ') continue;
        if (strncmp(at, "...", 3) == 0) {
            if (rank + einsum.dots_rank > ASSAY__SHAPE_RANK) return;
            memcpy(out + rank, einsum.dots, (size_t)einsum.dots_rank * sizeof *out);
            rank += einsum.dots_rank;
            at += 2;
            continue;
        }
        if (!is_letter(*at) || !einsum.uses[(int)*at] || rank == ASSAY__SHAPE_RANK) return;
        out[rank++] = einsum.size[(int)*at];
    }
    assay__shape_set_same(call, rank, out);
}

/* --- norms ------------------------------------------------------------------------------------ */

/* x [N, C, …] and vectors of C; outputs after the first are per channel (training). */
static void infer_batch_norm(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t channels = rank >= 2 ? assay__shape_dim(call, 0, 1) : ASSAY__NUM_ANY;
    assay__shape_row_same(call);
    for (size_t i = 1; i < call->in_count && i < 5; i++)
        if (assay__shape_rank(call, i) == 1 && rank >= 2 &&
            assay__shape_differ(call, 0, "channels of the input and of the statistics", channels,
                                assay__shape_dim(call, i, 0)))
            break;
    for (size_t o = 1; o < call->out_count; o++) {
        enum assay__dtype dtype = assay__shape_dtype(call, o < 3 && call->opset >= 14 ? 3 : 0);
        assay__shape_set(call, o, dtype, 1, &channels);
        if (assay__shape_rank(call, 3) == 1)
            assay__shape_set(call, o, dtype, 1, assay__shape_dims(call, 3));
    }
}

/* x [N, C, …], scale [C], B [C] */
static void infer_instance_norm(struct assay__shape_call *call)
{
    assay__shape_row_same(call);
    for (size_t i = 1; i < call->in_count; i++)
        if (assay__shape_rank(call, i) == 1 && assay__shape_rank(call, 0) >= 2 &&
            assay__shape_differ(call, 0, "channels of the input and of the scale",
                                assay__shape_dim(call, 0, 1), assay__shape_dim(call, i, 0)))
            return;
}

/* Mean and inverse deviation: 1 from the axis on, in the type of `stash_type`. */
static void norm_statistics(struct assay__shape_call *call, size_t first, int64_t axis_at)
{
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    enum assay__dtype dtype = assay__shape_dtype_attr(call, "stash_type", ASSAY__FLOAT32);
    if (rank < 1 || !assay__shape_axis(axis_at, rank, &axis)) return;
    for (int i = 0; i < rank; i++)
        out[i] = i < axis ? assay__shape_dims(call, 0)[i] : 1;
    for (size_t o = first; o < first + 2; o++)
        assay__shape_set(call, o, dtype, rank, out);
}

/* The result has the type of the scale, which may differ from that of X (RMSNormalization,
 * SimplifiedLayerNormalization, and LayerNormalization before it was part of ai.onnx). */
static void infer_scaled_norm(struct assay__shape_call *call)
{
    bool one_type = assay__shape_op_is(call, "LayerNormalization") && call->opset >= 17;
    assay__shape_row_same(call);
    if (!one_type && assay__shape_dtype(call, 1))
        assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 1));
}

/* X, Scale, Bias; a one-dimensional Scale is as long as the last axis, if that is the only
 * normalised one. */
static void infer_layer_norm(struct assay__shape_call *call)
{
    int64_t scale = assay__shape_rank(call, 1) == 1 ? assay__shape_dim(call, 1, 0) : ASSAY__NUM_ANY;
    infer_scaled_norm(call);
    if (scale > 1 && assay__shape_rank(call, 0) >= 1)
        assay__shape_differ(call, 0, "last axis of the input and scale",
                            assay__shape_dim(call, 0, -1), scale);
    norm_statistics(call, 1, assay__node_int(call->node, "axis", -1));
}

/* Output 3 is the sum of input and skip. */
static void infer_skip_layer_norm(struct assay__shape_call *call)
{
    assay__shape_row_same(call);
    norm_statistics(call, 1, -1);
    assay__shape_like(call, 3, 0, ASSAY__UNDEFINED);
}

/* X, gamma, beta, skip, bias: Y and the sum */
static void infer_skip_group_norm(struct assay__shape_call *call)
{
    assay__shape_row_same(call);
    assay__shape_like(call, 1, 0, ASSAY__UNDEFINED);
}

/* --- recurrent -------------------------------------------------------------------------------- */

/* X [seq, batch, in] (layout 1: [batch, seq, in]), W [directions, gates × hidden, in]. Y [seq,
 * directions, batch, hidden] (layout 1: [batch, seq, directions, hidden]), Y_h and Y_c without
 * seq. */
static void infer_recurrent(struct assay__shape_call *call)
{
    bool batch_first = assay__node_int(call->node, "layout", 0) == 1;
    bool turned = assay__shape_op_is(call, "DynamicQuantizeLSTM");
    int in_axis = turned ? 1 : 2;
    int64_t hidden = assay__node_int(call->node, "hidden_size", ASSAY__NUM_ANY);
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    int64_t sequence = ASSAY__NUM_ANY, batch = ASSAY__NUM_ANY;
    if (assay__shape_rank(call, 0) == 3) {
        sequence = assay__shape_dim(call, 0, batch_first ? 1 : 0);
        batch = assay__shape_dim(call, 0, batch_first ? 0 : 1);
    }
    int64_t directions = assay__shape_attr_is(call, "direction", "bidirectional") ? 2 : 1;
    if (hidden < 0 && assay__shape_rank(call, 2) == 3) hidden = assay__shape_dim(call, 2, in_axis);
    /* W [directions, gates × hidden, in] and R [directions, gates × hidden, hidden];
     * DynamicQuantizeLSTM has them transposed */
    int gates = assay__shape_op_is(call, "RNN") ? 1 : assay__shape_op_is(call, "GRU") ? 3 : 4;
    if (assay__shape_rank(call, 0) == 3 && assay__shape_rank(call, 1) == 3)
        assay__shape_differ(call, 0, "features of the input and of the weights",
                            assay__shape_dim(call, 0, 2), assay__shape_dim(call, 1, in_axis));
    if (assay__shape_rank(call, 1) == 3) {
        assay__shape_differ(call, 1, "rows of the weights and gates times hidden size",
                            assay__shape_dim(call, 1, turned ? 2 : 1),
                            assay__num_mul(call->symbols, hidden, gates));
        assay__shape_differ(call, 1, "directions of the weights and of the node",
                            assay__shape_dim(call, 1, 0), directions);
    }
    if (assay__shape_rank(call, 2) == 3)
        assay__shape_differ(call, 2, "recurrent weights and hidden size",
                            assay__shape_dim(call, 2, in_axis), hidden);
    int64_t y[4] = {sequence, directions, batch, hidden}, state[3] = {directions, batch, hidden};
    int64_t y_first[4] = {batch, sequence, directions, hidden};
    int64_t state_first[3] = {batch, directions, hidden};
    assay__shape_set(call, 0, dtype, 4, batch_first ? y_first : y);
    assay__shape_set(call, 1, dtype, 3, batch_first ? state_first : state);
    assay__shape_set(call, 2, dtype, 3, batch_first ? state_first : state);
}

#define SAME assay__shape_row_same

const struct assay__shape_row assay__shape_rows_nn[] = {
    {"BatchNormalization", "", infer_batch_norm},
    {"DynamicQuantizeLSTM", "ms", infer_recurrent},
    {"DynamicQuantizeMatMul GemmFastGelu", "ms", infer_matmul},
    {"Einsum", "", infer_einsum},
    {"FusedGemm", "ms", infer_gemm},
    {"FusedMatMul FusedMatMulActivation SparseToDenseMatMul TransposeMatMul", "ms",
     infer_fused_matmul},
    {"GRU LSTM RNN", "", infer_recurrent},
    {"Gemm", "", infer_gemm},
    {"GemmFloat8", "ms", infer_gemm_float8},
    {"GroupNorm", "ms", SAME},
    {"GroupNormalization LRN LpNormalization MeanVarianceNormalization", "", SAME},
    {"InstanceNormalization", "", infer_instance_norm},
    {"LayerNormalization", "", infer_layer_norm},
    {"MatMul", "", infer_matmul},
    {"MatMulBnb4 MatMulNBits", "ms", infer_matmul_nbits},
    {"MatMulInteger QLinearMatMul", "", infer_matmul_integer},
    {"MatMulInteger16 MatMulIntegerToFloat QOrderedMatMul", "ms", infer_matmul_integer},
    {"QGemm", "ms", infer_qgemm},
    {"RMSNormalization", "", infer_scaled_norm},
    {"SimplifiedLayerNormalization", "*", infer_layer_norm},
    {"SkipGroupNorm", "ms", infer_skip_group_norm},
    {"SkipLayerNormalization SkipSimplifiedLayerNormalization", "ms", infer_skip_layer_norm},
    {NULL, NULL, NULL},
};
