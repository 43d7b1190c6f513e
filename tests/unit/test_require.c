/* test_require.c - requirement tables and the judgement by them: the built-in tables against the
 * figures they come from, table files good and hostile, verdicts with exact ratios at their
 * thresholds, what is kept with a trial. Reports are in test_require_report.c. */
#include "require_fixture.h"

#include "judge/review.h"

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
        {"tflops 1 2 3", "'3'"},
        {"tflops 1\ntflops 2", "line 2: the minimum of tflops was already given in line 1"},
        {"tflops 8 7", "line 1: tflops: the target is easier than the minimum"},
        {"\nmemory 100 200", "line 2: memory: the target is easier than the minimum"},
        {"p50 20", "line 1: p50: '20' needs its unit, such as 20ms"},
        {"p50 20 ms", "p50: '20' needs its unit"},
        {"p50 20kg", "'20kg' is not a number with a unit of time"},
        {"memory 5TB", "'5TB' is not a number of MiB, or a size such as 512MiB"},
        {"chip Z80\ntflops 1", "line 1: unknown chip 'Z80'; known: M1, M1 Pro"},
        {"chip M1\nchip M1", "line 2: chip was already given in line 1"},
        {"name\ntflops 1", "line 1: a name has 1 to 64 bytes"},
        {"name a\001b\ntflops 1", "a name is UTF-8 without control characters"},
        {"name \xff\ntflops 1", "a name is UTF-8 without control characters"},
        {"batch 0\ntflops 1", "batch: '0' is not a whole number"},
        {"batch 1.5\ntflops 1", "batch: '1.5' is not a whole number"},
        {"batch 1 2\ntflops 1", "'2'"},
        {"batch 99999999999999999999\ntflops 1", "is not a whole number"},
        {"{", "line 1: not JSON"},
        {"{\"minimum\": {\"tflops\": 1},\n\n \"target\": {\"tflops\": }}", "line 3: not JSON"},
        {"{\"minimum\": {\"tflops\": 1}} x", "line 1: not JSON"},
        {"{\"minimum\": 3}", "minimum: expected an object"},
        {"{\"minimum\": {\n\"tflops\": []}}", "line 2: tflops: expected a number or a string"},
        {"{\"minimum\": {\"tflops\": true}}", "tflops: expected a number or a string"},
        {"{\"minimum\":\n{\"tflop\": 1}}",
         "line 2: there is no requirement 'tflop'; did you mean 'tflops'?"},
        {"{\"minimum\": {\"p50\": 20}}", "p50: '20' needs its unit"},
        {"{\"minimun\": {}}", "there is no member 'minimun'"},
        {"{\"minimum\": {\"tflops\": 1}, \"minimum\": {\"tflops\": 1}}",
         "was already given in line 1"},
        {"{\"name\": \"a;b\", \"minimum\": {\"tflops\": 1}}",
         "without control characters, ';' and '#'"},
        {"{\"name\": {}, \"minimum\": {\"tflops\": 1}}", "name: expected a number or a string"},
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

/* Every prefix and every single wrong byte of two good tables: read or refused, never anything else
 * (the sanitizers watch). */
