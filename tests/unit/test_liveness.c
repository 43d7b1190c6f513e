/* test_liveness.c - memory over time: graphs worked out by hand, and real ones against a slow and
 * plain count of the same rules. */
#include "flow_fixture.h"

#include "cost/liveness.h"

struct measured {
    struct assay__model *model;
    struct assay__shapes *shapes;
    struct assay__arena *arena;
    size_t *order;
    struct assay__liveness live;
};

static struct measured measure_with(struct assay__model *model, const struct assay__value *inputs,
                                    size_t input_count)
{
    struct measured m = {.model = model, .arena = assay__arena_new()};
    struct assay_error error = {.code = 0};
    CHECK_INT(assay__shapes_infer(model, inputs, input_count, &m.shapes, &error), 0);
    m.order = calloc(model->graph.node_count + 1, sizeof *m.order);
    CHECK_INT(assay__graph_order(&model->graph, m.order, &error), 0);
    if (assay__liveness(model, m.shapes, m.order, m.arena, &m.live, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return m;
}

static struct measured measure(struct assay__model *model)
{
    return measure_with(model, NULL, 0);
}

static void drop(struct measured *m)
{
    assay__shapes_free(m->shapes);
    assay__arena_free(m->arena);
    free(m->order);
    assay__model_free(m->model);
}

static const struct assay__live_tensor *tensor(const struct measured *m, const char *name)
{
    for (size_t i = 0; i < m->live.tensor_count; i++)
        if (strcmp(m->live.tensors[i].name, name) == 0) return &m->live.tensors[i];
    return NULL;
}

/* x (400 bytes) is an input and an output; v is a view of a; dead is read by nobody. */
static void test_by_hand(void)
{
    static const int64_t shape[] = {10, 10};
    static const double live[] = {800, 1200, 1200, 1600, 1600}, own[] = {800, 800, 416, 800, 1200};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "10,10");
    fixture_ints(model, "s", 2, shape);
    fixture_node(model, "Relu x -> a");
    fixture_node(model, "Sigmoid a -> b");
    fixture_node(model, "Reshape a,s -> v");
    fixture_node(model, "Tanh x -> dead");
    fixture_node(model, "Add b,v -> c");
    fixture_output(model, "c");
    fixture_output(model, "x");
    struct measured m = measure(model);
    for (size_t i = 0; i < 5; i++) {
        CHECK_NEAR(m.live.live_bytes[i], live[i], 0);
        CHECK_NEAR(m.live.node_bytes[i], own[i], 0);
    }
    CHECK_NEAR(m.live.peak_bytes, 1600, 0);
    CHECK_NEAR(m.live.known_bytes, 1600, 0);
    CHECK_INT(m.live.peak_position, 3);
    CHECK_INT(m.live.peak_node, 3);
    CHECK_INT(m.live.unknown_count, 0);
    CHECK_INT(m.live.tensor_count, 5); /* x, a, b, dead, c: v shares a's bytes */
    CHECK(!tensor(&m, "v"));
    CHECK_INT(tensor(&m, "a")->last, 4); /* through its view */
    CHECK_INT(tensor(&m, "x")->last, 4);
    CHECK(tensor(&m, "x")->producer == SIZE_MAX);
    CHECK_INT(tensor(&m, "dead")->first, 3);
    CHECK_INT(tensor(&m, "dead")->last, 3);
    CHECK_INT(m.live.peak_tensor_count, 4);
    drop(&m);
}

/* Weights and what is made of them are counted apart; sizes decide the order at the peak. */
static void test_weights_apart(void)
{
    static const int64_t perm[] = {1, 0};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "2,6");
    fixture_weights(model, "w", ASSAY__FLOAT32, "4,6");
    struct assay__node *node = fixture_node(model, "Transpose w -> t");
    assay__node_set_ints(model, node, "perm", perm, 2);
    fixture_node(model, "MatMul x,t -> y");
    fixture_output(model, "y");
    struct measured m = measure(model);
    CHECK_INT(m.live.tensor_count, 2);
    CHECK_NEAR(m.live.peak_bytes, 48 + 32, 0);
    CHECK_NEAR(m.live.node_bytes[1], 48 + 96 + 32, 0);
    CHECK_INT(m.live.peak_tensor_count, 2);
    CHECK_STR(m.live.tensors[m.live.peak_tensors[0]].name, "x");
    CHECK_STR(m.live.tensors[m.live.peak_tensors[1]].name, "y");
    drop(&m);
}

/* What is unpacked of stored weights is made at each run: alive from there to its last reader, also
 * where another node of constants lies between. */
