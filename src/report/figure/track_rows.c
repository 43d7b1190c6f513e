/* track_rows.c - see track_rows.h. A deep track is cut at ROWS rows, the last of which holds all
 * that is deeper; of a trace with very many tracks those with most events are drawn. */
#include "report/figure/track_rows.h"

#include "base/no_memory.h"
#include "base/vec.h"
#include "trace/track_groups.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, TRACKS = 300 };

const char *const assay__time_class_names[ASSAY__TIME_CLASSES] = {
    [ASSAY__TIME_KERNEL] = "kernels",
    [ASSAY__TIME_COPY] = "copies",
    [ASSAY__TIME_OPERATOR] = "operators",
    [ASSAY__TIME_SYNC] = "synchronisation",
    [ASSAY__TIME_LAUNCH] = "launches",
    [ASSAY__TIME_PYTHON] = "Python",
    [ASSAY__TIME_RUNTIME] = "runtime and driver",
    [ASSAY__TIME_OTHER] = "other"};

enum assay__time_class assay__time_class_of(enum assay__event_kind kind)
{
    switch (kind) {
    case ASSAY__EVENT_KERNEL: return ASSAY__TIME_KERNEL;
    case ASSAY__EVENT_COPY:
    case ASSAY__EVENT_MEMSET: return ASSAY__TIME_COPY;
    case ASSAY__EVENT_OPERATOR: return ASSAY__TIME_OPERATOR;
    case ASSAY__EVENT_SYNC:
    case ASSAY__EVENT_DEVICE_WAIT: return ASSAY__TIME_SYNC;
    case ASSAY__EVENT_LAUNCH: return ASSAY__TIME_LAUNCH;
    case ASSAY__EVENT_PYTHON: return ASSAY__TIME_PYTHON;
    case ASSAY__EVENT_RUNTIME: return ASSAY__TIME_RUNTIME;
    default: return ASSAY__TIME_OTHER;
    }
}

/* --- while it is made ------------------------------------------------------------------------- */

/* What is known of a track of the store before it has its place. */
struct candidate {
    uint32_t track, group;
    int32_t rank;
    enum assay__drawn_kind kind;
    bool launches;
    uint64_t events;
    size_t rows;
    size_t place; /* in the drawn tracks; SIZE_MAX: it is left out */
};

struct maker {
    struct assay__track_rows *rows;
    const struct assay__events *events;
    struct assay__nesting nesting;
    struct assay__track_groups groups;
    struct candidate *candidates; /* of each track, then in reading order */
    size_t candidate_count;
    uint32_t *base; /* of each lane: its first row in its track */
    size_t track_capacity, row_capacity, span_capacity, label_capacity;
    size_t span_count;
    uint32_t *slots; /* of labels by name and kind: place + 1; 0: free */
    size_t slot_count;
};

/* From the first event to the last of what the program did; of a trace without, of all. */
static void find_program(struct assay__track_rows *rows, const struct assay__events *events)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < events->count; i++) {
        if (!assay__event_kind_is_program(events->kind[i])) continue;
        if (events->start_ns[i] < begin_ns) begin_ns = events->start_ns[i];
        if (assay__event_end_ns(events, i) > end_ns) end_ns = assay__event_end_ns(events, i);
    }
    bool any = begin_ns < end_ns;
    rows->from_ns = any ? assay__rows_since(rows, begin_ns) : 0;
    rows->to_ns = assay__rows_since(rows, any ? end_ns : rows->end_ns);
}

