/* test_bench.c - the standard benchmarks on the fake engine: numbers, key performance indicators, a
 * baseline with its verdicts, devices, what is refused. */
#include "profile_fixture.h"

#include "experiment/bench_baseline.h"
#include "experiment/experiment.h"
#include "judge/headline.h"
#include "judge/study.h"
#include "zoo/zoo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <assay/assay.h>

/* 60 + 30 of 100 us are in two kernels. */
#define SCRIPT "steady=100us;layers=a:60us:MatMul,b:30us:Add;engine=10us"

static struct assay_profile *bench(const char *script, const struct assay_bench_options *wanted,
                                   const char *output, int expected)
{
    struct assay__run_options run = {
        .target.engine = "fake",
        .script = script,
        .measuring = {.iterations = 20, .warmup_given = true, .layers = ASSAY_LAYERS_AUTO},
        .keeping.output = output};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    int code = assay__bench(&run, wanted, &profile, &error);
    if (code != expected) printf("  code %d: %s\n", code, error.message);
    CHECK_INT(code, expected);
    return profile;
}

static const struct assay__bench *judge(struct assay__study **study,
                                        const struct assay_profile *profile)
{
    CHECK_INT(assay__study_new(profile, study), 0);
    const struct assay__bench *bench = assay__study_bench(*study);
    CHECK(!(*study)->failed);
    CHECK_INT(bench->count, profile->trial_count);
    return bench;
}

static void every_benchmark_is_a_model(void)
{
    size_t ranks = 0;
    for (size_t i = 0; assay__benchmark_at(i); i++) {
        const struct assay__benchmark *b = assay__benchmark_at(i);
        struct assay__model *model = NULL;
        struct assay_error error = {0};
        CHECK(assay__benchmark_find(b->name) == b); /* no name twice */
        int code = assay__zoo_build(b->model, &model, &error);
        if (code) printf("  %s: %s\n", b->name, error.message);
        CHECK_INT(code, 0);
        assay__model_free(model);
        ranks += strcmp(b->family, "rank") == 0;
    }
    CHECK_INT(ranks, 5);
    CHECK(assay__benchmark_find("softma") == NULL);
}

static void numbers(void)
{
    const struct assay_bench_options wanted = {.only = "softmax,cfc,softmax"};
    struct assay_profile *p = bench(SCRIPT, &wanted, NULL, 0);
    struct assay__study *study;
    const struct assay__bench *b = judge(&study, p);
    CHECK_INT(p->kind, ASSAY__PROFILE_BENCH);
    CHECK_INT(b->count, 2); /* listed twice: measured once */
    CHECK_INT(b->usable, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct assay__bench_row *row = &b->rows[i];
        CHECK_STR(row->benchmark, i ? "cfc" : "softmax");
        CHECK_STR(row->judged.label, row->benchmark);
        CHECK_STR(row->row->family, i ? "recurrent" : "operator");
        CHECK_INT(p->trials[i].launch_count, 5);
        CHECK_NEAR(row->judged.latency.value, 100e-6, 1e-12);
        CHECK_NEAR(row->rate.value, 1e4, 1e-6);
        CHECK_NEAR(row->measured_s, 5 * 20 * 100e-6, 1e-12);
        CHECK_NEAR(row->kernels, 2, 0);
        CHECK_NEAR(row->efficiency, 0.9, 1e-9);
        CHECK_NEAR(row->kernel_mean_s, 45e-6, 1e-12);
        CHECK_NEAR(row->gap_mean_s, 5e-6, 1e-12);
        CHECK_STR(row->kernels_reason, "");
        CHECK(isnan(row->bandwidth_share) && *row->bandwidth_reason); /* scripted: no ceilings */
        CHECK(isnan(row->ratio.ratio) && !*row->ratio_reason);
        CHECK_INT(row->verdict, ASSAY__VERDICT_NONE);
    }
    /* 2 × 1024 × 1024 floats */
    CHECK_NEAR(b->rows[0].judged.bandwidth.value, 2 * 4 * 1024 * 1024 / 100e-6, 1);
    CHECK_NEAR(b->measured_s, 0.02, 1e-12);
    CHECK_NEAR(b->efficiency, 0.9, 1e-9);
    CHECK_STR(b->baseline, "");
    CHECK_HAS(assay__headline(study), "90 %");
    assay__study_free(study);
    assay_profile_close(p);
}

