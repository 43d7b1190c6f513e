/* gpu_metrics.c - the numbers of a device, with their formulas and, where there are none, why. */
#include "explain/gpu_metrics.h"

#include "base/metric_value.h"
#include "explain/timeline.h"

#include <math.h>

#define NO_KERNELS "the trace contains no kernels of this device"
#define NO_GAPS "the device was never idle"
#define NO_BYTES "the trace contains no sizes of copies"
#define NO_DIRECTION "the trace does not say which copies are between host and device"
#define NO_SPAN "the device's work begins and ends at one instant"

static void put(struct assay_metrics *set, const char *name, double value, const char *formula,
                const char *reason)
{
    assay__metrics_put_known(set, name, ASSAY_DERIVED, value, "trace", formula, reason);
}

static double per(int64_t sum, size_t count)
{
    return count ? (double)sum * 1e-9 / (double)count : (double)NAN;
}

struct copied {
    size_t count, sized, unclear; /* unclear: in which direction is not known */
    int64_t bytes, ns;            /* of those whose size is known */
};

static struct copied copied_by(const struct assay__explain *x, size_t device)
{
    const struct assay__timeline_device *of = &x->timeline->devices[device];
    struct copied c = {0};
    for (size_t i = 0; i < of->count; i++) {
        uint32_t event = of->work[i];
        if (!assay__is_host_copy(x->events, event)) {
            const struct assay__event_args *args = assay__event_args(x->events, event);
            c.unclear += x->events->kind[event] == ASSAY__EVENT_COPY &&
                         (!args || args->direction == ASSAY__COPY_UNKNOWN);
            continue;
        }
        c.count++;
        if (x->events->bytes[event] <= 0) continue;
        c.sized++;
        c.bytes = assay__add_bytes(c.bytes, x->events->bytes[event]);
        c.ns += x->events->duration_ns[event];
    }
    return c;
}

struct assay_metrics *assay__gpu_metrics(const struct assay__explain *x, size_t device)
{
    const struct assay__explain_device *d = &x->devices[device];
    struct copied c = copied_by(x, device);
    double span_s = (double)d->span_ns * 1e-9, run_ns = 0;
    struct assay_metrics *set = assay_metrics_new();
    if (!set) return NULL;
    run_ns = (double)(d->before_ns + d->span_ns + d->after_ns);
    put(set, "gpu.utilization", d->span_ns > 0 ? (double)d->busy_ns / (double)d->span_ns : NAN,
        "busy / span", NO_SPAN);
    put(set, "gpu.launch_efficiency", run_ns > 0 ? (double)d->compute_ns / run_ns : NAN,
        "compute / run time, from the first event of host or device to the last", NO_SPAN);
    put(set, "gpu.span", span_s, "last end - first start", NO_SPAN);
    put(set, "gpu.busy", (double)d->busy_ns * 1e-9, "union of kernels, copies and memsets", "");
    put(set, "gpu.compute", (double)d->compute_ns * 1e-9,
        "union of everything but copies between host and device", "");
    put(set, "gpu.idle", (double)d->idle_ns * 1e-9, "span - busy", "");
    assay_metrics_measured(set, "gpu.kernels", (double)d->kernel.count, "trace", "");
    put(set, "gpu.kernel_mean", per(d->kernel_sum_ns, d->kernel.count), "sum / count", NO_KERNELS);
    put(set, "gpu.kernel_median", per(d->kernel.median_ns, d->kernel.count > 0), "nearest rank",
        NO_KERNELS);
    assay_metrics_measured(set, "gpu.gaps", (double)d->gap.count, "trace", "");
    put(set, "gpu.gap_mean", per(d->gap.total_ns, d->gap.count), "idle / gaps", NO_GAPS);
    put(set, "gpu.gap_median", per(d->gap.median_ns, d->gap.count > 0), "nearest rank", NO_GAPS);
    const char *no_copies = c.count ? NO_BYTES : NO_DIRECTION;
    bool unclear = !c.count && c.unclear;
    assay__metrics_put_known(set, "gpu.copies", ASSAY_MEASURED, unclear ? NAN : (double)c.count,
                             "trace", "", NO_DIRECTION);
    put(set, "gpu.transfers", (c.sized || !c.count) && !unclear ? (double)c.bytes : NAN,
        "sum of the copies' bytes", no_copies);
    put(set, "gpu.copy_bandwidth", c.ns > 0 ? (double)c.bytes / ((double)c.ns * 1e-9) : NAN,
        "bytes / sum of the copies' durations",
        c.count   ? NO_BYTES
        : unclear ? NO_DIRECTION
                  : "nothing was copied between host and device");
    return set;
}
