/* kernel_class.h - what a kernel is, by its name. Timelines rarely hold shapes or FLOPs; the names
 * that vendors' libraries, PyTorch and others give their kernels say what they compute, in which
 * type, and whether they read memory in order. A name that says nothing has no traits. */
#ifndef ASSAY_EXPLAIN_KERNEL_CLASS_H
#define ASSAY_EXPLAIN_KERNEL_CLASS_H

#include "base/arena.h"
#include "base/buf.h"

#define ASSAY__KERNEL_KIND_ROWS(X)    \
    X(OTHER, "other")                 \
    X(COMMUNICATION, "communication") \
    X(ATTENTION, "attention")         \
    X(CONVOLUTION, "convolution")     \
    X(GEMM, "gemm")                   \
    X(OPTIMISER, "optimiser")         \
    X(NORMALISATION, "normalisation") \
    X(SOFTMAX, "softmax")             \
    X(COPYING, "copy")                \
    X(INDEXING, "indexing")           \
    X(REDUCTION, "reduction")         \
    X(ELEMENTWISE, "elementwise")     \
    X(RANDOM, "random")               \
    X(SORT, "sort")

enum assay__kernel_kind {
#define ASSAY__KERNEL_ID(id, name) ASSAY__KERNEL_##id,
    ASSAY__KERNEL_KIND_ROWS(ASSAY__KERNEL_ID)
#undef ASSAY__KERNEL_ID
        ASSAY__KERNEL_KINDS
};

enum assay__kernel_trait {
    ASSAY__TRAIT_FLOAT64 = 1, /* computes in double precision */
    ASSAY__TRAIT_STRIDED = 2, /* element by element through strides: PyTorch's kernel for tensors
                                 that are not contiguous */
    ASSAY__TRAIT_NAIVE = 4,   /* its author calls it naive, slow or a reference */
    ASSAY__TRAIT_MATRIX = 8,  /* uses matrix units (tensor cores) */
    ASSAY__TRAIT_TUNED = 16,  /* a product or convolution of a vendor's library */
    ASSAY__TRAIT_VECTOR = 32, /* element-wise with vector loads: contiguous */
    ASSAY__TRAIT_FLOAT32 = 64 /* a product in single precision without matrix units */
};
#define ASSAY__KERNEL_TRAITS 7 /* bits of it */
#define ASSAY__TRAITS_SLOW (ASSAY__TRAIT_FLOAT64 | ASSAY__TRAIT_STRIDED | ASSAY__TRAIT_NAIVE)
#define ASSAY__TRAITS_FAST (ASSAY__TRAIT_MATRIX | ASSAY__TRAIT_TUNED | ASSAY__TRAIT_VECTOR)

extern const char *const assay__kernel_kinds[ASSAY__KERNEL_KINDS];
extern const char *const assay__kernel_traits[ASSAY__KERNEL_TRAITS];

struct assay__kernel_class {
    enum assay__kernel_kind kind;
    unsigned traits;
};
struct assay__kernel_class assay__kernel_class_of(const char *name);

/** The name as people read it: without return type, namespaces and arguments, of its template only
 *  what it computes: "vectorized_elementwise_kernel<GeluCUDAKernelImpl>". */
void assay__kernel_brief(struct assay__buf *out, const char *name);
/** The same of each name; where two would be equal, with what differs, or a number. NULL: out of
 *  memory, which the arena records. */
const char **assay__kernel_briefs(const char *const *names, size_t count,
                                  struct assay__arena *arena);

#endif
