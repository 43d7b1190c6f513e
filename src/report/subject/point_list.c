/* point_list.c - what the rows of a sweep and of a tuning share: settings as columns, and reasons,
 * each once. */
#include "report/subject/subject.h"

#include <string.h>

enum { NAMED = 8 };

/* Whether the trials that have a value on the axis have different ones. */
static bool varies(const struct assay_profile *profile, enum assay__axis axis)
{
    const char *first = "";
    for (size_t i = 0; i < profile->trial_count; i++) {
        const char *own = assay__trial_axis(&profile->trials[i], axis);
        if (!*own) continue;
        if (*first && strcmp(own, first) != 0) return true;
        first = own;
    }
    return false;
}

const struct assay__column *assay__point_columns(struct assay__doc *doc,
                                                 const struct assay__column *columns, size_t *count,
                                                 size_t label, const struct assay__axes *axes)
{
    size_t head = label + 1, shown = 0;
    struct assay__column *made = assay__doc_columns(doc, columns, *count, axes->count);
    if (!made) return columns;
    for (size_t a = 0; a < axes->count; a++)
        shown += varies(doc->study->profile, axes->items[a]);
    for (size_t a = 0; a < axes->count; a++) {
        bool own = !shown || varies(doc->study->profile, axes->items[a]);
        made[head + a] = (struct assay__column){
            .title = own ? assay__axis_name(axes->items[a]) : NULL, .flags = ASSAY__COLUMN_NAME};
    }
    memcpy(&made[head + axes->count], &columns[head], (*count - head) * sizeof *made);
    *count += axes->count;
    return made;
}

void assay__point_common(struct assay__doc *doc, const struct assay__axes *axes)
{
    const struct assay_profile *profile = doc->study->profile;
    size_t shown = 0;
    for (size_t a = 0; a < axes->count; a++)
        shown += varies(profile, axes->items[a]);
    if (!shown) return;
    assay__doc_fact(doc, "in every row");
    for (size_t a = 0; a < axes->count; a++) {
        const char *value = "";
        for (size_t i = 0; i < profile->trial_count && !*value; i++)
            value = assay__trial_axis(&profile->trials[i], axes->items[a]);
        if (!varies(profile, axes->items[a]) && *value)
            assay__doc_item_text(doc, "%s %s", assay__axis_name(axes->items[a]), value);
    }
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
