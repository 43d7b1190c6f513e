/* test_verdict.c - the verdict, the key numbers and the trust of a trial: exact on scripted runs of
 * the fake engine and on hand-made profiles with round roofs, and what is true of every profile:
 * at most 20 words, one sentence, nothing interpreted where the numbers cannot be trusted. */
#include "run_fixture.h"

#include "judge/study.h"
#include "profile/profile.h"
#include "profile/trial_values.h"

#include <glob.h>

#ifndef ASSAY_TEST_ROOT
#define ASSAY_TEST_ROOT "."
#endif

static struct assay__study *study;

static const struct assay__trial_verdict *judge(const struct assay_profile *profile)
{
    assay__study_free(study);
    CHECK_INT(assay__study_new(profile, &study), 0);
    const struct assay__trial_verdict *v = assay__study_verdict(study, &profile->trials[0]);
    CHECK(!study->failed);
    return v;
}

static void finish(struct assay_profile *profile)
{
    assay__study_free(study);
    study = NULL;
    assay_profile_close(profile);
}

/* --- scripted runs ---------------------------------------------------------------------------- */

static struct assay_profile *run(const char *script, int64_t iterations)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    struct assay__run_options options = {.target.engine = "fake",
                                         .script = script,
                                         .measuring.timeout_s = 60,
                                         .measuring.layers = ASSAY_LAYERS_AUTO,
                                         .measuring.iterations = iterations};
    int code = assay__run(&options, &profile, &error);
    if (code) printf("  %s\n", error.message);
    CHECK(profile);
    /* What else runs on the machine of the test is not of the script. */
    profile->environment.disturbance_count = 0;
    return profile;
}

#define LAYERS "steady=100us;layers=conv:60us:Conv,relu:20us:Relu,conv2:10us:Conv;engine=10us"

static void test_scripted(void)
{
    struct assay_profile *p = run(LAYERS, 1000);
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_STABLE);
    CHECK_STR(v->text, "100 µs per inference; Conv takes 70 %.");
    CHECK_STR(v->chip, "stable");
    CHECK_INT(v->reason_count, 0);
    CHECK_STR(v->noun, "inference");
    CHECK(isnan(v->distance)); /* the fake engine has no ceilings */
    CHECK_STR(v->cause, "Conv");
    CHECK_NEAR(v->cause_share, 0.7, 1e-12);
    CHECK(v->fix == NULL);
    CHECK_STR(v->kpis[0].label, "inferences/s");
    CHECK_NEAR(v->kpis[0].metric->value, 10000, 1e-6);
    CHECK(v->kpis[0].is_rate);
    CHECK_STR(v->kpis[1].label, "p95");
    CHECK_STR(v->kpis[2].label, "p99");
    finish(p);
}

static void test_engine_and_no_layer(void)
{
    struct assay_profile *p = run("steady=100us;layers=a:30us:Conv;engine=60us", 1000);
    CHECK_STR(judge(p)->text, "100 µs per inference; engine overhead takes 60 %.");
    finish(p);
    p = run("steady=100us;layers=a:30us:Conv;engine=10us", 1000);
    CHECK_STR(judge(p)->text, "100 µs per inference; 60 % is in no layer.");
    finish(p);
    p = run("steady=100us", 1000);
    CHECK_STR(judge(p)->text, "100 µs per inference; layer times are unknown.");
    finish(p);
}

static void test_too_few(void)
{
    struct assay_profile *p = run(LAYERS, 3);
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_FEW);
    CHECK_STR(v->chip, "too few samples");
    CHECK(v->reason_count > 0);
    CHECK_STR(v->text, "100 µs per inference; Conv takes 70 %.");
    finish(p);
}

static void test_noisy(void)
{
    struct assay_profile *p = run("steady=100us;drift=1us;layers=a:60us:Conv", 1000);
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_NOISY);
    CHECK(strncmp(v->chip, "noisy", 5) == 0);
    CHECK_STR(v->text, "Too noisy to trust: irregular within its only launch. Measure again on an "
                       "idle machine, with more launches.");
    CHECK_STR(v->cause, ""); /* nothing is interpreted */
    CHECK(v->kpi_count > 0);
    finish(p);
}

