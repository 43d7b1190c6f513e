/* events.c - the event store: eight flat columns (45 bytes an event) grown together by realloc. A
 * large block is moved by the system without copying and its unused end takes no memory, so that
 * while it is filled the store takes what it holds; sorting adds 12 bytes an event
 * (events_sort.c). */
#include "trace/events.h"

#include "base/checked.h"
#include "base/enum_names.h"
#include "base/vec.h"
#include "trace/events_private.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_EVENTS = 1 << 8, MOST_TRACKS = 1 << 20, MOST_COUNTERS = 1 << 16 };
#define MOST_EVENTS ((size_t)UINT32_MAX - 1) /* the order of sorting is of 32 bits */

int assay__events_fail(struct assay__events *events, int code, const char *text)
{
    struct assay_error *error = &events->own->error;
    if (!error->code) assay_error_set(error, code, "%s", text);
    return error->code;
}

static int out_of_memory(struct assay__events *events)
{
    return assay__events_fail(events, ASSAY_ENOMEM, "out of memory");
}

struct assay__events *assay__events_new(void)
{
    struct assay__events *events = calloc(1, sizeof *events);
    if (!events) return NULL;
    events->own = calloc(1, sizeof *events->own);
    if (events->own) events->own->texts = assay__texts_new();
    if (!events->own || !events->own->texts) {
        assay__events_free(events);
        return NULL;
    }
    events->own->seed = assay__texts_seed(events);
    return events;
}

void assay__events_free(struct assay__events *events)
{
    if (!events) return;
    void *columns[] = {events->start_ns, events->duration_ns, events->name,  events->track,
                       events->args,     events->correlation, events->bytes, events->kind};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        free(columns[i]);
    for (size_t i = 0; i < events->counter_count; i++) {
        free(events->counters[i].times_ns);
        free(events->counters[i].values);
    }
    free(events->counters);
    free(events->tracks);
    free(events->sources);
    if (events->own) {
        assay__texts_free(events->own->texts);
        free(events->own->args);
        free(events->own->args_index.slots);
        free(events->own->track_index.slots);
    }
    free(events->own);
    free(events);
}

/* --- texts ------------------------------------------------------------------------------------ */

uint32_t assay__events_intern(struct assay__events *events, const char *text, size_t length)
{
    bool limit = false;
    uint32_t number = assay__texts_add(events->own->texts, text, length, &limit);
    if (limit)
        assay__events_fail(events, ASSAY_ELIMIT, "the trace has too much distinct text");
    else if (number == ASSAY__TEXTS_NONE)
        out_of_memory(events);
    return number;
}

const char *assay__events_keep(struct assay__events *events, const char *text)
{
    if (!text) return "";
    return assay__events_text(events, assay__events_intern(events, text, strlen(text)));
}

/* As keep, but what is unknown stays NULL. */
static const char *keep_known(struct assay__events *events, const char *text)
{
    return text ? assay__events_keep(events, text) : NULL;
}

const char *assay__events_text(const struct assay__events *events, uint32_t number)
{
    return assay__texts_get(events->own->texts, number);
}

size_t assay__events_text_count(const struct assay__events *events)
{
    return assay__texts_count(events->own->texts);
}

const char *assay__event_name(const struct assay__events *events, size_t event)
{
    return assay__events_text(events, events->name[event]);
}

/* --- numbers by content: tracks and arguments ------------------------------------------------- */

typedef bool (*same_item)(const struct assay__events *events, uint32_t number, const void *key);
typedef uint64_t (*hash_item)(const struct assay__events *events, uint32_t number);

/* The slot of the item that is the same, or a free one. */
static size_t index_find(const struct assay__events *events,
                         const struct assay__events_index *index, uint64_t hash, same_item same,
                         const void *key)
{
    size_t at = hash & index->mask;
    while (index->slots[at] && !same(events, index->slots[at] - 1, key))
        at = (at + 1) & index->mask;
    return at;
}

static bool index_reserve(const struct assay__events *events, struct assay__events_index *index,
                          hash_item hash)
{
    bool fits = index->slots && index->used * 2 < index->mask;
    if (fits && !index->stale) return true;
    size_t count = fits ? index->mask + 1 : index->slots ? (index->mask + 1) * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots) return false;
    for (uint32_t i = 0; i < index->used; i++) {
        size_t at = hash(events, i) & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(index->slots);
    index->slots = slots;
    index->mask = count - 1;
    index->stale = false;
    return true;
}

