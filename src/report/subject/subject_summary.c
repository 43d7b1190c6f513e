/* subject_summary.c - what a reader sees first: what went wrong, the answer, the numbers that
 * everybody looks for, and what was measured where. */
#include "report/subject/subject.h"

#include "judge/comparison.h"
#include "judge/sweep.h"
#include "report/subject/layer_list.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what went wrong -------------------------------------------------------------------------- */

/* The trial lost a launch, and what its command concludes still rests on enough others. */
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
    enum { REASONS = 64 }; /* distinct reasons shown; an untrusted profile may hold any number */
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

/* --- where the time goes -----------------------------------------------------------------------
 */

/* The operator whose layers take longest together; op "": none is known. */
static struct assay__operator longest_op(const struct assay__layers *layers)
{
    size_t count;
    struct assay__operator *sums = assay__operators(layers, &count);
    struct assay__operator best = {.op = ""};
    if (count && sums[0].timed) best = sums[0];
    free(sums);
    return best;
}

static struct assay__digits percent(double ratio)
{
    struct assay__digits made;
    snprintf(made.text, sizeof made.text, fabs(ratio) < 0.0995 ? "%.1f %%" : "%.0f %%",
             ratio * 100);
    return made;
}

/* What is known of the layers' times together. */
struct times {
    struct assay__operator op;          /* the one that takes longest */
    const struct assay__layer *slowest; /* NULL: none has a time */
    double sum_ns;
};

static struct times known_times(const struct assay__layers *layers)
{
    struct times known = {.op = longest_op(layers)};
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        if (!assay__layer_is_timed(l)) continue;
        known.sum_ns += l->time_ns;
        if (!known.slowest || l->time_ns > known.slowest->time_ns) known.slowest = l;
    }
    return known;
}

/* "; the slowest layer, fc, takes 12 %." */
static void put_slowest(struct assay__buf *out, const struct assay__layers *layers,
                        const struct times *known, double whole_ns)
{
    if (known->slowest && layers->count > 1)
        assay__buf_printf(out, "; the slowest layer, %s, takes %s",
                          assay__layer_title(known->slowest),
                          percent(known->slowest->time_ns / whole_ns).text);
    assay__buf_putc(out, '.');
}

static void answer_engine(struct assay__buf *out, const struct assay__layers *layers, double p50_ns)
{
    bool most = layers->engine_ns > 0.5 * p50_ns;
    bool hidden = isfinite(layers->unattributed_ns) && layers->unattributed_ns > layers->engine_ns;
    assay__buf_printf(
        out,
        "Of %s per inference, %s the engine's fixed cost per run (%s), more than any kind of layer",
        assay__scaled(p50_ns / 1e9, "s").text,
        most     ? "most goes to"
        : hidden ? "the largest part that could be attributed is"
                 : "the largest single part is",
        percent(layers->engine_ns / p50_ns).text);
}

static void answer_layers(struct assay__buf *out, const struct assay__trial *trial, double p50_ns)
{
    const struct assay__layers *layers = &trial->layers;
    struct times known = known_times(layers);
    if (known.sum_ns > 1.05 * p50_ns || known.op.time_ns > 1.005 * p50_ns) {
        /* Layers that take longer together than the run they are part of say nothing about its
         * time, only about each other. */
        assay__buf_printf(out, "The layers sum to %s of the %s per inference: ",
                          percent(known.sum_ns / p50_ns).text,
                          assay__scaled(p50_ns / 1e9, "s").text);
        if (isfinite(layers->slowdown) && layers->slowdown > 1.05)
            assay__buf_printf(out, "timing them made the run %.2f times as long; ",
                              layers->slowdown);
        assay__buf_printf(out,
                          "read them as proportions. %s takes %s of their sum (%zu of %zu layer%s)",
                          known.op.op, percent(known.op.time_ns / known.sum_ns).text,
                          known.op.layers, layers->count, assay__plural(layers->count));
        put_slowest(out, layers, &known, known.sum_ns);
        return;
    }
    if (isfinite(layers->engine_ns) && layers->engine_ns > known.op.time_ns)
        answer_engine(out, layers, p50_ns);
    else
        assay__buf_printf(out, "%s takes %s of the %s per inference (%zu of %zu layer%s)",
                          known.op.op, percent(known.op.time_ns / p50_ns).text,
                          assay__scaled(p50_ns / 1e9, "s").text, known.op.layers, layers->count,
                          assay__plural(layers->count));
    put_slowest(out, layers, &known, p50_ns);
    double rest = layers->unattributed_ns / p50_ns;
    if (rest > 0.05)
        assay__buf_printf(out, " %s could not be attributed: read the layers with that in mind.",
                          percent(rest).text);
    else if (rest < -0.05)
        assay__buf_printf(out,
                          " The layers and the engine's cost sum to %s more than that: read them "
                          "with that in mind.",
                          percent(-rest).text);
}

