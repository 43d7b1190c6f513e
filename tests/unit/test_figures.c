/* test_figures.c - the figures of a profile, on hand-made profiles: what is in them, number by
 * number, and why there is none; and the same as text: no wider than the page, ASCII where asked,
 * nothing that drives a terminal. */
#include "facts_fixture.h"

#include "base/text.h"
#include "report/figure/figure_text.h"

#include <assay/assay.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct made {
    const char *label;
    double latency_s, throughput;
};

static const struct made grid[] = {
    {"batch=1", 0.010, 100}, {"batch=2", 0.012, 167},  {"batch=4", 0.016, 250},
    {"batch=8", 0.030, 267}, {"batch=16", 0.062, 258},
};

static struct assay_profile *several(const char *command, const struct made *points, size_t count)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    assay__profile_set_command(profile, command);
    for (size_t i = 0; i < count; i++) {
        struct assay__trial *trial = assay__profile_trial(profile);
        fact(profile, trial, "label", points[i].label);
        trial->state = ASSAY__TRIAL_OK;
        trial->target.device = "cpu";
        for (int l = -1; l <= 1; l++) {
            struct assay__launch *launch = assay__trial_launch(profile, trial);
            launch->state = ASSAY__TRIAL_OK;
            launch->p50_ns = points[i].latency_s * 1e9 * (1 + l * 0.01);
        }
        assay_metrics_measured(trial->metrics, "throughput.samples", points[i].throughput, "", "");
        assay_metrics_measured(trial->metrics, "latency.p50", points[i].latency_s, "", "");
    }
    return profile;
}

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

/* The figures of that name; the reason when there are none. */
static const char *make(const struct assay_profile *profile, const char *name)
{
    static struct assay_error error;
    const struct assay__figure_row *row = assay__figure_row_find(name);
    size_t left_out;
    error = (struct assay_error){0};
    CHECK(row != NULL);
    if (!arena) arena = assay__arena_new();
    assay__study_free(study);
    CHECK_INT(assay__study_new(profile, &study), 0);
    int code = assay__figures_of(study, row, arena, &figures, &figure_count, &left_out, &error);
    CHECK(code == 0 || code == ASSAY_ENOTFOUND);
    if (code) {
        CHECK(error.message[0] != 0);
        return error.message;
    }
    CHECK(figure_count > 0);
    for (size_t i = 0; i < figure_count; i++) { /* what every figure has */
        CHECK_STR(figures[i].name, name);
        CHECK(figures[i].title && figures[i].title[0]);
        CHECK(figures[i].caption && figures[i].caption[strlen(figures[i].caption) - 1] == '.');
        CHECK(figures[i].description && figures[i].description[0]);
    }
    return NULL;
}

/* --- layers ----------------------------------------------------------------------------------- */

static struct assay__layer layer(int index, const char *name, double time_ns)
{
    return (struct assay__layer){.index = index,
                                 .name = name,
                                 .op = "Conv",
                                 .provider = "CPU",
                                 .time_ns = time_ns,
                                 .host_enqueue_ns = NAN,
                                 .kernel_count = NAN,
                                 .gap_ns = NAN,
                                 .share = NAN,
                                 .flops = 1e9,
                                 .bytes = 1e6,
                                 .weight_bytes = NAN,
                                 .live_bytes = 1000.0 * (index + 1),
                                 .bound = "unknown",
                                 .state = isfinite(time_ns) ? ASSAY_MEASURED : ASSAY_UNAVAILABLE,
                                 .method = "markers",
                                 .note = ""};
}

static struct assay_profile *one(struct assay__layer *items, size_t count)
{
    static const struct made only[] = {{"cpu", 0.001, 1000}};
    struct assay_profile *profile = several("run", only, 1);
    struct assay__layers *layers = &profile->trials[0].layers;
    layers->items = items, layers->count = count;
    layers->method = "markers", layers->reason = "";
    return profile;
}