static void layers_that_do_not_add_up_are_no_kernels(void)
{
    const struct assay_bench_options wanted = {.only = "softmax"};
    struct assay_profile *p = bench("steady=100us", &wanted, NULL, 0);
    struct assay__study *study;
    const struct assay__bench *b = judge(&study, p);
    CHECK(isnan(b->rows[0].kernels) && isnan(b->rows[0].efficiency));
    CHECK(*b->rows[0].kernels_reason);
    CHECK(isnan(b->efficiency) && b->least_efficient == SIZE_MAX);
    /* the same from markers that saw the machine in another state */
    struct assay__layer layer = {
        .name = "a", .op = "MatMul", .time_ns = 900e3, .state = ASSAY_MEASURED};
    p->trials[0].layers = (struct assay__layers){.method = "markers",
                                                 .reason = "",
                                                 .items = &layer,
                                                 .count = 1,
                                                 .engine_ns = NAN,
                                                 .slowdown = NAN};
    assay__study_free(study);
    b = judge(&study, p);
    CHECK(isnan(b->rows[0].efficiency));
    CHECK_HAS(b->rows[0].kernels_reason, " 9 ×");
    layer.time_ns = 90e3;
    assay__study_free(study);
    b = judge(&study, p);
    CHECK_NEAR(b->rows[0].efficiency, 0.9, 1e-9);
    assay__study_free(study);
    assay_profile_close(p);
}

static void ranks_are_compared(void)
{
    const struct assay_bench_options wanted = {.only = "lora-rank-4,lora-rank-8,lora-rank-64"};
    struct assay_profile *p = bench("steady=100us", &wanted, NULL, 0);
    for (size_t i = 0; i < 5; i++) /* as if the largest took 1.5 times as long */
        p->trials[2].launches[i].p50_ns = 150e3;
    struct assay__study *study;
    const struct assay__bench *b = judge(&study, p);
    CHECK_INT(b->scaling_count, 1);
    CHECK(b->scalings[0].first == 0 && b->scalings[0].last == 2);
    CHECK_NEAR(b->scalings[0].ratio.ratio, 1.5, 1e-9);
    CHECK(b->scalings[0].ratio.ci.low > 1);
    assay__study_free(study);
    assay_profile_close(p);
}

static void against_a_baseline(void)
{
    make_folder();
    const char *before = in_folder("before.assay");
    const struct assay_bench_options old = {.only = "softmax,cfc,ltc"},
                                     new = {.only = "softmax,cfc,rms-norm,ltc", .against = before};
    assay_profile_close(bench(SCRIPT, &old, before, 0));
    struct assay_profile *p = bench("steady=80us", &new, in_folder("after.assay"), 0);
    assay_profile_close(p); /* a saved profile says the same */
    CHECK_INT(assay_profile_open(in_folder("after.assay"), &p, NULL), 0);
    struct assay__study *study;
    const struct assay__bench *b = judge(&study, p);
    for (size_t i = 0; i < 4; i++) {
        const struct assay__bench_row *row = &b->rows[i];
        if (i == 2) continue;
        CHECK_NEAR(row->baseline_per_s, 1e4, 1e-6);
        CHECK_NEAR(row->ratio.ratio, 1.25, 1e-9);
        CHECK(row->ratio.ci.known && row->ratio.ci.low > 1);
        CHECK_NEAR(row->ratio.p_value, 2.0 / 252, 1e-9); /* 5 of 10, all on one side */
        CHECK_INT(row->verdict, ASSAY__VERDICT_FASTER);
        CHECK_STR(row->ratio_reason, "");
    }
    CHECK(isnan(b->rows[2].ratio.ratio) && isnan(b->rows[2].baseline_per_s));
    CHECK_INT(b->rows[2].verdict, ASSAY__VERDICT_NONE);
    CHECK_HAS(b->rows[2].ratio_reason, "does not have this benchmark");
    CHECK(b->faster == 3 && !b->slower && !b->same && !b->unjudged);
    CHECK_HAS(b->baseline, "before.assay");
    CHECK_HAS(assay__headline(study), "3 are faster");
    assay__study_free(study);
    assay_profile_close(p);
    /* another version of the engine and another machine are named; another model is refused */
    struct assay_profile *base, *now = bench(SCRIPT, &old, NULL, 0);
    CHECK_INT(assay_profile_open(before, &base, NULL), 0);
    base->trials[0].target.engine_version = "0.0.1";
    base->environment.cpu_model = "Another CPU";
    struct assay__model_info other = *base->trials[1].model;
    other.fingerprint = "0";
    base->trials[1].model = &other;
    base->trials[2].launches[4].state = ASSAY__TRIAL_FAILED; /* four are too few */
    CHECK_INT(assay__bench_baseline_put(now, base, NULL), 0);
    b = judge(&study, now);
    CHECK_INT(b->rows[0].verdict, ASSAY__VERDICT_SAME);
    CHECK_HAS(b->baseline, "engine version 0.0.1 → ");
    CHECK_HAS(b->baseline, "processor Another CPU → ");
    CHECK_HAS(b->rows[1].ratio_reason, "another model");
    CHECK(isnan(b->rows[1].ratio.ratio));
    CHECK_NEAR(b->rows[2].ratio.ratio, 1, 1e-9); /* a ratio, and no interval */
    CHECK(!b->rows[2].ratio.ci.known && *b->rows[2].ratio_reason);
    CHECK(b->same == 1 && b->unjudged == 1);
    assay__study_free(study);
    assay_profile_close(now);
    assay_profile_close(base);
}

