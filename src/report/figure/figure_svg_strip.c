/* figure_svg_strip.c - one inference: a row of stages, a row of blocks, a row of layers; below
 * them, on the same axis, the share of each layer's roof (or its rate) and the activations that are
 * alive. Neighbours thinner than a sliver are merged into one mark, with the name and colour of the
 * longest of them: at most one mark per third of a pixel, however many layers there are. Marks too
 * thin to point at are one path per colour, to keep the page small. Labels are placed where they
 * fit, and no two are equal. */
#include "report/figure/figure_svg.h"

#include "base/map.h"
#include "base/text.h"
#include "report/figure/palette.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SLIVER 0.3    /* px: thinner neighbours are merged */
#define GAP_LEAST 3   /* px: wider marks have an outline in the background colour */
#define POINT_LEAST 5 /* px: thinner ones cannot be pointed at */
#define CUT_LEAST 50  /* px: room for a name that is cut */
#define STAGE 22.0
#define BLOCK 20.0
#define LAYER 46.0
#define RATE 52.0
#define LIVE 40.0
#define SPACE 8.0

/* Thin marks of one colour. */
struct thin {
    const char *class_name;
    struct assay__buf path;
};
enum { COLORS = ASSAY__PALETTE_SERIES + ASSAY__PALETTE_SCALE + 2 };

struct drawing {
    struct assay__svg *svg;
    struct thin thin[COLORS];
    const struct assay__figure_strip *strip;
    double scale;              /* px per s */
    struct assay__map *said;   /* labels that are written */
    struct assay__buf *labels; /* what the map's keys are made of */
    size_t label_count, label_most;
};

static double x_of(const struct drawing *d, double seconds)
{
    return d->svg->left + seconds * d->scale;
}

static const char *color_of(const struct drawing *d, const struct assay__strip_part *part)
{
    static const char *const series[ASSAY__PALETTE_SERIES] = {
        "fig-f fig-s0", "fig-f fig-s1", "fig-f fig-s2", "fig-f fig-s3",
        "fig-f fig-s4", "fig-f fig-s5", "fig-f fig-s6", "fig-f fig-s7"};
    if (!d->strip->by_operator) return assay__svg_share(part->share);
    return part->series < 0 ? "fig-f fig-faint" : series[part->series];
}

/* The class of words on that colour. */
static void ink_on(const struct drawing *d, const struct assay__strip_part *part, char *out,
                   size_t size)
{
    int bin = d->strip->by_operator ? part->series : assay__palette_bin(part->share);
    if (bin < 0)
        snprintf(out, size, "fig-on-axis");
    else
        snprintf(out, size, "fig-on-%c%d", d->strip->by_operator ? 's' : 'r', bin);
}

/* --- words ------------------------------------------------------------------------------------ */

/* Writes the text if it fits and is not there yet. */
static bool put_label(struct drawing *d, double x, double y, double room, const char *class_name,
                      const char *text, const char *whole)
{
    if (!*text || assay__svg_width(text) > room || d->label_count == d->label_most) return false;
    struct assay__buf *kept = &d->labels[d->label_count];
    assay__buf_clear(kept);
    assay__text_safe(kept, text);
    if (kept->failed || assay__map_has(d->said, assay__buf_text(kept))) return false;
    if (assay__map_set(d->said, assay__buf_text(kept), 1)) d->svg->out->failed = true;
    d->label_count++;
    assay__svg_label(d->svg, x, y, class_name, 's', assay__buf_text(kept), whole);
    return true;
}

/* "layer1 4.6 ms · 15 %", else "layer1", else its name cut in the middle. */
static void put_block_label(struct drawing *d, const struct assay__strip_part *part, double x,
                            double y, double width, const char *class_name)
{
    struct assay__buf text = {0};
    double room = width - 8;
    const char *name = part->label;
    if (!*name || room < 12) return;
    assay__buf_printf(&text, "%s %s · %.0f %%", name, assay__scaled(part->time_s, "s").text,
                      part->time_s / d->strip->whole_s * 100);
    if (!put_label(d, x + 4, y, room, class_name, assay__buf_text(&text), part->name) &&
        !put_label(d, x + 4, y, room, class_name, name, part->name) && room > CUT_LEAST &&
        room > assay__svg_width(name) * 4 / 5) {
        assay__buf_clear(&text);
        assay__svg_cut(&text, name, room);
        put_label(d, x + 4, y, room, class_name, assay__buf_text(&text), part->name);
    }
    assay__buf_drop(&text, d->svg->out);
}