static void test_layers(void)
{
    struct assay__layer items[] = {layer(0, "/a.0.conv/Conv", 100e3),
                                   layer(1, "/a.1.conv/Conv", 600e3), layer(2, "unknown", NAN),
                                   layer(3, "/b.0.conv/Conv", 200e3)};
    struct assay_profile *p = one(items, COUNT(items));
    p->trials[0].layers.engine_ns = 50e3;
    p->trials[0].layers.unattributed_ns = -20e3;
    CHECK(make(p, "layers") == NULL);
    const struct assay__figure_series *s = figures[0].series;
    CHECK_INT(s->count, 5); /* three layers with a time, the engine, what is unattributed */
    CHECK_STR(s->names[0], "/a.1.conv/Conv");
    CHECK_NEAR(s->y[0], 600e-6, 1e-12);
    CHECK_INT(s->layers[0], 1);
    CHECK_INT(s->layers[3], -1);
    CHECK_STR(s->names[3], "engine per run");
    CHECK_NEAR(s->y[3], 50e-6, 1e-12);
    CHECK_STR(s->names[4], "unattributed");
    CHECK_NEAR(s->y[4], -20e-6, 1e-12);
    CHECK_HAS(figures[0].description, "4 layers of a median latency of 1.00 ms");
    CHECK(make(p, "treemap") == NULL);
    CHECK_INT(figures[0].series_count, 1);
    CHECK_INT(figures[0].series[0].count, 3);
    CHECK_STR(figures[0].series[0].groups[0], "a/0");
    CHECK_STR(figures[0].series[0].names[0], "/a.0.conv");
    CHECK(make(p, "memory") == NULL);
    CHECK_NEAR(figures[0].marks[0].at, 3, 0); /* the last has most alive */
    CHECK_HAS(figures[0].description, "4.00 kB, at layer 3");
    finish(p);
}

static void test_many_layers(void)
{
    enum { MANY = 30 };
    struct assay__layer items[MANY];
    for (int i = 0; i < MANY; i++)
        items[i] = layer(i, "n", 1000.0 * (i + 1));
    struct assay_profile *p = one(items, MANY);
    CHECK(make(p, "layers") == NULL);
    const struct assay__figure_series *s = figures[0].series;
    CHECK_INT(s->count, 21); /* engine and unattributed are not known: not there */
    CHECK_STR(s->names[20], "10 more layers");
    CHECK_NEAR(s->y[20], 55e-6, 1e-12); /* 1 + … + 10 µs */
    double sum = 0;
    for (size_t i = 0; i < s->count; i++)
        sum += s->y[i];
    CHECK_NEAR(sum, MANY * (MANY + 1) / 2 * 1e-6, 1e-12);
    finish(p);
}

static void test_roofline(void)
{
    struct assay__layer items[] = {layer(0, "slow", 100e6), layer(1, "fast", 1e6)};
    struct assay__ceiling_info ceilings[] = {
        {"cpu", "compute.float32.all-cores", 2e11, "FLOP/s", NAN, NAN, "kernel", "", ""},
        {"cpu", "bandwidth.dram.read.all-cores", 1e10, "B/s", NAN, NAN, "kernel", "", ""},
        {"cpu", "bandwidth.dram.triad.all-cores", 1e10, "B/s", NAN, NAN, "kernel", "", ""}};
    struct assay_profile *p = one(items, COUNT(items));
    CHECK_HAS(make(p, "roofline"), "no ceilings");
    p->ceilings = ceilings;
    for (p->ceiling_count = 1; p->ceiling_count < COUNT(ceilings); p->ceiling_count++) {
        bool whole = p->ceiling_count > 1; /* one roof alone is no roofline */
        CHECK((make(p, "roofline") == NULL) == whole);
    }
    CHECK(make(p, "roofline") == NULL);
    const struct assay__figure_series *s = figures[0].series;
    CHECK_INT(s->count, 2);
    CHECK_NEAR(s->x[0], 1000, 1e-9);
    CHECK_NEAR(s->y[0], 1e10, 1);
    CHECK_INT(s->flags[0], ASSAY__POINT_MARKED); /* it loses most */
    CHECK_INT(s->flags[1], ASSAY__POINT_FAULT);  /* 1e12 FLOP/s of a device that does 2e11 */
    CHECK_NEAR(s->areas[0], 100e6, 0);
    CHECK_NEAR(s->shares[0], 0.05, 1e-12);
    CHECK_INT(s->layers[1], 1);
    CHECK_HAS(figures[0].note, "1 layer is above its roof");
    finish(p);
}

