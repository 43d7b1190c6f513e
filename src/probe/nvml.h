/* nvml.h - what the commands need from NVML besides readings: which GPUs there are, and whose
 * memory to watch. */
#ifndef ASSAY_PROBE_NVML_H
#define ASSAY_PROBE_NVML_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct assay__nvml_gpu {
    const char *rail;           /* "gpu0" */
    const char *name;           /* "NVIDIA H200"; "" unknown */
    const char *uuid;           /* "GPU-…"; "" unknown */
    const char *pci;            /* "0000:01:00.0"; "" unknown */
    const char *driver_version; /* "580.65.06"; "" unknown */
    uint64_t memory_bytes;      /* 0 unknown */
};

/** The reason if NVML itself is missing. */
extern const char assay__nvml_no_library[];
/** The GPUs that NVML lists, in the arena. count 0: *reason says why (arena or static); else it is
 * "". */
const struct assay__nvml_gpu *assay__nvml_gpus(struct assay__arena *arena, size_t *count,
                                               const char **reason);

/** The process whose memory on each GPU the channel memory.gpuN.process reads; 0: this one, the
 * default. */
void assay__nvml_target(pid_t process);

#endif
