/* change.c - see change.h. */
#include "advise/change.h"

const char *assay__change_name(enum assay__change_kind kind)
{
    static const char *const names[ASSAY__CHANGE_COUNT] = {
        "none",       "batch",    "threads", "spinning-off", "optimize",
        "iterations", "fix-dims", "float16", "weights-int8", "dynamic-int8"};
    return (size_t)kind < ASSAY__CHANGE_COUNT ? names[kind] : names[0];
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
