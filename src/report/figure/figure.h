/* figure.h - a chart as data: what is drawn, not how. The same description is drawn as SVG
 * (figure_svg*.c) and as text (figure_text.c); each figure of a profile is one row in figures.c.
 * Unknown values are NaN: they are left out, never drawn as 0. Strings are untrusted: the renderers
 * escape them. */
#ifndef ASSAY_REPORT_FIGURE_FIGURE_H
#define ASSAY_REPORT_FIGURE_FIGURE_H

#include "base/arena.h"
#include "judge/study.h"
#include "report/walk/text_page.h"

enum assay__figure_kind {
    ASSAY__FIGURE_BARS,  /* one series: horizontal bars with names; several: grouped */
    ASSAY__FIGURE_LINES, /* y over x, gaps at NaN */
    ASSAY__FIGURE_SCATTER,
    /* bins: x is the lower edge of each (plus one for the end), y the count */
    ASSAY__FIGURE_HISTOGRAM,
    ASSAY__FIGURE_TREEMAP,  /* values with names and a path of groups */
    ASSAY__FIGURE_ROOFLINE, /* points: x FLOP/B, y FLOP/s; roofs below */
    ASSAY__FIGURE_GRAPH,    /* the network: `graph` */
    /* one row of blocks side by side: x is the lower edge of each (plus one for the end) */
    ASSAY__FIGURE_BLOCKS,
    ASSAY__FIGURE_BANDS, /* the series' y stacked, over positions of equal width */
    /* one series from one total to another: y of the totals (ASSAY__POINT_TOTAL) and of the signed
     * changes between them, which sum to their difference */
    ASSAY__FIGURE_WATERFALL,
    /* a series per row: x the column (0, 1, …), y the cell's value; categories: the columns */
    ASSAY__FIGURE_HEAT,
    /* pairs of series: the outline of a distribution (x as in a histogram, y the share of each bin;
     * may be empty), and its launches (x) */
    ASSAY__FIGURE_SPREAD,
    /* a series per run: x is where a layer begins, y its duration, low that in the first run, tone
     * the ratio of the two if they differ, groups its operator; matched layers begin at the same
     * place */
    ASSAY__FIGURE_ALIGNED,
    ASSAY__FIGURE_STRIP,    /* one inference, layer after layer: `strip` */
    ASSAY__FIGURE_CARD,     /* a trial in one picture: `card`, and its strip where it has one */
    ASSAY__FIGURE_TIMELINE, /* tracks of a trace over time: `timeline` */
    ASSAY__FIGURE_FLAME,    /* stack samples as a tree: `flame` */
};

struct assay__flame;
struct assay__graph_tree;

struct assay__figure_series {
    const char *name;
    const double *x, *y;       /* bars and treemaps have no x */
    const double *low, *high;  /* intervals of y; NULL: none */
    const char *const *names;  /* of the points; NULL: none */
    const char *const *groups; /* treemap: "block1/conv", …; NULL */
    const int *layers;         /* index of the layer that a point shows, -1: none; NULL */
    const double *areas; /* roofline: a dot's area is proportional to it; NULL: all the same */
    /* share of the peak, 0 … 1: the colour of a mark; NULL: the colour of its series */
    const double *shares;
    const unsigned char *flags; /* ASSAY__POINT_…; NULL */
    const double *tone;         /* aligned strips: what colours a layer; NULL */
    size_t count;
    bool faint;  /* drawn in the background (warm-up, all samples) */
    bool joined; /* scatter: its points are joined by a line (a front) */
    bool steps;  /* lines: a value holds until the next x; filled down to the axis */
};
enum {
    ASSAY__POINT_MARKED = 1,
    ASSAY__POINT_FAULT = 2,
    ASSAY__POINT_FAINT = 4, /* in the background; in bars, a number without a bar */
    ASSAY__POINT_TOTAL = 8, /* waterfall: a level, not a change */
    ASSAY__POINT_TIED = 16, /* not distinguishable from the marked one */
};

