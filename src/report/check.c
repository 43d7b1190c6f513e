/* check.c - the check's formats, and the sentence that they share. */
#include "report/check.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

static void put_count(struct assay__buf *out, size_t count, const char *word)
{
    assay__buf_printf(out, "%zu %s%s", count, word, count == 1 ? "" : "s");
}

size_t assay__check_groups(const struct assay__check *check, enum assay__check_severity severity)
{
    size_t groups = 0;
    for (size_t i = 0; i < check->item_count; i++)
        groups += check->items[i].severity == severity &&
                  (i == 0 || check->items[i - 1].rule != check->items[i].rule ||
                   check->items[i - 1].severity != severity);
    return groups;
}

static void put_share(struct assay__buf *out, const struct assay__check *check)
{
    const struct assay__check_partitions *p = &check->partitions;
    double share = assay__check_share(p);
    if (!check->has_partitions) return;
    if (p->on + p->off + p->unknown == 0) {
        assay__buf_puts(out, "; no node runs at all, everything is constant");
        return;
    }
    if (!p->off && !p->unknown && check->verdict == ASSAY__CHECK_FAIL) return;
    if (!p->off && !p->unknown)
        assay__buf_puts(out, strcmp(p->method, "engine") == 0 ? "; every node runs on it"
                                                              : "; no rule keeps a node off it");
    else if (isfinite(share))
        assay__buf_printf(out, "; %.1f %% of the FLOPs %s it", 100 * share,
                          p->unknown ? "are known to stay on" : "stay on");
    else
        assay__buf_printf(out, "; %zu of %zu nodes stay on it", p->on, p->on + p->off + p->unknown);
}

void assay__check_answer(struct assay__buf *out, const struct assay__check *check)
{
    static const char *const words[] = {"PASS", "WARN", "FAIL", "NO VERDICT"};
    assay__buf_printf(out, "%s: ", words[check->verdict]);
    if (check->verdict == ASSAY__CHECK_NONE)
        assay__buf_printf(
            out, "the target could not be asked (%s). From the model alone: ", check->unasked);
    for (int s = ASSAY__CHECK_ERROR; s <= ASSAY__CHECK_NOTE; s++) {
        if (s) assay__buf_puts(out, ", ");
        put_count(out, assay__check_groups(check, (enum assay__check_severity)s),
                  assay__check_severity_name((enum assay__check_severity)s));
    }
    put_share(out, check);
    assay__buf_puts(out, ".");
}

int assay__check_render(const struct assay__check *check, const struct assay__check_view *view,
                        struct assay__buf *out, struct assay_error *error)
{
    if (strcmp(view->format, "json") == 0)
        assay__check_json(check, view, out);
    else if (strcmp(view->format, "junit") == 0)
        assay__check_junit(check, view, out);
    else
        assay__check_text(check, view, out);
    return out->failed ? assay_error_set(error, ASSAY_ENOMEM, "out of memory") : 0;
}
