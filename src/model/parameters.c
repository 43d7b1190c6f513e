/* parameters.c - the number of parameters of a model, and the size of its weights. graph.h says
 * what counts: it depends on how each name is used, so the uses in all graphs are collected first.
 *
 * Weights that ConstantOfShape generates (light models, stripped models) count like the
 * initializers they replace, and take no bytes in the file. Its shape must be an initializer or a
 * Constant. Exporters create masks, states and zeros with the same operator: a number that is never
 * trained (0, 1, -1, or 10000 and more in size) is not a weight where only operators of `fillers`
 * read it. */
#include "base/checked.h"
#include "base/vec.h"
#include "model/graph.h"
#include "model/onnx/onnx.h"
#include "model/op_words.h"
#include "model/tensor_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How a name is used, as bits. */
enum {
    USED_OTHERWISE = 1,
    USED_AS_STATISTIC = 2, /* a running mean or variance, a scale, a zero point: not trained */
    USED_PACKED_4 = 4,     /* two numbers to each element */
    USED_PACKED_2 = 8,     /* four */
    IS_SCALE = 16,         /* made by DynamicQuantizeLinear */
    USED_TO_FILL = 32,     /* by one of `fillers` */
};

/* Inputs of operators that are not trained, one bit each. */
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

/* Operators that read masks, initial states, zeros and ones, and from which input on. */
static const struct {
    const char *op;
    size_t from;
} fillers[] = {
    {"Add", 0},     {"Sub", 0},   {"Mul", 0},    {"Div", 0},       {"Min", 0},
    {"Max", 0},     {"Pow", 0},   {"Equal", 0},  {"Less", 0},      {"LessOrEqual", 0},
    {"Greater", 0}, {"Where", 0}, {"Trilu", 0},  {"Expand", 0},    {"GreaterOrEqual", 0},
    {"NonZero", 0}, {"Cast", 0},  {"Concat", 0}, {"ScatterND", 0}, {"ScatterElements", 0},
    {"Slice", 0},   {"Tile", 0},  {"Neg", 0},    {"Pad", 0},       {"ReduceSum", 0},
    {"CumSum", 0},  {"Shape", 0}, {"If", 0},     {"Loop", 0},      {"Scan", 0},
    {"LSTM", 5},    {"GRU", 5},   {"RNN", 5},    {"Unsqueeze", 0}, {"Reshape", 0},
};
enum { FILLERS = sizeof fillers / sizeof fillers[0] };

/* row: as numbered by study_open, or beyond. */
static size_t use_of(const struct assay__node *node, size_t row, size_t input)
{
    if (row >= UNTRAINED && row < UNTRAINED + FILLERS)
        return input >= fillers[row - UNTRAINED].from ? USED_TO_FILL : USED_OTHERWISE;
    if (row >= UNTRAINED || input >= 32) {
        /* Its first two inputs belong to the output; then come triples of value, scale, zero
         * point. */
        if (*node->op != 'Q' || strcmp(node->op, "QLinearConcat") != 0) return USED_OTHERWISE;
        return input < 2 || (input - 2) % 3 ? USED_AS_STATISTIC : USED_OTHERWISE;
    }
    if (input == 1 && strcmp(node->op, "MatMulNBits") == 0) {
        int64_t bits = assay__node_int(node, "bits", 4);
        return USED_OTHERWISE | (bits == 4 ? USED_PACKED_4 : bits == 2 ? USED_PACKED_2 : 0);
    }
    return untrained[row].inputs >> input & 1 ? USED_AS_STATISTIC : USED_OTHERWISE;
}

/* What is known about the model while counting. */
struct study {
    const struct assay__model *model;
    struct assay__map *rows;             /* operator -> row of the tables above */
    struct assay__map *uses;             /* name -> bits */
    bool fills;                          /* the model has a ConstantOfShape; then: */
    struct assay__map *at;               /* name -> index into shapes */
    const struct assay__tensor **shapes; /* possible shapes: short lists of int64 */
    size_t shape_count, shape_capacity;
};

static bool is_plain(const struct assay__node *node, const char *op)
{
    return !*node->domain && strcmp(node->op, op) == 0;
}

