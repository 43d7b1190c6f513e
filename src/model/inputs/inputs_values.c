/* inputs_values.c - values that are valid for the model.
 *
 * An input is followed forwards through operators that only relabel or move data (Cast, Reshape,
 * Concat, …, also into subgraphs) to its consumers, which determine its valid values: ids are below
 * the rows of the table that Gather looks them up in, lengths are the length of their axis, a
 * divisor is not 0, a value that decides a shape cannot be made up. Limit: WALK_LIMIT names for one
 * input. If the graph does not help, the name is used (mask, position, …); otherwise floats in [-1,
 * 1), integers 0 and 1. The plan's `why` gives the reason for a choice; the choice itself is in the
 * numbers. */
#include "model/inputs/inputs_guess.h"
#include "model/inputs/inputs_plan.h"
#include "model/inputs/inputs_setting.h"

#include "base/vec.h"
#include "model/onnx/onnx.h"
#include "model/op_words.h"
#include "model/shapes/shapes.h"
#include "model/tensor_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An operand that must have one of a few values, and one that is always valid. */
struct operand {
    const char *op;
    size_t index;
    double value;
    const char *why;
};

/* What following one input found. */
struct finding {
    int64_t bound; /* ids are below this; INT64_MAX unknown */
    const char *bound_table;
    const char *bound_op;
    const struct assay__node *shape_node; /* decides a shape */
    int64_t length;                       /* a length of this much; -1 */
    const char *length_op;
    bool trip_count, condition, positive;
    bool time_major; /* axis 0 is time: passed unchanged to a recurrent cell or a Scan */
    int true_hides;  /* -1 unknown, 0 true keeps, 1 true masks out */
    bool compared;
    int64_t compared_with, compared_last; /* a number; or all from the one to the other */
    struct assay__setting setting;        /* what the graph says of it if it is one */
    const struct operand *operand;        /* an operand of few valid values */
    bool operand_inverted;                /* it gets there through a Not */
    int64_t least;                        /* a divisor: not below this; 0 unknown */
};

struct use {
    const struct assay__node *node;
    size_t index; /* which input of the node */
    size_t next;  /* next use of the same name, ASSAY__MAP_NONE ends */
};

struct tracer {
    const struct assay__model *model;
    struct assay__arena *arena;
    bool lenient; /* what cannot be decided stays open */
    struct assay__shapes *shapes;
    struct assay__map *heads;   /* name -> first use */
    struct assay__map *tensors; /* name -> index into constants */
    struct use *uses;
    size_t use_count, use_capacity;
    const struct assay__tensor **constants;
    size_t constant_count, constant_capacity;
};

struct work {
    const char *name;
    int64_t offset; /* constant added on the way */
    bool inverted;
    bool moved;    /* its axes are no longer those of the input */
    bool computed; /* its values are no longer those of the input: only the axes matter */
    bool integral; /* an integer, or cast to one on the way */
};

struct walk {
    struct tracer *tracer;
    struct finding *finding;
    struct work *queue;
    size_t count, capacity;
    struct assay__map *seen;
};

#define WALK_LIMIT 4096

static bool is(const struct assay__node *node, const char *op)
{
    return strcmp(node->op, op) == 0;
}

/* --- which axis is the batch, if no symbol says so -------------------------------------------- */

/* By convention it is the first. Recurrent cells with layout 0 expect X as [time, batch, features]
 * and their states as [directions, batch, hidden], and Scan runs along axis 0 of what it scans: an
 * input that arrives there with its axes unchanged has its batch on axis 1. */
static bool is_cell(const struct assay__node *node)
{
    return assay__has_word("LSTM GRU RNN", node->op) && assay__node_int(node, "layout", 0) == 0;
}

/* Whether this input of the node has time on axis 0, and the batch on axis 1. */
static bool time_first(const struct assay__node *node, size_t index)
{
    if (is_cell(node)) return index == 0;
    int64_t scanned = is(node, "Scan") ? assay__node_int(node, "num_scan_inputs", 0) : 0;
    return scanned > 0 && !assay__node_attr(node, "scan_input_axes") &&
           (int64_t)index >= (int64_t)node->input_count - scanned;
}

