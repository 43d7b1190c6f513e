/* rewrites.h - the list of rewrites. To add one, write a file rewrite_NAME.c that defines
 * assay__rewriter_NAME and add a row in ASSAY__REWRITES: `assay make` gets its option, help and
 * step from it. A rewrite to another precision has a row in ASSAY__PRECISIONS as well: `sweep` and
 * `tune` offer it and `advise` can try it. */
#ifndef ASSAY_MODEL_REWRITE_REWRITES_H
#define ASSAY_MODEL_REWRITE_REWRITES_H

#include "model/rewrite/rewrite.h"

/* X(NAME, kind of option, option, argument, choices, value when bare, help), in the order they are
 * applied. */
#define ASSAY__REWRITES(X)                                                                         \
    X(fix_dims, LIST, "fix-dim", "NAME=N", NULL, NULL,                                             \
      "Replace a symbolic dimension with a number; may be repeated.")                              \
    X(extract, STRING, "extract", "FROM..TO", NULL, NULL,                                          \
      "Keep only the part between these tensors (comma-separated names; an empty side means the "  \
      "model's inputs or outputs).")                                                               \
    X(repeat, LIST, "repeat", "NODE=N", NULL, NULL,                                                \
      "Run one node N times, on the same values; may be repeated.")                                \
    X(hardswish, FLAG, "fuse-hardswish", NULL, NULL, NULL,                                         \
      "Replace HardSwish and HardSigmoid written as Add, Clip, Mul and Div with those operators.") \
    X(affine, FLAG, "fold-affine", NULL, NULL, NULL,                                               \
      "Fold Mul and Add by one number, or one per channel, into the weights and bias of the "      \
      "adjacent convolution.")                                                                     \
    X(int8, CHOICE, "int8", "HOW", "weights|dynamic", NULL,                                        \
      "Store weights as int8, dequantised when used (weights), or use integer products with "      \
      "activations "                                                                               \
      "quantised at run time (dynamic).")                                                          \
    X(float16, FLAG, "float16", NULL, NULL, NULL,                                                  \
      "Compute in float16; inputs and outputs stay float32.")                                      \
    X(strip, STRING, "strip", "KEEP", NULL, "16",                                                  \
      "Remove the weights; tensors of at most KEEP elements stay (default 16).")

/* X(KIND, precision, rewrite, its argument, change, words, limit): change and words name it in
 * advice, for programs and for people. The limit is the expected drift (relative L2 of the worst
 * output): float16 has 11 bits (5e-4 per rounding), int8 per channel 8 (4e-3 per weight), and the
 * limit is what may remain after all layers. Whether the model still performs its task well can
 * only be determined with its own test data. */
#define ASSAY__PRECISIONS(X)                                                                  \
    X(FLOAT16, "float16", float16, NULL, "float16", "float16", 1e-2)                          \
    X(WEIGHTS_INT8, "int8-weights", int8, "weights", "weights-int8", "weights as int8", 5e-2) \
    X(DYNAMIC_INT8, "int8-dynamic", int8, "dynamic", "dynamic-int8", "int8 products", 1e-1)

/* X(KIND, rewrite, change, words, limit): rewrites that keep the precision and may be faster;
 * `advise` can try them. The columns are those above; such rewrites only change the order of
 * sums. */
#define ASSAY__SIMPLIFICATIONS(X)                                           \
    X(FUSE_HARDSWISH, hardswish, "fuse-hardswish", "HardSwish fused", 1e-4) \
    X(FOLD_AFFINE, affine, "fold-affine", "affine folded into convolutions", 1e-4)

#define ASSAY__REWRITE_AT(NAME, ...) ASSAY__REWRITE_AT_##NAME,
enum { ASSAY__REWRITES(ASSAY__REWRITE_AT) ASSAY__REWRITE_COUNT };

#define ASSAY__REWRITE_DECLARE(NAME, ...) \
    extern const struct assay__rewriter assay__rewriter_##NAME;
ASSAY__REWRITES(ASSAY__REWRITE_DECLARE)

/* "float32, float16, …": constant expressions, for tables of options. */
#define ASSAY__PRECISION_COMMA(KIND, precision, ...) ", " precision
#define ASSAY__PRECISION_NAMES "float32" ASSAY__PRECISIONS(ASSAY__PRECISION_COMMA)
/* the same without blanks: the values of `--precision` */
#define ASSAY__PRECISION_ITEM(KIND, precision, ...) "," precision
#define ASSAY__PRECISION_LIST "float32" ASSAY__PRECISIONS(ASSAY__PRECISION_ITEM)

/** NULL past the end; in the order they are applied. */
const struct assay__rewriter *assay__rewriter_at(size_t index);
/** The name of its option: "int8". */
const char *assay__rewrite_option(size_t index);

/** A row of ASSAY__PRECISIONS. */
struct assay__rewrite_precision {
    const char *name;     /* "int8-weights" */
    size_t rewrite;       /* its place in the list of rewrites */
    const char *argument; /* "weights"; NULL: none */
};
/** NULL past the end. "float32", the model as it is, is not among them. */
const struct assay__rewrite_precision *assay__rewrite_precision_at(size_t index);
/** NULL: there is none of that name. */
const struct assay__rewrite_precision *assay__rewrite_precision_find(const char *name);
int assay__rewrite_precision_apply(const struct assay__rewrite_precision *precision,
                                   struct assay__model *model, struct assay__rewrite_notes *notes,
                                   struct assay_error *error);

#endif
