/* change.c - the table of changes: what each is called, how much it may change the outputs, and how
 * it is made.
 *
 * Limits of drift. A session option may only change the order of sums: float32 sums of several
 * thousand terms agree to about 1e-6, and a deep network loses another two digits. Optimisation
 * replaces operators with fused ones, some of which are approximations. Those of other precisions
 * are in rewrites.h. */
#include "advise/change.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PRECISION(KIND, precision, rewrite, argument, change, words, limit) \
    [ASSAY__CHANGE_##KIND] = {change, words, limit},
#define SIMPLIFICATION(KIND, rewrite, change, words, limit) \
    [ASSAY__CHANGE_##KIND] = {change, words, limit},
static const struct {
    const char *name, *words;
    double drift;
} kinds[ASSAY__CHANGE_COUNT] = {
    [ASSAY__CHANGE_NONE] = {"none", "nothing", NAN},
    [ASSAY__CHANGE_BATCH] = {"batch", "batch", NAN},
    [ASSAY__CHANGE_THREADS] = {"threads", "threads", 1e-4},
    [ASSAY__CHANGE_SPINNING_OFF] = {"spinning-off", "spinning off", 1e-4},
    [ASSAY__CHANGE_OPTIMIZE] = {"optimize", "opt=all", 1e-3},
    [ASSAY__CHANGE_LAYOUT_OFF] = {"layout-off", "opt=extended", 1e-4},
    [ASSAY__CHANGE_ITERATIONS] = {"iterations", "iterations", NAN},
    [ASSAY__CHANGE_FIX_DIMS] = {"fix-dims", "dimensions fixed", 1e-4},
    [ASSAY__CHANGE_ZOO] = {"zoo", "model", 1e-4},
    ASSAY__SIMPLIFICATIONS(SIMPLIFICATION) ASSAY__PRECISIONS(PRECISION)};

/* The rewrite that implements a simplification; NULL: it is not one. */
static const struct assay__rewriter *simplification_of(enum assay__change_kind kind)
{
    switch (kind) {
#define REWRITE_OF(KIND, rewrite, ...) \
    case ASSAY__CHANGE_##KIND: return assay__rewriter_at(ASSAY__REWRITE_AT_##rewrite);
        ASSAY__SIMPLIFICATIONS(REWRITE_OF)
    default: return NULL;
    }
}

/* Index of a change's precision in the list of rewrites.h; SIZE_MAX: it has none. */
static size_t precision_of(enum assay__change_kind kind)
{
#define KIND_OF(KIND, ...) ASSAY__CHANGE_##KIND,
    static const enum assay__change_kind precisions[] = {ASSAY__PRECISIONS(KIND_OF)};
    for (size_t i = 0; i < sizeof precisions / sizeof precisions[0]; i++)
        if (precisions[i] == kind) return i;
    return SIZE_MAX;
}

static size_t row(enum assay__change_kind kind)
{
    return (size_t)kind < ASSAY__CHANGE_COUNT ? (size_t)kind : 0;
}

const char *assay__change_name(enum assay__change_kind kind)
{
    return kinds[row(kind)].name;
}

double assay__change_drift_limit(enum assay__change_kind kind)
{
    return kinds[row(kind)].drift;
}

void assay__change_words(struct assay__buf *out, const struct assay__change *change)
{
    assay__buf_puts(out, kinds[row(change->kind)].words);
    if (change->value) assay__buf_printf(out, "=%lld", (long long)change->value);
    for (size_t i = 0; i < change->name_count; i++)
        assay__buf_printf(out, "%s%s", i ? ", " : ": ", change->names[i]);
}

bool assay__change_same(const struct assay__change *a, const struct assay__change *b)
{
    if (a->kind != b->kind || a->value != b->value || a->name_count != b->name_count) return false;
    for (size_t i = 0; i < a->name_count; i++)
        if (strcmp(a->names[i], b->names[i]) != 0) return false;
    return true;
}

bool assay__change_is_precision(enum assay__change_kind kind)
{
    return precision_of(kind) != SIZE_MAX;
}

bool assay__change_is_rewrite(const struct assay__change *change)
{
    return change->kind == ASSAY__CHANGE_FIX_DIMS || simplification_of(change->kind) ||
           assay__change_is_precision(change->kind);
}

bool assay__change_options(const struct assay__change *change, struct assay__run_options *options)
{
    switch (change->kind) {
    case ASSAY__CHANGE_BATCH: options->workload.batch = change->value; return true;
    case ASSAY__CHANGE_THREADS: options->target.threads = (int)change->value; return true;
    case ASSAY__CHANGE_SPINNING_OFF: options->target.spinning_off = 1; return true;
    case ASSAY__CHANGE_OPTIMIZE: options->target.optimization = "all"; return true;
    case ASSAY__CHANGE_LAYOUT_OFF: options->target.optimization = "extended"; return true;
    case ASSAY__CHANGE_ITERATIONS: options->measuring.iterations = change->value; return true;
    case ASSAY__CHANGE_ZOO:
        if (change->name_count) options->workload.model = change->names[0];
        return change->name_count > 0;
    default: return false;
    }
}

int assay__change_rewrite(const struct assay__change *change, struct assay__model *model,
                          struct assay__rewrite_notes *notes, struct assay_error *error)
{
    const struct assay__rewriter *simplification = simplification_of(change->kind);
    if (simplification)
        return simplification->apply(model, &(struct assay__rewrite_request){0}, notes, error);
    if (change->kind == ASSAY__CHANGE_FIX_DIMS)
        return assay__rewrite_fix_dims(model, change->names, change->name_count, 0, notes, error);
    if (!assay__change_is_precision(change->kind))
        return assay_error_set(error, ASSAY_EINVAL, "this change is not a model rewrite");
    return assay__rewrite_precision_apply(assay__rewrite_precision_at(precision_of(change->kind)),
                                          model, notes, error);
}
