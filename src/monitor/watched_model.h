/* watched_model.h - a model that runs without end while it is watched: its inferences come window
 * by window (run_options.h) and become rows of the monitor, with the names that a run's metrics
 * have. */
#ifndef ASSAY_MONITOR_WATCHED_MODEL_H
#define ASSAY_MONITOR_WATCHED_MODEL_H

#include "monitor/durations.h"
#include "monitor/shown_rows.h"
#include "run/run_options.h"

/* In this order: the values of assay__watched_model_give. */
enum assay__watched_model_row {
    ASSAY__WATCHED_P50,
    ASSAY__WATCHED_P99,
    ASSAY__WATCHED_RATE,
    ASSAY__WATCHED_ENERGY,
    ASSAY__WATCHED_ROWS
};
extern const struct assay__row assay__watched_model_rows[ASSAY__WATCHED_ROWS];

struct assay__watched_model {
    struct assay__durations durations; /* since the last tick */
    double wall_ns;                    /* of their windows */
    uint64_t inferences;               /* since the beginning */
};

/** An assay__window_fn; context is the model. */
void assay__watched_model_window(void *context, const struct assay__window_seen *window);
/** The row with the power of what runs a model on that device: "power.package" of "cpu",
 * "power.gpu1" of "cuda:1"; NULL: not known. */
const char *assay__watched_model_rail(const char *device, char *out, size_t out_size);
/** The rows of what came since the last call, and begins anew. Energy per inference is the rail's
 * power over the throughput; power_w NaN: unknown, and its note says why. */
void assay__watched_model_give(struct assay__watched_model *model, double power_w,
                               const char *power_note, double *values, const char **notes);

#endif
