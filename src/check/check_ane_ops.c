/* check_ane_ops.c - which operators the Neural Engine supports according to the sources: a table of
 * names. A name is Core ML's (the operator of a program, the layer of a network) or ONNX's; a node
 * of a Core ML file is looked up by the name it has there.
 *
 * Plain ones: Core ML has them, and no source says that the engine does not support them. Only
 * compiling and running can confirm it. An operator in no list is unknown, and reported as such. */
#include "check/check.h"

#include "base/text.h"

#include <string.h>

struct op_row {
    enum assay__ane_path path;
    const char *names; /* separated by spaces; a trailing * matches any ending */
};

static const struct op_row rows[] = {
    {ASSAY__ANE_RECURRENT,
     "LSTM GRU lstm gru uniDirectionalLSTM biDirectionalLSTM DynamicQuantizeLSTM"},
    {ASSAY__ANE_NO_PATH,
     "Mod mod modBroadcastable And Or Xor logical_and logical_or logical_xor logicalAnd logicalOr "
     "logicalXor ReduceProd reduce_prod reduceProd ReverseSequence reverse_sequence reverseSeq "
     "Scatter ScatterElements ScatterND scatter* Trilu band_part matrixBandPart lowerTriangular "
     "upperTriangular NonZero non_zero whereNonZero OneHot one_hot oneHot Shape shape getShape "
     "sliding_windows slidingWindows RNN rnn simpleRecurrent Tan tan Asin asin Acos acos Atanh "
     "atanh Asinh asinh Acosh acosh Sinh sinh Cosh cosh Bernoulli random_bernoulli "
     "randomBernoulli* Multinomial random_categorical categoricalDistribution RandomNormal "
     "RandomNormalLike random_normal randomNormal* make_list list_*"},
    {ASSAY__ANE_CUSTOM, "custom"},
    {ASSAY__ANE_CONTROL, "If Loop Scan cond while_loop branch loop loopBreak loopContinue"},
    {ASSAY__ANE_SAMPLER, "GridSample resample crop_resize cropResize affine AffineGrid RoiAlign"},
    {ASSAY__ANE_GATHER, "Gather GatherElements GatherND gather gather_along_axis gather_nd "
                        "gatherND gatherAlongAxis embedding embeddingND"},
    {ASSAY__ANE_SORT, "TopK topk topK argsort argSort"},
    {ASSAY__ANE_SINE, "Sin Cos sin cos"},
    {ASSAY__ANE_PLAIN,
     /* ONNX */
     "Abs Add ArgMax ArgMin Atan AveragePool BatchNormalization Cast CastLike Ceil Celu Clip "
     "Concat Constant ConstantOfShape Conv ConvTranspose CumSum DepthToSpace DequantizeLinear Div "
     "Dropout Einsum Elu Equal Erf Exp Expand Flatten Floor Gelu Gemm GlobalAveragePool "
     "GlobalMaxPool Greater GreaterOrEqual GroupNormalization HardSigmoid HardSwish Identity "
     "InstanceNormalization LRN LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax "
     "LpNormalization LpPool MatMul Max MaxPool Mean MeanVarianceNormalization Min Mish Mul Neg "
     "Not PRelu Pad Pow QuantizeLinear RMSNormalization Range Reciprocal ReduceL1 ReduceL2 "
     "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceSum ReduceSumSquare Relu "
     "Reshape Resize Round Selu Sigmoid Sign Slice Softmax Softplus Softsign SpaceToDepth Split "
     "Sqrt Squeeze Sub Sum Swish Tanh ThresholdedRelu Tile Transpose Unsqueeze Upsample Where "
     "FusedMatMul QLinearConv QLinearMatMul MatMulInteger ConvInteger DynamicQuantizeLinear "
     /* Core ML programs */
     "abs add avg_pool batch_norm batch_to_space cast ceil clamped_relu classify clip concat conv "
     "conv_quantized conv_transpose const constexpr_* coreml_update_state crop cumsum "
     "depth_to_space dequantize einsum elu equal erf exp exp2 expand_dims fill fill_like flatten2d "
     "floor floor_div gelu greater greater_equal identity instance_norm inverse l2_norm l2_pool "
     "layer_norm leaky_relu less less_equal linear linear_activation local_response_norm log "
     "logical_not matmul max_pool maximum minimum mul not_equal pad pixel_shuffle pixel_unshuffle "
     "pow prelu quantize range_1d read_state real_div reduce_* relu relu6 reshape reshape_like "
     "resize resize_bilinear resize_nearest_neighbor reverse round rsqrt "
     "scaled_dot_product_attention scaled_tanh select sigmoid sigmoid_hard sign silu "
     "slice_by_index slice_by_size slice_update softmax softplus softplus_parametric softsign "
     "space_to_batch space_to_depth split sqrt square squeeze stack sub tanh thresholded_relu "
     "threshold tile transpose upsample_bilinear upsample_nearest_neighbor write_state "
     /* layers of Core ML networks */
     "convolution pooling activation innerProduct batchnorm mvn l2normalize lrn padding upsample "
     "resizeBilinear unary multiply average scale bias max min dot reduce* flatten permute "
     "sequenceRepeat reorganizeData slice copy clampedReLU"},
};

