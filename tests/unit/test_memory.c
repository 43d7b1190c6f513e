/* test_memory.c - the memory's watcher: growth per inference on made-up marks, the allocation tracker on a program that allocates a known
 * set in several threads, the fake engine's leaks through a whole run, the process probe on files, and what is said when a part of it
 * cannot be had. */
#include "run_fixture.h"
#include "scratch.h"

#include "base/json.h"
#include "base/track.h"
#include "platform/platform.h"
#include "probe/probe.h"
#include "probe/procmem.h"
#include "profile/profile.h"
#include "run/memory_growth.h"
#include "run/memory_track.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>

#define LIBRARY ASSAY_TEST_BUILD "/libassay-track.so"

static bool has_tracker(void)
{
    return access(LIBRARY, R_OK) == 0 && assay__preload_variable() != NULL;
}

/* --- growth ------------------------------------------------------------------------------------- */

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

/* --- the tracker, in a process of its own --------------------------------------------------------- */

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

/* 100 blocks of 100 bytes released, 10 of 200 kept, one grown from 300 to 5,000 and released: per thread 112 allocations of
 * 10,000 + 2,000 + 300 + 5,000 bytes, 102 releases of 15,300 bytes. */
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
        REQUIRE(strstr(sites[i].text, "test_memory+0x") != NULL);
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
    char program[4096];
    CHECK_INT(assay__executable_path(program, sizeof program), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("LD_PRELOAD", LIBRARY, 1);
        execl(program, program, "--tracked", (char *)NULL);
        _exit(9);
    }
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
}

/* --- whole runs ---------------------------------------------------------------------------------- */

static struct assay_profile *run(const char *script, int64_t iterations)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 1);
    struct assay_run_options options = {.size = sizeof options,
                                        .engine = "fake",
                                        .script = script,
                                        .timeout_s = 60,
                                        .iterations = iterations,
                                        .warmup_plus_1 = 1 + 5,
                                        .memory = true};
    int code = assay_run(&options, &profile, &error);
    if (code) printf("  code %d: %s\n", code, error.message);
    CHECK_INT(code, 0);
    return profile;
}

