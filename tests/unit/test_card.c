/* test_card.c - a trial in one picture: what it says, its size, without layers, with names that
 * somebody else chose. */
#include "harness.h"
#include "text_lines.h"

#include "report/figure/figure.h"

#include <assay/assay.h>

static struct assay_profile *profile;
static struct assay__study *study;
static struct assay__arena *arena;
static struct assay__figure *figure;
static struct assay__layer layers[2];

static void begin(void)
{
    profile = assay__profile_new();
    arena = assay__arena_new();
    CHECK(profile && arena);
    profile->complete = true;
    profile->assay_version = "9.8.7";
    profile->environment.cpu_model = "Example CPU 9000", profile->environment.cores = 4;
    profile->environment.os = "Linux";
    profile->models[0]->name = "resnet50";
    struct assay__trial *t = assay__profile_trial(profile);
    t->state = ASSAY__TRIAL_OK;
    t->model = profile->models[0];
    t->batch = 8;
    t->stability.verdict = "stable";
    t->target.engine = "ort", t->target.engine_version = "1.31.1", t->target.device = "cpu";
    t->target.device_class = ASSAY__CLASS_CPU, t->target.threads = 2;
    t->layers.items = layers, t->layers.count = 2, t->layers.method = "markers";
    t->layers.reason = "";
    for (int i = 0; i < 2; i++) {
        layers[i] = assay__layer_unknown();
        layers[i].index = i, layers[i].name = layers[i].op = i ? "Relu" : "Conv";
        layers[i].time_ns = i ? 3e6 : 7e6, layers[i].state = ASSAY_MEASURED;
    }
    assay_metrics_measured(t->metrics, "latency.p50", 0.01, "clock", "");
    assay_metrics_measured(t->metrics, "latency.between_low", 0.0099, "clock", "");
    assay_metrics_measured(t->metrics, "latency.between_high", 0.0101, "clock", "");
    assay_metrics_measured(t->metrics, "throughput.images", 800, "clock", "");
    assay_metrics_measured(t->metrics, "latency.p95", 0.012, "clock", "");
}

static void end(void)
{
    assay__study_free(study);
    study = NULL;
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static char *draw(void)
{
    struct assay_error error = {0};
    struct assay__buf out = {0};
    size_t count, left_out;
    assay__study_free(study);
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK_INT(assay__figures_of(study, assay__figure_row_find("card"), arena, &figure, &count,
                                &left_out, &error),
              0);
    CHECK_INT(count, 1);
    CHECK_INT(figure->kind, ASSAY__FIGURE_CARD);
    assay__figures_svg(&out, figure, 1);
    CHECK(!out.failed);
    CHECK_HAS(out.data, "viewBox=\"0 0 1200 630\" width=\"1200\" height=\"630\"");
    CHECK(!strstr(out.data, "prefers-color-scheme")); /* the same wherever it is posted */
    CHECK(!strstr(out.data, "<script") && !strstr(out.data, "href") && !strstr(out.data, "nan"));
    return out.data;
}

static void test_whole(void)
{
    begin();
    char *svg = draw();
    static const char *const said[] = {
        ">resnet50<", ">cpu · ort 1.31.1 · 2 threads · float32 · batch 8<", ">stable ±1 %<",
        ">10.0 ms per batch of 8; Conv takes 70 %.<",
        "<tspan class=\"fig-x28\">800</tspan><tspan class=\"fig-x18 fig-n\" dx=\"8\">images/s<",
        ">12.0 ms</tspan>", ">Example CPU 9000, 4 cores · Linux<", ">assay 9.8.7<",
        /* the strip */
        "Conv: 7.00 ms (70.0 %)"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        CHECK_HAS(svg, said[i]);
    CHECK(strlen(svg) < 60000);
    free(svg);
    end();
}

static void test_without_layers(void)
{
    begin();
    profile->trials[0].layers.count = 0;
    profile->trials[0].layers.method = "";
    profile->environment = (struct assay__environment){.memory_bytes = NAN};
    char *svg = draw();
    CHECK(figure->strip == NULL);
    CHECK_HAS(svg, ">10.0 ms per batch of 8.<");
    free(svg);
    profile->interrupted = true;
    svg = draw();
    CHECK_HAS(svg, ">interrupted<");
    CHECK_HAS(svg, "fig-fault");
    free(svg);
    end();
}

/* The trial that a comparison leads with, and names of any length. */
static void test_names(void)
{
    static char endless[3000];
    memset(endless, 'W', sizeof endless - 1);
    begin();
    profile->models[0]->name = endless;
    profile->trials[0].target.device = "</svg><script>alert(1)</script>";
    profile->environment.cpu_model = "\x1b[31m\xff";
    layers[0].op = layers[0].name = endless;
    char *svg = draw();
    CHECK(!strstr(svg, "\x1b") && !strstr(svg, "\xff"));
    CHECK(strlen(svg) < 60000);
    free(svg);
    end();
}

static void test_text(void)
{
    begin();
    free(draw());
    for (int columns = 40; columns <= 120; columns += 20) {
        struct assay__buf out = {0};
        struct assay__page page = {.out = &out, .columns = columns};
        assay__figure_text(&page, figure);
        check_line_widths(assay__buf_text(&out), columns, "card");
        char *words = flat(assay__buf_text(&out));
        CHECK_HAS(words, "10.0 ms per batch of 8; Conv takes 70 %.");
        CHECK_HAS(words, "800 images/s");
        free(words);
        assay__buf_free(&out);
    }
    end();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"whole", test_whole},
                                                {"without_layers", test_without_layers},
                                                {"names", test_names},
                                                {"text", test_text}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