static void test_failed(void)
{
    struct assay_profile *p = run("crash_at=1", 10);
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_FAILED);
    CHECK_STR(v->chip, "failed");
    CHECK(v->reason_count > 0);
    finish(p);
}

/* --- a machine with round roofs --------------------------------------------------------------- */

static struct assay__ceiling_info ceilings[] = {
    {"cpu", "compute.float32.all-cores", 1e11, "FLOP/s", NAN, NAN, "clock", "", ""},
    {"cpu", "compute.float32.one-core", 1e11, "FLOP/s", NAN, NAN, "clock", "", ""},
    {"cpu", "bandwidth.dram.read.all-cores", 1e10, "B/s", NAN, NAN, "clock", "", ""},
    {"cpu", "bandwidth.dram.read.one-core", 1e10, "B/s", NAN, NAN, "clock", "", ""},
};
static struct assay__tensor_info input = {.name = "x", .dtype = "float32", .rank = -1, .fill = ""};
static struct assay__layer layers[3];
static struct assay__finding findings[3];

/* 1 ms per image: a Conv of 600 µs that could take 500 µs, a Softmax of 300 µs that could take
 * 10 µs, and 100 µs of nothing. */
static struct assay_profile *made(void)
{
    struct assay_profile *p = assay__profile_new();
    CHECK(p);
    assay__profile_set_command(p, "run");
    p->complete = true;
    p->environment.cores = p->environment.threads = 1;
    p->ceilings = ceilings, p->ceiling_count = sizeof ceilings / sizeof ceilings[0];
    struct assay__model_info *model = p->models[0];
    model->inputs = &input, model->input_count = 1;
    struct assay__trial *t = assay__profile_trial(p);
    t->state = ASSAY__TRIAL_OK;
    t->batch = 1;
    t->model = model;
    t->inputs = &input, t->input_count = 1;
    t->target.engine = "ort", t->target.device = "cpu", t->target.threads = 1;
    t->target.device_class = ASSAY__CLASS_CPU;
    t->stability.verdict = "stable";
    for (size_t i = 0; i < 3; i++)
        layers[i] = assay__layer_unknown();
    layers[0].op = layers[0].name = "Conv", layers[0].time_ns = 600e3, layers[0].flops = 5e7;
    layers[1].op = layers[1].name = "Softmax", layers[1].time_ns = 300e3, layers[1].flops = 1e6;
    layers[0].bytes = layers[1].bytes = 1000;
    layers[0].state = layers[1].state = ASSAY_MEASURED;
    t->layers.items = layers, t->layers.count = 2, t->layers.method = "markers";
    t->layers.reason = "";
    t->layers.unattributed_ns = 100e3, t->layers.engine_ns = 0;
    assay_metrics_measured(t->metrics, "latency.p50", 1e-3, "clock", "");
    assay_metrics_measured(t->metrics, "latency.between_low", 0.99e-3, "clock", "");
    assay_metrics_measured(t->metrics, "latency.between_high", 1.012e-3, "clock", "");
    assay_metrics_measured(t->metrics, "throughput.images", 1000, "clock", "");
    assay_metrics_measured(t->metrics, "throughput.inferences", 1000, "clock", "");
    assay_metrics_measured(t->metrics, "latency.p95", 1.1e-3, "clock", "");
    assay_metrics_measured(t->metrics, "memory.peak.worker", 3.2e8, "rss", "");
    assay_metrics_measured(t->metrics, "compute.rate", 5.1e10, "graph", "");
    assay_metrics_measured(t->metrics, "energy.inference.gross", 0.5, "rapl", "");
    return p;
}

static struct assay__finding verified(const char *tried, double gain)
{
    return (struct assay__finding){.id = "x",
                                   .severity = "low",
                                   .title = "x",
                                   .state = "verified",
                                   .tried = tried,
                                   .verified_of = "latency",
                                   .verified_gain = gain,
                                   .verified_low = gain * 0.95,
                                   .verified_high = gain * 1.05};
}

