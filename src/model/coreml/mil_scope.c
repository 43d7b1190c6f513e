/* mil_scope.c - names while reading MIL, and how constants get into the graph. A block sees its own
 * names and those of the enclosing blocks; a visible name is not defined a second time. */
#include "model/coreml/mil.h"

#include "base/checked.h"

#include <string.h>

void assay__mil_scope_open(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                           struct assay__mil_scope *parent, struct assay__graph *graph,
                           const char *prefix)
{
    *scope = (struct assay__mil_scope){.parent = parent,
                                       .graph = graph,
                                       .map = assay__map_new(),
                                       .prefix = prefix,
                                       .depth = parent ? parent->depth + 1 : 0};
    if (!scope->map) assay__reader_no_memory(&coreml->reader);
    if (scope->depth > ASSAY__MIL_DEPTH)
        assay__reader_refuse(&coreml->reader, ASSAY_ELIMIT, "blocks are nested too deeply");
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

void assay__mil_alias(struct assay__coreml *coreml, struct assay__mil_scope *scope,
                      const char *name, struct assay__mil_def *def)
{
    struct assay__mil_def **defs = assay__arena_grow(coreml->reader.arena, scope->defs,
                                                     scope->count, sizeof(struct assay__mil_def *));
    if (!defs || assay__map_set(scope->map, name, scope->count)) {
        assay__reader_no_memory(&coreml->reader);
        return;
    }
    scope->defs = defs;
    scope->defs[scope->count++] = def;
}

struct assay__mil_def *assay__mil_define(struct assay__coreml *coreml,
                                         struct assay__mil_scope *scope, const char *name,
                                         const struct assay__mil_type *type)
{
    struct assay__reader *reader = &coreml->reader;
    if (!*name) assay__reader_refuse(reader, ASSAY_EFORMAT, "a value without a name");
    if (assay__mil_find(scope, name))
        assay__reader_refuse(reader, ASSAY_EFORMAT, "two values are called '%.100s'", name);
    struct assay__mil_def *def = assay__reader_array(reader, 1, sizeof *def);
    if (!def) return NULL;
    *def = (struct assay__mil_def){
        .name = name,
        .graph_name = *scope->prefix ? assay__reader_printf(reader, "%s%s", scope->prefix, name)
                                     : name,
        .type = *type,
        .scope = scope};
    assay__mil_alias(coreml, scope, name, def);
    return reader->code ? NULL : def;
}

const char *assay__mil_use(struct assay__coreml *coreml, struct assay__mil_def *def)
{
    struct assay__model *model = coreml->model;
    const struct assay__mil_value *value = def->value;
    const char *name = def->graph_name;
    struct assay__graph *graph = def->scope->graph, holder = {.name = ""};
    if (!value || def->emitted || coreml->reader.code) return name;
    if (!value->strings && !value->data && value->elements) return ""; /* a list, a dictionary */
    def->emitted = true;
    /* a single number is a Constant node: it is not a weight */
    bool single = value->elements == 1 && !value->strings;
    /* data without an ONNX type (1, 3 and 6 bits) is kept as the stored bytes */
    bool packed = !value->strings && value->type.dtype == ASSAY__UNDEFINED;
    int64_t bytes = (int64_t)value->size;
    struct assay__tensor *tensor = assay__graph_add_initializer(
        model, single ? &holder : graph, name,
        packed           ? ASSAY__UINT8
        : value->strings ? ASSAY__STRING
                         : value->type.dtype,
        packed ? 1 : value->type.rank, packed ? &bytes : value->type.dims, value->data,
        value->size);
    if (tensor && value->strings) {
        tensor->strings = value->strings;
        tensor->string_count = (size_t)value->elements;
    }
    if (!single) return name;
    struct assay__node *node = assay__graph_add_node(model, graph, "Constant", name, NULL, 0, &name,
                                                     1);
    if (node) node->source_op = "const";
    assay__node_set_tensor(model, node, "value", tensor);
    return name;
}

static const char *own(struct assay__mil_call *call, const char *suffix, enum assay__dtype dtype,
                       const void *numbers, size_t count, size_t size)
{
    struct assay__reader *reader = &call->coreml->reader;
    const struct assay__mil_type type = {.kind = ASSAY__MIL_TENSOR, .dtype = dtype, .rank = 1};
    int64_t dims = (int64_t)count;
    void *data = assay__reader_array(reader, count, size);
    const char *stem = call->op->output_count ? call->op->outputs[0].name : call->op->name;
    struct assay__mil_def *def = assay__mil_define(
        call->coreml, call->scope, assay__reader_printf(reader, "%s.%s", stem, suffix), &type);
    if (!data || !def) return "";
    if (count) memcpy(data, numbers, count * size);
    assay__graph_add_initializer(call->model, call->scope->graph, def->graph_name, dtype, 1, &dims,
                                 data, count * size);
    return def->graph_name;
}

const char *assay__mil_int64s(struct assay__mil_call *call, const char *suffix,
                              const int64_t *values, size_t count)
{
    return own(call, suffix, ASSAY__INT64, values, count, sizeof *values);
}

const char *assay__mil_floats(struct assay__mil_call *call, const char *suffix, const float *values,
                              size_t count)
{
    return own(call, suffix, ASSAY__FLOAT32, values, count, sizeof *values);
}

void assay__mil_add_value(struct assay__coreml *coreml, struct assay__value **list, size_t *count,
                          const char *name, const struct assay__mil_type *type, bool symbols,
                          const bool *flexible)
{
    struct assay__dim *dims = NULL;
    struct assay__mil_type packed = {
        .kind = ASSAY__MIL_TENSOR, .dtype = ASSAY__UINT8, .bits = 8, .rank = 1};
    /* a tensor of 1, 3 or 6 bits per number, which ONNX does not have, is kept as bytes */
    int64_t bits = type->kind == ASSAY__MIL_TENSOR && type->dtype == ASSAY__UNDEFINED &&
                           type->rank >= 0
                       ? type->bits
                       : 0;
    for (int i = 0; bits && i < type->rank; i++)
        if (type->dims[i] < 0 || assay__mul_i64_overflows(bits, type->dims[i], &bits)) bits = 0;
    int64_t bytes = bits / 8 + (bits % 8 != 0);
    packed.dims = &bytes;
    if (bytes) type = &packed;
    if (type->rank > 0 && symbols) {
        dims = assay__coreml_dims(coreml, name, type->rank, type->dims, flexible);
    } else if (type->rank > 0) {
        dims = assay__reader_array(&coreml->reader, (size_t)type->rank, sizeof *dims);
        for (int i = 0; dims && i < type->rank; i++)
            dims[i] = (struct assay__dim){.value = type->dims[i], .symbol = ""};
    }
    if (coreml->reader.code ||
        assay__graph_add_value(coreml->model, list, count, name, type->dtype, type->rank, dims))
        return;
    if (type->kind != ASSAY__MIL_TENSOR) (*list)[*count - 1].kind = ASSAY__KIND_UNKNOWN;
}