static const struct assay__allocation_phase *phase(const struct assay_profile *profile,
                                                   const char *name)
{
    const struct assay__allocations *a = &profile->trials[0].allocations;
    for (size_t i = 0; i < a->phase_count; i++)
        if (strcmp(a->phases[i].name, name) == 0) return &a->phases[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

static const struct assay__series_info *series(const struct assay_profile *profile,
                                               const char *name)
{
    const struct assay__trial *trial = &profile->trials[0];
    for (size_t i = 0; i < trial->series_count; i++)
        if (strcmp(trial->series[i].name, name) == 0) return &trial->series[i];
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

static void test_leak_shows(void)
{
    if (!has_tracker()) SKIP("this build has no allocation tracker: malloc is the sanitizer's");
    struct assay_profile *profile = run("steady=1ms;allocate=1000;leak=64", 50);
    CHECK_NEAR(value(profile, "memory.allocations"), 2, 0);
    CHECK_NEAR(value(profile, "memory.allocated"), 1064, 0);
    CHECK_NEAR(value(profile, "memory.growth"), 64, 0);
    CHECK_HAS(metric(profile, "memory.growth")->note, "it grows");
    CHECK_NEAR(value(profile, "overhead.allocations"), 1, 0); /* on the script's clock */
    const struct assay__allocations *a = &profile->trials[0].allocations;
    CHECK_STR(a->reason, "");
    CHECK_NEAR(a->growth_low, 64, 0);
    CHECK_NEAR(a->growth_high, 64, 0);
    const struct assay__allocation_phase *first = phase(profile, "first"),
                                         *warm = phase(profile, "warm");
    CHECK_INT(first->inferences, 1);
    CHECK_NEAR(first->count, 2, 0);
    CHECK_NEAR(first->bytes, 1064, 0);
    const struct assay__allocation_phase *prerun = phase(profile, "prerun");
    CHECK(prerun->inferences >= 5); /* --warmup 5, or the longer one of the second look */
    CHECK_NEAR(prerun->count, 2 * (double)prerun->inferences, 0);
    CHECK_NEAR(prerun->live_bytes, first->live_bytes + 64 * (double)prerun->inferences, 0);
    CHECK_NEAR(warm->live_bytes, prerun->live_bytes + 64 * (double)warm->inferences, 0);
    CHECK(warm->inferences >= 1000);
    double n = (double)warm->inferences;
    CHECK_NEAR(warm->count, 2 * n, 0);
    CHECK_NEAR(warm->freed_count, n, 0);
    CHECK_NEAR(warm->freed_bytes, 1000 * n, 0);
    CHECK_NEAR(warm->peak_live_bytes - warm->live_bytes, 936, 0); /* 1000 held, before 64 more */
    size_t classes = 0;
    for (size_t i = 0; i < a->class_count; i++) {
        if (strcmp(a->classes[i].phase, "warm") != 0) continue;
        bool small = a->classes[i].low_bytes == 64;
        CHECK_NEAR(a->classes[i].low_bytes, small ? 64 : 512, 0);
        CHECK_NEAR(a->classes[i].high_bytes, small ? 128 : 1024, 0);
        CHECK_NEAR(a->classes[i].count, n, 0);
        CHECK_NEAR(a->classes[i].bytes, (small ? 64 : 1000) * n, 0);
        classes++;
    }
    CHECK_INT(classes, 2);
    assay_profile_close(profile);
}

/* A pool that fills over 2,500 inferences: the first look, from 7 to about 1,000, sees a leak, the second one does not. */
static void test_pool_is_no_leak(void)
{
    if (!has_tracker()) SKIP("this build has no allocation tracker: malloc is the sanitizer's");
    struct assay_profile *profile = run("steady=1ms;leak=64;leak_until=2500", 50);
    CHECK_NEAR(value(profile, "memory.growth"), 0, 0);
    CHECK_HAS(metric(profile, "memory.growth")->note, "no growth shown");
    CHECK(phase(profile, "prerun")->inferences >= 2500);
    CHECK_NEAR(phase(profile, "warm")->live_bytes - phase(profile, "load")->live_bytes, 64 * 2500,
               0);
    assay_profile_close(profile);
}

static void test_no_leak_says_so(void)
{
    if (!has_tracker()) SKIP("this build has no allocation tracker: malloc is the sanitizer's");
    struct assay_profile *profile = run("steady=1ms;allocate=3000", 50);
    CHECK_NEAR(value(profile, "memory.growth"), 0, 0);
    CHECK_HAS(metric(profile, "memory.growth")->note, "no growth shown");
    CHECK_NEAR(value(profile, "memory.allocations"), 1, 0);
    assay_profile_close(profile);
    profile = run("steady=1ms", 50); /* nothing at all is allocated: 0, and that is known */
    CHECK_NEAR(value(profile, "memory.allocations"), 0, 0);
    CHECK_INT(metric(profile, "memory.allocations")->state, ASSAY_DERIVED);
    assay_profile_close(profile);
}

/* The tracked launch runs longer than the measured one: only it meets the crash. */
static void test_tracked_launch_dies(void)
{
    if (!has_tracker()) SKIP("this build has no allocation tracker: malloc is the sanitizer's");
    struct assay_profile *profile = run("steady=1ms;crash_at=500", 50);
    CHECK_INT(profile->trials[0].state, ASSAY__TRIAL_OK);
    CHECK_NEAR(value(profile, "latency.p50"), 1e-3, 1e-15);
    CHECK_HAS(profile->trials[0].allocations.reason, "SIGSEGV");
    CHECK_INT(profile->trials[0].allocations.phase_count, 0);
    CHECK(isnan(profile->trials[0].allocations.growth_bytes));
    CHECK_HAS(metric(profile, "memory.growth")->note, "SIGSEGV");
    CHECK_INT(metric(profile, "memory.allocations")->state, ASSAY_UNAVAILABLE);
    assay_profile_close(profile);
}

static void test_tracker_missing(void)
{
    setenv("ASSAY_TRACK_LIBRARY", "/no/such/tracker.so", 1);
    struct assay_profile *profile = run("steady=1ms", 50);
    CHECK_NEAR(value(profile, "latency.p50"), 1e-3, 1e-15);
    CHECK_HAS(profile->trials[0].allocations.reason, has_tracker() ? "/no/such/tracker.so"
                                                     : assay__preload_variable()
                                                         ? "sanitizers"
                                                         : "in front of the C library");
    CHECK_STR(metric(profile, "memory.fragmentation")->note, profile->trials[0].allocations.reason);
    assay_profile_close(profile);
}

static void test_preload_reasons(void)
{
    const char *preload = NULL;
    struct assay_error error = {0};
    struct assay__arena *arena = assay__arena_new();
    if (!has_tracker()) SKIP("this build has no allocation tracker: malloc is the sanitizer's");
    unsetenv("LD_PRELOAD");
    CHECK_INT(assay__track_preload("/no/such/assay-worker", arena, &preload, &error),
              ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "/no/such");
    CHECK_INT(assay__track_preload(ASSAY_TEST_BUILD "/assay-worker", arena, &preload, &error), 0);
    CHECK_STR(preload, "LD_PRELOAD=" LIBRARY);
    setenv("LD_PRELOAD", "/usr/lib/other.so", 1); /* what the user loads stays loaded */
    CHECK_INT(assay__track_preload(ASSAY_TEST_BUILD "/assay-worker", arena, &preload, &error), 0);
    CHECK_STR(preload, "LD_PRELOAD=" LIBRARY ":/usr/lib/other.so");
    setenv("LD_PRELOAD", "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so", 1);
    CHECK_INT(assay__track_preload(ASSAY_TEST_BUILD "/assay-worker", arena, &preload, &error),
              ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "another tool owns malloc");
    unsetenv("LD_PRELOAD");
    assay__arena_free(arena);
}

/* 40 MB are held while 40 steps of 10 ms run: readings every 20 ms cannot miss them. On the script's clock a step is so long that the
 * tracked launch does but three, too few to speak of growth. */
static void test_timeline(void)
{
    struct assay_profile *profile = run("steady=500ms;pace=10ms;hold=40e6", 40);
    const struct assay__series_info *rss = series(profile, "memory.rss.worker");
    double most = 0;
    if (rss->state == ASSAY_UNAVAILABLE) {
        CHECK(rss->count == 0 && rss->note[0]);
        CHECK(access("/proc/self/statm", R_OK) != 0);
        SKIP("this system has no /proc");
    }
    CHECK_INT(rss->launch, 1);
    CHECK_STR(rss->unit, "B");
    CHECK(rss->count >= 2);
    for (size_t i = 0; i < rss->count; i++) {
        if (rss->values[i] > most) most = rss->values[i];
        CHECK(i == 0 || rss->times_ns[i] > rss->times_ns[i - 1]);
    }
    CHECK(most >= 40e6 && most < 4e8);
    double end = 0; /* what comes behind the last window is not the model's */
    for (size_t i = 0; i < profile->trials[0].span_count; i++)
        end = fmax(end, profile->trials[0].spans[i].end_ns);
    CHECK(end > 0 && rss->times_ns[rss->count - 1] <= end);
    char said[32];
    snprintf(said, sizeof said, "%zu reading", rss->count); /* those that are kept */
    CHECK_HAS(rss->note, said);
    CHECK(series(profile, "faults.minor.worker")->counter);
    CHECK_HAS(metric(profile, "memory.peak.device")->note, "used the CPU");
    CHECK_NEAR(value(profile, "memory.total"), value(profile, "memory.peak.worker"), 0);
    CHECK(value(profile, "memory.total") >= 40e6);
    CHECK_INT(metric(profile, "memory.growth")->state, ASSAY_UNAVAILABLE);
    if (has_tracker()) CHECK_HAS(metric(profile, "memory.growth")->note, "too few");
    assay_profile_close(profile);
}

static struct assay_profile *run_on_gpu(const char *nvml)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 1);
    setenv("ASSAY_NVML_LIBRARY", ASSAY_TEST_BUILD "/tests/lib/lib_fake_nvml.so", 1);
    setenv("ASSAY_TRACK_LIBRARY", "/no/such/tracker.so", 1);
    setenv("ASSAY_FAKE_DEVICES", "gpu:0", 1);
    setenv("FAKE_NVML", nvml, 1);
    struct assay_run_options options = {.size = sizeof options,
                                        .engine = "fake",
                                        .device = "gpu:0",
                                        .script = "steady=1ms;pace=10ms",
                                        .iterations = 30,
                                        .warmup_plus_1 = 1 + 5,
                                        .memory = true};
    int code = assay_run(&options, &profile, &error);
    if (code) printf("  code %d: %s\n", code, error.message);
    CHECK_INT(code, 0);
    return profile;
}

static void test_device_memory(void)
{
    struct assay_profile *profile = run_on_gpu("child");
    if (isnan(metric(profile, "memory.peak.device")->value) &&
        access("/proc/self/task/1/children", R_OK) != 0)
        CHECK(metric(profile, "memory.peak.device")->note[0]); /* no such list on this kernel */
    else {
        CHECK_NEAR(value(profile, "memory.peak.device"), 3000, 0);
        CHECK_INT(metric(profile, "memory.peak.device")->state, ASSAY_MEASURED);
        CHECK_NEAR(value(profile, "memory.total"), 3000 + value(profile, "memory.peak.worker"), 0);
        CHECK_INT(series(profile, "memory.device.gpu0")->state, ASSAY_MEASURED);
    }
    CHECK_INT(series(profile, "memory.device.gpu1")->state, ASSAY_UNAVAILABLE);
    assay_profile_close(profile);
}

/* NVML does not list the worker (a container's process ids differ): the growth of the whole GPU stands in, and says so. */
static void test_device_memory_in_container(void)
{
    struct assay_profile *profile = run_on_gpu("grow");
    const struct assay_metric *peak = metric(profile, "memory.peak.device");
    CHECK_INT(peak->state, ASSAY_DERIVED);
    CHECK(peak->value >= 1e6 && fmod(peak->value, 1e6) == 0);
    CHECK_HAS(peak->note, "on gpu0");
    CHECK_INT(series(profile, "memory.device.gpu0")->state, ASSAY_UNAVAILABLE);
    CHECK_INT(series(profile, "memory.device.gpu0.all")->state, ASSAY_MEASURED);
    assay_profile_close(profile);
    setenv("ASSAY_NVML_LIBRARY", "/no/such/nvml.so", 1);
    struct assay_error error = {0};
    struct assay_run_options options = {.size = sizeof options,
                                        .engine = "fake",
                                        .device = "gpu:0",
                                        .script = "steady=1ms",
                                        .iterations = 30,
                                        .memory = true};
    CHECK_INT(assay_run(&options, &profile, &error), 0);
    CHECK_HAS(metric(profile, "memory.peak.device")->note, "/no/such/nvml.so");
    CHECK_INT(metric(profile, "memory.total")->state, ASSAY_UNAVAILABLE);
    assay_profile_close(profile);
}

static struct assay_profile *run_on(const char *device, bool memory)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 1);
    setenv("ASSAY_TRACK_LIBRARY", "/no/such/tracker.so", 1);
    setenv("ASSAY_NVML_LIBRARY", "/no/such/nvml.so", 1);
    setenv("ASSAY_FAKE_DEVICES", "openvino:cpu;openvino:npu;webgpu:0;gpu:0", 1);
    struct assay_run_options options = {.size = sizeof options,
                                        .engine = "fake",
                                        .device = device,
                                        .script = "steady=1ms",
                                        .iterations = 30,
                                        .memory = memory};
    int code = assay_run(&options, &profile, &error);
    if (code) printf("  code %d: %s\n", code, error.message);
    CHECK_INT(code, 0);
    return profile;
}

