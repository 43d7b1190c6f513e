/* worker_state.h - checks the states that a worker feeds back from step to step, and the other
 * outputs. */
#ifndef ASSAY_RUN_WORKER_WORKER_STATE_H
#define ASSAY_RUN_WORKER_WORKER_STATE_H

#include "engine/engine.h"
#include "run/worker/messages.h"

/** Steps from the initial state after which outputs are compared: the same on every device, and
 * enough for the state to influence them. */
#define ASSAY__STATE_STEPS 8

/** Checks the outputs of stream 0 after its last step. What cannot be read is unknown. */
void assay__worker_state_read(const struct assay__engine_ops *engine,
                              struct assay__session *session,
                              const struct assay__feedback *feedback, size_t count,
                              struct assay__worker_state *state);

#endif
