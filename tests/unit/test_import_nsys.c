/* test_import_nsys.c - exports of Nsight Systems: a small one of the documented tables, a real one
 * of a PyTorch program on an H200 (trimmed; its sums are what `nsys stats` printed of it), and
 * broken ones. Both were written by tests/oracle/make_nsys.py. */
#include "import_case.h"

#include <sqlite3.h>

#define SMALL TRACES "nsys-small.sqlite"
#define START_NS 1794992229096708515 /* of the session of the real one, Unix time */

static int64_t call_time(const struct assay__events *e, const char *name, size_t *count)
{
    int64_t total_ns = 0;
    *count = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (strcmp(assay__event_name(e, i), name) != 0) continue;
        total_ns += e->duration_ns[i];
        ++*count;
    }
    return total_ns;
}

static void test_device(void)
{
    struct assay__events *e = import_good(SMALL);
    size_t kernel = event_named(e, "void gemm<float, 32>(int)", 0);
    CHECK_EVENT(e, kernel, 2000, 700, ASSAY__EVENT_KERNEL);
    const struct assay__event_args *args = assay__event_args(e, kernel);
    CHECK(args->grid[0] == 8 && args->grid[1] == 4 && args->grid[2] == 2);
    CHECK(args->block[0] == 128 && args->block[1] == 2 && args->block[2] == 1);
    CHECK_STR(track_of(e, kernel)->group, "Example GPU");
    CHECK_INT(track_of(e, kernel)->stream, 7);
    CHECK_INT(track_of(e, kernel)->pid, 100);
    size_t copy = event_named(e, "Memcpy HtoD (Pageable -> Device)", 0);
    CHECK_EVENT(e, copy, 2800, 100, ASSAY__EVENT_COPY);
    CHECK_INT(e->bytes[copy], 4096);
    CHECK_INT(assay__event_args(e, copy)->direction, ASSAY__COPY_TO_DEVICE);
    CHECK_INT(assay__event_args(e, copy)->from, ASSAY__MEMORY_PAGEABLE);
    copy = event_named(e, "Memcpy DtoH (Device -> Pinned)", 0);
    CHECK_INT(assay__event_args(e, copy)->to, ASSAY__MEMORY_PINNED);
    size_t set = event_named(e, "Memset", 0);
    CHECK_EVENT(e, set, 1900, 50, ASSAY__EVENT_MEMSET);
    CHECK_INT(e->bytes[set], 256);
    CHECK_EVENT(e, event_named(e, "CUDA graph", 0), 5000, 800, ASSAY__EVENT_KERNEL);
    CHECK_EVENT(e, event_named(e, "Context Sync", 0), 4000, 500, ASSAY__EVENT_DEVICE_WAIT);
    CHECK_EVENT(e, event_named(e, "Stream Wait Event", 0), 4600, 1, ASSAY__EVENT_DEVICE_WAIT);
    assay__events_free(e);
}

