/* check_ane_shapes.c - rules about the sizes of operands. Axes are interpreted as by the engine:
 * the last is the width, the one before it the height, then channels (and depth, with five axes),
 * the first the batch; with two axes the last is channels. */
#include "check/check.h"

#include "base/text.h"

#include <inttypes.h>

#define RANK_MOST 5
#define CHANNELS_MOST 65536
#define BATCH_MOST 65536
#define POOL_KERNEL_MOST 13
#define POOL_STRIDE_MOST 2
#define UPSAMPLE_MOST 2
#define ARG_AXIS_MOST 2048
#define KERNEL_MEMORY_BYTES 65536

static bool is(const struct assay__node *node, const char *ops)
{
    return assay__text_is_one_of(node->op, ops);
}

/* The weights if the node is a convolution, else NULL. QLinearConv has x, scale and zero point
 * before them. */
static const struct assay__shape_entry *conv_weight(const struct assay__check *check)
{
    const struct assay__node *node = check->node;
    if (!is(node, "Conv ConvTranspose QLinearConv ConvInteger conv_quantized")) return NULL;
    return assay__check_in(check, is(node, "QLinearConv") ? 3 : 1);
}

/* The inputs of a node, then its outputs. */
static const struct assay__shape_entry *value_of(const struct assay__check *check,
                                                 const struct assay__node *node, size_t index,
                                                 const char **name)
{
    bool input = index < node->input_count;
    *name = input ? node->inputs[index] : node->outputs[index - node->input_count];
    return assay__check_shape(check, *name);
}

void assay__ane_rank(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    for (size_t i = 0; i < node->input_count + node->output_count; i++) {
        const char *name;
        const struct assay__shape_entry *shape = value_of(check, node, i, &name);
        if (!shape || shape->rank <= RANK_MOST) continue;
        assay__check_add(check, "", "'%.100s' has %d axes", name, shape->rank);
        return;
    }
}

/* Reports the first axis that is too long. */
static bool extent_of(struct assay__check *check, const char *name,
                      const struct assay__shape_entry *shape)
{
    static const char *const words[] = {"width", "height"};
    for (int d = 0; d < 2 && shape->rank >= 3; d++) {
        int64_t size = shape->dims[shape->rank - 1 - d];
        const char *chips = assay__ane_fails(check, ASSAY__ANE_EXTENT, (double)size);
        if (!chips) continue;
        assay__check_add(check, chips, "the %s of '%.100s' is %" PRId64 "; the maximum is %d%s",
                         words[d], name, size, 16384,
                         *chips ? ", 65536 from A16 and M4 on" : " (65536 from A16 and M4 on)");
        return true;
    }
    int channel = shape->rank == 2 ? 1 : shape->rank - 3;
    if (shape->rank >= 2 && channel >= 0 && shape->dims[channel] > CHANNELS_MOST) {
        assay__check_add(check, "", "'%.100s' has %" PRId64 " channels; the maximum is %d", name,
                         shape->dims[channel], CHANNELS_MOST);
        return true;
    }
    if (shape->rank >= 2 && shape->dims[0] > BATCH_MOST) {
        assay__check_add(check, "", "the batch of '%.100s' is %" PRId64 "; the maximum is %d", name,
                         shape->dims[0], BATCH_MOST);
        return true;
    }
    return false;
}

/* Only rows of a gather's table are read: its own size is not that of an operand. */
void assay__ane_extent(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    bool gathers = check->paths[check->at] == ASSAY__ANE_GATHER;
    for (size_t i = gathers ? 1 : 0; i < node->input_count + node->output_count; i++) {
        const char *name;
        const struct assay__shape_entry *shape = value_of(check, node, i, &name);
        if (!shape || assay__check_is_constant(check, name)) continue;
        if (extent_of(check, name, shape)) return;
    }
}

/* --- convolutions ----------------------------------------------------------------------------- */

