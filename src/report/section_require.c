/* section_require.c - requirements for people: one row each with what was measured, the minimum,
 * the target and how far it is, then what must be said of them, the score with its parts, and what
 * to do. Also the basic and the detailed report, which show this instead of the whole profile. */
#include "report/require.h"
#include "report/sections.h"

#include "judge/comparison.h"
#include "judge/review.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 12, MEASURED = 13, REQUIRED = 13, RATIO = 8, VERDICT = 5, WHOLE = 80, REASON = 160 };

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

static const char *verdict_word(enum assay__require_state state)
{
    static const char *const words[] = {"", "pass", "FAIL", "—"};
    return words[state];
}

static const char *whole_word(enum assay__require_state state)
{
    static const char *const words[] = {"none given", "met", "NOT MET", "cannot be judged"};
    return words[state];
}

/* --- the table -------------------------------------------------------------------------------- */

/* At most 8 columns: a share of thousandths or a multiple of thousands says no more with more
 * digits. */
static void ratio_text(char *out, size_t size, double ratio)
{
    if (!isfinite(ratio))
        snprintf(out, size, "—");
    else if (ratio < 0.0005)
        snprintf(out, size, "< 0.1 %%");
    else if (ratio < 10)
        snprintf(out, size, "%.1f %%", ratio * 100);
    else if (ratio < 1000)
        snprintf(out, size, "%.0f ×", ratio);
    else
        snprintf(out, size, "> 999 ×");
}

static void put_required(struct assay__page *page, const struct assay__requirement *row,
                         double required, double ratio, enum assay__require_state state)
{
    char text[64] = "";
    if (isfinite(required)) assay__text_scaled(text, sizeof text, required, row->info->unit);
    assay__page_right(page, isfinite(required) ? text : "", REQUIRED);
    if (isfinite(required)) ratio_text(text, sizeof text, ratio);
    assay__page_right(page, isfinite(required) && isfinite(ratio) ? text : "", RATIO);
    if (state == ASSAY__REQUIRE_NOT_MET) assay__page_style(page, ASSAY__STYLE_WARN);
    assay__page_right(page, verdict_word(state), VERDICT);
    if (state == ASSAY__REQUIRE_NOT_MET) assay__page_style(page, ASSAY__STYLE_PLAIN);
}

static void put_wide(struct assay__page *page, const struct assay__judgement *j)
{
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, "", LABEL, 0);
    assay__page_right(page, "measured", MEASURED);
    assay__page_right(page, "minimum", REQUIRED);
    assay__page_right(page, "", RATIO + VERDICT);
    assay__page_right(page, "target", REQUIRED);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    for (size_t i = 0; i < j->count; i++) {
        const struct assay__requirement *row = &j->rows[i];
        struct assay__buf value = {0};
        assay__render_metric(&value, isfinite(row->value) ? row->measured : NULL);
        assay__buf_puts(page->out, "  ");
        assay__page_fit(page, row->info->label, LABEL, 0);
        assay__page_right(page, text_of(&value), MEASURED);
        put_required(page, row, row->minimum, row->minimum_ratio, row->minimum_state);
        if (isfinite(row->target))
            put_required(page, row, row->target, row->target_ratio, row->target_state);
        assay__buf_putc(page->out, '\n');
        assay__buf_free(&value);
    }
}

static void add_required(struct assay__buf *out, const char *what, double required, double ratio,
                         enum assay__require_state state, const char *unit)
{
    char text[64], share[64];
    if (!isfinite(required)) return;
    assay__text_scaled(text, sizeof text, required, unit);
    ratio_text(share, sizeof share, ratio);
    assay__buf_printf(out, "; %s %s", what, text);
    if (isfinite(ratio)) assay__buf_printf(out, " (%s)", share);
    assay__buf_printf(out, " %s", verdict_word(state));
}

static void put_narrow(struct assay__page *page, const struct assay__judgement *j)
{
    for (size_t i = 0; i < j->count; i++) {
        const struct assay__requirement *row = &j->rows[i];
        struct assay__buf text = {0};
        assay__render_metric(&text, isfinite(row->value) ? row->measured : NULL);
        add_required(&text, "minimum", row->minimum, row->minimum_ratio, row->minimum_state,
                     row->info->unit);
        add_required(&text, "target", row->target, row->target_ratio, row->target_state,
                     row->info->unit);
        assay__page_row(page, row->info->label, text_of(&text));
        assay__buf_free(&text);
    }
}

