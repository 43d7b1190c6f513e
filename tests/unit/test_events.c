/* test_events.c - the event store: order, interning, tracks, arguments, counters, limits and the
 * memory that it takes. */
#include "harness.h"

#include "trace/events.h"
#include "trace/texts.h"

static struct assay__event at(int64_t start_ns, int64_t duration_ns, const char *name)
{
    return (struct assay__event){.start_ns = start_ns,
                                 .duration_ns = duration_ns,
                                 .name = name,
                                 .name_length = SIZE_MAX,
                                 .kind = ASSAY__EVENT_CPU,
                                 .track = ASSAY__EVENT_UNKNOWN,
                                 .args = ASSAY__EVENT_UNKNOWN};
}

static void add(struct assay__events *events, int64_t start_ns, int64_t duration_ns,
                const char *name)
{
    struct assay__event event = at(start_ns, duration_ns, name);
    assay__events_add(events, &event);
}

/* --- order ------------------------------------------------------------------------------------ */

static void test_sorts_by_start_then_longest(void)
{
    struct assay__events *events = assay__events_new();
    add(events, 30, 5, "d");
    add(events, 10, 1, "b");
    add(events, 10, 9, "a");
    add(events, -7, 2, "first");
    add(events, 10, 1, "c");
    CHECK_INT(assay__events_seal(events, NULL), 0);
    static const char *const expected[] = {"first", "a", "b", "c", "d"};
    CHECK_INT(events->count, 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_STR(assay__event_name(events, i), expected[i]);
    CHECK_INT(assay__event_end_ns(events, 1), 19);
    CHECK(events->sealed);
    add(events, 0, 0, "late");
    CHECK_INT(events->count, 5);
    assay__events_free(events);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Every column moves with its event, whatever the order: runs, random, falling. */
static void check_order(size_t count, int shape)
{
    struct assay__events *events = assay__events_new();
    uint64_t state = 7;
    for (size_t i = 0; i < count; i++) {
        int64_t start = shape == 0   ? (int64_t)(next_random(&state) % (count / 2 + 1))
                        : shape == 1 ? (int64_t)(count - i)
                                     : (int64_t)(i % 100 * 1000 + i);
        struct assay__event event = at(start, (int64_t)(i % 3), NULL);
        event.correlation = i;
        event.bytes = start * 2;
        event.args = (uint32_t)i;
        event.track = (uint32_t)(i * 3);
        event.kind = (enum assay__event_kind)(i % ASSAY__EVENT_KINDS);
        assay__events_add(events, &event);
    }
    CHECK_INT(assay__events_seal(events, NULL), 0);
    CHECK_INT(events->count, count);
    for (size_t i = 0; i < count; i++) {
        uint64_t origin = events->correlation[i];
        CHECK(events->bytes[i] == events->start_ns[i] * 2);
        CHECK(events->args[i] == origin && events->track[i] == origin * 3);
        CHECK(events->kind[i] == origin % ASSAY__EVENT_KINDS);
        CHECK(events->duration_ns[i] == (int64_t)(origin % 3));
        if (!i) continue;
        CHECK(events->start_ns[i - 1] <= events->start_ns[i]);
        if (events->start_ns[i - 1] != events->start_ns[i]) continue;
        CHECK(events->duration_ns[i - 1] >= events->duration_ns[i]);
        if (events->duration_ns[i - 1] == events->duration_ns[i])
            CHECK(events->correlation[i - 1] < origin); /* equal ones keep their order */
    }
    assay__events_free(events);
}

static void test_all_columns_move(void)
{
    for (int shape = 0; shape < 3; shape++) {
        check_order(1, shape);
        check_order(2, shape);
        check_order(17, shape);
        check_order(20011, shape);
    }
}

static void test_empty(void)
{
    struct assay__events *events = assay__events_new();
    CHECK_INT(assay__events_seal(events, NULL), 0);
    CHECK_INT(events->count, 0);
    CHECK_STR(assay__events_text(events, ASSAY__EVENT_UNKNOWN), "");
    assay__events_free(events);
    assay__events_free(NULL);
}

static void test_impossible_events_are_counted(void)
{
    struct assay__events *events = assay__events_new();
    CHECK(assay__events_source(events) != NULL);
    add(events, 5, -1, "ends before it starts");
    add(events, INT64_MAX - 1, 2, "ends beyond the clock");
    add(events, INT64_MAX - 1, 1, "the last instant");
    add(events, INT64_MIN, INT64_MAX, "the longest");
    CHECK_INT(assay__events_seal(events, NULL), 0);
    CHECK_INT(events->count, 2);
    CHECK_INT(events->sources[0].events, 2);
    CHECK_INT(events->sources[0].skipped, 2);
    CHECK_STR(assay__event_name(events, 0), "the longest");
    assay__events_free(events);
}

/* --- texts ------------------------------------------------------------------------------------ */

static void test_interning(void)
{
    struct assay__events *events = assay__events_new();
    uint32_t first = assay__events_intern(events, "aten::mm and more", 8);
    CHECK_INT(assay__events_intern(events, "aten::mm", 8), first);
    CHECK(assay__events_intern(events, "aten::m", 7) != first);
    CHECK_STR(assay__events_text(events, first), "aten::mm");
    CHECK_INT(assay__events_intern(events, "aten::mm\0hidden", 15), first); /* a NUL ends it */
    uint32_t empty = assay__events_intern(events, "", 0);
    CHECK(empty != first && empty != ASSAY__EVENT_UNKNOWN);
    CHECK_INT(assay__events_text_count(events), 3);
    assay__events_free(events);
}

static void test_texts_are_utf8(void)
{
    struct assay__events *events = assay__events_new();
    uint32_t broken = assay__events_intern(events, "caf\xe9 \xff", 6);
    CHECK_STR(assay__events_text(events, broken), "caf\xef\xbf\xbd \xef\xbf\xbd");
    CHECK_INT(assay__events_intern(events, "caf\xe9 \xff", 6), broken);
    CHECK_STR(assay__events_keep(events, "µs é 日本"), "µs é 日本");
    CHECK_INT(assay__events_text_count(events), 2);
    assay__events_free(events);
}

static void test_many_texts(void)
{
    enum { COUNT = 200000 };
    struct assay__texts *texts = assay__texts_new();
    char text[64];
    bool limit = false;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            int length = snprintf(text, sizeof text, "kernel<%u, %u>", i * 7, i % 13);
            CHECK_INT(assay__texts_add(texts, text, (size_t)length, &limit), i);
        }
    CHECK_INT(assay__texts_count(texts), COUNT);
    CHECK_STR(assay__texts_get(texts, 3), "kernel<21, 3>");
    CHECK_INT(assay__texts_length(texts, 3), 13);
    CHECK(!limit);
    assay__texts_free(texts);
}

/* Lengths around the steps of the hash: every byte counts. */
static void test_every_byte_counts(void)
{
    char text[80];
    for (size_t length = 1; length < sizeof text; length++) {
        memset(text, 'x', sizeof text);
        uint64_t whole = assay__texts_hash(text, length, 1);
        CHECK(whole != assay__texts_hash(text, length - 1, 1));
        CHECK(whole != assay__texts_hash(text, length, 2));
        for (size_t i = 0; i < length; i++) {
            text[i] = 'y';
            CHECK(whole != assay__texts_hash(text, length, 1));
            text[i] = 'x';
        }
    }
}

static void test_too_much_text(void)
{
    struct assay__events *events = assay__events_new();
    struct assay_error error = {0};
    CHECK_INT(assay__events_intern(events, "ok", 2), 0);
    size_t size = ASSAY__TEXTS_MAX_BYTES / 4 + 2;
    char *huge = malloc(size);
    CHECK(huge != NULL);
    memset(huge, 'a', size);
    CHECK_INT(assay__events_intern(events, huge, size), ASSAY__EVENT_UNKNOWN);
    free(huge);
    add(events, 1, 1, "after the error");
    CHECK_INT(events->count, 0);
    CHECK_INT(assay__events_seal(events, &error), ASSAY_ELIMIT);
    assay__events_free(events);
}

/* --- tracks and arguments --------------------------------------------------------------------- */

static void test_tracks(void)
{
    struct assay__events *events = assay__events_new();
    struct assay__track track = {.kind = ASSAY__TRACK_THREAD, .pid = 4, .tid = 5, .device = -1};
    uint32_t first = assay__events_track(events, &track);
    CHECK_INT(assay__events_track(events, &track), first);
    CHECK(events->tracks[first].name == NULL);
    track.name = "main";
    CHECK_INT(assay__events_track(events, &track), first);
    CHECK_STR(events->tracks[first].name, "main");
    track.name = "another";
    CHECK_INT(assay__events_track(events, &track), first);
    CHECK_STR(events->tracks[first].name, "main"); /* the first name stays */
    struct assay__track others[] = {track, track, track, track, track, track};
    others[0].kind = ASSAY__TRACK_STREAM;
    others[1].rank = 1;
    others[2].pid = 5;
    others[3].tid = 4;
    others[4].device = 0;
    others[5].stream = 9;
    for (uint32_t i = 0; i < 6; i++)
        CHECK_INT(assay__events_track(events, &others[i]), first + 1 + i);
    CHECK_INT(events->track_count, 7);
    assay__events_free(events);
}

static void test_many_tracks(void)
{
    struct assay__events *events = assay__events_new();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            struct assay__track track = {.kind = ASSAY__TRACK_THREAD, .pid = i / 7, .tid = i};
            CHECK_INT(assay__events_track(events, &track), i);
        }
    CHECK_INT(events->track_count, 5000);
    assay__events_free(events);
}

