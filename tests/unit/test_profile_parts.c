/* test_profile_parts.c - what was read over time and around a run, as rows of the profile: every
 * field survives, NaN included; what was not asked for stays apart from nothing found; profiles
 * from before these tables load as they did; and each lie about them is noticed. */
#include "profile_fixture.h"

#include <time.h>

#ifndef ASSAY_TEST_ROOT
#define ASSAY_TEST_ROOT "."
#endif

#define SAME_TEXT(field) CHECK_STR(b->field, a->field ? a->field : "")
#define SAME_INT(field) CHECK_INT(b->field, a->field)
#define SAME_REAL(field) CHECK(a->field == b->field || (isnan(a->field) && isnan(b->field)))

static struct assay_profile *open_profile(const char *path)
{
    struct assay_error error = {0};
    struct assay_profile *p = NULL;
    if (assay_profile_open(path, &p, &error)) printf("  %s\n", error.message);
    CHECK(p != NULL);
    return p;
}

static void same_series(const struct assay__series_info *a, const struct assay__series_info *b)
{
    SAME_INT(launch);
    SAME_TEXT(name);
    SAME_TEXT(quantity);
    SAME_TEXT(rail);
    SAME_TEXT(unit);
    SAME_TEXT(probe);
    SAME_TEXT(source);
    SAME_INT(state);
    SAME_TEXT(note);
    SAME_INT(counter);
    SAME_REAL(period_s);
    SAME_INT(period_is_bound);
    SAME_INT(count);
    for (size_t i = 0; i < a->count; i++) {
        SAME_REAL(times_ns[i]);
        SAME_REAL(values[i]);
    }
}

static void same_allocations(const struct assay__allocations *a, const struct assay__allocations *b)
{
    CHECK((a->reason == NULL) == (b->reason == NULL));
    if (a->reason) SAME_TEXT(reason);
    SAME_REAL(growth_bytes);
    SAME_REAL(growth_low);
    SAME_REAL(growth_high);
    SAME_REAL(heap_bytes);
    SAME_REAL(heap_used_bytes);
    SAME_REAL(slowdown);
    SAME_INT(phase_count);
    for (size_t i = 0; i < a->phase_count; i++) {
        SAME_TEXT(phases[i].name);
        SAME_INT(phases[i].inferences);
        SAME_REAL(phases[i].count);
        SAME_REAL(phases[i].bytes);
        SAME_REAL(phases[i].freed_count);
        SAME_REAL(phases[i].freed_bytes);
        SAME_REAL(phases[i].live_bytes);
        SAME_REAL(phases[i].peak_live_bytes);
    }
    SAME_INT(class_count);
    for (size_t i = 0; i < a->class_count; i++) {
        SAME_TEXT(classes[i].phase);
        SAME_REAL(classes[i].low_bytes);
        SAME_REAL(classes[i].high_bytes);
        SAME_REAL(classes[i].count);
        SAME_REAL(classes[i].bytes);
    }
    SAME_INT(site_count);
    for (size_t i = 0; i < a->site_count; i++) {
        SAME_TEXT(sites[i].phase);
        SAME_TEXT(sites[i].site);
        SAME_REAL(sites[i].count);
        SAME_REAL(sites[i].bytes);
        SAME_REAL(sites[i].live_bytes);
    }
}

static void same_parts(const struct assay__trial *a, const struct assay__trial *b)
{
    SAME_INT(series_count);
    for (size_t i = 0; i < a->series_count; i++)
        same_series(&a->series[i], &b->series[i]);
    SAME_INT(span_count);
    for (size_t i = 0; i < a->span_count; i++) {
        SAME_INT(spans[i].launch);
        SAME_TEXT(spans[i].kind);
        SAME_REAL(spans[i].begin_ns);
        SAME_REAL(spans[i].end_ns);
        SAME_INT(spans[i].completions);
    }
    same_allocations(&a->allocations, &b->allocations);
    CHECK((a->counter_names == NULL) == (b->counter_names == NULL));
    SAME_INT(counter_count);
    for (size_t i = 0; i < a->counter_count; i++)
        SAME_TEXT(counter_names[i]);
    SAME_INT(class_counter_count);
    for (size_t i = 0; i < a->class_counter_count; i++) {
        SAME_TEXT(class_counters[i].op);
        SAME_INT(class_counters[i].layers);
        SAME_REAL(class_counters[i].time_ns);
        for (size_t k = 0; k < a->counter_count; k++)
            SAME_REAL(class_counters[i].values[k]);
    }
    SAME_TEXT(class_counter_note);
}

