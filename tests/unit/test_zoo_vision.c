/* test_zoo_vision.c - the image models of the zoo: parameters as the literature (torchvision)
 * counts them, and every value on the way finite and never denormal. */
#include "zoo_check.h"

static void parameters(const char *name, int64_t expected)
{
    struct assay__model *model = zoo_built(name);
    int64_t elements = 0, bytes = 0;
    CHECK(assay__model_parameters(model, &elements, &bytes));
    CHECK_INT(elements, expected);
    assay__model_free(model);
}

static void test_parameters(void)
{
    parameters("resnet18", 11689512);
    parameters("resnet50", 25557032);
    parameters("mobilenetv2", 3504872);
    parameters("mobilenetv3-small", 2542856);
    parameters("squeezenet", 1248424);
    parameters("squeezenet:version=1.1", 1235496);
    parameters("efficientnet-b0", 5288548);
    parameters("unet", 31037698);
}

static void test_resnet18(void)
{
    zoo_check_run("resnet18:batch=1,image=64");
}

static void test_resnet50(void)
{
    zoo_check_run("resnet50:batch=1,image=64");
}

static void test_mobilenetv2(void)
{
    zoo_check_run("mobilenetv2:batch=2,image=96");
}

static void test_mobilenetv3_small(void)
{
    zoo_check_run("mobilenetv3-small:batch=1,image=224");
}

static void test_squeezenet(void)
{
    zoo_check_run("squeezenet:batch=1,image=96");
    zoo_check_run("squeezenet:version=1.1,batch=1,image=96");
}

static void test_efficientnet(void)
{
    zoo_check_run("efficientnet-b0:batch=1,image=224");
}

static void test_unet(void)
{
    zoo_check_run("unet:batch=1,image=32");
}

static void test_bad_parameters(void)
{
    static const struct {
        const char *name, *says;
    } rows[] = {{"unet:image=100", "a multiple of 16"},
                {"squeezenet:version=2", "one of 1.0|1.1"},
                {"mobilenetv3", "nearest is 'mobilenetv2'"},
                {"resnet18:image=8", "from 32 to"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct assay__model *model = NULL;
        struct assay_error error = {0};
        CHECK(assay__zoo_build(rows[i].name, &model, &error) != 0);
        CHECK(model == NULL);
        if (!strstr(error.message, rows[i].says)) harness_fail(__FILE__, __LINE__, error.message);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"parameters", test_parameters},
        {"resnet18", test_resnet18},
        {"resnet50", test_resnet50},
        {"mobilenetv2", test_mobilenetv2},
        {"mobilenetv3_small", test_mobilenetv3_small},
        {"squeezenet", test_squeezenet},
        {"efficientnet", test_efficientnet},
        {"unet", test_unet},
        {"bad_parameters", test_bad_parameters},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
