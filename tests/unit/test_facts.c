/* test_facts.c - the typed facts of a profile: their names, the one table of device classes, and
 * what is made of the texts of a profile of schema 1. */
#include "facts_fixture.h"

#include "engine/engine.h"
#include "profile/trial_values.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_names(void)
{
    for (int i = 0; i < ASSAY__PROFILE_KINDS; i++)
        CHECK_INT(assay__kind_of_command(assay__enum_name(&assay__kind_names, (size_t)i)), i);
    CHECK_INT(assay__kind_of_command("rum"), ASSAY__PROFILE_UNKNOWN);
    CHECK_INT(assay__kind_of_command(NULL), ASSAY__PROFILE_UNKNOWN);
    for (int i = 0; i < ASSAY__ROLE_COUNT; i++)
        CHECK_INT(assay__role_parse(assay__role_name((enum assay__trial_role)i)), i);
    CHECK_INT(assay__role_parse("Reference"), ASSAY__ROLE_NONE);
    for (int i = 0; i < ASSAY__CLASS_COUNT; i++)
        CHECK_INT(assay__device_class_parse(assay__device_class_name((enum assay__device_class)i)),
                  i);
    for (int i = 0; i < ASSAY__OPTIMIZATION_COUNT; i++)
        CHECK_INT(assay__optimization_parse(assay__optimization_name((enum assay__optimization)i)),
                  i);
    for (int i = 0; i < ASSAY__PLAN_GOALS; i++)
        CHECK_INT(assay__plan_goal_parse(assay__plan_goal_name((enum assay__plan_goal)i)), i);
    for (int i = 0; i < ASSAY__AXIS_COUNT; i++) {
        const char *name = assay__axis_name((enum assay__axis)i);
        CHECK_INT(assay__axis_parse(name, strlen(name)), i);
    }
    CHECK_INT(assay__axis_parse("batches", 7), ASSAY__AXIS_COUNT);
    CHECK_INT(assay__axis_parse("", 0), ASSAY__AXIS_COUNT);
    CHECK_NEAR(assay__axis_number("8"), 8, 0);
    CHECK(isnan(assay__axis_number("8x")) && isnan(assay__axis_number("")));
}

static const struct {
    const char *engine, *device;
    enum assay__device_class device_class;
} devices[] = {
    {"ort", "cpu", ASSAY__CLASS_CPU},          {"ort", "openvino:cpu", ASSAY__CLASS_CPU},
    {"ort", "xnnpack", ASSAY__CLASS_CPU},      {"ort", "cuda:0", ASSAY__CLASS_GPU},
    {"ort", "cuda", ASSAY__CLASS_GPU},         {"ort", "tensorrt:1", ASSAY__CLASS_GPU},
    {"ort", "tensorrt-rtx", ASSAY__CLASS_GPU}, {"ort", "webgpu:0", ASSAY__CLASS_GPU},
    {"ort", "openvino:gpu", ASSAY__CLASS_GPU}, {"ort", "coreml:gpu", ASSAY__CLASS_GPU},
    {"ort", "coreml", ASSAY__CLASS_NPU},       {"ort", "coreml:ane", ASSAY__CLASS_NPU},
    {"ort", "openvino:npu", ASSAY__CLASS_NPU}, {"ort", "qnn", ASSAY__CLASS_NPU},
    {"ort", "abacus", ASSAY__CLASS_UNKNOWN},   {"fake", "cpu", ASSAY__CLASS_CPU},
    {"fake", "npu:1", ASSAY__CLASS_NPU},       {"fake", "openvino:cpu", ASSAY__CLASS_CPU},
    {"fake", "other", ASSAY__CLASS_GPU},
};