static void test_distance(void)
{
    struct assay_profile *p = made();
    const struct assay__trial_verdict *v = judge(p);
    CHECK_NEAR(v->distance, 1e6 / 510e3, 1e-9);
    CHECK_STR(v->text,
              "1.00 ms per image, 2× its time at peak; Conv takes 60 %, Softmax loses most.");
    CHECK_STR(v->chip, "stable ±1 %");
    static const char *const labels[] = {"images/s", "p95", "compute", "peak memory",
                                         "energy per image"};
    CHECK_INT(v->kpi_count, 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_STR(v->kpis[i].label, labels[i]);
    finish(p);
    p = made();
    layers[0].time_ns = 870e3,
    layers[1].time_ns = 30e3; /* the Conv loses most now: the long form has room */
    CHECK_STR(judge(p)->text,
              "1.00 ms per image, 2× the time this CPU would need at its peak; Conv takes 87 %.");
    finish(p);
    p = made();
    layers[0].flops = 9.8e7;
    assay_metrics_measured(p->trials[0].metrics, "latency.p50", 1.0e-3, "clock", "");
    CHECK_HAS(judge(p)->text, ", at the peak of this CPU;");
    finish(p);
    p = made();
    layers[0].flops =
        1e9; /* faster than its roof: the ceiling is wrong, so nothing is said of it */
    CHECK(isnan(judge(p)->distance));
    finish(p);
    p = made();
    layers[0].flops = NAN; /* most of the time has no roof */
    CHECK(isnan(judge(p)->distance));
    finish(p);
}

static void test_fix(void)
{
    struct assay_profile *p = made();
    p->findings = findings, p->finding_count = 3;
    findings[0] = verified("threads=2", 1.3);
    findings[1] = verified("float16", 1.9);
    findings[2] = verified("spinning off", 2.5);
    findings[2].state = "withdrawn";
    const struct assay__trial_verdict *v = judge(p);
    CHECK(v->fix == &findings[1]);
    CHECK_STR(v->text,
              "1.00 ms per image, 2× its time at peak; Conv takes 60 %; float16 measured 1.9× as "
              "fast.");
    findings[1].verified_of = "samples per second";
    CHECK(judge(p)->fix == &findings[0]); /* the time of an inference comes first */
    findings[0].verified_low = 0.99;      /* not shown to help */
    v = judge(p);
    CHECK(v->fix == &findings[1]);
    CHECK_HAS(v->text, "float16 measured 1.9× the throughput.");
    finish(p);
}

/* The median is known to half its interval, as the reasons of the stability count it. */
static void test_width(void)
{
    struct assay_profile *p = made();
    struct assay_metrics *metrics = p->trials[0].metrics;
    assay_metrics_measured(metrics, "latency.between_low", 0.95e-3, "clock", "");
    assay_metrics_measured(metrics, "latency.between_high", 1.01e-3, "clock", "");
    CHECK_STR(judge(p)->chip, "stable ±3 %");
    CHECK_NEAR(judge(p)->width, 0.03, 1e-12);
    p->trials[0].stability.verdict = "unstable"; /* for another reason than interval or layers */
    layers[0].time_ns = 700e3;
    CHECK_INT(judge(p)->trust, ASSAY__TRUST_UNSTEADY);
    CHECK_STR(judge(p)->chip, "unsteady ±3 %");
    assay_metrics_measured(metrics, "latency.between_low", 0.9e-3, "clock", "");
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_NOISY);
    CHECK_STR(v->chip, "noisy ±5.5 %");
    finish(p);
}

