/* diff_rows.c - what becomes of the rows of a difference: which are told and which folded, what a
 * row of layers is called, and how its sides were matched. */
#include "judge/diff.h"
#include "judge/require_advice.h"

#include <math.h>
#include <string.h>

enum assay__diff_fold assay__diff_fold(const struct assay__diff *diff,
                                       const struct assay__diff_metric *row)
{
    bool any_value = false, unjudged = false, unknown = false, changed = false;
    for (size_t s = 0; s < diff->count; s++)
        any_value |= row->values[s] && row->values[s]->state != ASSAY_UNAVAILABLE;
    for (size_t s = 1; s < diff->count; s++) {
        const struct assay__diff_delta *d = &row->deltas[s];
        if (assay__diff_is_shown(d->verdict)) return ASSAY__DIFF_LINE;
        unknown |= d->verdict == ASSAY__DIFF_NOT_COMPARABLE;
        unjudged |= d->verdict == ASSAY__DIFF_UNJUDGED;
        changed |= d->verdict == ASSAY__DIFF_UNJUDGED && d->difference != 0;
    }
    if (!any_value) return ASSAY__DIFF_FOLD_UNKNOWN;
    if (strcmp(row->name, "latency.p50") == 0) return ASSAY__DIFF_LINE;
    if (row->key && (changed || unknown)) return ASSAY__DIFF_LINE;
    return unknown    ? ASSAY__DIFF_FOLD_UNKNOWN
           : unjudged ? ASSAY__DIFF_FOLD_UNJUDGED
                      : ASSAY__DIFF_FOLD_SAME;
}

static const struct assay__layer *member(const struct assay__diff *diff,
                                         const struct assay__diff_layer *row, size_t side,
                                         size_t which)
{
    return &diff->sides[side].trial->layers.items[row->members[row->starts[side] + which]];
}

static size_t members(const struct assay__diff_layer *row, size_t side)
{
    return row->starts[side + 1] - row->starts[side];
}

const char *assay__diff_layer_title(const struct assay__diff *diff,
                                    const struct assay__diff_layer *row)
{
    if (row->kind == ASSAY__DIFF_ENGINE) return "engine per run";
    if (row->kind == ASSAY__DIFF_UNATTRIBUTED) return "unattributed";
    if (row->kind == ASSAY__DIFF_LAYER_SUM) return "all layers together";
    for (size_t s = 0; s < diff->count; s++)
        if (members(row, s)) return assay__layer_title(member(diff, row, s, 0));
    return "";
}

void assay__diff_layer_ops(struct assay__buf *out, const struct assay__diff *diff,
                           const struct assay__diff_layer *row, size_t side)
{
    size_t count = row->kind == ASSAY__DIFF_LAYER ? members(row, side) : 0;
    if (count > 4) assay__buf_printf(out, "%zu layers", count);
    for (size_t i = 0; i < count && count <= 4; i++)
        assay__buf_printf(out, "%s%s", i ? " + " : "", member(diff, row, side, i)->op);
}

static bool same_name(const struct assay__diff *diff, const struct assay__diff_layer *row)
{
    const char *title = assay__diff_layer_title(diff, row);
    for (size_t s = 0; s < diff->count; s++)
        if (members(row, s) && strcmp(assay__layer_title(member(diff, row, s, 0)), title) != 0)
            return false;
    return true;
}

void assay__diff_layer_remark(struct assay__buf *out, const struct assay__diff *diff,
                              const struct assay__diff_layer *row)
{
    size_t with = 0, last = 0;
    if (row->kind != ASSAY__DIFF_LAYER) return;
    for (size_t s = 0; s < diff->count; s++)
        if (members(row, s)) {
            with++;
            last = s;
        }
    if (with == 1) {
        assay__buf_printf(out, "only in %s", diff->sides[last].name);
        return;
    }
    if (row->grouped) {
        for (size_t s = 0; s < diff->count; s++)
            assay__buf_printf(out, "%s%zu", s ? " → " : "", members(row, s));
        assay__buf_puts(out, " layers");
    } else if (with < diff->count) {
        assay__buf_puts(out, "not in");
        for (size_t s = 0; s < diff->count; s++)
            if (!members(row, s)) assay__buf_printf(out, " %s", diff->sides[s].name);
    }
    if (row->match >= ASSAY__DIFF_STRUCTURE && !same_name(diff, row))
        assay__buf_printf(out, "%smatched by %s", out->length ? ", " : "",
                          assay__diff_match_name(row->match));
}