static void same_ceilings(const struct assay_profile *a, const struct assay_profile *b)
{
    SAME_INT(ceiling_count);
    for (size_t i = 0; i < a->ceiling_count; i++) {
        SAME_TEXT(ceilings[i].device);
        SAME_TEXT(ceilings[i].name);
        SAME_REAL(ceilings[i].value);
        SAME_TEXT(ceilings[i].unit);
        SAME_REAL(ceilings[i].low);
        SAME_REAL(ceilings[i].high);
        SAME_TEXT(ceilings[i].source);
        SAME_TEXT(ceilings[i].note);
        SAME_TEXT(ceilings[i].measured_at);
    }
}

/* Writes the document with the first trial's parts as they are, and loads it. */
static struct assay_profile *through_file(const struct assay_profile *p)
{
    struct assay__store *store = NULL;
    CHECK_INT(assay__store_create(in_folder("p.assay"), &store, NULL), 0);
    put_document(store, p);
    write_samples(store);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    return open_profile(in_folder("p.assay"));
}

static void test_round_trip(void)
{
    make_folder();
    write_document(in_folder("p.assay"));
    struct assay_profile *a = make_document(), *b = open_profile(in_folder("p.assay"));
    same_parts(&a->trials[0], &b->trials[0]);
    same_parts(&a->trials[1], &b->trials[1]); /* which has none: nothing is asked for */
    CHECK(b->trials[1].series == NULL && b->trials[1].allocations.reason == NULL);
    same_ceilings(a, b);
    CHECK_INT(b->trials[0].note_count, 1); /* nothing is called damaged */
    assay_profile_close(a);
    assay_profile_close(b);
}

/* Asked for and nothing there is not the same as not asked for. */
static void test_nothing_there(void)
{
    static const char *none[1];
    make_folder();
    struct assay_profile *a = make_document();
    struct assay__trial *t = &a->trials[0];
    t->series_count = 1; /* the others must go when the trial is put again */
    t->span_count = 0;
    t->allocations = assay__allocations_unknown();
    t->allocations.reason = "the worker's allocator cannot be followed";
    t->counter_names = none;
    t->counter_count = t->class_counter_count = 0;
    t->class_counter_note = "perf_event_paranoid is 4";
    a->ceiling_count = 0;
    struct assay_profile *b = through_file(a);
    same_parts(t, &b->trials[0]);
    same_ceilings(a, b);
    assay_profile_close(b);
    t->counter_names = NULL;
    t->class_counter_note = "";
    t->allocations.reason = NULL;
    t->series_count = 0;
    b = through_file(a);
    same_parts(t, &b->trials[0]);
    CHECK(b->trials[0].counter_names == NULL);
    assay_profile_close(b);
    assay_profile_close(a);
}

/* Putting a trial again replaces its parts: no row of the first time is left. */
static void test_replaced(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay__store *store = NULL;
    struct assay_profile *a = make_document();
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, a);
    write_samples(store);
    a->trials[0].series += 2;
    a->trials[0].series_count = 1;
    a->trials[0].allocations.site_count = 1;
    a->trials[0].counter_count = 1;
    a->ceilings++;
    a->ceiling_count = 1;
    put_document(store, a);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    struct assay_profile *b = open_profile(path);
    same_parts(&a->trials[0], &b->trials[0]);
    same_ceilings(a, b);
    assay_profile_close(a);
    assay_profile_close(b);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double long_value(size_t i)
{
    return i % 1009 == 7 ? NAN : (double)((i * 2654435761u) % 100003u) / 7;
}

/* 200,000 values are four chunks; a million are stored and loaded in a moment (printed, not
 * judged). */
static void check_long(size_t count)
{
    struct assay_profile *a = make_document();
    struct assay__series_info series = series_list[0];
    series.count = count;
    series.times_ns = malloc(count * sizeof *series.times_ns);
    series.values = malloc(count * sizeof *series.values);
    CHECK(series.times_ns && series.values);
    for (size_t i = 0; i < count; i++) {
        series.times_ns[i] = (double)i * 1e6 + (double)(i % 13);
        series.values[i] = long_value(i);
    }
    a->trials[0].series = &series;
    a->trials[0].series_count = 1;
    struct assay__store *store = NULL;
    const char *path = in_folder("long.assay");
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    double start = seconds();
    put_document(store, a);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    double stored = seconds();
    struct assay_profile *b = open_profile(path);
    double loaded = seconds();
    struct stat file;
    CHECK_INT(stat(path, &file), 0);
    printf("  %zu values: stored in %.0f ms, loaded in %.0f ms, %.1f MB\n", count,
           (stored - start) * 1e3, (loaded - stored) * 1e3, (double)file.st_size / 1e6);
    same_series(&series, &b->trials[0].series[0]);
    assay_profile_close(a);
    assay_profile_close(b);
    free(series.times_ns);
    free(series.values);
}

static void test_long(void)
{
    make_folder();
    check_long(65536);
    check_long(200000);
    check_long(1000000);
}