static void test_unpacked(void)
{
    static const int64_t perm[] = {1, 0};
    static const double live[] = {48 + 96, 48 + 96 + 96, 48 + 96 + 32, 32 + 32};
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "2,6");
    fixture_weights(model, "q", ASSAY__INT8, "4,6");
    fixture_weights(model, "scale", ASSAY__FLOAT32, "");
    fixture_node(model, "DequantizeLinear q,scale -> w");
    struct assay__node *node = fixture_node(model, "Transpose w -> t");
    assay__node_set_ints(model, node, "perm", perm, 2);
    fixture_node(model, "MatMul x,t -> y");
    fixture_node(model, "Relu y -> z");
    fixture_output(model, "z");
    struct measured m = measure(model);
    CHECK_INT(m.live.tensor_count, 5); /* x, w, t, y, z */
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(m.live.live_bytes[i], live[i], 0);
    CHECK(tensor(&m, "w") && tensor(&m, "w")->first == 0 && tensor(&m, "w")->last == 1);
    CHECK_NEAR(m.live.peak_bytes, 240, 0);
    CHECK_NEAR(m.live.node_bytes[0], 24 + 4 + 96, 0);
    drop(&m);
}

/* An unknown size makes the peak unknown, and is counted; what is known bounds it from below. */
static void test_unknown(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "10");
    fixture_node(model, "NoSuchOperator x -> a");
    fixture_node(model, "Relu x -> b");
    fixture_node(model, "AnotherOne a,b -> c");
    fixture_output(model, "b");
    struct measured m = measure(model);
    CHECK(isnan(m.live.peak_bytes) && isnan(m.live.live_bytes[0]));
    CHECK_INT(m.live.unknown_count, 2);
    CHECK_NEAR(m.live.known_bytes, 80, 0);
    CHECK(isnan(m.live.node_bytes[0]));
    CHECK_NEAR(m.live.node_bytes[1], 80, 0);
    drop(&m);
}

static void test_empty(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, "10");
    fixture_output(model, "x");
    struct measured m = measure(model);
    CHECK_NEAR(m.live.peak_bytes, 40, 0);
    CHECK(m.live.peak_node == SIZE_MAX && m.live.peak_position == SIZE_MAX);
    drop(&m);
}

static void test_bodies(void)
{
    /* x 40, y 40; each branch makes 40 more */
    struct measured m = measure(flow_if("Relu", "Sigmoid", 1));
    CHECK_NEAR(m.live.peak_bytes, 40 + 40 + 40, 0);
    CHECK_NEAR(m.live.peak_body_bytes, 40, 0);
    drop(&m);
    /* c is an input of one byte; the branches' peaks are the same */
    m = measure(flow_if("Relu", "Sigmoid", -1));
    CHECK_NEAR(m.live.peak_bytes, 1 + 40 + 40 + 40, 0);
    drop(&m);
    /* v0 32, y 32; the body at its product: go 1 (go_out is a view), v 32, v_out 32; i is read by
       nobody and gone */
    m = measure(flow_loop(5));
    CHECK_NEAR(m.live.peak_bytes, 32 + 32 + 65, 0);
    CHECK_NEAR(m.live.peak_body_bytes, 65, 0);
    drop(&m);
    /* h0 32, x 224, y 32; the body: h, xt, h_out */
    m = measure(flow_scan());
    CHECK_NEAR(m.live.peak_bytes, 32 + 224 + 32 + 96, 0);
    drop(&m);
}

/* A body keeps what it reads of the outer graph alive. */
static void test_captured(void)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x0", ASSAY__FLOAT32, "10");
    fixture_input(model, "c", ASSAY__BOOL, "");
    fixture_node(model, "Relu x0 -> x");
    fixture_node(model, "Tanh x0 -> other");
    struct assay__node *node = fixture_node(model, "If c -> y");
    flow_attach(model, node, "then_branch", flow_branch(model, "Relu", "t"));
    flow_attach(model, node, "else_branch", flow_branch(model, "Sigmoid", "e"));
    fixture_output(model, "y");
    struct measured m = measure(model);
    CHECK_INT(tensor(&m, "x")->last, 2);
    CHECK_INT(tensor(&m, "x0")->last, 1);
    drop(&m);
}

/* --- against a slow count --------------------------------------------------------------------- */

static double size_of(const struct measured *m, const char *name)
{
    const struct assay__shape_entry *entry = assay__shapes_get(m->shapes, name);
    double bytes = 4;
    CHECK(entry && entry->rank >= 0);
    if (entry->dtype == ASSAY__INT64) bytes = 8;
    for (int i = 0; i < entry->rank; i++)
        bytes *= (double)entry->dims[i];
    return bytes;
}

static bool is_view(const struct assay__node *node)
{
    return strcmp(node->op, "Reshape") == 0 || strcmp(node->op, "Dropout") == 0 ||
           strcmp(node->op, "Flatten") == 0 || strcmp(node->op, "Identity") == 0;
}

