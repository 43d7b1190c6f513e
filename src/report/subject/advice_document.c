/* advice_document.c - what `assay advise` found, and the table of its rules. */
#include "report/report_advise.h"

#include "advise/finding_rank.h"
#include "experiment/verify.h"
#include "judge/headline.h"
#include "judge/verdict.h"
#include "report/subject/subject.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *or_empty(const char *maybe)
{
    return maybe ? maybe : "";
}

/* Whether the findings of a part are those of its state; disturbances are a part of their own. */
static bool is_in(const struct assay__finding *f, const char *state)
{
    bool disturbs = assay__finding_class(f) == ASSAY__FINDING_DISTURBANCE;
    return strcmp(disturbs ? "disturbance" : assay__finding_state(f), state) == 0;
}

/* The finding that gained most, else the one that could: a sentence of at most 20 words. */
static const char *headline(struct assay__doc *doc, const struct assay__advice *advice)
{
    const struct assay_profile *profile = advice->profile;
    const struct assay__finding *verified = assay__best_verified(profile), *best = NULL;
    size_t open = 0;
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct assay__finding *f = &profile->findings[i];
        if (!is_in(f, "open")) continue;
        open++;
        if (f->expected_gain > (best ? best->expected_gain : 1)) best = f;
    }
    const char *line;
    if (verified)
        line = assay__doc_printf(
            doc, "%s: measured %s × %s (%s).", verified->title,
            assay__digits(verified->verified_gain, 3).text,
            assay__gain_words(verified->verified_of),
            assay__digits_range(verified->verified_low, verified->verified_high).text);
    else if (best)
        line = assay__doc_printf(doc, "%s: at most %s × %s, not tried.", best->title,
                                 assay__digits(best->expected_gain, 3).text,
                                 assay__gain_words(assay__rule_gain_of(or_empty(best->id))));
    else if (open)
        line = assay__doc_printf(doc, "%zu change%s to consider; what %s gain%s is not known.",
                                 open, assay__plural((double)open), open == 1 ? "it" : "they",
                                 open == 1 ? "s" : "");
    else
        line = assay__doc_printf(doc, "Nothing to change was found by %zu rules.",
                                 advice->result_count - advice->missing);
    return assay__headline_cut(line, doc->arena);
}

static void add_summary(struct assay__doc *doc, const struct assay__advice *advice)
{
    const struct assay__trial *trial = advice->trial;
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET);
    if (trial->state != ASSAY__TRIAL_OK)
        assay__doc_warn(doc, "The trial is %s%s%s: the rules see only what it has measured.",
                        assay__trial_state_name(trial->state), *or_empty(trial->reason) ? ": " : "",
                        or_empty(trial->reason));
    for (size_t i = 0; i < trial->assumed_count; i++)
        assay__doc_assumed(doc, trial->assumed[i]);
    assay__doc_verdict(doc, headline(doc, advice));
    struct assay__trial_verdict own = {.text = ""};
    if (assay__trial_verdict(advice->profile, trial, &advice->roofline, doc->arena, &own))
        doc->failed = true;
    else
        assay__doc_quality(doc, (struct assay__quality){assay__trust_badge(own.trust), own.chip,
                                                        own.reasons, own.reason_count});
    assay__doc_kpis(doc, "numbers");
    if (isfinite(advice->p50_ns))
        assay__doc_item(doc, "p50", assay__measured(advice->p50_ns / 1e9, "s"));
    assay__doc_item(doc, "rules", assay__datum_count((double)advice->result_count));
    assay__doc_item(doc, "findings", assay__datum_count((double)advice->found));
    assay__doc_item(doc, "found nothing", assay__datum_count((double)advice->nothing));
    assay__doc_item(doc, "could not be evaluated", assay__datum_count((double)advice->missing));
    const struct assay__verification *v = advice->verification;
    if (v) {
        assay__doc_fact(doc, "tried");
        if (*v->reason) {
            assay__doc_item_text(doc, "nothing: %s", v->reason);
        } else {
            assay__doc_item_text(doc, "%zu of %zu change%s", v->tried, v->changes,
                                 v->changes == 1 ? "" : "s");
            assay__doc_item_text(doc, "%zu verified, %zu withdrawn", v->verified, v->withdrawn);
            assay__doc_item_text(doc, "up to %d launches per side", v->launches);
            assay__doc_item_text(doc, "%.0f s of a budget of %.0f s", v->spent_s, v->budget_s);
        }
        if (!*v->reason) assay__doc_fact_number(doc, "without changes", v->baseline_s, "s");
        if (v->interrupted)
            assay__doc_warn(doc, "Interrupted: judged by what was measured so far.");
    }
    assay__doc_end(doc);
}

