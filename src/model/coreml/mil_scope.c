/* mil_scope.c - names while MIL is read, and how constants get into the graph. A block sees its own
 * names and those of the blocks around it; a name that can be read is not given a second time. */
#include "model/coreml/mil.h"

#include "base/checked.h"

#include <string.h>

int assay__mil_scope_open(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                          struct assay__mil_scope *parent, struct assay__graph *graph,
                          const char *prefix)
{
    *scope = (struct assay__mil_scope){.parent = parent,
                                       .graph = graph,
                                       .map = assay__map_new(),
                                       .prefix = prefix,
                                       .depth = parent ? parent->depth + 1 : 0};
    if (!scope->map) return assay__onnx_no_memory(&coreml->reader);
    if (scope->depth <= ASSAY__MIL_DEPTH) return 0;
    return assay_error_set(coreml->reader.error, ASSAY_ELIMIT, "%.160s: blocks nest too deep",
                           coreml->reader.label);
}

void assay__mil_scope_close(struct assay__mil_scope *scope)
{
    assay__map_free(scope->map);
    scope->map = NULL;
}

struct assay__mil_def *assay__mil_find(const struct assay__mil_scope *scope, const char *name)
{
    for (; scope; scope = scope->parent) {
        size_t i = assay__map_get(scope->map, name);
        if (i != ASSAY__MAP_NONE) return scope->defs[i];
    }
    return NULL;
}

static int add_def(struct assay__coreml *coreml, struct assay__mil_scope *scope, const char *name,
                   struct assay__mil_def *def)
{
    if (scope->count == scope->capacity) {
        size_t capacity = scope->capacity ? 2 * scope->capacity : 16;
        struct assay__mil_def **fresh = assay__arena_array(coreml->reader.arena, capacity,
                                                           sizeof *fresh);
        if (!fresh) return assay__onnx_no_memory(&coreml->reader);
        if (scope->count) memcpy(fresh, scope->defs, scope->count * sizeof *fresh);
        scope->defs = fresh;
        scope->capacity = capacity;
    }
    if (assay__map_set(scope->map, name, scope->count))
        return assay__onnx_no_memory(&coreml->reader);
    scope->defs[scope->count++] = def;
    return 0;
}

int assay__mil_alias(struct assay__coreml *coreml, struct assay__mil_scope *scope, const char *name,
                     struct assay__mil_def *def)
{
    return add_def(coreml, scope, name, def);
}

int assay__mil_define(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                      const char *name, const char *graph_name, const struct assay__mil_type *type,
                      struct assay__mil_def **out)
{
    struct assay__arena *arena = coreml->reader.arena;
    if (!*name || assay__mil_find(scope, name))
        return assay_error_set(coreml->reader.error, ASSAY_EFORMAT,
                               *name ? "%.160s: two values are called '%.100s'"
                                     : "%.160s: a value without a name%.100s",
                               coreml->reader.label, name);
    struct assay__mil_def *def = assay__arena_alloc(arena, sizeof *def);
    if (def && !graph_name)
        graph_name = *scope->prefix ? assay__arena_printf(arena, "%s%s", scope->prefix, name)
                                    : name;
    if (!def || !graph_name) return assay__onnx_no_memory(&coreml->reader);
    *def = (struct assay__mil_def){
        .name = name, .graph_name = graph_name, .type = *type, .scope = scope};
    if (out) *out = def;
    return add_def(coreml, scope, name, def);
}

/* --- constants -------------------------------------------------------------------------------- */

/* What ONNX has no type for (1, 3 and 6 bits) is kept as the bytes that are stored. */
static struct assay__tensor *add_tensor(struct assay__model *model, struct assay__graph *graph,
                                        const char *name, const struct assay__mil_value *value)
{
    int64_t bytes = (int64_t)value->size;
    if (value->strings) {
        struct assay__tensor *tensor = assay__graph_add_initializer(
            model, graph, name, ASSAY__STRING, value->type.rank, value->type.dims, NULL, 0);
        if (!tensor) return NULL;
        tensor->strings = value->strings;
        tensor->string_count = (size_t)value->elements;
        return tensor;
    }
    if (value->type.dtype == ASSAY__UNDEFINED)
        return assay__graph_add_initializer(model, graph, name, ASSAY__UINT8, 1, &bytes,
                                            value->data, value->size);
    return assay__graph_add_initializer(model, graph, name, value->type.dtype, value->type.rank,
                                        value->type.dims, value->data, value->size);
}

