/* test_run.c - assay__run() against the fake engine on its scripted clock: exact statistics, every
 * way a launch can fail, what is kept. Real workers are started; no test depends on how fast the
 * machine is. Also run under ThreadSanitizer. */
#include "run_fixture.h"

#include "profile/profile.h"
#include "run/child.h"

#include <sys/stat.h>

static struct assay__run_options options_of(const char *script)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    return (struct assay__run_options){
        .target.engine = "fake", .script = script, .measuring.timeout_s = 60};
}

static struct assay_profile *run(const struct assay__run_options *options, int expected,
                                 struct assay_error *error)
{
    struct assay_profile *profile = NULL;
    struct assay_error own = {0};
    if (!error) error = &own;
    int code = assay__run(options, &profile, error);
    if (code != expected) printf("  code %d: %s\n", code, error->message);
    CHECK_INT(code, expected);
    return profile;
}

/* --- exact values ----------------------------------------------------------------------------- */

static void test_exact(void)
{
    struct assay__run_options options = options_of(
        "load=2ms;compile=3ms;first=9ms;memory_peak=4096;"
        "steady=100us,200us,300us,400us,500us,600us,700us,800us,900us,1000us");
    options.measuring.iterations = 1000; /* ten windows of ten whole cycles */
    options.measuring.warmup_given = true;
    options.measuring.warmup = 10;
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_NEAR(value(profile, "timing.load"), 2e-3, 1e-15);
    CHECK_NEAR(value(profile, "timing.compile"), 3e-3, 1e-15);
    CHECK_NEAR(value(profile, "timing.session"), 5e-3, 1e-15);
    CHECK_NEAR(value(profile, "timing.first"), 9e-3, 1e-15);
    CHECK_NEAR(value(profile, "latency.p50"), 550e-6, 1e-15);
    CHECK_NEAR(value(profile, "latency.p90"), 900e-6, 1e-15);
    CHECK_NEAR(value(profile, "latency.p95"), 1000e-6, 1e-15);
    CHECK_NEAR(value(profile, "latency.p99"), 1000e-6, 1e-15);
    CHECK_NEAR(value(profile, "latency.min"), 100e-6, 1e-15);
    CHECK_NEAR(value(profile, "latency.max"), 1000e-6, 1e-15);
    CHECK_NEAR(value(profile, "latency.mean"), 550e-6, 1e-15);
    /* Sample variance of 1…10 repeated 100 times: 8.25 n / (n - 1). */
    CHECK_NEAR(value(profile, "latency.stddev"), 1e-4 * sqrt(8.25 * 1000 / 999), 1e-12);
    CHECK_NEAR(value(profile, "latency.iqr"), 500e-6, 1e-15);
    CHECK_NEAR(value(profile, "throughput.inferences"), 1e6 / 550, 1e-9);
    CHECK_NEAR(value(profile, "latency.samples"), 1000, 0);
    CHECK_NEAR(value(profile, "latency.warmup"), 10, 0);
    CHECK_NEAR(value(profile, "memory.activation.arena"), 4096, 0);
    CHECK_INT(metric(profile, "latency.p999")->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(metric(profile, "latency.p999")->note, "6636");
    CHECK_HAS(metric(profile, "latency.between_low")->note, "at least 5 launches");
    CHECK_INT(profile->trials[0].state, ASSAY__TRIAL_OK);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 1000);
    CHECK_INT(profile->trials[0].launches[0].warmup, 0);
    CHECK_NEAR(profile->trials[0].launches[0].p50_ns, 550000, 0);
    CHECK(profile->complete);
    CHECK_STR(profile->trials[0].target.engine_version, assay_version());
    assay_profile_close(profile);
}

