/* mil_map.c - one MIL operation to one node, by its row of mil_table.c. Rows say which of MIL's
 * named inputs become which of the node's, and which constants become attributes; what cannot be
 * said so is kept under MIL's name in the domain "coreml", with the same inputs. An operator
 * without a row is kept too: short constants become its attributes, all else its inputs, by name.
 */
#include "model/coreml/mil.h"

#include <stdlib.h>
#include <string.h>

#define WORD 64

int assay__mil_done(struct assay__mil_call *call, int code)
{
    return code ? assay__onnx_no_memory(&call->coreml->reader) : 0;
}

/* --- words of a row --------------------------------------------------------------------------- */

static bool next_word(const char **at, char out[WORD])
{
    *at += strspn(*at, " ");
    size_t length = strcspn(*at, " ");
    if (!length || length >= WORD) return false;
    memcpy(out, *at, length);
    out[length] = 0;
    *at += length;
    return true;
}

/* --- inputs ----------------------------------------------------------------------------------- */

struct names {
    const char **items;
    size_t count, capacity;
};

static int add_name(struct assay__mil_call *call, struct names *names, const char *name)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 8;
        const char **fresh = assay__arena_array(call->coreml->reader.arena, capacity,
                                                sizeof *fresh);
        if (!fresh) return assay__onnx_no_memory(&call->coreml->reader);
        if (names->count) memcpy(fresh, names->items, names->count * sizeof *fresh);
        names->items = fresh;
        names->capacity = capacity;
    }
    names->items[names->count++] = name;
    return 0;
}

static int add_arg(struct assay__mil_call *call, struct names *names,
                   const struct assay__mil_arg *arg)
{
    for (size_t i = 0; i < arg->count; i++) {
        const char *name = "";
        int code = assay__mil_use(call->coreml, call->scope, arg->defs[i], &name);
        if (!code) code = add_name(call, names, name);
        if (code) return code;
    }
    return 0;
}

/* One word of a row: "x", "axes#", "values*". */
static int add_word(struct assay__mil_call *call, struct names *names, char *word)
{
    size_t length = strlen(word);
    char mark = word[length - 1];
    int64_t *values = NULL;
    size_t count = 0;
    if (mark == '#' || mark == '*') word[length - 1] = 0;
    const struct assay__mil_arg *arg = assay__mil_arg(call, word);
    if (!arg) return add_name(call, names, "");
    if (mark == '#' && assay__mil_ints(call, word, &values, &count)) {
        const char *name = "";
        int code = assay__mil_int64s(call, word, values, count, &name);
        return code ? code : add_name(call, names, name);
    }
    if (mark == '*') return add_arg(call, names, arg);
    const char *name = "";
    int code = assay__mil_use(call->coreml, call->scope, arg->defs[0], &name);
    return code ? code : add_name(call, names, name);
}

static int gather_inputs(struct assay__mil_call *call, const char *inputs, const char *const *extra,
                         struct names *names)
{
    char word[WORD];
    int code = 0;
    while (!code && next_word(&inputs, word)) {
        if (word[0] == '=')
            code = add_name(call, names, *extra++);
        else
            code = add_word(call, names, word);
    }
    while (names->count && !*names->items[names->count - 1])
        names->count--;
    return code;
}

/* --- the node --------------------------------------------------------------------------------- */

static struct assay__node *add_node(struct assay__mil_call *call, const char *op,
                                    const char *domain, const struct names *names, int *code)
{
    struct assay__arena *arena = call->coreml->reader.arena;
    const struct assay__mil_op *from = call->op;
    const char **outputs = assay__arena_array(arena, from->output_count, sizeof *outputs);
    struct assay__graph *graph = call->scope->graph;
    *code = 0;
    for (size_t i = 0; outputs && i < from->output_count && !*code; i++) {
        struct assay__mil_def *def = NULL;
        *code = assay__mil_define(call->coreml, call->scope, from->outputs[i].name, NULL,
                                  &from->outputs[i].type, &def);
        if (*code) return NULL;
        outputs[i] = def->graph_name;
        *code = assay__mil_add_value(call->coreml, &graph->values, &graph->value_count,
                                     def->graph_name, &def->type, false, NULL);
    }
    struct assay__node *node = outputs && !*code
                                   ? assay__graph_add_node(call->coreml->model, graph, op,
                                                           from->name, names->items, names->count,
                                                           outputs, from->output_count)
                                   : NULL;
    if (!node) {
        if (!*code) *code = assay__onnx_no_memory(&call->coreml->reader);
        return NULL;
    }
    node->domain = domain;
    node->source_op = from->type;
    return node;
}