/* Every layer that has a place is drawn, the others are counted; the five that lose most time,
 * which are not the five slowest, are named. */
static void test_roofline_all(void)
{
    enum { MANY = 300, DRAWN = 297 };
    static struct assay__layer items[MANY];
    static char names[MANY][24];
    struct assay__ceiling_info ceilings[] = {
        {"cpu", "compute.float32.all-cores", 1e12, "FLOP/s", NAN, NAN, "kernel", "", ""},
        {"cpu", "bandwidth.dram.read.all-cores", 1e10, "B/s", NAN, NAN, "kernel", "", ""}};
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "/h.%d/mlp/MatMul", i);
        items[i] = layer(i, names[i], 2e6 + 1e3 * i); /* at its roof it takes 1 ms */
    }
    items[7].flops = 0, items[8].flops = 0, items[9].bytes = NAN;
    for (int i = MANY - 3; i < MANY; i++) /* the slowest: 98 % of the roof */
        items[i].time_ns = 20e6, items[i].flops = 19.6e9;
    struct assay_profile *p = one(items, MANY);
    p->ceilings = ceilings, p->ceiling_count = COUNT(ceilings);
    CHECK(make(p, "roofline") == NULL);
    const struct assay__figure_series *s = figures[0].series;
    CHECK_INT(s->count, DRAWN);
    size_t named = 0;
    for (size_t i = 0; i < s->count; i++) {
        bool marked = s->flags[i] & ASSAY__POINT_MARKED;
        named += marked;
        CHECK(marked == (s->layers[i] >= MANY - 8 && s->layers[i] < MANY - 3));
        double lost = s->areas[i] * (1 - s->shares[i]); /* the first loses most */
        CHECK(i == 0 || lost <= s->areas[i - 1] * (1 - s->shares[i - 1]) + 1e-6);
    }
    CHECK_INT(named, 5);
    CHECK_HAS(figures[0].note, "2 layers (4.02 ms) compute nothing");
    CHECK_HAS(figures[0].note, "1 more layer is not drawn");
    size_t parts = 0; /* lines at 50 and 10 % of both roofs */
    for (size_t i = 0; i < figures[0].roof_count; i++) {
        double ridge = figures[0].roofs[i].flops_per_s / figures[0].roofs[i].bytes_per_s;
        if (isfinite(ridge)) CHECK_NEAR(ridge, 100, 1e-9);
        parts += isfinite(ridge);
    }
    CHECK_INT(parts, 2);
    finish(p);
}

/* Bands add up to what is held; the largest are bands of their own, the rest is one. */
static void test_bands(void)
{
    enum { MANY = 200 };
    static struct assay__layer items[MANY];
    static struct assay__edge edges[MANY];
    static char names[MANY][16];
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "/b.%d/Conv", i);
        items[i] = layer(i, names[i], 1e3);
        edges[i] = (struct assay__edge){i - 1, i, i ? names[i - 1] : "x", 1000.0 * (i + 1)};
    }
    edges[5].bytes = NAN;
    struct assay_profile *p = one(items, MANY);
    p->trials[0].layers.edges = edges, p->trials[0].layers.edge_count = MANY;
    CHECK(make(p, "memory") == NULL);
    const struct assay__figure *f = &figures[0];
    CHECK_INT(f->kind, ASSAY__FIGURE_BANDS);
    CHECK_INT(f->series_count, 81);
    CHECK(f->series[80].faint);
    CHECK_STR(f->series[80].name, "119 smaller tensors");
    for (size_t i = 0; i < MANY; i++) {
        double sum = 0, held = 0;
        for (size_t s = 0; s < f->series_count; s++)
            sum += f->series[s].y[i];
        for (int e = 0; e < MANY; e++) /* of the layer before, and its own for the next one */
            if ((e == (int)i || e == (int)i + 1) && isfinite(edges[e].bytes))
                held += edges[e].bytes;
        CHECK_NEAR(sum, held, 1e-6);
    }
    CHECK_NEAR(f->marks[0].at, MANY - 2 + 0.5, 0); /* it reads 199 kB and makes 200 kB */
    CHECK_INT(f->series[0].layers[0], 119);
    CHECK_STR(f->series[0].name, "/b.119");
    CHECK_HAS(f->note, "1 tensor of unknown size is not drawn");
    finish(p);
}

