/* model_command.c - the options, reading and output that inspect, check and predict share. */
#include "cli/model_command.h"

#include "base/file.h"
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
    return status ? status
                  : assay__option_pairs(command, "shape", shapes, "of the form INPUT=1x3x224x224");
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

/* Is the name one of "a|b|c"? */
static bool is_among(const char *choices, const char *name, size_t length)
{
    for (const char *at = choices; *at; at += strspn(at, "|")) {
        size_t own = strcspn(at, "|");
        if (own == length && strncmp(at, name, own) == 0) return true;
        at += own;
    }
    return false;
}

/* By the end of the file's name: an extension of a format, or its name (graph.dot). */
static const char *format_of(const char *path, const char *formats)
{
    const char *extension = assay__path_extension(path);
    const struct assay__format *format = assay__format_of_path(path);
    if (format && is_among(formats, format->name, strlen(format->name))) return format->name;
    return extension && is_among(formats, extension, strlen(extension)) ? extension : "text";
}

int assay__model_view(const struct assay__invocation *invocation, const char *formats,
                      struct assay_report_options *view)
{
    const struct assay__model_flags *flags = invocation->options; /* the first member */
    struct assay__render_options render = flags->render;
    if (!render.format && !render.json && flags->output)
        render.format = format_of(flags->output, formats);
    if (!render.format) render.format = render.json ? "json" : "text";
    assay__render_top(invocation, &render);
    *view = assay__report_options_of(&render, flags->output != NULL);
    return assay__render_check(invocation->command->name, &render);
}

int assay__model_output_check(const char *command, const struct assay__model_flags *flags,
                              const struct assay__model *model, const char *name, bool zoo)
{
    const char *how = flags->output ? assay__model_owns(model, name, zoo, flags->output) : NULL;
    if (!how) return 0;
    return assay__refuse("%s: '%s' %s; give another name", command, flags->output, how);
}

int assay__model_finish(const struct assay__model_flags *flags, const struct assay__buf *out,
                        struct assay_error *error)
{
    if (out->failed) {
        assay__say("out of memory");
        return ASSAY__EXIT_FAILED;
    }
    if (!flags->output) return assay__write_stdout(assay__buf_text(out), out->length);
    int code = assay__file_write(flags->output, out->data, out->length, error);
    return code ? assay__fail(code, error) : ASSAY__EXIT_DONE;
}
