/* check_ort.c - a device of the engine as a target: the engine is queried. The device is looked up
 * (in the default build of the engine, then in the user's others), a session is created on it in a
 * child process, and the engine reports which provider got which node. This overrides every rule.
 *
 * A device that is not present cannot be queried: there is no verdict then, only what follows from
 * the model. A device that works but rejects this model is an error. For Core ML the rules of the
 * Neural Engine apply too, as warnings unless it was the only target: Core ML also has the GPU and
 * the CPU.
 *
 * The engine's assignment is matched to the nodes of the model by name. The engine assigns after
 * its first simplifications, so some nodes no longer exist: what it fused is named after one of
 * them ("fc1/MatMulAddFusion"), and a node that it does not name at all is counted with the one
 * that feeds it, else with the one that reads it. ONNX Runtime's record is incomplete (seen in
 * 1.27, and in its source up to 1.29): before it changes the layout for a provider that wants
 * channels last (WebGPU, XNNPACK, QNN) it marks the provider's nodes, and marked nodes are not
 * recorded. Nodes of other providers are. So an unnamed node belongs to the target there. Profiles
 * of BERT, GPT-2 and MobileNetV2 on WebGPU confirm it. */
#include "check/check.h"

#include "base/no_memory.h"
#include "base/text.h"
#include "engine/ort/ort_session.h"
#include "run/arm/launch.h"
#include "run/assignment.h"
#include "profile/facts.h"
#include "run/builds.h"
#include "run/devices.h"
#include "run/child.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ASSIGNMENT "the engine's own assignment"

enum { REFUSED, NOTHING, MOSTLY, FALLBACK, FALLBACK_SMALL };

static const struct assay__check_rule rules[] = {
    [REFUSED] = {"refused", "The device rejects the model", ASSAY__CHECK_ERROR, ASSAY__BASIS_ENGINE,
                 ASSAY__PLACE_ON, "the engine's own message",
                 "Change what the message mentions, or choose another device.", NULL, true},
    [NOTHING] = {"nothing-assigned", "Nothing runs on the target", ASSAY__CHECK_ERROR,
                 ASSAY__BASIS_ENGINE, ASSAY__PLACE_ON, ASSIGNMENT,
                 "Choose the device that it falls back to, which avoids the transfers.", NULL,
                 true},
    [MOSTLY] = {"mostly-elsewhere", "Most of the work runs elsewhere", ASSAY__CHECK_ERROR,
                ASSAY__BASIS_ENGINE, ASSAY__PLACE_ON, ASSIGNMENT "; FLOPs from the graph",
                "Change the operators below, or choose another device.", NULL, true},
    [FALLBACK] = {"fallback", "Nodes that run elsewhere", ASSAY__CHECK_WARNING, ASSAY__BASIS_ENGINE,
                  ASSAY__PLACE_OFF, ASSIGNMENT,
                  "Use an operator, type or operator set that the provider has a kernel for.", NULL,
                  false},
    [FALLBACK_SMALL] = {"fallback-small", "Shapes and indices computed elsewhere",
                        ASSAY__CHECK_NOTE, ASSAY__BASIS_ENGINE, ASSAY__PLACE_OFF, ASSIGNMENT,
                        "Nothing to do: engines keep shapes and indices on the CPU on purpose.",
                        NULL, false},
};

static void custom_domain(struct assay__check *check)
{
    const char *domain = check->node->domain;
    if (!*domain || strncmp(domain, "ai.onnx", 7) == 0 || strncmp(domain, "com.microsoft", 13) == 0)
        return;
    assay__check_add(check, "", "%s.%s is a custom operator", domain, check->node->op);
}

/* What follows from the model, whatever the device. */
static const struct assay__check_rule plain_rules[] = {
    {"shape-conflict", "Contradictory shapes", ASSAY__CHECK_ERROR, ASSAY__BASIS_GRAPH,
     ASSAY__PLACE_ON, "the model's own shapes", "Repair the model: no target can run it.",
     assay__ane_conflict, true},
    {"custom-operator", "An operator of another domain", ASSAY__CHECK_WARNING, ASSAY__BASIS_GRAPH,
     ASSAY__PLACE_UNKNOWN, "the model's domains",
     "Express it with ONNX operators, or load its library into the engine.", custom_domain, false},
    {"dynamic-input", "An input without a fixed shape", ASSAY__CHECK_NOTE, ASSAY__BASIS_GRAPH,
     ASSAY__PLACE_ON, "the model's inputs",
     "Give it a fixed shape: providers that compile the graph recompile it for every new shape.",
     assay__ane_dynamic_inputs, true},
    {.id = NULL},
};

