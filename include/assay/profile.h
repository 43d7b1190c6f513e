/* profile.h - a profile: the document of one capture, kept as one SQLite file (*.assay). */
#ifndef ASSAY_PROFILE_H
#define ASSAY_PROFILE_H

#include <assay/error.h>
#include <assay/metric.h>
#include <stddef.h>

struct assay_profile;

/** Reads a profile: untrusted input, opened read-only and defensively. ASSAY_ENEWER for a newer
 *  schema. */
ASSAY_API int assay_profile_open(const char *path, struct assay_profile **profile,
                                 struct assay_error *error);
ASSAY_API void assay_profile_close(struct assay_profile *profile);
ASSAY_API size_t assay_profile_trials(const struct assay_profile *profile);
/** The metrics of a trial; borrowed; NULL when there is no such trial. */
ASSAY_API const struct assay_metrics *assay_profile_metrics(const struct assay_profile *profile,
                                                            size_t trial);

#endif
