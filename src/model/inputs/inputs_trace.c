/* inputs_trace.c - follows an input forwards through operators that only relabel or move data
 * (Cast, Reshape, Concat, …, into subgraphs, too) to what consumes it, and notes what that demands
 * of its values: a bound for ids, a length, an operand with few valid values, a divisor. Limit:
 * WALK_LIMIT names for one input. */
#include "model/inputs/inputs_trace.h"

#include "model/onnx/onnx.h"
#include "model/op_words.h"
#include "model/shapes/shapes.h"
#include "model/wire.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct assay__input_use {
    const struct assay__node *node;
    size_t index; /* which input of the node */
    size_t next;  /* next use of the same name, ASSAY__MAP_NONE ends */
};

struct work {
    const char *name;
    int64_t offset; /* constant added on the way */
    bool inverted;
    bool moved;    /* its axes are no longer those of the input */
    bool computed; /* its values are no longer those of the input: only the axes are of interest */
    bool integral; /* an integer, or cast to one on the way */
};

struct walk {
    struct assay__input_tracer *tracer;
    struct assay__input_finding *finding;
    const struct assay__input_plan *plan;
    struct work *queue;
    size_t count, capacity;
    struct assay__map *seen;
};

#define WALK_LIMIT 4096

/* --- index ------------------------------------------------------------------------------------ */

static int index_tensor(struct assay__input_tracer *tracer, const char *name,
                        const struct assay__tensor *tensor)
{
    if (assay__vec_grow((void **)&tracer->constants, &tracer->constant_capacity,
                        tracer->constant_count + 1, sizeof *tracer->constants) ||
        assay__map_set(tracer->tensors, name, tracer->constant_count))
        return ASSAY_ENOMEM;
    tracer->constants[tracer->constant_count++] = tensor;
    return 0;
}

static int index_graph(struct assay__input_tracer *tracer, const struct assay__graph *graph,
                       int depth);

static int index_node(struct assay__input_tracer *tracer, const struct assay__node *node, int depth)
{
    for (size_t k = 0; k < node->input_count; k++) {
        if (!*node->inputs[k]) continue;
        if (assay__vec_grow((void **)&tracer->uses, &tracer->use_capacity, tracer->use_count + 1,
                            sizeof *tracer->uses))
            return ASSAY_ENOMEM;
        size_t head = assay__map_get(tracer->heads, node->inputs[k]);
        tracer->uses[tracer->use_count] = (struct assay__input_use){node, k, head};
        if (assay__map_set(tracer->heads, node->inputs[k], tracer->use_count++))
            return ASSAY_ENOMEM;
    }
    int code = 0;
    for (size_t k = 0; k < node->attr_count && !code; k++) {
        const struct assay__attr *attr = &node->attrs[k];
        if (attr->t && node->output_count && strcmp(node->op, "Constant") == 0)
            code = index_tensor(tracer, node->outputs[0], attr->t);
        if (attr->g && !code) code = index_graph(tracer, attr->g, depth + 1);
    }
    return code;
}

static int index_graph(struct assay__input_tracer *tracer, const struct assay__graph *graph,
                       int depth)
{
    int code = 0;
    if (depth > ASSAY__ONNX_DEPTH) return 0;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = index_tensor(tracer, graph->initializers[i].name, &graph->initializers[i]);
    for (size_t i = 0; i < graph->node_count && !code; i++)
        code = index_node(tracer, &graph->nodes[i], depth);
    return code;
}

static const struct assay__tensor *constant(const struct assay__input_tracer *tracer,
                                            const struct assay__node *node, size_t i)
{
    if (i >= node->input_count || !*node->inputs[i]) return NULL;
    size_t index = assay__map_get(tracer->tensors, node->inputs[i]);
    return index == ASSAY__MAP_NONE ? NULL : tracer->constants[index];
}

