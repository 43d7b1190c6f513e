/* inline.c - replaces calls of model-local functions by the functions' nodes.
 *
 * First the size of the result is computed, function by function, each once (so that a few
 * functions that call each other twice in a row, which would expand to billions of nodes, are
 * refused at once), and recursion is detected. Then every graph gets a new list of nodes. A call
 * opens a frame: formal inputs and outputs stand for the caller's names, every other name of the
 * function becomes "<call>/<name>", with a number if that is taken. Subgraphs inside a function are
 * copied with the same renaming; their own definitions may hide a formal name, so frames nest.
 *
 * An attribute that refers to one of the function's gets the caller's value, else the default, and
 * is left out if there is neither (ONNX: an optional attribute stays absent).
 *
 * A function may import a different version of an operator set than the model; the model's version
 * is kept, only missing domains are added. */
#include "base/checked.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/onnx/onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_PART 120 /* characters of a call's name that are used in a prefix */
/* limit for the expansion: names of nested calls grow */
#define MEMORY_LIMIT ((size_t)1 << 30)

struct nodes {
    struct assay__node *list;
    size_t count, capacity;
};

struct inliner {
    struct assay__model *model;
    struct assay_error *error;
    const char *label;
    struct assay__map *functions; /* "domain:name:overload" -> index */
    /* names in use in the result, with the next number to try */
    struct assay__map *values, *nodes, *prefixes;
    uint64_t *sizes; /* of each function when expanded; UNKNOWN, OPEN while computing */
    size_t memory_before;
};

#define UNKNOWN UINT64_MAX
#define OPEN (UINT64_MAX - 1)

/* What names mean inside a function, or inside a subgraph of one. */
struct frame {
    const struct frame *outer; /* for a subgraph, the enclosing frame in this function */
    const struct assay__function *function; /* NULL: the model's own graphs, nothing is renamed */
    const struct assay__node *call;
    const char *prefix;
    struct assay__map *names; /* inner name -> index into targets */
    const char **targets;
    size_t count, capacity;
};

#define refuse(in, code, format, ...) \
    assay_error_set((in)->error, code, "%.160s: " format, (in)->label, __VA_ARGS__)

static int no_memory(const struct inliner *in)
{
    return assay_error_set(in->error, ASSAY_ENOMEM, "%.160s: out of memory", in->label);
}

/* The index into the model's functions, or ASSAY__MAP_NONE. */
static size_t called(const struct inliner *in, const struct assay__node *node)
{
    char key[512], *large = NULL;
    const char *overload = "";
    /* the overload is among the fields that are kept verbatim */
    struct assay__wire wire = assay__wire_over(node->extra, node->extra_size);
    struct assay__wire_field field;
    while (!*overload && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != NODE_OVERLOAD || field.type != ASSAY__WIRE_BYTES || !field.size)
            continue;
        overload = assay__arena_strndup(in->model->arena, (const char *)field.data, field.size);
        if (!overload || !*overload) break;
    }
    if (!overload) return ASSAY__MAP_NONE;
    int length = snprintf(key, sizeof key, "%s:%s:%s", node->domain, node->op, overload);
    if (length < 0) return ASSAY__MAP_NONE;
    if ((size_t)length >= sizeof key) {
        large = assay__arena_printf(in->model->arena, "%s:%s:%s", node->domain, node->op, overload);
        if (!large) return ASSAY__MAP_NONE;
    }
    return assay__map_get(in->functions, large ? large : key);
}

static int index_functions(struct inliner *in)
{
    for (size_t i = 0; i < in->model->function_count; i++) {
        const struct assay__function *function = &in->model->functions[i];
        const char *key = assay__arena_printf(in->model->arena, "%s:%s:%s", function->domain,
                                              function->name, function->overload);
        if (!key) return no_memory(in);
        if (assay__map_get(in->functions, key) != ASSAY__MAP_NONE)
            return refuse(in, ASSAY_EFORMAT, "function '%.120s' is defined twice",
                          in->model->function_names[i]);
        if (assay__map_set(in->functions, key, i)) return no_memory(in);
        in->sizes[i] = UNKNOWN;
    }
    return 0;
}

static int measure_graph(struct inliner *in, const struct assay__graph *graph, int calls, int depth,
                         uint64_t *size);

