/* trial_metrics.c - the metrics of a trial and of a launch (names and units: base/metric_table.c).
 * What this run cannot know is put as unavailable with the reason, so that a report shows the whole
 * list. */
#include "base/metric_table.h"
#include "cost/score.h"
#include "probe/live.h"
#include "profile/trial_values.h"
#include "run/trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct assay__outcome, field)

struct metric_row {
    const char *name, *reason;
};

/* The same for every engine on the CPU: nothing is copied to a device, and an ONNX file has no
 * other work around it. */
static const struct metric_row cpu_breakdown[] = {
    {"latency.preprocess", "not part of the model file: an ONNX model starts at its input tensors"},
    {"latency.transfer_in",
     "the CPU provider reads the inputs in host memory: there is no transfer to time"},
    {"latency.execute",
     "not separated on the CPU: an inference is one host-to-host call (latency.p50)"},
    {"latency.transfer_out",
     "the CPU provider writes the outputs in host memory: there is no transfer to time"},
    {"latency.postprocess", "not part of the model file: an ONNX model ends at its output tensors"},
};

static const struct metric_row device_breakdown[] = {
    {"latency.preprocess", "not part of the model file: an ONNX model starts at its input tensors"},
    {"latency.transfer_in",
     "the engine does not separate the copy to the device; needs I/O binding"},
    {"latency.execute",
     "the engine does not separate execution from the copies; needs I/O binding"},
    {"latency.transfer_out",
     "the engine does not separate the copy from the device; needs I/O binding"},
    {"latency.postprocess", "not part of the model file: an ONNX model ends at its output tensors"},
};

static int put_rows(struct assay_metrics *metrics, const struct metric_row *rows, size_t count)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = assay_metrics_unavailable(metrics, rows[i].name, rows[i].reason);
    return code;
}

/* What every run has, until somebody who can read it puts it anew. */
static int put_unread(struct assay_metrics *metrics)
{
    int code = 0;
    for (size_t i = 0; i < assay__metric_table_count && code == 0; i++)
        if (assay__metric_table[i].unread)
            code = assay_metrics_unavailable(metrics, assay__metric_table[i].name,
                                             assay__metric_table[i].unread);
    return code;
}

/* Measured when finite, else unavailable with the reason. */
static int put_measured(struct assay_metrics *metrics, const char *name, double value,
                        const char *source, const char *note, const char *reason)
{
    if (isfinite(value)) return assay_metrics_measured(metrics, name, value, source, note);
    return assay_metrics_unavailable(metrics, name, reason && reason[0] ? reason : "not known");
}

/* --- timing ----------------------------------------------------------------------------------- */

static int timing(const struct assay__outcome *const *used, size_t count,
                  struct assay_metrics *metrics)
{
    const char *why = "the launch failed before this was known";
    const char *split = why;
    for (size_t i = 0; i < count; i++)
        if (used[i]->facts.known) split = used[i]->facts.load_reason;
    if (!split[0]) split = "the engine does not separate load from compile";
    const char *note = count > 1 ? "median over launches" : "";
    int code = put_measured(metrics, "timing.load",
                            assay__trial_median(used, count, AT(facts.load_ns)) / 1e9, "engine",
                            note, split);
    if (code == 0)
        code = put_measured(metrics, "timing.compile",
                            assay__trial_median(used, count, AT(facts.compile_ns)) / 1e9, "engine",
                            note, split);
    if (code == 0)
        code = put_measured(metrics, "timing.session",
                            assay__trial_median(used, count, AT(facts.create_ns)) / 1e9, "clock",
                            note, why);
    if (code == 0)
        code = put_measured(metrics, "timing.first",
                            assay__trial_median(used, count, AT(facts.first_ns)) / 1e9, "clock",
                            note, why);
    return code;
}

/* --- throughput ------------------------------------------------------------------------------- */

/* Completions per second of one launch: of the warm part when there is one stream, else over the
 * windows' wall time. */
