/* graph_check.c - what running a model needs: an order of execution, every input produced, no name
 * produced twice, data where the model says it is. Types and operators are left to the engine.
 *
 * Bodies of local functions are checked like the main graph. A name used inside a subgraph may come
 * from any enclosing graph, so a node depends on what its subgraphs capture. Scopes are a chain of
 * name maps, one per graph. */
#include "model/graph.h"
#include "model/onnx/onnx.h"

#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct scope {
    struct assay__map *names; /* value: producing node of this graph, or FROM_OUTSIDE */
    const struct scope *outer;
    size_t at; /* the node whose subgraph is being checked */
};

#define FROM_OUTSIDE ((size_t)-2) /* graph input or initializer */

/* The first name that a graph defines twice, and how. */
struct twice {
    const char *name, *how;
};

static size_t scope_find(const struct scope *scope, const char *name)
{
    for (; scope; scope = scope->outer) {
        size_t value = assay__map_get(scope->names, name);
        if (value != ASSAY__MAP_NONE) return value;
    }
    return ASSAY__MAP_NONE;
}

static void note_twice(struct twice *twice, bool is, const char *name, const char *how)
{
    if (is && twice && !twice->name) *twice = (struct twice){name, how};
}

/* Inputs, initializers and outputs of nodes. */
static int scope_define(struct scope *scope, const struct assay__graph *graph, struct twice *twice)
{
    int code = 0;
    for (size_t i = 0; i < graph->input_count && !code; i++) {
        const char *name = graph->inputs[i].name;
        note_twice(twice, assay__map_get(scope->names, name) != ASSAY__MAP_NONE, name,
                   "an input more than once");
        code = assay__map_set(scope->names, name, i); /* until the initializers are there */
    }
    const struct assay__tensor *tensor;
    for (size_t i = 0; !code && (tensor = assay__graph_tensor(graph, i)); i++) {
        /* IR 3 lists every initializer as an input too, so only two of the same kind are
         * duplicates */
        size_t before = assay__map_get(scope->names, tensor->name);
        bool is_input = before != ASSAY__MAP_NONE && before < graph->input_count;
        note_twice(twice, before != ASSAY__MAP_NONE && !is_input, tensor->name,
                   "an initializer more than once");
        code = assay__map_set(scope->names, tensor->name, FROM_OUTSIDE);
    }
    for (size_t i = 0; i < graph->input_count && !code; i++)
        code = assay__map_set(scope->names, graph->inputs[i].name, FROM_OUTSIDE);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->output_count && !code; k++) {
            if (!*node->outputs[k]) continue;
            /* ONNX Runtime allows a Constant to repeat an initializer (the last one counts), so
             * that is accepted. */
            size_t before = assay__map_get(scope->names, node->outputs[k]);
            bool constant = before == FROM_OUTSIDE && strcmp(node->op, "Constant") == 0;
            note_twice(twice, before != ASSAY__MAP_NONE && !constant, node->outputs[k],
                       "produced more than once");
            code = assay__map_set(scope->names, node->outputs[k], i);
        }
    }
    return code;
}

typedef int use_fn(void *context, const char *name);

/* Calls back for every name that `node` uses from outside `inner` (NULL: the node's own graph). */
static int each_use(const struct assay__node *node, const struct scope *inner, use_fn *used,
                    void *context, int depth)
{
    int code = 0;
    for (size_t i = 0; i < node->input_count && !code; i++)
        if (*node->inputs[i] && scope_find(inner, node->inputs[i]) == ASSAY__MAP_NONE)
            code = used(context, node->inputs[i]);
    const struct assay__graph *body;
    for (size_t k = 0; !code && (body = assay__node_body(node, k)); k++) {
        if (depth > ASSAY__ONNX_DEPTH) return ASSAY_ELIMIT;
        struct scope scope = {assay__map_new(), inner, 0};
        code = scope.names ? scope_define(&scope, body, NULL) : ASSAY_ENOMEM;
        for (size_t i = 0; i < body->node_count && !code; i++)
            code = each_use(&body->nodes[i], &scope, used, context, depth + 1);
        for (size_t i = 0; i < body->output_count && !code; i++)
            if (scope_find(&scope, body->outputs[i].name) == ASSAY__MAP_NONE)
                code = used(context, body->outputs[i].name);
        assay__map_free(scope.names);
    }
    return code;
}

/* --- order ------------------------------------------------------------------------------------ */

struct edges {
    const struct scope *scope;
    size_t consumer;
    bool disorder; /* a node comes before one that it needs */
    bool kept;     /* the edges are needed, not only the result above */
    struct edge {
        size_t from, to;
    } * list;
    size_t count, capacity;
};

