/* test_memory_track.c - the parts of the memory's watcher: growth per inference on made-up marks,
 * the allocation tracker on a program that allocates a known set in several threads, and the
 * message that tells of it. */
#include "harness.h"

#include "base/json.h"
#include "base/track.h"
#include "platform/platform.h"
#include "run/watch/memory_growth.h"
#include "run/watch/memory_track.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define LIBRARY ASSAY_TEST_BUILD "/libassay-track.so"

static bool has_tracker(void)
{
    return access(LIBRARY, R_OK) == 0 && assay__preload_variable() != NULL;
}

/* --- growth ----------------------------------------------------------------------------------- */

static void test_growth_of_a_leak(void)
{
    int64_t marks[1000];
    struct assay__growth growth;
    for (int i = 0; i < 1000; i++)
        marks[i] = 5000 + 64 * i;
    CHECK_INT(assay__memory_growth(marks, 1000, &growth), 0);
    CHECK_NEAR(growth.bytes, 64, 0);
    CHECK_NEAR(growth.low, 64, 0);
    CHECK_NEAR(growth.high, 64, 0);
    for (int i = 0; i < 1000; i++) /* 640 bytes at every tenth inference, beside noise of 100 */
        marks[i] = 640 * (i / 10) + (i * 37) % 100;
    CHECK_INT(assay__memory_growth(marks, 1000, &growth), 0);
    CHECK_NEAR(growth.bytes, 64, 1);
    CHECK(growth.low > 60 && growth.high < 68);
}

static void test_growth_of_none(void)
{
    int64_t marks[101];
    struct assay__growth growth;
    for (int i = 0; i < 101; i++)
        marks[i] = 7;
    CHECK_INT(assay__memory_growth(marks, 101, &growth), 0);
    CHECK_NEAR(growth.bytes, 0, 0);
    CHECK_NEAR(growth.low, 0, 0);
    CHECK_NEAR(growth.high, 0, 0);
    CHECK(growth.flat && !growth.settled);
    CHECK_NEAR(growth.every, 12, 0);
    CHECK_NEAR(growth.total, 0, 0);
    marks[20] = 1000000; /* a cache that is filled once, and again */
    for (int i = 60; i < 101; i++)
        marks[i] = 8;
    CHECK_INT(assay__memory_growth(marks, 101, &growth), 0);
    CHECK_NEAR(growth.bytes, 0, 0.02);
    CHECK(growth.low <= 0 && !growth.flat);
    CHECK_NEAR(growth.total, 1, 0);
    CHECK_INT(assay__memory_growth(marks, 9, &growth), 0); /* too few to say */
    CHECK(isnan(growth.bytes) && isnan(growth.low) && isnan(growth.smallest));
    for (int i = 0; i < 101; i++)
        marks[i] = -3 * i;
    CHECK_INT(assay__memory_growth(marks, 101, &growth), 0);
    CHECK_NEAR(growth.bytes, -3, 0);
    CHECK(growth.high < 0);
    for (int i = 0; i < 101;
         i++) /* a slow wave is no growth, though its marks depend on each other */
        marks[i] = (int64_t)(1000 * sin(2 * 3.14159265358979 * (double)i / 80));
    CHECK_INT(assay__memory_growth(marks, 101, &growth), 0);
    CHECK(growth.low < 0 && growth.high > 0);
}

/* Pools and caches grow too, but they end: no leak. */
static void test_growth_settles(void)
{
    int64_t marks[1000];
    struct assay__growth growth;
    for (int i = 0; i < 1000; i++) /* all the way to 600, then no more */
        marks[i] = 44 * (i < 600 ? i : 600);
    CHECK_INT(assay__memory_growth(marks, 1000, &growth), 0);
    CHECK(growth.settled);
    CHECK_NEAR(growth.bytes, 0, 0);
    CHECK(growth.low <= 0 && growth.high >= 0);
    CHECK_NEAR(growth.total, 44 * 600, 0);
    for (int i = 0; i < 1000; i++) /* ever less, with half of its way still to go */
        marks[i] = (int64_t)(1e6 * (1 - exp(-i / 700.0)));
    CHECK_INT(assay__memory_growth(marks, 1000, &growth), 0);
    CHECK(growth.settled && growth.low <= 0);
    CHECK(growth.bytes > 0); /* the last third's slope is told */
    for (int i = 0; i < 1000; i++)
        marks[i] = -44 * (i < 600 ? i : 600);
    CHECK_INT(assay__memory_growth(marks, 1000, &growth), 0);
    CHECK(growth.settled && growth.high >= 0);
    for (int i = 0; i < 1000; i++) /* one that grows more and more is not settled */
        marks[i] = (int64_t)i * i;
    CHECK_INT(assay__memory_growth(marks, 1000, &growth), 0);
    CHECK(!growth.settled && growth.low > 0);
}

