/* test_require.c - requirement tables and the judgement by them: the built-in tables against the figures they come from, table files good and
 * hostile, verdicts with exact ratios at their thresholds, what is kept with a trial, the score and its parts. */
#include "advise/require.h"
#include "advise/review.h"
#include "cost/score.h"
#include "scratch.h"

#include <assay/report.h>

#define MIB 1048576.0
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct assay__arena *arena;
static struct assay_profile *profile;
static struct assay__trial *trial;

/* One trial on the CPU: 1 ms, 1 TFLOP/s, 100 GB/s, 1,000 inferences per second, 1,000 MiB. */
static void begin(void)
{
    arena = assay__arena_new();
    profile = assay__profile_new();
    CHECK(arena && profile);
    trial = assay__profile_trial(profile);
    CHECK(trial != NULL);
    profile->command = "run";
    profile->model.name = "net";
    trial->state = ASSAY__TRIAL_OK;
    trial->device = "cpu";
    trial->batch = 1;
    struct assay_metrics *m = trial->metrics;
    CHECK_INT(assay_metrics_measured(m, "latency.p50", 1e-3, "clock", ""), 0);
    CHECK_INT(assay_metrics_measured(m, "throughput.inferences", 1000, "clock", ""), 0);
    CHECK_INT(assay_metrics_derived(m, "compute.rate", 1e12, "graph", "f"), 0);
    CHECK_INT(assay_metrics_derived(m, "memory.bandwidth", 1e11, "graph", "f"), 0);
    CHECK_INT(assay_metrics_derived(m, "memory.model", 250 * MIB, "graph", "f"), 0);
    CHECK_INT(assay_metrics_derived(m, "memory.peak.worker", 1000 * MIB, "process", "f"), 0);
    CHECK_INT(assay_metrics_unavailable(m, "latency.p99", "needs 662 samples"), 0);
    CHECK_INT(assay_metrics_unavailable(m, "power.average", "no sensor was read"), 0);
}

static void end(void)
{
    assay_profile_close(profile);
    assay__arena_free(arena);
}