/* Whether the node computes but keeps the leading axes of this input. */
static bool keeps_axes(const struct assay__node *node, size_t index)
{
    if (assay__has_word("Add Sub Mul Div Relu Tanh Sigmoid Clip Neg Exp Gelu Erf Sqrt Pow",
                        node->op))
        return true;
    if (is(node, "Gather"))
        return index == 1 && assay__node_int(node, "axis", 0) == 0; /* an embedding */
    return index == 0 && assay__has_word("MatMul LayerNormalization Softmax LeakyRelu", node->op);
}

struct assay__map *assay__inputs_batch_second(const struct assay__model *model)
{
    const struct assay__graph *graph = &model->graph;
    struct assay__map *second = assay__map_new();
    bool failed = !second;
    for (size_t i = graph->node_count; i-- > 0 && !failed;) { /* from what reads to what is read */
        const struct assay__node *node = &graph->nodes[i];
        bool found = node->output_count && *node->outputs[0] &&
                     assay__map_get(second, node->outputs[0]) != ASSAY__MAP_NONE;
        for (size_t k = 0; k < node->input_count && !failed; k++) {
            bool keeps = found && (keeps_axes(node, k) ||
                                   (k == 0 && assay__has_word("Identity Cast Dropout", node->op)));
            if (*node->inputs[k] &&
                (keeps || time_first(node, k) ||
                 (is_cell(node) && (k == 5 || k == 6)) /* initial_h, initial_c */))
                failed = assay__map_set(second, node->inputs[k], 1) != 0;
        }
    }
    if (!failed) return second;
    assay__map_free(second);
    return NULL;
}

int assay__inputs_batch_axis(const struct assay__model *model, const char *input)
{
    struct assay__map *second = assay__inputs_batch_second(model);
    int axis = second && assay__map_get(second, input) != ASSAY__MAP_NONE;
    assay__map_free(second);
    return axis;
}

/* --- index ------------------------------------------------------------------------------------ */

static int index_tensor(struct tracer *tracer, const char *name, const struct assay__tensor *tensor)
{
    if (assay__vec_grow((void **)&tracer->constants, &tracer->constant_capacity,
                        tracer->constant_count + 1, sizeof *tracer->constants) ||
        assay__map_set(tracer->tensors, name, tracer->constant_count))
        return ASSAY_ENOMEM;
    tracer->constants[tracer->constant_count++] = tensor;
    return 0;
}

/* Constants and uses by name, of this graph and its bodies. */
static int index_graph(struct tracer *tracer, const struct assay__graph *graph, int depth)
{
    int code = 0;
    if (depth > ASSAY__ONNX_DEPTH) return 0;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = index_tensor(tracer, graph->initializers[i].name, &graph->initializers[i]);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->input_count; k++) {
            if (!*node->inputs[k]) continue;
            if (assay__vec_grow((void **)&tracer->uses, &tracer->use_capacity,
                                tracer->use_count + 1, sizeof *tracer->uses))
                return ASSAY_ENOMEM;
            size_t head = assay__map_get(tracer->heads, node->inputs[k]);
            tracer->uses[tracer->use_count] = (struct use){node, k, head};
            if (assay__map_set(tracer->heads, node->inputs[k], tracer->use_count++))
                return ASSAY_ENOMEM;
        }
        for (size_t k = 0; k < node->attr_count && !code; k++) {
            const struct assay__attr *attr = &node->attrs[k];
            if (attr->t && node->output_count && is(node, "Constant"))
                code = index_tensor(tracer, node->outputs[0], attr->t);
            if (attr->g && !code) code = index_graph(tracer, attr->g, depth + 1);
        }
    }
    return code;
}

static const struct assay__tensor *constant(const struct tracer *tracer,
                                            const struct assay__node *node, size_t i)
{
    if (i >= node->input_count || !*node->inputs[i]) return NULL;
    size_t index = assay__map_get(tracer->tensors, node->inputs[i]);
    return index == ASSAY__MAP_NONE ? NULL : tracer->constants[index];
}