/* Every number has a state; what is not known says why; what is known says from where. */
static void test_every_metric_speaks(void)
{
    struct assay__run_options options = options_of("steady=100us");
    options.measuring.iterations = 100;
    struct assay_profile *profile = run(&options, 0, NULL);
    const struct assay_metrics *metrics = assay_profile_metrics(profile, 0);
    CHECK(assay_metrics_count(metrics) > 50);
    for (size_t i = 0; i < assay_metrics_count(metrics); i++) {
        const struct assay_metric *one = assay_metrics_at(metrics, i);
        bool known = one->state != ASSAY_UNAVAILABLE;
        if (assay_metric_lookup(one->name) == NULL || isfinite(one->value) != known ||
            (known && !one->source[0]) || (!known && !one->note[0]))
            printf("  %s\n", one->name);
        CHECK(assay_metric_lookup(one->name) != NULL);
        CHECK(isfinite(one->value) == known);
        CHECK(known ? one->source[0] != '\0' : one->note[0] != '\0');
        CHECK(one->state != ASSAY_DERIVED || one->note[0] != '\0');
    }
    CHECK(value(profile, "overhead.loop") > 0);
    CHECK(value(profile, "overhead.clock") > 0);
    CHECK(value(profile, "overhead.run") > 0);
    CHECK(value(profile, "memory.peak.worker") >= 0);
    assay_profile_close(profile);
}

static void test_default_goal(void)
{
    struct assay__run_options options = options_of("steady=20us");
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_NEAR(value(profile, "latency.p50"), 20e-6, 0);
    CHECK_NEAR(value(profile, "throughput.inferences"), 50000, 1e-6);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 50000); /* 1 s in ten windows of 0.1 s */
    CHECK_STR(profile->trials[0].stability.verdict, "stable");
    CHECK_INT(profile->trials[0].stability.more_iterations, 0);
    assay_profile_close(profile);
}

static void test_hard_cap(void)
{
    struct assay__run_options options = options_of("steady=1500ms");
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 6); /* a seventh would end beyond 10 s */
    CHECK_STR(profile->trials[0].stability.verdict, "too-few");
    assay_profile_close(profile);
    options.script = "steady=15s";
    profile = run(&options, 0, NULL);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 1);
    CHECK_NEAR(value(profile, "latency.p50"), 15, 0);
    CHECK_INT(metric(profile, "latency.stddev")->state, ASSAY_UNAVAILABLE);
    CHECK_INT(metric(profile, "latency.iqr")->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(metric(profile, "latency.iqr")->note, "at least 4 samples, there is 1");
    assay_profile_close(profile);
    options.measuring.iterations = 4;
    profile = run(&options, 0, NULL);
    CHECK_NEAR(value(profile, "latency.iqr"), 0, 0); /* four equal samples have one */
    assay_profile_close(profile);
}

static void test_time_asked(void)
{
    struct assay__run_options options = options_of("steady=1ms");
    options.measuring.time_s = 0.5;
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 500);
    CHECK_NEAR(profile->trials[0].launches[0].wall_ns, 0.5e9, 1);
    assay_profile_close(profile);
}

/* 2,500 slow steps: the pre-run takes 0.2 s (1,000 of them), two go to re-warming; what is left is
 * found in the data. */
static void test_warmup_found(void)
{
    struct assay__run_options options = options_of("first=1ms;warmup=2500x200us;steady=100us");
    struct assay_profile *profile = run(&options, 0, NULL);
    size_t warmup = profile->trials[0].launches[0].warmup;
    /* 1,498 slow ones stand in the first windows; each further pause hides two steps more. */
    if (warmup < 1485 || warmup > 1500) printf("  warm-up ends at %zu\n", warmup);
    CHECK(warmup >= 1485 && warmup <= 1500);
    CHECK_NEAR(value(profile, "latency.p50"), 100e-6, 0);
    CHECK_NEAR(value(profile, "latency.max"), 100e-6, 0);
    CHECK_NEAR(value(profile, "latency.warmup"), 1000 + (double)warmup, 0);
    CHECK_NEAR(value(profile, "throughput.inferences"), 10000, 1e-6);
    assay_profile_close(profile);
}

