/* cmd_make.c - assay make: build a model of the zoo, or rewrite one, into an ONNX file, and say
 * what the rewrite did to its outputs. Steps are rows of one table and are applied in its order. */
#include "base/clock.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/render_options.h"
#include "base/text.h"
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
#define STRIP_KEEP "16"

struct make_options {
    const char *output, *from, *extract, *int8, *strip, *library;
    int64_t batch, seed;
    struct assay__option_list fix, repeat;
    bool list, float16, no_drift, quiet;
    struct assay__render_options render;
};

#define AT(member) offsetof(struct make_options, member)
#define FLAG(name, member, help)                                                     \
    {                                                                                \
        name, 0, ASSAY__OPTION_FLAG, AT(member), NULL, help, NULL, NULL, 0, 0, false \
    }

static const struct assay__option options[] = {
    {"output", 'o', ASSAY__OPTION_STRING, AT(output), "FILE", "The ONNX file to write.", NULL, NULL,
     0, 0, false},
    FLAG("list", list, "List the models of the zoo with their parameters."),
    {"from", 0, ASSAY__OPTION_STRING, AT(from), "MODEL",
     "Rewrite this model (a file or a name of the zoo).", NULL, NULL, 0, 0, false},
    {"fix-dim", 0, ASSAY__OPTION_LIST, AT(fix), "NAME=N",
     "Make a symbolic dimension a number; may be given again.", NULL, NULL, 0, 0, false},
    {"batch", 0, ASSAY__OPTION_INTEGER, AT(batch), "N",
     "Make the batch N; a fixed one is changed where that can be shown to be right.", NULL, NULL, 1,
     1e9, false},
    {"extract", 0, ASSAY__OPTION_STRING, AT(extract), "FROM..TO",
     "Keep what lies between these tensors (names separated by commas; an empty side: the model's "
     "inputs or outputs).",
     NULL, NULL, 0, 0, false},
    {"repeat", 0, ASSAY__OPTION_LIST, AT(repeat), "NODE=N",
     "Run one node N times, on the same values; may be given again.", NULL, NULL, 0, 0, false},
    {"int8", 0, ASSAY__OPTION_CHOICE, AT(int8), "HOW",
     "Weights as int8, dequantised when used (weights), or integer products with activations "
     "quantised while running (dynamic).",
     "weights|dynamic", NULL, 0, 0, false},
    FLAG("float16", float16, "Calculate in float16; inputs and outputs stay float32."),
    {"strip", 0, ASSAY__OPTION_STRING, AT(strip), "KEEP",
     "Take the weights out; tensors of at most KEEP elements stay (default " STRIP_KEEP ").", NULL,
     STRIP_KEEP, 0, 0, false},
    FLAG("no-drift", no_drift, "Do not run the two models to compare their outputs."),
    {"seed", 0, ASSAY__OPTION_INTEGER, AT(seed), "N",
     "Seed of the inputs the outputs are compared on (default 0).", NULL, NULL, 0, 9e18, false},
    {"library", 0, ASSAY__OPTION_STRING, AT(library), "FILE",
     "ONNX Runtime's library for that (default: $ASSAY_ORT_LIBRARY, else the one set up here).",
     NULL, NULL, 0, 0, false},
    FLAG("quiet", quiet, "No progress."),
    ASSAY__RENDER_ROWS(ASSAY__VIEW_NAMES_AND("|json"), ASSAY__MAKE_TABLES),
    {NULL, 0, ASSAY__OPTION_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, false},
};

struct making {
    const struct make_options *options;
    struct assay__model *model;
    struct assay__rewrite_notes notes;
    struct assay__arena *arena;
    const char *steps[16];
    struct assay__made made;
    struct assay__drift drift;
    struct assay__bar bar;
    struct assay_error error;
};

static int usage(const char *option, const char *value, const char *expected)
{
    assay__say("make: --%s: '%s' is not %s", option, value, expected);
    return ASSAY__EXIT_USAGE;
}

