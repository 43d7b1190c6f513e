/* test_space.c - the configurations of a model: reading lists, counting, choices and points as
 * inverses, what a point means, refusals. */
#include "harness.h"
#include "run/run_options.h"

#include "experiment/config_space.h"
#include "base/file.h"

#include <string.h>

static struct assay__config_space space_of(struct assay__arena *arena)
{
    struct assay__config_space space;
    memset(&space, 0, sizeof space);
    space.arena = arena;
    return space;
}

static void lists_are_read(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__config_space space = space_of(arena);
    struct assay_error error = {0};
    CHECK(assay__config_read(&space, ASSAY__AXIS_BATCH, "1,2,4,2", &error) == 0);
    CHECK(space.axes[ASSAY__AXIS_BATCH].count == 3); /* twins once */
    CHECK_STR(space.axes[ASSAY__AXIS_BATCH].values[2], "4");
    static const struct {
        enum assay__axis axis;
        const char *list, *says;
    } bad[] = {
        {ASSAY__AXIS_BATCH, "1,x", "'x' is not allowed; give whole numbers from 1 "},
        {ASSAY__AXIS_OPT, "none,wrong", "'wrong' is not allowed; give none, basic, extended, all"},
        {ASSAY__AXIS_PRECISION, "fp16",
         "'fp16' is not allowed; give float32, float16, int8-weights, int8-dynamic"},
        {ASSAY__AXIS_BATCH, "0", "'0' is not allowed"},
        {ASSAY__AXIS_BATCH, "1,", "'' is not allowed"},
        {ASSAY__AXIS_BATCH, ",", "'' is not allowed"},
        {ASSAY__AXIS_BATCH, "", "the list is empty"},
        {ASSAY__AXIS_BATCH, "99999999999", "is not allowed"},
        {ASSAY__AXIS_THREADS, "-1", "is not allowed"},
        {ASSAY__AXIS_OPT, "none,most", "'most'"},
        {ASSAY__AXIS_PRECISION, "float64", "'float64'"},
        {ASSAY__AXIS_SPINNING, "maybe", "'maybe'"},
        {ASSAY__AXIS_DEVICE, "a b", "'a b'"},
    };
    static const char *const options[ASSAY__AXIS_COUNT] = {
        [ASSAY__AXIS_DEVICE] = "devices",    [ASSAY__AXIS_PRECISION] = "precision",
        [ASSAY__AXIS_OPT] = "optimization",  [ASSAY__AXIS_THREADS] = "threads",
        [ASSAY__AXIS_SPINNING] = "spinning", [ASSAY__AXIS_SEQ] = "sequence",
        [ASSAY__AXIS_BATCH] = "batch",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(assay__config_read(&space, bad[i].axis, bad[i].list, &error) == ASSAY_EINVAL);
        CHECK_HAS(error.message, bad[i].says);
        CHECK_STR(error.option, options[bad[i].axis]);
    }
    CHECK(assay__config_read(&space, ASSAY__AXIS_DEVICE, "cpu,ovn/openvino:cpu", &error) == 0);
    assay__arena_free(arena);
}

static void counting_has_a_limit(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__config_space space = space_of(arena);
    struct assay_error error = {0};
    CHECK(assay__config_count(&space, 4, &error) == 0);
    CHECK(space.points == 1);
    CHECK(assay__config_read(&space, ASSAY__AXIS_BATCH, "1,2,4", &error) == 0);
    CHECK(assay__config_read(&space, ASSAY__AXIS_THREADS, "1,2", &error) == 0);
    CHECK(assay__config_count(&space, 6, &error) == 0);
    CHECK(space.points == 6);
    CHECK(assay__config_count(&space, 5, &error) == ASSAY_EINVAL);
    CHECK_HAS(error.message, "more than 5 points");
    char list[512] = "1";
    for (int i = 2; i <= ASSAY__CONFIG_VALUES + 1; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, ",%d", i);
    }
    CHECK(assay__config_read(&space, ASSAY__AXIS_SEQ, list, &error) == ASSAY_EINVAL);
    CHECK_HAS(error.message, "more than 64 values");
    assay__arena_free(arena);
}

/* Every point has its own choices, and the choices give the point back; the last axis moves
 * fastest. */
