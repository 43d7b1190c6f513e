/* test_timeline.c - the timeline's rows, its coarser levels, what is packed for the page, and its
 * pictures: unpacked again every event is there, and no level loses time or events. */
#include "../harness.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/stats.h"
#include "report/figure/figure.h"
#include "report/figure/track_rows.h"
#include "report/json/timeline_json.h"

#include <limits.h>

enum { EVENTS = 20000 };

/* --- traces ----------------------------------------------------------------------------------- */

static struct assay__events *begin_trace(uint32_t *thread, uint32_t *stream)
{
    struct assay__events *events = assay__events_new();
    struct assay__track host = {.kind = ASSAY__TRACK_THREAD,
                                .pid = 5,
                                .tid = 6,
                                .device = -1,
                                .stream = -1,
                                .name = "main",
                                .group = "python3 (5)"};
    struct assay__track device = {.kind = ASSAY__TRACK_STREAM,
                                  .pid = -1,
                                  .tid = -1,
                                  .stream = 7,
                                  .name = "stream 7",
                                  .group = "NVIDIA H200"};
    *thread = assay__events_track(events, &host);
    *stream = assay__events_track(events, &device);
    return events;
}

static void add(struct assay__events *events, uint32_t track, enum assay__event_kind kind,
                const char *name, int64_t start_ns, int64_t duration_ns)
{
    assay__events_add(events, &(struct assay__event){.start_ns = start_ns,
                                                     .duration_ns = duration_ns,
                                                     .name = name,
                                                     .name_length = SIZE_MAX,
                                                     .kind = kind,
                                                     .track = track,
                                                     .correlation = (uint64_t)start_ns % 977,
                                                     .bytes = kind == ASSAY__EVENT_COPY ? -7 : 0,
                                                     .args = ASSAY__EVENT_UNKNOWN});
}

static struct assay__events *random_trace(uint64_t seed)
{
    static const char *const names[] = {"a", "b", "</script>", "\xe2\x80\xae", "c\"\\"};
    uint32_t thread, stream;
    struct assay__events *events = begin_trace(&thread, &stream);
    struct assay__random random;
    assay__random_seed(&random, seed);
    for (size_t i = 0; i < EVENTS; i++) {
        double place = assay__random_unit(&random);
        int64_t start_ns = 1790000000000000000 + (int64_t)(place * place * 2e7);
        add(events, i % 3 ? stream : thread, (enum assay__event_kind)(i % 3 ? i % 5 : 6 + i % 7),
            names[i % 5], start_ns, (int64_t)(assay__random_unit(&random) * 900));
    }
    CHECK_INT(assay__events_seal(events, NULL), 0);
    return events;
}

