/* graph_wires.c - the lines of every group. An edge between two layers is a line in the innermost
 * group that contains both, from the box with one to the box with the other; in each nested group
 * it is a line that leaves on the producer's side, and a line that enters on the consumer's side.
 * The lines of one tensor are one net; nets of one group from one box to the same boxes are drawn
 * as one, with the bytes of all of them. */
#include "report/figure/graph_wires.h"

#include "base/vec.h"

#include <assay/error.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OUTSIDE (-1) /* of a line that comes in, or leaves */
#define SMALL 64.    /* bytes of what is left out next to others */
/* Space that columns should fit into: a page for the whole graph, a part of it for the contents of
 * a group. */
static const struct assay__graph_size page_view = {1340, 600}, inner_view = {900, 460};

struct wire {
    int group, source, target; /* nodes; or OUTSIDE */
    int tensor;                /* a number for a producer's value of one name */
    double bytes;
};

struct net {
    int group, source;
    const int *targets; /* rising */
    size_t count;
    double bytes;
};

struct chip { /* an input or output of the model at a node */
    int node, in;
    const char *tensor;
};

struct wiring {
    struct assay__graph_tree *tree;
    const struct assay__layers *layers;
    struct wire *wires;
    size_t wire_count, wire_room;
    struct chip *chips;
    size_t chip_count, chip_room;
    struct net *nets; /* by group, source */
    size_t net_count;
    int *targets;
    double largest; /* bytes of an edge */
    bool failed;
};

/* --- edges into lines ------------------------------------------------------------------------- */

static int compare_int(int a, int b)
{
    return a < b ? -1 : a > b;
}

static void add_wire(struct wiring *w, struct wire wire)
{
    if (w->failed ||
        assay__vec_grow((void **)&w->wires, &w->wire_room, w->wire_count + 1, sizeof *w->wires))
        w->failed = true;
    else
        w->wires[w->wire_count++] = wire;
}

static int depth_of(const struct assay__graph_tree *tree, int node)
{
    int depth = 0;
    for (; tree->nodes[node].parent >= 0; node = tree->nodes[node].parent)
        depth++;
    return depth;
}

/* Climbs from both ends to the group that contains both. */
static void add_edge(struct wiring *w, int producer, int consumer, int tensor, double bytes)
{
    const struct assay__graph_node *nodes = w->tree->nodes;
    int from = (int)w->tree->group_count + producer, to = (int)w->tree->group_count + consumer;
    int above = depth_of(w->tree, from), below = depth_of(w->tree, to);
    while (nodes[from].parent != nodes[to].parent) {
        if (above >= below) {
            add_wire(w, (struct wire){nodes[from].parent, from, OUTSIDE, tensor, bytes});
            from = nodes[from].parent, above--;
        }
        if (below > above) {
            add_wire(w, (struct wire){nodes[to].parent, OUTSIDE, to, tensor, bytes});
            to = nodes[to].parent, below--;
        }
    }
    if (from != to) add_wire(w, (struct wire){nodes[from].parent, from, to, tensor, bytes});
}

static void add_chips(struct wiring *w, int layer, const char *tensor, bool in)
{
    for (int at = (int)w->tree->group_count + layer; at > 0; at = w->tree->nodes[at].parent) {
        if (w->failed || assay__vec_grow((void **)&w->chips, &w->chip_room, w->chip_count + 1,
                                         sizeof *w->chips)) {
            w->failed = true;
            return;
        }
        w->chips[w->chip_count++] = (struct chip){at, in, tensor};
    }
}

static int by_tensor(const void *left, const void *right)
{
    const struct assay__edge *a = *(const struct assay__edge *const *)left;
    const struct assay__edge *b = *(const struct assay__edge *const *)right;
    int order = compare_int(a->producer, b->producer);
    if (!order) order = strcmp(a->tensor, b->tensor);
    return order ? order : compare_int(a->consumer, b->consumer);
}

