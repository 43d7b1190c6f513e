/* diff_markdown.c - several profiles side by side as GitHub-flavoured Markdown, for pull requests:
 * tables of what changed, the rest folded into one line each. */
#include "report/report_diff.h"

#include <math.h>
#include <stdint.h>

enum { LAYER_TOP = 20 };

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

static void cell(struct assay__buf *out, const char *text)
{
    assay__buf_putc(out, ' ');
    assay__markdown_text(out, text);
    assay__buf_puts(out, " |");
}

/* Writes the cell and empties the buffer. */
static void cell_of(struct assay__buf *out, struct assay__buf *text)
{
    cell(out, text_of(text));
    if (text->failed) out->failed = true;
    assay__buf_clear(text);
}

static void paragraph(struct assay__buf *out, const char *mark, const char *text)
{
    if (!*text) return;
    assay__buf_puts(out, mark);
    assay__markdown_text(out, text);
    assay__buf_puts(out, mark);
    assay__buf_puts(out, "\n\n");
}

/* "| first | a | b | ratio of b |" and the line below it. */
static void heading(struct assay__buf *out, const struct assay__diff *diff, const char *first,
                    const char *last)
{
    assay__buf_printf(out, "| %s |", first);
    for (size_t s = 0; s < diff->count; s++)
        cell(out, diff->sides[s].name);
    for (size_t s = 1; s < diff->count; s++) {
        struct assay__buf text = {0};
        assay__buf_puts(&text, "ratio");
        if (diff->count > 2) assay__buf_printf(&text, " of %s", diff->sides[s].name);
        cell_of(out, &text);
        assay__buf_free(&text);
    }
    assay__buf_printf(out, " %s |\n|---|", last);
    for (size_t s = 0; s < diff->count; s++)
        assay__buf_puts(out, "---:|");
    for (size_t s = 1; s < diff->count; s++)
        assay__buf_puts(out, "---:|");
    assay__buf_puts(out, "---|\n");
}

static void put_metric(struct assay__buf *out, const struct assay__diff *diff,
                       const struct assay__diff_metric *row)
{
    struct assay__buf text = {0};
    assay__buf_puts(out, "|");
    cell(out, row->name);
    for (size_t s = 0; s < diff->count; s++) {
        assay__render_metric(&text, row->values[s]);
        cell_of(out, &text);
    }
    for (size_t s = 1; s < diff->count; s++) {
        assay__diff_ratio_words(&text, &row->deltas[s]);
        cell_of(out, &text);
    }
    for (size_t s = 1; s < diff->count; s++) {
        const struct assay__diff_delta *d = &row->deltas[s];
        assay__buf_printf(&text, "%s%s", s > 1 ? "; " : "",
                          assay__diff_verdict_name(d->verdict, row->sense));
        if (d->verdict == ASSAY__DIFF_NOT_COMPARABLE) assay__buf_printf(&text, ": %s", d->reason);
    }
    cell_of(out, &text);
    assay__buf_putc(out, '\n');
    assay__buf_free(&text);
}

static void put_metrics(struct assay__buf *out, const struct assay__diff *diff)
{
    size_t folds[ASSAY__DIFF_FOLDS] = {0};
    assay__buf_puts(out, "## Metrics\n\n");
    heading(out, diff, "metric", "verdict");
    for (size_t i = 0; i < diff->metric_count; i++) {
        enum assay__diff_fold fold = assay__diff_fold(diff, &diff->metrics[i]);
        folds[fold]++;
        if (fold == ASSAY__DIFF_LINE) put_metric(out, diff, &diff->metrics[i]);
    }
    assay__buf_putc(out, '\n');
    for (int fold = ASSAY__DIFF_FOLD_SAME; fold < ASSAY__DIFF_FOLDS; fold++) {
        struct assay__buf text = {0};
        assay__diff_fold_words(&text, (enum assay__diff_fold)fold, folds[fold]);
        paragraph(out, "", text_of(&text));
        assay__buf_free(&text);
    }
}

