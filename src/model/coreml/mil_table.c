/* mil_table.c - MIL's operators and what they are in ONNX, by meaning: one row each, in the
 * families of MIL's own documentation (iOS 15 to iOS 18). mil.h explains the words of a row. An
 * operator that ONNX has none of exactly that meaning for has no ONNX name and is kept in the
 * domain "coreml"; adding one that is missing is adding a row. Operators that need a function have
 * their row beside it (mil_layers.c, mil_moves.c, …). */
#include "model/coreml/mil.h"

#include <string.h>

const struct assay__mil_row assay__mil_rows_plain[] = {
    /* activation */
    {"clamped_relu", NULL, "x", "alpha beta", NULL},
    {"elu", "Elu", "x", "alpha", NULL},
    {"leaky_relu", "LeakyRelu", "x", "alpha", NULL},
    {"linear_activation", NULL, "x", "alpha beta", NULL},
    {"prelu", "PRelu", "x alpha", "", NULL},
    {"relu", "Relu", "x", "", NULL},
    {"scaled_tanh", NULL, "x", "alpha beta", NULL},
    {"sigmoid", "Sigmoid", "x", "", NULL},
    {"sigmoid_hard", "HardSigmoid", "x", "alpha beta", NULL},
    {"silu", "Swish", "x", "", NULL},
    {"softmax", "Softmax", "x", "axis=-1", NULL},
    {"softplus", "Softplus", "x", "", NULL},
    {"softplus_parametric", NULL, "x alpha beta", "", NULL},
    {"softsign", "Softsign", "x", "", NULL},
    {"thresholded_relu", "ThresholdedRelu", "x", "alpha", NULL},
    {"classify", NULL, "probabilities", "", NULL},
    /* control flow */
    {"select", "Where", "cond a b", "", NULL},
    {"make_list", NULL, "elem_shape*", "init_length dynamic_length dtype", NULL},
    {"list_length", NULL, "ls", "", NULL},
    {"list_write", NULL, "ls index value", "", NULL},
    {"list_read", NULL, "ls index", "", NULL},
    {"list_gather", NULL, "ls indices", "", NULL},
    {"list_scatter", NULL, "ls indices value", "", NULL},
    /* convolution */
    {"conv_quantized", NULL, "x weight bias quant_scale quant_bias",
     "quantization_type nbits strides pad_type pad dilations groups", NULL},
    /* elementwise, two inputs */
    {"add", "Add", "x y", "", NULL},
    {"equal", "Equal", "x y", "", NULL},
    {"floor_div", NULL, "x y", "", NULL},
    {"greater", "Greater", "x y", "", NULL},
    {"greater_equal", "GreaterOrEqual", "x y", "", NULL},
    {"less", "Less", "x y", "", NULL},
    {"less_equal", "LessOrEqual", "x y", "", NULL},
    {"logical_and", "And", "x y", "", NULL},
    {"logical_or", "Or", "x y", "", NULL},
    {"logical_xor", "Xor", "x y", "", NULL},
    {"maximum", "Max", "x y", "", NULL},
    {"minimum", "Min", "x y", "", NULL},
    {"mod", "Mod", "x y", "", NULL},
    {"mul", "Mul", "x y", "", NULL},
    {"not_equal", NULL, "x y", "", NULL},
    {"pow", "Pow", "x y", "", NULL},
    {"real_div", "Div", "x y", "", NULL},
    {"sub", "Sub", "x y", "", NULL},
    /* elementwise, one input */
    {"abs", "Abs", "x", "", NULL},
    {"acos", "Acos", "x", "", NULL},
    {"asin", "Asin", "x", "", NULL},
    {"atan", "Atan", "x", "", NULL},
    {"atanh", "Atanh", "x", "", NULL},
    {"ceil", "Ceil", "x", "", NULL},
    {"cos", "Cos", "x", "", NULL},
    {"cosh", "Cosh", "x", "", NULL},
    {"erf", "Erf", "x", "", NULL},
    {"exp", "Exp", "x", "", NULL},
    {"exp2", NULL, "x", "", NULL},
    {"floor", "Floor", "x", "", NULL},
    {"inverse", "Reciprocal", "x", "", NULL}, /* 1 / (x + epsilon), epsilon 1e-4 unless given */
    {"log", "Log", "x", "", NULL},
    {"logical_not", "Not", "x", "", NULL},
    {"round", "Round", "x", "", NULL},
    {"rsqrt", NULL, "x", "epsilon", NULL},
    {"sign", "Sign", "x", "", NULL},
    {"sin", "Sin", "x", "", NULL},
    {"sinh", "Sinh", "x", "", NULL},
    {"sqrt", "Sqrt", "x", "", NULL},
    {"square", "Mul", "x x", "", NULL},
    {"tan", "Tan", "x", "", NULL},
    {"tanh", "Tanh", "x", "", NULL},
    {"threshold", "Max", "x alpha", "", NULL}, /* max(x, alpha) */
    /* image resizing */
    {"affine", NULL, "x transform_matrix", "output_height output_width sampling_mode", NULL},
    {"crop_resize", NULL, "x roi boxes box_indices", "target_height target_width sampling_mode",
     NULL},
    {"resample", "GridSample", "x coordinates", "align_corners", NULL},
    /* linear */
    {"einsum", "Einsum", "values*", "equation", NULL},
    /* normalization: gamma and beta may be absent, where ONNX wants a scale */
    {"batch_norm", "BatchNormalization", "x gamma beta mean variance", "epsilon", NULL},
    {"instance_norm", "InstanceNormalization", "x gamma beta", "epsilon", NULL},
    {"l2_norm", NULL, "x", "epsilon", NULL},
    {"local_response_norm", "LRN", "x", "size alpha beta k>bias", NULL},
    /* random */
    {"random_bernoulli", NULL, "shape#", "prob seed", NULL},
    {"random_categorical", NULL, "x", "mode size seed", NULL},
    {"random_normal", "RandomNormal", "", "shape mean stddev>scale", NULL},
    {"random_uniform", "RandomUniform", "", "shape low high", NULL},
    /* recurrent: MIL's layout of weights, states and results is not ONNX's */
    {"gru", NULL, "x weight_ih weight_hh bias initial_h input_bias",
     "direction output_sequence recurrent_activation activation reset_after", NULL},
    {"lstm", NULL,
     "x weight_ih weight_hh bias initial_h initial_c peephole weight_ih_back weight_hh_back "
     "bias_back peephole_back",
     "direction output_sequence recurrent_activation cell_activation activation clip", NULL},
    {"rnn", NULL, "x weight_ih weight_hh bias initial_h", "direction output_sequence activation",
     NULL},
    /* reduction */
    {"reduce_argmax", "ArgMax", "x", "axis keep_dims>keepdims=0", NULL},
    {"reduce_argmin", "ArgMin", "x", "axis keep_dims>keepdims=0", NULL},
    {"reduce_l1_norm", "ReduceL1", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_l2_norm", "ReduceL2", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_log_sum", "ReduceLogSum", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_log_sum_exp", "ReduceLogSumExp", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_max", "ReduceMax", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_mean", "ReduceMean", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_min", "ReduceMin", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_prod", "ReduceProd", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_sum", "ReduceSum", "x axes#", "keep_dims>keepdims=0", NULL},
    {"reduce_sum_square", "ReduceSumSquare", "x axes#", "keep_dims>keepdims=0", NULL},
    /* scatter and gather */
    {"gather_along_axis", "GatherElements", "x indices", "axis=0", NULL},
    {"gather_nd", "GatherND", "x indices", "batch_dims=0", NULL},
    {"scatter", NULL, "data indices updates", "axis mode", NULL},
    /* tensor operation */
    {"argsort", NULL, "x", "axis ascending", NULL},
    {"cumsum", "CumSum", "x axis#", "exclusive reverse", NULL},
    {"fill_like", NULL, "ref_tensor", "value", NULL},
    {"flatten2d", "Flatten", "x", "axis=1", NULL},
    {"identity", "Identity", "x", "", NULL},
    {"non_maximum_suppression", NULL, "boxes scores",
     "iou_threshold score_threshold max_boxes per_class_suppression", NULL},
    {"non_zero", NULL, "x", "", NULL}, /* ONNX's result is the transpose of it */
    {"range_1d", "Range", "start end step", "", NULL},
    {"shape", "Shape", "x", "", NULL},
    {"stack", NULL, "values*", "axis", NULL},
    {"tile", "Tile", "x reps#", "", NULL},
    /* tensor transformation */
    {"batch_to_space", NULL, "x", "block_shape crops", NULL},
    {"depth_to_space", "DepthToSpace", "x", "block_size>blocksize", NULL},
    {"expand_dims", "Unsqueeze", "x axes#", "", NULL},
    {"pixel_unshuffle", NULL, "x", "downscale_factor", NULL},
    {"reshape", "Reshape", "x shape#", "", NULL},
    {"reshape_like", NULL, "x ref_tensors*", "", NULL},
    {"reverse", NULL, "x", "axes", NULL},
    {"reverse_sequence", "ReverseSequence", "x lengths#", "batch_axis=0 seq_axis>time_axis=1",
     NULL},
    {"slice_update", NULL, "x update begin# end#", "stride begin_mask end_mask squeeze_mask", NULL},
    {"sliding_windows", NULL, "x", "axis size stride", NULL},
    {"space_to_batch", NULL, "x", "block_shape paddings", NULL},
    {"space_to_depth", "SpaceToDepth", "x", "block_size>blocksize", NULL},
    {"squeeze", "Squeeze", "x axes#", "", NULL},
    {"transpose", "Transpose", "x", "perm", NULL},
    /* quantization of activations */
    {"dequantize", "DequantizeLinear", "input scale zero_point", "axis", NULL},
    {"quantize", "QuantizeLinear", "input scale zero_point", "axis", NULL},
    /* states and attention */
    {"coreml_update_state", NULL, "state value", "", NULL},
    {"read_state", NULL, "input", "", NULL},
    {"scaled_dot_product_attention", NULL, "query key value attn_mask", "", NULL},
    {"write_state", NULL, "input data", "", NULL},
    {0},
};

#define TABLE(NAME) assay__mil_rows_##NAME,
static const struct assay__mil_row *const tables[] = {ASSAY__MIL_TABLES(TABLE)};

const struct assay__mil_row *assay__mil_row(const char *op)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct assay__mil_row *row = tables[i]; row->op; row++)
            if (strcmp(row->op, op) == 0) return row;
    return NULL;
}