/* The end of its name, else its number. */
static void put_layer_label(struct drawing *d, const struct assay__strip_part *part, double x,
                            double y, double width)
{
    char words[24], number[24];
    ink_on(d, part, words, sizeof words);
    if (put_label(d, x + 4, y, width - 8, words, part->label, part->name) || part->id < 0) return;
    snprintf(number, sizeof number, "#%d", part->id);
    put_label(d, x + 3, y, width - 5, words, number, part->name);
}

static void put_title(struct drawing *d, const struct assay__strip_part *part, size_t merged)
{
    struct assay__buf title = {0};
    assay__svg_cut(&title, *part->name ? part->name : "layers without a place", 2000);
    assay__buf_printf(&title, ": %s (%.1f %%)", assay__scaled(part->time_s, "s").text,
                      part->time_s / d->strip->whole_s * 100);
    if (isfinite(part->share))
        assay__buf_printf(&title, ", %.0f %% of its roof", part->share * 100);
    if (isfinite(part->rate))
        assay__buf_printf(&title, ", %s", assay__scaled(part->rate, "FLOP/s").text);
    if (merged) assay__buf_printf(&title, "; and %zu thinner ones next to it", merged);
    assay__svg_title(d->svg, assay__buf_text(&title));
    assay__buf_drop(&title, d->svg->out);
}

/* --- rows ------------------------------------------------------------------------------------- */

struct mark {
    const struct assay__strip_part *part; /* the longest of those in it */
    size_t merged;                        /* the others */
    double x, width;
};

/* The next mark of a row: one part, or several thin ones. *at moves past it. */
static struct mark next_mark(const struct drawing *d, const struct assay__strip_part *parts,
                             size_t count, size_t *at)
{
    struct mark mark = {.part = &parts[*at], .x = x_of(d, parts[*at].begin_s)};
    for (; *at < count; ++*at) {
        const struct assay__strip_part *part = &parts[*at];
        if (part->time_s > mark.part->time_s) mark.part = part;
        mark.width = x_of(d, part->begin_s + part->time_s) - mark.x;
        mark.merged++;
        if (mark.width >= SLIVER) break;
    }
    *at += *at < count;
    mark.merged--;
    return mark;
}

/* Kept until the row ends. */
static void put_thin(struct drawing *d, const struct mark *mark, const char *class_name, double y,
                     double height)
{
    double gap = mark->width >= GAP_LEAST ? 1 : 0, width = fmax(0.1, mark->width - gap);
    size_t at = 0;
    while (at + 1 < COLORS && d->thin[at].class_name && d->thin[at].class_name != class_name)
        at++;
    d->thin[at].class_name = class_name;
    struct assay__buf *out = d->svg->out;
    d->svg->out = &d->thin[at].path;
    assay__svg_put(d->svg, "M# #h#v#h#z", (double[]){mark->x, y, width, height, -width});
    d->svg->out = out;
}

static void end_row(struct drawing *d)
{
    for (size_t i = 0; i < COLORS && d->thin[i].class_name; i++) {
        assay__buf_printf(d->svg->out, "<path class=\"%s\" d=\"%s\"/>\n", d->thin[i].class_name,
                          assay__buf_text(&d->thin[i].path));
        assay__buf_drop(&d->thin[i].path, d->svg->out);
        d->thin[i].class_name = NULL;
    }
}

