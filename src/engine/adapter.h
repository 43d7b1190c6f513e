/* adapter.h - the card behind an engine's device, by its driver's name. Queried in the process that
 * has just run a model on the device, so that loader, environment and numbering are the same. The
 * libraries are opened at run time and declared in adapter.c. */
#ifndef ASSAY_ENGINE_ADAPTER_H
#define ASSAY_ENGINE_ADAPTER_H

#include <stdbool.h>

struct assay__adapter {
    char name[256]; /* "" unknown */
    bool software;  /* the adapter is emulated on the CPU */
    char note[384]; /* how this is known, or why it is not; "" */
};

/** The adapter of a WebGPU device on Linux, from Vulkan. The library is $ASSAY_VULKAN_LIBRARY, else
 *  libvulkan.so.1. */
void assay__adapter_vulkan(struct assay__adapter *adapter);
/** Device `number` in the numbering of the CUDA driver. The library is $ASSAY_CUDA_LIBRARY, else
 *  libcuda.so.1. */
void assay__adapter_cuda(int number, struct assay__adapter *adapter);

#endif
