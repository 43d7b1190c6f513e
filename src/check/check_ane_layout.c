/* check_ane_layout.c - rules about how tensors are laid out in the engine's memory. Apple: four
 * axes, channels first; the last axis is not packed, each of its rows starts at a multiple of 64
 * bytes. So a row of one float16 takes 64 bytes instead of 2.
 *
 * Padding is counted only for activations: how weights are stored is up to the compiler. Rules
 * apply to three or more axes; a flat tensor has channels as its last axis, and no source documents
 * how Core ML lays that out. */
#include "check/check.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define ROW_BYTES 64
#define LARGE_BYTES (1 << 20) /* half of the smallest on-chip memory that a source gives */
#define ANE_CORES 16
#define MIB 1048576
#define ON_CHIP "on-chip memory is 2 MB on M1 and 4.72 MB on M5, unknown on others"

/* What rows of 64 bytes add to the first output with at least three axes that is affected. */
struct padding {
    double bytes; /* 0: none */
    const char *name;
    int64_t last; /* size of the last axis */
    int element;  /* bytes */
};

static struct padding padding_of(const struct assay__check *check)
{
    const struct assay__node *node = check->node;
    for (size_t i = 0; i < node->output_count; i++) {
        const struct assay__shape_entry *out = assay__check_out(check, i);
        int bits = out ? assay__dtype_bits(out->dtype) : 0;
        int element = bits == 0 ? 0 : bits <= 8 ? 1 : 2; /* everything else becomes float16 */
        if (!element || out->rank < 3 || out->dims[out->rank - 1] < 1) continue;
        double rows = 1;
        for (int d = 0; d < out->rank - 1; d++)
            rows *= out->dims[d] > 0 ? (double)out->dims[d] : (double)NAN;
        int64_t last = out->dims[out->rank - 1];
        double row = (double)last * element;
        double waste = rows * (ceil(row / ROW_BYTES) * ROW_BYTES - row);
        if (waste > 0) return (struct padding){waste, node->outputs[i], last, element};
    }
    return (struct padding){0};
}

static void note_if_small(struct assay__check_item *item)
{
    if (item && item->bytes < LARGE_BYTES) item->severity = ASSAY__CHECK_NOTE;
}

void assay__ane_last_axis_one(struct assay__check *check)
{
    struct padding p = padding_of(check);
    if (!(p.bytes > 0) || p.last != 1) return;
    note_if_small(assay__check_add_bytes(
        check, "", p.bytes,
        "the last axis of '%.100s' is 1: padding takes %d times its memory, %s more", p.name,
        ROW_BYTES / p.element, assay__scaled(p.bytes, "B").text));
}

void assay__ane_alignment(struct assay__check *check)
{
    struct padding p = padding_of(check);
    if (!(p.bytes > 0) || p.last == 1) return;
    note_if_small(assay__check_add_bytes(
        check, "", p.bytes, "rows of '%.100s' are %lld bytes, not a multiple of 64: %s of padding",
        p.name, (long long)p.last * p.element, assay__scaled(p.bytes, "B").text));
}

/* nn.Linear on [batch, sequence, channels]: a product with weights. */
void assay__ane_linear(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const char *x = assay__check_input(node, 0), *w = assay__check_input(node, 1);
    bool product = assay__text_is_one_of(node->op, "MatMul Gemm FusedMatMul linear");
    const struct assay__shape_entry *in = assay__check_shape(check, x);
    if (!product || !in || in->rank == 4 || assay__check_is_constant(check, x) ||
        !assay__check_is_constant(check, w))
        return;
    assay__check_add(check, "", "a product with weights over %d axes", in->rank);
}

void assay__ane_copies(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    if (!assay__text_is_one_of(node->op, "Transpose Reshape DepthToSpace SpaceToDepth")) return;
    double bytes = assay__check_bytes(check, assay__check_output(node, 0), true);
    assay__check_add_bytes(check, "", bytes, "may copy its whole input");
}

static bool is_model_input(const struct assay__check *check, const char *value)
{
    for (size_t i = 0; i < check->model->graph.input_count; i++)
        if (strcmp(check->model->graph.inputs[i].name, value) == 0) return true;
    return false;
}

/* Compares the largest operand of one operator, without weights (they stream), with the on-chip
 * memory of the chips where it is known. */
void assay__ane_working_set(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    double largest = 0;
    const char *name = "";
    if (check->paths[check->at] == ASSAY__ANE_GATHER) return; /* a table of which rows are read */
    for (size_t i = 0; i < node->input_count + node->output_count; i++) {
        bool input = i < node->input_count;
        const char *value = input ? node->inputs[i] : node->outputs[i - node->input_count];
        if (input && !is_model_input(check, value))
            continue; /* reported by the item of its producer */
        double bytes = assay__check_bytes(check, value, true);
        if (!(bytes > largest) || assay__check_is_constant(check, value)) continue;
        largest = bytes;
        name = value;
    }
    const char *chips = assay__ane_fails(check, ASSAY__ANE_ON_CHIP, largest);
    if (chips)
        assay__check_add_bytes(check, chips, largest, "'%.100s' is %s in float16; " ON_CHIP, name,
                               assay__scaled(largest, "B").text);
}

/* Activations that are alive together, by liveness, as float16. */
void assay__ane_live_set(struct assay__check *check)
{
    const struct assay__liveness *live = &check->analysis->live;
    if (live->peak_node == SIZE_MAX || !isfinite(live->peak_bytes)) return;
    double peak = 0;
    for (size_t i = 0; i < live->peak_tensor_count; i++) {
        const char *name = live->tensors[live->peak_tensors[i]].name;
        peak += assay__check_bytes(check, name, true);
    }
    const char *chips = assay__ane_fails(check, ASSAY__ANE_ON_CHIP, peak);
    if (!chips) return;
    assay__check_add_bytes(check, chips, peak,
                           "live activations peak at %s in float16, while '%.100s' runs; " ON_CHIP,
                           assay__scaled(peak, "B").text,
                           assay__check_node_name(&check->model->graph.nodes[live->peak_node]));
}

void assay__ane_on_chip(struct assay__check *check)
{
    for (size_t i = 0; i < check->chip_count; i++)
        if (isfinite(check->chips[i]->on_chip_bytes)) return;
    assay__check_add(check, "",
                     "no source gives the size on %s: whether operands fit was not checked",
                     check->chips[0]->name);
}

void assay__ane_weight_notch(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const char *chips = assay__ane_fails(check, ASSAY__ANE_WEIGHT_NOTCH, 0);
    if (!chips || check->paths[check->at] == ASSAY__ANE_GATHER) return;
    for (size_t i = 0; i < node->input_count; i++) {
        if (!assay__check_is_constant(check, node->inputs[i])) continue;
        double bytes = assay__check_bytes(check, node->inputs[i], true);
        if (!(bytes > 0) || fmod(bytes, (double)MIB * ANE_CORES) != 0) continue;
        assay__check_add_bytes(check, chips, bytes,
                               "weights of exactly %.0f MiB for each of %d cores: such transfers "
                               "drop from about 45 to 17 GB/s on M3",
                               bytes / MIB / ANE_CORES, ANE_CORES);
        return;
    }
}
