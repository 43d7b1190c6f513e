/* html_page.c - the document around the tabs: head with its policy, navigation, style sheet,
 * scripts, data. The policy allows the one style sheet and the two scripts by the SHA-256 of their
 * bytes (CSP level 2), and nothing that is fetched. The first script (html/unpack.js) inflates the
 * second and the data, which take a third of the space that way. uPlot is in the second only where
 * a figure can be zoomed and the build had it, the script of timelines only where there is one. */
#include "report/walk/html_page.h"

#include "model/sha256.h"
#include "page_css.h"
#include "page_js.h"
#include "plots_js.h"
#include "report/figure/figure.h"
#include "timeline_js.h"
#include "unpack_js.h"
#include "uplot_css.h"
#include "uplot_js.h"
#include "uplot_license.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put(struct assay__buf *out, const char *before, const char *text, const char *after)
{
    assay__buf_puts(out, before);
    assay__html_text(out, text);
    assay__buf_puts(out, after);
}

/* The hash of the text of one element. */
static void put_hash(struct assay__buf *out, const char *text)
{
    struct assay__sha256 sha;
    uint8_t digest[32];
    assay__sha256_start(&sha);
    assay__sha256_add(&sha, text, strlen(text));
    assay__sha256_end(&sha, digest);
    assay__buf_puts(out, "'sha256-");
    assay__html_base64(out, digest, sizeof digest);
    assay__buf_puts(out, "'");
}

/* uPlot, unchanged, then the page's own script: one function around its files. */
static void put_script(const struct assay__html *page, struct assay__buf *script)
{
    if (page->zoom) assay__buf_puts(script, assay__uplot_js);
    assay__buf_puts(script, "(function () {\n'use strict';");
    if (page->zoom) assay__buf_puts(script, assay__plots_js);
    if (page->has_timeline) assay__buf_puts(script, assay__timeline_js);
    assay__buf_puts(script, assay__page_js);
    assay__buf_puts(script, "})();\n");
}

/* Text that html/unpack.js inflates: base64 of RFC 1950. */
static void put_packed(struct assay__buf *out, const char *id, const char *text, size_t length)
{
    uLongf size = compressBound((uLong)length);
    Bytef *bytes = malloc(size);
    if (!bytes || compress(bytes, &size, (const Bytef *)text, (uLong)length) != Z_OK) {
        out->failed = true;
    } else {
        assay__buf_printf(out, "<script type=\"application/zlib\" id=\"%s\" data-bytes=\"%zu\">",
                          id, length);
        assay__html_base64(out, bytes, size);
        assay__buf_puts(out, "</script>\n");
    }
    free(bytes);
}

bool assay__html_can_zoom(void)
{
    return assay__uplot_js[0] && assay__uplot_css[0] && assay__uplot_license[0];
}