static void read_edges(struct wiring *w)
{
    size_t count = w->layers->edge_count;
    const struct assay__edge **edges = calloc(count + 1, sizeof *edges);
    if (!edges) w->failed = true;
    for (size_t e = 0; e < count && edges; e++)
        edges[e] = &w->layers->edges[e];
    if (edges) qsort(edges, count, sizeof *edges, by_tensor);
    int tensor = 0;
    for (size_t e = 0; e < count && !w->failed; e++) {
        const struct assay__edge *edge = edges[e];
        if (e && (edges[e - 1]->producer != edge->producer ||
                  strcmp(edges[e - 1]->tensor, edge->tensor) != 0))
            tensor++;
        if (edge->producer < 0 || edge->consumer < 0) {
            bool in = edge->producer < 0;
            add_chips(w, in ? edge->consumer : edge->producer, edge->tensor, in);
            continue;
        }
        if (edge->bytes > w->largest) w->largest = edge->bytes;
        add_edge(w, edge->producer, edge->consumer, tensor, edge->bytes);
    }
    free(edges);
}

/* --- lines into nets -------------------------------------------------------------------------- */

static int by_wire(const void *left, const void *right)
{
    const struct wire *a = left, *b = right;
    int order = compare_int(a->group, b->group);
    if (!order) order = compare_int(a->source, b->source);
    if (!order) order = compare_int(a->tensor, b->tensor);
    /* OUTSIDE last, like the box where it leaves */
    return order ? order
                 : compare_int(a->target < 0 ? INT_MAX : a->target,
                               b->target < 0 ? INT_MAX : b->target);
}

static int by_net(const void *left, const void *right)
{
    const struct net *a = left, *b = right;
    int order = compare_int(a->group, b->group);
    if (!order) order = compare_int(a->source, b->source);
    for (size_t i = 0; !order && i < a->count && i < b->count; i++)
        order = compare_int(a->targets[i], b->targets[i]);
    return order ? order : a->count < b->count ? -1 : a->count > b->count;
}

static void make_nets(struct wiring *w)
{
    w->nets = calloc(w->wire_count + 1, sizeof *w->nets);
    w->targets = calloc(w->wire_count + 1, sizeof *w->targets);
    if (!w->nets || !w->targets) w->failed = true;
    if (w->failed || !w->wire_count) return;
    qsort(w->wires, w->wire_count, sizeof *w->wires, by_wire);
    struct net *net = NULL;
    for (size_t i = 0, at = 0; i < w->wire_count; i++) {
        const struct wire *now = &w->wires[i], *before = i ? now - 1 : NULL;
        bool same = before && before->group == now->group && before->source == now->source &&
                    before->tensor == now->tensor;
        if (same && before->target == now->target) continue;
        if (!same) {
            net = &w->nets[w->net_count++];
            *net = (struct net){now->group, now->source, w->targets + at, 0, now->bytes};
        }
        w->targets[at++] = now->target;
        net->count++;
    }
    qsort(w->nets, w->net_count, sizeof *w->nets, by_net);
    size_t kept = 0;
    for (size_t i = 0; i < w->net_count; i++)
        if (kept && by_net(&w->nets[kept - 1], &w->nets[i]) == 0)
            w->nets[kept - 1].bytes += w->nets[i].bytes;
        else
            w->nets[kept++] = w->nets[i];
    w->net_count = kept;
}

/* Shapes and single numbers go to many boxes and are not informative: a net of a few bytes is left
 * out if its source has a larger one and each of its targets reads a larger one. */
static void drop_small(struct wiring *w)
{
    double least = fmin(SMALL, w->largest / 16);
    size_t nodes = w->tree->count, kept = 0;
    bool *made = calloc(nodes + 1, sizeof *made), *read = calloc(nodes + 1, sizeof *read);
    if (!made || !read) w->failed = true;
    for (size_t i = 0; i < w->net_count && !w->failed; i++) {
        const struct net *net = &w->nets[i];
        if (net->bytes <= least) continue;
        if (net->source >= 0) made[net->source] = true;
        for (size_t t = 0; t < net->count; t++)
            if (net->targets[t] >= 0) read[net->targets[t]] = true;
    }
    for (size_t i = 0; i < w->net_count && !w->failed; i++) {
        const struct net *net = &w->nets[i];
        bool needless = net->bytes <= least && (net->source < 0 || made[net->source]);
        for (size_t t = 0; t < net->count && needless; t++)
            needless = net->targets[t] < 0 || read[net->targets[t]];
        if (needless)
            w->tree->small++;
        else
            w->nets[kept++] = *net;
    }
    w->net_count = kept;
    free(made);
    free(read);
}

static bool is_shown(const struct assay__graph_tree *tree, int group)
{
    for (; group > 0; group = tree->nodes[group].parent)
        if (!tree->nodes[group].open) return false;
    return true;
}