static void put_remark(struct assay__page *page, const struct assay__requirement *row,
                       const char *text)
{
    struct assay__buf line = {0};
    if (!text[0]) return;
    assay__buf_printf(&line, "%s: %s", row->info->label, text);
    assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text_of(&line));
    assay__buf_free(&line);
}

static void put_table(struct assay__page *page, const struct assay__judgement *j)
{
    struct assay__buf remark = {0};
    assay__buf_printf(&remark, "%s: minimum %s, target %s", j->table->name, whole_word(j->minimum),
                      whole_word(j->target));
    assay__page_heading(page, "Requirements", text_of(&remark));
    if (page->columns >= WHOLE)
        put_wide(page, j);
    else
        put_narrow(page, j);
    for (size_t i = 0; i < j->count; i++) {
        if (j->rows[i].reason[0])
            assay__page_wrap(page, ASSAY__STYLE_DIM, "  — ", j->rows[i].reason);
        put_remark(page, &j->rows[i], j->rows[i].note);
        /* where it is the advice it is not said twice */
        const char *const limits[] = {j->rows[i].unreachable, j->rows[i].beyond};
        for (size_t k = 0; k < 2; k++)
            if (limits[k][0] && !strstr(j->rows[i].advice, limits[k]))
                put_remark(page, &j->rows[i], limits[k]);
    }
    assay__buf_free(&remark);
}

/* --- score and sentences ---------------------------------------------------------------------- */

static void put_score(struct assay__page *page, const char *label, const struct assay__score *score)
{
    struct assay__buf text = {0};
    if (isfinite(score->points))
        assay__buf_printf(&text, "=%.1f of 100: ", score->points);
    else
        assay__buf_puts(&text, "— of 100: ");
    for (size_t i = 0; i < ASSAY__SCORE_PARTS; i++) {
        const struct assay__score_part *part = &score->parts[i];
        assay__buf_printf(&text, "%s%s ", i ? " · " : "", part->name);
        if (isfinite(part->points))
            assay__buf_printf(&text, "=%.*f of" ASSAY__PAGE_NBSP "%.0f", part->points < 0.1 ? 3 : 1,
                              part->points, part->of);
        else
            assay__buf_printf(&text, "— of" ASSAY__PAGE_NBSP "%.0f", part->of);
    }
    assay__page_row(page, label, text_of(&text));
    for (size_t i = 0; i < ASSAY__SCORE_PARTS; i++) {
        const struct assay__score_part *part = &score->parts[i];
        if (isfinite(part->points)) continue;
        assay__buf_clear(&text);
        size_t length = strlen(part->reason), first = length < REASON ? length : REASON;
        assay__buf_printf(&text, "— %s: %.*s%s", part->name, (int)first, part->reason,
                          first < length ? " …" : ""); /* the list of all sensors is long */
        assay__page_wrap(page, ASSAY__STYLE_DIM, "              ", text_of(&text));
    }
    assay__buf_free(&text);
}

static void put_sentences(struct assay__page *page, const char *heading, const char *remark,
                          const struct assay__sentence_list *list, size_t most, const char *none)
{
    assay__page_heading(page, heading, remark);
    for (size_t i = 0; i < list->count && i < most; i++)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  • ", list->items[i]);
    if (list->count == 0) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", none);
    if (list->count > most) {
        struct assay__buf more = {0};
        assay__buf_printf(&more, "and %zu more: --detail detailed", list->count - most);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text_of(&more));
        assay__buf_free(&more);
    }
}

void assay__section_require(struct assay__page *page, const struct assay_profile *profile,
                            const struct assay__trial *trial)
{
    if (!trial->required) return;
    struct assay__arena *arena = assay__arena_new();
    struct assay__review review;
    if (!arena || assay__review(profile, trial, arena, &review)) {
        page->out->failed = true;
    } else if (review.required) {
        put_table(page, &review.judgement);
        put_score(page, "score", &review.score);
        for (int level = ASSAY__REQUIRE_TO_MINIMUM; level > ASSAY__REQUIRE_FINE; level--)
            for (size_t i = 0; i < review.judgement.count; i++)
                if ((int)review.judgement.rows[i].level == level)
                    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  • ",
                                     review.judgement.rows[i].advice);
    }
    assay__arena_free(arena);
}

/* --- the basic and the detailed report -------------------------------------------------------- */

/* What the monitoring guide calls compute, memory and hardware analysis: known values, then what is
 * missing. */
