/* track_rows.h - a timeline made ready to be drawn: its tracks in reading order, each with rows in
 * which no two events overlap, its distinct names, and why devices were idle. Drawn as a picture
 * (figures_timeline.c) and packed for the page's script (json/timeline_json.c); neither needs it
 * afterwards.
 *
 *   code = assay__track_rows_new(&input, &rows, error);
 *   figure = assay__timeline_figure(rows, arena);
 *   assay__timeline_attach(doc, rows);
 *   assay__track_rows_free(rows); */
#ifndef ASSAY_REPORT_FIGURE_TRACK_ROWS_H
#define ASSAY_REPORT_FIGURE_TRACK_ROWS_H

#include "base/arena.h"
#include "report/figure/palette.h"
#include "trace/events.h"
#include "trace/nesting.h"

/** An interval in which a device had no work. */
struct assay__idle_span {
    int64_t begin_ns, end_ns;
    uint8_t cause; /* place in the causes */
};
struct assay__idle_device {
    int32_t rank, device;
    const struct assay__idle_span *spans; /* ascending, apart from each other */
    size_t count;
};
struct assay__idle_cause {
    const char *name;     /* "launch overhead" */
    unsigned char series; /* its colour: that of the events which cause it */
};

/** What is drawn. Borrowed until the rows are freed. */
struct assay__timeline_input {
    const struct assay__events *events; /* sealed */
    const struct assay__idle_cause *causes;
    size_t cause_count;
    const struct assay__idle_device *idle; /* of some devices, or none */
    size_t idle_count;
};

/** The colours of events: what kind of time it is. Places in the palette's series. */
enum assay__time_class {
    ASSAY__TIME_KERNEL,
    ASSAY__TIME_COPY, /* and memsets */
    ASSAY__TIME_OPERATOR,
    ASSAY__TIME_SYNC, /* of the host, and waits of streams */
    ASSAY__TIME_LAUNCH,
    ASSAY__TIME_PYTHON,
    ASSAY__TIME_RUNTIME,
    ASSAY__TIME_OTHER, /* annotations, samples, what has no kind */
    ASSAY__TIME_CLASSES
};
extern const char *const assay__time_class_names[ASSAY__TIME_CLASSES];
enum assay__time_class assay__time_class_of(enum assay__event_kind kind);

/** Kinds of labels beside those of events. */
enum { ASSAY__LABEL_BUSY = ASSAY__EVENT_KINDS, ASSAY__LABEL_IDLE, ASSAY__LABEL_KINDS };

/** A name and what it names; the most frequent first. */
struct assay__label {
    const char *name;
    uint8_t kind;   /* enum assay__event_kind, ASSAY__LABEL_… */
    uint8_t series; /* its colour */
    uint64_t count;
    double total_ns;
};

enum assay__drawn_kind {
    ASSAY__DRAWN_DEVICE,
    ASSAY__DRAWN_STREAM,
    ASSAY__DRAWN_THREAD,
    ASSAY__DRAWN_OTHER
};

/** A track as it is drawn. */
struct assay__drawn_track {
    enum assay__drawn_kind kind;
    const char *name, *group; /* "stream 7", "NVIDIA H200" */
    size_t first_row, row_count;
    uint64_t events;
    int64_t busy_ns; /* of a device: any of its streams works … */
    int64_t span_ns; /* … from its first work to its last */
};

/** Events of one row, in order. */
struct assay__drawn_row {
    uint32_t track; /* place in the drawn tracks */
    size_t first, count;
    bool nested;   /* its events lie inside those of the row above */
    bool overlaps; /* the last of a deep track: what is deeper is in it too */
};

/** A stretch of a row: an event, or neighbours that are drawn as one. */
struct assay__track_span {
    int64_t begin_ns, end_ns;     /* since the rows' begin_ns */
    int64_t busy_ns;              /* of its events */
    int64_t weight_ns;            /* by which the label prevails (track_spans.c) */
    uint32_t label, count, event; /* event: of a single one its number; else ASSAY__EVENT_UNKNOWN */
};

struct assay__track_rows {
    struct assay__timeline_input input;
    int64_t begin_ns, end_ns;
    int64_t from_ns, to_ns; /* since begin_ns: what the program did; the profiler's own marks,
                               states of the machine and allocations may lie far outside */
    struct assay__drawn_track *tracks;
    size_t track_count, tracks_left_out;
    struct assay__drawn_row *rows;
    size_t row_count;
    struct assay__label *labels;
    size_t label_count;
    uint32_t *label; /* of each event */
    uint32_t *order; /* events by row; of a device's row places in `spans` */
    struct assay__track_span *device_spans;
    size_t longest_row;
    struct assay__arena *arena;
};

int assay__track_rows_new(const struct assay__timeline_input *input,
                          struct assay__track_rows **rows, struct assay_error *error);
void assay__track_rows_free(struct assay__track_rows *rows); /* NULL legal */

struct assay__figure;
/** The coarse picture of it, in the arena; NULL: out of memory, or there are no tracks. */
const struct assay__figure *assay__timeline_figure(const struct assay__track_rows *rows,
                                                   struct assay__arena *arena);

/** A time as what passed since begin_ns; what is absurdly late is at the end. */
#define ASSAY__SINCE_MOST (INT64_MAX / 4)
static inline int64_t assay__rows_since(const struct assay__track_rows *rows, int64_t time_ns)
{
    uint64_t passed = (uint64_t)time_ns - (uint64_t)rows->begin_ns;
    if (time_ns < rows->begin_ns) return 0;
    return passed > ASSAY__SINCE_MOST ? ASSAY__SINCE_MOST : (int64_t)passed;
}

/* --- spans (track_spans.c) -------------------------------------------------------------------- */

/** The events of a row as spans; room for its count. */
void assay__row_spans(const struct assay__track_rows *rows, size_t row,
                      struct assay__track_span *spans);
/** Joins neighbours that together are no longer than width_ns, in place; returns how many are
 *  left. */
size_t assay__spans_coarsen(struct assay__track_span *spans, size_t count, int64_t width_ns);
/** The time from one beginning to the next that half of them stay below; 0: there are none. */
int64_t assay__spans_pace_ns(const struct assay__track_span *spans, size_t count);

#endif
