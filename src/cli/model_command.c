/* model_command.c - the options, reading and output that inspect, check and predict share. */
#include "cli/model_command.h"

#include "base/file.h"
#include "zoo/model_open.h"

#define AT(member) offsetof(struct assay__model_flags, member)

const struct assay__option assay__model_rows[] = {
    ASSAY__SHAPE_ROWS,
    {"output", 'o', ASSAY__OPTION_STRING, AT(output), "FILE", "Write to FILE instead of stdout.",
     NULL, NULL, 0, 0, false},
    {"columns", 0, ASSAY__OPTION_INTEGER, AT(columns), "N",
     "Width of the text (default: the terminal's, else 80).", NULL, NULL, 40, 200, false},
    {"ascii", 0, ASSAY__OPTION_FLAG, AT(ascii), NULL,
     "Draw with ASCII characters only (so without a UTF-8 locale anyway).", NULL, NULL, 0, 0,
     false},
    {"no-color", 0, ASSAY__OPTION_FLAG, AT(no_color), NULL, "No colours (NO_COLOR does the same).",
     NULL, NULL, 0, 0, false},
    {0},
};

int assay__shape_check(const char *command, const struct assay__option_list *dims,
                       const struct assay__option_list *shapes)
{
    int status = assay__option_pairs(command, "dim", dims, "of the form NAME=N");
    return status ? status
                  : assay__option_pairs(command, "shape", shapes, "of the form INPUT=1x3x224x224");
}

struct assay__workload_options assay__model_workload(const struct assay__model_flags *flags)
{
    return (struct assay__workload_options){
        .batch = flags->batch,
        .sequence = flags->seq,
        .dims = flags->dims.items,
        .dim_count = flags->dims.count,
        .shapes = flags->shapes.items,
        .shape_count = flags->shapes.count,
    };
}

struct assay__text_style assay__model_style(const struct assay__model_flags *flags)
{
    return assay__text_style_of(flags->ascii, flags->no_color, flags->columns,
                                flags->output != NULL);
}

int assay__model_named(const char *name, struct assay__model **model, bool *zoo,
                       struct assay_error *error)
{
    int code = assay__model_open(name, model, zoo, error);
    return code == ASSAY_EINVAL && assay__file_exists(name) ? ASSAY_EIO : code;
}

int assay__model_output_check(const char *command, const struct assay__model_flags *flags,
                              const struct assay__model *model, const char *name, bool zoo)
{
    const char *how = flags->output ? assay__model_owns(model, name, zoo, flags->output) : NULL;
    if (!how) return 0;
    assay__say("%s: '%s' %s; give another name", command, flags->output, how);
    return ASSAY__EXIT_USAGE;
}

int assay__model_finish(const struct assay__model_flags *flags, const struct assay__buf *out,
                        struct assay_error *error)
{
    if (out->failed) {
        assay__say("out of memory");
        return ASSAY__EXIT_FAILED;
    }
    if (!flags->output) return assay__write_stdout(out->data ? out->data : "", out->length);
    int code = assay__file_write(flags->output, out->data, out->length, error);
    return code ? assay__fail(code, error) : ASSAY__EXIT_DONE;
}
