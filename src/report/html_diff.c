/* html_diff.c - several profiles side by side as a page: the sentence, the runs, metrics, layers
 * with bars of the largest changes, what else differs. Unchanged rows are folded into <details>. At
 * most ROWS rows of a table stand in the page; the data in it holds all. */
#include "report/report_diff.h"

#include "base/text.h"
#include "report/figure/figure.h"
#include "report/html.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ROWS = 1000, BARS = 12 };

struct view {
    struct assay__html page;
    const struct assay__diff *diff;
};

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

/* The number of rows is said where it is folded. */
static void open_fold(struct view *v, const char *words)
{
    assay__buf_puts(&v->page.body, "<details><summary>");
    assay__html_text(&v->page.body, words);
    assay__buf_puts(&v->page.body, "</summary>\n");
}

static void close_fold(struct view *v)
{
    assay__buf_puts(&v->page.body, "</details>\n");
}

/* Headings of a table; "|" and ">" in a file's name would be taken for marks of ours. */
static void heading_name(struct assay__buf *out, const char *name)
{
    for (const char *c = name; *c; c++)
        assay__buf_putc(out, *c == '|' || *c == '>' ? '/' : *c);
}

static void headings(struct view *v, struct assay__buf *out, const char *first, const char *last)
{
    assay__buf_printf(out, "%s|", first);
    for (size_t s = 0; s < v->diff->count; s++) {
        assay__buf_puts(out, ">");
        heading_name(out, v->diff->sides[s].name);
        assay__buf_putc(out, '|');
    }
    if (v->diff->count == 2) assay__buf_puts(out, ">Ratio|");
    assay__buf_puts(out, last);
}

static void open_table(struct view *v, const char *id, const char *caption, const char *first,
                       const char *last)
{
    struct assay__buf text = {0};
    headings(v, &text, first, last);
    assay__html_table(&v->page, id, "sortable", caption, text_of(&text));
    if (text.failed) v->page.body.failed = true;
    assay__buf_free(&text);
}

/* --- figures ---------------------------------------------------------------------------------- */

static double interval_end(const struct assay__diff_side *side, const char *name)
{
    const struct assay_metric *m = side->trial ? assay__trial_metric(side->trial, name) : NULL;
    return m ? m->value : NAN;
}

static void draw(struct view *v, struct assay__figure *figure)
{
    struct assay__buf text = {0};
    assay__buf_printf(&text, "%s.", figure->title);
    for (size_t k = 0; k < figure->series_count; k++)
        for (size_t i = 0; i < figure->series[k].count; i++) {
            char value[64];
            assay__text_scaled(value, sizeof value, figure->series[k].y[i], figure->y_unit);
            assay__buf_printf(&text, " %s%s%s: %s.", figure->categories[i],
                              *figure->series[k].name ? ", " : "", figure->series[k].name, value);
        }
    figure->description = text_of(&text);
    assay__html_draw(&v->page, figure);
    if (text.failed) v->page.body.failed = true;
    assay__buf_free(&text);
}

static void draw_latency(struct view *v)
{
    size_t count = v->diff->count;
    double y[ASSAY__DIFF_MOST], low[ASSAY__DIFF_MOST], high[ASSAY__DIFF_MOST];
    const char *names[ASSAY__DIFF_MOST];
    const struct assay_metric_info *info = assay_metric_lookup("latency.p50");
    struct assay__buf caption = {0};
    assay__buf_printf(
        &caption,
        "%s Shorter is faster; a whisker is the 95 %% interval between launches, where "
        "there is one.",
        info ? info->summary : "");
    for (size_t s = 0; s < count; s++) {
        const struct assay__diff_side *side = &v->diff->sides[s];
        names[s] = side->name;
        y[s] = interval_end(side, "latency.p50");
        low[s] = interval_end(side, "latency.between_low");
        high[s] = interval_end(side, "latency.between_high");
    }
    struct assay__figure_series series = {
        .name = "", .y = y, .low = low, .high = high, .names = names, .count = count};
    struct assay__figure figure = {.kind = ASSAY__FIGURE_BARS,
                                   .name = "diff-latency",
                                   .title = "Latency (p50) of each run",
                                   .x_title = "",
                                   .x_unit = "",
                                   .y_title = "latency.p50",
                                   .y_unit = "s",
                                   .y_zero = true,
                                   .categories = names,
                                   .series = &series,
                                   .series_count = 1,
                                   .note = "",
                                   .caption = text_of(&caption)};
    draw(v, &figure);
    assay__buf_free(&caption);
}

