/* prediction_document.c - an estimate of a model on a chip: its units, the fastest in detail, and
 * how far to trust it. Every estimate has the median error of such estimates; what cannot be
 * predicted has the reason. */
#include "report/report_model.h"

#include "report/subject/layer_list.h"
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

/* The fastest; an estimate with a known error comes before one without. */
static size_t best_of(const struct assay_profile *profile, const struct assay__fit *fits)
{
    size_t best = 0;
    for (size_t i = 1; i < profile->trial_count; i++) {
        double a = assay__trial_value(&profile->trials[best], "latency.p50"),
               b = assay__trial_value(&profile->trials[i], "latency.p50");
        bool known = isfinite(fits[i].out.median), was = isfinite(fits[best].out.median);
        if (isfinite(b) && (!isfinite(a) || (known && !was) || (known == was && b < a))) best = i;
    }
    return best;
}

static const struct assay__column unit_columns[] = {
    {"unit", "unit", .flags = ASSAY__COLUMN_NAME},
    {"precision", "precision", .priority = 3},
    {"latency_s", "latency", .unit = "s"},
    {"error_median", "median error", .unit = "ratio"},
    {"error_p90", "9 of 10 within", "ratio", .priority = 2},
    {"throughput_per_s", "throughput", "1/s", .priority = 1},
    {"flops_per_s", "compute", "FLOP/s", .priority = 1},
    {"power_w", "power", "W", .priority = 2},
    {"energy_j", "energy", "J", .priority = 2},
    {.key = "state"},
    {.key = "reason"},
};

/* A skipped trial has one reason for everything. */
static void put_metric(struct assay__table *t, const struct assay__trial *trial, const char *name)
{
    const struct assay_metric *m = assay_metrics_get(trial->metrics, name);
    struct assay__datum value = m ? assay__datum_metric(m) : assay__datum_unknown(trial->reason);
    value.unit = NULL;
    assay__table_cell(t, value);
}

/* Not for a model that the measurements were unlike, whose answer says so too. */
static void put_error(struct assay__table *t, const struct assay__trial *trial,
                      const struct assay__fit *fit, double error)
{
    if (isfinite(error) && !*trial->target.uncovered)
        assay__table_number(t, error, ASSAY_MEASURED);
    else
        assay__table_cell(
            t, assay__datum_unknown(isfinite(error) ? trial->target.uncovered : fit->validation));
}

/* ", 63 % limited by memory": what limits most of the time. */
static const char *limit_of(struct assay__doc *doc, const struct assay__trial *trial)
{
    double time_ns[ASSAY__BOUND_COUNT] = {0}, sum_ns = 0;
    enum assay__bound most = ASSAY__BOUND_COMPUTE;
    for (size_t i = 0; i < trial->layers.count; i++) {
        const struct assay__layer *l = &trial->layers.items[i];
        if (!(l->time_ns > 0)) continue;
        time_ns[assay__bound_parse(l->bound)] += l->time_ns;
        sum_ns += l->time_ns;
    }
    if (isfinite(trial->layers.engine_ns) && trial->layers.engine_ns > 0) {
        time_ns[ASSAY__BOUND_OVERHEAD] += trial->layers.engine_ns;
        sum_ns += trial->layers.engine_ns;
    }
    for (int b = 0; b < ASSAY__BOUND_COUNT; b++)
        if (b < ASSAY__BOUND_NEITHER && time_ns[b] > time_ns[most]) most = (enum assay__bound)b;
    if (!(time_ns[most] > 0)) return "";
    return assay__doc_printf(doc, ", %.0f %% limited by %s", 100 * time_ns[most] / sum_ns,
                             assay__bound_name(most));
}

