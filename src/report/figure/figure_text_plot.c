/* figure_text_plot.c - points and lines as text, over linear or logarithmic axes: dots of an eighth
 * of a character, named points as letters. If there are more points than dots, each dot with a
 * point is set: nothing is hidden, and nothing is drawn without a point. */
#include "report/figure/figure_canvas.h"
#include "report/figure/figure_scale.h"
#include "report/figure/figure_text.h"
#include "report/figure/figures.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 14
#define MARGIN 11

struct plot {
    struct assay__canvas canvas;
    struct assay__scale x, y;
};

static int column_of(const struct plot *p, double value)
{
    double at = assay__scale_at(&p->x, value);
    return at >= 0 && at <= 1 ? (int)floor(at * (p->canvas.columns * 2 - 1) + 0.5) : -1;
}

static int row_of(const struct plot *p, double value)
{
    double at = assay__scale_at(&p->y, value);
    return at >= 0 && at <= 1 ? (int)floor((1 - at) * (ROWS * 4 - 1) + 0.5) : -1;
}

size_t assay__text_letters(const struct assay__figure *figure)
{
    const struct assay__figure_series *s = figure->series;
    if (!figure->series_count || !s->names) return 0;
    if (figure->kind == ASSAY__FIGURE_ROOFLINE && s->count > ASSAY__ROOFLINE_LETTERS)
        return ASSAY__ROOFLINE_LETTERS;
    return s->count <= ASSAY__TEXT_LETTERS ? s->count : 0;
}

bool assay__text_has_numbers(const struct assay__figure *figure)
{
    return figure->kind == ASSAY__FIGURE_LINES && figure->series_count > 1 &&
           figure->series_count <= 9;
}

static void join(struct plot *p, int c0, int r0, int c1, int r1)
{
    int steps = abs(c1 - c0) > abs(r1 - r0) ? abs(c1 - c0) : abs(r1 - r0);
    for (int i = 1; i < steps; i++)
        assay__canvas_dot(&p->canvas, c0 + (c1 - c0) * i / steps, r0 + (r1 - r0) * i / steps);
}

/* Several lines each have a number at their last point. */
static void number_line(struct plot *p, const struct assay__figure *figure, size_t index)
{
    const struct assay__figure_series *s = &figure->series[index];
    for (size_t i = s->count; i-- > 0;) {
        int column = column_of(p, s->x[i]), row = row_of(p, s->y[i]);
        if (column < 0 || row < 0) continue;
        assay__canvas_letter(&p->canvas, column / 2, row / 4, (char)('1' + index));
        return;
    }
}

static void draw(struct plot *p, const struct assay__figure *figure, size_t index)
{
    const struct assay__figure_series *s = &figure->series[index];
    bool line = figure->kind == ASSAY__FIGURE_LINES || s->joined;
    bool letters = index == 0 && assay__text_letters(figure);
    int before_column = -1, before_row = -1;
    for (size_t i = 0; i < s->count; i++) {
        int column = column_of(p, s->x[i]), row = row_of(p, s->y[i]);
        if (column < 0 || row < 0) {
            before_column = -1;
            continue;
        }
        if (letters)
            assay__canvas_letter(&p->canvas, column / 2, row / 4, (char)('A' + i));
        else
            assay__canvas_dot(&p->canvas, column, row);
        if (line && before_column >= 0 && column >= before_column) {
            if (s->steps) join(p, before_column, before_row, column + 1, before_row);
            join(p, s->steps ? column : before_column, before_row, column, row);
        }
        before_column = column, before_row = row;
    }
}

