/* figure_svg.c - a figure as SVG 1.1: the frame around the body that figure_svg_<kind>.c draws,
 * text and style. No script, no external reference, no font file: text uses the reader's sans-serif
 * font, so its width is estimated, on the large side. Colours are CSS variables preceded by plain
 * values for viewers without variables; series also differ in shape or dash. A standalone file
 * contains the style and shows title, caption and note; on a page, the page shows these, and only
 * thinning is mentioned here. */
#include "report/figure/figure_svg.h"

#include "report/figure/palette.h"

#include "base/text.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 720.0
#define WIDTH_STRIP 1120.0 /* of one that fills a page */
#define WIDTH_LEAST 320.0
#define WIDTH_MOST 4000.0
#define LINE 16.0           /* of wrapped words */
#define TITLE_COLUMNS 300.0 /* what a title shows of a long name */

/* --- words ------------------------------------------------------------------------------------ */

static bool runs_left(uint32_t code)
{
    return (code >= 0x0590 && code <= 0x08ff) || (code >= 0xfb1d && code <= 0xfdff) ||
           (code >= 0xfe70 && code <= 0xfefc) || (code >= 0x10800 && code <= 0x10fff) ||
           (code >= 0x1e800 && code <= 0x1efff);
}

static void escape_safe(struct assay__buf *out, const char *text, size_t length)
{
    for (size_t i = 0, size; i < length; i += size) {
        uint32_t code = assay__utf8_decode(text + i, length - i, &size);
        if (code == '&')
            assay__buf_puts(out, "&amp;");
        else if (code == '<')
            assay__buf_puts(out, "&lt;");
        else if (code == '>')
            assay__buf_puts(out, "&gt;");
        else if (code == '"')
            assay__buf_puts(out, "&quot;");
        else if (code == '\'')
            assay__buf_puts(out, "&#39;");
        else if (code == ASSAY__UTF8_INVALID || (code & 0xfffe) == 0xfffe)
            assay__buf_puts(out, ASSAY__UTF8_REPLACEMENT);
        else
            assay__buf_add(out, text + i, size);
    }
}

void assay__svg_escape(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    bool isolate = false;
    assay__text_safe(&safe, text ? text : "");
    for (size_t i = 0, size; safe.data && i < safe.length && !isolate; i += size)
        isolate = runs_left(assay__utf8_decode(safe.data + i, safe.length - i, &size));
    if (isolate) assay__buf_puts(out, "\xe2\x81\xa8"); /* first strong isolate */
    escape_safe(out, assay__buf_text(&safe), safe.length);
    if (isolate) assay__buf_puts(out, "\xe2\x81\xa9"); /* pop directional isolate */
    assay__buf_drop(&safe, out);
}

void assay__svg_number(struct assay__buf *out, double value)
{
    if (!(fabs(value) < 1e7)) value = 0;
    long long tenths = llround(value * 10);
    assay__buf_printf(out, "%s%lld", tenths < 0 ? "-" : "", llabs(tenths) / 10);
    if (tenths % 10) assay__buf_printf(out, ".%lld", llabs(tenths) % 10);
}

static void put_numbers(struct assay__buf *out, const char *form, const double *numbers)
{
    for (; *form; form++)
        if (*form == '#')
            assay__svg_number(out, *numbers++);
        else
            assay__buf_putc(out, *form);
}

void assay__svg_put(struct assay__svg *svg, const char *form, const double *numbers)
{
    put_numbers(svg->out, form, numbers);
}

/* The class goes after the tag's name. */
void assay__svg_shape(struct assay__svg *svg, const char *class_name, const char *form,
                      const double *numbers)
{
    size_t tag = strcspn(form, " ");
    assay__buf_add(svg->out, form, tag);
    assay__buf_printf(svg->out, " class=\"%s\"", class_name);
    put_numbers(svg->out, form + tag, numbers);
}