static void test_changed_track_is_found(void)
{
    struct assay__events *events = assay__events_new();
    struct assay__track thread = {.kind = ASSAY__TRACK_THREAD, .pid = 1, .tid = 2};
    struct assay__track stream = {.kind = ASSAY__TRACK_STREAM, .stream = 7, .name = "stream 7"};
    uint32_t number = assay__events_track(events, &thread);
    assay__events_change_track(events, number, &stream);
    CHECK_STR(events->tracks[number].name, "stream 7");
    CHECK_INT(assay__events_track(events, &stream), number);
    CHECK_INT(assay__events_track(events, &thread), number + 1);
    assay__events_free(events);
}

static void test_args(void)
{
    struct assay__events *events = assay__events_new();
    struct assay__event_args none = {0}, args = {.grid = {1, 2, 3}, .shapes = "[[2, 3]]"};
    char shapes[] = "[[2, 3]]"; /* equal text at another place */
    CHECK_INT(assay__events_args(events, &none), ASSAY__EVENT_UNKNOWN);
    uint32_t first = assay__events_args(events, &args);
    args.shapes = shapes;
    CHECK_INT(assay__events_args(events, &args), first);
    args.block[2] = 1;
    uint32_t second = assay__events_args(events, &args);
    CHECK(second != first);
    struct assay__event event = at(0, 1, "mm");
    event.args = second;
    assay__events_add(events, &event);
    add(events, 1, 1, "without");
    CHECK_INT(assay__events_seal(events, NULL), 0);
    CHECK_INT(assay__event_args(events, 0)->block[2], 1);
    CHECK_INT(assay__event_args(events, 0)->grid[1], 2);
    CHECK_STR(assay__event_args(events, 0)->shapes, "[[2, 3]]");
    CHECK(assay__event_args(events, 1)->shapes == NULL);
    assay__events_free(events);
}