static void several_devices(void)
{
    make_folder();
    const char *before = in_folder("cpu.assay");
    const struct assay_bench_options one = {.only = "softmax"}, two = {.only = "softmax,cfc",
                                                                       .devices = "cpu,gpu:0,gpu:1",
                                                                       .against = before};
    assay_profile_close(bench(SCRIPT, &one, before, 0));
    setenv("ASSAY_FAKE_DEVICES", "cpu;gpu:0;gpu:1=refused", 1);
    setenv("ASSAY_FAKE_SCRIPTS", "gpu:0 steady=50us", 1);
    struct assay_profile *p = bench(SCRIPT, &two, NULL, 0);
    struct assay__study *study;
    const struct assay__bench *b = judge(&study, p);
    CHECK_INT(b->count, 6);
    CHECK_INT(b->usable, 4);
    CHECK_STR(b->rows[1].judged.label, "softmax on gpu:0");
    CHECK_STR(b->rows[1].device, "gpu:0");
    CHECK_NEAR(b->rows[1].judged.latency.value, 50e-6, 1e-12);
    CHECK(isnan(b->rows[1].kernels) && *b->rows[1].kernels_reason); /* nothing recorded them */
    /* the GPU's records: 20 of 50 us in 4 kernels, 5 us of copies in a traced run of 100 us */
    struct assay__layers *known = &p->trials[1].layers;
    known->traced_ns = 100e3, known->kernels_ns = 20e3, known->copies_ns = 5e3;
    known->kernel_count = 4;
    assay__study_free(study);
    b = judge(&study, p);
    CHECK_NEAR(b->rows[1].kernels, 4, 0);
    CHECK_NEAR(b->rows[1].efficiency, 0.4, 1e-12);
    /* one median of processor and GPU together would describe neither */
    CHECK(isnan(b->efficiency));
    CHECK_INT(b->device_count, 2);
    CHECK_STR(b->efficiencies[0].device, "cpu");
    CHECK_NEAR(b->efficiencies[0].median, 0.9, 1e-9);
    CHECK_STR(b->efficiencies[1].device, "gpu:0");
    CHECK_NEAR(b->efficiencies[1].median, 0.4, 1e-12);
    CHECK_NEAR(b->rows[1].kernel_mean_s, 5e-6, 1e-15);
    CHECK_NEAR(b->rows[1].gap_mean_s, 7.5e-6, 1e-15);
    CHECK_NEAR(b->rows[1].busy, 0.25, 1e-12);
    CHECK_STR(b->rows[1].kernels_reason, "");
    CHECK(!b->rows[2].judged.usable && *b->rows[2].judged.reason);
    /* the baseline has one device: everything is compared with that, and the note says so */
    CHECK_INT(b->rows[0].verdict, ASSAY__VERDICT_SAME);
    CHECK_NEAR(b->rows[1].ratio.ratio, 2, 1e-9);
    CHECK_INT(b->rows[1].verdict, ASSAY__VERDICT_FASTER);
    CHECK_HAS(assay_metrics_get(p->trials[1].metrics, "bench.baseline")->note, "cpu → gpu:0");
    assay__study_free(study);
    assay_profile_close(p);
}

