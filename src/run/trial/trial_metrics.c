/* trial_metrics.c - the metrics of a trial and of a launch (names and units: base/metric_table.c).
 * What this run cannot determine is unavailable with the reason, so that a report shows the whole
 * list. */
#include "base/metric_table.h"
#include "base/metric_value.h"
#include "cost/score.h"
#include "probe/live.h"
#include "profile/trial_values.h"
#include "run/trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct assay__outcome, field)

/* An ONNX file has no pre- or post-processing; on the CPU nothing is copied to a device. */
static const struct {
    const char *name, *on_cpu, *on_device;
} breakdown[] = {
    {"latency.preprocess", "not part of the model file: an ONNX model starts at its input tensors",
     "not part of the model file: an ONNX model starts at its input tensors"},
    {"latency.transfer_in",
     "the CPU provider reads the inputs in host memory: there is no transfer to time",
     "the engine does not separate the copy to the device; needs I/O binding"},
    {"latency.execute",
     "not separated on the CPU: an inference is one host-to-host call (latency.p50)",
     "the engine does not separate execution from the copies; needs I/O binding"},
    {"latency.transfer_out",
     "the CPU provider writes the outputs in host memory: there is no transfer to time",
     "the engine does not separate the copy from the device; needs I/O binding"},
    {"latency.postprocess", "not part of the model file: an ONNX model ends at its output tensors",
     "not part of the model file: an ONNX model ends at its output tensors"},
};

/* Measured when finite, else unavailable with the reason. */
static void put_measured(struct assay_metrics *metrics, const char *name, double value,
                         const char *source, const char *note, const char *reason)
{
    assay__metrics_put_known(metrics, name, ASSAY_MEASURED, value, source, note, reason);
}

/* --- timing ----------------------------------------------------------------------------------- */

