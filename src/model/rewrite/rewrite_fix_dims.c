/* rewrite_fix_dims.c - symbolic dimensions become numbers: in inputs, outputs and value_info of all
 * graphs. The batch is what `assay run --batch` treats as such: the dimensions in which two plans
 * of the workload differ when only the batch does. A model without a symbolic batch is left to
 * rewrite_batch.c. Outputs then get the inferred shapes. */
#include "model/inputs/inputs.h"
#include "model/rewrite/rewrite_graph.h"
#include "model/rewrite/rewrites.h"
#include "model/symbol/symbol.h"

#include "base/text.h"

#include <string.h>

struct fixing {
    struct assay__arena *arena;
    const char *symbol;
    int64_t value;
    size_t hits;
};

static int64_t no_name(void *context, const char *name, size_t length)
{
    (void)context, (void)name, (void)length;
    return ASSAY__NUM_ANY;
}

/* "2*batch" and other expressions that contain the symbol become numbers or shorter expressions. */
static void fix_values(struct fixing *fix, struct assay__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int d = 0; d < values[i].rank; d++) {
            struct assay__dim *dim = &values[i].dims[d];
            if (dim->value >= 0) continue;
            bool whole = strcmp(dim->symbol, fix->symbol) == 0;
            const char *text = whole ? dim->symbol
                                     : assay__symbol_fix(fix->arena, dim->symbol, fix->symbol,
                                                         fix->value);
            if (!text || (!whole && text == dim->symbol)) continue;
            int64_t value = whole ? fix->value : assay__symbol_evaluate(text, no_name, NULL);
            *dim = assay__num_known(value) && value >= 0 ? (struct assay__dim){value, ""}
                                                         : (struct assay__dim){-1, text};
            fix->hits++;
        }
}

static int fix_graph(void *context, struct assay__graph *graph)
{
    fix_values(context, graph->inputs, graph->input_count);
    fix_values(context, graph->outputs, graph->output_count);
    fix_values(context, graph->values, graph->value_count);
    return 0;
}

static int unknown_symbol(const struct assay__model *model, const char *symbol,
                          struct assay_error *error)
{
    const struct assay__graph *graph = &model->graph;
    struct assay__text_nearest nearest = ASSAY__TEXT_NEAREST;
    for (size_t i = 0; i < graph->input_count; i++)
        for (int d = 0; d < graph->inputs[i].rank; d++)
            if (graph->inputs[i].dims[d].value < 0)
                assay__text_nearest_try(&nearest, symbol, graph->inputs[i].dims[d].symbol);
    if (!*nearest.word)
        return assay_error_set(
            error, ASSAY_ENOTFOUND,
            "no dimension is called '%.80s': the model's inputs have none with a "
            "name",
            symbol);
    return assay_error_set(
        error, ASSAY_ENOTFOUND, "no dimension is called '%.80s'; %s '%.80s'", symbol,
        assay__text_near(symbol, nearest.distance) ? "the nearest is" : "there is", nearest.word);
}

