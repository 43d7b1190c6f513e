/* mil_weights.c - compressed weights: the constexpr_ operators of iOS 16 and iOS 18.
 *
 * The operator stays a node of the domain "coreml" whose inputs are the stored tensors, and an
 * entry of the model's list of stored weights describes the dense tensor and its stored size.
 * Forms:
 *   palettised  indices of n bits into tables of 2^n entries (one table, or one per group)
 *   quantised   integers with a scale (and offset) per tensor, per channel or per block
 *   sparse      the non-zero numbers, and a bit per element
 *   cast        numbers stored in a narrower type
 * Two forms in sequence (a table of quantised numbers, palettised non-zeros) are one weight: the
 * later operator takes over the entry of the earlier one. */
#include "model/coreml/mil.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *op, *scheme, *data; /* data: the input with the numbers */
} forms[] = {
    {"constexpr_affine_dequantize", "quantised", "quantized_data"},
    {"constexpr_blockwise_shift_scale", "quantised", "data"},
    {"constexpr_cast", "cast", "source_val"},
    {"constexpr_lut_to_dense", "palettised", "indices"},
    {"constexpr_lut_to_sparse", "palettised", "indices_nonzero_data"},
    {"constexpr_sparse_blockwise_shift_scale", "quantised", "nonzero_data"},
    {"constexpr_sparse_to_dense", "sparse", "nonzero_data"},
};

/* The granularity of the scales. */
static void say_granularity(const struct assay__mil_call *call, const char *data, char *out,
                            size_t out_size)
{
    const struct assay__mil_type *numbers = assay__mil_type_of(call, data);
    const struct assay__mil_type *scale = assay__mil_type_of(call, "scale");
    int spread = 0, blocks = 0;
    int64_t block = 0;
    if (!numbers || !scale) return;
    if (assay__mil_elements(scale) == 1) {
        snprintf(out, out_size, "per tensor");
        return;
    }
    for (int i = 0; i < scale->rank && scale->rank == numbers->rank; i++) {
        spread += scale->dims[i] > 1;
        if (scale->dims[i] > 1 && scale->dims[i] < numbers->dims[i]) {
            blocks++;
            block = numbers->dims[i] / scale->dims[i];
        }
    }
    if (blocks == 1)
        snprintf(out, out_size, "per block of %lld", (long long)block);
    else if (scale->rank == 1 || (spread == 1 && !blocks))
        snprintf(out, out_size, "per channel");
    else if (spread > 1)
        snprintf(out, out_size, "per block");
}

/* Tables: [groups …, entries, vector] in iOS 18, [entries] in iOS 16. */
static void say_tables(const struct assay__mil_call *call, char *out, size_t out_size, double *bits)
{
    const struct assay__mil_type *lut = assay__mil_type_of(call, "lut");
    const struct assay__mil_value *shape = assay__mil_constant(call, "shape");
    int64_t total = lut ? assay__mil_elements(lut) : -1, tables = 1, entries = total;
    if (total < 1) return;
    if (lut->rank >= 2 && !shape) {
        entries = lut->dims[lut->rank - 2];
        tables = 1;
        for (int i = 0; i < lut->rank - 2; i++)
            tables *= lut->dims[i]; /* part of `total`: no overflow */
    }
    /* iOS 16 packs indices into bytes: the table determines the number of bits */
    if (shape || lut->rank == 1) {
        *bits = 0;
        while (*bits < 8 && ((int64_t)1 << (int)*bits) < entries)
            *bits += 1;
    }
    snprintf(out, out_size, "%lld entries, %lld table%s", (long long)entries, (long long)tables,
             tables == 1 ? "" : "s");
}