/* Dimension of input i of a node, from the constant or from shape inference; -1 unknown. */
static int64_t input_dim(const struct assay__input_tracer *tracer, const struct assay__node *node,
                         size_t i, int64_t axis)
{
    const struct assay__tensor *tensor = constant(tracer, node, i);
    if (i >= node->input_count) return -1;
    const struct assay__shape_entry *entry = tensor ? NULL
                                                    : assay__shapes_get(tracer->shapes,
                                                                        node->inputs[i]);
    int rank = tensor ? tensor->rank : entry ? entry->rank : -1;
    if (rank < 0) return -1;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return -1;
    return tensor ? tensor->dims[axis] : entry->dims[axis];
}

/* A constant of one element as a number. */
static bool constant_number(const struct assay__input_tracer *tracer,
                            const struct assay__node *node, size_t i, double *value)
{
    const struct assay__tensor *tensor = constant(tracer, node, i);
    if (!tensor || tensor->elements != 1 || !tensor->data) return false;
    switch (tensor->dtype) {
    case ASSAY__INT64: *value = (double)(int64_t)assay__wire_u64(tensor->data); return true;
    case ASSAY__INT32: *value = (double)(int32_t)assay__wire_u32(tensor->data); return true;
    case ASSAY__FLOAT32: {
        uint32_t bits = assay__wire_u32(tensor->data);
        float single;
        memcpy(&single, &bits, sizeof single);
        *value = (double)single;
        return true;
    }
    default: return false;
    }
}

/* --- following one input ---------------------------------------------------------------------- */

static int follow(struct walk *walk, const char *name, const struct work *from)
{
    if (!*name || walk->count >= WALK_LIMIT || assay__map_get(walk->seen, name) != ASSAY__MAP_NONE)
        return 0;
    if (assay__vec_grow((void **)&walk->queue, &walk->capacity, walk->count + 1,
                        sizeof *walk->queue) ||
        assay__map_set(walk->seen, name, walk->count))
        return ASSAY_ENOMEM;
    walk->queue[walk->count++] = *from;
    walk->queue[walk->count - 1].name = name;
    return 0;
}

static int follow_outputs(struct walk *walk, const struct assay__node *node,
                          const struct work *from)
{
    int code = 0;
    for (size_t i = 0; i < node->output_count && !code; i++)
        code = follow(walk, node->outputs[i], from);
    return code;
}

static void limit(struct walk *walk, const struct work *work, const struct assay__node *node,
                  int64_t rows, const char *table)
{
    struct assay__input_finding *finding = walk->finding;
    if (rows < 0) return;
    rows -= work->offset;
    if (rows >= finding->bound) return;
    finding->bound = rows < 1 ? 1 : rows;
    finding->bound_table = table;
    finding->bound_op = node->op;
}

static bool is(const struct assay__node *node, const char *op)
{
    return strcmp(node->op, op) == 0;
}

/* Look-ups: what bounds an index. */
static void sink_index(struct walk *walk, const struct work *work,
                       const struct assay__input_use *use)
{
    const struct assay__input_tracer *tracer = walk->tracer;
    const struct assay__node *node = use->node;
    const char *table = node->input_count ? node->inputs[0] : "";
    bool elements = is(node, "GatherElements") || is(node, "ScatterElements") ||
                    is(node, "Scatter");
    if (use->index == 1 && (is(node, "Gather") || elements)) {
        limit(walk, work, node, input_dim(tracer, node, 0, assay__node_int(node, "axis", 0)),
              table);
    } else if (use->index == 1 && (is(node, "GatherND") || is(node, "ScatterND"))) {
        int64_t depth = input_dim(tracer, node, 1, -1),
                batch = assay__node_int(node, "batch_dims", 0);
        for (int64_t axis = batch; axis < batch + (depth > 0 && depth < 64 ? depth : 1); axis++)
            limit(walk, work, node, input_dim(tracer, node, 0, axis), table);
    } else if (use->index == 1 &&
               (is(node, "NegativeLogLikelihoodLoss") || is(node, "SoftmaxCrossEntropyLoss"))) {
        limit(walk, work, node, input_dim(tracer, node, 0, 1), "the classes");
    } else if (use->index == 2 && is(node, "RoiAlign")) {
        limit(walk, work, node, input_dim(tracer, node, 0, 0), table);
    } else if (use->index == 0 && is(node, "OneHot")) {
        double depth = -1;
        if (constant_number(tracer, node, 1, &depth) && depth >= 0 && depth < 9e15)
            limit(walk, work, node, (int64_t)depth, "the classes");
    } else if (is(node, "EmbedLayerNormalization")) {
        size_t of = use->index == 0 ? 2 : use->index == 1 ? 4 : use->index == 8 ? 3 : 0;
        if (of && of < node->input_count)
            limit(walk, work, node, input_dim(tracer, node, of, 0), node->inputs[of]);
    }
}