/* Dimension of input i of a node, from the constant or from shape inference; -1 unknown. */
static int64_t input_dim(const struct tracer *tracer, const struct assay__node *node, size_t i,
                         int64_t axis)
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
static bool constant_number(const struct tracer *tracer, const struct assay__node *node, size_t i,
                            double *value)
{
    const struct assay__tensor *tensor = constant(tracer, node, i);
    return tensor && tensor->elements == 1 && assay__tensor_number(tensor, 0, value);
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
    struct finding *finding = walk->finding;
    if (rows < 0) return;
    rows -= work->offset;
    if (rows >= finding->bound) return;
    finding->bound = rows < 1 ? 1 : rows;
    finding->bound_table = table;
    finding->bound_op = node->op;
}

/* Look-ups: what bounds an index. */
static void sink_index(struct walk *walk, const struct work *work, const struct use *use)
{
    const struct tracer *tracer = walk->tracer;
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
static void sink_control(struct walk *walk, const struct use *use)
{
    const struct assay__node *node = use->node;
    struct finding *finding = walk->finding;
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
        /* seqlens_k is the total length minus one, total_sequence_length the total: past + new. */
        int64_t past = input_dim(walk->tracer, node, 3, 2),
                fresh = input_dim(walk->tracer, node, 0, 1);
        if (fresh < 0) return;
        finding->length = (past > 0 ? past : 0) + fresh - (use->index == 5 ? 1 : 0);
        finding->length_op = node->op;
    }
}

/* Operands with a value that is valid whatever the other inputs are. Those of TopK, Tile and Pad
 * decide a shape, but there is always a smallest one. */
