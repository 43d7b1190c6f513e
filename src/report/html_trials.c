/* html_trials.c - several trials of one profile: the comparison with drift and who ran what, the
 * sweep with its best point and knee, and each other trial folded below. */
#include "report/html_sections.h"

#include "judge/comparison.h"
#include "judge/sweep.h"
#include "base/text.h"
#include "report/sweep_words.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TRIALS_MOST = 48, TRIAL_ROWS = 100, PROVIDERS = 4 };

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

/* "WebGPU 90, CPU 3": layers by provider, in the order they first appear; "" without layers. */
static void who_ran(struct assay__buf *out, const struct assay__trial *trial)
{
    const char *names[PROVIDERS];
    size_t counts[PROVIDERS] = {0}, count = 0, others = 0;
    for (size_t i = 0; i < trial->layers.count; i++) {
        const char *provider = trial->layers.items[i].provider;
        size_t at = 0;
        if (!provider || !*provider) provider = "unknown";
        while (at < count && strcmp(names[at], provider) != 0)
            at++;
        if (at == PROVIDERS) {
            others++;
            continue;
        }
        if (at == count) names[count++] = provider;
        counts[at]++;
    }
    for (size_t i = 0; i < count; i++)
        assay__buf_printf(out, "%s%.60s %zu", i ? ", " : "", names[i], counts[i]);
    if (others) assay__buf_printf(out, ", others %zu", others);
}

/* --- comparison ------------------------------------------------------------------------------- */

/* The mark of a number of a row: as the trial's metric (or the other, where the first is not
 * known); what is no metric is derived. */
static const char *mark_of(const struct assay__trial *trial, const char *metric, const char *other)
{
    const struct assay_metric *m = trial->metrics ? assay__trial_metric(trial, metric) : NULL;
    if (!m && other && trial->metrics) m = assay__trial_metric(trial, other);
    return assay__render_mark(m ? m->state : ASSAY_DERIVED);
}

/* Outputs that are wrong: whatever the speed, it is not advised. Nothing when they are right. */
static void put_wrong(struct assay__html *page, const struct assay__comparison_row *row)
{
    bool broken = row->nonfinite > 0 || row->own_nonfinite > 0;
    if (!*row->unadvised && !broken) return;
    assay__buf_printf(&page->body, " <span class=\"verdict fail\">%s</span>",
                      broken ? "NaN in its outputs" : "other outputs");
}

static void put_speed(struct assay__html *page, const struct assay__comparison *all, size_t i)
{
    const struct assay__comparison_row *row = &all->rows[i];
    struct assay__buf text = {0}, tip = {0};
    assay__buf_puts(&page->body, "<td class=\"judged\">");
    if (i == all->reference) {
        assay__buf_puts(&page->body, "reference");
    } else if (isfinite(row->speed.ratio)) {
        assay__buf_printf(&text, "=%s × (%s to %s)", assay__digits(row->speed.ratio, 3).text,
                          assay__digits(row->speed.ci.low, 3).text,
                          assay__digits(row->speed.ci.high, 3).text);
        assay__buf_printf(
            &tip,
            "%s; 95 %% interval by the exact rank test on "
            "launches, p = %s; the smallest difference this run could have shown is %s %%",
            row->speed.by == ASSAY__BY_UNDISTURBED
                ? "5th percentiles of the reference's fastest launches over this one's: what both "
                  "take when nothing disturbs them"
                : "median of the reference's launches over this one's",
            assay__digits(row->speed.p_value, 3).text,
            assay__digits(row->speed.smallest * 100, 2).text);
        assay__html_tip(page, text_of(&text), text_of(&tip));
        assay__html_text(&page->body, assay__ratio_by_words(row->speed.by));
        assay__buf_puts(&page->body, " <span class=\"verdict ");
        bool good = row->verdict == ASSAY__VERDICT_FASTER && !*row->unadvised;
        assay__buf_puts(&page->body, good                                    ? "pass\">"
                                     : row->verdict == ASSAY__VERDICT_SLOWER ? "fail\">"
                                                                             : "unavailable\">");
        assay__html_text(&page->body, assay__verdict_name(row->verdict));
        assay__buf_puts(&page->body, "</span>");
        if (*row->unadvised)
            assay__buf_puts(&page->body, " <span class=\"verdict fail\">not advised</span>");
    } else {
        assay__buf_puts(&page->body, "— ");
        assay__html_text(&page->body, row->reason);
    }
    if (row->role && row->role != ASSAY__ROLE_REFERENCE) {
        assay__buf_puts(&page->body, " <span class=\"tag\">");
        assay__html_text(&page->body, assay__role_name(row->role));
        assay__buf_puts(&page->body, "</span>");
    }
    assay__buf_puts(&page->body, "</td>");
    assay__buf_free(&text);
    assay__buf_free(&tip);
}

