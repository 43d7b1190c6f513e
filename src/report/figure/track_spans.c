/* track_spans.c - the events of a row, and coarser and coarser forms of them. Neighbours are joined
 * while together they are no longer than the width: at a scale where the width is a pixel the
 * picture stays the same, and a stretch of time holds at most about two spans for each width. A
 * joined span has the label that prevails by time (Boyer and Moore's majority vote, weighted by
 * time: certain for a label with more than half of it). */
#include "report/figure/track_rows.h"

#include <stdlib.h>

void assay__row_spans(const struct assay__track_rows *rows, size_t row,
                      struct assay__track_span *spans)
{
    const struct assay__drawn_row *of = &rows->rows[row];
    const struct assay__events *events = rows->input.events;
    bool device = rows->tracks[of->track].kind == ASSAY__DRAWN_DEVICE;
    for (size_t i = 0; i < of->count; i++) {
        if (device) {
            spans[i] = rows->device_spans[of->first + i];
            continue;
        }
        uint32_t event = rows->order[of->first + i];
        int64_t begin_ns = assay__rows_since(rows, events->start_ns[event]);
        int64_t end_ns = assay__rows_since(rows, assay__event_end_ns(events, event));
        spans[i] = (struct assay__track_span){.begin_ns = begin_ns,
                                              .end_ns = end_ns,
                                              .busy_ns = end_ns - begin_ns,
                                              .weight_ns = end_ns - begin_ns,
                                              .label = rows->label[event],
                                              .count = 1,
                                              .event = event};
    }
}

static int64_t sum(int64_t a, int64_t b)
{
    return a > ASSAY__SINCE_MOST - b ? ASSAY__SINCE_MOST : a + b;
}

/* The vote: the other label's time takes from the first's until it prevails. */
static void join(struct assay__track_span *into, const struct assay__track_span *next)
{
    if (next->label == into->label)
        into->weight_ns = sum(into->weight_ns, next->weight_ns);
    else if (next->weight_ns > into->weight_ns) {
        into->label = next->label;
        into->weight_ns = next->weight_ns - into->weight_ns;
    } else
        into->weight_ns -= next->weight_ns;
    if (next->end_ns > into->end_ns) into->end_ns = next->end_ns;
    into->busy_ns = sum(into->busy_ns, next->busy_ns);
    into->count = into->count > UINT32_MAX - next->count ? UINT32_MAX : into->count + next->count;
    into->event = ASSAY__EVENT_UNKNOWN;
}

size_t assay__spans_coarsen(struct assay__track_span *spans, size_t count, int64_t width_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct assay__track_span *last = kept ? &spans[kept - 1] : NULL;
        int64_t end_ns = last && last->end_ns > spans[i].end_ns ? last->end_ns : spans[i].end_ns;
        if (last && end_ns - last->begin_ns <= width_ns)
            join(last, &spans[i]);
        else
            spans[kept++] = spans[i];
    }
    return kept;
}

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Of a long row from some of its spans. */
int64_t assay__spans_pace_ns(const struct assay__track_span *spans, size_t count)
{
    enum { SOME = 1024 };
    int64_t paces_ns[SOME];
    size_t step = count / SOME + 1, taken = 0;
    for (size_t i = 0; i + 1 < count && taken < SOME; i += step)
        paces_ns[taken++] = spans[i + 1].begin_ns - spans[i].begin_ns;
    if (taken) qsort(paces_ns, taken, sizeof *paces_ns, by_value);
    return taken ? paces_ns[taken / 2] : 0;
}