/* The size of the inputs: stored tensors directly, and what an earlier form stored. */
static void add_stored(const struct assay__mil_call *call, struct assay__stored_weight *weight,
                       const char **earlier, size_t *taken)
{
    *earlier = NULL;
    *taken = 0;
    for (size_t i = 0; i < call->op->arg_count; i++) {
        const struct assay__mil_arg *arg = &call->op->args[i];
        const struct assay__mil_def *def = arg->count ? arg->defs[0] : NULL;
        if (!def || strcmp(arg->name, "shape") == 0 || strcmp(arg->name, "axis") == 0 ||
            strcmp(arg->name, "vector_axis") == 0)
            continue;
        if (def->value && def->value->data) {
            weight->stored_bytes += (int64_t)def->value->size;
            if (def->value->elements > 1)
                weight->stored_elements += def->value->type.dtype == ASSAY__UNDEFINED
                                               ? (int64_t)def->value->size
                                               : def->value->elements;
        } else if (def->stored && *taken != def->stored) {
            const struct assay__stored_weight *from = &call->model->stored[def->stored - 1];
            weight->stored_bytes += from->stored_bytes;
            weight->stored_elements += from->stored_elements;
            *earlier = from->scheme;
            if (strcmp(arg->name, "lut") != 0) weight->bits = from->bits;
            *taken = def->stored;
        }
    }
}

static int map_compressed(struct assay__mil_call *call)
{
    const struct assay__mil_op *op = call->op;
    const struct assay__mil_output *result = &op->outputs[0];
    const char *earlier = NULL;
    char detail[96] = "";
    size_t form = 0, taken = 0;
    while (strcmp(forms[form].op, op->type) != 0)
        if (++form == sizeof forms / sizeof forms[0]) return ASSAY__MIL_KEEP;
    const char *scheme = forms[form].scheme;
    const struct assay__mil_type *data = assay__mil_type_of(call, forms[form].data);
    struct assay__stored_weight weight = {
        .name = result->name,
        .dtype = op->outputs[op->output_count - 1].type.dtype, /* a sparse pair: mask, numbers */
        .bits = data ? data->bits : 0,
        .logical_elements = assay__mil_elements(&result->type)};
    add_stored(call, &weight, &earlier, &taken);
    if (strcmp(scheme, "quantised") == 0)
        say_granularity(call, forms[form].data, detail, sizeof detail);
    else if (strcmp(scheme, "palettised") == 0)
        say_tables(call, detail, sizeof detail, &weight.bits);
    else if (strcmp(scheme, "sparse") == 0 && data && assay__mil_elements(data) >= 0)
        snprintf(detail, sizeof detail, "%lld non-zeros", (long long)assay__mil_elements(data));
    struct assay__reader *reader = &call->coreml->reader;
    weight.scheme = earlier ? assay__reader_printf(reader, "%s + %s", scheme, earlier) : scheme;
    weight.detail = assay__reader_printf(reader, "%s", detail);
    struct assay__node *node = assay__mil_emit(call, op->type, call->row->inputs, NULL);
    if (!node) return 0;
    node->domain = ASSAY__COREML_DOMAIN;
    if (taken)
        call->model->stored[taken - 1] = weight;
    else
        taken = assay__coreml_add_stored(call->coreml, &weight) + 1;
    for (size_t i = 0; i < op->output_count; i++)
        assay__mil_find(call->scope, op->outputs[i].name)->stored = taken;
    return 0;
}

/* The forms of iOS 16 and of iOS 18. */
const struct assay__mil_row assay__mil_rows_weights[] = {
    {"constexpr_affine_dequantize", "quantized_data scale zero_point", "axis", map_compressed},
    {"constexpr_blockwise_shift_scale", "data scale offset", "", map_compressed},
    {"constexpr_cast", "source_val", "output_dtype", map_compressed},
    {"constexpr_lut_to_dense", "indices lut", "vector_axis", map_compressed},
    {"constexpr_lut_to_sparse", "indices_mask indices_nonzero_data lut", "vector_axis",
     map_compressed},
    {"constexpr_sparse_blockwise_shift_scale", "data_mask nonzero_data scale offset", "",
     map_compressed},
    {"constexpr_sparse_to_dense", "nonzero_data mask", "", map_compressed},
    {0},
};
