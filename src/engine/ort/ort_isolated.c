/* ort_isolated.c - layer times by slope: the cost of one more copy of a node, alone and with
 * everything it needs in the cache.
 *
 * For each distinct node (operator, attributes, types and shapes of its inputs, values of its small
 * integer inputs) two models are built from the node alone: one with 2 copies, one with 2 + K. Then
 *   time of the node = (run of 2 + K copies - run of 2 copies) / K,
 * the median over alternating rounds. Two copies and not one in the base: the first intermediate
 * value needs a memory block. K = 100 µs / time, 1 … 32, and 1 for nodes of more than 5 ms. Inputs
 * are the actual values, from one run of the whole graph in which every inner value is an output:
 * times depend on them (NonZero, denormals). A large output gets a consumer (Shape) so that its
 * memory is released, as in the real graph.
 *
 * What it is not: the node's share of a real run. Copies find hot code, hot weights and hot
 * inputs; a layer with large weights comes out several times too fast. Hence the label "alone,
 * hot cache". The engine's fixed cost is a run of an empty graph.
 *
 * Limits: nodes that take sequences, maps or optionals are not timed. */
#include "engine/ort/ort_layers.h"

#include "base/map.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BASE_COPIES 2
#define ROUNDS 5
#define COPIES_MOST 32
#define LARGE_OUTPUT ((size_t)64 << 10)
#define OUTPUTS_MOST ((size_t)256 << 20) /* bytes that the copies of a node may hold in total */
#define SMALL_VALUE 1024 /* integer inputs up to this size are compared by content */
#define BODY_DEPTH 32

struct described { /* one value of the run */
    const OrtValue *value;
    bool tensor;
    struct assay__ort_shape shape;
    size_t bytes;
};

struct isolated {
    struct assay__layer_work *work;
    struct assay__timed whole;    /* the graph with all inner values as outputs */
    struct assay__model *exposed; /* its model */
    const char **names;           /* names of those outputs */
    size_t name_count;
    struct assay__map *values; /* name -> index into described */
    struct described *described;
    size_t described_count;
    struct assay__map *initializers; /* name -> index */
    struct assay__map *done;         /* key -> node that was timed */
};

/* --- real values ------------------------------------------------------------------------------ */

static int describe_value(struct isolated *it, const char *name, const OrtValue *value)
{
    const struct assay__ort *ort = &it->work->session->ort;
    struct described *out = &it->described[it->described_count];
    int type = 0;
    out->value = value;
    OrtStatus *status = value ? ort->get_value_type(value, &type) : NULL;
    if (!status && type == ASSAY__ORT_TYPE_TENSOR) {
        status = assay__ort_shape_read(ort, value, &out->shape);
        out->tensor = !status;
        out->bytes = assay__ort_shape_bytes(&out->shape);
    }
    assay__ort_ignore(ort, status);
    return assay__map_set(it->values, name, it->described_count++);
}

/** Makes every inner value of the graph an output and runs it once. */
static int expose(struct isolated *it, struct assay_error *error)
{
    struct assay__layer_work *work = it->work;
    char path[ASSAY__LAYERS_PATH] = "";
    int code = assay__layers_path(work, "exposed.onnx", path, sizeof path, error);
    if (!code) code = assay__model_read(work->optimized_path, &it->exposed, error);
    if (code) return code;
    struct assay__graph *graph = &it->exposed->graph;
    size_t most = graph->output_count;
    for (size_t i = 0; i < graph->node_count; i++)
        most += graph->nodes[i].output_count;
    it->names = assay__arena_array(work->arena, most + 1, sizeof *it->names);
    struct assay__map *outputs = assay__map_new();
    if (!it->names || !outputs) code = ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < graph->output_count; i++) {
        it->names[it->name_count++] = assay__arena_strdup(work->arena, graph->outputs[i].name);
        code = assay__map_set(outputs, graph->outputs[i].name, i);
    }
    for (size_t i = 0; !code && i < graph->node_count; i++)
        for (size_t k = 0; !code && k < graph->nodes[i].output_count; k++) {
            const char *name = graph->nodes[i].outputs[k];
            if (!name[0] || assay__map_get(outputs, name) != ASSAY__MAP_NONE) continue;
            code = assay__graph_add_value(it->exposed, &graph->outputs, &graph->output_count, name,
                                          ASSAY__UNDEFINED, -1, NULL);
            /* Only the name is written: ONNX Runtime infers the type. */
            if (!code) graph->outputs[graph->output_count - 1].kind = ASSAY__KIND_UNKNOWN;
            it->names[it->name_count++] = assay__arena_strdup(work->arena, name);
        }
    assay__map_free(outputs);
    if (code) return assay_error_set(error, code, "out of memory for inner values");
    code = assay__model_write(it->exposed, path, error);
    struct assay__timed_options options = {.path = path,
                                           .optimization = ASSAY__ORT_OPT_NONE,
                                           .output_names = it->names,
                                           .output_count = it->name_count};
    if (!code) code = assay__timed_open(work->session, &options, &it->whole, error);
    if (!code) code = assay__timed_run(&it->whole, NULL, error);
    assay__layers_unlink(path);
    return code;
}

