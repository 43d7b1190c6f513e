/* rewrite_float16.c - float32 to float16.
 *
 * Every float32 value of the model may exist in two forms, full (float32) and half (float16). Nodes
 * are taken in order: one that may be calculated in float16 (rewrite_half.c) asks for the half form
 * of its float inputs and makes the half form of its outputs; any other asks for full forms and
 * makes full forms. A form that is asked for and not there yet is made by one Cast in the graph
 * where the value belongs, or, for a constant, by converting its numbers. So a model of which
 * nothing is known stays correct: an operator without a row, or with an input of unknown type, is
 * left alone.
 *
 * Graph inputs and outputs keep float32. So does what crosses the border of a body (If, Loop,
 * Scan).
 *
 * Three things stay float32 although their operator could be converted:
 *   - what reads a constant beyond 65,504 (float16's largest), and what follows from it up to an
 *     operator whose result is
 *     bounded: an attention mask of -3.4e38 is added and goes through Softmax in float32, and no
 *       row of it becomes NaN;
 *   - what the argument of Sin, Cos or Tan is calculated with, up to ANGLE_DEPTH operators back
 *     (positions times
 *     frequencies);
 *   - what makes or reads a value that the caller has seen to be beyond the range
 *     (run/activation_range.h): those alone, because
 *     what was seen of the values after them says that they fit.
 * When only one form of a value was needed it has the value's own name. */
#include "model/rewrite/rewrite_half.h"
#include "model/rewrite/rewrite_graph.h"
#include "model/tensor_data.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF_LARGEST 65504.0f
#define HALF_OVERFLOW 65520.0f /* from here on rounding gives infinity */
#define HALF_SMALLEST_NORMAL 6.103515625e-05f
#define ANGLE_DEPTH 8

struct half_value {
    const char *name;
    enum assay__dtype dtype;            /* of the original */
    const char *full, *half;            /* names of its forms; NULL: not there */
    const struct assay__tensor *tensor; /* a constant */
    const struct assay__node *constant; /* whose node was not emitted yet */
    bool own_half;                      /* the half form's name is ours: it may become `name` */
    bool kept;                          /* a constant: the full form is used */
    bool scanned, large; /* beyond float16's range; for a result: follows from such a thing */
};

struct half_scope {
    struct half_scope *outer;
    struct assay__graph *graph, fresh; /* fresh: the new nodes and initializers */
    const struct assay__shapes *shapes;
    struct assay__map *names; /* name -> index into values */
    struct half_value *values;
    size_t count, capacity;
    struct assay__map *angles; /* node outputs that must be calculated in float32 */
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
    struct assay_error *error;
};

static int convert_graph(struct half_rewrite *rewrite, struct half_scope *outer,
                         struct assay__graph *graph, const struct assay__shapes *shapes);

/* --- values ----------------------------------------------------------------------------------- */

static struct half_value *own(struct half_scope *scope, const char *name)
{
    size_t at = assay__map_get(scope->names, name);
    return at == ASSAY__MAP_NONE ? NULL : &scope->values[at];
}

/* The scope a name belongs to, and its value there. */
static struct half_value *find(struct half_scope *scope, const char *name,
                               struct half_scope **where)
{
    for (; scope; scope = scope->outer) {
        struct half_value *value = own(scope, name);
        if (value) {
            *where = scope;
            return value;
        }
    }
    return NULL;
}

static struct half_value *define(struct half_rewrite *rewrite, struct half_scope *scope,
                                 const char *name, enum assay__dtype dtype)
{
    if (assay__vec_grow((void **)&scope->values, &scope->capacity, scope->count + 1,
                        sizeof *scope->values) ||
        assay__map_set(scope->names, name, scope->count)) {
        assay__rewrite_no_memory(rewrite->error);
        return NULL;
    }
    struct half_value *value = &scope->values[scope->count++];
    *value = (struct half_value){.name = name, .dtype = dtype, .full = name};
    return value;
}