static void put_mark(struct drawing *d, const struct mark *mark, const char *class_name, char of,
                     double y, double height, bool titled)
{
    struct assay__svg *svg = d->svg;
    if (mark->width < POINT_LEAST) {
        put_thin(d, mark, class_name, y, height);
        return;
    }
    double gap = titled ? 0 : 1; /* an outline around a low bar would hide it */
    assay__buf_printf(svg->out, "<rect class=\"%s%s\"", class_name, titled ? " fig-c" : "");
    if (svg->page && mark->part->id >= 0)
        assay__buf_printf(svg->out, " data-%c=\"%d\"", of, mark->part->id);
    assay__svg_put(svg, " x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
                   (double[]){mark->x, y, fmax(0.1, mark->width - gap), height});
    if (!titled) {
        assay__buf_puts(svg->out, "/>\n");
        return;
    }
    put_title(d, mark->part, mark->merged);
    assay__buf_puts(svg->out, "</rect>\n");
}

static void put_blocks(struct drawing *d, int level, double y, double height)
{
    const struct assay__strip_part *parts = d->strip->blocks[level];
    size_t count = d->strip->block_counts[level];
    bool plain = level == ASSAY__LEVEL_STAGE;
    for (size_t at = 0; at < count;) {
        char words[24] = "fig-t";
        struct mark mark = next_mark(d, parts, count, &at);
        put_mark(d, &mark, plain ? "fig-ground" : color_of(d, mark.part), 'b', y, height, true);
        if (!plain) ink_on(d, mark.part, words, sizeof words);
        put_block_label(d, mark.part, mark.x, y + height / 2 + 4, mark.width, words);
    }
    end_row(d);
}

static void put_layers(struct drawing *d, double y)
{
    const struct assay__strip_part *parts = d->strip->layers;
    for (size_t at = 0; at < d->strip->layer_count;) {
        struct mark mark = next_mark(d, parts, d->strip->layer_count, &at);
        put_mark(d, &mark, color_of(d, mark.part), 'l', y, LAYER, true);
        put_layer_label(d, mark.part, mark.x, y + LAYER / 2 + 4, mark.width);
    }
    end_row(d);
}

/* Height of a layer's bar, 0 … 1: the share of its roof, else its rate relative to the highest. */
static double height_of(const struct drawing *d, const struct assay__strip_part *part)
{
    double share = d->strip->by_operator ? part->rate / d->strip->rate_most : part->share;
    return isfinite(share) ? fmin(1, share) : (double)NAN;
}

static void put_rates(struct drawing *d, double y)
{
    const struct assay__strip_part *parts = d->strip->layers;
    struct assay__svg *svg = d->svg;
    struct assay__buf text = {0};
    assay__svg_shape(svg, "fig-m", "<path d=\"M# #H#\"/>\n",
                     (double[]){svg->left, y + 14, svg->right});
    if (!d->strip->by_operator)
        assay__buf_printf(&text, "share of its roof%s%s%s", *d->strip->roof ? " (" : "",
                          d->strip->roof, *d->strip->roof ? ")" : "");
    else
        assay__buf_printf(&text, "rate, max %s", assay__scaled(d->strip->rate_most, "FLOP/s").text);
    assay__svg_text(svg, svg->left + 2, y + 10, "fig-n", 's', assay__buf_text(&text),
                    svg->right - svg->left);
    for (size_t at = 0; at < d->strip->layer_count;) {
        struct mark mark = next_mark(d, parts, d->strip->layer_count, &at);
        double high = height_of(d, mark.part) * (RATE - 14), least = 1; /* little is not nothing */
        if (!(high >= 0)) continue;
        high = fmax(high, least);
        put_mark(d, &mark, color_of(d, mark.part), 'l', y + RATE - high, high, false);
    }
    end_row(d);
    assay__buf_drop(&text, svg->out);
}

