/* decoder.h - the interface of a decoder with a key-value cache, the same for every family:
 * parameters batch, seq, past, phase and logits, inputs input_ids and past_key_values.N.key/value,
 * outputs logits and present.N.key/value.
 *
 *   phase=both     a past of any length, including 0: present = past then new; serves prompt and
 * steps phase=prefill  no past: a whole prompt; presents are the resulting cache phase=decode   one
 * new token after a past */
#ifndef ASSAY_ZOO_DECODER_H
#define ASSAY_ZOO_DECODER_H

#include "zoo/net_blocks.h"

enum assay__decoder_phase { ASSAY__DECODER_BOTH, ASSAY__DECODER_PREFILL, ASSAY__DECODER_DECODE };

struct assay__decoder {
    /* set by the family before assay__decoder_inputs */
    int64_t layers, width, heads, kv_heads, head_dim, vocab;
    /* from assay__decoder_params; -1 is symbolic */
    int64_t batch, seq, past;
    int phase;       /* enum assay__decoder_phase */
    int last_only;   /* logits=last */
    int64_t longest; /* positions there are; 0 no limit */
    /* from assay__decoder_inputs */
    const char *input_ids;
    const char *positions; /* int64 [seq] of the new tokens */
    const char *mask;      /* "" when every key is seen */
    struct assay__net *net;
};

/** The parameters that are not sizes, and the function that reads them. */
extern const struct assay__zoo_param assay__decoder_params[];
int assay__decoder_read_params(struct assay__zoo_params *params, struct assay__decoder *decoder);
/** Checks the sizes: kv_heads must divide heads, the sequence must fit the positions. */
int assay__decoder_check(struct assay__zoo_params *params, const struct assay__decoder *decoder);
/** Inputs, positions and mask. */
void assay__decoder_inputs(struct assay__decoder *decoder, struct assay__net *net);
/** All keys (`part` "key") or values ("value") of a layer: those of the past and the new ones [b,
 * kv_heads, s, head_dim], which the last node produced. The result is an output of the graph. */
const char *assay__decoder_cache(struct assay__decoder *decoder, int64_t layer, const char *part,
                                 const char *fresh);
/** The hidden states that need logits: all, or only the last position's. */
const char *assay__decoder_wanted(struct assay__decoder *decoder, const char *x);
/** Logits, and the declaration of all outputs. Tied: `weight` is the embedding [vocab, width];
 *  otherwise it is [width, vocab]. */
void assay__decoder_outputs(struct assay__decoder *decoder, const char *x, const char *weight,
                            bool tied);

#endif
