/* html_tune.c - what a tuning has found: the best and why, the front, every configuration with its
 * fate, what each setting contributes, what was spent, and the best as code. The same facts as
 * section_tune.c, from judge/tune_report.h. */
#include "report/html_sections.h"

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

/* --- tables ----------------------------------------------------------------------------------- */

static void put_configuration(struct assay__html *page, const struct assay__tune_result *result,
                              size_t i)
{
    static const char *const fates[] = {"failed", "dropped", "variation", "finalist"};
    const struct assay__tune_row *row = &result->rows[i];
    struct assay__buf *out = &page->body;
    assay__html_row(page, "");
    assay__buf_puts(out, "<th scope=\"row\">");
    assay__html_name(out, row->label);
    if (i == result->best) assay__buf_puts(out, " <span class=\"verdict pass\">best</span>");
    if (row->alike) assay__buf_puts(out, " <span class=\"tag\">not apart from it</span>");
    if (row->start) assay__buf_puts(out, " <span class=\"tag\">start</span>");
    if (row->front) assay__buf_puts(out, " <span class=\"tag\">front</span>");
    assay__buf_puts(out, "</th>");
    assay__html_cell_number(page, row->latency_s, "s", assay__render_mark(row->latency_state));
    assay__html_cell_number(page, row->throughput, "1/s",
                            assay__render_mark(row->throughput_state));
    assay__html_cell_number(page, row->memory_bytes, "B", assay__render_mark(row->memory_state));
    assay__html_cell_number(page, row->energy_j, "J", "=");
    assay__html_cell_number(page, (double)row->launches, "count", "");
    assay__html_cell_text(page, fates[row->fate]);
    assay__buf_puts(out, "<td class=\"words\">");
    assay__html_prose(out, row->reason);
    assay__buf_puts(out, "</td>");
    assay__html_row_end(page);
}

static void put_configurations(struct assay__html *page, const struct assay__tune_result *result)
{
    assay__html_heading(page, "Configurations");
    assay__html_table(page, "", "sortable", "Every configuration that was tried",
                      "Configuration|>p50|>Per second|>Memory|>Energy, gross|>Launches|Fate|Why it "
                      "is not advised");
    for (int finalists = 1; finalists >= 0; finalists--)
        for (size_t i = 0; i < result->count; i++)
            if ((result->rows[i].fate == ASSAY__FATE_FINALIST) == finalists)
                put_configuration(page, result, i);
    assay__html_table_end(page);
    assay__html_paragraph(page, "note",
                          "A finalist was judged by launches of its own; what was dropped has only "
                          "the short launches of the search; a variation "
                          "is the best with one setting set back. On the front stands what no "
                          "other beats in one thing without losing in another.");
}

static void put_contributions(struct assay__html *page, const struct assay__tune_result *result)
{
    if (!result->part_count) return;
    assay__html_heading(page, "What each setting contributes");
    assay__html_table(page, "", NULL, "What each setting of the best contributes",
                      "Setting|From|To|>Cost when set back|95 % interval|State");
    for (size_t i = 0; i < result->part_count; i++) {
        const struct assay__tune_part *part = &result->parts[i];
        struct assay__buf text = {0};
        bool interval = part->measured && isfinite(part->ratio.ci.low) &&
                        isfinite(part->ratio.ci.high);
        assay__html_row(page, "");
        assay__html_cell_name(page, assay__axis_name(part->axis));
        assay__html_cell_text(page, part->from);
        assay__html_cell_text(page, part->to);
        if (isfinite(part->factor))
            assay__buf_printf(&page->body, "<td class=\"n\">%s%s ×</td>", part->measured ? "" : "~",
                              assay__digits(part->factor, 3).text);
        else
            assay__buf_puts(&page->body, "<td class=\"n\">—</td>");
        if (interval)
            assay__buf_printf(&text, "%s%s",
                              assay__digits_range(part->ratio.ci.low, part->ratio.ci.high).text,
                              part->ratio.p_value < 0.05 ? "" : ": no difference shown");
        assay__html_cell_text(page, interval ? text_of(&text) : "—");
        assay__buf_puts(&page->body, "<td class=\"words\">");
        if (*part->objection) {
            assay__buf_puts(&page->body, "nothing with ");
            assay__html_text(&page->body, part->from);
            assay__buf_puts(&page->body, " may be advised: ");
            assay__html_prose(&page->body, part->objection);
        } else {
            assay__html_text(&page->body, part->measured
                                              ? "measured: launches with that one setting set back"
                                              : "estimated: the search's model, not measured");
        }
        assay__buf_puts(&page->body, "</td>");
        assay__html_row_end(page);
        assay__buf_free(&text);
    }
    assay__html_table_end(page);
}