struct assay__figure_mark { /* a line across, with a word: p50, knee, requirement */
    bool vertical;
    double at;
    const char *text;
};
struct assay__figure_roof {
    const char *name;
    double flops_per_s; /* compute roof; NaN: it is a memory roof */
    double bytes_per_s; /* memory roof; NaN. Both known: a part of the whole roof, "50 %" */
};
struct assay__figure_span { /* a coloured stretch of the x axis */
    double begin, end;
    const char *name;
};

/** A layer of a strip, or a block of layers. */
struct assay__strip_part {
    int id; /* index of the layer, id of the block; -1: neither (`name` says what) */
    const char *name, *label; /* in full; the shortest end of it that differs from its neighbours */
    double begin_s, time_s;
    double share; /* share of its roof: the colour; NaN unknown */
    int series;   /* its operator, or that with the most time: the colour without roofs; -1 none */
    double rate;  /* FLOP/s; NaN */
    double live_bytes; /* of activations while it runs; NaN */
};

/** One inference in order of execution, times laid end to end. */
struct assay__figure_strip {
    struct assay__strip_part *layers; /* those that are timed, then the time in no layer */
    size_t layer_count;
    struct assay__strip_part *blocks[ASSAY__BLOCK_LEVELS]; /* stages, blocks */
    size_t block_counts[ASSAY__BLOCK_LEVELS];
    int level_count;
    bool by_operator;             /* colours show operators, because there are no roofs */
    const char *const *operators; /* names of the series; the last stands for all others */
    size_t operator_count;
    double whole_s;   /* end of the axis */
    const char *roof; /* "float32 343 GFLOP/s"; "" none */
    double rate_most; /* of the layers; NaN: none is known */
    double live_most;
};

/* px; 630 high: what forges and social networks show with a link */
#define ASSAY__CARD_WIDTH 1200.0

/** A trial in one picture, to be posted. Strings are whole; the renderer cuts them. */
struct assay__figure_card {
    const char *title, *target; /* "resnet50", "cpu · ort 1.31.1 · float32 · batch 1" */
    const char *chip;           /* "stable ±1 %" */
    enum assay__trust trust;
    const char *verdict;
    struct assay__card_number {
        const char *value, *label;
    } numbers[ASSAY__KPIS];
    size_t number_count;
    const char *machine, *version;
};

#define ASSAY__BAND_COLUMNS 1200

/** A track of a timeline, its time cut into equal columns. */
struct assay__figure_band {
    const char *name, *group; /* "stream 7" of "NVIDIA H200" */
    bool device;              /* of a whole device: what is not busy may be idle for a cause */
    double busy;              /* of a device: share of its time from first to last work */
    uint64_t events;
    /* per column: the share that is busy, the colour (place in the palette's series) of most of
     * it; of a device the share that is idle, and the cause of most of that (or none: UCHAR_MAX) */
    float *share, *idle;
    unsigned char *series, *cause;
};

/** Where time of a trace goes, coarsely. A page's script draws it whole (html/timeline.js). */
struct assay__figure_timeline {
    double span_s;
    struct assay__figure_band *bands;
    size_t band_count, tracks; /* tracks: that there are */
    const char *classes[8];    /* what the colours of series mean; NULL: none has it */
    struct assay__figure_cause {
        const char *name;
        unsigned char series;
        double share; /* of the devices' time, all together */
    } * causes;
    size_t cause_count;
};

