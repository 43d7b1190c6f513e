/* predict_machine.c - efficiencies of this machine: a set of small models is run once, the fit is
 * saved per machine and user next to its ceilings, and `predict --chip this` uses it.
 *
 *   {"assay_predict": 1, "key", "measured_at", "engine", "rows": [{"model", "family", "p50_s",
 *     "low_s", "high_s"}],
 *    "fit": {"conv": …}, "out": {"median", "p90", "count"}, "in": { … }}
 *
 * The fit uses the fastest launch median: other load can only make a launch slower. A launch
 * that other processes disturbed is repeated. Validation leaves out one family of models at a time.
 * The file is untrusted: every number is checked. */
#include "predict/predict.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/file.h"
#include "base/json.h"
#include "base/stats.h"
#include "ceiling/ceiling.h"
#include "model/cache_file.h"

#include "run/run_options.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT 1
#define FILE_MOST ((size_t)1 << 20)
#define ROWS_MOST 1024
#define TIMEOUT_S 60
#define LAUNCHES_MOST 200
#define DISTURBED 0.1 /* share of the CPU time that others took */

/* --- the sets --------------------------------------------------------------------------------- */

/* `small`: at most about 60 s with three launches of 0.3 s, most of it starting workers. */
static const struct {
    const char *model;
    bool small;
} sets[] = {
    {"cfc:units=64,outputs=16", true},
    {"cfc:units=64,outputs=16,backbone_units=64,backbone_layers=2", false},
    {"ltc:units=64,outputs=16", true},
    {"lora:size=small", true},
    {"lora:size=medium", false},
    {"lora:size=large", false},
    {"softmax", true},
    {"layernorm", true},
    {"rmsnorm", false},
    {"gelu", true},
    {"gelu:form=tanh", false},
    {"matmul:m=256,n=256,k=256", true},
    {"matmul:m=512,n=512,k=512", false},
    {"matmul", true},
    {"matmul:m=1,n=2048,k=2048", true},
    {"attention", true},
    {"attention:seq=512", false},
    {"mlp", true},
    {"mlp:layers=4,width=1024,inputs=256", true},
    {"lstm:seq=32,batch=1", true},
    {"gru:seq=32,batch=1", true},
    {"resnet18", true},
    {"resnet50", false},
    {"mobilenetv2", true},
    {"mobilenetv3-small", true},
    {"squeezenet", true},
    {"efficientnet-b0", false},
    {"unet", false},
    {"vit", false},
    {"bert:seq=128", false},
    {"distilbert:seq=128", true},
    {"gpt2:phase=prefill,seq=32", false},
    {"gpt2:phase=prefill,seq=128", false},
    {"gpt2:phase=decode,past=128", true},
    {"llama:size=15m,phase=prefill,seq=64", true},
    {"llama:size=15m,phase=decode,past=64", true},
    {"llama:phase=decode,past=64", false},
};
#define SETS (sizeof sets / sizeof sets[0])

/* Models of one kind are left out together. */
static const char *family_of(const char *model, struct assay__arena *arena)
{
    static const char *const known[][2] = {{"cfc", "ncp"},
                                           {"ltc", "ncp"},
                                           {"resnet", "resnet"},
                                           {"mobilenet", "mobilenet"},
                                           {"inception", "inception"},
                                           {"gpt2", "decoder"},
                                           {"llama", "decoder"},
                                           {"bert", "encoder"},
                                           {"distilbert", "encoder"},
                                           {"lstm", "recurrent"},
                                           {"gru", "recurrent"}};
    const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
    if (strncmp(name, "light_", 6) == 0) name += 6; /* the models of the onnx package */
    if (strncmp(name, "bvlc_", 5) == 0) name += 5;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(name, known[i][0], strlen(known[i][0])) == 0) return known[i][1];
    return assay__arena_strndup(arena, name, strcspn(name, ":.0123456789-"));
}

/* --- measuring -------------------------------------------------------------------------------- */

/* The launches of one model. Disturbed ones count only if all were disturbed. */
struct launches {
    double clean_s[LAUNCHES_MOST], disturbed_s[LAUNCHES_MOST];
    size_t clean, disturbed;
};