static void draw_layers(struct view *v)
{
    const struct assay__diff *diff = v->diff;
    const char *names[BARS];
    double times[ASSAY__DIFF_MOST][BARS];
    struct assay__figure_series series[ASSAY__DIFF_MOST] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < diff->layer_count && count < BARS; i++) {
        const struct assay__diff_layer *row = &diff->layers[diff->layer_order[i]];
        if (row->kind != ASSAY__DIFF_LAYER || !row->shown) continue;
        names[count] = assay__diff_layer_title(diff, row);
        for (size_t s = 0; s < diff->count; s++)
            times[s][count] = row->times_ns[s] / 1e9;
        count++;
    }
    if (!count) return;
    for (size_t s = 0; s < diff->count; s++)
        series[s] = (struct assay__figure_series){
            .name = diff->sides[s].name, .y = times[s], .names = names, .count = count};
    struct assay__figure figure = {
        .kind = ASSAY__FIGURE_BARS,
        .name = "diff-layers",
        .title = "Layers that changed most",
        .x_title = "",
        .x_unit = "",
        .y_title = "time",
        .y_unit = "s",
        .y_zero = true,
        .categories = names,
        .series = series,
        .series_count = diff->count,
        .note = "",
        .caption = "One group per layer, one bar per run; what a run does not have has no bar."};
    draw(v, &figure);
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void open_number(struct view *v, double value)
{
    if (isfinite(value))
        assay__buf_printf(&v->page.body, "<td class=\"n\" data-v=\"%.9g\">", value);
    else
        assay__buf_puts(&v->page.body, "<td class=\"n\">");
}

static void put_ratio(struct view *v, const struct assay__diff_delta *d, bool tip)
{
    struct assay__buf text = {0}, why = {0};
    assay__diff_ratio_words(&text, d);
    if (d->ci.known)
        assay__buf_printf(
            &why,
            "this run's over the base's, medians over launches; 95 %% interval by the exact "
            "rank test, p = %s; a difference of %s %% could have been shown",
            assay__digits(d->p_value, 2).text, assay__digits(d->smallest * 100, 2).text);
    else
        assay__buf_puts(&why, d->reason);
    if (tip && why.length)
        assay__html_tip(&v->page, text_of(&text), text_of(&why));
    else
        assay__html_text(&v->page.body, text_of(&text));
    if (text.failed || why.failed) v->page.body.failed = true;
    assay__buf_free(&text);
    assay__buf_free(&why);
}

/* The verdict in words; colour only repeats it. */
static void put_verdict(struct view *v, const struct assay__diff_delta *d,
                        enum assay__diff_sense sense)
{
    const char *word = assay__diff_verdict_name(d->verdict, sense);
    const char *css = strcmp(word, "faster") == 0   ? " class=\"verdict pass\""
                      : strcmp(word, "slower") == 0 ? " class=\"verdict fail\""
                                                    : "";
    assay__buf_printf(&v->page.body, "<span%s>%s</span>", css, word);
}

/* Of more than two runs the ratio stands below each value: a column for each would not fit. */
static void put_below(struct view *v, const struct assay__diff_delta *d,
                      enum assay__diff_sense sense, bool judged)
{
    if (v->diff->count == 2) return;
    assay__buf_puts(&v->page.body, "<br>");
    put_ratio(v, d, judged);
    if (!judged) return;
    assay__buf_puts(&v->page.body, "<br>");
    put_verdict(v, d, sense);
}

static void metric_row(struct view *v, const struct assay__diff_metric *row)
{
    assay__html_row(&v->page, "");
    assay__html_cell_name(&v->page, row->name);
    for (size_t s = 0; s < v->diff->count; s++) {
        const struct assay_metric *m = row->values[s];
        open_number(v, m ? m->value : NAN);
        assay__html_metric(&v->page, m, "");
        if (s) put_below(v, &row->deltas[s], row->sense, true);
        assay__buf_puts(&v->page.body, "</td>");
    }
    if (v->diff->count == 2) {
        open_number(v, row->deltas[1].ratio);
        put_ratio(v, &row->deltas[1], true);
        assay__buf_puts(&v->page.body, "</td><td>");
        put_verdict(v, &row->deltas[1], row->sense);
        assay__buf_puts(&v->page.body, "</td>");
    }
    assay__html_row_end(&v->page);
}