static int describe_all(struct isolated *it, struct assay_error *error)
{
    const struct assay__session *session = it->work->session;
    const struct assay__graph *graph = &it->work->optimized->graph;
    size_t most = it->name_count + session->input_count;
    it->described = calloc(most + 1, sizeof *it->described);
    it->values = assay__map_new();
    it->initializers = assay__map_new();
    it->done = assay__map_new();
    int code = it->described && it->values && it->initializers && it->done ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < session->input_count; i++)
        code = describe_value(it, session->input_names[i], session->input_values[i]);
    for (size_t i = 0; !code && i < it->name_count; i++)
        code = describe_value(it, it->names[i], it->whole.outputs[i]);
    for (size_t i = 0; !code && i < graph->initializer_count; i++)
        code = assay__map_set(it->initializers, graph->initializers[i].name, i);
    return code ? assay_error_set(error, code, "out of memory for inner values") : 0;
}

struct needs {
    struct assay__arena *arena;
    const char **names; /* distinct, without "" */
    size_t count;
    struct assay__map *seen;
};

/** What the node reads and, for nodes in its bodies, names that are known outside: ONNX has one
 *  namespace, so bodies do not redefine them. */
static int add_needs(const struct isolated *it, struct needs *needs, const struct assay__node *node,
                     int depth)
{
    if (depth > BODY_DEPTH) return ASSAY_ELIMIT;
    int code = 0;
    for (size_t k = 0; !code && k < node->input_count; k++) {
        const char *name = node->inputs[k];
        bool outer = depth == 0 || assay__map_get(it->values, name) != ASSAY__MAP_NONE ||
                     assay__map_get(it->initializers, name) != ASSAY__MAP_NONE;
        if (!outer || !name[0] || assay__map_get(needs->seen, name) != ASSAY__MAP_NONE) continue;
        const char **names = assay__arena_grow(needs->arena, needs->names, needs->count,
                                               sizeof *names);
        if (!names) return ASSAY_ENOMEM;
        needs->names = names;
        names[needs->count++] = name;
        code = assay__map_set(needs->seen, name, 1);
    }
    for (size_t b = 0; !code && assay__node_body(node, b); b++) {
        const struct assay__graph *body = assay__node_body(node, b);
        for (size_t i = 0; !code && i < body->node_count; i++)
            code = add_needs(it, needs, &body->nodes[i], depth + 1);
    }
    return code;
}

/* --- which nodes are the same ----------------------------------------------------------------- */

static uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static bool is_integer(int dtype)
{
    return (dtype >= ASSAY__UINT8 && dtype <= ASSAY__INT64) || dtype == ASSAY__BOOL ||
           dtype == ASSAY__UINT32 || dtype == ASSAY__UINT64;
}

static void key_tensor(struct assay__buf *key, char kind, int dtype, const int64_t *dims,
                       size_t rank, const void *data, size_t size)
{
    assay__buf_printf(key, "|%c%d", kind, dtype);
    for (size_t i = 0; i < rank; i++)
        assay__buf_printf(key, ",%lld", (long long)dims[i]);
    if (data && is_integer(dtype))
        assay__buf_printf(key, ":%llx", (unsigned long long)hash_bytes(data, size));
}

