/* rewrite_extract.c - the part of a model between two sets of tensors. From the new outputs
 * backwards every node that is needed is kept, up to the new inputs; with the inferred types and
 * shapes (an unknown shape is left open, an unknown type is an error). Bodies are kept whole: they
 * cannot be cut. */
#include "model/rewrite/rewrite_graph.h"

#include "base/text.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

struct extraction {
    struct assay__model *model;
    struct assay__map *producers;   /* name -> node */
    struct assay__map *from, *seen; /* names */
    struct assay__map *inputs, *constants;
    const char **stack;
    size_t stack_count, stack_capacity;
    bool *keep;
    bool cut; /* the new inputs were given */
    struct assay_error *error;
};

static int reach(void *context, const char *name)
{
    struct extraction *work = context;
    if (assay__map_has(work->seen, name)) return 0;
    if (assay__map_set(work->seen, name, 1)) return ASSAY_ENOMEM;
    if (assay__vec_grow((void **)&work->stack, &work->stack_capacity, work->stack_count + 1,
                        sizeof *work->stack))
        return ASSAY_ENOMEM;
    work->stack[work->stack_count++] = name;
    return 0;
}

static int unknown(struct extraction *work, const char *name, const char *what)
{
    const struct assay__graph *graph = &work->model->graph;
    struct assay__text_nearest nearest = ASSAY__TEXT_NEAREST;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].output_count; k++)
            assay__text_nearest_try(&nearest, name, graph->nodes[i].outputs[k]);
    bool near = assay__text_near(name, nearest.distance);
    return assay_error_set(
        work->error, ASSAY_ENOTFOUND, "no %s tensor is called '%.100s'%s%.100s%s", what, name,
        near ? "; the nearest is '" : "", near ? nearest.word : "", near ? "'" : "");
}

static int open_maps(struct extraction *work)
{
    const struct assay__graph *graph = &work->model->graph;
    work->producers = assay__map_new();
    work->from = assay__map_new();
    work->seen = assay__map_new();
    work->inputs = assay__map_new();
    work->constants = assay__map_new();
    work->keep = calloc(graph->node_count + 1, sizeof *work->keep);
    int code = work->producers && work->from && work->seen && work->inputs && work->constants &&
                       work->keep
                   ? 0
                   : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->node_count && !code; i++)
        for (size_t k = 0; k < graph->nodes[i].output_count && !code; k++)
            code = assay__map_set(work->producers, graph->nodes[i].outputs[k], i);
    for (size_t i = 0; i < graph->input_count && !code; i++)
        code = assay__map_set(work->inputs, graph->inputs[i].name, i);
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(work->constants, graph->initializers[i].name, i);
    for (size_t i = 0; i < graph->sparse_count && graph->sparse_tensors && !code; i++)
        if (graph->sparse_tensors[i].name)
            code = assay__map_set(work->constants, graph->sparse_tensors[i].name, i);
    return code;
}

/* Marks the nodes that are needed. */
static int walk_back(struct extraction *work)
{
    const struct assay__graph *graph = &work->model->graph;
    while (work->stack_count) {
        const char *name = work->stack[--work->stack_count];
        if (assay__map_has(work->from, name)) continue;
        size_t at = assay__map_get(work->producers, name);
        if (at != ASSAY__MAP_NONE) {
            if (work->keep[at]) continue;
            work->keep[at] = true;
            if (assay__rewrite_reads(&graph->nodes[at], reach, work)) return ASSAY_ENOMEM;
            continue;
        }
        bool constant = assay__map_has(work->constants, name);
        bool input = assay__map_has(work->inputs, name);
        if (constant || (input && !work->cut)) continue;
        if (input)
            return assay_error_set(work->error, ASSAY_EINVAL,
                                   "the model's input '%.100s' is also needed: the start tensors "
                                   "do not cut the graph (add it to them)",
                                   name);
        return assay_error_set(work->error, ASSAY_EFORMAT, "nothing produces '%.100s'", name);
    }
    return 0;
}