static void find_largest(struct wiring *w)
{
    for (size_t i = 0; i < w->net_count; i++)
        if (w->nets[i].bytes > w->tree->largest && is_shown(w->tree, w->nets[i].group))
            w->tree->largest = w->nets[i].bytes;
}

/* --- inputs and outputs of the model ---------------------------------------------------------- */

static int by_chip(const void *left, const void *right)
{
    const struct chip *a = left, *b = right;
    int order = compare_int(a->node, b->node);
    if (!order) order = compare_int(a->in, b->in);
    return order ? order : strcmp(a->tensor, b->tensor);
}

static void name_chips(struct wiring *w, struct assay__arena *arena)
{
    if (w->chip_count) qsort(w->chips, w->chip_count, sizeof *w->chips, by_chip);
    for (size_t i = 0, end; i < w->chip_count; i = end) {
        const struct chip *chip = &w->chips[i];
        size_t names = 1;
        for (end = i + 1; end < w->chip_count && w->chips[end].node == chip->node &&
                          w->chips[end].in == chip->in;
             end++)
            names += strcmp(w->chips[end].tensor, w->chips[end - 1].tensor) != 0;
        struct assay__graph_node *node = &w->tree->nodes[chip->node];
        const char *text = names == 1 ? chip->tensor
                                      : assay__arena_text(arena, "%zu %s", names,
                                                          chip->in ? "inputs" : "outputs");
        *(chip->in ? &node->in : &node->out) = text;
    }
}

/* --- layouts ---------------------------------------------------------------------------------- */

double assay__graph_margin(const struct assay__graph_inside *inside, bool below)
{
    bool ports = below ? inside->leaves : inside->enters; /* which take a row already */
    size_t lanes = inside->layout.column_count > 1 ? inside->lanes : 0;
    return (ports ? 0 : ASSAY__GRAPH_PAD) + ASSAY__GRAPH_LANE * (double)lanes;
}

struct assay__graph_size *assay__graph_inside_sizes(const struct assay__graph_tree *tree, int group,
                                                    struct assay__arena *arena)
{
    const struct assay__graph_node *node = &tree->nodes[group];
    size_t kids = (size_t)node->count, ports = node->inside->port_count;
    struct assay__graph_size *sizes = assay__arena_array(arena, kids + ports + 1, sizeof *sizes);
    for (size_t k = 0; sizes && k < kids; k++)
        sizes[k] = assay__graph_node_size(tree, tree->kids[node->first + (int)k], arena);
    for (size_t k = 0; sizes && k < ports; k++)
        sizes[kids + k] = (struct assay__graph_size){ASSAY__GRAPH_PORT, 0};
    return sizes;
}

struct assay__graph_size assay__graph_node_size(const struct assay__graph_tree *tree, int index,
                                                struct assay__arena *arena)
{
    const struct assay__graph_node *node = &tree->nodes[index];
    struct assay__graph_size size = {ASSAY__GRAPH_WIDTH,
                                     node->layer < 0 ? ASSAY__GRAPH_GROUP : ASSAY__GRAPH_LAYER};
    if (node->open && node->inside) {
        struct assay__graph_geometry g;
        const struct assay__graph_size *sizes = assay__graph_inside_sizes(tree, index, arena);
        if (!sizes || assay__graph_arrange(&node->inside->layout, sizes, arena, &g)) return size;
        return (struct assay__graph_size){
            fmax(ASSAY__GRAPH_WIDTH, g.size.width + 2 * ASSAY__GRAPH_PAD),
            ASSAY__GRAPH_HEAD + g.size.height + assay__graph_margin(node->inside, false) +
                assay__graph_margin(node->inside, true)};
    }
    size.height += (node->in[0] ? ASSAY__GRAPH_CHIP : 0) + (node->out[0] ? ASSAY__GRAPH_CHIP : 0);
    return size;
}

/* Lines that lead from one column to the next, at the break that has the most. */
static size_t count_lanes(const struct assay__graph_layout *layout)
{
    size_t most = 0, now = 0;
    for (size_t s = 0; s < layout->segment_count; s++) {
        const struct assay__graph_segment *segment = &layout->segments[s], *before = segment - 1;
        int row = layout->places[segment->from].row;
        if (layout->columns[row] == layout->columns[row + 1]) continue;
        if (!s || layout->places[before->from].row != row) now = 0;
        now += !now || before->from != segment->from || before->net != segment->net;
        if (now > most) most = now;
    }
    return most;
}

