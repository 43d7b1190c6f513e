/* diff_document.c - several profiles side by side, the first being the base: what changed and by
 * how much, metric by metric and layer by layer, and what else differs and may be the cause. */
#include "report/report_diff.h"

#include "judge/headline.h"
#include "report/figure/figures.h"
#include "report/subject/diff_cells.h"
#include "report/subject/subject.h"

#include <math.h>
#include <string.h>

struct view {
    struct assay__doc *doc;
    const struct assay__diff *diff;
    struct assay__table *table;
};

/* --- columns: as many as there are runs ------------------------------------------------------- */

/* "ratio_2", with the title "ratio" for two runs and "ratio 2" for more. */
static struct assay__column numbered(struct view *v, const char *name, size_t side,
                                     const char *unit)
{
    const char *title = assay__doc_printf(v->doc, "%s %zu", name, side + 1);
    return (struct assay__column){.key = assay__doc_printf(v->doc, "%s_%zu", name, side + 1),
                                  .title = v->diff->count == 2 ? name : title,
                                  .unit = unit};
}

/* A name, a value of each run, then (for layers) the change, the ratio and the verdict of each but
 * the base, then `last`. */
static struct assay__column *make_columns(struct view *v, const char *key, const char *unit,
                                          const char *last, size_t *count)
{
    size_t sides = v->diff->count, at = 0;
    struct assay__column *columns = assay__doc_columns(v->doc, NULL, 0, 4 * sides + 4);
    *count = 0;
    if (!columns) return NULL;
    columns[at++] = (struct assay__column){key, key, .flags = ASSAY__COLUMN_NAME};
    for (size_t s = 0; s < sides; s++) {
        columns[at] = numbered(v, "value", s, unit);
        columns[at].title = sides > 2 ? v->diff->sides[s].name : s ? "other" : "base";
        columns[at++].flags = ASSAY__COLUMN_KEEP;
    }
    for (size_t s = 1; s < sides; s++) {
        if (last) {
            columns[at] = numbered(v, "change", s, unit);
            columns[at++].title = sides == 2 ? "difference"
                                             : assay__doc_printf(v->doc, "difference %zu", s + 1);
        }
        columns[at++] = numbered(v, "ratio", s, ASSAY__UNIT_TIMES);
        columns[at++] = numbered(v, "verdict", s, NULL);
    }
    if (last) columns[at++] = (struct assay__column){last, last, .flags = ASSAY__COLUMN_PROSE};
    *count = at;
    return columns;
}

/* A claimed difference is coloured on a scale around 1; as text, it is the verdict. */
static void put_delta(struct view *v, const struct assay__diff_delta *d,
                      enum assay__diff_sense sense)
{
    struct assay__datum ratio = assay__diff_ratio_cell(v->doc, d);
    bool claimed = d->verdict == ASSAY__DIFF_LOWER || d->verdict == ASSAY__DIFF_HIGHER;
    if (claimed && sense == ASSAY__DIFF_TIME) ratio.tone = d->ratio;
    if (claimed && sense == ASSAY__DIFF_RATE) ratio.tone = 1 / d->ratio;
    assay__table_cell(v->table, ratio);
    assay__table_text(v->table, assay__diff_verdict_name(d->verdict, sense));
}

/* --- pictures --------------------------------------------------------------------------------- */

/* Every figure of that name that the difference has. */
static void add_figures(struct view *v, const char *name, unsigned flags)
{
    struct assay__figure *figures;
    size_t count = 0;
    int code = assay__figures_of_diff(v->diff, assay__figure_row_find(name), v->doc->arena,
                                      &figures, &count, NULL);
    if (code == ASSAY_ENOMEM) v->doc->failed = true;
    for (size_t i = 0; !code && i < count; i++)
        assay__doc_figure(v->doc, &figures[i], flags);
}

/* --- the runs --------------------------------------------------------------------------------- */

static const struct assay__column run_columns[] = {
    {"run", "run", .flags = ASSAY__COLUMN_NAME},
    {"model", "model", .flags = ASSAY__COLUMN_NAME},
    {"device", "device", .priority = 2, .flags = ASSAY__COLUMN_NAME},
    {"engine", "engine", .priority = 3},
    {"launches", "launches", ASSAY__UNIT_COUNT, .priority = 2},
    {"when", "when", .priority = 4},
    {"command", "command", .priority = 5, .flags = ASSAY__COLUMN_PROSE},
};

