/* roofline_plot.c - a roofline as text: operations per byte to the right, operations per second
 * upwards, both by decades; the roofs as lines, layers as letters. Lines are drawn with two by four
 * dots per character (braille patterns), or with . - ' in ASCII. A letter marks each layer; if its
 * cell is taken, the nearest free one in the row, at most NUDGE columns away, is used: the table
 * below has the numbers. A line's name is written next to it if it fits. */
#include "report/figure/figure_canvas.h"
#include "report/figure/figure_text.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROWS 15
#define MARGIN 9 /* of the scale: "100 G |" */
#define ROOFS 8

struct roof {
    char name[48]; /* printable ASCII */
    double value;
};

struct plot {
    struct assay__canvas canvas;
    double x0, x1, y0, y1; /* log10 of the edges */
    struct roof peaks[ROOFS], levels[ROOFS];
    size_t peak_count, level_count;
    double highest; /* of the compute roofs */
};

static int dot_column(const struct plot *p, double intensity)
{
    return (int)floor((log10(intensity) - p->x0) / (p->x1 - p->x0) * (p->canvas.columns * 2 - 1) +
                      0.5);
}

static int dot_row(const struct plot *p, double rate)
{
    return (int)floor((p->y1 - log10(rate)) / (p->y1 - p->y0) * (ROWS * 4 - 1) + 0.5);
}

/* --- what is in the picture ------------------------------------------------------------------- */

/* Values of a profile are untrusted: only these have a usable logarithm. */
static bool plausible(double value)
{
    return value > 1e-12 && value < 1e24;
}

static bool placeable(const struct assay__figure_series *points, size_t i)
{
    return plausible(points->y[i]) && plausible(points->x[i]);
}

static void use(struct roof *roofs, size_t *count, const char *name, double value)
{
    size_t at = 0;
    if (!plausible(value) || *count == ROOFS) return;
    struct roof *roof = &roofs[(*count)++];
    roof->value = value;
    for (; name && name[at] && at < sizeof roof->name - 1; at++)
        roof->name[at] = name[at] >= ' ' && name[at] <= '~' ? name[at] : '?';
    roof->name[at] = 0;
}

static void choose(struct plot *p, const struct assay__figure *figure)
{
    for (size_t i = 0; i < figure->roof_count; i++) {
        const struct assay__figure_roof *roof = &figure->roofs[i];
        if (plausible(roof->flops_per_s) && plausible(roof->bytes_per_s)) continue; /* a part */
        use(p->peaks, &p->peak_count, roof->name, roof->flops_per_s);
        use(p->levels, &p->level_count, roof->name, roof->bytes_per_s);
    }
    for (size_t i = 0; i < p->peak_count; i++)
        p->highest = fmax(p->highest, p->peaks[i].value);
}

/* Every point and every ridge inside, with a margin. */
static void scale(struct plot *p, const struct assay__figure_series *points)
{
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = p->highest * 1.6;
    for (size_t i = 0; i < p->level_count; i++) {
        double ridge = p->highest / p->levels[i].value;
        x0 = fmin(x0, ridge / 4);
        x1 = fmax(x1, ridge * 4);
    }
    for (size_t i = 0; i < points->count; i++) {
        if (!placeable(points, i)) continue;
        x0 = fmin(x0, points->x[i] / 1.5);
        x1 = fmax(x1, points->x[i] * 1.5);
        y0 = fmin(y0, points->y[i] / 1.5);
        y1 = fmax(y1, points->y[i] * 1.6);
    }
    y0 = fmin(y0, p->highest / 30); /* at least a decade and a half of slope */
    p->x0 = log10(x0), p->x1 = log10(x1), p->y0 = log10(y0), p->y1 = log10(y1);
}

/* --- lines ------------------------------------------------------------------------------------ */

static double intensity_at(const struct plot *p, int column)
{
    return pow(10, p->x0 + (p->x1 - p->x0) * column / (p->canvas.columns * 2 - 1));
}

