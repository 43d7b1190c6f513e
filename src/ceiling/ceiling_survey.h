/* ceiling_survey.h - a measurement of all ceilings in progress: the teams, their memory, the time
 * left, the rows so far. Inside ceiling/ only. */
#ifndef ASSAY_CEILING_CEILING_SURVEY_H
#define ASSAY_CEILING_CEILING_SURVEY_H

#include "ceiling/ceiling.h"
#include "ceiling/thread_team.h"

struct assay__ceiling_rows {
    struct assay__ceiling *items; /* free() */
    size_t count, capacity;
};

#define ASSAY__SURVEY_TEAMS 2 /* one core, all cores */

struct assay__survey_team {
    struct assay__thread_team *team;
    const char *name; /* "one-core", "all-cores": the suffix of the rows' names */
    /* memory of each thread, first touched by it; NULL entries before assay__survey_memory */
    unsigned char **memory;
    size_t memory_bytes; /* of each */
};

struct assay__survey {
    struct assay__arena *arena;
    const struct assay__machine *machine;
    const struct assay__ceiling_options *options;
    struct assay_error *error;
    unsigned features;
    size_t l3_count; /* caches of that level the cores share; 0 unknown */
    struct assay__survey_team teams[ASSAY__SURVEY_TEAMS];
    bool late;                     /* something was left out because the time ran out */
    uint64_t deadline_ns, slot_ns; /* the share of time for one kernel on one team */
    struct assay__ceiling_rows rows;
};

/** A row as described by `what` (its name, kind, type, level, pattern and threads), initially
 *  unavailable, after calling `progress`. NULL: out of memory or interrupted (see *code), or with
 *  *code 0 not requested. options may be NULL. */
struct assay__ceiling *assay__ceiling_row(struct assay__ceiling_rows *rows,
                                          const struct assay__ceiling_options *options,
                                          const struct assay__ceiling *what, int *code);
/** "FLOP/s", "OP/s", "B/s", "s". */
const char *assay__ceiling_unit(enum assay__ceiling_kind kind, const char *type);
/** Moves the rows into the set. stopped: rows without a value or a reason were interrupted. 0 or
 *  ASSAY_ENOMEM. */
int assay__ceilings_take(struct assay__arena *arena, struct assay__ceiling_rows *rows, bool stopped,
                         struct assay__ceilings *set);
/** Measures what `earlier` (NULL: nothing) is missing; *out may also be set with
 *  ASSAY_EINTERRUPTED. */
typedef int assay__ceilings_fn(void *context, const struct assay__ceilings *earlier,
                               struct assay__ceilings **out, struct assay_error *error);
/** From the file with that key if it is valid, else measured and saved. Problems with the file are
 *  only noted. */
int assay__ceilings_cached(struct assay__arena *arena, const char *key,
                           const struct assay__ceiling_options *options,
                           assay__ceilings_fn *measure, void *context, struct assay__ceilings **out,
                           struct assay_error *error);
/** Appends to the note of the set: `what`, then `why`. */
void assay__ceilings_note(struct assay__arena *arena, struct assay__ceilings *set, const char *what,
                          const char *why);
/** Fails when $ASSAY_FSROOT replaces the machine. */
int assay__ceilings_possible(struct assay_error *error);

/** True if the time is over; the row then says so. */
bool assay__survey_late(struct assay__survey *survey, struct assay__ceiling *row);
/** Makes the row measured: rate × `per_step` in the row's unit. */
void assay__survey_measured(struct assay__ceiling *row, const struct assay__rate *rate,
                            double per_step);

/** How many time slots each part would use. */
size_t assay__survey_compute_slots(const struct assay__survey *survey);
size_t assay__survey_memory_slots(const struct assay__survey *survey);
/** The parts. 0, ASSAY_ENOMEM or ASSAY_EINTERRUPTED. */
int assay__survey_compute(struct assay__survey *survey);
int assay__survey_levels(struct assay__survey *survey); /* bandwidth and latency */

/* --- working sets ----------------------------------------------------------------------------- */

#define ASSAY__LEVELS 4
/** "l1", "l2", "l3", "dram". */
const char *assay__level_name(size_t level);
/** Bytes per thread, for `threads` threads, that fit in that level but not in the previous one; 0
 *  with a reason (in the arena) if there is no such size. */
size_t assay__level_bytes(struct assay__arena *arena, const struct assay__machine *machine,
                          size_t level, size_t threads, size_t l3_count, const char **reason);
/** Gives every thread of the team `bytes` of zeroed memory near its core (huge pages if the system
 *  has them). */
int assay__survey_memory(struct assay__survey *survey, struct assay__survey_team *team,
                         size_t bytes);
void assay__survey_memory_free(struct assay__survey_team *team);

#endif
