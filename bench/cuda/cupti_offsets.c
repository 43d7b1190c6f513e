/* cupti_offsets.c - compares src/cuda/cupti_abi.h with the real headers of CUPTI: every member that
 * is used must be where they have it. Exit status 1 if one is not.
 *
 *   gcc -Isrc -I/usr/local/cuda/include -I/usr/local/cuda/extras/CUPTI/include \
 *       bench/cuda/cupti_offsets.c -o /tmp/cupti_offsets && /tmp/cupti_offsets
 *
 * The newest struct of each kind is chosen by the version of the headers. */
#include "cuda/cupti_abi.h"

#include <cupti_activity.h>
#include <cupti_version.h>
#include <stdio.h>

#if CUPTI_API_VERSION >= 130400
#define KERNEL CUpti_ActivityKernel13
#define MEMCPY CUpti_ActivityMemcpy7
#define MEMSET CUpti_ActivityMemset5
#define SYNC CUpti_ActivitySynchronization2
#define DEVICE CUpti_ActivityDevice6
#elif CUPTI_API_VERSION >= 130000
#define KERNEL CUpti_ActivityKernel10
#define MEMCPY CUpti_ActivityMemcpy6
#define MEMSET CUpti_ActivityMemset4
#define SYNC CUpti_ActivitySynchronization2
#define DEVICE CUpti_ActivityDevice5
#elif CUPTI_API_VERSION >= 26
#define KERNEL CUpti_ActivityKernel9
#define MEMCPY CUpti_ActivityMemcpy6
#define MEMSET CUpti_ActivityMemset4
#define SYNC CUpti_ActivitySynchronization2
#define DEVICE CUpti_ActivityDevice5
#else
#define KERNEL CUpti_ActivityKernel9
#define MEMCPY CUpti_ActivityMemcpy5
#define MEMSET CUpti_ActivityMemset4
#define SYNC CUpti_ActivitySynchronization
#define DEVICE CUpti_ActivityDevice4
#endif

static int wrong, checked;

static void compare(const char *what, size_t ours, size_t theirs)
{
    checked++;
    if (ours == theirs) return;
    printf("%s: %zu here, %zu in CUPTI %d\n", what, ours, theirs, CUPTI_API_VERSION);
    wrong++;
}

#define MEMBER(struct_ours, ours, struct_theirs, theirs)                        \
    do {                                                                        \
        compare(#struct_theirs "." #theirs, offsetof(struct struct_ours, ours), \
                offsetof(struct_theirs, theirs));                               \
        compare("size of " #theirs, sizeof((struct struct_ours *)0)->ours,      \
                sizeof((struct_theirs *)0)->theirs);                            \
    } while (0)
#define PLACE(struct_ours, ours, struct_theirs, theirs)                     \
    compare(#struct_theirs "." #theirs, offsetof(struct struct_ours, ours), \
            offsetof(struct_theirs, theirs))
#define VALUE(ours, theirs) compare(#theirs, (size_t)(ours), (size_t)(theirs))