static int add_edge(void *context, const char *name)
{
    struct edges *edges = context;
    size_t producer = assay__map_get(edges->scope->names, name);
    if (producer == ASSAY__MAP_NONE || producer == FROM_OUTSIDE) return 0;
    edges->disorder |= producer >= edges->consumer;
    if (!edges->kept) return 0;
    if (assay__vec_grow((void **)&edges->list, &edges->capacity, edges->count + 1,
                        sizeof *edges->list))
        return ASSAY_ENOMEM;
    edges->list[edges->count++] = (struct edge){producer, edges->consumer};
    return 0;
}

/* A binary min-heap of node indices: ready nodes are taken in file order. */
static void heap_push(size_t *heap, size_t *count, size_t value)
{
    size_t at = (*count)++;
    while (at > 0 && heap[(at - 1) / 2] > value) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = value;
}

static size_t heap_pop(size_t *heap, size_t *count)
{
    size_t top = heap[0], last = heap[--*count], at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= *count) break;
        if (child + 1 < *count && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* Walks back along unfinished producers until a node repeats: that one is on a cycle. */
static size_t find_cycle(const struct edges *edges, const size_t *waiting, size_t node_count,
                         size_t *back)
{
    size_t at = 0;
    for (size_t i = 0; i < node_count; i++)
        back[i] = ASSAY__MAP_NONE;
    for (size_t i = 0; i < edges->count; i++)
        if (waiting[edges->list[i].from] && waiting[edges->list[i].to])
            back[edges->list[i].to] = edges->list[i].from;
    while (at < node_count && !waiting[at])
        at++;
    for (size_t steps = 0; steps < node_count && back[at] != ASSAY__MAP_NONE; steps++)
        at = back[at];
    return at;
}

/* Kahn's algorithm. starts/targets: consumers of each node, one after the other. */
static size_t kahn(const struct edges *edges, size_t node_count, size_t *waiting, size_t *starts,
                   size_t *targets, size_t *heap, size_t *order)
{
    size_t ready = 0, done = 0;
    for (size_t i = 0; i < edges->count; i++) {
        waiting[edges->list[i].to]++;
        starts[edges->list[i].from + 1]++;
    }
    for (size_t i = 0; i < node_count; i++)
        starts[i + 1] += starts[i];
    /* Filling from the end leaves starts[i] at the first consumer of i. */
    for (size_t i = edges->count; i-- > 0;)
        targets[--starts[edges->list[i].from + 1]] = edges->list[i].to;
    for (size_t i = 0; i < node_count; i++)
        if (!waiting[i]) heap_push(heap, &ready, i);
    while (ready > 0) {
        size_t node = heap_pop(heap, &ready);
        size_t end = node + 2 <= node_count ? starts[node + 2] : edges->count;
        order[done++] = node;
        for (size_t k = starts[node + 1]; k < end; k++)
            if (--waiting[targets[k]] == 0) heap_push(heap, &ready, targets[k]);
    }
    return done;
}

static int sort_edges(const struct assay__graph *graph, const struct edges *edges, size_t *order,
                      struct assay_error *error)
{
    size_t n = graph->node_count;
    int code = 0;
    size_t *waiting = calloc(n + 1, sizeof *waiting);
    size_t *starts = calloc(n + 2, sizeof *starts);
    size_t *targets = calloc(edges->count + 1, sizeof *targets);
    size_t *heap = calloc(n + 1, sizeof *heap);
    if (!waiting || !starts || !targets || !heap) {
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
        goto out;
    }
    if (kahn(edges, n, waiting, starts, targets, heap, order) < n) {
        const struct assay__node *node = &graph->nodes[find_cycle(edges, waiting, n, heap)];
        code = assay_error_set(
            error, ASSAY_EFORMAT,
            "the graph has a cycle through node '%.120s' (%.60s, output '%.120s')", node->name,
            node->op, node->output_count ? node->outputs[0] : "");
    }
out:
    free(waiting);
    free(starts);
    free(targets);
    free(heap);
    return code;
}

static int find_edges(const struct assay__graph *graph, struct edges *edges)
{
    int code = 0;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        edges->consumer = i;
        code = each_use(&graph->nodes[i], NULL, add_edge, edges, 0);
    }
    return code;
}

/* If a file is already in order, as nearly all are, its order is used: the first ready node in the
 * file is always the next one. Only otherwise are the edges needed. */
