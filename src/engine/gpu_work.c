/* gpu_work.c - kernels, copies and memsets from the recorder's records. Records come in the order
 * in which CUPTI hands over its buffers, so they are sorted: every call of CUDA has a correlation
 * number that grows, and all work that it launches has it too. */
#include "engine/gpu_work.h"

#include "base/cuda_trace.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#define MOST_NAMES ((size_t)1 << 20)

struct assay__gpu_external {
    uint32_t correlation;
    uint64_t id;
};

/* --- records ---------------------------------------------------------------------------------- */

static void take_string(struct assay__gpu_work *work, const unsigned char *data, size_t bytes)
{
    struct assay__cuda_string record;
    memcpy(&record, data, sizeof record);
    if (record.length > bytes - sizeof record || record.number >= MOST_NAMES) return;
    if (assay__vec_grow((void **)&work->names, &work->name_capacity, (size_t)record.number + 1,
                        sizeof *work->names)) {
        work->no_memory = true;
        return;
    }
    char *copy = malloc((size_t)record.length + 1);
    if (!copy) {
        work->no_memory = true;
        return;
    }
    memcpy(copy, data + sizeof record, record.length);
    copy[record.length] = '\0';
    free(work->names[record.number]);
    work->names[record.number] = copy;
}

static void add(struct assay__gpu_work *work, const struct assay__gpu_item *item)
{
    if (!item->start_ns || item->end_ns < item->start_ns) {
        work->dropped++; /* CUPTI gives 0 where it could not read the device's clock */
        return;
    }
    if (assay__vec_grow((void **)&work->items, &work->capacity, work->count + 1,
                        sizeof *work->items)) {
        work->no_memory = true;
        return;
    }
    work->items[work->count++] = *item;
}

/* The records of kernels, copies and memsets have these members in common. */
#define ITEM_OF(record, its_name, its_kind)                                                        \
    (struct assay__gpu_item)                                                                       \
    {                                                                                              \
        .start_ns = (record).start_ns, .end_ns = (record).end_ns, .name = (its_name),              \
        .correlation = (record).correlation, .device = (record).device, .stream = (record).stream, \
        .graph = (record).graph, .kind = (its_kind),                                               \
    }

static void take_kernel(struct assay__gpu_work *work, const unsigned char *data)
{
    struct assay__cuda_kernel record;
    memcpy(&record, data, sizeof record);
    const char *name = record.name < work->name_capacity ? work->names[record.name] : NULL;
    add(work, &ITEM_OF(record, name ? name : "", ASSAY__GPU_KERNEL));
}

static void take_copy(struct assay__gpu_work *work, const unsigned char *data)
{
    struct assay__cuda_copy record;
    memcpy(&record, data, sizeof record);
    add(work, &ITEM_OF(record, "", ASSAY__GPU_COPY));
}

static void take_memset(struct assay__gpu_work *work, const unsigned char *data)
{
    struct assay__cuda_memset record;
    memcpy(&record, data, sizeof record);
    add(work, &ITEM_OF(record, "", ASSAY__GPU_MEMSET));
}

static void take_external(struct assay__gpu_work *work, const unsigned char *data)
{
    struct assay__cuda_external record;
    memcpy(&record, data, sizeof record);
    if (assay__vec_grow((void **)&work->externals, &work->external_capacity,
                        work->external_count + 1, sizeof *work->externals)) {
        work->no_memory = true;
        return;
    }
    work->externals[work->external_count++] = (struct assay__gpu_external){record.correlation,
                                                                           record.id};
}

static void take_dropped(struct assay__gpu_work *work, const unsigned char *data)
{
    struct assay__cuda_dropped record;
    memcpy(&record, data, sizeof record);
    work->dropped += record.by_cupti + record.by_writer;
}

void assay__gpu_work_take(void *context, const void *records, size_t bytes)
{
    static const struct {
        size_t bytes;
        void (*take)(struct assay__gpu_work *work, const unsigned char *data);
    } takers[] = {
        [ASSAY__CUDA_KERNEL] = {sizeof(struct assay__cuda_kernel), take_kernel},
        [ASSAY__CUDA_COPY] = {sizeof(struct assay__cuda_copy), take_copy},
        [ASSAY__CUDA_MEMSET] = {sizeof(struct assay__cuda_memset), take_memset},
        [ASSAY__CUDA_EXTERNAL] = {sizeof(struct assay__cuda_external), take_external},
        [ASSAY__CUDA_DROPPED] = {sizeof(struct assay__cuda_dropped), take_dropped},
    };
    struct assay__gpu_work *work = context;
    const unsigned char *data = records;
    struct assay__cuda_record head;
    for (size_t at = 0; bytes - at >= sizeof head; at += head.bytes) {
        memcpy(&head, data + at, sizeof head);
        if (head.bytes < sizeof head || head.bytes > bytes - at) return;
        if (head.type == ASSAY__CUDA_STRING && head.bytes >= sizeof(struct assay__cuda_string))
            take_string(work, data + at, head.bytes);
        else if (head.type < sizeof takers / sizeof *takers && takers[head.type].take &&
                 head.bytes >= takers[head.type].bytes)
            takers[head.type].take(work, data + at);
    }
}

void assay__gpu_work_free(struct assay__gpu_work *work)
{
    for (size_t i = 0; i < work->name_capacity; i++)
        free(work->names[i]);
    free(work->names);
    free(work->items);
    free(work->externals);
    *work = (struct assay__gpu_work){0};
}

/* --- order ------------------------------------------------------------------------------------ */

static int by_launch(const void *left, const void *right)
{
    const struct assay__gpu_item *a = left, *b = right;
    if (a->correlation != b->correlation) return a->correlation < b->correlation ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static int by_correlation(const void *left, const void *right)
{
    const struct assay__gpu_external *a = left, *b = right;
    return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

void assay__gpu_work_order(struct assay__gpu_work *work)
{
    if (work->count) qsort(work->items, work->count, sizeof *work->items, by_launch);
    if (!work->external_count) return;
    qsort(work->externals, work->external_count, sizeof *work->externals, by_correlation);
    for (size_t i = 0, e = 0; i < work->count; i++) {
        uint32_t correlation = work->items[i].correlation;
        while (e < work->external_count && work->externals[e].correlation < correlation)
            e++;
        if (e < work->external_count && work->externals[e].correlation == correlation)
            work->items[i].external = work->externals[e].id;
    }
}
