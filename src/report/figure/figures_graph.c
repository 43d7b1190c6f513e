/* figures_graph.c - the network of a trial as a graph. */
#include "report/figure/figures.h"

#include "report/figure/graph_tree.h"

#include <math.h>

#define ROWS 100 /* of the list in text at most */

/* "16 groups and 58 layers. Most time: lm_head 215 ms, …" */
static const char *describe(struct assay__sketch *k, const struct assay__graph_tree *tree)
{
    struct assay__buf text = {0};
    const struct assay__graph_node *whole = &tree->nodes[0], *most = NULL;
    assay__buf_printf(&text, "%d layers in %zu blocks", whole->layers, tree->group_count - 1);
    for (int i = 0; i < whole->count; i++) {
        const struct assay__graph_node *kid = &tree->nodes[tree->kids[whole->first + i]];
        if (isfinite(kid->time_ns) && (!most || kid->time_ns > most->time_ns)) most = kid;
    }
    assay__buf_putc(&text, '.');
    if (most)
        assay__buf_printf(&text, " Most time: %s, %s.", assay__sketch_short(k, most->label),
                          assay__scaled(most->time_ns * 1e-9, "s").text);
    return assay__sketch_take(k, &text);
}

/* For text: every box that is shown, indented below the group it is in. */
static void list_times(struct assay__sketch *k, const struct assay__graph_tree *tree, int group,
                       int depth, struct assay__points *p)
{
    const struct assay__graph_node *node = &tree->nodes[group];
    for (int i = 0; i < node->count && p->count < ROWS; i++) {
        int kid = tree->kids[node->first + i];
        const struct assay__graph_node *now = &tree->nodes[kid];
        p->names[p->count] = assay__sketch_printf(k, "%*s%s%s%s", 2 * depth, "", node->label,
                                                  depth ? "/" : "", now->label);
        p->y[p->count++] = now->time_ns * 1e-9;
        if (now->layer < 0 && now->open) list_times(k, tree, kid, depth + 1, p);
    }
}

static const char *note_left_out(struct assay__sketch *k, const struct assay__graph_tree *tree)
{
    const struct {
        size_t count;
        const char *why;
    } left[] = {{tree->small, "of a few bytes (shapes, single numbers)"},
                {tree->far, "that would cross too many rows"},
                {tree->back, "that lead back"}};
    struct assay__buf text = {0};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (left[i].count)
            assay__buf_printf(&text, "%s%zu %s",
                              text.length ? ", " : "Lines not drawn: ", left[i].count, left[i].why);
    if (text.length) assay__buf_putc(&text, '.');
    return assay__sketch_take(k, &text);
}

int assay__figure_graph(struct assay__sketch *k, size_t part)
{
    const char *missing = assay__graph_missing(k->trial);
    if (part || missing) return assay__sketch_none(k, missing ? missing : "");
    struct assay__graph_tree *tree = assay__arena_alloc(k->arena, sizeof *tree);
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_GRAPH, "graph", "The network");
    if (!tree || assay__graph_tree(k->study, k->trial, k->arena, tree)) {
        k->failed = true;
        return assay__sketch_end(k);
    }
    f->graph = tree;
    f->width = assay__graph_node_size(tree, 0, k->arena).width;
    f->y_unit = "s";
    f->caption = assay__sketch_printf(
        k,
        "Each box is a block of layers, below those whose results it reads. Colour is %s, the bar "
        "in a box compares times, and the width of a line shows the size of the tensor.",
        tree->operator_count ? "the operator that takes most of its time"
                             : "the share of the machine's peak that it reaches");
    struct assay__points p;
    if (assay__sketch_points(k, &p, ROWS, ASSAY__WITH_NAMES)) {
        list_times(k, tree, 0, 0, &p);
        assay__sketch_add(k, "", &p);
    }
    f->description = describe(k, tree);
    f->note = note_left_out(k, tree);
    return assay__sketch_end(k);
}
