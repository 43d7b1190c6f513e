/* json.c - the report as one JSON object, the shape of doc/design.md section 10. Unknown numbers
 * and strings are null; every metric carries its state and source. `_us` fields are microseconds,
 * metrics are in base units. */
#include "report/formats.h"
#include "report/json/json_parts.h"

#include "base/json.h"
#include "profile/tables.h"
#include "report/doc/datum.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_tensors(struct assay__json_writer *w, const char *key,
                        const struct assay__tensor_info *tensors, size_t count)
{
    for (ASSAY__JSON_EACH(i, w, key, count)) {
        const struct assay__tensor_info *t = &tensors[i];
        assay__json_object(w);
        assay__json_members(w, json_string("name", t->name), json_text("dtype", t->dtype));
        assay__json_key(w, "shape");
        if (t->rank < 0) {
            assay__json_null(w);
        } else {
            assay__json_array(w);
            for (int d = 0; d < t->rank; d++) {
                const char *symbol = t->symbols && t->symbols[d] ? t->symbols[d] : "";
                if (t->dims[d] >= 0)
                    assay__json_integer(w, t->dims[d]);
                else
                    assay__json_string(w, *symbol ? symbol : NULL);
            }
            assay__json_array_end(w);
        }
        if (t->fill && *t->fill) assay__json_put_string(w, "fill", t->fill);
        assay__json_object_end(w);
    }
}

/* key NULL: an element of a list */
static void put_model(struct assay__json_writer *w, const char *key,
                      const struct assay__model_info *m)
{
    if (key)
        assay__json_put_object(w, key);
    else
        assay__json_object(w);
    assay__fields_json(w, &assay__stored_model, m, NULL, NULL);
    assay__fields_json_list(w, "operators", &assay__stored_operator, m->operators,
                            m->operator_count);
    put_tensors(w, "inputs", m->inputs, m->input_count);
    put_tensors(w, "outputs", m->outputs, m->output_count);
    assay__json_object_end(w);
}

void assay__json_metrics(struct assay__json_writer *w, const struct assay_metrics *set)
{
    assay__json_put_object(w, "metrics");
    for (size_t i = 0; i < assay_metrics_count(set); i++) {
        const struct assay_metric *m = assay_metrics_at(set, i);
        assay__fields_json_record(w, m->name, &assay__stored_metric, m);
    }
    assay__json_object_end(w);
}

/* A metric's value times `scale`, null if it is unavailable or missing. */
static void put_scaled(struct assay__json_writer *w, const char *key,
                       const struct assay__trial *trial, const char *name, double scale)
{
    const struct assay_metric *m = assay__trial_metric(trial, name);
    assay__json_put_number(w, key, m ? m->value * scale : (double)NAN);
}

/* Only of a trial that generated. */
static void put_generation(struct assay__json_writer *w, const struct assay__trial *trial)
{
    static const char *const groups[][2] = {{"ttft_us", "llm.ttft"}, {"itl_us", "llm.itl"}};
    const struct assay__generation_info *g = &trial->generation;
    if (!g->tokens) return;
    assay__json_put_object(w, "generation");
    assay__json_members(w, json_integer("prompt", g->prompt), json_integer("tokens", g->tokens));
    assay__fields_json(w, &assay__stored_trial, trial, "batch", "batch");
    put_scaled(w, "generations", trial, "llm.generations", 1);
    const struct assay_metric *dropped = assay__trial_metric(trial, "llm.dropped");
    bool counted = assay__trial_metric(trial, "llm.generations") != NULL;
    assay__json_put_number(w, "dropped", dropped ? dropped->value : counted ? 0 : (double)NAN);
    for (size_t i = 0; i < 2; i++) {
        char name[32];
        assay__json_put_object(w, groups[i][0]);
        put_scaled(w, "p50", trial, groups[i][1], 1e6);
        snprintf(name, sizeof name, "%s_p90", groups[i][1]);
        put_scaled(w, "p90", trial, name, 1e6);
        snprintf(name, sizeof name, "%s_p99", groups[i][1]);
        put_scaled(w, "p99", trial, name, 1e6);
        if (i == 1) put_scaled(w, "first_quarter", trial, "llm.itl_first", 1e6);
        if (i == 1) put_scaled(w, "last_quarter", trial, "llm.itl_last", 1e6);
        assay__json_object_end(w);
    }
    for (ASSAY__JSON_EACH(i, w, "token_ids", g->id_count))
        assay__json_integer(w, g->ids[i]);
    if (g->time_count)
        assay__fields_json_list(w, "token_times", &assay__stored_token_time, g->times,
                                g->time_count);
    assay__json_object_end(w);
}

