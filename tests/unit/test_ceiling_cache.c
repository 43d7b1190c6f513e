/* test_ceiling_cache.c - the file that keeps ceilings: what is written comes back exactly, another
 * key or a damaged file does not, and the measurement that fills it obeys its options. Speeds are
 * not looked at. */
#include "base/file.h"
#include "ceiling/ceiling.h"
#include "harness.h"

#include <sys/stat.h>

static struct assay__ceiling sample_rows[] = {
    {.name = "compute.float32.one-core",
     .kind = ASSAY__CEILING_COMPUTE,
     .value = 116.5e9,
     .unit = "FLOP/s",
     .state = ASSAY_MEASURED,
     .source = "clock",
     .note = "also sse2: \"quoted\" \n",
     .low = 1.0 / 3,
     .median = 100e9,
     .high = 116.5e9,
     .repeats = 46,
     .threads = 1,
     .type = "float32",
     .level = "",
     .pattern = "",
     .simd = "avx512f",
     .variant = "vfmadd",
     .clock_before_hz = 3.69e9,
     .clock_after_hz = NAN},
    {.name = "latency.l3",
     .kind = ASSAY__CEILING_LATENCY,
     .value = 1.7e-8,
     .unit = "s",
     .state = ASSAY_MEASURED,
     .source = "clock",
     .note = "",
     .low = 1.7e-8,
     .median = 2.2e-8,
     .high = 1.1e-7,
     .repeats = 5,
     .threads = 1,
     .type = "",
     .level = "l3",
     .pattern = "",
     .simd = "",
     .variant = "pointer chase",
     .working_set_bytes = 4194304,
     .clock_before_hz = NAN,
     .clock_after_hz = NAN},
    {.name = "compute.float16.one-core",
     .kind = ASSAY__CEILING_COMPUTE,
     .value = NAN,
     .unit = "FLOP/s",
     .state = ASSAY_UNAVAILABLE,
     .source = "none",
     .note = "no such instructions",
     .low = NAN,
     .median = NAN,
     .high = NAN,
     .threads = 1,
     .type = "float16",
     .level = "",
     .pattern = "",
     .simd = "",
     .variant = "",
     .clock_before_hz = NAN,
     .clock_after_hz = NAN},
};

static struct assay__ceilings sample = {.key = "cpu one\nkernel two\n",
                                        .measured_at = "2026-01-02T03:04:05Z",
                                        .note = "busy",
                                        .duration_s = 12.5,
                                        .steal_share = NAN,
                                        .other_share = 0.25,
                                        .pinned = true,
                                        .rows = sample_rows,
                                        .count = 3};

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void check_same(const struct assay__ceiling *a, const struct assay__ceiling *b)
{
    CHECK_STR(a->name, b->name);
    CHECK_INT(a->kind, b->kind);
    CHECK_STR(a->unit, b->unit);
    CHECK_INT(a->state, b->state);
    CHECK_STR(a->source, b->source);
    CHECK_STR(a->note, b->note);
    CHECK(same(a->value, b->value) && same(a->low, b->low) && same(a->median, b->median));
    CHECK(same(a->high, b->high) && same(a->clock_before_hz, b->clock_before_hz));
    CHECK(same(a->clock_after_hz, b->clock_after_hz));
    CHECK_INT(a->repeats, b->repeats);
    CHECK_INT(a->threads, b->threads);
    CHECK_STR(a->type, b->type);
    CHECK_STR(a->level, b->level);
    CHECK_STR(a->pattern, b->pattern);
    CHECK_STR(a->simd, b->simd);
    CHECK_STR(a->variant, b->variant);
    CHECK_INT(a->working_set_bytes, b->working_set_bytes);
}

static char folder[256];

/* A private cache folder for the test; removed by clean(). */
static void private_folder(void)
{
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("ASSAY_FSROOT");
}

static void clean(void)
{
    assay__folder_remove(folder);
}