static const char drop_all[] =
    "DROP TABLE series_info; DROP TABLE series_chunks; DROP TABLE spans; DROP TABLE allocations;"
    "DROP TABLE allocation_phases; DROP TABLE allocation_classes; DROP TABLE allocation_sites;"
    "DROP TABLE class_counter_info; DROP TABLE counter_names; DROP TABLE class_counters;"
    "DROP TABLE class_counter_values; DROP TABLE ceilings";

/* A profile from before these tables: nothing was asked for, and nothing is damaged. */
static void test_older(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    make_schema_1(path);
    edit(path, drop_all);
    struct assay_profile *p = open_profile(path);
    struct assay__trial *t = &p->trials[0];
    CHECK_INT(t->note_count, 1);
    CHECK(t->series_count == 0 && t->span_count == 0 && t->allocations.reason == NULL);
    CHECK(t->counter_names == NULL && t->class_counter_count == 0 && p->ceiling_count == 0);
    CHECK_STR(t->class_counter_note, "");
    CHECK(isnan(t->allocations.growth_bytes));
    check_samples(t);
    assay_profile_close(p);
    p = open_profile(ASSAY_TEST_ROOT
                     "/tests/fuzz/corpus/profile/small"); /* written by an older one */
    CHECK_INT(p->trial_count, 2);
    CHECK(p->trials[0].series_count == 0 && p->trials[0].allocations.reason == NULL);
    for (size_t i = 0; i < p->trials[0].note_count; i++)
        CHECK(strstr(p->trials[0].notes[i], "damaged") == NULL);
    assay_profile_close(p);
}

/* A capture that did not end has no series; whoever reads it is told when they were asked for. */
static void test_not_ended(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay__store *store = NULL;
    struct assay_profile *a = make_document();
    a->trials[0].series_count = 0;
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, a);
    struct assay_profile *b = open_profile(path);
    CHECK_INT(b->trials[0].note_count, 1); /* nothing was asked for */
    assay_profile_close(b);
    a->trials[0].protocol.watched = ASSAY__WATCHED_POWER;
    put_document(store, a);
    b = open_profile(path);
    CHECK_INT(b->trials[0].note_count, 2);
    CHECK_HAS(b->trials[0].notes[1], "this capture did not end, so they are lost");
    assay_profile_close(b);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    b = open_profile(path); /* complete: there was nothing to keep */
    CHECK_INT(b->trials[0].note_count, 1);
    assay_profile_close(b);
    assay_profile_close(a);
}

/* Each lie is said in the trial's notes, and what stands before it is kept. */
static void test_lies(void)
{
    static const struct {
        const char *sql, *said;
        size_t left; /* values of the first series */
    } lies[] = {
        {"UPDATE series_chunks SET count=4 WHERE series=0", "times do not decode", 0},
        {"UPDATE series_chunks SET count=9000000000000 WHERE series=0", "count is wrong", 0},
        {"UPDATE series_chunks SET count=-1 WHERE series=0", "count is wrong", 0},
        {"UPDATE series_chunks SET count=2.5 WHERE series=0", "count is wrong", 0},
        {"UPDATE series_chunks SET first=3 WHERE series=0", "does not follow", 0},
        {"UPDATE series_chunks SET chunk=1 WHERE series=0", "missing before", 0},
        {"DELETE FROM series_chunks WHERE series=0", "chunk 0: it is missing", 0},
        {"UPDATE series_chunks SET time_data='texttext' WHERE series=0", "times do not decode", 0},
        {"UPDATE series_chunks SET value_encoding='zip' WHERE series=0", "values do not decode", 0},
        {"UPDATE series_chunks SET value_data=zeroblob(7) WHERE series=0", "values do not decode",
         0},
        {"UPDATE series_info SET count=9 WHERE position=0", "chunk 1: it is missing", 5},
        {"UPDATE series_info SET count='many' WHERE position=0", "chunk 1: it is missing", 5},
        /* 0, 1 ms, then backwards by 1 ns: zigzag 1 */
        {"UPDATE series_chunks SET time_data=x'0080897a010000' WHERE series=0", "run backwards", 2},
        {"UPDATE series_info SET name=NULL WHERE position=1", "a series has no name", 5},
        {"UPDATE spans SET begin_ns=9e18 WHERE position=0", "a span ends before it begins", 5},
        {"UPDATE spans SET end_ns=NULL WHERE position=0", "a span ends before it begins", 5},
        {"DELETE FROM counter_names WHERE position=1", "names of counters are missing", 5},
        {"DROP TABLE series_chunks", "chunk 0: it is missing", 0},
        {"WITH RECURSIVE c(n) AS (SELECT 10 UNION ALL SELECT n+1 FROM c LIMIT 300)"
         " INSERT INTO allocation_phases(trial,position) SELECT 1, n FROM c",
         "more than 256 allocation phases", 5},
        {"WITH RECURSIVE c(n) AS (SELECT 10 UNION ALL SELECT n+1 FROM c LIMIT 5000)"
         " INSERT INTO ceilings(profile,position) SELECT 1, n FROM c",
         "more than 4096 ceilings", 5},
    };
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    size_t size = 0;
    unsigned char *sound = read_file(path, &size);
    for (size_t i = 0; i < COUNT(lies); i++) {
        write_file(path, sound, size);
        edit(path, lies[i].sql);
        struct assay_profile *p = open_profile(path);
        struct assay__trial *t = &p->trials[0];
        if (t->note_count < 2) printf("  %s\n", lies[i].sql);
        CHECK(t->note_count >= 2);
        CHECK_HAS(t->notes[1], "damaged profile: ");
        CHECK_HAS(t->notes[1], lies[i].said);
        CHECK_INT(t->series[0].count, lies[i].left);
        check_samples(t);
        assay_profile_close(p);
    }
    free(sound);
}

