/* inspect_memory.c - memory over the order of execution: a chart of the live bytes, who runs at
 * the peak, and the tensors that make it up. A column of the chart stands for one or several
 * nodes and shows the largest of them; "?" under a column says that a live tensor there has no
 * known size. */
#include "base/text.h"
#include "report/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 5
#define AXIS 11
#define TENSORS_SHOWN 6

struct chart {
    double *heights; /* per column; NaN unknown */
    size_t width;
    bool unknown; /* of any column */
};

/* Few nodes are drawn several columns wide, many share one. */
static bool fill_chart(struct chart *chart, const struct assay__inspect *doc, size_t room)
{
    size_t n = doc->layer_count;
    size_t each = n ? room / n : 0; /* columns of one node */
    chart->width = each > 6 ? 6 * n : each ? each * n : n ? room : 0;
    chart->heights = calloc(chart->width + 1, sizeof *chart->heights);
    if (!chart->heights) return false;
    for (size_t x = 0; x < chart->width; x++) {
        size_t first = x * n / chart->width, end = (x + 1) * n / chart->width;
        bool unknown = false;
        if (end <= first) end = first + 1;
        for (size_t i = first; i < end && i < n; i++) {
            double bytes = doc->layers[i].live_bytes;
            if (!isfinite(bytes))
                unknown = true;
            else if (bytes > chart->heights[x])
                chart->heights[x] = bytes;
        }
        if (unknown) chart->heights[x] = NAN;
        chart->unknown |= unknown;
    }
    return true;
}

static void draw_cell(struct assay__page *page, double level)
{
    static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    if (page->ascii)
        assay__buf_putc(page->out, level >= 0.125 ? '#' : ' ');
    else
        assay__buf_puts(page->out, eighths[level <= 0 ? 0 : level >= 1 ? 8 : (int)(level * 8)]);
}

static void draw(struct assay__page *page, const struct chart *chart, double peak)
{
    char label[64];
    for (int row = ROWS - 1; row >= 0; row--) {
        assay__text_scaled(label, sizeof label, row == ROWS - 1 ? peak : 0, "B");
        assay__page_right(page, row == ROWS - 1 || row == 0 ? label : "", AXIS);
        assay__buf_puts(page->out, " │");
        size_t end = chart->width; /* no blanks at the end of a line */
        while (row > 0 && end && !(chart->heights[end - 1] / peak * ROWS - row >= 0.125))
            end--;
        assay__page_style(page, ASSAY__STYLE_BAR);
        for (size_t x = 0; x < end; x++) {
            double level = chart->heights[x] / peak * ROWS - row;
            if (!isfinite(chart->heights[x]))
                assay__buf_putc(page->out, row == 0 ? '?' : ' ');
            else if (row == 0 && chart->heights[x] > 0 && level < 0.125 && !page->ascii)
                assay__buf_puts(page->out, "▁"); /* little is not nothing */
            else
                draw_cell(page, level);
        }
        assay__page_style(page, ASSAY__STYLE_PLAIN);
        assay__buf_putc(page->out, '\n');
    }
}

/* "49 B  inside the body of 'loop'": of the peak, what no tensor of the main graph is. */
static void put_bodies(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__liveness *live = &doc->analysis->live;
    struct assay__buf text = {0};
    char scaled[64];
    if (!(live->peak_body_bytes > 0)) return;
    assay__text_scaled(scaled, sizeof scaled, live->peak_body_bytes, "B");
    assay__page_right(page, scaled, AXIS);
    assay__buf_puts(page->out, "  ");
    assay__buf_printf(&text, "inside the body of '%s'", doc->layers[live->peak_position].name);
    int room = page->columns - AXIS - 2, width = (int)assay__text_width(text.data ? text.data : "");
    assay__page_fit(page, text.data ? text.data : "", width < room ? width : room, 0);
    assay__buf_putc(page->out, '\n');
    if (text.failed) page->out->failed = true;
    assay__buf_free(&text);
}

static void put_tensors(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__liveness *live = &doc->analysis->live;
    size_t shown = live->peak_tensor_count < TENSORS_SHOWN ? live->peak_tensor_count
                                                           : TENSORS_SHOWN;
    int name = page->columns >= 72 ? 34 : page->columns >= 56 ? 24 : page->columns - 14;
    if (name > page->columns - 40 && page->columns >= 56) name = page->columns - 40;
    for (size_t i = 0; i < shown; i++) {
        const struct assay__live_tensor *t = &live->tensors[live->peak_tensors[i]];
        const struct assay__shape_entry *e = assay__shapes_get(doc->analysis->shapes, t->name);
        char scaled[64];
        struct assay__buf shape = {0};
        assay__text_scaled(scaled, sizeof scaled, t->bytes, "B");
        assay__page_right(page, scaled, AXIS);
        assay__buf_puts(page->out, "  ");
        if (page->columns >= 56) {
            assay__page_fit_middle(page, t->name, name);
            if (e) assay__buf_printf(&shape, " %s ", assay__dtype_name(e->dtype));
            assay__inspect_shape(&shape, doc->analysis->shapes, e);
            int room = page->columns - AXIS - 2 - name, width;
            width = (int)assay__text_width(shape.data ? shape.data : "");
            assay__page_fit(page, shape.data ? shape.data : "", width < room ? width : room, 0);
        } else {
            struct assay__buf safe = {0};
            assay__text_safe(&safe, t->name);
            int width = (int)assay__text_width(safe.data ? safe.data : "");
            assay__page_fit_middle(page, t->name, width < name ? width : name);
            assay__buf_free(&safe);
        }
        assay__buf_putc(page->out, '\n');
        assay__buf_free(&shape);
    }
    if (shown < live->peak_tensor_count) {
        char more[64];
        snprintf(more, sizeof more, "and %zu smaller tensor%s", live->peak_tensor_count - shown,
                 live->peak_tensor_count - shown == 1 ? "" : "s");
        assay__buf_repeat(page->out, " ", AXIS - 1);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "   ", more);
    }
}

void assay__inspect_page_memory(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__liveness *live = &doc->analysis->live;
    struct chart chart = {0};
    struct assay__buf text = {0};
    char scaled[64];
    double highest = 0;
    if (!doc->layer_count) return;
    assay__page_heading(page, "Memory", "live activations in order of execution, without weights");
    for (size_t i = 0; i < doc->layer_count; i++)
        if (doc->layers[i].live_bytes > highest) highest = doc->layers[i].live_bytes;
    if (!fill_chart(&chart, doc, (size_t)page->columns - AXIS - 2)) page->out->failed = true;
    if (chart.heights && highest > 0) draw(page, &chart, highest);
    free(chart.heights);
    if (isfinite(live->peak_bytes) && live->peak_position < doc->layer_count) {
        const struct assay__inspect_layer *layer = &doc->layers[live->peak_position];
        assay__text_scaled(scaled, sizeof scaled, live->peak_bytes, "B");
        assay__buf_printf(&text, "=%s while #%zu %s (", scaled, live->peak_position, layer->name);
        assay__inspect_op(&text, layer->node->domain, layer->node->op);
        assay__buf_printf(&text, ") runs; alive then:");
        assay__page_row(page, "peak", text.data ? text.data : "");
        put_bodies(page, doc);
        put_tensors(page, doc);
    } else {
        const struct assay_metric *m = assay_metrics_get(doc->metrics,
                                                         "memory.activation.predicted");
        assay__buf_printf(&text, "— (%s)", m && m->note ? m->note : "not known");
        assay__page_row(page, "peak", text.data ? text.data : "");
    }
    if (text.failed) page->out->failed = true;
    assay__buf_free(&text);
}
