/* test_api.c - the public API as a caller outside has it: options that are older, newer or wrong,
 * reading everything a profile holds, reports of what is no profile, and an environment that stays
 * as it was. */
#include "scratch.h"
#include "run/run_options.h"

#include <assay/assay.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static void set_worker(void)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
}

/* Two launches of two streams, with layers. */
static struct assay_profile *make(const char *output)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    const struct assay__run_options options = {
        .workload = {.model = "mlp"},
        .target = {.engine = "fake", .streams = 2},
        .measuring = {.launches = 2,
                      .iterations = 50,
                      .warmup_given = true,
                      .layers = ASSAY_LAYERS_AUTO},
        .keeping = {.output = output},
        .script = "steady=100us;layers=conv:30us:Conv,dense:60us:Gemm;engine=5us",
    };
    set_worker();
    int code = assay__run(&options, &profile, &error);
    if (code) printf("  %d: %s\n", code, error.message);
    CHECK_INT(code, 0);
    return profile;
}

/* --- options ---------------------------------------------------------------------------------- */

/* What this library does not know must be zero; what the caller does not have is the default. */
static void options_are_checked(void)
{
    struct {
        struct assay_run_options options;
        char later[16];
    } newer = {.options = {.size = sizeof newer}};
    struct assay_run_options older = {.size = 3};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay_run(&older, &profile, &error), ASSAY_EINVAL);
    CHECK_INT(assay_run(&newer.options, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "model"); /* a tail of zeros is no objection */
    newer.later[3] = 1;
    CHECK_INT(assay_run(&newer.options, &profile, &error), ASSAY_EINVAL);
    CHECK(error.option == NULL);
    CHECK_INT(assay_run(NULL, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "model");
    CHECK_INT(assay_run(NULL, NULL, &error), ASSAY_EINVAL);
    CHECK(profile == NULL);
}

/* The member is named, so that a program can say it in its own words. */
static void refused_options_are_named(void)
{
    static const char *const hole[] = {"x=1", NULL}, *const stray[] = {"nowhere=1"};
    const struct {
        const char *option;
        struct assay_run_options options;
    } wrong[] = {
        {"batch", {.workload = {.batch = -1}}},
        {"sequence", {.workload = {.sequence = -1}}},
        {"dims", {.workload = {.dims = hole, .dim_count = 2}}},
        {"shapes", {.workload = {.shapes = hole, .shape_count = 2}}},
        {"inputs", {.workload = {.inputs = NULL, .input_count = 1}}},
        {"dims", {.workload = {.dims = stray, .dim_count = 1}}},
        {"shapes", {.workload = {.shapes = stray, .shape_count = 1}}},
        {"inputs", {.workload = {.inputs = stray, .input_count = 1}}},
        {"cpus", {.target = {.cpus = "all"}}},
        {"output", {.keeping = {.output = "/dev/null"}}},
        {"layers", {.measuring = {.layers = (enum assay_layer_method)99}}},
        {"threads", {.target = {.threads = 5000}}},
        {"streams", {.target = {.streams = -1}}},
        {"optimization", {.target = {.optimization = "most"}}},
        {"launches", {.measuring = {.launches = 2000}}},
        {"warmup", {.measuring = {.warmup_given = true, .warmup = -1}}},
        {"iterations", {.measuring = {.iterations = -1}}},
        {"time_s", {.measuring = {.time_s = NAN}}},
        {"timeout_s", {.measuring = {.timeout_s = -1}}},
        {"interval_s", {.watching = {.interval_s = INFINITY}}},
        {"idle_s", {.watching = {.idle_given = true, .idle_s = -1}}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct assay_run_options options = wrong[i].options;
        struct assay_profile *profile = NULL;
        struct assay_error error = {0};
        options.size = sizeof options;
        options.workload.model = "mlp";
        options.target.engine = "fake";
        CHECK_INT(assay_run(&options, &profile, &error), ASSAY_EINVAL);
        CHECK_STR(error.option, wrong[i].option);
        CHECK(profile == NULL);
    }
}

static void experiments_refuse_too(void)
{
    const struct assay_run_options run = {.size = sizeof run, .workload = {.model = "mlp"}};
    struct assay_sweep_options sweep = {.size = sizeof sweep};
    struct assay_tune_options tune = {.size = sizeof tune, .goal = {.goal = "beauty"}};
    struct assay_compare_options compare = {.size = sizeof compare, .devices = ","};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay_sweep(&run, &sweep, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "grid");
    sweep.grid.batch = "1,x";
    CHECK_INT(assay_sweep(&run, &sweep, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "batch");
    CHECK_INT(assay_tune(&run, &tune, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "goal");
    CHECK_INT(assay_compare(&run, &compare, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "devices");
    CHECK(profile == NULL);
}

/* --- reading ---------------------------------------------------------------------------------- */

static void check_launches(const struct assay_trial *trial)
{
    const struct assay_launch *launch;
    size_t launches = 0;
    for (; (launch = assay_trial_launch(trial, launches)); launches++) {
        struct assay_launch_info info = {.size = sizeof info};
        size_t samples = 0, count = 0;
        CHECK(assay_launch_read(launch, &info));
        CHECK_INT(info.id, (int)launches + 1);
        CHECK_INT(info.state, ASSAY_TRIAL_OK);
        CHECK_INT(info.streams, 2);
        CHECK_NEAR(info.p50_ns, 100e3, 1);
        CHECK(assay_metrics_get(assay_launch_metrics(launch), "latency.p50") != NULL);
        for (int stream = 0; stream < info.streams; stream++) {
            const double *ns = assay_launch_samples(launch, stream, &count);
            CHECK(ns && count > 0);
            CHECK(ns[0] >= 100e3); /* the streams share a scripted clock */
            samples += count;
        }
        CHECK_INT(samples, info.sample_count);
        CHECK(!assay_launch_samples(launch, 2, &count) && count == 0);
        CHECK(!assay_launch_samples(launch, -1, &count) && count == 0);
    }
    CHECK_INT(launches, 2);
}

static void check_layers(const struct assay_trial *trial)
{
    struct assay_layers all = {.size = sizeof all};
    struct assay_layer layer = {.size = sizeof layer};
    double sum_ns = 0;
    size_t count = 0;
    CHECK(assay_trial_layers(trial, &all));
    for (; assay_trial_layer(trial, count, &layer); count++) {
        CHECK(*layer.name && *layer.op);
        CHECK_STR(layer.title, layer.from_count ? layer.from[0] : layer.name);
        CHECK(layer.low_ns != layer.low_ns); /* two launches give no interval */
        sum_ns += layer.time_ns;
    }
    CHECK_INT(count, all.count);
    CHECK_INT(count, 2);
    CHECK_NEAR(sum_ns + all.engine_ns + all.unattributed_ns, 100e3, 1);
}

static void check_profile(const struct assay_profile *profile)
{
    struct assay_profile_info info = {.size = sizeof info};
    struct assay_environment machine = {.size = sizeof machine};
    struct assay_model model = {.size = sizeof model};
    struct assay_trial_info trial_info = {.size = sizeof trial_info};
    struct assay_target target = {.size = sizeof target};
    struct assay_input input = {.size = sizeof input};
    const struct assay_trial *trial = assay_profile_trial(profile, 0);
    CHECK(assay_profile_read(profile, &info) && info.complete);
    CHECK_STR(info.kind, "run");
    CHECK(assay_profile_environment(profile, &machine) && *machine.os && machine.threads > 0);
    CHECK(assay_profile_model(profile, 0, &model) && model.parameters > 0);
    CHECK(!assay_profile_model(profile, 1, &model));
    CHECK(assay_trial_model(trial, &model));
    CHECK_STR(model.name, "mlp");
    CHECK(assay_trial_read(trial, &trial_info));
    CHECK_INT(trial_info.state, ASSAY_TRIAL_OK);
    CHECK_STR(trial_info.role, "");
    CHECK(assay_trial_target(trial, &target));
    CHECK_STR(target.engine, "fake");
    CHECK_STR(target.device, "cpu");
    CHECK_STR(target.device_class, "cpu");
    CHECK_INT(target.streams, 2);
    CHECK(assay_trial_input(trial, 0, &input) && input.rank > 0 && input.dims[0] > 0);
    CHECK(!assay_trial_input(trial, 1, &input));
    CHECK(assay_trial_metrics(trial) == assay_profile_metrics(profile, 0));
    check_launches(trial);
    check_layers(trial);
    CHECK(assay_profile_trial(profile, 1) == NULL);
}

/* The same from memory and from its file. */
static void everything_is_read(void)
{
    const char *path = scratch("kept.assay");
    struct assay_profile *profile = make(path), *kept = NULL;
    check_profile(profile);
    assay_profile_close(profile);
    CHECK_INT(assay_profile_open(path, &kept, NULL), 0);
    check_profile(kept);
    assay_profile_close(kept);
}

static void nothing_is_legal(void)
{
    struct assay_layer layer = {.size = sizeof layer};
    struct assay_launch_info launch = {.size = sizeof launch};
    struct assay_trial_info trial = {.size = sizeof trial};
    struct assay_series series = {.size = sizeof series};
    struct assay_finding finding = {.size = sizeof finding};
    struct assay_ceiling ceiling = {.size = sizeof ceiling};
    size_t count = 1;
    CHECK(!assay_profile_trial(NULL, 0) && !assay_trial_launch(NULL, 0));
    CHECK(!assay_trial_layer(NULL, 0, &layer) && !assay_trial_read(NULL, &trial));
    CHECK(!assay_trial_series(NULL, 0, &series) && !assay_launch_read(NULL, &launch));
    CHECK(!assay_profile_finding(NULL, 0, &finding) && !assay_profile_ceiling(NULL, 0, &ceiling));
    CHECK(!assay_launch_samples(NULL, 0, &count) && count == 0);
    CHECK(!assay_trial_metrics(NULL) && !assay_launch_metrics(NULL));
    assay_profile_close(NULL);
    assay_devices_free(NULL);
    assay_inspection_free(NULL);
    assay_check_free(NULL);
    assay_prediction_free(NULL);
}

/* A caller's struct may be shorter (older) or longer (newer) than ours, or have no size. */
static void structs_of_other_versions(void)
{
    struct {
        struct assay_trial_info info;
        char later[16];
    } newer = {.info = {.size = sizeof newer}};
    struct assay_trial_info older = {.size = offsetof(struct assay_trial_info, label)};
    struct assay_trial_info none = {0};
    struct assay_profile *profile = make(NULL);
    const struct assay_trial *trial = assay_profile_trial(profile, 0);
    newer.later[0] = 'x';
    older.label = "mine";
    CHECK(assay_trial_read(trial, &newer.info) && newer.later[0] == 0);
    CHECK(assay_trial_read(trial, &older) && older.id == 1);
    CHECK_STR(older.label, "mine");
    CHECK(!assay_trial_read(trial, &none));
    assay_profile_close(profile);
}

/* --- what is no profile ----------------------------------------------------------------------- */

static void models_are_reported_in_every_format(void)
{
    const struct assay_workload_options mlp = {.model = "mlp"};
    const struct assay_inspect_options wanted = {.size = sizeof wanted, .workload = mlp};
    const struct assay_check_options target = {
        .size = sizeof target, .workload = mlp, .target = "ane"};
    const struct assay_predict_options chip = {
        .size = sizeof chip, .workload = mlp, .chip = "M1 Max"};
    struct assay_inspection *inspection = NULL;
    struct assay_check *check = NULL;
    struct assay_prediction *prediction = NULL;
    static const char *const formats[] = {NULL, "text", "markdown", "html", "csv", "json"};
    CHECK_INT(assay_inspect(&wanted, &inspection, NULL), 0);
    CHECK_INT(assay_check(&target, &check, NULL), 0);
    CHECK_INT(assay_predict(&chip, &prediction, NULL), 0);
    CHECK_INT(assay_inspection_conflicts(inspection), 0);
    CHECK(assay_metrics_count(assay_inspection_metrics(inspection)) > 0);
    CHECK(assay_check_verdict(check) != ASSAY_VERDICT_NONE);
    CHECK_INT(assay_profile_trials(assay_prediction_profile(prediction)), 3);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        const struct assay_report_options view = {.size = sizeof view, .format = formats[i]};
        char *texts[4] = {NULL};
        size_t length = 0;
        CHECK_INT(assay_inspection_report(inspection, NULL, &view, &texts[0], &length, NULL), 0);
        CHECK_INT(length, strlen(texts[0]));
        CHECK_INT(assay_inspection_report(inspection, inspection, &view, &texts[1], NULL, NULL), 0);
        CHECK_INT(assay_check_report(check, &view, &texts[2], NULL, NULL), 0);
        CHECK_INT(assay_prediction_report(prediction, &view, &texts[3], NULL, NULL), 0);
        for (size_t k = 0; k < 4; k++) {
            CHECK(texts[k] && *texts[k]);
            assay_free(texts[k]);
        }
    }
    assay_inspection_free(inspection);
    assay_check_free(check);
    assay_prediction_free(prediction);
}

static void items_of_a_check(void)
{
    const struct assay_check_options options = {
        .size = sizeof options, .workload = {.model = "ltc"}, .target = "ane"};
    struct assay_check_item item = {.size = sizeof item};
    struct assay_check *check = NULL;
    struct assay_error error = {0};
    size_t count = 0;
    CHECK_INT(assay_check(&options, &check, NULL), 0);
    for (; assay_check_item(check, count, &item); count++)
        CHECK(*item.rule && *item.severity && *item.reason && *item.source);
    CHECK(count > 0);
    assay_check_free(check);
    CHECK_INT(assay_check(NULL, &check, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "target");
}

/* --- the environment -------------------------------------------------------------------------- */

static char **copy_environment(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = strdup(environ[i]);
    return copy;
}

/* It belongs to the caller, whose other threads may read it. */
static void the_environment_stays(void)
{
    const struct assay_devices_options wanted = {.size = sizeof wanted, .engine = "fake"};
    struct assay_device device = {.size = sizeof device};
    struct assay_devices *devices = NULL;
    set_worker();
    char **before = copy_environment();
    assay_profile_close(make(NULL));
    CHECK_INT(assay_devices(&wanted, &devices, NULL), 0);
    CHECK(assay_devices_at(devices, 0, &device) && device.available);
    CHECK_STR(device.name, "cpu");
    size_t count = 0;
    for (; before[count] && environ[count]; count++) {
        CHECK_STR(environ[count], before[count]);
        free(before[count]);
    }
    CHECK(!before[count] && !environ[count]);
    free(before);
    assay_devices_free(devices);
}

/* --- hints ------------------------------------------------------------------------------------ */

static const char *hint(const char *metric)
{
    return strncmp(metric, "power.", 6) == 0 ? "ask the watt" : NULL;
}

/* Where nobody read a metric, a caller may say how it is read; JSON and CSV keep to the reason. */
static void reasons_take_hints(void)
{
    static const struct {
        const char *format;
        bool hinted;
    } formats[] = {{"text", true}, {"markdown", true}, {"json", false}, {"csv", false}};
    struct assay_profile *profile = make(NULL);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct assay_report_options view = {
            .size = sizeof view, .format = formats[i].format, .full = true, .hint = hint};
        char *text = NULL;
        CHECK_INT(assay_report(profile, &view, &text, NULL, NULL), 0);
        CHECK(!!strstr(text, "ask the watt") == formats[i].hinted);
        assay_free(text);
    }
    assay_profile_close(profile);
}

/* One figure, by name or the main one; a reason where there is none. */
static void figures_by_name(void)
{
    struct assay_profile *profile = make(NULL);
    struct assay_error error = {0};
    char *named = NULL, *chosen = NULL, *none = (char *)"";
    size_t length = 0;
    CHECK_INT(assay_report_figure(profile, "layers", &named, &length, &error), 0);
    CHECK_INT(strlen(named), length);
    CHECK(strstr(named, "</svg>") && strstr(named, "dense"));
    CHECK_INT(assay_report_figure(profile, NULL, &chosen, NULL, &error), 0);
    CHECK_STR(chosen, named);
    CHECK_INT(assay_report_figure(profile, "sweep", &none, NULL, &error), ASSAY_ENOTFOUND);
    CHECK(none == NULL);
    CHECK_INT(assay_report_figure(profile, "pie", &none, NULL, &error), ASSAY_EINVAL);
    CHECK_INT(assay_report_figure(NULL, "layers", &none, NULL, &error), ASSAY_EINVAL);
    assay_free(named);
    assay_free(chosen);
    assay_profile_close(profile);
}

/* Lists that are shorter than they say, and places that are not there. */
static void lists_without_items_are_refused(void)
{
    static const char *const models[] = {"cfc", NULL};
    struct assay_run_options run = {.size = sizeof run};
    struct assay_compare_options compare = {
        .size = sizeof compare, .models = models, .model_count = 2};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay_compare(&run, &compare, &profile, &error), ASSAY_EINVAL);
    compare.models = NULL;
    CHECK_INT(assay_compare(&run, &compare, &profile, &error), ASSAY_EINVAL);
    compare.model_count = 0;
    CHECK_INT(assay_compare(&run, &compare, &profile, &error), ASSAY_EINVAL);
    CHECK_INT(assay_tune(NULL, NULL, &profile, &error), ASSAY_EINVAL);
    CHECK_INT(assay_sweep(NULL, NULL, &profile, &error), ASSAY_EINVAL);
    run.workload.model = "cfc";
    run.workload.dim_count = 2;
    CHECK_INT(assay_run(&run, &profile, &error), ASSAY_EINVAL);
    run.workload.dim_count = 0;
    run.workload.shape_count = run.workload.input_count = 1;
    CHECK_INT(assay_run(&run, &profile, &error), ASSAY_EINVAL);
    run.workload.shape_count = run.workload.input_count = 0;
    run.measuring.layers = (enum assay_layer_method)77;
    CHECK_INT(assay_run(&run, &profile, &error), ASSAY_EINVAL);
    CHECK_INT(assay_profile_open("x.assay", NULL, &error), ASSAY_EINVAL);
    CHECK_INT(assay_profile_open(NULL, &profile, &error), ASSAY_EINVAL);
    CHECK_INT(assay_profile_recover(NULL, &error), ASSAY_EINVAL);
    CHECK(profile == NULL);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"options_are_checked", options_are_checked},
        {"refused_options_are_named", refused_options_are_named},
        {"experiments_refuse_too", experiments_refuse_too},
        {"everything_is_read", everything_is_read},
        {"nothing_is_legal", nothing_is_legal},
        {"structs_of_other_versions", structs_of_other_versions},
        {"models_are_reported_in_every_format", models_are_reported_in_every_format},
        {"items_of_a_check", items_of_a_check},
        {"the_environment_stays", the_environment_stays},
        {"reasons_take_hints", reasons_take_hints},
        {"figures_by_name", figures_by_name},
        {"lists_without_items_are_refused", lists_without_items_are_refused},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
