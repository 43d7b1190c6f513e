/* figures.h - shared by the files that build the figures of a profile: figures.c (the table, and
 * what they share) and figures_<subject>.c. Errors stick in the sketch: assay__sketch_end returns
 * them. */
#ifndef ASSAY_REPORT_FIGURE_FIGURES_H
#define ASSAY_REPORT_FIGURE_FIGURES_H

#include "report/doc/datum.h"
#include "report/figure/figure.h"

typedef int assay__figure_fn(struct assay__sketch *sketch, size_t part);

assay__figure_fn assay__figure_strip, assay__figure_card, assay__figure_layers,
    assay__figure_treemap, assay__figure_roofline, assay__figure_graph, assay__figure_latency,
    assay__figure_cdf, assay__figure_tokens, assay__figure_samples, assay__figure_memory,
    assay__figure_power, assay__figure_compare, assay__figure_devices, assay__figure_sweep,
    assay__figure_heat, assay__figure_pareto, assay__figure_waterfall, assay__figure_strips,
    assay__figure_spread, assay__figure_flame;

/** What it shows and how, before its series: missing strings are "". */
struct assay__figure *assay__sketch_begin(struct assay__sketch *sketch,
                                          enum assay__figure_kind kind, const char *name,
                                          const char *title);
/** With the trial's label if the profile has several trials. */
const char *assay__sketch_title(struct assay__sketch *sketch, const char *title);
/** assay__sketch_begin with such a title. */
struct assay__figure *assay__sketch_trial(struct assay__sketch *sketch,
                                          enum assay__figure_kind kind, const char *name,
                                          const char *title);
/** 0, or ASSAY_ENOMEM with its message. */
int assay__sketch_end(struct assay__sketch *sketch);
/** ASSAY_ENOTFOUND with the reason. */
int assay__sketch_none(struct assay__sketch *sketch, const char *reason);

/** Printed into the arena. */
const char *assay__sketch_printf(struct assay__sketch *sketch, const char *format, ...)
    ASSAY_PRINTF(2, 3);
/** A buffer's text into the arena; the buffer is freed. */
const char *assay__sketch_take(struct assay__sketch *sketch, struct assay__buf *text);
/** A name for a sentence, cut in its middle if it is too long. */
const char *assay__sketch_short(struct assay__sketch *sketch, const char *name);
/** The names of the trial's layers, without the operator at their end if they stay unique:
 * "/layer1.0.conv2" for "/layer1.0.conv2/Conv". */
const char *const *assay__sketch_layer_names(struct assay__sketch *sketch);
/** The label of a trial: its own, else its device. */
const char *assay__figure_label(const struct assay__trial *trial);
/** `count` numbers, all unknown; NULL: out of memory. */
double *assay__figure_values(struct assay__arena *arena, size_t count);

/** The points of a series while they are filled in. */
struct assay__points {
    double *x, *y, *low, *high;
    const char **names, **groups;
    double *areas, *shares;
    int *layers;
    unsigned char *flags;
    size_t count; /* that are filled in */
};
enum {
    ASSAY__WITH_NAMES = 1,
    ASSAY__WITH_GROUPS = 2,
    ASSAY__WITH_LAYERS = 4, /* all -1 */
    ASSAY__WITH_INTERVALS = 8,
    ASSAY__WITH_SHARES = 16, /* and areas */
};
/** Makes room for that many points, all x and y unknown. False: out of memory. */
bool assay__sketch_points(struct assay__sketch *sketch, struct assay__points *points, size_t room,
                          unsigned with);
/** Appends a series with these points; its other members can be set until the next is added. Never
 * NULL. */
struct assay__figure_series *assay__sketch_add(struct assay__sketch *sketch, const char *name,
                                               const struct assay__points *points);
void assay__sketch_mark(struct assay__sketch *sketch, bool vertical, double at, const char *text);

/** The samples of all launches after their warm-up, in ns, sorted; the caller frees. */
double *assay__figure_sorted_samples(const struct assay__trial *trial, size_t *count);
/** The end of the caption of a figure in which the recommended one is marked. */
#define ASSAY__FIGURE_BEST " The hollow mark is the recommended one."
/** The configurations of a tuning, latency against throughput, with a series for those on the
 * front. */
int assay__figure_tune_front(struct assay__sketch *sketch);
/** The flame graph of such a tree, in the arena; NULL: there is none, or no memory. */
const struct assay__figure *assay__flame_figure(const struct assay__flame *flame,
                                                struct assay__arena *arena);
/** The tensors held while each layer of the trial runs. ASSAY_ENOTFOUND: not known. */
int assay__figure_bands(struct assay__sketch *sketch);
/** The name of a layer without its last part if that is the operator: "/layer1.0.conv2/Conv" is
 * "/layer1.0.conv2". */
const char *assay__figure_layer_name(struct assay__sketch *sketch,
                                     const struct assay__layer *layer);
/** ASSAY_ENOTFOUND, with the reason, if no layer has a time. */
int assay__figure_no_layers(struct assay__sketch *sketch);
/** Live activations in order of execution, without title and description; *peak: the largest.
 *  ASSAY_ENOTFOUND: fewer than two are known. */
int assay__figure_live(struct assay__sketch *sketch, const double *live_bytes, size_t count,
                       size_t *peak);
/** The layers by the time they lose (time minus the time at their roof), most first; then those for
 * which it is unknown, by time. The caller frees it. NULL: out of memory. */
size_t *assay__roofline_order(const struct assay__layers *layers, const struct assay__roofline *r);
/** Layers that the roofline in text names by letters: the first that have a position in it … */
#define ASSAY__ROOFLINE_LETTERS 24
/** … which requires that it computes and moves something, in plausible numbers. */
bool assay__roofline_is_placed(const struct assay__roofline_layer *layer);

#endif