#define SMALL_BYTES 1024.0
#define HALF 0.5

/* --- looking for the device ------------------------------------------------------------------- */

struct search {
    struct assay__check *check;
    const struct assay__check_options *options;
    const char *engine, *library, *device; /* what was found */
    bool found;
    char reason[512]; /* why the best of the unusable ones cannot be used */
    bool offered;
    struct assay_error *error;
};

static int on_device(void *context, const struct assay__device *device)
{
    struct search *search = context;
    if (search->found) return 0;
    if (device->available) {
        search->device = assay__arena_strdup(search->check->arena, device->name);
        search->found = search->device != NULL;
        return search->found ? 0 : ASSAY_ENOMEM;
    }
    if (!search->reason[0] || (device->offered && !search->offered)) {
        snprintf(search->reason, sizeof search->reason, "%s", device->reason);
        search->offered = device->offered;
    }
    return 0;
}

static int try_device(struct search *search, const char *library, const char *device)
{
    struct assay_error detail = {0};
    const struct assay__devices_options options = {.engine = search->engine,
                                                   .library = library,
                                                   .only = device,
                                                   .interrupt = search->options->interrupt};
    int code = assay__devices_list(&options, on_device, search, &detail);
    if (search->found) search->library = library;
    if (code == ASSAY_EINTERRUPTED || code == ASSAY_ENOMEM)
        return assay_error_set(search->error, code, "%s", detail.message);
    if (code && !search->reason[0])
        snprintf(search->reason, sizeof search->reason, "%s", detail.message);
    return 0;
}

/* The device of one build; for OpenVINO the most specialised one that is present. */
static int try_build(struct search *search, const char *library, const char *device)
{
    static const char *const family[] = {"openvino:npu", "openvino:gpu", "openvino:cpu"};
    if (strcmp(device, "openvino") != 0) return try_device(search, library, device);
    int code = 0;
    for (size_t k = 0; k < 3 && !code && !search->found; k++)
        code = try_device(search, library, family[k]);
    return code;
}

static int find(struct search *search)
{
    struct assay__arena *arena = search->check->arena;
    const char *target = search->options->target, *library = search->options->library, *device = "";
    struct assay__builds builds = {0};
    int code = assay__build_of_run(arena, search->engine, target, &library, &device, search->error);
    if (code) return code;
    bool ort = strcmp(search->engine, "ort") == 0;
    if (ort && strcmp(device, "openvino") != 0 && !assay__ort_provider(device))
        return assay_error_set(search->error, ASSAY_EINVAL,
                               "target '%.80s': neither ane nor a device", target);
    code = try_build(search, library, device);
    if (code || search->found || library || !ort) return code;
    if (assay__builds_read(arena, &builds, NULL)) return 0; /* no list: nowhere else to look */
    for (size_t i = 0; i < builds.count && !code && !search->found; i++)
        code = try_build(search, builds.items[i].library, device);
    return code;
}

/* --- from a profile --------------------------------------------------------------------------- */

/* Which provider ran which node, from the engine's own profile of one run: for builds that cannot
 * report it beforehand (ONNX Runtime before 1.24). The model is run once, with the planned
 * inputs. */
#define TIMEOUT_S 300.0

/* "" when out of memory, which is recorded in the arena. */
static const char *copy(struct assay__arena *arena, const char *text)
{
    return assay__arena_text(arena, "%s", text ? text : "");
}

static int read_assignment(struct assay__check *check, const struct assay__outcome *outcome,
                           const char *device, struct assay__assignment *answer)
{
    const struct assay__layers *layers = &outcome->layers;
    struct assay__arena *arena = check->arena;
    const char *target = assay__ort_provider(device);
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++)
        count += layers->items[i].from_count ? layers->items[i].from_count : 1;
    answer->nodes = assay__arena_array(arena, count + 1, sizeof *answer->nodes);
    answer->target = copy(arena, target ? target : outcome->facts.provider);
    answer->version = copy(arena, outcome->facts.version);
    for (size_t i = 0; i < layers->count && answer->nodes; i++) {
        const struct assay__layer *layer = &layers->items[i];
        const char *provider = copy(arena, layer->provider);
        for (size_t k = 0; k < layer->from_count || (k == 0 && !layer->from_count); k++)
            answer->nodes[answer->count++] = (struct assay__assigned){
                copy(arena, layer->from_count ? layer->from[k] : layer->name),
                copy(arena, layer->op), "", provider, i};
    }
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}

