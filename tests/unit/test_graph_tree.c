/* test_graph_tree.c - the network of a trial in groups: which groups there are, that cycles are
 * taken apart, what is bundled, which lines are inside of a group, come in and leave; and its
 * drawing. */
#include "harness.h"

#include "base/buf.h"
#include "judge/study.h"
#include "report/figure/figure.h"
#include "report/figure/graph_groups.h"
#include "report/figure/graph_tree.h"
#include "report/json/json_parts.h"

enum { MOST = 12000 };
static struct assay__edge edges[MOST * 2];
static struct assay__layer items[MOST];
static const char *names[MOST];
static struct assay_profile *profile;
static struct assay__trial *trial;
static struct assay__study *study;
static struct assay__arena *arena;
static struct assay__graph_tree tree;

static void begin(void)
{
    assay__study_free(study);
    assay_profile_close(profile);
    assay__arena_free(arena);
    study = NULL;
    arena = assay__arena_new();
    profile = assay__profile_new();
    trial = assay__profile_trial(profile);
    trial->state = ASSAY__TRIAL_OK;
    trial->layers.items = items;
    trial->layers.edges = edges;
}

static int add(const char *name, const char *op)
{
    size_t at = trial->layers.count++;
    CHECK(at < MOST);
    items[at] = assay__layer_unknown();
    items[at].index = (int)at;
    items[at].name = name, items[at].op = op;
    names[at] = name;
    items[at].from = &names[at], items[at].from_count = 1;
    items[at].time_ns = 1000.0 * (double)(at % 7 + 1), items[at].state = ASSAY_MEASURED;
    items[at].share = 0.01;
    return (int)at;
}

static void join(int producer, int consumer, const char *tensor, double bytes)
{
    CHECK(trial->layers.edge_count < MOST * 2);
    edges[trial->layers.edge_count++] = (struct assay__edge){producer, consumer, tensor, bytes};
}

static void grow(void)
{
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK_INT(assay__graph_tree(study, trial, arena, &tree), 0);
}

static int group_named(const char *label)
{
    for (size_t i = 1; i < tree.group_count; i++)
        if (strcmp(tree.nodes[i].label, label) == 0) return (int)i;
    return -1;
}

static int node_of(int layer)
{
    return (int)tree.group_count + layer;
}

/* What must be true of any: every layer is somewhere once, sums are sums, parents come first. */
static void check_tree(void)
{
    double sum = 0;
    CHECK_INT(tree.nodes[0].layers, trial->layers.count);
    CHECK_INT(tree.count, tree.group_count + trial->layers.count);
    for (size_t i = 0; i < trial->layers.count; i++)
        sum += items[i].time_ns;
    CHECK_NEAR(tree.nodes[0].time_ns, sum, 1e-3);
    for (size_t i = 1; i < tree.count; i++) {
        const struct assay__graph_node *node = &tree.nodes[i];
        CHECK(node->parent >= 0 && node->parent < (int)tree.group_count);
        if (node->layer < 0) CHECK(node->parent < (int)i);
        size_t found = 0;
        const struct assay__graph_node *around = &tree.nodes[node->parent];
        for (int k = 0; k < around->count; k++)
            found += tree.kids[around->first + k] == (int)i;
        CHECK_INT(found, 1);
    }
    for (size_t i = 0; i < tree.group_count; i++) {
        const struct assay__graph_node *node = &tree.nodes[i];
        CHECK(node->inside && node->count > 0);
        CHECK_INT(node->inside->layout.box_count, (size_t)node->count + node->inside->port_count);
    }
}

/* --- groups ----------------------------------------------------------------------------------- */

