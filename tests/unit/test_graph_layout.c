/* test_graph_layout.c - the layout of a directed graph: what must be true of any (no two boxes
 * overlap, lines lead down, nothing is lost), what a reader expects of some (chains are straight,
 * few crossings, columns), and what must not go wrong with hostile ones. */
#include "harness.h"

#include "base/stats.h"
#include "report/figure/graph_layout.h"

enum { BOXES = 12000, NETS = 110000, TARGETS = 220000 };
static struct assay__graph_size sizes[BOXES];
static struct assay__graph_net nets[NETS];
static unsigned char ends[BOXES];
static int targets[TARGETS];
static size_t target_count;
static struct assay__graph_boxes graph;
static struct assay__arena *arena;
static struct assay__graph_layout layout;
static struct assay__graph_geometry geometry;

/* --- making graphs ---------------------------------------------------------------------------- */

static void begin(size_t boxes)
{
    assay__arena_free(arena);
    arena = assay__arena_new();
    CHECK(arena && boxes <= BOXES);
    memset(ends, 0, sizeof ends);
    graph = (struct assay__graph_boxes){
        .sizes = sizes, .ends = ends, .box_count = boxes, .nets = nets};
    target_count = 0;
    for (size_t i = 0; i < boxes; i++)
        sizes[i] = (struct assay__graph_size){100, 20};
}

static void net(int source)
{
    CHECK(graph.net_count < NETS);
    nets[graph.net_count++] = (struct assay__graph_net){source, targets + target_count, 0};
}

static void to(int target)
{
    CHECK(target_count < TARGETS);
    targets[target_count++] = target;
    nets[graph.net_count - 1].target_count++;
}

static void edge(int source, int target)
{
    net(source);
    to(target);
}

/* --- what is true of any ---------------------------------------------------------------------- */

static double width_of(int place)
{
    return place < (int)graph.box_count ? sizes[place].width : ASSAY__GRAPH_BEND;
}

static void check_rows(void)
{
    int seen = 0;
    CHECK_INT(layout.row_first[0], 0);
    CHECK_INT(layout.row_first[layout.row_count], layout.count);
    for (int r = 0; r < layout.row_count; r++) {
        double right = -INFINITY;
        CHECK(layout.row_first[r] < layout.row_first[r + 1]); /* none is empty */
        for (int i = layout.row_first[r]; i < layout.row_first[r + 1]; i++) {
            int place = layout.order[i];
            seen++;
            CHECK_INT(layout.places[place].row, r);
            double left = geometry.x[place] - width_of(place) / 2;
            CHECK(left > right); /* none overlaps in its row … */
            right = left + width_of(place);
            if (place < (int)graph.box_count) CHECK(sizes[place].height <= geometry.row_height[r]);
        }
        if (r == 0) continue;
        int column = layout.columns[r];
        CHECK(column == layout.columns[r - 1] || column == layout.columns[r - 1] + 1);
        /* … and rows are below each other in a column, columns beside each other */
        if (column == layout.columns[r - 1])
            CHECK(geometry.row_y[r] >= geometry.row_y[r - 1] + geometry.row_height[r - 1]);
        else
            CHECK(geometry.column_x[column] >
                  geometry.column_x[column - 1] + geometry.column_width[column - 1]);
    }
    CHECK_INT(seen, layout.count);
}

/* Follows the segments of a net from its source; how many of its targets are reached. */
static void check_lines(void)
{
    for (size_t s = 0; s < layout.segment_count; s++) {
        const struct assay__graph_segment *g = &layout.segments[s];
        CHECK(g->from >= 0 && g->from < (int)layout.count && g->to >= 0 &&
              g->to < (int)layout.count);
        CHECK_INT(layout.places[g->to].row, layout.places[g->from].row + 1);
        const int own[] = {g->from, g->to};
        for (int i = 0; i < 2; i++)
            if (own[i] >= (int)graph.box_count) CHECK_INT(layout.places[own[i]].net, g->net);
        if (g->from < (int)graph.box_count) CHECK_INT(g->from, nets[g->net].source);
    }
}

static void lay_out(double view_width)
{
    struct assay__graph_size view = {view_width, view_width / 2};
    CHECK_INT(assay__graph_layout(&graph, view, arena, &layout), 0);
    CHECK_INT(assay__graph_arrange(&layout, sizes, arena, &geometry), 0);
    CHECK_INT(layout.box_count, graph.box_count);
    check_rows();
    check_lines();
}

static int row_of(int box)
{
    return layout.places[box].row;
}

/* --- what a reader expects -------------------------------------------------------------------- */

static void test_chain_is_a_straight_line(void)
{
    begin(20);
    for (int i = 0; i + 1 < 20; i++)
        edge(i, i + 1);
    lay_out(0);
    CHECK_INT(layout.row_count, 20);
    CHECK_INT(layout.count, 20);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(row_of(i), i);
        CHECK_NEAR(geometry.x[i], 50, 1e-9);
    }
}