static double rate_of(const struct assay__outcome *outcome)
{
    if (outcome->stream_count == 1)
        return outcome->summary.sum_ns > 0
                   ? (double)outcome->summary.samples * 1e9 / outcome->summary.sum_ns
                   : NAN;
    return outcome->wall_ns > 0 ? (double)outcome->total * 1e9 / outcome->wall_ns : NAN;
}

static double rate_over(const struct assay__outcome *const *used, size_t count)
{
    double *rates = malloc((count + 1) * sizeof *rates), rate = NAN;
    size_t known = 0;
    for (size_t i = 0; rates && i < count; i++)
        if (isfinite(rate_of(used[i]))) rates[known++] = rate_of(used[i]);
    if (rates) assay__stats_sort(rates, known);
    if (known) rate = assay__stats_median(rates, known);
    free(rates);
    return rate;
}

static int scaled_rate(struct assay_metrics *metrics, const char *name, double rate, double factor,
                       const char *formula, const char *reason)
{
    if (!isfinite(rate)) return assay_metrics_unavailable(metrics, name, "no sample was taken");
    if (!(factor > 0)) return assay_metrics_unavailable(metrics, name, reason);
    return assay_metrics_derived(metrics, name, rate * factor, "clock", formula);
}

static int throughput(const struct assay__trial_input *input, double rate,
                      struct assay_metrics *metrics)
{
    const struct assay__workload *workload = input->workload;
    const double batch = workload && workload->batch > 0 ? (double)workload->batch : NAN;
    const bool tokens = workload && workload->has_tokens && workload->sequence > 0 &&
                        input->generate == 0;
    static const char *const two_kinds =
        "a generation reads tokens and makes tokens: see llm.prefill and llm.decode";
    const bool images = workload && workload->has_images;
    static const char *const no_batch = "the inputs have no batch axis that is known as one";
    char note[128];
    snprintf(note, sizeof note, "completions / wall time, %d request%s in flight", input->streams,
             input->streams == 1 ? "" : "s");
    int code = put_measured(metrics, "throughput.inferences", rate, "clock", note,
                            "no sample was taken");
    if (code == 0)
        code = scaled_rate(metrics, "throughput.samples", rate, batch,
                           "throughput.inferences x batch", no_batch);
    if (code == 0)
        code = scaled_rate(metrics, "throughput.tokens", rate,
                           tokens ? batch * (double)workload->sequence : NAN,
                           "throughput.inferences x batch x sequence",
                           input->generate > 0 ? two_kinds
                           : tokens            ? no_batch
                                    : "the model has no integer ids with a sequence axis");
    if (code == 0)
        code = scaled_rate(metrics, "throughput.images", rate, images ? batch : NAN,
                           "throughput.inferences x batch",
                           images ? no_batch : "the model has no 4-D image input");
    return code;
}

/* --- compute and memory ----------------------------------------------------------------------- */

static int compute(const struct assay__trial_input *input, struct assay_metrics *metrics)
{
    const struct assay__model_costs *costs = input->costs;
    const bool model = costs && costs->nodes;
    static const char *const no_model = "no model file: the script has no graph";
    const char *why_flops = model ? costs->flops_reason : no_model,
               *why_bytes = model ? costs->bytes_reason : no_model;
    int code = model && isfinite(costs->flops)
                   ? assay_metrics_derived(
                         metrics, "compute.flops", costs->flops, "graph",
                         input->generate > 0
                             ? "sum over the nodes, over the prompt and every decode step at its "
                               "own cache length; a multiply-add is 2"
                             : "sum over the nodes at these shapes; a multiply-add is 2")
                   : assay_metrics_unavailable(metrics, "compute.flops",
                                               why_flops[0] ? why_flops : "not known");
    struct assay_metric bytes = {
        .name = "bytes moved", .value = NAN, .unit = "B", .note = why_bytes};
    if (model && isfinite(costs->bytes)) {
        bytes.value = costs->bytes;
        bytes.state = ASSAY_DERIVED;
    }
    const struct assay_metric *p50 = assay_metrics_get(metrics, "latency.p50");
    if (code == 0)
        code = assay_metrics_ratio(metrics, "compute.rate",
                                   assay_metrics_get(metrics, "compute.flops"), p50,
                                   "compute.flops / latency.p50");
    if (code == 0)
        code = assay_metrics_ratio(metrics, "compute.intensity",
                                   assay_metrics_get(metrics, "compute.flops"), &bytes,
                                   "compute.flops / bytes that the nodes read and write");
    if (code == 0)
        code = assay_metrics_ratio(
            metrics, "memory.bandwidth", &bytes, p50,
            "bytes that the nodes read and write / latency.p50; caches are not modelled");
    return code;
}