void assay__ane_kernel(struct assay__check *check)
{
    const struct assay__shape_entry *w = conv_weight(check);
    if (!w || w->rank < 3) return;
    int64_t width = w->dims[w->rank - 1], height = w->rank >= 4 ? w->dims[w->rank - 2] : 1;
    const char *wide = assay__ane_fails(check, ASSAY__ANE_KERNEL_WIDTH, (double)width);
    const char *high = assay__ane_fails(check, ASSAY__ANE_KERNEL_HEIGHT, (double)height);
    if (wide)
        assay__check_add(check, wide,
                         "a kernel %" PRId64 " wide; the max in float16 is 13 on M1, 16 later",
                         width);
    else if (high)
        assay__check_add(check, high, "a kernel %" PRId64 " high; the max is 29 on M1, 32 later",
                         height);
}

void assay__ane_kernel_memory(struct assay__check *check)
{
    const struct assay__shape_entry *w = conv_weight(check);
    double bytes = 2;
    if (!w || is(check->node, "ConvTranspose")) return;
    for (int d = 1; d < w->rank; d++)
        bytes *= w->dims[d] > 0 ? (double)w->dims[d] : 0;
    if (bytes <= KERNEL_MEMORY_BYTES) return;
    assay__check_add_bytes(check, "", bytes,
                           "one filter takes %.0f bytes in float16, the kernel memory holds 65536 "
                           "(the source does not say how it is used)",
                           bytes);
}

void assay__ane_groups(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const struct assay__shape_entry *w = conv_weight(check), *x = assay__check_in(check, 0);
    int64_t group = assay__node_int(node, "group", 1);
    if (!w || group <= 1 || w->rank < 3) return;
    int64_t out = is(node, "ConvTranspose") ? w->dims[1] * group : w->dims[0];
    int64_t in = x && x->rank == w->rank ? x->dims[1] : -1;
    if ((out > 0 && out % group) || (in > 0 && in % group))
        assay__check_add(check, "",
                         "%" PRId64 " groups do not divide %" PRId64 " input and %" PRId64
                         " output channels",
                         group, in, out);
}

void assay__ane_dilated(struct assay__check *check)
{
    const struct assay__attr *dilations = assay__node_attr(check->node, "dilations");
    for (size_t i = 0; conv_weight(check) && dilations && dilations->ints && i < dilations->count;
         i++) {
        if (dilations->ints[i] <= 1) continue;
        assay__check_add(
            check, "",
            "a dilation of %" PRId64
            ": an older source says that it does not run there, a newer one that it does",
            dilations->ints[i]);
        return;
    }
}

void assay__ane_conv3d(struct assay__check *check)
{
    const struct assay__shape_entry *w = conv_weight(check);
    if (w && w->rank == 5)
        assay__check_add(check, "", "a convolution over three axes is never lowered to the engine");
}

/* --- windows, axes, slices -------------------------------------------------------------------- */

void assay__ane_pool(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const struct assay__attr *kernel = assay__node_attr(node, "kernel_shape"),
                             *strides = assay__node_attr(node, "strides");
    int64_t widest = 1, stride = 1;
    if (!is(node, "MaxPool AveragePool LpPool")) return;
    for (size_t i = 0; kernel && kernel->ints && i < kernel->count; i++)
        if (kernel->ints[i] > widest) widest = kernel->ints[i];
    for (size_t i = 0; strides && strides->ints && i < strides->count; i++)
        if (strides->ints[i] > stride) stride = strides->ints[i];
    if (widest > POOL_KERNEL_MOST)
        assay__check_add(check, "", "a window of %" PRId64 "; the maximum is %d", widest,
                         POOL_KERNEL_MOST);
    else if (stride > POOL_STRIDE_MOST)
        assay__check_add(check, "", "a stride of %" PRId64 "; the maximum is %d", stride,
                         POOL_STRIDE_MOST);
}

