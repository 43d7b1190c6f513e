/* timeline_json.c - a timeline for the page's script (html/timeline.js): two attachments.
 *
 * "assay-timeline" is what is known of it: tracks with their rows, names, kinds, causes, counters.
 * A row has levels, from the events themselves to coarser and coarser forms of them
 * (track_spans.c), each [width, [count, begin, end, bytes, …]] with four numbers for each of its
 * chunks. "assay-timeline-data" is one text, the base64 of all chunks in that order, so that the
 * script decodes only what it draws: a chunk is filled up to a multiple of three bytes, its base64
 * stands alone.
 *
 * A span is LEB128 numbers: zigzag of its begin less the end of the span before it (of the first:
 * less the chunk's begin), its length, its label; then of an event what its row has (HAS_…): bytes,
 * correlation (0, or 1 + zigzag of its difference to the last), details + 1; of a coarser level the
 * number of its events less 1, and how much of it is busy, 0 … 255. Times count units of unit_ns
 * since the first event. */
#include "report/json/timeline_json.h"

#include "base/text.h"
#include "report/json/json_members.h"
#include "report/walk/html_text.h"
#include "trace/event_words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HAS_BYTES = 1, HAS_CORRELATION = 2, HAS_DETAILS = 4 };
enum {
    CHUNK = 4096,    /* spans */
    FEW = 1024,      /* with no more events than this a row needs no coarser level */
    STEP = 4,        /* one level is so much coarser than the one before */
    COARSEST = 1024, /* widths of the coarsest level in the whole */
    NAME_HEAD = 400, /* bytes kept of a long name … */
    NAME_TAIL = 200, /* … and of its end */
    SAMPLES = 20000, /* of a counter; more are thinned to their extremes */
    COUNTERS = 64,
};
#define NAMES_BYTES ((size_t)4 << 20) /* of all names; rarer ones are left out */
#define DETAILS_BYTES ((size_t)3 << 20)
#define UNITS_MOST ((int64_t)1 << 52) /* what a number of JavaScript counts exactly */

struct packer {
    const struct assay__track_rows *rows;
    struct assay__json_writer w;
    struct assay__buf *json, *data;
    struct assay__buf chunk;         /* bytes of the one that is made */
    struct assay__track_span *spans; /* of the row */
    uint32_t *detail;                /* of each number of arguments: its place + 1; 0: none */
    uint32_t *detailed;              /* the event that shows each detail */
    size_t detail_count, args_count;
    int shift; /* a unit is 2^shift ns */
};

/* --- numbers ---------------------------------------------------------------------------------- */

static void put_varint(struct assay__buf *out, uint64_t value)
{
    char bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (char)(value | 0x80);
    bytes[count++] = (char)value;
    assay__buf_add(out, bytes, count);
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t units(const struct packer *p, int64_t time_ns)
{
    return time_ns >> p->shift;
}

/* --- details ---------------------------------------------------------------------------------- */

static void put_sizes(struct assay__buf *out, const char *what, const uint32_t sizes[3])
{
    if (sizes[0] || sizes[1] || sizes[2])
        assay__buf_printf(out, "%s%s %" PRIu32 "x%" PRIu32 "x%" PRIu32, out->length ? ", " : "",
                          what, sizes[0], sizes[1], sizes[2]);
}

static void put_detail(struct assay__buf *out, const char *what, const char *text)
{
    if (text && *text)
        assay__buf_printf(out, "%s%s%s%.*s", out->length ? ", " : "", what, *what ? " " : "",
                          NAME_HEAD, text);
}

/* "grid 64x1x1, block 256x1x1" */
static void describe(struct assay__buf *out, const struct assay__event_args *a)
{
    put_detail(out, "", assay__copy_direction_name(a->direction));
    put_detail(out, "from", assay__memory_kind_name(a->from));
    put_detail(out, "to", assay__memory_kind_name(a->to));
    put_sizes(out, "grid", a->grid);
    put_sizes(out, "block", a->block);
    if (a->flops > 0) put_detail(out, "", assay__scaled(a->flops, "FLOP").text);
    put_detail(out, "type", a->operator_type);
    put_detail(out, "on", a->provider);
    put_detail(out, "shapes", a->shapes);
    put_detail(out, "types", a->types);
    put_detail(out, "collective", a->collective);
    put_detail(out, "stack", a->stack);
    put_detail(out, "", a->state);
}

/* Numbers the arguments that events have, in order of appearance; finds the greatest first. */
static bool number_details(struct packer *p)
{
    const struct assay__events *events = p->rows->input.events;
    for (size_t i = 0; i < events->count; i++)
        if (events->args[i] != ASSAY__EVENT_UNKNOWN && events->args[i] >= p->args_count)
            p->args_count = (size_t)events->args[i] + 1;
    p->detail = calloc(p->args_count + 1, sizeof *p->detail);
    p->detailed = calloc(p->args_count + 1, sizeof *p->detailed);
    if (!p->detail || !p->detailed) return false;
    for (size_t i = 0; i < events->count; i++) {
        if (events->args[i] == ASSAY__EVENT_UNKNOWN || p->detail[events->args[i]]) continue;
        p->detailed[p->detail_count] = (uint32_t)i;
        p->detail[events->args[i]] = (uint32_t)++p->detail_count;
    }
    return true;
}

/* Beyond the limit they are empty. */
static void put_details(struct packer *p)
{
    struct assay__buf text = {0};
    size_t bytes = 0;
    for (ASSAY__JSON_EACH(i, &p->w, "details", p->detail_count)) {
        assay__buf_clear(&text);
        if (bytes < DETAILS_BYTES)
            describe(&text, assay__event_args(p->rows->input.events, p->detailed[i]));
        bytes += text.length;
        assay__json_string(&p->w, assay__buf_text(&text));
    }
    assay__buf_drop(&text, p->json);
}

/* --- spans ------------------------------------------------------------------------------------ */

static unsigned columns_of(const struct packer *p, size_t count)
{
    const struct assay__events *events = p->rows->input.events;
    unsigned has = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t event = p->spans[i].event;
        if (event == ASSAY__EVENT_UNKNOWN) continue;
        if (events->bytes[event]) has |= HAS_BYTES;
        if (events->correlation[event]) has |= HAS_CORRELATION;
        if (events->args[event] != ASSAY__EVENT_UNKNOWN) has |= HAS_DETAILS;
    }
    return has;
}

