/* report_page.c - how long the HTML page takes to write, and how large it is: a made-up profile of
 * so many layers and samples, rendered again and again in memory, then written once. It has what a
 * run on a CPU with ceilings has: metrics, roofline, tensors, graph, findings. Prints JSON:
 * {"median_s", "min_s", "max_s", "write_s", "bytes"}.
 *
 * report_page LAYERS SAMPLES ROUNDS [FILE] */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/stats.h"
#include "profile/profile.h"

#include <assay/report.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEP 4 /* nodes that a layer is fused from, at most */
#define LAUNCHES 5
#define PEAK 280e9     /* FLOP/s, of fill_ceilings */
#define BANDWIDTH 40e9 /* B/s */

static const int launch_ids[LAUNCHES] = {1, 2, 3, 4, 5};

static void fill_layers(struct assay_profile *profile, struct assay__trial *trial, size_t count,
                        double p50_ns)
{
    static const char *const ops[] = {"Conv", "Relu", "MatMul", "Add", "LayerNormalization"};
    struct assay__arena *arena = profile->arena;
    struct assay__random random;
    assay__random_seed(&random, 7);
    trial->layers = assay__layers_unknown();
    trial->layers.method = "markers";
    trial->layers.items = assay__arena_array(arena, count, sizeof *trial->layers.items);
    if (!trial->layers.items) exit(3);
    trial->layers.count = count;
    trial->layers.engine_ns = 0.02 * p50_ns;
    trial->layers.unattributed_ns = 0.01 * p50_ns;
    trial->layers.launch_count = LAUNCHES;
    trial->layers.launch_ids = launch_ids;
    double *times_ns = assay__arena_array(arena, count * LAUNCHES, sizeof *times_ns);
    if (!times_ns) exit(3);
    for (size_t i = 0; i < count; i++) {
        struct assay__layer *l = &trial->layers.items[i];
        const char *op = ops[i % 5];
        l->index = (int)i;
        l->name = assay__arena_printf(arena, "/encoder/layer.%zu/block.%zu/%s_nchwc", i / 40,
                                      i % 40, op);
        l->op = op;
        l->provider = "CPUExecutionProvider";
        l->time_ns = 0.97 * p50_ns * (0.5 + assay__random_unit(&random)) / (double)count;
        l->host_enqueue_ns = NAN;
        l->share = l->time_ns / p50_ns;
        l->flops = round(l->time_ns * PEAK / 1e9 * (0.02 + 0.6 * (double)(i % 97) / 97));
        l->bytes = round(l->time_ns * BANDWIDTH / 1e9 * (0.01 + 0.5 * (double)(i % 89) / 89));
        l->weight_bytes = l->bytes / 3;
        l->live_bytes = 1e6 + 1e4 * (double)(i % 113);
        l->bound = i % 3 ? "compute" : "memory";
        l->state = ASSAY_MEASURED;
        l->method = "markers";
        l->note = "";
        for (size_t k = 0; k < LAUNCHES; k++)
            times_ns[i * LAUNCHES + k] = l->time_ns * (1 + 0.01 * assay__random_normal(&random));
        l->launch_times_ns = times_ns + i * LAUNCHES;
        /* blocks of a model are alike: shapes repeat */
        size_t channels = 64 * (1 + i % 8) << i / 40 % 3, side = 56 >> i / 40 % 3;
        l->inputs = assay__arena_printf(arena, "1x%zux%zux%zu float32, 1x%zux%zux%zu float32",
                                        channels, side, side, channels, side, side);
        l->weights = assay__arena_printf(arena, "%zux64x3x3 float32, %zu float32", channels,
                                         channels);
        l->outputs = assay__arena_printf(arena, "1x%zux%zux%zu float32", channels, side, side);
        l->attributes = "Conv: dilations 1x1, group 1, kernel_shape 3x3, pads [1, 1, 1, 1], "
                        "strides 1x1";
        l->from_count = 1 + i % STEP;
        l->from = assay__arena_array(arena, l->from_count, sizeof *l->from);
        for (size_t k = 0; l->from && k < l->from_count; k++)
            l->from[k] = assay__arena_printf(arena, "/encoder/layer.%zu/block.%zu/%s_%zu", i / 40,
                                             i % 40, op, k);
    }
}

