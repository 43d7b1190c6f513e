/* machine_speed.h - how fast the machine is now. Another tenant on the same physical core, a lower
 * clock or a hypervisor can make a CPU half as fast for seconds, and nothing that the system
 * reports shows it. A fixed loop does: one that keeps the floating-point units busy took 1.3 to 1.8
 * times as long while the neighbour of a virtual CPU was busy, and so did a SqueezeNet. It tells
 * which launches saw which machine; the latency itself never decides. */
#ifndef ASSAY_RUN_MACHINE_SPEED_H
#define ASSAY_RUN_MACHINE_SPEED_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY__SPEED_CPUS 64u /* CPUs with higher numbers share the entries */

/** What the loop takes on each CPU, in ns; NaN: not tried. */
struct assay__speed {
    double loop_ns[ASSAY__SPEED_CPUS];
};

struct assay__speed assay__speed_unknown(void);
/** Runs the loop on the CPUs that the threads of a process ran on last, for about 0.1 ms each;
 * where it takes much longer than at its best, for 2 ms, so that an idle CPU can raise its
 * clock. */
struct assay__speed assay__speed_read(int64_t pid, const struct assay__speed *best);
/** By CPU the shorter, and the longer, time of both. */
struct assay__speed assay__speed_best(const struct assay__speed *a, const struct assay__speed *b);
struct assay__speed assay__speed_worst(const struct assay__speed *a, const struct assay__speed *b);
/** By CPU the median of the readings. */
struct assay__speed assay__speed_median(const struct assay__speed *readings, size_t count);
/** The longest loop relative to that CPU's best, minus 1: 0 as fast as ever; NaN unknown. */
double assay__speed_slowdown(const struct assay__speed *now, const struct assay__speed *best);

#endif