static void test_layers_add_up(void)
{
    struct assay__run_options options = options_of(
        "steady=100.1us;layers=conv:60.3us:Conv,relu:30.7us:Relu,odd:-:If;engine=5us");
    options.measuring.iterations = 100;
    options.measuring.layers = ASSAY_LAYERS_AUTO;
    options.measuring.launches = 3;
    struct assay_profile *profile = run(&options, 0, NULL);
    const struct assay__layers *layers = &profile->trials[0].layers;
    CHECK_INT(layers->count, 3);
    CHECK_STR(layers->items[0].name, "conv");
    CHECK_STR(layers->items[0].op, "Conv");
    CHECK_NEAR(layers->items[0].time_ns, 60300, 0);
    CHECK_NEAR(layers->items[0].share, 60.3 / 100.1, 1e-12);
    CHECK(isnan(layers->items[2].time_ns));
    CHECK_INT(layers->items[2].state, ASSAY_UNAVAILABLE);
    CHECK_NEAR(layers->engine_ns, 5000, 0);
    double sum = layers->items[0].time_ns + layers->items[1].time_ns + layers->engine_ns +
                 layers->unattributed_ns;
    CHECK(sum == value(profile, "latency.p50") * 1e9 ||
          sum == profile->trials[0].launches[0].p50_ns);
    CHECK_NEAR(layers->unattributed_ns, 4100, 1e-9);
    CHECK_STR(layers->items[0].bound, "unknown");
    assay_profile_close(profile);
}

/* No layer has a time but the engine's own is known: what is left of the latency is too. */
static void test_layers_engine_only(void)
{
    struct assay__run_options options = options_of(
        "steady=100us;layers=odd:-:If,other:-:Loop;engine=5us");
    options.measuring.iterations = 100;
    options.measuring.layers = ASSAY_LAYERS_AUTO;
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_NEAR(profile->trials[0].layers.engine_ns, 5000, 0);
    CHECK_NEAR(profile->trials[0].layers.unattributed_ns, 95000, 0);
    const struct assay_metrics *launch = profile->trials[0].launches[0].metrics;
    CHECK_INT(assay_metrics_get(launch, "layers.sum")->state, ASSAY_UNAVAILABLE);
    CHECK_NEAR(assay_metrics_get(launch, "layers.unattributed")->value, 95e-6, 1e-18);
    assay_profile_close(profile);
}

static void test_layers_of_streams(void)
{
    struct assay__run_options options = options_of("steady=100us;layers=a:60us:A;engine=5us");
    options.measuring.iterations = 100;
    options.measuring.layers = ASSAY_LAYERS_AUTO;
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_STR(profile->trials[0].layers.reason, "");
    assay_profile_close(profile);
    options.target.streams = 3;
    profile = run(&options, 0, NULL);
    CHECK_STR(profile->trials[0].layers.reason,
              "Layers were timed with one request in flight; the latency is that of 3: the "
              "difference is in unattributed.");
    assay_profile_close(profile);
}

static void test_layers_refused(void)
{
    struct assay__run_options options = options_of("steady=100us;layers_error=no markers here");
    options.measuring.iterations = 100;
    options.measuring.layers = ASSAY_LAYERS_AUTO;
    struct assay_profile *profile = run(&options, 0, NULL); /* the latency stands */
    CHECK_INT(profile->trials[0].layers.count, 0);
    CHECK_HAS(profile->trials[0].layers.reason, "no markers here");
    CHECK_HAS(metric(profile, "overhead.layers")->note, "no markers here");
    assay_profile_close(profile);
}

