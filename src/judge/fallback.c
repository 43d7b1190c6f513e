/* fallback.c - see fallback.h. The note of placement.elsewhere is the list itself: "on PROVIDER:
 * name (Op); name (Op)", nodes that compute something first, then those that only make shapes and
 * indices ("name (Op, indices)"), which engines keep on the CPU on purpose. */
#include "judge/fallback.h"

#include "check/check.h"
#include "base/buf.h"
#include "run/builds.h"
#include "zoo/model_open.h"

#include <math.h>
#include <string.h>

static const char *const counts[] = {"placement.nodes",          "placement.elsewhere",
                                     "placement.partitions",     "placement.crossings",
                                     "placement.crossing_bytes", "placement.flops_share",
                                     "placement.crossing_time",  "placement.inferred"};
#define COUNTS (sizeof counts / sizeof counts[0])
#define SOURCE "engine"
#define BEFORE "on "
#define AFTER "; " /* who was asked; what must be said of it */
#define RUNS_ON "runs on "

static int put_none(struct assay__trial *trial, const char *reason)
{
    int code = 0;
    for (size_t i = 0; i < COUNTS && code == 0; i++)
        code = assay_metrics_unavailable(trial->metrics, counts[i], reason);
    return code;
}

/* --- what crossing took ----------------------------------------------------------------------- */

static int put_time(struct assay__trial *trial, double crossings)
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
    if (copies && isfinite(time_ns))
        return assay_metrics_derived(trial->metrics, name, time_ns / 1e9, "layers",
                                     "sum over the engine's copy nodes");
    if (copies)
        return assay_metrics_unavailable(trial->metrics, name,
                                         "the engine's copy nodes have no time of their own");
    if (crossings == 0)
        return assay_metrics_derived(trial->metrics, name, 0, "graph", "nothing crosses");
    return assay_metrics_unavailable(
        trial->metrics, name,
        layers->count ? "the engine's record has no copy nodes: this provider copies inside others"
                      : "layers were not timed (--layers=engine)");
}

/* --- who is elsewhere ------------------------------------------------------------------------- */

struct elsewhere {
    const struct assay__check *check;
    const char **provider; /* per node; NULL: the engine did not name it */
    bool *small;
    const char *first; /* provider that is named first */
};

static int gather(struct elsewhere *e, struct assay__arena *arena)
{
    size_t count = e->check->model->graph.node_count;
    e->provider = assay__arena_array(arena, count + 1, sizeof *e->provider);
    e->small = assay__arena_array(arena, count + 1, sizeof *e->small);
    if (!e->provider || !e->small) return ASSAY_ENOMEM;
    for (size_t i = 0; i < e->check->item_count; i++) {
        const struct assay__check_item *item = &e->check->items[i];
        if (strncmp(item->rule->id, "fallback", 8) != 0 || item->node == SIZE_MAX) continue;
        if (strncmp(item->reason, RUNS_ON, strlen(RUNS_ON)) == 0)
            e->provider[item->node] = item->reason + strlen(RUNS_ON);
        e->small[item->node] = strcmp(item->rule->id, "fallback-small") == 0;
        if (!e->first) e->first = e->provider[item->node];
    }
    return 0;
}

static void list(const struct elsewhere *e, struct assay__buf *out)
{
    const struct assay__graph *graph = &e->check->model->graph;
    bool any = false;
    assay__buf_printf(out, BEFORE "%s: ", e->first ? e->first : "another provider");
    for (int small = 0; small < 2; small++)
        for (size_t i = 0; i < graph->node_count; i++) {
            size_t n = e->check->analysis->order[i];
            const struct assay__node *node = &graph->nodes[n];
            if (e->check->places[n] != ASSAY__PLACE_OFF || e->small[n] != (small == 1)) continue;
            assay__buf_printf(out, "%s%s (%s%s)", any ? "; " : "", assay__check_node_name(node),
                              node->op, small ? ", indices" : "");
            any = true;
        }
}

