/* powermetrics.h - what macOS's powermetrics prints, as numbers. Two forms: a stream of XML
 * property lists, one per sample, a NUL byte before each but the first (-f plist); and text (-f
 * text, the default). Apple silicon only.
 *
 * Its values are the system's estimates. In the property lists a dictionary may contain a key twice
 * (the gpu's idle_ratio): the first counts. freq_hz of the gpu is in MHz despite its name; values
 * from 100,000 on are treated as Hz. Energies are those of one sample. A value that the sample does
 * not have is NaN. */
#ifndef ASSAY_PROBE_POWERMETRICS_H
#define ASSAY_PROBE_POWERMETRICS_H

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__POWERMETRICS_CLUSTERS 16
#define ASSAY__POWERMETRICS_CPUS 64 /* more are left out */
#define ASSAY__POWERMETRICS_NAME 32

struct assay__powermetrics_unit { /* a cluster, a CPU or the GPU */
    double frequency_hz;          /* while it was active */
    double idle_ratio, down_ratio;
    double active_ratio; /* as printed (text), else 1 - idle - down */
};

struct assay__powermetrics_cluster {
    char name[ASSAY__POWERMETRICS_NAME]; /* "E-Cluster", "P0-Cluster" */
    struct assay__powermetrics_unit unit;
};

struct assay__powermetrics_sample {
    double elapsed_s;
    double end_s; /* Unix time, in whole seconds as it is printed */
    double cpu_power_w, gpu_power_w, ane_power_w, combined_power_w;
    double cpu_energy_j, gpu_energy_j, ane_energy_j; /* of this sample */
    struct assay__powermetrics_unit gpu;
    /* index into assay__powermetrics_pressures; NaN: none, or one that is not in the list */
    double thermal_pressure;
    size_t cluster_count, cpu_count;
    struct assay__powermetrics_cluster clusters[ASSAY__POWERMETRICS_CLUSTERS];
    struct assay__powermetrics_unit cpus[ASSAY__POWERMETRICS_CPUS]; /* by the CPU's number */
};

extern const char *const assay__powermetrics_pressures[]; /* "Nominal", …; NULL-terminated */

enum assay__powermetrics_status {
    ASSAY__POWERMETRICS_SAMPLE, /* *sample is filled */
    /* no whole sample from *offset on: more bytes are needed, or this was all */
    ASSAY__POWERMETRICS_MORE,
    ASSAY__POWERMETRICS_BAD, /* a sample that cannot be read was skipped: *reason (static) */
};

/** The next sample of data[*offset … size), in either form; *offset moves past it. at_end: nothing
 * will follow, so that the last sample of the text form, which would only end at the next one,
 * counts too. Allocates nothing. */
enum assay__powermetrics_status assay__powermetrics_next(const char *data, size_t size,
                                                         size_t *offset, bool at_end,
                                                         struct assay__powermetrics_sample *sample,
                                                         const char **reason);

/** The program that the probe starts, and its arguments; NULL restores powermetrics itself. For
 *  tests, before the probe is opened. */
void assay__powermetrics_command_set(const char *const *argv);

#endif
