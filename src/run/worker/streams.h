/* streams.h - requests in flight: one thread per stream, parked between windows. With one stream
 * there is no thread: the loop runs in the caller's. */
#ifndef ASSAY_RUN_WORKER_STREAMS_H
#define ASSAY_RUN_WORKER_STREAMS_H

#include "run/worker/loop.h"
#include "run/worker/ring.h"

#include <stdbool.h>

struct assay__streams;

/** Starts the threads (parked). The engine's table, session and ring outlive it. */
int assay__streams_start(const struct assay__engine_ops *engine, struct assay__session *session,
                         const struct assay__ring *ring, struct assay__streams **streams,
                         struct assay_error *error);
/** Pre-run on every stream at once (forced: of each stream; -1: by time); *done gets the sum. 0 or
 * a step's code. */
int assay__streams_prerun(struct assay__streams *streams, int64_t forced, size_t *done);
/** One window: `rewarm` untimed steps on each stream, then `iterations` divided evenly, until
 * `seconds` have passed (INFINITY: no limit). The result is in the ring. */
int assay__streams_window(struct assay__streams *streams, size_t iterations, double seconds,
                          int rewarm);
/** Called at both edges of each later window: after its untimed steps, before its first stamp; and
 *  after its last one. Every stream waits during the call. */
typedef void assay__edge_fn(void *context, bool begins);
void assay__streams_edges(struct assay__streams *streams, assay__edge_fn *edge, void *context);
/** Real time spent in steps so far. */
uint64_t assay__streams_spent_ns(const struct assay__streams *streams);
void assay__streams_stop(struct assay__streams *streams);

#endif