static enum assay__dtype type_of(const struct half_scope *scope, const char *name)
{
    const struct assay__graph *graph = scope->graph;
    const struct assay__shape_entry *entry = scope->shapes ? assay__shapes_get(scope->shapes, name)
                                                           : NULL;
    if (entry && entry->dtype) return entry->dtype;
    for (size_t i = 0; i < graph->value_count; i++)
        if (graph->values[i].kind == ASSAY__KIND_TENSOR && strcmp(graph->values[i].name, name) == 0)
            return graph->values[i].dtype;
    for (size_t i = 0; i < graph->output_count; i++)
        if (graph->outputs[i].kind == ASSAY__KIND_TENSOR &&
            strcmp(graph->outputs[i].name, name) == 0)
            return graph->outputs[i].dtype;
    return ASSAY__UNDEFINED;
}

/* --- constants -------------------------------------------------------------------------------- */

static int scan(struct half_rewrite *rewrite, struct half_value *value)
{
    struct assay__tensor_view view = {0};
    if (value->scanned || !value->tensor) return 0;
    value->scanned = true;
    int code = assay__tensor_open(rewrite->model, value->tensor, &view, rewrite->error);
    for (size_t i = 0; !code && i + 4 <= view.size && !value->large; i += 4) {
        float number;
        memcpy(&number, view.data + i, 4);
        value->large = fabsf(number) >= HALF_OVERFLOW && !isinf(number);
    }
    if (value->large) {
        rewrite->large_weights++;
        if (!rewrite->large_name) rewrite->large_name = value->name;
    }
    assay__tensor_close(&view);
    return code;
}

static int make_half_constant(struct half_rewrite *rewrite, struct half_scope *scope,
                              struct half_value *value)
{
    struct assay__tensor_view view = {0};
    const struct assay__tensor *tensor = value->tensor;
    size_t count = (size_t)tensor->elements;
    int code = assay__tensor_open(rewrite->model, tensor, &view, rewrite->error);
    uint16_t *data = code ? NULL : assay__arena_array(rewrite->model->arena, count, sizeof *data);
    const char *name = assay__namer_make(&rewrite->namer, value->name, "_f16");
    for (size_t i = 0; data && i < count && 4 * (i + 1) <= view.size; i++) {
        float number;
        memcpy(&number, view.data + 4 * i, 4);
        data[i] = assay__float_to_half(number);
        /* An epsilon of 1e-12 must not become 0: it guards a division by 0. */
        if (count == 1 && number != 0 && !(data[i] & 0x7fff)) data[i] |= 1;
        if (number != 0 && fabsf(number) < HALF_SMALLEST_NORMAL)
            data[i] & 0x7fff ? rewrite->tiny++ : rewrite->zeroed++;
    }
    assay__tensor_close(&view);
    if (code) return code;
    if (!data) return assay__rewrite_no_memory(rewrite->error);
    assay__graph_add_initializer(rewrite->model, &scope->fresh, name, ASSAY__FLOAT16, tensor->rank,
                                 tensor->dims, data, count * sizeof *data);
    value->half = name;
    value->own_half = true;
    rewrite->weights++;
    rewrite->weight_bytes += count * sizeof *data;
    return 0;
}

/* --- forms ------------------------------------------------------------------------------------ */

static int add_cast(struct half_rewrite *rewrite, struct half_scope *scope, const char *from,
                    const char *to, enum assay__dtype dtype)
{
    const char *name = assay__namer_make(&rewrite->namer, to, "_cast");
    struct assay__node *node = assay__graph_add_node(rewrite->model, &scope->fresh, "Cast", name,
                                                     &from, 1, &to, 1);
    assay__node_set_int(rewrite->model, node, "to", (int64_t)dtype);
    rewrite->casts++;
    return assay__rewrite_end(rewrite->model, 0, rewrite->error);
}

static int need_half(struct half_rewrite *rewrite, struct half_scope *scope,
                     struct half_value *value)
{
    if (value->half) return 0;
    if (value->tensor) return make_half_constant(rewrite, scope, value);
    value->half = assay__namer_make(&rewrite->namer, value->name, "_f16");
    value->own_half = true;
    return add_cast(rewrite, scope, value->full, value->half, ASSAY__FLOAT16);
}

static int need_full(struct half_rewrite *rewrite, struct half_scope *scope,
                     struct half_value *value)
{
    value->kept = true;
    if (value->constant) {
        if (!assay__graph_push_node(rewrite->model, &scope->fresh, value->constant))
            return assay__rewrite_no_memory(rewrite->error);
        value->constant = NULL;
        value->full = value->name;
    }
    if (value->full) return 0;
    value->full = value->name;
    return add_cast(rewrite, scope, value->half, value->name, ASSAY__FLOAT32);
}

