/* probes.h - the probes of registry.c's table, one file each. */
#ifndef ASSAY_PROBES_H
#define ASSAY_PROBES_H

#include "probe/probe.h"

extern const struct assay__probe_ops assay__probe_rapl;
extern const struct assay__probe_ops assay__probe_hwmon;
extern const struct assay__probe_ops assay__probe_thermal;
extern const struct assay__probe_ops assay__probe_cpufreq;
extern const struct assay__probe_ops assay__probe_procstat;
extern const struct assay__probe_ops assay__probe_pressure;
extern const struct assay__probe_ops assay__probe_cgroup;
extern const struct assay__probe_ops assay__probe_gpu_sysfs;
extern const struct assay__probe_ops assay__probe_accel;
extern const struct assay__probe_ops assay__probe_battery;
extern const struct assay__probe_ops assay__probe_perf_event;
extern const struct assay__probe_ops assay__probe_uncore;
extern const struct assay__probe_ops assay__probe_nvml;
extern const struct assay__probe_ops assay__probe_nvml_energy;
extern const struct assay__probe_ops assay__probe_nvml_pcie;
extern const struct assay__probe_ops assay__probe_powermetrics;
extern const struct assay__probe_ops assay__probe_process;
extern const struct assay__probe_ops assay__probe_process_pss;

#endif