static void put_spent(struct assay__html *page, const struct assay__tune_result *result)
{
    struct assay__buf text = {0};
    assay__buf_printf(&text, "%zu of %zu configurations", result->configurations, result->grid);
    if (result->failed) assay__buf_printf(&text, ", %zu of them failed", result->failed);
    assay__buf_printf(&text, "; launches: %zu to choose, %zu to judge", result->search_launches,
                      result->final_launches);
    if (result->ablation_launches)
        assay__buf_printf(&text, ", %zu for what each setting contributes",
                          result->ablation_launches);
    assay__html_fact(page, "tried", text_of(&text));
    assay__buf_clear(&text);
    if (isfinite(result->elapsed_s) && isfinite(result->plan->budget_s)) {
        assay__buf_printf(&text, "%s s of %s s", assay__digits(result->elapsed_s, 3).text,
                          assay__digits(result->plan->budget_s, 3).text);
        assay__html_fact(page, "budget", text_of(&text));
    }
    assay__buf_free(&text);
}

static void put_best(struct assay__html *page, const struct assay__tune_result *result)
{
    struct assay__buf text = {0};
    const struct assay__tune_row *best = result->best < result->count ? &result->rows[result->best]
                                                                      : NULL;
    assay__html_facts(page);
    assay__html_fact(page, "best", best ? best->label : "none");
    assay__html_fact(page, best ? "why" : "", result->why);
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].alike)
            assay__buf_printf(&text, "%s%s", text.length ? "; " : "", result->rows[i].label);
    assay__html_fact(page, "not apart", text_of(&text));
    assay__html_fact(page, "unconfirmed", result->unconfirmed);
    assay__buf_clear(&text);
    if (best && isfinite(best->drift)) {
        assay__buf_printf(&text, "%.2g relative L2 of the best's outputs against float32",
                          best->drift);
        if (isfinite(result->plan->drift_limit))
            assay__buf_printf(&text, "; at most %s is advised",
                              assay__digits(result->plan->drift_limit, 3).text);
        assay__html_fact(page, "drift", text_of(&text));
    }
    put_spent(page, result);
    assay__html_facts_end(page);
    assay__buf_free(&text);
}

static void put_code(struct assay__html *page, const struct assay_profile *profile,
                     const struct assay__tune_result *result, struct assay__arena *arena)
{
    static const char *const languages[][2] = {
        {"python", "Python"}, {"c", "C"}, {"json", "JSON session options"}};
    if (result->best >= result->count) return;
    assay__html_heading(page, "The best, ready to use");
    for (size_t i = 0; i < 3; i++) {
        const char *text = assay__tune_snippet(profile, result, languages[i][0], arena);
        if (!text) {
            page->body.failed = true;
            return;
        }
        if (!*text) continue;
        assay__buf_printf(&page->body, "<details%s><summary>%s</summary><pre tabindex=\"0\"><code>",
                          i ? "" : " open", languages[i][1]);
        assay__html_text(&page->body, text);
        assay__buf_puts(&page->body, "</code></pre></details>\n");
    }
}

void assay__html_tune(struct assay__html *page, const struct assay_profile *profile,
                      const struct assay__trial *trial)
{
    struct assay__tune_result result;
    if (profile->kind != ASSAY__PROFILE_TUNE) return;
    struct assay__arena *arena = assay__arena_new();
    if (!arena || assay__tune_result(profile, arena, &result)) {
        page->body.failed = true;
    } else {
        assay__html_section(page, "tune", "Tune", ASSAY__HTML_OVERVIEW);
        put_best(page, &result);
        assay__html_figure(page, profile, trial, "pareto", false);
        put_contributions(page, &result);
        put_configurations(page, &result);
        put_code(page, profile, &result, arena);
        assay__html_section_end(page);
    }
    assay__arena_free(arena);
}
