/* test_counters.c - counters of a run: exact values from a script that decides what is counted,
 * what becomes of counters that fail on the way, classes of layers, and the page. Real workers are
 * started; nothing depends on how fast the machine is. */
#include "run_fixture.h"
#include "text_lines.h"

#include "base/buf.h"
#include "base/json.h"
#include "profile/profile.h"
#include "run/watch/counters.h"

#include <assay/report.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS "layers=conv1:60us:Conv,conv2:20us:Conv,relu:10us:Relu;engine=10us;"
#define COUNTS                                                                   \
    "counts=cycles:4000,instructions:9000,cache-references:100,cache-misses:20," \
    "branches:50,branch-misses:1,llc-load-misses:10,task-clock:80000,context-switches:0"

static struct assay_profile *run(const char *script, enum assay_layer_method layers, int streams)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    struct assay__run_options options = {.target.engine = "fake",
                                         .script = script,
                                         .measuring.iterations = 200,
                                         .target.streams = streams,
                                         .measuring.layers = layers,
                                         .watching.counters = true,
                                         .command = "counters",
                                         .measuring.timeout_s = 60};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    int code = assay__run(&options, &profile, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return profile;
}

static void check_missing(const struct assay_profile *profile, const char *name, const char *why)
{
    CHECK_INT(metric(profile, name)->state, ASSAY_UNAVAILABLE);
    CHECK(isnan(metric(profile, name)->value));
    CHECK_HAS(metric(profile, name)->note, why);
}

static void test_exact(void)
{
    SKIP_EMULATED("its own threads are counted too");
    struct assay_profile *profile = run("steady=100us;" LAYERS COUNTS, ASSAY_LAYERS_AUTO, 1);
    CHECK_NEAR(value(profile, "hardware.cycles"), 4000, 0);
    CHECK_NEAR(value(profile, "hardware.instructions"), 9000, 0);
    CHECK_NEAR(value(profile, "hardware.ipc"), 2.25, 0);
    CHECK_NEAR(value(profile, "hardware.cache_references"), 100, 0);
    CHECK_NEAR(value(profile, "hardware.cache_misses"), 20, 0);
    CHECK_NEAR(value(profile, "cache.hit_rate"), 0.8, 1e-12);
    CHECK_NEAR(value(profile, "hardware.branch_miss_rate"), 0.02, 1e-12);
    CHECK_NEAR(value(profile, "hardware.task_clock"), 80e-6, 1e-15);
    CHECK_NEAR(value(profile, "hardware.cpus_busy"), 0.8, 1e-9);
    CHECK_NEAR(value(profile, "hardware.frequency"), 4000 / 80e-6, 1);
    CHECK_NEAR(value(profile, "hardware.context_switches"), 0, 0); /* may truly be 0 */
    CHECK_INT(metric(profile, "hardware.cycles")->state, ASSAY_MEASURED);
    CHECK_STR(metric(profile, "hardware.cycles")->source, "perf_event");
    CHECK_INT(metric(profile, "cache.hit_rate")->state, ASSAY_DERIVED);
    /* 10 misses of a line (64 B, 128 B on some) in 100 µs */
    double lines = value(profile, "memory.bandwidth.llc") * 100e-6 / 10;
    CHECK(lines == 32 || lines == 64 || lines == 128 || fabs(lines - 64) < 1e-6);
    CHECK_HAS(metric(profile, "memory.bandwidth.llc")->note, "prefetches");
    CHECK_NEAR(value(profile, "overhead.counters"), 1, 0); /* the script's clock does not notice */
    CHECK_NEAR(value(profile, "latency.p50"), 100e-6, 1e-15);
    CHECK_NEAR(value(profile, "latency.samples"), 200, 0); /* counted slices are no samples */
    check_missing(profile, "hardware.llc_loads", "does not count this event");
    check_missing(profile, "hardware.stalled_backend", "does not count this event");
    check_missing(profile, "hardware.migrations", "does not count this event");
    assay_profile_close(profile);
}

/* Half of the time counted: the same numbers, derived, and it is said. */
static void test_multiplexed(void)
{
    SKIP_EMULATED("its own threads are counted too");
    struct assay_profile *profile = run("steady=100us;" COUNTS ";counts_running=0.5",
                                        ASSAY_LAYERS_OFF, 1);
    CHECK_NEAR(value(profile, "hardware.cycles"), 4000, 1e-6);
    CHECK_NEAR(value(profile, "hardware.ipc"), 2.25, 1e-9);
    CHECK_INT(metric(profile, "hardware.cycles")->state, ASSAY_DERIVED);
    CHECK_HAS(metric(profile, "hardware.cycles")->note, "50 % of the time");
    CHECK_INT(metric(profile, "hardware.task_clock")->state, ASSAY_MEASURED); /* the kernel's own */
    CHECK_STR(profile->trials[0].class_counter_note, "layers were not timed");
    assay_profile_close(profile);
}