/* A chain; every fourth layer is also read two layers later, as a residual connection is. */
static void fill_edges(struct assay_profile *profile, struct assay__layers *layers)
{
    size_t most = layers->count + layers->count / 4 + 2, made = 0;
    layers->edges = assay__arena_array(profile->arena, most, sizeof *layers->edges);
    if (!layers->edges) exit(3);
    layers->edges[made++] = (struct assay__edge){-1, 0, "pixel_values", 602112};
    for (size_t i = 1; i < layers->count; i++) {
        const struct assay__layer *last = &layers->items[i - 1];
        layers->edges[made++] = (struct assay__edge){
            (int)i - 1, (int)i, assay__arena_printf(profile->arena, "%s_output_0", last->from[0]),
            last->live_bytes / 4};
        if (i % 4 == 3)
            layers->edges[made++] = (struct assay__edge){
                (int)i - 3, (int)i,
                assay__arena_printf(profile->arena, "%s_output_0", layers->items[i - 3].from[0]),
                layers->items[i - 3].live_bytes / 4};
    }
    layers->edges[made++] = (struct assay__edge){(int)layers->count - 1, -1, "logits", 4000};
    layers->edge_count = made;
}

/* Those of a CPU, as `assay devices --ceilings` keeps them. */
static void fill_ceilings(struct assay_profile *profile)
{
    static const char *const types[] = {"float64", "float32", "bfloat16", "int8"};
    static const char *const levels[] = {"dram", "l3", "l2", "l1"},
                             *const ways[] = {"read", "write", "copy", "triad"},
                             *const cores[] = {"one-core", "all-cores"};
    enum { MOST = 48 };
    profile->ceilings = assay__arena_array(profile->arena, MOST, sizeof *profile->ceilings);
    if (!profile->ceilings) exit(3);
    for (size_t i = 0; i < 40; i++) {
        bool computes = i < 8;
        double value = computes ? PEAK / 4 * (double)(1 << i / 2) * (double)(1 + i % 2)
                                : BANDWIDTH / 2 * (double)(1 << (i - 8) / 8) * (double)(1 + i % 2);
        const char *name = computes ? assay__arena_printf(profile->arena, "compute.%s.%s",
                                                          types[i / 2], cores[i % 2])
                                    : assay__arena_printf(profile->arena, "bandwidth.%s.%s.%s",
                                                          levels[(i - 8) / 8],
                                                          ways[(i - 8) / 2 % 4], cores[i % 2]);
        profile->ceilings[profile->ceiling_count++] = (struct assay__ceiling_info){
            "cpu",
            name,
            value,
            computes ? "FLOP/s" : "B/s",
            0.9 * value,
            value,
            "clock",
            "other processes used 12 % of the CPU time: the ceiling may be too low",
            "2026-01-01T00:00:00Z"};
    }
}

