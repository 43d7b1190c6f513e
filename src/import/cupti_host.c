/* cupti_host.c - calls, waits and ranges of one process.
 *
 * A call of the runtime calls the driver: both records have the same correlation, and only the
 * outer one is kept. A wait has a context, not a device: contexts are learnt from the work in them.
 * Ranges are pushed and popped per thread and domain; those that are started have a number. */
#include "import/cupti_host.h"

#include "base/vec.h"
#include "import/runtime_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONTEXTS 65536u
#define NO_STREAM UINT32_MAX

uint64_t assay__cupti_correlation(const struct assay__cupti_host *host, uint32_t id)
{
    return id ? (uint64_t)host->pid << 32 | id : 0; /* ids are each process's own */
}

uint32_t assay__cupti_stream(const struct assay__cupti_host *host, uint32_t device, uint32_t stream)
{
    char name[32];
    snprintf(name, sizeof name, "stream %u", (unsigned)stream);
    return assay__events_track(host->events, &(struct assay__track){.kind = ASSAY__TRACK_STREAM,
                                                                    .pid = host->pid,
                                                                    .tid = -1,
                                                                    .device = (int32_t)device,
                                                                    .stream = stream,
                                                                    .name = name});
}

uint32_t assay__cupti_thread(const struct assay__cupti_host *host, uint32_t thread)
{
    char name[32];
    snprintf(name, sizeof name, "thread %u", (unsigned)thread);
    return assay__events_track(host->events, &(struct assay__track){.kind = ASSAY__TRACK_THREAD,
                                                                    .pid = host->pid,
                                                                    .tid = thread,
                                                                    .device = -1,
                                                                    .stream = -1,
                                                                    .name = name});
}

void assay__cupti_context(struct assay__cupti_host *host, uint32_t context, uint32_t device)
{
    if (context >= MOST_CONTEXTS) return;
    if (context >= host->context_capacity &&
        assay__vec_grow((void **)&host->context_devices, &host->context_capacity,
                        (size_t)context + 1, sizeof *host->context_devices)) {
        host->failed = true;
        return;
    }
    host->context_devices[context] = device + 1;
}

/* --- what comes ------------------------------------------------------------------------------- */

void assay__cupti_call(struct assay__cupti_host *host, const struct assay__cuda_call *record,
                       uint32_t name)
{
    if (assay__vec_grow((void **)&host->calls, &host->call_capacity, host->call_count + 1,
                        sizeof *host->calls)) {
        host->failed = true;
        return;
    }
    host->calls[host->call_count++] = (struct assay__cupti_call){*record, name};
}

void assay__cupti_wait(struct assay__cupti_host *host, const struct assay__cuda_wait *record)
{
    if (assay__vec_grow((void **)&host->waits, &host->wait_capacity, host->wait_count + 1,
                        sizeof *host->waits)) {
        host->failed = true;
        return;
    }
    host->waits[host->wait_count++] = *record;
}

static void add_range(const struct assay__cupti_host *host, const struct assay__cupti_range *range,
                      int64_t end_ns)
{
    if (end_ns < range->start_ns) end_ns = range->start_ns;
    assay__events_add_named(
        host->events,
        &(struct assay__event){.start_ns = range->start_ns,
                               .duration_ns = end_ns - range->start_ns,
                               .kind = ASSAY__EVENT_RANGE,
                               .track = assay__cupti_thread(host, range->thread),
                               .args = ASSAY__EVENT_UNKNOWN},
        range->name);
}

/* The innermost open range that ends with this record; SIZE_MAX: it began before the recording. */
static size_t range_of(const struct assay__cupti_host *host, const struct assay__cuda_mark *record)
{
    bool is_pop = record->kind == ASSAY__CUDA_MARK_POP;
    for (size_t i = host->range_count; i-- > 0;) {
        const struct assay__cupti_range *range = &host->ranges[i];
        bool fits = is_pop ? range->thread == record->thread && range->domain == record->domain &&
                                 !range->id
                           : range->id == record->id;
        if (fits) return i;
    }
    return SIZE_MAX;
}

static void end_range(struct assay__cupti_host *host, const struct assay__cuda_mark *record)
{
    size_t at = range_of(host, record);
    if (at == SIZE_MAX) {
        host->unmatched++;
        return;
    }
    add_range(host, &host->ranges[at], (int64_t)record->time_ns);
    memmove(&host->ranges[at], &host->ranges[at + 1],
            (--host->range_count - at) * sizeof *host->ranges);
}