/* The last position at which a value, or a view of it, is read. */
static size_t last_read(const struct measured *m, const char *name, size_t from)
{
    const struct assay__graph *graph = &m->model->graph;
    size_t last = from;
    for (size_t i = 0; i < graph->output_count; i++)
        if (strcmp(graph->outputs[i].name, name) == 0) last = graph->node_count - 1;
    for (size_t at = 0; at < graph->node_count; at++) {
        const struct assay__node *node = &graph->nodes[m->order[at]];
        for (size_t k = 0; k < node->input_count; k++) {
            if (strcmp(node->inputs[k], name) != 0) continue;
            size_t here = is_view(node) && k == 0 ? last_read(m, node->outputs[0], at) : at;
            if (here > last) last = here;
        }
    }
    return last;
}

static bool is_weight(const struct measured *m, const char *name, int depth)
{
    const struct assay__graph *graph = &m->model->graph;
    CHECK(depth < 100);
    if (assay__graph_initializer(graph, name)) return true;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        bool makes = false, constant = true;
        for (size_t k = 0; k < node->output_count; k++)
            makes |= strcmp(node->outputs[k], name) == 0;
        if (!makes) continue;
        for (size_t k = 0; k < node->input_count && constant; k++)
            constant = strcmp(node->op, "ConstantOfShape") == 0 || strcmp(node->op, "Constant") == 0
                           ? is_weight(m, node->inputs[k], depth + 1)
                           : false;
        return constant;
    }
    return false;
}

static void check_against_slow(struct measured *m)
{
    const struct assay__graph *graph = &m->model->graph;
    double *slow = calloc(graph->node_count, sizeof *slow), peak = 0;
    for (size_t i = 0; i < graph->input_count; i++) {
        const char *name = graph->inputs[i].name;
        if (assay__graph_initializer(graph, name)) continue;
        for (size_t at = 0, last = last_read(m, name, 0); at <= last; at++)
            slow[at] += size_of(m, name);
    }
    for (size_t at = 0; at < graph->node_count; at++) {
        const struct assay__node *node = &graph->nodes[m->order[at]];
        if (is_weight(m, node->outputs[0], 0)) continue;
        for (size_t k = is_view(node) ? 1 : 0; k < node->output_count; k++)
            for (size_t p = at, last = last_read(m, node->outputs[k], at); p <= last; p++)
                slow[p] += size_of(m, node->outputs[k]);
    }
    for (size_t at = 0; at < graph->node_count; at++) {
        CHECK_NEAR(m->live.live_bytes[at], slow[at], 0);
        if (slow[at] > peak) peak = slow[at];
    }
    CHECK_NEAR(m->live.peak_bytes, peak, 0);
    free(slow);
}

static void check_properties(const struct measured *m)
{
    double at_peak = 0;
    for (size_t i = 0; i < m->live.peak_tensor_count; i++) {
        const struct assay__live_tensor *t = &m->live.tensors[m->live.peak_tensors[i]];
        CHECK(t->first <= m->live.peak_position && t->last >= m->live.peak_position);
        CHECK(i == 0 || t->bytes <= m->live.tensors[m->live.peak_tensors[i - 1]].bytes);
        at_peak += t->bytes;
    }
    CHECK_NEAR(at_peak, m->live.peak_bytes, 0);
    for (size_t i = 1; i < m->live.tensor_count; i++)
        CHECK(m->live.tensors[i].first >= m->live.tensors[i - 1].first);
    CHECK_INT(m->live.peak_node, m->order[m->live.peak_position]);
}

static void test_light_models(void)
{
    char path[1024];
    for (size_t i = 0; i < LIGHT_COUNT; i++) {
        light_path(light_names[i], path, sizeof path);
        struct measured m = measure(fixture_read(path));
        CHECK_INT(m.live.unknown_count, 0);
        check_properties(&m);
        if (m.model->graph.node_count < 500) check_against_slow(&m);
        drop(&m);
    }
}

/* ResNet-50's first stage works on 256 × 56 × 56 floats (3,211,264 bytes), and adds two of them:
 * three are alive at once. The stem's 64 × 112 × 112 are as many bytes, but never three. */
static void test_resnet50(void)
{
    char path[1024];
    light_path("resnet50", path, sizeof path);
    struct measured m = measure(fixture_read(path));
    CHECK_NEAR(m.live.peak_bytes, 3 * 256 * 56 * 56 * 4, 0);
    drop(&m);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"by_hand", test_by_hand},   {"weights_apart", test_weights_apart},
        {"unpacked", test_unpacked}, {"unknown", test_unknown},
        {"empty", test_empty},       {"bodies", test_bodies},
        {"captured", test_captured}, {"light_models", test_light_models},
        {"resnet50", test_resnet50},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
