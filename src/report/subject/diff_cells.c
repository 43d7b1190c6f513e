/* diff_cells.c - see diff_cells.h. */
#include "report/subject/diff_cells.h"

#include <math.h>
#include <string.h>

struct assay__datum assay__diff_ratio_cell(struct assay__doc *doc,
                                           const struct assay__diff_delta *d)
{
    int digits = assay__diff_digits(d);
    struct assay__datum value = assay__measured(d->ratio, NULL);
    value.note = d->reason;
    if (!isfinite(d->ratio)) {
        /* the cell of the missing value has the reason */
        bool missing = d->verdict == ASSAY__DIFF_NOT_COMPARABLE;
        value = assay__datum_unknown(missing ? NULL : d->reason);
    } else if (d->ci.known) {
        value.text = assay__doc_printf(doc, "%s × (%s to %s)", assay__digits(d->ratio, digits).text,
                                       assay__digits(d->ci.low, digits).text,
                                       assay__digits(d->ci.high, digits).text);
        value.note = assay__doc_printf(
            doc,
            "ratio of this run's median over launches to the base's; 95 %% interval by the exact "
            "rank test, p = %s; too noisy to detect changes below %s %%",
            assay__digits(d->p_value, 2).text, assay__digits(d->smallest * 100, 2).text);
    }
    return value;
}

struct assay__datum assay__diff_change_cell(struct assay__doc *doc, double ns)
{
    struct assay__datum change = assay__measured(ns / 1e3, NULL);
    if (!isfinite(ns)) return assay__datum_none();
    const char *sign = ns < 0 ? "−" : ns > 0 ? "+" : "";
    change.text = assay__doc_printf(doc, "%s%s", sign, assay__scaled(fabs(ns) / 1e9, "s").text);
    return change;
}

const char *assay__diff_layer_words(struct assay__doc *doc, const struct assay__diff *diff,
                                    const struct assay__diff_layer *row)
{
    struct assay__buf text = {0}, base = {0}, ops = {0};
    if (row->kind == ASSAY__DIFF_LAYER) {
        assay__diff_layer_remark(&text, diff, row);
        assay__diff_layer_ops(&base, diff, row, 0);
        const char *first = assay__buf_text(&base);
        if (text.length && base.length) assay__buf_puts(&text, ": ");
        assay__buf_puts(&text, first);
        for (size_t s = 1; s < diff->count; s++) {
            assay__buf_clear(&ops);
            assay__diff_layer_ops(&ops, diff, row, s);
            if (ops.length && strcmp(ops.data, first) != 0)
                assay__buf_printf(&text, "%s%s",
                                  base.length   ? " → "
                                  : text.length ? ": "
                                                : "",
                                  ops.data);
        }
    }
    if (base.failed || ops.failed) doc->failed = true;
    assay__buf_free(&base);
    assay__buf_free(&ops);
    return assay__doc_take(doc, &text);
}
