/* rewrite_float16.c - float32 to float16.
 *
 * Every float32 value of the model may exist in two forms, full (float32) and half (float16). Nodes
 * are processed in order: one that may be computed in float16 (rewrite_half.c) requests the half
 * form of its float inputs and produces the half form of its outputs; any other requests and
 * produces full forms. A requested form that does not exist yet is created by one Cast in the graph
 * that the value belongs to or, for a constant, by converting its numbers. So an unknown model
 * stays correct: an operator without a row, or with an input of unknown type, is not changed. If
 * only one form of a value was needed, it has the value's own name.
 *
 * Graph inputs and outputs keep float32. So do values that enter or leave a body (If, Loop, Scan).
 *
 * Three things stay float32 although their operator could be converted:
 *   - what reads a constant beyond 65,504 (float16's largest), and what follows from it up to an
 *     operator whose result is bounded: an attention mask of -3.4e38 is added and goes through
 *     Softmax in float32, and no row of it becomes NaN;
 *   - what the argument of Sin, Cos or Tan is calculated with, up to ANGLE_DEPTH operators back
 *     (positions times frequencies);
 *   - what makes or reads a value that the caller has seen to be beyond the range
 *     (run/activation_range.h): those alone, because what was seen of the values after them says
 *     that they fit.
 *
 * The first failure is sticky, in `code` or in the model: loops check `stopped`. */
#include "model/rewrite/rewrite_graph.h"
#include "model/tensor_data.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF_OVERFLOW 65520.0f /* from here on rounding results in infinity */
#define HALF_SMALLEST_NORMAL 6.103515625e-05f
#define ANGLE_DEPTH 8

struct half_value {
    struct half_scope *scope;
    const char *name;
    enum assay__dtype dtype;            /* of the original */
    const char *full, *half;            /* names of its forms; NULL: none */
    const struct assay__tensor *tensor; /* a constant */
    const struct assay__node *constant; /* whose node was not emitted yet */
    bool own_half;                      /* the half form's name is ours: it may become `name` */
    bool kept;                          /* a constant: the full form is used */
    bool scanned, large; /* beyond float16's range; for a result: computed from such a value */
};

struct half_scope {
    struct half_rewrite *work;
    struct half_scope *outer;
    struct assay__graph *graph, fresh; /* fresh: the new nodes and initializers */
    const struct assay__shapes *shapes;
    struct assay__map *names; /* name -> index into values */
    struct half_value *values;
    size_t count, capacity;
    struct assay__map *angles; /* node outputs that must be computed in float32 */
};

struct half_rewrite {
    struct assay__model *model;
    struct assay__namer namer;
    struct assay__map *renames; /* half name -> index into originals */
    const char **originals;
    size_t original_count, original_capacity;
    int64_t opset;
    const struct assay__map *seen_large; /* values seen to be beyond the range; NULL: none */
    size_t nodes, converted, casts, weights, large_weights, large_nodes, angle_nodes, seen_nodes;
    double seen_largest;
    int64_t tiny, zeroed; /* numbers that become denormal, zero */
    size_t weight_bytes;
    const char *large_name;
    struct half_value spare; /* used for definitions after memory has run out */
    int code;                /* the first failure that is not one of the model's edits */
    struct assay_error *error;
};

static bool stopped(const struct half_rewrite *work)
{
    return work->code || work->model->failed;
}

static void convert_graph(struct half_rewrite *work, struct half_scope *outer,
                          struct assay__graph *graph, const struct assay__shapes *shapes);

/* --- values ----------------------------------------------------------------------------------- */

/* The value of that name in this scope or the nearest enclosing one; NULL: none. */
static struct half_value *find(struct half_scope *scope, const char *name)
{
    for (; scope && *name; scope = scope->outer) {
        size_t at = assay__map_get(scope->names, name);
        if (at != ASSAY__MAP_NONE) return &scope->values[at];
    }
    return NULL;
}

