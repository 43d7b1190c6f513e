/* figure_svg_treemap.c - a treemap: areas are proportional to values, nested by the parts of a path
 * ("layer1/block0"). Rectangles are squarified (Bruls, Huizing and van Wijk 2000): items are added
 * to a row while its worst aspect ratio improves. Colour shows the series. At most LEAVES
 * rectangles: the smallest are merged into one. Groups with one child are skipped. Values that are
 * not above 0 have no area and are left out. */
#include "report/figure/figure_label.h"
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAVES 300
#define LABELS (2 * LEAVES + 1) /* leaves, and groups of at least two */
#define DEPTH 6
#define HEAD 15.0 /* the line with the name of a group */
#define HEIGHT 380.0

struct leaf {
    size_t series, index;
    const char *path, *name;
    const char *tail; /* the end of the name that no other leaf has */
    double value;
};

struct map {
    struct assay__svg *svg;
    struct leaf *leaves;
    size_t count;
    double total;
    struct assay__buf *labels; /* written so far: no two are equal */
    size_t label_count;
};

struct item { /* a group or a leaf: leaves first … first + count - 1 */
    size_t first, count;
    double value;
};

struct rect {
    double x, y, width, height;
};

static int by_value(const void *left, const void *right)
{
    const struct leaf *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    if (a->series != b->series) return a->series < b->series ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_path(const void *left, const void *right)
{
    const struct leaf *a = left, *b = right;
    int order = strcmp(a->path, b->path);
    return order ? order : by_value(left, right);
}

static int item_by_value(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Items of the next depth: leaves that end here are separate, others are grouped by their next
 * part. */
static size_t group(const struct map *map, size_t first, size_t count, size_t depth,
                    struct item *items)
{
    size_t made = 0;
    for (size_t i = first; i < first + count; i++) {
        const char *path = map->leaves[i].path;
        size_t own = assay__path_prefix(path, depth + 1), before = assay__path_prefix(path, depth);
        bool joins = false;
        if (made && own > before) {
            const char *other = map->leaves[items[made - 1].first].path;
            joins = assay__path_prefix(other, depth + 1) == own && strncmp(path, other, own) == 0;
        }
        if (!joins) items[made++] = (struct item){i, 0, 0};
        items[made - 1].count++;
        items[made - 1].value += map->leaves[i].value;
    }
    return made;
}

/* --- drawing ---------------------------------------------------------------------------------- */

/* The text shortened to `room`; NULL if it would lose a third, or equal one that is already
 * there. */
static const char *label_of(struct map *map, const char *text, double room)
{
    struct assay__buf *label = &map->labels[map->label_count];
    double whole = assay__svg_width(text);
    if (room < fmin(whole, fmax(40, whole * 2 / 3))) return NULL;
    assay__buf_clear(label);
    assay__svg_cut(label, text, room);
    for (size_t i = 0; i < map->label_count; i++)
        if (strcmp(assay__buf_text(&map->labels[i]), assay__buf_text(label)) == 0) return NULL;
    map->label_count++;
    return assay__buf_text(label);
}

/* Name and value, as far as they fit. */
static void put_words(struct map *map, const struct leaf *leaf, struct rect r, const char *value)
{
    const char *words = leaf->index == SIZE_MAX ? "fig-on-axis" : assay__svg_on(leaf->series);
    const char *label = label_of(map, leaf->tail, r.width - 8);
    double line = r.y + 13;
    if (label) assay__svg_label(map->svg, r.x + 4, line, words, 's', label, leaf->name);
    if (label) line += 15;
    if (line + 4 < r.y + r.height && assay__svg_width(value) < r.width - 8)
        assay__svg_text(map->svg, r.x + 4, line, words, 's', value, 0);
}

static void put_leaf(struct map *map, const struct leaf *leaf, struct rect r)
{
    struct assay__svg *svg = map->svg;
    const struct assay__figure_series *series = &svg->figure->series[leaf->series];
    struct assay__buf title = {0};
    struct assay__digits value = assay__scaled(leaf->value, svg->figure->y_unit);
    bool rest = leaf->index == SIZE_MAX;
    assay__buf_printf(svg->out, "<rect class=\"fig-f fig-c fig-leaf %s\"",
                      rest ? "fig-faint" : assay__svg_color(leaf->series));
    assay__svg_put(svg, " x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
                   (double[]){r.x, r.y, r.width, r.height});
    if (!rest) assay__svg_layer(svg, series, leaf->index);
    assay__svg_cut(&title, leaf->name, 2000);
    assay__buf_printf(&title, ": %s (%.1f %%)", value.text, leaf->value / map->total * 100);
    assay__svg_title(svg, assay__buf_text(&title));
    assay__buf_puts(svg->out, "</rect>");
    if (r.width > 42 && r.height > 17) put_words(map, leaf, r, value.text);
    assay__buf_putc(svg->out, '\n');
    assay__buf_drop(&title, svg->out);
}

static void divide(struct map *map, size_t first, size_t count, size_t depth, struct rect r);

/* The group's own part of the path, with as many preceding parts as needed to make it unique. */
static void put_group_name(struct map *map, const char *path, size_t length, size_t depth,
                           struct rect r)
{
    const char *label = NULL;
    char name[256];
    for (size_t up = 0; up <= depth && !label; up++) {
        size_t from = assay__path_prefix(path, depth - up);
        if (path[from] == '/') from++;
        snprintf(name, sizeof name, "%.*s", (int)(length - from), path + from);
        label = label_of(map, name, r.width - 4);
    }
    if (label) assay__svg_label(map->svg, r.x + 2, r.y + 11, "fig-b", 's', label, name);
}

static void put_item(struct map *map, const struct item *item, size_t depth, struct rect r)
{
    const struct leaf *leaf = &map->leaves[item->first];
    if (item->count == 1) {
        put_leaf(map, leaf, r);
        return;
    }
    struct rect inside = r;
    size_t length = assay__path_prefix(leaf->path, depth + 1);
    if (r.width > 48 && r.height > 40) {
        put_group_name(map, leaf->path, length, depth, r);
        inside = (struct rect){r.x + 1, r.y + HEAD, r.width - 2, r.height - HEAD - 1};
    }
    divide(map, item->first, item->count, depth + 1, inside);
}

/* The worst aspect ratio in a row with that sum along a side. */
static double worst(double least, double greatest, double sum, double side)
{
    double square = sum * sum, across = side * side;
    return fmax(across * greatest / square, square / (across * least));
}

/* Lays out items in rows along the shorter side of what is left; areas are value × scale. */
static void squarify(struct map *map, const struct item *items, size_t count, size_t depth,
                     struct rect r, double value)
{
    for (size_t i = 0; i < count && value > 0 && r.width > 0 && r.height > 0;) {
        double scale = r.width * r.height / value, side = fmin(r.width, r.height);
        double sum = items[i].value * scale, greatest = sum;
        size_t end = i + 1;
        while (end < count) {
            double next = items[end].value * scale, least = items[end - 1].value * scale;
            if (!(next > 0) ||
                worst(next, greatest, sum + next, side) > worst(least, greatest, sum, side))
                break;
            sum += next;
            end++;
        }
        bool upright = r.width >= r.height; /* a column at the left, else a row at the top */
        double thick = end == count ? (upright ? r.width : r.height) : sum / side, at = 0;
        for (; i < end; i++) {
            double part = side * items[i].value * scale / sum;
            struct rect own = upright ? (struct rect){r.x, r.y + at, thick, part}
                                      : (struct rect){r.x + at, r.y, part, thick};
            put_item(map, &items[i], depth, own);
            at += part;
            value -= items[i].value;
        }
        if (upright)
            r.x += thick, r.width -= thick;
        else
            r.y += thick, r.height -= thick;
    }
}

static void divide(struct map *map, size_t first, size_t count, size_t depth, struct rect r)
{
    struct item *items = malloc(count * sizeof *items);
    double value = 0;
    if (!items) {
        map->svg->out->failed = true;
        return;
    }
    size_t made = 0;
    for (size_t d = depth; made < 2 && d < depth + 64; d++) { /* groups of one are passed through */
        made = depth < DEPTH ? group(map, first, count, d, items) : 0;
        if (made == 1 && items[0].count == 1) break;
        if (made > 1) depth = d;
        if (depth >= DEPTH) break;
    }
    if (made < 2) { /* too deep, or all on one path: side by side */
        made = count;
        for (size_t i = 0; i < count; i++)
            items[i] = (struct item){first + i, 1, map->leaves[first + i].value};
    }
    for (size_t i = 0; i < made; i++)
        value += items[i].value;
    qsort(items, made, sizeof *items, item_by_value);
    squarify(map, items, made, depth, r, value);
    free(items);
}

static bool collect(struct map *map, size_t most)
{
    const struct assay__figure *figure = map->svg->figure;
    map->leaves = malloc((most + 1) * sizeof *map->leaves);
    for (size_t s = 0; map->leaves && s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].count; i++) {
            const struct assay__figure_series *series = &figure->series[s];
            if (!(series->y[i] > 0) || !isfinite(series->y[i])) continue;
            const char *name = series->names && series->names[i] ? series->names[i] : "";
            map->leaves[map->count++] = (struct leaf){
                s,    i,    series->groups && series->groups[i] ? series->groups[i] : "",
                name, name, series->y[i]};
            map->total += series->y[i];
        }
    return map->leaves != NULL;
}

static void find_tails(struct map *map)
{
    const char **names = calloc(map->count + 1, sizeof *names),
               **tails = calloc(map->count + 1, sizeof *tails);
    map->labels = calloc(LABELS, sizeof *map->labels);
    for (size_t i = 0; names && i < map->count; i++)
        names[i] = map->leaves[i].name;
    if (names && tails) assay__label_tails(names, map->count, tails);
    for (size_t i = 0; names && tails && i < map->count; i++)
        map->leaves[i].tail = tails[i];
    if (!names || !tails || !map->labels) {
        map->svg->out->failed = true;
        map->count = 0;
    }
    free(names);
    free(tails);
}

void assay__svg_treemap(struct assay__svg *svg)
{
    struct map map = {.svg = svg};
    struct assay__buf rest = {0};
    size_t most = 0;
    if (!(svg->height > 0)) svg->height = HEIGHT;
    for (size_t s = 0; s < svg->figure->series_count; s++)
        most += svg->figure->series[s].count;
    if (!collect(&map, most)) {
        svg->out->failed = true;
        return;
    }
    qsort(map.leaves, map.count, sizeof *map.leaves, by_value);
    if (map.count > LEAVES) {
        double value = 0;
        for (size_t i = LEAVES - 1; i < map.count; i++)
            value += map.leaves[i].value;
        assay__buf_printf(&rest, "%zu smaller ones", map.count - LEAVES + 1);
        map.leaves[LEAVES - 1] = (struct leaf){
            0, SIZE_MAX, "", assay__buf_text(&rest), assay__buf_text(&rest), value};
        map.count = LEAVES;
    }
    qsort(map.leaves, map.count, sizeof *map.leaves, by_path);
    find_tails(&map);
    if (map.count) divide(&map, 0, map.count, 0, (struct rect){0, 4, svg->width, svg->height - 4});
    for (size_t i = 0; map.labels && i < LABELS; i++)
        assay__buf_free(&map.labels[i]);
    free(map.labels);
    free(map.leaves);
    assay__buf_free(&rest);
}