/* Why no layer has a time: what the layers themselves say comes before a remark about all of
 * them. */
static void put_reason(struct assay__buf *out, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const char *note = NULL, *reason = "";
    bool enqueued = false, differ = false;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        enqueued |= isfinite(l->host_enqueue_ns);
        if (!l->note || !*l->note) continue;
        differ |= note && strcmp(note, l->note) != 0;
        if (!note) note = l->note;
    }
    bool timed = (layers->method && *layers->method) || trial->protocol.layers != ASSAY_LAYERS_OFF;
    bool said = layers->reason && *layers->reason;
    if (enqueued)
        reason = "the engine reports only how long the host took to enqueue each layer";
    else if (note)
        reason = differ ? "no layer has a time; their notes say why" : note;
    else if (said && (layers->count || !layers->method || !*layers->method))
        reason = layers->reason;
    else if (!layers->count && timed && trial->state != ASSAY__TRIAL_OK)
        reason = "the run ended before the layers were timed";
    else if (!layers->count && timed)
        reason = "the graph has no nodes left to time";
    size_t length = strlen(reason);
    if (length) assay__buf_printf(out, ": %s", reason);
    if (!length || reason[length - 1] != '.') assay__buf_putc(out, '.');
}

static void put_answer(struct assay__buf *out, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    bool any = false;
    for (size_t i = 0; i < layers->count; i++)
        any |= layers->items[i].state != ASSAY_UNAVAILABLE && layers->items[i].time_ns > 0;
    if (!p50 || p50->state == ASSAY_UNAVAILABLE) {
        assay__buf_puts(out, "The latency is not known, so neither is where the time goes.");
    } else if (any && p50->value > 0) {
        answer_layers(out, trial, p50->value * 1e9);
    } else if (trial->generation.tokens) {
        /* "One inference is a generation (a prompt of 32, then 16 tokens) and takes 9 ms: the first
         * token after 5 ms, then one every 0.3 ms." */
        const struct assay_metric *first = assay__trial_metric(trial, "llm.ttft"),
                                  *next = assay__trial_metric(trial, "llm.itl");
        const struct assay__generation_info *made = &trial->generation;
        assay__buf_printf(out,
                          "One inference is a generation (a prompt of %" PRId64 ", then %" PRId64
                          " token%s) and takes %s",
                          made->prompt, made->tokens, assay__plural((double)made->tokens),
                          assay__scaled(p50->value, "s").text);
        if (first)
            assay__buf_printf(out, ": the first token after %s",
                              assay__scaled(first->value, "s").text);
        if (first && next)
            assay__buf_printf(out, ", then one every %s", assay__scaled(next->value, "s").text);
        assay__buf_puts(out, first ? "." : "; the times of its tokens are not known.");
    } else {
        assay__buf_printf(out, "One inference takes %s; where it goes inside is not known",
                          assay__scaled(p50->value, "s").text);
        put_reason(out, trial);
    }
}

/* --- the answer ------------------------------------------------------------------------------- */

/* Empty sentences are not shown. */
static void add_verdict(struct assay__doc *doc, const char *label, const char *why)
{
    if (*why) assay__doc_lead(doc, "%s%s%s.", label, *label ? ": " : "", why);
}

static void add_answer(struct assay__doc *doc, struct assay__study *study,
                       const struct assay__trial *trial)
{
    bool several = study->profile->trial_count > 1;
    struct assay__buf text = {0};
    if (several) {
        enum assay__profile_kind kind = study->profile->kind;
        if (kind == ASSAY__PROFILE_COMPARE) {
            const char *why =
                assay__study_comparison(study)->recommendations[ASSAY__FOR_LATENCY].why;
            add_verdict(doc, "", why ? why : "");
        } else if (kind == ASSAY__PROFILE_SWEEP) {
            const char *why = assay__study_sweep(study)->why;
            if (*why) assay__doc_lead(doc, "%c%s.", toupper((unsigned char)*why), why + 1);
        } else if (kind == ASSAY__PROFILE_TUNE) {
            const struct assay__tune_result *tune = assay__study_tune(study);
            add_verdict(doc, tune->best < tune->count ? tune->rows[tune->best].judged.label : "",
                        tune->why);
        }
    }
    if (trial->state == ASSAY__TRIAL_FAILED && !assay__trial_metric(trial, "latency.p50"))
        return; /* see the alert */
    if (several)
        assay__buf_printf(&text, "%s: ", *trial->label ? trial->label : trial->target.device);
    put_answer(&text, trial);
    const char *answer = assay__doc_take(doc, &text);
    if (!several || trial->layers.count)
        assay__doc_say(doc, several ? ASSAY__TONE_PLAIN : ASSAY__TONE_LEAD, answer);
}