/* What earlier runs differ by counts more than what the launches of this one do. */
static void test_between_runs(void)
{
    struct assay_profile *p = made();
    struct assay_metrics *metrics = p->trials[0].metrics;
    assay_metrics_measured(metrics, "latency.runs", 7, "clock", "");
    assay_metrics_measured(metrics, "latency.runs_low", 0.96e-3, "clock", "");
    assay_metrics_measured(metrics, "latency.runs_high", 1.04e-3, "clock", "");
    CHECK_STR(judge(p)->chip, "stable ±4 %");
    assay_metrics_measured(metrics, "latency.runs_high", 1.1e-3, "clock", "");
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_UNSTEADY);
    CHECK_STR(v->chip, "median ±1.1 %, runs differ by ±7 %");
    CHECK_HAS(v->reasons[0], "the last 7 of the same work differ by ±7 %");
    assay_metrics_measured(metrics, "latency.mean", 2.3e-3, "clock", ""); /* a tail says less */
    CHECK_STR(judge(p)->chip, "median ±1.1 %, runs differ by ±7 %");
    finish(p);
}

/* Layers that do next to nothing: what takes the time is that there are so many of them. */
static void test_overhead(void)
{
    struct assay_profile *p = made();
    layers[0].flops = layers[1].flops = layers[0].bytes = layers[1].bytes = 0;
    const struct assay__trial_verdict *v = judge(p);
    CHECK_STR(v->cause, "overhead of small layers");
    CHECK_NEAR(v->cause_share, 0.9, 1e-12);
    CHECK_HAS(v->text, "overhead of small layers takes 90 %");
    CHECK(!strstr(v->text, "loses most"));
    finish(p);
}

static void test_layers_off(void)
{
    struct assay_profile *p = made();
    p->trials[0].layers.unattributed_ns = -900e3;
    layers[0].time_ns = 1600e3;
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_LAYERS);
    CHECK_STR(v->text,
              "1.00 ms per image, but the layers add up to 190 %: measure again when idle.");
    CHECK_STR(v->cause, "");
    CHECK_HAS(v->reasons[0], "190 %");
    p->trials[0].layers.slowdown = 1.8; /* which timing them explains: proportions hold */
    v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_STABLE);
    CHECK_NEAR(v->cause_share, 1600. / 1900, 1e-12);
    p->trials[0].layers.method = "isolated"; /* never adds up */
    p->trials[0].layers.slowdown = NAN;
    CHECK_INT(judge(p)->trust, ASSAY__TRUST_STABLE);
    finish(p);
}

static const char *why_unknown(struct assay_profile *p)
{
    const struct assay__trial_verdict *v = judge(p);
    CHECK_STR(v->text, "1.00 ms per image; layer times are unknown.");
    CHECK(isnan(v->cause_share));
    bool enqueued = isfinite(p->trials[0].layers.items[1].host_enqueue_ns);
    CHECK_INT(v->reason_count, enqueued && *p->trials[0].layers.reason ? 2 : 1);
    CHECK(strncmp(v->reasons[0], "layer times are unknown: ", 25) == 0);
    return v->reasons[0] + 25;
}

/* No layer has a time: the reason is the layers' own before a remark on all of them. */
static void test_untimed(void)
{
    struct assay_profile *p = made();
    struct assay__trial *t = &p->trials[0];
    t->protocol.layers = ASSAY_LAYERS_AUTO;
    t->layers.reason = "all of them";
    layers[0].state = layers[1].state = ASSAY_UNAVAILABLE;
    CHECK_STR(why_unknown(p), "all of them");
    layers[0].note = layers[1].note = "before the first marker";
    CHECK_STR(why_unknown(p), "before the first marker");
    layers[1].note = "after the last";
    CHECK_STR(why_unknown(p), "no layer has a time; their notes say why");
    layers[1].host_enqueue_ns = 7;
    CHECK_STR(why_unknown(p),
              "the engine reports only how long the host took to enqueue each layer");
    t->layers.count = 0;
    t->layers.reason = t->layers.method = "";
    CHECK_STR(why_unknown(p), "the graph has no nodes left to time");
    t->protocol.layers = ASSAY_LAYERS_OFF; /* not asked for: nothing to say */
    CHECK_STR(judge(p)->text, "1.00 ms per image.");
    CHECK_INT(judge(p)->reason_count, 0);
    finish(p);
}

