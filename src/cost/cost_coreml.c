/* cost_coreml.c - costs of Core ML's operators (MIL) that have no equivalent ONNX operator, or are
 * kept under their own name because an argument is not constant. The reader maps the others, whose
 * rows are those of ai.onnx. Inputs are in the order of the reader's table. Weights that are stored
 * compressed (constexpr_*) are counted where they are unpacked: stored bytes read, dense ones
 * written. */
#include "cost/cost_table.h"

#include <math.h>

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

/* matmul x, y: the inner axis is the last of x, the one before when transpose_x. */
static void count_matmul(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    int axis = assay__node_int(call->node, "transpose_x", 0) ? -2 : -1;
    work->multiply_adds = assay__cost_out_elements(call) * assay__cost_in_dim(call, 0, axis);
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
    work->other = taps * assay__cost_out_elements(call) + 3 * assay__cost_in_elements(call, 1);
}

/* Linear unless interpolation_mode, which only resize has, says otherwise. */
static void count_resize(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    bool nearest = assay__cost_attr_is(call, "interpolation_mode", "NEAREST_NEIGHBOR");
    assay__cost_resize(call, nearest ? "nearest" : "linear", work);
}

/* argsort along an axis of n: n × ⌈log₂ n⌉ comparisons; topk: as TopK, n × ⌈log₂ k⌉. */
static void count_sort(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    const struct assay__shape_entry *kept = call->node->op[0] == 'a' ? in
                                                                     : assay__cost_out(call, 0);
    double n = assay__cost_dim(kept, assay__cost_axis(call, -1));
    work->other = assay__cost_elements(in) * assay__cost_sort_depth(n);
}

const struct assay__cost_row assay__cost_rows_coreml[] = {
    /* compressed weights */
    UNPACK("constexpr_affine_dequantize", 2), /* (x - zero) × scale */
    UNPACK("constexpr_blockwise_shift_scale constexpr_sparse_blockwise_shift_scale dequantize", 2),
    UNPACK("constexpr_cast constexpr_lut_to_sparse constexpr_sparse_to_dense", 0),
    UNPACK("constexpr_lut_to_dense", 0), /* a look-up per number */
    EACH_IN("quantize", 2),
    /* products */
    ASSAY__COST_PRODUCT("conv conv_quantized", D, assay__cost_conv, 1, 2),
    ASSAY__COST_PRODUCT("conv_transpose", D, assay__cost_conv_transpose, 1, 2),
    WORK("gru lstm rnn", count_recurrent),
    ASSAY__COST_PRODUCT("linear", D, assay__cost_matmul, 1, 2), /* x […, D], weight [N, D], bias */
    WORK("matmul", count_matmul),
    WORK("scaled_dot_product_attention", count_attention),
    /* activations */
    EACH("clamped_relu", 3), /* comparison, ×, comparison */
    EACH("elu softplus softsign", 3),
    WORK("gelu", count_gelu),
    EACH("leaky_relu prelu relu6", 2),
    EACH("linear_activation", 2), /* × + */
    EACH("relu thresholded_relu", 1),
    EACH("scaled_tanh", 3), /* ×, tanh, × */
    EACH("sigmoid sigmoid_hard", 4),
    EACH("silu softmax", 5),
    EACH("softplus_parametric", 5), /* ×, exp, +, log, × */
    /* element by element */
    EACH("abs acos add asin atan atanh ceil cos cosh cumsum equal erf exp exp2 floor greater "
         "greater_equal less less_equal maximum minimum mod mul not_equal pow random_categorical "
         "random_normal random_uniform real_div round sign sin sinh sqrt square sub tan tanh "
         "threshold",
         1),
    EACH("clip", 2),
    EACH("floor_div", 2),        /* /, floor */
    EACH("inverse", 2),          /* + ε, / */
    EACH("log", 2),              /* + ε, log */
    EACH("random_bernoulli", 1), /* one function */
    EACH("rsqrt", 3),            /* + ε, root, / */
    /* norms, pools, reductions */
    WORK("avg_pool l2_pool max_pool", count_pool),
    EACH("batch_norm", 2),
    EACH("instance_norm layer_norm", 8),
    EACH("l2_norm", 3), /* square, sum, × 1/norm */
    WORK("local_response_norm", assay__cost_lrn),
    EACH_IN("reduce_argmax reduce_argmin reduce_log_sum reduce_max reduce_mean reduce_min "
            "reduce_prod reduce_sum",
            1),
    EACH_IN("reduce_l1_norm reduce_l2_norm reduce_log_sum_exp reduce_sum_square", 2),
    /* images */
    WORK("affine", count_affine),
    WORK("crop_resize resample", count_resample), /* crop_resize: 3 per region number */
    WORK("resize resize_bilinear upsample_bilinear", count_resize),
    MOVE("resize_nearest_neighbor upsample_nearest_neighbor"),
    /* order, detection */
    WORK("argsort topk", count_sort),
    WORK("non_maximum_suppression", assay__cost_by_data),
    /* states: read by name, written by a copy of the size of the state */
    {.ops = "coreml_update_state", .domain = D, .moves = ASSAY__MOVES_OUTPUT},
    NAME("read_state"),
    {.ops = "write_state", .domain = D, .moves = ASSAY__MOVES_INPUT},
    /* moves */
    MOVE("band_part batch_to_space cast classify concat depth_to_space fill fill_like logical_and "
         "logical_not logical_or logical_xor one_hot pad pixel_shuffle pixel_unshuffle range_1d "
         "reverse reverse_sequence scatter scatter_along_axis scatter_nd select slice_update "
         "sliding_windows space_to_batch space_to_depth split stack tile transpose"),
    PICK("crop gather gather_along_axis gather_nd slice_by_index slice_by_size"),
    {.ops = "non_zero", .domain = "coreml", .by_data = true},
    /* names and handles */
    NAME("expand_dims flatten2d identity reshape reshape_like squeeze"),
    SHAPE("list_gather"), /* lists hold tensors by reference */
    SHAPE("list_length list_read list_scatter list_write make_list shape"),
    {.ops = NULL},
};
