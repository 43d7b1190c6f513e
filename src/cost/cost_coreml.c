/* cost_coreml.c - costs of Core ML's operators (MIL) that have no ONNX operator of the same
 * meaning, or are kept under their own name because an argument is not constant. The reader maps
 * the others, and their rows are those of ai.onnx. Inputs stand in the order of the reader's table.
 * Weights that are stored compressed (constexpr_*) are charged where they are unpacked: stored
 * bytes read, real ones written. */
#include "cost/cost_table.h"

#include <math.h>
#include <string.h>

#define D "coreml"
#define EACH(name, each) ASSAY__COST_EACH(name, D, each)
#define EACH_IN(name, each) ASSAY__COST_EACH_IN(name, D, each)
#define MOVE(name) ASSAY__COST_MOVE(name, D)
#define PICK(name) ASSAY__COST_PICK(name, D, 1)
#define NAME(name) ASSAY__COST_NAME(name, D)
#define SHAPE(name) ASSAY__COST_SHAPE(name, D)
#define UNPACK(name, each) ASSAY__COST_UNPACK(name, D, each)
#define WORK(name, count) ASSAY__COST_WORK(name, D, count)

/* gelu: EXACT 0.5 x (1 + erf(x / √2)): 5; TANH_APPROXIMATION: 8; SIGMOID_APPROXIMATION x σ(1.702
 * x): 6. */
static void count_gelu(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double each = assay__cost_attr_is(call, "mode", "TANH_APPROXIMATION")      ? 8
                  : assay__cost_attr_is(call, "mode", "SIGMOID_APPROXIMATION") ? 6
                                                                               : 5;
    work->other = each * assay__cost_out_elements(call);
}

/* conv, conv_quantized x, weight [M, C / groups, k…], bias */
static void count_conv(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_conv(call, 1, 2, work);
}

/* conv_transpose x, weight [C, M / groups, k…], bias */
static void count_conv_transpose(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_conv_transpose(call, 1, 2, work);
}

/* linear x […, D], weight [N, D], bias */
static void count_linear(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double outputs = assay__cost_out_elements(call);
    work->multiply_adds = outputs * assay__cost_dim(assay__cost_in(call, 0), -1);
    work->bias_adds = assay__cost_has(call, 2) ? outputs : 0;
}

/* matmul x, y: the inner axis is the last of x, the one before when transpose_x. */
static void count_matmul(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    int axis = assay__node_int(call->node, "transpose_x", 0) ? -2 : -1;
    work->multiply_adds = assay__cost_out_elements(call) *
                          assay__cost_dim(assay__cost_in(call, 0), axis);
}

/* scaled_dot_product_attention query […, L, E], key […, S, E], value […, S, V], attn_mask: as
 * ai.onnx's Attention: scale 1, mask 1. */
static void count_attention(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *q = assay__cost_in(call, 0), *k = assay__cost_in(call, 1),
                                    *v = assay__cost_in(call, 2);
    double length = assay__cost_dim(q, -2), width = assay__cost_dim(q, -1);
    double heads = assay__cost_elements(q) / (length * width);
    assay__cost_attend(heads, length, assay__cost_dim(k, -2), width, assay__cost_dim(v, -1),
                       1 + (double)assay__cost_has(call, 3), work);
}

/* lstm, gru, rnn x [S, B, I], weight_ih [G H, I], weight_hh [G H, H], bias [G H]: per step and
 * batch G H (I + H) multiply-adds and G H bias additions; point-wise LSTM 9, GRU 10, RNN 1 per unit
 * (as ONNX's). A bidirectional lstm has its second weights at 7. */
static void count_recurrent(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0), *w = assay__cost_in(call, 1),
                                    *r = assay__cost_in(call, 2);
    bool lstm = call->node->op[0] == 'l';
    double steps = assay__cost_dim(x, 0) * assay__cost_dim(x, 1);
    double gates = assay__cost_dim(w, 0), hidden = assay__cost_dim(r, 1);
    if (lstm && assay__cost_has(call, 7)) steps *= 2;
    work->multiply_adds = steps * gates * (assay__cost_dim(w, 1) + hidden);
    work->bias_adds = assay__cost_has(call, 3) ? steps * gates : 0;
    work->other = steps * hidden * (lstm ? 9 : call->node->op[0] == 'g' ? 10 : 1);
}

