/* diff_text.c - several profiles side by side for a terminal. Two profiles stand in columns where
 * the page is wide enough; otherwise a row is a line for the base and an indented one for each
 * other run. */
#include "report/report_diff.h"

#include "base/text.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE = 10, LAYER_TOP = 20, WIDE = 72, ROOM = 24 };

struct view {
    struct assay__page page;
    const struct assay__diff *diff;
    bool columns; /* two runs side by side */
    int name;     /* columns of the first cell */
};

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

/* A number and the sign behind it stay on one line. An arrow is two columns in ASCII: it is so
 * before lines are broken. */
static void hold(const struct view *v, struct assay__buf *out, const char *text)
{
    const size_t arrow = strlen("→");
    for (const char *at = text; *at; at++)
        if (*at == ' ' && strncmp(at + 1, "×", strlen("×")) == 0) {
            assay__buf_puts(out, ASSAY__PAGE_NBSP);
        } else if (v->page.ascii && strncmp(at, "→", arrow) == 0) {
            assay__buf_puts(out, "->");
            at += arrow - 1;
        } else {
            assay__buf_putc(out, *at);
        }
}

/* Cells and the text behind them; on a narrow page the text has lines of its own. */
static void put_cells(struct view *v, struct assay__buf *head, const struct assay__buf *text)
{
    struct assay__buf held = {0};
    bool below = assay__text_width(text_of(head)) + ROOM > (size_t)v->page.columns;
    hold(v, &held, text_of(text));
    if (text->length && !below) assay__buf_puts(head, "  ");
    if (head->failed || text->failed || held.failed) v->page.out->failed = true;
    assay__page_wrap(&v->page, ASSAY__STYLE_PLAIN, text_of(head), below ? "" : text_of(&held));
    if (text->length && below)
        assay__page_wrap(&v->page, ASSAY__STYLE_PLAIN, "      ", text_of(&held));
    assay__buf_free(&held);
}

/* Right-aligned, never without a space before it. */
static void put_right(struct assay__page *page, const char *text)
{
    if (assay__text_width(text) >= VALUE) assay__buf_putc(page->out, ' ');
    assay__page_right(page, text, VALUE);
}