/* Level marks are dotted lines with their label at the right end. */
static void draw_mark(struct plot *p, const struct assay__figure_mark *mark)
{
    int row = mark->vertical ? -1 : row_of(p, mark->at);
    int column = mark->vertical ? column_of(p, mark->at) : -1;
    const char *text = mark->text ? mark->text : "";
    int length = (int)strlen(text), cell = p->canvas.columns - length;
    for (int r = 0; column >= 0 && r < ROWS * 4; r += 3)
        assay__canvas_dot(&p->canvas, column, r);
    if (row < 0) {
        if (column < 0) return;
        row = 0, cell = column / 2 + 1;
        if (cell + length > p->canvas.columns) cell = column / 2 - length;
    } else {
        for (int c = 0; c < p->canvas.columns * 2; c += 4)
            assay__canvas_dot(&p->canvas, c, row);
        row /= 4;
    }
    if (cell < 0) return;
    for (int i = 0; i < length; i++)
        if (p->canvas.text[row][cell + i] || text[i] < ' ' || text[i] > '~') return;
    memcpy(&p->canvas.text[row][cell], text, (size_t)length);
}

static void put_y_label(const struct plot *p, int row)
{
    struct assay__page *page = p->canvas.page;
    char label[64] = "";
    for (size_t i = 0; i < p->y.tick_count && !label[0]; i++)
        if (row_of(p, p->y.ticks[i]) / 4 == row && row_of(p, p->y.ticks[i]) >= 0)
            assay__scale_label(&p->y, p->y.ticks[i], label, sizeof label);
    assay__page_right_fit(page, label, MARGIN - 3);
    assay__buf_puts(page->out, !label[0] ? " │" : page->ascii ? " +" : " ┤");
}

static void tick_at(const void *plot, int column, char *label, size_t size)
{
    const struct plot *p = plot;
    for (size_t i = 0; i < p->x.tick_count && !label[0]; i++) {
        int at = column_of(p, p->x.ticks[i]);
        if (at >= 0 && at / 2 == column) assay__scale_label(&p->x, p->x.ticks[i], label, size);
    }
}

static void put_axis_names(struct assay__page *page, const struct plot *p,
                           const struct assay__figure *figure)
{
    struct assay__buf text = {0};
    assay__buf_printf(&text, "up: %s%s%s%s; right: %s%s%s%s", figure->y_title,
                      p->y.unit[0] ? " (" : "", p->y.unit, p->y.unit[0] ? ")" : "", figure->x_title,
                      p->x.unit[0] ? " (" : "", p->x.unit, p->x.unit[0] ? ")" : "");
    assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", assay__buf_text(&text));
    assay__buf_free(&text);
}

void assay__text_plot(struct assay__page *page, const struct assay__figure *figure)
{
    struct plot *p = calloc(1, sizeof *p);
    double low, high;
    if (!p) {
        page->out->failed = true;
        return;
    }
    p->canvas = (struct assay__canvas){
        .page = page, .columns = page->columns - MARGIN, .rows = ROWS};
    if (p->canvas.columns > ASSAY__CANVAS_COLUMNS) p->canvas.columns = ASSAY__CANVAS_COLUMNS;
    if (assay__figure_range(figure, true, &low, &high)) {
        assay__scale_make(&p->x, low, high, figure->x_log, figure->x_unit, 5);
        if (figure->x_ticks) assay__scale_ticks(&p->x, figure->x_ticks, figure->x_tick_count);
        assay__figure_range(figure, false, &low, &high);
        assay__scale_make(&p->y, low, high, figure->y_log, figure->y_unit, 5);
        for (size_t i = 0; i < figure->series_count; i++)
            if (figure->series[i].x && figure->series[i].y) draw(p, figure, i);
        for (size_t i = 0; i < figure->series_count && assay__text_has_numbers(figure); i++)
            if (figure->series[i].x && figure->series[i].y) number_line(p, figure, i);
        for (size_t i = 0; i < figure->mark_count; i++)
            draw_mark(p, &figure->marks[i]);
        for (int row = 0; row < ROWS; row++) {
            put_y_label(p, row);
            assay__canvas_put(&p->canvas, row);
        }
        assay__canvas_axis(&p->canvas, MARGIN, "", tick_at, p);
        put_axis_names(page, p, figure);
    }
    free(p);
}
