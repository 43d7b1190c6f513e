/* advise.c - see advise.h. A potential is marked as derived ("="): it follows from measured shares,
 * and has not been tried. */
#include "report/advise.h"

#include "judge/comparison.h"
#include "experiment/verify.h"
#include "base/json.h"
#include "base/text.h"
#include "report/parts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

static const char *or_empty(const char *maybe)
{
    return maybe ? maybe : "";
}

/* --- text ------------------------------------------------------------------------------------- */

static void put_title(struct assay__page *page, const struct assay__advice *advice)
{
    const struct assay_profile *profile = advice->profile;
    const struct assay__trial *trial = advice->trial;
    struct assay__buf line = {0}, right = {0};
    assay__buf_printf(&line, "assay advise  %s", or_empty(profile->models[0]->name));
    assay__buf_printf(&right, "%s on %s", or_empty(trial->target.engine),
                      or_empty(trial->target.device));
    if (profile->trial_count > 1 && !advice->verification)
        assay__buf_printf(&right, ", trial %d", trial->id);
    assay__page_title(page, text(&line), text(&right));
    assay__buf_free(&line);
    assay__buf_free(&right);
}

static void put_summary(struct assay__page *page, const struct assay__advice *advice)
{
    struct assay__buf line = {0};
    if (isfinite(advice->p50_ns)) {
        assay__buf_puts(&line, "latency.p50 ");
        assay__render_ns(&line, advice->p50_ns);
        assay__buf_puts(&line, ". ");
    }
    assay__buf_printf(&line, "%zu %s: %zu %s, %zu found nothing, %zu could not be evaluated.",
                      advice->result_count, advice->result_count == 1 ? "rule" : "rules",
                      advice->found, advice->found == 1 ? "finding" : "findings", advice->nothing,
                      advice->missing);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "", text(&line));
    if (advice->trial->state != ASSAY__TRIAL_OK) {
        assay__buf_clear(&line);
        assay__buf_printf(&line, "The trial is %s%s%s: the rules see only what it holds.",
                          assay__trial_state_name(advice->trial->state),
                          *or_empty(advice->trial->reason) ? ": " : "",
                          or_empty(advice->trial->reason));
        assay__page_wrap(page, ASSAY__STYLE_WARN, "", text(&line));
    }
    assay__buf_free(&line);
}

static void put_potential(struct assay__buf *out, const struct assay__finding *f,
                          const struct assay__rule_result *result)
{
    bool estimated = result && result->finding.gain_estimated;
    const char *mark = assay__render_mark(estimated ? ASSAY_ESTIMATED : ASSAY_DERIVED);
    if (strcmp(or_empty(f->id), ASSAY__VERIFY_COMBINED) == 0)
        assay__buf_printf(out, "%s%s × if gains multiplied", mark,
                          assay__digits(f->expected_gain, 3).text);
    else if (isfinite(f->expected_gain))
        assay__buf_printf(out, "%s%s × %s", mark, assay__digits(f->expected_gain, 3).text,
                          assay__gain_words(result ? result->gain_of : "latency"));
    else
        assay__buf_puts(out, "not known from this profile");
    if (isfinite(f->energy_saving))
        assay__buf_printf(out, ", energy of an inference %s-%s %% at unchanged power", mark,
                          assay__digits(f->energy_saving * 100, 2).text);
}

static void put_finding_title(struct assay__page *page, const struct assay__finding *f,
                              size_t number)
{
    struct assay__buf line = {0};
    char first[24] = "";
    bool high = strcmp(or_empty(f->severity), "high") == 0;
    snprintf(first, sizeof first, "%3zu  ", number);
    assay__buf_putc(page->out, '\n');
    assay__buf_printf(&line, "%s  [%s, %s]", or_empty(f->title), or_empty(f->severity),
                      or_empty(f->id));
    assay__page_wrap(page, high ? ASSAY__STYLE_WARN : ASSAY__STYLE_BOLD, first, text(&line));
    assay__buf_free(&line);
}