int assay__graph_order(const struct assay__graph *graph, size_t *order, struct assay_error *error)
{
    struct scope scope = {assay__map_over(graph->names), NULL, 0};
    struct edges edges = {.scope = &scope};
    int code = ASSAY_ENOMEM;
    if (scope.names) code = scope_define(&scope, graph, NULL);
    if (!code) code = find_edges(graph, &edges);
    if (!code && edges.disorder) {
        edges.kept = true;
        code = find_edges(graph, &edges);
    }
    if (code)
        assay_error_set(error, code, "%s", assay_error_text(code));
    else if (edges.disorder)
        code = sort_edges(graph, &edges, order, error);
    for (size_t i = 0; i < graph->node_count && !edges.disorder; i++)
        order[i] = i;
    free(edges.list);
    assay__map_free(scope.names);
    return code;
}

/* --- check ------------------------------------------------------------------------------------ */

struct check {
    const struct assay__model *model;
    struct assay_error *error;
    const struct assay__node *node;
    const struct assay__graph *graph; /* the main graph or the body of a function */
    const struct scope *scope;
    bool disorder;   /* a node of `graph` comes before one that it needs */
    char label[164]; /* for messages: the file, and the function being checked */
};

#define refuse(check, code, format, ...) \
    assay_error_set((check)->error, code, "%.160s: " format, (check)->label, __VA_ARGS__)

static int check_external(const struct check *check, const struct assay__tensor *tensor)
{
    char path[4096];
    struct stat info;
    size_t needed = assay__dtype_bytes(tensor->dtype, tensor->elements);
    uint64_t length = tensor->length ? tensor->length : needed, end = 0;
    if (assay__path_join(check->model->folder, tensor->location, path, sizeof path))
        return refuse(check, ASSAY_ELIMIT, "the path of '%.120s' is too long", tensor->location);
    if (stat(path, &info) != 0)
        return refuse(check, errno == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EIO,
                      "stores tensor '%.80s' in '%.160s': %s", tensor->name, path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return assay_error_set(check->error, ASSAY_EFORMAT, "%.200s: external data is not a file",
                               path);
    if (length < needed)
        return refuse(check, ASSAY_EFORMAT,
                      "tensor '%.80s' has %" PRIu64
                      " bytes of external data where its shape needs %zu",
                      tensor->name, length, needed);
    if (__builtin_add_overflow(tensor->offset, length, &end) || end > (uint64_t)info.st_size)
        return assay_error_set(
            check->error, ASSAY_EFORMAT,
            "%.200s: has %lld bytes, but tensor '%.80s' of %.80s needs bytes %" PRIu64
            " to %" PRIu64,
            path, (long long)info.st_size, tensor->name, check->label, tensor->offset,
            tensor->offset + length);
    return 0;
}

static int check_tensor(const struct check *check, const struct assay__tensor *tensor)
{
    if (tensor->external) return check_external(check, tensor);
    bool has = tensor->data || tensor->string_count || tensor->generator ||
               tensor->raw_size > ASSAY__ONNX_DECODE;
    if (tensor->elements == 0 || has) return 0;
    return refuse(check, ASSAY_EFORMAT, "initializer '%.120s' has no data", tensor->name);
}

static int check_use(void *context, const char *name)
{
    struct check *check = context;
    size_t producer = scope_find(check->scope, name);
    bool node = producer != ASSAY__MAP_NONE && producer != FROM_OUTSIDE;
    check->disorder |= node && producer >= (size_t)(check->node - check->graph->nodes);
    if (producer != ASSAY__MAP_NONE) return 0;
    return refuse(check, ASSAY_EFORMAT,
                  "node '%.80s' (%.60s) reads '%.120s', which nothing produces",
                  check->node ? check->node->name : "", check->node ? check->node->op : "", name);
}

/* Creates a scope for the graph, with what it defines. */
static int open_scope(const struct check *check, const struct assay__graph *graph,
                      struct scope *scope)
{
    struct twice twice = {.name = NULL};
    if (!scope->names || scope_define(scope, graph, &twice))
        return assay_error_set(check->error, ASSAY_ENOMEM, "out of memory");
    if (!twice.name) return 0;
    return refuse(check, ASSAY_EFORMAT, "'%.120s' is %s", twice.name, twice.how);
}

/* ONNX requires one definition of a name: a node of a subgraph must not produce a name that an
 * enclosing graph has already defined. (A subgraph's inputs may hide outer names.) */
static int check_hiding(const struct check *check, const struct assay__graph *graph,
                        const struct scope *outer)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].output_count; k++) {
            const char *name = graph->nodes[i].outputs[k];
            for (const struct scope *at = outer; at && *name; at = at->outer) {
                size_t value = assay__map_get(at->names, name);
                if (value == ASSAY__MAP_NONE || (value != FROM_OUTSIDE && value >= at->at))
                    continue;
                return refuse(check, ASSAY_EFORMAT,
                              "'%.120s' is produced in a subgraph and outside it", name);
            }
        }
    return 0;
}

