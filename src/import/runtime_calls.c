/* runtime_calls.c - the table of runtime calls, and names of copies.
 *
 * A blocking copy (cudaMemcpy, hipMemcpyWithStream) both enqueues work and waits for it: it is a
 * launch, because what it launched is joined with it; that the host waits shows in its duration.
 * cudaMemset of device memory does not wait. cudaFree and others that may wait inside are plain
 * calls: nothing in a trace says whether they did. */
#include "import/runtime_calls.h"

#include <string.h>

struct call {
    const char *part, *other; /* both are in the name; other NULL: only one */
    enum assay__event_kind kind;
};

/* The first row that fits decides. */
static const struct call calls[] = {
    {"GraphInstantiate", NULL, ASSAY__EVENT_RUNTIME},
    {"Attribute", NULL, ASSAY__EVENT_RUNTIME}, /* cudaStreamSetAttribute … */
    {"Occupancy", NULL, ASSAY__EVENT_RUNTIME},
    {"LaunchConfig", NULL, ASSAY__EVENT_RUNTIME}, /* cudaGetLaunchConfig, __cudaPushCall… */
    {"Synchronize", NULL, ASSAY__EVENT_SYNC}, /* cudaStream…, cudaDevice…, cudaEvent…, cuCtx… */
    {"Launch", "Kernel", ASSAY__EVENT_LAUNCH}, /* cudaLaunchKernelExC, hipExtModuleLaunch… */
    {"GraphLaunch", NULL, ASSAY__EVENT_LAUNCH},
    {"LaunchHostFunc", NULL, ASSAY__EVENT_LAUNCH},
    {"LaunchGrid", NULL, ASSAY__EVENT_LAUNCH},
    {"cuLaunch", NULL, ASSAY__EVENT_LAUNCH},
    {"MemcpyGet", NULL, ASSAY__EVENT_RUNTIME},
    {"Memcpy", NULL, ASSAY__EVENT_LAUNCH},
    {"Memset", NULL, ASSAY__EVENT_LAUNCH},
    {"MemPrefetchAsync", NULL, ASSAY__EVENT_LAUNCH},
    {"EnqueueNDRange", NULL, ASSAY__EVENT_LAUNCH}, /* OpenCL and Level Zero */
    {"AppendLaunchKernel", NULL, ASSAY__EVENT_LAUNCH},
};

enum assay__event_kind assay__runtime_call_kind(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strstr(name, calls[i].part) && (!calls[i].other || strstr(name, calls[i].other)))
            return calls[i].kind;
    return ASSAY__EVENT_RUNTIME;
}

/* --- copies ----------------------------------------------------------------------------------- */

struct direction {
    const char *text;
    enum assay__copy_direction direction;
};

static const struct direction directions[] = {
    {"HtoD", ASSAY__COPY_TO_DEVICE},
    {"DtoH", ASSAY__COPY_TO_HOST},
    {"DtoD", ASSAY__COPY_ON_DEVICE},
    {"PtoP", ASSAY__COPY_PEER},
    {"HtoH", ASSAY__COPY_ON_HOST},
    {"HtoA", ASSAY__COPY_TO_DEVICE},
    {"AtoH", ASSAY__COPY_TO_HOST},
    {"AtoD", ASSAY__COPY_ON_DEVICE},
    {"DtoA", ASSAY__COPY_ON_DEVICE},
    {"AtoA", ASSAY__COPY_ON_DEVICE},
    {"HostToDevice", ASSAY__COPY_TO_DEVICE},
    {"DeviceToHost", ASSAY__COPY_TO_HOST},
    {"DeviceToDevice", ASSAY__COPY_ON_DEVICE},
    {"HostToHost", ASSAY__COPY_ON_HOST},
    {"Host-to-Device", ASSAY__COPY_TO_DEVICE},
    {"Device-to-Host", ASSAY__COPY_TO_HOST},
    {"Device-to-Device", ASSAY__COPY_ON_DEVICE},
    {"Peer-to-Peer", ASSAY__COPY_PEER},
    {"Host-to-Host", ASSAY__COPY_ON_HOST},
    {"H2D", ASSAY__COPY_TO_DEVICE},
    {"D2H", ASSAY__COPY_TO_HOST},
    {"D2D", ASSAY__COPY_ON_DEVICE},
    {"P2P", ASSAY__COPY_PEER},
};

static enum assay__memory_kind memory_of(const char *text)
{
    static const struct {
        const char *text;
        enum assay__memory_kind kind;
    } kinds[] = {{"Pageable", ASSAY__MEMORY_PAGEABLE}, {"Pinned", ASSAY__MEMORY_PINNED},
                 {"Device", ASSAY__MEMORY_DEVICE},     {"Array", ASSAY__MEMORY_DEVICE},
                 {"Managed", ASSAY__MEMORY_MANAGED},   {"Unified", ASSAY__MEMORY_MANAGED}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(text, kinds[i].text, strlen(kinds[i].text))) return kinds[i].kind;
    return ASSAY__MEMORY_UNKNOWN;
}

void assay__copy_of_name(const char *name, struct assay__event_args *args)
{
    const char *from = strchr(name, '('), *to = strstr(name, "-> ");
    if (from && to && to > from) {
        args->from = (uint8_t)memory_of(from + 1);
        args->to = (uint8_t)memory_of(to + 3);
    }
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (strstr(name, directions[i].text)) {
            args->direction = (uint8_t)directions[i].direction;
            return;
        }
}
