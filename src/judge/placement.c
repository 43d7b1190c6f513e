/* placement.c - asks the engine which provider runs each node and stores that with the trial. In
 * the summary, nodes that compute something come first, then those that only compute shapes and
 * indices ("name (Op, indices)"), which engines keep on the CPU on purpose. */
#include "judge/placement.h"

#include "check/check.h"
#include "base/buf.h"
#include "base/metric_value.h"
#include "zoo/model_open.h"

#include <math.h>
#include <string.h>

static const char *const counts[] = {"placement.nodes",          "placement.elsewhere",
                                     "placement.partitions",     "placement.crossings",
                                     "placement.crossing_bytes", "placement.flops_share",
                                     "placement.crossing_time",  "placement.inferred"};
#define COUNTS (sizeof counts / sizeof counts[0])
#define SOURCE "engine"

static void put_time(struct assay__trial *trial, double crossings)
{
    static const char name[] = "placement.crossing_time";
    const struct assay__layers *layers = &trial->layers;
    double time_ns = 0;
    size_t copies = 0;
    for (size_t i = 0; i < layers->count; i++) {
        if (strncmp(layers->items[i].op ? layers->items[i].op : "", "Memcpy", 6) != 0) continue;
        copies++;
        time_ns += layers->items[i].time_ns; /* NaN stays */
    }
    if (copies)
        assay__metrics_put_known(trial->metrics, name, ASSAY_DERIVED, time_ns / 1e9, "layers",
                                 "sum over the engine's copy nodes",
                                 "the engine's copy nodes were not timed");
    else if (crossings == 0)
        assay_metrics_derived(trial->metrics, name, 0, "graph", "nothing crosses");
    else
        assay_metrics_unavailable(
            trial->metrics, name,
            layers->count
                ? "the engine's record has no copy nodes: this provider copies inside other nodes"
                : "layers were not timed by the engine");
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* A row for every node whose place is known, in execution order. */
static int put_nodes(struct assay_profile *profile, struct assay__trial *trial,
                     const struct assay__check *check)
{
    const struct assay__graph *graph = &check->model->graph;
    struct assay__placement *out = &trial->placement;
    struct assay__arena *arena = profile->arena;
    *out = (struct assay__placement){
        .record = assay__arena_text(arena, "%s", check->asked),
        .nodes = assay__arena_array(arena, graph->node_count, sizeof *out->nodes)};
    for (size_t i = 0; out->nodes && i < graph->node_count; i++) {
        size_t n = check->analysis->order[i];
        if (check->places[n] != ASSAY__PLACE_ON && check->places[n] != ASSAY__PLACE_OFF) continue;
        const char *provider = check->providers[n] ? check->providers[n] : "";
        out->nodes[out->node_count++] = (struct assay__placed_node){
            .node = assay__arena_text(arena, "%s", assay__check_node_name(&graph->nodes[n])),
            .op = assay__arena_text(arena, "%s", graph->nodes[n].op),
            .provider = assay__arena_text(arena, "%s", provider),
            .elsewhere = check->places[n] == ASSAY__PLACE_OFF,
            .indices = check->indices[n]};
    }
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}

/* The first provider that runs a node elsewhere; "" none is named. */
static const char *other_provider(const struct assay__placement *placement)
{
    for (size_t i = 0; i < placement->node_count; i++)
        if (placement->nodes[i].elsewhere && *placement->nodes[i].provider)
            return placement->nodes[i].provider;
    return "";
}

static const char **list_elsewhere(const struct assay__placement *placement,
                                   struct assay__arena *arena, size_t *count)
{
    const char **names = assay__arena_array(arena, placement->node_count + 1, sizeof *names);
    *count = 0;
    for (int indices = 0; names && indices < 2; indices++)
        for (size_t i = 0; i < placement->node_count; i++) {
            const struct assay__placed_node *node = &placement->nodes[i];
            if (!node->elsewhere || node->indices != (indices == 1)) continue;
            names[(*count)++] = *node->op ? assay__arena_text(arena, "%s (%s%s)", node->node,
                                                              node->op, indices ? ", indices" : "")
                                          : node->node;
        }
    return names;
}

static int put_placement(struct assay_profile *profile, struct assay__trial *trial,
                         struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    struct assay_metrics *to = trial->metrics;
    size_t count = 0;
    int code = put_nodes(profile, trial, check);
    struct assay__buf list = {0};
    const char *provider = other_provider(&trial->placement);
    const char **names = list_elsewhere(&trial->placement, check->arena, &count);
    if (count) assay__buf_printf(&list, "on %s: ", *provider ? provider : "another provider");
    for (size_t i = 0; i < count; i++)
        assay__buf_printf(&list, "%s%s", i ? "; " : "", names[i]);
    const char *note = assay__arena_text(
        check->arena, "%s%s", check->asked,
        p->inferred ? "; its record leaves out nodes that it runs in another layout: nodes without "
                      "a provider are counted as the device's"
        : p->merged ? "; merged nodes are counted with their neighbours"
                    : "");
    if (list.failed || assay__arena_failed(check->arena)) code = ASSAY_ENOMEM;
    /* inferred nodes are only known by exclusion: the engine did not name them */
    struct assay_metric nodes = {"placement.nodes",
                                 (double)p->on,
                                 NULL,
                                 p->inferred ? ASSAY_DERIVED : ASSAY_MEASURED,
                                 SOURCE,
                                 note};
    assay_metrics_put(to, &nodes);
    assay_metrics_derived(to, "placement.inferred", (double)p->inferred, SOURCE, "");
    assay_metrics_measured(to, "placement.elsewhere", (double)p->off, SOURCE,
                           assay__buf_text(&list));
    assay__buf_free(&list);
    assay_metrics_derived(
        to, "placement.partitions",
        p->engine_pieces ? (double)p->engine_pieces : (double)p->on_segments, SOURCE,
        p->engine_pieces ? "as the engine splits the graph" : "the fewest that the graph allows");
    assay_metrics_derived(to, "placement.crossings", (double)p->crossings, SOURCE,
                          "tensors between nodes; model inputs and outputs do not count");
    assay_metrics_derived(to, "placement.crossing_bytes", p->crossing_bytes, "graph",
                          p->crossing_unsized ? "excluding those of unknown size" : "");
    assay__metrics_put_known(to, "placement.flops_share", ASSAY_DERIVED, assay__check_share(p),
                             "graph", "FLOPs of its nodes / of all",
                             "the FLOPs of some nodes are unknown");
    put_time(trial, (double)p->crossings);
    return code ? code : assay_metrics_failed(to);
}

/* --- queries ---------------------------------------------------------------------------------- */

static int ask(const struct assay__run_options *o, const char *model_path,
               struct assay__check **check, struct assay_error *error)
{
    const struct assay__workload_options workload = {.batch = o->workload.batch,
                                                     .sequence = o->workload.sequence,
                                                     .dims = o->workload.dims,
                                                     .dim_count = o->workload.dim_count,
                                                     .shapes = o->workload.shapes,
                                                     .shape_count = o->workload.shape_count,
                                                     .files = o->workload.inputs,
                                                     .file_count = o->workload.input_count,
                                                     .seed = o->workload.seed};
    struct assay__model *model = NULL;
    int code = assay__model_open(model_path, &model, NULL, error);
    if (code) return code;
    const struct assay__check_options wanted = {
        .target = o->target.device,
        .engine = o->target.engine,
        .library = strchr(o->target.device, '/') ? NULL
                                                 : o->target.library, /* the prefix names it */
        .optimization = o->target.optimization,
        .name = model_path,
        .workload = &workload,
        .timeout_s = o->measuring.launch_limit_s > 0 ? o->measuring.launch_limit_s
                                                     : o->measuring.timeout_s,
        .interrupt = o->callbacks.interrupt};
    return assay__check_new(model, &wanted, check, error);
}

int assay__placement_put(const struct assay__run_options *options, const char *model_path,
                         struct assay_profile *profile, struct assay__trial *trial,
                         struct assay_error *error)
{
    struct assay__check *check = NULL;
    struct assay_error detail = {0};
    const char *reason = NULL;
    int code = 0;
    if (!*model_path || assay__target_is_fallback(&trial->target)) return 0;
    if (!assay__trial_good_launches(trial)) {
        reason = "no launch succeeded";
    } else {
        code = ask(options, model_path, &check, &detail);
        if (code == ASSAY_EINTERRUPTED || code == ASSAY_ENOMEM)
            return assay_error_set(error, code, "%s", detail.message);
        if (code)
            reason = detail.message;
        else if (*check->unasked)
            reason = check->unasked;
        for (size_t i = 0; !reason && i < check->item_count; i++)
            if (strcmp(check->items[i].rule->id, "refused") == 0) reason = check->items[i].reason;
        if (!reason && (!check->has_partitions || !(check->partitions.on + check->partitions.off)))
            reason = "the engine's record names no node";
    }
    for (size_t i = 0; i < COUNTS && reason; i++)
        assay_metrics_unavailable(trial->metrics, counts[i],
                                  *reason ? reason : "the engine could not be queried");
    code = reason ? assay_metrics_failed(trial->metrics) : put_placement(profile, trial, check);
    assay__check_free(check);
    return code ? assay_error_set(error, code, "out of memory for the placement") : 0;
}

/* --- the summary ------------------------------------------------------------------------------ */

struct assay__placement_summary assay__placement_summarise(const struct assay__trial *trial,
                                                           struct assay__arena *arena)
{
    struct assay__placement_summary out = {
        .reason = "", .time_reason = "", .record = "", .provider = ""};
    const struct assay_metric *nodes = assay_metrics_get(trial->metrics, "placement.nodes"),
                              *time = assay_metrics_get(trial->metrics, "placement.crossing_time");
    double *values[] = {&out.nodes,          &out.elsewhere,   &out.partitions,      &out.crossings,
                        &out.crossing_bytes, &out.flops_share, &out.crossing_time_s, &out.inferred};
    for (size_t i = 0; i < COUNTS; i++)
        *values[i] = nodes ? assay__trial_value(trial, counts[i]) : (double)NAN;
    if (!nodes) return out;
    out.asked = true;
    if (nodes->state == ASSAY_UNAVAILABLE) out.reason = nodes->note;
    if (time && time->state == ASSAY_UNAVAILABLE) out.time_reason = time->note;
    out.record = trial->placement.record;
    out.provider = other_provider(&trial->placement);
    out.names = list_elsewhere(&trial->placement, arena, &out.name_count);
    return out;
}

bool assay__placement_is_elsewhere(const struct assay__placement_summary *placement)
{
    return placement->nodes == 0 && placement->elsewhere > 0;
}
