/* test_figures_text.c - every figure as text where all names are hostile or far too long: no sign
 * that drives a terminal, no line wider than the page. Also what a figure's picture reaches to, and
 * what its legend and its reasons say. */
#include "facts_fixture.h"
#include "text_lines.h"

#include "base/text.h"
#include "report/figure/figure_scale.h"
#include "report/figure/figure_text.h"
#include "report/figure/figures.h"

#include <assay/assay.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
/* ESC, BEL, C1's CSI, CR, tab, line feed, a right-to-left override, an isolate */
#define HOSTILE              \
    "\x1b]0;x\x07"           \
    "a\xc2\x9b"              \
    "31m\r\t\nb\xe2\x80\xae" \
    "c\xe2\x81\xa6"

static struct assay__arena *arena;
static struct assay__figure *figures;
static size_t figure_count;
static struct assay__study *study; /* of what was made last */

static void finish(struct assay_profile *profile)
{
    assay__study_free(study);
    study = NULL;
    assay_profile_close(profile);
}
static char longest[3001];

static const char *make(const struct assay_profile *profile, const char *name)
{
    static struct assay_error error;
    size_t left_out;
    error = (struct assay_error){0};
    if (!arena) arena = assay__arena_new();
    assay__study_free(study);
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK(assay__figure_row_find(name) != NULL);
    int code = assay__figures_of(study, assay__figure_row_find(name), arena, &figures,
                                 &figure_count, &left_out, &error);
    CHECK(code == 0 || code == ASSAY_ENOTFOUND);
    return code ? error.message : NULL;
}

static struct assay__trial *add(struct assay_profile *p, const char *label, double latency_s)
{
    struct assay__trial *trial = assay__profile_trial(p);
    fact(p, trial, "label", label);
    trial->state = ASSAY__TRIAL_OK;
    trial->target.device = label;
    for (int l = -1; l <= 1; l++) {
        struct assay__launch *launch = assay__trial_launch(p, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = latency_s * 1e9 * (1 + l * 0.01);
    }
    assay_metrics_measured(trial->metrics, "latency.p50", latency_s, "", "");
    assay_metrics_measured(trial->metrics, "throughput.samples", 1 / latency_s, "", "");
    assay_metrics_derived(trial->metrics, "energy.inference.gross", latency_s * 9, "", "");
    assay_metrics_derived(trial->metrics, "compute.rate", 1e9 / latency_s, "", "");
    return trial;
}

static struct assay_profile *profile_of(const char *command)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    assay__profile_set_command(p, command);
    return p;
}

/* --- hostile names ---------------------------------------------------------------------------- */

static bool drives(const unsigned char *c)
{
    if ((*c < ' ' && *c != '\n') || *c == 0x7f) return true;
    if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f) return true;
    if (c[0] != 0xe2) return false;
    return (c[1] == 0x80 && ((c[2] >= 0xaa && c[2] <= 0xae) || c[2] == 0x8e || c[2] == 0x8f)) ||
           (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

static void check_text(const char *name, const char *text, int columns, bool ascii)
{
    check_line_widths(text, columns, name);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (drives(c)) printf("  %s: byte %02x\n", name, *c);
        CHECK(!drives(c) && (!ascii || *c < 0x80));
    }
}

static void check_figures(const struct assay_profile *p, const char *name)
{
    static const int widths[] = {40, 80, 200};
    const char *reason = make(p, name);
    if (reason) printf("  %s: %s\n", name, reason);
    CHECK(reason == NULL);
    for (size_t i = 0; i < figure_count * COUNT(widths) * 2; i++) {
        struct assay__buf out = {0};
        bool ascii = i % 2;
        int columns = widths[i / 2 % COUNT(widths)];
        struct assay__page page = {.out = &out, .columns = columns, .ascii = ascii, .top = 20};
        assay__figure_text(&page, &figures[i / 2 / COUNT(widths)]);
        if (ascii) assay__page_to_ascii(&out, 0);
        CHECK(!out.failed && out.length > 0);
        check_text(name, out.data, columns, ascii);
        assay__buf_free(&out);
    }
}

static struct assay__layer layer(int index, const char *name, double time_ns, double flops)
{
    return (struct assay__layer){.index = index,
                                 .name = name,
                                 .op = name,
                                 .provider = name,
                                 .time_ns = time_ns,
                                 .host_enqueue_ns = NAN,
                                 .kernel_count = NAN,
                                 .gap_ns = NAN,
                                 .share = NAN,
                                 .flops = flops,
                                 .bytes = 2,
                                 .weight_bytes = NAN,
                                 .live_bytes = 1000.0 * (index + 1),
                                 .bound = name,
                                 .state = ASSAY_MEASURED,
                                 .method = name,
                                 .note = name};
}

