/* previous.h - the profile that was at a path before: whether it may be replaced, and keeping it
 * aside as PATH.previous until the new one has a sample. */
#ifndef ASSAY_PROFILE_PREVIOUS_H
#define ASSAY_PROFILE_PREVIOUS_H

#include <assay/error.h>
#include <stdbool.h>

/** A failed system call on `path` as one line. Returns the code. */
int assay__profile_system_error(struct assay_error *error, const char *path, const char *doing,
                                int number);
/** Whether what is at `path` may be replaced: nothing, an empty file, or a profile that is not in
 * use and not of a newer schema. */
int assay__previous_check(const char *path, struct assay_error *error);
/** Clears `path` for a new profile, which assay__previous_check allowed. *kept: PATH.previous is
 * now there to fall back to; end with assay__previous_restore or assay__previous_drop. On failure
 * everything is where it was. */
int assay__previous_keep(const char *path, bool *kept, struct assay_error *error);
/** PATH.previous goes back to PATH, over what is there. */
int assay__previous_restore(const char *path, struct assay_error *error);
void assay__previous_drop(const char *path);

#endif
