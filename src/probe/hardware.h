/* hardware.h - the GPUs and NPUs that the operating system lists, usable or not: a list of what is
 * in the machine, not of what a model can run on. Linux: NVML, /sys/class/drm, /sys/class/accel and
 * /sys/bus/pci (below $ASSAY_FSROOT); macOS: the registry of IOKit. What is not known is "" or
 * 0. */
#ifndef ASSAY_PROBE_HARDWARE_H
#define ASSAY_PROBE_HARDWARE_H

#include "base/arena.h"

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

struct assay__hardware {
    const char *kind;   /* "gpu", "npu" */
    const char *name;   /* "NVIDIA H200"; "0x1002:0x744c" if only the PCI numbers are known */
    const char *vendor; /* "NVIDIA", "AMD", "Intel", "Qualcomm", "Apple", … ; "" unknown */
    const char *driver; /* "nvidia", "amdgpu", "xe", "intel_vpu"; "" none is loaded, or unknown */
    const char *driver_version; /* "" unknown */
    uint64_t memory_bytes;      /* its own memory; 0 unknown, or it uses the machine's */
    const char *pci;            /* "0000:01:00.0"; "" unknown, or not on PCI */
    const char *uuid;           /* "GPU-…" of NVML; "" */
    const char *source;         /* source: "NVML", a folder of /sys, "IOKit" */
    const char *note;           /* what is wrong with it ("no driver is loaded"); "" */
    const char *help;           /* the command that would change that; "" none is known */
};

/** Everything found, GPUs first, in the arena. It is not an error if there is none: *count is 0.
 * ASSAY_ENOMEM. */
int assay__hardware_list(struct assay__arena *arena, const struct assay__hardware **items,
                         size_t *count, struct assay_error *error);

#endif
