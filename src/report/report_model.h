/* report_model.h - reports about a model that do not run it: inspect, the difference of two models,
 * check, predict. Each is a document (report/subject) in the views that all documents have, or one
 * of the writers below, which are contracts with programs.
 *
 * options->format names the view or the writer; NULL: text. */
#ifndef ASSAY_REPORT_REPORT_MODEL_H
#define ASSAY_REPORT_REPORT_MODEL_H

#include "check/check.h"
#include "inspect/inspect_diff.h"
#include "judge/study.h"
#include "predict/predict.h"
#include "report/doc/doc.h"

#include <assay/report.h>

/** Writers: json, dot. */
int assay__inspect_report(const struct assay__inspect *inspect,
                          const struct assay_report_options *options, struct assay__buf *out,
                          struct assay_error *error);
/** Writers: json. */
int assay__inspect_diff_report(const struct assay__inspect *a, const struct assay__inspect *b,
                               const struct assay_report_options *options, struct assay__buf *out,
                               struct assay_error *error);
/** Writers: json, junit. */
int assay__check_report(const struct assay__check *check,
                        const struct assay_report_options *options, struct assay__buf *out,
                        struct assay_error *error);
/** One trial per unit, one fit per trial; layers: people also see the operators. Writers: json, the
 * ordinary one of a profile. */
int assay__prediction_report(const struct assay_profile *profile, const struct assay__fit *fits,
                             bool layers, const struct assay_report_options *options,
                             struct assay__buf *out, struct assay_error *error);
/** The chips that predict knows. Writers: json. */
int assay__chips_report(const struct assay_report_options *options, struct assay__buf *out,
                        struct assay_error *error);
/** published: published measurements and both leave-one-out results; else those of one machine.
 * Writers: json. */
int assay__validation_report(const struct assay__validation *validation, bool published,
                             const struct assay_report_options *options, struct assay__buf *out,
                             struct assay_error *error);

/* --- documents: 0 or ASSAY_ENOMEM; their subjects must outlive them --------------------------- */

int assay__inspect_document(const struct assay__inspect *inspect, enum assay__inspect_sort sort,
                            const char *(*hint)(const char *), struct assay__doc **doc);
int assay__inspect_diff_document(const struct assay__inspect_diff *diff, struct assay__doc **doc);
int assay__check_document(const struct assay__check *check, const char *(*hint)(const char *),
                          struct assay__doc **doc);
int assay__prediction_document(struct assay__study *study, const struct assay__fit *fits,
                               const char *(*hint)(const char *), bool layers,
                               struct assay__doc **doc);
int assay__chips_document(struct assay__doc **doc);
int assay__validation_document(const struct assay__validation *validation, bool published,
                               struct assay__doc **doc);

/* --- writers ---------------------------------------------------------------------------------- */

void assay__inspect_json(const struct assay__inspect *inspect, struct assay__buf *out);
void assay__inspect_dot(const struct assay__inspect *inspect, struct assay__buf *out);
void assay__inspect_diff_json(const struct assay__inspect_diff *diff, struct assay__buf *out);
void assay__check_json(const struct assay__check *check, struct assay__buf *out);
void assay__check_junit(const struct assay__check *check, bool strict, struct assay__buf *out);
/** {"assay", "command", "chips": [{"name", "memory_bandwidth": {"value", "unit", "state",
 *  "source"}, …}]} */
void assay__chips_json(struct assay__buf *out);
/** {"assay", "command", "validation": {"rows": [ … ], "in_sample", "leave_chip_out",
 *  "leave_model_out", "held_out", "fit"}} */
void assay__validation_json(const struct assay__validation *validation, bool published,
                            struct assay__buf *out);

#endif
