/* facts_fixture.h - hand-made profiles that are written as 0.1 wrote them: options in, typed facts
 * out. */
#ifndef ASSAY_TESTS_FACTS_FIXTURE_H
#define ASSAY_TESTS_FACTS_FIXTURE_H

#include "harness.h"

#include "profile/schema1.h"

static inline void derive_facts(struct assay_profile *profile)
{
    CHECK_INT(assay__schema1_derive(profile), 0);
}

/* Sets an option, and what follows from it. */
static inline void fact(struct assay_profile *profile, struct assay__trial *trial, const char *key,
                        const char *value)
{
    CHECK_INT(assay__trial_set_option(profile, trial, key, value), 0);
    derive_facts(profile);
}

/* The device, and its class. */
static inline void fact_device(struct assay_profile *profile, struct assay__trial *trial,
                               const char *device)
{
    trial->target.device = device;
    derive_facts(profile);
}

#endif
