/* mil_moves.c - operators that move numbers and whose parameters have a different form in ONNX:
 * resizing, slices, padding, splitting, look-ups. What depends on values that are not constant, or
 * has no ONNX form (a slice that drops axes, look-ups with batch axes, an interleaved concat), is
 * kept. */
#include "model/coreml/mil.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* --- images ----------------------------------------------------------------------------------- */

/* Resize(x, roi, scales, sizes): the stated size of the result if all of it is stated, else MIL's
 * factors. */
static int map_resize(struct assay__mil_call *call)
{
    const struct assay__mil_type *x = assay__mil_type_of(call, "x");
    const struct assay__mil_type *result = &call->op->outputs[0].type;
    const char *mode = assay__mil_string(call, "interpolation_mode", ""), *extra[1] = {""};
    bool stated = result->rank > 0;
    for (int i = 0; i < result->rank; i++)
        stated = stated && result->dims[i] >= 0;
    if (call->unknown || !x || x->rank < 2 || x->rank > ASSAY__ONNX_RANK) return ASSAY__MIL_KEEP;
    double height = assay__mil_float(call, "scale_factor_height", 1),
           width = assay__mil_float(call, "scale_factor_width", 1);
    if (!stated && (call->unknown || !assay__mil_has(call, "scale_factor_height")))
        return ASSAY__MIL_KEEP;
    bool linear = strstr(call->op->type, "bilinear") || strcmp(mode, "LINEAR") == 0;
    if (stated) {
        extra[0] = assay__mil_int64s(call, "sizes", result->dims, (size_t)result->rank);
    } else {
        float scales[ASSAY__ONNX_RANK];
        for (int i = 0; i < x->rank; i++)
            scales[i] = i == x->rank - 2 ? (float)height : i == x->rank - 1 ? (float)width : 1;
        extra[0] = assay__mil_floats(call, "scales", scales, (size_t)x->rank);
    }
    /* "none" is never given: a missing input in between */
    struct assay__node *node = assay__mil_emit(
        call, "Resize", stated ? "x none none =sizes" : "x none =scales", extra);
    return assay__node_set_string(call->model, node, "mode", linear ? "linear" : "nearest");
}

static int slice(struct assay__mil_call *call, const int64_t *starts, const int64_t *ends,
                 const int64_t *axes, const int64_t *steps, size_t count)
{
    const char *extra[4] = {assay__mil_int64s(call, "starts", starts, count),
                            assay__mil_int64s(call, "ends", ends, count),
                            assay__mil_int64s(call, "axes", axes, count),
                            assay__mil_int64s(call, "steps", steps, count)};
    assay__mil_emit(call, "Slice", "x =starts =ends =axes =steps", extra);
    return 0;
}

/* crop_height [a, b]: a rows from the top, b from the bottom. */
static int map_crop(struct assay__mil_call *call)
{
    const int64_t axes[2] = {-2, -1}, steps[2] = {1, 1};
    size_t heights, widths;
    const int64_t *height = assay__mil_ints(call, "crop_height", &heights),
                  *width = assay__mil_ints(call, "crop_width", &widths);
    if (heights != 2 || widths != 2 || height[1] < 0 || width[1] < 0) return ASSAY__MIL_KEEP;
    const int64_t starts[2] = {height[0], width[0]};
    const int64_t ends[2] = {height[1] ? -height[1] : INT64_MAX, width[1] ? -width[1] : INT64_MAX};
    return slice(call, starts, ends, axes, steps, 2);
}

static int map_pixel_shuffle(struct assay__mil_call *call)
{
    int64_t factor = assay__mil_int(call, "upscale_factor", 0);
    if (factor < 1) return ASSAY__MIL_KEEP;
    struct assay__node *node = assay__mil_emit(call, "DepthToSpace", "x", NULL);
    assay__node_set_int(call->model, node, "blocksize", factor);
    return assay__node_set_string(call->model, node, "mode", "CRD");
}

