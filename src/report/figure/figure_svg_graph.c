/* figure_svg_graph.c - the network of a trial (graph_tree.h): boxes in rows from the top, lines
 * downward; what does not fit continues in the next column, and so do its lines. A box has the time
 * of its layers, a colour for the share of the peak that they reach (or for their operator), and a
 * bar that compares times; the width of a line is proportional to the square root of its bytes.
 * Inputs and outputs of the model are named at the boxes that read and write them. On a page, a box
 * has the number of its layer or block. */
#include "report/figure/figure_svg.h"

#include "base/map.h"
#include "report/doc/datum.h"
#include "report/figure/figure_label.h"
#include "report/figure/graph_tree.h"
#include "report/figure/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LEAST 1.0
#define LINE_MOST 8.0
#define SIDE 6.0      /* between the side of a box and its text */
#define TIME_ROOM 50. /* for the time of a layer */
#define PORT_STEP 12. /* between lines that end at one box */
#define BAR 3.0       /* height of the bar that compares times */
#define CORNER 7.0
#define KEY 20.0       /* height of the line that explains the colours … */
#define NAME_ROOM 150. /* … and width of an operator in it */

struct drawing {
    struct assay__svg *svg;
    const struct assay__graph_tree *tree;
    struct assay__arena *arena;
    char **labels[2]; /* by index in `shown`: of layers, of groups */
    int *label_of;    /* by node */
    int *shown;       /* nodes that have a box */
    size_t shown_count;
};

struct point {
    double x, y;
};

/* --- words ------------------------------------------------------------------------------------ */

static void list_shown(struct drawing *d, int group)
{
    const struct assay__graph_node *node = &d->tree->nodes[group];
    for (int k = 0; k < node->count; k++) {
        int kid = d->tree->kids[node->first + k];
        if (d->tree->nodes[kid].layer < 0 && d->tree->nodes[kid].open)
            list_shown(d, kid);
        else
            d->shown[d->shown_count++] = kid;
    }
}

/* The name of a box: its label, preceded by that of the enclosing group if another box has the
 * same. NULL: out of memory. */
static const char **name_boxes(struct drawing *d)
{
    struct assay__map *seen = assay__map_new();
    const char **names = assay__arena_array(d->arena, d->shown_count + 1, sizeof *names);
    bool made = seen && names;
    for (size_t i = 0; made && i < d->shown_count; i++) {
        const char *label = d->tree->nodes[d->shown[i]].label;
        size_t count = assay__map_get(seen, label);
        made = assay__map_set(seen, label, count == ASSAY__MAP_NONE ? 1 : count + 1) == 0;
    }
    for (size_t i = 0; made && i < d->shown_count; i++) {
        const struct assay__graph_node *node = &d->tree->nodes[d->shown[i]];
        names[i] = node->label;
        if (assay__map_get(seen, node->label) > 1 && node->parent > 0)
            names[i] = assay__arena_text(d->arena, "%s/%s", d->tree->nodes[node->parent].label,
                                         node->label);
    }
    assay__map_free(seen);
    return made ? names : NULL;
}

/* Cut so that no two are equal: a layer has its time next to its name. */
static bool make_labels(struct drawing *d)
{
    d->shown = assay__arena_array(d->arena, d->tree->count + 1, sizeof *d->shown);
    d->label_of = assay__arena_array(d->arena, d->tree->count + 1, sizeof *d->label_of);
    if (!d->shown || !d->label_of) return false;
    list_shown(d, 0);
    const char **names = name_boxes(d);
    if (!names) return false;
    for (int side = 0; side < 2; side++) { /* layers, groups */
        double room = ASSAY__GRAPH_WIDTH - 2 * SIDE - (side ? 0 : TIME_ROOM);
        d->labels[side] = assay__labels_within(names, d->shown_count, room);
        if (!d->labels[side]) return false;
    }
    for (size_t i = 0; i < d->shown_count; i++)
        d->label_of[d->shown[i]] = (int)i;
    return true;
}

static void put_time(struct assay__buf *out, const struct assay__graph_node *node)
{
    if (!isfinite(node->time_ns)) return;
    assay__buf_puts(out, assay__scaled(node->time_ns * 1e-9, "s").text);
    if (node->layer < 0 && isfinite(node->share))
        assay__buf_printf(out, " · %.*f %%", node->share < 0.0995 ? 1 : 0, node->share * 100);
}