static struct half_value *define(struct half_scope *scope, const char *name,
                                 enum assay__dtype dtype)
{
    bool failed = assay__vec_grow((void **)&scope->values, &scope->capacity, scope->count + 1,
                                  sizeof *scope->values) ||
                  assay__map_set(scope->names, name, scope->count);
    struct half_value *value = failed ? &scope->work->spare : &scope->values[scope->count++];
    scope->work->model->failed |= failed;
    *value = (struct half_value){.scope = scope, .name = name, .dtype = dtype, .full = name};
    return value;
}

static enum assay__dtype listed_type(const struct assay__value *values, size_t count,
                                     const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == ASSAY__KIND_TENSOR && strcmp(values[i].name, name) == 0)
            return values[i].dtype;
    return ASSAY__UNDEFINED;
}

static enum assay__dtype type_of(const struct half_scope *scope, const char *name)
{
    const struct assay__graph *graph = scope->graph;
    const struct assay__shape_entry *entry = scope->shapes ? assay__shapes_get(scope->shapes, name)
                                                           : NULL;
    if (entry && entry->dtype) return entry->dtype;
    enum assay__dtype listed = listed_type(graph->values, graph->value_count, name);
    return listed ? listed : listed_type(graph->outputs, graph->output_count, name);
}

/* --- constants -------------------------------------------------------------------------------- */

/* Whether a constant contains a number beyond float16's range. Checked once. */
static void scan(struct half_rewrite *work, struct half_value *value)
{
    struct assay__tensor_view view = {0};
    if (value->scanned || !value->tensor) return;
    value->scanned = true;
    int code = assay__tensor_open(work->model, value->tensor, &view, work->error);
    if (code) work->code = code;
    for (size_t i = 0; !code && i + 4 <= view.size && !value->large; i += 4) {
        float number;
        memcpy(&number, view.data + i, 4);
        value->large = fabsf(number) >= HALF_OVERFLOW && !isinf(number);
    }
    work->large_weights += value->large;
    if (value->large && !work->large_name) work->large_name = value->name;
    assay__tensor_close(&view);
}

/* Counts what becomes denormal or 0. */
static uint16_t to_half(struct half_rewrite *work, float number)
{
    uint16_t half = assay__float_to_half(number);
    if (number != 0 && fabsf(number) < HALF_SMALLEST_NORMAL)
        half & 0x7fff ? work->tiny++ : work->zeroed++;
    return half;
}

static void make_half_constant(struct half_value *value)
{
    struct half_rewrite *work = value->scope->work;
    struct assay__tensor_view view = {0};
    const struct assay__tensor *tensor = value->tensor;
    size_t count = (size_t)tensor->elements;
    int code = assay__tensor_open(work->model, tensor, &view, work->error);
    uint16_t *data = code ? NULL : assay__arena_array(work->model->arena, count, sizeof *data);
    for (size_t i = 0; data && i < count && 4 * (i + 1) <= view.size; i++) {
        float number;
        memcpy(&number, view.data + 4 * i, 4);
        /* An epsilon of 1e-12 must not become 0: it guards a division by 0. */
        if (count == 1 && number != 0 && !(assay__float_to_half(number) & 0x7fff)) {
            data[i] = assay__float_to_half(number) | 1;
            work->tiny++;
        } else {
            data[i] = to_half(work, number);
        }
    }
    assay__tensor_close(&view);
    if (code) work->code = code;
    work->model->failed |= !code && !data;
    if (!data) return;
    value->half = assay__namer_make(&work->namer, value->name, "_f16");
    value->own_half = true;
    assay__graph_add_initializer(work->model, &value->scope->fresh, value->half, ASSAY__FLOAT16,
                                 tensor->rank, tensor->dims, data, count * sizeof *data);
    work->weights++;
    work->weight_bytes += count * sizeof *data;
}

