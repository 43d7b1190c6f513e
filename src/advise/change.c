/* change.c - see change.h.
 *
 * Limits of drift. An option of the session may order sums differently, no more: float32 sums of
 * some thousand terms agree to about 1e-6, and a deep network loses another two digits.
 * Optimisation replaces operators by fused ones, some of which approximate. float16 has 11 bits
 * (5e-4 per rounding), int8 per channel 8 (4e-3 per weight); what is left of that after all layers
 * may reach the limits given here. A limit says that the numbers are of the expected kind, not that
 * the model is still good at its task: that only its own test data can say. */
#include "advise/change.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *words;
    double drift;
} kinds[ASSAY__CHANGE_COUNT] = {
    [ASSAY__CHANGE_NONE] = {"none", "nothing", NAN},
    [ASSAY__CHANGE_BATCH] = {"batch", "batch", NAN},
    [ASSAY__CHANGE_THREADS] = {"threads", "threads", 1e-4},
    [ASSAY__CHANGE_SPINNING_OFF] = {"spinning-off", "spinning off", 1e-4},
    [ASSAY__CHANGE_OPTIMIZE] = {"optimize", "opt=all", 1e-3},
    [ASSAY__CHANGE_ITERATIONS] = {"iterations", "iterations", NAN},
    [ASSAY__CHANGE_FIX_DIMS] = {"fix-dims", "dimensions fixed", 1e-4},
    [ASSAY__CHANGE_FLOAT16] = {"float16", "float16", 1e-2},
    [ASSAY__CHANGE_WEIGHTS_INT8] = {"weights-int8", "weights as int8", 5e-2},
    [ASSAY__CHANGE_DYNAMIC_INT8] = {"dynamic-int8", "int8 products", 1e-1},
    [ASSAY__CHANGE_ZOO] = {"zoo", "model", 1e-4},
};

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

bool assay__change_is_rewrite(const struct assay__change *change)
{
    switch (change->kind) {
    case ASSAY__CHANGE_FIX_DIMS:
    case ASSAY__CHANGE_FLOAT16:
    case ASSAY__CHANGE_WEIGHTS_INT8:
    case ASSAY__CHANGE_DYNAMIC_INT8: return true;
    default: return false;
    }
}

bool assay__change_options(const struct assay__change *change, struct assay_run_options *options)
{
    switch (change->kind) {
    case ASSAY__CHANGE_BATCH: options->batch = change->value; return true;
    case ASSAY__CHANGE_THREADS: options->threads = (int)change->value; return true;
    case ASSAY__CHANGE_SPINNING_OFF: options->spinning_off = 1; return true;
    case ASSAY__CHANGE_OPTIMIZE: options->optimization = "all"; return true;
    case ASSAY__CHANGE_ITERATIONS: options->iterations = change->value; return true;
    case ASSAY__CHANGE_ZOO:
        if (change->name_count) options->model = change->names[0];
        return change->name_count > 0;
    default: return false;
    }
}

int assay__change_rewrite(const struct assay__change *change, struct assay__model *model,
                          struct assay__rewrite_notes *notes, struct assay_error *error)
{
    switch (change->kind) {
    case ASSAY__CHANGE_FIX_DIMS:
        return assay__rewrite_fix_dims(model, change->names, change->name_count, 0, notes, error);
    case ASSAY__CHANGE_FLOAT16: return assay__rewrite_float16(model, notes, error);
    case ASSAY__CHANGE_WEIGHTS_INT8: return assay__rewrite_weights_int8(model, notes, error);
    case ASSAY__CHANGE_DYNAMIC_INT8: return assay__rewrite_dynamic_int8(model, notes, error);
    default: return assay_error_set(error, ASSAY_EINVAL, "this change is no rewrite of a model");
    }
}