static void find_span(struct maker *m)
{
    struct assay__track_rows *rows = m->rows;
    const struct assay__events *events = m->events;
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t i = 0; i < events->count; i++) {
        if (events->start_ns[i] < begin_ns) begin_ns = events->start_ns[i];
        if (assay__event_end_ns(events, i) > end_ns) end_ns = assay__event_end_ns(events, i);
    }
    for (size_t i = 0; i < events->counter_count; i++) {
        const struct assay__trace_counter *c = &events->counters[i];
        if (c->count && c->times_ns[0] < begin_ns) begin_ns = c->times_ns[0];
        if (c->count && c->times_ns[c->count - 1] > end_ns) end_ns = c->times_ns[c->count - 1];
    }
    rows->begin_ns = begin_ns <= end_ns ? begin_ns : 0;
    rows->end_ns = begin_ns <= end_ns ? end_ns : 0;
    find_program(rows, events);
}

/* --- labels ----------------------------------------------------------------------------------- */

static size_t slot_of(const struct maker *m, const char *name, uint8_t kind)
{
    uint64_t hash = ((uint64_t)(uintptr_t)name * 31 + kind) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(hash >> 20) & (m->slot_count - 1);
    for (; m->slots[at]; at = (at + 1) & (m->slot_count - 1)) {
        const struct assay__label *label = &m->rows->labels[m->slots[at] - 1];
        if (label->name == name && label->kind == kind) break;
    }
    return at;
}

static int grow_slots(struct maker *m)
{
    struct assay__track_rows *rows = m->rows;
    if (m->slot_count > 2 * rows->label_count) return 0;
    free(m->slots);
    m->slot_count = m->slot_count ? 2 * m->slot_count : 1024;
    m->slots = calloc(m->slot_count, sizeof *m->slots);
    if (!m->slots) return ASSAY_ENOMEM;
    for (size_t i = 0; i < rows->label_count; i++)
        m->slots[slot_of(m, rows->labels[i].name, rows->labels[i].kind)] = (uint32_t)i + 1;
    return 0;
}

/* Texts of the store are interned: equal ones are the same pointer. */
static int label_of(struct maker *m, const char *name, uint8_t kind, uint8_t series,
                    uint32_t *label)
{
    struct assay__track_rows *rows = m->rows;
    if (grow_slots(m)) return ASSAY_ENOMEM;
    size_t at = slot_of(m, name, kind);
    if (!m->slots[at]) {
        if (assay__vec_grow((void **)&rows->labels, &m->label_capacity, rows->label_count + 1,
                            sizeof *rows->labels))
            return ASSAY_ENOMEM;
        rows->labels[rows->label_count++] = (struct assay__label){
            .name = name, .kind = kind, .series = series};
        m->slots[at] = (uint32_t)rows->label_count;
    }
    *label = m->slots[at] - 1;
    return 0;
}

static int label_events(struct maker *m)
{
    const struct assay__events *events = m->events;
    m->rows->label = calloc(events->count + 1, sizeof *m->rows->label);
    if (!m->rows->label) return ASSAY_ENOMEM;
    for (size_t i = 0; i < events->count; i++) {
        uint32_t *label = &m->rows->label[i];
        enum assay__time_class of = assay__time_class_of(events->kind[i]);
        if (label_of(m, assay__event_name(events, i), events->kind[i], (uint8_t)of, label))
            return ASSAY_ENOMEM;
        m->rows->labels[*label].count++;
        m->rows->labels[*label].total_ns += (double)events->duration_ns[i];
    }
    return 0;
}

struct ranked {
    uint64_t count;
    uint32_t label;
};

static int by_count(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return a->label < b->label ? -1 : a->label > b->label;
}

