/* generation_roles.h - the roles of the inputs and outputs of a language model in a generation with
 * a cache, by the names that exporters use: input_ids, attention_mask, position_ids,
 * past_key_values.N.key / present.N.key (also past_N / present_N, past_key_N / present_key_N: the
 * rest of the name after the prefix must be equal), logits. */
#ifndef ASSAY_MODEL_INPUTS_GENERATION_ROLES_H
#define ASSAY_MODEL_INPUTS_GENERATION_ROLES_H

#include "model/inputs/inputs.h"

/** Text generation with the model's own cache: what a step is in that case, and the roles of inputs
 * and outputs. */
struct assay__generation {
    int64_t tokens;  /* produced by one step (a whole generation), >= 1 */
    const char *ids; /* input [batch, prompt], int64 or int32 */
    const char *mask,
        *positions;          /* inputs [batch, past + new] of ones and [batch, new]; NULL: none */
    const char *logits;      /* output [batch, new, vocabulary] or [batch, vocabulary] */
    const char *const *past; /* inputs that start empty … */
    const char *const *present; /* … and the outputs that become them */
    size_t pair_count;
};

/** Everything in `generation` is in the arena. One clear line if the model has no cache, no ids, or
 * an input without a known role. */
int assay__generation_find(const struct assay__model *model, int64_t tokens,
                           struct assay__arena *arena, struct assay__generation *generation,
                           struct assay_error *error);
/** Shapes the first run of a generation: caches empty (0 along their symbolic axis other than the
 * batch), the mask as long as the prompt and all ones, positions 0, 1, 2, … */
int assay__generation_shape(const struct assay__model *model,
                            const struct assay__generation *generation,
                            struct assay__workload *workload, struct assay_error *error);

/** The input plans of the run that produces token `token` (from 1; 0: the first run itself): only
 * the shapes, for costs. `plans` has workload->input_count entries; their dims are in the arena. */
int assay__generation_at(const struct assay__model *model,
                         const struct assay__generation *generation,
                         const struct assay__workload *workload, int64_t token,
                         struct assay__arena *arena, struct assay__input_plan *plans,
                         struct assay_error *error);

#endif
