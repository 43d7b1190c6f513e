/* test_figure_svg.c - figures as SVG: well-formed whatever the names are, lengths that tell the
 * values, round ticks, nothing drawn for what is not known, many points thinned without hiding
 * any. */
#include "harness.h"
#include "report/figure/figure.h"
#include "report/figure/figure_scale.h"
#include "report/figure/figure_svg.h"

#include <ctype.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- a small checker of XML ------------------------------------------------------------------- */

/* Tags closed in order, attributes quoted, entities known, no character that XML forbids. The place
 * of the fault, or NULL. */
static const char *xml_fault(const char *text)
{
    static char stack[64][16];
    size_t depth = 0;
    const char *at = text;
    if (strncmp(at, "<?xml", 5) == 0) at = strstr(at, "?>") + 2;
    for (; *at; at++) {
        if ((unsigned char)*at < 0x20 && *at != '\n') return at;
        if (*at == '>') return at;
        if (*at == '&') {
            size_t length = strcspn(at, ";");
            if (length > 6 ||
                (strncmp(at, "&amp;", 5) && strncmp(at, "&lt;", 4) && strncmp(at, "&gt;", 4) &&
                 strncmp(at, "&quot;", 6) && strncmp(at, "&#39;", 5)))
                return at;
        }
        if (*at != '<') continue;
        bool closing = at[1] == '/';
        const char *name = at + 1 + closing;
        size_t length = strcspn(name, " />\n");
        if (!length || length > 15) return at;
        if (closing) {
            if (!depth || strncmp(stack[depth - 1], name, length) || stack[depth - 1][length])
                return at;
            depth--;
        }
        bool quoted = false;
        const char *end = name + length;
        for (; *end && (quoted || *end != '>'); end++) {
            if (*end == '"') quoted = !quoted;
            if (*end == '<' || (unsigned char)*end < 0x20) return end;
        }
        if (!*end || quoted) return at;
        if (!closing && end[-1] != '/') {
            if (depth == 64) return at;
            memcpy(stack[depth], name, length);
            stack[depth++][length] = 0;
        }
        at = end;
    }
    return depth ? at : NULL;
}

static void check_xml(const char *text)
{
    const char *fault = xml_fault(text);
    if (fault) printf("  not well-formed at: %.60s\n", fault);
    CHECK(fault == NULL);
    CHECK(strstr(text, "<script") == NULL);
    CHECK(strstr(text, "url(") == NULL);
    const char *http = strstr(text, "http"); /* only the name space */
    CHECK(!http || strncmp(http, "http://www.w3.org/2000/svg\"", 27) == 0);
    CHECK(!http || strstr(http + 4, "http") == NULL);
}

static struct assay__buf draw(const struct assay__figure *figure, bool standalone)
{
    struct assay__buf out = {0};
    assay__figure_svg(&out, figure,
                      &(struct assay__svg_options){.standalone = standalone, .id = "fig1"});
    CHECK(!out.failed);
    check_xml(out.data);
    return out;
}

/* The attribute of the index-th element of that class. */
static double attribute(const char *text, const char *class_name, size_t index, const char *name)
{
    char wanted[64];
    const char *at = text;
    snprintf(wanted, sizeof wanted, " %s=\"", name);
    for (size_t i = 0; i <= index; i++) {
        at = strstr(i ? at + 1 : at, class_name);
        if (!at) return NAN;
    }
    const char *value = strstr(at, wanted);
    return value && value < strchr(at, '>') ? strtod(value + strlen(wanted), NULL) : (double)NAN;
}

static size_t occurrences(const char *text, const char *needle)
{
    size_t count = 0;
    for (const char *at = strstr(text, needle); at; at = strstr(at + 1, needle))
        count++;
    return count;
}

static struct assay__figure figure_of(enum assay__figure_kind kind,
                                      struct assay__figure_series *series, size_t count)
{
    return (struct assay__figure){.kind = kind,
                                  .name = "f",
                                  .title = "A figure",
                                  .x_title = "x",
                                  .x_unit = "",
                                  .y_title = "time",
                                  .y_unit = "s",
                                  .y_zero = true,
                                  .series = series,
                                  .series_count = count,
                                  .caption = "How to read it.",
                                  .description = "What it shows."};
}

/* --- bars ------------------------------------------------------------------------------------- */

