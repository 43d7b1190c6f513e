/* describe_memory.c - what the graph says about memory: how much is live while each node runs, and
 * the peak (cost/liveness.h). */
#include "run/trial/describe.h"

#include "cost/liveness.h"

#include <math.h>
#include <stdlib.h>

static const char *unknown_reason(struct assay__arena *arena, const struct assay__liveness *live)
{
    const char *text = assay__arena_printf(arena, "%zu activation%s of unknown size",
                                           live->unknown_count,
                                           live->unknown_count == 1 ? " is" : "s are");
    return text ? text : "an activation is of unknown size";
}

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
    return assay__arena_strdup(from->arena, node_name(&from->graph->nodes[from->order[position]]));
}

static int describe_tensor(const struct source *from, const struct assay__live_tensor *tensor,
                           struct assay__peak_tensor *out)
{
    struct assay__buf type = {0};
    bool made = tensor->producer < from->graph->node_count;
    const struct assay__node *node = made ? &from->graph->nodes[tensor->producer] : NULL;
    bool known = assay__describe_type(&type, from->shapes, tensor->name);
    *out = (struct assay__peak_tensor){
        .name = assay__arena_strdup(from->arena, tensor->name),
        .type = type.failed ? NULL
                : known     ? assay__arena_strndup(from->arena, type.data, type.length)
                            : "",
        .bytes = tensor->bytes,
        .producer = made ? assay__arena_strdup(from->arena, node_name(node)) : "",
        .op = made ? assay__arena_strdup(from->arena, node->op) : "",
        .first = position_name(from, tensor->first),
        .last = position_name(from, tensor->last),
    };
    assay__buf_free(&type);
    return out->name && out->type && out->producer && out->op && out->first && out->last
               ? 0
               : ASSAY_ENOMEM;
}

/* costs->peak: the tensors at the peak, as many as are kept, and the sum of the others. */
static int describe_peak(const struct source *from, const struct assay__liveness *live,
                         struct assay__peak *peak)
{
    *peak = assay__peak_unknown();
    if (live->peak_node >= from->graph->node_count) {
        peak->reason = "the graph has no nodes";
        return 0;
    }
    const struct assay__node *node = &from->graph->nodes[live->peak_node];
    size_t kept = live->peak_tensor_count < ASSAY__PEAK_TENSORS ? live->peak_tensor_count
                                                                : ASSAY__PEAK_TENSORS;
    int code = 0;
    peak->reason = "";
    peak->node = assay__arena_strdup(from->arena, node_name(node));
    peak->op = assay__arena_strdup(from->arena, node->op);
    peak->bytes = live->peak_bytes;
    peak->body_bytes = live->peak_body_bytes;
    peak->alive = (int64_t)live->peak_tensor_count;
    peak->tensors = assay__arena_array(from->arena, kept, sizeof *peak->tensors);
    if (!peak->node || !peak->op || !peak->tensors) return ASSAY_ENOMEM;
    for (size_t i = 0; i < kept && code == 0; i++)
        code = describe_tensor(from, &live->tensors[live->peak_tensors[i]], &peak->tensors[i]);
    peak->count = kept;
    peak->rest_bytes = 0;
    for (size_t i = kept; i < live->peak_tensor_count; i++)
        peak->rest_bytes += live->tensors[live->peak_tensors[i]].bytes;
    return code;
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
        costs->live_reason = isfinite(live.peak_bytes) ? "" : unknown_reason(profile->arena, &live);
        const struct source from = {profile->arena, &model->graph, shapes, order};
        if (describe_peak(&from, &live, &costs->peak)) code = assay__no_memory(error);
    }
    free(order);
    assay__arena_free(arena);
    return code;
}
