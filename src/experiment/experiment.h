/* experiment.h - experiments that start launches, shared by the commands and the public functions
 * (assay/run.h, compare.h, sweep.h, tune.h, bench.h): the same calls with the internal run options,
 * which also contain the command line and the script of the fake engine. */
#ifndef ASSAY_EXPERIMENT_EXPERIMENT_H
#define ASSAY_EXPERIMENT_EXPERIMENT_H

#include "run/run_options.h"

#include <assay/advise.h>
#include <assay/bench.h>
#include <assay/compare.h>
#include <assay/sweep.h>
#include <assay/tune.h>

/** assay__run with the ceilings of its device. */
int assay__run_with_ceilings(const struct assay__run_options *options,
                             struct assay_profile **profile, struct assay_error *error);
int assay__compare(const struct assay__run_options *run,
                   const struct assay_compare_options *options, struct assay_profile **profile,
                   struct assay_error *error);
int assay__bench(const struct assay__run_options *run, const struct assay_bench_options *options,
                 struct assay_profile **profile, struct assay_error *error);
int assay__sweep_model(const struct assay__run_options *run,
                       const struct assay_sweep_options *options, struct assay_profile **profile,
                       struct assay_error *error);
int assay__tune_model(const struct assay__run_options *run,
                      const struct assay_tune_options *options, struct assay_profile **profile,
                      struct assay_error *error);

/** The profile and the result of the rules; the advice (NULL: they were not evaluated) is freed
 *  before it. */
struct assay__advice;
int assay__advise_model(const struct assay__run_options *run,
                        const struct assay_advise_options *options, struct assay_profile **profile,
                        struct assay__advice **advice, struct assay_error *error);
int assay__advise_kept(const struct assay__run_options *run,
                       const struct assay_advise_options *options, struct assay_profile *profile,
                       struct assay__advice **advice, struct assay_error *error);

/** Reads both options of a public call named `what`, and clears *profile. ASSAY_EINVAL without a
 *  pointer for it. */
int assay__experiment_read(const struct assay_run_options *run, const void *options, void *own,
                           size_t own_size, const char *what, struct assay__run_options *own_run,
                           struct assay_profile **profile, struct assay_error *error);

#endif
