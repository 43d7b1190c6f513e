/* test_workload_try.c - guessed sizes that an engine refuses give way to others, or the command is
 * told what to give. On ONNX Runtime: the refusal is its own. */
#include "inputs_fixture.h"

#include "base/file.h"
#include "run/workload_try.h"

/* Takes one element of an image: what lies beyond its end is found out when it runs. */
static struct assay__model *element_of_image(int64_t element)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "1,3,height,width");
    fixture_ints(model, "at", 1, &element);
    fixture_node(model, "Flatten x -> flat");
    struct assay__node *gather = fixture_node(model, "Gather flat,at -> y");
    fixture_output(model, "y");
    CHECK_INT(assay__node_set_int(model, gather, "axis", 1), 0);
    return model;
}

static int try_on_engine(struct assay__model *model, struct assay__workload **workload,
                         struct assay_error *error)
{
    static const struct assay__drift_options engine;
    static const struct assay__workload_options none;
    char folder[1024], path[1100];
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    CHECK_INT(assay__model_write(model, path, NULL), 0);
    int code = assay__workload_try(model, path, &none, &engine, workload, error);
    assay__folder_remove(folder);
    return code;
}

static void test_repaired(void)
{
    struct assay__model *model = element_of_image(200000); /* beyond 3 × 224 × 224 */
    struct assay__workload *workload = NULL;
    struct assay_error error = {0};
    CHECK_INT(try_on_engine(model, &workload, &error), 0);
    expect_dims(workload, 0, "1x3x640x640");
    CHECK(workload->attempt > 0);
    assay__workload_free(workload);
    assay__model_free(model);
}

static void test_refused(void)
{
    struct assay__model *model = element_of_image(900000000);
    struct assay__workload *workload = NULL;
    struct assay_error error = {0};
    CHECK_INT(try_on_engine(model, &workload, &error), ASSAY_EINVAL);
    CHECK(!workload);
    CHECK_STR(error.option, "shapes");
    CHECK_HAS(error.message, "x=1x3x"); /* what to type */
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"repaired", test_repaired},
        {"refused", test_refused},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
