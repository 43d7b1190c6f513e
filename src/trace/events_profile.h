/* events_profile.h - a sealed event store in a profile, and back: every column, text, track,
 * argument and counter as it was. doc/schema.md has the tables. */
#ifndef ASSAY_TRACE_EVENTS_PROFILE_H
#define ASSAY_TRACE_EVENTS_PROFILE_H

#include "profile/store.h"
#include "trace/events.h"

/** Writes the store into a profile that is open for writing, replacing an existing one. */
int assay__events_save(const struct assay__events *events, struct assay__store *store,
                       struct assay_error *error);
/** The timeline that a profile holds, sealed. ASSAY_ENOTFOUND: it holds none. The file is not
 *  trusted: ASSAY_EFORMAT where a chunk is missing or does not decode. */
int assay__events_load(const char *path, struct assay__events **events, struct assay_error *error);

#endif