/* What is said to be the smallest growth that would have shown does show when it is there. */
static void test_growth_smallest(void)
{
    enum { COUNT = 96 };
    int64_t marks[COUNT], more[COUNT];
    struct assay__growth growth, seen;
    for (int i = 0; i < COUNT; i++)
        marks[i] = 0;
    CHECK_INT(assay__memory_growth(marks, COUNT, &growth), 0);
    CHECK_NEAR(growth.every, COUNT / 8, 0);
    for (int every = 1; every <= (int)growth.every; every++)
        for (int phase = 0; phase < every; phase++) {
            for (int i = 0; i < COUNT; i++)
                more[i] = 24 * ((i + phase) / every);
            CHECK_INT(assay__memory_growth(more, COUNT, &seen), 0);
            CHECK(seen.low > 0 && !seen.settled);
        }
    for (int i = 0; i < COUNT; i++) /* memory that comes and goes */
        marks[i] = (int64_t)((uint32_t)i * 2654435761u >> 12) % 5000 * 1000;
    CHECK_INT(assay__memory_growth(marks, COUNT, &growth), 0);
    CHECK(growth.low < 0 && growth.high > 0 && growth.smallest > 0);
    for (int i = 0; i < COUNT; i++)
        more[i] = marks[i] + (int64_t)ceil(growth.smallest * 1.001) * i;
    CHECK_INT(assay__memory_growth(more, COUNT, &seen), 0);
    CHECK(seen.low > 0 && !seen.settled);
    for (int i = 0; i < COUNT; i++) /* and half of it does not: the figure is no empty promise */
        more[i] = marks[i] + (int64_t)(growth.smallest / 2) * i;
    CHECK_INT(assay__memory_growth(more, COUNT, &seen), 0);
    CHECK(seen.low <= 0);
}

/* --- the tracker, in a process of its own ----------------------------------------------------- */

#define THREADS 4

/* Through pointers, so that the compiler leaves every call where it stands. */
static void *(*volatile do_malloc)(size_t) = malloc;
static void *(*volatile do_calloc)(size_t, size_t) = calloc;
static void *(*volatile do_realloc)(void *, size_t) = realloc;
static int (*volatile do_posix)(void **, size_t, size_t) = posix_memalign;
static void *(*volatile do_aligned)(size_t, size_t) = aligned_alloc;
static void (*volatile do_free)(void *) = free;

static atomic_int go, done;
static void *kept[THREADS][10];

/* 100 blocks of 100 bytes released, 10 of 200 kept, one grown from 300 to 5,000 and released: per
 * thread 112 allocations of 10,000 + 2,000 + 300 + 5,000 bytes, 102 releases of 15,300 bytes. */
static void *work(void *argument)
{
    size_t index = (size_t)argument;
    while (!atomic_load(&go))
        sched_yield();
    for (int i = 0; i < 100; i++)
        do_free(do_malloc(100));
    for (int i = 0; i < 10; i++)
        kept[index][i] = do_calloc(10, 20);
    void *grown = do_realloc(do_malloc(300), 5000);
    memset(grown, 1, 5000);
    do_free(grown);
    atomic_fetch_add(&done, 1);
    while (atomic_load(&go) < 2) /* a thread's end may release memory: not yet */
        sched_yield();
    return NULL;
}

