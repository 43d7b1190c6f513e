/* cmd_check.c - assay check: will a model run on a target, all of it, and well? Status 0 when it passes or only warns, 1 when it
 * fails (with --strict also when it warns), 4 when the target could not be asked and the model alone does not decide. */
#include "cli/cli.h"

#include "base/file.h"
#include "report/check.h"
#include "zoo/open.h"

#include <string.h>

struct check_options {
    const char *target, *chip, *engine, *library, *output, *format;
    int64_t batch, seq, columns;
    double timeout_s;
    struct assay__option_list dims, shapes;
    bool json, all, strict, ascii, no_color;
};

#define AT(member) offsetof(struct check_options, member)

static const struct assay__option options[] = {
    {"target", 't', ASSAY__OPTION_STRING, AT(target), "TARGET",
     "What it shall run on: ane (Apple's Neural Engine, by rules) or a device as 'assay devices' "
     "names it (cuda, webgpu, openvino, coreml, …), which is asked.",
     NULL, NULL, 0, 0, false},
    {"chip", 0, ASSAY__OPTION_STRING, AT(chip), "CHIP",
     "Chip of target ane: \"M1 Max\", A17 Pro, … (default: all, and what differs is said).", NULL,
     NULL, 0, 0, false},
    {"strict", 0, ASSAY__OPTION_FLAG, AT(strict), NULL, "A warning fails too.", NULL, NULL, 0, 0,
     false},
    {"all", 0, ASSAY__OPTION_FLAG, AT(all), NULL, "Show every node of every rule.", NULL, NULL, 0,
     0, false},
    {"batch", 0, ASSAY__OPTION_INTEGER, AT(batch), "N", "Size of the batch axis of every input.",
     NULL, NULL, 1, 1e9, false},
    {"seq", 0, ASSAY__OPTION_INTEGER, AT(seq), "N",
     "Length of the sequence axis, where the model has one.", NULL, NULL, 1, 1e9, false},
    {"dim", 0, ASSAY__OPTION_LIST, AT(dims), "NAME=N",
     "Set a symbolic dimension; may be given again. Unset ones become 1.", NULL, NULL, 0, 0, false},
    {"shape", 0, ASSAY__OPTION_LIST, AT(shapes), "INPUT=AxBxC",
     "Set the whole shape of an input; may be given again.", NULL, NULL, 0, 0, false},
    {"timeout", 0, ASSAY__OPTION_DURATION, AT(timeout_s), "TIME",
     "Give up a device that takes longer to answer (default 300 s).", NULL, NULL, 0.001, 86400,
     false},
    {"output", 'o', ASSAY__OPTION_STRING, AT(output), "FILE", "Write to FILE instead of stdout.",
     NULL, NULL, 0, 0, false},
    {"format", 'f', ASSAY__OPTION_CHOICE, AT(format), "FORMAT", "Format (default text).",
     "text|json|junit", NULL, 0, 0, false},
    {"json", 0, ASSAY__OPTION_FLAG, AT(json), NULL, "Print JSON; the same as --format json.", NULL,
     NULL, 0, 0, false},
    {"library", 0, ASSAY__OPTION_STRING, AT(library), "PATH",
     "ONNX Runtime library, or its folder, to ask.", NULL, NULL, 0, 0, false},
    {"engine", 0, ASSAY__OPTION_STRING, AT(engine), "ENGINE", "Engine to ask (default ort).", NULL,
     NULL, 0, 0, true},
    {"columns", 0, ASSAY__OPTION_INTEGER, AT(columns), "N",
     "Width of the text (default: the terminal's, else 80).", NULL, NULL, 40, 200, false},
    {"ascii", 0, ASSAY__OPTION_FLAG, AT(ascii), NULL,
     "Draw with ASCII characters only (so without a UTF-8 locale anyway).", NULL, NULL, 0, 0,
     false},
    {"no-color", 0, ASSAY__OPTION_FLAG, AT(no_color), NULL, "No colours (NO_COLOR does the same).",
     NULL, NULL, 0, 0, false},
    {0},
};

static int usage(const char *text)
{
    assay__say("check: %s", text);
    return ASSAY__EXIT_USAGE;
}

static int check_usage(const struct check_options *o)
{
    int status = assay__option_pairs("check", "dim", &o->dims, "of the form NAME=N");
    if (!status)
        status = assay__option_pairs("check", "shape", &o->shapes, "of the form INPUT=1x3x224x224");
    if (status) return status;
    if (!o->target || !*o->target)
        return usage("--target is missing: ane, or a device ('assay devices' lists them)");
    if (o->chip && strcmp(o->target, "ane") != 0)
        return usage("--chip is for --target ane: other targets are asked");
    if (o->json && o->format && strcmp(o->format, "json") != 0)
        return usage("--json and another --format exclude each other");
    return 0;
}

