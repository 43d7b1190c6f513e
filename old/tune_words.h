/* tune_words.h - the configurations of a tuning as CSV and Markdown. Nothing when the profile is
 * none of a tuning. */
#ifndef ASSAY_REPORT_TUNE_WORDS_H
#define ASSAY_REPORT_TUNE_WORDS_H

#include "base/buf.h"
#include "profile/profile.h"

/** A row of CSV per configuration that was tried. */
void assay__csv_tune(const struct assay_profile *profile, struct assay__buf *out);
/** A section: the table, the best and why, what each setting contributes, and the best as code. */
void assay__markdown_tune(struct assay__buf *out, const struct assay_profile *profile);

#endif
