/* change.h - what a finding would have one try: one option of the session, another batch, another
 * form from the zoo, or a rewrite of the model. Advice that is to be measured applies it and runs
 * both; a finding whose change is NONE asks for work that a program cannot do by itself. */
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
    ASSAY__CHANGE_LAYOUT_OFF,   /* graph optimisation: extended, which changes no layout */
    ASSAY__CHANGE_ITERATIONS,   /* value: iterations */
    ASSAY__CHANGE_FIX_DIMS,     /* a rewrite: symbolic dimensions become those of the workload */
    ASSAY__CHANGE_ZOO,          /* names[0]: the same model in another form, by its zoo name */
/* rewrites that keep the precision (FUSE_HARDSWISH, …), then those to another (FLOAT16, …): several
 * of them are made in this order */
#define ASSAY__CHANGE_KIND(KIND, ...) ASSAY__CHANGE_##KIND,
    ASSAY__SIMPLIFICATIONS(ASSAY__CHANGE_KIND) ASSAY__PRECISIONS(ASSAY__CHANGE_KIND)
        ASSAY__CHANGE_COUNT
};

struct assay__change {
    enum assay__change_kind kind;
    int64_t value;            /* of BATCH, THREADS, ITERATIONS */
    const char *const *names; /* FIX_DIMS: "batch=1", … ; in the profile's arena */
    size_t name_count;
};

/** "none", "batch", "threads", "spinning-off", …: the name in JSON. */
const char *assay__change_name(enum assay__change_kind kind);
/** For people: "batch=8", "dimensions fixed: batch=1, seq=16", "weights as int8". */
void assay__change_words(struct assay__buf *out, const struct assay__change *change);
bool assay__change_same(const struct assay__change *a, const struct assay__change *b);
/** True when the change is of the model: then write a rewritten copy and run that. */
bool assay__change_is_rewrite(const struct assay__change *change);
/** True when it is a rewrite to another precision; a model has one. */
bool assay__change_is_precision(enum assay__change_kind kind);
/** How far the outputs may be from those without the change (relative L2 of the worst output) for
 *  the advice to stand; NaN: outputs cannot be compared, as the inputs are others. */
double assay__change_drift_limit(enum assay__change_kind kind);
/** Makes the change in the options of a run. False when it is none of those (NONE, a rewrite). */
bool assay__change_options(const struct assay__change *change, struct assay__run_options *options);
/** Makes it in a model that is the caller's. ASSAY_EINVAL when it is no rewrite. */
int assay__change_rewrite(const struct assay__change *change, struct assay__model *model,
                          struct assay__rewrite_notes *notes, struct assay_error *error);

#endif
