/* rewrite.c - shared by the rewrites; see rewrite_graph.h. */
#include "model/rewrite/rewrite_graph.h"

#include "base/checked.h"
#include "model/op_words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IR_INITIALIZERS_APART 4 /* from here on initializers need not be inputs */

int assay__rewrite_no_memory(struct assay_error *error)
{
    return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the rewritten model");
}

int assay__rewrite_note(struct assay__rewrite_notes *notes, const char *format, ...)
{
    char line[512];
    va_list args;
    if (!notes) return 0;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const char **lines = assay__arena_grow(notes->arena, notes->lines, notes->count, sizeof *lines);
    const char *copy = assay__arena_strdup(notes->arena, line);
    if (!lines || !copy) return ASSAY_ENOMEM;
    notes->lines = lines;
    notes->lines[notes->count++] = copy;
    return 0;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Names that a graph defines: inputs, constants, results of nodes. */
static int take_made(struct assay__map *names, const struct assay__graph *graph)
{
    int code = 0;
    for (size_t i = 0; i < graph->input_count && !code; i++)
        code = assay__map_set(names, graph->inputs[i].name, 1);
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(names, graph->initializers[i].name, 1);
    for (size_t i = 0; i < graph->sparse_count && graph->sparse_tensors && !code; i++)
        if (graph->sparse_tensors[i].name)
            code = assay__map_set(names, graph->sparse_tensors[i].name, 1);
    for (size_t i = 0; i < graph->node_count && !code; i++)
        for (size_t k = 0; k < graph->nodes[i].output_count && !code; k++)
            code = assay__map_set(names, graph->nodes[i].outputs[k], 1);
    return code;
}

static int take_graph(void *taken, struct assay__graph *graph)
{
    int code = take_made(taken, graph);
    for (size_t i = 0; i < graph->output_count && !code; i++)
        code = assay__map_set(taken, graph->outputs[i].name, 1);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        code = assay__map_set(taken, node->name, 1);
        for (size_t k = 0; k < node->input_count && !code; k++)
            code = assay__map_set(taken, node->inputs[k], 1);
    }
    return code;
}

int assay__namer_open(struct assay__namer *namer, struct assay__model *model,
                      struct assay_error *error)
{
    *namer = (struct assay__namer){.model = model, .taken = assay__map_new()};
    if (namer->taken && assay__rewrite_each_graph(&model->graph, take_graph, namer->taken) == 0)
        return 0;
    assay__namer_close(namer);
    return assay__rewrite_no_memory(error);
}

void assay__namer_close(struct assay__namer *namer)
{
    assay__map_free(namer->taken);
    namer->taken = NULL;
}

const char *assay__namer_make(struct assay__namer *namer, const char *base, const char *suffix)
{
    const char *name = assay__arena_printf(namer->model->arena, "%s%s", base, suffix);
    for (unsigned n = 2; name && assay__map_has(namer->taken, name); n++)
        name = assay__arena_printf(namer->model->arena, "%s%s_%u", base, suffix, n);
    if (name && assay__map_set(namer->taken, name, 1) == 0) return name;
    namer->model->failed = true;
    return "";
}

/* --- walking ---------------------------------------------------------------------------------- */

int assay__rewrite_each_graph(struct assay__graph *graph,
                              int (*visit)(void *context, struct assay__graph *graph),
                              void *context)
{
    int code = visit(context, graph);
    struct assay__graph *body;
    for (size_t i = 0; i < graph->node_count && !code; i++)
        for (size_t k = 0; !code && (body = assay__node_body(&graph->nodes[i], k)); k++)
            code = assay__rewrite_each_graph(body, visit, context);
    return code;
}

struct capture {
    struct assay__map *own;
    int (*found)(void *context, const char *name);
    void *context;
};

static int capture_name(void *context, const char *name)
{
    const struct capture *capture = context;
    if (!*name || assay__map_has(capture->own, name)) return 0;
    return capture->found(capture->context, name);
}