static void metric_table(struct view *v, enum assay__diff_fold fold)
{
    static const char *const ids[] = {"diff-metrics", "diff-same", "diff-unjudged", "diff-unknown"};
    struct assay__buf words = {0};
    size_t count = 0;
    for (size_t i = 0; i < v->diff->metric_count; i++)
        count += assay__diff_fold(v->diff, &v->diff->metrics[i]) == fold;
    if (!count) return;
    assay__diff_fold_words(&words, fold, count);
    if (fold != ASSAY__DIFF_LINE) open_fold(v, text_of(&words));
    open_table(v, ids[fold], fold == ASSAY__DIFF_LINE ? "Metrics side by side" : text_of(&words),
               "Metric", v->diff->count == 2 ? "Verdict" : "");
    for (size_t i = 0; i < v->diff->metric_count; i++)
        if (assay__diff_fold(v->diff, &v->diff->metrics[i]) == fold)
            metric_row(v, &v->diff->metrics[i]);
    assay__html_table_end(&v->page);
    if (fold != ASSAY__DIFF_LINE) close_fold(v);
    assay__buf_free(&words);
}

static void put_metrics(struct view *v)
{
    assay__html_section(&v->page, "metrics", "Metrics", ASSAY__HTML_OVERVIEW);
    assay__html_paragraph(
        &v->page, "note",
        "Ratios to the base, the first run. An interval is of 95 %, over launches: hover a "
        "number to see where it comes from.");
    draw_latency(v);
    for (int fold = ASSAY__DIFF_LINE; fold < ASSAY__DIFF_FOLDS; fold++)
        metric_table(v, (enum assay__diff_fold)fold);
    assay__html_section_end(&v->page);
}

/* --- layers ----------------------------------------------------------------------------------- */

static void members_words(struct view *v, const struct assay__diff_layer *row,
                          struct assay__buf *out)
{
    assay__diff_layer_remark(out, v->diff, row);
    if (out->length) assay__buf_puts(out, ": ");
    struct assay__buf base = {0}, ops = {0};
    assay__diff_layer_ops(&base, v->diff, row, 0);
    assay__buf_puts(out, text_of(&base));
    for (size_t s = 1; s < v->diff->count; s++) {
        assay__buf_clear(&ops);
        assay__diff_layer_ops(&ops, v->diff, row, s);
        if (!ops.length || strcmp(text_of(&ops), text_of(&base)) == 0) continue;
        assay__buf_printf(out, "%s%s", base.length ? " → " : "", text_of(&ops));
    }
    if (base.failed || ops.failed) out->failed = true;
    assay__buf_free(&base);
    assay__buf_free(&ops);
}

static void layer_row(struct view *v, size_t index)
{
    const struct assay__diff_layer *row = &v->diff->layers[index];
    bool extra = row->kind != ASSAY__DIFF_LAYER;
    struct assay__buf words = {0};
    assay__buf_printf(&v->page.body, "<tr id=\"row-%zu\"%s>", index,
                      extra ? " class=\"extra\"" : "");
    assay__html_cell_name(&v->page, assay__diff_layer_title(v->diff, row));
    for (size_t s = 0; s < v->diff->count; s++) {
        open_number(v, row->times_ns[s]);
        assay__render_ns(&words, row->times_ns[s]);
        assay__html_text(&v->page.body, text_of(&words));
        assay__buf_clear(&words);
        if (s) put_below(v, &row->deltas[s], ASSAY__DIFF_TIME, extra || row->deltas[s].ci.known);
        assay__buf_puts(&v->page.body, "</td>");
    }
    bool judged = extra || row->deltas[1].ci.known;
    if (v->diff->count == 2) {
        open_number(v, row->deltas[1].ratio);
        put_ratio(v, &row->deltas[1], judged);
        assay__buf_puts(&v->page.body, "</td>");
    }
    assay__buf_puts(&v->page.body, "<td class=\"words\">");
    if (judged && v->diff->count == 2) put_verdict(v, &row->deltas[1], ASSAY__DIFF_TIME);
    if (!extra) members_words(v, row, &words);
    if (!extra && judged && v->diff->count == 2 && words.length)
        assay__buf_puts(&v->page.body, "; ");
    assay__html_text(&v->page.body, text_of(&words));
    assay__buf_puts(&v->page.body, "</td>");
    assay__html_row_end(&v->page);
    if (words.failed) v->page.body.failed = true;
    assay__buf_free(&words);
}

