/* section_tune.c - what a tuning has found: the configurations in order, the best, those like it, the front, what each setting contributes, what was
 * spent, and the best as code. */
#include "report/sections.h"

#include "advise/tune_report.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_LEAST = 8, ROWS_SHOWN = 12, NUMBER = 10, WIDE = 72 };

/* "float32 all 4 on": the values alone, their axes stand above them; `names`: those instead. */
static void put_label(struct assay__buf *out, const char *label, bool names)
{
    for (const char *at = label; *at;) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        size_t name = equals ? (size_t)(equals - at) : length;
        if (names)
            assay__buf_add(out, at, name);
        else if (equals)
            assay__buf_add(out, equals + 1, length - name - 1);
        at += length;
        at += *at == ' ';
        if (*at) assay__buf_putc(out, ' ');
    }
}

static void put_cell(struct assay__page *page, double value, const char *unit, int width)
{
    char scaled[64] = "—";
    if (isfinite(value)) assay__text_scaled(scaled, sizeof scaled, value, unit);
    assay__page_right(page, scaled, width);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Finalists first, then by cost; what failed comes last. */
static bool stands_before(const struct assay__tune_row *a, const struct assay__tune_row *b)
{
    bool final_a = a->fate == ASSAY__FATE_FINALIST, final_b = b->fate == ASSAY__FATE_FINALIST;
    if (final_a != final_b) return final_a;
    double x = isfinite(a->cost) ? a->cost : INFINITY, y = isfinite(b->cost) ? b->cost : INFINITY;
    return x < y;
}

static int label_width(const struct assay__tune_result *result)
{
    int width = LABEL_LEAST;
    for (size_t i = 0; i <= result->count && result->count; i++) {
        struct assay__buf text = {0};
        put_label(&text, result->rows[i < result->count ? i : 0].label, i == result->count);
        int own = text.data ? (int)assay__text_width(text.data) : 0;
        if (own > width) width = own;
        assay__buf_free(&text);
    }
    return width;
}

static void put_row(struct assay__page *page, const struct assay__tune_result *result, size_t i,
                    int width, bool wide)
{
    const struct assay__tune_row *row = &result->rows[i];
    struct assay__buf text = {0};
    put_label(&text, row->label, false);
    assay__buf_puts(page->out, i == result->best ? ">" : row->alike ? "=" : " ");
    assay__buf_puts(page->out, row->front ? "* " : "  ");
    assay__page_fit(page, text.data ? text.data : "", width, 0);
    assay__buf_free(&text);
    if (row->fate == ASSAY__FATE_FAILED) {
        assay__buf_puts(page->out, "  ");
        assay__page_fit(page, row->reason, page->columns - width - 6, 0);
    } else {
        put_cell(page, row->latency_s, "s", NUMBER);
        if (wide) put_cell(page, row->throughput, "1/s", NUMBER);
        if (wide) put_cell(page, row->memory_bytes, "B", NUMBER);
        assay__buf_printf(page->out, "%5zu", row->launches);
        if (!row->allowed) assay__buf_puts(page->out, " !");
    }
    assay__buf_putc(page->out, '\n');
}

static void put_table(struct assay__page *page, const struct assay__tune_result *result)
{
    size_t *order = malloc((result->count + 1) * sizeof *order);
    struct assay__buf names = {0};
    int width = label_width(result), rest = 3 + NUMBER + 5 + 2;
    bool wide = page->columns >= WIDE && page->columns >= width + rest + 2 * NUMBER;
    if (width > page->columns - rest) width = page->columns - rest;
    if (!order) {
        page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < result->count; i++) { /* a few hundred at most */
        size_t at = i;
        for (; at > 0 && stands_before(&result->rows[i], &result->rows[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    put_label(&names, result->count ? result->rows[0].label : "", true);
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_puts(page->out, "   ");
    assay__page_fit(page, names.data ? names.data : "", width, 0);
    assay__page_right(page, "p50", NUMBER);
    if (wide) assay__page_right(page, "per second", NUMBER + 1);
    if (wide) assay__page_right(page, "memory", NUMBER - 1);
    assay__buf_puts(page->out, " runs\n");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    size_t shown = page->top < 0 || result->count < ROWS_SHOWN ? result->count : ROWS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        put_row(page, result, order[i], width, wide);
    if (shown < result->count)
        assay__buf_printf(page->out, "   and %zu more (--top 0 shows all)\n",
                          result->count - shown);
    assay__buf_free(&names);
    free(order);
}

/* --- words ------------------------------------------------------------------------------------ */

static void put_alike(struct assay__page *page, const struct assay__tune_result *result)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < result->count; i++)
        if (result->rows[i].alike)
            assay__buf_printf(&text, "%s%s", text.length ? "; " : "", result->rows[i].label);
    if (text.length) assay__page_row(page, "not apart", text.data);
    assay__buf_free(&text);
}

static void put_parts(struct assay__page *page, const struct assay__tune_result *result)
{
    for (size_t i = 0; i < result->part_count; i++) {
        const struct assay__tune_part *part = &result->parts[i];
        struct assay__buf text = {0};
        assay__buf_printf(&text, "%s %s → %s: set back alone, ", part->axis, part->from, part->to);
        if (part->measured && !(part->ratio.p_value < 0.05))
            assay__buf_printf(
                &text, "no difference shown (%.3g × the cost, 95 %%: %.4g to %.4g; measured)",
                part->factor, part->ratio.ci.low, part->ratio.ci.high);
        else if (part->measured)
            assay__buf_printf(&text, "%.3g × the cost (95 %%: %.4g to %.4g; measured)",
                              part->factor, part->ratio.ci.low, part->ratio.ci.high);
        else
            assay__buf_printf(&text, "~%.3g × the cost (the search's model, not measured)",
                              part->factor);
        assay__page_row(page, i ? "" : "settings", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

static void put_spent(struct assay__page *page, const struct assay__tune_result *result)
{
    struct assay__buf text = {0};
    size_t launches = result->search_launches + result->final_launches;
    assay__buf_printf(&text, "%zu of %zu configurations", result->configurations, result->grid);
    if (result->grid)
        assay__buf_printf(&text, " (%.3g %%)",
                          100.0 * (double)result->configurations / (double)result->grid);
    if (result->failed) assay__buf_printf(&text, ", %zu of them failed", result->failed);
    assay__buf_printf(&text, "; launches: %zu to choose, %zu to judge", result->search_launches,
                      result->final_launches);
    if (result->ablation_launches)
        assay__buf_printf(&text, ", %zu for what each setting contributes",
                          result->ablation_launches);
    if (result->grid > result->configurations)
        assay__buf_printf(&text, " (the whole grid, three each, would be %zu: %.3g %%)",
                          result->grid * 3, 100.0 * (double)launches / (double)(result->grid * 3));
    assay__page_row(page, "tried", text.data ? text.data : "");
    assay__buf_clear(&text);
    if (isfinite(result->elapsed_s) && isfinite(result->budget_s)) {
        double left = result->budget_s - result->elapsed_s;
        assay__buf_printf(&text, "%.3g s of %.3g s; ", result->elapsed_s, result->budget_s);
        assay__buf_printf(&text, left >= 0 ? "%.2g s left" : "%.2g s too long", fabs(left));
        assay__page_row(page, "budget", text.data ? text.data : "");
    }
    assay__buf_free(&text);
}

static void put_limits(struct assay__page *page, const struct assay__tune_result *result)
{
    struct assay__buf text = {0};
    size_t refused = 0;
    for (size_t i = 0; i < result->count; i++)
        refused += result->rows[i].launches && !result->rows[i].allowed;
    for (size_t i = 0; i < result->count; i++) {
        const struct assay__tune_row *row = &result->rows[i];
        bool first = row->launches && !row->allowed;
        size_t alike = 0;
        for (size_t k = 0; k < result->count && first; k++) {
            bool same = result->rows[k].launches && !result->rows[k].allowed &&
                        strcmp(result->rows[k].reason, row->reason) == 0;
            first = !(same && k < i);
            alike += same;
        }
        if (first)
            assay__buf_printf(&text, "%s%zu: %s", text.length ? "; " : "", alike, row->reason);
    }
    if (refused) assay__page_row(page, "not advised", text.data ? text.data : "");
    assay__buf_clear(&text);
    const struct assay__tune_row *best = result->best != SIZE_MAX ? &result->rows[result->best]
                                                                  : NULL;
    if (best && isfinite(best->drift)) {
        assay__buf_printf(&text, "%.2g relative L2 of the best's outputs against float32",
                          best->drift);
        if (isfinite(result->drift_limit))
            assay__buf_printf(&text, "; at most %.3g is advised", result->drift_limit);
        assay__page_row(page, "drift", text.data ? text.data : "");
    }
    assay__buf_free(&text);
}

static void put_code(struct assay__page *page, const struct assay_profile *profile,
                     const struct assay__tune_result *result, struct assay__arena *arena)
{
    static const char *const languages[][2] = {
        {"python", "Python"}, {"c", "C"}, {"json", "JSON session options"}};
    if (result->best == SIZE_MAX) return;
    for (size_t i = 0; i < 3; i++) {
        const char *text = assay__tune_snippet(profile, result, languages[i][0], arena);
        if (!text) {
            page->out->failed = true;
            return;
        }
        assay__page_heading(page, languages[i][1], i ? "" : "the best configuration, ready to use");
        for (const char *at = text; *at;) { /* code is not wrapped: it is to be copied */
            size_t length = strcspn(at, "\n");
            char *line = assay__arena_strndup(arena, at, length);
            if (line) {
                assay__buf_puts(page->out, "  ");
                assay__text_safe(page->out, line);
            }
            assay__buf_putc(page->out, '\n');
            at += length;
            at += *at == '\n';
        }
    }
}

void assay__section_tune(struct assay__page *page, const struct assay_profile *profile,
                         const struct assay__trial *trial)
{
    struct assay__tune_result result;
    if (trial != profile->trials || strcmp(profile->command, "tune") != 0) return;
    struct assay__arena *arena = assay__arena_new();
    if (!arena || assay__tune_result(profile, arena, &result)) {
        page->out->failed = true;
        goto out;
    }
    assay__page_heading(page, "Tune", "> best, = not told from it, * Pareto front, ! not advised");
    put_table(page, &result);
    assay__page_row(page, "best",
                    result.best != SIZE_MAX ? result.rows[result.best].label : "none");
    assay__page_row(page, "", result.why);
    put_alike(page, &result);
    put_parts(page, &result);
    put_limits(page, &result);
    put_spent(page, &result);
    put_code(page, profile, &result, arena);
out:
    assay__arena_free(arena);
}
