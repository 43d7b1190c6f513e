/* graph_tree.c - the tree of groups and layers, their names and which groups are open;
 * graph_wires.c has the lines inside each group and its layout. */
#include "report/figure/graph_wires.h"

#include "judge/require_advice.h"
#include "profile/trial_values.h"
#include "report/figure/graph_groups.h"
#include "report/figure/palette.h"
#include "report/subject/layer_list.h"

#include <assay/error.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* maximum boxes of a drawing in which groups of groups are initially open … */
#define SHOWN_LAYERS 24 /* … and groups of layers */

/* --- the tree --------------------------------------------------------------------------------- */

/* The part of the name that the enclosing group does not have: "conv2" for "/layer1.0.conv2/Conv"
 * in "layer1.0". */
static const char *layer_label(const struct assay__layer *layer, const char *around,
                               struct assay__arena *arena)
{
    const char *title = assay__layer_title(layer);
    size_t length = strlen(around);
    while (*title == '/')
        title++;
    if (length && strncmp(title, around, length) == 0 && strchr("/._", title[length]) &&
        title[length] && title[length + 1])
        title += length + 1;
    const char *last = strrchr(title, '/');
    bool op = last && last > title && strncmp(last + 1, layer->op, strlen(layer->op)) == 0;
    return op ? assay__arena_text(arena, "%.*s", (int)(last - title), title) : title;
}

static void add_groups(const struct assay__graph_groups *groups, struct assay__graph_tree *tree)
{
    tree->nodes[0] = (struct assay__graph_node){
        .parent = -1, .layer = -1, .block = -1, .name = "", .label = "", .open = true};
    for (size_t i = 0; i < groups->count; i++) {
        const struct assay__graph_group *group = &groups->items[i];
        tree->nodes[i + 1] = (struct assay__graph_node){.parent = group->parent + 1,
                                                        .layer = -1,
                                                        .block = group->block,
                                                        .name = group->name,
                                                        .label = group->label};
    }
    tree->group_count = groups->count + 1;
}

static void add_layers(const struct assay__graph_groups *groups, struct assay__graph_tree *tree,
                       const struct assay__roofline *roofline, struct assay__arena *arena)
{
    const struct assay__layers *layers = &tree->trial->layers;
    double whole_ns = assay__layers_whole(tree->trial);
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        int parent = groups->of_layer[i] + 1;
        bool timed = assay__layer_is_timed(layer);
        double least = roofline && i < roofline->layer_count ? roofline->layers[i].least_ns : NAN;
        bool known = timed && isfinite(least);
        tree->nodes[tree->group_count + i] = (struct assay__graph_node){
            .parent = parent,
            .layer = (int)i,
            .block = -1,
            .name = assay__layer_title(layer),
            .label = layer_label(layer, tree->nodes[parent].name, arena),
            .layers = 1,
            .time_ns = timed ? layer->time_ns : (double)NAN,
            .share = timed ? layer->time_ns / whole_ns : (double)NAN,
            .least_ns = known ? least : 0,
            .least_of_ns = known ? layer->time_ns : 0};
    }
}

/* Children by the first of their layers; sums of the groups. A group comes after its parent. */
static bool join_nodes(struct assay__graph_tree *tree, struct assay__arena *arena)
{
    size_t layers = tree->trial->layers.count, next = 0;
    bool *listed = calloc(tree->count + 1, sizeof *listed);
    tree->kids = assay__arena_array(arena, tree->count + 1, sizeof *tree->kids);
    if (!listed || !tree->kids) {
        free(listed);
        return false;
    }
    for (size_t i = 1; i < tree->count; i++)
        tree->nodes[tree->nodes[i].parent].count++;
    for (size_t i = 0; i < tree->group_count; i++) {
        tree->nodes[i].first = (int)next;
        next += (size_t)tree->nodes[i].count;
        tree->nodes[i].count = 0;
    }
    for (size_t i = 0; i < layers; i++) {
        int node = (int)(tree->group_count + i);
        const struct assay__graph_node leaf = tree->nodes[node];
        for (int at = node; at > 0; at = tree->nodes[at].parent) {
            struct assay__graph_node *around = &tree->nodes[tree->nodes[at].parent];
            if (!listed[at]) tree->kids[around->first + around->count++] = at;
            listed[at] = true;
            around->layers++;
            around->least_ns += leaf.least_ns;
            around->least_of_ns += leaf.least_of_ns;
            if (!isfinite(leaf.time_ns)) continue;
            around->time_ns = (isfinite(around->time_ns) ? around->time_ns : 0) + leaf.time_ns;
            around->share = (isfinite(around->share) ? around->share : 0) + leaf.share;
        }
    }
    free(listed);
    return true;
}

static int plant(struct assay__study *study, struct assay__arena *arena,
                 struct assay__graph_tree *tree)
{
    const struct assay__layers *layers = &tree->trial->layers;
    const struct assay__blocks *blocks = assay__study_blocks(study, tree->trial);
    const struct assay__roofline *roofline = assay__study_roofline(study, tree->trial);
    struct assay__graph_groups groups;
    if (study->failed || !blocks || assay__graph_groups(blocks, layers, arena, &groups))
        return ASSAY_ENOMEM;
    tree->count = 1 + groups.count + layers->count;
    tree->nodes = assay__arena_array(arena, tree->count, sizeof *tree->nodes);
    if (!tree->nodes) return ASSAY_ENOMEM;
    add_groups(&groups, tree);
    add_layers(&groups, tree, roofline, arena);
    for (size_t i = 0; i < tree->group_count; i++)
        tree->nodes[i].time_ns = tree->nodes[i].share = NAN;
    for (size_t i = 0; i < tree->count; i++)
        tree->nodes[i].in = tree->nodes[i].out = "";
    return join_nodes(tree, arena) ? 0 : ASSAY_ENOMEM;
}