/* x → a → b → add, and x → add: the way past them is one line at the side, the rest is straight. */
static void test_residual_passes_at_the_side(void)
{
    begin(9);
    for (int block = 0; block < 2; block++) {
        int x = 4 * block;
        net(x), to(x + 1), to(x + 4);
        edge(x + 1, x + 2);
        edge(x + 2, x + 3);
        edge(x + 3, x + 4);
    }
    lay_out(0);
    CHECK_INT(layout.row_count, 9);
    CHECK_INT(layout.count, 9 + 6); /* three bends each */
    CHECK_INT(assay__graph_crossings(&layout), 0);
    for (int i = 1; i < 9; i++)
        CHECK_NEAR(geometry.x[i], geometry.x[0], 0.01);
    for (size_t i = 9; i < layout.count; i++)
        CHECK(geometry.x[i] > geometry.x[0] + 50);
}

static void test_branches_stand_around_their_source(void)
{
    begin(5);
    net(0), to(1), to(2), to(3);
    for (int i = 1; i <= 3; i++)
        edge(i, 4);
    lay_out(0);
    CHECK_INT(layout.row_count, 3);
    CHECK_NEAR(geometry.x[2], geometry.x[0], 1e-9);
    CHECK_NEAR(geometry.x[4], geometry.x[0], 1e-9);
    CHECK_NEAR(geometry.x[3] - geometry.x[0], geometry.x[0] - geometry.x[1], 1e-9);
}

/* A tensor that many read far away is one line with branches, not a line for each. */
static void test_net_is_one_line(void)
{
    begin(11);
    for (int i = 1; i + 1 < 11; i++)
        edge(i, i + 1);
    net(0);
    for (int i = 1; i < 11; i++)
        to(i);
    lay_out(0);
    CHECK_INT(layout.row_count, 11);
    CHECK_INT(layout.count, 11 + 9);             /* a bend in each row it passes */
    CHECK_INT(layout.segment_count, 9 + 9 + 10); /* the chain, the line, its branches */
}

/* Two pairs whose first order crosses. */
static void test_crossings_are_undone(void)
{
    begin(6);
    edge(0, 3), edge(1, 2), edge(2, 4), edge(3, 5);
    lay_out(0);
    CHECK_INT(assay__graph_crossings(&layout), 0);
}

/* What is read late stands above its reader, not at the top. */
static void test_sources_come_late(void)
{
    begin(12);
    for (int i = 0; i < 9; i++)
        edge(i, i + 1);
    edge(10, 11), edge(11, 9);
    lay_out(0);
    CHECK_INT(row_of(11), row_of(9) - 1);
    CHECK_INT(row_of(10), row_of(9) - 2);
}

static void test_ends_are_outermost(void)
{
    begin(6);
    ends[4] = ASSAY__GRAPH_FIRST, ends[5] = ASSAY__GRAPH_LAST;
    edge(0, 1), edge(1, 2), edge(4, 2), edge(0, 5);
    edge(3, 4), edge(5, 3); /* into an entry, out of an exit: left out */
    lay_out(0);
    CHECK_INT(row_of(4), 0);
    for (int i = 0; i < 4; i++)
        CHECK(row_of(i) > 0 && row_of(i) < row_of(5));
    CHECK_INT(row_of(5), layout.row_count - 1);
    CHECK_INT(layout.back, 2);
}

/* A long chain fills a wide view in columns; a graph where many lines pass each row is not cut. */
static void test_columns(void)
{
    begin(60);
    for (int i = 0; i + 1 < 60; i++)
        edge(i, i + 1);
    lay_out(1200);
    CHECK(layout.column_count > 2);
    CHECK(geometry.size.width <= 1200);
    CHECK(geometry.size.height <= 600);
    begin(60);
    for (int i = 0; i < 30; i++)
        edge(i, i + 1), edge(i, 59 - i); /* nested skips, as in a U-Net */
    for (int i = 30; i + 1 < 60; i++)
        edge(i, i + 1);
    lay_out(1200);
    for (int r = 0; r + 1 < layout.row_count; r++) {
        size_t lines = 0;
        for (size_t s = 0; s < layout.segment_count; s++)
            lines += layout.places[layout.segments[s].from].row == r;
        if (layout.columns[r] != layout.columns[r + 1]) CHECK(lines <= 3);
    }
}

/* A box that is opened moves its neighbours aside and what is below down. */
static void test_larger_boxes_overlap_nothing(void)
{
    begin(7);
    net(0), to(1), to(2), to(3);
    for (int i = 1; i <= 3; i++)
        edge(i, 4);
    edge(4, 5), edge(5, 6);
    lay_out(0);
    double below = geometry.y[4];
    sizes[2] = (struct assay__graph_size){700, 400};
    sizes[6] = (struct assay__graph_size){300, 90};
    CHECK_INT(assay__graph_arrange(&layout, sizes, arena, &geometry), 0);
    check_rows();
    CHECK_NEAR(geometry.y[4], below + 380, 1e-9);
    CHECK(geometry.size.width >= 900);
}