static struct assay__track_rows *rows_of(const struct assay__events *events)
{
    struct assay__track_rows *rows;
    struct assay__timeline_input input = {.events = events};
    CHECK_INT(assay__track_rows_new(&input, &rows, NULL), 0);
    return rows;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Every event has a place, and in a row none overlaps the one before it. */
static void test_rows_do_not_overlap(void)
{
    struct assay__events *events = random_trace(1);
    struct assay__track_rows *rows = rows_of(events);
    struct assay__track_span *spans = calloc(rows->longest_row + 1, sizeof *spans);
    size_t drawn = 0;
    for (size_t r = 0; r < rows->row_count; r++) {
        bool device = rows->tracks[rows->rows[r].track].kind == ASSAY__DRAWN_DEVICE;
        assay__row_spans(rows, r, spans);
        for (size_t i = 0; i < rows->rows[r].count; i++) {
            CHECK(!i || rows->rows[r].overlaps || spans[i].begin_ns >= spans[i - 1].end_ns);
            CHECK(spans[i].end_ns >= spans[i].begin_ns && spans[i].begin_ns >= 0);
        }
        if (!device) drawn += rows->rows[r].count;
    }
    CHECK_INT(drawn, EVENTS);
    free(spans);
    assay__track_rows_free(rows);
    assay__events_free(events);
}

/* Work of a stream is not pushed down by what is said of it. */
static void test_annotations_are_aside(void)
{
    uint32_t thread, stream;
    struct assay__events *events = begin_trace(&thread, &stream);
    add(events, stream, ASSAY__EVENT_DEVICE_RANGE, "step", 0, 100);
    add(events, stream, ASSAY__EVENT_KERNEL, "k", 10, 20);
    add(events, stream, ASSAY__EVENT_KERNEL, "k", 120, 20);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__track_rows *rows = rows_of(events);
    CHECK_INT(rows->track_count, 2); /* the device and its stream */
    CHECK_INT(rows->tracks[0].kind, ASSAY__DRAWN_DEVICE);
    CHECK_INT(rows->tracks[1].row_count, 2);
    CHECK_INT(rows->rows[rows->tracks[1].first_row].count, 2);
    CHECK_INT(rows->tracks[0].busy_ns, 40);
    CHECK_INT(rows->tracks[0].span_ns, 130);
    assay__track_rows_free(rows);
    assay__events_free(events);
}

/* The profiler's own marks may lie far outside of what the program did. */
static void test_marks_outside(void)
{
    uint32_t thread, stream;
    struct assay__events *events = begin_trace(&thread, &stream);
    struct assay__arena *arena = assay__arena_new();
    add(events, thread, ASSAY__EVENT_OTHER, "begin", 0, 0);
    add(events, thread, ASSAY__EVENT_CPU, "work", 1000, 500);
    add(events, stream, ASSAY__EVENT_KERNEL, "kernel", 1500, 1500);
    add(events, thread, ASSAY__EVENT_OTHER, "end", 9000, 0);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__track_rows *rows = rows_of(events);
    CHECK_INT(rows->end_ns - rows->begin_ns, 9000);
    CHECK_INT(rows->from_ns, 1000);
    CHECK_INT(rows->to_ns, 3000);
    const struct assay__figure *figure = assay__timeline_figure(rows, arena);
    CHECK(figure != NULL);
    assay__arena_free(arena);
    assay__track_rows_free(rows);
    assay__events_free(events);
}

static void test_idle_between_work(void)
{
    static const struct assay__idle_cause causes[] = {{"one", ASSAY__TIME_SYNC},
                                                      {"other", ASSAY__TIME_COPY}};
    static const struct assay__idle_span idle[] = {{10, 30, 1}, {40, 50, 0}};
    static const struct assay__idle_device devices[] = {{.spans = idle, .count = 2}};
    uint32_t thread, stream;
    struct assay__events *events = begin_trace(&thread, &stream);
    struct assay__track_rows *rows;
    add(events, stream, ASSAY__EVENT_KERNEL, "k", 0, 10);
    add(events, stream, ASSAY__EVENT_KERNEL, "k", 30, 10);
    add(events, stream, ASSAY__EVENT_COPY, "k", 50, 10);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__timeline_input input = {events, causes, 2, devices, 1};
    CHECK_INT(assay__track_rows_new(&input, &rows, NULL), 0);
    struct assay__track_span spans[8];
    static const char *const expected[] = {"busy", "other", "busy", "one", "busy"};
    CHECK_INT(rows->rows[0].count, 5);
    assay__row_spans(rows, 0, spans);
    for (size_t i = 0; i < 5; i++) {
        CHECK_STR(rows->labels[spans[i].label].name, expected[i]);
        CHECK(!i || spans[i].begin_ns == spans[i - 1].end_ns);
    }
    assay__track_rows_free(rows);
    assay__events_free(events);
}

/* --- levels ----------------------------------------------------------------------------------- */

/* A level keeps count and time, joins nothing beyond its width, and leaves no two that could be. */
static void test_levels_keep_everything(void)
{
    struct assay__events *events = random_trace(2);
    struct assay__track_rows *rows = rows_of(events);
    struct assay__track_span *spans = calloc(rows->longest_row + 1, sizeof *spans);
    size_t longest = 0;
    for (size_t r = 0; r < rows->row_count; r++)
        if (rows->rows[r].count > rows->rows[longest].count) longest = r;
    size_t count = rows->rows[longest].count, all = count, before = count;
    assay__row_spans(rows, longest, spans);
    int64_t busy_ns = 0;
    for (size_t i = 0; i < count; i++)
        busy_ns += spans[i].busy_ns;
    for (int64_t width_ns = 500; width_ns < 1000000; width_ns *= 4) {
        int64_t sum_ns = 0;
        uint64_t events_in = 0;
        count = assay__spans_coarsen(spans, count, width_ns);
        CHECK(count <= before);
        for (size_t i = 0; i < count; i++) {
            int64_t length_ns = spans[i].end_ns - spans[i].begin_ns;
            sum_ns += spans[i].busy_ns;
            events_in += spans[i].count;
            CHECK(spans[i].count == 1 || length_ns <= width_ns);
            CHECK(!i || spans[i].end_ns - spans[i - 1].begin_ns > width_ns);
        }
        CHECK_INT(sum_ns, busy_ns);
        CHECK_INT(events_in, all);
        before = count;
    }
    CHECK(count < 120); /* of 20 ms in widths of half a ms */
    free(spans);
    assay__track_rows_free(rows);
    assay__events_free(events);
}

static void test_the_longest_time_names_a_level(void)
{
    struct assay__track_span spans[] = {
        {.begin_ns = 0, .end_ns = 5, .busy_ns = 5, .weight_ns = 5, .label = 1, .count = 1},
        {.begin_ns = 5, .end_ns = 9, .busy_ns = 4, .weight_ns = 4, .label = 2, .count = 1},
        {.begin_ns = 9, .end_ns = 17, .busy_ns = 8, .weight_ns = 8, .label = 2, .count = 1},
        {.begin_ns = 17, .end_ns = 20, .busy_ns = 3, .weight_ns = 3, .label = 3, .count = 1}};
    CHECK_INT(assay__spans_coarsen(spans, 4, 20), 1);
    CHECK_INT(spans[0].label, 2);
    CHECK_INT(spans[0].busy_ns, 20);
}

/* --- packed ----------------------------------------------------------------------------------- */

struct bytes {
    unsigned char *data;
    size_t length, at;
};

static struct bytes unbase64(const struct assay__buf *text)
{
    struct bytes made = {.data = calloc(text->length + 1, 1)};
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 1; i + 4 < text->length + 1 && text->data[i] != '"'; i += 4) {
        uint32_t four = 0;
        for (size_t k = 0; k < 4; k++)
            four = four << 6 | (uint32_t)(strchr(digits, text->data[i + k]) - digits);
        for (int k = 2; k >= 0; k--)
            made.data[made.length++] = (unsigned char)(four >> 8 * k);
    }
    return made;
}

