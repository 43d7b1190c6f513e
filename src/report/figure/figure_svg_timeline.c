/* figure_svg_timeline.c - the bands of a timeline. A column is as high as its track is busy in it;
 * on top of a device's busy time stands, up to the band's height, the cause of its idle time.
 * Neighbouring columns of one colour and height are one mark, and a band's marks of one colour are
 * one path: a page carries them. Beside the bands stand their names, above them on a narrow
 * drawing. */
#include "report/figure/figure_svg.h"

#include "base/text.h"
#include "report/figure/palette.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GUTTER 200.0
#define NARROW 560.0
#define GROUP 20.0
#define DEVICE 34.0
#define TRACK 18.0
#define STEP 2.0     /* px of a column */
#define HEIGHTS 12.0 /* that are distinguished */
#define SPACE 6.0
#define KEY_MOST 280.0 /* of a word in the key */

struct drawing {
    struct assay__svg *svg;
    const struct assay__figure_timeline *timeline;
    bool narrow;
    size_t columns;
};

/* What a drawn column shows: several of the figure's. */
struct column {
    double busy, idle;
    int series, cause; /* of most of it; -1 none */
};

static struct column column_of(const struct drawing *d, const struct assay__figure_band *band,
                               size_t at)
{
    size_t from = at * ASSAY__BAND_COLUMNS / d->columns;
    size_t to = (at + 1) * ASSAY__BAND_COLUMNS / d->columns;
    double times[ASSAY__PALETTE_SERIES] = {0}, causes[UCHAR_MAX + 1] = {0};
    struct column made = {.series = -1, .cause = -1};
    if (to <= from) to = from + 1;
    for (size_t i = from; i < to; i++) {
        made.busy += band->share[i] / (double)(to - from);
        made.idle += band->idle[i] / (double)(to - from);
        times[band->series[i]] += band->share[i];
        causes[band->cause[i]] += band->idle[i];
    }
    for (int i = 0; i < ASSAY__PALETTE_SERIES && made.busy > 0; i++)
        if (made.series < 0 || times[i] > times[made.series]) made.series = i;
    for (int i = 0; i < UCHAR_MAX && made.idle > 0; i++)
        if (causes[i] > 0 && (made.cause < 0 || causes[i] > causes[made.cause])) made.cause = i;
    return made;
}

static double rounded(double share)
{
    double height = round(fmin(1, share) * HEIGHTS) / HEIGHTS;
    return share > 0 && height <= 0 ? 1 / HEIGHTS : height; /* little is not nothing */
}

/* A run of columns as a rectangle of a path. */
static void put_run(struct drawing *d, size_t from, size_t to, double y, double height)
{
    double x = d->svg->left + (double)from * STEP, width = (double)(to - from) * STEP;
    if (to > from && height > 0)
        assay__svg_put(d->svg, "M# #h#v#h#z", (double[]){x, y, width, height, -width});
}

/* Marks of the busy time in one colour. */
static void put_busy(struct drawing *d, const struct column *columns, int series, double y,
                     double height)
{
    size_t from = 0;
    double high = 0;
    for (size_t i = 0; i <= d->columns; i++) {
        bool own = i < d->columns && columns[i].series == series;
        double now = own ? rounded(columns[i].busy) * height : 0;
        if (i && now == high) continue;
        put_run(d, from, i, y + height - high, high);
        from = i, high = now;
    }
}

/* The same of the idle time of one cause, above what is busy. */
static void put_idle(struct drawing *d, const struct column *columns, int cause, double y,
                     double height)
{
    size_t from = 0;
    double high = 0, top = 0;
    for (size_t i = 0; i <= d->columns; i++) {
        bool own = i < d->columns && columns[i].cause == cause;
        double busy = own && columns[i].busy > 0 ? rounded(columns[i].busy) * height : 0;
        double now = own ? fmin(height - busy, rounded(columns[i].idle) * height) : 0;
        double begin = y + height - busy - now;
        if (i && now == high && begin == top) continue;
        put_run(d, from, i, top, high);
        from = i, high = now, top = begin;
    }
}

static void put_path(struct drawing *d, unsigned series, const struct assay__buf *path)
{
    if (!path->length) return;
    assay__buf_printf(d->svg->out, "<path class=\"fig-f %s\" d=\"%s\"/>\n",
                      assay__svg_color(series), assay__buf_text(path));
}

