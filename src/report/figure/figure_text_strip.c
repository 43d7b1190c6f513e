/* figure_text_strip.c - one inference as text: a row with the stages of the model and a row with
 * its layers, both as wide as the page, and a line that explains them.
 *
 *   │layer1 15 % │layer2 24 %         │layer3 35 %                  │layer4 22 %  │
 *   ▆▆▇▆▇▆▆▇▆▇▆▆▆▆▅▅▅▅▅▆▆▆▇▇▆▆▆▇▇▆▅▅▅▅▅▆▆▆▇▇▆▆▆▇▇▆▆▆▇▇▆▆▆▇▇▆▃▃▃▅▅▃▃▃▅▅▅▆▆▅▅▅▆▆▁
 *
 * A column shows the layer with most of its time; its height, and with colours its colour, is the
 * share of the layer's roof. Without roofs the colour, or else a letter, is the operator. */
#include "report/figure/figure_text.h"

#include "base/text.h"
#include "report/figure/palette.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
#define LABELS 64 /* stages that have words */

struct rows {
    struct assay__page *page;
    const struct assay__figure_strip *strip;
    int columns;
    const char *said[LABELS]; /* labels that are written */
    size_t said_count;
};

static int column_of(const struct rows *r, double seconds)
{
    return (int)lround(seconds / r->strip->whole_s * r->columns);
}

static const struct assay__palette_color *color_of(const struct rows *r,
                                                   const struct assay__strip_part *part)
{
    int bin = r->strip->by_operator ? part->series : assay__palette_bin(part->share);
    if (bin < 0) return &assay__palette_inks[4]; /* grey */
    return r->strip->by_operator ? &assay__palette_series[bin] : &assay__palette_scale[bin];
}

/* Text is drawn on its colour; bars are drawn in it. */
static void put_ground(struct rows *r, const struct assay__palette_color *color)
{
    if (r->page->color)
        assay__buf_printf(r->page->out, "\033[48;5;%d;38;5;%dm", color->terminal,
                          color->terminal_on);
}

static void put_color(struct rows *r, const struct assay__palette_color *color)
{
    if (r->strip->by_operator)
        put_ground(r, color);
    else if (r->page->color)
        assay__buf_printf(r->page->out, "\033[38;5;%dm", color->terminal);
}

/* --- stages ----------------------------------------------------------------------------------- */

static bool is_said(const struct rows *r, const char *label)
{
    for (size_t i = 0; i < r->said_count; i++)
        if (strcmp(r->said[i], label) == 0) return true;
    return r->said_count == LABELS;
}

/* "layer1 15 %", else "layer1", else nothing; in `room` columns. */
static void put_stage(struct rows *r, const struct assay__strip_part *part, int room)
{
    struct assay__buf text = {0}, safe = {0};
    assay__text_safe(&safe, part->label);
    assay__buf_printf(&text, "%s %.0f %%", assay__buf_text(&safe),
                      part->time_s / r->strip->whole_s * 100);
    bool named = *part->label && !is_said(r, part->label);
    const char *shown = named && (int)assay__text_width(assay__buf_text(&text)) <= room
                            ? assay__buf_text(&text)
                        : named && (int)assay__text_width(assay__buf_text(&safe)) <= room
                            ? assay__buf_text(&safe)
                            : "";
    if (*shown) r->said[r->said_count++] = part->label;
    put_ground(r, color_of(r, part));
    assay__buf_puts(r->page->out, shown);
    assay__buf_repeat(r->page->out, " ", (size_t)room - assay__text_width(shown));
    assay__page_style(r->page, ASSAY__STYLE_PLAIN);
    assay__buf_drop(&text, r->page->out);
    assay__buf_drop(&safe, r->page->out);
}

static void put_edge(struct rows *r)
{
    assay__page_style(r->page, ASSAY__STYLE_DIM);
    assay__buf_puts(r->page->out, r->page->ascii ? "|" : "│");
    assay__page_style(r->page, ASSAY__STYLE_PLAIN);
}