static int launch(struct assay__arena *arena, const char *model,
                  const struct assay__calibrate_options *o, struct assay__calibration *out,
                  struct launches *l, struct assay_error *error)
{
    struct assay_profile *profile = NULL;
    const struct assay__run_options run = {
        .workload = {.model = model},
        .measuring = {.launches = 1,
                      .time_s = o->time_s > 0 ? o->time_s : 0.3,
                      .timeout_s = TIMEOUT_S},
        .callbacks = {.interrupt = o->interrupt},
    };
    int code = assay__run(&run, &profile, error);
    const struct assay__trial *trial = !code && profile->trial_count ? &profile->trials[0] : NULL;
    const struct assay_metric *p50 = NULL, *other = NULL;
    if (trial) p50 = assay_metrics_get(trial->metrics, "latency.p50");
    if (trial) other = assay_metrics_get(trial->metrics, "disturbance.cpu_other");
    if (p50 && p50->value > 0) {
        if (other && other->value > DISTURBED)
            l->disturbed_s[l->disturbed++] = p50->value;
        else
            l->clean_s[l->clean++] = p50->value;
        if (!out->engine)
            out->engine = assay__arena_printf(arena, "%s %s", trial->target.engine,
                                              trial->target.engine_version);
    }
    assay_profile_close(profile);
    return code;
}

/* As many undisturbed launches as requested, in at most twice as many attempts. */
static int measure_one(struct assay__arena *arena, const char *model,
                       const struct assay__calibrate_options *o, struct assay__calibration *out,
                       struct assay_error *error)
{
    struct launches l = {.clean = 0};
    size_t wanted_launches = o->launches > 0 ? (size_t)o->launches : 3, tries = 0;
    int code = 0;
    if (wanted_launches > LAUNCHES_MOST / 2) wanted_launches = LAUNCHES_MOST / 2;
    while (!code && l.clean < wanted_launches && tries++ < 2 * wanted_launches)
        code = launch(arena, model, o, out, &l, error);
    if (code == ASSAY_EINTERRUPTED || code == ASSAY_ENOMEM) return code;
    double *times = l.clean ? l.clean_s : l.disturbed_s;
    size_t count = l.clean ? l.clean : l.disturbed;
    if (count == 0) return 0; /* it does not run here: left out */
    assay__stats_sort(times, count);
    struct assay__calibration_row row = {
        .model = assay__arena_strdup(arena, model),
        .family = family_of(model, arena),
        .p50_s = assay__stats_median(times, count),
        .low_s = times[0],
        .high_s = times[count - 1],
    };
    out->disturbed += l.clean == 0;
    if (!row.model || !row.family || !out->engine) return assay__no_memory(error);
    out->rows[out->count++] = row;
    return 0;
}

/* The i-th requested model; NULL past the end. */
static const char *wanted(const struct assay__calibrate_options *o, size_t index)
{
    for (size_t i = 0; i < SETS; i++)
        if ((o->whole || sets[i].small) && index-- == 0) return sets[i].model;
    return index < o->model_count ? o->models[index] : NULL;
}

int assay__calibrate(struct assay__arena *arena, const struct assay__predict_target *target,
                     const struct assay__calibrate_options *options, const char *key,
                     struct assay__calibration *out, struct assay_error *error)
{
    size_t total = 0;
    int code = 0;
    while (wanted(options, total))
        total++;
    *out = (struct assay__calibration){.key = key};
    out->rows = assay__arena_array(arena, total + 1, sizeof *out->rows);
    out->measured_at = assay__arena_strdup(arena, assay__utc_now().text);
    if (!out->rows || !out->measured_at) return assay__no_memory(error);
    for (size_t i = 0; i < total && !code; i++) {
        const char *model = wanted(options, i);
        if (options->progress && options->progress(options->context, model, i, total))
            code = assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted: nothing is saved");
        else
            code = measure_one(arena, model, options, out, error);
    }
    if (!code && out->count == 0)
        code = assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "none of %zu models could be run here, nor could %s", total,
                               wanted(options, 0));
    struct assay__validation validation;
    if (!code) code = assay__validate_calibration(out, target, arena, &validation, error);
    if (code) return code;
    out->fit = validation.fit;
    return 0;
}

static int set_origin(struct assay__fit *fit, struct assay__arena *arena, size_t models,
                      const char *measured_at, struct assay_error *error)
{
    fit->origin = assay__arena_printf(arena, "fitted on %zu models run on this machine at %s",
                                      models, measured_at);
    fit->validation = "leaving one family of models out, on this machine";
    return fit->origin ? 0 : assay__no_memory(error);
}