/* Old profiles know their devices by name alone, and the same ones. */
static void test_device_classes(void)
{
    for (size_t i = 0; i < COUNT(devices); i++) {
        struct assay_profile *profile = assay__profile_new();
        struct assay__trial *trial = assay__profile_trial(profile);
        trial->target.engine = devices[i].engine;
        CHECK_INT(assay__engine_device_class(devices[i].engine, devices[i].device),
                  devices[i].device_class);
        fact_device(profile, trial, devices[i].device);
        CHECK_INT(trial->target.device_class, devices[i].device_class);
        CHECK_STR(trial->target.build, "");
        fact_device(profile, trial,
                    assay__arena_printf(profile->arena, "ovn/%s", devices[i].device));
        CHECK_INT(trial->target.device_class, devices[i].device_class);
        CHECK_STR(trial->target.build, "ovn");
        CHECK_STR(assay__device_bare(trial->target.device), devices[i].device);
        assay_profile_close(profile);
    }
    CHECK_INT(assay__engine_device_class("none", "cpu"), ASSAY__CLASS_UNKNOWN);
    CHECK_INT(assay__engine_device_class("ort", NULL), ASSAY__CLASS_UNKNOWN);
}

static void test_target_of_texts(void)
{
    static const struct {
        const char *text;
        int threads;
        bool is_default;
    } rows[] = {
        {"2", 2, false},  {"2 (engine's default)", 2, true}, {"default", 0, true}, {"", 0, false},
        {"-3", 0, false}, {"99999999999", 0, false},         {"two", 0, true}};
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    for (size_t i = 0; i < COUNT(rows); i++) {
        fact(profile, trial, "threads", rows[i].text);
        CHECK_INT(trial->target.threads, rows[i].threads);
        CHECK_INT(trial->target.threads_default, rows[i].is_default);
    }
    fact(profile, trial, "opt", "basic");
    fact(profile, trial, "cpus", "0-3");
    fact(profile, trial, "spinning", "off");
    fact(profile, trial, "streams", "4");
    CHECK_INT(trial->target.optimization, ASSAY__OPTIMIZATION_BASIC);
    CHECK_STR(trial->target.cpus, "0-3");
    CHECK(trial->target.spinning_off);
    CHECK_INT(trial->target.streams, 4);
    fact(profile, trial, "cpus", "any");
    CHECK_STR(trial->target.cpus, "");
    fact(profile, trial, "watch", "power+counters");
    CHECK_INT(trial->protocol.watched, ASSAY__WATCHED_POWER | ASSAY__WATCHED_COUNTERS);
    CHECK_INT(trial->protocol.warmup, -1);
    fact(profile, trial, "warmup", "0");
    CHECK_INT(trial->protocol.warmup, 0);
    fact(profile, trial, "layers", "isolated");
    CHECK_INT(trial->protocol.layers, ASSAY_LAYERS_ISOLATED);
    fact(profile, trial, "token_ids", "464 318 -1 x 7");
    CHECK_INT(trial->generation.id_count, 3); /* up to what is no number */
    CHECK_INT(trial->generation.ids[2], -1);
    assay_profile_close(profile);
}

static void test_axes_and_plan(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    fact(profile, trial, "label", "device=ovn/cpu precision=float16 colour=red batch=8 threads=2");
    CHECK_INT(trial->axis_count, 0); /* a label of any other command is a name */
    assay__profile_set_command(profile, "tune");
    fact(profile, trial, "goal", "energy");
    fact(profile, trial, "slo", "p99=20ms");
    fact(profile, trial, "memory_budget", "1000000");
    fact(profile, trial, "drift_limit", "0.01");
    fact(profile, trial, "budget_s", "30");
    fact(profile, trial, "grid", "96");
    CHECK_INT(trial->axis_count, 4);
    CHECK_STR(assay__trial_axis(trial, ASSAY__AXIS_DEVICE), "ovn/cpu");
    CHECK_STR(assay__trial_axis(trial, ASSAY__AXIS_BATCH), "8");
    CHECK_STR(assay__trial_axis(trial, ASSAY__AXIS_SEQ), "");
    CHECK_STR(trial->target.precision, "float16");
    CHECK_INT(trial->target.threads, 2);
    const struct assay__plan *plan = &profile->plan;
    CHECK(plan->asked);
    CHECK_INT(plan->goal, ASSAY__PLAN_ENERGY);
    CHECK_STR(plan->slo_metric, "latency.p99");
    CHECK_NEAR(plan->slo_s, 0.02, 1e-15);
    CHECK_NEAR(plan->memory_bytes, 1e6, 0);
    CHECK_NEAR(plan->drift_limit, 0.01, 0);
    CHECK_NEAR(plan->budget_s, 30, 0);
    CHECK_INT(plan->configurations, 96);
    fact(profile, trial, "drift_limit", "much");
    fact(profile, trial, "slo", "soon");
    CHECK(isinf(profile->plan.drift_limit) && !profile->plan.slo_metric);
    assay_profile_close(profile);
}