/* The axes that are the batch: those in which the plans of two batches differ. */
static int fix_batch(struct assay__model *model, int64_t batch, size_t *found,
                     struct assay__rewrite_notes *notes)
{
    struct assay__workload_options one = {.batch = 3, .any_size = true}, other = one, own = one;
    struct assay__workload *a = NULL, *b = NULL, *wanted = NULL;
    struct assay_error ignored = {0};
    struct assay__graph *graph = &model->graph;
    *found = 0;
    other.batch = 5;
    own.batch = batch;
    if (assay__workload_plan(model, &one, &a, &ignored) ||
        assay__workload_plan(model, &other, &b, &ignored) ||
        assay__workload_plan(model, &own, &wanted, &ignored))
        goto out;
    for (size_t i = 0; i < a->dim_count; i++) { /* in the order of the inputs, in all three */
        struct fixing fix = {
            .arena = model->arena, .symbol = a->dims[i].symbol, .value = wanted->dims[i].value};
        if (a->dims[i].value == b->dims[i].value || assay__symbol_is_expression(fix.symbol))
            continue;
        assay__rewrite_each_graph(graph, fix_graph, &fix);
        *found += fix.hits;
    }
    for (size_t i = 0; i < a->input_count; i++)
        for (size_t k = 0; k < graph->input_count; k++) {
            struct assay__value *input = &graph->inputs[k];
            if (strcmp(input->name, a->inputs[i].name) != 0) continue;
            for (int d = 0; d < input->rank && d < a->inputs[i].rank; d++) {
                if (a->inputs[i].dims[d] == b->inputs[i].dims[d] || input->dims[d].value >= 0 ||
                    *input->dims[d].symbol)
                    continue;
                input->dims[d] = (struct assay__dim){wanted->inputs[i].dims[d], ""};
                (*found)++;
            }
        }
    if (*found) assay__rewrite_note(notes, "batch is %lld now", (long long)batch);
out:
    assay__workload_free(a);
    assay__workload_free(b);
    assay__workload_free(wanted);
    return 0;
}

int assay__rewrite_fix_dims(struct assay__model *model, const char *const *dims, size_t dim_count,
                            int64_t batch, struct assay__rewrite_notes *notes,
                            struct assay_error *error)
{
    int code = assay__rewrite_begin(model, true, notes, error);
    size_t found = 0;
    if (!code && batch < 0)
        code = assay_error_set(error, ASSAY_EINVAL, "a batch of %lld", (long long)batch);
    for (size_t i = 0; i < dim_count && !code; i++) {
        const char *equals = strchr(dims[i], '=');
        struct fixing fix = {.arena = model->arena};
        if (!equals || equals == dims[i] || assay__text_int64(equals + 1, &fix.value) ||
            fix.value < 1)
            return assay_error_set(error, ASSAY_EINVAL,
                                   "'%.80s' is not NAME=N with N a positive whole number", dims[i]);
        fix.symbol = assay__arena_strndup(model->arena, dims[i], (size_t)(equals - dims[i]));
        if (!fix.symbol) return assay__rewrite_no_memory(error);
        assay__rewrite_each_graph(&model->graph, fix_graph, &fix);
        if (!fix.hits) return unknown_symbol(model, fix.symbol, error);
        assay__rewrite_note(notes, "dimension '%.80s' is %lld now", fix.symbol,
                            (long long)fix.value);
    }
    if (!code && batch) code = fix_batch(model, batch, &found, notes);
    if (!code && batch && !found) code = assay__rewrite_batch(model, batch, notes, error);
    if (code) return code;
    assay__rewrite_drop_values(model); /* shapes that were computed with symbols */
    struct assay__shapes *shapes = NULL;
    struct assay_error ignored = {0};
    if (assay__shapes_infer(model, NULL, 0, &shapes, &ignored) == 0)
        assay__rewrite_settle_outputs(&model->graph, shapes, true);
    assay__shapes_free(shapes);
    return 0;
}

/* NAME=N, every name once. */
static int check_fix(const char *const *dims, size_t count, struct assay_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(dims[i], '=');
        if (!equals || equals == dims[i])
            return assay_error_set(error, ASSAY_EINVAL, "'%.100s' is not of the form NAME=N",
                                   dims[i]);
        size_t length = (size_t)(equals - dims[i]);
        for (size_t k = 0; k < i; k++)
            if (strncmp(dims[k], dims[i], length + 1) == 0)
                return assay_error_set(error, ASSAY_EINVAL, "'%.*s' is given twice", (int)length,
                                       dims[i]);
    }
    return 0;
}

static int apply_fix(struct assay__model *model, const struct assay__rewrite_request *request,
                     struct assay__rewrite_notes *notes, struct assay_error *error)
{
    return assay__rewrite_fix_dims(model, request->arguments, request->argument_count,
                                   request->batch, notes, error);
}

const struct assay__rewriter assay__rewriter_fix_dims = {
    .step = "fix", .check = check_fix, .apply = apply_fix};