/* Never had its turn, closed on the way, ran backwards, stood still: each with its reason, the run
 * goes on. */
static void test_faults(void)
{
    SKIP_EMULATED("its own threads are counted too");
    struct assay_profile *profile = run("steady=100us;" COUNTS ";counts_running=0",
                                        ASSAY_LAYERS_OFF, 1);
    check_missing(profile, "hardware.cycles", "more events than counters");
    check_missing(profile, "hardware.ipc", "more events than counters");
    CHECK_NEAR(value(profile, "hardware.task_clock"), 80e-6, 1e-15);
    assay_profile_close(profile);
    profile = run("steady=100us;" COUNTS ";counts_gone=instructions;counts_back=branches",
                  ASSAY_LAYERS_OFF, 1);
    check_missing(profile, "hardware.instructions", "can no longer be read");
    check_missing(profile, "hardware.ipc", "can no longer be read");
    check_missing(profile, "hardware.branches", "went backwards");
    check_missing(profile, "hardware.branch_miss_rate", "went backwards");
    CHECK_NEAR(value(profile, "hardware.cycles"), 4000, 0);
    CHECK_NEAR(value(profile, "latency.p50"), 100e-6, 1e-15);
    CHECK_INT(profile->trials[0].state, ASSAY__TRIAL_OK);
    assay_profile_close(profile);
    profile = run("steady=100us;counts=cycles:0,cache-references:0,cache-misses:0",
                  ASSAY_LAYERS_OFF, 1);
    check_missing(profile, "hardware.cycles", "stayed at 0");
    CHECK_NEAR(value(profile, "hardware.cache_misses"), 0, 0);
    check_missing(profile, "cache.hit_rate", "cache references and misses");
    assay_profile_close(profile);
}

static const struct assay__class_counters *class_of(const struct assay__trial *trial,
                                                    const char *op)
{
    for (size_t i = 0; i < trial->class_counter_count; i++)
        if (strcmp(trial->class_counters[i].op, op) == 0) return &trial->class_counters[i];
    harness_fail(__FILE__, __LINE__, op);
    return NULL;
}

static double class_value(const struct assay__trial *trial, const char *op, const char *name)
{
    for (size_t i = 0; i < trial->counter_count; i++)
        if (strcmp(trial->counter_names[i], name) == 0) return class_of(trial, op)->values[i];
    harness_fail(__FILE__, __LINE__, name);
    return NAN;
}

static void test_classes(void)
{
    SKIP_EMULATED("its own threads are counted too");
    struct assay_profile *profile = run("steady=100us;" LAYERS COUNTS, ASSAY_LAYERS_AUTO, 1);
    const struct assay__trial *trial = &profile->trials[0];
    CHECK_INT(trial->class_counter_count, 2);
    CHECK_STR(trial->class_counters[0].op, "Conv"); /* the longest first */
    CHECK_INT(class_of(trial, "Conv")->layers, 2);
    CHECK_NEAR(class_of(trial, "Conv")->time_ns, 80000, 0);
    CHECK_NEAR(class_value(trial, "Conv", "cycles"), 3200, 1);
    CHECK_NEAR(class_value(trial, "Conv", "instructions"), 7200, 1);
    CHECK_NEAR(class_value(trial, "Relu", "cycles"), 400, 1);
    CHECK_NEAR(class_value(trial, "Relu", "cache-misses"), 2, 1);
    CHECK_NEAR(class_value(trial, "Relu", "task-clock"), 8e-6, 1e-9);
    CHECK_HAS(trial->class_counter_note, "in proportion to time");
    for (size_t i = 0; i < trial->counter_count; i++) /* those that fit together, no others */
        CHECK(strcmp(trial->counter_names[i], "branches") != 0);
    assay_profile_close(profile);
    profile = run("steady=100us;layers_error=no such thing;" COUNTS, ASSAY_LAYERS_AUTO, 1);
    CHECK_INT(profile->trials[0].class_counter_count, 0);
    CHECK_HAS(profile->trials[0].class_counter_note, "no such thing");
    assay_profile_close(profile);
}

