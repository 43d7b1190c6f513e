/* figures.c - how long a figure takes as SVG and how large it is, kind by kind, on data that is
 * larger than usual: 100,000 samples, 1,000 and 100,000 layers. One line each: name, milliseconds
 * (the least of 5), bytes. Status 1 when one takes more than 50 ms. */
#include "base/clock.h"
#include "base/stats.h"
#include "report/figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SAMPLES 100000
#define LIMIT_MS 50.0
#define REPEATS 5

static double x[SAMPLES + 1], y[SAMPLES];
static char names[SAMPLES][48], groups[SAMPLES][32];
static const char *name_of[SAMPLES], *group_of[SAMPLES];

static void make_data(void)
{
    struct assay__random random;
    assay__random_seed(&random, 1);
    for (size_t i = 0; i < SAMPLES; i++) {
        x[i] = (double)i;
        y[i] = 1e-3 * (1 + 0.1 * fabs(assay__random_normal(&random)));
        snprintf(names[i], sizeof names[i], "/layer%zu/block%zu/conv%zu/Conv", i / 1000, i / 100,
                 i);
        snprintf(groups[i], sizeof groups[i], "layer%zu/block%zu", i / 1000, i / 100);
        name_of[i] = names[i], group_of[i] = groups[i];
    }
    x[SAMPLES] = SAMPLES;
}

static bool measure(const char *label, enum assay__figure_kind kind, size_t count)
{
    struct assay__figure_series series = {.name = "data",
                                          .x = x,
                                          .y = y,
                                          .names = count <= 1000 ? name_of : NULL,
                                          .groups = group_of,
                                          .count = count};
    struct assay__figure_roof roofs[] = {{"float32", 1e4, NAN}, {"dram", NAN, 1e3}};
    struct assay__figure figure = {.kind = kind,
                                   .name = label,
                                   .title = label,
                                   .x_title = "x",
                                   .x_unit = "count",
                                   .y_title = "y",
                                   .y_unit = "s",
                                   .series = &series,
                                   .series_count = 1,
                                   .roofs = roofs,
                                   .roof_count = kind == ASSAY__FIGURE_ROOFLINE ? 2 : 0,
                                   .caption = "",
                                   .description = ""};
    if (kind == ASSAY__FIGURE_TREEMAP || kind == ASSAY__FIGURE_BARS) series.names = name_of;
    figure.x_log = figure.y_log = kind == ASSAY__FIGURE_ROOFLINE;
    double best_ms = INFINITY;
    size_t bytes = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct assay__buf out = {0};
        uint64_t begin_ns = assay__now_ns();
        assay__figure_svg(&out, &figure, &(struct assay__svg_options){.standalone = true});
        best_ms = fmin(best_ms, (double)(assay__now_ns() - begin_ns) * 1e-6);
        bytes = out.length;
        assay__buf_free(&out);
    }
    printf("figure %-28s %8.3f ms %9zu B\n", label, best_ms, bytes);
    return best_ms <= LIMIT_MS;
}

int main(void)
{
    make_data();
    bool quick = measure("bars, 23", ASSAY__FIGURE_BARS, 23);
    quick &= measure("lines, 100,000", ASSAY__FIGURE_LINES, SAMPLES);
    quick &= measure("scatter, 100,000", ASSAY__FIGURE_SCATTER, SAMPLES);
    quick &= measure("histogram, 96", ASSAY__FIGURE_HISTOGRAM, 96);
    quick &= measure("treemap, 1,000", ASSAY__FIGURE_TREEMAP, 1000);
    quick &= measure("treemap, 100,000", ASSAY__FIGURE_TREEMAP, SAMPLES);
    quick &= measure("roofline, 24", ASSAY__FIGURE_ROOFLINE, 24);
    if (!quick) printf("above %.0f ms\n", LIMIT_MS);
    return quick ? 0 : 1;
}
