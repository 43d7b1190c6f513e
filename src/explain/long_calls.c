/* long_calls.c - calls of the runtime that took far longer than others of their name while a device
 * had nothing to do. The first use of a device, a library or a kernel is like that: it initialises
 * the driver and loads code. What a program pays in every step is as long each time, and does not
 * count here. */
#include "explain/parts.h"

#include <stdint.h>
#include <string.h>

#define LEAST_SHARE 0.01 /* of a device's span: a shorter call explains nothing */
#define ALIKE 10         /* a call is as long as another that is not ALIKE times as long */
#define NAMES 64         /* calls of LEAST_SHARE hardly have more names */

/* Calls that load code or take hold of a device: never made twice for the same. */
static bool is_first_by_nature(const char *name)
{
    static const char *const parts[] = {"LibraryLoad", "ModuleLoad", "PrimaryCtxRetain",
                                        "CtxCreate",   "cuInit",     "hipInit"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(name, parts[i])) return true;
    return false;
}

struct name {
    uint32_t name;
    size_t calls, alike;
    int64_t longest_ns;
};

struct finder {
    struct assay__explain *x;
    int64_t least_ns;
    struct name names[NAMES];
    size_t name_count;
};

/* A copy is as long as what it copies. */
static bool may_be_long(const struct assay__explain *x, uint32_t event)
{
    uint8_t kind = assay__placed_kind(x->events, event);
    if (kind == ASSAY__EVENT_RUNTIME) return true;
    if (kind != ASSAY__EVENT_LAUNCH) return false;
    uint32_t call = assay__timeline_call(x->timeline, event);
    return call == ASSAY__NO_EVENT || !(x->timeline->calls[call].flags & ASSAY__CALL_COPIES);
}

static struct name *find(struct finder *f, uint32_t name)
{
    for (size_t i = 0; i < f->name_count; i++)
        if (f->names[i].name == name) return &f->names[i];
    return NULL;
}

static void find_names(struct finder *f)
{
    const struct assay__events *events = f->x->events;
    for (uint32_t i = 0; i < events->count; i++) {
        if (events->duration_ns[i] < f->least_ns || !may_be_long(f->x, i)) continue;
        struct name *known = find(f, events->name[i]);
        if (!known && f->name_count == NAMES) continue;
        if (!known) f->names[f->name_count++] = (struct name){.name = events->name[i]};
        known = find(f, events->name[i]);
        if (events->duration_ns[i] > known->longest_ns) known->longest_ns = events->duration_ns[i];
    }
}

static void count_alike(struct finder *f)
{
    const struct assay__events *events = f->x->events;
    for (uint32_t i = 0; i < events->count; i++) {
        struct name *known = find(f, events->name[i]);
        if (!known || !may_be_long(f->x, i)) continue;
        known->calls++;
        known->alike += events->duration_ns[i] > known->longest_ns / ALIKE;
    }
}

/* How long devices of the call's rank were idle in it. */
static int64_t idle_within(const struct assay__explain *x, uint32_t event)
{
    int64_t start_ns = x->events->start_ns[event], end_ns = assay__event_end_ns(x->events, event);
    int64_t sum_ns = 0;
    for (size_t d = 0; d < x->device_count; d++) {
        const struct assay__explain_device *device = &x->devices[d];
        if (device->rank != assay__timeline_rank(x->timeline, event)) continue;
        for (size_t i = 0; i < device->gap.count; i++) {
            const struct assay__idle_gap *gap = &device->gaps[i];
            int64_t from_ns = gap->start_ns > start_ns ? gap->start_ns : start_ns;
            int64_t to_ns = gap->end_ns < end_ns ? gap->end_ns : end_ns;
            if (to_ns > from_ns) sum_ns += to_ns - from_ns;
        }
    }
    return sum_ns;
}

void assay__explain_long_calls(struct assay__explain *x)
{
    const struct assay__events *events = x->events;
    struct finder f = {.x = x};
    struct assay__long_calls *made = &x->long_calls;
    made->longest = ASSAY__NO_EVENT;
    if (!x->device_count || x->span_ns <= 0) return;
    f.least_ns = (int64_t)(LEAST_SHARE * (double)x->span_ns / (double)x->device_count) + 1;
    find_names(&f);
    if (f.name_count) count_alike(&f);
    for (uint32_t i = 0; f.name_count && i < events->count; i++) {
        int64_t ns = events->duration_ns[i];
        if (ns < f.least_ns || !may_be_long(x, i)) continue;
        const struct name *name = find(&f, events->name[i]);
        if (!name) continue;
        bool first = is_first_by_nature(assay__event_name(events, i));
        bool usual = name->calls > 2 && name->alike * 2 >= name->calls;
        if (!first && (usual || ns <= name->longest_ns / ALIKE)) continue;
        int64_t idle_ns = idle_within(x, i);
        if (idle_ns < f.least_ns) continue;
        made->count++;
        made->ns += idle_ns;
        if (made->longest == ASSAY__NO_EVENT || ns > events->duration_ns[made->longest])
            made->longest = i;
    }
}