static void test_bars(void)
{
    const double values[] = {4e-3, 1e-3, NAN, -2e-3};
    const char *const names[] = {"a", "b", "c", "d"};
    struct assay__figure_series series = {.y = values, .names = names, .count = 4};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_BARS, &series, 1);
    struct assay__buf out = draw(&figure, true);
    double first = attribute(out.data, "fig-bar", 0, "width");
    CHECK(first > 100);
    CHECK_NEAR(attribute(out.data, "fig-bar", 1, "width"), first / 4, 0.11);
    CHECK_NEAR(attribute(out.data, "fig-bar", 2, "width"), first / 2, 0.11); /* the negative one */
    double zero = attribute(out.data, "fig-bar", 0, "x");
    CHECK_NEAR(attribute(out.data, "fig-bar", 2, "x"), zero - first / 2, 0.11);
    CHECK_INT(occurrences(out.data, "fig-bar"), 3);
    CHECK_HAS(out.data, ">4.00 ms</text>");
    CHECK_HAS(out.data, ">—</text>"); /* what is not known has its row, and no bar */
    CHECK_HAS(out.data, "role=\"img\"");
    CHECK_HAS(out.data, "aria-labelledby=\"fig1-title fig1-desc\"");
    CHECK_HAS(out.data, "<title id=\"fig1-title\">A figure</title>");
    CHECK_HAS(out.data, "<desc id=\"fig1-desc\">What it shows.</desc>");
    CHECK_HAS(out.data, "How to read it.");
    assay__buf_free(&out);
    out = draw(&figure, false); /* in a page: no style, no caption, no xml head */
    CHECK(strstr(out.data, "<style") == NULL && strstr(out.data, "How to read it.") == NULL);
    CHECK(strncmp(out.data, "<svg ", 5) == 0);
    assay__buf_free(&out);
}

static void test_grouped(void)
{
    const double compute[] = {0.5, 0.25}, memory[] = {1, NAN}, low[] = {0.4, 0.2},
                 high[] = {0.6, 0.3};
    const char *const names[] = {"cpu", "gpu"};
    struct assay__figure_series series[] = {
        {.name = "compute", .y = compute, .low = low, .high = high, .count = 2},
        {.name = "memory", .y = memory, .count = 2}};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_BARS, series, 2);
    figure.categories = names, figure.y_unit = "ratio";
    struct assay__buf out = draw(&figure, true);
    CHECK_INT(occurrences(out.data, "fig-bar"), 3);
    double half = attribute(out.data, "fig-bar", 0, "width");
    CHECK_NEAR(attribute(out.data, "fig-bar", 1, "width"), half * 2, 0.21);
    CHECK_NEAR(attribute(out.data, "fig-bar", 2, "width"), half / 2, 0.11);
    CHECK_HAS(out.data, ">compute</text>"); /* the legend */
    CHECK_HAS(out.data, ">memory</text>");
    CHECK_INT(occurrences(out.data, "fig-i\" d="), 2); /* intervals */
    assay__buf_free(&out);
}

/* --- scales ----------------------------------------------------------------------------------- */

static bool is_round(double value)
{
    if (value == 0) return true;
    double mantissa = fabs(value) / pow(10, floor(log10(fabs(value)) + 1e-9));
    return fabs(mantissa - 1) < 1e-6 || fabs(mantissa - 2) < 1e-6 || fabs(mantissa - 5) < 1e-6;
}

static void test_ticks(void)
{
    static const double ranges[][2] = {{0, 1}, {0.00123, 0.0456}, {-3, 17},  {1e9, 1.001e9}, {5, 5},
                                       {0, 0}, {NAN, NAN},        {1e-9, 3}, {-1e300, 1e300}};
    static const char *const units[] = {"s", "B/s", "count", "ratio", "", "°C"};
    for (size_t r = 0; r < COUNT(ranges); r++)
        for (size_t u = 0; u < COUNT(units); u++) {
            struct assay__scale scale;
            assay__scale_make(&scale, ranges[r][0], ranges[r][1], false, units[u], 6);
            CHECK(scale.high > scale.low && scale.tick_count >= 2 && scale.tick_count <= 9);
            CHECK(!(scale.low > ranges[r][0] + fabs(ranges[r][0]) * 1e-9));
            CHECK(!(scale.high < ranges[r][1] - fabs(ranges[r][1]) * 1e-9));
            double step = (scale.ticks[1] - scale.ticks[0]) * scale.factor;
            CHECK(is_round(step));
            CHECK_NEAR(assay__scale_at(&scale, scale.low), 0, 1e-12);
            CHECK_NEAR(assay__scale_at(&scale, scale.high), 1, 1e-12);
            for (size_t i = 0; i < scale.tick_count; i++) { /* multiples of the step */
                double count = scale.ticks[i] * scale.factor / step;
                CHECK_NEAR(count, round(count), 1e-6 * (1 + fabs(count)));
            }
        }
}