static int worker_memory(const struct assay__outcome *const *used, size_t count,
                         struct assay_metrics *metrics)
{
    double peak = assay__trial_median(used, count, AT(memory.peak)),
           base = assay__trial_median(used, count, AT(memory.baseline));
    double arena = assay__trial_median(used, count, AT(memory.arena_peak));
    if (!isfinite(arena)) arena = assay__trial_median(used, count, AT(memory.arena));
    const char *lost = assay__live_refused();
    if (!lost) lost = "the worker ended before it could be read, or this system does not report it";
    double beyond = peak - base;
    int code =
        isfinite(beyond)
            ? assay_metrics_derived(
                  metrics, "memory.peak.worker", beyond > 0 ? beyond : 0, "process",
                  "peak resident memory - memory.baseline.worker; read before the layer pass")
            : assay_metrics_unavailable(metrics, "memory.peak.worker", lost);
    if (code == 0)
        code = put_measured(metrics, "memory.baseline.worker", base, "process",
                            "resident before inputs and engine", lost);
    if (code == 0)
        code = put_measured(metrics, "memory.pss.worker",
                            assay__trial_median(used, count, AT(memory.pss)), "process",
                            "after the measured windows, before the layer pass", lost);
    if (code == 0)
        code = put_measured(
            metrics, "memory.activation.arena", arena, "engine",
            "the engine's arena at its peak, where it tells it; weights that the engine "
            "has copied may be in it",
            "the engine does not report its arena");
    return code;
}

/* Whoever reads the device's memory (watch_memory.c) puts these anew. */
static int device_memory(const struct assay__trial *trial, struct assay_metrics *metrics)
{
    static const char *const unread = "the device's memory was not read: --memory reads it";
    const struct assay_metric *host = assay_metrics_get(metrics, "memory.peak.worker");
    bool cpu = assay__trial_on_cpu(trial);
    int code = assay_metrics_unavailable(
        metrics, "memory.peak.device",
        cpu ? "the run used the CPU: no device with memory of its own took part" : unread);
    if (code) return code;
    if (!cpu || !host || host->state == ASSAY_UNAVAILABLE)
        return assay_metrics_unavailable(metrics, "memory.total",
                                         !cpu   ? unread
                                         : host ? host->note
                                                : "the worker's memory is not known");
    return assay_metrics_derived(metrics, "memory.total", host->value, "process",
                                 "memory.peak.worker; no device took part");
}

static int memory(const struct assay__trial_input *input, const struct assay__outcome *const *used,
                  size_t count, struct assay_metrics *metrics)
{
    int64_t weights = input->trial->model->weight_bytes;
    int code = weights >= 0 ? assay_metrics_derived(metrics, "memory.model", (double)weights,
                                                    "graph", "bytes of all initializers")
                            : assay_metrics_unavailable(metrics, "memory.model",
                                                        "the size of the weights is not known");
    const struct assay__model_costs *costs = input->costs;
    if (code == 0)
        code = costs && isfinite(costs->live_peak_bytes)
                   ? assay_metrics_derived(metrics, "memory.activation.predicted",
                                           costs->live_peak_bytes, "graph",
                                           "most bytes of activations alive at once, in the "
                                           "graph's own order, nothing in place")
                   : assay_metrics_unavailable(metrics, "memory.activation.predicted",
                                               costs ? costs->live_reason
                                                     : "no model file: the script has no graph");
    if (code == 0) code = worker_memory(used, count, metrics);
    return code ? code : device_memory(input->trial, metrics);
}

/* --- what measuring cost ---------------------------------------------------------------------- */