static int check_subgraphs(struct check *check, const struct assay__graph *graph,
                           struct scope *scope, int depth)
{
    const struct assay__graph *body;
    int code = 0;
    for (size_t i = 0; i < graph->node_count && depth < ASSAY__ONNX_DEPTH && !code; i++) {
        scope->at = i;
        for (size_t k = 0; !code && (body = assay__node_body(&graph->nodes[i], k)); k++) {
            struct scope inner = {assay__map_new(), scope, 0};
            code = open_scope(check, body, &inner);
            if (!code) code = check_hiding(check, body, scope);
            if (!code) code = check_subgraphs(check, body, &inner, depth + 1);
            assay__map_free(inner.names);
        }
    }
    return code;
}

/* External tensors of subgraphs and of Constant nodes. */
static int check_nested_tensors(struct check *check, const struct assay__graph *graph, int depth)
{
    int code = 0;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__graph *inner;
        for (size_t k = 0; k < node->attr_count && !code; k++)
            if (node->attrs[k].t && node->attrs[k].t->external)
                code = check_external(check, node->attrs[k].t);
        for (size_t k = 0; !code && (inner = assay__node_body(node, k)); k++) {
            for (size_t t = 0; t < inner->initializer_count && !code; t++)
                code = check_tensor(check, &inner->initializers[t]);
            if (!code && depth < ASSAY__ONNX_DEPTH)
                code = check_nested_tensors(check, inner, depth + 1);
        }
    }
    return code;
}

static int check_graph(struct check *check, const struct assay__graph *graph)
{
    struct scope scope = {assay__map_over(graph->names), NULL, 0};
    struct assay_error detail = {.code = 0};
    int code = open_scope(check, graph, &scope);
    if (!code) code = check_subgraphs(check, graph, &scope, 0);
    check->scope = &scope;
    check->graph = graph;
    check->disorder = false;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = check_tensor(check, &graph->initializers[i]);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        check->node = &graph->nodes[i];
        code = each_use(check->node, NULL, check_use, check, 0);
    }
    for (size_t i = 0; i < graph->output_count && !code; i++)
        if (scope_find(&scope, graph->outputs[i].name) == ASSAY__MAP_NONE)
            code = refuse(check, ASSAY_EFORMAT, "nothing produces the output '%.120s'",
                          graph->outputs[i].name);
    assay__map_free(scope.names);
    if (!code) code = check_nested_tensors(check, graph, 0);
    if (code || !check->disorder) return code; /* a graph in order has no cycle */
    size_t *order = calloc(graph->node_count + 1, sizeof *order);
    if (!order) return assay_error_set(check->error, ASSAY_ENOMEM, "out of memory");
    if ((code = assay__graph_order(graph, order, &detail)))
        refuse(check, code, "%s", detail.message);
    free(order);
    return code;
}

int assay__model_check(const struct assay__model *model, struct assay_error *error)
{
    struct check check = {.model = model, .error = error};
    const char *path = *model->path ? model->path : "model";
    int code = 0;
    snprintf(check.label, sizeof check.label, "%.160s", path);
    for (size_t i = 0; i < model->opset_count && !code; i++)
        if (model->opsets[i].version < 1)
            code = refuse(&check, ASSAY_EFORMAT,
                          "operator set '%.80s' has the invalid version %lld",
                          *model->opsets[i].domain ? model->opsets[i].domain : "ai.onnx",
                          (long long)model->opsets[i].version);
    if (!code) code = check_graph(&check, &model->graph);
    for (size_t i = 0; model->functions && i < model->function_count && !code; i++) {
        /* a function's body is a graph that sees nothing but the function's inputs */
        const struct assay__function *function = &model->functions[i];
        size_t inputs = function->input_count, outputs = function->output_count;
        if (!function->body) continue;
        struct assay__graph body = *function->body;
        struct assay__value *values = calloc(inputs + outputs + 1, sizeof *values);
        if (!values) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
        for (size_t k = 0; k < inputs + outputs; k++)
            values[k].name = k < inputs ? function->inputs[k] : function->outputs[k - inputs];
        body.inputs = values;
        body.input_count = inputs;
        body.outputs = values + inputs;
        body.output_count = outputs;
        snprintf(check.label, sizeof check.label, "%.80s: function '%.60s'", path, function->name);
        code = check_graph(&check, &body);
        free(values);
    }
    return code;
}
