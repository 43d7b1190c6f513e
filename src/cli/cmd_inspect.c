/* cmd_inspect.c - assay inspect: what a model is made of, costs and holds in memory, without
 * running it; or the difference of two models. Status 1 when shapes contradict each other. */
#include "cli/commands.h"
#include "cli/model_command.h"

#include "report/inspect.h"

#include <string.h>

#define TOP_DEFAULT 12

struct inspect_options {
    struct assay__model_flags model; /* first: the shared rows write it */
    const char *format, *table, *sort;
    int64_t top;
    bool json, dot, layers;
};

#define AT(member) offsetof(struct inspect_options, member)

static const struct assay__option options[] = {
    {"top", 0, ASSAY__OPTION_INTEGER, AT(top), "N",
     "Layers shown in text and Markdown (default 12; 0 shows all).", NULL, NULL, 0, 1e6, false},
    {"layers", 0, ASSAY__OPTION_FLAG, AT(layers), NULL, "Show all layers; the same as --top 0.",
     NULL, NULL, 0, 0, false},
    {"sort", 0, ASSAY__OPTION_CHOICE, AT(sort), "BY",
     "What makes a layer large in text and Markdown (default flops).", "flops|bytes|memory", NULL,
     0, 0, false},
    {"format", 'f', ASSAY__OPTION_CHOICE, AT(format), "FORMAT", "Format (default text).",
     "text|json|dot|csv|markdown", NULL, 0, 0, false},
    {"json", 0, ASSAY__OPTION_FLAG, AT(json), NULL, "Print JSON; the same as --format json.", NULL,
     NULL, 0, 0, false},
    {"dot", 0, ASSAY__OPTION_FLAG, AT(dot), NULL,
     "Print the graph for Graphviz; the same as --format dot.", NULL, NULL, 0, 0, false},
    {"table", 0, ASSAY__OPTION_CHOICE, AT(table), "TABLE",
     "Table of the CSV format (default layers).", "layers|operators|parameters|metrics", NULL, 0, 0,
     false},
    {0},
};

static int exclude(const char *one, const char *other)
{
    assay__say("inspect: %s and %s exclude each other", one, other);
    return ASSAY__EXIT_USAGE;
}

static int check(const struct assay__invocation *invocation, const char *format)
{
    const struct inspect_options *o = invocation->options;
    int status = assay__shape_check("inspect", &o->model.dims, &o->model.shapes);
    if (status) return status;
    if (o->json && o->dot) return exclude("--json", "--dot");
    if (o->json && o->format && strcmp(o->format, "json") != 0)
        return exclude("--json", "another --format");
    if (o->dot && o->format && strcmp(o->format, "dot") != 0)
        return exclude("--dot", "another --format");
    if (o->table && strcmp(format, "csv") != 0) {
        assay__say("inspect: --table is for --format csv");
        return ASSAY__EXIT_USAGE;
    }
    if (o->layers && assay__option_given(invocation, "top") && o->top)
        return exclude("--layers", "--top");
    if (invocation->argument_count == 2 && strcmp(format, "text") != 0 &&
        strcmp(format, "json") != 0) {
        assay__say("inspect: the difference of two models is text or JSON, not %s", format);
        return ASSAY__EXIT_USAGE;
    }
    return 0;
}

static int check_owned(const struct assay__invocation *invocation,
                       struct assay__inspect *const *docs)
{
    const struct inspect_options *o = invocation->options;
    int status = 0;
    for (size_t i = 0; i < invocation->argument_count && !status; i++)
        status = assay__model_output_check("inspect", &o->model, docs[i]->model,
                                           invocation->arguments[i], docs[i]->zoo);
    return status;
}

static struct assay__inspect_view view_of(const struct assay__invocation *invocation,
                                          const char *format)
{
    const struct inspect_options *o = invocation->options;
    struct assay__inspect_view view = {.format = format, .table = o->table};
    struct assay__text_style style = assay__model_style(&o->model);
    view.sort = !o->sort                         ? ASSAY__SORT_FLOPS
                : strcmp(o->sort, "bytes") == 0  ? ASSAY__SORT_BYTES
                : strcmp(o->sort, "memory") == 0 ? ASSAY__SORT_MEMORY
                                                 : ASSAY__SORT_FLOPS;
    view.top = assay__option_given(invocation, "top") ? (int)o->top : TOP_DEFAULT;
    if (o->layers || view.top == 0) view.top = -1;
    view.ascii = style.ascii;
    view.color = style.color;
    view.columns = style.columns;
    return view;
}

static int open_document(const struct assay__invocation *invocation, size_t index,
                         struct assay__inspect **doc, struct assay_error *error)
{
    const struct inspect_options *o = invocation->options;
    struct assay__workload_options workload = assay__model_workload(&o->model);
    struct assay__model *model = NULL;
    bool zoo = false;
    workload.shapes_only = true;
    int code = assay__model_named(invocation->arguments[index], &model, &zoo, error);
    if (code) return code;
    return assay__inspect_new(model, invocation->arguments[index], zoo, &workload, doc, error);
}

static int inspect_model(struct assay__invocation *invocation)
{
    const struct inspect_options *o = invocation->options;
    const char *format = o->json ? "json" : o->dot ? "dot" : o->format ? o->format : "text";
    struct assay__inspect *docs[2] = {NULL, NULL};
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int status = check(invocation, format), code = 0;
    if (status) return status;
    struct assay__inspect_view view = view_of(invocation, format);
    for (size_t i = 0; i < invocation->argument_count && !code; i++)
        code = open_document(invocation, i, &docs[i], &error);
    if (!code) status = check_owned(invocation, docs);
    if (status) goto out;
    if (!code && docs[1])
        code = assay__inspect_compare(docs[0], docs[1], &view, &out, &error);
    else if (!code)
        code = assay__inspect_render(docs[0], &view, &out, &error);
    status = code ? assay__fail(code, &error) : assay__model_finish(&o->model, &out, &error);
out:
    for (size_t i = 0; i < 2; i++) {
        if (!status && docs[i] && docs[i]->analysis->conflict_count) status = ASSAY__EXIT_NO;
        assay__inspect_free(docs[i]);
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
    .description = "Reads MODEL, an ONNX file, a Core ML package or .mlmodel file, or the name of "
                   "a built-in model, and shows "
                   "its operators, FLOPs, bytes, parameters, memory over time and largest layers. "
                   "Nothing is run and no weight is "
                   "read. An operator it does not know is counted and named, and left out of the "
                   "totals, never taken as 0.\n\n"
                   "With MODEL2 it shows the difference of the two. The status is 1 when shapes of "
                   "a model contradict each "
                   "other.",
    .examples = "  assay inspect model.onnx\n"
                "  assay inspect model.onnx --batch 8 --sort memory --layers\n"
                "  assay inspect model.onnx --dot | dot -Tsvg > model.svg\n"
                "  assay inspect before.onnx after.onnx\n",
    .options = options,
    .shared = assay__model_rows,
    .options_size = sizeof(struct inspect_options),
    .run = inspect_model,
};
