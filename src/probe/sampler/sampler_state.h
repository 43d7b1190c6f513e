/* sampler_state.h - what the files of the sampler share: sampler.c (life cycle), sampler_read.c
 * (reading, threads), sampler_track.c (one channel's readings), sampler_window.c (queries). Only
 * for use inside probe/. */
#ifndef ASSAY_PROBE_SAMPLER_SAMPLER_STATE_H
#define ASSAY_PROBE_SAMPLER_SAMPLER_STATE_H

#include "probe/sampler/sampler.h"

#include <pthread.h>

/* how many of the latest gaps between changes are kept */
#define SAMPLER_GAPS 64

struct assay__track {
    const struct assay__channel *channel;
    size_t probe;         /* index */
    size_t channel_index; /* within its probe */
    double *values;       /* the column; NULL: never available */
    bool available;
    char reason[192];
    uint64_t readings, failures;
    double first, last, growth; /* COUNTER */
    bool have_last;
    double latest; /* as read; NaN: no value */
    uint64_t latest_ns;
    double seen; /* the last value, for changes */
    bool have_seen, have_change;
    uint64_t change_ns, changes;
    double gaps_s[SAMPLER_GAPS];
    size_t gap_count; /* total count; the ring has the last SAMPLER_GAPS */
    double calibrated_s;
    bool calibrated_bound;
};

struct assay__sampled_probe {
    const struct assay__probe_ops *ops;
    struct assay__arena *arena; /* the probe's own */
    char open_reason[128];      /* the probe is NULL: opening it was abandoned */
    struct assay__probe *probe;
    struct assay__probe_reading *readings;
    uint64_t *times_ns;
    size_t count;           /* samples in the columns */
    uint64_t stride, sweep; /* every stride-th sweep is kept */
    uint64_t reads, total_ns, longest_ns;
    /* processor time of a read, the mean of the last ones, without the cold first one */
    double cpu_ns;
    uint64_t last_ns;          /* time on the wall of the last read */
    uint64_t costs;            /* reads in it */
    uint64_t interval_ns;      /* the sampler's interval, or longer if a read is expensive */
    uint64_t due_ns, begin_ns; /* next read of an expensive probe; last read */
    uint64_t calibration_reads;
    bool blocked;
    size_t first_track, track_count;
};

struct assay__sampler {
    struct assay__sampler_clock clock;
    uint64_t interval_ns, timeout_ns;
    double most_share; /* share of a core for one probe; 0: no limit */
    void (*swept)(void *context, uint64_t now_ns);
    void *swept_context;
    bool real_time; /* the system's clock is used: sleeping can be interrupted through the pipe */
    int wake[2];    /* read, write end; -1: none */
    size_t capacity;
    struct assay__sampled_probe *probes;
    size_t probe_count, probe_capacity;
    struct assay__track *tracks;
    size_t track_count, track_capacity;
    bool prepared; /* columns allocated: no more probes */
    size_t memory_bytes;

    /* protects everything below, and columns and tracks while the thread runs */
    pthread_mutex_t lock;
    pthread_cond_t stops; /* for the watchdog */
    unsigned refs;        /* the owner and every reader thread that still lives */
    /* that of the reader that may write; an abandoned reader has an older one */
    unsigned generation;
    bool started, stopping, reader_done, have_reader, have_watchdog;
    pthread_t reader, watchdog;
    size_t inside; /* the probe being read; SIZE_MAX: none */
    uint64_t inside_since_ns;
    bool nudged;                                    /* read everything now */
    uint64_t calibrate_each_ns, calibrate_until_ns; /* each 0: it samples */
    uint64_t lost_ns;                               /* in reads that were given up */
    uint64_t ticks, late, cpu_ns, start_ns, stop_ns;
    unsigned thinned;
};

/** What time it is for the sampler. */
static inline uint64_t assay__sampler_now(const struct assay__sampler *sampler)
{
    return sampler->clock.now_ns(sampler->clock.context);
}

/** Releases one reference; the last one frees. */
void assay__sampler_release(struct assay__sampler *sampler);
/** The columns, once, before the first reading. */
int assay__sampler_prepare(struct assay__sampler *sampler);

/** Processes a new reading of the channel at time_ns; returns the value to store (NaN: none).
 * Detects wraps, faults, changes. */
double assay__track_take(struct assay__track *track, double value, const char *reason,
                         uint64_t time_ns);
/** The measured update period in seconds; NaN: unknown. */
double assay__track_period(const struct assay__track *track, double interval_s, bool *is_bound);
/** Stores the period from the gaps as the calibrated one and discards the readings. */
void assay__track_calibrated(struct assay__track *track, double interval_s);

#endif