static void test_tick_labels(void)
{
    struct assay__scale scale;
    char label[64];
    assay__scale_make(&scale, 0, 0.0042, false, "s", 6);
    CHECK_STR(scale.unit, "ms");
    CHECK_INT(scale.tick_count, 6);
    assay__scale_label(&scale, scale.ticks[1], label, sizeof label);
    CHECK_STR(label, "1");
    assay__scale_make(&scale, 3e9, 2e12, true, "FLOP/s", 6);
    CHECK_INT(scale.tick_count, 3);
    assay__scale_label(&scale, scale.ticks[0], label, sizeof label);
    CHECK_STR(label, "10 GFLOP/s");
    assay__scale_label(&scale, scale.ticks[2], label, sizeof label);
    CHECK_STR(label, "1 TFLOP/s");
    for (size_t i = 0; i < scale.tick_count; i++)
        CHECK(is_round(scale.ticks[i]));
    CHECK(isnan(assay__scale_at(&scale, 0)));
    CHECK(isnan(assay__scale_at(&scale, -1)));
    CHECK_NEAR(assay__scale_at(&scale, sqrt(3e9 * 2e12)), 0.5, 1e-12);
    assay__scale_make(&scale, 0, 0.31, false, "ratio", 4);
    assay__scale_label(&scale, scale.ticks[scale.tick_count - 1], label, sizeof label);
    CHECK_STR(label, "40");
    CHECK_STR(scale.unit, "%");
}

/* --- lines and points ------------------------------------------------------------------------- */

/* The next number of a path; two may share a point: "1.5.5". */
static double next_number(const char **at)
{
    char digits[32];
    *at += strspn(*at, " ");
    size_t sign = **at == '-', whole = strspn(*at + sign, "0123456789"),
           rest = (*at)[sign + whole] == '.' ? 1 + strspn(*at + sign + whole + 1, "0123456789") : 0;
    CHECK(whole + rest > 0 && sign + whole + rest < sizeof digits);
    snprintf(digits, sizeof digits, "%.*s", (int)(sign + whole + rest), *at);
    *at += sign + whole + rest;
    return strtod(digits, NULL);
}

/* What the next path covers: the lowest and the highest x, then y. */
static void path_box(const char *text, double box[4])
{
    double at[2] = {0, 0}, start[2] = {0, 0};
    const char *d = strstr(text, " d=\"");
    CHECK(d != NULL);
    d += 4;
    box[0] = box[2] = INFINITY, box[1] = box[3] = -INFINITY;
    for (char command = 0; *d && *d != '"';) {
        if (isalpha((unsigned char)*d)) command = *d++;
        bool relative = islower((unsigned char)command);
        char kind = (char)toupper((unsigned char)command);
        if (kind == 'Z') memcpy(at, start, sizeof at);
        for (int i = kind == 'V'; kind != 'Z' && i < (kind == 'H' ? 1 : 2); i++)
            at[i] = next_number(&d) + (relative ? at[i] : 0);
        if (kind == 'M') memcpy(start, at, sizeof at);
        for (int i = 0; i < 2; i++) {
            box[2 * i] = fmin(box[2 * i], at[i]);
            box[2 * i + 1] = fmax(box[2 * i + 1], at[i]);
        }
    }
}

static void test_paths(void)
{
    static const char *const cases[][2] = {
        {"<p d=\"M10 20L11.5 19.5L13 19\"/> x", "<p d=\"M10 20l1.5-.5L13 19\"/> x"},
        {" d=\"M207.2 111.2h0M208.5 110h0\"", " d=\"M207.2 111.2h0m1.3-1.2h0\""},
        {" d=\"M27.1 337H40.6V340H27.1z\"", " d=\"M27.1 337h13.5v3H27.1z\""},
        {" d=\"M0 0L0.5 0.5L1 1\"", " d=\"M0 0l.5.5.5.5\""},
        {" d=\"M5 5h10v10zm1 1h2\"", " d=\"M5 5h10v10zM6 6h2\""}, /* z goes back to 5 5 */
        {" d=\"M5 5H15V15zM6 6H8\"", " d=\"M5 5h10v10zM6 6h2\""},
        /* as they were: other commands, two decimals, lines without a letter after m, no end */
        {" d=\"M100 100A5 5 0 0 1 2 2L102 101\"", " d=\"M100 100A5 5 0 0 1 2 2L102 101\""},
        {" d=\"M100 100L101.25 102\"", " d=\"M100 100L101.25 102\""},
        {" d=\"M100 100m-4-4 8 8L105 105\"", " d=\"M100 100m-4-4 8 8L105 105\""},
        {" d=\"M100 100L101 101", " d=\"M100 100L101 101"},
        {" d=\"\" d=\"M1 1L2\"", " d=\"\" d=\"M1 1L2\""},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct assay__buf out = {0};
        assay__svg_tightened(&out, cases[i][0]);
        CHECK_STR(out.data, cases[i][1]);
        assay__buf_free(&out);
    }
}