static void put_title(struct drawing *d, const struct assay__graph_node *node)
{
    struct assay__buf text = {0};
    double peak = assay__graph_node_peak(node);
    assay__svg_cut(&text, node->name[0] ? node->name : node->label, 2000);
    if (node->layer >= 0)
        assay__buf_printf(&text, " (%s)", d->tree->trial->layers.items[node->layer].op);
    else
        assay__buf_printf(&text, ", %d layers", node->layers);
    if (isfinite(node->time_ns))
        assay__buf_printf(&text, ": %s", assay__scaled(node->time_ns * 1e-9, "s").text);
    if (isfinite(node->share)) assay__buf_printf(&text, ", %.1f %%", node->share * 100);
    if (isfinite(peak)) assay__buf_printf(&text, ", %.0f %% of the peak", peak * 100);
    assay__svg_title(d->svg, assay__buf_text(&text));
    assay__buf_drop(&text, d->svg->out);
}

/* --- lines ------------------------------------------------------------------------------------ */

static double line_width(const struct assay__graph_tree *tree, double bytes)
{
    if (!(bytes > 0) || !(tree->largest > 0)) return LINE_LEAST;
    double width = LINE_MOST * sqrt(bytes / tree->largest);
    return width < LINE_LEAST ? LINE_LEAST : width > LINE_MOST ? LINE_MOST : width;
}

static void begin_path(struct drawing *d, double bytes)
{
    assay__buf_puts(d->svg->out,
                    isfinite(bytes) ? "<path class=\"fig-x\"" : "<path class=\"fig-x fig-d2\"");
    assay__svg_put(d->svg, " stroke-width=\"#\" d=\"", (double[]){line_width(d->tree, bytes)});
}

static void end_path(struct drawing *d, double bytes)
{
    assay__buf_puts(d->svg->out, "\"");
    if (isfinite(bytes)) {
        assay__svg_title(d->svg, assay__scaled(bytes, "B").text);
        assay__buf_puts(d->svg->out, "</path>\n");
    } else {
        assay__buf_puts(d->svg->out, "/>\n");
    }
}

/* A line with rounded right-angle corners. */
static void put_corners(struct drawing *d, const struct point *points, size_t count)
{
    assay__svg_put(d->svg, "M# #", &points[0].x);
    for (size_t i = 1; i + 1 < count; i++) {
        struct point a = points[i - 1], b = points[i], c = points[i + 1];
        double in = fabs(b.x - a.x) + fabs(b.y - a.y); /* each part goes along one axis */
        double out = fabs(c.x - b.x) + fabs(c.y - b.y);
        double r = fmin(CORNER, fmin(in, out) / 2);
        if (!(r > 0)) continue;
        assay__svg_put(d->svg, "L# #Q# # # #",
                       (double[]){b.x - (b.x - a.x) / in * r, b.y - (b.y - a.y) / in * r, b.x, b.y,
                                  b.x + (c.x - b.x) / out * r, b.y + (c.y - b.y) / out * r});
    }
    assay__svg_put(d->svg, "L# #", &points[count - 1].x);
}

/* One group as it is drawn. */
struct area {
    const struct assay__graph_inside *inside;
    const struct assay__graph_node *group;
    const struct assay__graph_size *sizes;
    struct assay__graph_geometry at;
    double x, y, margin; /* its first box; above and below */
    double *start, *end; /* by segment: where it starts and ends, relative to the middle */
};

static bool is_box(const struct area *a, int place)
{
    return place < (int)a->inside->layout.box_count;
}

static const struct assay__graph_node *node_at(const struct drawing *d, const struct area *a,
                                               int place)
{
    return place < a->group->count ? &d->tree->nodes[d->tree->kids[a->group->first + place]] : NULL;
}

/* Where lines leave a box downward … */
static double bottom_of(const struct drawing *d, const struct area *a, int place)
{
    const struct assay__graph_node *node = node_at(d, a, place);
    int row = a->inside->layout.places[place].row;
    if (!is_box(a, place)) return a->y + a->at.row_y[row] + a->at.row_height[row];
    if (!node)
        return a->y + a->at.y[place] - (row ? 0 : assay__graph_margin(a->inside, false)); /* head */
    double chip = node->open || !node->out[0] ? 0 : ASSAY__GRAPH_CHIP;
    return a->y + a->at.y[place] + a->sizes[place].height - chip;
}

/* … and where they reach it. */
static double top_of(const struct drawing *d, const struct area *a, int place)
{
    const struct assay__graph_node *node = node_at(d, a, place);
    int row = a->inside->layout.places[place].row;
    if (!is_box(a, place)) return a->y + a->at.row_y[row] + a->at.row_height[row];
    if (!node) return a->y + a->at.size.height + assay__graph_margin(a->inside, true); /* foot */
    return a->y + a->at.y[place] + (node->open || !node->in[0] ? 0 : ASSAY__GRAPH_CHIP);
}

