/* describe_memory.c - what the graph says of memory: how much is alive while each node runs, and at most (cost/liveness.h). */
#include "run/describe.h"

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

int assay__describe_liveness(struct assay_profile *profile, const struct assay__model *model,
                             const struct assay__shapes *shapes, struct assay__model_costs *costs,
                             struct assay_error *error)
{
    const size_t count = model->graph.node_count;
    struct assay__arena *arena = assay__arena_new();
    size_t *order = calloc(count + 1, sizeof *order);
    struct assay__liveness live = {0};
    costs->live_bytes = calloc(count + 1, sizeof *costs->live_bytes);
    int code = arena && order && costs->live_bytes
                   ? 0
                   : assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (code == 0) code = assay__graph_order(&model->graph, order, error);
    if (code == 0) code = assay__liveness(model, shapes, order, arena, &live, error);
    for (size_t i = 0; i < count && code == 0; i++)
        costs->live_bytes[order[i]] = live.live_bytes[i];
    if (code == 0) {
        costs->live_peak_bytes = live.peak_bytes;
        costs->live_reason = isfinite(live.peak_bytes) ? "" : unknown_reason(profile->arena, &live);
    }
    free(order);
    assay__arena_free(arena);
    return code;
}