static void test_lines(void)
{
    const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, NAN, 2, 1}, flat[] = {5, 5, 5, 5, 5};
    struct assay__figure_series series[] = {{.name = "one", .x = x, .y = y, .count = 5},
                                            {.name = "two", .x = x, .y = flat, .count = 5}};
    struct assay__figure_mark marks[] = {{true, 1, "knee"}, {false, 4, "limit"}};
    struct assay__figure_span spans[] = {{1, 3, "measure"}};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_LINES, series, 2);
    figure.marks = marks, figure.mark_count = 2, figure.spans = spans, figure.span_count = 1;
    struct assay__buf out = draw(&figure, true);
    const char *path = strstr(out.data, "<path class=\"fig-k fig-d0 fig-s0\" d=\"");
    CHECK(path != NULL);
    const char *end = strchr(path + 40, '"');
    size_t moves = 0;
    for (const char *at = path + 36; at < end; at++)
        moves += *at == 'M' || *at == 'm';
    CHECK_INT(moves, 2); /* a gap where the value is not known */
    CHECK_INT(occurrences(out.data, "<circle"), 4);
    CHECK_HAS(out.data, "fig-d1 fig-s1"); /* the second line has a dash too */
    CHECK_HAS(out.data, ">knee</text>");
    CHECK_HAS(out.data, ">limit</text>");
    CHECK_HAS(out.data, ">measure</text>");
    CHECK_HAS(out.data, ">two</text>");
    assay__buf_free(&out);
}

/* 100,000 points: small, and the one high among them is still there. */
static void test_thinned(void)
{
    enum { MANY = 100000 };
    double *x = malloc(MANY * sizeof *x), *y = malloc(MANY * sizeof *y);
    CHECK(x && y);
    for (size_t i = 0; i < MANY; i++)
        x[i] = (double)i, y[i] = 1 + (double)(i % 7) * 0.01;
    y[54321] = 9;
    struct assay__figure_series series = {.name = "many", .x = x, .y = y, .count = MANY};
    static const enum assay__figure_kind kinds[] = {ASSAY__FIGURE_SCATTER, ASSAY__FIGURE_LINES};
    for (size_t k = 0; k < 2; k++) {
        struct assay__figure figure = figure_of(kinds[k], &series, 1);
        struct assay__buf out = draw(&figure, true);
        CHECK(out.length < 60000);
        CHECK_HAS(out.data, "100,000 points: each pixel column");
        /* The scale ends at 10: 9 lies at a tenth of the height from the top of the plot. */
        struct assay__svg svg = {.out = &(struct assay__buf){0}, .figure = &figure, .width = 720};
        assay__svg_axes(&svg, 0, MANY - 1, 0, 9);
        double box[4];
        const char *path = strstr(out.data,
                                  k ? "<path class=\"fig-k fig-d0" : "<path class=\"fig-e");
        CHECK(path != NULL);
        path_box(path, box);
        CHECK_NEAR(box[2], assay__svg_y(&svg, 9), 0.06);
        assay__buf_free(svg.out);
        assay__buf_free(&out);
    }
    free(x);
    free(y);
}

static void test_histogram(void)
{
    const double x[] = {1e-3, 2e-3, 3e-3, 4e-3}, y[] = {10, 0, 5};
    struct assay__figure_series series = {.name = "n", .x = x, .y = y, .count = 3};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_HISTOGRAM, &series, 1);
    figure.x_unit = "s", figure.y_unit = "count";
    struct assay__buf out = draw(&figure, true);
    CHECK_INT(occurrences(out.data, "fig-bin"), 2); /* an empty bin is not drawn */
    CHECK_NEAR(attribute(out.data, "fig-bin", 0, "height"),
               2 * attribute(out.data, "fig-bin", 1, "height"), 0.21);
    CHECK_HAS(out.data, "<title>1.00 ms to 2.00 ms: 10</title>");
    assay__buf_free(&out);
}

/* --- treemap ---------------------------------------------------------------------------------- */

