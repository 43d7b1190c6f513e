/* run_fixture.h - the metrics of a run's first trial; a test fails where one is not there. */
#ifndef ASSAY_TESTS_RUN_FIXTURE_H
#define ASSAY_TESTS_RUN_FIXTURE_H

#include "harness.h"

#include "run/run_options.h"

#include <assay/assay.h>

static inline const struct assay_metric *metric(const struct assay_profile *profile,
                                                const char *name)
{
    const struct assay_metric *found = assay_metrics_get(assay_profile_metrics(profile, 0), name);
    if (!found) harness_fail(__FILE__, __LINE__, name);
    return found;
}

static inline double value(const struct assay_profile *profile, const char *name)
{
    const struct assay_metric *found = metric(profile, name);
    if (found->state == ASSAY_UNAVAILABLE) printf("  %s: %s\n", name, found->note);
    return found->value;
}

#endif
