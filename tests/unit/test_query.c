/* test_query.c - SQL on a profile: samples as an exact table, nothing but reading, and a way to
 * stop. */
#include "profile_fixture.h"

#include <sys/resource.h>

/* Under AddressSanitizer freed memory is kept for a while. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct answer {
    int rows, columns;
    char name[64], text[8][64];
    int types[8];
};

static int keep_row(void *context, int columns, const char *const *names, const char *const *values,
                    const int *types)
{
    struct answer *answer = context;
    answer->rows++;
    answer->columns = columns;
    snprintf(answer->name, sizeof answer->name, "%s", names[0]);
    for (int i = 0; i < columns && i < 8; i++) {
        snprintf(answer->text[i], sizeof answer->text[i], "%s", values[i] ? values[i] : "NULL");
        answer->types[i] = types[i];
    }
    return 0;
}

static struct answer ask(const char *path, const char *sql)
{
    struct answer answer = {0};
    struct assay_error error = {0};
    if (assay__query(path, sql, keep_row, &answer, NULL, &error)) printf("  %s\n", error.message);
    CHECK_STR(error.message, "");
    return answer;
}

/* The first column of the last row; stays until the next call. */
static const char *ask_one(const char *path, const char *sql)
{
    static struct answer answer;
    answer = ask(path, sql);
    return answer.text[0];
}

static void test_query(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    double sum = 0;
    for (size_t i = 0; i < LONG_COUNT; i++)
        sum += long_sample(i);
    struct answer a = ask(path,
                          "SELECT count(*) AS n, avg(ns), min(seq), max(seq), sum(ns) FROM samples"
                          " WHERE trial=1 AND launch=1; -- done\n ;");
    CHECK_INT(a.rows, 1);
    CHECK_STR(a.name, "n");
    CHECK_STR(a.text[0], "150000");
    CHECK_NEAR(strtod(a.text[1], NULL), sum / LONG_COUNT, 1e-6);
    CHECK_STR(a.text[2], "0");
    CHECK_STR(a.text[3], "149999");
    CHECK(strtod(a.text[4], NULL) == sum);
    CHECK(a.types[0] == 1 && a.types[1] == 2);
    CHECK_STR(ask_one(path, "SELECT count(*) FROM samples"), "150005");
    CHECK_STR(ask_one(path, "SELECT count(*) FROM samples WHERE launch=2 AND stream=2"), "2");
    CHECK_STR(ask_one(path, "SELECT count(*) FROM samples WHERE launch=9"), "0");
    char exact[64];
    snprintf(exact, sizeof exact, "%.0f", long_sample(70001));
    CHECK_STR(ask_one(path, "SELECT ns FROM samples WHERE launch=1 AND seq=70001"), exact);
    CHECK_STR(
        ask_one(path,
                "SELECT count(*) FROM samples JOIN launches ON samples.trial=launches.trial AND"
                " samples.launch=launches.id WHERE seq>=warmup AND launch=1"),
        "149990");
    CHECK_STR(
        ask_one(path,
                "SELECT group_concat(stream||':'||seq) FROM (SELECT * FROM samples WHERE launch=2"
                " ORDER BY trial, launch, stream, seq)"),
        "0:0,0:1,0:2,2:0,2:1");
    CHECK_STR(ask_one(path, "SELECT seq FROM samples WHERE launch=2 ORDER BY seq DESC, stream DESC"
                            " LIMIT 1 OFFSET 1"),
              "1");
    a = ask(path, "SELECT NULL, x'00ff', 'a' || char(10), 1.5");
    CHECK_STR(a.text[0], "NULL");
    CHECK_STR(a.text[1], "x'00ff'");
    CHECK_STR(a.text[2], "a\n");
    CHECK(a.types[0] == 5 && a.types[1] == 4 && a.types[2] == 3 && a.types[3] == 2);
    CHECK_INT(ask(path, "PRAGMA table_info(metrics)").rows, 9);
    CHECK_STR(ask_one(path, "SELECT value FROM metrics WHERE name='power.average' AND launch=0"),
              "NULL");
    CHECK_STR(ask_one(path, "PRAGMA user_version"), "2");
}