static uint64_t track_hash(const struct assay__events *events, uint32_t number)
{
    const struct assay__track *track = &events->tracks[number];
    uint64_t key[] = {track->kind,          (uint64_t)track->rank,   (uint64_t)track->pid,
                      (uint64_t)track->tid, (uint64_t)track->device, (uint64_t)track->stream};
    return assay__texts_hash(key, sizeof key, events->own->seed);
}

static bool same_track(const struct assay__events *events, uint32_t number, const void *key)
{
    const struct assay__track *a = &events->tracks[number], *b = key;
    return a->tid == b->tid && a->stream == b->stream && a->pid == b->pid && a->kind == b->kind &&
           a->rank == b->rank && a->device == b->device;
}

static uint32_t track_add(struct assay__events *events, const struct assay__track *track)
{
    if (events->track_count >= MOST_TRACKS) {
        assay__events_fail(events, ASSAY_ELIMIT, "the trace has too many tracks");
        return ASSAY__EVENT_UNKNOWN;
    }
    if (assay__vec_grow((void **)&events->tracks, &events->own->track_capacity,
                        events->track_count + 1, sizeof *events->tracks) ||
        !index_reserve(events, &events->own->track_index, track_hash)) {
        out_of_memory(events);
        return ASSAY__EVENT_UNKNOWN;
    }
    events->tracks[events->track_count] = *track;
    return (uint32_t)events->track_count;
}

uint32_t assay__events_track(struct assay__events *events, const struct assay__track *track)
{
    struct assay__events_index *index = &events->own->track_index;
    uint32_t number = track_add(events, track); /* beyond the end, until it is known to be new */
    if (number == ASSAY__EVENT_UNKNOWN) return number;
    size_t slot = index_find(events, index, track_hash(events, number), same_track, track);
    if (!index->slots[slot]) {
        events->track_count++;
        index->used++;
        index->slots[slot] = number + 1;
        events->tracks[number].name = events->tracks[number].group = NULL;
    }
    struct assay__track *kept = &events->tracks[index->slots[slot] - 1];
    if (!kept->name) kept->name = keep_known(events, track->name);
    if (!kept->group) kept->group = keep_known(events, track->group);
    return index->slots[slot] - 1;
}

void assay__events_change_track(struct assay__events *events, uint32_t number,
                                const struct assay__track *track)
{
    if (number >= events->track_count) return;
    struct assay__track *kept = &events->tracks[number];
    *kept = *track;
    kept->name = keep_known(events, track->name);
    kept->group = keep_known(events, track->group);
    events->own->track_index.stale = true;
}

static uint64_t args_hash(const struct assay__events *events, uint32_t number)
{
    return assay__texts_hash(&events->own->args[number], sizeof *events->own->args,
                             events->own->seed);
}

static bool same_args(const struct assay__events *events, uint32_t number, const void *key)
{
    return !memcmp(&events->own->args[number], key, sizeof *events->own->args);
}

/* A copy whose texts are interned and whose padding is zero: equal ones are equal as bytes. */
static void args_copy(struct assay__events *events, const struct assay__event_args *args,
                      struct assay__event_args *copy)
{
    memset(copy, 0, sizeof *copy);
    copy->direction = args->direction;
    copy->from = args->from;
    copy->to = args->to;
    memcpy(copy->grid, args->grid, sizeof copy->grid);
    memcpy(copy->block, args->block, sizeof copy->block);
    copy->flops = args->flops;
    copy->group_size = args->group_size;
    copy->operator_type = keep_known(events, args->operator_type);
    copy->provider = keep_known(events, args->provider);
    copy->shapes = keep_known(events, args->shapes);
    copy->types = keep_known(events, args->types);
    copy->collective = keep_known(events, args->collective);
    copy->stack = keep_known(events, args->stack);
    copy->state = keep_known(events, args->state);
}