static void tell(struct making *make, const char *phase)
{
    struct assay_progress progress = {phase, 1, 1, -1};
    assay__bar_update(&make->bar, &progress);
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool wants_fix(const struct make_options *o)
{
    return o->fix.count > 0 || o->batch > 0;
}

static int do_fix(struct making *make)
{
    const struct make_options *o = make->options;
    return assay__rewrite_fix_dims(make->model, o->fix.items, o->fix.count, o->batch, &make->notes,
                                   &make->error);
}

static bool wants_extract(const struct make_options *o)
{
    return o->extract != NULL;
}

/* "a,b" cut into the arena. */
static int cut_names(struct making *make, const char *text, size_t length, const char ***names,
                     size_t *count)
{
    size_t most = 1;
    for (size_t i = 0; i < length; i++)
        most += text[i] == ',';
    *count = 0;
    *names = assay__arena_array(make->arena, most, sizeof **names);
    if (!*names) return ASSAY_ENOMEM;
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && text[end] != ',')
            end++;
        if (end > at &&
            !((*names)[(*count)++] = assay__arena_strndup(make->arena, text + at, end - at)))
            return ASSAY_ENOMEM;
        at = end + 1;
    }
    return 0;
}

static int do_extract(struct making *make)
{
    const char *text = make->options->extract, *dots = strstr(text, "..");
    const char **from = NULL, **to = NULL;
    size_t from_count = 0, to_count = 0;
    if (cut_names(make, text, (size_t)(dots - text), &from, &from_count) ||
        cut_names(make, dots + 2, strlen(dots + 2), &to, &to_count))
        return assay_error_set(&make->error, ASSAY_ENOMEM, "out of memory");
    return assay__rewrite_extract(make->model, from, from_count, to, to_count, &make->notes,
                                  &make->error);
}

static bool wants_repeat(const struct make_options *o)
{
    return o->repeat.count > 0;
}

/* The last '=': a node's name may hold one. */
static int do_repeat(struct making *make)
{
    int code = 0;
    for (size_t i = 0; i < make->options->repeat.count && !code; i++) {
        const char *text = make->options->repeat.items[i], *equals = strrchr(text, '=');
        const char *name = assay__arena_strndup(make->arena, text, (size_t)(equals - text));
        int64_t times = 0;
        assay__text_int64(equals + 1, &times);
        code = name ? assay__rewrite_repeat(make->model, name, times, &make->notes, &make->error)
                    : assay_error_set(&make->error, ASSAY_ENOMEM, "out of memory");
    }
    return code;
}

static bool wants_int8(const struct make_options *o)
{
    return o->int8 != NULL;
}

static int do_int8(struct making *make)
{
    return strcmp(make->options->int8, "weights") == 0
               ? assay__rewrite_weights_int8(make->model, &make->notes, &make->error)
               : assay__rewrite_dynamic_int8(make->model, &make->notes, &make->error);
}

static bool wants_float16(const struct make_options *o)
{
    return o->float16;
}

static struct assay__drift_options engine_of(struct making *make)
{
    return (struct assay__drift_options){.library = make->options->library,
                                         .interrupt = &assay__interrupted,
                                         .progress = assay__bar_update,
                                         .progress_context = &make->bar};
}

/* Which values go beyond float16 on the inputs of this seed. That it is not known is said, and no
 * failure. */
static int look_at_ranges(struct making *make, struct assay__activation_ranges *ranges)
{
    const struct make_options *o = make->options;
    struct assay__workload_options workload = {.seed = (uint64_t)o->seed};
    struct assay__drift_options engine = engine_of(make);
    struct assay_error detail = {0};
    const char *reason = o->strip      ? "the weights are taken out"
                         : o->no_drift ? "nothing is run (--no-drift)"
                                       : NULL;
    int code = assay__model_inline(make->model, &make->error); /* their values have names then */
    if (code) return code;
    if (!reason) {
        tell(make, "looking at ranges");
        code = assay__activation_ranges(make->model, ASSAY__HALF_LARGEST, &workload, &engine,
                                        ranges, &detail);
        if (code == ASSAY_EINTERRUPTED || assay__interrupted)
            return assay_error_set(&make->error, ASSAY_EINTERRUPTED,
                                   "interrupted; nothing was written");
        if (code) reason = detail.message;
    }
    if (reason)
        return assay__rewrite_note(&make->notes, "whether values overflow float16 is not known: %s",
                                   reason);
    return assay__rewrite_note(&make->notes,
                               "%zu float32 values looked at on the inputs of seed %" PRId64
                               " (measured): the largest reaches %.3g%s",
                               ranges->looked_at, o->seed, ranges->largest,
                               ranges->bodies ? "; those inside of bodies were not seen" : "");
}