void assay__cupti_mark(struct assay__cupti_host *host, const struct assay__cuda_mark *record,
                       uint32_t name)
{
    bool begins = record->kind == ASSAY__CUDA_MARK_PUSH || record->kind == ASSAY__CUDA_MARK_START;
    struct assay__cupti_range range = {.thread = record->thread,
                                       .name = name,
                                       .domain = record->domain,
                                       .id = record->kind == ASSAY__CUDA_MARK_START ? record->id
                                                                                    : 0,
                                       .start_ns = (int64_t)record->time_ns};
    if (record->kind == ASSAY__CUDA_MARK_INSTANT) {
        add_range(host, &range, range.start_ns);
    } else if (!begins) {
        end_range(host, record);
    } else if (assay__vec_grow((void **)&host->ranges, &host->range_capacity, host->range_count + 1,
                               sizeof *host->ranges)) {
        host->failed = true;
    } else {
        host->ranges[host->range_count++] = range;
    }
}

/* --- what they become ------------------------------------------------------------------------- */

/* Calls of the runtime before those of the driver that they made. */
static int by_correlation(const void *a, const void *b)
{
    const struct assay__cuda_call *x = &((const struct assay__cupti_call *)a)->record;
    const struct assay__cuda_call *y = &((const struct assay__cupti_call *)b)->record;
    if (x->correlation != y->correlation) return x->correlation < y->correlation ? -1 : 1;
    if (x->is_driver != y->is_driver) return x->is_driver ? 1 : -1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static void add_calls(struct assay__cupti_host *host)
{
    if (host->call_count) qsort(host->calls, host->call_count, sizeof *host->calls, by_correlation);
    for (size_t i = 0; i < host->call_count; i++) {
        const struct assay__cuda_call *call = &host->calls[i].record;
        bool is_inner = i && call->is_driver && call->correlation &&
                        host->calls[i - 1].record.correlation == call->correlation &&
                        call->end_ns <= host->calls[i - 1].record.end_ns;
        if (is_inner || call->end_ns < call->start_ns) continue;
        const char *name = assay__events_text(host->events, host->calls[i].name);
        assay__events_add_named(
            host->events,
            &(struct assay__event){.start_ns = (int64_t)call->start_ns,
                                   .duration_ns = (int64_t)(call->end_ns - call->start_ns),
                                   .kind = assay__runtime_call_kind(name),
                                   .track = assay__cupti_thread(host, call->thread),
                                   .correlation = assay__cupti_correlation(host, call->correlation),
                                   .args = ASSAY__EVENT_UNKNOWN},
            host->calls[i].name);
    }
}

/* A wait for a whole context is on no stream: the call that waits shows it. */
static void add_waits(struct assay__cupti_host *host)
{
    static const char *const names[] = {"Wait", "Event Sync", "Stream Wait Event", "Stream Sync",
                                        "Context Sync"};
    for (size_t i = 0; i < host->wait_count; i++) {
        const struct assay__cuda_wait *wait = &host->waits[i];
        uint32_t device = wait->context < host->context_capacity
                              ? host->context_devices[wait->context]
                              : 0;
        if (wait->stream == NO_STREAM || !device || wait->end_ns < wait->start_ns) continue;
        assay__events_add(
            host->events,
            &(struct assay__event){.start_ns = (int64_t)wait->start_ns,
                                   .duration_ns = (int64_t)(wait->end_ns - wait->start_ns),
                                   .name = names[wait->type < 5 ? wait->type : 0],
                                   .name_length = SIZE_MAX,
                                   .kind = ASSAY__EVENT_DEVICE_WAIT,
                                   .track = assay__cupti_stream(host, device - 1, wait->stream),
                                   .correlation = assay__cupti_correlation(host, wait->correlation),
                                   .args = ASSAY__EVENT_UNKNOWN});
    }
}

void assay__cupti_host_finish(struct assay__cupti_host *host, int64_t end_ns)
{
    add_calls(host);
    add_waits(host);
    for (size_t i = 0; i < host->range_count; i++)
        add_range(host, &host->ranges[i], end_ns);
    host->range_count = 0;
}

void assay__cupti_host_free(struct assay__cupti_host *host)
{
    free(host->calls);
    free(host->waits);
    free(host->ranges);
    free(host->context_devices);
}
