/* rewrite_repeat.c - repeats one node N times, so that its time exceeds the noise.
 *
 * Copies with equal inputs would be merged by an optimiser, and copies in a plain chain f(f(x))
 * would work on different values than in the model. So each copy reads one of its inputs through
 *
 *     v' = Max(v, Min(v, s))        s: one number of the copy before
 *
 * which is v whatever s is (absorption), and which no optimiser knows: every copy must run, one
 * after the other, on exactly the same values, and the last one's result is the node's. The input
 * that is guarded is the smallest one that is not a weight matrix (a bias of rank 1 may be; a
 * matrix would lose its packing). A NaN in the result's first number would spread, but it is in the
 * result then anyway. The two extra operators per copy are named NODE_guard…; what they cost can be
 * seen there. */
#include "model/rewrite/rewrite_graph.h"

#include "base/text.h"

#include <string.h>

struct repetition {
    struct assay__model *model;
    struct assay__namer namer;
    struct assay__graph fresh;
    struct assay__shapes *shapes;
    struct assay_error *error;
    const char *first; /* the index 0, as an initializer */
    const char *flat;  /* the shape [-1] */
    enum assay__dtype dtype;
    size_t input; /* which one is guarded */
};

static int choose_input(struct repetition *work, const struct assay__node *node)
{
    int64_t opset = assay__model_opset(work->model, "");
    double best = 0;
    bool found = false;
    for (size_t i = 0; i < node->input_count; i++) {
        if (!*node->inputs[i]) continue;
        const struct assay__tensor *tensor = assay__graph_initializer(&work->model->graph,
                                                                      node->inputs[i]);
        const struct assay__shape_entry *entry = assay__shapes_get(work->shapes, node->inputs[i]);
        enum assay__dtype dtype = tensor ? tensor->dtype : entry ? entry->dtype : ASSAY__UNDEFINED;
        bool real = dtype == ASSAY__FLOAT32 || dtype == ASSAY__FLOAT64 || dtype == ASSAY__FLOAT16;
        bool whole = opset >= 12 && (dtype == ASSAY__INT32 || dtype == ASSAY__INT64);
        if ((!real && !whole) || (tensor && tensor->rank != 1)) continue;
        if (tensor && dtype == ASSAY__INT64) continue; /* a shape or axes: must stay constant */
        double size = tensor ? (double)tensor->elements : 1;
        if (!tensor && entry->rank < 0) size = 1e300; /* a known number of elements is preferred */
        for (int d = 0; !tensor && d < entry->rank; d++)
            size *= entry->dims[d] >= 0 ? (double)entry->dims[d] : 1e9;
        if (found && size >= best) continue;
        found = true;
        best = size;
        work->input = i;
        work->dtype = dtype;
    }
    if (found) return 0;
    return assay_error_set(work->error, ASSAY_EUNSUPPORTED,
                           "'%.80s' (%s) cannot be repeated: it has no input of a known numeric "
                           "type that could make its copies differ",
                           node->name, node->op);
}

static const char *base(const struct assay__node *node)
{
    return *node->name ? node->name : node->outputs[0];
}

static const char *emit(struct repetition *work, const char *op, const struct assay__node *node,
                        const char *suffix, const char *a, const char *b)
{
    return assay__rewrite_emit(&work->namer, &work->fresh, op, base(node), suffix, a, b);
}

/* v' = Max(v, Min(v, s)) with s = Cast(Gather(Reshape(y, [-1]), 0)). */
static const char *guard(struct repetition *work, const struct assay__node *node, const char *y)
{
    const char *v = node->inputs[work->input];
    const char *flat = emit(work, "Reshape", node, "_guard_flat", y, work->flat);
    const char *one = emit(work, "Gather", node, "_guard_one", flat, work->first);
    const char *s = emit(work, "Cast", node, "_guard_cast", one, NULL);
    if (work->model->failed) return "";
    assay__node_set_int(work->model, &work->fresh.nodes[work->fresh.node_count - 1], "to",
                        (int64_t)work->dtype);
    return emit(work, "Max", node, "_guard", v, emit(work, "Min", node, "_guard_min", v, s));
}

/* All copies except the last get new output names. Returns the first output. */
static const char *add_copy(struct repetition *work, const struct assay__node *node, const char *v,
                            bool last)
{
    struct assay__model *model = work->model;
    struct assay__node *copy = assay__graph_push_node(model, &work->fresh, node);
    const char **outputs = assay__arena_array(model->arena, node->output_count, sizeof *outputs);
    model->failed |= !outputs;
    if (model->failed) return "";
    if (v) assay__node_set_input(model, copy, work->input, v);
    if (last) return node->outputs[0];
    copy->name = assay__namer_make(&work->namer, base(node), "_copy");
    for (size_t i = 0; i < node->output_count; i++)
        outputs[i] = *node->outputs[i] ? assay__namer_make(&work->namer, node->outputs[i], "_copy")
                                       : "";
    copy->outputs = outputs;
    return outputs[0];
}

