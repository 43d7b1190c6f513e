/* monitor.h - the machine and your own inference loop, watched while they run: start a monitor, put
 * a mark around each inference, ask for the metrics of now whenever you like, and stop it for those
 * of the whole time.
 *
 *     assay_monitor_start(NULL, &monitor, &error);
 *     while (more) {
 *         uint64_t mark = assay_mark_begin(monitor);
 *         infer();
 *         assay_mark_end(monitor, mark);
 *     }
 *     assay_monitor_stop(monitor, &metrics, &error);
 *
 * Threads: marks may come from any number of threads at once, and assay_monitor_current from any
 * thread. assay_monitor_stop may not run at the same time as any other call on the same monitor,
 * nor while a thread that has put a mark is ending: join such threads before. */
#ifndef ASSAY_MONITOR_H
#define ASSAY_MONITOR_H

#include <assay/error.h>
#include <assay/metric.h>
#include <stddef.h>
#include <stdint.h>

struct assay_monitor;

/** Zero means default everywhere (set size = sizeof). */
struct assay_monitor_options {
    size_t size;
    double interval; /* between two readings, in s: 0.1 to 10; 0: 1 s */
};

/** Opens every sensor that can be read and starts a thread that reads them. A sensor that is
 * missing is no error: its metric says why. options NULL: defaults. */
ASSAY_API int assay_monitor_start(const struct assay_monitor_options *options,
                                  struct assay_monitor **monitor, struct assay_error *error);

/** A new metric set (assay_metrics_free it) of the last complete interval: everything that is read,
 * by the names of `assay watch` ("utilization.active.cpu", "power.package", "memory.gpu0.used"; see
 * doc/watch.md), and of the marks throughput.inferences and latency.*. What is not known is
 * unavailable and says why; before the first interval is over, that is everything. */
ASSAY_API int assay_monitor_current(struct assay_monitor *monitor, struct assay_metrics **metrics,
                                    struct assay_error *error);

/** Ends the monitor and frees it, in any case. *metrics (metrics NULL: not wanted): the whole time
 * since it started, as for one interval: means, with min and max in the notes; energy.total.RAIL
 * and power.average.RAIL of every energy counter; latency.* and throughput.inferences of all marks.
 * NULL monitor: nothing happens, 0. */
ASSAY_API int assay_monitor_stop(struct assay_monitor *monitor, struct assay_metrics **metrics,
                                 struct assay_error *error);

/** The beginning of an inference, or of whatever shall be timed: a time to hand to assay_mark_end
 * on the same or another thread. Wait-free. NULL monitor: 0. */
ASSAY_API uint64_t assay_mark_begin(const struct assay_monitor *monitor);
/** Its end: the time between the two counts as one duration. Wait-free, except for a thread's first
 * mark, which may allocate 64 KB. A mark of 0 (no monitor) is ignored. */
ASSAY_API void assay_mark_end(struct assay_monitor *monitor, uint64_t mark);

#endif
