/* shapes.c - shape inference: walks a graph in execution order, calls the row of each operator,
 * stores the results. Bodies of If, Loop and Scan are separate graphs (shapes_body.c) that see the
 * names of the enclosing graphs.
 *
 * Besides shapes, the contents of small tensors of integers and booleans are tracked (Shape,
 * Gather, Concat, Slice, arithmetic, …), because that is how exporters compute the target of a
 * Reshape. If a row has no result, value_info of the file is used; if the result differs from the
 * file, that is a contradiction, and the result is kept. */
#include "model/shapes/shapes.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/op_index.h"
#include "model/shapes/shapes_scope.h"
#include "model/wire.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- scopes ----------------------------------------------------------------------------------- */

struct assay__shapes *assay__scope_new(struct assay__shape_state *state,
                                       const struct assay__shapes *parent,
                                       const struct assay__graph *graph)
{
    struct assay__shapes *scope = calloc(1, sizeof *scope);
    if (!scope) return NULL;
    scope->state = state;
    scope->parent = parent;
    scope->graph = graph;
    scope->nothing.entry.rank = -1;
    if ((scope->names = assay__map_over(graph->names))) return scope;
    free(scope);
    return NULL;
}

void assay__scope_free(struct assay__shapes *scope)
{
    if (!scope) return;
    assay__map_free(scope->names);
    free(scope->facts);
    free(scope);
}

struct assay__fact *assay__scope_find(const struct assay__shapes *scope, const char *name)
{
    for (; scope; scope = scope->parent) {
        size_t index = assay__map_get(scope->names, name);
        if (index != ASSAY__MAP_NONE) return scope->facts[index];
    }
    return NULL;
}

struct assay__fact *assay__scope_add(struct assay__shapes *scope, const char *name)
{
    size_t index = assay__map_get(scope->names, name);
    if (index != ASSAY__MAP_NONE) return scope->facts[index];
    struct assay__fact *fact = assay__arena_alloc(scope->state->arena, sizeof *fact);
    if (!fact ||
        assay__vec_grow((void **)&scope->facts, &scope->capacity, scope->count + 1,
                        sizeof *scope->facts) ||
        assay__map_set(scope->names, name, scope->count)) {
        assay__arena_fail(scope->state->arena);
        fact = &scope->lost;
    } else {
        scope->facts[scope->count++] = fact;
    }
    fact->entry.rank = -1;
    return fact;
}

/* --- facts ------------------------------------------------------------------------------------ */

/* One element of a small tensor as a num; floats only if they are whole numbers. */
static int64_t element(const struct assay__tensor *tensor, size_t i)
{
    float single;
    uint32_t bits;
    switch (tensor->dtype) {
    case ASSAY__INT64: return assay__num_from_file((int64_t)assay__wire_u64(tensor->data + 8 * i));
    case ASSAY__INT32: return (int32_t)assay__wire_u32(tensor->data + 4 * i);
    case ASSAY__BOOL: return tensor->data[i] != 0;
    case ASSAY__FLOAT32:
        bits = assay__wire_u32(tensor->data + 4 * i);
        memcpy(&single, &bits, sizeof single);
        return fabsf(single) < 16777216.0f && truncf(single) == single ? (int64_t)single
                                                                       : ASSAY__SHAPE_ANY;
    default: return ASSAY__SHAPE_ANY;
    }
}

