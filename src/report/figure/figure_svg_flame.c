/* figure_svg_flame.c - a flame graph: a row for each depth, from the bottom upwards, where a bar is
 * as wide as its share. Colours tell kinds of code apart; what is narrower than half a pixel is not
 * drawn, nor are rows beyond the first 100 above the root. */
#include "report/figure/figure_svg.h"

#include "base/text.h"
#include "explain/flame.h"

#include <stdio.h>
#include <string.h>

#define ROW 17.0
#define NARROWEST 0.5
#define ROWS_MOST 100u
#define WORDS_FROM 30.0 /* px: in a narrower bar there is no word */

enum code { NATIVE, PYTHON, GENERATED, KERNEL, THREAD, CODES };
static const char *const code_names[CODES] = {"native code", "Python", "generated code", "kernel",
                                              "threads"};
static const unsigned char code_series[CODES] = {
    [NATIVE] = 1, [PYTHON] = 2, [GENERATED] = 4, [KERNEL] = 0, [THREAD] = 7};

struct flames {
    struct assay__svg *svg;
    const struct assay__flame *flame;
    double scale;     /* px of a unit */
    uint32_t deepest; /* that is drawn */
    bool seen[CODES];
};

static enum code code_of(const struct assay__flame_node *node)
{
    if (node->depth < 2) return THREAD;
    if (!strncmp(node->name, "py::", 4)) return PYTHON;
    if (!strcmp(node->name, "[kernel]")) return KERNEL;
    return !strncmp(node->name, "[generated", 10) ? GENERATED : NATIVE;
}

/* The deepest row with a bar that is wide enough. */
static void measure(struct flames *f)
{
    for (size_t i = 0; i < f->flame->count; i++) {
        const struct assay__flame_node *node = &f->flame->nodes[i];
        if ((double)node->total * f->scale < NARROWEST || node->depth > ROWS_MOST) continue;
        if (node->depth > f->deepest) f->deepest = node->depth;
        f->seen[code_of(node)] = true;
    }
}

static void put_title(struct flames *f, const struct assay__flame_node *node)
{
    char amount[64];
    struct assay__buf text = {0};
    if (f->flame->is_time)
        snprintf(amount, sizeof amount, "%s", assay__scaled((double)node->total / 1e9, "s").text);
    else
        snprintf(amount, sizeof amount, "%lld samples", (long long)node->total);
    assay__buf_printf(&text, "%s: %s, %.2f %%", node->name, amount,
                      (double)node->total * 100 / (double)f->flame->nodes->total);
    assay__svg_title(f->svg, assay__buf_text(&text));
    assay__buf_drop(&text, f->svg->out);
}

static void put_bar(struct flames *f, const struct assay__flame_node *node, double x, double top)
{
    char class_name[32];
    double width = (double)node->total * f->scale;
    double y = top + (double)(f->deepest - node->depth) * ROW;
    size_t series = code_series[code_of(node)];
    snprintf(class_name, sizeof class_name, "fig-f %s", assay__svg_color(series));
    assay__buf_puts(f->svg->out, "<g");
    put_title(f, node);
    double inner = width > 2 ? width - 1 : width; /* a gap between neighbours */
    assay__svg_shape(f->svg, class_name, "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"/>",
                     (double[]){x, y, inner, ROW - 1});
    if (width >= WORDS_FROM)
        assay__svg_text(f->svg, x + 3, y + 12.5, assay__svg_on(series), 's', node->name, width - 6);
    assay__buf_puts(f->svg->out, "</g>\n");
}

/* Depth first, without recursion: a stack may be a thousand deep. */
static void put_bars(struct flames *f, double top)
{
    const struct assay__flame_node *nodes = f->flame->nodes;
    double x[ROWS_MOST + 2] = {0};
    x[0] = f->svg->left;
    for (uint32_t i = 0;;) {
        const struct assay__flame_node *node = &nodes[i];
        bool drawn = (double)node->total * f->scale >= NARROWEST && node->depth <= ROWS_MOST;
        if (drawn) put_bar(f, node, x[node->depth], top);
        if (drawn && node->first && node->depth < ROWS_MOST) {
            x[node->depth + 1] = x[node->depth];
            i = node->first;
            continue;
        }
        for (; i; i = nodes[i].parent) {
            x[nodes[i].depth] += (double)nodes[i].total * f->scale;
            if (nodes[i].next) break;
        }
        if (!i) return;
        i = nodes[i].next;
    }
}

static double put_key(struct flames *f)
{
    char class_name[32];
    double x = f->svg->left;
    for (unsigned i = 0; i < CODES; i++) {
        if (!f->seen[i]) continue;
        snprintf(class_name, sizeof class_name, "fig-f %s", assay__svg_color(code_series[i]));
        assay__svg_shape(f->svg, class_name, "<rect x=\"#\" y=\"3\" width=\"10\" height=\"10\"/>",
                         (double[]){x});
        assay__svg_text(f->svg, x + 14, 12, "fig-n", 's', code_names[i], 0);
        x += 28 + assay__svg_width(code_names[i]);
    }
    return 22;
}

void assay__svg_flame(struct assay__svg *svg)
{
    struct flames f = {.svg = svg, .flame = svg->figure->flame};
    svg->height = 20;
    if (!f.flame || f.flame->nodes->total <= 0) return;
    svg->left = 4;
    svg->right = svg->width - 4;
    f.scale = (svg->right - svg->left) / (double)f.flame->nodes->total;
    measure(&f);
    double top = put_key(&f);
    put_bars(&f, top);
    svg->height = top + (double)(f.deepest + 1) * ROW + 4;
}