static void test_counters(void)
{
    struct assay__events *events = assay__events_new();
    size_t power = assay__events_counter(events, "power", "W", ASSAY__EVENT_UNKNOWN);
    CHECK_INT(assay__events_counter(events, "power", "W", ASSAY__EVENT_UNKNOWN), power);
    CHECK(assay__events_counter(events, "power", "W", 1) != power);
    for (int i = 0; i < 1000; i++)
        assay__events_sample(events, power, i ^ 1, i * 0.5);
    assay__events_sample(events, 99, 0, 1);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    const struct assay__trace_counter *counter = &events->counters[power];
    CHECK_INT(counter->count, 1000);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(counter->times_ns[i], i);
        CHECK_NEAR(counter->values[i], (i ^ 1) * 0.5, 0);
    }
    assay__events_free(events);
}

static void test_kind_names(void)
{
    for (int i = 0; i < ASSAY__EVENT_KINDS; i++) {
        const char *name = assay__event_kind_name((enum assay__event_kind)i);
        CHECK(name[0]);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(name, assay__event_kind_name((enum assay__event_kind)j)));
    }
    CHECK_STR(assay__event_kind_name(ASSAY__EVENT_KERNEL), "kernel");
    CHECK_STR(assay__event_kind_name(ASSAY__EVENT_OTHER), "other");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"sorts_by_start_then_longest", test_sorts_by_start_then_longest},
        {"all_columns_move", test_all_columns_move},
        {"empty", test_empty},
        {"impossible_events_are_counted", test_impossible_events_are_counted},
        {"interning", test_interning},
        {"texts_are_utf8", test_texts_are_utf8},
        {"many_texts", test_many_texts},
        {"every_byte_counts", test_every_byte_counts},
        {"too_much_text", test_too_much_text},
        {"tracks", test_tracks},
        {"many_tracks", test_many_tracks},
        {"changed_track_is_found", test_changed_track_is_found},
        {"args", test_args},
        {"counters", test_counters},
        {"kind_names", test_kind_names},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