/* The most frequent first: their numbers are written most often. */
static int rank_labels(struct maker *m)
{
    struct assay__track_rows *rows = m->rows;
    size_t count = rows->label_count;
    struct ranked *ranked = calloc(count + 1, sizeof *ranked);
    struct assay__label *labels = calloc(count + 1, sizeof *labels);
    uint32_t *place = calloc(count + 1, sizeof *place);
    int code = ranked && labels && place ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < count; i++)
        ranked[i] = (struct ranked){rows->labels[i].count, (uint32_t)i};
    if (!code) qsort(ranked, count, sizeof *ranked, by_count);
    for (size_t i = 0; !code && i < count; i++) {
        labels[i] = rows->labels[ranked[i].label];
        place[ranked[i].label] = (uint32_t)i;
    }
    for (size_t i = 0; !code && i < m->events->count; i++)
        rows->label[i] = place[rows->label[i]];
    for (size_t i = 0; !code && i < m->span_count; i++)
        rows->device_spans[i].label = place[rows->device_spans[i].label];
    if (!code) {
        struct assay__label *old = rows->labels;
        rows->labels = labels;
        labels = old;
    }
    free(ranked);
    free(labels);
    free(place);
    return code;
}

/* --- devices: busy, and idle with its causes -------------------------------------------------- */

static int add_span(struct maker *m, int64_t begin_ns, int64_t end_ns, uint32_t label)
{
    struct assay__track_rows *rows = m->rows;
    struct assay__track_span span = {.begin_ns = assay__rows_since(rows, begin_ns),
                                     .end_ns = assay__rows_since(rows, end_ns),
                                     .label = label,
                                     .count = 1,
                                     .event = ASSAY__EVENT_UNKNOWN};
    if (assay__vec_grow((void **)&rows->device_spans, &m->span_capacity, m->span_count + 1,
                        sizeof *rows->device_spans))
        return ASSAY_ENOMEM;
    span.busy_ns = span.weight_ns = span.end_ns - span.begin_ns;
    rows->labels[label].count++;
    rows->labels[label].total_ns += (double)span.busy_ns;
    rows->device_spans[m->span_count++] = span;
    return 0;
}

static const struct assay__idle_device *idle_of(const struct maker *m, const struct assay__track *t)
{
    const struct assay__timeline_input *input = &m->rows->input;
    for (size_t i = 0; i < input->idle_count; i++)
        if (input->idle[i].rank == t->rank && input->idle[i].device == t->device)
            return &input->idle[i];
    return NULL;
}

/* Idle spans that begin before the next work; *at moves on. */
static int add_idle(struct maker *m, const struct assay__idle_device *idle, size_t *at,
                    int64_t before_ns)
{
    const struct assay__idle_cause *causes = m->rows->input.causes;
    for (; idle && *at < idle->count && idle->spans[*at].begin_ns < before_ns; ++*at) {
        const struct assay__idle_span *span = &idle->spans[*at];
        uint32_t label;
        if (span->cause >= m->rows->input.cause_count) continue;
        if (label_of(m, causes[span->cause].name, ASSAY__LABEL_IDLE, causes[span->cause].series,
                     &label) ||
            add_span(m, span->begin_ns, span->end_ns, label))
            return ASSAY_ENOMEM;
    }
    return 0;
}

static int end_busy(struct maker *m, const struct assay__idle_device *idle, size_t *at,
                    int64_t begin_ns, int64_t end_ns)
{
    static const char name[] = "busy";
    uint32_t label;
    if (add_idle(m, idle, at, begin_ns)) return ASSAY_ENOMEM;
    if (label_of(m, name, ASSAY__LABEL_BUSY, ASSAY__TIME_KERNEL, &label)) return ASSAY_ENOMEM;
    return add_span(m, begin_ns, end_ns, label);
}

/* Work of the group's streams as one: what overlaps or touches is one span. */
static int add_busy(struct maker *m, uint32_t group, const struct assay__idle_device *idle)
{
    const struct assay__events *events = m->events;
    int64_t begin_ns = 0, end_ns = 0;
    size_t at = 0;
    bool any = false;
    for (size_t i = 0; i < events->count; i++) {
        uint32_t track = events->track[i];
        if (!assay__event_is_work(events, i) || track >= events->track_count ||
            m->groups.of[track] != group)
            continue;
        if (any && events->start_ns[i] > end_ns) {
            if (end_busy(m, idle, &at, begin_ns, end_ns)) return ASSAY_ENOMEM;
            any = false;
        }
        if (!any) begin_ns = end_ns = events->start_ns[i];
        if (assay__event_end_ns(events, i) > end_ns) end_ns = assay__event_end_ns(events, i);
        any = true;
    }
    if (any && end_busy(m, idle, &at, begin_ns, end_ns)) return ASSAY_ENOMEM;
    return add_idle(m, idle, &at, INT64_MAX);
}