/* Three blocks of three layers and a residual each. */
static void blocks(void)
{
    static const char *const parts[] = {"conv1", "conv2", "conv3"};
    static char text[9][32];
    begin();
    int before = add("/stem/Conv", "Conv");
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 3; i++) {
            snprintf(text[3 * b + i], sizeof text[0], "/layer.%d/%s/Conv", b, parts[i]);
            int own = add(text[3 * b + i], "Conv");
            join(own - 1, own, "t", 4096);
            if (i == 2) join(before, own, "t", 4096), before = own;
        }
    join(before, add("/fc/Gemm", "Gemm"), "t", 1024);
    join(-1, 0, "image", 600);
    join(10, -1, "logits", 40);
}

static void test_blocks(void)
{
    blocks();
    grow();
    check_tree();
    int first = group_named("layer.0"), second = group_named("layer.1");
    CHECK(first > 0 && second > 0);
    CHECK_INT(tree.group_count, 4);
    CHECK_INT(tree.nodes[first].layers, 3);
    CHECK_STR(tree.nodes[node_of(1)].label, "conv1");
    CHECK_STR(tree.nodes[node_of(0)].label, "stem");
    CHECK_STR(tree.nodes[node_of(0)].in, "image");
    CHECK_STR(tree.nodes[node_of(10)].out, "logits");
    CHECK_STR(tree.nodes[first].in, "");
    /* one line comes in (to conv1 and past it to conv3), one leaves */
    const struct assay__graph_inside *inside = tree.nodes[second].inside;
    CHECK(inside->enters && inside->leaves);
    CHECK_INT(inside->port_count, 2);
    CHECK_INT(inside->net_count, 4);
    /* five boxes below each other, a line from each to the next */
    CHECK_INT(tree.nodes[0].count, 5);
    CHECK_INT(tree.nodes[0].inside->layout.row_count, 5);
    CHECK_INT(tree.nodes[0].inside->net_count, 4);
    CHECK_NEAR(tree.nodes[0].inside->bytes[0], 4096, 0);
    CHECK_INT(tree.far + tree.back + tree.small, 0);
}

/* A part that runs in two pieces is one box … */
static void test_pieces_are_joined(void)
{
    begin();
    int a = add("/h.0/MatMul", "MatMul"), b = add("/h.0/Add", "Add"), m = add("/mask/Cast", "Cast"),
        n = add("/mask/Mul", "Mul"), c = add("/h.0/Softmax", "Softmax"), d = add("/h.1/Add", "Add"),
        e = add("/h.1/Mul", "Mul");
    join(a, b, "t", 1000), join(m, n, "t", 1000), join(b, c, "t", 1000), join(n, c, "t", 1000);
    join(c, d, "t", 1000), join(d, e, "t", 1000);
    grow();
    check_tree();
    CHECK_INT(tree.nodes[group_named("h.0")].layers, 3);
    CHECK_INT(tree.nodes[0].count, 2); /* h and mask */
    CHECK_INT(tree.back, 0);
}

/* … unless another part between them reads what it makes and makes what it reads. */
static void test_pieces_of_a_cycle_are_not(void)
{
    begin();
    int a = add("/h.0/MatMul", "MatMul"), b = add("/h.0/Add", "Add"), m = add("/mask/Cast", "Cast"),
        n = add("/mask/Mul", "Mul"), c = add("/h.0/Softmax", "Softmax"), o = add("/h.0/Div", "Div"),
        d = add("/h.1/Add", "Add"), e = add("/h.1/Mul", "Mul");
    join(a, b, "t", 1000), join(b, m, "t", 1000), join(m, n, "t", 1000), join(n, c, "t", 1000);
    join(c, o, "t", 1000), join(o, d, "t", 1000), join(d, e, "t", 1000);
    grow();
    check_tree();
    CHECK_INT(tree.nodes[tree.nodes[node_of(a)].parent].layers, 2);
    CHECK_INT(tree.nodes[tree.nodes[node_of(c)].parent].layers, 2);
    CHECK_INT(tree.back, 0);
    CHECK_INT(tree.nodes[0].inside->layout.row_count, 3); /* h, mask, h */
}