static int put_elsewhere(struct assay__trial *trial, const struct assay__check *check)
{
    struct assay__arena *arena = assay__arena_new();
    struct elsewhere e = {.check = check};
    struct assay__buf text = {0};
    int code = arena ? gather(&e, arena) : ASSAY_ENOMEM;
    if (!code && check->partitions.off) list(&e, &text);
    if (text.failed) code = ASSAY_ENOMEM;
    if (!code)
        code = assay_metrics_measured(trial->metrics, "placement.elsewhere",
                                      (double)check->partitions.off, SOURCE,
                                      text.data ? text.data : "");
    assay__buf_free(&text);
    assay__arena_free(arena);
    return code;
}

static int put_placement(struct assay__trial *trial, struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    struct assay_metrics *to = trial->metrics;
    double share = assay__check_share(p);
    const char *note = assay__arena_printf(
        check->arena, "%s%s", check->asked,
        p->inferred ? AFTER "its record leaves out what it runs in another layout, and what it "
                            "names for nobody is counted as the device's"
        : p->merged ? AFTER "nodes that it merged count with their neighbours"
                    : "");
    const char *sized = p->crossing_unsized ? "the size of some is not known and not in it" : "";
    if (!note) return ASSAY_ENOMEM;
    int code = p->inferred /* by exclusion: the engine has not named them */
                   ? assay_metrics_derived(to, "placement.nodes", (double)p->on, SOURCE, note)
                   : assay_metrics_measured(to, "placement.nodes", (double)p->on, SOURCE, note);
    if (!code)
        code = assay_metrics_derived(to, "placement.inferred", (double)p->inferred, SOURCE, "");
    if (!code) code = put_elsewhere(trial, check);
    if (!code)
        code = assay_metrics_derived(
            to, "placement.partitions",
            p->engine_pieces ? (double)p->engine_pieces : (double)p->on_segments, SOURCE,
            p->engine_pieces ? "as the engine cuts it" : "the least that the graph allows");
    if (!code)
        code = assay_metrics_derived(to, "placement.crossings", (double)p->crossings, SOURCE,
                                     "tensors between nodes; inputs and outputs do not count");
    if (!code)
        code = assay_metrics_derived(to, "placement.crossing_bytes", p->crossing_bytes, "graph",
                                     sized);
    if (!code)
        code = isfinite(share) ? assay_metrics_derived(to, "placement.flops_share", share, "graph",
                                                       "FLOPs of its nodes / of all")
                               : assay_metrics_unavailable(to, "placement.flops_share",
                                                           "the FLOPs of some nodes are not known");
    return code ? code : put_time(trial, (double)p->crossings);
}

/* --- asking ----------------------------------------------------------------------------------- */

static const char *refusal(const struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    if (*check->unasked) return check->unasked;
    for (size_t i = 0; i < check->item_count; i++)
        if (strcmp(check->items[i].rule->id, "refused") == 0) return check->items[i].reason;
    if (!check->has_partitions || !(p->on + p->off)) return "the engine's record names no node";
    return NULL;
}

static int ask(const struct assay_run_options *o, const char *model_path,
               struct assay__check **check, struct assay_error *error)
{
    const struct assay__workload_options workload = {.batch = o->batch,
                                                     .sequence = o->sequence,
                                                     .dims = o->dims,
                                                     .dim_count = o->dim_count,
                                                     .shapes = o->shapes,
                                                     .shape_count = o->shape_count,
                                                     .files = o->inputs,
                                                     .file_count = o->input_count,
                                                     .seed = o->seed};
    struct assay__model *model = NULL;
    int code = assay__model_open(model_path, &model, NULL, error);
    if (code) return code;
    const struct assay__check_options wanted = {
        .target = o->device,
        .engine = o->engine,
        .library = strchr(o->device, '/') ? NULL : o->library, /* the prefix names it */
        .optimization = o->optimization,
        .name = model_path,
        .workload = &workload,
        .timeout_s = o->launch_limit_s > 0 ? o->launch_limit_s : o->timeout_s,
        .interrupt = o->interrupt};
    return assay__check_new(model, &wanted, check, error);
}

