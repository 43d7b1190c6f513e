/* timeline.c - the index of a timeline: events by track (a counting sort), work by device, and the
 * calls that launched it, found by correlation in an open-addressing table of their events. */
#include "explain/timeline.h"

#include "explain/causes.h"
#include "explain/nest.h"

#include <stdlib.h>
#include <string.h>

/* How much host time between two launches still belongs to launching: a framework spends several
 * times the cost of the call, or of the operator around it, on the way to the next one. What is
 * far beyond is something else: data, sleep, initialisation. */
#define PATIENCE_CALLS 25
#define PATIENCE_OPERATORS 8
/* A copy to the host of so few bytes is a number that the program looks at. */
#define SCALAR_BYTES 256

bool assay__is_host_copy(const struct assay__events *events, uint32_t event)
{
    if (events->kind[event] != ASSAY__EVENT_COPY) return false;
    uint8_t direction = assay__event_args(events, event)->direction;
    return direction == ASSAY__COPY_TO_DEVICE || direction == ASSAY__COPY_TO_HOST;
}

bool assay__is_scalar_read(const struct assay__events *events, uint32_t event)
{
    return events->kind[event] == ASSAY__EVENT_COPY && events->bytes[event] > 0 &&
           events->bytes[event] <= SCALAR_BYTES &&
           assay__event_args(events, event)->direction == ASSAY__COPY_TO_HOST;
}

/* Hoare's selection; the middle of three keeps sorted input from being the worst case. */
int64_t assay__nth_ns(int64_t *v, size_t count, size_t k)
{
    if (!count) return 0;
    size_t low = 0, high = count - 1;
    while (low < high) {
        int64_t a = v[low], b = v[low + (high - low) / 2], c = v[high];
        int64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        size_t i = low, j = high;
        for (;;) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i >= j) break;
            int64_t swap = v[i];
            v[i++] = v[j];
            v[j--] = swap;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return v[k];
}

int64_t assay__median_ns(int64_t *values, size_t count)
{
    return assay__nth_ns(values, count, (count - 1) / 2);
}

/* --- tracks and devices ----------------------------------------------------------------------- */

static void group_by_track(struct assay__timeline *t)
{
    const struct assay__events *events = t->events;
    size_t *begin = assay__arena_array(t->arena, events->track_count + 2, sizeof *begin);
    t->track_begin = begin;
    t->by_track = assay__arena_array(t->arena, events->count, sizeof *t->by_track);
    if (!begin || !t->by_track) return;
    for (size_t i = 0; i < events->count; i++)
        if (events->track[i] < events->track_count) begin[events->track[i] + 2]++;
    for (size_t i = 2; i < events->track_count + 2; i++)
        begin[i] += begin[i - 1];
    for (size_t i = 0; i < events->count; i++)
        if (events->track[i] < events->track_count)
            t->by_track[begin[events->track[i] + 1]++] = (uint32_t)i;
}