static enum assay__ane_path path_named(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (assay__text_is_one_of(name, rows[i].names)) return rows[i].path;
    return ASSAY__ANE_UNKNOWN;
}

enum assay__ane_path assay__ane_path_of(const struct assay__node *node)
{
    enum assay__ane_path path = ASSAY__ANE_UNKNOWN;
    if (node->source_op && *node->source_op) path = path_named(node->source_op);
    /* a name in another domain that happens to be one of ONNX's is a different operator */
    bool known = !*node->domain || assay__text_is_one_of(node->domain, "ai.onnx coreml") ||
                 (strcmp(node->domain, "com.microsoft") == 0 &&
                  strcmp(node->op, "FusedMatMul") == 0);
    return path == ASSAY__ANE_UNKNOWN && known ? path_named(node->op) : path;
}

/* --- rules ------------------------------------------------------------------------------------ */

static const char *shown(const struct assay__node *node)
{
    return node->source_op && *node->source_op ? node->source_op : node->op;
}

/* A rule decided by the path alone: for chips that lack the unit, or for all. */
void assay__ane_by_path(struct assay__check *check)
{
    static const struct {
        const char *rule;
        enum assay__ane_path path;
        enum assay__ane_limit lacks; /* the unit that some chips lack; 0: all do */
        const char *reason;          /* a format that may support the operator */
    } paths[] = {
        {"recurrent", ASSAY__ANE_RECURRENT, 0, "the engine has no path for %s"},
        {"no-path", ASSAY__ANE_NO_PATH, 0, "no engine of any chip has a path for %s"},
        {"custom-layer", ASSAY__ANE_CUSTOM, 0, "a layer implemented by the application"},
        {"control-flow", ASSAY__ANE_CONTROL, 0,
         "%s decides at run time what runs; its subgraphs were not examined"},
        {"gather", ASSAY__ANE_GATHER, ASSAY__ANE_LACKS_SAMPLER,
         "hardware gather was introduced with M2"},
        {"sort", ASSAY__ANE_SORT, ASSAY__ANE_LACKS_SAMPLER,
         "top-k and sorting were introduced with M2"},
        {"sine", ASSAY__ANE_SINE, ASSAY__ANE_LACKS_SINE, "sine and cosine were introduced with M3"},
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (check->paths[check->at] != paths[i].path) continue;
        if (strcmp(check->rule->id, paths[i].rule) != 0) continue;
        const char *chips = paths[i].lacks ? assay__ane_fails(check, paths[i].lacks, 0) : "";
        if (chips) assay__check_add(check, chips, paths[i].reason, shown(check->node));
    }
}