/* --- commands --------------------------------------------------------------------------------- */

/* As one word of a shell. */
static void put_word(struct assay__buf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "._/:=,+@%-";
    if (*text && text[strspn(text, plain)] == 0) {
        assay__buf_puts(out, text);
        return;
    }
    assay__buf_putc(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            assay__buf_puts(out, "'\\''");
        else
            assay__buf_putc(out, *text);
    assay__buf_putc(out, '\'');
}

/* The value of a change after its flag; several repeat the flag. */
static void put_value(struct assay__buf *out, const struct assay__change *change, const char *flag)
{
    if (!change->name_count) assay__buf_printf(out, "%lld", (long long)change->value);
    for (size_t i = 0; i < change->name_count; i++) {
        if (i) assay__buf_printf(out, " %s ", flag);
        put_word(out, change->names[i]);
    }
}

/* The command template with the model and the value (the id of the rule or of the change) filled
 * in. */
static const char *fill_in(struct assay__doc *doc, const struct assay__advice *advice,
                           const char *form, const struct assay__change *change, const char *id)
{
    const struct assay__model_info *model = advice->profile->models[0];
    const char *flag = "", *name = *or_empty(model->path) ? model->path : or_empty(model->name);
    struct assay__buf out = {0};
    for (size_t length; *form; form += length + strspn(form + length, " ")) {
        length = strcspn(form, " ");
        const char *word = assay__doc_printf(doc, "%.*s", (int)length, form);
        if (out.length) assay__buf_putc(&out, ' ');
        if (strcmp(word, "MODEL") == 0)
            put_word(&out, name);
        else if (strcmp(word, "VALUE") == 0 && id)
            put_word(&out, id);
        else if (strcmp(word, "VALUE") == 0)
            put_value(&out, change, flag);
        else
            assay__buf_puts(&out, word);
        flag = word;
    }
    return assay__doc_take(doc, &out);
}

/* The command that makes the change, if it was tried and helped; else the one that tries it. */
static void add_command(struct assay__doc *doc, const struct assay__advice *advice, size_t index)
{
    const struct assay__finding *f = &advice->profile->findings[index];
    const struct assay__rule_result *result = assay__advice_finding(advice, index);
    const char *state = assay__finding_state(f);
    bool verified = strcmp(state, "verified") == 0, open = strcmp(state, "open") == 0;
    if (!doc->hint || !result || result->change.kind == ASSAY__CHANGE_NONE || !(verified || open))
        return;
    const char *key = assay__doc_printf(doc, "change.%s", assay__change_name(result->change.kind)),
               *form = doc->hint(verified ? key : "verify-rule");
    if (form)
        assay__doc_code(doc, "sh", NULL,
                        fill_in(doc, advice, form, &result->change, verified ? NULL : f->id));
}

/* What was tried and helped, what was not tried, what was tried without success. */
static const struct part {
    const char *state, *id, *title, *remark;
} parts[] = {
    {"verified", "verified", "Verified",
     "tried here: launches with and without the change, alternating"},
    {"open", "not-tried", "Open",
     "not tried, or without a verdict: the verdict lists what it needs"},
    {"withdrawn", "withdrawn", "Tried and withdrawn", "tried here, not recommended"},
    {"disturbance", "disturbed", "What disturbed the measurement", NULL},
};

/* What a finding gained, or could gain; 0 unknown. */
static double gain_of(const struct assay__finding *f, bool measured)
{
    double gain = measured ? f->verified_gain : f->expected_gain;
    return isfinite(gain) ? gain : 0;
}

/* The next finding of a part: among the verified ones, the largest measured gain not shown yet;
 * among the others, the largest potential. SIZE_MAX: none is left. */
static size_t next_of(const struct assay_profile *profile, const char *state, const bool *shown)
{
    size_t best = SIZE_MAX;
    bool measured = strcmp(state, "verified") == 0;
    for (size_t i = 0; i < profile->finding_count; i++) {
        const struct assay__finding *f = &profile->findings[i];
        if (shown[i] || !is_in(f, state)) continue;
        if (best == SIZE_MAX || gain_of(f, measured) > gain_of(&profile->findings[best], measured))
            best = i;
    }
    return best;
}

/* Without any trial: one list. */
static void add_findings(struct assay__doc *doc, const struct assay__advice *advice)
{
    const struct assay_profile *profile = advice->profile;
    bool *shown = calloc(profile->finding_count + 1, sizeof *shown), tried = advice->verification;
    size_t number = 0;
    if (!shown) doc->failed = true;
    for (size_t i = 0; i < profile->finding_count; i++)
        tried |= strcmp(assay__finding_state(&profile->findings[i]), "open") != 0;
    for (size_t p = 0; shown && p < sizeof parts / sizeof parts[0]; p++) {
        bool alone = !tried && strcmp(parts[p].state, "open") == 0;
        assay__doc_section(doc, alone ? "findings" : parts[p].id,
                           alone ? "Findings" : parts[p].title, alone ? NULL : parts[p].remark,
                           ASSAY__TAB_OVERVIEW | ASSAY__SECTION_DECK);
        for (size_t i; (i = next_of(profile, parts[p].state, shown)) != SIZE_MAX;) {
            const struct assay__finding *f = &profile->findings[i];
            shown[i] = true;
            const char *id = assay__doc_printf(doc, "finding-%zu", ++number);
            const char *title = assay__doc_printf(doc, "%zu. %s", number, or_empty(f->title));
            const char *remark = assay__doc_printf(doc, "%s, %s", or_empty(f->severity),
                                                   or_empty(f->id));
            assay__doc_section(doc, id, title, remark, ASSAY__SECTION_CARD);
            assay__add_finding(doc, advice->trial, f);
            add_command(doc, advice, i);
            assay__doc_end(doc);
        }
        assay__doc_end(doc);
    }
    free(shown);
    assay__add_finding_table(doc, profile);
}

static const struct assay__column result_columns[] = {
    {.key = "id"}, {.key = "family"}, {.key = "outcome"}, {.key = "missing"}};

/* Whether rule i was not evaluated for the same reason as rule k. */
static bool lack_the_same(const struct assay__advice *advice, size_t i, size_t k)
{
    const struct assay__rule_result *a = &advice->results[i], *b = &advice->results[k];
    return a->outcome == ASSAY__RULE_MISSING && b->outcome == ASSAY__RULE_MISSING &&
           strcmp(a->missing, b->missing) == 0;
}

/* Rules with the same missing input share a line. */
static void add_missing(struct assay__doc *doc, const struct assay__advice *advice)
{
    assay__doc_section(doc, "not-evaluated", "Not evaluated",
                       "what is missing, and for which rules", ASSAY__TAB_EVIDENCE);
    for (size_t i = 0; i < advice->result_count; i++) {
        struct assay__buf ids = {0};
        bool said = advice->results[i].outcome != ASSAY__RULE_MISSING;
        for (size_t k = 0; k < i && !said; k++)
            said = lack_the_same(advice, k, i);
        for (size_t k = i; k < advice->result_count && !said; k++)
            if (lack_the_same(advice, k, i)) assay__buf_join(&ids, advice->results[k].rule->id);
        const char *names = assay__doc_take(doc, &ids);
        if (!said) assay__doc_point(doc, "%s [%s]", advice->results[i].missing, names);
    }
    assay__doc_end(doc);
}

/* What the numbers are, and why some are missing. */
static void add_notes(struct assay__doc *doc, const struct assay__advice *advice)
{
    if (!advice->found) return;
    const struct assay_metric *energy = assay_metrics_get(advice->trial->metrics,
                                                          "energy.inference.gross");
    assay__doc_section(doc, "notes", "Notes", NULL, ASSAY__TAB_EVIDENCE);
    if (!isfinite(assay__trial_value(advice->trial, "energy.inference.gross")))
        assay__doc_point(doc, "Energy savings are unavailable: %s.",
                         energy && *or_empty(energy->note) ? energy->note
                                                           : "the profile has no power readings");
    assay__doc_point(doc, "A potential is derived from shares of the latency (=) or from an "
                          "assumed cost (~); the potentials of several findings do not multiply.");
    const char *hint = doc->hint ? doc->hint("verification") : NULL;
    if (advice->verification)
        assay__doc_point(doc, "Measured gains hold for this machine and this workload.");
    else
        assay__doc_point(doc,
                         "Potentials are not measured; verification measures those that can "
                         "be tried%s%s%s.",
                         hint ? " (" : "", hint ? hint : "", hint ? ")" : "");
    assay__doc_end(doc);
}

int assay__advice_document(const struct assay__advice *advice, const char *(*hint)(const char *),
                           struct assay__doc **made)
{
    const struct assay__target *target = &advice->trial->target;
    struct assay__buf ids = {0};
    int code = assay__doc_new(made);
    if (code) return code;
    struct assay__doc *doc = *made;
    doc->hint = hint;
    bool one = advice->profile->trial_count < 2 || advice->verification;
    doc->title = or_empty(advice->profile->models[0]->name);
    doc->kicker = "assay advise";
    doc->subtitle = doc->version = assay__doc_printf(doc, one ? "%s on %s" : "%s on %s, trial %d",
                                                     or_empty(target->engine),
                                                     or_empty(target->device), advice->trial->id);
    doc->marks = advice->found > 0;
    doc->table = "findings";
    add_summary(doc, advice);
    add_findings(doc, advice);
    add_notes(doc, advice);
    add_missing(doc, advice);
    for (size_t i = 0; i < advice->result_count; i++)
        if (advice->results[i].outcome == ASSAY__RULE_NOTHING)
            assay__buf_join(&ids, advice->results[i].rule->id);
    assay__doc_section(doc, "nothing-found", "Nothing found", NULL, ASSAY__TAB_EVIDENCE);
    assay__doc_say(doc, ASSAY__TONE_NOTE, assay__doc_take(doc, &ids));
    assay__doc_end(doc);
    struct assay__table *t = assay__doc_table(doc, "rules", NULL, result_columns);
    for (size_t i = 0; i < advice->result_count; i++) {
        const struct assay__rule_result *r = &advice->results[i];
        assay__table_row_of(t, 0, r->rule->id, r->rule->family,
                            assay__rule_outcome_name(r->outcome), r->missing);
    }
    return 0;
}

static const struct assay__column rule_columns[] = {
    {.key = "id"},        {.key = "family"}, {.key = "title"},
    {.key = "looks_for"}, {.key = "needs"},  {.key = "effort"},
};

int assay__rules_document(struct assay__doc **made)
{
    const struct assay__rule *rule;
    const char *family = NULL;
    size_t count = 0;
    int code = assay__doc_new(made);
    if (code) return code;
    struct assay__doc *doc = *made;
    struct assay__table *t = assay__doc_table(doc, "rules", NULL, rule_columns);
    for (; (rule = assay__rule_at(count)); count++) {
        if (!family || strcmp(family, rule->family) != 0) {
            if (family) assay__doc_end(doc);
            family = rule->family;
            assay__doc_section(doc, family, family, NULL, 0);
        }
        struct assay__buf needs = {0};
        assay__rule_needs(&needs, rule);
        const char *all = assay__doc_take(doc, &needs);
        assay__doc_fact(doc, rule->id);
        assay__doc_item_text(doc, "%s. Needs: %s. Effort: %s.", rule->looks, all, rule->effort);
        assay__table_row_of(t, 0, rule->id, rule->family, rule->title, rule->looks, all,
                            rule->effort);
    }
    assay__doc_end(doc);
    doc->title = assay__doc_printf(doc, "%zu rules", count);
    doc->kicker = doc->version = "assay advise";
    return 0;
}
