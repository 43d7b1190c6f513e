/* describe_memory.c - what the graph says about memory: how much is live while each node runs, and
 * the peak (cost/liveness.h). */
#include "run/trial/describe.h"

#include "cost/liveness.h"

#include <math.h>
#include <stdlib.h>

static const char *node_name(const struct assay__node *node)
{
    if (node->name[0]) return node->name;
    return node->output_count ? node->outputs[0] : "";
}

/* The sources of a tensor's description. */
struct source {
    struct assay__arena *arena; /* the profile's */
    const struct assay__graph *graph;
    const struct assay__shapes *shapes;
    const size_t *order;
};

static const char *position_name(const struct source *from, size_t position)
{
    if (position >= from->graph->node_count) return "";
    return assay__arena_text(from->arena, "%s",
                             node_name(&from->graph->nodes[from->order[position]]));
}

static struct assay__peak_tensor describe_tensor(const struct source *from,
                                                 const struct assay__live_tensor *tensor)
{
    struct assay__buf type = {0};
    bool made = tensor->producer < from->graph->node_count;
    const struct assay__node *node = made ? &from->graph->nodes[tensor->producer] : NULL;
    bool known = assay__describe_type(&type, from->shapes, tensor->name);
    if (type.failed) assay__arena_fail(from->arena);
    struct assay__peak_tensor out = {
        .name = assay__arena_text(from->arena, "%s", tensor->name),
        .type = known ? assay__arena_text(from->arena, "%s", assay__buf_text(&type)) : "",
        .bytes = tensor->bytes,
        .producer = made ? assay__arena_text(from->arena, "%s", node_name(node)) : "",
        .op = made ? assay__arena_text(from->arena, "%s", node->op) : "",
        .first = position_name(from, tensor->first),
        .last = position_name(from, tensor->last),
    };
    assay__buf_free(&type);
    return out;
}

/* costs->peak: the tensors at the peak, as many as are kept, and the sum of the others. */
static void describe_peak(const struct source *from, const struct assay__liveness *live,
                          struct assay__peak *peak)
{
    *peak = assay__peak_unknown();
    if (live->peak_node >= from->graph->node_count) {
        peak->reason = "the graph has no nodes";
        return;
    }
    const struct assay__node *node = &from->graph->nodes[live->peak_node];
    size_t kept = live->peak_tensor_count < ASSAY__PEAK_TENSORS ? live->peak_tensor_count
                                                                : ASSAY__PEAK_TENSORS;
    peak->reason = "";
    peak->node = assay__arena_text(from->arena, "%s", node_name(node));
    peak->op = assay__arena_text(from->arena, "%s", node->op);
    peak->bytes = live->peak_bytes;
    peak->body_bytes = live->peak_body_bytes;
    peak->alive = (int64_t)live->peak_tensor_count;
    peak->tensors = assay__arena_array(from->arena, kept, sizeof *peak->tensors);
    for (size_t i = 0; peak->tensors && i < kept; i++)
        peak->tensors[i] = describe_tensor(from, &live->tensors[live->peak_tensors[i]]);
    peak->count = kept;
    peak->rest_bytes = 0;
    for (size_t i = kept; i < live->peak_tensor_count; i++)
        peak->rest_bytes += live->tensors[live->peak_tensors[i]].bytes;
}

int assay__describe_liveness(struct assay_profile *profile, const struct assay__model *model,
                             const struct assay__shapes *shapes, struct assay__model_costs *costs,
                             struct assay_error *error)
{
    const size_t count = model->graph.node_count;
    struct assay__arena *arena = assay__arena_new();
    size_t *order = calloc(count + 1, sizeof *order);
    struct assay__liveness live = {0};
    costs->live_bytes = calloc(count + 1, sizeof *costs->live_bytes);
    int code = arena && order && costs->live_bytes ? 0 : assay__no_memory(error);
    if (code == 0) code = assay__graph_order(&model->graph, order, error);
    if (code == 0) code = assay__liveness(model, shapes, order, arena, &live, error);
    for (size_t i = 0; i < count && code == 0; i++)
        costs->live_bytes[order[i]] = live.live_bytes[i];
    if (code == 0) {
        costs->live_peak_bytes = live.peak_bytes;
        costs->live_reason = isfinite(live.peak_bytes)
                                 ? ""
                                 : assay__arena_text(profile->arena,
                                                     "%zu activation%s of unknown size",
                                                     live.unknown_count,
                                                     live.unknown_count == 1 ? " is" : "s are");
        const struct source from = {profile->arena, &model->graph, shapes, order};
        describe_peak(&from, &live, &costs->peak);
        if (assay__arena_failed(profile->arena)) code = assay__no_memory(error);
    }
    free(order);
    assay__arena_free(arena);
    return code;
}
