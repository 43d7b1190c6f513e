/* test_layer_changes.c - why the trials of a comparison differ, on hand-made layers: which
 * operators and layers changed, by how much, and what cannot be said. */
#include "facts_fixture.h"

#include "judge/layer_changes.h"

#include <assay/assay.h>

static struct assay_profile *profile;
static struct assay__arena *arena;
static struct assay__layer_changes changes;

#define LAUNCHES 5

static struct assay__trial *add_trial(const char *label, const char *role)
{
    struct assay__trial *trial = assay__profile_trial(profile);
    trial->target.device = label;
    fact(profile, trial, "label", label);
    fact(profile, trial, "role", role);
    trial->state = ASSAY__TRIAL_OK;
    trial->layers = assay__layers_unknown();
    assay_metrics_measured(trial->metrics, "latency.p50", 1e-3, "clock", "");
    for (int i = 0; i < LAUNCHES; i++) {
        struct assay__launch *launch = assay__trial_launch(profile, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = 1e6;
    }
    return trial;
}

/* A layer that came from the node `from`; by launch it takes that much, a thousandth apart. */
static void add_layer(struct assay__trial *trial, const char *from, const char *op, double us,
                      bool by_launch)
{
    struct assay__layers *layers = &trial->layers;
    layers->items = assay__arena_grow(arena, layers->items, layers->count, sizeof *layers->items);
    struct assay__layer *layer = &layers->items[layers->count];
    const char **origin = assay__arena_array(arena, 1, sizeof *origin);
    origin[0] = from;
    *layer = (struct assay__layer){.index = (int)layers->count++,
                                   .name = from,
                                   .op = op,
                                   .time_ns = us * 1e3,
                                   .flops = NAN,
                                   .bytes = NAN,
                                   .from = origin,
                                   .from_count = 1,
                                   .state = ASSAY_MEASURED};
    layers->reason = "";
    layers->launch_count = by_launch ? LAUNCHES : 0;
    if (!by_launch) return;
    double *times = assay__arena_array(arena, LAUNCHES, sizeof *times);
    layer->launch_times_ns = times;
    for (int i = 0; i < LAUNCHES; i++)
        times[i] = us * 1e3 * (1 + 0.001 * (i - LAUNCHES / 2));
}

static void begin(void)
{
    profile = assay__profile_new();
    arena = assay__arena_new();
    CHECK(profile && arena);
}

static void judge(void)
{
    struct assay__comparison comparison;
    CHECK_INT(assay__comparison(profile, arena, &comparison), 0);
    CHECK_INT(assay__layer_changes(profile, &comparison, arena, &changes), 0);
}

static void end(void)
{
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static const struct assay__operator_change *operator_of(const char *op)
{
    for (size_t i = 0; i < changes.operator_count; i++)
        if (strcmp(changes.operators[i].op, op) == 0) return &changes.operators[i];
    harness_fail(__FILE__, __LINE__, op);
    return NULL;
}

/* The reference is the second trial. Conv 300 -> 400, Div gone, Relu equal, HardSwish new. */
static void operators_and_layers(void)
{
    for (int by_launch = 0; by_launch < 2; by_launch++) {
        begin();
        add_trial("new", "");
        add_trial("old", "reference");
        struct assay__trial *fresh = &profile->trials[0], *old = &profile->trials[1];
        add_layer(old, "c1", "Conv", 100, by_launch);
        add_layer(old, "c2", "Conv", 200, by_launch);
        add_layer(old, "d", "Div", 50, by_launch);
        add_layer(old, "r", "Relu", 20, by_launch);
        add_layer(fresh, "c1", "Conv", 180, by_launch);
        add_layer(fresh, "c2", "Conv", 220, by_launch);
        add_layer(fresh, "h", "HardSwish", 30, by_launch);
        add_layer(fresh, "r", "Relu", 20, by_launch);
        judge();
        CHECK_STR(changes.reason, "");
        CHECK_INT(changes.diff.count, 2);
        CHECK_STR(changes.diff.sides[0].name, "old");
        CHECK_INT(changes.trials[1], 0);
        CHECK_INT(changes.operator_count, 4);
        CHECK_STR(changes.operators[0].op, "Conv");
        CHECK_STR(changes.operators[1].op, "Div");
        CHECK_STR(changes.operators[3].op, "Relu");
        const struct assay__operator_change *conv = operator_of("Conv"), *div = operator_of("Div"),
                                            *swish = operator_of("HardSwish");
        CHECK_INT(conv->layers[0], 2);
        CHECK_NEAR(conv->times_ns[0], 300e3, 1e-6);
        CHECK_NEAR(conv->deltas[1].difference, 100e3, 1e-6);
        CHECK_NEAR(conv->deltas[1].ratio, 4.0 / 3, 1e-9);
        CHECK_INT(conv->by_launch, by_launch);
        CHECK_INT(conv->deltas[1].verdict, by_launch ? ASSAY__DIFF_HIGHER : ASSAY__DIFF_UNJUDGED);
        CHECK_INT(div->layers[1], 0);
        CHECK(isnan(div->times_ns[1]) && isnan(div->deltas[1].ratio));
        CHECK_NEAR(div->deltas[1].difference, -50e3, 1e-6);
        CHECK_NEAR(swish->deltas[1].difference, 30e3, 1e-6);
        CHECK_NEAR(operator_of("Relu")->deltas[1].difference, 0, 1e-6);
        /* the layer that changed most: c1 */
        const struct assay__diff_layer *row = NULL;
        for (size_t i = 0; i < changes.diff.layer_count && !row; i++)
            if (changes.diff.layers[changes.diff.layer_order[i]].kind == ASSAY__DIFF_LAYER)
                row = &changes.diff.layers[changes.diff.layer_order[i]];
        CHECK(row);
        CHECK_STR(assay__diff_layer_title(&changes.diff, row), "c1");
        CHECK_NEAR(row->deltas[1].difference, 80e3, 1e-6);
        end();
    }
}

/* Without layers of the reference, or of any other, there is a reason and nothing else. */
static void without_layers(void)
{
    for (int of_reference = 0; of_reference < 2; of_reference++) {
        begin();
        add_trial("a", "reference");
        add_trial("b", "");
        add_layer(&profile->trials[!of_reference], "c", "Conv", 100, false);
        judge();
        CHECK(*changes.reason);
        CHECK_INT(changes.diff.count, 0);
        CHECK_INT(changes.operator_count, 0);
        end();
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"operators_and_layers", operators_and_layers},
                                                {"without_layers", without_layers}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