/* Pools: k per output; l2_pool a square and an addition per window element, a root. */
static void count_pool(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double window = assay__cost_attr_product(call, "kernel_sizes");
    work->other = assay__cost_out_elements(call) *
                  (call->node->op[0] == 'l' ? 2 * window + 1 : window);
}

/* affine x [N, C, …], matrix: 4 neighbours per output element (8), and per position two coordinates
 * of 2 multiplications and 2 additions each. */
static void count_affine(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double outputs = assay__cost_out_elements(call);
    work->other = 8 * outputs + 8 * outputs / assay__cost_dim(assay__cost_out(call, 0), 1);
}

/* resample x, coordinates […, 2]: 4 neighbours per output element (8; nearest: none), 3 per
 * coordinate. */
static void count_resample(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double taps = assay__cost_attr_is(call, "sampling_mode", "nearest") ? 0 : 8;
    work->other = taps * assay__cost_out_elements(call) +
                  3 * assay__cost_elements(assay__cost_in(call, 1));
}

static void count_linear_resize(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_resize(call, "linear", work);
}

static void count_resize(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    bool nearest = assay__cost_attr_is(call, "interpolation_mode", "NEAREST_NEIGHBOR");
    assay__cost_resize(call, nearest ? "nearest" : "linear", work);
}

/* Sorting along an axis of n: n × ⌈log₂ n⌉ comparisons. */
static void count_sort(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    double n = assay__cost_dim(in, assay__cost_axis(call, -1));
    work->other = assay__cost_elements(in) * (isnan(n) ? NAN : n > 2 ? ceil(log2(n)) : 1);
}

/* topk: as TopK, n × ⌈log₂ k⌉. */
static void count_top_k(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double k = assay__cost_dim(assay__cost_out(call, 0), assay__cost_axis(call, -1));
    work->other = assay__cost_elements(assay__cost_in(call, 0)) * (isnan(k) ? NAN
                                                                   : k > 2  ? ceil(log2(k))
                                                                            : 1);
}

