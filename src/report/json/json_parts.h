/* json_parts.h - the members of the JSON document (doc/design.md section 10), one file per subject.
 * JSON is a contract: members are added, never renamed. */
#ifndef ASSAY_REPORT_JSON_JSON_PARTS_H
#define ASSAY_REPORT_JSON_JSON_PARTS_H

#include "judge/study.h"
#include "report/doc/doc.h"
#include "report/json/json_members.h"

#include <assay/report.h>

/** "metrics": {name: {…}, …} */
void assay__json_metrics(struct assay__json_writer *w, const struct assay_metrics *set);
/** Members of a trial: "series", "spans", "allocations", "allocations_reason", "counters". */
void assay__json_parts(struct assay__json_writer *w, const struct assay__trial *trial);
/** Member of a trial: "peak". */
void assay__json_peak(struct assay__json_writer *w, const struct assay__trial *trial);
/** Members of a trial of a recurrent cell: "time_steps", "steps", "groups". */
void assay__json_ncp_groups(struct assay__json_writer *w, struct assay__study *study,
                            const struct assay__trial *trial);
/** Member of a trial with a table: "requirements"; with `review` always also "review". */
void assay__json_requirements(struct assay__json_writer *w, struct assay__study *study,
                              const struct assay__trial *trial, bool review);

/** Member of the profile: "ceilings". */
void assay__json_ceilings(struct assay__json_writer *w, const struct assay_profile *profile);
/** Member of the profile: "findings". */
void assay__json_findings(struct assay__json_writer *w, const struct assay_profile *profile);
/** Member of the profile of several trials: "comparison". */
void assay__json_comparison(struct assay__json_writer *w, struct assay__study *study);
/** An object for a row of layers, and "deltas" of each side but the base (for layers, the reason
 * for a missing interval is given elsewhere). */
void assay__json_diff_layer(struct assay__json_writer *w, const struct assay__diff *diff,
                            const struct assay__diff_layer *row);
void assay__json_diff_deltas(struct assay__json_writer *w, const struct assay__diff *diff,
                             const struct assay__diff_delta *deltas, bool of_layers);
/** Member of a swept profile: "sweep". */
void assay__json_sweep(struct assay__json_writer *w, struct assay__study *study);
/** Member of a profile of benchmarks: "bench". */
void assay__json_bench(struct assay__json_writer *w, struct assay__study *study);
/** Member of a tuned profile: "tune". */
void assay__json_tune(struct assay__json_writer *w, struct assay__study *study);

/** The graph of the main trial's network, laid out, for the page's script. False: it has none. */
bool assay__graph_json(struct assay__buf *out, struct assay__study *study);

/** The data in a page for its script and for downloads: "assay-data", "assay-samples",
 * "assay-layers", packed (json_pack.h). 0 or a negative code. */
int assay__attach_data(struct assay__doc *doc, struct assay__study *study,
                       const struct assay_report_options *options, struct assay_error *error);

#endif
