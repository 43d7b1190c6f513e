/* advise_model.c - the model behind a profile, for the rules that look at its graph: opened by the
 * path or zoo name in the profile, and used only if it is the same graph (fingerprint). Its inputs
 * get the shapes of the trial. No weights are read.
 *
 * A reader is a node of the main graph, or a node with bodies whose body reads the value; outputs
 * of the model count as readers too. */
#include "advise/rule.h"

#include "base/file.h"
#include "zoo/model_open.h"
#include "zoo/zoo.h"

#include <stdio.h>
#include <string.h>

static int open_file(struct assay__advice *advice, const char *given)
{
    const struct assay__model_info *info = advice->trial->model;
    struct assay__arena *arena = advice->profile->arena;
    const char *path = given ? given : info->path && *info->path ? info->path : info->name;
    struct assay_error error = {0};
    char fingerprint[17] = "";
    bool zoo = !given && !(info->path && *info->path);
    if (!path || !*path || (zoo && !assay__zoo_knows(path))) {
        advice->model_reason = "the profile names no model file: give one";
        return 0;
    }
    if (!zoo && !assay__file_exists(path)) {
        advice->model_reason = assay__arena_text(
            arena, "the model file does not exist: %s (give another path)", path);
        return 0;
    }
    int code = assay__model_open(path, &advice->model, NULL, &error);
    if (code) {
        advice->model_reason = assay__arena_text(arena, "the model cannot be read: %s",
                                                 error.message);
        return code == ASSAY_ENOMEM ? code : 0;
    }
    code = assay__model_fingerprint(advice->model, fingerprint);
    if (code == 0 && info->fingerprint && *info->fingerprint &&
        strcmp(info->fingerprint, fingerprint) != 0) {
        advice->model_reason = assay__arena_text(
            arena, "the model has changed since it was profiled (fingerprint now %s)", fingerprint);
        assay__model_free(advice->model);
        advice->model = NULL;
    }
    return code;
}

const char **assay__advice_shapes(const struct assay__trial *trial, struct assay__arena *arena,
                                  size_t *count)
{
    const char **shapes = assay__arena_array(arena, trial->input_count + 1, sizeof *shapes);
    *count = 0;
    for (size_t i = 0; shapes && i < trial->input_count; i++) {
        const struct assay__tensor_info *input = &trial->inputs[i];
        struct assay__buf text = {0};
        if (input->rank < 1) continue;
        assay__buf_printf(&text, "%s=", input->name);
        for (int k = 0; k < input->rank; k++)
            assay__buf_printf(&text, "%s%lld", k ? "x" : "", (long long)input->dims[k]);
        shapes[*count] = assay__buf_keep(&text, arena);
        if (!shapes[(*count)++]) return NULL;
    }
    return shapes;
}

/* Layers refer to the nodes they came from by name, or by the value they produce. */
static int index_layers(struct assay__advice *advice)
{
    const struct assay__graph *graph = &advice->model->graph;
    const struct assay__layers *layers = &advice->trial->layers;
    struct assay__map *names = assay__map_new();
    advice->layer_of = assay__arena_array(advice->arena, graph->node_count + 1, sizeof(size_t));
    int code = names && advice->layer_of ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < layers->count && code == 0; i++) {
        const struct assay__layer *layer = &layers->items[i];
        for (size_t k = 0; k < layer->from_count && code == 0; k++)
            code = assay__map_set(names, layer->from[k], i);
        if (!layer->from_count && layer->name && *layer->name && code == 0)
            code = assay__map_set(names, layer->name, i);
    }
    for (size_t i = 0; i < graph->node_count && code == 0; i++)
        advice->layer_of[i] = assay__map_get(names, assay__advice_node_name(&graph->nodes[i]));
    assay__map_free(names);
    return code;
}

int assay__advice_open_model(struct assay__advice *advice, const char *path)
{
    advice->model_reason = advice->shapes_reason = "";
    int code = open_file(advice, path);
    if (code || !advice->model) return code;
    struct assay_error error = {0};
    size_t count = 0;
    const char **shapes = assay__advice_shapes(advice->trial, advice->arena, &count);
    if (!shapes) return ASSAY_ENOMEM;
    struct assay__workload_options options = {
        .shapes = shapes, .shape_count = count, .shapes_only = true};
    code = assay__workload_plan(advice->model, &options, &advice->workload, &error);
    if (code == 0) /* inlines functions: before anything points into the graph */
        code = assay__analyse(advice->model, advice->workload, &advice->analysis, &error);
    if (code == ASSAY_ENOMEM) return code;
    if (code)
        advice->shapes_reason = assay__arena_text(
            advice->profile->arena, "the graph's shapes are unknown: %s", error.message);
    code = assay__fold_open(&advice->fold, &advice->model->graph);
    if (code == 0) code = index_layers(advice);
    return code;
}

void assay__advice_close_model(struct assay__advice *advice)
{
    assay__fold_close(&advice->fold);
    assay__analysis_free(advice->analysis);
    assay__workload_free(advice->workload);
    assay__model_free(advice->model);
}