static void fact_from_tensor(struct assay__shape_state *state, const struct assay__tensor *tensor,
                             struct assay__fact *fact)
{
    fact->tensor = tensor;
    assay__fact_set(state, fact, tensor->dtype, tensor->rank, tensor->dims);
    bool followed = tensor->dtype == ASSAY__INT64 || tensor->dtype == ASSAY__INT32 ||
                    tensor->dtype == ASSAY__BOOL ||
                    (tensor->dtype == ASSAY__FLOAT32 && tensor->elements <= 16);
    if (!followed || !tensor->data || tensor->elements > ASSAY__SHAPE_VALUES ||
        tensor->elements < 0 ||
        tensor->data_size != assay__dtype_bytes(tensor->dtype, tensor->elements))
        return;
    size_t count = (size_t)tensor->elements;
    int64_t *values = assay__arena_array(state->arena, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = element(tensor, i);
    fact->values = values;
    fact->value_count = count;
}

/* The value to which the caller's inputs fix a symbol; `otherwise` if they do not. */
static int64_t bound(const struct assay__shape_state *state, int64_t symbol, int64_t otherwise)
{
    for (size_t i = 0; i < state->binding_count; i++)
        if (state->bindings[i].symbol == symbol) return state->bindings[i].num;
    return otherwise;
}

static int64_t bound_name(void *context, const char *name, size_t length)
{
    struct assay__shape_state *state = context;
    char text[256];
    if (length >= sizeof text) return ASSAY__NUM_ANY;
    memcpy(text, name, length);
    text[length] = 0;
    return bound(state, assay__num_symbol(state->symbols, text), ASSAY__NUM_ANY);
}

/* A stated dimension; symbols fixed by the caller's inputs have their fixed value. */
static int64_t stated_num(struct assay__shape_state *state, const struct assay__dim *dim)
{
    if (dim->value >= 0) return dim->value;
    if (dim->symbol && state->binding_count && assay__symbol_is_expression(dim->symbol)) {
        int64_t number = assay__symbol_evaluate(dim->symbol, bound_name, state);
        if (assay__num_known(number) && number >= 0) return number;
    }
    int64_t num = assay__num_symbol(state->symbols, dim->symbol ? dim->symbol : "");
    return bound(state, num, num);
}

static bool is_tensor(const struct assay__value *value)
{
    return value->kind == ASSAY__KIND_TENSOR || value->kind == ASSAY__KIND_SPARSE;
}

/* Sequences and optionals, which the reader keeps but does not interpret:
 *
 * TypeProto { 1 tensor { 1 element type, 2 shape { 1 dim { 1 value, 2 symbol } } },
 *             4 sequence { 1 TypeProto }, 9 optional { 1 TypeProto } }
 *
 * Nesting beyond sequence and optional is left unknown. */
static bool find_field(const uint8_t *data, size_t size, uint32_t number, int type,
                       struct assay__wire_field *out)
{
    struct assay__wire wire = assay__wire_over(data, size);
    while (assay__wire_next(&wire, out) == ASSAY__WIRE_FIELD)
        if (out->number == number) return out->type == type;
    return false;
}

static void fact_from_tensor_type(struct assay__shape_state *state,
                                  const struct assay__wire_field *tensor, struct assay__fact *fact)
{
    struct assay__wire_field field, shape, dim;
    enum assay__dtype dtype = ASSAY__UNDEFINED;
    int64_t nums[ASSAY__SHAPE_RANK];
    int rank = 0;
    if (find_field(tensor->data, tensor->size, 1, ASSAY__WIRE_VARINT, &field) &&
        field.value <= ASSAY__INT2)
        dtype = (enum assay__dtype)field.value;
    if (!find_field(tensor->data, tensor->size, 2, ASSAY__WIRE_BYTES, &shape)) {
        fact->entry.dtype = dtype;
        return;
    }
    struct assay__wire wire = assay__wire_over(shape.data, shape.size);
    while (assay__wire_next(&wire, &dim) == ASSAY__WIRE_FIELD) {
        if (dim.number != 1 || dim.type != ASSAY__WIRE_BYTES) continue;
        if (rank == ASSAY__SHAPE_RANK) {
            fact->entry.dtype = dtype;
            return;
        }
        int64_t num = ASSAY__NUM_ANY;
        if (find_field(dim.data, dim.size, 1, ASSAY__WIRE_VARINT, &field)) {
            if (field.value <= INT64_MAX) num = (int64_t)field.value;
        } else if (find_field(dim.data, dim.size, 2, ASSAY__WIRE_BYTES, &field)) {
            char *name = assay__arena_strndup(state->arena, (const char *)field.data, field.size);
            if (name) num = assay__num_symbol(state->symbols, name);
        }
        nums[rank++] = num;
    }
    assay__fact_set(state, fact, dtype, rank, nums);
}

static void fact_from_type(struct assay__shape_state *state, const uint8_t *data, size_t size,
                           struct assay__fact *fact)
{
    struct assay__wire_field field, inner;
    for (int depth = 0; depth < 4; depth++) {
        if (find_field(data, size, 1, ASSAY__WIRE_BYTES, &field)) {
            fact_from_tensor_type(state, &field, fact);
            return;
        }
        bool sequence = find_field(data, size, 4, ASSAY__WIRE_BYTES, &field);
        if (!sequence && !find_field(data, size, 9, ASSAY__WIRE_BYTES, &field)) return;
        if (fact->sequence) return;
        fact->sequence = sequence;
        fact->optional = fact->optional || !sequence;
        if (!find_field(field.data, field.size, 1, ASSAY__WIRE_BYTES, &inner)) return;
        data = inner.data;
        size = inner.size;
    }
}

static void fact_from_value(struct assay__shape_state *state, const struct assay__value *value,
                            struct assay__fact *fact)
{
    int64_t nums[ASSAY__SHAPE_RANK];
    if (!is_tensor(value)) {
        if (value->type_proto)
            fact_from_type(state, value->type_proto, value->type_proto_size, fact);
        return;
    }
    if (value->rank > ASSAY__SHAPE_RANK) return;
    for (int i = 0; i < value->rank; i++)
        nums[i] = stated_num(state, &value->dims[i]);
    assay__fact_set(state, fact, value->dtype, value->rank, nums);
}

/* Reports it if the file states a different type, rank or dimension from the inferred one. */
static void check_stated(struct assay__shapes *scope, const struct assay__value *value,
                         const struct assay__fact *fact)
{
    const struct assay__shape_entry *entry = &fact->entry;
    char text[512];
    if (!fact->maker || scope->state->stale) return;
    if (assay__model_is_onnx(scope->state->model) && entry->dtype && value->dtype &&
        entry->dtype != value->dtype) {
        snprintf(text, sizeof text, "\"%.128s\": the file states %s, but inference gives %s",
                 value->name, assay__dtype_name(value->dtype), assay__dtype_name(entry->dtype));
        assay__state_conflict(scope->state, fact->maker, NULL, value->name, text);
    }
    if (entry->rank < 0 || value->rank < 0) return;
    int i = 0;
    if (entry->rank != value->rank) {
        snprintf(text, sizeof text,
                 "\"%.200s\": the file states rank %d, but inference gives rank %d", value->name,
                 value->rank, entry->rank);
    } else {
        while (i < entry->rank && (value->dims[i].value < 0 || fact->dims[i] < 0 ||
                                   value->dims[i].value == fact->dims[i]))
            i++;
        if (i == entry->rank) return;
        snprintf(text, sizeof text,
                 "\"%.200s\": the file states a dimension of %lld, but inference gives %lld",
                 value->name, (long long)value->dims[i].value, (long long)fact->dims[i]);
    }
    assay__state_conflict(scope->state, fact->maker, NULL, value->name, text);
}

void assay__fact_complete(struct assay__shapes *scope, const struct assay__value *value,
                          struct assay__fact *fact)
{
    struct assay__shape_state *state = scope->state;
    int64_t nums[ASSAY__SHAPE_RANK];
    if (!is_tensor(value) || fact->sequence || fact->optional) return;
    check_stated(scope, value, fact);
    /* Operators of other formats may have other types than the ONNX ones they are mapped to (32-bit
     * indices): they state them. */
    bool onnx = assay__model_is_onnx(state->model);
    if (fact->entry.dtype == ASSAY__UNDEFINED || (!onnx && value->dtype))
        fact->entry.dtype = value->dtype;
    if (value->rank < 0 || value->rank > ASSAY__SHAPE_RANK) return;
    if (fact->entry.rank >= 0 && fact->entry.rank != value->rank) return;
    bool open = fact->entry.rank < 0, changed = open;
    for (int i = 0; i < value->rank; i++) {
        nums[i] = open ? ASSAY__SHAPE_ANY : fact->dims[i];
        if (nums[i] >= 0 || (state->stale && value->dims[i].value >= 0)) continue;
        int64_t says = stated_num(state, &value->dims[i]);
        /* an unknown one gets the stated value; an expression is only replaced by a number */
        if (says == ASSAY__SHAPE_ANY || (nums[i] != ASSAY__SHAPE_ANY && says < 0)) continue;
        nums[i] = says;
        changed = true;
    }
    if (changed) assay__fact_set(state, fact, fact->entry.dtype, value->rank, nums);
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Constant has no inputs and its value stays a tensor, so it is handled here and not in a table. */
static void infer_constant(struct assay__shape_state *state, const struct assay__node *node,
                           struct assay__fact *fact)
{
    const struct assay__attr *attr = node->attr_count ? &node->attrs[0] : NULL;
    if (attr && attr->t && strcmp(attr->name, "value") == 0) fact_from_tensor(state, attr->t, fact);
    if (!attr || strncmp(attr->name, "value_", 6) != 0) return;
    bool integer = attr->type == ASSAY__ATTR_INT || attr->type == ASSAY__ATTR_INTS;
    bool list = attr->type == ASSAY__ATTR_INTS || attr->type == ASSAY__ATTR_FLOATS ||
                attr->type == ASSAY__ATTR_STRINGS;
    bool text = attr->type == ASSAY__ATTR_STRING || attr->type == ASSAY__ATTR_STRINGS;
    int64_t count = list ? (int64_t)attr->count : 1;
    enum assay__dtype dtype = integer ? ASSAY__INT64 : text ? ASSAY__STRING : ASSAY__FLOAT32;
    assay__fact_set(state, fact, dtype, list ? 1 : 0, &count);
    if (!integer || count > ASSAY__SHAPE_VALUES) return;
    int64_t *values = assay__arena_array(state->arena, (size_t)count, sizeof *values);
    for (int64_t i = 0; values && i < count; i++)
        values[i] = assay__num_from_file(list ? attr->ints[i] : attr->i);
    fact->values = values;
    fact->value_count = (size_t)count;
}

/* All tables in one hash, made once. */
static struct assay__op_index rows;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void index_rows(void)
{
#define TABLE(FAMILY) assay__shape_rows_##FAMILY,
    static const struct assay__shape_row *const tables[] = {ASSAY__SHAPE_FAMILIES(TABLE)};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct assay__shape_row *row = tables[t]; row->ops; row++)
            assay__op_index_add(&rows, row->ops, row->domain, row);
}

static bool domain_matches(const char *row, const char *domain)
{
    if (!*domain || strcmp(domain, "ai.onnx") == 0) return !*row || *row == '*';
    if (strcmp(domain, "com.microsoft") == 0) return strcmp(row, "ms") == 0 || *row == '*';
    if (strcmp(domain, "com.microsoft.nchwc") == 0) return strcmp(row, "nchwc") == 0 || *row == '*';
    if (strcmp(domain, "ai.onnx.ml") == 0) return strcmp(row, "ml") == 0;
    return strncmp(domain, "ai.onnx.preview", 15) == 0 && strcmp(row, "preview") == 0;
}

#define FEW 16

static void infer_node(struct assay__shapes *scope, const struct assay__node *node)
{
    struct assay__fact dummy = {.entry = {.rank = -1}}, *few[2 * FEW];
    struct assay__shape_call call = {.arena = scope->state->arena,
                                     .symbols = scope->state->symbols,
                                     .scope = scope,
                                     .node = node,
                                     .opset = scope->state->opset,
                                     .in_count = node->input_count,
                                     .out_count = node->output_count};
    bool many = node->input_count > FEW || node->output_count > FEW;
    struct assay__fact **facts = few;
    if (many) facts = calloc(node->input_count + node->output_count, sizeof(struct assay__fact *));
    if (!facts) {
        assay__arena_fail(call.arena);
        return;
    }
    call.in = facts;
    call.out = facts + (many ? node->input_count : FEW);
    for (size_t i = 0; i < node->input_count; i++) {
        struct assay__fact *fact = *node->inputs[i] ? assay__scope_find(scope, node->inputs[i])
                                                    : NULL;
        call.in[i] = fact ? fact : &scope->nothing;
    }
    for (size_t i = 0; i < node->output_count; i++) {
        call.out[i] = *node->outputs[i] ? assay__scope_add(scope, node->outputs[i]) : &dummy;
        call.out[i]->maker = node;
    }
    if (!*node->domain && strcmp(node->op, "Constant") == 0 && node->output_count) {
        infer_constant(scope->state, node, call.out[0]);
    } else {
        pthread_once(&once, index_rows);
        size_t at = assay__op_index_find(&rows, node->op, node->domain, domain_matches);
        const struct assay__shape_row *row = at < ASSAY__OP_SLOTS ? rows.slots[at].row : NULL;
        if (row) row->infer(&call);
    }
    if (many) free(facts);
}

static void add_initializers(struct assay__shapes *scope)
{
    const struct assay__tensor *tensor;
    for (size_t i = 0; (tensor = assay__graph_tensor(scope->graph, i)); i++)
        fact_from_tensor(scope->state, tensor, assay__scope_add(scope, tensor->name));
}

int assay__scope_walk(struct assay__shapes *scope, struct assay_error *error)
{
    const struct assay__graph *graph = scope->graph;
    struct assay__map *stated = assay__map_over(graph->names);
    size_t *order = scope->order;
    if (!order)
        order = assay__arena_array(scope->state->arena, graph->node_count + 1, sizeof *order);
    int code = stated && order ? 0 : ASSAY_ENOMEM;
    if (!code && !scope->order) code = assay__graph_order(graph, order, error);
    if (!code) scope->order = order;
    if (!code && scope->parent) add_initializers(scope);
    /* what the file states: value_info and, for values not in it, the graph's outputs */
    for (size_t i = 0; i < graph->output_count && !code; i++)
        code = assay__map_set(stated, graph->outputs[i].name, graph->value_count + i);
    for (size_t i = 0; i < graph->value_count && !code; i++)
        code = assay__map_set(stated, graph->values[i].name, i);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[order[i]];
        infer_node(scope, node);
        for (size_t k = 0; k < node->output_count; k++) {
            const char *name = node->outputs[k];
            size_t at = *name ? assay__map_get(stated, name) : ASSAY__MAP_NONE;
            if (at == ASSAY__MAP_NONE) continue;
            const struct assay__value *value = at < graph->value_count
                                                   ? &graph->values[at]
                                                   : &graph->outputs[at - graph->value_count];
            struct assay__fact *fact = assay__scope_find(scope, name);
            if (fact) assay__fact_complete(scope, value, fact);
        }
        if (assay__arena_failed(scope->state->arena)) code = ASSAY_ENOMEM;
    }
    assay__map_free(stated);
    return code;
}

