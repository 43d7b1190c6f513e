/* cupti_host.h - what the CUDA recorder saw of the host: calls, waits and NVTX ranges, which are
 * joined once all records are read. Private to import_cupti.c. */
#ifndef ASSAY_IMPORT_CUPTI_HOST_H
#define ASSAY_IMPORT_CUPTI_HOST_H

#include "base/cuda_trace.h"
#include "trace/events.h"

struct assay__cupti_range { /* an open one */
    uint32_t thread, name;
    uint64_t domain, id;
    int64_t start_ns;
};
struct assay__cupti_call {
    struct assay__cuda_call record;
    uint32_t name; /* of the store */
};

struct assay__cupti_host {
    struct assay__events *events;
    int64_t pid;
    struct assay__cupti_call *calls;
    struct assay__cuda_wait *waits;
    struct assay__cupti_range *ranges;
    size_t call_count, call_capacity, wait_count, wait_capacity, range_count, range_capacity;
    uint32_t *context_devices; /* device + 1, by the number of a context; 0: not seen */
    size_t context_capacity;
    uint64_t unmatched; /* ends of ranges that began before the recording */
    bool failed;        /* out of memory */
};

/** The store's number of what the process launched with that id; 0: none. */
uint64_t assay__cupti_correlation(const struct assay__cupti_host *host, uint32_t id);
uint32_t assay__cupti_stream(const struct assay__cupti_host *host, uint32_t device,
                             uint32_t stream);
uint32_t assay__cupti_thread(const struct assay__cupti_host *host, uint32_t thread);
void assay__cupti_context(struct assay__cupti_host *host, uint32_t context, uint32_t device);
void assay__cupti_call(struct assay__cupti_host *host, const struct assay__cuda_call *record,
                       uint32_t name);
void assay__cupti_wait(struct assay__cupti_host *host, const struct assay__cuda_wait *record);
void assay__cupti_mark(struct assay__cupti_host *host, const struct assay__cuda_mark *record,
                       uint32_t name);
/** Adds what was gathered; ranges that are open end at end_ns. */
void assay__cupti_host_finish(struct assay__cupti_host *host, int64_t end_ns);
void assay__cupti_host_free(struct assay__cupti_host *host);

#endif