int assay__rewrite_reads(const struct assay__node *node,
                         int (*found)(void *context, const char *name), void *context)
{
    const struct assay__graph *body;
    int code = 0;
    for (size_t i = 0; i < node->input_count && !code; i++)
        if (*node->inputs[i]) code = found(context, node->inputs[i]);
    /* what a body uses from outside */
    for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++) {
        struct capture capture = {assay__map_new(), found, context};
        code = capture.own ? take_made(capture.own, body) : ASSAY_ENOMEM;
        for (size_t i = 0; i < body->node_count && !code; i++)
            code = assay__rewrite_reads(&body->nodes[i], capture_name, &capture);
        for (size_t i = 0; i < body->output_count && !code; i++)
            code = capture_name(&capture, body->outputs[i].name);
        assay__map_free(capture.own);
    }
    return code;
}

/* --- building --------------------------------------------------------------------------------- */

struct assay__node *assay__graph_push_node(struct assay__model *model, struct assay__graph *graph,
                                           const struct assay__node *node)
{
    struct assay__node *fresh = assay__graph_add_node(model, graph, "", "", NULL, 0, NULL, 0);
    if (fresh) *fresh = *node;
    return fresh;
}

struct assay__tensor *assay__graph_push_tensor(struct assay__model *model,
                                               struct assay__graph *graph,
                                               const struct assay__tensor *tensor)
{
    struct assay__tensor *fresh = assay__graph_add_initializer(model, graph, "", ASSAY__UINT8, 0,
                                                               NULL, NULL, 0);
    if (fresh) *fresh = *tensor;
    return fresh;
}

/* A copy of a tensor's numbers; NULL: out of memory. */
static void *copy_data(struct assay__model *model, const void *data, size_t size)
{
    void *copy = assay__arena_alloc(model->arena, size);
    if (copy && size) memcpy(copy, data, size);
    if (!copy) model->failed = true;
    return copy;
}

int assay__rewrite_set_tensor(struct assay__model *model, struct assay__node *node,
                              const char *name, enum assay__dtype dtype, int rank,
                              const int64_t *dims, const void *data, size_t data_size)
{
    struct assay__graph holder = {.name = ""};
    void *copy = copy_data(model, data, data_size);
    if (!copy) return ASSAY_ENOMEM;
    return assay__node_set_tensor(
        model, node, name,
        assay__graph_add_initializer(model, &holder, "", dtype, rank, dims, copy, data_size));
}

void assay__graph_take_nodes(struct assay__graph *graph, const struct assay__graph *fresh)
{
    graph->nodes = fresh->nodes;
    graph->node_count = fresh->node_count;
    graph->node_capacity = fresh->node_capacity;
}

const char *assay__rewrite_emit(struct assay__namer *namer, struct assay__graph *graph,
                                const char *op, const char *base, const char *suffix, const char *a,
                                const char *b)
{
    const char *const inputs[] = {a, b};
    const char *name = assay__namer_make(namer, base, suffix);
    assay__graph_add_node(namer->model, graph, op, name, inputs, b ? 2 : 1, &name, 1);
    return name;
}

int assay__rewrite_end(const struct assay__model *model, int code, struct assay_error *error)
{
    return !code && model->failed ? assay__rewrite_no_memory(error) : code;
}

void assay__node_remove_attr(struct assay__node *node, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) != 0) node->attrs[kept++] = node->attrs[i];
    node->attr_count = kept;
}

void assay__node_set_input(struct assay__model *model, struct assay__node *node, size_t i,
                           const char *name)
{
    size_t count = i + 1 > node->input_count ? i + 1 : node->input_count;
    const char **inputs = assay__arena_array(model->arena, count, sizeof *inputs);
    model->failed |= !inputs;
    if (!inputs) return;
    for (size_t k = 0; k < count; k++)
        inputs[k] = k < node->input_count ? node->inputs[k] : "";
    inputs[i] = name;
    node->inputs = inputs;
    node->input_count = count;
}

bool assay__node_is_any(const struct assay__node *node, const char *ops)
{
    return *node->op && assay__has_word(ops, node->op) &&
           (!*node->domain || strcmp(node->domain, "ai.onnx") == 0);
}

bool assay__node_is(const struct assay__node *node, const char *op)
{
    return strcmp(node->op, op) == 0 && assay__node_is_any(node, op);
}

