/* convert.c - CUPTI's records become ours. Names of kernels belong to CUPTI and go away with their
 * module: they are copied here, on the writer's thread, soon after the record came. */
#include "cuda/recorder.h"

#include <string.h>

#define MOST_CALLS 2048u /* callback ids of a domain whose names are remembered */
#define MOST_DEVICES 64u

static uint32_t call_names[3][MOST_CALLS]; /* by domain: string + 1; 0: not known yet */
static bool described[MOST_DEVICES]; /* there is a record of the device, or nothing to be had */

static uint32_t call_name(uint32_t domain, uint32_t cbid)
{
    char name[128];
    bool fits = domain < 3 && cbid < MOST_CALLS;
    if (fits && call_names[domain][cbid]) return call_names[domain][cbid] - 1;
    cupti_call_name(domain, cbid, name, sizeof name);
    uint32_t number = block_string(name);
    if (fits) call_names[domain][cbid] = number + 1;
    return number;
}

void convert_forget(void)
{
    memset(call_names, 0, sizeof call_names);
    memset(described, 0, sizeof described);
}

/* CUPTI describes devices when they are first used, which may be before it is opened. */
static void describe(uint32_t device)
{
    struct assay__cuda_device to;
    char name[256];
    if (device >= MOST_DEVICES || described[device]) return;
    described[device] = true;
    if (!cuda_describe(device, &to, name, sizeof name)) return;
    to.name = block_string(name);
    block_put(&to, sizeof to, ASSAY__CUDA_DEVICE);
}

static void put_kernel(const void *data)
{
    const struct cupti_kernel *from = data;
    struct assay__cuda_kernel to = {.start_ns = from->start,
                                    .end_ns = from->end,
                                    .name = block_string(from->name),
                                    .correlation = from->correlation,
                                    .device = from->device,
                                    .context = from->context,
                                    .stream = from->stream,
                                    .graph = from->graph,
                                    .registers = from->registers,
                                    .shared_bytes = (uint32_t)from->static_shared +
                                                    (uint32_t)from->dynamic_shared,
                                    .graph_node = from->graph_node};
    memcpy(to.grid, from->grid, sizeof to.grid);
    memcpy(to.block, from->block, sizeof to.block);
    describe(from->device);
    block_put(&to, sizeof to, ASSAY__CUDA_KERNEL);
    block_counts()->kernels++;
}

static void put_copy(const void *data)
{
    const struct cupti_memcpy *from = data;
    struct assay__cuda_copy to = {.start_ns = from->start,
                                  .end_ns = from->end,
                                  .bytes = from->bytes,
                                  .correlation = from->correlation,
                                  .device = from->device,
                                  .context = from->context,
                                  .stream = from->stream,
                                  .graph = from->graph,
                                  .kind = from->copy_kind,
                                  .from = from->from,
                                  .to = from->to,
                                  .flags = from->flags};
    block_put(&to, sizeof to, ASSAY__CUDA_COPY);
}

static void put_peer_copy(const void *data)
{
    const struct cupti_memcpy2 *from = data;
    struct assay__cuda_copy to = {.start_ns = from->start,
                                  .end_ns = from->end,
                                  .bytes = from->bytes,
                                  .correlation = from->correlation,
                                  .device = from->device,
                                  .context = from->context,
                                  .stream = from->stream,
                                  .graph = from->graph,
                                  .kind = from->copy_kind,
                                  .from = from->from,
                                  .to = from->to,
                                  .flags = from->flags};
    block_put(&to, sizeof to, ASSAY__CUDA_COPY);
}

static void put_memset(const void *data)
{
    const struct cupti_memset *from = data;
    struct assay__cuda_memset to = {.start_ns = from->start,
                                    .end_ns = from->end,
                                    .bytes = from->bytes,
                                    .correlation = from->correlation,
                                    .device = from->device,
                                    .context = from->context,
                                    .stream = from->stream,
                                    .graph = from->graph,
                                    .memory = from->memory};
    block_put(&to, sizeof to, ASSAY__CUDA_MEMSET);
}