/* A single number is a Constant node: it is no weight. */
static int add_constant(struct assay__coreml *coreml, struct assay__graph *graph, const char *name,
                        const struct assay__mil_value *value)
{
    struct assay__model *model = coreml->model;
    struct assay__graph holder = {.name = ""};
    struct assay__tensor *tensor = add_tensor(model, &holder, name, value);
    struct assay__node *node = tensor ? assay__graph_add_node(model, graph, "Constant", name, NULL,
                                                              0, &name, 1)
                                      : NULL;
    struct assay__attr *attr = node ? assay__arena_alloc(model->arena, sizeof *attr) : NULL;
    if (!attr) return assay__onnx_no_memory(&coreml->reader);
    *attr = (struct assay__attr){
        .name = "value", .type = ASSAY__ATTR_TENSOR, .s = "", .reference = "", .t = tensor};
    node->source_op = "const";
    node->attrs = attr;
    node->attr_count = 1;
    return 0;
}

int assay__mil_use(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                   struct assay__mil_def *def, const char **name)
{
    const struct assay__mil_value *value = def->value;
    struct assay__graph *graph = def->scope->graph;
    (void)scope;
    *name = def->graph_name;
    if (!value || def->emitted) return 0;
    if (!value->strings && !value->data && value->elements) { /* a list or a dictionary */
        *name = "";
        return 0;
    }
    def->emitted = true;
    if (value->elements == 1 && !value->strings)
        return add_constant(coreml, graph, def->graph_name, value);
    if (!add_tensor(coreml->model, graph, def->graph_name, value))
        return assay__onnx_no_memory(&coreml->reader);
    return 0;
}

/* --- initializers of our own ------------------------------------------------------------------ */

static int own(struct assay__mil_call *call, const char *suffix, enum assay__dtype dtype,
               const void *numbers, size_t count, size_t size, const char **name)
{
    struct assay__arena *arena = call->coreml->reader.arena;
    const struct assay__mil_type type = {.kind = ASSAY__MIL_TENSOR, .dtype = dtype, .rank = 1};
    int64_t dims = (int64_t)count;
    void *data = assay__arena_array(arena, count, size);
    const char *stem = call->op->output_count ? call->op->outputs[0].name : call->op->name;
    char *text = assay__arena_printf(arena, "%s.%s", stem, suffix);
    struct assay__mil_def *def = NULL;
    if (!data || !text) return assay__onnx_no_memory(&call->coreml->reader);
    if (count) memcpy(data, numbers, count * size);
    int code = assay__mil_define(call->coreml, call->scope, text, NULL, &type, &def);
    if (code) return code;
    *name = def->graph_name;
    if (!assay__graph_add_initializer(call->coreml->model, call->scope->graph, *name, dtype, 1,
                                      &dims, data, count * size))
        return assay__onnx_no_memory(&call->coreml->reader);
    return 0;
}

int assay__mil_int64s(struct assay__mil_call *call, const char *suffix, const int64_t *values,
                      size_t count, const char **name)
{
    return own(call, suffix, ASSAY__INT64, values, count, sizeof *values, name);
}

int assay__mil_floats(struct assay__mil_call *call, const char *suffix, const float *values,
                      size_t count, const char **name)
{
    return own(call, suffix, ASSAY__FLOAT32, values, count, sizeof *values, name);
}

/* A tensor of 1, 3 or 6 bits per number, which ONNX does not have, as the bytes it takes; 0: not
 * such a one. */
static int64_t packed_bytes(const struct assay__mil_type *type)
{
    int64_t bits = type->bits;
    if (type->kind != ASSAY__MIL_TENSOR || type->dtype != ASSAY__UNDEFINED || type->rank < 0)
        return 0;
    for (int i = 0; i < type->rank; i++)
        if (type->dims[i] < 0 || assay__mul_i64_overflows(bits, type->dims[i], &bits)) return 0;
    return bits / 8 + (bits % 8 != 0);
}

int assay__mil_add_value(struct assay__coreml *coreml, struct assay__value **list, size_t *count,
                         const char *name, const struct assay__mil_type *type, bool symbols,
                         const bool *flexible)
{
    struct assay__dim *dims = NULL;
    int64_t bytes = packed_bytes(type);
    struct assay__mil_type packed = {
        .kind = ASSAY__MIL_TENSOR, .dtype = ASSAY__UINT8, .bits = 8, .rank = 1, .dims = &bytes};
    if (bytes) type = &packed;
    if (type->rank > 0 && symbols) {
        dims = assay__coreml_dims(coreml, name, type->rank, type->dims, flexible);
    } else if (type->rank > 0) {
        dims = assay__arena_array(coreml->reader.arena, (size_t)type->rank, sizeof *dims);
        for (int i = 0; dims && i < type->rank; i++)
            dims[i] = (struct assay__dim){.value = type->dims[i], .symbol = ""};
    }
    if ((type->rank > 0 && !dims) ||
        assay__graph_add_value(coreml->model, list, count, name, type->dtype, type->rank, dims))
        return assay__onnx_no_memory(&coreml->reader);
    if (type->kind != ASSAY__MIL_TENSOR) (*list)[*count - 1].kind = ASSAY__KIND_UNKNOWN;
    return 0;
}
