/* transfers.c - copies between host and device by direction and kind of host memory: how many, how
 * large, how much of their time kernels hide, and whether the host waits for them. */
#include "explain/parts.h"

#include <stdlib.h>

#define SMALL_BYTES 65536 /* below, latency and not bandwidth decides how long a copy takes */
#define CLOCKS_NS 2000

/* The union of a device's kernels, as intervals in order. */
struct covered {
    int64_t *start_ns, *end_ns;
    size_t count;
};

static void cover(struct covered *c, const struct assay__events *events,
                  const struct assay__timeline_device *of)
{
    for (size_t i = 0; i < of->count; i++) {
        uint32_t event = of->work[i];
        if (events->kind[event] != ASSAY__EVENT_KERNEL) continue;
        int64_t start_ns = events->start_ns[event], end_ns = assay__event_end_ns(events, event);
        if (c->count && start_ns <= c->end_ns[c->count - 1]) {
            if (end_ns > c->end_ns[c->count - 1]) c->end_ns[c->count - 1] = end_ns;
        } else {
            c->start_ns[c->count] = start_ns;
            c->end_ns[c->count++] = end_ns;
        }
    }
}

static int64_t covered_ns(const struct covered *c, int64_t start_ns, int64_t end_ns)
{
    size_t low = 0, high = c->count;
    while (low < high) { /* the first that ends after the beginning */
        size_t middle = low + (high - low) / 2;
        if (c->end_ns[middle] <= start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t sum_ns = 0;
    for (; low < c->count && c->start_ns[low] < end_ns; low++) {
        int64_t from_ns = c->start_ns[low] > start_ns ? c->start_ns[low] : start_ns;
        int64_t to_ns = c->end_ns[low] < end_ns ? c->end_ns[low] : end_ns;
        sum_ns += to_ns - from_ns;
    }
    return sum_ns;
}

/* The call lasted until the copy was done, or the host's next call waited for it. */
static bool blocks(const struct assay__timeline *t, uint32_t place, uint32_t copy,
                   const uint32_t *next)
{
    const struct assay__events *events = t->events;
    int64_t end_ns = assay__event_end_ns(events, copy);
    if (assay__event_end_ns(events, t->calls[place].event) >= end_ns) return true;
    if (next[place] == ASSAY__NO_EVENT) return false;
    const struct assay__call *call = &t->calls[next[place]];
    return call->flags & ASSAY__CALL_SYNC &&
           assay__event_end_ns(events, call->event) + CLOCKS_NS >= end_ns;
}

static struct assay__transfer_class *class_of(struct assay__explain *x, uint32_t copy)
{
    const struct assay__event_args *args = assay__event_args(x->events, copy);
    uint8_t memory = args->direction == ASSAY__COPY_TO_DEVICE ? args->from : args->to;
    size_t i = 0;
    while (i < x->transfer_count &&
           (x->transfers[i].direction != args->direction || x->transfers[i].memory != memory))
        i++;
    if (i == x->transfer_count) {
        struct assay__transfer_class *grown = assay__arena_grow(x->arena, x->transfers, i,
                                                                sizeof *grown);
        if (!grown) return NULL;
        x->transfers = grown;
        x->transfers[x->transfer_count++] = (struct assay__transfer_class){
            .direction = args->direction, .memory = memory};
    }
    return &x->transfers[i];
}

static void add_copy(struct assay__explain *x, const struct covered *kernels, uint32_t copy,
                     uint32_t call, const uint32_t *next)
{
    const struct assay__events *events = x->events;
    struct assay__transfer_class *class = class_of(x, copy);
    if (!class) return;
    int64_t start_ns = events->start_ns[copy], bytes = events->bytes[copy];
    class->count++;
    class->ns += events->duration_ns[copy];
    class->hidden_ns += covered_ns(kernels, start_ns, start_ns + events->duration_ns[copy]);
    if (bytes > 0) {
        class->sized++;
        class->bytes = assay__add_bytes(class->bytes, bytes);
        class->small += bytes < SMALL_BYTES;
    }
    if (call == ASSAY__NO_EVENT) return;
    class->call_ns += events->duration_ns[x->timeline->calls[call].event];
    class->blocking += blocks(x->timeline, call, copy, next);
}

static bool add_device(struct assay__explain *x, const struct assay__timeline_device *of,
                       const uint32_t *next)
{
    struct covered kernels = {malloc((of->count + 1) * sizeof(int64_t)),
                              malloc((of->count + 1) * sizeof(int64_t)), 0};
    bool done = kernels.start_ns && kernels.end_ns;
    if (done) cover(&kernels, x->events, of);
    for (size_t i = 0; done && i < of->count; i++)
        if (assay__is_host_copy(x->events, of->work[i]))
            add_copy(x, &kernels, of->work[i], of->launch[i], next);
    free(kernels.start_ns);
    free(kernels.end_ns);
    return done;
}

static int compare_classes(const void *a, const void *b)
{
    const struct assay__transfer_class *x = a, *y = b;
    if (x->direction != y->direction) return x->direction < y->direction ? -1 : 1;
    return (x->memory > y->memory) - (x->memory < y->memory);
}

void assay__explain_transfers(struct assay__explain *x)
{
    const struct assay__timeline *t = x->timeline;
    size_t copies = 0;
    for (size_t i = 0; i < x->device_count; i++)
        copies += x->devices[i].copies;
    if (!copies) return;
    uint32_t *next = malloc((t->call_count + 1) * sizeof *next); /* call of the rank after each */
    for (size_t i = 0; next && i < t->call_count; i++) {
        next[i] = ASSAY__NO_EVENT;
        if (t->calls[i].previous != ASSAY__NO_EVENT) next[t->calls[i].previous] = (uint32_t)i;
    }
    if (!next) assay__arena_fail(x->arena);
    for (size_t i = 0; next && i < x->device_count; i++)
        if (!add_device(x, &t->devices[i], next)) assay__arena_fail(x->arena);
    free(next);
    if (x->transfer_count)
        qsort(x->transfers, x->transfer_count, sizeof *x->transfers, compare_classes);
}
