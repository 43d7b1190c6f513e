/* worker_allocations.h - the worker's side of the allocation tracker (base/track.h), in the launch
 * that has it loaded: the engine's functions are wrapped so that what the engine allocates counts,
 * and what the worker itself does between inferences does not. */
#ifndef ASSAY_RUN_WORKER_WORKER_ALLOCATIONS_H
#define ASSAY_RUN_WORKER_WORKER_ALLOCATIONS_H

#include "base/json.h"

#include "engine/engine.h"

/** The engine with its open and step wrapped for the tracker. NULL and an error when the tracker is
 * not loaded. */
const struct assay__engine_ops *assay__allocations_engine(const struct assay__engine_ops *engine,
                                                          struct assay_error *error);
/** The first inference and the pre-run are over: further inferences are warm ones. */
void assay__allocations_warm(struct assay__session *session);
/** Ends the warm phase and writes what was recorded as the value of the message "allocations"
 * (run/watch/memory_track.h reads it). */
int assay__allocations_write(struct assay__session *session, struct assay__json_writer *out,
                             struct assay_error *error);

#endif