struct local { /* a group's graph in terms of its boxes */
    struct assay__graph_net *nets;
    int *targets;
    unsigned char *ends;
    int *box_of; /* by node */
};

/* Boxes for lines that enter and leave, and the nets between boxes. */
static size_t number_boxes(const struct wiring *w, int group, const struct net *nets, size_t count,
                           struct local *local)
{
    const struct assay__graph_node *node = &w->tree->nodes[group];
    struct assay__graph_inside *inside = node->inside;
    size_t boxes = (size_t)node->count, at = 0;
    for (int k = 0; k < node->count; k++)
        local->box_of[w->tree->kids[node->first + k]] = k;
    for (size_t n = 0; n < count; n++) {
        bool enters = nets[n].source == OUTSIDE;
        if (enters) local->ends[boxes] = ASSAY__GRAPH_FIRST, inside->enters = true;
        local->nets[n] = (struct assay__graph_net){enters ? (int)boxes++
                                                          : local->box_of[nets[n].source],
                                                   local->targets + at, nets[n].count};
        for (size_t t = 0; t < nets[n].count; t++) {
            bool leaves = nets[n].targets[t] == OUTSIDE;
            if (leaves) local->ends[boxes] = ASSAY__GRAPH_LAST, inside->leaves = true;
            local->targets[at++] = leaves ? (int)boxes++ : local->box_of[nets[n].targets[t]];
        }
    }
    return boxes;
}

static bool lay_out(struct wiring *w, int group, const struct net *nets, size_t count,
                    struct local *local, struct assay__arena *arena)
{
    struct assay__graph_node *node = &w->tree->nodes[group];
    struct assay__graph_inside *inside = assay__arena_alloc(arena, sizeof *inside);
    if (!inside) return false;
    node->inside = inside;
    size_t boxes = number_boxes(w, group, nets, count, local);
    inside->port_count = boxes - (size_t)node->count;
    inside->bytes = assay__arena_array(arena, count + 1, sizeof *inside->bytes);
    inside->net_count = count;
    for (size_t n = 0; n < count && inside->bytes; n++)
        inside->bytes[n] = nets[n].bytes;
    const struct assay__graph_boxes graph = {
        .sizes = assay__graph_inside_sizes(w->tree, group, arena),
        .ends = local->ends,
        .box_count = boxes,
        .nets = local->nets,
        .net_count = count};
    if (!inside->bytes || !graph.sizes ||
        assay__graph_layout(&graph, group ? inner_view : page_view, arena, &inside->layout))
        return false;
    inside->lanes = count_lanes(&inside->layout);
    w->tree->far += inside->layout.far;
    w->tree->back += inside->layout.back;
    memset(local->ends, 0, boxes);
    return true;
}

static bool lay_out_all(struct wiring *w, struct assay__arena *arena)
{
    size_t most = w->tree->count + 2 * w->wire_count + 1;
    struct local local = {.nets = calloc(w->net_count + 1, sizeof *local.nets),
                          .targets = calloc(w->wire_count + 1, sizeof *local.targets),
                          .ends = calloc(most, 1),
                          .box_of = calloc(w->tree->count + 1, sizeof *local.box_of)};
    bool made = local.nets && local.targets && local.ends && local.box_of;
    size_t end = w->net_count;
    for (size_t group = w->tree->group_count; group-- > 0 && made;) {
        size_t first = end;
        while (first > 0 && w->nets[first - 1].group == (int)group)
            first--;
        made = lay_out(w, (int)group, w->nets + first, end - first, &local, arena);
        end = first;
    }
    free(local.nets);
    free(local.targets);
    free(local.ends);
    free(local.box_of);
    return made;
}

int assay__graph_wires(struct assay__graph_tree *tree, struct assay__arena *arena)
{
    struct wiring w = {.tree = tree, .layers = &tree->trial->layers};
    read_edges(&w);
    if (!w.failed) make_nets(&w);
    if (!w.failed) drop_small(&w);
    if (!w.failed) find_largest(&w);
    if (!w.failed) name_chips(&w, arena);
    if (!w.failed && !lay_out_all(&w, arena)) w.failed = true;
    free(w.wires);
    free(w.chips);
    free(w.nets);
    free(w.targets);
    return w.failed || assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