static void put_gain(struct assay__page *page, const struct assay__finding *f)
{
    struct assay__buf line = {0};
    if (!isfinite(f->verified_gain)) return;
    assay__buf_printf(&line, "%s × %s (%s to %s, 95 %%)", assay__digits(f->verified_gain, 3).text,
                      assay__gain_words(f->verified_of), assay__digits(f->verified_low, 3).text,
                      assay__digits(f->verified_high, 3).text);
    assay__page_wrap(page, ASSAY__STYLE_BOLD, "     measured   ", text(&line));
    assay__buf_free(&line);
}

/* What else was measured when it was tried. */
static void put_costs(struct assay__page *page, const struct assay__finding *f)
{
    struct assay__buf line = {0};
    if (!isfinite(f->verified_gain)) return;
    if (isfinite(f->verified_energy)) {
        bool each = strcmp(or_empty(f->verified_of), "latency") == 0;
        assay__buf_printf(&line, "%s × that without, per %s",
                          assay__digits(f->verified_energy, 3).text, each ? "inference" : "sample");
        if (isfinite(f->verified_energy_low))
            assay__buf_printf(&line, " (%s to %s, 95 %%)",
                              assay__digits(f->verified_energy_low, 3).text,
                              assay__digits(f->verified_energy_high, 3).text);
        else
            assay__buf_puts(&line, " (one number a side: no interval)");
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     energy     ", text(&line));
    }
    assay__buf_clear(&line);
    if (isfinite(f->verified_drift))
        assay__buf_printf(&line, "relative L2 distance %.2g, ", f->verified_drift);
    assay__buf_puts(&line, or_empty(f->drift_note));
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     outputs    ", text(&line));
    assay__buf_free(&line);
}

static void put_tried(struct assay__page *page, const struct assay__finding *f)
{
    if (*or_empty(f->tried))
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     tried      ", f->tried);
}

static void put_finding(struct assay__page *page, const struct assay__finding *f,
                        const struct assay__rule_result *result, size_t number)
{
    struct assay__buf line = {0};
    put_finding_title(page, f, number);
    for (size_t i = 0; i < f->evidence_count; i++)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, i ? "                " : "     evidence   ",
                         f->evidence[i]);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     change     ", or_empty(f->advice));
    put_potential(&line, f, result);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     potential  ", text(&line));
    put_tried(page, f);
    put_gain(page, f);
    put_costs(page, f);
    if (*or_empty(f->reason))
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     verdict    ", f->reason);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     effort     ", or_empty(f->effort));
    assay__buf_free(&line);
}

/* Advice that did not help: what was tried and what came of it. */
static void put_withdrawn(struct assay__page *page, const struct assay__finding *f,
                          const struct assay__rule_result *result, size_t number)
{
    struct assay__buf line = {0};
    put_finding_title(page, f, number);
    put_potential(&line, f, result);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     potential  ", text(&line));
    put_tried(page, f);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     verdict    ", or_empty(f->reason));
    put_costs(page, f);
    assay__buf_free(&line);
}

/* Rules with the same missing input share a line. */
static void put_missing(struct assay__page *page, const struct assay__advice *advice)
{
    bool *done = calloc(advice->result_count + 1, sizeof *done);
    if (!done) page->out->failed = true;
    if (advice->missing)
        assay__page_heading(page, "Not evaluated", "what is missing, and for which rules");
    for (size_t i = 0; done && i < advice->result_count; i++) {
        const struct assay__rule_result *r = &advice->results[i];
        struct assay__buf line = {0};
        if (r->outcome != ASSAY__RULE_MISSING || done[i]) continue;
        assay__buf_puts(&line, r->missing);
        for (size_t k = i; k < advice->result_count; k++) {
            const struct assay__rule_result *other = &advice->results[k];
            if (other->outcome != ASSAY__RULE_MISSING || strcmp(other->missing, r->missing) != 0)
                continue;
            assay__buf_printf(&line, "%s%s", k == i ? " [" : ", ", other->rule->id);
            done[k] = true;
        }
        assay__buf_putc(&line, ']');
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  • ", text(&line));
        assay__buf_free(&line);
    }
    free(done);
}