static void test_interrupted(void)
{
    struct assay_profile *p = made();
    assay_metrics_measured(p->trials[0].metrics, "latency.samples", 12, "clock", "");
    p->interrupted = true;
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_INTERRUPTED);
    CHECK_STR(v->text, "Interrupted after 12 samples: run it again to completion.");
    CHECK_STR(v->chip, "interrupted");
    finish(p);
}

static void add_launches(struct assay_profile *p, size_t count, double first_ns, double step_ns)
{
    for (size_t i = 0; i < count; i++) {
        struct assay__launch *launch = assay__trial_launch(p, &p->trials[0]);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = first_ns + step_ns * (double)i;
    }
}

static void without_interval(struct assay_profile *p)
{
    assay_metrics_unavailable(p->trials[0].metrics, "latency.between_low", "too few");
    assay_metrics_unavailable(p->trials[0].metrics, "latency.between_high", "too few");
}

/* Odd within launches whose medians agree: said, but the numbers hold. Three launches have no
 * interval, so none is claimed, and the sentence gives the number of the mark. */
static void test_unsteady(void)
{
    struct assay_profile *p = made();
    struct assay__trial *t = &p->trials[0];
    static const char *reasons[] = {"7.7 % of the samples are outliers"};
    t->stability = (struct assay__stability){"unstable", reasons, 1, 0};
    without_interval(p);
    CHECK_INT(judge(p)->trust, ASSAY__TRUST_NOISY); /* no launches to agree */
    add_launches(p, 3, 1e6, 14e3);
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_UNSTEADY);
    CHECK_STR(v->chip, "unsteady");
    CHECK(isnan(v->width));
    CHECK_STR(v->reasons[0], reasons[0]);
    CHECK_STR(v->cause, "Conv");
    t->launches[2].p50_ns = 1e6 + 32e3;
    v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_NOISY);
    CHECK_STR(v->chip, "noisy, launches differ by 3.2 %");
    CHECK_STR(v->text, "Too noisy for so few launches: 3 differ by 3.2 %. Measure again on an idle "
                       "machine, with more.");
    finish(p);
}

/* A launch that is irregular is not known to a tenth of a percent because it has many samples. */
static void test_one_launch(void)
{
    struct assay_profile *p = made();
    struct assay_metrics *metrics = p->trials[0].metrics;
    p->trials[0].stability.verdict = "unstable";
    without_interval(p);
    add_launches(p, 1, 1e6, 0);
    assay_metrics_measured(metrics, "latency.ci_low", 0.999e-3, "clock", "");
    assay_metrics_measured(metrics, "latency.ci_high", 1.001e-3, "clock", "");
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_NOISY);
    CHECK_STR(v->chip, "noisy");
    CHECK(isnan(v->width));
    assay_metrics_measured(metrics, "latency.ci_high", 1.399e-3, "clock", "");
    CHECK_STR(judge(p)->chip, "noisy ±20 % within one launch");
    finish(p);
}

/* With an interval between launches, that decides: not how far the extremes of nine are apart. What
 * is wrong besides is named, with its size. */
static void test_interval_decides(void)
{
    struct assay_profile *p = made();
    struct assay__trial *t = &p->trials[0];
    t->stability.verdict = "unstable";
    add_launches(p, 9, 0.98e6, 10e3); /* 8 % from the fastest to the slowest */
    t->layers.unattributed_ns = 20e3;
    layers[0].time_ns = 680e3;
    const struct assay__trial_verdict *v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_UNSTEADY);
    CHECK_STR(v->chip, "unsteady ±1.1 %"); /* layers of 98 % are not the reason */
    layers[0].time_ns = 770e3;
    CHECK_STR(judge(p)->chip, "median ±1.1 %, layers off by 7 %");
    assay_metrics_measured(t->metrics, "latency.between_high", 1.21e-3, "clock", "");
    v = judge(p);
    CHECK_INT(v->trust, ASSAY__TRUST_NOISY);
    CHECK_NEAR(v->width, 0.11, 1e-12);
    CHECK_HAS(v->text, "±11 %");
    CHECK_HAS(v->chip, "±11 %");
    finish(p);
}

