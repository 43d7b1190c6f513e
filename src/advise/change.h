/* change.h - what a finding suggests trying: a session option, another batch, another form from the
 * zoo, or a rewrite of the model. Verification applies it and runs both; a finding whose change is
 * NONE needs work that a program cannot do by itself. */
#ifndef ASSAY_ADVISE_CHANGE_H
#define ASSAY_ADVISE_CHANGE_H

#include "base/buf.h"
#include "model/rewrite/rewrites.h"

#include "run/run_options.h"

enum assay__change_kind {
    ASSAY__CHANGE_NONE,
    ASSAY__CHANGE_BATCH,        /* value */
    ASSAY__CHANGE_THREADS,      /* value */
    ASSAY__CHANGE_SPINNING_OFF, /* the engine's idle threads sleep */
    ASSAY__CHANGE_OPTIMIZE,     /* graph optimisation: all */
    ASSAY__CHANGE_LAYOUT_OFF,   /* graph optimisation: extended, which does not change layouts */
    ASSAY__CHANGE_ITERATIONS,   /* value: iterations */
    ASSAY__CHANGE_FIX_DIMS,     /* a rewrite: symbolic dimensions become those of the workload */
    ASSAY__CHANGE_ZOO,          /* names[0]: the same model in another form, by its zoo name */
/* rewrites that keep the precision (FUSE_HARDSWISH, …), then those to another (FLOAT16, …): several
 * are applied in this order */
#define ASSAY__CHANGE_KIND(KIND, ...) ASSAY__CHANGE_##KIND,
    ASSAY__SIMPLIFICATIONS(ASSAY__CHANGE_KIND) ASSAY__PRECISIONS(ASSAY__CHANGE_KIND)
        ASSAY__CHANGE_COUNT
};

struct assay__change {
    enum assay__change_kind kind;
    int64_t value;            /* for BATCH, THREADS, ITERATIONS */
    const char *const *names; /* FIX_DIMS: "batch=1", … ; in the profile's arena */
    size_t name_count;
};

/** "none", "batch", "threads", "spinning-off", …: the name in JSON. */
const char *assay__change_name(enum assay__change_kind kind);
/** For people: "batch=8", "dimensions fixed: batch=1, seq=16", "weights as int8". */
void assay__change_words(struct assay__buf *out, const struct assay__change *change);
bool assay__change_same(const struct assay__change *a, const struct assay__change *b);
/** True if the change affects the model: then write a rewritten copy and run that. */
bool assay__change_is_rewrite(const struct assay__change *change);
/** True if it is a rewrite to another precision; a model has only one. */
bool assay__change_is_precision(enum assay__change_kind kind);
/** How much the outputs may differ from those without the change (relative L2 of the worst output)
 *  for the advice to hold; NaN: outputs cannot be compared, because the inputs differ. */
double assay__change_drift_limit(enum assay__change_kind kind);
/** Applies the change to run options. False if it is not an option (NONE, a rewrite). */
bool assay__change_options(const struct assay__change *change, struct assay__run_options *options);
/** Applies it to a model owned by the caller. ASSAY_EINVAL if it is not a rewrite. */
int assay__change_rewrite(const struct assay__change *change, struct assay__model *model,
                          struct assay__rewrite_notes *notes, struct assay_error *error);

#endif