/* In ems, for a wide sans-serif font (DejaVu Sans), rounded up. */
static double width_of(uint32_t code)
{
    if (code < 0x80) {
        if (strchr("ijl|.,:;'! ", (int)code)) return 0.34;
        if (strchr("frt()[]/\\-I\"", (int)code)) return 0.41;
        if (strchr("mwMW%@", (int)code)) return 0.96;
        if (code >= 'A' && code <= 'Z') return 0.72;
        return 0.63;
    }
    char one[8] = {0};
    assay__utf8_encode(code, one);
    return 0.65 * (double)assay__text_width(one);
}

double assay__svg_width(const char *text)
{
    double ems = 0;
    size_t length = strlen(text);
    for (size_t i = 0, size; i < length; i += size)
        ems += width_of(assay__utf8_decode(text + i, length - i, &size));
    return ems * ASSAY__SVG_FONT;
}

/* How many bytes at the head (or the tail) of the text take at most that width. */
static size_t fitting(const char *text, size_t length, double width, bool tail)
{
    size_t at = 0;
    while (at < length) {
        size_t from = tail ? length - at - 1 : at, size;
        while (tail && from > 0 && ((unsigned char)text[from] & 0xc0) == 0x80)
            from--;
        uint32_t code = assay__utf8_decode(text + from, length - from, &size);
        if (tail) size = length - at - from;
        width -= width_of(code) * ASSAY__SVG_FONT;
        if (width < 0) break;
        at += size;
    }
    return at;
}

bool assay__svg_cut(struct assay__buf *out, const char *text, double width)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *whole = assay__buf_text(&safe);
    bool cut = assay__svg_width(whole) > width;
    if (cut) {
        double room = fmax(0, width - 0.9 * ASSAY__SVG_FONT);
        size_t head = fitting(whole, safe.length, room / 2, false);
        size_t tail = fitting(whole + head, safe.length - head, room / 2, true);
        assay__buf_add(out, whole, head);
        assay__buf_puts(out, "…");
        assay__buf_add(out, whole + safe.length - tail, tail);
    } else {
        assay__buf_puts(out, whole);
    }
    assay__buf_drop(&safe, out);
    return cut;
}

/* <title>: the full name, unless it is absurdly long. */
static void put_title(struct assay__buf *out, const char *text, double width)
{
    struct assay__buf cut = {0};
    assay__svg_cut(&cut, text, width);
    assay__buf_puts(out, "<title>");
    assay__svg_escape(out, assay__buf_text(&cut));
    assay__buf_puts(out, "</title>");
    assay__buf_drop(&cut, out);
}

void assay__svg_title(struct assay__svg *svg, const char *title)
{
    enum { WIDTH_READ = 2000 };
    assay__buf_putc(svg->out, '>');
    put_title(svg->out, title, WIDTH_READ);
}

static void put_text(struct assay__svg *svg, double x, double y, const char *class_name,
                     char anchor, const char *text, const char *title)
{
    assay__svg_shape(svg, class_name, "<text x=\"#\" y=\"#\"", (double[]){x, y});
    if (anchor != 's')
        assay__buf_printf(svg->out, " text-anchor=\"%s\"", anchor == 'm' ? "middle" : "end");
    assay__buf_putc(svg->out, '>');
    assay__svg_escape(svg->out, text);
    if (title) put_title(svg->out, title, TITLE_COLUMNS * 0.63 * ASSAY__SVG_FONT);
    assay__buf_puts(svg->out, "</text>\n");
}

void assay__svg_text(struct assay__svg *svg, double x, double y, const char *class_name,
                     char anchor, const char *text, double room)
{
    struct assay__buf cut = {0};
    bool is_cut = assay__svg_cut(&cut, text, room > 0 ? room : 1e9);
    put_text(svg, x, y, class_name, anchor, assay__buf_text(&cut), is_cut ? text : NULL);
    assay__buf_drop(&cut, svg->out);
}

void assay__svg_label(struct assay__svg *svg, double x, double y, const char *class_name,
                      char anchor, const char *label, const char *whole)
{
    put_text(svg, x, y, class_name, anchor, label, strcmp(label, whole) ? whole : NULL);
}