/* A steady median says little if the mean is far from it. */
static void test_tail(void)
{
    struct assay_profile *p = made();
    struct assay_metrics *metrics = p->trials[0].metrics;
    assay_metrics_measured(metrics, "latency.mean", 1.19e-3, "clock", "");
    CHECK_INT(judge(p)->trust, ASSAY__TRUST_STABLE);
    assay_metrics_measured(metrics, "latency.mean", 2.3e-3, "clock", "");
    CHECK_INT(judge(p)->trust, ASSAY__TRUST_UNSTEADY);
    CHECK_STR(judge(p)->chip, "median ±1.1 %, mean 2.3×"); /* p95 is 1.1 times the median */
    assay_metrics_measured(metrics, "latency.p99", 9e-3, "clock", "");
    CHECK_STR(judge(p)->chip, "median ±1.1 %, 1 in 100 takes 9×");
    assay_metrics_measured(metrics, "latency.p90", 4.06e-3, "clock", "");
    const struct assay__trial_verdict *v = judge(p);
    CHECK_STR(v->chip, "median ±1.1 %, 1 in 10 takes 4.1×");
    CHECK_STR(v->cause, "Conv"); /* the numbers hold */
    without_interval(p);
    CHECK_STR(judge(p)->chip, "median steady, 1 in 10 takes 4.1×");
    add_launches(p, 1, 1e6, 0);
    assay_metrics_measured(metrics, "latency.ci_low", 0.98e-3, "clock", "");
    assay_metrics_measured(metrics, "latency.ci_high", 1.02e-3, "clock", "");
    CHECK_STR(judge(p)->chip, "median ±2 % within one launch, 1 in 10 takes 4.1×");
    assay_metrics_measured(metrics, "latency.mean", 1e-3, "clock", "");
    CHECK_STR(judge(p)->chip, "stable ±2 % within one launch");
    finish(p);
}

static void test_generation(void)
{
    struct assay_profile *p = made();
    struct assay__trial *t = &p->trials[0];
    t->generation.tokens = 8, t->generation.prompt = 32;
    t->layers.count = 0;
    assay_metrics_measured(t->metrics, "llm.decode", 22.12, "clock", "");
    assay_metrics_measured(t->metrics, "llm.ttft", 0.164, "clock", "");
    assay_metrics_measured(t->metrics, "llm.itl", 0.0443, "clock", "");
    const struct assay__trial_verdict *v = judge(p);
    CHECK_STR(v->text, "22.1 tokens/s, the first after 164 ms.");
    CHECK_STR(v->kpis[0].label, "tokens/s");
    CHECK_NEAR(v->kpis[0].metric->value, 22.12, 0);
    CHECK_STR(v->kpis[1].label, "first token");
    CHECK_STR(v->kpis[2].label, "between tokens");
    finish(p);
}

static void test_tasks(void)
{
    struct assay_profile *p = made();
    struct assay__trial *t = &p->trials[0];
    t->batch = 8;
    CHECK(strncmp(judge(p)->text, "1.00 ms per batch of 8", 22) == 0);
    CHECK_STR(judge(p)->kpis[0].label, "images/s");
    assay_metrics_unavailable(t->metrics, "throughput.images", "no image");
    assay_metrics_measured(t->metrics, "throughput.samples", 8000, "clock", "");
    CHECK_STR(judge(p)->kpis[0].label, "samples/s");
    t->batch = 1;
    CHECK_STR(judge(p)->kpis[0].label, "inferences/s");
    assay_metrics_measured(t->metrics, "throughput.tokens", 128000, "clock", "");
    CHECK_STR(judge(p)->kpis[0].label, "tokens/s");
    finish(p);
}

/* --- every profile ---------------------------------------------------------------------------- */

