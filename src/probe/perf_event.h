/* perf_event.h - whom the perf_event probe counts, and the calls it makes. */
#ifndef ASSAY_PROBE_PERF_EVENT_H
#define ASSAY_PROBE_PERF_EVENT_H

#include "platform/perf.h"

/** The process that a later open of the probe counts, with all its threads; 0: this one, which is also the start. Best set to a worker
 *  before it starts its threads: see perf_event.c. */
void assay__perf_event_target(pid_t process);
/** Replaces the system calls; NULL restores the system's. For tests, before the probe is opened. */
void assay__perf_event_calls_set(const struct assay__perf_calls *calls);

#endif