static void draw_slope(struct plot *p, const struct roof *level)
{
    int before = -1; /* row of the column before; -1: none */
    for (int column = 0; column < p->canvas.columns * 2; column++) {
        double rate = intensity_at(p, column) * level->value;
        if (rate > p->highest) break;
        int row = dot_row(p, rate);
        assay__canvas_dot(&p->canvas, column, row);
        for (int r = row + 1; r < before; r++) /* no gaps where it is steep */
            assay__canvas_dot(&p->canvas, column, r);
        before = row;
    }
}

static void draw_flat(struct plot *p, const struct roof *peak)
{
    double fastest = 0;
    for (size_t i = 0; i < p->level_count; i++)
        fastest = fmax(fastest, p->levels[i].value);
    int first = fastest > 0 ? dot_column(p, peak->value / fastest) : 0;
    for (int column = first > 0 ? first : 0; column < p->canvas.columns * 2; column++)
        assay__canvas_dot(&p->canvas, column, dot_row(p, peak->value));
}

/* --- letters and names ------------------------------------------------------------------------ */

static bool free_for(const struct plot *p, int row, int column, int length, bool tight)
{
    if (row < 0 || row >= ROWS || column < 0 || column + length > p->canvas.columns) return false;
    for (int i = column > 0 ? -1 : 0; i <= length; i++) {
        if (column + i >= p->canvas.columns) continue;
        if (p->canvas.text[row][column + i]) return false;
        if (i >= 0 && (i < length || !tight) && p->canvas.dots[row][column + i]) return false;
    }
    return true;
}

/* tight: a line may follow right after it. */
static bool put_name(struct plot *p, const char *name, int row, int column, bool tight)
{
    int length = (int)strlen(name);
    if (!free_for(p, row, column, length, tight)) return false;
    memcpy(&p->canvas.text[row][column], name, (size_t)length);
    return true;
}

static void roof_name(char *out, size_t size, const struct roof *roof, const char *unit)
{
    char scaled[48];
    assay__text_scaled(scaled, sizeof scaled, roof->value, unit);
    snprintf(out, size, "%s %s", roof->name, scaled);
}

/* Above the line at its right end, else below it. */
static void name_flat(struct plot *p, const struct roof *peak)
{
    char name[96];
    roof_name(name, sizeof name, peak, strcmp(peak->name, "int8") == 0 ? "OP/s" : "FLOP/s");
    int row = dot_row(p, peak->value) / 4, length = (int)strlen(name);
    for (int column = p->canvas.columns - length; column > 0; column--)
        if (put_name(p, name, row - 1, column, false) || put_name(p, name, row + 1, column, false))
            return;
}

/* The first column without a dot from `column` on, to the right (1) or to the left (-1). */
static int run_end(const struct plot *p, int row, int column, int step)
{
    while (column >= 0 && column < p->canvas.columns && p->canvas.dots[row][column])
        column += step;
    return column;
}

static bool is_fastest(const struct plot *p, const struct roof *level)
{
    for (size_t i = 0; i < p->level_count; i++)
        if (p->levels[i].value > level->value) return false;
    return true;
}

/* The column of the line in that row, if the row has any of it below the highest roof; -1: none. */
static int column_in(const struct plot *p, const struct roof *level, int row)
{
    for (double dots = 1.5; dots < 4; dots++) {
        double rate = pow(10, p->y1 - (p->y1 - p->y0) * (row * 4 + dots) / (ROWS * 4 - 1));
        int column = dot_column(p, rate / level->value) / 2;
        if (rate <= p->highest && column >= 0 && column < p->canvas.columns) return column;
    }
    return -1;
}

static bool name_beside(struct plot *p, const struct roof *level, const char *name, int row,
                        bool on_left, bool tight)
{
    int column = column_in(p, level, row), length = (int)strlen(name);
    if (column < 0) return false;
    column = on_left ? run_end(p, row, column, -1) - length : run_end(p, row, column, 1) + 1;
    return put_name(p, name, row, column, tight);
}