static int compare_ranks(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void find_ranks(struct assay__timeline *t)
{
    const struct assay__events *events = t->events;
    size_t tracks = events->track_count, kept = 0;
    t->ranks = assay__arena_array(t->arena, tracks, sizeof *t->ranks);
    t->track_rank = assay__arena_array(t->arena, tracks, sizeof *t->track_rank);
    if (!t->ranks || !t->track_rank) return;
    for (size_t i = 0; i < tracks; i++)
        t->ranks[i] = events->tracks[i].rank;
    if (tracks) qsort(t->ranks, tracks, sizeof *t->ranks, compare_ranks);
    for (size_t i = 0; i < tracks; i++)
        if (!kept || t->ranks[kept - 1] != t->ranks[i]) t->ranks[kept++] = t->ranks[i];
    t->rank_count = kept;
    for (size_t i = 0; i < tracks; i++) {
        const int32_t *found = bsearch(&events->tracks[i].rank, t->ranks, kept, sizeof *t->ranks,
                                       compare_ranks);
        t->track_rank[i] = (uint32_t)(found - t->ranks);
    }
}

static int compare_devices(const void *a, const void *b)
{
    const struct assay__timeline_device *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

size_t assay__timeline_device_of(const struct assay__timeline *t, uint32_t track)
{
    const struct assay__track *of = &t->events->tracks[track];
    struct assay__timeline_device wanted = {.rank = of->rank, .device = of->device};
    if (of->kind != ASSAY__TRACK_STREAM || !t->device_count) return SIZE_MAX;
    const struct assay__timeline_device *found = bsearch(&wanted, t->devices, t->device_count,
                                                         sizeof wanted, compare_devices);
    return found ? (size_t)(found - t->devices) : SIZE_MAX;
}

static size_t work_on_track(const struct assay__timeline *t, uint32_t track)
{
    size_t count = 0;
    for (size_t i = t->track_begin[track]; i < t->track_begin[track + 1]; i++)
        count += assay__event_is_work(t->events, t->by_track[i]);
    return count;
}

/* Streams of one device that stand next to each other become it. */
static void unite_devices(struct assay__timeline *t, size_t streams)
{
    for (size_t i = 0; i < streams; i++) {
        struct assay__timeline_device *last = t->device_count ? &t->devices[t->device_count - 1]
                                                              : NULL;
        if (!last || compare_devices(last, &t->devices[i]) != 0) {
            t->devices[t->device_count++] = t->devices[i];
            continue;
        }
        last->count += t->devices[i].count;
        last->track_count++;
        if (!*last->name) last->name = t->devices[i].name;
    }
}

/* The devices are those that have work; a stream without any is left out. */
static void find_devices(struct assay__timeline *t)
{
    const struct assay__events *events = t->events;
    size_t tracks = events->track_count, streams = 0;
    t->devices = assay__arena_array(t->arena, tracks, sizeof *t->devices);
    for (uint32_t track = 0; t->devices && track < tracks; track++) {
        const struct assay__track *of = &events->tracks[track];
        size_t count = of->kind == ASSAY__TRACK_STREAM ? work_on_track(t, track) : 0;
        if (count)
            t->devices[streams++] = (struct assay__timeline_device){.rank = of->rank,
                                                                    .device = of->device,
                                                                    .count = count,
                                                                    .track_count = 1,
                                                                    .name = of->group ? of->group
                                                                                      : ""};
    }
    if (!streams) return;
    if (streams) qsort(t->devices, streams, sizeof *t->devices, compare_devices);
    unite_devices(t, streams);
}

static void fill_devices(struct assay__timeline *t)
{
    const struct assay__events *events = t->events;
    size_t *device_of = assay__arena_array(t->arena, events->track_count, sizeof *device_of);
    for (size_t i = 0; i < t->device_count; i++) {
        struct assay__timeline_device *device = &t->devices[i];
        device->work = assay__arena_array(t->arena, device->count, sizeof *device->work);
        device->launch = assay__arena_array(t->arena, device->count, sizeof *device->launch);
        device->tracks = assay__arena_array(t->arena, device->track_count, sizeof *device->tracks);
        device->count = device->track_count = 0;
    }
    if (assay__arena_failed(t->arena)) return;
    for (uint32_t track = 0; track < events->track_count; track++) {
        device_of[track] = assay__timeline_device_of(t, track);
        if (device_of[track] == SIZE_MAX || !work_on_track(t, track)) continue;
        struct assay__timeline_device *device = &t->devices[device_of[track]];
        device->tracks[device->track_count++] = track;
    }
    for (size_t i = 0; i < events->count; i++) {
        bool work = assay__placed_kind(events, i) <= ASSAY__EVENT_MEMSET;
        size_t at = work ? device_of[events->track[i]] : SIZE_MAX;
        if (at != SIZE_MAX) t->devices[at].work[t->devices[at].count++] = (uint32_t)i;
    }
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Runtime calls by rank and correlation: slots of events; a power of two of them. */
struct call_table {
    const struct assay__timeline *timeline;
    uint32_t *slots;
    size_t mask;
};

static bool is_call(const struct assay__events *events, size_t i)
{
    uint8_t kind = assay__placed_kind(events, i);
    return kind == ASSAY__EVENT_LAUNCH || kind == ASSAY__EVENT_SYNC || kind == ASSAY__EVENT_RUNTIME;
}

static uint32_t *slot_of(const struct call_table *table, int32_t rank, uint64_t correlation)
{
    const struct assay__events *events = table->timeline->events;
    uint64_t hash = (correlation ^ (uint64_t)(uint32_t)rank << 40) * 0x9e3779b97f4a7c15u;
    for (size_t at = (hash >> 29) & table->mask;; at = (at + 1) & table->mask) {
        uint32_t event = table->slots[at];
        if (event == ASSAY__NO_EVENT || (events->correlation[event] == correlation &&
                                         assay__timeline_rank(table->timeline, event) == rank))
            return &table->slots[at];
    }
}

/* Of calls with one correlation the launching one counts, and of these the outermost: the first. */
static void fill_table(struct call_table *table, const struct assay__timeline *t)
{
    const struct assay__events *events = t->events;
    for (size_t i = 0; i < events->count; i++) {
        if (!is_call(events, i) || !events->correlation[i]) continue;
        uint32_t *slot = slot_of(table, assay__timeline_rank(t, (uint32_t)i),
                                 events->correlation[i]);
        if (*slot == ASSAY__NO_EVENT ||
            (events->kind[*slot] != ASSAY__EVENT_LAUNCH && events->kind[i] == ASSAY__EVENT_LAUNCH))
            *slot = (uint32_t)i;
    }
}

static bool make_table(struct call_table *table, const struct assay__timeline *t)
{
    size_t calls = t->kind_count[ASSAY__EVENT_LAUNCH] + t->kind_count[ASSAY__EVENT_SYNC] +
                   t->kind_count[ASSAY__EVENT_RUNTIME];
    size_t size = 16;
    while (size < calls * 2)
        size *= 2;
    *table = (struct call_table){t, malloc(size * sizeof *table->slots), size - 1};
    if (!table->slots) return false;
    memset(table->slots, 0xff, size * sizeof *table->slots);
    fill_table(table, t);
    return true;
}

/* The events of the launching calls first; their places in `calls` once these are known. */
static void find_launches(struct assay__timeline *t, const struct call_table *table,
                          uint8_t *launching)
{
    const struct assay__events *events = t->events;
    for (size_t d = 0; d < t->device_count; d++) {
        struct assay__timeline_device *device = &t->devices[d];
        for (size_t i = 0; i < device->count; i++) {
            uint64_t correlation = events->correlation[device->work[i]];
            uint32_t event = correlation ? *slot_of(table, device->rank, correlation)
                                         : ASSAY__NO_EVENT;
            device->launch[i] = event;
            if (event != ASSAY__NO_EVENT) launching[event / 8] |= (uint8_t)(1 << event % 8);
        }
    }
}

uint32_t assay__timeline_call(const struct assay__timeline *t, uint32_t event)
{
    size_t low = 0, high = t->call_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->calls[middle].event < event)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->call_count && t->calls[low].event == event ? (uint32_t)low : ASSAY__NO_EVENT;
}

static void list_calls(struct assay__timeline *t, const uint8_t *launching)
{
    const struct assay__events *events = t->events;
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) t->calls = assay__arena_array(t->arena, count, sizeof *t->calls);
        if (pass && !t->calls) return;
        for (size_t i = 0; i < events->count; i++) {
            uint8_t kind = assay__placed_kind(events, i);
            if (kind != ASSAY__EVENT_LAUNCH && kind != ASSAY__EVENT_SYNC &&
                !(kind == ASSAY__EVENT_RUNTIME && launching[i / 8] >> (i % 8) & 1))
                continue;
            if (pass)
                t->calls[t->call_count++] = (struct assay__call){
                    .event = (uint32_t)i,
                    .op = ASSAY__NO_EVENT,
                    .work = ASSAY__NO_EVENT,
                    .previous = ASSAY__NO_EVENT,
                    .flags = kind == ASSAY__EVENT_SYNC ? ASSAY__CALL_SYNC : 0,
                    .pause_cause = ASSAY__HOST_UNTRACED,
                    .idle_before_ns = INT64_MAX};
            count += !pass;
        }
    }
}