/* Series as a table: exact, a reading without a value is NULL, names are text like any other. */
static void test_query_series(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    CHECK_STR(ask_one(path, "SELECT count(*) FROM series"), "7");
    struct answer a = ask(path, "SELECT trial, launch, name, seq, time_ns, value FROM series"
                                " WHERE name='power.package' AND seq=2");
    CHECK_INT(a.rows, 1);
    CHECK_STR(a.text[0], "1");
    CHECK_STR(a.text[1], "0");
    CHECK_STR(a.text[2], "power.package");
    CHECK_STR(a.text[3], "2");
    CHECK_STR(a.text[4], "2000001");
    CHECK(a.types[2] == 3 && a.types[3] == 1 && a.types[4] == 2 && a.types[5] == 2);
    CHECK_STR(ask_one(path, "SELECT value = 0.1 + 0.2 FROM series WHERE name='power.package' AND"
                            " seq=2"),
              "1");
    CHECK_STR(ask_one(path, "SELECT group_concat(ifnull(value, 'none')) FROM series WHERE launch=0"
                            " AND trial=1 AND seq IN (0, 1, 3, 4)"),
              "12.5,none,-3.0,0.0");
    CHECK_STR(ask_one(path, "SELECT sum(value) FROM series WHERE launch=2"), "7");
    CHECK_STR(ask_one(path, "SELECT count(*) FROM series WHERE name='power.gpu0'"), "0");
    CHECK_STR(ask_one(path, "SELECT count(*) FROM series WHERE trial=2"), "0");
    CHECK_STR(ask_one(path,
                      "SELECT note FROM series_info LEFT JOIN series USING (trial, launch, name)"
                      " WHERE seq IS NULL"),
              "libnvidia-ml.so.1 is not here");
    CHECK_STR(ask_one(path, "SELECT name FROM series ORDER BY name, seq DESC LIMIT 1"),
              "energy.it's; DROP TABLE spans");
    CHECK_STR(ask_one(path, "SELECT sum(value) FROM class_counter_values AS v JOIN class_counters"
                            " AS c ON c.trial=v.trial AND c.position=v.class WHERE op='Conv'"),
              "1000000000");
    edit(path, "UPDATE series_chunks SET count=4 WHERE series=0");
    struct assay_error error = {0};
    CHECK_INT(assay__query(path, "SELECT max(value) FROM series", keep_row, &a, NULL, &error),
              ASSAY_EINVAL);
    CHECK_HAS(error.message, "damaged series: a chunk of trial 1, launch 0, 'power.package'");
    edit(path, "DROP TABLE series_chunks"); /* as before there were series */
    CHECK_STR(ask_one(path, "SELECT count(*) FROM series"), "0");
    edit(path, "DROP TABLE series_info");
    CHECK_STR(ask_one(path, "SELECT count(*) FROM series WHERE name='x'"), "0");
}