/* Lengths, trip counts, conditions. */
static void sink_control(struct walk *walk, const struct assay__input_use *use)
{
    const struct assay__node *node = use->node;
    struct assay__input_finding *finding = walk->finding;
    if (assay__has_word("LSTM GRU RNN", node->op) && use->index == 4) {
        bool batch_first = assay__node_int(node, "layout", 0) == 1;
        finding->length = input_dim(walk->tracer, node, 0, batch_first ? 1 : 0);
        finding->length_op = node->op;
        if (finding->length < 0) finding->length = 1;
    } else if (is(node, "ReverseSequence") && use->index == 1) {
        finding->length = input_dim(walk->tracer, node, 0, assay__node_int(node, "time_axis", 0));
        finding->length_op = node->op;
    } else if (is(node, "Loop") && use->index == 0) {
        finding->trip_count = true;
    } else if ((is(node, "If") && use->index == 0) || (is(node, "Loop") && use->index == 1)) {
        finding->condition = true;
    } else if (is(node, "GroupQueryAttention") && (use->index == 5 || use->index == 6)) {
        /* seqlens_k is the total length less one, total_sequence_length the total: past + new. */
        int64_t past = input_dim(walk->tracer, node, 3, 2),
                fresh = input_dim(walk->tracer, node, 0, 1);
        if (fresh < 0) return;
        finding->length = (past > 0 ? past : 0) + fresh - (use->index == 5 ? 1 : 0);
        finding->length_op = node->op;
    }
}

/* Operands with a value that is valid whatever the other inputs are. Those of TopK, Tile and Pad
 * decide a shape, but a smallest one is always there. */
static bool sink_operand(struct walk *walk, const struct work *work,
                         const struct assay__input_use *use)
{
    static const struct assay__input_operand rows[] = {
        {"CumSum", 1, 0, "the axis of a CumSum"},
        {"CumProd", 1, 0, "the axis of a CumProd"},
        {"Dropout", 1, 0.5, "the ratio of a Dropout"},
        {"Dropout", 2, 0, "a Dropout, not in training"},
        {"NonMaxSuppression", 2, 10, "the most boxes a class may keep (NonMaxSuppression)"},
        {"NonMaxSuppression", 3, 0.5, "the IoU threshold of a NonMaxSuppression"},
        {"NonMaxSuppression", 4, 0, "the score threshold of a NonMaxSuppression"},
        {"TopK", 1, 1, "the k of a TopK"},
        {"Tile", 1, 1, "the repeats of a Tile"},
        {"Pad", 1, 0, "the pads of a Pad"},
        {"Trilu", 1, 0, "the diagonal of a Trilu"},
        {"DFT", 2, -2, "the axis of a DFT"}};
    struct assay__input_finding *finding = walk->finding;
    if (work->offset) return false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!is(use->node, rows[i].op) || use->index != rows[i].index) continue;
        if (!finding->operand) {
            finding->operand = &rows[i];
            finding->operand_inverted = work->inverted;
        }
        return true;
    }
    return false;
}

