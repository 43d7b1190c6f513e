/* cmd_make.c - assay make: build a model of the zoo, or rewrite one, into an ONNX file, and report
 * the effect on its outputs. The rewrites, their options and their order are those of
 * model/rewrite/rewrites.h. */
#include "base/clock.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/model_command.h"
#include "cli/render_options.h"
#include "cli/report_file.h"
#include "report/report_make.h"
#include "run/activation_range.h"
#include "zoo/model_open.h"
#include "zoo/zoo.h"

#include <assay/run.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* The value given for a rewrite's option, by its kind. */
union rewrite_arguments {
    bool flag;
    const char *text; /* STRING, CHOICE */
    struct assay__option_list list;
};

struct make_options {
    const char *output, *from, *library;
    int64_t batch, seed;
    struct assay__option_list dims, shapes;
    union rewrite_arguments rewrites[ASSAY__REWRITE_COUNT];
    bool list, no_drift, quiet;
    struct assay__render_options render;
};

#define AT(member) offsetof(struct make_options, member)
/* " --fix-dim --extract …" */
#define REWRITE_NAME(NAME, kind, option, ...) " --" option
#define REWRITE_NAMES ASSAY__REWRITES(REWRITE_NAME)
/* clang-format off */
#define REWRITE_OPTION(NAME, kind, option, argument, choices, bare, help)                         \
    {option, 0, ASSAY__OPTION_##kind, AT(rewrites[ASSAY__REWRITE_AT_##NAME]), argument, help,     \
     choices, bare, 0, 0, false},
/* clang-format on */

static const struct assay__option options[] = {
    ASSAY__STRING_ROW("output", 'o', output, "FILE", "The ONNX file to write."),
    ASSAY__FLAG_ROW("list", 0, list, "List the models of the zoo with their parameters."),
    ASSAY__STRING_ROW("from", 0, from, "MODEL",
                      "Rewrite this model (a file or a name of the zoo)."),
    ASSAY__INTEGER_ROW("batch", batch, "N",
                       "Make the batch N; a fixed batch is changed where that is provably correct.",
                       1, 1e9),
    ASSAY__REWRITES(REWRITE_OPTION) ASSAY__FLAG_ROW(
        "no-drift", 0, no_drift, "Do not run the two models to compare their outputs."),
    ASSAY__LIST_ROW("shape", shapes, "INPUT=AxBxC",
                    "Shape of an input when outputs are compared; may be repeated. The only input "
                    "needs no name."),
    ASSAY__LIST_ROW("dim", dims, "NAME=N",
                    "Size of a symbolic dimension for that comparison; may be repeated."),
    ASSAY__INTEGER_ROW("seed", seed, "N", "Seed of the inputs used to compare outputs (default 0).",
                       0, 9e18),
    ASSAY__STRING_ROW("library", 0, library, "FILE",
                      "ONNX Runtime library used to compare outputs (default: $ASSAY_ORT_LIBRARY, "
                      "else the one set up here)."),
    ASSAY__FLAG_ROW("quiet", 0, quiet, "No progress."),
    ASSAY__RENDER_ROWS(ASSAY__VIEW_NAMES_AND("|json"), ASSAY__MAKE_TABLES),
    {0},
};

struct making {
    const struct make_options *options;
    struct assay__model *model;
    struct assay__rewrite_notes notes;
    struct assay__arena *arena;
    const char *steps[ASSAY__REWRITE_COUNT];
    struct assay__made made;
    struct assay__drift drift;
    struct assay__bar bar;
    struct assay_error error;
};

static void show_phase(struct making *make, const char *phase)
{
    struct assay_progress progress = {.phase = phase, .launch = 1, .launches = 1, .done = -1};
    assay__bar_update(&make->bar, &progress);
}

/* --- rewrites --------------------------------------------------------------------------------- */

#define REWRITE_KIND(NAME, kind, ...) ASSAY__OPTION_##kind,
static const enum assay__option_kind rewrite_kinds[] = {ASSAY__REWRITES(REWRITE_KIND)};

