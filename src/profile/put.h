/* put.h - writing parts of a document as rows; the caller holds a transaction. All return SQLite's
 * code. */
#ifndef ASSAY_PROFILE_PUT_H
#define ASSAY_PROFILE_PUT_H

#include "profile/profile.h"
#include "profile/sql.h"

int assay__put_profile(sqlite3 *db, const struct assay_profile *profile);
int assay__put_trial(sqlite3 *db, const struct assay__trial *trial);
int assay__put_launch(sqlite3 *db, int trial, const struct assay__launch *launch);
/** Parts of a trial (put_series.c, put_parts.c); assay__put_trial writes them too. */
int assay__put_series(sqlite3 *db, const struct assay__trial *trial);
int assay__put_spans(sqlite3 *db, const struct assay__trial *trial);
int assay__put_allocations(sqlite3 *db, const struct assay__trial *trial);
int assay__put_class_counters(sqlite3 *db, const struct assay__trial *trial);
/** The layers with their times by launch, and what is alive at the peak (put_layers.c). */
int assay__put_layers(sqlite3 *db, const struct assay__trial *trial);
int assay__put_peak(sqlite3 *db, const struct assay__trial *trial);
/** A part of the profile; assay__put_profile writes it too. */
int assay__put_ceilings(sqlite3 *db, const struct assay_profile *profile);
int assay__put_findings(sqlite3 *db, const struct assay_profile *profile);

#endif
