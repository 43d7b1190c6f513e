/* facts.h - the typed facts of a profile: what it is a profile of, what each trial is there for.
 * They are filled where they are known and read everywhere; the texts that people and JSON see are
 * written from them and never read back. Profiles of schema 1 hold some of them as text only:
 * schema1.c reads those. */
#ifndef ASSAY_PROFILE_FACTS_H
#define ASSAY_PROFILE_FACTS_H

#include <stdbool.h>

/* --- the kind of a profile -------------------------------------------------------------------- */

enum assay__profile_kind {
    ASSAY__PROFILE_UNKNOWN,
    ASSAY__PROFILE_RUN,
    ASSAY__PROFILE_COMPARE,
    ASSAY__PROFILE_SWEEP,
    ASSAY__PROFILE_TUNE,
    ASSAY__PROFILE_POWER,
    ASSAY__PROFILE_MEMORY,
    ASSAY__PROFILE_COUNTERS,
    ASSAY__PROFILE_ADVISE,
    ASSAY__PROFILE_PREDICT,
    ASSAY__PROFILE_KINDS
};

/** What a kind implies. */
struct assay__kind_info {
    const char *command; /* that makes such profiles; "" unknown */
    bool joint;          /* its trials are judged together; none has a report of its own */
    bool alone;          /* its report is about one subject only */
};
const struct assay__kind_info *assay__kind_info(enum assay__profile_kind kind);
/** The kind that a command makes; UNKNOWN for any other text, and for NULL. */
enum assay__profile_kind assay__kind_of_command(const char *command);

#endif
