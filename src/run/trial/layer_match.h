/* layer_match.h - the same layer in two launches. */
#ifndef ASSAY_RUN_TRIAL_LAYER_MATCH_H
#define ASSAY_RUN_TRIAL_LAYER_MATCH_H

#include "profile/profile.h"

/** where[i] = index in `other` of lead's layer i. 0; ASSAY_ENOTFOUND when the two are not the same
 *  layers; ASSAY_ENOMEM. */
int assay__layers_match(const struct assay__layers *lead, const struct assay__layers *other,
                        size_t *where);

#endif