/* A number that is read back with a copy that blocks: cudaMemcpy, hipMemcpyWithStream, and to
 * pageable memory the asynchronous ones, too. The copy is nothing, the waiting is what it costs. */
static bool waits_for_number(const struct assay__events *events, uint32_t call, uint32_t work)
{
    if (!assay__is_scalar_read(events, work) ||
        assay__event_end_ns(events, call) < assay__event_end_ns(events, work))
        return false;
    return assay__event_args(events, work)->to != ASSAY__MEMORY_PINNED ||
           !strstr(assay__event_name(events, call), "Async");
}

static void join_work(struct assay__timeline *t)
{
    for (size_t d = 0; d < t->device_count; d++) {
        struct assay__timeline_device *device = &t->devices[d];
        for (size_t i = 0; i < device->count; i++) {
            if (device->launch[i] == ASSAY__NO_EVENT) continue;
            uint32_t place = device->launch[i] = assay__timeline_call(t, device->launch[i]);
            struct assay__call *call = &t->calls[place];
            call->flags |= ASSAY__CALL_WORKS;
            if (assay__is_host_copy(t->events, device->work[i])) call->flags |= ASSAY__CALL_COPIES;
            if (waits_for_number(t->events, call->event, device->work[i]))
                call->flags |= ASSAY__CALL_SYNC;
            if (call->work == ASSAY__NO_EVENT) call->work = device->work[i];
        }
    }
}

