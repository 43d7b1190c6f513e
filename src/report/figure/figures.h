/* figures.h - between the files that make the figures of a profile: figures.c (the table) and
 * figures_<subject>.c. */
#ifndef ASSAY_REPORT_FIGURE_FIGURES_H
#define ASSAY_REPORT_FIGURE_FIGURES_H

#include "report/doc/datum.h"
#include "report/figure/figure.h"

typedef int assay__figure_fn(struct assay__study *study, const struct assay__trial *trial,
                             size_t part, struct assay__arena *arena, struct assay__figure *figure,
                             struct assay_error *error);

assay__figure_fn assay__figure_layers, assay__figure_treemap, assay__figure_roofline,
    assay__figure_latency, assay__figure_samples, assay__figure_memory, assay__figure_power,
    assay__figure_compare, assay__figure_devices, assay__figure_sweep, assay__figure_pareto;

/** What a figure shows and how, before its series: all strings "", everything else none. */
struct assay__figure assay__figure_begin(enum assay__figure_kind kind, const char *name);
/** Title of a figure of one trial: with the trial's label where the profile has several. */
const char *assay__figure_title(struct assay__arena *arena, const struct assay_profile *profile,
                                const struct assay__trial *trial, const char *title);
/** A value with its unit, in the arena; "—" unknown. */
const char *assay__figure_scaled(struct assay__arena *arena, double value, const char *unit);
/** A name for a sentence, cut in its middle where it is longer than anybody reads. */
const char *assay__figure_short(struct assay__arena *arena, const char *name);
/** `count` numbers, all unknown; NULL: out of memory. */
double *assay__figure_values(struct assay__arena *arena, size_t count);
/** ASSAY_ENOMEM with its sentence. */
int assay__figure_no_memory(struct assay_error *error);
/** The label of a trial: its own, else its device. */
const char *assay__figure_label(const struct assay__trial *trial);

/** The end of the caption of a figure with the one that is advised marked. */
#define ASSAY__FIGURE_BEST " The hollow mark is what is recommended."
/** The configurations of a tuning, latency against throughput, those on the front apart;
 *  ASSAY_ENOTFOUND with its reason: fewer than two have both. */
int assay__figure_tune_front(struct assay__study *study, struct assay__arena *arena,
                             struct assay__figure *figure, struct assay_error *error);
/** Live activations in order of execution, without title and description; *peak: the largest.
 *  live_bytes is borrowed. ASSAY_ENOTFOUND: fewer than two are known. */
int assay__figure_live(struct assay__arena *arena, const double *live_bytes, size_t count,
                       struct assay__figure *figure, size_t *peak, struct assay_error *error);
/** Layers that the roofline shows at most, the slowest that have a place in it … */
#define ASSAY__ROOFLINE_POINTS 24
/** … which is where it computes and moves something, in numbers that a machine could have. */
bool assay__roofline_is_placed(const struct assay__roofline_layer *layer);

#endif