static void put_layer(struct assay__buf *out, const struct assay__diff *diff,
                      const struct assay__diff_layer *row)
{
    struct assay__buf text = {0};
    assay__buf_puts(out, "|");
    cell(out, assay__diff_layer_title(diff, row));
    for (size_t s = 0; s < diff->count; s++) {
        assay__render_ns(&text, row->times_ns[s]);
        cell_of(out, &text);
    }
    for (size_t s = 1; s < diff->count; s++) {
        assay__diff_ratio_words(&text, &row->deltas[s]);
        cell_of(out, &text);
    }
    assay__diff_layer_remark(&text, diff, row);
    for (size_t s = 1; s < diff->count; s++)
        if (row->kind != ASSAY__DIFF_LAYER || row->deltas[s].ci.known)
            assay__buf_printf(&text, "%s%s", text.length ? "; " : "",
                              assay__diff_verdict_name(row->deltas[s].verdict, ASSAY__DIFF_TIME));
    cell_of(out, &text);
    assay__buf_putc(out, '\n');
    assay__buf_free(&text);
}

static void put_layers(struct assay__buf *out, const struct assay__diff *diff, int top)
{
    size_t most = top < 0 ? SIZE_MAX
                  : top   ? (size_t)top
                          : LAYER_TOP,
           shown = 0, folded = 0, more = 0;
    struct assay__buf text = {0};
    assay__buf_puts(out, "## Layers\n\n");
    paragraph(out, "", diff->layers_reason);
    if (!diff->layer_count) return;
    heading(out, diff, "layer", "remark");
    for (size_t i = 0; i < diff->layer_count; i++) {
        const struct assay__diff_layer *row = &diff->layers[diff->layer_order[i]];
        if (row->kind != ASSAY__DIFF_LAYER) continue;
        folded += !row->shown;
        more += row->shown && shown >= most;
        if (row->shown && shown < most) {
            put_layer(out, diff, row);
            shown++;
        }
    }
    for (size_t i = 0; i < diff->layer_count; i++)
        if (diff->layers[i].kind != ASSAY__DIFF_LAYER) put_layer(out, diff, &diff->layers[i]);
    assay__buf_putc(out, '\n');
    assay__diff_layer_fold_words(&text, diff, folded, more);
    paragraph(out, "", text_of(&text));
    paragraph(out, "", diff->layers_rule);
    assay__buf_free(&text);
}

static void put_causes(struct assay__buf *out, const struct assay__diff *diff)
{
    assay__buf_puts(out, "## What else differs\n\n");
    if (!diff->cause_count) {
        assay__buf_puts(out, "Nothing that the profiles hold.\n\n");
        return;
    }
    assay__buf_puts(out, "| explains a change | what |");
    for (size_t s = 0; s < diff->count; s++)
        cell(out, diff->sides[s].name);
    assay__buf_puts(out, "\n|---|---|");
    for (size_t s = 0; s < diff->count; s++)
        assay__buf_puts(out, "---|");
    assay__buf_putc(out, '\n');
    for (size_t i = 0; i < diff->cause_count; i++) {
        const struct assay__diff_cause *cause = &diff->causes[i];
        assay__buf_printf(out, "| %s |", assay__diff_likelihood(cause->weight));
        cell(out, cause->name);
        for (size_t s = 0; s < diff->count; s++)
            cell(out, *cause->values[s] ? cause->values[s] : "—");
        assay__buf_putc(out, '\n');
    }
    assay__buf_putc(out, '\n');
}

int assay__diff_markdown(const struct assay__diff *diff, const struct assay_report_options *options,
                         struct assay__buf *out, struct assay_error *error)
{
    (void)error;
    assay__buf_puts(out, "# Difference of profiles\n\n");
    paragraph(out, "**", diff->summary);
    put_metrics(out, diff);
    put_layers(out, diff, options->top);
    put_causes(out, diff);
    assay__buf_puts(out, "## Notes\n\n");
    for (size_t i = 0; i < diff->note_count; i++) {
        assay__buf_puts(out, "- ");
        assay__markdown_text(out, diff->notes[i]);
        assay__buf_putc(out, '\n');
    }
    return 0;
}
