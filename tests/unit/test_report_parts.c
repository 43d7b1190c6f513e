/* test_report_parts.c - series, spans, allocations, counters and ceilings in the data formats, on a
 * document built by hand. Whole outputs are compared with tests/golden/report-parts.{json,md} and
 * report-parts-TABLE.csv; see golden.h. */
#include "base/file.h"
#include "base/json.h"
#include "golden.h"
#include "harness.h"
#include "profile/profile.h"

#include <assay/report.h>

#ifndef ASSAY_TEST_ROOT
#define ASSAY_TEST_ROOT "."
#endif
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static double power_times[] = {0, 100000000, 200000000, 300000000};
static double power_values[] = {4.25, 17.5, NAN, 18.125};
static double energy_times[] = {1000000, 250000000}, energy_values[] = {0, 2.5};
static struct assay__series_info series[] = {
    {.name = "power.package",
     .quantity = "power",
     .rail = "package",
     .unit = "W",
     .probe = "rapl",
     .source = "powercap",
     .state = ASSAY_DERIVED,
     .note = "energy over time",
     .period_s = 0.001,
     .period_is_bound = true,
     .count = 4,
     .times_ns = power_times,
     .values = power_values},
    {.launch = 1,
     .name = "energy.package",
     .quantity = "energy",
     .rail = "package",
     .unit = "J",
     .probe = "rapl",
     .source = "powercap",
     .state = ASSAY_MEASURED,
     .note = "",
     .counter = true,
     .period_s = NAN,
     .count = 2,
     .times_ns = energy_times,
     .values = energy_values},
    {.name = "power.gpu0",
     .quantity = "power",
     .rail = "gpu0",
     .unit = "W",
     .probe = "nvml",
     .source = "",
     .state = ASSAY_UNAVAILABLE,
     .note = "=no|<library>, \"NVML\"",
     .period_s = NAN},
};
static struct assay__span spans[] = {
    {0, "idle", 0, 1.5e8, -1},
    {1, "measure", 1.5e8, 3e8, 700},
};
static struct assay__allocation_phase phases[] = {
    {"load", 0, 1000, 5e6, 400, 1e6, 4e6, 4.5e6},
    {"first", 1, 20, 8192, 10, 4096, 4.004e6, NAN},
    {"warm", 50, 100, 6400, 100, 6400, 4.004e6, 4.01e6},
};
static struct assay__allocation_class classes[] = {
    {"warm", 0, 64, 60, 2400},
    {"warm", 1024, INFINITY, 4, 4096},
};
static struct assay__allocation_site sites[] = {
    {"load", "libonnxruntime.so.1+0x12ab34 < libc.so.6+0x1", 12, 3e6, 2e6},
    {"warm", "worker+0x10|`x`", 100, 6400, 0},
};
static const char *names[] = {"cycles", "instructions", "task-clock"};
static double conv[] = {1234567, NAN, 6e-5}, relu[] = {0.125, 9000.5, NAN};
static struct assay__class_counters counters[] = {{"Conv", 2, 60000, conv}, {"Relu", 1, NAN, relu}};
static struct assay__ceiling_info ceilings[] = {
    {"cpu", "compute.float32.all-cores", 2.1e11, "FLOP/s", 2.0e11, 2.1e11, "kernel", "AVX2",
     "2025-01-02T00:00:00Z"},
    {"cpu", "compute.bfloat16.all-cores", NAN, "FLOP/s", NAN, NAN, "", "no instructions for it",
     ""},
};

static struct assay_profile *document(void)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    p->assay_version = "0.1.0";
    assay__profile_set_command(p, "power");
    p->models[0]->name = "small";
    p->complete = true;
    struct assay__trial *t = assay__profile_trial(p);
    CHECK(t != NULL);
    t->state = ASSAY__TRIAL_OK;
    t->target.engine = "fake", t->target.engine_version = "1", t->target.device = "cpu";
    CHECK_INT(assay_metrics_measured(t->metrics, "latency.p50", 1e-4, "clock", ""), 0);
    CHECK_INT(assay_metrics_derived(t->metrics, "power.average.package", 17.8125, "powercap", "x"),
              0);
    CHECK_INT(assay_metrics_measured(t->metrics, "power.idle.package", 4.25, "powercap", ""), 0);
    CHECK_INT(assay_metrics_unavailable(t->metrics, "power.average.gpu0", "no NVML"), 0);
    t->series = series, t->series_count = COUNT(series);
    t->spans = spans, t->span_count = COUNT(spans);
    t->allocations = assay__allocations_unknown();
    t->allocations.reason = "";
    t->allocations.phases = phases, t->allocations.phase_count = COUNT(phases);
    t->allocations.classes = classes, t->allocations.class_count = COUNT(classes);
    t->allocations.sites = sites, t->allocations.site_count = COUNT(sites);
    t->allocations.growth_bytes = 12.5;
    t->allocations.growth_low = -3;
    t->allocations.growth_high = 28;
    t->allocations.heap_bytes = 9e6;
    t->allocations.slowdown = 1.07;
    t->counter_names = names, t->counter_count = COUNT(names);
    t->class_counters = counters, t->class_counter_count = COUNT(counters);
    t->class_counter_note = "read between layers";
    p->ceilings = ceilings, p->ceiling_count = COUNT(ceilings);
    return p;
}

