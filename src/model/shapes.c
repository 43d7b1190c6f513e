/* shapes.c - shape inference: walks the main graph in execution order, asks the row of each
 * operator, keeps what follows.
 *
 * Besides shapes, the contents of small integer vectors are followed (Shape, Gather, Concat,
 * Slice, arithmetic, …), because that is how exporters compute the target of a Reshape. Where a
 * row says nothing, concrete value_info of the file is used. Subgraphs (If, Loop, Scan) are not
 * entered: their outputs are known only as far as the file states them. */
#include "model/shapes.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/shape_call.h"
#include "model/wire.h"

#include <stdlib.h>
#include <string.h>

struct assay__shapes {
    struct assay__arena *arena;
    struct assay__map *names; /* -> index into facts */
    struct assay__fact **facts;
    size_t count, capacity;
    struct assay__fact nothing; /* stands for absent inputs */
};

/* --- helpers of the rows ---------------------------------------------------------------------- */

bool assay__shape_has(const struct assay__shape_call *call, size_t i)
{
    return i < call->in_count && *call->node->inputs[i];
}

int assay__shape_rank(const struct assay__shape_call *call, size_t i)
{
    return i < call->in_count ? call->in[i]->entry.rank : -1;
}

const int64_t *assay__shape_dims(const struct assay__shape_call *call, size_t i)
{
    return i < call->in_count ? call->in[i]->entry.dims : NULL;
}

enum assay__dtype assay__shape_dtype(const struct assay__shape_call *call, size_t i)
{
    return i < call->in_count ? call->in[i]->entry.dtype : ASSAY__UNDEFINED;
}

const int64_t *assay__shape_values(const struct assay__shape_call *call, size_t i, size_t *count)
{
    if (i >= call->in_count || !call->in[i]->values) return NULL;
    *count = call->in[i]->value_count;
    for (size_t k = 0; k < *count; k++)
        if (call->in[i]->values[k] == ASSAY__SHAPE_ANY) return NULL;
    return call->in[i]->values;
}

const int64_t *assay__shape_axes(const struct assay__shape_call *call, const char *name, size_t i,
                                 size_t *count, bool *given)
{
    const struct assay__attr *attr = assay__node_attr(call->node, name);
    *given = attr != NULL || assay__shape_has(call, i);
    *count = 0;
    if (attr && attr->type == ASSAY__ATTR_INTS && attr->count) {
        *count = attr->count;
        return attr->ints;
    }
    return assay__shape_values(call, i, count);
}

bool assay__shape_scalar(const struct assay__shape_call *call, size_t i, double *value)
{
    size_t count = 0;
    const int64_t *values = assay__shape_values(call, i, &count);
    if (values && count == 1) {
        *value = (double)values[0];
        return true;
    }
    const struct assay__tensor *tensor = i < call->in_count ? call->in[i]->tensor : NULL;
    if (!tensor || !tensor->data || tensor->elements != 1) return false;
    if (tensor->dtype == ASSAY__FLOAT32) {
        uint32_t bits = assay__wire_u32(tensor->data);
        float single;
        memcpy(&single, &bits, sizeof single);
        *value = (double)single;
        return true;
    }
    if (tensor->dtype == ASSAY__FLOAT64) {
        uint64_t bits = assay__wire_u64(tensor->data);
        memcpy(value, &bits, sizeof *value);
        return true;
    }
    return false;
}

void assay__shape_set(struct assay__shape_call *call, size_t o, enum assay__dtype dtype, int rank,
                      const int64_t *dims)
{
    if (o >= call->out_count) return;
    struct assay__shape_entry *entry = &call->out[o]->entry;
    entry->dtype = dtype;
    if (rank < 0 || rank > ASSAY__SHAPE_RANK) return;
    int64_t *copy = assay__arena_array(call->arena, (size_t)rank, sizeof *copy);
    if (!copy) {
        call->no_memory = true;
        return;
    }
    for (int i = 0; i < rank; i++)
        copy[i] = dims && dims[i] >= 0 ? dims[i] : -1;
    entry->rank = rank;
    entry->dims = copy;
}

void assay__shape_set_dtype(struct assay__shape_call *call, size_t o, enum assay__dtype dtype)
{
    if (o < call->out_count) call->out[o]->entry.dtype = dtype;
}

