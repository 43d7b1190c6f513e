/* explain_save.h - a timeline as a profile that can be explained and reported again. */
#ifndef ASSAY_EXPLAIN_EXPLAIN_SAVE_H
#define ASSAY_EXPLAIN_EXPLAIN_SAVE_H

#include "profile/profile.h"
#include "trace/events.h"

/** Writes a profile of the command `explain` that holds the sealed store, and what programs
 *  allocated, in place of one that is there. 0 or a negative code. */
int assay__explain_save(const struct assay__events *events,
                        const struct assay__program_allocations *programs, size_t program_count,
                        const char *path, const char *command_line, struct assay_error *error);

#endif
