/* report_page.c - how long the HTML page takes to write, and how large it is: a made-up profile of
 * so many layers and samples, rendered again and again in memory, then written once. Prints JSON:
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
        l->provider = i % 50 ? "CUDAExecutionProvider" : "CPUExecutionProvider";
        l->time_ns = 0.97 * p50_ns * (0.5 + assay__random_unit(&random)) / (double)count;
        l->host_enqueue_ns = NAN;
        l->share = l->time_ns / p50_ns;
        l->flops = 1e6 * (double)(1 + i % 97);
        l->bytes = 1e5 * (double)(1 + i % 89);
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

static void fill_samples(struct assay_profile *profile, struct assay__trial *trial, size_t count,
                         double p50_ns)
{
    struct assay__random random;
    assay__random_seed(&random, 11);
    struct assay__launch *launch = assay__trial_launch(profile, trial);
    if (!launch) exit(3);
    launch->id = 1;
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
    trial->state = ASSAY__TRIAL_OK;
    trial->target.device = "cuda";
    trial->target.engine = "ort";
    if (!trial->metrics) trial->metrics = assay_metrics_new();
    assay_metrics_measured(trial->metrics, "latency.p50", p50_ns / 1e9, "clock", "");
    assay_metrics_measured(trial->metrics, "latency.p99", 1.1 * p50_ns / 1e9, "clock", "");
    fill_layers(profile, trial, layers, p50_ns);
    fill_samples(profile, trial, samples, p50_ns);
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
