/* check_ane_model.c - rules evaluated once for the model: its size, its inputs, its precision, its
 * compressed weights. No weights are read. Values are checked only in small constants stored in the
 * file (masks, scales). */
#include "check/check.h"

#include "base/text.h"
#include "model/tensor_data.h"

#include <math.h>
#include <string.h>

#define GIB 1073741824.0
#define HALF_MOST 65504.0
#define CONSTANT_MOST 64      /* numbers of a constant that are checked */
#define SURFACE_BYTES 49152.0 /* "about 49 KB" in the source */
#define INT4_BITS 4

void assay__ane_conflict(struct assay__check *check)
{
    for (size_t i = 0; i < check->analysis->conflict_count; i++) {
        const struct assay__shape_conflict *c = &check->analysis->conflicts[i];
        struct assay__check_item *item = assay__check_add(check, "", "%.300s", c->message);
        if (!item) return;
        item->name = c->node;
        item->op = c->op;
    }
}

/* --- size ------------------------------------------------------------------------------------- */

/* The weights in the program: floats as float16, compressed ones as stored. */
void assay__ane_size(struct assay__check *check)
{
    const struct assay__analysis *a = check->analysis;
    double bytes = 0;
    for (size_t i = 0; i < a->parameter_type_count; i++) {
        const struct assay__parameter_total *row = &a->parameters_by_type[i];
        bool wide = row->dtype == ASSAY__FLOAT32 || row->dtype == ASSAY__FLOAT64;
        bool dense = strncmp(row->storage, "dense", 5) == 0;
        bytes += wide && dense ? (double)row->elements * 2 : (double)row->bytes;
    }
    if (bytes <= GIB) return;
    assay__check_add_bytes(
        check, "", bytes,
        "about %s of weights in float16; a compiled model above %s silently runs on the CPU",
        assay__scaled(bytes, "B").text,
        bytes > 2 * GIB ? "2 GiB (macOS 26; 1 GiB on macOS 27)" : "1 GiB (macOS 27, seen on M2)");
}

/* --- inputs ----------------------------------------------------------------------------------- */

/* Whether the dimension was left to a default; the plan then notes it. */
static bool left_open(const struct assay__check *check, const struct assay__value *input, int d)
{
    const struct assay__workload *w = check->workload;
    const char *symbol = input->dims[d].symbol;
    if (!check->planned) return true;
    for (size_t i = 0; i < w->note_count; i++) {
        const struct assay__note_subject *about = &w->note_subjects[i];
        if (*symbol ? strcmp(about->symbol, symbol) == 0
                    : strcmp(about->input, input->name) == 0 && about->axis == d)
            return true;
    }
    return false;
}

static void open_input(struct assay__check *check, const struct assay__value *input)
{
    bool file = !assay__model_is_onnx(check->model);
    const char *key = assay__arena_printf(check->arena, "coreml.input.%s", input->name);
    const char *words = key && file ? assay__model_metadata(check->model, key) : NULL;
    if (words && strncmp(words, "one of ", 7) == 0) return; /* EnumeratedShapes stay eligible */
    struct assay__check_item *item;
    if (input->kind != ASSAY__KIND_TENSOR)
        item = assay__check_add(check, "", "input '%.100s' is not a tensor", input->name);
    else if (words)
        item = assay__check_add(check, "", "input '%.100s' takes a range (%.100s)", input->name,
                                words);
    else
        item = assay__check_add(check, "", "input '%.100s' has no fixed shape", input->name);
    /* an ONNX file is yet to be converted, and the converter fixes the shapes */
    if (item && !file && item->severity == ASSAY__CHECK_ERROR)
        item->severity = ASSAY__CHECK_WARNING;
    if (item) item->name = input->name;
}

void assay__ane_dynamic_inputs(struct assay__check *check)
{
    const struct assay__graph *graph = &check->model->graph;
    bool file = !assay__model_is_onnx(check->model);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct assay__value *input = &graph->inputs[i];
        bool open = false;
        if (assay__check_is_constant(check, input->name)) continue;
        for (int d = 0; d < input->rank && !open; d++)
            open = input->dims[d].value < 0 && (file || left_open(check, input, d));
        if (input->rank < 0 || open) open_input(check, input);
    }
}

