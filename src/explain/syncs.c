/* syncs.c - calls that wait for the device, by their name and the operator around them: how often,
 * how long the host waited in them, and how long a device then had nothing to do. */
#include "explain/parts.h"

#include <stdlib.h>

#define CLASSES_MOST 256 /* further ones are counted with the last */

static struct assay__sync_class *class_of(struct assay__explain *x, const struct assay__call *call)
{
    uint32_t name = x->events->name[call->event];
    uint32_t op = call->op == ASSAY__NO_EVENT ? ASSAY__EVENT_UNKNOWN : x->events->name[call->op];
    size_t i = 0;
    while (i < x->sync_count && (x->syncs[i].name != name || x->syncs[i].op != op))
        i++;
    if (i == CLASSES_MOST) i--;
    if (i == x->sync_count) {
        struct assay__sync_class *grown = assay__arena_grow(x->arena, x->syncs, i, sizeof *grown);
        if (!grown) return NULL;
        x->syncs = grown;
        x->syncs[x->sync_count++] = (struct assay__sync_class){.name = name, .op = op};
    }
    return &x->syncs[i];
}

static int compare_classes(const void *a, const void *b)
{
    const struct assay__sync_class *x = a, *y = b;
    if (x->idle_ns != y->idle_ns) return x->idle_ns < y->idle_ns ? 1 : -1;
    return (x->wait_ns < y->wait_ns) - (x->wait_ns > y->wait_ns);
}

void assay__explain_syncs(struct assay__explain *x)
{
    const struct assay__timeline *t = x->timeline;
    for (size_t i = 0; i < t->call_count; i++) {
        if (!(t->calls[i].flags & ASSAY__CALL_SYNC)) continue;
        struct assay__sync_class *class = class_of(x, &t->calls[i]);
        if (!class) return;
        class->count++;
        class->wait_ns += x->events->duration_ns[t->calls[i].event];
    }
    for (size_t d = 0; d < x->device_count; d++)
        for (size_t i = 0; i < x->devices[d].gap.count; i++) {
            const struct assay__idle_gap *gap = &x->devices[d].gaps[i];
            const struct assay__call *call = gap->wait == ASSAY__NO_EVENT ? NULL
                                                                          : &t->calls[gap->wait];
            if (!call || !(call->flags & ASSAY__CALL_SYNC)) continue;
            struct assay__sync_class *class = class_of(x, call);
            if (!class) return;
            class->drained++;
            class->idle_ns += gap->end_ns - gap->start_ns;
        }
    if (x->sync_count) qsort(x->syncs, x->sync_count, sizeof *x->syncs, compare_classes);
}