static void test_treemap(void)
{
    const double y[] = {6, 6, 4, 3, 2, 2, 1, NAN, -1, 0};
    const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "nan", "minus", "zero"};
    struct assay__figure_series series = {.name = "op", .y = y, .names = names, .count = 10};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_TREEMAP, &series, 1);
    struct assay__buf out = {0};
    assay__figure_svg(&out, &figure, &(struct assay__svg_options){.width = 600, .height = 404});
    check_xml(out.data);
    CHECK_INT(occurrences(out.data, "fig-leaf"), 7);
    double area = 0, worst = 1;
    for (size_t i = 0; i < 7; i++) {
        double width = attribute(out.data, "fig-leaf", i, "width"),
               height = attribute(out.data, "fig-leaf", i, "height");
        CHECK_NEAR(width * height, 600 * 400 * y[i] / 24, 600 * 400 * 0.002);
        area += width * height;
        worst = fmax(worst, fmax(width / height, height / width));
    }
    CHECK_NEAR(area, 600 * 400, 600 * 400 * 0.002);
    CHECK(worst < 4); /* the example of Bruls, Huizing and van Wijk: 2.67 at worst */
    CHECK_HAS(out.data, "<title>a: 6.00 s (25.0 %)</title>");
    assay__buf_free(&out);
}

static void test_treemap_groups(void)
{
    const double y[] = {1, 2, 3, 4};
    const char *const names[] = {"/l1.0.conv", "/l1.1.conv", "/l2.0.conv", "/fc"};
    const char *const groups[] = {"l1/0", "l1/1", "l2/0", ""};
    const int layers[] = {1, 2, 30, -1};
    struct assay__figure_series series = {
        .name = "Conv", .y = y, .names = names, .groups = groups, .layers = layers, .count = 4};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_TREEMAP, &series, 1);
    struct assay__buf out = draw(&figure, false);
    CHECK_INT(occurrences(out.data, "fig-leaf"), 4);
    CHECK_HAS(out.data, ">l1</text>"); /* the group of two has its name */
    CHECK_INT(occurrences(out.data, " data-l=\""), 3);
    CHECK_HAS(out.data, "data-l=\"30\"");
    CHECK(strstr(out.data, "<a ") == NULL);
    CHECK_INT(occurrences(out.data, "tabindex=\"0\""), 1); /* one stop, whatever is in it */
    assay__buf_free(&out);
    out = draw(&figure, true); /* nobody selects in a file of its own */
    CHECK(!strstr(out.data, "data-l") && !strstr(out.data, "tabindex"));
    assay__buf_free(&out);
}

static void test_treemap_many(void)
{
    enum { MANY = 5000 };
    static double y[MANY];
    static char texts[MANY][24];
    static const char *names[MANY], *groups[MANY];
    for (size_t i = 0; i < MANY; i++) {
        y[i] = 1 + (double)(i % 50);
        snprintf(texts[i], sizeof texts[i], "n%zu", i);
        names[i] = texts[i], groups[i] = i % 2 ? "a/b/c/d/e/f/g/h/i" : "";
    }
    struct assay__figure_series series = {
        .name = "op", .y = y, .names = names, .groups = groups, .count = MANY};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_TREEMAP, &series, 1);
    struct assay__buf out = draw(&figure, true);
    CHECK_INT(occurrences(out.data, "fig-leaf"), 300);
    CHECK_HAS(out.data, "4701 smaller ones");
    CHECK(out.length < 65000);
    assay__buf_free(&out);
}

/* --- roofline --------------------------------------------------------------------------------- */

static void test_roofline(void)
{
    const double x[] = {0.5, 20, 20, NAN, 1}, y[] = {4e10, 1e11, 9e11, 1e9, 0};
    const char *const names[] = {"slow", "good", "impossible", "nan", "zero"};
    struct assay__figure_roof roofs[] = {{"float32", 2e11, NAN}, {"dram", NAN, 1e11}};
    struct assay__figure_series series = {.name = "l", .x = x, .y = y, .names = names, .count = 5};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_ROOFLINE, &series, 1);
    figure.roofs = roofs, figure.roof_count = 2, figure.x_log = figure.y_log = true;
    figure.y_unit = "FLOP/s";
    struct assay__buf out = draw(&figure, true);
    CHECK_INT(occurrences(out.data, "fig-roof"), 2);
    CHECK_INT(occurrences(out.data, "<circle"), 2);
    CHECK_HAS(out.data, "impossible: 900 GFLOP/s at 20.0 FLOP/B; above its roof");
    CHECK_INT(occurrences(out.data, "fig-k fig-fault"), 1);
    CHECK_HAS(out.data, "× above its roof");
    CHECK_HAS(out.data, ">float32 200 GFLOP/s</text>");
    CHECK_HAS(out.data, ">dram 100 GB/s</text>");
    CHECK(strstr(out.data, ">nan<") == NULL && strstr(out.data, ">zero<") == NULL);
    assay__buf_free(&out);
}