/* Only what there is. */
static void put_feedback(struct assay__json_writer *w, const struct assay__trial *trial)
{
    const struct assay__real_time *time = &trial->real_time;
    if (trial->feedback_count)
        assay__fields_json_list(w, "state_feedback", &assay__stored_feedback, trial->feedback,
                                trial->feedback_count);
    if (isfinite(time->seconds)) assay__json_put_number(w, "seconds_per_inference", time->seconds);
    if (time->sound_samples < 1 || !isfinite(time->sound_rate)) return;
    assay__json_put_object(w, "sound");
    assay__json_members(w, json_integer("samples", time->sound_samples),
                        json_number("rate_hz", time->sound_rate));
    assay__json_object_end(w);
}

static void put_launches(struct assay__json_writer *w, const struct assay__trial *trial)
{
    for (ASSAY__JSON_EACH(i, w, "launches", trial->launch_count)) {
        const struct assay__launch *l = &trial->launches[i];
        struct assay__launch_counts counts = assay__launch_counts(l);
        assay__json_object(w);
        assay__json_put_integer(w, "id", l->id);
        assay__fields_json(w, &assay__stored_launch, l, NULL, "reason");
        assay__json_put_integer(w, "samples", (int64_t)l->sample_count);
        assay__fields_json(w, &assay__stored_launch, l, "warmup", "warmup");
        assay__json_members(w, json_integer("counted", counts.counted),
                            json_number("prerun", counts.prerun));
        assay__fields_json(w, &assay__stored_launch, l, "streams", NULL);
        assay__json_metrics(w, l->metrics);
        assay__json_object_end(w);
    }
}

/* Sums over the layers of each operator, the longest first; null if a layer has none. */
static void put_operators(struct assay__json_writer *w, const struct assay__layers *layers)
{
    size_t count;
    struct assay__operator *sums = assay__operators(layers, &count);
    for (ASSAY__JSON_EACH(i, w, "operators", count)) {
        const struct assay__operator *o = &sums[i];
        bool known = o->timed == o->layers;
        assay__json_object(w);
        assay__json_members(
            w, json_string("op", o->op), json_integer("layers", (int64_t)o->layers),
            json_number("time_us", known ? o->time_ns / 1e3 : (double)NAN),
            json_number("share", known ? o->share : (double)NAN), json_number("flops", o->flops),
            json_string("state", assay_state_name(known ? o->state : ASSAY_UNAVAILABLE)));
        assay__json_object_end(w);
    }
    free(sums);
}

static void put_layers(struct assay__json_writer *w, const struct assay__layers *layers)
{
    for (ASSAY__JSON_EACH(i, w, "layers", layers->count)) {
        const struct assay__layer *l = &layers->items[i];
        struct assay__layer shown = *l;
        double low_ns, high_ns;
        if (l->state == ASSAY_UNAVAILABLE || !isfinite(l->time_ns)) {
            shown.state = ASSAY_UNAVAILABLE;
            shown.time_ns = shown.share = NAN;
        }
        if (!l->bound || !*l->bound) shown.bound = "unknown";
        assay__layer_interval(layers, l, &low_ns, &high_ns, NULL);
        assay__json_object(w);
        assay__fields_json(w, &assay__stored_layer, &shown, NULL, "time_ns");
        assay__json_members(w, json_number("time_low_us", assay__json_rounded(low_ns / 1e3, 6)),
                            json_number("time_high_us", assay__json_rounded(high_ns / 1e3, 6)));
        assay__fields_json(w, &assay__stored_layer, &shown, "share", NULL);
        assay__json_put_string(w, "title", assay__layer_title(l)); /* as people see it */
        assay__json_object_end(w);
    }
    put_operators(w, layers);
    if (layers->edge_count)
        assay__fields_json_list(w, "edges", &assay__stored_edge, layers->edges, layers->edge_count);
    assay__fields_json(w, &assay__stored_layers, layers, NULL, "unattributed_ns");
    assay__json_put_object(w, "layer_timing");
    assay__fields_json(w, &assay__stored_layers, layers, "layers_method", NULL);
    assay__json_members(w, json_integer("launches", layers->launch_count),
                        json_text("interval_reason", assay__layer_interval_reason(layers)));
    assay__json_object_end(w);
}

