/* report_explain.h - what a timeline says (explain/explain.h): its document, JSON, and the file of
 * results as the profiling guide lays it out. */
#ifndef ASSAY_REPORT_REPORT_EXPLAIN_H
#define ASSAY_REPORT_REPORT_EXPLAIN_H

#include "explain/explain.h"
#include "explain/explain_diff.h"
#include "report/doc/doc.h"

#include <assay/report.h>

/* Tables that CSV shows: those that only a timeline has, and all of them. */
#define ASSAY__EXPLAIN_OWN_TABLES                                                  \
    "kernels|losses|idle|host|functions|scenarios|devices|streams|gaps|transfers|" \
    "synchronisations|ranks"                                                       \
    "|what-if|critical-path|changes"
#define ASSAY__EXPLAIN_TABLES ASSAY__EXPLAIN_OWN_TABLES "|findings|operators|steps|counters"

/** Writers: json. 0 or a negative code. */
int assay__explain_report(const struct assay__explain *explain,
                          const struct assay_report_options *options, struct assay__buf *out,
                          struct assay_error *error);
/** 0 or ASSAY_ENOMEM; the analysis must outlive it. page: with the data of its timeline. */
int assay__explain_document(const struct assay__explain *explain, bool page,
                            struct assay__doc **doc);
void assay__explain_json(const struct assay__explain *explain, struct assay__buf *out);

/** What changed between two timelines. Writers: json. */
int assay__explain_diff_report(const struct assay__explain_diff *diff,
                               const struct assay_report_options *options, struct assay__buf *out,
                               struct assay_error *error);
int assay__explain_diff_document(const struct assay__explain_diff *diff, struct assay__doc **doc);
void assay__explain_diff_json(const struct assay__explain_diff *diff, struct assay__buf *out);

/** The same of timelines that were saved as profiles. */
int assay__explain_profile_report(const char *path, const struct assay_report_options *options,
                                  struct assay__buf *out, struct assay_error *error);
int assay__explain_profiles_report(const char *before, const char *after,
                                   const struct assay_report_options *options,
                                   struct assay__buf *out, struct assay_error *error);

/** PROFILING_RESULTS.md: date, configuration, key findings, opportunities, key numbers with their
 *  targets. today: "2026-01-31", where the trace does not say when it was recorded. */
void assay__explain_results(const struct assay__explain *explain, const char *today,
                            struct assay__buf *out);

/* --- parts of the document -------------------------------------------------------------------- */

/** The timeline (explain_timeline.c); page: with its data, for the page's script. */
void assay__add_explain_timeline(struct assay__doc *doc, const struct assay__explain *explain,
                                 bool page);
/** The tables behind the first screen (explain_detail.c). */
void assay__add_explain_detail(struct assay__doc *doc, const struct assay__explain *explain);

#endif