/* The area of a dot is proportional to its time, down to the smallest that can be seen; parts of
 * the roof are thin lines with their share; only marked dots are named. */
static void test_roofline_dots(void)
{
    const double x[] = {1, 10, 10, 50, 5}, y[] = {1e10, 5e10, 2e10, 1e11, 4e10};
    const double areas[] = {4e6, 1e6, 2.5e5, 1, NAN}, shares[] = {0.1, 0.5, 0.2, 1, NAN};
    const char *const names[] = {"a", "b", "c", "d", "e"};
    const unsigned char flags[] = {ASSAY__POINT_MARKED, 0, ASSAY__POINT_MARKED, 0, 0};
    const int layers[] = {4, 0, 1, 2, -1};
    struct assay__figure_roof roofs[] = {
        {"float32", 2e11, NAN}, {"dram", NAN, 1e11}, {"50 %", 1e11, 5e10}};
    struct assay__figure_series series = {.name = "l",
                                          .x = x,
                                          .y = y,
                                          .areas = areas,
                                          .shares = shares,
                                          .names = names,
                                          .layers = layers,
                                          .flags = flags,
                                          .count = 5};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_ROOFLINE, &series, 1);
    figure.roofs = roofs, figure.roof_count = 3, figure.x_log = figure.y_log = true;
    struct assay__buf out = draw(&figure, false);
    double r = attribute(out.data, "<circle", 0, "r");
    CHECK(r > 5);
    CHECK_NEAR(attribute(out.data, "<circle", 1, "r"), r / 2, 0.051);
    CHECK_NEAR(attribute(out.data, "<circle", 2, "r"), r / 4, 0.051);
    double least = attribute(out.data, "<circle", 3, "r");
    CHECK(least > 0.5 && least < r / 4);
    CHECK_INT(occurrences(out.data, "fig-iso"), 1);
    CHECK_INT(occurrences(out.data, "fig-roof"), 2); /* the part is no roof */
    CHECK_HAS(out.data, ">50 %</text>");
    CHECK_HAS(out.data, ">a</text>");
    CHECK_HAS(out.data, ">c</text>");
    CHECK(!strstr(out.data, ">b</text>") && !strstr(out.data, ">d</text>"));
    CHECK_INT(occurrences(out.data, " data-l=\""), 4);
    CHECK_HAS(out.data, "a: 4.00 ms, 10.0 GFLOP/s at 1.00 FLOP/B, 10.0 % of its roof");
    assay__buf_free(&out);
}

/* --- bands ------------------------------------------------------------------------------------ */

/* The lowest and the highest y of the index-th band's outline, and its x. */
static void band_box(const char *text, size_t index, double box[4])
{
    const char *at = text;
    for (size_t i = 0; i <= index; i++)
        at = strstr(at + (i > 0), "fig-band");
    CHECK(at != NULL);
    path_box(at, box);
}

/* Heights are proportional to sizes, widths to how many layers hold the tensor, and each band
 * stands on those before it. */
static void test_bands(void)
{
    const double long_held[] = {1e6, 1e6, 1e6, 1e6}, brief[] = {0, 2e6, 0, 0},
                 gone[] = {0, 0, 0, 0}, rest[] = {NAN, 1e6, 0, 5e5};
    const char *const names[] = {"t from a"};
    const int layer[] = {7};
    struct assay__figure_series series[] = {
        {.name = "a", .y = long_held, .names = names, .layers = layer, .count = 4},
        {.name = "b", .y = brief, .count = 4},
        {.name = "c", .y = gone, .count = 4},
        {.name = "3 smaller tensors", .y = rest, .count = 4, .faint = true}};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_BANDS, series, 4);
    figure.y_unit = "B";
    struct assay__buf out = draw(&figure, false);
    double a[4], b[4], c[4];
    CHECK_INT(occurrences(out.data, "fig-band"), 3); /* what is never held is not drawn */
    band_box(out.data, 0, a);
    band_box(out.data, 1, b);
    band_box(out.data, 2, c);
    CHECK_NEAR((b[3] - b[2]) / (a[3] - a[2]), 2, 0.01);
    CHECK_NEAR((a[1] - a[0]) / (b[1] - b[0]), 4, 0.01);
    CHECK_NEAR(b[3], a[2], 0.11); /* on top of it */
    CHECK_NEAR(c[2], b[2] - (a[3] - a[2]), 0.21);
    CHECK_HAS(out.data, "<title>t from a: 1.00 MB</title>");
    CHECK_HAS(out.data, "data-l=\"7\"");
    assay__buf_free(&out);
}

