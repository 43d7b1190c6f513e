/* model_command.c - the options, reading and output that inspect, check and predict share. */
#include "cli/model_command.h"

#include "base/file.h"
#include "cli/report_file.h"
#include "report/formats.h"
#include "zoo/model_open.h"

#include <string.h>

#define AT(member) offsetof(struct assay__model_flags, member)

const struct assay__option assay__model_rows[] = {
    ASSAY__SHAPE_ROWS,
    ASSAY__FLAG_ROW("json", 0, render.json, "Print JSON; the same as --format json."),
    ASSAY__TEXT_ROWS,
    ASSAY__STRING_ROW(
        "output", 'o', output, "FILE",
        "Write to FILE instead of stdout; its extension chooses the format unless --format does."),
    {0},
};

int assay__shape_check(const char *command, const struct assay__option_list *dims,
                       const struct assay__option_list *shapes)
{
    int status = assay__option_pairs(command, "dim", dims, "of the form NAME=N");
    for (size_t i = 0; i < shapes->count && !status; i++) {
        const char *text = shapes->items[i];
        const struct assay__option_list one = {.items = &shapes->items[i], .count = 1};
        bool digits = *text && strchr("0123456789?", *text);
        if (!digits || text[strspn(text, "0123456789x,?")]) /* otherwise that of the only input */
            status = assay__option_pairs(command, "shape", &one, "of the form INPUT=1x3x224x224");
    }
    return status;
}

struct assay_workload_options assay__model_workload(const struct assay__model_flags *flags,
                                                    const char *model)
{
    return (struct assay_workload_options){
        .model = model,
        .batch = flags->batch,
        .sequence = flags->seq,
        .dims = flags->dims.items,
        .dim_count = flags->dims.count,
        .shapes = flags->shapes.items,
        .shape_count = flags->shapes.count,
    };
}

int assay__model_view(const struct assay__invocation *invocation, const char *formats,
                      struct assay_report_options *view)
{
    const struct assay__model_flags *flags = invocation->options; /* the first member */
    struct assay__render_options render = flags->render;
    if (!render.format && !render.json && flags->output) {
        /* the extension of a format, or its name (graph.dot) */
        const char *extension = assay__path_extension(flags->output);
        const struct assay__format *format = assay__format_of_path(flags->output);
        if (format && assay__is_choice(formats, format->name))
            render.format = format->name;
        else if (extension && assay__is_choice(formats, extension))
            render.format = extension;
    }
    if (!render.format) render.format = render.json ? "json" : "text";
    assay__render_top(invocation, &render);
    *view = assay__report_options_of(&render, flags->output != NULL);
    return assay__render_check(invocation->command->name, &render);
}

int assay__model_output_check(const char *command, const struct assay__model_flags *flags,
                              const struct assay__model *model, const char *name, bool zoo)
{
    const char *how = flags->output ? assay__model_owns(model, name, zoo, flags->output) : NULL;
    if (how) return assay__refuse("%s: '%s' %s; give another name", command, flags->output, how);
    return assay__report_file_check(command, flags->output, NULL);
}

void assay__model_say_assumed(const struct assay_report_options *view,
                              const struct assay__workload *workload, const char *unplanned)
{
    if (!unplanned)
        assay__say_assumed(view->format, assay__workload_assumed(workload, workload->arena));
    else if (strcmp(view->format, "text") != 0)
        assay__say("the inputs keep the shapes of the file: %s (%s)", unplanned,
                   assay__metric_hint("assumed"));
}

int assay__model_finish(const struct assay__model_flags *flags, const struct assay__buf *out,
                        struct assay_error *error)
{
    if (out->failed) return assay__fail(ASSAY_ENOMEM, NULL);
    if (!flags->output) return assay__write_stdout(assay__buf_text(out), out->length);
    int code = assay__file_write(flags->output, out->data, out->length, error);
    return code ? assay__fail(code, error) : ASSAY__EXIT_DONE;
}
