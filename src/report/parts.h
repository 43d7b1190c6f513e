/* parts.h - the data formats of what was read over time and around a run: series, spans,
 * allocations, counters of layer classes and ceilings. One file per format. */
#ifndef ASSAY_REPORT_PARTS_H
#define ASSAY_REPORT_PARTS_H

#include "base/json.h"
#include "report/render.h"

/** Members of a trial: "series", "spans", "allocations", "allocations_reason", "counters". */
void assay__json_parts(struct assay__json_writer *w, const struct assay__trial *trial);
/** Member of a trial: "peak", the activations that are alive when most are (peak_data.c). */
void assay__json_peak(struct assay__json_writer *w, const struct assay__trial *trial);
/** Member of the profile: "ceilings". */
void assay__json_ceilings(struct assay__json_writer *w, const struct assay_profile *profile);
/** Member of the profile: "findings". */
void assay__json_findings(struct assay__json_writer *w, const struct assay_profile *profile);

/** Member of the profile of several trials: "comparison". */
void assay__json_comparison(struct assay__json_writer *w, const struct assay_profile *profile);
/** Member of a swept profile: "sweep". */
void assay__json_sweep(struct assay__json_writer *w, const struct assay_profile *profile);
/** Member of a tuned profile: "tune". */
void assay__json_tune(struct assay__json_writer *w, const struct assay_profile *profile);

/** Rows of a comparison, and its section before the trials (nothing of another command). */
void assay__csv_comparison(const struct assay_profile *profile, struct assay__buf *out);
extern const char assay__csv_comparison_header[];
void assay__markdown_comparison(struct assay__buf *out, const struct assay_profile *profile);

/** Rows of a trial. */
void assay__csv_series(const struct assay_profile *profile, const struct assay__trial *trial,
                       struct assay__buf *out);
void assay__csv_spans(const struct assay_profile *profile, const struct assay__trial *trial,
                      struct assay__buf *out);
void assay__csv_allocations(const struct assay_profile *profile, const struct assay__trial *trial,
                            struct assay__buf *out);
void assay__csv_counters(const struct assay_profile *profile, const struct assay__trial *trial,
                         struct assay__buf *out);
void assay__csv_peak(const struct assay_profile *profile, const struct assay__trial *trial,
                     struct assay__buf *out);
void assay__csv_layer_times(const struct assay_profile *profile, const struct assay__trial *trial,
                            struct assay__buf *out);
/** Rows of the profile. */
void assay__csv_ceilings(const struct assay_profile *profile, struct assay__buf *out);

/** Sections of a trial, and of the profile; nothing when there is nothing. `top` call sites are
 *  shown; -1: all. */
void assay__markdown_parts(struct assay__buf *out, const struct assay__trial *trial, int top);
void assay__markdown_ceilings(struct assay__buf *out, const struct assay_profile *profile);

#endif