static void put_segment(struct drawing *d, const struct area *a, size_t s, size_t lane)
{
    const struct assay__graph_layout *layout = &a->inside->layout;
    const struct assay__graph_segment *segment = &layout->segments[s];
    int row = layout->places[segment->from].row;
    double bytes = a->inside->bytes[segment->net];
    struct point from = {a->x + a->at.x[segment->from] + a->start[s],
                         bottom_of(d, a, segment->from)};
    struct point to = {a->x + a->at.x[segment->to] + a->end[s], top_of(d, a, segment->to)};
    begin_path(d, bytes);
    if (layout->columns[row] == layout->columns[row + 1]) {
        double y1 = a->y + a->at.row_y[row] + a->at.row_height[row];
        double y2 = a->y + a->at.row_y[row + 1], middle = (y1 + y2) / 2;
        if (fabs(from.x - to.x) < 0.5)
            assay__svg_put(d->svg, "M# #V#", (double[]){from.x, from.y, to.y});
        else
            assay__svg_put(d->svg, "M# #V#C# # # # # #V#",
                           (double[]){from.x, from.y, fmax(y1, from.y), from.x, middle, to.x,
                                      middle, to.x, y2, to.y});
    } else {
        double off = ASSAY__GRAPH_LANE * (double)(lane + 1);
        double x = a->x + a->at.column_x[layout->columns[row + 1]] - ASSAY__GRAPH_GUTTER / 3 - off +
                   ASSAY__GRAPH_LANE;
        double low = a->y + a->at.row_y[row] + a->at.row_height[row] + off, high = a->y - off;
        const struct point way[] = {from, {from.x, low}, {x, low}, {x, high}, {to.x, high}, to};
        put_corners(d, way, sizeof way / sizeof way[0]);
    }
    end_path(d, bytes);
}

/* --- where lines end at a box ----------------------------------------------------------------- */

struct ending {
    int place, net;
    double x; /* of the other end */
    size_t segment;
};

static int by_ending(const void *left, const void *right)
{
    const struct ending *a = left, *b = right;
    if (a->place != b->place) return a->place < b->place ? -1 : 1;
    if (a->x != b->x) return a->x < b->x ? -1 : 1;
    return a->segment < b->segment ? -1 : a->segment > b->segment;
}

/* Side by side around the main one, in the order of their other ends. */
static void spread(const struct area *a, const struct ending *list, size_t count, double *offset)
{
    double room = list[0].place < a->group->count ? a->sizes[list[0].place].width - 24 : 0;
    size_t middle = 0; /* the straight one, else the widest */
    for (size_t i = 1; i < count; i++) {
        double bytes = a->inside->bytes[list[i].net], most = a->inside->bytes[list[middle].net];
        bool straight = fabs(list[i].x - a->at.x[list[i].place]) < 1;
        bool before = fabs(list[middle].x - a->at.x[list[i].place]) < 1;
        if (straight > before || (straight == before && bytes > most)) middle = i;
    }
    double centre = (double)middle;
    double most = fmax(centre, (double)(count - 1) - centre);
    double step = most > 0 ? fmin(PORT_STEP, room / 2 / most) : 0;
    for (size_t i = 0; i < count; i++)
        offset[list[i].segment] = step * ((double)i - centre);
}

static bool spread_all(struct drawing *d, struct area *a)
{
    const struct assay__graph_layout *layout = &a->inside->layout;
    size_t count = layout->segment_count;
    struct ending *list = calloc(count + 1, sizeof *list);
    a->start = assay__arena_array(d->arena, count + 1, sizeof *a->start);
    a->end = assay__arena_array(d->arena, count + 1, sizeof *a->end);
    bool made = list && a->start && a->end;
    for (size_t s = 0; made && s < count; s++) {
        const struct assay__graph_segment *g = &layout->segments[s];
        list[s] = (struct ending){g->to, g->net, a->at.x[g->from], s};
    }
    if (made) qsort(list, count, sizeof *list, by_ending);
    for (size_t i = 0, end; made && i < count; i = end) {
        for (end = i + 1; end < count && list[end].place == list[i].place; end++) {
        }
        if (is_box(a, list[i].place)) spread(a, list + i, end - i, a->end);
    }
    free(list);
    return made;
}

