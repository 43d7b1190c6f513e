/* figure_svg_aligned.c - the layers of several runs as strips below each other, in order of
 * execution: matched layers begin at the same position and width is time, so a faster layer leaves
 * a gap. A layer is labelled with its name if that fits, else with its operator. The first run is
 * grey; the others are coloured by how their time compares with it, on a scale with seven steps
 * around "the same". Layers that are too narrow to see are drawn together with neighbours of their
 * step. */
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>

#define STRIP 30.0
#define LABEL 16.0
#define GAP 6.0
#define SLIVER 0.8 /* pixels: narrower ones are joined */

enum { ALONE = ASSAY__TONES }; /* a layer that only one run has: no step of the scale */

/* A piece of the strip while narrow neighbours are joined. */
struct stretch {
    double from, to;
    int step;
    size_t first, count;
};

static void put_stretch(struct assay__svg *svg, const struct assay__figure_series *s,
                        const struct stretch *part, double y)
{
    char color[] = "fig-f fig-x0", words[] = "fig-on-x0";
    struct assay__buf title = {0};
    double width = fmax(0.3, part->to - part->from);
    const char *name = s->names[part->first];
    color[sizeof color - 2] = words[sizeof words - 2] = (char)('0' + part->step);
    bool alone = part->step == ALONE;
    assay__svg_shape(svg, alone ? "fig-f fig-s7" : color,
                     "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
                     (double[]){part->from, y, width > 2 ? width - 0.5 : width, STRIP});
    if (part->count == 1) assay__svg_layer(svg, s, part->first);
    if (part->count > 1)
        assay__buf_printf(&title, "%zu short layers", part->count);
    else
        assay__svg_cut(&title, name, 2000);
    if (part->count == 1) {
        double own = s->y[part->first], first = s->low[part->first];
        assay__buf_printf(&title, ": %s", assay__scaled(own, "s").text);
        if (own != first && isfinite(first))
            assay__buf_printf(&title, ", was %s", assay__scaled(first, "s").text);
    }
    assay__svg_title(svg, assay__buf_text(&title));
    assay__buf_puts(svg->out, "</rect>\n");
    const char *label = assay__svg_width(name) < width - 6 ? name : s->groups[part->first];
    if (part->count == 1 && assay__svg_width(label) < width - 6)
        assay__svg_text(svg, part->from + width / 2, y + STRIP / 2 + 4, alone ? "fig-on-s7" : words,
                        'm', label, 0);
    assay__buf_drop(&title, svg->out);
}

static void put_strip(struct assay__svg *svg, const struct assay__figure_series *s, double scale,
                      double y)
{
    struct stretch part = {0};
    for (size_t i = 0; i < s->count; i++) {
        double from = svg->left + s->x[i] * scale, to = from + s->y[i] * scale;
        int step = isinf(s->tone[i]) ? ALONE : assay__tone_step(s->tone[i]);
        if (!isfinite(from) || !isfinite(to)) continue;
        bool joins = part.count && to - from < SLIVER && part.to - part.from < SLIVER * 4 &&
                     step == part.step && from - part.to < SLIVER;
        if (!joins && part.count) put_stretch(svg, s, &part, y);
        if (!joins) part = (struct stretch){from, to, step, i, 0};
        part.to = to;
        part.count++;
    }
    if (part.count) put_stretch(svg, s, &part, y);
}

/* The steps of the scale with their labels. */
static double put_scale(struct assay__svg *svg, double y)
{
    double x = svg->left;
    for (int step = 0; step <= ASSAY__TONES; step++) {
        const char *words = step < ASSAY__TONES ? assay__tone_names[step] : "only in this run";
        double width = assay__svg_width(words) + 28;
        char color[] = "fig-f fig-x0";
        if (x > svg->left && x + width > svg->right) x = svg->left, y += LABEL + 2;
        color[sizeof color - 2] = (char)('0' + step);
        assay__svg_shape(svg, step < ASSAY__TONES ? color : "fig-f fig-s7",
                         "<rect x=\"#\" y=\"#\" width=\"12\" height=\"12\"/>\n", (double[]){x, y});
        assay__svg_text(svg, x + 17, y + 10, "fig-n", 's', words, 0);
        x += width;
    }
    return y + LABEL;
}

void assay__svg_aligned(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    double end = 0, y = 0;
    svg->left = 2;
    svg->right = svg->width - 2;
    svg->direct = true; /* strips have their names */
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].count; i++)
            if (isfinite(figure->series[s].x[i] + figure->series[s].y[i]))
                end = fmax(end, figure->series[s].x[i] + figure->series[s].y[i]);
    svg->height = 20;
    if (!(end > 0)) return;
    for (size_t s = 0; s < figure->series_count; s++) {
        assay__svg_text(svg, svg->left, y + 12, s ? "fig-t" : "fig-n", 's', figure->series[s].name,
                        svg->width - 4);
        put_strip(svg, &figure->series[s], (svg->right - svg->left) / end, y + LABEL);
        y += LABEL + STRIP + GAP;
    }
    svg->height = put_scale(svg, y + 2) + 4;
}
