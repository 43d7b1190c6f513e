/* schema1.h - the typed facts of a profile of schema 1, which stores them only as text. */
#ifndef ASSAY_PROFILE_SCHEMA1_H
#define ASSAY_PROFILE_SCHEMA1_H

#include "profile/profile.h"

/** Fills the typed facts (facts.h) of a profile from its options, labels and notes. What is not
 *  understood stays unknown. 0 or ASSAY_ENOMEM. */
int assay__schema1_derive(struct assay_profile *profile);

#endif
