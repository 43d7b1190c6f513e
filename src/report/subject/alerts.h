/* alerts.h - what must be said before everything else: a capture that did not end, trials that
 * failed or lost launches. */
#ifndef ASSAY_REPORT_SUBJECT_ALERTS_H
#define ASSAY_REPORT_SUBJECT_ALERTS_H

#include "report/doc/doc.h"

struct assay__alert {
    enum assay__tone
        tone; /* ALERT; WARN where a launch was lost and the trial stands all the same */
};

/** The index-th line; false when there is no such line. Trials that failed for the same reason are
 *  one line. */
bool assay__alert_at(const struct assay_profile *profile, size_t index, struct assay__alert *alert,
                     struct assay__buf *text);
/** The trial lost a launch and stands all the same: what its command concludes rests on the
 *  launches that are left. */
bool assay__trial_stands(const struct assay_profile *profile, const struct assay__trial *trial);

#endif