static void put_lines(struct drawing *d, const struct area *a)
{
    const struct assay__graph_layout *layout = &a->inside->layout;
    size_t lane = 0;
    int before = -1;
    for (size_t s = 0; s < layout->segment_count; s++) {
        const struct assay__graph_segment *now = &layout->segments[s];
        int row = layout->places[now->from].row;
        bool same = s && now[-1].from == now->from && now[-1].net == now->net;
        lane = row != before ? 0 : same ? lane : lane + 1; /* one for all that a net goes to */
        before = row;
        put_segment(d, a, s, lane);
    }
}

/* --- colours ---------------------------------------------------------------------------------- */

enum { CLASS = 32 };

/* The classes for a colour of the tree, and for text on it. */
static void color_of(const struct assay__graph_tree *tree, int color, char fill[CLASS],
                     char words[CLASS])
{
    bool operators = tree->operator_count > 0;
    if (color < 0) {
        snprintf(fill, CLASS, "fig-v");
        snprintf(words, CLASS, "fig-t");
        return;
    }
    const struct assay__palette_color *c = &(operators ? assay__palette_series
                                                       : assay__palette_scale)[color];
    snprintf(fill, CLASS, "fig-f fig-%s", c->id);
    snprintf(words, CLASS, "fig-on-%s", c->id);
}

static double put_swatch(struct drawing *d, double x, int color, const char *name)
{
    char fill[CLASS], words[CLASS];
    color_of(d->tree, color, fill, words);
    assay__svg_shape(d->svg, fill, "<rect x=\"#\" y=\"2\" width=\"#\" height=\"12\"/>",
                     (double[]){x, d->tree->operator_count ? 12 : 22});
    if (!name) return x + 24;
    assay__svg_text(d->svg, x + 17, 12, "fig-n", 's', name, NAME_ROOM);
    return x + 17 + fmin(assay__svg_width(name), NAME_ROOM) + 14;
}

/* What the colours are; its height. */
static double put_key(struct drawing *d)
{
    double x = ASSAY__GRAPH_PAD;
    for (size_t i = 0; i < d->tree->operator_count; i++)
        x = put_swatch(d, x, (int)i, d->tree->operators[i]);
    if (d->tree->operator_count) return KEY;
    assay__svg_text(d->svg, x, 12, "fig-n", 's', "share of peak 0", 0);
    x += assay__svg_width("share of peak 0") + 6;
    for (int i = 0; i < ASSAY__PALETTE_SCALE; i++)
        x = put_swatch(d, x, i, NULL);
    assay__svg_text(d->svg, x + 4, 12, "fig-n", 's', "100 %", 0);
    return KEY;
}

/* --- boxes ------------------------------------------------------------------------------------ */

static void begin_box(struct drawing *d, const struct assay__graph_node *node)
{
    struct assay__buf *out = d->svg->out;
    assay__buf_puts(out, "<g");
    if (d->svg->page && node->layer >= 0)
        assay__buf_printf(out, " data-l=\"%d\"", d->tree->trial->layers.items[node->layer].index);
    else if (d->svg->page && node->block >= 0)
        assay__buf_printf(out, " data-b=\"%d\"", node->block);
    put_title(d, node);
}

static void put_chips(struct drawing *d, const struct assay__graph_node *node, double x, double y,
                      double height)
{
    double left = x - ASSAY__GRAPH_WIDTH / 2, right = x + ASSAY__GRAPH_WIDTH / 2;
    double room = ASSAY__GRAPH_WIDTH / 2 - 24;
    if (node->in[0]) {
        assay__svg_shape(d->svg, "fig-x", "<path d=\"M# #V#\"/>",
                         (double[]){left + 10, y - ASSAY__GRAPH_CHIP + 2, y});
        assay__svg_text(d->svg, left + 16, y - 4, "fig-n", 's', node->in, room);
    }
    if (node->out[0]) {
        assay__svg_shape(d->svg, "fig-x", "<path d=\"M# #V#\"/>",
                         (double[]){right - 10, y + height, y + height + ASSAY__GRAPH_CHIP - 2});
        assay__svg_text(d->svg, right - 16, y + height + 11, "fig-n", 'e', node->out, room);
    }
}

