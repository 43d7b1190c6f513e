/* subject_changes.c - why the trials of a comparison differ: the operators and the layers that take
 * more or less time than the reference's, the largest change first. Only where layers were
 * timed. */
#include "report/subject/subject.h"

#include "report/subject/diff_cells.h"

#include <math.h>
#include <string.h>

enum { NAMED = 3, SHOWN = 8 }; /* operators in the sentence; rows of each table */

#define NAME ASSAY__COLUMN_NAME
#define MICROSECONDS .factor = 1e-6
/* what put_change() fills */
#define CHANGE_COLUMNS                                                                             \
    {"time_reference_us", "reference", "s", MICROSECONDS}, {"time_us", "this", "s", MICROSECONDS}, \
        {"change_us", "difference", "s", MICROSECONDS},                                            \
        {"ratio", "ratio", ASSAY__UNIT_TIMES, .priority = 1}, {.key = "ratio_low"},                \
        {.key = "ratio_high"},                                                                     \
    {                                                                                              \
        "verdict", "verdict", .priority = 2                                                        \
    }
static const struct assay__column operator_columns[] = {
    {"label", "trial", .flags = NAME},
    {"op", "operator", .flags = NAME | ASSAY__COLUMN_KEEP},
    {"layers_reference", "layers in reference", ASSAY__UNIT_COUNT, .priority = 4},
    {"layers", "layers", ASSAY__UNIT_COUNT, .priority = 3},
    CHANGE_COLUMNS,
};
static const struct assay__column layer_columns[] = {
    {"label", "trial", .flags = NAME},
    {"layer", "layer", .flags = NAME | ASSAY__COLUMN_KEEP},
    CHANGE_COLUMNS,
    {.key = "match"},
    {"remark", "remark", .priority = 3, .flags = ASSAY__COLUMN_PROSE},
};

/* Times of the reference and of this side, the change, and the ratio with its interval. */
static void put_change(struct assay__table *table, double base_ns, double own_ns,
                       const struct assay__diff_delta *d)
{
    assay__table_numbers(table, ASSAY_MEASURED, base_ns / 1e3, own_ns / 1e3);
    assay__table_cell(table, assay__diff_change_cell(table->doc, d->difference));
    struct assay__datum ratio = assay__diff_ratio_cell(table->doc, d);
    if (!d->ci.known) ratio.note = NULL; /* said once, below the tables */
    assay__table_cell(table, isfinite(d->ratio) ? ratio : assay__datum_none());
    assay__table_numbers(table, ASSAY_MEASURED, d->ci.low, d->ci.high);
    bool judged = d->verdict != ASSAY__DIFF_UNJUDGED && d->verdict != ASSAY__DIFF_NOT_COMPARABLE;
    assay__table_text(table, judged ? assay__diff_verdict_name(d->verdict, ASSAY__DIFF_TIME) : "");
}

/* The operator whose time changed the most on this side, but by less than that; NULL: none
 * changed. */
static const struct assay__operator_change *largest_below(const struct assay__layer_changes *all,
                                                          size_t side, double below)
{
    const struct assay__operator_change *found = NULL;
    double most = 0;
    for (size_t o = 0; o < all->operator_count; o++) {
        double change = fabs(all->operators[o].deltas[side].difference);
        if (!(change > most) || !(change < below)) continue;
        most = change;
        found = &all->operators[o];
    }
    return found;
}

/* "b: its layers take 18.1 ms, those of a 24.2 ms. Largest changes: Div −4.10 ms, …" */
static void say_side(struct assay__doc *doc, const struct assay__layer_changes *all, size_t side)
{
    const struct assay__diff *diff = &all->diff;
    struct assay__buf text = {0};
    double sums[2] = {0, 0};
    for (size_t i = 0; i < 2; i++) {
        const struct assay__layers *layers = &diff->sides[i ? side : 0].trial->layers;
        for (size_t k = 0; k < layers->count; k++)
            sums[i] += layers->items[k].time_ns;
    }
    assay__buf_printf(&text, "%s: its layers take %s in total, those of %s %s.",
                      diff->sides[side].name, assay__scaled(sums[1] / 1e9, "s").text,
                      diff->sides[0].name, assay__scaled(sums[0] / 1e9, "s").text);
    double below = INFINITY; /* operators are ordered by all sides: here by this one */
    for (int n = 0; n < NAMED; n++) {
        const struct assay__operator_change *op = largest_below(all, side, below);
        if (!op) break;
        below = fabs(op->deltas[side].difference);
        assay__buf_printf(&text, "%s%s %s", n ? ", " : " Largest changes: ", op->op,
                          assay__diff_change_cell(doc, op->deltas[side].difference).text);
    }
    assay__doc_plain(doc, "%s", assay__doc_take(doc, &text));
}

