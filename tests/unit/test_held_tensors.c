/* test_held_tensors.c - how long tensors are held between layers: exact lives on a small graph, the
 * sum against counting one by one on a random one, places that are none. */
#include "harness.h"
#include "judge/held_tensors.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct assay__arena *arena;

static struct assay__held_tensors held_of(struct assay__layer *items, size_t count,
                                          struct assay__edge *edges, size_t edge_count)
{
    struct assay__layers layers = {
        .items = items, .count = count, .edges = edges, .edge_count = edge_count};
    struct assay__held_tensors held;
    if (!arena) arena = assay__arena_new();
    CHECK_INT(assay__held_tensors(&layers, arena, &held), 0);
    return held;
}

/* x -> conv (0) -> a -> reshape (1) -> a' -> add (2, with a) -> y -> relu (3) -> out */
static void test_lives(void)
{
    struct assay__layer items[4] = {{.bytes = 300}, {.bytes = 0}, {.bytes = 500}, {.bytes = 200}};
    struct assay__edge edges[] = {{-1, 0, "x", 100}, {0, 1, "a", 200},    {1, 2, "view", 200},
                                  {2, 3, "y", 50},   {3, -1, "out", NAN}, {-1, 3, "mask", 8}};
    struct assay__held_tensors held = held_of(items, 4, edges, COUNT(edges));
    CHECK_INT(held.count, 5); /* the view is no tensor of its own */
    CHECK_STR(held.items[1].name, "a");
    CHECK_INT(held.items[1].first, 0);
    CHECK_INT(held.items[1].last, 2); /* to the last reader of its view */
    CHECK_STR(held.items[4].name, "mask");
    CHECK_INT(held.items[4].first, 0); /* an input is there from the start */
    CHECK_INT(held.items[4].last, 3);
    CHECK_INT(held.unknown, 1);
    const double bytes[] = {308, 208, 258, 58};
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(held.bytes[i], bytes[i], 0);
    CHECK_INT(held.peak, 0);
}

/* A layer that moves nothing but makes another size (Shape) makes no view. */
static void test_no_view(void)
{
    struct assay__layer items[3] = {{.bytes = 10}, {.bytes = 0}, {.bytes = 10}};
    struct assay__edge edges[] = {{0, 1, "a", 4096}, {1, 2, "shape", 16}};
    struct assay__held_tensors held = held_of(items, 3, edges, 2);
    CHECK_INT(held.count, 2);
    CHECK_INT(held.items[0].last, 1);
    CHECK_NEAR(held.bytes[2], 16, 0);
}

static void test_sum(void)
{
    enum { LAYERS = 60, EDGES = 200 };
    static struct assay__layer items[LAYERS];
    static struct assay__edge edges[EDGES];
    static char names[EDGES][16];
    unsigned seed = 7;
    for (int i = 0; i < LAYERS; i++)
        items[i].bytes = 1;
    for (int i = 0; i < EDGES; i++) {
        seed = seed * 1103515245u + 12345u;
        int producer = (int)(seed >> 16) % LAYERS, further = (int)(seed >> 24) % 9;
        snprintf(names[i], sizeof names[i], "t%d", i);
        edges[i] = (struct assay__edge){producer,
                                        producer + further < LAYERS ? producer + further : -1,
                                        names[i], (double)((seed >> 8) % 1000)};
    }
    struct assay__held_tensors held = held_of(items, LAYERS, edges, EDGES);
    CHECK_INT(held.count, EDGES);
    for (size_t layer = 0; layer < LAYERS; layer++) {
        double sum = 0;
        for (size_t i = 0; i < held.count; i++)
            if (held.items[i].first <= layer && layer <= held.items[i].last)
                sum += held.items[i].bytes;
        CHECK_NEAR(held.bytes[layer], sum, 0);
        CHECK(held.bytes[layer] <= held.bytes[held.peak]);
    }
}

/* A file may say anything. */
static void test_hostile(void)
{
    struct assay__layer items[2] = {{.bytes = 0}, {.bytes = 0}};
    struct assay__edge edges[] = {
        {99, 1, "a", 1}, {0, 77, NULL, 1}, {1, 0, "back", 1}, {0, 0, "self", 1}, {1, 1, "self", 1}};
    struct assay__held_tensors held = held_of(items, 2, edges, COUNT(edges));
    for (size_t i = 0; i < held.count; i++)
        CHECK(held.items[i].first <= held.items[i].last && held.items[i].last < 2);
    held = held_of(items, 0, edges, COUNT(edges));
    CHECK_INT(held.count, 0);
    held = held_of(items, 2, NULL, 0);
    CHECK_INT(held.count, 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {{"lives", test_lives},
                                                {"no_view", test_no_view},
                                                {"sum", test_sum},
                                                {"hostile", test_hostile}};
    return harness_main(argc, argv, tests, COUNT(tests));
}