static bool has_run(const struct assay__trial *trial)
{
    for (size_t i = 0; i < trial->launch_count; i++)
        if (trial->launches[i].state == ASSAY__TRIAL_OK) return true;
    return false;
}

int assay__fallback_put(const struct assay_run_options *options, const char *model_path,
                        struct assay__trial *trial, struct assay_error *error)
{
    struct assay__check *check = NULL;
    struct assay_error detail = {0};
    if (!*model_path || !options->device ||
        strcmp(assay__build_device(options->device), "cpu") == 0)
        return 0;
    if (!has_run(trial)) {
        int code = put_none(trial, "no launch ended well");
        return code ? assay_error_set(error, code, "out of memory") : 0;
    }
    int code = ask(options, model_path, &check, &detail);
    if (code == ASSAY_EINTERRUPTED || code == ASSAY_ENOMEM)
        return assay_error_set(error, code, "%s", detail.message);
    const char *reason = code ? detail.message : refusal(check);
    code = reason ? put_none(trial, *reason ? reason : "the engine could not be asked")
                  : put_placement(trial, check);
    assay__check_free(check);
    return code ? assay_error_set(error, code, "out of memory for the placement") : 0;
}

/* --- and back --------------------------------------------------------------------------------- */

/* "on CPUExecutionProvider: a (Softmax); b (Gather)" */
static int split(const char *note, struct assay__arena *arena, struct assay__fallback *out)
{
    const char *colon = strstr(note, ": ");
    size_t count = 1;
    if (strncmp(note, BEFORE, strlen(BEFORE)) != 0 || !colon) return 0;
    out->provider = assay__arena_strndup(arena, note + strlen(BEFORE),
                                         (size_t)(colon - note) - strlen(BEFORE));
    for (const char *at = colon; (at = strstr(at, "; ")) != NULL; at += 2)
        count++;
    out->names = assay__arena_array(arena, count, sizeof *out->names);
    if (!out->names || !out->provider) return ASSAY_ENOMEM;
    for (const char *at = colon + 2; *at;) {
        const char *end = strstr(at, "; ");
        size_t length = end ? (size_t)(end - at) : strlen(at);
        const char *name = assay__arena_strndup(arena, at, length);
        if (!name) return ASSAY_ENOMEM;
        out->names[out->name_count++] = name;
        at += length + (end ? 2 : 0);
    }
    return 0;
}

int assay__fallback_read(const struct assay__trial *trial, struct assay__arena *arena,
                         struct assay__fallback *out)
{
    *out = (struct assay__fallback){.reason = "", .time_reason = "", .record = "", .provider = ""};
    const struct assay_metric *nodes = trial->metrics
                                           ? assay_metrics_get(trial->metrics, "placement.nodes")
                                           : NULL;
    double *values[] = {&out->nodes,           &out->elsewhere,      &out->partitions,
                        &out->crossings,       &out->crossing_bytes, &out->flops_share,
                        &out->crossing_time_s, &out->inferred};
    for (size_t i = 0; i < COUNTS; i++)
        *values[i] = nodes ? assay__trial_value(trial, counts[i]) : (double)NAN;
    if (!nodes) return 0;
    out->asked = true;
    if (nodes->state == ASSAY_UNAVAILABLE) {
        out->reason = nodes->note;
    } else {
        const char *end = strstr(nodes->note, AFTER);
        out->record = assay__arena_strndup(arena, nodes->note,
                                           end ? (size_t)(end - nodes->note) : strlen(nodes->note));
        if (!out->record) return ASSAY_ENOMEM;
    }
    const struct assay_metric *time = assay_metrics_get(trial->metrics, "placement.crossing_time"),
                              *off = assay_metrics_get(trial->metrics, "placement.elsewhere");
    if (time && time->state == ASSAY_UNAVAILABLE) out->time_reason = time->note;
    return off && out->elsewhere > 0 ? split(off->note, arena, out) : 0;
}

bool assay__fallback_is_total(const struct assay__fallback *fallback)
{
    return fallback->nodes == 0 && fallback->elsewhere > 0;
}