static void test_requirements(void)
{
    static const char *const none[] = {"tflops",  "tflops -1", "tflops 1 2 3",
                                       "flops 1", "p99 20",    "batch many"};
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    fact(profile, trial, "require",
         "name m1-max; ; chip M1 Max; tflops 8 12; p99 - 0.04s; memory 1; batch 128");
    const struct assay__requirements *table = trial->required;
    CHECK(table != NULL);
    CHECK_STR(table->name, "m1-max");
    CHECK_STR(table->chip, "M1 Max");
    CHECK_NEAR(table->minimum[ASSAY__REQUIRE_TFLOPS], 8e12, 0);
    CHECK_NEAR(table->target[ASSAY__REQUIRE_TFLOPS], 12e12, 0);
    CHECK(isnan(table->minimum[ASSAY__REQUIRE_P99]));
    CHECK_NEAR(table->target[ASSAY__REQUIRE_P99], 0.04, 1e-15);
    CHECK_NEAR(table->minimum[ASSAY__REQUIRE_MEMORY], 1048576, 0);
    CHECK_INT(table->batch, 128);
    for (size_t i = 0; i < COUNT(none); i++) {
        fact(profile, trial, "require", none[i]);
        CHECK(trial->required == NULL);
    }
    assay_profile_close(profile);
}

static void test_placement(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    assay_metrics_measured(trial->metrics, "placement.nodes", 7, "engine",
                           "ONNX Runtime 1.31.1, X; nodes that it merged count with others");
    assay_metrics_measured(trial->metrics, "placement.elsewhere", 4, "engine",
                           "on CPUExecutionProvider: a (Conv); b: 1 (Relu); c; d (e) (Shape, "
                           "indices)");
    derive_facts(profile);
    const struct assay__placement *p = &trial->placement;
    CHECK_STR(p->record, "ONNX Runtime 1.31.1, X");
    CHECK_INT(p->node_count, 4);
    CHECK_STR(p->nodes[0].node, "a");
    CHECK_STR(p->nodes[0].op, "Conv");
    CHECK_STR(p->nodes[0].provider, "CPUExecutionProvider");
    CHECK_STR(p->nodes[1].node, "b: 1");
    CHECK_STR(p->nodes[2].node, "c");
    CHECK_STR(p->nodes[2].op, "");
    CHECK_STR(p->nodes[3].node, "d (e)");
    CHECK_STR(p->nodes[3].op, "Shape");
    CHECK(p->nodes[3].indices && p->nodes[3].elsewhere && !p->nodes[0].indices);
    assay_profile_close(profile);
}

static void test_models(void)
{
    struct assay_profile *profile = assay__profile_new();
    assay__profile_set_command(profile, "compare");
    profile->models[0]->name = "a";
    for (int i = 0; i < 3; i++)
        CHECK(assay__profile_trial(profile) != NULL);
    fact(profile, &profile->trials[1], "model", "b");
    fact(profile, &profile->trials[1], "parameters", "12");
    fact(profile, &profile->trials[2], "model", "b");
    CHECK_INT(profile->model_count, 2);
    CHECK(profile->trials[0].model == profile->models[0]);
    CHECK(profile->trials[1].model == profile->models[1]);
    CHECK(profile->trials[2].model == profile->models[1]);
    CHECK_INT(profile->models[1]->parameters, 12);
    CHECK(assay__trial_of_model(profile, 1) == &profile->trials[1]);
    CHECK(assay__trial_of_model(profile, 0) == NULL);
    CHECK(assay__trial_of_model(profile, 2) == NULL);
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"names", test_names},
        {"device_classes", test_device_classes},
        {"target_of_texts", test_target_of_texts},
        {"axes_and_plan", test_axes_and_plan},
        {"requirements", test_requirements},
        {"placement", test_placement},
        {"models", test_models},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