void assay__shape_set_values(struct assay__shape_call *call, size_t o, const int64_t *values,
                             size_t count)
{
    if (o >= call->out_count || count > ASSAY__SHAPE_VALUES) return;
    int64_t *copy = assay__arena_array(call->arena, count, sizeof *copy);
    if (!copy) {
        call->no_memory = true;
        return;
    }
    if (count) memcpy(copy, values, count * sizeof *copy);
    call->out[o]->values = copy;
    call->out[o]->value_count = count;
}

void assay__shape_like(struct assay__shape_call *call, size_t o, size_t i, enum assay__dtype dtype)
{
    if (dtype == ASSAY__UNDEFINED) dtype = assay__shape_dtype(call, i);
    assay__shape_set(call, o, dtype, assay__shape_rank(call, i), assay__shape_dims(call, i));
}

bool assay__shape_axis(int64_t axis, int rank, int *out)
{
    if (axis < -(int64_t)rank || axis >= rank) return false;
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool assay__shape_broadcast(int64_t *a, int *a_rank, const int64_t *b, int b_rank)
{
    if (b_rank > *a_rank) {
        int shift = b_rank - *a_rank;
        if (b_rank > ASSAY__SHAPE_RANK) return false;
        memmove(a + shift, a, (size_t)*a_rank * sizeof *a);
        for (int i = 0; i < shift; i++)
            a[i] = 1;
        *a_rank = b_rank;
    }
    for (int i = 0; i < b_rank; i++) {
        int64_t *mine = &a[*a_rank - b_rank + i], other = b[i];
        if (*mine == other || other == 1) continue;
        if (*mine == 1)
            *mine = other;
        else if (*mine < 0 || other < 0)
            *mine = *mine > 1 || other > 1 ? (*mine > other ? *mine : other) : -1;
        else
            return false;
    }
    return true;
}

int64_t assay__shape_product(const int64_t *dims, int from, int to)
{
    int64_t product = 1;
    for (int i = from; i < to; i++)
        if (dims[i] < 0 || assay__mul_i64_overflows(product, dims[i], &product)) return -1;
    return product;
}

/* --- facts ------------------------------------------------------------------------------------ */

static struct assay__fact *find_fact(const struct assay__shapes *shapes, const char *name)
{
    size_t index = assay__map_get(shapes->names, name);
    return index == ASSAY__MAP_NONE ? NULL : shapes->facts[index];
}

static struct assay__fact *add_fact(struct assay__shapes *shapes, const char *name)
{
    struct assay__fact *fact = find_fact(shapes, name);
    if (fact) return fact;
    fact = assay__arena_alloc(shapes->arena, sizeof *fact);
    const char *key = assay__arena_strdup(shapes->arena, name);
    if (!fact || !key ||
        assay__vec_grow((void **)&shapes->facts, &shapes->capacity, shapes->count + 1,
                        sizeof *shapes->facts) ||
        assay__map_set(shapes->names, key, shapes->count))
        return NULL;
    fact->entry.rank = -1;
    shapes->facts[shapes->count++] = fact;
    return fact;
}

/* Contents of a small integer tensor. */
static int tensor_values(struct assay__shapes *shapes, const struct assay__tensor *tensor,
                         struct assay__fact *fact)
{
    bool wide = tensor->dtype == ASSAY__INT64;
    if ((!wide && tensor->dtype != ASSAY__INT32) || tensor->rank > 1 || !tensor->data ||
        tensor->elements > ASSAY__SHAPE_VALUES ||
        tensor->data_size != (size_t)tensor->elements * (wide ? 8 : 4))
        return 0;
    int64_t *values = assay__arena_array(shapes->arena, (size_t)tensor->elements, sizeof *values);
    if (!values) return ASSAY_ENOMEM;
    for (size_t i = 0; i < (size_t)tensor->elements; i++)
        values[i] = wide ? (int64_t)assay__wire_u64(tensor->data + 8 * i)
                         : (int64_t)(int32_t)assay__wire_u32(tensor->data + 4 * i);
    fact->values = values;
    fact->value_count = (size_t)tensor->elements;
    return 0;
}

static int fact_from_tensor(struct assay__shapes *shapes, const struct assay__tensor *tensor,
                            struct assay__fact *fact)
{
    fact->tensor = tensor;
    fact->entry = (struct assay__shape_entry){tensor->dtype, tensor->rank, tensor->dims};
    return tensor_values(shapes, tensor, fact);
}

static int fact_from_value(struct assay__shapes *shapes, const struct assay__value *value,
                           struct assay__fact *fact)
{
    if (value->kind != ASSAY__KIND_TENSOR) return 0;
    fact->entry.dtype = value->dtype;
    if (value->rank < 0 || value->rank > ASSAY__SHAPE_RANK) return 0;
    fact->entry.dims = assay__arena_array(shapes->arena, (size_t)value->rank, sizeof(int64_t));
    if (!fact->entry.dims) return ASSAY_ENOMEM;
    fact->entry.rank = value->rank;
    for (int i = 0; i < value->rank; i++)
        fact->entry.dims[i] = value->dims[i].value;
    return 0;
}

/* Fills what inference left open with what the file states. */
static int complete(struct assay__shapes *shapes, const struct assay__value *value,
                    struct assay__fact *fact)
{
    struct assay__fact stated = {.entry = {.rank = -1}};
    int code = fact_from_value(shapes, value, &stated);
    if (code) return code;
    if (fact->entry.dtype == ASSAY__UNDEFINED) fact->entry.dtype = stated.entry.dtype;
    if (fact->entry.rank < 0) {
        fact->entry.rank = stated.entry.rank;
        fact->entry.dims = stated.entry.dims;
    } else if (fact->entry.rank == stated.entry.rank) {
        for (int i = 0; i < stated.entry.rank; i++)
            if (fact->entry.dims[i] < 0) fact->entry.dims[i] = stated.entry.dims[i];
    }
    return 0;
}

static int seed_facts(struct assay__shapes *shapes, const struct assay__graph *graph,
                      const struct assay__value *inputs, size_t input_count)
{
    struct assay__fact *fact;
    int code = 0;
    for (size_t i = 0; i < graph->input_count && !code; i++)
        code = (fact = add_fact(shapes, graph->inputs[i].name))
                   ? fact_from_value(shapes, &graph->inputs[i], fact)
                   : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = (fact = add_fact(shapes, graph->initializers[i].name))
                   ? fact_from_tensor(shapes, &graph->initializers[i], fact)
                   : ASSAY_ENOMEM;
    for (size_t i = 0; i < input_count && !code; i++) {
        if (!(fact = add_fact(shapes, inputs[i].name))) return ASSAY_ENOMEM;
        fact->tensor = NULL; /* a caller's value replaces the default */
        fact->values = NULL;
        code = fact_from_value(shapes, &inputs[i], fact);
    }
    return code;
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool domain_matches(const char *row, const char *domain)
{
    if (!*domain) return !*row || *row == '*';
    if (strcmp(domain, "com.microsoft") == 0) return strcmp(row, "ms") == 0 || *row == '*';
    if (strcmp(domain, "com.microsoft.nchwc") == 0) return strcmp(row, "nchwc") == 0 || *row == '*';
    return false;
}

static assay__shape_fn *find_row(const struct assay__node *node)
{
    static const struct assay__shape_row *const tables[] = {
        assay__shape_rows_math, assay__shape_rows_move, assay__shape_rows_nn};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct assay__shape_row *row = tables[t]; row->op; row++)
            if (strcmp(row->op, node->op) == 0 && domain_matches(row->domain, node->domain))
                return row->infer;
    return NULL;
}

/* Constant is no operator with inputs: its tensor is kept as a tensor, so it stands here and not
 * in a table. */
static int infer_constant(struct assay__shapes *shapes, const struct assay__node *node,
                          struct assay__fact *fact)
{
    const struct assay__attr *attr = node->attr_count ? &node->attrs[0] : NULL;
    int64_t *dims = NULL;
    if (!attr) return 0;
    if (strcmp(attr->name, "value") == 0 && attr->t) return fact_from_tensor(shapes, attr->t, fact);
    bool integer = attr->type == ASSAY__ATTR_INT || attr->type == ASSAY__ATTR_INTS;
    bool list = attr->type == ASSAY__ATTR_INTS || attr->type == ASSAY__ATTR_FLOATS ||
                attr->type == ASSAY__ATTR_STRINGS;
    bool text = attr->type == ASSAY__ATTR_STRING || attr->type == ASSAY__ATTR_STRINGS;
    if (strncmp(attr->name, "value_", 6) != 0) return 0;
    if (!(dims = assay__arena_array(shapes->arena, 1, sizeof *dims))) return ASSAY_ENOMEM;
    dims[0] = (int64_t)attr->count;
    fact->entry = (struct assay__shape_entry){integer ? ASSAY__INT64
                                              : text  ? ASSAY__STRING
                                                      : ASSAY__FLOAT32,
                                              list ? 1 : 0, dims};
    size_t count = list ? attr->count : 1;
    if (!integer || count > ASSAY__SHAPE_VALUES) return 0;
    fact->values = list ? attr->ints : &attr->i;
    fact->value_count = count;
    return 0;
}

static int infer_node(struct assay__shapes *shapes, const struct assay__model *model,
                      const struct assay__node *node)
{
    struct assay__fact dummy = {.entry = {.rank = -1}};
    struct assay__shape_call call = {.arena = shapes->arena,
                                     .node = node,
                                     .opset = assay__model_opset(model, ""),
                                     .in_count = node->input_count,
                                     .out_count = node->output_count};
    int code = 0;
    call.in = calloc(node->input_count + 1, sizeof *call.in);
    call.out = calloc(node->output_count + 1, sizeof *call.out);
    if (!call.in || !call.out) code = ASSAY_ENOMEM;
    for (size_t i = 0; i < node->input_count && !code; i++) {
        struct assay__fact *fact = *node->inputs[i] ? find_fact(shapes, node->inputs[i]) : NULL;
        call.in[i] = fact ? fact : &shapes->nothing;
    }
    for (size_t i = 0; i < node->output_count && !code; i++) {
        call.out[i] = *node->outputs[i] ? add_fact(shapes, node->outputs[i]) : &dummy;
        if (!call.out[i]) code = ASSAY_ENOMEM;
    }
    if (!code && !*node->domain && strcmp(node->op, "Constant") == 0 && node->output_count) {
        code = infer_constant(shapes, node, call.out[0]);
    } else if (!code) {
        assay__shape_fn *infer = find_row(node);
        if (infer) infer(&call);
        if (call.no_memory) code = ASSAY_ENOMEM;
    }
    free(call.in);
    free(call.out);
    return code;
}

static const struct assay__value *stated_value(const struct assay__graph *graph,
                                               const struct assay__map *stated, const char *name)
{
    size_t index = assay__map_get(stated, name);
    if (index == ASSAY__MAP_NONE) return NULL;
    return index < graph->value_count ? &graph->values[index]
                                      : &graph->outputs[index - graph->value_count];
}

static int walk(struct assay__shapes *shapes, const struct assay__model *model, const size_t *order,
                const struct assay__map *stated)
{
    const struct assay__graph *graph = &model->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[order[i]];
        int code = infer_node(shapes, model, node);
        for (size_t k = 0; k < node->output_count && !code; k++) {
            const struct assay__value *value = stated_value(graph, stated, node->outputs[k]);
            if (value && *node->outputs[k])
                code = complete(shapes, value, find_fact(shapes, node->outputs[k]));
        }
        if (code) return code;
    }
    return 0;
}