/* --- hostile ---------------------------------------------------------------------------------- */

static void test_nothing_and_one(void)
{
    begin(0);
    lay_out(1000);
    CHECK_INT(layout.row_count, 0);
    begin(1);
    edge(0, 0), edge(-1, 0), edge(0, 7), edge(3, 9);
    lay_out(1000);
    CHECK_INT(layout.row_count, 1);
    CHECK_INT(layout.segment_count, 0);
}

static void test_cycles_are_broken(void)
{
    begin(40);
    for (int i = 0; i < 40; i++)
        edge(i, (i + 1) % 40), edge(i, i), edge(i, (i + 17) % 40), edge(i, (i + 1) % 40);
    lay_out(1000);
    CHECK(layout.back > 0);
    for (int i = 0; i + 1 < 40; i++)
        CHECK(row_of(i) < row_of(i + 1));
}

/* Boxes that nothing joins stand in the order of execution, not in one row. */
static void test_boxes_without_lines(void)
{
    begin(3000);
    lay_out(1200);
    for (int i = 0; i + 1 < 3000; i++)
        CHECK(row_of(i) <= row_of(i + 1));
    CHECK(layout.row_count > 1000);
}

static void test_any_graph(void)
{
    struct assay__random random;
    assay__random_seed(&random, 7);
    for (int round = 0; round < 60; round++) {
        size_t boxes = 1 + (size_t)(assay__random_u64(&random) % 60);
        begin(boxes);
        for (size_t i = 0; i < boxes; i++)
            sizes[i] = (struct assay__graph_size){20 + (double)(assay__random_u64(&random) % 200),
                                                  (double)(assay__random_u64(&random) % 80)};
        for (size_t n = 0; n < 3 * boxes; n++) {
            net((int)(assay__random_u64(&random) % (boxes + 2)) - 1);
            for (size_t t = assay__random_u64(&random) % 5; t-- > 0;)
                to((int)(assay__random_u64(&random) % (boxes + 2)) - 1);
        }
        lay_out(round % 2 ? 900 : 0);
    }
}

static void random_network(uint64_t seed, size_t boxes, size_t edges)
{
    struct assay__random random;
    assay__random_seed(&random, seed);
    begin(boxes);
    for (size_t e = 0; e < edges; e++)
        edge((int)(assay__random_u64(&random) % boxes), (int)(assay__random_u64(&random) % boxes));
}

static void test_same_graph_same_layout(void)
{
    static struct assay__graph_place before[6000];
    random_network(3, 200, 400);
    lay_out(1000);
    size_t count = layout.count;
    CHECK(count <= 6000);
    memcpy(before, layout.places, count * sizeof *before);
    random_network(3, 200, 400);
    lay_out(1000);
    CHECK_INT(layout.count, count);
    CHECK(memcmp(before, layout.places, count * sizeof *before) == 0);
}

/* The work is bounded by the number of bends, however far the lines lead. */
static void test_many_edges_are_bounded(void)
{
    random_network(5, 10000, 100000);
    CHECK_INT(assay__graph_layout(&graph, (struct assay__graph_size){1200, 600}, arena, &layout),
              0);
    CHECK(layout.count <= 10000 + 8 * 10000 + 4096);
    CHECK(layout.far > 0);
    CHECK(layout.segment_count <= 100000 + layout.count);
}

static void test_ten_thousand_layers(void)
{
    begin(10000);
    for (int i = 0; i + 1 < 10000; i++) {
        net(i), to(i + 1);
        if (i % 4 == 0 && i + 4 < 10000) to(i + 4);
    }
    lay_out(1200);
    CHECK_INT(layout.row_count, 10000);
    CHECK_INT(assay__graph_crossings(&layout), 0);
    CHECK_INT(layout.far + layout.back, 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"chain is a straight line", test_chain_is_a_straight_line},
        {"residual passes at the side", test_residual_passes_at_the_side},
        {"branches stand around their source", test_branches_stand_around_their_source},
        {"net is one line", test_net_is_one_line},
        {"crossings are undone", test_crossings_are_undone},
        {"sources come late", test_sources_come_late},
        {"ends are outermost", test_ends_are_outermost},
        {"columns", test_columns},
        {"larger boxes overlap nothing", test_larger_boxes_overlap_nothing},
        {"nothing and one", test_nothing_and_one},
        {"cycles are broken", test_cycles_are_broken},
        {"boxes without lines", test_boxes_without_lines},
        {"any graph", test_any_graph},
        {"same graph same layout", test_same_graph_same_layout},
        {"many edges are bounded", test_many_edges_are_bounded},
        {"ten thousand layers", test_ten_thousand_layers},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
