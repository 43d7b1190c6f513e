/* export_speedscope.c - speedscope's file format: frames (the names) once, then an evented profile
 * for each lane (nesting.h), in which frames open and close in order of time. Times are ns since
 * the first event, which a double of JavaScript holds exactly for a hundred days. Counters have no
 * place in it. */
#include "base/json.h"
#include "trace/exporters.h"

#include <assay/api.h>
#include <inttypes.h>
#include <stdlib.h>

struct speedscope {
    struct assay__export *to;
    struct assay__open_events open;
    struct assay__buf name, group;
    uint32_t *order; /* events by lane, of each in the store's order */
    size_t *first;   /* of a lane in it */
    uint32_t *frame; /* of each text; ASSAY__EVENT_UNKNOWN: no event has it */
    size_t frame_count;
    uint64_t last_ns; /* of the profile that is written */
    bool any;         /* it has an event */
};

static void put_string(struct assay__buf *out, const char *text)
{
    struct assay__json_writer writer;
    assay__json_start(&writer, out, false);
    assay__json_string(&writer, text);
}

/* --- frames ----------------------------------------------------------------------------------- */

static size_t text_of(const struct assay__events *events, size_t event)
{
    size_t count = assay__events_text_count(events);
    return events->name[event] < count ? events->name[event] : count;
}

static void put_frames(struct speedscope *s)
{
    const struct assay__events *events = s->to->events;
    for (size_t i = 0; i < events->count && !assay__export_failed(s->to); i++) {
        uint32_t *frame = &s->frame[text_of(events, i)];
        if (*frame != ASSAY__EVENT_UNKNOWN) continue;
        assay__buf_puts(&s->to->out, s->frame_count ? ",\n{\"name\":" : "\n{\"name\":");
        put_string(&s->to->out, assay__event_name(events, i));
        assay__buf_putc(&s->to->out, '}');
        assay__export_flush(s->to);
        *frame = (uint32_t)s->frame_count++;
    }
}

/* --- profiles --------------------------------------------------------------------------------- */

static void put_mark(struct speedscope *s, char type, size_t event, int64_t time_ns)
{
    uint64_t at_ns = assay__export_since(s->to, time_ns);
    assay__buf_printf(&s->to->out, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRIu64 "}",
                      s->any ? "," : "", type, s->frame[text_of(s->to->events, event)], at_ns);
    s->last_ns = at_ns;
    s->any = true;
    assay__export_flush(s->to);
}

static void close_frame(void *context, size_t event)
{
    struct speedscope *s = context;
    put_mark(s, 'C', event, assay__event_end_ns(s->to->events, event));
}

/* "python3 (1234) · thread 1234", and which of its lanes if there are several. */
static void put_profile_name(struct speedscope *s, size_t lane)
{
    const struct assay__lane *of = &s->to->nesting.lanes[lane];
    assay__export_group_name(s->to, of->track, &s->group);
    assay__export_track_name(s->to, of->track, &s->name);
    if (s->group.length) assay__buf_puts(&s->group, " · ");
    assay__buf_puts(&s->group, assay__buf_text(&s->name));
    if (of->index) assay__buf_printf(&s->group, " (%" PRIu32 ")", of->index + 1);
    put_string(&s->to->out, assay__buf_text(&s->group));
}

static void put_profile(struct speedscope *s, size_t lane)
{
    const struct assay__nesting *n = &s->to->nesting;
    struct assay__buf *out = &s->to->out;
    assay__buf_puts(out, lane ? ",\n{\"type\":\"evented\",\"name\":"
                              : "\n{\"type\":\"evented\",\"name\":");
    put_profile_name(s, lane);
    assay__buf_puts(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[");
    s->any = false;
    s->last_ns = 0;
    for (size_t i = s->first[lane]; i < s->first[lane + 1] && !assay__export_failed(s->to); i++) {
        size_t event = s->order[i];
        assay__open_events_end(&s->open, lane, n->depth[event], close_frame, s);
        put_mark(s, 'O', event, s->to->events->start_ns[event]);
        assay__open_events_begin(&s->open, n, event);
    }
    assay__open_events_end(&s->open, lane, 0, close_frame, s);
    assay__buf_printf(out, "],\"endValue\":%" PRIu64 "}", s->last_ns);
}

/* Events by lane: counted, then placed. */
static void sort_by_lane(struct speedscope *s)
{
    const struct assay__nesting *n = &s->to->nesting;
    size_t count = s->to->events->count;
    for (size_t i = 0; i < count; i++)
        s->first[n->lane[i] + 1]++;
    for (size_t i = 0; i < n->lane_count; i++)
        s->first[i + 1] += s->first[i];
    for (size_t i = count; i-- > 0;) /* backwards, which leaves `first` at the beginnings */
        s->order[--s->first[n->lane[i] + 1]] = (uint32_t)i;
    for (size_t i = 0; i < n->lane_count; i++)
        s->first[i] = s->first[i + 1];
    s->first[n->lane_count] = count;
}

static void run_with(struct speedscope *s)
{
    struct assay__buf *out = &s->to->out;
    for (size_t i = 0; i <= assay__events_text_count(s->to->events); i++)
        s->frame[i] = ASSAY__EVENT_UNKNOWN;
    sort_by_lane(s);
    assay__buf_puts(out,
                    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                    "\"exporter\":\"assay " ASSAY_VERSION_STRING "\",\"shared\":{\"frames\":[");
    put_frames(s);
    assay__buf_puts(out, "]},\n\"profiles\":[");
    for (size_t i = 0; i < s->to->nesting.lane_count && !assay__export_failed(s->to); i++)
        put_profile(s, i);
    assay__buf_puts(out, "]}\n");
}

static void run(struct assay__export *to)
{
    struct speedscope s = {.to = to};
    s.order = calloc(to->events->count + 1, sizeof *s.order);
    s.first = calloc(to->nesting.lane_count + 2, sizeof *s.first);
    s.frame = calloc(assay__events_text_count(to->events) + 1, sizeof *s.frame);
    if (s.order && s.first && s.frame &&
        !assay__open_events_make(&s.open, &to->nesting, &to->error))
        run_with(&s);
    else
        assay__export_no_memory(to);
    assay__open_events_free(&s.open);
    assay__buf_drop(&s.name, &to->out);
    assay__buf_drop(&s.group, &to->out);
    free(s.order);
    free(s.first);
    free(s.frame);
}

const struct assay__exporter assay__exporter_speedscope = {
    .name = "speedscope",
    .title = "speedscope JSON, for www.speedscope.app",
    .extension = "speedscope.json",
    .run = run,
};