static char *render(const struct assay_profile *p, struct assay_report_options options)
{
    char *text = NULL;
    struct assay_error error = {0};
    options.size = sizeof options;
    if (assay_report(p, &options, &text, NULL, &error)) printf("  %s\n", error.message);
    CHECK(text != NULL);
    return text;
}

static void check_render(const char *name, const struct assay_profile *p,
                         struct assay_report_options options)
{
    char *text = render(p, options);
    check_golden(name, text);
    assay_free(text);
}

static void test_golden(void)
{
    static const char *const tables[] = {"series", "spans", "allocations", "counters", "ceilings"};
    struct assay_profile *p = document();
    check_render("report-parts.json", p, (struct assay_report_options){.format = "json"});
    for (size_t i = 0; i < COUNT(tables); i++) {
        char name[64];
        snprintf(name, sizeof name, "report-parts-%s.csv", tables[i]);
        check_render(name, p, (struct assay_report_options){.format = "csv", .table = tables[i]});
    }
    assay_profile_close(p);
}

static void test_markdown(void)
{
    static const char *const rows[] = {
        "| package | 4.25 W | =17.8 W |",
        "\n- power.average.gpu0: no NVML\n",
        "| power.package | | 3 | =4.25 W | =18.1 W | | ≤ 1.00 ms | derived | powercap | energy "
        "over "
        "time |",
        "| energy.package | 1 | 2 | | | 2.50 J | |",
        "| unavailable | | =no\\|&lt;library&gt;, \"NVML\" |",
        "| | idle | 0 s | 150 ms | |",
        "| 1 | measure | 150 ms | 300 ms | 700 |",
        "| load | 0 | 1,000 | 5.00 MB | 400 | 1.00 MB | 4.00 MB | 4.50 MB |",
        "| first | 1 | 20 | 8.19 kB | 10 | 4.10 kB | 4.00 MB | — |",
        "| growth | =12.5 B per inference (95 %: -3 B to 28 B) |",
        "| cost | latency =1.07 ×",
        "| warm | 0 B to 64 B | =1.20 | =48 B | 60 | 2.40 kB |",
        "| warm | 1 KiB and more | =0.0800 | =81.9 B | 4 | 4.10 kB |",
        "| warm | =2 | =128 B | 0 B | 100 | 6.40 kB | worker+0x10\\|\\`x\\` |",
        "| load | 12 | 3.00 MB | 2.00 MB | libonnxruntime.so.1+0x12ab34 &lt; libc.so.6+0x1 |",
        "| Conv | 2 | 60.0 µs | 1,234,567 | — | 60.0 µs | — |",
        "| Relu | 1 | — | 0.125 | 9,000 | — |",
        "\nread between layers\n",
        "| compute.float32.all-cores | 210 GFLOP/s | 200 GFLOP/s | 210 GFLOP/s |",
        "| compute.bfloat16.all-cores | — | — | — | | no instructions for it | |",
    };
    struct assay_profile *p = document();
    char *text = render(p, (struct assay_report_options){.format = "markdown"});
    for (char *at; (at = strstr(text, "|  |")) != NULL;) /* an empty cell */
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_HAS(text, rows[i]);
    assay_free(text);
    assay_profile_close(p);
}

/* Every row of a table has as many cells as its head: quotes are counted, so that commas in text do
 * not matter. */
static size_t cells(const char *line)
{
    size_t count = 1;
    bool quoted = false;
    for (; *line && *line != '\n'; line++) {
        if (*line == '"') quoted = !quoted;
        count += *line == ',' && !quoted;
    }
    return count;
}