/* Whether a rewrite is requested, and with what value. */
static bool rewrite_asked(const struct make_options *o, size_t index,
                          struct assay__rewrite_request *request)
{
    const union rewrite_arguments *given = &o->rewrites[index];
    bool asked = false;
    if (rewrite_kinds[index] == ASSAY__OPTION_FLAG) {
        asked = given->flag;
    } else if (rewrite_kinds[index] == ASSAY__OPTION_LIST) {
        request->arguments = given->list.items;
        request->argument_count = given->list.count;
    } else {
        request->arguments = &given->text;
        request->argument_count = given->text != NULL;
    }
    if (index == ASSAY__REWRITE_AT_fix_dims) request->batch = o->batch;
    return asked || request->argument_count > 0 || request->batch > 0;
}

static bool rewrites(const struct make_options *o)
{
    for (size_t i = 0; i < ASSAY__REWRITE_COUNT; i++)
        if (rewrite_asked(o, i, &(struct assay__rewrite_request){0})) return true;
    return false;
}

/* What the two models run on when their outputs are compared. */
static struct assay__workload_options workload_of(const struct make_options *o)
{
    return (struct assay__workload_options){.dims = o->dims.items,
                                            .dim_count = o->dims.count,
                                            .shapes = o->shapes.items,
                                            .shape_count = o->shapes.count,
                                            .seed = (uint64_t)o->seed};
}

static struct assay__drift_options engine_of(struct making *make)
{
    return (struct assay__drift_options){.library = make->options->library,
                                         .interrupt = &assay__interrupted,
                                         .progress = assay__bar_update,
                                         .progress_context = &make->bar};
}

/* Applies a rewrite that needs to know which values exceed float16 on the inputs of this seed. If
 * that is unknown, a note says so; it is not a failure. */
static int apply_within_ranges(struct making *make, const struct assay__rewriter *rewriter,
                               struct assay__rewrite_request *request)
{
    const struct make_options *o = make->options;
    struct assay__workload_options workload = workload_of(o);
    struct assay__drift_options engine = engine_of(make);
    struct assay__activation_ranges ranges = {0};
    struct assay_error detail = {0};
    struct assay__map *large = assay__map_new();
    const char *reason = o->rewrites[ASSAY__REWRITE_AT_strip].text ? "the weights were removed"
                         : o->no_drift                             ? "nothing is run (--no-drift)"
                                                                   : NULL;
    /* inlined first, so that their values have names */
    int code = large ? assay__model_inline(make->model, &make->error) : ASSAY_ENOMEM;
    if (!code && !reason) {
        show_phase(make, "checking value ranges");
        int lost = assay__activation_ranges(make->model, ASSAY__HALF_LARGEST, &workload, &engine,
                                            &ranges, &detail);
        if (lost) reason = detail.message;
        if (lost == ASSAY_EINTERRUPTED || assay__interrupted)
            code = assay_error_set(&make->error, ASSAY_EINTERRUPTED,
                                   "interrupted; nothing was written");
    }
    if (!code && reason)
        code = assay__rewrite_note(&make->notes, "whether values overflow float16 is unknown: %s",
                                   reason);
    else if (!code)
        code = assay__rewrite_note(&make->notes,
                                   "%zu float32 values checked on the inputs of seed %" PRId64
                                   " (measured): the largest reaches %.3g%s",
                                   ranges.looked_at, o->seed, ranges.largest,
                                   ranges.bodies ? "; values inside subgraphs were not seen" : "");
    for (size_t i = 0; i < ranges.count && !code; i++) {
        code = assay__map_set(large, ranges.values[i].name, i);
        request->largest = fmax(request->largest, ranges.values[i].largest);
    }
    if (code == ASSAY_ENOMEM) assay_error_set(&make->error, code, "out of memory");
    request->large = large;
    if (!code) code = rewriter->apply(make->model, request, &make->notes, &make->error);
    assay__map_free(large);
    assay__activation_ranges_free(&ranges);
    return code;
}

