/* mil_map.c - one MIL operation to one node, by its row of mil_table.c. Rows give which of MIL's
 * named inputs become which of the node's, and which constants become attributes; what cannot be
 * expressed like that is kept under MIL's name in the domain "coreml", with the same inputs. An
 * operator without a row is kept too: short constants become its attributes, everything else its
 * inputs, by name. */
#include "model/coreml/mil.h"

#include "model/tensor_data.h"

#include <stdlib.h>
#include <string.h>

/* --- what a mapping asks of an operation's inputs: given, constant, what does it hold? ---------
 */

const struct assay__mil_arg *assay__mil_arg(const struct assay__mil_call *call, const char *name)
{
    for (size_t i = 0; i < call->op->arg_count; i++)
        if (strcmp(call->op->args[i].name, name) == 0 && call->op->args[i].count)
            return &call->op->args[i];
    return NULL;
}

bool assay__mil_has(const struct assay__mil_call *call, const char *name)
{
    return assay__mil_arg(call, name) != NULL;
}

const struct assay__mil_value *assay__mil_constant(const struct assay__mil_call *call,
                                                   const char *name)
{
    const struct assay__mil_arg *arg = assay__mil_arg(call, name);
    return arg && arg->count == 1 ? arg->defs[0]->value : NULL;
}

const struct assay__mil_type *assay__mil_type_of(const struct assay__mil_call *call,
                                                 const char *name)
{
    const struct assay__mil_arg *arg = assay__mil_arg(call, name);
    return arg ? &arg->defs[0]->type : NULL;
}

int64_t assay__mil_value_int(const struct assay__mil_value *value, size_t i)
{
    const uint8_t *at = value->data + i * (size_t)value->type.bits / 8;
    switch (value->type.dtype) {
    case ASSAY__INT64:
    case ASSAY__UINT64: return (int64_t)assay__wire_u64(at);
    case ASSAY__INT32: return (int32_t)assay__wire_u32(at);
    case ASSAY__UINT32: return assay__wire_u32(at);
    case ASSAY__INT16: return (int16_t)(at[0] | at[1] << 8);
    case ASSAY__UINT16: return (uint16_t)(at[0] | at[1] << 8);
    case ASSAY__INT8: return (int8_t)at[0];
    default: return at[0]; /* BOOL, UINT8 */
    }
}

bool assay__mil_is_integer(const struct assay__mil_value *value)
{
    enum assay__dtype dtype = value->type.dtype;
    bool whole = (dtype >= ASSAY__UINT8 && dtype <= ASSAY__INT64) || dtype == ASSAY__BOOL ||
                 dtype == ASSAY__UINT32 || dtype == ASSAY__UINT64;
    return whole && (value->data || !value->elements);
}

bool assay__mil_is_float(const struct assay__mil_value *value)
{
    return value->data &&
           (value->type.dtype == ASSAY__FLOAT16 || value->type.dtype == ASSAY__FLOAT32 ||
            value->type.dtype == ASSAY__FLOAT64);
}