static void find_calls(struct assay__timeline *t)
{
    struct call_table table;
    uint8_t *launching = calloc(t->events->count / 8 + 1, 1);
    if (!launching || !make_table(&table, t)) {
        free(launching);
        assay__arena_fail(t->arena);
        return;
    }
    find_launches(t, &table, launching);
    free(table.slots);
    list_calls(t, launching);
    free(launching);
    if (t->calls) join_work(t);
}

/* --- operators around calls ------------------------------------------------------------------- */

/* Marks what is open as launching, from the top down to what is marked already. */
static void mark_open(struct assay__timeline *t, const struct assay__nest *nest)
{
    for (size_t i = nest->depth; i-- > 0;) {
        uint32_t event = nest->open[i].event;
        if (t->events->kind[event] != ASSAY__EVENT_OPERATOR) continue;
        if (assay__timeline_launches(t, event)) return;
        t->launches_op[event / 8] |= (uint8_t)(1 << event % 8);
    }
}

static void enter(struct assay__timeline *t, struct assay__nest *nest, uint32_t event,
                  struct assay__call *call)
{
    assay__nest_close(nest, t->events->start_ns[event]);
    if (call) {
        const struct assay__open_event *top = assay__nest_top(nest);
        call->op = top ? top->inner_op : ASSAY__NO_EVENT;
        if (t->events->kind[event] != ASSAY__EVENT_SYNC) mark_open(t, nest);
    }
    assay__nest_open(nest, t->events, event);
}

/* All threads at once, in the order of the store: calls are in the same order. */
static void find_operators(struct assay__timeline *t)
{
    const struct assay__events *events = t->events;
    struct assay__nest *nests = calloc(events->track_count + 1, sizeof *nests);
    size_t next = 0;
    if (!nests) assay__arena_fail(t->arena);
    for (size_t i = 0; nests && i < events->count; i++) {
        uint8_t kind = assay__placed_kind(events, i);
        if (kind < ASSAY__EVENT_LAUNCH || kind > ASSAY__EVENT_CPU) continue;
        bool calls = next < t->call_count && t->calls[next].event == i;
        enter(t, &nests[events->track[i]], (uint32_t)i, calls ? &t->calls[next] : NULL);
        next += calls;
    }
    for (size_t i = 0; nests && i < events->track_count; i++) {
        if (nests[i].failed) assay__arena_fail(t->arena);
        assay__nest_free(&nests[i]);
    }
    free(nests);
}

/* --- the pace of launching -------------------------------------------------------------------- */

struct pace {
    int64_t *call_ns, *op_ns;
    size_t calls, ops;
};