/* --- slices ----------------------------------------------------------------------------------- */

static bool flag(const int64_t *flags, size_t count, size_t i)
{
    return i < count && flags[i];
}

static int map_slice_index(struct assay__mil_call *call)
{
    enum { BEGIN, END, STRIDE, BEGIN_MASK, END_MASK, SQUEEZE, PARTS };
    static const char *const names[PARTS] = {"begin",      "end",      "stride",
                                             "begin_mask", "end_mask", "squeeze_mask"};
    int64_t *part[PARTS], starts[ASSAY__ONNX_RANK], ends[ASSAY__ONNX_RANK], axes[ASSAY__ONNX_RANK],
        steps[ASSAY__ONNX_RANK];
    size_t count[PARTS];
    for (size_t i = 0; i < PARTS; i++)
        part[i] = assay__mil_ints(call, names[i], &count[i]);
    size_t rank = count[BEGIN];
    if (call->unknown || !rank || rank > ASSAY__ONNX_RANK || count[END] != rank)
        return ASSAY__MIL_KEEP;
    for (size_t i = 0; i < rank; i++) {
        steps[i] = i < count[STRIDE] ? part[STRIDE][i] : 1;
        if (flag(part[SQUEEZE], count[SQUEEZE], i) || !steps[i]) return ASSAY__MIL_KEEP;
        bool back = steps[i] < 0;
        axes[i] = (int64_t)i;
        starts[i] = !flag(part[BEGIN_MASK], count[BEGIN_MASK], i) ? part[BEGIN][i]
                    : back                                        ? INT64_MAX
                                                                  : 0;
        ends[i] = !flag(part[END_MASK], count[END_MASK], i) ? part[END][i]
                  : back                                    ? INT64_MIN + 1
                                                            : INT64_MAX;
    }
    return slice(call, starts, ends, axes, steps, rank);
}

static int map_slice_size(struct assay__mil_call *call)
{
    int64_t ends[ASSAY__ONNX_RANK], axes[ASSAY__ONNX_RANK], steps[ASSAY__ONNX_RANK];
    size_t begins, sizes;
    const int64_t *begin = assay__mil_ints(call, "begin", &begins),
                  *size = assay__mil_ints(call, "size", &sizes);
    if (!begins || begins != sizes || begins > ASSAY__ONNX_RANK) return ASSAY__MIL_KEEP;
    for (size_t i = 0; i < begins; i++) {
        axes[i] = (int64_t)i;
        steps[i] = 1;
        ends[i] = INT64_MAX; /* size -1: to the end */
        if (begin[i] < 0 || size[i] < -1) return ASSAY__MIL_KEEP;
        if (size[i] >= 0 && assay__add_i64_overflows(begin[i], size[i], &ends[i]))
            return ASSAY__MIL_KEEP;
    }
    return slice(call, begin, ends, axes, steps, begins);
}

/* MIL: begin and end of each of the last axes; ONNX: the begins of all axes, then the ends. */
static int map_pad(struct assay__mil_call *call)
{
    const struct assay__mil_type *x = assay__mil_type_of(call, "x");
    int64_t pads[2 * ASSAY__ONNX_RANK] = {0};
    size_t count;
    const int64_t *pad = assay__mil_ints(call, "pad", &count);
    const char *mode = assay__mil_string(call, "mode", "constant"), *extra[1];
    if (call->unknown || !x || x->rank < 0 || count % 2 || count / 2 > (size_t)x->rank)
        return ASSAY__MIL_KEEP;
    size_t rank = (size_t)x->rank, first = rank - count / 2;
    for (size_t i = 0; i < count / 2; i++) {
        pads[first + i] = pad[2 * i];
        pads[rank + first + i] = pad[2 * i + 1];
    }
    extra[0] = assay__mil_int64s(call, "pads", pads, 2 * rank);
    bool edge = strcmp(mode, "replicate") == 0 || strcmp(mode, "replication") == 0;
    bool reflect = strcmp(mode, "reflect") == 0;
    return assay__node_set_string(call->model, assay__mil_emit(call, "Pad", "x =pads", extra),
                                  "mode",
                                  edge      ? "edge"
                                  : reflect ? "reflect"
                                            : "constant");
}

