/* answer.h - one sentence: where the time of one inference goes. */
#ifndef ASSAY_REPORT_SUBJECT_ANSWER_H
#define ASSAY_REPORT_SUBJECT_ANSWER_H

#include "base/buf.h"
#include "profile/profile.h"

/** Unescaped. */
void assay__answer(struct assay__buf *out, const struct assay__trial *trial);

#endif