/* A CPU by another name has no memory of its own, asked for or not; of a device that is no NVIDIA GPU, NVML is not the reason. */
static void test_memory_by_device(void)
{
    static const char *const cpus[] = {NULL, "openvino:cpu"};
    for (size_t i = 0; i < 4; i++) {
        struct assay_profile *profile = run_on(cpus[i / 2], i % 2);
        CHECK_HAS(metric(profile, "memory.peak.device")->note, "used the CPU");
        if (isfinite(metric(profile, "memory.peak.worker")->value))
            CHECK_NEAR(value(profile, "memory.total"), value(profile, "memory.peak.worker"), 0);
        else
            CHECK_STR(metric(profile, "memory.total")->note,
                      metric(profile, "memory.peak.worker")->note);
        assay_profile_close(profile);
    }
    static const char *const others[] = {"webgpu:0", "openvino:npu"};
    for (size_t i = 0; i < 2; i++) {
        struct assay_profile *profile = run_on(others[i], true);
        const char *note = metric(profile, "memory.peak.device")->note;
        CHECK_HAS(note, others[i]);
        CHECK(strstr(note, "/no/such/nvml.so") == NULL);
        CHECK_STR(metric(profile, "memory.total")->note, note);
        assay_profile_close(profile);
    }
    struct assay_profile *profile = run_on("gpu:0", false);
    CHECK_HAS(metric(profile, "memory.total")->note, "--memory reads it");
    assay_profile_close(profile);
}