static const struct assay__require_table *parse(const char *text)
{
    const struct assay__require_table *table = NULL;
    struct assay_error error = {0};
    int code = assay__require_parse(arena, text, strlen(text), "t", &table, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return table;
}

static struct assay__judgement judge(const char *text)
{
    struct assay__judgement judgement;
    CHECK_INT(assay__require_judge(profile, trial, parse(text), arena, &judgement), 0);
    return judgement;
}

/* --- tables ----------------------------------------------------------------------------------- */

static void test_presets(void)
{
    static const struct {
        const char *name;
        double minimum[3], target[3], peak[2]; /* TFLOP/s, GB/s, MiB */
        int64_t batch, low, high, units;
        bool compute, bandwidth; /* a target above the published peak */
    } expected[] = {
        {"m1", {2, 50, 8192}, {3, 70, 6144}, {2.62, 68.25}, 32, 32, 64, 32, true, true},
        {"m1-pro", {4, 150, 16384}, {6, 200, 12288}, {5.31, 204.8}, 64, 64, 128, 64, true, false},
        {"m1-max", {8, 300, 32768}, {12, 400, 24576}, {10.6, 409.6}, 128, 64, 128, 64, true, false},
        {"m1-ultra",
         {16, 600, 65536},
         {24, 800, 49152},
         {21.2, 800},
         256,
         128,
         256,
         128,
         true,
         false},
    };
    begin();
    for (size_t i = 0; i < COUNT(expected); i++) {
        const struct assay__require_table *t = assay__require_preset(expected[i].name);
        struct assay__judgement j;
        CHECK(t != NULL && t == assay__require_preset_at(i));
        CHECK_NEAR(t->minimum[ASSAY__REQUIRE_TFLOPS] / 1e12, expected[i].minimum[0], 1e-12);
        CHECK_NEAR(t->minimum[ASSAY__REQUIRE_BANDWIDTH] / 1e9, expected[i].minimum[1], 1e-12);
        CHECK_NEAR(t->minimum[ASSAY__REQUIRE_MEMORY] / MIB, expected[i].minimum[2], 0);
        CHECK_NEAR(t->target[ASSAY__REQUIRE_TFLOPS] / 1e12, expected[i].target[0], 1e-12);
        CHECK_NEAR(t->target[ASSAY__REQUIRE_BANDWIDTH] / 1e9, expected[i].target[1], 1e-12);
        CHECK_NEAR(t->target[ASSAY__REQUIRE_MEMORY] / MIB, expected[i].target[2], 0);
        /* one table of chips: what predict knows, with its sources */
        CHECK(t->chip == assay__chip_find(expected[i].name, NULL));
        CHECK_NEAR(assay__require_peak(t->chip, ASSAY__REQUIRE_TFLOPS) / 1e12, expected[i].peak[0],
                   1e-12);
        CHECK_NEAR(assay__require_peak(t->chip, ASSAY__REQUIRE_BANDWIDTH) / 1e9,
                   expected[i].peak[1], 1e-12);
        CHECK(isnan(assay__require_peak(t->chip, ASSAY__REQUIRE_POWER)));
        CHECK(t->chip->gpu_flops.source[0] && t->chip->bandwidth.source[0]);
        CHECK(isnan(t->minimum[ASSAY__REQUIRE_POWER]) && isnan(t->target[ASSAY__REQUIRE_P50]));
        CHECK_INT(t->batch, expected[i].batch);
        CHECK_INT(t->batch_low, expected[i].low);
        CHECK_INT(t->batch_high, expected[i].high);
        CHECK_INT(t->backbone_units, expected[i].units);
        CHECK_INT(assay__require_judge(profile, trial, t, arena, &j), 0);
        CHECK_INT(j.count, 3);
        CHECK_INT(j.rows[0].unreachable[0] != 0, expected[i].compute);
        CHECK_INT(j.rows[1].unreachable[0] != 0, expected[i].bandwidth);
        CHECK_INT(j.rows[2].unreachable[0] != 0, false);
    }
    CHECK(assay__require_preset_at(COUNT(expected)) == NULL);
    CHECK(assay__require_preset("Apple M1_Max") == assay__require_preset("m1-max"));
    CHECK(assay__require_preset("m1max ultra") == NULL && assay__require_preset("") == NULL);
    CHECK(assay__require_preset("m2") == NULL && assay__chip_find("m2", NULL) != NULL);
    end();
}

static void test_text_values(void)
{
    begin();
    const struct assay__require_table *t = parse("# mine\r\n\n name  living room \r\n"
                                                 "chip apple m1 max\ntflops 8 12 # floor\n"
                                                 "bandwidth: 300\nthroughput= 1e3 2.5e3\n"
                                                 "p50 20ms 10ms;p99 0.04s\n memory 512MiB 5e2\n"
                                                 "power - 6\nbatch 128\nbackbone_units 64");
    CHECK_STR(t->name, "living room");
    CHECK_STR(t->chip->name, "M1 Max");
    CHECK_NEAR(t->minimum[ASSAY__REQUIRE_TFLOPS], 8e12, 0);
    CHECK_NEAR(t->target[ASSAY__REQUIRE_TFLOPS], 12e12, 0);
    CHECK_NEAR(t->minimum[ASSAY__REQUIRE_BANDWIDTH], 300e9, 0);
    CHECK(isnan(t->target[ASSAY__REQUIRE_BANDWIDTH]));
    CHECK_NEAR(t->minimum[ASSAY__REQUIRE_THROUGHPUT], 1000, 0);
    CHECK_NEAR(t->target[ASSAY__REQUIRE_THROUGHPUT], 2500, 0);
    CHECK_NEAR(t->minimum[ASSAY__REQUIRE_P50], 0.02, 1e-18);
    CHECK_NEAR(t->target[ASSAY__REQUIRE_P50], 0.01, 1e-18);
    CHECK_NEAR(t->minimum[ASSAY__REQUIRE_P99], 0.04, 1e-18);
    CHECK_NEAR(t->minimum[ASSAY__REQUIRE_MEMORY], 512 * MIB, 0);
    CHECK_NEAR(t->target[ASSAY__REQUIRE_MEMORY], 500 * MIB, 0);
    CHECK(isnan(t->minimum[ASSAY__REQUIRE_POWER]));
    CHECK_NEAR(t->target[ASSAY__REQUIRE_POWER], 6, 0);
    CHECK_INT(t->batch, 128);
    CHECK_INT(t->backbone_units, 64);
    end();
}

static bool same(const struct assay__require_table *a, const struct assay__require_table *b)
{
    for (int i = 0; i < ASSAY__REQUIRE_COUNT; i++) {
        bool minimum = isnan(a->minimum[i]) ? isnan(b->minimum[i]) : a->minimum[i] == b->minimum[i];
        bool target = isnan(a->target[i]) ? isnan(b->target[i]) : a->target[i] == b->target[i];
        if (!minimum || !target) return false;
    }
    return a->chip == b->chip && a->batch == b->batch && a->backbone_units == b->backbone_units;
}

static void test_json(void)
{
    begin();
    const struct assay__require_table *t = parse(
        "{\"name\": \"caf\\u00e9\", \"chip\": \"M1\",\n"
        " \"minimum\": {\"tflops\": 0.1, \"memory\": 8192, \"p50\": \"20ms\", \"power\": null},\n"
        " \"target\": {\"tflops\": 3e0, \"memory\": \"6GiB\"}, \"batch\": 32}");
    CHECK_STR(t->name, "caf\xc3\xa9");
    CHECK(same(t, parse("chip M1; tflops 0.1 3; memory 8192 6144; p50 20ms; batch 32")));
    end();
}

/* What assay__require_text writes reads back as the same table, to the last bit. */
static void test_round_trip(void)
{
    static const char *const texts[] = {
        "name x; tflops 0.1 0.30000000000000004; p50 333us 1ns; memory 1000MB 1B; power - 0.7",
        "throughput 1e-300 1e300; p99 17m; batch 1; backbone_units 1000000000",
        "name caf\xc3\xa9 am See; bandwidth 68.25",
    };
    begin();
    for (size_t i = 0; i < COUNT(texts) + 4; i++) {
        const struct assay__require_table *t = i < COUNT(texts)
                                                   ? parse(texts[i])
                                                   : assay__require_preset_at(i - COUNT(texts));
        const char *text = assay__require_text(arena, t);
        CHECK(text && !strchr(text, '\n'));
        CHECK(same(t, parse(text)));
        CHECK_STR(parse(text)->name, t->name);
    }
    end();
}

/* Each is refused with one line that names the place. */
static void test_bad_tables(void)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "it has no minimum"},
        {"# only a comment\n", "it has no minimum"},
        {"tflops - 3", "it has no minimum"},
        {"tflops 1\nbandwith 3",
         "line 2: there is no requirement 'bandwith'; did you mean 'bandwidth'?"},
        {"tflops 1\n\nxyzzy 3", "line 3: there is no requirement 'xyzzy'; there are tflops"},
        {"tflops", "line 1: tflops has no value"},
        {"tflops many", "line 1: tflops: 'many' is not a number of TFLOP/s"},
        {"tflops 1x", "'1x' is not a number of TFLOP/s"},
        {"tflops nan", "'nan' is not a number"},
        {"tflops inf", "'inf' is not a number"},
        {"tflops 0x10", "'0x10' is not a number"},
        {"tflops 1e999", "'1e999' is not a number"},
        {"tflops 1e300", "'1e300' must be above 0"}, /* too large once it is in FLOP/s */
        {"tflops 0", "'0' must be above 0"},
        {"tflops -1", "'-1' must be above 0"},
        {"tflops 1 2 3", "'3' is too much"},
        {"tflops 1\ntflops 2", "line 2: the minimum of tflops was given in line 1 already"},
        {"tflops 8 7", "line 1: tflops: the target is easier than the minimum"},
        {"\nmemory 100 200", "line 2: memory: the target is easier than the minimum"},
        {"p50 20", "line 1: p50: '20' needs its unit, such as 20ms"},
        {"p50 20 ms", "p50: '20' needs its unit"},
        {"p50 20kg", "'20kg' is not a number with a unit of time"},
        {"memory 5TB", "'5TB' is not a number of MiB, or a size such as 512MiB"},
        {"chip Z80\ntflops 1", "line 1: no chip 'Z80' is known here, but M1, M1 Pro"},
        {"chip M1\nchip M1", "line 2: the chip was given in line 1 already"},
        {"name\ntflops 1", "line 1: a name has 1 to 64 bytes"},
        {"name a\001b\ntflops 1", "a name is UTF-8 without control characters"},
        {"name \xff\ntflops 1", "a name is UTF-8 without control characters"},
        {"batch 0\ntflops 1", "batch: '0' is not a whole number"},
        {"batch 1.5\ntflops 1", "batch: '1.5' is not a whole number"},
        {"batch 1 2\ntflops 1", "'2' is too much"},
        {"batch 99999999999999999999\ntflops 1", "is not a whole number"},
        {"{", "line 1: not JSON"},
        {"{\"minimum\": {\"tflops\": 1},\n\n \"target\": {\"tflops\": }}", "line 3: not JSON"},
        {"{\"minimum\": {\"tflops\": 1}} x", "line 1: not JSON"},
        {"{\"minimum\": 3}", "minimum: an object is expected"},
        {"{\"minimum\": {\n\"tflops\": []}}", "line 2: tflops: a number or a text is expected"},
        {"{\"minimum\": {\"tflops\": true}}", "tflops: a number or a text is expected"},
        {"{\"minimum\":\n{\"tflop\": 1}}",
         "line 2: there is no requirement 'tflop'; did you mean 'tflops'?"},
        {"{\"minimum\": {\"p50\": 20}}", "p50: '20' needs its unit"},
        {"{\"minimun\": {}}", "there is no member 'minimun'"},
        {"{\"minimum\": {\"tflops\": 1}, \"minimum\": {\"tflops\": 1}}",
         "was given in line 1 already"},
        {"{\"name\": \"a;b\", \"minimum\": {\"tflops\": 1}}",
         "without control characters, ';' and '#'"},
        {"{\"name\": {}, \"minimum\": {\"tflops\": 1}}", "name: a number or a text is expected"},
        {"{\"minimum\": {\"tflops\": -1e-5}}", "must be above 0"},
        {"[1, 2]", "there is no requirement '[1,'"},
    };
    begin();
    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct assay__require_table *table = NULL;
        struct assay_error error = {0};
        int code = assay__require_parse(arena, bad[i].text, strlen(bad[i].text), "t.txt", &table,
                                        &error);
        if (code != ASSAY_EINVAL) printf("  accepted: %s\n", bad[i].text);
        CHECK_INT(code, ASSAY_EINVAL);
        CHECK(table == NULL);
        CHECK_HAS(error.message, "requirement table 't.txt'");
        CHECK_HAS(error.message, bad[i].message);
        CHECK(!strchr(error.message, '\n') && !strchr(error.message, '\001'));
    }
    end();
}