int assay__check_ort_profile(struct assay__check *check, const struct assay__check_options *options,
                             const char *library, const char *device, const char *model_path,
                             struct assay__assignment *answer, struct assay_error *error)
{
    char worker[4096];
    struct assay__outcome outcome;
    *answer = (struct assay__assignment){.target = "", .version = ""};
    if (!check->planned) return assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", check->unplanned);
    int code = assay__worker_locate(worker, sizeof worker, error);
    if (code) return code;
    struct assay__request request = assay__request_once(check->workload, worker, check->arena);
    request.job.engine = options->engine ? options->engine : "ort";
    request.job.model = model_path;
    request.job.library = library;
    request.job.device = device;
    request.job.layers = ASSAY_LAYERS_ENGINE;
    request.timeout_s = options->timeout_s > 0 ? options->timeout_s : TIMEOUT_S;
    request.interrupt = options->interrupt;
    code = assay__launch_run(&request, &outcome);
    if (code)
        assay_error_set(error, code, "%s", outcome.reason);
    else if (!outcome.has_layers || !outcome.layers.count)
        code = assay_error_set(error, ASSAY_EUNSUPPORTED, "the engine's profile names no nodes");
    else if (read_assignment(check, &outcome, device, answer))
        code = assay__no_memory(error);
    assay__outcome_free(&outcome);
    return code;
}

/* --- queries ---------------------------------------------------------------------------------- */

static int keep_reason(struct assay__check *check, const char *format, const char *what)
{
    check->unasked = assay__arena_printf(check->arena, format, what);
    if (check->unasked) return 0;
    check->unasked = "out of memory";
    return ASSAY_ENOMEM;
}

static int fill_dims(const struct assay__check *check, struct assay__assignment_request *request)
{
    const struct assay__workload *w = check->workload;
    size_t count = check->planned ? w->dim_count : 0;
    const char **names = assay__arena_array(check->arena, count + 1, sizeof *names);
    int64_t *values = assay__arena_array(check->arena, count + 1, sizeof *values);
    if (!names || !values) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        if (!w->dims[i].symbol || !*w->dims[i].symbol || w->dims[i].value < 0) continue;
        names[request->dim_count] = w->dims[i].symbol;
        values[request->dim_count++] = w->dims[i].value;
    }
    request->dim_names = names;
    request->dim_values = values;
    return 0;
}

/* 0 with an answer, or with check->unasked or an item that says why there is none. */
static int ask(struct search *search, const char *model_path, struct assay__assignment *answer,
               bool *answered)
{
    struct assay__check *check = search->check;
    struct assay_error detail = {0};
    struct assay__assignment_request request = {
        .engine = search->engine,
        .library = search->library,
        .device = search->device,
        .model = model_path,
        .optimization = search->options->optimization,
        .timeout_s = search->options->timeout_s,
        .interrupt = search->options->interrupt,
    };
    if (fill_dims(check, &request)) return assay__no_memory(search->error);
    int code = assay__assignment_ask(&request, check->arena, answer, &detail);
    if (code == ASSAY_EUNSUPPORTED) {
        struct assay_error second = {0};
        code = assay__check_ort_profile(check, search->options, search->library, search->device,
                                        model_path, answer, &second);
        if (code && code != ASSAY_EINTERRUPTED && code != ASSAY_ENOMEM)
            return keep_reason(check, "%s", detail.message);
        detail = second;
    }
    if (code == ASSAY_EINTERRUPTED || code == ASSAY_ENOMEM)
        return assay_error_set(search->error, code, "%s", detail.message);
    if (code == ASSAY_ETIMEOUT) return keep_reason(check, "%s", detail.message);
    *answered = code == 0;
    if (code) assay__check_say(check, &rules[REFUSED], SIZE_MAX, "%s", detail.message);
    return 0;
}

/* --- the result for the nodes ----------------------------------------------------------------- */

bool assay__check_name_nodes(struct assay__model *model)
{
    bool named = false;
    for (size_t i = 0; i < model->graph.node_count; i++) {
        struct assay__node *node = &model->graph.nodes[i];
        if ((node->name && *node->name) || !node->output_count) continue;
        node->name = node->outputs[0];
        named = true;
    }
    return named;
}

/* Providers that run their nodes in another layout. */
#define RELAID "WebGpuExecutionProvider XnnpackExecutionProvider QNNExecutionProvider"

