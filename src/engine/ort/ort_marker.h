/* ort_marker.h - the marker: a custom operator that passes its tensor through and writes down
 * when it ran. */
#ifndef ASSAY_ENGINE_ORT_ORT_MARKER_H
#define ASSAY_ENGINE_ORT_ORT_MARKER_H

#include "engine/ort/ort_abi.h"

#include "engine/engine.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__MARKER_API \
    18 /* the first API version with alias maps, without which a marker copies */

struct assay__marker_event {
    uint64_t entry_ns, exit_ns;
    uint32_t id;
};

/** Where the markers of one session write. Set count to 0 before a run; afterwards events stand
 * in the order of time. */
struct assay__marker_log {
    struct assay__marker_event *events;
    size_t count, capacity;
    bool *scalars;    /* by id, capacity entries; set when a marker has seen a scalar */
    uint64_t dropped; /* events that found no room */
    /* times the engine gave a marker a separate buffer, so that it had to copy */
    uint64_t copies;
    const struct assay__layer_counters *counters; /* read by every marker; NULL: none */
    double *counts; /* of event i: counters->count at its entry, as many at its exit, from 2 i */
};

struct assay__marker_ops;

/** The operators of one session (domain and names: ort_instrument.h). `log` and the result
 * outlive that session. ASSAY_EUNSUPPORTED when the library is older than ASSAY__MARKER_API. */
int assay__marker_ops_new(const struct assay__ort *ort, struct assay__marker_log *log,
                          struct assay__marker_ops **ops, struct assay_error *error);
int assay__marker_ops_add(struct assay__marker_ops *ops, OrtSessionOptions *options,
                          struct assay_error *error);
void assay__marker_ops_free(struct assay__marker_ops *ops); /* NULL legal */

#endif
