/* worker_counters.h - the worker counts itself: the processor's and the kernel's counters while
 * inferences run.
 *
 * The counters are opened before the engine is loaded, so that every thread it starts is counted,
 * and are switched off. The latency is measured with them off. Then the same loop runs for about a
 * second more, in slices that are counted and slices that are not (off on on off off on on off, so
 * that drift affects both equally): the former give the counts, the medians of both the cost of
 * counting. Slow models run fewer slices (worker_counters.c). */
#ifndef ASSAY_RUN_WORKER_WORKER_COUNTERS_H
#define ASSAY_RUN_WORKER_WORKER_COUNTERS_H

#include "base/arena.h"
#include "run/worker/job.h"

#include "engine/engine.h"

struct assay__worker_counters;
struct assay__json_writer;

/** What cannot be counted is not an error: it is sent with its reason. */
int assay__worker_counters_open(struct assay__arena *arena, const struct assay__job *job,
                                struct assay__worker_counters **counters,
                                struct assay_error *error);
/** Runs the slices. latency_ns: the launch's median, NaN unknown. alive: called between slices of
 * slow models, so that a waiting parent gets a sign of life; a non-zero result ends the pass.
 * Returns 0, a step's code, or a negative one of ours with *error set. */
int assay__worker_counters_run(struct assay__worker_counters *counters,
                               const struct assay__engine_ops *engine,
                               struct assay__session *session, double latency_ns,
                               int (*alive)(void *context), void *context,
                               struct assay_error *error);
/** The value of the "counters" message (job.h). */
void assay__worker_counters_write(const struct assay__worker_counters *counters,
                                  struct assay__json_writer *out);
/** The counters to read at the edges of layers; NULL: none can be read. Borrowed. */
const struct assay__layer_counters *assay__worker_counters_layers(
    struct assay__worker_counters *counters);
/** Real time spent in the slices. */
uint64_t assay__worker_counters_spent_ns(const struct assay__worker_counters *counters);
void assay__worker_counters_close(struct assay__worker_counters *counters); /* NULL legal */

#endif
