/* check_ane_layout.c - rules about how tensors lie in the engine's memory. Apple: four axes,
 * channels first; the last axis is not packed, each of its rows begins at a multiple of 64 bytes.
 * So a row of one float16 takes 64 bytes instead of 2.
 *
 * Padding is counted for activations only: how weights are stored is up to the compiler. Rules
 * apply from three axes on; a flat tensor has channels as its last axis, and no source says how
 * Core ML lays that out. */
#include "check/check.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define ROW_BYTES 64
#define LARGE_BYTES (1 << 20) /* half of the smallest on-chip memory that a source gives */
#define ANE_CORES 16
#define MIB 1048576
#define ON_CHIP "on-chip memory is 2 MB on M1 and 4.72 MB on M5, unknown on others"

static int element_bytes(enum assay__dtype dtype)
{
    int bits = assay__dtype_bits(dtype);
    return bits == 0 ? 0 : bits <= 8 ? 1 : 2; /* everything else becomes float16 */
}

/* What rows of 64 bytes add to the first output of at least three axes that they add to. */
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
        const struct assay__shape_entry *out = assay__check_shape(check, node->outputs[i]);
        int element = out ? element_bytes(out->dtype) : 0;
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

static void set_padding(struct assay__check_item *item, double bytes)
{
    assay__check_set_bytes(item, bytes);
    if (item && bytes < LARGE_BYTES) item->severity = ASSAY__CHECK_NOTE;
}

void assay__ane_last_axis_one(struct assay__check *check)
{
    struct padding p = padding_of(check);
    if (!(p.bytes > 0) || p.last != 1) return;
    set_padding(assay__check_add(check, "",
                                 "the last axis of '%.100s' is 1: %d times its memory, %s more",
                                 p.name, ROW_BYTES / p.element, assay__scaled(p.bytes, "B").text),
                p.bytes);
}

void assay__ane_alignment(struct assay__check *check)
{
    struct padding p = padding_of(check);
    if (!(p.bytes > 0) || p.last == 1) return;
    set_padding(
        assay__check_add(check, "",
                         "rows of '%.100s' are %lld bytes, not a multiple of 64: %s of padding",
                         p.name, (long long)p.last * p.element, assay__scaled(p.bytes, "B").text),
        p.bytes);
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
    assay__check_set_bytes(assay__check_add(check, "", "may copy its whole input"),
                           assay__check_bytes(check, assay__check_output(node, 0), true));
}

static bool is_model_input(const struct assay__check *check, const char *value)
{
    for (size_t i = 0; i < check->model->graph.input_count; i++)
        if (strcmp(check->model->graph.inputs[i].name, value) == 0) return true;
    return false;
}

static bool beyond_on_chip(const struct assay__ane_chip *chip, int64_t value)
{
    return (double)value > chip->on_chip_bytes; /* false when it is unknown */
}

/* The largest operand of one operator, without weights (they stream), against the on-chip memory
 * of the chips where it is known. */
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
            continue; /* reported at the node that makes it */
        double bytes = assay__check_bytes(check, value, true);
        if (!(bytes > largest) || assay__check_is_constant(check, value)) continue;
        largest = bytes;
        name = value;
    }
    const char *chips = largest < 9e18 ? assay__ane_fails(check, beyond_on_chip, (int64_t)largest)
                                       : "";
    if (!chips) return;
    assay__check_set_bytes(assay__check_add(check, chips, "'%.100s' is %s in float16; " ON_CHIP,
                                            name, assay__scaled(largest, "B").text),
                           largest);
}

/* Activations that are alive together, by liveness, as float16. */
static double live_half(const struct assay__check *check, size_t position)
{
    const struct assay__liveness *live = &check->analysis->live;
    double bytes = 0;
    for (size_t i = 0; i < live->tensor_count; i++) {
        const struct assay__live_tensor *tensor = &live->tensors[i];
        if (tensor->first > position || tensor->last < position) continue;
        bytes += assay__check_bytes(check, tensor->name, true);
    }
    return bytes;
}

void assay__ane_live_set(struct assay__check *check)
{
    const struct assay__liveness *live = &check->analysis->live;
    if (live->peak_node == SIZE_MAX || !isfinite(live->peak_bytes)) return;
    double peak = live_half(check, live->peak_position);
    const char *chips = peak > 0 && peak < 9e18
                            ? assay__ane_fails(check, beyond_on_chip, (int64_t)peak)
                            : NULL;
    if (!chips) return;
    assay__check_set_bytes(
        assay__check_add(check, chips,
                         "live activations peak at %s in float16, while '%.100s' runs; " ON_CHIP,
                         assay__scaled(peak, "B").text,
                         assay__check_node_name(&check->model->graph.nodes[live->peak_node])),
        peak);
}

void assay__ane_on_chip(struct assay__check *check)
{
    for (size_t i = 0; i < check->chip_count; i++)
        if (isfinite(check->chips[i]->on_chip_bytes)) return;
    assay__check_add(check, "",
                     "no source gives the size on %s: whether operands fit was not checked",
                     check->chips[0]->name);
}

static bool has_notch(const struct assay__ane_chip *chip, int64_t value)
{
    (void)value;
    return chip->weight_notch;
}

void assay__ane_weight_notch(struct assay__check *check)
{
    const struct assay__node *node = check->node;
    const char *chips = assay__ane_fails(check, has_notch, 0);
    if (!chips || check->paths[check->at] == ASSAY__ANE_GATHER) return;
    for (size_t i = 0; i < node->input_count; i++) {
        if (!assay__check_is_constant(check, node->inputs[i])) continue;
        double bytes = assay__check_bytes(check, node->inputs[i], true);
        if (!(bytes > 0) || fmod(bytes, (double)MIB * ANE_CORES) != 0) continue;
        assay__check_set_bytes(
            assay__check_add(check, chips,
                             "weights of exactly %.0f MiB for each of %d cores: such transfers "
                             "drop from about 45 to 17 GB/s on M3",
                             bytes / MIB / ANE_CORES, ANE_CORES),
            bytes);
        return;
    }
}