/* --- forms ------------------------------------------------------------------------------------ */

static void add_cast(struct half_scope *scope, const char *from, const char *to,
                     enum assay__dtype dtype)
{
    struct half_rewrite *work = scope->work;
    const char *name = assay__namer_make(&work->namer, to, "_cast");
    struct assay__node *node = assay__graph_add_node(work->model, &scope->fresh, "Cast", name,
                                                     &from, 1, &to, 1);
    assay__node_set_int(work->model, node, "to", (int64_t)dtype);
    work->casts++;
}

enum form { FORM_FULL, FORM_HALF, FORM_ANY };

/* The name to read for `name` in that form. A name without a definition (sparse initializers) is
 * read as it is. */
static const char *form_name(struct half_scope *scope, const char *name, enum form form)
{
    struct half_value *value = find(scope, name);
    if (!value) return name;
    struct half_rewrite *work = scope->work;
    if (value->dtype != ASSAY__FLOAT32) form = FORM_FULL;
    if (form == FORM_ANY) form = value->full || value->constant ? FORM_FULL : FORM_HALF;
    if (form == FORM_HALF) {
        if (!value->half && value->tensor) {
            make_half_constant(value);
        } else if (!value->half) {
            value->half = assay__namer_make(&work->namer, value->name, "_f16");
            value->own_half = true;
            add_cast(value->scope, value->full, value->half, ASSAY__FLOAT16);
        }
        return value->half ? value->half : "";
    }
    value->kept = true;
    if (value->constant) {
        assay__graph_push_node(work->model, &value->scope->fresh, value->constant);
        value->constant = NULL;
    } else if (!value->full) {
        add_cast(value->scope, value->half, value->name, ASSAY__FLOAT32);
    }
    return value->full = value->full ? value->full : value->name;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static bool masked(unsigned mask, size_t i)
{
    return i < 32 ? mask >> i & 1 : mask == 0xffffffffu;
}

/* Whether this node may be computed in float16. *large: it reads a value that is too large for
 * that. */
static bool fits_half(struct half_scope *scope, const struct assay__node *node,
                      const struct assay__half_row *row, bool *large)
{
    bool some = false, unknown = false;
    *large = false;
    for (size_t i = 0; i < node->input_count; i++) {
        if (!*node->inputs[i]) continue;
        struct half_value *value = find(scope, node->inputs[i]);
        if (value && value->dtype == ASSAY__FLOAT32) {
            scan(scope->work, value);
            /* A bound of Clip beyond the range has no effect: infinity means the same. */
            *large |= value->large && !(i > 0 && value->tensor && assay__node_is(node, "Clip"));
        }
        if (!row || !masked(row->inputs, i)) continue;
        unknown |= !value || value->dtype == ASSAY__UNDEFINED;
        some |= value && value->dtype == ASSAY__FLOAT32;
    }
    /* An integer to the power of a float is an integer. */
    for (size_t i = 0; row && i < node->output_count; i++) {
        enum assay__dtype dtype = *node->outputs[i] ? type_of(scope, node->outputs[i])
                                                    : ASSAY__UNDEFINED;
        if (masked(row->outputs, i) && dtype && dtype != ASSAY__FLOAT32) unknown = true;
    }
    return row && some && !unknown && !*large;
}

static bool any_in(const struct assay__map *map, const char **names, size_t count)
{
    for (size_t i = 0; map && i < count; i++)
        if (*names[i] && assay__map_has(map, names[i])) return true;
    return false;
}

static bool is_angle(const struct half_scope *scope, const struct assay__node *node)
{
    return any_in(scope->angles, node->outputs, node->output_count);
}

static void rename_inputs(struct half_scope *scope, struct assay__node *node,
                          const struct assay__half_row *row, enum form form)
{
    struct assay__model *model = scope->work->model;
    const char **inputs = assay__arena_array(model->arena, node->input_count, sizeof *inputs);
    model->failed |= !inputs;
    for (size_t i = 0; inputs && i < node->input_count; i++)
        inputs[i] = form_name(scope, node->inputs[i],
                              form == FORM_HALF && !masked(row->inputs, i) ? FORM_FULL : form);
    if (inputs) node->inputs = inputs;
}

/* Left in float32. Shape and the like read whichever form exists. */
static void keep_node(struct half_scope *scope, struct assay__node *node, bool large)
{
    bool any = assay__node_is_any(node, "Shape Size Cast");
    struct assay__graph *body;
    rename_inputs(scope, node, NULL, any ? FORM_ANY : FORM_FULL);
    for (size_t k = 0; !stopped(scope->work) && (body = assay__node_body(node, k)); k++)
        convert_graph(scope->work, scope, body,
                      scope->shapes ? assay__shapes_body(scope->shapes, body) : NULL);
    for (size_t i = 0; i < node->output_count; i++) {
        if (!*node->outputs[i]) continue;
        struct half_value *value = define(scope, node->outputs[i],
                                          type_of(scope, node->outputs[i]));
        value->large = large;
        value->scanned = true;
    }
    assay__graph_push_node(scope->work->model, &scope->fresh, node);
}

static void convert_node(struct half_scope *scope, struct assay__node *node,
                         const struct assay__half_row *row)
{
    struct half_rewrite *work = scope->work;
    const char **outputs = assay__arena_array(work->model->arena, node->output_count,
                                              sizeof *outputs);
    rename_inputs(scope, node, row, FORM_HALF);
    work->model->failed |= !outputs;
    for (size_t i = 0; outputs && i < node->output_count; i++) {
        const char *name = outputs[i] = node->outputs[i];
        bool half = masked(row->outputs, i);
        if (!*name) continue;
        struct half_value *value = define(scope, name,
                                          half ? ASSAY__FLOAT32 : type_of(scope, name));
        value->scanned = true;
        if (!half) continue;
        value->full = NULL;
        value->half = outputs[i] = assay__namer_make(&work->namer, name, "_f16");
        value->own_half = true;
    }
    if (outputs) node->outputs = outputs;
    work->converted++;
    assay__graph_push_node(work->model, &scope->fresh, node);
}

/* A Constant becomes a value with numbers; its node is emitted when the full form is requested. */
static void take_constant(struct half_scope *scope, struct assay__node *node)
{
    const struct assay__tensor *tensor = assay__node_constant(node);
    const struct assay__attr *one = assay__node_attr(node, "value_float"),
                             *many = assay__node_attr(node, "value_floats");
    if (!tensor && (one || many)) {
        int64_t count = many ? (int64_t)many->count : 1;
        assay__rewrite_set_tensor(scope->work->model, node, "value", ASSAY__FLOAT32, many ? 1 : 0,
                                  &count, many ? many->floats : &one->f,
                                  (size_t)count * sizeof(float));
        assay__node_remove_attr(node, "value_float");
        assay__node_remove_attr(node, "value_floats");
        tensor = assay__node_constant(node);
    }
    if (!tensor || tensor->dtype != ASSAY__FLOAT32) {
        keep_node(scope, node, false);
        return;
    }
    struct half_value *value = define(scope, node->outputs[0], ASSAY__FLOAT32);
    value->tensor = tensor;
    value->constant = node;
    value->full = NULL;
}

/* ConstantOfShape. */
static void take_filled(struct half_scope *scope, struct assay__node *node)
{
    static const struct assay__half_row row = {"ConstantOfShape", "", 9, 0, 1, false};
    const struct assay__attr *attr = assay__node_attr(node, "value");
    const struct assay__tensor *tensor = attr ? attr->t : NULL;
    bool other = tensor &&
                 (tensor->dtype != ASSAY__FLOAT32 || tensor->data_size != 4 || !tensor->data);
    float number = 0;
    int64_t one = 1;
    if (tensor && !other) memcpy(&number, tensor->data, 4);
    bool large = fabsf(number) >= HALF_OVERFLOW && !isinf(number);
    if (other || large) {
        keep_node(scope, node, large);
        return;
    }
    uint16_t half = to_half(scope->work, number);
    assay__rewrite_set_tensor(scope->work->model, node, "value", ASSAY__FLOAT16, 1, &one, &half, 2);
    convert_node(scope, node, &row);
}

/* A Cast to float32 of a value that is already float16: the two forms of one value, without a
 * node. */
static bool take_cast(struct half_scope *scope, const struct assay__node *node)
{
    const struct half_value *from = find(scope, node->inputs[0]);
    if (!from || assay__node_int(node, "to", 0) != ASSAY__FLOAT32 || from->dtype != ASSAY__FLOAT16)
        return false;
    const char *half = from->full;
    struct half_value *value = define(scope, node->outputs[0], ASSAY__FLOAT32);
    value->scanned = true;
    value->full = NULL;
    value->half = half;
    return true;
}

static void take_node(struct half_scope *scope, struct assay__node *node)
{
    struct half_rewrite *work = scope->work;
    const struct assay__half_row *row = assay__half_find(node, work->opset);
    bool single = node->output_count == 1, large;
    work->nodes++;
    if (single && assay__node_is(node, "Constant")) {
        take_constant(scope, node);
        return;
    }
    if (single && assay__node_is(node, "ConstantOfShape") && !is_angle(scope, node)) {
        take_filled(scope, node);
        return;
    }
    if (single && assay__node_is(node, "Cast") && node->input_count == 1 && take_cast(scope, node))
        return;
    bool fits = fits_half(scope, node, row, &large), angle = fits && is_angle(scope, node);
    bool seen = fits && !angle &&
                (any_in(work->seen_large, node->inputs, node->input_count) ||
                 any_in(work->seen_large, node->outputs, node->output_count));
    work->angle_nodes += angle;
    work->seen_nodes += seen;
    work->large_nodes += row && large;
    if (fits && !angle && !seen)
        convert_node(scope, node, row);
    else
        keep_node(scope, node, large && !(row && row->bounded));
}

/* --- angles ----------------------------------------------------------------------------------- */

/* Marks the producer of `name` and its inputs, as long as operators only pass on or combine
 * angles. */
static int mark_angle(struct half_scope *scope, struct assay__map *producers, const char *name,
                      int depth)
{
    static const char carriers[] =
        "Mul Add Sub Div MatMul Einsum Concat Reshape Transpose Unsqueeze Expand Squeeze Cast "
        "Gather Slice Tile Identity Neg Where Flatten Split Reciprocal";
    size_t at = assay__map_get(producers, name);
    if (at == ASSAY__MAP_NONE || depth == 0) return 0;
    const struct assay__node *node = &scope->graph->nodes[at];
    if (!assay__node_is_any(node, carriers) || assay__map_has(scope->angles, name)) return 0;
    int code = assay__map_set(scope->angles, name, 1);
    for (size_t i = 0; i < node->input_count && !code; i++)
        code = mark_angle(scope, producers, node->inputs[i], depth - 1);
    return code;
}

/* --- graphs ----------------------------------------------------------------------------------- */

/* Defines the graph's inputs and initializers, and marks its angles. */
static void open_scope(struct half_scope *scope)
{
    struct assay__graph *graph = scope->graph;
    struct assay__map *producers = assay__map_new();
    int code = 0;
    scope->names = assay__map_new();
    scope->angles = assay__map_new();
    scope->work->model->failed |= !scope->names || !scope->angles || !producers;
    for (size_t i = 0; i < graph->input_count && !stopped(scope->work); i++) {
        const struct assay__value *input = &graph->inputs[i];
        bool tensor = input->kind == ASSAY__KIND_TENSOR;
        enum assay__dtype dtype = tensor && input->dtype ? input->dtype
                                  : tensor               ? type_of(scope, input->name)
                                                         : ASSAY__UNDEFINED;
        define(scope, input->name, dtype)->scanned = true;
    }
    for (size_t i = 0; i < graph->initializer_count && !stopped(scope->work); i++) {
        const struct assay__tensor *tensor = &graph->initializers[i];
        struct half_value *value = define(scope, tensor->name, tensor->dtype);
        if (tensor->dtype == ASSAY__FLOAT32 && tensor->nonzeros < 0) value->tensor = tensor;
    }
    for (size_t i = 0; i < graph->node_count && !stopped(scope->work) && !code; i++)
        for (size_t k = 0; k < graph->nodes[i].output_count && !code; k++)
            code = assay__map_set(producers, graph->nodes[i].outputs[k], i);
    for (size_t i = 0; i < graph->node_count && !stopped(scope->work) && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool angle = assay__node_is_any(node, "Sin Cos Tan");
        if (angle && node->input_count)
            code = mark_angle(scope, producers, node->inputs[0], ANGLE_DEPTH);
    }
    assay__map_free(producers);
    scope->work->model->failed |= code != 0;
}

static void close_scope(struct half_scope *scope)
{
    struct half_rewrite *work = scope->work;
    struct assay__graph *graph = scope->graph;
    for (size_t i = 0; i < graph->output_count; i++)
        form_name(scope, graph->outputs[i].name, FORM_FULL);
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const struct half_value *value = find(scope, graph->initializers[i].name);
        if (value && value->half && !value->kept)
            assay__graph_drop_input(graph, value->name);
        else
            assay__graph_push_tensor(work->model, &scope->fresh, &graph->initializers[i]);
    }
    /* what was needed in only one form gets the value's own name */
    for (size_t i = 0; i < scope->count && !stopped(work); i++) {
        const struct half_value *value = &scope->values[i];
        bool alone = value->tensor ? !value->kept : !value->full;
        if (!value->own_half || !alone) continue;
        if (assay__vec_grow((void **)&work->originals, &work->original_capacity,
                            work->original_count + 1, sizeof *work->originals) ||
            assay__map_set(work->renames, value->half, work->original_count))
            work->model->failed = true;
        else
            work->originals[work->original_count++] = value->name;
    }
    if (stopped(work)) return;
    assay__graph_take_nodes(graph, &scope->fresh);
    graph->initializers = scope->fresh.initializers;
    graph->initializer_count = scope->fresh.initializer_count;
    graph->initializer_capacity = scope->fresh.initializer_capacity;
}