/* "About 2.01 ms on M1/ane, 63 % limited by memory; 9 of 10 such estimates are within 68 %." */
static void add_answer(struct assay__doc *doc, const struct assay__trial *trial,
                       const struct assay__fit *fit)
{
    static const struct {
        const char *name, *metric;
    } numbers[] = {{"throughput", "throughput.inferences"},
                   {"compute", "compute.rate"},
                   {"of the peak", "compute.utilization"},
                   {"weights", "memory.model"},
                   {"power", "power.average"},
                   {"energy", "energy.inference.gross"}};
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET);
    if (!p50) {
        assay__doc_verdict(doc, "No estimate: no unit of the chip can be predicted.");
        assay__doc_end(doc);
        return;
    }
    double left_out = assay__trial_value(trial, "compute.left_out");
    bool known = isfinite(fit->out.median) && !*trial->target.uncovered && !(left_out > 0);
    const char *trust = known ? assay__doc_printf(doc, "9 of 10 such estimates are within %.0f %%",
                                                  fit->out.p90 * 100)
                              : "the error of such estimates is not known";
    if (left_out > 0)
        trust = assay__doc_printf(doc, "%.0f operator%s without a known cost %s left out", left_out,
                                  left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
    assay__doc_verdict(doc, assay__doc_printf(doc, "%s %s on %s%s; %s.",
                                              left_out > 0 ? "At least" : "About",
                                              assay__scaled(p50->value, "s").text,
                                              trial->target.device, limit_of(doc, trial), trust));
    const char **reasons = assay__doc_array(doc, 2, sizeof *reasons);
    size_t count = 0;
    if (reasons && *trial->target.uncovered) reasons[count++] = trial->target.uncovered;
    if (reasons && fit->validation) reasons[count++] = fit->validation;
    assay__doc_quality(doc,
                       (struct assay__quality){
                           assay__trust_badge(ASSAY__TRUST_ESTIMATED),
                           known ? assay__doc_printf(doc, "estimate ±%.0f %%", fit->out.p90 * 100)
                                 : "error unknown",
                           reasons, count});
    assay__doc_kpis(doc, "numbers");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assay__doc_metric(doc, trial, numbers[i].metric, numbers[i].name, NULL);
    for (size_t i = 0; i < trial->assumed_count; i++)
        assay__doc_assumed(doc, trial->assumed[i]);
    assay__doc_end(doc);
}

static void add_units(struct assay__doc *doc, const struct assay_profile *profile,
                      const struct assay__fit *fits, size_t best)
{
    bool one = profile->trial_count == 1 && profile->trials[0].state == ASSAY__TRIAL_OK;
    assay__doc_section(doc, "units", "Units", "of the chip", one ? 0 : ASSAY__SECTION_HALF);
    struct assay__table *t = assay__doc_table(doc, "units", "Units of the chip", unit_columns);
    t->data = one;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        const struct assay__fit *fit = &fits[i];
        bool ok = trial->state == ASSAY__TRIAL_OK;
        assay__table_row_of(t, ok && i == best ? ASSAY__ROW_BEST : 0,
                            assay__trial_option(trial, "unit"), trial->target.precision);
        put_metric(t, trial, "latency.p50");
        if (ok) {
            put_error(t, trial, fit, fit->out.median);
            put_error(t, trial, fit, fit->out.p90);
        } else {
            assay__table_skip(t, 2);
        }
        put_metric(t, trial, "throughput.inferences");
        put_metric(t, trial, "compute.rate");
        put_metric(t, trial, "power.average");
        put_metric(t, trial, "energy.inference.gross");
        assay__table_texts(t, assay__trial_state_name(trial->state), trial->reason);
    }
    assay__doc_end(doc);
}

/* The inference layer by layer, where a page or --full shows it. */
static void add_strip(struct assay__doc *doc, struct assay__study *study,
                      const struct assay__trial *trial)
{
    if (trial->state != ASSAY__TRIAL_OK) return;
    assay__doc_section(doc, "strip-of-layers", "One inference", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET);
    doc->study = study; /* of the picture alone: nothing else here was measured */
    assay__doc_picture(doc, "strip", trial, ASSAY__PICTURE_DETAIL);
    doc->study = NULL;
    assay__doc_end(doc);
}