/* What the file says stands in the document; a layer's cost is that of the node it came from. */
static void test_model_file(void)
{
    struct assay__run_options options = options_of(
        "steady=100us;layers=node_linear:60us:Gemm,stranger:30us:Odd");
    options.workload.model = ASSAY_TEST_ROOT "/tests/fixtures/models/cfc/model.onnx";
    options.measuring.iterations = 100;
    options.measuring.layers = ASSAY_LAYERS_AUTO;
    options.keeping.hash = true;
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_STR(profile->models[0]->name, "model.onnx");
    CHECK_INT(profile->models[0]->node_count, 45);
    CHECK_INT(strlen(profile->models[0]->sha256), 64);
    CHECK_INT(strlen(profile->models[0]->fingerprint), 16);
    CHECK_INT(profile->models[0]->input_count, 2);
    CHECK_INT(profile->trials[0].input_count, 2);
    CHECK_INT(profile->trials[0].inputs[0].dims[1], 32);
    int64_t nodes = 0;
    double flops = 0;
    for (size_t i = 0; i < profile->models[0]->operator_count; i++) {
        nodes += profile->models[0]->operators[i].count;
        flops += profile->models[0]->operators[i].flops;
    }
    CHECK_INT(nodes, 45);
    CHECK_NEAR(value(profile, "compute.flops"), flops, 0);
    CHECK_NEAR(value(profile, "compute.rate"), flops / 100e-6, 1e-3);
    CHECK_NEAR(value(profile, "throughput.samples"), 10000, 1e-6);
    CHECK_INT(metric(profile, "throughput.images")->state, ASSAY_UNAVAILABLE);
    /* Gemm of 1x61 by 61x29 plus a bias of 29, float32. */
    const struct assay__layer *layers = profile->trials[0].layers.items;
    CHECK_NEAR(layers[0].flops, 2 * 61 * 29, 2 * 29);
    CHECK_NEAR(layers[0].bytes, 4 * (61 + 61 * 29 + 29 + 29), 0);
    CHECK(isnan(layers[1].flops));
    CHECK(isnan(layers[1].bytes));
    assay_profile_close(profile);
}

static void test_launches(void)
{
    struct assay__run_options options = options_of("steady=100us,300us;noise=1us;seed=5");
    options.measuring.iterations = 700;
    options.measuring.launches = 5;
    struct assay_profile *profile = run(&options, 0, NULL);
    const struct assay__trial *trial = &profile->trials[0];
    CHECK_INT(trial->launch_count, 5);
    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(trial->launches[i].state, ASSAY__TRIAL_OK);
        CHECK_INT(trial->launches[i].sample_count, 700);
        CHECK_NEAR(trial->launches[i].p50_ns, trial->launches[0].p50_ns,
                   0); /* one script, one result */
    }
    CHECK_NEAR(value(profile, "latency.p50") * 1e9, trial->launches[0].p50_ns, 1e-9);
    CHECK_NEAR(value(profile, "latency.between_low"), value(profile, "latency.p50"), 0);
    CHECK_NEAR(value(profile, "latency.between_high"), value(profile, "latency.p50"), 0);
    CHECK_INT(metric(profile, "latency.ci_low")->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(metric(profile, "latency.p90")->note, "median over 5 launches");
    CHECK_NEAR(value(profile, "latency.samples"), 5 * (double)(700 - trial->launches[0].warmup), 0);
    /* Launches are not pooled: 3,500 samples of five processes are 700 of each. */
    CHECK_HAS(metric(profile, "latency.p999")->note, "needs 6636 samples in a launch");
    assay_profile_close(profile);
}

static void test_streams(void)
{
    struct assay__run_options options = options_of("steady=100us");
    options.measuring.iterations = 1001;
    options.target.streams = 2;
    struct assay_profile *profile = run(&options, 0, NULL);
    const struct assay__launch *launch = &profile->trials[0].launches[0];
    CHECK_INT(launch->streams, 2);
    CHECK_INT(launch->sample_count, 1001);
    CHECK_INT(launch->stream_offsets[0], 0);
    CHECK_INT(launch->stream_offsets[1], 505); /* nine windows of 51 + 50, one of 46 + 46 */
    CHECK_INT(launch->stream_offsets[2], 1001);
    for (size_t i = 0; i < launch->sample_count; i++)
        CHECK_NEAR(launch->samples_ns[i], 100000, 0);
    CHECK_NEAR(value(profile, "latency.p50"), 100e-6, 0);
    assay_profile_close(profile);
}

