/* subject_summary.c - what a reader sees first: what went wrong, the answer, the numbers that
 * everybody looks for, and what was measured where. */
#include "report/subject/subject.h"

#include "advise/finding_rank.h"
#include "judge/comparison.h"
#include "judge/headline.h"
#include "judge/sweep.h"
#include "report/subject/layer_list.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what went wrong -------------------------------------------------------------------------- */

/* The trial lost a launch, and there are enough others for its conclusion. */
static bool is_sound(const struct assay_profile *profile, const struct assay__trial *trial)
{
    bool tested = profile->kind == ASSAY__PROFILE_COMPARE || trial->role == ASSAY__ROLE_CONFIRM;
    size_t least = tested                                  ? ASSAY__COMPARISON_LAUNCHES
                   : profile->kind == ASSAY__PROFILE_SWEEP ? ASSAY__SWEEP_LAUNCHES
                                                           : 0;
    return least && trial->state == ASSAY__TRIAL_FAILED && assay__trial_went_on(trial, least);
}

static bool same_alert(const struct assay_profile *profile, const struct assay__trial *a,
                       const struct assay__trial *b)
{
    bool sound = is_sound(profile, a);
    return a->state == b->state && sound == is_sound(profile, b) &&
           (!sound || a->launch_count == b->launch_count) &&
           strcmp(a->reason ? a->reason : "", b->reason ? b->reason : "") == 0;
}

/* "FAILED (trial 3): …", or "FAILED (23 of 96 trials): …" if `alike` trials failed for the same
 * reason; `trial` is the first of them. */
static void add_failure(struct assay__doc *doc, const struct assay_profile *profile,
                        const struct assay__trial *trial, size_t alike)
{
    const char *reason = trial->reason && *trial->reason ? trial->reason : "no reason was recorded";
    const char *who = alike > 1
                          ? assay__doc_printf(doc, "%zu of %zu trials", alike, profile->trial_count)
                          : assay__doc_printf(doc, "trial %d", trial->id);
    const char *word = trial->state == ASSAY__TRIAL_FAILED ? "FAILED" : "SKIPPED";
    if (is_sound(profile, trial)) {
        /* "NOTE: trial 2 lost 1 of 8 launches: judged by the 7 that are left (launch 3: killed)" */
        size_t good = assay__trial_good_launches(trial), lost = 0;
        while (lost < trial->launch_count && trial->launches[lost].state == ASSAY__TRIAL_OK)
            lost++;
        const char *why = lost < trial->launch_count ? trial->launches[lost].reason : NULL;
        if (why && *why) why = assay__doc_printf(doc, " (launch %zu: %s)", lost + 1, why);
        assay__doc_warn(doc,
                        "NOTE: %s lost %zu of %zu launches%s: judged by the %zu that are left%s",
                        who, trial->launch_count - good, trial->launch_count,
                        alike > 1 ? " each" : "", good, why ? why : "");
    } else if (profile->trial_count > 1) {
        assay__doc_alert(doc, "%s (%s): %s", word, who, reason);
    } else {
        assay__doc_alert(doc, "%s: %s", word, reason);
    }
}

static void add_alerts(struct assay__doc *doc, const struct assay_profile *profile)
{
    if (!profile->complete && !profile->interrupted)
        assay__doc_alert(doc, "INCOMPLETE: the capture did not finish (killed, or disk full); what "
                              "was measured until then follows.");
    if (profile->interrupted)
        assay__doc_alert(
            doc,
            "INTERRUPTED: the capture was stopped early; what was measured until then follows.");
    if (!profile->trial_count) assay__doc_alert(doc, "EMPTY: this profile has no trials.");
    enum { REASONS = 64 }; /* distinct reasons shown; an untrusted profile may have any number */
    const struct assay__trial *first[REASONS];
    size_t alike[REASONS], kinds = 0;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *t = &profile->trials[i];
        size_t at = 0;
        if (t->state != ASSAY__TRIAL_FAILED && t->state != ASSAY__TRIAL_SKIPPED) continue;
        while (at < kinds && !same_alert(profile, first[at], t))
            at++;
        if (at == REASONS) continue;
        if (at == kinds) first[kinds] = t, alike[kinds++] = 0;
        alike[at]++;
    }
    for (size_t i = 0; i < kinds; i++)
        add_failure(doc, profile, first[i], alike[i]);
}

/* --- the result ------------------------------------------------------------------------------- */

