/* store.h - the SQLite file behind a profile. Written as things are measured: WAL while capturing,
 * one plain file once finished; after kill -9 the rows written so far exist and `complete` is 0.
 * schema.sql is the one schema. */
#ifndef ASSAY_PROFILE_STORE_H
#define ASSAY_PROFILE_STORE_H

#include "profile/profile.h"

struct assay__store;

/** Creates (replacing an existing profile, refusing to replace a file that is not one, one in use
 * and one of a newer schema). The old profile is restored if this one is closed without a single
 * sample. A full disk or a folder without permission is reported in one clear line. */
int assay__store_create(const char *path, struct assay__store **store, struct assay_error *error);
/** Each writes the document as it is now; calling again updates. Between calls everything is
 *  committed. */
int assay__store_put_profile(struct assay__store *store, const struct assay_profile *profile,
                             struct assay_error *error); /* header, environment, model, ceilings */
/** Target, workload, state, metrics, layers, stability, series, spans, allocations, counters; not
 * the launches. Series and spans are known when a run ends and written then: a killed capture loses
 * them, but keeps its samples. */
int assay__store_put_trial(struct assay__store *store, const struct assay__trial *trial,
                           struct assay_error *error);
int assay__store_put_launch(
    struct assay__store *store, int trial, const struct assay__launch *launch,
    struct assay_error *error); /* state, reason, metrics; not the samples */
/** Appends samples of one stream, in time order, as column chunks. */
int assay__store_add_samples(struct assay__store *store, int trial, int launch, int stream,
                             const double *samples_ns, size_t count, struct assay_error *error);
int assay__store_put_findings(struct assay__store *store, const struct assay_profile *profile,
                              struct assay_error *error);
/** One transaction of the caller's, for what is kept in the profile by a layer above. What it
 *  writes counts as measured: the profile that was there before does not come back. */
struct assay__writer;
int assay__store_write(struct assay__store *store,
                       void (*write)(struct assay__writer *writer, const void *data),
                       const void *data, struct assay_error *error);
/** Marks complete (or interrupted), checkpoints to a single file, closes. NULL is allowed. */
int assay__store_finish(struct assay__store *store, bool complete, bool interrupted,
                        struct assay_error *error);
/** Closes without marking complete. */
void assay__store_abandon(struct assay__store *store);

/** `assay query`: runs one read-only statement on an untrusted profile with the column chunks shown
 *  as tables (samples(trial, launch, stream, seq, ns), layer_times(trial, launch, layer, time_ns),
 *  series(trial, launch, name, seq, time_ns, value), events(event, start_ns, …)), or, if it is
 * NULL, lists the tables and their columns; rows go to the callback as text (NULL for SQL null).
 * Stops when it returns non-zero. `types` holds SQLite's numbers: 1 integer, 2 real, 3 text, 4 blob
 * (shown as x'0102...' and cut at 32 bytes), 5 null. A negative number from the callback is
 * returned. *interrupt (may be NULL) stops a long query: ASSAY_EINTERRUPTED. */
typedef int assay__query_row(void *context, int columns, const char *const *names,
                             const char *const *values, const int *types);
/** Instead of SQL: one row per table, with its first columns. */
extern const char assay__query_overview[];
int assay__query(const char *path, const char *sql, assay__query_row *row, void *context,
                 const volatile int *interrupt, struct assay_error *error);

#endif
