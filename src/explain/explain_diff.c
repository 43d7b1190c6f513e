/* explain_diff.c - the span is the sum of computing and of what is lost to each cause, so that its
 * change is the sum of their changes: the largest is the reason. */
#include "explain/explain_diff.h"

#include "base/map.h"
#include "base/no_memory.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME 0.02 /* smaller changes of the span do not count */

static double scale_of(const struct assay__explain_diff *d, const struct assay__explain *x)
{
    return d->per_step ? 1e-9 / (double)x->steps.count : 1e-9;
}

static void fill_parts(struct assay__explain_diff *d)
{
    double before = scale_of(d, d->before), after = scale_of(d, d->after);
    d->before_s = (double)d->before->span_ns * before;
    d->after_s = (double)d->after->span_ns * after;
    d->parts[0] = (struct assay__diff_part){"compute", "computing",
                                            (double)d->before->compute_ns * before,
                                            (double)d->after->compute_ns * after};
    for (int i = 0; i < ASSAY__LOSSES; i++)
        d->parts[i + 1] = (struct assay__diff_part){assay__losses[i].name, assay__losses[i].meaning,
                                                    (double)d->before->loss_ns[i] * before,
                                                    (double)d->after->loss_ns[i] * after};
}

/* --- kernels by name -------------------------------------------------------------------------- */

static int compare_kernels(const void *a, const void *b)
{
    const struct assay__diff_kernel *x = a, *y = b;
    double change_x = fabs(x->after_s - x->before_s), change_y = fabs(y->after_s - y->before_s);
    return (change_x < change_y) - (change_x > change_y);
}

static void fill_kernels(struct assay__explain_diff *d)
{
    const struct assay__explain *a = d->before, *b = d->after;
    double before = scale_of(d, a), after = scale_of(d, b);
    struct assay__map *places = assay__map_new();
    d->kernels = assay__arena_array(d->arena, a->kernel_count + b->kernel_count,
                                    sizeof *d->kernels);
    if (!places) assay__arena_fail(d->arena);
    for (size_t i = 0; places && d->kernels && i < a->kernel_count; i++) {
        const char *name = assay__events_text(a->events, a->kernels[i].name);
        if (assay__map_set(places, name, d->kernel_count)) assay__arena_fail(d->arena);
        d->kernels[d->kernel_count++] = (struct assay__diff_kernel){
            name, (double)a->kernels[i].count * before * 1e9, 0, (double)a->kernels[i].ns * before,
            0};
    }
    for (size_t i = 0; places && d->kernels && i < b->kernel_count; i++) {
        const char *name = assay__events_text(b->events, b->kernels[i].name);
        size_t at = assay__map_get(places, name);
        if (at == ASSAY__MAP_NONE) {
            at = d->kernel_count++;
            d->kernels[at].name = name;
        }
        d->kernels[at].after_count = (double)b->kernels[i].count * after * 1e9;
        d->kernels[at].after_s = (double)b->kernels[i].ns * after;
    }
    assay__map_free(places);
    if (d->kernels) qsort(d->kernels, d->kernel_count, sizeof *d->kernels, compare_kernels);
}

/* --- in words --------------------------------------------------------------------------------- */

static const struct assay__diff_part *largest_change(const struct assay__explain_diff *d)
{
    double sign = d->after_s < d->before_s ? -1 : 1;
    const struct assay__diff_part *best = &d->parts[0];
    for (int i = 1; i < ASSAY__DIFF_PARTS; i++)
        if (sign * (d->parts[i].after_s - d->parts[i].before_s) >
            sign * (best->after_s - best->before_s))
            best = &d->parts[i];
    return best;
}

static const char *diagnosis_of(const struct assay__explain *x)
{
    return assay__diagnoses[x->diagnosis.id].meaning;
}

static void say(struct assay__explain_diff *d)
{
    double ratio = d->before_s > 0 ? d->after_s / d->before_s : (double)NAN;
    const char *what = d->per_step ? "A step" : "The trace";
    const struct assay__diff_part *part = largest_change(d);
    if (!(fabs(ratio - 1) >= SAME)) {
        d->verdict = assay__arena_text(d->arena, "%s takes as long as before: %s and %s.", what,
                                       assay__scaled(d->before_s, "s").text,
                                       assay__scaled(d->after_s, "s").text);
        d->why = "";
        return;
    }
    d->verdict = assay__arena_text(
        d->arena, "%s is %s %s: %s before, %s after.", what,
        assay__scaled(fabs(ratio - 1), "ratio").text, ratio < 1 ? "shorter" : "longer",
        assay__scaled(d->before_s, "s").text, assay__scaled(d->after_s, "s").text);
    d->why = assay__arena_text(d->arena,
                               "The largest part of it is %s: %s before, %s after. "
                               "Before: %s; after: %s.",
                               part->title, assay__scaled(part->before_s, "s").text,
                               assay__scaled(part->after_s, "s").text, diagnosis_of(d->before),
                               diagnosis_of(d->after));
}

int assay__explain_diff_new(const struct assay__explain *before, const struct assay__explain *after,
                            struct assay__explain_diff **diff, struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__explain_diff *d = arena ? assay__arena_alloc(arena, sizeof *d) : NULL;
    *diff = NULL;
    if (d) {
        *d = (struct assay__explain_diff){.arena = arena, .before = before, .after = after};
        d->per_step = before->steps.count > 0 && after->steps.count > 0 &&
                      strcmp(before->steps.by, after->steps.by) == 0; /* else not comparable */
        fill_parts(d);
        fill_kernels(d);
        say(d);
    }
    if (assay__arena_failed(arena)) {
        assay__arena_free(arena);
        return assay__no_memory(error);
    }
    *diff = d;
    return 0;
}

void assay__explain_diff_free(struct assay__explain_diff *diff)
{
    if (diff) assay__arena_free(diff->arena);
}
