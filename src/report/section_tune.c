/* section_tune.c - what a tuning has found: the configurations in order, the best, those like it,
 * the front, what each setting contributes, what was spent, and the best as code. */
#include "report/sections.h"

#include "judge/tune_report.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_LEAST = 8, ROWS_SHOWN = 12, NUMBER = 11, RUNS = 6, MARKS = 3, WIDE = 72 };

#define LEGEND "> best, + not told from it, ! not advised, * Pareto front"

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

/* With the mark of how it is known: "=57.9 k". */
static void put_cell(struct assay__page *page, double value, enum assay_state state,
                     const char *unit)
{
    char scaled[64], text[80] = "—";
    if (isfinite(value)) {
        assay__text_scaled(scaled, sizeof scaled, value, unit);
        snprintf(text, sizeof text, "%s%s", assay__render_mark(state), scaled);
    }
    assay__page_right(page, text, NUMBER);
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

/* How the table is set: a label that has no room beside the numbers has a line of its own, so that
 * two rows never look alike. */
struct layout {
    int width; /* of the label */
    bool wide, stacked;
};

static struct layout layout_of(const struct assay__page *page,
                               const struct assay__tune_result *result)
{
    struct layout made = {label_width(result), false, false};
    int rest = MARKS + NUMBER + RUNS;
    made.stacked = made.width + rest > page->columns;
    if (made.stacked) made.width = page->columns - rest;
    made.wide = page->columns >= WIDE && page->columns >= made.width + rest + 2 * NUMBER;
    return made;
}

static void put_numbers(struct assay__page *page, const struct assay__tune_row *row, bool wide,
                        bool rates)
{
    if (wide || !rates) put_cell(page, row->latency_s, row->latency_state, "s");
    if (wide || rates) put_cell(page, row->throughput, row->throughput_state, "1/s");
    if (wide) put_cell(page, row->memory_bytes, row->memory_state, "B");
    assay__buf_printf(page->out, "%*zu\n", RUNS, row->launches);
}

/* Behind the label where it fits, else below it: `used` columns are. */
static void put_reason(struct assay__page *page, const char *reason, int used)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, reason);
    if (assay__text_width(safe.data ? safe.data : "") + (size_t)used <= (size_t)page->columns) {
        assay__buf_printf(page->out, "  %s\n", safe.data ? safe.data : "");
    } else {
        assay__buf_putc(page->out, '\n');
        assay__page_wrap_lines(page, ASSAY__STYLE_PLAIN, "     ", reason, 4);
    }
    if (safe.failed) page->out->failed = true;
    assay__buf_free(&safe);
}

static void put_row(struct assay__page *page, const struct assay__tune_result *result, size_t i,
                    const struct layout *layout)
{
    const struct assay__tune_row *row = &result->rows[i];
    bool failed = row->fate == ASSAY__FATE_FAILED;
    struct assay__buf text = {0};
    char marks[MARKS + 1] = {i == result->best                ? '>'
                             : row->alike                     ? '+'
                             : row->launches && !row->allowed ? '!'
                                                              : ' ',
                             row->front ? '*' : ' ', ' ', '\0'};
    put_label(&text, row->label, false);
    if (text.data && (int)assay__text_width(text.data) > layout->width) {
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, marks, text.data);
        if (failed)
            assay__page_wrap(page, ASSAY__STYLE_PLAIN, "     ", row->reason);
        else
            assay__buf_printf(page->out, "%*s", MARKS + layout->width, "");
    } else {
        assay__buf_puts(page->out, marks);
        assay__page_fit(page, text.data ? text.data : "", layout->width, 0);
        if (failed) put_reason(page, row->reason, MARKS + layout->width + 2);
    }
    if (!failed) put_numbers(page, row, layout->wide, result->plan->goal == ASSAY__PLAN_THROUGHPUT);
    assay__buf_free(&text);
}

static void put_names(struct assay__page *page, const struct assay__tune_result *result,
                      const struct layout *layout)
{
    struct assay__buf names = {0};
    put_label(&names, result->count ? result->rows[0].label : "", true);
    if (layout->stacked)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "   ", names.data ? names.data : "");
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_puts(page->out, "   ");
    assay__page_fit(page, layout->stacked || !names.data ? "" : names.data, layout->width, 0);
    bool rates = result->plan->goal ==
                 ASSAY__PLAN_THROUGHPUT; /* what the narrow page has room for */
    if (layout->wide || !rates) assay__page_right(page, "p50", NUMBER);
    if (layout->wide || rates) assay__page_right(page, "per second", NUMBER);
    if (layout->wide) assay__page_right(page, "memory", NUMBER);
    assay__page_right(page, "runs", RUNS);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    assay__buf_free(&names);
}