/* More places than pixels: the peak is still there, and the file stays small. */
static void test_bands_many(void)
{
    enum { MANY = 20000 };
    static double y[MANY];
    for (size_t i = 0; i < MANY; i++)
        y[i] = 1e3 + (double)(i % 7);
    y[12345] = 4e3;
    struct assay__figure_series series = {.name = "a", .y = y, .count = MANY};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_BANDS, &series, 1);
    struct assay__buf out = draw(&figure, false);
    double box[4], one[4];
    band_box(out.data, 0, box);
    CHECK(out.length < 30000);
    CHECK_HAS(out.data, "20,000 positions");
    y[12345] = 1e3;
    struct assay__buf flat = draw(&figure, false);
    band_box(flat.data, 0, one);
    CHECK(box[3] - box[2] > 100 && one[3] - one[2] > 100);
    assay__buf_free(&flat);
    assay__buf_free(&out);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void test_blocks(void)
{
    enum { MANY = 1000 };
    static double x[MANY + 1], y[MANY];
    for (size_t i = 0; i <= MANY; i++)
        x[i] = 2 + (double)i * 1e-3;
    const double prompt[] = {0, 2}, ends[] = {2, 2.5, 3}, lengths[] = {0.5, 0.5};
    struct assay__figure_series series[] = {
        {.name = "prompt", .x = prompt, .y = lengths, .count = 1},
        {.name = "token", .x = ends, .y = lengths, .count = 2}};
    struct assay__figure figure = figure_of(ASSAY__FIGURE_BLOCKS, series, 2);
    figure.x_unit = "s";
    struct assay__buf out = draw(&figure, true);
    double width = attribute(out.data, "fig-block", 0, "width");
    CHECK_INT(occurrences(out.data, "fig-block"), 3);
    CHECK_NEAR(attribute(out.data, "fig-block", 1, "width") + 1, (width + 1) / 4, 0.11);
    CHECK_NEAR(attribute(out.data, "fig-block", 1, "x"),
               attribute(out.data, "fig-block", 0, "x") + width + 1, 0.11);
    assay__buf_free(&out);
    series[1] = (struct assay__figure_series){.name = "token", .x = x, .y = y, .count = MANY};
    out = draw(&figure, true);
    CHECK_INT(occurrences(out.data, "fig-block"), 2); /* one block with lines in it */
    CHECK(out.length < 20000);
    assay__buf_free(&out);
}

/* --- hostile names ---------------------------------------------------------------------------- */

static void test_hostile(void)
{
    static char longest[10001];
    memset(longest, 'x', sizeof longest - 1);
    memcpy(longest, "BEGIN", 5);
    memcpy(longest + 9997, "END", 3);
    const char *const names[] = {"</title><script>alert(1)</script>",
                                 "\" onload=\"alert(1)",
                                 "a & b < c > d ' e",
                                 "\x01\x08\x1b[31m\x7f",
                                 "\xff\xfe broken \xc3",
                                 "\xef\xbf\xbf nonchar",
                                 "\xe2\x80\xae"
                                 "override",
                                 "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d",
                                 "\xf0\x9f\x9a\x80 rocket",
                                 longest};
    const double values[COUNT(names)] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const enum assay__figure_kind kinds[] = {ASSAY__FIGURE_BARS,     ASSAY__FIGURE_LINES,
                                                    ASSAY__FIGURE_SCATTER,  ASSAY__FIGURE_TREEMAP,
                                                    ASSAY__FIGURE_ROOFLINE, ASSAY__FIGURE_BANDS};
    for (size_t k = 0; k < COUNT(kinds); k++)
        for (size_t n = 0; n < COUNT(names); n++) {
            struct assay__figure_series series = {.name = names[n],
                                                  .x = values,
                                                  .y = values,
                                                  .names = names,
                                                  .groups = names,
                                                  .count = COUNT(names)};
            struct assay__figure_series twice[] = {series, series};
            struct assay__figure figure = figure_of(kinds[k], twice, 2);
            struct assay__figure_mark mark = {true, 3, names[n]};
            struct assay__figure_roof roofs[] = {{names[n], 5, NAN}, {names[n], NAN, 3}};
            figure.title = figure.caption = figure.description = figure.note = names[n];
            figure.x_title = figure.y_title = names[n];
            figure.marks = &mark, figure.mark_count = 1, figure.roofs = roofs,
            figure.roof_count = 2;
            struct assay__buf out = draw(&figure, true);
            CHECK(strstr(out.data, "onload=\"alert") == NULL);
            CHECK(strstr(out.data, "\x1b") == NULL);
            CHECK(strstr(out.data, "\xe2\x80\xae") == NULL); /* no override of the direction */
            CHECK(strstr(out.data, "\xef\xbf\xbf") == NULL); /* U+FFFF is no character of XML */
            assay__buf_free(&out);
        }
}