static uint64_t number(struct bytes *bytes)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        CHECK(bytes->at < bytes->length);
        unsigned char byte = bytes->data[bytes->at++];
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
}

static int64_t signed_number(struct bytes *bytes)
{
    uint64_t value = number(bytes);
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

struct unpacked {
    size_t fine, coarse; /* events: told one by one, and as counted by levels above */
    uint64_t hash;       /* of begin, length, name, kind, bytes and correlation of all events */
};

static uint64_t mixed(int64_t begin, int64_t length, const char *name, int64_t kind, int64_t bytes,
                      uint64_t correlation)
{
    uint64_t hash = 1469598103934665603u;
    const int64_t numbers[] = {begin, length, kind, bytes, (int64_t)correlation};
    for (size_t i = 0; i < 5; i++)
        hash = (hash ^ (uint64_t)numbers[i]) * 1099511628211u ^ hash >> 29;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return hash;
}

static const struct assay__json *at(const struct assay__json *list, size_t index)
{
    const struct assay__json *item = list->first;
    while (index--)
        item = item->next;
    return item;
}

static void read_chunk(const struct assay__json *labels, struct bytes *bytes, const int64_t head[4],
                       int64_t has, bool fine, bool device, struct unpacked *into)
{
    size_t end = bytes->at + (size_t)head[3];
    int64_t last = head[1];
    uint64_t known = 0;
    for (int64_t i = 0; i < head[0]; i++) {
        int64_t begin = last + signed_number(bytes), length = (int64_t)number(bytes), size = 0;
        size_t label = number(bytes);
        uint64_t correlation = 0;
        last = begin + length;
        CHECK(begin >= head[1] && last <= head[2]);
        if (!fine) {
            into->coarse += number(bytes) + 1;
            CHECK(number(bytes) <= 255);
            continue;
        }
        if (has & 1) size = signed_number(bytes);
        if (has & 2) {
            uint64_t value = number(bytes);
            if (value) known += (value - 1) >> 1 ^ (0 - ((value - 1) & 1));
            correlation = value ? known : 0;
        }
        if (has & 4) number(bytes);
        if (device) continue;
        into->fine++;
        into->hash += mixed(begin, length, at(assay__json_get(labels, "name"), label)->string,
                            at(assay__json_get(labels, "kind"), label)->integer, size, correlation);
    }
    CHECK(bytes->at <= end && end - bytes->at < 3);
    bytes->at = end;
}

static struct unpacked unpack(const struct assay__json *root, struct bytes *bytes)
{
    struct unpacked made = {0};
    const struct assay__json *labels = assay__json_get(root, "labels");
    for (const struct assay__json *t = assay__json_get(root, "tracks")->first; t; t = t->next)
        for (const struct assay__json *r = assay__json_get(t, "rows")->first; r; r = r->next)
            for (const struct assay__json *l = assay__json_get(r, "levels")->first; l;
                 l = l->next) {
                const struct assay__json *chunk = l->first->next->first;
                while (chunk) {
                    int64_t head[4];
                    for (int i = 0; i < 4; i++, chunk = chunk->next)
                        head[i] = chunk->integer;
                    read_chunk(labels, bytes, head, assay__json_get_integer(r, "has", 0),
                               l->first->integer == 0,
                               strcmp(assay__json_get_string(t, "kind", ""), "device") == 0, &made);
                }
            }
    return made;
}

static void test_packed_events_are_all_there(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__events *events = random_trace(3);
    struct assay__track_rows *rows = rows_of(events);
    struct assay__buf json = {0}, data = {0};
    struct assay__json *root;
    struct assay_error error;
    uint64_t expected = 0;
    assay__timeline_json(rows, &json, &data);
    CHECK(!json.failed && !data.failed);
    CHECK_INT(assay__json_parse(arena, json.data, json.length, &root, &error), 0);
    struct bytes bytes = unbase64(&data);
    struct unpacked found = unpack(root, &bytes);
    CHECK_INT(bytes.at, bytes.length);
    CHECK_INT(found.fine, EVENTS);
    CHECK(found.coarse >= EVENTS / 4); /* long rows have levels */
    for (size_t i = 0; i < EVENTS; i++)
        expected += mixed(events->start_ns[i] - events->start_ns[0], events->duration_ns[i],
                          assay__event_name(events, i), events->kind[i], events->bytes[i],
                          events->correlation[i]);
    CHECK(found.hash == expected);
    free(bytes.data);
    assay__buf_free(&json);
    assay__buf_free(&data);
    assay__track_rows_free(rows);
    assay__events_free(events);
    assay__arena_free(arena);
}

/* From one end of time to the other: more than JavaScript counts exactly. */
static void test_absurd_times(void)
{
    uint32_t thread, stream;
    struct assay__events *events = begin_trace(&thread, &stream);
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf json = {0}, data = {0};
    struct assay__json *root;
    struct assay_error error;
    add(events, stream, ASSAY__EVENT_KERNEL, "first", INT64_MIN, 5);
    add(events, stream, ASSAY__EVENT_KERNEL, "last", INT64_MAX - 5, 5);
    add(events, thread, ASSAY__EVENT_CPU, "all", INT64_MIN, INT64_MAX);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__track_rows *rows = rows_of(events);
    CHECK(assay__timeline_figure(rows, arena) != NULL);
    assay__timeline_json(rows, &json, &data);
    CHECK_INT(assay__json_parse(arena, json.data, json.length, &root, &error), 0);
    CHECK(assay__json_get_integer(root, "span", -1) <= (int64_t)1 << 53);
    CHECK(assay__json_get_integer(root, "unit_ns", 0) > 1);
    struct bytes bytes = unbase64(&data);
    CHECK_INT(unpack(root, &bytes).fine, 3);
    free(bytes.data);
    assay__buf_free(&json);
    assay__buf_free(&data);
    assay__track_rows_free(rows);
    assay__events_free(events);
    assay__arena_free(arena);
}

/* --- pictures --------------------------------------------------------------------------------- */

static const struct assay__figure *known_figure(struct assay__events **made,
                                                struct assay__arena *arena)
{
    static const struct assay__idle_cause causes[] = {{"launch overhead", ASSAY__TIME_LAUNCH}};
    static const struct assay__idle_span idle[] = {{300, 900, 0}};
    static const struct assay__idle_device devices[] = {{.spans = idle, .count = 1}};
    uint32_t thread, stream;
    struct assay__events *events = *made = begin_trace(&thread, &stream);
    add(events, thread, ASSAY__EVENT_RANGE, "step", 0, 1200);
    add(events, thread, ASSAY__EVENT_OPERATOR, "<op & \"so\">", 0, 600);
    add(events, stream, ASSAY__EVENT_KERNEL, "k", 0, 300);
    add(events, stream, ASSAY__EVENT_KERNEL, "k", 900, 300);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__timeline_input input = {events, causes, 1, devices, 1};
    struct assay__track_rows *rows;
    CHECK_INT(assay__track_rows_new(&input, &rows, NULL), 0);
    const struct assay__figure *figure = assay__timeline_figure(rows, arena);
    assay__track_rows_free(rows);
    CHECK(figure != NULL);
    return figure;
}

/* The step around everything leaves the operator inside it its time. */
static void test_columns(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__events *events;
    const struct assay__figure_timeline *t = known_figure(&events, arena)->timeline;
    CHECK_INT(t->band_count, 3);
    CHECK_NEAR(t->bands[0].busy, 0.5, 1e-9);
    CHECK_NEAR(t->causes[0].share, 0.5, 1e-9);
    for (size_t i = 0; i < ASSAY__BAND_COLUMNS; i++) {
        bool busy = i < 300 || i >= 900;
        CHECK_NEAR(t->bands[0].share[i], busy, 1e-4);
        CHECK_NEAR(t->bands[0].idle[i], !busy, 1e-4);
        CHECK_INT(t->bands[0].cause[i], busy ? UCHAR_MAX : 0);
        CHECK_NEAR(t->bands[2].share[i], 1, 1e-4);
        CHECK_INT(t->bands[2].series[i], i < 600 ? ASSAY__TIME_OPERATOR : ASSAY__TIME_OTHER);
    }
    assay__events_free(events);
    assay__arena_free(arena);
}

static void test_text(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__events *events;
    const struct assay__figure *figure = known_figure(&events, arena);
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = 55, .ascii = true};
    assay__figure_text(&page, figure);
    CHECK_HAS(out.data, "    busy                50 %  ######            ######\n");
    CHECK_HAS(out.data, "    idle because                    llllllllllll\n");
    CHECK_HAS(out.data, "    stream 7                  ######            ######\n");
    CHECK_HAS(out.data, "    main                      ########################\n");
    assay__buf_free(&out);
    assay__events_free(events);
    assay__arena_free(arena);
}