/* --- the caller's inputs ---------------------------------------------------------------------- */

/* A symbol of the file that an input fixes; one that two inputs fix differently is not fixed. */
static void bind(struct assay__shape_state *state, int64_t symbol, int64_t num)
{
    if (!assay__num_plain(state->symbols, symbol) || num == symbol) return;
    for (size_t i = 0; i < state->binding_count; i++) {
        if (state->bindings[i].symbol != symbol) continue;
        if (state->bindings[i].num != num) state->bindings[i].num = ASSAY__SHAPE_ANY;
        return;
    }
    if (assay__vec_grow((void **)&state->bindings, &state->binding_capacity,
                        state->binding_count + 1, sizeof *state->bindings))
        assay__arena_fail(state->arena);
    else
        state->bindings[state->binding_count++] = (struct assay__shape_binding){symbol, num};
}

/* Compares a replaced input with what the file states about it. */
static void bind_input(struct assay__shape_state *state, const struct assay__value *file,
                       const struct assay__value *given)
{
    if (file->rank < 0 || given->rank < 0) return;
    bool comparable = file->rank == given->rank && file->rank <= ASSAY__SHAPE_RANK;
    if (!comparable) state->stale = true;
    for (int i = 0; comparable && i < file->rank; i++) {
        int64_t says = file->dims[i].value;
        if (says >= 0 && says != given->dims[i].value) state->stale = true;
        const char *symbol = given->dims[i].symbol ? given->dims[i].symbol : "";
        int64_t num = given->dims[i].value >= 0 ? given->dims[i].value
                                                : assay__num_symbol(state->symbols, symbol);
        if (says < 0 && file->dims[i].symbol && *file->dims[i].symbol)
            bind(state, assay__num_symbol(state->symbols, file->dims[i].symbol), num);
    }
}