bool assay__svg_take(struct assay__svg *svg, double x, double y, double width, double height)
{
    if (svg->box_count == ASSAY__SVG_BOXES) return false;
    for (size_t i = 0; i < svg->box_count; i++) {
        const struct assay__svg_box *box = &svg->boxes[i];
        if (x < box->x + box->width && box->x < x + width && y < box->y + box->height &&
            box->y < y + height)
            return false;
    }
    svg->boxes[svg->box_count++] = (struct assay__svg_box){x, y, width, height};
    return true;
}

void assay__svg_layer(struct assay__svg *svg, const struct assay__figure_series *series,
                      size_t index)
{
    if (!svg->page || !series->layers || series->layers[index] < 0) return;
    assay__buf_printf(svg->out, " data-l=\"%d\"", series->layers[index]);
}

const char *assay__svg_color(size_t index)
{
    static const char *const colors[ASSAY__SVG_COLORS] = {"fig-s0", "fig-s1", "fig-s2", "fig-s3",
                                                          "fig-s4", "fig-s5", "fig-s6", "fig-s7"};
    return colors[index % ASSAY__SVG_COLORS];
}

const char *assay__svg_on(size_t index)
{
    static const char *const classes[ASSAY__SVG_COLORS] = {"fig-on-s0", "fig-on-s1", "fig-on-s2",
                                                           "fig-on-s3", "fig-on-s4", "fig-on-s5",
                                                           "fig-on-s6", "fig-on-s7"};
    return classes[index % ASSAY__SVG_COLORS];
}

const char *assay__svg_share(double share)
{
    static const char *const classes[ASSAY__PALETTE_SCALE + 1] = {
        "fig-f fig-faint", "fig-f fig-r0", "fig-f fig-r1", "fig-f fig-r2", "fig-f fig-r3",
        "fig-f fig-r4",    "fig-f fig-r5", "fig-f fig-r6", "fig-f fig-r7"};
    return classes[assay__palette_bin(share) + 1];
}

/* The series' symbol in the legend: a block, a dashed line, or its marker. */
static void put_key(struct assay__svg *svg, double x, double y, size_t index)
{
    const struct assay__figure_series *series = &svg->figure->series[index];
    enum assay__figure_kind kind = svg->figure->kind;
    const char *color = series->faint && kind != ASSAY__FIGURE_BARS ? "fig-faint"
                                                                    : assay__svg_color(index);
    char classes[48];
    if (kind == ASSAY__FIGURE_BARS || kind == ASSAY__FIGURE_TREEMAP ||
        kind == ASSAY__FIGURE_BLOCKS || kind == ASSAY__FIGURE_HISTOGRAM) {
        snprintf(classes, sizeof classes, "fig-f %s", color);
        assay__svg_shape(svg, classes, "<rect x=\"#\" y=\"#\" width=\"10\" height=\"10\"/>",
                         (double[]){x, y - 9});
    } else if (kind == ASSAY__FIGURE_LINES || series->joined) {
        if (series->joined && series->faint)
            snprintf(classes, sizeof classes, "fig-k fig-tie %s", color);
        else
            snprintf(classes, sizeof classes, "fig-k fig-d%zu %s", index % 4, color);
        bool tie = series->joined && series->faint;
        assay__svg_shape(svg, classes, tie ? "<path d=\"M# #h6\"/>" : "<path d=\"M# #h18\"/>",
                         (double[]){tie ? x : x - 6, y - 4});
    } else {
        assay__svg_marker(svg, x + 5, y - 4, index, series->faint ? ASSAY__POINT_FAINT : 0,
                          SIZE_MAX, NULL);
    }
}

/* The text of legend entry i; NULL: none. After the series come the spans, if their names are not
 * in the plot. */