/* The prompt's block ends at the first token, every further one where its token is there. */
static void test_tokens(void)
{
    struct assay__token_time times[] = {{1, 5e6, 5e6, 4e6, 6e6},
                                        {2, 6e6, 1e6, 1e6, 2e6},
                                        {3, 8e6, 2e6, NAN, NAN},
                                        {4, NAN, NAN, NAN, NAN}};
    static const struct made only[] = {{"cpu", 0.01, 100}};
    struct assay_profile *p = several("run", only, 1);
    struct assay__generation_info *made = &p->trials[0].generation;
    CHECK_HAS(make(p, "tokens"), "does not generate");
    made->tokens = 4, made->prompt = 32;
    CHECK_HAS(make(p, "tokens"), "no token times");
    made->times = times, made->time_count = 3;
    CHECK(make(p, "tokens") == NULL);
    CHECK_INT(figure_count, 2);
    const struct assay__figure_series *s = figures[0].series;
    CHECK_INT(s[0].count, 1);
    CHECK_NEAR(s[0].x[0], 0, 0);
    CHECK_NEAR(s[0].x[1], 5e-3, 1e-15);
    CHECK_INT(s[1].count, 2);
    CHECK_NEAR(s[1].x[0], 5e-3, 1e-15); /* they join */
    CHECK_NEAR(s[1].x[1], 6e-3, 1e-15);
    CHECK_NEAR(s[1].x[2], 8e-3, 1e-15);
    CHECK_INT(figures[1].series[0].count, 2);
    CHECK_NEAR(figures[1].series[0].x[0], 2, 0);
    CHECK_NEAR(figures[1].series[0].y[1], 2e-3, 1e-15);
    CHECK_NEAR(figures[1].series[0].high[0], 2e-3, 1e-15);
    CHECK(isnan(figures[1].series[0].low[1]));
    CHECK_HAS(figures[0].note, "3 of 4 tokens");
    made->time_count = 4; /* an unknown time ends the row */
    CHECK(make(p, "tokens") == NULL);
    CHECK_INT(figures[0].series[1].count, 2);
    finish(p);
}

/* --- latency ---------------------------------------------------------------------------------- */

static void test_latency(void)
{
    enum { MANY = 1000 };
    static double samples[MANY];
    for (size_t i = 0; i < MANY; i++)
        samples[i] = 1e6 + 100.0 * (double)(i * 7 % 1000);
    samples[5] = 3e6; /* warm-up */
    samples[500] = 9e6, samples[600] = 9e6;
    static const struct made only[] = {{"cpu", 0.001, 1000}};
    struct assay_profile *p = several("run", only, 1);
    CHECK_HAS(make(p, "latency"), "too few");
    CHECK_HAS(make(p, "samples"), "no samples");
    struct assay__launch *l = &p->trials[0].launches[0];
    l->samples_ns = samples, l->sample_count = MANY, l->warmup = 10, l->id = 1;
    /* not the median of all samples, which is 1.05 ms: the trial's own p50 is marked */
    assay_metrics_measured(p->trials[0].metrics, "latency.p50", 1.02e-3, "", "");
    CHECK(make(p, "latency") == NULL);
    const struct assay__figure_series *s = figures[0].series;
    double all = 0;
    for (size_t i = 0; i < s->count; i++) {
        all += s->y[i];
        CHECK(s->x[i + 1] > s->x[i]);
    }
    CHECK_NEAR(all, MANY - 10 - 2, 0); /* each sample in one bin; two are outside, and said */
    CHECK_STR(figures[0].note, "2 slower, up to 9.00 ms (outside the chart)");
    CHECK_STR(figures[0].marks[0].text, "p50");
    CHECK_NEAR(figures[0].marks[0].at, 1.02e-3, 1e-12);
    CHECK_HAS(figures[0].description, "p50 1.02 ms");
    CHECK(make(p, "samples") == NULL);
    CHECK_NEAR(figures[0].marks[0].at, 1.02e-3, 1e-12);
    CHECK_INT(figures[0].series_count, 3);
    CHECK_INT(figures[0].series[0].count, MANY - 12);
    CHECK_STR(figures[0].series[1].name, "outliers"); /* always the second colour */
    CHECK_INT(figures[0].series[1].count, 2);
    CHECK_NEAR(figures[0].series[1].x[0], 500, 0);
    CHECK_NEAR(figures[0].series[1].y[1], 9e-3, 1e-12);
    CHECK_STR(figures[0].series[2].name, "warm-up");
    CHECK_INT(figures[0].series[2].count, 10);
    CHECK(figures[0].series[2].faint);
    finish(p);
}