static void put_trial(struct assay__json_writer *w, struct assay__study *study,
                      const struct assay__trial *trial, bool review)
{
    assay__json_object(w);
    assay__json_put_integer(w, "id", trial->id);
    assay__fields_json(w, &assay__stored_trial, trial, NULL, "reason");
    if (study->profile->model_count > 1) assay__json_put_string(w, "model", trial->model->name);
    assay__json_put_object(w, "target");
    assay__fields_json(w, &assay__stored_trial, trial, "engine", "device");
    assay__json_put_object(w, "options");
    for (size_t i = 0; i < trial->option_count; i++)
        assay__json_put_string(w, trial->options[i].key, trial->options[i].value);
    assay__json_object_end(w);
    assay__json_object_end(w);
    assay__json_put_object(w, "workload");
    assay__fields_json(w, &assay__stored_trial, trial, "batch", "batch");
    put_tensors(w, "inputs", trial->inputs, trial->input_count);
    assay__json_put_strings(w, "notes", trial->notes, trial->note_count);
    if (trial->assumed_count)
        assay__json_put_strings(w, "assumed", trial->assumed, trial->assumed_count);
    put_feedback(w, trial);
    assay__json_object_end(w);
    assay__json_put_object(w, "stability");
    assay__fields_json(w, &assay__stored_trial, trial, "stability", "more_iterations");
    assay__json_object_end(w);
    assay__json_metrics(w, trial->metrics);
    put_generation(w, trial);
    put_launches(w, trial);
    put_layers(w, &trial->layers);
    assay__json_peak(w, trial);
    assay__json_parts(w, trial);
    assay__json_ncp_groups(w, study, trial);
    assay__json_requirements(w, study, trial, review);
    assay__json_object_end(w);
}

void assay__json_findings(struct assay__json_writer *w, const struct assay_profile *profile)
{
    for (ASSAY__JSON_EACH(i, w, "findings", profile->finding_count)) {
        struct assay__finding finding = assay__finding_tried(&profile->findings[i]);
        assay__fields_json_record(w, NULL, &assay__stored_finding, &finding);
    }
}

int assay__write_json(struct assay__study *study, const struct assay_report_options *options,
                      struct assay__buf *out, struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    (void)error;
    struct assay__json_writer writer, *w = &writer;
    assay__json_head_of(w, out, profile->assay_version, profile->schema);
    assay__fields_json(w, &assay__stored_profile, profile, "command", NULL);
    const struct assay__environment *e = &profile->environment;
    assay__json_put_object(w, "environment");
    assay__fields_json(w, &assay__stored_environment, e, NULL, "architecture");
    assay__json_put_object(w, "cpu");
    assay__fields_json(w, &assay__stored_environment, e, "cpu_model", "governor");
    assay__json_object_end(w);
    assay__fields_json(w, &assay__stored_environment, e, "memory_bytes", NULL);
    assay__json_object_end(w);
    put_model(w, "model", profile->models[0]);
    if (profile->model_count > 1)
        for (ASSAY__JSON_EACH(i, w, "other_models", profile->model_count - 1))
            put_model(w, NULL, profile->models[i + 1]);
    for (ASSAY__JSON_EACH(i, w, "trials", profile->trial_count))
        put_trial(w, study, &profile->trials[i], options->detail && *options->detail);
    if (profile->kind == ASSAY__PROFILE_COMPARE) assay__json_comparison(w, study);
    if (profile->kind == ASSAY__PROFILE_SWEEP) assay__json_sweep(w, study);
    if (profile->kind == ASSAY__PROFILE_TUNE) assay__json_tune(w, study);
    if (profile->kind == ASSAY__PROFILE_BENCH) assay__json_bench(w, study);
    assay__json_ceilings(w, profile);
    assay__json_findings(w, profile);
    assay__json_tail(w);
    return 0;
}
