/* test_memory.c - the memory's watcher: the fake engine's leaks through a whole run, the memory of
 * devices, the process probe on files, and what is said when a part of it cannot be had. Growth and
 * the tracker alone are in test_memory_track.c. */
#include "run_fixture.h"
#include "scratch.h"

#include "platform/platform.h"
#include "probe/probe.h"
#include "probe/procmem.h"
#include "profile/profile.h"
#include "run/watch/memory_track.h"

#include <sys/stat.h>

#define LIBRARY ASSAY_TEST_BUILD "/libassay-track.so"

static bool has_tracker(void)
{
    return access(LIBRARY, R_OK) == 0 && assay__preload_variable() != NULL;
}

/* --- whole runs ------------------------------------------------------------------------------- */

static struct assay_profile *run(const char *script, int64_t iterations)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    struct assay__run_options options = {.target.engine = "fake",
                                         .script = script,
                                         .measuring.timeout_s = 60,
                                         .measuring.iterations = iterations,
                                         .measuring.warmup_given = true,
                                         .measuring.warmup = 5,
                                         .watching.memory = true};
    int code = assay__run(&options, &profile, &error);
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

/* A pool that fills over 2,500 inferences: the first look, from 7 to about 1,000, sees a leak, the
 * second one does not. */
static void test_pool_is_no_leak(void)
{
    if (!has_tracker()) SKIP("this build has no allocation tracker: malloc is the sanitizer's");
    struct assay_profile *profile = run("steady=1ms;leak=64;leak_until=2500", 50);
    CHECK_NEAR(value(profile, "memory.growth"), 0, 0);
    CHECK_HAS(metric(profile, "memory.growth")->note, "no growth detected;");
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
    CHECK_HAS(metric(profile, "memory.growth")->note, "no growth detected;");
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
    CHECK_HAS(error.message, "another tool replaces malloc");
    unsetenv("LD_PRELOAD");
    assay__arena_free(arena);
}

/* 40 MB are held while 40 steps of 10 ms run: readings every 20 ms cannot miss them. On the
 * script's clock a step is so long that the tracked launch does but three, too few to speak of
 * growth. */
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
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    setenv("ASSAY_NVML_LIBRARY", ASSAY_TEST_BUILD "/tests/lib/lib_fake_nvml.so", 1);
    setenv("ASSAY_TRACK_LIBRARY", "/no/such/tracker.so", 1);
    setenv("ASSAY_FAKE_DEVICES", "gpu:0", 1);
    setenv("FAKE_NVML", nvml, 1);
    struct assay__run_options options = {.target.engine = "fake",
                                         .target.device = "gpu:0",
                                         .script = "steady=1ms;pace=10ms",
                                         .measuring.iterations = 30,
                                         .measuring.warmup_given = true,
                                         .measuring.warmup = 5,
                                         .watching.memory = true};
    int code = assay__run(&options, &profile, &error);
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

/* NVML does not list the worker (a container's process ids differ): the growth of the whole GPU
 * stands in, and says so. */
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
    struct assay__run_options options = {.target.engine = "fake",
                                         .target.device = "gpu:0",
                                         .script = "steady=1ms",
                                         .measuring.iterations = 30,
                                         .watching.memory = true};
    CHECK_INT(assay__run(&options, &profile, &error), 0);
    CHECK_HAS(metric(profile, "memory.peak.device")->note, "/no/such/nvml.so");
    CHECK_INT(metric(profile, "memory.total")->state, ASSAY_UNAVAILABLE);
    assay_profile_close(profile);
}

static struct assay_profile *run_on(const char *device, bool memory)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    setenv("ASSAY_TRACK_LIBRARY", "/no/such/tracker.so", 1);
    setenv("ASSAY_NVML_LIBRARY", "/no/such/nvml.so", 1);
    setenv("ASSAY_FAKE_DEVICES", "openvino:cpu;openvino:npu;webgpu:0;gpu:0", 1);
    struct assay__run_options options = {.target.engine = "fake",
                                         .target.device = device,
                                         .script = "steady=1ms",
                                         .measuring.iterations = 30,
                                         .watching.memory = memory};
    int code = assay__run(&options, &profile, &error);
    if (code) printf("  code %d: %s\n", code, error.message);
    CHECK_INT(code, 0);
    return profile;
}

/* A CPU by another name has no memory of its own, asked for or not; of a device that is no NVIDIA
 * GPU, NVML is not the reason. */
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
    CHECK_HAS(metric(profile, "memory.total")->note, "not sampled");
    assay_profile_close(profile);
}

/* Another machine's files do not hold our worker: neither what assay nor what the worker would read
 * there is told. */
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

/* --- the probe -------------------------------------------------------------------------------- */

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
    CHECK_HAS(why, "not a process");
    CHECK(isnan(reading("process-pss", "memory.pss", &why)));
    CHECK_HAS(why, "smaps_rollup");
    assay__procmem_target(4243);
    CHECK(isnan(reading("process", "memory.rss", &why)));
    CHECK(why[0] != '\0');
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
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
        {"process_probe", test_process_probe},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