static int index_stated(const struct assay__graph *graph, struct assay__map *stated)
{
    int code = 0;
    for (size_t i = 0; i < graph->output_count && !code; i++)
        code = assay__map_set(stated, graph->outputs[i].name, graph->value_count + i);
    for (size_t i = 0; i < graph->value_count && !code; i++)
        code = assay__map_set(stated, graph->values[i].name, i);
    return code;
}

int assay__shapes_infer(const struct assay__model *model, const struct assay__value *inputs,
                        size_t input_count, struct assay__shapes **out, struct assay_error *error)
{
    const struct assay__graph *graph = &model->graph;
    struct assay__map *stated = assay__map_new();
    size_t *order = calloc(graph->node_count + 1, sizeof *order);
    struct assay__shapes *shapes = calloc(1, sizeof *shapes);
    int code = ASSAY_ENOMEM;
    *out = NULL;
    if (!stated || !order || !shapes) goto out;
    shapes->arena = assay__arena_new();
    shapes->names = assay__map_new();
    shapes->nothing.entry.rank = -1;
    if (!shapes->arena || !shapes->names) goto out;
    if ((code = assay__graph_order(graph, order, error))) goto out;
    code = index_stated(graph, stated);
    if (!code) code = seed_facts(shapes, graph, inputs, input_count);
    if (!code) code = walk(shapes, model, order, stated);
out:
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    assay__map_free(stated);
    free(order);
    if (code)
        assay__shapes_free(shapes);
    else
        *out = shapes;
    return code;
}

void assay__shapes_free(struct assay__shapes *shapes)
{
    if (!shapes) return;
    assay__arena_free(shapes->arena);
    assay__map_free(shapes->names);
    free(shapes->facts);
    free(shapes);
}

const struct assay__shape_entry *assay__shapes_get(const struct assay__shapes *shapes,
                                                   const char *name)
{
    const struct assay__fact *fact = *name ? find_fact(shapes, name) : NULL;
    return fact ? &fact->entry : NULL;
}
