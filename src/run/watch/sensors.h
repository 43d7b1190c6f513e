/* sensors.h - metrics, series and sentences from the readings around the measured windows: power,
 * energy, temperature, clocks, throttling. Functions of the sampler's columns and the windows
 * alone, so that a test with a scripted clock knows every number.
 *
 * Only the measured windows count. Energy is summed over them; an average is energy (or a gauge's
 * integral) over their time together. Peaks, and whether the time was too short for the source, are
 * judged over a launch's period from its first window to its last: the pauses between windows are a
 * few milliseconds, in which nothing draws more power. */
#ifndef ASSAY_RUN_WATCH_SENSORS_H
#define ASSAY_RUN_WATCH_SENSORS_H

#include "probe/sampler/sampler.h"
#include "run/sentences.h"
#include "run/trial/trial.h"

#define ASSAY__RAIL_PARTS 64 /* rails that are added up, at most */

struct assay__sensor_window {
    int launch;                /* id */
    uint64_t begin_ns, end_ns; /* the sampler's clock */
    size_t completions;
    /* samples of the window, if one stream ran; NULL: only their number is known */
    const double *samples_ns;
    size_t sample_count;
};

struct assay__sensors {
    struct assay__sampler *sampler;     /* not running */
    const struct assay__series *series; /* all of its channels; assay__sensors_compute fills it */
    size_t series_count;
    struct assay_profile *profile;
    struct assay__trial *trial;
    uint64_t origin_ns;                  /* times in the profile count from here */
    uint64_t idle_begin_ns, idle_end_ns; /* equal: there was no idle window */
    const char *idle_reason;             /* why not */
    double interval_s;
    const struct assay__sensor_window *windows; /* in time order */
    size_t window_count;
    const char *cuda_order,
        *cuda_visible; /* CUDA_DEVICE_ORDER, CUDA_VISIBLE_DEVICES; NULL: unset */
};

/** A channel (or a rail) over all measured windows. Texts are in the profile's arena. */
struct assay__sensed {
    bool available;
    const char *reason; /* why not; "" */
    const char *note;   /* "" none */
    double seconds, growth, average, peak, least;
    enum assay__window_method method;
    size_t index; /* of the series */
    size_t completions;
    size_t peak_index; /* name of the series that peak and least refer to */
    double idle_w;     /* rails: NaN unknown */
    const char *idle_reason;
    const char *idle_note; /* "" none */
    bool idle_same;        /* it returned the same value idle and under load: no net energy */
};

/** The rails that the workload ran on: their energies are added up. */
struct assay__rails {
    const char *names[ASSAY__RAIL_PARTS];
    size_t count;
    bool whole_machine; /* the last resort: it includes more than the processor */
    const char *reason; /* why there are none; "" */
    const char *remark; /* about the choice; "" */
    enum assay__device_class device_class; /* of the workload's device */
    bool listed;     /* no sensor measures it: the reason lists every source */
    const char *gpu; /* "gpu0"; "" if it is unknown which */
};

/** Index after the last window of the launch of window `first`. */
size_t assay__sensors_launch_end(const struct assay__sensors *sensors, size_t first);
void assay__sensed_channel(const struct assay__sensors *sensors, size_t index,
                           struct assay__sensed *sensed);
/** Energy (J) and power (W) of a rail, with its idle power. */
void assay__sensed_rail(const struct assay__sensors *sensors, const char *rail,
                        struct assay__sensed *sensed);
/** Whether the channel was read less often than requested because a reading costs too much. */
bool assay__series_seldom(const struct assay__sensors *sensors, const struct assay__series *series);
/** The channel that samples the power of a rail; SIZE_MAX: none was read. */
size_t assay__sensors_sampled(const struct assay__sensors *sensors, const char *rail);
void assay__sensors_rails(const struct assay__sensors *sensors, struct assay__rails *rails);
/** The i-th rail that has an energy or power channel, in the probes' order; NULL past the end. */
const char *assay__sensors_rail_at(const struct assay__sensors *sensors, size_t index);
/** Whether a rail was read at all: then the sampler's reason says more than a list of probes. */
bool assay__sensors_rail_read(const struct assay__sensors *sensors, const char *rail);
/** The channel for the temperature or the clock of the processor that ran the workload;
 *  SIZE_MAX: none. */
size_t assay__sensors_temperature(const struct assay__sensors *sensors,
                                  const struct assay__rails *rails);
size_t assay__sensors_clock(const struct assay__sensors *sensors, const struct assay__rails *rails);

int assay__sensors_series(const struct assay__sensors *sensors, const struct assay__rails *rails);
/** Adds sentences to the profile's environment. */
int assay__sensors_throttling(const struct assay__sensors *sensors,
                              const struct assay__rails *rails);
/** All of these. 0 or ASSAY_ENOMEM. */
int assay__sensors_compute(const struct assay__sensors *sensors);

#endif
