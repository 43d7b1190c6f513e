/* sampler.h - reads a chosen set of channels at an interval, on its own thread, into columns that
 * were allocated beforehand; then answers queries about windows of time: average, peak, energy. No
 * allocation and no output while it samples.
 *
 * Counters are stored as growth since their first reading. A counter with a range that falls by
 * more than half of it has wrapped; any other fall, and a value above the range, is a fault: the
 * channel is unavailable from then on and says why. A reading that fails leaves a gap (NaN) and is
 * tried again at the next tick.
 *
 * Constant zero. Power, energy, temperature and clock channels that read nothing but 0 (or, for a
 * counter, do not change) in a window under load are unavailable for that window, never 0: a sensor
 * that is not connected behaves like that. The caller says what counts as load. Shares, states,
 * counts, fans, memory and times may truly be 0. An energy counter that does not change has no
 * value without load either: the window is too short, or nothing is connected.
 *
 * Standing still. An energy counter that changed, and then repeats its value for 10 update periods
 * (at least 3 readings and 0.25 s), has stopped: a window that overlaps that period has no value.
 * Processors always draw power.
 *
 * Update period. Sources change at their own pace, often slower than they are read: the time
 * between changes is measured. With g the gaps between changes, the period is the mean of those not
 * above 1.5 · median(g) + interval (longer ones are periods in which the value happened to stay the
 * same). A period under two intervals is only an upper bound: the source is as fast as it was read,
 * or faster. Fewer than three gaps: unknown. A window of power, energy, temperature, clock, share
 * or fan that is shorter than 10 periods is marked; for power and energy also if the period is
 * unknown.
 *
 * The energy of a window comes from a counter if the rail has one (growth between the ends, linear
 * between readings), else from sampled power (trapezoids). Full columns are thinned: every second
 * sample is dropped, and from then on only every second tick is kept; faults, gaps and update
 * periods still see every reading.
 *
 * Cost. Reading some sources takes milliseconds of processor time. With c that of a probe's read
 * (mean of the last ones, known after four) and a limit s for its share of a core, the probe is
 * read every max(interval, c / s), at ticks: the others stay at the interval and are read before
 * it. A read of no more than 50 µs is never delayed: a short interval is honoured if it is cheap.
 * assay__sampler_nudge reads everything immediately, so that there are readings at the edges of
 * what is measured.
 *
 * If a read blocks longer than the time limit, its thread is abandoned with that probe, whose
 * channels become unavailable; a new thread continues with the others. Memory that the lost thread
 * may access is freed when it returns. */
#ifndef ASSAY_PROBE_SAMPLER_SAMPLER_H
#define ASSAY_PROBE_SAMPLER_SAMPLER_H

#include "probe/probe.h"

struct assay__sampler;

/** The clock, replaceable so that tests can control the time. */
struct assay__sampler_clock {
    uint64_t (*now_ns)(void *context);
    uint64_t (*cpu_ns)(void *context); /* processor time of the calling thread */
    void (*sleep_ns)(void *context, uint64_t duration_ns);
    void *context;
};

struct assay__sampler_options {
    size_t size;                              /* sizeof this */
    uint64_t interval_ns;                     /* 0: 100 ms; at least 100 µs */
    uint64_t timeout_ns;                      /* a read longer than this is abandoned; 0: 1 s */
    size_t capacity;                          /* samples kept per channel; 0: 4,096; at least 16 */
    const struct assay__sampler_clock *clock; /* NULL: the system's */
    /* share of one core that reading one probe may take (see Cost); 0: no limit */
    double most_share;
    /* called after each sweep, on the thread that made it, with no lock held: what looks at the
     * latest readings instead of the columns. NULL: none */
    void (*swept)(void *context, uint64_t now_ns);
    void *swept_context;
};

/** options NULL: defaults. */
int assay__sampler_new(const struct assay__sampler_options *options,
                       struct assay__sampler **sampler, struct assay_error *error);
/** Stops it if need be. NULL legal. */
void assay__sampler_free(struct assay__sampler *sampler);

/** Opens a probe and adds those of its channels for which `wanted` is true (NULL: all). Unavailable
 * channels are added too, so that their reason can be reported; they are never read. Before start.
 * The probe is closed with the sampler. It is not an error if opening it does not return in time
 * (assay__probe_open): it has no channels and is blocked, with that reason
 * (assay__sampler_probe_cost). */
int assay__sampler_add(struct assay__sampler *sampler, const struct assay__probe_ops *ops,
                       bool (*wanted)(void *context, const struct assay__probe_ops *ops,
                                      const struct assay__channel *channel),
                       void *context, struct assay_error *error);

/** Starts the thread. */
int assay__sampler_start(struct assay__sampler *sampler, struct assay_error *error);
/** Takes a last sample and ends the thread. Harmless when it is not running. */
void assay__sampler_stop(struct assay__sampler *sampler);
/** Reads everything once, now, on the calling thread. Only while the sampler's
 * own thread is not running. */
