/* diff_words.c - what the formats of a difference share: the table of formats, names, ratios and
 * folds in words. */
#include "report/report_diff.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    assay__diff_report_fn *render;
} formats[] = {
    {"text", assay__diff_text},
    {"json", assay__diff_json},
    {"markdown", assay__diff_markdown},
    {"html", assay__diff_html},
};

int assay__diff_report(const struct assay__diff *diff, const struct assay_report_options *options,
                       struct assay__buf *out, struct assay_error *error)
{
    const char *format = options->format ? options->format : "text";
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, format) != 0) continue;
        int code = formats[i].render(diff, options, out, error);
        if (!code && out->failed)
            code = assay_error_set(error, ASSAY_ENOMEM, "out of memory while writing the report");
        return code;
    }
    return assay_error_set(error, ASSAY_EINVAL,
                           "several profiles are shown as text, json, markdown or html, not as %s",
                           format);
}

/* --- metrics ---------------------------------------------------------------------------------- */

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

void assay__diff_fold_words(struct assay__buf *out, enum assay__diff_fold fold, size_t count)
{
    static const char *const words[ASSAY__DIFF_FOLDS] = {
        "", "without a shown difference", "without an interval, so without a verdict",
        "that some run has no value of"};
    if (!count || fold == ASSAY__DIFF_LINE) return;
    assay__buf_printf(out, "… %zu row%s %s", count, count == 1 ? "" : "s", words[fold]);
}

/* --- layers ----------------------------------------------------------------------------------- */

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
        if (members(row, s)) return assay__render_layer_title(member(diff, row, s, 0));
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
        if (members(row, s) &&
            strcmp(assay__render_layer_title(member(diff, row, s, 0)), title) != 0)
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

void assay__diff_ratio_words(struct assay__buf *out, const struct assay__diff_delta *delta)
{
    int digits = assay__diff_digits(delta);
    if (!isfinite(delta->ratio))
        assay__buf_puts(out, "—");
    else if (delta->ci.known)
        assay__buf_printf(out, "%s × (%s to %s)", assay__digits(delta->ratio, digits).text,
                          assay__digits(delta->ci.low, digits).text,
                          assay__digits(delta->ci.high, digits).text);
    else
        assay__buf_printf(out, "%s ×", assay__digits(delta->ratio, 3).text);
}

void assay__diff_change_words(struct assay__buf *out, double change_ns)
{
    char text[64];
    if (!isfinite(change_ns)) {
        assay__buf_puts(out, "—");
        return;
    }
    assay__text_scaled(text, sizeof text, fabs(change_ns) / 1e9, "s");
    assay__buf_printf(out, "%s%s", change_ns < 0 ? "−" : change_ns > 0 ? "+" : "", text);
}

void assay__diff_layer_fold_words(struct assay__buf *out, const struct assay__diff *diff,
                                  size_t folded, size_t more)
{
    if (more)
        assay__buf_printf(out, "… %zu more row%s that changed (--top 0)", more,
                          more == 1 ? "" : "s");
    if (more && folded) assay__buf_puts(out, "; ");
    if (!folded) return;
    assay__buf_printf(out, "… %zu row%s without a shown difference", folded,
                      folded == 1 ? "" : "s");
    if (!isfinite(diff->layers_spread) || diff->layers_judged) return;
    assay__buf_printf(out, " (%s %s %%%s)", "passes of one run differ by",
                      assay__digits(diff->layers_spread * 100, 3).text,
                      diff->layers_strict ? " of the sum" : "");
}