static void put_event(struct packer *p, unsigned has, uint32_t event, uint64_t *last)
{
    const struct assay__events *events = p->rows->input.events;
    bool known = event != ASSAY__EVENT_UNKNOWN;
    uint64_t correlation = known ? events->correlation[event] : 0;
    if (has & HAS_BYTES) put_varint(&p->chunk, zigzag(known ? events->bytes[event] : 0));
    if (has & HAS_CORRELATION) {
        put_varint(&p->chunk, correlation ? zigzag((int64_t)(correlation - *last)) + 1 : 0);
        if (correlation) *last = correlation;
    }
    if (has & HAS_DETAILS) {
        bool any = known && events->args[event] != ASSAY__EVENT_UNKNOWN;
        put_varint(&p->chunk, any ? p->detail[events->args[event]] : 0);
    }
}

static void put_merged(struct packer *p, const struct assay__track_span *span)
{
    int64_t length_ns = span->end_ns - span->begin_ns;
    double share = length_ns > 0 ? (double)span->busy_ns / (double)length_ns : 1;
    put_varint(&p->chunk, span->count - 1);
    put_varint(&p->chunk, share >= 1 ? 255 : (uint64_t)(share * 255));
}

/* One chunk, and its four numbers. has: of events; UINT_MAX: of a coarser level. */
static void put_chunk(struct packer *p, const struct assay__track_span *spans, size_t count,
                      unsigned has)
{
    int64_t begin = units(p, spans[0].begin_ns), end = begin, most = begin;
    uint64_t last = 0;
    assay__buf_clear(&p->chunk);
    for (size_t i = 0; i < count; i++) {
        int64_t from = units(p, spans[i].begin_ns), to = units(p, spans[i].end_ns);
        put_varint(&p->chunk, zigzag(from - end));
        put_varint(&p->chunk, (uint64_t)(to - from));
        put_varint(&p->chunk, spans[i].label);
        if (has == UINT32_MAX)
            put_merged(p, &spans[i]);
        else
            put_event(p, has, spans[i].event, &last);
        end = to;
        if (end > most) most = end;
    }
    while (p->chunk.length % 3 && !p->chunk.failed)
        assay__buf_putc(&p->chunk, 0);
    if (p->chunk.failed) p->json->failed = true;
    assay__html_base64(p->data, p->chunk.data, p->chunk.length);
    const int64_t numbers[] = {(int64_t)count, begin, most, (int64_t)p->chunk.length};
    for (size_t i = 0; i < 4; i++)
        assay__json_integer(&p->w, numbers[i]);
}

