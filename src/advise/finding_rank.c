/* finding_rank.c - see finding_rank.h. */
#include "advise/finding_rank.h"

#include "advise/advise.h"
#include "advise/rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

enum assay__finding_class assay__finding_class(const struct assay__finding *f)
{
    const struct assay__rule *rule = assay__rule_find(f->id ? f->id : "");
    if (is(f->state, "withdrawn")) return ASSAY__FINDING_WITHDRAWN;
    if (is(f->state, "verified")) return ASSAY__FINDING_VERIFIED;
    return rule && rule->needs & ASSAY__RULE_DISTURBANCE ? ASSAY__FINDING_DISTURBANCE
                                                         : ASSAY__FINDING_OPEN;
}

static int severity_of(const struct assay__finding *f)
{
    static const char *const order[] = {"high", "medium", "low", "note"};
    for (int i = 0; i < 4; i++)
        if (is(f->severity, order[i])) return i;
    return 4;
}

/* What it gains, or could gain; 0 if that is unknown. */
static double gain_of(const struct assay__finding *f, enum assay__finding_class of)
{
    double gain = of == ASSAY__FINDING_OPEN ? f->expected_gain : f->verified_gain;
    return isfinite(gain) ? gain : 0;
}

int assay__finding_compare(const struct assay__finding *a, const struct assay__finding *b)
{
    enum assay__finding_class of = assay__finding_class(a), other = assay__finding_class(b);
    if (of != other) return of < other ? -1 : 1;
    if (of == ASSAY__FINDING_VERIFIED || of == ASSAY__FINDING_OPEN) {
        double x = gain_of(a, of), y = gain_of(b, of);
        if (x != y) return x > y ? -1 : 1;
    }
    return severity_of(a) - severity_of(b);
}

static int by_rank(const void *left, const void *right)
{
    const struct assay__finding *a = *(const struct assay__finding *const *)left,
                                *b = *(const struct assay__finding *const *)right;
    int order = assay__finding_compare(a, b);
    return order ? order : a < b ? -1 : a > b;
}

const struct assay__finding **assay__finding_order(const struct assay_profile *profile,
                                                   struct assay__arena *arena, size_t *advice)
{
    const struct assay__finding **order = assay__arena_array(arena, profile->finding_count + 1,
                                                             sizeof *order);
    if (advice) *advice = 0;
    for (size_t i = 0; order && i < profile->finding_count; i++) {
        order[i] = &profile->findings[i];
        if (advice) *advice += assay__finding_class(order[i]) <= ASSAY__FINDING_OPEN;
    }
    if (order && profile->finding_count)
        qsort(order, profile->finding_count, sizeof *order, by_rank);
    return order;
}

int assay__finding_sort(struct assay_profile *profile)
{
    size_t count = profile->finding_count;
    const struct assay__finding **order = assay__finding_order(profile, profile->arena, NULL);
    struct assay__finding *sorted = assay__arena_array(profile->arena, count + 1, sizeof *sorted);
    if (!order || !sorted) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = *order[i];
    profile->findings = sorted;
    return 0;
}