/* Another machine's files do not hold our worker: neither what assay nor what the worker would read there is told. */
static void test_fsroot(void)
{
    setenv("ASSAY_FSROOT", ASSAY_TEST_ROOT "/tests/fixtures/fsroot-laptop", 1);
    CHECK(access(ASSAY_TEST_ROOT "/tests/fixtures/fsroot-laptop/proc/self/status", R_OK) == 0);
    struct assay_profile *profile = run("steady=1ms", 50);
    static const char *const own[] = {"memory.peak.worker", "memory.baseline.worker",
                                      "memory.pss.worker", "memory.total"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        CHECK_INT(metric(profile, own[i])->state, ASSAY_UNAVAILABLE);
        CHECK_HAS(metric(profile, own[i])->note, "ASSAY_FSROOT");
    }
    const struct assay__series_info *rss = series(profile, "memory.rss.worker"),
                                    *pss = series(profile, "memory.pss.worker");
    CHECK_INT(rss->state, ASSAY_UNAVAILABLE);
    CHECK_INT(rss->count, 0);
    CHECK_HAS(rss->note, "ASSAY_FSROOT");
    CHECK_INT(pss->state, ASSAY_UNAVAILABLE);
    assay_profile_close(profile);
}

/* --- what a worker may not say ---------------------------------------------------------------------- */

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
    CHECK_INT(read_message("{\"growth\": 1.5, \"growth_low\": 1, \"growth_high\": 2, \"heap\": 10,"
                           " \"heap_used\": 4, \"marks\": 30, \"phases\": [{\"name\": \"warm\","
                           " \"inferences\": 30, \"count\": 60, \"bytes\": 90, \"freed_count\": 1,"
                           " \"freed_bytes\": 2, \"live\": -3, \"peak\": 4}],"
                           " \"classes\": [{\"phase\": \"warm\", \"class\": 0, \"count\": 1,"
                           " \"bytes\": 1}, {\"phase\": \"warm\", \"class\": 47, \"count\": 1,"
                           " \"bytes\": 1}], \"sites\": []}",
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
        "{\"growth_low\": 3, \"growth_high\": 2}",
        "{\"heap\": 1, \"heap_used\": 2}",
        "{\"phases\": [{\"name\": \"warm\"}]}",
        ("{\"phases\": [{\"name\": \"warm\", \"inferences\": 1, \"count\": -1, \"bytes\": 1,"
         " \"freed_count\": 0, \"freed_bytes\": 0}]}"),
        "{\"classes\": [{\"phase\": \"warm\", \"class\": 64, \"count\": 1, \"bytes\": 1}]}",
        "{\"sites\": [{\"phase\": \"warm\", \"site\": \"x\", \"count\": 1e30, \"bytes\": 1}]}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_INT(read_message(wrong[i], &tracked, arena, &error), ASSAY_EFORMAT);
        CHECK(tracked == NULL);
    }
    assay__arena_free(arena);
}