static void check_sentence(const struct assay__trial_verdict *v)
{
    size_t words = assay__count_words(v->text), length = strlen(v->text);
    if (words > ASSAY__VERDICT_WORDS) printf("  %zu words: %s\n", words, v->text);
    CHECK(words >= 2 && words <= ASSAY__VERDICT_WORDS);
    CHECK(v->text[length - 1] == '.');
    CHECK(!strchr(v->text, '\n') && !strstr(v->text, "nan") && !strstr(v->text, "—"));
    CHECK(v->chip && *v->chip && v->kpi_count <= ASSAY__KPIS);
    for (size_t i = 0; i < v->kpi_count; i++) {
        CHECK(isfinite(v->kpis[i].metric->value) &&
              v->kpis[i].metric->state != ASSAY_UNAVAILABLE); /* what is unknown is left out */
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(v->kpis[i].label, v->kpis[k].label) != 0);
    }
    for (size_t i = 0; i < v->reason_count; i++)
        CHECK(v->reasons[i] && v->reasons[i][0]);
    if (v->trust < ASSAY__TRUST_LAYERS) return;
    CHECK(isnan(v->distance) && !*v->cause && !v->fix);
}

static void test_kept_profiles(void)
{
    glob_t found;
    char command[1024], path[] = "/tmp/assay-verdict-XXXXXX";
    if (system("gzip --version >/dev/null 2>&1")) SKIP("gzip is not here");
    CHECK_INT(glob(ASSAY_TEST_ROOT "/tests/golden/0.1.0/profiles/*.gz", 0, NULL, &found), 0);
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct assay_profile *p = NULL;
        struct assay_error error = {0};
        snprintf(command, sizeof command, "gzip -dc '%s' > '%s'", found.gl_pathv[i], path);
        CHECK_INT(system(command), 0);
        CHECK_INT(assay_profile_open(path, &p, &error), 0);
        assay__study_free(study);
        CHECK_INT(assay__study_new(p, &study), 0);
        for (size_t k = 0; k < p->trial_count; k++)
            check_sentence(assay__study_verdict(study, &p->trials[k]));
        finish(p);
    }
    CHECK(found.gl_pathc > 15);
    globfree(&found);
    unlink(path);
}

/* Every combination of what may be there: long words included. */
static void test_all_forms(void)
{
    static const char *const verdicts[] = {"stable", "unstable", "too-few", ""};
    static const char long_op[] = "an operator of many words that somebody wrote into a file";
    for (unsigned bits = 0; bits < 1u << 12; bits++) {
        struct assay_profile *p = made();
        struct assay__trial *t = &p->trials[0];
        t->stability.verdict = verdicts[bits & 3];
        if (bits & 4) layers[0].op = long_op;
        if (bits & 8) t->batch = 1234567;
        if (bits & 16) p->ceiling_count = 0;
        if (bits & 32) layers[1].time_ns = 30e3;
        if (bits & 64) p->findings = findings, p->finding_count = 1;
        findings[0] = verified(
            bits & 128 ? "int8 of the weights + threads=2 + spinning off" : "threads=2", 1.9);
        if (bits & 256) t->layers.engine_ns = 700e3;
        if (bits & 512) p->interrupted = true;
        if (bits & 1024) t->layers.count = 0;
        if (bits & 2048) t->generation.tokens = 8;
        if (bits & 2048) assay_metrics_measured(t->metrics, "llm.decode", 22.12, "clock", "");
        if (bits & 2048) assay_metrics_measured(t->metrics, "llm.ttft", 0.164, "clock", "");
        check_sentence(judge(p));
        finish(p);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"scripted", test_scripted},
        {"engine_and_no_layer", test_engine_and_no_layer},
        {"too_few", test_too_few},
        {"noisy", test_noisy},
        {"failed", test_failed},
        {"distance", test_distance},
        {"fix", test_fix},
        {"width", test_width},
        {"between_runs", test_between_runs},
        {"overhead", test_overhead},
        {"layers_off", test_layers_off},
        {"untimed", test_untimed},
        {"interrupted", test_interrupted},
        {"unsteady", test_unsteady},
        {"one_launch", test_one_launch},
        {"interval_decides", test_interval_decides},
        {"tail", test_tail},
        {"generation", test_generation},
        {"tasks", test_tasks},
        {"kept_profiles", test_kept_profiles},
        {"all_forms", test_all_forms},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
