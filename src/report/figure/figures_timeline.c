/* figures_timeline.c - the coarse picture of a timeline: a band for each track, cut into columns.
 * A column's colour is that of the class with most time of its own: what lies inside an event takes
 * its time from it, so that a step around everything does not hide what is in it. */
#include "report/figure/figure.h"
#include "report/figure/track_rows.h"

#include "base/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { COLUMNS = ASSAY__BAND_COLUMNS, BANDS = 16 };
#define TOLD 0.01 /* of the devices' time: a cause of less is not named in words */

typedef float class_times[COLUMNS][ASSAY__TIME_CLASSES];

struct sketcher {
    const struct assay__track_rows *rows;
    struct assay__arena *arena;
    struct assay__figure_timeline *made;
    struct assay__track_span *spans;
    class_times *row, *own;      /* of the row that is read; of the band */
    float *above;                /* what the row above had of each column … */
    unsigned char *around;       /* … and the class of most of it */
    double column_ns, device_ns; /* device_ns: of all devices, from first to last work */
};

/* --- columns ---------------------------------------------------------------------------------- */

/* Calls back with the columns of a span, and which share of each it takes. */
static void spread(const struct sketcher *s, const struct assay__track_span *span,
                   void (*take)(const struct sketcher *s, size_t column, float share,
                                const struct assay__track_span *span, void *into),
                   void *into)
{
    double from = fmax(0, (double)(span->begin_ns - s->rows->from_ns) / s->column_ns);
    double to = (double)(span->end_ns - s->rows->from_ns) / s->column_ns;
    for (size_t c = (size_t)from; c < COLUMNS && (double)c < to; c++)
        take(s, c, (float)(fmin(to, (double)c + 1) - fmax(from, (double)c)), span, into);
}

static void take_class(const struct sketcher *s, size_t column, float share,
                       const struct assay__track_span *span, void *into)
{
    (*(class_times *)into)[column][s->rows->labels[span->label].series] += share;
}

static float sum_of(const float times[ASSAY__TIME_CLASSES], unsigned char *most)
{
    float sum = 0;
    size_t best = 0;
    for (size_t i = 0; i < ASSAY__TIME_CLASSES; i++) {
        sum += times[i];
        if (times[i] > times[best]) best = i;
    }
    *most = (unsigned char)best;
    return sum;
}

/* What is inside takes its time from what is around it. */
static void add_row(struct sketcher *s, size_t row)
{
    const struct assay__drawn_row *of = &s->rows->rows[row];
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < ASSAY__TIME_CLASSES; i++)
            (*s->row)[c][i] = 0;
    assay__row_spans(s->rows, row, s->spans);
    for (size_t i = 0; i < of->count; i++)
        spread(s, &s->spans[i], take_class, s->row);
    for (size_t c = 0; c < COLUMNS; c++) {
        unsigned char most;
        float sum = sum_of((*s->row)[c], &most);
        float *outer = &(*s->own)[c][s->around[c]];
        if (of->nested) *outer = fmaxf(0, *outer - fminf(sum, s->above[c]));
        for (size_t i = 0; i < ASSAY__TIME_CLASSES; i++)
            (*s->own)[c][i] += (*s->row)[c][i];
        s->above[c] = sum;
        s->around[c] = most;
    }
}

static void fill_band(struct sketcher *s, const struct assay__drawn_track *track,
                      struct assay__figure_band *band)
{
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < ASSAY__TIME_CLASSES; i++)
            (*s->own)[c][i] = 0;
    for (size_t i = 0; i < track->row_count; i++)
        add_row(s, track->first_row + i);
    for (size_t c = 0; c < COLUMNS; c++) {
        band->share[c] = fminf(1, sum_of((*s->own)[c], &band->series[c]));
        if (band->share[c] > 0)
            s->made->classes[band->series[c]] = assay__time_class_names[band->series[c]];
    }
    band->busy = NAN;
}

/* --- devices ---------------------------------------------------------------------------------- */

static size_t cause_of(const struct sketcher *s, const char *name)
{
    const struct assay__timeline_input *input = &s->rows->input;
    for (size_t i = 0; i < input->cause_count; i++)
        if (input->causes[i].name == name) return i;
    return UCHAR_MAX;
}

struct device_column {
    struct assay__figure_band *band;
    float *most; /* of each column: the longest idle span in it */
};

static void take_device(const struct sketcher *s, size_t column, float share,
                        const struct assay__track_span *span, void *into)
{
    struct device_column *d = into;
    const struct assay__label *label = &s->rows->labels[span->label];
    if (label->kind == ASSAY__LABEL_BUSY) {
        d->band->share[column] += share;
        return;
    }
    d->band->idle[column] += share;
    if (share <= d->most[column]) return;
    d->most[column] = share;
    d->band->cause[column] = (unsigned char)cause_of(s, label->name);
}

static void fill_device(struct sketcher *s, const struct assay__drawn_track *track,
                        struct assay__figure_band *band)
{
    struct device_column d = {.band = band, .most = s->above};
    const struct assay__drawn_row *row = &s->rows->rows[track->first_row];
    for (size_t c = 0; c < COLUMNS; c++) {
        s->above[c] = 0;
        band->cause[c] = UCHAR_MAX;
    }
    assay__row_spans(s->rows, track->first_row, s->spans);
    for (size_t i = 0; i < row->count; i++) {
        const struct assay__label *label = &s->rows->labels[s->spans[i].label];
        size_t cause = label->kind == ASSAY__LABEL_IDLE ? cause_of(s, label->name) : UCHAR_MAX;
        spread(s, &s->spans[i], take_device, &d);
        if (cause < s->made->cause_count)
            s->made->causes[cause].share += (double)s->spans[i].busy_ns;
    }
    band->device = true;
    band->busy = track->span_ns > 0 ? (double)track->busy_ns / (double)track->span_ns : NAN;
    s->device_ns += (double)track->span_ns;
    s->made->classes[ASSAY__TIME_KERNEL] = assay__time_class_names[ASSAY__TIME_KERNEL];
}