static void test_verdicts(void)
{
    struct assay__run_options options = options_of("steady=1ms;noise=10us;seed=3");
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_STR(profile->trials[0].stability.verdict, "stable");
    assay_profile_close(profile);
    options.script = "steady=1ms,1ms,1ms,1.5ms;noise=10us;seed=3";
    profile = run(&options, 0, NULL);
    CHECK_STR(profile->trials[0].stability.verdict, "unstable");
    CHECK_HAS(profile->trials[0].stability.reasons[0], "two modes");
    assay_profile_close(profile);
    options.script = "steady=1ms;drift=100ns;noise=10us;seed=3"; /* + 100 µs over 1,000 steps */
    profile = run(&options, 0, NULL);
    CHECK_STR(profile->trials[0].stability.verdict, "unstable");
    CHECK_HAS(profile->trials[0].stability.reasons[0], "drifted by +");
    assay_profile_close(profile);
    options.script = "steady=100us";
    options.measuring.iterations = 3;
    profile = run(&options, 0, NULL);
    CHECK_STR(profile->trials[0].stability.verdict, "too-few");
    CHECK_INT(profile->trials[0].stability.more_iterations, -1);
    assay_profile_close(profile);
}

/* --- failures --------------------------------------------------------------------------------- */

/* Step 1 is the first inference, no warm-up: step 52 is the 51st sample of the first window of 100.
 */
static void failing(const char *script, int code, const char *reason)
{
    struct assay_error error = {0};
    struct assay__run_options options = options_of(script);
    options.measuring.iterations = 1000;
    options.measuring.warmup_given = true;
    if (code == ASSAY_ETIMEOUT)
        options.measuring.timeout_s =
            2; /* short, but longer than a loaded machine takes to start a worker */
    struct assay_profile *profile = run(&options, code, &error);
    CHECK(profile != NULL);
    const struct assay__trial *trial = &profile->trials[0];
    CHECK_INT(trial->state, ASSAY__TRIAL_FAILED);
    CHECK_INT(trial->launches[0].state, ASSAY__TRIAL_FAILED);
    CHECK_HAS(trial->launches[0].reason, reason);
    CHECK_HAS(trial->launches[0].reason, "after 50 samples");
    CHECK_HAS(error.message, reason);
    CHECK_INT(trial->launches[0].sample_count, 50);
    CHECK_NEAR(trial->launches[0].samples_ns[49], 100000, 0);
    CHECK_NEAR(value(profile, "latency.p50"), 100e-6, 0);
    CHECK_HAS(metric(profile, "latency.p50")->note, "before the launch failed");
    assay_profile_close(profile);
}

static void test_crash(void)
{
    failing("steady=100us;crash_at=52;log=just before", ASSAY_ECRASH, "worker crashed: SIGSEGV");
    SKIP_EMULATED("a crash ends with words of its own");
    failing("steady=100us;crash_at=52;log=just before", ASSAY_ECRASH, "last log: just before");
}
static void test_hang(void)
{
    failing("steady=100us;hang_at=52", ASSAY_ETIMEOUT, "worker hung: no sign of life for 2 s");
}
static void test_exit(void)
{
    failing("steady=100us;exit_at=52", ASSAY_ECRASH, "worker exited with status 3");
}
static void test_kill(void)
{
    failing("steady=100us;oom_at=52", ASSAY_ECRASH, "SIGKILL");
}
static void test_engine_error(void)
{
    failing("steady=100us;error_at=52", ASSAY_EENGINE, "the script fails step 52");
}