const char *assay__rewrite_constant(struct assay__graph *graph, struct assay__namer *namer,
                                    const char *base, const char *suffix, enum assay__dtype dtype,
                                    int rank, const int64_t *dims, const void *data)
{
    struct assay__model *model = namer->model;
    int64_t elements = 1;
    bool fits = true;
    for (int i = 0; i < rank && fits; i++)
        fits = !assay__mul_i64_overflows(elements, dims[i], &elements);
    size_t size = fits ? assay__dtype_bytes(dtype, elements) : SIZE_MAX;
    const char *name = assay__namer_make(namer, base, suffix);
    void *copy = size == SIZE_MAX ? NULL : copy_data(model, data, size);
    if (copy)
        assay__graph_add_initializer(model, graph, name, dtype, rank, dims, copy, size);
    else
        model->failed = true;
    return name;
}

const struct assay__tensor *assay__node_constant(const struct assay__node *node)
{
    if (!assay__node_is(node, "Constant")) return NULL;
    const struct assay__attr *attr = assay__node_attr(node, "value");
    return attr && attr->type == ASSAY__ATTR_TENSOR ? attr->t : NULL;
}

/* --- beginning -------------------------------------------------------------------------------- */

static int drop_values(void *context, struct assay__graph *graph)
{
    (void)context;
    graph->values = NULL;
    graph->value_count = graph->value_capacity = 0;
    return 0;
}

void assay__rewrite_drop_values(struct assay__model *model)
{
    assay__rewrite_each_graph(&model->graph, drop_values, NULL);
}

void assay__rewrite_settle_outputs(struct assay__graph *graph, const struct assay__shapes *shapes,
                                   bool only_open)
{
    for (size_t i = 0; i < graph->output_count; i++) {
        struct assay__value *output = &graph->outputs[i];
        const struct assay__shape_entry *entry = assay__shapes_get(shapes, output->name);
        for (int d = 0; entry && entry->rank == output->rank && d < output->rank; d++)
            if (entry->dims[d] >= 0 && (output->dims[d].value < 0 || !only_open))
                output->dims[d] = (struct assay__dim){entry->dims[d], ""};
    }
}

void assay__graph_drop_input(struct assay__graph *graph, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->input_count; i++)
        if (strcmp(graph->inputs[i].name, name) != 0) graph->inputs[kept++] = graph->inputs[i];
    graph->input_count = kept;
}

int assay__rewrite_begin(struct assay__model *model, bool keep_values,
                         struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct assay__graph *graph = &model->graph;
    size_t functions = model->function_count, kept = 0;
    if (!assay__model_is_onnx(model))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "only ONNX models can be rewritten; this is a %s", model->format);
    int code = assay__model_inline(model, error);
    if (code) return code;
    if (functions) assay__rewrite_note(notes, "%zu local functions inlined", functions);
    if (!keep_values) assay__rewrite_drop_values(model);
    if (model->ir_version >= IR_INITIALIZERS_APART) return 0;
    struct assay__map *names = assay__map_new();
    code = names ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(names, graph->initializers[i].name, i);
    for (size_t i = 0; i < graph->input_count && !code; i++)
        if (!assay__map_has(names, graph->inputs[i].name)) graph->inputs[kept++] = graph->inputs[i];
    assay__map_free(names);
    if (code) return assay__rewrite_no_memory(error);
    graph->input_count = kept;
    model->ir_version = IR_INITIALIZERS_APART;
    return 0;
}

/* --- int8 ------------------------------------------------------------------------------------- */

bool assay__quantize(const float *weights, int rank, const int64_t *dims, int axis, int8_t *out,
                     float *scales)
{
    int64_t outer = 1, inner = 1, channels = axis < 0 ? 1 : dims[axis];
    for (int i = 0; i < rank; i++) {
        if (axis >= 0 && i < axis) outer *= dims[i];
        if (i > axis) inner *= dims[i];
    }
    for (int64_t c = 0; c < channels; c++)
        scales[c] = 0;
    for (int64_t o = 0, at = 0; o < outer; o++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < inner; i++, at++) {
                if (!isfinite(weights[at])) return false;
                scales[c] = fmaxf(scales[c], fabsf(weights[at]));
            }
    for (int64_t c = 0; c < channels; c++) {
        scales[c] /= 127.0f;
        /* An all-zero channel, or one whose scale would be a denormal: engines flush those. */
        if (scales[c] < 1.17549435e-38f) scales[c] = 1.0f;
    }
    for (int64_t o = 0, at = 0; o < outer; o++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < inner; i++, at++) {
                float q = nearbyintf(weights[at] / scales[c]);
                out[at] = (int8_t)(q > 127 ? 127 : q < -127 ? -127 : q);
            }
    return true;
}
