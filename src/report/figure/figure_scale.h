/* figure_scale.h - axes of a figure: range, round ticks, labels. Shared by SVG and text. */
#ifndef ASSAY_REPORT_FIGURE_FIGURE_SCALE_H
#define ASSAY_REPORT_FIGURE_FIGURE_SCALE_H

#include "base/text.h"
#include "report/figure/figure.h"

#define ASSAY__TICKS 24

struct assay__scale {
    bool log;
    double low, high; /* in the data's unit; low < high; log: both above 0 */
    double ticks[ASSAY__TICKS];
    size_t tick_count;
    double factor; /* tick × factor is the number that is printed */
    char unit[32]; /* "ms"; log scales with several decades have it in every label and "" here */
    const char *base_unit;
};

/** A scale over [low, high], extended outwards to ticks at multiples of 1, 2 or 5 times a power of
 * ten, about `count` of them; log: a tick per decade (1, 2, 5 if there are few decades). An empty
 * range (NaN, equal ends, ends at or below 0 of a log scale) is widened. */
void assay__scale_make(struct assay__scale *scale, double low, double high, bool log,
                       const char *unit, size_t count);
/** Ticks at these places only. */
void assay__scale_ticks(struct assay__scale *scale, const double *at, size_t count);
/** 0 … 1 from low to high; NaN if the value has no position. */
double assay__scale_at(const struct assay__scale *scale, double value);
/** The label of a tick: "2.5", "100 µs", "1 T". */
void assay__scale_label(const struct assay__scale *scale, double tick, char *out, size_t size);
/** The range of a figure's data along x and along y (intervals and vertical or level marks
 *  included); false: no value. */
bool assay__figure_range(const struct assay__figure *figure, bool of_x, double *low, double *high);

/* --- shared by the two forms of a figure ------------------------------------------------------ */

/** Median of a series' x, which is copied to be sorted; NaN: it is empty, or memory ran out (then
 * `out` fails). */
double assay__figure_median(struct assay__buf *out, const struct assay__figure_series *series);
/** Waterfall: a total, or a change with its sign (figure_text_waterfall.c). */
struct assay__digits_pair assay__figure_step(const struct assay__figure *figure, size_t row);
/** Waterfall: the levels that its rows reach; includes 0 unless the changes are small. */
void assay__figure_steps_range(const struct assay__figure *figure, double *low, double *high);
/** Heat map: 0 (worst) to 7 (best) among its cells, an index of palette.h; -1: unknown value. */
int assay__heat_step(const struct assay__figure *figure, double value);
/** A ratio of times on the scale of a change (palette.h): 0 (twice the time) to 6 (half the time);
 * 3: the same, or unknown. */
#define ASSAY__TONES 7
extern const char *const assay__tone_names[ASSAY__TONES];
int assay__tone_step(double ratio);

#endif
