/* predict_profile.c - a prediction as a trial of a profile, so that every renderer of a run can
 * show it. Every number is estimated and its note names the model's validated error; what follows
 * from the graph alone is derived, what a source states is published. */
#include "predict/predict.h"

#include "check/check.h"
#include "base/buf.h"
#include "base/text.h"
#include "run/trial/describe.h"

#include <math.h>
#include <stdio.h>

/* Share of the time: only single operators among the published rows exceed it. */
#define FLOOR_SHARE 0.75
/* A class of operators is new to the fit if it takes this share of the time, and this many times
 * the share that it has in any measurement. */
#define KIND_SHARE 0.1
#define KIND_TIMES 2

void assay__fit_label(const struct assay__fit *fit, char *out, size_t out_size)
{
    if (isfinite(fit->out.median))
        snprintf(out, out_size, "median error %.0f %%, 9 of 10 within %.0f %%",
                 fit->out.median * 100, fit->out.p90 * 100);
    else
        snprintf(out, out_size, "error unknown");
}

struct metric_writer {
    struct assay_profile *profile;
    struct assay__trial *trial;
    const struct assay__predict_target *target;
    const struct assay__prediction *p;
    const char *note; /* of every estimate */
    int code;
};

static void put_metric(struct metric_writer *w, const char *name, double value,
                       enum assay_state state, const char *source, const char *note)
{
    struct assay_metric metric = {name, value, NULL, state, source, note};
    assay_metrics_put(w->trial->metrics, &metric);
}

static void estimate(struct metric_writer *w, const char *name, double value)
{
    put_metric(w, name, value, ASSAY_ESTIMATED, "model", w->note);
}

static void missing(struct metric_writer *w, const char *name, const char *reason)
{
    assay_metrics_unavailable(w->trial->metrics, name, reason);
}

/* The fitted networks ran entirely on the unit, most of them spent their time in operators, and in
 * operators of certain kinds. */
const char *assay__predict_uncovered(struct assay__arena *arena, const struct assay__work *work,
                                     const struct assay__predict_target *target,
                                     const struct assay__fit *fit,
                                     const struct assay__prediction *p)
{
    struct assay__buf text = {0};
    size_t off = 0;
    /* Operators without a known path onto the Neural Engine of any chip (check_ane_ops.c). Those
     * that only query sizes are folded when the model is loaded. */
    for (size_t i = 0; i < work->count && target->unit == ASSAY__UNIT_ANE; i++) {
        const struct assay__node *node = work->items[i].node;
        enum assay__ane_path path = assay__ane_path_of(node);
        off += work->items[i].class != ASSAY__WORK_VIEW &&
               (path == ASSAY__ANE_NO_PATH || path == ASSAY__ANE_RECURRENT ||
                path == ASSAY__ANE_CUSTOM || path == ASSAY__ANE_CONTROL ||
                path == ASSAY__ANE_UNKNOWN);
    }
    double floor = assay__fixed_share(p);
    if (!isfinite(fit->out.median) || !isfinite(p->latency_s)) return "";
    if (floor > FLOOR_SHARE)
        assay__buf_printf(
            &text, "%.0f %% of the time is fixed cost and transfers, unlike in most measurements",
            floor * 100);
    for (size_t c = 0; c < ASSAY__WORK_CLASSES; c++) {
        double share = p->class_s[c] / p->latency_s;
        if (share > KIND_SHARE && share > KIND_TIMES * fit->seen[c]) /* not where that is unknown */
            assay__buf_printf(&text,
                              "%s%.0f %% of the time is in %s, in no measurement more than %s %%",
                              text.length ? "; " : "", share * 100,
                              assay__work_class_name((enum assay__work_class)c),
                              assay__digits(fit->seen[c] * 100, 2).text);
    }
    if (off)
        assay__buf_printf(&text,
                          "%s%zu operator%s no known implementation on this unit, and work "
                          "elsewhere is not modelled",
                          text.length ? "; " : "", off, off == 1 ? " has" : "s have");
    const char *made = text.failed ? NULL : "";
    if (made && text.length)
        made = assay__arena_printf(arena, "The error does not cover this model: %s", text.data);
    assay__buf_free(&text);
    return made;
}

static const char *note_of(struct assay__arena *arena, const struct assay__fit *fit,
                           const char *uncovered)
{
    if (!isfinite(fit->out.median))
        return assay__arena_printf(arena, "analytic model, error unknown: %s", fit->validation);
    return assay__arena_printf(
        arena,
        "analytic model, median error %.0f %% of %zu measurements, %s; 9 of 10 within %.0f %%%s%s",
        fit->out.median * 100, fit->out.count, fit->validation, fit->out.p90 * 100,
        *uncovered ? "; " : "", uncovered);
}

