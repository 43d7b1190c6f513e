/* causes.c - the words, and how the two axes become one. */
#include "explain/causes.h"

#define WORD(id, name, meaning) {name, meaning},
const struct assay__cause_word assay__device_causes[] = {ASSAY__DEVICE_CAUSE_ROWS(WORD)};
const struct assay__cause_word assay__host_causes[] = {ASSAY__HOST_CAUSE_ROWS(WORD)};
const struct assay__cause_word assay__losses[] = {ASSAY__LOSS_ROWS(WORD)};
const struct assay__cause_word assay__diagnoses[] = {ASSAY__DIAGNOSIS_ROWS(WORD)};
#undef WORD
const char *const assay__copy_directions[] = {"unknown",   "to-device", "to-host",
                                              "on-device", "peer",      "on-host"};
const char *const assay__memory_kinds[] = {"unknown", "pageable", "pinned", "device", "managed"};

/* A host that sleeps or computes starves the device, whatever emptied its queue before. What it
 * spends on launching again is charged to what emptied it: a synchronisation, a copy. */
enum assay__loss assay__loss_of(enum assay__device_cause device, enum assay__host_cause host)
{
    if (host == ASSAY__HOST_PROFILER) return ASSAY__LOSS_PROFILING;
    if (device == ASSAY__DEVICE_LAUNCH_GAP) return ASSAY__LOSS_LAUNCHING;
    if (device == ASSAY__DEVICE_DEPENDENCY) return ASSAY__LOSS_WAITING;
    if (device == ASSAY__DEVICE_UNKNOWN) return ASSAY__LOSS_UNEXPLAINED;
    switch (host) {
    case ASSAY__HOST_CPU:
    case ASSAY__HOST_PYTHON:
    case ASSAY__HOST_UNTRACED: return ASSAY__LOSS_STARVATION;
    case ASSAY__HOST_COPYING: return ASSAY__LOSS_TRANSFERS;
    default: break;
    }
    if (device == ASSAY__DEVICE_COPY) return ASSAY__LOSS_TRANSFERS;
    if (device == ASSAY__DEVICE_SYNCHRONISATION || host == ASSAY__HOST_SYNC)
        return ASSAY__LOSS_SYNCHRONISING;
    return host == ASSAY__HOST_RUNTIME ? ASSAY__LOSS_STARVATION : ASSAY__LOSS_LAUNCHING;
}