static void key_value(const struct isolated *it, struct assay__buf *key, const char *name)
{
    size_t at = assay__map_get(it->values, name);
    size_t constant = assay__map_get(it->initializers, name);
    if (at != ASSAY__MAP_NONE) {
        const struct described *value = &it->described[at];
        const struct assay__ort_shape *shape = &value->shape;
        const struct assay__ort *ort = &it->work->session->ort;
        void *data = NULL;
        if (value->tensor && value->bytes && value->bytes <= SMALL_VALUE)
            assay__ort_ignore(ort, ort->get_tensor_mutable_data((OrtValue *)value->value, &data));
        key_tensor(key, 'v', value->tensor ? shape->element : -1, shape->dims, shape->rank, data,
                   value->bytes);
    } else if (constant != ASSAY__MAP_NONE) {
        const struct assay__tensor *tensor = &it->work->optimized->graph.initializers[constant];
        key_tensor(key, 'c', (int)tensor->dtype, tensor->dims, (size_t)tensor->rank, tensor->data,
                   tensor->data_size);
    } else {
        assay__buf_puts(key, "|-");
    }
}

static const char *node_key(const struct isolated *it, const struct assay__node *node,
                            const struct needs *needs)
{
    struct assay__buf key = {0};
    assay__buf_printf(&key, "%s:%s:%zu:%zu", node->domain, node->op, node->input_count,
                      node->output_count);
    for (size_t a = 0; a < node->attr_count; a++)
        if (node->attrs[a].raw)
            assay__buf_printf(
                &key, "|a%llx",
                (unsigned long long)hash_bytes(node->attrs[a].raw, node->attrs[a].raw_size));
    for (size_t k = 0; k < node->input_count; k++)
        assay__buf_puts(&key, node->inputs[k][0] ? "+" : "0");
    for (size_t i = 0; i < needs->count; i++)
        key_value(it, &key, needs->names[i]);
    const char *result = key.failed ? NULL
                                    : assay__arena_strndup(it->work->arena, key.data, key.length);
    assay__buf_free(&key);
    return result;
}

/* --- the models of one node ------------------------------------------------------------------- */

/** An empty model with the versions of the optimised one, and a scalar output "assay.out" so that
 *  it has one. */
static struct assay__model *model_like(const struct assay__model *like)
{
    static const float one = 1;
    struct assay__model *model = assay__model_new();
    if (!model) return NULL;
    static const char *const from = "assay.one", *const to = "assay.out";
    struct assay__graph *graph = &model->graph;
    model->ir_version = like->ir_version;
    model->opsets = like->opsets; /* both live until the model is written */
    model->opset_count = like->opset_count;
    graph->name = "isolated";
    if (assay__graph_add_value(model, &graph->outputs, &graph->output_count, to, ASSAY__FLOAT32, 0,
                               NULL) ||
        !assay__graph_add_initializer(model, graph, from, ASSAY__FLOAT32, 0, NULL, &one,
                                      sizeof one) ||
        !assay__graph_add_node(model, graph, "Identity", "assay.identity", &from, 1, &to, 1)) {
        assay__model_free(model);
        return NULL;
    }
    return model;
}

static int add_copy(struct isolated *it, struct assay__model *model, const struct assay__node *node,
                    size_t copy)
{
    struct assay__graph *graph = &model->graph;
    const char **outputs = assay__arena_array(model->arena, node->output_count + 1,
                                              sizeof *outputs);
    if (!outputs) return ASSAY_ENOMEM;
    for (size_t k = 0; k < node->output_count; k++) {
        outputs[k] = node->outputs[k][0]
                         ? assay__arena_printf(model->arena, "assay.%zu.%zu", copy, k)
                         : "";
        if (!outputs[k]) return ASSAY_ENOMEM;
    }
    const char *name = assay__arena_printf(model->arena, "assay.copy.%zu", copy);
    struct assay__node *made = name ? assay__graph_add_node(model, graph, node->op, name,
                                                            node->inputs, node->input_count,
                                                            outputs, node->output_count)
                                    : NULL;
    if (!made) return ASSAY_ENOMEM;
    *made = *node;
    made->name = name;
    made->outputs = outputs;
    for (size_t k = 0; k < node->output_count; k++) {
        size_t at = assay__map_get(it->values, node->outputs[k]);
        if (at == ASSAY__MAP_NONE || !it->described[at].tensor ||
            it->described[at].bytes < LARGE_OUTPUT)
            continue;
        const char *shape = assay__arena_printf(model->arena, "assay.shape.%zu.%zu", copy, k);
        if (!shape ||
            !assay__graph_add_node(model, graph, "Shape", shape, &outputs[k], 1, &shape, 1))
            return ASSAY_ENOMEM;
    }
    return 0;
}

/** Inputs and constants of the node. The *input_count dynamic inputs are put into names and
 *  values. */