static const struct assay__node *find_node(struct repetition *work, const char *name, size_t *at)
{
    const struct assay__graph *graph = &work->model->graph;
    struct assay__text_nearest nearest = ASSAY__TEXT_NEAREST;
    for (int by_output = 0; by_output < 2; by_output++)
        for (size_t i = 0; i < graph->node_count; i++) {
            const struct assay__node *node = &graph->nodes[i];
            const char *own = by_output ? node->output_count ? node->outputs[0] : "" : node->name;
            *at = i;
            if (*own && strcmp(own, name) == 0) return node;
            assay__text_nearest_try(&nearest, name, own);
        }
    assay_error_set(work->error, ASSAY_ENOTFOUND,
                    "no node is called '%.100s' (and none produces a tensor of that name); the "
                    "nearest is '%.100s'",
                    name, nearest.word);
    return NULL;
}

int assay__rewrite_repeat(struct assay__model *model, const char *name, int64_t times,
                          struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct assay__graph *graph = &model->graph;
    struct repetition work = {.model = model, .fresh = {.name = ""}, .error = error};
    size_t at = 0;
    if (times < 1 || times > 100000)
        return assay_error_set(error, ASSAY_EINVAL, "'%.100s' %lld times: must be 1 to 100000",
                               name, (long long)times);
    int code = assay__rewrite_begin(model, true, notes, error);
    if (code) return code;
    if (times > 1) code = assay__rewrite_opset(model, 8, notes, error); /* Max broadcasts */
    if (code) return code;
    const struct assay__node *node = find_node(&work, name, &at);
    if (!node) return ASSAY_ENOTFOUND;
    if (node->output_count == 0 || !*node->outputs[0])
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "'%.100s' has no first output", name);
    code = assay__shapes_infer(model, NULL, 0, &work.shapes, error);
    if (!code) code = choose_input(&work, node);
    if (!code) code = assay__namer_open(&work.namer, model, error);
    if (code) goto out;
    if (times > 1) {
        int64_t zero = 0, minus = -1, one = 1;
        work.first = assay__rewrite_constant(graph, &work.namer, "repeat", "_index", ASSAY__INT64,
                                             0, NULL, &zero);
        work.flat = assay__rewrite_constant(graph, &work.namer, "repeat", "_flat", ASSAY__INT64, 1,
                                            &one, &minus);
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const char *y = "";
        if (i != at) assay__graph_push_node(model, &work.fresh, &graph->nodes[i]);
        for (int64_t k = 0; i == at && k < times && !model->failed; k++)
            y = add_copy(&work, node, k ? guard(&work, node, y) : NULL, k + 1 == times);
    }
    code = assay__rewrite_end(model, 0, error);
    if (code) goto out;
    assay__rewrite_note(notes, "'%.100s' (%s) runs %lld times, its copies separated by input %zu",
                        name, node->op, (long long)times, work.input);
    assay__graph_take_nodes(graph, &work.fresh);
out:
    assay__namer_close(&work.namer);
    assay__shapes_free(work.shapes);
    return code;
}

static const char *read_times(const char *text, int64_t *times)
{
    const char *equals = strrchr(text, '=');
    return equals && equals != text && assay__text_int64(equals + 1, times) == 0 ? equals : NULL;
}

static int check_repeat(const char *const *arguments, size_t count, struct assay_error *error)
{
    int64_t times = 0;
    for (size_t i = 0; i < count; i++)
        if (!read_times(arguments[i], &times))
            return assay_error_set(error, ASSAY_EINVAL, "'%.100s' is not of the form NODE=N",
                                   arguments[i]);
    return 0;
}

static int apply_repeat(struct assay__model *model, const struct assay__rewrite_request *request,
                        struct assay__rewrite_notes *notes, struct assay_error *error)
{
    int code = check_repeat(request->arguments, request->argument_count, error);
    for (size_t i = 0; i < request->argument_count && !code; i++) {
        int64_t times = 0;
        const char *text = request->arguments[i], *equals = read_times(text, &times);
        const char *name = assay__arena_strndup(model->arena, text, (size_t)(equals - text));
        code = name ? assay__rewrite_repeat(model, name, times, notes, error)
                    : assay__rewrite_no_memory(error);
    }
    return code;
}

const struct assay__rewriter assay__rewriter_repeat = {
    .step = "repeat", .check = check_repeat, .apply = apply_repeat};