static void put_table(struct assay__page *page, const struct assay__tune_result *result)
{
    size_t *order = malloc((result->count + 1) * sizeof *order);
    struct layout layout = layout_of(page, result);
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
    put_names(page, result, &layout);
    size_t shown = page->top < 0 || result->count < ROWS_SHOWN ? result->count : ROWS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        put_row(page, result, order[i], &layout);
    if (shown < result->count)
        assay__buf_printf(page->out, "   and %zu more (--top 0 shows all)\n",
                          result->count - shown);
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
        assay__buf_printf(&text, "%s %s → %s: ", assay__axis_name(part->axis), part->from,
                          part->to);
        if (!*part->objection) assay__buf_puts(&text, "set back alone, ");
        if (*part->objection)
            assay__buf_printf(&text, "nothing with %s may be advised (%s)", part->from,
                              part->objection);
        else if (part->measured && isnan(part->ratio.p_value))
            assay__buf_printf(&text, "%s × the cost (measured; too few launches for a test)",
                              assay__digits(part->factor, 3).text);
        else if (part->measured && !(part->ratio.p_value < 0.05))
            assay__buf_printf(&text, "no difference shown (%s × the cost, 95 %%: %s; measured)",
                              assay__digits(part->factor, 3).text,
                              assay__digits_range(part->ratio.ci.low, part->ratio.ci.high).text);
        else if (part->measured)
            assay__buf_printf(&text, "%s × the cost (95 %%: %s; measured)",
                              assay__digits(part->factor, 3).text,
                              assay__digits_range(part->ratio.ci.low, part->ratio.ci.high).text);
        else
            assay__buf_printf(&text, "~%s × the cost (the search's model, not measured)",
                              assay__digits(part->factor, 3).text);
        assay__page_row(page, i ? "" : "settings", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

static void put_spent(struct assay__page *page, const struct assay__tune_result *result)
{
    struct assay__buf text = {0};
    size_t launches = result->search_launches + result->final_launches, most = result->grid * 3;
    assay__buf_printf(&text, "%zu of %zu configurations", result->configurations, result->grid);
    if (result->grid)
        assay__buf_printf(
            &text, " (%s %%)",
            assay__digits(100.0 * (double)result->configurations / (double)result->grid, 3).text);
    if (result->failed) assay__buf_printf(&text, ", %zu of them failed", result->failed);
    if (result->refused)
        assay__buf_printf(&text, ", %zu more refused from the start", result->refused);
    assay__buf_printf(&text, "; launches: %zu to choose, %zu to judge", result->search_launches,
                      result->final_launches);
    if (result->ablation_launches)
        assay__buf_printf(&text, ", %zu for what each setting contributes",
                          result->ablation_launches);
    if (result->grid > result->configurations)
        assay__buf_printf(&text, "; of the %zu that the whole grid would take, three each: %s %%",
                          most, assay__digits(100.0 * (double)launches / (double)most, 3).text);
    if (result->grid > result->configurations && result->ablation_launches)
        assay__buf_printf(
            &text, " to choose and judge, %s %% in all",
            assay__digits(100.0 * (double)(launches + result->ablation_launches) / (double)most, 3)
                .text);
    assay__page_row(page, "tried", text.data ? text.data : "");
    assay__buf_clear(&text);
    if (isfinite(result->elapsed_s) && isfinite(result->plan->budget_s)) {
        double left = result->plan->budget_s - result->elapsed_s;
        assay__buf_printf(&text, "%s s of %s s; ", assay__digits(result->elapsed_s, 3).text,
                          assay__digits(result->plan->budget_s, 3).text);
        assay__buf_printf(&text, left >= 0 ? "%s s left" : "%s s too long",
                          assay__digits(fabs(left), 2).text);
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
        assay__buf_printf(&text, "=%.2g relative L2 of the best's outputs against float32",
                          best->drift);
        if (isfinite(result->plan->drift_limit))
            assay__buf_printf(&text, "; at most %s is advised",
                              assay__digits(result->plan->drift_limit, 3).text);
        assay__page_row(page, "drift", text.data ? text.data : "");
    }
    assay__buf_free(&text);
}

/* Where a line of code that is too long may be broken, so that it still says the same: after a
 * blank, a bracket or a colon, before a full stop or an arrow, never within a string; 0: nowhere
 * within `room`. *open counts the brackets, before and after; outside of them Python needs a
 * backslash before the end. */
static size_t break_at(const char *line, size_t room, bool python, int *open)
{
    size_t found = 0;
    int now = *open, then = *open;
    bool quoted = false;
    for (size_t i = 0; i <= room + 1 && line[i]; i++) {
        bool before = line[i] == '.' || strncmp(&line[i], "->", 2) == 0;
        bool blank = i && line[i - 1] == ' ';
        size_t used = i - blank + (python && now <= 0 ? 2 : 0);
        if (!quoted && i > 4 && used <= room && (before || strchr(" ([:", line[i - 1])) &&
            line[i] != ' ') {
            found = i;
            then = now;
        }
        if (quoted && line[i] == '\\' && line[i + 1])
            i++;
        else if (line[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            now += (line[i] == '(' || line[i] == '[') - (line[i] == ')' || line[i] == ']');
    }
    *open = then;
    return found;
}

/* Every line of a comment begins as one. */
static void put_comment(struct assay__page *page, const char *sign, char *text)
{
    size_t room = (size_t)page->columns - 2 - strlen(sign);
    for (char *end = text; *text; text = end) {
        size_t used = 0;
        while (*text == ' ')
            text++;
        for (end = text; *end; used = (size_t)(end - text)) {
            size_t word = strspn(end, " ") + strcspn(end + strspn(end, " "), " ");
            if (used && used + word > room) break;
            end += word;
        }
        char kept = *end;
        *end = '\0';
        assay__buf_printf(page->out, "  %s", sign);
        assay__text_safe(page->out, text);
        assay__buf_putc(page->out, '\n');
        *end = kept;
    }
}

static void put_code_line(struct assay__page *page, char *line, bool python)
{
    size_t own = strspn(line, " "), indent = 2;
    int open = python && own; /* the snippet's own continuation */
    for (size_t cut = 1; cut; line += cut) {
        size_t room = (size_t)page->columns - indent, end = 0;
        cut = assay__text_width(line) > room ? break_at(line, room, python, &open) : 0;
        for (end = cut; end && line[end - 1] == ' ';)
            end--;
        char kept = line[end];
        if (cut) line[end] = '\0';
        assay__buf_printf(page->out, "%*s", (int)indent, "");
        assay__text_safe(page->out, line);
        assay__buf_puts(page->out, cut && python && open <= 0 ? " \\\n" : "\n");
        if (cut) line[end] = kept;
        indent = 2 + own + 2;
    }
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
        for (const char *at = text; *at;) {
            size_t length = strcspn(at, "\n");
            char *line = assay__arena_strndup(arena, at, length);
            const char *sign = i == 0 ? "# " : "// ";
            if (line && strncmp(line, sign, strlen(sign)) == 0)
                put_comment(page, sign, line + strlen(sign));
            else if (line)
                put_code_line(page, line, i == 0);
            at += length;
            at += *at == '\n';
        }
    }
}

void assay__section_tune(struct assay__page *page, const struct assay_profile *profile,
                         const struct assay__trial *trial)
{
    struct assay__tune_result result;
    if (trial != profile->trials || profile->kind != ASSAY__PROFILE_TUNE) return;
    struct assay__arena *arena = assay__arena_new();
    if (!arena || assay__tune_result(profile, arena, &result)) {
        page->out->failed = true;
        goto out;
    }
    assay__page_heading(page, "Tune", LEGEND);
    put_table(page, &result);
    assay__page_row(page, "best",
                    result.best != SIZE_MAX ? result.rows[result.best].label : "none");
    assay__page_row(page, "", result.why);
    put_alike(page, &result);
    if (*result.unconfirmed) assay__page_row(page, "unconfirmed", result.unconfirmed);
    put_parts(page, &result);
    put_limits(page, &result);
    put_spent(page, &result);
    put_code(page, profile, &result, arena);
out:
    assay__arena_free(arena);
}
