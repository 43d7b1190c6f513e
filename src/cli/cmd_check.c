/* cmd_check.c - assay check: whether all of a model will run on a target, and well. Status 0 if it
 * passes or only has warnings, 1 if it fails (with --strict also on warnings), 4 if the target
 * could not be queried and the model alone is not enough. */
#include "cli/model_command.h"

#include "report/formats.h"
#include "report/report_model.h"

#include <string.h>

#define FORMATS ASSAY__VIEW_NAMES_AND("|json|junit")

struct check_options {
    struct assay__model_flags model; /* first: the shared option rows write to it */
    const char *target, *chip, *engine, *library;
    double timeout_s;
    bool all, strict;
};

#define AT(member) offsetof(struct check_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW(
        "target", 't', target, "TARGET",
        "Where to run: ane (Apple's Neural Engine, checked by rules) or a device name from 'assay "
        "devices' (cuda, webgpu, openvino, coreml, …), which is queried."),
    ASSAY__STRING_ROW(
        "chip", 0, chip, "CHIP",
        "Chip for target ane: \"M1 Max\", A17 Pro, … (default: all, with their differences)."),
    ASSAY__FLAG_ROW("strict", 0, strict, "Treat warnings as failures."),
    ASSAY__FLAG_ROW("all", 0, all, "Show every node of every rule; the same as --full."),
    ASSAY__DURATION_ROW("timeout", timeout_s,
                        "Give up on a device that takes longer to answer (default 300 s).", 0.001,
                        86400),
    ASSAY__CHOICE_ROW("format", 'f', model.render.format, "FORMAT", "Format (default text).",
                      FORMATS),
    ASSAY__CHOICE_ROW("table", 0, model.render.table, "TABLE",
                      "Table to write as CSV (default items).", "items|chips|partitions"),
    ASSAY__STRING_ROW("library", 0, library, "PATH",
                      "ONNX Runtime library to query, or its folder."),
    {"engine", 0, ASSAY__OPTION_STRING, AT(engine), "ENGINE", "Engine to query (default ort).",
     NULL, NULL, 0, 0, true},
    {0},
};

static int status_of(const struct assay__check *check, bool strict)
{
    switch (check->verdict) {
    case ASSAY__CHECK_FAIL: return ASSAY__EXIT_NO;
    case ASSAY__CHECK_WARN: return strict ? ASSAY__EXIT_NO : ASSAY__EXIT_DONE;
    case ASSAY__CHECK_NONE: return ASSAY__EXIT_NO_VERDICT;
    default: return ASSAY__EXIT_DONE;
    }
}

static int check_model(struct assay__invocation *invocation)
{
    const struct check_options *o = invocation->options;
    struct assay__check *check = NULL;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    struct assay_report_options view;
    int status = assay__shape_check("check", &o->model.dims, &o->model.shapes);
    if (!status && (!o->target || !*o->target))
        status = assay__refuse(
            "check: --target is missing: ane, or a device ('assay devices' lists them)");
    if (!status && o->chip && strcmp(o->target, "ane") != 0)
        status = assay__refuse("check: --chip requires --target ane; other targets are queried");
    if (!status) status = assay__model_view(invocation, FORMATS, &view);
    if (status) return status;
    view.full |= o->all;
    view.strict = o->strict;
    assay__catch_interrupts();
    const char *name = invocation->arguments[0];
    const struct assay_check_options wanted = {.workload = assay__model_workload(&o->model, name),
                                               .target = o->target,
                                               .chip = o->chip,
                                               .engine = o->engine,
                                               .library = o->library,
                                               .timeout_s = o->timeout_s,
                                               .interrupt = &assay__interrupted};
    int code = assay__check_model(&wanted, &check, &error);
    if (!code)
        status = assay__model_output_check("check", &o->model, check->model, name, check->zoo);
    if (!code && !status) code = assay__check_report(check, &view, &out, &error);
    if (code) status = assay__fail(code, &error);
    if (!status) status = assay__model_finish(&o->model, &out, &error);
    if (!status) assay__model_say_assumed(&view, check->workload, check->unplanned);
    if (!status) status = status_of(check, o->strict);
    assay__check_free(check);
    assay__buf_free(&out);
    return status;
}

const struct assay__command assay__command_check = {
    .name = "check",
    .summary = "check whether all of a model will run on a target, and well",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "For the Apple Neural Engine (--target ane) the graph is checked against rules from "
        "published sources: unsupported operators, axes, sizes, layouts, shapes, precision, "
        "memory. Each item has a severity, the node, the reason, a fix and the source. Nothing is "
        "run, no weights are read, and no Mac is needed.\n\nFor other targets the engine is "
        "queried: a session is created on the device and reports which provider got which node. A "
        "device that is not present cannot be queried; then only what follows from the model is "
        "reported.\n\nA map shows where the graph would be split, which tensors cross, and what "
        "share of the FLOPs stays on the target. The exit status is 0 if the model passes or only "
        "has warnings, 1 if it fails (with --strict also on warnings), 4 if there is no verdict.",
    .examples = "  assay check model.onnx --target ane\n"
                "  assay check model.mlpackage --target ane --chip \"M1 Max\"\n"
                "  assay check model.onnx --target cuda --batch 8\n"
                "  assay check resnet50 --target ane --format junit -o check.xml --strict\n",
    .options = options,
    .shared = assay__model_rows,
    .options_size = sizeof(struct check_options),
    .run = check_model,
};