static void put_band(struct drawing *d, const struct assay__figure_band *band, double y,
                     double height)
{
    struct column columns[ASSAY__BAND_COLUMNS];
    struct assay__buf path = {0}, *out = d->svg->out;
    double width = d->svg->right - d->svg->left;
    assay__svg_shape(d->svg, "fig-v", "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"/>\n",
                     (double[]){d->svg->left, y, width, height});
    for (size_t i = 0; i < d->columns; i++)
        columns[i] = column_of(d, band, i);
    for (int i = 0; i < ASSAY__PALETTE_SERIES + (int)d->timeline->cause_count; i++) {
        int cause = i - ASSAY__PALETTE_SERIES;
        d->svg->out = &path;
        if (cause < 0)
            put_busy(d, columns, i, y, height);
        else
            put_idle(d, columns, cause, y, height);
        d->svg->out = out;
        put_path(d, cause < 0 ? (unsigned)i : d->timeline->causes[cause].series, &path);
        if (path.failed) out->failed = true;
        assay__buf_clear(&path);
    }
    assay__buf_drop(&path, out);
}

/* --- words ------------------------------------------------------------------------------------ */

static double key_word(struct drawing *d, double x, double *y, const char *class_name,
                       const char *text)
{
    double width = 24 + fmin(KEY_MOST, assay__svg_width(text));
    if (x > 4 && x + width > d->svg->width) x = 4, *y += 16;
    assay__svg_shape(d->svg, class_name, "<rect x=\"#\" y=\"#\" width=\"10\" height=\"10\"/>",
                     (double[]){x, *y + 3});
    assay__svg_text(d->svg, x + 14, *y + 12, "fig-n", 's', text, KEY_MOST);
    return x + width;
}

/* What the colours mean: of busy time, then of idle time. Returns the height. */
static double put_key(struct drawing *d)
{
    char class_name[32], text[160];
    double x = 4, y = 0;
    for (unsigned i = 0; i < ASSAY__PALETTE_SERIES; i++) {
        if (!d->timeline->classes[i]) continue;
        snprintf(class_name, sizeof class_name, "fig-f %s", assay__svg_color(i));
        x = key_word(d, x, &y, class_name, d->timeline->classes[i]);
    }
    bool first = true;
    for (size_t i = 0; i < d->timeline->cause_count; i++) {
        const struct assay__figure_cause *cause = &d->timeline->causes[i];
        if (!(cause->share >= 0.0005)) continue;
        if (first) x = 4, y += 16, first = false;
        snprintf(class_name, sizeof class_name, "fig-f %s", assay__svg_color(cause->series));
        snprintf(text, sizeof text, "idle: %s", cause->name);
        x = key_word(d, x, &y, class_name, text);
    }
    return y + 22;
}

static double put_names(struct drawing *d, const struct assay__figure_band *band, double y,
                        double height)
{
    struct assay__buf text = {0};
    assay__buf_puts(&text, band->name);
    if (band->device) assay__buf_printf(&text, ": %.1f %% busy", band->busy * 100);
    const char *name = band->device ? strchr(assay__buf_text(&text), ':') + 2 : band->name;
    double room = d->narrow ? d->svg->width - 8 : GUTTER - 12;
    if (d->narrow) {
        assay__svg_text(d->svg, 4, y + 11, "fig-n", 's', name, room);
        y += 14;
    } else
        assay__svg_text(d->svg, GUTTER - 8, y + height / 2 + 4, "fig-n", 'e', name, room);
    assay__buf_drop(&text, d->svg->out);
    return y;
}

static double put_bands(struct drawing *d, double y)
{
    const struct assay__figure_timeline *t = d->timeline;
    const char *group = NULL;
    for (size_t i = 0; i < t->band_count; i++) {
        const struct assay__figure_band *band = &t->bands[i];
        double height = band->device ? DEVICE : TRACK;
        if (!group || strcmp(group, band->group) != 0) {
            assay__svg_text(d->svg, 4, y + 14, "fig-b", 's', band->group, d->svg->width - 8);
            y += GROUP;
        }
        group = band->group;
        y = put_names(d, band, y, height);
        put_band(d, band, y, height);
        y += height + SPACE;
    }
    return y;
}

void assay__svg_timeline(struct assay__svg *svg)
{
    const struct assay__figure_timeline *timeline = svg->figure->timeline;
    struct drawing d = {.svg = svg, .timeline = timeline, .narrow = svg->width < NARROW};
    svg->height = 20;
    if (!timeline || !(timeline->span_s > 0)) return;
    svg->left = d.narrow ? 4 : GUTTER;
    d.columns = (size_t)((svg->width - svg->left - 4) / STEP);
    if (d.columns > ASSAY__BAND_COLUMNS) d.columns = ASSAY__BAND_COLUMNS;
    svg->right = svg->left + (double)d.columns * STEP;
    double y = put_bands(&d, put_key(&d));
    assay__svg_time_axis(d.svg, d.timeline->span_s, y);
    svg->height = y + 22;
    if (timeline->tracks > timeline->band_count) {
        char text[80];
        snprintf(text, sizeof text, "%zu tracks, of which the first are drawn here.",
                 timeline->tracks);
        assay__svg_text(svg, svg->left, svg->height + 10, "fig-n", 's', text, 0);
        svg->height += 16;
    }
}
