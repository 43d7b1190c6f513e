/* test_events_profile.c - a timeline in a profile: written and read back as it was, shown by `assay
 * query`, and refused where the file was tampered with. */
#include "import_fixture.h"

#include "profile/chunk.h"
#include "trace/events_profile.h"

#include <sqlite3.h>

static const char *saved(const struct assay__events *events)
{
    struct assay__store *store;
    struct assay_error error = {0};
    const char *path = scratch("t.assay");
    CHECK_INT(assay__store_create(path, &store, &error), 0);
    CHECK_INT(assay__events_save(events, store, &error), 0);
    CHECK_INT(assay__store_finish(store, true, false, &error), 0);
    return path;
}

static struct assay__events *loaded(const char *path)
{
    struct assay__events *events;
    struct assay_error error = {0};
    int code = assay__events_load(path, &events, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return events;
}

static void edit(const char *path, const char *sql)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* --- the same again --------------------------------------------------------------------------- */

static void check_text(const char *a, const char *b)
{
    CHECK((a == NULL) == (b == NULL));
    if (a) CHECK_STR(a, b);
}

static void check_args(const struct assay__event_args *a, const struct assay__event_args *b)
{
    CHECK(a->direction == b->direction && a->from == b->from && a->to == b->to);
    CHECK(!memcmp(a->grid, b->grid, sizeof a->grid) &&
          !memcmp(a->block, b->block, sizeof a->block));
    CHECK(a->flops == b->flops && a->group_size == b->group_size);
    const char *const left[] = {a->operator_type, a->provider, a->shapes, a->types,
                                a->collective,    a->stack,    a->state};
    const char *const right[] = {b->operator_type, b->provider, b->shapes, b->types,
                                 b->collective,    b->stack,    b->state};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        check_text(left[i], right[i]);
}

static void check_columns(const struct assay__events *a, const struct assay__events *b)
{
    CHECK_INT(b->count, a->count);
    CHECK(!memcmp(a->start_ns, b->start_ns, a->count * sizeof *a->start_ns));
    CHECK(!memcmp(a->duration_ns, b->duration_ns, a->count * sizeof *a->duration_ns));
    CHECK(!memcmp(a->name, b->name, a->count * sizeof *a->name));
    CHECK(!memcmp(a->track, b->track, a->count * sizeof *a->track));
    CHECK(!memcmp(a->args, b->args, a->count * sizeof *a->args));
    CHECK(!memcmp(a->correlation, b->correlation, a->count * sizeof *a->correlation));
    CHECK(!memcmp(a->bytes, b->bytes, a->count * sizeof *a->bytes));
    CHECK(!memcmp(a->kind, b->kind, a->count * sizeof *a->kind));
    for (size_t i = 0; i < a->count; i++)
        check_args(assay__event_args(a, i), assay__event_args(b, i));
}

static void check_tracks(const struct assay__events *a, const struct assay__events *b)
{
    CHECK_INT(b->track_count, a->track_count);
    for (size_t i = 0; i < a->track_count; i++) {
        const struct assay__track *left = &a->tracks[i], *right = &b->tracks[i];
        CHECK(left->kind == right->kind && left->rank == right->rank && left->pid == right->pid &&
              left->tid == right->tid && left->device == right->device &&
              left->stream == right->stream);
        check_text(left->name, right->name);
        check_text(left->group, right->group);
    }
}

static void check_sources(const struct assay__events *a, const struct assay__events *b)
{
    CHECK_INT(b->source_count, a->source_count);
    for (size_t i = 0; i < a->source_count; i++) {
        const struct assay__trace_source *left = &a->sources[i], *right = &b->sources[i];
        CHECK_STR(right->path, left->path);
        CHECK_STR(right->format, left->format);
        CHECK_STR(right->producer, left->producer);
        CHECK_STR(right->clock, left->clock);
        CHECK_STR(right->complaint, left->complaint);
        CHECK(left->rank == right->rank && left->world_size == right->world_size &&
              left->offset_ns == right->offset_ns && left->bytes == right->bytes &&
              left->events == right->events && left->skipped == right->skipped &&
              left->truncated == right->truncated);
    }
}

static void check_counters(const struct assay__events *a, const struct assay__events *b)
{
    CHECK_INT(b->counter_count, a->counter_count);
    for (size_t i = 0; i < a->counter_count; i++) {
        const struct assay__trace_counter *left = &a->counters[i], *right = &b->counters[i];
        CHECK_STR(right->name, left->name);
        CHECK_STR(right->unit, left->unit);
        CHECK_INT(right->track, left->track);
        CHECK_INT(right->count, left->count);
        if (!left->count) continue;
        CHECK(!memcmp(left->times_ns, right->times_ns, left->count * sizeof *left->times_ns));
        CHECK(!memcmp(left->values, right->values, left->count * sizeof *left->values));
    }
}

static void check_same(const struct assay__events *a, const struct assay__events *b)
{
    CHECK(b->sealed);
    check_columns(a, b);
    check_tracks(a, b);
    check_sources(a, b);
    check_counters(a, b);
    CHECK(assay__events_text_count(b) >= assay__events_text_count(a));
    for (uint32_t i = 0; i < assay__events_text_count(a); i++)
        CHECK_STR(assay__events_text(b, i), assay__events_text(a, i));
}

static void test_fixture_comes_back(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "kineto.json");
    const char *path = saved(events);
    struct assay__events *again = loaded(path);
    check_same(events, again);
    assay__events_free(again);
    again = import_path(path); /* a profile is an input like any other */
    check_same(events, again);
    assay__events_free(again);
    assay__events_free(events);
}