static void put_drift(struct assay__html *page, const struct assay__trial *trial,
                      const struct assay__comparison_row *row)
{
    static const char *const names[] = {"drift.relative_l2", "drift.cosine", "drift.top1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct assay_metric *m = trial->metrics ? assay_metrics_get(trial->metrics, names[i])
                                                      : NULL;
        char text[64];
        assay__buf_puts(&page->body, "<td class=\"n\">");
        if (m && m->state != ASSAY_UNAVAILABLE && isfinite(m->value)) {
            snprintf(text, sizeof text,
                     i == 0   ? "%s%.2g"
                     : i == 1 ? "%s%.6f"
                              : "%s%.3g %%",
                     assay__render_mark(m->state), i == 2 ? m->value * 100 : m->value);
            assay__html_tip(page, text, m->note && *m->note ? m->note : m->source);
        } else {
            assay__html_metric(page, m, "");
        }
        assay__buf_puts(&page->body, "</td>");
    }
    bool own = !isfinite(row->nonfinite); /* of the reference, or where nothing was compared */
    assay__html_cell_number(page, own ? row->own_nonfinite : row->nonfinite, "count",
                            mark_of(trial, own ? "outputs.nonfinite" : "drift.nonfinite", NULL));
}

/* Why a row is not advised, what "when undisturbed" means where a row says it, and why the energies
 * are not those of the summary. */
static void put_remarks(struct assay__html *page, const struct assay__comparison *all)
{
    bool undisturbed = false, by_launch = false;
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *row = &all->rows[i];
        struct assay__buf text = {0};
        by_launch |= row->energy_by_launch;
        undisturbed |= isfinite(row->speed.ratio) && row->speed.by == ASSAY__BY_UNDISTURBED;
        if (!*row->unadvised) continue;
        assay__buf_printf(&text, "%s is not advised: %s.", row->label, row->unadvised);
        assay__html_paragraph(page, "alert", text_of(&text));
        if (text.failed) page->body.failed = true;
        assay__buf_free(&text);
    }
    if (undisturbed)
        assay__html_paragraph(page, "note",
                              "When undisturbed: the launches' medians show no difference, so the "
                              "5th percentiles of the fastest "
                              "launches are compared, what an inference takes while nothing "
                              "disturbs it. On a busy machine the p50 column "
                              "may look the other way round.");
    if (by_launch)
        assay__html_paragraph(
            page, "note",
            "Energies here are medians over the launches, as the times are; the summary and the "
            "metrics divide the energy of the whole run by its inferences.");
}

/* The name, and what it is advised for: the words of the recommendations below. */
static void put_name(struct assay__html *page, const struct assay__comparison *all, size_t i)
{
    assay__buf_puts(&page->body, "<th scope=\"row\">");
    assay__html_name(&page->body, all->rows[i].label);
    bool any = false;
    for (int goal = 0; goal < ASSAY__FOR_COUNT; goal++) {
        if (all->recommendations[goal].row != i) continue;
        assay__buf_puts(&page->body, any ? ", " : " <span class=\"verdict pass\">best ");
        assay__buf_puts(&page->body, assay__goal_name((enum assay__goal_kind)goal));
        any = true;
    }
    assay__buf_puts(&page->body, any ? "</span>" : "");
    put_wrong(page, &all->rows[i]);
    assay__buf_puts(&page->body, "</th>");
}

/* "65 of 65 on it, in 1 piece, 100 % of the FLOPs", by the engine's own record. */
static void put_nodes(struct assay__html *page, const struct assay__placement_summary *f)
{
    struct assay__buf text = {0};
    char bytes[64];
    if (!f->asked) {
        assay__buf_puts(&text, "— not asked: nothing falls back from it");
    } else if (*f->reason) {
        assay__buf_printf(&text, "— %s", f->reason);
    } else if (assay__placement_is_elsewhere(f)) {
        assay__buf_printf(&text, "none of %.0f: all on %s, so this row does not measure the device",
                          f->elsewhere, *f->provider ? f->provider : "another provider");
    } else {
        assay__buf_printf(&text, "%s%.0f of %.0f on it, in =%.0f piece%s",
                          f->inferred > 0 ? "=" : "", f->nodes, f->nodes + f->elsewhere,
                          f->partitions, f->partitions == 1 ? "" : "s");
        if (isfinite(f->flops_share))
            assay__buf_printf(&text, ", =%s %% of the FLOPs",
                              assay__digits(f->flops_share * 100, 3).text);
        assay__text_scaled(bytes, sizeof bytes, f->crossing_bytes, "B");
        if (f->crossings > 0)
            assay__buf_printf(&text, "; =%.0f crossing%s of =%s", f->crossings,
                              f->crossings == 1 ? "" : "s", bytes);
    }
    assay__buf_puts(&page->body, "<td class=\"words\">");
    assay__html_prose(&page->body, text_of(&text));
    assay__buf_puts(&page->body, "</td>");
    if (text.failed) page->body.failed = true;
    assay__buf_free(&text);
}

