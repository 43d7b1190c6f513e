/* test_profile_facts.c - the typed facts of a profile in its file: every one comes back as it was,
 * and only a profile of schema 1 is read from its texts. */
#include "profile_fixture.h"

#include "profile/trial_values.h"

static struct assay__axis_value axes[] = {{ASSAY__AXIS_DEVICE, "ovn/openvino:cpu"},
                                          {ASSAY__AXIS_BATCH, "8"}};
static const int64_t ids[] = {464, -1, 0, INT64_MAX};
static struct assay__placed_node nodes[] = {
    {.node = "a; b", .op = "Softmax", .provider = "CPUExecutionProvider", .elsewhere = true},
    {.node = "c (d)", .op = "", .provider = "", .elsewhere = true, .indices = true},
    {.node = "e", .op = "Conv", .provider = "OpenVINOExecutionProvider"},
};
static const char *rails[] = {"package", "dram; psys"};
static struct assay__power_warning warnings[] = {{"package, idle", "shorter than 1 s"}};
static struct assay__operator_info second_operators[] = {{"Gemm", 2, 1e6, 5e5, 2e6}};
static struct assay__tensor_info second_inputs[] = {
    {.name = "tokens", .dtype = "int64", .rank = 4, .dims = model_dims, .symbols = symbols}};

static void put_target(struct assay__target *target)
{
    *target = (struct assay__target){.engine = "ort",
                                     .engine_version = "1.31.1",
                                     .engine_library = "lib.so",
                                     .device = "ovn/openvino:cpu",
                                     .build = "ovn",
                                     .device_class = ASSAY__CLASS_CPU,
                                     .software = true,
                                     .threads = 3,
                                     .threads_default = true,
                                     .optimization = ASSAY__OPTIMIZATION_EXTENDED,
                                     .streams = 4,
                                     .precision = "float16",
                                     .spinning_off = true,
                                     .cpus = "0-3",
                                     .chip = "m1-max",
                                     .published = true,
                                     .uncovered = "no such operator was fitted"};
}

/* Two trials of two models; the texts that schema 1 would be read from say otherwise. */
static struct assay_profile *make_facts(void)
{
    static struct assay__pair texts[] = {{"label", "batch=64"},  {"role", "finalist"},
                                         {"threads", "1"},       {"model", "third"},
                                         {"token_ids", "7 8 9"}, {"goal", "latency"}};
    static struct assay__requirements required = {
        .name = "m1-max", .chip = "M1 Max", .batch = 128, .backbone_units = 0};
    struct assay_profile *p = make_document();
    struct assay__model_info *second = assay__profile_model(p);
    struct assay__trial *t = &p->trials[0];
    assay__profile_set_command(p, "tune");
    p->plan = (struct assay__plan){.asked = true,
                                   .goal = ASSAY__PLAN_ENERGY,
                                   .slo_metric = "latency.p99",
                                   .slo_s = 0.02,
                                   .slo = "p99=20ms",
                                   .memory_bytes = 1e6,
                                   .drift_limit = INFINITY,
                                   .budget_s = 0.1 + 0.2,
                                   .configurations = 96};
    second->name = "other", second->parameters = 12;
    second->operators = second_operators, second->operator_count = 1;
    second->inputs = second_inputs, second->input_count = 1;
    p->findings[0].gain_estimated = true;
    for (size_t i = 0; i < ASSAY__REQUIRE_COUNT; i++) {
        required.minimum[i] = i % 2 ? (double)NAN : 1.5 * (double)(i + 1);
        required.target[i] = 1e9 / (double)(i + 3);
    }
    put_target(&t->target);
    t->model = second;
    t->label = "device=ovn/openvino:cpu batch=8", t->role = ASSAY__ROLE_ABLATION;
    t->axes = axes, t->axis_count = COUNT(axes);
    t->protocol = (struct assay__protocol){.launches = 10,
                                           .warmup = 0,
                                           .seed = UINT64_MAX,
                                           .layers = ASSAY_LAYERS_ISOLATED,
                                           .watched = ASSAY__WATCHED_POWER |
                                                      ASSAY__WATCHED_COUNTERS};
    static struct assay__token_time times[] = {{1, 5e6, 5e6, 4e6, 6e6}, {3, 7e6, 1e6, NAN, 2e6}};
    t->generation = (struct assay__generation_info){8, 32, ids, COUNT(ids), times, COUNT(times)};
    t->required = &required;
    t->placement = (struct assay__placement){"ONNX Runtime 1.31.1; asked", nodes, COUNT(nodes)};
    t->power = (struct assay__power_info){.gap = ASSAY__POWER_KNOWN,
                                          .rails = rails,
                                          .rail_count = COUNT(rails),
                                          .whole_machine = true,
                                          .temperature = "temperature.package",
                                          .frequency = "clock.package",
                                          .warnings = warnings,
                                          .warning_count = 1};
    t->options = texts, t->option_count = COUNT(texts);
    return p;
}