static void test_host(void)
{
    struct assay__events *e = import_good(SMALL);
    size_t launch = event_named(e, "cudaLaunchKernel", 0);
    size_t kernel = event_named(e, "void gemm<float, 32>(int)", 0);
    CHECK_EVENT(e, launch, 1860, 30, ASSAY__EVENT_LAUNCH);
    CHECK_INT(e->correlation[launch], e->correlation[kernel]);
    CHECK_STR(track_of(e, launch)->name, "main thread"); /* of two names the stronger */
    CHECK_STR(track_of(e, launch)->group, "python3 (100)");
    CHECK_EVENT(e, event_named(e, "cudaMemsetAsync", 0), 1800, 50, ASSAY__EVENT_LAUNCH);
    CHECK_EVENT(e, event_named(e, "cudaDeviceSynchronize", 0), 3990, 520, ASSAY__EVENT_SYNC);
    CHECK_EVENT(e, event_named(e, "step 1", 0), 1000, 5000, ASSAY__EVENT_RANGE);
    CHECK_EVENT(e, event_named(e, "epoch", 0), 1500, 100, ASSAY__EVENT_RANGE);
    CHECK_EVENT(e, event_named(e, "mark", 0), 1700, 0, ASSAY__EVENT_RANGE);
    size_t read = event_named(e, "read", 0);
    CHECK_EVENT(e, read, 1100, 300, ASSAY__EVENT_CPU);
    CHECK_STR(track_of(e, read)->name, "loader");
    CHECK_INT(e->count, 17); /* the domain's name is no event */
    CHECK_INT(e->sources[0].skipped, 0);
    CHECK_STR(e->sources[0].producer, "Nsight Systems 2026.1.1");
    CHECK_STR(e->sources[0].complaint, "");
    /* the second process: the same number means another launch there */
    size_t other = event_named(e, "gemm", 0), its = event_named(e, "cudaLaunchKernel", 1);
    CHECK_INT(track_of(e, its)->pid, 200);
    CHECK_INT(e->correlation[other], e->correlation[its]);
    CHECK(e->correlation[other] != e->correlation[kernel]);
    assay__events_free(e);
}

static void test_real(void)
{
    struct assay__events *e = import_good(TRACES "nsys-h200.sqlite");
    size_t count;
    CHECK_INT(count_kind(e, ASSAY__EVENT_KERNEL), 78);
    CHECK_INT(time_of_kind(e, ASSAY__EVENT_KERNEL), 244897);
    CHECK_INT(count_kind(e, ASSAY__EVENT_COPY), 23);
    CHECK_INT(time_of_kind(e, ASSAY__EVENT_COPY), 83201);
    CHECK_INT(count_kind(e, ASSAY__EVENT_DEVICE_WAIT), 27);
    CHECK_INT(count_kind(e, ASSAY__EVENT_RANGE), 10);
    CHECK_INT(call_time(e, "cudaLaunchKernel", &count), 25381326);
    CHECK_INT(count, 18);
    CHECK_INT(call_time(e, "cudaStreamSynchronize", &count), 160357);
    CHECK_INT(count, 23);
    CHECK_INT(call_time(e, "forward", &count), 27011679);
    CHECK_INT(count, 4);
    CHECK_INT(call_time(e, "Memcpy DtoH (Device -> Pinned)", &count) > 0, 1);
    CHECK_INT(count, 4);
    size_t copy = event_named(e, "Memcpy HtoD (Pageable -> Device)", 0);
    CHECK_EVENT(e, copy, START_NS + 4651338859, 7424, ASSAY__EVENT_COPY);
    CHECK_INT(e->correlation[copy], 148);
    CHECK_STR(track_of(e, copy)->group, "NVIDIA H200");
    CHECK_STR(e->sources[0].clock, ASSAY__IMPORT_CLOCK_UNIX);
    CHECK_STR(e->sources[0].producer, "Nsight Systems 2025.3.2.0");
    CHECK_INT(e->sources[0].skipped, 0);
    assay__events_free(e);
}

/* Every kernel and copy of the real export has its launch; those of a graph share one. */
static void test_real_launches(void)
{
    struct assay__events *e = import_good(TRACES "nsys-h200.sqlite");
    size_t found = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (!assay__event_is_work(e, i)) continue;
        for (size_t k = 0; k < e->count; k++)
            if (e->kind[k] == ASSAY__EVENT_LAUNCH && e->correlation[k] == e->correlation[i]) {
                CHECK(e->start_ns[k] <= e->start_ns[i]);
                found++;
                break;
            }
    }
    CHECK_INT(found, 78 + 23);
    assay__events_free(e);
}

/* --- bad input -------------------------------------------------------------------------------- */

static const char *make(const char *sql)
{
    sqlite3 *db = NULL;
    const char *path = scratch("made.sqlite");
    unlink(path);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    return path;
}