/* Stops when the second benchmark begins. */
static void on_progress(void *context, const struct assay_progress *progress)
{
    *(int *)context |= progress->point > 1;
    CHECK(progress->points == 2 || progress->points == 0);
    CHECK(progress->best == NULL); /* they are not ranked */
}

static void interrupted(void)
{
    static int stop;
    const struct assay_bench_options wanted = {.only = "softmax,cfc"};
    struct assay__run_options run = {
        .target.engine = "fake",
        .script = SCRIPT,
        .measuring = {.iterations = 20, .warmup_given = true},
        .callbacks = {.progress = on_progress, .context = &stop, .interrupt = &stop}};
    struct assay_profile *p = NULL;
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    CHECK_INT(assay__bench(&run, &wanted, &p, NULL), ASSAY_EINTERRUPTED);
    struct assay__study *study;
    const struct assay__bench *b = judge(&study, p);
    CHECK(b->rows[0].judged.usable); /* what was measured is kept */
    CHECK_NEAR(b->rows[0].judged.latency.value, 100e-6, 1e-12);
    assay__study_free(study);
    assay_profile_close(p);
}

static void what_is_refused(void)
{
    static const struct {
        struct assay_bench_options bench;
        const char *option;
    } wrong[] = {{{.only = "sofmax"}, "only"},
                 {{.only = "softmax,"}, "only"},
                 {{.only = ""}, "only"},
                 {{.devices = ","}, "devices"}};
    struct assay_profile *p;
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct assay_error error = {0};
        struct assay__run_options run = {.target.engine = "fake", .script = "steady=1us"};
        CHECK_INT(assay__bench(&run, &wrong[i].bench, &p, &error), ASSAY_EINVAL);
        CHECK_STR(error.option, wrong[i].option);
        CHECK(p == NULL);
    }
    struct assay_error error = {0};
    const struct assay_run_options batch = {.size = sizeof batch, .workload.batch = 2},
                                   model = {.size = sizeof model, .workload.model = "mlp"};
    CHECK_INT(assay_bench(&batch, NULL, &p, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "batch");
    CHECK_INT(assay_bench(&model, NULL, &p, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "model");
    CHECK_INT(assay_bench(NULL, NULL, NULL, &error), ASSAY_EINVAL);
    /* a profile of another command is no baseline, nor is a file that is not there */
    make_folder();
    const char *path = in_folder("run.assay");
    struct assay__run_options run = {.target.engine = "fake",
                                     .script = "steady=100us",
                                     .measuring = {.launches = 1, .iterations = 20},
                                     .keeping.output = path};
    CHECK_INT(assay__run(&run, &p, NULL), 0);
    assay_profile_close(p);
    const struct assay_bench_options against = {.only = "softmax", .against = path},
                                     gone = {.only = "softmax", .against = "gone.assay"};
    run.keeping.output = NULL;
    CHECK_INT(assay__bench(&run, &against, &p, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "against");
    CHECK_HAS(error.message, "run");
    CHECK(assay__bench(&run, &gone, &p, &error) < 0 && p == NULL);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"every_benchmark_is_a_model", every_benchmark_is_a_model},
        {"numbers", numbers},
        {"layers_that_do_not_add_up_are_no_kernels", layers_that_do_not_add_up_are_no_kernels},
        {"ranks_are_compared", ranks_are_compared},
        {"against_a_baseline", against_a_baseline},
        {"several_devices", several_devices},
        {"interrupted", interrupted},
        {"what_is_refused", what_is_refused},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