static void add_answer(struct assay__doc *doc, struct assay__study *study,
                       const struct assay__trial *trial)
{
    const char *of_all = assay__claim(doc, assay__headline(study));
    assay__doc_verdict(doc, of_all);
    if (trial->state == ASSAY__TRIAL_FAILED && !assay__trial_metric(trial, "latency.p50"))
        return; /* see the alert */
    const char *answer = assay__study_verdict(study, trial)->text;
    if (!*of_all)
        assay__doc_verdict(doc, answer);
    else if (trial->layers.count && study->profile->kind != ASSAY__PROFILE_BENCH) {
        doc->headed = true; /* a page is about all of them: a single one has its own tabs */
        assay__doc_plain(doc, "%s: %s", *trial->label ? trial->label : trial->target.device,
                         answer);
        doc->headed = false;
    }
}

/* --- the numbers ------------------------------------------------------------------------------ */

/* "(67.0 µs to 68.4 µs, 95 % between runs)". What a single launch shows within itself does not say
 * what another would give, and stands with the latency. */
static const char *interval(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__median_interval known = assay__trial_interval(trial);
    if (isnan(known.low_s) || known.within_launch) return NULL;
    return assay__doc_printf(doc, "(%s to %s, 95 %% %s)", assay__scaled(known.low_s, "s").text,
                             assay__scaled(known.high_s, "s").text, known.scope);
}

/* "(316 × faster than real time)" */
static const char *speed(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_metric *speed = assay__trial_metric(trial, "realtime.speed");
    if (!speed) return NULL;
    return speed->value < 1 ? "(slower than real time)"
                            : assay__doc_printf(doc, "(%s × faster than real time)",
                                                assay__digits(speed->value, 3).text);
}

/* The finding that gained the most, or could: what to do next. */
void assay__add_first_finding(struct assay__doc *doc, const struct assay_profile *profile)
{
    size_t advice;
    const struct assay__finding **order = assay__finding_order(profile, doc->arena, &advice);
    if (!order) doc->failed = true;
    if (!order || !advice) return; /* what only disturbed the run is shown with its quality */
    const struct assay__finding *f = order[0];
    const char *gain = "";
    if (isfinite(f->verified_gain))
        gain = assay__doc_printf(doc, ": measured %s × (%s, 95 %%)",
                                 assay__digits(f->verified_gain, 3).text,
                                 assay__digits_range(f->verified_low, f->verified_high).text);
    else if (isfinite(f->expected_gain))
        gain = assay__doc_printf(doc, ": at most %s%s ×, not tried", assay__finding_about(f),
                                 assay__digits(f->expected_gain, 3).text);
    assay__doc_plain(doc, "First finding: %s%s.", f->title, gain);
}

/* --- what was measured ------------------------------------------------------------------------ */

static void add_model(struct assay__doc *doc, const struct assay__model_info *m, bool named)
{
    struct assay__buf number = {0};
    assay__doc_fact(doc, "model");
    if (named) assay__doc_item_text(doc, "%s", m->name);
    if (m->path && *m->path && strcmp(m->path, m->name) != 0)
        assay__doc_item_text(doc, "%s", m->path);
    if (m->opset && *m->opset) assay__doc_item_text(doc, "%s opset %s", m->format, m->opset);
    if (m->parameters >= 0) {
        assay__print_short_count(&number, m->parameters);
        assay__doc_item_text(doc, "%s parameter%s", assay__doc_take(doc, &number),
                             assay__plural((double)m->parameters));
    }
    if (m->weight_bytes >= 0)
        assay__doc_item_after(doc, NULL, assay__measured((double)m->weight_bytes, "B"),
                              "of weights");
    if (m->node_count >= 0) assay__doc_item_count(doc, (double)m->node_count, "node");
}

static void add_machine(struct assay__doc *doc, const struct assay__environment *e)
{
    assay__doc_fact(doc, "machine");
    assay__doc_item_text(doc, "%s", e->cpu_model ? e->cpu_model : "");
    if (e->cores > 0) assay__doc_item_count(doc, e->cores, "core");
    if (e->threads > 0 && e->threads != e->cores)
        assay__doc_item_count(doc, e->threads, "hardware thread");
    if (isfinite(e->memory_bytes))
        assay__doc_item(doc, NULL, assay__measured(e->memory_bytes, "B"));
    if (e->virtualized && *e->virtualized && strcmp(e->virtualized, "none") != 0)
        assay__doc_item_text(doc, "virtual machine (%s)", e->virtualized);
    if (e->container && *e->container) assay__doc_item_text(doc, "container (%s)", e->container);
    assay__doc_item_text(doc, "%s", e->os ? e->os : "");
}