static int measure_function(struct inliner *in, size_t index, int calls, uint64_t *size)
{
    if (in->sizes[index] == OPEN)
        return refuse(in, ASSAY_EFORMAT, "function '%.120s' calls itself",
                      in->model->function_names[index]);
    if (calls > ASSAY__ONNX_CALLS)
        return refuse(in, ASSAY_ELIMIT, "function calls are nested deeper than %d",
                      ASSAY__ONNX_CALLS);
    if (in->sizes[index] == UNKNOWN) {
        uint64_t total = 1; /* the call itself, so that empty functions count too */
        in->sizes[index] = OPEN;
        int code = measure_graph(in, in->model->functions[index].body, calls, 0, &total);
        if (code) return code;
        in->sizes[index] = total;
    }
    *size = in->sizes[index];
    return 0;
}

static int measure_graph(struct inliner *in, const struct assay__graph *graph, int calls, int depth,
                         uint64_t *size)
{
    int code = 0;
    if (depth > ASSAY__ONNX_DEPTH)
        return refuse(in, ASSAY_ELIMIT, "graphs are nested deeper than %d", ASSAY__ONNX_DEPTH);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__graph *body;
        size_t index = called(in, node);
        uint64_t inner = calls ? 1 : 0; /* the model's own nodes are already counted */
        if (index != ASSAY__MAP_NONE && (code = measure_function(in, index, calls + 1, &inner)))
            break;
        *size += inner;
        if (*size > ASSAY__ONNX_INLINED)
            return refuse(in, ASSAY_ELIMIT, "its functions expand to more than %u nodes",
                          ASSAY__ONNX_INLINED);
        for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++)
            code = measure_graph(in, body, calls, depth + 1, size);
    }
    return code;
}

/* --- names ------------------------------------------------------------------------------------ */

static int note_name(struct inliner *in, const char *name)
{
    return *name && assay__map_set(in->values, name, 1) ? no_memory(in) : 0;
}

static int note_names(struct inliner *in, const struct assay__graph *graph, int depth)
{
    int code = 0;
    if (depth > ASSAY__ONNX_DEPTH) return 0;
    for (size_t i = 0; i < graph->input_count && !code; i++)
        code = note_name(in, graph->inputs[i].name);
    const struct assay__tensor *tensor;
    for (size_t i = 0; !code && (tensor = assay__graph_tensor(graph, i)); i++)
        code = note_name(in, tensor->name);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        if (*node->name && assay__map_set(in->nodes, node->name, 1)) code = no_memory(in);
        for (size_t k = 0; k < node->input_count && !code; k++)
            code = note_name(in, node->inputs[k]);
        for (size_t k = 0; k < node->output_count && !code; k++)
            code = note_name(in, node->outputs[k]);
        const struct assay__graph *body;
        for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++)
            code = note_names(in, body, depth + 1);
    }
    return code;
}

static int frame_set(struct frame *frame, const char *name, const char *target)
{
    if (assay__vec_grow((void **)&frame->targets, &frame->capacity, frame->count + 1,
                        sizeof *frame->targets) ||
        assay__map_set(frame->names, name, frame->count))
        return ASSAY_ENOMEM;
    frame->targets[frame->count++] = target;
    return 0;
}

static void frame_close(struct frame *frame)
{
    assay__map_free(frame->names);
    free(frame->targets);
}

/* `name` (in the arena), if necessary with the first number that makes it unique. */
static const char *unique(struct inliner *in, struct assay__map *taken, const char *name)
{
    size_t next = name ? assay__map_get(taken, name) : 0;
    const char *fresh = name;
    if (name && next != ASSAY__MAP_NONE) {
        do
            fresh = assay__arena_printf(in->model->arena, "%s_%zu", name, next++);
        while (fresh && assay__map_get(taken, fresh) != ASSAY__MAP_NONE);
        if (assay__map_set(taken, name, next)) return NULL;
    }
    return fresh && assay__map_set(taken, fresh, 1) == 0 ? fresh : NULL;
}

static const char *fresh_name(struct inliner *in, const char *prefix, const char *name)
{
    return unique(in, in->values, assay__arena_printf(in->model->arena, "%s/%s", prefix, name));
}