static const char *entry(const struct assay__figure *figure, size_t i)
{
    const struct assay__figure_series *series = &figure->series[i];
    const char *name = NULL;
    if (i >= figure->series_count)
        name = figure->spans[i - figure->series_count].name;
    else if (series->count)
        name = series->name;
    return name && *name ? name : NULL;
}

/* "of its roof 0 % ▇▇▇▇▇▇▇▇ 100 %": the meaning of the colours of marks. Returns its height. */
static double put_scale(struct assay__svg *svg, double x, double y)
{
    static const char before[] = "share of what the device can do: 0";
    bool any = false;
    for (size_t i = 0; i < svg->figure->series_count; i++)
        any |= svg->figure->series[i].shares != NULL;
    if (!any) return 0;
    assay__svg_text(svg, x + 4, y + 12, "fig-n", 's', before, 0);
    double at = x + 10 + assay__svg_width(before);
    for (int i = 0; i < ASSAY__PALETTE_SCALE; i++, at += 15)
        assay__svg_shape(svg, assay__svg_share((i + 0.5) / ASSAY__PALETTE_SCALE),
                         "<rect x=\"#\" y=\"#\" width=\"14\" height=\"10\"/>\n",
                         (double[]){at, y + 3});
    assay__svg_text(svg, at + 4, y + 12, "fig-n", 's', "100 %", 0);
    return 22;
}

double assay__svg_legend(struct assay__svg *svg, double x, double y)
{
    const struct assay__figure *figure = svg->figure;
    double scale = put_scale(svg, x, y);
    y += scale;
    size_t named = 0, spans = figure->kind == ASSAY__FIGURE_LINES ? 0 : figure->span_count;
    double at = x, line = y + 12;
    for (size_t i = 0; i < figure->series_count + spans; i++)
        named += entry(figure, i) != NULL;
    if (named < 2 || svg->direct) return scale;
    for (size_t i = 0; i < figure->series_count + spans; i++) {
        const char *name = entry(figure, i);
        if (!name) continue;
        struct assay__buf safe = {0};
        assay__svg_cut(&safe, name, 220);
        double width = assay__svg_width(assay__buf_text(&safe)) + 38;
        if (at > x && at + width > svg->width) at = x, line += LINE + 2;
        if (i < figure->series_count)
            put_key(svg, at + 8, line, i);
        else
            assay__svg_shape(svg, "fig-u", "<rect x=\"#\" y=\"#\" width=\"10\" height=\"10\"/>",
                             (double[]){at + 8, line - 9});
        assay__svg_text(svg, at + 24, line, "fig-t", 's', name, 220);
        at += width;
        assay__buf_free(&safe);
    }
    return scale + line - y + 10;
}

/* --- the frame -------------------------------------------------------------------------------- */