static bool sink_operand(struct walk *walk, const struct work *work, const struct use *use)
{
    static const struct operand rows[] = {
        {"CumSum", 1, 0, "the axis of a CumSum"},
        {"CumProd", 1, 0, "the axis of a CumProd"},
        {"Dropout", 1, 0.5, "the ratio of a Dropout"},
        {"Dropout", 2, 0, "a Dropout, not in training"},
        {"NonMaxSuppression", 2, 10, "the maximum boxes per class (NonMaxSuppression)"},
        {"NonMaxSuppression", 3, 0.5, "the IoU threshold of a NonMaxSuppression"},
        {"NonMaxSuppression", 4, 0, "the score threshold of a NonMaxSuppression"},
        {"TopK", 1, 1, "the k of a TopK"},
        {"Tile", 1, 1, "the repeats of a Tile"},
        {"Pad", 1, 0, "the pads of a Pad"},
        {"Trilu", 1, 0, "the diagonal of a Trilu"},
        {"DFT", 2, -2, "the axis of a DFT"}};
    struct finding *finding = walk->finding;
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

/* A divisor must not be zero: integer division fails, and a float made of integers becomes
 * infinite. */
static void sink_divisor(struct walk *walk, const struct work *work, const struct use *use)
{
    bool divides = use->index == 1 && (is(use->node, "Div") || is(use->node, "Mod"));
    int64_t least = work->offset < 0 ? 1 - work->offset : 1;
    if (divides && work->integral && least > walk->finding->least) walk->finding->least = least;
}

/* Inputs that decide a shape. */
static bool decides_shape(const struct use *use)
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

/* What it is compared with: a number, or all numbers of a range (a one-hot code without OneHot). */
static void sink_equal(struct walk *walk, const struct use *use)
{
    enum { LISTED = 4096 };
    struct finding *finding = walk->finding;
    const struct assay__tensor *list = constant(walk->tracer, use->node, 1 - use->index);
    double low = INFINITY, high = -INFINITY, value = 0;
    if (!list || list->elements < 1 || list->elements > LISTED) return;
    for (int64_t i = 0; i < list->elements; i++) {
        if (!assay__tensor_number(list, (size_t)i, &value) || !(fabs(value) < 9e15)) return;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    finding->compared = true;
    finding->compared_with = (int64_t)low;
    finding->compared_last = (int64_t)(high - low + 1 == (double)list->elements ? high : low);
}

/* Limits of a table, bounds of a Clip. */
static void sink_setting(struct walk *walk, const struct use *use)
{
    const struct assay__node *node = use->node;
    struct assay__setting *setting = &walk->finding->setting;
    double low, high;
    if (use->index < 2 && assay__has_word("Less LessOrEqual Greater GreaterOrEqual", node->op))
        assay__setting_limit(setting, node, use->index,
                             constant(walk->tracer, node, 1 - use->index));
    else if (is(node, "Clip") && use->index == 0 && constant_number(walk->tracer, node, 1, &low) &&
             constant_number(walk->tracer, node, 2, &high))
        assay__setting_clip(setting, low, high);
}

/* Into the body of Loop (M, condition, values …) and Scan (values …). */
static int follow_body(struct walk *walk, const struct work *work, const struct use *use)
{
    const struct assay__attr *body = assay__node_attr(use->node, "body");
    if (!body || !body->g || use->index >= body->g->input_count) return 0;
    if (is(use->node, "Loop") && use->index < 2) return 0;
    return follow(walk, body->g->inputs[use->index].name, work);
}

/* A power that is not a number for a negative base: its exponent is not a known whole number. */
static bool broken_power(const struct tracer *tracer, const struct assay__node *node)
{
    double exponent = 0;
    return is(node, "Pow") &&
           !(constant_number(tracer, node, 1, &exponent) && exponent == floor(exponent));
}

static bool is_integer(enum assay__dtype dtype)
{
    return (dtype >= ASSAY__UINT8 && dtype <= ASSAY__INT64) || dtype == ASSAY__UINT32 ||
           dtype == ASSAY__UINT64 || dtype == ASSAY__UINT4 || dtype == ASSAY__INT4 ||
           dtype == ASSAY__UINT2 || dtype == ASSAY__INT2;
}

static int visit(struct walk *walk, const struct work *work, const struct use *use)
{
    static const char relabel[] = "Cast CastLike Identity Unsqueeze Squeeze Reshape Flatten "
                                  "Transpose Expand Tile Slice Split Gather Dropout";
    const struct assay__node *node = use->node;
    bool keeps = assay__has_word("Cast CastLike Identity Dropout Loop", node->op);
    struct work next = *work;
    double value = 0;
    if (!work->moved && time_first(node, use->index)) walk->finding->time_major = true;
    if (work->computed) {
        next.moved = work->moved || !(keeps || keeps_axes(node, use->index));
        return next.moved ? 0 : follow_outputs(walk, node, &next);
    }
    sink_index(walk, work, use);
    sink_control(walk, use);
    sink_divisor(walk, work, use);
    if (!sink_operand(walk, work, use) && decides_shape(use) && !walk->finding->shape_node)
        walk->finding->shape_node = node;
    if (is(node, "Cast")) {
        int64_t to = assay__node_int(node, "to", 0);
        next.integral = work->integral || is_integer((enum assay__dtype)to);
    }
    next.moved = work->moved || !keeps;
    if (is(node, "Loop") || is(node, "Scan")) return follow_body(walk, &next, use);
    if (use->index == 0 &&
        (assay__has_word("Log Sqrt Reciprocal", node->op) || broken_power(walk->tracer, node)))
        walk->finding->positive = true;
    if (is(node, "Where") && use->index == 0) sink_where(walk, work, node);
    if (is(node, "Equal")) sink_equal(walk, use);
    if (!work->offset) sink_setting(walk, use);
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
    return keeps_axes(node, use->index) && !next.moved ? follow_outputs(walk, node, &next) : 0;
}

static int trace(struct tracer *tracer, const struct assay__input_plan *plan,
                 struct finding *finding)
{
    struct walk walk = {.tracer = tracer, .finding = finding, .seen = assay__map_new()};
    const struct work start = {.name = plan->name, .integral = is_integer(plan->dtype)};
    *finding = (struct finding){
        .bound = INT64_MAX, .length = -1, .true_hides = -1, .setting = {.low = NAN, .high = NAN}};
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

/* --- its contents ----------------------------------------------------------------------------- */

static void choose(struct assay__input_plan *plan, enum assay__fill fill, double low, double high,
                   const char *why)
{
    plan->fill = fill;
    plan->low = low;
    plan->high = high;
    plan->why = why;
}

static void decide_operand(struct assay__input_plan *plan, const struct finding *finding)
{
    const struct operand *operand = finding->operand;
    double value = finding->operand_inverted ? 1 - operand->value : operand->value;
    choose(plan, ASSAY__FILL_CONSTANT, value, value, operand->why);
}

static void decide_bool(struct assay__input_plan *plan, const struct finding *finding)
{
    if (finding->condition)
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "the condition of an If or Loop");
    else if (finding->operand)
        decide_operand(plan, finding);
    else if (finding->true_hides == 1 ||
             (finding->true_hides < 0 && assay__name_has(plan->name, "padding_mask")))
        choose(plan, ASSAY__FILL_CONSTANT, 0, 0, "true would mask something out");
    else if (finding->true_hides == 0 || assay__name_has(plan->name, "mask"))
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "nothing is masked out");
    else
        choose(plan, ASSAY__FILL_INTEGERS, 0, 1, "");
}

/* The limits of a small integer type, if they matter. */
static void integer_range(enum assay__dtype dtype, double *low, double *high)
{
    *low = 0;
    *high = 1;
    switch (dtype) {
    case ASSAY__UINT8: *high = 255; break;
    case ASSAY__INT8: *low = -128, *high = 127; break;
    case ASSAY__UINT4: *high = 15; break;
    case ASSAY__INT4: *low = -8, *high = 7; break;
    case ASSAY__UINT2: *high = 3; break;
    case ASSAY__INT2: *low = -2, *high = 1; break;
    default: break;
    }
}

static void decide_bounded(struct tracer *tracer, struct assay__input_plan *plan,
                           const struct finding *finding)
{
    double low, high, top = fmin((double)(finding->bound - 1), 9e15);
    integer_range(plan->dtype, &low, &high);
    if (plan->dtype != ASSAY__INT64 && plan->dtype != ASSAY__INT32 &&
        assay__dtype_bits(plan->dtype) <= 8 && high < top)
        top = high;
    bool positions = assay__name_has(plan->name, "position");
    low = finding->least > 0 && (double)finding->least <= top ? (double)finding->least : 0;
    choose(plan, positions && low == 0 ? ASSAY__FILL_RANGE : ASSAY__FILL_INTEGERS, low, top,
           assay__arena_printf(tracer->arena, "rows of '%s' (%s)", finding->bound_table,
                               finding->bound_op));
}

/* An input as the file has it. */
static const struct assay__value *stated(const struct assay__model *model, const char *name)
{
    for (size_t i = 0; i < model->graph.input_count; i++)
        if (strcmp(model->graph.inputs[i].name, name) == 0) return &model->graph.inputs[i];
    return NULL;
}

/* Does the file name this axis as one of a sequence? Then it is not the batch. */
static bool is_time(const struct assay__model *model, const char *name, int axis)
{
    const struct assay__value *value = stated(model, name);
    return value && axis < value->rank && assay__name_like_sequence(value->dims[axis].symbol);
}

/* The size of the open axis of an input beside the batch; -1: it has none. */
static int64_t open_size(const struct assay__model *model, const struct assay__input_plan *plan)
{
    const struct assay__value *value = stated(model, plan->name);
    int batch = assay__inputs_batch_axis(model, plan->name);
    for (int i = 0; value && i < value->rank && i < plan->rank; i++)
        if (value->dims[i].value < 0 && i != batch &&
            !assay__name_has(value->dims[i].symbol, "batch"))
            return plan->dims[i];
    return -1;
}

/* What "waves_len" says of "waves"; else the length of the sequence, or of the first open axis. */
static int64_t length_of(const struct assay__model *model, const struct assay__workload *workload,
                         const struct assay__input_plan *plan)
{
    int64_t first = -1;
    for (size_t i = 0; i < workload->input_count; i++) {
        const struct assay__input_plan *other = &workload->inputs[i];
        int64_t size = other != plan ? open_size(model, other) : -1;
        if (size < 1) continue;
        if (strncmp(plan->name, other->name, strlen(other->name)) == 0) return size;
        if (first < 0) first = size;
    }
    return workload->sequence > 0 ? workload->sequence : first > 0 ? first : 1;
}

static void decide_integer(struct tracer *tracer, const struct assay__workload *workload,
                           struct assay__input_plan *plan, const struct finding *finding)
{
    double low, high;
    const char *name = plan->name;
    int64_t elements = assay__input_elements(plan);
    integer_range(plan->dtype, &low, &high);
    if (finding->length >= 0) {
        choose(
            plan, ASSAY__FILL_CONSTANT, (double)finding->length, 0,
            assay__arena_printf(tracer->arena, "the length of its axis (%s)", finding->length_op));
    } else if (finding->trip_count) {
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "the number of iterations of a Loop");
    } else if (finding->operand && finding->operand->value < (double)finding->bound) {
        decide_operand(plan, finding);
    } else if (finding->bound != INT64_MAX) {
        decide_bounded(tracer, plan, finding);
    } else if (finding->compared && elements > 1 &&
               finding->compared_last > finding->compared_with) {
        choose(plan, ASSAY__FILL_INTEGERS, (double)finding->compared_with,
               (double)finding->compared_last, "what the graph compares it to");
    } else if (finding->compared && elements == 1) {
        choose(plan, ASSAY__FILL_CONSTANT, (double)finding->compared_with, 0,
               "what the graph compares it to");
    } else if (assay__name_has(name, "mask")) {
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "a mask that masks nothing");
    } else if (finding->least > 0) {
        double least = (double)finding->least;
        bool small = assay__dtype_bits(plan->dtype) <= 8;
        choose(plan, ASSAY__FILL_INTEGERS, least, small ? fmax(high, least) : least + 7,
               "used as a divisor");
    } else if (assay__name_has(name, "token_type") || assay__name_has(name, "segment")) {
        choose(plan, ASSAY__FILL_CONSTANT, 0, 0, "one segment");
    } else if (assay__name_has(name, "position")) {
        choose(plan, ASSAY__FILL_RANGE, 0, 0, "positions");
    } else if (assay__name_has(name, "length") || assay__name_has(name, "_len")) {
        choose(plan, ASSAY__FILL_CONSTANT, (double)length_of(tracer->model, workload, plan), 0,
               "the sequence length, judging by its name");
    } else if (assay__name_like_rate(name)) {
        choose(plan, ASSAY__FILL_CONSTANT, 16000, 0, "a sampling rate, judging by its name");
    } else if (high > 1) {
        choose(plan, ASSAY__FILL_INTEGERS, low, high, "any value of its type");
    } else {
        choose(plan, ASSAY__FILL_INTEGERS, 0, 1, "the graph gives no further hint");
    }
}