static void put_group(struct assay__page *page, const struct assay__trial *trial, const char *label,
                      const char *const (*names)[2], size_t count)
{
    struct assay__buf items = {0}, missing = {0};
    for (size_t i = 0; i < count; i++) {
        const struct assay_metric *metric = assay__trial_metric(trial, names[i][0]);
        struct assay__buf value = {0};
        if (metric) {
            assay__render_metric(&value, metric);
            assay__page_item(&items, "%s %s", names[i][1], text_of(&value));
        } else {
            assay__buf_printf(&missing, "%s%s", missing.length ? ", " : "", names[i][1]);
        }
        assay__buf_free(&value);
    }
    if (missing.length) assay__page_item(&items, "— %s", missing.data);
    assay__page_row(page, label, text_of(&items));
    assay__buf_free(&items);
    assay__buf_free(&missing);
}

static void put_performance(struct assay__page *page, const struct assay__trial *trial)
{
    static const char *const speed[][2] = {
        {"latency.p50", "p50"}, {"latency.p99", "p99"}, {"throughput.inferences", "inferences"}};
    static const char *const compute[][2] = {{"compute.rate", "rate"},
                                             {"compute.utilization", "of the ceiling"},
                                             {"compute.efficiency", "of the minimum"}};
    static const char *const memory[][2] = {{"memory.bandwidth", "bandwidth"},
                                            {"memory.bandwidth_utilization", "of the ceiling"},
                                            {"memory.peak.worker", "peak"},
                                            {"memory.peak.device", "on the device"},
                                            {"memory.budget_share", "of the budget"},
                                            {"cache.hit_rate", "cache hits"}};
    static const char *const hardware[][2] = {{"power.average", "power"},
                                              {"power.budget_share", "of the budget"},
                                              {"energy.inference.net", "net energy per inference"},
                                              {"hardware.temperature", "temperature"},
                                              {"hardware.memory_controller", "memory controller"}};
    assay__page_heading(page, "Performance", "— not available: the whole report says why");
    put_group(page, trial, "speed", speed, sizeof speed / sizeof speed[0]);
    put_group(page, trial, "compute", compute, sizeof compute / sizeof compute[0]);
    put_group(page, trial, "memory", memory, sizeof memory / sizeof memory[0]);
    put_group(page, trial, "hardware", hardware, sizeof hardware / sizeof hardware[0]);
}

/* What the header does not say of the machine. */
static void put_environment(struct assay__page *page, const struct assay_profile *profile,
                            const struct assay__trial *trial)
{
    const struct assay__environment *e = &profile->environment;
    const struct {
        const char *label, *text;
    } rows[] = {{"kernel", e->kernel},
                {"SIMD", e->simd},
                {"governor", e->governor},
                {"library", trial->target.engine_library},
                {"command", profile->command_line}};
    assay__page_heading(page, "Environment", "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assay__page_row(page, rows[i].label, rows[i].text && *rows[i].text ? rows[i].text : "—");
    const char *verdict = trial->stability.verdict;
    assay__page_row(page, "stability", verdict && *verdict ? verdict : "—");
    for (size_t i = 0; i < e->disturbance_count && i < 10; i++)
        assay__page_row(page, i ? "" : "disturbed", e->disturbances[i]);
    for (size_t i = 0; i < e->unknown_count && i < 10; i++)
        assay__page_row(page, i ? "" : "not seen", e->unknown[i]);
}

void assay__page_review(struct assay__page *page, const struct assay_profile *profile,
                        const struct assay__trial *trial, bool detailed)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__review review;
    if (!arena || assay__review(profile, trial, arena, &review)) {
        page->out->failed = true;
        assay__arena_free(arena);
        return;
    }
    if (review.required) {
        put_table(page, &review.judgement);
    } else {
        assay__page_heading(page, "Requirements", "");
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ",
                         "none given: --require NAME|FILE judges by a table");
    }
    put_performance(page, trial);
    assay__page_heading(page, "Score", "");
    put_score(page, "total", &review.score);
    if (detailed) {
        put_sentences(page, "Bottlenecks", "", &review.bottlenecks, SIZE_MAX, "none found");
        put_sentences(page, "Opportunities", "upper bounds by what was measured, not promises",
                      &review.opportunities, SIZE_MAX, "none found");
    }
    put_sentences(page, "Recommendations", "to try; nothing here was tried",
                  &review.recommendations, detailed ? SIZE_MAX : ASSAY__REVIEW_BASIC, "none");
    if (detailed) put_environment(page, profile, trial);
    assay__arena_free(arena);
}

bool assay__detail_is_known(const char *detail)
{
    return !detail || !*detail || strcmp(detail, "basic") == 0 || strcmp(detail, "detailed") == 0;
}