/* A graph input or output called `name`: from the graph, else inferred. */
static int describe(struct extraction *work, const struct assay__shapes *shapes,
                    const struct assay__value *old, size_t old_count, const char *name,
                    struct assay__value **list, size_t *count)
{
    struct assay__dim dims[64];
    for (size_t i = 0; i < old_count; i++)
        if (strcmp(old[i].name, name) == 0) {
            if (assay__graph_add_value(work->model, list, count, name, ASSAY__UNDEFINED, 0, NULL))
                return ASSAY_ENOMEM;
            (*list)[*count - 1] = old[i];
            return 0;
        }
    const struct assay__shape_entry *entry = shapes ? assay__shapes_get(shapes, name) : NULL;
    if (!entry || !entry->dtype)
        return assay_error_set(work->error, ASSAY_EUNSUPPORTED,
                               "the type of tensor '%.100s' is not known: it cannot become an "
                               "input or output",
                               name);
    for (int i = 0; i < entry->rank && i < 64; i++)
        dims[i] = (struct assay__dim){
            entry->dims[i] >= 0 ? entry->dims[i] : -1,
            entry->dims[i] >= 0 ? "" : assay__shapes_symbol(shapes, entry->dims[i])};
    return assay__graph_add_value(work->model, list, count, name, entry->dtype,
                                  entry->rank > 64 ? -1 : entry->rank, dims);
}

static void keep_needed(struct extraction *work)
{
    struct assay__graph *graph = &work->model->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const char *name = graph->initializers[i].name;
        if (assay__map_has(work->seen, name) && !assay__map_has(work->from, name))
            graph->initializers[kept++] = graph->initializers[i];
    }
    graph->initializer_count = kept;
    kept = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        if (work->keep[i]) graph->nodes[kept++] = graph->nodes[i];
    graph->node_count = kept;
}

static int border(struct extraction *work, const struct assay__shapes *shapes,
                  const char *const *from, size_t from_count, const char *const *to,
                  size_t to_count)
{
    struct assay__graph *graph = &work->model->graph;
    struct assay__value *inputs = NULL, *outputs = NULL;
    size_t input_count = 0, output_count = 0;
    int code = 0;
    for (size_t i = 0; i < from_count && !code; i++)
        code = describe(work, shapes, graph->inputs, graph->input_count, from[i], &inputs,
                        &input_count);
    for (size_t i = 0; i < graph->input_count && !from_count && !code; i++)
        if (assay__map_has(work->seen, graph->inputs[i].name))
            code = describe(work, shapes, graph->inputs, graph->input_count, graph->inputs[i].name,
                            &inputs, &input_count);
    for (size_t i = 0; i < to_count && !code; i++)
        code = describe(work, shapes, graph->outputs, graph->output_count, to[i], &outputs,
                        &output_count);
    if (code) return code;
    graph->inputs = inputs;
    graph->input_count = input_count;
    if (to_count) {
        graph->outputs = outputs;
        graph->output_count = output_count;
    }
    return 0;
}

static int choose(struct extraction *work, const char *const *from, size_t from_count,
                  const char *const *to, size_t to_count)
{
    const struct assay__graph *graph = &work->model->graph;
    int code = open_maps(work);
    for (size_t i = 0; i < from_count && !code; i++) {
        if (!assay__map_has(work->producers, from[i]) && !assay__map_has(work->inputs, from[i]))
            return unknown(work, from[i], "input or inner");
        code = assay__map_set(work->from, from[i], 1);
    }
    for (size_t i = 0; i < to_count && !code; i++) {
        if (!assay__map_has(work->producers, to[i])) return unknown(work, to[i], "calculated");
        if (assay__map_has(work->from, to[i]))
            return assay_error_set(work->error, ASSAY_EINVAL, "'%.100s' is both a start and an end",
                                   to[i]);
        code = reach(work, to[i]);
    }
    for (size_t i = 0; i < graph->output_count && !to_count && !code; i++)
        code = reach(work, graph->outputs[i].name);
    return code ? code : walk_back(work);
}

