/* graph_json.c - the graph of the network for the page's script (html/graph.js): the tree of groups
 * and, of each, the layout of what is in it. From these the script draws what is open and closed;
 * it computes no layout, only where boxes move when others grow.
 *
 *   {"trial", "sizes": {…}, "largest": bytes, "labels": [by layer],
 *    "chips": [{"node": layer or ~group, "in", "out"}],
 *    "groups": [{"parent", "label", "block", "open", "kids": [layer, or ~group], "boxes": kids and
 *                ports, "rows": [how many places], "order": [places], "x": [by place in order],
 *                "breaks": [rows where a column begins], "lines": [from, to, net, …],
 *                "bytes": [by net; null unknown], "lanes", "enters", "leaves"}]}
 */
#include "report/json/json_parts.h"

#include "report/figure/graph_tree.h"
#include "report/json/json_members.h"

#include <math.h>
#include <string.h>

static void put_sizes(struct assay__json_writer *w)
{
    assay__json_record(
        w, "sizes", json_number("width", ASSAY__GRAPH_WIDTH),
        json_number("layer", ASSAY__GRAPH_LAYER), json_number("group", ASSAY__GRAPH_GROUP),
        json_number("chip", ASSAY__GRAPH_CHIP), json_number("head", ASSAY__GRAPH_HEAD),
        json_number("pad", ASSAY__GRAPH_PAD), json_number("port", ASSAY__GRAPH_PORT),
        json_number("lane", ASSAY__GRAPH_LANE), json_number("gap", ASSAY__GRAPH_GAP),
        json_number("row", ASSAY__GRAPH_ROW_GAP), json_number("gutter", ASSAY__GRAPH_GUTTER),
        json_number("bend", ASSAY__GRAPH_BEND));
}

/* A layer by its index, a group by ~ of its number. */
static void put_kids(struct assay__json_writer *w, const struct assay__graph_tree *tree,
                     const struct assay__graph_node *node)
{
    for (ASSAY__JSON_EACH(k, w, "kids", (size_t)node->count)) {
        int kid = tree->kids[node->first + (int)k];
        assay__json_integer(w, tree->nodes[kid].layer < 0 ? ~kid : tree->nodes[kid].layer);
    }
}

static void put_layout(struct assay__json_writer *w, const struct assay__graph_inside *inside)
{
    const struct assay__graph_layout *l = &inside->layout;
    for (ASSAY__JSON_EACH(r, w, "rows", (size_t)l->row_count))
        assay__json_integer(w, l->row_first[r + 1] - l->row_first[r]);
    for (ASSAY__JSON_EACH(i, w, "order", l->count))
        assay__json_integer(w, l->order[i]);
    for (ASSAY__JSON_EACH(i, w, "x", l->count))
        assay__json_integer(w, llround(l->places[l->order[i]].x));
    assay__json_put_array(w, "breaks");
    for (int r = 1; r < l->row_count; r++)
        if (l->columns[r] != l->columns[r - 1]) assay__json_integer(w, r);
    assay__json_array_end(w);
    assay__json_put_array(w, "lines");
    for (size_t s = 0; s < l->segment_count; s++) {
        assay__json_integer(w, l->segments[s].from);
        assay__json_integer(w, l->segments[s].to);
        assay__json_integer(w, l->segments[s].net);
    }
    assay__json_array_end(w);
    for (ASSAY__JSON_EACH(n, w, "bytes", inside->net_count))
        assay__json_number(w, inside->bytes[n]);
}

static void put_groups(struct assay__json_writer *w, const struct assay__graph_tree *tree)
{
    for (ASSAY__JSON_EACH(i, w, "groups", tree->group_count)) {
        const struct assay__graph_node *node = &tree->nodes[i];
        assay__json_object(w);
        assay__json_members(w, json_integer("parent", node->parent),
                            json_string("label", node->label), json_integer("block", node->block),
                            json_bool("open", node->open));
        put_kids(w, tree, node);
        assay__json_members(w,
                            json_integer("boxes", (size_t)node->count + node->inside->port_count));
        put_layout(w, node->inside);
        assay__json_members(w, json_integer("lanes", node->inside->lanes),
                            json_bool("enters", node->inside->enters),
                            json_bool("leaves", node->inside->leaves));
        assay__json_object_end(w);
    }
}

static void put_tree(struct assay__json_writer *w, const struct assay__graph_tree *tree)
{
    assay__json_object(w);
    assay__json_members(w, json_integer("trial", tree->trial->id),
                        json_number("largest", tree->largest));
    put_sizes(w);
    for (ASSAY__JSON_EACH(i, w, "labels", tree->count - tree->group_count))
        assay__json_string(w, tree->nodes[tree->group_count + i].label);
    assay__json_put_array(w, "chips");
    for (size_t i = 1; i < tree->count; i++) {
        const struct assay__graph_node *node = &tree->nodes[i];
        if (node->in[0] || node->out[0])
            assay__json_record(w, NULL,
                               json_integer("node", node->layer < 0 ? ~(int)i : node->layer),
                               json_string("in", node->in), json_string("out", node->out));
    }
    assay__json_array_end(w);
    put_groups(w, tree);
    assay__json_object_end(w);
}

bool assay__graph_json(struct assay__buf *out, struct assay__study *study)
{
    const struct assay__trial *trial = assay__study_main_trial(study);
    struct assay__json_writer writer;
    struct assay__graph_tree tree;
    if (!trial || assay__graph_missing(trial)) return false;
    struct assay__arena *arena = assay__arena_new();
    assay__json_start(&writer, out, false);
    if (!arena || assay__graph_tree(study, trial, arena, &tree))
        out->failed = true;
    else
        put_tree(&writer, &tree);
    assay__arena_free(arena);
    return true;
}