/* Shapes and words; colours are the palette's. */
static const char shapes_css[] =
    ".fig{font:12px Arial,Helvetica,'Liberation Sans',sans-serif;max-width:100%;height:auto}\n"
    ".fig text{fill:#1b1f24;fill:var(--fig-ink);unicode-bidi:isolate}\n"
    ".fig .fig-h{font-size:15px;font-weight:600}\n"
    ".fig .fig-n{fill:#57606a;fill:var(--fig-dim)}\n"
    ".fig .fig-b{font-weight:600}\n"
    ".fig .fig-q{stroke:#fff;stroke:var(--fig-paper);stroke-width:3;paint-order:stroke}\n"
    ".fig .fig-w{fill:#fff;fill:var(--fig-paper)}\n"
    ".fig .fig-p{fill:#fff;fill:var(--fig-paper)}\n"
    ".fig .fig-g{stroke:#e1e4e8;stroke:var(--fig-grid);fill:none}\n"
    ".fig .fig-a{stroke:#8c959f;stroke:var(--fig-axis);fill:none}\n"
    ".fig .fig-m{stroke:#57606a;stroke:var(--fig-dim);fill:none;stroke-dasharray:3 3}\n"
    ".fig .fig-i{stroke:#1b1f24;stroke:var(--fig-ink);fill:none}\n"
    ".fig .fig-v{fill:#57606a;fill:var(--fig-dim);fill-opacity:.1}\n"
    ".fig .fig-u{fill:#57606a;fill:var(--fig-dim);fill-opacity:.2}\n"
    ".fig .fig-f{fill:currentColor}\n"
    ".fig .fig-ground{fill:#e1e4e8;fill:var(--fig-grid)}\n"
    ".fig .fig-x40{font-size:40px;font-weight:650}.fig .fig-x32{font-size:32px}"
    ".fig .fig-x28{font-size:28px;font-weight:650}.fig .fig-x20{font-size:20px}"
    ".fig .fig-x18{font-size:18px}\n"
    ".fig .fig-k{stroke:currentColor;stroke-width:1.8;fill:none;stroke-linejoin:round}\n"
    ".fig .fig-dots .fig-f{fill-opacity:.8;stroke:#fff;stroke:var(--fig-paper);"
    "stroke-width:.6}\n"
    ".fig .fig-k3{stroke-width:3}.fig .fig-k4{stroke-width:4}\n"
    ".fig .fig-o{stroke:currentColor;stroke-width:1.6;fill:#fff;fill:var(--fig-paper)}\n"
    ".fig .fig-e{stroke:currentColor;stroke-width:1;fill:none}\n"
    ".fig .fig-r{fill:currentColor;fill-opacity:.22}\n"
    ".fig .fig-x{stroke:#aab2bb;stroke:var(--fig-wire);fill:none}\n"
    ".fig .fig-y{fill:#57606a;fill:var(--fig-dim);fill-opacity:.05;stroke:#8c959f;"
    "stroke:var(--fig-axis);stroke-opacity:.6}\n"
    ".fig .fig-c{stroke:#fff;stroke:var(--fig-paper);stroke-width:1}\n"
    ".fig .fig-d1{stroke-dasharray:7 3}.fig .fig-d2{stroke-dasharray:2 3}"
    ".fig .fig-d3{stroke-dasharray:9 3 2 3}\n"
    ".fig .fig-k2{stroke-width:2}.fig .fig-tie{stroke-width:14;stroke-opacity:.3;"
    "stroke-linecap:round}\n"
    ".fig .fig-cut{stroke:#fff;stroke:var(--fig-paper);stroke-width:2;fill:none}\n"
    ".fig .fig-faint{color:#8c959f;color:var(--fig-axis)}\n"
    ".fig-small{display:inline-block;vertical-align:top;width:32%;margin-right:1%}\n"
    ".pair .fig-small{width:48%}\n"
    ".fig-small figcaption{font-size:.8125rem}\n"
    "@media (max-width:60rem){.fig-small,.pair .fig-small{width:auto;display:block}}\n"
    ".fig text.fig-fault{fill:#b3001b;fill:var(--fig-fault)}\n";

void assay__figure_css(struct assay__buf *out)
{
    assay__palette_css(out, true);
    assay__buf_puts(out, shapes_css);
}

static void draw_body(struct assay__svg *svg)
{
    switch (svg->figure->kind) {
    case ASSAY__FIGURE_BARS: assay__svg_bars(svg); return;
    case ASSAY__FIGURE_TREEMAP: assay__svg_treemap(svg); return;
    case ASSAY__FIGURE_ROOFLINE: assay__svg_roofline(svg); return;
    case ASSAY__FIGURE_GRAPH: assay__svg_graph(svg); return;
    case ASSAY__FIGURE_CARD: assay__svg_card(svg); return;
    case ASSAY__FIGURE_BANDS: assay__svg_bands(svg); return;
    case ASSAY__FIGURE_BLOCKS: assay__svg_blocks(svg); return;
    case ASSAY__FIGURE_WATERFALL: assay__svg_waterfall(svg); return;
    case ASSAY__FIGURE_HEAT: assay__svg_heat(svg); return;
    case ASSAY__FIGURE_SPREAD: assay__svg_spread(svg); return;
    case ASSAY__FIGURE_ALIGNED: assay__svg_aligned(svg); return;
    case ASSAY__FIGURE_STRIP: assay__svg_strip(svg); return;
    case ASSAY__FIGURE_TIMELINE: assay__svg_timeline(svg); return;
    case ASSAY__FIGURE_FLAME: assay__svg_flame(svg); return;
    case ASSAY__FIGURE_LINES:
    case ASSAY__FIGURE_SCATTER:
    case ASSAY__FIGURE_HISTOGRAM: assay__svg_plot(svg); return;
    }
}

