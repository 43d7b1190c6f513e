/* html_page.c - the document around the sections: head with its policy, navigation, style sheet,
 * scripts, data. The policy allows the one style sheet and the scripts by the SHA-256 of their
 * bytes (CSP level 2), and nothing that is fetched. uPlot is in the page only where a figure can be
 * zoomed and the build had it. */
#include "report/walk/html_page.h"

#include "model/sha256.h"
#include "page_css.h"
#include "page_js.h"
#include "report/figure/figure.h"
#include "uplot_css.h"
#include "uplot_js.h"
#include "uplot_license.h"

#include <string.h>

static void put(struct assay__buf *out, const char *before, const char *text, const char *after)
{
    assay__buf_puts(out, before);
    assay__html_text(out, text);
    assay__buf_puts(out, after);
}

/* The hash of the text of one element, which is the three parts joined. */
static void put_hash(struct assay__buf *out, const char *first, const char *second,
                     const char *third)
{
    struct assay__sha256 sha;
    uint8_t digest[32];
    assay__sha256_start(&sha);
    assay__sha256_add(&sha, first, strlen(first));
    assay__sha256_add(&sha, second, strlen(second));
    assay__sha256_add(&sha, third, strlen(third));
    assay__sha256_end(&sha, digest);
    assay__buf_puts(out, "'sha256-");
    assay__html_base64(out, digest, sizeof digest);
    assay__buf_puts(out, "'");
}

bool assay__html_can_zoom(void)
{
    return assay__uplot_js[0] && assay__uplot_css[0] && assay__uplot_license[0];
}

static void put_head(struct assay__buf *out, const struct assay__doc *doc, bool zoom)
{
    const char *more = zoom ? assay__uplot_css : "";
    assay__buf_puts(out,
                    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "base-uri 'none'; form-action 'none'; style-src ");
    put_hash(out, assay__page_css, assay__figure_css(), more);
    assay__buf_puts(out, "; script-src ");
    if (zoom) {
        put_hash(out, assay__uplot_js, "", "");
        assay__buf_putc(out, ' ');
    }
    put_hash(out, assay__page_js, "", "");
    assay__buf_puts(
        out, "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    assay__html_text(out, *doc->title ? doc->title : "assay");
    if (*doc->kicker) put(out, " · ", doc->kicker, "");
    assay__buf_puts(out, "</title>\n<style>");
    assay__buf_puts(out, assay__page_css);
    assay__buf_puts(out, assay__figure_css());
    assay__buf_puts(out, more);
    assay__buf_puts(out, "</style>\n</head>\n");
}

/* "cpu · batch 1 · 2026-…": a line ends between short items, not inside one. */
static void put_items(struct assay__buf *out, const char *items)
{
    static const char between[] = " · ";
    enum { SHORT = 28 };
    while (*items) {
        const char *end = strstr(items, between);
        size_t length = end ? (size_t)(end - items) : strlen(items);
        struct assay__buf item = {0};
        assay__buf_add(&item, items, length);
        if (length <= SHORT) assay__buf_puts(out, "<span class=\"o\">");
        assay__html_text(out, item.data);
        if (length <= SHORT) assay__buf_puts(out, "</span>");
        if (end) assay__buf_puts(out, between);
        assay__buf_drop(&item, out);
        items += length + (end ? sizeof between - 1 : 0);
    }
}

static void put_banner(struct assay__buf *out, const struct assay__doc *doc)
{
    assay__buf_puts(out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
                         "<header class=\"top\">\n<div class=\"who\">");
    if (*doc->kicker) put(out, "<p class=\"kicker\">", doc->kicker, "</p>");
    assay__buf_puts(out, "<h1>");
    assay__html_name(out, *doc->title ? doc->title : "assay");
    assay__buf_puts(out, "</h1>");
    if (*doc->subtitle) {
        assay__buf_puts(out, "<p class=\"subtitle\">");
        put_items(out, doc->subtitle);
        assay__buf_puts(out, "</p>");
    }
    /* The script fills and shows it: without one there is nothing to press. */
    assay__buf_puts(out, "</div>\n<div class=\"tools\" id=\"tools\" hidden></div>\n</header>\n");
}

void assay__html_document(struct assay__html *page, const struct assay__doc *doc,
                          const struct assay__buf *data, struct assay__buf *out)
{
    put_head(out, doc, page->zoom);
    put_banner(out, doc);
    assay__buf_puts(out, "<div class=\"columns\">\n");
    assay__buf_puts(out, "<nav aria-label=\"Sections\">\n<ul>\n");
    for (size_t i = 0; i < page->link_count; i++) {
        const struct assay__html_link *link = &page->links[i];
        assay__buf_printf(out, "<li data-views=\"%u\"><a href=\"#%s\">", link->views, link->id);
        put(out, "", link->title, "</a></li>\n");
    }
    assay__buf_puts(out, "</ul>\n</nav>\n");
    assay__buf_puts(out, "<main id=\"main\" tabindex=\"-1\">\n");
    assay__buf_add(out, assay__buf_text(&page->body), page->body.length);
    assay__buf_puts(out, "</main>\n</div>\n<footer>");
    if (*doc->footer) put(out, "<p>", doc->footer, "</p>");
    assay__buf_puts(out, "</footer>\n");
    assay__buf_add(out, assay__buf_text(data), data->length);
    /* uPlot unchanged, with its licence; our script uses it only if it comes first. */
    if (page->zoom) {
        assay__buf_puts(out, "<!-- uPlot, which draws what can be zoomed:\n");
        assay__html_text(out, assay__uplot_license);
        assay__buf_puts(out, "\n-->\n<script>");
        assay__buf_puts(out, assay__uplot_js);
        assay__buf_puts(out, "</script>\n");
    }
    assay__buf_puts(out, "<script>");
    assay__buf_puts(out, assay__page_js);
    assay__buf_puts(out, "</script>\n");
    assay__buf_puts(out, "</body>\n</html>\n");
    if (data->failed) out->failed = true;
    assay__buf_drop(&page->body, out);
}

void assay__html_data(struct assay__buf *out, const char *id, const char *json, size_t length)
{
    assay__buf_printf(out, "<script type=\"application/json\" id=\"%s\">", id);
    assay__html_json(out, json, length);
    assay__buf_puts(out, "</script>\n");
}