struct placing {
    struct assay__check *check;
    const struct assay__assignment *answer;
    struct assay__map *nodes; /* name -> node */
    bool *named;              /* the engine named it, or it was placed with one that was named */
};

/* "fc1/MatMulAddFusion" and "fc1_token_3" belong to fc1. */
static size_t node_named(struct placing *p, const char *name)
{
    size_t node = *name ? assay__map_get(p->nodes, name) : ASSAY__MAP_NONE;
    if (node != ASSAY__MAP_NONE || !*name) return node;
    char *copy = assay__arena_strdup(p->check->arena, name);
    char *token = copy ? strstr(copy, "_token_") : NULL;
    if (token) {
        *token = '\0';
        node = assay__map_get(p->nodes, copy);
    }
    for (char *slash; copy && node == ASSAY__MAP_NONE && (slash = strrchr(copy, '/')) != NULL &&
                      slash != copy;) {
        *slash = '\0';
        node = assay__map_get(p->nodes, copy);
    }
    return node;
}

/* Shapes, indices and flags: engines keep these on the CPU on purpose. A small float in the middle
 * still costs two crossings. */
static bool is_small(const struct assay__check *check, size_t node)
{
    const struct assay__node *at = &check->model->graph.nodes[node];
    for (size_t i = 0; i < at->output_count; i++) {
        const struct assay__shape_entry *out = assay__check_shape(check, at->outputs[i]);
        if (!*at->outputs[i]) continue;
        if (!out ||
            (out->dtype != ASSAY__INT64 && out->dtype != ASSAY__INT32 && out->dtype != ASSAY__BOOL))
            return false;
        if (!(assay__check_bytes(check, at->outputs[i], false) <= SMALL_BYTES)) return false;
    }
    return true;
}

static void place_named(struct placing *p)
{
    struct assay__check *check = p->check;
    for (size_t i = 0; i < p->answer->count; i++) {
        const struct assay__assigned *assigned = &p->answer->nodes[i];
        size_t node = node_named(p, assigned->name);
        if (node == ASSAY__MAP_NONE || p->named[node]) continue;
        p->named[node] = true;
        if (check->places[node] == ASSAY__PLACE_FOLDED) check->places[node] = ASSAY__PLACE_ON;
        check->providers[node] = assay__arena_strdup(check->arena, assigned->provider);
        if (!check->providers[node]) check->failed = true;
        if (strcmp(assigned->provider, p->answer->target) == 0) continue;
        check->indices[node] = is_small(check, node);
        assay__check_say(check, &rules[check->indices[node] ? FALLBACK_SMALL : FALLBACK], node,
                         "runs on %s", assigned->provider);
    }
}

/* A node that the engine does not name goes with the first node that feeds it; then, backwards,
 * with one that reads it. */
static void place_merged(struct placing *p)
{
    struct assay__check *check = p->check;
    const struct assay__graph *graph = &check->model->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t n = check->analysis->order[i];
        if (p->named[n] || check->places[n] == ASSAY__PLACE_FOLDED) continue;
        check->partitions.merged++;
        check->places[n] = ASSAY__PLACE_UNKNOWN;
        for (size_t k = 0; k < graph->nodes[n].input_count; k++) {
            size_t from = assay__check_producer(check, graph->nodes[n].inputs[k]);
            if (from == ASSAY__MAP_NONE || !p->named[from]) continue;
            check->places[n] = check->places[from];
            p->named[n] = true;
            break;
        }
    }
    for (size_t i = graph->node_count; i-- > 0;) {
        size_t n = check->analysis->order[i];
        if (!p->named[n]) continue;
        for (size_t k = 0; k < graph->nodes[n].input_count; k++) {
            size_t from = assay__check_producer(check, graph->nodes[n].inputs[k]);
            if (from == ASSAY__MAP_NONE || p->named[from] ||
                check->places[from] == ASSAY__PLACE_FOLDED)
                continue;
            check->places[from] = check->places[n];
            p->named[from] = true;
        }
    }
}

/* Pieces of a provider that compiles: several nodes in one. */
static size_t count_pieces(const struct assay__assignment *answer, size_t *on)
{
    size_t pieces = 0, last = SIZE_MAX;
    *on = 0;
    for (size_t i = 0; i < answer->count; i++) {
        if (strcmp(answer->nodes[i].provider, answer->target) != 0) continue;
        (*on)++;
        pieces += answer->nodes[i].subgraph != last;
        last = answer->nodes[i].subgraph;
    }
    return pieces < *on ? pieces : 0;
}