/* --- what is initially open ------------------------------------------------------------------- */

static bool has_groups(const struct assay__graph_tree *tree, const struct assay__graph_node *node)
{
    for (int k = 0; k < node->count; k++)
        if (tree->nodes[tree->kids[node->first + k]].layer < 0) return true;
    return false;
}

/* Visible boxes if every group (1) with groups inside, (2) at all, is open. */
static int shown_boxes(const struct assay__graph_tree *tree, int group, int depth)
{
    const struct assay__graph_node *node = &tree->nodes[group];
    int sum = 0;
    for (int k = 0; k < node->count; k++) {
        int kid = tree->kids[node->first + k];
        bool opens = tree->nodes[kid].layer < 0 &&
                     (depth > 1 || (depth == 1 && has_groups(tree, &tree->nodes[kid])));
        sum += opens ? shown_boxes(tree, kid, depth > 1 ? depth : 0) : 1;
    }
    return sum;
}

static void open_groups(struct assay__graph_tree *tree)
{
    int depth = shown_boxes(tree, 0, 2) <= SHOWN_LAYERS ? 2
                : shown_boxes(tree, 0, 1) <= SHOWN      ? 1
                                                        : 0;
    for (size_t i = 1; i < tree->group_count; i++) {
        struct assay__graph_node *node = &tree->nodes[i];
        node->open = depth > 1 || (depth == 1 && node->parent == 0 && has_groups(tree, node));
    }
    for (size_t i = 1; i < tree->count; i++) {
        const struct assay__graph_node *node = &tree->nodes[i];
        bool seen = !(node->layer < 0 && node->open);
        for (int at = node->parent; at > 0 && seen; at = tree->nodes[at].parent)
            seen = tree->nodes[at].open;
        if (seen && node->time_ns > tree->most_ns) tree->most_ns = node->time_ns;
    }
}

/* --- colours ---------------------------------------------------------------------------------- */

/* The operators that take the most time in total. */
static bool find_operators(struct assay__graph_tree *tree)
{
    size_t count;
    struct assay__operator *sums = assay__operators(&tree->trial->layers, &count);
    for (size_t i = 0; sums && i < count && tree->operator_count < ASSAY__GRAPH_OPERATORS; i++)
        if (sums[i].timed) tree->operators[tree->operator_count++] = sums[i].op;
    free(sums);
    return sums != NULL;
}

static int operator_of(const struct assay__graph_tree *tree, const struct assay__layer *layer)
{
    int at = 0;
    while (at < (int)tree->operator_count && strcmp(tree->operators[at], layer->op) != 0)
        at++;
    return at;
}

/* For a group: what takes most of its time, including operators without their own colour. */
static bool color_by_operator(struct assay__graph_tree *tree)
{
    enum { KINDS = ASSAY__GRAPH_OPERATORS + 1 };
    double(*sums)[KINDS] = calloc(tree->count, sizeof *sums);
    if (!sums || !find_operators(tree)) {
        free(sums);
        return false;
    }
    for (size_t i = tree->group_count; i < tree->count; i++) {
        const struct assay__graph_node *leaf = &tree->nodes[i];
        int op = operator_of(tree, &tree->trial->layers.items[leaf->layer]);
        for (int at = (int)i; at >= 0; at = tree->nodes[at].parent)
            sums[at][op] += isfinite(leaf->time_ns) ? leaf->time_ns : 0;
        sums[i][op] += 1e-9; /* also of one without a time */
    }
    for (size_t i = 0; i < tree->count; i++) {
        int best = 0;
        for (int op = 1; op < KINDS; op++)
            if (sums[i][op] > sums[i][best]) best = op;
        tree->nodes[i].color = sums[i][best] > 0 && best < (int)tree->operator_count ? best : -1;
    }
    free(sums);
    return true;
}

static bool color_nodes(struct assay__graph_tree *tree)
{
    if (isnan(assay__graph_node_peak(&tree->nodes[0]))) return color_by_operator(tree);
    for (size_t i = 0; i < tree->count; i++)
        tree->nodes[i].color = assay__palette_bin(assay__graph_node_peak(&tree->nodes[i]));
    return true;
}

/* --- the whole -------------------------------------------------------------------------------- */

double assay__graph_node_peak(const struct assay__graph_node *node)
{
    bool known = node->least_of_ns > 0 && node->least_of_ns > node->time_ns / 2;
    return known ? node->least_ns / node->least_of_ns : (double)NAN;
}

const char *assay__graph_missing(const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    if (!layers->count)
        return layers->reason && layers->reason[0] ? layers->reason : "the layers were not timed";
    return layers->edge_count
               ? NULL
               : "the profile does not record which layer reads the output of another: the engine "
                 "did not report it, or the profile is from an older version";
}

int assay__graph_tree(struct assay__study *study, const struct assay__trial *trial,
                      struct assay__arena *arena, struct assay__graph_tree *out)
{
    *out = (struct assay__graph_tree){.trial = trial};
    int code = plant(study, arena, out);
    if (code) return code;
    if (!color_nodes(out)) return ASSAY_ENOMEM;
    open_groups(out);
    return assay__graph_wires(out, arena);
}
