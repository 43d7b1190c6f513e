/* cmd_predict.c - assay predict: estimated performance on another chip, by an analytic model, each
 * value with the validated error of the model; the measurements behind that error; and the
 * efficiencies of this machine. */
#include "cli/commands.h"
#include "cli/model_command.h"

#include "predict/predict_targets.h"
#include "report/formats.h"
#include "report/report_model.h"

#include <string.h>

#define TOP_DEFAULT 10
#define FORMATS ASSAY__VIEW_NAMES_AND("|json")

struct predict_options {
    struct assay__model_flags model; /* first: the shared option rows write to it */
    const char *chip, *unit, *precision;
    int64_t launches;
    double time_s;
    bool validate, calibrate, whole, chips, quiet;
};

#define AT(member) offsetof(struct predict_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW(
        "chip", 'c', chip, "CHIP",
        "Chip (\"M1 Max\"), 'this' machine, or a profile with ceilings (FILE.assay)."),
    ASSAY__CHOICE_ROW("unit", 'u', unit, "UNIT", "One unit of the chip (default: all).",
                      "cpu|gpu|ane"),
    ASSAY__CHOICE_ROW("precision", 'p', precision, "TYPE",
                      "Precision of weights and activations (default: float16; float32 on a CPU).",
                      "float32|float16|w8|w8a8|w6|w4"),
    ASSAY__FLAG_ROW("chips", 0, chips, "List the chips, their numbers and what is unknown."),
    ASSAY__FLAG_ROW("validate", 0, validate,
                    "Compare predictions with published measurements, or with --chip this, with "
                    "those of --calibrate."),
    ASSAY__FLAG_ROW("calibrate", 0, calibrate,
                    "Run a set of small models (and MODELs) and save this machine's efficiencies."),
    ASSAY__FLAG_ROW("whole", 0, whole, "Calibrate with the whole zoo."),
    ASSAY__INTEGER_ROW("launches", launches, "N",
                       "Calibrate: undisturbed launches of each model (default 3).", 1, 100),
    {"time", 't', ASSAY__OPTION_DURATION, AT(time_s), "TIME",
     "Calibrate: measuring time of each launch (default 0.3s).", NULL, NULL, 0.01, 60, false},
    ASSAY__INTEGER_ROW("top", model.render.top, "N",
                       "Layers shown (default 10; 0 shows none, -1 all).", -1, 1e6),
    ASSAY__CHOICE_ROW("format", 'f', model.render.format, "FORMAT", "Format (default text).",
                      FORMATS),
    ASSAY__CHOICE_ROW("table", 0, model.render.table, "TABLE",
                      "Table to write as CSV: units (default) or layers; with --chips: chips; with "
                      "--validate: validation (default), errors or excluded.",
                      "units|layers|chips|validation|errors|excluded"),
    ASSAY__FLAG_ROW("quiet", 'q', quiet, "No progress bar."),
    {0},
};

/* The report to stdout or --output; `code`: result of creating it. Frees the buffer. */
static int finish(const struct predict_options *o, int code, struct assay__buf *out,
                  struct assay_error *error)
{
    int status = code ? assay__fail(code, error) : assay__model_finish(&o->model, out, error);
    assay__buf_free(out);
    return status;
}

/* --- a model ---------------------------------------------------------------------------------- */

static int predict_model(const struct assay__invocation *invocation,
                         struct assay_report_options *view)
{
    const struct predict_options *o = invocation->options;
    struct assay_prediction *p = NULL;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    bool given = assay__option_given(invocation, "top"), layers = !given || o->model.render.top;
    const struct assay_predict_options wanted = {
        .workload = assay__model_workload(&o->model, invocation->arguments[0]),
        .chip = o->chip,
        .unit = o->unit,
        .precision = o->precision};
    if (!given) view->top = TOP_DEFAULT;
    int code = assay__predict_model(&wanted, &p, &error);
    if (code) return assay__fail(code, &error);
    p->profile->command_line = invocation->command_line;
    int status = assay__model_output_check("predict", &o->model, p->model, invocation->arguments[0],
                                           p->zoo);
    if (!status) {
        code = assay__prediction_report(p->profile, p->targets.fits, layers, view, &out, &error);
        status = finish(o, code, &out, &error);
        const struct assay__trial *first = p->profile->trial_count ? p->profile->trials : NULL;
        if (!status && !o->quiet && first && first->assumed_count)
            assay__say_assumed(view->format, first->assumed[0]);
        bool any = false; /* unit could be predicted */
        for (size_t i = 0; i < p->profile->trial_count; i++)
            any |= p->profile->trials[i].state == ASSAY__TRIAL_OK;
        if (!status && !any) status = ASSAY__EXIT_FAILED;
    }
    assay_prediction_free(p);
    return status;
}

/* --- validation and calibration --------------------------------------------------------------- */

static int validate(const struct assay__invocation *invocation, struct assay__arena *arena,
                    const struct assay_report_options *view)
{
    const struct predict_options *o = invocation->options;
    struct assay__validation validation;
    struct assay__calibration kept;
    struct assay__predict_target target;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int code;
    const char *key = NULL, *from = o->chip;
    char path[4096];
    bool published = o->chip == NULL;
    if (published) {
        code = assay__validate_published(arena, &validation, &error);
    } else {
        size_t length = strlen(o->chip);
        bool file = length > 5 && strcmp(o->chip + length - 5, ".json") == 0;
        code = assay__predict_this(arena, NULL, &target, &key, &error);
        if (!code && !file) {
            from = path;
            code = assay__calibration_path(key, path, sizeof path, &error);
        }
        if (!code) code = assay__calibration_load(arena, from, file ? NULL : key, &kept, &error);
        if (code == ASSAY_ENOTFOUND && !file)
            assay_error_set(
                &error, code,
                "this machine is not calibrated: run 'assay predict --calibrate' (about a minute)");
        if (!code) code = assay__validate_calibration(&kept, &target, arena, &validation, &error);
    }
    if (!code) code = assay__validation_report(&validation, published, view, &out, &error);
    return finish(o, code, &out, &error);
}