static void put_head(struct assay__buf *out, const struct assay__doc *doc, bool zoom,
                     const char *script)
{
    struct assay__buf css = {0};
    assay__buf_puts(&css, assay__page_css);
    assay__figure_css(&css);
    if (zoom) assay__buf_puts(&css, assay__uplot_css);
    assay__buf_puts(out,
                    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "base-uri 'none'; form-action 'none'; style-src ");
    put_hash(out, assay__buf_text(&css));
    assay__buf_puts(out, "; script-src ");
    put_hash(out, assay__unpack_js);
    assay__buf_putc(out, ' ');
    put_hash(out, script);
    assay__buf_puts(
        out, "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    assay__html_text(out, *doc->title ? doc->title : "assay");
    if (*doc->kicker) put(out, " · ", doc->kicker, "");
    assay__buf_puts(out, "</title>\n<style>");
    assay__buf_puts(out, assay__buf_text(&css));
    assay__buf_puts(out, "</style>\n</head>\n");
    assay__buf_drop(&css, out);
}

/* --- tabs ------------------------------------------------------------------------------------- */

static const char *const tab_titles[ASSAY__TAB_COUNT] = {
    [ASSAY__TAB_NONE] = "",
    [ASSAY__TAB_OVERVIEW] = "Overview",
    [ASSAY__TAB_GRAPH] = "Graph",
    [ASSAY__TAB_ROOFLINE] = "Roofline",
    [ASSAY__TAB_LATENCY] = "Latency",
    [ASSAY__TAB_MEMORY] = "Memory",
    [ASSAY__TAB_GENERATE] = "Generate",
    [ASSAY__TAB_POWER] = "Power",
    [ASSAY__TAB_EVIDENCE] = "Evidence",
};

const char *assay__html_tab_title(enum assay__tab tab)
{
    return tab_titles[tab];
}

/* "tab-overview" */
static void put_tab_id(struct assay__buf *out, size_t tab)
{
    assay__buf_puts(out, "tab-");
    for (const char *c = tab_titles[tab]; *c; c++)
        assay__buf_putc(out, (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c));
}

static bool is_used(const struct assay__html_tab *tab)
{
    return tab->first.length || tab->body.length;
}

/* Links to the sections that follow; the script turns them into tabs. */
static void put_tabs(struct assay__html *page, struct assay__buf *out)
{
    size_t count = 0;
    for (size_t i = 1; i < ASSAY__TAB_COUNT; i++)
        count += is_used(&page->tabs[i]);
    if (count > 1) {
        assay__buf_puts(out, "<nav class=\"tabs\" aria-label=\"Parts of this page\">\n<ul>\n");
        for (size_t i = 1; i < ASSAY__TAB_COUNT; i++) {
            if (!is_used(&page->tabs[i])) continue;
            assay__buf_puts(out, "<li><a href=\"#");
            put_tab_id(out, i);
            assay__buf_printf(out, "\">%s</a></li>\n", tab_titles[i]);
        }
        assay__buf_puts(out, "</ul>\n</nav>\n");
    }
    assay__buf_puts(out, "<main id=\"main\" tabindex=\"-1\">\n");
    for (size_t i = 1; i < ASSAY__TAB_COUNT; i++) {
        struct assay__html_tab *tab = &page->tabs[i];
        if (is_used(tab)) {
            assay__buf_puts(out, "<section class=\"tab\" id=\"");
            put_tab_id(out, i);
            assay__buf_puts(out, "\" aria-labelledby=\"h-");
            put_tab_id(out, i);
            assay__buf_puts(out, "\">\n<h2 id=\"h-");
            put_tab_id(out, i);
            assay__buf_printf(out, "\"%s>%s</h2>\n", count > 1 ? "" : " class=\"hidden\"",
                              tab_titles[i]);
            assay__buf_add(out, assay__buf_text(&tab->first), tab->first.length);
            assay__buf_add(out, assay__buf_text(&tab->body), tab->body.length);
            assay__buf_puts(out, "</section>\n");
        }
        assay__buf_drop(&tab->first, out);
        assay__buf_drop(&tab->body, out);
    }
    assay__buf_puts(out, "</main>\n");
}

void assay__html_document(struct assay__html *page, const struct assay__doc *doc,
                          const struct assay__buf *header, const struct assay__buf *data,
                          struct assay__buf *out)
{
    struct assay__buf script = {0};
    put_script(page, &script);
    put_head(out, doc, page->zoom, assay__buf_text(&script));
    assay__buf_puts(out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n");
    assay__buf_add(out, assay__buf_text(header), header->length);
    put_tabs(page, out);
    assay__buf_puts(out, "<footer>");
    if (*doc->footer) put(out, "<p>", doc->footer, "</p>");
    assay__buf_puts(out, "</footer>\n");
    assay__buf_add(out, assay__buf_text(data), data->length);
    if (page->zoom) {
        assay__buf_puts(out, "<!-- The script holds uPlot, which draws what can be zoomed:\n");
        assay__html_text(out, assay__uplot_license);
        assay__buf_puts(out, "\n-->\n");
    }
    put_packed(out, "assay-script", assay__buf_text(&script), script.length);
    assay__buf_puts(out, "<script>");
    assay__buf_puts(out, assay__unpack_js);
    assay__buf_puts(out, "</script>\n</body>\n</html>\n");
    assay__buf_drop(&script, out);
    if (data->failed || header->failed) out->failed = true;
}

void assay__html_data(struct assay__buf *out, const struct assay__attachment *data)
{
    if (!data->pieces) {
        put_packed(out, data->id, assay__buf_text(&data->json), data->json.length);
        return;
    }
    assay__buf_printf(out, "<script type=\"application/json\" id=\"%s\">", data->id);
    assay__html_json(out, data->json.data, data->json.length);
    assay__buf_puts(out, "</script>\n");
}