/* The name in the result for a name of a function; NULL when out of memory. */
static const char *renamed(struct inliner *in, struct frame *frame, const char *name)
{
    if (!frame->function || !*name) return name;
    for (const struct frame *at = frame; at; at = at->outer) {
        size_t index = assay__map_get(at->names, name);
        if (index != ASSAY__MAP_NONE) return at->targets[index];
    }
    /* Not a formal name. It belongs to the function as a whole, because subgraphs may use it
     * too. */
    struct frame *whole = frame;
    while (whole->outer)
        whole = (struct frame *)(uintptr_t)whole->outer;
    const char *fresh = fresh_name(in, frame->prefix, name);
    return fresh && frame_set(whole, name, fresh) == 0 ? fresh : NULL;
}

static const char **renamed_list(struct inliner *in, struct frame *frame, const char *const *names,
                                 size_t count)
{
    const char **list = assay__arena_array(in->model->arena, count, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (!(list[i] = renamed(in, frame, names[i]))) return NULL;
    return list;
}

/* The original bytes under the attribute's new name. */
static int rename_raw(struct inliner *in, struct assay__attr *attr)
{
    size_t length = strlen(attr->name), total = 0;
    bool structured = attr->type == ASSAY__ATTR_FLOAT || attr->type == ASSAY__ATTR_INT ||
                      attr->type == ASSAY__ATTR_TENSOR || attr->type == ASSAY__ATTR_GRAPH ||
                      attr->type == ASSAY__ATTR_FLOATS || attr->type == ASSAY__ATTR_INTS ||
                      attr->type == ASSAY__ATTR_GRAPHS;
    /* the structures contain all of it (except long strings, which are not copied) */
    if (structured) {
        attr->raw = NULL;
        attr->raw_size = 0;
        return 0;
    }
    if (assay__add_overflows(attr->raw_size, length + 16, &total)) return no_memory(in);
    uint8_t *raw = assay__arena_alloc(in->model->arena, total), *at = raw;
    if (!raw) return no_memory(in);
    *at++ = ATTR_NAME << 3 | ASSAY__WIRE_BYTES;
    uint64_t rest = length;
    for (; rest >= 0x80; rest >>= 7)
        *at++ = (uint8_t)(rest | 0x80);
    *at++ = (uint8_t)rest;
    memcpy(at, attr->name, length);
    at += length;
    struct assay__wire wire = assay__wire_over(attr->raw, attr->raw_size);
    struct assay__wire_field field;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number == ATTR_NAME || field.number == ATTR_REFERENCE) continue;
        memcpy(at, field.start, field.total);
        at += field.total;
    }
    attr->raw = raw;
    attr->raw_size = (size_t)(at - raw);
    return 0;
}

/* *out receives the value that `attr` refers to; *given false: there is none, leave it out. */
static int resolve(struct inliner *in, const struct frame *frame, const struct assay__attr *attr,
                   struct assay__attr *out, bool *given)
{
    const struct assay__function *function = frame->function;
    const struct assay__attr *found = assay__node_attr(frame->call, attr->reference);
    for (size_t i = 0; i < function->default_count && !found; i++)
        if (strcmp(function->defaults[i].name, attr->reference) == 0)
            found = &function->defaults[i];
    *given = found != NULL;
    if (!found) {
        for (size_t i = 0; i < function->attribute_count; i++)
            if (strcmp(function->attributes[i], attr->reference) == 0) return 0;
        return refuse(in, ASSAY_EFORMAT,
                      "function '%.60s' refers to attribute '%.60s', which it does not have",
                      function->name, attr->reference);
    }
    *out = *found;
    if (strcmp(out->name, attr->name) == 0) return 0;
    out->name = attr->name;
    return out->raw ? rename_raw(in, out) : 0;
}

/* --- copying ---------------------------------------------------------------------------------- */

static int expand_graph(struct inliner *in, struct assay__graph *graph, struct frame *frame,
                        int depth);

/* A new name for what a subgraph defines; only one for an initializer that is also an input. */
static const char *define(struct inliner *in, struct frame *frame, const char *name)
{
    size_t known = assay__map_get(frame->names, name);
    if (known != ASSAY__MAP_NONE || !*name) return *name ? frame->targets[known] : "";
    const char *fresh = fresh_name(in, frame->prefix, name);
    return fresh && frame_set(frame, name, fresh) == 0 ? fresh : NULL;
}