static void decide_float(struct tracer *tracer, struct assay__input_plan *plan,
                         const struct finding *finding)
{
    const char *name = plan->name;
    bool span = assay__name_has(name, "timespan") || assay__name_has(name, "elapsed") ||
                strcmp(name, "dt") == 0 || strcmp(name, "ts") == 0;
    if (finding->bound != INT64_MAX)
        decide_bounded(tracer, plan, finding);
    else if (finding->operand)
        decide_operand(plan, finding);
    else if (plan->dtype == ASSAY__FLOAT8E8M0)
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "a scale");
    else if (assay__name_has(name, "mask"))
        choose(plan, ASSAY__FILL_CONSTANT, 1, 1, "a mask that masks nothing");
    else if (span)
        choose(plan, ASSAY__FILL_UNIFORM, 0.5, 1.5, "a time span");
    else if (finding->least > 0)
        choose(plan, ASSAY__FILL_UNIFORM, (double)finding->least, (double)finding->least + 7,
               "used as an integer divisor");
    else if (assay__setting_choose(&finding->setting, plan, tracer->arena))
        return;
    else if (finding->positive)
        choose(plan, ASSAY__FILL_UNIFORM, 0.1, 1,
               "input of a root, logarithm, reciprocal or power");
    else
        choose(plan, ASSAY__FILL_UNIFORM, -1, 1, "");
}