/* The part of the chip's memory that it takes, after the other items of that fact. */
static void add_capacity(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_metric *share = assay_metrics_get(trial->metrics, "memory.capacity_share"),
                              *capacity = assay__trial_metric(trial, "memory.capacity");
    if (!assay__trial_metric(trial, "memory.capacity_share")) {
        assay__doc_item_text(doc, "it is unknown whether it fits: %s",
                             share && share->note ? share->note : "");
        return;
    }
    struct assay__datum part = assay__datum_metric(share);
    if (share->value < 0.001) part.text = "less than 0.1 %";
    assay__doc_item_after(
        doc, NULL, part,
        assay__doc_printf(doc, "of %s: %s", capacity ? assay__shown(capacity).text : "",
                          share->value <= 0.75  ? "fits"
                          : share->value <= 1.0 ? "tight: the system needs memory too"
                                                : "does not fit"));
}

static void add_estimate(struct assay__doc *doc, const struct assay__trial *trial,
                         const struct assay__fit *fit)
{
    static const struct assay__metric_fact facts[] = {
        {"throughput", "throughput.inferences", NULL, NULL},
        {"throughput", "throughput.images", NULL, "images"},
        {"throughput", "throughput.tokens", NULL, "tokens"},
        {"compute", "compute.rate", NULL, NULL},
        {"compute", "compute.utilization", NULL, "of the peak"},
        {"compute", "compute.flops", NULL, "per inference"},
        {"bandwidth", "memory.bandwidth", NULL, NULL},
        {"bandwidth", "memory.bandwidth_utilization", NULL, "of the roof"},
        {"memory", "memory.model", NULL, "of weights"},
        {"memory", "memory.activation.predicted", NULL, "of activations"},
    };
    static const struct assay__metric_fact power[] = {
        {"power", "power.average", NULL, NULL},
        {"power", "energy.inference.gross", NULL, "per inference, not validated"},
    };
    char label[64];
    assay__fit_label(fit, label, sizeof label);
    assay__doc_section(doc, "estimate", "Estimate", trial->target.device, ASSAY__SECTION_HALF);
    assay__doc_fact(doc, "latency");
    assay__doc_item_after(
        doc, NULL, assay__datum_metric(assay_metrics_get(trial->metrics, "latency.p50")),
        assay__doc_printf(doc, "(%s%s)", label,
                          *trial->target.uncovered ? "; does not apply to such models" : ""));
    bool said = trial->batch == 1 && (assay__trial_metric(trial, "throughput.images") ||
                                      assay__trial_metric(trial, "throughput.tokens"));
    assay__doc_metrics(doc, trial, true, facts + said, sizeof facts / sizeof *facts - said);
    add_capacity(doc, trial);
    assay__doc_metrics(doc, trial, true, ASSAY__ARRAY(power));
    assay__doc_end(doc);
}

static const struct assay__column layer_columns[] = {
    {.key = "unit"},
    {.key = "index"},
    {"op", "operator", .priority = 1},
    {"name", "layer", .flags = ASSAY__COLUMN_NAME},
    {"time_us", "time", "s", .factor = 1e-6, .flags = ASSAY__COLUMN_SUM},
    {"share", "share", "ratio", .flags = ASSAY__COLUMN_SUM},
    {"bound", .title = "bound"},
    {.key = "note"},
};

static bool is_fused(const struct assay__layer *layer)
{
    return layer->note && *layer->note;
}

static void add_layers(struct assay__doc *doc, const struct assay__trial *trial, bool shown)
{
    const struct assay__layers *layers = &trial->layers;
    double all_ns = assay__trial_value(trial, "latency.p50") * 1e9;
    size_t fused = 0;
    assay__doc_section(doc, "operators", "Operators", "slowest first, and what bounds each",
                       ASSAY__SECTION_HALF);
    struct assay__table *t = assay__doc_table(doc, "layers", "Operators", layer_columns);
    t->more = "operators";
    t->data = !shown;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        enum { LEAST_NS = 10 }; /* tenths: a clock could not show less */
        struct assay__datum time = assay__datum_number(l->time_ns / 1e3, NULL, ASSAY_ESTIMATED);
        if (l->time_ns * LEAST_NS < 1) time.text = "< 0.1 ns";
        assay__table_row_of(t, is_fused(l) ? ASSAY__ROW_DATA : 0,
                            assay__trial_option(trial, "unit"));
        assay__table_number(t, l->index, ASSAY_MEASURED);
        assay__table_texts(t, l->op, l->name);
        assay__table_cell(t, time);
        assay__table_number(t, l->share, ASSAY_ESTIMATED);
        assay__table_texts(t, l->bound, l->note);
        fused += is_fused(&layers->items[i]);
    }
    assay__table_row_of(t, ASSAY__ROW_TOTAL, assay__trial_option(trial, "unit"));
    assay__table_skip(t, 2);
    assay__table_text(t, "floor, inputs and outputs");
    assay__table_numbers(t, ASSAY_ESTIMATED, layers->engine_ns / 1e3, layers->engine_ns / all_ns);
    assay__layer_sort(t, layers);
    if (fused)
        assay__doc_note(doc, "%zu operator%s left out: fused with the previous one.", fused,
                        fused == 1 ? " is" : "s are");
    assay__doc_end(doc);
}

