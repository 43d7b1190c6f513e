/* figure_svg_card.c - a trial as a picture of 1200 x 630, the size that forges and social networks
 * show with a link: model and target, the verdict, the key numbers, the strip, the machine. Always
 * in light colours. */
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEIGHT 630.0
#define MARGIN 40.0
#define ROOM (ASSAY__CARD_WIDTH - 2 * MARGIN)
#define STRIP_SCALE 1.25
#define FOOT (HEIGHT - 28)

/* Widths are estimated for the regular font of figures, on the large side; less so for large
 * text. */
static double width_at(const char *text, double size)
{
    return assay__svg_width(text) * 0.93 * size / ASSAY__SVG_FONT;
}

/* Text of that size, cut to the available width; returns its width. */
static double put(struct assay__svg *svg, double x, double y, const char *class_name, double size,
                  const char *text, double room)
{
    struct assay__buf cut = {0};
    assay__svg_cut(&cut, text, room / 0.93 * ASSAY__SVG_FONT / size);
    double width = width_at(assay__buf_text(&cut), size);
    assay__svg_text(svg, x, y, class_name, 's', assay__buf_text(&cut), 0);
    assay__buf_drop(&cut, svg->out);
    return width;
}

/* Model, target, and at the right the quality mark. */
static void put_head(struct assay__svg *svg, const struct assay__figure_card *card)
{
    bool good = card->trust == ASSAY__TRUST_STABLE, bad = card->trust >= ASSAY__TRUST_LAYERS;
    double chip = width_at(card->chip, 20) + 24, x = MARGIN + ROOM - chip;
    double title = 1.15 * put(svg, MARGIN, 66, "fig-x40", 40, card->title, ROOM * 0.4); /* bold */
    assay__svg_shape(svg,
                     good  ? "fig-f fig-r6"
                     : bad ? "fig-f fig-fault"
                           : "fig-f fig-faint",
                     "<rect x=\"#\" y=\"36\" width=\"#\" height=\"38\" rx=\"19\"/>\n",
                     (double[]){x, chip});
    assay__svg_text(svg, x + chip / 2, 62,
                    good  ? "fig-x20 fig-on-r6"
                    : bad ? "fig-x20 fig-on-fault"
                          : "fig-x20 fig-on-axis",
                    'm', card->chip, 0);
    put(svg, MARGIN + title + 20, 64, "fig-x20 fig-n", 20, card->target, x - MARGIN - title - 40);
}

/* The verdict in lines; returns where the next part begins. */
static double put_verdict(struct assay__svg *svg, const char *text, double y)
{
    struct assay__buf line = {0};
    for (const char *at = text; *at;) {
        size_t word = strcspn(at, " "), before = line.length;
        if (before) assay__buf_putc(&line, ' ');
        assay__buf_add(&line, at, word);
        if (before && width_at(assay__buf_text(&line), 32) > ROOM) {
            line.data[before] = 0;
            assay__svg_text(svg, MARGIN, y, "fig-x32", 's', line.data, 0);
            y += 42;
            assay__buf_clear(&line);
            continue;
        }
        at += word;
        at += strspn(at, " ");
    }
    if (line.length) assay__svg_text(svg, MARGIN, y, "fig-x32", 's', line.data, 0);
    assay__buf_drop(&line, svg->out);
    return y + 50;
}

/* As many numbers as fit on the line. Their width depends on the font, so each is one text. */
static void put_numbers(struct assay__svg *svg, const struct assay__figure_card *card, double y)
{
    double x = MARGIN;
    for (size_t i = 0; i < card->number_count; i++) {
        const struct assay__card_number *n = &card->numbers[i];
        double width = 1.15 * width_at(n->value, 28) + width_at(n->label, 18) + 8; /* bold */
        if (x + width > MARGIN + ROOM) break;
        assay__svg_put(svg, "<text x=\"#\" y=\"#\"><tspan class=\"fig-x28\">", (double[]){x, y});
        assay__svg_escape(svg->out, n->value);
        assay__buf_puts(svg->out, "</tspan><tspan class=\"fig-x18 fig-n\" dx=\"8\">");
        assay__svg_escape(svg->out, n->label);
        assay__buf_puts(svg->out, "</tspan></text>\n");
        x += width + 28;
    }
}

static void put_strip(struct assay__svg *svg, double y)
{
    struct assay__svg *inner = calloc(1, sizeof *inner);
    if (!inner) {
        svg->out->failed = true;
        return;
    }
    *inner = (struct assay__svg){
        .out = svg->out, .figure = svg->figure, .width = ROOM / STRIP_SCALE + 8};
    assay__svg_put(svg, "<g transform=\"translate(# #) scale(1.25)\">\n",
                   (double[]){MARGIN - 4 * STRIP_SCALE, y});
    assay__svg_strip(inner);
    assay__buf_puts(svg->out, "</g>\n");
    free(inner);
}

void assay__svg_card(struct assay__svg *svg)
{
    const struct assay__figure_card *card = svg->figure->card;
    svg->height = HEIGHT;
    if (!card) return;
    put_head(svg, card);
    double y = put_verdict(svg, card->verdict, svg->figure->strip ? 126 : 260);
    put_numbers(svg, card, y);
    if (svg->figure->strip) put_strip(svg, fmax(y + 22, 246));
    double version = width_at(card->version, 18);
    assay__svg_text(svg, MARGIN + ROOM, FOOT, "fig-x18 fig-n", 'e', card->version, 0);
    put(svg, MARGIN, FOOT, "fig-x18 fig-n", 18, card->machine, ROOM - version - 20);
}