/* Two requests in flight and slow inferences take other ways through the slices. */
static void test_streams_and_slow(void)
{
    SKIP_EMULATED("its own threads are counted too");
    struct assay_profile *profile = run("steady=2s;" COUNTS, ASSAY_LAYERS_OFF, 1);
    CHECK_NEAR(value(profile, "hardware.cycles"), 4000, 0);
    CHECK_NEAR(value(profile, "overhead.counters"), 1, 0); /* against the launch's latency */
    assay_profile_close(profile);
    profile = run("steady=200ms;" COUNTS, ASSAY_LAYERS_OFF, 1);
    CHECK_NEAR(value(profile, "hardware.cycles"), 4000, 0);
    assay_profile_close(profile);
    profile = run("steady=1ms", ASSAY_LAYERS_OFF, 2); /* the real counters, whatever there are */
    CHECK_NEAR(value(profile, "overhead.counters"), 1, 0);
    const struct assay_metric *clock = metric(profile, "hardware.task_clock");
    CHECK(clock->state == ASSAY_MEASURED ? clock->value > 0 && clock->value < 10
                                         : clock->note[0] != '\0');
    assay_profile_close(profile);
}

static void test_bad_script(void)
{
    static const char *const scripts[] = {"counts=cycles", "counts=cycle:1", "counts=cycles:x",
                                          "counts=cycles:1;counts_running=2",
                                          "counts=cycles:1;counts_gone=nothing"};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct assay__run_options options = {.target.engine = "fake",
                                             .script = scripts[i],
                                             .measuring.iterations = 10,
                                             .watching.counters = true};
        struct assay_profile *profile = NULL;
        struct assay_error error = {0};
        CHECK(assay__run(&options, &profile, &error) != 0);
        CHECK_HAS(error.message, "counts");
        assay_profile_close(profile);
    }
}

/* What a worker says is not trusted. */
static void test_bad_message(void)
{
    static const struct {
        const char *text;
        bool right;
    } rows[] = {
        {"{\"events\": [{\"name\": \"cycles\", \"grown\": 5, \"completions\": 2}]}", true},
        {"{\"events\": [{\"name\": \"cycles\", \"grown\": 5, \"completions\": 0}]}", true},
        {"{\"events\": [], \"layer_events\": [0]}", false},
        {"{\"events\": [{\"name\": \"cycles\", \"grown\": -5, \"completions\": 2}]}", false},
        {"{\"events\": [{\"name\": \"cycles\", \"grown\": 5, \"completions\": -2}]}", false},
        {"{\"events\": [{}], \"layer_events\": [\"x\"]}", false},
        {"{}", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__arena *arena = assay__arena_new();
        struct assay__json *json = NULL;
        struct assay__counted counted = {0};
        struct assay_error error = {0};
        CHECK_INT(assay__json_parse(arena, rows[i].text, strlen(rows[i].text), &json, &error), 0);
        CHECK((assay__counted_hear(json, arena, &counted, &error) == 0) == rows[i].right);
        if (i == 0) CHECK_NEAR(counted.events[0].grown, 5, 0);
        if (i == 1) CHECK(isnan(counted.events[0].grown)); /* of no inference */
        if (rows[i].right)
            CHECK(assay__counted_hear(json, arena, &counted, &error) != 0); /* twice */
        assay__arena_free(arena);
    }
}

static char *page_of(const struct assay_profile *profile, bool ascii, int columns)
{
    struct assay_report_options options = {
        .size = sizeof options, .format = "text", .ascii = ascii, .columns = columns};
    struct assay_error error = {0};
    char *text = NULL;
    size_t size = 0;
    CHECK_INT(assay_report(profile, &options, &text, &size, &error), 0);
    return text;
}

/* Words and numbers in their order, whatever stands between them in columns. */
static void check_page(const struct assay_profile *profile, bool ascii, int columns,
                       const char *const *words)
{
    char *text = page_of(profile, ascii, columns), *whole = flat(text);
    for (; *words; words++)
        CHECK_HAS(whole, *words);
    for (const char *c = text; ascii && *c; c++)
        CHECK((unsigned char)*c < 128);
    free(text);
    free(whole);
}

/* The counters' tables stay within the page, whatever its width. */
static void check_widths(const struct assay_profile *profile)
{
    for (int columns = 40; columns <= 120; columns++) {
        char *text = page_of(profile, true, columns), *save = NULL;
        bool inside = false;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
            if (strncmp(line, "Counters", 8) == 0) inside = true;
            if (strncmp(line, "Stability", 9) == 0) inside = false;
            if (inside) CHECK((int)strlen(line) <= columns);
        }
        free(text);
    }
}

