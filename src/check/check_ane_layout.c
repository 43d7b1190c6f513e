/* check_ane_layout.c - rules about how tensors lie in the engine's memory. Apple: four axes,
 * channels first; the last axis is not packed, each of its rows begins at a multiple of 64 bytes.
 * So a row of one float16 takes 64 bytes instead of 2.
 *
 * What is padded is counted of activations only: how weights are stored is the compiler's matter.
 * Rules apply from three axes on; what is flat has channels as its last axis, and how Core ML lays
 * that out is not told. */
#include "check/check.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROW_BYTES 64
#define LARGE_BYTES (1 << 20) /* half of the smallest on-chip memory that a source gives */
#define ANE_CORES 16
#define MIB 1048576

static const struct assay__node *node_at(const struct assay__check *check, size_t node)
{
    return &check->model->graph.nodes[node];
}

static int element_bytes(enum assay__dtype dtype)
{
    int bits = assay__dtype_bits(dtype);
    return bits == 0 ? 0 : bits <= 8 ? 1 : 2; /* everything else becomes float16 */
}

/* Bytes that rows of 64 add to the first output that has at least three axes; 0 none. */
static double padding(const struct assay__check *check, const struct assay__node *node,
                      int64_t *last, const char **name, int *element)
{
    for (size_t i = 0; i < node->output_count; i++) {
        const struct assay__shape_entry *out = assay__check_shape(check, node->outputs[i]);
        if (!out || out->rank < 3 || out->dims[out->rank - 1] < 1) continue;
        *element = element_bytes(out->dtype);
        if (*element == 0) continue;
        double rows = 1;
        for (int d = 0; d < out->rank - 1; d++)
            rows *= out->dims[d] > 0 ? (double)out->dims[d] : (double)NAN;
        double row = (double)out->dims[out->rank - 1] * *element;
        double waste = rows * (ceil(row / ROW_BYTES) * ROW_BYTES - row);
        *last = out->dims[out->rank - 1];
        *name = node->outputs[i];
        if (waste > 0) return waste;
    }
    return 0;
}

static void add_sized(struct assay__check *check, const struct assay__check_rule *rule, size_t node,
                      double bytes, const char *reason)
{
    struct assay__check_item *item = assay__check_add(check, rule, node, "", "%s", reason);
    if (!item) return;
    item->bytes = bytes;
    if (bytes < LARGE_BYTES) item->severity = ASSAY__CHECK_NOTE;
}

void assay__ane_last_axis_one(struct assay__check *check, const struct assay__check_rule *rule,
                              size_t at)
{
    int64_t last = 0;
    const char *name = "";
    int element = 2;
    char text[300], scaled[64];
    double waste = padding(check, node_at(check, at), &last, &name, &element);
    if (!(waste > 0) || last != 1) return;
    assay__text_scaled(scaled, sizeof scaled, waste, "B");
    snprintf(text, sizeof text, "the last axis of '%.100s' is 1: %d times its memory, %s more",
             name, ROW_BYTES / element, scaled);
    add_sized(check, rule, at, waste, text);
}

void assay__ane_alignment(struct assay__check *check, const struct assay__check_rule *rule,
                          size_t at)
{
    int64_t last = 0;
    const char *name = "";
    int element = 2;
    char text[300], scaled[64];
    double waste = padding(check, node_at(check, at), &last, &name, &element);
    if (!(waste > 0) || last == 1) return;
    assay__text_scaled(scaled, sizeof scaled, waste, "B");
    snprintf(text, sizeof text, "rows of '%.100s' are %lld bytes, no multiple of 64: %s of padding",
             name, (long long)last * element, scaled);
    add_sized(check, rule, at, waste, text);
}

/* nn.Linear on [batch, sequence, channels]: a product with weights. */
void assay__ane_linear(struct assay__check *check, const struct assay__check_rule *rule, size_t at)
{
    const struct assay__node *node = node_at(check, at);
    const char *x = assay__check_input(node, 0), *w = assay__check_input(node, 1);
    bool product = strcmp(node->op, "MatMul") == 0 || strcmp(node->op, "Gemm") == 0 ||
                   strcmp(node->op, "FusedMatMul") == 0 || strcmp(node->op, "linear") == 0;
    const struct assay__shape_entry *in = assay__check_shape(check, x);
    if (!product || !in || in->rank == 4 || assay__check_is_constant(check, x) ||
        !assay__check_is_constant(check, w))
        return;
    assay__check_add(check, rule, at, "", "a product with weights over %d axes", in->rank);
}