static void put_wait(const void *data)
{
    const struct cupti_sync *from = data;
    struct assay__cuda_wait to = {.start_ns = from->start,
                                  .end_ns = from->end,
                                  .type = from->type,
                                  .correlation = from->correlation,
                                  .context = from->context,
                                  .stream = from->stream};
    block_put(&to, sizeof to, ASSAY__CUDA_WAIT);
}

static void put_call(const void *data)
{
    const struct cupti_api *from = data;
    bool is_driver = from->kind == CUPTI_KIND_DRIVER;
    struct assay__cuda_call to = {
        .start_ns = from->start,
        .end_ns = from->end,
        .name = call_name(is_driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME, from->cbid),
        .correlation = from->correlation,
        .thread = from->thread,
        .result = from->result,
        .is_driver = is_driver};
    block_put(&to, sizeof to, ASSAY__CUDA_CALL);
}

static void put_external(const void *data)
{
    const struct cupti_external *from = data;
    struct assay__cuda_external to = {
        .id = from->id, .correlation = from->correlation, .kind = from->external_kind};
    block_put(&to, sizeof to, ASSAY__CUDA_EXTERNAL);
}

static void put_device(const void *data)
{
    const struct cupti_device *from = data;
    struct assay__cuda_device to = {.memory_bytes = from->memory_bytes,
                                    .number = from->number,
                                    .name = block_string(from->name),
                                    .multiprocessors = from->multiprocessors,
                                    .clock_khz = from->clock_khz,
                                    .capability_major = from->capability_major,
                                    .capability_minor = from->capability_minor};
    if (from->number < MOST_DEVICES) described[from->number] = true;
    block_put(&to, sizeof to, ASSAY__CUDA_DEVICE);
}

static const struct {
    uint32_t kind;
    void (*put)(const void *record);
} kinds[] = {
    {CUPTI_KIND_CONCURRENT_KERNEL, put_kernel},
    {CUPTI_KIND_RUNTIME, put_call},
    {CUPTI_KIND_DRIVER, put_call},
    {CUPTI_KIND_MEMCPY, put_copy},
    {CUPTI_KIND_MEMCPY2, put_peer_copy},
    {CUPTI_KIND_MEMSET, put_memset},
    {CUPTI_KIND_SYNCHRONIZATION, put_wait},
    {CUPTI_KIND_EXTERNAL_CORRELATION, put_external},
    {CUPTI_KIND_DEVICE, put_device},
};

void convert_buffer(const struct full_buffer *buffer)
{
    void *record = NULL;
    while (cuda_cupti.ActivityGetNextRecord(buffer->data, buffer->valid, &record) == CUPTI_OK) {
        uint32_t kind;
        memcpy(&kind, record, sizeof kind);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i].kind == kind) {
                kinds[i].put(record);
                break;
            }
    }
}

/* --- what threads handed over ----------------------------------------------------------------- */

static void put_handed(struct handed *handed, const char *text)
{
    char copy[MARK_TEXT_BYTES + 1];
    if (handed->type == ASSAY__CUDA_CALL) {
        handed->call.name = call_name(
            handed->call.is_driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME, handed->call.name);
        block_put(&handed->call, sizeof handed->call, ASSAY__CUDA_CALL);
        return;
    }
    if (handed->type == ASSAY__CUDA_STATE) {
        struct assay__cuda_state state = {.time_ns = handed->mark.time_ns,
                                          .state = handed->mark.kind};
        block_put(&state, sizeof state, ASSAY__CUDA_STATE);
        return;
    }
    memcpy(copy, text, handed->text_bytes);
    copy[handed->text_bytes] = '\0';
    handed->mark.name = handed->text_bytes ? block_string(copy) : 0;
    block_put(&handed->mark, sizeof handed->mark, ASSAY__CUDA_MARK);
}

void convert_handed(const unsigned char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        struct handed handed;
        memcpy(&handed, data + at, sizeof handed);
        put_handed(&handed, (const char *)data + at + sizeof handed);
        at += handed.bytes;
    }
}