void assay__sampler_tick(struct assay__sampler *sampler);
/** Asks the thread to read everything now, including the expensive probes, at the edge of what is
 * measured. Returns at once; from any thread. Harmless when the thread is not running. */
void assay__sampler_nudge(struct assay__sampler *sampler);
/** Reads without storing, every interval_ns for duration_ns, to measure update periods faster than
 * the sampling interval, and what a read costs. A probe whose read takes c of processor time is
 * read every 2 c at most. Before start. A period found here is used unless sampling finds a longer
 * one. The reads are on a thread under the same time limit as when it samples. */
void assay__sampler_calibrate(struct assay__sampler *sampler, uint64_t duration_ns,
                              uint64_t interval_ns);

/* --- what was recorded ------------------------------------------------------------------------ */

struct assay__series {
    const struct assay__probe_ops *ops;
    const struct assay__channel *channel;
    size_t count;                /* samples kept */
    const uint64_t *times_ns;    /* middle of the probe's read; shared by its channels */
    const double *values;        /* base units; counters: growth since the first; NaN: no value */
    uint64_t readings, failures; /* of this channel, kept or not */
    bool available;              /* false: it never was, or a fault ended it */
    const char *reason;          /* why not, or the reason of the last failed reading; "" */
    double first_value;          /* COUNTER: its first reading; NaN: none */
    double interval_s;    /* interval at which it is read: the sampler's, or longer (see Cost) */
    double read_s;        /* processor time of a read of its probe; NaN: unknown */
    double period_s;      /* update period; NaN: unknown */
    bool period_is_bound; /* it updates at least this often */
    uint64_t changes;
};

size_t assay__sampler_count(const struct assay__sampler *sampler);
/** The i-th channel's series. The columns may be read only while the thread does not run. */
void assay__sampler_series(struct assay__sampler *sampler, size_t index,
                           struct assay__series *series);

/** A channel's last reading as the probe gave it: before wraps and faults are judged, so that a
 * channel that is back after a fault can be shown again. */
struct assay__latest {
    double value; /* NaN: it had none, or was never read */
    uint64_t time_ns;
    bool lost;        /* it will not be read: never available, or its probe was given up */
    char reason[192]; /* why there is no value; "" */
};
void assay__sampler_latest(struct assay__sampler *sampler, size_t index,
                           struct assay__latest *latest);

enum assay__window_method {
    ASSAY__WINDOW_NONE,
    ASSAY__WINDOW_COUNTER, /* growth of a counter */
    ASSAY__WINDOW_SAMPLED, /* samples of a gauge, trapezoids between them */
};

struct assay__window {
    bool available;
    char reason[256]; /* why not; "" */
    enum assay__window_method method;
    size_t index; /* of the series it came from */
    double seconds;
    double average;         /* gauge: mean over time; counter: growth per second (energy: W) */
    double least, greatest; /* min and max of a gauge's samples, or of a counter's rate over
                               spans of at least 10 update periods; NaN: too short */
    double growth;          /* counter: in its unit; gauge: the integral (W: J) */
    size_t samples;         /* inside the window */
    bool is_short;          /* shorter than 10 update periods, or the period is unknown */
    char note[384];         /* says so; "" */
};

/** One channel between two times of the clock. load: the machine was under load (see Constant
 * zero). */
void assay__sampler_window(struct assay__sampler *sampler, size_t index, uint64_t begin_ns,
                           uint64_t end_ns, bool load, struct assay__window *window);
/** Energy of a rail in J (`growth`) and its average power in W: from its counter if that is
 * available in the window, else from its power channel; the note says why the counter was not
 * used. */
void assay__sampler_energy(struct assay__sampler *sampler, const char *rail, uint64_t begin_ns,
                           uint64_t end_ns, bool load, struct assay__window *window);
/** Net energy: gross.growth - idle.average · gross.seconds, in J; NaN and
 * *reason when either is unavailable. */
double assay__window_net(const struct assay__window *gross, const struct assay__window *idle,
                         const char **reason);

/* --- what it cost ----------------------------------------------------------------------------- */

struct assay__sampler_cost {
    uint64_t ticks, late; /* late: ticks skipped because an earlier one took too long */
    uint64_t cpu_ns;      /* of the sampling threads */
    uint64_t wall_ns;     /* from start to stop (or now) */
    size_t memory_bytes;  /* columns */
    unsigned thinned;     /* how often the columns were halved */
};
void assay__sampler_cost(struct assay__sampler *sampler, struct assay__sampler_cost *cost);

struct assay__probe_cost {
    const struct assay__probe_ops *ops;
    uint64_t reads;
    double mean_ns, longest_ns; /* NaN: never read */
    double cpu_ns;              /* processor time of a read, mean of the last ones; NaN: unknown */
    double interval_s;          /* how often it is read now */
    bool blocked;               /* given up */
    const char *reason;         /* why the probe has no available channel; "" */
};
size_t assay__sampler_probe_count(const struct assay__sampler *sampler);
void assay__sampler_probe_cost(struct assay__sampler *sampler, size_t index,
                               struct assay__probe_cost *cost);

#endif
