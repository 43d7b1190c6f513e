/* series.h - a metric over time: power, temperature, memory, clocks. A channel that could not be
 * read is a series too: unavailable, without values, and its note says why. What is read here is
 * borrowed: see trial.h. */
#ifndef ASSAY_SERIES_H
#define ASSAY_SERIES_H

#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>

struct assay_trial;

struct assay_series {
    size_t size;      /* sizeof, set by the caller */
    int launch;       /* 0: of the whole trial */
    const char *name; /* unique within trial and launch: "power.gpu0" */
    const char *unit; /* base unit */
    const char *probe, *source;
    enum assay_state state;
    const char *note;
    bool counter; /* values are the increase since the first reading */
    size_t count;
    const double *times_ns; /* since the run began */
    const double *values;   /* NaN: no value at that time */
};

/** Fills *series; false past the end, when trial is NULL or size is not set. */
ASSAY_API bool assay_trial_series(const struct assay_trial *trial, size_t index,
                                  struct assay_series *series);

#endif