static void put_stages(struct rows *r)
{
    const struct assay__strip_part *parts = r->strip->blocks[0];
    int at = 0;
    assay__buf_repeat(r->page->out, " ", INDENT);
    for (size_t i = 0; i < r->strip->block_counts[0]; i++) {
        int end = column_of(r, parts[i].begin_s + parts[i].time_s);
        if (end <= at) continue; /* its column is another's */
        put_edge(r);
        put_stage(r, &parts[i], end - at - 1);
        at = end;
    }
    put_edge(r);
    assay__buf_putc(r->page->out, '\n');
}

/* --- layers ----------------------------------------------------------------------------------- */

/* A letter for an operator, a bar as high as the share. */
static void put_glyph(struct rows *r, const struct assay__strip_part *part)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char plain[] = "_.:-=+*#";
    int bin = assay__palette_bin(part->share);
    if (r->strip->by_operator)
        assay__buf_putc(r->page->out, part->series < 0 ? '.' : (char)('A' + part->series));
    else if (bin < 0)
        assay__buf_puts(r->page->out, r->page->ascii ? " " : "·");
    else if (r->page->ascii)
        assay__buf_putc(r->page->out, plain[bin]);
    else
        assay__buf_puts(r->page->out, heights[bin]);
}

/* The layer with most of a column's time; *at: the first that may extend into it. */
static const struct assay__strip_part *longest_in(const struct rows *r, int column, size_t *at)
{
    double width = r->strip->whole_s / r->columns, begin = column * width, end = begin + width;
    const struct assay__strip_part *parts = r->strip->layers, *longest = NULL;
    double most = -1;
    while (*at + 1 < r->strip->layer_count && parts[*at].begin_s + parts[*at].time_s <= begin)
        ++*at;
    for (size_t i = *at; i < r->strip->layer_count && parts[i].begin_s < end; i++) {
        double inside = fmin(end, parts[i].begin_s + parts[i].time_s) -
                        fmax(begin, parts[i].begin_s);
        if (inside > most) most = inside, longest = &parts[i];
    }
    return longest ? longest : &parts[*at];
}

static void put_layers(struct rows *r)
{
    const struct assay__palette_color *color = NULL;
    size_t at = 0;
    assay__buf_repeat(r->page->out, " ", INDENT);
    for (int i = 0; i < r->columns; i++) {
        const struct assay__strip_part *part = longest_in(r, i, &at);
        if (color_of(r, part) != color) put_color(r, color = color_of(r, part));
        put_glyph(r, part);
    }
    assay__page_style(r->page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(r->page->out, '\n');
}

/* --- how to read them ------------------------------------------------------------------------- */

/* "A Conv  B Gemm", or each next to its colour; as many as fit on a line. */
static void put_operators(struct rows *r)
{
    int used = 0;
    assay__buf_repeat(r->page->out, " ", INDENT);
    for (size_t i = 0; i < r->strip->operator_count; i++) {
        struct assay__strip_part part = {.series = (int)i, .share = NAN};
        struct assay__buf name = {0};
        assay__text_safe(&name, r->strip->operators[i]);
        int width = (int)assay__text_width(assay__buf_text(&name)) + 4;
        if (used + width > r->columns) {
            assay__buf_free(&name);
            break;
        }
        if (used) assay__buf_puts(r->page->out, "  ");
        put_color(r, color_of(r, &part));
        put_glyph(r, &part);
        assay__page_style(r->page, ASSAY__STYLE_PLAIN);
        assay__buf_printf(r->page->out, " %s", assay__buf_text(&name));
        used += width;
        assay__buf_drop(&name, r->page->out);
    }
    assay__buf_putc(r->page->out, '\n');
}

void assay__text_strip(struct assay__page *page, const struct assay__figure *figure)
{
    const struct assay__figure_strip *strip = figure->strip;
    struct rows rows = {.page = page, .strip = strip, .columns = page->columns - 2 * INDENT};
    if (!strip || !(strip->whole_s > 0) || !strip->layer_count) return;
    if (strip->level_count) put_stages(&rows);
    put_layers(&rows);
    if (strip->by_operator) put_operators(&rows);
    assay__page_print(page, ASSAY__STYLE_DIM, "  ", "%s: per-layer times laid end to end%s",
                      assay__scaled(strip->whole_s, "s").text,
                      strip->by_operator ? "" : "; height: share of the layer's roof");
}