uint32_t assay__events_args(struct assay__events *events, const struct assay__event_args *args)
{
    static const struct assay__event_args nothing;
    struct assay__events_private *own = events->own;
    struct assay__event_args copy;
    args_copy(events, args, &copy);
    if (own->error.code || !memcmp(&copy, &nothing, sizeof copy)) return ASSAY__EVENT_UNKNOWN;
    if (own->args_count >= MOST_EVENTS ||
        assay__vec_grow((void **)&own->args, &own->args_capacity, own->args_count + 1,
                        sizeof *own->args) ||
        !index_reserve(events, &own->args_index, args_hash)) {
        out_of_memory(events);
        return ASSAY__EVENT_UNKNOWN;
    }
    memcpy(&own->args[own->args_count], &copy, sizeof copy);
    uint64_t hash = args_hash(events, (uint32_t)own->args_count);
    size_t slot = index_find(events, &own->args_index, hash, same_args, &copy);
    if (!own->args_index.slots[slot]) {
        own->args_index.slots[slot] = (uint32_t)++own->args_count;
        own->args_index.used++;
    }
    return own->args_index.slots[slot] - 1;
}

const struct assay__event_args *assay__event_args(const struct assay__events *events, size_t event)
{
    static const struct assay__event_args nothing;
    uint32_t number = events->args[event];
    return number < events->own->args_count ? &events->own->args[number] : &nothing;
}

/* --- events ----------------------------------------------------------------------------------- */

static bool grow_column(void *column, size_t capacity, size_t size)
{
    void **data = column;
    void *grown = realloc(*data, capacity * size);
    if (grown) *data = grown;
    return grown != NULL;
}

static bool grow_columns(struct assay__events *events)
{
    size_t capacity = events->own->capacity ? events->own->capacity * 2 : FIRST_EVENTS;
    if (capacity > SIZE_MAX / 2 / sizeof(int64_t)) return false;
    if (!grow_column(&events->start_ns, capacity, sizeof *events->start_ns) ||
        !grow_column(&events->duration_ns, capacity, sizeof *events->duration_ns) ||
        !grow_column(&events->name, capacity, sizeof *events->name) ||
        !grow_column(&events->track, capacity, sizeof *events->track) ||
        !grow_column(&events->args, capacity, sizeof *events->args) ||
        !grow_column(&events->correlation, capacity, sizeof *events->correlation) ||
        !grow_column(&events->bytes, capacity, sizeof *events->bytes) ||
        !grow_column(&events->kind, capacity, sizeof *events->kind))
        return false;
    events->own->capacity = capacity;
    return true;
}

/* Whether there is room for one more; an error otherwise. */
static bool has_room(struct assay__events *events)
{
    if (events->own->error.code || events->sealed) return false;
    if (events->count >= MOST_EVENTS) {
        assay__events_fail(events, ASSAY_ELIMIT, "the trace has too many events");
        return false;
    }
    if (events->count < events->own->capacity || grow_columns(events)) return true;
    out_of_memory(events);
    return false;
}

static void skip_impossible(struct assay__trace_source *source)
{
    source->skipped++;
    if (!source->complaint[0])
        source->complaint =
            "an event that ends before it starts, or after the clock's last instant";
}

void assay__events_add(struct assay__events *events, const struct assay__event *event)
{
    uint32_t name = ASSAY__EVENT_UNKNOWN;
    if (event->name) name = assay__events_intern(events, event->name, event->name_length);
    assay__events_add_named(events, event, name);
}

void assay__events_add_named(struct assay__events *events, const struct assay__event *event,
                             uint32_t name)
{
    struct assay__trace_source *source = events->source_count
                                             ? &events->sources[events->source_count - 1]
                                             : NULL;
    int64_t end_ns;
    if (event->duration_ns < 0 ||
        assay__add_i64_overflows(event->start_ns, event->duration_ns, &end_ns)) {
        if (source) skip_impossible(source);
        return;
    }
    if (!has_room(events)) return;
    size_t at = events->count++;
    events->start_ns[at] = event->start_ns;
    events->duration_ns[at] = event->duration_ns;
    events->name[at] = name;
    events->track[at] = event->track;
    events->args[at] = event->args;
    events->correlation[at] = event->correlation;
    events->bytes[at] = event->bytes;
    events->kind[at] = (uint8_t)event->kind;
    if (source) source->events++;
}