static int decide(struct tracer *tracer, struct assay__workload *workload, size_t index,
                  struct assay_error *error)
{
    struct assay__input_plan *plan = &workload->inputs[index];
    struct finding finding;
    int code = trace(tracer, plan, &finding);
    if (code) return code;
    const struct assay__value *value = stated(tracer->model, plan->name);
    workload->has_images |= value && assay__guess_is_image(value, plan->dims, plan->rank);
    if (workload->batch < 0 && plan->rank >= 2) {
        /* By convention the first axis is the batch; recurrent cells have time first, then the
         * batch. */
        bool second = finding.time_major ||
                      assay__inputs_batch_axis(tracer->model, plan->name) == 1;
        if (!is_time(tracer->model, plan->name, second))
            workload->batch = plan->dims[second ? 1 : 0];
        if (finding.time_major && workload->sequence < 0) workload->sequence = plan->dims[0];
    }
    bool ids = finding.bound != INT64_MAX && finding.bound > 2 && plan->rank >= 2 &&
               is_integer(plan->dtype) && !assay__name_has(plan->name, "position");
    if (ids) {
        workload->has_tokens = true;
        if (workload->sequence < 0) workload->sequence = plan->dims[1];
    }
    if (plan->given || (plan->fill == ASSAY__FILL_FILE && *plan->file)) return 0;
    bool open = finding.shape_node && plan->dtype != ASSAY__STRING && plan->dtype != ASSAY__BOOL;
    if (open && tracer->lenient) return 0;
    if (open)
        return assay_error_set(error, ASSAY_EINVAL,
                               "input '%.100s' determines a shape (%.40s '%.100s'): its value "
                               "cannot be guessed; give it as a number or a .npy file",
                               plan->name, finding.shape_node->op, finding.shape_node->name);
    if (plan->dtype == ASSAY__STRING)
        choose(plan, ASSAY__FILL_STRINGS, 0, 0, "");
    else if (plan->dtype == ASSAY__BOOL)
        decide_bool(plan, &finding);
    else if (is_integer(plan->dtype))
        decide_integer(tracer, workload, plan, &finding);
    else
        decide_float(tracer, plan, &finding);
    return plan->why ? 0 : ASSAY_ENOMEM;
}

