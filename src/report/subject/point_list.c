/* point_list.c - what the rows of a sweep and of a tuning share: settings as columns, and reasons,
 * each once. */
#include "report/subject/subject.h"

#include <string.h>

enum { AXES_SHOWN = 4, NAMED = 8 };

const struct assay__column *assay__point_columns(struct assay__doc *doc,
                                                 const struct assay__column *columns, size_t *count,
                                                 size_t label, const struct assay__axes *axes)
{
    size_t shown = axes->count <= AXES_SHOWN ? axes->count : 0, head = label + 1;
    struct assay__column *made = assay__doc_columns(doc, columns, *count, shown);
    if (!made) return columns;
    for (size_t a = 0; a < shown; a++)
        made[head + a] = (struct assay__column){.title = assay__axis_name(axes->items[a]),
                                                .flags = ASSAY__COLUMN_NAME};
    memcpy(&made[head + shown], &columns[head], (*count - head) * sizeof *made);
    if (!shown) made[label].title = "settings";
    *count += shown;
    return made;
}

static bool is_same(const struct assay__fault *a, const struct assay__fault *b)
{
    return a->kind && b->kind && strcmp(a->kind, b->kind) == 0 && strcmp(a->reason, b->reason) == 0;
}

void assay__point_faults(struct assay__doc *doc, const struct assay__fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct assay__buf names = {0};
        size_t alike = 0;
        bool said = !faults[i].kind;
        for (size_t k = 0; k < i && !said; k++)
            said = is_same(&faults[k], &faults[i]);
        if (said) continue;
        for (size_t k = i; k < count; k++)
            if (is_same(&faults[k], &faults[i]) && alike++ < NAMED)
                assay__buf_join(&names, faults[k].label);
        if (alike > NAMED) assay__buf_printf(&names, " and %zu more", alike - NAMED);
        assay__doc_fact(doc, faults[i].kind);
        assay__doc_item_text(doc, "%s: %s", assay__doc_take(doc, &names),
                             *faults[i].reason ? faults[i].reason : "not measured");
    }
}