static void fill_metrics(struct assay_metrics *set, double p50_ns)
{
    static const char *const latencies[] = {"mean", "min", "p5",  "p50",         "p90",
                                            "p95",  "p99", "max", "between_low", "between_high"};
    static const char *const unknown[][2] = {
        {"latency.preprocess", "not part of the model file: a model starts at its input tensors"},
        {"latency.transfer_in", "the CPU provider reads the inputs in host memory"},
        {"latency.execute", "not separated on the CPU: an inference is one host-to-host call"},
        {"latency.transfer_out", "the CPU provider writes the outputs in host memory"},
        {"latency.p999", "needs 6636 samples in a launch: run longer"},
        {"cache.hit_rate", "no hardware counters were read"},
        {"hardware.cycles", "no hardware counters were read"},
        {"hardware.instructions", "no hardware counters were read"},
        {"hardware.ipc", "no hardware counters were read"},
        {"power.average", "no energy counter or power sensor was read"},
        {"energy.inference.gross", "no energy counter or power sensor was read"},
        {"energy.inference.net", "no energy counter or power sensor was read"},
        {"efficiency.tops_per_watt", "no energy counter or power sensor was read"},
        {"memory.peak.device", "the run used the CPU: no device with its own memory took part"},
        {"hardware.frequency", "no cpufreq on this host: the clock of the CPUs cannot be read"},
        {"hardware.temperature", "no temperature sensor can be read"}};
    static const struct {
        const char *name;
        double value;
        const char *note;
    } known[] = {
        {"timing.load", 0.1, "median over launches"},
        {"timing.compile", 0.2, "median over launches"},
        {"timing.session", 0.4, "median over launches"},
        {"timing.first", 0.05, "median over launches"},
        {"latency.samples", 1000, "warm samples, all launches and streams"},
        {"latency.warmup", 50, "40 iterations before measuring, then 10 detected as warm-up"},
        {"throughput.inferences", 470, "completions / wall time, 1 request in flight"},
        {"throughput.images", 470, "throughput.inferences x batch"},
        {"compute.flops", 8.2e9, "sum over the nodes at these shapes; a multiply-add is 2"},
        {"compute.rate", 3.9e12, "compute.flops / latency.p50"},
        {"memory.bandwidth", 1.9e11, "bytes that the nodes read and write / latency.p50"},
        {"memory.model", 1.02e8, "bytes of all initializers"},
        {"memory.peak.worker", 2.9e8, "peak resident memory - memory.baseline.worker"},
        {"memory.activation.predicted", 9.6e6, "most bytes of activations alive at once"},
        {"overhead.clock", 2.2e-8, "one read of CLOCK_MONOTONIC"},
        {"overhead.loop", 2.5e-8, "one iteration with an empty step, clock read included"},
        {"overhead.layers", 1.04, "instrumented run / plain run"},
        {"disturbance.cpu_other", 0.02, "busy CPU time of other processes / all CPU time"},
        {"disturbance.page_faults_minor", 90000, "whole life of the workers, loading included"}};
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "latency.%s", latencies[i]);
        assay_metrics_derived(set, name, p50_ns / 1e9 * (0.97 + 0.01 * (double)i), "clock",
                              "median over 5 launches of each launch's value; warm samples");
    }
    assay_metrics_measured(set, "latency.p50", p50_ns / 1e9, "clock", "");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assay_metrics_measured(set, known[i].name, known[i].value, "process", known[i].note);
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assay_metrics_unavailable(set, unknown[i][0], unknown[i][1]);
}

static void fill_findings(struct assay_profile *profile)
{
    static const char *const titles[] = {
        "Most of the time is far below its roof", "The first inference is slow",
        "A larger batch would use the weights more often", "Products run in float32"};
    static const char *evidence[] = {"layers with 61 % of the time reach at most 10 % of the roof",
                                     "the ceiling of bfloat16 is 2 times as high"};
    enum { COUNT = sizeof titles / sizeof titles[0] };
    profile->findings = assay__arena_array(profile->arena, COUNT, sizeof *profile->findings);
    if (!profile->findings) exit(3);
    for (size_t i = 0; i < COUNT; i++)
        profile->findings[i] = (struct assay__finding){
            .id = "low-utilisation",
            .severity = "medium",
            .title = titles[i],
            .advice = "Try other settings of the engine: assay tune model.onnx.",
            .evidence = evidence,
            .evidence_count = 2,
            .expected_gain = i % 2 ? (double)NAN : 1.4,
            .verified_gain = NAN,
            .effort = "small",
            .state = "open",
            .reason = "",
            .energy_saving = NAN,
            .verified_energy = NAN,
            .verified_drift = NAN};
    profile->finding_count = COUNT;
}

/* The activations at the peak. */
static void fill_peak(struct assay_profile *profile, struct assay__trial *trial)
{
    enum { ALIVE = 12 };
    struct assay__peak *peak = &trial->peak;
    size_t count = trial->layers.count < ALIVE ? trial->layers.count : ALIVE;
    *peak = assay__peak_unknown();
    peak->tensors = assay__arena_array(profile->arena, ALIVE, sizeof *peak->tensors);
    if (!peak->tensors) exit(3);
    peak->reason = "";
    peak->node = trial->layers.items[0].name, peak->op = trial->layers.items[0].op;
    peak->bytes = 9.6e6, peak->body_bytes = 0, peak->rest_bytes = 0;
    peak->alive = (int64_t)(peak->count = count);
    for (size_t i = 0; i < count; i++) {
        const struct assay__layer *l = &trial->layers.items[i];
        peak->tensors[i] = (struct assay__peak_tensor){
            assay__arena_printf(profile->arena, "%s_output_0", l->from[0]),
            l->outputs,
            8e5,
            l->from[0],
            l->op,
            l->from[0],
            trial->layers.items[count - 1].from[0]};
    }
}