/* --- splitting and joining -------------------------------------------------------------------- */

static int map_split(struct assay__mil_call *call)
{
    int64_t axis = assay__mil_int(call, "axis", 0);
    assay__mil_int(call, "num_splits", 0); /* the outputs determine it; it must be constant */
    if (call->unknown) return ASSAY__MIL_KEEP;
    bool sizes = assay__mil_has(call, "split_sizes");
    struct assay__node *node = assay__mil_emit(call, "Split", sizes ? "x split_sizes#" : "x", NULL);
    assay__node_set_int(call->model, node, "axis", axis);
    return sizes ? 0
                 : assay__node_set_int(call->model, node, "num_outputs",
                                       (int64_t)call->op->output_count);
}

static int map_concat(struct assay__mil_call *call)
{
    int64_t axis = assay__mil_int(call, "axis", 0);
    if (assay__mil_int(call, "interleave", 0) || call->unknown) return ASSAY__MIL_KEEP;
    return assay__node_set_int(call->model, assay__mil_emit(call, "Concat", "values*", NULL),
                               "axis", axis);
}

/* --- look-ups --------------------------------------------------------------------------------- */

static int map_gather(struct assay__mil_call *call)
{
    int64_t axis = assay__mil_int(call, "axis", 0);
    if (assay__mil_int(call, "batch_dims", 0) || call->unknown) return ASSAY__MIL_KEEP;
    const struct assay__mil_type *indices = assay__mil_type_of(call, "indices");
    bool list = indices && indices->rank == 1; /* ONNX requires int64, and it is not a weight */
    struct assay__node *node = assay__mil_emit(call, "Gather", list ? "x indices#" : "x indices",
                                               NULL);
    return assay__node_set_int(call->model, node, "axis", axis);
}

static int map_scatter(struct assay__mil_call *call)
{
    const char *mode = assay__mil_string(call, "mode", "add"), *reduction = NULL;
    int64_t axis = assay__mil_int(call, "axis", 0);
    if (strcmp(mode, "update") == 0) reduction = "none";
    if (*mode && assay__has_word("add mul max min", mode)) reduction = mode;
    if (call->unknown || !reduction) return ASSAY__MIL_KEEP; /* sub, div */
    struct assay__node *node = assay__mil_emit(call, call->onnx, "data indices updates", NULL);
    assay__node_set_string(call->model, node, "reduction", reduction);
    if (strcmp(call->onnx, "ScatterElements") != 0) return 0;
    return assay__node_set_int(call->model, node, "axis", axis);
}

static int map_topk(struct assay__mil_call *call)
{
    int64_t axis = assay__mil_int(call, "axis", -1), sort = assay__mil_int(call, "sort", 1),
            ascending = assay__mil_int(call, "ascending", 0);
    const char *extra[1];
    if (call->unknown) return ASSAY__MIL_KEEP;
    int64_t k = assay__mil_int(call, "k", 1);
    bool constant = !call->unknown;
    if (constant) extra[0] = assay__mil_int64s(call, "k", &k, 1);
    struct assay__node *node = assay__mil_emit(call, "TopK", constant ? "x =k" : "x k", extra);
    assay__node_set_int(call->model, node, "axis", axis);
    assay__node_set_int(call->model, node, "largest", !ascending);
    return assay__node_set_int(call->model, node, "sorted", sort != 0);
}

/* Keeps `lower` sub-diagonals and `upper` super-diagonals, -1: all; a triangle if one of them is
 * all. */
