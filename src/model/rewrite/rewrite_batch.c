/* rewrite_batch.c - changes the batch of a model whose batch is a number.
 *
 * The batch B of the inputs (their first dimension, or the second if time comes first:
 * assay__inputs_batch_axis) becomes N, and Reshape targets whose first number is B get N if they
 * reshape something that depends on the inputs. Then this is verified, or refused: shapes are
 * inferred before and after; they must not contradict each other, every value that depends on an
 * input must be known and have grown along exactly one axis by N / B, and no operator may work
 * across that axis (Softmax, TopK, CumSum, … along it). */
#include "model/inputs/inputs.h"
#include "model/rewrite/rewrite_graph.h"

#include <string.h>

struct batching {
    struct assay__model *model;
    struct assay__namer namer;
    struct assay__map *follows; /* values that depend on the inputs; for an input: its batch axis */
    struct assay__shapes *before, *after;
    int64_t from, to;
    size_t reshapes;
    struct assay_error *error;
};

static int refuse(struct batching *work, const char *name, const char *op, const char *why)
{
    return assay_error_set(work->error, ASSAY_EUNSUPPORTED,
                           "the batch is fixed at %lld and cannot safely be changed: '%.80s' (%s) "
                           "%s; export the model with a symbolic batch",
                           (long long)work->from, name, op, why);
}

/* The node's name, else the tensor it produces. */
static int refuse_node(struct batching *work, const struct assay__node *node, const char *why)
{
    const char *name = *node->name || !node->output_count ? node->name : node->outputs[0];
    return refuse(work, name, node->op, why);
}

static bool follows(const struct batching *work, const char *name)
{
    return *name && assay__map_has(work->follows, name);
}

static int change_inputs(struct batching *work)
{
    struct assay__graph *graph = &work->model->graph;
    int code = 0;
    for (size_t i = 0; i < graph->input_count && !code; i++) {
        struct assay__value *input = &graph->inputs[i];
        if (assay__graph_is_initializer(graph, input->name)) continue;
        int axis = assay__inputs_batch_axis(work->model, input->name);
        if (input->rank <= axis || input->dims[axis].value < 1) continue;
        if (!work->from) work->from = input->dims[axis].value;
        if (input->dims[axis].value != work->from) continue;
        code = assay__map_set(work->follows, input->name, (size_t)axis);
    }
    if (!work->from)
        return assay_error_set(work->error, ASSAY_EINVAL, "the model has no batch axis");
    return code ? assay__rewrite_no_memory(work->error) : 0;
}

/* A Reshape to a constant shape that begins with the batch. */
static void change_reshape(struct batching *work, struct assay__node *node)
{
    struct assay__graph *graph = &work->model->graph;
    const struct assay__tensor *tensor = assay__graph_initializer(graph, node->inputs[1]);
    int64_t target[64], count;
    for (size_t i = 0; i < graph->node_count && !tensor; i++)
        if (graph->nodes[i].output_count &&
            strcmp(graph->nodes[i].outputs[0], node->inputs[1]) == 0)
            tensor = assay__node_constant(&graph->nodes[i]);
    if (!tensor || tensor->dtype != ASSAY__INT64 || tensor->rank != 1 || tensor->elements < 1 ||
        tensor->elements > 64 || !tensor->data)
        return;
    memcpy(target, tensor->data, tensor->data_size);
    if (target[0] != work->from) return;
    target[0] = work->to;
    count = tensor->elements;
    const char *name = assay__rewrite_constant(graph, &work->namer, node->inputs[1], "_batch",
                                               ASSAY__INT64, 1, &count, target);
    assay__node_set_input(work->model, node, 1, name);
    work->reshapes++;
}

/* In execution order: what depends on the inputs. Shape and Size return properties of the inputs,
 * not their values. */
static int trace(struct batching *work)
{
    struct assay__graph *graph = &work->model->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        bool touched = false;
        for (size_t k = 0; k < node->input_count; k++)
            touched |= follows(work, node->inputs[k]);
        if (!touched || assay__node_is_any(node, "Shape Size")) continue;
        for (size_t a = 0; a < node->attr_count; a++)
            if (node->attrs[a].g || node->attrs[a].graphs)
                return refuse_node(work, node, "has a body");
        for (size_t k = 0; k < node->output_count; k++)
            if (*node->outputs[k] && assay__map_set(work->follows, node->outputs[k], 1))
                return assay__rewrite_no_memory(work->error);
        if (assay__node_is(node, "Reshape") && node->input_count > 1 &&
            follows(work, node->inputs[0]))
            change_reshape(work, node);
    }
    return assay__rewrite_end(work->model, 0, work->error);
}