static void put_memory(struct metric_writer *w)
{
    static const char unsized[] = "the size of an activation is unknown";
    const struct assay__prediction *p = w->p;
    double needs = p->weight_bytes + p->activation_bytes;
    put_metric(w, "memory.model", p->weight_bytes, ASSAY_DERIVED, "graph",
               "weights at the precision of the prediction");
    if (!isfinite(p->activation_bytes))
        missing(w, "memory.activation.predicted", unsized);
    else
        put_metric(w, "memory.activation.predicted", p->activation_bytes, ASSAY_DERIVED, "graph",
                   "peak of live activations at the precision of the prediction");
    if (!(w->target->memory_bytes > 0)) {
        missing(w, "memory.capacity", w->target->memory_source);
        missing(w, "memory.capacity_share", w->target->memory_source);
        return;
    }
    put_metric(w, "memory.capacity", w->target->memory_bytes,
               w->target->published ? ASSAY_PUBLISHED : ASSAY_MEASURED,
               w->target->published ? w->target->memory_source : "machine",
               w->target->published ? "the largest configuration" : w->target->memory_source);
    if (!isfinite(needs))
        missing(w, "memory.capacity_share", unsized);
    else
        put_metric(w, "memory.capacity_share", needs / w->target->memory_bytes, ASSAY_ESTIMATED,
                   "model",
                   "(memory.model + memory.activation.predicted) / memory.capacity; excluding what "
                   "the engine and the system use");
}

static void put_power(struct metric_writer *w)
{
    static const char *const names[] = {"power.average", "energy.inference.gross",
                                        "efficiency.tops_per_watt"};
    const char *reason = "";
    double watts = assay__predict_watts(w->target, w->p, &reason);
    if (!(watts > 0)) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            missing(w, names[i], reason);
        return;
    }
    const char *note = assay__arena_printf(w->profile->arena,
                                           "of the unit alone, weighted by the shares of "
                                           "convolutions and products; %s; error never validated",
                                           w->target->power_source);
    if (!note) note = "of the unit alone; error never validated";
    put_metric(w, "power.average", watts, ASSAY_ESTIMATED, "model", note);
    put_metric(w, "energy.inference.gross", watts * w->p->latency_s, ASSAY_ESTIMATED, "model",
               note);
    put_metric(w, "efficiency.tops_per_watt", w->p->flops / w->p->latency_s / 1e12 / watts,
               ASSAY_ESTIMATED, "model", note);
}

static void put_rates(struct metric_writer *w, const struct assay__work *work,
                      const struct assay__workload *workload)
{
    const struct assay__prediction *p = w->p;
    double rate = 1 / p->latency_s, bandwidth = p->bytes / p->latency_s;
    double roof = w->target->weights_bandwidth[w->target->level_count - 1];
    estimate(w, "latency.p50", p->latency_s);
    estimate(w, "throughput.inferences", rate);
    if (workload && workload->batch > 0) {
        estimate(w, "throughput.samples", rate * (double)workload->batch);
        if (workload->has_images) estimate(w, "throughput.images", rate * (double)workload->batch);
        if (workload->has_tokens && workload->sequence > 0)
            estimate(w, "throughput.tokens",
                     rate * (double)workload->batch * (double)workload->sequence);
    }
    put_metric(w, "compute.flops", p->flops, ASSAY_DERIVED, "graph",
               "of operators whose cost is known");
    put_metric(w, "compute.left_out", (double)work->unknown, ASSAY_DERIVED, "graph", "");
    estimate(w, "compute.rate", p->flops / p->latency_s);
    estimate(w, "compute.utilization", p->flops / p->latency_s / p->peak_flops);
    if (p->bytes > 0) estimate(w, "compute.intensity", p->flops / p->bytes);
    estimate(w, "memory.bandwidth", bandwidth);
    if (roof > 0 && bandwidth <= roof)
        estimate(w, "memory.bandwidth_utilization", bandwidth / roof);
    else
        missing(w, "memory.bandwidth_utilization", "some of the data never leaves the chip");
}

/* --- layers ----------------------------------------------------------------------------------- */

