/* probes.h - the list of probes. To add one, write a file that defines assay__probe_NAME and add a
 * row here; its operations say what it reads, what it is used for and which files `doctor
 * --capture` copies. */
#ifndef ASSAY_PROBES_H
#define ASSAY_PROBES_H

#include "probe/probe.h"

/* X(NAME), in the order they are opened, sampled and shown. The battery stays last: it is the last
 * resort for the power of anything. */
#define ASSAY__PROBES(X) \
    X(rapl)              \
    X(hwmon)             \
    X(thermal)           \
    X(cpufreq)           \
    X(procstat)          \
    X(pressure)          \
    X(cgroup)            \
    X(gpu_sysfs)         \
    X(accel)             \
    X(perf_event)        \
    X(uncore)            \
    X(nvml)              \
    X(nvml_energy)       \
    X(nvml_pcie)         \
    X(powermetrics)      \
    X(process)           \
    X(process_pss)       \
    X(battery)

#define ASSAY__PROBE_DECLARE(NAME) extern const struct assay__probe_ops assay__probe_##NAME;
ASSAY__PROBES(ASSAY__PROBE_DECLARE)

#endif