static void put_runs(struct view *v)
{
    assay__page_heading(&v->page, "Runs", "the first is the base");
    for (size_t s = 0; s < v->diff->count; s++) {
        const struct assay__diff_side *side = &v->diff->sides[s];
        struct assay__buf items = {0}, label = {0};
        assay__buf_printf(&label, "%zu %s", s + 1, s ? "" : "base");
        assay__page_item(&items, "%s", side->name);
        if (side->trial) {
            assay__page_item(&items, "%s on %s", side->profile->models[0]->name,
                             side->trial->target.device);
            assay__page_item(&items, "%s %s", side->trial->target.engine,
                             side->trial->target.engine_version);
            if (*side->trial_label) assay__page_item(&items, "trial %s", side->trial_label);
            assay__page_item(&items, "%zu launch%s", side->trial->launch_count,
                             side->trial->launch_count == 1 ? "" : "es");
        }
        assay__page_item(&items, "%s", side->profile->created);
        assay__page_row(&v->page, text_of(&label), text_of(&items));
        if (items.failed || label.failed) v->page.out->failed = true;
        assay__buf_free(&items);
        assay__buf_free(&label);
    }
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void value_cell(struct view *v, const struct assay_metric *metric)
{
    struct assay__buf text = {0};
    if (metric)
        assay__render_metric(&text, metric);
    else
        assay__buf_puts(&text, "—");
    put_right(&v->page, text_of(&text));
    assay__buf_free(&text);
}

static void verdict_words(struct assay__buf *text, const struct assay__diff_metric *row, size_t s)
{
    const struct assay__diff_delta *d = &row->deltas[s];
    if (d->verdict == ASSAY__DIFF_NOT_COMPARABLE) {
        assay__buf_printf(text, "— %s", d->reason);
        return;
    }
    assay__diff_ratio_words(text, d);
    assay__buf_printf(text, " %s", assay__diff_verdict_name(d->verdict, row->sense));
}

/* "  name   9.27 ms   5.10 ms  0.55 × (…) faster", the last cell wrapped under itself. */
static void put_line(struct view *v, const char *name, const struct assay__diff_metric *row,
                     size_t first, size_t s)
{
    struct assay__buf head = {0}, text = {0};
    struct view line = *v;
    line.page.out = &head;
    assay__buf_puts(&head, "  ");
    assay__page_fit(&line.page, name, v->name, 0);
    if (first == 0) value_cell(&line, row->values[0]);
    if (s) value_cell(&line, row->values[s]);
    if (s) verdict_words(&text, row, s);
    put_cells(v, &head, &text);
    assay__buf_free(&head);
    assay__buf_free(&text);
}

static void put_metric(struct view *v, const struct assay__diff_metric *row)
{
    if (v->columns) {
        put_line(v, row->name, row, 0, 1);
        return;
    }
    put_line(v, row->name, row, 0, 0);
    for (size_t s = 1; s < v->diff->count; s++) {
        struct assay__buf name = {0};
        assay__buf_printf(&name, "  %s", v->diff->sides[s].name);
        put_line(v, text_of(&name), row, 1, s);
        assay__buf_free(&name);
    }
}

static void put_metrics(struct view *v)
{
    size_t folds[ASSAY__DIFF_FOLDS] = {0};
    assay__page_heading(&v->page, "Metrics", "ratio to the base, 95 % interval over launches");
    if (v->columns) {
        assay__page_style(&v->page, ASSAY__STYLE_DIM);
        assay__buf_printf(v->page.out, "  %*s%*s%*s  %s\n", v->name, "", VALUE, "base", VALUE,
                          "other", "ratio");
        assay__page_style(&v->page, ASSAY__STYLE_PLAIN);
    }
    for (size_t i = 0; i < v->diff->metric_count; i++) {
        enum assay__diff_fold fold = assay__diff_fold(v->diff, &v->diff->metrics[i]);
        folds[fold]++;
        if (fold == ASSAY__DIFF_LINE) put_metric(v, &v->diff->metrics[i]);
    }
    for (int fold = ASSAY__DIFF_FOLD_SAME; fold < ASSAY__DIFF_FOLDS; fold++) {
        struct assay__buf text = {0};
        assay__diff_fold_words(&text, (enum assay__diff_fold)fold, folds[fold]);
        if (text.length && fold == ASSAY__DIFF_FOLD_UNKNOWN)
            assay__buf_puts(&text, " (--json says why)");
        if (text.length) assay__page_wrap(&v->page, ASSAY__STYLE_DIM, "  ", text_of(&text));
        assay__buf_free(&text);
    }
}

/* --- layers ----------------------------------------------------------------------------------- */

static void time_cell(struct assay__page *page, double time_ns)
{
    struct assay__buf text = {0};
    assay__render_ns(&text, time_ns);
    put_right(page, text_of(&text));
    assay__buf_free(&text);
}

static void change_cells(struct assay__buf *text, const struct assay__diff_layer *row, size_t s)
{
    assay__diff_change_words(text, row->deltas[s].difference);
    if (isfinite(row->deltas[s].ratio)) {
        assay__buf_puts(text, ", ");
        assay__diff_ratio_words(text, &row->deltas[s]);
    }
    if (row->deltas[s].ci.known)
        assay__buf_printf(text, " %s",
                          assay__diff_verdict_name(row->deltas[s].verdict, ASSAY__DIFF_TIME));
}

static void layer_line(struct view *v, const char *name, const struct assay__diff_layer *row,
                       bool base, size_t s, const char *remark)
{
    struct assay__buf head = {0}, text = {0};
    struct assay__page line = v->page;
    line.out = &head;
    assay__buf_puts(&head, "  ");
    assay__page_fit_middle(&line, name, v->name);
    if (base) time_cell(&line, row->times_ns[0]);
    if (s) time_cell(&line, row->times_ns[s]);
    if (s) change_cells(&text, row, s);
    if (*remark) assay__buf_printf(&text, "%s%s", s ? " · " : "", remark);
    put_cells(v, &head, &text);
    assay__buf_free(&head);
    assay__buf_free(&text);
}

static void put_layer(struct view *v, const struct assay__diff_layer *row)
{
    const char *title = assay__diff_layer_title(v->diff, row);
    struct assay__buf remark = {0};
    assay__diff_layer_remark(&remark, v->diff, row);
    if (v->columns) {
        layer_line(v, title, row, true, 1, text_of(&remark));
    } else {
        layer_line(v, title, row, true, 0, text_of(&remark));
        for (size_t s = 1; s < v->diff->count; s++) {
            struct assay__buf name = {0};
            assay__buf_printf(&name, "  %s", v->diff->sides[s].name);
            layer_line(v, text_of(&name), row, false, s, "");
            assay__buf_free(&name);
        }
    }
    assay__buf_free(&remark);
}

static void put_layer_rows(struct view *v)
{
    const struct assay__diff *diff = v->diff;
    size_t shown = 0, folded = 0, more = 0;
    size_t most = v->page.top < 0 ? SIZE_MAX : v->page.top == 0 ? LAYER_TOP : (size_t)v->page.top;
    if (v->columns) {
        assay__page_style(&v->page, ASSAY__STYLE_DIM);
        assay__buf_printf(v->page.out, "  %*s%*s%*s  %s\n", v->name, "", VALUE, "base", VALUE,
                          "other", "change");
        assay__page_style(&v->page, ASSAY__STYLE_PLAIN);
    }
    for (size_t i = 0; i < diff->layer_count; i++) {
        const struct assay__diff_layer *row = &diff->layers[diff->layer_order[i]];
        if (row->kind != ASSAY__DIFF_LAYER) continue;
        folded += !row->shown;
        more += row->shown && shown >= most;
        if (row->shown && shown < most) {
            put_layer(v, row);
            shown++;
        }
    }
    struct assay__buf text = {0};
    assay__diff_layer_fold_words(&text, diff, folded, more);
    if (text.length) assay__page_wrap(&v->page, ASSAY__STYLE_DIM, "  ", text_of(&text));
    assay__buf_free(&text);
    for (size_t i = 0; i < diff->layer_count; i++)
        if (diff->layers[i].kind != ASSAY__DIFF_LAYER) put_layer(v, &diff->layers[i]);
}

static void put_layers(struct view *v)
{
    assay__page_heading(&v->page, "Layers", "matched by what they came from; largest change first");
    if (*v->diff->layers_reason)
        assay__page_wrap(&v->page, ASSAY__STYLE_PLAIN, "  ", v->diff->layers_reason);
    if (!v->diff->layer_count) return;
    put_layer_rows(v);
    struct assay__buf rule = {0};
    assay__buf_puts(&rule, v->diff->layers_rule);
    if (*v->diff->layers_interval_reason)
        assay__buf_printf(&rule, " Single layers have no interval: %s.",
                          v->diff->layers_interval_reason);
    assay__page_wrap(&v->page, ASSAY__STYLE_DIM, "  ", text_of(&rule));
    assay__buf_free(&rule);
}

/* --- what else differs ------------------------------------------------------------------------ */

static void put_causes(struct view *v)
{
    assay__page_heading(&v->page, "What else differs", "likeliest to matter for speed first");
    if (!v->diff->cause_count)
        assay__page_wrap(&v->page, ASSAY__STYLE_PLAIN, "  ", "Nothing that the profiles hold.");
    for (size_t i = 0; i < v->diff->cause_count; i++) {
        const struct assay__diff_cause *cause = &v->diff->causes[i];
        struct assay__buf text = {0}, held = {0};
        assay__buf_printf(&text, "%s: ", cause->name);
        for (size_t s = 0; s < v->diff->count; s++)
            assay__buf_printf(&text, "%s%s", s ? " → " : "",
                              *cause->values[s] ? cause->values[s] : "—");
        hold(v, &held, text_of(&text));
        assay__page_row(&v->page, assay__diff_likelihood(cause->weight), text_of(&held));
        if (text.failed || held.failed) v->page.out->failed = true;
        assay__buf_free(&held);
        assay__buf_free(&text);
    }
}

static void put_notes(struct view *v)
{
    assay__page_heading(&v->page, "Notes", "");
    for (size_t i = 0; i < v->diff->note_count; i++)
        assay__page_wrap(&v->page, ASSAY__STYLE_PLAIN, "  • ", v->diff->notes[i]);
}

int assay__diff_text(const struct assay__diff *diff, const struct assay_report_options *options,
                     struct assay__buf *out, struct assay_error *error)
{
    struct view v = {.diff = diff};
    struct assay__buf summary = {0};
    size_t start = out->length;
    (void)error;
    v.page = (struct assay__page){.out = out,
                                  .columns = options->columns ? options->columns : 80,
                                  .color = options->color,
                                  .ascii = options->ascii,
                                  .top = options->top};
    if (v.page.columns < ASSAY__PAGE_MIN_COLUMNS) v.page.columns = ASSAY__PAGE_MIN_COLUMNS;
    v.columns = diff->count == 2 && v.page.columns >= WIDE;
    v.name = v.columns ? v.page.columns - 2 - 2 * VALUE - 2 - 30 : v.page.columns - 2 - VALUE - 8;
    if (v.name > 32) v.name = 32;
    assay__page_title(&v.page, "Difference of profiles", "assay report");
    hold(&v, &summary, diff->summary);
    assay__page_wrap(&v.page, ASSAY__STYLE_BOLD, "", text_of(&summary));
    if (summary.failed) out->failed = true;
    assay__buf_free(&summary);
    put_runs(&v);
    put_metrics(&v);
    put_layers(&v);
    put_causes(&v);
    put_notes(&v);
    if (options->ascii) assay__page_to_ascii(out, start);
    return 0;
}