/* --- the numbers ------------------------------------------------------------------------------ */

static const struct {
    const char *label, *names[4]; /* the first known one is shown */
} cards[] = {
    {"per inference", {"latency.p50"}},
    {"throughput", {"throughput.tokens", "throughput.samples", "throughput.inferences"}},
    {"compute", {"compute.rate"}},
    {"peak memory", {"memory.total", "memory.peak.worker", "memory.peak.device"}},
    {"gross energy per inference", {"energy.inference.gross"}},
    {"power", {"power.average"}},
};

/* "66.98 µs to 68.41 µs (95 % between launches)" */
static const char *interval(struct assay__doc *doc, const struct assay__trial *trial)
{
    static const char *const pairs[][3] = {
        {"latency.between_low", "latency.between_high", "95 % between launches"},
        {"latency.ci_low", "latency.ci_high", "95 % within the run"}};
    for (size_t i = 0; i < 2; i++) {
        const struct assay_metric *low = assay__trial_metric(trial, pairs[i][0]),
                                  *high = assay__trial_metric(trial, pairs[i][1]);
        if (low && high)
            return assay__doc_printf(doc, "(%s to %s, %s)", assay__scaled(low->value, "s").text,
                                     assay__scaled(high->value, "s").text, pairs[i][2]);
    }
    return NULL;
}

/* The finding that gained most, or could: what to do next. */
void assay__add_first_finding(struct assay__doc *doc, const struct assay_profile *profile)
{
    if (!profile->finding_count) return;
    const struct assay__finding *f = &profile->findings[0];
    const char *gain = "";
    if (isfinite(f->verified_gain))
        gain = assay__doc_printf(doc, ": measured %s × (%s, 95 %%)",
                                 assay__digits(f->verified_gain, 3).text,
                                 assay__digits_range(f->verified_low, f->verified_high).text);
    else if (isfinite(f->expected_gain))
        gain = assay__doc_printf(doc, ": at most %s%s ×, not tried",
                                 assay__state_mark(assay__finding_gain_state(f)),
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

/* Threads are always shown, other options only when they were chosen. */
static bool is_chosen(const struct assay__pair *option)
{
    static const char *const unsaid[] = {"", "default", "any", "by precision", "detected", "auto"};
    static const char *const elsewhere[] = {"seed", "require"};
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
}

static void add_numbers(struct assay__doc *doc, const struct assay__trial *trial, bool several)
{
    if (several)
        assay__doc_plain(doc, "Numbers of trial %d, %s:", trial->id,
                         *trial->label ? trial->label : trial->target.device);
    assay__doc_cards(doc, "numbers");
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        const struct assay_metric *metric = NULL;
        for (size_t k = 0; k < 4 && cards[i].names[k] && !metric; k++)
            metric = assay__trial_metric(trial, cards[i].names[k]);
        if (!metric) continue;
        /* "(samples)", "(tokens)" */
        bool rate = several && strncmp(metric->name, "throughput.", 11) == 0;
        assay__doc_item_after(doc, cards[i].label, assay__datum_metric(metric),
                              i == 0 ? interval(doc, trial)
                              : rate ? assay__doc_printf(doc, "(%s)", metric->name + 11)
                                     : NULL);
    }
}

void assay__add_headline(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    add_alerts(doc, profile);
    if (trial) add_answer(doc, doc->study, trial);
    for (size_t i = 0; trial && i < trial->assumed_count; i++)
        assay__doc_assumed(doc, trial->assumed[i]); /* below the answer that it decides */
    if (trial) add_numbers(doc, trial, profile->trial_count > 1);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    assay__doc_section(doc, "summary", "Summary", NULL,
                       ASSAY__VIEW_OVERVIEW | ASSAY__SECTION_QUIET);
    assay__add_headline(doc, trial);
    const struct assay__stability *s = trial ? &trial->stability : NULL;
    if (s && s->verdict && strcmp(s->verdict, "unstable") == 0 && s->reason_count) {
        size_t more = s->reason_count - 1;
        assay__doc_warn(doc, more ? "Unstable: %s; and %zu more reason%s." : "Unstable: %s.",
                        s->reasons[0], more, assay__plural((double)more));
    }
    assay__add_first_finding(doc, profile);
    bool models = assay__trial_of_model(profile, 1) != NULL;
    for (size_t i = 0; i < profile->model_count; i++)
        if (!i || assay__trial_of_model(profile, i)) add_model(doc, profile->models[i], models);
    add_machine(doc, &profile->environment);
    assay__doc_fact_text(doc, "when", profile->created);
    if (trial && profile->trial_count == 1) assay__add_target(doc, trial);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_summary = {"summary", ASSAY__OF_PROFILE, build, {{0}}};