/* What divides must not be zero: integers fail, and a float made of integers becomes infinite. */
static void sink_divisor(struct walk *walk, const struct work *work,
                         const struct assay__input_use *use)
{
    bool divides = use->index == 1 && (is(use->node, "Div") || is(use->node, "Mod"));
    int64_t least = work->offset < 0 ? 1 - work->offset : 1;
    if (divides && work->integral && least > walk->finding->least) walk->finding->least = least;
}

/* Inputs that decide a shape. */
static bool decides_shape(const struct assay__input_use *use)
{
    static const struct {
        const char *ops;
        size_t first, last;
    } rows[] = {
        {"Reshape Expand Tile Pad TopK Unsqueeze Squeeze Split OneHot Upsample SplitToSequence "
         "AffineGrid CenterCropPad DFT STFT",
         1, 1},
        {"ConstantOfShape HannWindow HammingWindow BlackmanWindow", 0, 0},
        {"Range", 0, 2},
        {"MelWeightMatrix", 0, 4},
        {"Slice", 1, 4},
        {"Resize", 2, 3},
        {"Col2Im", 1, 2},
        {"MaxUnpool", 2, 2},
        {"STFT Pad", 3, 3},
    };
    if (strncmp(use->node->op, "Reduce", 6) == 0 && use->index == 1) return true; /* the axes */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (assay__has_word(rows[i].ops, use->node->op) && use->index >= rows[i].first &&
            use->index <= rows[i].last)
            return true;
    return false;
}

/* Where(mask, x, y): the side that is very negative is hidden by softmax. */
static void sink_where(struct walk *walk, const struct work *work, const struct assay__node *node)
{
    double value = 0;
    int hides = -1;
    if (constant_number(walk->tracer, node, 1, &value) && value < -100) hides = 1;
    if (constant_number(walk->tracer, node, 2, &value) && value < -100) hides = 0;
    if (hides >= 0) walk->finding->true_hides = work->inverted ? !hides : hides;
}

/* Into the body of Loop (M, condition, values …) and Scan (values …). */
static int follow_body(struct walk *walk, const struct work *work,
                       const struct assay__input_use *use)
{
    const struct assay__attr *body = assay__node_attr(use->node, "body");
    if (!body || !body->g || use->index >= body->g->input_count) return 0;
    if (is(use->node, "Loop") && use->index < 2) return 0;
    return follow(walk, body->g->inputs[use->index].name, work);
}

/* A power that is not a number for a negative base: its exponent is no known whole number. */
static bool broken_power(const struct assay__input_tracer *tracer, const struct assay__node *node)
{
    double exponent = 0;
    return is(node, "Pow") &&
           !(constant_number(tracer, node, 1, &exponent) && exponent == floor(exponent));
}

bool assay__inputs_is_integer(enum assay__dtype dtype)
{
    return (dtype >= ASSAY__UINT8 && dtype <= ASSAY__INT64) || dtype == ASSAY__UINT32 ||
           dtype == ASSAY__UINT64 || dtype == ASSAY__UINT4 || dtype == ASSAY__INT4 ||
           dtype == ASSAY__UINT2 || dtype == ASSAY__INT2;
}

