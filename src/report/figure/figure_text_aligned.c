/* figure_text_aligned.c - the layers of several runs as strips of characters: each column shows the
 * layer that takes most of it, by how its time compares with the first run's; and the steps of that
 * scale, which both forms of the figure share. */
#include "report/figure/figure_scale.h"
#include "report/figure/figure_text.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

enum { ROOM_MOST = 160 };

const char *const assay__tone_names[ASSAY__TONES] = {
    "twice the time or more", "25 % more", "5 % more", "the same", "5 % less", "20 % less",
    "half the time or less"};

int assay__tone_step(double ratio)
{
    static const double ends[] = {2, 1.25, 1.05, 0.95, 0.8, 0.5};
    int step = 0;
    if (isnan(ratio)) return 3;
    while (step < ASSAY__TONES - 1 && (step < 3 ? ratio < ends[step] : ratio <= ends[step]))
        step++;
    return step;
}

/* Marks by step, from much more to much less; the last one: only in this run. */
static const char *mark_of(const struct assay__page *page, int step)
{
    static const char *const plain[] = {"#", "+", "+", ".", "-", "-", "=", "*"};
    static const char *const blocks[] = {"█", "▆", "▅", "▄", "▃", "▂", "▁", "░"};
    return (page->ascii ? plain : blocks)[step];
}

static void put_strip(struct assay__page *page, const struct assay__figure_series *s, double end,
                      int room)
{
    double most[ROOM_MOST] = {0};
    int steps[ROOM_MOST];
    for (int c = 0; c < room; c++)
        steps[c] = -1;
    for (size_t i = 0; i < s->count; i++) {
        double from = s->x[i] / end * room, to = (s->x[i] + s->y[i]) / end * room;
        if (!isfinite(from) || !isfinite(to)) continue;
        for (int c = from > 0 ? (int)from : 0; c < room && c < to; c++) {
            double part = fmin(to, c + 1.0) - fmax(from, c);
            if (!(part > most[c])) continue;
            most[c] = part;
            steps[c] = isinf(s->tone[i]) ? ASSAY__TONES : assay__tone_step(s->tone[i]);
        }
    }
    while (room && steps[room - 1] < 0)
        room--;
    assay__buf_puts(page->out, "  ");
    assay__page_style(page, ASSAY__STYLE_BAR);
    for (int c = 0; c < room; c++)
        assay__buf_puts(page->out, steps[c] < 0 ? " " : mark_of(page, steps[c]));
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

void assay__text_aligned(struct assay__page *page, const struct assay__figure *figure)
{
    double end = 0;
    int room = page->columns - 4;
    struct assay__buf scale = {0};
    if (room > ROOM_MOST) room = ROOM_MOST;
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].count; i++)
            if (isfinite(figure->series[s].x[i] + figure->series[s].y[i]))
                end = fmax(end, figure->series[s].x[i] + figure->series[s].y[i]);
    if (!(end > 0)) return;
    for (size_t s = 0; s < figure->series_count; s++) {
        assay__page_wrap_lines(page, ASSAY__STYLE_DIM, "  ", figure->series[s].name, 1);
        put_strip(page, &figure->series[s], end, room);
    }
    for (int step = 0; step < ASSAY__TONES; step++) {
        bool again = step && strcmp(mark_of(page, step), mark_of(page, step - 1)) == 0;
        assay__buf_printf(&scale, "%s%s%s%s", step ? ", " : "", again ? "" : mark_of(page, step),
                          again ? "" : " ", assay__tone_names[step]);
    }
    assay__buf_printf(&scale, ", %s only in this run", mark_of(page, ASSAY__TONES));
    assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", assay__buf_text(&scale));
    assay__buf_drop(&scale, page->out);
}