static void layer_table(struct view *v, bool shown)
{
    const struct assay__diff *diff = v->diff;
    size_t total = 0, written = 0;
    struct assay__buf words = {0};
    for (size_t i = 0; i < diff->layer_count; i++)
        total += diff->layers[i].kind == ASSAY__DIFF_LAYER && diff->layers[i].shown == shown;
    if (!shown && !total) return;
    if (!shown) {
        assay__diff_layer_fold_words(&words, diff, total, 0);
        open_fold(v, text_of(&words));
    }
    open_table(v, shown ? "diff-layers" : "diff-layers-same",
               shown ? "Layers that changed" : "Layers without a shown difference", "Layer",
               "Operator, remark");
    for (size_t i = 0; i < diff->layer_count && written < ROWS; i++) {
        const struct assay__diff_layer *row = &diff->layers[diff->layer_order[i]];
        if (row->kind != ASSAY__DIFF_LAYER || row->shown != shown) continue;
        layer_row(v, diff->layer_order[i]);
        written++;
    }
    for (size_t i = 0; i < diff->layer_count && shown; i++)
        if (diff->layers[i].kind != ASSAY__DIFF_LAYER) layer_row(v, i);
    assay__html_table_end(&v->page);
    if (total > written) {
        assay__buf_clear(&words);
        assay__buf_printf(&words, "%zu more rows are in the data of this page.", total - written);
        assay__html_paragraph(&v->page, "note", text_of(&words));
    }
    if (!shown) close_fold(v);
    assay__buf_free(&words);
}

static void put_layers(struct view *v)
{
    assay__html_section(&v->page, "layers", "Layers", ASSAY__HTML_OVERVIEW | ASSAY__HTML_LAYERS);
    assay__html_paragraph(&v->page, NULL, v->diff->layers_reason);
    if (v->diff->layer_count) {
        struct assay__buf how = {0};
        assay__buf_puts(&how, "Matched by the nodes of the model that they came from, so that "
                              "fused and split layers meet; then by structure, name and place.");
        if (*v->diff->layers_interval_reason)
            assay__buf_printf(&how, " Single layers have no interval: %s.",
                              v->diff->layers_interval_reason);
        assay__html_paragraph(&v->page, "note", text_of(&how));
        assay__html_paragraph(&v->page, "note", v->diff->layers_rule);
        assay__buf_free(&how);
        draw_layers(v);
        layer_table(v, true);
        layer_table(v, false);
    }
    assay__html_section_end(&v->page);
}

/* --- the rest --------------------------------------------------------------------------------- */

/* Of many runs one sentence: how many are what, and the one that changed most; the table below has
 * each. */
static void put_many(struct view *v, const struct assay__diff_metric *p50)
{
    size_t counts[ASSAY__DIFF_EXACT + 1] = {0}, most = 0, said = 0;
    double largest = 0;
    struct assay__buf text = {0};
    static const struct {
        enum assay__diff_verdict verdict;
        const char *words;
    } kinds[] = {{ASSAY__DIFF_LOWER, "faster"},
                 {ASSAY__DIFF_HIGHER, "slower"},
                 {ASSAY__DIFF_SAME, "without a shown difference"},
                 {ASSAY__DIFF_EQUAL, "the very same"},
                 {ASSAY__DIFF_EXACT, "different"},
                 {ASSAY__DIFF_UNJUDGED, "without a verdict"},
                 {ASSAY__DIFF_NOT_COMPARABLE, "not comparable"}};
    for (int shown = 1; shown >= 0 && !most;
         shown--) /* what no test shows only if it shows nothing */
        for (size_t s = 1; s < v->diff->count; s++) {
            const struct assay__diff_delta *d = &p50->deltas[s];
            double change = d->ratio > 0 ? fabs(log(d->ratio)) : 0;
            if (assay__diff_is_shown(d->verdict) != shown || !(change > largest)) continue;
            largest = change, most = s;
        }
    for (size_t s = 1; s < v->diff->count; s++)
        counts[p50->deltas[s].verdict]++;
    assay__buf_printf(&text, "Of %zu runs against %s", v->diff->count - 1, v->diff->sides[0].name);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (counts[kinds[i].verdict])
            assay__buf_printf(&text, "%s%zu %s %s", said++ ? ", " : ": ", counts[kinds[i].verdict],
                              counts[kinds[i].verdict] == 1 ? "is" : "are", kinds[i].words);
    if (most) {
        assay__buf_printf(&text, "; %s changed most: its latency is ", v->diff->sides[most].name);
        assay__diff_ratio_words(&text, &p50->deltas[most]);
        assay__buf_puts(&text, " the base's");
    }
    assay__buf_puts(&text, ".");
    assay__html_paragraph(&v->page, "lead", text_of(&text));
    for (size_t s = 1; s < v->diff->count; s++) {
        const char *why = p50->deltas[s].why;
        if (p50->deltas[s].verdict != ASSAY__DIFF_UNJUDGED || !*why) continue;
        assay__buf_clear(&text);
        assay__buf_printf(&text, "No verdict (%s): %s.", v->diff->sides[s].name, why);
        assay__html_paragraph(&v->page, "note", text_of(&text));
        break; /* the others have theirs with their ratio */
    }
    if (text.failed) v->page.body.failed = true;
    assay__buf_free(&text);
}