enum form { FORM_FULL, FORM_HALF, FORM_ANY };

/* The name to read for `name` in that form. A name without a definition (sparse initializers) is
 * read as it is. */
static int form_name(struct half_rewrite *rewrite, struct half_scope *scope, const char *name,
                     enum form form, const char **out)
{
    struct half_scope *where = NULL;
    struct half_value *value = *name ? find(scope, name, &where) : NULL;
    int code = 0;
    *out = name;
    if (!value) return 0;
    if (value->dtype != ASSAY__FLOAT32) form = FORM_FULL;
    if (form == FORM_ANY) form = value->full || value->constant ? FORM_FULL : FORM_HALF;
    code = form == FORM_HALF ? need_half(rewrite, where, value) : need_full(rewrite, where, value);
    *out = form == FORM_HALF ? value->half : value->full;
    return code;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static bool masked(unsigned mask, size_t i)
{
    return i < 32 ? mask >> i & 1 : mask == 0xffffffffu;
}

/* May this node be calculated in float16? *large: it reads what is too large for it. */
static int fits_half(struct half_rewrite *rewrite, struct half_scope *scope,
                     const struct assay__node *node, const struct assay__half_row *row, bool *yes,
                     bool *large)
{
    bool some = false, unknown = false;
    *yes = *large = false;
    for (size_t i = 0; i < node->input_count; i++) {
        struct half_scope *where = NULL;
        struct half_value *value = *node->inputs[i] ? find(scope, node->inputs[i], &where) : NULL;
        if (!*node->inputs[i]) continue;
        if (value && value->dtype == ASSAY__FLOAT32) {
            int code = scan(rewrite, value);
            if (code) return code;
            /* A bound of Clip beyond the range is no bound: infinity says the same. */
            *large |= value->large && !(i > 0 && value->tensor && assay__node_is(node, "Clip"));
        }
        if (!row || !masked(row->inputs, i)) continue;
        unknown |= !value || value->dtype == ASSAY__UNDEFINED;
        some |= value && value->dtype == ASSAY__FLOAT32;
    }
    /* An integer to a float's power is an integer. */
    for (size_t i = 0; row && i < node->output_count; i++) {
        enum assay__dtype dtype = *node->outputs[i] ? type_of(scope, node->outputs[i])
                                                    : ASSAY__UNDEFINED;
        if (masked(row->outputs, i) && dtype && dtype != ASSAY__FLOAT32) unknown = true;
    }
    *yes = row && some && !unknown && !*large;
    return 0;
}

static bool is_angle(const struct half_scope *scope, const struct assay__node *node)
{
    for (size_t i = 0; i < node->output_count; i++)
        if (*node->outputs[i] && assay__map_get(scope->angles, node->outputs[i]) != ASSAY__MAP_NONE)
            return true;
    return false;
}

static bool is_seen_large(const struct half_rewrite *rewrite, const struct assay__node *node)
{
    if (!rewrite->seen_large) return false;
    for (size_t i = 0; i < node->input_count; i++)
        if (assay__map_get(rewrite->seen_large, node->inputs[i]) != ASSAY__MAP_NONE) return true;
    for (size_t i = 0; i < node->output_count; i++)
        if (assay__map_get(rewrite->seen_large, node->outputs[i]) != ASSAY__MAP_NONE) return true;
    return false;
}

static int push(struct half_rewrite *rewrite, struct half_scope *scope, struct assay__node *node)
{
    assay__graph_push_node(rewrite->model, &scope->fresh, node);
    return assay__rewrite_end(rewrite->model, 0, rewrite->error);
}

static int rename_inputs(struct half_rewrite *rewrite, struct half_scope *scope,
                         struct assay__node *node, const struct assay__half_row *row,
                         enum form form)
{
    const char **inputs = assay__arena_array(rewrite->model->arena, node->input_count,
                                             sizeof *inputs);
    int code = inputs ? 0 : assay__rewrite_no_memory(rewrite->error);
    for (size_t i = 0; i < node->input_count && !code; i++)
        code = form_name(rewrite, scope, node->inputs[i],
                         form == FORM_HALF && !masked(row->inputs, i) ? FORM_FULL : form,
                         &inputs[i]);
    if (!code) node->inputs = inputs;
    return code;
}

static int convert_bodies(struct half_rewrite *rewrite, struct half_scope *scope,
                          struct assay__node *node)
{
    struct assay__graph *body;
    int code = 0;
    for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++)
        code = convert_graph(rewrite, scope, body,
                             scope->shapes ? assay__shapes_body(scope->shapes, body) : NULL);
    return code;
}