static bool define_all(struct inliner *in, struct frame *frame, const struct assay__graph *from,
                       struct assay__graph *graph)
{
    for (size_t i = 0; i < from->input_count; i++) {
        graph->inputs[i] = from->inputs[i];
        if (!(graph->inputs[i].name = define(in, frame, from->inputs[i].name))) return false;
    }
    for (size_t i = 0; i < from->initializer_count; i++) {
        graph->initializers[i] = from->initializers[i];
        if (!(graph->initializers[i].name = define(in, frame, from->initializers[i].name)))
            return false;
    }
    for (size_t i = 0; i < from->node_count; i++)
        for (size_t k = 0; k < from->nodes[i].output_count; k++)
            if (!define(in, frame, from->nodes[i].outputs[k])) return false;
    for (size_t i = 0; i < from->output_count; i++) {
        graph->outputs[i] = from->outputs[i];
        if (!(graph->outputs[i].name = renamed(in, frame, from->outputs[i].name))) return false;
    }
    return true;
}

/* A copy of a subgraph for this frame, with its own names and all captured ones renamed. */
static int copy_graph(struct inliner *in, const struct assay__graph *from, struct frame *outer,
                      int depth, struct assay__graph **out)
{
    struct assay__arena *arena = in->model->arena;
    struct assay__graph *graph = assay__arena_alloc(arena, sizeof *graph);
    struct frame frame = {.outer = outer,
                          .function = outer->function,
                          .call = outer->call,
                          .prefix = outer->prefix,
                          .names = assay__map_new()};
    int code = 0;
    if (from->sparse_count)
        code = refuse(in, ASSAY_EUNSUPPORTED,
                      "a subgraph of function '%.80s' has sparse initializers",
                      outer->function->name);
    if (!graph || !frame.names) code = no_memory(in);
    if (code) goto out;
    *graph = *from;
    graph->values = NULL; /* they speak of names that are gone */
    graph->value_count = graph->value_capacity = 0;
    graph->inputs = assay__arena_array(arena, from->input_count, sizeof *graph->inputs);
    graph->outputs = assay__arena_array(arena, from->output_count, sizeof *graph->outputs);
    graph->initializers = assay__arena_array(arena, from->initializer_count,
                                             sizeof *graph->initializers);
    graph->initializer_capacity = from->initializer_count;
    if (!graph->inputs || !graph->outputs || !graph->initializers ||
        !define_all(in, &frame, from, graph))
        code = no_memory(in);
    if (!code) code = expand_graph(in, graph, &frame, depth);
    *out = graph;
out:
    frame_close(&frame);
    return code;
}

/* The subgraphs of an attribute: copied inside a function, expanded in place in the model
 * itself. */
static int expand_attr_graphs(struct inliner *in, struct assay__attr *attr, struct frame *frame,
                              int depth)
{
    int code = 0;
    struct assay__graph **graphs = attr->g ? &attr->g : attr->graphs;
    size_t count = attr->g ? 1 : attr->graphs ? attr->count : 0;
    if (count == 0) return 0;
    if (frame->function && attr->graphs) {
        graphs = assay__arena_array(in->model->arena, count, sizeof *graphs);
        if (!graphs) return no_memory(in);
        memcpy(graphs, attr->graphs, count * sizeof *graphs);
        attr->graphs = graphs;
    }
    for (size_t i = 0; i < count && !code; i++)
        code = frame->function ? copy_graph(in, graphs[i], frame, depth + 1, &graphs[i])
                               : expand_graph(in, graphs[i], frame, depth + 1);
    return code;
}

static int copy_attrs(struct inliner *in, struct assay__node *node, struct frame *frame, int depth)
{
    const struct assay__attr *from = node->attrs;
    size_t count = node->attr_count;
    struct assay__attr *list = node->attrs;
    int code = 0;
    if (count == 0) return 0;
    if (frame->function) {
        list = assay__arena_array(in->model->arena, count, sizeof *list);
        if (!list) return no_memory(in);
    }
    node->attr_count = 0;
    for (size_t i = 0; i < count && !code; i++) {
        bool given = true, refers = frame->function && *from[i].reference;
        struct assay__attr attr = from[i];
        if (refers) code = resolve(in, frame, &from[i], &attr, &given);
        if (code || !given) continue;
        /* The caller's graphs were already renamed and expanded when the call was copied. */
        if (!refers) code = expand_attr_graphs(in, &attr, frame, depth);
        list[node->attr_count++] = attr;
    }
    node->attrs = list;
    return code;
}

