/* html_summary.c - the top of the page: what must be said first, where the time goes in one
 * sentence, five numbers, the first thing to try; then the findings and the requirement table.
 * Without kept findings it shows what the profile itself says (judge/review.h). */
#include "report/html_sections.h"

#include "judge/comparison.h"
#include "judge/review.h"
#include "judge/sweep.h"
#include "judge/tune_report.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

/* --- five numbers ----------------------------------------------------------------------------- */

struct number {
    const char *label;
    const char *names[4]; /* the first that is known stands for it; NULL ends */
};

static const struct number numbers[] = {
    {"per inference", {"latency.p50", NULL}},
    {"throughput", {"throughput.tokens", "throughput.samples", "throughput.inferences", NULL}},
    {"compute", {"compute.rate", NULL}},
    {"memory at most", {"memory.total", "memory.peak.worker", "memory.peak.device", NULL}},
    {"energy per inference", {"energy.inference.gross", "power.average", NULL}},
};

void assay__html_p50_interval(struct assay__buf *out, const struct assay__trial *trial)
{
    static const char *const pairs[][3] = {
        {"latency.between_low", "latency.between_high", "95 % between launches"},
        {"latency.ci_low", "latency.ci_high", "95 % of the median, within the run"}};
    for (size_t i = 0; i < 2; i++) {
        const struct assay_metric *low = assay__trial_metric(trial, pairs[i][0]),
                                  *high = assay__trial_metric(trial, pairs[i][1]);
        char a[64], b[64];
        if (!low || !high) continue;
        assay__text_scaled(a, sizeof a, low->value, "s");
        assay__text_scaled(b, sizeof b, high->value, "s");
        assay__buf_printf(out, "%s to %s, %s", a, b, pairs[i][2]);
        return;
    }
}

/* Energy says which: gross is with what the idle machine draws. */
static const char *label_of(const struct number *number, const char *metric)
{
    if (strcmp(metric, "power.average") == 0) return "power";
    if (strcmp(metric, "energy.inference.gross") == 0) return "gross energy per inference";
    return number->label;
}

/* What of the gross energy is beyond the idle machine; below zero it is noise, and said in
 * words. */
static void put_net(struct assay__html *page, const struct assay__trial *trial)
{
    const struct assay_metric *net = assay__trial_metric(trial, "energy.inference.net");
    if (!net) return;
    if (net->value > 0) {
        assay__buf_puts(&page->body, "; ");
        assay__html_metric(page, net, "");
        assay__buf_puts(&page->body, " of it net, beyond the idle machine");
    } else {
        assay__buf_puts(&page->body, "; no more than the idle machine draws in that time");
    }
}

static void put_number(struct assay__html *page, const struct assay__trial *trial,
                       const struct number *number)
{
    struct assay__buf interval = {0};
    const struct assay_metric *metric = NULL;
    for (size_t i = 0; i < 4 && number->names[i] && !metric; i++)
        metric = assay__trial_metric(trial, number->names[i]);
    for (size_t i = 0; i < 4 && number->names[i] && !metric; i++)
        metric = trial->metrics ? assay_metrics_get(trial->metrics, number->names[i]) : NULL;
    bool known = metric && metric->state != ASSAY_UNAVAILABLE && isfinite(metric->value);
    if (known && strcmp(metric->name, "latency.p50") == 0)
        assay__html_p50_interval(&interval, trial);
    assay__buf_puts(&page->body, "<div class=\"card\"><dt>");
    assay__html_text(&page->body, known ? label_of(number, metric->name) : number->label);
    assay__buf_puts(&page->body, "</dt><dd class=\"big\">");
    assay__html_metric(page, metric, text_of(&interval));
    assay__buf_puts(&page->body, "</dd><dd class=\"from\">");
    if (known) {
        assay__buf_printf(&page->body, "<span class=\"state %s\">%s</span> ",
                          assay_state_name(metric->state), assay_state_name(metric->state));
        assay__html_text(&page->body, interval.length ? text_of(&interval) : metric->name);
        if (strcmp(metric->name, "energy.inference.gross") == 0) put_net(page, trial);
    } else {
        assay__buf_puts(&page->body, "<span class=\"state unavailable\">unavailable</span> ");
        const char *why = metric && metric->note && *metric->note ? metric->note
                                                                  : "it was not measured";
        const char *power = assay__power_gap_words(trial->power.gap);
        bool of_power = metric &&
                        (strcmp(metric->unit, "W") == 0 || strcmp(metric->unit, "J") == 0);
        assay__buf_puts(&page->body, "<span class=\"why\">");
        assay__html_text(&page->body, of_power && *power ? power : why);
        assay__buf_puts(&page->body, "</span>");
    }
    assay__buf_puts(&page->body, "</dd></div>\n");
    assay__buf_free(&interval);
}