/* Left in float32. Shape and its like read whatever form is there. */
static int keep_node(struct half_rewrite *rewrite, struct half_scope *scope,
                     struct assay__node *node, bool large, bool bounded)
{
    bool any = assay__node_is(node, "Shape") || assay__node_is(node, "Size") ||
               assay__node_is(node, "Cast");
    int code = rename_inputs(rewrite, scope, node, NULL, any ? FORM_ANY : FORM_FULL);
    if (!code) code = convert_bodies(rewrite, scope, node);
    for (size_t i = 0; i < node->output_count && !code; i++) {
        if (!*node->outputs[i]) continue;
        struct half_value *value = define(rewrite, scope, node->outputs[i],
                                          type_of(scope, node->outputs[i]));
        if (!value) return ASSAY_ENOMEM;
        value->large = large && !bounded;
        value->scanned = true;
    }
    return code ? code : push(rewrite, scope, node);
}

static int convert_node(struct half_rewrite *rewrite, struct half_scope *scope,
                        struct assay__node *node, const struct assay__half_row *row)
{
    int code = rename_inputs(rewrite, scope, node, row, FORM_HALF);
    const char **outputs = assay__arena_array(rewrite->model->arena, node->output_count,
                                              sizeof *outputs);
    if (!code && !outputs) code = assay__rewrite_no_memory(rewrite->error);
    for (size_t i = 0; i < node->output_count && !code; i++) {
        const char *name = outputs[i] = node->outputs[i];
        bool half = masked(row->outputs, i);
        if (!*name) continue;
        struct half_value *value = define(rewrite, scope, name,
                                          half ? ASSAY__FLOAT32 : type_of(scope, name));
        if (!value) return ASSAY_ENOMEM;
        value->scanned = true;
        if (!half) continue;
        value->full = NULL;
        value->half = outputs[i] = assay__namer_make(&rewrite->namer, name, "_f16");
        value->own_half = true;
    }
    if (code) return code;
    node->outputs = outputs;
    rewrite->converted++;
    return push(rewrite, scope, node);
}

/* A Constant becomes a value with numbers; its node is emitted when the full form is asked for. */
static int take_constant(struct half_rewrite *rewrite, struct half_scope *scope,
                         struct assay__node *node)
{
    const struct assay__tensor *tensor = assay__node_constant(node);
    const struct assay__attr *one = assay__node_attr(node, "value_float"),
                             *many = assay__node_attr(node, "value_floats");
    if (!tensor && (one || many)) {
        int64_t count = many ? (int64_t)many->count : 1;
        int code = assay__rewrite_set_tensor(rewrite->model, node, "value", ASSAY__FLOAT32,
                                             many ? 1 : 0, &count, many ? many->floats : &one->f,
                                             (size_t)count * sizeof(float));
        if (code) return assay__rewrite_no_memory(rewrite->error);
        assay__node_remove_attr(node, "value_float");
        assay__node_remove_attr(node, "value_floats");
        tensor = assay__node_constant(node);
    }
    if (!tensor || tensor->dtype != ASSAY__FLOAT32)
        return keep_node(rewrite, scope, node, false, false);
    struct half_value *value = define(rewrite, scope, node->outputs[0], ASSAY__FLOAT32);
    if (!value) return ASSAY_ENOMEM;
    value->tensor = tensor;
    value->constant = node;
    value->full = NULL;
    return 0;
}

static int take_filled(struct half_rewrite *rewrite, struct half_scope *scope,
                       struct assay__node *node)
{
    static const struct assay__half_row row = {"ConstantOfShape", "", 9, 0, 1, false};
    const struct assay__attr *attr = assay__node_attr(node, "value");
    const struct assay__tensor *tensor = attr ? attr->t : NULL;
    float number = 0;
    int64_t one = 1;
    if (tensor && (tensor->dtype != ASSAY__FLOAT32 || tensor->data_size != 4 || !tensor->data))
        return keep_node(rewrite, scope, node, false, false);
    if (tensor) memcpy(&number, tensor->data, 4);
    if (fabsf(number) >= HALF_OVERFLOW && !isinf(number))
        return keep_node(rewrite, scope, node, true, false);
    uint16_t half = assay__float_to_half(number);
    if (number != 0 && fabsf(number) < HALF_SMALLEST_NORMAL)
        half & 0x7fff ? rewrite->tiny++ : rewrite->zeroed++;
    if (assay__rewrite_set_tensor(rewrite->model, node, "value", ASSAY__FLOAT16, 1, &one, &half, 2))
        return assay__rewrite_no_memory(rewrite->error);
    return convert_node(rewrite, scope, node, &row);
}