static void fact_contents(struct assay__shape_state *state, const struct assay__value *given,
                          struct assay__fact *fact)
{
    size_t count = given->content_count;
    if (!given->contents || count > ASSAY__SHAPE_VALUES) return;
    int64_t *values = assay__arena_array(state->arena, count, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = assay__num_from_file(given->contents[i]);
    fact->values = values;
    fact->value_count = values ? count : 0;
}

static int seed(struct assay__shapes *scope, const struct assay__value *inputs, size_t input_count)
{
    const struct assay__graph *graph = scope->graph;
    struct assay__shape_state *state = scope->state;
    struct assay__map *given = assay__map_new();
    int code = given ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < input_count && !code; i++)
        code = assay__map_set(given, inputs[i].name, i);
    for (size_t i = 0; i < graph->input_count && !code; i++) {
        size_t at = assay__map_get(given, graph->inputs[i].name);
        if (at != ASSAY__MAP_NONE) bind_input(state, &graph->inputs[i], &inputs[at]);
    }
    assay__map_free(given);
    for (size_t i = 0; i < graph->input_count; i++)
        fact_from_value(state, &graph->inputs[i], assay__scope_add(scope, graph->inputs[i].name));
    add_initializers(scope);
    for (size_t i = 0; i < input_count; i++) {
        char *name = assay__arena_strdup(state->arena, inputs[i].name);
        struct assay__fact *fact = name ? assay__scope_add(scope, name) : &scope->lost;
        fact->tensor = NULL; /* a caller's value replaces the default */
        fact->values = NULL;
        fact_from_value(state, &inputs[i], fact);
        fact_contents(state, &inputs[i], fact);
    }
    return code || assay__arena_failed(state->arena) ? ASSAY_ENOMEM : 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int by_graph(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const struct assay__shape_body *)a)->graph;
    uintptr_t right = (uintptr_t)((const struct assay__shape_body *)b)->graph;
    return (left > right) - (left < right);
}