/* --- the sentence ----------------------------------------------------------------------------- */

/* A sentence: a capital where a word of ours begins it, and a full stop. */
static void put_sentence(struct assay__html *page, const char *css, struct assay__buf *text)
{
    static const char *const ours[] = {"best ", "no ", "none ", "every ", "all ", "energy "};
    if (!text->length) return;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strncmp(text->data, ours[i], strlen(ours[i])) == 0)
            text->data[0] = (char)(text->data[0] - 'a' + 'A');
    if (!strchr(".!?", text->data[text->length - 1])) assay__buf_putc(text, '.');
    assay__html_paragraph(page, css, text_of(text));
}

/* Points that the launches do not tell from the best one: a best that is not alone says so at
 * once. */
static void put_alike(struct assay__html *page, const struct assay__sweep *sweep)
{
    enum { NAMED = 8 };
    struct assay__buf text = {0};
    if (!sweep->alike_count) return;
    assay__buf_puts(&text, "Not told apart from it by these launches: ");
    for (size_t i = 0; i < sweep->alike_count && i < NAMED; i++)
        assay__buf_printf(&text, "%s%s", i ? ", " : "", sweep->points[sweep->alike[i]].label);
    if (sweep->alike_count > NAMED)
        assay__buf_printf(&text, " and %zu more", sweep->alike_count - NAMED);
    put_sentence(page, "answer small", &text);
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
}

/* What a comparison, a sweep or a tuning answers comes before where the time goes. */
static void put_verdict(struct assay__html *page, const struct assay_profile *profile)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf text = {0};
    if (!arena) {
        page->body.failed = true;
    } else if (profile->kind == ASSAY__PROFILE_COMPARE) {
        struct assay__comparison all;
        if (!assay__comparison(profile, arena, &all)) {
            const struct assay__recommendation *r = &all.recommendations[ASSAY__FOR_LATENCY];
            assay__buf_puts(&text, r->why);
        }
    } else if (profile->kind == ASSAY__PROFILE_SWEEP) {
        struct assay__sweep sweep;
        if (!assay__sweep(profile, arena, &sweep)) {
            assay__buf_puts(&text, sweep.why);
            put_sentence(page, "lead", &text);
            assay__buf_clear(&text);
            put_alike(page, &sweep);
        }
    } else if (profile->kind == ASSAY__PROFILE_TUNE) {
        struct assay__tune_result tune;
        if (!assay__tune_result(profile, arena, &tune)) {
            if (tune.best < tune.count)
                assay__buf_printf(&text, "%s: ", tune.rows[tune.best].label);
            assay__buf_puts(&text, tune.why);
        }
    }
    put_sentence(page, "lead", &text);
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
    assay__arena_free(arena);
}

/* A run that was not stable says so beside its numbers. */
static void put_stability(struct assay__html *page, const struct assay__trial *trial)
{
    const struct assay__stability *s = &trial->stability;
    if (!s->verdict || !*s->verdict || strcmp(s->verdict, "stable") == 0) return;
    bool few = strcmp(s->verdict, "too-few") == 0;
    assay__buf_printf(&page->body, "<p><span class=\"verdict %s\">%s</span> ",
                      few ? "unavailable" : "fail", few ? "too few samples" : "unstable");
    if (s->reason_count) assay__html_prose(&page->body, s->reasons[0]);
    if (s->reason_count > 1)
        assay__buf_printf(&page->body, " <a class=\"o\" href=\"#environment\">and %zu more</a>",
                          s->reason_count - 1);
    assay__buf_puts(&page->body, "</p>\n");
}

/* ": measured 1.4 × as fast", else what it could give at most; nothing when neither is known. */
static void put_first_gain(struct assay__html *page, const struct assay__finding *f)
{
    struct assay__buf text = {0};
    if (isfinite(f->verified_gain)) {
        assay__buf_printf(&text, ": tried, %s ×", assay__digits(f->verified_gain, 3).text);
        if (isfinite(f->verified_low) && isfinite(f->verified_high))
            assay__buf_printf(&text, " (%s to %s, 95 %%)", assay__digits(f->verified_low, 3).text,
                              assay__digits(f->verified_high, 3).text);
    } else if (isfinite(f->expected_gain)) {
        assay__buf_printf(&text, ": at most %s%s ×, not tried",
                          assay__render_mark(assay__render_gain_state(f)),
                          assay__digits(f->expected_gain, 3).text);
    }
    assay__html_prose(&page->body, text_of(&text));
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
}