static void points_and_choices_are_inverses(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__config_space space = space_of(arena);
    struct assay_error error = {0};
    CHECK(assay__config_read(&space, ASSAY__AXIS_OPT, "none,all", &error) == 0);
    CHECK(assay__config_read(&space, ASSAY__AXIS_THREADS, "1,2,3", &error) == 0);
    CHECK(assay__config_read(&space, ASSAY__AXIS_BATCH, "1,2,4,8", &error) == 0);
    CHECK(assay__config_count(&space, 100, &error) == 0);
    CHECK(space.points == 24);
    for (size_t p = 0; p < space.points; p++) {
        size_t choices[ASSAY__AXIS_COUNT];
        for (size_t a = 0; a < ASSAY__AXIS_COUNT; a++)
            choices[a] = assay__config_choice(&space, p, (enum assay__axis)a);
        CHECK(assay__config_point(&space, choices) == p);
        CHECK(choices[ASSAY__AXIS_BATCH] == p % 4);
        CHECK(choices[ASSAY__AXIS_THREADS] == p / 4 % 3);
        CHECK(choices[ASSAY__AXIS_OPT] == p / 12);
        CHECK(choices[ASSAY__AXIS_DEVICE] == 0);
    }
    assay__arena_free(arena);
}

static void a_point_is_a_run(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__config_space space = space_of(arena);
    struct assay_error error = {0};
    struct assay__run_options options = {
        .workload.model = "mlp", .target.library = "lib.so", .workload.batch = 3};
    struct assay__arm_identity identity;
    CHECK(assay__config_read(&space, ASSAY__AXIS_DEVICE, "cpu,ovn/cpu", &error) == 0);
    CHECK(assay__config_read(&space, ASSAY__AXIS_OPT, "none", &error) == 0);
    CHECK(assay__config_read(&space, ASSAY__AXIS_SPINNING, "on,off", &error) == 0);
    CHECK(assay__config_read(&space, ASSAY__AXIS_SEQ, "16", &error) == 0);
    CHECK(assay__config_count(&space, 100, &error) == 0);
    CHECK(assay__config_apply(&space, 0, &options, &identity, &error) == 0);
    CHECK_STR(identity.label, "device=cpu opt=none spinning=on seq=16");
    CHECK_INT(identity.axis_count, 4);
    CHECK_INT(identity.axes[3].axis, ASSAY__AXIS_SEQ);
    CHECK_STR(identity.axes[3].value, "16");
    CHECK_STR(options.target.library, "lib.so");
    CHECK(options.target.spinning_off == 0);
    CHECK(options.workload.sequence == 16);
    CHECK(options.workload.batch == 3); /* what does not vary stays */
    CHECK(assay__config_apply(&space, 3, &options, &identity, &error) == 0);
    CHECK_STR(options.target.device, "ovn/cpu");
    CHECK(options.target.library == NULL); /* the name says the build */
    CHECK(options.target.spinning_off == 1);
    CHECK_STR(options.target.optimization, "none");
    CHECK_STR(options.workload.model, "mlp");
    assay__arena_free(arena);
}

static void copies_and_refusals(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__config_space space = space_of(arena);
    struct assay_error error = {0};
    struct assay__run_options options = {.workload.model = "mlp"};
    struct assay__arm_identity identity;
    CHECK(assay__config_read(&space, ASSAY__AXIS_PRECISION, "float32,float16", &error) == 0);
    CHECK(assay__config_count(&space, 10, &error) == 0);
    CHECK(assay__config_rewrite(&space, "mlp", &error) == 0);
    CHECK(assay__config_apply(&space, 1, &options, &identity, &error) == 0);
    CHECK(assay__file_exists(options.workload.model));
    char folder[sizeof space.folder];
    memcpy(folder, space.folder, sizeof folder);
    CHECK(folder[0] != '\0');
    assay__config_end(&space);
    CHECK(!assay__file_exists(folder));
    /* a model that cannot be read: the plain point stands (the run will say it), the copy is
     * refused */
    struct assay__config_space other = space_of(arena);
    CHECK(assay__config_read(&other, ASSAY__AXIS_PRECISION, "float32,int8-weights", &error) == 0);
    CHECK(assay__config_count(&other, 10, &error) == 0);
    CHECK(assay__config_rewrite(&other, "no-such-model", &error) == 0);
    CHECK(assay__config_apply(&other, 0, &options, &identity, &error) == 0);
    CHECK_STR(options.workload.model, "no-such-model");
    CHECK(assay__config_apply(&other, 1, &options, &identity, &error) == ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "no int8-weights copy");
    CHECK_STR(identity.label, "precision=int8-weights");
    assay__config_end(&other);
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"lists_are_read", lists_are_read},
        {"counting_has_a_limit", counting_has_a_limit},
        {"points_and_choices_are_inverses", points_and_choices_are_inverses},
        {"a_point_is_a_run", a_point_is_a_run},
        {"copies_and_refusals", copies_and_refusals},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
