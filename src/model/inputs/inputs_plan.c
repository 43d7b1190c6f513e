/* inputs_plan.c - the plan of a workload: shapes (inputs.c), then values (inputs_values.c). Guesses
 * that lead to contradicting shapes are not used as long as there are others. After the usual
 * sizes, all others are tried, for about a second at most. */
#include "model/inputs/inputs_plan.h"

#include "base/buf.h"
#include "base/no_memory.h"
#include "model/shapes/shapes.h"

/* How many contradictions follow from the shapes of the inputs, including windows that do not
 * fit. */
static int count_conflicts(const struct assay__model *model, struct assay__workload *workload,
                           size_t *count, struct assay_error *error)
{
    const struct assay__shape_conflict *conflicts = NULL;
    struct assay__value *values = NULL;
    struct assay__shapes *shapes = NULL;
    int code = assay__workload_values(workload->inputs, workload->input_count, workload->arena,
                                      &values);
    if (code) return assay__no_memory(error);
    code = assay__shapes_infer(model, values, workload->input_count, &shapes, error);
    *count = code ? 0 : assay__shapes_conflicts(shapes, &conflicts) + assay__shapes_misfits(shapes);
    assay__shapes_free(shapes);
    if (code || !*count) return code;
    /* no size avoids contradictions that are already in the file */
    code = assay__shapes_infer(model, NULL, 0, &shapes, error);
    size_t own = code ? 0 : assay__shapes_conflicts(shapes, &conflicts);
    *count = *count > own ? *count - own : 0;
    assay__shapes_free(shapes);
    return code;
}

/* Whether this size is not one of the usual ones. */
static bool is_searched(const struct assay__workload *workload)
{
    return workload->tries > ASSAY__GUESS_SEARCHED &&
           workload->attempt >= workload->tries - ASSAY__GUESS_SEARCHED;
}

int assay__workload_plan(const struct assay__model *model,
                         const struct assay__workload_options *options,
                         struct assay__workload **out, struct assay_error *error)
{
    struct assay__workload *best = NULL;
    enum { SEARCHED_NODES = 400000 }; /* whose shapes are inferred */
    size_t least = SIZE_MAX, attempt = options->attempt, nodes = 0;
    int code = 0;
    *out = NULL;
    for (bool more = true; more && !code; attempt++) {
        struct assay__workload *tried = NULL;
        size_t conflicts = 0;
        code = assay__plan_shapes(model, options, attempt, &tried, error);
        if (!code && tried->tries > 1) code = count_conflicts(model, tried, &conflicts, error);
        if (!code) tried->conflicts = conflicts;
        bool search = !code && is_searched(tried);
        if (search) nodes += model->graph.node_count;
        more = !code && conflicts && attempt + 1 < tried->tries && nodes < SEARCHED_NODES;
        bool better = !code && conflicts < least && !(search && conflicts && best);
        if (better) least = conflicts;
        assay__workload_free(better ? best : tried);
        if (better) best = tried;
    }
    if (!code) code = assay__inputs_values(model, best, options, error);
    if (code)
        assay__workload_free(best);
    else
        *out = best;
    return code;
}

static void put_shape(struct assay__buf *buf, const struct assay__input_plan *plan)
{
    assay__buf_printf(buf, "%s ", plan->name);
    for (int d = 0; d < plan->rank; d++)
        assay__buf_printf(buf, "%s%lld", d ? "x" : "", (long long)plan->dims[d]);
    assay__buf_printf(buf, " (%s)", plan->assumed);
}

const char *assay__workload_assumed(const struct assay__workload *workload,
                                    struct assay__arena *arena)
{
    enum { SHOWN = 3 }; /* with more inputs than this, by the names of their dimensions */
    struct assay__buf buf = {.data = NULL};
    size_t assumed = 0;
    for (size_t i = 0; i < workload->input_count; i++)
        assumed += workload->inputs[i].assumed != NULL;
    for (size_t i = 0; i < workload->input_count && assumed <= SHOWN; i++) {
        if (!workload->inputs[i].assumed) continue;
        if (buf.length) assay__buf_puts(&buf, ", ");
        put_shape(&buf, &workload->inputs[i]);
    }
    for (size_t i = 0; i < workload->note_count && assumed > SHOWN; i++) {
        const struct assay__note_subject *about = &workload->note_subjects[i];
        if (!*about->guess) continue;
        if (buf.length) assay__buf_puts(&buf, ", ");
        assay__buf_printf(&buf, "%s %lld (%s)", *about->symbol ? about->symbol : about->input,
                          (long long)about->size, about->guess);
    }
    return buf.length ? assay__buf_keep(&buf, arena) : "";
}

void assay__workload_free(struct assay__workload *workload)
{
    if (workload) assay__arena_free(workload->arena); /* the workload itself lies in it */
}

int assay__workload_values(const struct assay__input_plan *inputs, size_t count,
                           struct assay__arena *arena, struct assay__value **values)
{
    *values = assay__arena_array(arena, count, sizeof **values);
    if (!*values) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct assay__input_plan *plan = &inputs[i];
        size_t rank = plan->rank > 0 ? (size_t)plan->rank : 0;
        struct assay__dim *dims = assay__arena_array(arena, rank, sizeof *dims);
        if (!dims) return ASSAY_ENOMEM;
        for (size_t d = 0; d < rank; d++)
            dims[d] = (struct assay__dim){plan->dims[d], ""};
        (*values)[i] = (struct assay__value){.name = plan->name,
                                             .kind = ASSAY__KIND_TENSOR,
                                             .dtype = plan->dtype,
                                             .rank = plan->rank,
                                             .dims = dims};
        if (assay__input_contents(plan, arena, &(*values)[i].contents, &(*values)[i].content_count))
            return ASSAY_ENOMEM;
    }
    return 0;
}

struct assay__workload_options assay__workload_options_of(
    const struct assay_workload_options *options)
{
    return (struct assay__workload_options){
        .batch = options->batch,
        .sequence = options->sequence,
        .dims = options->dims,
        .dim_count = options->dim_count,
        .shapes = options->shapes,
        .shape_count = options->shape_count,
        .files = options->inputs,
        .file_count = options->input_count,
        .seed = options->seed,
    };
}