/* --- counters and sources --------------------------------------------------------------------- */

size_t assay__events_counter(struct assay__events *events, const char *name, const char *unit,
                             uint32_t track)
{
    name = assay__events_keep(events, name);
    unit = assay__events_keep(events, unit);
    for (size_t i = 0; i < events->counter_count; i++)
        if (events->counters[i].track == track && events->counters[i].name == name) return i;
    if (events->own->error.code || events->sealed) return SIZE_MAX;
    if (events->counter_count >= MOST_COUNTERS) {
        assay__events_fail(events, ASSAY_ELIMIT, "the trace has too many counters");
        return SIZE_MAX;
    }
    if (assay__vec_grow((void **)&events->counters, &events->own->counter_capacity,
                        events->counter_count + 1, sizeof *events->counters)) {
        out_of_memory(events);
        return SIZE_MAX;
    }
    events->counters[events->counter_count] = (struct assay__trace_counter){
        .name = name, .unit = unit, .track = track};
    return events->counter_count++;
}

void assay__events_sample(struct assay__events *events, size_t counter, int64_t time_ns,
                          double value)
{
    if (counter >= events->counter_count || events->own->error.code || events->sealed) return;
    struct assay__trace_counter *series = &events->counters[counter];
    if (series->count == series->capacity) {
        size_t capacity = series->capacity ? series->capacity * 2 : 256;
        if (capacity > SIZE_MAX / 2 / sizeof(double) ||
            !grow_column(&series->times_ns, capacity, sizeof *series->times_ns) ||
            !grow_column(&series->values, capacity, sizeof *series->values)) {
            out_of_memory(events);
            return;
        }
        series->capacity = capacity;
    }
    series->times_ns[series->count] = time_ns;
    series->values[series->count++] = value;
}

struct assay__trace_source *assay__events_source(struct assay__events *events)
{
    if (events->own->error.code || events->sealed) return NULL;
    if (assay__vec_grow((void **)&events->sources, &events->own->source_capacity,
                        events->source_count + 1, sizeof *events->sources)) {
        out_of_memory(events);
        return NULL;
    }
    struct assay__trace_source *source = &events->sources[events->source_count++];
    *source = (struct assay__trace_source){.path = "",
                                           .title = "",
                                           .format = "",
                                           .producer = "",
                                           .rank = -1,
                                           .world_size = -1,
                                           .clock = "",
                                           .complaint = ""};
    return source;
}

int assay__events_seal(struct assay__events *events, struct assay_error *error)
{
    if (!events->own->error.code && !events->sealed && assay__events_sort(events))
        out_of_memory(events);
    if (events->own->error.code) {
        return assay_error_set(error, events->own->error.code, "%s", events->own->error.message);
    }
    events->sealed = true;
    return 0;
}

/* --- kinds ------------------------------------------------------------------------------------ */

static const char *const kind_names[ASSAY__EVENT_KINDS] = {
    [ASSAY__EVENT_KERNEL] = "kernel",
    [ASSAY__EVENT_COPY] = "copy",
    [ASSAY__EVENT_MEMSET] = "memset",
    [ASSAY__EVENT_DEVICE_WAIT] = "device-wait",
    [ASSAY__EVENT_DEVICE_RANGE] = "device-range",
    [ASSAY__EVENT_DEVICE_STATE] = "device-state",
    [ASSAY__EVENT_LAUNCH] = "launch",
    [ASSAY__EVENT_SYNC] = "sync",
    [ASSAY__EVENT_RUNTIME] = "runtime",
    [ASSAY__EVENT_OPERATOR] = "operator",
    [ASSAY__EVENT_PYTHON] = "python",
    [ASSAY__EVENT_RANGE] = "range",
    [ASSAY__EVENT_CPU] = "cpu",
    [ASSAY__EVENT_SAMPLE] = "sample",
    [ASSAY__EVENT_ALLOCATION] = "allocation",
    [ASSAY__EVENT_OTHER] = "other",
};

const char *assay__event_kind_name(enum assay__event_kind kind)
{
    static const struct assay__enum_names names = {kind_names, ASSAY__EVENT_KINDS};
    return assay__enum_name(&names, kind);
}