static int do_float16(struct making *make)
{
    struct assay__activation_ranges ranges = {0};
    struct assay__map *large = assay__map_new();
    double largest = 0;
    int code = large ? look_at_ranges(make, &ranges) : ASSAY_ENOMEM;
    for (size_t i = 0; i < ranges.count && !code; i++) {
        code = assay__map_set(large, ranges.values[i].name, i);
        if (ranges.values[i].largest > largest) largest = ranges.values[i].largest;
    }
    if (code == ASSAY_ENOMEM) assay_error_set(&make->error, code, "out of memory");
    if (!code)
        code = assay__rewrite_float16_within(make->model, large, largest, &make->notes,
                                             &make->error);
    assay__map_free(large);
    assay__activation_ranges_free(&ranges);
    make->made.float16 = true;
    return code;
}

static bool wants_strip(const struct make_options *o)
{
    return o->strip != NULL;
}

static int do_strip(struct making *make)
{
    int64_t keep = 0;
    assay__text_int64(make->options->strip, &keep);
    return assay__rewrite_strip(make->model, keep, &make->notes, &make->error);
}

static const struct {
    const char *name;
    bool (*wanted)(const struct make_options *o);
    int (*apply)(struct making *make);
    const char *no_drift; /* why its outputs cannot be set against the original's; NULL: they can */
} steps[] = {
    {"fix", wants_fix, do_fix, NULL},
    {"extract", wants_extract, do_extract, "a part of a model has other inputs and outputs"},
    {"repeat", wants_repeat, do_repeat, NULL},
    {"int8", wants_int8, do_int8, NULL},
    {"float16", wants_float16, do_float16, NULL},
    {"strip", wants_strip, do_strip, "the weights were taken out"},
};

#define STEP_COUNT (sizeof steps / sizeof steps[0])

static bool rewrites(const struct make_options *o)
{
    for (size_t i = 0; i < STEP_COUNT; i++)
        if (steps[i].wanted(o)) return true;
    return false;
}

static int rewrite(struct making *make)
{
    uint64_t start = assay__now_ns();
    int code = 0;
    for (size_t i = 0; i < STEP_COUNT && !code; i++) {
        if (!steps[i].wanted(make->options)) continue;
        tell(make, "rewriting");
        code = steps[i].apply(make);
        make->steps[make->made.step_count++] = steps[i].name;
        if (steps[i].no_drift) make->made.drift_reason = steps[i].no_drift;
        if (!code && assay__interrupted)
            code = assay_error_set(&make->error, ASSAY_EINTERRUPTED,
                                   "interrupted; nothing was written");
    }
    if (!code && make->made.rewritten) code = assay__model_check(make->model, &make->error);
    if (make->made.rewritten) make->made.rewrite_s = (double)(assay__now_ns() - start) / 1e9;
    return code;
}

/* --- the command ------------------------------------------------------------------------------ */

static int check_output(const struct make_options *o, const char *source)
{
    struct stat out;
    if (!o->output) {
        assay__say("make: -o FILE is missing, for example: assay make %s%s%s -o model.onnx",
                   o->from ? "--from " : "", source, o->from ? " …" : "");
        return ASSAY__EXIT_USAGE;
    }
    if (stat(o->output, &out)) return 0;
    if (S_ISDIR(out.st_mode)) {
        assay__say("make: cannot write '%s': it is a folder", o->output);
        return ASSAY__EXIT_FAILED; /* as any path that cannot be written */
    }
    return 0;
}

/* Nothing the model is made of may be replaced: not by the file, nor by the FILE.data that a large
 * one gets. */
static int check_owned(struct making *make, const char *source)
{
    char data[PATH_MAX];
    const char *output = make->options->output;
    const char *how = assay__model_owns(make->model, source, make->made.zoo, output);
    if (how)
        return assay_error_set(&make->error, ASSAY_EINVAL,
                               "make: %.300s %s: write the new one elsewhere", output, how);
    if (snprintf(data, sizeof data, "%s.data", output) >= (int)sizeof data) return 0;
    how = assay__model_owns(make->model, source, make->made.zoo, data);
    return how ? assay_error_set(&make->error, ASSAY_EINVAL,
                                 "make: %.300s %s, and a new model of that name may put its own "
                                 "there: give it another name",
                                 data, how)
               : 0;
}

static bool listed_twice(const struct assay__option_list *list, size_t i, size_t length)
{
    for (size_t k = 0; k < i; k++)
        if (strncmp(list->items[k], list->items[i], length) == 0) return true;
    return false;
}

