/* test_chart.c - the chart of a metric over time, character by character; gaps, ASCII, and values
 * that a profile should not hold. */
#include "harness.h"

#include "base/text.h"
#include "report/figure/chart.h"

#include <float.h>

static struct assay__buf out;

/* 10 columns of chart: the narrowest. */
static const char *draw(struct assay__chart chart, int columns, bool ascii)
{
    struct assay__page page = {.out = &out, .columns = columns, .ascii = ascii};
    assay__buf_clear(&out);
    assay__page_chart(&page, &chart);
    if (ascii) assay__page_to_ascii(&out, 0);
    CHECK(!out.failed);
    return out.data ? out.data : "";
}

#define AXIS(begin, end) .begin_ns = (begin), .end_ns = (end)

static void test_steps(void)
{
    /* one value in the middle of each of the 26 columns of a page of 40 */
    double times[26], values[26];
    for (int i = 0; i < 26; i++) {
        times[i] = (i + 0.5) * 1e9;
        values[i] = i < 13 ? 20 : 40;
    }
    struct assay__span spans[] = {{0, "idle", 0, 5.5e9, 0}, {1, "measure", 10e9, 25.9e9, 3}};
    const char *text = draw((struct assay__chart){.title = "power",
                                                  .unit = "W",
                                                  .times_ns = times,
                                                  .values = values,
                                                  .count = 26,
                                                  AXIS(0, 26e9),
                                                  .low = 0,
                                                  .rows = 4,
                                                  .spans = spans,
                                                  .span_count = 2},
                            40, false);
    CHECK_STR(text, "\n  power               20.0 W to 40.0 W\n"
                    "    40.0 W │             █████████████\n"
                    "           │             █████████████\n"
                    "           │██████████████████████████\n"
                    "       0 W │██████████████████████████\n"
                    "           └──────────────────────────\n"
                    "            iiiiii    mmmmmmmmmmmmmmmm\n"
                    "            0 s                 26.0 s\n");
}

static void test_gap_is_no_zero(void)
{
    double times[] = {0, 1e9, 2e9, 3e9, 4e9};
    double values[] = {1, 1, NAN, 0, 1};
    const char *text = draw((struct assay__chart){.title = "x",
                                                  .unit = "W",
                                                  .times_ns = times,
                                                  .values = values,
                                                  .count = 5,
                                                  AXIS(0, 4e9),
                                                  .low = 0,
                                                  .rows = 1},
                            40, true);
    /* known to 1 s, unknown to 3 s, 0 is drawn there, then a line up to 1 (from a half on it is a
     * block) */
    CHECK_HAS(text, "|#######            ...####\n");
    CHECK_HAS(text, "0 s                 4.00 s");
    for (const char *c = text; *c; c++)
        CHECK((unsigned char)*c < 128);
}

static void test_flat_and_scale(void)
{
    double times[] = {0, 1e9}, zeros[] = {0, 0}, warm[] = {45.25, 45.25}, wide[] = {41, 63};
    struct assay__chart chart = {.title = "x",
                                 .unit = "W",
                                 .times_ns = times,
                                 .values = zeros,
                                 .count = 2,
                                 .low = 0,
                                 .begin_ns = NAN,
                                 .end_ns = NAN};
    CHECK_HAS(draw(chart, 80, false), "▁▁▁▁▁▁▁▁");
    CHECK_HAS(draw(chart, 80, false), "       0 W │▁");
    chart.values = warm;
    chart.unit = "°C";
    chart.low = NAN;
    const char *text = draw(chart, 80, true);
    CHECK_HAS(text, "\n    48.0 C |\n");
    CHECK_HAS(text, "\n    42.0 C |####");
    chart.values = wide;
    text = draw(chart, 80, true);
    CHECK_HAS(text, "    65.0 C |");
    CHECK_HAS(text, "    40.0 C |");
}

static void test_nothing(void)
{
    double times[] = {0, 1e9}, none[] = {NAN, NAN};
    struct assay__chart chart = {.title = "x",
                                 .unit = "W",
                                 .times_ns = times,
                                 .values = none,
                                 .count = 2,
                                 .begin_ns = NAN,
                                 .end_ns = NAN,
                                 .low = 0};
    CHECK_STR(draw(chart, 80, false), "");
    chart.count = 0;
    CHECK_STR(draw(chart, 80, false), "");
    chart.values = NULL;
    chart.count = 2;
    CHECK_STR(draw(chart, 80, false), "");
}

/* Whatever the numbers are: lines fit the page, and nothing breaks. */
static void test_hostile(void)
{
    double times[] = {5e9, -1e300, NAN, 1e9, 1e9, INFINITY, 2e9, DBL_MAX, 3e9};
    double values[] = {1e308, -1e308, 5, NAN, INFINITY, 1, -0.0, DBL_MIN, 1e-300};
    static const double ends[][2] = {{NAN, NAN},    {0, 1e9},        {1e9, 0},
                                     {0, INFINITY}, {-1e300, 1e300}, {5e9, 5e9}};
    struct assay__span spans[] = {
        {0, NULL, -1e300, 1e300, 0}, {0, "\033[2J", NAN, 1e9, 0}, {0, "measure", 5e9, 1e9, -1}};
    for (size_t e = 0; e < sizeof ends / sizeof ends[0]; e++)
        for (int columns = 40; columns <= 200; columns += 16)
            for (int low = 0; low < 2; low++) {
                struct assay__chart chart = {.title = "\033[31mlong title long title long title "
                                                      "long title long title long title",
                                             .unit = "W",
                                             .times_ns = times,
                                             .values = values,
                                             .count = 9,
                                             AXIS(ends[e][0], ends[e][1]),
                                             .low = low ? 0 : (double)NAN,
                                             .rows = low ? 3 : 0,
                                             .spans = spans,
                                             .span_count = 3};
                const char *text = draw(chart, columns, false);
                CHECK(!strchr(text, '\033'));
                for (const char *line = text; *line;) {
                    size_t length = strcspn(line, "\n");
                    char copy[1024];
                    CHECK(length < sizeof copy);
                    snprintf(copy, sizeof copy, "%.*s", (int)length, line);
                    if (assay__text_width(copy) > (size_t)columns) printf("  %s\n", copy);
                    CHECK(assay__text_width(copy) <= (size_t)columns);
                    line += length + (line[length] == '\n');
                }
            }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"steps", test_steps},
        {"gap_is_no_zero", test_gap_is_no_zero},
        {"flat_and_scale", test_flat_and_scale},
        {"nothing", test_nothing},
        {"hostile", test_hostile},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
