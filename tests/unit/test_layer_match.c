/* test_layer_match.c - the same layer in two launches is found by what it was made from, not by its
 * name or place. */
#include "harness.h"

#include "run/trial/trial.h"

static const char *from_a[] = {"a"}, *from_b[] = {"b", "b2"}, *from_c[] = {"c"};

static struct assay__layer layer(const char *name, const char *op, const char **from, size_t count)
{
    return (struct assay__layer){.name = name, .op = op, .from = from, .from_count = count};
}

static struct assay__layers list(struct assay__layer *items, size_t count)
{
    return (struct assay__layers){.method = "markers", .items = items, .count = count};
}

/* Names that the engine made up differ; two layers that do not depend on each other changed
 * places. */
static void test_renamed_and_reordered(void)
{
    struct assay__layer one[] = {
        layer("a", "Conv", from_a, 1), layer("reorder_1", "Reorder", NULL, 0),
        layer("b", "Conv", from_b, 2), layer("reorder_2", "Reorder", NULL, 0),
        layer("c", "Add", from_c, 1)};
    struct assay__layer two[] = {
        layer("b", "Conv", from_b, 2), layer("reorder_7", "Reorder", NULL, 0),
        layer("a", "Conv", from_a, 1), layer("reorder_9", "Reorder", NULL, 0),
        layer("c", "Add", from_c, 1)};
    struct assay__layers lead = list(one, 5), other = list(two, 5);
    size_t where[5];
    CHECK_INT(assay__layers_match(&lead, &other, where), 0);
    const size_t expected[] = {2, 3, 0, 1, 4};
    for (size_t i = 0; i < 5; i++)
        CHECK_INT(where[i], expected[i]);
}

/* A node that became several layers of one operator: paired in order of execution. */
static void test_equal_keys(void)
{
    struct assay__layer one[] = {layer("x", "Mul", from_a, 1), layer("y", "Mul", from_a, 1)};
    struct assay__layer two[] = {layer("p", "Mul", from_a, 1), layer("q", "Mul", from_a, 1)};
    struct assay__layers lead = list(one, 2), other = list(two, 2);
    size_t where[2];
    CHECK_INT(assay__layers_match(&lead, &other, where), 0);
    CHECK_INT(where[0], 0);
    CHECK_INT(where[1], 1);
}

static void test_other_layers(void)
{
    struct assay__layer one[] = {layer("x", "Mul", from_a, 1), layer("y", "Mul", from_a, 1)};
    struct assay__layer two[] = {layer("x", "Mul", from_a, 1), layer("y", "Mul", from_b, 2)};
    struct assay__layer three[] = {layer("x", "Mul", from_a, 1), layer("y", "Add", from_a, 1)};
    struct assay__layers lead = list(one, 2), other = list(two, 2), third = list(three, 2);
    struct assay__layers shorter = list(one, 1), method = list(one, 2);
    size_t where[2];
    method.method = "engine";
    CHECK_INT(assay__layers_match(&lead, &other, where), ASSAY_ENOTFOUND);
    CHECK_INT(assay__layers_match(&lead, &third, where), ASSAY_ENOTFOUND);
    CHECK_INT(assay__layers_match(&lead, &shorter, where), ASSAY_ENOTFOUND);
    CHECK_INT(assay__layers_match(&lead, &method, where), ASSAY_ENOTFOUND);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"renamed_and_reordered", test_renamed_and_reordered},
        {"equal_keys", test_equal_keys},
        {"other_layers", test_other_layers},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