/* --fix-dim and --repeat: of the form NAME=N, every name once. */
static int check_pairs(const struct make_options *o)
{
    int64_t number = 0;
    for (size_t i = 0; i < o->fix.count; i++) {
        const char *equals = strchr(o->fix.items[i], '=');
        if (!equals || equals == o->fix.items[i])
            return usage("fix-dim", o->fix.items[i], "of the form NAME=N");
        size_t length = (size_t)(equals - o->fix.items[i]);
        if (!listed_twice(&o->fix, i, length + 1)) continue;
        assay__say("make: --fix-dim: '%.*s' is given twice", (int)length, o->fix.items[i]);
        return ASSAY__EXIT_USAGE;
    }
    for (size_t i = 0; i < o->repeat.count; i++) {
        const char *equals = strrchr(o->repeat.items[i], '=');
        if (!equals || equals == o->repeat.items[i] || assay__text_int64(equals + 1, &number))
            return usage("repeat", o->repeat.items[i], "of the form NODE=N");
    }
    return 0;
}

/* "a,b,a": a name that stands there twice, or NULL; its length. */
static const char *named_twice(const char *text, size_t size, size_t *length)
{
    for (size_t at = 0; at < size; at += *length + 1) {
        for (*length = 0; at + *length < size && text[at + *length] != ',';)
            ++*length;
        for (size_t before = 0, other; *length && before < at; before += other + 1) {
            for (other = 0; text[before + other] != ',';)
                other++;
            if (other == *length && memcmp(text + before, text + at, other) == 0) return text + at;
        }
    }
    return NULL;
}

static int check_extract(const char *text)
{
    const char *dots = strstr(text, ".."), *twice;
    size_t length = 0;
    if (!dots) return usage("extract", text, "of the form FROM..TO");
    twice = named_twice(text, (size_t)(dots - text), &length);
    if (!twice) twice = named_twice(dots + 2, strlen(dots + 2), &length);
    if (!twice) return 0;
    assay__say("make: --extract: '%.*s' is given twice", (int)length, twice);
    return ASSAY__EXIT_USAGE;
}

static int check(const struct assay__invocation *invocation, const char **source)
{
    const struct make_options *o = invocation->options;
    int64_t number = 0;
    *source = o->from ? o->from : invocation->argument_count ? invocation->arguments[0] : NULL;
    if (!*source) {
        assay__say("make: what shall be made? assay make NAME -o FILE builds a model of the zoo "
                   "(--list shows them), --from MODEL rewrites one");
        return ASSAY__EXIT_USAGE;
    }
    if (o->from && invocation->argument_count) {
        assay__say("make: '%s' and --from exclude each other", invocation->arguments[0]);
        return ASSAY__EXIT_USAGE;
    }
    if (!o->from && assay__file_exists(*source)) {
        assay__say("make: %s is a file; to rewrite it: assay make --from %s …", *source, *source);
        return ASSAY__EXIT_USAGE;
    }
    int status = assay__render_check("make", &o->render);
    if (!status) status = check_pairs(o);
    if (!status && o->extract) status = check_extract(o->extract);
    if (status) return status;
    if (o->strip && (assay__text_int64(o->strip, &number) || number < 0))
        return usage("strip", o->strip, "a number of elements");
    if (o->from && !rewrites(o)) {
        assay__say("make: --from %s: nothing to do; --float16, --int8, --batch, --fix-dim, "
                   "--extract, --repeat and --strip change a model",
                   *source);
        return ASSAY__EXIT_USAGE;
    }
    return check_output(o, *source);
}

static int open_source(struct making *make, const char *source)
{
    uint64_t start = assay__now_ns();
    tell(make, "reading");
    int code = assay__model_open(source, &make->model, &make->made.zoo, &make->error);
    make->made.build_s = (double)(assay__now_ns() - start) / 1e9;
    if (code) return code;
    if (!assay__model_is_onnx(make->model))
        return assay_error_set(&make->error, ASSAY_EUNSUPPORTED,
                               "%.200s is a %s: it can be inspected, but its operators are read by "
                               "meaning and not converted, so it cannot be written as ONNX",
                               source, make->model->format);
    return make->made.zoo ? 0 : assay__model_check(make->model, &make->error);
}

static size_t count_nodes(const struct assay__graph *graph)
{
    size_t count = graph->node_count;
    for (size_t n = 0; n < graph->node_count; n++)
        for (size_t a = 0; a < graph->nodes[n].attr_count; a++)
            if (graph->nodes[n].attrs[a].g) count += count_nodes(graph->nodes[n].attrs[a].g);
    return count;
}

/* A model beyond protobuf's limit has its weights in FILE.data: bytes of that one, when it was
 * written just now. */
