/* monitor.h - the machine as it runs: one sampler over the probes, each channel judged (sensor.h),
 * shown under one name (shown_rows.h), kept at three resolutions (history.h). Readers look at it
 * from any thread; what they get is a copy (view.h).
 *
 * A tick: the sampler's thread has read what is due; sensors take their readings, rows their
 * values; marks are collected, processes read, and whoever waits is woken. Memory is allocated when
 * the monitor is made; a tick allocates nothing (processes that come may make their list grow). */
#ifndef ASSAY_MONITOR_MONITOR_H
#define ASSAY_MONITOR_MONITOR_H

#include "monitor/history.h"
#include "monitor/mark_rings.h"
#include "monitor/view.h"
#include "probe/sampler/sampler.h"

#define ASSAY__MONITOR_LEAST_S 0.1
#define ASSAY__MONITOR_MOST_S 10.0
#define ASSAY__MONITOR_DEFAULT_S 1.0

struct assay__monitor;

/** Rows that do not come from sensors, in the section MODEL. At each tick `give` gets as many
 * values (NaN) and notes ("") as there are rows, to fill in: on the sampler's thread, after all
 * other rows have their values. Notes stay valid until the next call. */
struct assay__given_rows {
    const struct assay__row *rows;
    size_t count;
    void (*give)(void *context, const struct assay__monitor *monitor, double *values,
                 const char **notes);
    void *context;
};

struct assay__monitor_options {
    double interval_s; /* 0: 1 s; 0.1 to 10 */
    pid_t root;        /* watch this process and its children; 0: none */
    bool marks;        /* threads will report durations */
    struct assay__given_rows given;
    size_t history_bytes; /* at most; 0: 4 MiB */
    /* for tests: replace the clock and the probes (NULL-terminated) */
    const struct assay__sampler_clock *clock;
    const struct assay__probe_ops *const *probes;
    uint64_t (*suspended_ns)(void); /* the platform's unless the clock is replaced */
};

/** Opens everything that can be read. options NULL: defaults. */
int assay__monitor_new(const struct assay__monitor_options *options,
                       struct assay__monitor **monitor, struct assay_error *error);
void assay__monitor_free(struct assay__monitor *monitor); /* NULL legal */
/** Starts the thread. */
int assay__monitor_begin(struct assay__monitor *monitor, struct assay_error *error);
/** Ends it; what was seen can still be looked at. Harmless when it does not run. */
void assay__monitor_end(struct assay__monitor *monitor);
/** Reads everything now, on the calling thread, while the thread does not run: for tests. */
void assay__monitor_tick(struct assay__monitor *monitor);

/** Waits until there were more ticks than `seen`, at most timeout_ns. The number of ticks. */
uint64_t assay__monitor_wait(struct assay__monitor *monitor, uint64_t seen, uint64_t timeout_ns);
/** Fills the view, whose memory is used again from call to call. 0 or ASSAY_ENOMEM. */
int assay__monitor_look(struct assay__monitor *monitor, struct assay__view *view);
/** Copies buckets of a row of the view, by its index there (history.h). */
size_t assay__monitor_history(struct assay__monitor *monitor, size_t level, size_t row,
                              struct assay__bucket *out, size_t most, uint64_t *first_ns);
/** Only within `give`: the value of another row now; NaN, with the reason. */
double assay__monitor_value(const struct assay__monitor *monitor, const char *name,
                            const char **note);
/** NULL unless options.marks. */
struct assay__marks *assay__monitor_marks(struct assay__monitor *monitor);
/** What the marks reported, of the last interval or of all. Only with options.marks. */
void assay__monitor_durations(struct assay__monitor *monitor, bool whole,
                              struct assay__durations *durations, struct assay__marks_seen *seen);

#endif