/* x: its middle. */
static void put_box(struct drawing *d, int index, double x, double top)
{
    const struct assay__graph_node *node = &d->tree->nodes[index];
    struct assay__svg *svg = d->svg;
    double left = x - ASSAY__GRAPH_WIDTH / 2, y = top + (node->in[0] ? ASSAY__GRAPH_CHIP : 0);
    bool group = node->layer < 0;
    double height = group ? ASSAY__GRAPH_GROUP : ASSAY__GRAPH_LAYER, width = ASSAY__GRAPH_WIDTH;
    struct assay__buf time = {0};
    char color[32], words[32];
    color_of(d->tree, node->color, color, words);
    put_time(&time, node);
    begin_box(d, node);
    assay__svg_shape(svg, color, "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\" rx=\"4\"/>",
                     (double[]){left, y, width, height});
    if (node->time_ns > 0 && d->tree->most_ns > 0)
        assay__svg_shape(svg, words,
                         "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\" fill-opacity=\"0.5\"/>",
                         (double[]){left + 3, y + height - BAR - 2,
                                    (width - 6) * fmin(1, node->time_ns / d->tree->most_ns), BAR});
    const char *label = d->labels[group][d->label_of[index]];
    char bold[48];
    snprintf(bold, sizeof bold, "%s%s", group ? "fig-b " : "", words);
    assay__svg_label(svg, left + SIDE, y + 14, bold, 's', label, node->name);
    if (group)
        assay__svg_text(svg, left + SIDE, y + 28, words, 's', assay__buf_text(&time), 0);
    else
        assay__svg_text(svg, left + width - SIDE, y + 14, words, 'e', assay__buf_text(&time), 0);
    put_chips(d, node, x, y, height);
    assay__buf_puts(svg->out, "</g>\n");
    assay__buf_drop(&time, svg->out);
}

static void put_inside(struct drawing *d, int group, double x, double y);

/* x: its middle. */
static void put_frame(struct drawing *d, int index, double x, double y,
                      struct assay__graph_size size)
{
    const struct assay__graph_node *node = &d->tree->nodes[index];
    struct assay__svg *svg = d->svg;
    struct assay__buf time = {0};
    double left = x - size.width / 2;
    put_time(&time, node);
    double room = size.width - 3 * SIDE - assay__svg_width(assay__buf_text(&time));
    begin_box(d, node);
    assay__svg_shape(svg, "fig-y", "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\" rx=\"6\"/>",
                     (double[]){left, y, size.width, size.height});
    assay__svg_shape(svg, "fig-v", "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\" rx=\"6\"/>",
                     (double[]){left, y, size.width, ASSAY__GRAPH_HEAD});
    assay__svg_text(svg, left + SIDE, y + 14, "fig-b", 's', node->label, room);
    assay__svg_text(svg, left + size.width - SIDE, y + 14, "fig-t", 'e', assay__buf_text(&time), 0);
    assay__buf_puts(svg->out, "</g>\n");
    assay__buf_drop(&time, svg->out);
    put_inside(d, index, left + ASSAY__GRAPH_PAD,
               y + ASSAY__GRAPH_HEAD + assay__graph_margin(node->inside, false));
}

static void put_inside(struct drawing *d, int group, double x, double y)
{
    const struct assay__graph_node *node = &d->tree->nodes[group];
    struct area a = {.inside = node->inside,
                     .group = node,
                     .sizes = assay__graph_inside_sizes(d->tree, group, d->arena),
                     .x = x,
                     .y = y};
    if (!a.sizes || assay__graph_arrange(&a.inside->layout, a.sizes, d->arena, &a.at) ||
        !spread_all(d, &a)) {
        d->svg->out->failed = true;
        return;
    }
    double spare = assay__graph_node_size(d->tree, group, d->arena).width - 2 * ASSAY__GRAPH_PAD -
                   a.at.size.width;
    if (group && spare > 0) a.x += spare / 2; /* narrower than its head */
    put_lines(d, &a);
    for (int k = 0; k < node->count; k++) {
        int kid = d->tree->kids[node->first + k];
        double centre = a.x + a.at.x[k], top = a.y + a.at.y[k];
        if (d->tree->nodes[kid].layer < 0 && d->tree->nodes[kid].open)
            put_frame(d, kid, centre, top, a.sizes[k]);
        else
            put_box(d, kid, centre, top);
    }
}

void assay__svg_graph(struct assay__svg *svg)
{
    struct drawing d = {.svg = svg, .tree = svg->figure->graph, .arena = assay__arena_new()};
    if (!d.arena || !make_labels(&d)) {
        svg->out->failed = true;
    } else {
        struct assay__graph_size size = assay__graph_node_size(d.tree, 0, d.arena);
        double key = put_key(&d), left = (svg->width - size.width) / 2 + ASSAY__GRAPH_PAD;
        svg->height = key + size.height - ASSAY__GRAPH_HEAD;
        put_inside(&d, 0, fmax(ASSAY__GRAPH_PAD, left),
                   key + assay__graph_margin(d.tree->nodes[0].inside, false));
    }
    for (int side = 0; side < 2; side++)
        assay__labels_free(d.labels[side], d.shown_count);
    assay__arena_free(d.arena);
}
