/* mil_table.c - MIL's operators and their ONNX equivalents by meaning, in the families of MIL's own
 * documentation (iOS 15 to iOS 18). mil.h explains the parts of a row. An operator without an exact
 * ONNX equivalent has no ONNX name and is kept in the domain "coreml"; to add a missing one, add
 * its name to a row, or a row. Operators that need a function have their row next to it
 * (mil_layers.c, mil_moves.c, …). */
#include "model/coreml/mil.h"

#include <string.h>

const struct assay__mil_row assay__mil_rows_plain[] = {
    /* activation */
    {"clamped_relu linear_activation scaled_tanh sigmoid_hard>HardSigmoid", "x", "alpha beta",
     NULL},
    {"elu>Elu leaky_relu>LeakyRelu thresholded_relu>ThresholdedRelu", "x", "alpha", NULL},
    {"prelu>PRelu", "x alpha", "", NULL},
    {"relu>Relu sigmoid>Sigmoid silu>Swish softplus>Softplus softsign>Softsign", "x", "", NULL},
    {"softmax>Softmax", "x", "axis=-1", NULL},
    {"softplus_parametric", "x alpha beta", "", NULL},
    {"classify", "probabilities", "", NULL},
    /* control flow */
    {"select>Where", "cond a b", "", NULL},
    {"make_list", "elem_shape*", "init_length dynamic_length dtype", NULL},
    {"list_length", "ls", "", NULL},
    {"list_write", "ls index value", "", NULL},
    {"list_read", "ls index", "", NULL},
    {"list_gather", "ls indices", "", NULL},
    {"list_scatter", "ls indices value", "", NULL},
    /* convolution */
    {"conv_quantized", "x weight bias quant_scale quant_bias",
     "quantization_type nbits strides pad_type pad dilations groups", NULL},
    /* elementwise, two inputs */
    {"add>Add equal>Equal floor_div greater>Greater greater_equal>GreaterOrEqual less>Less "
     "less_equal>LessOrEqual logical_and>And logical_or>Or logical_xor>Xor maximum>Max minimum>Min "
     "mod>Mod mul>Mul not_equal pow>Pow real_div>Div sub>Sub",
     "x y", "", NULL},
    /* elementwise, one input */
    {"abs>Abs acos>Acos asin>Asin atan>Atan atanh>Atanh ceil>Ceil cos>Cos cosh>Cosh erf>Erf "
     "exp>Exp exp2 floor>Floor log>Log logical_not>Not round>Round sign>Sign sin>Sin sinh>Sinh "
     "sqrt>Sqrt tan>Tan tanh>Tanh",
     "x", "", NULL},
    {"inverse>Reciprocal", "x", "", NULL}, /* 1 / (x + epsilon), epsilon 1e-4 unless given */
    {"rsqrt", "x", "epsilon", NULL},
    {"square>Mul", "x x", "", NULL},
    {"threshold>Max", "x alpha", "", NULL}, /* max(x, alpha) */
    /* image resizing */
    {"affine", "x transform_matrix", "output_height output_width sampling_mode", NULL},
    {"crop_resize", "x roi boxes box_indices", "target_height target_width sampling_mode", NULL},
    {"resample>GridSample", "x coordinates", "align_corners", NULL},
    /* linear */
    {"einsum>Einsum", "values*", "equation", NULL},
    /* normalization: gamma and beta may be missing, but ONNX requires a scale */
    {"batch_norm>BatchNormalization", "x gamma beta mean variance", "epsilon", NULL},
    {"instance_norm>InstanceNormalization", "x gamma beta", "epsilon", NULL},
    {"l2_norm", "x", "epsilon", NULL},
    {"local_response_norm>LRN", "x", "size alpha beta k>bias", NULL},
    /* random */
    {"random_bernoulli", "shape#", "prob seed", NULL},
    {"random_categorical", "x", "mode size seed", NULL},
    {"random_normal>RandomNormal", "", "shape mean stddev>scale", NULL},
    {"random_uniform>RandomUniform", "", "shape low high", NULL},
    /* recurrent: MIL's layout of weights, states and results differs from ONNX's */
    {"gru", "x weight_ih weight_hh bias initial_h input_bias",
     "direction output_sequence recurrent_activation activation reset_after", NULL},
    {"lstm",
     "x weight_ih weight_hh bias initial_h initial_c peephole weight_ih_back weight_hh_back "
     "bias_back peephole_back",
     "direction output_sequence recurrent_activation cell_activation activation clip", NULL},
    {"rnn", "x weight_ih weight_hh bias initial_h", "direction output_sequence activation", NULL},
    /* reduction */
    {"reduce_argmax>ArgMax reduce_argmin>ArgMin", "x", "axis keep_dims>keepdims=0", NULL},
    {"reduce_l1_norm>ReduceL1 reduce_l2_norm>ReduceL2 reduce_log_sum>ReduceLogSum "
     "reduce_log_sum_exp>ReduceLogSumExp reduce_max>ReduceMax reduce_mean>ReduceMean "
     "reduce_min>ReduceMin reduce_prod>ReduceProd reduce_sum>ReduceSum "
     "reduce_sum_square>ReduceSumSquare",
     "x axes#", "keep_dims>keepdims=0", NULL},
    /* scatter and gather */
    {"gather_along_axis>GatherElements", "x indices", "axis=0", NULL},
    {"gather_nd>GatherND", "x indices", "batch_dims=0", NULL},
    {"scatter", "data indices updates", "axis mode", NULL},
    /* tensor operation */
    {"argsort", "x", "axis ascending", NULL},
    {"cumsum>CumSum", "x axis#", "exclusive reverse", NULL},
    {"fill_like", "ref_tensor", "value", NULL},
    {"flatten2d>Flatten", "x", "axis=1", NULL},
    {"identity>Identity shape>Shape", "x", "", NULL},
    {"non_maximum_suppression", "boxes scores",
     "iou_threshold score_threshold max_boxes per_class_suppression", NULL},
    {"non_zero", "x", "", NULL}, /* ONNX's result is the transpose of it */
    {"range_1d>Range", "start end step", "", NULL},
    {"stack", "values*", "axis", NULL},
    {"tile>Tile", "x reps#", "", NULL},
    /* tensor transformation */
    {"batch_to_space", "x", "block_shape crops", NULL},
    {"depth_to_space>DepthToSpace space_to_depth>SpaceToDepth", "x", "block_size>blocksize", NULL},
    {"expand_dims>Unsqueeze squeeze>Squeeze", "x axes#", "", NULL},
    {"pixel_unshuffle", "x", "downscale_factor", NULL},
    {"reshape>Reshape", "x shape#", "", NULL},
    {"reshape_like", "x ref_tensors*", "", NULL},
    {"reverse", "x", "axes", NULL},
    {"reverse_sequence>ReverseSequence", "x lengths#", "batch_axis=0 seq_axis>time_axis=1", NULL},
    {"slice_update", "x update begin# end#", "stride begin_mask end_mask squeeze_mask", NULL},
    {"sliding_windows", "x", "axis size stride", NULL},
    {"space_to_batch", "x", "block_shape paddings", NULL},
    {"transpose>Transpose", "x", "perm", NULL},
    /* quantization of activations */
    {"dequantize>DequantizeLinear quantize>QuantizeLinear", "input scale zero_point", "axis", NULL},
    /* states and attention */
    {"coreml_update_state", "state value", "", NULL},
    {"read_state", "input", "", NULL},
    {"scaled_dot_product_attention", "query key value attn_mask", "", NULL},
    {"write_state", "input data", "", NULL},
    {0},
};

#define TABLE(NAME) assay__mil_rows_##NAME,
static const struct assay__mil_row *const tables[] = {ASSAY__MIL_TABLES(TABLE)};

/* What follows `op` in the text of a row: '>', a blank or the end; NULL: not found. */
static const char *after(const char *words, const char *op)
{
    size_t length = strlen(op);
    for (const char *at = words; (at = strstr(at, op)); at += length)
        if ((at == words || at[-1] == ' ') && strchr("> ", at[length])) return at + length;
    return NULL;
}

const struct assay__mil_row *assay__mil_row(const char *op, char onnx[ASSAY__WORD])
{
    onnx[0] = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && *op; i++)
        for (const struct assay__mil_row *row = tables[i]; row->ops; row++) {
            const char *rest = after(row->ops, op);
            if (!rest) continue;
            rest += *rest == '>';
            if (rest[-1] == '>') assay__next_word(&rest, onnx);
            return row;
        }
    return NULL;
}
