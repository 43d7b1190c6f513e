/* html_figure.c - figures in the page. Each is drawn twice, wide and narrow, so that its text stays
 * readable on a phone: the style sheet shows one of them, and screen readers skip the other. A
 * small figure is drawn only once, and so is one whose narrow form is large (NARROW_MOST): a phone
 * then scrolls it.
 *
 * A figure over time (samples, memory, power) has a JSON attribute data-plot with the columns of
 * the page's data that it shows: if the page contains uPlot, page.js draws those instead of the
 * picture, so that it can be zoomed. */
#include "report/walk/html_page.h"

#include "report/json/json_members.h"
#include "report/figure/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NARROW = 360,
    SMALL = 430,
    HALF = 660,
    WIDE = 1360,
    SMALL_HIGH = 220,
    NARROW_MOST = 8 * 1024,
    FEW_SAMPLES = 2000
};

static bool is_samples(const struct assay__figure *figure)
{
    return strcmp(figure->name, "samples") == 0;
}

/* The picture already shows every value in its place: there is nothing to zoom into. */
static bool few_samples(const struct assay__figure *figure)
{
    size_t count = 0;
    for (size_t i = 0; i < figure->series_count; i++)
        count += figure->series[i].count;
    return count <= FEW_SAMPLES;
}

/* A figure over time, for one trial whose data is in the page. */
static bool can_zoom(const struct assay__html *page, const struct assay__figure *figure)
{
    if (page->trial < 0 || !assay__html_can_zoom()) return false;
    if (is_samples(figure)) return !few_samples(figure);
    return figure->kind == ASSAY__FIGURE_LINES && strcmp(figure->x_unit, "s") == 0;
}

/* ` data-plot="{…}"` */
static void put_plot(struct assay__html *page, const struct assay__figure *figure)
{
    struct assay__json_writer writer, *w = &writer;
    struct assay__buf json = {0};
    assay__json_start(w, &json, false);
    assay__json_object(w);
    assay__json_members(w, json_bool("samples", is_samples(figure)),
                        json_integer("trial", page->trial), json_string("title", figure->title),
                        json_string("x", figure->x_title), json_string("x_unit", figure->x_unit),
                        json_string("y", figure->y_title), json_string("y_unit", figure->y_unit),
                        json_bool("log", figure->y_log), json_bool("zero", figure->y_zero));
    assay__json_put_array(w, "series");
    for (size_t i = 0; i < figure->series_count; i++)
        assay__json_string(w, figure->series[i].name);
    assay__json_array_end(w);
    assay__json_put_array(w, "marks");
    for (size_t i = 0; i < figure->mark_count; i++)
        assay__json_record(w, NULL, json_bool("vertical", figure->marks[i].vertical),
                           json_number("at", figure->marks[i].at),
                           json_string("text", figure->marks[i].text));
    assay__json_array_end(w);
    assay__json_put_array(w, "spans");
    for (size_t i = 0; i < figure->span_count; i++)
        assay__json_record(w, NULL, json_number("begin", figure->spans[i].begin),
                           json_number("end", figure->spans[i].end),
                           json_string("name", figure->spans[i].name));
    assay__json_array_end(w);
    assay__json_object_end(w);
    assay__buf_puts(page->body, " data-plot=\"");
    assay__html_text(page->body, json.data);
    assay__buf_puts(page->body, "\"");
    assay__buf_drop(&json, page->body);
}

static void put_picture(struct assay__html *page, const struct assay__figure *figure)
{
    char id[32];
    struct assay__buf narrow = {0};
    if (figure->width > 0) { /* has a fixed width: scrolled, not drawn again */
        snprintf(id, sizeof id, "f%u", ++page->tips);
        assay__buf_printf(page->body, "<div class=\"picture %s\">", figure->name);
        assay__figure_svg(page->body, figure, &(struct assay__svg_options){.id = id});
        assay__buf_puts(page->body, "</div>\n");
        return;
    }
    snprintf(id, sizeof id, "f%u", ++page->tips);
    struct assay__svg_options options = {.width = NARROW, .id = id};
    if (!figure->small) assay__figure_svg(&narrow, figure, &options);
    bool both = !narrow.failed && narrow.length && narrow.length <= NARROW_MOST;
    if (narrow.failed) page->body->failed = true;
    if (both) {
        assay__buf_puts(page->body, "<div class=\"picture narrow\">");
        assay__buf_add(page->body, narrow.data, narrow.length);
        assay__buf_puts(page->body, "</div>\n");
    }
    assay__buf_free(&narrow);
    snprintf(id, sizeof id, "f%u", ++page->tips);
    options = (struct assay__svg_options){.width = figure->small  ? SMALL
                                                   : figure->half ? HALF
                                                   : figure->wide ? WIDE
                                                                  : 0,
                                          .height = figure->small ? SMALL_HIGH : 0,
                                          .id = id};
    assay__buf_puts(page->body, both ? "<div class=\"picture wide\">" : "<div class=\"picture\">");
    assay__figure_svg(page->body, figure, &options);
    assay__buf_puts(page->body, "</div>\n");
}

void assay__html_draw(struct assay__html *page, const struct assay__figure *figure)
{
    bool is_strip = strcmp(figure->name, "strip") == 0;
    assay__buf_puts(page->body, figure->small  ? "<figure class=\"fig-small\""
                                : figure->half ? "<figure class=\"fig-half\""
                                : figure->wide ? "<figure class=\"fig-wide\""
                                : is_strip     ? "<figure class=\"fig-strip\""
                                               : "<figure");
    if (is_strip && !page->has_strip) {
        assay__buf_puts(page->body, " id=\"strip\""); /* page.js draws it on a canvas */
        page->has_strip = true;
    }
    if (figure->timeline && !page->has_timeline) {
        assay__buf_puts(page->body, " id=\"tracks\""); /* timeline.js draws it on a canvas */
        page->has_timeline = true;
    }
    if (can_zoom(page, figure)) {
        put_plot(page, figure);
        page->zoom = true;
    }
    assay__buf_puts(page->body, ">\n");
    const char *above = page->heading ? page->heading : "";
    if (figure->title && *figure->title && (figure->small || strcmp(figure->title, above) != 0)) {
        assay__buf_puts(page->body, "<p class=\"figure-title\" aria-hidden=\"true\">");
        assay__html_text(page->body, figure->title);
        assay__buf_puts(page->body, "</p>\n");
    }
    put_picture(page, figure);
    assay__buf_puts(page->body, "<figcaption>");
    assay__html_prose(page->body, figure->caption);
    if (figure->note && *figure->note) {
        assay__buf_puts(page->body, " <span class=\"remark\">");
        assay__html_prose(page->body, figure->note);
        assay__buf_puts(page->body, "</span>");
    }
    assay__buf_puts(page->body, "</figcaption>\n</figure>\n");
}