static int add_sources(struct isolated *it, struct assay__model *model, const struct needs *needs,
                       const char **names, const OrtValue **values, size_t *input_count)
{
    struct assay__graph *graph = &model->graph;
    *input_count = 0;
    for (size_t i = 0; i < needs->count; i++) {
        size_t at = assay__map_get(it->values, needs->names[i]);
        size_t constant = assay__map_get(it->initializers, needs->names[i]);
        if (at != ASSAY__MAP_NONE) {
            const struct described *value = &it->described[at];
            const struct assay__ort_shape *shape = &value->shape;
            struct assay__dim dims[ASSAY__ORT_RANK_MOST];
            if (!value->tensor) return ASSAY_EUNSUPPORTED;
            for (size_t d = 0; d < shape->rank; d++)
                dims[d] = (struct assay__dim){.value = shape->dims[d], .symbol = ""};
            if (assay__graph_add_value(model, &graph->inputs, &graph->input_count, needs->names[i],
                                       (enum assay__dtype)shape->element, (int)shape->rank, dims))
                return ASSAY_ENOMEM;
            names[*input_count] = needs->names[i];
            values[(*input_count)++] = value->value;
        } else if (constant != ASSAY__MAP_NONE) {
            const struct assay__tensor *tensor = &it->work->optimized->graph.initializers[constant];
            struct assay__tensor *made = assay__graph_add_initializer(
                model, graph, tensor->name, tensor->dtype, tensor->rank, tensor->dims, NULL, 0);
            if (!made) return ASSAY_ENOMEM;
            *made = *tensor; /* its data too, wherever it is */
        } else {
            return ASSAY_EUNSUPPORTED;
        }
    }
    return 0;
}

/** Writes the model to `file`, opens a session of it with those inputs, and frees the model. */
static int open_model(struct isolated *it, struct assay__model *model, const char *file,
                      struct assay__timed_options options, struct assay__timed *timed,
                      struct assay_error *error)
{
    static const char *const outputs[] = {"assay.out"};
    char path[ASSAY__LAYERS_PATH] = "";
    int code = assay__layers_path(it->work, file, path, sizeof path, error);
    if (!code) code = assay__model_write(model, path, error);
    options.path = path;
    options.optimization = ASSAY__ORT_OPT_NONE;
    options.output_names = outputs;
    options.output_count = 1;
    if (!code) code = assay__timed_open(it->work->session, &options, timed, error);
    assay__layers_unlink(path);
    assay__model_free(model);
    return code;
}

static int open_copies(struct isolated *it, const struct assay__node *node,
                       const struct needs *needs, size_t copies, const char *file,
                       struct assay__timed *timed, struct assay_error *error)
{
    struct assay__model *model = model_like(it->work->optimized);
    /* The session's view of its inputs outlives this function. */
    const char **names = assay__arena_array(it->work->arena, needs->count + 1, sizeof *names);
    const OrtValue **values = assay__arena_array(it->work->arena, needs->count + 1, sizeof *values);
    struct assay__timed_options options = {.input_names = names, .inputs = values};
    int code = model && names && values ? 0 : ASSAY_ENOMEM;
    if (!code) code = add_sources(it, model, needs, names, values, &options.input_count);
    for (size_t i = 0; !code && i < copies; i++)
        code = add_copy(it, model, node, i);
    if (!code) return open_model(it, model, file, options, timed, error);
    assay__model_free(model);
    return assay_error_set(error, code, "cannot isolate the node: %s", assay_error_text(code));
}

/* --- timing ----------------------------------------------------------------------------------- */

static size_t calls_for(double run_ns)
{
    double calls = 10e6 / run_ns; /* 10 ms a block */
    return calls < 3 ? 3 : calls > 400 ? 400 : (size_t)calls;
}

static size_t copies_for(const struct isolated *it, const struct assay__node *node, double base_ns)
{
    double once_ns = fmax((base_ns - 1500) / BASE_COPIES, 50);
    double copies = once_ns > 5e6 ? 1 : 100e3 / once_ns;
    size_t bytes = 0;
    for (size_t k = 0; k < node->output_count; k++) {
        size_t at = assay__map_get(it->values, node->outputs[k]);
        if (at != ASSAY__MAP_NONE) bytes += it->described[at].bytes;
    }
    if (bytes) copies = fmin(copies, (double)OUTPUTS_MOST / (double)bytes);
    return copies < 1 ? 1 : copies > COPIES_MOST ? COPIES_MOST : (size_t)copies;
}

