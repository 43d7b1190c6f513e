/* test_names.c - interned names, maps over them, and a model that is interned: the same answers as
 * without. */
#include "harness.h"

#include "base/map.h"
#include "base/names.h"
#include "model/graph.h"
#include "model/shapes/shapes.h"

static void test_names(void)
{
    struct assay__names *names = assay__names_new(3, 12);
    CHECK(names != NULL);
    const char *a = assay__names_add(names, "conv"), *b = assay__names_add(names, "relu");
    CHECK(strcmp(a, "conv") == 0 && strcmp(b, "relu") == 0 && a != b);
    char again[] = "conv"; /* the same text elsewhere */
    CHECK(assay__names_add(names, again) == a);
    CHECK_INT(assay__names_count(names), 2);
    CHECK_INT(assay__names_own(names, a), 0);
    CHECK_INT(assay__names_own(names, b), 1);
    CHECK(assay__names_own(names, again) == SIZE_MAX);
    CHECK(assay__names_own(names, a + 1) == SIZE_MAX); /* into the middle */
    CHECK_INT(assay__names_find(names, again), 0);
    CHECK(assay__names_find(names, "onv") == SIZE_MAX);
    /* What has no room stays what it was. */
    const char *longer = "much longer than the room that is left";
    CHECK(assay__names_add(names, longer) == longer);
    CHECK_INT(assay__names_count(names), 2);
    assay__names_free(names);
    assay__names_free(NULL);
}

/* A map over names must answer as a plain one, whatever kind of pointer the key is. */
static void test_map_over(void)
{
    enum { KEYS = 500 };
    static char text[KEYS][16];
    const char *key[KEYS];
    struct assay__names *names = assay__names_new(KEYS, KEYS * 16);
    CHECK(names != NULL);
    for (size_t i = 0; i < KEYS; i++) {
        snprintf(text[i], sizeof text[i], "name%zu", i * 37);
        key[i] = i % 3 ? assay__names_add(names, text[i])
                       : text[i]; /* every third is not among them */
    }
    struct assay__map *map = assay__map_over(names);
    const char *late = assay__names_add(names, "later"); /* numbered after the map was made */
    CHECK(map != NULL && late != NULL);
    CHECK_INT(assay__map_get(map, key[1]), ASSAY__MAP_NONE);
    CHECK(!assay__map_remove(map, key[1]));
    for (size_t i = 0; i < KEYS; i++)
        CHECK_INT(assay__map_set(map, key[i], i), 0);
    CHECK_INT(assay__map_set(map, late, 7), 0);
    CHECK_INT(assay__map_set(map, text[1], 1000), 0); /* the same name by its text */
    CHECK_INT(assay__map_count(map), KEYS + 1);
    CHECK_INT(assay__map_get(map, "later"), 7);
    CHECK_INT(assay__map_get(map, key[1]), 1000);
    CHECK_INT(assay__map_get(map, key[1] + 1), ASSAY__MAP_NONE);
    for (size_t i = 2; i < KEYS; i++) {
        CHECK_INT(assay__map_get(map, key[i]), i);
        CHECK_INT(assay__map_get(map, text[i]), i);
    }
    for (size_t i = 0; i < KEYS; i += 2)
        CHECK(assay__map_remove(map, i % 4 ? key[i] : text[i]));
    CHECK_INT(assay__map_count(map), KEYS / 2 + 1);
    for (size_t i = 0; i < KEYS; i += 2)
        CHECK_INT(assay__map_get(map, key[i]), ASSAY__MAP_NONE);
    assay__map_free(map);
    map = assay__map_over(NULL); /* a plain one */
    CHECK_INT(assay__map_set(map, "x", 3), 0);
    CHECK_INT(assay__map_get(map, "x"), 3);
    assay__map_free(map);
    assay__names_free(names);
}

static struct assay__node *add(struct assay__model *model, const char *op, const char *in,
                               const char *out)
{
    return assay__graph_add_node(model, &model->graph, op, out, (const char *const[]){in}, 1,
                                 (const char *const[]){out}, 1);
}

/* Fingerprint, order and shapes are the same before and after, and for nodes that come later. */
static void test_intern(void)
{
    struct assay__model *model = assay__model_new();
    const struct assay__dim dims[] = {{2, ""}, {3, ""}};
    char before[17], after[17];
    size_t order[3];
    CHECK(model != NULL);
    struct assay__graph *graph = &model->graph;
    CHECK_INT(assay__graph_add_value(model, &graph->inputs, &graph->input_count, "x",
                                     ASSAY__FLOAT32, 2, dims),
              0);
    CHECK(add(model, "Relu", "middle", "y")); /* in front of what it needs */
    CHECK(add(model, "Neg", "x", "middle"));
    CHECK_INT(assay__model_fingerprint(model, before), 0);
    CHECK_INT(assay__model_intern(model), 0);
    CHECK_INT(assay__model_intern(model), 0); /* once is enough */
    CHECK(graph->nodes[0].inputs[0] == graph->nodes[1].outputs[0]);
    CHECK_INT(assay__model_fingerprint(model, after), 0);
    CHECK_STR(after, before);
    CHECK(add(model, "Abs", "y", "z"));
    CHECK_INT(assay__graph_order(graph, order, NULL), 0);
    CHECK_INT(order[0], 1);
    CHECK_INT(order[1], 0);
    CHECK_INT(order[2], 2);
    CHECK_INT(assay__model_check(model, NULL), 0);
    struct assay__shapes *shapes = NULL;
    CHECK_INT(assay__shapes_infer(model, NULL, 0, &shapes, NULL), 0);
    const struct assay__shape_entry *entry = assay__shapes_get(shapes, "z");
    CHECK(entry && entry->rank == 2 && entry->dims[0] == 2 && entry->dims[1] == 3);
    assay__shapes_free(shapes);
    graph->nodes[1].inputs[0] = "z"; /* a cycle is found all the same */
    CHECK(assay__model_check(model, NULL) != 0);
    assay__model_free(model);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"names", test_names}, {"map_over", test_map_over}, {"intern", test_intern}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