/* The columns; of two trials people know which one it is. */
static const struct assay__column *columns_of(struct assay__doc *doc,
                                              const struct assay__diff *diff,
                                              const struct assay__column *columns, size_t count)
{
    struct assay__column *own = assay__doc_columns(doc, columns, count, 0);
    if (own && diff->count == 2) own[0].title = NULL;
    return own ? own : columns;
}

static void add_operators(struct assay__doc *doc, const struct assay__layer_changes *all)
{
    size_t count = sizeof operator_columns / sizeof *operator_columns;
    assay__doc_section(doc, "changed-operators", "Operators", NULL, ASSAY__SECTION_HALF);
    struct assay__table *t = assay__doc_add_table(
        doc, "operator-changes", "Operators that differ",
        columns_of(doc, &all->diff, operator_columns, count), count);
    t->more = "operators";
    t->limit = SHOWN;
    for (size_t o = 0; o < all->operator_count; o++)
        for (size_t s = 1; s < all->diff.count; s++) {
            const struct assay__operator_change *op = &all->operators[o];
            if (!op->layers[0] && !op->layers[s]) continue;
            assay__table_row_of(t, 0, all->diff.sides[s].name, op->op);
            assay__table_numbers(t, ASSAY_MEASURED, (double)op->layers[0], (double)op->layers[s]);
            put_change(t, op->times_ns[0], op->times_ns[s], &op->deltas[s]);
        }
    assay__doc_end(doc);
}

/* The trials have layers in common that take a part of the time worth setting side by side. */
static bool some_match(const struct assay__diff *diff)
{
    const double least = 0.1;
    double all = 0, matched = 0;
    for (size_t i = 0; i < diff->layer_count; i++) {
        const struct assay__diff_layer *row = &diff->layers[i];
        bool both = false;
        for (size_t s = 1; s < diff->count; s++)
            both |= isfinite(row->deltas[s].ratio);
        if (row->kind != ASSAY__DIFF_LAYER || !isfinite(row->times_ns[0])) continue;
        all += row->times_ns[0];
        if (both) matched += row->times_ns[0];
    }
    return matched > all * least;
}

static void add_layers(struct assay__doc *doc, const struct assay__diff *diff)
{
    size_t count = sizeof layer_columns / sizeof *layer_columns;
    struct assay__table *t = assay__doc_add_table(doc, "layer-changes", "Layers that differ",
                                                  columns_of(doc, diff, layer_columns, count),
                                                  count);
    t->data = !some_match(diff);
    t->more = "layers";
    t->limit = SHOWN;
    for (size_t i = 0; i < diff->layer_count; i++)
        for (size_t s = 1; s < diff->count; s++) {
            const struct assay__diff_layer *row = &diff->layers[diff->layer_order[i]];
            const struct assay__diff_delta *d = &row->deltas[s];
            if (row->kind != ASSAY__DIFF_LAYER || !row->shown || !isfinite(d->difference)) continue;
            assay__table_row_of(t, 0, diff->sides[s].name, assay__diff_layer_title(diff, row));
            put_change(t, row->times_ns[0], row->times_ns[s], d);
            assay__table_texts(t, assay__diff_match_name(row->match),
                               assay__diff_layer_words(doc, diff, row));
        }
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    if (!trial || study->profile->kind != ASSAY__PROFILE_COMPARE) return;
    const struct assay__layer_changes *all = assay__study_changes(study);
    if (*all->reason || study->failed) return;
    assay__doc_section(doc, "changes", "Why",
                       "operators and layers against the reference, the largest change first",
                       ASSAY__TAB_OVERVIEW | ASSAY__SECTION_DECK);
    bool matched = some_match(&all->diff);
    if (matched) assay__doc_picture(doc, "strips", trial, ASSAY__PICTURE_DETAIL);
    for (size_t s = 1; s < all->diff.count; s++)
        say_side(doc, all, s);
    assay__doc_picture(doc, "waterfall", trial, all->diff.count > 2 ? ASSAY__PICTURE_DETAIL : 0);
    add_operators(doc, all);
    add_layers(doc, &all->diff);
    assay__doc_say(doc, ASSAY__TONE_NOTE,
                   matched ? all->diff.layers_rule
                           : "They have next to no layer in common: the operators are compared.");
    assay__doc_say(doc, ASSAY__TONE_NOTE,
                   *all->diff.layers_interval_reason
                       ? assay__doc_printf(doc, "Ratios without an interval: %s.",
                                           all->diff.layers_interval_reason)
                       : "");
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_changes = {
    "changes",
    ASSAY__OF_PROFILE,
    build,
    {{"operator-changes", ASSAY__ARRAY(operator_columns)},
     {"layer-changes", ASSAY__ARRAY(layer_columns)}}};