static void add_runs(struct view *v)
{
    assay__doc_section(v->doc, "runs", "The runs", "the first is the base", ASSAY__TAB_EVIDENCE);
    struct assay__table *t = assay__doc_table(v->doc, "runs", "The runs", run_columns);
    for (size_t s = 0; s < v->diff->count; s++) {
        const struct assay__diff_side *side = &v->diff->sides[s];
        const struct assay__trial *trial = side->trial;
        assay__table_row_of(t, 0,
                            assay__doc_printf(v->doc, "%s%s%s", side->name,
                                              *side->trial_label ? ", " : "", side->trial_label),
                            side->profile->models[0]->name, trial ? trial->target.device : NULL,
                            trial ? assay__doc_printf(v->doc, "%s %s", trial->target.engine,
                                                      trial->target.engine_version)
                                  : NULL);
        assay__table_number(t, trial ? (double)trial->launch_count : (double)NAN, ASSAY_MEASURED);
        assay__table_texts(t, side->profile->created, side->profile->command_line);
    }
    assay__doc_end(v->doc);
}

/* The latency of every run, and by how much that of the second one differs. */
static void add_kpis(struct view *v)
{
    const struct assay__diff *diff = v->diff;
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    if (!p50) return;
    assay__doc_kpis(v->doc, "latency");
    for (size_t s = 0; s < diff->count; s++) {
        if (!p50->values[s] || !isfinite(p50->values[s]->value)) continue;
        assay__doc_item(v->doc, diff->sides[s].name, assay__datum_metric(p50->values[s]));
    }
    const struct assay__diff_delta *d = &p50->deltas[1];
    if (diff->count > 2 || !isfinite(d->difference)) return;
    struct assay__datum change = assay__diff_change_cell(v->doc, d->difference * 1e9);
    change.note = assay__doc_printf(v->doc, "p50 of %s minus that of %s", diff->sides[1].name,
                                    diff->sides[0].name);
    assay__doc_item(v->doc, "difference", change);
    struct assay__datum ratio = assay__diff_ratio_cell(v->doc, d);
    ratio.text = NULL;
    ratio.unit = ASSAY__UNIT_TIMES;
    assay__doc_item_after(v->doc, "ratio", ratio,
                          d->ci.known
                              ? assay__doc_printf(v->doc, "(%s, 95 %%)",
                                                  assay__digits_range(d->ci.low, d->ci.high).text)
                              : NULL);
}

static void add_summary(struct view *v)
{
    assay__doc_section(v->doc, "summary", "Summary", NULL,
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET);
    assay__add_diff_verdict(v->doc, v->diff, assay__headline_diff(v->diff, v->doc->arena));
    for (size_t s = 0; s < v->diff->count; s++) {
        const struct assay__diff_side *side = &v->diff->sides[s];
        if (!side->usable)
            assay__doc_alert(v->doc, "%s: %s", side->name, side->reason);
        else if (!side->profile->complete)
            assay__doc_alert(v->doc, "%s: INCOMPLETE, its capture did not finish.", side->name);
    }
    add_kpis(v);
    if (v->diff->count > 2) assay__doc_say(v->doc, ASSAY__TONE_PLAIN, v->diff->summary);
    add_figures(v, "strips", ASSAY__PICTURE_DETAIL);
    add_figures(v, "waterfall", 0);
    add_figures(v, "spread", ASSAY__PICTURE_DETAIL);
    assay__doc_end(v->doc);
}

/* --- metrics ---------------------------------------------------------------------------------- */

static void add_metric_rows(struct view *v, enum assay__diff_fold fold,
                            const struct assay__column *columns, size_t count)
{
    static const char *const titles[] = {NULL, "Metrics without a detected difference",
                                         "Metrics without an interval, so no verdict",
                                         "Metrics that are missing in some run"};
    static const char *const ids[] = {"diff-metrics", "diff-same", "diff-unjudged", "diff-unknown"};
    size_t rows = 0;
    for (size_t i = 0; i < v->diff->metric_count; i++)
        rows += assay__diff_fold(v->diff, &v->diff->metrics[i]) == fold;
    if (!rows) return;
    if (titles[fold])
        assay__doc_fold(v->doc, NULL, titles[fold],
                        assay__doc_printf(v->doc, "%zu row%s", rows, assay__plural((double)rows)));
    v->table = assay__doc_add_table(v->doc, "metrics", "Metrics side by side", columns, count);
    v->table->id = ids[fold];
    for (size_t i = 0; i < v->diff->metric_count; i++) {
        const struct assay__diff_metric *row = &v->diff->metrics[i];
        if (assay__diff_fold(v->diff, row) != fold) continue;
        assay__table_row_of(v->table, 0, row->name);
        for (size_t s = 0; s < v->diff->count; s++)
            assay__table_metric(v->table, row->values[s]);
        for (size_t s = 1; s < v->diff->count; s++)
            put_delta(v, &row->deltas[s], row->sense);
    }
    if (titles[fold]) assay__doc_end(v->doc);
}