/* Layers, ceilings, samples and readings whose every name, unit and kind is that text. */
static void fill(struct assay_profile *p, struct assay__trial *trial, const char *name)
{
    enum { LAYERS = 3, SAMPLES = 200, READINGS = 4, SERIES = 4 };
    static const char *const quantities[SERIES] = {"power", "temperature", "clock", "memory"};
    struct assay__layer *layers = assay__arena_array(p->arena, LAYERS, sizeof *layers);
    double *samples = assay__figure_values(p->arena, SAMPLES),
           *times = assay__figure_values(p->arena, READINGS),
           *values = assay__figure_values(p->arena, READINGS);
    struct assay__series_info *series = assay__arena_array(p->arena, SERIES, sizeof *series);
    struct assay__span *span = assay__arena_array(p->arena, 1, sizeof *span);
    CHECK(layers && samples && times && values && series && span);
    for (int i = 0; i < LAYERS; i++)
        layers[i] = layer(i, name, 1e3 * (i + 1), i ? 9e5 * i : 1e21);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = 1e6 + 1e3 * (i * 7 % 83);
    for (int i = 0; i < READINGS; i++)
        times[i] = i * 1e9, values[i] = (i + 1) * 1e14;
    for (int i = 0; i < SERIES; i++)
        series[i] = (struct assay__series_info){.name = i == 3 ? "memory.device.0" : name,
                                                .quantity = quantities[i],
                                                .unit = name,
                                                .state = ASSAY_MEASURED,
                                                .source = name,
                                                .note = name,
                                                .rail = name,
                                                .count = READINGS,
                                                .times_ns = times,
                                                .values = values};
    *span = (struct assay__span){0, name, 0, 2e9, -1};
    trial->layers.items = layers, trial->layers.count = LAYERS;
    trial->layers.method = trial->layers.reason = "";
    trial->launches[0].samples_ns = samples, trial->launches[0].sample_count = SAMPLES;
    trial->launches[0].id = 1;
    trial->series = series, trial->series_count = SERIES;
    trial->spans = span, trial->span_count = 1;
}

static void test_hostile(void)
{
    static const char *const of_run[] = {"layers", "treemap", "latency", "samples", "memory",
                                         "power",  "compare", "devices", "roofline"};
    const char *const names[] = {HOSTILE, longest, "\xe4\xb8\xad\xe6\x96\x87\xf0\x9f\x98\x80", ""};
    memset(longest, 'x', sizeof longest - 1);
    for (size_t n = 0; n < COUNT(names); n++) {
        struct assay_profile *p = profile_of("compare");
        struct assay__ceiling_info ceilings[] = {
            {"cpu", "compute.float32.all-cores", 2e23, "FLOP/s", NAN, NAN, names[n], names[n], ""},
            {"cpu", "bandwidth.dram.triad.all-cores", 1e10, "B/s", NAN, NAN, names[n], names[n],
             ""}};
        for (int i = 0; i < 2; i++)
            add(p, names[n], 0.001 * (i + 1));
        for (int i = 0; i < 2; i++)
            fill(p, &p->trials[i], names[n]);
        p->trials[0].target.device = p->trials[1].target.device = "cpu";
        p->ceilings = ceilings, p->ceiling_count = COUNT(ceilings);
        for (size_t i = 0; i < COUNT(of_run); i++)
            check_figures(p, of_run[i]);
        finish(p);
    }
}

/* Axes, their values and the settings beside them; where nothing is a number, bars. */
static void test_hostile_points(void)
{
    static const char *const patterns[] = {"%s=1 other=%s", "%s=8 other=%s", "%s=64 other=b%s",
                                           "%s=1e300 other=c%s"};
    static const char *const commands[] = {"sweep", "tune"};
    const char *const names[] = {HOSTILE, longest};
    memset(longest, 'x', sizeof longest - 1);
    for (size_t n = 0; n < COUNT(names) * COUNT(commands) * 2; n++) {
        const char *name = names[n % 2], *command = commands[n / 2 % 2];
        struct assay_profile *p = profile_of(command);
        for (size_t i = 0; i < COUNT(patterns); i++) {
            struct assay__buf label = {0};
            if (n < 4)
                assay__buf_printf(&label, patterns[i], name, name);
            else
                assay__buf_printf(&label, "axis=%s%zu", name, i);
            add(p, assay__arena_strdup(p->arena, label.data), 1e-3 * (double)(i + 1));
            assay__buf_free(&label);
        }
        check_figures(p, "pareto");
        if (strcmp(command, "sweep") == 0) check_figures(p, "sweep");
        finish(p);
    }
}

/* --- latency ---------------------------------------------------------------------------------- */

/* A tail that reaches far beyond the bulk: the picture ends where the bulk does, and a percentile
 * out there is said in words. */
