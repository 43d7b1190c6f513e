/* cmd_inspect.c - assay inspect: what a model contains, its cost and memory, without running it; or
 * the difference between two models. Status 1 if shapes contradict each other. */
#include "cli/model_command.h"

#include "report/formats.h"
#include "report/report_model.h"

#include <string.h>

#define TOP_DEFAULT 12
#define FORMATS ASSAY__VIEW_NAMES_AND("|json|dot")
#define FORMATS_OF_TWO ASSAY__VIEW_NAMES_AND("|json")

struct inspect_options {
    struct assay__model_flags model; /* first: the shared option rows write to it */
    const char *sort;
    bool dot, layers;
};

#define AT(member) offsetof(struct inspect_options, member)

static const struct assay__option options[] = {
    ASSAY__INTEGER_ROW("top", model.render.top, "N",
                       "Layers shown in text and Markdown (default 12; 0 shows all).", 0, 1e6),
    ASSAY__FLAG_ROW("layers", 0, layers, "Show all layers; the same as --top 0."),
    ASSAY__CHOICE_ROW("sort", 0, sort, "BY", "What to sort layers by (default flops).",
                      "flops|bytes|memory"),
    ASSAY__CHOICE_ROW("format", 'f', model.render.format, "FORMAT",
                      "Format (default text); for two models, any but dot.", FORMATS),
    ASSAY__FLAG_ROW("dot", 0, dot, "Print the graph for Graphviz; the same as --format dot."),
    ASSAY__CHOICE_ROW("table", 0, model.render.table, "TABLE",
                      "Table to write as CSV (default layers); for two models: layers, operators, "
                      "parameters or totals.",
                      "layers|operators|parameters|metrics|values|compressed|tensors|groups|steps|"
                      "unknown|totals"),
    {0},
};

static int exclude(const char *one, const char *other)
{
    return assay__refuse("inspect: %s and %s cannot be used together", one, other);
}

/* How it is shown; 0 or ASSAY__EXIT_USAGE. */
static int view_of(struct assay__invocation *invocation, struct assay_report_options *view)
{
    struct inspect_options *o = invocation->options;
    struct assay__render_options *render = &o->model.render;
    bool two = invocation->argument_count == 2, top = assay__option_given(invocation, "top");
    int status = assay__shape_check("inspect", &o->model.dims, &o->model.shapes);
    if (status) return status;
    if (render->json && o->dot) return exclude("--json", "--dot");
    if (o->dot && render->format && strcmp(render->format, "dot") != 0)
        return exclude("--dot", "another --format");
    if (o->layers && top && render->top) return exclude("--layers", "--top");
    if (o->dot) render->format = "dot";
    if (!top) render->top = o->layers ? -1 : TOP_DEFAULT;
    status = assay__model_view(invocation, two ? FORMATS_OF_TWO : FORMATS, view);
    if (status) return status;
    view->sort = o->sort;
    if (two && strcmp(view->format, "dot") == 0)
        return assay__refuse("inspect: the Graphviz format takes one model, not two");
    return 0;
}

static int inspect_model(struct assay__invocation *invocation)
{
    const struct inspect_options *o = invocation->options;
    struct assay__inspect *models[2] = {NULL, NULL};
    struct assay_report_options view;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int status = view_of(invocation, &view), code = 0;
    if (status) return status;
    for (size_t i = 0; i < invocation->argument_count && !code; i++) {
        const struct assay_workload_options workload = assay__model_workload(
            &o->model, invocation->arguments[i]);
        code = assay__inspect_model(&workload, &models[i], &error);
    }
    for (size_t i = 0; i < invocation->argument_count && !code && !status; i++)
        status = assay__model_output_check("inspect", &o->model, models[i]->model,
                                           invocation->arguments[i], models[i]->zoo);
    if (status) goto out;
    if (!code && models[1])
        code = assay__inspect_diff_report(models[0], models[1], &view, &out, &error);
    else if (!code)
        code = assay__inspect_report(models[0], &view, &out, &error);
    status = code ? assay__fail(code, &error) : assay__model_finish(&o->model, &out, &error);
    for (size_t i = 0; i < invocation->argument_count && !code; i++)
        assay__model_say_assumed(&view, models[i]->workload, models[i]->unplanned);
out:
    for (size_t i = 0; i < 2; i++) {
        if (!status && models[i] && models[i]->analysis->conflict_count) status = ASSAY__EXIT_NO;
        assay__inspect_free(models[i]);
    }
    assay__buf_free(&out);
    return status;
}

const struct assay__command assay__command_inspect = {
    .name = "inspect",
    .summary = "show what a model computes, moves and holds, without running it",
    .arguments = "MODEL [MODEL2]",
    .min_arguments = 1,
    .max_arguments = 2,
    .description =
        "Reads MODEL, an ONNX file, a Core ML package or .mlmodel file, or the name of a built-in "
        "model, and shows its operators, FLOPs, bytes, parameters, memory over time and largest "
        "layers. Nothing is run and no weights are read. An unknown operator is counted and named, "
        "and left out of the totals, never counted as 0.\n\nWith MODEL2 it shows how the two "
        "differ. The exit status is 1 if the shapes of a model contradict each other.",
    .examples = "  assay inspect model.onnx\n"
                "  assay inspect model.onnx --batch 8 --sort memory --layers\n"
                "  assay inspect model.onnx --dot | dot -Tsvg > model.svg\n"
                "  assay inspect before.onnx after.onnx\n",
    .options = options,
    .shared = assay__model_rows,
    .options_size = sizeof(struct inspect_options),
    .run = inspect_model,
};