/* Edges that lead back, as no engine writes them. */
static void test_hostile_edges(void)
{
    blocks();
    join(10, 0, "back", 8), join(5, 5, "self", 8), join(7, 2, "back", 8);
    for (int i = 0; i < 200; i++)
        join(i % 11, (i * 7) % 11, "many", 8);
    grow();
    check_tree();
    CHECK(tree.back > 0);
}

/* Names that tell nothing, ten thousand of them: bundles, so that a reader sees a few boxes. */
static void test_many_without_names(void)
{
    static char text[10000][16];
    begin();
    for (int i = 0; i < 10000; i++) {
        snprintf(text[i], sizeof text[0], "node_%d", i);
        add(text[i], "Add");
        if (i) join(i - 1, i, text[i - 1], 64 + i % 100);
    }
    grow();
    check_tree();
    CHECK(tree.nodes[0].count <= 40);
    CHECK_STR(tree.nodes[1].label, "layers 0 to 249");
    CHECK_INT(tree.nodes[1].layers, 250);
    CHECK_INT(tree.nodes[1].block, -1);
    for (size_t i = 1; i < tree.group_count; i++)
        CHECK(!tree.nodes[i].open);
}

/* Shapes and single numbers beside tensors are not drawn; alone they are. */
static void test_small_lines(void)
{
    begin();
    for (int i = 0; i < 4; i++)
        add("/n", "Add");
    join(0, 1, "a", 4096), join(1, 2, "b", 4096), join(2, 3, "c", 4096), join(0, 3, "shape", 16);
    grow();
    CHECK_INT(tree.small, 1);
    CHECK_INT(tree.nodes[0].inside->net_count, 3);
    begin();
    for (int i = 0; i < 4; i++)
        add("/n", "Add");
    join(0, 1, "a", 4096), join(1, 2, "b", 4096), join(2, 3, "shape", 16);
    grow();
    CHECK_INT(tree.small, 0);
    CHECK_INT(tree.nodes[0].inside->net_count, 3);
}

/* --- what is made of it ------------------------------------------------------------------------
 */

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void test_drawing(void)
{
    struct assay__buf svg = {0}, json = {0};
    struct assay__figure *figures = NULL;
    size_t count, left_out;
    struct assay_error error = {0};
    blocks();
    items[2].name = names[2] = "<script>alert(1)</script>";
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK_INT(assay__figures_of(study, assay__figure_row_find("graph"), arena, &figures, &count,
                                &left_out, &error),
              0);
    CHECK_INT(count, 1);
    assay__figure_svg(&svg, figures, &(struct assay__svg_options){.id = "f"});
    CHECK(!svg.failed && !strstr(svg.data, "<script"));
    CHECK(count_of(svg.data, "data-l=") + count_of(svg.data, "data-b=") >= 5);
    CHECK_INT(count_of(svg.data, "tabindex"), 1);
    CHECK(assay__graph_json(&json, study));
    CHECK_HAS(json.data, "\"groups\":[{\"parent\":-1");
    assay__buf_free(&svg);
    assay__buf_free(&json);
}

static void test_no_edges(void)
{
    struct assay__buf json = {0};
    struct assay__figure *figures = NULL;
    size_t count, left_out;
    struct assay_error error = {0};
    blocks();
    trial->layers.edge_count = 0;
    CHECK_INT(assay__study_new(profile, &study), 0);
    CHECK_INT(assay__figures_of(study, assay__figure_row_find("graph"), arena, &figures, &count,
                                &left_out, &error),
              ASSAY_ENOTFOUND);
    CHECK_HAS(error.message, "which layer reads");
    CHECK(!assay__graph_json(&json, study));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"blocks", test_blocks},
        {"pieces are joined", test_pieces_are_joined},
        {"pieces of a cycle are not", test_pieces_of_a_cycle_are_not},
        {"hostile edges", test_hostile_edges},
        {"many without names", test_many_without_names},
        {"small lines", test_small_lines},
        {"drawing", test_drawing},
        {"no edges", test_no_edges},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