static void test_round_trip(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__ceilings *got;
    struct assay_error error = {0};
    char path[512];
    private_folder();
    CHECK_INT(assay__ceilings_path(sample.key, path, sizeof path, &error), 0);
    CHECK_INT(strncmp(path, folder, strlen(folder)), 0);
    CHECK_HAS(path, "/assay/ceilings-");
    CHECK_INT(assay__ceilings_load(arena, path, sample.key, &got, &error), ASSAY_ENOTFOUND);
    CHECK_INT(assay__ceilings_save(&sample, path, &error), 0);
    CHECK_INT(assay__ceilings_load(arena, path, sample.key, &got, &error), 0);
    CHECK_STR(got->key, sample.key);
    CHECK_STR(got->measured_at, sample.measured_at);
    CHECK_STR(got->note, sample.note);
    CHECK(got->duration_s == 12.5 && isnan(got->steal_share) && got->other_share == 0.25);
    CHECK(got->pinned && got->from_cache);
    CHECK_INT(got->count, 3);
    for (size_t i = 0; i < 3; i++)
        check_same(&got->rows[i], &sample_rows[i]);
    CHECK(assay__ceilings_find(got, "latency.l3") == &got->rows[1]);
    CHECK(!assay__ceilings_find(got, "latency.l4") && !assay__ceilings_find(NULL, "latency.l3"));
    /* another key: not this machine's */
    CHECK_INT(assay__ceilings_load(arena, path, "cpu one\nkernel three\n", &got, &error),
              ASSAY_ENOTFOUND);
    CHECK(!got);
    CHECK_HAS(error.message, "changed");
    clean();
    assay__arena_free(arena);
}

/* Each of these changes must change the key, and with it the file's name. */
static void test_key(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine base = {.cpu_model = "A",
                                  .architecture = "x86_64",
                                  .kernel = "Linux 6.1",
                                  .virtualized = "none",
                                  .simd = "avx2",
                                  .container = "",
                                  .cores = 2,
                                  .l3_bytes = 1 << 20};
    struct assay__machine other[8];
    char paths[9][512];
    for (size_t i = 0; i < 8; i++)
        other[i] = base;
    other[1].cpu_model = "B";
    other[2].kernel = "Linux 6.2";
    other[3].virtualized = "kvm";
    other[4].simd = "avx512f avx2";
    other[5].cores = 4;
    other[6].l3_bytes = 2 << 20;
    other[7].container = "docker";
    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    const char *key = assay__ceilings_key(arena, &base);
    CHECK_HAS(key, "cpu A\n");
    CHECK_HAS(key, "kernel Linux 6.1\n");
    CHECK_HAS(key, "\nallowed ");
    CHECK_HAS(key, "\nmicrocode ");
    for (size_t i = 0; i < 8; i++) {
        const char *next = assay__ceilings_key(arena, &other[i]);
        CHECK_INT(assay__ceilings_path(next, paths[i], sizeof paths[i], NULL), 0);
        CHECK((strcmp(next, key) == 0) == (i == 0));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(paths[i], paths[k]) != 0);
    }
    assay__arena_free(arena);
}

static void test_path(void)
{
    char path[512], small[16];
    struct assay_error error = {0};
    setenv("XDG_CACHE_HOME", "/x", 1);
    CHECK_INT(assay__ceilings_path("k", path, sizeof path, &error), 0);
    /* printf k | sha256sum */
    CHECK_STR(path, "/x/assay/ceilings-8254c329a92850f6.json");
    CHECK_INT(assay__ceilings_path("k", small, sizeof small, &error), ASSAY_ELIMIT);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/h", 1);
    CHECK_INT(assay__ceilings_path("k", path, sizeof path, &error), 0);
    CHECK_STR(path, "/h/.cache/assay/ceilings-8254c329a92850f6.json");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK_INT(assay__ceilings_path("k", path, sizeof path, &error), ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "XDG_CACHE_HOME");
}

/* --- hostile files ---------------------------------------------------------------------------- */

/* The text of a valid file with the first `from` replaced by `to`; free() it. */
static char *changed(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    CHECK(at);
    size_t length = strlen(text) + strlen(to) + 1, head = (size_t)(at - text);
    char *copy = malloc(length);
    snprintf(copy, length, "%.*s%s%s", (int)head, text, to, at + strlen(from));
    return copy;
}