static void convert_graph(struct half_rewrite *work, struct half_scope *outer,
                          struct assay__graph *graph, const struct assay__shapes *shapes)
{
    struct half_scope scope = {.work = work, .outer = outer, .graph = graph, .shapes = shapes};
    size_t *order = malloc((graph->node_count + 1) * sizeof *order);
    work->model->failed |= !order;
    if (order) work->code = assay__graph_order(graph, order, work->error);
    if (!stopped(work)) open_scope(&scope);
    for (size_t i = 0; i < graph->node_count && !stopped(work); i++)
        take_node(&scope, &graph->nodes[order[i]]);
    if (!stopped(work)) close_scope(&scope);
    free(order);
    free(scope.values);
    assay__map_free(scope.names);
    assay__map_free(scope.angles);
}

static void rename_all(const struct half_rewrite *work, const char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = assay__map_get(work->renames, names[i]);
        if (at != ASSAY__MAP_NONE) names[i] = work->originals[at];
    }
}

static int apply_renames(void *context, struct assay__graph *graph)
{
    for (size_t i = 0; i < graph->initializer_count; i++)
        rename_all(context, &graph->initializers[i].name, 1);
    for (size_t i = 0; i < graph->node_count; i++) {
        rename_all(context, graph->nodes[i].inputs, graph->nodes[i].input_count);
        rename_all(context, graph->nodes[i].outputs, graph->nodes[i].output_count);
    }
    return 0;
}