/* --- precision -------------------------------------------------------------------------------- */

void assay__ane_half(struct assay__check *check)
{
    const struct assay__analysis *a = check->analysis;
    double bytes = 0;
    int64_t tensors = 0;
    for (size_t i = 0; i < a->parameter_type_count; i++) {
        const struct assay__parameter_total *row = &a->parameters_by_type[i];
        if (row->dtype != ASSAY__FLOAT32 && row->dtype != ASSAY__FLOAT64) continue;
        bytes += (double)row->bytes;
        tensors += row->tensors;
    }
    if (!(bytes > 0)) return;
    assay__check_add(
        check, "",
        "%lld tensor%s of weights (%s) and all activations become float16; whether a value exceeds "
        "its range (65504) was not checked, because weights are not read",
        (long long)tensors, tensors == 1 ? "" : "s", assay__scaled(bytes, "B").text);
}

static const struct assay__node *maker_of(const struct assay__graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].output_count; k++)
            if (strcmp(graph->nodes[i].outputs[k], name) == 0) return &graph->nodes[i];
    return NULL;
}

/* What to do about a constant of that value. A batch normalisation goes into the convolution before
 * it when the model is converted, and its constants with it: NULL, nothing. */
static const char *range_fix(const struct assay__graph *graph, const char *value, double number)
{
    bool normalises = false, other = false, folds = true;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool reads = false;
        for (size_t k = 0; k < node->input_count; k++)
            reads |= strcmp(node->inputs[k], value) == 0;
        if (!reads) continue;
        bool batch = strcmp(node->op, "BatchNormalization") == 0;
        const struct assay__node *before = batch ? maker_of(graph, node->inputs[0]) : NULL;
        normalises |= batch;
        other |= !batch;
        folds &= before && assay__text_is_one_of(before->op, "Conv ConvTranspose");
    }
    if (normalises && !other)
        return folds ? NULL : "Fold the normalisation into the adjacent weights.";
    return number < 0 ? "Use a smaller number: -10000 in a mask does the same as -1e9."
                      : "Use a smaller number, or calculate with it before or after the model.";
}

/* Reports a finite number that float16 does not have; `value`: what the graph calls it. */
static void range_of(struct assay__check *check, const struct assay__tensor *tensor,
                     const char *name, const char *value)
{
    float numbers[CONSTANT_MOST];
    bool floats = tensor->dtype == ASSAY__FLOAT32 || tensor->dtype == ASSAY__FLOAT64 ||
                  tensor->dtype == ASSAY__BFLOAT16;
    bool drawn = tensor->generator && tensor->generator->deviation > 0;
    if (!floats || tensor->elements < 1 || tensor->elements > CONSTANT_MOST || tensor->external ||
        drawn || assay__tensor_floats(check->model, tensor, numbers, NULL))
        return;
    int64_t i = 0;
    while (i < tensor->elements && !(isfinite(numbers[i]) && fabs((double)numbers[i]) > HALF_MOST))
        i++;
    if (i == tensor->elements) return;
    const char *fix = range_fix(&check->model->graph, value, (double)numbers[i]);
    if (!fix) return;
    struct assay__check_item *item = assay__check_add(
        check, "", "the constant '%.100s' holds %g, which float16 turns into %s", name,
        (double)numbers[i], numbers[i] > 0 ? "infinity" : "minus infinity");
    if (item) item->name = name;
    if (item) item->fix = fix;
}

void assay__ane_range(struct assay__check *check)
{
    const struct assay__graph *graph = &check->model->graph;
    for (size_t i = 0; i < graph->initializer_count; i++)
        range_of(check, &graph->initializers[i], graph->initializers[i].name,
                 graph->initializers[i].name);
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *at = &graph->nodes[i];
        const struct assay__attr *value = assay__node_attr(at, "value");
        if (strcmp(at->op, "Constant") == 0 && value && value->t)
            range_of(check, value->t, assay__check_node_name(at), at->outputs[0]);
    }
}