static int overhead(const struct assay__trial_input *input,
                    const struct assay__outcome *const *used, size_t count,
                    struct assay_metrics *metrics)
{
    static const char *const lost = "the launch failed before this was measured";
    char note[160];
    double step = assay__trial_median(used, count, AT(facts.clock_step_ns));
    snprintf(note, sizeof note, "one read of CLOCK_MONOTONIC; smallest step seen %.3g ns", step);
    int code = put_measured(metrics, "overhead.clock",
                            assay__trial_median(used, count, AT(facts.clock_ns)) / 1e9, "clock",
                            note, lost);
    if (code == 0)
        code = put_measured(metrics, "overhead.loop",
                            assay__trial_median(used, count, AT(facts.loop_ns)) / 1e9, "clock",
                            "one iteration with an empty step, clock read included", lost);
    double slowdown = input->trial->layers.slowdown;
    const char *reason = input->trial->layers.reason;
    if (!reason[0] && input->trial->layers.count)
        reason = "this way of timing layers does not tell how much it slowed the run";
    if (code == 0)
        code = put_measured(metrics, "overhead.layers", slowdown, "clock",
                            "instrumented run / plain run",
                            reason[0] ? reason : "layers were not timed");
    if (code == 0)
        code = put_measured(
            metrics, "overhead.run", input->overhead_run_s, "clock",
            "wall time beyond session creation, inferences, the layer pass and building a zoo "
            "model; until the metrics stood",
            "a launch failed before it told what it spent");
    return code;
}

/* --- together --------------------------------------------------------------------------------- */

int assay__launch_metrics(const struct assay__outcome *outcome, bool warmup_forced,
                          struct assay_metrics *metrics)
{
    const struct assay__outcome *one[] = {outcome};
    int code = timing(one, 1, metrics);
    if (code == 0) code = assay__summary_metrics(&outcome->summary, "", metrics);
    if (code == 0)
        code = assay__summary_warmup_metric(outcome->prerun, warmup_forced, outcome->stream_count,
                                            outcome->summary.warmup, metrics);
    if (code == 0)
        code = put_measured(metrics, "throughput.inferences", rate_of(outcome), "clock", "",
                            "no sample was taken");
    if (code == 0) code = worker_memory(one, 1, metrics);
    if (code == 0) code = assay__launch_layers(outcome, metrics);
    return code;
}

static int generation(const struct assay__trial_input *input,
                      const struct assay__outcome *const *used, size_t count)
{
    struct assay__trial *trial = input->trial;
    int code = assay__generation_metrics(used, count, input->generate, assay__trial_on_cpu(trial),
                                         trial->metrics);
    if (code || !trial->generation.tokens) return code;
    return assay__generation_ids(used, count, input->profile, trial);
}

int assay__trial_metrics(const struct assay__trial_input *input)
{
    struct assay_metrics *metrics = input->trial->metrics;
    const struct assay__outcome **used = calloc(input->outcome_count + 1, sizeof *used);
    if (!used) return ASSAY_ENOMEM;
    size_t count = assay__trial_used(input, used);
    bool cpu = assay__trial_on_cpu(input->trial);
    int code = timing(used, count, metrics);
    if (code == 0) code = assay__trial_latency(input, used, count);
    if (code == 0)
        code = put_rows(metrics, cpu ? cpu_breakdown : device_breakdown,
                        sizeof cpu_breakdown / sizeof cpu_breakdown[0]);
    if (code == 0) code = throughput(input, rate_over(used, count), metrics);
    if (code == 0) code = generation(input, used, count);
    if (code == 0) code = compute(input, metrics);
    if (code == 0) code = memory(input, used, count, metrics);
    if (code == 0) code = assay__trial_layers(input, assay__trial_p50(used, count));
    if (code == 0) code = overhead(input, used, count, metrics);
    if (code == 0) code = put_unread(metrics);
    if (code == 0) code = assay__score_put(metrics, assay__trial_on_cpu(input->trial));
    if (code == 0) code = assay__trial_disturbances(input);
    if (code == 0) code = assay__trial_stability(input);
    free(used);
    return code;
}