/* What cannot be is unknown, and an unknown state is no measurement. */
static void test_tolerant(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    edit(path, "UPDATE series_info SET state='guessed', note=NULL, update_period_s=-1, launch=-7,"
               " counter=5 WHERE position=1;"
               "UPDATE series_info SET note=NULL WHERE position=2;"
               "UPDATE allocation_phases SET count=-1, bytes=9e999, inferences=-4 WHERE position=0;"
               "UPDATE allocations SET slowdown='fast', heap_bytes=-5;"
               "UPDATE class_counters SET layers=-2 WHERE position=0;"
               "UPDATE class_counter_values SET counter=99 WHERE class=1 AND counter=1;"
               "UPDATE ceilings SET value=0, note=NULL WHERE position=0;"
               "ALTER TABLE spans DROP COLUMN completions");
    struct assay_profile *p = open_profile(path);
    struct assay__trial *t = &p->trials[0];
    CHECK_INT(t->note_count, 1);
    CHECK(t->series[1].state == ASSAY_UNAVAILABLE && t->series[1].note[0]);
    CHECK(t->series[1].launch == 0 && !t->series[1].counter && isnan(t->series[1].period_s));
    CHECK(t->series[2].note[0] != '\0');
    CHECK(isnan(t->allocations.phases[0].count) && isnan(t->allocations.phases[0].bytes));
    CHECK_INT(t->allocations.phases[0].inferences, -1);
    CHECK(isnan(t->allocations.slowdown) && isnan(t->allocations.heap_bytes));
    CHECK_INT(t->class_counters[0].layers, -1);
    CHECK(isnan(t->class_counters[1].values[1]) && t->class_counters[1].values[0] == 5);
    CHECK(isnan(p->ceilings[0].value) && p->ceilings[0].note[0]);
    CHECK_INT(t->spans[1].completions, -1);
    assay_profile_close(p);
}

/* Infinity is no reading. */
static void test_infinite(void)
{
    make_folder();
    double values[] = {1, INFINITY, -INFINITY, 2, NAN};
    struct assay_profile *a = make_document();
    struct assay__series_info series = series_list[0];
    series.values = values;
    a->trials[0].series = &series;
    a->trials[0].series_count = 1;
    struct assay_profile *b = through_file(a);
    const double *read = b->trials[0].series[0].values;
    CHECK(read[0] == 1 && isnan(read[1]) && isnan(read[2]) && read[3] == 2 && isnan(read[4]));
    assay_profile_close(a);
    assay_profile_close(b);
}

/* A small file that promises much: refused, or read without more memory than it is worth. */
static void test_crafted(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_error error = {0};
    struct assay_profile *p = NULL;
    write_document(path);
    edit(path, "WITH RECURSIVE c(n) AS (SELECT 2 UNION ALL SELECT n+1 FROM c LIMIT 1000)"
               " INSERT INTO counter_names(trial,position,name) SELECT 1, n, 'c' || n FROM c;"
               "UPDATE class_counter_info SET counters=1002;"
               "WITH RECURSIVE c(n) AS (SELECT 2 UNION ALL SELECT n+1 FROM c LIMIT 60000)"
               " INSERT INTO class_counters(trial,position,op) SELECT 1, n, 'x' FROM c");
    CHECK_INT(assay_profile_open(path, &p, &error), ASSAY_EFORMAT); /* 480 MB of unknown values */
    CHECK_HAS(error.message, "more rows than bytes");
    CHECK(p == NULL);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"round_trip", test_round_trip},
        {"nothing_there", test_nothing_there},
        {"replaced", test_replaced},
        {"long", test_long},
        {"older", test_older},
        {"not_ended", test_not_ended},
        {"lies", test_lies},
        {"tolerant", test_tolerant},
        {"infinite", test_infinite},
        {"crafted", test_crafted},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