static int visit(struct walk *walk, const struct work *work, const struct assay__input_use *use)
{
    static const char relabel[] = "Cast CastLike Identity Unsqueeze Squeeze Reshape Flatten "
                                  "Transpose Expand Tile Slice Split Gather Dropout";
    const struct assay__node *node = use->node;
    bool keeps = assay__has_word("Cast CastLike Identity Dropout Loop", node->op);
    struct work next = *work;
    double value = 0;
    if (!work->moved && assay__inputs_time_first(node, use->index))
        walk->finding->time_major = true;
    if (work->computed) {
        next.moved = work->moved || !(keeps || assay__inputs_keeps_axes(node, use->index));
        return next.moved ? 0 : follow_outputs(walk, node, &next);
    }
    sink_index(walk, work, use);
    sink_control(walk, use);
    sink_divisor(walk, work, use);
    if (!sink_operand(walk, work, use) && decides_shape(use) && !walk->finding->shape_node)
        walk->finding->shape_node = node;
    if (is(node, "Cast")) {
        int64_t to = assay__node_int(node, "to", 0);
        next.integral = work->integral || assay__inputs_is_integer((enum assay__dtype)to);
    }
    next.moved = work->moved || !keeps;
    if (is(node, "Loop") || is(node, "Scan")) return follow_body(walk, &next, use);
    if (use->index == 0 &&
        (assay__has_word("Log Sqrt Reciprocal", node->op) || broken_power(walk->tracer, node)))
        walk->finding->positive = true;
    if (is(node, "Where") && use->index == 0) sink_where(walk, work, node);
    if (is(node, "Equal") && constant_number(walk->tracer, node, 1 - use->index, &value) &&
        fabs(value) < 9e15) {
        walk->finding->compared = true;
        walk->finding->compared_with = (int64_t)value;
    }
    if (is(node, "Not")) {
        next.inverted = !next.inverted;
        return follow_outputs(walk, node, &next);
    }
    if ((is(node, "Add") || is(node, "Sub")) &&
        constant_number(walk->tracer, node, 1 - use->index, &value) && fabs(value) < 1e9 &&
        !(is(node, "Sub") && use->index == 1)) {
        next.offset += (int64_t)(is(node, "Add") ? value : -value);
        return follow_outputs(walk, node, &next);
    }
    bool moved = (use->index == 0 && assay__has_word(relabel, node->op)) || is(node, "Concat") ||
                 (is(node, "Where") && use->index > 0);
    if (moved) return follow_outputs(walk, node, &next);
    next.computed = true;
    next.moved = work->moved;
    return assay__inputs_keeps_axes(node, use->index) && !next.moved
               ? follow_outputs(walk, node, &next)
               : 0;
}

int assay__inputs_trace(struct assay__input_tracer *tracer, const struct assay__input_plan *plan,
                        struct assay__input_finding *finding)
{
    struct walk walk = {
        .tracer = tracer, .finding = finding, .plan = plan, .seen = assay__map_new()};
    const struct work start = {.name = plan->name,
                               .integral = assay__inputs_is_integer(plan->dtype)};
    *finding = (struct assay__input_finding){.bound = INT64_MAX, .length = -1, .true_hides = -1};
    int code = walk.seen ? follow(&walk, plan->name, &start) : ASSAY_ENOMEM;
    for (size_t i = 0; i < walk.count && !code; i++) {
        const struct work work = walk.queue[i];
        for (size_t u = assay__map_get(tracer->heads, work.name); u != ASSAY__MAP_NONE && !code;
             u = tracer->uses[u].next)
            code = visit(&walk, &work, &tracer->uses[u]);
    }
    free(walk.queue);
    assay__map_free(walk.seen);
    return code;
}

/* The shapes of everything, with the inputs as they are fixed now. */
static int infer(struct assay__input_tracer *tracer, const struct assay__workload *workload,
                 struct assay_error *error)
{
    struct assay__value *values = NULL;
    if (assay__workload_values(workload->inputs, workload->input_count, tracer->arena, &values))
        return ASSAY_ENOMEM;
    return assay__shapes_infer(tracer->model, values, workload->input_count, &tracer->shapes,
                               error);
}

int assay__inputs_tracer_open(struct assay__input_tracer *tracer, const struct assay__model *model,
                              const struct assay__workload *workload, struct assay_error *error)
{
    *tracer = (struct assay__input_tracer){.model = model,
                                           .arena = workload->arena,
                                           .heads = assay__map_new(),
                                           .tensors = assay__map_new()};
    int code = tracer->heads && tracer->tensors ? 0 : ASSAY_ENOMEM;
    if (!code) code = infer(tracer, workload, error);
    return code ? code : index_graph(tracer, &model->graph, 0);
}

void assay__inputs_tracer_close(struct assay__input_tracer *tracer)
{
    assay__shapes_free(tracer->shapes);
    assay__map_free(tracer->heads);
    assay__map_free(tracer->tensors);
    free(tracer->uses);
    free(tracer->constants);
}
