/* check_ort_profile.c - who ran which node, from the engine's own profile of one run: for builds
 * that cannot say it before (ONNX Runtime before 1.24). The model is run once, with inputs that the
 * plan makes. */
#include "check/check.h"

#include "base/no_memory.h"
#include "run/assignment.h"
#include "run/arm/launch.h"
#include "run/locate.h"
#include "run/worker/ring.h"

#include "engine/ort/ort_session.h"

#include <string.h>

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
