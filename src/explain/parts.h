/* parts.h - the parts of the analysis, each one function that fills its members of the result.
 * Memory comes from the result's arena; a failure is recorded there. */
#ifndef ASSAY_EXPLAIN_PARTS_H
#define ASSAY_EXPLAIN_PARTS_H

#include "explain/explain.h"
#include "explain/timeline.h"

/** Busy time, kernels and gaps of each device and stream (device_time.c). */
void assay__explain_devices(struct assay__explain *explain);
/** Why each gap is there, and what the host did meanwhile (idle.c, idle_host.c). */
void assay__explain_idle(struct assay__explain *explain);
void assay__explain_idle_host(struct assay__explain *explain, size_t device);
/** HTA's view of each stream: its idle classes, the length of its queue (hta.c). */
void assay__explain_hta(struct assay__explain *explain);
/** Copies, and waiting for the device (transfers.c, syncs.c). */
void assay__explain_transfers(struct assay__explain *explain);
void assay__explain_syncs(struct assay__explain *explain);
/** Calls that took unusually long (long_calls.c). */
void assay__explain_long_calls(struct assay__explain *explain);
/** Kernels and operators by name (tops.c). */
void assay__explain_tops(struct assay__explain *explain);
/** The host's own time by name (host_tops.c). */
void assay__explain_host(struct assay__explain *explain);
/** Power, clocks, memory over time (counters.c). */
void assay__explain_counters(struct assay__explain *explain);
/** Intervals that repeat (steps.c). */
void assay__explain_steps(struct assay__explain *explain);
/** Communication, and ranks that others wait for (ranks.c). */
void assay__explain_ranks(struct assay__explain *explain);
/** Simulation without a class of cost, and the longest chain (what_if.c, critical_path.c). */
void assay__explain_what_if(struct assay__explain *explain);
void assay__explain_path(struct assay__explain *explain);
/** The scenarios, the diagnosis, the findings (diagnose.c, findings.c). */
void assay__explain_diagnose(struct assay__explain *explain);
void assay__explain_find(struct assay__explain *explain);

/** The steps after a first one that takes so much longer that it would decide the diagnosis
 * (first_step.c); false: there is none like that. */
struct assay__after_first {
    int64_t span_ns, busy_ns, compute_ns, loss_ns[ASSAY__LOSSES];
};
bool assay__explain_after_first(const struct assay__explain *explain,
                                struct assay__after_first *after);

/** A union that grows: intervals come in order of start. Zero is empty. */
struct assay__united {
    int64_t end_ns, total_ns;
    bool any;
};
/** How much the interval adds to the union (device_time.c). */
int64_t assay__unite(struct assay__united *united, int64_t start_ns, int64_t end_ns);

/** Fills the numbers of count values, which are reordered. */
struct assay__durations assay__durations_of(int64_t *values, size_t count);

#endif