static void note_result(const struct half_rewrite *work, struct assay__rewrite_notes *notes)
{
    if (!work->converted && !work->seen_nodes) {
        assay__rewrite_note(
            notes, "nothing to convert: no operator that supports float16 works on float32");
        return;
    }
    assay__rewrite_note(
        notes, "%zu of %zu operators in float16, %zu weights (%zu bytes), %zu Casts",
        work->converted, work->nodes, work->weights, work->weight_bytes, work->casts);
    if (work->large_weights)
        assay__rewrite_note(notes,
                            "%zu constants exceed the float16 maximum of %g (first '%.80s'): they "
                            "and %zu operators after them stay float32",
                            work->large_weights, ASSAY__HALF_LARGEST, work->large_name,
                            work->large_nodes);
    if (work->seen_nodes)
        assay__rewrite_note(notes,
                            "kept %zu operators in float32: their values reach %.2g on these "
                            "inputs; the maximum of float16 is %.0f",
                            work->seen_nodes, work->seen_largest, ASSAY__HALF_LARGEST);
    if (work->angle_nodes)
        assay__rewrite_note(notes, "%zu operators that compute angles stay float32",
                            work->angle_nodes);
    if (work->tiny || work->zeroed)
        assay__rewrite_note(notes,
                            "%lld weight values are below the smallest normal float16 (6.1e-5): "
                            "%lld of them become 0",
                            (long long)(work->tiny + work->zeroed), (long long)work->zeroed);
}