/* --- tracks ----------------------------------------------------------------------------------- */

/* A thread counts as one only if its process is known. */
static enum assay__drawn_kind kind_of(const struct assay__track *track)
{
    if (track->kind == ASSAY__TRACK_STREAM) return ASSAY__DRAWN_STREAM;
    return track->kind == ASSAY__TRACK_THREAD && track->pid >= 0 ? ASSAY__DRAWN_THREAD
                                                                 : ASSAY__DRAWN_OTHER;
}

static int count_events(struct maker *m)
{
    const struct assay__events *events = m->events;
    m->candidates = calloc(events->track_count + 1, sizeof *m->candidates);
    m->base = calloc(m->nesting.lane_count + 1, sizeof *m->base);
    if (!m->candidates || !m->base) return ASSAY_ENOMEM;
    m->candidate_count = events->track_count;
    for (size_t i = 0; i < events->track_count; i++)
        m->candidates[i] = (struct candidate){.track = (uint32_t)i,
                                              .group = m->groups.of[i],
                                              .rank = events->tracks[i].rank,
                                              .kind = kind_of(&events->tracks[i]),
                                              .place = SIZE_MAX};
    for (size_t i = 0; i < events->count; i++) {
        if (events->track[i] >= events->track_count) continue;
        struct candidate *c = &m->candidates[events->track[i]];
        c->events++;
        c->launches |= events->kind[i] == ASSAY__EVENT_LAUNCH ||
                       events->kind[i] == ASSAY__EVENT_SYNC;
    }
    for (int aside = 0; aside < 2; aside++)
        for (size_t i = 0; i < m->nesting.lane_count; i++) {
            const struct assay__lane *lane = &m->nesting.lanes[i];
            if (lane->track >= events->track_count || lane->aside != (aside == 1)) continue;
            m->base[i] = (uint32_t)m->candidates[lane->track].rows;
            m->candidates[lane->track].rows += lane->depths;
        }
    return 0;
}

static int by_events(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->events != b->events) return a->events > b->events ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* Devices, processes, the rest; of a process first the threads that use a device, then those with
 * most events. */
static int by_reading(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->launches != b->launches) return a->launches ? -1 : 1;
    return by_events(left, right);
}

/* Leaves out tracks without events, and of too many those with fewest. */
static void choose_tracks(struct maker *m)
{
    size_t count = 0;
    if (m->candidate_count)
        qsort(m->candidates, m->candidate_count, sizeof *m->candidates, by_events);
    while (count < m->candidate_count && m->candidates[count].events)
        count++;
    m->rows->tracks_left_out = count > TRACKS ? count - TRACKS : 0;
    m->candidate_count = count > TRACKS ? TRACKS : count;
    if (m->candidate_count)
        qsort(m->candidates, m->candidate_count, sizeof *m->candidates, by_reading);
}

static struct assay__drawn_track *add_track(struct maker *m, size_t row_count)
{
    struct assay__track_rows *rows = m->rows;
    if (assay__vec_grow((void **)&rows->tracks, &m->track_capacity, rows->track_count + 1,
                        sizeof *rows->tracks) ||
        assay__vec_grow((void **)&rows->rows, &m->row_capacity, rows->row_count + row_count,
                        sizeof *rows->rows))
        return NULL;
    struct assay__drawn_track *track = &rows->tracks[rows->track_count];
    *track = (struct assay__drawn_track){.first_row = rows->row_count, .row_count = row_count};
    for (size_t i = 0; i < row_count; i++)
        rows->rows[rows->row_count++] = (struct assay__drawn_row){
            .track = (uint32_t)rows->track_count};
    rows->track_count++;
    return track;
}