static void fill_launch(struct assay_profile *profile, struct assay__trial *trial, int id,
                        size_t count, double p50_ns)
{
    struct assay__random random;
    assay__random_seed(&random, 10 + (uint64_t)id);
    struct assay__launch *launch = assay__trial_launch(profile, trial);
    if (!launch) exit(3);
    launch->id = id;
    launch->state = ASSAY__TRIAL_OK;
    launch->streams = 1;
    launch->samples_ns = assay__arena_array(profile->arena, count, sizeof *launch->samples_ns);
    launch->stream_offsets = assay__arena_array(profile->arena, 2, sizeof *launch->stream_offsets);
    if (!launch->samples_ns || !launch->stream_offsets) exit(3);
    launch->stream_offsets[1] = launch->sample_count = count;
    launch->warmup = count / 100;
    launch->p50_ns = p50_ns;
    for (size_t i = 0; i < count; i++) {
        double spread = 0.02 * assay__random_normal(&random);
        if (assay__random_unit(&random) < 0.001) spread += 2;
        launch->samples_ns[i] = floor(p50_ns * (1 + fabs(spread) + (i < 100 ? 0.5 : 0)));
    }
}

static struct assay_profile *make(size_t layers, size_t samples)
{
    const double p50_ns = 2.1e6;
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = profile ? assay__profile_trial(profile) : NULL;
    if (!trial) exit(3);
    assay__profile_set_command(profile, "run");
    profile->command_line = "assay run model.onnx";
    profile->created = "2026-01-01T00:00:00Z";
    profile->complete = true;
    profile->models[0]->name = "made-up";
    profile->environment.cpu_model = "Made-up Processor @ 3.10GHz";
    profile->environment.cores = 2;
    trial->state = ASSAY__TRIAL_OK;
    trial->target.device = "cpu";
    trial->target.device_class = ASSAY__CLASS_CPU;
    trial->target.engine = "ort";
    trial->target.engine_version = "1.31.1";
    trial->batch = 1;
    trial->stability.verdict = "stable";
    if (!trial->metrics) trial->metrics = assay_metrics_new();
    fill_metrics(trial->metrics, p50_ns);
    fill_layers(profile, trial, layers, p50_ns);
    fill_edges(profile, &trial->layers);
    fill_peak(profile, trial);
    fill_ceilings(profile);
    fill_findings(profile);
    for (int id = 1; id <= LAUNCHES; id++)
        fill_launch(profile, trial, id,
                    samples / LAUNCHES + ((size_t)id <= samples % LAUNCHES ? 1 : 0), p50_ns);
    return profile;
}

int main(int argc, char **argv)
{
    struct assay_error error = {0};
    long layers = argc > 3 ? strtol(argv[1], NULL, 10) : 0,
         samples = argc > 3 ? strtol(argv[2], NULL, 10) : 0,
         rounds = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    if (layers < 1 || samples < 1 || rounds < 1 || rounds > 1000) {
        fprintf(stderr, "usage: report_page LAYERS SAMPLES ROUNDS [FILE]\n");
        return 2;
    }
    struct assay_profile *profile = make((size_t)layers, (size_t)samples);
    const struct assay_report_options options = {.size = sizeof options, .format = "html"};
    double times[1000];
    char *text = NULL;
    size_t length = 0;
    int code = 0;
    for (long i = 0; i < rounds && !code; i++) {
        assay_free(text);
        uint64_t begin = assay__now_ns();
        code = assay_report(profile, &options, &text, &length, &error);
        times[i] = (double)(assay__now_ns() - begin) / 1e9;
    }
    uint64_t begin = assay__now_ns();
    if (!code && argc > 4) code = assay__file_write(argv[4], text, length, &error);
    double write_s = (double)(assay__now_ns() - begin) / 1e9;
    if (code) {
        fprintf(stderr, "report_page: %s\n", error.message);
        return 3;
    }
    assay__stats_sort(times, (size_t)rounds);
    printf("{\"median_s\": %.6f, \"min_s\": %.6f, \"max_s\": %.6f, \"write_s\": %.6f, \"bytes\": "
           "%zu}\n",
           assay__stats_median(times, (size_t)rounds), times[0], times[rounds - 1], write_s,
           length);
    assay_free(text);
    assay_profile_close(profile);
    return 0;
}