static int by_node(const void *a, const void *b)
{
    uintptr_t left = (uintptr_t)((const struct assay__shape_control *)a)->node;
    uintptr_t right = (uintptr_t)((const struct assay__shape_control *)b)->node;
    return (left > right) - (left < right);
}

static void state_free(struct assay__shape_state *state)
{
    if (!state) return;
    for (size_t i = 0; i < state->body_count; i++)
        assay__scope_free(state->bodies[i].scope);
    assay__arena_free(state->arena);
    assay__symbols_free(state->symbols);
    free(state->bodies);
    free(state->controls);
    free(state->conflicts);
    assay__map_free(state->said);
    free(state->bindings);
    free(state);
}

/* If a window does not fit the sizes that the caller chose (often 1 by default), the file is not at
 * fault: only conflicts that also occur with the file's own shapes are kept. */
static int keep_own(struct assay__shape_state *state, struct assay_error *error)
{
    struct assay__shapes *own = NULL;
    const struct assay__shape_conflict *conflicts = NULL;
    size_t kept = 0, by_size = 0;
    for (size_t i = 0; i < state->conflict_count; i++)
        by_size += state->conflicts[i].by_size;
    if (!by_size) return 0;
    int code = assay__shapes_infer(state->model, NULL, 0, &own, error);
    if (code) return code;
    size_t count = assay__shapes_conflicts(own, &conflicts);
    for (size_t i = 0; i < state->conflict_count; i++) {
        const struct assay__shape_conflict *mine = &state->conflicts[i];
        size_t k = 0;
        while (k < count && (strcmp(conflicts[k].node, mine->node) != 0 ||
                             strcmp(conflicts[k].op, mine->op) != 0))
            k++;
        if (!mine->by_size || k < count) state->conflicts[kept++] = *mine;
    }
    state->misfits = state->conflict_count - kept;
    state->conflict_count = kept;
    assay__shapes_free(own);
    return 0;
}