/* --- calls ------------------------------------------------------------------------------------ */

static int emit(struct inliner *in, struct nodes *out, const struct assay__node *node)
{
    if (assay__vec_grow((void **)&out->list, &out->capacity, out->count + 1, sizeof *out->list))
        return no_memory(in);
    out->list[out->count++] = *node;
    return 0;
}

static int emit_node(struct inliner *in, struct nodes *out, const struct assay__node *from,
                     struct frame *frame, int calls, int depth);

/* Formal inputs and outputs stand for the caller's; an output that is an input needs an
 * Identity. */
static int bind(struct inliner *in, struct nodes *out, struct frame *frame)
{
    const struct assay__function *function = frame->function;
    const struct assay__node *call = frame->call;
    for (size_t i = 0; i < function->input_count; i++) {
        const char *actual = i < call->input_count ? call->inputs[i] : "";
        if (*function->inputs[i] && frame_set(frame, function->inputs[i], actual))
            return no_memory(in);
    }
    for (size_t i = 0; i < function->output_count; i++) {
        const char *formal = function->outputs[i];
        const char *actual = i < call->output_count ? call->outputs[i] : "";
        size_t before = assay__map_get(frame->names, formal);
        if (!*actual) continue;
        if (before == ASSAY__MAP_NONE) {
            if (frame_set(frame, formal, actual)) return no_memory(in);
            continue;
        }
        const char **names = assay__arena_array(in->model->arena, 2, sizeof *names);
        if (!names) return no_memory(in);
        names[0] = frame->targets[before];
        names[1] = actual;
        struct assay__node identity = {.name = unique(in, in->nodes, frame->prefix),
                                       .op = "Identity",
                                       .domain = "",
                                       .doc = "",
                                       .inputs = &names[0],
                                       .input_count = 1,
                                       .outputs = &names[1],
                                       .output_count = 1};
        int code = identity.name ? emit(in, out, &identity) : no_memory(in);
        if (code) return code;
    }
    return 0;
}

static int emit_call(struct inliner *in, struct nodes *out, const struct assay__node *call,
                     const struct assay__function *function, int calls, int depth)
{
    struct frame frame = {.function = function, .call = call, .names = assay__map_new()};
    const char *name = *call->name ? call->name : call->op;
    frame.prefix = unique(in, in->prefixes,
                          assay__arena_printf(in->model->arena, "%.*s", NAME_PART, name));
    int code = frame.names && frame.prefix ? 0 : no_memory(in);
    if (!code &&
        (call->input_count > function->input_count || call->output_count > function->output_count))
        code = refuse(in, ASSAY_EFORMAT,
                      "node '%.60s' calls '%.60s' with %zu inputs and %zu outputs; it has %zu and "
                      "%zu",
                      call->name, function->name, call->input_count, call->output_count,
                      function->input_count, function->output_count);
    if (!code) code = bind(in, out, &frame);
    for (size_t i = 0; i < function->body->node_count && !code; i++)
        code = emit_node(in, out, &function->body->nodes[i], &frame, calls + 1, depth);
    frame_close(&frame);
    return code;
}

/* Inside a function a node is copied; a call is replaced. Names of nodes are prefixed too. */
static int emit_node(struct inliner *in, struct nodes *out, const struct assay__node *from,
                     struct frame *frame, int calls, int depth)
{
    struct assay__node node = *from;
    int code = 0;
    if (assay__arena_used(in->model->arena) - in->memory_before > MEMORY_LIMIT)
        return refuse(in, ASSAY_ELIMIT,
                      "its functions expand to more than %zu MB of names and nodes",
                      MEMORY_LIMIT >> 20);
    if (calls > ASSAY__ONNX_CALLS || depth > ASSAY__ONNX_DEPTH)
        return assay_error_set(in->error, ASSAY_ELIMIT,
                               "%.160s: its functions are nested too deeply when expanded",
                               in->label);
    if (frame->function) {
        node.inputs = renamed_list(in, frame, from->inputs, from->input_count);
        node.outputs = renamed_list(in, frame, from->outputs, from->output_count);
        node.name = unique(in, in->nodes,
                           assay__arena_printf(in->model->arena, "%s/%.*s", frame->prefix,
                                               NAME_PART, *from->name ? from->name : from->op));
        if (!node.inputs || !node.outputs || !node.name) return no_memory(in);
    }
    code = copy_attrs(in, &node, frame, depth);
    if (code) return code;
    size_t index = called(in, from);
    if (index == ASSAY__MAP_NONE) return emit(in, out, &node);
    return emit_call(in, out, &node, &in->model->functions[index], calls, depth);
}