static void test_hostile(void)
{
    static const char *const changes[][2] = {
        {"\"assay_ceilings\": 1", "\"assay_ceilings\": \"1\""},
        {"\"assay_ceilings\": 1", "\"assay_ceiling\": 1"},
        {"\"duration_s\": 12.5", "\"duration_s\": -1"},
        {"\"duration_s\": 12.5", "\"duration_s\": null"},
        {"\"other_share\": 0.25", "\"other_share\": 7"},
        {"\"rows\": [", "\"rows\": [null, "},
        {"\"rows\": [", "\"rows\": {}, \"more\": ["},
        {"\"rows\": [", "\"rows\": [], \"more\": ["},
        {"\"name\": \"latency.l3\"", "\"name\": \"compute.float32.one-core\""}, /* twice */
        {"\"name\": \"latency.l3\"", "\"name\": \"\""},
        {"\"name\": \"latency.l3\"", "\"name\": 3"},
        {"\"kind\": \"compute\"", "\"kind\": \"energy\""},
        {"\"unit\": \"FLOP/s\"", "\"unit\": \"B/s\""},
        {"\"state\": \"measured\"", "\"state\": \"guessed\""},
        {"\"state\": \"measured\"", "\"state\": \"published\""},
        {"\"state\": \"measured\"", "\"state\": \"unavailable\""}, /* but with values */
        {"\"state\": \"unavailable\"", "\"state\": \"measured\""}, /* but without */
        {"\"note\": \"no such instructions\"", "\"note\": \"\""},
        {"\"value\": 116500000000", "\"value\": 0"},
        {"\"value\": 116500000000", "\"value\": -5"},
        {"\"value\": 116500000000", "\"value\": 1e999"},
        {"\"value\": 116500000000", "\"value\": \"fast\""},
        {"\"value\": 116500000000", "\"value\": 116500000001"}, /* not the best repeat */
        {"\"median\": 100000000000", "\"median\": 200000000000"},
        {"\"repeats\": 46", "\"repeats\": 0"},
        {"\"repeats\": 46", "\"repeats\": 1.5"},
        {"\"repeats\": 46", "\"repeats\": 99999999999"},
        {"\"threads\": 1", "\"threads\": -1"},
        {"\"working_set_bytes\": 4194304", "\"working_set_bytes\": -4194304"},
        {"\"clock_before_hz\": 3690000000", "\"clock_before_hz\": 0"},
        {"\"simd\": \"avx512f\"", "\"simd\": null"},
        {"{", "["},
    };
    struct assay__arena *arena = assay__arena_new();
    struct assay__ceilings *got;
    struct assay_error error = {0};
    char path[512], *text;
    size_t length;
    private_folder();
    CHECK_INT(assay__ceilings_path(sample.key, path, sizeof path, NULL), 0);
    CHECK_INT(assay__ceilings_save(&sample, path, &error), 0);
    CHECK_INT(assay__file_read(path, 1 << 20, &text, &length, &error), 0);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char *bad = changed(text, changes[i][0], changes[i][1]);
        CHECK_INT(assay__file_write(path, bad, strlen(bad), &error), 0);
        int code = assay__ceilings_load(arena, path, sample.key, &got, &error);
        if (code != ASSAY_EFORMAT) printf("  accepted: %s\n", changes[i][1]);
        CHECK_INT(code, ASSAY_EFORMAT);
        CHECK(!got && error.message[0]);
        free(bad);
    }
    /* every prefix of a valid file */
    for (size_t cut = 0; cut + 2 < length; cut += 7) {
        CHECK_INT(assay__file_write(path, text, cut, &error), 0);
        CHECK(assay__ceilings_load(arena, path, sample.key, &got, &error) != 0 && !got);
    }
    free(text);
    clean();
    assay__arena_free(arena);
}

static void test_odd_files(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__ceilings *got;
    struct assay_error error = {0};
    char path[512];
    private_folder();
    CHECK_INT(assay__path_join(folder, "x.json", path, sizeof path), 0);
    CHECK_INT(mkfifo(path, 0600), 0); /* would be waited for */
    CHECK_INT(assay__ceilings_load(arena, path, "k", &got, &error), ASSAY_EFORMAT);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(assay__ceilings_load(arena, folder, "k", &got, &error), ASSAY_EFORMAT);
    char *big = malloc(2 << 20);
    memset(big, ' ', 2 << 20);
    CHECK_INT(assay__file_write(path, big, 2 << 20, &error), 0);
    CHECK_INT(assay__ceilings_load(arena, path, "k", &got, &error), ASSAY_EFORMAT);
    memset(big, '[', 100000);
    CHECK_INT(assay__file_write(path, big, 100000, &error), 0);
    CHECK_INT(assay__ceilings_load(arena, path, "k", &got, &error), ASSAY_ELIMIT); /* too deep */
    const char *newer = "{\"assay_ceilings\": 2}";
    CHECK_INT(assay__file_write(path, newer, strlen(newer), &error), 0);
    CHECK_INT(assay__ceilings_load(arena, path, "k", &got, &error), ASSAY_ENOTFOUND);
    free(big);
    clean();
    assay__arena_free(arena);
}