int assay__shapes_infer(const struct assay__model *model, const struct assay__value *inputs,
                        size_t input_count, struct assay__shapes **out, struct assay_error *error)
{
    struct assay__shape_state *state = calloc(1, sizeof *state);
    struct assay__shapes *shapes = NULL;
    int code = ASSAY_ENOMEM;
    *out = NULL;
    if (!state) goto out;
    *state = (struct assay__shape_state){.model = model,
                                         .opset = assay__model_opset(model, ""),
                                         .budget = 100000,
                                         .arena = assay__arena_new(),
                                         .symbols = assay__symbols_new()};
    if (!state->arena || !state->symbols) goto out;
    if (!(shapes = assay__scope_new(state, NULL, &model->graph))) goto out;
    code = seed(shapes, inputs, input_count);
    if (!code) code = assay__scope_walk(shapes, error);
    if (!code && input_count) code = keep_own(state, error);
    if (state->body_count) qsort(state->bodies, state->body_count, sizeof *state->bodies, by_graph);
    if (state->control_count)
        qsort(state->controls, state->control_count, sizeof *state->controls, by_node);
out:
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    if (code) {
        assay__scope_free(shapes);
        state_free(state);
    } else {
        *out = shapes;
    }
    return code;
}

void assay__shapes_free(struct assay__shapes *shapes)
{
    if (!shapes) return;
    struct assay__shape_state *state = shapes->parent ? NULL : shapes->state;
    assay__scope_free(shapes);
    state_free(state);
}