static int mark_uses(const struct assay__graph *graph, struct study *study, int depth)
{
    struct assay__map *uses = study->uses;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        size_t row = assay__map_get(study->rows, node->op);
        study->fills |= is_plain(node, "ConstantOfShape");
        for (size_t k = 0; k < node->input_count; k++) {
            size_t before = assay__map_get(uses, node->inputs[k]);
            size_t now = use_of(node, row, k);
            /* dynamic quantisation multiplies the scale of the activations with that of the
             * weights, which is then not a parameter either */
            if (node->input_count == 2 && strcmp(node->op, "Mul") == 0) {
                size_t other = assay__map_get(uses, node->inputs[1 - k]);
                if (other != ASSAY__MAP_NONE && (other & IS_SCALE)) now = USED_AS_STATISTIC;
            }
            if (before != ASSAY__MAP_NONE) now |= before;
            if (assay__map_set(uses, node->inputs[k], now)) return ASSAY_ENOMEM;
        }
        if (strcmp(node->op, "DynamicQuantizeLinear") == 0 && node->output_count > 1 &&
            assay__map_set(uses, node->outputs[1], IS_SCALE))
            return ASSAY_ENOMEM;
        const struct assay__graph *body;
        for (size_t k = 0; depth < ASSAY__ONNX_DEPTH && (body = assay__node_body(node, k)); k++)
            if (mark_uses(body, study, depth + 1)) return ASSAY_ENOMEM;
    }
    return 0;
}

/* --- ConstantOfShape -------------------------------------------------------------------------- */

#define RANK_MOST 64

static int note_shape(struct study *study, const char *name, const struct assay__tensor *tensor)
{
    if (tensor->dtype != ASSAY__INT64 || tensor->rank != 1 || tensor->elements > RANK_MOST ||
        !tensor->data || tensor->data_size != (size_t)tensor->elements * 8)
        return 0;
    if (assay__vec_grow((void **)&study->shapes, &study->shape_capacity, study->shape_count + 1,
                        sizeof(const struct assay__tensor *)))
        return ASSAY_ENOMEM;
    study->shapes[study->shape_count] = tensor;
    return assay__map_set(study->at, name, study->shape_count++);
}

static int note_shapes(struct study *study, const struct assay__graph *graph, int depth)
{
    int code = 0;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = note_shape(study, graph->initializers[i].name, &graph->initializers[i]);
    for (size_t i = 0; i < graph->node_count && depth < ASSAY__ONNX_DEPTH && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__attr *value = is_plain(node, "Constant")
                                              ? assay__node_attr(node, "value")
                                              : NULL;
        if (value && value->t && node->output_count)
            code = note_shape(study, node->outputs[0], value->t);
        const struct assay__graph *body;
        for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++)
            code = note_shapes(study, body, depth + 1);
    }
    return code;
}

static bool nobody_trains(const struct study *study, const struct assay__attr *value)
{
    float number = 0; /* its default */
    if (value && value->t &&
        (value->t->elements != 1 || assay__tensor_floats(study->model, value->t, &number, NULL)))
        return true;
    return !(fabsf(number) < 1e4f) || number == 0 || fabsf(number) == 1;
}

/* The tensor that a ConstantOfShape generates if it represents a weight (*is); false: its size
 * overflows. dims are not filled. */
static bool filled_weight(const struct study *study, const struct assay__node *node, bool *is,
                          struct assay__tensor *tensor)
{
    const struct assay__attr *value = assay__node_attr(node, "value");
    *is = false;
    if (!study->fills || !is_plain(node, "ConstantOfShape") || node->input_count != 1 ||
        node->output_count != 1)
        return true;
    size_t use = assay__map_get(study->uses, node->outputs[0]);
    size_t at = assay__map_get(study->at, node->inputs[0]);
    if (use == ASSAY__MAP_NONE || at == ASSAY__MAP_NONE) return true;
    const struct assay__tensor *shape = study->shapes[at];
    *tensor = (struct assay__tensor){.name = node->outputs[0],
                                     .dtype = value && value->t ? value->t->dtype : ASSAY__FLOAT32,
                                     .rank = (int)shape->elements,
                                     .elements = 1,
                                     .nonzeros = -1};
    for (int64_t i = 0; i < shape->elements; i++) {
        uint64_t dim = assay__wire_u64(shape->data + i * 8);
        if (dim > INT64_MAX) return true; /* negative: no tensor at all */
        if (assay__mul_i64_overflows(tensor->elements, (int64_t)dim, &tensor->elements))
            return false;
    }
    bool number = tensor->dtype != ASSAY__INT64 && tensor->dtype != ASSAY__BOOL &&
                  tensor->dtype != ASSAY__STRING;
    *is = number && tensor->elements > 1 &&
          ((use & ~(size_t)USED_TO_FILL) != 0 || !nobody_trains(study, value));
    return true;
}