static int map_band_part(struct assay__mil_call *call)
{
    int64_t lower = assay__mil_int(call, "lower", -1), upper = assay__mil_int(call, "upper", -1);
    if (call->unknown || (lower >= 0) == (upper >= 0)) return ASSAY__MIL_KEEP;
    bool keeps_upper = upper < 0;
    int64_t k = keeps_upper ? -lower : upper;
    const char *extra[1] = {assay__mil_int64s(call, "k", &k, 1)};
    return assay__node_set_int(call->model, assay__mil_emit(call, "Trilu", "x =k", extra), "upper",
                               keeps_upper);
}

static int map_fill(struct assay__mil_call *call)
{
    const struct assay__mil_value *value = assay__mil_constant(call, "value");
    struct assay__graph holder = {.name = ""};
    int64_t one = 1;
    if (!value || value->elements != 1 || !value->data || value->type.dtype == ASSAY__UNDEFINED)
        return ASSAY__MIL_KEEP;
    struct assay__tensor *tensor = assay__graph_add_initializer(
        call->model, &holder, "value", value->type.dtype, 1, &one, value->data, value->size);
    struct assay__node *node = assay__mil_emit(call, "ConstantOfShape", "shape#", NULL);
    return assay__node_set_tensor(call->model, node, "value", tensor);
}

/* OneHot(indices, depth, [off, on]). */
static int map_one_hot(struct assay__mil_call *call)
{
    int64_t axis = assay__mil_int(call, "axis", -1),
            depth = assay__mil_int(call, "one_hot_vector_size", 0);
    double on = assay__mil_float(call, "on_value", 1), off = assay__mil_float(call, "off_value", 0);
    if (call->unknown || !(fabs(off) < 9e15) || !(fabs(on) < 9e15)) return ASSAY__MIL_KEEP;
    const int64_t values[2] = {(int64_t)off, (int64_t)on};
    if ((double)values[0] != off || (double)values[1] != on) return ASSAY__MIL_KEEP;
    const char *extra[2] = {assay__mil_int64s(call, "depth", &depth, 1),
                            assay__mil_int64s(call, "values", values, 2)};
    struct assay__node *node = assay__mil_emit(call, "OneHot", "indices =depth =values", extra);
    return assay__node_set_int(call->model, node, "axis", axis);
}

const struct assay__mil_row assay__mil_rows_moves[] = {
    {"crop>Slice", "x", "crop_height crop_width", map_crop},
    {"resize>Resize", "x", "interpolation_mode sampling_mode", map_resize},
    {"resize_bilinear>Resize", "x", "sampling_mode", map_resize},
    {"resize_nearest_neighbor>Resize upsample_nearest_neighbor>Resize", "x", "", map_resize},
    {"upsample_bilinear>Resize", "x", "align_corners", map_resize},
    {"gather>Gather", "x indices", "axis batch_dims", map_gather},
    {"scatter_along_axis>ScatterElements", "data indices updates", "axis mode", map_scatter},
    {"scatter_nd>ScatterND", "data indices updates", "mode", map_scatter},
    {"band_part>Trilu", "x", "lower upper", map_band_part},
    {"concat>Concat", "values*", "axis interleave", map_concat},
    {"fill>ConstantOfShape", "shape#", "value", map_fill},
    {"one_hot>OneHot", "indices one_hot_vector_size#", "axis on_value off_value", map_one_hot},
    {"pad>Pad", "x pad# constant_val", "mode", map_pad},
    {"split>Split", "x split_sizes#", "axis num_splits", map_split},
    {"topk>TopK", "x k#", "axis ascending sort", map_topk},
    {"pixel_shuffle>DepthToSpace", "x", "upscale_factor", map_pixel_shuffle},
    {"slice_by_index>Slice", "x begin# end#", "stride begin_mask end_mask squeeze_mask",
     map_slice_index},
    {"slice_by_size>Slice", "x begin# size#", "", map_slice_size},
    {0},
};