static bool on_model(void *context, const char *model, size_t index, size_t count)
{
    double done = count ? (double)index / (double)count : -1;
    assay__bar_update(context, &(struct assay_progress){.phase = model, .done = done});
    return assay__interrupted != 0;
}

static int calibrate(const struct assay__invocation *invocation, struct assay__arena *arena)
{
    const struct predict_options *o = invocation->options;
    struct assay__bar bar;
    struct assay__predict_target target;
    struct assay__calibration made;
    struct assay_error error = {0};
    const char *key = NULL;
    char path[4096];
    const struct assay__calibrate_options wanted = {.models = invocation->arguments,
                                                    .model_count = invocation->argument_count,
                                                    .whole = o->whole,
                                                    .time_s = o->time_s,
                                                    .launches = (int)o->launches,
                                                    .progress = on_model,
                                                    .context = &bar,
                                                    .interrupt = &assay__interrupted};
    assay__catch_interrupts();
    const struct assay_callbacks calls = assay__bar_start(&bar, "predict", o->quiet);
    int code = assay__predict_this(arena, &calls, &target, &key, &error);
    if (!code) code = assay__calibrate(arena, &target, &wanted, key, &made, &error);
    assay__bar_erase(&bar);
    if (!code) code = assay__calibration_path(key, path, sizeof path, &error);
    if (!code) code = assay__calibration_save(&made, path, &error);
    if (code) return assay__fail(code, &error);
    assay__say("predict: %zu models measured; error %.0f %% (median), %.0f %% (90th percentile) "
               "leaving one family out; %.0f %% in sample",
               made.count, made.fit.out.median * 100, made.fit.out.p90 * 100,
               made.fit.in.median * 100);
    if (made.disturbed)
        assay__say("predict: every launch of %zu of them was disturbed by other processes: on a "
                   "quiet machine the fit is better",
                   made.disturbed);
    assay__say("predict: saved to %s; --chip this uses it, --validate --chip this shows it", path);
    return ASSAY__EXIT_DONE;
}

/* --- the command ------------------------------------------------------------------------------ */

static int misuse(const char *text)
{
    return assay__refuse("predict: %s", text);
}

static int check(const struct assay__invocation *invocation)
{
    const struct predict_options *o = invocation->options;
    size_t models = invocation->argument_count;
    int modes = o->validate + o->calibrate + o->chips;
    if (modes > 1) return misuse("--validate, --calibrate and --chips cannot be used together");
    if (o->chips || o->validate) {
        if (models && o->chips) return misuse("--chips takes no MODEL");
        if (models) return misuse("--validate takes no MODEL");
        if (o->validate && o->chip && strcmp(o->chip, "this") != 0 && !strstr(o->chip, ".json"))
            return misuse("--validate works on the published measurements, with --chip this, or "
                          "with --chip FILE.json written by --calibrate");
        return 0;
    }
    if (!o->calibrate && (o->whole || assay__option_given(invocation, "launches") || o->time_s > 0))
        return misuse("--whole, --launches and --time are for --calibrate");
    if (o->calibrate) {
        if (o->chip && strcmp(o->chip, "this") != 0)
            return misuse("--calibrate measures only this machine");
        return 0;
    }
    if (models == 0) return misuse("no MODEL given (or --validate, --calibrate, --chips)");
    if (models > 1) return misuse("give one MODEL at a time");
    if (!o->chip) return misuse("no chip given: --chip NAME; --chips lists them");
    return 0;
}

static int choose_task(struct assay__invocation *invocation)
{
    const struct predict_options *o = invocation->options;
    struct assay_report_options view;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int status = check(invocation);
    if (!status) status = assay__model_view(invocation, FORMATS, &view);
    if (status) return status;
    if (o->chips) {
        int code = assay__chips_report(&view, &out, &error);
        return finish(o, code, &out, &error);
    }
    struct assay__arena *arena = assay__arena_new();
    if (!arena) return assay__fail(ASSAY_ENOMEM, NULL);
    status = o->validate    ? validate(invocation, arena, &view)
             : o->calibrate ? calibrate(invocation, arena)
                            : predict_model(invocation, &view);
    assay__arena_free(arena);
    return status;
}

const struct assay__command assay__command_predict = {
    .name = "predict",
    .summary =
        "estimate a model's performance on a chip you do not have, with the error of the estimate",
    .arguments = "[MODEL]",
    .max_arguments = 256,
    .description = "Estimates how long MODEL takes on a chip, with an analytic model per operator "
                   "and the chip's published numbers. Every value is an estimate, shown with the "
                   "error of such estimates against measurements that were not used for the fit. A "
                   "unit without public numbers is not estimated, and the reason is given. No "
                   "weights are read.\n\n--validate shows those measurements. --calibrate measures "
                   "this machine's own efficiencies, which --chip this then uses.",
    .examples = "  assay predict resnet50 --chip \"M1 Max\"\n"
                "  assay predict model.onnx --chip a17pro --unit ane --precision w8a8\n"
                "  assay predict --validate\n"
                "  assay predict --calibrate && assay predict bert:seq=128 --chip this\n",
    .options = options,
    .shared = assay__model_rows,
    .options_size = sizeof(struct predict_options),
    .run = choose_task,
};
