/* sensor.h - what one channel says now, judged reading by reading: a gauge is its value, a counter
 * is its growth over the measured time (energy becomes power, busy time a share). What is not
 * plausible is unavailable with the reason and never a number. Pure: no clock, no files.
 *
 * Bounds. A share is within 0 … 1 (a share from a counter may exceed 1 by 2 %, because its two
 * readings and the clock are not read at one instant; it then counts as 1). Power is within 0 … 2 ×
 * the rail's limit, or 10 kW where no limit is known. A clock is above 0. A temperature is within
 * -55 … 150 °C, the range of such sensors: what lies outside is a sentinel. Power, temperature and
 * clock that have only ever read 0 belong to a sensor that is not connected.
 *
 * Counters. A fall of more than half the range is a wrap; any other fall is a reset or a fault:
 * that interval has no value, and the next one begins at the new reading. After a failed reading
 * the counter begins anew too: how often it wrapped meanwhile is unknown.
 *
 * Power from an energy counter is always growth / time between two changes of the counter, never
 * growth / nominal interval: a source that updates slower than it is read would show 0 and twice
 * its power in turn. Until the second change there is no value; between two changes the last value
 * holds, for two and a half of the source's periods at most. A source that has not changed for ten
 * of its periods (at least 2 s) stands still and has no value, nor has a power gauge that repeats
 * one number for a hundred periods (at least 10 s). */
#ifndef ASSAY_MONITOR_SENSOR_H
#define ASSAY_MONITOR_SENSOR_H

#include "probe/probe.h"

#include <assay/metric.h>

struct assay__sensor {
    const struct assay__channel *channel;
    double limit_w; /* of the rail's power; NaN unknown */

    double value;           /* as shown, in `assay__sensor_unit`; NaN: unavailable */
    enum assay_state state; /* a gauge is measured, a rate is derived */
    char reason[192];       /* why there is no value; "" */
    uint64_t time_ns;       /* of the last reading; 0: none */
    double grown;           /* counter: all growth that was seen, in its own unit */
    double grown_s;         /* in this time */

    /* private */
    double last;        /* the last reading; NaN: begin anew */
    double change;      /* the reading that last differed from the one before */
    uint64_t change_ns; /* when that was; 0: no change was seen */
    uint64_t begin_ns;  /* first reading of this sequence */
    double period_s;    /* mean time between changes; NaN unknown */
    uint64_t changes;   /* in it */
    bool moved;         /* it was once other than 0 */
    double shown;       /* the last rate between two changes; NaN none */
};

/** limit_w: NaN if the rail's power limit is unknown. The channel is borrowed. */
void assay__sensor_init(struct assay__sensor *sensor, const struct assay__channel *channel,
                        double limit_w);
/** The unit of its value: "W" of an energy counter, "ratio" of a time, else 1/s of a counter. */
const char *assay__sensor_unit(const struct assay__channel *channel);
/** A new reading; NaN with the reason if there was none. time_ns grows from call to call. */
void assay__sensor_take(struct assay__sensor *sensor, double reading, const char *reason,
                        uint64_t time_ns);

#endif