static void test_open_error(void)
{
    struct assay_error error = {0};
    struct assay__run_options options = options_of("open_error=no such thing");
    struct assay_profile *profile = run(&options, ASSAY_EENGINE, &error);
    CHECK_HAS(error.message, "no such thing (while loading)");
    CHECK_INT(profile->trials[0].launches[0].sample_count, 0);
    CHECK_INT(metric(profile, "latency.p50")->state, ASSAY_UNAVAILABLE);
    CHECK_STR(profile->trials[0].stability.verdict, "too-few");
    assay_profile_close(profile);
    options.script = "nonsense=1";
    profile = run(&options, ASSAY_EINVAL, &error);
    CHECK_HAS(error.message, "unknown key");
    assay_profile_close(profile);
}

/* A worker that takes long but lives is not killed: its counts move. */
static void test_slow_is_not_hung(void)
{
    struct assay__run_options options = options_of("steady=100us;pace=200ms");
    options.measuring.iterations = 12;
    options.measuring.warmup_given = true;
    options.measuring.timeout_s = 2; /* a window of ten takes just as long */
    struct assay_profile *profile = run(&options, 0, NULL);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 12);
    assay_profile_close(profile);
}

/* The other launches go on: the script of each is the same, so all fail alike, each with its
 * samples. */
static void test_failed_launches(void)
{
    struct assay_error error = {0};
    struct assay__run_options options = options_of("steady=100us;crash_at=52");
    options.measuring.iterations = 1000;
    options.measuring.warmup_given = true;
    options.measuring.launches = 2;
    struct assay_profile *profile = run(&options, ASSAY_ECRASH, &error);
    CHECK_INT(profile->trials[0].launch_count, 2);
    CHECK_INT(profile->trials[0].launches[1].sample_count, 50);
    CHECK_HAS(error.message, "2 of 2 launches failed; launch 1: worker crashed");
    assay_profile_close(profile);
}

/* --- workers that lie ------------------------------------------------------------------------- */

static char lie_path[] = "/tmp/assay_lie_XXXXXX";

static struct assay_profile *lying(const char *body, int code, struct assay_error *error)
{
    char text[1024];
    int fd = mkstemp(lie_path);
    CHECK(fd >= 0);
    int length = snprintf(text, sizeof text, "#!/bin/sh\n%s\n", body);
    CHECK_INT(write(fd, text, (size_t)length), length);
    CHECK_INT(fchmod(fd, 0700), 0);
    close(fd);
    struct assay__run_options options = options_of("");
    if (code == ASSAY_ETIMEOUT) options.measuring.timeout_s = 0.5; /* that one never speaks */
    setenv("ASSAY_WORKER", lie_path, 1);
    struct assay_profile *profile = run(&options, code, error);
    unlink(lie_path);
    memcpy(lie_path + sizeof lie_path - 7, "XXXXXX", 6);
    CHECK(profile != NULL);
    CHECK_INT(profile->trials[0].launches[0].state, ASSAY__TRIAL_FAILED);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 0);
    return profile;
}