static void test_query_refused(void)
{
    static const struct {
        const char *sql;
        int code;
        const char *said;
    } refused[] = {
        {"DELETE FROM trials", ASSAY_EDENIED, "only reading"},
        {"INSERT INTO trials(id,profile) VALUES(9,1)", ASSAY_EDENIED, "only reading"},
        {"UPDATE trials SET state='ok'", ASSAY_EDENIED, "only reading"},
        {"DROP TABLE trials", ASSAY_EDENIED, "only reading"},
        {"CREATE TEMP TABLE t(x)", ASSAY_EDENIED, "only reading"},
        {"ATTACH '/tmp/x.db' AS y", ASSAY_EDENIED, "only reading"},
        {"DETACH main", ASSAY_EDENIED, "only reading"},
        {"VACUUM INTO '/tmp/x.db'", ASSAY_EDENIED, "only reading"},
        {"PRAGMA user_version=9", ASSAY_EDENIED, "only reading"},
        {"PRAGMA query_only=0", ASSAY_EDENIED, "only reading"},
        {"PRAGMA writable_schema=1", ASSAY_EDENIED, "only reading"},
        {"PRAGMA temp_store_directory='/tmp'", ASSAY_EDENIED, "only reading"},
        {"BEGIN", ASSAY_EDENIED, "only reading"},
        {"SELECT load_extension('x')", ASSAY_EDENIED, "load_extension"},
        {"SELECT 1; SELECT 2", ASSAY_EINVAL, "one statement"},
        {"SELECT 1; garbage", ASSAY_EINVAL, "one statement"},
        {"", ASSAY_EINVAL, "empty"},
        {" -- nothing", ASSAY_EINVAL, "empty"},
        {"SELEC 1", ASSAY_EINVAL, "SQL: near \"SELEC\": syntax error"},
        {"SELECT nonsense FROM trials", ASSAY_EINVAL, "SQL: no such column: nonsense"},
        {"SELECT \"text\"", ASSAY_EINVAL, "SQL: no such column"},
        {"SELECT * FROM nowhere", ASSAY_EINVAL, "SQL: no such table: nowhere"},
        {"SELECT zeroblob(100000000)", ASSAY_ELIMIT, "too long"},
        {"INSERT INTO samples VALUES(1,1,1,1,1)", 0, NULL},
        {"INSERT INTO series VALUES(1,1,'x',1,1,1)", 0, NULL},
    };
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    size_t before = 0, after = 0;
    unsigned char *sound = read_file(path, &before);
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct answer answer = {0};
        struct assay_error error = {0};
        int code = assay__query(path, refused[i].sql, keep_row, &answer, NULL, &error);
        CHECK(code != 0 && answer.rows == 0);
        CHECK(strchr(error.message, '\n') == NULL);
        if (!refused[i].said) continue;
        if (code != refused[i].code) printf("  %s: %s\n", refused[i].sql, error.message);
        CHECK_INT(code, refused[i].code);
        CHECK_HAS(error.message, refused[i].said);
    }
    unsigned char *kept = read_file(path, &after);
    CHECK(before == after && memcmp(sound, kept, before) == 0);
    CHECK(!exists("/tmp/x.db"));
    free(sound);
    free(kept);
}

static int stop_at_once(void *context, int columns, const char *const *names,
                        const char *const *values, const int *types)
{
    (void)columns, (void)names, (void)values, (void)types;
    return ++*(int *)context == 3 ? ASSAY_EIO : 0;
}

static void test_query_stops(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    write_document(path);
    int rows = 0;
    volatile int interrupt = 1;
    struct assay_error error = {0};
    CHECK_INT(assay__query(path, "SELECT ns FROM samples", stop_at_once, &rows, NULL, &error),
              ASSAY_EIO);
    CHECK_INT(rows, 3);
    struct answer answer = {0};
    CHECK_INT(
        assay__query(
            path,
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT max(n) FROM c",
            keep_row, &answer, &interrupt, &error),
        ASSAY_EINTERRUPTED);
    CHECK_HAS(error.message, "interrupted");
    CHECK_INT(assay__query(in_folder("missing"), "SELECT 1", keep_row, &answer, NULL, &error),
              ASSAY_ENOTFOUND);
}

static void test_query_killed(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    kill_capture(path);
    CHECK_STR(ask_one(path, "SELECT count(*) FROM samples"), "150005");
    CHECK_STR(ask_one(path, "SELECT complete FROM profiles"), "0");
}

/* A million samples, written in windows, must not cost the parent more than a few megabytes. */
static void test_memory(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay__store *store = NULL;
    struct rusage before, after;
    static double window[10000];
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    getrusage(RUSAGE_SELF, &before);
    for (size_t w = 0; w < 100; w++) {
        for (size_t i = 0; i < COUNT(window); i++)
            window[i] = long_sample(w * COUNT(window) + i);
        CHECK_INT(assay__store_add_samples(store, 1, 1, 0, window, COUNT(window), NULL), 0);
    }
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    getrusage(RUSAGE_SELF, &after);
    /* KiB on Linux, bytes on macOS: no process of this kind has a gigabyte. */
    long mebibyte = before.ru_maxrss < 1000000 ? 1024 : 1024 * 1024;
    if (!SANITIZED) CHECK(after.ru_maxrss - before.ru_maxrss < 8 * mebibyte);
    struct stat status;
    CHECK_INT(stat(path, &status), 0);
    CHECK(status.st_size < 3 * 1000 * 1000); /* under 3 bytes a sample */
    CHECK_STR(ask_one(path, "SELECT count(*) FROM samples"), "1000000");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"query", test_query},
        {"query_series", test_query_series},
        {"query_refused", test_query_refused},
        {"query_stops", test_query_stops},
        {"query_killed", test_query_killed},
        {"memory", test_memory},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