/* A step for each layer, the highest of those that share a mark. */
static void put_live(struct drawing *d, double y)
{
    struct assay__svg *svg = d->svg;
    double base = y + LIVE, last = -1;
    struct assay__buf text = {0};
    assay__svg_put(svg, "<path class=\"fig-v\" d=\"M# #", (double[]){svg->left, base});
    for (size_t i = 0; i < d->strip->layer_count;) {
        double x = x_of(d, d->strip->layers[i].begin_s), most = 0, end = x;
        for (; i < d->strip->layer_count && (end - x < SLIVER || end == x); i++) {
            const struct assay__strip_part *part = &d->strip->layers[i];
            end = x_of(d, part->begin_s + part->time_s);
            if (part->live_bytes > most) most = part->live_bytes;
        }
        double top = base - most / d->strip->live_most * (LIVE - 12);
        if (top != last) assay__svg_put(svg, "H#V#", (double[]){x, top});
        last = top;
        if (i == d->strip->layer_count) assay__svg_put(svg, "H#", &end);
    }
    assay__svg_put(svg, "V#Z\"/>\n", &base);
    assay__buf_printf(&text, "activations alive, peak %s",
                      assay__scaled(d->strip->live_most, "B").text);
    assay__svg_text(svg, svg->right - 2, y + 9, "fig-n", 'e', assay__buf_text(&text),
                    svg->right - svg->left);
    assay__buf_drop(&text, svg->out);
}

/* --- key -------------------------------------------------------------------------------------- */

static double put_swatch(struct assay__svg *svg, double x, double y, const char *class_name,
                         double width)
{
    assay__svg_shape(svg, class_name, "<rect x=\"#\" y=\"#\" width=\"#\" height=\"10\"/>",
                     (double[]){x, y, width});
    return x + width + 3;
}

static double put_key_word(struct assay__svg *svg, double x, double y, const char *text)
{
    assay__svg_text(svg, x, y, "fig-n", 's', text, 160);
    return x + fmin(160, assay__svg_width(text)) + 6;
}

/* What the colours mean; returns the height. */
static double put_key(struct drawing *d)
{
    struct assay__svg *svg = d->svg;
    double x = svg->left, y = 3, line = 12;
    if (!d->strip->by_operator) {
        x = put_key_word(svg, x, line, "share of its roof: 0");
        for (int i = 0; i < ASSAY__PALETTE_SCALE; i++)
            x = put_swatch(svg, x, y, assay__svg_share((i + 0.5) / ASSAY__PALETTE_SCALE), 18);
        put_key_word(svg, x + 3, line, "100 %");
        return 20;
    }
    for (size_t i = 0; i < d->strip->operator_count; i++) {
        const struct assay__strip_part part = {.series = (int)i};
        double width = 22 + fmin(160, assay__svg_width(d->strip->operators[i]));
        if (x > svg->left && x + width > svg->right) x = svg->left, y += 16, line += 16;
        x = put_swatch(svg, x, y, color_of(d, &part), 10);
        x = put_key_word(svg, x + 1, line, d->strip->operators[i]) + 6;
    }
    return y + 17;
}

/* --- together --------------------------------------------------------------------------------- */

static void draw(struct drawing *d)
{
    struct assay__svg *svg = d->svg;
    double y = put_key(d);
    for (int level = 0; level < d->strip->level_count; level++) {
        double height = level == ASSAY__LEVEL_STAGE ? STAGE : BLOCK;
        put_blocks(d, level, y, height);
        y += height + 1;
    }
    put_layers(d, y);
    y += LAYER + SPACE;
    if (!d->strip->by_operator || d->strip->rate_most > 0) {
        put_rates(d, y);
        y += RATE + SPACE;
    }
    if (d->strip->live_most > 0) {
        put_live(d, y);
        y += LIVE + 2;
    }
    assay__svg_time_axis(d->svg, d->strip->whole_s, y);
    svg->height = y + 20;
}

void assay__svg_strip(struct assay__svg *svg)
{
    enum { LABELS = 512 };
    const struct assay__figure_strip *strip = svg->figure->strip;
    struct drawing d = {.svg = svg, .strip = strip, .label_most = LABELS};
    svg->left = 4, svg->right = svg->width - 4;
    svg->height = 20;
    if (!strip || !(strip->whole_s > 0)) return;
    d.scale = (svg->right - svg->left) / strip->whole_s;
    d.said = assay__map_new();
    d.labels = calloc(LABELS, sizeof *d.labels);
    if (d.said && d.labels)
        draw(&d);
    else
        svg->out->failed = true;
    for (size_t i = 0; d.labels && i < LABELS; i++)
        assay__buf_free(&d.labels[i]);
    free(d.labels);
    assay__map_free(d.said);
}