static void put_nothing(struct assay__page *page, const struct assay__advice *advice)
{
    struct assay__buf line = {0};
    if (!advice->nothing) return;
    assay__page_heading(page, "Nothing found", "");
    for (size_t i = 0; i < advice->result_count; i++)
        if (advice->results[i].outcome == ASSAY__RULE_NOTHING)
            assay__buf_printf(&line, "%s%s", line.length ? ", " : "", advice->results[i].rule->id);
    assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text(&line));
    assay__buf_free(&line);
}

static bool is_in(const struct assay__finding *f, const char *state)
{
    const char *own = or_empty(f->state);
    bool known = strcmp(own, "verified") == 0 || strcmp(own, "withdrawn") == 0;
    return strcmp(known ? own : "open", state) == 0;
}

/* The next finding of a part: of what was verified the largest measured gain that is not shown yet,
 * else in their order. SIZE_MAX: none is left. */
static size_t next_of(const struct assay_profile *profile, const char *state, const bool *shown)
{
    size_t best = SIZE_MAX;
    bool measured = strcmp(state, "verified") == 0;
    for (size_t i = 0; i < profile->finding_count; i++) {
        if (shown[i] || !is_in(&profile->findings[i], state)) continue;
        if (best == SIZE_MAX || (measured && profile->findings[i].verified_gain >
                                                 profile->findings[best].verified_gain))
            best = i;
    }
    return best;
}

/* What was tried and helped, what nobody tried, what was tried in vain. Without any trial: one
 * list. */
static void put_findings(struct assay__page *page, const struct assay__advice *advice)
{
    static const struct {
        const char *state, *title, *remark;
    } parts[] = {
        {"verified", "Verified", "tried here: launches with and without the change, alternating"},
        {"open", "Not tried", "the verdict says what it needs"},
        {"withdrawn", "Tried and withdrawn", "tried here, and not advised"},
    };
    const struct assay_profile *profile = advice->profile;
    size_t count[3] = {0}, number = 0;
    for (size_t i = 0; i < profile->finding_count; i++)
        for (size_t p = 0; p < 3; p++)
            count[p] += is_in(&profile->findings[i], parts[p].state);
    bool tried = count[0] || count[2] || advice->verification;
    bool *shown = calloc(profile->finding_count + 1, sizeof *shown);
    if (!shown) page->out->failed = true;
    for (size_t p = 0; shown && p < 3; p++) {
        if (tried && count[p]) assay__page_heading(page, parts[p].title, parts[p].remark);
        for (size_t i; (i = next_of(profile, parts[p].state, shown)) != SIZE_MAX;) {
            shown[i] = true;
            (p == 2 ? put_withdrawn : put_finding)(page, &profile->findings[i],
                                                   assay__advice_finding(advice, i), ++number);
        }
    }
    free(shown);
}

static void put_verification(struct assay__page *page, const struct assay__advice *advice)
{
    const struct assay__verification *v = advice->verification;
    struct assay__buf line = {0};
    if (!v) return;
    if (*v->reason) {
        assay__buf_printf(&line, "Nothing was tried: %s.", v->reason);
    } else {
        assay__buf_printf(
            &line,
            "%zu of %zu %s tried in %.0f s of a budget of %.0f s, up to %d launches a "
            "side: %zu verified, %zu withdrawn.",
            v->tried, v->changes, v->changes == 1 ? "change was" : "changes were", v->spent_s,
            v->budget_s, v->launches, v->verified, v->withdrawn);
        if (isfinite(v->baseline_s)) {
            assay__buf_puts(&line, " Without changes: ");
            assay__render_ns(&line, v->baseline_s * 1e9);
            assay__buf_putc(&line, '.');
        }
    }
    if (v->interrupted) assay__buf_puts(&line, " Interrupted: what was done by then is judged.");
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "", text(&line));
    assay__buf_free(&line);
}