/* The axis along which a value grew; -1: it did not grow by N / B along exactly one axis. */
static int grown_axis(const struct batching *work, const char *name)
{
    const struct assay__shape_entry *old = assay__shapes_get(work->before, name),
                                    *now = assay__shapes_get(work->after, name);
    int axis = -1;
    if (!old || !now || old->rank < 0 || old->rank != now->rank) return -1;
    for (int d = 0; d < old->rank; d++) {
        if (old->dims[d] < 0 || now->dims[d] < 0) {
            /* a symbol stays what it was */
            const char *was = old->dims[d] < 0 ? assay__shapes_symbol(work->before, old->dims[d])
                                               : "";
            const char *is = now->dims[d] < 0 ? assay__shapes_symbol(work->after, now->dims[d])
                                              : "";
            if (!*was || strcmp(was, is) != 0) return -1;
            continue;
        }
        if (old->dims[d] == now->dims[d]) continue;
        if (axis >= 0 || old->dims[d] % work->from ||
            old->dims[d] / work->from * work->to != now->dims[d])
            return -1;
        axis = d;
    }
    return axis;
}

static bool works_across(const struct batching *work, const struct assay__node *node, int axis)
{
    static const char *const along[] = {"Softmax", "LogSoftmax",      "Hardmax", "CumSum",
                                        "TopK",    "LpNormalization", "ArgMax",  "ArgMin"};
    const struct assay__shape_entry *entry = assay__shapes_get(work->after, node->inputs[0]);
    int rank = entry ? entry->rank : 0;
    int64_t opset = assay__model_opset(work->model, "");
    if (assay__node_is_any(node, "LayerNormalization RMSNormalization")) {
        int64_t from = assay__node_int(node, "axis", -1);
        return (from < 0 ? from + rank : from) <= axis;
    }
    for (size_t i = 0; i < sizeof along / sizeof along[0]; i++) {
        if (!assay__node_is(node, along[i])) continue;
        int64_t at = assay__node_int(node, "axis", i < 3 && opset < 13 ? 1 : i < 6 ? -1 : 0);
        if (at < 0) at += rank;
        return i < 3 && opset < 13 ? at <= axis : at == axis; /* older sets flatten from there */
    }
    return false;
}

static int verify(struct batching *work)
{
    const struct assay__graph *graph = &work->model->graph;
    const struct assay__shape_conflict *conflicts = NULL;
    if (assay__shapes_conflicts(work->after, &conflicts))
        return refuse(work, conflicts[0].node, conflicts[0].op, conflicts[0].message);
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->output_count; k++) {
            if (!follows(work, node->outputs[k])) continue;
            /* optional outputs such as a mask of Dropout may have no known shape */
            if (k > 0 && !assay__shapes_get(work->after, node->outputs[k])) continue;
            int axis = grown_axis(work, node->outputs[k]);
            if (axis < 0)
                return refuse_node(work, node, "does not grow with the batch along one axis");
            if (node->input_count && follows(work, node->inputs[0]) &&
                works_across(work, node, axis))
                return refuse_node(work, node, "works across the batch");
        }
    }
    return 0;
}

int assay__rewrite_batch(struct assay__model *model, int64_t batch,
                         struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct assay__graph *graph = &model->graph;
    struct batching work = {.model = model, .to = batch, .error = error};
    work.follows = assay__map_new();
    int code = work.follows ? 0 : assay__rewrite_no_memory(error);
    if (!code) code = change_inputs(&work);
    if (!code && work.from == work.to) goto out;
    if (!code) code = assay__shapes_infer(model, NULL, 0, &work.before, error);
    if (!code) code = assay__namer_open(&work.namer, model, error);
    if (!code) code = trace(&work);
    if (code) goto out;
    for (size_t i = 0; i < graph->input_count; i++) { /* two may be of one name */
        struct assay__value *input = &graph->inputs[i];
        size_t axis = assay__map_get(work.follows, input->name);
        if (axis != ASSAY__MAP_NONE && input->rank > (int)axis) input->dims[axis].value = work.to;
    }
    /* the file's own statements refer to the old batch */
    assay__rewrite_drop_values(model);
    for (size_t i = 0; i < graph->output_count; i++)
        for (int d = 0; follows(&work, graph->outputs[i].name) && d < graph->outputs[i].rank; d++)
            graph->outputs[i].dims[d] = (struct assay__dim){-1, ""};
    code = assay__shapes_infer(model, NULL, 0, &work.after, error);
    if (!code) code = verify(&work);
    if (code) goto out;
    assay__rewrite_settle_outputs(graph, work.after, false);
    assay__rewrite_note(notes, "batch changed from %lld to %lld, %zu Reshape targets with it",
                        (long long)work.from, (long long)work.to, work.reshapes);
out:
    assay__namer_close(&work.namer);
    assay__shapes_free(work.before);
    assay__shapes_free(work.after);
    assay__map_free(work.follows);
    return code;
}
