/* cupti_abi.h - the part of CUPTI's interface that is used, declared here because its headers are
 * not needed to build. CUPTI gives each kind of record the newest struct of its release; the
 * members below are at the same offsets in all of CUDA 12.1 to 13.4 (bench/cuda/cupti_offsets.c
 * checks them against the real headers). Members that are not used are padding. */
#ifndef ASSAY_CUDA_CUPTI_ABI_H
#define ASSAY_CUDA_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum cupti_kind {
    CUPTI_KIND_MEMCPY = 1,
    CUPTI_KIND_MEMSET = 2,
    CUPTI_KIND_DRIVER = 4,
    CUPTI_KIND_RUNTIME = 5,
    CUPTI_KIND_DEVICE = 8,
    CUPTI_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_KIND_MEMCPY2 = 22, /* between devices */
    CUPTI_KIND_SYNCHRONIZATION = 38,
    CUPTI_KIND_EXTERNAL_CORRELATION = 39
};
enum { CUPTI_DOMAIN_DRIVER = 1, CUPTI_DOMAIN_RUNTIME = 2 };
enum { CUPTI_SITE_ENTER = 0, CUPTI_SITE_EXIT = 1 };
enum { CUPTI_THREAD_ID_SYSTEM = 1 }; /* gettid(), not pthread_self() */
enum { CUPTI_EXTERNAL_CUSTOM0 = 3 };
enum { CUPTI_FLUSH_FORCED = 1 };
enum { CUPTI_ATTRIBUTE_ZEROED_BUFFERS = 5 }; /* uint8_t: buffers are zero when CUPTI gets them */
enum {
    CUPTI_OK = 0,
    CUPTI_E_MAX_LIMIT = 12, /* of cuptiActivityGetNextRecord: the end; of subscribe: busy */
    CUPTI_E_HARDWARE_BUSY = 26,
    CUPTI_E_NOT_SUPPORTED = 27,
    CUPTI_E_VIRTUALIZED = 33,
    CUPTI_E_PRIVILEGES = 35,
    CUPTI_E_SUBSCRIBERS = 39,
    CUPTI_E_VIRTUALIZED_PRIVILEGES = 40,
    CUPTI_E_CONFIDENTIAL = 41
};

struct cupti_kernel { /* CUpti_ActivityKernel9 … 13 */
    uint32_t kind;
    uint8_t pad0[2];
    uint16_t registers;
    uint8_t pad1[8];
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    uint8_t pad2[32];
    uint64_t graph_node;
    uint32_t pad3, graph;
};
struct cupti_memcpy { /* CUpti_ActivityMemcpy5 … 7 */
    uint32_t kind;
    uint8_t copy_kind, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint8_t pad[24];
    uint32_t graph;
};
struct cupti_memcpy2 { /* CUpti_ActivityMemcpyPtoP4 */
    uint32_t kind;
    uint8_t copy_kind, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream;
    uint32_t from_device, from_context, to_device, to_context, correlation;
    uint8_t pad[16];
    uint32_t graph;
};
struct cupti_memset { /* CUpti_ActivityMemset4, 5 */
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory;
    uint8_t pad[20];
    uint32_t graph;
};
struct cupti_sync { /* CUpti_ActivitySynchronization, 2 */
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
};
struct cupti_api { /* CUpti_ActivityAPI */
    uint32_t kind, cbid;
    uint64_t start, end;
    uint32_t process, thread, correlation, result;
};
struct cupti_external { /* CUpti_ActivityExternalCorrelation */
    uint32_t kind, external_kind;
    uint64_t id;
    uint32_t correlation;
};
struct cupti_device { /* CUpti_ActivityDevice4 … 6 */
    uint32_t kind, flags;
    uint64_t bandwidth, memory_bytes;
    uint32_t constant_bytes, l2_bytes, warp, clock_khz, copy_engines, multiprocessors;
    uint8_t pad[56];
    uint32_t capability_major, capability_minor, number, ecc;
    uint8_t uuid[16];
    const char *name;
};
struct cupti_callback_data { /* CUpti_CallbackData */
    uint32_t site;
    const char *function;
    const void *params;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *own; /* kept from a call's beginning to its end */
    uint32_t correlation;
};

typedef void cupti_request_fn(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                               size_t valid);
typedef void cupti_callback_fn(void *data, uint32_t domain, uint32_t cbid, const void *info);

/* X(name, parameters): members of struct cupti, symbols "cupti" + name */
#define CUPTI_FUNCTIONS(X)                                                               \
    X(ActivityRegisterCallbacks, (cupti_request_fn *, cupti_complete_fn *))              \
    X(ActivityEnable, (uint32_t kind))                                                   \
    X(ActivityDisable, (uint32_t kind))                                                  \
    X(ActivityFlushAll, (uint32_t flag))                                                 \
    X(ActivitySetAttribute, (uint32_t attribute, size_t * bytes, void *value))           \
    X(ActivityGetNextRecord, (uint8_t * buffer, size_t valid, void **record))            \
    X(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))   \
    X(GetTimestamp, (uint64_t * time_ns))                                                \
    X(GetVersion, (uint32_t * version))                                                  \
    X(GetResultString, (int result, const char **text))                                  \
    X(GetCallbackName, (uint32_t domain, uint32_t cbid, const char **name))              \
    X(Subscribe, (void **subscriber, cupti_callback_fn *, void *data))                   \
    X(Unsubscribe, (void *subscriber))                                                   \
    X(EnableCallback, (uint32_t enable, void *subscriber, uint32_t domain, uint32_t id)) \
    X(SetThreadIdType, (uint32_t type))                                                  \
    X(ActivityPushExternalCorrelationId, (uint32_t kind, uint64_t id))                   \
    X(ActivityPopExternalCorrelationId, (uint32_t kind, uint64_t * last))

struct cupti {
    void *handle;
#define CUPTI_MEMBER(name, parameters) int(*name) parameters;
    CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

#endif
