/* rows.h - reading rows of an untrusted file, by column name. A missing table is an empty one, a
 * missing, NULL or wrongly typed column is unknown, and the first failure sticks: the loader's code
 * is checked once at the end. */
#ifndef ASSAY_PROFILE_ROWS_H
#define ASSAY_PROFILE_ROWS_H

#include "profile/profile.h"
#include "profile/sql.h"

#define ASSAY__TEXT_BYTES 65536 /* longer texts are cut when loaded */

struct assay__loader {
    struct assay__db *db;
    struct assay_profile *profile;
    const char *path;
    uint64_t used_bytes; /* rows and texts so far: never more than the file holds, unless it is
                            crafted */
    struct assay_error *error;
    int code;
};

struct assay__rows {
    struct assay__loader *loader;
    sqlite3_stmt *statement;
};

/** Starts `SELECT * …` with up to three keys: `types` holds i (int64_t) and s (const char *). */
struct assay__rows assay__rows_start(struct assay__loader *loader, const char *sql,
                                     const char *types, ...);
/** The next row; false at the end or on failure, and the statement is then gone. */
bool assay__rows_next(struct assay__rows *rows);
/** Ends early. */
void assay__rows_stop(struct assay__rows *rows);

/** The column's text in the document's arena, "" when unknown; valid UTF-8 is not promised. */
const char *assay__rows_text(struct assay__rows *rows, const char *column);
/** NaN when unknown or not finite. */
double assay__rows_real(struct assay__rows *rows, const char *column);
/** `unknown` when it is not a whole number within low … high. */
int64_t assay__rows_int(struct assay__rows *rows, const char *column, int64_t low, int64_t high,
                        int64_t unknown);
/** A state's name; one we do not know is unavailable: it must not pass for a measurement. */
enum assay_state assay__rows_state(struct assay__rows *rows, const char *column);
/** The index of a column or -1. */
int assay__rows_column(struct assay__rows *rows, const char *column);

/** Room for one more behind `count` elements in the document's arena; NULL (and the failure noted)
 * when out of memory. */
void *assay__rows_grow(struct assay__loader *loader, void *items, size_t count, size_t size);
/** Counts bytes that were read against the size of the file; false, and the failure noted, when it
 *  cannot hold them. */
bool assay__rows_charge(struct assay__loader *loader, uint64_t bytes);
/** Notes a failure unless there is one; returns false. */
bool assay__load_failed(struct assay__loader *loader, int code, const char *why);

/** The samples of a launch (load_samples.c). Damaged chunks end them; *damage then says so (arena),
 * else it is NULL. */
void assay__load_samples(struct assay__loader *loader, int trial, struct assay__launch *launch,
                         const char **damage);

/** A trial's series and spans (load_series.c), its allocations and class counters, and the ceilings
 *  of the profile (load_parts.c). What is damaged of them is said in the trial's notes. */
void assay__load_series(struct assay__loader *loader, struct assay__trial *trial);
void assay__load_spans(struct assay__loader *loader, struct assay__trial *trial);
void assay__load_allocations(struct assay__loader *loader, struct assay__trial *trial);
void assay__load_class_counters(struct assay__loader *loader, struct assay__trial *trial);
/** The times of its layers by launch and what is alive at the peak (load_layers.c). */
void assay__load_layer_times(struct assay__loader *loader, struct assay__trial *trial);
void assay__load_peak(struct assay__loader *loader, struct assay__trial *trial);
void assay__load_ceilings(struct assay__loader *loader);

/** True, and the rows ended, when a list is as long as it may be; said in the trial's notes (may be
 *  NULL). */
bool assay__load_full(struct assay__rows *rows, struct assay__trial *trial, size_t count,
                      size_t limit, const char *what);

/** Says in the notes of every trial what a sound profile would hold and this one does not; a
 *  failure when there is no trial to say it of (load_damage.c). For a document that is loaded
 *  otherwise. */
void assay__load_damage(struct assay__loader *loader);
/** Adds a note to a trial. */
void assay__load_note(struct assay__loader *loader, struct assay__trial *trial, const char *note);

#endif