/* Cast to float32 of a value that is float16 already: the two forms of one value, and no node. */
static bool take_cast(struct half_rewrite *rewrite, struct half_scope *scope,
                      const struct assay__node *node, int *code)
{
    struct half_scope *where = NULL;
    struct half_value *from = find(scope, node->inputs[0], &where);
    if (!from || assay__node_int(node, "to", 0) != ASSAY__FLOAT32 || from->dtype != ASSAY__FLOAT16)
        return false;
    const char *half = from->full;
    struct half_value *value = define(rewrite, scope, node->outputs[0], ASSAY__FLOAT32);
    *code = value ? 0 : ASSAY_ENOMEM;
    if (!value) return true;
    value->scanned = true;
    value->full = NULL;
    value->half = half;
    return true;
}

static int take_node(struct half_rewrite *rewrite, struct half_scope *scope,
                     struct assay__node *node)
{
    const struct assay__half_row *row = assay__half_find(node, rewrite->opset);
    bool yes, large;
    int code = 0;
    rewrite->nodes++;
    if (assay__node_is(node, "Constant") && node->output_count == 1)
        return take_constant(rewrite, scope, node);
    if (assay__node_is(node, "ConstantOfShape") && node->output_count == 1 &&
        !is_angle(scope, node))
        return take_filled(rewrite, scope, node);
    if (assay__node_is(node, "Cast") && node->input_count == 1 && node->output_count == 1 &&
        take_cast(rewrite, scope, node, &code))
        return code;
    code = fits_half(rewrite, scope, node, row, &yes, &large);
    if (code) return code;
    if (yes && is_angle(scope, node)) {
        rewrite->angle_nodes++;
        yes = false;
    }
    if (yes && is_seen_large(rewrite, node)) {
        rewrite->seen_nodes++;
        yes = false;
    }
    if (row && large) rewrite->large_nodes++;
    return yes ? convert_node(rewrite, scope, node, row)
               : keep_node(rewrite, scope, node, large, row && row->bounded);
}

/* --- angles ----------------------------------------------------------------------------------- */

static bool carries_angles(const struct assay__node *node)
{
    static const char *const ops[] = {
        "Mul",       "Add",       "Sub",    "Div",     "MatMul", "Einsum",    "Concat", "Reshape",
        "Transpose", "Unsqueeze", "Expand", "Squeeze", "Cast",   "Gather",    "Slice",  "Tile",
        "Identity",  "Neg",       "Where",  "Flatten", "Split",  "Reciprocal"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (assay__node_is(node, ops[i])) return true;
    return false;
}

static int mark_angle(struct half_scope *scope, struct assay__map *producers, const char *name,
                      int depth)
{
    size_t at = assay__map_get(producers, name);
    if (at == ASSAY__MAP_NONE || depth == 0) return 0;
    const struct assay__node *node = &scope->graph->nodes[at];
    if (!carries_angles(node) || assay__map_get(scope->angles, name) != ASSAY__MAP_NONE) return 0;
    int code = assay__map_set(scope->angles, name, 1);
    for (size_t i = 0; i < node->input_count && !code; i++)
        code = mark_angle(scope, producers, node->inputs[i], depth - 1);
    return code;
}

static int mark_angles(struct half_rewrite *rewrite, struct half_scope *scope)
{
    const struct assay__graph *graph = scope->graph;
    struct assay__map *producers = assay__map_new();
    int code = producers ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->node_count && !code; i++)
        for (size_t k = 0; k < graph->nodes[i].output_count && !code; k++)
            code = assay__map_set(producers, graph->nodes[i].outputs[k], i);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool angle = assay__node_is(node, "Sin") || assay__node_is(node, "Cos") ||
                     assay__node_is(node, "Tan");
        if (angle && node->input_count)
            code = mark_angle(scope, producers, node->inputs[0], ANGLE_DEPTH);
    }
    assay__map_free(producers);
    return code ? assay__rewrite_no_memory(rewrite->error) : 0;
}