static void put_comparison(struct assay__html *page, const struct assay_profile *profile,
                           const struct assay__comparison *all)
{
    assay__html_table(page, "", "sortable", "Trials against the reference",
                      "Trial|>p50|>Per second|>Energy, gross|>Memory|Speed-up");
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *row = &all->rows[i];
        assay__html_row(page, "");
        const struct assay__trial *t = &profile->trials[row->trial];
        put_name(page, all, i);
        assay__html_cell_number(page, row->latency_s, "s", mark_of(t, "latency.p50", NULL));
        assay__html_cell_number(page, row->throughput, "1/s",
                                mark_of(t, "throughput.samples", "throughput.inferences"));
        assay__html_cell_number(page, row->energy_j, "J",
                                mark_of(t, "energy.inference.gross", NULL));
        assay__html_cell_number(page, row->memory_bytes, "B",
                                mark_of(t, "memory.peak.worker", NULL));
        put_speed(page, all, i);
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
    put_remarks(page, all);
    assay__html_heading(page, "Drift and fallback");
    bool timed = false;
    for (size_t i = 0; i < all->count; i++)
        timed |= profile->trials[all->rows[i].trial].layers.count > 0;
    assay__html_table(
        page, "", "sortable", "How far the outputs are from the reference's, and who ran the nodes",
        timed ? "Trial|>Relative L2|>Cosine|>Same first class|>NaN or infinite|Nodes on "
                "it|Layers by provider"
              : "Trial|>Relative L2|>Cosine|>Same first class|>NaN or infinite|Nodes on it");
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__trial *trial = &profile->trials[all->rows[i].trial];
        struct assay__buf who = {0};
        who_ran(&who, trial);
        assay__html_row(page, "");
        assay__buf_puts(&page->body, "<th scope=\"row\">");
        assay__html_name(&page->body, all->rows[i].label);
        put_wrong(page, &all->rows[i]);
        assay__buf_puts(&page->body, "</th>");
        put_drift(page, trial, &all->rows[i]);
        put_nodes(page, &all->rows[i].placement);
        if (timed) assay__html_cell_text(page, who.length ? who.data : "— not timed");
        assay__html_row_end(page);
        assay__buf_free(&who);
    }
    assay__html_table_end(page);
}

void assay__html_comparison(struct assay__html *page, const struct assay_profile *profile,
                            const struct assay__trial *trial)
{
    static const char *const goals[] = {"latency", "throughput", "energy"};
    struct assay__arena *arena = NULL;
    struct assay__comparison all;
    if (profile->kind != ASSAY__PROFILE_COMPARE) return;
    arena = assay__arena_new();
    if (!arena || assay__comparison(profile, arena, &all)) {
        page->body.failed = true;
        goto out;
    }
    assay__html_section(page, "comparison", "Comparison", ASSAY__HTML_OVERVIEW);
    assay__html_figure(page, profile, trial, "compare", true);
    put_comparison(page, profile, &all);
    assay__html_heading(page, "What to choose");
    assay__html_facts(page);
    if (*all.batches) assay__html_fact(page, "note", all.batches);
    for (size_t i = 0; i < ASSAY__FOR_COUNT; i++) {
        struct assay__buf text = {0};
        const struct assay__recommendation *r = &all.recommendations[i];
        assay__buf_puts(&text, r->why);
        assay__html_fact(page, goals[i], text_of(&text));
        assay__buf_free(&text);
    }
    assay__html_facts_end(page);
    assay__html_figure(page, profile, trial, "devices", false);
    assay__html_section_end(page);
out:
    assay__arena_free(arena);
}

/* --- sweep ------------------------------------------------------------------------------------ */

static const char *point_mark(const struct assay_profile *profile,
                              const struct assay__sweep_point *point,
                              enum assay__sweep_column column)
{
    return assay__render_mark(assay__sweep_state(profile, point, column));
}