static int rewrite_model(struct making *make)
{
    uint64_t start = assay__now_ns();
    int code = 0;
    for (size_t i = 0; i < ASSAY__REWRITE_COUNT && !code; i++) {
        const struct assay__rewriter *rewriter = assay__rewriter_at(i);
        struct assay__rewrite_request request = {0};
        if (!rewrite_asked(make->options, i, &request)) continue;
        show_phase(make, "rewriting");
        code = rewriter->needs_ranges
                   ? apply_within_ranges(make, rewriter, &request)
                   : rewriter->apply(make->model, &request, &make->notes, &make->error);
        make->steps[make->made.step_count++] = rewriter->step;
        if (rewriter->no_drift) make->made.drift_reason = rewriter->no_drift;
        if (rewriter->drift_note) make->made.drift_note = rewriter->drift_note;
        if (!code && assay__interrupted)
            code = assay_error_set(&make->error, ASSAY_EINTERRUPTED,
                                   "interrupted; nothing was written");
    }
    if (!code && make->made.rewritten) code = assay__model_check(make->model, &make->error);
    if (make->made.rewritten) make->made.rewrite_s = (double)(assay__now_ns() - start) / 1e9;
    return code;
}

/* --- the command ------------------------------------------------------------------------------ */

/* No part of the model may be overwritten: neither by the file nor by the FILE.data of a large
 * model. */
static int check_owned(struct making *make, const char *source)
{
    char data[PATH_MAX];
    const char *output = make->options->output;
    const char *how = assay__model_owns(make->model, source, make->made.zoo, output);
    if (how)
        return assay_error_set(&make->error, ASSAY_EINVAL,
                               "make: %.300s %s: write the new model elsewhere", output, how);
    if (snprintf(data, sizeof data, "%s.data", output) >= (int)sizeof data) return 0;
    how = assay__model_owns(make->model, source, make->made.zoo, data);
    return how ? assay_error_set(&make->error, ASSAY_EINVAL,
                                 "make: %.300s %s, and a new model of that name may overwrite it: "
                                 "choose another name",
                                 data, how)
               : 0;
}

static int check(const struct assay__invocation *invocation, const char **source)
{
    const struct make_options *o = invocation->options;
    struct stat out;
    *source = o->from ? o->from : invocation->argument_count ? invocation->arguments[0] : NULL;
    if (!*source)
        return assay__refuse("make: no model given: assay make NAME -o FILE builds a model of "
                             "the zoo (--list shows them), --from MODEL rewrites one");
    if (o->from && invocation->argument_count)
        return assay__refuse("make: '%s' and --from cannot be used together",
                             invocation->arguments[0]);
    if (!o->from && assay__file_exists(*source))
        return assay__refuse("make: %s is a file; to rewrite it: assay make --from %s …", *source,
                             *source);
    int status = assay__render_check("make", &o->render);
    if (!status) status = assay__shape_check("make", &o->dims, &o->shapes);
    if (!status && (o->dims.count || o->shapes.count) && (o->no_drift || !rewrites(o)))
        status = assay__refuse("make: --shape and --dim are for the comparison of outputs, and "
                               "nothing is compared here");
    for (size_t i = 0; i < ASSAY__REWRITE_COUNT && !status; i++) {
        const struct assay__rewriter *rewriter = assay__rewriter_at(i);
        struct assay__rewrite_request request = {0};
        struct assay_error error = {0};
        if (rewrite_asked(o, i, &request) && rewriter->check &&
            rewriter->check(request.arguments, request.argument_count, &error))
            status = assay__refuse("make: --%s: %s", assay__rewrite_option(i), error.message);
    }
    if (status) return status;
    if (o->from && !rewrites(o))
        return assay__refuse(
            "make: --from %s: nothing to do; options that change a model: --batch" REWRITE_NAMES,
            *source);
    if (!o->output)
        return assay__refuse(
            "make: -o FILE is missing, for example: assay make %s%s%s -o model.onnx",
            o->from ? "--from " : "", *source, o->from ? " …" : "");
    if (assay__report_file_is_database(o->output))
        return assay__refuse("make: '%s' is a profile or another database, so the model does not "
                             "replace it; give another name",
                             o->output);
    if (stat(o->output, &out) || !S_ISDIR(out.st_mode)) return 0;
    assay__say("make: cannot write '%s': it is a folder", o->output);
    return ASSAY__EXIT_FAILED; /* like any path that cannot be written */
}