#define REQUIRE(condition)                                            \
    do {                                                              \
        if (!(condition)) {                                           \
            printf("  tracked: line %d: %s\n", __LINE__, #condition); \
            fflush(stdout);                                           \
            _exit(1);                                                 \
        }                                                             \
    } while (0)

static uint64_t class_count(const struct assay__track_api *track, int power)
{
    struct assay__track_class classes[ASSAY__TRACK_CLASSES];
    track->classes(ASSAY__TRACK_WARM, classes);
    return classes[power].count;
}

static void check_threads(const struct assay__track_api *track)
{
    struct assay__track_totals totals;
    struct assay__track_site sites[8];
    track->totals(ASSAY__TRACK_WARM, &totals);
    REQUIRE(totals.count == THREADS * 112 + 2);
    REQUIRE(totals.bytes == THREADS * 17300 + 4096 + 64);
    REQUIRE(totals.freed_count == THREADS * 102);
    REQUIRE(totals.freed_bytes == THREADS * 15300);
    REQUIRE(totals.live_bytes == THREADS * 2000 + 4096 + 64);
    REQUIRE(totals.peak_live_bytes >= totals.live_bytes);
    REQUIRE(totals.peak_live_bytes <= THREADS * 7400 + 4096 + 64);
    REQUIRE(totals.inferences == 1);
    REQUIRE(class_count(track, 6) == THREADS * 100 + 1); /* 64 … 127 */
    REQUIRE(class_count(track, 7) == THREADS * 10);      /* 128 … 255 */
    REQUIRE(class_count(track, 8) == THREADS);           /* 256 … 511 */
    REQUIRE(class_count(track, 12) == THREADS + 1);      /* 4,096 … 8,191 */
    size_t count = track->sites(ASSAY__TRACK_WARM, sites, 8);
    REQUIRE(count >= 6 && count <= 8);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        REQUIRE(strstr(sites[i].text, "test_memory_track+0x") != NULL);
        REQUIRE(i == 0 || sites[i].bytes <= sites[i - 1].bytes);
        bytes += sites[i].bytes;
    }
    REQUIRE(bytes == totals.bytes);
    REQUIRE(sites[0].bytes == THREADS * 10000 && sites[0].count == THREADS * 100);
    REQUIRE(sites[0].live_bytes == 0);
}