/* --- attributes of ai.onnx.ml ----------------------------------------------------------------- */

/* Attributes set by training. The doubles of an attribute are in NAME_as_tensor. Scalers and
 * imputers contain statistics, encoders tables: not trained. */
static const struct {
    const char *ops, *attributes;
} learners[] = {
    {"TreeEnsembleClassifier", "nodes_values class_weights base_values"},
    {"TreeEnsembleRegressor", "nodes_values target_weights base_values"},
    {"TreeEnsemble", "nodes_splits leaf_weights"},
    {"LinearClassifier LinearRegressor", "coefficients intercepts"},
    {"SVMClassifier SVMRegressor", "coefficients support_vectors rho prob_a prob_b"},
};

/* A leaf has an entry among a tree's thresholds, but no threshold. */
static int64_t count_leaves(const struct assay__node *node)
{
    const struct assay__attr *modes = assay__node_attr(node, "nodes_modes");
    int64_t leaves = 0;
    for (size_t i = 0; modes && modes->strings && i < modes->count; i++)
        leaves += strcmp(modes->strings[i], "LEAF") == 0;
    return leaves;
}

static int64_t count_trained(const struct assay__node *node, const char *name, int64_t count)
{
    char base[64];
    size_t length = strlen(name), suffix = strlen("_as_tensor");
    if (length > suffix && strcmp(name + length - suffix, "_as_tensor") == 0) length -= suffix;
    if (length >= sizeof base) return 0;
    memcpy(base, name, length);
    base[length] = 0;
    for (size_t i = 0; i < sizeof learners / sizeof learners[0]; i++) {
        if (!assay__has_word(learners[i].ops, node->op)) continue;
        if (!assay__has_word(learners[i].attributes, base)) return 0;
        int64_t leaves = strcmp(base, "nodes_values") == 0 ? count_leaves(node) : 0;
        return leaves < count ? count - leaves : 0;
    }
    return 0;
}

bool assay__node_learned(const struct assay__node *node, size_t i, struct assay__tensor *tensor,
                         int64_t *trained)
{
    if (strcmp(node->domain, "ai.onnx.ml") != 0) return false;
    for (size_t k = 0; k < node->attr_count; k++) {
        const struct assay__attr *attr = &node->attrs[k];
        if ((!attr->floats && !attr->ints && !attr->t) || i-- > 0) continue;
        *tensor = (struct assay__tensor){.name = attr->name, .rank = 1, .nonzeros = -1};
        tensor->dtype = attr->t ? attr->t->dtype : attr->floats ? ASSAY__FLOAT32 : ASSAY__INT64;
        tensor->elements = attr->t ? attr->t->elements : (int64_t)attr->count;
        *trained = count_trained(node, attr->name, tensor->elements);
        return true;
    }
    return false;
}

/* --- adding up -------------------------------------------------------------------------------- */