/* Every prefix and every single wrong byte of two good tables: read or refused, never anything else (the sanitizers watch). */
static void test_broken_tables(void)
{
    static const char *const good[] = {
        "name x\nchip M1 Max\ntflops 8 12\np50 20ms 10ms\nmemory 512MiB # c\nbatch 4\n",
        "{\"name\": \"x\", \"minimum\": {\"tflops\": 8, \"p99\": \"4ms\"}, \"target\": {\"tflops\": 9}}",
    };
    static const char bytes[] = {'\0', '\n', ';', '#', '-', '"', '{', '\\', '\x80', '9', ' '};
    size_t read = 0, refused = 0;
    begin();
    for (size_t g = 0; g < COUNT(good); g++) {
        size_t length = strlen(good[g]);
        char copy[200];
        for (size_t i = 0; i <= length; i++)
            for (size_t b = 0; b <= sizeof bytes; b++) {
                const struct assay__require_table *table = NULL;
                struct assay_error error = {0};
                memcpy(copy, good[g], length + 1);
                if (b < sizeof bytes) copy[i] = bytes[b];
                size_t cut = b < sizeof bytes ? length : i;
                int code = assay__require_parse(arena, copy, cut, "t", &table, &error);
                CHECK((code == 0) == (table != NULL));
                if (code) CHECK_INT(code, ASSAY_EINVAL);
                if (code) CHECK(error.message[0] != '\0');
                *(code ? &refused : &read) += 1;
            }
    }
    CHECK(read > 100 && refused > 100);
    end();
}