static const char *group_name(struct maker *m, const struct assay__track *t)
{
    struct assay__arena *arena = m->rows->arena;
    bool ranks = assay__tracks_have_ranks(m->events), stream = t->kind == ASSAY__TRACK_STREAM;
    const char *known = t->group && *t->group ? t->group : NULL;
    const char *name = known    ? known
                       : stream ? assay__arena_text(arena, "device %" PRId32, t->device)
                                : assay__arena_text(arena, "process %" PRId64, t->pid);
    return ranks ? assay__arena_text(arena, "rank %" PRId32 " · %s", t->rank, name) : name;
}

static const char *track_name(struct maker *m, const struct assay__track *t)
{
    if (t->name && *t->name) return t->name;
    if (t->kind == ASSAY__TRACK_STREAM)
        return assay__arena_text(m->rows->arena, "stream %" PRId64, t->stream);
    return assay__arena_text(m->rows->arena, "thread %" PRId64, t->tid);
}

/* The row above a device's streams: when any of them works, and why none does. */
static int add_device(struct maker *m, uint32_t group, const struct assay__track *of)
{
    size_t first = m->span_count;
    if (add_busy(m, group, idle_of(m, of))) return ASSAY_ENOMEM;
    struct assay__drawn_track *track = add_track(m, 1);
    if (!track) return ASSAY_ENOMEM;
    track->kind = ASSAY__DRAWN_DEVICE;
    track->name = "busy or idle";
    track->group = group_name(m, of);
    m->rows->rows[track->first_row].first = first;
    m->rows->rows[track->first_row].count = m->span_count - first;
    for (size_t i = first; i < m->span_count; i++)
        if (m->rows->labels[m->rows->device_spans[i].label].kind == ASSAY__LABEL_BUSY)
            track->busy_ns += m->rows->device_spans[i].busy_ns;
    if (m->span_count > first) /* idle time is between work */
        track->span_ns = m->rows->device_spans[m->span_count - 1].end_ns -
                         m->rows->device_spans[first].begin_ns;
    return 0;
}

