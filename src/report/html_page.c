/* html_page.c - the document around the sections: head with its policy, navigation, style sheet, script, data. The
 * policy allows the one style sheet and the one script by the SHA-256 of their bytes (CSP level 2), and nothing that is fetched. */
#include "report/html.h"

#include "model/sha256.h"
#include "page_css.h"
#include "page_js.h"
#include "report/figure.h"

#include <stdio.h>
#include <string.h>

enum { PARTS_MOST = 16 }; /* figures of one name */

/* Of the text of one element: first and second behind each other. */
static void put_hash(struct assay__buf *out, const char *first, const char *second)
{
    struct assay__sha256 sha;
    uint8_t digest[32];
    assay__sha256_start(&sha);
    assay__sha256_add(&sha, first, strlen(first));
    assay__sha256_add(&sha, second, strlen(second));
    assay__sha256_end(&sha, digest);
    assay__buf_puts(out, "'sha256-");
    assay__html_base64(out, digest, sizeof digest);
    assay__buf_puts(out, "'");
}

static void put_head(struct assay__buf *out, const struct assay__html_head *head)
{
    assay__buf_puts(out,
                    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "base-uri 'none'; form-action 'none'; style-src ");
    put_hash(out, assay__page_css, assay__figure_css());
    assay__buf_puts(out, "; script-src ");
    put_hash(out, assay__page_js, "");
    assay__buf_puts(
        out, "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    assay__html_text(out, head->title);
    if (head->kicker && *head->kicker) {
        assay__buf_puts(out, " · ");
        assay__html_text(out, head->kicker);
    }
    assay__buf_puts(out, "</title>\n<style>");
    assay__buf_puts(out, assay__page_css);
    assay__buf_puts(out, assay__figure_css());
    assay__buf_puts(out, "</style>\n</head>\n");
}

static void put_banner(struct assay__buf *out, const struct assay__html_head *head)
{
    assay__buf_puts(out, "<body>\n<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
                         "<header class=\"top\">\n<div class=\"who\">");
    if (head->kicker && *head->kicker) {
        assay__buf_puts(out, "<p class=\"kicker\">");
        assay__html_text(out, head->kicker);
        assay__buf_puts(out, "</p>");
    }
    assay__buf_puts(out, "<h1>");
    assay__html_name(out, head->title);
    assay__buf_puts(out, "</h1>");
    if (head->subtitle && *head->subtitle) {
        assay__buf_puts(out, "<p class=\"subtitle\">");
        assay__html_text(out, head->subtitle);
        assay__buf_puts(out, "</p>");
    }
    /* The script fills and shows it: without one there is nothing to press. */
    assay__buf_puts(out, "</div>\n<div class=\"tools\" id=\"tools\" hidden></div>\n</header>\n");
}

static void put_links(struct assay__buf *out, const struct assay__html *page)
{
    assay__buf_puts(out, "<nav aria-label=\"Sections\">\n<ul>\n");
    for (size_t i = 0; i < page->link_count; i++) {
        const struct assay__html_link *link = &page->links[i];
        assay__buf_printf(out, "<li data-views=\"%u\"><a href=\"#%s\">", link->views, link->id);
        assay__html_text(out, link->title);
        assay__buf_puts(out, "</a></li>\n");
    }
    assay__buf_puts(out, "</ul>\n</nav>\n");
}

void assay__html_document(struct assay__html *page, const struct assay__html_head *head,
                          struct assay__buf *out)
{
    put_head(out, head);
    put_banner(out, head);
    assay__buf_puts(out, "<div class=\"columns\">\n");
    put_links(out, page);
    assay__buf_puts(out, "<main id=\"main\" tabindex=\"-1\">\n");
    assay__buf_add(out, page->body.data ? page->body.data : "", page->body.length);
    assay__buf_puts(out, "</main>\n</div>\n<footer>");
    if (head->footer && *head->footer) {
        assay__buf_puts(out, "<p>");
        assay__html_text(out, head->footer);
        assay__buf_puts(out, "</p>");
    }
    assay__buf_puts(out, "</footer>\n");
    if (head->data)
        assay__buf_add(out, head->data->data ? head->data->data : "", head->data->length);
    assay__buf_puts(out, "<script>");
    assay__buf_puts(out, assay__page_js);
    assay__buf_puts(out, "</script>\n</body>\n</html>\n");
    if (page->body.failed || (head->data && head->data->failed)) out->failed = true;
    assay__buf_free(&page->body);
}

void assay__html_data(struct assay__buf *out, const char *id, const char *json, size_t length)
{
    assay__buf_printf(out, "<script type=\"application/json\" id=\"%s\">", id);
    assay__html_json(out, json, length);
    assay__buf_puts(out, "</script>\n");
}

/* --- figures ---------------------------------------------------------------------------------------- */

void assay__html_draw(struct assay__html *page, const struct assay__figure *figure)
{
    char id[32];
    snprintf(id, sizeof id, "f%u", ++page->tips);
    struct assay__svg_options options = {.id = id};
    assay__buf_puts(&page->body, "<figure>\n");
    assay__buf_puts(&page->body, "<div class=\"picture\">");
    assay__figure_svg(&page->body, figure, &options);
    assay__buf_puts(&page->body, "</div>\n<figcaption>");
    assay__html_text(&page->body, figure->caption);
    if (figure->note && *figure->note) {
        assay__buf_puts(&page->body, " <span class=\"remark\">");
        assay__html_text(&page->body, figure->note);
        assay__buf_puts(&page->body, "</span>");
    }
    assay__buf_puts(&page->body, "</figcaption>\n</figure>\n");
}

int assay__html_figure(struct assay__html *page, const struct assay_profile *profile,
                       const struct assay__trial *trial, const char *name, bool say)
{
    const struct assay__figure_row *row = assay__figure_row_find(name);
    struct assay_error error = {0};
    size_t part = 0;
    int code = row ? 0 : ASSAY_ENOTFOUND;
    for (; !code && part < PARTS_MOST; part++) {
        struct assay__figure figure = {0};
        struct assay__arena *arena = assay__arena_new(); /* of one picture: they are large */
        code = arena ? row->make(profile, trial, part, arena, &figure, &error) : ASSAY_ENOMEM;
        if (!code) assay__html_draw(page, &figure);
        assay__arena_free(arena);
        if (code) break;
    }
    if (code == ASSAY_ENOMEM) page->body.failed = true;
    if (code != ASSAY_ENOTFOUND) return code;
    if (!part && say && error.message[0]) {
        assay__buf_puts(&page->body, "<p class=\"note\">No picture: ");
        assay__html_text(&page->body, error.message);
        assay__buf_puts(&page->body, "</p>\n");
    }
    return part ? 0 : ASSAY_ENOTFOUND;
}