/* --- words ------------------------------------------------------------------------------------ */

static const char *describe(const struct sketcher *s)
{
    struct assay__buf text = {0};
    const struct assay__figure_timeline *t = s->made;
    assay__buf_printf(&text, "%s on %zu track%s.", assay__scaled(t->span_s, "s").text, t->tracks,
                      t->tracks == 1 ? "" : "s");
    for (size_t i = 0; i < t->band_count; i++)
        if (t->bands[i].device)
            assay__buf_printf(
                &text, " %s is busy for %.1f %% of the time from its first work to its last.",
                t->bands[i].group, t->bands[i].busy * 100);
    const char *before = " Idle because of";
    for (size_t i = 0; i < t->cause_count; i++) {
        if (!(t->causes[i].share >= TOLD)) continue;
        assay__buf_printf(&text, "%s %s", before, t->causes[i].name);
        before = ",";
    }
    if (*before == ',') assay__buf_putc(&text, '.');
    const char *kept = assay__buf_keep(&text, s->arena);
    return kept ? kept : "";
}

/* --- together --------------------------------------------------------------------------------- */

static bool make_band(struct sketcher *s, const struct assay__drawn_track *track)
{
    struct assay__figure_band *band = &s->made->bands[s->made->band_count];
    struct assay__arena *arena = s->arena;
    *band = (struct assay__figure_band){.name = assay__arena_strdup(arena, track->name),
                                        .group = assay__arena_strdup(arena, track->group),
                                        .events = track->events};
    band->share = assay__arena_array(arena, COLUMNS, sizeof *band->share);
    band->idle = assay__arena_array(arena, COLUMNS, sizeof *band->idle);
    band->series = assay__arena_array(arena, COLUMNS, 1);
    band->cause = assay__arena_array(arena, COLUMNS, 1);
    if (assay__arena_failed(arena)) return false;
    s->made->band_count++;
    if (track->kind == ASSAY__DRAWN_DEVICE)
        fill_device(s, track, band);
    else
        fill_band(s, track, band);
    return true;
}

static bool make_causes(struct sketcher *s)
{
    const struct assay__timeline_input *input = &s->rows->input;
    s->made->cause_count = input->cause_count;
    s->made->causes = assay__arena_array(s->arena, input->cause_count + 1, sizeof *s->made->causes);
    for (size_t i = 0; s->made->causes && i < input->cause_count; i++) {
        s->made->causes[i].name = assay__arena_strdup(s->arena, input->causes[i].name);
        s->made->causes[i].series = input->causes[i].series;
    }
    return !assay__arena_failed(s->arena);
}

/* A device and its streams are drawn whole before threads: those come first. */
static bool make_bands(struct sketcher *s)
{
    const struct assay__track_rows *rows = s->rows;
    s->made->bands = assay__arena_array(s->arena, BANDS, sizeof *s->made->bands);
    bool made = s->made->bands && make_causes(s);
    for (size_t i = 0; made && i < rows->track_count && s->made->band_count < BANDS; i++)
        if (rows->tracks[i].kind != ASSAY__DRAWN_OTHER) made = make_band(s, &rows->tracks[i]);
    for (size_t i = 0; made && i < s->made->cause_count; i++)
        s->made->causes[i].share /= s->device_ns > 0 ? s->device_ns : 1;
    for (size_t i = 0; i < rows->track_count; i++)
        s->made->tracks += rows->tracks[i].kind == ASSAY__DRAWN_STREAM ||
                           rows->tracks[i].kind == ASSAY__DRAWN_THREAD;
    s->made->tracks += rows->tracks_left_out;
    return made;
}

static const struct assay__figure *finish(struct sketcher *s)
{
    struct assay__figure *f = assay__arena_alloc(s->arena, sizeof *f);
    if (!f) return NULL;
    *f = (struct assay__figure){.kind = ASSAY__FIGURE_TIMELINE,
                                .name = "timeline",
                                .title = "",
                                .timeline = s->made,
                                .wide = true};
    f->x_title = f->x_unit = f->y_title = f->y_unit = f->note = "";
    f->caption = "Height: share of the time in which the track is busy. Colour: what takes most "
                 "of that time; above a device's busy time, why it was idle.";
    f->description = describe(s);
    return assay__arena_failed(s->arena) ? NULL : f;
}

const struct assay__figure *assay__timeline_figure(const struct assay__track_rows *rows,
                                                   struct assay__arena *arena)
{
    struct sketcher s = {.rows = rows, .arena = arena};
    const struct assay__figure *figure = NULL;
    int64_t span_ns = rows->to_ns - rows->from_ns;
    s.made = assay__arena_alloc(arena, sizeof *s.made);
    if (!s.made || !rows->track_count || span_ns <= 0) return NULL;
    s.made->span_s = (double)span_ns / 1e9;
    s.column_ns = (double)span_ns / COLUMNS;
    s.spans = calloc(rows->longest_row + 1, sizeof *s.spans);
    s.row = malloc(sizeof *s.row);
    s.own = malloc(sizeof *s.own);
    s.above = calloc(COLUMNS, sizeof *s.above);
    s.around = calloc(COLUMNS, 1);
    if (s.spans && s.row && s.own && s.above && s.around && make_bands(&s) && s.made->band_count)
        figure = finish(&s);
    free(s.spans);
    free(s.row);
    free(s.own);
    free(s.above);
    free(s.around);
    return figure;
}