static struct assay__check_view view_of(const struct assay__invocation *invocation)
{
    const struct check_options *o = invocation->options;
    bool to_file = o->output != NULL;
    struct assay__check_view view = {
        .format = o->json     ? "json"
                  : o->format ? o->format
                              : "text",
        .name = invocation->arguments[0],
        .all = o->all,
        .strict = o->strict,
        .ascii = o->ascii || (!to_file && !assay__locale_is_utf8()),
        .color = !to_file && !o->no_color && assay__stdout_color(),
        .columns = o->columns ? (int)o->columns
                   : to_file  ? 80
                              : assay__stdout_columns(),
    };
    if (!o->columns && view.columns > 120) view.columns = 120; /* longer lines read worse */
    return view;
}

static int make(const struct assay__invocation *invocation, struct assay__check **check,
                int *status, struct assay_error *error)
{
    const struct check_options *o = invocation->options;
    const char *name = invocation->arguments[0];
    const struct assay__workload_options workload = {.batch = o->batch,
                                                     .sequence = o->seq,
                                                     .dims = o->dims.items,
                                                     .dim_count = o->dims.count,
                                                     .shapes = o->shapes.items,
                                                     .shape_count = o->shapes.count,
                                                     .shapes_only = strcmp(o->target, "ane") == 0};
    struct assay__model *model = NULL;
    bool zoo = false;
    int code = assay__model_open(name, &model, &zoo, error);
    /* What is there and cannot be read (a folder, a device) is no misspelled command. */
    if (code == ASSAY_EINVAL && assay__file_exists(name)) return ASSAY_EIO;
    if (code) return code;
    const char *how = o->output ? assay__model_owns(model, name, zoo, o->output) : NULL;
    if (how) {
        assay__say("check: '%s' %s; give another name", o->output, how);
        assay__model_free(model);
        *status = ASSAY__EXIT_USAGE;
        return 0;
    }
    const struct assay__check_options wanted = {.target = o->target,
                                                .chip = o->chip,
                                                .engine = o->engine,
                                                .library = o->library,
                                                .name = name,
                                                .zoo = zoo,
                                                .workload = &workload,
                                                .timeout_s = o->timeout_s,
                                                .interrupt = &assay__interrupted};
    return assay__check_new(model, &wanted, check, error);
}

static int status_of(const struct assay__check *check, bool strict)
{
    switch (check->verdict) {
    case ASSAY__CHECK_FAIL: return ASSAY__EXIT_NO;
    case ASSAY__CHECK_WARN: return strict ? ASSAY__EXIT_NO : ASSAY__EXIT_DONE;
    case ASSAY__CHECK_NONE: return ASSAY__EXIT_NO_VERDICT;
    default: return ASSAY__EXIT_DONE;
    }
}

static int finish(const struct check_options *o, const struct assay__buf *out,
                  struct assay_error *error)
{
    if (!o->output) return assay__write_stdout(out->data ? out->data : "", out->length);
    int code = assay__file_write(o->output, out->data, out->length, error);
    return code ? assay__fail(code, error) : ASSAY__EXIT_DONE;
}

static int run(struct assay__invocation *invocation)
{
    const struct check_options *o = invocation->options;
    struct assay__check *check = NULL;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int status = check_usage(o);
    if (status) return status;
    assay__catch_interrupts();
    struct assay__check_view view = view_of(invocation);
    int code = make(invocation, &check, &status, &error);
    if (!code && !status) code = assay__check_render(check, &view, &out, &error);
    if (code) status = assay__fail(code, &error);
    if (!status) status = finish(o, &out, &error);
    if (!status) status = status_of(check, o->strict);
    assay__check_free(check);
    assay__buf_free(&out);
    return status;
}

const struct assay__command assay__command_check = {
    .name = "check",
    .summary = "say whether a model will run on a target, all of it, and well",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "For the Apple Neural Engine (--target ane) the graph is held against rules from published sources: operators "
        "without a path, axes, sizes, layouts, shapes, precision, memory. Each item has its severity, the node, the "
        "reason, a fix and the source. Nothing is run, no weight is read, and no Mac is needed.\n\n"
        "For other targets the engine is asked: a session is created on the device and says which of its providers got "
        "which node. A device that is not here cannot be asked; then only what follows from the model is said.\n\n"
        "A map shows where the graph would break, what crosses, and what share of the FLOPs stays on the target. The "
        "status is 0 when the model passes or only warns, 1 when it fails (with --strict also when it warns), 4 when "
        "there is no verdict.",
    .examples = "  assay check model.onnx --target ane\n"
                "  assay check model.mlpackage --target ane --chip \"M1 Max\"\n"
                "  assay check model.onnx --target cuda --batch 8\n"
                "  assay check resnet50 --target ane --format junit -o check.xml --strict\n",
    .options = options,
    .options_size = sizeof(struct check_options),
    .run = run,
};