static size_t count_nodes(const struct assay__graph *graph)
{
    size_t count = graph->node_count;
    for (size_t n = 0; n < graph->node_count; n++)
        for (size_t a = 0; a < graph->nodes[n].attr_count; a++)
            if (graph->nodes[n].attrs[a].g) count += count_nodes(graph->nodes[n].attrs[a].g);
    return count;
}

static int write_model(struct making *make)
{
    struct assay__made *made = &make->made;
    struct stat file;
    char data[PATH_MAX];
    uint64_t start = assay__now_ns();
    time_t began = time(NULL);
    show_phase(make, "writing");
    int code = assay__model_write_until(make->model, made->path, &assay__interrupted, &make->error);
    made->write_s = (double)(assay__now_ns() - start) / 1e9;
    if (code) return code;
    if (stat(made->path, &file) == 0) made->bytes = (uint64_t)file.st_size;
    /* beyond protobuf's limit the weights are in FILE.data, if that was just written */
    if (snprintf(data, sizeof data, "%s.data", made->path) < (int)sizeof data &&
        stat(data, &file) == 0 && file.st_mtime >= began)
        made->bytes += (uint64_t)file.st_size;
    if (made->rewritten && !made->zoo && stat(made->source, &file) == 0 && S_ISREG(file.st_mode) &&
        made->bytes > (uint64_t)file.st_size && file.st_size > 0 &&
        assay__rewrite_note(&make->notes, "the file is %.2f × as large as %s",
                            (double)made->bytes / (double)file.st_size, made->source))
        return ASSAY_ENOMEM;
    made->parameters_known = assay__model_parameters(make->model, &made->parameters,
                                                     &made->parameter_bytes);
    made->nodes = count_nodes(&make->model->graph);
    made->opset = assay__model_opset(make->model, "");
    made->ir = make->model->ir_version;
    if (assay__interrupted)
        return assay_error_set(
            &make->error, ASSAY_EINTERRUPTED,
            "interrupted; %.200s was written completely, but its outputs were not compared",
            made->path);
    return 0;
}

/* A zoo model is not a file yet: the original is written to a private folder. */
static int original(struct making *make, const char *source, char *path, size_t size, char *folder,
                    size_t folder_size)
{
    struct assay__model *model = NULL;
    folder[0] = '\0';
    if (!make->made.zoo) {
        snprintf(path, size, "%s", source);
        return 0;
    }
    int code = assay__folder_temporary(folder, folder_size, &make->error);
    if (!code && assay__path_join(folder, "original.onnx", path, size))
        code = assay_error_set(&make->error, ASSAY_ELIMIT, "the temporary path is too long");
    if (!code) code = assay__zoo_build(source, &model, &make->error);
    if (!code) code = assay__model_write_until(model, path, &assay__interrupted, &make->error);
    assay__model_free(model);
    return code;
}

/* The file is kept whatever the result. Status: a rewritten model that does not run is a
 * failure. */
static int measure_drift(struct making *make, const char *source)
{
    char path[PATH_MAX], folder[PATH_MAX];
    if (!make->made.rewritten || *make->made.drift_reason) return ASSAY__EXIT_DONE;
    if (make->options->no_drift) {
        make->made.drift_reason = "not requested (--no-drift)";
        return ASSAY__EXIT_DONE;
    }
    struct assay__workload_options workload = workload_of(make->options);
    struct assay__drift_options run = engine_of(make);
    show_phase(make, "comparing outputs");
    int code = original(make, source, path, sizeof path, folder, sizeof folder);
    if (!code)
        code = assay__drift(path, make->made.path, &workload, &run, &make->drift, &make->error);
    if (*folder) assay__folder_remove(folder);
    if (!code) {
        make->made.drift = &make->drift;
        return ASSAY__EXIT_DONE;
    }
    make->made.drift_reason = make->error.message;
    if (code == ASSAY_EINTERRUPTED) return ASSAY__EXIT_INTERRUPTED;
    return strncmp(make->error.message, "the rewritten model", 19) == 0 ? ASSAY__EXIT_FAILED
                                                                        : ASSAY__EXIT_DONE;
}