static void test_cut_and_isolated(void)
{
    struct assay__buf out = {0};
    CHECK(assay__svg_cut(&out, "/encoder/layer.11/attention/output/dense/MatMul", 150));
    CHECK_HAS(out.data, "…");
    CHECK(strncmp(out.data, "/enc", 4) == 0); /* both ends are kept */
    CHECK_STR(out.data + strlen(out.data) - 6, "MatMul");
    CHECK(assay__svg_width(out.data) <= 150);
    assay__buf_clear(&out);
    CHECK(!assay__svg_cut(&out, "short", 150));
    CHECK_STR(out.data, "short");
    assay__buf_clear(&out);
    assay__svg_escape(&out, "\xd7\xa9<");
    CHECK_STR(out.data, "\xe2\x81\xa8\xd7\xa9&lt;\xe2\x81\xa9");
    assay__buf_clear(&out);
    assay__svg_number(&out, -0.04);
    assay__buf_putc(&out, ' ');
    assay__svg_number(&out, -12.36);
    assay__buf_putc(&out, ' ');
    assay__svg_number(&out, NAN);
    CHECK_STR(out.data, "0 -12.4 0");
    assay__buf_free(&out);
}

/* Nothing, one point, endless and equal values: still a picture. */
static void test_empty(void)
{
    const double one[] = {3, 3}, endless[] = {INFINITY, -INFINITY};
    for (int kind = ASSAY__FIGURE_BARS; kind <= ASSAY__FIGURE_ROOFLINE; kind++) {
        struct assay__figure_series series[] = {{.name = "", .x = one, .y = one, .count = 1},
                                                {.name = "i", .x = one, .y = endless, .count = 1}};
        for (size_t count = 0; count <= 2; count++) {
            struct assay__figure figure = figure_of((enum assay__figure_kind)kind, series, count);
            struct assay__buf out = draw(&figure, count == 1);
            CHECK_HAS(out.data, "</svg>");
            CHECK(strstr(out.data, "nan") == NULL && strstr(out.data, "inf") == NULL);
            assay__buf_free(&out);
        }
        struct assay__figure several[] = {figure_of((enum assay__figure_kind)kind, series, 2),
                                          figure_of((enum assay__figure_kind)kind, series, 1)};
        struct assay__buf out = {0};
        assay__figures_svg(&out, several, 2);
        check_xml(out.data);
        CHECK_INT(occurrences(out.data, "role=\"img\""), 2);
        CHECK_INT(occurrences(out.data, "<style>"), 1);
        assay__buf_free(&out);
    }
}

/* A class stands for one look: a second rule for it would take the look of the first. */
static void test_classes(void)
{
    struct assay__buf css = {0};
    assay__figure_css(&css);
    size_t rules = 0;
    for (const char *at = css.data; at && (at = strstr(at, ".fig .fig-")); at++) {
        size_t length = strcspn(at, "{");
        char rule[80];
        CHECK(length + 1 < sizeof rule);
        snprintf(rule, sizeof rule, "%.*s{", (int)length, at);
        CHECK_STR(strstr(at + 1, rule) ? rule : "", "");
        rules++;
    }
    CHECK(rules > 20);
    assay__buf_free(&css);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"bars", test_bars},
        {"grouped", test_grouped},
        {"ticks", test_ticks},
        {"tick_labels", test_tick_labels},
        {"paths", test_paths},
        {"lines", test_lines},
        {"thinned", test_thinned},
        {"histogram", test_histogram},
        {"treemap", test_treemap},
        {"treemap_groups", test_treemap_groups},
        {"treemap_many", test_treemap_many},
        {"roofline", test_roofline},
        {"roofline_dots", test_roofline_dots},
        {"blocks", test_blocks},
        {"bands", test_bands},
        {"bands_many", test_bands_many},
        {"hostile", test_hostile},
        {"cut_and_isolated", test_cut_and_isolated},
        {"empty", test_empty},
        {"classes", test_classes},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