static void put_point(struct assay__html *page, const struct assay_profile *profile,
                      const struct assay__sweep *sweep, size_t i)
{
    const struct assay__sweep_point *p = &sweep->points[i];
    assay__html_row(page, "");
    assay__buf_puts(&page->body, "<th scope=\"row\">");
    assay__html_name(&page->body, p->label);
    if (i == sweep->best) assay__buf_puts(&page->body, " <span class=\"verdict pass\">best</span>");
    if (i == sweep->knee) assay__buf_puts(&page->body, " <span class=\"tag\">knee</span>");
    assay__buf_puts(&page->body, "</th>");
    assay__html_cell_number(page, p->latency_s, "s", point_mark(profile, p, ASSAY__SWEEP_P50));
    assay__html_cell_number(page, p->low_s, "s", "");
    assay__html_cell_number(page, p->high_s, "s", "");
    assay__html_cell_number(page, p->throughput, "1/s", point_mark(profile, p, ASSAY__SWEEP_RATE));
    assay__html_cell_number(page, p->memory_bytes, "B",
                            point_mark(profile, p, ASSAY__SWEEP_MEMORY));
    assay__html_cell_number(page, p->energy_j, "J", point_mark(profile, p, ASSAY__SWEEP_JOULES));
    assay__html_cell_number(page, p->bandwidth, "B/s", "=");
    assay__html_cell_number(page, p->efficiency, "ratio", "=");
    assay__html_cell_text(page, *p->reason ? p->reason : p->lost);
    assay__html_row_end(page);
}

void assay__html_sweep(struct assay__html *page, const struct assay_profile *profile,
                       const struct assay__trial *trial)
{
    struct assay__sweep sweep;
    struct assay__buf text = {0};
    if (profile->kind != ASSAY__PROFILE_SWEEP) return;
    struct assay__arena *arena = assay__arena_new();
    if (!arena || assay__sweep(profile, arena, &sweep)) {
        page->body.failed = true;
        goto out;
    }
    assay__html_section(page, "sweep", "Sweep", ASSAY__HTML_OVERVIEW);
    assay__html_figure(page, profile, trial, "sweep", true);
    assay__html_figure(page, profile, trial, "pareto", false);
    assay__html_facts(page);
    assay__html_fact(page, "best", sweep.why);
    assay__sweep_alike(&text, &sweep);
    bool alike = text.length > 0;
    assay__html_fact(page, "not apart", text_of(&text));
    assay__buf_clear(&text);
    assay__sweep_pairs(&text, &sweep);
    assay__html_fact(page, alike ? "nor" : "not apart", text_of(&text));
    if (sweep.confirmation.asked) assay__html_fact(page, "confirm", sweep.confirmation.why);
    assay__html_fact(page, "knee", sweep.knee_why);
    assay__html_facts_end(page);
    assay__html_table(
        page, "", "sortable", "The points of the sweep",
        "Point|>p50|>Least|>Most|>Per second|>Memory|>Energy, gross|>Bandwidth|>Scaling|Remark");
    for (size_t i = 0; i < sweep.count; i++)
        put_point(page, profile, &sweep, i);
    assay__html_table_end(page);
    assay__html_paragraph(page, "note",
                          "Least and most are the medians of single launches. Scaling is the "
                          "throughput over that of the smallest batch (else "
                          "fewest threads), over their ratio: 100 % is linear.");
    assay__html_section_end(page);
out:
    assay__buf_free(&text);
    assay__arena_free(arena);
}

/* --- each other trial ------------------------------------------------------------------------- */

void assay__html_trials(struct assay__html *page, const struct assay_profile *profile,
                        const struct assay__trial *trial)
{
    size_t shown = 0;
    struct assay__buf text = {0};
    if (profile->trial_count < 2) return;
    assay__html_section(page, "trials", "The other trials", ASSAY__HTML_LAYERS);
    assay__buf_printf(&text, "Latency, layers and machine above are of %s.",
                      assay__html_trial_label(trial));
    assay__html_paragraph(page, "note", text_of(&text));
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *t = &profile->trials[i];
        char prefix[32];
        if (t == trial) continue;
        if (shown++ == TRIALS_MOST) {
            assay__html_paragraph(page, "note",
                                  "The others are in the data at the end of the page.");
            break;
        }
        assay__buf_printf(&page->body, "<details class=\"trial\" id=\"trial-%d\"><summary>", t->id);
        assay__html_name(&page->body, assay__html_trial_label(t));
        assay__buf_puts(&page->body, "</summary>\n");
        assay__buf_clear(&text);
        if (t->state != ASSAY__TRIAL_OK && t->reason && *t->reason)
            assay__html_paragraph(page, "alert", t->reason);
        assay__render_answer(&text, t);
        assay__html_paragraph(page, NULL, text_of(&text));
        if (assay__trial_metric(t, "latency.p50")) assay__html_percentiles(page, t);
        snprintf(prefix, sizeof prefix, "t%d-", t->id);
        if (t->layers.count) assay__html_layer_table(page, t, TRIAL_ROWS, prefix);
        assay__buf_puts(&page->body, "</details>\n");
    }
    assay__html_section_end(page);
    assay__buf_free(&text);
}