static int make_model(struct making *make, const char *source)
{
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    uint64_t start = assay__now_ns();
    show_phase(make, "reading");
    int code = assay__model_open(source, &make->model, &make->made.zoo, &make->error);
    make->made.build_s = (double)(assay__now_ns() - start) / 1e9;
    if (!code && !assay__model_is_onnx(make->model))
        code = assay_error_set(&make->error, ASSAY_EUNSUPPORTED,
                               "%.200s is a %s: it can be inspected, but not converted to ONNX",
                               source, make->model->format);
    if (!code && !make->made.zoo) code = assay__model_check(make->model, &make->error);
    if (!code) code = check_owned(make, source);
    if (!code) code = rewrite_model(make);
    if (!code) code = write_model(make);
    if (code) {
        assay__bar_erase(&make->bar);
        return assay__fail(code, &make->error);
    }
    int status = measure_drift(make, source);
    assay__bar_erase(&make->bar);
    if (assay__wants_json(&make->options->render))
        assay__make_json(&out, &make->made);
    else if (assay__make_document(&make->made, &doc))
        out.failed = true;
    int printed = assay__print_document(&make->options->render, doc, &out);
    const struct assay__render_options *render = &make->options->render;
    if (make->made.drift && !make->options->quiet)
        assay__say_assumed(render->json ? "json" : render->format, make->drift.assumed);
    if (status == ASSAY__EXIT_FAILED) assay__say("%s", make->made.drift_reason);
    return status ? status : printed;
}

static int make_or_list(struct assay__invocation *invocation)
{
    struct make_options *o = invocation->options;
    const char *source = NULL;
    assay__render_top(invocation, &o->render);
    if (o->list && (invocation->argument_count || o->output || o->from || rewrites(o)))
        return assay__refuse("make: --list only shows the zoo: give no model and no -o");
    if (o->list) return assay__print_list("make", &o->render, assay__zoo_json, assay__zoo_document);
    int status = check(invocation, &source);
    if (status) return status;
    struct making *make = calloc(1, sizeof *make);
    if (make) make->arena = assay__arena_new();
    if (!make || !make->arena) {
        free(make);
        return assay__fail(ASSAY_ENOMEM, NULL);
    }
    make->options = o;
    make->notes.arena = make->arena;
    make->made = (struct assay__made){.source = source,
                                      .path = o->output,
                                      .steps = make->steps,
                                      .notes = &make->notes,
                                      .rewritten = rewrites(o),
                                      .rewrite_s = NAN,
                                      .drift_reason = ""};
    assay__catch_interrupts();
    assay__bar_start(&make->bar, "make", o->quiet);
    status = make_model(make, source);
    assay__drift_free(&make->drift);
    assay__model_free(make->model);
    assay__arena_free(make->arena);
    free(make);
    return status;
}

const struct assay__command assay__command_make = {
    .name = "make",
    .summary = "build a model of the zoo, or rewrite a model, into an ONNX file",
    .arguments = "NAME -o FILE | --from MODEL -o FILE | --list",
    .min_arguments = 0, /* --list and --from need none; otherwise make_or_list() requires it */
    .max_arguments = 1,
    .description =
        "Builds NAME, a model of the zoo with parameters (resnet50:batch=8; --list shows them), or "
        "rewrites the model given with --from, into the ONNX file given with -o.\n\nRewrites are "
        "applied in this order, whatever the order of the options:" REWRITE_NAMES
        " (--batch goes with --fix-dim). Then the original and the rewritten model run once on the "
        "same seeded inputs, on the CPU, and the drift of every output is printed: largest "
        "absolute error, relative L2, cosine, and how often the largest element is at the same "
        "index.",
    .examples = "  assay make resnet50 -o resnet50.onnx\n"
                "  assay make cfc:units=64,outputs=16 -o cfc.onnx\n"
                "  assay make --from model.onnx --float16 -o half.onnx\n"
                "  assay make --from model.onnx --int8 dynamic --batch 8 -o int8.onnx\n"
                "  assay make --from model.onnx --extract data..relu1,relu2 -o part.onnx\n",
    .options = options,
    .options_size = sizeof(struct make_options),
    .run = make_or_list,
};
