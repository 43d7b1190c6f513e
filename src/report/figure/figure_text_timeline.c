/* figure_text_timeline.c - a timeline as text: a line for each track, a character for each stretch
 * of time, which is as high (or as dark) as the track is busy in it. Below a device's line another
 * names what most of its idle time is due to, by letters that the last line explains.
 *
 *   NVIDIA H200
 *     busy            73 %  ▅█▇▇▂▁▅█▇▇▂▁
 *     idle because          l   ss l   ss
 *     stream 7              ▅█▇▇▂▁▅█▇▇▂▁
 */
#include "report/figure/figure_text.h"

#include "base/text.h"
#include "report/figure/palette.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { INDENT = 4, NAME = 18, SHARE = 8, LEAST = 16, BANDS = 8, MOST = 400 };
#define IDLE_LEAST 0.1 /* of a column: less has no letter */

struct lines {
    struct assay__page *page;
    const struct assay__figure_timeline *timeline;
    int columns;
    char letters[UCHAR_MAX + 1]; /* of the causes; 0: none yet */
};

static void range_of(const struct lines *l, int column, size_t *from, size_t *to)
{
    *from = (size_t)column * ASSAY__BAND_COLUMNS / (size_t)l->columns;
    *to = ((size_t)column + 1) * ASSAY__BAND_COLUMNS / (size_t)l->columns;
    if (*to <= *from) *to = *from + 1;
}

/* The share of the column, and the place in the palette of most of it. */
static double busy_in(const struct lines *l, const struct assay__figure_band *band, int column,
                      int *series)
{
    double sum = 0, times[ASSAY__PALETTE_SERIES] = {0};
    size_t from, to;
    range_of(l, column, &from, &to);
    for (size_t i = from; i < to; i++) {
        sum += band->share[i];
        times[band->series[i]] += band->share[i];
    }
    *series = 0;
    for (int i = 1; i < ASSAY__PALETTE_SERIES; i++)
        if (times[i] > times[*series]) *series = i;
    return sum / (double)(to - from);
}

/* The cause of most of the column's idle time; -1: there is hardly any. */
static int cause_in(const struct lines *l, const struct assay__figure_band *band, int column)
{
    double times[UCHAR_MAX + 1] = {0};
    size_t from, to;
    int most = -1;
    range_of(l, column, &from, &to);
    for (size_t i = from; i < to; i++)
        if (band->cause[i] < l->timeline->cause_count) times[band->cause[i]] += band->idle[i];
    for (int i = 0; i < UCHAR_MAX; i++)
        if (times[i] / (double)(to - from) >= IDLE_LEAST && (most < 0 || times[i] > times[most]))
            most = i;
    return most;
}

static void put_glyph(struct lines *l, double share)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char plain[] = ".:-=+*%#";
    int bin = share >= 1 ? 7 : (int)(share * 8);
    if (!(share > 0))
        assay__buf_putc(l->page->out, ' ');
    else if (l->page->ascii)
        assay__buf_putc(l->page->out, plain[bin]);
    else
        assay__buf_puts(l->page->out, heights[bin]);
}

static void color(struct lines *l, int series)
{
    if (l->page->color)
        assay__buf_printf(l->page->out, "\033[38;5;%dm", assay__palette_series[series].terminal);
}

static void begin(struct lines *l, const char *name, double share)
{
    struct assay__buf *out = l->page->out;
    assay__buf_repeat(out, " ", INDENT);
    assay__page_fit(l->page, name, NAME, 0);
    if (isfinite(share))
        assay__buf_printf(out, " %3.0f %%  ", share * 100);
    else
        assay__buf_repeat(out, " ", SHARE);
}

