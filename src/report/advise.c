/* advise.c - see advise.h. A potential is marked as derived ("="): it follows from measured shares, and has not been tried. */
#include "report/advise.h"

#include "advise/comparison.h"
#include "base/json.h"
#include "report/parts.h"

#include <math.h>
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
    assay__buf_printf(&line, "assay advise  %s", or_empty(profile->model.name));
    assay__buf_printf(&right, "%s on %s", or_empty(trial->engine), or_empty(trial->device));
    if (profile->trial_count > 1) assay__buf_printf(&right, ", trial %d", trial->id);
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
    bool estimated = result && result->estimated;
    const char *mark = assay__render_mark(estimated ? ASSAY_ESTIMATED : ASSAY_DERIVED);
    if (isfinite(f->verified_gain))
        assay__buf_printf(out, "measured %.3g × (potential %s%.3g ×)", f->verified_gain, mark,
                          f->expected_gain);
    else if (isfinite(f->expected_gain))
        assay__buf_printf(out, "%s%.3g × (%s)", mark, f->expected_gain,
                          result ? result->gain_of : "latency");
    else
        assay__buf_puts(out, "not known from this profile");
    if (isfinite(f->energy_saving))
        assay__buf_printf(out, ", energy of an inference %s-%.2g %% at unchanged power", mark,
                          f->energy_saving * 100);
}

static void put_finding(struct assay__page *page, const struct assay__finding *f,
                        const struct assay__rule_result *result, size_t number)
{
    struct assay__buf line = {0};
    char first[24] = "";
    snprintf(first, sizeof first, "%3zu  ", number);
    assay__buf_putc(page->out, '\n');
    assay__buf_printf(&line, "%s  [%s, %s]", or_empty(f->title), or_empty(f->severity),
                      or_empty(f->id));
    assay__page_wrap(
        page, strcmp(or_empty(f->severity), "high") == 0 ? ASSAY__STYLE_WARN : ASSAY__STYLE_BOLD,
        first, text(&line));
    for (size_t i = 0; i < f->evidence_count; i++)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, i ? "                " : "     evidence   ",
                         f->evidence[i]);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     change     ", or_empty(f->advice));
    assay__buf_clear(&line);
    put_potential(&line, f, result);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     potential  ", text(&line));
    assay__buf_clear(&line);
    assay__buf_puts(&line, or_empty(f->effort));
    if (*or_empty(f->state) && strcmp(f->state, "open") != 0)
        assay__buf_printf(&line, "; %s%s%s", f->state, *or_empty(f->reason) ? ": " : "",
                          or_empty(f->reason));
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     effort     ", text(&line));
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

void assay__page_advice(struct assay__page *page, const struct assay__advice *advice)
{
    size_t start = page->out->length;
    put_title(page, advice);
    put_summary(page, advice);
    for (size_t i = 0; i < advice->profile->finding_count; i++)
        put_finding(page, &advice->profile->findings[i], assay__advice_finding(advice, i), i + 1);
    if (!isfinite(assay__advice_metric(advice, "energy.inference.gross")) && advice->found) {
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
        assay__page_wrap(
            page, ASSAY__STYLE_DIM, "",
            "A potential follows from shares of the latency (=) or rests on an assumed cost (~); it was not measured. "
            "Potentials of several findings do not multiply.");
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
                             : r->estimated                      ? "estimated"
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
    assay__json_put_text(w, "name", profile->model.name);
    assay__json_put_text(w, "path", profile->model.path);
    assay__json_put_text(w, "fingerprint", profile->model.fingerprint);
    assay__json_object_end(w);
    assay__json_key(w, "trial");
    assay__json_object(w);
    assay__json_put_integer(w, "id", trial->id);
    assay__json_put_string(w, "state", assay__trial_state_name(trial->state));
    assay__json_put_text(w, "engine", trial->engine);
    assay__json_put_text(w, "device", trial->device);
    assay__json_put_number(w, "p50_us", advice->p50_ns / 1e3);
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