static uint64_t data_bytes(const char *path, time_t began)
{
    char data[PATH_MAX];
    struct stat file;
    if (snprintf(data, sizeof data, "%s.data", path) >= (int)sizeof data) return 0;
    return stat(data, &file) == 0 && file.st_mtime >= began ? (uint64_t)file.st_size : 0;
}

static int write_model(struct making *make)
{
    struct assay__made *made = &make->made;
    struct stat file;
    uint64_t start = assay__now_ns();
    time_t began = time(NULL);
    tell(make, "writing");
    int code = assay__model_write_until(make->model, made->path, &assay__interrupted, &make->error);
    made->write_s = (double)(assay__now_ns() - start) / 1e9;
    if (code) return code;
    if (stat(made->path, &file) == 0) made->bytes = (uint64_t)file.st_size;
    made->bytes += data_bytes(made->path, began);
    made->parameters_known = assay__model_parameters(make->model, &made->parameters,
                                                     &made->parameter_bytes);
    made->nodes = count_nodes(&make->model->graph);
    made->opset = assay__model_opset(make->model, "");
    made->ir = make->model->ir_version;
    if (assay__interrupted)
        return assay_error_set(
            &make->error, ASSAY_EINTERRUPTED,
            "interrupted; %.200s was written whole, its outputs were not compared", made->path);
    return 0;
}

/* A model of the zoo is no file yet: the original is written to a private folder. */
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

/* The file stands whatever comes out here. Status: a rewritten model that does not run is a
 * failure. */
static int measure_drift(struct making *make, const char *source)
{
    char path[PATH_MAX], folder[PATH_MAX];
    if (!make->made.rewritten || *make->made.drift_reason) return ASSAY__EXIT_DONE;
    if (make->options->no_drift) {
        make->made.drift_reason = "not asked for (--no-drift)";
        return ASSAY__EXIT_DONE;
    }
    struct assay__workload_options workload = {.seed = (uint64_t)make->options->seed};
    struct assay__drift_options run = engine_of(make);
    tell(make, "comparing outputs");
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
    int code = open_source(make, source);
    if (!code) code = check_owned(make, source);
    if (!code) code = rewrite(make);
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
    if (status == ASSAY__EXIT_FAILED) assay__say("%s", make->made.drift_reason);
    return status ? status : printed;
}

static int list_zoo(const struct assay__invocation *invocation)
{
    const struct make_options *o = invocation->options;
    if (!invocation->argument_count && !o->output && !o->from && !rewrites(o))
        return assay__print_list("make", &o->render, assay__zoo_json, assay__zoo_document);
    assay__say("make: --list shows the zoo and makes nothing: no model, no -o");
    return ASSAY__EXIT_USAGE;
}

static int run(struct assay__invocation *invocation)
{
    struct make_options *o = invocation->options;
    const char *source = NULL;
    assay__render_top(invocation, &o->render);
    if (o->list) return list_zoo(invocation);
    int status = check(invocation, &source);
    if (status) return status;
    struct making *make = calloc(1, sizeof *make);
    if (make) make->arena = assay__arena_new();
    if (!make || !make->arena) {
        free(make);
        assay__say("out of memory");
        return ASSAY__EXIT_FAILED;
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
    assay__bar_start(&make->bar, o->quiet);
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
    .min_arguments = 0, /* --list and --from need none; else run() insists */
    .max_arguments = 1,
    .description = "Builds NAME, a model of the zoo with parameters (resnet50:batch=8; --list "
                   "shows them), or rewrites the model "
                   "given with --from, into the ONNX file given with -o.\n\n"
                   "Rewrites are applied in this order, whatever the order of the options: "
                   "dimensions (--fix-dim, --batch), "
                   "--extract, --repeat, --int8, --float16, --strip. Then the original and the "
                   "rewritten model run once on the same "
                   "seeded inputs, on the CPU, and the drift of every output is printed: largest "
                   "absolute error, relative L2, "
                   "cosine, and how often the largest element stands at the same place.",
    .examples = "  assay make resnet50 -o resnet50.onnx\n"
                "  assay make cfc:units=64,outputs=16 -o cfc.onnx\n"
                "  assay make --from model.onnx --float16 -o half.onnx\n"
                "  assay make --from model.onnx --int8 dynamic --batch 8 -o int8.onnx\n"
                "  assay make --from model.onnx --extract data..relu1,relu2 -o part.onnx\n",
    .options = options,
    .options_size = sizeof(struct make_options),
    .run = run,
};