/* What to try; a sensor that is missing says less of the model than what bounds it. NULL:
 * nothing. */
static const char *first_of(const struct assay__review *review)
{
    const struct assay__sentence_list *advice = &review->recommendations;
    bool useful = advice->count && !review->sensor_first;
    if (!useful && review->bottlenecks.count) return review->bottlenecks.items[0];
    return advice->count ? advice->items[0] : NULL;
}

static void put_first(struct assay__html *page, const struct assay_profile *profile,
                      const struct assay__trial *trial)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__review review;
    const char *first = NULL;
    const struct assay__finding *tried = NULL;
    if (profile->finding_count)
        first = profile->findings[0].title, tried = &profile->findings[0];
    else if (arena && trial && !assay__review(profile, trial, arena, &review))
        first = first_of(&review);
    if (first) {
        assay__buf_puts(&page->body, "<p class=\"first\"><b>First finding:</b> ");
        assay__html_prose(&page->body, first);
        if (tried) put_first_gain(page, tried);
        size_t length = strlen(first);
        if (tried || (length && !strchr(".!?:", first[length - 1])))
            assay__buf_putc(&page->body, '.');
        assay__buf_puts(&page->body, " <a class=\"o\" href=\"#findings\">All findings</a></p>\n");
    }
    assay__arena_free(arena);
}

/* Of which trial the numbers below are, where a page has several and no layers say more. */
static void put_of_trial(struct assay__html *page, const struct assay__trial *trial)
{
    struct assay__buf text = {0};
    assay__buf_printf(&text, "The numbers below are of %s. Its layers were not timed.",
                      assay__html_trial_label(trial));
    assay__html_paragraph(page, "note", text_of(&text));
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
}

/* What `power` was asked for: "An inference takes =18.2 mJ, at 12.1 W on package", or why it is not
 * known. */
static void put_power(struct assay__html *page, const struct assay__trial *trial)
{
    struct assay__buf text = {0};
    const struct assay_metric *power = trial->metrics
                                           ? assay_metrics_get(trial->metrics, "power.average")
                                           : NULL;
    const struct assay_metric *gross = assay__trial_metric(trial, "energy.inference.gross");
    const char *note = power && power->note ? power->note : "";
    if (power && power->state != ASSAY_UNAVAILABLE && isfinite(power->value)) {
        assay__buf_puts(&text, gross ? "An inference takes " : "The run draws ");
        assay__render_metric(&text, gross ? gross : power);
        if (gross) {
            assay__buf_puts(&text, " gross, at ");
            assay__render_metric(&text, power);
        }
        assay__buf_puts(&text, " on ");
        for (size_t i = 0; i < trial->power.rail_count; i++)
            assay__buf_printf(&text, "%s%s", i ? " + " : "", trial->power.rails[i]);
    } else {
        assay__buf_puts(&text, "The energy of an inference is not known here: ");
        assay__buf_puts(&text, *note ? note : "no sensor was read");
    }
    put_sentence(page, "lead", &text);
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
}

void assay__html_summary(struct assay__html *page, const struct assay_profile *profile,
                         const struct assay__trial *trial)
{
    struct assay__buf text = {0};
    assay__html_section(page, "summary", "Summary", ASSAY__HTML_OVERVIEW);
    for (size_t i = 0; i < 32 && assay__render_alert(&text, profile, i); i++) {
        bool note = strncmp(text_of(&text), "NOTE", 4) == 0; /* a launch is lost, the trial not */
        assay__html_paragraph(page, note ? "note" : "alert", text_of(&text));
        assay__buf_clear(&text);
    }
    if (trial) {
        if (profile->trial_count > 1) {
            put_verdict(page, profile);
            assay__buf_printf(&text, "%s: ", assay__html_trial_label(trial));
        }
        assay__render_answer(&text, trial);
        bool of_power = profile->kind == ASSAY__PROFILE_POWER;
        if (of_power) put_power(page, trial);
        if (profile->trial_count == 1 || trial->layers.count)
            assay__html_paragraph(
                page, profile->trial_count > 1 || of_power ? "answer small" : "lead answer",
                text_of(&text));
        else
            put_of_trial(page, trial);
        assay__buf_puts(&page->body, "<dl class=\"cards\">\n");
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            put_number(page, trial, &numbers[i]);
        assay__buf_puts(&page->body, "</dl>\n");
        assay__html_paragraph(
            page, "note key",
            "Plain numbers were measured; = is derived from measured ones, ~ "
            "estimated by a model, — not available. Hover or focus a number to see "
            "what it is and where it comes from.");
        put_stability(page, trial);
        /* what one of several trials says is no answer to what they were compared for */
        if (profile->finding_count ||
            (profile->trial_count == 1 && assay__trial_metric(trial, "latency.p50")))
            put_first(page, profile, trial);
    }
    assay__buf_free(&text);
    assay__html_section_end(page);
}