static void test_long_tail(void)
{
    enum { MANY = 1000 };
    static double samples[MANY];
    double low, high;
    struct assay_profile *p = profile_of("run");
    struct assay__trial *trial = add(p, "cpu", 0.001);
    for (int i = 0; i < MANY; i++)
        samples[i] = i < 20 ? 50e6 + 1e6 * i : 1e6 + 100.0 * (i * 7 % 1000);
    trial->launches[0].samples_ns = samples, trial->launches[0].sample_count = MANY;
    assay_metrics_measured(trial->metrics, "latency.p95", 1.09e-3, "", "");
    assay_metrics_measured(trial->metrics, "latency.p99", 60e-3, "", "");
    CHECK(make(p, "latency") == NULL);
    CHECK(assay__figure_range(&figures[0], true, &low, &high));
    CHECK(low > 0.99e-3 && high < 1.3e-3);
    CHECK_INT(figures[0].mark_count, 2);
    CHECK_STR(figures[0].marks[1].text, "p95");
    CHECK_STR(figures[0].note, "20 slower, up to 69.0 ms, p99 at 60.0 ms (outside the chart)");
    double shown = 0;
    for (size_t i = 0; i < figures[0].series->count; i++)
        shown += figures[0].series->y[i];
    CHECK_NEAR(shown, MANY - 20, 0); /* every sample is drawn or counted in the note */
    finish(p);
}

static void test_one_sample(void)
{
    static double sample[] = {1e6};
    struct assay_profile *p = profile_of("run");
    struct assay__trial *trial = add(p, "cpu", 0.001);
    CHECK_STR(make(p, "samples"), "the trial has no samples");
    trial->launches[0].samples_ns = sample, trial->launches[0].sample_count = 1;
    CHECK_STR(make(p, "samples"), "the trial has 1 sample; a chart needs at least 2");
    finish(p);
}

/* --- legends and tables ----------------------------------------------------------------------- */

static void test_series_without_points(void)
{
    struct assay_profile *p = profile_of("sweep");
    add(p, "batch=1 threads=1", 0.001);
    add(p, "batch=8 threads=1", 0.004);
    for (int i = 0; i < 2; i++) {
        struct assay__trial *trial = add(p, i ? "batch=8 threads=2" : "batch=1 threads=2", 0.001);
        trial->state = ASSAY__TRIAL_FAILED, trial->reason = "no memory";
        for (size_t l = 0; l < trial->launch_count; l++)
            trial->launches[l].state = ASSAY__TRIAL_FAILED, trial->launches[l].p50_ns = NAN;
    }
    CHECK(make(p, "sweep") == NULL);
    for (size_t i = 0; i < figure_count; i++) {
        CHECK_INT(figures[i].series_count, 1);
        CHECK_STR(figures[i].series[0].name, "threads=1");
    }
    finish(p);
}

/* Lines are told apart by numbers at their ends, also where they lie over each other. */
static void test_lines_have_numbers(void)
{
    struct assay_profile *p = profile_of("sweep");
    add(p, "batch=1 threads=1", 0.001); /* batch has most values: it is the axis */
    add(p, "batch=2 threads=1", 0.001);
    add(p, "batch=4 threads=1", 0.001);
    add(p, "batch=8 threads=1", 0.001);
    add(p, "batch=1 threads=2", 0.001);
    add(p, "batch=8 threads=2", 0.001);
    add(p, "batch=1 threads=4", 0.0001);
    add(p, "batch=8 threads=4", 0.0002);
    CHECK(make(p, "sweep") == NULL);
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = 60, .ascii = true};
    assay__figure_text(&page, &figures[0]);
    CHECK_HAS(out.data, "  1 threads=1\n  2 threads=2\n  3 threads=4\n");
    CHECK_HAS(out.data, "21\n"); /* of the two that are alike */
    CHECK_HAS(out.data, "3\n");
    assay__buf_free(&out);
    finish(p);
}

static void test_letters_apart(void)
{
    struct assay__ceiling_info ceilings[] = {
        {"cpu", "compute.float32.all-cores", 2e16, "FLOP/s", NAN, NAN, "kernel", "", ""},
        {"cpu", "bandwidth.dram.triad.all-cores", 1e10, "B/s", NAN, NAN, "kernel", "", ""}};
    struct assay__layer items[] = {layer(0, "conv", 1e6, 8.96e12)};
    struct assay_profile *p = profile_of("run");
    struct assay__trial *trial = add(p, "cpu", 0.001);
    items[0].bytes = 8.96e12 / 466433;
    trial->layers.items = items, trial->layers.count = 1;
    p->ceilings = ceilings, p->ceiling_count = COUNT(ceilings);
    CHECK(make(p, "roofline") == NULL);
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = 80};
    assay__figure_text(&page, &figures[0]);
    CHECK_HAS(out.data, " 8.96 PFLOP/s 466,433 FLOP/B");
    assay__buf_free(&out);
    finish(p);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"hostile", test_hostile},
        {"hostile_points", test_hostile_points},
        {"long_tail", test_long_tail},
        {"one_sample", test_one_sample},
        {"series_without_points", test_series_without_points},
        {"lines_have_numbers", test_lines_have_numbers},
        {"letters_apart", test_letters_apart},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