/* A Resize samples unless it only repeats rows and columns. */
static bool samples(const struct assay__check *check)
{
    const struct assay__node *node = check->node;
    if (check->paths[check->at] == ASSAY__ANE_SAMPLER) return true;
    if (strcmp(node->op, "Resize") != 0) return false;
    const struct assay__attr *mode = assay__node_attr(node, "mode");
    const struct assay__shape_entry *in = assay__check_in(check, 0),
                                    *out = assay__check_out(check, 0);
    bool nearest = !mode || !mode->s || strcmp(mode->s, "nearest") == 0;
    if (!nearest && strcmp(mode->s, "linear") != 0) return true; /* cubic */
    if (!in || !out || in->rank != out->rank) return false;
    for (int d = 0; d < in->rank; d++)
        if (in->dims[d] > 0 && out->dims[d] > 0 && out->dims[d] % in->dims[d] != 0) return true;
    return false;
}

void assay__ane_sampler(struct assay__check *check)
{
    const char *chips = samples(check) ? assay__ane_fails(check, ASSAY__ANE_LACKS_SAMPLER, 0)
                                       : NULL;
    if (chips)
        assay__check_add(check, chips, "%s needs the texture unit, introduced with M2",
                         shown(check->node));
}

void assay__ane_dynamic_slice(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    bool slice = assay__text_is_one_of(node->op, "Slice slice_by_index slice_by_size");
    bool moves = false;
    for (size_t i = 1; slice && i < node->input_count && i < 3; i++) {
        const char *bound = node->inputs[i];
        size_t count = 0;
        moves |= *bound && !assay__shapes_values(check->analysis->shapes, bound, &count) &&
                 !assay__check_is_constant(check, bound);
    }
    const char *chips = moves ? assay__ane_fails(check, ASSAY__ANE_LACKS_SAMPLER, 0) : NULL;
    if (chips)
        assay__check_add(check, chips,
                         "its bounds are computed at run time, which is supported from M2 on");
}

/* Layers of old networks that broadcast or accept any number of axes. */
void assay__ane_old_layer(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const char *name = node->source_op ? node->source_op : "";
    size_t length = strlen(name);
    bool network = check->model->format &&
                   strcmp(check->model->format, "Core ML neural network") == 0;
    bool broadcasts = strstr(name, "Broadcastable") != NULL;
    bool any = length > 2 && strcmp(name + length - 2, "ND") == 0;
    if (network && (broadcasts || any))
        assay__check_add(check, "", "the source says that the network layer %s does not run there",
                         name);
}

void assay__ane_unknown_operator(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    if (check->paths[check->at] == ASSAY__ANE_UNKNOWN)
        assay__check_add(
            check, "", "no known source says whether %s%s%s is supported, or what Core ML calls it",
            node->domain, *node->domain ? "." : "", shown(node));
}

void assay__ane_integer_math(struct assay__check *check)
{
    static const char ops[] = "Add Sub Mul Div CumSum Pow Range ReduceSum ReduceMax Max Min Equal "
                              "Less Greater Where Abs Concat Expand";
    const struct assay__shape_entry *in = assay__check_in(check, 0);
    enum assay__dtype t = in ? in->dtype : ASSAY__UNDEFINED;
    if (assay__text_is_one_of(check->node->op, ops) &&
        (t == ASSAY__INT32 || t == ASSAY__INT64 || t == ASSAY__UINT32 || t == ASSAY__UINT64))
        assay__check_add(check, "", "computes in %s", assay__dtype_name(t));
}

void assay__ane_data_type(struct assay__check *check)
{
    for (size_t i = 0; i < check->node->output_count; i++) {
        const struct assay__shape_entry *out = assay__check_out(check, i);
        enum assay__dtype t = out ? out->dtype : ASSAY__UNDEFINED;
        if (t != ASSAY__STRING && t != ASSAY__COMPLEX64 && t != ASSAY__COMPLEX128 &&
            t != ASSAY__FLOAT64 && t != ASSAY__BFLOAT16)
            continue;
        assay__check_add(check, "", "produces %s", assay__dtype_name(t));
        return;
    }
}