static void check_device_records(void)
{
    MEMBER(cupti_kernel, registers, KERNEL, registersPerThread);
    MEMBER(cupti_kernel, start, KERNEL, start);
    MEMBER(cupti_kernel, end, KERNEL, end);
    MEMBER(cupti_kernel, device, KERNEL, deviceId);
    MEMBER(cupti_kernel, context, KERNEL, contextId);
    MEMBER(cupti_kernel, stream, KERNEL, streamId);
    PLACE(cupti_kernel, grid, KERNEL, gridX);
    PLACE(cupti_kernel, block, KERNEL, blockX);
    MEMBER(cupti_kernel, static_shared, KERNEL, staticSharedMemory);
    MEMBER(cupti_kernel, dynamic_shared, KERNEL, dynamicSharedMemory);
    MEMBER(cupti_kernel, correlation, KERNEL, correlationId);
    MEMBER(cupti_kernel, name, KERNEL, name);
    MEMBER(cupti_kernel, graph_node, KERNEL, graphNodeId);
    MEMBER(cupti_kernel, graph, KERNEL, graphId);
    MEMBER(cupti_memcpy, copy_kind, MEMCPY, copyKind);
    MEMBER(cupti_memcpy, from, MEMCPY, srcKind);
    MEMBER(cupti_memcpy, to, MEMCPY, dstKind);
    MEMBER(cupti_memcpy, flags, MEMCPY, flags);
    MEMBER(cupti_memcpy, bytes, MEMCPY, bytes);
    MEMBER(cupti_memcpy, start, MEMCPY, start);
    MEMBER(cupti_memcpy, end, MEMCPY, end);
    MEMBER(cupti_memcpy, device, MEMCPY, deviceId);
    MEMBER(cupti_memcpy, context, MEMCPY, contextId);
    MEMBER(cupti_memcpy, stream, MEMCPY, streamId);
    MEMBER(cupti_memcpy, correlation, MEMCPY, correlationId);
    MEMBER(cupti_memcpy, graph, MEMCPY, graphId);
    MEMBER(cupti_memcpy2, copy_kind, CUpti_ActivityMemcpyPtoP4, copyKind);
    MEMBER(cupti_memcpy2, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
    MEMBER(cupti_memcpy2, start, CUpti_ActivityMemcpyPtoP4, start);
    MEMBER(cupti_memcpy2, device, CUpti_ActivityMemcpyPtoP4, deviceId);
    MEMBER(cupti_memcpy2, stream, CUpti_ActivityMemcpyPtoP4, streamId);
    MEMBER(cupti_memcpy2, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
    MEMBER(cupti_memcpy2, graph, CUpti_ActivityMemcpyPtoP4, graphId);
    MEMBER(cupti_memset, bytes, MEMSET, bytes);
    MEMBER(cupti_memset, start, MEMSET, start);
    MEMBER(cupti_memset, end, MEMSET, end);
    MEMBER(cupti_memset, device, MEMSET, deviceId);
    MEMBER(cupti_memset, stream, MEMSET, streamId);
    MEMBER(cupti_memset, correlation, MEMSET, correlationId);
    MEMBER(cupti_memset, memory, MEMSET, memoryKind);
    MEMBER(cupti_memset, graph, MEMSET, graphId);
}

static void check_host_records(void)
{
    MEMBER(cupti_sync, type, SYNC, type);
    MEMBER(cupti_sync, start, SYNC, start);
    MEMBER(cupti_sync, end, SYNC, end);
    MEMBER(cupti_sync, correlation, SYNC, correlationId);
    MEMBER(cupti_sync, context, SYNC, contextId);
    MEMBER(cupti_sync, stream, SYNC, streamId);
    MEMBER(cupti_api, cbid, CUpti_ActivityAPI, cbid);
    MEMBER(cupti_api, start, CUpti_ActivityAPI, start);
    MEMBER(cupti_api, end, CUpti_ActivityAPI, end);
    MEMBER(cupti_api, thread, CUpti_ActivityAPI, threadId);
    MEMBER(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
    MEMBER(cupti_api, result, CUpti_ActivityAPI, returnValue);
    MEMBER(cupti_external, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
    MEMBER(cupti_external, id, CUpti_ActivityExternalCorrelation, externalId);
    MEMBER(cupti_external, correlation, CUpti_ActivityExternalCorrelation, correlationId);
    MEMBER(cupti_device, memory_bytes, DEVICE, globalMemorySize);
    MEMBER(cupti_device, clock_khz, DEVICE, coreClockRate);
    MEMBER(cupti_device, multiprocessors, DEVICE, numMultiprocessors);
    MEMBER(cupti_device, capability_major, DEVICE, computeCapabilityMajor);
    MEMBER(cupti_device, capability_minor, DEVICE, computeCapabilityMinor);
    MEMBER(cupti_device, number, DEVICE, id);
    MEMBER(cupti_device, name, DEVICE, name);
    MEMBER(cupti_callback_data, site, CUpti_CallbackData, callbackSite);
    MEMBER(cupti_callback_data, own, CUpti_CallbackData, correlationData);
    MEMBER(cupti_callback_data, correlation, CUpti_CallbackData, correlationId);
}

static void check_values(void)
{
    VALUE(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
    VALUE(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
    VALUE(CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
    VALUE(CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
    VALUE(CUPTI_KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
    VALUE(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    VALUE(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
    VALUE(CUPTI_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    VALUE(CUPTI_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
    VALUE(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
    VALUE(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
    VALUE(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
    VALUE(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    VALUE(CUPTI_EXTERNAL_CUSTOM0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
    VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    VALUE(CUPTI_E_MAX_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED);
    VALUE(CUPTI_E_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
    VALUE(CUPTI_E_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
    VALUE(CUPTI_ATTRIBUTE_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
    VALUE(CUPTI_E_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
    VALUE(CUPTI_E_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    VALUE(CUPTI_E_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    VALUE(CUPTI_E_VIRTUALIZED_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
    VALUE(CUPTI_E_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
}

int main(void)
{
    check_device_records();
    check_host_records();
    check_values();
    printf("CUPTI %d: %d checked, %d wrong\n", CUPTI_API_VERSION, checked, wrong);
    return wrong != 0;
}