static struct assay_profile *reopen(const char *path)
{
    struct assay_error error = {0};
    struct assay_profile *p = NULL;
    if (assay_profile_open(path, &p, &error)) harness_fail(__FILE__, __LINE__, error.message);
    return p;
}

#define SAME_TEXT(field) CHECK_STR(b->field, a->field)
#define SAME_INT(field) CHECK_INT(b->field, a->field)
#define SAME_REAL(field) CHECK(a->field == b->field || (isnan(a->field) && isnan(b->field)))

static void same_target(const struct assay__target *a, const struct assay__target *b)
{
    SAME_TEXT(engine);
    SAME_TEXT(engine_version);
    SAME_TEXT(engine_library);
    SAME_TEXT(device);
    SAME_TEXT(build);
    SAME_INT(device_class);
    SAME_INT(software);
    SAME_INT(threads);
    SAME_INT(threads_default);
    SAME_INT(optimization);
    SAME_INT(streams);
    SAME_TEXT(precision);
    SAME_INT(spinning_off);
    SAME_TEXT(cpus);
    SAME_TEXT(chip);
    SAME_INT(published);
    SAME_TEXT(uncovered);
}

static void same_plan(const struct assay__plan *a, const struct assay__plan *b)
{
    SAME_INT(asked);
    SAME_INT(goal);
    SAME_TEXT(slo_metric);
    SAME_REAL(slo_s);
    SAME_TEXT(slo);
    SAME_REAL(memory_bytes);
    SAME_REAL(drift_limit);
    SAME_REAL(budget_s);
    SAME_INT(configurations);
}

static void same_placement(const struct assay__placement *a, const struct assay__placement *b)
{
    SAME_TEXT(record);
    SAME_INT(node_count);
    for (size_t i = 0; i < a->node_count; i++) {
        SAME_TEXT(nodes[i].node);
        SAME_TEXT(nodes[i].op);
        SAME_TEXT(nodes[i].provider);
        SAME_INT(nodes[i].elsewhere);
        SAME_INT(nodes[i].indices);
    }
}

static void same_power(const struct assay__power_info *a, const struct assay__power_info *b)
{
    SAME_INT(gap);
    SAME_INT(whole_machine);
    SAME_TEXT(temperature);
    SAME_TEXT(frequency);
    SAME_INT(rail_count);
    for (size_t i = 0; i < a->rail_count; i++)
        SAME_TEXT(rails[i]);
    SAME_INT(warning_count);
    for (size_t i = 0; i < a->warning_count; i++) {
        SAME_TEXT(warnings[i].about);
        SAME_TEXT(warnings[i].text);
    }
}