struct assay__node *assay__mil_emit(struct assay__mil_call *call, const char *op,
                                    const char *domain, const char *inputs,
                                    const char *const *extra, int *code)
{
    struct names names = {.items = NULL};
    *code = gather_inputs(call, inputs, extra, &names);
    return *code ? NULL : add_node(call, op, domain, &names, code);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* A constant as an attribute of its own type. ASSAY__MIL_KEEP: it is none that fits. */
static int set_constant(struct assay__mil_call *call, struct assay__node *node, const char *name,
                        const struct assay__mil_value *value)
{
    struct assay__model *model = call->coreml->model;
    enum assay__dtype dtype = value->type.dtype;
    size_t count = (size_t)value->elements;
    bool real = dtype == ASSAY__FLOAT16 || dtype == ASSAY__FLOAT32 || dtype == ASSAY__FLOAT64;
    bool whole = dtype == ASSAY__BOOL ||
                 (value->type.bits >= 8 && !real && dtype != ASSAY__BFLOAT16 &&
                  dtype != ASSAY__FLOAT8E4M3FN && dtype != ASSAY__FLOAT8E5M2);
    if (value->elements < 0 || value->elements > ASSAY__COREML_SMALL) return ASSAY__MIL_KEEP;
    if (value->strings)
        return count == 1 ? assay__node_set_string(model, node, name, value->strings[0])
                          : ASSAY__MIL_KEEP;
    if (count && !value->data) return ASSAY__MIL_KEEP;
    if (real && value->type.rank == 0)
        return assay__node_set_float(model, node, name, (float)assay__mil_value_float(value, 0));
    if (whole && value->type.rank == 0)
        return assay__node_set_int(model, node, name, assay__mil_value_int(value, 0));
    if (!real && !whole) return ASSAY__MIL_KEEP;
    int64_t ints[ASSAY__COREML_SMALL];
    float floats[ASSAY__COREML_SMALL];
    for (size_t i = 0; i < count; i++) {
        if (real)
            floats[i] = (float)assay__mil_value_float(value, i);
        else
            ints[i] = assay__mil_value_int(value, i);
    }
    return real ? assay__node_set_floats(model, node, name, floats, count)
                : assay__node_set_ints(model, node, name, ints, count);
}

/* "keep_dims>keepdims=0" in its parts; a word without '>' keeps its name. */
static void split_word(char *word, const char **from, const char **to, const char **otherwise)
{
    char *equals = strchr(word, '='), *arrow = strchr(word, '>');
    if (equals) *equals = 0;
    if (arrow) *arrow = 0;
    *from = word;
    *to = arrow ? arrow + 1 : word;
    *otherwise = equals ? equals + 1 : NULL;
}

/* Before the node is made: is all that should become an attribute constant? */
static bool attributes_known(struct assay__mil_call *call, const char *attributes)
{
    char word[WORD];
    const char *from, *to, *otherwise;
    while (next_word(&attributes, word)) {
        split_word(word, &from, &to, &otherwise);
        const struct assay__mil_value *value = assay__mil_constant(call, from);
        if (assay__mil_has(call, from) && (!value || value->elements > ASSAY__COREML_SMALL))
            return false;
    }
    return true;
}

static int set_attributes(struct assay__mil_call *call, struct assay__node *node,
                          const char *attributes)
{
    char word[WORD];
    const char *from, *to, *otherwise;
    int code = 0;
    while (!code && next_word(&attributes, word)) {
        split_word(word, &from, &to, &otherwise);
        const struct assay__mil_value *value = assay__mil_constant(call, from);
        if (value)
            code = set_constant(call, node, to, value);
        else if (otherwise && !assay__mil_has(call, from))
            code = assay__node_set_int(call->coreml->model, node, to, strtoll(otherwise, NULL, 10));
        if (code == ASSAY__MIL_KEEP) code = 0; /* a list of strings: it has no meaning for us */
    }
    return code < 0 ? assay__onnx_no_memory(&call->coreml->reader) : code;
}

/* --- keeping ---------------------------------------------------------------------------------- */

static bool is_short(const struct assay__mil_arg *arg)
{
    const struct assay__mil_value *value = arg->count == 1 ? arg->defs[0]->value : NULL;
    return value && (value->type.rank == 0 || value->strings ||
                     (value->elements <= 16 && value->type.dtype == ASSAY__INT32));
}

/* An operator that we know nothing of. */
static int keep_unknown(struct assay__mil_call *call)
{
    struct names names = {.items = NULL};
    int code = 0;
    for (size_t i = 0; i < call->op->arg_count && !code; i++)
        if (!is_short(&call->op->args[i])) code = add_arg(call, &names, &call->op->args[i]);
    if (code) return code;
    struct assay__node *node = add_node(call, call->op->type, ASSAY__COREML_DOMAIN, &names, &code);
    for (size_t i = 0; node && i < call->op->arg_count && !code; i++) {
        const struct assay__mil_arg *arg = &call->op->args[i];
        if (!is_short(arg)) continue;
        code = set_constant(call, node, arg->name, arg->defs[0]->value);
        if (code == ASSAY__MIL_KEEP) code = 0;
        if (code) code = assay__onnx_no_memory(&call->coreml->reader);
    }
    return code;
}

static int keep_as_coreml(struct assay__mil_call *call)
{
    int code = 0;
    if (!call->row) return keep_unknown(call);
    struct assay__node *node = assay__mil_emit(call, call->op->type, ASSAY__COREML_DOMAIN,
                                               call->row->inputs, NULL, &code);
    return node ? set_attributes(call, node, call->row->attributes) : code;
}

int assay__mil_map_op(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                      const struct assay__mil_op *op)
{
    struct assay__mil_call call = {
        .coreml = coreml, .scope = scope, .op = op, .row = assay__mil_row(op->type)};
    int code = ASSAY__MIL_KEEP;
    if (!op->output_count && !call.row) return keep_unknown(&call);
    if (call.row && call.row->map && op->output_count) code = call.row->map(&call);
    if (code != ASSAY__MIL_KEEP) return code;
    if (!call.row || call.row->map || !call.row->onnx ||
        !attributes_known(&call, call.row->attributes))
        return keep_as_coreml(&call);
    struct assay__node *node = assay__mil_emit(&call, call.row->onnx, "", call.row->inputs, NULL,
                                               &code);
    return node ? set_attributes(&call, node, call.row->attributes) : code;
}