/* Text wrapped to the drawing's width; returns its height. */
static double put_words(struct assay__svg *svg, double y, const char *class_name, const char *text)
{
    struct assay__buf line = {0};
    double height = 0;
    for (const char *at = text; *at;) {
        size_t word = strcspn(at, " "), before = line.length;
        if (before) assay__buf_putc(&line, ' ');
        assay__buf_add(&line, at, word);
        if (before && assay__svg_width(assay__buf_text(&line)) > svg->width - 8) {
            line.data[before] = 0;
            height += LINE;
            assay__svg_text(svg, 4, y + height - 4, class_name, 's', line.data, 0);
            assay__buf_clear(&line);
            continue;
        }
        at += word;
        at += strspn(at, " ");
    }
    if (line.length) {
        height += LINE;
        assay__svg_text(svg, 4, y + height - 4, class_name, 's', line.data, svg->width - 8);
    }
    assay__buf_drop(&line, svg->out);
    return height;
}

static double put_notes(struct assay__svg *svg, double y, bool whole)
{
    const struct assay__figure *figure = svg->figure;
    double begin = y;
    struct assay__buf thinned = {0};
    y += 4;
    if (whole && figure->caption && *figure->caption)
        y += put_words(svg, y, "fig-n", figure->caption);
    if (whole && figure->note && *figure->note) y += put_words(svg, y, "fig-n", figure->note);
    if (svg->drawn_of) {
        assay__buf_printf(
            &thinned,
            figure->kind == ASSAY__FIGURE_BANDS
                ? "%s positions: each pixel column shows the one with the largest sum."
                : "%s points: each pixel column shows the min and max of those in it.",
            assay__scaled((double)svg->drawn_of, "count").text);
        y += put_words(svg, y, "fig-n", assay__buf_text(&thinned));
    }
    assay__buf_free(&thinned);
    return y - begin + 4;
}

/* Everything of one figure at its own origin; returns its height. */
static double draw_content(struct assay__buf *out, const struct assay__figure *figure, double width,
                           double height, bool whole)
{
    struct assay__buf body = {0};
    struct assay__svg *svg = calloc(1, sizeof *svg);
    if (!svg) {
        out->failed = true;
        return 0;
    }
    *svg = (struct assay__svg){
        .out = &body, .figure = figure, .width = width, .height = height, .page = !whole};
    draw_body(svg);
    bool card = figure->kind == ASSAY__FIGURE_CARD; /* it says everything itself */
    double top = 0, below = svg->height;
    double notes = card ? 0 : put_notes(svg, below, whole);
    svg->out = out;
    if (whole && !card && figure->title && *figure->title) {
        assay__svg_text(svg, 4, 18, "fig-h", 's', figure->title, width - 60);
        top += 28;
    }
    top += assay__svg_legend(svg, 0, top);
    assay__svg_put(svg, top > 0 ? "<g transform=\"translate(0 #)\">\n" : "<g>\n", &top);
    assay__svg_tightened(out, assay__buf_text(&body));
    assay__buf_puts(out, "</g>\n");
    if (body.failed) out->failed = true;
    double total = top + below + notes;
    assay__buf_free(&body);
    free(svg);
    return total;
}

static void open_svg(struct assay__buf *out, double width, double height, bool standalone)
{
    if (standalone) assay__buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put_numbers(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fig\" viewBox=\"0 0 # #\" "
                "width=\"#\" height=\"#\"",
                (double[]){width, ceil(height), width, ceil(height)});
}