static int time_slope(struct isolated *it, const struct assay__node *node,
                      const struct needs *needs, double *time_ns, struct assay_error *error)
{
    struct assay__timed base = {0}, more = {0};
    double base_ns = NAN, more_ns = NAN, slopes[ROUNDS];
    int code = open_copies(it, node, needs, BASE_COPIES, "base.onnx", &base, error);
    if (!code) code = assay__timed_median(&base, 2, 5, &base_ns, error);
    size_t copies = code ? 1 : copies_for(it, node, base_ns);
    if (!code) code = open_copies(it, node, needs, BASE_COPIES + copies, "more.onnx", &more, error);
    if (!code) code = assay__timed_median(&more, 2, 3, &more_ns, error);
    for (size_t r = 0; !code && r < ROUNDS; r++) {
        code = assay__timed_median(&base, 1, calls_for(base_ns), &base_ns, error);
        if (!code) code = assay__timed_median(&more, 1, calls_for(more_ns), &more_ns, error);
        slopes[r] = (more_ns - base_ns) / (double)copies;
    }
    assay__timed_close(&base);
    assay__timed_close(&more);
    if (code) return code;
    assay__stats_sort(slopes, ROUNDS);
    *time_ns = fmax(assay__stats_median(slopes, ROUNDS), 0);
    return 0;
}

static int time_empty(struct isolated *it, struct assay_error *error)
{
    struct assay__timed timed = {0};
    struct assay__model *model = model_like(it->work->optimized);
    if (!model) return assay__no_memory(error);
    model->graph.inputs = it->work->optimized->graph.inputs; /* borrowed for the writing */
    model->graph.input_count = it->work->optimized->graph.input_count;
    struct assay__timed_options options = {0};
    int code = open_model(it, model, "empty.onnx", options, &timed, error);
    if (!code) code = assay__timed_median(&timed, 50, 1000, &it->work->result->engine_ns, error);
    assay__timed_close(&timed);
    return code;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int time_node(struct isolated *it, size_t index, struct assay_error *error)
{
    struct assay__layer *layer = &it->work->layers[index];
    const struct assay__node *node = &it->work->optimized->graph.nodes[index];
    struct assay__arena *arena = assay__arena_new();
    struct needs needs = {.arena = arena, .seen = assay__map_new()};
    int code = arena && needs.seen ? add_needs(it, &needs, node, 0) : ASSAY_ENOMEM;
    assay__map_free(needs.seen);
    const char *key = code ? NULL : node_key(it, node, &needs);
    if (!key)
        code = assay_error_set(error, code ? code : ASSAY_ENOMEM,
                               "out of memory for the inputs of a node");
    size_t twin = code ? ASSAY__MAP_NONE : assay__map_get(it->done, key);
    if (!code && twin != ASSAY__MAP_NONE) {
        layer->time_ns = it->work->layers[twin].time_ns;
        layer->state = it->work->layers[twin].state;
        layer->note = it->work->layers[twin].note;
    } else if (!code && assay__layers_elapsed_s(it->work) > it->work->budget_s) {
        layer->note = "not reached in the available time";
    } else if (!code) {
        struct assay_error why = {0};
        if (time_slope(it, node, &needs, &layer->time_ns, &why) == 0) {
            layer->state = ASSAY_MEASURED;
            layer->note = "alone, hot cache";
        } else {
            layer->time_ns = NAN;
            layer->note = assay__arena_printf(it->work->arena, "cannot be run alone: %s",
                                              why.message);
        }
        code = layer->note ? assay__map_set(it->done, key, index) : ASSAY_ENOMEM;
    }
    assay__arena_free(arena);
    return code;
}

int assay__layers_isolated(struct assay__layer_work *work, struct assay_error *error)
{
    struct isolated it = {.work = work};
    size_t missing = 0;
    int code = expose(&it, error);
    if (!code) code = describe_all(&it, error);
    if (!code) code = time_empty(&it, error);
    for (size_t i = 0; !code && i < work->layer_count; i++) {
        code = time_node(&it, i, error);
        missing += isnan(work->layers[i].time_ns);
    }
    if (!code) {
        work->result->method = "isolated";
        assay__layers_learn_order(work);
        work->result->sessions = 1;
        if (missing)
            assay__layers_say(work, "%zu of %zu layers have no time: see their notes.", missing,
                              work->layer_count);
    }
    assay__timed_close(&it.whole);
    assay__model_free(it.exposed);
    assay__map_free(it.values);
    assay__map_free(it.initializers);
    assay__map_free(it.done);
    free(it.described);
    return code;
}