void assay__page_advice(struct assay__page *page, const struct assay__advice *advice)
{
    size_t start = page->out->length;
    put_title(page, advice);
    put_summary(page, advice);
    put_verification(page, advice);
    put_findings(page, advice);
    if (!isfinite(assay__trial_value(advice->trial, "energy.inference.gross")) && advice->found) {
        const struct assay_metric *m = assay_metrics_get(advice->trial->metrics,
                                                         "energy.inference.gross");
        struct assay__buf line = {0};
        assay__buf_printf(&line, "Energy savings are unavailable: %s.",
                          m && m->note && *m->note ? m->note
                                                   : "the profile holds no power (--power)");
        assay__buf_putc(page->out, '\n');
        assay__page_wrap(page, ASSAY__STYLE_DIM, "", text(&line));
        assay__buf_free(&line);
    }
    put_missing(page, advice);
    put_nothing(page, advice);
    if (advice->found) {
        assay__buf_putc(page->out, '\n');
        assay__page_wrap(page, ASSAY__STYLE_DIM, "",
                         advice->verification
                             ? "A potential follows from shares of the latency (=) or rests on an "
                               "assumed cost (~). Measured gains "
                               "are of this machine and this workload, and do not multiply."
                             : "A potential follows from shares of the latency (=) or rests on an "
                               "assumed cost (~); it was not measured "
                               "(--verify measures what can be tried). Potentials of several "
                               "findings do not multiply.");
    }
    if (page->ascii) assay__page_to_ascii(page->out, start);
}

void assay__page_rules(struct assay__page *page)
{
    const struct assay__rule *rule;
    const char *family = "";
    size_t start = page->out->length, count = 0;
    while (assay__rule_at(count))
        count++;
    assay__buf_printf(page->out, "%zu rules\n", count);
    for (size_t i = 0; (rule = assay__rule_at(i)); i++) {
        struct assay__buf line = {0}, first = {0};
        if (strcmp(family, rule->family) != 0) assay__page_heading(page, rule->family, "");
        family = rule->family;
        assay__buf_printf(&first, "  %-20s", rule->id);
        assay__buf_printf(&line, "%s. Needs: ", rule->looks);
        assay__rule_needs(&line, rule);
        assay__buf_printf(&line, ". Effort: %s.", rule->effort);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, text(&first), text(&line));
        assay__buf_free(&line);
        assay__buf_free(&first);
    }
    if (page->ascii) assay__page_to_ascii(page->out, start);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static const char *outcome_name(enum assay__rule_outcome outcome)
{
    static const char *const names[] = {"nothing", "found", "not-evaluated"};
    return names[outcome];
}