/* Values at the ends of their types, several chunks, a counter without and one with many values. */
static void test_extremes_come_back(void)
{
    struct assay__events *events = assay__events_new();
    struct assay__track track = {.kind = ASSAY__TRACK_OTHER,
                                 .rank = -1,
                                 .pid = INT64_MIN,
                                 .tid = INT64_MAX,
                                 .device = INT32_MAX,
                                 .stream = INT64_MAX};
    struct assay__event_args args = {.grid = {UINT32_MAX, 0, 1},
                                     .flops = 1e-300,
                                     .state = "",
                                     .stack = "main;run",
                                     .group_size = INT64_MAX,
                                     .direction = ASSAY__COPY_PEER,
                                     .to = ASSAY__MEMORY_MANAGED};
    CHECK(assay__events_source(events) != NULL);
    uint32_t number = assay__events_track(events, &track);
    uint32_t known = assay__events_args(events, &args);
    for (int64_t i = 0; i < 70000; i++) {
        struct assay__event event = {.start_ns = i % 2 ? INT64_MIN + i : INT64_MAX - i,
                                     .name = i % 3 ? "x" : NULL,
                                     .name_length = 1,
                                     .kind = (enum assay__event_kind)(i % ASSAY__EVENT_KINDS),
                                     .track = i % 5 ? number : ASSAY__EVENT_UNKNOWN,
                                     .args = i % 7 ? ASSAY__EVENT_UNKNOWN : known,
                                     .correlation = i % 2 ? UINT64_MAX - (uint64_t)i : 0,
                                     .bytes = i % 2 ? INT64_MIN : INT64_MAX};
        assay__events_add(events, &event);
    }
    size_t counter = assay__events_counter(events, "power", "W", number);
    CHECK(assay__events_counter(events, "nothing", "", ASSAY__EVENT_UNKNOWN) != counter);
    for (int64_t i = 0; i < 66000; i++)
        assay__events_sample(events, counter, INT64_MIN + i * 3, i == 9 ? -0.0 : (double)i / 7);
    CHECK_INT(assay__events_seal(events, NULL), 0);
    CHECK_INT(events->count, 70000);
    struct assay__events *again = loaded(saved(events));
    check_same(events, again);
    assay__events_free(again);
    assay__events_free(events);
}

static void test_real_trace_comes_back(void)
{
    if (!assay__file_exists(SHARED_TRACES)) SKIP("no traces beside the checkout");
    struct assay__events *events = import_path(SHARED_TRACES "kineto-mi250.json.gz");
    struct assay__events *again = loaded(saved(events));
    check_same(events, again);
    assay__events_free(again);
    assay__events_free(events);
}

/* A second timeline replaces the first. */
static void test_saved_twice(void)
{
    struct assay__events *first = import_path(TRACE_FIXTURES "jax.json"),
                         *second = import_path(TRACE_FIXTURES "kineto.json");
    struct assay__store *store;
    const char *path = scratch("t.assay");
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    CHECK_INT(assay__events_save(first, store, NULL), 0);
    CHECK_INT(assay__events_save(second, store, NULL), 0);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    struct assay__events *again = loaded(path);
    check_same(second, again);
    assay__events_free(first);
    assay__events_free(second);
    assay__events_free(again);
}

static void test_integers(void)
{
    static const int64_t values[] = {0, INT64_MAX, INT64_MIN, -1, 1, INT64_MIN, INT64_MAX, 5};
    enum { COUNT = sizeof values / sizeof *values };
    int64_t out[COUNT];
    struct assay__buf bytes = {0};
    assay__chunk_encode_integers(values, COUNT, &bytes);
    CHECK_INT(assay__chunk_decode_integers(bytes.data, bytes.length, COUNT, out), 0);
    CHECK(!memcmp(values, out, sizeof values));
    CHECK_INT(assay__chunk_decode_integers(bytes.data, bytes.length - 1, COUNT, out),
              ASSAY_EFORMAT);
    CHECK_INT(assay__chunk_decode_integers(bytes.data, bytes.length, COUNT - 1, out),
              ASSAY_EFORMAT);
    assay__buf_free(&bytes);
}

/* --- query ------------------------------------------------------------------------------------ */

struct shown {
    int rows;
    char last[512];
};

static int take_row(void *context, int columns, const char *const *names, const char *const *values,
                    const int *types)
{
    struct shown *shown = context;
    (void)names, (void)types;
    shown->rows++;
    shown->last[0] = 0;
    for (int i = 0; i < columns; i++) {
        size_t used = strlen(shown->last);
        snprintf(shown->last + used, sizeof shown->last - used, "%s%s", i ? "|" : "",
                 values[i] ? values[i] : "null");
    }
    return 0;
}