/* --- graphs ----------------------------------------------------------------------------------- */

static int open_scope(struct half_rewrite *rewrite, struct half_scope *scope)
{
    struct assay__graph *graph = scope->graph;
    scope->names = assay__map_new();
    scope->angles = assay__map_new();
    if (!scope->names || !scope->angles) return assay__rewrite_no_memory(rewrite->error);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct assay__value *input = &graph->inputs[i];
        bool tensor = input->kind == ASSAY__KIND_TENSOR;
        enum assay__dtype dtype = tensor && input->dtype ? input->dtype
                                  : tensor               ? type_of(scope, input->name)
                                                         : ASSAY__UNDEFINED;
        struct half_value *value = define(rewrite, scope, input->name, dtype);
        if (!value) return ASSAY_ENOMEM;
        value->scanned = true;
    }
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const struct assay__tensor *tensor = &graph->initializers[i];
        struct half_value *value = define(rewrite, scope, tensor->name, tensor->dtype);
        if (!value) return ASSAY_ENOMEM;
        if (tensor->dtype == ASSAY__FLOAT32 && tensor->nonzeros < 0) value->tensor = tensor;
    }
    return mark_angles(rewrite, scope);
}

/* What was needed in one form only takes the value's own name. */
static int settle_names(struct half_rewrite *rewrite, struct half_scope *scope)
{
    for (size_t i = 0; i < scope->count; i++) {
        const struct half_value *value = &scope->values[i];
        bool alone = value->tensor ? !value->kept : !value->full;
        if (!value->own_half || !alone) continue;
        if (assay__vec_grow((void **)&rewrite->originals, &rewrite->original_capacity,
                            rewrite->original_count + 1, sizeof *rewrite->originals) ||
            assay__map_set(rewrite->renames, value->half, rewrite->original_count))
            return assay__rewrite_no_memory(rewrite->error);
        rewrite->originals[rewrite->original_count++] = value->name;
    }
    return 0;
}

static int close_scope(struct half_rewrite *rewrite, struct half_scope *scope)
{
    struct assay__graph *graph = scope->graph;
    int code = 0;
    for (size_t i = 0; i < graph->output_count && !code; i++) {
        const char *name;
        code = form_name(rewrite, scope, graph->outputs[i].name, FORM_FULL, &name);
    }
    for (size_t i = 0; i < graph->initializer_count && !code; i++) {
        const struct half_value *value = own(scope, graph->initializers[i].name);
        if (value && value->half && !value->kept) {
            assay__graph_drop_input(graph, value->name);
            continue;
        }
        if (!assay__graph_push_tensor(rewrite->model, &scope->fresh, &graph->initializers[i]))
            code = assay__rewrite_no_memory(rewrite->error);
    }
    if (!code) code = settle_names(rewrite, scope);
    if (code) return code;
    assay__graph_take_nodes(graph, &scope->fresh);
    graph->initializers = scope->fresh.initializers;
    graph->initializer_count = scope->fresh.initializer_count;
    graph->initializer_capacity = scope->fresh.initializer_capacity;
    return 0;
}

static int convert_graph(struct half_rewrite *rewrite, struct half_scope *outer,
                         struct assay__graph *graph, const struct assay__shapes *shapes)
{
    struct half_scope scope = {.outer = outer, .graph = graph, .shapes = shapes};
    size_t *order = malloc((graph->node_count + 1) * sizeof *order);
    int code = order ? assay__graph_order(graph, order, rewrite->error)
                     : assay__rewrite_no_memory(rewrite->error);
    if (!code) code = open_scope(rewrite, &scope);
    for (size_t i = 0; i < graph->node_count && !code; i++)
        code = take_node(rewrite, &scope, &graph->nodes[order[i]]);
    if (!code) code = close_scope(rewrite, &scope);
    if (code && rewrite->error && !rewrite->error->code) assay__rewrite_no_memory(rewrite->error);
    free(order);
    free(scope.values);
    assay__map_free(scope.names);
    assay__map_free(scope.angles);
    return code;
}