/* The latency of each run, its ratio to the base's, and the verdict. */
static void put_run_latencies(struct view *v, const struct assay__diff_metric *p50)
{
    struct assay__html *page = &v->page;
    assay__html_table(page, "run-latencies", "sortable", "The runs against the base",
                      "Run|>p50|>Ratio|Verdict");
    for (size_t s = 0; s < v->diff->count; s++) {
        const struct assay_metric *m = p50->values[s];
        assay__html_row(page, "");
        assay__html_cell_name(page, v->diff->sides[s].name);
        open_number(v, m ? m->value : NAN);
        assay__html_metric(page, m, "");
        assay__buf_puts(&page->body, "</td>");
        open_number(v, s ? p50->deltas[s].ratio : 1);
        if (s) put_ratio(v, &p50->deltas[s], true);
        assay__buf_puts(&page->body, s ? "</td><td>" : "base</td><td>");
        if (s) put_verdict(v, &p50->deltas[s], p50->sense);
        assay__buf_puts(&page->body, "</td>");
        assay__html_row_end(page);
    }
    assay__html_table_end(page);
}

/* What each run is of. */
static void put_runs(struct view *v)
{
    assay__html_table(&v->page, "runs", NULL, "The runs",
                      "Run|Model|Device|Engine|>Launches|When|Command");
    for (size_t s = 0; s < v->diff->count; s++) {
        const struct assay__diff_side *side = &v->diff->sides[s];
        struct assay__buf engine = {0}, launches = {0};
        if (side->trial) {
            assay__buf_printf(&engine, "%s %s", side->trial->target.engine,
                              side->trial->target.engine_version);
            assay__buf_printf(&launches, "%zu", side->trial->launch_count);
        }
        assay__html_row(&v->page, "");
        assay__html_cell_name(&v->page, side->name);
        assay__html_cell_text(&v->page, side->profile->models[0]->name);
        assay__html_cell_text(&v->page, side->trial ? side->trial->target.device : "");
        assay__html_cell_text(&v->page, text_of(&engine));
        assay__buf_printf(&v->page.body, "<td class=\"n\">%s</td>", text_of(&launches));
        assay__buf_puts(&v->page.body, "<td><span class=\"o\">");
        assay__html_text(&v->page.body, side->profile->created);
        assay__buf_puts(&v->page.body, "</span></td>");
        assay__buf_puts(&v->page.body, "<td class=\"words\">");
        assay__html_prose(&v->page.body, side->profile->command_line);
        assay__buf_puts(&v->page.body, "</td>");
        assay__html_row_end(&v->page);
        assay__buf_free(&engine);
        assay__buf_free(&launches);
    }
    assay__html_table_end(&v->page);
}

