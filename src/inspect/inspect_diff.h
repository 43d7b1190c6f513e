/* inspect_diff.h - the difference between two inspected models, with their layers matched. */
#ifndef ASSAY_INSPECT_INSPECT_DIFF_H
#define ASSAY_INSPECT_INSPECT_DIFF_H

#include "inspect/inspect.h"

enum assay__inspect_change {
    ASSAY__LAYER_SAME,    /* operator, output shapes and cost are equal */
    ASSAY__LAYER_CHANGED, /* one layer in both, but different */
    ASSAY__LAYER_REMOVED, /* only in a */
    ASSAY__LAYER_ADDED,   /* only in b */
};

struct assay__inspect_pair {
    enum assay__inspect_change change;
    size_t a, b; /* SIZE_MAX where there is none */
    bool by_name;
};

/* An operator, or a kind of parameter, in one or both. */
struct assay__inspect_both {
    size_t a, b; /* index in that analysis; SIZE_MAX: not there */
};

struct assay__inspect_diff {
    const struct assay__inspect *a, *b;
    struct assay__inspect_pair *pairs; /* in the order of a, with additions where they are in b */
    size_t pair_count;
    size_t counts[4]; /* by change */
    size_t renamed;   /* same layers with another name */
    struct assay__inspect_both *operators, *parameters;
    size_t operator_count, parameter_count;
    bool same_graph; /* the fingerprints are equal */
    bool equal;      /* no layer, parameter, input or output differs */
    bool ends_equal; /* inputs and outputs */
};

int assay__inspect_diff_make(const struct assay__inspect *a, const struct assay__inspect *b,
                             struct assay__inspect_diff *diff);
void assay__inspect_diff_free(struct assay__inspect_diff *diff);
/** True when count, FLOPs or bytes of the operator differ. */
bool assay__inspect_diff_operator(const struct assay__inspect_diff *diff, size_t index);
bool assay__inspect_diff_parameter(const struct assay__inspect_diff *diff, size_t index);
/** One sentence with the verdict. Unescaped. */
void assay__inspect_diff_answer(struct assay__buf *out, const struct assay__inspect_diff *diff);

#endif