/* --- validation ------------------------------------------------------------------------------- */

static int make_samples(const struct assay__calibration *c,
                        const struct assay__predict_target *target, struct assay__arena *arena,
                        struct assay__fit_sample *samples, struct assay__validation *out)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct assay__calibration_row *row = &c->rows[i];
        struct assay__work *work = NULL;
        int code = assay__work_named(row->model, arena, &work, NULL);
        if (code == ASSAY_ENOMEM) return code;
        if (code) { /* a file that is gone */
            out->missing++;
            continue;
        }
        samples[out->count] = (struct assay__fit_sample){
            work, target, assay__precision_find("float32"), row->low_s, row->family, ""};
        out->rows[out->count++] = (struct assay__validation_row){
            row->family, row->model,  target->chip, NULL,        c->measured_at, row->low_s,
            (double)NAN, (double)NAN, (double)NAN,  (double)NAN, (double)NAN};
    }
    out->used = out->count;
    return 0;
}

int assay__validate_calibration(const struct assay__calibration *calibration,
                                const struct assay__predict_target *target,
                                struct assay__arena *arena, struct assay__validation *out,
                                struct assay_error *error)
{
    size_t most = calibration->count + 1;
    *out = (struct assay__validation){0};
    struct assay__fit_sample *samples = assay__arena_array(arena, most, sizeof *samples);
    double *in = assay__arena_array(arena, most, sizeof *in);
    double *left = assay__arena_array(arena, most, sizeof *left);
    double *scratch = assay__arena_array(arena, most, sizeof *scratch);
    out->rows = assay__arena_array(arena, most, sizeof *out->rows);
    if (!samples || !in || !left || !scratch || !out->rows ||
        make_samples(calibration, target, arena, samples, out))
        return assay__no_memory(error);
    if (target->reason[0]) return assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", target->reason);
    assay__fit_samples(samples, out->count, target->unit, NULL, ASSAY__LEAVE_GROUP, &out->fit);
    assay__fit_predict(samples, out->count, &out->fit, in);
    assay__fit_leave_out(samples, out->count, target->unit, ASSAY__LEAVE_GROUP, left);
    out->in = assay__fit_errors_of(samples, in, out->count, scratch);
    out->model_out = assay__fit_errors_of(samples, left, out->count, scratch);
    out->chip_out = out->both_out = out->held_out = out->blind = out->fixed = out->floor =
        (struct assay__fit_errors){(double)NAN, (double)NAN, 0};
    for (size_t i = 0; i < out->count; i++) {
        out->rows[i].in_s = in[i];
        out->rows[i].model_out_s = left[i];
    }
    out->fit.out = out->model_out;
    out->fit.in = out->in;
    return set_origin(&out->fit, arena, out->count, calibration->measured_at, error);
}

/* --- the file --------------------------------------------------------------------------------- */

int assay__calibration_path(const char *key, char *out, size_t out_size, struct assay_error *error)
{
    return assay__cache_path("predict", key, out, out_size, error);
}

static void put_errors(struct assay__json_writer *w, const char *key,
                       const struct assay__fit_errors *errors)
{
    assay__json_put_object(w, key);
    assay__json_put_number(w, "median", errors->median);
    assay__json_put_number(w, "p90", errors->p90);
    assay__json_put_integer(w, "count", (int64_t)errors->count);
    assay__json_object_end(w);
}