/* Monotone, from the first sample's share up to all that are in the picture; a line of its own for
 * each launch; p50 as the table has it. */
static void test_cdf(void)
{
    enum { MANY = 500 };
    static double samples[2][MANY];
    static const struct made only[] = {{"cpu", 0.00115, 1000}};
    struct assay_profile *p = several("run", only, 1);
    size_t made = p->trials[0].launch_count;
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < MANY; i++)
            samples[l][i] = 1e6 + 2e5 * (double)l + 100.0 * (double)(i * 7 % MANY);
        p->trials[0].launches[l].samples_ns = samples[l];
        p->trials[0].launches[l].sample_count = MANY;
        p->trials[0].launches[l].p50_ns = 1.1e6 + 1e5 * (double)l;
    }
    p->trials[0].launch_count = 2;
    CHECK(make(p, "cdf") == NULL);
    CHECK_INT(figures[0].series_count, 3);
    CHECK(!figures[0].series[0].faint && figures[0].series[2].faint);
    for (size_t s = 0; s < 3; s++) {
        const struct assay__figure_series *curve = &figures[0].series[s];
        for (size_t i = 1; i < curve->count; i++)
            CHECK(curve->x[i] >= curve->x[i - 1] && curve->y[i] > curve->y[i - 1]);
        CHECK_NEAR(curve->y[curve->count - 1], 1, 1e-12); /* nothing is outside here */
    }
    CHECK_NEAR(figures[0].series[0].y[0], 1.0 / (2 * MANY), 1e-12);
    CHECK_NEAR(figures[0].marks[0].at, 0.00115, 0);
    CHECK_NEAR(figures[0].spans[0].begin, 1.1e-3, 1e-12); /* two launches: no interval yet */
    CHECK_NEAR(figures[0].spans[0].end, 1.2e-3, 1e-12);
    assay_metrics_derived(p->trials[0].metrics, "latency.between_low", 1.12e-3, "", "");
    assay_metrics_derived(p->trials[0].metrics, "latency.between_high", 1.14e-3, "", "");
    CHECK(make(p, "latency") == NULL);
    CHECK_NEAR(figures[0].spans[0].begin, 1.12e-3, 1e-12);
    p->trials[0].launch_count = made; /* what is freed */
    finish(p);
}

static void test_modes(void)
{
    enum { MANY = 400 };
    static double samples[MANY];
    for (size_t i = 0; i < MANY; i++)
        samples[i] = (i % 4 ? 1e6 : 2e6) + 1000.0 * (double)(i * 13 % 40);
    static const struct made only[] = {{"cpu", 0.001, 1000}};
    struct assay_profile *p = several("run", only, 1);
    p->trials[0].launches[0].samples_ns = samples, p->trials[0].launches[0].sample_count = MANY;
    CHECK(make(p, "samples") == NULL);
    CHECK_INT(figures[0].mark_count, 2);
    CHECK_STR(figures[0].marks[0].text, "lower mode, 75 %");
    CHECK_STR(figures[0].marks[1].text, "upper mode, 25 %");
    finish(p);
}

/* --- over time -------------------------------------------------------------------------------- */