/* Threads are always shown, other options only if they were set. */
static bool is_chosen(const struct assay__pair *option)
{
    static const char *const unsaid[] = {"", "default", "any", "by precision", "detected", "auto"};
    static const char *const elsewhere[] = {"seed", "require", "state", "seconds_per_inference"};
    if (!option->value) return false;
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (strcmp(option->key, elsewhere[i]) == 0) return false;
    if ((strcmp(option->key, "streams") == 0 || strcmp(option->key, "launches") == 0) &&
        strcmp(option->value, "1") == 0)
        return false;
    for (size_t i = 0; i < sizeof unsaid / sizeof unsaid[0]; i++)
        if (strcmp(option->value, unsaid[i]) == 0) return strcmp(option->key, "threads") == 0;
    return true;
}

/* Of one number, such as a sampling rate: " (constant 16000: …)". */
static const char *chosen_value(struct assay__doc *doc, const struct assay__tensor_info *t)
{
    for (int i = 0; i < t->rank; i++)
        if (t->dims[i] != 1) return "";
    return t->fill && *t->fill ? assay__doc_printf(doc, " (%s)", t->fill) : "";
}

void assay__add_target(struct assay__doc *doc, const struct assay__trial *trial)
{
    enum { INPUTS_SHOWN = 6 };
    assay__doc_fact(doc, "target");
    assay__doc_item_text(doc, "%s%s%s", trial->target.engine,
                         *trial->target.engine_version ? " " : "", trial->target.engine_version);
    assay__doc_item_text(doc, "%s", trial->target.device);
    for (size_t i = 0; i < trial->option_count; i++) {
        const struct assay__pair *o = &trial->options[i];
        size_t length = strlen(o->key);
        bool seconds = length > 2 && strcmp(o->key + length - 2, "_s") == 0; /* "time_s" */
        if (is_chosen(o))
            assay__doc_item_text(doc, "%.*s %s%s", (int)(seconds ? length - 2 : length), o->key,
                                 o->value, seconds ? " s" : "");
    }
    assay__doc_fact(doc, "workload");
    if (trial->batch >= 0) assay__doc_item_text(doc, "batch %" PRId64, trial->batch);
    for (size_t i = 0; i < trial->input_count && i < INPUTS_SHOWN; i++) {
        const struct assay__tensor_info *t = &trial->inputs[i];
        struct assay__buf shape = {0};
        assay__print_shape(&shape, t);
        assay__doc_item_text(doc, "%s %s %s%s", t->name, t->dtype, assay__doc_take(doc, &shape),
                             chosen_value(doc, t));
    }
    if (trial->input_count > INPUTS_SHOWN)
        assay__doc_item_text(doc, "and %zu more input%s", trial->input_count - INPUTS_SHOWN,
                             assay__plural(trial->input_count - INPUTS_SHOWN));
    assay__add_state(doc, trial);
}

/* For a comparison: the latency of every trial. */
static void add_compared(struct assay__doc *doc)
{
    enum { SHOWN = 6 };
    const struct assay__comparison *all = assay__study_comparison(doc->study);
    assay__doc_kpis(doc, "p50");
    for (size_t i = 0, shown = 0; i < all->count && shown < SHOWN; i++) {
        const struct assay__judged *j = &all->rows[i].judged;
        if (!j->usable) continue;
        struct assay__datum value = assay__datum_judged(&j->latency);
        value.unit = "s";
        assay__doc_item(doc, j->label, value);
        shown++;
    }
}

/* The trial as the table of a sweep or tuning shows it, and whether it is the best; NULL: none. */
static const struct assay__judged *judged_of(struct assay__study *study,
                                             const struct assay__trial *trial, bool *best)
{
    const struct assay_profile *profile = study->profile;
    size_t index = (size_t)(trial - profile->trials);
    if (profile->kind == ASSAY__PROFILE_SWEEP) {
        const struct assay__sweep *sweep = assay__study_sweep(study);
        for (size_t i = 0; i < sweep->count; i++)
            if (sweep->points[i].judged.trial == index) {
                *best = i == sweep->best;
                return &sweep->points[i].judged;
            }
    } else if (profile->kind == ASSAY__PROFILE_TUNE) {
        const struct assay__tune_result *tune = assay__study_tune(study);
        for (size_t i = 0; i < tune->count; i++)
            if (tune->rows[i].judged.trial == index) {
                *best = i == tune->best;
                return &tune->rows[i].judged;
            }
    }
    return NULL;
}

