/* probes.c - the table of probes. */
#include "probe/probes.h"

#include <string.h>

static const struct assay__probe_ops *const probes[] = {
    &assay__probe_rapl,
    &assay__probe_hwmon,
    &assay__probe_thermal,
    &assay__probe_cpufreq,
    &assay__probe_procstat,
    &assay__probe_pressure,
    &assay__probe_cgroup,
    &assay__probe_gpu_sysfs,
    &assay__probe_accel,
    &assay__probe_perf_event,
    &assay__probe_uncore,
    &assay__probe_nvml,
    &assay__probe_nvml_energy,
    &assay__probe_nvml_pcie,
    &assay__probe_powermetrics,
    &assay__probe_process,
    &assay__probe_process_pss,
    &assay__probe_battery, /* the last resort stays last */
    NULL,                  /* rows are added before this one */
};

const struct assay__probe_ops *assay__probe_at(size_t index)
{
    return index + 1 < sizeof probes / sizeof probes[0] ? probes[index] : NULL;
}

const struct assay__probe_ops *assay__probe_find(const char *name)
{
    for (size_t i = 0; assay__probe_at(i); i++)
        if (strcmp(probes[i]->name, name) == 0) return probes[i];
    return NULL;
}