/* --- measuring -------------------------------------------------------------------------------- */

/* A second call reads the file; a damaged one is replaced and said; remeasure does not read. */
static void test_get(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine;
    struct assay__ceilings *first, *second;
    struct assay_error error = {0};
    struct assay__ceiling_options options = {.only = "compute.float32.one", .budget_s = 6};
    char path[512];
    private_folder();
    CHECK_INT(assay__machine_read(arena, &machine), 0);
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &first, &error), 0);
    CHECK(!first->from_cache && first->complete && first->count == 1);
    CHECK_STR(first->note[0] && !strstr(first->note, "other work") ? first->note : "", "");
    CHECK_STR(first->rows[0].name, "compute.float32.one-core");
    CHECK_INT(first->rows[0].state, ASSAY_MEASURED);
    CHECK(first->rows[0].repeats >= 3 && first->rows[0].value == first->rows[0].high);
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &second, &error), 0);
    CHECK(second->from_cache);
    check_same(&second->rows[0], &first->rows[0]);
    options.remeasure = true;
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &second, &error), 0);
    CHECK(!second->from_cache);
    options.remeasure = false;
    CHECK_INT(assay__ceilings_path(first->key, path, sizeof path, &error), 0);
    CHECK_INT(assay__file_write(path, "{}", 2, &error), 0);
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &second, &error), 0);
    CHECK(!second->from_cache);
    CHECK_HAS(second->note, "could not be used");
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &second, &error), 0);
    CHECK(second->from_cache);
    clean();
    assay__arena_free(arena);
}

/* An incomplete set is kept; the next call takes its rows over and measures the others. */
static void test_goes_on(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine;
    struct assay__ceilings *set, *again, *kept;
    struct assay_error error = {0};
    struct assay__ceiling_options options = {.only = "compute.float32", .budget_s = 6};
    char path[512];
    private_folder();
    CHECK_INT(assay__machine_read(arena, &machine), 0);
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &set, &error), 0);
    CHECK_INT(set->count, 2);
    CHECK_INT(assay__ceilings_path(set->key, path, sizeof path, &error), 0);
    struct assay__ceiling rows[2] = {sample_rows[0], sample_rows[2]};
    struct assay__ceilings partial = {.key = set->key,
                                      .measured_at = "2026-01-01T00:00:00Z",
                                      .note = "busy",
                                      .device = "",
                                      .hardware = "",
                                      .duration_s = 1,
                                      .steal_share = NAN,
                                      .other_share = 0.84,
                                      .rows = rows,
                                      .count = 2};
    CHECK_INT(assay__ceilings_save(&partial, path, &error), 0);
    CHECK_INT(assay__ceilings_load(arena, path, set->key, &kept, &error), 0);
    CHECK(!kept->complete && kept->count == 2);
    struct assay__ceiling_info shown[2];
    assay__ceilings_describe(arena, kept, "cpu", shown);
    CHECK_HAS(shown[0].note, "84 %");
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &again, &error), 0);
    CHECK(!again->from_cache && again->complete && again->count == 2);
    check_same(&again->rows[0], &sample_rows[0]);
    CHECK_STR(again->rows[1].name, "compute.float32.all-cores");
    CHECK(again->rows[1].state == ASSAY_MEASURED && again->other_share >= 0.84);
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &again, &error), 0);
    CHECK(again->from_cache);
    clean();
    assay__arena_free(arena);
}