static void test_lies(void)
{
    static const struct {
        const char *body;
        int code;
        const char *reason;
    } lies[] = {
        {"echo garbage >&3; sleep 5", ASSAY_EFORMAT, "a line that is not a message"},
        {"echo '[1]' >&3; sleep 5", ASSAY_EFORMAT, "a line that is not a message"},
        {"echo '{\"surprise\": 1}' >&3; sleep 5", ASSAY_EFORMAT, "an unknown message"},
        {"echo '{\"phase\": \"dancing\"}' >&3; sleep 5", ASSAY_EFORMAT, "an unknown phase"},
        {"echo '{\"window\": {\"index\": 3, \"prerun\": 1}}' >&3; sleep 5", ASSAY_EFORMAT,
         "an unexpected window"},
        {"echo '{\"layer\": {}}' >&3; sleep 5", ASSAY_EFORMAT, "an unexpected layer"},
        {"echo '{\"done\": {}}' >&3; sleep 5", ASSAY_EFORMAT, "'done' without a sample"},
        {"echo '{\"error\": {\"code\": 77, \"message\": \"odd\"}}' >&3", ASSAY_EENGINE, "odd"},
        {"echo dying words >&2; exit 7", ASSAY_ECRASH,
         "worker exited with status 7 (while starting); last log: dying words"},
        {"kill -SEGV $$", ASSAY_ECRASH, "worker crashed: SIGSEGV"},
        {"exec sleep 5", ASSAY_ETIMEOUT, "worker hung"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        struct assay_error error = {0};
        struct assay_profile *profile = lying(lies[i].body, lies[i].code, &error);
        CHECK_HAS(error.message, lies[i].reason);
        assay_profile_close(profile);
    }
}

/* --- before any worker ------------------------------------------------------------------------ */

static void refused(struct assay__run_options options, int code, const char *reason)
{
    struct assay_error error = {0};
    struct assay_profile *profile = run(&options, code, &error);
    CHECK(profile == NULL);
    CHECK_HAS(error.message, reason);
}

static void test_refusals(void)
{
    struct assay__run_options options = options_of("steady=1us");
    options.target.engine = "steam";
    refused(options, ASSAY_ENOTFOUND, "steam");
    options = options_of("steady=1us");
    options.target.optimization = "maximal";
    refused(options, ASSAY_EINVAL, "maximal");
    options = options_of("steady=1us");
    options.target.streams = 5000;
    refused(options, ASSAY_EINVAL, "5000 streams");
    options = options_of("steady=1us");
    options.measuring.launches = -1;
    refused(options, ASSAY_EINVAL, "-1 launches");
    options = options_of("steady=1us");
    options.measuring.time_s = NAN;
    refused(options, ASSAY_EINVAL, "NaN");
    options = options_of(NULL);
    refused(options, ASSAY_EINVAL, "no model");
    options = options_of("steady=1us");
    options.workload.model = "nowhere.onnx";
    refused(options, ASSAY_ENOTFOUND, "nowhere.onnx");
    options.workload.model = "nowhere";
    refused(options, ASSAY_ENOTFOUND, "the zoo has no model");
    options.workload.model = ASSAY_TEST_ROOT "/tests/unit/test_run.c";
    refused(options, ASSAY_EFORMAT, "not an ONNX model");
    options = options_of("steady=1us");
    setenv("ASSAY_WORKER", "/nowhere/assay-worker", 1);
    refused(options, ASSAY_ENOTFOUND, "/nowhere/assay-worker");
}

/* Found before a worker starts: the script would hang. */
static void test_cpus_refused(void)
{
#ifdef __linux__
    static const struct {
        const char *list, *says;
    } wrong[] = {{"all", "list of CPUs"},   {"", "list of CPUs"},   {"1-0", "list of CPUs"},
                 {"0-", "list of CPUs"},    {"0,", "list of CPUs"}, {"-1", "list of CPUs"},
                 {"60000", "not available"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct assay__run_options options = options_of("hang_at=1");
        options.target.cpus = wrong[i].list;
        refused(options, ASSAY_EINVAL, wrong[i].says);
    }
#endif
}

static void test_unwritable_output(void)
{
    struct assay__run_options options = options_of(
        "hang_at=1"); /* would hang: it must not come so far */
    options.keeping.output = "/nowhere/at/all.assay";
    struct assay_error error = {0};
    struct assay_profile *profile = NULL;
    CHECK(assay__run(&options, &profile, &error) < 0);
    CHECK(profile == NULL);
    CHECK_HAS(error.message, "/nowhere/at/all.assay");
}

/* --- kept ------------------------------------------------------------------------------------- */

static void test_file_holds_it(void)
{
    char folder[] = "/tmp/assay_run_XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/p.assay", folder);
    struct assay__run_options options = options_of(
        "steady=100us;layers=a:60us:A,b:30us:B;engine=4us");
    options.measuring.iterations = 1000;
    options.measuring.layers = ASSAY_LAYERS_AUTO;
    options.keeping.output = path;
    assay_profile_close(run(&options, 0, NULL));
    struct assay_profile *profile = NULL;
    CHECK_INT(assay_profile_open(path, &profile, NULL), 0);
    CHECK(profile->complete);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 1000);
    CHECK_NEAR(profile->trials[0].launches[0].samples_ns[999], 100000, 0);
    CHECK_NEAR(value(profile, "latency.p50"), 100e-6, 0);
    CHECK_INT(profile->trials[0].layers.count, 2);
    CHECK_NEAR(profile->trials[0].layers.unattributed_ns, 6000, 0);
    CHECK_STR(profile->trials[0].stability.verdict, "stable");
    assay_profile_close(profile);
    options.script = "steady=100us;crash_at=52";
    options.measuring.warmup_given = true;
    options.measuring.layers = ASSAY_LAYERS_OFF;
    assay_profile_close(run(&options, ASSAY_ECRASH, NULL));
    CHECK_INT(assay_profile_open(path, &profile, NULL), 0);
    CHECK_INT(profile->trials[0].state, ASSAY__TRIAL_FAILED);
    CHECK_INT(profile->trials[0].launches[0].sample_count, 50);
    CHECK_HAS(profile->trials[0].launches[0].reason, "SIGSEGV");
    assay_profile_close(profile);
    unlink(path);
    rmdir(folder);
}

