/* html.h - small writers of HTML pages: escaping, names, numbers with where they come from,
 * sections, tables, figures, and the document around them. A page is one file without the network:
 * its style sheet and its script stand in it and are allowed by their hashes
 * (Content-Security-Policy), nothing else is. So no `style=` attribute and no `onclick=` may ever
 * be written: a browser refuses them. Use classes of html/page.css, and attributes of SVG (fill,
 * width).
 *
 *   struct assay__html page = {0};
 *   assay__html_section(&page, "layers", "Layers", ASSAY__HTML_LAYERS);
 *   assay__html_paragraph(&page, NULL, "…");
 *   assay__html_section_end(&page);
 *   assay__html_document(&page, &head, out);     also frees the page
 *
 * Errors stick in page.body.failed; assay__html_document hands them on to out->failed. */
#ifndef ASSAY_REPORT_HTML_H
#define ASSAY_REPORT_HTML_H

#include "report/render.h"

/** The views that keys switch between; a section belongs to some of them. Without script all are
 *  shown. */
enum assay__html_view {
    ASSAY__HTML_OVERVIEW = 1,
    ASSAY__HTML_LAYERS = 2,
    ASSAY__HTML_MACHINE = 4,
};

struct assay__html_link {
    const char *id, *title; /* borrowed: literals, or strings that outlive the page */
    unsigned views;
};
#define ASSAY__HTML_SECTIONS 24

struct assay__html {
    struct assay__buf body;
    struct assay__html_link links[ASSAY__HTML_SECTIONS];
    size_t link_count;
    unsigned tips; /* ids given so far */
    bool zoom;     /* a figure can be zoomed: the page carries uPlot */
    int trial;     /* id of the trial whose figures are drawn; -1 none */
};

struct assay__html_head {
    const char *title;             /* of the page: the model's name */
    const char *kicker;            /* above it: "assay run"; "" none */
    const char *subtitle;          /* below it; "" none */
    const char *footer;            /* "" none */
    const struct assay__buf *data; /* made by assay__html_data…; NULL: none */
};

/* --- escaping --------------------------------------------------------------------------------- */

/** Text made safe for content and for attribute values in double quotes. Control characters,
 *  invalid UTF-8 and characters that turn the direction of what follows become U+FFFD. NULL is
 *  "". */
void assay__html_text(struct assay__buf *out, const char *text);
/** The same of a sentence, as content only: a line ends neither between a number and its unit nor
 *  inside an option ("--launches"). */
void assay__html_prose(struct assay__buf *out, const char *text);
/** A name from a file: isolated (<bdi>), cut in its middle beyond 160 characters. */
void assay__html_name(struct assay__buf *out, const char *name);
/** JSON made safe inside <script type="application/json">: no "<", ">", "&" or line separator
 *  stands in it raw. White space between tokens is left out. The value stays the same. */
void assay__html_json(struct assay__buf *out, const char *json, size_t length);
/** Base64 (RFC 4648) without line breaks. */
void assay__html_base64(struct assay__buf *out, const void *bytes, size_t size);

/* --- pieces of a section ---------------------------------------------------------------------- */

/** <section id=…><h2>; `views`: in which it is shown. id and title are borrowed, trusted
 *  literals. */
void assay__html_section(struct assay__html *page, const char *id, const char *title,
                         unsigned views);
void assay__html_section_end(struct assay__html *page);
/** <h3>; escaped. */
void assay__html_heading(struct assay__html *page, const char *title);
/** <p class=…> with escaped text; css NULL: none. Classes: "lead", "note", "alert". Nothing when
 *  text is "". */
void assay__html_paragraph(struct assay__html *page, const char *css, const char *text);
/** A list of escaped sentences; nothing when empty. */
void assay__html_list(struct assay__html *page, const char *const *items, size_t count);
/** A box that tables scroll in, and the table. `caption` is read aloud and names the box; headings:
 *  "Time|>Share|…", ">" aligns to the right. css: classes of the table ("sortable" gets sorting);
 *  NULL none. */
void assay__html_table(struct assay__html *page, const char *id, const char *css,
                       const char *caption, const char *headings);
void assay__html_table_end(struct assay__html *page);
/** A row: assay__html_row, then cells, then assay__html_row_end. id: "" none. */
void assay__html_row(struct assay__html *page, const char *id);
void assay__html_row_end(struct assay__html *page);
/** <th scope=row> with a name of a file. */
void assay__html_cell_name(struct assay__html *page, const char *name);
void assay__html_cell_text(struct assay__html *page, const char *text);
/** A number, right-aligned, scaled for people, "—" when it is not known; sorted by its value. mark:
 *  "", "=", "~". */
void assay__html_cell_number(struct assay__html *page, double value, const char *unit,
                             const char *mark);
/** "term: text" of a <dl class=facts>; nothing when text is "". */
void assay__html_facts(struct assay__html *page);
void assay__html_fact(struct assay__html *page, const char *term, const char *text);
void assay__html_facts_end(struct assay__html *page);

/** A metric as people read it; hovering or focusing it shows what it is, state, source, formula and
 *  interval. interval: "" none. metric NULL: "—". */
void assay__html_metric(struct assay__html *page, const struct assay_metric *metric,
                        const char *interval);
/** The same of any text: `tip` is shown with it. Both are escaped. */
void assay__html_tip(struct assay__html *page, const char *text, const char *tip);

/** Figure `name` of the profile (figure.h), all its parts: picture and the sentence how to read it.
 *  0 when there was one; ASSAY_ENOTFOUND: none, a sentence with the reason was written when `say`;
 *  ASSAY_ENOMEM. */
int assay__html_figure(struct assay__html *page, const struct assay_profile *profile,
                       const struct assay__trial *trial, const char *name, bool say);
struct assay__figure;
/** One figure as a <figure>: drawn wide and narrow, of which the style sheet shows one. */
void assay__html_draw(struct assay__html *page, const struct assay__figure *figure);
/** Whether the build has uPlot. */
bool assay__html_can_zoom(void);

/* --- the document ----------------------------------------------------------------------------- */

/** The whole page; then the body is freed. */
void assay__html_document(struct assay__html *page, const struct assay__html_head *head,
                          struct assay__buf *out);
/** Data for the page's script and for downloads: <script type="application/json" id=…>. */
void assay__html_data(struct assay__buf *out, const char *id, const char *json, size_t length);

#endif