static void test_power(void)
{
    static double times[] = {0, 1e9, 2e9, 3e9}, watts[] = {5, NAN, 9, 7}, zeros[] = {0, 0, 0, 0},
                  degrees[] = {40, 41, 42, 43};
    struct assay__series_info series[] = {{.name = "power.core",
                                           .quantity = "power",
                                           .unit = "W",
                                           .state = ASSAY_MEASURED,
                                           .note = "",
                                           .rail = "core",
                                           .count = 4,
                                           .times_ns = times,
                                           .values = zeros},
                                          {.name = "power.gpu0",
                                           .quantity = "power",
                                           .unit = "W",
                                           .state = ASSAY_UNAVAILABLE,
                                           .rail = "gpu0",
                                           .note = "no NVML on this host"},
                                          {.name = "power.package",
                                           .quantity = "power",
                                           .unit = "W",
                                           .state = ASSAY_MEASURED,
                                           .rail = "package",
                                           .note = "",
                                           .count = 4,
                                           .times_ns = times,
                                           .values = watts},
                                          {.name = "temperature.soc",
                                           .quantity = "temperature",
                                           .unit = "°C",
                                           .state = ASSAY_MEASURED,
                                           .rail = "",
                                           .note = "",
                                           .count = 4,
                                           .times_ns = times,
                                           .values = degrees}};
    struct assay__span spans[] = {
        {0, "idle", 0, 1e9, -1}, {0, "measure", 1e9, 2e9, 10}, {0, "measure", 2.01e9, 3e9, 10}};
    static const struct made only[] = {{"cpu", 0.001, 1000}};
    struct assay_profile *p = several("power", only, 1);
    CHECK_STR(make(p, "power"), "no sensor was read");
    p->trials[0].series = series, p->trials[0].series_count = 2;
    CHECK_STR(make(p, "power"), "no NVML on this host"); /* 0 W all along is no reading */
    p->trials[0].series_count = COUNT(series);
    p->trials[0].spans = spans, p->trials[0].span_count = COUNT(spans);
    CHECK(make(p, "power") == NULL);
    CHECK_INT(figure_count, 2); /* power and temperature; no clocks */
    CHECK_INT(figures[0].series_count, 1);
    CHECK_STR(figures[0].series[0].name, "power.package");
    CHECK_STR(figures[0].description, "power.package from 5.00 W to 9.00 W.");
    CHECK_INT(figures[0].span_count, 2); /* windows that follow each other are one */
    CHECK_NEAR(figures[0].spans[1].end, 3, 1e-12);
    CHECK_STR(figures[1].y_unit, "°C");
    finish(p);
}

/* --- trials ----------------------------------------------------------------------------------- */

static void test_sweep(void)
{
    struct assay_profile *p = several("sweep", grid, COUNT(grid));
    CHECK(make(p, "sweep") == NULL);
    CHECK_INT(figure_count, 2); /* throughput and latency; no energy and no bytes are known */
    CHECK_STR(figures[0].title, "Throughput against batch");
    CHECK_INT(figures[0].series_count, 1);
    CHECK_INT(figures[0].series[0].count, 5);
    CHECK(figures[0].x_log);
    CHECK_INT(figures[0].x_tick_count, 5);
    CHECK_INT(figures[0].mark_count, 2);
    CHECK_STR(figures[0].marks[0].text, "knee");
    CHECK_NEAR(figures[0].marks[0].at, 4, 0);
    CHECK_STR(figures[0].marks[1].text, "best");
    CHECK_NEAR(figures[0].marks[1].at, 8, 0);
    CHECK_INT(figures[0].series[0].flags[3], ASSAY__POINT_MARKED);
    CHECK_NEAR(figures[1].series[0].y[4], 0.062, 1e-12);
    CHECK_NEAR(figures[1].series[0].high[4], 0.062 * 1.01, 1e-12);
    CHECK(make(p, "pareto") == NULL);
    CHECK_INT(figures[0].series[1].count, 4); /* batch 16 is beaten by 8 in both */
    CHECK_NEAR(figures[0].series[1].x[3], 0.030, 1e-12);
    CHECK_HAS(make(p, "compare"), "not from a comparison");
    finish(p);
}

static void test_sweep_of_two_axes(void)
{
    static const struct made points[] = {{"batch=1 threads=1", 0.01, 100},
                                         {"batch=8 threads=1", 0.05, 160},
                                         {"batch=1 threads=2", 0.006, 160},
                                         {"batch=8 threads=2", 0.03, 260}};
    struct assay_profile *p = several("sweep", points, COUNT(points));
    CHECK(make(p, "sweep") == NULL);
    CHECK_INT(figures[0].series_count, 2);
    CHECK_STR(figures[0].series[0].name, "threads=1");
    CHECK_STR(figures[0].series[1].name, "threads=2");
    CHECK_NEAR(figures[0].series[1].y[1], 260, 0);
    finish(p);
    static const struct made words[] = {{"opt=none", 0.02, 50}, {"opt=all", 0.01, 100}};
    p = several("sweep", words, COUNT(words));
    CHECK(make(p, "sweep") == NULL);
    CHECK_INT(figures[0].kind, ASSAY__FIGURE_BARS); /* words have no place on an axis */
    CHECK_STR(figures[0].categories[1], "opt=all");
    finish(p);
}

