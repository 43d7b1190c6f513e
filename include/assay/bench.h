/* bench.h - a standard set of small models, each in several processes, in one profile: LoRA in
 * three sizes and five ranks, softmax, layer norm, RMS norm, recurrent cells. The numbers and
 * verdicts are in the profile's report. */
#ifndef ASSAY_BENCH_H
#define ASSAY_BENCH_H

#include <assay/run.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_bench_options {
    size_t size;
    /* Names of benchmarks ('assay bench --list'), separated by commas; NULL: all. */
    const char *only;
    /* Names (device.h) or the classes cpu, gpu, npu, separated by commas; NULL: the device of the
     * run options. */
    const char *devices;
    /* The profile of an earlier call (*.assay): the throughput of each benchmark is compared with
     * its throughput there. NULL: none. */
    const char *against;
};

/** Zero in the run options means: 5 launches of 1,000 iterations each. The benchmarks have fixed
 *  sizes: of the workload only the seed may be set. Returns 0 with *profile (assay_profile_close
 *  it): a trial per benchmark and device, including failed ones. Either options pointer may be
 * NULL. ASSAY_EINTERRUPTED with *profile. May be called from several threads. */
ASSAY_API int assay_bench(const struct assay_run_options *run,
                          const struct assay_bench_options *options, struct assay_profile **profile,
                          struct assay_error *error);

#endif