double assay__mil_value_float(const struct assay__mil_value *value, size_t i)
{
    const uint8_t *at = value->data + i * (size_t)value->type.bits / 8;
    if (value->type.dtype == ASSAY__FLOAT16)
        return assay__half_to_float((uint16_t)(at[0] | at[1] << 8));
    if (value->type.dtype == ASSAY__FLOAT32) {
        uint32_t bits = assay__wire_u32(at);
        float number;
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    if (value->type.dtype == ASSAY__FLOAT64) {
        uint64_t bits = assay__wire_u64(at);
        double number;
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    return (double)assay__mil_value_int(value, i);
}

/* A single constant that is `good`; otherwise NULL, and `unknown` if there is something else. */
static const struct assay__mil_value *single(struct assay__mil_call *call, const char *name,
                                             bool (*good)(const struct assay__mil_value *))
{
    const struct assay__mil_value *constant = assay__mil_constant(call, name);
    if (constant && constant->elements == 1 && good(constant)) return constant;
    call->unknown |= assay__mil_has(call, name);
    return NULL;
}

static bool is_number(const struct assay__mil_value *value)
{
    return assay__mil_is_float(value) || assay__mil_is_integer(value);
}

static bool is_text(const struct assay__mil_value *value)
{
    return value->strings != NULL;
}

int64_t assay__mil_int(struct assay__mil_call *call, const char *name, int64_t otherwise)
{
    const struct assay__mil_value *constant = single(call, name, assay__mil_is_integer);
    return constant ? assay__mil_value_int(constant, 0) : otherwise;
}

double assay__mil_float(struct assay__mil_call *call, const char *name, double otherwise)
{
    const struct assay__mil_value *constant = single(call, name, is_number);
    return constant ? assay__mil_value_float(constant, 0) : otherwise;
}

const char *assay__mil_string(struct assay__mil_call *call, const char *name, const char *otherwise)
{
    const struct assay__mil_value *constant = single(call, name, is_text);
    return constant ? constant->strings[0] : otherwise;
}

int64_t *assay__mil_ints(struct assay__mil_call *call, const char *name, size_t *count)
{
    const struct assay__mil_value *constant = assay__mil_constant(call, name);
    int64_t *values = NULL;
    *count = 0;
    if (!assay__mil_has(call, name)) return NULL;
    if (constant && assay__mil_is_integer(constant) && constant->elements <= ASSAY__COREML_SMALL)
        values = assay__arena_array(call->coreml->reader.arena, (size_t)constant->elements,
                                    sizeof *values);
    if (!values) {
        call->unknown = true;
        return NULL;
    }
    *count = (size_t)constant->elements;
    for (size_t i = 0; i < *count; i++)
        values[i] = assay__mil_value_int(constant, i);
    return values;
}

/* --- the node --------------------------------------------------------------------------------- */

struct names {
    const char **items;
    size_t count;
};

static void add_name(struct assay__mil_call *call, struct names *names, const char *name)
{
    struct assay__reader *reader = &call->coreml->reader;
    void *items = assay__arena_grow(reader->arena, names->items, names->count,
                                    sizeof *names->items);
    if (!items) {
        assay__reader_no_memory(reader);
        return;
    }
    names->items = items;
    names->items[names->count++] = name;
}

static void add_arg(struct assay__mil_call *call, struct names *names,
                    const struct assay__mil_arg *arg)
{
    for (size_t i = 0; i < arg->count; i++)
        add_name(call, names, assay__mil_use(call->coreml, arg->defs[i]));
}

static struct assay__node *add_node(struct assay__mil_call *call, const char *op,
                                    const struct names *names)
{
    struct assay__coreml *coreml = call->coreml;
    const struct assay__mil_op *from = call->op;
    struct assay__graph *graph = call->scope->graph;
    const char **outputs = assay__reader_array(&coreml->reader, from->output_count,
                                               sizeof *outputs);
    for (size_t i = 0; i < from->output_count && !coreml->reader.code; i++) {
        struct assay__mil_def *def = assay__mil_define(coreml, call->scope, from->outputs[i].name,
                                                       &from->outputs[i].type);
        if (!def) break;
        outputs[i] = def->graph_name;
        assay__mil_add_value(coreml, &graph->values, &graph->value_count, def->graph_name,
                             &def->type, false, NULL);
    }
    if (coreml->reader.code) return NULL;
    struct assay__node *node = assay__graph_add_node(coreml->model, graph, op, from->name,
                                                     names->items, names->count, outputs,
                                                     from->output_count);
    if (node) node->source_op = from->type;
    return node;
}

struct assay__node *assay__mil_emit(struct assay__mil_call *call, const char *op,
                                    const char *inputs, const char *const *extra)
{
    struct names names = {.items = NULL};
    char word[ASSAY__WORD];
    while (assay__next_word(&inputs, word)) { /* "x", "axes#", "values*", "=NAME" */
        if (word[0] == '=') {
            add_name(call, &names, *extra++);
            continue;
        }
        size_t last = strlen(word) - 1, count = 0;
        char mark = word[last];
        if (mark == '#' || mark == '*') word[last] = 0;
        const struct assay__mil_arg *arg = assay__mil_arg(call, word);
        int64_t *values = mark == '#' ? assay__mil_ints(call, word, &count) : NULL;
        if (!arg)
            add_name(call, &names, "");
        else if (values)
            add_name(call, &names, assay__mil_int64s(call, word, values, count));
        else if (mark == '*')
            add_arg(call, &names, arg);
        else
            add_name(call, &names, assay__mil_use(call->coreml, arg->defs[0]));
    }
    while (names.count && !*names.items[names.count - 1])
        names.count--;
    return add_node(call, op, &names);
}

/* A constant as an attribute of its own type; nothing for lists of strings, large constants, and
 * types without an ONNX attribute. */
static void set_constant(struct assay__mil_call *call, struct assay__node *node, const char *name,
                         const struct assay__mil_value *value)
{
    size_t count = (size_t)value->elements;
    int64_t ints[ASSAY__COREML_SMALL];
    float floats[ASSAY__COREML_SMALL];
    bool whole = assay__mil_is_integer(value), real = assay__mil_is_float(value);
    if (value->elements < 0 || value->elements > ASSAY__COREML_SMALL) return;
    if (value->strings) {
        if (count == 1) assay__node_set_string(call->model, node, name, value->strings[0]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (real) floats[i] = (float)assay__mil_value_float(value, i);
        if (whole) ints[i] = assay__mil_value_int(value, i);
    }
    if (real && value->type.rank == 0)
        assay__node_set_float(call->model, node, name, floats[0]);
    else if (whole && value->type.rank == 0)
        assay__node_set_int(call->model, node, name, ints[0]);
    else if (real)
        assay__node_set_floats(call->model, node, name, floats, count);
    else if (whole)
        assay__node_set_ints(call->model, node, name, ints, count);
}

/* Splits "keep_dims>keepdims=0" into its parts; a word without '>' keeps its name. */
static void split_word(char *word, const char **from, const char **to, const char **otherwise)
{
    char *equals = strchr(word, '='), *arrow = strchr(word, '>');
    if (equals) *equals = 0;
    if (arrow) *arrow = 0;
    *from = word;
    *to = arrow ? arrow + 1 : word;
    *otherwise = equals ? equals + 1 : NULL;
}

/* Before the node is created: whether everything that should become an attribute is constant. */
static bool attributes_known(struct assay__mil_call *call, const char *attributes)
{
    char word[ASSAY__WORD];
    const char *from, *to, *otherwise;
    while (assay__next_word(&attributes, word)) {
        split_word(word, &from, &to, &otherwise);
        const struct assay__mil_value *value = assay__mil_constant(call, from);
        if (assay__mil_has(call, from) && (!value || value->elements > ASSAY__COREML_SMALL))
            return false;
    }
    return true;
}

static bool is_short(const struct assay__mil_arg *arg)
{
    const struct assay__mil_value *value = arg->count == 1 ? arg->defs[0]->value : NULL;
    return value && (value->type.rank == 0 || value->strings ||
                     (value->elements <= 16 && value->type.dtype == ASSAY__INT32));
}

/* An operator that is not in the table. */
static void keep_unknown(struct assay__mil_call *call)
{
    const struct assay__mil_op *op = call->op;
    struct names names = {.items = NULL};
    for (size_t i = 0; i < op->arg_count; i++)
        if (!is_short(&op->args[i])) add_arg(call, &names, &op->args[i]);
    struct assay__node *node = add_node(call, op->type, &names);
    if (node) node->domain = ASSAY__COREML_DOMAIN;
    for (size_t i = 0; i < op->arg_count; i++)
        if (is_short(&op->args[i]))
            set_constant(call, node, op->args[i].name, op->args[i].defs[0]->value);
}

void assay__mil_map_op(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                       const struct assay__mil_op *op)
{
    struct assay__mil_call call = {
        .coreml = coreml, .model = coreml->model, .scope = scope, .op = op};
    const struct assay__mil_row *row = call.row = assay__mil_row(op->type, call.onnx);
    if (!row) {
        keep_unknown(&call);
        return;
    }
    if (row->map && op->output_count && row->map(&call) != ASSAY__MIL_KEEP) return;
    bool keep = row->map || !*call.onnx || !attributes_known(&call, row->attributes);
    struct assay__node *node = assay__mil_emit(&call, keep ? op->type : call.onnx, row->inputs,
                                               NULL);
    if (node && keep) node->domain = ASSAY__COREML_DOMAIN;
    const char *attributes = row->attributes, *from, *to, *otherwise;
    char word[ASSAY__WORD];
    while (assay__next_word(&attributes, word)) {
        split_word(word, &from, &to, &otherwise);
        const struct assay__mil_value *value = assay__mil_constant(&call, from);
        if (value)
            set_constant(&call, node, to, value);
        else if (otherwise && !assay__mil_has(&call, from))
            assay__node_set_int(call.model, node, to, strtoll(otherwise, NULL, 10));
    }
}