static void add_unit(struct assay__doc *doc, const struct assay__trial *trial,
                     const struct assay__fit *fit, bool layers)
{
    if (trial->state != ASSAY__TRIAL_OK) return;
    add_estimate(doc, trial, fit);
    add_layers(doc, trial, layers);
    bool here = strcmp(trial->target.chip, "this") == 0, measured = !trial->target.published;
    assay__doc_section(doc, "trust", "Reliability",
                       here       ? "a run would measure what is estimated here"
                       : measured ? "ceilings were measured there; the model was not run"
                                  : "nothing was measured on that chip",
                       ASSAY__TAB_EVIDENCE);
    assay__doc_plain(doc, "Efficiencies %s.", fit->origin);
    if (isfinite(fit->out.median))
        assay__doc_plain(doc,
                         "Half of the errors are within %.0f %%, 9 of 10 within %.0f %%: %s (%zu). "
                         "The in-sample error is %.0f %%.",
                         fit->out.median * 100, fit->out.p90 * 100, fit->validation, fit->out.count,
                         fit->in.median * 100);
    else
        assay__doc_plain(doc, "Error unknown: %s.", fit->validation);
    assay__doc_say(doc, ASSAY__TONE_WARN, trial->target.uncovered);
    for (size_t i = 0; i < trial->note_count; i++)
        if (trial->notes[i] != trial->target.uncovered)
            assay__doc_say(doc, ASSAY__TONE_NOTE, trial->notes[i]);
    const char *hint = doc->hint ? doc->hint("target") : NULL;
    if (trial->target.device_class == ASSAY__CLASS_NPU)
        assay__doc_note(
            doc,
            "Check the model against the Neural Engine to see whether all of it runs there%s%s.",
            hint ? ": " : "", hint ? hint : "");
    assay__doc_end(doc);
}

int assay__prediction_document(struct assay__study *study, const struct assay__fit *fits,
                               const char *(*hint)(const char *), bool layers,
                               struct assay__doc **made)
{
    int code = assay__doc_new(made);
    struct assay__doc *doc = *made;
    const struct assay_profile *profile = study->profile;
    size_t best = best_of(profile, fits);
    if (code) return code;
    doc->hint = hint;
    const struct assay__trial *trial = &profile->trials[best];
    const char *chip = trial->target.chip;
    const char *title = assay__doc_printf(doc, "%s on %s, %s", profile->models[0]->name,
                                          strcmp(chip, "this") == 0 ? "this machine" : chip,
                                          trial->target.precision);
    assay__doc_name(doc, "predict", title, assay_version());
    doc->table = "units";
    doc->marks = true;
    add_answer(doc, trial, &fits[best]);
    add_strip(doc, study, trial);
    add_units(doc, profile, fits, best);
    add_unit(doc, trial, &fits[best], layers);
    for (size_t i = 0; i < profile->trial_count; i++) {
        if (i == best) continue;
        doc->prefix = assay__doc_printf(doc, "t%zu-", i + 1);
        assay__doc_fold(doc, NULL, profile->trials[i].target.device, NULL);
        add_unit(doc, &profile->trials[i], &fits[i], layers);
        assay__doc_end(doc);
        doc->prefix = "";
    }
    return 0;
}