static void put_level(struct packer *p, size_t count, int64_t width_ns, unsigned has)
{
    assay__json_array(&p->w);
    assay__json_integer(&p->w, units(p, width_ns));
    assay__json_array(&p->w);
    for (size_t i = 0; i < count; i += CHUNK)
        put_chunk(p, p->spans + i, count - i < CHUNK ? count - i : CHUNK, has);
    assay__json_array_end(&p->w);
    assay__json_array_end(&p->w);
}

/* The finest width that is worth a level: a few times the row's pace. */
static int64_t first_width_ns(const struct packer *p, size_t count, int64_t coarsest_ns)
{
    int64_t pace_ns = assay__spans_pace_ns(p->spans, count), width_ns = coarsest_ns;
    while (width_ns / STEP > 2 * pace_ns && width_ns / STEP > 1)
        width_ns /= STEP;
    return width_ns;
}

static void put_row(struct packer *p, size_t row)
{
    size_t count = p->rows->rows[row].count, before = count;
    int64_t coarsest_ns = assay__rows_since(p->rows, p->rows->end_ns) / COARSEST + 1;
    assay__row_spans(p->rows, row, p->spans);
    unsigned has = columns_of(p, count);
    assay__json_object(&p->w);
    assay__json_put_integer(&p->w, "has", has);
    if (p->rows->rows[row].nested) assay__json_put_bool(&p->w, "nested", true);
    assay__json_put_array(&p->w, "levels");
    put_level(p, count, 0, has);
    if (count > FEW)
        for (int64_t width_ns = first_width_ns(p, count, coarsest_ns);
             width_ns <= coarsest_ns && count > FEW; width_ns *= STEP) {
            count = assay__spans_coarsen(p->spans, count, width_ns);
            if (count > before / 2) continue; /* it saves too little */
            put_level(p, count, width_ns, UINT32_MAX);
            before = count;
        }
    assay__json_array_end(&p->w);
    assay__json_object_end(&p->w);
}

/* --- what is known of it ---------------------------------------------------------------------- */

/* A long name without its middle; cut between characters. */
static void put_name(struct packer *p, const char *name, struct assay__buf *text)
{
    size_t length = strlen(name), head = NAME_HEAD, tail = length - NAME_TAIL;
    if (length <= NAME_HEAD + NAME_TAIL) {
        assay__json_string(&p->w, name);
        return;
    }
    while (head && ((unsigned char)name[head] & 0xc0) == 0x80)
        head--;
    while (tail < length && ((unsigned char)name[tail] & 0xc0) == 0x80)
        tail++;
    assay__buf_clear(text);
    assay__buf_add(text, name, head);
    assay__buf_puts(text, "…");
    assay__buf_puts(text, name + tail);
    assay__json_string(&p->w, assay__buf_text(text));
}

static void put_labels(struct packer *p)
{
    const struct assay__track_rows *rows = p->rows;
    struct assay__buf text = {0};
    size_t bytes = 0;
    assay__json_put_object(&p->w, "labels");
    for (ASSAY__JSON_EACH(i, &p->w, "name", rows->label_count)) {
        size_t length = strlen(rows->labels[i].name);
        bytes += length < NAME_HEAD ? length : NAME_HEAD;
        put_name(p, bytes < NAMES_BYTES ? rows->labels[i].name : "(too many names to keep)", &text);
    }
    for (ASSAY__JSON_EACH(i, &p->w, "kind", rows->label_count))
        assay__json_integer(&p->w, rows->labels[i].kind);
    for (ASSAY__JSON_EACH(i, &p->w, "series", rows->label_count))
        assay__json_integer(&p->w, rows->labels[i].series);
    for (ASSAY__JSON_EACH(i, &p->w, "count", rows->label_count))
        assay__json_unsigned(&p->w, rows->labels[i].count);
    for (ASSAY__JSON_EACH(i, &p->w, "total_ns", rows->label_count))
        assay__json_number(&p->w, rows->labels[i].total_ns);
    assay__json_object_end(&p->w);
    assay__buf_drop(&text, p->json);
}

static void put_words(struct packer *p)
{
    const struct assay__timeline_input *input = &p->rows->input;
    for (ASSAY__JSON_EACH(i, &p->w, "classes", ASSAY__TIME_CLASSES))
        assay__json_string(&p->w, assay__time_class_names[i]);
    for (ASSAY__JSON_EACH(i, &p->w, "kinds", ASSAY__LABEL_KINDS))
        assay__json_string(&p->w, i == ASSAY__LABEL_BUSY   ? "busy"
                                  : i == ASSAY__LABEL_IDLE ? "idle"
                                                           : assay__event_kind_name(i));
    for (ASSAY__JSON_EACH(i, &p->w, "causes", input->cause_count))
        assay__json_record(&p->w, NULL, json_string("name", input->causes[i].name),
                           json_integer("series", input->causes[i].series));
}

