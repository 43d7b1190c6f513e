/* explain_timeline.c - the timeline of a trace in its document: tracks, and on each device's what
 * its idle time is lost to. Time that a device waits for the host is told apart by what the host
 * did; a cause has the colour of the events that cause it. */
#include "report/report_explain.h"

#include "report/figure/track_rows.h"
#include "report/json/timeline_json.h"

#include <stdlib.h>

/* Causes: the losses, and in place of waiting for the host one for each thing that it did. */
enum { CAUSES = ASSAY__LOSSES + ASSAY__HOST_CAUSES };

static const unsigned char loss_series[ASSAY__LOSSES] = {
    [ASSAY__LOSS_LAUNCHING] = ASSAY__TIME_LAUNCH,   [ASSAY__LOSS_TRANSFERS] = ASSAY__TIME_COPY,
    [ASSAY__LOSS_SYNCHRONISING] = ASSAY__TIME_SYNC, [ASSAY__LOSS_STARVATION] = ASSAY__TIME_OTHER,
    [ASSAY__LOSS_COMMUNICATING] = ASSAY__TIME_COPY, [ASSAY__LOSS_WAITING] = ASSAY__TIME_RUNTIME,
    [ASSAY__LOSS_PROFILING] = ASSAY__TIME_OTHER,    [ASSAY__LOSS_UNEXPLAINED] = ASSAY__TIME_OTHER};
static const unsigned char host_series[ASSAY__HOST_CAUSES] = {
    [ASSAY__HOST_QUEUED] = ASSAY__TIME_OTHER,    [ASSAY__HOST_LAUNCH] = ASSAY__TIME_LAUNCH,
    [ASSAY__HOST_SYNC] = ASSAY__TIME_SYNC,       [ASSAY__HOST_COPYING] = ASSAY__TIME_COPY,
    [ASSAY__HOST_RUNTIME] = ASSAY__TIME_RUNTIME, [ASSAY__HOST_CPU] = ASSAY__TIME_OPERATOR,
    [ASSAY__HOST_PYTHON] = ASSAY__TIME_PYTHON,   [ASSAY__HOST_UNTRACED] = ASSAY__TIME_OTHER,
    [ASSAY__HOST_PROFILER] = ASSAY__TIME_OTHER,  [ASSAY__HOST_UNSEEN] = ASSAY__TIME_OTHER};

static uint8_t cause_of(const struct assay__idle_gap *gap)
{
    enum assay__loss loss = assay__loss_of(gap->cause, gap->host);
    if (loss == ASSAY__LOSS_STARVATION) return (uint8_t)(ASSAY__LOSSES + gap->host);
    return (uint8_t)loss;
}

static void name_causes(struct assay__doc *doc, struct assay__idle_cause *causes)
{
    for (size_t i = 0; i < ASSAY__LOSSES; i++)
        causes[i] = (struct assay__idle_cause){assay__losses[i].meaning, loss_series[i]};
    for (size_t i = 0; i < ASSAY__HOST_CAUSES; i++)
        causes[ASSAY__LOSSES + i] = (struct assay__idle_cause){
            assay__doc_printf(doc, "%s (%s)", assay__losses[ASSAY__LOSS_STARVATION].meaning,
                              assay__host_causes[i].name),
            host_series[i]};
}

/* The gaps of every device, in one array that is the caller's to free. */
static struct assay__idle_span *list_idle(const struct assay__explain *x,
                                          struct assay__idle_device *devices)
{
    size_t count = 0, made = 0;
    for (size_t i = 0; i < x->device_count; i++)
        count += x->devices[i].gap.count;
    struct assay__idle_span *spans = calloc(count + 1, sizeof *spans);
    for (size_t i = 0; spans && i < x->device_count; i++) {
        const struct assay__explain_device *d = &x->devices[i];
        devices[i] = (struct assay__idle_device){
            .rank = d->rank, .device = d->device, .spans = spans + made, .count = d->gap.count};
        for (size_t k = 0; k < d->gap.count; k++)
            spans[made++] = (struct assay__idle_span){d->gaps[k].start_ns, d->gaps[k].end_ns,
                                                      cause_of(&d->gaps[k])};
    }
    return spans;
}

static void add(struct assay__doc *doc, const struct assay__track_rows *rows, bool page)
{
    const struct assay__figure *figure = assay__timeline_figure(rows, doc->arena);
    if (!figure) return;
    assay__doc_section(doc, "timeline", "Timeline", NULL, 0);
    assay__doc_figure(doc, figure, ASSAY__PICTURE_WIDE);
    assay__doc_end(doc);
    if (page) assay__timeline_attach(doc, rows);
}

void assay__add_explain_timeline(struct assay__doc *doc, const struct assay__explain *x, bool page)
{
    struct assay__idle_cause causes[CAUSES];
    struct assay__idle_device *devices = assay__doc_array(doc, x->device_count + 1,
                                                          sizeof *devices);
    struct assay__idle_span *spans = devices ? list_idle(x, devices) : NULL;
    struct assay__timeline_input input = {.events = x->events,
                                          .causes = causes,
                                          .cause_count = CAUSES,
                                          .idle = devices,
                                          .idle_count = x->device_count};
    struct assay__track_rows *rows = NULL;
    name_causes(doc, causes);
    if (!spans || assay__track_rows_new(&input, &rows, NULL))
        doc->failed = true;
    else
        add(doc, rows, page);
    assay__track_rows_free(rows);
    free(spans);
}