static void test_page(void)
{
    SKIP_EMULATED("its own threads are counted too");
    static const char *const words[] = {
        "cycles 4,000 =40.0 M/s perf_event",
        "CPU time 80.0 µs =0.80 CPUs perf_event",
        "instructions per cycle =2.25",
        "cache hit rate =80.0 %",
        "branch misses =2.00 %",
        "operator layers time cycles instructions cache-references cache misses",
        "Conv 2 80.0 µs 3,200 7,200 80 16 64.0 µs 0 =2.25 =80.0 %",
        NULL};
    /* the clock of the counted runs: twice as slow as the layers' own time, half a CPU of it
     * used */
    static const char *const clocked[] = {
        "time while counted 100 µs",
        "operator layers time instructions counted CPUs IPC cache hits",
        "Conv 2 80.0 µs 7,200 128 µs =0.50 =2.25 =80.0 %", NULL};
    static const char *const narrow[] = {"cycles", "80.0 us", "CPUs busy =0.8", NULL};
    struct assay_profile *profile = run("steady=100us;" LAYERS COUNTS, ASSAY_LAYERS_AUTO, 1);
    check_page(profile, false, 200, words);
    check_page(profile, true, 40, narrow);
    check_widths(profile);
    assay_profile_close(profile);
    profile = run("steady=100us;" LAYERS COUNTS ",elapsed:160000", ASSAY_LAYERS_AUTO, 1);
    check_page(profile, false, 80, clocked);
    CHECK_NEAR(class_value(&profile->trials[0], "Conv", "elapsed"), 128e-6, 1e-9);
    CHECK_NEAR(value(profile, "hardware.elapsed"), 100e-6, 1e-12); /* the steps of the slices */
    check_widths(profile);
    assay_profile_close(profile);
}

/* Counts: whole, or three digits, no exponents. */
static void test_small_counts(void)
{
    static const struct {
        const char *metric;
        double value;
        const char *label, *number;
    } rows[] = {
        {"hardware.page_faults", 0.729, "page faults", "0.729"},
        {"hardware.context_switches", 0.000052, "context switches", "0.0000520"},
        {"hardware.migrations", 0.00123, "CPU migrations", "0.00123"},
        {"hardware.cycles", 9.996, "cycles", "10.0"},
        {"hardware.branches", 7.45, "branches", "7.45"},
        {"hardware.branch_misses", 1e-9, "branch misses", "0.00000000100"},
        {"hardware.cache_misses", 0, "cache misses", "0"},
        {"hardware.instructions", 999600, "instructions", "999,600"},
    };
    struct assay_profile *profile = run("steady=100us;" LAYERS COUNTS, ASSAY_LAYERS_AUTO, 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(assay_metrics_measured(profile->trials[0].metrics, rows[i].metric, rows[i].value,
                                         "perf_event", ""),
                  0);
    char *text = page_of(profile, false, 80), *whole = flat(text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, " %s %s =", rows[i].label, rows[i].number);
        CHECK_HAS(whole, line);
    }
    CHECK(!strstr(text, "e-0"));
    free(text);
    free(whole);
    assay_profile_close(profile);
}

/* A page about counters tells what it lacks of them, and only how much else is missing. */
static void test_only_its_subject(void)
{
    struct assay_profile *profile = run("steady=100us;" LAYERS COUNTS, ASSAY_LAYERS_AUTO, 1);
    for (int all = 0; all < 2; all++) {
        struct assay_report_options options = {
            .size = sizeof options, .format = "text", .full = true, .columns = 400};
        char *text = NULL;
        assay__profile_set_command(profile, all ? "run" : "counters");
        CHECK_INT(assay_report(profile, &options, &text, NULL, NULL), 0);
        char *missing = strstr(text, "\nNot available");
        CHECK(missing != NULL);
        CHECK_HAS(missing, "hardware.llc_loads, .stalled_frontend, .stalled_backend");
        CHECK_INT(strstr(missing, "latency.transfer_in") != NULL, all);
        CHECK_INT(strstr(missing, "energy.") != NULL, all);
        CHECK_INT(strstr(missing, "more metrics of other subjects") == NULL, all);
        assay_free(text);
    }
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"exact", test_exact},
        {"multiplexed", test_multiplexed},
        {"faults", test_faults},
        {"classes", test_classes},
        {"streams_and_slow", test_streams_and_slow},
        {"bad_script", test_bad_script},
        {"bad_message", test_bad_message},
        {"page", test_page},
        {"small_counts", test_small_counts},
        {"only_its_subject", test_only_its_subject},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
