/* json.c - the report as one JSON object, the shape of doc/design.md section 10. Unknown numbers
 * and strings are null; every metric carries its state and source. `_us` fields are microseconds,
 * metrics are in base units. */
#include "report/formats.h"
#include "report/json/json_parts.h"

#include "report/doc/datum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_us(struct assay__json_writer *w, const char *key, double time_ns)
{
    assay__json_put_number(w, key, time_ns / 1e3);
}

static void put_environment(struct assay__json_writer *w, const struct assay__environment *e)
{
    assay__json_put_object(w, "environment");
    assay__json_put_text(w, "host", e->host);
    assay__json_put_text(w, "os", e->os);
    assay__json_put_text(w, "kernel", e->kernel);
    assay__json_put_text(w, "architecture", e->architecture);
    assay__json_put_object(w, "cpu");
    assay__json_put_text(w, "model", e->cpu_model);
    assay__json_put_count(w, "packages", e->packages, 1);
    assay__json_put_count(w, "cores", e->cores, 1);
    assay__json_put_count(w, "threads", e->threads, 1);
    assay__json_put_number(w, "max_hz", e->cpu_max_hz);
    assay__json_put_number(w, "l1d_bytes", e->l1d_bytes);
    assay__json_put_number(w, "l2_bytes", e->l2_bytes);
    assay__json_put_number(w, "l3_bytes", e->l3_bytes);
    assay__json_put_text(w, "simd", e->simd);
    assay__json_put_text(w, "governor", e->governor);
    assay__json_object_end(w);
    assay__json_put_number(w, "memory_bytes", e->memory_bytes);
    assay__json_put_text(w, "virtualized", e->virtualized);
    assay__json_put_text(w, "container", e->container);
    assay__json_put_strings(w, "disturbances", e->disturbances, e->disturbance_count);
    assay__json_put_strings(w, "unknown", e->unknown, e->unknown_count);
    assay__json_object_end(w);
}

