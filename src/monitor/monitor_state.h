/* monitor_state.h - what the files of the monitor share: monitor_open.c (which rows there are),
 * monitor.c (life cycle, ticks, looking). Only for use inside monitor/. */
#ifndef ASSAY_MONITOR_MONITOR_STATE_H
#define ASSAY_MONITOR_MONITOR_STATE_H

#include "monitor/monitor.h"
#include "monitor/sensor.h"

#include <pthread.h>

/** A channel that is read: sensor i is the sampler's channel i. */
struct assay__monitored {
    struct assay__row about; /* before it was joined with others of its name */
    const struct assay__probe_ops *ops;
    struct assay__sensor sensor;
};

/** A row's values so far. */
struct assay__row_total {
    double least, greatest, sum;
    uint64_t count;
};

struct assay__monitor {
    struct assay__arena *arena;
    struct assay__sampler *sampler;
    struct assay__monitored *watched;
    size_t watched_count, watched_capacity;
    struct assay__row *rows; /* in the order shown */
    size_t row_count;
    struct assay__given_rows given; /* the first rows */
    const char **notes;             /* of the given rows */
    uint64_t interval_ns;
    bool real_time;
    uint64_t (*suspended_ns)(void); /* NULL: it never is */
    bool open_failed;               /* out of memory while the channels were chosen */
    struct assay__tree_reader *tree_reader;

    /* protects everything below and the sensors */
    pthread_mutex_t lock;
    pthread_cond_t ticked;
    double *values; /* of the rows */
    struct assay__row_total *totals;
    struct assay__history *history;
    const struct assay__tree *tree; /* NULL: none was read */
    struct assay__marks *marks;
    struct assay__durations *interval, *whole; /* NULL: no marks */
    struct assay__marks_seen seen, seen_all;
    uint64_t began_ns, last_ns, ticks;
    double interval_s;
    uint64_t was_suspended_ns; /* at the last sweep */
    uint64_t cpu_ns;           /* of this process at the last tick */
    double share;
};

/** Adds the probes and makes the rows. */
int assay__monitor_open_rows(struct assay__monitor *monitor,
                             const struct assay__probe_ops *const *probes,
                             struct assay_error *error);
/** The sensor that gives the row its value now: the first that has one, else the first. NULL: none.
 */
const struct assay__monitored *assay__monitor_chosen(const struct assay__monitor *monitor,
                                                     const struct assay__row *row);

#endif