static void check_made(const char *sql, size_t events, size_t skipped)
{
    struct assay__events *e = import_good(make(sql));
    CHECK_INT(e->count, events);
    CHECK_INT(e->sources[0].skipped, skipped);
    CHECK_INT(e->sources[0].complaint[0] != '\0', skipped > 0);
    assay__events_free(e);
}

#define KERNELS \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, demangledName);"

static void test_values(void)
{
    check_made(KERNELS, 0, 0);
    check_made(KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 7, 0, 7, 1)", 1, 0);
    check_made(KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (7, 5, 0, 7, 1), (NULL, 5, 0,"
                       " 7, 1), ('x', 5, 0, 7, 1), (1.5, 5, 0, 7, 1), (x'00', 5, 0, 7, 1)",
               0, 5);
    check_made(KERNELS "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (-9223372036854775808,"
                       " 9223372036854775807, 0, 7, 1), (9223372036854775807, 9223372036854775807,"
                       " 99999999999, -5, -1)",
               1, 1);
    check_made("CREATE TABLE NVTX_EVENTS(start, end, text, textId);"
               "INSERT INTO NVTX_EVENTS VALUES (1, 2, NULL, 9999999999999), (1, 2, x'ff', -1)",
               2, 0); /* without names */
}

/* Names that lead nowhere, strings far beyond, a table of another form. */
static void test_strings(void)
{
    struct assay__events *e = import_good(make(
        KERNELS "CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES (1, 'one'),"
                " (1, 'two'), (2, x'00ff'), (70000000000, 'far');"
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2, 0, 0, 1), (3, 4, 0, 0, 2),"
                " (5, 6, 0, 0, 70000000000)"));
    CHECK_STR(assay__event_name(e, 0), "one");
    CHECK_STR(assay__event_name(e, 1), "");
    CHECK_STR(assay__event_name(e, 2), "far");
    assay__events_free(e);
}

static void test_hostile(void)
{
    CHECK(!import_file(make("CREATE TABLE other(x)")));
    CHECK_HAS(import_error.message, "Nsight");
    CHECK(!import_file(make("CREATE TABLE x(start, end); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS"
                            " SELECT 1 AS start, 2 AS end"))); /* a view is no table */
    CHECK(!import_file(make("CREATE TABLE StringIds(a, b AS (zeroblob(100000000)));")));
    CHECK_HAS(import_error.message, "computed");
}

/* Inner pages that name one page again and again: no more rows are read than the file can hold. */
static void test_repeated_pages(void)
{
    struct assay__events *e = import_file(ASSAY_TEST_ROOT
                                          "/tests/fuzz/corpus/import_nsys/rows_from_one_page");
    CHECK(e);
    CHECK(e->sources[0].truncated);
    CHECK(e->count + e->sources[0].skipped <= 19456);
    assay__events_free(e);
}

static void test_damaged(void)
{
    char *data = malloc(1 << 20);
    FILE *file = fopen(SMALL, "rb");
    CHECK(data && file);
    size_t size = fread(data, 1, 1 << 20, file);
    fclose(file);
    struct assay__events *e = import_file(import_write("cut.sqlite", data, size / 2));
    if (e) { /* what is left of it */
        CHECK(e->sources[0].truncated);
        CHECK(e->count < 17);
        assay__events_free(e);
    }
    for (size_t i = 1024; i < size; i++)
        data[i] ^= 0x55;
    e = import_file(import_write("damaged.sqlite", data, size));
    CHECK(!e || e->count == 0);
    assay__events_free(e);
    CHECK(!import_file(import_write("head.sqlite", data, 100)));
    free(data);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"device", test_device},
        {"host", test_host},
        {"real", test_real},
        {"real_launches", test_real_launches},
        {"values", test_values},
        {"strings", test_strings},
        {"hostile", test_hostile},
        {"damaged", test_damaged},
        {"repeated_pages", test_repeated_pages},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