static int apply_renames(void *context, struct assay__graph *graph)
{
    struct half_rewrite *rewrite = context;
    for (size_t i = 0; i < graph->initializer_count; i++) {
        size_t at = assay__map_get(rewrite->renames, graph->initializers[i].name);
        if (at != ASSAY__MAP_NONE) graph->initializers[i].name = rewrite->originals[at];
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->input_count; k++) {
            size_t at = assay__map_get(rewrite->renames, node->inputs[k]);
            if (at != ASSAY__MAP_NONE) node->inputs[k] = rewrite->originals[at];
        }
        for (size_t k = 0; k < node->output_count; k++) {
            size_t at = assay__map_get(rewrite->renames, node->outputs[k]);
            if (at != ASSAY__MAP_NONE) node->outputs[k] = rewrite->originals[at];
        }
    }
    return 0;
}

static void note_result(const struct half_rewrite *rewrite, struct assay__rewrite_notes *notes)
{
    if (!rewrite->converted && !rewrite->seen_nodes) {
        assay__rewrite_note(notes,
                            "nothing to convert: no operator that takes float16 works on float32");
        return;
    }
    assay__rewrite_note(notes,
                        "%zu of %zu operators in float16, %zu weights (%zu bytes), %zu Casts",
                        rewrite->converted, rewrite->nodes, rewrite->weights, rewrite->weight_bytes,
                        rewrite->casts);
    if (rewrite->large_weights)
        assay__rewrite_note(notes,
                            "%zu constants go beyond float16's %g ('%.80s' first): they and %zu "
                            "operators after them stay float32",
                            rewrite->large_weights, (double)HALF_LARGEST, rewrite->large_name,
                            rewrite->large_nodes);
    if (rewrite->seen_nodes)
        assay__rewrite_note(notes,
                            "kept %zu operators in float32: their values reach %.2g on these "
                            "inputs, float16 ends at %.0f",
                            rewrite->seen_nodes, rewrite->seen_largest, (double)HALF_LARGEST);
    if (rewrite->angle_nodes)
        assay__rewrite_note(notes, "%zu operators that calculate angles stay float32",
                            rewrite->angle_nodes);
    if (rewrite->tiny || rewrite->zeroed)
        assay__rewrite_note(
            notes,
            "%lld numbers of weights lie below float16's smallest normal one (6.1e-5): "
            "%lld of them become 0",
            (long long)(rewrite->tiny + rewrite->zeroed), (long long)rewrite->zeroed);
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
    struct assay_error own_error = {0};
    struct half_rewrite rewrite = {.model = model,
                                   .seen_large = large,
                                   .seen_largest = largest,
                                   .error = error ? error : &own_error};
    struct assay__shapes *shapes = NULL;
    int code = assay__rewrite_begin(model, true, notes, error);
    if (code) return code;
    rewrite.opset = assay__model_opset(model, "");
    if (!rewrite.opset) rewrite.opset = assay__model_opset(model, "ai.onnx");
    rewrite.renames = assay__map_new();
    if (!rewrite.renames) return assay__rewrite_no_memory(error);
    code = assay__namer_open(&rewrite.namer, model, rewrite.error);
    /* Types only: where shapes contradict each other the model's own statements do. */
    struct assay_error ignored = {0};
    if (!code && assay__shapes_infer(model, NULL, 0, &shapes, &ignored)) shapes = NULL;
    if (!code) code = convert_graph(&rewrite, NULL, &model->graph, shapes);
    if (!code) assay__rewrite_each_graph(&model->graph, apply_renames, &rewrite);
    if (!code) assay__rewrite_drop_values(model);
    if (!code) note_result(&rewrite, notes);
    assay__shapes_free(shapes);
    assay__namer_close(&rewrite.namer);
    assay__map_free(rewrite.renames);
    free(rewrite.originals);
    return code;
}

static int apply_float16(struct assay__model *model, const struct assay__rewrite_request *request,
                         struct assay__rewrite_notes *notes, struct assay_error *error)
{
    return assay__rewrite_float16_within(model, request->large, request->largest, notes, error);
}

const struct assay__rewriter assay__rewriter_float16 = {
    .step = "float16",
    .drift_note = "the CPU engine calculates float16 in float32 inside and may drop the roundings "
                  "between operators: this drift shows the rounding of weights and of what is "
                  "stored, not of every operation",
    .needs_ranges = true,
    .apply = apply_float16,
};
