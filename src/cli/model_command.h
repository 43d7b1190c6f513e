/* model_command.h - shared by the commands that read a model and run nothing: inspect, check,
 * predict. Each has a structure of options whose first member is struct assay__model_flags, its own
 * rows, and these rows as `shared`. */
#ifndef ASSAY_CLI_MODEL_COMMAND_H
#define ASSAY_CLI_MODEL_COMMAND_H

#include "cli/render_options.h"
#include "model/inputs/inputs.h"

/** Rows for the shape of the inputs, in every command that takes a model; AT(member) is the offset
 *  of `batch`, `seq`, `dims`, `shapes`. */
/* clang-format off */
#define ASSAY__SHAPE_ROWS                                                                         \
    ASSAY__INTEGER_ROW("batch", batch, "N", "Batch size of every input.", 1, 1e9),                \
    ASSAY__INTEGER_ROW("seq", seq, "N",                                                           \
                       "Length of the sequence axis, where the model has one.", 1, 1e9),          \
    ASSAY__LIST_ROW("dim", dims, "NAME=N",                                                        \
                    "Set a symbolic dimension; may be repeated. Others are guessed."),            \
    ASSAY__LIST_ROW("shape", shapes, "INPUT=AxBxC",                                               \
                    "Set the whole shape of an input; may be repeated. A ? leaves a dimension "   \
                    "to --batch; the only input needs no name.")
/* clang-format on */

struct assay__model_flags {
    const char *output;
    int64_t batch, seq;
    struct assay__option_list dims, shapes;
    /* each command has its own rows for `format` and `table`, because the choices differ */
    struct assay__render_options render;
};

extern const struct assay__option assay__model_rows[];

/** Whether --dim and --shape are well formed. 0, or ASSAY__EXIT_USAGE after one line on stderr. */
int assay__shape_check(const char *command, const struct assay__option_list *dims,
                       const struct assay__option_list *shapes);
/** The model and its inputs according to the flags; borrows their lists. */
struct assay_workload_options assay__model_workload(const struct assay__model_flags *flags,
                                                    const char *model);
/** How the report is shown. Its format is one of `formats` ("text|json|…"): that of --json or
 *  --format, else that of the extension of --output, else text. 0, or ASSAY__EXIT_USAGE after one
 *  line on stderr. */
int assay__model_view(const struct assay__invocation *invocation, const char *formats,
                      struct assay_report_options *view);
/** A mistyped -o must not overwrite a model or a profile. 0, or an exit status after one line on
 *  stderr. */
int assay__model_output_check(const char *command, const struct assay__model_flags *flags,
                              const struct assay__model *model, const char *name, bool zoo);
/** assay__say_assumed for a workload; or why it could not be planned. */
void assay__model_say_assumed(const struct assay_report_options *view,
                              const struct assay__workload *workload, const char *unplanned);
/** The text to stdout or to --output. The exit status. */
int assay__model_finish(const struct assay__model_flags *flags, const struct assay__buf *out,
                        struct assay_error *error);

#endif
