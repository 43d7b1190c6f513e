/* trial_values.c - reading the numbers of a trial and of its launches. */
#include "profile/trial_values.h"

#include "base/metric_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool assay__trial_on_cpu(const struct assay__trial *trial)
{
    return trial->target.device_class == ASSAY__CLASS_CPU;
}

const struct assay_metric *assay__trial_metric(const struct assay__trial *trial, const char *name)
{
    return assay__metrics_known(trial->metrics, name);
}

double assay__trial_value(const struct assay__trial *trial, const char *name)
{
    return assay__metrics_value(trial->metrics, name);
}

struct assay__median_interval assay__trial_interval(const struct assay__trial *trial)
{
    static const char *const rows[][3] = {
        {"latency.runs_low", "latency.runs_high", "between runs"},
        {"latency.between_low", "latency.between_high", "between launches"},
        {"latency.ci_low", "latency.ci_high", "within a launch"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double low_s = assay__trial_value(trial, rows[i][0]),
               high_s = assay__trial_value(trial, rows[i][1]);
        if (isfinite(low_s) && isfinite(high_s))
            return (struct assay__median_interval){low_s, high_s, rows[i][2], i == 2};
    }
    return (struct assay__median_interval){NAN, NAN, "", false};
}

double *assay__trial_values(const struct assay__trial *trial, const char *name, size_t *count)
{
    double *values = calloc(trial->launch_count + 1, sizeof *values);
    bool median = strcmp(name, "latency.p50") == 0;
    *count = 0;
    for (size_t i = 0; values && i < trial->launch_count; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        if (launch->state != ASSAY__TRIAL_OK) continue;
        double value = median ? launch->p50_ns / 1e9 : assay__metrics_value(launch->metrics, name);
        if (isfinite(value)) values[(*count)++] = value;
    }
    return values;
}

double *assay__trial_costs(const struct assay__trial *trial, const char *name, size_t *count)
{
    double *values = assay__trial_values(trial, name, count);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (values[i] > 0) values[kept++] = values[i];
    *count = kept;
    return values;
}

const char *assay__trial_values_reason(const struct assay__trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        const struct assay_metric *metric = launch->metrics && launch->state == ASSAY__TRIAL_OK
                                                ? assay_metrics_get(launch->metrics, name)
                                                : NULL;
        if (metric && !assay__metric_is_known(metric) && *metric->note) return metric->note;
    }
    return "";
}

bool assay__layer_is_timed(const struct assay__layer *layer)
{
    return layer->state != ASSAY_UNAVAILABLE && isfinite(layer->time_ns);
}

double assay__layers_whole(const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    double sum = isfinite(layers->engine_ns) ? layers->engine_ns : 0;
    double p50_ns = assay__trial_value(trial, "latency.p50") * 1e9;
    for (size_t i = 0; i < layers->count; i++)
        if (assay__layer_is_timed(&layers->items[i])) sum += layers->items[i].time_ns;
    if (!isfinite(p50_ns) || sum > p50_ns) return sum > 0 ? sum : (double)NAN;
    return p50_ns;
}

double assay__layers_stored_whole(const struct assay__trial *trial)
{
    double whole_ns = assay__layers_whole(trial);
    double p50_ns = assay__trial_value(trial, "latency.p50") * 1e9;
    for (size_t i = 0; i < trial->layers.count; i++) {
        const struct assay__layer *l = &trial->layers.items[i];
        if (!assay__layer_is_timed(l) || !(l->share > 0)) continue;
        double stored_ns = l->time_ns / l->share;
        return fabs(stored_ns / p50_ns - 1) < fabs(stored_ns / whole_ns - 1) ? p50_ns : whole_ns;
    }
    return whole_ns;
}

size_t assay__trial_good_launches(const struct assay__trial *trial)
{
    size_t good = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        good += trial->launches[i].state == ASSAY__TRIAL_OK;
    return good;
}

const struct assay__trial *assay__trial_of_model(const struct assay_profile *profile, size_t model)
{
    if (model < 1 || model >= profile->model_count || profile->plan.asked) return NULL;
    for (size_t i = 0; i < profile->trial_count; i++)
        if (profile->trials[i].model == profile->models[model]) return &profile->trials[i];
    return NULL;
}

const char *assay__trial_axis(const struct assay__trial *trial, enum assay__axis axis)
{
    for (size_t i = 0; i < trial->axis_count; i++)
        if (trial->axes[i].axis == axis) return trial->axes[i].value;
    return "";
}

const char *assay__trial_option(const struct assay__trial *trial, const char *key)
{
    for (size_t i = 0; i < trial->option_count; i++)
        if (strcmp(trial->options[i].key, key) == 0) return trial->options[i].value;
    return "";
}