/* --- findings --------------------------------------------------------------------------------- */

/* "=1.4 ×" */
static void put_gain(struct assay__html *page, const char *label, double gain, const char *mark)
{
    assay__buf_printf(&page->body, "<div><dt>%s</dt><dd>", label);
    if (isfinite(gain))
        assay__buf_printf(&page->body, "%s%s ×", mark, assay__digits(gain, 3).text);
    else
        assay__buf_puts(&page->body, "—");
    assay__buf_puts(&page->body, "</dd></div>");
}

/* "1.4 × (1.31 to 1.52) of latency", then what it did to the energy. */
static void put_verified(struct assay__html *page, const struct assay__finding *f)
{
    struct assay__buf *out = &page->body;
    if (!isfinite(f->verified_gain)) {
        put_gain(page, "measured gain", f->verified_gain, "");
        return;
    }
    assay__buf_printf(out, "<div><dt>measured gain</dt><dd>%s ×",
                      assay__digits(f->verified_gain, 3).text);
    if (isfinite(f->verified_low) && isfinite(f->verified_high))
        assay__buf_printf(out, " <span class=\"interval\">%s, 95 %%</span>",
                          assay__digits_range(f->verified_low, f->verified_high).text);
    assay__buf_puts(out, "</dd></div>");
    if (!isfinite(f->verified_energy)) return;
    assay__buf_printf(out, "<div><dt>energy, after over before</dt><dd>%s",
                      assay__digits(f->verified_energy, 3).text);
    if (isfinite(f->verified_energy_low) && isfinite(f->verified_energy_high))
        assay__buf_printf(
            out, " <span class=\"interval\">%s, 95 %%</span>",
            assay__digits_range(f->verified_energy_low, f->verified_energy_high).text);
    assay__buf_puts(out, "</dd></div>");
}

/* What was changed, of what the gain is, what it could have shown, and the drift of the outputs. */
static void put_tried(struct assay__html *page, const struct assay__finding *f)
{
    struct assay__buf text = {0};
    if (!f->tried || !*f->tried) return;
    assay__html_facts(page);
    assay__html_fact(page, "tried", f->tried);
    if (isfinite(f->verified_gain)) {
        if (f->verified_of && *f->verified_of)
            assay__buf_printf(&text, "of %s, launches with and without it alternating",
                              f->verified_of);
        if (isfinite(f->verified_smallest))
            assay__buf_printf(&text, "%sa difference of %s %% could have been shown",
                              text.length ? "; " : "",
                              assay__digits(f->verified_smallest * 100, 2).text);
        assay__html_fact(page, "gain", text_of(&text));
        assay__buf_clear(&text);
        if (isfinite(f->verified_drift))
            assay__buf_printf(&text, "%.2g relative L2 of the outputs%s", f->verified_drift,
                              f->drift_note && *f->drift_note ? "; " : "");
        else
            assay__buf_puts(&text, "— ");
        assay__buf_puts(&text, f->drift_note ? f->drift_note : "");
        assay__html_fact(page, "drift", text_of(&text));
    }
    assay__html_facts_end(page);
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
}

static void put_finding(struct assay__html *page, const struct assay__finding *f)
{
    struct assay__buf *out = &page->body;
    const char *state = f->state && *f->state ? f->state : "open";
    assay__buf_puts(out, "<article class=\"finding\"><h3>");
    assay__html_text(out, f->title);
    assay__buf_puts(out, "</h3>\n<p class=\"tags\"><span class=\"tag\">");
    assay__html_text(out, f->severity);
    assay__buf_puts(out, "</span> <span class=\"tag\">");
    assay__html_text(out, state);
    assay__buf_puts(out, "</span> <code>");
    assay__html_text(out, f->id);
    assay__buf_puts(out, "</code></p>\n");
    assay__html_list(page, f->evidence, f->evidence_count);
    assay__html_paragraph(page, "advice", f->advice);
    assay__buf_puts(out, "<dl class=\"gains\">");
    put_gain(page, "expected gain", f->expected_gain,
             assay__render_mark(assay__render_gain_state(f)));
    put_verified(page, f);
    if (isfinite(f->energy_saving))
        assay__buf_printf(out, "<div><dt>energy to save at most</dt><dd>%s%s %%</dd></div>",
                          assay__render_mark(assay__render_gain_state(f)),
                          assay__digits(f->energy_saving * 100, 3).text);
    assay__buf_puts(out, "</dl>\n");
    put_tried(page, f);
    if (!isfinite(f->verified_gain))
        assay__html_paragraph(page, "note",
                              f->reason && *f->reason ? f->reason : "It was not tried yet.");
    else
        assay__html_paragraph(page, "note", f->reason);
    assay__buf_puts(out, "</article>\n");
}

