/* test_edges.c - which layer makes what another reads: by the nodes of the model, by what an engine
 * says its layers read and make, with the sizes of the tensors; and what the engine ort says of
 * loops and of what their bodies read. */
#include "cost_fixture.h"

#include "engine/ort/ort_layers.h"
#include "run/trial/trial.h"

static struct assay_profile *profile;
static struct assay__trial *trial;
static struct assay__workload *workload;
static struct assay__model_costs costs;
static struct assay__layer items[16];

/* x → Conv c → Relu r → LeakyRelu l → Add y (reads l and r) */
static struct assay__model *small(void)
{
    struct assay__model *model = fixture_x("1,3,8,8");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,3,3,3");
    cost_node(model, "", "Conv x w -> c", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1");
    cost_node(model, "", "Relu c -> r", "");
    cost_node(model, "", "LeakyRelu r -> l", "alpha=~0.25");
    cost_node(model, "", "Add l r -> y", "");
    fixture_output(model, "y");
    return model;
}

static void begin(struct assay__model *model)
{
    struct assay_error error = {0};
    const struct assay__workload_options wish = {0};
    profile = assay__profile_new();
    trial = assay__profile_trial(profile);
    trial->layers = (struct assay__layers){.items = items, .method = ""};
    CHECK_INT(assay__workload_plan(model, &wish, &workload, &error), 0);
    CHECK_INT(assay__describe_model(profile, profile->models[0], model, workload, "m", "m.onnx",
                                    &costs, &error),
              0);
}

static void leave(struct assay__model *model)
{
    assay__costs_free(&costs);
    assay__workload_free(workload);
    assay_profile_close(profile);
    assay__model_free(model);
}

/* A layer of these nodes (called by their outputs); what it reads and makes, "" nothing is said. */
static void add(const char **from, size_t count, const char **reads, size_t read_count,
                const char **makes, size_t make_count)
{
    items[trial->layers.count++] = (struct assay__layer){.from = from,
                                                         .from_count = count,
                                                         .reads = reads,
                                                         .read_count = read_count,
                                                         .makes = makes,
                                                         .make_count = make_count};
}
#define LIST(...) \
    (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)
#define NONE NULL, 0

static void find(void)
{
    const struct assay__trial_input input = {.profile = profile, .trial = trial, .costs = &costs};
    CHECK_INT(assay__trial_edges(&input), 0);
}

static void check(size_t at, int producer, int consumer, const char *tensor, double bytes)
{
    const struct assay__edge *edge = &trial->layers.edges[at];
    CHECK(at < trial->layers.edge_count);
    CHECK_INT(edge->producer, producer);
    CHECK_INT(edge->consumer, consumer);
    CHECK_STR(edge->tensor, tensor);
    if (isnan(bytes))
        CHECK(isnan(edge->bytes));
    else
        CHECK_NEAR(edge->bytes, bytes, 0);
}

/* An engine that says nothing: the nodes of a layer read and make what the model says. */
static void test_by_nodes(void)
{
    struct assay__model *model = small();
    begin(model);
    add(LIST("c"), NONE, NONE);
    add(LIST("r"), NONE, NONE);
    add(LIST("l"), NONE, NONE);
    add(LIST("y"), NONE, NONE);
    find();
    CHECK_INT(trial->layers.edge_count, 6); /* no weights */
    check(0, -1, 0, "x", 3 * 8 * 8 * 4);
    check(1, 0, 1, "c", 4 * 4 * 4 * 4);
    check(2, 1, 2, "r", 256);
    check(3, 2, 3, "l", 256);
    check(4, 1, 3, "r", 256);
    check(5, 3, -1, "y", 256);
    leave(model);
}

/* What stays inside of a fused layer is no edge. */
static void test_fused(void)
{
    struct assay__model *model = small();
    begin(model);
    add(LIST("c", "r"), NONE, NONE);
    add(LIST("l", "y"), NONE, NONE);
    find();
    CHECK_INT(trial->layers.edge_count, 3);
    check(0, -1, 0, "x", 768);
    check(1, 0, 1, "r", 256); /* once, though two of its nodes read it */
    check(2, 1, -1, "y", 256);
    leave(model);
}

/* Values of the engine's own: what the model calls the value that leaves a layer's nodes has their
 * size; a layer that the engine put between has no origin, and what it makes is known by name only
 * where the model has it. */
static void test_by_engine(void)
{
    struct assay__model *model = small();
    begin(model);
    add(NONE, LIST("x"), LIST("x_blocked"));
    add(LIST("c", "r"), LIST("x_blocked", "w"), LIST("r_blocked"));
    add(LIST("l"), LIST("r_blocked"), LIST("l_blocked"));
    add(LIST("y"), LIST("l_blocked", "r_blocked", "r_blocked", ""), LIST("y_blocked"));
    add(NONE, LIST("y_blocked"), LIST("y"));
    find();
    CHECK_INT(trial->layers.edge_count, 7);
    check(0, -1, 0, "x", 768);
    check(1, 0, 1, "x_blocked", NAN);
    check(2, 1, 2, "r", 256);
    check(3, 2, 3, "l", 256);
    check(4, 1, 3, "r", 256);
    check(5, 3, 4, "y", 256);
    check(6, 4, -1, "y", 256);
    leave(model);
}

/* Nothing to go by, and origins that the model does not have. */
static void test_unknown(void)
{
    struct assay__model *model = small();
    begin(model);
    add(NONE, NONE, NONE);
    add(LIST("nobody"), NONE, NONE);
    find();
    CHECK_INT(trial->layers.edge_count, 0);
    leave(model);
}

/* --- what the engine ort says ------------------------------------------------------------------
 */

static bool has(const char **list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

/* Of a graph whose loop multiplies by what is outside and hands its state from trip to trip. */
static void test_wires(void)
{
    for (int bodies = 0; bodies < 2; bodies++) {
        struct assay_error error = {0};
        struct assay__model *model = NULL;
        struct assay__arena *arena = assay__arena_new();
        struct assay__flat flat;
        struct assay__layer layers[32] = {0};
        size_t loop = SIZE_MAX;
        CHECK_INT(assay__model_read(ASSAY_TEST_ROOT "/tests/fixtures/models/layers/loop.onnx",
                                    &model, &error),
                  0);
        CHECK_INT(assay__flat_make(&model->graph, bodies, arena, &flat), 0);
        CHECK(flat.graph.node_count < 32);
        CHECK_INT(assay__layers_wires(&flat, bodies, arena, layers), 0);
        for (size_t i = 0; i < flat.graph.node_count; i++) {
            const struct assay__node *node = &flat.graph.nodes[i];
            CHECK_INT(layers[i].make_count, node->output_count);
            if (strcmp(node->op, "Loop") == 0) loop = i;
            for (size_t k = 0; k < layers[i].read_count; k++) /* weights are left out */
                CHECK(assay__graph_initializer(&model->graph, layers[i].reads[k]) == NULL);
        }
        CHECK(loop != SIZE_MAX);
        const struct assay__node *node = &flat.graph.nodes[loop];
        const struct assay__graph *body = assay__node_body(node, 0);
        CHECK(body && body->output_count > 1);
        if (!bodies) { /* the loop is one layer: it reads what its body reads */
            for (size_t i = 0; i < body->node_count; i++)
                for (size_t k = 0; k < body->nodes[i].input_count; k++)
                    if (!assay__graph_initializer(&model->graph, body->nodes[i].inputs[k]) &&
                        !assay__graph_initializer(body, body->nodes[i].inputs[k]))
                        CHECK(has(layers[loop].reads, layers[loop].read_count,
                                  body->nodes[i].inputs[k]));
        } else { /* its body's nodes are layers: they read what it was given, it what they give back
                  */
            for (size_t i = 0; i < body->output_count; i++)
                if (!has((const char **)node->inputs, node->input_count, body->outputs[i].name))
                    CHECK(has(layers[loop].reads, layers[loop].read_count, body->outputs[i].name) ||
                          assay__graph_initializer(body, body->outputs[i].name) ||
                          i == 0); /* the condition may come from outside */
            for (size_t i = 0; i < loop; i++)
                for (size_t k = 0; k < layers[i].read_count; k++)
                    for (size_t b = 0; b < body->input_count; b++)
                        CHECK(strcmp(layers[i].reads[k], body->inputs[b].name) != 0);
        }
        assay__arena_free(arena);
        assay__model_free(model);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"by nodes", test_by_nodes}, {"fused", test_fused}, {"by engine", test_by_engine},
        {"unknown", test_unknown},   {"wires", test_wires},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
