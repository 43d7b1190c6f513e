/* history.h - what was shown, kept in bounded memory at three resolutions: 1 s, 10 s and 1 min,
 * each a ring of min, mean and max. A reading goes into the bucket of its time in all three; one
 * that was not available leaves no trace, and a bucket without any is NaN. Values are stored as
 * float: 7 digits are enough to draw. */
#ifndef ASSAY_MONITOR_HISTORY_H
#define ASSAY_MONITOR_HISTORY_H

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__HISTORY_LEVELS 3
/** Span of a bucket of each level. */
extern const uint64_t assay__history_span_ns[ASSAY__HISTORY_LEVELS];

struct assay__bucket {
    float least, mean, greatest; /* NaN: no value then */
};

struct assay__history;

/** For that many rows, in at most budget_bytes (which shortens all levels alike): 10 minutes, 1
 * hour and 1 day if they fit. Times before origin_ns are ignored. */
int assay__history_new(size_t rows, size_t budget_bytes, uint64_t origin_ns,
                       struct assay__history **history, struct assay_error *error);
void assay__history_free(struct assay__history *history); /* NULL legal */
/** One value per row; NaN: none. Times do not run backwards; one that does is ignored. */
void assay__history_put(struct assay__history *history, uint64_t time_ns, const double *values);
/** Copies the newest buckets of a row, oldest first, the unfinished one included; at most `most`.
 * *first_ns: when the first of them begins. Returns how many. */
size_t assay__history_read(const struct assay__history *history, size_t level, size_t row,
                           struct assay__bucket *out, size_t most, uint64_t *first_ns);
size_t assay__history_capacity(const struct assay__history *history, size_t level);
size_t assay__history_bytes(const struct assay__history *history);

#endif
