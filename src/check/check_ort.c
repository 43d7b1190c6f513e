/* check_ort.c - a device of the engine as a target: ask the engine. The device is looked for (in
 * the default build of the engine, then in the user's others), a session is created on it in a
 * child process, and the engine says which provider got which node. Its answer overrides every
 * rule.
 *
 * A device that is not here cannot be asked: there is no verdict then, only what follows from the
 * model. A device that works but refuses this model is an error. For Core ML the rules of the
 * Neural Engine apply too, as warnings unless it was the only target: Core ML also has the GPU and
 * the CPU. */
#include "check/check.h"

#include "base/no_memory.h"
#include "engine/ort/ort_session.h"
#include "run/arm/launch.h"
#include "run/assignment.h"
#include "profile/facts.h"
#include "run/builds.h"
#include "run/devices.h"
#include "run/child.h"
#include "run/worker/ring.h"

#include <stdio.h>
#include <string.h>

/* The whole of a family, the most special first. */
static const struct {
    const char *name, *devices[3];
} families[] = {{"openvino", {"openvino:npu", "openvino:gpu", "openvino:cpu"}}};

static const struct assay__check_rule refused = {
    "refused",
    "The device does not take the model",
    ASSAY__CHECK_ERROR,
    ASSAY__BASIS_ENGINE,
    ASSAY__PLACE_ON,
    "the engine's own message",
    "Change what the message names, or choose another device.",
    NULL,
    true};

static void custom_domain(struct assay__check *check)
{
    const char *domain = check->node->domain;
    if (!*domain || strncmp(domain, "ai.onnx", 7) == 0 || strncmp(domain, "com.microsoft", 13) == 0)
        return;
    assay__check_add(check, "", "%s.%s is a custom operator", domain, check->node->op);
}

/* What follows from the model, whatever the device. */
static const struct assay__check_rule plain_rules[] = {
    {"shape-conflict", "Shapes contradict each other", ASSAY__CHECK_ERROR, ASSAY__BASIS_GRAPH,
     ASSAY__PLACE_ON, "the model's own shapes", "Repair the model: no target can run it.",
     assay__ane_conflict, true},
    {"custom-operator", "An operator of another domain", ASSAY__CHECK_WARNING, ASSAY__BASIS_GRAPH,
     ASSAY__PLACE_UNKNOWN, "the model's domains",
     "Write it with ONNX operators, or load its library into the engine.", custom_domain, false},
    {"dynamic-input", "An input without a fixed shape", ASSAY__CHECK_NOTE, ASSAY__BASIS_GRAPH,
     ASSAY__PLACE_ON, "the model's inputs",
     "Fix it: providers that compile do so again for every new shape.", assay__ane_dynamic_inputs,
     true},
    {.id = NULL},
};

/* --- looking for the device ------------------------------------------------------------------- */

struct search {
    struct assay__check *check;
    const struct assay__check_options *options;
    const char *engine, *library, *device; /* what was found */
    bool found;
    char reason[512]; /* why the best of those that are not usable is not */
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

/* The device, or those of the family, of one build. */
static int try_build(struct search *search, const char *library, const char *device)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i].name, device) != 0) continue;
        int code = 0;
        for (size_t k = 0; k < 3 && !code && !search->found; k++)
            code = try_device(search, library, families[i].devices[k]);
        return code;
    }
    return try_device(search, library, device);
}

static bool is_name(const struct search *search, const char *device)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (strcmp(families[i].name, device) == 0) return true;
    return strcmp(search->engine, "ort") != 0 || assay__ort_provider(device) != NULL;
}

static int find(struct search *search)
{
    struct assay__arena *arena = search->check->arena;
    const char *target = search->options->target, *library = search->options->library, *device = "";
    struct assay__builds builds = {0};
    int code = assay__build_of_run(arena, search->engine, target, &library, &device, search->error);
    if (code) return code;
    if (!is_name(search, device))
        return assay_error_set(search->error, ASSAY_EINVAL,
                               "target '%.80s': neither ane nor a device", target);
    code = try_build(search, library, device);
    if (code || search->found || library || strcmp(search->engine, "ort") != 0) return code;
    if (assay__builds_read(arena, &builds, NULL)) return 0; /* no list: nowhere else to look */
    for (size_t i = 0; i < builds.count && !code && !search->found; i++)
        code = try_build(search, builds.items[i].library, device);
    return code;
}

/* --- from a profile --------------------------------------------------------------------------- */

/* Who ran which node, from the engine's own profile of one run: for builds that cannot say it
 * before (ONNX Runtime before 1.24). The model is run once, with inputs that the plan makes. */
#define TIMEOUT_S 300.0

static int read_assignment(struct assay__check *check, const struct assay__outcome *outcome,
                           const char *device, struct assay__assignment *answer)
{
    const struct assay__layers *layers = &outcome->layers;
    const char *target = assay__ort_provider(device);
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++)
        count += layers->items[i].from_count ? layers->items[i].from_count : 1;
    answer->nodes = assay__arena_array(check->arena, count + 1, sizeof *answer->nodes);
    answer->target = assay__arena_strdup(check->arena, target ? target : outcome->facts.provider);
    answer->version = assay__arena_strdup(check->arena,
                                          outcome->facts.version ? outcome->facts.version : "");
    if (!answer->nodes || !answer->target || !answer->version) return ASSAY_ENOMEM;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        const char *provider = assay__arena_strdup(check->arena,
                                                   layer->provider ? layer->provider : "");
        for (size_t k = 0; k < layer->from_count || (k == 0 && !layer->from_count); k++) {
            const char *name = layer->from_count ? layer->from[k] : layer->name;
            struct assay__assigned *node = &answer->nodes[answer->count++];
            *node = (struct assay__assigned){
                assay__arena_strdup(check->arena, name ? name : ""),
                assay__arena_strdup(check->arena, layer->op ? layer->op : ""), "", provider, i};
            if (!node->name || !node->op || !provider) return ASSAY_ENOMEM;
        }
    }
    return 0;
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
    struct assay__request request = {
        .job = {.engine = options->engine ? options->engine : "ort",
                .model = model_path,
                .library = library,
                .device = device,
                .optimization = "all",
                .streams = 1,
                .spinning = -1,
                .layers = ASSAY_LAYERS_ENGINE,
                .inputs = check->workload->inputs,
                .input_count = check->workload->input_count},
        .goal = {.iterations = 1,
                 .precision = ASSAY__GOAL_PRECISION,
                 .streams = 1,
                 .capacity = ASSAY__RING_CAPACITY},
        .timeout_s = options->timeout_s > 0 ? options->timeout_s : TIMEOUT_S,
        .interrupt = options->interrupt,
        .launch = 1,
        .launches = 1,
        .trial = 1,
        .worker = worker,
        .arena = check->arena,
    };
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

/* --- asking ----------------------------------------------------------------------------------- */

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
    if (code) assay__check_say(check, &refused, SIZE_MAX, "%s", detail.message);
    return 0;
}

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
        code = keep_reason(check, "ONNX Runtime reads ONNX files, and this is a %s",
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
    for (size_t i = 0; i < check->model->graph.node_count; i++) /* the answer decides alone */
        if (check->places[i] != ASSAY__PLACE_FOLDED) check->places[i] = ASSAY__PLACE_ON;
    return assay__check_ort_place(check, &answer, error);
}