static void timing(const struct assay__outcome *const *used, size_t count,
                   struct assay_metrics *metrics)
{
    const char *why = "the launch failed before this was known";
    const char *split = why;
    for (size_t i = 0; i < count; i++)
        if (used[i]->facts.known) split = used[i]->facts.load_reason;
    if (!split[0]) split = "the engine does not separate load from compile";
    const struct {
        const char *name, *source, *reason;
        size_t offset;
    } rows[] = {{"timing.load", "engine", split, AT(facts.load_ns)},
                {"timing.compile", "engine", split, AT(facts.compile_ns)},
                {"timing.session", "clock", why, AT(facts.create_ns)},
                {"timing.first", "clock", why, AT(facts.first_ns)}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_measured(metrics, rows[i].name, assay__trial_median(used, count, rows[i].offset) / 1e9,
                     rows[i].source, count > 1 ? "median over launches" : "", rows[i].reason);
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

static void scaled_rate(struct assay_metrics *metrics, const char *name, double rate, double factor,
                        const char *formula, const char *reason)
{
    assay__metrics_put_known(metrics, name, ASSAY_DERIVED, factor > 0 ? rate * factor : (double)NAN,
                             "clock", formula, isfinite(rate) ? reason : "no sample was taken");
}

static void throughput(const struct assay__trial_input *input, double rate,
                       struct assay_metrics *metrics)
{
    const struct assay__workload *workload = input->workload;
    const double batch = workload && workload->batch > 0 ? (double)workload->batch : NAN;
    const bool tokens = workload && workload->has_tokens && workload->sequence > 0 &&
                        input->generate == 0;
    static const char *const two_kinds =
        "a generation both reads and produces tokens: see llm.prefill and llm.decode";
    const bool images = workload && workload->has_images;
    static const char *const no_batch = "the inputs have no known batch axis";
    char note[128];
    snprintf(note, sizeof note, "completions / wall time, %d request%s in flight", input->streams,
             input->streams == 1 ? "" : "s");
    put_measured(metrics, "throughput.inferences", rate, "clock", note, "no sample was taken");
    scaled_rate(metrics, "throughput.samples", rate, batch, "throughput.inferences x batch",
                no_batch);
    scaled_rate(metrics, "throughput.tokens", rate,
                tokens ? batch * (double)workload->sequence : NAN,
                "throughput.inferences x batch x sequence",
                input->generate > 0 ? two_kinds
                : tokens            ? no_batch
                                    : "the model has no integer ids with a sequence axis");
    scaled_rate(metrics, "throughput.images", rate, images ? batch : NAN,
                "throughput.inferences x batch",
                images ? no_batch : "the model has no 4-D image input");
}

/* --- states and real time --------------------------------------------------------------------- */

/* Of the launch in which most are. */
static void states(const struct assay__trial_input *input, const struct assay__outcome *const *used,
                   size_t count, struct assay_metrics *metrics)
{
    const char *note = count > 1 ? "after the last measured inference; maximum over the launches"
                                 : "after the last measured inference";
    double most = NAN, most_outputs = NAN;
    for (size_t i = 0; i < count; i++) { /* NaN only where both are */
        most = fmax(most, used[i]->state.nonfinite);
        most_outputs = fmax(most_outputs, used[i]->state.outputs_nonfinite);
    }
    if (isfinite(most_outputs) && !input->outputs_kept)
        put_measured(metrics, "outputs.nonfinite", most_outputs, "outputs", note, "");
    if (input->trial->feedback_count)
        put_measured(metrics, "state.nonfinite", most, "outputs", note,
                     "the engine did not show the states after measuring");
}

static void real_time(const struct assay__trial *trial, struct assay_metrics *metrics)
{
    const struct assay_metric *p50 = assay_metrics_get(metrics, "latency.p50");
    const struct assay_metric covered = {.name = "seconds per inference",
                                         .value = trial->real_time.seconds,
                                         .unit = "s",
                                         .state = ASSAY_MEASURED};
    if (!isfinite(covered.value)) return;
    assay_metrics_ratio(metrics, "realtime.factor", p50, &covered,
                        "latency.p50 / seconds per inference, as given");
    assay_metrics_ratio(metrics, "realtime.speed", &covered, p50,
                        "seconds per inference, as given / latency.p50");
}

/* --- compute and memory ----------------------------------------------------------------------- */

static void compute(const struct assay__trial_input *input, struct assay_metrics *metrics)
{
    const struct assay__model_costs *costs = input->costs;
    const bool model = costs && costs->nodes;
    static const char *const no_model = "no model file: the script has no graph";
    assay__metrics_put_known(
        metrics, "compute.flops", ASSAY_DERIVED, model ? costs->flops : (double)NAN, "graph",
        input->generate > 0 ? "sum over the nodes, over the prompt and every decode step at its "
                              "own cache length; a multiply-add is 2"
                            : "sum over the nodes at these shapes; a multiply-add is 2",
        model ? costs->flops_reason : no_model);
    struct assay_metric bytes = {.name = "bytes moved",
                                 .value = NAN,
                                 .unit = "B",
                                 .note = model ? costs->bytes_reason : no_model};
    if (model && isfinite(costs->bytes)) {
        bytes.value = costs->bytes;
        bytes.state = ASSAY_DERIVED;
    }
    const struct assay_metric *p50 = assay_metrics_get(metrics, "latency.p50"),
                              *flops = assay_metrics_get(metrics, "compute.flops");
    assay_metrics_ratio(metrics, "compute.rate", flops, p50, "compute.flops / latency.p50");
    assay_metrics_ratio(metrics, "compute.intensity", flops, &bytes,
                        "compute.flops / bytes that the nodes read and write");
    assay_metrics_ratio(
        metrics, "memory.bandwidth", &bytes, p50,
        "bytes that the nodes read and write / latency.p50; caches are not modelled");
}

static void worker_memory(const struct assay__outcome *const *used, size_t count,
                          struct assay_metrics *metrics)
{
    double peak = assay__trial_median(used, count, AT(memory.peak)),
           base = assay__trial_median(used, count, AT(memory.baseline));
    double arena = assay__trial_median(used, count, AT(memory.arena_peak));
    if (!isfinite(arena)) arena = assay__trial_median(used, count, AT(memory.arena));
    const char *lost = assay__live_refused();
    if (!lost) lost = "the worker ended before it could be read, or this system does not report it";
    double beyond = peak < base ? 0 : peak - base;
    assay__metrics_put_known(
        metrics, "memory.peak.worker", ASSAY_DERIVED, beyond, "process",
        "peak resident memory - memory.baseline.worker; read before the layer pass", lost);
    put_measured(metrics, "memory.baseline.worker", base, "process",
                 "resident before inputs and engine", lost);
    put_measured(metrics, "memory.pss.worker", assay__trial_median(used, count, AT(memory.pss)),
                 "process", "after the measured windows, before the layer pass", lost);
    put_measured(metrics, "memory.activation.arena", arena, "engine",
                 "the engine's arena at its peak, where it reports it; may include weights that "
                 "the engine has copied",
                 "the engine does not report its arena");
}

static void memory(const struct assay__trial_input *input, const struct assay__outcome *const *used,
                   size_t count, struct assay_metrics *metrics)
{
    const struct assay__model_costs *costs = input->costs;
    int64_t weights = input->trial->model->weight_bytes;
    assay__metrics_put_known(metrics, "memory.model", ASSAY_DERIVED,
                             weights >= 0 ? (double)weights : (double)NAN, "graph",
                             "bytes of all initializers", "the size of the weights is unknown");
    assay__metrics_put_known(metrics, "memory.activation.predicted", ASSAY_DERIVED,
                             costs ? costs->live_peak_bytes : (double)NAN, "graph",
                             "most bytes of activations alive at once, in the graph's own order, "
                             "nothing in place",
                             costs ? costs->live_reason : "no model file: the script has no graph");
    worker_memory(used, count, metrics);
    /* watch_memory.c replaces these if it can read the device's memory. */
    static const char *const unread = "the device's memory was not sampled";
    const struct assay_metric *host = assay_metrics_get(metrics, "memory.peak.worker");
    bool cpu = assay__trial_on_cpu(input->trial);
    assay_metrics_unavailable(metrics, "memory.peak.device",
                              cpu ? "the run used the CPU: no device with its own memory took part"
                                  : unread);
    if (!cpu || !host || host->state == ASSAY_UNAVAILABLE)
        assay_metrics_unavailable(metrics, "memory.total",
                                  !cpu   ? unread
                                  : host ? host->note
                                         : "the worker's memory is not known");
    else
        assay_metrics_derived(metrics, "memory.total", host->value, "process",
                              "memory.peak.worker; no device took part");
}

/* --- what measuring cost ---------------------------------------------------------------------- */

static void overhead(const struct assay__trial_input *input,
                     const struct assay__outcome *const *used, size_t count,
                     struct assay_metrics *metrics)
{
    static const char *const lost = "the launch failed before this was measured";
    char note[160];
    double step = assay__trial_median(used, count, AT(facts.clock_step_ns));
    snprintf(note, sizeof note, "one read of CLOCK_MONOTONIC; smallest step seen %.3g ns", step);
    put_measured(metrics, "overhead.clock",
                 assay__trial_median(used, count, AT(facts.clock_ns)) / 1e9, "clock", note, lost);
    put_measured(metrics, "overhead.loop",
                 assay__trial_median(used, count, AT(facts.loop_ns)) / 1e9, "clock",
                 "one iteration with an empty step, clock read included", lost);
    double slowdown = input->trial->layers.slowdown;
    const char *reason = input->trial->layers.reason;
    if (!reason[0] && input->trial->layers.count)
        reason = "this method does not show how much it slowed down the run";
    put_measured(metrics, "overhead.layers", slowdown, "clock", "instrumented run / plain run",
                 reason[0] ? reason : "layers were not timed");
    put_measured(metrics, "overhead.run", input->overhead_run_s, "clock",
                 "wall time beyond session creation, inferences, the layer pass and building a zoo "
                 "model; until the metrics were computed",
                 "a launch failed before it reported its times");
}

/* --- together --------------------------------------------------------------------------------- */

int assay__launch_metrics(const struct assay__outcome *outcome, bool warmup_forced,
                          struct assay_metrics *metrics)
{
    const struct assay__outcome *one[] = {outcome};
    timing(one, 1, metrics);
    assay__summary_metrics(&outcome->summary, "", metrics);
    assay__summary_warmup_metric(outcome->prerun, warmup_forced, outcome->stream_count,
                                 outcome->summary.warmup, metrics);
    put_measured(metrics, "throughput.inferences", rate_of(outcome), "clock", "",
                 "no sample was taken");
    worker_memory(one, 1, metrics);
    if (isfinite(outcome->state.nonfinite))
        put_measured(metrics, "state.nonfinite", outcome->state.nonfinite, "outputs",
                     "after the last measured inference", "");
    if (isfinite(outcome->state.outputs_nonfinite))
        put_measured(metrics, "outputs.nonfinite", outcome->state.outputs_nonfinite, "outputs",
                     "after the last measured inference", "");
    assay__launch_layers(outcome, metrics);
    return assay_metrics_failed(metrics);
}

int assay__trial_metrics(const struct assay__trial_input *input)
{
    struct assay_metrics *metrics = input->trial->metrics;
    const struct assay__outcome **used = calloc(input->outcome_count + 1, sizeof *used);
    if (!used) return ASSAY_ENOMEM;
    size_t count = assay__trial_used(input, used);
    bool cpu = assay__trial_on_cpu(input->trial);
    timing(used, count, metrics);
    int code = assay__trial_latency(input, used, count);
    for (size_t i = 0; i < sizeof breakdown / sizeof breakdown[0]; i++)
        assay_metrics_unavailable(metrics, breakdown[i].name,
                                  cpu ? breakdown[i].on_cpu : breakdown[i].on_device);
    throughput(input, assay__trial_median_of(used, count, rate_of), metrics);
    assay__generation_metrics(used, count, input->generate, cpu, metrics);
    if (code == 0 && input->trial->generation.tokens)
        code = assay__generation_ids(used, count, input->profile, input->trial);
    real_time(input->trial, metrics);
    states(input, used, count, metrics);
    if (code == 0 && input->trial->generation.tokens)
        code = assay__generation_times(used, count, input->profile, input->trial);
    compute(input, metrics);
    memory(input, used, count, metrics);
    if (code == 0) code = assay__trial_layers(input, assay__trial_p50(used, count));
    overhead(input, used, count, metrics);
    /* Metrics that a watcher replaces if it can read them. */
    for (size_t i = 0; i < assay__metric_table_count; i++)
        if (assay__metric_table[i].unread)
            assay_metrics_unavailable(metrics, assay__metric_table[i].name,
                                      assay__metric_table[i].unread);
    assay__score_put(metrics, cpu);
    if (code == 0) code = assay__trial_disturbances(input);
    if (code == 0) code = assay__trial_stability(input);
    if (code == 0) code = assay_metrics_failed(metrics);
    free(used);
    return code;
}
