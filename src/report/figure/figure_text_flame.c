/* figure_text_flame.c - a flame graph in text: the tree from the threads downwards, a row for each
 * function with its share and a bar. Calls without a branch and without time of their own stand in
 * one row. What takes less than a hundredth is left out. */
#include "report/figure/figure_text.h"

#include "base/text.h"
#include "explain/flame.h"

#include <string.h>

#define LEAST 0.01
#define ROWS 40
#define BAR 10
#define INDENT_MOST 24
#define LEVELS_MOST 256
#define PATH_MOST 8 /* functions of a row */

struct tree {
    struct assay__page *page;
    const struct assay__flame *flame;
    size_t rows, most, left_out;
};

static double share_of(const struct tree *t, const struct assay__flame_node *node)
{
    return (double)node->total / (double)t->flame->nodes->total;
}

/* The only child that matters, of a node without time of its own; 0: there is none. */
static uint32_t only_child(const struct tree *t, const struct assay__flame_node *node)
{
    const struct assay__flame_node *child = node->first ? &t->flame->nodes[node->first] : NULL;
    double kept = child ? (double)child->total / (double)node->total : 0;
    return kept >= 1 - LEAST / 2 ? node->first : 0;
}

/* "main > f (20 times) > g": a function that calls itself stands there once. Returns the last. */
static uint32_t put_names(const struct tree *t, struct assay__buf *names, uint32_t place)
{
    const struct assay__flame_node *nodes = t->flame->nodes;
    for (size_t n = 0; n < PATH_MOST; n++) {
        uint32_t next = only_child(t, &nodes[place]);
        size_t times = 1;
        for (; next && !strcmp(nodes[next].name, nodes[place].name); times++)
            next = only_child(t, &nodes[place = next]);
        assay__buf_printf(names, "%s%s", n ? t->page->ascii ? " > " : " › " : "",
                          nodes[place].name);
        if (times > 1) assay__buf_printf(names, " (%zu times)", times);
        if (!next || n + 1 == PATH_MOST) break;
        place = next;
    }
    return place;
}

/* Prints the row of the node and of those that stand in it; returns the last of them. */
static uint32_t put_row(struct tree *t, uint32_t place, size_t level)
{
    const struct assay__flame_node *nodes = t->flame->nodes;
    struct assay__page *page = t->page;
    struct assay__buf names = {0};
    double share = share_of(t, &nodes[place]);
    size_t filled = (size_t)(share * BAR + 0.5), indent = level * 2;
    uint32_t at;
    at = put_names(t, &names, place);
    if (indent > INDENT_MOST) indent = INDENT_MOST;
    assay__buf_printf(page->out, "  %5.1f %% ", share * 100);
    assay__buf_repeat(page->out, page->ascii ? "#" : "█", filled);
    assay__buf_repeat(page->out, page->ascii ? "." : "░", filled < BAR ? BAR - filled : 0);
    assay__buf_repeat(page->out, " ", indent + 1);
    assay__page_fit_middle(page, assay__buf_text(&names),
                           page->columns > 46 ? page->columns - 22 - (int)indent : 24);
    while (page->out->length && page->out->data[page->out->length - 1] == ' ')
        page->out->data[--page->out->length] = '\0';
    assay__buf_putc(page->out, '\n');
    assay__buf_drop(&names, page->out);
    t->rows++;
    return at;
}

/* Levels are rows above, not depths: a row may stand for several calls. */
static void put_tree(struct tree *t)
{
    const struct assay__flame_node *nodes = t->flame->nodes;
    size_t level = 0;
    uint32_t ends[LEVELS_MOST], place = nodes->first;
    while (place) {
        bool large = share_of(t, &nodes[place]) >= LEAST;
        bool fits = large && (!t->most || t->rows < t->most);
        t->left_out += large && !fits;
        if (fits) {
            uint32_t last = put_row(t, place, level);
            if (nodes[last].first && level + 1 < LEVELS_MOST) {
                ends[level++] = place;
                place = nodes[last].first;
                continue;
            }
        }
        while (!nodes[place].next && level)
            place = ends[--level];
        place = nodes[place].next;
    }
}

void assay__text_flame(struct assay__page *page, const struct assay__figure *figure)
{
    struct tree t = {.page = page, .flame = figure->flame};
    if (!t.flame || t.flame->nodes->total <= 0) return;
    t.most = page->top < 0 ? 0 : ROWS;
    put_tree(&t);
    if (t.left_out)
        assay__page_print(page, ASSAY__STYLE_DIM, "  ", "%zu more functions are not shown.",
                          t.left_out);
}