int assay__inputs_values(const struct assay__model *model, struct assay__workload *workload,
                         const struct assay__workload_options *options, struct assay_error *error)
{
    bool any = !options->shapes_only; /* else most models need none of this */
    for (size_t i = 0; i < workload->input_count; i++)
        any = any || assay__input_is_list(&workload->inputs[i]);
    if (!any) return 0;
    struct tracer tracer = {.model = model,
                            .arena = workload->arena,
                            .lenient = options->shapes_only,
                            .heads = assay__map_new(),
                            .tensors = assay__map_new()};
    struct assay__value *values = NULL;
    int code = tracer.heads && tracer.tensors ? 0 : ASSAY_ENOMEM;
    /* the shapes of everything, with the inputs as currently fixed */
    if (!code)
        code = assay__workload_values(workload->inputs, workload->input_count, workload->arena,
                                      &values);
    if (!code)
        code = assay__shapes_infer(model, values, workload->input_count, &tracer.shapes, error);
    if (!code) code = index_graph(&tracer, &model->graph, 0);
    for (size_t i = 0; i < workload->input_count && !code; i++) {
        workload->inputs[i].seed = options->seed + 0x9e3779b97f4a7c15u * (i + 1);
        if (options->shapes_only && !assay__input_is_list(&workload->inputs[i])) continue;
        code = decide(&tracer, workload, i, error);
    }
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    assay__shapes_free(tracer.shapes);
    assay__map_free(tracer.heads);
    assay__map_free(tracer.tensors);
    free(tracer.uses);
    free(tracer.constants);
    return code;
}