static void test_files(void)
{
    const struct assay__require_table *table = NULL;
    struct assay_error error = {0};
    begin();
    const char *path = scratch("my; table.v1.txt");
    CHECK_INT(assay__file_write(path, "tflops 1", 8, NULL), 0);
    CHECK_INT(assay__require_find(arena, path, &table, &error), 0);
    CHECK_STR(table->name, "my_ table.v1");
    CHECK_STR(table->origin, path);
    CHECK(parse(assay__require_text(arena, table)) != NULL);
    CHECK_INT(assay__file_write(path, "tflops 1\nname own", 17, NULL), 0);
    CHECK_INT(assay__require_find(arena, path, &table, &error), 0);
    CHECK_STR(table->name, "own");
    CHECK_INT(assay__file_write(path, "tflops 1\nwrong 2", 16, NULL), 0);
    CHECK_INT(assay__require_find(arena, path, &table, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "my; table.v1.txt', line 2:");
    char *large = malloc(ASSAY__REQUIRE_FILE_BYTES + 1);
    CHECK(large != NULL);
    memset(large, '\n', ASSAY__REQUIRE_FILE_BYTES + 1);
    memcpy(large, "tflops 1", 8);
    CHECK_INT(assay__file_write(path, large, ASSAY__REQUIRE_FILE_BYTES, NULL), 0);
    CHECK_INT(assay__require_find(arena, path, &table, &error), 0);
    CHECK_INT(assay__file_write(path, large, ASSAY__REQUIRE_FILE_BYTES + 1, NULL), 0);
    CHECK_INT(assay__require_find(arena, path, &table, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "longer than 65536 bytes");
    free(large);
    CHECK_INT(assay__require_find(arena, "m1-mx", &table, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "did you mean 'm1-max'?");
    CHECK_INT(assay__require_find(arena, scratch("none"), &table, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "built in are m1, m1-pro, m1-max and m1-ultra");
    end();
}

/* --- the judgement ---------------------------------------------------------------------------- */

/* 1 TFLOP/s against floors, 1,000 MiB against limits: at, just below and just above each threshold. */
static void test_thresholds(void)
{
    static const struct {
        const char *table;
        double ratio;
        enum assay__require_state state;
        enum assay__require_level level;
    } cases[] = {
        {"tflops 0.5", 2, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_FINE},
        {"tflops 1", 1, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_FINE},
        {"tflops 1.25", 0.8, ASSAY__REQUIRE_NOT_MET, ASSAY__REQUIRE_FINE},
        {"tflops 1.28", 0.78125, ASSAY__REQUIRE_NOT_MET, ASSAY__REQUIRE_TO_MINIMUM},
        {"tflops 0.5 2", 2, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_TO_TARGET},
        {"tflops 0.5 1.25", 2, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_FINE},
        {"memory 2000", 0.5, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_FINE},
        {"memory 1250", 0.8, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_FINE},
        {"memory 1200", 1000 / 1200.0, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_WARN},
        {"memory 2000 1200", 0.5, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_WARN},
        {"memory 1000", 1, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_WARN},
        {"memory 800", 1.25, ASSAY__REQUIRE_NOT_MET, ASSAY__REQUIRE_TO_MINIMUM},
        {"memory 2000 800", 0.5, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_TO_TARGET},
        {"p50 2ms", 0.5, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_FINE},
        {"p50 0.5ms", 2, ASSAY__REQUIRE_NOT_MET, ASSAY__REQUIRE_TO_MINIMUM},
        {"throughput 500", 2, ASSAY__REQUIRE_MET, ASSAY__REQUIRE_FINE},
        {"bandwidth 200", 0.5, ASSAY__REQUIRE_NOT_MET, ASSAY__REQUIRE_TO_MINIMUM},
    };
    begin();
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct assay__judgement j = judge(cases[i].table);
        if (j.rows[0].level != cases[i].level) printf("  %s\n", cases[i].table);
        CHECK_INT(j.count, 1);
        CHECK_NEAR(j.rows[0].minimum_ratio, cases[i].ratio, 1e-12);
        CHECK_INT(j.rows[0].minimum_state, cases[i].state);
        CHECK_INT(j.minimum, cases[i].state);
        CHECK_INT(j.rows[0].level, cases[i].level);
        CHECK_INT(j.rows[0].advice[0] != '\0', cases[i].level != ASSAY__REQUIRE_FINE);
    }
    end();
}

static void test_verdicts(void)
{
    struct assay__judgement j;
    begin();
    j = judge("tflops 0.5 2; memory 2000 1500"); /* one target is missed */
    CHECK_INT(j.minimum, ASSAY__REQUIRE_MET);
    CHECK_INT(j.target, ASSAY__REQUIRE_NOT_MET);
    j = judge("tflops 0.5 0.6; memory 2000");
    CHECK_INT(j.target, ASSAY__REQUIRE_MET); /* no target of memory is none to miss */
    j = judge("tflops 0.5");
    CHECK_INT(j.target, ASSAY__REQUIRE_NONE);
    j = judge("tflops 0.5; power 10"); /* what is unknown is not met, and not missed */
    CHECK_INT(j.minimum, ASSAY__REQUIRE_UNKNOWN);
    CHECK_INT(j.rows[1].minimum_state, ASSAY__REQUIRE_UNKNOWN);
    CHECK(isnan(j.rows[1].value) && isnan(j.rows[1].minimum_ratio));
    CHECK_STR(j.rows[1].reason,
              "power.average: no sensor was read (assay run --power reads the sensors)");
    j = judge("tflops 2; power 10"); /* one that fails decides */
    CHECK_INT(j.minimum, ASSAY__REQUIRE_NOT_MET);
    j = judge("p99 1ms");
    CHECK_STR(j.rows[0].reason, "latency.p99: needs 662 samples");
    CHECK_STR(assay__require_state_name(j.minimum), "unavailable");
    end();
}

/* Rates rest on the median: a requirement within its interval is too close to be sure. */
static void test_too_close(void)
{
    begin();
    CHECK_STR(judge("tflops 1.001").rows[0].note, "");
    assay_metrics_measured(trial->metrics, "latency.ci_low", 0.99e-3, "clock", "");
    assay_metrics_measured(trial->metrics, "latency.ci_high", 1.02e-3, "clock", "");
    CHECK_HAS(judge("tflops 1.01").rows[0].note, "the minimum lies within the 95 % interval");
    CHECK_STR(judge("tflops 1.011").rows[0].note, "");          /* 1 / 0.99 = 1.0101 */
    CHECK_HAS(judge("tflops 0.981").rows[0].note, "too close"); /* 1 / 1.02 = 0.9804 */
    CHECK_STR(judge("tflops 0.98").rows[0].note, "");
    CHECK_HAS(judge("p50 2ms 1.01ms").rows[0].note, "the target lies within");
    CHECK_STR(judge("p50 1.03ms").rows[0].note, "");
    CHECK_STR(judge("memory 1000").rows[0].note, "");
    /* between launches counts more than within one */
    assay_metrics_measured(trial->metrics, "latency.between_low", 0.5e-3, "clock", "");
    assay_metrics_measured(trial->metrics, "latency.between_high", 2e-3, "clock", "");
    CHECK_HAS(judge("tflops 1.9").rows[0].note, "too close");
    end();
}

static void test_memory_that_counts(void)
{
    begin();
    trial->device = "build/cuda:0";
    struct assay__judgement j = judge("memory 1000");
    CHECK_INT(j.minimum, ASSAY__REQUIRE_UNKNOWN);
    assay_metrics_measured(trial->metrics, "memory.peak.device", 500 * MIB, "NVML", "");
    j = judge("memory 1000");
    CHECK_NEAR(j.rows[0].minimum_ratio, 0.5, 0);
    CHECK_STR(j.rows[0].measured->name, "memory.peak.device");
    assay_metrics_measured(trial->metrics, "memory.unified_peak", 250 * MIB, "MLX", "");
    CHECK_NEAR(judge("memory 1000").rows[0].minimum_ratio, 0.25, 0);
    end();
    static const char *const hosts[] = {"cpu", "ovn/cpu", "ovn/openvino:cpu", "xnnpack"};
    static const char *const others[] = {"cuda:0",     "gpu/cuda:1",       "webgpu:0",
                                         "coreml:ane", "ovn/openvino:npu", "gpu:0"};
    for (size_t i = 0; i < COUNT(hosts); i++)
        CHECK(assay__device_is_host(hosts[i]));
    for (size_t i = 0; i < COUNT(others); i++)
        CHECK(!assay__device_is_host(others[i]));
}

static void test_unreachable(void)
{
    begin();
    struct assay__judgement j = judge("chip M1 Max; tflops 8 12; bandwidth 300 409.6");
    CHECK_STR(j.rows[0].unreachable,
              "the target of 12.0 TFLOP/s is unreachable: above the published "
              "peak of M1 Max's GPU (float32), 10.6 TFLOP/s");
    CHECK_STR(j.rows[1].unreachable, ""); /* at the peak is not above it */
    CHECK_STR(judge("tflops 8 12").rows[0].unreachable, "");
    CHECK_HAS(judge("chip M1 Max; bandwidth 300 410").rows[0].unreachable, "memory, 410 GB/s");
    /* no clock is published: what predict estimates with calls nothing unreachable */
    CHECK_NEAR(assay__chip_find("M4", NULL)->gpu_flops.value, 3.9e12, 0);
    CHECK(isnan(assay__require_peak(assay__chip_find("M4", NULL), ASSAY__REQUIRE_TFLOPS)));
    CHECK_STR(judge("chip M4; tflops 8 12").rows[0].unreachable, "");
    CHECK_HAS(judge("chip M1; tflops 2.63 12").rows[0].unreachable, "the minimum of 2.63 TFLOP/s");
    CHECK_HAS(judge("chip M1; tflops 0.9 12").rows[0].advice,
              "compute reaches 8.33 % of the target: the target of 12.0 TFLOP/s is unreachable");
    end();
}

/* What this device was measured to do at most. */
static void test_beyond(void)
{
    static struct assay__ceiling_info ceilings[] = {
        {"cpu", "compute.float32.all-cores", 1.5e12, "FLOP/s", NAN, NAN, "kernel", "", ""},
        {"cpu", "bandwidth.dram.triad.all-cores", 1e11, "B/s", NAN, NAN, "kernel", "", ""},
    };
    static struct assay__tensor_info input = {.name = "x", .dtype = "float32", .rank = 0};
    static struct assay__layer layers[] = {
        {.name = "a",
         .op = "MatMul",
         .provider = "",
         .time_ns = 9e5,
         .host_enqueue_ns = NAN,
         .share = 0.9,
         .flops = 1e9,
         .bytes = 1e6,
         .weight_bytes = 0,
         .live_bytes = 0,
         .bound = "compute",
         .state = ASSAY_MEASURED,
         .method = "fake",
         .note = ""},
    };
    begin();
    profile->ceilings = ceilings;
    profile->ceiling_count = COUNT(ceilings);
    profile->model.inputs = &input;
    profile->model.input_count = 1;
    trial->engine = "ort";
    trial->inputs = &input;
    trial->input_count = 1;
    trial->layers.items = layers;
    trial->layers.count = 1;
    struct assay__judgement j = judge("tflops 2 3");
    CHECK_STR(j.rows[0].beyond,
              "the minimum of 2.00 TFLOP/s is out of reach here: cpu was measured to "
              "do 1.50 TFLOP/s at most");
    CHECK_HAS(j.rows[0].advice,
              "compute reaches 50.0 % of the minimum: the minimum of 2.00 TFLOP/s is out "
              "of reach here");
    CHECK_HAS(judge("tflops 0.5 3").rows[0].beyond, "the target of 3.00 TFLOP/s");
    CHECK_STR(judge("tflops 1.4 1.5").rows[0].beyond, "");
    CHECK_HAS(judge("tflops 1.4").rows[0].advice,
              "100 % of the layers' time is bound by computing");
    /* the review: one layer with 90 % of the time; at its roof it would take 1e9 / 1.5e12 s = 667 us of its 900 */
    struct assay__review review;
    CHECK_INT(assay__review(profile, trial, arena, &review), 0);
    CHECK(!review.required);
    CHECK_HAS(review.bottlenecks.items[0], "computing bounds most of the layers' time: 100 %");
    CHECK_STR(review.bottlenecks.items[1],
              "layer a (MatMul) takes 90 % of the time; bound by compute, at 74 % of its roof");
    CHECK_HAS(review.opportunities.items[0], "at most 1.3 × as fast: every layer at its roof");
    CHECK_STR(review.opportunities.items[1],
              "at most 10 × as fast: without the slowest layer, a (MatMul)");
    end();
}

/* --- kept with the trial ---------------------------------------------------------------------- */

static const struct assay_metric *get(const char *name)
{
    const struct assay_metric *metric = assay_metrics_get(trial->metrics, name);
    CHECK(metric != NULL);
    return metric;
}

static void test_apply(void)
{
    static struct assay__pair options[] = {{"threads", "1"}};
    begin();
    trial->options = options;
    trial->option_count = 1;
    const struct assay__require_table *table = parse("name mine; tflops 4; memory 2000 1600"),
                                      *kept;
    CHECK_INT(assay__require_of(trial, arena, &kept), 0);
    CHECK(kept == NULL);
    CHECK_INT(assay__require_apply(profile, trial, table), 0);
    CHECK_INT(trial->option_count, 2);
    CHECK_STR(trial->options[0].key, "threads");
    CHECK_STR(trial->options[1].value, "name mine; tflops 4; memory 2000 1600");
    CHECK_NEAR(get("compute.efficiency")->value, 0.25, 0);
    CHECK_INT(get("compute.efficiency")->state, ASSAY_DERIVED);
    CHECK_STR(get("compute.efficiency")->note,
              "compute.rate / 4.00 TFLOP/s, the minimum of 'mine'");
    CHECK_NEAR(get("memory.budget_share")->value, 0.5, 0);
    CHECK_INT(get("power.budget_share")->state, ASSAY_UNAVAILABLE);
    CHECK_STR(get("power.budget_share")->note,
              "the requirement table 'mine' has no budget of power");
    CHECK_INT(assay__require_of(trial, arena, &kept), 0);
    CHECK(kept && same(kept, table));
    /* another table takes its place */
    CHECK_INT(assay__require_apply(profile, trial, parse("name other; power 10")), 0);
    CHECK_INT(trial->option_count, 2);
    CHECK_STR(get("power.budget_share")->note, "power.average is unavailable: no sensor was read");
    CHECK_INT(get("compute.efficiency")->state, ASSAY_UNAVAILABLE);
    assay_metrics_measured(trial->metrics, "power.average", 8, "rapl", "");
    CHECK_INT(assay__require_apply(profile, trial, parse("power 10")), 0);
    CHECK_NEAR(get("power.budget_share")->value, 0.8, 1e-15);
    /* a profile is untrusted: what is no table is none */
    trial->options[1].value = "tflops -1; \033[2J";
    CHECK_INT(assay__require_of(trial, arena, &kept), 0);
    CHECK(kept == NULL);
    end();
}

/* --- score ------------------------------------------------------------------------------------ */

static void test_score(void)
{
    struct assay__score score;
    begin();
    assay__score(trial->metrics, true, &score);
    CHECK_NEAR(score.parts[0].points, 40, 0); /* 1,000 per second */
    CHECK(isnan(score.parts[1].points) && isnan(score.points));
    CHECK_NEAR(score.parts[2].points, 20 * 0.25, 1e-12);
    CHECK_INT(assay__score_put(trial->metrics, true), 0);
    CHECK_INT(get("score.efficiency")->state, ASSAY_UNAVAILABLE);
    CHECK_STR(get("score.efficiency")->note,
              "not known: TOPS/W; known: speed 40.0 of 40, memory 5.0 of 20; "
              "TOPS/W: it was not measured");
    assay_metrics_derived(trial->metrics, "efficiency.tops_per_watt", 2.5, "sensors", "");
    CHECK_INT(assay__score_put(trial->metrics, true), 0);
    CHECK_NEAR(get("score.efficiency")->value, 40 + 10 + 5, 1e-12);
    CHECK_STR(get("score.efficiency")->note,
              "speed 40.0 of 40, TOPS/W 10.0 of 40, memory 5.0 of 20");
    /* each part is full at most */
    assay_metrics_measured(trial->metrics, "throughput.inferences", 5000, "clock", "");
    assay_metrics_derived(trial->metrics, "efficiency.tops_per_watt", 50, "sensors", "");
    assay_metrics_derived(trial->metrics, "memory.model", 3000 * MIB, "graph", "");
    assay__score(trial->metrics, true, &score);
    CHECK_NEAR(score.points, 100, 0);
    /* of a device, its own memory counts */
    assay__score(trial->metrics, false, &score);
    CHECK(isnan(score.parts[2].points));
    /* a peak of 0 is no memory to compare with */
    assay_metrics_derived(trial->metrics, "memory.peak.worker", 0, "process", "");
    assay__score(trial->metrics, true, &score);
    CHECK(isnan(score.parts[2].points));
    CHECK_STR(score.parts[2].reason, "the peak of memory is 0");
    end();
}

/* --- reports ---------------------------------------------------------------------------------- */

static char *render(const char *format, const char *detail)
{
    struct assay_report_options options = {
        .size = sizeof options, .format = format, .detail = detail, .columns = 80};
    struct assay_error error = {0};
    char *text = NULL;
    int code = assay_report(profile, &options, &text, NULL, &error);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    return text;
}

static void test_reports(void)
{
    begin();
    CHECK_INT(assay__require_apply(profile, trial, assay__require_preset("m1")), 0);
    char *text = render("text", NULL);
    CHECK_HAS(text, "Requirements  m1: minimum NOT MET, target NOT MET\n");
    CHECK_HAS(text,
              "  compute     =1.00 TFLOP/s 2.00 TFLOP/s  50.0 % FAIL 3.00 TFLOP/s  33.3 % FAIL\n");
    CHECK_HAS(text,
              "  bandwidth       =100 GB/s    50.0 GB/s 200.0 % pass    70.0 GB/s 142.9 % pass\n");
    CHECK_HAS(text, "raise the batch (now 1; the table's\n    is 32)");
    CHECK_HAS(text,
              "score       — of 100: speed =40.0 of 40 · TOPS/W — of 40 · memory =5.0 of 20\n");
    CHECK_HAS(text, "M1's memory, 68.2 GB/s (exceeded here: another device, or caches)");
    CHECK_HAS(text, "Latency  host to host"); /* the whole report stays */
    assay_free(text);
    text = render("text", "basic");
    CHECK_HAS(text, "Requirements  m1: minimum NOT MET");
    CHECK_HAS(text, "Recommendations");
    CHECK(!strstr(text, "Latency  host to host") && !strstr(text, "Bottlenecks"));
    assay_free(text);
    text = render("text", "detailed");
    CHECK_HAS(text, "Bottlenecks");
    CHECK_HAS(text, "Opportunities");
    CHECK_HAS(text, "Environment");
    assay_free(text);
    text = render("markdown", NULL);
    CHECK_HAS(text, "m1: minimum **fail**, target **fail**.");
    CHECK_HAS(
        text,
        "| compute | =1.00 TFLOP/s | 2.00 TFLOP/s | 50.0 % | fail | 3.00 TFLOP/s | 33.3 % | fail |");
    assay_free(text);
    struct assay_report_options wrong = {.size = sizeof wrong, .detail = "much"};
    struct assay_error error = {0};
    CHECK_INT(assay_report(profile, &wrong, &text, NULL, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "unknown detail 'much'");
    end();
}

static void test_no_table(void)
{
    begin();
    char *text = render("text", NULL);
    CHECK(!strstr(text, "Requirements"));
    assay_free(text);
    text = render("text", "basic");
    CHECK_HAS(text, "none given: --require NAME|FILE judges by a table");
    CHECK_HAS(text, "total       — of 100");
    assay_free(text);
    text = render("json", NULL);
    CHECK(!strstr(text, "\"requirements\"") && !strstr(text, "\"review\""));
    assay_free(text);
    text = render("junit", NULL);
    CHECK_HAS(text, "tests=\"1\" failures=\"0\" errors=\"0\"");
    assay_free(text);
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = "the worker died of <SIGSEGV>";
    text = render("junit", NULL);
    CHECK_HAS(text, "<failure message=\"the worker died of &lt;SIGSEGV&gt;\" type=\"failed\"/>");
    assay_free(text);
    end();
}

/* Minimum: failure or error; target: no gate. */
static void test_junit_report(void)
{
    begin();
    CHECK_INT(assay__require_apply(profile, trial,
                                   parse("name <t>; tflops 2 3; memory 2000 500; p99 1ms")),
              0);
    char *text = render("junit", NULL);
    CHECK_HAS(text, "tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"2\"");
    CHECK_HAS(
        text,
        "<testcase classname=\"cpu\" name=\"compute minimum\">\n      <failure message=\"compute is "
        "1.00 TFLOP/s, at least 2.00 TFLOP/s: 50.0 %\" type=\"requirement\">");
    CHECK_HAS(text, "<error message=\"latency.p99: needs 662 samples\" type=\"unavailable\"/>");
    CHECK_HAS(text,
              "<skipped message=\"target not met, which is no failure: memory is 1.05 GB, at most "
              "524 MB: 200 %\"/>");
    CHECK_HAS(text, "<system-out>memory is 1.05 GB, at most 2.10 GB: 50.0 %</system-out>");
    assay_free(text);
    end();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"presets", test_presets},
        {"text_values", test_text_values},
        {"json", test_json},
        {"round_trip", test_round_trip},
        {"bad_tables", test_bad_tables},
        {"broken_tables", test_broken_tables},
        {"files", test_files},
        {"thresholds", test_thresholds},
        {"verdicts", test_verdicts},
        {"too_close", test_too_close},
        {"memory_that_counts", test_memory_that_counts},
        {"unreachable", test_unreachable},
        {"beyond", test_beyond},
        {"apply", test_apply},
        {"score", test_score},
        {"reports", test_reports},
        {"no_table", test_no_table},
        {"junit_report", test_junit_report},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