/* Quantised activations: a quantised operator, or QuantizeLinear of something that is not a
 * weight. */
void assay__ane_int8(struct assay__check *check)
{
    static const char ops[] =
        "QuantizeLinear DynamicQuantizeLinear QLinearConv QLinearMatMul MatMulInteger ConvInteger";
    const struct assay__graph *graph = &check->model->graph;
    const char *chips = assay__ane_fails(check, ASSAY__ANE_LACKS_INT8, 0);
    size_t count = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        count += check->places[i] != ASSAY__PLACE_FOLDED &&
                 assay__text_is_one_of(graph->nodes[i].op, ops);
    if (count && chips)
        assay__check_add(check, chips,
                         "%zu operators quantise activations; int8 by int8 is faster only on A17 "
                         "Pro, M4 and later",
                         count);
}

void assay__ane_per_block(struct assay__check *check)
{
    const struct assay__model *model = check->model;
    size_t count = 0;
    for (size_t i = 0; i < model->stored_count; i++)
        count += strstr(model->stored[i].detail, "per block") != NULL;
    for (size_t i = 0; i < model->graph.node_count; i++) {
        const struct assay__node *at = &model->graph.nodes[i];
        count += assay__text_is_one_of(at->op, "DequantizeLinear MatMulNBits") &&
                 assay__node_int(at, "block_size", 0) > 0;
    }
    if (count)
        assay__check_add(check, "", "%zu weights are quantised per block, which suits the GPU",
                         count);
}

void assay__ane_palettise(struct assay__check *check)
{
    const struct assay__model *model = check->model;
    size_t count = 0;
    for (size_t i = 0; i < model->stored_count; i++)
        count += model->stored[i].bits <= INT4_BITS && strstr(model->stored[i].scheme, "quantised");
    for (size_t i = 0; i < model->graph.initializer_count; i++) {
        enum assay__dtype t = model->graph.initializers[i].dtype;
        count += t == ASSAY__INT4 || t == ASSAY__UINT4;
    }
    if (count)
        assay__check_add(check, "", "%zu weights are quantised linearly to 4 bits or less", count);
}

/* --- the rest --------------------------------------------------------------------------------- */

static size_t small_values(const struct assay__check *check, const struct assay__value *values,
                           size_t count, double *added)
{
    size_t small = 0;
    for (size_t i = 0; i < count; i++) {
        double bytes = assay__check_bytes(check, values[i].name, true);
        if (assay__check_is_constant(check, values[i].name) || !(bytes < SURFACE_BYTES)) continue;
        small++;
        *added += SURFACE_BYTES - bytes;
    }
    return small;
}

void assay__ane_surface(struct assay__check *check)
{
    const struct assay__graph *graph = &check->model->graph;
    double added = 0;
    size_t count = small_values(check, graph->inputs, graph->input_count, &added) +
                   small_values(check, graph->outputs, graph->output_count, &added);
    if (!count) return;
    assay__check_add_bytes(check, "", added,
                           "%zu of %zu inputs and outputs are below the minimum surface of about "
                           "49 kB: padding adds %s",
                           count, graph->input_count + graph->output_count,
                           assay__scaled(added, "B").text);
}

void assay__ane_batch(struct assay__check *check)
{
    const struct assay__analysis *a = check->analysis;
    double moved = a->bytes_read + a->bytes_written;
    if (check->workload->batch != 1 || a->unknown_bytes || !(moved > 0)) return;
    if (a->bytes_weights <= moved / 2) return;
    assay__check_add(check, "", "%.0f %% of the bytes moved are weights, and the batch is 1",
                     100 * a->bytes_weights / moved);
}

/* After the places of all nodes are known. */
void assay__ane_ping_pong(struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    if (!check->has_partitions || p->on_segments < 2) return;
    assay__check_add(check, "",
                     "the part on the engine is split into %zu pieces, with %zu tensors crossing; "
                     "Core ML moves from the engine to the GPU once, but back and forth to the CPU",
                     p->on_segments, p->crossings);
}