static void test_broken_tables(void)
{
    static const char *const good[] = {
        "name x\nchip M1 Max\ntflops 8 12\np50 20ms 10ms\nmemory 512MiB # c\nbatch 4\n",
        "{\"name\": \"x\", \"minimum\": {\"tflops\": 8, \"p99\": \"4ms\"}, \"target\": "
        "{\"tflops\": 9}}",
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
    CHECK_HAS(error.message, "m1, m1-pro, m1-max and m1-ultra are built in;");
    end();
}

/* --- the judgement ---------------------------------------------------------------------------- */

/* 1 TFLOP/s against floors, 1,000 MiB against limits: at, just below and just above each
 * threshold. */
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
    CHECK_STR(j.rows[1].reason, "power.average: no sensor was read");
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
    fact_device(profile, trial, "build/cuda:0");
    struct assay__judgement j = judge("memory 1000");
    CHECK_INT(j.minimum, ASSAY__REQUIRE_UNKNOWN);
    assay_metrics_measured(trial->metrics, "memory.peak.device", 500 * MIB, "NVML", "");
    j = judge("memory 1000");
    CHECK_NEAR(j.rows[0].minimum_ratio, 0.5, 0);
    CHECK_STR(j.rows[0].measured->name, "memory.peak.device");
    assay_metrics_measured(trial->metrics, "memory.unified_peak", 250 * MIB, "MLX", "");
    CHECK_NEAR(judge("memory 1000").rows[0].minimum_ratio, 0.25, 0);
    end();
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
         .kernel_count = NAN,
         .gap_ns = NAN,
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
    profile->models[0]->inputs = &input;
    profile->models[0]->input_count = 1;
    trial->target.engine = "ort";
    trial->inputs = &input;
    trial->input_count = 1;
    trial->layers.items = layers;
    trial->layers.count = 1;
    struct assay__judgement j = judge("tflops 2 3");
    CHECK_STR(j.rows[0].beyond,
              "the minimum of 2.00 TFLOP/s is out of reach here: the measured peak of cpu is "
              "1.50 TFLOP/s");
    CHECK_HAS(j.rows[0].advice,
              "compute reaches 50.0 % of the minimum: the minimum of 2.00 TFLOP/s is out "
              "of reach here");
    CHECK_HAS(judge("tflops 0.5 3").rows[0].beyond, "the target of 3.00 TFLOP/s");
    CHECK_STR(judge("tflops 1.4 1.5").rows[0].beyond, "");
    CHECK_HAS(judge("tflops 1.4").rows[0].advice, "100 % of the layers' time");
    /* the review: one layer with 90 % of the time; at its roof it would take 1e9 / 1.5e12 s = 667
     * us of its 900 */
    struct assay__review review;
    CHECK_INT(assay__review(profile, trial, arena, &review), 0);
    CHECK(!review.required);
    CHECK_STR(review.bottlenecks.items[0], "100 % of the layers' time is limited by compute");
    CHECK_HAS(review.bottlenecks.items[1], "a (MatMul)");
    CHECK_HAS(review.bottlenecks.items[1], "90 %"); /* of the time … */
    CHECK_HAS(review.bottlenecks.items[1], "74 %"); /* … at that share of its roof */
    CHECK_HAS(review.opportunities.items[0], "1.3 ×");
    CHECK_HAS(review.opportunities.items[1], "10 ×");
    CHECK_HAS(review.opportunities.items[1], "a (MatMul)");
    end();
}

static bool recommends(const struct assay__review *review, const char *text)
{
    for (size_t i = 0; i < review->recommendations.count; i++)
        if (strstr(review->recommendations.items[i], text)) return true;
    return false;
}

/* Advice must be something that the command which made the profile takes. */
static void test_advice_fits_the_command(void)
{
    static const struct {
        const char *command;
        size_t launches;
        const char *repeat;
    } rows[] = {
        {"run", 1, "5 launches"},
        {"run", 5, "longer launches"},
        {"compare", 10, "longer launches"},
        {"compare", 2, "5 launches"},
        {"sweep", 3, "5 launches"},
        {"tune", 1, "budget"},
        {"tune", 6, "budget"},
        {"memory", 1, "5 launches"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct assay__review review;
        begin();
        assay__profile_set_command(profile, rows[i].command);
        trial->stability.verdict = "unstable";
        for (size_t k = 0; k < rows[i].launches; k++)
            assay__trial_launch(profile, trial);
        CHECK_INT(assay__review(profile, trial, arena, &review), 0);
        CHECK(recommends(&review, rows[i].repeat));
        CHECK(recommends(&review, "power"));
        end();
    }
}

/* --- kept with the trial ---------------------------------------------------------------------- */

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
    CHECK_STR(get("power.budget_share")->note, "no sensor was read");
    CHECK_INT(get("compute.efficiency")->state, ASSAY_UNAVAILABLE);
    assay_metrics_measured(trial->metrics, "power.average", 8, "rapl", "");
    CHECK_INT(assay__require_apply(profile, trial, parse("power 10")), 0);
    CHECK_NEAR(get("power.budget_share")->value, 0.8, 1e-15);
    /* a profile is untrusted: what is no table is none */
    fact(profile, trial, "require", "tflops -1; \033[2J");
    CHECK_INT(assay__require_of(trial, arena, &kept), 0);
    CHECK(kept == NULL);
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
        {"advice_fits_the_command", test_advice_fits_the_command},
        {"apply", test_apply},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