int assay__check_ort_place(struct assay__check *check, const struct assay__assignment *answer,
                           struct assay_error *error)
{
    const struct assay__graph *graph = &check->model->graph;
    size_t count = graph->node_count, on = 0;
    struct placing p = {.check = check, .answer = answer, .nodes = assay__map_new()};
    p.named = assay__arena_array(check->arena, count + 1, sizeof *p.named);
    check->providers = assay__arena_array(check->arena, count + 1, sizeof *check->providers);
    check->indices = assay__arena_array(check->arena, count + 1, sizeof *check->indices);
    int code = p.nodes && p.named && check->providers && check->indices ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < count && !code; i++)
        if (graph->nodes[i].name && *graph->nodes[i].name)
            code = assay__map_set(p.nodes, graph->nodes[i].name, i);
    if (code) goto out;
    place_named(&p);
    if (!assay__text_is_one_of(answer->target, RELAID))
        place_merged(&p);
    else
        for (size_t n = 0; n < count;
             n++) /* unnamed nodes belong to the target: they are not recorded */
            check->partitions.inferred += !p.named[n] && check->places[n] == ASSAY__PLACE_ON;
    check->partitions.engine_pieces = count_pieces(answer, &on);
    code = assay__check_partition(check, "engine", false, error);
    if (code) goto out;
    double share = assay__check_share(&check->partitions);
    const char *other = "";
    for (size_t i = 0; i < answer->count && !*other; i++)
        if (strcmp(answer->nodes[i].provider, answer->target) != 0)
            other = answer->nodes[i].provider;
    if (answer->count && !on && !check->partitions.on)
        assay__check_say(check, &rules[NOTHING], SIZE_MAX, "all %zu nodes run on %s", answer->count,
                         other);
    else if (isfinite(share) && share < HALF)
        assay__check_say(check, &rules[MOSTLY], SIZE_MAX, "only %.1f %% of the FLOPs stay on %s",
                         100 * share, answer->target);
out:
    assay__map_free(p.nodes);
    return code == ASSAY_ENOMEM ? assay_error_set(error, code, "out of memory") : code;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What the Neural Engine cannot run, Core ML runs on another processor: a warning. */
static int core_ml_rules(struct assay__check *check, const char *device, struct assay_error *error)
{
    size_t first = check->item_count;
    int code = assay__check_ane(check, NULL, error);
    for (size_t i = first; i < check->item_count; i++)
        if (strcmp(device, "coreml:ane") != 0 && check->items[i].severity == ASSAY__CHECK_ERROR &&
            check->items[i].rule->basis != ASSAY__BASIS_GRAPH)
            check->items[i].severity = ASSAY__CHECK_WARNING;
    return code;
}

int assay__check_ort(struct assay__check *check, const struct assay__check_options *options,
                     const char *model_path, struct assay_error *error)
{
    struct search search = {.check = check,
                            .options = options,
                            .engine = options->engine ? options->engine : "ort",
                            .error = error};
    struct assay__assignment answer = {0};
    bool answered = false;
    const char *device = assay__device_bare(options->target);
    bool core_ml = strncmp(device, "coreml", 6) == 0;
    int code = find(&search);
    if (code) return code;
    if (core_ml)
        code = core_ml_rules(check, device, error);
    else
        assay__check_rules(check, plain_rules);
    if (code) return code;
    if (!*model_path)
        code = keep_reason(check, "ONNX Runtime reads ONNX files, but this is a %s",
                           check->model->format ? check->model->format : "model of another kind");
    else if (!search.found)
        code = keep_reason(check, "%s",
                           search.reason[0] ? search.reason : "no such device was found here");
    else
        code = ask(&search, model_path, &answer, &answered);
    if (code || !answered) return code;
    const char *provider = strcmp(search.engine, "ort") == 0 ? assay__ort_provider(search.device)
                                                             : NULL;
    if (!*answer.target && provider) answer.target = provider; /* it named no node at all */
    check->asked = assay__arena_printf(
        check->arena, "%s%s%s, %s on %s",
        strcmp(search.engine, "ort") == 0 ? "ONNX Runtime" : search.engine,
        *answer.version ? " " : "", answer.version, answer.target, search.device);
    if (!check->asked) return assay__no_memory(error);
    for (size_t i = 0; i < check->model->graph.node_count; i++) /* the answer alone decides */
        if (check->places[i] != ASSAY__PLACE_FOLDED) check->places[i] = ASSAY__PLACE_ON;
    return assay__check_ort_place(check, &answer, error);
}