int assay__calibration_save(const struct assay__calibration *c, const char *path,
                            struct assay_error *error)
{
    struct assay__buf buf = {0};
    struct assay__json_writer json, *w = &json;
    assay__json_start(w, &buf, true);
    assay__json_object(w);
    assay__json_put_integer(w, "assay_predict", FORMAT);
    assay__json_put_string(w, "key", c->key);
    assay__json_put_string(w, "measured_at", c->measured_at);
    assay__json_put_string(w, "engine", c->engine ? c->engine : "");
    assay__json_put_array(w, "rows");
    for (size_t i = 0; i < c->count; i++) {
        const struct assay__calibration_row *row = &c->rows[i];
        assay__json_object(w);
        assay__json_put_string(w, "model", row->model);
        assay__json_put_string(w, "family", row->family);
        assay__json_put_number(w, "p50_s", row->p50_s);
        assay__json_put_number(w, "low_s", row->low_s);
        assay__json_put_number(w, "high_s", row->high_s);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    assay__json_put_object(w, "fit");
    for (int i = 0; i < ASSAY__FIT_PARAMETERS; i++)
        assay__json_put_number(w, assay__fit_parameter_name(i), c->fit.value[i]);
    assay__json_object_end(w);
    put_errors(w, "out", &c->fit.out);
    put_errors(w, "in", &c->fit.in);
    assay__json_object_end(w);
    assay__buf_putc(&buf, '\n');
    int code = assay__file_keep(path, &buf, error);
    assay__buf_free(&buf);
    return code;
}

static bool positive(double value)
{
    return isfinite(value) && value > 0;
}

static bool read_rows(const struct assay__json *list, struct assay__arena *arena,
                      struct assay__calibration *out)
{
    if (!list || list->kind != ASSAY__JSON_ARRAY || list->count == 0 || list->count > ROWS_MOST)
        return false;
    out->rows = assay__arena_array(arena, list->count, sizeof *out->rows);
    if (!out->rows) return false;
    for (const struct assay__json *j = list->first; j; j = j->next) {
        struct assay__calibration_row row = {
            .model = assay__json_get_string(j, "model", NULL),
            .family = assay__json_get_string(j, "family", NULL),
            .p50_s = assay__json_get_number(j, "p50_s", (double)NAN),
            .low_s = assay__json_get_number(j, "low_s", (double)NAN),
            .high_s = assay__json_get_number(j, "high_s", (double)NAN),
        };
        if (!row.model || !row.family || !positive(row.p50_s) || !positive(row.low_s) ||
            !positive(row.high_s) || row.low_s > row.high_s)
            return false;
        out->rows[out->count++] = row;
    }
    return true;
}

static bool read_errors(const struct assay__json *json, struct assay__fit_errors *errors)
{
    errors->median = assay__json_get_number(json, "median", (double)NAN);
    errors->p90 = assay__json_get_number(json, "p90", (double)NAN);
    int64_t count = assay__json_get_integer(json, "count", -1);
    errors->count = count >= 0 ? (size_t)count : 0;
    return count >= 0 && errors->median >= 0 && errors->p90 >= errors->median;
}

static bool read_fit(const struct assay__json *root, struct assay__fit *fit)
{
    const struct assay__json *values = assay__json_get(root, "fit");
    assay__fit_prior(ASSAY__UNIT_CPU, fit);
    for (int i = 0; i < ASSAY__FIT_PARAMETERS; i++) {
        if (isinf(fit->value[i])) continue; /* written as null */
        fit->value[i] = assay__json_get_number(values, assay__fit_parameter_name(i), (double)NAN);
        if (!positive(fit->value[i])) return false;
    }
    return read_errors(assay__json_get(root, "out"), &fit->out) &&
           read_errors(assay__json_get(root, "in"), &fit->in);
}

int assay__calibration_load(struct assay__arena *arena, const char *path, const char *key,
                            struct assay__calibration *out, struct assay_error *error)
{
    char *text = NULL;
    size_t length = 0;
    struct assay__json *root = NULL;
    *out = (struct assay__calibration){0};
    int code = assay__file_read(path, FILE_MOST, &text, &length, error);
    if (!code) code = assay__json_parse(arena, text, length, &root, error);
    free(text);
    if (code) return code;
    if (assay__json_get_integer(root, "assay_predict", 0) != FORMAT)
        return assay_error_set(error, ASSAY_EFORMAT, "'%s' is not a calibration of predictions",
                               path);
    out->key = assay__json_get_string(root, "key", "");
    out->measured_at = assay__json_get_string(root, "measured_at", "");
    out->engine = assay__json_get_string(root, "engine", "");
    if (key && strcmp(key, out->key) != 0)
        return assay_error_set(error, ASSAY_ENOTFOUND, "'%s' belongs to another machine", path);
    if (!read_rows(assay__json_get(root, "rows"), arena, out) || !read_fit(root, &out->fit))
        return assay_error_set(error, ASSAY_EFORMAT, "'%s' is damaged", path);
    return set_origin(&out->fit, arena, out->count, out->measured_at, error);
}