void assay__ane_copies(struct assay__check *check, const struct assay__check_rule *rule, size_t at)
{
    static const char *const ops[] = {"Transpose", "Reshape", "DepthToSpace", "SpaceToDepth"};
    const struct assay__node *node = node_at(check, at);
    double bytes = assay__check_bytes(check, assay__check_output(node, 0), true);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (strcmp(node->op, ops[i]) != 0) continue;
        struct assay__check_item *item = assay__check_add(check, rule, at, "",
                                                          "may copy its whole input");
        if (item) item->bytes = bytes;
        return;
    }
}

static bool is_model_input(const struct assay__check *check, const char *value)
{
    for (size_t i = 0; i < check->model->graph.input_count; i++)
        if (strcmp(check->model->graph.inputs[i].name, value) == 0) return true;
    return false;
}

static bool beyond_on_chip(const struct assay__ane_chip *chip, int64_t value)
{
    return (double)value > chip->on_chip_bytes; /* not when it is not told */
}

/* The largest operand of one operator, weights left out (they stream), against the on-chip memory
 * of the chips of which it is told. */
void assay__ane_working_set(struct assay__check *check, const struct assay__check_rule *rule,
                            size_t at)
{
    const struct assay__node *node = node_at(check, at);
    double largest = 0;
    const char *name = "";
    char scaled[64];
    if (check->paths[at] == ASSAY__ANE_GATHER) return; /* a table of which rows are read */
    for (size_t i = 0; i < node->input_count + node->output_count; i++) {
        bool input = i < node->input_count;
        const char *value = input ? node->inputs[i] : node->outputs[i - node->input_count];
        if (input && !is_model_input(check, value)) continue; /* said of the node that makes it */
        double bytes = assay__check_bytes(check, value, true);
        if (!(bytes > largest) || assay__check_is_constant(check, value)) continue;
        largest = bytes;
        name = value;
    }
    const char *chips = largest < 9e18 ? assay__ane_fails(check, beyond_on_chip, (int64_t)largest)
                                       : "";
    if (!chips) return;
    assay__text_scaled(scaled, sizeof scaled, largest, "B");
    struct assay__check_item *item = assay__check_add(
        check, rule, at, chips,
        "'%.100s' is %s in float16; 2 MB stay on the chip of M1, 4.72 MB of M5, of others it is "
        "not "
        "told",
        name, scaled);
    if (item) item->bytes = largest;
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

void assay__ane_live_set(struct assay__check *check, const struct assay__check_rule *rule,
                         size_t node)
{
    const struct assay__liveness *live = &check->analysis->live;
    char scaled[64];
    (void)node;
    if (live->peak_node == SIZE_MAX || !isfinite(live->peak_bytes)) return;
    double peak = live_half(check, live->peak_position);
    const char *chips = peak > 0 && peak < 9e18
                            ? assay__ane_fails(check, beyond_on_chip, (int64_t)peak)
                            : NULL;
    if (!chips) return;
    assay__text_scaled(scaled, sizeof scaled, peak, "B");
    struct assay__check_item *item = assay__check_add(
        check, rule, SIZE_MAX, chips,
        "activations alive together peak at %s in float16, while '%.100s' runs; 2 MB stay on the "
        "chip "
        "of M1, 4.72 MB of M5, of others it is not told",
        scaled, assay__check_node_name(node_at(check, live->peak_node)));
    if (item) item->bytes = peak;
}

void assay__ane_on_chip(struct assay__check *check, const struct assay__check_rule *rule,
                        size_t node)
{
    (void)node;
    for (size_t i = 0; i < check->chip_count; i++)
        if (isfinite(check->chips[i]->on_chip_bytes)) return;
    assay__check_add(check, rule, SIZE_MAX, "",
                     "no source gives that of %s: whether operands fit was not checked",
                     check->chips[0]->name);
}

static bool has_notch(const struct assay__ane_chip *chip, int64_t value)
{
    (void)value;
    return chip->weight_notch;
}

void assay__ane_weight_notch(struct assay__check *check, const struct assay__check_rule *rule,
                             size_t at)
{
    const struct assay__node *node = node_at(check, at);
    const char *chips = assay__ane_fails(check, has_notch, 0);
    if (!chips || check->paths[at] == ASSAY__ANE_GATHER) return;
    for (size_t i = 0; i < node->input_count; i++) {
        if (!assay__check_is_constant(check, node->inputs[i])) continue;
        double bytes = assay__check_bytes(check, node->inputs[i], true);
        if (!(bytes > 0) || fmod(bytes, (double)MIB * ANE_CORES) != 0) continue;
        struct assay__check_item *item = assay__check_add(
            check, rule, at, chips,
            "weights of exactly %.0f MiB for each of %d cores: such transfers drop from about 45 "
            "to "
            "17 GB/s on M3",
            bytes / MIB / ANE_CORES, ANE_CORES);
        if (item) item->bytes = bytes;
        return;
    }
}