static void put_rules(struct assay__json_writer *w, const struct assay__advice *advice)
{
    assay__json_key(w, "rules");
    assay__json_array(w);
    for (size_t i = 0; i < advice->result_count; i++) {
        const struct assay__rule_result *r = &advice->results[i];
        assay__json_object(w);
        assay__json_put_string(w, "id", r->rule->id);
        assay__json_put_string(w, "family", r->rule->family);
        assay__json_put_string(w, "outcome", outcome_name(r->outcome));
        assay__json_put_text(w, "missing", r->missing);
        assay__json_put_text(w, "potential_of",
                             isfinite(r->finding.expected_gain) ? r->gain_of : "");
        assay__json_put_text(w, "potential_state",
                             !isfinite(r->finding.expected_gain) ? ""
                             : r->finding.gain_estimated         ? "estimated"
                                                                 : "derived");
        assay__json_key(w, "change");
        if (r->outcome == ASSAY__RULE_FOUND && r->change.kind != ASSAY__CHANGE_NONE) {
            assay__json_object(w);
            assay__json_put_string(w, "kind", assay__change_name(r->change.kind));
            if (r->change.value) assay__json_put_integer(w, "value", r->change.value);
            if (r->change.name_count)
                assay__json_put_strings(w, "dims", r->change.names, r->change.name_count);
            assay__json_object_end(w);
        } else {
            assay__json_null(w);
        }
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void put_head(struct assay__json_writer *w, const struct assay__advice *advice)
{
    const struct assay_profile *profile = advice->profile;
    const struct assay__trial *trial = advice->trial;
    assay__json_put_text(w, "profile", profile->path);
    assay__json_key(w, "model");
    assay__json_object(w);
    assay__json_put_text(w, "name", profile->models[0]->name);
    assay__json_put_text(w, "path", profile->models[0]->path);
    assay__json_put_text(w, "fingerprint", profile->models[0]->fingerprint);
    assay__json_object_end(w);
    assay__json_key(w, "trial");
    assay__json_object(w);
    assay__json_put_integer(w, "id", trial->id);
    assay__json_put_string(w, "state", assay__trial_state_name(trial->state));
    assay__json_put_text(w, "engine", trial->target.engine);
    assay__json_put_text(w, "device", trial->target.device);
    assay__json_put_number(w, "p50_us", advice->p50_ns / 1e3);
    assay__json_object_end(w);
}

static void put_verified(struct assay__json_writer *w, const struct assay__advice *advice)
{
    const struct assay__verification *v = advice->verification;
    assay__json_key(w, "verification");
    if (!v) {
        assay__json_null(w);
        return;
    }
    assay__json_object(w);
    assay__json_put_integer(w, "launches", v->launches);
    assay__json_put_number(w, "budget_s", v->budget_s);
    assay__json_put_number(w, "spent_s", v->spent_s);
    assay__json_put_number(w, "baseline_us", v->baseline_s * 1e6);
    assay__json_put_integer(w, "changes", (int64_t)v->changes);
    assay__json_put_integer(w, "tried", (int64_t)v->tried);
    assay__json_put_integer(w, "verified", (int64_t)v->verified);
    assay__json_put_integer(w, "withdrawn", (int64_t)v->withdrawn);
    assay__json_put_bool(w, "interrupted", v->interrupted);
    assay__json_put_text(w, "reason", v->reason);
    assay__json_object_end(w);
}

void assay__json_advice(struct assay__buf *out, const struct assay__advice *advice)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__render_json_head(w, advice->profile->assay_version, advice->profile->schema);
    assay__json_put_string(w, "command", "advise");
    put_head(w, advice);
    assay__json_key(w, "summary");
    assay__json_object(w);
    assay__json_put_integer(w, "rules", (int64_t)advice->result_count);
    assay__json_put_integer(w, "found", (int64_t)advice->found);
    assay__json_put_integer(w, "nothing", (int64_t)advice->nothing);
    assay__json_put_integer(w, "not_evaluated", (int64_t)advice->missing);
    assay__json_object_end(w);
    put_verified(w, advice);
    assay__json_findings(w, advice->profile);
    put_rules(w, advice);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}

void assay__json_rules(struct assay__buf *out)
{
    struct assay__json_writer writer, *w = &writer;
    const struct assay__rule *rule;
    assay__json_start(w, out, true);
    assay__render_json_head(w, ASSAY_VERSION_STRING, ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "advise");
    assay__json_key(w, "rules");
    assay__json_array(w);
    for (size_t i = 0; (rule = assay__rule_at(i)); i++) {
        struct assay__buf needs = {0};
        assay__rule_needs(&needs, rule);
        assay__json_object(w);
        assay__json_put_string(w, "id", rule->id);
        assay__json_put_string(w, "family", rule->family);
        assay__json_put_string(w, "title", rule->title);
        assay__json_put_string(w, "looks_for", rule->looks);
        assay__json_put_string(w, "needs", text(&needs));
        assay__json_put_string(w, "effort", rule->effort);
        assay__json_object_end(w);
        assay__buf_free(&needs);
    }
    assay__json_array_end(w);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}