struct tally {
    const struct study *study;
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

/* Some exporters keep weights in Constant nodes. A single number there is a part of a formula, not
 * a weight. */
static bool count_constant(const struct assay__node *node, struct tally *tally)
{
    if (!is_plain(node, "Constant")) return true;
    const struct assay__attr *value = assay__node_attr(node, "value");
    if (!value) value = assay__node_attr(node, "sparse_value");
    if (!value || !value->t) return true;
    const char *name = node->output_count ? node->outputs[0] : "";
    int64_t each = value->t->elements > 1 ? counts_for(value->t, name, tally->study->uses) : 0;
    return count_tensor(value->t, each, tally);
}

static bool count_learned(const struct assay__node *node, struct tally *tally)
{
    struct assay__tensor tensor;
    int64_t trained = 0;
    for (size_t i = 0; assay__node_learned(node, i, &tensor, &trained); i++)
        if (!count_tensor(&tensor, 0, tally) ||
            assay__add_i64_overflows(tally->elements, trained, &tally->elements))
            return false;
    return true;
}

static bool count_graph(const struct assay__graph *graph, struct tally *tally, int depth)
{
    const struct assay__map *uses = tally->study->uses;
    const struct assay__tensor *held;
    for (size_t i = 0; (held = assay__graph_tensor(graph, i)); i++)
        if (!count_tensor(held, counts_for(held, held->name, uses), tally)) return false;
    for (size_t i = 0; i < graph->node_count && depth < ASSAY__ONNX_DEPTH; i++) {
        const struct assay__graph *body;
        struct assay__tensor tensor;
        bool weight = false;
        if (!count_constant(&graph->nodes[i], tally) || !count_learned(&graph->nodes[i], tally) ||
            !filled_weight(tally->study, &graph->nodes[i], &weight, &tensor))
            return false;
        int64_t stored = tally->bytes;
        if (weight && !count_tensor(&tensor, counts_for(&tensor, tensor.name, uses), tally))
            return false;
        tally->bytes = stored; /* a filled tensor takes no bytes: the file contains one number */
        for (size_t k = 0; (body = assay__node_body(&graph->nodes[i], k)); k++)
            if (!count_graph(body, tally, depth + 1)) return false;
    }
    return true;
}

static int study_open(struct study *study, const struct assay__model *model)
{
    *study = (struct study){.model = model,
                            .rows = assay__map_over(model->names),
                            .uses = assay__map_over(model->names),
                            .at = assay__map_over(model->names)};
    int code = study->rows && study->uses && study->at ? 0 : ASSAY_ENOMEM;
    /* untrained, and after them fillers */
    for (size_t i = 0; i < UNTRAINED && !code; i++)
        code = assay__map_set(study->rows, untrained[i].op, i);
    for (size_t i = 0; i < FILLERS && !code; i++)
        code = assay__map_set(study->rows, fillers[i].op, UNTRAINED + i);
    if (!code) code = mark_uses(&model->graph, study, 0);
    if (!code && study->fills) code = note_shapes(study, &model->graph, 0);
    return code;
}

static void study_close(struct study *study)
{
    assay__map_free(study->rows);
    assay__map_free(study->uses);
    assay__map_free(study->at);
    free(study->shapes);
}

static int visit_filled(const struct study *study, const struct assay__graph *graph,
                        assay__filled_visit *visit, void *context, int depth)
{
    int code = 0;
    for (size_t i = 0; i < graph->node_count && depth < ASSAY__ONNX_DEPTH && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        struct assay__tensor tensor;
        bool weight = false;
        if (filled_weight(study, node, &weight, &tensor) && weight) code = visit(context, &tensor);
        const struct assay__graph *body;
        for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++)
            code = visit_filled(study, body, visit, context, depth + 1);
    }
    return code;
}

int assay__model_filled(const struct assay__model *model, assay__filled_visit *visit, void *context)
{
    struct study study;
    int code = study_open(&study, model);
    if (!code && study.fills) code = visit_filled(&study, &model->graph, visit, context, 0);
    study_close(&study);
    return code;
}

bool assay__model_parameters(const struct assay__model *model, int64_t *elements, int64_t *bytes)
{
    struct study study;
    bool known = study_open(&study, model) == 0;
    struct tally tally = {.study = &study};
    known = known && count_graph(&model->graph, &tally, 0);
    /* Compressed weights count as the numbers they represent, not as their tables and indices. */
    for (size_t i = 0; known && i < model->stored_count; i++)
        known = !assay__add_i64_overflows(
            tally.elements, model->stored[i].logical_elements - model->stored[i].stored_elements,
            &tally.elements);
    *elements = known ? tally.elements : 0;
    *bytes = known ? tally.bytes : 0;
    study_close(&study);
    return known;
}