static void test_not_kept(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine;
    struct assay__ceilings *set;
    struct assay__ceiling_options options = {.only = "compute.float32.one", .budget_s = 6};
    struct assay_error error = {0};
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    CHECK_INT(assay__machine_read(arena, &machine), 0);
    CHECK_INT(assay__ceilings_get(arena, &machine, &options, &set, &error), 0);
    CHECK_INT(set->rows[0].state, ASSAY_MEASURED);
    CHECK_HAS(set->note, "not saved");
    assay__arena_free(arena);
}

static bool stop(void *context, const char *name)
{
    int *calls = context;
    (void)name;
    return ++*calls == 2;
}

/* No time at all: every row is there, each unavailable with a reason. Interrupted: the rows until
 * then, and nothing kept. Another machine: refused. */
static void test_limits(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine;
    struct assay__ceilings *set;
    struct assay_error error = {0};
    struct assay__ceiling_options options = {.budget_s = 1e-9};
    int calls = 0;
    unsetenv("ASSAY_FSROOT");
    CHECK_INT(assay__machine_read(arena, &machine), 0);
    machine.l1d_bytes = machine.l2_bytes = machine.l3_bytes = 0;
    machine.memory_bytes = 1; /* so that nothing is allocated for it */
    CHECK_INT(assay__ceilings_measure(arena, &machine, &options, &set, &error), 0);
    CHECK_INT(set->count, 10 + 32 + 4);
    CHECK(!set->complete);
    for (size_t i = 0; i < set->count; i++) {
        CHECK_INT(set->rows[i].state, ASSAY_UNAVAILABLE);
        CHECK(isnan(set->rows[i].value) && set->rows[i].note[0]);
    }
    CHECK_HAS(assay__ceilings_find(set, "latency.l2")->note, "size of l2");
    CHECK_HAS(assay__ceilings_find(set, "bandwidth.dram.read.all-cores")->note, "quarter");
    CHECK_HAS(assay__ceilings_find(set, "compute.float64.one-core")->note, "time");
    options = (struct assay__ceiling_options){.progress = stop, .context = &calls, .budget_s = 5};
    CHECK_INT(assay__ceilings_measure(arena, &machine, &options, &set, &error), ASSAY_EINTERRUPTED);
    CHECK(set && calls == 2);
    CHECK_INT(set->count, 1); /* stopped before the second */
    CHECK_STR(set->rows[0].name, "compute.float64.one-core");
    CHECK_INT(set->rows[0].state, ASSAY_MEASURED);
    CHECK(set->rows[0].value > 0 && !set->complete && set->note[0]);
    setenv("ASSAY_FSROOT", "/somewhere", 1);
    CHECK_INT(assay__ceilings_measure(arena, &machine, NULL, &set, &error), ASSAY_EUNSUPPORTED);
    assay__arena_free(arena);
}

/* Small sizes for every level: each row is measured, with its working set and no more than it. */
static void test_rows(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine machine;
    struct assay__ceilings *set;
    struct assay_error error = {0};
    struct assay__ceiling_options options = {.only = "bandwidth.l", .budget_s = 8};
    unsetenv("ASSAY_FSROOT");
    CHECK_INT(assay__machine_read(arena, &machine), 0);
    machine.l1d_bytes = 16 << 10;
    machine.l2_bytes = 128 << 10;
    machine.l3_bytes = 0;
    machine.memory_bytes = 1;
    CHECK_INT(assay__ceilings_measure(arena, &machine, &options, &set, &error), 0);
    CHECK_INT(set->count, 3 * 4 * 2);
    for (size_t i = 0; i < set->count; i++) {
        const struct assay__ceiling *row = &set->rows[i];
        if (strcmp(row->level, "l1") != 0) continue;
        if (row->state != ASSAY_MEASURED) SKIP("the machine is too busy to measure in 8 s");
        CHECK(row->working_set_bytes > 0);
        CHECK(row->working_set_bytes <= (int64_t)row->threads * (8 << 10));
        CHECK(row->simd[0] && row->pattern[0] && row->repeats >= 3);
    }
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"round_trip", test_round_trip},
        {"key", test_key},
        {"path", test_path},
        {"hostile", test_hostile},
        {"odd_files", test_odd_files},
        {"get", test_get},
        {"goes_on", test_goes_on},
        {"not_kept", test_not_kept},
        {"limits", test_limits},
        {"rows", test_rows},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
