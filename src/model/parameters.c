/* parameters.c - how many parameters a model has, and what its weights take. graph.h says what counts:
 * how each name is used decides it, so the uses of all graphs are gathered first. */
#include "base/checked.h"
#include "model/graph.h"
#include "model/onnx.h"

#include <string.h>

/* How a name is used, as bits. */
enum {
    USED_OTHERWISE = 1,
    USED_AS_STATISTIC = 2, /* a running mean or variance, a scale, a zero point: not trained */
    USED_PACKED_4 = 4,     /* two numbers to each element */
    USED_PACKED_2 = 8,     /* four */
    IS_SCALE = 16,         /* made by DynamicQuantizeLinear */
};

/* Inputs of operators that no gradient trains, one bit each. */
static const struct {
    const char *op;
    uint32_t inputs;
} untrained[] = {
    {"BatchNormalization", 1u << 3 | 1u << 4}, /* running mean, running variance */
    {"Resize", 1u << 2 | 1u << 3},             /* scales, sizes */
    {"QuantizeLinear", 1u << 1 | 1u << 2},     /* from here on: scales and zero points */
    {"DequantizeLinear", 1u << 1 | 1u << 2},
    {"MatMulInteger", 1u << 2 | 1u << 3},
    {"ConvInteger", 1u << 2 | 1u << 3},
    {"QLinearConv", 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7},
    {"QLinearMatMul", 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7},
    {"QLinearAdd", 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7},
    {"QLinearMul", 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7},
    {"QGemm", 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 1u << 7 | 1u << 8},
    {"QLinearSigmoid", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
    {"QLinearLeakyRelu", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
    {"QLinearSoftmax", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
    {"QLinearAveragePool", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
    {"QLinearGlobalAveragePool", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
    {"QLinearReduceMean", 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4},
    {"DynamicQuantizeMatMul", 1u << 2 | 1u << 3},
    {"MatMulIntegerToFloat", 1u << 2 | 1u << 3 | 1u << 4 | 1u << 5},
    {"DynamicQuantizeLSTM", 1u << 8 | 1u << 9 | 1u << 10 | 1u << 11},
    {"QAttention", 1u << 3 | 1u << 4 | 1u << 6 | 1u << 7},
    {"MatMulNBits", 1u << 2 | 1u << 3},
    {"GatherBlockQuantized", 1u << 2 | 1u << 3},
};
enum { UNTRAINED = sizeof untrained / sizeof untrained[0] };

static int index_untrained(struct assay__map *rows)
{
    int code = 0;
    for (size_t i = 0; i < UNTRAINED && !code; i++)
        code = assay__map_set(rows, untrained[i].op, i);
    return code;
}

/* row: of `untrained`, or beyond its end. */
static size_t use_of(const struct assay__node *node, size_t row, size_t input)
{
    if (row >= UNTRAINED || input >= 32) {
        /* Its first two inputs are the output's; then come triples of value, scale, zero point. */
        if (*node->op != 'Q' || strcmp(node->op, "QLinearConcat") != 0) return USED_OTHERWISE;
        return input < 2 || (input - 2) % 3 ? USED_AS_STATISTIC : USED_OTHERWISE;
    }
    if (input == 1 && strcmp(node->op, "MatMulNBits") == 0) {
        int64_t bits = assay__node_int(node, "bits", 4);
        return USED_OTHERWISE | (bits == 4 ? USED_PACKED_4 : bits == 2 ? USED_PACKED_2 : 0);
    }
    return untrained[row].inputs >> input & 1 ? USED_AS_STATISTIC : USED_OTHERWISE;
}

/* Dynamic quantisation multiplies the scale of the activations with that of the weights, which is then
 * no parameter either. */
static bool scales_a_scale(const struct assay__node *node, size_t input,
                           const struct assay__map *uses)
{
    if (node->input_count != 2 || strcmp(node->op, "Mul") != 0) return false;
    size_t other = assay__map_get(uses, node->inputs[1 - input]);
    return other != ASSAY__MAP_NONE && (other & IS_SCALE);
}

static int mark_uses(const struct assay__graph *graph, const struct assay__map *rows,
                     struct assay__map *uses, int depth)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        size_t row = assay__map_get(rows, node->op);
        for (size_t k = 0; k < node->input_count; k++) {
            size_t before = assay__map_get(uses, node->inputs[k]);
            size_t now = scales_a_scale(node, k, uses) ? USED_AS_STATISTIC : use_of(node, row, k);
            if (before != ASSAY__MAP_NONE) now |= before;
            if (assay__map_set(uses, node->inputs[k], now)) return ASSAY_ENOMEM;
        }
        if (strcmp(node->op, "DynamicQuantizeLinear") == 0 && node->output_count > 1 &&
            assay__map_set(uses, node->outputs[1], IS_SCALE))
            return ASSAY_ENOMEM;
        for (size_t k = 0; k < node->attr_count && depth < ASSAY__ONNX_DEPTH; k++)
            if (node->attrs[k].g && mark_uses(node->attrs[k].g, rows, uses, depth + 1))
                return ASSAY_ENOMEM;
    }
    return 0;
}

struct tally {
    const struct assay__map *uses;
    int64_t elements, bytes;
};

/* Numbers that count as parameters in one element of a tensor of that name: 0, 1, 2 or 4. */
static int64_t counts_for(const struct assay__tensor *tensor, const char *name,
                          const struct assay__map *uses)
{
    if (tensor->rank == 0 || tensor->dtype == ASSAY__INT64 || tensor->dtype == ASSAY__BOOL ||
        tensor->dtype == ASSAY__STRING)
        return 0;
    size_t use = assay__map_get(uses, name);
    if (use == ASSAY__MAP_NONE) return 1;
    if (use == USED_AS_STATISTIC) return 0;
    if (tensor->dtype != ASSAY__UINT8) return 1;
    return use & USED_PACKED_4 ? 2 : use & USED_PACKED_2 ? 4 : 1;
}

static bool count_tensor(const struct assay__tensor *tensor, int64_t each, struct tally *tally)
{
    size_t size = tensor->nonzeros >= 0 ? (size_t)tensor->sparse_bytes
                                        : assay__dtype_bytes(tensor->dtype, tensor->elements);
    int64_t elements = 0;
    if (size > INT64_MAX || assay__add_i64_overflows(tally->bytes, (int64_t)size, &tally->bytes))
        return false;
    return !assay__mul_i64_overflows(tensor->elements, each, &elements) &&
           !assay__add_i64_overflows(tally->elements, elements, &tally->elements);
}

/* Some exporters keep weights in Constant nodes. A single number there is a part of a formula, not a
 * weight. */
static bool count_constant(const struct assay__node *node, struct tally *tally)
{
    if (strcmp(node->op, "Constant") != 0 || node->domain[0]) return true;
    const struct assay__attr *value = assay__node_attr(node, "value");
    if (!value) value = assay__node_attr(node, "sparse_value");
    if (!value || !value->t) return true;
    const char *name = node->output_count ? node->outputs[0] : "";
    int64_t each = value->t->elements > 1 ? counts_for(value->t, name, tally->uses) : 0;
    return count_tensor(value->t, each, tally);
}

static bool count_tensors(const struct assay__tensor *tensors, size_t count, struct tally *tally)
{
    for (size_t i = 0; i < count; i++)
        if (!count_tensor(&tensors[i], counts_for(&tensors[i], tensors[i].name, tally->uses),
                          tally))
            return false;
    return true;
}

static bool count_graph(const struct assay__graph *graph, struct tally *tally, int depth)
{
    if (!count_tensors(graph->initializers, graph->initializer_count, tally) ||
        !count_tensors(graph->sparse_tensors, graph->sparse_count, tally))
        return false;
    for (size_t i = 0; i < graph->node_count && depth < ASSAY__ONNX_DEPTH; i++) {
        if (!count_constant(&graph->nodes[i], tally)) return false;
        for (size_t k = 0; k < graph->nodes[i].attr_count; k++) {
            const struct assay__graph *inner = graph->nodes[i].attrs[k].g;
            if (inner && !count_graph(inner, tally, depth + 1)) return false;
        }
    }
    return true;
}

bool assay__model_parameters(const struct assay__model *model, int64_t *elements, int64_t *bytes)
{
    struct assay__map *uses = assay__map_over(model->names);
    struct tally tally = {.uses = uses};
    struct assay__map *rows = assay__map_over(model->names); /* operator -> row of `untrained` */
    bool known = uses && rows && index_untrained(rows) == 0 &&
                 mark_uses(&model->graph, rows, uses, 0) == 0 &&
                 count_graph(&model->graph, &tally, 0);
    /* Compressed weights count with what they stand for, not with their tables and indices. */
    for (size_t i = 0; known && i < model->stored_count; i++)
        known = !assay__add_i64_overflows(
            tally.elements, model->stored[i].logical_elements - model->stored[i].stored_elements,
            &tally.elements);
    *elements = known ? tally.elements : 0;
    *bytes = known ? tally.bytes : 0;
    assay__map_free(uses);
    assay__map_free(rows);
    return known;
}