static int add_tracks(struct maker *m)
{
    for (size_t i = 0; i < m->candidate_count; i++) {
        struct candidate *c = &m->candidates[i];
        const struct assay__track *of = &m->events->tracks[c->track];
        bool begins = !i || m->candidates[i - 1].group != c->group;
        if (begins && of->kind == ASSAY__TRACK_STREAM && add_device(m, c->group, of))
            return ASSAY_ENOMEM;
        c->place = m->rows->track_count;
        struct assay__drawn_track *track = add_track(m, c->rows < ROWS ? c->rows : ROWS);
        if (!track) return ASSAY_ENOMEM;
        m->rows->rows[m->rows->row_count - 1].overlaps = c->rows > ROWS;
        track->kind = c->kind;
        track->name = track_name(m, of);
        track->group = group_name(m, of);
        if (c->kind == ASSAY__DRAWN_OTHER) { /* neither device nor process: all in one group */
            track->name = assay__arena_text(m->rows->arena, "%s · %s", track->group, track->name);
            track->group = "other";
        }
        track->events = c->events;
    }
    return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* SIZE_MAX: its track is not drawn. */
static size_t row_of(const struct maker *m, const size_t *places, size_t event)
{
    uint32_t number = m->events->track[event];
    size_t place = number < m->events->track_count ? places[number] : SIZE_MAX;
    if (place == SIZE_MAX) return SIZE_MAX;
    const struct assay__drawn_track *track = &m->rows->tracks[place];
    size_t row = m->base[m->nesting.lane[event]] + (size_t)m->nesting.depth[event];
    return track->first_row + (row < track->row_count ? row : track->row_count - 1);
}

static void mark_nested(struct maker *m, const size_t *places)
{
    for (size_t i = 0; i < m->nesting.lane_count; i++) {
        const struct assay__lane *lane = &m->nesting.lanes[i];
        size_t place = lane->track < m->events->track_count ? places[lane->track] : SIZE_MAX;
        if (place == SIZE_MAX) continue;
        const struct assay__drawn_track *track = &m->rows->tracks[place];
        for (size_t d = 1; d < lane->depths && m->base[i] + d < track->row_count; d++)
            m->rows->rows[track->first_row + m->base[i] + d].nested = true;
    }
}

/* Counts the events of each row, and gives the row its part of `order`. */
static void measure_rows(struct maker *m, const size_t *places)
{
    struct assay__track_rows *rows = m->rows;
    size_t total = 0;
    for (size_t i = 0; i < m->events->count; i++) {
        size_t row = row_of(m, places, i);
        if (row != SIZE_MAX) rows->rows[row].count++;
    }
    for (size_t i = 0; i < rows->row_count; i++) {
        struct assay__drawn_row *row = &rows->rows[i];
        if (row->count > rows->longest_row) rows->longest_row = row->count;
        if (rows->tracks[row->track].kind == ASSAY__DRAWN_DEVICE) continue;
        row->first = total;
        total += row->count;
        row->count = 0;
    }
}

/* Events by row, each in order of time: counted, then placed. */
static int place_events(struct maker *m)
{
    struct assay__track_rows *rows = m->rows;
    size_t *places = calloc(m->events->track_count + 1, sizeof *places);
    rows->order = calloc(m->events->count + 1, sizeof *rows->order);
    int code = places && rows->order ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; !code && i < m->events->track_count; i++)
        places[i] = SIZE_MAX;
    for (size_t i = 0; !code && i < m->candidate_count; i++)
        places[m->candidates[i].track] = m->candidates[i].place;
    if (!code) measure_rows(m, places);
    if (!code) mark_nested(m, places);
    for (size_t i = 0; !code && i < m->events->count; i++) {
        size_t number = row_of(m, places, i);
        struct assay__drawn_row *row = number != SIZE_MAX ? &rows->rows[number] : NULL;
        if (row) rows->order[row->first + row->count++] = (uint32_t)i;
    }
    free(places);
    return code;
}

/* --- together --------------------------------------------------------------------------------- */

static int make(struct maker *m, struct assay_error *error)
{
    find_span(m);
    int code = assay__nesting_make(&m->nesting, m->events, true, error);
    if (!code) code = assay__track_groups_make(&m->groups, m->events, error);
    if (!code) code = label_events(m);
    if (!code) code = count_events(m);
    if (!code) choose_tracks(m);
    if (!code) code = add_tracks(m);
    if (!code) code = place_events(m);
    if (!code) code = rank_labels(m);
    return code || assay__arena_failed(m->rows->arena) ? assay__no_memory(error) : 0;
}

int assay__track_rows_new(const struct assay__timeline_input *input,
                          struct assay__track_rows **rows, struct assay_error *error)
{
    struct maker m = {.events = input->events};
    *rows = m.rows = calloc(1, sizeof *m.rows);
    if (!m.rows) return assay__no_memory(error);
    m.rows->input = *input;
    m.rows->arena = assay__arena_new();
    int code = make(&m, error);
    assay__nesting_free(&m.nesting);
    assay__track_groups_free(&m.groups);
    free(m.candidates);
    free(m.base);
    free(m.slots);
    if (code) {
        assay__track_rows_free(m.rows);
        *rows = NULL;
    }
    return code;
}

void assay__track_rows_free(struct assay__track_rows *rows)
{
    if (!rows) return;
    free(rows->tracks);
    free(rows->rows);
    free(rows->labels);
    free(rows->label);
    free(rows->order);
    free(rows->device_spans);
    assay__arena_free(rows->arena);
    free(rows);
}