int assay__rewrite_extract(struct assay__model *model, const char *const *from, size_t from_count,
                           const char *const *to, size_t to_count,
                           struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct extraction work = {.model = model, .cut = from_count > 0, .error = error};
    struct assay__shapes *shapes = NULL;
    struct assay_error ignored = {0};
    int code = assay__rewrite_begin(model, true, notes, error);
    if (code) return code;
    size_t before = model->graph.node_count;
    code = choose(&work, from, from_count, to, to_count);
    if (!code && assay__shapes_infer(model, NULL, 0, &shapes, &ignored)) shapes = NULL;
    if (!code) code = border(&work, shapes, from, from_count, to, to_count);
    for (size_t i = 0; i < from_count && !code; i++)
        if (!assay__map_has(work.seen, from[i]))
            code = assay_error_set(error, ASSAY_EINVAL,
                                   "'%.100s' is not needed by the extracted part", from[i]);
    if (code == ASSAY_ENOMEM) assay__rewrite_no_memory(error);
    if (!code) {
        keep_needed(&work);
        assay__rewrite_drop_values(model);
        assay__rewrite_note(notes, "%zu of %zu operators extracted, %zu inputs, %zu outputs",
                            model->graph.node_count, before, model->graph.input_count,
                            model->graph.output_count);
    }
    assay__shapes_free(shapes);
    assay__map_free(work.producers);
    assay__map_free(work.from);
    assay__map_free(work.seen);
    assay__map_free(work.inputs);
    assay__map_free(work.constants);
    free(work.stack);
    free(work.keep);
    return code;
}

/* --- the rewrite: FROM..TO -------------------------------------------------------------------- */

/* "a,b" cut up in the arena. */
static int cut_names(struct assay__arena *arena, const char *text, size_t length,
                     const char ***names, size_t *count)
{
    size_t most = 1;
    for (size_t i = 0; i < length; i++)
        most += text[i] == ',';
    *count = 0;
    *names = assay__arena_array(arena, most, sizeof **names);
    if (!*names) return ASSAY_ENOMEM;
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && text[end] != ',')
            end++;
        if (end > at) {
            const char *name = assay__arena_strndup(arena, text + at, end - at);
            if (!name) return ASSAY_ENOMEM;
            (*names)[(*count)++] = name;
        }
        at = end + 1;
    }
    return 0;
}

/* "a,b,a": a name that is listed twice, or NULL; and its length. */
static const char *named_twice(const char *text, size_t size, size_t *length)
{
    for (size_t at = 0; at < size; at += *length + 1) {
        for (*length = 0; at + *length < size && text[at + *length] != ',';)
            ++*length;
        for (size_t before = 0, other; *length && before < at; before += other + 1) {
            for (other = 0; text[before + other] != ',';)
                other++;
            if (other == *length && memcmp(text + before, text + at, other) == 0) return text + at;
        }
    }
    return NULL;
}

static int check_extract(const char *const *arguments, size_t count, struct assay_error *error)
{
    const char *text = arguments[0], *dots = strstr(text, ".."), *twice;
    size_t length = 0;
    (void)count;
    if (!dots)
        return assay_error_set(error, ASSAY_EINVAL, "'%.100s' is not of the form FROM..TO", text);
    twice = named_twice(text, (size_t)(dots - text), &length);
    if (!twice) twice = named_twice(dots + 2, strlen(dots + 2), &length);
    return twice ? assay_error_set(error, ASSAY_EINVAL, "'%.*s' is given twice", (int)length, twice)
                 : 0;
}

static int apply_extract(struct assay__model *model, const struct assay__rewrite_request *request,
                         struct assay__rewrite_notes *notes, struct assay_error *error)
{
    const char *text = request->arguments[0], *dots = strstr(text, "..");
    const char **from = NULL, **to = NULL;
    size_t from_count = 0, to_count = 0;
    int code = check_extract(request->arguments, request->argument_count, error);
    if (code) return code;
    if (cut_names(model->arena, text, (size_t)(dots - text), &from, &from_count) ||
        cut_names(model->arena, dots + 2, strlen(dots + 2), &to, &to_count))
        return assay__rewrite_no_memory(error);
    return assay__rewrite_extract(model, from, from_count, to, to_count, notes, error);
}

const struct assay__rewriter assay__rewriter_extract = {
    .step = "extract",
    .no_drift = "a part of a model has different inputs and outputs",
    .check = check_extract,
    .apply = apply_extract,
};