static void same_trial(const struct assay__trial *a, const struct assay__trial *b)
{
    SAME_TEXT(label);
    SAME_INT(role);
    SAME_INT(model->id);
    same_target(&a->target, &b->target);
    SAME_INT(axis_count);
    for (size_t i = 0; i < a->axis_count; i++) {
        SAME_INT(axes[i].axis);
        SAME_TEXT(axes[i].value);
    }
    SAME_INT(protocol.launches);
    SAME_INT(protocol.warmup);
    CHECK(a->protocol.seed == b->protocol.seed);
    SAME_INT(protocol.layers);
    SAME_INT(protocol.watched);
    SAME_INT(generation.tokens);
    SAME_INT(generation.prompt);
    SAME_INT(generation.time_count);
    for (size_t i = 0; i < a->generation.time_count; i++) {
        SAME_INT(generation.times[i].token);
        CHECK_NEAR(b->generation.times[i].at_ns, a->generation.times[i].at_ns, 0);
        CHECK_NEAR(b->generation.times[i].step_ns, a->generation.times[i].step_ns, 0);
        CHECK(isnan(a->generation.times[i].low_ns) == isnan(b->generation.times[i].low_ns));
        CHECK_NEAR(b->generation.times[i].high_ns, a->generation.times[i].high_ns, 0);
    }
    SAME_INT(generation.id_count);
    for (size_t i = 0; i < a->generation.id_count; i++)
        SAME_INT(generation.ids[i]);
    CHECK(!a->required == !b->required);
    for (size_t i = 0; a->required && i < ASSAY__REQUIRE_COUNT; i++) {
        SAME_REAL(required->minimum[i]);
        SAME_REAL(required->target[i]);
    }
    same_placement(&a->placement, &b->placement);
    same_power(&a->power, &b->power);
}

static void test_round_trip(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_profile *a = make_facts();
    struct assay__store *store = NULL;
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, a);
    CHECK_INT(assay__store_put_findings(store, a, NULL), 0);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    struct assay_profile *b = reopen(path);
    SAME_INT(kind);
    CHECK_INT(b->schema, 2);
    same_plan(&a->plan, &b->plan);
    same_trial(&a->trials[0], &b->trials[0]);
    same_trial(&a->trials[1], &b->trials[1]); /* of which nothing is known */
    CHECK_STR(b->trials[0].required->name, "m1-max");
    CHECK_STR(b->trials[0].required->chip, "M1 Max");
    CHECK_INT(b->trials[0].required->batch, 128);
    CHECK_INT(b->trials[0].required->backbone_units, 0);
    CHECK(b->findings[0].gain_estimated);
    CHECK_INT(b->environment.disturbance_kinds[1], ASSAY__DISTURBANCE_CLOCK);
    CHECK_INT(b->trials[0].option_count, a->trials[0].option_count);
    assay_profile_close(a);
    assay_profile_close(b);
}

static void test_models(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_profile *a = make_facts();
    struct assay__store *store = NULL;
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, a);
    struct assay_profile *b = reopen(path); /* a capture that is still at it has both too */
    CHECK_INT(b->model_count, 2);
    CHECK(b->trials[0].model == b->models[1] && b->trials[1].model == b->models[0]);
    CHECK_STR(b->models[0]->name, "resnet50");
    CHECK_INT(b->models[0]->operator_count, 2);
    CHECK_INT(b->models[0]->cell.group_count, 2);
    CHECK_STR(b->models[1]->name, "other");
    CHECK_INT(b->models[1]->parameters, 12);
    CHECK_INT(b->models[1]->operator_count, 1);
    CHECK_STR(b->models[1]->operators[0].op, "Gemm");
    CHECK_STR(b->models[1]->inputs[0].name, "tokens");
    CHECK_STR(b->models[1]->inputs[0].symbols[0], symbols[0]);
    CHECK_INT(b->models[1]->output_count, 0);
    CHECK_STR(b->models[1]->cell.kind, "");
    CHECK_INT(b->trials[0].input_count, 1); /* the workload's, of its own model */
    CHECK_STR(b->trials[0].inputs[0].fill, "uniform, seed 1");
    assay_profile_close(b);
    assay__store_abandon(store);
    assay_profile_close(a);
}

