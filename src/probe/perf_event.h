/* perf_event.h - which process the perf_event probe counts, and the calls it makes. */
#ifndef ASSAY_PROBE_PERF_EVENT_H
#define ASSAY_PROBE_PERF_EVENT_H

#include "platform/perf.h"

struct assay__arena;
struct assay__probe;

/** The process that a later open of the probe counts, with all its threads; 0: this one, the
 * default. Best set to a worker before that starts its threads: see perf_event.c. */
void assay__perf_event_target(pid_t process);
/** The name of an event without its quantity: "cycles", "task-clock". */
const char *assay__perf_event_name(enum assay__perf_event event);
/** Starts or stops the events of an open perf probe whose bit (1 << event) is set. Those that
 * cannot be switched fail from then on, with the reason. */
void assay__perf_event_switch(struct assay__probe *probe, unsigned events, bool on);
/** Reads one event of an open perf probe: its total since the probe was opened (scaled, in its
 * unit) and the share of the time during which it was really counting, both NaN if unknown. Returns
 * "" or why not. */
const char *assay__perf_event_total(struct assay__probe *probe, enum assay__perf_event event,
                                    double *total, double *share);
/** Why the kernel does not permit events, and what to do. */
const char *assay__perf_permission_reason(struct assay__arena *arena);
/** The calls set by a test; NULL: the system's are used. */
const struct assay__perf_calls *assay__perf_event_calls(void);
/** Replaces the system calls; NULL restores the system's. For tests, before the probe is opened. */
void assay__perf_event_calls_set(const struct assay__perf_calls *calls);

#endif