const struct assay__cost_row assay__cost_rows_coreml[] = {
    /* compressed weights */
    UNPACK("constexpr_affine_dequantize", 2), /* (x - zero) × scale */
    UNPACK("constexpr_blockwise_shift_scale", 2),
    UNPACK("constexpr_cast", 0),
    UNPACK("constexpr_lut_to_dense", 0), /* a look-up per number */
    UNPACK("constexpr_lut_to_sparse", 0),
    UNPACK("constexpr_sparse_blockwise_shift_scale", 2),
    UNPACK("constexpr_sparse_to_dense", 0),
    UNPACK("dequantize", 2),
    EACH_IN("quantize", 2),
    /* products */
    WORK("conv", count_conv),
    WORK("conv_quantized", count_conv),
    WORK("conv_transpose", count_conv_transpose),
    WORK("gru", count_recurrent),
    WORK("linear", count_linear),
    WORK("lstm", count_recurrent),
    WORK("matmul", count_matmul),
    WORK("rnn", count_recurrent),
    WORK("scaled_dot_product_attention", count_attention),
    /* activations */
    EACH("clamped_relu", 3), /* comparison, ×, comparison */
    EACH("elu", 3),
    WORK("gelu", count_gelu),
    EACH("leaky_relu", 2),
    EACH("linear_activation", 2), /* × + */
    EACH("prelu", 2),
    EACH("relu", 1),
    EACH("relu6", 2),
    EACH("scaled_tanh", 3), /* ×, tanh, × */
    EACH("sigmoid", 4),
    EACH("sigmoid_hard", 4),
    EACH("silu", 5),
    EACH("softmax", 5),
    EACH("softplus", 3),
    EACH("softplus_parametric", 5), /* ×, exp, +, log, × */
    EACH("softsign", 3),
    EACH("thresholded_relu", 1),
    /* element by element */
    EACH("abs", 1),
    EACH("acos", 1),
    EACH("add", 1),
    EACH("asin", 1),
    EACH("atan", 1),
    EACH("atanh", 1),
    EACH("ceil", 1),
    EACH("clip", 2),
    EACH("cos", 1),
    EACH("cosh", 1),
    EACH("cumsum", 1),
    EACH("equal", 1),
    EACH("erf", 1),
    EACH("exp", 1),
    EACH("exp2", 1),
    EACH("floor", 1),
    EACH("floor_div", 2), /* /, floor */
    EACH("greater", 1),
    EACH("greater_equal", 1),
    EACH("inverse", 2), /* + ε, / */
    EACH("less", 1),
    EACH("less_equal", 1),
    EACH("log", 2), /* + ε, log */
    EACH("maximum", 1),
    EACH("minimum", 1),
    EACH("mod", 1),
    EACH("mul", 1),
    EACH("not_equal", 1),
    EACH("pow", 1),
    EACH("random_bernoulli", 1), /* one function */
    EACH("random_categorical", 1),
    EACH("random_normal", 1),
    EACH("random_uniform", 1),
    EACH("real_div", 1),
    EACH("round", 1),
    EACH("rsqrt", 3), /* + ε, root, / */
    EACH("sign", 1),
    EACH("sin", 1),
    EACH("sinh", 1),
    EACH("sqrt", 1),
    EACH("square", 1),
    EACH("sub", 1),
    EACH("tan", 1),
    EACH("tanh", 1),
    EACH("threshold", 1),
    /* norms, pools, reductions */
    WORK("avg_pool", count_pool),
    EACH("batch_norm", 2),
    EACH("instance_norm", 8),
    EACH("l2_norm", 3), /* square, sum, × 1/norm */
    WORK("l2_pool", count_pool),
    EACH("layer_norm", 8),
    WORK("local_response_norm", assay__cost_lrn),
    WORK("max_pool", count_pool),
    EACH_IN("reduce_argmax", 1),
    EACH_IN("reduce_argmin", 1),
    EACH_IN("reduce_l1_norm", 2),
    EACH_IN("reduce_l2_norm", 2),
    EACH_IN("reduce_log_sum", 1),
    EACH_IN("reduce_log_sum_exp", 2),
    EACH_IN("reduce_max", 1),
    EACH_IN("reduce_mean", 1),
    EACH_IN("reduce_min", 1),
    EACH_IN("reduce_prod", 1),
    EACH_IN("reduce_sum", 1),
    EACH_IN("reduce_sum_square", 2),
    /* images */
    WORK("affine", count_affine),
    WORK("crop_resize", count_resample), /* 4 neighbours per output element, 3 per region number */
    WORK("resample", count_resample),
    WORK("resize", count_resize),
    WORK("resize_bilinear", count_linear_resize),
    MOVE("resize_nearest_neighbor"),
    WORK("upsample_bilinear", count_linear_resize),
    MOVE("upsample_nearest_neighbor"),
    /* order, detection */
    WORK("argsort", count_sort),
    WORK("non_maximum_suppression", assay__cost_by_data),
    WORK("topk", count_top_k),
    /* states: read by name, written by a copy of the size of the state */
    {.op = "coreml_update_state", .domain = D, .moves = ASSAY__MOVES_OUTPUT},
    NAME("read_state"),
    {.op = "write_state", .domain = D, .moves = ASSAY__MOVES_INPUT},
    /* moves */
    MOVE("band_part"),
    MOVE("batch_to_space"),
    MOVE("cast"),
    MOVE("classify"),
    MOVE("concat"),
    PICK("crop"),
    MOVE("depth_to_space"),
    MOVE("fill"),
    MOVE("fill_like"),
    PICK("gather"),
    PICK("gather_along_axis"),
    PICK("gather_nd"),
    MOVE("logical_and"),
    MOVE("logical_not"),
    MOVE("logical_or"),
    MOVE("logical_xor"),
    {.op = "non_zero", .domain = "coreml", .by_data = true},
    MOVE("one_hot"),
    MOVE("pad"),
    MOVE("pixel_shuffle"),
    MOVE("pixel_unshuffle"),
    MOVE("range_1d"),
    MOVE("reverse"),
    MOVE("reverse_sequence"),
    MOVE("scatter"),
    MOVE("scatter_along_axis"),
    MOVE("scatter_nd"),
    MOVE("select"),
    PICK("slice_by_index"),
    PICK("slice_by_size"),
    MOVE("slice_update"),
    MOVE("sliding_windows"),
    MOVE("space_to_batch"),
    MOVE("space_to_depth"),
    MOVE("split"),
    MOVE("stack"),
    MOVE("tile"),
    MOVE("transpose"),
    /* names and handles */
    NAME("expand_dims"),
    NAME("flatten2d"),
    NAME("identity"),
    NAME("reshape"),
    NAME("reshape_like"),
    NAME("squeeze"),
    SHAPE("list_gather"), /* lists hold tensors by reference */
    SHAPE("list_length"),
    SHAPE("list_read"),
    SHAPE("list_scatter"),
    SHAPE("list_write"),
    SHAPE("make_list"),
    SHAPE("shape"),
    {.op = NULL},
};