/* --- the probe ----------------------------------------------------------------------------------------- */

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(scratch(name), "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static double reading(const char *probe_name, const char *channel, const char **reason)
{
    static struct assay__probe_reading readings[8];
    const struct assay__channel *channels;
    const struct assay__probe_ops *ops = assay__probe_find(probe_name);
    struct assay__probe *probe = NULL;
    static struct assay__arena *arena;
    if (!arena) arena = assay__arena_new();
    CHECK(ops && ops->open(arena, &probe, NULL) == 0);
    size_t count = ops->channels(probe, &channels);
    double value = -1;
    ops->read(probe, readings);
    for (size_t i = 0; i < count; i++)
        if (strcmp(channels[i].name, channel) == 0) {
            value = readings[i].value;
            *reason = assay__arena_strdup(arena, readings[i].reason);
        }
    ops->close(probe);
    return value;
}

static void test_process_probe(void)
{
    const char *why = "";
    CHECK_INT(mkdir(scratch("proc"), 0700), 0);
    CHECK_INT(mkdir(scratch("proc/4242"), 0700), 0);
    put_file("proc/4242/statm", "5000 1234 600 10 0 900 0\n");
    put_file("proc/4242/stat",
             "4242 (a ) (b) S 1 4242 4242 0 -1 4194304 777 0 5 0 10 3 0 0 20 0 9 0 "
             "123 20480000 1234\n");
    put_file("proc/4242/smaps_rollup", "00400000-7ffd000 ---p 00000000 00:00 0  [rollup]\n"
                                       "Rss:                4936 kB\nPss:                4321 kB\n"
                                       "Pss_Anon:           3000 kB\n");
    setenv("ASSAY_FSROOT", scratch_folder, 1);
    CHECK(isnan(reading("process", "memory.rss", &why))); /* nobody was named */
    CHECK_HAS(why, "ASSAY_FSROOT");
    assay__procmem_target(4242);
    CHECK_NEAR(reading("process", "memory.rss", &why), 1234 * 4096, 0);
    CHECK_NEAR(reading("process", "faults.minor", &why), 777, 0);
    CHECK_NEAR(reading("process", "faults.major", &why), 5, 0);
    CHECK_NEAR(reading("process", "threads", &why), 9, 0);
    CHECK_NEAR(reading("process-pss", "memory.pss", &why), 4321 * 1024, 0);
    put_file("proc/4242/statm", "0 0 0 0 0 0 0\n"); /* what a dead process leaves */
    put_file("proc/4242/stat", "no such thing\n");
    put_file("proc/4242/smaps_rollup", "Rss: 1 kB\n");
    CHECK(isnan(reading("process", "memory.rss", &why)));
    CHECK_HAS(why, "ended");
    CHECK(isnan(reading("process", "threads", &why)));
    CHECK_HAS(why, "not the line of a process");
    CHECK(isnan(reading("process-pss", "memory.pss", &why)));
    CHECK_HAS(why, "does not tell");
    assay__procmem_target(4243);
    CHECK(isnan(reading("process", "memory.rss", &why)));
    CHECK(why[0] != '\0');
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"growth_of_a_leak", test_growth_of_a_leak},
        {"growth_of_none", test_growth_of_none},
        {"growth_settles", test_growth_settles},
        {"growth_smallest", test_growth_smallest},
        {"tracker_counts", test_tracker_counts},
        {"leak_shows", test_leak_shows},
        {"pool_is_no_leak", test_pool_is_no_leak},
        {"no_leak_says_so", test_no_leak_says_so},
        {"tracked_launch_dies", test_tracked_launch_dies},
        {"tracker_missing", test_tracker_missing},
        {"preload_reasons", test_preload_reasons},
        {"timeline", test_timeline},
        {"device_memory", test_device_memory},
        {"device_memory_in_container", test_device_memory_in_container},
        {"memory_by_device", test_memory_by_device},
        {"fsroot", test_fsroot},
        {"message", test_message},
        {"process_probe", test_process_probe},
    };
    if (argc > 1 && strcmp(argv[1], "--tracked") == 0) return tracked_program();
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