static void add_numbers(struct assay__doc *doc, const struct assay__trial *trial, bool several)
{
    if (several && doc->study->profile->kind == ASSAY__PROFILE_COMPARE) {
        add_compared(doc);
        return;
    }
    /* The members of a benchmark are different models: see their table. */
    if (several && doc->study->profile->kind == ASSAY__PROFILE_BENCH) return;
    bool best = false;
    const struct assay__judged *judged = several ? judged_of(doc->study, trial, &best) : NULL;
    const char *label = best ? "the best" : *trial->label ? trial->label : trial->target.device;
    assay__doc_kpis(doc, "numbers");
    const struct assay__trial_verdict *v = assay__study_verdict(doc->study, trial);
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    struct assay__datum latency = p50 ? assay__datum_metric(p50) : assay__datum_none();
    if (p50 && judged) latency.number = judged->latency.value;
    if (p50)
        assay__doc_item_after(doc, several ? assay__doc_printf(doc, "p50 of %s", label) : "p50",
                              latency, interval(doc, trial));
    for (size_t i = 0; i < v->kpi_count; i++) {
        struct assay__datum value = assay__datum_metric(v->kpis[i].metric);
        if (v->kpis[i].is_rate) value.unit = ASSAY__UNIT_PLAIN;
        bool realtime = strcmp(v->kpis[i].metric->name, "realtime.factor") == 0;
        assay__doc_item_after(doc, v->kpis[i].label, value, realtime ? speed(doc, trial) : NULL);
    }
}

/* "noisy ±15 % (the launches' medians differ by 30.7 %; 2 more) · 2 samples" */
void assay__add_trust(struct assay__doc *doc, const struct assay__trial *trial)
{
    enum { REASON_MOST = 90 };
    const struct assay__trial_verdict *v = assay__study_verdict(doc->study, trial);
    const struct assay_metric *samples = assay__trial_metric(trial, "latency.samples");
    const char *after = NULL;
    assay__doc_fact(doc, "quality");
    if (v->reason_count && strlen(v->reasons[0]) <= REASON_MOST)
        after = v->reason_count > 1
                    ? assay__doc_printf(doc, "(%s; %zu more)", v->reasons[0], v->reason_count - 1)
                    : assay__doc_printf(doc, "(%s)", v->reasons[0]);
    else if (v->reason_count)
        after = assay__doc_printf(doc, "(%zu reason%s)", v->reason_count,
                                  assay__plural((double)v->reason_count));
    assay__doc_item_after(doc, NULL, assay__datum_badge(v->chip, assay__trust_badge(v->trust)),
                          after);
    if (samples)
        assay__doc_item_after(doc, NULL, assay__datum_count(samples->value),
                              samples->value == 1 ? "sample" : "samples");
}

void assay__add_headline(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    add_alerts(doc, profile);
    if (trial) add_answer(doc, doc->study, trial);
    if (trial && profile->trial_count == 1) {
        doc->headed = true; /* a page has it beside its layers */
        assay__doc_picture(doc, "strip", trial, 0);
        doc->headed = false;
    }
    for (size_t i = 0; trial && i < trial->assumed_count; i++)
        assay__doc_assumed(doc, trial->assumed[i]); /* below the answer that it decides */
    if (trial && profile->trial_count == 1) assay__warn_outputs(doc, trial);
    if (trial) add_numbers(doc, trial, profile->trial_count > 1);
    if (trial) assay__add_quality(doc, trial);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    assay__doc_section(doc, "summary", "Summary", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET | ASSAY__SECTION_FIRST);
    assay__add_headline(doc, trial);
    doc->headed = true; /* a page has its findings next to the layers */
    if (trial) assay__add_trust(doc, trial);
    assay__add_first_finding(doc, profile);
    doc->headed = false;
    assay__doc_end(doc);
    assay__doc_section(doc, "measured", "What was measured", NULL,
                       ASSAY__TAB_EVIDENCE | ASSAY__SECTION_QUIET);
    bool models = assay__trial_of_model(profile, 1) != NULL;
    for (size_t i = 0; i < profile->model_count && profile->kind != ASSAY__PROFILE_BENCH; i++)
        if (!i || assay__trial_of_model(profile, i)) add_model(doc, profile->models[i], models);
    add_machine(doc, &profile->environment);
    assay__doc_fact_text(doc, "when", profile->created);
    if (trial && profile->trial_count == 1) assay__add_target(doc, trial);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_summary = {"summary", ASSAY__OF_PROFILE, build, {{0}}};