/* --- queries ---------------------------------------------------------------------------------- */

const size_t *assay__shapes_order(const struct assay__shapes *shapes)
{
    return shapes->order;
}

const struct assay__shape_entry *assay__shapes_get(const struct assay__shapes *shapes,
                                                   const char *name)
{
    const struct assay__fact *fact = *name ? assay__scope_find(shapes, name) : NULL;
    return fact && !fact->sequence && !fact->optional ? &fact->entry : NULL;
}

bool assay__shapes_overflows(const struct assay__shape_entry *entry)
{
    int64_t bits = entry ? (int64_t)assay__dtype_bits(entry->dtype) : 0;
    if (!entry || entry->rank < 0) return false;
    for (int i = 0; i < entry->rank; i++)
        if (entry->dims[i] <= 0) return false; /* nothing in it, or not known */
    if (bits < 1) bits = 1;
    for (int i = 0; i < entry->rank; i++)
        if (assay__mul_i64_overflows(bits, entry->dims[i], &bits)) return true;
    return false;
}

bool assay__shapes_node_overflows(const struct assay__shapes *shapes,
                                  const struct assay__node *node)
{
    for (size_t i = 0; shapes && i < node->input_count; i++)
        if (assay__shapes_overflows(assay__shapes_get(shapes, node->inputs[i]))) return true;
    for (size_t i = 0; shapes && i < node->output_count; i++)
        if (assay__shapes_overflows(assay__shapes_get(shapes, node->outputs[i]))) return true;
    return false;
}

const char *assay__shapes_symbol(const struct assay__shapes *shapes, int64_t dim)
{
    return dim < -1 ? assay__num_text(shapes->state->symbols, assay__num_of_dim(dim)) : "";
}

const int64_t *assay__shapes_values(const struct assay__shapes *shapes, const char *name,
                                    size_t *count)
{
    const struct assay__fact *fact = *name ? assay__scope_find(shapes, name) : NULL;
    *count = 0;
    if (!fact || !fact->values || fact->sequence || fact->optional ||
        fact->entry.dtype == ASSAY__FLOAT32 || fact->entry.dtype == ASSAY__FLOAT64 ||
        fact->entry.dtype == ASSAY__FLOAT16)
        return NULL;
    for (size_t i = 0; i < fact->value_count; i++)
        if (!assay__num_known(fact->values[i])) return NULL;
    *count = fact->value_count;
    return fact->values;
}

const struct assay__shapes *assay__shapes_body(const struct assay__shapes *shapes,
                                               const struct assay__graph *body)
{
    const struct assay__shape_state *state = shapes->state;
    struct assay__shape_body key = {body, NULL}, *found = NULL;
    if (state->body_count)
        found = bsearch(&key, state->bodies, state->body_count, sizeof key, by_graph);
    return found ? found->scope : NULL;
}

static const struct assay__shape_control *find_control(const struct assay__shapes *shapes,
                                                       const struct assay__node *node)
{
    const struct assay__shape_state *state = shapes->state;
    struct assay__shape_control key = {node, -1, -1};
    if (!state->control_count) return NULL;
    return bsearch(&key, state->controls, state->control_count, sizeof key, by_node);
}

int64_t assay__shapes_trips(const struct assay__shapes *shapes, const struct assay__node *node)
{
    const struct assay__shape_control *control = find_control(shapes, node);
    return control ? control->trips : -1;
}

int assay__shapes_branch(const struct assay__shapes *shapes, const struct assay__node *node)
{
    const struct assay__shape_control *control = find_control(shapes, node);
    return control ? control->branch : -1;
}

size_t assay__shapes_misfits(const struct assay__shapes *shapes)
{
    return shapes->state->misfits;
}

size_t assay__shapes_conflicts(const struct assay__shapes *shapes,
                               const struct assay__shape_conflict **conflicts)
{
    *conflicts = shapes->state->conflicts;
    return shapes->state->conflict_count;
}