static void put_sentences(struct assay__html *page, const char *heading,
                          const struct assay__sentence_list *list)
{
    if (!list->count) return;
    assay__html_heading(page, heading);
    assay__html_list(page, list->items, list->count);
}

void assay__html_findings(struct assay__html *page, const struct assay_profile *profile,
                          const struct assay__trial *trial)
{
    assay__html_section(page, "findings", "Findings", ASSAY__HTML_OVERVIEW);
    for (size_t i = 0; i < profile->finding_count; i++)
        put_finding(page, &profile->findings[i]);
    if (!profile->finding_count) {
        struct assay__arena *arena = assay__arena_new();
        struct assay__review review;
        assay__html_paragraph(page, "note",
                              "No findings are kept in this profile: assay advise evaluates its "
                              "rules over it, with evidence and gains. What the "
                              "profile itself says follows; nothing of it was tried.");
        if (!arena || (trial && assay__review(profile, trial, arena, &review))) {
            page->body.failed = true;
        } else if (trial) {
            put_sentences(page, "Bottlenecks", &review.bottlenecks);
            put_sentences(page, "Opportunities: upper bounds, not promises", &review.opportunities);
            put_sentences(page, "To try", &review.recommendations);
        }
        assay__arena_free(arena);
    }
    assay__html_section_end(page);
}

/* --- requirements ----------------------------------------------------------------------------- */

static void put_verdict_cell(struct assay__html *page, double required, double ratio,
                             enum assay__require_state state, const char *unit)
{
    struct assay__buf *out = &page->body;
    assay__html_cell_number(page, required, unit, "");
    if (!isfinite(required)) {
        assay__buf_puts(out, "<td>not required</td>");
        return;
    }
    const char *name = assay__require_state_name(state);
    assay__buf_printf(out, "<td><span class=\"verdict %s\">%s</span>", name, name);
    if (isfinite(ratio)) assay__buf_printf(out, " %s ×", assay__digits(ratio, 3).text);
    assay__buf_puts(out, "</td>");
}

void assay__html_requirements(struct assay__html *page, const struct assay_profile *profile,
                              const struct assay__trial *trial)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__review review = {0};
    struct assay__buf text = {0};
    if (!arena || assay__review(profile, trial, arena, &review)) page->body.failed = true;
    if (page->body.failed || !review.required) goto out;
    const struct assay__judgement *j = &review.judgement;
    assay__html_section(page, "requirements", "Requirements", ASSAY__HTML_OVERVIEW);
    assay__buf_printf(&text, "%s: minimum %s, target %s.", j->table->name,
                      assay__require_state_name(j->minimum), assay__require_state_name(j->target));
    assay__html_paragraph(page, "answer small", text_of(&text));
    assay__html_table(page, "", NULL, "Requirements: measured against minimum and target",
                      "Requirement|>Measured|>Minimum|Verdict|>Target|Verdict");
    for (size_t i = 0; i < j->count; i++) {
        const struct assay__requirement *row = &j->rows[i];
        assay__html_row(page, "");
        assay__html_cell_name(page, row->info->label);
        assay__buf_puts(&page->body, "<td class=\"n\">");
        assay__html_metric(page, row->measured, "");
        assay__buf_puts(&page->body, "</td>");
        put_verdict_cell(page, row->minimum, row->minimum_ratio, row->minimum_state,
                         row->info->unit);
        put_verdict_cell(page, row->target, row->target_ratio, row->target_state, row->info->unit);
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    for (size_t i = 0; i < j->count; i++) {
        const struct assay__requirement *row = &j->rows[i];
        const char *const lines[] = {row->reason, row->note, row->unreachable, row->beyond,
                                     row->advice};
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
            if (!lines[k] || !*lines[k]) continue;
            assay__buf_clear(&text);
            assay__buf_printf(&text, "%s: %s", row->info->label, lines[k]);
            assay__html_paragraph(page, "note", text_of(&text));
        }
    }
    assay__html_section_end(page);
out:
    assay__buf_free(&text);
    assay__arena_free(arena);
}