/* What the process does that has the tracker loaded. */
static int tracked_program(void)
{
    assay__track_fn *ask = NULL;
    pthread_t threads[THREADS];
    void *symbol = assay__symbol_anywhere(ASSAY__TRACK_SYMBOL), *one = NULL;
    REQUIRE(symbol != NULL);
    memcpy(&ask, &symbol, sizeof ask);
    const struct assay__track_api *track = ask();
    REQUIRE(track->abi == ASSAY__TRACK_ABI && track->size == sizeof *track);
    void *before = do_malloc(1000); /* nobody asked yet */
    for (size_t i = 0; i < THREADS;
         i++) /* a thread's own memory is not to be counted: made before */
        REQUIRE(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    track->phase(ASSAY__TRACK_WARM);
    track->enter();
    atomic_store(&go, 1);
    while (atomic_load(&done) < THREADS)
        sched_yield();
    REQUIRE(do_posix(&one, 64, 4096) == 0);
    void *two = do_aligned(64, 64);
    do_free(before);                                /* not one of those that were seen */
    REQUIRE(do_realloc(two, SIZE_MAX / 2) == NULL); /* fails: the block stays */
    track->leave(true);
    track->phase(ASSAY__TRACK_NONE);
    void *outside = do_malloc(12345);
    check_threads(track);
    const int64_t *marks = NULL;
    REQUIRE(track->marks(&marks) == 1 && marks[0] == THREADS * 2000 + 4096 + 64);
    REQUIRE(track->dropped() == 0);
    do_free(one);
    do_free(two);
    do_free(outside);
    for (size_t i = 0; i < THREADS; i++)
        for (int k = 0; k < 10; k++)
            do_free(kept[i][k]);
    track->phase(ASSAY__TRACK_FIRST); /* what is left is nothing */
    track->phase(ASSAY__TRACK_NONE);
    struct assay__track_totals totals;
    track->totals(ASSAY__TRACK_FIRST, &totals);
    REQUIRE(totals.count == 0 && totals.live_bytes == 0);
    atomic_store(&go, 2);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

static void test_tracker_counts(void)
{
    if (!has_tracker()) SKIP("this build has no allocation tracker: malloc is the sanitizer's");
    static const char program[] = ASSAY_TEST_BUILD "/tests/unit/test_memory_track";
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char *argv[] = {(char *)harness_emulator(), (char *)program, "--tracked", NULL};
        char **command = argv[0] ? argv : argv + 1;
        setenv("LD_PRELOAD", LIBRARY, 1);
        execv(command[0], command);
        _exit(9);
    }
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

/* --- what a worker may not say ---------------------------------------------------------------- */

static int read_message(const char *text, struct assay__tracked **tracked,
                        struct assay__arena *arena, struct assay_error *error)
{
    struct assay__json *root = NULL;
    *tracked = NULL;
    CHECK_INT(assay__json_parse(arena, text, strlen(text), &root, error), 0);
    return assay__tracked_read(root, arena, tracked, error);
}

static void test_message(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__tracked *tracked;
    struct assay_error error = {0};
    CHECK_INT(read_message("{\"growth_bytes\": 1.5, \"growth_low_bytes\": 1,"
                           " \"growth_high_bytes\": 2, \"heap_bytes\": 10,"
                           " \"heap_used_bytes\": 4, \"marks\": 30, \"phases\": [{\"name\":"
                           " \"warm\", \"inferences\": 30, \"count\": 60, \"bytes\": 90,"
                           " \"freed_count\": 1, \"freed_bytes\": 2, \"live_bytes\": -3,"
                           " \"peak_live_bytes\": 4}], \"classes\": [{\"phase\": \"warm\","
                           " \"low_bytes\": 0, \"high_bytes\": 2, \"count\": 1, \"bytes\": 1},"
                           " {\"phase\": \"warm\", \"low_bytes\": 4, \"count\": 1, \"bytes\": 1}],"
                           " \"sites\": []}",
                           &tracked, arena, &error),
              0);
    CHECK_NEAR(tracked->seen.growth_bytes, 1.5, 0);
    CHECK_NEAR(tracked->seen.phases[0].live_bytes, -3, 0);
    CHECK_NEAR(tracked->seen.classes[0].low_bytes, 0, 0);
    CHECK_NEAR(tracked->seen.classes[0].high_bytes, 2, 0);
    CHECK(isinf(tracked->seen.classes[1].high_bytes));
    CHECK(isnan(tracked->arena_held));
    CHECK_INT(read_message("{}", &tracked, arena, &error), 0); /* nothing told: nothing known */
    CHECK(isnan(tracked->seen.growth_bytes) && tracked->seen.phase_count == 0);
    static const char *const wrong[] = {
        "{\"growth_low_bytes\": 3, \"growth_high_bytes\": 2}",
        "{\"heap_bytes\": 1, \"heap_used_bytes\": 2}",
        "{\"phases\": [{\"name\": \"warm\"}]}",
        ("{\"phases\": [{\"name\": \"warm\", \"inferences\": 1, \"count\": -1, \"bytes\": 1,"
         " \"freed_count\": 0, \"freed_bytes\": 0}]}"),
        ("{\"classes\": [{\"phase\": \"warm\", \"low_bytes\": 4, \"high_bytes\": 2, \"count\": 1,"
         " \"bytes\": 1}]}"),
        "{\"classes\": [{\"phase\": \"warm\", \"count\": 1, \"bytes\": 1}]}",
        "{\"sites\": [{\"phase\": \"warm\", \"site\": \"x\", \"count\": 1e30, \"bytes\": 1}]}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_INT(read_message(wrong[i], &tracked, arena, &error), ASSAY_EFORMAT);
        CHECK(tracked == NULL);
    }
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"growth_of_a_leak", test_growth_of_a_leak}, {"growth_of_none", test_growth_of_none},
        {"growth_settles", test_growth_settles},     {"growth_smallest", test_growth_smallest},
        {"tracker_counts", test_tracker_counts},     {"message", test_message},
    };
    if (argc > 1 && strcmp(argv[1], "--tracked") == 0) return tracked_program();
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