struct assay__figure {
    enum assay__figure_kind kind;
    const char *name;                                /* "layers", "latency": of the row */
    const char *title;                               /* "": the heading above it names it */
    const char *x_title, *x_unit, *y_title, *y_unit; /* base units: scaled for people; "" none */
    bool x_log, y_log, y_zero;                       /* y_zero: the scale begins at 0 */
    bool lower;                                      /* heat map: a lower value is better */
    const char *const *categories;                   /* bars: names of the bars (or groups) */
    /* where the x axis is labelled (batch 1, 2, 4, …); NULL: round numbers */
    const double *x_ticks;
    size_t x_tick_count;
    struct assay__figure_series *series;
    size_t series_count;
    struct assay__figure_mark *marks;
    size_t mark_count;
    struct assay__figure_roof *roofs;
    size_t roof_count;
    struct assay__figure_span *spans;
    size_t span_count;
    const struct assay__figure_strip *strip; /* of a STRIP; of a CARD, or NULL */
    const struct assay__figure_card *card;   /* of a CARD */
    const struct assay__figure_timeline *timeline;
    const struct assay__flame *flame;      /* explain/flame.h; of a FLAME */
    const struct assay__graph_tree *graph; /* of ASSAY__FIGURE_GRAPH (graph_tree.h) */
    double width;                          /* that it takes as it is; 0: any */
    const char *caption;                   /* one plain sentence: how to read it */
    const char *description; /* the text alternative: what it shows, with its numbers */
    const char *note;        /* a note: samples outside, …; NULL or "": none */
    bool small;              /* a page puts it next to its neighbours */
    bool half, wide;         /* the same, two side by side; over the page's whole width */
    bool keyed;              /* text: letters and note are explained elsewhere */
};

struct assay__svg_options {
    double width, height; /* 0: by kind */
    /* a separate file with XML declaration and colours; otherwise it uses the page's style sheet */
    bool standalone;
    const char *id; /* prefix of ids inside; "" none */
};
/** The name of a bar (or group); "" none. */
const char *assay__figure_category(const struct assay__figure *figure, size_t row);
/** Appends one <svg>. No script, no external reference. */
void assay__figure_svg(struct assay__buf *out, const struct assay__figure *figure,
                       const struct assay__svg_options *options);
/** Several figures, one below the other, as a separate file; each has its title. */
void assay__figures_svg(struct assay__buf *out, const struct assay__figure *figures, size_t count);
/** The style sheet that a page needs once for all its figures: classes that begin with "fig",
 *  colours as the palette's variables. */
void assay__figure_css(struct assay__buf *out);
/** The same content in text. */
void assay__figure_text(struct assay__page *page, const struct assay__figure *figure);

/* --- the figures of a profile (figures.c: one row each; figures_<subject>.c) ------------------ */

/** A figure while it is being built (figures.h). */
struct assay__sketch {
    struct assay__study *study;     /* NULL: of several profiles */
    const struct assay__diff *diff; /* of several profiles; NULL: of one */
    const struct assay__trial *trial;
    struct assay__arena *arena;
    struct assay__figure *figure;
    struct assay_error *error;          /* NULL: the reason is not wanted */
    bool failed;                        /* out of memory */
    struct assay__figure_series nobody; /* returned when a series could not be allocated */
};

struct assay__figure_row {
    const char *name, *summary;
    bool of_profile; /* of all trials together, not of one; of a timeline there are no trials */
    /** 0 with the figure in the arena; ASSAY_ENOTFOUND with the reason if there is none;
     * ASSAY_ENOMEM. `part`: some rows have several figures (sweep: throughput, latency, …), 0, 1,
     * …; ASSAY_ENOTFOUND past the last. */
    int (*make)(struct assay__sketch *sketch, size_t part);
};
const struct assay__figure_row *assay__figure_row_at(size_t index); /* NULL past the end */
const struct assay__figure_row *assay__figure_row_find(const char *name);
/** All figures of that row, of every trial and part, at most ASSAY__FIGURES_MOST; *left_out: trials
 * not considered. 0 with at least one figure; ASSAY_ENOTFOUND with the first reason;
 * ASSAY_ENOMEM. */
int assay__figures_of(struct assay__study *study, const struct assay__figure_row *row,
                      struct assay__arena *arena, struct assay__figure **figures, size_t *count,
                      size_t *left_out, struct assay_error *error);
/** Whether it also exists for several profiles side by side … */
bool assay__figure_is_of_several(const struct assay__figure_row *row);
/** … and all figures of such a row. */
int assay__figures_of_diff(const struct assay__diff *diff, const struct assay__figure_row *row,
                           struct assay__arena *arena, struct assay__figure **figures,
                           size_t *count, struct assay_error *error);
#define ASSAY__FIGURES_MOST 24

#endif