static void put_tensors(struct assay__json_writer *w, const char *key,
                        const struct assay__tensor_info *tensors, size_t count)
{
    assay__json_put_array(w, key);
    for (size_t i = 0; i < count; i++) {
        const struct assay__tensor_info *t = &tensors[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", t->name);
        assay__json_put_text(w, "dtype", t->dtype);
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
    assay__json_array_end(w);
}

static void put_model(struct assay__json_writer *w, const struct assay__model_info *m)
{
    assay__json_put_object(w, "model");
    assay__json_put_text(w, "name", m->name);
    assay__json_put_text(w, "path", m->path);
    assay__json_put_text(w, "format", m->format);
    assay__json_put_text(w, "fingerprint", m->fingerprint);
    assay__json_put_text(w, "sha256", m->sha256);
    assay__json_put_count(w, "parameters", m->parameters, 0);
    assay__json_put_count(w, "weight_bytes", m->weight_bytes, 0);
    assay__json_put_count(w, "nodes", m->node_count, 0);
    assay__json_put_count(w, "ir_version", m->ir_version, 1);
    assay__json_put_text(w, "opset", m->opset);
    assay__json_put_text(w, "producer", m->producer);
    assay__json_put_array(w, "operators");
    for (size_t i = 0; i < m->operator_count; i++) {
        const struct assay__operator_info *o = &m->operators[i];
        assay__json_object(w);
        assay__json_put_string(w, "op", o->op);
        assay__json_put_integer(w, "count", o->count);
        assay__json_put_number(w, "flops", o->flops);
        assay__json_put_number(w, "macs", o->macs);
        assay__json_put_number(w, "bytes", o->bytes);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    put_tensors(w, "inputs", m->inputs, m->input_count);
    put_tensors(w, "outputs", m->outputs, m->output_count);
    assay__json_object_end(w);
}

static void put_metrics(struct assay__json_writer *w, const struct assay_metrics *set)
{
    assay__json_put_object(w, "metrics");
    for (size_t i = 0; set && i < assay_metrics_count(set); i++) {
        const struct assay_metric *m = assay_metrics_at(set, i);
        bool known = m->state != ASSAY_UNAVAILABLE && isfinite(m->value);
        assay__json_put_object(w, m->name);
        assay__json_put_number(w, "value", known ? m->value : (double)NAN);
        assay__json_put_string(w, "unit", m->unit);
        assay__json_put_string(w, "state", assay_state_name(known ? m->state : ASSAY_UNAVAILABLE));
        assay__json_put_string(w, "source", m->source ? m->source : "");
        assay__json_put_string(w, "note", m->note ? m->note : "");
        assay__json_object_end(w);
    }
    assay__json_object_end(w);
}

/* A metric's value times `scale`, null when it is unavailable or not there. */
static void put_scaled(struct assay__json_writer *w, const char *key,
                       const struct assay__trial *trial, const char *name, double scale)
{
    const struct assay_metric *m = assay__trial_metric(trial, name);
    assay__json_put_number(w, key, m ? m->value * scale : (double)NAN);
}

static void put_token_ids(struct assay__json_writer *w, const char *text)
{
    assay__json_put_array(w, "token_ids");
    for (char *end = NULL; text && *text; text = end) {
        long long id = strtoll(text, &end, 10);
        if (end == text) break;
        assay__json_integer(w, id);
    }
    assay__json_array_end(w);
}

/* Only of a trial that generated. */
static void put_generation(struct assay__json_writer *w, const struct assay__trial *trial)
{
    static const char *const groups[][2] = {{"ttft_us", "llm.ttft"}, {"itl_us", "llm.itl"}};
    const char *tokens = assay__trial_option(trial, "generate");
    if (!*tokens) return;
    assay__json_put_object(w, "generation");
    assay__json_put_number(w, "prompt", strtod(assay__trial_option(trial, "prompt"), NULL));
    assay__json_put_number(w, "tokens", strtod(tokens, NULL));
    assay__json_put_count(w, "batch", trial->batch, 0);
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
    put_token_ids(w, assay__trial_option(trial, "token_ids"));
    assay__json_object_end(w);
}

static void put_launches(struct assay__json_writer *w, const struct assay__trial *trial)
{
    assay__json_put_array(w, "launches");
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        struct assay__launch_counts counts = assay__launch_counts(l);
        assay__json_object(w);
        assay__json_put_integer(w, "id", l->id);
        assay__json_put_string(w, "state", assay__trial_state_name(l->state));
        assay__json_put_text(w, "reason", l->reason);
        assay__json_put_integer(w, "samples", (int64_t)l->sample_count);
        assay__json_put_integer(w, "warmup", (int64_t)l->warmup);
        assay__json_put_integer(w, "counted", (int64_t)counts.counted);
        assay__json_put_number(w, "prerun", counts.prerun);
        assay__json_put_integer(w, "streams", l->streams);
        put_us(w, "p50_us", l->p50_ns);
        assay__json_put_text(w, "log_tail", l->log_tail);
        put_metrics(w, l->metrics);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

/* An end of an interval: six digits say all that it means, and there may be 100,000 of them. */
static void put_end(struct assay__json_writer *w, const char *key, double ns)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", ns / 1e3);
    assay__json_put_number(w, key, isfinite(ns) ? strtod(text, NULL) : (double)NAN);
}

static void put_layer(struct assay__json_writer *w, const struct assay__layers *layers,
                      const struct assay__layer *l)
{
    bool known = l->state != ASSAY_UNAVAILABLE && isfinite(l->time_ns);
    double low_ns, high_ns;
    assay__layer_interval(layers, l, &low_ns, &high_ns, NULL);
    assay__json_object(w);
    assay__json_put_integer(w, "index", l->index);
    assay__json_put_string(w, "name", l->name);
    assay__json_put_string(w, "op", l->op);
    assay__json_put_text(w, "provider", l->provider);
    put_us(w, "time_us", known ? l->time_ns : (double)NAN);
    put_end(w, "time_low_us", low_ns);
    put_end(w, "time_high_us", high_ns);
    assay__json_put_number(w, "share", known ? l->share : (double)NAN);
    assay__json_put_number(w, "flops", l->flops);
    assay__json_put_number(w, "bytes", l->bytes);
    assay__json_put_number(w, "weight_bytes", l->weight_bytes);
    assay__json_put_number(w, "live_bytes", l->live_bytes);
    assay__json_put_string(w, "bound", l->bound && *l->bound ? l->bound : "unknown");
    assay__json_put_string(w, "state", assay_state_name(known ? l->state : ASSAY_UNAVAILABLE));
    assay__json_put_string(w, "method", l->method ? l->method : "");
    assay__json_put_string(w, "note", l->note ? l->note : "");
    put_us(w, "host_enqueue_us", l->host_enqueue_ns);
    assay__json_put_text(w, "inputs", l->inputs);
    assay__json_put_text(w, "weights", l->weights);
    assay__json_put_text(w, "outputs", l->outputs);
    assay__json_put_text(w, "attributes", l->attributes);
    assay__json_put_strings(w, "from", l->from, l->from_count);
    assay__json_object_end(w);
}

static void put_layers(struct assay__json_writer *w, const struct assay__layers *layers)
{
    assay__json_put_array(w, "layers");
    for (size_t i = 0; i < layers->count; i++)
        put_layer(w, layers, &layers->items[i]);
    assay__json_array_end(w);
    put_us(w, "engine_us", layers->engine_ns);
    put_us(w, "unattributed_us", layers->unattributed_ns);
    assay__json_put_object(w, "layer_timing");
    assay__json_put_text(w, "method", layers->method);
    assay__json_put_text(w, "reason", layers->reason);
    assay__json_put_number(w, "scale_factor", layers->scale_factor);
    assay__json_put_number(w, "slowdown", layers->slowdown);
    assay__json_put_number(w, "spread", layers->spread);
    assay__json_put_number(w, "contention", layers->contention);
    assay__json_put_integer(w, "sessions", layers->sessions);
    assay__json_put_integer(w, "discarded", layers->discarded);
    assay__json_put_integer(w, "launches", (int64_t)layers->launch_count);
    assay__json_put_text(w, "interval_reason", assay__layer_interval_reason(layers));
    assay__json_object_end(w);
}

static void put_target(struct assay__json_writer *w, const struct assay__trial *trial)
{
    assay__json_put_object(w, "target");
    assay__json_put_text(w, "engine", trial->engine);
    assay__json_put_text(w, "engine_version", trial->engine_version);
    assay__json_put_text(w, "library", trial->engine_library);
    assay__json_put_text(w, "device", trial->device);
    assay__json_put_object(w, "options");
    for (size_t i = 0; i < trial->option_count; i++)
        if (strcmp(trial->options[i].key, "token_ids") != 0) /* in "generation" */
            assay__json_put_string(w, trial->options[i].key, trial->options[i].value);
    assay__json_object_end(w);
    assay__json_object_end(w);
}

static void put_trial(struct assay__json_writer *w, struct assay__study *study,
                      const struct assay__trial *trial, bool review)
{
    assay__json_object(w);
    assay__json_put_integer(w, "id", trial->id);
    assay__json_put_string(w, "state", assay__trial_state_name(trial->state));
    assay__json_put_text(w, "reason", trial->reason);
    put_target(w, trial);
    assay__json_put_object(w, "workload");
    assay__json_put_count(w, "batch", trial->batch, 0);
    put_tensors(w, "inputs", trial->inputs, trial->input_count);
    assay__json_put_strings(w, "notes", trial->notes, trial->note_count);
    assay__json_object_end(w);
    assay__json_put_object(w, "stability");
    assay__json_put_text(w, "verdict", trial->stability.verdict);
    assay__json_put_strings(w, "reasons", trial->stability.reasons, trial->stability.reason_count);
    assay__json_put_count(w, "more_iterations", trial->stability.more_iterations, 0);
    assay__json_object_end(w);
    put_metrics(w, trial->metrics);
    put_generation(w, trial);
    put_launches(w, trial);
    put_layers(w, &trial->layers);
    assay__json_peak(w, trial);
    assay__json_parts(w, trial);
    assay__json_ncp_groups(w, study, trial);
    assay__json_requirements(w, study, trial, review);
    assay__json_object_end(w);
}

/* What trying it gave; null where it was not tried. */
static void put_verified(struct assay__json_writer *w, const struct assay__finding *f)
{
    bool known = isfinite(f->verified_gain);
    assay__json_put_text(w, "tried", f->tried);
    assay__json_put_text(w, "verified_of", f->verified_of);
    assay__json_put_number(w, "verified_low", known ? f->verified_low : NAN);
    assay__json_put_number(w, "verified_high", known ? f->verified_high : NAN);
    assay__json_put_number(w, "smallest_difference", known ? f->verified_smallest : NAN);
    assay__json_put_number(w, "verified_energy", known ? f->verified_energy : NAN);
    assay__json_put_number(w, "verified_energy_low", known ? f->verified_energy_low : NAN);
    assay__json_put_number(w, "verified_energy_high", known ? f->verified_energy_high : NAN);
    assay__json_put_number(w, "drift_relative_l2", known ? f->verified_drift : NAN);
    assay__json_put_text(w, "drift_note", f->drift_note);
}

void assay__json_findings(struct assay__json_writer *w, const struct assay_profile *profile)
{
    assay__json_put_array(w, "findings");
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct assay__finding *f = &profile->findings[i];
        assay__json_object(w);
        assay__json_put_string(w, "id", f->id);
        assay__json_put_string(w, "severity", f->severity);
        assay__json_put_string(w, "title", f->title);
        assay__json_put_strings(w, "evidence", f->evidence, f->evidence_count);
        assay__json_put_text(w, "advice", f->advice);
        assay__json_put_number(w, "expected_gain", f->expected_gain);
        assay__json_put_number(w, "verified_gain", f->verified_gain);
        assay__json_put_number(w, "energy_saving", f->energy_saving);
        assay__json_put_text(w, "effort", f->effort);
        assay__json_put_text(w, "state", f->state);
        assay__json_put_text(w, "reason", f->reason);
        put_verified(w, f);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

void assay__json_head(struct assay__json_writer *w, const char *version, int schema)
{
    assay__json_object(w);
    assay__json_put_object(w, "assay");
    assay__json_put_string(w, "version", version);
    assay__json_put_integer(w, "schema", schema);
    assay__json_object_end(w);
}

int assay__write_json(struct assay__study *study, const struct assay_report_options *options,
                      struct assay__buf *out, struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    (void)error;
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__json_head(w, profile->assay_version, profile->schema);
    assay__json_put_text(w, "command", profile->command);
    assay__json_put_text(w, "command_line", profile->command_line);
    assay__json_put_text(w, "created", profile->created);
    assay__json_put_bool(w, "complete", profile->complete);
    assay__json_put_bool(w, "interrupted", profile->interrupted);
    put_environment(w, &profile->environment);
    put_model(w, &profile->model);
    assay__json_put_array(w, "trials");
    for (size_t i = 0; i < profile->trial_count; i++)
        put_trial(w, study, &profile->trials[i], options->detail && *options->detail);
    assay__json_array_end(w);
    if (strcmp(profile->command, "compare") == 0) assay__json_comparison(w, study);
    if (strcmp(profile->command, "sweep") == 0) assay__json_sweep(w, study);
    if (strcmp(profile->command, "tune") == 0) assay__json_tune(w, study);
    assay__json_ceilings(w, profile);
    assay__json_findings(w, profile);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
    return 0;
}
