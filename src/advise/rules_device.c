/* rules_device.c - rules about an accelerator and its use: nodes that ran elsewhere, copies, a
 * device that waits. On the CPU they find nothing. */
#include "advise/rules.h"

#include <math.h>
#include <string.h>

#define TRANSFER_SHARE 0.1    /* of the latency */
#define IDLE_UTILIZATION 0.3  /* the monitoring guide calls a device below that badly used … */
#define IDLE_GOAL 0.8         /* … and one above that well used */
#define LAUNCH_EFFICIENCY 0.7 /* its target */
#define COPIES "MemcpyFromHost|MemcpyToHost"

static bool runs_elsewhere(const struct assay__layer *layer)
{
    return layer->provider && strncmp(layer->provider, "CPU", 3) == 0;
}

static enum assay__rule_outcome fallback(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    size_t count = 0, crossings = 0, first = SIZE_MAX;
    double time = 0;
    if (assay__target_is_fallback(&a->trial->target)) return ASSAY__RULE_NOTHING;
    if (!layers->count)
        return assay__rule_missing(
            a, "layers: it is unknown which node ran where (let the engine time the layers)");
    for (size_t i = 0; i < layers->count; i++) {
        bool here = runs_elsewhere(&layers->items[i]);
        if (i && here != runs_elsewhere(&layers->items[i - 1])) crossings++;
        if (!here) continue;
        if (count++ == 0) first = i;
        assay__rule_about(a, i);
        time += assay__advice_time(&layers->items[i]);
    }
    if (!count) return ASSAY__RULE_NOTHING;
    double share = fmin(time / a->p50_ns, 1);
    assay__rule_evidence(
        a, "%zu of %zu layers ran on the CPU, such as '%s' (%s); %zu crossings between the two",
        count, layers->count, layers->items[first].name, layers->items[first].op, crossings);
    if (share > 0)
        assay__rule_evidence(a, "they take %s %% of the latency", assay__percent(share).text);
    assay__rule_advice(a,
                       "replace these operators with ones that %s supports, or cut the graph "
                       "before them; a check of the model lists them",
                       a->trial->target.device);
    return assay__rule_found(a, share > 0 ? assay__amdahl(share, (double)INFINITY) : NAN);
}

static enum assay__rule_outcome copies(struct assay__advice *a)
{
    const struct assay__layers *layers = &a->trial->layers;
    size_t count = 0;
    for (size_t i = 0; i < layers->count; i++)
        count += assay__op_among(layers->items[i].op, COPIES);
    if (assay__target_is_fallback(&a->trial->target)) return ASSAY__RULE_NOTHING;
    if (!layers->count)
        return assay__rule_missing(
            a, "layers: copies inside the graph are unknown (let the engine time the layers)");
    if (!count) return ASSAY__RULE_NOTHING;
    double share = assay__advice_share(a, COPIES, NULL);
    assay__rule_evidence(a, "%zu copies between host and device inside the graph", count);
    if (share > 0)
        assay__rule_evidence(a, "they take %s %% of the latency", assay__percent(share).text);
    return assay__rule_found(a, share > 0 ? assay__amdahl(share, (double)INFINITY) : NAN);
}

static enum assay__rule_outcome io_binding(struct assay__advice *a)
{
    double in = assay__trial_value(a->trial, "latency.transfer_in"),
           out = assay__trial_value(a->trial, "latency.transfer_out");
    if (assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (!isfinite(in)) return assay__rule_without(a, "latency.transfer_in");
    if (!isfinite(out)) return assay__rule_without(a, "latency.transfer_out");
    double share = (in + out) * 1e9 / a->p50_ns;
    if (share < TRANSFER_SHARE || share > 1) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "copying inputs takes %s, outputs %s: %s %% of the latency",
                         assay__scaled(in, "s").text, assay__scaled(out, "s").text,
                         assay__percent(share).text);
    return assay__rule_found(a, assay__amdahl(share, (double)INFINITY));
}

static enum assay__rule_outcome device_idle(struct assay__advice *a)
{
    double busy = assay__trial_value(a->trial, "gpu.utilization"),
           kernel = assay__trial_value(a->trial, "gpu.kernel_mean"),
           gap = assay__trial_value(a->trial, "gpu.gap_mean");
    if (assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (!isfinite(busy)) return assay__rule_without(a, "gpu.utilization");
    if (busy >= IDLE_UTILIZATION || !(busy > 0)) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "the device is busy for %s %% of the time", assay__percent(busy).text);
    if (isfinite(kernel) && isfinite(gap))
        assay__rule_evidence(a, "a kernel takes %s, the gap after it %s",
                             assay__scaled(kernel, "s").text, assay__scaled(gap, "s").text);
    assay__rule_advice(a,
                       "use larger batches, fused kernels, recorded launch graphs; the potential "
                       "assumes a device busy for %.0f %% of the time",
                       IDLE_GOAL * 100);
    return assay__rule_found(a, IDLE_GOAL / busy);
}

static enum assay__rule_outcome launches(struct assay__advice *a)
{
    double efficiency = assay__trial_value(a->trial, "gpu.launch_efficiency");
    if (assay__trial_on_cpu(a->trial)) return ASSAY__RULE_NOTHING;
    if (!isfinite(efficiency)) return assay__rule_without(a, "gpu.launch_efficiency");
    if (efficiency >= LAUNCH_EFFICIENCY || !(efficiency > 0)) return ASSAY__RULE_NOTHING;
    assay__rule_evidence(a, "computing takes %s %% of the run, the target is %.0f %%",
                         assay__percent(efficiency).text, LAUNCH_EFFICIENCY * 100);
    return assay__rule_found(a, LAUNCH_EFFICIENCY / efficiency);
}

const struct assay__rule assay__rules_device[] = {
    {"fallback", "device", "medium", "large", ASSAY__NEED_LATENCY, fallback, NULL, NULL,
     "Some nodes ran on the CPU", "layers run by the CPU provider in a session for an accelerator",
     NULL},
    {"copies", "device", "medium", "medium", ASSAY__NEED_LATENCY, copies, NULL, NULL,
     "Copies between host and device inside the graph", "MemcpyFromHost and MemcpyToHost layers",
     "keep the data on the device: no CPU operators between device operators, and constant shapes"},
    {"io-binding", "device", "medium", "small", ASSAY__NEED_LATENCY, io_binding, NULL, NULL,
     "Inputs and outputs are copied with every inference",
     "input and output copies that take 10 % or more of the latency",
     "bind inputs and outputs to device memory (I/O binding), and fetch only what the host reads"},
    {"device-idle", "device", "medium", "medium", 0, device_idle, NULL, NULL,
     "The device waits for work",
     "device utilisation below 30 % on a timeline; the potential assumes 80 %", NULL},
    {"launch-bound", "device", "medium", "medium", 0, launches, NULL, NULL,
     "Launching takes longer than computing",
     "launch efficiency below 70 % on a timeline; the potential assumes 70 %",
     "launch fewer kernels: fusion, recorded graphs (enable_cuda_graph), larger batches"},
    {0},
};