static void end(struct lines *l)
{
    struct assay__buf *out = l->page->out;
    if (l->page->color) assay__page_style(l->page, ASSAY__STYLE_PLAIN);
    while (!out->failed && out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = 0;
    assay__buf_putc(out, '\n');
}

static void put_busy(struct lines *l, const struct assay__figure_band *band)
{
    int last = -1;
    begin(l, band->device ? "busy" : band->name, band->busy);
    for (int i = 0; i < l->columns; i++) {
        int series;
        double share = busy_in(l, band, i, &series);
        if (share > 0 && series != last) color(l, last = series);
        put_glyph(l, share);
    }
    end(l);
}

/* The first letter of the name that no other cause has. */
static char letter_of(struct lines *l, int cause)
{
    const char *name = l->timeline->causes[cause].name;
    if (l->letters[cause]) return l->letters[cause];
    char made = '?';
    for (; *name && made == '?'; name++) {
        bool taken = *name < 'a' || *name > 'z';
        for (size_t i = 0; i < l->timeline->cause_count; i++)
            taken |= l->letters[i] == *name;
        if (!taken) made = *name;
    }
    return l->letters[cause] = made;
}

static void put_idle(struct lines *l, const struct assay__figure_band *band)
{
    bool any = false;
    for (int i = 0; i < l->columns; i++)
        any |= cause_in(l, band, i) >= 0;
    if (!any) return;
    begin(l, "idle because", NAN);
    for (int i = 0, last = -1; i < l->columns; i++) {
        int cause = cause_in(l, band, i);
        if (cause >= 0 && cause != last) color(l, l->timeline->causes[last = cause].series);
        assay__buf_putc(l->page->out, cause < 0 ? ' ' : letter_of(l, cause));
    }
    end(l);
}

static void put_axis(struct lines *l)
{
    struct assay__digits whole = assay__scaled(l->timeline->span_s, "s");
    struct assay__digits half = assay__scaled(l->timeline->span_s / 2, "s");
    int wide = (int)assay__text_width(whole.text), middle = (int)assay__text_width(half.text);
    int left = l->columns / 2 - middle / 2 - 1, right = l->columns - wide - left - middle - 1;
    assay__buf_repeat(l->page->out, " ", INDENT + NAME + SHARE);
    assay__page_style(l->page, ASSAY__STYLE_DIM);
    assay__buf_putc(l->page->out, '0');
    if (left > 0 && right > 0) {
        assay__buf_repeat(l->page->out, " ", (size_t)left);
        assay__buf_puts(l->page->out, half.text);
        assay__buf_repeat(l->page->out, " ", (size_t)right);
    } else
        assay__buf_repeat(l->page->out, " ", (size_t)(l->columns - wide - 1));
    assay__buf_puts(l->page->out, whole.text);
    assay__page_style(l->page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(l->page->out, '\n');
}

/* "idle: l launch overhead, s synchronisation" */
static void put_letters(struct lines *l)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < l->timeline->cause_count; i++)
        if (l->letters[i])
            assay__buf_printf(&text, "%s%c %s", text.length ? ", " : "idle: ", l->letters[i],
                              l->timeline->causes[i].name);
    if (text.length) assay__page_wrap(l->page, ASSAY__STYLE_DIM, "  ", assay__buf_text(&text));
    assay__buf_drop(&text, l->page->out);
}

void assay__text_timeline(struct assay__page *page, const struct assay__figure *figure)
{
    const struct assay__figure_timeline *t = figure->timeline;
    struct lines l = {.page = page, .timeline = t};
    const char *group = NULL;
    if (!t) return;
    l.columns = page->columns - INDENT - NAME - SHARE - 1;
    if (l.columns < LEAST) l.columns = LEAST;
    if (l.columns > MOST) l.columns = MOST;
    size_t shown = page->top < 0 || t->band_count < BANDS ? t->band_count : BANDS;
    for (size_t i = 0; i < shown; i++) {
        if (!group || strcmp(group, t->bands[i].group) != 0)
            assay__page_wrap(page, ASSAY__STYLE_BOLD, "  ", t->bands[i].group);
        group = t->bands[i].group;
        put_busy(&l, &t->bands[i]);
        if (t->bands[i].device) put_idle(&l, &t->bands[i]);
    }
    put_axis(&l);
    put_letters(&l);
    size_t tracks = 0;
    for (size_t i = 0; i < shown; i++)
        tracks += !t->bands[i].device;
    if (t->tracks > tracks) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "… %zu more track%s", t->tracks - tracks,
                          t->tracks - tracks == 1 ? "" : "s");
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", assay__buf_text(&text));
        assay__buf_drop(&text, page->out);
    }
}