static void test_compare(void)
{
    static const struct made devices[] = {{"cpu", 0.02, 50}, {"gpu", 0.01, 100}};
    struct assay_profile *p = several("compare", devices, COUNT(devices));
    assay_metrics_derived(p->trials[0].metrics, "compute.rate", 1e12, "", "");
    assay_metrics_unavailable(p->trials[1].metrics, "compute.rate", "FLOPs are not known");
    CHECK(make(p, "compare") == NULL);
    CHECK_INT(figure_count, 2);
    CHECK_NEAR(figures[0].series[0].y[1], 0.01, 1e-12);
    CHECK_NEAR(figures[0].series[0].low[1], 0.0099, 1e-9);
    CHECK_NEAR(figures[0].series[0].high[1], 0.0101, 1e-9);
    CHECK_INT(figures[0].series[0].flags[0], ASSAY__POINT_MARKED); /* the reference */
    CHECK_STR(figures[1].description, "cpu 50.0 /s, gpu 100 /s.");
    p->trials[1].state = ASSAY__TRIAL_FAILED; /* what was measured before it was gone is shown */
    CHECK(make(p, "compare") == NULL);
    CHECK_NEAR(figures[0].series[0].y[1], 0.01, 1e-12);
    p->trials[1].state = ASSAY__TRIAL_OK;
    CHECK(make(p, "devices") == NULL);
    CHECK_INT(figure_count, 1);
    CHECK_STR(figures[0].description, "cpu 1.00 TFLOP/s, gpu —."); /* unknown, not 0 */
    CHECK(isnan(figures[0].series[0].y[1]));
    CHECK_HAS(make(p, "sweep"), "sweep");
    CHECK_HAS(make(p, "layers"), "not timed");
    finish(p);
}

static void test_no_trial(void)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p != NULL);
    assay__profile_set_command(p, "run");
    for (size_t i = 0; assay__figure_row_at(i); i++)
        CHECK_HAS(make(p, assay__figure_row_at(i)->name), "no trial");
    CHECK(assay__figure_row_find("nonsense") == NULL);
    finish(p);
}

/* --- text ------------------------------------------------------------------------------------- */

/* Every line is at most that wide; in ASCII nothing else is there. */
static void check_page(struct assay__buf *out, int columns, bool ascii)
{
    CHECK(!out->failed && out->length > 0);
    for (char *line = out->data; line && *line;) {
        char *end = strchr(line, '\n');
        CHECK(end != NULL);
        *end = 0;
        if ((int)assay__text_width(line) > columns) printf("  too wide: %s\n", line);
        CHECK((int)assay__text_width(line) <= columns);
        for (const unsigned char *c = (unsigned char *)line; *c; c++)
            CHECK(*c >= ' ' && *c != 0x7f && (!ascii || *c < 0x80));
        line = end + 1;
    }
}

static void check_text(const struct assay_profile *profile, const char *name)
{
    static const int widths[] = {40, 80, 120};
    CHECK(make(profile, name) == NULL);
    for (size_t w = 0; w < COUNT(widths); w++)
        for (int ascii = 0; ascii < 2; ascii++)
            for (size_t i = 0; i < figure_count; i++) {
                struct assay__buf out = {0};
                struct assay__page page = {
                    .out = &out, .columns = widths[w], .ascii = ascii, .top = 20};
                assay__figure_text(&page, &figures[i]);
                if (ascii) assay__page_to_ascii(&out, 0);
                check_page(&out, widths[w], ascii);
                assay__buf_free(&out);
            }
}

