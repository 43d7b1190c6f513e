/* predict_model.c - a model on every unit of a chip, as a profile: a trial per unit. */
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "model/inputs/inputs.h"
#include "predict/predict_targets.h"
#include "run/trial/describe.h"
#include "zoo/model_open.h"

#include <stdlib.h>
#include <string.h>

static int open_model(struct assay_prediction *p, const struct assay_workload_options *options,
                      struct assay_error *error)
{
    struct assay__workload_options wanted = assay__workload_options_of(options);
    struct assay__model_costs costs = {0};
    const char *name = options->model;
    int code = assay__model_named(name, &p->model, &p->zoo, error);
    if (!code && assay__workload_plan(p->model, &wanted, &p->workload, error)) {
        /* a model whose inputs cannot be generated can still be predicted */
        wanted.shapes_only = true;
        code = assay__workload_plan(p->model, &wanted, &p->workload, error);
    }
    if (code) return code;
    p->profile = assay__profile_new();
    if (!p->profile) return assay__no_memory(error);
    assay__profile_set_command(p->profile, "predict");
    p->profile->created = assay__arena_text(p->profile->arena, "%s", assay__utc_now().text);
    p->profile->complete = true;
    code = assay__describe_machine(p->profile, error);
    if (!code)
        code = assay__describe_model(p->profile, p->profile->models[0], p->model, p->workload, name,
                                     p->zoo ? "" : name, &costs, error);
    assay__costs_free(&costs);
    return code ? code : assay__analyse(p->model, p->workload, &p->analysis, error);
}

/* The error of an estimate is that of measurements with as much fixed cost. */
static void label_by_fixed_cost(struct assay__fit *fit, double share)
{
    bool most = share > ASSAY__FLOOR_SHARE;
    const struct assay__fit_errors *like = most ? &fit->floor : &fit->fixed;
    if (!(share > ASSAY__FIXED_SHARE) || !like->count) return;
    fit->out = *like;
    fit->validation = most ? "published measurements of chips and models not used in the fit, with "
                             "half or more of the estimate in fixed costs"
                           : "published measurements of chips and models not used in the fit, with "
                             "a third or more of the estimate in fixed costs";
}

static int predict_all(struct assay_prediction *p, const char *asked, struct assay_error *error)
{
    struct assay__work *work = NULL;
    int code = assay__work_of(p->analysis, false, p->arena, &work, error);
    if (code) return code;
    struct assay__predicted_item *items = assay__arena_array(p->arena, work->count + 1,
                                                             sizeof *items);
    for (size_t i = 0; i < p->targets.count && items && !code; i++) {
        const struct assay__predict_target *target = &p->targets.items[i];
        const char *own = target->unit != ASSAY__UNIT_CPU ? (work->weight_bits <= 4   ? "w4"
                                                             : work->weight_bits <= 8 ? "w8"
                                                                                      : "float16")
                          : work->activation_bits <= 16   ? "float16"
                                                          : "float32";
        const struct assay__precision *precision = assay__precision_find(asked ? asked : own);
        struct assay__prediction prediction;
        memset(items, 0, work->count * sizeof *items);
        struct assay__fit *fit = &p->targets.fits[i];
        assay__predict(work, target, precision, fit, items, &prediction);
        label_by_fixed_cost(fit, assay__fixed_share(&prediction));
        code = assay__predict_trial(p->profile, p->analysis, work, target, precision, fit, items,
                                    &prediction);
    }
    return code || !items ? assay__no_memory(error) : 0;
}

int assay__predict_model(const struct assay_predict_options *options,
                         struct assay_prediction **prediction, struct assay_error *error)
{
    *prediction = NULL;
    if (!options->chip) return assay__refuse_option(error, "chip", "no chip was given");
    if (options->precision && !assay__precision_find(options->precision))
        return assay__refuse_option(error, "precision", "unknown precision '%s'",
                                    options->precision);
    struct assay_prediction *p = calloc(1, sizeof *p);
    if (!p) return assay__no_memory(error);
    p->arena = assay__arena_new();
    int code = p->arena ? assay__predict_targets(p->arena, options->chip, options->unit,
                                                 &p->targets, error)
                        : assay__no_memory(error);
    if (!code) code = open_model(p, &options->workload, error);
    if (!code) code = predict_all(p, options->precision, error);
    if (code)
        assay_prediction_free(p);
    else
        *prediction = p;
    return code;
}

int assay_predict(const struct assay_predict_options *given, struct assay_prediction **prediction,
                  struct assay_error *error)
{
    struct assay_predict_options options;
    if (!prediction) return assay_error_set(error, ASSAY_EINVAL, "nowhere to put the prediction");
    *prediction = NULL;
    int code = assay__options_read(given, &options, sizeof options, "predict", error);
    return code ? code : assay__predict_model(&options, prediction, error);
}

void assay_prediction_free(struct assay_prediction *p)
{
    if (!p) return;
    assay__analysis_free(p->analysis);
    assay__workload_free(p->workload);
    assay_profile_close(p->profile);
    assay__model_free(p->model);
    assay__arena_free(p->arena);
    free(p);
}

const struct assay_profile *assay_prediction_profile(const struct assay_prediction *prediction)
{
    return prediction ? prediction->profile : NULL;
}