static void put_summary(struct view *v)
{
    enum { FEW = 3 }; /* runs that have a sentence each */
    const struct assay__diff_metric *p50 = v->diff->count > FEW
                                               ? assay__diff_metric_find(v->diff, "latency.p50")
                                               : NULL;
    assay__html_section(&v->page, "summary", "Summary", ASSAY__HTML_OVERVIEW);
    if (p50)
        put_many(v, p50);
    else
        assay__html_paragraph(&v->page, "lead", v->diff->summary);
    for (size_t s = 0; s < v->diff->count; s++) {
        const struct assay__diff_side *side = &v->diff->sides[s];
        if (side->usable && side->profile->complete) continue;
        struct assay__buf text = {0};
        assay__buf_printf(&text, "%s: %s", side->name,
                          side->usable ? "INCOMPLETE, its capture did not end" : side->reason);
        assay__html_paragraph(&v->page, "alert", text_of(&text));
        assay__buf_free(&text);
    }
    if (p50) put_run_latencies(v, p50);
    if (p50) open_fold(v, "Model, device, engine and command of each run");
    put_runs(v);
    if (p50) close_fold(v);
    assay__html_section_end(&v->page);
}

static void put_causes(struct view *v)
{
    struct assay__buf text = {0};
    assay__html_section(&v->page, "differences", "What else differs",
                        ASSAY__HTML_OVERVIEW | ASSAY__HTML_MACHINE);
    if (!v->diff->cause_count)
        assay__html_paragraph(&v->page, NULL, "Nothing that the profiles hold.");
    else
        assay__html_paragraph(
            &v->page, "note",
            "Ordered by how likely it explains a change of speed: judgement, not measurement.");
    assay__buf_puts(&text, "Explains a change|What|");
    for (size_t s = 0; s < v->diff->count; s++) {
        heading_name(&text, v->diff->sides[s].name);
        assay__buf_puts(&text, s + 1 < v->diff->count ? "|" : "");
    }
    if (v->diff->cause_count)
        assay__html_table(&v->page, "causes", NULL, "What else differs", text_of(&text));
    for (size_t i = 0; i < v->diff->cause_count; i++) {
        const struct assay__diff_cause *cause = &v->diff->causes[i];
        assay__html_row(&v->page, "");
        assay__html_cell_text(&v->page, assay__diff_likelihood(cause->weight));
        assay__html_cell_name(&v->page, cause->name);
        for (size_t s = 0; s < v->diff->count; s++)
            assay__html_cell_text(&v->page, *cause->values[s] ? cause->values[s] : "—");
        assay__html_row_end(&v->page);
    }
    if (v->diff->cause_count) assay__html_table_end(&v->page);
    assay__html_section_end(&v->page);
    if (text.failed) v->page.body.failed = true;
    assay__buf_free(&text);
}

static void put_notes(struct view *v)
{
    assay__html_section(&v->page, "notes", "Notes and data",
                        ASSAY__HTML_OVERVIEW | ASSAY__HTML_MACHINE);
    assay__html_list(&v->page, v->diff->notes, v->diff->note_count);
    assay__buf_puts(&v->page.body, "<p id=\"downloads\" class=\"downloads\" data-only=\"json\" "
                                   "hidden></p>\n");
    assay__html_paragraph(
        &v->page, "note",
        "The data behind this page is in it: the same JSON as assay report --json gives.");
    assay__html_section_end(&v->page);
}

static void subtitle(struct assay__buf *out, const struct assay__diff *diff)
{
    for (size_t s = 0; s < diff->count; s++)
        assay__buf_printf(out, "%s%s", s ? " · " : "", diff->sides[s].name);
}

int assay__diff_html(const struct assay__diff *diff, const struct assay_report_options *options,
                     struct assay__buf *out, struct assay_error *error)
{
    struct view v = {.page = {.trial = -1}, .diff = diff};
    struct assay__buf json = {0}, data = {0}, line = {0};
    const char *model = diff->sides[0].profile->models[0]->name;
    int code = assay__diff_json(diff, options, &json, error);
    if (!code) assay__html_data(&data, "assay-data", json.data ? json.data : "{}", json.length);
    put_summary(&v);
    put_metrics(&v);
    put_layers(&v);
    put_causes(&v);
    put_notes(&v);
    subtitle(&line, diff);
    struct assay__html_head head = {
        .title = model && *model ? model : "profiles",
        .kicker = "assay report: a difference",
        .subtitle = line.data ? line.data : "",
        .footer = "One file: nothing was fetched to show it, and nothing "
                  "it holds is sent anywhere.",
        .data = &data};
    if (json.failed || data.failed || line.failed) out->failed = true;
    if (!code) assay__html_document(&v.page, &head, out);
    assay__buf_free(&v.page.body);
    assay__buf_free(&json);
    assay__buf_free(&data);
    assay__buf_free(&line);
    return code;
}
