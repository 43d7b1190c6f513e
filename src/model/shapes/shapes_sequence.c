/* shapes_sequence.c - shape rows of sequences and optionals: what is known about a sequence is what
 * all its elements have in common. */
#include "model/shapes/shape_call.h"

static bool is_sequence(const struct assay__shape_call *call, size_t i)
{
    return i < call->in_count && call->in[i]->sequence;
}

/* The element of output 0, a sequence. */
static void set_element(struct assay__shape_call *call, const struct assay__fact *from)
{
    assay__shape_set(call, 0, from->entry.dtype, from->entry.rank, from->dims);
    call->out[0]->sequence = true;
}

static void infer_construct(struct assay__shape_call *call)
{
    if (call->in_count && call->out_count) set_element(call, call->in[0]);
    for (size_t i = 1; i < call->in_count && call->out_count; i++)
        assay__fact_join(call, call->out[0], call->in[i]);
}

static void infer_empty(struct assay__shape_call *call)
{
    if (!call->out_count) return;
    call->out[0]->sequence = true;
    assay__shape_set_dtype(call, 0, assay__shape_dtype_attr(call, "dtype", ASSAY__FLOAT32));
}

/* sequence, tensor, position */
static void infer_insert(struct assay__shape_call *call)
{
    if (call->in_count < 2 || !call->out_count) return;
    call->out[0]->sequence = true;
    assay__shape_set_dtype(call, 0, call->in[1]->entry.dtype);
    if (!is_sequence(call, 0) || call->in[0]->entry.rank < 0) return;
    set_element(call, call->in[0]);
    assay__fact_join(call, call->out[0], call->in[1]);
}

static void infer_same_sequence(struct assay__shape_call *call)
{
    if (is_sequence(call, 0) && call->out_count) set_element(call, call->in[0]);
}

static void infer_at(struct assay__shape_call *call)
{
    if (is_sequence(call, 0))
        assay__shape_set(call, 0, call->in[0]->entry.dtype, call->in[0]->entry.rank,
                         call->in[0]->dims);
}

/* Along the axis the sizes of all elements add up to an unknown size; new_axis counts them. */
static void infer_concat_from(struct assay__shape_call *call)
{
    bool fresh = assay__node_int(call->node, "new_axis", 0) != 0;
    int64_t dims[ASSAY__SHAPE_RANK];
    if (!is_sequence(call, 0)) return;
    const struct assay__fact *from = call->in[0];
    int rank = from->entry.rank, total = rank + (fresh ? 1 : 0), axis = 0;
    assay__shape_set_dtype(call, 0, from->entry.dtype);
    if (rank < 0 || total > ASSAY__SHAPE_RANK ||
        !assay__shape_axis(assay__node_int(call->node, "axis", 0), total, &axis))
        return;
    for (int i = 0, k = 0; i < total; i++) {
        dims[i] = i == axis ? ASSAY__NUM_ANY : from->dims[k];
        if (i != axis || !fresh) k++;
    }
    assay__shape_set(call, 0, from->entry.dtype, total, dims);
}

/* input, split: parts along the axis; without a split, single ones, squeezed unless keepdims */
static void infer_split_to(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), axis = 0, kept = 0;
    bool keep = assay__node_int(call->node, "keepdims", 1) != 0 || assay__shape_has(call, 1);
    int64_t dims[ASSAY__SHAPE_RANK];
    if (!call->out_count) return;
    call->out[0]->sequence = true;
    assay__shape_same_type(call);
    if (!assay__shape_axis_attr(call, "axis", 0, rank, &axis)) return;
    for (int i = 0; i < rank; i++) {
        if (i != axis)
            dims[kept++] = assay__shape_dims(call, 0)[i];
        else if (keep)
            dims[kept++] = assay__shape_has(call, 1) ? ASSAY__NUM_ANY : 1;
    }
    assay__shape_set_same(call, kept, dims);
}

static void infer_optional(struct assay__shape_call *call)
{
    if (!call->in_count || !call->out_count) return;
    assay__shape_pass(call, 0, call->in[0]);
    call->out[0]->optional = assay__shape_op_is(call, "Optional");
}

/* SequenceLength and OptionalHasElement */
static void infer_question(struct assay__shape_call *call)
{
    bool length = assay__shape_op_is(call, "SequenceLength");
    assay__shape_set(call, 0, length ? ASSAY__INT64 : ASSAY__BOOL, 0, NULL);
}

const struct assay__shape_row assay__shape_rows_sequence[] = {
    {"ConcatFromSequence", "", infer_concat_from},
    {"Optional OptionalGetElement", "", infer_optional},
    {"OptionalHasElement SequenceLength", "", infer_question},
    {"SequenceAt", "", infer_at},
    {"SequenceConstruct", "", infer_construct},
    {"SequenceEmpty", "", infer_empty},
    {"SequenceErase", "", infer_same_sequence},
    {"SequenceInsert", "", infer_insert},
    {"SequenceMap", "", assay__shape_row_sequence}, /* its body is a function of elements */
    {"SplitToSequence", "", infer_split_to},
    {NULL, NULL, NULL},
};
