/* sampler_clock.h - a clock for the sampler that only sleeping and the test itself advance, so that
 * every number is exact. It starts at 1 s. Atomic: calibration has a thread of its own. */
#ifndef ASSAY_TESTS_SAMPLER_CLOCK_H
#define ASSAY_TESTS_SAMPLER_CLOCK_H

#include "probe/sampler/sampler.h"

#include <stdatomic.h>

#define MS 1000000u
#define SECOND 1000000000u

static _Atomic uint64_t clock_ns = SECOND, cpu_clock_ns;

static inline uint64_t fake_now(void *context)
{
    (void)context;
    return clock_ns;
}

static inline uint64_t fake_cpu(void *context)
{
    (void)context;
    return cpu_clock_ns;
}

static inline void fake_sleep(void *context, uint64_t duration_ns)
{
    (void)context;
    clock_ns += duration_ns;
}

static const struct assay__sampler_clock fake_clock = {fake_now, fake_cpu, fake_sleep, NULL};

#endif
