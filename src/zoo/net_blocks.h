/* net_blocks.h - shared by the transformers of the zoo: heads, attention, positions, and a few
 * small layers. Shapes in the comments: b batch, s sequence, t keys, h heads, d numbers per
 * head. */
#ifndef ASSAY_ZOO_NET_BLOCKS_H
#define ASSAY_ZOO_NET_BLOCKS_H

#include "zoo/net.h"

/* Added to the score of a hidden key. exp(-10000) is 0 in every float type, and float16 can
 * represent it (unlike the lowest float32, which exporters use). */
#define ASSAY__ZOO_HIDDEN (-10000.0f)

/** Renames the value that the last node produced to a graph output; otherwise adds an Identity. */
const char *assay__zoo_rename(struct assay__net *net, const char *value, const char *name);
/** The same, and declares the output: float32 of these dims. */
void assay__zoo_output(struct assay__net *net, const char *value, const char *name,
                       const char *dims);
/** y = x W^T + b as one Gemm, weights stored [out, in] as in torch. x is [rows, in]. */
const char *assay__zoo_gemm(struct assay__net *net, const char *x, const char *name, int64_t in,
                            int64_t out, double gain);
/** int64 scalar: one dimension of a value. */
const char *assay__zoo_length(struct assay__net *net, const char *value, int64_t axis);
/** int64 [count]: 0, 1, 2, … */
const char *assay__zoo_range(struct assay__net *net, const char *count);
/** [b, s, h*d] to [b, h, s, d] */
const char *assay__zoo_heads(struct assay__net *net, const char *x, int64_t heads, int64_t dim);
/** [b, s, h*d] to [b, h, d, s]: keys, ready for the product. */
const char *assay__zoo_heads_across(struct assay__net *net, const char *x, int64_t heads,
                                    int64_t dim);
/** softmax(q k / sqrt(d) + mask) v: q [b, h, s, d], k [b, h, d, t], v [b, h, t, d], with any batch
 * dimensions that broadcast. mask "" is none. */
const char *assay__zoo_attend(struct assay__net *net, const char *q, const char *k, const char *v,
                              const char *mask, int64_t dim);
/** [b, h, s, d] to [b, s, h*d] */
const char *assay__zoo_merge(struct assay__net *net, const char *x, int64_t width);
/** Float [s, t] of 0 and ASSAY__ZOO_HIDDEN: a query at position p sees keys 0 … p. */
const char *assay__zoo_causal_mask(struct assay__net *net, const char *query_positions,
                                   const char *key_positions);
/** Refuses a `divisor` that does not divide `value`. */
int assay__zoo_divides(struct assay__zoo_params *params, const char *divisor_name, int64_t divisor,
                       const char *value_name, int64_t value);

/* Parameters that several models declare. */
#define ASSAY__ZOO_PARAM_BATCH \
    ASSAY__ZOO_INT("batch", "(symbolic)", 1, ASSAY__ZOO_BATCH, "batch size")
#define ASSAY__ZOO_PARAM_SEQ \
    ASSAY__ZOO_INT("seq", "(symbolic)", 1, ASSAY__ZOO_SEQUENCE, "length of the sequence")
/* layers, width, heads and ffn of a transformer */
#define ASSAY__ZOO_PARAMS_SIZE(LAYERS, WIDTH, HEADS, FFN)                           \
    ASSAY__ZOO_INT("layers", LAYERS, 1, ASSAY__ZOO_LAYERS, "number of layers"),     \
        ASSAY__ZOO_INT("width", WIDTH, 1, ASSAY__ZOO_WIDTH, "width of the layers"), \
        ASSAY__ZOO_INT("heads", HEADS, 1, ASSAY__ZOO_HEADS, "attention heads"),     \
        ASSAY__ZOO_INT("ffn", FFN, 1, ASSAY__ZOO_FFN, "width of the feed-forward network")
#define ASSAY__ZOO_PARAMS_TABLES(VOCAB, CONTEXT)                                        \
    ASSAY__ZOO_INT("vocab", VOCAB, 1, ASSAY__ZOO_VOCABULARY, "size of the vocabulary"), \
        ASSAY__ZOO_INT("context", CONTEXT, 1, ASSAY__ZOO_SEQUENCE, "rows of the position table")

/* Limits of the builders' parameters: far above any network that exists, far below what
 * overflows. */
enum {
    ASSAY__ZOO_BATCH = 65536,
    ASSAY__ZOO_LAYERS = 1024,
    ASSAY__ZOO_WIDTH = 1 << 17,
    ASSAY__ZOO_FFN = 8 * ASSAY__ZOO_WIDTH,
    ASSAY__ZOO_HEADS = 4096,
    ASSAY__ZOO_SEQUENCE = 1 << 22,
    ASSAY__ZOO_VOCABULARY = 1 << 22
};

#endif
