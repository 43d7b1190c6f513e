/* cmd_check.c - assay check: will a model run on a target, all of it, and well? Status 0 when it
 * passes or only warns, 1 when it fails (with --strict also when it warns), 4 when the target could
 * not be asked and the model alone does not decide. */
#include "cli/model_command.h"

#include "report/formats.h"
#include "report/report_model.h"

#include <string.h>

#define FORMATS ASSAY__VIEW_NAMES_AND("|json|junit")

struct check_options {
    struct assay__model_flags model; /* first: the shared rows write it */
    const char *target, *chip, *engine, *library;
    double timeout_s;
    bool all, strict;
};

#define AT(member) offsetof(struct check_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW(
        "target", 't', target, "TARGET",
        "Where it is to run: ane (Apple's Neural Engine, by rules) or a device as 'assay "
        "devices' names it (cuda, webgpu, openvino, coreml, …), which is asked."),
    ASSAY__STRING_ROW(
        "chip", 0, chip, "CHIP",
        "Chip of target ane: \"M1 Max\", A17 Pro, … (default: all, with their differences)."),
    ASSAY__FLAG_ROW("strict", 0, strict, "A warning fails too."),
    ASSAY__FLAG_ROW("all", 0, all, "Show every node of every rule; the same as --full."),
    ASSAY__DURATION_ROW("timeout", timeout_s,
                        "Give up a device that takes longer to answer (default 300 s).", 0.001,
                        86400),
    ASSAY__CHOICE_ROW("format", 'f', model.render.format, "FORMAT", "Format (default text).",
                      FORMATS),
    ASSAY__CHOICE_ROW("table", 0, model.render.table, "TABLE",
                      "Table of the CSV format (default items).", "items|chips|partitions"),
    ASSAY__STRING_ROW("library", 0, library, "PATH",
                      "ONNX Runtime library, or its folder, to ask."),
    {"engine", 0, ASSAY__OPTION_STRING, AT(engine), "ENGINE", "Engine to ask (default ort).", NULL,
     NULL, 0, 0, true},
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
        status = assay__refuse("check: --chip is for --target ane: other targets are asked");
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
        "For the Apple Neural Engine (--target ane) the graph is held against rules from published "
        "sources: operators without a path, axes, sizes, layouts, shapes, precision, memory. Each "
        "item has its severity, the node, the reason, a fix and the source. Nothing is run, no "
        "weight is read, and no Mac is needed.\n\n"
        "For other targets the engine is asked: a session is created on the device and says which "
        "of its providers got which node. A device that is not here cannot be asked; then only "
        "what follows from the model is reported.\n\n"
        "A map shows where the graph would break, what crosses, and what share of the FLOPs stays "
        "on the target. The status is 0 when the model passes or only warns, 1 when it fails (with "
        "--strict also when it warns), 4 when there is no verdict.",
    .examples = "  assay check model.onnx --target ane\n"
                "  assay check model.mlpackage --target ane --chip \"M1 Max\"\n"
                "  assay check model.onnx --target cuda --batch 8\n"
                "  assay check resnet50 --target ane --format junit -o check.xml --strict\n",
    .options = options,
    .shared = assay__model_rows,
    .options_size = sizeof(struct check_options),
    .run = check_model,
};