static void add_metrics(struct view *v)
{
    size_t count;
    const struct assay__column *columns = make_columns(v, "metric", "", NULL, &count);
    assay__doc_section(v->doc, "metrics", "Metrics",
                       "ratio to the base, 95 % interval over launches", ASSAY__TAB_EVIDENCE);
    for (int fold = ASSAY__DIFF_LINE; fold < ASSAY__DIFF_FOLDS; fold++)
        add_metric_rows(v, (enum assay__diff_fold)fold, columns, count);
    assay__doc_end(v->doc);
}

/* --- layers ----------------------------------------------------------------------------------- */

/* State of a row's time: derived if one of its layers' is. */
static enum assay_state time_state(const struct assay__diff *diff,
                                   const struct assay__diff_layer *row, size_t side)
{
    for (size_t i = row->starts[side]; i < row->starts[side + 1]; i++)
        if (diff->sides[side].trial->layers.items[row->members[i]].state == ASSAY_DERIVED)
            return ASSAY_DERIVED;
    return ASSAY_MEASURED;
}

static void put_layer(struct view *v, size_t index)
{
    const struct assay__diff_layer *row = &v->diff->layers[index];
    bool extra = row->kind != ASSAY__DIFF_LAYER;
    assay__table_row(v->table, extra ? ASSAY__ROW_TOTAL : 0,
                     assay__doc_printf(v->doc, "row-%zu", index));
    assay__table_text(v->table, assay__diff_layer_title(v->diff, row));
    for (size_t s = 0; s < v->diff->count; s++)
        assay__table_number(v->table, row->times_ns[s] / 1e3, time_state(v->diff, row, s));
    for (size_t s = 1; s < v->diff->count; s++) {
        const struct assay__diff_delta *d = &row->deltas[s];
        double ns = d->difference;
        if (!isfinite(ns)) ns = isfinite(row->times_ns[s]) ? row->times_ns[s] : -row->times_ns[0];
        assay__table_cell(v->table, assay__diff_change_cell(v->doc, ns));
        if (extra || d->ci.known) {
            put_delta(v, d, ASSAY__DIFF_TIME);
            continue;
        }
        struct assay__datum ratio = assay__measured(d->ratio, NULL);
        if (row->shown) ratio.tone = d->ratio;
        assay__table_cell(v->table, isfinite(d->ratio) ? ratio : assay__datum_none());
        assay__table_skip(v->table, 1);
    }
    assay__table_text(v->table, assay__diff_layer_words(v->doc, v->diff, row));
}

/* Rows that are not layers always come after those that changed. */
static bool is_shown(const struct assay__diff_layer *row)
{
    return row->shown || row->kind != ASSAY__DIFF_LAYER;
}

static void add_layer_rows(struct view *v, bool shown, const struct assay__column *columns,
                           size_t count)
{
    const struct assay__diff *diff = v->diff;
    size_t rows = 0;
    for (size_t i = 0; i < diff->layer_count; i++)
        rows += is_shown(&diff->layers[i]) == shown;
    if (!rows) return;
    if (!shown)
        assay__doc_fold(v->doc, NULL, "Layers without a detected difference",
                        assay__doc_printf(v->doc, "%zu row%s", rows, assay__plural((double)rows)));
    v->table = assay__doc_add_table(v->doc, "layers", "Layers side by side", columns, count);
    v->table->more = "layers that changed";
    v->table->id = shown ? "diff-layers" : "same-layers";
    for (size_t i = 0; i < diff->layer_count; i++)
        if (is_shown(&diff->layers[diff->layer_order[i]]) == shown)
            put_layer(v, diff->layer_order[i]);
    if (!shown) assay__doc_end(v->doc);
}