struct interrupter {
    volatile int flag;
    int windows;
};

static void interrupt_later(void *context, const struct assay_progress *progress)
{
    struct interrupter *self = context;
    if (strcmp(progress->phase, "measuring") == 0 && ++self->windows == 3) self->flag = 1;
}

static void test_interrupt(void)
{
    char folder[] = "/tmp/assay_run_XXXXXX", path[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/p.assay", folder);
    struct interrupter self = {0};
    struct assay__run_options options = options_of("steady=100us;pace=1ms");
    options.measuring.iterations = 100000;
    options.measuring.warmup_given = true;
    options.measuring.launches = 4;
    options.keeping.output = path;
    options.callbacks.progress = interrupt_later;
    options.callbacks.context = &self;
    options.callbacks.interrupt = &self.flag;
    options.measuring.iterations = 200; /* windows of 20: two are complete when the flag is set */
    struct assay_profile *profile = run(&options, ASSAY_EINTERRUPTED, NULL);
    CHECK(profile != NULL);
    CHECK(profile->interrupted);
    CHECK(!profile->complete);
    CHECK_INT(profile->trials[0].state, ASSAY__TRIAL_INTERRUPTED);
    CHECK_INT(profile->trials[0].launch_count, 1);
    size_t kept = profile->trials[0].launches[0].sample_count;
    CHECK(kept >= 40 && kept <= 60);
    assay_profile_close(profile);
    CHECK_INT(assay_profile_open(path, &profile, NULL), 0);
    CHECK(!profile->complete);
    CHECK(profile->interrupted);
    CHECK_INT(profile->trials[0].launches[0].sample_count, kept);
    assay_profile_close(profile);
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"exact", test_exact},
        {"every_metric_speaks", test_every_metric_speaks},
        {"default_goal", test_default_goal},
        {"hard_cap", test_hard_cap},
        {"time_asked", test_time_asked},
        {"warmup_found", test_warmup_found},
        {"layers_add_up", test_layers_add_up},
        {"layers_refused", test_layers_refused},
        {"layers_engine_only", test_layers_engine_only},
        {"layers_of_streams", test_layers_of_streams},
        {"model_file", test_model_file},
        {"launches", test_launches},
        {"streams", test_streams},
        {"verdicts", test_verdicts},
        {"crash", test_crash},
        {"hang", test_hang},
        {"exit", test_exit},
        {"kill", test_kill},
        {"engine_error", test_engine_error},
        {"open_error", test_open_error},
        {"slow_is_not_hung", test_slow_is_not_hung},
        {"failed_launches", test_failed_launches},
        {"lies", test_lies},
        {"refusals", test_refusals},
        {"cpus_refused", test_cpus_refused},
        {"unwritable_output", test_unwritable_output},
        {"file_holds_it", test_file_holds_it},
        {"interrupt", test_interrupt},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
