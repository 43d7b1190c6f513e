/* layer.h - where the time of one inference goes. The layers of a trial, the engine's fixed cost
 * per run (`engine_ns`) and what could not be attributed (`unattributed_ns`, signed) add up to the
 * unprofiled latency. What is read here is borrowed: see trial.h. */
#ifndef ASSAY_LAYER_H
#define ASSAY_LAYER_H

#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>

struct assay_trial;

/** How layers are timed. */
enum assay_layer_method {
    ASSAY_LAYERS_OFF,
    ASSAY_LAYERS_AUTO,
    ASSAY_LAYERS_MARKERS,
    ASSAY_LAYERS_ISOLATED,
    ASSAY_LAYERS_ENGINE
};

/** The layers of a trial as a whole. Times in ns, NaN unknown. */
struct assay_layers {
    size_t size;        /* sizeof, set by the caller */
    size_t count;       /* layers, in execution order */
    const char *method; /* how layers were timed: "markers", …; "" not at all */
    const char *reason; /* why there are none, or a caveat; "" */
    double engine_ns;
    double unattributed_ns;
    double slowdown; /* instrumented run / plain run */
};

/** One layer. Strings are never NULL; "" is unknown. */
struct assay_layer {
    size_t size; /* sizeof, set by the caller */
    const char *name, *op, *provider;
    enum assay_state state;  /* of the time */
    double time_ns;          /* NaN: unavailable, the note says why */
    double low_ns, high_ns;  /* 95 % interval over launches; NaN with fewer than five */
    double share;            /* of latency.p50; NaN */
    double flops, bytes;     /* of one inference; NaN unknown */
    const char *bound;       /* "compute" | "memory" | "overhead" | "unknown" */
    const char *note;        /* "alone, hot cache", …; "" */
    const char *const *from; /* nodes of the model it was made from */
    size_t from_count;
    const char *title; /* what reports call it: the first of `from`, else the name */
};

/** Fills *layers; false when trial is NULL or size is not set. */
ASSAY_API bool assay_trial_layers(const struct assay_trial *trial, struct assay_layers *layers);
/** Fills *layer with the layer of that index (execution order); false past the end, when trial is
 *  NULL or size is not set. */
ASSAY_API bool assay_trial_layer(const struct assay_trial *trial, size_t index,
                                 struct assay_layer *layer);

#endif