static void add_layers(struct view *v)
{
    const struct assay__diff *diff = v->diff;
    size_t count;
    struct assay__column *columns = make_columns(v, "layer", "s", "remark", &count);
    for (size_t c = 0; c < count; c++)
        if (columns[c].unit && strcmp(columns[c].unit, "s") == 0) columns[c].factor = 1e-6;
    assay__doc_section(v->doc, "layers", "Layers",
                       "matched by what they came from; largest change first", ASSAY__TAB_OVERVIEW);
    assay__doc_say(v->doc, ASSAY__TONE_PLAIN, diff->layers_reason);
    if (diff->layer_count) {
        add_layer_rows(v, true, columns, count);
        assay__doc_say(v->doc, ASSAY__TONE_NOTE, diff->layers_rule);
        assay__doc_say(v->doc, ASSAY__TONE_NOTE, diff->layers_interval_reason);
        if (isfinite(diff->layers_spread))
            assay__doc_note(v->doc, "Passes of one run differ by %s %%%s.",
                            assay__digits(diff->layers_spread * 100, 3).text,
                            diff->layers_strict ? " of the sum" : "");
        add_layer_rows(v, false, columns, count);
    }
    assay__doc_end(v->doc);
}

/* --- what else differs ------------------------------------------------------------------------ */

static void add_causes(struct view *v)
{
    const struct assay__diff *diff = v->diff;
    struct assay__column *columns = assay__doc_columns(v->doc, NULL, 0, diff->count + 2);
    assay__doc_section(v->doc, "differences", "What else differs", NULL, ASSAY__TAB_EVIDENCE);
    if (!diff->cause_count) assay__doc_plain(v->doc, "Nothing else recorded in the profiles.");
    if (columns && diff->cause_count) {
        columns[0] = (struct assay__column){"what", "what", .flags = ASSAY__COLUMN_NAME};
        columns[1] = (struct assay__column){"likelihood", .title = "explains it"};
        for (size_t s = 0; s < diff->count; s++) {
            columns[s + 2] = numbered(v, "value", s, NULL);
            columns[s + 2].title = diff->sides[s].name;
            columns[s + 2].flags = diff->count == 2 ? ASSAY__COLUMN_PROSE : 0;
        }
        struct assay__table *t = assay__doc_add_table(v->doc, "differences", "What else differs",
                                                      columns, diff->count + 2);
        t->id = "causes";
        for (size_t i = 0; i < diff->cause_count; i++) {
            const struct assay__diff_cause *cause = &diff->causes[i];
            assay__table_row_of(t, 0, cause->name, assay__diff_likelihood(cause->weight));
            for (size_t s = 0; s < diff->count; s++)
                assay__table_text(t, *cause->values[s] ? cause->values[s] : "—");
        }
        assay__doc_note(
            v->doc,
            "Ordered by how likely it explains a change of speed: judgement, not measurement.");
    }
    assay__doc_end(v->doc);
}

/* The models that are compared, each once: "resnet50, mobilenetv2". */
static const char *models_of(struct assay__doc *doc, const struct assay__diff *diff)
{
    struct assay__buf names = {0};
    for (size_t s = 0; s < diff->count; s++) {
        const char *own = diff->sides[s].profile->models[0]->name;
        bool again = !own || !*own;
        for (size_t before = 0; before < s && !again; before++) {
            const char *other = diff->sides[before].profile->models[0]->name;
            again = other && strcmp(own, other) == 0;
        }
        if (!again) assay__buf_printf(&names, "%s%s", names.length ? ", " : "", own);
    }
    const char *all = assay__doc_take(doc, &names);
    return *all ? all : "profiles";
}

int assay__diff_document(const struct assay__diff *diff, struct assay__doc **made)
{
    int code = assay__doc_new(made);
    if (code) return code;
    struct view v = {*made, diff, NULL};
    struct assay__buf names = {0};
    for (size_t s = 0; s < diff->count; s++)
        assay__buf_printf(&names, "%s%s", s ? " · " : "", diff->sides[s].name);
    v.doc->title = models_of(v.doc, diff);
    v.doc->kicker = "assay report: a difference";
    v.doc->subtitle = assay__doc_take(v.doc, &names);
    v.doc->version = "assay report";
    v.doc->footer = "This page is self-contained: it loads nothing and sends nothing.";
    v.doc->marks = true;
    v.doc->table = "metrics";
    add_summary(&v);
    add_layers(&v);
    add_causes(&v);
    add_metrics(&v);
    add_runs(&v);
    assay__doc_section(v.doc, "notes", "Notes", NULL, ASSAY__TAB_EVIDENCE);
    assay__doc_points(v.doc, diff->notes, diff->note_count);
    assay__doc_end(v.doc);
    return 0;
}