int assay__rewrite_float16(struct assay__model *model, struct assay__rewrite_notes *notes,
                           struct assay_error *error)
{
    return assay__rewrite_float16_within(model, NULL, 0, notes, error);
}

int assay__rewrite_float16_within(struct assay__model *model, const struct assay__map *large,
                                  double largest, struct assay__rewrite_notes *notes,
                                  struct assay_error *error)
{
    struct half_rewrite work = {
        .model = model, .seen_large = large, .seen_largest = largest, .error = error};
    struct assay__shapes *shapes = NULL;
    int code = assay__rewrite_begin(model, true, notes, error);
    if (code) return code;
    work.opset = assay__model_opset(model, "");
    if (!work.opset) work.opset = assay__model_opset(model, "ai.onnx");
    work.renames = assay__map_new();
    if (!work.renames) return assay__rewrite_no_memory(error);
    code = assay__namer_open(&work.namer, model, error);
    /* Only types: if shapes contradict each other, the model's own statements are sufficient. */
    struct assay_error ignored = {0};
    if (!code && assay__shapes_infer(model, NULL, 0, &shapes, &ignored)) shapes = NULL;
    if (!code) convert_graph(&work, NULL, &model->graph, shapes);
    if (!code) code = assay__rewrite_end(model, work.code, error);
    if (!code) {
        assay__rewrite_each_graph(&model->graph, apply_renames, &work);
        assay__rewrite_drop_values(model);
        note_result(&work, notes);
    }
    assay__shapes_free(shapes);
    assay__namer_close(&work.namer);
    assay__map_free(work.renames);
    free(work.originals);
    return code;
}

static int apply_float16(struct assay__model *model, const struct assay__rewrite_request *request,
                         struct assay__rewrite_notes *notes, struct assay_error *error)
{
    return assay__rewrite_float16_within(model, request->large, request->largest, notes, error);
}

const struct assay__rewriter assay__rewriter_float16 = {
    .step = "float16",
    .drift_note = "the CPU engine computes float16 in float32 internally and may skip rounding "
                  "between operators: this drift shows the rounding of weights and stored values, "
                  "not of every operation",
    .needs_ranges = true,
    .apply = apply_float16,
};