static struct shown query(const char *path, const char *sql)
{
    struct shown shown = {0};
    struct assay_error error = {0};
    int code = assay__query(path, sql, take_row, &shown, NULL, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return shown;
}

static void check_last(const char *path, const char *sql, const char *expected)
{
    struct shown shown = query(path, sql);
    CHECK_STR(shown.last, expected);
}

static void test_query(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "kineto.json");
    const char *path = saved(events);
    CHECK_INT(query(path, "SELECT * FROM events LIMIT 5").rows, 5);
    CHECK_INT(query(path, "SELECT * FROM events").rows, events->count);
    check_last(path,
               "SELECT start_ns, duration_ns, kind, name, track, device, stream, correlation,"
               " bytes FROM events WHERE name='gemm'",
               "1700000001000020500|9472|kernel|gemm|stream 7|1|7|77|null");
    check_last(path, "SELECT kind, device, stream, correlation FROM events WHERE name='aten::mm'",
               "operator|null|null|null");
    check_last(path,
               "SELECT e.bytes, a.direction, a.from_memory FROM events AS e JOIN"
               " trace_args AS a ON a.position = e.args WHERE e.kind = 'copy'",
               "92928|to-device|pageable");
    check_last(path, "SELECT event FROM events WHERE event = 3", "3");
    CHECK_INT(query(path, "SELECT event FROM events WHERE event = 3000").rows, 0);
    CHECK_INT(query(path, "SELECT event FROM events ORDER BY event").rows, events->count);
    assay__events_free(events);
}

/* --- files that were tampered with, and older ones -------------------------------------------- */

static void test_without_a_timeline(void)
{
    struct assay__store *store;
    struct assay__events *events;
    struct assay_error error = {0};
    const char *path = scratch("empty.assay");
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    CHECK_INT(assay__events_load(path, &events, &error), ASSAY_ENOTFOUND);
    CHECK_INT(query(path, "SELECT * FROM events").rows, 0);
    edit(path, "DROP TABLE event_chunks; DROP TABLE trace_sources"); /* before there were any */
    CHECK_INT(assay__events_load(path, &events, &error), ASSAY_ENOTFOUND);
    CHECK_INT(query(path, "SELECT * FROM events").rows, 0);
    CHECK_INT(assay__events_load(scratch("nowhere"), &events, &error), ASSAY_ENOTFOUND);
}

static void test_tampered(void)
{
    static const char *const edits[] = {
        "UPDATE event_chunks SET count=count+1",
        "UPDATE event_chunks SET count=-1",
        "UPDATE event_chunks SET count=9000000000000",
        "UPDATE event_chunks SET first=1",
        "UPDATE event_chunks SET chunk=1",
        "UPDATE event_chunks SET start_ns=x'ff'",
        "UPDATE event_chunks SET kind='text'",
        "UPDATE event_chunks SET name=zeroblob(100000)",
        "UPDATE event_chunks SET duration_ns=replace(hex(duration_ns),'0','1')",
        "DROP TABLE event_chunks",
        "DROP TABLE trace_texts",
        "UPDATE trace_counter_chunks SET count=7",
        "UPDATE trace_counter_chunks SET encoding='zip'",
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct assay__events *events = import_path(TRACE_FIXTURES "kineto.json");
        struct assay_error error = {0};
        const char *path = saved(events);
        assay__events_free(events);
        edit(path, edits[i]);
        if (assay__events_load(path, &events, &error) != ASSAY_EFORMAT) printf("  %s\n", edits[i]);
        CHECK_INT(assay__events_load(path, &events, &error), ASSAY_EFORMAT);
        CHECK(events == NULL);
    }
}

/* What can be taken as unknown is. */
static void test_lost_rows(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "kineto.json"), *again;
    const char *path = saved(events);
    edit(path, "DELETE FROM trace_tracks; DELETE FROM trace_args; UPDATE trace_kinds SET name='?';"
               "UPDATE trace_sources SET rank='x', bytes=-5, path=NULL;"
               "ALTER TABLE trace_sources DROP COLUMN title");
    again = loaded(path);
    CHECK_INT(again->count, events->count);
    CHECK_INT(again->track_count, 0);
    for (size_t i = 0; i < again->count; i++) {
        CHECK_INT(again->track[i], ASSAY__EVENT_UNKNOWN);
        CHECK_INT(again->kind[i], ASSAY__EVENT_OTHER);
        CHECK(assay__event_args(again, i)->shapes == NULL);
    }
    CHECK_INT(again->sources[0].rank, -1);
    CHECK_STR(again->sources[0].path, "");
    assay__events_free(again);
    assay__events_free(events);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fixture_comes_back", test_fixture_comes_back},
        {"extremes_come_back", test_extremes_come_back},
        {"real_trace_comes_back", test_real_trace_comes_back},
        {"saved_twice", test_saved_twice},
        {"integers", test_integers},
        {"query", test_query},
        {"without_a_timeline", test_without_a_timeline},
        {"tampered", test_tampered},
        {"lost_rows", test_lost_rows},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