/* Values that nobody writes are unknown; what depends on them goes with them. */
static void test_hostile(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_profile *a = make_facts();
    struct assay__store *store = NULL;
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, a);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    edit(path, "UPDATE trials SET role='king', device_class=7, threads=-3, streams=1e9, model=99,"
               " layers_asked='all', watched='x', warmup_asked=-5, generated_tokens=0;"
               "UPDATE axes SET axis='colour' WHERE position=0;"
               "UPDATE plans SET slo_s=-1, goal='fame', drift_limit='none', memory_bytes=0;"
               "UPDATE requirements SET minimum_compute=-1, batch=-2;"
               "UPDATE notes SET subject='noise'; UPDATE notes SET text=NULL WHERE kind='unknown';"
               "UPDATE profiles SET kind='party'");
    struct assay_profile *b = reopen(path);
    const struct assay__trial *t = &b->trials[0];
    CHECK_INT(b->kind, ASSAY__PROFILE_UNKNOWN);
    CHECK_INT(t->role, ASSAY__ROLE_NONE);
    CHECK_INT(t->target.device_class, ASSAY__CLASS_UNKNOWN);
    CHECK_INT(t->target.threads, 0);
    CHECK_INT(t->target.streams, 0);
    CHECK(t->model == b->models[0]);
    CHECK_INT(t->protocol.layers, ASSAY_LAYERS_OFF);
    CHECK_INT(t->protocol.watched, 0);
    CHECK_INT(t->protocol.warmup, -1);
    CHECK_INT(t->generation.tokens, 0);
    CHECK_INT(t->axis_count, 1);
    CHECK_STR(assay__trial_axis(t, ASSAY__AXIS_BATCH), "8");
    CHECK(b->plan.asked && !b->plan.slo_metric && isinf(b->plan.drift_limit));
    CHECK_INT(b->plan.goal, ASSAY__PLAN_THROUGHPUT);
    CHECK(isnan(b->plan.memory_bytes) && isnan(t->required->minimum[0]));
    CHECK_INT(t->required->batch, 0);
    CHECK_INT(b->environment.disturbance_count, 2);
    CHECK_INT(b->environment.disturbance_kinds[1], ASSAY__DISTURBANCE_OTHER);
    CHECK_INT(b->environment.unknown_count, 0);
    assay_profile_close(a);
    assay_profile_close(b);
}

/* The same document as 0.1 would have kept it: what its texts say counts, and nothing else. */
static void test_schema_1(void)
{
    make_folder();
    const char *path = in_folder("p.assay");
    struct assay_profile *a = make_facts();
    struct assay__store *store = NULL;
    a->trials[0].model = a->models[0];
    CHECK_INT(assay__store_create(path, &store, NULL), 0);
    put_document(store, a);
    CHECK_INT(assay__store_finish(store, true, false, NULL), 0);
    make_schema_1(path);
    struct assay_profile *b = reopen(path);
    const struct assay__trial *t = &b->trials[0];
    CHECK_INT(b->schema, 1);
    CHECK_INT(b->kind, ASSAY__PROFILE_TUNE);
    CHECK_INT(t->note_count, 1); /* nothing is damaged */
    CHECK_STR(t->label, "batch=64");
    CHECK_INT(t->role, ASSAY__ROLE_FINALIST);
    CHECK_INT(t->target.threads, 1);
    CHECK_INT(t->axis_count, 1);
    CHECK_STR(assay__trial_axis(t, ASSAY__AXIS_BATCH), "64");
    CHECK_INT(b->plan.goal, ASSAY__PLAN_LATENCY);
    CHECK_INT(t->generation.id_count, 3);
    CHECK_STR(assay__trial_option(t, "token_ids"), ""); /* is no option of the target */
    CHECK_STR(t->model->name, "third");
    CHECK(t->model == b->models[1]);
    CHECK_INT(t->placement.node_count, 0);
    CHECK_INT(b->models[0]->operator_count, 2);
    CHECK_INT(b->models[0]->input_count, 2);
    CHECK_INT(b->models[0]->cell.group_count, 2);
    CHECK_INT(t->input_count, 1);
    assay_profile_close(a);
    assay_profile_close(b);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"round_trip", test_round_trip},
        {"models", test_models},
        {"hostile", test_hostile},
        {"schema_1", test_schema_1},
    };
    return harness_main(argc, argv, tests, COUNT(tests));
}
