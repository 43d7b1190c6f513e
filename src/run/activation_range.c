/* activation_range.c - runs a model once and reports the values that exceed a limit. Values inside
 * of bodies (If, Loop, Scan) cannot be made outputs and are not seen. */
#include "run/activation_range.h"

#include "base/file.h"
#include "model/shapes/shapes.h"
#include "run/child.h"
#include "run/single_run.h"

#include <math.h>
#include <stdlib.h>

struct exposing {
    struct assay__model *model;
    struct assay__arena *arena;
    struct assay__shapes *shapes;
    struct assay__map *stated; /* outputs that the graph has already */
    struct assay__value *outputs;
    size_t count;
    double bytes;
    bool bodies;
};

/* Every float32 value that a node computes becomes an output, after the graph's own. */
static int expose(struct exposing *work, const struct assay__workload *workload,
                  struct assay_error *error)
{
    const struct assay__graph *graph = &work->model->graph;
    struct assay__value *inputs = NULL;
    size_t most = graph->output_count;
    int code = assay__workload_values(workload->inputs, workload->input_count, work->arena,
                                      &inputs);
    if (code) return assay_error_set(error, code, "out of memory");
    code = assay__shapes_infer(work->model, inputs, workload->input_count, &work->shapes, error);
    if (code) return code;
    for (size_t n = 0; n < graph->node_count; n++)
        most += graph->nodes[n].output_count;
    work->stated = assay__map_new();
    work->outputs = assay__arena_array(work->arena, most, sizeof *work->outputs);
    code = work->stated && work->outputs ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->output_count && !code; i++) {
        work->outputs[work->count++] = graph->outputs[i];
        code = assay__map_set(work->stated, graph->outputs[i].name, 1);
    }
    for (size_t n = 0; n < graph->node_count && !code; n++) {
        const struct assay__node *node = &graph->nodes[n];
        work->bodies |= assay__node_body(node, 0) != NULL;
        for (size_t k = 0; k < node->output_count && !code; k++) {
            const char *name = node->outputs[k];
            const struct assay__shape_entry *entry = *name ? assay__shapes_get(work->shapes, name)
                                                           : NULL;
            if (!entry || entry->dtype != ASSAY__FLOAT32) continue;
            double bytes = 4;
            for (int d = 0; d < entry->rank; d++)
                bytes *= entry->dims[d] >= 0 ? (double)entry->dims[d] : 1;
            work->bytes += bytes;
            if (assay__map_get(work->stated, name) != ASSAY__MAP_NONE) continue;
            code = assay__map_set(work->stated, name, 1);
            work->outputs[work->count++] = (struct assay__value){
                .name = name, .kind = ASSAY__KIND_TENSOR, .dtype = ASSAY__FLOAT32, .rank = -1};
        }
    }
    return code ? assay_error_set(error, code, "out of memory") : 0;
}

static int check_size(const struct exposing *work, struct assay_error *error)
{
    int64_t elements = 0, bytes = 0;
    if (work->bytes > ASSAY__ACTIVATION_RANGES_ACTIVATIONS)
        return assay_error_set(error, ASSAY_ELIMIT, "its activations take %.2g GB",
                               work->bytes / 1e9);
    if (!assay__model_parameters(work->model, &elements, &bytes) ||
        (double)bytes > ASSAY__ACTIVATION_RANGES_WEIGHTS)
        return assay_error_set(error, ASSAY_ELIMIT, "its weights take more than %.0f GB",
                               ASSAY__ACTIVATION_RANGES_WEIGHTS / 1e9);
    return 0;
}

/* The largest |x| over the finite numbers of each output. */
static int find_ranges(const struct assay__output *outputs, size_t count, double limit,
                       struct assay__activation_ranges *ranges, struct assay_error *error)
{
    int code = 0;
    ranges->values = assay__arena_array(ranges->arena, count, sizeof *ranges->values);
    if (!ranges->values) return assay__no_memory(error);
    for (size_t i = 0; i < count && !code; i++) {
        struct assay__activation_range range = {outputs[i].name, 0};
        double *numbers = NULL;
        int64_t elements = 0;
        if (outputs[i].dtype != ASSAY__FLOAT32 || *outputs[i].reason) continue;
        code = assay__single_run_numbers(&outputs[i], &numbers, &elements, error);
        for (int64_t k = 0; k < elements && !code; k++)
            if (isfinite(numbers[k])) range.largest = fmax(range.largest, fabs(numbers[k]));
        free(numbers);
        ranges->looked_at++;
        ranges->largest = fmax(ranges->largest, range.largest);
        if (range.largest > limit) ranges->values[ranges->count++] = range;
    }
    return code;
}

static int run_exposed(struct assay__single_run *once, const struct exposing *work, double limit,
                       struct assay__activation_ranges *ranges, struct assay_error *error)
{
    char path[PATH_MAX];
    struct assay__output *outputs = NULL;
    size_t count = 0;
    int code = assay__folder_temporary(once->folder, sizeof once->folder, error);
    if (code) return code;
    if (assay__path_join(once->folder, "exposed.onnx", path, sizeof path))
        code = assay_error_set(error, ASSAY_ELIMIT, "the temporary path is too long");
    if (!code) {
        /* Writes the model with those outputs to the private folder, and restores it. */
        struct assay__graph *graph = &work->model->graph;
        struct assay__value *kept = graph->outputs;
        size_t kept_count = graph->output_count;
        graph->outputs = work->outputs;
        graph->output_count = work->count;
        code = assay__model_write_until(work->model, path, once->options->interrupt, error);
        graph->outputs = kept;
        graph->output_count = kept_count;
    }
    if (!code) code = assay__single_run_run(once, path, "exposed", &outputs, &count, error);
    if (!code) code = find_ranges(outputs, count, limit, ranges, error);
    assay__folder_remove(once->folder);
    return code;
}

int assay__activation_ranges(struct assay__model *model, double limit,
                             const struct assay__workload_options *workload,
                             const struct assay__drift_options *options,
                             struct assay__activation_ranges *ranges, struct assay_error *error)
{
    static const struct assay__drift_options defaults;
    struct assay__single_run *once = calloc(1, sizeof *once);
    *ranges = (struct assay__activation_ranges){.arena = assay__arena_new()};
    struct exposing work = {.model = model, .arena = ranges->arena};
    int code = once && ranges->arena ? 0 : assay__no_memory(error);
    if (code) goto out;
    once->arena = ranges->arena;
    once->options = options ? options : &defaults;
    code = assay__worker_locate(once->worker, sizeof once->worker, error);
    if (!code) code = assay__workload_plan(model, workload, &once->workload, error);
    if (!code) code = expose(&work, once->workload, error);
    if (!code) code = check_size(&work, error);
    if (!code) code = run_exposed(once, &work, limit, ranges, error);
    ranges->bodies = work.bodies;
out:
    assay__shapes_free(work.shapes);
    assay__map_free(work.stated);
    if (once) assay__workload_free(once->workload);
    free(once);
    if (code) assay__activation_ranges_free(ranges);
    return code;
}

void assay__activation_ranges_free(struct assay__activation_ranges *ranges)
{
    assay__arena_free(ranges->arena);
    *ranges = (struct assay__activation_ranges){.count = 0};
}
