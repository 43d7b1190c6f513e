/* export.c - see export.h: the registry, the stream, and the names of tracks, which all formats
 * share. */
#include "trace/export.h"

#include "base/no_memory.h"
#include "trace/exporters.h"
#include "trace/track_groups.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FLUSH_BYTES = 256 * 1024 };

#define ROW(name) &assay__exporter_##name,
static const struct assay__exporter *const exporters[] = {ASSAY__EXPORTERS(ROW)};

const struct assay__exporter *const *assay__exporters(size_t *count)
{
    *count = sizeof exporters / sizeof *exporters;
    return exporters;
}

/* --- the stream ------------------------------------------------------------------------------- */

static void hand_on(struct assay__export *to)
{
    if (!to->error.code && !to->out.failed && to->out.length)
        to->write(to->context, to->out.data, to->out.length, &to->error);
    if (!to->out.failed) assay__buf_clear(&to->out);
}

void assay__export_flush(struct assay__export *to)
{
    if (to->out.length >= FLUSH_BYTES) hand_on(to);
}

bool assay__export_failed(const struct assay__export *to)
{
    return to->error.code || to->out.failed;
}

void assay__export_no_memory(struct assay__export *to)
{
    to->out.failed = true;
}

int assay__export_to_file(void *context, const void *bytes, size_t size, struct assay_error *error)
{
    if (fwrite(bytes, 1, size, context) == size) return 0;
    return assay_error_set(error, ASSAY_EIO, "cannot write: %s", strerror(errno));
}

/* --- names ------------------------------------------------------------------------------------ */

void assay__export_track_name(struct assay__export *to, uint32_t track, struct assay__buf *out)
{
    assay__buf_clear(out);
    if (track >= to->events->track_count) {
        assay__buf_puts(out, "no track");
        return;
    }
    const struct assay__track *t = &to->events->tracks[track];
    if (t->name && *t->name)
        assay__buf_puts(out, t->name);
    else if (t->kind == ASSAY__TRACK_STREAM)
        assay__buf_printf(out, "stream %" PRId64, t->stream);
    else if (t->kind == ASSAY__TRACK_THREAD)
        assay__buf_printf(out, "thread %" PRId64, t->tid);
    else
        assay__buf_puts(out, "other");
}

void assay__export_group_name(struct assay__export *to, uint32_t track, struct assay__buf *out)
{
    assay__buf_clear(out);
    if (track >= to->events->track_count) return;
    const struct assay__track *t = &to->events->tracks[track];
    if (to->ranks) assay__buf_printf(out, "rank %" PRId32 " · ", t->rank);
    if (t->group && *t->group)
        assay__buf_puts(out, t->group);
    else if (t->kind == ASSAY__TRACK_STREAM)
        assay__buf_printf(out, "device %" PRId32, t->device);
    else
        assay__buf_printf(out, "process %" PRId64, t->pid);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void widen(struct assay__export *to, bool *any, int64_t begin_ns, int64_t end_ns)
{
    if (!*any || begin_ns < to->begin_ns) to->begin_ns = begin_ns;
    if (!*any || end_ns > to->end_ns) to->end_ns = end_ns;
    *any = true;
}

static void find_span(struct assay__export *to)
{
    const struct assay__events *events = to->events;
    bool any = false;
    for (size_t i = 0; i < events->count; i++)
        widen(to, &any, events->start_ns[i], assay__event_end_ns(events, i));
    for (size_t i = 0; i < events->counter_count; i++) {
        const struct assay__trace_counter *c = &events->counters[i];
        if (c->count) widen(to, &any, c->times_ns[0], c->times_ns[c->count - 1]);
    }
}

static int unknown(const char *format, struct assay_error *error)
{
    struct assay__buf names = {0};
    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++)
        assay__buf_join(&names, exporters[i]->name);
    int code = assay_error_set(error, ASSAY_EINVAL, "no export format '%s'; there are: %s", format,
                               assay__buf_text(&names));
    assay__buf_free(&names);
    return code;
}

int assay__export(const struct assay__events *events, const char *format,
                  assay__export_write *write, void *context, struct assay_error *error)
{
    struct assay__export to = {.events = events,
                               .write = write,
                               .context = context,
                               .ranks = assay__tracks_have_ranks(events)};
    const struct assay__exporter *chosen = NULL;
    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++)
        if (strcmp(exporters[i]->name, format) == 0) chosen = exporters[i];
    if (!chosen) return unknown(format, error);
    int code = assay__nesting_make(&to.nesting, events, false, error);
    if (!code) {
        find_span(&to);
        chosen->run(&to);
        hand_on(&to);
        if (to.out.failed && !to.error.code) assay__no_memory(&to.error);
        if (to.error.code && error) *error = to.error;
        code = to.error.code;
    }
    assay__nesting_free(&to.nesting);
    assay__buf_free(&to.out);
    return code;
}