/* Next to the line's dots, from its middle downwards, then upwards; with its value if there is
 * room. Left of a slope is above it, right is below it: so the fastest level, with no line above
 * it, has its name on the left if there is room, the others always on the right. */
static void name_slope(struct plot *p, const struct roof *level)
{
    char names[2][96];
    bool fastest = is_fastest(p, level);
    roof_name(names[0], sizeof names[0], level, "B/s");
    snprintf(names[1], sizeof names[1], "%s", level->name);
    for (int turn = 0; turn < 5; turn++) /* the last one, for when there is hardly any space */
        for (int i = 0; i < ROWS; i++) {
            int row = i < ROWS / 2 ? ROWS / 2 + i : ROWS - 1 - i;
            bool on_left = fastest && turn % 2 == 0 && turn < 4;
            if (name_beside(p, level, names[turn > 1], row, on_left, turn == 4)) return;
        }
}

/* --- printing --------------------------------------------------------------------------------- */

/* "100 G"; below 1 "0.01", beyond the prefixes "1e+21". */
static void decade_text(char *out, size_t size, int decade)
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    static const char *const mantissas[] = {"1", "10", "100"};
    if (decade < 0 || decade >= 21)
        snprintf(out, size, "%.4g", pow(10, decade));
    else
        snprintf(out, size, "%s%s", mantissas[decade % 3], prefixes[decade / 3]);
}

/* The label if a decade begins in this row; else "" */
static void scale_text(const struct plot *p, int row, char *out, size_t size)
{
    out[0] = 0;
    for (int decade = (int)ceil(p->y0); decade <= p->y1 && decade < 21; decade++) {
        if (decade < 0 || dot_row(p, pow(10, decade)) / 4 != row) continue;
        decade_text(out, size, decade);
    }
}

static void tick_at(const void *plot, int column, char *label, size_t size)
{
    const struct plot *p = plot;
    int decade = (int)ceil(p->x0);
    while (decade <= p->x1 && dot_column(p, pow(10, decade)) / 2 != column)
        decade++;
    if (decade > p->x1) return;
    if (decade < 4)
        snprintf(label, size, "%.4g", pow(10, decade));
    else
        decade_text(label, size, decade);
}

void assay__text_roofline(struct assay__page *page, const struct assay__figure *figure)
{
    struct plot p = {.canvas = {.page = page, .columns = page->columns - MARGIN, .rows = ROWS}};
    const struct assay__figure_series *points = figure->series;
    if (p.canvas.columns > ASSAY__CANVAS_COLUMNS) p.canvas.columns = ASSAY__CANVAS_COLUMNS;
    choose(&p, figure);
    if (!figure->series_count || !points->count || !p.peak_count || !p.level_count) return;
    scale(&p, points);
    for (size_t i = 0; i < p.level_count; i++)
        draw_slope(&p, &p.levels[i]);
    for (size_t i = 0; i < p.peak_count; i++)
        draw_flat(&p, &p.peaks[i]);
    for (size_t i = 0; i < assay__text_letters(figure); i++)
        if (placeable(points, i))
            assay__canvas_letter(&p.canvas, dot_column(&p, points->x[i]) / 2,
                                 dot_row(&p, points->y[i]) / 4, (char)('A' + i));
    for (size_t i = 0; i < p.peak_count; i++)
        name_flat(&p, &p.peaks[i]);
    for (size_t i = 0; i < p.level_count; i++)
        name_slope(&p, &p.levels[i]);
    assay__buf_puts(page->out, " FLOP/s\n");
    for (int row = 0; row < ROWS; row++) {
        char scale_at[32];
        scale_text(&p, row, scale_at, sizeof scale_at);
        assay__page_right_fit(page, scale_at, MARGIN - 3);
        assay__buf_puts(page->out, !scale_at[0] ? " │" : page->ascii ? " +" : " ┤");
        assay__canvas_put(&p.canvas, row);
    }
    assay__canvas_axis(&p.canvas, MARGIN, " FLOP/B", tick_at, &p);
}