void assay__ane_upsample(struct assay__check *check)
{
    if (!is(check->node, "Resize Upsample")) return;
    const struct assay__shape_entry *in = assay__check_in(check, 0),
                                    *out = assay__check_out(check, 0);
    for (int d = 0; in && out && in->rank == out->rank && d < in->rank; d++) {
        if (in->dims[d] <= 0 || out->dims[d] <= in->dims[d] * UPSAMPLE_MOST) continue;
        assay__check_add(check, "",
                         "axis %d grows from %" PRId64 " to %" PRId64 ", more than %d times", d,
                         in->dims[d], out->dims[d], UPSAMPLE_MOST);
        return;
    }
}

void assay__ane_arg_axis(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const struct assay__shape_entry *in = assay__check_in(check, 0);
    if (!is(node, "ArgMax ArgMin") || !in) return;
    int64_t axis = assay__node_int(node, "axis", 0);
    if (axis < 0) axis += in->rank;
    if (axis < 0 || axis >= in->rank || in->dims[axis] <= ARG_AXIS_MOST) return;
    assay__check_add(check, "", "searches along %" PRId64 " values; the maximum is %d",
                     in->dims[axis], ARG_AXIS_MOST);
}

void assay__ane_matmul_depth(struct assay__check *check)
{
    if (!is(check->node, "MatMul FusedMatMul MatMulInteger")) return;
    for (size_t i = 0; i < 2; i++) {
        const struct assay__shape_entry *in = assay__check_in(check, i);
        if (!in || in->rank != 5 || in->dims[2] <= 1) continue;
        assay__check_add(check, "",
                         "a product over five axes whose depth is %" PRId64 "; only 1 is possible",
                         in->dims[2]);
        return;
    }
}

/* Slice: data, starts, ends, axes, steps (opset 10 on). */
void assay__ane_width_slice(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const struct assay__shape_entry *in = assay__check_in(check, 0);
    size_t count = 0, axis_count = 0;
    if (!is(node, "Slice") || !in || in->rank < 3) return;
    const struct assay__shapes *shapes = check->analysis->shapes;
    const int64_t *starts = assay__shapes_values(shapes, assay__check_input(node, 1), &count);
    const int64_t *axes = assay__shapes_values(shapes, assay__check_input(node, 3), &axis_count);
    int64_t width = in->dims[in->rank - 1];
    for (size_t i = 0; starts && i < count; i++) {
        int64_t axis = axes && i < axis_count ? axes[i] : (int64_t)i, start = starts[i];
        if (axis < 0) axis += in->rank;
        if (axis != in->rank - 1 || width < 0) continue;
        if (start < 0) start += width;
        if (start > width) start = width;
        const char *chips = assay__ane_fails(check, ASSAY__ANE_SLICE_OFFSET, (double)start);
        if (chips)
            assay__check_add(check, chips,
                             "starts at %" PRId64
                             " of the width; beyond 4094 the offset saturates on M1 and M2",
                             start);
    }
}

/* --- shapes that depend on data --------------------------------------------------------------- */

static bool is_open(const struct assay__shape_entry *shape)
{
    for (int d = 0; d < shape->rank; d++)
        if (shape->dims[d] < 0) return true;
    return false;
}

/* Whether all input shapes are fixed but an output shape is not. */
static bool data_decides(const struct assay__check *check)
{
    const struct assay__node *node = check->node;
    bool open = false;
    for (size_t i = 0; i < node->output_count; i++) {
        const struct assay__shape_entry *out = assay__check_out(check, i);
        open |= out && is_open(out);
    }
    for (size_t i = 0; i < node->input_count && open; i++) {
        const struct assay__shape_entry *in = assay__check_in(check, i);
        if (*node->inputs[i] && (!in || is_open(in))) return false;
    }
    return open && check->planned;
}

#define RESHAPES "Reshape reshape reshape_like"

void assay__ane_dynamic_reshape(struct assay__check *check)
{
    if (is(check->node, RESHAPES) && data_decides(check))
        assay__check_add(
            check, "",
            "the new shape is computed at run time, although the input shapes are fixed");
}

void assay__ane_data_shape(struct assay__check *check)
{
    if (!is(check->node, RESHAPES) && data_decides(check))
        assay__check_add(check, "", "the size of its result is not known before it runs");
}