static int expand_graph(struct inliner *in, struct assay__graph *graph, struct frame *frame,
                        int depth)
{
    struct nodes out = {.list = NULL};
    int code = 0;
    for (size_t i = 0; i < graph->node_count && !code; i++)
        code = emit_node(in, &out, &graph->nodes[i], frame, 0, depth);
    size_t capacity = out.count < 16 ? 16 : out.count;
    struct assay__node *list = code ? NULL
                                    : assay__arena_array(in->model->arena, capacity, sizeof *list);
    if (!code && !list) code = no_memory(in);
    if (list) {
        if (out.count) memcpy(list, out.list, out.count * sizeof *list);
        graph->nodes = list;
        graph->node_count = out.count;
        graph->node_capacity = capacity;
    }
    free(out.list);
    return code;
}

/* --- the model -------------------------------------------------------------------------------- */

static int merge_opsets(struct inliner *in)
{
    struct assay__model *model = in->model;
    size_t most = model->opset_count;
    for (size_t i = 0; i < model->function_count; i++)
        most += model->functions[i].opset_count;
    struct assay__opset *list = assay__arena_array(model->arena, most, sizeof *list);
    if (!list) return no_memory(in);
    if (model->opset_count) memcpy(list, model->opsets, model->opset_count * sizeof *list);
    model->opsets = list;
    for (size_t i = 0; i < model->function_count; i++)
        for (size_t k = 0; k < model->functions[i].opset_count; k++) {
            const struct assay__opset *opset = &model->functions[i].opsets[k];
            bool there = false;
            for (size_t j = 0; j < model->opset_count && !there; j++)
                there = strcmp(model->opsets[j].domain, opset->domain) == 0;
            if (!there) model->opsets[model->opset_count++] = *opset;
        }
    return 0;
}

static int drop_functions(struct inliner *in)
{
    struct assay__model *model = in->model;
    uint8_t *kept = assay__arena_alloc(model->arena, model->extra_size), *at = kept;
    if (!kept) return no_memory(in);
    struct assay__wire wire = assay__wire_over(model->extra, model->extra_size);
    struct assay__wire_field field;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number == MODEL_FUNCTION) continue;
        memcpy(at, field.start, field.total);
        at += field.total;
    }
    model->extra = kept;
    model->extra_size = (size_t)(at - kept);
    model->function_count = 0;
    return 0;
}

int assay__model_inline(struct assay__model *model, struct assay_error *error)
{
    struct inliner in = {.model = model,
                         .error = error,
                         .label = *model->path ? model->path : "model",
                         .functions = assay__map_new(),
                         .values = assay__map_new(),
                         .nodes = assay__map_new(),
                         .prefixes = assay__map_new(),
                         .sizes = calloc(model->function_count + 1, sizeof *in.sizes),
                         .memory_before = assay__arena_used(model->arena)};
    struct frame outside = {.function = NULL};
    uint64_t size = 0;
    int code = 0;
    if (!in.functions || !in.values || !in.nodes || !in.prefixes || !in.sizes)
        code = no_memory(&in);
    else if (model->function_count == 0)
        goto out;
    if (!code) code = index_functions(&in);
    /* Functions that are never called are checked as well: recursion is an error anywhere. */
    for (size_t i = 0; i < model->function_count && !code; i++) {
        uint64_t unused = 0;
        code = measure_function(&in, i, 1, &unused);
    }
    if (!code) code = measure_graph(&in, &model->graph, 0, 0, &size);
    if (!code) code = note_names(&in, &model->graph, 0);
    if (!code) code = expand_graph(&in, &model->graph, &outside, 0);
    if (!code) code = merge_opsets(&in);
    if (!code) code = drop_functions(&in);
out:
    assay__map_free(in.functions);
    assay__map_free(in.values);
    assay__map_free(in.nodes);
    assay__map_free(in.prefixes);
    free(in.sizes);
    return code;
}