static void test_text(void)
{
    static char longest[10001];
    memset(longest, 'x', sizeof longest - 1);
    static double samples[500];
    for (size_t i = 0; i < 500; i++)
        samples[i] = 1e6 + 1000.0 * (double)(i * 7 % 83);
    struct assay__layer items[] = {layer(0, "\x1b[31mred\x07", 100e3), layer(1, longest, 600e3),
                                   layer(2, "\xf0\x9f\x9a\x80/\xd7\xa9", 300e3)};
    struct assay__ceiling_info ceilings[] = {
        {"cpu", "compute.float32.all-cores", 2e13, "FLOP/s", NAN, NAN, "kernel", "", ""},
        {"cpu", "bandwidth.dram.triad.all-cores", 1e10, "B/s", NAN, NAN, "kernel", "", ""}};
    struct assay_profile *p = one(items, COUNT(items));
    p->trials[0].launches[0].samples_ns = samples, p->trials[0].launches[0].sample_count = 500;
    p->ceilings = ceilings, p->ceiling_count = COUNT(ceilings);
    static const char *const of_run[] = {"layers",  "treemap", "roofline",
                                         "latency", "samples", "memory"};
    for (size_t i = 0; i < COUNT(of_run); i++)
        check_text(p, of_run[i]);
    finish(p);
    p = several("sweep", grid, COUNT(grid));
    check_text(p, "sweep");
    check_text(p, "pareto");
    finish(p);
    p = several("compare", grid, COUNT(grid));
    check_text(p, "compare");
    finish(p);
}

/* A bar of text is as long as its value tells. */
static void test_text_bars(void)
{
    const double values[] = {4, 2, NAN};
    const char *const names[] = {"a", "b", "c"};
    struct assay__figure_series series = {.y = values, .names = names, .count = 3};
    struct assay__figure figure = {.kind = ASSAY__FIGURE_BARS,
                                   .title = "T",
                                   .x_unit = "",
                                   .y_unit = "s",
                                   .series = &series,
                                   .series_count = 1};
    struct assay__buf out = {0};
    struct assay__page page = {.out = &out, .columns = 62, .ascii = true};
    assay__figure_text(&page, &figure);
    CHECK_STR(out.data, "\nT\n\n"
                        "  a           4.00 s ########################################\n"
                        "  b           2.00 s ####################\n"
                        "  c                —\n");
    assay__buf_free(&out);
}

static void test_sparkline(void)
{
    const double rising[] = {1, 2, 3, 4, 5, 6, 7, 8}, flat[] = {3, 3, 3}, gap[] = {1, NAN, 8};
    const double pairs[] = {1, 1, 1, 8, 8, 8}, none[] = {NAN, NAN};
    double low, high;
    struct assay__buf out = {0};
    CHECK(assay__text_sparkline(&out, rising, 8, 8, false, &low, &high));
    CHECK_STR(out.data, "▁▂▃▄▅▆▇█");
    CHECK_NEAR(low, 1, 0);
    CHECK_NEAR(high, 8, 0);
    assay__buf_clear(&out);
    CHECK(assay__text_sparkline(&out, pairs, 6, 2, true, &low, &high)); /* medians of three */
    CHECK_STR(out.data, "_#");
    assay__buf_clear(&out);
    CHECK(assay__text_sparkline(&out, flat, 3, 40, true, &low, &high));
    CHECK_STR(out.data, "==="); /* a flat line stands in the middle */
    assay__buf_clear(&out);
    CHECK(assay__text_sparkline(&out, gap, 3, 3, true, &low, &high));
    CHECK_STR(out.data, "_" ASSAY__PAGE_NBSP "#"); /* unknown is a gap, not a low */
    CHECK(!assay__text_sparkline(&out, none, 2, 2, true, &low, &high));
    CHECK(!assay__text_sparkline(&out, none, 0, 2, true, &low, &high));
    assay__buf_free(&out);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"layers", test_layers},       {"many_layers", test_many_layers},
        {"roofline", test_roofline},   {"roofline_all", test_roofline_all},
        {"tokens", test_tokens},       {"bands", test_bands},
        {"latency", test_latency},     {"cdf", test_cdf},
        {"modes", test_modes},         {"power", test_power},
        {"sweep", test_sweep},         {"sweep_of_two_axes", test_sweep_of_two_axes},
        {"compare", test_compare},     {"no_trial", test_no_trial},
        {"text", test_text},           {"text_bars", test_text_bars},
        {"sparkline", test_sparkline},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