static void test_cells(void)
{
    static const struct {
        const char *table;
        size_t rows; /* with the head */
    } expected[] = {
        {"series", 8}, {"spans", 3}, {"allocations", 9}, {"counters", 7}, {"ceilings", 3}};
    struct assay_profile *p = document();
    p->trials[0].allocations.reason = "stopped early, \"half\"";
    for (size_t i = 0; i < COUNT(expected); i++) {
        char *text = render(
            p, (struct assay_report_options){.format = "csv", .table = expected[i].table});
        size_t rows = 0;
        for (const char *line = text; *line; line = strchr(line, '\n') + 1, rows++)
            CHECK_INT(cells(line), cells(text));
        CHECK_INT(rows, expected[i].rows);
        assay_free(text);
    }
    assay_profile_close(p);
}

/* JSON reads back as what the document holds: every value, null for NaN. */
static void test_json_exact(void)
{
    struct assay_profile *p = document();
    char *text = render(p, (struct assay_report_options){.format = "json"});
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    CHECK_INT(assay__json_parse(arena, text, strlen(text), &root, NULL), 0);
    const struct assay__json *one =
        assay__json_get(assay__json_get(root, "trials")->first, "series")->first;
    for (size_t i = 0; i < COUNT(series); i++, one = one->next) {
        CHECK_INT(assay__json_get_integer(one, "count", -1), series[i].count);
        const struct assay__json *times = assay__json_get(one, "times_s"),
                                 *values = assay__json_get(one, "values");
        CHECK_INT(times->count, series[i].count);
        CHECK_INT(values->count, series[i].count);
        const struct assay__json *time = times->first, *value = values->first;
        for (size_t k = 0; k < series[i].count; k++, time = time->next, value = value->next) {
            CHECK(time->number == series[i].times_ns[k] / 1e9);
            CHECK((value->kind == ASSAY__JSON_NULL) == (isnan(series[i].values[k]) != 0));
            if (value->kind != ASSAY__JSON_NULL) CHECK(value->number == series[i].values[k]);
        }
    }
    CHECK(one == NULL);
    assay_free(text);
    assay__arena_free(arena);
    assay_profile_close(p);
}

/* Not asked for, and asked for without an answer: never a number, always a reason. */
static void test_without(void)
{
    struct assay_profile *p = document();
    struct assay__trial *t = &p->trials[0];
    t->series_count = t->span_count = t->counter_count = t->class_counter_count = 0;
    t->counter_names = NULL;
    t->class_counter_note = "";
    t->allocations = assay__allocations_unknown();
    p->ceiling_count = 0;
    char *text = render(p, (struct assay_report_options){.format = "json"});
    CHECK_HAS(text, "\"series\": [],\n");
    CHECK_HAS(text, "\"allocations\": null,\n      \"allocations_reason\": \"");
    CHECK_HAS(text, "\"counters\": null");
    CHECK_HAS(text, "\"ceilings\": []");
    assay_free(text);
    text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK(!strstr(text, "# Allocations") && !strstr(text, "Read over time"));
    CHECK(!strstr(text, "# Counters") && !strstr(text, "# Ceilings"));
    assay_free(text);
    t->allocations.reason = "the allocator cannot be followed here";
    t->class_counter_note = "perf_event_paranoid is 4";
    text = render(p, (struct assay_report_options){.format = "json"});
    CHECK_HAS(text, "\"allocations_reason\": \"the allocator cannot be followed here\"");
    CHECK_HAS(text, "\"note\": \"perf_event_paranoid is 4\"");
    assay_free(text);
    text = render(p, (struct assay_report_options){.format = "markdown"});
    CHECK_HAS(text, "\nthe allocator cannot be followed here\n");
    CHECK_HAS(text, "perf_event_paranoid is 4\n");
    assay_free(text);
    text = render(p, (struct assay_report_options){.format = "csv", .table = "counters"});
    CHECK_STR(text,
              "trial,op,layers,time_us,counter,value,note\n1,,,,,,perf_event_paranoid is 4\n");
    assay_free(text);
    text = render(p, (struct assay_report_options){.format = "csv", .table = "allocations"});
    CHECK_HAS(text, "\n1,,unavailable,,,,,,,,,,,the allocator cannot be followed here\n");
    assay_free(text);
    assay_profile_close(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"golden", test_golden},         {"markdown", test_markdown}, {"cells", test_cells},
        {"json_exact", test_json_exact}, {"without", test_without},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