static void add_pace(struct pace *pace, const struct assay__timeline *t,
                     const struct assay__call *call)
{
    const struct assay__events *events = t->events;
    if (!(call->flags & ASSAY__CALL_WORKS) || call->flags & ASSAY__CALL_COPIES) return;
    pace->call_ns[pace->calls++] = events->duration_ns[call->event];
    if (call->op != ASSAY__NO_EVENT) pace->op_ns[pace->ops++] = events->duration_ns[call->op];
}

/* The rank's call before each, and the time since all before it had ended: whichever thread made
 * them. */
static void find_pauses(struct assay__timeline *t)
{
    struct last {
        uint32_t call;
        int64_t end_ns;
    } *last = assay__arena_array(t->arena, t->rank_count, sizeof *last);
    const struct assay__events *events = t->events;
    for (size_t i = 0; last && i < t->rank_count; i++)
        last[i] = (struct last){ASSAY__NO_EVENT, INT64_MIN};
    for (size_t i = 0; last && i < t->call_count; i++) {
        uint32_t event = t->calls[i].event;
        struct last *of = &last[t->track_rank[events->track[event]]];
        int64_t start_ns = events->start_ns[event], end_ns = assay__event_end_ns(events, event);
        t->calls[i].previous = of->call;
        if (of->call != ASSAY__NO_EVENT)
            t->calls[i].idle_before_ns = start_ns > of->end_ns ? start_ns - of->end_ns : 0;
        if (end_ns > of->end_ns) of->end_ns = end_ns;
        of->call = (uint32_t)i;
    }
}

static void find_pace(struct assay__timeline *t)
{
    struct pace pace = {calloc(t->call_count + 1, sizeof(int64_t)),
                        calloc(t->call_count + 1, sizeof(int64_t)), 0, 0};
    if (pace.call_ns && pace.op_ns) {
        for (size_t i = 0; i < t->call_count; i++)
            add_pace(&pace, t, &t->calls[i]);
        t->call_ns = assay__median_ns(pace.call_ns, pace.calls);
        t->op_ns = assay__median_ns(pace.op_ns, pace.ops);
    } else {
        assay__arena_fail(t->arena);
    }
    free(pace.call_ns);
    free(pace.op_ns);
    int64_t by_calls = t->call_ns < INT64_MAX / 32 ? PATIENCE_CALLS * t->call_ns : INT64_MAX;
    int64_t by_ops = t->op_ns < INT64_MAX / 32 ? PATIENCE_OPERATORS * t->op_ns : INT64_MAX;
    t->patience_ns = by_calls > by_ops ? by_calls : by_ops;
}

/* Of what the program did; of a recording without, of all. */
static void find_extent(struct assay__timeline *t)
{
    const struct assay__events *events = t->events;
    bool any = false, all = true;
    for (size_t i = 0; i < events->count; i++) {
        uint8_t kind = assay__placed_kind(events, i);
        t->kind_count[kind]++;
        all &= !assay__event_kind_is_program(kind);
    }
    for (size_t i = 0; i < events->count; i++) {
        if (!all && !assay__event_kind_is_program(assay__placed_kind(events, i))) continue;
        int64_t end_ns = assay__event_end_ns(events, i);
        if (!any || events->start_ns[i] < t->first_ns) t->first_ns = events->start_ns[i];
        if (!any || end_ns > t->last_ns) t->last_ns = end_ns;
        any = true;
    }
}

struct assay__timeline *assay__timeline_new(const struct assay__events *events,
                                            struct assay__arena *arena)
{
    struct assay__timeline *t = assay__arena_alloc(arena, sizeof *t);
    if (!t) return NULL;
    t->events = events;
    t->arena = arena;
    find_extent(t);
    group_by_track(t);
    find_ranks(t);
    t->launches_op = assay__arena_alloc(arena, events->count / 8 + 1);
    if (!assay__arena_failed(arena)) find_devices(t);
    if (!assay__arena_failed(arena)) fill_devices(t);
    if (!assay__arena_failed(arena)) find_calls(t);
    if (!assay__arena_failed(arena)) find_operators(t);
    if (!assay__arena_failed(arena)) find_pauses(t);
    if (!assay__arena_failed(arena)) find_pace(t);
    return assay__arena_failed(arena) ? NULL : t;
}