static void put_tracks(struct packer *p)
{
    static const char *const kinds[] = {"device", "stream", "thread", "other"};
    for (ASSAY__JSON_EACH(i, &p->w, "tracks", p->rows->track_count)) {
        const struct assay__drawn_track *t = &p->rows->tracks[i];
        assay__json_object(&p->w);
        assay__json_members(&p->w, json_string("kind", kinds[t->kind]),
                            json_string("name", t->name), json_string("group", t->group),
                            json_integer("events", (int64_t)t->events));
        for (ASSAY__JSON_EACH(k, &p->w, "rows", t->row_count))
            put_row(p, t->first_row + k);
        assay__json_object_end(&p->w);
    }
}

/* --- counters --------------------------------------------------------------------------------- */

static void put_sample(struct packer *p, const struct assay__trace_counter *c, size_t at)
{
    assay__json_integer(&p->w, units(p, assay__rows_since(p->rows, c->times_ns[at])));
    assay__json_number(&p->w, c->values[at]);
}

/* Of each stretch of samples the least and the greatest, in their order. */
static void put_samples(struct packer *p, const struct assay__trace_counter *c)
{
    size_t step = c->count > SAMPLES ? c->count / (SAMPLES / 2) + 1 : 1;
    assay__json_put_array(&p->w, "samples");
    for (size_t i = 0; i < c->count; i += step) {
        size_t end = c->count - i < step ? c->count : i + step, low = i, high = i;
        for (size_t k = i; k < end; k++) {
            if (c->values[k] < c->values[low]) low = k;
            if (c->values[k] > c->values[high]) high = k;
        }
        put_sample(p, c, low < high ? low : high);
        if (low != high) put_sample(p, c, low < high ? high : low);
    }
    assay__json_array_end(&p->w);
}

static void put_counters(struct packer *p)
{
    const struct assay__events *events = p->rows->input.events;
    size_t count = events->counter_count < COUNTERS ? events->counter_count : COUNTERS;
    for (ASSAY__JSON_EACH(i, &p->w, "counters", count)) {
        const struct assay__trace_counter *c = &events->counters[i];
        const char *group = c->track < events->track_count ? events->tracks[c->track].group : NULL;
        assay__json_object(&p->w);
        assay__json_members(&p->w, json_string("name", c->name), json_string("unit", c->unit),
                            json_text("group", group), json_integer("count", (int64_t)c->count));
        put_samples(p, c);
        assay__json_object_end(&p->w);
    }
}

/* --- together --------------------------------------------------------------------------------- */

static void pack(struct packer *p)
{
    int64_t span_ns = assay__rows_since(p->rows, p->rows->end_ns);
    while (span_ns >> p->shift > UNITS_MOST)
        p->shift++;
    int64_t from = units(p, p->rows->from_ns), to = units(p, p->rows->to_ns);
    assay__json_start(&p->w, p->json, false);
    assay__json_object(&p->w);
    assay__json_members(&p->w, json_integer("unit_ns", (int64_t)1 << p->shift),
                        json_integer("span", units(p, span_ns)),
                        json_integer("from", to > from ? from : 0),
                        json_integer("to", to > from ? to : units(p, span_ns)),
                        json_integer("left_out", (int64_t)p->rows->tracks_left_out));
    put_words(p);
    put_labels(p);
    put_details(p);
    put_counters(p);
    put_tracks(p);
    assay__json_object_end(&p->w);
}

void assay__timeline_json(const struct assay__track_rows *rows, struct assay__buf *json,
                          struct assay__buf *data)
{
    struct packer p = {.rows = rows, .json = json, .data = data};
    p.spans = calloc(rows->longest_row + 1, sizeof *p.spans);
    assay__buf_putc(data, '"');
    if (p.spans && number_details(&p))
        pack(&p);
    else
        json->failed = true;
    assay__buf_putc(data, '"');
    assay__buf_drop(&p.chunk, json);
    free(p.spans);
    free(p.detail);
    free(p.detailed);
}

void assay__timeline_attach(struct assay__doc *doc, const struct assay__track_rows *rows)
{
    if (doc->attachment_count + 2 > ASSAY__ATTACHMENTS) return;
    struct assay__attachment *made = &doc->attachments[doc->attachment_count];
    made[0].id = "assay-timeline";
    made[1].id = "assay-timeline-data";
    made[1].pieces = true;
    assay__timeline_json(rows, &made[0].json, &made[1].json);
    doc->attachment_count += 2;
    if (made[0].json.failed || made[1].json.failed) doc->failed = true;
}
