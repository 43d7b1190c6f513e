/* transition.c - helpers of renderers that are not documents yet; gone with the last of them. */
#include "report/render.h"
#include "report/report_diff.h"
#include "report/walk/csv_text.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void assay__csv_next_text(struct assay__buf *out, const char *text)
{
    assay__buf_putc(out, ',');
    assay__csv_text(out, text);
}

void assay__csv_next_number(struct assay__buf *out, double value)
{
    assay__buf_putc(out, ',');
    assay__print_number(out, value);
}

/* Would a forge read a mention or a reference from this sign on? `start` is where the text
 * begins. */
static bool is_reference(const char *start, const char *c)
{
    unsigned char next = (unsigned char)c[1];
    if (*c == '@') return isalnum(next) || next == '_';
    if (*c == '#' || *c == '!') return isdigit(next) != 0; /* an issue, a merge request */
    if (*c == '%') return isalnum(next) != 0;              /* a milestone */
    if (*c != '-' || !isdigit(next) || c - start < 2 || strncasecmp(c - 2, "GH", 2) != 0)
        return false;
    return c - start == 2 || !isalnum((unsigned char)c[-3]);
}

void assay__markdown_text(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *start = safe.data ? safe.data : "";
    for (const char *c = start; *c; c++) {
        bool inside = c > start && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
        if (*c == '&')
            assay__buf_puts(out, "&amp;");
        else if (*c == '<')
            assay__buf_puts(out, "&lt;");
        else if (*c == '>')
            assay__buf_puts(out, "&gt;");
        else if (*c == ':' && c[1] == '/' && c[2] == '/')
            assay__buf_puts(out, "&#58;");
        else if (*c == '.' && c - start >= 3 && strncasecmp(c - 3, "www", 3) == 0)
            assay__buf_puts(out, "&#46;");
        else if (is_reference(start, c))
            assay__buf_printf(out, "`%c`", *c);
        else if (strchr("\\`*[]|#~", *c) || (*c == '_' && !inside))
            assay__buf_printf(out, "\\%c", *c);
        else
            assay__buf_putc(out, *c);
    }
    if (safe.failed) out->failed = true;
    assay__buf_free(&safe);
}

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

static size_t members(const struct assay__diff_layer *row, size_t side)
{
    return row->starts[side + 1] - row->starts[side];
}

static const struct assay__layer *member(const struct assay__diff *diff,
                                         const struct assay__diff_layer *row, size_t side,
                                         size_t which)
{
    return &diff->sides[side].trial->layers.items[row->members[row->starts[side] + which]];
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