static void put_layers(struct metric_writer *w, const struct assay__work *work,
                       const struct assay__predicted_item *items)
{
    struct assay__layers *layers = &w->trial->layers;
    struct assay__arena *arena = w->profile->arena;
    layers->items = assay__arena_array(arena, work->count + 1, sizeof *layers->items);
    const char **names = assay__arena_array(arena, work->count + 1, sizeof *names);
    for (size_t i = 0; i < work->count && layers->items && names; i++) {
        const struct assay__work_item *item = &work->items[i];
        const struct assay__node *node = item->node;
        double times = (double)item->repeats;
        names[i] = assay__arena_text(arena, "%s", assay__check_node_name(node));
        layers->items[i] = (struct assay__layer){
            .index = (int)i,
            .name = names[i],
            .op = assay__arena_text(arena, "%s", node->op),
            .from = &names[i],
            .from_count = 1,
            .provider = assay__unit_name(w->target->unit),
            .time_ns = items[i].time_s * 1e9,
            .host_enqueue_ns = (double)NAN,
            .kernel_count = (double)NAN,
            .gap_ns = (double)NAN,
            .share = items[i].time_s / w->p->latency_s,
            .flops = times * item->flops,
            .bytes = times * (item->weight_bytes + item->read_bytes + item->written_bytes),
            .weight_bytes = times * item->weight_bytes,
            .live_bytes = (double)NAN,
            .bound = assay__bound_name(items[i].bound),
            .state = ASSAY_ESTIMATED,
            .method = "model",
            .note = item->fused ? "fused into the previous operator" : "",
        };
    }
    if (assay__arena_failed(arena)) w->code = ASSAY_ENOMEM;
    layers->count = work->count;
    layers->method = "model";
    layers->reason = "";
    layers->engine_ns = (w->p->floor_s + w->p->io_s) * 1e9;
    layers->unattributed_ns = 0;
}

/* --- the trial -------------------------------------------------------------------------------- */

static int put_notes(struct metric_writer *w, const struct assay__work *work, const char *uncovered)
{
    const struct assay__predict_target *t = w->target;
    size_t count = w->trial->note_count;
    const char **notes = assay__arena_array(w->profile->arena, count + t->source_count + 2,
                                            sizeof *notes);
    if (!notes) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        notes[i] = w->trial->notes[i];
    if (*uncovered) notes[count++] = uncovered;
    for (size_t i = 0; i < t->source_count; i++)
        notes[count++] = t->sources[i];
    if (work->unknown)
        notes[count++] = assay__arena_printf(
            w->profile->arena,
            "%zu operator%s without a known cost %s left out, so the time is too short",
            work->unknown, work->unknown == 1 ? "" : "s", work->unknown == 1 ? "is" : "are");
    w->trial->notes = notes;
    w->trial->note_count = count;
    return 0;
}

int assay__predict_trial(struct assay_profile *profile, const struct assay__analysis *analysis,
                         const struct assay__work *work, const struct assay__predict_target *target,
                         const struct assay__precision *precision, const struct assay__fit *fit,
                         const struct assay__predicted_item *items,
                         const struct assay__prediction *prediction)
{
    static const enum assay__device_class classes[ASSAY__UNITS] = {
        ASSAY__CLASS_CPU, ASSAY__CLASS_GPU, ASSAY__CLASS_NPU};
    struct metric_writer w = {.profile = profile, .target = target, .p = prediction};
    w.trial = assay__profile_trial(profile);
    if (!w.trial) return ASSAY_ENOMEM;
    if (!w.trial->metrics) w.trial->metrics = assay_metrics_new();
    const char *uncovered = assay__predict_uncovered(profile->arena, work, target, fit, prediction);
    if (!uncovered) return ASSAY_ENOMEM;
    w.note = note_of(profile->arena, fit, uncovered);
    struct assay__target *to = &w.trial->target;
    to->engine = "model";
    to->engine_version = profile->assay_version;
    to->engine_library = "";
    to->device = assay__arena_printf(profile->arena, "%s/%s", target->chip,
                                     assay__unit_name(target->unit));
    to->device_class = classes[target->unit];
    to->precision = precision->name;
    to->chip = target->chip;
    to->published = target->published;
    to->uncovered = uncovered;
    if (!w.trial->metrics || !w.note || !to->device) return ASSAY_ENOMEM;
    if (analysis->workload)
        w.code = assay__describe_workload(profile, w.trial, analysis->workload, NULL);
    for (size_t i = 0; i < w.trial->input_count; i++)
        w.trial->inputs[i].fill = ""; /* nothing is run, so there are no values */
    const struct assay__pair options[] = {{"chip", target->chip},
                                          {"unit", assay__unit_name(target->unit)},
                                          {"precision", precision->name},
                                          {"roofs", target->published ? "published" : "measured"},
                                          {"efficiencies", fit->origin}};
    for (size_t i = 0; i < sizeof options / sizeof options[0] && !w.code; i++)
        w.code = assay__trial_set_option(profile, w.trial, options[i].key, options[i].value);
    if (!w.code) w.code = put_notes(&w, work, uncovered);
    if (w.code) return w.code;
    if (!isfinite(prediction->latency_s)) {
        w.trial->state = ASSAY__TRIAL_SKIPPED;
        w.trial->reason = prediction->reason;
        missing(&w, "latency.p50", prediction->reason);
        return assay_metrics_failed(w.trial->metrics);
    }
    w.trial->state = ASSAY__TRIAL_OK;
    w.trial->reason = "";
    put_rates(&w, work, analysis->workload);
    put_memory(&w);
    put_power(&w);
    put_layers(&w, work, items);
    return w.code ? w.code : assay_metrics_failed(w.trial->metrics);
}
