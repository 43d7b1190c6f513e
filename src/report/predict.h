/* predict.h - the pages of `assay predict`: an estimate, and the table of measurements against
 * predictions. JSON of an estimate is the ordinary document of a profile. */
#ifndef ASSAY_REPORT_PREDICT_H
#define ASSAY_REPORT_PREDICT_H

#include "predict/predict.h"
#include "report/walk/text_page.h"

#define ASSAY__PREDICT_NARROW 56 /* columns: below, rows take two lines and titles are short */

/** A heading whose remark stands below it where it would be cut. */
void assay__predict_heading(struct assay__page *page, const char *title, const char *remark);
/** One trial per unit; the fastest is shown in detail. fits: one per trial. */
void assay__predict_text(struct assay__page *page, const struct assay_profile *profile,
                         const struct assay__fit *fits);
/** published: rows A to I and the two ways of leaving out; else measured on one machine. */
void assay__validation_text(struct assay__page *page, const struct assay__validation *validation,
                            bool published);
/** {"assay", "command", "validation": {"rows": [ … ], "in_sample", "leave_chip_out",
 *  "leave_model_out", "held_out", "fit"}} */
void assay__validation_json(struct assay__buf *out, const struct assay__validation *validation,
                            bool published);
/** {"assay", "command", "chips": [{"name", "memory_bandwidth": {"value", "unit", "state",
 *  "source"}, …}]} */
void assay__chips_json(struct assay__buf *out);

#endif