static void test_svg(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__events *events;
    const struct assay__figure *figure = known_figure(&events, arena);
    for (double width = 320; width < 1400; width *= 2) {
        struct assay__buf out = {0};
        assay__figure_svg(&out, figure, &(struct assay__svg_options){.width = width, .id = "x"});
        CHECK(!out.failed && out.length > 1000 && out.length < 20000);
        CHECK_HAS(out.data, "NVIDIA H200");
        CHECK(!strstr(out.data, "nan") && !strstr(out.data, "<op"));
        assay__buf_free(&out);
    }
    assay__events_free(events);
    assay__arena_free(arena);
}

static void test_nothing_to_draw(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__events *events = assay__events_new();
    struct assay__buf json = {0}, data = {0};
    CHECK_INT(assay__events_seal(events, NULL), 0);
    struct assay__track_rows *rows = rows_of(events);
    CHECK(assay__timeline_figure(rows, arena) == NULL);
    assay__timeline_json(rows, &json, &data);
    CHECK_STR(data.data, "\"\"");
    assay__buf_free(&json);
    assay__buf_free(&data);
    assay__track_rows_free(rows);
    assay__events_free(events);
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"rows_do_not_overlap", test_rows_do_not_overlap},
        {"annotations_are_aside", test_annotations_are_aside},
        {"marks_outside", test_marks_outside},
        {"idle_between_work", test_idle_between_work},
        {"levels_keep_everything", test_levels_keep_everything},
        {"the_longest_time_names_a_level", test_the_longest_time_names_a_level},
        {"packed_events_are_all_there", test_packed_events_are_all_there},
        {"absurd_times", test_absurd_times},
        {"columns", test_columns},
        {"text", test_text},
        {"svg", test_svg},
        {"nothing_to_draw", test_nothing_to_draw},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