static void put_alternative(struct assay__buf *out, const struct assay__figure *figure,
                            const char *id)
{
    bool named = id && *id;
    const char *texts[] = {figure->title, figure->description};
    static const char *const tags[] = {"title", "desc"};
    for (int i = 0; i < 2; i++) {
        assay__buf_printf(out, "<%s", tags[i]);
        if (named) {
            assay__buf_puts(out, " id=\"");
            assay__svg_escape(out, id);
            assay__buf_printf(out, "-%s\"", tags[i]);
        }
        assay__buf_putc(out, '>');
        assay__svg_escape(out, texts[i]);
        assay__buf_printf(out, "</%s>\n", tags[i]);
    }
}

/* On a page, a figure is one tab stop. */
static void put_role(struct assay__buf *out, const char *id, bool standalone)
{
    assay__buf_puts(out, standalone ? " role=\"img\"" : " role=\"img\" tabindex=\"0\"");
    if (!id || !*id) return;
    assay__buf_puts(out, " aria-labelledby=\"");
    assay__svg_escape(out, id);
    assay__buf_puts(out, "-title ");
    assay__svg_escape(out, id);
    assay__buf_puts(out, "-desc\"");
}

/* A card looks the same wherever it is posted. */
static void put_style(struct assay__buf *out, enum assay__figure_kind kind)
{
    struct assay__buf css = {0};
    assay__buf_puts(out, "<style>\n");
    assay__palette_css(&css, kind != ASSAY__FIGURE_CARD);
    assay__buf_puts(&css, shapes_css);
    escape_safe(out, assay__buf_text(&css), css.length);
    assay__buf_drop(&css, out);
    assay__buf_puts(out, "</style>\n<rect class=\"fig-p\" width=\"100%\" height=\"100%\"/>\n");
}

static double width_given(const struct assay__figure *figure, double width)
{
    if (figure->width > 0) width = figure->width;
    if (!(width > 0)) return figure->kind == ASSAY__FIGURE_STRIP ? WIDTH_STRIP : WIDTH;
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

void assay__figure_svg(struct assay__buf *out, const struct assay__figure *figure,
                       const struct assay__svg_options *options)
{
    struct assay__buf content = {0};
    bool standalone = options && options->standalone;
    double width = width_given(figure, options ? options->width : 0);
    double height = draw_content(&content, figure, width, options ? options->height : 0,
                                 standalone);
    open_svg(out, width, height, standalone);
    put_role(out, options ? options->id : NULL, standalone);
    assay__buf_puts(out, ">\n");
    put_alternative(out, figure, options ? options->id : NULL);
    if (standalone) put_style(out, figure->kind);
    assay__buf_puts(out, assay__buf_text(&content));
    assay__buf_puts(out, "</svg>\n");
    assay__buf_drop(&content, out);
}

void assay__figures_svg(struct assay__buf *out, const struct assay__figure *figures, size_t count)
{
    struct assay__buf all = {0};
    double height = 8, widest = WIDTH;
    if (count == 1) {
        assay__figure_svg(out, figures, &(struct assay__svg_options){.standalone = true});
        return;
    }
    for (size_t i = 0; i < count; i++) {
        put_numbers(&all, "<g role=\"img\" transform=\"translate(0 #)\">\n", &height);
        put_alternative(&all, &figures[i], NULL);
        double width = width_given(&figures[i], 0);
        height += draw_content(&all, &figures[i], width, 0, true) + 16;
        if (width > widest) widest = width;
        assay__buf_puts(&all, "</g>\n");
    }
    open_svg(out, widest, height, true);
    assay__buf_puts(out, ">\n<title>");
    assay__svg_escape(out, count ? figures[0].name : "");
    assay__buf_puts(out, "</title>\n");
    put_style(out, figures[0].kind);
    assay__buf_puts(out, assay__buf_text(&all));
    assay__buf_puts(out, "</svg>\n");
    assay__buf_drop(&all, out);
}
